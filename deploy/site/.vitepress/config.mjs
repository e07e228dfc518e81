// The site of the documentation. `make docs` builds it into dist/docs.

const pages = (...list) => list.map(([text, link]) => ({ text, link }))

export default {
  title: 'nod',
  description: 'Human approval for AI agents, scripts and CI, in Slack, Discord and Telegram',
  srcDir: 'pages', // a copy of docs, made by deploy/ci/docs.sh
  outDir: '../../dist/docs',
  cacheDir: '.cache',
  rewrites: { 'README.md': 'index.md', 'agents/README.md': 'agents/index.md' },
  srcExclude: ['agents/examples/**'],
  // Files outside of docs exist in the repository only.
  ignoreDeadLinks: [/^(\.\/)?(\.\.\/)+(deploy|bridge|broker|platforms|cmd|render|config|CHANGELOG|CONTRIBUTING|SECURITY|LICENSE|README)/, /examples\//],
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: [
      { text: 'Get started', items: pages(['Overview', '/'], ['Quickstart', '/quickstart'], ['Concepts', '/concepts'], ['FAQ and alternatives', '/faq']) },
      { text: 'Connect a platform', items: pages(['Slack', '/slack'], ['Discord', '/discord'], ['Telegram', '/telegram'], ['Web console', '/console']) },
      {
        text: 'Connect an agent',
        items: pages(
          ['Overview', '/agents/'], ['Claude Code', '/agents/claude-code'], ['Codex', '/agents/codex'], ['MCP', '/agents/mcp'],
          ['ACP editors', '/agents/acp'], ['LangChain', '/agents/langchain'], ['SDKs', '/agents/sdks'], ['Any program', '/agents/anything'],
        ),
      },
      { text: 'Control access', items: pages(['Access control and policy', '/governance']) },
      { text: 'Operate', items: pages(['Deployment', '/deploy'], ['Operations', '/operations'], ['Troubleshooting', '/troubleshooting']) },
      {
        text: 'Reference',
        items: pages(['CLI', '/cli'], ['HTTP API', '/api'], ['WebSocket', '/websocket'], ['Widgets by platform', '/widgets'], ['Sandbox', '/sandbox'], ['Protocol conformance', '/seeds']),
      },
      {
        text: 'Explanation',
        items: pages(['Architecture', '/architecture'], ['Security model', '/security'], ['Reliability', '/reliability'], ['Performance', '/performance']),
      },
      { text: 'Contribute', items: pages(['Writing guide', '/contribute/writing'], ['Glossary', '/contribute/glossary']) },
    ],
  },
}

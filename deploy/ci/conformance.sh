#!/bin/sh
# Other people's code against the real binary: bots on the sandbox, and what
# agents' own packages say of nod's answers.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
  echo "conformance: needs node 20 or newer, and npm" >&2
  exit 1
fi
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
(cd "$root" && go build -o "$bin/nod" ./cmd/nod)
export NOD_BINARY="$bin/nod"
cd "$root/platforms/sandbox/conformance"
npm ci --no-fund --no-audit --loglevel=error
npm test
# The console is checked by axe-core, which came with the bots' packages.
if command -v chromium >/dev/null 2>&1; then
  (cd "$root" && NOD_AXE="$root/platforms/sandbox/conformance/node_modules/axe-core/axe.min.js" go test -count=1 -run 'TestConsole$' ./cmd/nod/daemon)
fi
# Codex generates the schema of its own requests, and only its program can. It
# is large: where it cannot be had, its two tests say that they were left out.
if npm install --prefix "$bin/codex" --no-save --no-fund --no-audit --loglevel=error @openai/codex@0.169.0; then
  export CODEX="$bin/codex/node_modules/.bin/codex"
else
  echo "conformance: the Codex program could not be had" >&2
fi
cd "$root/bridge/dialect/conformance"
npm ci --omit=optional --no-fund --no-audit --loglevel=error
npm test
# The generator of the site fails on a link that leads nowhere.
sh "$root/deploy/ci/docs.sh"

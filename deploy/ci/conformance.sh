#!/bin/sh
# Tests nod with independent code: bots made with other libraries use the
# sandbox, and the agents' own packages check nod's answers.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
  echo "conformance: install Node.js 20 or later with npm, then try again" >&2
  exit 1
fi
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
(cd "$root" && go build -o "$bin/nod" ./cmd/nod)
export NOD_BINARY="$bin/nod"
cd "$root/platforms/sandbox/conformance"
npm ci --no-fund --no-audit --loglevel=error
npm test
# axe-core, which is among the bots' packages, checks the console.
if command -v chromium >/dev/null 2>&1; then
  (cd "$root" && NOD_AXE="$root/platforms/sandbox/conformance/node_modules/axe-core/axe.min.js" go test -count=1 -run 'TestConsole$' ./cmd/nod/daemon)
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
# The generator of the site fails if a link is broken.
sh "$root/deploy/ci/docs.sh"

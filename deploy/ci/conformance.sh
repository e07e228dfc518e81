#!/bin/sh
# Lets bots made with other people's libraries connect to the sandbox of the
# real binary.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
  echo "conformance: needs node 20 or newer, and npm" >&2
  exit 1
fi
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
(cd "$root" && go build -o "$bin/nod" ./cmd/nod)
cd "$root/platforms/sandbox/conformance"
npm ci --no-fund --no-audit --loglevel=error
NOD_BINARY="$bin/nod" npm test

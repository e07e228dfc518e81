#!/bin/sh
# Builds the client packages and tests them with a server that misbehaves and
# with the real daemon. NOD_BINARY names the daemon, and TSC the compiler.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
started=$(date +%s)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
typescript="$root/deploy/clients/typescript"
"$TSC" -p "$typescript" --outDir "$out/dist"
printf '{"type": "module"}\n' >"$out/package.json"
# The declarations must be enough for a program that uses the package.
cp "$typescript/test/use.mts" "$out/use.mts"
"$TSC" --noEmit --strict --module nodenext --skipLibCheck --target es2022 --lib es2022,dom "$out/use.mts"
NOD_CLIENT="$out/dist/index.js" node --test --test-timeout=60000 "$typescript/test/" >"$out/typescript.txt" ||
  { cat "$out/typescript.txt"; exit 1; }
if ! command -v python3 >/dev/null 2>&1; then
  echo "clients: python3 is not installed; skipping the Python package" >&2
  [ "${CI:-}" != true ] || exit 1
else
  (cd "$root/deploy/clients/python" && PYTHONPATH=src PYTHONDONTWRITEBYTECODE=1 python3 -m unittest discover -s tests)
fi
echo "clients: passed in $(($(date +%s) - started)) seconds"

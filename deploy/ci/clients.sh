#!/bin/sh
# Builds the client packages and tests them with a server that misbehaves and
# with the real daemon. NOD_BINARY names the daemon, and TSC the compiler. NODES,
# DENO and BUN name other programs that run the package for TypeScript.
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
# A program in CommonJS loads it as well.
mkdir -p "$out/node_modules/@nodbridge"
cp "$typescript/package.json" "$out/"
ln -s "$out" "$out/node_modules/@nodbridge/nod"
echo 'const { Nod } = require("@nodbridge/nod"); new Nod({ token: "t" });' >"$out/use.cjs"
export NOD_CLIENT="$out/dist/index.js" HOME="$out"
tests="$typescript/test/cases.test.mjs $typescript/test/daemon.test.mjs"
play() {
  echo "$@" >"$out/$1.txt"
  name=$1
  shift
  # shellcheck disable=SC2086 # two paths
  "$@" $tests >>"$out/$name.txt" 2>&1 || echo "$name" >>"$out/failed"
}
number=0
for node in node ${NODES:-}; do
  number=$((number + 1))
  "$node" "$out/use.cjs"
  play "node-$number" "$node" --test --test-timeout=60000 &
done
[ -z "${DENO:-}" ] || play deno "$DENO" test --allow-all --no-check &
[ -z "${BUN:-}" ] || play bun "$BUN" test --timeout 60000 &
wait
if [ -s "$out/failed" ]; then
  for name in $(cat "$out/failed"); do cat "$out/$name.txt"; done
  exit 1
fi
if ! command -v python3 >/dev/null 2>&1; then
  echo "clients: python3 is not installed; skipping the Python package" >&2
  [ "${CI:-}" != true ] || exit 1
else
  (cd "$root/deploy/clients/python" && PYTHONPATH=src PYTHONDONTWRITEBYTECODE=1 python3 -m unittest discover -s tests)
fi
echo "clients: passed in $(($(date +%s) - started)) seconds"

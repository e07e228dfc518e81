#!/bin/sh
# Checks openapi.yaml with redocly, and what openapi-typescript makes of it with
# the compiler. API_TOOLS is the directory of these packages, and TSC the compiler.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
own="$root/deploy/ci/conformance"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
"$API_TOOLS/redocly" lint "$root/bridge/api/openapi.yaml" --config "$own/redocly.yaml" --format=stylish >"$out/lint.txt" 2>&1 ||
  { cat "$out/lint.txt"; exit 1; }
"$API_TOOLS/openapi-typescript" "$root/bridge/api/openapi.yaml" -o "$out/types.ts" >"$out/types.txt" 2>&1 || { cat "$out/types.txt"; exit 1; }
printf '{"type": "module"}\n' >"$out/package.json"
cp "$own/api.ts" "$out/api.ts"
"$TSC" --noEmit --strict --exactOptionalPropertyTypes --module nodenext --target es2022 "$out/api.ts"
echo "api: redocly and openapi-typescript accept openapi.yaml"

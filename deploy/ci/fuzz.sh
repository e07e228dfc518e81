#!/bin/sh
# Runs each fuzz target for the given time, and then plain shell lines in every
# shell that is installed.
set -eu
each=${1:-30s}
cd "$(dirname "$0")/../.."
for file in $(git ls-files '*_test.go' | xargs grep -l '^func Fuzz'); do
  dir=$(dirname "$file")
  for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$file"); do
    echo "fuzz: $dir $target for $each"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$each" "./$dir"
  done
done
echo "fuzz: bridge/policy TestShellsAgree for $each"
NOD_SHELLS="$each" go test -count=1 -v -timeout 0 -run '^TestShellsAgree$' ./bridge/policy

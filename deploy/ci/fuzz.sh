#!/bin/sh
# Runs each fuzz target for the given time, then each random test with other seeds
# for as long, and then plain shell lines in every shell that is installed.
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
random='platformtest/seed"|rapid\.Check'
seconds=$(($(echo "$each" | sed 's/m$/*60/; s/h$/*3600/; s/s$//')))
for dir in $(git ls-files '*_test.go' | xargs grep -lE "$random" | xargs -n 1 dirname | sort -u); do
  tests=$(grep -lE "$random" "$dir"/*_test.go | xargs sed -n 's/^func \(Test[A-Za-z0-9_]*\).*/\1/p' | paste -s -d '|' -)
  echo "fuzz: $dir $tests for $each"
  end=$(($(date +%s) + seconds))
  while [ "$(date +%s)" -lt "$end" ]; do
    NOD_TEST_SEED=any RAPID_SEED=0 go test -short -count=1 -run "^($tests)\$" "./$dir"
  done
done
echo "fuzz: bridge/policy TestShellsAgree for $each"
NOD_SHELLS="$each" go test -count=1 -v -timeout 0 -run '^TestShellsAgree$' ./bridge/policy

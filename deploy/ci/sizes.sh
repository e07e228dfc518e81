#!/bin/sh
# Counts how large nod is: the working tree, or the commit REV.
#
#   Go without tests   every .go file that is not _test.go, in all modules
#   product            of that, what runs in the daemon and the command line:
#                      without deploy/ (tools, recipes, benchmark), the
#                      emulators (platforms/sandbox, cmd/nod/sandboxed), what
#                      only tests use (platforms/platformtest, and in earlier
#                      commits cmd/nod/rig and broker/redistest;
#                      render/rendertest, bridge/dialect/
#                      dialecttest, bridge/passkey/passkeytest), and
#                      cmd/nod/bench, where the benchmark was before
#                      deploy/bench
#   core               bridge/engine, bridge/life, bridge/core and broker
#                      without tests, with Lua
#   tests              every _test.go file
#   golden files       .json, .jsonl, .txt and .txtar files in testdata; those
#                      of cards are in render
#   Lua                .lua files outside testdata
#   files in a package .go files of one folder without tests
#   commands           names after nod in docs/cli.md, without help and
#                      completion
#   settings           headings of settings (###) in docs/configuration.md, and
#                      of their sections (##)
#   pages              Markdown files in docs; README, CHANGELOG and the like
#                      do not count
set -eu
cd "$(dirname "$0")/../.."
rev=${1:-}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if [ -n "$rev" ]; then
  mkdir "$tmp/tree"
  git archive "$rev" | tar -x -C "$tmp/tree"
  (cd "$tmp/tree" && find . -type f | sed 's|^\./||') | sort >"$tmp/files"
  cd "$tmp/tree"
  echo "commit          $rev"
else
  git ls-files -co --exclude-standard | sort -u | while IFS= read -r f; do
    [ ! -f "$f" ] || echo "$f"
  done >"$tmp/files"
fi

all() { cat "$tmp/files"; }
count() { awk 'END { print NR }'; }
lines() { tr '\n' '\0' | xargs -0 cat -- /dev/null | awk 'END { print NR }'; }
row() { printf '%-24s %7s  %s\n' "$1" "$2" "${3:-}"; }

all | grep '\.go$' | grep -v '_test\.go$' >"$tmp/go"
grep -vE '^(deploy|platforms/(sandbox|platformtest)|cmd/nod/(bench|rig|sandboxed)|broker/redistest|render/rendertest|bridge/dialect/dialecttest|bridge/passkey/passkeytest)/' "$tmp/go" >"$tmp/product"
all | grep '/testdata/' | grep -E '\.(json|jsonl|txt|txtar)$' >"$tmp/golden"
all | grep '\.lua$' | grep -v '/testdata/' >"$tmp/lua"
core() { cat "$tmp/product" "$tmp/lua" | grep -E "^($1)/[^/]*\$|^broker/.*\.lua\$|^broker/(redis|memory)/" | lines; }

row "Go without tests" "$(lines <"$tmp/go")"
row "  product" "$(lines <"$tmp/product")"
row "  core" "$(core 'bridge/(engine|life|core)|broker')" "bridge/engine, life, core; broker with Lua"
row "tests" "$(all | grep '_test\.go$' | lines)" "$(all | grep '_test\.go$' | count) files"
row "golden files" "$(lines <"$tmp/golden")" "$(count <"$tmp/golden") files; cards: $(grep '^render/' "$tmp/golden" | lines) lines"
row "Lua" "$(lines <"$tmp/lua")" "$(count <"$tmp/lua") files"
row "commands" "$(sed -n 's/^## nod \([a-z-]*\).*/\1/p' docs/cli.md | sort -u | count)"
row "settings" "$(grep -c '^### ' docs/configuration.md)" "in $(grep -c '^## ' docs/configuration.md) sections"
row "pages" "$(all | grep '^docs/.*\.md$' | count)" "$(all | grep '^docs/.*\.md$' | lines) lines"
echo "files in a package"
sed 's|/[^/]*$||' "$tmp/go" | sort | uniq -c | sort -rn | head -5 | while read -r n dir; do
  row "  $dir" "$n"
done

#!/bin/sh
# Builds the documentation into dist/docs: a static site with search. The build
# fails if a link is broken.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
if ! command -v npm >/dev/null 2>&1; then
  echo "docs: install Node.js 20 or later with npm, then run make docs again" >&2
  exit 1
fi
cd "$root/deploy/site"
rm -rf pages "$root/dist/docs"
cp -R "$root/docs" pages
# Without a lock file, because npm omits the optional packages of other systems
# from a lock file that names no registry, and then rejects the file.
npm install --no-package-lock --no-fund --no-audit --loglevel=error
npm run --silent build
test -s "$root/dist/docs/index.html"
echo "docs: built $(find "$root/dist/docs" -name '*.html' | wc -l | tr -d ' ') pages into dist/docs"

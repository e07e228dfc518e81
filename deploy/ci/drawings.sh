#!/bin/sh
# Draws the SVG files in docs/drawings from their sources.
set -eu
if ! command -v npm >/dev/null 2>&1; then
  echo "drawings: install Node.js 20 or later with npm, then run make drawings again" >&2
  exit 1
fi
cd "$(dirname "$0")/../site"
npm install --no-package-lock --no-fund --no-audit --loglevel=error
node draw.mjs

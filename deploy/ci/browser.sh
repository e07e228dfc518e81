#!/bin/sh
# Finds Chromium, in which the pages of the sandbox and the console are tested.
# In CI it is installed if missing. Elsewhere the tests are skipped without it.
set -eu
for b in chromium chromium-browser google-chrome chrome; do
  if command -v "$b" >/dev/null 2>&1; then
    echo "browser: using $(command -v "$b")"
    exit 0
  fi
done
if [ -z "${CI:-}" ]; then
  echo "browser: Chromium not found; skipping the tests of the pages"
  exit 0
fi
echo "browser: Chromium not found; installing it"
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends chromium
elif command -v apk >/dev/null 2>&1; then
  apk add chromium
else
  echo "browser: unknown package manager; install Chromium, then try again" >&2
  exit 1
fi

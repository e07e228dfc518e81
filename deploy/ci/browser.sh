#!/bin/sh
# The page of the sandbox is tested in Chromium. In CI it is installed; on a
# developer's machine the test is left out where there is none.
set -eu
for b in chromium chromium-browser google-chrome chrome; do
  if command -v "$b" >/dev/null 2>&1; then
    echo "browser: using $(command -v "$b")"
    exit 0
  fi
done
if [ -z "${CI:-}" ]; then
  echo "browser: no Chromium here, so the test of the page is left out"
  exit 0
fi
echo "browser: no Chromium here, installing one"
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends chromium
elif command -v apk >/dev/null 2>&1; then
  apk add chromium
else
  echo "browser: no package manager that I know; install chromium" >&2
  exit 1
fi

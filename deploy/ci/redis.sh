#!/bin/sh
# Finds redis-server, or installs it with the system's package manager. Tests
# start their own servers, so Redis does not need to run as a service.
set -eu

if command -v redis-server >/dev/null 2>&1; then
  echo "redis: using $(command -v redis-server) ($(redis-server --version | sed 's/.* v=\([0-9.]*\).*/\1/'))"
  exit 0
fi

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else
    echo "redis: root is required, running: sudo $*"
    sudo "$@"
  fi
}

echo "redis: redis-server not found; installing it"
if command -v apt-get >/dev/null 2>&1; then
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends redis-server
elif command -v dnf >/dev/null 2>&1; then
  as_root dnf install -y redis || as_root dnf install -y valkey
elif command -v apk >/dev/null 2>&1; then
  as_root apk add redis
elif command -v pacman >/dev/null 2>&1; then
  as_root pacman -S --noconfirm redis
elif command -v brew >/dev/null 2>&1; then
  brew install redis
else
  echo "redis: unknown package manager; install redis-server 6.2 or later, then try again" >&2
  exit 1
fi
command -v redis-server >/dev/null 2>&1 || { echo "redis: redis-server is still not in PATH" >&2; exit 1; }

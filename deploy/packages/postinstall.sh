#!/bin/sh
# Creates the user and the directory of the config. The service is not started,
# because it needs a config first. An upgrade restarts a service that runs.
set -e
if command -v systemd-sysusers >/dev/null 2>&1; then
  systemd-sysusers nod.conf
elif ! getent passwd nod >/dev/null; then
  useradd --system --user-group --home-dir /etc/nod --shell /usr/sbin/nologin nod
fi
[ -d /etc/nod ] || install -d -o nod -g nod -m 0700 /etc/nod
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
  systemctl try-restart nod.service || true
fi

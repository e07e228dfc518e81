#!/bin/sh
# The config, the secrets and the user remain, because they cannot be recreated.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
fi

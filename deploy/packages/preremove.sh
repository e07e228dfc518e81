#!/bin/sh
# Stops the service when the package is removed, not when it is upgraded. The
# argument is "remove" from dpkg and 0 from rpm.
set -e
case "$1" in
remove | 0)
  if [ -d /run/systemd/system ]; then
    systemctl disable --now nod.service || true
  fi
  ;;
esac

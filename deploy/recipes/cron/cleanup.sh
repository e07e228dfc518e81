#!/bin/sh
# Deletes old snapshots if someone approves today.
set -eu
nod approve "Delete snapshots older than 30 days?" --tool cleanup --timeout 4h --key "cleanup-$(date +%F)"
find /var/snapshots -name '*.snap' -mtime +30 -delete
nod notify "Cleanup **done**"

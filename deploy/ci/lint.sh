#!/bin/sh
# Checks what nod is deployed with, by the tools that will read it. Helm, the
# types of Kubernetes and Compose are libraries; promtool is taken from the
# system's packages where it is not installed; systemd-analyze is used where it
# is.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

(cd "$root/deploy/lint" && go build -o "$tmp/lint" .)
(cd "$root" && "$tmp/lint" "$@")

promtool=$(command -v promtool || true)
if [ -z "$promtool" ] && command -v apt-get >/dev/null 2>&1; then
  echo "lint: taking promtool out of Debian's package prometheus, without installing it"
  (cd "$tmp" && { apt-get download prometheus || { apt-get update && apt-get download prometheus; }; } >/dev/null 2>&1 && dpkg -x prometheus_*.deb prometheus) || true
  promtool="$tmp/prometheus/usr/bin/promtool"
fi
if [ -n "$promtool" ] && [ -x "$promtool" ]; then
  "$promtool" check rules "$root/deploy/prometheus/alerts.yaml"
  (cd "$root/deploy/prometheus" && "$promtool" test rules alerts_test.yaml)
else
  echo "lint: promtool could not be had; the alerts are not checked"
fi

if command -v systemd-analyze >/dev/null 2>&1; then
  # The binary need not be there; nor the user's name server.
  sed -e 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' -e '/^Documentation=/d' "$root/deploy/systemd/nod.service" >"$tmp/nod.service"
  systemd-analyze verify "$tmp/nod.service"
  systemd-analyze security --offline=true --threshold=20 "$tmp/nod.service" | tail -1
else
  echo "lint: no systemd-analyze here; the unit is not checked"
fi

#!/bin/sh
# Checks the deployment files with the tools that read them: promtool checks the
# alerts and the queries of the dashboard. Helm, the types of Kubernetes, and
# Compose are libraries. If promtool is not installed, it is taken from the
# system's packages. systemd-analyze is used if it is installed.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

(cd "$root/deploy/lint" && go build -o "$tmp/lint" .)
(cd "$root" && "$tmp/lint")

promtool=$(command -v promtool || true)
if [ -z "$promtool" ] && command -v apt-get >/dev/null 2>&1; then
  echo "lint: unpacking promtool from the Debian package prometheus without installing it"
  (cd "$tmp" && { apt-get download prometheus || { apt-get update && apt-get download prometheus; }; } >/dev/null 2>&1 && dpkg -x prometheus_*.deb prometheus) || true
  promtool="$tmp/prometheus/usr/bin/promtool"
fi
if [ -n "$promtool" ] && [ -x "$promtool" ]; then
  "$promtool" check rules "$root/deploy/prometheus/alerts.yaml"
  (cd "$root/deploy/prometheus" && "$promtool" test rules alerts_test.yaml)
  (cd "$root" && "$tmp/lint" -queries) >"$tmp/queries.yaml"
  "$promtool" check rules "$tmp/queries.yaml"
else
  echo "lint: promtool not found; skipping the alerts"
fi

if command -v systemd-analyze >/dev/null 2>&1; then
  # The check must not depend on the binary or on the man page.
  sed -e 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' -e '/^Documentation=/d' "$root/deploy/systemd/nod.service" >"$tmp/nod.service"
  systemd-analyze verify "$tmp/nod.service"
  systemd-analyze security --offline=true --threshold=20 "$tmp/nod.service" | tail -1
else
  echo "lint: systemd-analyze not found; skipping the unit"
fi

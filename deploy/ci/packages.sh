#!/bin/sh
# Builds the archive, the packages and the formula of a release for this machine,
# and checks each with its own tool. A tool that is not installed is skipped.
set -eu
cd "$(dirname "$0")/../.."
version=0.0.1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
arch=$(go env GOARCH)
OUT=$tmp/dist TARGETS=linux/$arch sh deploy/ci/release.sh "$version"

# works DIRECTORY checks the binaries that were unpacked there.
works() {
  for program in nod nod-hook; do
    "$1/$program" version | grep -q "^$program $version " || { echo "packages: $1/$program does not know its version"; exit 1; }
  done
}

(cd "$tmp/dist" && sha256sum --check --quiet SHA256SUMS)
mkdir "$tmp/archive" "$tmp/unpacked"
tar -C "$tmp/archive" --strip-components=1 -xzf "$tmp/dist/nod_${version}_linux_$arch.tar.gz"
works "$tmp/archive"
echo "packages: the archive is valid"

if command -v dpkg-deb >/dev/null 2>&1; then
  dpkg-deb -x "$tmp"/dist/*.deb "$tmp/unpacked"
  works "$tmp/unpacked/usr/bin"
  dpkg-deb -I "$tmp"/dist/*.deb postinst | sh -n
  if command -v systemd-analyze >/dev/null 2>&1; then
    sed -e "s|^ExecStart=/usr|ExecStart=$tmp/unpacked/usr|" -e '/^Documentation=/d' \
      "$tmp/unpacked/lib/systemd/system/nod.service" > "$tmp/nod.service"
    systemd-analyze verify "$tmp/nod.service"
  fi
  if command -v systemd-sysusers >/dev/null 2>&1; then
    mkdir -p "$tmp/unpacked/etc"
    systemd-sysusers --root="$tmp/unpacked" nod.conf
    grep -q '^nod:.*:/etc/nod:/usr/sbin/nologin$' "$tmp/unpacked/etc/passwd"
  fi
  echo "packages: the Debian package is valid"
else
  echo "packages: dpkg-deb not found; skipping the Debian package"
fi
if command -v lintian >/dev/null 2>&1; then
  lintian --fail-on error,warning "$tmp"/dist/*.deb
else
  echo "packages: lintian not found; skipping its checks"
fi
if command -v rpm >/dev/null 2>&1; then
  rpm --checksig --nosignature "$tmp"/dist/*.rpm >/dev/null
  for file in /usr/bin/nod /usr/bin/nod-hook /usr/lib/systemd/system/nod.service /usr/lib/sysusers.d/nod.conf; do
    rpm -qpl "$tmp"/dist/*.rpm | grep -qx "$file" || { echo "packages: the RPM package has no $file"; exit 1; }
  done
  echo "packages: the RPM package is valid"
else
  echo "packages: rpm not found; skipping the RPM package"
fi

# The formula of the test names this archive for every system.
for system in darwin_arm64 darwin_amd64 linux_arm64 linux_amd64; do
  cp "$tmp/dist/nod_${version}_linux_$arch.tar.gz" "$tmp/archive/nod_${version}_$system.tar.gz"
done
sh deploy/ci/formula.sh "$version" "$tmp/archive" > "$tmp/nod.rb"
sum=$(sha256sum "$tmp/dist/nod_${version}_linux_$arch.tar.gz" | cut -d ' ' -f 1)
if [ "$(grep -c "sha256 \"$sum\"" "$tmp/nod.rb")" != 4 ] || grep -q @ "$tmp/nod.rb"; then
  echo "packages: the formula lacks a checksum"
  exit 1
fi
if command -v ruby >/dev/null 2>&1; then
  ruby -c "$tmp/nod.rb" >/dev/null
  echo "packages: the formula is valid Ruby"
else
  echo "packages: ruby not found; skipping the formula"
fi

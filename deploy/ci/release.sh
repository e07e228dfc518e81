#!/bin/sh
# Builds the archives of a release, which are reproducible: binary, license,
# manual pages and completions for each system, checksums, and the SBOM.
set -eu
version=${1:?usage: release.sh VERSION}
cd "$(dirname "$0")/../.."
out=dist
rm -rf "$out" && mkdir -p "$out/tmp"
when=$(git log -1 --format=%cI)
flags="-s -w -X main.stamped=$version"

CGO_ENABLED=0 go build -trimpath -ldflags "$flags" -o "$out/tmp/nod" ./cmd/nod
"$out/tmp/nod" man "$out/tmp/man" 2>/dev/null
mkdir -p "$out/tmp/completions"
for shell in bash zsh fish powershell; do
  "$out/tmp/nod" completion "$shell" > "$out/tmp/completions/nod.$shell"
done
"$out/tmp/nod" version --sbom > "$out/nod_$version.cdx.json"

for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
  os=${target%/*} arch=${target#*/} exe=
  [ "$os" != windows ] || exe=.exe
  name=nod_${version}_${os}_${arch}
  echo "release: $name"
  mkdir -p "$out/tmp/$name"
  CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -ldflags "$flags" -o "$out/tmp/$name/nod$exe" ./cmd/nod
  cp -R LICENSE README.md CHANGELOG.md "$out/tmp/man" "$out/tmp/completions" "$out/tmp/$name/"
  tar -C "$out/tmp" --sort=name --mtime="$when" --owner=0 --group=0 --numeric-owner -cf - "$name" | gzip -9n > "$out/$name.tar.gz"
done
rm -rf "$out/tmp"
(cd "$out" && sha256sum ./* > SHA256SUMS)
echo "release: $out"

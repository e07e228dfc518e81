#!/bin/sh
# Builds the archives of a release, the same bytes from the same commit:
# binary, licence, manual pages and completions for each system, checksums, and
# what the binary was made of.
set -eu
version=${1:?usage: release.sh VERSION}
cd "$(dirname "$0")/../.."
out=dist
rm -rf "$out" && mkdir -p "$out/work"
when=$(git log -1 --format=%cI)
flags="-s -w -X main.version=$version"

CGO_ENABLED=0 go build -trimpath -ldflags "$flags" -o "$out/work/nod" ./cmd/nod
"$out/work/nod" man "$out/work/man" 2>/dev/null
mkdir -p "$out/work/completions"
for shell in bash zsh fish powershell; do
  "$out/work/nod" completion "$shell" > "$out/work/completions/nod.$shell"
done
"$out/work/nod" version --sbom > "$out/nod_$version.cdx.json"

for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
  os=${target%/*} arch=${target#*/} exe=
  [ "$os" != windows ] || exe=.exe
  name=nod_${version}_${os}_${arch}
  echo "release: $name"
  mkdir -p "$out/work/$name"
  CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -ldflags "$flags" -o "$out/work/$name/nod$exe" ./cmd/nod
  cp -R LICENSE README.md CHANGELOG.md "$out/work/man" "$out/work/completions" "$out/work/$name/"
  tar -C "$out/work" --sort=name --mtime="$when" --owner=0 --group=0 --numeric-owner -cf - "$name" | gzip -9n > "$out/$name.tar.gz"
done
rm -rf "$out/work"
(cd "$out" && sha256sum ./* > SHA256SUMS)
echo "release: $out"

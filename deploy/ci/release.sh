#!/bin/sh
# Builds a release, which is reproducible: an archive for each system with the
# binaries, license, manual pages and completions; Debian and RPM packages; the
# Homebrew formula; checksums; and the SBOM. TARGETS limits the systems, and OUT
# is the directory, dist by default.
set -eu
version=${1:?usage: release.sh VERSION}
cd "$(dirname "$0")/../.."
out=${OUT:-dist}
targets=${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}
nfpm=${NFPM:-go run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.1}
rm -rf "$out" && mkdir -p "$out/tmp"
out=$(cd "$out" && pwd)
when=$(git log -1 --format=%cI)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
flags="-s -w -X main.stamped=$version"

CGO_ENABLED=0 go build -trimpath -ldflags "$flags" -o "$out/tmp/nod" ./cmd/nod
"$out/tmp/nod" man "$out/tmp/man" 2>/dev/null
mkdir -p "$out/tmp/completions"
for shell in bash zsh fish powershell; do
  "$out/tmp/nod" completion "$shell" > "$out/tmp/completions/nod.$shell"
done
go run ./deploy/ci/sbom "$out/tmp/nod" "$version" > "$out/nod_$version.cdx.json"

# packages NAME ARCH builds the packages with the binary of an archive.
packages() {
  files=$out/tmp/files_$2
  mkdir -p "$files/man"
  cp "$out/tmp/$1/nod" "$out/tmp/$1/nod-hook" "$files/"
  cp -R "$out/tmp/completions" "$files/"
  for page in "$out"/tmp/man/*.1; do
    gzip -9n < "$page" > "$files/man/${page##*/}.gz"
  done
  sed -e 's|/usr/local/bin/nod|/usr/bin/nod|' deploy/systemd/nod.service > "$files/nod.service"
  cat > "$files/changelog.yaml" <<END
- semver: $version
  date: $when
  packager: nod maintainers <nodbridge@users.noreply.github.com>
  deb: {urgency: medium, distributions: [stable]}
  changes:
    - note: See https://github.com/nodbridge/nod/blob/v$version/CHANGELOG.md
END
  sed -e "s|@FILES@|$files|g" -e "s|@VERSION@|$version|" -e "s|@ARCH@|$2|" deploy/packages/nfpm.yaml > "$files/nfpm.yaml"
  for format in deb rpm; do
    $nfpm package --config "$files/nfpm.yaml" --packager "$format" --target "$out" >/dev/null
  done
}

for target in $targets; do
  os=${target%/*} arch=${target#*/} exe=
  [ "$os" != windows ] || exe=.exe
  name=nod_${version}_${os}_${arch}
  echo "release: $name"
  mkdir -p "$out/tmp/$name"
  for program in nod nod-hook; do
    CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -ldflags "$flags" -o "$out/tmp/$name/$program$exe" "./cmd/$program"
  done
  cp -R LICENSE README.md CHANGELOG.md "$out/tmp/man" "$out/tmp/completions" "$out/tmp/$name/"
  tar -C "$out/tmp" --sort=name --mtime="$when" --owner=0 --group=0 --numeric-owner -cf - "$name" | gzip -9n > "$out/$name.tar.gz"
  [ "$os" != linux ] || packages "$name" "$arch"
done

# The formula needs the archives of all systems that Homebrew supports.
[ -n "${TARGETS:-}" ] || sh deploy/ci/formula.sh "$version" "$out" > "$out/nod.rb"
rm -rf "$out/tmp"
(cd "$out" && sha256sum ./* > SHA256SUMS)
echo "release: $out"

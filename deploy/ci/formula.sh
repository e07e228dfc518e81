#!/bin/sh
# Prints the Homebrew formula of a release, with the checksums of its archives.
set -eu
version=${1:?usage: formula.sh VERSION DIRECTORY}
dir=${2:?usage: formula.sh VERSION DIRECTORY}
formula=$(sed -e "s|@VERSION@|$version|g" "$(dirname "$0")/../packages/nod.rb")
for system in darwin_arm64 darwin_amd64 linux_arm64 linux_amd64; do
  sum=$(sha256sum "$dir/nod_${version}_$system.tar.gz" | cut -d ' ' -f 1)
  formula=$(printf '%s\n' "$formula" | sed -e "s|@$system@|$sum|")
done
printf '%s\n' "$formula"

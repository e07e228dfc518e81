#!/bin/sh
# Finds what tests need, or installs it with the system's package manager:
#
#   redis     redis-server. Tests start their own, so it need not run as a service.
#   browser   Chromium, in which tests use the pages. Where it cannot be installed,
#             these tests are skipped, except in CI.
#   python    discord.py and apprise, which use the sandbox in make conformance.
#             Their tests are skipped in the same way.
#   errbot    errbot with its library for Telegram, which uses the sandbox too. Its
#             test is skipped in the same way.
set -eu

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else
    echo "$what: root is required, running: sudo $*"
    sudo "$@"
  fi
}

# first prints the path of the first of some programs that is installed.
first() {
  for program in "$@"; do
    command -v "$program" && return
  done
  return 1
}

# install installs packages, whose names depend on the package manager.
# shellcheck disable=SC2086 # apt can be several words
install() {
  if command -v apt-get >/dev/null 2>&1; then
    as_root apt-get update -q && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $apt
  elif command -v dnf >/dev/null 2>&1; then
    as_root dnf install -y "$dnf" || as_root dnf install -y "$dnf_else"
  elif command -v apk >/dev/null 2>&1; then
    as_root apk add "$other"
  elif command -v pacman >/dev/null 2>&1; then
    as_root pacman -S --noconfirm "$other"
  elif command -v brew >/dev/null 2>&1; then
    brew install "$other"
  else
    echo "$what: unknown package manager" >&2
    return 1
  fi
}

what=${1:?redis, browser, python or errbot}
case "$what" in
  redis) programs="redis-server" apt=redis-server dnf=redis dnf_else=valkey other=redis ;;
  browser) programs="chromium chromium-browser google-chrome chrome" apt=chromium dnf=chromium dnf_else=chromium other=chromium ;;
  python) programs="apprise" apt="python3-discord apprise" dnf=apprise dnf_else=python3-apprise other=apprise ;;
  errbot) programs="errbot" apt="errbot python3-python-telegram-bot" dnf=errbot dnf_else=python3-errbot other=errbot ;;
  *) echo "$0: unknown: $what" >&2; exit 2 ;;
esac
# shellcheck disable=SC2086 # the names are several words
if ! path=$(first $programs); then
  echo "$what: not found; installing it"
  # shellcheck disable=SC2086
  if ! install || ! path=$(first $programs); then
    if [ "$what" != redis ] && [ "${CI:-}" != true ]; then
      echo "$what: not installed; skipping its tests"
      exit 0
    fi
    echo "$what: could not be installed; install one of these, then try again: $programs" >&2
    exit 1
  fi
fi
echo "$what: using $path"

#!/bin/sh
# Installs vis: fetches the archive for this machine, checks it against SHA256SUMS, tries it, then puts it in place in
# one step. Nothing is changed where any of that fails. A signed release is also checked by minisign, where that is
# installed.
#
#   sh install.sh [--to DIR] [--from URL]
#
#   --to DIR     where the executable goes: $VIS_INSTALL_DIR or ~/.local/bin by default
#   --from URL   where the files of the release are: $VIS_RELEASE_URL or the place this script was made for
set -eu

version='@VERSION@'
key='@PUBLIC_KEY@'
from=${VIS_RELEASE_URL:-'@BASE_URL@'}
to=${VIS_INSTALL_DIR:-${HOME:-}/.local/bin}

fail() {
  echo "install: $1" >&2
  exit 1
}

usage() {
  sed -n '2,10s/^# \{0,1\}//p' "$0" 2>/dev/null || echo 'usage: sh install.sh [--to DIR] [--from URL]'
  exit "$1"
}

while [ $# -gt 0 ]; do
  case $1 in
    --to) [ $# -ge 2 ] || usage 2 >&2; to=$2; shift 2 ;;
    --from) [ $# -ge 2 ] || usage 2 >&2; from=$2; shift 2 ;;
    -h | --help) usage 0 ;;
    *) usage 2 >&2 ;;
  esac
done

[ -n "$from" ] || fail 'no address to fetch from: give --from URL'
case $to in
  /.local/bin) fail 'HOME is not set: give --to DIR' ;;
  /*) ;;
  *) to=$PWD/$to ;;
esac

case $(uname -s) in
  Linux) system=unknown-linux-gnu ;;
  Darwin) system=apple-darwin ;;
  *) fail "there is no executable for $(uname -s); on Windows unpack the .zip of the release" ;;
esac
case $(uname -m) in
  x86_64 | amd64) machine=x86_64 ;;
  aarch64 | arm64) machine=aarch64 ;;
  *) fail "there is no executable for $(uname -m)" ;;
esac
if [ "$system" = unknown-linux-gnu ] && ls /lib/ld-musl-* >/dev/null 2>&1 && ! ls /lib*/ld-linux-* >/dev/null 2>&1; then
  fail 'this system has musl only, and vis needs glibc'
fi
archive=vis-$version-$machine-$system.tar.gz

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fetch() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --output "$2" "$1" || fail "cannot fetch $1"
  elif command -v wget >/dev/null 2>&1; then
    wget --quiet --output-document="$2" "$1" || fail "cannot fetch $1"
  else
    fail 'curl or wget is needed'
  fi
}

sum() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1"
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1"
  elif command -v openssl >/dev/null 2>&1; then
    openssl dgst -sha256 -r "$1"
  else
    fail 'sha256sum, shasum or openssl is needed to check what was fetched'
  fi
}

fetch "$from/SHA256SUMS" "$work/SHA256SUMS"
if [ -n "$key" ] && command -v minisign >/dev/null 2>&1; then
  fetch "$from/SHA256SUMS.minisig" "$work/SHA256SUMS.minisig"
  minisign -Vqm "$work/SHA256SUMS" -P "$key" >/dev/null || fail 'the signature of SHA256SUMS is wrong: nothing was installed'
fi
wanted=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/SHA256SUMS")
[ -n "$wanted" ] || fail "the release has no $archive"
fetch "$from/$archive" "$work/$archive"
found=$(sum "$work/$archive") || exit 1
[ "${found%% *}" = "$wanted" ] || fail "$archive is not what SHA256SUMS says: nothing was installed"

tar -xzf "$work/$archive" -C "$work" || fail "cannot unpack $archive"
program=$work/vis-$version/vis
[ -x "$program" ] || fail "$archive has no executable"
"$program" version >/dev/null || fail 'the executable does not run here: nothing was installed'

mkdir -p "$to" || fail "cannot make $to"
new=$to/.vis-new-$$
trap 'rm -rf "$work" "$new"' EXIT
{ cp "$program" "$new" && chmod 755 "$new" && mv -f "$new" "$to/vis"; } || fail "cannot write to $to"

echo "installed $("$to/vis" version) in $to/vis"
case :${PATH:-}: in
  *:"$to":*) ;;
  *) echo "add it to your PATH: export PATH=\"$to:\$PATH\"" ;;
esac

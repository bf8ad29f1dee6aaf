#!/bin/sh
# Installs vis. The script downloads the archive for this machine, verifies the archive with SHA256SUMS, and runs the
# executable once before it replaces an installed vis in one step. With minisign, the script also verifies the signature
# of a signed release.
#
#   sh install.sh [--to DIR] [--from URL]
#
#   --to DIR     folder for the executable (default: $VIS_INSTALL_DIR, or ~/.local/bin)
#   --from URL   address of the release (default: $VIS_RELEASE_URL, or the address of this script's release)
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

[ -n "$from" ] || fail 'Cannot download: no address is set; use --from URL'
case $to in
  /.local/bin) fail 'Cannot choose a folder: HOME is not set; use --to DIR' ;;
  /*) ;;
  *) to=$PWD/$to ;;
esac

case $(uname -s) in
  Linux) system=unknown-linux-gnu ;;
  Darwin) system=apple-darwin ;;
  *) fail "Cannot install: no release is for $(uname -s); on Windows, unpack the .zip of the release" ;;
esac
case $(uname -m) in
  x86_64 | amd64) machine=x86_64 ;;
  aarch64 | arm64) machine=aarch64 ;;
  *) fail "Cannot install: no release is for the processor $(uname -m)" ;;
esac
if [ "$system" = unknown-linux-gnu ] && ls /lib/ld-musl-* >/dev/null 2>&1 && ! ls /lib*/ld-linux-* >/dev/null 2>&1; then
  fail 'Cannot install: this system has only musl, and vis needs glibc'
fi
archive=vis-$version-$machine-$system.tar.gz

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fetch() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --output "$2" "$1" || fail "Cannot download $1"
  elif command -v wget >/dev/null 2>&1; then
    wget --quiet --output-document="$2" "$1" || fail "Cannot download $1"
  else
    fail 'Cannot download: this machine has neither curl nor wget; install one of them'
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
    fail 'Cannot verify the archive: this machine has no sha256sum, shasum or openssl; install one of them'
  fi
}

fetch "$from/SHA256SUMS" "$work/SHA256SUMS"
if [ -n "$key" ] && command -v minisign >/dev/null 2>&1; then
  fetch "$from/SHA256SUMS.minisig" "$work/SHA256SUMS.minisig"
  minisign -Vqm "$work/SHA256SUMS" -P "$key" >/dev/null || fail 'Cannot trust the signature of SHA256SUMS: minisign refuses it, and nothing was installed'
fi
wanted=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/SHA256SUMS")
[ -n "$wanted" ] || fail "Cannot install: the release has no $archive"
fetch "$from/$archive" "$work/$archive"
found=$(sum "$work/$archive") || exit 1
[ "${found%% *}" = "$wanted" ] || fail "Cannot use $archive: its checksum is not the one in SHA256SUMS, and nothing was installed"

tar -xzf "$work/$archive" -C "$work" || fail "Cannot unpack $archive"
program=$work/vis-$version/vis
[ -x "$program" ] || fail "Cannot use $archive: it has no executable"
"$program" version >/dev/null || fail 'Cannot use the executable: it does not run here, and nothing was installed'

mkdir -p "$to" || fail "Cannot make $to"
new=$to/.vis-new-$$
trap 'rm -rf "$work" "$new"' EXIT
{ cp "$program" "$new" && chmod 755 "$new" && mv -f "$new" "$to/vis"; } || fail "Cannot write to $to"

echo "installed $("$to/vis" version) in $to/vis"
case :${PATH:-}: in
  *:"$to":*) ;;
  *) echo "add it to your PATH: export PATH=\"$to:\$PATH\"" ;;
esac

#!/bin/sh
# Checks that packages do not depend on the directory in which they are built: builds those of HEAD in two clones, compares
# their bytes, and searches the shared libraries for directories of this machine. Prints the checksums.
#
#     scripts/check-reproducible.sh [--short | --release]
#
# Without an option, the packages are optimised, as those of a release, which takes 30 minutes of processor time. --short compiles
# without optimisation, which finds directories and times in packages too. --release also compiles without it, and compares everything
# that scripts/release.sh makes, with the archives for other systems: about two hours on two cores. Needs 3 GB in TMPDIR, and several
# times as much with --release.
set -eu
short=no release=no
case ${1:-} in
  -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;;
  --short) short=yes ;;
  --release) short=yes release=yes ;;
  '') ;;
  *) echo "unknown argument $1" >&2; exit 2 ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ $short = yes ]; then
  export CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
fi
unset CARGO_TARGET_DIR
for place in first second/with-a-longer-name; do
  git clone --quiet "$root" "$work/$place"
  if [ $release = yes ]; then
    "$work/$place/scripts/release.sh" --out "$work/$place/packages"
  else
    "$work/$place/scripts/package.sh" --out "$work/$place/packages" --with-remote --debug-dir "$work/$place/packages/debug"
  fi
  (cd "$work/$place/packages" && find . -type f -exec sha256sum {} + | LC_ALL=C sort -k 2) >"$work/sums"
  if [ "$place" = first ]; then
    mv "$work/sums" "$work/expected"
    # One clone after the other: the second one does not find the files of the first.
    rm -rf "$work/first/target"
  fi
done
cat "$work/expected"
diff "$work/expected" "$work/sums" || { echo "the packages depend on the directory" >&2; exit 1; }
for archive in "$work/first/packages"/*.tar.gz; do tar -xzf "$archive" -C "$work/first/packages"; done
for directory in "$work" "${CARGO_HOME:-$HOME/.cargo}" "$HOME"; do
  if grep -rlF --include='*.so.*' --include='*.a' "$directory/" "$work/first/packages"; then
    echo "these files name $directory" >&2
    exit 1
  fi
done
echo "the packages have the same bytes in both directories, and name none of this machine"

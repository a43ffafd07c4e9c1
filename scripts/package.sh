#!/bin/sh
# Builds packages of libblosc2 and of libblosc, the library for programs of C-Blosc 1: for each, a relocatable tarball, and,
# if debhelper is installed, the Debian packages that debian/control lists: those of the libraries, of libblosc2_remote and
# of the command.
#
#   scripts/package.sh [--out DIR] [--profile release] [--with-remote] [--debug-dir DIR]
#
# Writes them to DIR, by default target/packages. All contain the files that scripts/install.sh installs. --with-remote adds
# libblosc2_remote.so to the tarball of libblosc2, --debug-dir writes the debug information of the shared libraries to files.
#
# The Debian packages have the names of Debian's packages of the C libraries, and later versions: they replace those as
# an upgrade does, and satisfy the dependencies of other packages.
#
# Optimised packages (--profile release) contain no directory of this machine (scripts/check-reproducible.sh compares the bytes
# of two builds). They are built in a directory of their own in target/, because their flags are not those of other builds.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
out=$target/packages profile=release with_remote= debug_dir=
while [ $# -gt 0 ]; do
  case $1 in
    --out | --profile | --debug-dir) [ $# -ge 2 ] || { echo "$1 needs a value" >&2; exit 2; } ;;
  esac
  case $1 in
    --out) out=$2; shift 2 ;;
    --profile) profile=$2; shift 2 ;;
    --debug-dir) debug_dir=$2; shift 2 ;;
    --with-remote) with_remote=--with-remote; shift ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;;
    *) echo "unknown argument $1" >&2; exit 2 ;;
  esac
done
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

machine=$(uname -m)
system=$(. /etc/os-release && echo "$ID$VERSION_ID") 2>/dev/null || system=linux
case ${debug_dir:-/} in /*) ;; *) debug_dir=$PWD/$debug_dir ;; esac
cd "$root"
. scripts/shared/release-time.sh
if [ "$profile" = release ]; then
  export CARGO_TARGET_DIR="$target/reproducible"
  target=$CARGO_TARGET_DIR
  . scripts/shared/reproducible.sh
fi

# Writes a reproducible archive: fixed order, owners and times.
archive() { # file directory name
  tar -C "$2" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$3" | gzip -n9 >"$1"
}

# Selects the library of an API for the functions below.
select_library() { # blosc2|blosc1
  api=$1
  case $api in
    blosc2) library=blosc2 crate=$root macro=BLOSC2_VERSION options=$with_remote ;;
    blosc1) library=blosc crate=$root/blosc1 macro=BLOSC_VERSION options= ;;
  esac
  version=$(version_part MAJOR).$(version_part MINOR).$(version_part RELEASE)
  tree=$work/$api
}

version_part() { sed -n "s/^#define ${macro}_$1 \([0-9]*\).*/\1/p" "$crate/include/$library.h"; }

# Writes the tarball, which has the name of this system: scripts/package-platform.sh makes those for older ones.
make_tarball() {
  name=lib$library-$version-$system-$machine
  # shellcheck disable=SC2086 # No option, or one.
  DESTDIR=$tree/tar "$root/scripts/install.sh" --api "$api" --profile "$profile" --prefix "/$name" --relocatable $options \
    ${debug_dir:+--debug-dir "$debug_dir"} >/dev/null
  install -m 644 "$root/LICENSE" "$root/THIRD-PARTY-LICENSES.txt" "$root/README.md" "$tree/tar/$name/"
  archive "$out/$name.tar.gz" "$tree/tar" "$name"
  echo "$out/$name.tar.gz"
}

# Builds the packages that debian/ describes, outside of the sources.
make_debian_packages() {
  mkdir -p "$work/debian/source"
  cp -R "$root/debian" "$work/debian/source/"
  (cd "$work/debian/source" && SOURCE=$root PROFILE=$profile CARGO_TARGET_DIR=$target \
    dpkg-buildpackage --build=binary --no-sign --no-check-builddeps) >"$work/debian/log" 2>&1 ||
    { cat "$work/debian/log" >&2; exit 1; }
  for file in "$work/debian"/*.deb; do
    mv "$file" "$out/"
    echo "$out/${file##*/}"
  done
}

for api in blosc2 blosc1; do select_library $api; make_tarball; done
if ! command -v dh >/dev/null || ! command -v dpkg-buildpackage >/dev/null; then
  echo "there is no debhelper: no Debian packages" >&2
  exit 0
fi
make_debian_packages

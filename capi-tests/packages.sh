#!/bin/sh
# Builds the packages and uses each in an empty root directory, which contains only the package, the C library and a
# program that was compiled with the files of the package.
#
#   capi-tests/packages.sh WORKDIR [PROFILE]
#
# Needs a C compiler, tar and pkg-config; dpkg for the Debian packages; root or user namespaces to change the root.
# Prints "skipped" if a tool is missing.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=$1 profile=${2:-release}
rm -rf "$work"
mkdir -p "$work/packages"
work=$(cd "$work" && pwd)
export SOURCE_DATE_EPOCH=0
"$root/scripts/package.sh" --out "$work/packages" --profile "$profile"

# Runs a command as root, or as root of a user namespace.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else unshare -r "$@"; fi
}

# Runs $1/program with $1 as its root directory.
run_inside() {
  if ! as_root chroot "$1" /program; then
    echo "the program failed in its root" >&2
    exit 1
  fi
}

# Copies what a program needs besides the library under test to the root $1: the C library and the loader.
add_c_library() {
  for file in $(ldd "$1/program" | grep -o '/[^ ]*' | sort -u); do
    case $file in *libblosc2*) continue ;; esac
    mkdir -p "$1$(dirname "$file")"
    cp -L "$file" "$1$file"
  done
}

if ! as_root true 2>/dev/null; then
  echo "skipped: neither root nor user namespaces" >&2
  exit 0
fi

# 1. The tarball, somewhere, through its pkg-config file.
inside=$work/tarball
mkdir -p "$inside/opt"
tar -xzf "$work"/packages/libblosc2-*.tar.gz -C "$inside/opt"
prefix=$(echo "$inside"/opt/libblosc2-*)
if command -v pkg-config >/dev/null; then
  flags=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs blosc2)
else
  echo "skipped: no pkg-config" >&2
  flags="-I$prefix/include -L$prefix/lib -lblosc2"
fi
# shellcheck disable=SC2086 # The flags are words.
cc -o "$inside/program" "$root/capi-tests/installed.c" $flags -Wl,-rpath,"${prefix#"$inside"}/lib"
LD_LIBRARY_PATH=$prefix/lib ldd "$inside/program" | grep -q "$prefix/lib/libblosc2.so" || { echo "another library was linked" >&2; exit 1; }
LD_LIBRARY_PATH=$prefix/lib add_c_library "$inside"
run_inside "$inside"
echo "tarball: works in an empty root"

# 2. The Debian packages, installed by dpkg into an empty root, and removed again.
if ! command -v dpkg >/dev/null; then
  echo "skipped: no dpkg" >&2
  exit 0
fi
inside=$work/debian
mkdir -p "$inside/var/lib/dpkg/updates" "$inside/var/lib/dpkg/info" "$inside/var/lib/dpkg/triggers"
: >"$inside/var/lib/dpkg/status"
# The C library is not installed as a package: dpkg must ignore that dependency.
dpkg_inside() { as_root dpkg --root="$inside" --force-depends --log=/dev/null "$@" >/dev/null 2>"$work/dpkg.log" || { cat "$work/dpkg.log" >&2; exit 1; }; }
dpkg_inside -i "$work"/packages/*.deb
libdir=$(dirname "$(find "$inside/usr/lib" -name 'libblosc2.so')")
cc -o "$inside/program" "$root/capi-tests/installed.c" -I"$inside/usr/include" -L"$libdir" -lblosc2
LD_LIBRARY_PATH=$libdir add_c_library "$inside"
# The loader searches the directory of the packages by default.
run_inside "$inside"
echo "Debian packages: work in an empty root"
dpkg_inside -r libblosc2-dev
dpkg_inside -r "$(cd "$work/packages" && for f in libblosc2-[0-9]*.deb; do echo "${f%%_*}"; done)"
left=$(find "$inside" -path "$inside/var" -prune -o -name '*blosc2*' -print)
[ -z "$left" ] || { echo "left behind: $left" >&2; exit 1; }
echo "Debian packages: removed without a trace"

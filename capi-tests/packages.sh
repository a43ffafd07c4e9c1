#!/bin/sh
# Builds the packages and uses each in an empty root directory, which contains only the package, the C library and a
# program: the command, or one that was compiled with the files of the package. A program with the library for URLs is
# only started, outside of the root.
#
#   capi-tests/packages.sh WORKDIR [PROFILE]
#
# Needs a C compiler, tar and pkg-config; debhelper for the Debian packages; root or user namespaces to change the root.
# Prints a line "SKIPPED: REASON" to standard error if a tool is missing.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=$1 profile=${2:-release}
rm -rf "$work"
mkdir -p "$work/packages"
work=$(cd "$work" && pwd)
# xz would take 90 s of processor time for packages of the profile `checks`.
export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1
"$root/scripts/package.sh" --out "$work/packages" --profile "$profile" --with-remote

# Runs a command as root, or as root of a user namespace.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else unshare -r "$@"; fi
}

# Runs a program with a directory as its root directory.
run_inside() { # directory program arguments...
  if ! as_root chroot "$@"; then
    echo "$2 failed in its root" >&2
    exit 1
  fi
}

# Copies the libraries that a program in the root $1 needs, besides the library under test: the C library and the loader.
add_c_library() { # directory program
  for file in $(ldd "$1$2" | grep -o '/[^ ]*' | sort -u); do
    case $file in *libblosc*) continue ;; esac
    mkdir -p "$1$(dirname "$file")"
    cp -L "$file" "$1$file"
  done
}

# Builds a program with the library for URLs and flags of the compiler, and starts it.
load_remote() { # directory of the libraries, flags...
  libraries=$1; shift
  cc -o "$work/remote_slices" "$root/remote/examples/remote_slices.c" "$@"
  LD_LIBRARY_PATH=$libraries "$work/remote_slices" 2>&1 | grep -q '^usage: ' || { echo "the program with libblosc2_remote does not start" >&2; exit 1; }
}

if ! as_root true 2>/dev/null; then
  echo "SKIPPED: neither root nor user namespaces" >&2
  exit 0
fi

# 1. The tarballs, somewhere, through their pkg-config files.
try_tarball() { # library program
  inside=$work/tarball-$1
  mkdir -p "$inside/opt"
  tar -xzf "$work/packages/lib$1"-[0-9]*.tar.gz -C "$inside/opt"
  prefix=$(echo "$inside/opt/lib$1"-*)
  if command -v pkg-config >/dev/null; then
    flags=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs "$1")
  else
    echo "SKIPPED: no pkg-config" >&2
    flags="-I$prefix/include -L$prefix/lib -l$1"
  fi
  # shellcheck disable=SC2086 # The flags are words.
  cc -o "$inside/program" "$root/capi-tests/$2" $flags -Wl,-rpath,"${prefix#"$inside"}/lib"
  LD_LIBRARY_PATH=$prefix/lib ldd "$inside/program" | grep -q "$prefix/lib/lib$1.so" || { echo "another library was linked" >&2; exit 1; }
  LD_LIBRARY_PATH=$prefix/lib add_c_library "$inside" /program
  run_inside "$inside" /program
  echo "tarball of lib$1: works in an empty root"
}
try_tarball blosc2 installed.c
if command -v pkg-config >/dev/null; then
  # shellcheck disable=SC2046 # The flags are words.
  load_remote "$prefix/lib" $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs blosc2_remote)
fi
try_tarball blosc installed_blosc1.c

# 2. The Debian packages, installed by dpkg into an empty root, and removed again.
set -- "$work"/packages/*.deb
if [ ! -f "$1" ]; then
  echo "SKIPPED: the test of the Debian packages: no debhelper" >&2
  exit 0
fi
inside=$work/debian
mkdir -p "$inside/var/lib/dpkg/updates" "$inside/var/lib/dpkg/info" "$inside/var/lib/dpkg/triggers"
# The libraries that these packages contain are copied to this root, not installed: these entries satisfy the dependencies on them.
for package in libc6 libgcc-s1; do
  cat <<END
Package: $package
Status: install ok installed
Architecture: $(dpkg --print-architecture)
Multi-Arch: same
Maintainer: none
Version: $(dpkg-query -W -f '${Version}' "$package:$(dpkg --print-architecture)")
Description: copied

END
done >"$inside/var/lib/dpkg/status"
dpkg_inside() { as_root dpkg --root="$inside" --log=/dev/null "$@" >/dev/null 2>"$work/dpkg.log" || { cat "$work/dpkg.log" >&2; exit 1; }; }

# A package with the dependencies of programs and of development packages in Debian.
mkdir -p "$work/dependent/DEBIAN"
cat >"$work/dependent/DEBIAN/control" <<END
Package: dependent
Version: 1
Architecture: all
Maintainer: none
Depends: libblosc1 (>= 1.21.3+ds), libblosc-dev (>= 1.21.3+ds-1), libblosc2-9 (>= 3.3.5), libblosc2-dev, libblosc2-remote0 (>= 3.3.5), blosc2
Description: depends on the libraries
END
dpkg-deb --root-owner-group --build "$work/dependent" "$work/dependent.deb" >/dev/null

dpkg_inside -i "$work"/packages/*.deb "$work/dependent.deb"
libdir=$(dirname "$(find "$inside/usr/lib" -name 'libblosc2.so')")
for library_and_program in blosc2:installed.c blosc:installed_blosc1.c; do
  library=${library_and_program%:*}
  cc -o "$inside/program" "$root/capi-tests/${library_and_program#*:}" -I"$inside/usr/include" -L"$libdir" "-l$library"
  LD_LIBRARY_PATH=$libdir ldd "$inside/program" | grep -q "$libdir/lib$library.so" || { echo "another library was linked" >&2; exit 1; }
  LD_LIBRARY_PATH=$libdir add_c_library "$inside" /program
  # The loader searches the directory of the packages by default.
  run_inside "$inside" /program
done
load_remote "$libdir" -I"$inside/usr/include" -L"$libdir" -lblosc2_remote -lblosc2
add_c_library "$inside" /usr/bin/blosc2
cp "$root/LICENSE" "$inside/"
run_inside "$inside" /usr/bin/blosc2 --quiet compress /LICENSE --output /LICENSE.b2frame
run_inside "$inside" /usr/bin/blosc2 diff /LICENSE /LICENSE.b2frame
for package in libblosc2-9 libblosc2-dev libblosc2-remote0 blosc2 libblosc1 libblosc-dev; do
  gzip -dc "$inside/usr/share/doc/$package/THIRD-PARTY-LICENSES.txt.gz" | cmp - "$root/THIRD-PARTY-LICENSES.txt"
  grep -q 'THIRD-PARTY-LICENSES\.txt\.gz' "$inside/usr/share/doc/$package/copyright"
done
echo "Debian packages: work in an empty root, satisfy dependencies, and contain the licences"
dpkg_inside -r dependent blosc2 libblosc2-dev libblosc-dev libblosc1 libblosc2-remote0 libblosc2-9
left=$(find "$inside" -path "$inside/var" -prune -o -name '*blosc*' -print)
[ -z "$left" ] || { echo "left behind: $left" >&2; exit 1; }
echo "Debian packages: removed without a trace"

#!/bin/sh
# Builds packages of the library: a relocatable tarball and, if dpkg-deb is installed, two Debian packages (the shared
# library; headers, static library, pkg-config and CMake files).
#
#   scripts/package.sh [--out DIR] [--profile release]
#
# Writes them to DIR, by default target/packages. Both contain the files that scripts/install.sh installs.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
out=$target/packages profile=release
while [ $# -gt 0 ]; do
  case $1 in
    --out | --profile) [ $# -ge 2 ] || { echo "$1 needs a value" >&2; exit 2; } ;;
  esac
  case $1 in
    --out) out=$2; shift 2 ;;
    --profile) profile=$2; shift 2 ;;
    -h | --help) sed -n '2,/^set -eu/{/^set/d;s/^# \{0,1\}//;p;}' "$0"; exit 0 ;;
    *) echo "unknown argument $1" >&2; exit 2 ;;
  esac
done
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

define() { sed -n "s/^#define $1 \"\{0,1\}\([^\" ]*\).*/\1/p" "$root/include/blosc2.h"; }
version=$(define BLOSC2_VERSION_MAJOR).$(define BLOSC2_VERSION_MINOR).$(define BLOSC2_VERSION_RELEASE)
crate_version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
machine=$(uname -m)

# Writes a reproducible archive: fixed order, owners and times.
archive() { # file directory name
  tar -C "$2" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" -cf - "$3" | gzip -n9 >"$1"
}

say() { printf '%s\n' "${1#"$PWD"/}"; }

# The tarball: its pkg-config file derives the prefix from its own path, as the CMake files do.
name=libblosc2-$version-linux-$machine
DESTDIR=$work/tar "$root/scripts/install.sh" --profile "$profile" --prefix "/$name" >/dev/null
pc=$work/tar/$name/lib/pkgconfig/blosc2.pc
sed 's|^prefix=.*|prefix=${pcfiledir}/../..|' "$pc" >"$work/pc" && cp "$work/pc" "$pc"
install -m 644 "$root/LICENSE" "$root/README.md" "$work/tar/$name/"
archive "$out/$name.tar.gz" "$work/tar" "$name"
say "$out/$name.tar.gz"

command -v dpkg-deb >/dev/null || { echo "there is no dpkg-deb: no Debian packages" >&2; exit 0; }
architecture=$(dpkg-deb --version >/dev/null && dpkg --print-architecture)
triplet=$(cc -dumpmachine | sed 's/-unknown-/-/; s/-pc-/-/')
libdir=lib/$triplet
deb_version=$version+rust$crate_version
DESTDIR=$work/all "$root/scripts/install.sh" --profile "$profile" --prefix /usr --libdir "$libdir" --default-link shared >/dev/null
shared=$work/all/usr/$libdir/libblosc2.so.$version
soname=$("${READELF:-readelf}" -d "$shared" | sed -n 's/.*(SONAME).*\[\(.*\)\].*/\1/p')
so_version=${soname##*.}
runtime=libblosc2-$so_version
development=libblosc2-dev
# The newest version of the C library that the shared object requires.
glibc=$("${READELF:-readelf}" -V "$shared" | grep -o 'GLIBC_[0-9][0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1)

control() { # package section depends summary description
  mkdir -p "$work/$1/DEBIAN" "$work/$1/usr/share/doc/$1"
  install -m 644 "$root/LICENSE" "$work/$1/usr/share/doc/$1/copyright"
  cat >"$work/$1/DEBIAN/control" <<END
Package: $1
Version: $deb_version
Architecture: $architecture
Maintainer: The libblosc2-rs developers <libblosc2-rs@localhost>
Section: $2
Priority: optional
Depends: $3
Description: $4
 $5
END
}
control "$runtime" libs "libc6 (>= $glibc)" "compressor for binary data (shared library)" \
  "A drop-in for C-Blosc2 $version, written in Rust: same functions, same files."
control "$development" libdevel "$runtime (= $deb_version)" "compressor for binary data (development files)" \
  "Headers, static library, pkg-config and CMake files of $runtime."

mkdir -p "$work/$runtime/usr/$libdir" "$work/$development/usr/$libdir"
mv "$shared" "$work/all/usr/$libdir/$soname" "$work/$runtime/usr/$libdir/"
mv "$work/all/usr/include" "$work/$development/usr/"
mv "$work/all/usr/$libdir"/* "$work/$development/usr/$libdir/"
echo "libblosc2 $so_version $runtime (>= $version)" >"$work/$runtime/DEBIAN/shlibs"
echo "activate-noawait ldconfig" >"$work/$runtime/DEBIAN/triggers"
for package in "$runtime" "$development"; do
  find "$work/$package" -type d -exec chmod 755 {} +
  (cd "$work/$package" && find usr -type f -exec md5sum {} + | sort -k 2 >DEBIAN/md5sums)
  echo "Installed-Size: $(du -sk "$work/$package/usr" | cut -f 1)" >>"$work/$package/DEBIAN/control"
  # Moves the description, which has several lines, behind the size: no field may follow it.
  sed -n '/^Description/,/^ /!p' "$work/$package/DEBIAN/control" >"$work/control"
  sed -n '/^Description/p; /^ /p' "$work/$package/DEBIAN/control" >>"$work/control"
  cp "$work/control" "$work/$package/DEBIAN/control"
  file=$out/${package}_${deb_version}_$architecture.deb
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0} dpkg-deb --root-owner-group -Zgzip --build "$work/$package" "$file" >/dev/null
  say "$file"
done

#!/bin/sh
# Builds packages of libblosc2 and of libblosc, the library for programs of C-Blosc 1. For each: a relocatable tarball
# and, if dpkg-deb is installed, two Debian packages (the shared library; headers, static library, pkg-config and CMake
# files).
#
#   scripts/package.sh [--out DIR] [--profile release] [--with-remote]
#
# Writes them to DIR, by default target/packages. All contain the files that scripts/install.sh installs. --with-remote adds
# libblosc2_remote.so to the tarball of libblosc2, a Debian package of its own for it, and its header and pkg-config file to
# the package for development.
#
# The Debian packages have the names of Debian's packages of the C libraries, and later versions: they replace those as
# an upgrade does, and satisfy the dependencies of other packages.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
out=$target/packages profile=release with_remote=
while [ $# -gt 0 ]; do
  case $1 in
    --out | --profile) [ $# -ge 2 ] || { echo "$1 needs a value" >&2; exit 2; } ;;
  esac
  case $1 in
    --out) out=$2; shift 2 ;;
    --profile) profile=$2; shift 2 ;;
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

# Writes a reproducible archive: fixed order, owners and times.
archive() { # file directory name
  tar -C "$2" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" -cf - "$3" | gzip -n9 >"$1"
}

say() { printf '%s\n' "${1#"$PWD"/}"; }

# Selects the library of an API for the functions below.
select_library() { # blosc2|blosc1
  api=$1
  case $api in
    blosc2) library=blosc2 original=C-Blosc2 crate=$root macro=BLOSC2_VERSION options=$with_remote ;;
    blosc1) library=blosc original=C-Blosc crate=$root/blosc1 macro=BLOSC_VERSION options= ;;
  esac
  crate_version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
  version=$(version_part MAJOR).$(version_part MINOR).$(version_part RELEASE)
  tree=$work/$api
}

version_part() { sed -n "s/^#define ${macro}_$1 \([0-9]*\).*/\1/p" "$crate/include/$library.h"; }

# Writes the tarball: its pkg-config file derives the prefix from its own path, as the CMake files do.
make_tarball() {
  name=lib$library-$version-linux-$machine
  # shellcheck disable=SC2086 # No option, or one.
  DESTDIR=$tree/tar "$root/scripts/install.sh" --api "$api" --profile "$profile" --prefix "/$name" $options >/dev/null
  for pc in "$tree/tar/$name/lib/pkgconfig"/*.pc; do
    sed 's|^prefix=.*|prefix=${pcfiledir}/../..|' "$pc" >"$tree/pc" && cp "$tree/pc" "$pc"
  done
  install -m 644 "$root/LICENSE" "$root/THIRD-PARTY-LICENSES.txt" "$root/README.md" "$tree/tar/$name/"
  archive "$out/$name.tar.gz" "$tree/tar" "$name"
  say "$out/$name.tar.gz"
}

control() { # package section depends summary description
  mkdir -p "$tree/$1/DEBIAN" "$tree/$1/usr/share/doc/$1"
  cat "$root/LICENSE" "$root/THIRD-PARTY-LICENSES.txt" >"$tree/$1/usr/share/doc/$1/copyright"
  chmod 644 "$tree/$1/usr/share/doc/$1/copyright"
  cat >"$tree/$1/DEBIAN/control" <<END
Package: $1
Version: $deb_version
Architecture: $architecture
Multi-Arch: same
Maintainer: The libblosc2-rs developers <libblosc2-rs@localhost>
Section: $2
Priority: optional
Depends: $3
Description: $4
 $5
END
}

# Writes the Debian packages: one with the shared library, one for development, and perhaps that of the library for URLs.
make_debian_packages() {
  architecture=$(dpkg-deb --version >/dev/null && dpkg --print-architecture)
  triplet=$(cc -dumpmachine | sed 's/-unknown-/-/; s/-pc-/-/')
  libdir=lib/$triplet
  # A tilde sorts 1.0.0~rc.1 before 1.0.0.
  deb_version=$version+rust$(echo "$crate_version" | tr - '~')
  # shellcheck disable=SC2086 # No option, or one.
  DESTDIR=$tree/all "$root/scripts/install.sh" --api "$api" --profile "$profile" --prefix /usr --libdir "$libdir" \
    --default-link shared $options >/dev/null
  shared=$tree/all/usr/$libdir/lib$library.so.$version
  soname=$("${READELF:-readelf}" -d "$shared" | sed -n 's/.*(SONAME).*\[\(.*\)\].*/\1/p')
  so_version=${soname##*.}
  # Debian puts a hyphen between a name that ends in a digit and the version of the SONAME.
  case $library in *[0-9]) runtime=lib$library-$so_version ;; *) runtime=lib$library$so_version ;; esac
  development=lib$library-dev remote=${options:+libblosc2-remote0}
  # The newest version of the C library that the shared objects require.
  glibc=$("${READELF:-readelf}" -V "$tree/all/usr/$libdir"/*.so | grep -o 'GLIBC_[0-9][0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1)

  control "$runtime" libs "libc6 (>= $glibc)" "compressor for binary data (shared library)" \
    "A drop-in for $original $version, written in Rust: same functions, same files."
  control "$development" libdevel "$runtime (= $deb_version)${remote:+, $remote (= $deb_version)}" "compressor for binary data (development files)" \
    "Headers, static library, pkg-config and CMake files of $runtime."

  if [ -n "$remote" ]; then
    control "$remote" libs "libc6 (>= $glibc), $runtime (>= $version)" "reads files of object stores and web servers with Blosc2" \
      "Super-chunks and arrays by URL, for programs that use $runtime."
    mkdir -p "$tree/$remote/usr/$libdir"
    mv "$tree/all/usr/$libdir"/libblosc2_remote.so.* "$tree/$remote/usr/$libdir/"
    echo "libblosc2_remote 0 $remote (>= $version)" >"$tree/$remote/DEBIAN/shlibs"
    echo "activate-noawait ldconfig" >"$tree/$remote/DEBIAN/triggers"
  fi
  mkdir -p "$tree/$runtime/usr/$libdir" "$tree/$development/usr/$libdir"
  mv "$shared" "$tree/all/usr/$libdir/$soname" "$tree/$runtime/usr/$libdir/"
  mv "$tree/all/usr/include" "$tree/$development/usr/"
  mv "$tree/all/usr/$libdir"/* "$tree/$development/usr/$libdir/"
  echo "lib$library $so_version $runtime (>= $version)" >"$tree/$runtime/DEBIAN/shlibs"
  echo "activate-noawait ldconfig" >"$tree/$runtime/DEBIAN/triggers"
  for package in "$runtime" $remote "$development"; do
    find "$tree/$package" -type d -exec chmod 755 {} +
    (cd "$tree/$package" && find usr -type f -exec md5sum {} + | sort -k 2 >DEBIAN/md5sums)
    echo "Installed-Size: $(du -sk "$tree/$package/usr" | cut -f 1)" >>"$tree/$package/DEBIAN/control"
    # Moves the description, which has several lines, behind the size: no field may follow it.
    sed -n '/^Description/,/^ /!p' "$tree/$package/DEBIAN/control" >"$tree/control"
    sed -n '/^Description/p; /^ /p' "$tree/$package/DEBIAN/control" >>"$tree/control"
    cp "$tree/control" "$tree/$package/DEBIAN/control"
    file=$out/${package}_${deb_version}_$architecture.deb
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0} dpkg-deb --root-owner-group -Zgzip --build "$tree/$package" "$file" >/dev/null
    say "$file"
  done
}

for api in blosc2 blosc1; do select_library $api; make_tarball; done
command -v dpkg-deb >/dev/null || { echo "there is no dpkg-deb: no Debian packages" >&2; exit 0; }
for api in blosc2 blosc1; do select_library $api; make_debian_packages; done

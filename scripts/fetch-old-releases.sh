#!/bin/sh
# Fetches old releases of the C library for tests/durable_files and benches/drawn: the shared objects of the wheels
# `blosc2` that contain C-Blosc2 2.6.1, 2.15.2 and 2.22.1. They go to `reference/releases/<version>/libblosc2.so` (ignored by git), or to the
# directory that BLOSC2_OLD_RELEASES names. Does nothing for a release that is already there.
#
#     scripts/fetch-old-releases.sh
#
# Needs Python 3 with pip, and the network.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
target=${BLOSC2_OLD_RELEASES:-$root/reference/releases}
python=$(command -v python3 || command -v python)

fetch() { # version of the library, version of the wheel
    if [ -f "$target/$1/libblosc2.so" ]; then
        echo "C-Blosc2 $1 is in place: $target/$1/libblosc2.so"
        return
    fi
    work=$(mktemp -d)
    # The library does not depend on the version of Python, but the names of the wheels do: both have one for 3.11.
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --implementation cp --python-version 311 --abi cp311 --platform "manylinux2014_$(uname -m)" \
        --dest "$work" "blosc2==$2"
    "$python" -m zipfile -e "$work"/*.whl "$work/wheel"
    library=$(find "$work/wheel" -name "libblosc2.so.$1" | head -n 1)
    if [ -z "$library" ]; then
        echo "the wheel blosc2 $2 has no libblosc2.so.$1" >&2
        rm -rf "$work"
        exit 1
    fi
    mkdir -p "$target/$1"
    cp "$library" "$target/$1/libblosc2.so"
    rm -rf "$work"
    echo "fetched C-Blosc2 $1: $target/$1/libblosc2.so"
}

fetch 2.6.1 2.0.0
fetch 2.15.2 3.0.0
fetch 2.22.1 3.12.2

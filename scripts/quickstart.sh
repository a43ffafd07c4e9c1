#!/bin/sh
# Builds the library in release mode, compiles examples/quickstart.c against include/ and the shared
# library, and runs it.
#
#     scripts/quickstart.sh [FILE]      # compresses this file instead of the example's data
#
# CC names the compiler (default cc); CARGO_TARGET_DIR is respected.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}

cargo build --release --quiet --manifest-path "$root/Cargo.toml"

# The program loads the library by its SONAME; the file that cargo builds has no version number.
ln -sf libblosc2.so "$target/release/libblosc2.so.9"

mkdir -p "$target/examples-c"
${CC:-cc} -std=c99 -O2 -Wall -Wextra -Werror -I"$root/include" \
    -DQUICKSTART_FILE="\"$target/release/libblosc2.so\"" \
    "$root/examples/quickstart.c" -o "$target/examples-c/quickstart" \
    -L"$target/release" -lblosc2 -Wl,-rpath,"$target/release"

exec "$target/examples-c/quickstart" "$@"

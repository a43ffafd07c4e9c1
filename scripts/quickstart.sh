#!/bin/sh
# Builds the library in release mode, compiles examples/quickstart.c against include/ and the shared
# library, and runs it. Arguments go to the example: scripts/quickstart.sh [file]
#
# CC names the compiler (default cc); CARGO_TARGET_DIR is respected.
set -eu

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

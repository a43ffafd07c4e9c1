#!/bin/sh
# Compiles the library for 64-bit ARM, runs clippy on it (without its tests), and runs the tests of the filters and codecs, with the NEON
# kernels, in an emulator.
#
#     scripts/check-neon.sh [FILTER...]      # other tests, by a part of their names: scripts/check-neon.sh frame::
#
# Needs these packages, which it does not install (commands for Debian):
#     rustup target add aarch64-unknown-linux-gnu
#     apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
# QEMU_LD_PREFIX is the folder with the loader and the C library for ARM.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
triple=aarch64-unknown-linux-gnu
cross=aarch64-linux-gnu
missing=0

for tool in $cross-gcc $cross-ar; do
    command -v $tool >/dev/null || { echo "no $tool" >&2; missing=1; }
done
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
[ -n "$emulator" ] || { echo "no qemu-aarch64" >&2; missing=1; }
[ -d "$(rustc --print sysroot)/lib/rustlib/$triple" ] || { echo "no Rust target $triple" >&2; missing=1; }
if [ $missing -ne 0 ]; then
    sed -n 's/^#     \(rustup\|apt-get\)/\1/p' "$0" >&2
    exit 1
fi

export QEMU_LD_PREFIX="${QEMU_LD_PREFIX:-/usr/$cross}"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$cross-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$emulator"
export CC_aarch64_unknown_linux_gnu=$cross-gcc
export AR_aarch64_unknown_linux_gnu=$cross-ar

# The optimisation is that of other tests: with level 1, compiling takes a minute less, and the tests five minutes more.
export CARGO_PROFILE_DEV_DEBUG=false

# The fetched reference library is for the host: the tests that compare with it are skipped.
if [ -z "${BLOSC2_REFERENCE-}" ]; then
    export BLOSC2_REFERENCE=
    unset BLOSC2_REQUIRE_REFERENCE
fi

cargo clippy --manifest-path "$root/Cargo.toml" --lib --target $triple -- -D warnings
[ $# -gt 0 ] || set -- filter:: codec::
exec cargo test --manifest-path "$root/Cargo.toml" --lib --target $triple -- "$@"

# Sets up the scripts that run programs of 64-bit ARM, which source this file: goes to the root directory, checks the tools, and
# builds our library unless BLOSC2_UNDER_TEST names one. `$work` is a temporary directory, with the libraries in
# `$work/ours` and `$work/reference`, by the SONAME, which is the same for both.
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
triple=aarch64-unknown-linux-gnu
cross=aarch64-linux-gnu
emulator=$(command -v qemu-aarch64 || true)
reference=$root/reference-aarch64/blosc2/lib/libblosc2.so
if ! command -v $cross-gcc >/dev/null || [ -z "$emulator" ]; then
    echo "no $cross-gcc or no qemu-aarch64 (apt-get install gcc-$cross g++-$cross qemu-user)" >&2
    exit 1
fi
[ -f "$reference" ] || scripts/fetch-reference.sh aarch64
export QEMU_LD_PREFIX="${QEMU_LD_PREFIX:-/usr/$cross}"
if [ -z "${BLOSC2_UNDER_TEST:-}" ]; then
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$cross-gcc CC_aarch64_unknown_linux_gnu=$cross-gcc \
        AR_aarch64_unknown_linux_gnu=$cross-ar cargo build --quiet --release --lib --target $triple
    BLOSC2_UNDER_TEST=${CARGO_TARGET_DIR:-$root/target}/$triple/release/libblosc2.so
fi
unset BLOSC_CLEVEL BLOSC_COMPRESSOR BLOSC_NTHREADS BLOSC_BLOCKSIZE BLOSC_TRACE BLOSC_LOCKING BLOSC_SIMD

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/ours" "$work/reference"
ln -s "$(realpath "$BLOSC2_UNDER_TEST")" "$work/ours/libblosc2.so.9"
ln -s "$(realpath "$reference")" "$work/reference/libblosc2.so.9"

# compile PROGRAM: capi-tests/PROGRAM.c to $work/PROGRAM
compile() {
    $cross-gcc -std=c99 -O1 -Iinclude -Icapi-tests "capi-tests/$1.c" -o "$work/$1" "$work/reference/libblosc2.so.9"
}

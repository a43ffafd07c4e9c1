# Sets up the scripts that count with valgrind, which source this file: goes to the root directory, builds the library if
# BLOSC2_UNDER_TEST names none, and unsets the variables that change what the library does.
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}
if ! command -v valgrind >/dev/null; then
    echo "no valgrind" >&2
    exit 1
fi
if [ -n "${needs_reference:-}" ]; then
    reference=${BLOSC2_REFERENCE:-$root/reference/blosc2/lib/libblosc2.so}
    if [ ! -f "$reference" ]; then
        echo "no reference library (run scripts/fetch-reference.sh)" >&2
        exit 1
    fi
fi
if [ -z "${BLOSC2_UNDER_TEST:-}" ]; then
    cargo build --quiet --release --lib
    BLOSC2_UNDER_TEST=$target/release/libblosc2.so
fi
unset BLOSC_CLEVEL BLOSC_COMPRESSOR BLOSC_NTHREADS BLOSC_BLOCKSIZE BLOSC_TRACE BLOSC_LOCKING

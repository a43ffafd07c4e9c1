#!/bin/sh
# Prints the instructions per call of this library and of the C library, counted by callgrind: a figure that noise does not
# affect. Valgrind emulates a processor with AVX2 at most, so the AVX-512 kernels are not counted.
#
#     scripts/count-instructions.sh [CODEC...]        # default: blosclz lz4 lz4hc zlib zstd
#
# Needs valgrind and scripts/fetch-reference.sh. BLOSC2_UNDER_TEST and BLOSC2_REFERENCE name other libraries, CC the
# compiler.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}
if ! command -v valgrind >/dev/null; then
    echo "no valgrind" >&2
    exit 1
fi
reference=${BLOSC2_REFERENCE:-$root/reference/blosc2/lib/libblosc2.so}
if [ ! -f "$reference" ]; then
    echo "no reference library (run scripts/fetch-reference.sh)" >&2
    exit 1
fi
if [ -z "${BLOSC2_UNDER_TEST:-}" ]; then
    cargo build --quiet --release --lib
    BLOSC2_UNDER_TEST=$target/release/libblosc2.so
fi
unset BLOSC_CLEVEL BLOSC_COMPRESSOR BLOSC_NTHREADS BLOSC_TRACE BLOSC_LOCKING
[ $# -gt 0 ] || set -- blosclz lz4 lz4hc zlib zstd

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The program loads either library by the SONAME, which is the same for both.
mkdir "$work/ours" "$work/reference"
ln -s "$(realpath "$BLOSC2_UNDER_TEST")" "$work/ours/libblosc2.so.9"
ln -s "$(realpath "$reference")" "$work/reference/libblosc2.so.9"
${CC:-cc} -std=c99 -O1 -Iinclude -Icapi-tests capi-tests/instruction_counts.c -o "$work/program" \
    "$work/ours/libblosc2.so.9"

# run LIBRARY OPERATION CODEC KIB CALLS: prints the instructions of the whole process
run() {
    LD_LIBRARY_PATH=$work/$1 valgrind --tool=callgrind --callgrind-out-file=/dev/null "$work/program" \
        "$2" "$3" "$4" "$5" "$work/chunk" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
    sed -n 's/^==[0-9]*== Collected : //p' "$work/log"
}

# per_call LIBRARY OPERATION CODEC KIB: prints the instructions per call once contexts are warm
per_call() {
    few=$(run "$1" "$2" "$3" "$4" 2)
    many=$(run "$1" "$2" "$3" "$4" 6)
    echo $(((many - few) / 4))
}

printf '%-11s %-8s %4s %13s %13s %6s\n' call codec KiB ours reference ratio
for codec in "$@"; do
    for kib in 4 256; do
        # The reference compresses last: both libraries decompress its chunk.
        for operation in compress decompress getitem; do
            ours=$(per_call ours $operation "$codec" $kib)
            theirs=$(per_call reference $operation "$codec" $kib)
            ratio=$(awk "BEGIN { printf \"%.2f\", $theirs / $ours }")
            printf '%-11s %-8s %4d %13d %13d %6s\n' $operation "$codec" $kib "$ours" "$theirs" "$ratio"
        done
    done
done

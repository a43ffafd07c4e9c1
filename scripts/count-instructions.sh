#!/bin/sh
# Prints the instructions and system calls per call of this library and of the C library, counted by callgrind: figures
# that noise does not affect. A ratio above 1 means that this library needs fewer instructions. Valgrind emulates a
# processor with AVX2 at most, so the AVX-512 kernels are not counted.
#
#     scripts/count-instructions.sh [GROUP...]        # default: all groups, 2 minutes
#
# Groups: blosclz lz4 lz4hc zlib zstd (chunks of 4 and 256 KiB), short (calls on small chunks), memory frame file old-file
# future-file directory (super-chunks and arrays in that store).
#
# Needs valgrind, Python 3 and scripts/fetch-reference.sh. BLOSC2_UNDER_TEST and BLOSC2_REFERENCE name other libraries, CC
# the compiler.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

needs_reference=yes
. "$(dirname "$0")/shared/valgrind.sh"
[ $# -gt 0 ] || set -- short memory frame file old-file future-file directory blosclz lz4 lz4hc zlib zstd

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The program loads either library by the SONAME, which is the same for both.
mkdir "$work/ours" "$work/reference"
ln -s "$(realpath "$BLOSC2_UNDER_TEST")" "$work/ours/libblosc2.so.9"
ln -s "$(realpath "$reference")" "$work/reference/libblosc2.so.9"
${CC:-cc} -std=c99 -O1 -Iinclude -Icapi-tests capi-tests/instruction_counts.c -o "$work/program" \
    "$work/ours/libblosc2.so.9"

# profile LIBRARY ARGUMENT...: runs the program, and writes the profile to the directory of the library
profile() {
    library=$1
    shift
    LD_LIBRARY_PATH=$work/$library valgrind --tool=callgrind --compress-strings=no --compress-pos=no --collect-systime=yes \
        --callgrind-out-file="$work/$library/profile" "$work/program" "$@" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
}

# count TITLE ARGUMENT...: the reference is first: both libraries decompress its chunk
count() {
    title=$1
    shift
    profile reference "$@"
    profile ours "$@"
    python3 capi-tests/instruction_counts.py "$title" "$work/ours/profile" "$work/reference/profile"
}

printf '%-28s %-12s %10s %10s %6s %14s\n' call group ours reference ratio 'system calls'
for group in "$@"; do
    case $group in
        short) count short short ;;
        blosclz | lz4 | lz4hc | zlib | zstd)
            for kib in 4 256; do
                rm -f "$work/chunk"
                count "$group $kib" context "$group" $kib "$work/chunk"
            done
            ;;
        *)
            count "$group" schunk "$group" "$work/frame.b2frame"
            count "$group" array "$group" "$work/array.b2nd"
            ;;
    esac
done

#!/bin/sh
# Prints the source files of this library and the functions, calls that the compiler inlined excluded, that three calls run
# through, and the functions of the longest way from the call to a read of a file. Counted by callgrind on the
# optimised library, for one call of each kind.
#
#     scripts/count-files.sh [--list]      # --list prints the names too
#
# Needs valgrind and Python 3. BLOSC2_UNDER_TEST names another library, built with line tables; CC the compiler.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

. "$(dirname "$0")/shared/valgrind.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$(realpath "$BLOSC2_UNDER_TEST")" "$work/libblosc2.so.9"
${CC:-cc} -std=c99 -O1 -Iinclude -Icapi-tests capi-tests/call_paths.c -o "$work/program" "$work/libblosc2.so.9"

# count CALL DURABILITY
count() {
    BLOSC2_DURABILITY=$2 LD_LIBRARY_PATH=$work valgrind --tool=callgrind --compress-strings=no --compress-pos=no \
        --toggle-collect="$1" --callgrind-out-file="$work/calls" "$work/program" "$1" "$work/frame.b2frame" \
        2>"$work/log" || { cat "$work/log" >&2; exit 1; }
    rm -f "$work/frame.b2frame"
    python3 capi-tests/call_paths.py "$1" "$work/calls" ${list:-}
}
list=${1:-}
count blosc2_compress_ctx off
count blosc2_schunk_get_slice_buffer off
count b2nd_set_slice_cbuffer kill

#!/bin/sh
# Prints how many cache lines the threads of a job share: those that one thread writes and another one reads or writes, from
# a memory trace of valgrind. Jobs of two threads compress and decompress a chunk of 128 and of 256 blocks, with this library
# and the C library. The columns are the number of jobs that two threads have done, of four; and the medians of these: the
# shared lines of the source and destination buffers, the other shared lines, and the reads and writes of those. Valgrind
# runs one thread at a time, so the accesses are the upper limit of the times that a line moves between cores.
#
#     scripts/count-shared-lines.sh         # 2 minutes
#
# Needs valgrind, Python 3 and scripts/fetch-reference.sh. BLOSC2_UNDER_TEST and BLOSC2_REFERENCE name other libraries, CC
# the compiler.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

needs_reference=yes
. "$(dirname "$0")/shared/valgrind.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The program loads either library by the SONAME, which is the same for both.
mkdir "$work/ours" "$work/reference"
ln -s "$(realpath "$BLOSC2_UNDER_TEST")" "$work/ours/libblosc2.so.9"
ln -s "$(realpath "$reference")" "$work/reference/libblosc2.so.9"
${CC:-cc} -std=c11 -O1 -Iinclude capi-tests/shared_lines.c -o "$work/program" "$work/ours/libblosc2.so.9"

printf '%-22s %-12s%12s%12s%12s%12s%12s\n' 'library, blocks' call jobs 'of buffers' 'other lines' reads writes
for library in ours reference; do
    for blocks in 128 256; do
        LD_LIBRARY_PATH=$work/$library valgrind --tool=lackey --trace-mem=yes --trace-sched=yes --fair-sched=yes \
            --log-fd=9 "$work/program" "$blocks" 9>&1 >/dev/null | grep -av '^I' |
            python3 capi-tests/shared_lines.py "$(printf '%-22s' "$library, $blocks")"
    done
done

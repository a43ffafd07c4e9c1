#!/bin/sh
# Runs the C programs of capi-tests/ under valgrind. Fails on invalid accesses, uses of uninitialised memory, and lost
# memory. The library is that of the release profile: only its code depends on the optimisations that users get.
#
#     scripts/check-leaks.sh [PROGRAM...]
#
# Without arguments: schunk, chunk_api, chunk_callbacks, blosc1_program, last_error and tuner_auto. CC names the compiler. Exits with 77 without
# valgrind.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}
libraries=$target/release
programs=$target/check-leaks
unset BLOSC_CLEVEL BLOSC_COMPRESSOR BLOSC_NTHREADS BLOSC_TRACE BLOSC_LOCKING

if ! command -v valgrind >/dev/null; then
    echo "no valgrind" >&2
    exit 77
fi
if [ $# -eq 0 ]; then
    set -- schunk chunk_api chunk_callbacks blosc1_program last_error tuner_auto
fi
cargo build --quiet --lib --release
mkdir -p "$programs"
# The programs load the library by its SONAME; the file that cargo builds has no version number.
ln -sf libblosc2.so "$libraries/libblosc2.so.9"
for name in "$@"; do
    echo "=== program $name"
    ${CC:-cc} -std=c99 -g -O1 -Wall -Wextra -Werror -Iinclude -Icapi-tests "capi-tests/$name.c" -o "$programs/$name" \
        -L"$libraries" -lblosc2 -Wl,-rpath,"$libraries" -pthread
    # Memory that is still reachable at the end (worker threads, registries) lives as long as the process.
    valgrind --quiet --leak-check=full --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect \
        --error-exitcode=9 "$programs/$name" --ours
done
echo "nothing lost"

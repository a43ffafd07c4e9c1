#!/bin/sh
# Runs capi-tests/threads.c, schunk_threads.c and registry_threads.c, eight threads inside the library at once, under race
# detectors; and blosc1/tests/threads.c, eight threads inside libblosc.so.1, under ThreadSanitizer. Fails on every report
# that the suppression files do not list; they give the reason for each entry.
#
#     scripts/check-threads.sh [tsan] [helgrind]
#
# tsan      ThreadSanitizer, on the whole program: the library, Rust's standard library and the C codecs are all compiled
#           with it. It models the memory orderings of atomics. Needs `rustup component add rust-src`, and fetches the
#           crates of the standard library. Suppressions: capi-tests/tsan.supp
# helgrind  Valgrind's race detector, on threads.c only, with contexts of one thread each: it does not model atomics, nor
#           the locks built on them that synchronise the library's threads, and would report every byte that those
#           threads share as a race. Suppressions: capi-tests/helgrind.supp
#
# Without arguments: both, of which one may be missing. Exits with 77 if no detector could be run. CC names the compiler
# (gcc or clang).
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}/check-threads
compiler=${CC:-cc}
unset BLOSC_CLEVEL BLOSC_COMPRESSOR BLOSC_NTHREADS BLOSC_TRACE BLOSC_SIMD
ran=0

# compile OUTPUT DIRECTORY-OF-THE-LIBRARY FLAGS...
compile() {
    output=$1 libraries=$2
    shift 2
    # The program loads the library by its SONAME; the file that cargo builds has no version number.
    ln -sf libblosc2.so "$libraries/libblosc2.so.9"
    $compiler -std=c99 -g -O1 -Wall -Wextra -Werror -Iinclude -Icapi-tests capi-tests/threads.c -o "$output" \
        -L"$libraries" -lblosc2 -Wl,-rpath,"$libraries" -pthread "$@"
}

# run_with_tsan SOURCE DIRECTORY-OF-THE-HEADER LIBRARY ARGUMENTS...
# Compiles a program with ThreadSanitizer and runs it. `libraries` and `runtime` are those of `tsan`.
run_with_tsan() {
    source=$1 headers=$2 library=$3
    shift 3
    echo "=== program $source $*"
    program=$target/$library-$(basename "$source" .c)-tsan
    # Links the runtime of rustc instead of the C compiler's, and only once, into the program.
    $compiler -std=c99 -g -O1 -Wall -Wextra -Werror -fsanitize=thread -I"$headers" -Icapi-tests \
        -c "$source" -o "$program.o"
    $compiler "$program.o" -o "$program" -Wl,--whole-archive "$runtime" -Wl,--no-whole-archive -rdynamic \
        -L"$libraries" "-l$library" -Wl,-rpath,"$libraries" -pthread -ldl -lm -lrt
    TSAN_OPTIONS="suppressions=$root/capi-tests/tsan.supp print_suppressions=1 exitcode=66" \
        LD_LIBRARY_PATH="$libraries" "$program" "$@"
}

tsan() {
    host=$(rustc -vV | sed -n 's/^host: //p')
    rustlib=$(rustc --print sysroot)/lib/rustlib
    runtime=$(ls "$rustlib/$host"/lib/librustc-*_rt.tsan.a 2>/dev/null || true)
    if [ ! -f "$rustlib/src/rust/library/Cargo.lock" ] || [ -z "$runtime" ]; then
        echo "SKIPPED tsan: the toolchain has no sources of the standard library (rustup component add rust-src)"
        return
    fi
    echo "=== ThreadSanitizer"
    # Compiles the standard library from the sources of the same release; a stable compiler needs RUSTC_BOOTSTRAP for it.
    env RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=thread CARGO_TARGET_DIR="$target/tsan" \
        "CFLAGS_$(echo "$host" | tr - _)=-fsanitize=thread" \
        cargo build --quiet --lib -Zbuild-std --target "$host" -p libblosc2-rs -p libblosc1-rs
    libraries=$target/tsan/$host/debug
    ln -sf libblosc2.so "$libraries/libblosc2.so.9"
    ln -sf libblosc.so "$libraries/libblosc.so.1"
    # Plugins that the last program loads; they are compiled without ThreadSanitizer.
    for kind in codec filter; do
        $compiler -std=gnu11 -O1 -shared -fPIC -Iinclude "-D$(echo $kind | tr a-z A-Z)" capi-tests/plugin.c \
            -o "$libraries/libblosc2_probe_$kind.so"
    done
    for name in "threads --ours" schunk_threads "registry_threads probe_codec probe_filter"; do
        # shellcheck disable=SC2046 # the arguments of the program are words
        run_with_tsan "capi-tests/${name%% *}.c" include blosc2 $(echo "$name" | cut -s -d' ' -f2-)
    done
    run_with_tsan blosc1/tests/threads.c blosc1/include blosc
    ran=1
}

helgrind() {
    if ! command -v valgrind >/dev/null; then
        echo "SKIPPED helgrind: no valgrind"
        return
    fi
    echo "=== helgrind"
    # One codegen unit, so that valgrind finds the names of inlined functions, which the suppressions contain.
    CARGO_PROFILE_DEV_CODEGEN_UNITS=1 CARGO_TARGET_DIR="$target/helgrind" cargo build --quiet --lib
    compile "$target/threads-helgrind" "$target/helgrind/debug"
    echo "=== program threads --serial"
    valgrind --quiet --tool=helgrind --fair-sched=try --num-callers=20 --error-exitcode=1 \
        --suppressions=capi-tests/helgrind.supp "$target/threads-helgrind" --serial
    ran=1
}

if [ $# -eq 0 ]; then
    set -- tsan helgrind
fi
mkdir -p "$target"
for detector in "$@"; do
    case $detector in
        tsan | helgrind) $detector ;;
        *) echo "usage: scripts/check-threads.sh [tsan] [helgrind]" >&2; exit 2 ;;
    esac
done
if [ $ran -eq 0 ]; then
    echo "no race detector could be run" >&2
    exit 77
fi
echo "no races"

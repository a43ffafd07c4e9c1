#!/bin/sh
# Builds the library for other platforms and runs its tests there, in an emulator where the machine cannot run them. Installs
# what it needs with rustup, apt-get and pip; a platform whose tools cannot be installed is SKIPPED.
#
#     scripts/check-platform.sh [--short] PLATFORM...
#     scripts/check-platform.sh aarch64 -- filter:: codec::      # only the unit tests of these names
#     scripts/check-platform.sh --speed SEED windows             # the speed beside the C library's DLL, on data drawn from SEED
#     scripts/check-platform.sh --list                           # the platforms, and which tests each runs
#
# A platform is a name of the list, or its target triple. Tests:
#     all     clippy, the tests of all packages, C programs on the shared library
#     part    unit tests of chunks, frames, arrays, codecs and filters; golden files, old files, the ABI, C programs
#     build   an optimised library, and its symbols
#     library unit tests one by one, C programs on the library
#     check   the library is compiled; nothing runs
# Platforms with another byte order or width of pointers also exchange frames and arrays with the library of this machine
# (capi-tests/exchange.c). --short is the part that .ci/run calls: unit tests (in an emulator those of chunks, frames, arrays and
# super-chunks), golden files, structs and the exchange, without optimisation. In an empty build directory without ccache it takes
# 3.9 minutes of processor time for musl, and 4.3 for s390x.
#
# PLATFORM_PROFILE is the Cargo profile of the tests (`dev` for all, `checks` for part and --short). CARGO_TARGET_DIR is
# respected. QEMU_LD_PREFIX is the directory with the C library for the emulator.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
target_dir=${CARGO_TARGET_DIR:-$root/target}
NAMES="i686 musl aarch64 armv7 s390x riscv64gc powerpc64le glibc-2.17 windows windows-ucrt windows-arm64 wasi darwin-arm64 darwin-x86-64
    windows-msvc windows-msvc-arm64 emscripten"

# The table of the platforms. `select_platform NAME` sets:
#   triple    target of rustc
#   tests     all, part or build
#   packages  Debian packages; `probe` is a command that succeeds if they are installed
#   cc, ar    C compiler and archiver for the target
#   runner    the emulator, if there is one; `sysroot` is the directory of its C library
#   rustflags options for rustc
#   skip      names of tests that cannot run there, and why
select_platform() {
    zig_target= cc= ar=ar runner= processor= sysroot= rustflags= packages= probe=true tests=part exchange=no skip= why= excluded=
    case $1 in
    i686 | i686-unknown-linux-gnu)
        name=i686 triple=i686-unknown-linux-gnu tests=all exchange=yes
        cross i686-linux-gnu
        packages="$packages libc6-i386 lib32gcc-s1 lib32stdc++6" probe="$probe && [ -e /lib/ld-linux.so.2 ]"
        skip_more "peak:: retained::" "limits of memory, which were measured on 64-bit machines"
        skip_more "sanitizers" "the cross compiler has no sanitizers that run here"
        ;;
    musl | x86_64-unknown-linux-musl)
        name=musl triple=x86_64-unknown-linux-musl tests=all
        cc=musl-gcc packages=musl-tools probe="command -v musl-gcc"
        # Without it, rustc makes no shared library for musl.
        rustflags="-C target-feature=-crt-static"
        skip_more "peak:: retained::" "limits of memory, which were measured with the allocator of glibc"
        skip_more "cpp_ sanitizers" "there is no C++ library and no sanitizer for musl"
        ;;
    aarch64 | aarch64-unknown-linux-gnu)
        name=aarch64 triple=aarch64-unknown-linux-gnu tests=all
        cross aarch64-linux-gnu libc6-dev-arm64-cross
        emulated aarch64
        ;;
    armv7 | armv7-unknown-linux-gnueabihf)
        name=armv7 triple=armv7-unknown-linux-gnueabihf exchange=yes
        cross arm-linux-gnueabihf libc6-dev-armhf-cross
        emulated arm
        ;;
    s390x | s390x-unknown-linux-gnu)
        name=s390x triple=s390x-unknown-linux-gnu tests=all exchange=yes
        cross s390x-linux-gnu libc6-dev-s390x-cross
        emulated s390x
        ;;
    riscv64gc | riscv64gc-unknown-linux-gnu)
        name=riscv64gc triple=riscv64gc-unknown-linux-gnu
        cross riscv64-linux-gnu libc6-dev-riscv64-cross
        emulated riscv64
        ;;
    powerpc64le | powerpc64le-unknown-linux-gnu)
        name=powerpc64le triple=powerpc64le-unknown-linux-gnu
        cross powerpc64le-linux-gnu libc6-dev-ppc64el-cross
        emulated ppc64le
        ;;
    # The released library for x86-64, which runs on every Linux with glibc 2.17 (2012) or later.
    glibc-2.17 | x86_64-unknown-linux-gnu.2.17)
        name=glibc-2.17 triple=x86_64-unknown-linux-gnu tests=build
        ;;
    windows | x86_64-pc-windows-gnu)
        name=windows triple=x86_64-pc-windows-gnu tests=all
        # The compiler of plugins and programs links for ELF; there is no count of the bytes that are in use.
        excluded="memory dynamic_plugins programs side_by_side"
        cc=x86_64-w64-mingw32-gcc ar=x86_64-w64-mingw32-ar runner=wine
        packages="gcc-mingw-w64-x86-64 wine wine64" probe="command -v $cc && command -v wine"
        skip_more "plugin::python::" "they run the program sh"
        skip_more "file_is_replaced replacement_after_an_own running_read cached_readers_do spilled_bytes short_lock_file files_appear
            frame_9_failed_writes frame_6_4_refresh_reads_a_replaced_file options_open_and_create_as
            wrong_boxes_and_types" \
            "Wine does not rename or remove files that are open, as Windows does"
        skip_more "help_is_as_recorded a_tree_has_one_sorted json_and_the_chart" \
            "the command is named blosc2.exe, and paths have other separators and characters"
        skip_more "filter_that_updates_a_chunk_during_a_read" "it opens files 100,000 times, for which Wine needs 10 minutes"
        ;;
    # The C runtime (UCRT) is that of the C library's wheel, of Python and of MSVC.
    windows-ucrt | x86_64-pc-windows-gnullvm)
        name=windows-ucrt triple=x86_64-pc-windows-gnullvm tests=build zig_target=x86_64-windows-gnu
        packages="wine wine64" probe="command -v wine"
        ;;
    windows-arm64 | aarch64-pc-windows-gnullvm)
        name=windows-arm64 triple=aarch64-pc-windows-gnullvm tests=build zig_target=aarch64-windows-gnu
        ;;
    wasi | wasm32-wasip1)
        name=wasi triple=wasm32-wasip1 tests=library
        zig_target=wasm32-wasi
        skip_more "unreadable_or_unterminated_memory" "address 1 can be read"
        skip_more "different_lengths_panic panic_releases panics_are_caught panics_and_errors" "a panic ends the program"
        skip_more "pool:: access_lock:: last_error:: another_thread thread_reuses threads_ buffers::tests::idle_ a_small_buffer_does" "there are no threads"
        skip_more "io::tests::mmap:: io::tests::lock:: io::tests::environment:: registry::plugin:: failed_synchronisation" \
            "there are no mapped files, locks, plugins and devices, and variables do not change"
        ;;
    darwin-arm64 | aarch64-apple-darwin) name=darwin-arm64 triple=aarch64-apple-darwin tests=build zig_target=aarch64-macos.11.0 ;;
    darwin-x86-64 | x86_64-apple-darwin) name=darwin-x86-64 triple=x86_64-apple-darwin tests=build zig_target=x86_64-macos.10.13 ;;
    windows-msvc | x86_64-pc-windows-msvc)
        # The C code of Zstandard is compiled for the ABI of MinGW: only the Rust code is checked.
        name=windows-msvc triple=x86_64-pc-windows-msvc tests=check zig_target=x86_64-windows-gnu
        ;;
    windows-msvc-arm64 | aarch64-pc-windows-msvc)
        name=windows-msvc-arm64 triple=aarch64-pc-windows-msvc tests=check zig_target=aarch64-windows-gnu
        ;;
    emscripten | wasm32-unknown-emscripten)
        name=emscripten triple=wasm32-unknown-emscripten tests=build
        cc=emcc ar=emar packages="emscripten nodejs" probe="command -v emcc && command -v node"
        ;;
    *)
        echo "no platform $1; the platforms are: $NAMES" >&2
        exit 2
        ;;
    esac
}

# Debian's cross compiler for GNU triple $1, and the package $2 of its C library.
cross() {
    cc=$1-gcc ar=$1-ar sysroot=/usr/$1
    packages="gcc-$1 g++-$1 ${2:-}" probe="command -v $1-gcc && command -v $1-g++"
}

# Tests run in qemu for the processor $1.
emulated() {
    processor=$1
    packages="$packages qemu-user-static" probe="$probe && { command -v qemu-$1 || command -v qemu-$1-static; }"
    skip_more "sanitizers" "the sanitizers do not run in an emulator"
    skip_more "command_that_cannot_be_run" "the emulator does not report that a program cannot be started"
    skip_more "peak:: retained:: usage:: jobs_run_serially failed_block_allocation work_goes_on_with_fewer_threads" \
        "memory of the emulator counts"
    skip_more "destroy_ends_the_threads calls_from_many_threads_return" "the emulator has a thread of its own"
    skip_more "all_positions::chunks" "the emulator crashes when a process is aborted in which a thread starts"
    # They do not depend on the processor.
    excluded="durability durable_files"
    why="$why
    durability, durable_files: thousands of processes, each of which an emulator translates anew; they take hours"
    # qemu-user: a child of a process with threads can hang in a lock of the emulator; no core dumps, no perf counters.
    skip_more "fork" "a child of a process with several threads can hang in the emulator"
}

skip_more() { skip="$skip $1"; why="$why
    $1: $2"; }

say() { printf '\n=== %s: %s\n' "$name" "$*"; }

list() {
    for name in $NAMES; do
        select_platform "$name"
        printf '%-12s %-6s %s\n' "$name" "$tests" "$triple"
    done
}

# Returns 1 if a tool is missing and cannot be installed.
install_tools() {
    rustup target add "$triple" 2>/dev/null || [ -d "$(rustc --print sysroot)/lib/rustlib/$triple" ] ||
        { echo "SKIPPED: $name: rustup cannot add the target $triple"; return 1; }
    eval "$probe" >/dev/null 2>&1 && return
    # shellcheck disable=SC2086 # The packages are words.
    { apt-get update -qq && apt-get install -qq -y --no-install-recommends $packages; } >/dev/null 2>&1 &&
        eval "$probe" >/dev/null 2>&1 && return
    echo "SKIPPED: $name: the packages cannot be installed here:$packages"
    return 1
}

set_environment() {
    lower=$(echo "$triple" | tr - _) upper=$(echo "$triple" | tr a-z- A-Z_)
    if [ -n "$processor" ]; then
        runner=$(command -v "qemu-$processor" || command -v "qemu-$processor-static")
        export QEMU_LD_PREFIX="${QEMU_LD_PREFIX:-$sysroot}" "CARGO_TARGET_${upper}_RUNNER=$runner" BLOSC2_TEST_RUNNER="$runner"
    fi
    cache=
    # ccache does not know emcc.
    [ "$cc" = emcc ] || ! command -v ccache >/dev/null || cache="ccache "
    export CC="$cc" CXX="${cc%gcc}g++" "CC_$lower=$cache$cc" "AR_$lower=$ar"
    # rustc has a linker for WebAssembly; with MSVC, nothing is linked.
    case $triple in
    wasm32-wasip1 | *-msvc) ;;
    *-darwin) export "CARGO_TARGET_${upper}_LINKER=$zig/ld-darwin" ;;
    *) export "CARGO_TARGET_${upper}_LINKER=$cc" ;;
    esac
    export "CARGO_TARGET_${upper}_RUSTFLAGS=$rustflags" CARGO_PROFILE_DEV_DEBUG=false CARGO_INCREMENTAL=0
    # The profile `checks` is that of releases, but tests find overflows.
    export CARGO_PROFILE_CHECKS_OVERFLOW_CHECKS=true
    # The fetched releases of the C library are for this machine: the tests that compare with them are skipped.
    if [ -z "${BLOSC2_REFERENCE-}" ]; then
        export BLOSC2_REFERENCE= BLOSC2_OLD_RELEASES=
        unset BLOSC2_REQUIRE_REFERENCE BLOSC2_REQUIRE_PYTHON BLOSC2_PYTHON
    fi
}

# Prints `--skip NAME` for each name.
skips() { for one; do printf -- '--skip %s ' "$one"; done; }

# The integration tests of which a name is not in the arguments.
integration_tests() {
    for one in $(sed -n '/^\[\[test\]\]/,/^$/s/^name = "\(.*\)"/\1/p' tests/Cargo.toml); do
        case " $* " in *" $one "*) ;; *) printf -- '--test %s ' "$one" ;; esac
    done
}

# The programs of another library, and those that scripts build for this machine.
HOST_PROGRAMS="installed:: both_libraries:: documents:: example_programs:: python"

# shellcheck disable=SC2046,SC2086 # Lists of words.
run_tests() {
    say "skipped, because these programs and libraries are for this machine: repository side_by_side dynamic_plugins $excluded $HOST_PROGRAMS$why"
    tests_failed=no
    test_with() { cargo test --target "$triple" --profile "$profile" --no-fail-fast "$@" || tests_failed=yes; }
    if [ -n "$filters" ]; then
        say "unit tests of $filters"
        test_with --lib -- $filters $(skips $skip)
        [ $tests_failed = no ]
        return
    fi
    if [ $short = yes ]; then
        say "unit tests and golden files"
        # In an emulator without optimisation, the others take 10 minutes. The golden tests have vectors of filters.
        units=
        [ -z "$runner" ] || units="chunk:: frame:: schunk:: b2nd:: --skip frame::store::trailing --skip b2nd::boxes"
        test_with --lib -- $units $(skips $skip codec:: pool::)
        test_with --test golden --test old_files --test abi -- $(skips $skip $HOST_PROGRAMS headers::)
    elif [ "$tests" = all ]; then
        say "clippy"
        cargo clippy --lib --target "$triple" -- -D warnings
        say "tests of libblosc2"
        test_with --workspace --exclude libblosc2-core --exclude blosc2-safe --exclude blosc2-cli --exclude libblosc1-rs --exclude libblosc2-remote --lib \
            $(integration_tests repository side_by_side dynamic_plugins threads_callback_lock $excluded) -- \
            $(skips $skip $HOST_PROGRAMS headers::)
        # A program without the test harness, whose options it does not have.
        [ -n "$runner" ] || test_with --test threads_callback_lock
        say "tests of the Rust API, the command and libblosc"
        if [ "$name" = windows ]; then
            test_with -p blosc2-safe --tests -- $(skips $skip example_programs::)
            # The other tests use links, signals and forks, or start thousands of processes.
            test_with -p blosc2-cli --bins $(for one in bench decompress help info repair verify; do echo --test $one; done) -- $(skips $skip)
            test_with -p libblosc1-rs --lib
        else
            test_with -p blosc2-safe -p blosc2-cli -p libblosc1-rs --tests -- $(skips $skip $HOST_PROGRAMS side_by_side)
        fi
    else
        say "unit tests, golden files, the ABI and C programs"
        test_with --lib --test golden --test old_files --test abi --test programs -- $(skips $skip $HOST_PROGRAMS headers::)
    fi
}

# Frames and arrays that this machine has written are read there, and the reverse.
exchange_files() {
    say "exchange of frames and arrays with $(uname -m)"
    local_dir=$target_dir/exchange
    mkdir -p "$local_dir" "$local_dir/$name"
    (
        unset CC CXX BLOSC2_TEST_RUNNER QEMU_LD_PREFIX
        cargo build --quiet --profile checks --lib
    )
    build_program() { # compiler, directory of the library, program
        mkdir -p "$3.lib"
        cp "$2/libblosc2.so" "$3.lib/libblosc2.so"
        ln -sf libblosc2.so "$3.lib/libblosc2.so.9"
        "$1" -std=c99 -O1 -Wall -Wextra -Werror -Iinclude -Icapi-tests capi-tests/exchange.c -o "$3" -L"$3.lib" -lblosc2 \
            -Wl,-rpath,"$3.lib"
    }
    cargo build --quiet --profile "$profile" --lib --target "$triple"
    build_program "${HOST_CC:-cc}" "$target_dir/checks" "$local_dir/here"
    build_program "$cc" "$target_dir/$triple/$output" "$local_dir/$name/there"
    for place in here there; do
        rm -rf "${local_dir:?}/$name/files-$place"
        mkdir "$local_dir/$name/files-$place"
    done
    "$local_dir/here" write "$local_dir/$name/files-here"
    $runner "$local_dir/$name/there" write "$local_dir/$name/files-there"
    $runner "$local_dir/$name/there" read "$local_dir/$name/files-here"
    $runner "$local_dir/$name/there" read "$local_dir/$name/files-there"
    "$local_dir/here" read "$local_dir/$name/files-there"
    reference=$root/reference/blosc2/lib
    if [ -f "$reference/libblosc2.so" ]; then
        LD_PRELOAD=$reference/libblosc2.so "$local_dir/here" read "$local_dir/$name/files-there"
        echo "the C library reads the files of $name, too"
    fi
    if diff -r "$local_dir/$name/files-here" "$local_dir/$name/files-there" >/dev/null; then
        echo "the files of both are identical"
    else
        echo "the files differ: $(diff -rq "$local_dir/$name/files-here" "$local_dir/$name/files-there" | wc -l)"
    fi
}

# Debian has no libgcc_s for musl, and the unwinder in its libgcc_eh is for glibc: that of rustc replaces both.
musl_unwinder() {
    unwinder=$(rustc --print sysroot)/lib/rustlib/$triple/lib/self-contained/libunwind.a
    mkdir -p "$target_dir/musl-unwinder"
    echo "INPUT($unwinder)" >"$target_dir/musl-unwinder/libgcc_s.so"
    rustflags="$rustflags -L native=$target_dir/musl-unwinder"
}

# A static program and a program with the shared library, both for musl.
musl_programs() {
    say "C programs with the static and with the shared library"
    built=$target_dir/$triple/$output
    # A thread of musl has a stack of 128 KiB, which is too short for a library that is not optimised.
    programs="chunk_api schunk"
    [ "$profile" = checks ] || programs="$programs threads"
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUSTFLAGS= cargo build --quiet --profile "$profile" --lib --target "$triple" \
        --target-dir "$target_dir/musl-static"
    archive=$target_dir/musl-static/$triple/$output/libblosc2.a
    for program in $programs; do
        $cc -std=c99 -O1 -static -Iinclude -Icapi-tests "capi-tests/$program.c" "$archive" "$unwinder" -o "$built/$program-static"
        (cd "$built" && "./$program-static" --ours >output && tail -n 1 output)
    done
    cargo build --quiet --profile "$profile" --lib --target "$triple"
    ln -sf libblosc2.so "$built/libblosc2.so.9"
    for program in $programs; do
        $cc -std=c99 -O1 -Iinclude -Icapi-tests "capi-tests/$program.c" -L"$built" -lblosc2 -Wl,-rpath,"$built" -o "$built/$program-shared"
        (cd "$built" && "./$program-shared" --ours >output && tail -n 1 output)
    done
}

# Sets the compiler and the archiver to those of zig. Returns 1 if it cannot be installed.
use_zig() { # target
    zig=$(scripts/zig-toolchain.sh "$1") || { echo "SKIPPED: $name: pip cannot install ziglang"; return 1; }
    cc=$zig/cc-$1 ar=$zig/ar-of-zig
    case $triple in
    # The archiver of MSVC has other options.
    *-msvc) ar=$zig/lib-of-zig ;;
    *-darwin) export SDKROOT="$zig/darwin" ;;
    *-windows-*) export DLLTOOL="$zig/dlltool-${1%%-*}" LLVM_DLLTOOL="$zig/dlltool-${1%%-*}" ;;
    esac
}

# The directory of the tools that come with rustc.
rust_tools() { echo "$(dirname "$(rustc --print target-libdir)")/bin"; }

# Fails unless a library of Windows or macOS exports the functions of the ABI and nothing else.
check_exports() { # library
    rustup component add llvm-tools 2>/dev/null
    case $1 in
    *.dll) "$(rust_tools)/llvm-readobj" --coff-exports "$1" | sed -n 's/^ *Name: //p' ;;
    *) "$(rust_tools)/llvm-nm" --extern-only --defined-only --format=just-symbols "$1" | sed 's/^_//' ;;
    esac | sort >"$target_dir/$triple/exports"
    sed -n 's/ present$//p' capi-tests/exported-symbols.txt | sort | diff "$target_dir/$triple/exports" -
    echo "$1 exports the $(wc -l <"$target_dir/$triple/exports") functions of capi-tests/exported-symbols.txt, and nothing else"
}

# Builds the library for macOS. Nothing runs it.
build_for_darwin() {
    say "the library, linked by ld64.lld, and its symbols"
    cargo build --quiet --profile "$profile" --lib --target "$triple"
    library=$target_dir/$triple/$profile/libblosc2.dylib
    check_exports "$library"
    header=$("$(rust_tools)/llvm-objdump" --macho --private-headers "$library")
    echo "$header" | grep '@rpath/libblosc2.9.dylib'
    echo "$header" | grep 'compatibility version 9.0.0'
    # The standard library calls `fcntl(F_FULLFSYNC)` where other systems have `fsync`, which does not write the cache of the disk.
    ! "$(rust_tools)/llvm-nm" --undefined-only "$library" | grep -w '_fsync\|_fdatasync'
}

# Wine with an empty Windows of its own. Wine 8 lacks a function with which the standard library gets random numbers.
prepare_wine() {
    wine=$target_dir/wine
    mkdir -p "$wine"
    cat >"$wine/random.c" <<'END'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T len) { return RtlGenRandom(data, (ULONG)len); }
END
    $cc -shared -O1 "$wine/random.c" -o "$wine/bcryptprimitives.dll" -ladvapi32
    # Wine names files as the locale says.
    export LC_ALL=C.UTF-8 WINEDEBUG=-all WINEPREFIX="$wine/prefix" WINEPATH="$wine" "CARGO_TARGET_${upper}_RUNNER=timeout 3600 wine"
    # The server of Wine writes its directory some seconds after the last program, when the caller may be removing it.
    trap 'wineserver -k || true' EXIT
    # Opening, writing and removing a file takes many times longer than on Linux.
    export BLOSC2_MUTANTS="${BLOSC2_MUTANTS:-150}" BLOSC2_FLIPS="${BLOSC2_FLIPS:-8}" BLOSC2_REPAIR_MUTANTS="${BLOSC2_REPAIR_MUTANTS:-150}"
}

# Installs the DLL as a user does.
install_dll() {
    say "the DLL, its import library and its exports"
    installed=$target_dir/$triple/installed
    scripts/install.sh --prefix "$installed" --target "$triple" --profile "$profile"
    check_exports "$installed/bin/libblosc2.dll"
}

# Compiles a C program for the installed DLL; Windows finds the DLL in the directory of the program.
compile_for_dll() { # source, program
    $cc -std=gnu99 -O1 -Wall -Wextra -Werror -I"$installed/include" -Icapi-tests "$1" "$installed/lib/libblosc2.dll.a" -o "$2"
}

# Links a program as MSVC does, by lld-link with the import library. The program needs no C library.
program_for_msvc() {
    say "a program that lld-link links with blosc2.lib"
    program=$installed/bin/msvc_program
    echo "const char *blosc2_get_version_string(void);
        int mainCRTStartup(void) { return blosc2_get_version_string()[0] == '3' ? 0 : 1; }" >"$program.c"
    $cc -O1 -c "$program.c" -o "$program.obj"
    "$(rust_tools)/gcc-ld/lld-link" -entry:mainCRTStartup -subsystem:console -nodefaultlib "$program.obj" "$installed/lib/blosc2.lib" \
        -out:"$program.exe"
    [ "$name" = windows-arm64 ] || wine "$program.exe"
}

dll_programs() {
    say "C programs with the DLL"
    for program in examples/chunk examples/schunk_on_disk examples/array_slices capi-tests/windows_paths; do
        compile_for_dll "$program.c" "$installed/bin/${program##*/}.exe"
    done
    rm -rf "$target_dir/$triple/work"
    mkdir "$target_dir/$triple/work"
    (
        cd "$target_dir/$triple/work"
        for program in chunk schunk_on_disk array_slices; do wine "$installed/bin/$program.exe" >output && tail -n 2 output; done
        wine "$installed/bin/windows_paths.exe" --ours
    )
}

# Compresses a file and an array with the command, checks them, and gets the same bytes back.
windows_command() {
    say "the command blosc2"
    cargo build --quiet --profile "$profile" --target "$triple" -p blosc2-cli
    built=$target_dir/$triple/$output/blosc2.exe
    (
        cd "$target_dir/$triple/work"
        cp "$root/docs/api.md" plain.txt
        wine "$built" --quiet compress plain.txt --output plain.b2frame
        wine "$built" info plain.b2frame
        wine "$built" verify plain.b2frame
        wine "$built" --quiet decompress plain.b2frame --output again.txt
        cmp plain.txt again.txt
        head -c 28000 plain.txt >numbers.raw
        wine "$built" --quiet import numbers.raw array.b2nd --shape 100,70 --dtype i4
        wine "$built" --quiet export array.b2nd array.npy
        tail -c 28000 array.npy | cmp - numbers.raw
        echo "the command blosc2 restores a file and an array"
    )
}

# shellcheck disable=SC2086 # The names are words.
wasi_tests() {
    say "unit tests, except:$why"
    program=$(cargo test --quiet --profile "$profile" --lib --target "$triple" --no-run --message-format json |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')
    "$zig/bin/python" -u capi-tests/run_wasi.py --each-test "$program" $skip
}

wasi_programs() {
    say "C programs on the library"
    cargo build --quiet --profile "$profile" --lib --target "$triple"
    built=$target_dir/$triple/$output
    for program in examples/chunk examples/schunk_on_disk examples/array_slices; do
        "$cc" -std=gnu99 -O1 -Iinclude -Icapi-tests "$program.c" "$built/libblosc2.a" -o "$built/${program##*/}.wasm"
        "$zig/bin/python" capi-tests/run_wasi.py "$built/${program##*/}.wasm" >"$built/output"
        tail -n 2 "$built/output"
    done
}

# Puts a command `emcc` first in PATH that gives the crate libc the version 3.1.42, if the installed one is older: the standard library
# of Rust is compiled for that version or a later one. Programs are linked with capi-tests/old_emscripten.c then.
prepare_emscripten() {
    emcc_options=
    [ "$(printf '%s\n' "$(emcc -dumpversion)" 3.1.42 | sort -V | head -n 1)" != 3.1.42 ] || return 0
    mkdir -p "$target_dir/emscripten"
    printf '#!/bin/sh\n[ "$*" = -dumpversion ] && echo 3.1.42 || exec %s "$@"\n' "$(command -v emcc)" >"$target_dir/emscripten/emcc"
    chmod +x "$target_dir/emscripten/emcc"
    PATH=$target_dir/emscripten:$PATH
    emcc_options=capi-tests/old_emscripten.c
    for function in stat lstat fstat clock_gettime nanosleep; do emcc_options="$emcc_options -Wl,--wrap=$function"; done
}

# Builds the archive, and links programs with it.
build_for_emscripten() {
    say "the archive, its symbols, and programs in node"
    prepare_emscripten
    cargo rustc --quiet --lib --crate-type staticlib --profile "$profile" --target "$triple"
    built=$target_dir/$triple/$profile
    rustup component add llvm-tools 2>/dev/null
    "$(rust_tools)/llvm-nm" --extern-only --defined-only --format=just-symbols "$built/libblosc2.a" 2>/dev/null | sort >"$target_dir/$triple/exports"
    missing=$(sed -n 's/ present$//p' capi-tests/exported-symbols.txt | sort | comm -23 - "$target_dir/$triple/exports")
    [ -z "$missing" ] || { echo "$built/libblosc2.a does not have: $missing"; return 1; }
    echo "$built/libblosc2.a has all functions of capi-tests/exported-symbols.txt"
    for program in examples/chunk examples/schunk_on_disk examples/array_slices; do
        # shellcheck disable=SC2086 # Options are words.
        emcc -std=gnu99 -O1 -Iinclude -Icapi-tests "$program.c" "$built/libblosc2.a" $emcc_options -fwasm-exceptions -sINITIAL_MEMORY=64MB \
            -sALLOW_MEMORY_GROWTH=1 -o "$built/${program##*/}.js"
        # This Emscripten takes the function `fetch` of node for that of a browser.
        node --no-experimental-fetch "$built/${program##*/}.js" >"$built/output"
        tail -n 2 "$built/output"
    done
}

# Downloads the DLL of the C library to the directory. Returns 1 if that is impossible.
fetch_dll_of_c() { # directory
    [ ! -f "$1/libblosc2.dll" ] || return 0
    mkdir -p "$1"
    pip download --quiet --only-binary=:all: --platform win_amd64 --python-version 3.11 --implementation cp --abi cp311 --no-deps \
        blosc2==4.14.1 -d "$1" >/dev/null 2>&1 && python3 -m zipfile -e "$1"/*.whl "$1/wheel" &&
        cp "$1/wheel/blosc2/lib/libblosc2.dll" "$1/libblosc2.dll" && return
    echo "SKIPPED: the C library for Windows cannot be downloaded"
    return 1
}

# Frames and arrays are exchanged between this machine, the library in Wine, and the C library's DLL in Wine.
exchange_with_windows() {
    say "exchange of frames and arrays with Windows and with the C library there"
    place=$target_dir/exchange/$name
    mkdir -p "$place/ours" "$place/c" "$place/here.lib"
    (unset CC CXX; cargo build --quiet --profile checks --lib)
    cp "$target_dir/checks/libblosc2.so" "$place/here.lib/libblosc2.so.9"
    ${HOST_CC:-cc} -std=c99 -O1 -Iinclude -Icapi-tests capi-tests/exchange.c -o "$place/here" "$place/here.lib/libblosc2.so.9" \
        -Wl,-rpath,"$place/here.lib"
    writers="here ours"
    cp "$installed/bin/libblosc2.dll" "$place/ours/"
    ! fetch_dll_of_c "$place/c" || writers="$writers c"
    for library in ours c; do
        compile_for_dll capi-tests/exchange.c "$place/$library/there.exe"
        compile_for_dll capi-tests/windows_paths.c "$place/$library/windows_paths.exe"
    done
    run_on() { # library, arguments
        case $1 in
        here) "$place/here" "$2" "$3" ;;
        *) wine "$place/$1/there.exe" "$2" "$3" ;;
        esac
    }
    for writer in $writers; do
        rm -rf "${place:?}/files-$writer"
        mkdir "$place/files-$writer"
        run_on "$writer" write "$place/files-$writer"
    done
    for writer in $writers; do
        for reader in $writers; do run_on "$reader" read "$place/files-$writer"; done
    done
    if diff -rq "$place/files-here" "$place/files-ours"; then echo "the files of Linux and Windows are identical"; fi
    case $writers in *" c") (cd "$place/c" && rm -rf paths && mkdir paths && cd paths && wine ../windows_paths.exe) ;; esac
}

# Compares the speed of the optimised DLL with that of the C library, on data drawn from a seed.
compare_speed() { # seed
    say "throughput, divided by that of the C library's DLL"
    place=$target_dir/exchange/$name
    fetch_dll_of_c "$place/c" || return 0
    cargo build --quiet --release --lib --target "$triple"
    cp "$target_dir/$triple/release/blosc2.dll" "$place/blosc2.dll"
    $cc -std=gnu99 -O1 -Wall -Wextra -Werror -Iinclude capi-tests/windows_speed.c -o "$place/windows_speed.exe"
    (cd "$place" && wine ./windows_speed.exe blosc2.dll c/libblosc2.dll "$1")
}

# Builds the library against the symbols of glibc 2.17, and fails if it needs a newer one.
build_for_old_glibc() {
    say "optimised libraries for glibc 2.17, linked by zig cc"
    zig=$(scripts/zig-toolchain.sh x86_64-linux-gnu.2.17) || { echo "SKIPPED: $name: pip cannot install ziglang"; return 0; }
    zig_cc=$zig/cc-x86_64-linux-gnu.2.17
    # The C code of Zstandard is compiled by the usual compiler, as in other builds; its symbols are checked below, too.
    (
        unset CC CXX CC_x86_64_unknown_linux_gnu AR_x86_64_unknown_linux_gnu
        CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER=$zig_cc \
            cargo build --quiet --release --lib --target "$triple" --target-dir "$zig/target"
    )
    library=$zig/target/$triple/release/libblosc2.so
    check_glibc "$library" 2.17
    mkdir -p "$zig/programs"
    cp "$library" "$zig/programs/libblosc2.so.9"
    ln -sf libblosc2.so.9 "$zig/programs/libblosc2.so"
    for program in chunk_api schunk; do
        "$zig_cc" -std=c99 -O1 -Iinclude -Icapi-tests "capi-tests/$program.c" -L"$zig/programs" -lblosc2 -lpthread \
            -Wl,-rpath,"$zig/programs" -o "$zig/programs/$program"
        (cd "$zig/programs" && "./$program" --ours >output && tail -n 1 output)
    done
}

check_glibc() { # library, version
    versions=$(objdump -T "$1" | sed -n 's/.*[( ]GLIBC_\([0-9.]*\)).*/\1/p' | sort -uV)
    newest=$(echo "$versions" | tail -n 1)
    echo "$1 needs GLIBC_$newest; symbols that need more than $2:"
    if [ "$(printf '%s\n' "$2" "$newest" | sort -V | tail -n 1)" != "$2" ]; then
        objdump -T "$1" | grep UND | grep GLIBC_ | while read -r line; do
            version=$(echo "$line" | sed -n 's/.*GLIBC_\([0-9.]*\)).*/\1/p')
            [ "$(printf '%s\n' "$2" "$version" | sort -V | tail -n 1)" = "$2" ] || echo "    $line"
        done
        return 1
    fi
    echo "    none"
    # Functions that glibc 2.17 does not have at all are linked without a version. The standard library does without those
    # that are weak.
    missing=$(objdump -T "$1" | grep UND | grep -v GLIBC_ | grep -v ' w ' || true)
    [ -z "$missing" ] || { echo "symbols that glibc $2 does not have:"; echo "$missing"; return 1; }
    echo "libraries that it needs:$(objdump -p "$1" | sed -n 's/^ *NEEDED *//p' | tr '\n' ' ' | sed 's/^/ /')"
}

check_platform() {
    install_tools || return 0
    profile=${PLATFORM_PROFILE:-checks}
    case $tests-$short in all-no | library-*) profile=${PLATFORM_PROFILE:-dev} ;; esac
    # Cargo's directory of the profile.
    output=$profile
    [ "$profile" != dev ] || output=debug
    [ -z "$zig_target" ] || use_zig "$zig_target" || return 0
    [ "$name" != musl ] || musl_unwinder
    set_environment
    case $name in windows | windows-ucrt) prepare_wine ;; esac
    [ -z "$seed" ] || { compare_speed "$seed"; return; }
    case $tests in
    build)
        case $name in
        glibc-2.17) build_for_old_glibc ;;
        darwin-*) build_for_darwin ;;
        windows-ucrt) install_dll; program_for_msvc; dll_programs; exchange_with_windows ;;
        windows-arm64) install_dll; program_for_msvc ;;
        emscripten) build_for_emscripten ;;
        esac
        return
        ;;
    check)
        say "cargo check"
        cargo check --lib --target "$triple"
        return
        ;;
    library)
        "$zig/bin/pip" install --quiet wasmtime || { echo "SKIPPED: $name: pip cannot install wasmtime"; return 0; }
        wasi_tests
        wasi_programs
        return
        ;;
    esac
    run_tests
    [ -z "$filters" ] || return 0
    [ $exchange = no ] || exchange_files
    [ "$name" != musl ] || musl_programs
    [ "$name" != windows ] || { install_dll; dll_programs; windows_command; exchange_with_windows; }
    [ $tests_failed = no ]
}

short=no filters= names= seed=
while [ $# -gt 0 ]; do
    case $1 in
    --short) short=yes ;;
    --list) list; exit ;;
    --speed) seed=$2; shift ;;
    --) shift; filters=$*; break ;;
    *) names="$names $1" ;;
    esac
    shift
done
[ -n "$names" ] || { echo "no platform; the platforms are: $NAMES" >&2; exit 2; }
failed=
for each in $names; do
    select_platform "$each"
    # In a subshell, for the environment. `set -e` does not hold in a condition.
    set +e
    (set -e; check_platform)
    [ $? -eq 0 ] || failed="$failed $name"
    set -e
done
[ -z "$failed" ] || { echo "FAILED:$failed"; exit 1; }
echo "passed:$names"

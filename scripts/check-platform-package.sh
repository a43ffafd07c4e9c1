#!/bin/sh
# Tries the archives of scripts/package-platform.sh as a user does, each on its platform or in an emulator: unpacks one, compiles
# the C program of README.md with pkg-config and the shared library, and with the static library, runs both, compresses and restores
# a file with the command, and removes the directory again.
#
#     scripts/check-platform-package.sh ARCHIVE...
#     scripts/check-platform-package.sh --debian bullseye --debian trixie libblosc2-3.3.5-linux-x86_64.tar.gz
#
# --debian SUITE tries the archive in that release of Debian instead, with its compiler (as root; debootstrap installs the release
# into target/roots/SUITE, unless it is there), and fails if a file of the release has changed afterwards. An archive for musl runs in
# a directory that has the loader of musl and busybox, but no glibc. Installs what it needs with apt-get and pip: emulators
# (qemu-user-static, wine, wasmtime) and compilers; a platform whose tools cannot be installed is SKIPPED. CARGO_TARGET_DIR is respected.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
case $target in /*) ;; *) target=$PWD/$target ;; esac
suites='' archives=''
while [ $# -gt 0 ]; do
    case $1 in
    --debian) [ $# -ge 2 ] || { echo "$1 needs a value" >&2; exit 2; }; suites="$suites $2"; shift ;;
    --*) echo "unknown option $1" >&2; exit 2 ;;
    *) archives="$archives $(cd "$(dirname "$1")" && pwd)/${1##*/}" ;;
    esac
    shift
done
[ -n "$archives" ] || { echo "an archive is needed" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Succeeds if the commands exist, or the packages with them can be installed.
need() { # packages, command...
    packages=$1; shift
    for command; do
        command -v "$command" >/dev/null && continue
        # shellcheck disable=SC2086 # The packages are words.
        { apt-get update -qq && apt-get install -qq -y --no-install-recommends $packages; } >/dev/null 2>&1 && command -v "$command" >/dev/null ||
            { echo "SKIPPED: $name: no $command: the packages cannot be installed here: $packages"; return 1; }
    done
}

# Writes the inputs of the steps to a directory, and the archive's files.
prepare() { # directory archive
    mkdir -p "$1"
    sed -n '/^```c$/,/^```$/p' "$root/README.md" | sed '1d; /^```$/,$d' >"$1/program.c"
    grep -q blosc2_compress_ctx "$1/program.c"
    cp "$root/docs/api.md" "$1/plain.txt"
    # A file whose chunks are compressed by threads.
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat "$1/plain.txt"; done >"$1/large.txt"
    cp "$2" "$1/archive"
    cp "$work/steps.sh" "$1/steps.sh"
}

# The steps, which run in the directory that `prepare` has filled. $1 is what to do: `build` and `run` use different machines for musl.
cat >"$work/steps.sh" <<'END'
set -eu
place=$PWD/$name
exe=
case $name in *-windows-*) exe=.exe ;; *-wasm32-*) exe=.wasm ;; esac
case $1 in
build)
    case $name in *-windows-*) python3 -m zipfile -e archive . ;; *) tar xzf archive ;; esac
    # The compiler of a release without pkg-config gets the options that it prints.
    if command -v pkg-config >/dev/null; then
        options=$(PKG_CONFIG_LIBDIR="$place/lib/pkgconfig" PKG_CONFIG_PATH="$place/lib/pkgconfig" pkg-config --cflags --libs blosc2)
    else
        options="-I$place/include -L$place/lib -lblosc2"
    fi
    case $name in
    *-windows-*)
        $compiler program.c -o program-shared.exe $options
        cp "$place/bin/libblosc2.dll" . ;;
    *-wasm32-*) $compiler program.c -o program-static.wasm $options ;;
    *)
        $compiler program.c -o program-shared $options -Wl,-rpath,"$rpath"
        $compiler program.c -o program-static -I"$place/include" "$place/lib/libblosc2.a" $static -lpthread -ldl -lm ;;
    esac ;;
run)
    for program in program-shared program-static; do
        [ -f $program$exe ] || continue
        case $program in program-shared) [ $shared_runs = yes ] || { echo "$name: $program: linked, not run"; continue; } ;; esac
        # Not a pipe: the server of Wine, which goes on running, would keep it open.
        $runner ./$program$exe >output
        output=$(tr -d '\r' <output)
        case $output in *'-> 400000 bytes'*) echo "$name: $program: $output" ;; *) echo "$name: $program: unexpected output: $output" >&2; exit 1 ;; esac
    done
    command=./$name/bin/blosc2$exe
    [ -f $command ] || { echo "$name: no command"; exit 0; }
    for file in plain.txt large.txt; do
        $runner $command --quiet compress $file --output packed.b2frame
        $runner $command verify packed.b2frame >/dev/null
        $runner $command --quiet decompress packed.b2frame --output restored.txt
        cmp $file restored.txt
        rm packed.b2frame restored.txt
    done
    grep -q '^\.TH blosc2' $name/share/man/man1/blosc2.1
    $runner $command --version >output
    echo "$name: $(tr -d '\r' <output): two files compressed, verified and restored" ;;
esac
END

# Unpacks, builds and runs on this machine, perhaps in an emulator.
try_here() {
    prepare "$work/$name" "$archive"
    (
        cd "$work/$name"
        export name compiler runner static shared_runs rpath="$work/$name/$name/lib"
        sh steps.sh build
        sh steps.sh run
    )
}

# Builds here and runs in a directory without glibc.
try_without_glibc() {
    bare=$work/bare
    prepare "$bare/check" "$archive"
    mkdir -p "$bare/bin" "$bare/lib" "$bare/tmp" "$bare/dev"
    : >"$bare/dev/null"
    cp "$(command -v busybox)" "$bare/bin/busybox"
    for applet in sh cmp grep rm cat tr; do ln -sf busybox "$bare/bin/$applet"; done
    cp -L /lib/ld-musl-x86_64.so.1 "$bare/lib/"
    (
        cd "$bare/check"
        export name compiler runner static shared_runs rpath="/check/$name/lib"
        sh steps.sh build
        chroot "$bare" /bin/sh -c 'cd /check && sh steps.sh run'
    )
    rm -r "$bare"
}

# A line for each file of the release, except those that change by themselves: type, mode, owner, length, time, name, target of a link.
list_files() { find "$1" -xdev -not -path "$1" -printf '%y %m %u %g %s %T@ %p %l\n' | grep -v '^d' | sort; }

try_in_debian() { # suite
    place=$target/roots/$1
    if [ ! -x "$place/usr/bin/gcc" ]; then
        need debootstrap debootstrap || return 0
        debootstrap --variant=minbase --include=gcc,libc6-dev,pkg-config "$1" "$place" >"$work/debootstrap.log" 2>&1 ||
            { echo "SKIPPED: Debian $1 cannot be installed: $(tail -n 1 "$work/debootstrap.log")"; rm -rf "$place"; return 0; }
    fi
    list_files "$place" >"$work/before"
    prepare "$place/opt/check" "$archive"
    (
        export name compiler=gcc runner= static= shared_runs=yes rpath="/opt/check/$name/lib"
        for step in build run; do chroot "$place" /bin/sh -c "cd /opt/check && sh steps.sh $step"; done
    )
    rm -r "$place/opt/check"
    list_files "$place" | cmp "$work/before" - || { echo "a file of Debian $1 has changed" >&2; return 1; }
    echo "$name: in Debian $(cat "$place/etc/debian_version"), $(chroot "$place" ldd --version | head -n 1): passed, and removed"
}

# Tries the archive in the emulator of a processor with a C library.
try_emulated() { # processor, GNU triplet and package of the C library
    with_zig
    need qemu-user-static "qemu-$1-static" || return 0
    [ -d "/usr/$2/lib" ] || apt-get install -qq -y --no-install-recommends "$3" >/dev/null 2>&1 ||
        { echo "SKIPPED: $name: $3 cannot be installed"; return 0; }
    # GCC links its unwinder, with which a panic in the static library is caught, by itself; the compiler of zig does not.
    runner="qemu-$1-static -L /usr/$2" static=-lunwind
    try_here
}

# Builds only.
try_linking() {
    prepare "$work/$name" "$archive"
    (cd "$work/$name" && export name compiler static rpath="@loader_path/$name/lib" && sh steps.sh build && ls program-* && echo "$name: linked by ${compiler##*/}")
    rm -r "${work:?}/$name"
}

# Sets the compiler of zig for the platform of the archive.
with_zig() {
    zig_target=$("$root/scripts/package-platform.sh" --list | awk -v name="$name" '{ end = length(name) - length($1) } end > 0 && substr(name, end) == "-" $1 { print $3 }')
    compiler="$("$root/scripts/zig-toolchain.sh" "$zig_target")/cc-$zig_target"
}

try_archive() {
    name=${archive##*/} name=${name%.tar.gz} name=${name%.zip}
    compiler=${CC:-cc} runner='' static='' shared_runs=yes
    if [ -n "$suites" ]; then
        for suite in $suites; do try_in_debian "$suite"; done
        return
    fi
    case $name in
    *-linux-x86_64) try_here ;;
    *-linux-x86_64-musl)
        need "musl-tools busybox-static" musl-gcc busybox || return 0
        compiler=musl-gcc static=-static
        try_without_glibc ;;
    *-linux-aarch64-musl)
        with_zig
        need qemu-user-static qemu-aarch64-static || return 0
        # Debian has the loader of musl for this processor in packages of another architecture only.
        runner=qemu-aarch64-static static=-static shared_runs=no
        try_here ;;
    *-linux-i686)
        with_zig
        [ -e /lib/ld-linux.so.2 ] || apt-get install -qq -y --no-install-recommends libc6-i386 >/dev/null 2>&1 ||
            { echo "SKIPPED: $name: libc6-i386 cannot be installed"; return 0; }
        static=-lunwind
        try_here ;;
    *-linux-aarch64) try_emulated aarch64 aarch64-linux-gnu libc6-arm64-cross ;;
    *-linux-armv7) try_emulated arm arm-linux-gnueabihf libc6-armhf-cross ;;
    *-linux-riscv64) try_emulated riscv64 riscv64-linux-gnu libc6-riscv64-cross ;;
    *-linux-s390x) try_emulated s390x s390x-linux-gnu libc6-s390x-cross ;;
    *-linux-ppc64le) try_emulated ppc64le powerpc64le-linux-gnu libc6-ppc64el-cross ;;
    *-windows-x86_64)
        with_zig
        need "wine wine64" wine || return 0
        runner=wine
        prepare_wine
        try_here ;;
    *-windows-arm64 | *-macos-universal)
        with_zig
        echo "$name: no emulator here runs it"
        try_linking
        case $name in *-macos-*) compiler=$("$root/scripts/zig-toolchain.sh" x86_64-macos.10.13)/cc-x86_64-macos.10.13; try_linking ;; esac ;;
    *-wasm32-wasip1)
        with_zig
        python=${compiler%/*}/bin/python
        "$python" -m pip install --quiet wasmtime || { echo "SKIPPED: $name: pip cannot install wasmtime"; return 0; }
        runner="$python $root/capi-tests/run_wasi.py"
        try_here ;;
    *) echo "no platform of scripts/package-platform.sh: $name" >&2; return 1 ;;
    esac
}

# Wine with an empty Windows of its own. Wine 8 lacks a function with which the standard library gets random numbers.
prepare_wine() {
    wine=$target/wine-packages
    mkdir -p "$wine"
    cat >"$wine/random.c" <<'END'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T len) { return RtlGenRandom(data, (ULONG)len); }
END
    $compiler -shared -O1 "$wine/random.c" -o "$wine/bcryptprimitives.dll" -ladvapi32
    export LC_ALL=C.UTF-8 WINEDEBUG=-all WINEPREFIX="$wine/prefix" WINEPATH="$wine"
    wine wineboot --init >"$wine/wineboot.log" 2>&1
}

for archive in $archives; do try_archive; done

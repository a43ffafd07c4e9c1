#!/bin/sh
# Makes an archive of libblosc2 for another system: libraries, headers, pkg-config and CMake files, and the command `blosc2`.
#
#     scripts/package-platform.sh PLATFORM [--out DIR] [--profile release] [--library-only]
#     scripts/package-platform.sh --list          # the platforms, their targets of rustc and of zig
#
# A platform is a name of the list, or its target triple. Writes libblosc2-VERSION-PLATFORM.tar.gz (a zip file for Windows) to
# DIR, by default target/packages. The archive is unpacked anywhere; its pkg-config and CMake files find their own place
# (docs/install.md). The files are those that scripts/install.sh installs; --library-only leaves out the command. The libraries for
# macOS are for both processors, without the command, which needs libraries of macOS that zig does not have.
#
# Compiles and links with zig (scripts/zig-toolchain.sh); installs the target of Rust with rustup, and GNU binutils for the target with
# apt-get if they are missing. Fails if a library or program needs another shared library than those of the C library, or a
# symbol that is newer than the glibc of the platform. The archive contains no directory of this machine
# (scripts/shared/reproducible.sh). CARGO_TARGET_DIR and SOURCE_DATE_EPOCH are respected.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}

# The name of a platform, the target of rustc, that of zig, and the GNU triplet of binutils. The version of glibc is 2.17, the
# oldest one that rustc supports, or the oldest one with which zig links: 2.27 for riscv64, and 2.32 for ppc64le, where that
# version has the functions for 128-bit floating-point numbers that zig's C runtime calls.
PLATFORMS='
linux-x86_64         x86_64-unknown-linux-gnu       x86_64-linux-gnu.2.17
linux-aarch64        aarch64-unknown-linux-gnu      aarch64-linux-gnu.2.17     aarch64-linux-gnu
linux-i686           i686-unknown-linux-gnu         x86-linux-gnu.2.17         i686-linux-gnu
linux-armv7          armv7-unknown-linux-gnueabihf  arm-linux-gnueabihf.2.17   arm-linux-gnueabihf
linux-riscv64        riscv64gc-unknown-linux-gnu    riscv64-linux-gnu.2.27     riscv64-linux-gnu
linux-s390x          s390x-unknown-linux-gnu        s390x-linux-gnu.2.17       s390x-linux-gnu
linux-ppc64le        powerpc64le-unknown-linux-gnu  powerpc64le-linux-gnu.2.32 powerpc64le-linux-gnu
linux-x86_64-musl    x86_64-unknown-linux-musl      x86_64-linux-musl
linux-aarch64-musl   aarch64-unknown-linux-musl     aarch64-linux-musl         aarch64-linux-gnu
windows-x86_64       x86_64-pc-windows-gnullvm      x86_64-windows-gnu
windows-arm64        aarch64-pc-windows-gnullvm     aarch64-windows-gnu
macos-universal      aarch64-apple-darwin           aarch64-macos.11.0
wasm32-wasip1        wasm32-wasip1                  wasm32-wasi
'

requested='' out=$target/packages profile=release library_only=no
while [ $# -gt 0 ]; do
    case $1 in
    --out | --profile) [ $# -ge 2 ] || { echo "$1 needs a value" >&2; exit 2; } ;;
    esac
    case $1 in
    --out) out=$2; shift 2 ;;
    --profile) profile=$2; shift 2 ;;
    --library-only) library_only=yes; shift ;;
    --list) echo "$PLATFORMS" | sed '/^$/d'; exit ;;
    --*) echo "unknown option $1" >&2; exit 2 ;;
    *) requested="$requested $1"; shift ;;
    esac
done
# shellcheck disable=SC2086 # The columns are words.
set -- $(echo "$PLATFORMS" | awk -v name="${requested# }" 'name != "" && ($1 == name || $2 == name)')
[ $# -ge 3 ] || { echo "one platform of the list that --list prints is needed" >&2; exit 2; }
platform=$1 triple=$2 zig_target=$3 binutils=${4:+$4-} with_cli=--with-cli
case $platform in macos-* | wasm32-*) with_cli= ;; esac
[ $library_only = no ] || with_cli=

rustup component add llvm-tools 2>/dev/null || true
llvm=$(dirname "$(rustc --print target-libdir)")/bin
# Sets the compiler and the linker for a target to those of zig.
use_zig() { # target of rustc, target of zig
    rustup target add "$1" 2>/dev/null || [ -d "$(rustc --print target-libdir --target "$1")" ] ||
        { echo "rustup cannot add the target $1" >&2; exit 1; }
    zig=$("$root/scripts/zig-toolchain.sh" "$2")
    linker=$zig/cc-$2
    case $1 in *-darwin) linker=$zig/ld-darwin; export SDKROOT="$zig/darwin" ;; esac
    export "CC_$(echo "$1" | tr - _)=$zig/cc-$2" "AR_$(echo "$1" | tr - _)=$zig/ar-of-zig" CARGO_INCREMENTAL=0
    # rustc has a linker for WebAssembly.
    case $1 in wasm32-*) ;; *) export "CARGO_TARGET_$(echo "$1" | tr a-z- A-Z_)_LINKER=$linker" ;; esac
}
use_zig "$triple" "$zig_target"
if ! command -v "${binutils}ld" >/dev/null; then
    package=binutils${binutils:+-${binutils%-}}
    apt-get install -qq -y --no-install-recommends "$package" >/dev/null || { echo "the package $package cannot be installed" >&2; exit 1; }
fi
case $platform in
linux-*) export "LD=${binutils}ld" "OBJCOPY=${binutils}objcopy" "STRIP=${binutils}strip" "NM=${binutils}nm" "READELF=${binutils}readelf" "AR=${binutils}ar" ;;
macos-* | wasm32-*) export "OBJCOPY=$llvm/llvm-objcopy" ;;
windows-*) export "DLLTOOL=$zig/dlltool-${triple%%-*}" "LLVM_DLLTOOL=$zig/dlltool-${triple%%-*}" "STRIP=$llvm/llvm-strip" ;;
esac

mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$root"
. scripts/shared/release-time.sh
. scripts/shared/reproducible.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
part() { sed -n "s/^#define BLOSC2_VERSION_$1 \([0-9]*\).*/\1/p" "$root/include/blosc2.h"; }
version=$(part MAJOR).$(part MINOR).$(part RELEASE)
name=libblosc2-$version-$platform
tree=$work/$name
install_for() { # target of rustc, directory
    # shellcheck disable=SC2086 # No option, or one.
    DESTDIR=$2 "$root/scripts/install.sh" --prefix "/$name" --target "$1" --profile "$profile" --relocatable $with_cli >/dev/null
}
install_for "$triple" "$work"
if [ "$platform" = macos-universal ]; then
    use_zig x86_64-apple-darwin x86_64-macos.10.13
    install_for x86_64-apple-darwin "$work/intel"
    for file in "libblosc2.$version.dylib" libblosc2.a; do
        "$zig/bin/python" - "$tree/lib/$file" "$work/intel/$name/lib/$file" <<'END'
# Joins files for ARM64 and x86-64 as one for both: a header, and each file at a multiple of 16 KiB (<mach-o/fat.h>).
import struct, sys
CPU_TYPE_ARM64, CPU_TYPE_X86_64, ALIGNMENT = (0x0100000C, 0), (0x01000007, 3), 14
files = [open(path, "rb").read() for path in sys.argv[1:]]
header, body = struct.pack(">2I", 0xCAFEBABE, len(files)), b""
for (cpu, subtype), file in zip((CPU_TYPE_ARM64, CPU_TYPE_X86_64), files):
    offset = (1 << ALIGNMENT) + len(body)
    header += struct.pack(">5I", cpu, subtype, offset, len(file), ALIGNMENT)
    body += file + bytes(-len(file) % (1 << ALIGNMENT))
open(sys.argv[1], "wb").write(header + bytes((1 << ALIGNMENT) - len(header)) + body)
END
    done
fi
install -m 644 "$root/LICENSE" "$root/THIRD-PARTY-LICENSES.txt" "$root/README.md" "$tree/"
# Linked besides the crates: the unwinder, musl (by rustc, in the command) and the start code of MinGW.
case $platform in
*-musl) notices="libunwind/LICENSE.TXT libc/musl/COPYRIGHT" ;;
windows-*) notices="libunwind/LICENSE.TXT libc/mingw/COPYING" ;;
linux-*) notices=libunwind/LICENSE.TXT ;;
*) notices= ;;
esac
for notice in $notices; do
    printf '\n%s\n\n' "${notice%/*}"
    cat "$("$zig/bin/python" -c 'import ziglang; print(ziglang.__path__[0])')/lib/$notice"
done >>"$tree/THIRD-PARTY-LICENSES.txt"

# The shared libraries that belong to a C library, to Windows or to macOS: every system has them.
SYSTEM_LIBRARIES='^(lib(c|m|dl|rt|pthread)\.so(\.[0-9]+)?|ld-linux[a-z0-9_-]*\.so\.[0-9]|ld64\.so\.[0-9]|(kernel32|ntdll|kernelbase|advapi32|bcrypt|bcryptprimitives|crypt32|secur32|ws2_32|userenv|shell32|ole32|user32|api-ms-win-[a-z0-9-]*)\.dll|/usr/lib/libSystem\.B\.dylib)$'

# Fails if a file needs a shared library that is not one of SYSTEM_LIBRARIES, or a symbol that is newer than the glibc of the platform.
check_needs() { # file
    case $platform in
    windows-*) needs=$("$llvm/llvm-readobj" --coff-imports "$1" | sed -n 's/^  Name: //p' | tr A-Z a-z) ;;
    # The list contains the name of the library itself.
    macos-*) needs=$("$llvm/llvm-objdump" --macho --arch=all --dylibs-used "$1" | sed -n 's/^\t\(.*\) (compatibility.*/\1/p' | grep -vxF "@rpath/libblosc2.9.dylib") ;;
    *) needs=$("$READELF" -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p') ;;
    esac
    other=$(echo "$needs" | grep -vE "$SYSTEM_LIBRARIES" || true)
    [ -z "$other" ] || { echo "$1 needs shared libraries that not every system has: $other" >&2; exit 1; }
    case $zig_target in *-gnu*.[0-9]*) ;; *) return 0 ;; esac
    glibc=$(echo "$zig_target" | sed 's/.*-gnu[a-z]*\.//')
    newest=$("$READELF" -VW "$1" | grep -o 'GLIBC_[0-9][0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1)
    [ "$(printf '%s\n' "$glibc" "$newest" | sort -V | tail -n 1)" = "$glibc" ] ||
        { echo "$1 needs GLIBC_$newest, and $platform is for glibc $glibc" >&2; exit 1; }
    # A function that this glibc does not have at all is linked without a version.
    unknown=$("$READELF" -W --dyn-syms "$1" | awk '$7 == "UND" && $5 == "GLOBAL" && $8 !~ /@/ { print $8 }')
    [ -z "$unknown" ] || { echo "$1 needs functions that glibc $glibc does not have: $unknown" >&2; exit 1; }
    echo "${1#"$work"/} needs glibc $newest or later:" $needs
}
for file in "$tree"/bin/* "$tree"/lib/lib*.so "$tree"/lib/*."$version".dylib; do [ ! -f "$file" ] || check_needs "$file"; done

# Fails if a part of the library for macOS does not export the functions of the ABI and nothing else.
check_exports() { # processor
    "$llvm/llvm-nm" --arch="$1" --extern-only --defined-only --format=just-symbols "$tree/lib/libblosc2.dylib" | sed 's/^_//' | sort >"$work/exports"
    sed -n 's/ present$//p' "$root/capi-tests/exported-symbols.txt" | sort | diff "$work/exports" - >&2 ||
        { echo "the library for $1 exports other functions than capi-tests/exported-symbols.txt" >&2; exit 1; }
}
case $platform in macos-*) check_exports arm64; check_exports x86_64 ;; esac

# Writes a reproducible archive: fixed order, owners and times.
case $platform in
windows-*)
    file=$out/$name.zip
    "${PYTHON:-python3}" - "$work" "$name" "$file" "$SOURCE_DATE_EPOCH" <<'END'
import pathlib, sys, time, zipfile
work, name, archive, seconds = sys.argv[1:]
# A zip file has no times before 1980.
date = time.gmtime(max(int(seconds), 315532800))[:6]
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as output:
    for path in sorted((pathlib.Path(work) / name).rglob("*")):
        if path.is_file():
            entry = zipfile.ZipInfo(str(path.relative_to(work)), date)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | path.stat().st_mode & 0o777) << 16
            output.writestr(entry, path.read_bytes(), compresslevel=9)
END
    ;;
*)
    file=$out/$name.tar.gz
    tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | gzip -n9 >"$file"
    ;;
esac
(cd "$tree" && find $(ls -d bin lib 2>/dev/null) -maxdepth 1 -type f \( -name 'blosc2*' -o -name 'libblosc2*' \) ! -name '*.def' | sort | xargs wc -c | grep -v total)
echo "$file"

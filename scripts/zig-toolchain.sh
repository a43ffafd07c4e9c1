#!/bin/sh
# Installs zig, whose C compiler has the headers and C libraries of many systems, and makes cross compilers of it.
#
#     scripts/zig-toolchain.sh TARGET
#
# TARGET is a target of zig, for example x86_64-linux-gnu.2.17. Installs the Python package ziglang into target/zig with pip, unless
# it is there, and writes these commands to that directory, whose path it prints:
#     cc-TARGET          a C compiler, which can be the linker of rustc. It ignores options that name the target in another way
#     ar-of-zig          an archiver; lib-of-zig has the options of that of MSVC
#     dlltool-PROCESSOR  for Windows: makes import libraries
#     ld-darwin          for macOS: the linker that comes with rustc (zig's exports all symbols), called as a C compiler is.
#                        SDKROOT has to be target/zig/darwin, the directory with the list of the system's functions
# CARGO_TARGET_DIR is respected.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
[ $# = 1 ] || { echo "one target of zig is needed" >&2; exit 2; }

root=$(cd "$(dirname "$0")/.." && pwd)
zig=${CARGO_TARGET_DIR:-$root/target}/zig
case $zig in /*) ;; *) zig=$PWD/$zig ;; esac
[ -x "$zig/bin/python" ] || python3 -m venv "$zig"
"$zig/bin/python" -m ziglang version >/dev/null 2>&1 || "$zig/bin/pip" install --quiet ziglang==0.17.0 ||
    { echo "pip cannot install ziglang" >&2; exit 1; }

# Writes an executable script to $1, which is complete at every moment: another run may use it.
command_file() {
    cat >"$1.$$"
    chmod +x "$1.$$"
    mv "$1.$$" "$1"
}
zig_command() { # command arguments
    printf '#!/bin/sh\nexec "%s/bin/python" -m ziglang %s "$@"\n' "$zig" "$2" | command_file "$zig/$1"
}

# zig links the C runtime of Windows by itself, and names processors in other ways than the option -march of the crate cc. Without
# optimisation, it adds calls of the runtime of a sanitizer. The import library of the crate windows-targets has the name of a static one.
command_file "$zig/cc-$1" <<END
#!/bin/sh
skip=no
for option; do
    shift
    case \$option in
    -arch) skip=yes ;;
    --target=* | -mmacosx-version-min=* | -m64 | -m32 | -march=* | -nolibc | --unwindlib=none | -lmsvcrt | -lmingw32 | -lmingwex) ;;
    -Wl,*.def) set -- "\$@" "\${option#-Wl,}" ;;
    -lwindows.*) set -- "\$@" -Wl,-Bstatic "\$option" -Wl,-Bdynamic ;;
    *) [ \$skip = yes ] || set -- "\$@" "\$option"; skip=no ;;
    esac
done
exec "$zig/bin/python" -m ziglang cc -target $1 -fno-sanitize=undefined "\$@"
END
zig_command ar-of-zig ar
zig_command lib-of-zig lib
case $1 in
aarch64-windows-*) zig_command dlltool-aarch64 "dlltool -m arm64" ;;
x86_64-windows-*) zig_command dlltool-x86_64 "dlltool -m i386:x86-64" ;;
*-macos*)
    mkdir -p "$zig/darwin"
    # The linker does not know a processor that is in the list.
    sed 's/arm64e\.x1-[a-z]*\(, \)\{0,1\}//g' \
        "$("$zig/bin/python" -c 'import ziglang; print(ziglang.__path__[0])')/lib/libc/darwin/libSystem.tbd" >"$zig/darwin/libSystem.tbd"
    command_file "$zig/ld-darwin" <<END
#!/bin/sh
for option; do
    shift
    case \$option in
    -dynamiclib) set -- "\$@" -dylib ;;
    -nodefaultlibs | -liconv | -lc | -lm) ;;
    -mmacosx-version-min=*) set -- "\$@" -platform_version macos "\${option#*=}" "\${option#*=}" ;;
    -Wl,*) old=\$IFS; IFS=,; set -- "\$@" \${option#-Wl,}; IFS=\$old ;;
    *) set -- "\$@" "\$option" ;;
    esac
done
exec "$(dirname "$(rustc --print target-libdir)")/bin/gcc-ld/ld64.lld" -L"$zig/darwin" "\$@"
END
    ;;
esac
echo "$zig"

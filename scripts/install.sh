#!/bin/sh
# Builds a library and installs it for C programs: headers, shared and static library, pkg-config and CMake files.
#
#   scripts/install.sh --prefix DIR [--api blosc2|blosc1] [--libdir lib] [--default-link static|shared]
#                      [--profile release] [--abi 9|7] [--runtime-only] [--with-cli] [--with-remote] [--relocatable]
#                      [--debug-dir DIR]
#   scripts/install.sh --prefix DIR --target TRIPLE [--profile release] [--with-cli] [--relocatable]
#
# --api blosc1 installs libblosc.so.1, for programs of C-Blosc 1, instead of libblosc2.so.9; both fit into one prefix.
# --abi 7 installs the library and headers for programs of SONAME libblosc2.so.7 (docs/clients.md). --runtime-only
# installs only the shared library, so that the one for old programs can be installed beside the current one. --with-cli
# also installs the command `blosc2` with its man pages and shell completions, --with-remote the library
# libblosc2_remote.so, which reads files of object stores and web servers (docs/remote.md). With --relocatable, the
# pkg-config files find the prefix by their own path, as the CMake files always do.
#
# --target compiles for another system, for which rustc and the crate cc need a compiler and a linker
# (scripts/package-platform.sh sets them), and the tools below are those of that system. A target of Windows gets
# bin/libblosc2.dll, lib/libblosc2.dll.a, lib/libblosc2.def, the headers and the pkg-config file; DLLTOOL names the tool that
# makes import libraries. If there is an llvm-dlltool (LLVM_DLLTOOL), it makes lib/blosc2.lib for MSVC. A target of
# macOS gets the shared library (.dylib), one of WebAssembly does not; both get the static library (OBJCOPY is that of LLVM), the
# headers and the pkg-config file.
#
# The installed shared libraries have no symbols but the dynamic ones, and no debug information. --debug-dir DIR writes both
# to DIR/FILE.debug for each shared library, where debuggers find them if DIR is the directory of the library or
# /usr/lib/debug with its path.
#
# DESTDIR is put before every installed path but DIR, for packagers. Needs GNU binutils, and an ELF system unless --target is given;
# LD, OBJCOPY, STRIP, NM, READELF, AR and CARGO name other tools.
#
# The shared and the static library export only the public ABI. The compiler does this for the shared one. For the
# static one, all members that the ABI needs are linked into one object, in which every other symbol is made local, so
# that a program can link it together with another zstd, LZ4 or Rust library, for example the static library of the
# other API.
set -eu

prefix='' api=blosc2 libdir=lib default_link=static profile=release abi='' target_triple='' runtime_only=no with_cli=no with_remote=no
debug_directory='' relocatable=no
while [ $# -gt 0 ]; do
  case $1 in
    --*=*) option=${1%%=*} value=${1#*=}; shift ;;
    --runtime-only) runtime_only=yes; shift; continue ;;
    --with-cli) with_cli=yes; shift; continue ;;
    --with-remote) with_remote=yes; shift; continue ;;
    --relocatable) relocatable=yes; shift; continue ;;
    --prefix | --api | --libdir | --default-link | --profile | --abi | --target | --debug-dir)
      [ $# -ge 2 ] || { echo "$1 needs a value" >&2; exit 2; }
      option=$1 value=$2; shift 2 ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;;
    *) echo "unknown argument $1" >&2; exit 2 ;;
  esac
  case $option in
    --prefix) prefix=$value ;;
    --api) api=$value ;;
    --libdir) libdir=$value ;;
    --default-link) default_link=$value ;;
    --profile) profile=$value ;;
    --abi) abi=$value ;;
    --target) target_triple=$value ;;
    --debug-dir) debug_directory=$value ;;
    *) echo "unknown option $option" >&2; exit 2 ;;
  esac
done
[ -n "$prefix" ] || { echo "--prefix DIR is needed" >&2; exit 2; }
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
case $libdir in /* | *..*) echo "--libdir is relative to the prefix" >&2; exit 2 ;; esac
case $target_triple:$api:$abi:$runtime_only$with_remote$debug_directory in
  :* | *:blosc2::nono) ;;
  *) echo "--target is for the library blosc2, without --abi, --runtime-only, --with-remote and --debug-dir" >&2; exit 2 ;;
esac
case $with_remote:$api:$abi in
  no:* | yes:blosc2: | yes:blosc2:9) ;;
  *) echo "--with-remote is for the library blosc2 of ABI 9" >&2; exit 2 ;;
esac
case $default_link in static | shared) ;; *) echo "--default-link is static or shared" >&2; exit 2 ;; esac
root=$(cd "$(dirname "$0")/.." && pwd)
# What differs between the APIs: the package of Cargo, the name in lib*.so and -l, that of the CMake package and its
# components, the prefix of the version macros, the directory of the headers, and the headers.
case $api in
  blosc2)
    case ${abi:=9} in 9 | 7) ;; *) echo "--abi is 9 or 7" >&2; exit 2 ;; esac
    crate=libblosc2-rs library=blosc2 package=Blosc2 version_prefix=BLOSC2
    # There is no IPP any more; the component exists because it always did.
    parts='THREADS LZ4 ZLIB ZSTD ZFP IPP'
    include=$root/include headers='blosc2.h b2nd.h' ;;
  blosc1)
    [ -z "$abi" ] || { echo "--abi is for --api blosc2" >&2; exit 2; }
    crate=libblosc1-rs library=blosc package=Blosc version_prefix=BLOSC
    parts='THREADS LZ4 SNAPPY ZLIB ZSTD'
    include=$root/blosc1/include headers='blosc.h blosc-export.h' ;;
  *) echo "--api is blosc2 or blosc1" >&2; exit 2 ;;
esac

target=${CARGO_TARGET_DIR:-$root/target}
features=
if [ "$abi" = 7 ]; then target=$target/abi7 features=abi7; fi
case $profile in dev) built=debug ;; *) built=$profile ;; esac
built=$target/${target_triple:+$target_triple/}$built
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
headers_include=$include
if [ "$abi" = 7 ]; then
  headers_include=$work/include
  "$root/scripts/abi7-headers.sh" "$headers_include"
fi

# Builds with Cargo, for the target.
build() { # options
  (cd "$root" && "${CARGO:-cargo}" build "$@" --profile "$profile" --target-dir "$target" ${target_triple:+--target "$target_triple"})
}
# The same with a flag of rustc. Cargo reads this variable and no other flags, if it is set.
build_with_flag() { # flag options
  (export CARGO_ENCODED_RUSTFLAGS="${CARGO_ENCODED_RUSTFLAGS:+$CARGO_ENCODED_RUSTFLAGS$(printf '\037')}$1" && shift && build "$@")
}
case $target_triple in
  # rustc makes a shared library for musl only if the C library is not linked statically.
  *-musl) build_with_flag -Ctarget-feature=-crt-static --lib --package $crate ;;
  # Without local symbols and debug information: a tool that removed them later would have to sign the library again.
  *-darwin) build_with_flag -Clink-args=-Wl,-x,-S --lib --package $crate ;;
  *) build --lib --package $crate --features "$features" ;;
esac

# The version is that of the header that is installed.
version_part() { sed -n "s/^#define ${version_prefix}_VERSION_$1 \([0-9]*\).*/\1/p" "$include/$library.h"; }
version_major=$(version_part MAJOR)
version=$version_major.$(version_part MINOR).$(version_part RELEASE)
soname='' shared_file='' pointer_bytes=''
remote_version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)

# Escaped for the pkg-config file, and then for the replacement text of sed.
pc_prefix=$(printf '%s\n' "$prefix" | sed -e 's/ /\\\\ /g' -e 's/[&|]/\\&/g')
[ $relocatable = no ] || pc_prefix='${pcfiledir}/'$(printf '%s\n' "$libdir/pkgconfig" | sed 's|[^/][^/]*|..|g')
relative_prefix=$(printf '%s\n' "$libdir/cmake/$package" | sed 's|[^/][^/]*|..|g')
fill() { # template file
  sed -e "s|@PC_PREFIX@|$pc_prefix|g" -e "s|@LIBDIR@|$libdir|g" -e "s|@VERSION@|$version|g" \
    -e "s|@VERSION_MAJOR@|$version_major|g" -e "s|@SONAME@|$soname|g" -e "s|@SHARED_FILE@|$shared_file|g" \
    -e "s|@POINTER_BYTES@|$pointer_bytes|g" -e "s|@DEFAULT_LINK@|$default_link|g" \
    -e "s|@RELATIVE_PREFIX@|$relative_prefix|g" -e "s|@PACKAGE@|$package|g" -e "s|@LIBRARY@|$library|g" \
    -e "s|@PARTS@|$parts|g" -e "s|@REMOTE_VERSION@|$remote_version|g" "$root/cmake/$1" >"$work/$2"
}

at=${DESTDIR:-}$prefix
put() { # mode directory file...
  mode=$1 directory=$2; shift 2
  mkdir -p "$directory"
  for file; do install -m "$mode" "$file" "$directory/"; done
}
put_headers() {
  for header in $headers; do put 644 "$at/include" "$headers_include/$header"; done
  if [ -d "$include/$library" ]; then put 644 "$at/include/$library" "$include/$library"/*.h; fi
  fill pkgconfig.pc.in "$library.pc"
  put 644 "$at/$libdir/pkgconfig" "$work/$library.pc"
}

# Builds the command, and installs it with what it generates from its arguments.
install_cli() {
  command=blosc2 generator=$built/blosc2
  case $target_triple in
    # A static program, for which rustc has the C library and a linker. Another name of that library, libdl, is an empty archive.
    *-musl)
      mkdir -p "$target/musl"
      "${AR:-ar}" rcs "$target/musl/libdl.a"
      build_with_flag "-Lnative=$target/musl" --package blosc2-cli --config "target.$target_triple.linker='rust-lld'" ;;
    *-windows-*) command=blosc2.exe; build --package blosc2-cli ;;
    *) build --package blosc2-cli ;;
  esac
  # This system cannot run the command of most others.
  if ! "$generator" --version >/dev/null 2>&1; then
    (cd "$root" && "${CARGO:-cargo}" build --package blosc2-cli --profile checks --target-dir "$target")
    generator=$target/checks/blosc2
  fi
  "${STRIP:-strip}" -o "$work/$command" "$built/$command"
  "$generator" generate man "$work/man"
  "$generator" generate completions "$work/completions"
  put 755 "$at/bin" "$work/$command"
  put 644 "$at/share/man/man1" "$work/man"/*.1
  mv "$work/completions/blosc2.bash" "$work/completions/blosc2"
  put 644 "$at/share/bash-completion/completions" "$work/completions/blosc2"
  put 644 "$at/share/zsh/site-functions" "$work/completions/_blosc2"
  put 644 "$at/share/fish/vendor_completions.d" "$work/completions/blosc2.fish"
}

# Installs the static library without debug information and without its LLVM bitcode, which options for OBJCOPY name.
put_archive() { # option...
  "${OBJCOPY:-llvm-objcopy}" --strip-debug "$@" "$built/libblosc2.a" "$work/libblosc2.a"
  put 644 "$at/$libdir" "$work/libblosc2.a"
}

case $target_triple in
*-windows-*)
  cp "$built/blosc2.dll" "$work/libblosc2.dll"
  { printf 'LIBRARY libblosc2.dll\nEXPORTS\n'; sed -n 's/ present$//p' "$root/capi-tests/exported-symbols.txt"; } >"$work/libblosc2.def"
  # Cargo's import library is for the name that Cargo gives the DLL.
  "${DLLTOOL:-x86_64-w64-mingw32-dlltool}" -d "$work/libblosc2.def" -l "$work/libblosc2.dll.a"
  put 755 "$at/bin" "$work/libblosc2.dll"
  put 644 "$at/$libdir" "$work/libblosc2.dll.a" "$work/libblosc2.def"
  # MSVC does not read the import libraries that binutils writes.
  if command -v "${LLVM_DLLTOOL:=llvm-dlltool}" >/dev/null; then
    case $target_triple in aarch64-*) machine=arm64 ;; *) machine=i386:x86-64 ;; esac
    "$LLVM_DLLTOOL" -m $machine -d "$work/libblosc2.def" -l "$work/blosc2.lib"
    put 644 "$at/$libdir" "$work/blosc2.lib"
  fi ;;
*-darwin)
  put 755 "$at/$libdir" "$built/libblosc2.dylib"
  mv "$at/$libdir/libblosc2.dylib" "$at/$libdir/libblosc2.$version.dylib"
  # The second name is the one that programs load.
  ln -sf "libblosc2.$version.dylib" "$at/$libdir/libblosc2.9.dylib"
  ln -sf libblosc2.9.dylib "$at/$libdir/libblosc2.dylib"
  put_archive --remove-section=__LLVM,__bitcode --remove-section=__LLVM,__cmdline ;;
wasm32-*)
  put_archive --remove-section=.llvmbc --remove-section=.llvmcmd ;;
esac
case $target_triple in
*-windows-* | *-darwin | wasm32-*)
  [ $with_cli = no ] || install_cli
  put_headers
  echo "$package $version is installed in $at"
  exit 0 ;;
esac

built_library=$built/lib$library
[ -f "$built_library.so" ] || { echo "no $built_library.so: this script is for ELF systems" >&2; exit 1; }
soname=$("${READELF:-readelf}" -d "$built_library.so" | sed -n 's/.*(SONAME).*\[\(.*\)\].*/\1/p')
[ -n "$soname" ] || { echo "the shared library has no SONAME" >&2; exit 1; }
case $("${READELF:-readelf}" -h "$built_library.so") in *ELF64*) pointer_bytes=8 ;; *) pointer_bytes=4 ;; esac
# The file names differ so that the libraries of both ABIs can be installed in one directory.
shared_file=lib$library.so.$version
[ "$abi" != 7 ] || shared_file=lib$library.so.$abi.$version

# Copies a shared library without what is not needed to load it, and writes that to a file of its own if --debug-dir is given.
strip_library() { # built library, new file
  "${STRIP:-strip}" --strip-unneeded --remove-section=.comment -o "$2" "$1"
  [ -n "$debug_directory" ] || return 0
  mkdir -p "$debug_directory"
  debug_file=$debug_directory/${2##*/}.debug
  "${OBJCOPY:-objcopy}" --only-keep-debug "$1" "$debug_file"
  chmod 644 "$debug_file"
  "${OBJCOPY:-objcopy}" --add-gnu-debuglink="$debug_file" "$2"
}

# Prints the exported symbols. The exports of the shared library define the ABI of the static one too.
exported() { "${NM:-nm}" "$@" --defined-only | awk 'NF == 3 { print $3 }' | sort; }
exported -D "$built_library.so" >"$work/abi"
[ -s "$work/abi" ] || { echo "the shared library exports nothing" >&2; exit 1; }

# The archive for musl contains the unwinder: the musl-gcc of some distributions has none.
unwinder=
case $target_triple in *-musl) unwinder=$(rustc --print target-libdir --target "$target_triple")/self-contained/libunwind.a ;; esac
# Merges the members, without the sections that no exported function needs. Section groups are resolved: a linker cannot
# distinguish them after their names are made local.
sed 's/^/-u /' "$work/abi" >"$work/roots"
# shellcheck disable=SC2086 # No library, or one.
"${LD:-ld}" -r --gc-sections --force-group-allocation -o "$work/$library.o" "@$work/roots" "$built_library.a" $unwinder
# Removes LLVM bitcode: link-time optimisation cannot use it after the members are merged.
"${OBJCOPY:-objcopy}" --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd \
  --keep-global-symbols="$work/abi" "$work/$library.o"
exported -g "$work/$library.o" >"$work/left"
cmp -s "$work/abi" "$work/left" || { echo "the static library does not export the ABI:" >&2; diff "$work/abi" "$work/left" >&2; exit 1; }
(cd "$work" && "${AR:-ar}" rcs "lib$library.a" "$library.o")
strip_library "$built_library.so" "$work/$shared_file"

put 755 "$at/$libdir" "$work/$shared_file"
ln -sf "$shared_file" "$at/$libdir/$soname"

# Runs ldconfig if the library directory is in the loader's default path, so that programs find the library.
tell_loader() {
  [ -z "${DESTDIR:-}" ] && [ "$(id -u)" = 0 ] || return 0
  PATH=$PATH:/sbin:/usr/sbin
  if ldconfig -vN 2>/dev/null | cut -d: -f1 | grep -qxF "$prefix/$libdir"; then ldconfig; fi
}

[ $with_cli = no ] || install_cli

# Builds the library that reads URLs, and installs it with its header and its pkg-config file.
install_remote() {
  (cd "$root" && "${CARGO:-cargo}" build --lib --package libblosc2-remote --profile "$profile" --target-dir "$target")
  remote_file=libblosc2_remote.so.$remote_version
  strip_library "$built/libblosc2_remote.so" "$work/$remote_file"
  put 755 "$at/$libdir" "$work/$remote_file"
  ln -sf "$remote_file" "$at/$libdir/libblosc2_remote.so.0"
  [ $runtime_only = no ] || return 0
  ln -sf libblosc2_remote.so.0 "$at/$libdir/libblosc2_remote.so"
  put 644 "$at/include/blosc2" "$root/remote/include/blosc2/blosc2x_remote.h"
  fill remote.pc.in blosc2_remote.pc
  put 644 "$at/$libdir/pkgconfig" "$work/blosc2_remote.pc"
}
[ $with_remote = no ] || install_remote
tell_loader
if [ $runtime_only = yes ]; then
  echo "$package $version ($soname) is installed in $at"
  exit 0
fi
put_headers
ln -sf "$soname" "$at/$libdir/lib$library.so"
put 644 "$at/$libdir" "$work/lib$library.a"
for file in Config.cmake ConfigVersion.cmake Targets.cmake Targets-release.cmake; do
  fill "$file.in" "$package$file"
  put 644 "$at/$libdir/cmake/$package" "$work/$package$file"
done
echo "$package $version is installed in $at"
if [ "$prefix" != /usr ] && [ "$prefix" != /usr/local ]; then
  echo "Programs are built with: cc program.c -I$prefix/include -L$prefix/$libdir -l$library -Wl,-rpath,$prefix/$libdir"
fi

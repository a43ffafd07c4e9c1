#!/usr/bin/env bash
# ADIOS 1.13 of Debian, a static library, links libblosc.so.1. Files that a program writes on our library are read on Debian's, and
# the reverse, for every codec, shuffle and type.
source "$(dirname "$0")/common.sh"
lib=$(blosc1_library)
ours=$work/blosc1

# Downloads the package and the libraries that it links, without its dependencies, which are compilers, and unpacks them.
fetch_adios() {
  local packages=(libadios-dev libblosc1 libsnappy1v5 libsz2 libaec0 libbz2-1.0 liblz4-1 zlib1g libzstd1) package
  (. /etc/os-release && [ "$ID-$VERSION_ID" = debian-12 ]) || return 1
  rm -rf "$debian_place"
  mkdir -p "$debian_place"
  (cd "$debian_place" && { apt-get download -qq "${packages[@]}" || { apt-get update -qq && apt-get download -qq "${packages[@]}"; }; }) >&2 || return 1
  for package in "$debian_place"/*.deb; do dpkg -x "$package" "$debian_place" && rm "$package" || return 1; done
  touch "$debian_place/complete"
}
debian_place=$work/adios
[ -f "$debian_place/complete" ] || fetch_adios ||
  { echo "SKIPPED: ADIOS with libblosc.so.1: its packages cannot be fetched here" >&2; exit 0; }

say "ADIOS 1.13 of Debian"
libraries=$(echo "$debian_place"/usr/lib/*-linux-gnu)
program=$TMPDIR/adios_files
"${CC:-cc}" -O1 -Wall -Wextra -I"$debian_place/usr/include" "$clients/adios_files.c" -o "$program" "$libraries/libadios_nompi.a" \
  -L"$libraries" -L"$debian_place${libraries#"$debian_place/usr"}" -Wl,-rpath-link,"$libraries" \
  -l:libz.so.1 -l:libbz2.so.1.0 -l:liblz4.so.1 -l:libsz.so.2 -l:libblosc.so.1 -lm -lpthread
cd "$TMPDIR"
mkdir called ours debian
assert_calls "$lib" blosc_compress on "$ours" "$program" write called
assert_calls "$lib" blosc_decompress on "$ours" "$program" read called

verdict=passed
files=$(on "$ours" "$program" write ours)
on debian "$program" write debian >&2
for writer in ours debian; do
  for reader in "$ours" debian; do
    [ "$(on "$reader" "$program" read $writer)" = "$files" ] || { echo "files of $writer on $reader" >&2; verdict=failed; }
  done
done
[ $(($(cat ours/* | wc -c) * 100)) -le $(($(cat debian/* | wc -c) * 102)) ] || { echo "our files are longer" >&2; verdict=failed; }
result "ADIOS 1.13 of Debian" "\`LD_LIBRARY_PATH\`" "$files files of each library read by both, with 6 codecs and 3 shuffles" $verdict

#!/usr/bin/env bash
# OpenVDB of Debian links libblosc.so.1, and so do NanoVDB's programs. Volumes that are written on our library are
# read on Debian's, and the reverse; the surface that each of them gives is the same.
source "$(dirname "$0")/common.sh"
lib=$(blosc1_library)
debian debian-packages $debian_packages || exit 0
ours=$work/blosc1

say "OpenVDB of Debian"
cd "$TMPDIR"
assert_calls "$lib" blosc_compress_ctx on "$ours" vdb_tool -quiet -sphere dim=64 -write codec=blosc called.vdb
assert_calls "$lib" blosc_compress_ctx on "$ours" nanovdb_convert -b called.vdb called.nvdb
assert_calls "$lib" blosc_decompress_ctx on "$ours" nanovdb_validate called.nvdb

# Writes the surface of a volume, as every reader gets it, to $1.READER.ply.
read_volume() { # file
  local reader
  for reader in "$ours" debian; do
    on "$reader" vdb_tool -quiet -read "$1" -ls2mesh -write "$1.$(basename "$reader").ply"
  done
}

verdict=passed
on debian vdb_tool -quiet -sphere dim=64 -write codec=none plain.vdb
read_volume plain.vdb
for writer in "$ours" debian; do
  name=$(basename "$writer")
  on "$writer" vdb_tool -quiet -read plain.vdb -write codec=blosc "$name.vdb"
  [ $(($(stat -c %s "$name.vdb") * 10)) -lt $(($(stat -c %s plain.vdb) * 9)) ] || {
    echo "$name compresses little" >&2
    verdict=failed
  }
  read_volume "$name.vdb"
  on "$writer" nanovdb_convert -b plain.vdb "$name.nvdb"
  for reader in "$ours" debian; do
    on "$reader" nanovdb_validate "$name.nvdb" >&2 || verdict=failed
    on "$reader" nanovdb_convert "$name.nvdb" "$name-$(basename "$reader").vdb"
    on debian vdb_tool -quiet -read "$name-$(basename "$reader").vdb" -ls2mesh -write "$name-$(basename "$reader").ply"
  done
done
files=0
for file in *.ply; do
  cmp "$file" plain.vdb.debian.ply || verdict=failed
  files=$((files + 1))
done
[ $files = 10 ] || verdict=failed
result "OpenVDB 10 and NanoVDB of Debian" "\`LD_LIBRARY_PATH\`" \
  "2 files of each library read by both: the same surface" $verdict

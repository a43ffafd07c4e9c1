#!/usr/bin/env bash
# The HDF5 filter of Debian (32001) links libblosc.so.1. Files that h5repack compresses on our library are read on
# Debian's, and the reverse, for every codec and shuffle; `quick` tries one shuffle.
source "$(dirname "$0")/common.sh"
lib=$(blosc1_library)
debian debian-packages $debian_packages || exit 0
ours=$work/blosc1

say "the HDF5 filter of Debian"
cd "$TMPDIR"
on debian python3 - <<'PYTHON'
import numpy as np
import tables

SHAPES = {"line": ((20_000,), (6_000,)), "plane": ((200, 90), (90, 33)), "cube": ((30, 31, 22), (16, 18, 9))}
with tables.open_file("plain.h5", "w") as file:
    for name, (shape, chunks) in SHAPES.items():
        for dtype in ["u1", "<i2", "<i4", "<f8", "S7", "S300"]:
            count = int(np.prod(shape)) if dtype != "S300" else 1_500
            values = (np.sin(np.arange(count) / 50) * 100).astype(int) + np.arange(count) // 7
            content = values.astype("S20").astype(dtype) if dtype.startswith("S") else values.astype(dtype)
            content = content.reshape(shape if dtype != "S300" else (count,))
            file.create_carray("/", f"{name}_{dtype.strip('<')}", obj=content, chunkshape=chunks[-content.ndim:])
PYTHON
datasets=$(on debian h5ls plain.h5 | wc -l)
assert_calls "$lib" blosc_compress on "$ours" h5repack -f UD=32001,1,7,0,0,0,0,5,1,1 plain.h5 called.h5

case $mode in quick) shuffles=(1) ;; all) shuffles=(0 1 2) ;; esac
# Chunks that a codec does not shrink are stored without the filter, which is optional here (`1`).
verdict=passed sizes=(0 0) files=(ours.h5 debian.h5)
plain=$(stat -c %s plain.h5)
for codec in 0 1 2 3 4 5; do
  for shuffle in "${shuffles[@]}"; do
    on "$ours" h5repack -f UD=32001,1,7,0,0,0,0,5,$shuffle,$codec plain.h5 ours.h5 >&2
    on debian h5repack -f UD=32001,1,7,0,0,0,0,5,$shuffle,$codec plain.h5 debian.h5 >&2
    for n in 0 1; do
      file=${files[$n]}
      size=$(stat -c %s "$file")
      # The reference rarely compresses with Snappy (blosc1.md 12.8).
      [ $((size * 3)) -lt "$plain" ] || [ "$file-$codec" = debian.h5-3 ] || {
        echo "$file has $size of $plain bytes" >&2
        verdict=failed
      }
      [ $codec = 3 ] || sizes[$n]=$((sizes[$n] + size))
      filtered=$(on debian h5dump -pH "$file" | grep -c 'FILTER_ID 32001')
      [ "$filtered" = "$datasets" ] || {
        echo "$file: $filtered of $datasets datasets have the filter" >&2
        verdict=failed
      }
      # h5diff says nothing if the files are equal.
      for reader in "$ours" debian; do
        found=$(on "$reader" h5diff plain.h5 "$file" 2>&1) && [ -z "$found" ] || {
          echo "codec $codec, shuffle $shuffle: $file on $reader: $found" >&2
          verdict=failed
        }
      done
    done
  done
done
[ $((sizes[0] * 100)) -le $((sizes[1] * 101)) ] || {
  echo "our files have ${sizes[0]} bytes, Debian's ${sizes[1]}" >&2
  verdict=failed
}
result "HDF5 filter of Debian, h5repack 1.10.8" "\`LD_LIBRARY_PATH\`" \
  "6 codecs, ${#shuffles[@]} shuffles, $datasets datasets of each library read by both" $verdict

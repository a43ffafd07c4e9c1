#!/usr/bin/env bash
# GDAL compresses Zarr arrays with Blosc 1. The wheel of rasterio bundles libblosc.so.1 under a name of its own: our
# library is tried in its place and in LD_PRELOAD. Debian's GDAL links libblosc.so.1. Arrays of every codec and
# shuffle are written on our library and read on the original, and the reverse.
source "$(dirname "$0")/common.sh"
version=1.4.4
lib=$(blosc1_library)
ok=0

say "rasterio $version"
py=$(environment blosc1-rasterio "rasterio==$version")
libs=$(site_packages "$py")/rasterio.libs
bundled=$(echo "$libs"/libblosc-*.so.1.*)
[ -f "$bundled" ] || { echo "the wheel bundles no libblosc" >&2; exit 1; }
original=$work/blosc1-rasterio/libblosc.original
[ -f "$original" ] || cp "$bundled" "$original"
run="$clients/blosc1_zarr.py"
replace() { rm -f "$bundled" && cp "$1" "$bundled"; }
verdict=passed
# The original lacks Snappy.
common=blosclz,lz4,lz4hc,zlib,zstd

replace "$original"
"$py" "$run" write "$TMPDIR/original" $common >&2
assert_calls "$lib" blosc_compress_ctx env LD_PRELOAD="$lib" "$py" "$run" write "$TMPDIR/called" lz4
LD_PRELOAD=$lib "$py" "$run" write "$TMPDIR/preloaded" $common,snappy >&2
preloaded=$(LD_PRELOAD=$lib "$py" "$run" read "$TMPDIR/preloaded" $common,snappy) || verdict=failed
LD_PRELOAD=$lib "$py" "$run" read "$TMPDIR/original" $common >&2 || verdict=failed
"$py" "$run" read "$TMPDIR/preloaded" $common >&2 || verdict=failed
replace "$lib"
assert_calls "$bundled" blosc_compress_ctx "$py" "$run" write "$TMPDIR/called" lz4
"$py" "$run" write "$TMPDIR/replaced" $common,snappy >&2
replaced=$("$py" "$run" read "$TMPDIR/replaced" $common,snappy) || verdict=failed
"$py" "$run" read "$TMPDIR/original" $common >&2 || verdict=failed
replace "$original"
both=$("$py" "$run" read "$TMPDIR/replaced" $common) || verdict=failed
[ "$preloaded $replaced $both" = "54 54 45" ] || verdict=failed
result "rasterio $version" "bundled \`libblosc-*.so.1.21.6\` replaced, and \`LD_PRELOAD\`" \
  "$replaced Zarr arrays, $both of each library read by both (the original lacks Snappy)" $verdict || ok=1

debian debian-gdal gdal-bin || exit $ok
say "GDAL of Debian"
ours=$work/blosc1
cd "$TMPDIR"
{
  printf 'ncols 400\nnrows 300\nxllcorner 0\nyllcorner 0\ncellsize 1\n'
  awk 'BEGIN {
    for (y = 0; y < 300; y++) { for (x = 0; x < 400; x++) printf "%d ", 1000 * sin(x / 50) + y / 7; print "" }
  }'
} >plain.asc
checksum() { on "$1" gdalinfo -checksum "$2" | grep Checksum; } # directory|debian file
expected=$(checksum debian plain.asc)
verdict=passed arrays=0
for codec in blosclz lz4 lz4hc snappy zlib zstd; do
  for shuffle in NONE BYTE BIT; do
    for writer in "$ours" debian; do
      array=$(basename "$writer")-$codec-$shuffle.zarr
      on "$writer" gdal_translate -q -of Zarr -co COMPRESS=BLOSC -co BLOSC_CNAME=$codec -co BLOSC_SHUFFLE=$shuffle \
        plain.asc "$array" >&2
      grep -q '"cname":"'$codec'"' "$array"/*/.zarray || verdict=failed
      for reader in "$ours" debian; do
        [ "$(checksum "$reader" "$array")" = "$expected" ] || { echo "$array on $reader differs" >&2; verdict=failed; }
      done
    done
    arrays=$((arrays + 1))
  done
done
assert_calls "$lib" blosc_compress_ctx on "$ours" gdal_translate -of Zarr -co COMPRESS=BLOSC plain.asc called.zarr
result "GDAL 3.6.2 of Debian" "\`LD_LIBRARY_PATH\`" "$arrays Zarr arrays of each library read by both" $verdict || ok=1
exit $ok

#!/usr/bin/env bash
# imagecodecs with Blosc 1: the wheel bundles libblosc.so.1 under a name of its own. Our library takes its place,
# those of the package's own tests run that go through it, and every codec and shuffle is tried in both directions
# with the package blosc, which has its own copy of C-Blosc.
source "$(dirname "$0")/common.sh"

lib=$(blosc1_library)
py=$(imagecodecs_environment)
version=$imagecodecs_version
site=$(site_packages "$py")
sources imagecodecs "$version" "$work/imagecodecs-source" tests
bundled=$(echo "$site"/imagecodecs.libs/libblosc-*.so.*)
[ -f "$bundled" ] || { echo "the wheel bundles no libblosc" >&2; exit 1; }
rm -f "$bundled"
cp "$lib" "$bundled"
assert_calls "$bundled" blosc_compress_ctx "$py" -c "import imagecodecs; imagecodecs.blosc_encode(b'0' * 1000)"

say "imagecodecs $version, Blosc 1"
log=$work/blosc1-imagecodecs.log
cd "$work/imagecodecs-source"
verdict=failed
if "$py" -m pytest -q -p no:cacheprovider -k "blosc and not blosc2" tests/test_imagecodecs.py >"$log" 2>&1; then verdict=passed; fi
[ $verdict = passed ] || tail -20 "$log" >&2
pairs=$("$py" - <<'PYTHON'
import blosc
import imagecodecs
import numpy as np

values = (np.sin(np.arange(100_000) / 50) * 1000).astype("<i2")
content = values.tobytes()
pairs = 0
for codec in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]:
    for shuffle in [0, 1, 2]:
        ours = imagecodecs.blosc_encode(values, level=5, compressor=codec, shuffle=shuffle, typesize=2, numthreads=2)
        assert imagecodecs.blosc_decode(ours) == content, (codec, shuffle)
        # BloscLZ does not compress this content without a shuffle, as in C-Blosc.
        assert len(ours) < len(content) or (codec, shuffle) == ("blosclz", 0), (codec, shuffle)
        # The package blosc lacks Snappy.
        if codec != "snappy":
            assert blosc.decompress(ours) == content, (codec, shuffle)
            theirs = blosc.compress(content, typesize=2, clevel=5, shuffle=shuffle, cname=codec)
            assert imagecodecs.blosc_decode(theirs, numthreads=2) == content, (codec, shuffle)
        pairs += 1
print(pairs)
PYTHON
) || verdict=failed
result "imagecodecs $version" "bundled \`libblosc-*.so.1.21.6\` replaced" \
  "$(pytest_counts "$log") of its Blosc tests, $pairs pairs of codec and shuffle" $verdict

#!/bin/sh
# Fetches C-Blosc 1.21.6, with which the tests of the crate `blosc1` compare, and its codec libraries from the wheel
# `imagecodecs`, into `reference-blosc1/` at the root of the repository (ignored by git). Does nothing if they are
# already there.
set -eu

version=2026.3.6
root=$(cd "$(dirname "$0")/.." && pwd)
target=$root/reference-blosc1

if [ -f "$target/imagecodecs-$version" ]; then
    echo "C-Blosc 1.21.6 is in place: reference-blosc1/"
    exit 0
fi

rm -rf "$target"
mkdir "$target"
python=$(command -v python3 || command -v python)
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --dest "$target" \
    "imagecodecs==$version"
"$python" - "$target" <<'PYTHON'
import glob, os, sys, zipfile

target = sys.argv[1]
[wheel] = glob.glob(os.path.join(target, "*.whl"))
wanted = ("libblosc-", "liblz4-", "libsnappy-", "libzstd-")
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        base = os.path.basename(name)
        if base.startswith(wanted):
            with open(os.path.join(target, base), "wb") as file:
                file.write(archive.read(name))
os.remove(wheel)
PYTHON
[ "$(ls "$target" | wc -l)" = 4 ] || { echo "the wheel imagecodecs $version has other libraries than expected" >&2; exit 1; }
touch "$target/imagecodecs-$version"
echo "fetched C-Blosc 1.21.6: reference-blosc1/"

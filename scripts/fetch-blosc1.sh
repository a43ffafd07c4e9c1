#!/bin/sh
# Fetches C-Blosc 1, with which the tests compare libblosc, into `reference-blosc1/` at the root of the repository
# (ignored by git). Does nothing for what is already there.
#
# From the wheel `imagecodecs`: C-Blosc 1.21.6 and its codec libraries, for the tests of the crate `blosc1`. From the
# wheel `blosc`, in the directory `python-blosc`: the headers, the shared and the static library of C-Blosc 1.21.7.dev,
# for scripts/check-abi.sh and for programs that contain a copy of C-Blosc.
#
#     scripts/fetch-blosc1.sh
#
# Needs Python 3 with pip, and the network.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

imagecodecs=2026.3.6
python_blosc=1.11.4
root=$(cd "$(dirname "$0")/.." && pwd)
target=$root/reference-blosc1
python=$(command -v python3 || command -v python)

if [ -f "$target/imagecodecs-$imagecodecs" ]; then
    echo "C-Blosc 1.21.6 is in place: reference-blosc1/"
else
    rm -rf "$target"
    mkdir "$target"
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --dest "$target" \
        "imagecodecs==$imagecodecs"
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
    [ "$(ls "$target" | wc -l)" = 4 ] || { echo "the wheel imagecodecs $imagecodecs has other libraries than expected" >&2; exit 1; }
    touch "$target/imagecodecs-$imagecodecs"
    echo "fetched C-Blosc 1.21.6: reference-blosc1/"
fi

place=$target/python-blosc
if [ -f "$place/complete-$python_blosc" ]; then
    echo "C-Blosc 1.21.7.dev is in place: reference-blosc1/python-blosc/"
else
    rm -rf "$place"
    "$python" -m pip install --root-user-action=ignore --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --target "$place" "blosc==$python_blosc"
    [ ! -d "$place/lib64" ] || mv "$place/lib64" "$place/lib"
    for file in include/blosc.h include/blosc-export.h lib/libblosc.so lib/libblosc.a; do
        [ -f "$place/$file" ] || { echo "the wheel blosc $python_blosc has no $file" >&2; exit 1; }
    done
    touch "$place/complete-$python_blosc"
    echo "fetched C-Blosc 1.21.7.dev: reference-blosc1/python-blosc/"
fi

#!/bin/sh
# Fetches real scientific data for `cargo bench --bench side_by_side` into reference/bench-data, which git
# ignores: medical images from the tests of the PyPI package nibabel, and elevation models, a magnetic
# resonance image and share prices from matplotlib's sample data. Writes each array as a raw file named
# <name>.t<bytes per item>.bin.
#
#     scripts/fetch-bench-data.sh
#
# Needs Python 3 with pip, which PYTHON names (default python3), and the network.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for package in nibabel==5.3.2 matplotlib==3.9.2; do
    "$python" -m pip -q --disable-pip-version-check download --no-deps --only-binary=:all: -d "$work" "$package"
done

PYTHONPATH=$root/scripts/shared PYTHONDONTWRITEBYTECODE=1 "$python" - "$work" "$root/reference/bench-data" <<'END'
import ast, gzip, io, pathlib, struct, zipfile
from raw_files import packages, save


def nifti(name, data):
    """A NIfTI-1 file: bits per voxel at 72, where the voxels begin at 108."""
    order = "<" if struct.unpack_from("<i", data, 0)[0] == 348 else ">"
    bits, = struct.unpack_from(order + "h", data, 72)
    start, = struct.unpack_from(order + "f", data, 108)
    save(name, bits // 8, data[int(start):])


def npy(name, data):
    """An array in NumPy's format: the items follow a header that is a Python literal."""
    size = 2 if data[6] == 1 else 4
    length = int.from_bytes(data[8:8 + size], "little")
    header = ast.literal_eval(data[8 + size:8 + size + length].decode("latin1"))
    items, nitems = data[8 + size + length:], 1
    for extent in header["shape"]:
        nitems *= extent
    save(name, len(items) // max(nitems, 1), items)


for wheel in sorted(packages.glob("*.whl")):
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.namelist():
            path = pathlib.PurePosixPath(entry)
            if path.parts[:3] == ("nibabel", "tests", "data") and entry.endswith(".nii.gz"):
                nifti(path.name[:-7], gzip.decompress(archive.read(entry)))
            elif path.parts[:3] == ("nibabel", "tests", "data") and entry.endswith(".nii"):
                nifti(path.stem, archive.read(entry))
            elif "sample_data" in path.parts and entry.endswith(".npz"):
                with zipfile.ZipFile(io.BytesIO(archive.read(entry))) as arrays:
                    for array in arrays.namelist():
                        if array.endswith(".npy"):
                            npy(f"{path.stem}-{array[:-4]}", arrays.read(array))
            elif "sample_data" in path.parts and entry.endswith(".ima.gz"):
                save(path.name[:-7], 2, gzip.decompress(archive.read(entry)))
END

"""Writes Zarr arrays through rasterio, compressed with Blosc 1, one for every setting, or reads them and compares:

    blosc1_zarr.py write|read DIRECTORY CODEC,CODEC,...

Prints how many arrays were read."""

import itertools
import os
import sys
import warnings

import numpy as np
import rasterio

SHUFFLES = ["NONE", "BYTE", "BIT"]
TYPES = ["uint8", "int16", "float64"]


def content(dtype):
    count = 300 * 400
    values = (np.sin(np.arange(count) / 50) * 100).astype(int) + np.arange(count) // 1200
    return (values + 100).reshape(300, 400).astype(dtype)


def main():
    what, directory, codecs = sys.argv[1:]
    warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
    os.makedirs(directory, exist_ok=True)
    count = 0
    for codec, shuffle, dtype in itertools.product(codecs.split(","), SHUFFLES, TYPES):
        path = os.path.join(directory, f"{codec}-{shuffle}-{dtype}.zarr")
        expected = content(dtype)
        if what == "write":
            options = {"COMPRESS": "BLOSC", "BLOSC_CNAME": codec, "BLOSC_SHUFFLE": shuffle, "BLOSC_CLEVEL": 5}
            shape = {"height": 300, "width": 400, "count": 1, "dtype": dtype}
            with rasterio.open(path, "w", driver="Zarr", **shape, **options) as file:
                file.write(expected, 1)
            continue
        with rasterio.open(path) as file:
            if not np.array_equal(file.read(1), expected):
                raise SystemExit(f"{path} differs")
        count += 1
    if what == "read":
        print(count)


if __name__ == "__main__":
    main()

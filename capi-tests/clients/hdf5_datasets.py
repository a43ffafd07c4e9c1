"""Writes HDF5 datasets through the Blosc2 filter of hdf5plugin, one for every setting, or reads them and compares:

    hdf5_datasets.py write|read FILE

Prints how many datasets were read."""

import itertools
import sys

import h5py
import hdf5plugin
import numpy as np

CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
FILTERS = {
    "none": hdf5plugin.Blosc2.NOFILTER,
    "shuffle": hdf5plugin.Blosc2.SHUFFLE,
    "bitshuffle": hdf5plugin.Blosc2.BITSHUFFLE,
    "delta": hdf5plugin.Blosc2.DELTA,
}
# With one dimension the filter stores plain chunks, with more of them arrays.
SHAPES = {"line": ((5000,), (1024,)), "plane": ((70, 90), (32, 33)), "cube": ((20, 21, 22), (8, 9, 10))}
TYPES = ["u1", "<i2", "<i4", "<f8", "S7"]


def settings():
    return itertools.product(CODECS, FILTERS, SHAPES, TYPES, [0, 1, 5, 9])


def content(shape, dtype):
    count = int(np.prod(shape))
    values = (np.sin(np.arange(count) / 50) * 100).astype(int) + np.arange(count) // 7
    if dtype.startswith("S"):
        return np.array([str(value).encode() for value in values], dtype).reshape(shape)
    return values.astype(dtype).reshape(shape)


def main():
    what, path = sys.argv[1:]
    count = 0
    with h5py.File(path, "w" if what == "write" else "r") as file:
        for codec, name, form, dtype, level in settings():
            shape, chunks = SHAPES[form]
            key = f"{codec}-{name}-{form}-{dtype.strip('<')}-{level}"
            expected = content(shape, dtype)
            if what == "write":
                compression = hdf5plugin.Blosc2(cname=codec, clevel=level, filters=FILTERS[name])
                file.create_dataset(key, data=expected, chunks=chunks, **compression)
                continue
            if not np.array_equal(file[key][...], expected):
                raise SystemExit(f"{key} differs")
            part = tuple(slice(length // 3, length // 2) for length in shape)
            if not np.array_equal(file[key][part], expected[part]):
                raise SystemExit(f"a part of {key} differs")
            count += 1
    if what == "read":
        print(count)


if __name__ == "__main__":
    main()

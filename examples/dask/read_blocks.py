"""Computes with `map_blocks` on an array in a file.

    python read_blocks.py [DIRECTORY]

Each task opens the file by its path. An open array is not sent to other processes: it cannot be pickled.
"""

import os
import sys
import tempfile
from pathlib import Path

import blosc2
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster


def read_block(path, block_info=None):
    """Returns the items of one block of the Dask array."""
    box = tuple(slice(start, stop) for start, stop in block_info[None]["array-location"])
    return blosc2.open(path)[box]


def as_dask_array(path):
    """Returns a Dask array whose blocks are the chunks of an array of Blosc2."""
    array = blosc2.open(path)
    chunks = da.core.normalize_chunks(array.chunks, shape=array.shape)
    return da.map_blocks(read_block, path, chunks=chunks, meta=np.empty((0,) * array.ndim, array.dtype))


def main():
    directory = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    path = str(directory / "waves.b2nd")
    waves = np.sin(np.arange(4_000_000) / 1000).reshape(2000, 2000)
    blosc2.asarray(waves, chunks=(500, 1000), urlpath=path, mode="w")

    with LocalCluster(n_workers=os.cpu_count(), threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        array = as_dask_array(path)
        mean, largest = array.mean().compute(), array[100:1500, ::3].max().compute()
    assert np.isclose(mean, waves.mean()) and largest == waves[100:1500, ::3].max()
    print(f"{array.npartitions} chunks: mean {mean:.6f}, largest value of a slice {largest:.6f}")


if __name__ == "__main__":  # Workers import this file.
    main()

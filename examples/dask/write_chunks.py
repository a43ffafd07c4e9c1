"""Stores a Dask array in one array on disk, which the workers write at the same time.

    python write_chunks.py [DIRECTORY]

Each worker process opens the array once, with `locking=True`, by which its writes and those of other processes exclude each
other. Blocks that are whole chunks are the fastest: a part of a chunk is read and compressed again with its other items.
"""

import functools
import os
import sys
import tempfile
from pathlib import Path

import blosc2
import dask.array as da
from distributed import Client, LocalCluster


@functools.cache
def opened(path):
    """Returns the array at `path`, opened once in each process."""
    return blosc2.open(path, mode="a", locking=True)


class Target:
    """The array at a path. This is what Dask sends to its workers."""

    def __init__(self, path):
        self.path = path

    def __setitem__(self, box, items):
        opened(self.path)[box] = items


def main():
    directory = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    path = str(directory / "squares.b2nd")
    shape, chunks = (2000, 2000), (500, 1000)
    squares = da.arange(shape[0] * shape[1], chunks=1_000_000).reshape(shape).rechunk(chunks) ** 2
    blosc2.empty(shape, dtype=squares.dtype, chunks=chunks, urlpath=path, mode="w", locking=True)

    with LocalCluster(n_workers=os.cpu_count(), threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        # The lock of Dask is not needed.
        da.store(squares, Target(path), lock=False)
    array = blosc2.open(path)
    assert (array[:] == squares.compute(scheduler="threads")).all()
    print(f"{array.shape} items in {array.schunk.nchunks} chunks, {array.schunk.cratio:.1f} times smaller")


if __name__ == "__main__":  # Workers import this file.
    main()

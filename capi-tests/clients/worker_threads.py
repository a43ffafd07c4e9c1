"""Prints the number of threads that the library starts for reads and writes of an array in memory with four threads."""

import os

import blosc2
import numpy as np


def count_threads() -> int:
    return len(os.listdir("/proc/self/task"))


# Other packages start threads when they are imported.
before = count_threads()
items = np.arange(4_000_000) ** 2
array = blosc2.asarray(
    items, chunks=(1_000_000,), blocks=(25_000,), cparams=blosc2.CParams(nthreads=4), dparams=blosc2.DParams(nthreads=4)
)
for _ in range(5):
    assert (array[:] == items).all()
    array[:] = items
print(count_threads() - before)

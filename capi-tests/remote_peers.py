"""Reads the same slices of an array from a web server by other libraries: python-blosc2 from the same file, zarr-python on fsspec, and zarrs
below zarr-python, from a sharded Zarr array of the same chunks and blocks. Run by `scripts/check-remote.sh --peers`.

    remote_peers.py write PATH          writes PATH.zarr from the array at PATH
    remote_peers.py read URL PATH LOG   reads URL and URL.zarr, and compares with PATH; LOG is the log of the server: the bytes of each answer
"""

import os
import shutil
import sys
import time

import blosc2
import numpy as np
import zarr


def write(path):
    array = blosc2.open(path)
    shutil.rmtree(path + ".zarr", ignore_errors=True)
    codec = zarr.codecs.BloscCodec(cname="zstd", clevel=1, shuffle="shuffle", typesize=array.dtype.itemsize)
    copy = zarr.create_array(
        store=path + ".zarr", shape=array.shape, dtype=array.dtype, shards=array.chunks, chunks=array.blocks, compressors=codec
    )
    for plane in range(array.shape[0]):
        copy[plane] = array[plane]


def open_zarr(url, pipeline):
    zarr.config.set({"codec_pipeline.path": pipeline, "async.concurrency": 16})
    return zarr.open_array(url + ".zarr", mode="r")


def answers(log):
    """Returns the number of answers of the server, and their bytes."""
    with open(log) as lines:
        sizes = [int(line) for line in lines]
    return np.array([len(sizes), sum(sizes)])


def read(url, path, log):
    local = blosc2.open(path)
    planes = local.shape[0]
    count = min(planes, 100)
    steps = {
        "an item": (planes // 2, 1000, 700),
        "another item of its block": (planes // 2, 1010, 720),
        f"an item of each of {count} chunks": (slice(0, count), 10, 10),
        f"a row of each of {count} chunks": (slice(0, count), 600, slice(None)),
        "a plane": (planes - 1, slice(None), slice(None)),
    }
    import zarrs  # noqa: F401, registers the pipeline

    readers = {
        "python-blosc2": lambda: blosc2.open(url),
        "zarr-python, fsspec": lambda: open_zarr(url, "zarr.core.codec_pipeline.BatchedCodecPipeline"),
        "zarr-python, zarrs": lambda: open_zarr(url, "zarrs.ZarrsCodecPipeline"),
    }
    for name, reader in readers.items():
        before, start = answers(log), time.perf_counter()
        array = reader()

        def report(step):
            nonlocal before, start
            seconds, now = time.perf_counter() - start, answers(log)
            requests, nbytes = now - before
            print(f"{name:<20} {step:<34} {requests:>4} requests {nbytes:>10} bytes {seconds:>7.3f} s", flush=True)
            before, start = answers(log), time.perf_counter()

        report("open")
        for step, at in steps.items():
            items = np.asarray(array[at])
            report(step)
            assert np.array_equal(items, local[at]), f"{name} returned wrong items"
            start = time.perf_counter()


if sys.argv[1] == "write":
    write(sys.argv[2])
else:
    read(*sys.argv[2:])
    sys.stdout.flush()
    os._exit(0)  # Threads of fsspec may be running.

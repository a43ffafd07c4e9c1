"""Compresses a buffer, writes and reads a frame, and slices an array, through ctypes: nothing but Python is needed.

    python3 python_ctypes.py path/to/libblosc2.so.9
"""

import array
import ctypes as c
import os
import sys
import tempfile

lib = c.CDLL(sys.argv[1])
bytes_p = c.c_void_p


class Storage(c.Structure):
    """blosc2_storage; a NULL field has its default value."""

    _fields_ = [
        ("contiguous", c.c_bool),
        ("urlpath", c.c_char_p),
        ("cparams", c.c_void_p),
        ("dparams", c.c_void_p),
        ("io", c.c_void_p),
    ]


def function(name, result, *arguments):
    f = getattr(lib, name)
    f.restype, f.argtypes = result, arguments
    return f


compress = function("blosc2_compress", c.c_int, c.c_int, c.c_int, c.c_int32, bytes_p, c.c_int32, bytes_p, c.c_int32)
decompress = function("blosc2_decompress", c.c_int, bytes_p, c.c_int32, bytes_p, c.c_int32)
schunk_new = function("blosc2_schunk_new", c.c_void_p, c.POINTER(Storage))
schunk_append = function("blosc2_schunk_append_buffer", c.c_int64, c.c_void_p, bytes_p, c.c_int32)
schunk_open = function("blosc2_schunk_open", c.c_void_p, c.c_char_p)
schunk_chunk = function("blosc2_schunk_decompress_chunk", c.c_int, c.c_void_p, c.c_int64, bytes_p, c.c_int32)
schunk_free = function("blosc2_schunk_free", c.c_int, c.c_void_p)
create_ctx = function(
    "b2nd_create_ctx", c.c_void_p, c.POINTER(Storage), c.c_int8, c.c_void_p, c.c_void_p, c.c_void_p, c.c_char_p,
    c.c_int8, c.c_void_p, c.c_int32)
free_ctx = function("b2nd_free_ctx", c.c_int, c.c_void_p)
from_cbuffer = function("b2nd_from_cbuffer", c.c_int, c.c_void_p, c.POINTER(c.c_void_p), bytes_p, c.c_int64)
get_slice = function(
    "b2nd_get_slice_cbuffer", c.c_int, c.c_void_p, c.c_void_p, c.c_void_p, bytes_p, c.c_void_p, c.c_int64)
array_free = function("b2nd_free", c.c_int, c.c_void_p)

items = array.array("q", (i // 3 for i in range(100_000)))
nbytes = len(items) * 8
data = (c.c_int64 * len(items)).from_buffer(items)
chunk = c.create_string_buffer(nbytes + 32)
back = (c.c_int64 * len(items))()
cbytes = compress(5, 1, 8, data, nbytes, chunk, len(chunk))
assert 0 < cbytes < nbytes // 10, cbytes
assert decompress(chunk, cbytes, back, nbytes) == nbytes and bytes(back) == bytes(data)

with tempfile.TemporaryDirectory() as directory:
    path = os.path.join(directory, "frame.b2frame").encode()
    schunk = schunk_new(c.byref(Storage(contiguous=True, urlpath=path)))
    assert [schunk_append(schunk, data, nbytes) for _ in range(3)] == [1, 2, 3]
    schunk_free(schunk)
    schunk = schunk_open(path)
    back = (c.c_int64 * len(items))()
    assert schunk_chunk(schunk, 2, back, nbytes) == nbytes and bytes(back) == bytes(data)
    schunk_free(schunk)

shape, chunkshape, blockshape = (c.c_int64 * 2)(250, 400), (c.c_int32 * 2)(100, 100), (c.c_int32 * 2)(20, 30)
ctx = create_ctx(c.byref(Storage()), 2, shape, chunkshape, blockshape, b"<i8", 0, None, 0)
matrix = c.c_void_p()
assert from_cbuffer(ctx, c.byref(matrix), data, nbytes) == 0
free_ctx(ctx)
start, stop, size = (c.c_int64 * 2)(95, 7), (c.c_int64 * 2)(105, 9), (c.c_int64 * 2)(10, 2)
box = (c.c_int64 * 20)()
assert get_slice(matrix, start, stop, box, size, 160) == 0
assert list(box) == [items[400 * row + column] for row in range(95, 105) for column in (7, 8)]
array_free(matrix)
print(f"ctypes: {nbytes} -> {cbytes} bytes, frame and slice right")

"""The same as python_ctypes.py with cffi in its ABI mode: declarations as in C, no compiler needed.

    python3 python_cffi.py path/to/libblosc2.so.9
"""

import os
import sys
import tempfile

from cffi import FFI

ffi = FFI()
ffi.cdef("""
typedef struct { bool contiguous; char *urlpath; void *cparams; void *dparams; void *io; } blosc2_storage;
typedef struct blosc2_schunk blosc2_schunk;
typedef struct b2nd_context_s b2nd_context_t;
typedef struct b2nd_array b2nd_array_t;
int blosc2_compress(int clevel, int doshuffle, int32_t typesize, const void *src, int32_t srcsize, void *dest, int32_t destsize);
int blosc2_decompress(const void *src, int32_t srcsize, void *dest, int32_t destsize);
blosc2_schunk *blosc2_schunk_new(blosc2_storage *storage);
int64_t blosc2_schunk_append_buffer(blosc2_schunk *schunk, const void *src, int32_t nbytes);
blosc2_schunk *blosc2_schunk_open(const char *urlpath);
int blosc2_schunk_decompress_chunk(blosc2_schunk *schunk, int64_t nchunk, void *dest, int32_t nbytes);
int blosc2_schunk_free(blosc2_schunk *schunk);
b2nd_context_t *b2nd_create_ctx(const blosc2_storage *storage, int8_t ndim, const int64_t *shape, const int32_t *chunkshape,
  const int32_t *blockshape, const char *dtype, int8_t dtype_format, const void *metalayers, int32_t nmetalayers);
int b2nd_free_ctx(b2nd_context_t *ctx);
int b2nd_from_cbuffer(b2nd_context_t *ctx, b2nd_array_t **array, const void *buffer, int64_t buffersize);
int b2nd_get_slice_cbuffer(const b2nd_array_t *array, const int64_t *start, const int64_t *stop, void *buffer,
  const int64_t *buffershape, int64_t buffersize);
int b2nd_free(b2nd_array_t *array);
""")
lib = ffi.dlopen(sys.argv[1])

items = [i // 3 for i in range(100_000)]
data = ffi.new("int64_t[]", items)
nbytes = ffi.sizeof(data)
chunk = ffi.new("uint8_t[]", nbytes + 32)
back = ffi.new("int64_t[]", len(items))
cbytes = lib.blosc2_compress(5, 1, 8, data, nbytes, chunk, len(chunk))
assert 0 < cbytes < nbytes // 10, cbytes
assert lib.blosc2_decompress(chunk, cbytes, back, nbytes) == nbytes and list(back) == items

with tempfile.TemporaryDirectory() as directory:
    path = ffi.new("char[]", os.path.join(directory, "frame.b2frame").encode())
    schunk = lib.blosc2_schunk_new(ffi.new("blosc2_storage *", {"contiguous": True, "urlpath": path}))
    assert [lib.blosc2_schunk_append_buffer(schunk, data, nbytes) for _ in range(3)] == [1, 2, 3]
    lib.blosc2_schunk_free(schunk)
    schunk = lib.blosc2_schunk_open(path)
    back = ffi.new("int64_t[]", len(items))
    assert lib.blosc2_schunk_decompress_chunk(schunk, 2, back, nbytes) == nbytes and list(back) == items
    lib.blosc2_schunk_free(schunk)

ctx = lib.b2nd_create_ctx(ffi.new("blosc2_storage *"), 2, [250, 400], [100, 100], [20, 30], b"<i8", 0, ffi.NULL, 0)
matrix = ffi.new("b2nd_array_t **")
assert lib.b2nd_from_cbuffer(ctx, matrix, data, nbytes) == 0
lib.b2nd_free_ctx(ctx)
box = ffi.new("int64_t[20]")
assert lib.b2nd_get_slice_cbuffer(matrix[0], [95, 7], [105, 9], box, [10, 2], 160) == 0
assert list(box) == [items[400 * row + column] for row in range(95, 105) for column in (7, 8)]
lib.b2nd_free(matrix[0])
print(f"cffi: {nbytes} -> {cbytes} bytes, frame and slice right")

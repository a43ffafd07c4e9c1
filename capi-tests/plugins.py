"""The same as plugins.c, in Python through ctypes, with the same output.

    python3 plugins.py [--beside OTHER.so] [--import PACKAGE] LIBRARY.so write CODEC META TYPESIZE FILE
    python3 plugins.py [--beside OTHER.so] [--import PACKAGE] LIBRARY.so read TYPESIZE FILE

--beside first loads another Blosc2 library with global symbols, as Python packages of plugins do; --import imports such
a package.
"""

import argparse
import ctypes as c
import importlib
import sys

from arrays import Array, Context, Cparams, Storage, lengths

SHAPE, CHUNKS, BLOCKS = (192, 160), (96, 80), (48, 40)
START, STOP, PIECE = (40, 70), (110, 95), (70, 25)
DTYPES = {1: b"|u1", 2: b"<u2", 4: b"<u4"}
NEVER_SPLIT = 2


def checksum(data):
    total = 2166136261
    for byte in data:
        total = ((total ^ byte) * 16777619) & 0xFFFFFFFF
    return total


def image(typesize):
    data = bytearray()
    for row in range(SHAPE[0]):
        for column in range(SHAPE[1]):
            value = row * 3 + column * 2 + row * column // 64 + (row * 7 + column * 13) % 5
            data += (value % 251 if typesize == 1 else value).to_bytes(typesize, "little")
    return bytes(data)


def read(lib, typesize, path):
    array = c.POINTER(Array)()
    code = lib.b2nd_open(path, c.byref(array))
    print("open:", code)
    if code < 0:
        return 1
    original = image(typesize)
    buffer = c.create_string_buffer(len(original))
    code = lib.b2nd_to_cbuffer(array, buffer, c.c_int64(len(original)))
    print("to_cbuffer:", code)
    if code >= 0:
        different = sum(a != b for a, b in zip(buffer.raw, original))
        print("data: %d bytes, checksum %08x, %d bytes differ from the image"
              % (len(original), checksum(buffer.raw), different))
        piece = c.create_string_buffer(PIECE[0] * PIECE[1] * typesize)
        code = lib.b2nd_get_slice_cbuffer(array, lengths(START), lengths(STOP), piece, lengths(PIECE),
                                          c.c_int64(len(piece)))
        print("slice: %d, checksum %08x" % (code, 0 if code < 0 else checksum(piece.raw)))
    lib.b2nd_free(array)
    return 1 if code < 0 else 0


def write(lib, codec, meta, typesize, path):
    cparams = lib.blosc2_get_blosc2_cparams_defaults()
    cparams.typesize, cparams.compcode, cparams.compcode_meta = typesize, codec, meta
    cparams.filters, cparams.splitmode = (c.c_uint8 * 6)(), NEVER_SPLIT
    storage = Storage(True, path, c.pointer(cparams), None, None)
    lib.blosc2_remove_urlpath(path)
    context = lib.b2nd_create_ctx(c.byref(storage), c.c_int8(2), lengths(SHAPE), lengths(CHUNKS, c.c_int32),
                                  lengths(BLOCKS, c.c_int32), DTYPES[typesize], c.c_int8(0), None, c.c_int32(0))
    if not context:
        print("create_ctx: NULL")
        return 1
    original = image(typesize)
    array = c.POINTER(Array)()
    code = lib.b2nd_from_cbuffer(context, c.byref(array), original, c.c_int64(len(original)))
    print("from_cbuffer:", code)
    if code >= 0:
        lib.b2nd_free(array)
    lib.b2nd_free_ctx(context)
    return 1 if code < 0 else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--beside")
    parser.add_argument("--import", dest="package")
    parser.add_argument("library")
    parser.add_argument("what", choices=["write", "read"])
    parser.add_argument("arguments", nargs="+")
    args = parser.parse_args()
    if args.beside:
        c.CDLL(args.beside, mode=c.RTLD_GLOBAL)
    if args.package:
        importlib.import_module(args.package)
    lib = c.CDLL(args.library)
    lib.blosc2_get_blosc2_cparams_defaults.restype = Cparams
    lib.b2nd_create_ctx.restype = Context
    lib.blosc2_init()
    *numbers, path = args.arguments
    work = {"write": write, "read": read}[args.what]
    failed = work(lib, *map(int, numbers), path.encode())
    lib.blosc2_destroy()
    sys.exit(failed)


if __name__ == "__main__":
    main()

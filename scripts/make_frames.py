#!/usr/bin/env python3
"""Writes one file of frames with the release of the PyPI package `blosc2` that Python finds: see make-fixtures.py.

    PYTHONPATH=<site of the release> scripts/make_frames.py <out.bin>

Container (all integers little-endian):
    "B2FR" | u32 number of records | records
    record: u32 length | description | u32 number of files | files
    file: u32 length | name | u32 length | bytes
A contiguous frame has one file, `frame`; a sparse one has the files of its directory.

A description is lines of text, the expectations of tests/old_files/frames:
    release <library version>            the first record, which has no files
    name <text>
    chunk <formula> <nbytes> <typesize>  a chunk, in order; the formulas are make_data's, and
                                         `nans`, `uninit` (any bytes), `hex:<digits>`
    meta <name> <hex>                    a metalayer, in order
    vlmeta <name> <hex>                  a variable-length metalayer
"""

import ctypes
import glob
import importlib.util
import os
import pathlib
import shutil
import struct
import sys
import tempfile

if sys.argv[1:] in (["-h"], ["--help"]):
    # Before the imports below, which need the packages.
    print(__doc__)
    sys.exit()

import blosc2
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
_spec = importlib.util.spec_from_file_location("make_fixtures", HERE / "make-fixtures.py")
make_fixtures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make_fixtures)
make_data = make_fixtures.make_data

Codec, Filter = blosc2.Codec, blosc2.Filter


class Record:
    """A frame that is being made, and its expected content."""

    def __init__(self, name, sparse, work):
        self.lines = [f"name {name} {'sparse' if sparse else 'contiguous'}"]
        self.sparse = sparse
        self.path = os.path.join(work, f"{name}-{int(sparse)}.b2frame")
        self.chunks = []

    def files(self):
        if self.sparse:
            names = sorted(os.listdir(self.path))
            return [(name, pathlib.Path(self.path, name).read_bytes()) for name in names]
        return [("frame", pathlib.Path(self.path).read_bytes())]

    def metas(self):
        """The metalayers of the header, read by the layout of the format (fixed offsets, big-endian)."""
        data = dict(self.files())["chunks.b2frame" if self.sparse else "frame"]
        (count,) = struct.unpack(">H", data[0x5C:0x5E])
        at = 0x5E
        for _ in range(count):
            length = data[at] & 0x1F
            name = data[at + 1:at + 1 + length].decode()
            (offset,) = struct.unpack(">i", data[at + 2 + length:at + 6 + length])
            (size,) = struct.unpack(">i", data[offset + 1:offset + 5])
            yield name, data[offset + 5:offset + 5 + size]
            at += 6 + length

    def description(self):
        chunks = [f"chunk {chunk}" for chunk in self.chunks]
        metas = [f"meta {name} {content.hex()}" for name, content in self.metas()]
        return "\n".join(self.lines + chunks + metas)


def params(codec=Codec.BLOSCLZ, typesize=4, filters=None, **more):
    filters = [Filter.SHUFFLE] if filters is None else filters
    # One thread: only then the old packages write reproducible frames.
    return {"codec": codec, "typesize": typesize, "clevel": 5, "nthreads": 1, "filters": filters,
            "filters_meta": [0] * len(filters), **more}


def packed(value):
    import msgpack
    return msgpack.packb(value, use_bin_type=True)


def schunk_of(record, cparams, chunksize, **more):
    return blosc2.SChunk(chunksize=chunksize, contiguous=not record.sparse, urlpath=record.path, cparams=cparams, **more)


def append(schunk, record, kind, nbytes, typesize):
    schunk.append_data(make_data(kind, nbytes, typesize))
    record.chunks.append(f"{kind} {nbytes} {typesize}")


def with_codec(codec, filters, typesize=4):
    def build(record):
        schunk = schunk_of(record, params(codec, typesize, filters, blocksize=512 // typesize * typesize), 2000 * typesize // 4)
        for kind in ("series", "text", "noise"):
            append(schunk, record, kind, 2000 * typesize // 4, typesize)
        append(schunk, record, "series", 300 * typesize, typesize)
    return build


def with_dictionary(codec):
    def build(record):
        schunk = schunk_of(record, params(codec, 1, use_dict=True, blocksize=1024), 9000)
        append(schunk, record, "text", 9000, 1)
        append(schunk, record, "text", 9000, 1)
    return build


def empty(record):
    schunk_of(record, params(), 4000)


def special(kind):
    def build(record):
        schunk = schunk_of(record, params(typesize=8), 800)
        value = {"zeros": blosc2.SpecialValue.ZERO, "nans": blosc2.SpecialValue.NAN,
                 "uninit": blosc2.SpecialValue.UNINIT}[kind]
        schunk.fill_special(450, value)
        record.chunks += [f"{kind} 800 8"] * 4 + [f"{kind} 400 8"]
        schunk.update_data(1, make_data("series", 800, 8), copy=True)
        record.chunks[1] = "series 800 8"
    return build


def changed(record):
    """Makes holes, offsets out of order, files with gaps in their numbers, and a chunk that became special."""
    schunk = schunk_of(record, params(), 1200)
    for kind in ("series", "text", "noise", "constant", "series"):
        append(schunk, record, kind, 1200, 4)
    schunk.insert_data(1, make_data("mixed", 1200, 4), copy=True)
    record.chunks.insert(1, "mixed 1200 4")
    schunk.update_data(0, make_data("noise", 1200, 4), copy=True)
    record.chunks[0] = "noise 1200 4"
    schunk.delete_chunk(3)
    del record.chunks[3]
    schunk.update_data(2, bytes(1200), copy=True)
    record.chunks[2] = "zeros 1200 4"
    append(schunk, record, "text", 700, 4)


def with_metalayers(record):
    metas = {"first": b"some bytes", "second": 42, "third": "x" * 300}
    schunk = schunk_of(record, params(), 2000, meta=metas)
    append(schunk, record, "series", 2000, 4)
    expect_metas = [(name, packed(value)) for name, value in metas.items()]
    assert list(record.metas()) == expect_metas, list(record.metas())
    values = {"short": b"abc", "long": b"blosc2" * 500, "number": 2**40, "gone": b"", "empty": b""}
    for name, value in values.items():
        schunk.vlmeta[name] = value
    schunk.vlmeta["short"] = b"a longer value than before"
    del schunk.vlmeta["gone"]
    del values["gone"]
    values["short"] = b"a longer value than before"
    record.lines += [f"vlmeta {name} {packed(value).hex()}" for name, value in values.items()]


def with_vlmetalayers(record):
    schunk = schunk_of(record, params(), 2000)
    append(schunk, record, "series", 2000, 4)
    schunk.vlmeta["name"] = b"blosc2" * 50
    record.lines.append(f"vlmeta name {packed(b'blosc2' * 50).hex()}")


def array(record):
    # Blocks are whole rows, so that a chunk's bytes are rows in their order.
    data = np.frombuffer(make_data("series", 5 * 150 * 4, 4), dtype="i4").reshape(5, 150)
    blosc2.asarray(data, chunks=(2, 150), blocks=(1, 150), urlpath=record.path, contiguous=not record.sparse,
                   cparams=params())
    # The last chunk is padded with zeros.
    whole = data.tobytes() + bytes(600)
    record.chunks += [f"hex:{whole[i:i + 1200].hex()} 1200 4" for i in range(0, len(whole), 1200)]


# ---- frames that need the C functions, which are exported from 4.0 on ----------------------------

class Storage(ctypes.Structure):
    _fields_ = [("contiguous", ctypes.c_bool), ("urlpath", ctypes.c_char_p), ("cparams", ctypes.c_void_p),
                ("dparams", ctypes.c_void_p), ("io", ctypes.c_void_p)]


class Cparams(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint64 * 17)]


def c_library():
    found = glob.glob(os.path.join(os.path.dirname(blosc2.__file__), "lib", "libblosc2.so.[0-9]"))
    if not found:
        raise LookupError("the C functions of this release are hidden")
    library = ctypes.CDLL(found[0])
    library.blosc2_schunk_new.restype = ctypes.c_void_p
    library.blosc2_create_cctx.restype = ctypes.c_void_p
    library.blosc2_create_cctx.argtypes = [Cparams]
    library.blosc2_get_blosc2_cparams_defaults.restype = Cparams
    for name in ("append_buffer", "append_chunk"):
        getattr(library, f"blosc2_schunk_{name}").restype = ctypes.c_int64
    library.blosc2_init()
    return library


def c_schunk(library, record):
    storage = Storage(not record.sparse, record.path.encode(), None, None, None)
    schunk = library.blosc2_schunk_new(ctypes.byref(storage))
    assert schunk
    return ctypes.c_void_p(schunk)


def variable_chunks(record):
    library = c_library()
    schunk = c_schunk(library, record)
    for number, (kind, nbytes) in enumerate([("series", 800), ("text", 80), ("noise", 1600), ("series", 8)]):
        data = make_data(kind, nbytes, 8)
        if library.blosc2_schunk_append_buffer(schunk, data, nbytes) != number + 1:
            raise LookupError("no variable-size chunks in this release")
        record.chunks.append(f"{kind} {nbytes} 8")
    library.blosc2_schunk_free(schunk)


def variable_blocks(record):
    library = c_library()
    if not hasattr(library, "blosc2_vlcompress_ctx"):
        raise LookupError("no variable-length blocks in this release")
    schunk = c_schunk(library, record)
    context = ctypes.c_void_p(library.blosc2_create_cctx(library.blosc2_get_blosc2_cparams_defaults()))
    for sizes in ((1000, 8, 320), (48,), (16, 16, 16, 2000)):
        blocks = [make_data("text", size, 8) for size in sizes]
        sources = (ctypes.c_char_p * len(sizes))(*blocks)
        lengths = (ctypes.c_int32 * len(sizes))(*sizes)
        dest = ctypes.create_string_buffer(10000)
        n = library.blosc2_vlcompress_ctx(context, sources, lengths, len(sizes), dest, 10000)
        assert n > 0
        assert library.blosc2_schunk_append_chunk(schunk, dest, ctypes.c_bool(True)) > 0
        record.chunks.append(f"hex:{b''.join(blocks).hex()} {sum(sizes)} 8")
    library.blosc2_free_ctx(context)
    library.blosc2_schunk_free(schunk)


def caterva(record):
    """Makes an array of the predecessor of b2nd, whose metalayer has shapes but no data type."""
    library = c_library()
    schunk = c_schunk(library, record)
    shapes = bytes([0x95, 0, 1]) + b"\x91\xd3" + struct.pack(">q", 250)
    shapes += b"\x91\xd2" + struct.pack(">i", 100) + b"\x91\xd2" + struct.pack(">i", 50)
    assert library.blosc2_meta_add(schunk, b"caterva", shapes, len(shapes)) == 0
    for _ in range(2):
        assert library.blosc2_schunk_append_buffer(schunk, make_data("series", 800, 8), 800) > 0
        record.chunks.append("series 800 8")
    tail = make_data("series", 400, 8) + bytes(400)
    assert library.blosc2_schunk_append_buffer(schunk, tail, 800) == 3
    record.chunks.append(f"hex:{tail.hex()} 800 8")
    library.blosc2_schunk_free(schunk)


def cases():
    for codec in (Codec.BLOSCLZ, Codec.LZ4, Codec.LZ4HC, Codec.ZLIB, Codec.ZSTD):
        yield f"{codec.name.lower()}-shuffle", with_codec(codec, [Filter.SHUFFLE]), codec in (Codec.BLOSCLZ, Codec.ZSTD)
    yield "lz4-bitshuffle", with_codec(Codec.LZ4, [Filter.BITSHUFFLE]), False
    yield "zstd-delta-shuffle", with_codec(Codec.ZSTD, [Filter.DELTA, Filter.SHUFFLE]), False
    yield "zlib-nofilter", with_codec(Codec.ZLIB, []), False
    yield "lz4-typesize-17", with_codec(Codec.LZ4, [Filter.SHUFFLE], 17), False
    yield "dictionary", with_dictionary(Codec.ZSTD), True
    yield "empty", empty, True
    for kind in ("zeros", "nans", "uninit"):
        yield f"special-{kind}", special(kind), kind == "zeros"
    yield "changed", changed, True
    yield "metalayers", with_metalayers, True
    yield "vlmetalayers", with_vlmetalayers, False
    yield "array", array, True
    yield "variable-chunks", variable_chunks, True
    yield "variable-blocks", variable_blocks, True
    yield "caterva", caterva, False


def main(out):
    library = str(getattr(blosc2, "blosclib_version", "unknown")).split()[0]
    records = [(f"release {library}", [])]
    left_out = []
    with tempfile.TemporaryDirectory() as work:
        for name, build, both in cases():
            for sparse in (False, True) if both else (False,):
                record = Record(name, sparse, work)
                try:
                    build(record)
                except (AttributeError, LookupError, ValueError, TypeError, RuntimeError, NotImplementedError) as reason:
                    left_out.append(f"{name} ({type(reason).__name__}: {str(reason)[:60]})")
                    shutil.rmtree(record.path, ignore_errors=True)
                    continue
                records.append((record.description(), record.files()))
    pathlib.Path(out).parent.mkdir(parents=True, exist_ok=True)
    with open(out, "wb") as file:
        def sized(data):
            file.write(struct.pack("<I", len(data)) + data)
        file.write(b"B2FR" + struct.pack("<I", len(records)))
        for description, files in records:
            sized(description.encode())
            file.write(struct.pack("<I", len(files)))
            for name, data in files:
                sized(name.encode())
                sized(data)
    print(f"blosc2-{blosc2.__version__}: library {library}, {len(records) - 1} frames, {os.path.getsize(out)} bytes")
    for text in left_out:
        print(f"    without {text}")


if __name__ == "__main__":
    main(sys.argv[1])

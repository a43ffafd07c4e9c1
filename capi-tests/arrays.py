"""Arrays of three dimensions from Python, through ctypes alone: created, sliced, changed, saved and opened again, and
compared with numpy, or with plain loops where there is none.

    python3 arrays.py <libblosc2.so> <empty directory>

Prints what the results are compared with, and then a line for each kind of storage that passes.
"""

import array
import ctypes as c
import os
import sys

try:
    import numpy
except ImportError:
    numpy = None

SHAPE, CHUNKS, BLOCKS = (17, 23, 19), (7, 10, 8), (3, 5, 4)


class Cparams(c.Structure):
    _fields_ = [
        ("compcode", c.c_uint8), ("compcode_meta", c.c_uint8), ("clevel", c.c_uint8), ("use_dict", c.c_int),
        ("typesize", c.c_int32), ("nthreads", c.c_int16), ("blocksize", c.c_int32), ("splitmode", c.c_int32),
        ("schunk", c.c_void_p), ("filters", c.c_uint8 * 6), ("filters_meta", c.c_uint8 * 6),
        ("prefilter", c.c_void_p), ("preparams", c.c_void_p), ("tuner_params", c.c_void_p),
        ("tuner_id", c.c_int), ("instr_codec", c.c_bool), ("codec_params", c.c_void_p),
        ("filter_params", c.c_void_p * 6),
    ]


class Storage(c.Structure):
    _fields_ = [
        ("contiguous", c.c_bool), ("urlpath", c.c_char_p), ("cparams", c.POINTER(Cparams)),
        ("dparams", c.c_void_p), ("io", c.c_void_p),
    ]


class Array(c.Structure):
    """The first fields of b2nd_array_t."""
    _fields_ = [("sc", c.c_void_p), ("shape", c.c_int64 * 16), ("chunkshape", c.c_int32 * 16)]


class Context(c.c_void_p):
    """A separate type: ctypes would pass a plain pointer as a 32-bit int."""


class Plain:
    """An array as a list of items in C order, for systems without numpy."""

    def __init__(self, shape, items):
        self.shape, self.items = shape, items

    def flat(self, at):
        return (at[0] * self.shape[1] + at[1]) * self.shape[2] + at[2]

    def places(self, start, stop):
        return [self.flat((i, j, k)) for i in range(start[0], stop[0])
                for j in range(start[1], stop[1]) for k in range(start[2], stop[2])]

    def get(self, start, stop):
        return array.array("i", [self.items[place] for place in self.places(start, stop)]).tobytes()

    def set(self, start, stop, box):
        for place, value in zip(self.places(start, stop), box):
            self.items[place] = value

    def extended(self, planes, value):
        shape = (self.shape[0], self.shape[1] + planes, self.shape[2])
        longer = Plain(shape, array.array("i", [value]) * (shape[0] * shape[1] * shape[2]))
        for i in range(shape[0]):
            for j in range(self.shape[1]):
                for k in range(shape[2]):
                    longer.items[longer.flat((i, j, k))] = self.items[self.flat((i, j, k))]
        return longer

    def tobytes(self):
        return self.items.tobytes()


class Numpy:
    """The same as `Plain`, with numpy."""

    def __init__(self, shape, items):
        self.shape, self.items = shape, numpy.array(items, dtype=numpy.int32).reshape(shape)

    @staticmethod
    def box(start, stop):
        return tuple(slice(a, b) for a, b in zip(start, stop))

    def get(self, start, stop):
        return self.items[self.box(start, stop)].tobytes()

    def set(self, start, stop, box):
        extent = [b - a for a, b in zip(start, stop)]
        self.items[self.box(start, stop)] = numpy.array(box, dtype=numpy.int32).reshape(extent)

    def extended(self, planes, value):
        more = numpy.full((self.shape[0], planes, self.shape[2]), value, dtype=numpy.int32)
        items = numpy.concatenate([self.items, more], axis=1)
        return Numpy(items.shape, items)

    def tobytes(self):
        return self.items.tobytes()


def lengths(values, kind=c.c_int64):
    return (kind * len(values))(*values)


def right(condition, what):
    if not condition:
        sys.exit("failed: %s" % what)


def compare(lib, handle, model, what):
    right(tuple(handle.contents.shape[:3]) == tuple(model.shape), what + ": shape")
    whole = model.tobytes()
    buffer = c.create_string_buffer(len(whole))
    right(lib.b2nd_to_cbuffer(handle, buffer, c.c_int64(len(whole))) == 0, what + ": to_cbuffer")
    right(buffer.raw == whole, what + ": items")
    n = model.shape
    boxes = [((0, 0, 0), (1, n[1], n[2])), ((0, 5, 0), (n[0], 6, n[2])), ((0, 0, n[2] - 1), (n[0], n[1], n[2])),
             ((3, 4, 5), (4, 5, 6)), ((7, 10, 8), (14, 20, 16)), ((2, 3, 4), (15, 22, 18)), ((5, 5, 5), (5, 9, 9))]
    for start, stop in boxes:
        extent = [b - a for a, b in zip(start, stop)]
        size = 4 * extent[0] * extent[1] * extent[2]
        buffer = c.create_string_buffer(size + 1)
        code = lib.b2nd_get_slice_cbuffer(handle, lengths(start), lengths(stop), buffer, lengths(extent), c.c_int64(size))
        right(code == 0 and buffer.raw[:size] == model.get(start, stop), "%s: %s to %s" % (what, start, stop))


def run(lib, directory, contiguous, on_disk, model):
    name = ("file" if contiguous else "directory") if on_disk else ("frame" if contiguous else "memory")
    path = os.path.join(directory, name + ".b2nd").encode()
    cparams = lib.blosc2_get_blosc2_cparams_defaults()
    cparams.typesize, cparams.compcode, cparams.nthreads = 4, 1, 2
    storage = Storage(contiguous, path if on_disk else None, c.pointer(cparams), None, None)
    context = lib.b2nd_create_ctx(c.byref(storage), c.c_int8(3), lengths(SHAPE), lengths(CHUNKS, c.c_int32),
                                  lengths(BLOCKS, c.c_int32), b"<i4", c.c_int8(0), None, c.c_int32(0))
    right(context, name + ": a context")
    count = SHAPE[0] * SHAPE[1] * SHAPE[2]
    items = array.array("i", [at * 7 // 3 for at in range(count)])
    plain = model(SHAPE, items)
    handle = c.POINTER(Array)()
    code = lib.b2nd_from_cbuffer(context, c.byref(handle), items.tobytes(), c.c_int64(4 * count))
    right(code == 0 and lib.b2nd_free_ctx(context) == 0, name + ": from_cbuffer")
    compare(lib, handle, plain, name)

    start, stop = (2, 5, 3), (12, 20, 18)
    box = array.array("i", [-at for at in range(10 * 15 * 15)])
    code = lib.b2nd_set_slice_cbuffer(box.tobytes(), lengths((10, 15, 15)), c.c_int64(4 * len(box)), lengths(start),
                                      lengths(stop), handle)
    right(code == 0, name + ": set_slice")
    plain.set(start, stop, box)
    compare(lib, handle, plain, name + ", a box written")

    more = array.array("i", [77]) * (17 * 3 * 19)
    right(lib.b2nd_append(handle, more.tobytes(), c.c_int64(4 * len(more)), c.c_int8(1)) == 0, name + ": append")
    plain = plain.extended(3, 77)
    compare(lib, handle, plain, name + ", appended to")

    copy = os.path.join(directory, "copy-" + name + ".b2nd").encode()
    right(lib.b2nd_save(handle, copy) == 0, name + ": save")
    right(lib.b2nd_free(handle) == 0, name + ": free")
    for file in [copy] + ([path] if on_disk else []):
        opened = c.POINTER(Array)()
        right(lib.b2nd_open(file, c.byref(opened)) == 0, name + ": open")
        compare(lib, opened, plain, name + ", opened")
        right(lib.b2nd_free(opened) == 0, name + ": free")
    print("ok", name)


def main():
    library, directory = sys.argv[1:]
    lib = c.CDLL(library)
    lib.blosc2_get_blosc2_cparams_defaults.restype = Cparams
    lib.b2nd_create_ctx.restype = Context
    lib.blosc2_init()
    model = Numpy if numpy else Plain
    print("compared with numpy" if numpy else "compared with plain loops: no numpy")
    for contiguous, on_disk in ((False, False), (True, False), (True, True), (False, True)):
        run(lib, directory, contiguous, on_disk, model)
    lib.blosc2_destroy()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes capi-tests/fixtures/{chunks,frames}/*.bin: chunks and frames made by old releases of Blosc.

One file per release of the PyPI packages `blosc` (C-Blosc 1.x) and `blosc2` (C-Blosc2). Each release
is fetched or built with pip in a temporary directory and run in a process of its own. The input data are
made by formula (see `make_data`, which tests/old_files/chunks.rs repeats), so a record is a description and a chunk.

    scripts/make-fixtures.py            # every release
    scripts/make-fixtures.py blosc-1.0.6 blosc2-0.2.0
    scripts/make-fixtures.py frames-2.0.0      # only the frames of blosc2 2.0.0

A release that cannot be fetched, built or run here is reported and its committed file left alone.

Container (all integers little-endian):
    "B2FX" | u32 number of records | records
    record: u32 length | description | u32 length | chunk
A description starts with the words data formula, nbytes, typesize; the rest (codec, filters, …) is printed in
error messages only. The first record has no chunk, and names the release and the version of its library.

Frames are made by scripts/make_frames.py, which this script runs in the same way. Its comment describes their
container.
"""

import ctypes
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

OUT = pathlib.Path(__file__).resolve().parent.parent / "capi-tests" / "fixtures" / "chunks"
MAGIC = b"B2FX"

# The way to call a release:
#   sdist    built from source here, library called through ctypes (its symbols are exported)
#   sdist-py built from source here, called through the Python package (its symbols are hidden)
#   wheel    the shared library inside the wheel, called through ctypes
#   wheel-py the Python package of the wheel, which must match the interpreter named
RELEASES = [
    ("blosc", "1.0.6", "sdist", None),
    ("blosc", "1.2.8", "sdist", None),
    ("blosc", "1.3.3", "sdist", None),
    ("blosc", "1.4.4", "sdist", None),
    ("blosc", "1.5.1", "sdist", None),
    ("blosc", "1.6.2", "sdist", None),
    ("blosc", "1.7.0", "sdist", None),
    ("blosc", "1.8.3", "sdist-py", None),
    ("blosc", "1.9.2", "sdist-py", None),
    ("blosc", "1.10.0", "wheel", "3.9"),
    ("blosc", "1.10.6", "wheel", "3.9"),
    ("blosc", "1.11.1", "wheel", "3.11"),
    ("blosc", "1.11.4", "wheel", "3.11"),
    ("blosc2", "0.1.5", "wheel-py", "3.9"),
    ("blosc2", "0.1.7", "wheel", "3.9"),
    ("blosc2", "0.1.8", "wheel", "3.9"),
    ("blosc2", "0.1.10", "wheel", "3.9"),
    ("blosc2", "0.2.0", "wheel", "3.9"),
    ("blosc2", "0.3.2", "wheel", "3.10"),
    ("blosc2", "0.4.1", "wheel", "3.10"),
    ("blosc2", "0.5.2", "wheel", "3.11"),
    ("blosc2", "0.6.1", "wheel", "3.11"),
    ("blosc2", "2.0.0", "wheel+py", "3.11"),
    ("blosc2", "2.2.9", "wheel+py", "3.11"),
    ("blosc2", "2.5.1", "wheel+py", "3.11"),
    ("blosc2", "2.7.1", "wheel+py", "3.11"),
    ("blosc2", "3.3.4", "wheel+py", "3.11"),
]

# The releases of `blosc2` that write frames here. Below 4.0 only the Python package can be called, so features that it lacks
# (variable-size chunks, arrays of the predecessor of b2nd) come from 4.0 and later. All have wheels for Python 3.11.
FRAME_RELEASES = ["2.0.0", "2.3.2", "2.7.1", "3.0.0", "3.12.2", "4.0.0", "4.14.1"]

CODECS = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]
SHUFFLES = {"none": 0, "shuffle": 1, "bitshuffle": 2}


# ---- input data --------------------------------------------------------------------------------

def lcg(seed):
    """Yields the bytes of Knuth's 64-bit linear congruential generator (its top byte at each step)."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        yield state >> 56


def make_data(kind, nbytes, typesize):
    """Returns the uncompressed bytes of a record. Must equal `make_data` of tests/old_files/chunks.rs."""
    if kind == "zeros":
        return bytes(nbytes)
    if kind == "constant":
        return bytes((37 + 11 * (i % typesize)) & 255 for i in range(nbytes))
    if kind == "series":
        out = bytearray()
        for i in range(-(-nbytes // typesize)):
            value = 1000 + 3 * (i // 8)
            out += bytes((value >> (8 * (b % 8))) & 255 for b in range(typesize))
        return bytes(out[:nbytes])
    if kind == "noise":
        source = lcg(nbytes)
        return bytes(next(source) for _ in range(nbytes))
    if kind == "mixed":
        half = nbytes // 2
        return make_data("series", half, typesize) + make_data("noise", nbytes - half, typesize)
    if kind == "text":
        words = [b"alpha ", b"beta ", b"gamma ", b"delta ", b"block ", b"chunk ", b"frame ", b"\n"]
        source, out = lcg(nbytes), bytearray()
        while len(out) < nbytes:
            out += words[next(source) % 8]
        return bytes(out[:nbytes])
    raise ValueError(kind)


# Releases at a change of the format; the others write a shorter set, to keep the repository small.
FULL = {"blosc-1.2.8", "blosc-1.11.4", "blosc2-0.1.5", "blosc2-0.2.0", "blosc2-3.3.4"}


# C-Blosc 1.7.0 sets the bitshuffle flag for typesize 1 but does not bitshuffle; only this release can read the result.
FALSE_BITSHUFFLE = {"blosc-1.2.8"}
# C-Blosc below 1.14 loses the bytes after the last whole item of a block when it bitshuffles.
LOST_TAIL = {"blosc-1.0.6", "blosc-1.2.8", "blosc-1.3.3", "blosc-1.4.4", "blosc-1.5.1"}


def cases(release):
    """(codec, filter, delta, typesize, nbytes, data, blocksize, clevel, nthreads)"""
    full = release in FULL
    for codec in CODECS:
        if codec == "snappy":
            # No release can read these any more: two chunks, to test that they are rejected.
            yield codec, "shuffle", 0, 4, 1004, "series", 512, 5, 1
            yield codec, "none", 0, 1, 700, "text", 0, 5, 1
            continue
        # These sizes leave a shorter last block, and 12 and 17 do not divide the block size.
        for typesize in (1, 2, 4, 8, 12, 17) if full else (4, 17):
            yield codec, "shuffle", 0, typesize, 2500 + typesize, "series", 1024, 5, 1
        for typesize in (1, 2, 4, 8, 12, 17) if full else (2,):
            if typesize > 1 or release not in FALSE_BITSHUFFLE:
                yield codec, "bitshuffle", 0, typesize, (1600 // typesize + 1) * typesize, "series", 512, 5, 1
        yield codec, "shuffle", 0, 8, 12000, "series", 4096, 1, 2
        yield codec, "shuffle", 1, 8, 3000, "series", 1024, 5, 1
        if full:
            yield codec, "none", 0, 4, 4000, "series", 0, 5, 1
            yield codec, "none", 0, 1, 700, "text", 256, 9, 1
            yield codec, "shuffle", 0, 4, 8192, "constant", 2048, 5, 1
            yield codec, "shuffle", 0, 2, 700, "mixed", 256, 5, 1
            yield codec, "bitshuffle", 0, 4, 4096, "series", 0, 9, 1
            for typesize in (1, 4, 12):
                yield codec, "shuffle", 1, typesize, 3000, "series", 1024, 5, 1
            yield codec, "bitshuffle", 1, 4, 3004, "series", 1024, 5, 1
            yield codec, "none", 1, 2, 3000, "series", 1024, 5, 1
    yield "blosclz", "shuffle", 0, 4, 9000, "zeros", 2048, 5, 1
    yield "blosclz", "shuffle", 0, 4, 500, "noise", 0, 5, 1
    yield "blosclz", "none", 0, 1, 333, "noise", 0, 0, 1
    yield "blosclz", "shuffle", 0, 8, 20, "series", 0, 5, 1
    if release not in LOST_TAIL:
        yield "blosclz", "bitshuffle", 0, 2, 501, "series", 0, 5, 1
    yield "blosclz", "shuffle", 0, 4, 0, "series", 0, 5, 1


# ---- calling a release (these run in the child process) ----------------------------------------

class Library:
    """A C-Blosc 1 or 2 library, called through the functions that all releases have, under any prefix."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path, mode=os.RTLD_LAZY)
        init = self.find("init")
        if init is not None:
            init()
        self.compressor = self.find("set_compressor")
        self.delta = self.find("set_delta") or self.find("set_dodelta")
        self.blocksize = self.find("set_blocksize")
        self.threads = self.find("set_nthreads")
        self.blocksize.argtypes = [ctypes.c_size_t]
        self.compress_fn = self.find("compress", first="blosc1")
        self.compress_fn.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t,
                                     ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]

    def find(self, name, first="blosc"):
        for prefix in (first, "blosc", "blosc1", "blosc2"):
            if hasattr(self.lib, f"{prefix}_{name}"):
                return getattr(self.lib, f"{prefix}_{name}")
        return None

    def version(self):
        call = self.find("get_version_string")
        if call is None:
            return "unknown"
        call.restype = ctypes.c_char_p
        return call().decode()

    def compress(self, codec, shuffle, delta, typesize, data, blocksize, clevel, nthreads):
        """Returns the chunk; None if the release lacks the codec or the filter."""
        if self.compressor is None:
            if codec != "blosclz":
                return None
        elif self.compressor(codec.encode()) < 0:
            self.compressor(b"blosclz")
            return None
        if delta and self.delta is None:
            return None
        if self.delta is not None:
            self.delta(delta)
        self.threads(nthreads)
        self.blocksize(blocksize)
        dest = ctypes.create_string_buffer(len(data) + 4096)
        n = self.compress_fn(clevel, SHUFFLES[shuffle], typesize, len(data), data, dest, len(dest))
        return dest.raw[:n] if n > 0 else None


class Package:
    """The Python package, for releases whose library cannot be called directly."""

    def __init__(self, name):
        self.module = __import__(name)
        self.name = name

    def version(self):
        for attribute in ("VERSION_STRING", "blosclib_version"):
            if hasattr(self.module, attribute):
                return str(getattr(self.module, attribute)).split()[0]
        return "unknown"

    def compress(self, codec, shuffle, delta, typesize, data, blocksize, clevel, nthreads):
        if delta or codec == "snappy" or not data:
            return None
        module = self.module
        module.set_nthreads(nthreads)
        if self.name == "blosc":
            if codec not in module.compressor_list():
                return None
            module.set_blocksize(blocksize)
            return module.compress(data, typesize, clevel, SHUFFLES[shuffle], codec)
        filters = {"none": "NOFILTER", "shuffle": "SHUFFLE", "bitshuffle": "BITSHUFFLE"}
        enums = getattr(module, "Filter", None)
        flt = getattr(enums, filters[shuffle]) if enums else getattr(module, filters[shuffle], SHUFFLES[shuffle])
        codecs = getattr(module, "Codec", None)
        cname = getattr(codecs, codec.upper()) if codecs else codec
        return module.compress(data, typesize, clevel, flt, cname)


def extended_records(module):
    """Yields chunks that only a context can make: dictionaries, two filters, split modes.

    The item width in the meta byte of shuffle is left out: these releases store it, but shuffle by the typesize.
    """
    codec, flt, split = module.Codec, module.Filter, module.SplitMode
    text, series = make_data("text", 9000, 1), make_data("series", 9000, 4)
    wanted = [
        ("dict-zstd", text, "text", 1, dict(codec=codec.ZSTD, use_dict=True, blocksize=1024)),
        ("delta-shuffle", series, "series", 4, dict(filters=[flt.DELTA, flt.SHUFFLE], filters_meta=[0, 0], blocksize=2048)),
        ("delta-bitshuffle", series, "series", 4, dict(filters=[flt.DELTA, flt.BITSHUFFLE], filters_meta=[0, 0], blocksize=2048)),
        ("always-split", series, "series", 4, dict(codec=codec.ZLIB, splitmode=split.ALWAYS_SPLIT, blocksize=2048)),
        ("never-split", series, "series", 4, dict(codec=codec.LZ4, splitmode=split.NEVER_SPLIT, blocksize=2048)),
    ]
    for name, data, kind, typesize, params in wanted:
        try:
            chunk = module.compress2(data, typesize=typesize, clevel=5, nthreads=1, **params)
        except (ValueError, TypeError, RuntimeError, AttributeError) as reason:
            print(f"    {name}: {reason}", file=sys.stderr)
            continue
        yield f"{kind} {len(data)} {typesize} {name}", chunk


def emit(api, where, release, out):
    caller = Package(where) if api == "py" else Library(where)
    records = [(f"{release} library {caller.version()}", b"")]
    for codec, shuffle, delta, typesize, nbytes, kind, blocksize, clevel, nthreads in cases(release):
        data = make_data(kind, nbytes, typesize)
        try:
            chunk = caller.compress(codec, shuffle, delta, typesize, data, blocksize, clevel, nthreads)
        except (ValueError, RuntimeError) as reason:
            print(f"    {codec} {shuffle} typesize {typesize}: {reason}", file=sys.stderr)
            continue
        if chunk is not None:
            records.append((f"{kind} {nbytes} {typesize} {codec} {shuffle}{'+delta' if delta else ''} "
                            f"blocksize {blocksize} clevel {clevel}", chunk))
    if api == "c+py":
        records += extended_records(__import__("blosc2"))
    with open(out, "wb") as file:
        file.write(MAGIC + struct.pack("<I", len(records)))
        for description, chunk in records:
            text = description.encode()
            file.write(struct.pack("<I", len(text)) + text + struct.pack("<I", len(chunk)) + chunk)
    print(f"{release}: library {caller.version()}, {len(records) - 1} chunks, {os.path.getsize(out)} bytes")


# ---- fetching a release ------------------------------------------------------------------------

def pip(python, *args, **extra_env):
    subprocess.run([python, "-m", "pip", "-q", "--disable-pip-version-check", *args], check=True,
                   env={**os.environ, **extra_env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def fetch_wheel(name, version, python_version, into):
    tag = python_version.replace(".", "")
    platforms = ["manylinux1", "manylinux2010", "manylinux2014", "manylinux_2_17", "manylinux_2_28"]
    args = [word for p in platforms for word in ("--platform", f"{p}_x86_64")]
    pip(sys.executable, "download", "--no-deps", "--only-binary=:all:", "--implementation", "cp",
        "--python-version", tag, "--abi", f"cp{tag}", *args, "-d", str(into), f"{name}=={version}")


def build_wheel(name, version, into, work):
    """Builds a wheel. Old sources need old tools: distutils of setuptools < 60, and a CMake that accepts old projects."""
    venv = work / "venv"
    if not venv.exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        pip(str(venv / "bin" / "python"), "install", "wheel", "setuptools<60", "cmake<4", "ninja", "scikit-build",
            "py-cpuinfo")
    python = str(venv / "bin" / "python")
    path = f"{venv / 'bin'}:{os.environ['PATH']}"
    # DISABLE_BLOSC_AVX2: releases 1.6 and 1.7 define a name that the headers of newer compilers define too.
    pip(python, "wheel", "--no-deps", "--no-build-isolation", "--no-binary", ":all:", "-w", str(into),
        f"{name}=={version}", CFLAGS="-w", DISABLE_BLOSC_AVX2="1", CMAKE_POLICY_VERSION_MINIMUM="3.5", PATH=path)


def shared_library(wheel, into):
    """Extracts the library of a wheel: a libblosc*.so, else the extension module that contains it."""
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if ".so" in os.path.basename(n)]
        names.sort(key=lambda n: (not os.path.basename(n).startswith("libblosc"), len(n)))
        path = into / os.path.basename(names[0])
        path.write_bytes(archive.read(names[0]))
    return path


def make(name, version, how, python_version, work):
    release = f"{name}-{version}"
    here = work / release
    here.mkdir()
    python = sys.executable
    if how.startswith("sdist"):
        build_wheel(name, version, here, work)
    else:
        fetch_wheel(name, version, python_version, here)
    wheel = next(here.glob("*.whl"))
    env = dict(os.environ)
    api, where = "c", ""
    if how != "sdist-py" and how != "wheel-py":
        where = str(shared_library(wheel, here))
    if how.endswith("py"):
        api = "c+py" if how == "wheel+py" else "py"
        if python_version and python_version != "%d.%d" % sys.version_info[:2]:
            found = shutil.which(f"python{python_version}")
            if found is None:
                raise FileNotFoundError(f"python{python_version}")
            python = found
        site = here / "site"
        pip(python, "install", "--target", str(site), str(wheel), "numpy<2")
        env["PYTHONPATH"] = str(site)
        where = where or name
    out = here / "out.bin"
    subprocess.run([python, __file__, "--emit", api, where, release, str(out)], check=True, env=env, cwd=here)
    shutil.copyfile(out, OUT / f"{release}.bin")


def make_frames(version, work):
    release = f"blosc2-{version}"
    site = work / f"frames-{version}"
    pip(sys.executable, "install", "--only-binary=:all:", "--target", str(site), release.replace("-", "=="), "numpy<2")
    script = pathlib.Path(__file__).resolve().parent / "make_frames.py"
    subprocess.run([sys.executable, str(script), str(OUT.parent / "frames" / f"{release}.bin")], check=True,
                   env={**os.environ, "PYTHONPATH": str(site)}, cwd=site)


def main():
    wanted = sys.argv[1:]
    OUT.mkdir(parents=True, exist_ok=True)
    failed = []
    with tempfile.TemporaryDirectory() as work:
        for name, version, how, python_version in RELEASES:
            if wanted and f"{name}-{version}" not in wanted:
                continue
            try:
                make(name, version, how, python_version, pathlib.Path(work))
            except (subprocess.CalledProcessError, FileNotFoundError, StopIteration) as reason:
                failed.append(f"{name}-{version}")
                print(f"{name}-{version}: FAILED ({type(reason).__name__}: {str(reason)[:200]})")
        for version in FRAME_RELEASES:
            if wanted and f"frames-{version}" not in wanted:
                continue
            try:
                make_frames(version, pathlib.Path(work))
            except subprocess.CalledProcessError as reason:
                failed.append(f"frames-{version}")
                print(f"frames-{version}: FAILED ({str(reason)[:200]})")
    if failed:
        sys.exit(f"failed: {' '.join(failed)}")


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
    elif sys.argv[1:2] == ["--emit"]:
        emit(*sys.argv[2:6])
    else:
        main()

#!/usr/bin/env python3
"""Writes capi-tests/fixtures/blosc1/*.bin: chunks made by releases of C-Blosc 1, in each split mode.

One file per release of the PyPI package `blosc`, of those that contain different versions of C-Blosc. Each release is
fetched or built with pip in a temporary directory and run in a process of its own. Container and data formulas are those
of scripts/make-fixtures.py, whose functions this script uses; blosc1/tests/chunks/old_files.rs reads the files.

    scripts/make-blosc1-fixtures.py                # every release
    scripts/make-blosc1-fixtures.py 1.2.3 1.6.1    # these

A release that cannot be fetched, built or run here is reported and its committed file left alone.

A description is: data formula, nbytes, typesize, codec, shuffle, `blocksize` N, `clevel` N, `split` MODE.
"""

import importlib.util
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).resolve()
SPEC = importlib.util.spec_from_file_location("make_fixtures", SCRIPT.parent / "make-fixtures.py")
common = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(common)

OUT = SCRIPT.parent.parent / "capi-tests" / "fixtures" / "blosc1"

# Release and way to call it (see scripts/make-fixtures.py), with the version of Python for a wheel. The releases named
# behind an entry write the same chunks byte for byte. 1.8.0 cannot be built.
RELEASES = [
    ("1.0.3", "sdist", None),  # 1.0.6, 1.1
    ("1.2.0", "sdist", None),  # 1.2.3, 1.2.4, 1.2.5, 1.2.7
    ("1.2.8", "sdist", None),  # 1.3.0, 1.3.2, 1.3.3
    ("1.4.0", "sdist", None),  # 1.4.1
    ("1.4.4", "sdist", None),
    ("1.5.0", "sdist", None),  # 1.5.1
    ("1.6.1", "sdist", None),  # 1.6.2
    ("1.7.0", "sdist", None),
    ("1.8.1", "sdist-py", None),
    ("1.8.2", "sdist-py", None),  # 1.8.3, 1.9.0
    ("1.9.2", "sdist-py", None),
    ("1.10.0", "wheel", "3.9"),
    ("1.10.6", "wheel", "3.9"),  # 1.11.1
    ("1.11.4", "wheel", "3.11"),
]

# The values of BLOSC_SPLITMODE, which C-Blosc reads since 1.14.
SPLIT_MODES = ["FORWARD_COMPAT", "AUTO", "NEVER"]


def has_split_modes(version):
    parts = [int(part) for part in version.split(".")[:2] if part.isdigit()]
    return parts >= [1, 14]


def cases():
    """(codec, shuffle, typesize, nbytes, data, blocksize, clevel)

    Blocks of 128 items and more are split, with a shorter last block; 17 is the first typesize that is not split.
    Releases below 1.18 lose the bytes after the last whole item of a block when they bitshuffle: none has such bytes.
    """
    for codec in common.CODECS:
        yield codec, "shuffle", 4, 1300, "series", 512, 5
        yield codec, "none", 1, 600, "text", 256, 9
        yield codec, "shuffle", 17, 2210, "series", 1020, 5
        yield codec, "bitshuffle", 8, 3072, "series", 2048, 5
    yield "blosclz", "shuffle", 2, 700, "noise", 0, 5
    yield "blosclz", "shuffle", 8, 100, "series", 0, 5
    yield "blosclz", "none", 1, 300, "text", 0, 0


class PackageWithSnappy(common.Package):
    """The Python package; unlike in scripts/make-fixtures.py, also with Snappy."""

    def compress(self, codec, shuffle, _delta, typesize, data, blocksize, clevel, nthreads):
        module = self.module
        if codec not in module.compressor_list():
            return None
        module.set_nthreads(nthreads)
        module.set_blocksize(blocksize)
        return module.compress(data, typesize, clevel, common.SHUFFLES[shuffle], codec)


def emit(api, where, release, out):
    caller = PackageWithSnappy(where) if api == "py" else common.Library(where)
    version = caller.version()
    records = [(f"blosc-{release} library {version}", b"")]
    modes = SPLIT_MODES if has_split_modes(version) else ["-"]
    for mode in modes:
        os.environ["BLOSC_SPLITMODE"] = mode
        for codec, shuffle, typesize, nbytes, kind, blocksize, clevel in cases():
            data = common.make_data(kind, nbytes, typesize)
            # Releases below 1.7 ignore the bit of the shuffle argument, and take it for byte shuffle.
            chunk = caller.compress(codec, shuffle, 0, typesize, data, blocksize, clevel, 1)
            if chunk is not None:
                records.append((f"{kind} {nbytes} {typesize} {codec} {shuffle} blocksize {blocksize} clevel {clevel} "
                                f"split {mode}", chunk))
    with open(out, "wb") as file:
        file.write(common.MAGIC + struct.pack("<I", len(records)))
        for description, chunk in records:
            text = description.encode()
            file.write(struct.pack("<I", len(text)) + text + struct.pack("<I", len(chunk)) + chunk)
    print(f"{release}: library {version}, {len(records) - 1} chunks, {os.path.getsize(out)} bytes", flush=True)


def make(release, how, python_version, work):
    here = work / release
    here.mkdir()
    python, env, api, where = sys.executable, dict(os.environ), "c", ""
    if how.startswith("sdist"):
        common.build_wheel("blosc", release, here, work)
    else:
        common.fetch_wheel("blosc", release, python_version, here)
    wheel = next(here.glob("*.whl"))
    if how == "sdist-py":
        api, where = "py", "blosc"
        site = here / "site"
        common.pip(python, "install", "--target", str(site), str(wheel), "numpy<2")
        env["PYTHONPATH"] = str(site)
    else:
        where = str(common.shared_library(wheel, here))
    out = here / "out.bin"
    subprocess.run([python, str(SCRIPT), "--emit", api, where, release, str(out)], check=True, env=env, cwd=here)
    shutil.copyfile(out, OUT / f"blosc-{release}.bin")


def main():
    wanted = sys.argv[1:]
    OUT.mkdir(parents=True, exist_ok=True)
    failed = []
    with tempfile.TemporaryDirectory() as work:
        for release, how, python_version in RELEASES:
            if wanted and release not in wanted:
                continue
            try:
                make(release, how, python_version, pathlib.Path(work))
            except (subprocess.CalledProcessError, FileNotFoundError, StopIteration) as reason:
                failed.append(release)
                print(f"{release}: FAILED ({type(reason).__name__}: {str(reason)[:200]})", flush=True)
    if failed:
        sys.exit(f"failed: {' '.join(failed)}")


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
    elif sys.argv[1:2] == ["--emit"]:
        emit(*sys.argv[2:6])
    else:
        main()

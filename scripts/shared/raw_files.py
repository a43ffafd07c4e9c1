"""Writes data as raw files, for the scripts that fetch data. The first argument of those programs is the directory of
the fetched packages, the second one the directory of the raw files."""
import pathlib
import sys

packages, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
out.mkdir(parents=True, exist_ok=True)
LEAST = 64 * 1024  # bytes; smaller arrays say little


def save(name, typesize, data):
    """Writes `data`, items of `typesize` bytes, to `<name>.t<typesize>.bin`, unless it is shorter than `LEAST`."""
    if len(data) >= LEAST and 1 <= typesize <= 255:
        (out / f"{name}.t{typesize}.bin").write_bytes(data)
        print(f"{name}: {len(data)} bytes, items of {typesize}")

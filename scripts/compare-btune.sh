#!/bin/sh
# Compares the choices of Btune with those of the automatic tuner (docs/tuner.md): the scores at tradeoff 0.5 on the files of
# scripts/fetch-field-data.sh, and how long Btune takes until its choice stays.
#
#     scripts/compare-btune.sh TABLE
#
# TABLE has the measurements of these files: cargo bench --bench auto_tuner -- measure --seed 0 --all --out TABLE. Btune runs with
# the C library that it was made for, which comes with python-blosc2 3.6.1; its default settings look for a better choice in
# 40 chunks, and its last one is scored. pip installs both into target/btune. PYTHON names the Python interpreter.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
[ $# = 1 ] || { echo "one table is needed" >&2; exit 2; }
[ -f "$1" ] || { echo "there is no $1" >&2; exit 2; }
table=$(realpath "$1")
cd "$(dirname "$0")/.."
[ -d reference/field-data ] || { echo "there is no reference/field-data: scripts/fetch-field-data.sh fetches it" >&2; exit 1; }

place=${CARGO_TARGET_DIR:-$PWD/target}/btune
[ -x "$place/venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet --disable-pip-version-check blosc2==3.6.1 blosc2-btune==1.2.1
# The C library runs "python" from PATH to find the plugin.
export PATH="$place/venv/bin:$PATH"
for mode in COMP DECOMP BALANCED; do
    BTUNE_PERF_MODE=$mode python - "$place/$mode.tsv" <<'END'
import os, pathlib, statistics, subprocess, sys

CHUNK, NCHUNKS = 1 << 20, 64
CODECS = {"blosclz": 0, "lz4": 1, "lz4hc": 2, "zlib": 4, "zstd": 5}
# Appends chunks with Btune; prints the time after each one.
PROGRAM = """
import sys, time, blosc2
path, typesize, chunk, nchunks = sys.argv[1], *map(int, sys.argv[2:])
data = open(path, "rb").read()
chunk = min(chunk, len(data)) // typesize * typesize
chunks = [data[at:at + chunk] for at in range(0, len(data) - chunk + 1, chunk)]
schunk = blosc2.SChunk(chunksize=chunk, cparams={"typesize": typesize, "tuner": blosc2.Tuner.BTUNE, "nthreads": 1})
start = time.perf_counter()
for n in range(nchunks):
    schunk.append_data(chunks[n % len(chunks)])
    print("TIME", time.perf_counter() - start, flush=True)
"""
environment = dict(os.environ, BTUNE_TRADEOFF="0.5", BTUNE_TRACE="1", PYTHONUNBUFFERED="1")
stable_chunks, stable_times, lines = [], [], []
for index, path in enumerate(sorted(pathlib.Path("reference/field-data").glob("*.bin"))):
    typesize = path.name.split(".")[-2][1:]
    command = [sys.executable, "-c", PROGRAM, path, typesize, str(CHUNK), str(NCHUNKS)]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    rows = [[word.strip() for word in line.split("|")] for line in output.splitlines() if line.startswith("|")][1:]
    times = [float(line.split()[1]) for line in output.splitlines() if line.startswith("TIME")]
    # Columns: codec, filter, split, level, threads of both directions, score, ratio, state, kind of search, winner.
    winners = [(n, (row[2], CODECS[row[1]], row[4])) for n, row in enumerate(rows) if row[-1] == "W"]
    choice = winners[-1][1]
    last = 1 + max((n for n, other in winners if other != choice), default=-1)
    stable_chunks.append(last)
    stable_times.append(times[last - 1] if last else 0.0)
    lines.append("\t".join(map(str, (index, *choice))))
pathlib.Path(sys.argv[1]).write_text("\n".join(lines) + "\n")
print(f"Btune, {os.environ['BTUNE_PERF_MODE']}: the last change of the choice is after chunk {statistics.median(stable_chunks)} "
      f"in the median, {max(stable_chunks)} at most; {statistics.median(stable_times) * 1e3:.0f} ms, {max(stable_times) * 1e3:.0f} ms")
END
done
cargo bench --quiet --bench auto_tuner -- choices "$table" "$place/COMP.tsv" "$place/DECOMP.tsv" "$place/BALANCED.tsv"
cargo bench --quiet --bench auto_tuner -- check "$table"

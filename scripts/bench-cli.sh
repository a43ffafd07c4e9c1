#!/usr/bin/env bash
# Times the command `blosc2` on a file of 1 GiB: beside the library's own time plus that of reading and writing the files,
# and beside `zstd` with the same level and number of threads, if it is installed.
#
#     scripts/bench-cli.sh [MIB]          # another size of the file, in MiB
#     scripts/bench-cli.sh peers [MIB [ROUNDS]]    # the table of docs/cli.md: 2048 MiB of numbers, of log lines, and of a
#                                                  # compressed file
#
# `peers` measures the command with its defaults and with LZ4, `zstd -T2`, `lz4` and `pigz -p2`, those that are
# installed: ratio, seconds of wall time and of processor time of both directions, and the largest resident memory in MiB; the
# best of three rounds, in each of which all tools run.
#
# The other form prints ratios: the time of the command by that of the library, reading and writing; the time of zstd by that of the
# command (above 1: the command is faster). Each time is the best of three. The files are in a temporary directory
# (TMPDIR), which needs three times their size.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."

threads=2
cargo build --release --quiet --package blosc2-cli
if [ "${1:-}" = peers ]; then
  exec python3 - "${CARGO_TARGET_DIR:-target}/release/blosc2" "${2:-2048}" $threads "${3:-3}" <<'PYTHON'
import array, math, os, random, shutil, subprocess, sys, tempfile, time

command, mib, threads, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
PART = 16  # MiB that are made once, and repeated with changes


def numbers():
    """Single precision: waves with noise in their low bits."""
    return array.array("f", (1000 * math.sin(n / 5000) + random.random() / 8 for n in range(PART << 18))).tobytes()


def logs():
    """Lines of a server."""
    verbs, lines = ["GET", "POST", "PUT"], []
    for n in range(PART << 14):
        path = "/".join(random.choice(["api", "v1", "users", "items", "images", "search"]) for _ in range(3))
        address = ".".join(str(random.getrandbits(8)) for _ in range(4))
        lines.append(
            f"2026-03-{n % 28 + 1:02} {n % 24:02}:{n % 60:02}:{random.randrange(60):02} {address} "
            f"{random.choice(verbs)} /{path}/{random.getrandbits(20)} {random.choice([200, 200, 200, 304, 404, 500])} "
            f"{random.randrange(50000)}\n"
        )
    return "".join(lines).encode()[: PART << 20]


def noise():
    """As the content of a compressed file."""
    return random.randbytes(PART << 20)


def write(path, make):
    """In a process of its own: the resident memory of a tool that is started counts from that of this one, 10 MiB."""
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        return
    random.seed(1)
    part = make()
    with open(path, "wb") as file:
        for n in range(0, mib, PART):
            # Another begin for each part, so that no window of a codec finds the part before.
            at = n * 1009 * 4 % len(part)
            file.write((part[at:] + part[:at])[: min(PART, mib - n) << 20])
    os._exit(0)


def run(words):
    """Returns wall time, processor time and the largest resident memory."""
    start = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, words
    return [time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]


def tools(source, packed, back):
    own = [command, "-q", "compress", "-f", "-T", threads, source, "-o", packed]
    for options in [], ["-c", "lz4"]:
        yield " ".join(["blosc2", *options]), [*own, *options], [command, "-q", "decompress", "-f", "-T", threads, packed, "-o", back]
    yield f"zstd -T{threads}", ["zstd", "-q", "-f", "-T" + threads, source, "-o", packed], ["zstd", "-q", "-f", "-d", packed, "-o", back]
    yield "lz4", ["lz4", "-q", "-f", source, packed], ["lz4", "-q", "-f", "-d", packed, back]
    yield f"pigz -p{threads}", ["sh", "-c", 'pigz -k -c -p "$0" "$1" > "$2"', threads, source, packed], [
        "sh", "-c", 'pigz -d -c -p "$0" "$1" > "$2"', threads, packed, back]


print("| content | tool | ratio | compress: s | CPU s | MiB | decompress: s | CPU s | MiB |")
print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
with tempfile.TemporaryDirectory() as work:
    source, packed, back = (os.path.join(work, name) for name in ["source", "packed", "back"])
    for content, make in [("float32", numbers), ("log lines", logs), ("compressed file", noise)]:
        write(source, make)
        best, ratios = {}, {}
        for _ in range(rounds):
            for tool, compress, decompress in tools(source, packed, back):
                if not shutil.which(compress[0] if compress[0] != "sh" else "pigz"):
                    continue
                rows = [*run(compress), *run(decompress)]
                assert subprocess.run(["cmp", "-s", source, back]).returncode == 0, tool
                best[tool] = [min(pair) for pair in zip(rows, best.get(tool, rows))]
                ratios[tool] = os.path.getsize(source) / os.path.getsize(packed)
                os.remove(packed)
                os.remove(back)
        for tool, row in best.items():
            cells = ["{:.2f} | {:.2f} | {:.0f}".format(*part) for part in (row[:3], row[3:])]
            print(f"| {content} | `{tool}` | {ratios[tool]:.2f} | {cells[0]} | {cells[1]} |", flush=True)
PYTHON
fi
mib=${1:-1024}
cargo build --release --quiet --package blosc2-safe --example codec_time
release=${CARGO_TARGET_DIR:-target}/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Numbers of 4 bytes: slowly changing values with noise in their low bits.
python3 - "$work/file" "$mib" <<'PYTHON'
import array, math, random, sys
path, mib = sys.argv[1], int(sys.argv[2])
random.seed(1)
part = array.array("i", (int(1e6 * math.sin(n / 5000)) + random.getrandbits(6) for n in range(4 << 20)))
with open(path, "wb") as file:
    for n in range(0, mib, 16):
        # Another begin for each part, so that no window of a codec finds the part before.
        part = part[n * 1009 % 4096 :] + part[: n * 1009 % 4096]
        file.write(part.tobytes()[: min(16, mib - n) << 20])
PYTHON

# Prints the shortest time of three runs of a command, in seconds.
best() {
  local best=999999 start seconds
  for _ in 1 2 3; do
    start=$(date +%s.%N)
    "$@"
    seconds=$(echo "$(date +%s.%N) $start" | awk '{ print $1 - $2 }')
    best=$(echo "$seconds $best" | awk '{ print ($1 < $2) ? $1 : $2 }')
  done
  echo "$best"
}
copy() { cat "$1" >"$work/copy"; }
read_all() { cat "$1" >/dev/null; }
by() { echo "$1 $2" | awk '{ printf "%.2f", $1 / $2 }'; }

printf '%-14s %10s %10s %12s %12s %12s %12s\n' codec size "of zstd" compress decompress "by zstd" "by zstd -d"
for codec in lz4:5 zstd:3; do
  name=${codec%:*} level=${codec#*:}
  options=(-c "$name" -l "$level" -t 4 -T $threads -f)
  compress=$(best "$release/blosc2" -q compress "$work/file" "${options[@]}" -o "$work/frame")
  decompress=$(best "$release/blosc2" -q decompress "$work/frame" -T $threads -f -o "$work/back")
  cmp "$work/file" "$work/back"
  rm "$work/back"
  read -r own_compress own_decompress < <("$release/examples/codec_time" "$work/file" "$name" "$level" 4 $threads)
  # Reading the input and writing the output, in both directions.
  in_out=$(echo "$(best read_all "$work/file") $(best copy "$work/frame")" | awk '{ print $1 + $2 }')
  out_in=$(echo "$(best read_all "$work/frame") $(best copy "$work/file")" | awk '{ print $1 + $2 }')
  rm -f "$work/copy"
  size=$(wc -c <"$work/frame")
  of_zstd=- by_zstd=- by_zstd_d=-
  if command -v zstd >/dev/null; then
    zstd_c=$(best zstd -q -f -T$threads -"$level" "$work/file" -o "$work/zst")
    zstd_d=$(best zstd -q -f -d "$work/zst" -o "$work/back")
    of_zstd=$(by "$size" "$(wc -c <"$work/zst")")
    by_zstd=$(by "$zstd_c" "$compress") by_zstd_d=$(by "$zstd_d" "$decompress")
    rm -f "$work/zst" "$work/back"
  fi
  printf '%-14s %10s %10s %12s %12s %12s %12s\n' "$name $level" "$(by "$size" $((mib << 20)))" "$of_zstd" \
    "$(echo "$compress $own_compress $in_out" | awk '{ printf "%.2f", $1 / ($2 + $3) }')" \
    "$(echo "$decompress $own_decompress $out_in" | awk '{ printf "%.2f", $1 / ($2 + $3) }')" "$by_zstd" "$by_zstd_d"
  rm -f "$work/frame"
done

#!/usr/bin/env bash
# Times the command `blosc2` on a file of 1 GiB: beside the library's own time plus that of reading and writing the files,
# and beside `zstd` with the same level and number of threads, if it is installed.
#
#     scripts/bench-cli.sh [MIB]          # another size of the file, in MiB
#
# Prints ratios: the time of the command by that of the library, reading and writing; the time of zstd by that of the
# command (above 1: the command is faster). Each time is the best of three. The files are in a temporary directory
# (TMPDIR), which needs three times their size.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."

mib=${1:-1024}
threads=2
cargo build --release --quiet --package blosc2-cli
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
  options=(-c "$name" -l "$level" -t 4 -T $threads -F)
  compress=$(best "$release/blosc2" -q compress "$work/file" "${options[@]}" -o "$work/frame")
  decompress=$(best "$release/blosc2" -q decompress "$work/frame" -T $threads -F -o "$work/back")
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

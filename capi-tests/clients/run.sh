#!/usr/bin/env bash
# Runs the real clients on our libraries: all of them, or with `quick` a part of the tests of each in a few minutes.
#
#   capi-tests/clients/run.sh [quick|all] [--update]
#
# Prints the tables of docs/clients.md, for programs of C-Blosc2 and of Blosc 1; with --update (for `all`) writes them
# there. Needs Rust, a C and C++ compiler, binutils, Python 3.11 with pip, and the network of pip; the FFI examples run
# with those runtimes that are there, and the programs of Debian on Debian 12, with its archive.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
mode=all update=no
for word; do
  case $word in
    quick | all) mode=$word ;;
    --update) update=yes ;;
    *) echo "usage: $0 [quick|all] [--update]" >&2; exit 2 ;;
  esac
done
[ $update = no ] || [ $mode = all ] || { echo "only the figures of all tests go to docs/clients.md" >&2; exit 2; }

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
failed=()

# Runs clients, whose lines become the table of that name.
run() { # table client...
  export CLIENTS_RESULTS=$results/$1
  shift
  local client start
  for client; do
    start=$SECONDS
    capi-tests/clients/$client.sh "$mode" || failed+=("$client")
    echo "$client: $((SECONDS - start)) s" >&2
  done
}

case $mode in
  quick)
    blosc2=(pytables python-blosc2 dask hdf5plugin old-headers)
    blosc1=(numcodecs python-blosc pytables openvdb hdf5)
    ;;
  all)
    blosc2=(pytables python-blosc2 dask hdf5plugin imagecodecs old-headers)
    blosc1=(numcodecs python-blosc pytables openvdb hdf5 gdal adios imagecodecs zarrs)
    ;;
esac
run blosc2 "${blosc2[@]}"

install=()
[ $mode = quick ] || install=(--install)
if ffi=$(examples/ffi/run.sh "${install[@]}"); then verdict=passed; else verdict=failed failed+=(ffi); fi
echo "$ffi" >&2
names=$(echo "$ffi" | sed -n 's/^\([A-Za-z]*\): .*/\1/p' | paste -sd, | sed 's/,/, /g')
echo "| FFI: $names | \`examples/ffi/\` with \`libblosc2.so.9\` | $(echo "$ffi" | tail -1) | $verdict |" >>"$results/blosc2"

run blosc1 "${blosc1[@]/#/blosc1-}"

for table in blosc2 blosc1; do
  touch "$results/$table"
  { printf '| client | how it meets the library | figures | |\n|---|---|---|---|\n'; cat "$results/$table"; } >"$results/$table.md"
  printf '\n%s\n' "$table"
  cat "$results/$table.md"
  [ $update = no ] || sed -i -e '/^<!-- table '$table' -->$/,/^<!-- end -->$/{/^<!-- table '$table' -->$/{p;r '"$results/$table.md"'
};/^<!-- end -->$/p;d}' docs/clients.md
done
# The line that a reader of the log looks for.
total=$(cat "$results/blosc2" "$results/blosc1" | wc -l)
bad=$(cat "$results/blosc2" "$results/blosc1" | grep -c '| failed |$' || true)
echo "clients: $((total - bad)) passed, $bad failed"
[ ${#failed[@]} = 0 ] || { echo "failed: ${failed[*]}" >&2; exit 1; }

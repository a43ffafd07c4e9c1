#!/usr/bin/env bash
# Runs the real clients on our library: all of them, or with `quick` a part of the tests of each in a few minutes.
#
#   capi-tests/clients/run.sh [quick|all] [--update]
#
# Prints the table of docs/clients.md; with --update (for `all`) writes it there. Needs Rust, a C and C++ compiler,
# binutils, Python 3.11 with pip, and the network of pip; the FFI examples run with those runtimes that are there.
set -euo pipefail
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

results=$(mktemp)
trap 'rm -f "$results" "$results.md"' EXIT
export CLIENTS_RESULTS=$results
failed=()
clients=(pytables python-blosc2 hdf5plugin imagecodecs old-headers)
[ $mode = all ] || clients=(pytables python-blosc2 hdf5plugin old-headers)
for client in "${clients[@]}"; do
  capi-tests/clients/$client.sh "$mode" || failed+=("$client")
done

install=()
[ $mode = quick ] || install=(--install)
if ffi=$(examples/ffi/run.sh "${install[@]}"); then verdict=passed; else verdict=failed failed+=(ffi); fi
echo "$ffi" >&2
names=$(echo "$ffi" | sed -n 's/^\([A-Za-z]*\): .*/\1/p' | paste -sd, | sed 's/,/, /g')
echo "| FFI: $names | \`examples/ffi/\` with \`libblosc2.so.9\` | $(echo "$ffi" | tail -1) | $verdict |" >>"$results"

{ printf '| client | how it meets the library | figures | |\n|---|---|---|---|\n'; cat "$results"; } >"$results.md"
cat "$results.md"
if [ $update = yes ]; then
  sed -i -e '/^<!-- table -->$/,/^<!-- end -->$/{/^<!-- table -->$/{p;r '"$results.md"'
};/^<!-- end -->$/p;d}' docs/clients.md
fi
# The line that a reader of the log looks for.
total=$(wc -l <"$results")
echo "clients: $((total - $(grep -c '| failed |$' "$results" || true))) passed, $(grep -c '| failed |$' "$results" || true) failed"
[ ${#failed[@]} = 0 ] || { echo "failed: ${failed[*]}" >&2; exit 1; }

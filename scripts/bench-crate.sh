#!/bin/sh
# Prints the time of short calls of the Rust crate, of the C functions of this library, and of the C library, in nanoseconds: the
# fastest of 90 series of 2000 calls each, in three runs that alternate.
#
#     scripts/bench-crate.sh
#
# Needs scripts/fetch-reference.sh. BLOSC2_REFERENCE names another library to compare with, CC the compiler.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."

reference=${BLOSC2_REFERENCE:-reference/blosc2/lib/libblosc2.so.9}
[ -f "$reference" ] || { echo "no reference library (run scripts/fetch-reference.sh)" >&2; exit 1; }
cargo build --release --quiet --lib
cargo build --release --quiet --package blosc2-safe --example call_costs
release=${CARGO_TARGET_DIR:-target}/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/ours" "$work/c"
ln -s "$(realpath "$release/libblosc2.so")" "$work/ours/libblosc2.so.9"
ln -s "$(realpath "$reference")" "$work/c/libblosc2.so.9"
${CC:-cc} -std=gnu99 -O2 -Iinclude capi-tests/call_costs.c -o "$work/program" "$work/ours/libblosc2.so.9"

for run in 1 2 3; do
    "$release/examples/call_costs" | sed 's/^/crate /'
    LD_LIBRARY_PATH=$work/ours "$work/program" | sed 's/^/ours /'
    LD_LIBRARY_PATH=$work/c "$work/program" | sed 's/^/c /'
done | awk '
    !($2 in seen) { seen[$2] = 1; names[++n] = $2 }
    !(($1, $2) in best) || $3 < best[$1, $2] { best[$1, $2] = $3 }
    END {
        printf "%-26s %10s %12s %10s %18s\n", "call", "crate", "C functions", "C library", "crate - functions"
        for (i = 1; i <= n; i++) {
            crate = best["crate", names[i]]; ours = best["ours", names[i]]
            printf "%-26s %10.1f %12.1f %10.1f %18.1f\n", names[i], crate, ours, best["c", names[i]], crate - ours
        }
    }'

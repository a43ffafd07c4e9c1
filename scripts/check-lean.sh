#!/bin/sh
# Runs the tests that know which plugin codecs and filters there are, with a library that has none of them.
#
#     scripts/check-lean.sh
#
# The library is built beside the usual one, in target/lean/; CARGO_TARGET_DIR moves both.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
lean=${CARGO_TARGET_DIR:-$root/target}/lean

cargo build --quiet --lib --no-default-features --target-dir "$lean"
# cargo's own library stays what the tests are built with: they load the other one.
BLOSC2_UNDER_TEST=$lean/debug/libblosc2.so BLOSC2_FEATURES='' cargo test --test left_out --test golden

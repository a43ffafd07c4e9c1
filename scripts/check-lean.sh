#!/bin/sh
# Runs the tests of which plugin codecs and filters exist on a library that is built without any.
#
#     scripts/check-lean.sh
#
# The library is built in target/lean/, apart from the usual one; CARGO_TARGET_DIR moves both.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
lean=${CARGO_TARGET_DIR:-$root/target}/lean

# Compiling takes longer than these tests.
CARGO_PROFILE_DEV_OPT_LEVEL=0 cargo build --quiet --lib --no-default-features --features c-api --target-dir "$lean"
# Cargo builds the tests with the default features; the tests load the other library. With `--workspace`, dependencies
# have the same features as in other builds of the tests, and are not built again.
BLOSC2_UNDER_TEST=$lean/debug/libblosc2.so BLOSC2_FEATURES='' \
  cargo test --workspace --test golden -- chunks:: excluded_features::

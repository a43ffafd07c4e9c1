#!/bin/sh
# Checks the crate `blosc2` without the features of its codecs: that it compiles with each of them alone and with none, and
# that the codecs that are left out are errors. `cargo test --workspace` tests its feature `remote`, which the command selects.
#
#     scripts/check-features.sh
#
# The builds are in target/features/, apart from the usual ones; CARGO_TARGET_DIR moves them.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

cd "$(dirname "$0")/.."
# Compiling takes longer than these tests.
export CARGO_PROFILE_DEV_OPT_LEVEL=0 CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/features"

for features in "" lz4 zlib zstd; do
  cargo clippy --quiet -p blosc2-safe --no-default-features --features "$features" -- -D warnings
done
# The crate needs no C compiler then.
tree=$(cargo tree -p blosc2-safe --no-default-features --features lz4,zlib -e normal,build)
case $tree in *zstd* | *" cc "*) echo "a build without the feature zstd depends on: $tree" >&2; exit 1 ;; esac
cargo test --quiet -p blosc2-safe --no-default-features --features lz4 --test codec_features
echo "the crate blosc2 compiles with each of its codecs alone"

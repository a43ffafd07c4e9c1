#!/bin/sh
# Checks that the crate `blosc2` and the command compile with the minimum supported Rust version, which `rust-version` in
# their Cargo.toml states. Installs that toolchain if it is missing.
#
#     scripts/check-msrv.sh
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

cd "$(dirname "$0")/.."
version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' rust/Cargo.toml)
[ "$(sed -n 's/^rust-version = "\(.*\)"/\1/p' cli/Cargo.toml)" = "$version" ] ||
  { echo "rust/ and cli/ state different versions" >&2; exit 1; }
grep -q "The minimum supported Rust version is $version\." rust/src/lib.rs ||
  { echo "the documentation of the crate states another version than $version" >&2; exit 1; }
rustup toolchain install "$version" --profile minimal --no-self-update
cargo "+$version" check --quiet --locked -p blosc2-safe --all-features -p blosc2-cli \
  --target-dir "${CARGO_TARGET_DIR:-target}/msrv"
echo "the crate blosc2 and the command compile with Rust $version"

#!/bin/sh
# Checks that the packages that are published compile with the minimum supported Rust version, which is `rust-version` in
# Cargo.toml. Installs that toolchain if it is missing.
#
#     scripts/check-msrv.sh
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

cd "$(dirname "$0")/.."
version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
for manifest in Cargo.toml core/Cargo.toml blosc1/Cargo.toml rust/Cargo.toml cli/Cargo.toml remote/Cargo.toml; do
  grep -q '^rust-version.workspace = true' $manifest || { echo "$manifest states a Rust version of its own" >&2; exit 1; }
done
grep -q "The minimum supported Rust version is $version\." rust/src/lib.rs ||
  { echo "the documentation of the crate states another version than $version" >&2; exit 1; }
rustup toolchain install "$version" --profile minimal --no-self-update
check() { cargo "+$version" check --quiet --locked --target-dir "${CARGO_TARGET_DIR:-target}/msrv" "$@"; }
check -p libblosc2-rs -p libblosc1-rs -p libblosc2-remote
check -p blosc2-safe -p blosc2-cli --all-features
echo "all packages compile with Rust $version"

#!/usr/bin/env bash
# Compares the public items of the crate `blosc2` with rust/public-api.txt, so that a change of the interface is seen in its
# commit.
#
#     scripts/check-public-api.sh             # prints the differences, and fails if there are any
#     scripts/check-public-api.sh --update    # rewrites the file
#
# Installs cargo-public-api in target/ci-tools if it is missing (3 minutes of processor time), and needs the nightly
# toolchain of rustup, whose rustdoc lists the items as JSON. Prints SKIPPED if one of them cannot be installed. Not listed are
# impls that the compiler derives: rust/tests/traits.rs tests them.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."

# A release of the tool reads one version of the JSON.
version=0.52.0
tools=$PWD/target/ci-tools
skip() { echo "SKIPPED: the list of public items: $1 cannot be installed here"; exit 0; }
rustup toolchain list | grep -q '^nightly' || rustup toolchain install nightly --profile minimal --no-self-update || skip "the nightly toolchain"
[ -x "$tools/bin/cargo-public-api" ] ||
  cargo install --quiet --locked "cargo-public-api@$version" --root "$tools" --target-dir target/public-api || skip cargo-public-api

found=$(mktemp)
trap 'rm -f "$found"' EXIT
PATH="$tools/bin:$PATH" cargo +nightly public-api --package blosc2-safe --all-features -sss --color never \
  --target-dir "${CARGO_TARGET_DIR:-target}/public-api" >"$found"
if [ "${1:-}" = --update ]; then
  cp "$found" rust/public-api.txt
elif ! diff -u rust/public-api.txt "$found"; then
  echo "the public items differ: scripts/check-public-api.sh --update rewrites the list" >&2
  exit 1
else
  echo "the crate has the public items of rust/public-api.txt"
fi

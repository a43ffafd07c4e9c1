#!/usr/bin/env bash
# Runs unit tests under Miri, which finds undefined behaviour in Rust code: accesses that break the rules of references
# above all. It covers the struct that C code sees of a context, and the modules that parse and compute in plain Rust. Miri
# cannot call C code, so tests that reach zstd or the C library are left out.
#
#     scripts/check-miri.sh            # a few minutes
#     scripts/check-miri.sh FILTER...  # other tests, by a part of their names
#
# Needs rustup. Installs the nightly toolchain with Miri if it is missing; MIRI_TOOLCHAIN names another one.
set -euo pipefail
cd "$(dirname "$0")/.."

toolchain=${MIRI_TOOLCHAIN:-nightly}
if ! cargo "+$toolchain" miri --version >/dev/null 2>&1; then
  rustup toolchain install "$toolchain" --profile minimal --component miri,rust-src
fi

filters=("$@")
if [ ${#filters[@]} -eq 0 ]; then
  filters=(
    pipeline::context::
    chunk:: error:: malloc:: registry::table::
    frame::tests::checks:: frame::tests::golden::
    codec::zlib::deflate::
    b2nd::geometry:: b2nd::metalayer:: b2nd::overrun:: b2nd::tiles::
    # Not the super-chunks, whose name has "chunk::" in it.
    --skip schunk::
  )
fi

# Miri runs a thousand times slower: a few cases show as much of a property as it is here for. Proptest reads files, and
# contexts read the environment, which an isolated run would not let them.
export PROPTEST_CASES=${PROPTEST_CASES:-4}
export MIRIFLAGS=${MIRIFLAGS:--Zmiri-disable-isolation}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target/miri}
exec cargo "+$toolchain" miri test --lib -- "${filters[@]}"

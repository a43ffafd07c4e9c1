#!/usr/bin/env bash
# Runs unit tests under Miri, which finds undefined behaviour in Rust code: accesses outside of an allocation or against
# the rules of references, and data races. It covers the modules that parse and compute in plain Rust (kernels that need
# an instruction set are replaced by the generic ones, since Miri reports none), the worker pool, and the struct that C
# code sees of a context. Miri cannot call C code, so tests that reach zstd or the C library are left out.
#
#     scripts/check-miri.sh            # all these modules, one process each, as many at a time as there are processors
#     scripts/check-miri.sh --short    # a choice that takes two minutes
#     scripts/check-miri.sh FILTER...  # other tests, by a part of their names
#
# Needs rustup. Installs the nightly toolchain with Miri if it is missing; MIRI_TOOLCHAIN names another one. Exits with
# 77 if it cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."

toolchain=${MIRI_TOOLCHAIN:-nightly}
if ! cargo "+$toolchain" miri --version >/dev/null 2>&1; then
  command -v rustup >/dev/null && rustup toolchain install "$toolchain" --profile minimal --component miri,rust-src || {
    echo "Miri cannot be installed here (rustup toolchain install $toolchain --component miri,rust-src): not checked" >&2
    exit 77
  }
fi

# Miri runs a thousand times slower: a few cases are enough of a property. Proptest reads files, and contexts read the
# environment, which an isolated run refuses.
export PROPTEST_CASES=${PROPTEST_CASES:-4}
export MIRIFLAGS=${MIRIFLAGS:--Zmiri-disable-isolation}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target/miri}

# Each line is the arguments of one process.
groups=(
  "pool:: thread::"
  "schunk::gate schunk::access_lock schunk::cache:: schunk::room:: schunk::chunk_buffer::"
  "chunk:: --skip schunk::"
  "error:: registry::table:: registry::plugin::"
  "malloc::"
  "b2nd::"
  "codec::blosclz:: --skip reference"
  "codec::lz4::decode::"
  "codec::lz4::encode::"
  "codec::match_copy:: codec::differing:: codec::length_predictor:: codec::incompressible:: codec::plugin::"
  "codec::ndlz::"
  "codec::zfp::"
  "codec::zlib::deflate::"
  "codec::zlib::inflate:: codec::zlib::segments:: codec::zlib::tests::"
  "filter::shuffle:: filter::bitshuffle::"
  "filter::bytedelta:: filter::cells:: filter::copy:: filter::cpu:: filter::delta::"
  "filter::int_trunc:: filter::transpose:: filter::trunc_prec::"
  "frame::msgpack:: frame::tests::checks:: frame::tests::golden:: frame::tests::index::"
  "pipeline::context:: pipeline::scratch:: pipeline::shared_out:: pipeline::compress::plan"
)
short=(
  "pool:: thread::"
  "chunk:: --skip schunk::"
  "pipeline::context::"
  "codec::blosclz::tests::vectors::hand codec::blosclz::tests::streams::every_short codec::match_copy::"
  "codec::lz4::decode::"
  "codec::zlib::inflate::tests::a_match codec::zlib::inflate::tests::stored codec::zlib::inflate::tests::flat"
  "frame::tests::golden:: b2nd::geometry:: malloc::"
)
if [ "${1:-}" = --short ]; then
  groups=("${short[@]}")
elif [ $# -gt 0 ]; then
  groups=("$*")
fi

logs=$CARGO_TARGET_DIR/logs
mkdir -p "$logs"
rm -f "$logs"/*.log
cargo "+$toolchain" miri test --lib --no-run 2>"$logs/build.log" || { cat "$logs/build.log"; exit 1; }

# Runs the tests of one group and prints one line about it, or all of its output if it fails.
run_group() {
  local start=$SECONDS name log
  name=$(echo "$1" | tr -c 'a-z0-9\n' _)
  log=$2/$name.log
  # shellcheck disable=SC2086 # the arguments are words
  if cargo "+$3" miri test --lib -- $1 >"$log" 2>&1; then
    printf '%s passed in %4d s: %s\n' "$(sed -n 's/^test result: ok. \([0-9]*\) passed.*/\1/p' "$log")" \
      $((SECONDS - start)) "$1"
  else
    cat "$log"
    printf 'FAILED after %d s: %s\n' $((SECONDS - start)) "$1"
    return 1
  fi
}
export -f run_group
printf '%s\0' "${groups[@]}" |
  xargs -0 -P "$(nproc)" -I'{}' bash -c 'run_group "$@"' - '{}' "$logs" "$toolchain"
# A filter that no test has any more would check nothing.
if grep -l '^test result: ok. 0 passed' "$logs"/*.log; then
  echo "no test has one of these names" >&2
  exit 1
fi

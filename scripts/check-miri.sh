#!/usr/bin/env bash
# Runs unit tests under Miri, which finds undefined behaviour in Rust code: accesses outside of an allocation or against
# the rules of references, and data races. It covers the modules that parse and compute in plain Rust (kernels that need
# an instruction set are replaced by the generic ones, since Miri reports none), the worker pool, and the struct that C
# code sees of a context; and the C functions of Blosc 1. Miri cannot call C code, so tests that reach zstd or the C
# library are left out.
#
#     scripts/check-miri.sh            # all these modules, one process each, as many at a time as there are processors
#     scripts/check-miri.sh --short    # a choice of tests that take seconds each
#     scripts/check-miri.sh FILTER...  # other tests, by a part of their names
#     scripts/check-miri.sh --filters  # runs nothing: whether each filter of both forms matches a unit test
#
# Fails if a filter matches no test, and if a process takes longer than MIRI_TIMEOUT seconds (default: 3600, with --short
# 1500). Needs rustup. Installs the nightly toolchain with Miri if it is missing; MIRI_TOOLCHAIN names another one. Exits
# with 77 if it cannot be installed.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."

# Each entry is the arguments of one process. Miri rejects the system call with which parking_lot suspends a thread: tests
# in which a thread waits for an access lock are left out, and loom runs models of them. The longest list of metalayers
# would take hours. `blosc1:` stands for tests of the package libblosc1-rs.
groups=(
  "pool:: thread::"
  "access_lock::tests::reads_inside access_lock::tests::changing_during access_lock::tests::write_guard
    schunk::cache:: schunk::c_struct:: buffers:: malloc:: --skip more_metalayers_than_the_limit"
  "chunk:: --skip schunk::"
  "error:: registry::table:: registry::plugin::tests::plugin_names registry::plugin::tests::search_scope"
  "b2nd::"
  "codec::blosclz::"
  "codec::lz4::decode::"
  "codec::lz4::encode::"
  "codec::match_copy:: codec::common_prefix:: codec::incompressible:: codec::plugin::
    codec::position_rows::"
  "codec::ndlz::"
  "codec::zfp::"
  "codec::zlib::deflate::"
  "codec::zlib::inflate:: codec::zlib::tests::"
  "filter::shuffle:: filter::bitshuffle::"
  "filter::bytedelta:: filter::cells:: filter::copy:: filter::cpu:: filter::delta::"
  "filter::int_trunc:: filter::transpose:: filter::trunc_prec::"
  "frame::format::msgpack:: frame::tests::checks:: frame::tests::index::"
  "blosc1: tests::"
  "pipeline::context:: pipeline::scratch:: pipeline::shared_output:: pipeline::compress:: pipeline::block_size:: out_buffer::"
)
# Starting a process takes 10 s, mostly to compile the crate: the short form has three processes.
short=(
  "pool:: thread:: access_lock::tests::reads_inside access_lock::tests::write_guard delta::tests::word_width filter::transpose::
    pipeline::context:: malloc:: buffers:: chunk_array::tests::chunks_shorter
    chunk_array::tests::chunk_numbers metalayer_lists::tests::metalayer_positions"
  "chunk:: codec::match_copy:: codec::position_rows:: codec::blosclz::tests::vectors::hand codec::blosclz::tests::streams::every_short
    codec::lz4::decode:: deflate::quick::tests::parts deflate::bit_writer:: huffman::tests::codes_are_canonical
    codec::ndlz::tests::encoder_rejects codec::zfp::order:: frame::tests::index::an_index --skip schunk::"
  "blosc1: tests::places tests::headers"
)
# Fails if a filter matches no unit test, for example because the test was renamed: it would check nothing.
if [ "${1:-}" = --filters ]; then
  names=$(cargo test --workspace --exclude libblosc2-core --lib -- --list 2>/dev/null | sed -n 's/: test$//p')
  [ -n "$names" ] || { echo "the unit tests cannot be listed" >&2; exit 1; }
  missing=0 previous=
  for word in ${groups[*]} ${short[*]}; do
    case $word$previous in
      --skip* | *--skip | blosc1:*) ;;
      *) grep -qF -- "$word" <<<"$names" || { echo "no unit test has a name with $word" >&2; missing=1; } ;;
    esac
    previous=$word
  done
  exit $missing
fi

toolchain=${MIRI_TOOLCHAIN:-nightly}
if ! cargo "+$toolchain" miri --version >/dev/null 2>&1; then
  command -v rustup >/dev/null && rustup toolchain install "$toolchain" --profile minimal --component miri,rust-src || {
    echo "Miri cannot be installed here (rustup toolchain install $toolchain --component miri,rust-src): not checked" >&2
    exit 77
  }
fi

# Property tests run 4 cases: Miri is about 1000 times slower. Proptest reads files, and contexts read the environment: an
# isolated run refuses both.
export PROPTEST_CASES=${PROPTEST_CASES:-4}
export MIRIFLAGS=${MIRIFLAGS:--Zmiri-disable-isolation}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target/miri}

if [ "${1:-}" = --short ]; then
  groups=("${short[@]}")
  limit=${MIRI_TIMEOUT:-1500}
elif [ $# -gt 0 ]; then
  groups=("$*")
fi
limit=${limit:-${MIRI_TIMEOUT:-3600}}

logs=$CARGO_TARGET_DIR/logs
mkdir -p "$logs"
rm -f "$logs"/*.log
cargo "+$toolchain" miri test --lib --no-run -p libblosc2-rs -p libblosc1-rs 2>"$logs/build.log" ||
  { cat "$logs/build.log"; exit 1; }

# Fails if a filter of a group matches no test in the log, for example because a test was renamed: it would check nothing.
check_filters() {
  local word previous=
  for word in $1; do
    if [ "$word" != --skip ] && [ "$previous" != --skip ] && ! grep -q "^test .*$word.* ok <" "$2"; then
      echo "no test that runs under Miri has a name with $word"
      return 1
    fi
    previous=$word
  done
}

# Runs the tests of one group and prints one line about it, or all of its output if it fails.
run_group() {
  local start=$SECONDS name log package=libblosc2-rs filters=$1
  if [[ $filters == "blosc1: "* ]]; then
    package=libblosc1-rs filters=${filters#blosc1: }
  fi
  name=$(echo "$1" | tr -c 'a-z0-9\n' _)
  log=$2/${name:0:100}.log
  # shellcheck disable=SC2086 # the arguments are words
  if timeout --kill-after 10 "$4" cargo "+$3" miri test -p "$package" --lib -- -Zunstable-options --report-time $filters >"$log" 2>&1 &&
    check_filters "$filters" "$log" >>"$log"; then
    printf '%s passed in %4d s: %s\n' "$(sed -n 's/^test result: ok. \([0-9]*\) passed.*/\1/p' "$log")" \
      $((SECONDS - start)) "$1"
  else
    cat "$log"
    printf 'FAILED after %d s: %s\n' $((SECONDS - start)) "$1"
    return 1
  fi
}
export -f run_group check_filters
printf '%s\0' "${groups[@]}" | tr -s '\n ' ' ' |
  xargs -0 -P "$(nproc)" -I'{}' bash -c 'run_group "$@"' - '{}' "$logs" "$toolchain" "$limit"

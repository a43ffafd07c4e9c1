#!/usr/bin/env bash
# Fuzzes the library with cargo-fuzz (libFuzzer, AddressSanitizer, overflow checks), each target for some seconds:
#
#     scripts/fuzz.sh SECONDS            # all targets of fuzz/
#     scripts/fuzz.sh SECONDS TARGET...  # these
#
# Ends with a table of executions, inputs of the corpus, coverage and findings, and fails if there is a finding.
# fuzz/README.md describes the targets and what to do with a finding. Needs rustup. Installs the nightly toolchain and
# cargo-fuzz if they are missing; FUZZ_TOOLCHAIN names another toolchain.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"

seconds=${1:?seconds for each target}
shift
toolchain=${FUZZ_TOOLCHAIN:-nightly}
if ! cargo "+$toolchain" --version >/dev/null 2>&1; then
  rustup toolchain install "$toolchain" --profile minimal
fi
if ! cargo fuzz --version >/dev/null 2>&1; then
  cargo install cargo-fuzz
fi
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  mapfile -t targets < <(cargo "+$toolchain" fuzz list)
fi

# Targets write frames to files; a directory in memory is several times as fast.
TMPDIR=$(mktemp -d "$([ -d /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")/blosc2-fuzz.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# A finding is an assertion of a target, not a message: the library must not read variables of this shell.
unset BLOSC_CLEVEL BLOSC_COMPRESSOR BLOSC_NTHREADS BLOSC_TRACE BLOSC_LOCKING BLOSC_BLOSC1_COMPAT

cargo run --quiet --release --example seeds -- corpus
cargo "+$toolchain" fuzz build

# Headers may claim sizes up to 2 GiB, for which the library allocates memory that it does not touch: only memory in use is
# limited. AddressSanitizer returns NULL for what cannot be allocated, as malloc does.
export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1:detect_leaks=1}
logs=$TMPDIR/logs
mkdir -p "$logs" artifacts
table=()
failed=0
for target in "${targets[@]}"; do
  mkdir -p "corpus/$target" "artifacts/$target"
  before=$(find "artifacts/$target" -type f | wc -l)
  log=$logs/$target
  case $target in
    decompress | getitem) dictionary=(-dict=dictionaries/chunk) ;;
    frame | array | vlmeta) dictionary=(-dict=dictionaries/frame) ;;
    *) dictionary=() ;;
  esac
  status=0
  cargo "+$toolchain" fuzz run "$target" "corpus/$target" -- -max_total_time="$seconds" -timeout=25 -rss_limit_mb=3000 \
    -malloc_limit_mb=1000000 -max_len=20000 -print_final_stats=1 "${dictionary[@]}" >"$log" 2>&1 || status=$?
  findings=$(($(find "artifacts/$target" -type f | wc -l) - before))
  if [ "$status" -ne 0 ] || [ "$findings" -ne 0 ]; then
    failed=1
    cp "$log" "artifacts/$target.log"
    echo "$target: status $status, see fuzz/artifacts/$target.log" >&2
  fi
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
  inputs=$(find "corpus/$target" -type f | wc -l)
  table+=("$target|${executions:-?}|$inputs|${coverage:-?}|$findings")
done
{
  echo "target|executions|inputs|cov|findings"
  printf '%s\n' "${table[@]}"
} | column -t -s '|'
exit $failed

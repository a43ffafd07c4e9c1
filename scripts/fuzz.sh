#!/usr/bin/env bash
# Fuzzes the library with cargo-fuzz (libFuzzer, AddressSanitizer, overflow checks), each target for some seconds:
#
#     scripts/fuzz.sh SECONDS                # all targets of fuzz/, one after the other
#     scripts/fuzz.sh SECONDS TARGET...      # these
#     FUZZ_JOBS=2 scripts/fuzz.sh SECONDS    # two targets at the same time
#
# Ends with a table of executions, inputs of the corpus, coverage, slow inputs and findings, and fails if there is a
# finding. The output of each target is in fuzz/artifacts/TARGET.log. fuzz/README.md describes the targets and what to do
# with a finding. Needs rustup. Installs the nightly toolchain and cargo-fuzz if they are missing; FUZZ_TOOLCHAIN names
# another toolchain.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/../fuzz"

export seconds=${1:?seconds for each target}
shift
export toolchain=${FUZZ_TOOLCHAIN:-nightly}
if ! cargo "+$toolchain" --version >/dev/null 2>&1; then
  rustup toolchain install "$toolchain" --profile minimal
fi
if ! cargo fuzz --version >/dev/null 2>&1; then
  cargo install cargo-fuzz
fi
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  list=$(cargo "+$toolchain" fuzz list)
  mapfile -t targets <<<"$list"
  [ -n "$list" ] || { echo "cargo fuzz list names no target" >&2; exit 1; }
fi

# Targets write frames to files; a directory in memory makes them several times as fast.
TMPDIR=$(mktemp -d "$([ -d /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")/blosc2-fuzz.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# `BLOSC_*` variables of the caller would change results.
unset BLOSC_CLEVEL BLOSC_COMPRESSOR BLOSC_NTHREADS BLOSC_TRACE BLOSC_LOCKING BLOSC_BLOSC1_COMPAT

cargo run --quiet --release --example seeds -- corpus
cargo "+$toolchain" fuzz build

# Headers may claim sizes up to 2 GiB, for which the library allocates memory that it does not touch: only memory in use is
# limited. AddressSanitizer returns NULL for sizes that cannot be allocated, as malloc does.
export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1:detect_leaks=1}

# Prints the number of files in a folder that match a test of find.
count() { find "$1" -type f "${@:2}" | wc -l; }

# Prints a row of the table.
row() { printf '%-20s %12s %8s %8s %6s %9s\n' "$@"; }

# Fuzzes one target and writes its row to $TMPDIR/TARGET.row. Returns 1 if there is a finding.
fuzz() {
  local target=$1 artifacts=artifacts/$1 log=artifacts/$1.log dictionary=() status=0 findings slow
  mkdir -p "corpus/$target" "$artifacts"
  case $target in
    blosc1 | decompress | getitem) dictionary=(-dict=dictionaries/chunk) ;;
    frame | array | vlmeta) dictionary=(-dict=dictionaries/frame) ;;
  esac
  # libFuzzer also saves inputs that are slow but below the time limit.
  findings=$(count "$artifacts" ! -name 'slow-unit-*')
  slow=$(count "$artifacts" -name 'slow-unit-*')
  cargo "+$toolchain" fuzz run "$target" "corpus/$target" -- -max_total_time="$seconds" -timeout=25 -rss_limit_mb=3000 \
    -malloc_limit_mb=1000000 -max_len=20000 -print_final_stats=1 "${dictionary[@]}" >"$log" 2>&1 || status=$?
  findings=$(($(count "$artifacts" ! -name 'slow-unit-*') - findings))
  slow=$(($(count "$artifacts" -name 'slow-unit-*') - slow))
  local executions coverage
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
  row "$target" "${executions:-?}" "$(count "corpus/$target")" "${coverage:-?}" "$slow" "$findings" >"$TMPDIR/$target.row"
  if [ "$status" -ne 0 ] || [ "$findings" -ne 0 ]; then
    echo "$target: status $status, see fuzz/$log" >&2
    return 1
  fi
}
export -f fuzz count row

failed=0
printf '%s\0' "${targets[@]}" | xargs -0 -P "${FUZZ_JOBS:-1}" -I'{}' bash -c 'fuzz "$1"' - '{}' || failed=1
row target executions inputs cov slow findings
for target in "${targets[@]}"; do
  cat "$TMPDIR/$target.row"
done
exit $failed

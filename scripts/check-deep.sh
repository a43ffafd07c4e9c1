#!/usr/bin/env bash
# Runs the slow checks and prints a table:
#
#     scripts/check-deep.sh            # all of them: an hour or more
#     scripts/check-deep.sh --short    # those of .ci/run: Miri (a choice of tests), loom, leaks; below 7 minutes on 2 cores
#     scripts/check-deep.sh [--short] CHECK...   # only these
#
# miri      undefined behaviour in Rust code (scripts/check-miri.sh)
# loom      models of the worker pool and of the access lock of super-chunks, in every order of their threads
# tsan      ThreadSanitizer over three C programs with many threads (scripts/check-threads.sh)
# helgrind  Valgrind's race detector over one of them (scripts/check-threads.sh)
# leaks     Valgrind over five C programs: invalid accesses, lost memory (scripts/check-leaks.sh)
# asan      AddressSanitizer over the unit tests, with the nightly toolchain
#
# A check whose tools are missing is SKIPPED in the table and does not fail the script. A check that takes longer than
# CHECK_TIMEOUT seconds (30 minutes in the short form, else 3 hours) fails. The output of each is in target/check-deep/.
set -uo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."

all=(miri loom tsan helgrind leaks asan)
checks=("${all[@]}")
short=
if [ "${1:-}" = --short ]; then
  short=--short
  checks=(miri loom leaks)
  shift
fi
if [ $# -gt 0 ]; then
  checks=("$@")
fi
limit=${CHECK_TIMEOUT:-$([ -n "$short" ] && echo 1800 || echo 10800)}
target=${CARGO_TARGET_DIR:-target}
logs=$target/check-deep
mkdir -p "$logs"

# The exit status of a check whose tools are missing.
readonly SKIPPED=77

# The exit status of `timeout` if the time limit is exceeded.
readonly TIMED_OUT=124

miri() { CARGO_TARGET_DIR=$target/miri limited scripts/check-miri.sh $short; }

loom() {
  # Optimising the library takes longer than the models, which spend their time in loom and in its coroutines. With the
  # options of the release profile, the C code of zstd-sys is in the cache of compiled C code of .ci/run.
  local optimised=(--config profile.release.package.loom.opt-level=3 --config profile.release.package.generator.opt-level=3
    --config profile.release.package.zstd-sys.opt-level=3)
  RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" CARGO_TARGET_DIR=$target/loom CARGO_PROFILE_RELEASE_OPT_LEVEL=0 \
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=0 \
    limited cargo test --release "${optimised[@]}" --lib loom -- --nocapture
}

tsan() {
  [ -d "$(rustc --print sysroot)/lib/rustlib/src/rust" ] || rustup component add rust-src ||
    { echo "the toolchain has no rust-src, and rustup cannot add it"; return $SKIPPED; }
  limited scripts/check-threads.sh tsan
}

helgrind() { has_valgrind && limited scripts/check-threads.sh helgrind; }

leaks() { has_valgrind && limited scripts/check-leaks.sh; }

has_valgrind() { command -v valgrind >/dev/null || { echo "no valgrind (apt-get install valgrind)"; return $SKIPPED; }; }

asan() {
  local toolchain=${MIRI_TOOLCHAIN:-nightly} host
  cargo "+$toolchain" --version >/dev/null 2>&1 || { echo "no toolchain $toolchain"; return $SKIPPED; }
  host=$(rustc -vV | sed -n 's/^host: //p')
  # Worker sets of the process are never freed: LeakSanitizer is off. Tests request sizes that cannot be allocated, and
  # expect NULL from malloc. The cc crate compiles zstd with AddressSanitizer too, with a flag that fuzz/.cargo/config.toml
  # explains. Only unit tests: a library that a test loads with dlopen does not find the run-time of AddressSanitizer, which
  # the executable does not export. Damaged input is the subject of the fuzz targets, which have AddressSanitizer.
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=address" \
    CFLAGS="${CFLAGS:-} -fno-sanitize-address-use-after-scope" CARGO_TARGET_DIR=$target/asan \
    limited cargo "+$toolchain" test --target "$host" --no-fail-fast --lib
}

# Runs a command and its children for at most `limit` seconds.
limited() { timeout --kill-after 10 "$limit" "$@"; }

# Prints how much of a check ran, from its log.
amount() {
  case $1 in
    miri) awk '/ passed in /{tests += $1; groups++} END {print tests + 0 " tests in " groups + 0 " processes"}' "$2" ;;
    loom) awk '/ executions, preemption/{sub(/ executions, preemption.*/, ""); sub(/.*: /, ""); runs += $0}
      /^test result/{tests += $4} END {print tests + 0 " tests, " runs + 0 " executions"}' "$2" ;;
    asan) awk '/^test result/{tests += $4} END {print tests + 0 " tests"}' "$2" ;;
    *) awk '/^=== program/{programs++} END {print programs + 0 " programs"}' "$2" ;;
  esac
}

rows=()
status=0
for check in "${checks[@]}"; do
  case " ${all[*]} " in
    *" $check "*) ;;
    *) echo "usage: scripts/check-deep.sh [--short] [${all[*]}]" >&2; exit 2 ;;
  esac
  log=$logs/$check.log
  echo "--- $check"
  start=$SECONDS
  code=0
  ( "$check" ) >"$log" 2>&1 || code=$?
  case $code in
    0) result=passed ;;
    "$SKIPPED") result="SKIPPED: $(tail -n 1 "$log")" ;;
    *)
      result=FAILED
      [ $code -ne $TIMED_OUT ] || result="FAILED: took longer than $limit s"
      status=1
      tail -n 60 "$log"
      ;;
  esac
  rows+=("$(printf '%-9s %-32s %5d s   %s' "$check" "$(amount "$check" "$log")" $((SECONDS - start)) "$result")")
done
printf '\n%-9s %-32s %7s   %s\n' check ran time result
printf '%s\n' "${rows[@]}"
exit $status

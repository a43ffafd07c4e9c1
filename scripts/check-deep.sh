#!/usr/bin/env bash
# The checks that take long or need tools of their own, and a table of what they found:
#
#     scripts/check-deep.sh            # all of them: an hour or more
#     scripts/check-deep.sh --short    # those that .ci/run has time for: Miri (a choice of tests), loom, leaks
#     scripts/check-deep.sh CHECK...   # only these
#
# miri      undefined behaviour in Rust code (scripts/check-miri.sh)
# loom      models of the worker pool and of the access lock of super-chunks, in every order of their threads
# tsan      ThreadSanitizer over three C programs with many threads (scripts/check-threads.sh)
# helgrind  Valgrind's race detector over one of them (scripts/check-threads.sh)
# leaks     Valgrind over four C programs: invalid accesses, lost memory (scripts/check-leaks.sh)
# asan      AddressSanitizer over the unit tests and those on damaged input, with the nightly toolchain
#
# A check whose tools are missing is skipped, which the table tells. Fails if any check fails. The output of each is in
# target/check-deep/.
set -uo pipefail
cd "$(dirname "$0")/.."

all=(miri loom tsan helgrind leaks asan)
checks=("${all[@]}")
short=
if [ "${1:-}" = --short ]; then
  short=--short
  checks=(miri loom leaks)
elif [ $# -gt 0 ]; then
  checks=("$@")
fi
target=${CARGO_TARGET_DIR:-target}
logs=$target/check-deep
mkdir -p "$logs"

# The exit status of a check whose tools are missing.
readonly SKIPPED=77

miri() { CARGO_TARGET_DIR=$target/miri scripts/check-miri.sh $short; }

loom() {
  # Link-time optimisation takes longer than the models.
  RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" CARGO_TARGET_DIR=$target/loom CARGO_PROFILE_RELEASE_LTO=off \
    CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=0 \
    cargo test --release --lib loom -- --nocapture
}

tsan() {
  [ -d "$(rustc --print sysroot)/lib/rustlib/src/rust" ] || rustup component add rust-src ||
    { echo "the toolchain has no rust-src, and rustup cannot add it"; return $SKIPPED; }
  scripts/check-threads.sh tsan
}

helgrind() { has_valgrind && scripts/check-threads.sh helgrind; }

leaks() { has_valgrind && scripts/check-leaks.sh; }

has_valgrind() { command -v valgrind >/dev/null || { echo "no valgrind (apt-get install valgrind)"; return $SKIPPED; }; }

asan() {
  local toolchain=${MIRI_TOOLCHAIN:-nightly} host
  cargo "+$toolchain" --version >/dev/null 2>&1 || { echo "no toolchain $toolchain"; return $SKIPPED; }
  host=$(rustc -vV | sed -n 's/^host: //p')
  # The tests of the pool leave worker sets behind, which live as long as the process: leaks are looked for elsewhere.
  # The C code of zstd is not instrumented.
  ASAN_OPTIONS=detect_leaks=0 RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=address" CARGO_TARGET_DIR=$target/asan \
    cargo "+$toolchain" test --target "$host" --no-fail-fast --lib --test mutated --test mutated_frames
}

# Prints how much of a check ran, from its log.
amount() {
  case $1 in
    miri) awk '/ passed in /{tests += $1; groups++} END {print tests + 0 " tests in " groups + 0 " processes"}' "$2" ;;
    loom) awk '/ executions, preemption/{split($0, part, ": "); runs += part[2]}
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
    *) echo "usage: scripts/check-deep.sh [--short | ${all[*]}]" >&2; exit 2 ;;
  esac
  log=$logs/$check.log
  echo "--- $check"
  start=$SECONDS
  ( "$check" ) >"$log" 2>&1
  case $? in
    0) result=passed ;;
    "$SKIPPED") result="SKIPPED: $(tail -n 1 "$log")" ;;
    *)
      result=FAILED
      status=1
      tail -n 60 "$log"
      ;;
  esac
  rows+=("$(printf '%-9s %-32s %5d s   %s' "$check" "$(amount "$check" "$log")" $((SECONDS - start)) "$result")")
done
printf '\n%-9s %-32s %7s   %s\n' check ran time result
printf '%s\n' "${rows[@]}"
exit $status

#!/usr/bin/env bash
# PyTables with Blosc 1: Debian's modules link libblosc.so.1. The wheel has Blosc 1 as a static library, but calls it
# through the symbols that it exports, which LD_PRELOAD replaces. PyTables' own tests run.
# `quick` runs those of compressed arrays, and of created files with Debian's.
source "$(dirname "$0")/common.sh"
version=3.11.1
lib=$(blosc1_library)
ok=0
mkdir -p "$work/pytables-run"
cd "$work/pytables-run"
# As in pytables.sh.
echo '{"l2_cache_size": 1048576, "l3_cache_size": 8388608}' >.pytables-cpuinfo.json

# Adds the tests that modules run to the counts `ran` and `skipped`, and sets `verdict` to `failed` if one fails.
run_modules() { # log module... -- command...
  local log=$1 modules=()
  shift
  while [ "$1" != -- ]; do modules+=("$1"); shift; done
  shift
  verdict=passed ran=0 skipped=0
  local module count
  for module in "${modules[@]}"; do
    if HOME=$PWD "$@" -m "tables.tests.$module" >"$log-$module.log" 2>&1 && grep -q '^OK' "$log-$module.log"; then
      count=$(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' "$log-$module.log")
      ran=$((ran + count))
      count=$(sed -n 's/^OK (skipped=\([0-9]*\))$/\1/p' "$log-$module.log")
      skipped=$((skipped + ${count:-0}))
    else
      grep -E '^(FAIL|ERROR|Ran|OK|FAILED)' "$log-$module.log" | head -40 >&2 || true
      verdict=failed
    fi
  done
}

if debian debian-packages $debian_packages; then
  say "PyTables of Debian"
  assert_calls "$lib" blosc_compress on "$work/blosc1" python3 -c "import tables"
  case $mode in
    quick) modules=(test_carray test_earray test_create) ;;
    all) modules=(test_all) ;;
  esac
  # The number that is skipped depends on other libraries of the machine: LZO is one that PyTables uses if it is there.
  run_modules "$work/blosc1-pytables-original" "${modules[@]}" -- on debian python3
  expected="$ran $skipped"
  run_modules "$work/blosc1-pytables-debian" "${modules[@]}" -- on "$work/blosc1" python3
  [ "$ran $skipped" = "$expected" ] || verdict=failed
  result "PyTables 3.7.0 of Debian" "\`LD_LIBRARY_PATH\`" \
    "$ran tests run, $skipped skipped (as with Debian's library)" $verdict || ok=1
fi

say "PyTables $version"
py=$(environment pytables "tables==$version")
assert_calls "$lib" blosc_compress env LD_PRELOAD="$lib" "$py" -c "import tables"
case $mode in
  quick) modules=(test_carray test_earray) expected="740 51" alone="as alone" ;;
  # 45 tests of Snappy, which the library inside the wheel lacks, are not skipped.
  all) modules=(test_all) expected="6851 157" alone="alone 202: it lacks Snappy" ;;
esac
run_modules "$work/blosc1-pytables" "${modules[@]}" -- env LD_PRELOAD="$lib" "$py"
[ "$ran $skipped" = "$expected" ] || verdict=failed
result "PyTables $version" "\`LD_PRELOAD\`: it calls the library through symbols that can be replaced" \
  "$ran tests run, $skipped skipped ($alone)" $verdict || ok=1
exit $ok

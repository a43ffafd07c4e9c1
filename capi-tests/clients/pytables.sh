#!/usr/bin/env bash
# PyTables: the wheel bundles a C-Blosc2 of SONAME 7 and reads blosc2_schunk through inline functions of that release's
# headers. Our library of that ABI (cargo feature abi7) takes its place, and PyTables' own tests run on it.
# `quick` runs those of extendable arrays, of which 15 fail on a library with the present layout.
source "$(dirname "$0")/common.sh"
version=3.11.1

py=$(environment pytables "tables==$version")
site=$(site_packages "$py")
lib=$(library 7)
bundled=$(echo "$site"/tables.libs/libblosc2-*.so.7)
[ -f "$bundled" ] || { echo "the wheel bundles no libblosc2" >&2; exit 1; }
# A copy that PyTables would load first, were the bundled one not there already.
for file in "$bundled" "$site/tables/libblosc2.so"; do rm -f "$file"; cp "$lib" "$file"; done
assert_runs_on "$lib" "$py" "import tables"

log=$work/pytables.log
mkdir -p "$work/pytables-run"
cd "$work/pytables-run"
# PyTables makes chunks as large as the processor's last cache, and the tests write some of them item by item: with caches of
# servers they take many minutes. It looks here first.
echo '{"l2_cache_size": 1048576, "l3_cache_size": 8388608}' >.pytables-cpuinfo.json
case $mode in
  quick) tests=(tables.tests.test_earray) expected="Ran 348 tests" skipped=21 what="tests of extendable arrays" ;;
  all) tests=(tables.tests.test_all) expected="Ran 6851 tests" skipped=202 what="tests" ;;
esac
say "PyTables $version: $what"
verdict=failed
if HOME=$PWD "$py" -m "${tests[@]}" >"$log" 2>&1 && grep -q "^$expected" "$log" && grep -q "^OK (skipped=$skipped)" "$log"; then verdict=passed; fi
[ $verdict = passed ] || grep -E '^(FAIL|ERROR|Ran|OK|FAILED)' "$log" | head -40 >&2 || true
result "PyTables $version" "bundled \`libblosc2-*.so.7\` replaced (\`abi7\`)" \
  "${expected#Ran }${what#tests} run, ${skipped} skipped (as with its own library)" $verdict

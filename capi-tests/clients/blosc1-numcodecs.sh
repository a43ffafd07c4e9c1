#!/usr/bin/env bash
# numcodecs: Debian's module links libblosc.so.1. The wheel has Blosc 1 as a static library, but calls it through the
# symbols that it exports, which LD_PRELOAD replaces. The tests of the codec Blosc run, those that come with each
# package. `quick` runs Debian's only.
source "$(dirname "$0")/common.sh"
version=0.16.6
lib=$(blosc1_library)
ok=0

if debian debian-packages $debian_packages; then
  say "numcodecs of Debian"
  log=$work/blosc1-numcodecs-debian.log
  tests=$(on debian python3 -c 'import numcodecs; print(numcodecs.__path__[0])')/tests
  assert_calls "$lib" blosc_compress_ctx on "$work/blosc1" python3 -c "import numcodecs.blosc"
  verdict=failed
  # The tests write files into the working directory.
  cd "$TMPDIR"
  if on "$work/blosc1" python3 -m pytest -q -p no:cacheprovider --rootdir "$TMPDIR" \
    "$tests/test_blosc.py" >"$log" 2>&1 &&
    [ "$(pytest_counts "$log")" = "315 passed, 29 skipped, 36 xfailed" ]; then verdict=passed; fi
  [ $verdict = passed ] || tail -20 "$log" >&2
  result "numcodecs 0.11 of Debian" "\`LD_LIBRARY_PATH\`" \
    "$(pytest_counts "$log") of its Blosc tests (as with Debian's library)" $verdict || ok=1
fi
[ "$mode" = all ] || exit $ok

say "numcodecs $version"
py=$(environment blosc1-numcodecs "numcodecs==$version" pytest msgpack)
log=$work/blosc1-numcodecs.log
assert_calls "$lib" blosc_compress_ctx env LD_PRELOAD="$lib" "$py" -c "import numcodecs.blosc"
# A table of this test lacks Snappy, which the static library does not have.
deselected=(--deselect "numcodecs/tests/test_blosc.py::test_compress_complib")
cd "$(site_packages "$py")"
verdict=failed
if LD_PRELOAD=$lib "$py" -m pytest -q -p no:cacheprovider --rootdir . "${deselected[@]}" \
  numcodecs/tests/test_blosc.py >"$log" 2>&1 &&
  [ "$(pytest_counts "$log")" = "220 passed, 15 skipped" ]; then verdict=passed; fi
[ $verdict = passed ] || tail -20 "$log" >&2
result "numcodecs $version" "\`LD_PRELOAD\`: it calls the library through symbols that can be replaced" \
  "$(pytest_counts "$log") of its Blosc tests (3 deselected: their table of codecs lacks Snappy)" $verdict || ok=1
exit $ok

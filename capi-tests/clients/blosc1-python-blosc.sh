#!/usr/bin/env bash
# python-blosc, the Python module `blosc`: Debian's links libblosc.so.1. The wheel has a static library whose
# functions are hidden, so the source distribution is built against our header and library, which it supports
# (USE_SYSTEM_BLOSC). The module's own tests run. `quick` runs Debian's only.
source "$(dirname "$0")/common.sh"
version=1.11.4
lib=$(blosc1_library)
ok=0

run_tests() { # log expected closing line, command...
  local log=$1 expected=$2
  shift 2
  if "$@" -m blosc.test >"$log" 2>&1 && grep -q '^Ran 39 tests' "$log" && grep -q "^$expected" "$log"; then
    echo passed
  else
    tail -20 "$log" >&2
    echo failed
  fi
}

if debian debian-packages $debian_packages; then
  say "python-blosc of Debian"
  assert_calls "$lib" blosc_compress on "$work/blosc1" python3 -c "import blosc"
  # One test needs the package psutil.
  verdict=$(run_tests "$work/blosc1-python-blosc-debian.log" "OK (skipped=1)" on "$work/blosc1" python3)
  result "python-blosc 1.11.1 of Debian" "\`LD_LIBRARY_PATH\`" "39 tests run, 1 skipped (as with Debian's library)" \
    "$verdict" || ok=1
fi
[ "$mode" = all ] || exit $ok

say "python-blosc $version"
source=$work/blosc1-python-blosc-source
sources blosc "$version" "$source" CMakeLists.txt README.rst VERSION cmake pyproject.toml setup.cfg setup.py \
  blosc/CMakeLists.txt blosc/__init__.py blosc/_version.py blosc/blosc_extension.c blosc/test.py blosc/toplevel.py \
  blosc/version.py
py=$(environment blosc1-python-blosc cmake ninja numpy psutil scikit-build setuptools wheel)
prefix=$work/blosc1-prefix
rm -rf "$prefix"
mkdir -p "$prefix/include" "$prefix/lib"
cp "$root"/blosc1/include/*.h "$prefix/include/"
ln -s "$lib" "$prefix/lib/libblosc.so"
(cd "$source" && export USE_SYSTEM_BLOSC=1 CMAKE_PREFIX_PATH=$prefix PATH=$(dirname "$py"):$PATH &&
  install "$py" --no-build-isolation --no-deps --force-reinstall .)
export LD_LIBRARY_PATH=$work/blosc1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
assert_calls "$lib" blosc_compress "$py" -c "import blosc"
verdict=$(run_tests "$work/blosc1-python-blosc.log" "OK$" "$py")
result "python-blosc $version" "built from its source against our header and library (\`USE_SYSTEM_BLOSC=1\`)" "39 tests run" \
  "$verdict" || ok=1
exit $ok

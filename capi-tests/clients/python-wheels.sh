#!/usr/bin/env bash
# The wheels of scripts/python-wheel.sh in virtual environments. `libblosc2`: programs in C find the library there with CMake and pkg-config.
# python-blosc2: its whole test suite; `quick` runs the tests of super-chunks and arrays. WHEELS names a directory with both wheels;
# without it, they are built.
source "$(dirname "$0")/common.sh"
version=$reference_version
wheels=${WHEELS:-$work/wheels}
[ -n "${WHEELS:-}" ] || { rm -rf "$wheels" && "$root/scripts/python-wheel.sh" --out "$wheels" >&2; }

say "the wheel libblosc2"
cd "$TMPDIR"
rm -rf "$work/wheel-libblosc2"
"$python" -m venv --without-pip "$work/wheel-libblosc2"
install "$work/wheel-libblosc2/bin/python" --no-deps "$wheels"/libblosc2-*.whl
verdict=passed
found=()
(
  # As `activate` does.
  export VIRTUAL_ENV=$work/wheel-libblosc2 PATH=$work/wheel-libblosc2/bin:$PATH
  if command -v cmake >/dev/null; then
    cmake -S "$root/capi-tests/cmake-user" -B cmake -DPROGRAM="$root/capi-tests/installed.c" -DPACKAGE=Blosc2 -DLIBRARY=blosc2 \
      -DVERSION="$(sed -n 's/^#define BLOSC2_VERSION_STRING "\([^"]*\)".*/\1/p' "$root/include/blosc2.h")" -DPARTS="THREADS;LZ4;ZLIB;ZSTD;ZFP;IPP" >cmake.log && cmake --build cmake >>cmake.log || { cat cmake.log; exit 1; }
    grep -q "Blosc2_DIR:PATH=$VIRTUAL_ENV/lib/cmake/Blosc2" cmake/CMakeCache.txt
  else
    echo "SKIPPED: the wheel libblosc2 with CMake, which is not installed"
  fi
  export PKG_CONFIG_PATH=$VIRTUAL_ENV/lib/pkgconfig
  "${CC:-cc}" "$root/capi-tests/installed.c" -o installed $(pkg-config --cflags --libs blosc2) -Wl,-rpath,"$VIRTUAL_ENV/lib"
  ./installed >/dev/null
  ldd installed | grep -q "libblosc2.so.9 => $VIRTUAL_ENV/lib/"
) >&2 || verdict=failed
ok=0
result "wheel \`libblosc2\`" "found in a virtual environment" "programs built with CMake and pkg-config run" $verdict || ok=1

say "the wheel of python-blosc2 $version"
rm -rf "$work/wheel-blosc2"
"$python" -m venv --without-pip "$work/wheel-blosc2"
py=$work/wheel-blosc2/bin/python
install "$py" "$wheels"/blosc2-*.whl pytest pytest-xdist psutil h5py hdf5plugin
assert_runs_on "$(site_packages "$py")/blosc2/lib/libblosc2.so.9" "$py" "import blosc2"
source=$work/python-blosc2-source
sources blosc2 "$version" "$source" src/blosc2 tests examples pytest.ini conftest.py
cd "$source"
case $mode in
  quick) tests=(tests/test_schunk.py tests/test_compress2.py tests/ndarray/test_getitem.py tests/ndarray/test_setitem.py) ;;
  all) tests=(tests -m "not network and not tui") ;;
esac
log=$work/wheel-blosc2.log
verdict=failed
if test_python_blosc2 "$py" "$log" "${tests[@]}"; then verdict=passed; fi
result "python-blosc2 $version, wheel" "\`scripts/python-wheel.sh\`" "$(tail -1 "$log" | sed 's/ in .*//') (4 deselected)" $verdict || ok=1
exit $ok

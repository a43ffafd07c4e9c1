#!/usr/bin/env bash
# Python-Blosc2: the extension module of the wheel holds C-Blosc2 as a static library, so there is no file to swap. The
# module is built again and linked with libblosc2.so.9 (swap_python_blosc2). Then the package's own tests run; b2h5py,
# which reads HDF5 files through it, runs its own too.
# `quick` runs the tests of chunks, super-chunks, frames and slices of arrays, without the plugins. BLOSC2_LIBRARY names another library
# instead of ours (to see what the reference does).
source "$(dirname "$0")/common.sh"
version=$reference_version
b2h5py_version=0.5.1

py=$(environment python-blosc2 "blosc2==$version" "b2h5py==$b2h5py_version" cython setuptools pytest pytest-xdist psutil h5py hdf5plugin)
site=$(site_packages "$py")/blosc2
source=$work/python-blosc2-source
swap_python_blosc2 "$py" "${BLOSC2_LIBRARY:-$(library 9)}"

case $mode in
  quick) tests=(tests/test_schunk*.py tests/test_vlmeta.py tests/test_storage.py tests/test_compress2.py tests/test_decompress.py tests/test_ufilters.py tests/test_ucodecs.py tests/test_prefilters.py tests/test_postfilters.py tests/ndarray/test_getitem.py tests/ndarray/test_setitem.py tests/ndarray/test_resize.py tests/ndarray/test_slice.py tests/ndarray/test_lossy.py) ;;
  all) tests=(tests) ;;
esac
say "python-blosc2 $version"
cd "$source"
[ "$mode" = all ] || tests=($(ls ${tests[@]} 2>/dev/null))
log=$work/python-blosc2.log
verdict=failed
marks=()
[ "$mode" = quick ] || marks=(-m "not network and not tui")
if test_python_blosc2 "$py" "$log" "${marks[@]}" "${tests[@]}"; then verdict=passed; fi
ok=0
result "python-blosc2 $version" "extension module built from its source against our headers, linked with \`libblosc2.so.9\`" \
  "$(tail -1 "$log" | sed 's/ in .*//') (4 deselected)" $verdict || ok=1

# Once more at the level `off`, without the tests that take long.
if [ "$mode" = all ]; then
  say "python-blosc2 $version with BLOSC2_DURABILITY=off"
  log=$work/python-blosc2-off.log
  verdict=failed
  if BLOSC2_DURABILITY=off test_python_blosc2 "$py" "$log" "${tests[@]}"; then verdict=passed; fi
  result "python-blosc2 $version, level off" "the same module, files and directories at the level \`off\`" \
    "$(tail -1 "$log" | sed 's/ in .*//') (4 deselected)" $verdict || ok=1
fi

say "b2h5py $b2h5py_version"
log=$work/b2h5py.log
verdict=failed
if "$py" -m unittest discover -s "${site%/*}/b2h5py/tests" -t "${site%/*}" >"$log" 2>&1 && grep -q '^OK' "$log"; then verdict=passed; fi
result "b2h5py $b2h5py_version" "through that module" "$(sed -n 's/^Ran \([0-9]* tests\).*/\1/p' "$log") run" $verdict || ok=1
exit $ok

#!/usr/bin/env bash
# Compiles the extension module of python-blosc2 from the source in its package, and links it with a libblosc2.so and the expression
# evaluator, a shared library. For scripts/python-wheel.sh and common.sh.
#
#     build-python-blosc2.sh PYTHON PACKAGE INCLUDE LIB BUILD [FLAG...]
#
# PYTHON has cython, numpy and setuptools. PACKAGE contains blosc2_ext.pyx, INCLUDE our headers, LIB libblosc2.so and
# libminiexpr.so. Writes BUILD/blosc2_ext.abi3.so, which Python 3.11 and later loads, and which finds the libraries in lib/ beside
# itself.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
py=$1 package=$2 include=$3 lib=$4 build=$5
shift 5
"$py" "$(dirname "$0")/miniexpr_header.py" "$package/blosc2_ext.pyx" >"$build/miniexpr.h"
: >"$build/miniexpr_numpy.h"
"$py" -m cython "$package/blosc2_ext.pyx" -o "$build/blosc2_ext.c"
"${CC:-cc}" "$@" -fPIC -shared -fvisibility=hidden -w -DPy_LIMITED_API=0x030B0000 -I"$build" -I"$package" -I"$include" \
  -I"$("$py" -c 'import sysconfig; print(sysconfig.get_path("include"))')" \
  -I"$("$py" -c 'import numpy; print(numpy.get_include())')" \
  "$build/blosc2_ext.c" "$package/matmul_kernels.c" -o "$build/blosc2_ext.abi3.so" \
  -L"$lib" -lblosc2 -l:libminiexpr.so -Wl,-rpath,'$ORIGIN/lib' -ldl -lm

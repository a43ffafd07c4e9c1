# What the scripts of this folder share; sourced, not run. A client's packages, its swapped library and what its
# tests leave lie in target/clients (CLIENTS_DIR); nothing outside is touched.
set -Eeuo pipefail
shopt -s inherit_errexit
trap 'echo "FAILED: $0, line $LINENO: $BASH_COMMAND" >&2' ERR

clients=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$clients/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
work=${CLIENTS_DIR:-$target/clients}
# With its path: a script may put another Python in front.
python=$(command -v "${PYTHON:-python3}")
reference_version=4.14.1
# Programs of Debian 12 that link libblosc.so.1; blosc1-gdal.sh has its own. 22 MB with their dependencies.
debian_packages="python3-numcodecs python3-tables python3-blosc python3-pytest libopenvdb-tools libnanovdb-tools
  hdf5-filter-plugin-blosc-serial hdf5-tools"
imagecodecs_version=2026.3.6
mode=${1:-all}
case $mode in quick | all) ;; *) echo "usage: $0 [quick|all]" >&2; exit 2 ;; esac
mkdir -p "$work"
unset BLOSC_TRACE BLOSC_INFO BLOSC_NTHREADS BLOSC_CLEVEL LD_PRELOAD

# The suites leave files in the temporary directory: they get one that goes when the script ends. Its path is short,
# since Python puts sockets into it.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

say() { printf '\n--- %s\n' "$*" >&2; }

# The profile of the libraries of SONAME 7 and of Blosc 1; `.ci/run` selects one that is compiled faster.
profile=${CLIENTS_PROFILE:-release}

# Builds our library with the ABI of that SONAME, unless it is there, and prints its path.
library() { # 9|7
  local place=$target features=() profile=$profile
  if [ "$1" = 7 ]; then place=$target/abi7 features=(--features abi7); else profile=release; fi
  (cd "$root" && cargo build --profile "$profile" --lib --quiet "${features[@]}" --target-dir "$place") >&2
  echo "$place/$profile/libblosc2.so"
}

# Installs packages into a virtual environment that has no pip of its own, without compiling the modules that no test
# imports: this saves 4 to 8 seconds for each environment.
install() { # python package...
  local py=$1
  shift
  "$python" -m pip --python "$py" install --root-user-action=ignore --quiet --disable-pip-version-check --no-compile "$@" >&2
}

# Makes a virtual environment with packages, once, and prints its Python.
environment() { # name package...
  local place=$work/$1
  shift
  if [ "$(cat "$place/complete" 2>/dev/null)" != "$*" ]; then
    rm -rf "$place"
    "$python" -m venv --without-pip "$place" >&2
    install "$place/bin/python" "$@"
    echo "$*" >"$place/complete"
  fi
  echo "$place/bin/python"
}

# Of imagecodecs.sh and blosc1-imagecodecs.sh. The packages blosc and blosc2 are what its tests compare with.
imagecodecs_environment() {
  environment imagecodecs "imagecodecs==$imagecodecs_version" "blosc2==$reference_version" blosc==1.11.4 zarr numcodecs pytest
}

site_packages() { "$1" -c 'import sysconfig; print(sysconfig.get_path("platlib"))'; }

# The headers and the library of the reference in a release of the package blosc2, as its wheel has them.
release() { # version
  local place=$work/blosc2-$1
  if [ ! -f "$place/complete" ]; then
    rm -rf "$place"
    "$python" -m pip install --root-user-action=ignore --quiet --disable-pip-version-check --no-deps --only-binary=:all: --target "$place" "blosc2==$1" >&2
    touch "$place/complete"
  fi
  echo "$place/blosc2"
}

# The source distribution of a package, unpacked except for what is not wanted; only its tests and scripts are used.
sources() { # package version directory wanted...
  local package=$1 version=$2 place=$3
  shift 3
  if [ ! -f "$place/complete" ]; then
    rm -rf "$place"
    mkdir -p "$place"
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary "$package" -d "$place" "$package==$version" >&2
    local wanted=("${@/#/$package-$version/}")
    tar xzf "$place/$package-$version.tar.gz" -C "$place" --strip-components 1 "${wanted[@]}"
    touch "$place/complete"
  fi
}

# Fails unless a Python program that runs this statement has mapped our library, and no other libblosc2.
assert_runs_on() { # library python statement
  local mapped
  mapped=$("$2" -c "$3
import os
names = {line.split()[-1] for line in open('/proc/self/maps') if 'libblosc2' in os.path.basename(line.split()[-1])}
print('\n'.join(sorted(names)))")
  [ -n "$mapped" ] || { echo "$2 has mapped no libblosc2" >&2; exit 1; }
  while read -r file; do
    cmp -s "$file" "$1" || { echo "$file is not our library" >&2; exit 1; }
  done <<<"$mapped"
}

# Puts an extension module of Python-Blosc2 that is linked with a library into the place of the wheel's module. The module is
# built from the package's own blosc2_ext.pyx against our headers, once for all environments; what else the wheel's module
# holds (the expression evaluator) is taken from that module, as a shared library. The environment has cython and setuptools.
swap_python_blosc2() { # python library
  local py=$1 lib=$2 build=$work/python-blosc2-build source=$work/python-blosc2-source site
  site=$(site_packages "$py")/blosc2
  sources blosc2 "$reference_version" "$source" src/blosc2 tests examples pytest.ini conftest.py
  if [ ! -f "$build/complete" ]; then
    say "building the extension module of python-blosc2"
    rm -rf "$build"
    mkdir -p "$build"
    cp "$site/blosc2_ext.abi3.so" "$build/libminiexpr.so"
    ln -sf "$lib" "$build/libblosc2.so"
    "$clients/build-python-blosc2.sh" "$py" "$source/src/blosc2" "$root/include" "$build" "$build" -O1 >&2
    touch "$build/complete"
  fi
  rm -f "$site"/lib/libblosc2.* "$site/blosc2_ext.abi3.so"
  cp "$build/blosc2_ext.abi3.so" "$site/"
  cp "$build/libminiexpr.so" "$site/lib/"
  cp "$lib" "$site/lib/libblosc2.so.9"
  assert_runs_on "$lib" "$py" "import blosc2"
}

# Makes a directory with our libblosc.so.1, and prints the path of the library in it. BLOSC1_LIBRARY names another library
# that takes its place (to see what the reference does).
blosc1_library() {
  local place=$work/blosc1 file=${BLOSC1_LIBRARY:-$target/$profile/libblosc.so}
  if [ -z "${BLOSC1_LIBRARY:-}" ]; then
    (cd "$root" && cargo build --profile "$profile" --lib --quiet -p libblosc1-rs --target-dir "$target") >&2
  fi
  mkdir -p "$place"
  cmp -s "$file" "$place/libblosc.so.1" || { rm -f "$place/libblosc.so.1" && cp "$file" "$place/libblosc.so.1"; }
  echo "$place/libblosc.so.1"
}

# Downloads packages of Debian 12 and those of their dependencies that this machine does not have, and unpacks them
# into $work/$name: nothing is installed. Fails, with a line for the log, on another system and without Debian's
# archive.
debian() { # name package...
  debian_place=$work/$1
  shift
  [ "$(cat "$debian_place/complete" 2>/dev/null)" = "$*" ] || fetch_debian "$@" || {
    echo "SKIPPED: programs of Debian with libblosc.so.1 ($*): their packages cannot be fetched here" >&2
    return 1
  }
}

fetch_debian() { # package...
  local archives=$debian_place/archives
  (. /etc/os-release && [ "$ID-$VERSION_ID" = debian-12 ]) || return 1
  rm -rf "$debian_place"
  mkdir -p "$archives/partial"
  local fetch=(apt-get install -qq -y --download-only --no-install-recommends -o "Dir::Cache::archives=$archives")
  { "${fetch[@]}" "$@" || { apt-get update -qq && "${fetch[@]}" "$@"; }; } >&2 || return 1
  # The original library is needed in any case, also if the machine has it.
  (cd "$archives" && apt-get download -qq libblosc1 libsnappy1v5) >&2 || return 1
  local package
  for package in "$archives"/*.deb; do dpkg -x "$package" "$debian_place" || return 1; done
  rm -rf "$archives"
  echo "$*" >"$debian_place/complete"
}

# Runs a command with the unpacked packages of `debian`, on the libblosc.so.1 of that directory, or on Debian's. The
# command `python3` is Debian's, whose modules these are.
on() { # directory|debian command...
  local usr=$debian_place/usr
  local libraries=$(echo "$usr"/lib/*-linux-gnu) first=
  [ "$1" = debian ] || first=$1:
  shift
  env LD_LIBRARY_PATH="$first$libraries:$libraries/blas:$libraries/lapack:$usr/lib" PATH="$usr/bin:/usr/bin:$PATH" \
    PYTHONPATH="$usr/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1 \
    HDF5_PLUGIN_PATH="$libraries/hdf5/serial/plugins:/usr${libraries#"$usr"}/hdf5/serial/plugins" "$@"
}

# Fails unless a command calls that function of that library, and calls no other library for one of the functions that
# the library exports.
assert_calls() { # library function command...
  local lib function=$2 log=$TMPDIR/bindings name file
  lib=$(realpath "$1")
  shift 2
  rm -f "$log".*
  LD_BIND_NOW=1 LD_DEBUG=bindings LD_DEBUG_OUTPUT=$log "$@" >/dev/null 2>&1 || { echo "this failed: $*" >&2; exit 1; }
  nm -D --defined-only "$lib" | awk '$2 == "T" { print $3 }' | LC_ALL=C sort >"$log-functions"
  cat "$log".* | sed -n "s|.*binding file [^ ]* .* to \([^ ]*\) .*normal symbol .\(blosc[a-z0-9_]*\).*|\2 \1|p" |
    LC_ALL=C sort -u | LC_ALL=C join "$log-functions" - >"$log-bound"
  grep -q "^$function " "$log-bound" || { echo "this calls no $function: $*" >&2; exit 1; }
  while read -r name file; do
    [ "$(realpath "$file")" = "$lib" ] || { echo "this calls $name of $file, not of $lib: $*" >&2; exit 1; }
  done <"$log-bound"
}

# Runs tests of python-blosc2 in the current directory, and prints the first that fail. The four left out are not of the library:
# one of a script that the source distribution leaves out, one that queries the run-time compiler of the expression evaluator to
# find symbols in the module that is a shared library here, and two that compare the length of an open file, which has a gap, with
# that of the closed one.
test_python_blosc2() { # python log argument-of-pytest...
  local py=$1 log=$2 deselected=(
    --deselect tests/ctable/test_remote_ctable.py::test_parallel_metadata_benchmark
    --deselect tests/ndarray/test_dsl_kernels.py::test_validate_dsl_jit_reports_compile_and_fallback
    --deselect tests/ndarray/test_proxy.py::test_readonly_proxy_keeps_both_readonly
    --deselect tests/test_proxy_schunk.py::test_readonly_proxy_keeps_both_readonly
  )
  shift 2
  "$py" -m pytest -q -n "${JOBS:-2}" -p no:cacheprovider -p no:unraisableexception "${deselected[@]}" "$@" >"$log" 2>&1 && return
  grep -E '^(FAILED|ERROR)' "$log" | cut -c1-200 | head -40 >&2 || true
  return 1
}

# Prints the closing line of a log of pytest, without the time and the tests that were not selected.
pytest_counts() { # log
  tail -1 "$1" | sed 's/ in .*//; s/, [0-9]* deselected//; s/, [0-9]* warnings*//'
}

# One line of the table in docs/clients.md.
result() { # client, how it meets the library, figures, passed|failed
  printf '%s | %s | %s | %s\n' "$1" "$2" "$3" "$4" >&2
  if [ -n "${CLIENTS_RESULTS:-}" ]; then printf '| %s | %s | %s | %s |\n' "$1" "$2" "$3" "$4" >>"$CLIENTS_RESULTS"; fi
  [ "$4" = passed ]
}

# What the scripts of this folder share; sourced, not run. A client's packages, its swapped library and what its
# tests leave lie in target/clients (CLIENTS_DIR); nothing outside is touched.
set -euo pipefail

clients=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$clients/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
work=${CLIENTS_DIR:-$target/clients}
python=${PYTHON:-python3}
reference_version=4.14.1
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

# Builds our library with the ABI of that SONAME, unless it is there, and prints its path.
library() { # 9|7
  local place=$target features=()
  if [ "$1" = 7 ]; then place=$target/abi7 features=(--features abi7); fi
  (cd "$root" && cargo build --release --lib --quiet "${features[@]}" --target-dir "$place") >&2
  echo "$place/release/libblosc2.so"
}

# Makes a virtual environment with packages, once, and prints its Python.
environment() { # name package...
  local place=$work/$1
  shift
  if [ ! -f "$place/complete" ]; then
    rm -rf "$place"
    "$python" -m venv "$place" >&2
    "$place/bin/python" -m pip install --root-user-action=ignore --quiet --disable-pip-version-check "$@" >&2
    touch "$place/complete"
  fi
  echo "$place/bin/python"
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

# One line of the table in docs/clients.md.
result() { # client, how it meets the library, figures, passed|failed
  printf '%s | %s | %s | %s\n' "$1" "$2" "$3" "$4" >&2
  if [ -n "${CLIENTS_RESULTS:-}" ]; then printf '| %s | %s | %s | %s |\n' "$1" "$2" "$3" "$4" >>"$CLIENTS_RESULTS"; fi
  [ "$4" = passed ]
}

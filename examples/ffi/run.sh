#!/usr/bin/env bash
# Runs the examples of this folder whose runtime is installed, on the library given as argument (default: the release
# build), and lists the ones that were skipped. With --install, first installs the packages of the runtimes: cffi by pip
# and koffi by npm into target/ffi, JNA and FFI::Platypus by apt-get (only as root).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${CARGO_TARGET_DIR:-$root/target}/ffi
install=no
if [ "${1:-}" = --install ]; then install=yes; shift; fi
library=${1:-}
if [ -z "$library" ]; then
  (cd "$root" && cargo build --release --lib --quiet)
  library=${CARGO_TARGET_DIR:-$root/target}/release/libblosc2.so
fi
library=$(readlink -f "$library")
mkdir -p "$work"

ran=0 failed=0 skipped=0
try() { # name command...
  local name=$1
  shift
  if "$@"; then ran=$((ran + 1)); else echo "FAILED: $name" >&2; failed=$((failed + 1)); fi
}
skip() { echo "SKIPPED: $1" >&2; skipped=$((skipped + 1)); }

python=${PYTHON:-python3}
try ctypes "$python" "$here/python_ctypes.py" "$library"

if [ $install = yes ] && [ ! -x "$work/python/bin/python" ]; then
  "$python" -m venv "$work/python"
  "$work/python/bin/python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore cffi
fi
[ ! -x "$work/python/bin/python" ] || python=$work/python/bin/python
if "$python" -c 'import cffi' 2>/dev/null; then try cffi "$python" "$here/python_cffi.py" "$library"; else skip 'cffi (pip install cffi)'; fi

if [ $install = yes ] && command -v npm >/dev/null && [ ! -d "$work/node_modules/koffi" ]; then
  npm install --silent --no-audit --no-fund --prefix "$work" koffi >/dev/null
fi
if NODE_PATH=$work/node_modules node -e 'require("koffi")' 2>/dev/null; then
  try koffi env NODE_PATH="$work/node_modules" node "$here/node_koffi.js" "$library"
else
  skip 'koffi (npm install koffi)'
fi

jna=${JNA_JAR:-/usr/share/java/jna.jar}
perl_module='use FFI::Platypus 2.00; use FFI::Platypus::Buffer'
if [ $install = yes ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  packages=()
  [ -f "$jna" ] || ! command -v java >/dev/null || packages+=(libjna-java)
  perl -e "$perl_module" 2>/dev/null || packages+=(libffi-platypus-perl)
  [ ${#packages[@]} = 0 ] || DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${packages[@]}" >/dev/null || true
fi
if [ -f "$jna" ] && command -v java >/dev/null; then
  try JNA java -cp "$jna" "$here/JavaJna.java" "$library"
else
  skip 'JNA (Java 11 or later and libjna-java)'
fi
if perl -e "$perl_module" 2>/dev/null; then
  try Platypus perl "$here/perl_platypus.pl" "$library"
else
  skip 'FFI::Platypus (libffi-platypus-perl)'
fi

echo "$ran passed, $failed failed, $skipped skipped"
[ $failed = 0 ]

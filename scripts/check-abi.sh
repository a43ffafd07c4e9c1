#!/usr/bin/env bash
# The ABI guard: compares the interface of the reference's headers and library (functions, structs, fields, constants,
# macros, inline functions, the headers that each header includes, symbols) with ours, for the releases of SONAME 9, 8 and
# 7, and for C-Blosc 1. Fails on every difference that is not in capi-tests/abi/accepted.txt with a reason. If abidiff is
# installed (Debian: abigail-tools), it must not report a difference either.
#
#     scripts/check-abi.sh
#
# Needs Rust, gcc (which extracts the declarations of the headers), binutils, Python 3 with pip.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
source "$(dirname "$0")/../capi-tests/clients/common.sh"
export PYTHONDONTWRITEBYTECODE=1
# The list of accepted differences is for one platform; on other platforms the sources declare the same types.
[ "$(uname -sm)" = "Linux x86_64" ] || { echo "SKIPPED: the ABI guard, which knows Linux on x86-64 only" >&2; exit 0; }
guard=$root/capi-tests/abi

"$root/scripts/fetch-reference.sh" >&2
nine=$root/reference/blosc2
eight=$(release 4.5.1)
seven=$(release 4.1.2)
"$root/scripts/fetch-blosc1.sh" >&2
one=$root/reference-blosc1/python-blosc

# First checks that the guard finds planted differences, then compares the real headers and libraries.
"$python" "$guard/planted.py" blosc2 "$root/include"
"$python" "$guard/planted.py" blosc1 "$root/blosc1/include"

(cd "$root" && cargo build --profile "$profile" --lib --quiet --package libblosc1-rs --target-dir "$target") >&2

failed=0
compare() { # name, their package, their library, our library, arguments of compare.py...
  local name=$1 theirs=$2 their_library=$3 our_library=$4
  shift 4
  mkdir -p "$TMPDIR/$name"
  "$python" "$guard/compare.py" "$name" --theirs "$theirs/include" --their-library "$their_library" \
    --our-library "$our_library" --accepted "$guard/accepted.txt" --stand-ins "$TMPDIR/$name" "$@" || failed=1
}
compare 9 "$nine" "$nine/lib/libblosc2.so" "$(library 9)" --later "$nine/include" --ours "$root/include"
compare 8 "$eight" "$eight/lib/libblosc2.so.8" "$(library 9)" --later "$nine/include" --ours "$root/include"
"$root/scripts/abi7-headers.sh" "$TMPDIR/include-abi7"
compare 7 "$seven" "$seven/lib/libblosc2.so.7" "$(library 7)" --later "$nine/include" \
  --ours "$TMPDIR/include-abi7" "$root/include"
compare blosc1 "$one" "$one/lib/libblosc.so" "$target/$profile/libblosc.so" --api blosc1 --ours "$root/blosc1/include"

if command -v abidiff >/dev/null; then
  # SONAME 7 and 9 differ: checks that abidiff reports it, so that its empty output below is meaningful.
  if abidiff "$TMPDIR/7/theirs.so" "$TMPDIR/9/ours.so" >/dev/null; then
    echo "abidiff finds SONAME 7 and 9 equal" >&2
    failed=1
  fi
  for name in 9 blosc1; do
    if abidiff "$TMPDIR/$name/theirs.so" "$TMPDIR/$name/ours.so"; then echo "abidiff $name: no difference"; else failed=1; fi
  done
else
  echo "SKIPPED: abidiff (apt-get install abigail-tools)" >&2
fi
if [ $failed = 0 ]; then echo "ABI: 4 passed, 0 failed"; else echo "ABI: differences that are not accepted" >&2; exit 1; fi

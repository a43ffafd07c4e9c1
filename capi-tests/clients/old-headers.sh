#!/usr/bin/env bash
# Programs compiled against the headers of older releases: capi-tests/clients/old_program.c as C and as C++, with the
# headers and the library of a release of each SONAME, then run on that library and on ours. What they print has to be
# the same, byte for byte. The ABI of 8 is that of 9: our library of SONAME 9 is found under both names.
source "$(dirname "$0")/common.sh"

lib9=$(library 9)
lib7=$(library 7)
ours=$work/our-libraries
rm -rf "$ours"
mkdir -p "$ours"
cp "$lib9" "$ours/libblosc2.so.9"
ln -s libblosc2.so.9 "$ours/libblosc2.so.8"
cp "$lib7" "$ours/libblosc2.so.7"

ok=passed
for release in 4.1.2:7 4.5.1:8 $reference_version:9; do
  wheel=${release%:*} soname=libblosc2.so.${release#*:}
  place=$work/blosc2-$wheel
  if [ ! -f "$place/complete" ]; then
    rm -rf "$place"
    "$python" -m pip install --root-user-action=ignore --quiet --disable-pip-version-check --no-deps --only-binary=:all: --target "$place" "blosc2==$wheel"
    touch "$place/complete"
  fi
  theirs=$place/blosc2/lib
  for language in c c++; do
    name=$soname-$language
    compiler=${CC:-cc}
    [ $language = c ] || compiler=${CXX:-c++}
    $compiler -x $language -Wall -Wextra -Werror -O1 -I"$place/blosc2/include" "$clients/old_program.c" -x none \
      -o "$work/old_program-$name" -L"$theirs" -lblosc2
    readelf -d "$work/old_program-$name" | grep -q "NEEDED.*\[$soname\]" || { echo "$wheel is not of $soname" >&2; exit 1; }
    for side in theirs ours; do
      files=$(mktemp -d "$work/files.XXXXXX")
      code=0
      LD_LIBRARY_PATH=${!side} "$work/old_program-$name" "$files" >"$work/old_program-$name.$side.txt" || code=$?
      rm -rf "$files"
      [ $code = 0 ] || { echo "$name fails on $side with $code" >&2; ok=failed; }
    done
    diff "$work/old_program-$name.theirs.txt" "$work/old_program-$name.ours.txt" >&2 || ok=failed
    [ "$(wc -l <"$work/old_program-$name.ours.txt")" -gt 150 ] || { echo "$name prints too little" >&2; ok=failed; }
  done
done
# The table that our headers of ABI 7 are tested with is true for those of that release.
"${CC:-cc}" -Wall -Wextra -Werror -fsyntax-only -I"$work/blosc2-4.1.2/blosc2/include" "$root/capi-tests/abi7_layout.c" || ok=failed
lines=$(cat "$work"/old_program-*.ours.txt | wc -l)
result "C and C++ programs, headers of 2.23.1, 3.1 and 3.3.5" "\`.so.7\` (\`abi7\`), \`.so.8\` and \`.so.9\`" \
  "6 programs print the same $lines lines" $ok

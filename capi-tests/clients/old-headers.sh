#!/usr/bin/env bash
# Programs compiled against the headers of older releases: capi-tests/clients/old_program.c as C and as C++, with the
# headers and the library of a release of each SONAME, then run on that library and on ours. What they print has to be
# the same, byte for byte. The ABI of 8 is that of 9: our library of SONAME 9 is found under both names. For 7 and 9 a
# third program is compiled against our own headers, as scripts/install.sh puts them for that ABI.
source "$(dirname "$0")/common.sh"

# Both runtimes stand side by side in one directory, as on a system with old programs and new ones.
rm -rf "$work/installed-7" "$work/installed-9"
"$root/scripts/install.sh" --abi 7 --profile "$profile" --prefix "$work/installed-7" >&2
"$root/scripts/install.sh" --abi 9 --prefix "$work/installed-9" >&2
"$root/scripts/install.sh" --abi 7 --profile "$profile" --runtime-only --prefix "$work/installed-9" >&2
ours=$work/installed-9/lib
ln -s libblosc2.so.9 "$ours/libblosc2.so.8"
for abi in 7 9; do
  [ -e "$ours/libblosc2.so.$abi" ] || { echo "libblosc2.so.$abi is not installed" >&2; exit 1; }
done
[ "$(readlink "$ours/libblosc2.so")" = libblosc2.so.9 ] || { echo "programs would be built with the old library" >&2; exit 1; }

ok=passed
for release in 4.1.2:7 4.5.1:8 $reference_version:9; do
  wheel=${release%:*} soname=libblosc2.so.${release#*:}
  package=$(release "$wheel")
  theirs=$package/lib
  for language in c c++; do
    name=$soname-$language
    compiler=${CC:-cc}
    [ $language = c ] || compiler=${CXX:-c++}
    $compiler -x $language -Wall -Wextra -Werror -O1 -I"$package/include" "$clients/old_program.c" -x none \
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
    installed=$work/installed-${release#*:}
    if [ -d "$installed" ]; then
      $compiler -x $language -Wall -Wextra -Werror -O1 -I"$installed/include" "$clients/old_program.c" -x none \
        -o "$work/new_program-$name" -L"$installed/lib" -lblosc2 -Wl,-rpath,"$installed/lib"
      readelf -d "$work/new_program-$name" | grep -q "NEEDED.*\[$soname\]" || { echo "our library is not $soname" >&2; exit 1; }
      files=$(mktemp -d "$work/files.XXXXXX")
      "$work/new_program-$name" "$files" >"$work/new_program-$name.txt" || ok=failed
      rm -rf "$files"
      diff "$work/old_program-$name.theirs.txt" "$work/new_program-$name.txt" >&2 || ok=failed
    fi
    [ "$(wc -l <"$work/old_program-$name.ours.txt")" -gt 150 ] || { echo "$name prints too little" >&2; ok=failed; }
  done
done
# The table that our headers of ABI 7 are tested with is true for those of that release.
"${CC:-cc}" -Wall -Wextra -Werror -fsyntax-only -I"$(release 4.1.2)/include" "$root/capi-tests/abi7_layout.c" || ok=failed
lines=$(cat "$work"/old_program-*.ours.txt "$work"/new_program-*.txt | wc -l)
result "C and C++ programs, headers of 2.23.1, 3.1 and 3.3.5" "\`.so.7\` (\`abi7\`), \`.so.8\` and \`.so.9\`" \
  "6 programs of their headers and 4 of ours print the same $lines lines" $ok

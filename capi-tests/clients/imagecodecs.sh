#!/usr/bin/env bash
# imagecodecs: the wheel bundles a C-Blosc2 2.23 under a name of its own. Our library of that ABI takes its place, and
# those of the package's own tests run that go through it.
source "$(dirname "$0")/common.sh"

py=$(imagecodecs_environment)
version=$imagecodecs_version
site=$(site_packages "$py")
sources imagecodecs "$version" "$work/imagecodecs-source" tests
lib=$(library 7)
bundled=$(echo "$site"/imagecodecs.libs/libblosc2-*.so.*)
[ -f "$bundled" ] || { echo "the wheel bundles no libblosc2" >&2; exit 1; }
rm -f "$bundled"
cp "$lib" "$bundled"
assert_runs_on "$lib" "$py" "import imagecodecs; imagecodecs.blosc2_version()"

say "imagecodecs $version"
log=$work/imagecodecs.log
cd "$work/imagecodecs-source"
verdict=failed
if "$py" -m pytest -q -p no:cacheprovider -k blosc2 tests/test_imagecodecs.py >"$log" 2>&1; then verdict=passed; fi
[ $verdict = passed ] || tail -20 "$log" >&2
result "imagecodecs $version" "bundled \`libblosc2-*.so.2.23.0\` replaced (\`abi7\`)" \
  "$(tail -1 "$log" | sed 's/ in .*//; s/, [0-9]* deselected//; s/, [0-9]* warnings*//') of its Blosc2 tests" $verdict

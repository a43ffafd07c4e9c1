#!/usr/bin/env bash
# zarrs, a Rust library for Zarr: it depends on the crate `blosc-src`, whose place our crate of that name takes by one line in
# Cargo.toml. The tests of its Blosc codec run, and in `all` the other unit tests, too.
source "$(dirname "$0")/common.sh"
version=0.23.14
place=$work/zarrs
# `zarrs` needs a newer compiler than this library.
rustc=$(rustc --version | sed 's/rustc 1\.\([0-9]*\).*/\1/')
[ "$rustc" -ge 91 ] || { echo "SKIPPED: zarrs $version needs Rust 1.91" >&2; exit 0; }

if [ ! -f "$place/complete" ]; then
  rm -rf "$place"
  mkdir -p "$place/fetch/src"
  echo >"$place/fetch/src/lib.rs"
  printf '[package]\nname = "fetch"\nversion = "0.0.0"\n[dependencies]\nzarrs = { version = "=%s", default-features = false }\n[workspace]\n' \
    "$version" >"$place/fetch/Cargo.toml"
  manifest=$(cd "$place/fetch" && cargo metadata --quiet --format-version 1 |
    "$python" -c 'import json, sys; print(next(p["manifest_path"] for p in json.load(sys.stdin)["packages"] if p["name"] == "zarrs"))')
  cp -r "$(dirname "$manifest")" "$place/source"
  rm -f "$place/source/Cargo.lock"
  printf '\n[workspace]\n[patch.crates-io]\nblosc-src = { path = "%s" }\n' "$root/blosc-src" >>"$place/source/Cargo.toml"
  touch "$place/complete"
fi

cd "$place/source"
[ "$mode" = all ] || filter=blosc
# The arrays that these tests read are not in the package.
skip=(--skip array::tests::array_v2 --skip array::tests::array_v3)
log=$work/zarrs.log
verdict=failed
if CARGO_TARGET_DIR=$place/target cargo test --quiet --lib -- ${filter:-} "${skip[@]}" >"$log" 2>&1 &&
  CARGO_TARGET_DIR=$place/target cargo tree --quiet --invert blosc-src | head -1 | grep -qF "($root/blosc-src)"; then verdict=passed; fi
[ $verdict = passed ] || tail -20 "$log" >&2
result "zarrs $version" "\`[patch.crates-io]\` with our crate \`blosc-src\`" \
  "$(sed -n 's/^test result: [a-zA-Z]*\. \([0-9]* passed\).*/\1/p' "$log") of its unit tests${filter:+ of Blosc}" $verdict

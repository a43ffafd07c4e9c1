#!/usr/bin/env bash
# zarrs, a Rust library for Zarr: it depends on the crate `blosc-src`, whose place our crate of that name takes by one line in
# Cargo.toml. The tests of its Blosc codec run, and in `all` the other unit tests, too.
#
#   capi-tests/clients/blosc1-zarrs.sh [quick|all|bench]
#
# `bench` runs the benchmarks of zarrs that use Blosc, on the crate of the registry and on ours in turn, and prints a table of
# ratios: the time with the crate of the registry by that with ours (above 1: ours is faster), the best of five rounds each.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
bench=no
[ "${1:-}" != bench ] || { bench=yes; set -- quick; }
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

if [ $bench = yes ]; then
  for crate in registry ours; do
    if [ ! -d "$place/$crate" ]; then
      cp -r "$place/source" "$place/$crate"
      [ $crate = ours ] || sed -i '/^blosc-src = { path/d' "$place/$crate/Cargo.toml"
    fi
    cd "$place/$crate"
    # The same versions of all other crates.
    [ ! -f "$place/registry/Cargo.lock" ] || cp -n "$place/registry/Cargo.lock" .
    for name in codecs array_blosc; do
      CARGO_TARGET_DIR=$place/target cargo bench --bench $name --no-run --message-format json 2>"$work/zarrs.log" |
        sed -n 's|.*"executable":"\([^"]*/'$name'-[^"]*\)".*|\1|p' >"$place/executable" || { tail -20 "$work/zarrs.log" >&2; exit 1; }
      cp "$(cat "$place/executable")" "$place/bench-$crate-$name"
    done
  done
  # shellcheck disable=SC2016
  "$python" - "$place" <<'PYTHON'
import re, subprocess, sys

place, best = sys.argv[1], {}
for _ in range(5):
    for crate in "registry", "ours":
        for name in "codecs", "array_blosc":
            words = [f"{place}/bench-{crate}-{name}", "--bench", "blosc", "--output-format", "bencher"]
            words += ["--warm-up-time", "0.2", "--measurement-time", "0.5", "--sample-size", "10", "--noplot"]
            out = subprocess.run(words, capture_output=True, text=True, check=True, cwd=place).stdout
            for test, time in re.findall(r"^test (\S+) .*bench:\s+([\d,]+) ns/iter", out, re.M):
                times, time = best.setdefault(test, {}), int(time.replace(",", ""))
                times[crate] = min(time, times.get(crate, time))
print("| benchmark of zarrs | ratio |\n|---|--:|")
for test, times in best.items():
    print(f"| `{test}` | {times['registry'] / times['ours']:.2f} |")
PYTHON
  exit
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

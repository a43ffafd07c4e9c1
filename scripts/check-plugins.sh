#!/bin/bash
# Runs unmodified plugin packages from PyPI with this library and with the reference. Compares return codes and decoded
# data, and checks that each library reads what the other has written, from a C program and from a Python program.
#
#     scripts/check-plugins.sh [PLUGIN...]
#
# PLUGIN: openzl (the default), j2k, htj2k, grok, openhtj2k, btune, or all. Installs into target/plugins. CC names the
# compiler, PYTHON the interpreter.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
place=${CARGO_TARGET_DIR:-$root/target}/plugins
unset BLOSC_CLEVEL BLOSC_COMPRESSOR BLOSC_NTHREADS BLOSC_TRACE BTUNE_TRADEOFF BTUNE_PERF_MODE BTUNE_TRACE
every="openzl j2k htj2k grok openhtj2k btune"
plugins=${*:-openzl}
[ "$plugins" = all ] && plugins=$every

declare -A version=([openzl]=0.0.1 [j2k]=0.4.0 [htj2k]=0.4.2 [grok]=0.3.5 [openhtj2k]=0.1.2 [btune]=1.2.1)
declare -A codec=([openzl]=38 [j2k]=39 [htj2k]=40 [grok]=37 [openhtj2k]=36)
# META:TYPESIZE:KIND. KIND is "exact" (lossless), "lossy", or "refused" if the plugin itself rejects the data.
declare -A cases=(
    [openzl]="3:2:exact 0:4:exact"
    [j2k]="0:1:exact 0:2:exact 50:2:lossy"
    [htj2k]="0:1:exact 0:2:exact"
    [grok]="0:1:refused 0:2:refused"
    [openhtj2k]="0:1:refused 0:2:refused"
)

scripts/fetch-reference.sh >/dev/null
# The library of `cargo test --workspace`: with another selection, dependencies have other features, and it is built again.
cargo build --quiet --workspace --exclude blosc2-safe --lib --test golden
mkdir -p "$place"/{ours,reference,files}
ln -sf "${CARGO_TARGET_DIR:-$root/target}/debug/libblosc2.so" "$place/ours/libblosc2.so.9"
ln -sf "$root/reference/blosc2/lib/libblosc2.so" "$place/reference/libblosc2.so.9"
"${CC:-cc}" -std=gnu11 -O1 -Wall -Wextra -Werror -Iinclude capi-tests/plugins.c -o "$place/plugins" \
    "$place/ours/libblosc2.so.9"

# The packages search the library of the Python binding, which is the reference.
if [ ! -x "$place/venv/bin/python" ]; then
    "${PYTHON:-python3}" -m venv "$place/venv"
    "$place/venv/bin/pip" install --quiet --disable-pip-version-check numpy
fi
packages=$("$place/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$root/reference" >"$packages/reference.pth"
for plugin in $plugins; do
    [ -n "${version[$plugin]:-}" ] || { echo "no plugin $plugin here; there are: $every" >&2; exit 2; }
    [ -d "$packages/blosc2_$plugin" ] ||
        "$place/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps "blosc2-$plugin==${version[$plugin]}"
done
# Both libraries run "python" from PATH: this one has the packages installed.
export PATH="$place/venv/bin:$PATH"

failures=0
fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# run PROGRAM LIBRARY ARGUMENTS...: prints the output of the program, and its exit status if that is not 0.
run() {
    local program=$1 library=$place/$2/libblosc2.so.9
    shift 2
    case $program in
    c) LD_LIBRARY_PATH=$(dirname "$library") timeout 60 "$place/plugins" "$@" 2>&1 ;;
    python) timeout 60 python capi-tests/plugins.py "$library" "$@" 2>&1 ;;
    # As in a program that has imported the Python binding: the reference is loaded too, with global symbols.
    beside) timeout 60 python capi-tests/plugins.py --beside "$root/reference/blosc2/lib/libblosc2.so" "$library" "$@" 2>&1 ;;
    imported) timeout 60 python capi-tests/plugins.py --import "blosc2_$plugin" "$library" "$@" 2>&1 ;;
    esac || echo "ended with $?"
}

# read PROGRAM LIBRARY TYPESIZE FILE
read_with() {
    if [ "$1" = c ]; then run c "$2" read "$4"; else run "$1" "$2" read "$3" "$4"; fi
}

check_codec() {
    local plugin=$1 meta typesize kind written seen program library
    for one in ${cases[$plugin]}; do
        IFS=: read -r meta typesize kind <<<"$one"
        seen=
        for program in c python beside imported; do
            for library in ours reference; do
                local file=$place/files/$plugin-$meta-$typesize-$program-$library.b2nd
                written=$(run $program $library write "${codec[$plugin]}" "$meta" "$typesize" "$file")
                case $kind:$written in
                # With the reference the dynamic loader may also end the process.
                refused:"from_cbuffer: -"*"ended with 1" | refused:*"symbol lookup error"*"ended with 127") ;;
                exact:"from_cbuffer: 0" | lossy:"from_cbuffer: 0") ;;
                *) fail "$plugin $one: $program with $library writes: $written" ;;
                esac
                if [ "$kind" = refused ]; then
                    [[ $library != ours || $written != *"lookup error"* ]] || fail "$plugin $one: $program: $written"
                    continue
                fi
                # The same program reads the file with both libraries; the decoded data must be the same in all cases.
                for reader in ours reference; do
                    local data
                    data=$(read_with $program $reader "$typesize" "$file")
                    [ -n "$seen" ] || seen=$data
                    [ "$data" = "$seen" ] || fail "$plugin $one: $program with $reader reads from $library: $data"
                    case $kind:$data in
                    exact:*", 0 bytes differ"* | lossy:*"differ from the image"*) ;;
                    *) fail "$plugin $one: $program with $reader reads: $data" ;;
                    esac
                done
            done
        done
    done
}

# Btune begins with LZ4 (1). The program sets BloscLZ (0).
check_tuner() {
    local data mode
    for mode in COMP DECOMP BALANCED; do
        data=$(BTUNE_PERF_MODE=$mode run c ours tune 32 "$place/files/btune.b2frame")
        [[ $data == *"codecs: 1 1 1 1"*"data: equal, compressed: yes"* ]] || fail "btune: ours, $mode: $data"
    done
    echo "btune with ours: ${data##*$'\n'}"
    data=$(run c reference tune 32 "$place/files/btune.b2frame")
    echo "btune with the reference: ${data##*$'\n'}"
}

for plugin in $plugins; do
    before=$failures
    if [ "$plugin" = btune ]; then check_tuner; else check_codec "$plugin"; fi
    [ $failures = $before ] && echo "ok $plugin ${version[$plugin]}"
done
[ $failures = 0 ]

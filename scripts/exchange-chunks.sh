#!/bin/sh
# Checks that this library and the C library read the chunks and arrays of each other on 64-bit ARM, in an emulator: every filter with
# every codec and 12 item sizes, and the codecs and filters of arrays (capi-tests/exchange_chunks.c). With the C library for this machine
# (scripts/fetch-reference.sh), its chunks are read on ARM, too, and the ones of ARM here.
#
#     scripts/exchange-chunks.sh          # half a minute after the build
#
# Needs gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu, qemu-user, the Rust target aarch64-unknown-linux-gnu, and for the C library Python
# 3 with pip and the network. BLOSC2_UNDER_TEST names another library of ours.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

. "$(dirname "$0")/shared/arm.sh"
compile exchange_chunks
libraries="ours reference"
if [ -f reference/blosc2/lib/libblosc2.so ]; then
    libraries="$libraries host"
    mkdir "$work/host"
    ln -s "$root/reference/blosc2/lib/libblosc2.so" "$work/host/libblosc2.so.9"
    ${CC:-cc} -std=c99 -O1 -Iinclude -Icapi-tests capi-tests/exchange_chunks.c -o "$work/exchange_on_host" "$work/host/libblosc2.so.9"
fi

# exchange LIBRARY ARGUMENT...: runs the program with a library
exchange() {
    library=$1
    shift
    case $library in
        host) LD_LIBRARY_PATH=$work/host "$work/exchange_on_host" "$@" ;;
        *) "$emulator" -E LD_LIBRARY_PATH="$work/$library" "$work/exchange_chunks" "$@" ;;
    esac
}

for writer in $libraries; do
    echo "$writer: $(exchange "$writer" write "$work/records-$writer")"
done
for writer in $libraries; do
    for reader in $libraries; do
        # The C library with itself is not our subject.
        [ "$writer" != ours ] && [ "$reader" != ours ] && continue
        echo "$writer to $reader: $(exchange "$reader" read "$work/records-$writer")"
    done
done

#!/bin/sh
# Prints the instructions per byte that kernels of filters and decoders execute on 64-bit ARM: this library without SIMD kernels
# (BLOSC_SIMD=generic; decoders have one form), with NEON kernels, and the C library. QEMU counts them, so no ARM machine is needed,
# and noise does not affect them. They are no times: an instruction that loads 64 bytes counts as one that adds two numbers.
#
#     scripts/count-arm-instructions.sh [NAME...]     # only lines that begin with a name: shuffle, compress,lz4; 30 s after the build
#
# Needs gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu, qemu-user (7.2 to 8.2), gcc, the Rust target aarch64-unknown-linux-gnu, and for
# the C library Python 3 with pip and the network. BLOSC2_UNDER_TEST names another library of ours.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

. "$(dirname "$0")/shared/arm.sh"
${CC:-cc} -O2 -shared -fPIC -Icapi-tests capi-tests/instruction_plugin.c -o "$work/plugin.so"
compile kernel_counts

# count LIBRARY OUTPUT [OPTION...]: the reference is first, whose chunks both libraries decode
mkdir "$work/chunks"
count() {
    library=$1
    output=$2
    shift 2
    "$emulator" "$@" -E LD_LIBRARY_PATH="$work/$library" -plugin "$work/plugin.so" "$work/kernel_counts" "$work/chunks" >"$work/$output"
}
count reference c
count ours generic -E BLOSC_SIMD=generic
count ours neon

printf '%-30s %10s %10s %10s\n' 'call, item size or data' generic NEON 'C library'
paste -d ' ' "$work/generic" "$work/neon" "$work/c" | while read -r name nbytes generic _ _ neon _ _ c; do
    wanted=$([ $# -eq 0 ] && echo yes || echo no)
    for prefix in "$@"; do
        case $name in "$prefix"*) wanted=yes ;; esac
    done
    [ $wanted = no ] || echo "$name $nbytes $generic $neon $c"
done | awk '{ printf "%-30s %10.2f %10.2f %10.2f\n", $1, $3 / $2, $4 / $2, $5 / $2 }'

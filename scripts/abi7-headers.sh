#!/usr/bin/env bash
# Writes the headers for programs of SOVERSION 7 (cargo feature abi7) into a directory: blosc2.h and b2nd.h of include/,
# without the fields that the structs did not have then. The other headers are those of include/.
#
#     scripts/abi7-headers.sh DIRECTORY
#
# A test compares them with the structs in src/abi: cargo test --test abi headers
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
set -eu
[ $# = 1 ] || { echo "a directory is needed" >&2; exit 2; }
include=$(dirname "$0")/../include
mkdir -p "$1"
# Fields are deleted with the comments before them.
sed -e '/^#define BLOSC2_VLMETALAYERS_NAME_MAXLEN /{
n
i\
/** Upper limit for dimensions in programs of SOVERSION 7. */\
#define BLOSC2_MAX_DIM 8
}' \
  -e '/Second Blosc2 flags, common to all chunks/,/^  uint8_t use_dict;$/d' \
  -e '/^  bool view;$/,/^} blosc2_schunk;$/{ /^  bool view;$/b; /^} blosc2_schunk;$/b; d; }' "$include/blosc2.h" >"$1/blosc2.h"
sed '/The value of the super-chunk.s `change_tick`/,/^  int64_t last_tick;$/d' "$include/b2nd.h" >"$1/b2nd.h"

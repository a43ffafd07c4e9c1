/* Replaces the header of Blosc 1, included before blosc2.h (abi.md 7.2): its include guard, and the macros that both
   libraries define. */

#ifndef BLOSC_H
#define BLOSC_H

#define BLOSC_MIN_HEADER_LENGTH 16
#define BLOSC_MAX_TYPESIZE 255

#define BLOSC_NOSHUFFLE 0
#define BLOSC_NOFILTER 0
#define BLOSC_SHUFFLE 1
#define BLOSC_BITSHUFFLE 2

#define BLOSC_DOSHUFFLE 0x1
#define BLOSC_MEMCPYED 0x2
#define BLOSC_DOBITSHUFFLE 0x4

#define BLOSC_BLOSCLZ 0
#define BLOSC_LZ4 1
#define BLOSC_LZ4HC 2
#define BLOSC_ZLIB 4
#define BLOSC_ZSTD 5

#define BLOSC_BLOSCLZ_COMPNAME "blosclz"
#define BLOSC_LZ4_COMPNAME "lz4"
#define BLOSC_LZ4HC_COMPNAME "lz4hc"
#define BLOSC_ZLIB_COMPNAME "zlib"
#define BLOSC_ZSTD_COMPNAME "zstd"

#define BLOSC_BLOSCLZ_LIB 0
#define BLOSC_LZ4_LIB 1
#define BLOSC_ZLIB_LIB 3
#define BLOSC_ZSTD_LIB 4

#define BLOSC_BLOSCLZ_LIBNAME "BloscLZ"
#define BLOSC_LZ4_LIBNAME "LZ4"
#define BLOSC_ZLIB_LIBNAME "Zlib"
#define BLOSC_ZSTD_LIBNAME "Zstd"

#define BLOSC_BLOSCLZ_FORMAT 0
#define BLOSC_LZ4_FORMAT 1
#define BLOSC_LZ4HC_FORMAT 1
#define BLOSC_ZLIB_FORMAT 3
#define BLOSC_ZSTD_FORMAT 4

#define BLOSC_BLOSCLZ_VERSION_FORMAT 1
#define BLOSC_LZ4_VERSION_FORMAT 1
#define BLOSC_LZ4HC_VERSION_FORMAT 1
#define BLOSC_ZLIB_VERSION_FORMAT 1
#define BLOSC_ZSTD_VERSION_FORMAT 1

#define BLOSC_ALWAYS_SPLIT 1
#define BLOSC_NEVER_SPLIT 2
#define BLOSC_AUTO_SPLIT 3
#define BLOSC_FORWARD_COMPAT_SPLIT 4

#endif

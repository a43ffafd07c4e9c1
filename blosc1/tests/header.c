/* The types of the functions and the values of the macros of blosc.h (blosc1.md 1.2 and 2). Compiling it is the test. */

#include "blosc.h"

#include <stddef.h>

#define EQUAL(value, expected) _Static_assert((value) == (expected), #value)
#define HAS_TYPE(value, type) _Static_assert(_Generic((value), type: 1, default: 0), #value)
#define IS_TEXT(value, expected) _Static_assert(sizeof(value) == sizeof(expected), #value)

EQUAL(BLOSC_VERSION_MAJOR, 1);
EQUAL(BLOSC_VERSION_MINOR, 21);
EQUAL(BLOSC_VERSION_RELEASE, 6);
IS_TEXT(BLOSC_VERSION_STRING, "1.21.6");
IS_TEXT(BLOSC_VERSION_DATE, "$Date:: 2024-06-24 #$");
IS_TEXT(BLOSC_VERSION_REVISION, "$Rev$");
EQUAL(BLOSC_VERSION_FORMAT, 2);
EQUAL(BLOSC_MIN_HEADER_LENGTH, 16);
EQUAL(BLOSC_MAX_OVERHEAD, 16);
EQUAL(BLOSC_MAX_BUFFERSIZE, 2147483631);
HAS_TYPE(BLOSC_MAX_BUFFERSIZE, int);
EQUAL(BLOSC_MAX_TYPESIZE, 255);
EQUAL(BLOSC_MAX_BLOCKSIZE, 715827542);
HAS_TYPE(BLOSC_MAX_BLOCKSIZE, size_t);
EQUAL(BLOSC_MAX_THREADS, 256);
EQUAL(BLOSC_NOSHUFFLE, 0);
EQUAL(BLOSC_SHUFFLE, 1);
EQUAL(BLOSC_BITSHUFFLE, 2);
EQUAL(BLOSC_DOSHUFFLE, 0x1);
EQUAL(BLOSC_MEMCPYED, 0x2);
EQUAL(BLOSC_DOBITSHUFFLE, 0x4);
EQUAL(BLOSC_ALWAYS_SPLIT, 1);
EQUAL(BLOSC_NEVER_SPLIT, 2);
EQUAL(BLOSC_AUTO_SPLIT, 3);
EQUAL(BLOSC_FORWARD_COMPAT_SPLIT, 4);

#define CODEC(name, code, text) \
  EQUAL(BLOSC_##name, code);    \
  IS_TEXT(BLOSC_##name##_COMPNAME, text); \
  EQUAL(BLOSC_##name##_VERSION_FORMAT, 1)
CODEC(BLOSCLZ, 0, "blosclz");
CODEC(LZ4, 1, "lz4");
CODEC(LZ4HC, 2, "lz4hc");
CODEC(SNAPPY, 3, "snappy");
CODEC(ZLIB, 4, "zlib");
CODEC(ZSTD, 5, "zstd");

#define LIBRARY(name, code, text) \
  EQUAL(BLOSC_##name##_LIB, code); \
  EQUAL(BLOSC_##name##_FORMAT, code); \
  IS_TEXT(BLOSC_##name##_LIBNAME, text)
LIBRARY(BLOSCLZ, 0, "BloscLZ");
LIBRARY(LZ4, 1, "LZ4");
LIBRARY(SNAPPY, 2, "Snappy");
LIBRARY(ZLIB, 3, "Zlib");
LIBRARY(ZSTD, 4, "Zstd");
EQUAL(BLOSC_LZ4HC_FORMAT, 1);

#define FUNCTION(name, result, ...) HAS_TYPE(&name, result (*)(__VA_ARGS__))
FUNCTION(blosc_init, void, void);
FUNCTION(blosc_destroy, void, void);
FUNCTION(blosc_compress, int, int, int, size_t, size_t, const void *, void *, size_t);
FUNCTION(blosc_compress_ctx, int, int, int, size_t, size_t, const void *, void *, size_t, const char *, size_t, int);
FUNCTION(blosc_decompress, int, const void *, void *, size_t);
FUNCTION(blosc_decompress_ctx, int, const void *, void *, size_t, int);
FUNCTION(blosc_getitem, int, const void *, int, int, void *);
FUNCTION(blosc_get_nthreads, int, void);
FUNCTION(blosc_set_nthreads, int, int);
FUNCTION(blosc_get_compressor, const char *, void);
FUNCTION(blosc_set_compressor, int, const char *);
FUNCTION(blosc_compcode_to_compname, int, int, const char **);
FUNCTION(blosc_compname_to_compcode, int, const char *);
FUNCTION(blosc_list_compressors, const char *, void);
FUNCTION(blosc_get_version_string, const char *, void);
FUNCTION(blosc_get_complib_info, int, const char *, char **, char **);
FUNCTION(blosc_free_resources, int, void);
FUNCTION(blosc_cbuffer_sizes, void, const void *, size_t *, size_t *, size_t *);
FUNCTION(blosc_cbuffer_validate, int, const void *, size_t, size_t *);
FUNCTION(blosc_cbuffer_metainfo, void, const void *, size_t *, int *);
FUNCTION(blosc_cbuffer_versions, void, const void *, int *, int *);
FUNCTION(blosc_cbuffer_complib, const char *, const void *);
FUNCTION(blosc_get_blocksize, int, void);
FUNCTION(blosc_set_blocksize, void, size_t);
FUNCTION(blosc_set_splitmode, void, int);

/* Blosc 1: compression of buffers of binary data.

   Sizes are in bytes. Preconditions of every function: a pointer with a length points at that many bytes for the
   whole call, and is NULL only if the length is 0; a destination overlaps no other argument; a chunk has as many
   bytes as its header says, and at least BLOSC_MIN_HEADER_LENGTH; a pointer to a number or a string is NULL or
   points at one. All functions may be called by any thread at any time, also by a forked child. */

#ifndef BLOSC_H
#define BLOSC_H

#include <limits.h>
#include <stdlib.h>

#include "blosc-export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the interface. */
#define BLOSC_VERSION_MAJOR 1
#define BLOSC_VERSION_MINOR 21
#define BLOSC_VERSION_RELEASE 6
#define BLOSC_VERSION_STRING "1.21.6"
#define BLOSC_VERSION_REVISION "$Rev$"
#define BLOSC_VERSION_DATE "$Date:: 2024-06-24 #$"

/* The version of the format of chunks. */
#define BLOSC_VERSION_FORMAT 2

/* The length of a header, and the number of bytes by which a chunk can be longer than its content. */
#define BLOSC_MIN_HEADER_LENGTH 16
#define BLOSC_MAX_OVERHEAD BLOSC_MIN_HEADER_LENGTH

/* The largest content of a chunk, item size, block and number of threads. */
#define BLOSC_MAX_BUFFERSIZE (INT_MAX - BLOSC_MAX_OVERHEAD)
#define BLOSC_MAX_TYPESIZE 255
#define BLOSC_MAX_BLOCKSIZE ((INT_MAX - BLOSC_MAX_TYPESIZE * sizeof(int)) / 3)
#define BLOSC_MAX_THREADS 256

/* The filters, for `doshuffle`. */
#define BLOSC_NOSHUFFLE 0
#define BLOSC_SHUFFLE 1
#define BLOSC_BITSHUFFLE 2

/* Flags of a chunk, as blosc_cbuffer_metainfo() returns them. */
#define BLOSC_DOSHUFFLE 0x1
#define BLOSC_MEMCPYED 0x2
#define BLOSC_DOBITSHUFFLE 0x4

/* Split modes, for blosc_set_splitmode(). */
#define BLOSC_ALWAYS_SPLIT 1
#define BLOSC_NEVER_SPLIT 2
#define BLOSC_AUTO_SPLIT 3
#define BLOSC_FORWARD_COMPAT_SPLIT 4

/* The codes of codecs, and their names. */
#define BLOSC_BLOSCLZ 0
#define BLOSC_LZ4 1
#define BLOSC_LZ4HC 2
#define BLOSC_SNAPPY 3
#define BLOSC_ZLIB 4
#define BLOSC_ZSTD 5
#define BLOSC_BLOSCLZ_COMPNAME "blosclz"
#define BLOSC_LZ4_COMPNAME "lz4"
#define BLOSC_LZ4HC_COMPNAME "lz4hc"
#define BLOSC_SNAPPY_COMPNAME "snappy"
#define BLOSC_ZLIB_COMPNAME "zlib"
#define BLOSC_ZSTD_COMPNAME "zstd"

/* The codes of the libraries of codecs, and their names. */
#define BLOSC_BLOSCLZ_LIB 0
#define BLOSC_LZ4_LIB 1
#define BLOSC_SNAPPY_LIB 2
#define BLOSC_ZLIB_LIB 3
#define BLOSC_ZSTD_LIB 4
#define BLOSC_BLOSCLZ_LIBNAME "BloscLZ"
#define BLOSC_LZ4_LIBNAME "LZ4"
#define BLOSC_SNAPPY_LIBNAME "Snappy"
#define BLOSC_ZLIB_LIBNAME "Zlib"
#define BLOSC_ZSTD_LIBNAME "Zstd"

/* The codes of the formats of codecs, and the versions of these formats. */
#define BLOSC_BLOSCLZ_FORMAT BLOSC_BLOSCLZ_LIB
#define BLOSC_LZ4_FORMAT BLOSC_LZ4_LIB
#define BLOSC_LZ4HC_FORMAT BLOSC_LZ4_LIB
#define BLOSC_SNAPPY_FORMAT BLOSC_SNAPPY_LIB
#define BLOSC_ZLIB_FORMAT BLOSC_ZLIB_LIB
#define BLOSC_ZSTD_FORMAT BLOSC_ZSTD_LIB
#define BLOSC_BLOSCLZ_VERSION_FORMAT 1
#define BLOSC_LZ4_VERSION_FORMAT 1
#define BLOSC_LZ4HC_VERSION_FORMAT 1
#define BLOSC_SNAPPY_VERSION_FORMAT 1
#define BLOSC_ZLIB_VERSION_FORMAT 1
#define BLOSC_ZSTD_VERSION_FORMAT 1

/* Initialises the library. Programs need not call it. */
BLOSC_EXPORT void blosc_init(void);

/* Ends the threads of the library. The settings stay, and the library can be used again. */
BLOSC_EXPORT void blosc_destroy(void);

/* Compresses the nbytes bytes at src, items of typesize bytes, into a chunk at dest, which has room for
   destsize bytes; nbytes + BLOSC_MAX_OVERHEAD bytes are always enough. clevel is the level, 0 (store) to 9;
   doshuffle is BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or BLOSC_BITSHUFFLE. Codec, block size, split mode and number
   of threads are the settings of the process. Environment variables override arguments and settings.

   Returns the size of the chunk in bytes; 0 when it does not fit, and for a source above
   BLOSC_MAX_BUFFERSIZE. Errors: -10 for a level, a shuffle or an item size out of range and for NULL, -1 for
   any other failure. */
BLOSC_EXPORT int blosc_compress(
    int clevel, int doshuffle, size_t typesize, size_t nbytes, const void *src, void *dest, size_t destsize);

/* Compresses as blosc_compress, with the codec compressor, the block size blocksize (in bytes, 0 for an
   automatic one) and up to numinternalthreads threads; the split mode is that of the process. Reads no
   environment variables but BLOSC_WARN.

   Returns what blosc_compress returns; also -5 for an unknown codec, and -1 for a number of threads outside 1
   to BLOSC_MAX_THREADS if there is more than one block. */
BLOSC_EXPORT int blosc_compress_ctx(
    int clevel, int doshuffle, size_t typesize, size_t nbytes, const void *src, void *dest, size_t destsize,
    const char *compressor, size_t blocksize, int numinternalthreads);

/* Decompresses the chunk at src into dest, which has room for destsize bytes, with the number of threads of
   the process; the environment variable BLOSC_NTHREADS overrides it.

   Returns the size of the content in bytes. Errors: -5 for an unknown codec, -9 for an unknown version of its
   format, -1 for any other failure; dest may be partly written then. */
BLOSC_EXPORT int blosc_decompress(const void *src, void *dest, size_t destsize);

/* Decompresses as blosc_decompress, with up to numinternalthreads threads. Reads no environment variables.

   Returns what blosc_decompress returns. */
BLOSC_EXPORT int blosc_decompress_ctx(const void *src, void *dest, size_t destsize, int numinternalthreads);

/* Decompresses nitems items of the chunk at src, from item start (counted from 0) on, into dest, which has
   room for them. Only the blocks that hold these items are decompressed.

   Returns the size of the items in bytes. Errors: -9 for a chunk of another format, -5 for an unknown codec,
   -2 for a damaged stream, -1 for any other failure, also for items that are not inside the chunk. */
BLOSC_EXPORT int blosc_getitem(const void *src, int start, int nitems, void *dest);

/* Returns the number of threads of the process. */
BLOSC_EXPORT int blosc_get_nthreads(void);

/* Sets the number of threads of the process. A lower number than before ends the threads. A number outside 1
   to BLOSC_MAX_THREADS is stored, and makes functions that need it fail.

   Returns the previous number. */
BLOSC_EXPORT int blosc_set_nthreads(int nthreads);

/* Returns the name of the codec of the process: a static string. */
BLOSC_EXPORT const char *blosc_get_compressor(void);

/* Sets the codec of the process.

   Returns its code, or -1 for an unknown name; nothing changes then. */
BLOSC_EXPORT int blosc_set_compressor(const char *compname);

/* Stores the name of the codec with the code compcode in *compname: a static string, or NULL for an unknown
   code.

   Returns compcode, or -1 for an unknown one. */
BLOSC_EXPORT int blosc_compcode_to_compname(int compcode, const char **compname);

/* Returns the code of the codec compname, or -1 for an unknown name. */
BLOSC_EXPORT int blosc_compname_to_compcode(const char *compname);

/* Returns the names of the codecs, separated by commas: a static string. */
BLOSC_EXPORT const char *blosc_list_compressors(void);

/* Returns the version of the reference whose functions the library has: a static string. */
BLOSC_EXPORT const char *blosc_get_version_string(void);

/* Stores the name and the version of the library that implements the codec compname, unless the pointer is
   NULL: two strings from malloc, which the caller frees, or NULL for an unknown codec.

   Returns the code of that library, or -1 for an unknown codec and without memory. */
BLOSC_EXPORT int blosc_get_complib_info(const char *compname, char **complib, char **version);

/* Ends the threads of the library, if it is initialised.

   Returns 0, or -1 if it is not initialised. */
BLOSC_EXPORT int blosc_free_resources(void);

/* Stores the size of the content, the size of the chunk and the size of its blocks, in bytes, as the header
   of the chunk at cbuffer has them, unless the pointer is NULL; zeros for a chunk of another format. */
BLOSC_EXPORT void blosc_cbuffer_sizes(const void *cbuffer, size_t *nbytes, size_t *cbytes, size_t *blocksize);

/* Checks that cbytes is the size of the chunk at cbuffer, by its header. Stores the size of its content, in
   bytes, in *nbytes; 0 for a chunk of another format.

   Returns 0 if the size is right, otherwise -1. */
BLOSC_EXPORT int blosc_cbuffer_validate(const void *cbuffer, size_t cbytes, size_t *nbytes);

/* Stores the item size in bytes and the flags (bit 0: byte shuffle, bit 1: stored plain, bit 2: bit shuffle)
   of the chunk at cbuffer, unless the pointer is NULL; zeros for a chunk of another format. */
BLOSC_EXPORT void blosc_cbuffer_metainfo(const void *cbuffer, size_t *typesize, int *flags);

/* Stores the version of the format and that of the codec's format of the chunk at cbuffer, unless the pointer
   is NULL. */
BLOSC_EXPORT void blosc_cbuffer_versions(const void *cbuffer, int *version, int *compversion);

/* Returns the name of the library of the codec of the chunk at cbuffer: a static string, or NULL for an
   unknown codec. */
BLOSC_EXPORT const char *blosc_cbuffer_complib(const void *cbuffer);

/* Returns the block size of the process in bytes; 0 for an automatic one. */
BLOSC_EXPORT int blosc_get_blocksize(void);

/* Sets the block size of the process, in bytes; 0 for an automatic one. Blocks that are split are larger. */
BLOSC_EXPORT void blosc_set_blocksize(size_t blocksize);

/* Sets the split mode of the process (BLOSC_ALWAYS_SPLIT and so on), also for the _ctx functions. Any other
   number counts as BLOSC_ALWAYS_SPLIT. */
BLOSC_EXPORT void blosc_set_splitmode(int splitmode);

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_H */

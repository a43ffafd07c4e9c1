/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test abi headers`:
   change those, not this file. */
/* Blosc2: compression of chunks of binary data, and super-chunks of them.

   Functions return 0 or a quantity on success and one of the negative BLOSC2_ERROR_* on failure, unless their
   comment states otherwise. Sizes are in bytes. The caller frees memory that the library passes to it with free().

   Preconditions of every function: a pointer with a length points at that many bytes for the whole call, and is
   NULL only if the length is 0; a destination overlaps no other argument; a pointer to a struct, a number or a
   string is NULL or points at an initialised one; a context is NULL or has not been freed, and is used by one
   thread at a time; a function pointer satisfies the contract of its type. */

#ifndef BLOSC_BLOSC2_H
#define BLOSC_BLOSC2_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
  #include <windows.h>
  #if !defined(__MINGW32__)
    #include <malloc.h>
    #include <process.h>
    #define getpid _getpid
  #endif
#elif defined(__APPLE__) && defined(__MACH__)
  #include <mach/clock.h>
  #include <mach/mach.h>
  #include <time.h>
#elif defined(__unix__) || defined(__wasi__)
  #include <time.h>
  #if !defined(__linux__)
    #include <sys/time.h>
  #endif
#else
  #error "This platform has no known clock."
#endif

#include "blosc2/blosc2-common.h"
#include "blosc2/blosc2-export.h"
#include "blosc2/blosc2-stdio.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions ---- */

#define BLOSC2_VERSION_MAJOR 3  /* for major changes of the interface or the formats */
#define BLOSC2_VERSION_MINOR 3  /* for minor additions */
#define BLOSC2_VERSION_RELEASE 5  /* for tweaks and fixes */
#define BLOSC2_VERSION_STRING "3.3.5"  /* the three as text */
#define BLOSC2_VERSION_DATE "$Date:: 2026-09-24 #$"  /* the date of this level of the interface */

/* Versions of the chunk format. */
enum {
  /** Chunk format of Blosc before 1.0. */
  BLOSC1_VERSION_FORMAT_PRE1 = 1,
  /** Chunk format of Blosc 1. */
  BLOSC1_VERSION_FORMAT = 2,
  /** Chunk format of the Blosc2 alphas. */
  BLOSC2_VERSION_FORMAT_ALPHA = 3,
  /** Chunk format of the first Blosc2 beta. */
  BLOSC2_VERSION_FORMAT_BETA1 = 4,
  /** Chunk format of Blosc2 2.x, and of 3.x for chunks without variable-length blocks. */
  BLOSC2_VERSION_FORMAT_STABLE = 5,
  /** Chunk format for variable-length blocks. */
  BLOSC2_VERSION_FORMAT_VL_BLOCKS = 6,
  /** Newest chunk format that this library reads. */
  BLOSC2_VERSION_FORMAT = 6
};

/* Versions of the frame format. */
enum {
  /** Frame format of the second Blosc2 beta. */
  BLOSC2_VERSION_FRAME_FORMAT_BETA2 = 1,
  /** Frame format since the first release candidate. */
  BLOSC2_VERSION_FRAME_FORMAT_RC1 = 2,
  /** Frame format for chunks that can have variable-length blocks. */
  BLOSC2_VERSION_FRAME_FORMAT_VL_BLOCKS = 3,
  /** Newest frame format that this library reads. */
  BLOSC2_VERSION_FRAME_FORMAT = 3
};

/* ---- Errors ---- */

enum {
  /** No error. */
  BLOSC2_ERROR_SUCCESS = 0,
  /** A failure for which there is no specific code. */
  BLOSC2_ERROR_FAILURE = -1,
  /** Invalid stream. */
  BLOSC2_ERROR_STREAM = -2,
  /** Invalid data. */
  BLOSC2_ERROR_DATA = -3,
  /** Memory could not be allocated. */
  BLOSC2_ERROR_MEMORY_ALLOC = -4,
  /** The input is too short. */
  BLOSC2_ERROR_READ_BUFFER = -5,
  /** The output buffer is too small. */
  BLOSC2_ERROR_WRITE_BUFFER = -6,
  /** The codec is unknown or not available. */
  BLOSC2_ERROR_CODEC_SUPPORT = -7,
  /** A codec parameter is out of range. */
  BLOSC2_ERROR_CODEC_PARAM = -8,
  /** A codec dictionary is invalid. */
  BLOSC2_ERROR_CODEC_DICT = -9,
  /** The format version is not supported. */
  BLOSC2_ERROR_VERSION_SUPPORT = -10,
  /** A header field has an invalid value. */
  BLOSC2_ERROR_INVALID_HEADER = -11,
  /** An argument has an invalid value. */
  BLOSC2_ERROR_INVALID_PARAM = -12,
  /** A file could not be read. */
  BLOSC2_ERROR_FILE_READ = -13,
  /** A file could not be written. */
  BLOSC2_ERROR_FILE_WRITE = -14,
  /** A file could not be opened. */
  BLOSC2_ERROR_FILE_OPEN = -15,
  /** The requested object does not exist. */
  BLOSC2_ERROR_NOT_FOUND = -16,
  /** A run-length encoding is invalid. */
  BLOSC2_ERROR_RUN_LENGTH = -17,
  /** A filter is unknown or failed, or a prefilter failed. */
  BLOSC2_ERROR_FILTER_PIPELINE = -18,
  /** A chunk could not be inserted. */
  BLOSC2_ERROR_CHUNK_INSERT = -19,
  /** A chunk could not be appended. */
  BLOSC2_ERROR_CHUNK_APPEND = -20,
  /** A chunk could not be updated. */
  BLOSC2_ERROR_CHUNK_UPDATE = -21,
  /** A size is above 2 GB. */
  BLOSC2_ERROR_2GB_LIMIT = -22,
  /** A super-chunk could not be copied. */
  BLOSC2_ERROR_SCHUNK_COPY = -23,
  /** The frame has the wrong type. */
  BLOSC2_ERROR_FRAME_TYPE = -24,
  /** A file could not be truncated. */
  BLOSC2_ERROR_FILE_TRUNCATE = -25,
  /** A thread or its state could not be created. */
  BLOSC2_ERROR_THREAD_CREATE = -26,
  /** A postfilter failed. */
  BLOSC2_ERROR_POSTFILTER = -27,
  /** A frame cannot be filled with special chunks, or its special chunks are invalid. */
  BLOSC2_ERROR_FRAME_SPECIAL = -28,
  /** A super-chunk cannot be filled with special chunks. */
  BLOSC2_ERROR_SCHUNK_SPECIAL = -29,
  /** An I/O back-end is unknown or failed. */
  BLOSC2_ERROR_PLUGIN_IO = -30,
  /** A file could not be removed. */
  BLOSC2_ERROR_FILE_REMOVE = -31,
  /** A required pointer is NULL. */
  BLOSC2_ERROR_NULL_POINTER = -32,
  /** An index is out of range. */
  BLOSC2_ERROR_INVALID_INDEX = -33,
  /** The metalayer does not exist. */
  BLOSC2_ERROR_METALAYER_NOT_FOUND = -34,
  /** A source is larger than the format allows, or a destination is too small for a header. */
  BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED = -35,
  /** A tuner failed. */
  BLOSC2_ERROR_TUNER = -36,
  /** The inter-process lock of a frame could not be acquired or released. */
  BLOSC2_ERROR_LOCK = -37
};

/* ---- Names of Blosc 1 ---- */

#if defined(BLOSC1_COMPAT)
  #define BLOSC_VERSION_MAJOR BLOSC2_VERSION_MAJOR
  #define BLOSC_VERSION_MINOR BLOSC2_VERSION_MINOR
  #define BLOSC_VERSION_RELEASE BLOSC2_VERSION_RELEASE
  #define BLOSC_VERSION_STRING BLOSC2_VERSION_STRING
  #define BLOSC_VERSION_DATE BLOSC2_VERSION_DATE
  #define BLOSC_MAX_OVERHEAD BLOSC2_MAX_OVERHEAD
  #define BLOSC_MAX_BUFFERSIZE BLOSC2_MAX_BUFFERSIZE

  #define blosc_compress blosc1_compress
  #define blosc_decompress blosc1_decompress
  #define blosc_getitem blosc1_getitem
  #define blosc_get_compressor blosc1_get_compressor
  #define blosc_set_compressor blosc1_set_compressor
  #define blosc_cbuffer_sizes blosc1_cbuffer_sizes
  #define blosc_cbuffer_validate blosc1_cbuffer_validate
  #define blosc_cbuffer_metainfo blosc1_cbuffer_metainfo
  #define blosc_get_blocksize blosc1_get_blocksize
  #define blosc_set_blocksize blosc1_set_blocksize
  #define blosc_set_splitmode blosc1_set_splitmode

  #define blosc_init blosc2_init
  #define blosc_destroy blosc2_destroy
  #define blosc_free_resources blosc2_free_resources
  #define blosc_get_nthreads blosc2_get_nthreads
  #define blosc_set_nthreads blosc2_set_nthreads
  #define blosc_compcode_to_compname blosc2_compcode_to_compname
  #define blosc_compname_to_compcode blosc2_compname_to_compcode
  #define blosc_list_compressors blosc2_list_compressors
  #define blosc_get_version_string blosc2_get_version_string
  #define blosc_get_complib_info blosc2_get_complib_info
  #define blosc_cbuffer_versions blosc2_cbuffer_versions
  #define blosc_cbuffer_complib blosc2_cbuffer_complib
#endif

/* ---- Constants that Blosc 1 has too; its header defines them if it was included before ---- */

#ifndef BLOSC_H

/* Lengths and bounds. */
enum {
  /** Length of a Blosc 1 chunk header, in bytes. */
  BLOSC_MIN_HEADER_LENGTH = 16,
  /** Maximum item size, in bytes, that the one-byte field of a chunk header can hold. */
  BLOSC_MAX_TYPESIZE = 255
};

/* Shuffle and filter ids. */
enum {
  /** No shuffle. */
  BLOSC_NOSHUFFLE = 0,
  /** No filter in this slot. */
  BLOSC_NOFILTER = 0,
  /** Byte shuffle. */
  BLOSC_SHUFFLE = 1,
  /** Bit shuffle. */
  BLOSC_BITSHUFFLE = 2
};

/* Flags of a chunk. */
enum {
  /** Chunk flag: the byte shuffle was applied. */
  BLOSC_DOSHUFFLE = 0x1,
  /** Chunk flag: the content is stored uncompressed. */
  BLOSC_MEMCPYED = 0x2,
  /** Chunk flag: the bit shuffle was applied. */
  BLOSC_DOBITSHUFFLE = 0x4
};

/* Codec ids. */
enum {
  /** Codec id of BLOSCLZ. */
  BLOSC_BLOSCLZ = 0,
  /** Codec id of LZ4. */
  BLOSC_LZ4 = 1,
  /** Codec id of LZ4HC. */
  BLOSC_LZ4HC = 2,
  /** Codec id of ZLIB. */
  BLOSC_ZLIB = 4,
  /** Codec id of ZSTD. */
  BLOSC_ZSTD = 5
};

/* Codec names. */
/** Name of the codec BLOSCLZ. */
#define BLOSC_BLOSCLZ_COMPNAME "blosclz"
/** Name of the codec LZ4. */
#define BLOSC_LZ4_COMPNAME "lz4"
/** Name of the codec LZ4HC. */
#define BLOSC_LZ4HC_COMPNAME "lz4hc"
/** Name of the codec ZLIB. */
#define BLOSC_ZLIB_COMPNAME "zlib"
/** Name of the codec ZSTD. */
#define BLOSC_ZSTD_COMPNAME "zstd"

/* Codec library codes. */
enum {
  /** Library code of BLOSCLZ in the flags of a chunk. */
  BLOSC_BLOSCLZ_LIB = 0,
  /** Library code of LZ4 in the flags of a chunk. */
  BLOSC_LZ4_LIB = 1,
  /** Library code of ZLIB in the flags of a chunk. */
  BLOSC_ZLIB_LIB = 3,
  /** Library code of ZSTD in the flags of a chunk. */
  BLOSC_ZSTD_LIB = 4
};

/* Codec library names. */
/** Name of the library of BLOSCLZ. */
#define BLOSC_BLOSCLZ_LIBNAME "BloscLZ"
/** Name of the library of LZ4. */
#define BLOSC_LZ4_LIBNAME "LZ4"
/** Name of the library of ZLIB. */
#define BLOSC_ZLIB_LIBNAME "Zlib"
/** Name of the library of ZSTD. */
#define BLOSC_ZSTD_LIBNAME "Zstd"

/* Formats of the codecs' streams, and their versions. */
enum {
  /** Stream format of BLOSCLZ; equals its library code. */
  BLOSC_BLOSCLZ_FORMAT = 0,
  /** Stream format of LZ4; equals its library code. */
  BLOSC_LZ4_FORMAT = 1,
  /** Stream format of LZ4HC; equals the library code of LZ4. */
  BLOSC_LZ4HC_FORMAT = 1,
  /** Stream format of ZLIB; equals its library code. */
  BLOSC_ZLIB_FORMAT = 3,
  /** Stream format of ZSTD; equals its library code. */
  BLOSC_ZSTD_FORMAT = 4,
  /** Version of the stream format of BLOSCLZ, the second byte of a chunk. */
  BLOSC_BLOSCLZ_VERSION_FORMAT = 1,
  /** Version of the stream format of LZ4, the second byte of a chunk. */
  BLOSC_LZ4_VERSION_FORMAT = 1,
  /** Version of the stream format of LZ4HC, the second byte of a chunk. */
  BLOSC_LZ4HC_VERSION_FORMAT = 1,
  /** Version of the stream format of ZLIB, the second byte of a chunk. */
  BLOSC_ZLIB_VERSION_FORMAT = 1,
  /** Version of the stream format of ZSTD, the second byte of a chunk. */
  BLOSC_ZSTD_VERSION_FORMAT = 1
};

/* Split modes. */
enum {
  /** Always split a block into one stream per byte of an item. */
  BLOSC_ALWAYS_SPLIT = 1,
  /** Never split: one stream per block. */
  BLOSC_NEVER_SPLIT = 2,
  /** Split the blocks for codecs that compress split blocks better. */
  BLOSC_AUTO_SPLIT = 3,
  /** Split the blocks as readers of Blosc 1 expect. */
  BLOSC_FORWARD_COMPAT_SPLIT = 4
};

#endif /* BLOSC_H */

/* ---- Limits ---- */

enum {
  /** Length of a Blosc2 chunk header, in bytes. */
  BLOSC_EXTENDED_HEADER_LENGTH = 32,
  /** Maximum number of bytes by which a chunk is larger than its content. */
  BLOSC2_MAX_OVERHEAD = 32,
  /** Maximum size of the content of a chunk, in bytes: `INT_MAX` minus `BLOSC2_MAX_OVERHEAD`. */
  BLOSC2_MAX_BUFFERSIZE = 2147483615,
  /** Minimum size of a buffer to be compressed, in bytes: smaller buffers are stored. */
  BLOSC_MIN_BUFFERSIZE = 32,
  /** Number of filters in the filter pipeline. */
  BLOSC2_MAX_FILTERS = 6,
  /** Maximum number of filters of one context; not used. */
  BLOSC2_MAX_UDFILTERS = 16,
  /** Maximum size of a dictionary, in bytes. */
  BLOSC2_MAXDICTSIZE = 32768,
  /** Minimum size of a dictionary, in bytes: smaller ones do not reduce the size of a chunk. */
  BLOSC2_MINUSEFULDICT = 256,
  /** Maximum size of a block, in bytes. */
  BLOSC2_MAXBLOCKSIZE = 536866816,
  /** Maximum item size, in bytes. */
  BLOSC2_MAXTYPESIZE = 536866816
};

/** Maximum number of fixed metalayers of a super-chunk. */
#define BLOSC2_MAX_METALAYERS 16
/** Maximum length of the name of a fixed metalayer, in bytes, without the terminating NUL. */
#define BLOSC2_METALAYER_NAME_MAXLEN 31
/** Maximum number of variable-length metalayers of a super-chunk. */
#define BLOSC2_MAX_VLMETALAYERS 8192
/**
 * Maximum length of the name of a variable-length metalayer, in bytes, without the terminating
 * NUL.
 */
#define BLOSC2_VLMETALAYERS_NAME_MAXLEN BLOSC2_METALAYER_NAME_MAXLEN

/* ---- Ranges of ids ---- */

/* Codecs. */
enum {
  /** First id of the codecs of the format. */
  BLOSC2_DEFINED_CODECS_START = 0,
  /** Last id of the codecs of the format. */
  BLOSC2_DEFINED_CODECS_STOP = 31,
  /** First id of the globally registered codecs. */
  BLOSC2_GLOBAL_REGISTERED_CODECS_START = 32,
  /** Last id of the globally registered codecs. */
  BLOSC2_GLOBAL_REGISTERED_CODECS_STOP = 159,
  /** Historical count of the globally registered codecs. */
  BLOSC2_GLOBAL_REGISTERED_CODECS = 5,
  /** First id of the codecs that programs register. */
  BLOSC2_USER_REGISTERED_CODECS_START = 160,
  /** Last id of the codecs that programs register. */
  BLOSC2_USER_REGISTERED_CODECS_STOP = 255
};

/* Filters. */
enum {
  /** First id of the filters of the format. */
  BLOSC2_DEFINED_FILTERS_START = 0,
  /** Last id of the filters of the format. */
  BLOSC2_DEFINED_FILTERS_STOP = 31,
  /** First id of the globally registered filters. */
  BLOSC2_GLOBAL_REGISTERED_FILTERS_START = 32,
  /** Last id of the globally registered filters. */
  BLOSC2_GLOBAL_REGISTERED_FILTERS_STOP = 159,
  /** Historical count of the globally registered filters. */
  BLOSC2_GLOBAL_REGISTERED_FILTERS = 5,
  /** First id of the filters that programs register. */
  BLOSC2_USER_REGISTERED_FILTERS_START = 160,
  /** Last id of the filters that programs register. */
  BLOSC2_USER_REGISTERED_FILTERS_STOP = 255
};

/* Tuners. */
enum {
  /** First id of the library's own tuners. */
  BLOSC2_DEFINED_TUNER_START = 0,
  /** Last id of the library's own tuners. */
  BLOSC2_DEFINED_TUNER_STOP = 31,
  /** First id of the globally registered tuners. */
  BLOSC2_GLOBAL_REGISTERED_TUNER_START = 32,
  /** Last id of the globally registered tuners. */
  BLOSC2_GLOBAL_REGISTERED_TUNER_STOP = 159,
  /** Historical count of the globally registered tuners. */
  BLOSC2_GLOBAL_REGISTERED_TUNERS = 0,
  /** First id of the tuners that programs register. */
  BLOSC2_USER_REGISTERED_TUNER_START = 160,
  /** Last id of the tuners that programs register; higher ids are accepted, too. */
  BLOSC2_USER_REGISTERED_TUNER_STOP = 255
};

/* ---- Filters, codecs, tuners, I/O back-ends ---- */

enum {
  /** XOR with the first block of the chunk. */
  BLOSC_DELTA = 3,
  /**
   * Truncation of floating-point precision, items of 4 or 8 bytes. The meta byte is the number of
   * mantissa bits to keep (positive) or to set to zero (negative).
   */
  BLOSC_TRUNC_PREC = 4,
  /** One more than the highest id of a built-in filter of the format. */
  BLOSC_LAST_FILTER = 5,
  /** Highest id of the globally registered filters. */
  BLOSC_LAST_REGISTERED_FILTER = 36
};

enum {
  /** One more than the highest id of a built-in codec of the format; id 3 is unassigned. */
  BLOSC_LAST_CODEC = 6,
  /** Historical value, kept because it is compiled into programs: codec ids reach 40. */
  BLOSC_LAST_REGISTERED_CODEC = 36,
  /** Library code of every registered codec: the codec id is in the extended header. */
  BLOSC_UDCODEC_LIB = 6,
  /** Library code reserved for super-chunks. */
  BLOSC_SCHUNK_LIB = 7,
  /** Stream format of registered codecs. */
  BLOSC_UDCODEC_FORMAT = 6,
  /** Version of the stream format of registered codecs. */
  BLOSC_UDCODEC_VERSION_FORMAT = 1
};

enum {
  /** The library's own tuner. */
  BLOSC_STUNE = 0,
  /** One more than the highest id of the library's own tuners. */
  BLOSC_LAST_TUNER = 1,
  /** Highest id of the globally registered tuners; a historical value. */
  BLOSC_LAST_REGISTERED_TUNE = 31
};

enum {
  /** The back-end for plain files, with read and write calls. */
  BLOSC2_IO_FILESYSTEM = 0,
  /** The back-end for memory-mapped files. */
  BLOSC2_IO_FILESYSTEM_MMAP = 1,
  /** One more than the highest id of the library's own back-ends. */
  BLOSC_IO_LAST_BLOSC_DEFINED = 2,
  /** One more than the highest id of the globally registered back-ends. */
  BLOSC_IO_LAST_REGISTERED = 32
};

enum {
  /** Ids below this one are reserved for the library. */
  BLOSC2_IO_BLOSC_DEFINED = 32,
  /**
   * Ids below this one are reserved for global registration; programs register back-ends with ids
   * from this one on.
   */
  BLOSC2_IO_REGISTERED = 160,
  /** One more than the highest id that a program can register. */
  BLOSC2_IO_USER_DEFINED = 256
};

/* ---- The chunk header ---- */

/* Flags. */
enum {
  /** Chunk flag: the delta filter was applied. */
  BLOSC_DODELTA = 0x8,
  /** Blosc2 flag: the chunk contains a dictionary. */
  BLOSC2_USEDICT = 0x1,
  /** Blosc2 flag: the content is big-endian. */
  BLOSC2_BIGENDIAN = 0x2,
  /** Blosc2 flag: the blocks decode to `blosc2_instr` records. */
  BLOSC2_INSTR_CODEC = 0x80,
  /** Second Blosc2 flag byte: the blocks have variable lengths. */
  BLOSC2_VL_BLOCKS = 0x1
};

/* Special chunks. */
enum {
  /** Not a special chunk. */
  BLOSC2_NO_SPECIAL = 0,
  /** A chunk of zeros. */
  BLOSC2_SPECIAL_ZERO = 1,
  /** A chunk of NaNs. */
  BLOSC2_SPECIAL_NAN = 2,
  /** A chunk that repeats one value. */
  BLOSC2_SPECIAL_VALUE = 3,
  /** A chunk of unspecified content; decompressing it does not write to the destination. */
  BLOSC2_SPECIAL_UNINIT = 4,
  /** The highest kind of special chunk. */
  BLOSC2_SPECIAL_LASTID = 4,
  /** Mask of the bits that hold the kind of special chunk, after shifting the flags byte. */
  BLOSC2_SPECIAL_MASK = 7
};

/* Offsets of the fields. */
enum {
  /** Header offset of the format version, 1 byte. */
  BLOSC2_CHUNK_VERSION = 0x0,
  /** Header offset of the codec's format version, 1 byte. */
  BLOSC2_CHUNK_VERSIONLZ = 0x1,
  /** Header offset of the flags, 1 byte. */
  BLOSC2_CHUNK_FLAGS = 0x2,
  /** Header offset of the item size, 1 byte. */
  BLOSC2_CHUNK_TYPESIZE = 0x3,
  /** Header offset of the uncompressed size, 4 bytes. */
  BLOSC2_CHUNK_NBYTES = 0x4,
  /** Header offset of the block size, 4 bytes. */
  BLOSC2_CHUNK_BLOCKSIZE = 0x8,
  /** Header offset of the compressed size, 4 bytes. */
  BLOSC2_CHUNK_CBYTES = 0xC,
  /** Extended header offset of the filter ids, 6 bytes. */
  BLOSC2_CHUNK_FILTER_CODES = 0x10,
  /** Extended header offset of the filters' meta bytes, 6 bytes. */
  BLOSC2_CHUNK_FILTER_META = 0x18,
  /** Extended header offset of the second Blosc2 flags, 1 byte. */
  BLOSC2_CHUNK_BLOSC2_FLAGS2 = 0x1E,
  /** Extended header offset of the Blosc2 flags, 1 byte. */
  BLOSC2_CHUNK_BLOSC2_FLAGS = 0x1F
};

/* ---- Parameters ---- */

/** A compression or decompression context: created by blosc2_create_cctx or blosc2_create_dctx, freed by
 *  blosc2_free_ctx, used by one thread at a time. */
typedef struct blosc2_context_s blosc2_context;

/** A frame. Its super-chunk owns it and frees it. */
typedef struct blosc2_frame_s blosc2_frame;

/**
 * Parameters of a prefilter for one block. The caller sets `user_data`, `output_typesize` and
 * `output_is_disposable`; for each call the library passes a copy in which it has set the other
 * fields. The copy is private to the call.
 */
typedef struct {
  /** Pointer of the caller, passed unchanged. */
  void *user_data;
  /** Start of the block in the source buffer. */
  const uint8_t *input;
  /** Buffer for the content of the block; set to zeros before the call. */
  uint8_t *output;
  /** Number of bytes to write to `output`. */
  int32_t output_size;
  /** Item size of the output in bytes; 0 and less mean the item size of the context. */
  int32_t output_typesize;
  /** Offset of the block in the chunk, in bytes. */
  int32_t output_offset;
  /** Number of the chunk in the super-chunk; -1 without a super-chunk. */
  int64_t nchunk;
  /** Number of the block in the chunk. */
  int32_t nblock;
  /** Number of the worker thread; 0 without worker threads. */
  int32_t tid;
  /** Scratch memory of the thread, `ttmp_nbytes` bytes. */
  uint8_t *ttmp;
  /** Size of `ttmp` in bytes. */
  size_t ttmp_nbytes;
  /** The compression context. */
  blosc2_context *ctx;
  /** True: the output is not used, and the rest of the pipeline is skipped. */
  bool output_is_disposable;
} blosc2_prefilter_params;

/**
 * Supplies the content of a block before it is compressed. Returns 0 for success; with any other
 * value the compression fails with -18. Called from several threads at once.
 */
typedef int (*blosc2_prefilter_fn)(blosc2_prefilter_params *params);

/**
 * Parameters of a postfilter for one block. The caller sets `user_data`; for each call the
 * library passes a copy in which it has set the other fields. The copy is private to the call.
 */
typedef struct {
  /** Pointer of the caller, passed unchanged. */
  void *user_data;
  /** The decompressed block. */
  const uint8_t *input;
  /** Buffer for the resulting block. */
  uint8_t *output;
  /** Size of the block in bytes. */
  int32_t size;
  /** Item size in bytes. */
  int32_t typesize;
  /** Offset of the block in the chunk, in bytes. */
  int32_t offset;
  /** Number of the chunk in the super-chunk; -1 without a super-chunk. */
  int64_t nchunk;
  /** Number of the block in the chunk. */
  int32_t nblock;
  /** Number of the worker thread; 0 without worker threads. */
  int32_t tid;
  /** Scratch memory of the thread, `ttmp_nbytes` bytes. */
  uint8_t *ttmp;
  /** Size of `ttmp` in bytes. */
  size_t ttmp_nbytes;
  /** The decompression context. */
  blosc2_context *ctx;
} blosc2_postfilter_params;

/**
 * Changes a block after it was decompressed. Returns 0 for success; with any other value the
 * decompression fails with -27. Called from several threads at once.
 */
typedef int (*blosc2_postfilter_fn)(blosc2_postfilter_params *params);

/**
 * Parameters of a compression context. The caller sets the fields, preferably in a copy of
 * `BLOSC2_CPARAMS_DEFAULTS`: a value of 0 does not mean "the default".
 */
typedef struct {
  /** Codec id, `BLOSC_BLOSCLZ` and so on. */
  uint8_t compcode;
  /** Meta byte of the codec. */
  uint8_t compcode_meta;
  /** Compression level, 0 (store) to 9. */
  uint8_t clevel;
  /** Non-zero: train a dictionary and use it (zstd, lz4 and lz4hc only). */
  int use_dict;
  /** Item size in bytes. */
  int32_t typesize;
  /** Number of threads, the calling thread included; 1 and less mean the calling thread only. */
  int16_t nthreads;
  /** Block size in bytes; 0 = chosen automatically. */
  int32_t blocksize;
  /** Whether blocks are split into streams: `BLOSC_ALWAYS_SPLIT` and so on. */
  int32_t splitmode;
  /** The super-chunk that the context belongs to, or NULL; borrowed. */
  void *schunk;
  /** Filter ids, `BLOSC_SHUFFLE` and so on, applied from first to last. */
  uint8_t filters[BLOSC2_MAX_FILTERS];
  /** The meta byte of each filter. */
  uint8_t filters_meta[BLOSC2_MAX_FILTERS];
  /** Function that supplies the content of the blocks, or NULL. */
  blosc2_prefilter_fn prefilter;
  /**
   * Parameters of the prefilter; required if `prefilter` is not NULL. The struct is copied into
   * the context; the memory at `user_data` is not.
   */
  blosc2_prefilter_params *preparams;
  /** Passed to the tuner's `init`; borrowed. */
  void *tuner_params;
  /** Tuner id; 0 and less mean the default tuner. */
  int tuner_id;
  /** True: compress into a chunk of `blosc2_instr` records instead of the data. */
  bool instr_codec;
  /** Parameters of a plugin codec; borrowed. */
  void *codec_params;
  /** Parameters of the plugin filters, one pointer for each filter; borrowed. */
  void *filter_params[BLOSC2_MAX_FILTERS];
} blosc2_cparams;

/** Default compression parameters: BloscLZ at level 5 after a byte shuffle of 8-byte items, one thread. */
static const blosc2_cparams BLOSC2_CPARAMS_DEFAULTS BLOSC_ATTRIBUTE_UNUSED = {
  BLOSC_BLOSCLZ,               /* compcode */
  0,                           /* compcode_meta */
  5,                           /* clevel */
  0,                           /* use_dict */
  8,                           /* typesize */
  1,                           /* nthreads */
  0,                           /* blocksize */
  BLOSC_FORWARD_COMPAT_SPLIT,  /* splitmode */
  NULL,                        /* schunk */
  {0, 0, 0, 0, 0, BLOSC_SHUFFLE},  /* filters */
  {0, 0, 0, 0, 0, 0},          /* filters_meta */
  NULL,                        /* prefilter */
  NULL,                        /* preparams */
  NULL,                        /* tuner_params */
  0,                           /* tuner_id */
  false,                       /* instr_codec */
  NULL,                        /* codec_params */
  {NULL, NULL, NULL, NULL, NULL, NULL}  /* filter_params */
};

/**
 * Parameters of a decompression context. The caller sets the fields, preferably in a copy of
 * `BLOSC2_DPARAMS_DEFAULTS`.
 */
typedef struct {
  /** Number of threads, the calling thread included; 1 and less mean the calling thread only. */
  int16_t nthreads;
  /** The super-chunk that the context belongs to, or NULL; borrowed. Required for lazy chunks. */
  void *schunk;
  /** Function that changes decompressed blocks, or NULL. */
  blosc2_postfilter_fn postfilter;
  /**
   * Parameters of the postfilter; required if `postfilter` is not NULL. The struct is copied into
   * the context; the memory at `user_data` is not.
   */
  blosc2_postfilter_params *postparams;
  /** Item size in bytes; informative, ignored by `blosc2_create_dctx`. */
  int32_t typesize;
} blosc2_dparams;

/** Default decompression parameters: one thread, no postfilter. */
static const blosc2_dparams BLOSC2_DPARAMS_DEFAULTS BLOSC_ATTRIBUTE_UNUSED = {
  1,     /* nthreads */
  NULL,  /* schunk */
  NULL,  /* postfilter */
  NULL,  /* postparams */
  8      /* typesize */
};

/**
 * Statistics of the compression of one stream. A chunk made with `instr_codec` decompresses to
 * these records, in native byte order.
 */
typedef struct {
  /** Compression ratio. */
  float cratio;
  /** Speed of the codec in GB/s. */
  float cspeed;
  /** Speed of the filters in GB/s. */
  float filter_speed;
  /** Flags of the stream. */
  uint8_t flags[4];
} blosc2_instr;

/* ---- Storage ---- */

/**
 * Opens the file `urlpath` in the mode `mode` (`rb`, `rb+`, `wb` or `ab`). Returns a stream,
 * which the library passes to the other functions of the back-end, or NULL for an error. `params`
 * is the field `params` of the `blosc2_io`.
 */
typedef void *(*blosc2_open_cb)(const char *urlpath, const char *mode, void *params);

/** Closes `stream`. Returns 0 for success. */
typedef int (*blosc2_close_cb)(void *stream);

/** Returns the size of the file of `stream` in bytes; a negative number is an error. */
typedef int64_t (*blosc2_size_cb)(void *stream);

/**
 * Writes the `nitems` items of `size` bytes at `ptr` to `stream`, at the byte `position` counted
 * from the start of the file. Returns the number of items written.
 */
typedef int64_t (*blosc2_write_cb)(const void *ptr,
                                   int64_t size,
                                   int64_t nitems,
                                   int64_t position,
                                   void *stream);

/**
 * Reads `nitems` items of `size` bytes from `stream`, at the byte `position` counted from the
 * start of the file. If the field `is_allocation_necessary` of the back-end is true, the function
 * fills the buffer at `*ptr`; if false, it sets `*ptr` to the address of the bytes, in memory of
 * the back-end that stays valid. Returns the number of items read.
 */
typedef int64_t (*blosc2_read_cb)(void **ptr,
                                  int64_t size,
                                  int64_t nitems,
                                  int64_t position,
                                  void *stream);

/** Sets the length of the file of `stream` to `size` bytes. Returns 0 for success. */
typedef int (*blosc2_truncate_cb)(void *stream, int64_t size);

/**
 * Releases `params`, the field of a `blosc2_io`. Called when a super-chunk that uses the back-end
 * is freed, and when opening one fails. A negative return value is an error.
 */
typedef int (*blosc2_destroy_cb)(void *params);

/** The functions of an I/O back-end. The caller sets the fields; registration copies the struct. */
typedef struct {
  /** Id of the back-end; programs use 160 to 255. */
  uint8_t id;
  /** Name of the back-end; copied at registration. May be NULL or uninitialised. */
  char *name;
  /**
   * True: `read` fills the buffer at `*ptr`. False: `read` sets `*ptr` to the address of the
   * bytes, in memory of the back-end.
   */
  bool is_allocation_necessary;
  /** Opens a file. */
  blosc2_open_cb open;
  /** Closes a stream. */
  blosc2_close_cb close;
  /** Returns the size of a file. */
  blosc2_size_cb size;
  /** Writes to a file. */
  blosc2_write_cb write;
  /** Reads from a file. */
  blosc2_read_cb read;
  /** Sets the length of a file. */
  blosc2_truncate_cb truncate;
  /** Releases the parameters of the back-end. */
  blosc2_destroy_cb destroy;
} blosc2_io_cb;

/** An I/O back-end and its parameters. The caller sets the fields. */
typedef struct {
  /** Id of the back-end, `BLOSC2_IO_FILESYSTEM` and so on. */
  uint8_t id;
  /** Name of the back-end; informative, not read by the library. May be NULL. */
  const char *name;
  /**
   * Passed to the functions `open` and `destroy` of the back-end; must outlive every super-chunk
   * that uses it.
   */
  void *params;
} blosc2_io;

/** Default I/O back-end: plain files. */
static const blosc2_io BLOSC2_IO_DEFAULTS BLOSC_ATTRIBUTE_UNUSED = {
  BLOSC2_IO_FILESYSTEM,  /* id */
  "filesystem",          /* name */
  NULL                   /* params */
};

/**
 * Where and how a super-chunk is stored. The caller sets the fields. The library copies the
 * struct and the memory that it points at, except for the `params` of `io`.
 */
typedef struct {
  /**
   * True: one contiguous frame. False: separate chunks, in memory or, if `urlpath` is not NULL,
   * in a directory.
   */
  bool contiguous;
  /** Path of the file or directory; NULL = in memory. A leading `file:///` is removed. */
  char *urlpath;
  /** Compression parameters; NULL = the defaults. */
  blosc2_cparams *cparams;
  /** Decompression parameters; NULL = the defaults. */
  blosc2_dparams *dparams;
  /** I/O back-end; NULL = the default one, for plain files. */
  blosc2_io *io;
} blosc2_storage;

/** Default storage: separate chunks in memory. */
static const blosc2_storage BLOSC2_STORAGE_DEFAULTS BLOSC_ATTRIBUTE_UNUSED = {
  false,  /* contiguous */
  NULL,   /* urlpath */
  NULL,   /* cparams */
  NULL,   /* dparams */
  NULL    /* io */
};

/** A metalayer of a super-chunk: a name and a content. */
typedef struct blosc2_metalayer {
  /** Name, at most 31 bytes and a terminating NUL. */
  char *name;
  /** Content: the bytes of a fixed metalayer, or the compressed chunk of a variable-length one. */
  uint8_t *content;
  /** Number of bytes at `content`. */
  int32_t content_len;
} blosc2_metalayer;

/**
 * A super-chunk: a sequence of chunks with the same parameters, and metalayers. Only the library
 * allocates it: programs read it through the pointer, and never copy or embed it.
 */
typedef struct blosc2_schunk {
  /** Always 0. */
  uint8_t version;
  /** Codec id. */
  uint8_t compcode;
  /** Meta byte of the codec. */
  uint8_t compcode_meta;
  /** Compression level. */
  uint8_t clevel;
  /** Split mode, `BLOSC_ALWAYS_SPLIT` and so on. */
  uint8_t splitmode;
  /** Item size in bytes. */
  int32_t typesize;
  /** Requested block size in bytes; 0 = chosen automatically. */
  int32_t blocksize;
  /**
   * Uncompressed size of a chunk in bytes; -1 = no chunks yet, 0 = the chunks have different
   * sizes.
   */
  int32_t chunksize;
  /** Second Blosc2 flags, common to all chunks (`BLOSC2_VL_BLOCKS`). */
  uint8_t flags2;
  /** Non-zero if the chunks use dictionaries. */
  uint8_t use_dict;
  /** Filter ids. */
  uint8_t filters[BLOSC2_MAX_FILTERS];
  /** Meta bytes of the filters. */
  uint8_t filters_meta[BLOSC2_MAX_FILTERS];
  /** Number of chunks. */
  int64_t nchunks;
  /**
   * Number of the chunk that is being processed, which is passed to prefilters and postfilters. A
   * program that uses `cctx` directly sets it before.
   */
  int64_t current_nchunk;
  /** Total uncompressed size of the chunks, in bytes. */
  int64_t nbytes;
  /** Total compressed size of the chunks, in bytes. */
  int64_t cbytes;
  /** Addresses of the chunks of a super-chunk in memory without a frame; otherwise NULL. */
  uint8_t **data;
  /** Size of the memory at `data`, in bytes. */
  size_t data_len;
  /** The super-chunk's own copy of the storage parameters; never NULL. */
  blosc2_storage *storage;
  /** The frame, or NULL. */
  blosc2_frame *frame;
  /**
   * Compression context, owned by the super-chunk; a program may free it and store another one
   * here.
   */
  blosc2_context *cctx;
  /**
   * Decompression context, owned by the super-chunk; a program may free it and store another one
   * here.
   */
  blosc2_context *dctx;
  /** The fixed metalayers; the first `nmetalayers` elements are valid. */
  blosc2_metalayer *metalayers[BLOSC2_MAX_METALAYERS];
  /** Number of fixed metalayers. */
  uint16_t nmetalayers;
  /** The variable-length metalayers; the first `nvlmetalayers` elements are valid. */
  blosc2_metalayer *vlmetalayers[BLOSC2_MAX_VLMETALAYERS];
  /** Number of variable-length metalayers. */
  int16_t nvlmetalayers;
  /** Parameters of the tuner. */
  void *tuner_params;
  /** Tuner id. */
  int tuner_id;
  /** Always 0. C-Blosc2 caches the number of dimensions of the `b2nd` array here. */
  int8_t ndim;
  /**
   * NULL, unless the program stores a block from `malloc` here; `blosc2_schunk_free` frees that
   * block. C-Blosc2 caches the block shape of the `b2nd` array here.
   */
  int64_t *blockshape;
  /** True for the super-chunk of a view: its chunks belong to another array. */
  bool view;
  /**
   * Incremented by each change of the metalayers, and each time that a change by another process
   * is detected.
   */
  int64_t change_tick;
} blosc2_schunk;

/* ---- Codecs, filters, tuners and callbacks that a program registers ---- */

/**
 * Compresses one stream: the `input_len` bytes at `input` into `output`, which has room for
 * `output_len` bytes. Returns the number of bytes written, 0 if they do not fit (the stream is
 * stored uncompressed then), or a negative number for an error. `meta` is the meta byte of the
 * codec; `cparams` is a temporary copy of the compression parameters; `chunk` is the start of the
 * uncompressed source buffer (NULL for variable-length blocks). Called from several threads at
 * once.
 */
typedef int (*blosc2_codec_encoder_cb)(const uint8_t *input,
                                       int32_t input_len,
                                       uint8_t *output,
                                       int32_t output_len,
                                       uint8_t meta,
                                       blosc2_cparams *cparams,
                                       const void *chunk);

/**
 * Decompresses one stream: the `input_len` bytes at `input` into the `output_len` bytes at
 * `output`. Must return exactly `output_len`; any other value is an error. `meta` is the meta
 * byte of the codec; `dparams` is a temporary copy of the decompression parameters; `chunk` is
 * the start of the compressed chunk. Called from several threads at once.
 */
typedef int (*blosc2_codec_decoder_cb)(const uint8_t *input,
                                       int32_t input_len,
                                       uint8_t *output,
                                       int32_t output_len,
                                       uint8_t meta,
                                       blosc2_dparams *dparams,
                                       const void *chunk);

/**
 * A codec to register. Functions that are NULL are loaded from the codec's plugin library when
 * they are first used.
 */
typedef struct {
  /** Id of the codec; programs use 160 to 255. */
  uint8_t compcode;
  /** Name of the codec; copied at registration. May be NULL or uninitialised. */
  char *compname;
  /** Library code, reported by `blosc2_get_complib_info`. */
  uint8_t complib;
  /** Version of the stream format, written to the chunk header. */
  uint8_t version;
  /** Function that compresses a stream. */
  blosc2_codec_encoder_cb encoder;
  /** Function that decompresses a stream. */
  blosc2_codec_decoder_cb decoder;
} blosc2_codec;

/**
 * Filters a block before compression: reads the `size` bytes at `src` and writes `size` bytes to
 * `dest`. `meta` is the meta byte of the filter, `cparams` a temporary copy of the compression
 * parameters, `id` the id of the filter. Returns 0 for success; with any other value the
 * compression fails with -18. Called from several threads at once.
 */
typedef int (*blosc2_filter_forward_cb)(const uint8_t *src,
                                        uint8_t *dest,
                                        int32_t size,
                                        uint8_t meta,
                                        blosc2_cparams *cparams,
                                        uint8_t id);

/**
 * Reverses the filter on a block after decompression: reads the `size` bytes at `src` and writes
 * `size` bytes to `dest`. `meta` is the meta byte of the filter, `dparams` a temporary copy of
 * the decompression parameters, `id` the id of the filter. Returns 0 for success; any other value
 * makes the decompression fail. Called from several threads at once.
 */
typedef int (*blosc2_filter_backward_cb)(const uint8_t *src,
                                         uint8_t *dest,
                                         int32_t size,
                                         uint8_t meta,
                                         blosc2_dparams *dparams,
                                         uint8_t id);

/**
 * A filter to register. Functions that are NULL are loaded from the filter's plugin library when
 * they are first used.
 */
typedef struct {
  /** Id of the filter; programs use 160 to 255. */
  uint8_t id;
  /** Name of the filter; copied at registration. May be NULL or uninitialised. */
  char *name;
  /** Version; not used. */
  uint8_t version;
  /** Function that filters a block before compression. */
  blosc2_filter_forward_cb forward;
  /** Function that reverses the filter after decompression. */
  blosc2_filter_backward_cb backward;
} blosc2_filter;

/**
 * A tuner to register. Each function returns a negative number for an error. Functions that are
 * NULL are loaded from the tuner's plugin library when they are first used.
 */
typedef struct {
  /**
   * Initialises the tuner for the new compression context `cctx`; called by `blosc2_create_cctx`.
   * `config` is the field `tuner_params` of the `blosc2_cparams`; `dctx` is NULL. The function
   * may store the state of the tuner in the context's `tuner_params`.
   */
  int (*init)(void *config, blosc2_context *cctx, blosc2_context *dctx);
  /** Sets the block size before each compression; called only if the tuner has stored no state. */
  int (*next_blocksize)(blosc2_context *context);
  /**
   * Sets the compression parameters before each compression; called only if the tuner has stored
   * a state.
   */
  int (*next_cparams)(blosc2_context *context);
  /**
   * Receives the duration `ctime` of the last compression, in seconds; called only if the tuner
   * has stored a state.
   */
  int (*update)(blosc2_context *context, double ctime);
  /**
   * Frees the state of the tuner; called by `blosc2_free_ctx`, only if the tuner has stored a
   * state.
   */
  int (*free)(blosc2_context *context);
  /** Id of the tuner; programs use 160 and above. */
  int id;
  /** Name of the tuner; copied at registration. May be NULL or uninitialised. */
  char *name;
} blosc2_tuner;

/**
 * Runs the jobs of the library in a caller's own threads. Must call `dojob(jobdata + i *
 * jobdata_elsize)`, with the offset in bytes, exactly once for each `i` from 0 to `numjobs - 1`,
 * in any threads, and return after all these calls have returned. The elements of `jobdata` are
 * opaque. `callback_data` is the pointer passed to `blosc2_set_threads_callback`.
 */
typedef void (*blosc_threads_callback)(void *callback_data,
                                       void (*dojob)(void*),
                                       int numjobs,
                                       size_t jobdata_elsize,
                                       void *jobdata);

/** A point in time with an arbitrary origin: only differences are meaningful. */
#if defined(_WIN32)
typedef LARGE_INTEGER blosc_timestamp_t;
#else
typedef struct timespec blosc_timestamp_t;
#endif

/* ---- The library as a whole ---- */

/**
 * Initialises the library. The call is optional: all functions work without it. Removes the
 * codecs, filters and tuners that were registered before the last `blosc2_destroy`. Does nothing
 * when the library is already initialised. May be called from several threads.
 */
BLOSC_EXPORT
void blosc2_init(void);

/**
 * Shuts the library down: ends its worker threads and frees the memory that is cached between
 * calls. Contexts stay valid and must still be freed; global settings, such as the compressor and
 * the number of threads, are kept. The library need not be initialised.
 */
BLOSC_EXPORT
void blosc2_destroy(void);

/**
 * Frees the memory that the library caches between calls: buffers, memory of freed chunks, and
 * the state of codecs. Threads other than the calling one free their caches at the end of their
 * next call, or when they end.
 *
 * Returns 0, or -1 when the library is not initialised.
 */
BLOSC_EXPORT
int blosc2_free_resources(void);

/**
 * Returns a description of `error_code`, one of `BLOSC2_ERROR_*`: a static string, not to be
 * freed. Returns `"Unknown error"` for any other number, also for 0.
 */
BLOSC_EXPORT
const char *blosc2_error_string(int error_code);

/** Returns the version of the interface, `"3.3.5"`: a static string, not to be freed. */
BLOSC_EXPORT const char *blosc2_get_version_string(void);

/**
 * Sets the scheduler of all parallel jobs: `callback` is called for each job, instead of using
 * the library's own threads. NULL restores the library's threads. `callback_data` is passed to
 * `callback` unchanged, and must stay valid as long as the callback is set. No other thread may
 * be inside a function of the library during this call.
 *
 * Note: `callback` obeys the contract of `blosc_threads_callback`.
 */
BLOSC_EXPORT
void blosc2_set_threads_callback(blosc_threads_callback callback,
                                 void *callback_data);

/**
 * Returns the number of threads that functions without a context use, the calling thread
 * included; 1 until `blosc2_set_nthreads` changes it.
 */
BLOSC_EXPORT
int16_t blosc2_get_nthreads(void);

/**
 * Sets the number of threads that functions without a context use to `nthreads`, the calling
 * thread included, and starts the additional threads.
 *
 * Returns the previous number. Errors: -12 for less than 1, -26 when no thread can be started;
 * nothing changes then.
 */
BLOSC_EXPORT
int16_t blosc2_set_nthreads(int16_t nthreads);

/**
 * Returns the name of the codec that functions without a context use: a static string, not to be
 * freed. Returns NULL after a call of `blosc1_set_compressor` with an unknown name.
 */
BLOSC_EXPORT
const char *blosc1_get_compressor(void);

/**
 * Sets the codec that functions without a context use to the one with the name `compname`.
 *
 * Returns the id of the codec. Errors: -7 for a registered codec, and nothing changes; -1 for an
 * unknown name, and later compressions that need a codec fail with -7 until a known name is set;
 * -12 for NULL.
 */
BLOSC_EXPORT
int blosc1_set_compressor(const char *compname);

/**
 * Adds the delta filter to the filters of functions without a context; removes it if `dodelta` is
 * 0.
 */
BLOSC_EXPORT
void blosc2_set_delta(int dodelta);

/**
 * Returns the block size, in bytes, that functions without a context use; 0 means that it is
 * chosen automatically.
 */
BLOSC_EXPORT int blosc1_get_blocksize(void);

/**
 * Sets the block size that functions without a context use to `blocksize` bytes; 0 means that it
 * is chosen automatically.
 */
BLOSC_EXPORT
void blosc1_set_blocksize(size_t blocksize);

/**
 * Sets the split mode that functions without a context use to `splitmode`: `BLOSC_ALWAYS_SPLIT`,
 * `BLOSC_NEVER_SPLIT`, `BLOSC_AUTO_SPLIT` or `BLOSC_FORWARD_COMPAT_SPLIT`.
 */
BLOSC_EXPORT void blosc1_set_splitmode(int splitmode);

/* ---- Codecs, filters, tuners and I/O back-ends ---- */

/**
 * Returns the names of the codecs that every build has, separated by commas: a static string, not
 * to be freed. Registered codecs are not listed.
 */
BLOSC_EXPORT
const char *blosc2_list_compressors(void);

/**
 * Looks up the name of the codec with the id `compcode`, and stores it in `*compname`: a string
 * that stays valid for the life of the process and must not be freed. Stores NULL for an unknown
 * id and for a codec that was registered without a name.
 *
 * Returns `compcode`, or -1 for an unknown id.
 */
BLOSC_EXPORT
int blosc2_compcode_to_compname(int compcode,
                                const char **compname);

/**
 * Returns the id of the codec with the name `compname` (case-sensitive), also of a registered
 * codec; -1 for an unknown name or NULL.
 */
BLOSC_EXPORT
int blosc2_compname_to_compcode(const char *compname);

/**
 * Looks up the library that implements the codec with the name `compname`: stores the name of the
 * library in `*complib` and its version in `*version`. Both strings are copies, which the caller
 * frees with `free()`. Either pointer may be NULL.
 *
 * Returns the library code, or -1 for an unknown codec; then NULL is stored in both.
 */
BLOSC_EXPORT
int blosc2_get_complib_info(const char *compname,
                            char **complib,
                            char **version);

/**
 * Registers `codec`, a codec of the caller. The struct and the name in it are copied; the
 * functions must stay loaded as long as the codec is registered. The name may be NULL or
 * uninitialised: if no string can be read at that address, the codec has no name.
 *
 * Returns 0, also when the id is already registered under the same name (the functions that were
 * registered first stay in use). Errors: -8 for an id below 160 and for an id that is registered
 * under another name, -7 when there are 255 codecs, -12 for NULL.
 *
 * Note: the functions obey the contracts of their typedefs.
 */
BLOSC_EXPORT
int blosc2_register_codec(blosc2_codec *codec);

/**
 * Registers `filter`, a filter of the caller. The struct and the name in it are copied; the
 * functions must stay loaded as long as the filter is registered. The name may be NULL or
 * uninitialised: if no string can be read at that address, the filter has no name.
 *
 * Returns 0, also when the id is already registered under the same name (the functions that were
 * registered first stay in use). Errors: -1 for an id below 160 and for an id that is registered
 * under another name, -7 when there are 255 filters, -12 for NULL.
 *
 * Note: the functions obey the contracts of their typedefs.
 */
BLOSC_EXPORT
int blosc2_register_filter(blosc2_filter *filter);

/**
 * Registers `tuner`, a tuner of the caller. The struct and the name in it are copied; the
 * functions must stay loaded as long as the tuner is registered. The name may be NULL or
 * uninitialised: if no string can be read at that address, the tuner has no name.
 *
 * Returns 0, also when the id is already registered under the same name (the functions that were
 * registered first stay in use). Errors: -1 for an id below 160 and for an id that is registered
 * under another name, -7 when there are 255 tuners, -12 for NULL.
 *
 * Note: the functions obey the contracts of their fields.
 */
BLOSC_EXPORT
int blosc2_register_tuner(blosc2_tuner *tuner);

/**
 * Registers `io`, an I/O back-end of the caller. The struct and the name in it are copied; the
 * functions must stay loaded for the life of the process. The name may be NULL or uninitialised:
 * if no string can be read at that address, the back-end has no name.
 *
 * Returns 0, also when the id is already registered under the same name (the functions that were
 * registered first stay in use). Errors: -30 for an id below 160, for an id that is registered
 * under another name, and when there are 255 back-ends; -12 for NULL.
 *
 * Note: the functions obey the contracts of their typedefs.
 */
BLOSC_EXPORT
int blosc2_register_io_cb(const blosc2_io_cb *io);

/**
 * Returns the I/O back-end with the id `id`: `BLOSC2_IO_FILESYSTEM`, `BLOSC2_IO_FILESYSTEM_MMAP`
 * or a registered one. The pointer refers to the library's own entry, which stays valid for the
 * life of the process and must not be freed. Returns NULL for an unknown id.
 */
BLOSC_EXPORT
blosc2_io_cb *blosc2_get_io_cb(uint8_t id);

/* ---- Default parameters, for languages that cannot use the objects above ---- */

/**
 * Returns the default compression parameters: a struct with the same bytes as
 * `BLOSC2_CPARAMS_DEFAULTS`.
 */
BLOSC_EXPORT
blosc2_cparams blosc2_get_blosc2_cparams_defaults(void);

/**
 * Returns the default decompression parameters: a struct with the same bytes as
 * `BLOSC2_DPARAMS_DEFAULTS`.
 */
BLOSC_EXPORT
blosc2_dparams blosc2_get_blosc2_dparams_defaults(void);

/**
 * Returns the default storage parameters: a struct with the same bytes as
 * `BLOSC2_STORAGE_DEFAULTS`.
 */
BLOSC_EXPORT
blosc2_storage blosc2_get_blosc2_storage_defaults(void);

/** Returns the default I/O back-end: a struct with the same values as `BLOSC2_IO_DEFAULTS`. */
BLOSC_EXPORT blosc2_io blosc2_get_blosc2_io_defaults(void);

/**
 * Returns the default parameters of the memory-mapping back-end: a struct with the same values as
 * `BLOSC2_STDIO_MMAP_DEFAULTS`.
 */
BLOSC_EXPORT blosc2_stdio_mmap blosc2_get_blosc2_stdio_mmap_defaults(void);

/* ---- Chunks, with the global settings ---- */

/**
 * Compresses the `nbytes` bytes at `src`, items of `typesize` bytes, into a chunk at `dest`,
 * which has room for `destsize` bytes. Does the same as `blosc2_compress`, also with `clevel` and
 * `doshuffle`, but takes sizes as `size_t`; a `typesize` above `INT32_MAX` is an error.
 *
 * Returns the size of the chunk in bytes; 0 when it does not fit into `destsize` bytes; the
 * negative codes of `blosc2_compress`.
 */
BLOSC_EXPORT
int blosc1_compress(int clevel,
                    int doshuffle,
                    size_t typesize,
                    size_t nbytes,
                    const void *src,
                    void *dest,
                    size_t destsize);

/**
 * Decompresses the chunk at `src` into `dest`, which has room for `destsize` bytes. The size of
 * the chunk is read from its header, so the header must be valid; use `blosc2_decompress` for
 * untrusted data.
 *
 * Returns the number of bytes written to `dest`, or a negative error code as `blosc2_decompress`.
 *
 * Note: `src` points at a whole chunk.
 */
BLOSC_EXPORT
int blosc1_decompress(const void *src,
                      void *dest,
                      size_t destsize);

/**
 * Decompresses `nitems` items of the chunk at `src`, from item `start` on, into `dest`. Does the
 * same as `blosc2_getitem`, without checks of the buffer sizes: the size of the chunk is read
 * from its header, and `dest` must have room for `nitems` items.
 *
 * Returns the number of bytes written to `dest`, or a negative error code as `blosc2_getitem`.
 *
 * Note: `src` points at a whole chunk, and `dest` has room for the items.
 */
BLOSC_EXPORT
int blosc1_getitem(const void *src,
                   int start,
                   int nitems,
                   void *dest);

/**
 * Compresses the `srcsize` bytes at `src`, items of `typesize` bytes, into a chunk at `dest`. The
 * codec, the block size, the split mode, the delta filter and the number of threads are the
 * global settings (`blosc1_set_compressor` and so on). Environment variables such as
 * `BLOSC_CLEVEL` override arguments and settings.
 *
 * `clevel` is the compression level, 0 (store) to 9. `doshuffle` is `BLOSC_NOSHUFFLE`,
 * `BLOSC_SHUFFLE` or `BLOSC_BITSHUFFLE`. `destsize` is the size of the destination in bytes;
 * `srcsize + BLOSC2_MAX_OVERHEAD` bytes are always enough.
 *
 * Returns the size of the chunk in bytes; 0 when it does not fit into `destsize` bytes. Errors:
 * -8 for an invalid level, -12 for an invalid item size or a negative `srcsize`, -35 for a source
 * above `BLOSC2_MAX_BUFFERSIZE` or a destination below 32 bytes, -7 for an unknown compressor.
 */
BLOSC_EXPORT
int blosc2_compress(int clevel,
                    int doshuffle,
                    int32_t typesize,
                    const void *src,
                    int32_t srcsize,
                    void *dest,
                    int32_t destsize);

/**
 * Decompresses the chunk at `src` into `dest`, with the global number of threads. `srcsize` is
 * the number of readable bytes at `src`: at least the size of the chunk. `destsize` is the size
 * of `dest` in bytes.
 *
 * Returns the number of bytes written to `dest`. Errors: -6 when the content does not fit into
 * `destsize` bytes, -12 when `BLOSC_NTHREADS` has an invalid value, another negative code for a
 * damaged chunk; the content of `dest` is undefined after an error.
 */
BLOSC_EXPORT
int blosc2_decompress(const void *src,
                      int32_t srcsize,
                      void *dest,
                      int32_t destsize);

/**
 * Decompresses `nitems` items of the chunk at `src`, from item `start` (counted from 0) on, into
 * `dest`. Only the blocks that hold these items are decompressed. `srcsize` is the number of
 * readable bytes at `src`; `destsize` is the size of `dest` in bytes. The item size is the one in
 * the header of the chunk, which is 1 for chunks of items above 255 bytes.
 *
 * Returns the number of bytes written to `dest`. Errors: -12 for items outside the chunk, -6 when
 * the items do not fit into `destsize` bytes, another negative code for a damaged chunk.
 */
BLOSC_EXPORT
int blosc2_getitem(const void *src,
                   int32_t srcsize,
                   int start,
                   int nitems,
                   void *dest,
                   int32_t destsize);

/* ---- Reading the header of a chunk ---- */

/**
 * Reads the sizes in the header of the chunk at `cbuffer`, in bytes: stores the size of its
 * uncompressed content in `*nbytes`, the size of the chunk in `*cbytes` and the size of its
 * blocks in `*blocksize`. Stores 0 in all three for an invalid header. Each of the three pointers
 * may be NULL. Reads 16 bytes.
 *
 * Note: `cbuffer` points at 16 bytes.
 */
BLOSC_EXPORT
void blosc1_cbuffer_sizes(const void *cbuffer,
                          size_t *nbytes,
                          size_t *cbytes,
                          size_t *blocksize);

/**
 * Reads the sizes in the header of the chunk at `cbuffer`, in bytes: stores the size of its
 * uncompressed content in `*nbytes`, the size of the chunk in `*cbytes` and the size of its
 * blocks in `*blocksize`. Each of the three pointers may be NULL. Reads 16 bytes.
 *
 * Returns 0, or a negative code for an invalid header; then 0 is stored in all three.
 *
 * Note: `cbuffer` points at 16 bytes.
 */
BLOSC_EXPORT
int blosc2_cbuffer_sizes(const void *cbuffer,
                         int32_t *nbytes,
                         int32_t *cbytes,
                         int32_t *blocksize);

/**
 * Checks whether the `cbytes` bytes at `cbuffer` can be a chunk: whether the header is valid and
 * has `cbytes` as the size of the chunk. The rest of the chunk is not checked. Stores the size of
 * its uncompressed content, in bytes, in `*nbytes`, and 0 after an error; `nbytes` may be NULL.
 * Reads 16 bytes.
 *
 * Returns 0. Errors: -6 when `cbytes` is less than 16, -11 for an invalid header or another size
 * of the chunk, -4 for a content above `BLOSC2_MAX_BUFFERSIZE`.
 */
BLOSC_EXPORT
int blosc1_cbuffer_validate(const void *cbuffer,
                            size_t cbytes,
                            size_t *nbytes);

/**
 * Reads the header of the chunk at `cbuffer`: stores the item size, in bytes, in `*typesize` and
 * the flags byte (`BLOSC_DOSHUFFLE` and so on) in `*flags`. Stores 0 in both for an invalid
 * header. Each of the two pointers may be NULL. Reads 16 bytes.
 *
 * Note: `cbuffer` points at 16 bytes.
 */
BLOSC_EXPORT
void blosc1_cbuffer_metainfo(const void *cbuffer,
                             size_t *typesize,
                             int *flags);

/**
 * Reads the header of the chunk at `cbuffer`: stores the version of the chunk format in
 * `*version` and the version of the codec's stream format in `*versionlz`. Stores 0 in both for
 * an invalid header. Each of the two pointers may be NULL. Reads 16 bytes.
 *
 * Note: `cbuffer` points at 16 bytes.
 */
BLOSC_EXPORT
void blosc2_cbuffer_versions(const void *cbuffer,
                             int *version,
                             int *versionlz);

/**
 * Returns the name of the library that compressed the chunk at `cbuffer`, for example `"LZ4"`: a
 * static string, not to be freed; NULL for an unknown library or an invalid header. Reads 16
 * bytes.
 *
 * Note: `cbuffer` points at 16 bytes.
 */
BLOSC_EXPORT
const char *blosc2_cbuffer_complib(const void *cbuffer);

/**
 * Reads the number of blocks of the chunk at `src`, which must have variable-length blocks, and
 * stores it in `*nblocks`. `srcsize` is the number of readable bytes at `src`; the 32 bytes of
 * the header are enough.
 *
 * Returns 0. Errors: -12 when a pointer is NULL and for a chunk without variable-length blocks,
 * or the code for an invalid header; 0 is stored then.
 */
BLOSC_EXPORT
int blosc2_vlchunk_get_nblocks(const void *src,
                               int32_t srcsize,
                               int32_t *nblocks);

/* ---- Special chunks ---- */

/**
 * Writes a chunk of 32 bytes to `dest` that represents `nbytes` bytes of zeros. `cparams`
 * supplies the fields of the header; `nbytes` must be a multiple of its `typesize`. `destsize` is
 * the size of `dest` in bytes.
 *
 * Returns 32. Errors: -12 for an item size below 1, -3 when `destsize` is too small or `nbytes`
 * is no multiple of the item size, -32 when no context can be created with `cparams`, or the
 * codes of `blosc2_compress_ctx`.
 */
BLOSC_EXPORT
int blosc2_chunk_zeros(blosc2_cparams cparams,
                       int32_t nbytes,
                       void *dest,
                       int32_t destsize);

/**
 * Writes a chunk of 32 bytes to `dest` that represents `nbytes` bytes of NaNs. `cparams` supplies
 * the fields of the header; `nbytes` must be a multiple of its `typesize`. Only chunks of 4-byte
 * and 8-byte items can be decompressed. `destsize` is the size of `dest` in bytes.
 *
 * Returns 32, or an error code as `blosc2_chunk_zeros`.
 */
BLOSC_EXPORT
int blosc2_chunk_nans(blosc2_cparams cparams,
                      int32_t nbytes,
                      void *dest,
                      int32_t destsize);

/**
 * Writes a chunk of 32 bytes to `dest` that represents `nbytes` bytes of unspecified content.
 * Decompressing it does not write to the destination. `cparams` supplies the fields of the
 * header; `nbytes` must be a multiple of its `typesize`. `destsize` is the size of `dest` in
 * bytes.
 *
 * Returns 32, or an error code as `blosc2_chunk_zeros`.
 */
BLOSC_EXPORT
int blosc2_chunk_uninit(blosc2_cparams cparams,
                        int32_t nbytes,
                        void *dest,
                        int32_t destsize);

/**
 * Writes a chunk to `dest` that represents `nbytes` bytes in which every item equals the item at
 * `repeatval`, which has `cparams.typesize` bytes. `cparams` supplies the fields of the header;
 * `nbytes` must be a multiple of its `typesize`. `destsize` is the size of `dest` in bytes.
 *
 * Returns the size of the chunk in bytes, 32 plus the item size, or an error code as
 * `blosc2_chunk_zeros`.
 *
 * Note: `repeatval` points at one item.
 */
BLOSC_EXPORT
int blosc2_chunk_repeatval(blosc2_cparams cparams,
                           int32_t nbytes,
                           void *dest,
                           int32_t destsize,
                           const void *repeatval);

/* ---- Contexts ---- */

/**
 * Creates a context for compression. `cparams` is copied, and so is the struct at its
 * `preparams`; the memory that its other pointers refer to must stay valid as long as the
 * context. Environment variables such as `BLOSC_CLEVEL` override some parameters.
 *
 * Returns the context, which the caller frees with `blosc2_free_ctx`. Returns NULL for a filter
 * id that does not exist, for an unknown tuner or one whose `init` fails, and for a prefilter
 * without `preparams`. Other invalid parameters are reported when the context compresses.
 */
BLOSC_EXPORT
blosc2_context *blosc2_create_cctx(blosc2_cparams cparams);

/**
 * Creates a context for decompression. `dparams` is copied, and so is the struct at its
 * `postparams`; the memory that its other pointers refer to must stay valid as long as the
 * context.
 *
 * Returns the context, which the caller frees with `blosc2_free_ctx`. Returns NULL for a
 * postfilter without `postparams`.
 */
BLOSC_EXPORT
blosc2_context *blosc2_create_dctx(blosc2_dparams dparams);

/**
 * Frees `context`, a compression or decompression context. Does nothing for NULL. May be called
 * after `blosc2_destroy`.
 *
 * Note: the context is not used again.
 */
BLOSC_EXPORT
void blosc2_free_ctx(blosc2_context *context);

/**
 * Copies the parameters of `ctx` to `*cparams`. The fields `tuner_params` and `filter_params` of
 * `*cparams` keep their values. After a compression, `blocksize` is the block size that was used,
 * in bytes. `preparams` points at the context's own copy.
 *
 * Returns 0, or -32 when an argument is NULL; `*cparams` is unchanged then.
 */
BLOSC_EXPORT
int blosc2_ctx_get_cparams(blosc2_context *ctx,
                           blosc2_cparams *cparams);

/**
 * Copies the parameters of `ctx` to `*dparams`. `typesize` is the item size, in bytes, of the
 * last chunk that was decompressed; 0 before the first. `postparams` points at the context's own
 * copy.
 *
 * Returns 0, or -32 when an argument is NULL; all fields are NULL or 0 then.
 *
 * Note: `*dparams` need not be initialised.
 */
BLOSC_EXPORT
int blosc2_ctx_get_dparams(blosc2_context *ctx,
                           blosc2_dparams *dparams);

/**
 * Sets which blocks the next `blosc2_decompress_ctx` with `ctx` skips: `maskout` is an array of
 * `nblocks` flags, and block `i` is skipped if `maskout[i]` is true. The array is copied. The
 * mask applies to one call, even if that call fails. Skipped blocks count as decompressed; their
 * part of the destination is not written.
 *
 * Returns 0. Errors: -12 for a negative `nblocks`, -32 when a pointer is NULL, -4 when memory
 * cannot be allocated.
 *
 * Note: `maskout` has `nblocks` items.
 */
BLOSC_EXPORT
int blosc2_set_maskout(blosc2_context *ctx,
                       bool *maskout,
                       int nblocks);

/**
 * Compresses the `srcsize` bytes at `src` into a chunk at `dest`, with the parameters of
 * `context`, a compression context. `src` may be NULL when a prefilter supplies the data.
 *
 * `destsize` is the size of the destination in bytes; `srcsize + BLOSC2_MAX_OVERHEAD` bytes are
 * always enough. The bytes of the chunk do not depend on the number of threads.
 *
 * Returns the size of the chunk in bytes; 0 when it does not fit into `destsize` bytes. Errors:
 * -12 for a decompression context or invalid sizes, -8 for an invalid level or for a dictionary
 * with a codec that has none, -35 for a source above `BLOSC2_MAX_BUFFERSIZE` or a destination
 * below 32 bytes, -7 for an unknown codec, -18 when a filter or the prefilter fails, -36 when the
 * tuner fails.
 */
BLOSC_EXPORT
int blosc2_compress_ctx(blosc2_context *context,
                        const void *src,
                        int32_t srcsize,
                        void *dest,
                        int32_t destsize);

/**
 * Decompresses the chunk at `src` into `dest`, with the parameters of `context`, a decompression
 * context. `srcsize` is the number of readable bytes at `src`: at least the size of the chunk.
 * `destsize` is the size of `dest` in bytes.
 *
 * Returns the number of bytes of content. Errors: -12 for a compression context, -6 when the
 * content does not fit into `destsize` bytes, -3 when a mask (`blosc2_set_maskout`) has another
 * length than the number of blocks, -27 when the postfilter fails, another negative code for a
 * damaged chunk; the content of `dest` is undefined after an error.
 */
BLOSC_EXPORT
int blosc2_decompress_ctx(blosc2_context *context,
                          const void *src,
                          int32_t srcsize,
                          void *dest,
                          int32_t destsize);

/**
 * Decompresses `nitems` items of the chunk at `src`, from item `start` on, into `dest`, as
 * `blosc2_getitem`, with the parameters of `context`, which may be a compression or a
 * decompression context. `srcsize` is the number of readable bytes at `src`; `destsize` is the
 * size of `dest` in bytes.
 *
 * Returns the number of bytes written to `dest`, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_getitem_ctx(blosc2_context *context,
                       const void *src,
                       int32_t srcsize,
                       int start,
                       int nitems,
                       void *dest,
                       int32_t destsize);

/**
 * Decompresses `nbytes` bytes of the chunk at `src`, from byte `start` of its content on, into
 * `dest`. Both `start` and `nbytes` must be multiples of the item size of the chunk. `context`
 * may be a compression or a decompression context. `srcsize` is the number of readable bytes at
 * `src`; `destsize` is the size of `dest` in bytes.
 *
 * Returns the number of bytes written to `dest`. Errors: -12 for bytes outside the chunk or a
 * number that is no multiple of the item size, or another negative code.
 */
BLOSC_EXPORT
int blosc2_getitem_bytes_ctx(blosc2_context *context,
                             const void *src,
                             int32_t srcsize,
                             int32_t start,
                             int32_t nbytes,
                             void *dest,
                             int32_t destsize);

/**
 * Compresses `nblocks` buffers into one chunk at `dest`, with the parameters of `context`, a
 * compression context. Buffer `i` has `srcsizes[i]` bytes (at least 1) at `srcs[i]` and becomes
 * block `i`, which can be decompressed separately. `destsize` is the size of `dest` in bytes; `32
 * + 8 * nblocks` bytes plus the sum of `srcsizes` are always enough. If the context has
 * `use_dict` set and its codec has no dictionaries, the blocks are compressed without one.
 *
 * Returns the size of the chunk in bytes; 0 when it does not fit into `destsize` bytes. Errors:
 * -12 for a decompression context, for no blocks and for an empty block, or the codes of
 * `blosc2_compress_ctx`.
 */
BLOSC_EXPORT
int blosc2_vlcompress_ctx(blosc2_context *context,
                          const void *const *srcs,
                          const int32_t *srcsizes,
                          int32_t nblocks,
                          void *dest,
                          int32_t destsize);

/**
 * Decompresses all blocks of the chunk at `src`, which must have variable-length blocks, with the
 * parameters of `context`, a decompression context. Stores a buffer from `malloc` with the
 * content of block `i` in `dests[i]`, and its size in bytes in `destsizes[i]`; the caller frees
 * each buffer with `free()`. `srcsize` is the number of readable bytes at `src`. `maxblocks` is
 * the number of elements of `dests` and of `destsizes`.
 *
 * Returns the number of blocks. Errors: -12 for a compression context, for a chunk without
 * variable-length blocks and for more than `maxblocks` blocks, another negative code for a
 * damaged chunk. After an error all elements of `dests` are NULL and all elements of `destsizes`
 * are 0; otherwise those after the last block are.
 *
 * Note: `dests` and `destsizes` have `maxblocks` items.
 */
BLOSC_EXPORT
int blosc2_vldecompress_ctx(blosc2_context *context,
                            const void *src,
                            int32_t srcsize,
                            void **dests,
                            int32_t *destsizes,
                            int32_t maxblocks);

/**
 * Decompresses block `nblock` of the chunk at `src`, which must have variable-length blocks, with
 * the parameters of `context`, a decompression context. Stores a buffer from `malloc` in `*dest`,
 * which the caller frees with `free()`, and its size in bytes in `*destsize`. `srcsize` is the
 * number of readable bytes at `src`.
 *
 * Returns the size of the block in bytes. Errors: -12 for a compression context, for a chunk
 * without variable-length blocks and for a block that does not exist, another negative code for a
 * damaged chunk. NULL and 0 are stored after an error.
 */
BLOSC_EXPORT
int blosc2_vldecompress_block_ctx(blosc2_context *context,
                                  const void *src,
                                  int32_t srcsize,
                                  int32_t nblock,
                                  uint8_t **dest,
                                  int32_t *destsize);

/* ---- Super-chunks ---- */

/**
 * Creates a super-chunk without chunks as described by `storage`. Without `urlpath` it is in
 * memory; with `urlpath` it is a file (if `contiguous` is true) or a directory, which must not
 * exist yet. `storage` and the structs it points at are copied, except for the memory that
 * `io->params` and the `user_data` of prefilters and postfilters refer to.
 *
 * Returns the super-chunk, which the caller frees with `blosc2_schunk_free`. Returns NULL when
 * the path exists, a file cannot be written, the I/O back-end is unknown, or no context can be
 * created with the parameters.
 */
BLOSC_EXPORT
blosc2_schunk *blosc2_schunk_new(blosc2_storage *storage);

/**
 * Copies `schunk` with its metalayers to a new super-chunk, which is stored as described by
 * `storage`. If `storage->cparams` is NULL, the copy has the compression parameters of `schunk`.
 * If the parameters differ from those of `schunk`, the chunks are compressed again.
 *
 * Returns the copy, which the caller frees with `blosc2_schunk_free`. Returns NULL when the copy
 * cannot be created, as `blosc2_schunk_new`, or when a chunk cannot be read; files that were
 * written until then are removed.
 */
BLOSC_EXPORT
blosc2_schunk *blosc2_schunk_copy(blosc2_schunk *schunk,
                                  blosc2_storage *storage);

/**
 * Frees `schunk` with its chunks in memory, metalayers and contexts; files are not removed. Calls
 * the function `destroy` of its I/O back-end. Does nothing for NULL.
 *
 * Returns 0, or 1 when `destroy` reports an error.
 *
 * Note: the super-chunk is not used again.
 */
BLOSC_EXPORT
int blosc2_schunk_free(blosc2_schunk *schunk);

/**
 * Opens the frame in the file or directory `urlpath` with the default I/O back-end. The contexts
 * of the super-chunk use the number of threads of `blosc2_get_nthreads`.
 *
 * Returns the super-chunk, which the caller frees with `blosc2_schunk_free`; NULL when there is
 * no readable frame.
 */
BLOSC_EXPORT
blosc2_schunk *blosc2_schunk_open(const char *urlpath);

/**
 * Opens a frame that begins at byte `offset` of the file `urlpath`, as `blosc2_schunk_open`.
 *
 * Returns the super-chunk, which the caller frees with `blosc2_schunk_free`; NULL when there is
 * no readable frame.
 */
BLOSC_EXPORT
blosc2_schunk *blosc2_schunk_open_offset(const char *urlpath,
                                         int64_t offset);

/**
 * Opens the frame at `urlpath`, as `blosc2_schunk_open`, with the I/O back-end `udio`. If a
 * directory exists at `urlpath` in the file system, the frame is in the files of a directory. If
 * nothing exists there, a registered back-end opens the name all the same: as a directory if it
 * ends with `/`, otherwise as a file. The struct is copied; the memory at `udio->params` must
 * outlive the super-chunk. The function `destroy` of the back-end is called when the super-chunk
 * is freed, and also when NULL is returned because there is no readable frame.
 *
 * Returns the super-chunk, which the caller frees with `blosc2_schunk_free`; NULL when there is
 * no readable frame.
 */
BLOSC_EXPORT
blosc2_schunk *blosc2_schunk_open_udio(const char *urlpath,
                                       const blosc2_io *udio);

/**
 * Opens a frame that begins at byte `offset` of the file `urlpath` with the I/O back-end `udio`,
 * as `blosc2_schunk_open_udio`.
 *
 * Returns the super-chunk, which the caller frees with `blosc2_schunk_free`; NULL when there is
 * no readable frame.
 */
BLOSC_EXPORT
blosc2_schunk *blosc2_schunk_open_offset_udio(const char *urlpath,
                                              int64_t offset,
                                              const blosc2_io *udio);

/**
 * Opens the contiguous frame of `len` bytes at `cframe`. If `copy` is true, the chunks are
 * copied, and the result is a super-chunk in memory without a frame. If `copy` is false, the
 * frame is used in place: the buffer must stay valid as long as the super-chunk. The super-chunk
 * copies the frame before the first change. The caller still frees the buffer, unless
 * `blosc2_schunk_avoid_cframe_free` passes the ownership to the super-chunk.
 *
 * Returns the super-chunk, which the caller frees with `blosc2_schunk_free`; NULL when the bytes
 * are no readable frame.
 *
 * Note: `cframe` is a block from `malloc` if its ownership is passed to the super-chunk.
 */
BLOSC_EXPORT
blosc2_schunk *blosc2_schunk_from_buffer(uint8_t *cframe,
                                         int64_t len,
                                         bool copy);

/**
 * Sets the owner of the buffer of `schunk`, a frame in memory: if `avoid_cframe_free` is true,
 * the buffer is not freed together with the super-chunk, and the caller frees it; if false, the
 * super-chunk frees it. Does nothing if `schunk` has no such frame.
 */
BLOSC_EXPORT
void blosc2_schunk_avoid_cframe_free(blosc2_schunk *schunk,
                                     bool avoid_cframe_free);

/**
 * Stores the address of `schunk` as one contiguous frame in `*cframe`. If `*needs_free` is set to
 * true, the frame is a copy, which the caller frees with `free()`; if false, the frame belongs to
 * the super-chunk and is valid until that changes.
 *
 * Returns the length of the frame in bytes. Errors: -23 when the frame cannot be made, -32 when a
 * pointer is NULL; NULL and false are stored then.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_to_buffer(blosc2_schunk *schunk,
                                uint8_t **cframe,
                                bool *needs_free);

/**
 * Writes `schunk` as one contiguous frame to the file `urlpath`. An existing file is replaced if
 * the super-chunk is a frame in memory; for any other super-chunk an existing file is an error.
 *
 * Returns the length of the frame in bytes. Errors: -12 when `urlpath` is NULL, -32 when `schunk`
 * is NULL, -15 when the file cannot be opened, -14 when it cannot be written, -23 when the frame
 * cannot be made.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_to_file(blosc2_schunk *schunk,
                              const char *urlpath);

/**
 * Appends `schunk` as one contiguous frame to the file `urlpath`. The file is created if it does
 * not exist.
 *
 * Returns the byte offset of the frame in the file (0 in a new file), which
 * `blosc2_schunk_open_offset` takes. Errors: -12 when `urlpath` is NULL, -32 when `schunk` is
 * NULL, -15 when the file cannot be opened, -13 when its length cannot be read, -14 when it
 * cannot be written, -23 when the frame cannot be made.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_append_file(blosc2_schunk *schunk,
                                  const char *urlpath);

/**
 * Acquires the exclusive inter-process lock of `schunk`, a frame on disk, so that several calls
 * form one critical section. The lock is reentrant: each call needs one `blosc2_schunk_unlock`.
 * Without locking, no lock is acquired. At the durability levels above `off`
 * (`blosc2x_schunk_set_durability`), all changes until the last `blosc2_schunk_unlock` are
 * committed together, also without locking: before, neither other processes nor a reader after a
 * crash find any of them. `blosc2_schunk_free` commits them, too.
 *
 * Returns 0. Errors: -37 when the lock cannot be acquired, -32 for NULL.
 */
BLOSC_EXPORT
int blosc2_schunk_lock(blosc2_schunk *schunk);

/**
 * Releases one level of the inter-process lock that `blosc2_schunk_lock` acquired for `schunk`.
 *
 * Returns 0, also when the lock is not held. Errors: -37 when the lock cannot be released, -32
 * for NULL; when the changes since `blosc2_schunk_lock` cannot be committed, the code of the
 * failed write: they are discarded then, and the lock is released.
 */
BLOSC_EXPORT
int blosc2_schunk_unlock(blosc2_schunk *schunk);

/**
 * Reads the counters and metalayers of `schunk` again if another handle or process has changed
 * the frame on disk.
 *
 * Returns 1 if the frame was changed; 0 if it was not changed, or cannot be read at present.
 * Errors: -32 for NULL, -37 when the lock cannot be acquired, -13 for a file length that no frame
 * has.
 */
BLOSC_EXPORT
int blosc2_schunk_refresh(blosc2_schunk *schunk);

/**
 * Appends the compressed chunk at `chunk` to `schunk`. If `copy` is true, the chunk is copied and
 * still belongs to the caller. If `copy` is false, `chunk` must be a block from `malloc`, and the
 * super-chunk takes its ownership, unless an error is returned.
 *
 * Returns the new number of chunks. Errors: -11 for bytes that are no chunk; -20 for a chunk that
 * the super-chunk does not accept (for example, chunks with and without variable-length blocks
 * cannot be mixed, and a chunk of an array must not be larger than its chunk shape) or that
 * cannot be stored; -12 for a lazy chunk, and when `schunk` belongs to a view; -13 while another
 * handle of the frame writes; -37 when the lock cannot be acquired; -32 when a pointer is NULL.
 *
 * Note: the chunk is as long as its header says.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_append_chunk(blosc2_schunk *schunk,
                                   uint8_t *chunk,
                                   bool copy);

/**
 * Inserts the compressed chunk at `chunk` into `schunk`, so that it becomes chunk number `nchunk`
 * (0 to the number of chunks). `copy` has the same meaning as in `blosc2_schunk_append_chunk`: if
 * false, the super-chunk takes the `malloc` block, unless an error is returned.
 *
 * Returns the new number of chunks. Errors: -12 when `nchunk` is out of range, otherwise as
 * `blosc2_schunk_append_chunk`, with -19 instead of -20.
 *
 * Note: the chunk is as long as its header says.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_insert_chunk(blosc2_schunk *schunk,
                                   int64_t nchunk,
                                   uint8_t *chunk,
                                   bool copy);

/**
 * Replaces chunk `nchunk` of `schunk` by the compressed chunk at `chunk`. `copy` has the same
 * meaning as in `blosc2_schunk_append_chunk`: if false, the super-chunk takes the `malloc` block,
 * unless an error is returned.
 *
 * Returns the number of chunks. Errors: -12 when chunk `nchunk` does not exist, -1 when it cannot
 * be read, otherwise as `blosc2_schunk_append_chunk`, with -21 instead of -20.
 *
 * Note: the chunk is as long as its header says.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_update_chunk(blosc2_schunk *schunk,
                                   int64_t nchunk,
                                   uint8_t *chunk,
                                   bool copy);

/**
 * Deletes chunk `nchunk` of `schunk`. In a contiguous frame its bytes stay in the frame, unused.
 *
 * Returns the new number of chunks. Errors: -12 when chunk `nchunk` does not exist, -1 when it
 * cannot be read, -21 when the frame cannot be changed, -37 when the lock cannot be acquired, -32
 * for NULL.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_delete_chunk(blosc2_schunk *schunk,
                                   int64_t nchunk);

/**
 * Compresses the `nbytes` bytes at `src` with the parameters of `schunk` and appends the chunk to
 * `schunk`. `src` may be NULL when a prefilter supplies the data.
 *
 * Returns the new number of chunks, or an error code of `blosc2_compress_ctx` or
 * `blosc2_schunk_append_chunk`.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_append_buffer(blosc2_schunk *schunk,
                                    const void *src,
                                    int32_t nbytes);

/**
 * Decompresses chunk `nchunk` of `schunk` into `dest`, which has room for `nbytes` bytes.
 *
 * Returns the number of bytes written to `dest`. Errors: -12 when chunk `nchunk` does not exist;
 * when its content does not fit into `nbytes` bytes, -6 for a frame and -12 for separate chunks
 * in memory; another negative code when the chunk cannot be read or is damaged.
 */
BLOSC_EXPORT
int blosc2_schunk_decompress_chunk(blosc2_schunk *schunk,
                                   int64_t nchunk,
                                   void *dest,
                                   int32_t nbytes);

/**
 * Stores the address of the compressed chunk `nchunk` of `schunk` in `*chunk`. If `*needs_free`
 * is set to true, the chunk is a copy, which the caller frees with `free()`; if false, it belongs
 * to the super-chunk and is valid until that changes.
 *
 * Returns the size of the chunk in bytes. Errors: -12 when chunk `nchunk` does not exist, -32
 * when a pointer is NULL, another negative code when the chunk cannot be read; NULL and false are
 * stored then.
 */
BLOSC_EXPORT
int blosc2_schunk_get_chunk(blosc2_schunk *schunk,
                            int64_t nchunk,
                            uint8_t **chunk,
                            bool *needs_free);

/**
 * Stores the address of chunk `nchunk` of `schunk` in `*chunk`, as `blosc2_schunk_get_chunk`. If
 * the chunk is on disk, only a lazy chunk is read: its header, its block offsets, and a trailer
 * that describes where the blocks are. A lazy chunk can be decompressed, completely or in parts,
 * with a context that refers to the super-chunk (`schunk->dctx`), which then reads the blocks it
 * needs. If `*needs_free` is set to true, the caller frees the chunk with `free()`.
 *
 * Returns the number of bytes at `*chunk`, or an error code as `blosc2_schunk_get_chunk`; -11 for
 * a chunk on disk that is empty or has a header of 16 bytes.
 */
BLOSC_EXPORT
int blosc2_schunk_get_lazychunk(blosc2_schunk *schunk,
                                int64_t nchunk,
                                uint8_t **chunk,
                                bool *needs_free);

/**
 * Decompresses block `nblock` of chunk `nchunk` of `schunk`; the chunk must have variable-length
 * blocks. Stores a buffer from `malloc` with the content in `*dest`, which the caller frees with
 * `free()`, and its size in bytes in `*destsize`.
 *
 * Returns the size of the block in bytes. Errors: -12 when a pointer is NULL, when the chunk or
 * the block does not exist, and for a chunk without variable-length blocks; another negative code
 * for a damaged chunk. NULL and 0 are stored after an error.
 */
BLOSC_EXPORT
int blosc2_schunk_get_vlblock(blosc2_schunk *schunk,
                              int64_t nchunk,
                              int32_t nblock,
                              uint8_t **dest,
                              int32_t *destsize);

/**
 * Decompresses the items `start` to `stop` (exclusive) of `schunk` into `buffer`, which must have
 * room for these items. Does nothing if `stop` is not greater than `start`.
 *
 * Returns 0. Errors: -12 when the chunks have different sizes, -32 when a pointer is NULL, -37
 * when the lock cannot be acquired, -1 for any other failure, also for a negative `start` and for
 * items beyond the last one. The chunks before the one that failed have been written to `buffer`
 * then.
 *
 * Note: `buffer` has room for the items.
 */
BLOSC_EXPORT
int blosc2_schunk_get_slice_buffer(blosc2_schunk *schunk,
                                   int64_t start,
                                   int64_t stop,
                                   void *buffer);

/**
 * Overwrites the items `start` to `stop` (exclusive) of `schunk` with the `stop - start` items in
 * `buffer`. The chunks that hold them are compressed again. Items beyond the end of a short last
 * chunk are ignored, unless the slice covers that chunk up to the full chunk size. Does nothing
 * if `stop` is not greater than `start`.
 *
 * Returns 0. Errors: -12 for a negative `start` and when the chunks have different sizes, -21
 * when a chunk cannot be stored, -37 when the lock cannot be acquired, -32 when a pointer is
 * NULL, -1 for any other failure. In plain files nothing has changed then, except for a slice
 * beyond the last chunk; elsewhere, and for such a slice, the chunks before the one that failed
 * have been written.
 *
 * Note: `buffer` has the items.
 */
BLOSC_EXPORT
int blosc2_schunk_set_slice_buffer(blosc2_schunk *schunk,
                                   int64_t start,
                                   int64_t stop,
                                   void *buffer);

/**
 * Decompresses the `ncoords` items of `schunk` with the numbers in `coords`, and stores them one
 * after another in `buffer`, which must have room for `ncoords` items. The numbers may be in any
 * order and may repeat. The super-chunk must have been created with an explicit block size.
 *
 * Returns 0. Errors: -12 when a pointer is NULL, for a negative `ncoords`, for an item that does
 * not exist, and for a super-chunk whose items cannot be located (no block size, chunks of
 * different sizes, variable-length blocks); -1 or another negative code when a chunk cannot be
 * read.
 *
 * Note: `buffer` has room for the items.
 */
BLOSC_EXPORT
int blosc2_schunk_get_sparse_buffer(blosc2_schunk *schunk,
                                    int64_t ncoords,
                                    const int64_t *coords,
                                    void *buffer);

/**
 * Stores a copy of the compression parameters of `schunk` in `*cparams`, a block that the caller
 * frees with `free()`. The prefilter, the tuner and all parameters that are pointers, except
 * `schunk`, are left out (0 or NULL).
 *
 * Returns 0. Errors: -32 when an argument is NULL, -4 when memory cannot be allocated; NULL is
 * stored then.
 */
BLOSC_EXPORT
int blosc2_schunk_get_cparams(blosc2_schunk *schunk,
                              blosc2_cparams **cparams);

/**
 * Stores a copy of the decompression parameters of `schunk`, the number of threads and the
 * super-chunk, in `*dparams`, a block that the caller frees with `free()`.
 *
 * Returns 0. Errors: -32 when an argument is NULL, -4 when memory cannot be allocated; NULL is
 * stored then.
 */
BLOSC_EXPORT
int blosc2_schunk_get_dparams(blosc2_schunk *schunk,
                              blosc2_dparams **dparams);

/**
 * Changes the order of the chunks of `schunk`: chunk `offsets_order[i]` becomes chunk `i`.
 * `offsets_order` has one number for each chunk.
 *
 * Returns 0. Errors: -3 when `offsets_order` is no permutation of the chunk numbers, -32 when a
 * pointer is NULL, another negative code when the frame cannot be changed.
 *
 * Note: there is one number for each chunk.
 */
BLOSC_EXPORT
int blosc2_schunk_reorder_offsets(blosc2_schunk *schunk,
                                  int64_t *offsets_order);

/**
 * Returns the length of the frame of `schunk` in bytes; for a frame in a directory, the length of
 * its index file; without a frame, an estimate of the length.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_frame_len(blosc2_schunk *schunk);

/**
 * Fills `schunk`, which must have no chunks, with special chunks of `chunksize` bytes that
 * represent `nitems` items. `special_value` is `BLOSC2_SPECIAL_ZERO` (zeros),
 * `BLOSC2_SPECIAL_NAN` (NaNs) or `BLOSC2_SPECIAL_UNINIT` (unspecified content).
 *
 * Returns the number of chunks; 0 for no items. Errors: -12 for invalid sizes, -28 when there are
 * chunks already or when all chunks of a contiguous frame were deleted, -28 (in a frame) or -29
 * for another `special_value` or a `chunksize` that is no multiple of the item size, -29 for too
 * many items, another negative code when the frame cannot be changed.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_fill_special(blosc2_schunk *schunk,
                                   int64_t nitems,
                                   int special_value,
                                   int32_t chunksize);

/**
 * Returns the positions of the chunks of the frame of `schunk`, one number for each chunk, in an
 * array that the caller frees with `free()`. In a contiguous frame the numbers are byte offsets
 * into the data section; in a directory they are the numbers of the chunk files. The numbers of
 * special chunks have the most significant bit set.
 *
 * Returns NULL without a frame, without chunks, or when memory cannot be allocated.
 */
BLOSC_EXPORT
int64_t *blosc2_frame_get_offsets(blosc2_schunk *schunk);

/**
 * Finds the chunks of `schunk` that hold a slice, and stores their numbers in `*chunks_idx`, an
 * array that the caller frees with `free()`. If the super-chunk holds a `b2nd` array, `start` and
 * `stop` are arrays with one number for each dimension, and the slice is the box from `start` to
 * `stop` (exclusive). Otherwise the slice is the items `*start` to `*stop` (exclusive); whether
 * the chunks exist is not checked then.
 *
 * Returns the number of chunks. Returns 0 and stores NULL for a super-chunk without chunks, for
 * an array without items, and for a slice outside the array. Errors: -32 when a pointer is NULL,
 * -12 when the chunks have different sizes or the geometry of the array is invalid, -1 for an
 * invalid metalayer, -4 when memory cannot be allocated; NULL is stored then, too.
 */
BLOSC_EXPORT
int64_t blosc2_get_slice_nchunks(blosc2_schunk *schunk,
                                 int64_t *start,
                                 int64_t *stop,
                                 int64_t **chunks_idx);

/* ---- Metalayers ---- */

/**
 * Adds a fixed metalayer to `schunk`: `name`, a string of at most 31 bytes, and the `content_len`
 * bytes at `content`. Both are copied. The length of the content cannot change later. A frame
 * takes metalayers only before its first chunk; a contiguous frame takes none after all of its
 * chunks were deleted either.
 *
 * Returns the index of the metalayer. Errors: -12 when a pointer is NULL, for a name of more than
 * 31 bytes or one that exists already, for a 17th metalayer, for an invalid length, and for a
 * frame with chunks; another negative code when the frame cannot be written.
 */
BLOSC_EXPORT
int blosc2_meta_add(blosc2_schunk *schunk,
                    const char *name,
                    uint8_t *content,
                    int32_t content_len);

/**
 * Overwrites the beginning of the content of the fixed metalayer `name` of `schunk` with the
 * `content_len` bytes at `content`, which are copied. The length of the metalayer does not
 * change. If `content_len` is greater than that length, nothing changes, and no error is
 * returned.
 *
 * Returns the index of the metalayer. Errors: -16 when there is no metalayer with that name; -12
 * when `schunk` or `name` is NULL, when `content` is NULL and `content_len` is not 0, for a name
 * of more than 31 bytes and for an invalid length; another negative code when the frame cannot be
 * written.
 */
BLOSC_EXPORT
int blosc2_meta_update(blosc2_schunk *schunk,
                       const char *name,
                       uint8_t *content,
                       int32_t content_len);

/**
 * Looks up the variable-length metalayer `name` of `schunk`. If another process has changed the
 * frame, its metalayers are read again first.
 *
 * Returns the index of the metalayer. Errors: -16 when there is no metalayer with that name, -12
 * when a pointer is NULL and for a name of more than 31 bytes, -37 when the lock cannot be
 * acquired.
 */
BLOSC_EXPORT
int blosc2_vlmeta_exists(blosc2_schunk *schunk,
                         const char *name);

/**
 * Compresses the `content_len` bytes at `content` and adds them to `schunk` as the
 * variable-length metalayer `name`, a string of at most 31 bytes. `cparams` are the compression
 * parameters; NULL means the default ones. Name, content and parameters are copied. A super-chunk
 * can have 8192 variable-length metalayers, and 16 in a frame.
 *
 * Returns the index of the metalayer. Errors: -12 when a pointer is NULL, for a name of more than
 * 31 bytes or one that exists already, for the 8193rd, and for an invalid length; -1 for the 17th
 * in a frame; -32 when no context can be created with `cparams`; another negative code when the
 * content cannot be compressed or written.
 */
BLOSC_EXPORT
int blosc2_vlmeta_add(blosc2_schunk *schunk,
                      const char *name,
                      uint8_t *content,
                      int32_t content_len,
                      blosc2_cparams *cparams);

/**
 * Replaces the content of the variable-length metalayer `name` of `schunk` by the `content_len`
 * bytes at `content`, compressed with `cparams`; NULL means the default parameters. Content and
 * parameters are copied. The new content may have another length.
 *
 * Returns the index of the metalayer. Errors: -16 when there is no metalayer with that name,
 * otherwise as `blosc2_vlmeta_add`.
 */
BLOSC_EXPORT
int blosc2_vlmeta_update(blosc2_schunk *schunk,
                         const char *name,
                         uint8_t *content,
                         int32_t content_len,
                         blosc2_cparams *cparams);

/**
 * Decompresses the content of the variable-length metalayer `name` of `schunk` into a buffer from
 * `malloc`. Stores its address in `*content`, which the caller frees with `free()`, and its
 * length in bytes in `*content_len`. For an empty content `*content` is NULL.
 *
 * Returns the index of the metalayer. Errors: -16 when there is no metalayer with that name, -12
 * when a pointer is NULL and for a name of more than 31 bytes, -3 for a damaged content, -5 for a
 * content that cannot be decompressed; NULL and 0 are stored after an error.
 */
BLOSC_EXPORT
int blosc2_vlmeta_get(blosc2_schunk *schunk,
                      const char *name,
                      uint8_t **content,
                      int32_t *content_len);

/**
 * Deletes the variable-length metalayer `name` of `schunk`. The indices of the metalayers after
 * it decrease by one.
 *
 * Returns the number of remaining variable-length metalayers. Errors: -16 when there is no
 * metalayer with that name, -12 when a pointer is NULL and for a name of more than 31 bytes,
 * another negative code when the frame cannot be written.
 */
BLOSC_EXPORT
int blosc2_vlmeta_delete(blosc2_schunk *schunk,
                         const char *name);

/**
 * Stores pointers to the names of the variable-length metalayers of `schunk` in the array
 * `names`, which must have room for `schunk->nvlmetalayers` pointers. The strings belong to the
 * super-chunk and must not be freed; they are valid until its variable-length metalayers change.
 *
 * Returns the number of names, or -32 when a pointer is NULL.
 *
 * Note: `names` has room for all.
 */
BLOSC_EXPORT
int blosc2_vlmeta_get_names(blosc2_schunk *schunk,
                            char **names);

/* ---- Filters on their own, coordinates, files and clocks ---- */

/**
 * Byte-shuffles the `blocksize` bytes at `src`, items of `typesize` bytes (1 to 256), to `dest`:
 * first the first bytes of all items, then the second bytes, and so on. `dest` must have room for
 * `blocksize` bytes and must not overlap `src`.
 *
 * Returns `blocksize`. Errors: -12 for a size that is out of range, -32 when a buffer is NULL.
 */
BLOSC_EXPORT
int32_t blosc2_shuffle(int32_t typesize,
                       int32_t blocksize,
                       const void *src,
                       void *dest);

/**
 * Reverses `blosc2_shuffle`: reads the `blocksize` shuffled bytes at `src` and writes the items
 * of `typesize` bytes (1 to 256) to `dest`. `dest` must have room for `blocksize` bytes and must
 * not overlap `src`.
 *
 * Returns `blocksize`. Errors: -12 for a size that is out of range, -32 when a buffer is NULL.
 */
BLOSC_EXPORT
int32_t blosc2_unshuffle(int32_t typesize,
                         int32_t blocksize,
                         const void *src,
                         void *dest);

/**
 * Bit-shuffles the `blocksize` bytes at `src`, items of `typesize` bytes (1 to 256), to `dest`:
 * first the lowest bits of all items, then the next bits, and so on. The items after the last
 * multiple of 8 items are copied unchanged. `dest` must have room for `blocksize` bytes and must
 * not overlap `src`.
 *
 * Returns `blocksize`. Errors: -12 for a size that is out of range, -32 when a buffer is NULL.
 */
BLOSC_EXPORT
int32_t blosc2_bitshuffle(int32_t typesize,
                          int32_t blocksize,
                          const void *src,
                          void *dest);

/**
 * Reverses `blosc2_bitshuffle`: reads the `blocksize` bit-shuffled bytes at `src` and writes the
 * items of `typesize` bytes (1 or more, without an upper limit) to `dest`. `dest` must have room
 * for `blocksize` bytes and must not overlap `src`.
 *
 * Returns `blocksize`. Errors: -12 for a size that is out of range, -32 when a buffer is NULL.
 */
BLOSC_EXPORT
int32_t blosc2_bitunshuffle(int32_t typesize,
                            int32_t blocksize,
                            const void *src,
                            void *dest);

/**
 * Computes the coordinates of the item at the flat position `i` of a C-order array with `ndim`
 * dimensions and the given `shape`, and stores them in `index`. `shape` and `index` are arrays of
 * `ndim` numbers, in items. `index[0]` is not reduced modulo `shape[0]`. Does nothing if `ndim`
 * is 0; stores zeros if `shape` is NULL.
 */
BLOSC_EXPORT
void blosc2_unidim_to_multidim(uint8_t ndim,
                               int64_t *shape,
                               int64_t i,
                               int64_t *index);

/**
 * Computes the flat position, in items, of the item with the coordinates `index`: stores the sum
 * of `index[j] * strides[j]` over the `ndim` dimensions in `*i`; 0 if `ndim` is 0 or less, or if
 * a pointer is NULL. `index` and `strides` are arrays of `ndim` numbers.
 *
 * Note: `index` and `strides` have `ndim` items.
 */
BLOSC_EXPORT
void blosc2_multidim_to_unidim(const int64_t *index,
                               int8_t ndim,
                               const int64_t *strides,
                               int64_t *i);

/**
 * Removes the files in the directory `path`, and then the directory itself if it is empty.
 * Subdirectories are not removed. A leading `file:///` of the path is left out.
 *
 * Returns 0. Errors: -12 for NULL or an empty path, -16 when the directory cannot be opened, -1
 * at the first entry that cannot be removed, such as a subdirectory; the entries after it are not
 * removed then.
 */
BLOSC_EXPORT
int blosc2_remove_dir(const char *path);

/**
 * Removes the frame at `path`: a file together with its lock file (`<path>.b2lock`), or a
 * directory as `blosc2_remove_dir`. A leading `file:///` of the path is left out.
 *
 * Returns 0, also for NULL and when nothing exists at `path`. Errors: -31 when a file cannot be
 * removed, -1 when the path cannot be examined, or a code of `blosc2_remove_dir`.
 */
BLOSC_EXPORT
int blosc2_remove_urlpath(const char *path);

/**
 * Renames the frame `old_urlpath`, a file or a directory, to `new_path`. The lock file of a file
 * (`<path>.b2lock`) is not renamed. A leading `file:///` of a path is left out.
 *
 * Returns 0, also when a path is NULL. Returns -1 when nothing exists at `old_urlpath` or it
 * cannot be renamed.
 */
BLOSC_EXPORT
int blosc2_rename_urlpath(char *old_urlpath,
                          char *new_path);

/**
 * Stores the current time of a monotonic clock in `*timestamp`. Does nothing for NULL.
 *
 * Note: `*timestamp` need not be initialised.
 */
BLOSC_EXPORT void blosc_set_timestamp(blosc_timestamp_t *timestamp);

/**
 * Returns the time from `start_time` to `end_time` in nanoseconds; negative if `end_time` is
 * earlier.
 */
BLOSC_EXPORT
double blosc_elapsed_nsecs(blosc_timestamp_t start_time,
                           blosc_timestamp_t end_time);

/**
 * Returns the time from `start_time` to `end_time` in seconds; negative if `end_time` is earlier.
 */
BLOSC_EXPORT double blosc_elapsed_secs(blosc_timestamp_t start_time, blosc_timestamp_t end_time);

/* ---- Messages on stderr, enabled by environment variables ---- */

/* Whether the variable `name` is in the environment. MSVC warns about `getenv`. */
#if defined(_WIN32)
  #define BLOSC2_HAS_VARIABLE_(name) (GetEnvironmentVariableA(name, NULL, 0) != 0)
#else
  #define BLOSC2_HAS_VARIABLE_(name) (getenv(name) != NULL)
#endif

/* Passes the arguments on one by one: the preprocessor of MSVC would pass those of `...` as a single one. */
#define BLOSC2_EXPAND_(text) text
#define BLOSC2_TRACE_(cat, msg, ...) fprintf(stderr, "[%s] - " msg " (%s:%d)\n", cat, __VA_ARGS__)
#define BLOSC2_INFO_(msg, ...) fprintf(stderr, "[INFO] - " msg "%s", __VA_ARGS__)

/** Prints "[cat] - message (file:line)" if the environment variable BLOSC_TRACE is set. The arguments after `cat` are a
 *  format, which is a string literal, and its values, of which there may be none. */
#define BLOSC_TRACE(cat, ...)                                                      \
  do {                                                                             \
    if (BLOSC2_HAS_VARIABLE_("BLOSC_TRACE")) {                                     \
      BLOSC2_EXPAND_(BLOSC2_TRACE_(#cat, __VA_ARGS__, __FILE__, __LINE__));        \
    }                                                                              \
  } while (0)

#define BLOSC_TRACE_ERROR(...) BLOSC_TRACE(error, __VA_ARGS__)
#define BLOSC_TRACE_WARNING(...) BLOSC_TRACE(warning, __VA_ARGS__)
#define BLOSC_TRACE_INFO(...) BLOSC_TRACE(info, __VA_ARGS__)

/** Prints "[INFO] - message" if the environment variable BLOSC_INFO is set. The arguments are those of BLOSC_TRACE after
 *  `cat`. */
#define BLOSC_INFO(...)                                       \
  do {                                                        \
    if (BLOSC2_HAS_VARIABLE_("BLOSC_INFO")) {                 \
      BLOSC2_EXPAND_(BLOSC2_INFO_(__VA_ARGS__, "\n"));        \
    }                                                         \
  } while (0)

/** Returns `rc` from the enclosing function if it is an error code (negative). */
#define BLOSC_ERROR(rc)                                             \
  do {                                                              \
    int blosc2_error_rc_ = (rc);                                    \
    if (blosc2_error_rc_ < 0) {                                     \
      BLOSC_TRACE_ERROR("%s", print_error(blosc2_error_rc_));       \
      return blosc2_error_rc_;                                      \
    }                                                               \
  } while (0)

/** Returns `rc` from the enclosing function if `pointer` is NULL. */
#define BLOSC_ERROR_NULL(pointer, rc)           \
  do {                                          \
    if (!(pointer)) {                           \
      BLOSC_TRACE_ERROR("Pointer is null");     \
      return (rc);                              \
    }                                           \
  } while (0)

/** Returns the text of the error code `rc`, a static string: the result of `blosc2_error_string`. */
static inline char *print_error(int rc) {
  return (char *)(uintptr_t)blosc2_error_string(rc);
}

/* ---- Inline functions ---- */

/**
 * Finds the metalayer `name` of `schunk`.
 *
 * Returns its index; `BLOSC2_ERROR_INVALID_PARAM` (-12) if the name is too long or `schunk` is NULL;
 * `BLOSC2_ERROR_NOT_FOUND` (-16) if there is no metalayer with this name.
 */
static inline int blosc2_meta_exists(blosc2_schunk *schunk, const char *name) {
  if (strlen(name) > BLOSC2_METALAYER_NAME_MAXLEN) {
    BLOSC_TRACE_ERROR("The name of a metalayer has %d bytes, expected at most %d.", (int)strlen(name),
                      BLOSC2_METALAYER_NAME_MAXLEN);
    return BLOSC2_ERROR_INVALID_PARAM;
  }
  if (schunk == NULL) {
    BLOSC_TRACE_ERROR("The super-chunk is NULL.");
    return BLOSC2_ERROR_INVALID_PARAM;
  }
  for (int i = 0; i < (int)schunk->nmetalayers; i++) {
    if (strcmp(schunk->metalayers[i]->name, name) == 0) {
      return i;
    }
  }
  return BLOSC2_ERROR_NOT_FOUND;
}

/**
 * Stores a copy of the content of the metalayer `name` of `schunk` in `*content` (NULL if it is empty) and its
 * length in bytes in `*content_len`. The caller frees the copy with `free()`.
 *
 * Returns the index of the metalayer, or an error code: those of `blosc2_meta_exists`, -12 if an argument is NULL, -3
 * if the metalayer has an invalid length, or a length but no content, -4 if the allocation fails. NULL and 0 are
 * stored after an error.
 */
static inline int blosc2_meta_get(blosc2_schunk *schunk, const char *name, uint8_t **content,
                                  int32_t *content_len) {
  if (content != NULL) {
    *content = NULL;
  }
  if (content_len != NULL) {
    *content_len = 0;
  }
  if (schunk == NULL || name == NULL || content == NULL || content_len == NULL) {
    BLOSC_TRACE_ERROR("An argument of blosc2_meta_get is NULL.");
    return BLOSC2_ERROR_INVALID_PARAM;
  }
  int index = blosc2_meta_exists(schunk, name);
  if (index < 0) {
    BLOSC_TRACE_WARNING("There is no metalayer %s.", name);
    return index;
  }
  const blosc2_metalayer *found = schunk->metalayers[index];
  if (found->content_len < 0) {
    BLOSC_TRACE_ERROR("The metalayer %s has a negative length of %d bytes.", name, (int)found->content_len);
    return BLOSC2_ERROR_DATA;
  }
  if (found->content_len == 0) {
    return index;
  }
  if (found->content == NULL) {
    BLOSC_TRACE_ERROR("The metalayer %s has a length but no content.", name);
    return BLOSC2_ERROR_DATA;
  }
  uint8_t *copy = (uint8_t *)malloc((size_t)found->content_len);
  if (copy == NULL) {
    BLOSC_TRACE_ERROR("Cannot allocate a copy of the metalayer %s.", name);
    return BLOSC2_ERROR_MEMORY_ALLOC;
  }
  memcpy(copy, found->content, (size_t)found->content_len);
  *content = copy;
  *content_len = found->content_len;
  return index;
}

/** Copies `size` bytes (1, 2, 4 or 8) from `pa` to `dest` and converts from native to big-endian order, or back. */
static inline void swap_store(void *dest, const void *pa, int size) {
  const uint16_t probe = 1;
  uint8_t low = 0;
  memcpy(&low, &probe, 1);
  if (size != 1 && size != 2 && size != 4 && size != 8) {
    fprintf(stderr, "swap_store: size is %d, expected 1, 2, 4 or 8\n", size);
    return;
  }
  if (low == 0) {
    memcpy(dest, pa, (size_t)size);
    return;
  }
  for (int i = 0; i < size; i++) {
    ((uint8_t *)dest)[i] = ((const uint8_t *)pa)[size - 1 - i];
  }
}

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_H */

/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test headers`:
   change those, not this file. */
/* Blosc2: compression of chunks of binary data, and super-chunks of them.

   Functions return 0 or a quantity on success and one of the negative BLOSC2_ERROR_* on failure, unless they
   say otherwise. Sizes are in bytes. What the library hands over to be released is released with free().

   What a function relies on: a pointer with a length points at that much memory for the whole call, and is NULL
   only with a length of 0; what is written overlaps nothing else that is passed; a pointer to a struct, a number
   or a string is NULL or points at an initialised one; a context is NULL or a living one, and is used by one
   thread at a time; a function that is handed in keeps the contract of its type. */

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
#elif defined(__unix__)
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
  /** Chunk format of Blosc2 2.x, and of 3.x chunks with blocks of one size. */
  BLOSC2_VERSION_FORMAT_STABLE = 5,
  /** Chunk format with blocks of variable length. */
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
  /** Frame format whose chunks may have blocks of variable length. */
  BLOSC2_VERSION_FRAME_FORMAT_VL_BLOCKS = 3,
  /** Newest frame format that this library reads. */
  BLOSC2_VERSION_FRAME_FORMAT = 3
};

/* ---- Errors ---- */

enum {
  /** No error. */
  BLOSC2_ERROR_SUCCESS = 0,
  /** Something failed that no other code names. */
  BLOSC2_ERROR_FAILURE = -1,
  /** Bad stream. */
  BLOSC2_ERROR_STREAM = -2,
  /** Invalid data. */
  BLOSC2_ERROR_DATA = -3,
  /** Memory could not be had. */
  BLOSC2_ERROR_MEMORY_ALLOC = -4,
  /** The input ends too early. */
  BLOSC2_ERROR_READ_BUFFER = -5,
  /** The output does not fit. */
  BLOSC2_ERROR_WRITE_BUFFER = -6,
  /** No such codec. */
  BLOSC2_ERROR_CODEC_SUPPORT = -7,
  /** A codec parameter is out of range. */
  BLOSC2_ERROR_CODEC_PARAM = -8,
  /** A codec dictionary is bad. */
  BLOSC2_ERROR_CODEC_DICT = -9,
  /** The format version is not supported. */
  BLOSC2_ERROR_VERSION_SUPPORT = -10,
  /** A header field is out of range. */
  BLOSC2_ERROR_INVALID_HEADER = -11,
  /** An argument is out of range. */
  BLOSC2_ERROR_INVALID_PARAM = -12,
  /** A file could not be read. */
  BLOSC2_ERROR_FILE_READ = -13,
  /** A file could not be written. */
  BLOSC2_ERROR_FILE_WRITE = -14,
  /** A file could not be opened. */
  BLOSC2_ERROR_FILE_OPEN = -15,
  /** No such thing. */
  BLOSC2_ERROR_NOT_FOUND = -16,
  /** A run that the format does not allow. */
  BLOSC2_ERROR_RUN_LENGTH = -17,
  /** A filter is unknown or failed, or a prefilter failed. */
  BLOSC2_ERROR_FILTER_PIPELINE = -18,
  /** A chunk could not be inserted. */
  BLOSC2_ERROR_CHUNK_INSERT = -19,
  /** A chunk could not be appended. */
  BLOSC2_ERROR_CHUNK_APPEND = -20,
  /** A chunk could not be updated. */
  BLOSC2_ERROR_CHUNK_UPDATE = -21,
  /** A size beyond 2 GB. */
  BLOSC2_ERROR_2GB_LIMIT = -22,
  /** A super-chunk could not be copied. */
  BLOSC2_ERROR_SCHUNK_COPY = -23,
  /** The frame is of the wrong type. */
  BLOSC2_ERROR_FRAME_TYPE = -24,
  /** A file could not be truncated. */
  BLOSC2_ERROR_FILE_TRUNCATE = -25,
  /** A thread or its state could not be created. */
  BLOSC2_ERROR_THREAD_CREATE = -26,
  /** A postfilter failed. */
  BLOSC2_ERROR_POSTFILTER = -27,
  /** A special frame failed. */
  BLOSC2_ERROR_FRAME_SPECIAL = -28,
  /** A special super-chunk failed. */
  BLOSC2_ERROR_SCHUNK_SPECIAL = -29,
  /** An I/O back-end is unknown or failed. */
  BLOSC2_ERROR_PLUGIN_IO = -30,
  /** A file could not be removed. */
  BLOSC2_ERROR_FILE_REMOVE = -31,
  /** A required pointer is NULL. */
  BLOSC2_ERROR_NULL_POINTER = -32,
  /** An index is out of range. */
  BLOSC2_ERROR_INVALID_INDEX = -33,
  /** No such metalayer. */
  BLOSC2_ERROR_METALAYER_NOT_FOUND = -34,
  /** A buffer is larger than the format allows. */
  BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED = -35,
  /** A tuner failed. */
  BLOSC2_ERROR_TUNER = -36,
  /** A frame lock could not be taken. */
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

/* ---- Constants that Blosc 1 has too; its header, when it was included first, defines them ---- */

#ifndef BLOSC_H

/* Lengths and bounds. */
enum {
  /** Length of a Blosc 1 chunk header. */
  BLOSC_MIN_HEADER_LENGTH = 16,
  /** The largest item size that the one-byte field of a chunk header holds. */
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
  /** Chunk flag: byte shuffle. */
  BLOSC_DOSHUFFLE = 0x1,
  /** Chunk flag: the content is stored as it is. */
  BLOSC_MEMCPYED = 0x2,
  /** Chunk flag: bit shuffle. */
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
  /** Stream format of BLOSCLZ: the same number as its library code. */
  BLOSC_BLOSCLZ_FORMAT = 0,
  /** Stream format of LZ4: the same number as its library code. */
  BLOSC_LZ4_FORMAT = 1,
  /** Stream format of LZ4HC: the same number as its library code. */
  BLOSC_LZ4HC_FORMAT = 1,
  /** Stream format of ZLIB: the same number as its library code. */
  BLOSC_ZLIB_FORMAT = 3,
  /** Stream format of ZSTD: the same number as its library code. */
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
  /** Split every block into one stream per byte of an item. */
  BLOSC_ALWAYS_SPLIT = 1,
  /** One stream per block. */
  BLOSC_NEVER_SPLIT = 2,
  /** Split where it helps the codec. */
  BLOSC_AUTO_SPLIT = 3,
  /** Split as Blosc 1 readers expect it. */
  BLOSC_FORWARD_COMPAT_SPLIT = 4
};

#endif /* BLOSC_H */

/* ---- Limits ---- */

enum {
  /** Length of a Blosc2 chunk header. */
  BLOSC_EXTENDED_HEADER_LENGTH = 32,
  /** The most that a chunk is larger than its content. */
  BLOSC2_MAX_OVERHEAD = 32,
  /** The largest buffer that one chunk holds: `INT_MAX` less the overhead. */
  BLOSC2_MAX_BUFFERSIZE = 2147483615,
  /** Shorter buffers are stored without trying to compress them. */
  BLOSC_MIN_BUFFERSIZE = 32,
  /** Slots of the filter pipeline. */
  BLOSC2_MAX_FILTERS = 6,
  /** Filters that one context could define for itself; not used. */
  BLOSC2_MAX_UDFILTERS = 16,
  /** The largest dictionary. */
  BLOSC2_MAXDICTSIZE = 32768,
  /** Dictionaries shorter than this are not worth their space. */
  BLOSC2_MINUSEFULDICT = 256,
  /** The largest block. */
  BLOSC2_MAXBLOCKSIZE = 536866816,
  /** The largest item. */
  BLOSC2_MAXTYPESIZE = 536866816
};

/** Fixed metalayers of one super-chunk. */
#define BLOSC2_MAX_METALAYERS 16
/** Longest name of a metalayer, without the terminating NUL. */
#define BLOSC2_METALAYER_NAME_MAXLEN 31
/** Variable-length metalayers of one super-chunk. */
#define BLOSC2_MAX_VLMETALAYERS 8192
/** Longest name of a variable-length metalayer, without the terminating NUL. */
#define BLOSC2_VLMETALAYERS_NAME_MAXLEN BLOSC2_METALAYER_NAME_MAXLEN

/* ---- Who may use which ids ---- */

/* Codecs. */
enum {
  /** First id of the library's own codecs. */
  BLOSC2_DEFINED_CODECS_START = 0,
  /** Last id of the library's own codecs. */
  BLOSC2_DEFINED_CODECS_STOP = 31,
  /** First id of the codecs that the project registers for everyone. */
  BLOSC2_GLOBAL_REGISTERED_CODECS_START = 32,
  /** Last id of the codecs that the project registers for everyone. */
  BLOSC2_GLOBAL_REGISTERED_CODECS_STOP = 159,
  /** Historical count of the globally registered codecs. */
  BLOSC2_GLOBAL_REGISTERED_CODECS = 5,
  /** First id of the codecs that a program registers. */
  BLOSC2_USER_REGISTERED_CODECS_START = 160,
  /** Last id of the codecs that a program registers. */
  BLOSC2_USER_REGISTERED_CODECS_STOP = 255
};

/* Filters. */
enum {
  /** First id of the library's own filters. */
  BLOSC2_DEFINED_FILTERS_START = 0,
  /** Last id of the library's own filters. */
  BLOSC2_DEFINED_FILTERS_STOP = 31,
  /** First id of the filters that the project registers for everyone. */
  BLOSC2_GLOBAL_REGISTERED_FILTERS_START = 32,
  /** Last id of the filters that the project registers for everyone. */
  BLOSC2_GLOBAL_REGISTERED_FILTERS_STOP = 159,
  /** Historical count of the globally registered filters. */
  BLOSC2_GLOBAL_REGISTERED_FILTERS = 5,
  /** First id of the filters that a program registers. */
  BLOSC2_USER_REGISTERED_FILTERS_START = 160,
  /** Last id of the filters that a program registers. */
  BLOSC2_USER_REGISTERED_FILTERS_STOP = 255
};

/* Tuners. */
enum {
  /** First id of the library's own tuners. */
  BLOSC2_DEFINED_TUNER_START = 0,
  /** Last id of the library's own tuners. */
  BLOSC2_DEFINED_TUNER_STOP = 31,
  /** First id of the tuners that the project registers for everyone. */
  BLOSC2_GLOBAL_REGISTERED_TUNER_START = 32,
  /** Last id of the tuners that the project registers for everyone. */
  BLOSC2_GLOBAL_REGISTERED_TUNER_STOP = 159,
  /** Historical count of the globally registered tuners. */
  BLOSC2_GLOBAL_REGISTERED_TUNERS = 0,
  /** First id of the tuners that a program registers. */
  BLOSC2_USER_REGISTERED_TUNER_START = 160,
  /** Last id of the tuners that a program registers. */
  BLOSC2_USER_REGISTERED_TUNER_STOP = 255
};

/* ---- Filters, codecs, tuners, I/O back-ends ---- */

enum {
  /** Difference to the first block of the chunk. */
  BLOSC_DELTA = 3,
  /** Truncation of floating-point precision; the meta byte counts the bits. */
  BLOSC_TRUNC_PREC = 4,
  /** One past the last id of a filter in this library's own set. */
  BLOSC_LAST_FILTER = 5,
  /** Last id of the globally registered filters. */
  BLOSC_LAST_REGISTERED_FILTER = 36
};

enum {
  /** One past the last id of a codec in this library's own set; id 3 is unassigned. */
  BLOSC_LAST_CODEC = 6,
  /** Historical: codec ids reach 40, but the value is compiled into programs. */
  BLOSC_LAST_REGISTERED_CODEC = 36,
  /** Library code of every registered codec: the id is in the extended header. */
  BLOSC_UDCODEC_LIB = 6,
  /** Library code that is kept for super-chunks. */
  BLOSC_SCHUNK_LIB = 7,
  /** Stream format of registered codecs. */
  BLOSC_UDCODEC_FORMAT = 6,
  /** Version of the stream format of registered codecs. */
  BLOSC_UDCODEC_VERSION_FORMAT = 1
};

enum {
  /** The library's own tuner. */
  BLOSC_STUNE = 0,
  /** One past the last id of the library's own tuners. */
  BLOSC_LAST_TUNER = 1,
  /** Last id of the globally registered tuners; historical. */
  BLOSC_LAST_REGISTERED_TUNE = 31
};

enum {
  /** Files, read and written. */
  BLOSC2_IO_FILESYSTEM = 0,
  /** Files, mapped into memory. */
  BLOSC2_IO_FILESYSTEM_MMAP = 1,
  /** One past the last id of the library's own back-ends. */
  BLOSC_IO_LAST_BLOSC_DEFINED = 2,
  /** One past the last id of the globally registered back-ends. */
  BLOSC_IO_LAST_REGISTERED = 32
};

enum {
  /** Ids below belong to the library. */
  BLOSC2_IO_BLOSC_DEFINED = 32,
  /** Ids below are registered globally; a program's own begin here. */
  BLOSC2_IO_REGISTERED = 160,
  /** Ids below may be registered by a program. */
  BLOSC2_IO_USER_DEFINED = 256
};

/* ---- The chunk header ---- */

/* Flags. */
enum {
  /** Chunk flag: delta. */
  BLOSC_DODELTA = 0x8,
  /** Blosc2 flag: the chunk carries a dictionary. */
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
  /** An ordinary chunk. */
  BLOSC2_NO_SPECIAL = 0,
  /** A chunk of zeros. */
  BLOSC2_SPECIAL_ZERO = 1,
  /** A chunk of NaNs. */
  BLOSC2_SPECIAL_NAN = 2,
  /** A chunk that repeats one value. */
  BLOSC2_SPECIAL_VALUE = 3,
  /** A chunk of unspecified content. */
  BLOSC2_SPECIAL_UNINIT = 4,
  /** The last kind of special chunk. */
  BLOSC2_SPECIAL_LASTID = 4,
  /** Bits that hold the kind, after a shift. */
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

/** A compression or decompression context: made by blosc2_create_cctx or blosc2_create_dctx, released by
 *  blosc2_free_ctx, used by one thread at a time. */
typedef struct blosc2_context_s blosc2_context;

/** A frame; it lives and dies with its super-chunk. */
typedef struct blosc2_frame_s blosc2_frame;

/**
 * What a prefilter sees of the block that it has to fill. The caller sets `user_data`,
 * `output_typesize` and `output_is_disposable`; the library passes a copy, filled for the block,
 * that is private to the call.
 */
typedef struct {
  /** The caller's own pointer. */
  void *user_data;
  /** The block in the source buffer. */
  const uint8_t *input;
  /** Where to write the block; zeroed beforehand unless the output is disposable. */
  uint8_t *output;
  /** Bytes to write. */
  int32_t output_size;
  /** Item size of the output in bytes. */
  int32_t output_typesize;
  /** Byte offset of the block in the chunk. */
  int32_t output_offset;
  /** Number of the chunk, or -1 without a super-chunk. */
  int64_t nchunk;
  /** Number of the block in the chunk. */
  int32_t nblock;
  /** Number of the worker thread. */
  int32_t tid;
  /** Scratch memory of the thread. */
  uint8_t *ttmp;
  /** Bytes of scratch memory. */
  size_t ttmp_nbytes;
  /** The compression context. */
  blosc2_context *ctx;
  /** True: the output is not needed, so that the rest of the pipeline is skipped. */
  bool output_is_disposable;
} blosc2_prefilter_params;

/** Fills a block before it is compressed. Anything but 0 fails the compression. */
typedef int (*blosc2_prefilter_fn)(blosc2_prefilter_params *params);

/**
 * What a postfilter sees of the block that was decompressed. The caller sets `user_data`; the
 * library passes a copy, filled for the block, that is private to the call.
 */
typedef struct {
  /** The caller's own pointer. */
  void *user_data;
  /** The decompressed block. */
  const uint8_t *input;
  /** Where to write the block. */
  uint8_t *output;
  /** Bytes of the block. */
  int32_t size;
  /** Item size in bytes. */
  int32_t typesize;
  /** Byte offset of the block in the chunk. */
  int32_t offset;
  /** Number of the chunk, or -1 without a super-chunk. */
  int64_t nchunk;
  /** Number of the block in the chunk. */
  int32_t nblock;
  /** Number of the worker thread. */
  int32_t tid;
  /** Scratch memory of the thread. */
  uint8_t *ttmp;
  /** Bytes of scratch memory. */
  size_t ttmp_nbytes;
  /** The decompression context. */
  blosc2_context *ctx;
} blosc2_postfilter_params;

/** Changes a block after it was decompressed. Anything but 0 fails the decompression. */
typedef int (*blosc2_postfilter_fn)(blosc2_postfilter_params *params);

/**
 * Parameters of a compression context; filled by the caller, best from a copy of
 * `BLOSC2_CPARAMS_DEFAULTS`. Every value is taken literally: 0 does not mean "the default".
 */
typedef struct {
  /** Codec id. */
  uint8_t compcode;
  /** Meta byte of the codec. */
  uint8_t compcode_meta;
  /** Compression level, 0 (store) to 9. */
  uint8_t clevel;
  /** Non-zero: train and use a dictionary (zstd, lz4 and lz4hc only). */
  int use_dict;
  /** Item size in bytes. */
  int32_t typesize;
  /** Threads; 0 and less mean none besides the caller's. */
  int16_t nthreads;
  /** Block size in bytes, 0 = automatic. */
  int32_t blocksize;
  /** Whether blocks are split into streams, `BLOSC_ALWAYS_SPLIT` and so on. */
  int32_t splitmode;
  /** The super-chunk that the context works for, or NULL; borrowed. */
  void *schunk;
  /** Filter ids, applied from first to last. */
  uint8_t filters[BLOSC2_MAX_FILTERS];
  /** One meta byte for each filter. */
  uint8_t filters_meta[BLOSC2_MAX_FILTERS];
  /** Function that fills the blocks, or NULL. */
  blosc2_prefilter_fn prefilter;
  /** What the prefilter gets; copied into the context, except for what `user_data` points at. */
  blosc2_prefilter_params *preparams;
  /** Handed to the tuner's `init`; borrowed. */
  void *tuner_params;
  /** Tuner id. */
  int tuner_id;
  /** True: produce a chunk of `blosc2_instr` records instead of data. */
  bool instr_codec;
  /** For plugin codecs; borrowed. */
  void *codec_params;
  /** For plugin filters; borrowed. */
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
 * Parameters of a decompression context; filled by the caller, best from a copy of
 * `BLOSC2_DPARAMS_DEFAULTS`.
 */
typedef struct {
  /** Threads; 0 and less mean none besides the caller's. */
  int16_t nthreads;
  /** The super-chunk that the context works for, or NULL; borrowed. Lazy chunks need it. */
  void *schunk;
  /** Function that changes decompressed blocks, or NULL. */
  blosc2_postfilter_fn postfilter;
  /** What the postfilter gets; copied into the context, except for what `user_data` points at. */
  blosc2_postfilter_params *postparams;
  /** Item size in bytes, as information: a new context does not look at it. */
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
 * How well one stream was compressed: the records, in native byte order, of a chunk made with
 * `instr_codec`.
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
 * Opens a file for `mode` (`rb`, `rb+`, `wb` or `ab`) and returns its stream, or NULL. `params`
 * is that of the `blosc2_io`.
 */
typedef void *(*blosc2_open_cb)(const char *urlpath, const char *mode, void *params);

/** Closes a stream. 0 is success. */
typedef int (*blosc2_close_cb)(void *stream);

/** The size of a stream in bytes; negative is an error. */
typedef int64_t (*blosc2_size_cb)(void *stream);

/**
 * Writes `nitems` items of `size` bytes at the absolute byte `position`; returns the items
 * written.
 */
typedef int64_t (*blosc2_write_cb)(const void *ptr,
                                   int64_t size,
                                   int64_t nitems,
                                   int64_t position,
                                   void *stream);

/**
 * Reads `nitems` items of `size` bytes at the absolute byte `position`; returns the items read.
 * The bytes go to `*ptr`, or `*ptr` is pointed at them where the back-end needs no allocation.
 */
typedef int64_t (*blosc2_read_cb)(void **ptr,
                                  int64_t size,
                                  int64_t nitems,
                                  int64_t position,
                                  void *stream);

/** Truncates a stream to `size` bytes. 0 is success. */
typedef int (*blosc2_truncate_cb)(void *stream, int64_t size);

/**
 * Releases the `params` of a `blosc2_io` when a super-chunk that uses it is freed; negative is an
 * error.
 */
typedef int (*blosc2_destroy_cb)(void *params);

/** The functions of an I/O back-end; filled by the caller, copied at registration. */
typedef struct {
  /** Id, from 160 for a program's own. */
  uint8_t id;
  /** Name; not copied, so it has to stay valid. */
  char *name;
  /** True: `read` fills the buffer at `*ptr`; false: it points `*ptr` at memory of the back-end. */
  bool is_allocation_necessary;
  /** Opens a stream. */
  blosc2_open_cb open;
  /** Closes a stream. */
  blosc2_close_cb close;
  /** Size of a stream. */
  blosc2_size_cb size;
  /** Writes to a stream. */
  blosc2_write_cb write;
  /** Reads from a stream. */
  blosc2_read_cb read;
  /** Truncates a stream. */
  blosc2_truncate_cb truncate;
  /** Releases the parameters. */
  blosc2_destroy_cb destroy;
} blosc2_io_cb;

/** An I/O back-end and its parameters; filled by the caller. */
typedef struct {
  /** Id of the back-end. */
  uint8_t id;
  /** Its name, as information; may be NULL. */
  const char *name;
  /**
   * Handed to the back-end's `open` and `destroy`; has to outlive every super-chunk that uses it.
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
 * How a super-chunk is stored; filled by the caller. The library copies the struct and what it
 * points at, except for the `params` of `io`.
 */
typedef struct {
  /** True: one frame; false: separate chunks, in memory or, with a path, in a directory. */
  bool contiguous;
  /** Path of the file or directory; NULL = in memory. A leading `file:///` is cut off. */
  char *urlpath;
  /** Compression parameters; NULL = the defaults. */
  blosc2_cparams *cparams;
  /** Decompression parameters; NULL = the defaults. */
  blosc2_dparams *dparams;
  /** I/O back-end; NULL = the default one. */
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

/** A metalayer of a super-chunk: a name and its content. */
typedef struct blosc2_metalayer {
  /** Name, at most 31 bytes and a NUL. */
  char *name;
  /** Content: the bytes of a fixed metalayer, or the chunk of a variable-length one. */
  uint8_t *content;
  /** Bytes at `content`. */
  int32_t content_len;
} blosc2_metalayer;

/**
 * A super-chunk. Only the library allocates it: read it through the pointer, never copy or embed
 * it.
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
  /** Split mode. */
  uint8_t splitmode;
  /** Item size in bytes. */
  int32_t typesize;
  /** Block size in bytes as it was asked for; 0 = automatic. */
  int32_t blocksize;
  /** Uncompressed bytes of a chunk; -1 = still empty, 0 = chunks of different sizes. */
  int32_t chunksize;
  /** Second Blosc2 flags that all chunks share (`BLOSC2_VL_BLOCKS`). */
  uint8_t flags2;
  /** Non-zero: the chunks use dictionaries. */
  uint8_t use_dict;
  /** Filter ids. */
  uint8_t filters[BLOSC2_MAX_FILTERS];
  /** Meta bytes of the filters. */
  uint8_t filters_meta[BLOSC2_MAX_FILTERS];
  /** Number of chunks. */
  int64_t nchunks;
  /**
   * The chunk at work, which pre- and postfilters are told; to be set before using `cctx`
   * directly.
   */
  int64_t current_nchunk;
  /** Total of the uncompressed bytes. */
  int64_t nbytes;
  /** Total of the compressed bytes. */
  int64_t cbytes;
  /** The chunks of a super-chunk in memory that is no frame; else NULL. */
  uint8_t **data;
  /** Bytes allocated for `data`. */
  size_t data_len;
  /** The library's copy of the storage parameters; never NULL. */
  blosc2_storage *storage;
  /** The frame, or NULL. */
  blosc2_frame *frame;
  /** Compression context; a caller may free it and put another in its place. */
  blosc2_context *cctx;
  /** Decompression context; a caller may free it and put another in its place. */
  blosc2_context *dctx;
  /** The fixed metalayers, the first `nmetalayers` of them valid. */
  blosc2_metalayer *metalayers[BLOSC2_MAX_METALAYERS];
  /** Number of fixed metalayers. */
  uint16_t nmetalayers;
  /** The variable-length metalayers, the first `nvlmetalayers` of them valid. */
  blosc2_metalayer *vlmetalayers[BLOSC2_MAX_VLMETALAYERS];
  /** Number of variable-length metalayers. */
  int16_t nvlmetalayers;
  /** Parameters of the tuner. */
  void *tuner_params;
  /** Tuner id. */
  int tuner_id;
  /** Dimensions of the array in here, once they were needed; else 0. */
  int8_t ndim;
  /** Block shape of the array in here, once it was needed; else NULL. */
  int64_t *blockshape;
  /** True: a view, whose chunks belong to another array. */
  bool view;
  /**
   * Counts the changes to the metalayers, and the times that a change by another process was
   * found.
   */
  int64_t change_tick;
} blosc2_schunk;

/* ---- What a program registers ---- */

/**
 * Compresses one stream: returns the bytes written, 0 when they do not fit, or a negative error.
 * `meta` is the codec's meta byte, `cparams` a temporary copy of the parameters, `chunk` the
 * start of the source buffer (NULL for blocks of variable length).
 */
typedef int (*blosc2_codec_encoder_cb)(const uint8_t *input,
                                       int32_t input_len,
                                       uint8_t *output,
                                       int32_t output_len,
                                       uint8_t meta,
                                       blosc2_cparams *cparams,
                                       const void *chunk);

/**
 * Decompresses one stream: returns exactly `output_len`; anything else is an error. `chunk` is
 * the start of the compressed chunk.
 */
typedef int (*blosc2_codec_decoder_cb)(const uint8_t *input,
                                       int32_t input_len,
                                       uint8_t *output,
                                       int32_t output_len,
                                       uint8_t meta,
                                       blosc2_dparams *dparams,
                                       const void *chunk);

/** A codec to register. NULL functions are looked up in a plugin library at first use. */
typedef struct {
  /** Id, 160 to 255 for a program's own. */
  uint8_t compcode;
  /** Name; has to stay valid. */
  char *compname;
  /** Library code, only reported by `blosc2_get_complib_info`. */
  uint8_t complib;
  /** Version of the stream format, written into the chunks. */
  uint8_t version;
  /** Compresses a stream. */
  blosc2_codec_encoder_cb encoder;
  /** Decompresses a stream. */
  blosc2_codec_decoder_cb decoder;
} blosc2_codec;

/** Filters `size` bytes on the way to the codec. 0 is success. */
typedef int (*blosc2_filter_forward_cb)(const uint8_t *src,
                                        uint8_t *dest,
                                        int32_t size,
                                        uint8_t meta,
                                        blosc2_cparams *cparams,
                                        uint8_t id);

/**
 * Undoes the filter on `size` bytes that came from the codec. 0 is success, anything else the
 * error.
 */
typedef int (*blosc2_filter_backward_cb)(const uint8_t *src,
                                         uint8_t *dest,
                                         int32_t size,
                                         uint8_t meta,
                                         blosc2_dparams *dparams,
                                         uint8_t id);

/** A filter to register. NULL functions are looked up in a plugin library at first use. */
typedef struct {
  /** Id, 160 to 255 for a program's own. */
  uint8_t id;
  /** Name; has to stay valid. */
  char *name;
  /** Version; not used. */
  uint8_t version;
  /** Filters a block. */
  blosc2_filter_forward_cb forward;
  /** Undoes the filter. */
  blosc2_filter_backward_cb backward;
} blosc2_filter;

/**
 * A tuner to register. Every function returns a negative number for an error. NULL functions are
 * looked up in a plugin library at first use.
 */
typedef struct {
  /** Prepares the tuner for a context; `config` is the caller's `tuner_params`. */
  int (*init)(void *config, blosc2_context *cctx, blosc2_context *dctx);
  /** Sets the block size before a compression, where the tuner keeps no state. */
  int (*next_blocksize)(blosc2_context *context);
  /** Sets the parameters before a compression. */
  int (*next_cparams)(blosc2_context *context);
  /** Learns how long, in seconds, the compression took. */
  int (*update)(blosc2_context *context, double ctime);
  /** Releases the tuner's state. */
  int (*free)(blosc2_context *context);
  /** Id, from 160 for a program's own. */
  int id;
  /** Name; has to stay valid. */
  char *name;
} blosc2_tuner;

/**
 * A caller's own thread pool: calls `dojob(jobdata + i * jobdata_elsize)` exactly once for each
 * `i` in `[0, numjobs)`, in any threads, and returns when all have returned. The elements of
 * `jobdata` are opaque.
 */
typedef void (*blosc_threads_callback)(void *callback_data,
                                       void (*dojob)(void*),
                                       int numjobs,
                                       size_t jobdata_elsize,
                                       void *jobdata);

/** A point in time, only good for differences. */
#if defined(_WIN32)
typedef LARGE_INTEGER blosc_timestamp_t;
#else
typedef struct timespec blosc_timestamp_t;
#endif

/* ---- The library as a whole ---- */

/**
 * Brings the library up. Calling it is not necessary: every function works without. What it does
 * is forget the codecs, filters and tuners that were registered before the last `blosc2_destroy`.
 * Does nothing when the library is up already; may be called from several threads.
 */
BLOSC_EXPORT
void blosc2_init(void);

/**
 * Takes the library down: ends its worker threads, and frees memory that was kept to be used
 * again. Contexts stay valid and must still be freed; settings such as the compressor and the
 * number of threads are kept. Does nothing when the library is not up.
 */
BLOSC_EXPORT
void blosc2_destroy(void);

/**
 * Releases the memory that the library keeps between calls: buffers, chunks that were freed, and
 * the state of codecs. Other threads than the calling one release their own at the end of their
 * next call, or when they end.
 *
 * Returns 0, or -1 when the library is not up.
 */
BLOSC_EXPORT
int blosc2_free_resources(void);

/**
 * Returns the text for `error_code`: a static string, `"Unknown error"` for any number that is no
 * error code.
 */
BLOSC_EXPORT
const char *blosc2_error_string(int error_code);

/** Returns the version of the ABI, `"3.3.5"`: a static string. */
BLOSC_EXPORT const char *blosc2_get_version_string(void);

/**
 * Hands every parallel job to the caller's own scheduler instead of the library's threads; NULL
 * restores those. To be called while no other thread is inside the library. `callback_data` is
 * passed on and must stay valid.
 *
 * Note: `callback` obeys the contract of `blosc_threads_callback`.
 */
BLOSC_EXPORT
void blosc2_set_threads_callback(blosc_threads_callback callback,
                                 void *callback_data);

/** Returns the number of threads that functions without a context use; 1 until it is set. */
BLOSC_EXPORT int16_t blosc2_get_nthreads(void);

/**
 * Sets the number of threads that functions without a context use to `nthreads`, the caller's
 * among them, and starts the others.
 *
 * Returns the previous number; -12 for less than 1, -26 when no thread can be started, and
 * nothing changes.
 */
BLOSC_EXPORT
int16_t blosc2_set_nthreads(int16_t nthreads);

/**
 * Returns the name of the codec that functions without a context use: a static string; NULL after
 * a call of `blosc1_set_compressor` with an unknown name.
 */
BLOSC_EXPORT
const char *blosc1_get_compressor(void);

/**
 * Sets the codec that functions without a context use to the one that is called `compname`.
 *
 * Returns its id; -7 for a registered codec, and nothing changes; -1 for an unknown name, and
 * compression fails with -7 until a known name is set.
 */
BLOSC_EXPORT
int blosc1_set_compressor(const char *compname);

/**
 * Puts a delta filter into the pipeline of functions without a context, or takes it out if
 * `dodelta` is 0.
 */
BLOSC_EXPORT
void blosc2_set_delta(int dodelta);

/** Returns the block size, in bytes, of functions without a context; 0 is automatic. */
BLOSC_EXPORT int blosc1_get_blocksize(void);

/** Sets the block size of functions without a context to `blocksize` bytes; 0 is automatic. */
BLOSC_EXPORT void blosc1_set_blocksize(size_t blocksize);

/**
 * Sets the split mode of functions without a context to `splitmode`, one of `BLOSC_ALWAYS_SPLIT`
 * and so on.
 */
BLOSC_EXPORT
void blosc1_set_splitmode(int splitmode);

/* ---- Codecs, filters, tuners and I/O back-ends ---- */

/** Returns the names of the codecs that every build has, separated by commas: a static string. */
BLOSC_EXPORT const char *blosc2_list_compressors(void);

/**
 * The name of a codec: stores a string that stays valid, or NULL for an unknown id and for a
 * codec that was registered without a name, in `*compname`.
 *
 * Returns `compcode`, or -1 for an unknown id.
 */
BLOSC_EXPORT
int blosc2_compcode_to_compname(int compcode,
                                const char **compname);

/**
 * Returns the id of the codec that is called `compname`, which is case-sensitive; -1 for an
 * unknown name or NULL.
 */
BLOSC_EXPORT
int blosc2_compname_to_compcode(const char *compname);

/**
 * The library behind the codec that is called `compname`: stores its name and its version in
 * `*complib` and `*version`, both from `malloc`; the caller frees them. Either pointer may be
 * NULL.
 *
 * Returns the code of the library, or -1 for an unknown codec; then NULL is stored in both.
 */
BLOSC_EXPORT
int blosc2_get_complib_info(const char *compname,
                            char **complib,
                            char **version);

/**
 * Adds `codec`, one of the caller's. The struct and its name are copied; the functions must stay
 * loaded. The name may be NULL or uninitialised: where no string can be read there is no name.
 *
 * Returns 0, also when the id is registered under the same name already (the old functions stay).
 * -8 for an id below 160 or one that is taken under another name, -7 when there are 255 codecs,
 * -12 for NULL.
 *
 * Note: the functions obey the contracts of their typedefs.
 */
BLOSC_EXPORT
int blosc2_register_codec(blosc2_codec *codec);

/**
 * Adds `filter`, one of the caller's. The struct and its name are copied; the functions must stay
 * loaded. The name may be NULL or uninitialised: where no string can be read there is no name.
 *
 * Returns 0, also when the id is registered under the same name already (the old functions stay).
 * -1 for an id below 160 or one that is taken under another name, -7 when there are 255 filters,
 * -12 for NULL.
 *
 * Note: the functions obey the contracts of their typedefs.
 */
BLOSC_EXPORT
int blosc2_register_filter(blosc2_filter *filter);

/**
 * Adds `tuner`, one of the caller's. The struct and its name are copied; the functions must stay
 * loaded. The name may be NULL or uninitialised: where no string can be read there is no name.
 *
 * Returns 0, also when the id is registered under the same name already (the old functions stay).
 * -1 for an id below 160 or one that is taken under another name, -7 when there are 255 tuners,
 * -12 for NULL.
 *
 * Note: the functions obey the contracts of their fields.
 */
BLOSC_EXPORT
int blosc2_register_tuner(blosc2_tuner *tuner);

/**
 * Adds `io`, an I/O back-end of the caller's. The struct and its name are copied; the functions
 * must stay loaded. The name may be NULL or uninitialised: where no string can be read there is
 * no name.
 *
 * Returns 0, also when the id is registered under the same name already (the old functions stay).
 * -30 for an id below 160 or one that is taken under another name, or when there are 255
 * back-ends, -12 for NULL.
 *
 * Note: the functions obey the contracts of their typedefs.
 */
BLOSC_EXPORT
int blosc2_register_io_cb(const blosc2_io_cb *io);

/**
 * The I/O back-end `id`: 0 for plain files, 1 for mapped ones, or one that was registered.
 *
 * Returns its entry in the library's table, which stays there for the life of the process, or
 * NULL.
 */
BLOSC_EXPORT blosc2_io_cb *blosc2_get_io_cb(uint8_t id);

/* ---- Default parameters, for languages that cannot use the objects above ---- */

/** Returns a struct with the same bytes as `BLOSC2_CPARAMS_DEFAULTS`. */
BLOSC_EXPORT blosc2_cparams blosc2_get_blosc2_cparams_defaults(void);

/** Returns a struct with the same bytes as `BLOSC2_DPARAMS_DEFAULTS`. */
BLOSC_EXPORT blosc2_dparams blosc2_get_blosc2_dparams_defaults(void);

/** Returns a struct with the same bytes as `BLOSC2_STORAGE_DEFAULTS`. */
BLOSC_EXPORT blosc2_storage blosc2_get_blosc2_storage_defaults(void);

/** Returns a struct with the same values as `BLOSC2_IO_DEFAULTS`. */
BLOSC_EXPORT blosc2_io blosc2_get_blosc2_io_defaults(void);

/** Returns a struct with the same values as `BLOSC2_STDIO_MMAP_DEFAULTS`. */
BLOSC_EXPORT blosc2_stdio_mmap blosc2_get_blosc2_stdio_mmap_defaults(void);

/* ---- Chunks, with the global settings ---- */

/**
 * Compresses the `nbytes` bytes at `src`, items of `typesize` bytes, into a chunk at `dest` with
 * the library's settings: as `blosc2_compress`, whose `clevel` and `doshuffle` these are, with
 * sizes that must fit into 31 bits.
 *
 * Returns the size of the chunk in bytes; 0 when it does not fit into `destsize` bytes; a
 * negative error code.
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
 * Decompresses the chunk at `src` into `dest`, which has room for `destsize` bytes. The chunk
 * must be as long as its header says; use `blosc2_decompress` for bytes that are not trusted.
 *
 * Returns the bytes of content, or a negative error code.
 *
 * Note: `src` points at a whole chunk.
 */
BLOSC_EXPORT
int blosc1_decompress(const void *src,
                      void *dest,
                      size_t destsize);

/**
 * Reads `nitems` items of the chunk at `src` from item `start` on into `dest`; as
 * `blosc2_getitem` for a chunk and a destination that are as long as they have to be.
 *
 * Returns the bytes read, or a negative error code.
 *
 * Note: `src` points at a whole chunk, and `dest` has room for the items.
 */
BLOSC_EXPORT
int blosc1_getitem(const void *src,
                   int start,
                   int nitems,
                   void *dest);

/**
 * Compresses the `srcsize` bytes at `src`, items of `typesize` bytes, into a chunk at `dest`,
 * with the library's settings and what the environment overrides.
 *
 * `clevel` is 0 (store) to 9; `doshuffle` one of `BLOSC_NOSHUFFLE`, `BLOSC_SHUFFLE`,
 * `BLOSC_BITSHUFFLE`. A destination of `srcsize + BLOSC2_MAX_OVERHEAD` bytes is always large
 * enough.
 *
 * Returns the size of the chunk in bytes; 0 when it does not fit into `destsize` bytes. -8 for a
 * bad level, -12 for a bad item size, -35 for a source above `BLOSC2_MAX_BUFFERSIZE` or a
 * destination below 32 bytes, -7 for an unknown compressor.
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
 * Decompresses the chunk at `src`, of at most `srcsize` bytes, into `dest`, with the library's
 * number of threads.
 *
 * Returns the bytes of content. -6 when they do not fit into `destsize` bytes, another negative
 * code for a chunk that is damaged; then the content of `dest` is undefined.
 */
BLOSC_EXPORT
int blosc2_decompress(const void *src,
                      int32_t srcsize,
                      void *dest,
                      int32_t destsize);

/**
 * Reads `nitems` items of the chunk at `src`, of at most `srcsize` bytes, from item `start` on
 * into `dest`, decompressing only the blocks that hold them. An item is as wide as the chunk
 * says: 1 byte for items above 255 bytes.
 *
 * Returns the bytes read. -12 for items that are not there, -6 when they do not fit into
 * `destsize` bytes, another negative code for a chunk that is damaged.
 */
BLOSC_EXPORT
int blosc2_getitem(const void *src,
                   int32_t srcsize,
                   int start,
                   int nitems,
                   void *dest,
                   int32_t destsize);

/* ---- What a chunk says of itself ---- */

/**
 * Stores the sizes of a chunk in bytes: of its content in `*nbytes`, of itself in `*cbytes`, of
 * its blocks in `*blocksize`. All 0 for a header that makes no sense. Any of the results may be
 * NULL. Reads 16 bytes.
 *
 * Note: `cbuffer` points at 16 bytes.
 */
BLOSC_EXPORT
void blosc1_cbuffer_sizes(const void *cbuffer,
                          size_t *nbytes,
                          size_t *cbytes,
                          size_t *blocksize);

/**
 * Stores the sizes of a chunk in bytes: of its content in `*nbytes`, of itself in `*cbytes`, of
 * its blocks in `*blocksize`. Any of the results may be NULL. Reads 16 bytes.
 *
 * Returns 0; a negative code for a header that makes no sense, and stores 0 in all three.
 *
 * Note: `cbuffer` points at 16 bytes.
 */
BLOSC_EXPORT
int blosc2_cbuffer_sizes(const void *cbuffer,
                         int32_t *nbytes,
                         int32_t *cbytes,
                         int32_t *blocksize);

/**
 * Tells whether the `cbytes` bytes at `cbuffer` may be a chunk: its header makes sense and names
 * that size. Reads 16 bytes. Stores the size of the content in `*nbytes`, 0 for an error.
 *
 * Returns 0; -6 for less than 16 bytes, -11 for a bad header or another size, -4 for a content
 * above the limit.
 */
BLOSC_EXPORT
int blosc1_cbuffer_validate(const void *cbuffer,
                            size_t cbytes,
                            size_t *nbytes);

/**
 * Stores the item size of a chunk, in bytes, in `*typesize` and its flags byte in `*flags`; both
 * 0 for a header that makes no sense. Either result may be NULL. Reads 16 bytes.
 *
 * Note: `cbuffer` points at 16 bytes.
 */
BLOSC_EXPORT
void blosc1_cbuffer_metainfo(const void *cbuffer,
                             size_t *typesize,
                             int *flags);

/**
 * Stores the version of the chunk format in `*version` and that of the codec's format in
 * `*versionlz`; both 0 for a header that makes no sense. Either result may be NULL. Reads 16
 * bytes.
 *
 * Note: `cbuffer` points at 16 bytes.
 */
BLOSC_EXPORT
void blosc2_cbuffer_versions(const void *cbuffer,
                             int *version,
                             int *versionlz);

/**
 * Returns the name of the library that made a chunk: a static string, NULL for an unknown one or
 * a header that makes no sense. Reads 16 bytes.
 *
 * Note: `cbuffer` points at 16 bytes.
 */
BLOSC_EXPORT
const char *blosc2_cbuffer_complib(const void *cbuffer);

/**
 * Stores the number of blocks of a chunk with variable-length blocks in `*nblocks`. Of the chunk
 * at `src` the first of the `srcsize` bytes, its header, are enough.
 *
 * Returns 0; -12 for NULL or a chunk of equal blocks, or the code for a bad header.
 */
BLOSC_EXPORT
int blosc2_vlchunk_get_nblocks(const void *src,
                               int32_t srcsize,
                               int32_t *nblocks);

/* ---- Special chunks ---- */

/**
 * Writes a 32-byte chunk that stands for `nbytes` zero bytes to `dest`, which has room for
 * `destsize` bytes. The header is as `cparams` says.
 *
 * Returns 32. -3 for less room or an `nbytes` that is no multiple of the item size, -32 for
 * parameters of which no context can be made, or the codes of `blosc2_compress_ctx`.
 */
BLOSC_EXPORT
int blosc2_chunk_zeros(blosc2_cparams cparams,
                       int32_t nbytes,
                       void *dest,
                       int32_t destsize);

/**
 * Writes a 32-byte chunk that stands for `nbytes` bytes of NaNs to `dest`, which has room for
 * `destsize` bytes. The header is as `cparams` says. Only item sizes 4 and 8 can be decompressed.
 *
 * Returns 32, or a code as `blosc2_chunk_zeros`.
 */
BLOSC_EXPORT
int blosc2_chunk_nans(blosc2_cparams cparams,
                      int32_t nbytes,
                      void *dest,
                      int32_t destsize);

/**
 * Writes a 32-byte chunk that stands for `nbytes` bytes nobody has set to `dest`, which has room
 * for `destsize` bytes. The header is as `cparams` says. Decompressing it leaves the destination
 * as it is.
 *
 * Returns 32, or a code as `blosc2_chunk_zeros`.
 */
BLOSC_EXPORT
int blosc2_chunk_uninit(blosc2_cparams cparams,
                        int32_t nbytes,
                        void *dest,
                        int32_t destsize);

/**
 * Writes a chunk that repeats the item at `repeatval`, `cparams.typesize` bytes wide, over
 * `nbytes` bytes, to `dest`, which has room for `destsize` bytes.
 *
 * Returns its size, 32 plus that of an item, or a code as `blosc2_chunk_zeros`.
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
 * Makes a context for compression. `cparams` is copied, the parameters of a prefilter too; what
 * their pointers point at must stay valid. The environment overrides some. Free it with
 * `blosc2_free_ctx`.
 *
 * Returns the context; NULL for a filter id that does not exist, an unknown tuner or one that
 * fails, or a prefilter without parameters. Other bad parameters are reported when something is
 * compressed.
 */
BLOSC_EXPORT
blosc2_context *blosc2_create_cctx(blosc2_cparams cparams);

/**
 * Makes a context for decompression. `dparams` is copied, the parameters of a postfilter too;
 * what their pointers point at must stay valid. Free it with `blosc2_free_ctx`.
 *
 * Returns the context; NULL for a postfilter without parameters.
 */
BLOSC_EXPORT
blosc2_context *blosc2_create_dctx(blosc2_dparams dparams);

/**
 * Frees `context`, of either kind; nothing happens for NULL. Works after `blosc2_destroy`, too.
 *
 * Note: the context is not used again.
 */
BLOSC_EXPORT void blosc2_free_ctx(blosc2_context *context);

/**
 * Copies the parameters of `ctx` into `*cparams`, except `tuner_params` and `filter_params`,
 * which keep what they hold. After a compression the block size is the one that was used.
 *
 * Returns 0, or -32 for NULL.
 */
BLOSC_EXPORT
int blosc2_ctx_get_cparams(blosc2_context *ctx,
                           blosc2_cparams *cparams);

/**
 * Copies the parameters of `ctx` into `*dparams`; `typesize` is that of the last chunk, 0 before
 * the first.
 *
 * Returns 0, or -32 for NULL.
 *
 * Note: `*dparams` need not be initialised.
 */
BLOSC_EXPORT
int blosc2_ctx_get_dparams(blosc2_context *ctx,
                           blosc2_dparams *dparams);

/**
 * Sets the blocks that the next `blosc2_decompress_ctx` with `ctx` leaves out: `maskout[i]` is
 * true for a block that is not wanted. The mask is copied and used once, even if that call fails.
 * Blocks that are left out count as decompressed; their part of the destination is not touched.
 *
 * Returns 0; -12 for a negative number of blocks, -32 for NULL, -4 without memory.
 *
 * Note: `maskout` has `nblocks` items.
 */
BLOSC_EXPORT
int blosc2_set_maskout(blosc2_context *ctx,
                       bool *maskout,
                       int nblocks);

/**
 * Compresses the `srcsize` bytes at `src` into a chunk at `dest`, as the parameters of `context`
 * say. `src` may be NULL when a prefilter supplies the data.
 *
 * A destination of `srcsize + BLOSC2_MAX_OVERHEAD` bytes is always large enough. The chunk does
 * not depend on the number of threads.
 *
 * Returns the size of the chunk in bytes; 0 when it does not fit into `destsize` bytes. -12 for a
 * decompression context or bad sizes, -8 for a bad level or a dictionary with a codec that has
 * none, -35 for a source above `BLOSC2_MAX_BUFFERSIZE` or a destination below 32 bytes, -7 for an
 * unknown codec, -18 for a filter that fails.
 */
BLOSC_EXPORT
int blosc2_compress_ctx(blosc2_context *context,
                        const void *src,
                        int32_t srcsize,
                        void *dest,
                        int32_t destsize);

/**
 * Decompresses the chunk at `src`, of at most `srcsize` bytes, into `dest`, as the parameters of
 * `context` say.
 *
 * Returns the bytes of content. -12 for a compression context, -6 when they do not fit into
 * `destsize` bytes, -3 for a mask of another length, another negative code for a chunk that is
 * damaged; then the content of `dest` is undefined.
 */
BLOSC_EXPORT
int blosc2_decompress_ctx(blosc2_context *context,
                          const void *src,
                          int32_t srcsize,
                          void *dest,
                          int32_t destsize);

/**
 * Reads `nitems` items of the chunk at `src`, of at most `srcsize` bytes, from item `start` on
 * into the `destsize` bytes at `dest`, as `blosc2_getitem`; `context` is of either kind.
 *
 * Returns the bytes read, or a negative error code.
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
 * Reads `nbytes` bytes of the chunk at `src`, of at most `srcsize` bytes, from byte `start` on
 * into the `destsize` bytes at `dest`. `nbytes` and `start` are multiples of the item size;
 * `context` is of either kind.
 *
 * Returns the bytes read; -12 for a part that is not there or no multiple, or another negative
 * error code.
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
 * Compresses `nblocks` buffers into one chunk at `dest`, as the parameters of `context` say, each
 * a block of its own that can be read alone. `srcs[i]` has `srcsizes[i]` bytes, at least 1. A
 * destination of `32 + 8 * nblocks` bytes plus the sum of the sizes is always large enough. With
 * `use_dict`, a codec that has no dictionaries compresses without one.
 *
 * Returns the size of the chunk in bytes; 0 when it does not fit into `destsize` bytes. -12 for a
 * decompression context, no blocks or an empty one, or the codes of `blosc2_compress_ctx`.
 */
BLOSC_EXPORT
int blosc2_vlcompress_ctx(blosc2_context *context,
                          const void *const *srcs,
                          const int32_t *srcsizes,
                          int32_t nblocks,
                          void *dest,
                          int32_t destsize);

/**
 * Decompresses, with `context`, all blocks of the chunk at `src`, of at most `srcsize` bytes,
 * whose blocks have lengths of their own: stores a buffer from `malloc` in each `dests[i]` and
 * its size in `destsizes[i]`; the caller frees the buffers.
 *
 * Returns the number of blocks; -12 for a compression context, a chunk of equal blocks or more
 * blocks than `maxblocks`, or another negative code for a chunk that is damaged. For an error
 * that comes while decoding all `dests` are NULL; for an earlier one they are not touched.
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
 * Decompresses, with `context`, block `nblock` of the chunk at `src`, of at most `srcsize` bytes,
 * whose blocks have lengths of their own: stores a buffer from `malloc` in `*dest`, which the
 * caller frees, and its size in `*destsize`. Both are untouched for an error.
 *
 * Returns the size of the block in bytes; -12 for a compression context, a chunk of equal blocks
 * or a block that is not there, or another negative code for a chunk that is damaged.
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
 * Makes a super-chunk without chunks as `storage` says: in memory; or with `urlpath` a file
 * (`contiguous`) or a directory, of which there must be none yet. The storage is copied, except
 * for what `io->params` and the `user_data` of filters point at. Free it with
 * `blosc2_schunk_free`.
 *
 * Returns the super-chunk; NULL when the path is taken, a file cannot be written, the back-end is
 * unknown, or no context can be made of the parameters.
 */
BLOSC_EXPORT
blosc2_schunk *blosc2_schunk_new(blosc2_storage *storage);

/**
 * Copies `schunk` with its metalayers to another `storage`. Free the copy with
 * `blosc2_schunk_free`. With other compression parameters than the original's (NULL means those)
 * the chunks are compressed anew.
 *
 * Returns the copy; NULL when the copy cannot be made, as `blosc2_schunk_new`, or a chunk cannot
 * be read. What was written until then stays.
 */
BLOSC_EXPORT
blosc2_schunk *blosc2_schunk_copy(blosc2_schunk *schunk,
                                  blosc2_storage *storage);

/**
 * Frees `schunk` with its chunks in memory, metalayers and contexts; files stay. The `destroy` of
 * its I/O back-end is called. Nothing happens for NULL.
 *
 * Returns 0, or 1 when `destroy` reports an error.
 *
 * Note: the super-chunk is not used again.
 */
BLOSC_EXPORT
int blosc2_schunk_free(blosc2_schunk *schunk);

/**
 * Opens the frame in the file or directory `urlpath` with the default I/O back-end. As many
 * threads are used as `blosc2_get_nthreads` says.
 *
 * Returns the super-chunk, for `blosc2_schunk_free`; NULL when there is no frame that can be
 * read.
 */
BLOSC_EXPORT
blosc2_schunk *blosc2_schunk_open(const char *urlpath);

/**
 * As `blosc2_schunk_open`, for a frame that begins `offset` bytes into the file `urlpath`.
 *
 * Returns the super-chunk, or NULL.
 */
BLOSC_EXPORT blosc2_schunk *blosc2_schunk_open_offset(const char *urlpath, int64_t offset);

/**
 * As `blosc2_schunk_open` of `urlpath`, with the I/O back-end `udio`, of which the struct is
 * copied. Its `destroy` is called when the super-chunk is freed, and also when NULL is returned
 * because there is no frame that can be read.
 *
 * Returns the super-chunk, or NULL.
 */
BLOSC_EXPORT
blosc2_schunk *blosc2_schunk_open_udio(const char *urlpath,
                                       const blosc2_io *udio);

/**
 * As `blosc2_schunk_open_udio` with `udio`, for a frame that begins `offset` bytes into the file
 * `urlpath`.
 *
 * Returns the super-chunk, or NULL.
 */
BLOSC_EXPORT
blosc2_schunk *blosc2_schunk_open_offset_udio(const char *urlpath,
                                              int64_t offset,
                                              const blosc2_io *udio);

/**
 * Opens the contiguous frame of `len` bytes at `cframe`. With `copy`, its chunks are copied, and
 * the result is a super-chunk in memory without a frame. Without, the frame is used where it is:
 * it has to stay as long as the super-chunk, which copies it before the first change; it remains
 * the caller's to free, unless `blosc2_schunk_avoid_cframe_free` hands it over.
 *
 * Returns NULL when it is no frame that can be read.
 *
 * Note: `cframe` is a `malloc` block if it is handed over.
 */
BLOSC_EXPORT
blosc2_schunk *blosc2_schunk_from_buffer(uint8_t *cframe,
                                         int64_t len,
                                         bool copy);

/**
 * Tells whether the buffer of a frame in memory is left to the caller when `schunk` is freed
 * (`avoid_cframe_free`). Nothing happens without such a frame.
 */
BLOSC_EXPORT void blosc2_schunk_avoid_cframe_free(blosc2_schunk *schunk, bool avoid_cframe_free);

/**
 * Stores `schunk` as one frame in memory into `*cframe`. `*needs_free` is true for a copy, which
 * the caller frees; else it is the super-chunk's own, valid until that changes.
 *
 * Returns the length of the frame in bytes; -23 when it cannot be made, with `*cframe` NULL.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_to_buffer(blosc2_schunk *schunk,
                                uint8_t **cframe,
                                bool *needs_free);

/**
 * Writes `schunk` as one frame to the file `urlpath`. A file that is there is replaced if the
 * super-chunk is a frame in memory; for any other it is an error.
 *
 * Returns the length of the frame in bytes; -12 for NULL, -15 or -14 when the file cannot be
 * opened or written, -23 when the frame cannot be made.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_to_file(blosc2_schunk *schunk,
                              const char *urlpath);

/**
 * Writes `schunk` as one frame behind what the file `urlpath` has; the file is made if there is
 * none.
 *
 * Returns where the frame begins in the file, 0 in a new one: for `blosc2_schunk_open_offset`.
 * -12 for NULL, -15, -13 or -14 when the file cannot be opened, measured or written, -23 when the
 * frame cannot be made.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_append_file(blosc2_schunk *schunk,
                                  const char *urlpath);

/**
 * Takes the lock between processes of `schunk`, a frame on disk, for several calls; it nests.
 * Nothing happens where locking is not asked for.
 *
 * Returns 0; -37 when the lock cannot be had, -32 for NULL.
 */
BLOSC_EXPORT
int blosc2_schunk_lock(blosc2_schunk *schunk);

/**
 * Gives back what `blosc2_schunk_lock` took of `schunk`, one level of it.
 *
 * Returns 0, also when nothing is taken; -37 when that fails, -32 for NULL.
 */
BLOSC_EXPORT int blosc2_schunk_unlock(blosc2_schunk *schunk);

/**
 * Reads counters and metalayers of `schunk` anew if another handle or process has changed the
 * frame on disk.
 *
 * Returns 1 if it has, 0 if not or if it cannot be read just now; -32 for NULL, -37 when the lock
 * cannot be had, -13 for a length that no frame has.
 */
BLOSC_EXPORT
int blosc2_schunk_refresh(blosc2_schunk *schunk);

/**
 * Appends `chunk` to `schunk`. With `copy` it stays the caller's; without, it has to be a
 * `malloc` block, which the super-chunk takes, unless an error is returned.
 *
 * Returns the number of chunks then. -11 for bytes that are no chunk, -20 for a chunk that does
 * not fit in (blocks of equal and of variable length do not mix) or cannot be stored, -37 when
 * the lock cannot be had, -32 for NULL.
 *
 * Note: the chunk is as long as its header says.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_append_chunk(blosc2_schunk *schunk,
                                   uint8_t *chunk,
                                   bool copy);

/**
 * Inserts `chunk` into `schunk` before chunk `nchunk`, or at the end; `copy` as in
 * `blosc2_schunk_append_chunk`.
 *
 * Returns the number of chunks then, or a code as there, with -19 in the place of -20; -12 when
 * there is no such place.
 *
 * Note: the chunk is as long as its header says.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_insert_chunk(blosc2_schunk *schunk,
                                   int64_t nchunk,
                                   uint8_t *chunk,
                                   bool copy);

/**
 * Puts `chunk` in the place of chunk `nchunk` of `schunk`; `copy` as in
 * `blosc2_schunk_append_chunk`.
 *
 * Returns the number of chunks, or a code as there, with -21 in the place of -20; -12 when there
 * is no such chunk, -1 when it cannot be read.
 *
 * Note: the chunk is as long as its header says.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_update_chunk(blosc2_schunk *schunk,
                                   int64_t nchunk,
                                   uint8_t *chunk,
                                   bool copy);

/**
 * Deletes chunk `nchunk` of `schunk`. In a contiguous frame its bytes stay behind as a hole.
 *
 * Returns the number of chunks then. -12 when there is no such chunk, -1 when it cannot be read,
 * -21 when the frame cannot be changed, -37 when the lock cannot be had, -32 for NULL.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_delete_chunk(blosc2_schunk *schunk,
                                   int64_t nchunk);

/**
 * Compresses the `nbytes` bytes at `src` with the parameters of `schunk` and appends the chunk.
 * `src` may be NULL when a prefilter supplies the data.
 *
 * Returns the number of chunks then; a code of `blosc2_compress_ctx` or
 * `blosc2_schunk_append_chunk`.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_append_buffer(blosc2_schunk *schunk,
                                    const void *src,
                                    int32_t nbytes);

/**
 * Decompresses chunk `nchunk` of `schunk` into `dest`, which has room for `nbytes` bytes.
 *
 * Returns the bytes of content. -12 when there is no such chunk; when they do not fit, -6 for a
 * frame and -12 for separate chunks in memory; another negative code for a chunk that cannot be
 * read or is damaged.
 */
BLOSC_EXPORT
int blosc2_schunk_decompress_chunk(blosc2_schunk *schunk,
                                   int64_t nchunk,
                                   void *dest,
                                   int32_t nbytes);

/**
 * Stores chunk `nchunk` of `schunk` into `*chunk`. `*needs_free` is true for a copy, which the
 * caller frees; else it is the super-chunk's own, valid until that changes.
 *
 * Returns the size of the chunk in bytes; -12 when there is no such chunk, another negative code
 * when it cannot be read.
 */
BLOSC_EXPORT
int blosc2_schunk_get_chunk(blosc2_schunk *schunk,
                            int64_t nchunk,
                            uint8_t **chunk,
                            bool *needs_free);

/**
 * As `blosc2_schunk_get_chunk`, with `nchunk` and `needs_free` as there, but of a chunk on disk
 * only the header, the block starts, and where the blocks are. Such a chunk can be decompressed,
 * as a whole or in parts, with a context that has the super-chunk (`schunk->dctx`): then the
 * blocks that are needed are read.
 *
 * Returns the bytes at `*chunk`; a code as there.
 */
BLOSC_EXPORT
int blosc2_schunk_get_lazychunk(blosc2_schunk *schunk,
                                int64_t nchunk,
                                uint8_t **chunk,
                                bool *needs_free);

/**
 * Decompresses block `nblock` of chunk `nchunk` of `schunk`, whose blocks have lengths of their
 * own, into a new buffer at `*dest`, for the caller to free. `*destsize` is its size in bytes.
 *
 * Returns that size, too. -12 for NULL, a chunk or block that is not there or not of that kind,
 * another negative code for one that is damaged; then nothing is stored.
 */
BLOSC_EXPORT
int blosc2_schunk_get_vlblock(blosc2_schunk *schunk,
                              int64_t nchunk,
                              int32_t nblock,
                              uint8_t **dest,
                              int32_t *destsize);

/**
 * Reads items `start` to `stop` (the latter left out) of `schunk` into `buffer`, which has room
 * for them. No items, or `stop` before `start`, is no error.
 *
 * Returns 0; -12 for a negative `start` or chunks of different sizes, -1 for any other failure.
 * The chunks before the one that failed have been read then.
 *
 * Note: `buffer` has room for the items.
 */
BLOSC_EXPORT
int blosc2_schunk_get_slice_buffer(blosc2_schunk *schunk,
                                   int64_t start,
                                   int64_t stop,
                                   void *buffer);

/**
 * Writes items `start` to `stop` (the latter left out) of `schunk` from `buffer`. Items behind
 * the end of a short last chunk are left out, unless the whole chunk is written. The chunks are
 * compressed anew.
 *
 * Returns 0; -12 for a negative `start` or chunks of different sizes, -21 when a chunk cannot be
 * stored, -1 for any other failure. The chunks before the one that failed have been written then.
 *
 * Note: `buffer` has the items.
 */
BLOSC_EXPORT
int blosc2_schunk_set_slice_buffer(blosc2_schunk *schunk,
                                   int64_t start,
                                   int64_t stop,
                                   void *buffer);

/**
 * Reads the `ncoords` items of `schunk` at `coords`, in any order, one after another into
 * `buffer`. The super-chunk must have been made with a block size.
 *
 * Returns 0; -12 for an item that is not there, or a super-chunk whose items cannot be told
 * apart; -1 or another negative code when they cannot be read.
 *
 * Note: `buffer` has room for the items.
 */
BLOSC_EXPORT
int blosc2_schunk_get_sparse_buffer(blosc2_schunk *schunk,
                                    int64_t ncoords,
                                    const int64_t *coords,
                                    void *buffer);

/**
 * Stores the compression parameters of `schunk` into `*cparams`, a block for the caller to free.
 * Filters, tuner and what else takes pointers are not in there.
 *
 * Returns 0; -32 for NULL, -4 without memory.
 */
BLOSC_EXPORT
int blosc2_schunk_get_cparams(blosc2_schunk *schunk,
                              blosc2_cparams **cparams);

/**
 * Stores the decompression parameters of `schunk` into `*dparams`, a block for the caller to
 * free.
 *
 * Returns 0; -32 for NULL, -4 without memory.
 */
BLOSC_EXPORT int blosc2_schunk_get_dparams(blosc2_schunk *schunk, blosc2_dparams **dparams);

/**
 * Puts the chunks of `schunk` into another order: chunk `offsets_order[i]` becomes chunk `i`.
 *
 * Returns 0; -3 when the order is no permutation of all chunks, another negative code when the
 * frame cannot be changed.
 *
 * Note: there is one number for each chunk.
 */
BLOSC_EXPORT
int blosc2_schunk_reorder_offsets(blosc2_schunk *schunk,
                                  int64_t *offsets_order);

/**
 * Returns the length of the frame of `schunk` in bytes; of a directory, that of its index file;
 * without a frame, an estimate.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_frame_len(blosc2_schunk *schunk);

/**
 * Fills `schunk`, which has no chunks, with special ones of `chunksize` bytes that stand for
 * `nitems` items: zeros, NaNs or values that nobody has set (`special_value`:
 * `BLOSC2_SPECIAL_ZERO`, `_NAN`, `_UNINIT`).
 *
 * Returns the number of chunks. -12 for sizes that make no sense, -28 when there are chunks
 * already, -28 in a frame or -29 for another `special_value`, -29 for too many items, another
 * negative code when the frame cannot be changed.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_fill_special(blosc2_schunk *schunk,
                                   int64_t nitems,
                                   int special_value,
                                   int32_t chunksize);

/**
 * Tells where the chunks of the frame of `schunk` are: bytes into its data section, or numbers of
 * chunk files; a special chunk has the top bit set. As many as there are chunks, for the caller
 * to free.
 *
 * Returns the array; NULL without a frame, without chunks, or without memory.
 */
BLOSC_EXPORT
int64_t *blosc2_frame_get_offsets(blosc2_schunk *schunk);

/**
 * Stores the numbers of the chunks of `schunk` that a slice touches into `*chunks_idx`, an array
 * for the caller to free. In an array of several dimensions `start` and `stop` (left out) have a
 * number for each; elsewhere they are the items `*start` to `*stop`, and whether there are such
 * chunks is not looked at.
 *
 * Returns how many; 0 and NULL for a super-chunk without chunks, an array without items, or a
 * slice outside. -32 for NULL, -12 when chunks differ in size or the array's geometry makes no
 * sense, -1 for a metalayer that does not.
 */
BLOSC_EXPORT
int64_t blosc2_get_slice_nchunks(blosc2_schunk *schunk,
                                 int64_t *start,
                                 int64_t *stop,
                                 int64_t **chunks_idx);

/* ---- Metalayers ---- */

/**
 * Adds a metalayer to `schunk`: `name`, of 31 bytes at most, and the `content_len` bytes at
 * `content`, a length that it keeps. Both are copied. A frame takes metalayers only as long as it
 * has no chunks.
 *
 * Returns its position. -12 for NULL, a name of more than 31 bytes or that is there already, a
 * 17th metalayer, a bad length, or a frame with chunks; another negative code when the frame
 * cannot be written.
 */
BLOSC_EXPORT
int blosc2_meta_add(blosc2_schunk *schunk,
                    const char *name,
                    uint8_t *content,
                    int32_t content_len);

/**
 * Overwrites the start of the content of the metalayer `name` of `schunk` with the `content_len`
 * bytes at `content`, which are copied; its length stays. A longer content changes nothing, and
 * is no error.
 *
 * Returns its position. -16 when there is none with that name, -12 for NULL, a name of more than
 * 31 bytes or a bad length; another negative code when the frame cannot be written.
 */
BLOSC_EXPORT
int blosc2_meta_update(blosc2_schunk *schunk,
                       const char *name,
                       uint8_t *content,
                       int32_t content_len);

/**
 * Looks for the metalayer of variable length `name` of `schunk`, also for one that another
 * process has just added.
 *
 * Returns its position. -16 when there is none with that name, -12 for NULL or a name of more
 * than 31 bytes, -37 when the lock cannot be had.
 */
BLOSC_EXPORT
int blosc2_vlmeta_exists(blosc2_schunk *schunk,
                         const char *name);

/**
 * Compresses the `content_len` bytes at `content` with `cparams`, or the default parameters if
 * that is NULL, and adds them to `schunk` as the metalayer of variable length `name`. Nothing of
 * the caller's is kept. There can be 8192, and 16 in a frame.
 *
 * Returns its position. -12 for NULL, a name of more than 31 bytes or that is there already, or a
 * bad length; -1 for the 17th in a frame, -32 for parameters of which no context can be made,
 * another negative code when it cannot be compressed or written.
 */
BLOSC_EXPORT
int blosc2_vlmeta_add(blosc2_schunk *schunk,
                      const char *name,
                      uint8_t *content,
                      int32_t content_len,
                      blosc2_cparams *cparams);

/**
 * Gives the metalayer of variable length `name` of `schunk` another content, the `content_len`
 * bytes at `content`, compressed with `cparams`; as `blosc2_vlmeta_add`.
 *
 * Returns its position, or a code as there; -16 when there is none with that name.
 */
BLOSC_EXPORT
int blosc2_vlmeta_update(blosc2_schunk *schunk,
                         const char *name,
                         uint8_t *content,
                         int32_t content_len,
                         blosc2_cparams *cparams);

/**
 * Stores the content of the metalayer of variable length `name` of `schunk` into `*content`, a
 * buffer for the caller to free, NULL if it is empty, and its length into `*content_len`.
 *
 * Returns its position. -16 when there is none with that name, -12 for NULL or a name of more
 * than 31 bytes, -3 for a damaged content; -5 for one that cannot be decompressed, with NULL and
 * 0 stored.
 */
BLOSC_EXPORT
int blosc2_vlmeta_get(blosc2_schunk *schunk,
                      const char *name,
                      uint8_t **content,
                      int32_t *content_len);

/**
 * Removes the metalayer of variable length `name` of `schunk`; those behind it move up.
 *
 * Returns how many there are then. -16 when there is none with that name, -12 for NULL or a name
 * of more than 31 bytes, another negative code when the frame cannot be written.
 */
BLOSC_EXPORT
int blosc2_vlmeta_delete(blosc2_schunk *schunk,
                         const char *name);

/**
 * Stores pointers to the names of the metalayers of variable length into `names`, which has room
 * for `schunk->nvlmetalayers`. They stay the super-chunk's and are valid until these metalayers
 * change.
 *
 * Returns how many; -32 for NULL.
 *
 * Note: `names` has room for all.
 */
BLOSC_EXPORT
int blosc2_vlmeta_get_names(blosc2_schunk *schunk,
                            char **names);

/* ---- Filters on their own, coordinates, files and clocks ---- */

/**
 * Byte-shuffles `blocksize` bytes of items of `typesize` bytes (1 to 256): the first bytes of all
 * items, then the second bytes, and so on. `dest` must not overlap `src`.
 *
 * Returns `blocksize`; -12 for sizes out of range, -32 for NULL.
 */
BLOSC_EXPORT
int32_t blosc2_shuffle(int32_t typesize,
                       int32_t blocksize,
                       const void *src,
                       void *dest);

/**
 * Undoes `blosc2_shuffle`: puts the bytes of the `blocksize / typesize` items of `typesize` bytes
 * in `src` together again in `dest`.
 *
 * Returns `blocksize`; -12 for sizes out of range, -32 for NULL.
 */
BLOSC_EXPORT
int32_t blosc2_unshuffle(int32_t typesize,
                         int32_t blocksize,
                         const void *src,
                         void *dest);

/**
 * Bit-shuffles `blocksize` bytes of items of `typesize` bytes (1 to 256): the lowest bits of all
 * items, then the next bits, and so on. Items beyond the last multiple of 8 are copied. `dest`
 * must not overlap `src`.
 *
 * Returns `blocksize`; -12 for sizes out of range, -32 for NULL.
 */
BLOSC_EXPORT
int32_t blosc2_bitshuffle(int32_t typesize,
                          int32_t blocksize,
                          const void *src,
                          void *dest);

/**
 * Undoes `blosc2_bitshuffle`: puts the bits of the items of `typesize` bytes in `src` together
 * again in `dest`. Items may be of any size.
 *
 * Returns `blocksize`; -12 for sizes out of range, -32 for NULL.
 */
BLOSC_EXPORT
int32_t blosc2_bitunshuffle(int32_t typesize,
                            int32_t blocksize,
                            const void *src,
                            void *dest);

/**
 * Coordinates of the item at flat position `i` of a C-order array: `shape` and `index` have
 * `ndim` items. The first coordinate is not bounded by the shape.
 */
BLOSC_EXPORT
void blosc2_unidim_to_multidim(uint8_t ndim,
                               int64_t *shape,
                               int64_t i,
                               int64_t *index);

/**
 * Flat position of the item with those coordinates: stores the sum of `index[j] * strides[j]` in
 * `*i`.
 *
 * Note: `index` and `strides` have `ndim` items.
 */
BLOSC_EXPORT
void blosc2_multidim_to_unidim(const int64_t *index,
                               int8_t ndim,
                               const int64_t *strides,
                               int64_t *i);

/**
 * Removes the files in the directory `path`, and the directory itself if nothing is left in it.
 *
 * Returns 0. -12 for NULL or an empty path, -16 where there is no directory, -1 when an entry
 * cannot be removed, such as a directory; what comes after it is left then.
 */
BLOSC_EXPORT
int blosc2_remove_dir(const char *path);

/**
 * Removes a frame: a file with the sidecar that locks it, or a directory as `blosc2_remove_dir`.
 *
 * Returns 0, also for NULL and when there is nothing at `path`. -31 when a file cannot be
 * removed, -1 when the path cannot be looked at, or a code of `blosc2_remove_dir`.
 */
BLOSC_EXPORT
int blosc2_remove_urlpath(const char *path);

/**
 * Renames the frame `old_urlpath` to `new_path`. The sidecar that locks a file is not renamed.
 *
 * Returns 0, also when a path is NULL. -1 when there is nothing to rename, or it cannot be done.
 */
BLOSC_EXPORT int blosc2_rename_urlpath(char *old_urlpath, char *new_path);

/**
 * Stores the time of a clock that only moves forward in `*timestamp`.
 *
 * Note: `*timestamp` need not be initialised.
 */
BLOSC_EXPORT void blosc_set_timestamp(blosc_timestamp_t *timestamp);

/** Returns the nanoseconds from `start_time` to `end_time`. */
BLOSC_EXPORT double blosc_elapsed_nsecs(blosc_timestamp_t start_time, blosc_timestamp_t end_time);

/** Returns the seconds from `start_time` to `end_time`. */
BLOSC_EXPORT double blosc_elapsed_secs(blosc_timestamp_t start_time, blosc_timestamp_t end_time);

/* ---- Messages on stderr, when the environment asks for them ---- */

/** Prints "[cat] - message (file:line)" when the variable BLOSC_TRACE is in the environment. */
#define BLOSC_TRACE(cat, msg, ...)                                                           \
  do {                                                                                       \
    if (getenv("BLOSC_TRACE") != NULL) {                                                     \
      fprintf(stderr, "[%s] - " msg " (%s:%d)\n", #cat, ##__VA_ARGS__, __FILE__, __LINE__);  \
    }                                                                                        \
  } while (0)

#define BLOSC_TRACE_ERROR(msg, ...) BLOSC_TRACE(error, msg, ##__VA_ARGS__)
#define BLOSC_TRACE_WARNING(msg, ...) BLOSC_TRACE(warning, msg, ##__VA_ARGS__)
#define BLOSC_TRACE_INFO(msg, ...) BLOSC_TRACE(info, msg, ##__VA_ARGS__)

/** Prints "[INFO] - message" when the variable BLOSC_INFO is in the environment. */
#define BLOSC_INFO(msg, ...)                              \
  do {                                                    \
    if (getenv("BLOSC_INFO") != NULL) {                   \
      fprintf(stderr, "[INFO] - " msg "\n", ##__VA_ARGS__);  \
    }                                                     \
  } while (0)

/** Returns from the enclosing function with the code `rc`, if that is an error. */
#define BLOSC_ERROR(rc)                                             \
  do {                                                              \
    int blosc2_error_rc_ = (rc);                                    \
    if (blosc2_error_rc_ < 0) {                                     \
      BLOSC_TRACE_ERROR("%s", print_error(blosc2_error_rc_));       \
      return blosc2_error_rc_;                                      \
    }                                                               \
  } while (0)

/** Returns from the enclosing function with `rc`, if `pointer` is NULL. */
#define BLOSC_ERROR_NULL(pointer, rc)           \
  do {                                          \
    if ((pointer) == NULL) {                    \
      BLOSC_TRACE_ERROR("Pointer is null");     \
      return (rc);                              \
    }                                           \
  } while (0)

/** Returns the text of the error code `rc`, a static string, as `blosc2_error_string` has it. */
BLOSC_ATTRIBUTE_UNUSED static char *print_error(int rc) {
  return (char *)blosc2_error_string(rc);
}

/* ---- Functions that need no library ---- */

/**
 * Looks for the metalayer `name` of `schunk`.
 *
 * Returns its index; `BLOSC2_ERROR_INVALID_PARAM` (-12) when the name is too long or there is no super-chunk,
 * `BLOSC2_ERROR_NOT_FOUND` (-16) when there is no such metalayer.
 */
static inline int blosc2_meta_exists(blosc2_schunk *schunk, const char *name) {
  if (strlen(name) > BLOSC2_METALAYER_NAME_MAXLEN) {
    BLOSC_TRACE_ERROR("A metalayer's name has at most %d characters.", BLOSC2_METALAYER_NAME_MAXLEN);
    return BLOSC2_ERROR_INVALID_PARAM;
  }
  if (schunk == NULL) {
    BLOSC_TRACE_ERROR("There is no super-chunk to look for a metalayer in.");
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
 * Stores a copy of the content of the metalayer `name` of `schunk` in `*content`, NULL when it is empty, and its
 * length in bytes in `*content_len`. The caller releases the copy with `free()`.
 *
 * Returns the index of the metalayer, or a code as `blosc2_meta_exists`; -12 for NULL, -3 for a metalayer that makes
 * no sense, -4 without memory.
 */
static inline int blosc2_meta_get(blosc2_schunk *schunk, const char *name, uint8_t **content,
                                  int32_t *content_len) {
  if (schunk == NULL || name == NULL || content == NULL || content_len == NULL) {
    BLOSC_TRACE_ERROR("blosc2_meta_get needs all its arguments.");
    return BLOSC2_ERROR_INVALID_PARAM;
  }
  int index = blosc2_meta_exists(schunk, name);
  if (index < 0) {
    BLOSC_TRACE_WARNING("The metalayer %s is not there.", name);
    return index;
  }
  const blosc2_metalayer *found = schunk->metalayers[index];
  if (found->content_len < 0) {
    BLOSC_TRACE_ERROR("The metalayer %s has a negative length.", name);
    return BLOSC2_ERROR_DATA;
  }
  *content = NULL;
  *content_len = 0;
  if (found->content_len == 0) {
    return index;
  }
  if (found->content == NULL) {
    BLOSC_TRACE_ERROR("The metalayer %s has a length but no content.", name);
    return BLOSC2_ERROR_DATA;
  }
  uint8_t *copy = (uint8_t *)malloc((size_t)found->content_len);
  if (copy == NULL) {
    BLOSC_TRACE_ERROR("There is no memory for a copy of the metalayer %s.", name);
    return BLOSC2_ERROR_MEMORY_ALLOC;
  }
  memcpy(copy, found->content, (size_t)found->content_len);
  *content = copy;
  *content_len = found->content_len;
  return index;
}

/** Copies `size` bytes (1, 2, 4 or 8) from `pa` to `dest`, turning native order into big-endian or the reverse. */
static inline void swap_store(void *dest, const void *pa, int size) {
  const uint16_t probe = 1;
  uint8_t low = 0;
  memcpy(&low, &probe, 1);
  if (size != 1 && size != 2 && size != 4 && size != 8) {
    fprintf(stderr, "swap_store cannot copy %d bytes\n", size);
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

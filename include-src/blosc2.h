@warning
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

@define-line BLOSC2_VERSION_MAJOR for major changes of the interface or the formats
@define-line BLOSC2_VERSION_MINOR for minor additions
@define-line BLOSC2_VERSION_RELEASE for tweaks and fixes
@define-line BLOSC2_VERSION_STRING the three as text
@define-line BLOSC2_VERSION_DATE the date of this level of the interface

/* Versions of the chunk format. */
@enum BLOSC1_VERSION_FORMAT_PRE1 BLOSC1_VERSION_FORMAT BLOSC2_VERSION_FORMAT_ALPHA BLOSC2_VERSION_FORMAT_BETA1 BLOSC2_VERSION_FORMAT_STABLE BLOSC2_VERSION_FORMAT_VL_BLOCKS BLOSC2_VERSION_FORMAT

/* Versions of the frame format. */
@enum BLOSC2_VERSION_FRAME_FORMAT*

/* ---- Errors ---- */

@enum BLOSC2_ERROR_*

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
@enum BLOSC_MIN_HEADER_LENGTH BLOSC_MAX_TYPESIZE

/* Shuffle and filter ids. */
@enum BLOSC_NOSHUFFLE BLOSC_NOFILTER BLOSC_SHUFFLE BLOSC_BITSHUFFLE

/* Flags of a chunk. */
@enum BLOSC_DOSHUFFLE BLOSC_MEMCPYED BLOSC_DOBITSHUFFLE

/* Codec ids. */
@enum BLOSC_BLOSCLZ BLOSC_LZ4 BLOSC_LZ4HC BLOSC_ZLIB BLOSC_ZSTD

/* Codec names. */
@define BLOSC_BLOSCLZ_COMPNAME BLOSC_LZ4_COMPNAME BLOSC_LZ4HC_COMPNAME BLOSC_ZLIB_COMPNAME BLOSC_ZSTD_COMPNAME

/* Codec library codes. */
@enum BLOSC_BLOSCLZ_LIB BLOSC_LZ4_LIB BLOSC_ZLIB_LIB BLOSC_ZSTD_LIB

/* Codec library names. */
@define BLOSC_BLOSCLZ_LIBNAME BLOSC_LZ4_LIBNAME BLOSC_ZLIB_LIBNAME BLOSC_ZSTD_LIBNAME

/* Formats of the codecs' streams, and their versions. */
@enum BLOSC_BLOSCLZ_FORMAT BLOSC_LZ4_FORMAT BLOSC_LZ4HC_FORMAT BLOSC_ZLIB_FORMAT BLOSC_ZSTD_FORMAT BLOSC_BLOSCLZ_VERSION_FORMAT BLOSC_LZ4_VERSION_FORMAT BLOSC_LZ4HC_VERSION_FORMAT BLOSC_ZLIB_VERSION_FORMAT BLOSC_ZSTD_VERSION_FORMAT

/* Split modes. */
@enum BLOSC_ALWAYS_SPLIT BLOSC_NEVER_SPLIT BLOSC_AUTO_SPLIT BLOSC_FORWARD_COMPAT_SPLIT

#endif /* BLOSC_H */

/* ---- Limits ---- */

@enum BLOSC_EXTENDED_HEADER_LENGTH BLOSC2_MAX_OVERHEAD BLOSC2_MAX_BUFFERSIZE BLOSC_MIN_BUFFERSIZE BLOSC2_MAX_FILTERS BLOSC2_MAX_UDFILTERS BLOSC2_MAXDICTSIZE BLOSC2_MINUSEFULDICT BLOSC2_MAXBLOCKSIZE BLOSC2_MAXTYPESIZE

@define BLOSC2_MAX_METALAYERS BLOSC2_METALAYER_NAME_MAXLEN BLOSC2_MAX_VLMETALAYERS BLOSC2_VLMETALAYERS_NAME_MAXLEN

/* ---- Ranges of ids ---- */

/* Codecs. */
@enum BLOSC2_DEFINED_CODECS_* BLOSC2_GLOBAL_REGISTERED_CODECS* BLOSC2_USER_REGISTERED_CODECS_*

/* Filters. */
@enum BLOSC2_DEFINED_FILTERS_* BLOSC2_GLOBAL_REGISTERED_FILTERS* BLOSC2_USER_REGISTERED_FILTERS_*

/* Tuners. */
@enum BLOSC2_DEFINED_TUNER_* BLOSC2_GLOBAL_REGISTERED_TUNER* BLOSC2_USER_REGISTERED_TUNER_*

/* ---- Filters, codecs, tuners, I/O back-ends ---- */

@enum BLOSC_DELTA BLOSC_TRUNC_PREC BLOSC_LAST_FILTER BLOSC_LAST_REGISTERED_FILTER

@enum BLOSC_LAST_CODEC BLOSC_LAST_REGISTERED_CODEC BLOSC_UDCODEC_LIB BLOSC_SCHUNK_LIB BLOSC_UDCODEC_FORMAT BLOSC_UDCODEC_VERSION_FORMAT

@enum BLOSC_STUNE BLOSC_LAST_TUNER BLOSC_LAST_REGISTERED_TUNE

@enum BLOSC2_IO_FILESYSTEM BLOSC2_IO_FILESYSTEM_MMAP BLOSC_IO_LAST_BLOSC_DEFINED BLOSC_IO_LAST_REGISTERED

@enum BLOSC2_IO_BLOSC_DEFINED BLOSC2_IO_REGISTERED BLOSC2_IO_USER_DEFINED

/* ---- The chunk header ---- */

/* Flags. */
@enum BLOSC_DODELTA BLOSC2_USEDICT BLOSC2_BIGENDIAN BLOSC2_INSTR_CODEC BLOSC2_VL_BLOCKS

/* Special chunks. */
@enum BLOSC2_NO_SPECIAL BLOSC2_SPECIAL_*

/* Offsets of the fields. */
@enum BLOSC2_CHUNK_*

/* ---- Parameters ---- */

/** A compression or decompression context: created by blosc2_create_cctx or blosc2_create_dctx, freed by
 *  blosc2_free_ctx, used by one thread at a time. */
typedef struct blosc2_context_s blosc2_context;

/** A frame. Its super-chunk owns it and frees it. */
typedef struct blosc2_frame_s blosc2_frame;

@type blosc2_prefilter_params

@type blosc2_prefilter_fn

@type blosc2_postfilter_params

@type blosc2_postfilter_fn

@type blosc2_cparams

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

@type blosc2_dparams

/** Default decompression parameters: one thread, no postfilter. */
static const blosc2_dparams BLOSC2_DPARAMS_DEFAULTS BLOSC_ATTRIBUTE_UNUSED = {
  1,     /* nthreads */
  NULL,  /* schunk */
  NULL,  /* postfilter */
  NULL,  /* postparams */
  8      /* typesize */
};

@type blosc2_instr

/* ---- Storage ---- */

@type blosc2_open_cb blosc2_close_cb blosc2_size_cb blosc2_write_cb blosc2_read_cb blosc2_truncate_cb blosc2_destroy_cb

@type blosc2_io_cb

@type blosc2_io

/** Default I/O back-end: plain files. */
static const blosc2_io BLOSC2_IO_DEFAULTS BLOSC_ATTRIBUTE_UNUSED = {
  BLOSC2_IO_FILESYSTEM,  /* id */
  "filesystem",          /* name */
  NULL                   /* params */
};

@type blosc2_storage

/** Default storage: separate chunks in memory. */
static const blosc2_storage BLOSC2_STORAGE_DEFAULTS BLOSC_ATTRIBUTE_UNUSED = {
  false,  /* contiguous */
  NULL,   /* urlpath */
  NULL,   /* cparams */
  NULL,   /* dparams */
  NULL    /* io */
};

@tagged blosc2_metalayer

@tagged blosc2_schunk

/* ---- Codecs, filters, tuners and callbacks that a program registers ---- */

@type blosc2_codec_encoder_cb blosc2_codec_decoder_cb blosc2_codec

@type blosc2_filter_forward_cb blosc2_filter_backward_cb blosc2_filter

@type blosc2_tuner

@type blosc_threads_callback

/** A point in time with an arbitrary origin: only differences are meaningful. */
#if defined(_WIN32)
typedef LARGE_INTEGER blosc_timestamp_t;
#else
typedef struct timespec blosc_timestamp_t;
#endif

@functions The library as a whole:
blosc2_init blosc2_destroy blosc2_free_resources blosc2_error_string blosc2_get_version_string
blosc2_set_threads_callback blosc2_get_nthreads blosc2_set_nthreads
blosc1_get_compressor blosc1_set_compressor blosc2_set_delta blosc1_get_blocksize blosc1_set_blocksize
blosc1_set_splitmode
@end

@functions Codecs, filters, tuners and I/O back-ends:
blosc2_list_compressors blosc2_compcode_to_compname blosc2_compname_to_compcode blosc2_get_complib_info
blosc2_register_codec blosc2_register_filter blosc2_register_tuner blosc2_register_io_cb blosc2_get_io_cb
@end

@functions Default parameters, for languages that cannot use the objects above:
blosc2_get_blosc2_cparams_defaults blosc2_get_blosc2_dparams_defaults blosc2_get_blosc2_storage_defaults
blosc2_get_blosc2_io_defaults blosc2_get_blosc2_stdio_mmap_defaults
@end

@functions Chunks, with the global settings:
blosc1_compress blosc1_decompress blosc1_getitem blosc2_compress blosc2_decompress blosc2_getitem
@end

@functions Reading the header of a chunk:
blosc1_cbuffer_sizes blosc2_cbuffer_sizes blosc1_cbuffer_validate blosc1_cbuffer_metainfo
blosc2_cbuffer_versions blosc2_cbuffer_complib blosc2_vlchunk_get_nblocks
@end

@functions Special chunks:
blosc2_chunk_zeros blosc2_chunk_nans blosc2_chunk_uninit blosc2_chunk_repeatval
@end

@functions Contexts:
blosc2_create_cctx blosc2_create_dctx blosc2_free_ctx blosc2_ctx_get_cparams blosc2_ctx_get_dparams
blosc2_set_maskout blosc2_compress_ctx blosc2_decompress_ctx blosc2_getitem_ctx blosc2_getitem_bytes_ctx
blosc2_vlcompress_ctx blosc2_vldecompress_ctx blosc2_vldecompress_block_ctx
@end

@functions Super-chunks:
blosc2_schunk_new blosc2_schunk_copy blosc2_schunk_free blosc2_schunk_open blosc2_schunk_open_offset
blosc2_schunk_open_udio blosc2_schunk_open_offset_udio blosc2_schunk_from_buffer
blosc2_schunk_avoid_cframe_free blosc2_schunk_to_buffer blosc2_schunk_to_file blosc2_schunk_append_file
blosc2_schunk_lock blosc2_schunk_unlock blosc2_schunk_refresh
blosc2_schunk_append_chunk blosc2_schunk_insert_chunk blosc2_schunk_update_chunk blosc2_schunk_delete_chunk
blosc2_schunk_append_buffer blosc2_schunk_decompress_chunk blosc2_schunk_get_chunk
blosc2_schunk_get_lazychunk blosc2_schunk_get_vlblock blosc2_schunk_get_slice_buffer
blosc2_schunk_set_slice_buffer blosc2_schunk_get_sparse_buffer blosc2_schunk_get_cparams
blosc2_schunk_get_dparams blosc2_schunk_reorder_offsets blosc2_schunk_frame_len blosc2_schunk_fill_special
blosc2_frame_get_offsets blosc2_get_slice_nchunks
@end

@functions Metalayers:
blosc2_meta_add blosc2_meta_update blosc2_vlmeta_exists blosc2_vlmeta_add blosc2_vlmeta_update
blosc2_vlmeta_get blosc2_vlmeta_delete blosc2_vlmeta_get_names
@end

@functions Filters on their own, coordinates, files and clocks:
blosc2_shuffle blosc2_unshuffle blosc2_bitshuffle blosc2_bitunshuffle
blosc2_unidim_to_multidim blosc2_multidim_to_unidim
blosc2_remove_dir blosc2_remove_urlpath blosc2_rename_urlpath
blosc_set_timestamp blosc_elapsed_nsecs blosc_elapsed_secs
@end

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

@warning
/* N-dimensional arrays over Blosc2 super-chunks. Shapes and positions are in items, strides too. */

#ifndef BLOSC_B2ND_H
#define BLOSC_B2ND_H

#include <stdio.h>
#include <stdlib.h>

#include "blosc2.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Marks a function as deprecated; `msg` names its replacement. */
#if defined(_MSC_VER)
  #define B2ND_DEPRECATED(msg) __declspec(deprecated(msg))
#elif defined(__GNUC__) || defined(__clang__)
  #define B2ND_DEPRECATED(msg) __attribute__((deprecated(msg)))
#else
  #define B2ND_DEPRECATED(msg)
#endif

@define B2ND_METALAYER_VERSION B2ND_MAX_DIM B2ND_MAX_METALAYERS DTYPE_NUMPY_FORMAT B2ND_DEFAULT_DTYPE B2ND_DEFAULT_DTYPE_FORMAT

/** Creation parameters of an array: created by b2nd_create_ctx, freed by b2nd_free_ctx. */
typedef struct b2nd_context_s b2nd_context_t;

@tag-only chunk_cache_s

@type b2nd_array_t

@functions Creating arrays:
b2nd_create_ctx b2nd_free_ctx b2nd_uninit b2nd_empty b2nd_zeros b2nd_nans b2nd_full b2nd_from_cbuffer
b2nd_to_cbuffer b2nd_free b2nd_from_schunk b2nd_to_cframe b2nd_from_cframe b2nd_open b2nd_open_offset
b2nd_save b2nd_save_append b2nd_copy b2nd_concatenate
@end

@functions Parts of arrays:
b2nd_get_slice b2nd_get_slice_cbuffer b2nd_set_slice_cbuffer b2nd_get_sparse_cbuffer
b2nd_get_orthogonal_selection b2nd_set_orthogonal_selection
@end

@functions Changing the shape:
b2nd_squeeze b2nd_squeeze_index b2nd_expand_dims b2nd_resize b2nd_insert b2nd_append b2nd_delete b2nd_refresh
@end

@functions The metalayer:
b2nd_print_meta b2nd_serialize_meta b2nd_deserialize_meta
@end

@functions Strided copies:
b2nd_copy_buffer b2nd_copy_buffer2
@end

/**
 * Parses the `b2nd` metalayer in the `smeta_len` bytes at `smeta`. Does the same as `b2nd_deserialize_meta`, without a
 * call of the library. Stores the number of dimensions in `*ndim` and the extents in `shape`, `chunkshape` and
 * `blockshape`, which need space for 16 numbers. The caller frees `*dtype` with `free()`. `dtype` and `dtype_format`
 * may be NULL; then the data type is not read.
 *
 * Returns the number of bytes read, or an error code as `b2nd_deserialize_meta`.
 */
static inline int b2nd_deserialize_meta_inline(const uint8_t *smeta, int32_t smeta_len, int8_t *ndim,
                                               int64_t *shape, int32_t *chunkshape, int32_t *blockshape,
                                               char **dtype, int8_t *dtype_format) {
  BLOSC_ERROR_NULL(smeta, BLOSC2_ERROR_NULL_POINTER);
  BLOSC_ERROR_NULL(ndim, BLOSC2_ERROR_NULL_POINTER);
  BLOSC_ERROR_NULL(shape, BLOSC2_ERROR_NULL_POINTER);
  BLOSC_ERROR_NULL(chunkshape, BLOSC2_ERROR_NULL_POINTER);
  BLOSC_ERROR_NULL(blockshape, BLOSC2_ERROR_NULL_POINTER);
  if (dtype != NULL) {
    *dtype = NULL;
  }
  if (dtype_format != NULL) {
    *dtype_format = 0;
  }

  /* Skips the msgpack markers of arrays and integers without checking them. */
  const uint8_t *at = smeta;
  int32_t left = smeta_len;
  int i;
  int which;

#define B2ND_REQUIRE_META_NBYTES(nbytes)                                                       \
  do {                                                                                         \
    if (left < (nbytes)) {                                                                     \
      BLOSC_TRACE_ERROR("The b2nd metalayer has %d bytes, expected at least %d.", (int)smeta_len, \
                        (int)(at - smeta) + (int)(nbytes));                                    \
      return BLOSC2_ERROR_FAILURE;                                                             \
    }                                                                                          \
  } while (0)

  B2ND_REQUIRE_META_NBYTES(3);
  *ndim = (int8_t)at[2];
  at += 3;
  left -= 3;
  if (*ndim < 0 || *ndim > B2ND_MAX_DIM) {
    BLOSC_TRACE_ERROR("The b2nd metalayer has %d dimensions, expected 0 to %d.", (int)*ndim, B2ND_MAX_DIM);
    return BLOSC2_ERROR_FAILURE;
  }

  for (i = 0; i < *ndim; i++) {
    shape[i] = 1;
  }
  B2ND_REQUIRE_META_NBYTES(1);
  at += 1;
  left -= 1;
  for (i = 0; i < *ndim; i++) {
    B2ND_REQUIRE_META_NBYTES(9);
    swap_store(&shape[i], at + 1, 8);
    at += 9;
    left -= 9;
  }

  for (which = 0; which < 2; which++) {
    int32_t *part = which == 0 ? chunkshape : blockshape;
    for (i = 0; i < *ndim; i++) {
      part[i] = 1;
    }
    B2ND_REQUIRE_META_NBYTES(1);
    at += 1;
    left -= 1;
    for (i = 0; i < *ndim; i++) {
      B2ND_REQUIRE_META_NBYTES(5);
      swap_store(&part[i], at + 1, 4);
      at += 5;
      left -= 5;
    }
  }

  if (dtype == NULL || dtype_format == NULL || left == 0) {
    return (int)(at - smeta);
  }
  B2ND_REQUIRE_META_NBYTES(6);
  *dtype_format = (int8_t)at[0];
  if (at[1] != 0xDB) {
    BLOSC_TRACE_ERROR("The data type of the b2nd metalayer begins with 0x%02x, expected 0xdb.", (unsigned)at[1]);
    return BLOSC2_ERROR_FAILURE;
  }
  int32_t length = 0;
  swap_store(&length, at + 2, 4);
  at += 6;
  left -= 6;
  if (length < 0 || length > left) {
    BLOSC_TRACE_ERROR("The data type of the b2nd metalayer has %d bytes, but %d are left.", (int)length, (int)left);
    return BLOSC2_ERROR_FAILURE;
  }
#undef B2ND_REQUIRE_META_NBYTES

  char *text = (char *)malloc((size_t)length + 1);
  BLOSC_ERROR_NULL(text, BLOSC2_ERROR_MEMORY_ALLOC);
  memcpy(text, at, (size_t)length);
  text[length] = '\0';
  *dtype = text;
  return (int)(at - smeta) + (int)length;
}

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_B2ND_H */

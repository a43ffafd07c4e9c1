/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test headers`:
   change those, not this file. */
/* N-dimensional arrays over Blosc2 super-chunks. Shapes and positions are in items, strides too. */

#ifndef BLOSC_B2ND_H
#define BLOSC_B2ND_H

#include <stdio.h>
#include <stdlib.h>

#include "blosc2.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Marks a function that has a better one beside it. */
#if defined(_MSC_VER)
  #define B2ND_DEPRECATED(msg) __declspec(deprecated(msg))
#elif defined(__GNUC__) || defined(__clang__)
  #define B2ND_DEPRECATED(msg) __attribute__((deprecated(msg)))
#else
  #define B2ND_DEPRECATED(msg)
#endif

/** Version of the `b2nd` metalayer. */
#define B2ND_METALAYER_VERSION 0
/** Dimensions of an array. */
#define B2ND_MAX_DIM 16
/** Metalayers that the creator of an array may add: one slot holds the array's own. */
#define B2ND_MAX_METALAYERS (BLOSC2_MAX_METALAYERS - 1)
/** A dtype string in NumPy's form. */
#define DTYPE_NUMPY_FORMAT 0
/** The dtype of an array that names none: bytes. */
#define B2ND_DEFAULT_DTYPE "|u1"
/** The format of that dtype. */
#define B2ND_DEFAULT_DTYPE_FORMAT DTYPE_NUMPY_FORMAT

/** Creation parameters of an array: made by b2nd_create_ctx, released by b2nd_free_ctx. */
typedef struct b2nd_context_s b2nd_context_t;

/** A cache of one chunk; initialised, but not used. */
struct chunk_cache_s {
  /** The chunk; NULL. */
  uint8_t *data;
  /** Its number; -1. */
  int64_t nchunk;
};

/**
 * An N-dimensional array over a super-chunk. Only the library allocates it and writes its fields,
 * except that a caller may set `sc` to NULL to keep the super-chunk when the array is freed. In
 * the shapes, dimensions from `ndim` on hold 1.
 */
typedef struct {
  /** The super-chunk; owned. */
  blosc2_schunk *sc;
  /** Shape in items. */
  int64_t shape[B2ND_MAX_DIM];
  /** Shape of a chunk in items. */
  int32_t chunkshape[B2ND_MAX_DIM];
  /** Shape, rounded up to whole chunks. */
  int64_t extshape[B2ND_MAX_DIM];
  /** Shape of a block in items. */
  int32_t blockshape[B2ND_MAX_DIM];
  /** Shape of a chunk, rounded up to whole blocks. */
  int64_t extchunkshape[B2ND_MAX_DIM];
  /** Items of the array. */
  int64_t nitems;
  /** Items of a chunk. */
  int32_t chunknitems;
  /** Items of the array, rounded up to whole chunks. */
  int64_t extnitems;
  /** Items of a block. */
  int32_t blocknitems;
  /** Items of a chunk, rounded up to whole blocks. */
  int64_t extchunknitems;
  /** Number of dimensions, 0 to 16. */
  int8_t ndim;
  /** Not used. */
  struct chunk_cache_s chunk_cache;
  /** Strides of the shape, in items. */
  int64_t item_array_strides[B2ND_MAX_DIM];
  /** Strides of the chunk shape, in items. */
  int64_t item_chunk_strides[B2ND_MAX_DIM];
  /** Strides of the rounded chunk shape, in items. */
  int64_t item_extchunk_strides[B2ND_MAX_DIM];
  /** Strides of the block shape, in items. */
  int64_t item_block_strides[B2ND_MAX_DIM];
  /** Strides of the blocks inside a rounded chunk, in blocks. */
  int64_t block_chunk_strides[B2ND_MAX_DIM];
  /**
   * Strides of the chunks; each is the next times the extended shape times the chunk shape there.
   */
  int64_t chunk_array_strides[B2ND_MAX_DIM];
  /** Data type of the items as text; owned. */
  char *dtype;
  /** Format of that text; 0 = NumPy's. */
  int8_t dtype_format;
} b2nd_array_t;

/* ---- Creating arrays ---- */

/**
 * Makes the parameters of new arrays of `ndim` dimensions: the numbers of items in `shape`,
 * `chunkshape` and `blockshape`, the type of the items in `dtype`, written as `dtype_format` says
 * (0 is NumPy's), and `nmetalayers` `metalayers` besides the array's own. `b2_storage` is copied
 * with its compression parameters, whose block size becomes that of a block; its path, back-end
 * and decompression parameters, and names and contents of the metalayers have to stay valid until
 * an array is made. A `dtype` of NULL becomes `|S` and the item size. Free it with
 * `b2nd_free_ctx`.
 *
 * Returns NULL for a number of dimensions out of 0 to 16, shapes that do not go together, blocks
 * of more than 2 GB, more than 15 metalayers, or without memory.
 *
 * Note: the shapes have `ndim` numbers.
 */
BLOSC_EXPORT
b2nd_context_t *b2nd_create_ctx(const blosc2_storage *b2_storage,
                                int8_t ndim,
                                const int64_t *shape,
                                const int32_t *chunkshape,
                                const int32_t *blockshape,
                                const char *dtype,
                                int8_t dtype_format,
                                const blosc2_metalayer *metalayers,
                                int32_t nmetalayers);

/**
 * Frees `ctx`, the parameters of new arrays.
 *
 * Returns 0; -32 for NULL.
 *
 * Note: the context is not used again.
 */
BLOSC_EXPORT int b2nd_free_ctx(b2nd_context_t *ctx);

/**
 * Makes an array of items that nobody has set, as `ctx` says, and stores it in `*array`. Free it
 * with `b2nd_free`.
 *
 * Returns 0. -32 for NULL, -12 for a shape or an item size that cannot be, -35 for chunks above
 * `BLOSC2_MAX_BUFFERSIZE`, -1 when the super-chunk cannot be made; then `*array` is NULL.
 */
BLOSC_EXPORT
int b2nd_uninit(b2nd_context_t *ctx,
                b2nd_array_t **array);

/**
 * Makes an array of zeros as `ctx` says and stores it in `*array`; as `b2nd_uninit`.
 *
 * Returns 0, or a code as there.
 */
BLOSC_EXPORT int b2nd_empty(b2nd_context_t *ctx, b2nd_array_t **array);

/**
 * Makes an array of zeros as `ctx` says and stores it in `*array`; as `b2nd_uninit`.
 *
 * Returns 0, or a code as there.
 */
BLOSC_EXPORT int b2nd_zeros(b2nd_context_t *ctx, b2nd_array_t **array);

/**
 * Makes an array of NaNs, of items of 4 or 8 bytes, as `ctx` says and stores it in `*array`; as
 * `b2nd_uninit`.
 *
 * Returns 0, or a code as there; -3 for items of another size, and the array is made then, too.
 */
BLOSC_EXPORT int b2nd_nans(b2nd_context_t *ctx, b2nd_array_t **array);

/**
 * Makes an array in which every item is that at `fill_value`, as `ctx` says, and stores it in
 * `*array`; as `b2nd_uninit`.
 *
 * Returns 0, or a code as there.
 *
 * Note: `fill_value` points at one item.
 */
BLOSC_EXPORT
int b2nd_full(b2nd_context_t *ctx,
              b2nd_array_t **array,
              const void *fill_value);

/**
 * Makes an array of the items at `buffer`, in C order, as `ctx` says and stores it in `*array`;
 * as `b2nd_uninit`. The items are copied.
 *
 * Returns 0, or a code as there; -12 when `buffersize` is less than the bytes that the items
 * take, and the array is made then, with zeros.
 */
BLOSC_EXPORT
int b2nd_from_cbuffer(b2nd_context_t *ctx,
                      b2nd_array_t **array,
                      const void *buffer,
                      int64_t buffersize);

/**
 * Reads the whole `array` into `buffer`, in C order. Bytes behind the items become zero.
 *
 * Returns 0; -32 for NULL, -12 when the items do not fit into `buffersize` bytes, -1 when a chunk
 * cannot be read.
 */
BLOSC_EXPORT
int b2nd_to_cbuffer(const b2nd_array_t *array,
                    void *buffer,
                    int64_t buffersize);

/**
 * Frees `array` with its super-chunk, unless its `sc` was set to NULL.
 *
 * Returns 0; -32 for NULL.
 *
 * Note: the array is not used again.
 */
BLOSC_EXPORT int b2nd_free(b2nd_array_t *array);

/**
 * Makes an array of `schunk`, which holds one, and stores it in `*array`. The array takes the
 * super-chunk, unless an error is returned.
 *
 * Returns 0. -32 for NULL, -34 without the metalayer, -1 for one that makes no sense, -12 for a
 * shape that cannot be.
 */
BLOSC_EXPORT
int b2nd_from_schunk(blosc2_schunk *schunk,
                     b2nd_array_t **array);

/**
 * Stores `array` as one frame in memory into `*cframe`, and its length in bytes into
 * `*cframe_len`. `*needs_free` is true for a copy, which the caller frees; else it is the array's
 * own, valid until that changes.
 *
 * Returns 0; -32 for NULL, -1 when the frame cannot be made.
 */
BLOSC_EXPORT
int b2nd_to_cframe(const b2nd_array_t *array,
                   uint8_t **cframe,
                   int64_t *cframe_len,
                   bool *needs_free);

/**
 * Opens the array in the frame of `cframe_len` bytes at `cframe` and stores it in `*array`;
 * `copy` as in `blosc2_schunk_from_buffer`.
 *
 * Returns 0; -32 for NULL, -1 when it is no frame, the codes of `b2nd_from_schunk`.
 *
 * Note: without `copy` the frame stays as long as the array.
 */
BLOSC_EXPORT
int b2nd_from_cframe(uint8_t *cframe,
                     int64_t cframe_len,
                     bool copy,
                     b2nd_array_t **array);

/**
 * Opens the array in the file or directory `urlpath` and stores it in `*array`. Free it with
 * `b2nd_free`.
 *
 * Returns 0; -32 for NULL, and also when there is no frame that can be read, the codes of
 * `b2nd_from_schunk`.
 */
BLOSC_EXPORT
int b2nd_open(const char *urlpath,
              b2nd_array_t **array);

/**
 * As `b2nd_open`, with `array` as there, for a frame that begins `offset` bytes into the file
 * `urlpath`.
 *
 * Returns 0, or a code as there.
 */
BLOSC_EXPORT
int b2nd_open_offset(const char *urlpath,
                     b2nd_array_t **array,
                     int64_t offset);

/**
 * Writes `array` to the file `urlpath`, or to a directory if that is how it is stored, with all
 * its metalayers. There must be nothing yet.
 *
 * Returns 0; -32 for NULL, -1 when it cannot be written.
 */
BLOSC_EXPORT int b2nd_save(const b2nd_array_t *array, char *urlpath);

/**
 * Writes `array` as one frame behind what the file `urlpath` has.
 *
 * Returns where the frame begins in the file, 0 in a new one: for `b2nd_open_offset`. -32 for
 * NULL, -12 for a path that is NULL, the codes of `blosc2_schunk_append_file`.
 */
BLOSC_EXPORT
int64_t b2nd_save_append(const b2nd_array_t *array,
                         const char *urlpath);

/**
 * Copies `src` to a new array as `ctx` says, whose shape becomes that of `src`, and stores it in
 * `*array`. Free it with `b2nd_free`.
 *
 * Returns 0; -32 for NULL, the codes of `b2nd_uninit`, -1 when it cannot be copied.
 */
BLOSC_EXPORT
int b2nd_copy(b2nd_context_t *ctx,
              const b2nd_array_t *src,
              b2nd_array_t **array);

/**
 * Puts `src2` behind `src1` along `axis`: in a copy that is made as `ctx` says, or with `copy`
 * false in `src1` itself, which `*array` is then.
 *
 * Returns 0; -32 for NULL, -12 for arrays that do not go together or an axis that is not there,
 * the codes of `b2nd_copy` and `b2nd_resize`.
 */
BLOSC_EXPORT
int b2nd_concatenate(b2nd_context_t *ctx,
                     const b2nd_array_t *src1,
                     const b2nd_array_t *src2,
                     int8_t axis,
                     bool copy,
                     b2nd_array_t **array);

/* ---- Parts of arrays ---- */

/**
 * Makes a new array of the box from `start` to `stop` (the latter left out) of `src` and stores
 * it in `*array`; `ctx` says all but the shape. Free it with `b2nd_free`.
 *
 * Items of the box that are outside the shape of `src` are zero.
 *
 * Returns 0; -32 for NULL, -12 for a box that ends before it starts, the codes of `b2nd_uninit`
 * and, for the part of the box in each chunk of the new array, those of `b2nd_get_slice_cbuffer`.
 *
 * Note: `start` and `stop` have a number for each dimension.
 */
BLOSC_EXPORT
int b2nd_get_slice(b2nd_context_t *ctx,
                   b2nd_array_t **array,
                   const b2nd_array_t *src,
                   const int64_t *start,
                   const int64_t *stop);

/**
 * Reads the box from `start` to `stop` (the latter left out) of `array` into `buffer`, an array
 * of `buffershape` items in C order that takes `buffersize` bytes; its other items become zero,
 * and so do those of the box that are outside the shape.
 *
 * Returns 0, also for a box without items or one that begins behind the end of the shape; -32 for
 * NULL, -12 for a box that does not fit into the buffer, -1 when a chunk cannot be read, for a
 * negative `start`, and for a box that reaches so far beyond the shape that the numbers of its
 * chunks, counted as if the grid of chunks went on, are those of no chunk of the array.
 *
 * Note: `start`, `stop` and `buffershape` have a number for each dimension.
 */
BLOSC_EXPORT
int b2nd_get_slice_cbuffer(const b2nd_array_t *array,
                           const int64_t *start,
                           const int64_t *stop,
                           void *buffer,
                           const int64_t *buffershape,
                           int64_t buffersize);

/**
 * Writes the box from `start` to `stop` (the latter left out) of `array` from `buffer`, an array
 * of `buffershape` items in C order that takes `buffersize` bytes.
 *
 * Items of the box that are outside the shape are not stored.
 *
 * Returns 0, also for a box without items or one that begins behind the end of the shape; -32 for
 * NULL, -12 for a box that is not in the buffer, -1 when a chunk cannot be read or stored and for
 * a box that `b2nd_get_slice_cbuffer` refuses with -1, -37 when the lock cannot be had. The
 * chunks before the one that failed have been written then.
 *
 * Note: `start`, `stop` and `buffershape` have a number for each dimension.
 */
BLOSC_EXPORT
int b2nd_set_slice_cbuffer(const void *buffer,
                           const int64_t *buffershape,
                           int64_t buffersize,
                           const int64_t *start,
                           const int64_t *stop,
                           b2nd_array_t *array);

/**
 * Copies items of `array` to `buffer`, one after another: those at the `ncoords` positions in
 * `coords`, each counted in C order from 0. They may come in any order and more than once.
 *
 * Returns 0; -32 for NULL, -12 for a position that is not there, a `buffersize` in bytes that is
 * less than the items take, a negative `ncoords`, or an array without dimensions; those of
 * reading.
 */
BLOSC_EXPORT
int b2nd_get_sparse_cbuffer(const b2nd_array_t *array,
                            int64_t ncoords,
                            const int64_t *coords,
                            void *buffer,
                            int64_t buffersize);

/**
 * Copies the items of `array` at the crossings of a selection to `buffer`, which has
 * `buffershape` items. `selection` has a list of coordinates for each dimension, in any order and
 * with repetitions; `selection_size` their lengths. Bytes of the buffer that belong to no
 * selected item stay as they are.
 *
 * `buffersize`, in bytes, may be less than the selected items take, and must not be more; the
 * buffer reaches to the last of them at least.
 *
 * Returns 0; -32 for NULL, -33 for a coordinate that is not there, -12 for a `buffersize` that is
 * too large, -1 when a chunk cannot be read, -4 without memory.
 *
 * Note: the buffer reaches to the last selected item.
 */
BLOSC_EXPORT
int b2nd_get_orthogonal_selection(const b2nd_array_t *array,
                                  int64_t **selection,
                                  int64_t *selection_size,
                                  void *buffer,
                                  int64_t *buffershape,
                                  int64_t buffersize);

/**
 * Copies items from `buffer` to the crossings of a selection in `array`; `selection`,
 * `selection_size`, `buffershape` and `buffersize` are those of `b2nd_get_orthogonal_selection`.
 * Of equal coordinates in a list the last one counts.
 *
 * Returns 0; -32 for NULL, -33 for a coordinate that is not there, -12 for a `buffersize` that is
 * too large, -1 when a chunk cannot be read or stored, -37 when the lock cannot be had, -4
 * without memory. What was stored before an error stays.
 *
 * Note: the buffer reaches to the last selected item.
 */
BLOSC_EXPORT
int b2nd_set_orthogonal_selection(b2nd_array_t *array,
                                  int64_t **selection,
                                  int64_t *selection_size,
                                  const void *buffer,
                                  int64_t *buffershape,
                                  int64_t buffersize);

/* ---- Changing the shape ---- */

/**
 * Makes a view of `array` without its dimensions of extent 1. A view shows the items of its
 * array, and sets them, but cannot be resized; free it with `b2nd_free` before the array.
 *
 * Returns 0; -32 for NULL, -12 for an array with metalayers besides its own or with chunks or
 * blocks of more than one item along such a dimension; those of a refresh. `*view` is NULL then.
 */
BLOSC_EXPORT
int b2nd_squeeze(b2nd_array_t *array,
                 b2nd_array_t **view);

/**
 * Makes a view of `array` in `*view` as `b2nd_squeeze` does, without the dimensions whose flag in
 * `index` is set.
 *
 * Returns 0; -33 for a dimension of another extent than 1; others as `b2nd_squeeze`.
 *
 * Note: `index` has a flag for each dimension.
 */
BLOSC_EXPORT
int b2nd_squeeze_index(b2nd_array_t *array,
                       b2nd_array_t **view,
                       const bool *index);

/**
 * Makes a view of `array` with `final_dims` dimensions: where the flag in `axis` is set a new one
 * of extent 1, else the next of the array. See `b2nd_squeeze` for what a view is.
 *
 * Returns 0; -32 for NULL, -12 for an array with metalayers besides its own, more than 16
 * dimensions, or flags that do not leave all dimensions of the array; those of a refresh. `*view`
 * is NULL then.
 *
 * Note: `axis` has `final_dims` flags.
 */
BLOSC_EXPORT
int b2nd_expand_dims(const b2nd_array_t *array,
                     b2nd_array_t **view,
                     const bool *axis,
                     uint8_t final_dims);

/**
 * Gives `array` another shape, `new_shape` items. With `start`, what is new or goes begins there
 * in each dimension, in whole chunks unless it is the end; new items are zero. Without, it is at
 * the end.
 *
 * Returns 0; -32 for NULL, -12 for a shape or start that cannot be, -1 when chunks cannot be
 * changed, -37 when the lock cannot be had.
 *
 * Note: `new_shape` and `start` have a number for each dimension.
 */
BLOSC_EXPORT
int b2nd_resize(b2nd_array_t *array,
                const int64_t *new_shape,
                const int64_t *start);

/**
 * Puts the items in the `buffersize` bytes at `buffer` into `array`, which grows by them along
 * `axis`, from `insert_start` on.
 *
 * Returns 0; -32 for NULL, -12 for an axis or place that is not there or bytes that are no whole
 * number of rows, the codes of `b2nd_resize` and `b2nd_set_slice_cbuffer`.
 */
BLOSC_EXPORT
int b2nd_insert(b2nd_array_t *array,
                const void *buffer,
                int64_t buffersize,
                int8_t axis,
                int64_t insert_start);

/**
 * Puts the items in the `buffersize` bytes at `buffer` at the end of `array` along `axis`.
 *
 * Returns 0, or a code as `b2nd_insert`.
 */
BLOSC_EXPORT
int b2nd_append(b2nd_array_t *array,
                const void *buffer,
                int64_t buffersize,
                int8_t axis);

/**
 * Takes `delete_len` rows along `axis` out of `array`, from `delete_start` on: in whole chunks,
 * unless they are at the end.
 *
 * Returns 0; -32 for NULL, -12 for an axis or rows that are not there, the codes of
 * `b2nd_resize`.
 */
BLOSC_EXPORT
int b2nd_delete(b2nd_array_t *array,
                int8_t axis,
                int64_t delete_start,
                int64_t delete_len);

/**
 * Takes over into `array` a shape that another handle or process has changed.
 *
 * Returns 1 if there was one, 0 if not; -32 for NULL, -3 when chunks or blocks have changed, -37
 * when the lock cannot be had.
 */
BLOSC_EXPORT
int b2nd_refresh(b2nd_array_t *array);

/* ---- The metalayer ---- */

/**
 * Prints shape, chunks, blocks and data type of `array` to the standard output.
 *
 * Returns 0; -32 for NULL, -34 without the metalayer, -1 for one that makes no sense.
 */
BLOSC_EXPORT int b2nd_print_meta(const b2nd_array_t *array);

/**
 * Makes the content of a `b2nd` metalayer: `*smeta`, for the caller to free. The `ndim` extents
 * of `shape`, `chunkshape` and `blockshape` are written as they are. A `dtype` of NULL is written
 * as `|u1`.
 *
 * Returns the length; -12 for `ndim` out of 0 to 16, -32 for NULL, -1 for a negative
 * `dtype_format` or a `dtype` of 2 GB, -4 without memory.
 *
 * Note: the shapes have `ndim` numbers.
 */
BLOSC_EXPORT
int b2nd_serialize_meta(int8_t ndim,
                        const int64_t *shape,
                        const int32_t *chunkshape,
                        const int32_t *blockshape,
                        const char *dtype,
                        int8_t dtype_format,
                        uint8_t **smeta);

/**
 * Reads the content of a `b2nd` metalayer (or of the older `caterva`), the `smeta_len` bytes at
 * `smeta`, without looking whether the extents make sense; the number of dimensions goes to
 * `*ndim`. `*dtype`, NULL in the older one, is for the caller to free. `dtype` or `dtype_format`
 * may be NULL; then neither is read. `shape`, `chunkshape` and `blockshape` need room for 16
 * numbers.
 *
 * Returns the bytes that were read; -32 for NULL, -1 for a metalayer that ends too early, more
 * than 16 dimensions or a data type that is no string, -4 without memory. What was read up to an
 * error stays stored.
 */
BLOSC_EXPORT
int b2nd_deserialize_meta(const uint8_t *smeta,
                          int32_t smeta_len,
                          int8_t *ndim,
                          int64_t *shape,
                          int32_t *chunkshape,
                          int32_t *blockshape,
                          char **dtype,
                          int8_t *dtype_format);

/* ---- Strided copies ---- */

/**
 * What `b2nd_copy_buffer2` does with `ndim`, `src`, `src_pad_shape`, `src_start`, `src_stop`,
 * `dst`, `dst_pad_shape` and `dst_start`, with an `itemsize` of up to 255 bytes.
 *
 * Returns 0; -12 and -32 as that function.
 *
 * Note: those of `b2nd_copy_buffer2`.
 */
BLOSC_EXPORT
B2ND_DEPRECATED("b2nd_copy_buffer2 takes items of any size")
int b2nd_copy_buffer(int8_t ndim,
                     uint8_t itemsize,
                     const void *src,
                     const int64_t *src_pad_shape,
                     const int64_t *src_start,
                     const int64_t *src_stop,
                     void *dst,
                     const int64_t *dst_pad_shape,
                     const int64_t *dst_start);

/**
 * Copies the box from `src_start` to `src_stop` (left out) of an array `src` of `src_pad_shape`
 * items of `itemsize` bytes to `dst_start` of an array `dst` of `dst_pad_shape`; both in C order.
 * An empty box copies nothing. Whether the boxes lie in the arrays is not looked at.
 *
 * Returns 0; -12 for `ndim` out of 0 to 16, negative numbers, or places that do not fit; -32 for
 * NULL.
 *
 * Note: the buffers may overlap, though; the boxes lie in them, and the arrays of numbers have
 * `ndim` of them.
 */
BLOSC_EXPORT
int b2nd_copy_buffer2(int8_t ndim,
                      int32_t itemsize,
                      const void *src,
                      const int64_t *src_pad_shape,
                      const int64_t *src_start,
                      const int64_t *src_stop,
                      void *dst,
                      const int64_t *dst_pad_shape,
                      const int64_t *dst_start);

/**
 * Reads the `b2nd` metalayer in the `smeta_len` bytes at `smeta`, without the library: the same as
 * `b2nd_deserialize_meta`. The number of dimensions goes to `*ndim`, the extents to `shape`, `chunkshape` and
 * `blockshape`, which need room for 16 numbers. `*dtype` is for the caller to free; `dtype` and `dtype_format` may be
 * NULL when the data type is of no interest.
 *
 * Returns the bytes that were read, or a code as `b2nd_deserialize_meta`.
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

  /* The markers of arrays and integers are skipped unread. */
  const uint8_t *at = smeta;
  int32_t left = smeta_len;
  if (left < 3) {
    BLOSC_TRACE_ERROR("The b2nd metalayer ends before its dimensions.");
    return BLOSC2_ERROR_FAILURE;
  }
  *ndim = (int8_t)at[2];
  at += 3;
  left -= 3;
  if (*ndim < 0 || *ndim > B2ND_MAX_DIM) {
    BLOSC_TRACE_ERROR("The b2nd metalayer has %d dimensions.", (int)*ndim);
    return BLOSC2_ERROR_FAILURE;
  }

  int i;
  for (i = 0; i < *ndim; i++) {
    shape[i] = 1;
  }
  if (left < 1) {
    BLOSC_TRACE_ERROR("The b2nd metalayer ends before its shape.");
    return BLOSC2_ERROR_FAILURE;
  }
  at += 1;
  left -= 1;
  for (i = 0; i < *ndim; i++) {
    if (left < 9) {
      BLOSC_TRACE_ERROR("The b2nd metalayer ends inside its shape.");
      return BLOSC2_ERROR_FAILURE;
    }
    swap_store(&shape[i], at + 1, 8);
    at += 9;
    left -= 9;
  }

  int which;
  for (which = 0; which < 2; which++) {
    int32_t *part = which == 0 ? chunkshape : blockshape;
    for (i = 0; i < *ndim; i++) {
      part[i] = 1;
    }
    if (left < 1) {
      BLOSC_TRACE_ERROR("The b2nd metalayer ends before its chunk and block shapes.");
      return BLOSC2_ERROR_FAILURE;
    }
    at += 1;
    left -= 1;
    for (i = 0; i < *ndim; i++) {
      if (left < 5) {
        BLOSC_TRACE_ERROR("The b2nd metalayer ends inside its chunk and block shapes.");
        return BLOSC2_ERROR_FAILURE;
      }
      swap_store(&part[i], at + 1, 4);
      at += 5;
      left -= 5;
    }
  }

  if (dtype == NULL || dtype_format == NULL || left == 0) {
    return (int)(at - smeta);
  }
  if (left < 6) {
    BLOSC_TRACE_ERROR("The b2nd metalayer ends inside its data type.");
    return BLOSC2_ERROR_FAILURE;
  }
  *dtype_format = (int8_t)at[0];
  if (at[1] != 0xDB) {
    BLOSC_TRACE_ERROR("The data type of the b2nd metalayer is not a string.");
    return BLOSC2_ERROR_FAILURE;
  }
  int32_t length = 0;
  swap_store(&length, at + 2, 4);
  at += 6;
  left -= 6;
  if (length < 0 || length > left) {
    BLOSC_TRACE_ERROR("The data type of the b2nd metalayer has %d bytes, %d are left.", (int)length, (int)left);
    return BLOSC2_ERROR_FAILURE;
  }
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

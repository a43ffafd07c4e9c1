/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test abi headers`:
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

/** Marks a function as deprecated; `msg` names its replacement. */
#if defined(_MSC_VER)
  #define B2ND_DEPRECATED(msg) __declspec(deprecated(msg))
#elif defined(__GNUC__) || defined(__clang__)
  #define B2ND_DEPRECATED(msg) __attribute__((deprecated(msg)))
#else
  #define B2ND_DEPRECATED(msg)
#endif

/** Version of the `b2nd` metalayer. */
#define B2ND_METALAYER_VERSION 0
/** Maximum number of dimensions of an array. */
#define B2ND_MAX_DIM 16
/**
 * Maximum number of fixed metalayers that a program can add to an array; one more holds the
 * description of the array.
 */
#define B2ND_MAX_METALAYERS (BLOSC2_MAX_METALAYERS - 1)
/** Format of a `dtype` string: NumPy's. */
#define DTYPE_NUMPY_FORMAT 0
/** The data type in the `b2nd` metalayer if none is given: bytes. */
#define B2ND_DEFAULT_DTYPE "|u1"
/** The format of `B2ND_DEFAULT_DTYPE`. */
#define B2ND_DEFAULT_DTYPE_FORMAT DTYPE_NUMPY_FORMAT

/** Creation parameters of an array: created by b2nd_create_ctx, freed by b2nd_free_ctx. */
typedef struct b2nd_context_s b2nd_context_t;

/** A cache for one chunk; initialised, but not used. */
struct chunk_cache_s {
  /** The chunk; always NULL. */
  uint8_t *data;
  /** The number of the chunk; always -1. */
  int64_t nchunk;
};

/**
 * An N-dimensional array in a super-chunk. The library allocates it and writes its fields;
 * programs read them. The only field that a program may write is `sc`: set to NULL before
 * `b2nd_free`, it keeps the super-chunk. In the five shapes, the elements from `ndim` on are 1.
 */
typedef struct {
  /** The super-chunk, owned by the array. */
  blosc2_schunk *sc;
  /** Shape of the array, in items. */
  int64_t shape[B2ND_MAX_DIM];
  /** Shape of a chunk, in items. */
  int32_t chunkshape[B2ND_MAX_DIM];
  /** Shape of the array, rounded up to whole chunks, in items. */
  int64_t extshape[B2ND_MAX_DIM];
  /** Shape of a block, in items. */
  int32_t blockshape[B2ND_MAX_DIM];
  /** Shape of a chunk, rounded up to whole blocks, in items. */
  int64_t extchunkshape[B2ND_MAX_DIM];
  /** Number of items of the array (product of `shape`). */
  int64_t nitems;
  /** Number of items of a chunk (product of `chunkshape`). */
  int32_t chunknitems;
  /** Number of items of the array, rounded up to whole chunks (product of `extshape`). */
  int64_t extnitems;
  /** Number of items of a block (product of `blockshape`). */
  int32_t blocknitems;
  /** Number of items of a chunk, rounded up to whole blocks (product of `extchunkshape`). */
  int64_t extchunknitems;
  /** Number of dimensions, 0 to 16. */
  int8_t ndim;
  /** Not used. */
  struct chunk_cache_s chunk_cache;
  /** Strides of `shape`, in items. */
  int64_t item_array_strides[B2ND_MAX_DIM];
  /** Strides of `chunkshape`, in items. */
  int64_t item_chunk_strides[B2ND_MAX_DIM];
  /** Strides of `extchunkshape`, in items. */
  int64_t item_extchunk_strides[B2ND_MAX_DIM];
  /** Strides of `blockshape`, in items. */
  int64_t item_block_strides[B2ND_MAX_DIM];
  /** Strides of the blocks of a chunk that is rounded up to whole blocks, in blocks. */
  int64_t block_chunk_strides[B2ND_MAX_DIM];
  /** Strides of the chunks: `s[i] = s[i+1] * extshape[i+1] * chunkshape[i+1]`. */
  int64_t chunk_array_strides[B2ND_MAX_DIM];
  /** Data type of the items, a string owned by the array. */
  char *dtype;
  /** Format of `dtype`; 0 is NumPy's. */
  int8_t dtype_format;
  /** The value of the super-chunk's `change_tick` when the fields were last updated. */
  int64_t last_tick;
} b2nd_array_t;

/* ---- Creating arrays ---- */

/**
 * Creates the parameters for new arrays of `ndim` dimensions (0 to 16). `shape`, `chunkshape` and
 * `blockshape` are arrays of `ndim` numbers, in items. `dtype` is the data type of the items, a
 * string in the format `dtype_format` (0 is NumPy's), which is copied; NULL means `|S` followed
 * by the item size. `metalayers` are `nmetalayers` fixed metalayers (at most 15) that are added
 * to the `b2nd` metalayer.
 *
 * `b2_storage` is copied together with its compression parameters; their block size is set to the
 * size of a block of `blockshape`. NULL means the default storage. Its path, I/O back-end and
 * decompression parameters, and the names and contents of the metalayers, are not copied: they
 * must stay valid until the arrays have been created.
 *
 * Returns the parameters, which the caller frees with `b2nd_free_ctx`. Returns NULL for a number
 * of dimensions outside 0 to 16, for shapes that are inconsistent, for blocks above 2 GB, for
 * more than 15 metalayers, and when memory cannot be allocated.
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
 * Frees `ctx`, the parameters for new arrays.
 *
 * Returns 0, or -32 for NULL.
 *
 * Note: the context is not used again.
 */
BLOSC_EXPORT int b2nd_free_ctx(b2nd_context_t *ctx);

/**
 * Creates an array with the parameters `ctx`, whose items have unspecified values, and stores it
 * in `*array`. The caller frees it with `b2nd_free`.
 *
 * Returns 0. Errors: -32 when a pointer is NULL, -12 for an invalid shape or item size, -35 for
 * chunks above `BLOSC2_MAX_BUFFERSIZE`, -1 when the super-chunk cannot be created; `*array` is
 * NULL then.
 */
BLOSC_EXPORT
int b2nd_uninit(b2nd_context_t *ctx,
                b2nd_array_t **array);

/**
 * Creates an array of zeros with the parameters `ctx`, and stores it in `*array`. The same as
 * `b2nd_zeros`. The caller frees it with `b2nd_free`.
 *
 * Returns 0, or an error code as `b2nd_uninit`.
 */
BLOSC_EXPORT
int b2nd_empty(b2nd_context_t *ctx,
               b2nd_array_t **array);

/**
 * Creates an array of zeros with the parameters `ctx`, and stores it in `*array`. The caller
 * frees it with `b2nd_free`.
 *
 * Returns 0, or an error code as `b2nd_uninit`.
 */
BLOSC_EXPORT
int b2nd_zeros(b2nd_context_t *ctx,
               b2nd_array_t **array);

/**
 * Creates an array of NaNs with the parameters `ctx`, and stores it in `*array`. The items must
 * have 4 or 8 bytes. The caller frees it with `b2nd_free`.
 *
 * Returns 0. Errors: -3 for items of another size, for which the array is created nevertheless
 * and must be freed; otherwise as `b2nd_uninit`.
 */
BLOSC_EXPORT
int b2nd_nans(b2nd_context_t *ctx,
              b2nd_array_t **array);

/**
 * Creates an array with the parameters `ctx` in which every item equals the item at `fill_value`,
 * and stores it in `*array`. The caller frees it with `b2nd_free`.
 *
 * Returns 0, or an error code as `b2nd_uninit`.
 *
 * Note: `fill_value` points at one item.
 */
BLOSC_EXPORT
int b2nd_full(b2nd_context_t *ctx,
              b2nd_array_t **array,
              const void *fill_value);

/**
 * Creates an array with the parameters `ctx` from the `buffersize` bytes at `buffer`, which holds
 * the items in C order, and stores it in `*array`. The items are copied. The caller frees the
 * array with `b2nd_free`.
 *
 * Returns 0, or an error code as `b2nd_uninit`. Returns -12 also when `buffersize` is less than
 * the size of all items; an array of zeros is created nevertheless, and the caller must free it.
 */
BLOSC_EXPORT
int b2nd_from_cbuffer(b2nd_context_t *ctx,
                      b2nd_array_t **array,
                      const void *buffer,
                      int64_t buffersize);

/**
 * Decompresses all items of `array` into `buffer`, in C order. `buffersize` is the size of
 * `buffer` in bytes. The bytes of `buffer` after the last item are set to zero.
 *
 * Returns 0. Errors: -32 when a pointer is NULL, -12 when the items do not fit into `buffersize`
 * bytes, -37 when the lock cannot be acquired, -3 when another handle has changed the shape, -1
 * when a chunk cannot be read.
 */
BLOSC_EXPORT
int b2nd_to_cbuffer(const b2nd_array_t *array,
                    void *buffer,
                    int64_t buffersize);

/**
 * Frees `array` with its super-chunk. If the caller has set `array->sc` to NULL, the super-chunk
 * is not freed.
 *
 * Returns 0, or -32 for NULL.
 *
 * Note: the array is not used again.
 */
BLOSC_EXPORT
int b2nd_free(b2nd_array_t *array);

/**
 * Creates an array from `schunk`, a super-chunk with a `b2nd` metalayer, and stores it in
 * `*array`. The array takes the ownership of the super-chunk, unless an error is returned. The
 * caller frees the array with `b2nd_free`.
 *
 * Returns 0. Errors: -32 when a pointer is NULL, -34 when there is no `b2nd` metalayer, -1 for an
 * invalid one, -12 for an invalid shape; `*array` is NULL then.
 */
BLOSC_EXPORT
int b2nd_from_schunk(blosc2_schunk *schunk,
                     b2nd_array_t **array);

/**
 * Stores the address of `array` as one contiguous frame in `*cframe`, and the length of the frame
 * in bytes in `*cframe_len`. If `*needs_free` is set to true, the frame is a copy, which the
 * caller frees with `free()`; if false, the frame belongs to the array and is valid until that
 * changes.
 *
 * Returns 0. Errors: -32 when a pointer is NULL, -1 when the frame cannot be made; `*cframe` is
 * NULL, `*cframe_len` 0 and `*needs_free` false then.
 */
BLOSC_EXPORT
int b2nd_to_cframe(const b2nd_array_t *array,
                   uint8_t **cframe,
                   int64_t *cframe_len,
                   bool *needs_free);

/**
 * Opens the array in the contiguous frame of `cframe_len` bytes at `cframe`, and stores it in
 * `*array`. `copy` has the same meaning as in `blosc2_schunk_from_buffer`: if false, the buffer
 * must stay valid as long as the array. The caller frees the array with `b2nd_free`.
 *
 * Returns 0. Errors: -32 when a pointer is NULL, -1 when the bytes are no frame, or a code of
 * `b2nd_from_schunk`.
 *
 * Note: if `copy` is false, the frame stays valid as long as the array.
 */
BLOSC_EXPORT
int b2nd_from_cframe(uint8_t *cframe,
                     int64_t cframe_len,
                     bool copy,
                     b2nd_array_t **array);

/**
 * Opens the array in the file or directory `urlpath`, and stores it in `*array`. The caller frees
 * it with `b2nd_free`.
 *
 * Returns 0. Errors: -32 when a pointer is NULL or there is no readable frame, or a code of
 * `b2nd_from_schunk`.
 */
BLOSC_EXPORT
int b2nd_open(const char *urlpath,
              b2nd_array_t **array);

/**
 * Opens the array in the frame that begins at byte `offset` of the file `urlpath`, and stores it
 * in `*array`. The caller frees it with `b2nd_free`.
 *
 * Returns 0, or an error code as `b2nd_open`.
 */
BLOSC_EXPORT
int b2nd_open_offset(const char *urlpath,
                     b2nd_array_t **array,
                     int64_t offset);

/**
 * Writes `array` with all its metalayers to the path `urlpath`: to a directory if the array is
 * stored as separate chunks, else to a file. Nothing must exist at that path yet.
 *
 * Returns 0. Errors: -32 when a pointer is NULL, -1 when the array cannot be written.
 */
BLOSC_EXPORT
int b2nd_save(const b2nd_array_t *array,
              char *urlpath);

/**
 * Appends `array` as one contiguous frame to the file `urlpath`. The file is created if it does
 * not exist.
 *
 * Returns the byte offset of the frame in the file (0 in a new file), which `b2nd_open_offset`
 * takes. Errors: -32 when `array` is NULL, -12 when `urlpath` is NULL, or a code of
 * `blosc2_schunk_append_file`.
 */
BLOSC_EXPORT
int64_t b2nd_save_append(const b2nd_array_t *array,
                         const char *urlpath);

/**
 * Copies `src` to a new array with the parameters `ctx`, and stores it in `*array`. The shape in
 * `ctx` is replaced by the shape of `src`. The caller frees the copy with `b2nd_free`.
 *
 * Returns 0. Errors: -32 when a pointer is NULL, -1 when the array cannot be copied, or a code of
 * `b2nd_uninit`.
 */
BLOSC_EXPORT
int b2nd_copy(b2nd_context_t *ctx,
              const b2nd_array_t *src,
              b2nd_array_t **array);

/**
 * Concatenates the arrays `src1` and `src2` along the dimension `axis` (counted from 0). If
 * `copy` is true, a new array is created with the parameters `ctx` and stored in `*array`; the
 * caller frees it with `b2nd_free`. If `copy` is false, `src1` itself is extended, and `*array`
 * is set to `src1`; `ctx` is not used.
 *
 * Returns 0. Errors: -32 when a pointer is NULL; -12 for an invalid axis, for different item
 * sizes, and for shapes that differ in a dimension other than `axis`; or a code of `b2nd_copy`,
 * `b2nd_resize` or `b2nd_set_slice_cbuffer`. `*array` is NULL then, unless it was `src1` before
 * the call: `array` may be the address of the caller's only pointer to `src1`.
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
 * Copies the box from `start` to `stop` (exclusive) of `src` to a new array with the parameters
 * `ctx`, and stores it in `*array`. `start` and `stop` have one number for each dimension, in
 * items. The shape in `ctx` is replaced by the shape of the box. Items of the box that are
 * outside the shape of `src` are zero. The caller frees the new array with `b2nd_free`.
 *
 * Returns 0. Errors: -32 when a pointer is NULL, -12 for a `stop` below `start`, or a code of
 * `b2nd_uninit`. Each chunk of the new array is read from `src` separately, with the error codes
 * of `b2nd_get_slice_cbuffer`.
 *
 * Note: `start` and `stop` have one number for each dimension.
 */
BLOSC_EXPORT
int b2nd_get_slice(b2nd_context_t *ctx,
                   b2nd_array_t **array,
                   const b2nd_array_t *src,
                   const int64_t *start,
                   const int64_t *stop);

/**
 * Decompresses the box from `start` to `stop` (exclusive) of `array` into `buffer`. `buffer` is a
 * C-order array of the shape `buffershape`, in items, and its size is `buffersize` bytes. Its
 * items that do not belong to the box, and those of the box that are outside the shape of
 * `array`, are set to zero. `start`, `stop` and `buffershape` have one number for each dimension.
 *
 * Returns 0, also for a box without items or one that begins beyond the end of the shape. Errors:
 * -32 when a pointer is NULL; -12 for a box that does not fit into the buffer; -37 when the lock
 * cannot be acquired; -3 when another handle has changed the shape; -1 when a chunk cannot be
 * read, for a negative `start`, and for a box that extends too far beyond the shape. A box
 * extends too far if one of its chunks, numbered as if the grid of chunks continued beyond the
 * shape, has a number that no chunk of the array has.
 *
 * Note: `start`, `stop` and `buffershape` have one number for each dimension.
 */
BLOSC_EXPORT
int b2nd_get_slice_cbuffer(const b2nd_array_t *array,
                           const int64_t *start,
                           const int64_t *stop,
                           void *buffer,
                           const int64_t *buffershape,
                           int64_t buffersize);

/**
 * Overwrites the box from `start` to `stop` (exclusive) of `array` with the items in `buffer`.
 * `buffer` is a C-order array of the shape `buffershape`, in items, and its size is `buffersize`
 * bytes. Items of the box that are outside the shape of `array` are ignored. `start`, `stop` and
 * `buffershape` have one number for each dimension.
 *
 * Returns 0, also for a box without items or one that begins beyond the end of the shape. Errors:
 * -32 when a pointer is NULL; -12 for a box that is not inside the buffer; -1 when a chunk cannot
 * be read or stored, and for a box for which `b2nd_get_slice_cbuffer` returns -1; -37 when the
 * lock cannot be acquired. In plain files nothing has changed then, except for a box beyond the
 * end; elsewhere, and for such a box, the chunks before the one that failed have been written.
 *
 * Note: `start`, `stop` and `buffershape` have one number for each dimension.
 */
BLOSC_EXPORT
int b2nd_set_slice_cbuffer(const void *buffer,
                           const int64_t *buffershape,
                           int64_t buffersize,
                           const int64_t *start,
                           const int64_t *stop,
                           b2nd_array_t *array);

/**
 * Decompresses `ncoords` single items of `array`, and stores them one after another in `buffer`.
 * `coords` holds the position of each item, counted in C order from 0; the positions may be in
 * any order and may repeat. `buffersize` is the size of `buffer` in bytes.
 *
 * Returns 0. Errors: -32 when a pointer is NULL; -12 for a position outside the array, for a
 * `buffersize` below `ncoords` times the item size, for a negative `ncoords`, and for an array
 * without dimensions; another negative code when a chunk cannot be read.
 */
BLOSC_EXPORT
int b2nd_get_sparse_cbuffer(const b2nd_array_t *array,
                            int64_t ncoords,
                            const int64_t *coords,
                            void *buffer,
                            int64_t buffersize);

/**
 * Decompresses an orthogonal selection of `array` into `buffer`, a C-order array of the shape
 * `buffershape`, in items. `selection` has one list of coordinates for each dimension, and
 * `selection_size` the length of each list; the items at all combinations of coordinates are
 * selected. Coordinates may be in any order and may repeat. Bytes of `buffer` that belong to no
 * selected item are not written.
 *
 * `buffersize` is a size in bytes. It may be less than the size of the selected items, but must
 * not be greater; `buffer` must have room up to the last selected item in any case.
 *
 * Returns 0. Errors: -32 when a pointer is NULL, -33 for a coordinate outside the shape, -12 for
 * a `buffersize` that is too large, -1 when a chunk cannot be read, -4 when memory cannot be
 * allocated.
 *
 * Note: `buffer` has room up to the last selected item.
 */
BLOSC_EXPORT
int b2nd_get_orthogonal_selection(const b2nd_array_t *array,
                                  int64_t **selection,
                                  int64_t *selection_size,
                                  void *buffer,
                                  int64_t *buffershape,
                                  int64_t buffersize);

/**
 * Overwrites an orthogonal selection of `array` with items from `buffer`. `selection`,
 * `selection_size`, `buffershape` and `buffersize` (in bytes) have the same meaning as in
 * `b2nd_get_orthogonal_selection`. If a list repeats a coordinate, the last occurrence is stored.
 *
 * Returns 0. Errors: -32 when a pointer is NULL, -33 for a coordinate outside the shape, -12 for
 * a `buffersize` that is too large, -1 when a chunk cannot be read or stored, -37 when the lock
 * cannot be acquired, -4 when memory cannot be allocated. The chunks that were stored before an
 * error stay changed.
 *
 * Note: `buffer` extends at least to the last selected item.
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
 * Creates a view of `array` without its dimensions of extent 1, and stores it in `*view`. A view
 * shares the items of its array, for reading and writing, and cannot be resized. The caller frees
 * the view with `b2nd_free`, before or after the array. After the array has been freed, reads and
 * writes of the view return an error.
 *
 * Returns 0. Errors: -32 when a pointer is NULL; -12 for an array that has metalayers other than
 * `b2nd`, or whose chunks or blocks have more than one item along a dimension of extent 1; or a
 * code of `b2nd_refresh`. `*view` is NULL then.
 */
BLOSC_EXPORT
int b2nd_squeeze(b2nd_array_t *array,
                 b2nd_array_t **view);

/**
 * Creates a view of `array` without the dimensions whose flag in `index` is true, and stores it
 * in `*view`. `index` has one flag for each dimension; the flagged dimensions must have extent 1.
 * The caller frees the view with `b2nd_free`; see `b2nd_squeeze`.
 *
 * Returns 0. Errors: -33 for a flagged dimension whose extent is not 1, otherwise as
 * `b2nd_squeeze`.
 *
 * Note: `index` has one flag for each dimension.
 */
BLOSC_EXPORT
int b2nd_squeeze_index(b2nd_array_t *array,
                       b2nd_array_t **view,
                       const bool *index);

/**
 * Creates a view of `array` with `final_dims` dimensions, and stores it in `*view`. `axis` has
 * one flag for each dimension of the view: where the flag is true, the view has a new dimension
 * of extent 1; the other dimensions are those of `array`, in the same order. The caller frees the
 * view with `b2nd_free`; see `b2nd_squeeze`.
 *
 * Returns 0. Errors: -32 when a pointer is NULL; -12 for an array that has metalayers other than
 * `b2nd`, for more than 16 dimensions, and when the number of false flags is not the number of
 * dimensions of `array`; or a code of `b2nd_refresh`. `*view` is NULL then.
 *
 * Note: `axis` has `final_dims` flags.
 */
BLOSC_EXPORT
int b2nd_expand_dims(const b2nd_array_t *array,
                     b2nd_array_t **view,
                     const bool *axis,
                     uint8_t final_dims);

/**
 * Changes the shape of `array` to `new_shape`, in items. If `start` is NULL, items are added or
 * removed at the end of each dimension. Otherwise they are added or removed from item `start[i]`
 * of dimension `i` on; unless that is at the end, `start[i]` and the change must be multiples of
 * the chunk shape. New chunks are zero; items that an earlier shrink cut off inside a chunk that
 * stayed have their old values again. `new_shape` and `start` have one number for each dimension.
 *
 * Returns 0. Errors: -32 when a pointer is NULL, -12 for an invalid shape or an invalid `start`,
 * -1 when the chunks cannot be changed, -37 when the lock cannot be acquired.
 *
 * Note: `new_shape` and `start` have one number for each dimension.
 */
BLOSC_EXPORT
int b2nd_resize(b2nd_array_t *array,
                const int64_t *new_shape,
                const int64_t *start);

/**
 * Inserts the items in the `buffersize` bytes at `buffer`, in C order, into `array` along the
 * dimension `axis`, before position `insert_start`. The array grows along `axis`; unless
 * `insert_start` is at the end, it and the number of inserted rows must be multiples of the chunk
 * shape. The other dimensions of the inserted items are those of `array`.
 *
 * Returns 0. Errors: -32 when a pointer is NULL, -12 for an invalid axis or position and for a
 * `buffersize` that is no whole number of rows, or a code of `b2nd_resize` or
 * `b2nd_set_slice_cbuffer`.
 */
BLOSC_EXPORT
int b2nd_insert(b2nd_array_t *array,
                const void *buffer,
                int64_t buffersize,
                int8_t axis,
                int64_t insert_start);

/**
 * Appends the items in the `buffersize` bytes at `buffer`, in C order, to `array` along the
 * dimension `axis`. The other dimensions of the appended items are those of `array`.
 *
 * Returns 0, or an error code as `b2nd_insert`.
 */
BLOSC_EXPORT
int b2nd_append(b2nd_array_t *array,
                const void *buffer,
                int64_t buffersize,
                int8_t axis);

/**
 * Deletes `delete_len` rows of `array` along the dimension `axis`, from position `delete_start`
 * on. Unless they are at the end, both numbers must be multiples of the chunk shape.
 *
 * Returns 0. Errors: -32 when a pointer is NULL, -12 for an invalid axis or rows that do not
 * exist, or a code of `b2nd_resize`.
 */
BLOSC_EXPORT
int b2nd_delete(b2nd_array_t *array,
                int8_t axis,
                int64_t delete_start,
                int64_t delete_len);

/**
 * Updates the shape of `array` if another handle or process has changed it.
 *
 * Returns 1 if the array was changed, 0 if not. Errors: -32 for NULL, -3 when the chunk shape,
 * the block shape or the number of dimensions has changed, -37 when the lock cannot be acquired.
 */
BLOSC_EXPORT
int b2nd_refresh(b2nd_array_t *array);

/* ---- The metalayer ---- */

/**
 * Prints the shape, the chunk shape, the block shape and the data type of `array` to the standard
 * output.
 *
 * Returns 0. Errors: -32 for NULL, -34 when there is no `b2nd` metalayer, -1 for an invalid one.
 */
BLOSC_EXPORT
int b2nd_print_meta(const b2nd_array_t *array);

/**
 * Creates the content of a `b2nd` metalayer in a buffer from `malloc`, and stores its address in
 * `*smeta`; the caller frees it with `free()`. `shape`, `chunkshape` and `blockshape` are arrays
 * of `ndim` numbers, in items; they are not checked. `dtype` is the data type of the items, a
 * string in the format `dtype_format` (0 is NumPy's); NULL means `|u1`.
 *
 * Returns the length of the content in bytes. Errors: -12 for an `ndim` outside 0 to 16, -32 when
 * a pointer is NULL, -1 for a negative `dtype_format` or a `dtype` of 2 GB, -4 when memory cannot
 * be allocated; `*smeta` is NULL then.
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
 * Parses the content of a `b2nd` metalayer (or of its predecessor `caterva`), the `smeta_len`
 * bytes at `smeta`. Stores the number of dimensions in `*ndim` and the shapes, in items, in the
 * arrays `shape`, `chunkshape` and `blockshape`, which must have room for 16 numbers each. The
 * shapes are not checked. Stores the data type in `*dtype`, a string that the caller frees with
 * `free()` (NULL in a `caterva` metalayer), and its format in `*dtype_format`. If `dtype` or
 * `dtype_format` is NULL, the data type is not parsed.
 *
 * Returns the number of bytes parsed. Errors: -32 when another pointer is NULL, -1 for a
 * truncated metalayer, for more than 16 dimensions and for a data type that is no string, -4 when
 * memory cannot be allocated. The values parsed before an error are stored; `*ndim` is 0 and
 * `*dtype` NULL if they were not parsed.
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
 * Copies a box between two C-order arrays as `b2nd_copy_buffer2`, with the same arguments `ndim`,
 * `src`, `src_pad_shape`, `src_start`, `src_stop`, `dst`, `dst_pad_shape` and `dst_start`, but an
 * `itemsize` of at most 255 bytes.
 *
 * Returns 0, or an error code as `b2nd_copy_buffer2`.
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
 * Copies the box from `src_start` to `src_stop` (exclusive) of the array `src` to the position
 * `dst_start` of the array `dst`. Both are arrays of `ndim` dimensions in C order, with items of
 * `itemsize` bytes; `src_pad_shape` and `dst_pad_shape` are their shapes. Shapes and positions
 * are arrays of `ndim` numbers, in items. An empty box copies nothing. Whether the box is inside
 * both arrays is not checked.
 *
 * Returns 0. Errors: -12 for an `ndim` outside 0 to 16, for negative numbers and for positions
 * that overflow, -32 when a pointer is NULL.
 *
 * Note: but the buffers may overlap; the box is inside both arrays, and shapes and positions have
 * `ndim` numbers.
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

/*
 * Creates a 2-d array in a file from a buffer, opens it again, reads and overwrites slices, and changes the
 * shape. Only the chunks that a slice touches are read or written.
 *
 *     cc array_slices.c -o array_slices -lblosc2
 */
#include <stdint.h>
#include <stdio.h>

#include <b2nd.h>

static char path[] = "array_slices.b2nd";

/* Prints `what` if `rc` is an error code. Returns whether it is. */
static int failed(int rc, const char *what) {
  if (rc < 0) fprintf(stderr, "array_slices: %s: %s (%d)\n", what, blosc2_error_string(rc), rc);
  return rc < 0;
}

static int create(void) {
  /* Shapes are in items. A chunk is the unit of storage, a block the unit of compression. */
  const int64_t shape[] = {6, 8};
  const int32_t chunkshape[] = {3, 4}, blockshape[] = {3, 2};
  int32_t items[6 * 8];
  for (int i = 0; i < 6 * 8; i++) items[i] = i / 8 * 10 + i % 8;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = sizeof(int32_t);
  /* Contiguous: one file. Otherwise `path` is a directory with a file for each chunk. */
  blosc2_storage storage = {.contiguous = true, .urlpath = path, .cparams = &cparams};
  b2nd_context_t *ctx = b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, "<i4", DTYPE_NUMPY_FORMAT, NULL, 0);
  if (ctx == NULL) return failed(BLOSC2_ERROR_FAILURE, "creating the parameters");
  b2nd_array_t *array = NULL;
  int error = failed(b2nd_from_cbuffer(ctx, &array, items, sizeof(items)), "creating the array");
  if (array != NULL) error |= failed(b2nd_free(array), "closing the array");
  return error | failed(b2nd_free_ctx(ctx), "freeing the parameters");
}

/* Prints two rows of `array`, from `row` on, and four columns. */
static int show(const b2nd_array_t *array, const char *title, int64_t row) {
  const int64_t start[] = {row, 2}, stop[] = {row + 2, 6}, buffershape[] = {2, 4};
  int32_t box[2][4];
  if (failed(b2nd_get_slice_cbuffer(array, start, stop, box, buffershape, sizeof(box)), "reading")) return 1;
  printf("%s, shape %d x %d\n", title, (int)array->shape[0], (int)array->shape[1]);
  for (int i = 0; i < 2; i++) printf("%d %d %d %d\n", box[i][0], box[i][1], box[i][2], box[i][3]);
  return 0;
}

static int change(b2nd_array_t *array) {
  const int64_t start[] = {3, 3}, stop[] = {5, 5}, buffershape[] = {2, 2}, larger[] = {8, 10};
  const int32_t box[2][2] = {{-1, -2}, {-3, -4}};
  if (show(array, "created", 3)) return 1;
  if (failed(b2nd_set_slice_cbuffer(box, buffershape, sizeof(box), start, stop, array), "writing")) return 1;
  if (show(array, "slice written", 3)) return 1;
  /* NULL: the array grows at the end of each dimension. New chunks are zeros. */
  return failed(b2nd_resize(array, larger, NULL), "resizing") || show(array, "resized", 5);
}

int main(void) {
  blosc2_init();
  b2nd_array_t *array = NULL;
  int error = failed(blosc2_remove_urlpath(path), "removing an old file") || create() ||
              failed(b2nd_open(path, &array), "opening the array") || change(array);
  if (array != NULL) error |= failed(b2nd_free(array), "closing the array");
  error |= failed(blosc2_remove_urlpath(path), "removing the file");
  blosc2_destroy();
  return error;
}

/* Output:
created, shape 6 x 8
32 33 34 35
42 43 44 45
slice written, shape 6 x 8
32 -1 -2 35
42 -3 -4 45
resized, shape 8 x 10
52 53 54 55
0 0 0 0
*/

/*
 * One call of one kind, for scripts/count-files.sh, which counts the source files and functions that the call runs through.
 *
 *     call_paths blosc2_compress_ctx|blosc2_schunk_get_slice_buffer|b2nd_set_slice_cbuffer FILE
 *
 * The last two make FILE and use it: a contiguous frame on disk.
 */

#include <b2nd.h>
#include <blosc2.h>

#include "check.h"

enum { ITEMS = 64 * 1024, SIDE = 256 };

static double items[ITEMS], restored[ITEMS];
static uint8_t chunk[sizeof items + BLOSC2_MAX_OVERHEAD];

/* LZ4 with shuffle, the default level. */
static blosc2_cparams cparams_of_items(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = BLOSC_LZ4;
  cparams.typesize = sizeof *items;
  return cparams;
}

static void compress(void) {
  blosc2_context *context = blosc2_create_cctx(cparams_of_items());
  CHECK(blosc2_compress_ctx(context, items, sizeof items, chunk, sizeof chunk) > 0);
  blosc2_free_ctx(context);
}

static void read_item(blosc2_storage *storage) {
  blosc2_schunk *schunk = blosc2_schunk_new(storage);
  CHECK(schunk != NULL);
  for (int n = 1; n <= 4; n++) CHECK_EQ(blosc2_schunk_append_buffer(schunk, items, sizeof items), n);
  blosc2_schunk_free(schunk);
  schunk = blosc2_schunk_open(storage->urlpath);
  CHECK(schunk != NULL);
  CHECK_EQ(blosc2_schunk_get_slice_buffer(schunk, ITEMS + 500, ITEMS + 501, restored), 0);
  CHECK(restored[0] == items[500]);
  blosc2_schunk_free(schunk);
}

static void write_slice(blosc2_storage *storage) {
  int64_t shape[] = {SIDE, SIDE}, start[] = {10, 10}, stop[] = {20, 20}, box[] = {10, 10};
  int32_t chunkshape[] = {100, 100}, blockshape[] = {50, 50};
  b2nd_context_t *context = b2nd_create_ctx(storage, 2, shape, chunkshape, blockshape, "<f8", 0, NULL, 0);
  b2nd_array_t *array;
  CHECK_EQ(b2nd_from_cbuffer(context, &array, items, sizeof items), 0);
  CHECK_EQ(b2nd_set_slice_cbuffer(items, box, 100 * sizeof *items, start, stop, array), 0);
  CHECK_EQ(b2nd_get_slice_cbuffer(array, start, stop, restored, box, 100 * sizeof *items), 0);
  CHECK(memcmp(items, restored, 100 * sizeof *items) == 0);
  CHECK_EQ(b2nd_free(array), 0);
  CHECK_EQ(b2nd_free_ctx(context), 0);
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 3);
  for (int i = 0; i < ITEMS; i++) items[i] = i * 1.5 + i % 7;
  blosc2_init();
  blosc2_cparams cparams = cparams_of_items();
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_storage storage = {.contiguous = true, .urlpath = argv[2], .cparams = &cparams, .dparams = &dparams};
  if (strcmp(argv[1], "blosc2_compress_ctx") == 0) compress();
  else if (strcmp(argv[1], "blosc2_schunk_get_slice_buffer") == 0) read_item(&storage);
  else if (strcmp(argv[1], "b2nd_set_slice_cbuffer") == 0) write_slice(&storage);
  else CHECK(0);
  blosc2_destroy();
  return 0;
}

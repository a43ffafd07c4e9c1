/*
 * A given number of calls of one kind on one chunk, for scripts/count-instructions.sh, which counts the instructions of two runs
 * that differ in the number of calls.
 *
 *     instruction_counts compress CODEC KIB CALLS FILE     writes the chunk of the last call to FILE
 *     instruction_counts decompress|getitem CODEC KIB CALLS FILE
 */

#include <blosc2.h>

#include "check.h"

enum { TYPESIZE = 4, ITEMS = 100, MOST = 1 << 20 };

static int32_t items[MOST / TYPESIZE], restored[MOST / TYPESIZE];
static uint8_t chunk[MOST + BLOSC2_MAX_OVERHEAD];

/* A random walk with plateaus: partly compressible with every codec. */
static void fill(int32_t nitems) {
  uint32_t state = 1;
  int32_t value = 0;
  for (int32_t i = 0; i < nitems; i++) {
    state = state * 1664525u + 1013904223u;
    if (i / 256 % 4 != 0) value += (int32_t)(state >> 24) - 128;
    items[i] = value;
  }
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 6);
  const char *operation = argv[1], *path = argv[5];
  int codec = blosc2_compname_to_compcode(argv[2]);
  CHECK(codec >= 0);
  int32_t nbytes = atoi(argv[3]) * 1024;
  CHECK(nbytes > 2 * ITEMS * TYPESIZE && nbytes <= MOST);
  int calls = atoi(argv[4]);
  fill(nbytes / TYPESIZE);

  blosc2_init();
  if (strcmp(operation, "compress") == 0) {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.compcode = (uint8_t)codec;
    cparams.typesize = TYPESIZE;
    cparams.blocksize = 32 * 1024;
    blosc2_context *context = blosc2_create_cctx(cparams);
    int cbytes = 0;
    for (int n = 0; n < calls; n++) {
      cbytes = blosc2_compress_ctx(context, items, nbytes, chunk, sizeof chunk);
      CHECK(cbytes > 0);
    }
    blosc2_free_ctx(context);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(chunk, 1, (size_t)cbytes, file) == (size_t)cbytes && fclose(file) == 0);
  } else {
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    int32_t cbytes = (int32_t)fread(chunk, 1, sizeof chunk, file);
    fclose(file);
    blosc2_context *context = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
    int whole = strcmp(operation, "decompress") == 0;
    int32_t start = whole ? 0 : nbytes / TYPESIZE / 2, length = whole ? nbytes : ITEMS * TYPESIZE;
    for (int n = 0; n < calls; n++) {
      int got = whole ? blosc2_decompress_ctx(context, chunk, cbytes, restored, nbytes)
                      : blosc2_getitem_ctx(context, chunk, cbytes, start, ITEMS, restored, length);
      CHECK_EQ(got, length);
    }
    blosc2_free_ctx(context);
    CHECK(memcmp(restored, items + start, (size_t)length) == 0);
  }
  blosc2_destroy();
  return 0;
}

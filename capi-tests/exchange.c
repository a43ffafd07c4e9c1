/*
 * Writes frames and arrays to a directory, or checks those that this program has written on another machine: with another
 * byte order, another width of pointers, or another library (scripts/check-platform.sh).
 *
 *     exchange write DIRECTORY
 *     exchange read DIRECTORY
 *
 * The content is defined as bytes, so that it does not depend on the byte order of the writer. The codecs NDLZ and ZFP and
 * the filter int_trunc, which transform numbers, are left out.
 */

#include <b2nd.h>
#include <blosc2.h>
#include <blosc2/filters-registry.h>

#include "check.h"

enum { NBYTES = 24000, NCHUNKS = 5, ROWS = 70, COLUMNS = 90 };

static const char *directory;
static int writes;
static int nfiles;

static const int CODECS[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
static const int FILTERS[] = {BLOSC_NOFILTER, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE, BLOSC_DELTA, BLOSC_FILTER_BYTEDELTA};
static const int TYPESIZES[] = {1, 2, 3, 4, 8, 16};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static uint8_t expected[NBYTES], restored[NBYTES];

/* The content of a chunk: 0 compressible, 1 incompressible, 2 and 3 one byte or one item repeated, 4 zeros. */
static void fill(int nchunk, int typesize) {
  if (nchunk == 1) {
    fill_noise(expected, NBYTES);
    return;
  }
  for (int i = 0; i < NBYTES; i++) {
    int item = i / typesize, byte = i % typesize;
    expected[i] = (uint8_t)(nchunk == 0   ? (byte == 0 ? item * 3 + item / 300 : byte + item / 1000)
                            : nchunk == 2 ? 0x5a
                            : nchunk == 3 ? byte * 17 + 1
                                          : 0);
  }
}

static char *path_of(const char *kind, int codec, int filter, int typesize) {
  static char path[1000];
  snprintf(path, sizeof path, "%s/%s-%d-%d-%d.b2frame", directory, kind, codec, filter, typesize);
  nfiles++;
  return path;
}

static blosc2_cparams cparams_of(int codec, int filter, int typesize) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = (uint8_t)codec;
  cparams.typesize = typesize;
  cparams.filters[BLOSC2_MAX_FILTERS - 1] = (uint8_t)filter;
  if (filter == BLOSC_FILTER_BYTEDELTA) {
    cparams.filters[BLOSC2_MAX_FILTERS - 2] = BLOSC_SHUFFLE;
    cparams.filters_meta[BLOSC2_MAX_FILTERS - 1] = (uint8_t)typesize;
  }
  return cparams;
}

static void check_schunk(bool contiguous, int codec, int filter, int typesize) {
  char *path = path_of(contiguous ? "cframe" : "sframe", codec, filter, typesize);
  const char *name = "meta";
  uint8_t meta[5] = {1, 2, 3, 4, (uint8_t)typesize};
  if (writes) {
    blosc2_cparams cparams = cparams_of(codec, filter, typesize);
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    storage.contiguous = contiguous;
    storage.urlpath = path;
    storage.cparams = &cparams;
    blosc2_schunk *schunk = blosc2_schunk_new(&storage);
    CHECK(schunk != NULL);
    CHECK(blosc2_meta_add(schunk, name, meta, sizeof meta) >= 0);
    for (int nchunk = 0; nchunk < NCHUNKS; nchunk++) {
      fill(nchunk, typesize);
      CHECK_EQ(blosc2_schunk_append_buffer(schunk, expected, NBYTES), nchunk + 1);
    }
    CHECK(blosc2_vlmeta_add(schunk, name, meta, sizeof meta, NULL) >= 0);
    blosc2_schunk_free(schunk);
    return;
  }
  blosc2_schunk *schunk = blosc2_schunk_open(path);
  if (schunk == NULL) fprintf(stderr, "%s\n", path);
  CHECK(schunk != NULL);
  CHECK_EQ(schunk->nchunks, NCHUNKS);
  CHECK_EQ(schunk->nbytes, NCHUNKS * NBYTES);
  CHECK_EQ(schunk->typesize, typesize);
  for (int nchunk = 0; nchunk < NCHUNKS; nchunk++) {
    fill(nchunk, typesize);
    memset(restored, 0xee, NBYTES);
    CHECK_EQ(blosc2_schunk_decompress_chunk(schunk, nchunk, restored, NBYTES), NBYTES);
    CHECK_BYTES(restored, expected, NBYTES);
    /* The same items by a slice, which decodes single blocks. */
    int64_t first = (int64_t)nchunk * (NBYTES / typesize) + 5;
    CHECK_EQ(blosc2_schunk_get_slice_buffer(schunk, first, first + 100, restored), 0);
    CHECK_BYTES(restored, expected + 5 * typesize, 100 * typesize);
  }
  uint8_t *content;
  int32_t len;
  CHECK(blosc2_meta_get(schunk, name, &content, &len) >= 0);
  CHECK(len == sizeof meta && memcmp(content, meta, sizeof meta) == 0);
  free(content);
  CHECK(blosc2_vlmeta_get(schunk, name, &content, &len) >= 0);
  CHECK(len == sizeof meta && memcmp(content, meta, sizeof meta) == 0);
  free(content);
  blosc2_schunk_free(schunk);
}

static void check_array(int codec, int filter) {
  char *path = path_of("array", codec, filter, 4);
  static uint8_t items[ROWS * COLUMNS * 4], found[ROWS * COLUMNS * 4];
  for (int i = 0; i < (int)sizeof items; i++) items[i] = (uint8_t)(i % 4 == 0 ? i / 4 : i / 4000);
  b2nd_array_t *array;
  if (writes) {
    blosc2_cparams cparams = cparams_of(codec, filter, 4);
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    storage.contiguous = true;
    storage.urlpath = path;
    storage.cparams = &cparams;
    int64_t shape[] = {ROWS, COLUMNS};
    int32_t chunkshape[] = {30, 40}, blockshape[] = {10, 13};
    b2nd_context_t *context =
        b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, "|i4", DTYPE_NUMPY_FORMAT, NULL, 0);
    CHECK(context != NULL);
    CHECK_EQ(b2nd_from_cbuffer(context, &array, items, sizeof items), 0);
    CHECK_EQ(b2nd_free_ctx(context), 0);
  } else {
    CHECK_EQ(b2nd_open(path, &array), 0);
    CHECK(array->ndim == 2 && array->shape[0] == ROWS && array->shape[1] == COLUMNS);
    CHECK(array->chunkshape[1] == 40 && array->blockshape[1] == 13);
    CHECK_STR(array->dtype, "|i4");
    CHECK_EQ(b2nd_to_cbuffer(array, found, sizeof found), 0);
    CHECK_BYTES(found, items, sizeof items);
    int64_t start[] = {29, 39}, stop[] = {31, 41}, shape[] = {2, 2};
    CHECK_EQ(b2nd_get_slice_cbuffer(array, start, stop, found, shape, 16), 0);
    CHECK_BYTES(found, items + (29 * COLUMNS + 39) * 4, 8);
    CHECK_BYTES(found + 8, items + (30 * COLUMNS + 39) * 4, 8);
  }
  CHECK_EQ(b2nd_free(array), 0);
}

int main(int argc, char **argv) {
  if (argc != 3 || (strcmp(argv[1], "write") != 0 && strcmp(argv[1], "read") != 0)) {
    fprintf(stderr, "usage: %s write|read DIRECTORY\n", argv[0]);
    return EXIT_FAILURE;
  }
  writes = strcmp(argv[1], "write") == 0;
  directory = argv[2];
  blosc2_init();
  for (size_t codec = 0; codec < COUNT(CODECS); codec++) {
    for (size_t filter = 0; filter < COUNT(FILTERS); filter++) {
      for (size_t typesize = 0; typesize < COUNT(TYPESIZES); typesize++) {
        check_schunk(true, CODECS[codec], FILTERS[filter], TYPESIZES[typesize]);
        if (TYPESIZES[typesize] == 4) check_schunk(false, CODECS[codec], FILTERS[filter], TYPESIZES[typesize]);
      }
      /* C-Blosc2 does not read its own arrays with the delta filter. */
      if (FILTERS[filter] != BLOSC_DELTA) check_array(CODECS[codec], FILTERS[filter]);
    }
  }
  blosc2_destroy();
  printf("%s %d files\n", argv[1], nfiles);
  return EXIT_SUCCESS;
}

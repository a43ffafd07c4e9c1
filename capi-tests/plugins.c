/* Arrays whose codec or tuner is a plugin library. scripts/check-plugins.sh runs this program with this library and
   with the reference, compares the output, and checks that each library reads the files of the other one.

     plugins write CODEC META TYPESIZE FILE    an image, compressed with that codec, to FILE
     plugins read FILE                         decompresses FILE
     plugins tune TUNER FILE                   four images as a super-chunk, compressed with that tuner, to FILE

   Prints one line per result; the last line about the data is a checksum of the bytes. */

#include <b2nd.h>
#include <blosc2.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 192, COLUMNS = 160, CHUNK_ROWS = 96, CHUNK_COLUMNS = 80, BLOCK_ROWS = 48, BLOCK_COLUMNS = 40 };

static uint32_t checksum(const uint8_t *bytes, int64_t length) {
  uint32_t sum = 2166136261u;
  for (int64_t i = 0; i < length; i++) sum = (sum ^ bytes[i]) * 16777619u;
  return sum;
}

/* Returns a smooth image with a little texture. */
static uint8_t *image(int typesize) {
  uint8_t *bytes = calloc((size_t)ROWS * COLUMNS, (size_t)typesize);
  for (int row = 0; row < ROWS; row++) {
    for (int column = 0; column < COLUMNS; column++) {
      uint32_t value = (uint32_t)(row * 3 + column * 2 + (row * column) / 64 + ((row * 7 + column * 13) % 5));
      uint8_t *item = bytes + ((size_t)row * COLUMNS + (size_t)column) * (size_t)typesize;
      if (typesize == 1) value %= 251;
      for (int byte = 0; byte < typesize && byte < 4; byte++) item[byte] = (uint8_t)(value >> (8 * byte));
    }
  }
  return bytes;
}

static int read_back(const char *path) {
  b2nd_array_t *array = NULL;
  int rc = b2nd_open(path, &array);
  printf("open: %d\n", rc);
  if (rc < 0) return 1;
  int64_t nbytes = array->nitems * array->sc->typesize;
  uint8_t *bytes = calloc(1, (size_t)nbytes);
  rc = b2nd_to_cbuffer(array, bytes, nbytes);
  printf("to_cbuffer: %d\n", rc);
  if (rc >= 0) {
    uint8_t *original = image(array->sc->typesize);
    int64_t different = 0;
    for (int64_t i = 0; i < nbytes; i++) different += bytes[i] != original[i];
    printf("data: %lld bytes, checksum %08x, %lld bytes differ from the image\n", (long long)nbytes,
           (unsigned)checksum(bytes, nbytes), (long long)different);
    /* A box that spans several chunks and blocks. */
    int64_t start[2] = {40, 70}, stop[2] = {110, 95}, shape[2] = {70, 25};
    uint8_t *piece = calloc(70 * 25, (size_t)array->sc->typesize);
    int64_t length = 70 * 25 * array->sc->typesize;
    rc = b2nd_get_slice_cbuffer(array, start, stop, piece, shape, length);
    printf("slice: %d, checksum %08x\n", rc, rc < 0 ? 0u : (unsigned)checksum(piece, length));
    free(piece);
    free(original);
  }
  free(bytes);
  b2nd_free(array);
  return rc < 0;
}

static int write_out(int codec, int meta, int typesize, const char *path) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = typesize;
  cparams.compcode = (uint8_t)codec;
  cparams.compcode_meta = (uint8_t)meta;
  memset(cparams.filters, 0, sizeof cparams.filters);
  cparams.splitmode = BLOSC_NEVER_SPLIT;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_storage storage = {.contiguous = true, .urlpath = (char *)path, .cparams = &cparams, .dparams = &dparams};
  int64_t shape[2] = {ROWS, COLUMNS};
  int32_t chunks[2] = {CHUNK_ROWS, CHUNK_COLUMNS}, blocks[2] = {BLOCK_ROWS, BLOCK_COLUMNS};
  const char *dtype = typesize == 1 ? "|u1" : typesize == 2 ? "<u2" : "<u4";
  blosc2_remove_urlpath(path);
  b2nd_context_t *context = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, dtype, DTYPE_NUMPY_FORMAT, NULL, 0);
  if (context == NULL) {
    printf("create_ctx: NULL\n");
    return 1;
  }
  uint8_t *bytes = image(typesize);
  b2nd_array_t *array = NULL;
  int rc = b2nd_from_cbuffer(context, &array, bytes, (int64_t)ROWS * COLUMNS * typesize);
  printf("from_cbuffer: %d\n", rc);
  if (rc >= 0) b2nd_free(array);
  free(bytes);
  b2nd_free_ctx(context);
  return rc < 0;
}

/* The tuner chooses the block size. */
static int tune(int tuner, const char *path) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 2;
  cparams.tuner_id = tuner;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_storage storage = {.contiguous = true, .urlpath = (char *)path, .cparams = &cparams, .dparams = &dparams};
  blosc2_remove_urlpath(path);
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  printf("schunk_new: %s\n", schunk == NULL ? "NULL" : "created");
  if (schunk == NULL) return 1;
  uint8_t *bytes = image(2), *decoded = calloc(ROWS * COLUMNS, 2);
  int32_t length = ROWS * COLUMNS * 2;
  int wrong = 0, codecs[4];
  for (int chunk = 0; chunk < 4; chunk++) {
    int64_t nchunks = blosc2_schunk_append_buffer(schunk, bytes, length);
    int nbytes = blosc2_schunk_decompress_chunk(schunk, chunk, decoded, length);
    printf("append: %lld, decompress: %d\n", (long long)nchunks, nbytes);
    wrong |= nbytes != length || memcmp(bytes, decoded, (size_t)length) != 0;
    uint8_t *stored = NULL;
    bool needs_free = false;
    codecs[chunk] = blosc2_schunk_get_chunk(schunk, chunk, &stored, &needs_free) < 0 ? -1 : stored[2] >> 5;
    if (needs_free) free(stored);
  }
  printf("codecs: %d %d %d %d\n", codecs[0], codecs[1], codecs[2], codecs[3]);
  printf("data: %s, compressed: %s\n", wrong ? "different" : "equal", schunk->cbytes < schunk->nbytes ? "yes" : "no");
  blosc2_schunk_free(schunk);
  free(decoded);
  free(bytes);
  return wrong;
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  blosc2_init();
  int failed = 2;
  if (argc == 6 && strcmp(argv[1], "write") == 0) {
    failed = write_out(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), argv[5]);
  } else if (argc == 3 && strcmp(argv[1], "read") == 0) {
    failed = read_back(argv[2]);
  } else if (argc == 4 && strcmp(argv[1], "tune") == 0) {
    failed = tune(atoi(argv[2]), argv[3]);
  } else {
    fprintf(stderr, "usage: plugins write CODEC META TYPESIZE FILE | read FILE | tune TUNER FILE\n");
  }
  blosc2_destroy();
  return failed;
}

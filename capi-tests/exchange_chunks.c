/*
 * Chunks and arrays that one library writes and another one reads, possibly on another architecture.
 *
 *     exchange_chunks write FILE     every filter with every codec and several item sizes; every codec and filter of arrays
 *     exchange_chunks read FILE      decodes them, and compares with the content that the writer decoded
 */

#include <b2nd.h>
#include <blosc2.h>
#include <blosc2/codecs-registry.h>
#include <blosc2/filters-registry.h>

#include "check.h"

enum { MOST = 100003, SIDE = 20, NITEMS = SIDE * SIDE * SIDE };

static uint8_t content[MOST], decoded[MOST], expected[MOST], stored[4 * MOST + BLOSC2_MAX_OVERHEAD];
static FILE *file;
static int count;

/* Integers of `typesize` bytes, little-endian on every machine: a random walk with plateaus. */
static void fill_walk(int32_t typesize, int32_t nbytes) {
  uint64_t state = (uint64_t)typesize, value = 1u << 20;
  for (int32_t at = 0; at < nbytes; at++) {
    if (at % typesize == 0 && at / typesize / 64 % 4 != 0) {
      state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      value += state >> 58;
    }
    content[at] = at % typesize < 8 ? (uint8_t)(value >> 8 * (at % typesize)) : (uint8_t)(at % typesize);
  }
}

/* --- Records: a line with the name and the lengths; what the writer has stored; what it has decoded. */

static void write_record(const char *name, const void *bytes, int64_t cbytes, int32_t nbytes) {
  CHECK(fprintf(file, "%s %d %d\n", name, (int)cbytes, (int)nbytes) > 0);
  CHECK_EQ(fwrite(bytes, 1, (size_t)cbytes, file), cbytes);
  CHECK_EQ(fwrite(decoded, 1, (size_t)nbytes, file), nbytes);
  count++;
}

static void decode_chunk(int32_t cbytes, int32_t nbytes) {
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *context = blosc2_create_dctx(dparams);
  CHECK(context != NULL);
  memset(decoded, 0x5a, (size_t)nbytes);
  CHECK_EQ(blosc2_decompress_ctx(context, stored, cbytes, decoded, nbytes), nbytes);
  blosc2_free_ctx(context);
}

static void decode_frame(uint8_t *frame, int64_t cbytes, int32_t nbytes) {
  b2nd_array_t *array = NULL;
  CHECK_EQ(b2nd_from_cframe(frame, cbytes, true, &array), 0);
  memset(decoded, 0x5a, (size_t)nbytes);
  CHECK_EQ(b2nd_to_cbuffer(array, decoded, nbytes), 0);
  CHECK_EQ(b2nd_free(array), 0);
}

/* --- Writing. */

typedef struct {
  const char *name;
  uint8_t first, first_meta, second;
  /* The C library loses the bytes behind the last item of a block (docs/format/filters.md, D2). */
  bool needs_whole_items;
  bool is_lossy;
} filters;

static const filters all_filters[] = {
    {"none", 0, 0, 0, false, false},
    {"shuffle", BLOSC_SHUFFLE, 0, 0, false, false},
    {"bitshuffle", BLOSC_BITSHUFFLE, 0, 0, false, false},
    {"delta", BLOSC_DELTA, 0, 0, true, false},
    {"delta+shuffle", BLOSC_DELTA, 0, BLOSC_SHUFFLE, true, false},
    {"delta+bitshuffle", BLOSC_DELTA, 0, BLOSC_BITSHUFFLE, true, false},
    {"shuffle+bytedelta", BLOSC_SHUFFLE, 0, BLOSC_FILTER_BYTEDELTA, false, false},
    {"shuffle+bytedelta34", BLOSC_SHUFFLE, 0, BLOSC_FILTER_BYTEDELTA_BUGGY, true, false},
    {"trunc_prec+shuffle", BLOSC_TRUNC_PREC, 12, BLOSC_SHUFFLE, true, true},
    {"int_trunc+shuffle", BLOSC_FILTER_INT_TRUNC, (uint8_t)-3, BLOSC_SHUFFLE, true, true},
};

static void write_chunk(const filters *with, const char *codec, int32_t typesize, int32_t nbytes) {
  bool is_word = typesize == 4 || typesize == 8;
  if (with->is_lossy && !is_word) return;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = typesize;
  cparams.compcode = (uint8_t)blosc2_compname_to_compcode(codec);
  memset(cparams.filters, 0, sizeof cparams.filters);
  cparams.filters[BLOSC2_MAX_FILTERS - 2] = with->first;
  cparams.filters_meta[BLOSC2_MAX_FILTERS - 2] = with->first_meta;
  cparams.filters[BLOSC2_MAX_FILTERS - 1] = with->second;
  if (with->second == BLOSC_FILTER_BYTEDELTA || with->second == BLOSC_FILTER_BYTEDELTA_BUGGY) {
    cparams.filters_meta[BLOSC2_MAX_FILTERS - 1] = (uint8_t)typesize;
  }
  blosc2_context *context = blosc2_create_cctx(cparams);
  CHECK(context != NULL);
  if (with->needs_whole_items) nbytes -= nbytes % typesize;
  fill_walk(typesize, nbytes);
  int32_t cbytes = blosc2_compress_ctx(context, content, nbytes, stored, sizeof stored);
  blosc2_free_ctx(context);
  char name[96];
  snprintf(name, sizeof name, "chunk,%s,%s,typesize=%d,nbytes=%d", with->name, codec, (int)typesize, (int)nbytes);
  if (cbytes <= 0) {
    fprintf(stderr, "%s: %d\n", name, (int)cbytes);
    exit(EXIT_FAILURE);
  }
  decode_chunk(cbytes, nbytes);
  if (!with->is_lossy && memcmp(decoded, content, (size_t)nbytes) != 0) {
    fprintf(stderr, "%s: other content\n", name);
    exit(EXIT_FAILURE);
  }
  write_record(name, stored, cbytes, nbytes);
}

/* An array of 20 x 20 x 20 or 20 x 400 items, with a codec or a filter that reads the shape. */
static void write_array(const char *title, int codec, int codec_meta, int filter, int filter_meta, int8_t ndim, int typesize,
                        bool is_lossy) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = typesize;
  cparams.compcode = (uint8_t)codec;
  cparams.compcode_meta = (uint8_t)codec_meta;
  memset(cparams.filters, 0, sizeof cparams.filters);
  cparams.filters[BLOSC2_MAX_FILTERS - 1] = (uint8_t)filter;
  cparams.filters_meta[BLOSC2_MAX_FILTERS - 1] = (uint8_t)filter_meta;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = true;
  storage.cparams = &cparams;
  int64_t shape[3] = {SIDE, SIDE, SIDE};
  int32_t chunkshape[3] = {15, 16, 13}, blockshape[3] = {7, 8, 9};
  if (ndim == 2) {
    shape[1] = SIDE * SIDE;
    chunkshape[1] = blockshape[1] = 100;
    blockshape[0] = 12;
  }
  int32_t nbytes = NITEMS * typesize;
  fill_walk(typesize, nbytes);
  if (typesize == 4) {
    for (int32_t at = 3; at < nbytes; at += 4) content[at] = 0x41; /* Floats between 8 and 32. */
  }
  b2nd_context_t *context = b2nd_create_ctx(&storage, ndim, shape, chunkshape, blockshape, NULL, 0, NULL, 0);
  CHECK(context != NULL);
  b2nd_array_t *array = NULL;
  char name[96];
  snprintf(name, sizeof name, "array,%s", title);
  CHECK_EQ(b2nd_from_cbuffer(context, &array, content, nbytes), 0);
  uint8_t *frame = NULL;
  int64_t cbytes = 0;
  bool needs_free = false;
  CHECK_EQ(b2nd_to_cframe(array, &frame, &cbytes, &needs_free), 0);
  decode_frame(frame, cbytes, nbytes);
  if (!is_lossy) CHECK_BYTES(decoded, content, nbytes);
  write_record(name, frame, cbytes, nbytes);
  if (needs_free) free(frame);
  CHECK_EQ(b2nd_free(array), 0);
  CHECK_EQ(b2nd_free_ctx(context), 0);
}

static void write_all(void) {
  static const int32_t typesizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 32, 255}, lengths[] = {1000, MOST};
  static const char *const codecs[] = {"blosclz", "lz4", "lz4hc", "zlib", "zstd"};
  for (size_t f = 0; f < sizeof all_filters / sizeof *all_filters; f++)
    for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++)
      for (size_t t = 0; t < sizeof typesizes / sizeof *typesizes; t++)
        for (size_t n = 0; n < 2; n++) write_chunk(&all_filters[f], codecs[c], typesizes[t], lengths[n]);
  write_array("ndcell", BLOSC_LZ4, 0, BLOSC_FILTER_NDCELL, 4, 3, 4, false);
  write_array("ndmean", BLOSC_LZ4, 0, BLOSC_FILTER_NDMEAN, 4, 3, 4, true);
  write_array("ndlz4", BLOSC_CODEC_NDLZ, 4, 0, 0, 2, 1, false);
  write_array("ndlz8", BLOSC_CODEC_NDLZ, 8, 0, 0, 2, 1, false);
  write_array("zfp accuracy", BLOSC_CODEC_ZFP_FIXED_ACCURACY, -3, 0, 0, 3, 4, true);
  write_array("zfp precision", BLOSC_CODEC_ZFP_FIXED_PRECISION, 12, 0, 0, 3, 4, true);
  write_array("zfp rate", BLOSC_CODEC_ZFP_FIXED_RATE, 50, 0, 0, 3, 4, true);
}

/* --- Reading. */

static void read_all(void) {
  char name[96];
  int cbytes, nbytes, failures = 0;
  while (fscanf(file, "%95[^\n]", name) == 1) {
    char *lengths = strrchr(name, ' ');
    CHECK(lengths != NULL);
    nbytes = atoi(lengths);
    *lengths = '\0';
    lengths = strrchr(name, ' ');
    CHECK(lengths != NULL);
    cbytes = atoi(lengths);
    *lengths = '\0';
    CHECK(fgetc(file) == '\n' && cbytes <= (int)sizeof stored && nbytes <= MOST);
    CHECK_EQ(fread(stored, 1, (size_t)cbytes, file), cbytes);
    CHECK_EQ(fread(expected, 1, (size_t)nbytes, file), nbytes);
    if (strncmp(name, "chunk", 5) == 0) {
      decode_chunk(cbytes, nbytes);
    } else {
      decode_frame(stored, cbytes, nbytes);
    }
    if (memcmp(decoded, expected, (size_t)nbytes) != 0) {
      fprintf(stderr, "%s: other content\n", name);
      failures++;
    }
    count++;
  }
  CHECK(feof(file) && count > 0);
  CHECK_EQ(failures, 0);
}

int main(int argc, char **argv) {
  CHECK(argc == 3 && (strcmp(argv[1], "write") == 0 || strcmp(argv[1], "read") == 0));
  bool writes = argv[1][0] == 'w';
  file = fopen(argv[2], writes ? "wb" : "rb");
  CHECK(file != NULL);
  blosc2_init();
  if (writes) {
    write_all();
  } else {
    read_all();
  }
  CHECK_EQ(fclose(file), 0);
  printf("%d %s\n", count, writes ? "written" : "read");
  blosc2_destroy();
  return EXIT_SUCCESS;
}

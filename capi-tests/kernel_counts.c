/*
 * Calls that spend their instructions in one kernel each, for scripts/count-arm-instructions.sh. Prints a line for each call: its
 * name, the number of bytes, and, if instruction_plugin.c is loaded, the instructions.
 *
 *     kernel_counts DIRECTORY     the chunks that decoders read; those that do not exist are written
 */

#define _GNU_SOURCE

#include <blosc2.h>
#include <blosc2/filters-registry.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "instruction_marks.h"

/* Items in a buffer: a buffer of 2-byte items is longer than any vector, one of 32-byte items fits into an L2 cache. */
enum { ITEMS = 8192, MAX_TYPESIZE = 32, MOST = ITEMS * MAX_TYPESIZE, CHUNKSIZE = 1 << 17 };

static uint8_t content[MOST], converted[MOST], restored[MOST], chunk[MOST + BLOSC2_MAX_OVERHEAD];

#define COUNT(name, nbytes, call)                       \
  do {                                                  \
    call; /* Binds symbols and allocates. */            \
    printf("%s %d ", (name), (int)(nbytes));            \
    fflush(stdout);                                     \
    syscall(START_MARK);                                \
    call;                                               \
    syscall(END_MARK);                                  \
  } while (0)

static void count_shuffles(int32_t typesize) {
  int32_t nbytes = ITEMS * typesize;
  char name[64];
  snprintf(name, sizeof name, "shuffle,%d", typesize);
  COUNT(name, nbytes, CHECK_EQ(blosc2_shuffle(typesize, nbytes, content, converted), nbytes));
  snprintf(name, sizeof name, "unshuffle,%d", typesize);
  COUNT(name, nbytes, CHECK_EQ(blosc2_unshuffle(typesize, nbytes, converted, restored), nbytes));
  CHECK_BYTES(content, restored, nbytes);
}

static void count_bitshuffles(int32_t typesize) {
  int32_t nbytes = ITEMS * typesize;
  char name[64];
  snprintf(name, sizeof name, "bitshuffle,%d", typesize);
  COUNT(name, nbytes, CHECK_EQ(blosc2_bitshuffle(typesize, nbytes, content, converted), nbytes));
  snprintf(name, sizeof name, "bitunshuffle,%d", typesize);
  COUNT(name, nbytes, CHECK_EQ(blosc2_bitunshuffle(typesize, nbytes, converted, restored), nbytes));
  CHECK_BYTES(content, restored, nbytes);
}

/* A chunk of one block whose bytes are all equal behind the filter, so that the codec has nothing to do. */
static void count_filter(const char *title, int filter) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.blocksize = CHUNKSIZE;
  cparams.splitmode = BLOSC_ALWAYS_SPLIT;
  memset(cparams.filters, 0, sizeof cparams.filters);
  cparams.filters[BLOSC2_MAX_FILTERS - 1] = (uint8_t)filter;
  cparams.filters_meta[BLOSC2_MAX_FILTERS - 1] = filter == BLOSC_NOFILTER ? 0 : 4;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *compressor = blosc2_create_cctx(cparams), *decompressor = blosc2_create_dctx(dparams);
  CHECK(compressor != NULL && decompressor != NULL);
  char name[64];
  int32_t cbytes = 0;
  /* Each quarter is a series. */
  for (int32_t i = 0; i < CHUNKSIZE; i++) content[i] = (uint8_t)((i % (CHUNKSIZE / 4) + 1) * (3 + 2 * (i / (CHUNKSIZE / 4))));
  if (filter == BLOSC_NOFILTER) {
    for (int32_t i = 0; i < CHUNKSIZE; i++) content[i] = (uint8_t)(3 + 2 * (i / (CHUNKSIZE / 4)));
  }
  snprintf(name, sizeof name, "compress,%s", title);
  COUNT(name, CHUNKSIZE, cbytes = blosc2_compress_ctx(compressor, content, CHUNKSIZE, chunk, sizeof chunk));
  CHECK(cbytes > 0 && cbytes < 200);
  snprintf(name, sizeof name, "decompress,%s", title);
  COUNT(name, CHUNKSIZE, CHECK_EQ(blosc2_decompress_ctx(decompressor, chunk, cbytes, restored, CHUNKSIZE), CHUNKSIZE));
  CHECK_BYTES(content, restored, CHUNKSIZE);
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
}

static uint32_t state;

/* A number below `limit`. */
static uint32_t draw(uint32_t limit) {
  state = state * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)(state >> 8) * limit >> 24);
}

/* 1 to `literals` literals, and matches of `least` bytes or up to `length` more, at distances in such a range. */
static void fill_matches(uint32_t literals, uint32_t least, uint32_t length, uint32_t nearest, uint32_t distance) {
  int32_t at = 0;
  state = 1;
  while (at < 1024) content[at++] = (uint8_t)draw(256);
  while (at < CHUNKSIZE) {
    for (uint32_t n = draw(literals) + 1; n > 0 && at < CHUNKSIZE; n--) content[at++] = (uint8_t)draw(256);
    uint32_t far = nearest + draw(distance);
    for (uint32_t n = least + draw(length); n > 0 && at < CHUNKSIZE; n--, at++) content[at] = content[at - (int32_t)far];
  }
}

/* Small numbers of 4 bytes: behind a shuffle, a noisy plane, a compressible one, and two of zeros. */
static void fill_numbers(void) {
  state = 1;
  for (int32_t at = 0; at < CHUNKSIZE; at += 4) {
    uint32_t value = (uint32_t)at / 64 + draw(512);
    for (int32_t n = 0; n < 4; n++) content[at + n] = (uint8_t)(value >> 8 * n);
  }
}

static void count_codec(const char *directory, const char *codec, const char *data, int32_t typesize) {
  char name[64], path[512];
  snprintf(path, sizeof path, "%s/%s-%s", directory, codec, data);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_context *decompressor = blosc2_create_dctx(dparams);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = typesize;
  cparams.clevel = 9;
  cparams.blocksize = CHUNKSIZE;
  cparams.compcode = (uint8_t)blosc2_compname_to_compcode(codec);
  if (typesize == 1) memset(cparams.filters, 0, sizeof cparams.filters);
  blosc2_context *compressor = blosc2_create_cctx(cparams);
  CHECK(compressor != NULL && decompressor != NULL);
  int32_t cbytes = 0;
  snprintf(name, sizeof name, "compress,%s,%s", codec, data);
  COUNT(name, CHUNKSIZE, cbytes = blosc2_compress_ctx(compressor, content, CHUNKSIZE, chunk, sizeof chunk));
  CHECK(cbytes > 0 && cbytes < CHUNKSIZE);
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(chunk, 1, (size_t)cbytes, file) == (size_t)cbytes);
  } else {
    cbytes = (int32_t)fread(chunk, 1, sizeof chunk, file);
  }
  CHECK_EQ(fclose(file), 0);
  snprintf(name, sizeof name, "decompress,%s,%s", codec, data);
  COUNT(name, CHUNKSIZE, CHECK_EQ(blosc2_decompress_ctx(decompressor, chunk, cbytes, restored, CHUNKSIZE), CHUNKSIZE));
  CHECK_BYTES(content, restored, CHUNKSIZE);
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  blosc2_init();
  fill_noise(content, MOST);
  static const int32_t typesizes[] = {2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32};
  for (size_t n = 0; n < sizeof typesizes / sizeof *typesizes; n++) count_shuffles(typesizes[n]);
  count_bitshuffles(1);
  for (size_t n = 0; n < sizeof typesizes / sizeof *typesizes; n++) count_bitshuffles(typesizes[n]);
  count_filter("none", BLOSC_NOFILTER);
  count_filter("bytedelta", BLOSC_FILTER_BYTEDELTA);
  static const char *const codecs[] = {"blosclz", "lz4"};
  for (size_t n = 0; n < 2; n++) {
    fill_matches(6, 8, 10, 20, 900);
    count_codec(argv[1], codecs[n], "short", 1);
    fill_matches(30, 40, 400, 64, 900);
    count_codec(argv[1], codecs[n], "long", 1);
    fill_matches(6, 20, 200, 1, 15);
    count_codec(argv[1], codecs[n], "periods", 1);
    fill_matches(6, 20, 200, 16, 16);
    count_codec(argv[1], codecs[n], "periods16", 1);
    fill_numbers();
    count_codec(argv[1], codecs[n], "shuffled", 4);
  }
  blosc2_destroy();
  return EXIT_SUCCESS;
}

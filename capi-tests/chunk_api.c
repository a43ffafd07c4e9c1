/*
 * Calls every chunk-level function of the public API at least once and checks the results (chunk.md 3-5, abi.md
 * 2.1-2.4). Callbacks are tested by chunk_callbacks.c.
 *
 *     chunk_api [--ours]
 *
 * The reference library passes too; --ours adds checks that the reference is known to fail.
 */

#define _POSIX_C_SOURCE 200809L

#include <blosc2.h>

#include "check.h"

enum { NITEMS = 25000, NBYTES = NITEMS * 4, ROOM = NBYTES + 4096, BLOCKSIZE = 8192, NBLOCKS = 13 };

static int ours;
static int32_t items[NITEMS];
static uint8_t chunk[ROOM], other[ROOM];
static int32_t restored[ROOM / 4];

static const int CODECS[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
enum { NCODECS = 5 };

static blosc2_cparams cparams_for(int codec, int filter) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = (uint8_t)codec;
  cparams.typesize = 4;
  cparams.blocksize = BLOCKSIZE;
  cparams.filters[BLOSC2_MAX_FILTERS - 1] = (uint8_t)filter;
  return cparams;
}

static blosc2_context *compressor(blosc2_cparams cparams) {
  blosc2_context *context = blosc2_create_cctx(cparams);
  CHECK(context != NULL);
  return context;
}

static blosc2_context *decompressor(int16_t nthreads) {
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = nthreads;
  blosc2_context *context = blosc2_create_dctx(dparams);
  CHECK(context != NULL);
  return context;
}

/* Compresses `items` into `chunk` with a context that is freed afterwards. */
static int32_t make_chunk(blosc2_cparams cparams) {
  blosc2_context *context = compressor(cparams);
  int cbytes = blosc2_compress_ctx(context, items, NBYTES, chunk, ROOM);
  CHECK(cbytes > 0);
  blosc2_free_ctx(context);
  return cbytes;
}

static void check_restores(const void *compressed, int32_t cbytes, const void *wanted, int32_t nbytes, int16_t nthreads) {
  blosc2_context *context = decompressor(nthreads);
  memset(restored, 0xEE, sizeof(restored));
  CHECK_EQ(blosc2_decompress_ctx(context, compressed, cbytes, restored, nbytes), nbytes);
  CHECK_BYTES(restored, wanted, nbytes);
  CHECK_EQ(((uint8_t *)restored)[nbytes], 0xEE);
  blosc2_free_ctx(context);
}

/* ---- the library as a whole ------------------------------------------------------------------ */

static void versions_and_names(void) {
  static const char *const NAMES[] = {"blosclz", "lz4", "lz4hc", "zlib", "zstd"};
  static const char *const LIBRARIES[] = {"BloscLZ", "LZ4", "LZ4", "Zlib", "Zstd"};
  static const int LIBRARY_CODES[] = {BLOSC_BLOSCLZ_LIB, BLOSC_LZ4_LIB, BLOSC_LZ4_LIB, BLOSC_ZLIB_LIB, BLOSC_ZSTD_LIB};
  CHECK_STR(blosc2_get_version_string(), BLOSC2_VERSION_STRING);
  CHECK_STR(blosc2_list_compressors(), "blosclz,lz4,lz4hc,zlib,zstd");
  for (int i = 0; i < NCODECS; i++) {
    const char *name = NULL;
    CHECK_EQ(blosc2_compcode_to_compname(CODECS[i], &name), CODECS[i]);
    CHECK_STR(name, NAMES[i]);
    CHECK_EQ(blosc2_compname_to_compcode(NAMES[i]), CODECS[i]);
    char *library = NULL, *version = NULL;
    CHECK_EQ(blosc2_get_complib_info(NAMES[i], &library, &version), LIBRARY_CODES[i]);
    CHECK_STR(library, LIBRARIES[i]);
    CHECK(version != NULL && version[0] != '\0');
    free(library);
    free(version);
  }
  const char *name = "untouched";
  CHECK_EQ(blosc2_compcode_to_compname(3, &name), -1);
  CHECK(name == NULL);
  CHECK_EQ(blosc2_compname_to_compcode("ZSTD"), -1);
  CHECK_EQ(blosc2_compname_to_compcode("zfp_acc"), 33);
  CHECK_STR(blosc2_error_string(BLOSC2_ERROR_DATA), "Invalid data");
  CHECK_STR(blosc2_error_string(BLOSC2_ERROR_LOCK), "Frame lock failure");
  CHECK_STR(blosc2_error_string(-1000), "Unknown error");
  CHECK(print_error(BLOSC2_ERROR_TUNER) == blosc2_error_string(BLOSC2_ERROR_TUNER));
  if (ours) {
    char *library = (char *)"x", *version = (char *)"x";
    CHECK_EQ(blosc2_get_complib_info("nonesuch", &library, &version), -1);
    CHECK(library == NULL && version == NULL);
  }
}

static void defaults(void) {
  blosc2_cparams c = blosc2_get_blosc2_cparams_defaults();
  CHECK_EQ(c.compcode, BLOSC_BLOSCLZ);
  CHECK_EQ(c.clevel, 5);
  CHECK_EQ(c.typesize, 8);
  CHECK_EQ(c.nthreads, 1);
  CHECK_EQ(c.blocksize, 0);
  CHECK_EQ(c.splitmode, BLOSC_FORWARD_COMPAT_SPLIT);
  CHECK_EQ(c.tuner_id, 0);
  CHECK(c.schunk == NULL && c.prefilter == NULL && c.preparams == NULL && c.tuner_params == NULL);
  CHECK_BYTES(c.filters, BLOSC2_CPARAMS_DEFAULTS.filters, BLOSC2_MAX_FILTERS);
  CHECK_EQ(c.filters[BLOSC2_MAX_FILTERS - 1], BLOSC_SHUFFLE);
  blosc2_dparams d = blosc2_get_blosc2_dparams_defaults();
  CHECK_EQ(d.nthreads, 1);
  CHECK_EQ(d.typesize, 8);
  CHECK(d.schunk == NULL && d.postfilter == NULL && d.postparams == NULL);
}

static void global_settings(void) {
  CHECK_EQ(blosc2_get_nthreads(), 1);
  CHECK_EQ(blosc2_set_nthreads(3), 1);
  CHECK_EQ(blosc2_get_nthreads(), 3);
  CHECK_EQ(blosc2_set_nthreads(0), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_EQ(blosc2_set_nthreads(-3), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_EQ(blosc2_get_nthreads(), 3);
  CHECK_STR(blosc1_get_compressor(), "blosclz");
  CHECK_EQ(blosc1_set_compressor("zlib"), BLOSC_ZLIB);
  CHECK_EQ(blosc1_set_compressor("zfp_acc"), BLOSC2_ERROR_CODEC_SUPPORT);
  CHECK_STR(blosc1_get_compressor(), "zlib");
  blosc1_set_blocksize(12345);
  CHECK_EQ(blosc1_get_blocksize(), 12345);
  /* The settings survive blosc2_destroy(). */
  CHECK_EQ(blosc2_free_resources(), 0);
  blosc2_destroy();
  blosc2_destroy();
  blosc2_init();
  blosc2_init();
  CHECK_EQ(blosc2_get_nthreads(), 3);
  CHECK_STR(blosc1_get_compressor(), "zlib");
  CHECK_EQ(blosc1_get_blocksize(), 12345);
  CHECK_EQ(blosc1_set_compressor("nonesuch"), -1);
  CHECK_EQ(blosc1_set_compressor("blosclz"), BLOSC_BLOSCLZ);
  blosc1_set_blocksize(0);
  CHECK_EQ(blosc2_set_nthreads(1), 3);
}

/* ---- without a context ----------------------------------------------------------------------- */

static void blosc1_functions(void) {
  for (int i = 0; i < NCODECS; i++) {
    const char *name;
    CHECK_EQ(blosc2_compcode_to_compname(CODECS[i], &name), CODECS[i]);
    CHECK_EQ(blosc1_set_compressor(name), CODECS[i]);
    for (int shuffle = BLOSC_NOSHUFFLE; shuffle <= BLOSC_BITSHUFFLE; shuffle++) {
      int cbytes = blosc1_compress(5, shuffle, 4, NBYTES, items, chunk, ROOM);
      CHECK(cbytes > 0);
      size_t nbytes = 0, held = 0, blocksize = 0, typesize = 0;
      int flags = -1, version = -1, versionlz = -1;
      blosc1_cbuffer_sizes(chunk, &nbytes, &held, &blocksize);
      CHECK_EQ(nbytes, NBYTES);
      CHECK_EQ(held, cbytes);
      CHECK(blocksize > 0 && blocksize <= NBYTES);
      CHECK_EQ(blosc1_cbuffer_validate(chunk, (size_t)cbytes, &nbytes), 0);
      CHECK_EQ(nbytes, NBYTES);
      blosc1_cbuffer_metainfo(chunk, &typesize, &flags);
      CHECK_EQ(typesize, 4);
      CHECK_EQ(flags & (BLOSC_DOSHUFFLE | BLOSC_DOBITSHUFFLE), BLOSC_DOSHUFFLE | BLOSC_DOBITSHUFFLE);
      blosc2_cbuffer_versions(chunk, &version, &versionlz);
      CHECK_EQ(version, BLOSC2_VERSION_FORMAT_STABLE);
      CHECK_EQ(versionlz, 1);
      CHECK(blosc2_cbuffer_complib(chunk) != NULL);
      memset(restored, 0xEE, sizeof(restored));
      CHECK_EQ(blosc1_decompress(chunk, restored, NBYTES), NBYTES);
      CHECK_BYTES(restored, items, NBYTES);
      CHECK_EQ(blosc1_getitem(chunk, 777, 333, restored), 333 * 4);
      CHECK_BYTES(restored, items + 777, 333 * 4);
    }
  }
  CHECK_EQ(blosc1_set_compressor("blosclz"), BLOSC_BLOSCLZ);
  blosc2_set_delta(1);
  blosc1_set_splitmode(BLOSC_NEVER_SPLIT);
  int cbytes = blosc1_compress(5, BLOSC_SHUFFLE, 4, NBYTES, items, chunk, ROOM);
  CHECK(cbytes > 0);
  CHECK_EQ(chunk[BLOSC2_CHUNK_FLAGS] & (BLOSC_DODELTA | 0x10), BLOSC_DODELTA | 0x10);
  blosc2_set_delta(0);
  blosc1_set_splitmode(BLOSC_FORWARD_COMPAT_SPLIT);
  CHECK_EQ(blosc1_decompress(chunk, restored, NBYTES), NBYTES);
  CHECK_BYTES(restored, items, NBYTES);
}

static void blosc2_functions(void) {
  int32_t nbytes = -1, held = -1, blocksize = -1;
  int cbytes = blosc2_compress(9, BLOSC_SHUFFLE, 4, items, NBYTES, chunk, ROOM);
  CHECK(cbytes > 0);
  CHECK_EQ(blosc2_cbuffer_sizes(chunk, &nbytes, &held, &blocksize), 0);
  CHECK_EQ(nbytes, NBYTES);
  CHECK_EQ(held, cbytes);
  CHECK_EQ(blosc2_cbuffer_sizes(chunk, NULL, NULL, NULL), 0);
  CHECK_EQ(blosc2_decompress(chunk, cbytes, restored, NBYTES), NBYTES);
  CHECK_BYTES(restored, items, NBYTES);
  CHECK_EQ(blosc2_getitem(chunk, cbytes, 24990, 10, restored, 40), 40);
  CHECK_BYTES(restored, items + 24990, 40);

  CHECK_EQ(blosc2_compress(10, 1, 4, items, NBYTES, chunk, ROOM), BLOSC2_ERROR_CODEC_PARAM);
  CHECK_EQ(blosc2_compress(-1, 1, 4, items, NBYTES, chunk, ROOM), BLOSC2_ERROR_CODEC_PARAM);
  CHECK_EQ(blosc2_compress(5, 1, 4, items, NBYTES, chunk, 31), BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED);
  CHECK_EQ(blosc2_compress(5, 1, 4, items, NBYTES, other, 64), 0);
  cbytes = blosc2_compress(5, 1, 4, items, NBYTES, chunk, ROOM);
  CHECK_EQ(blosc2_decompress(chunk, cbytes, restored, NBYTES - 1), BLOSC2_ERROR_WRITE_BUFFER);
  CHECK_EQ(blosc2_decompress(chunk, cbytes - 1, restored, NBYTES), BLOSC2_ERROR_INVALID_HEADER);
  CHECK_EQ(blosc2_decompress(chunk, 15, restored, NBYTES), BLOSC2_ERROR_READ_BUFFER);
  CHECK_EQ(blosc2_getitem(chunk, cbytes, -1, 1, restored, 4), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_EQ(blosc2_getitem(chunk, cbytes, NITEMS, 1, restored, 4), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_EQ(blosc2_getitem(chunk, cbytes, 0, 2, restored, 4), BLOSC2_ERROR_WRITE_BUFFER);
  CHECK_EQ(blosc2_getitem(chunk, cbytes, 12345678, 0, restored, 4), 0);

  uint8_t bad[16] = {0};
  size_t size = 9;
  CHECK_EQ(blosc2_cbuffer_sizes(bad, &nbytes, &held, &blocksize), BLOSC2_ERROR_INVALID_HEADER);
  CHECK(nbytes == 0 && held == 0 && blocksize == 0);
  CHECK(blosc2_cbuffer_complib(bad) == NULL);
  CHECK_EQ(blosc1_cbuffer_validate(bad, 15, &size), BLOSC2_ERROR_WRITE_BUFFER);
  CHECK_EQ(size, 0);
  CHECK_EQ(blosc1_cbuffer_validate(bad, 16, &size), BLOSC2_ERROR_INVALID_HEADER);
}

static void incompressible_and_small(void) {
  static uint8_t noise[NBYTES];
  fill_noise(noise, NBYTES);
  CHECK_EQ(blosc2_compress(5, BLOSC_SHUFFLE, 4, noise, NBYTES, chunk, NBYTES + BLOSC2_MAX_OVERHEAD), NBYTES + 32);
  CHECK(chunk[BLOSC2_CHUNK_FLAGS] & BLOSC_MEMCPYED);
  check_restores(chunk, NBYTES + 32, noise, NBYTES, 1);
  CHECK_EQ(blosc2_compress(5, BLOSC_SHUFFLE, 4, noise, NBYTES, chunk, NBYTES + 31), 0);
  CHECK_EQ(blosc2_compress(0, BLOSC_SHUFFLE, 4, items, NBYTES, chunk, ROOM), NBYTES + 32);
  CHECK_EQ(chunk[BLOSC2_CHUNK_FLAGS], 0x07);
  CHECK_EQ(blosc2_compress(5, BLOSC_SHUFFLE, 4, noise, 31, chunk, ROOM), 31 + 32);
  check_restores(chunk, 31 + 32, noise, 31, 1);
  CHECK_EQ(blosc2_compress(5, BLOSC_SHUFFLE, 4, noise, 0, chunk, ROOM), 32);
  CHECK_EQ(blosc2_decompress(chunk, 32, restored, NBYTES), 0);
}

/* The golden vectors of abi.md 15, with BLOSC_BLOSC1_COMPAT and other variables in the environment. */
static void environment(void) {
  const union { uint16_t number; uint8_t bytes[2]; } order = {.number = 2};
  /* The last byte has flag 2 on a big-endian machine. */
  const uint8_t ZEROS[32] = {5, 1, 0x15, 4, 0x40, 0, 0, 0, 0x40, 0, 0, 0, 0x20, 0, 0, 0,
                                    0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, (uint8_t)(0x10 | order.bytes[1])};
  static const uint8_t zeros[64];
  CHECK_EQ(blosc2_compress(5, 1, 4, zeros, 64, chunk, ROOM), 32);
  CHECK_BYTES(chunk, ZEROS, 32);
  CHECK_EQ(setenv("BLOSC_BLOSC1_COMPAT", "", 1), 0);
  const int cbytes = blosc2_compress(5, 1, 4, zeros, 64, chunk, ROOM);
  if (ours) {
    /* The streams would be longer than the data, which are stored (chunk.md 3.6). */
    static const uint8_t STORED[16] = {5, 1, 0x13, 4, 0x40, 0, 0, 0, 0x40, 0, 0, 0, 0x50, 0, 0, 0};
    CHECK_EQ(cbytes, 80);
    CHECK_BYTES(chunk, STORED, 16);
  } else {
    static const uint8_t CODED[20] = {5, 1, 0x11, 4, 0x40, 0, 0, 0, 0x40, 0, 0, 0, 0x58, 0, 0, 0, 0x14, 0, 0, 0};
    CHECK_EQ(cbytes, 88);
    CHECK_BYTES(chunk, CODED, 20);
  }
  CHECK_EQ(unsetenv("BLOSC_BLOSC1_COMPAT"), 0);
  CHECK_EQ(blosc2_decompress(chunk, cbytes, restored, 64), 64);
  CHECK_BYTES(restored, zeros, 64);

  CHECK_EQ(setenv("BLOSC_CLEVEL", "99", 1), 0);
  CHECK_EQ(blosc2_compress(5, 1, 4, items, NBYTES, chunk, ROOM), BLOSC2_ERROR_CODEC_PARAM);
  CHECK_EQ(unsetenv("BLOSC_CLEVEL"), 0);
  CHECK_EQ(setenv("BLOSC_COMPRESSOR", "zstd", 1), 0);
  CHECK_EQ(setenv("BLOSC_TYPESIZE", "8", 1), 0);
  CHECK(blosc2_compress(5, 1, 4, items, NBYTES, chunk, ROOM) > 0);
  CHECK_EQ(unsetenv("BLOSC_COMPRESSOR"), 0);
  CHECK_EQ(unsetenv("BLOSC_TYPESIZE"), 0);
  CHECK_STR(blosc2_cbuffer_complib(chunk), "Zstd");
  CHECK_EQ(chunk[BLOSC2_CHUNK_TYPESIZE], 8);
  CHECK_STR(blosc1_get_compressor(), "zstd");
  CHECK_EQ(blosc1_set_compressor("blosclz"), BLOSC_BLOSCLZ);
  CHECK_EQ(setenv("BLOSC_NTHREADS", "-1", 1), 0);
  CHECK_EQ(blosc2_decompress(chunk, ROOM, restored, NBYTES), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_EQ(unsetenv("BLOSC_NTHREADS"), 0);
}

/* ---- contexts -------------------------------------------------------------------------------- */

static void contexts(void) {
  static const int FILTERS[] = {BLOSC_NOFILTER, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE};
  for (int c = 0; c < NCODECS; c++) {
    for (int f = 0; f < 3; f++) {
      for (int16_t nthreads = 1; nthreads <= 2; nthreads++) {
        blosc2_cparams cparams = cparams_for(CODECS[c], FILTERS[f]);
        cparams.nthreads = nthreads;
        int32_t cbytes = make_chunk(cparams);
        CHECK_EQ(chunk[0x16], CODECS[c]);
        check_restores(chunk, cbytes, items, NBYTES, 1);
        check_restores(chunk, cbytes, items, NBYTES, 2);
      }
    }
  }
  /* Two filters at once, and a level for each of 0..9, in one context that is reused. */
  for (int clevel = 0; clevel <= 9; clevel++) {
    blosc2_cparams cparams = cparams_for(BLOSC_LZ4, BLOSC_SHUFFLE);
    cparams.filters[4] = BLOSC_DELTA;
    cparams.clevel = (uint8_t)clevel;
    blosc2_context *context = compressor(cparams);
    for (int32_t nbytes = NBYTES; nbytes > 4; nbytes /= 3) {
      int cbytes = blosc2_compress_ctx(context, items, nbytes / 4 * 4, chunk, ROOM);
      CHECK(cbytes > 0);
      check_restores(chunk, cbytes, items, nbytes / 4 * 4, 1);
    }
    blosc2_free_ctx(context);
  }
}

static void context_parameters(void) {
  blosc2_cparams wanted = cparams_for(BLOSC_ZSTD, BLOSC_BITSHUFFLE), got;
  wanted.clevel = 3;
  wanted.nthreads = 2;
  wanted.splitmode = BLOSC_NEVER_SPLIT;
  wanted.filters[0] = BLOSC_TRUNC_PREC;
  wanted.filters_meta[0] = 20;
  blosc2_context *cctx = compressor(wanted);
  memset(&got, 0x5A, sizeof(got));
  void *poison = got.tuner_params;
  CHECK_EQ(blosc2_ctx_get_cparams(cctx, &got), 0);
  CHECK_EQ(got.compcode, BLOSC_ZSTD);
  CHECK_EQ(got.clevel, 3);
  CHECK_EQ(got.typesize, 4);
  CHECK_EQ(got.nthreads, 2);
  CHECK_EQ(got.blocksize, BLOCKSIZE);
  CHECK_EQ(got.splitmode, BLOSC_NEVER_SPLIT);
  CHECK_BYTES(got.filters, wanted.filters, BLOSC2_MAX_FILTERS);
  CHECK_BYTES(got.filters_meta, wanted.filters_meta, BLOSC2_MAX_FILTERS);
  CHECK(got.prefilter == NULL && got.tuner_params == poison && got.filter_params[0] == poison);
  blosc2_context *dctx = decompressor(2);
  blosc2_dparams dparams;
  CHECK_EQ(blosc2_ctx_get_dparams(dctx, &dparams), 0);
  CHECK_EQ(dparams.nthreads, 2);
  CHECK_EQ(dparams.typesize, 0);

  /* A context of one kind rejects calls of the other kind. */
  CHECK_EQ(blosc2_compress_ctx(dctx, items, NBYTES, chunk, ROOM), BLOSC2_ERROR_INVALID_PARAM);
  int32_t cbytes = make_chunk(cparams_for(BLOSC_LZ4, BLOSC_SHUFFLE));
  CHECK_EQ(blosc2_decompress_ctx(cctx, chunk, cbytes, restored, NBYTES), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_EQ(blosc2_decompress_ctx(dctx, chunk, cbytes, restored, NBYTES), NBYTES);
  CHECK_EQ(blosc2_ctx_get_dparams(dctx, &dparams), 0);
  CHECK_EQ(dparams.typesize, 4);
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);

  /* Parameters that are rejected. */
  blosc2_cparams bad = cparams_for(BLOSC_LZ4, 17);
  CHECK(blosc2_create_cctx(bad) == NULL);
  bad = cparams_for(BLOSC_LZ4, BLOSC_SHUFFLE);
  bad.tuner_id = 99;
  CHECK(blosc2_create_cctx(bad) == NULL);
  bad.tuner_id = 0;
  bad.clevel = 10;
  cctx = compressor(bad);
  CHECK_EQ(blosc2_compress_ctx(cctx, items, NBYTES, chunk, ROOM), BLOSC2_ERROR_CODEC_PARAM);
  blosc2_free_ctx(cctx);
  /* Contexts stay usable after blosc2_destroy(). */
  cctx = compressor(cparams_for(BLOSC_LZ4, BLOSC_SHUFFLE));
  blosc2_destroy();
  CHECK_EQ(blosc2_compress_ctx(cctx, items, NBYTES, chunk, ROOM), cbytes);
  blosc2_free_ctx(cctx);
  blosc2_init();
  if (ours) {
    blosc2_free_ctx(NULL);
    bad = cparams_for(BLOSC_LZ4, BLOSC_SHUFFLE);
    bad.typesize = 0;
    cctx = blosc2_create_cctx(bad);
    if (cctx != NULL) {
      CHECK_EQ(blosc2_compress_ctx(cctx, items, NBYTES, chunk, ROOM), BLOSC2_ERROR_INVALID_PARAM);
      blosc2_free_ctx(cctx);
    }
  }
}

static void partial_reads(void) {
  blosc2_context *context = decompressor(1);
  for (int c = 0; c < NCODECS; c++) {
    int32_t cbytes = make_chunk(cparams_for(CODECS[c], BLOSC_SHUFFLE));
    for (int start = 0; start < NITEMS; start += 3333) {
      for (int n = 1; start + n <= NITEMS; n = n * 5 + 1) {
        memset(restored, 0xEE, sizeof(restored));
        CHECK_EQ(blosc2_getitem_ctx(context, chunk, cbytes, start, n, restored, ROOM), n * 4);
        CHECK_BYTES(restored, items + start, n * 4);
        CHECK_EQ(((uint8_t *)restored)[n * 4], 0xEE);
        CHECK_EQ(blosc2_getitem_bytes_ctx(context, chunk, cbytes, start * 4, n * 4, restored, n * 4), n * 4);
        CHECK_BYTES(restored, items + start, n * 4);
      }
    }
    CHECK_EQ(blosc2_getitem_bytes_ctx(context, chunk, cbytes, 2, 4, restored, 4), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_EQ(blosc2_getitem_ctx(context, chunk, cbytes, 0, -1, restored, 4), BLOSC2_ERROR_INVALID_PARAM);
  }
  if (ours) { /* chunk.md 10.4 and 10.5 */
    blosc2_cparams cparams = cparams_for(BLOSC_LZ4, BLOSC_SHUFFLE);
    cparams.filters[4] = BLOSC_DELTA;
    int32_t cbytes = make_chunk(cparams);
    CHECK_EQ(blosc2_getitem_ctx(context, chunk, cbytes, 1024, 2048, restored, ROOM), BLOCKSIZE);
    CHECK_BYTES(restored, items + 1024, BLOCKSIZE);
  }
  blosc2_free_ctx(context);
}

static void masks(void) {
  int32_t cbytes = make_chunk(cparams_for(BLOSC_LZ4, BLOSC_SHUFFLE));
  bool mask[NBLOCKS];
  for (int i = 0; i < NBLOCKS; i++) {
    mask[i] = i % 3 == 1;
  }
  for (int16_t nthreads = 1; nthreads <= 2; nthreads++) {
    blosc2_context *context = decompressor(nthreads);
    CHECK_EQ(blosc2_set_maskout(context, mask, NBLOCKS), 0);
    memset(restored, 0xEE, sizeof(restored));
    CHECK_EQ(blosc2_decompress_ctx(context, chunk, cbytes, restored, NBYTES), NBYTES);
    for (int32_t i = 0; i < NBYTES; i++) {
      uint8_t wanted = mask[i / BLOCKSIZE] ? 0xEE : ((uint8_t *)items)[i];
      CHECK_EQ(((uint8_t *)restored)[i], wanted);
    }
    /* The mask applies to one call; a mask of another length is rejected, and discarded too. */
    CHECK_EQ(blosc2_decompress_ctx(context, chunk, cbytes, restored, NBYTES), NBYTES);
    CHECK_BYTES(restored, items, NBYTES);
    CHECK_EQ(blosc2_set_maskout(context, mask, NBLOCKS - 1), 0);
    CHECK_EQ(blosc2_decompress_ctx(context, chunk, cbytes, restored, NBYTES), BLOSC2_ERROR_DATA);
    CHECK_EQ(blosc2_decompress_ctx(context, chunk, cbytes, restored, NBYTES), NBYTES);
    blosc2_free_ctx(context);
  }
}

static void dictionaries(void) {
  static const int WITH_DICTIONARY[] = {BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZSTD};
  for (int i = 0; i < 3; i++) {
    blosc2_cparams cparams = cparams_for(WITH_DICTIONARY[i], BLOSC_SHUFFLE);
    cparams.use_dict = 1;
    int32_t cbytes = make_chunk(cparams);
    CHECK_EQ(chunk[0x1F] & BLOSC2_USEDICT, BLOSC2_USEDICT);
    check_restores(chunk, cbytes, items, NBYTES, 1);
    check_restores(chunk, cbytes, items, NBYTES, 2);
    if (ours) {
      CHECK_EQ(blosc2_getitem(chunk, cbytes, 20000, 10, restored, 40), 40);
      CHECK_BYTES(restored, items + 20000, 40);
    }
  }
  blosc2_cparams cparams = cparams_for(BLOSC_BLOSCLZ, BLOSC_SHUFFLE);
  cparams.use_dict = 1;
  blosc2_context *context = compressor(cparams);
  CHECK_EQ(blosc2_compress_ctx(context, items, NBYTES, chunk, ROOM), BLOSC2_ERROR_CODEC_PARAM);
  blosc2_free_ctx(context);
}

static void instrumentation(void) {
  blosc2_cparams cparams = cparams_for(BLOSC_ZSTD, BLOSC_SHUFFLE);
  cparams.instr_codec = true;
  cparams.splitmode = BLOSC_NEVER_SPLIT;
  int32_t cbytes = make_chunk(cparams), nbytes = 0;
  CHECK_EQ(chunk[0x1F] & BLOSC2_INSTR_CODEC, BLOSC2_INSTR_CODEC);
  CHECK_EQ(blosc2_cbuffer_sizes(chunk, &nbytes, NULL, NULL), 0);
  CHECK_EQ(nbytes, NBLOCKS * (int)sizeof(blosc2_instr));
  blosc2_instr records[NBLOCKS];
  CHECK_EQ(blosc2_decompress(chunk, cbytes, records, (int32_t)sizeof(records)), nbytes);
  for (int i = 0; i < NBLOCKS; i++) {
    CHECK(records[i].cratio > 1 && records[i].cspeed > 0);
  }
}

/* ---- special and variable-length chunks ------------------------------------------------------ */

static void special_chunks(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  const int32_t value = 0x01020304;
  CHECK_EQ(blosc2_chunk_zeros(cparams, 400, chunk, ROOM), 32);
  CHECK_EQ(chunk[0x1F], BLOSC2_SPECIAL_ZERO << 4);
  CHECK_EQ(blosc2_decompress(chunk, 32, restored, 400), 400);
  for (int i = 0; i < 100; i++) {
    CHECK_EQ(restored[i], 0);
  }
  CHECK_EQ(blosc2_chunk_nans(cparams, 400, chunk, ROOM), 32);
  CHECK_EQ(chunk[0x1F], BLOSC2_SPECIAL_NAN << 4);
  CHECK_EQ(blosc2_decompress(chunk, 32, restored, 400), 400);
  CHECK_EQ(restored[99], 0x7FC00000);
  CHECK_EQ(blosc2_chunk_uninit(cparams, 400, chunk, ROOM), 32);
  CHECK_EQ(chunk[0x1F], BLOSC2_SPECIAL_UNINIT << 4);
  restored[7] = 4711;
  CHECK_EQ(blosc2_decompress(chunk, 32, restored, 400), 400);
  CHECK_EQ(restored[7], 4711);
  CHECK_EQ(blosc2_chunk_repeatval(cparams, 400, chunk, ROOM, &value), 36);
  CHECK_EQ(chunk[0x1F], BLOSC2_SPECIAL_VALUE << 4);
  CHECK_EQ(blosc2_decompress(chunk, 36, restored, 400), 400);
  CHECK_EQ(restored[0], value);
  CHECK_EQ(restored[99], value);
  CHECK_EQ(blosc2_getitem(chunk, 36, 50, 3, restored, 12), 12);
  CHECK_EQ(restored[2], value);
  CHECK_EQ(blosc2_chunk_zeros(cparams, 5, chunk, ROOM), BLOSC2_ERROR_DATA);
  CHECK_EQ(blosc2_chunk_zeros(cparams, 400, chunk, 31), BLOSC2_ERROR_DATA);
  CHECK_EQ(blosc2_chunk_repeatval(cparams, 400, chunk, 35, &value), BLOSC2_ERROR_DATA);
  CHECK_EQ(blosc2_chunk_zeros(cparams, 0, chunk, ROOM), 32);
}

static void variable_length_blocks(void) {
  const void *sources[] = {items, items + 100, items + 5000};
  const int32_t sizes[] = {37, 1000, 40000};
  const int32_t total = 41037;
  int32_t nblocks = -1;
  for (int c = 0; c < NCODECS; c++) {
    blosc2_cparams cparams = cparams_for(CODECS[c], BLOSC_SHUFFLE);
    cparams.blocksize = 0;
    blosc2_context *cctx = compressor(cparams);
    int cbytes = blosc2_vlcompress_ctx(cctx, sources, sizes, 3, chunk, ROOM);
    CHECK(cbytes > 0);
    CHECK_EQ(chunk[BLOSC2_CHUNK_VERSION], BLOSC2_VERSION_FORMAT_VL_BLOCKS);
    CHECK_EQ(chunk[BLOSC2_CHUNK_BLOSC2_FLAGS2], BLOSC2_VL_BLOCKS);
    CHECK_EQ(blosc2_vlcompress_ctx(cctx, sources, sizes, 0, other, ROOM), BLOSC2_ERROR_INVALID_PARAM);
    blosc2_free_ctx(cctx);
    CHECK_EQ(blosc2_vlchunk_get_nblocks(chunk, cbytes, &nblocks), 0);
    CHECK_EQ(nblocks, 3);

    blosc2_context *dctx = decompressor(2);
    void *blocks[4] = {NULL, NULL, NULL, NULL};
    int32_t got[4] = {0, 0, 0, 0};
    CHECK_EQ(blosc2_vldecompress_ctx(dctx, chunk, cbytes, blocks, got, 2), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_EQ(blosc2_vldecompress_ctx(dctx, chunk, cbytes, blocks, got, 4), 3);
    int32_t offset = 0;
    CHECK_EQ(blosc2_decompress_ctx(dctx, chunk, cbytes, restored, ROOM), total);
    for (int i = 0; i < 3; i++) {
      CHECK_EQ(got[i], sizes[i]);
      CHECK_BYTES(blocks[i], sources[i], sizes[i]);
      CHECK_BYTES((uint8_t *)restored + offset, sources[i], sizes[i]);
      offset += sizes[i];
      free(blocks[i]);
      uint8_t *block = NULL;
      int32_t size = -1;
      CHECK_EQ(blosc2_vldecompress_block_ctx(dctx, chunk, cbytes, i, &block, &size), sizes[i]);
      CHECK_EQ(size, sizes[i]);
      CHECK_BYTES(block, sources[i], sizes[i]);
      free(block);
    }
    uint8_t *block = NULL;
    int32_t size = -1;
    CHECK_EQ(blosc2_vldecompress_block_ctx(dctx, chunk, cbytes, 3, &block, &size), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_EQ(blosc2_getitem_ctx(dctx, chunk, cbytes, 0, 1, restored, 4), BLOSC2_ERROR_INVALID_PARAM);
    blosc2_free_ctx(dctx);
  }
  int32_t cbytes = make_chunk(cparams_for(BLOSC_LZ4, BLOSC_SHUFFLE));
  CHECK_EQ(blosc2_vlchunk_get_nblocks(chunk, cbytes, &nblocks), BLOSC2_ERROR_INVALID_PARAM);
}

/* ---- utilities ------------------------------------------------------------------------------- */

static void utilities(void) {
  for (int32_t typesize = 1; typesize <= 256; typesize = typesize * 2 + 1) {
    CHECK_EQ(blosc2_shuffle(typesize, NBYTES, items, chunk), NBYTES);
    CHECK_EQ(blosc2_unshuffle(typesize, NBYTES, chunk, restored), NBYTES);
    CHECK_BYTES(restored, items, NBYTES);
    CHECK_EQ(blosc2_bitshuffle(typesize, NBYTES, items, chunk), NBYTES);
    CHECK_EQ(blosc2_bitunshuffle(typesize, NBYTES, chunk, restored), NBYTES);
    CHECK_BYTES(restored, items, NBYTES);
  }
  CHECK_EQ(blosc2_shuffle(257, NBYTES, items, chunk), BLOSC2_ERROR_INVALID_PARAM);
  int64_t shape[] = {2, 3, 4}, strides[] = {12, 4, 1}, index[3], flat = -1;
  blosc2_unidim_to_multidim(3, shape, 17, index);
  CHECK(index[0] == 1 && index[1] == 1 && index[2] == 1);
  blosc2_multidim_to_unidim(index, 3, strides, &flat);
  CHECK_EQ(flat, 17);
  blosc_timestamp_t before, after;
  blosc_set_timestamp(&before);
  blosc_set_timestamp(&after);
  CHECK(blosc_elapsed_nsecs(before, after) >= 0);
  before.tv_sec = 5;
  before.tv_nsec = 900000000;
  after.tv_sec = 7;
  after.tv_nsec = 100000000;
  CHECK(blosc_elapsed_nsecs(before, after) == 1200000000.0);
  CHECK(blosc_elapsed_secs(before, after) == (double)1.2000000000000002);
}

int main(int argc, char **argv) {
  ours = asked_for_ours(argc, argv);
  fill_series(items, NITEMS);
  blosc2_init();
  RUN(versions_and_names);
  RUN(defaults);
  RUN(global_settings);
  RUN(blosc1_functions);
  RUN(blosc2_functions);
  RUN(incompressible_and_small);
  RUN(environment);
  RUN(contexts);
  RUN(context_parameters);
  RUN(partial_reads);
  RUN(masks);
  RUN(dictionaries);
  RUN(instrumentation);
  RUN(special_chunks);
  RUN(variable_length_blocks);
  RUN(utilities);
  blosc2_destroy();
  return EXIT_SUCCESS;
}

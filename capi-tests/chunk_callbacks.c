/*
 * All callbacks that the library runs while it processes chunks: prefilters and postfilters, user codecs and filters,
 * tuners, and a thread pool of the caller (chunk.md 3.10, 4.3, 5.4, 6.5; abi.md 4.1).
 *
 *     chunk_callbacks [--ours]
 *
 * The reference library passes too; --ours adds checks that the reference is known to fail.
 */

#include <blosc2.h>

#include "check.h"

enum {
  NITEMS = 250000,
  NBYTES = NITEMS * 4,
  ROOM = NBYTES + 4096,
  BLOCKSIZE = 65536,
  NBLOCKS = 16,
  LEFTOVER = NBYTES % BLOCKSIZE,
  MY_CODEC = 200,
  MY_FILTER = 201,
  MY_TUNER = 202,
  /* Offset in a context of the pointer that a tuner's init stores; private, but tuners rely on it (abi.md 4.3). */
  TUNER_PARAMS_OFFSET = sizeof(void *) == 8 ? 896 : 488
};

static int ours;
static int32_t items[NITEMS], doubled[NITEMS], restored[ROOM / 4];
static uint8_t chunk[ROOM];

static blosc2_cparams parameters(int16_t nthreads) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = BLOSC_LZ4;
  cparams.typesize = 4;
  cparams.blocksize = BLOCKSIZE;
  cparams.nthreads = nthreads;
  return cparams;
}

static int compress_with(blosc2_cparams cparams, const void *source) {
  blosc2_context *context = blosc2_create_cctx(cparams);
  CHECK(context != NULL);
  int rc = blosc2_compress_ctx(context, source, NBYTES, chunk, ROOM);
  blosc2_free_ctx(context);
  return rc;
}

static int decompress_with(int16_t nthreads, int32_t cbytes) {
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = nthreads;
  blosc2_context *context = blosc2_create_dctx(dparams);
  CHECK(context != NULL);
  memset(restored, 0xEE, sizeof(restored));
  int rc = blosc2_decompress_ctx(context, chunk, cbytes, restored, NBYTES);
  blosc2_free_ctx(context);
  return rc;
}

/* ---- prefilter and postfilter ---------------------------------------------------------------- */

/* The arguments of the callbacks, one entry for each block: threads do not share entries. */
typedef struct {
  int calls[NBLOCKS];
  int fail; /* the code to return, 0 for none */
} journal;

static int double_items(blosc2_prefilter_params *params) {
  journal *seen = params->user_data;
  CHECK(params->nblock >= 0 && params->nblock < NBLOCKS);
  seen->calls[params->nblock]++;
  CHECK_EQ(params->output_offset, params->nblock * BLOCKSIZE);
  CHECK_EQ(params->output_size, params->nblock == NBLOCKS - 1 ? LEFTOVER : BLOCKSIZE);
  CHECK_EQ(params->output_typesize, 4);
  CHECK_EQ(params->nchunk, -1);
  CHECK(params->tid >= 0 && params->tid < 2);
  CHECK(params->ttmp != NULL && params->ttmp_nbytes > BLOCKSIZE);
  CHECK(params->ctx != NULL);
  const int32_t *input = (const int32_t *)params->input;
  int32_t *output = (int32_t *)params->output;
  for (int i = 0; i < params->output_size / 4; i++) {
    output[i] = input[i] * 2;
  }
  return seen->fail;
}

static void prefilter(void) {
  for (int16_t nthreads = 1; nthreads <= 2; nthreads++) {
    for (int clevel = 0; clevel <= 5; clevel += 5) {
      journal seen = {{0}, 0};
      blosc2_prefilter_params preparams = {0};
      preparams.user_data = &seen;
      blosc2_cparams cparams = parameters(nthreads);
      cparams.clevel = (uint8_t)clevel;
      cparams.prefilter = double_items;
      cparams.preparams = &preparams;
      int cbytes = compress_with(cparams, items);
      CHECK(cbytes > 0);
      for (int i = 0; i < NBLOCKS; i++) {
        CHECK_EQ(seen.calls[i], 1);
      }
      CHECK_EQ(decompress_with(1, cbytes), NBYTES);
      CHECK_BYTES(restored, doubled, NBYTES);
      seen.fail = 1;
      CHECK_EQ(compress_with(cparams, items), BLOSC2_ERROR_FILTER_PIPELINE);
    }
  }
}

static int halve_items(blosc2_postfilter_params *params) {
  journal *seen = params->user_data;
  CHECK(params->nblock >= 0 && params->nblock < NBLOCKS);
  seen->calls[params->nblock]++;
  CHECK_EQ(params->offset, params->nblock * BLOCKSIZE);
  CHECK_EQ(params->size, params->nblock == NBLOCKS - 1 ? LEFTOVER : BLOCKSIZE);
  CHECK_EQ(params->typesize, 4);
  CHECK_EQ(params->nchunk, -1);
  CHECK(params->tid >= 0 && params->tid < 2);
  CHECK(params->ctx != NULL);
  const int32_t *input = (const int32_t *)params->input;
  int32_t *output = (int32_t *)params->output;
  for (int i = 0; i < params->size / 4; i++) {
    output[i] = input[i] / 2;
  }
  return seen->fail;
}

static void postfilter(void) {
  for (int16_t nthreads = 1; nthreads <= 2; nthreads++) {
    for (int clevel = 0; clevel <= 5; clevel += 5) {
      journal seen = {{0}, 0};
      blosc2_postfilter_params postparams = {0};
      postparams.user_data = &seen;
      blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
      dparams.nthreads = nthreads;
      dparams.postfilter = halve_items;
      dparams.postparams = &postparams;
      blosc2_cparams cparams = parameters(1);
      cparams.clevel = (uint8_t)clevel;
      int cbytes = compress_with(cparams, doubled);
      CHECK(cbytes > 0);
      blosc2_context *context = blosc2_create_dctx(dparams);
      CHECK(context != NULL);
      CHECK_EQ(blosc2_decompress_ctx(context, chunk, cbytes, restored, NBYTES), NBYTES);
      CHECK_BYTES(restored, items, NBYTES);
      for (int i = 0; i < NBLOCKS; i++) {
        CHECK_EQ(seen.calls[i], 1);
      }
      /* A partial read runs the postfilter on the whole block; a masked block is not written. */
      CHECK_EQ(blosc2_getitem_ctx(context, chunk, cbytes, 40000, 7, restored, 28), 28);
      CHECK_BYTES(restored, items + 40000, 28);
      CHECK_EQ(seen.calls[40000 * 4 / BLOCKSIZE], 2);
      bool mask[NBLOCKS] = {true};
      CHECK_EQ(blosc2_set_maskout(context, mask, NBLOCKS), 0);
      CHECK_EQ(blosc2_decompress_ctx(context, chunk, cbytes, restored, NBYTES), NBYTES);
      CHECK_EQ(seen.calls[0], 1);
      /* The postfilter also runs on special chunks. */
      CHECK_EQ(blosc2_chunk_zeros(parameters(1), NBYTES, chunk, ROOM), 32);
      CHECK_EQ(blosc2_decompress_ctx(context, chunk, 32, restored, NBYTES), NBYTES);
      CHECK_EQ(seen.calls[0], 2);
      seen.fail = 1;
      CHECK_EQ(blosc2_decompress_ctx(context, chunk, 32, restored, NBYTES), BLOSC2_ERROR_POSTFILTER);
      blosc2_free_ctx(context);
    }
  }
}

/* ---- user codec and filter ------------------------------------------------------------------- */

static int codec_refuses; /* the encoder returns that it cannot compress */

/* Encodes runs of one byte as pairs of a count and a value. `meta` is mixed into the values. */
static int encode_runs(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
                       blosc2_cparams *cparams, const void *source) {
  CHECK_EQ(cparams->compcode, MY_CODEC);
  CHECK_EQ(cparams->typesize, 4);
  CHECK(source == items);
  int32_t written = 0;
  for (int32_t i = 0; i < input_len && !codec_refuses;) {
    int32_t count = 1;
    while (count < 255 && i + count < input_len && input[i + count] == input[i]) {
      count++;
    }
    if (written + 2 > output_len) {
      return 0;
    }
    output[written++] = (uint8_t)count;
    output[written++] = input[i] ^ meta;
    i += count;
  }
  return written;
}

static int decode_runs(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
                       blosc2_dparams *dparams, const void *source) {
  CHECK(dparams != NULL);
  CHECK(source == chunk);
  int32_t written = 0;
  for (int32_t i = 0; i + 1 < input_len; i += 2) {
    if (written + input[i] > output_len) {
      return 0;
    }
    memset(output + written, input[i + 1] ^ meta, input[i]);
    written += input[i];
  }
  return written;
}

/* Adds `meta` to every byte. */
static int add_meta(const uint8_t *src, uint8_t *dest, int32_t size, uint8_t meta, blosc2_cparams *cparams, uint8_t id) {
  CHECK_EQ(id, MY_FILTER);
  CHECK_EQ(cparams->typesize, 4);
  for (int32_t i = 0; i < size; i++) {
    dest[i] = (uint8_t)(src[i] + meta);
  }
  return 0;
}

static int subtract_meta(const uint8_t *src, uint8_t *dest, int32_t size, uint8_t meta, blosc2_dparams *dparams,
                         uint8_t id) {
  CHECK_EQ(id, MY_FILTER);
  CHECK(dparams != NULL);
  for (int32_t i = 0; i < size; i++) {
    dest[i] = (uint8_t)(src[i] - meta);
  }
  return 0;
}

static void user_codec(void) {
  blosc2_codec codec = {0};
  codec.compcode = MY_CODEC;
  codec.compname = (char *)"runs";
  codec.complib = MY_CODEC;
  codec.version = 3;
  codec.encoder = encode_runs;
  codec.decoder = decode_runs;
  CHECK_EQ(blosc2_register_codec(&codec), 0);
  CHECK_EQ(blosc2_register_codec(&codec), 0);
  CHECK_EQ(blosc2_compname_to_compcode("runs"), MY_CODEC);
  codec.compname = (char *)"other";
  CHECK(blosc2_register_codec(&codec) < 0);
  codec.compcode = 159;
  CHECK(blosc2_register_codec(&codec) < 0);
  const char *name = NULL;
  CHECK_EQ(blosc2_compcode_to_compname(MY_CODEC, &name), MY_CODEC);
  CHECK_STR(name, "runs");
  char *library = NULL, *version = NULL;
  CHECK_EQ(blosc2_get_complib_info("runs", &library, &version), MY_CODEC);
  CHECK_STR(library, "runs");
  free(library);
  free(version);

  for (int16_t nthreads = 1; nthreads <= 2; nthreads++) {
    blosc2_cparams cparams = parameters(nthreads);
    cparams.compcode = MY_CODEC;
    cparams.compcode_meta = 0x77;
    codec_refuses = 0;
    int cbytes = compress_with(cparams, items);
    CHECK(cbytes > 0 && cbytes < NBYTES);
    CHECK_EQ(chunk[BLOSC2_CHUNK_VERSIONLZ], 3);
    CHECK_EQ(chunk[BLOSC2_CHUNK_FLAGS] >> 5, BLOSC_UDCODEC_FORMAT);
    CHECK_EQ(chunk[0x16], MY_CODEC);
    CHECK_EQ(chunk[0x17], 0x77);
    CHECK_EQ(decompress_with(1, cbytes), NBYTES);
    CHECK_BYTES(restored, items, NBYTES);
    CHECK_EQ(decompress_with(2, cbytes), NBYTES);
    CHECK_BYTES(restored, items, NBYTES);
    codec_refuses = 1;
    cbytes = compress_with(cparams, items);
    CHECK(cbytes >= NBYTES);
    CHECK_EQ(decompress_with(1, cbytes), NBYTES);
    CHECK_BYTES(restored, items, NBYTES);
  }
  /* A codec that was not registered. */
  blosc2_cparams cparams = parameters(1);
  cparams.compcode = MY_CODEC + 1;
  CHECK_EQ(compress_with(cparams, items), BLOSC2_ERROR_CODEC_SUPPORT);
}

static void user_filter(void) {
  blosc2_filter filter = {0};
  filter.id = MY_FILTER;
  filter.name = (char *)"add";
  filter.version = 1;
  filter.forward = add_meta;
  filter.backward = subtract_meta;
  CHECK_EQ(blosc2_register_filter(&filter), 0);
  CHECK_EQ(blosc2_register_filter(&filter), 0);
  filter.name = (char *)"other";
  CHECK(blosc2_register_filter(&filter) < 0);
  for (int16_t nthreads = 1; nthreads <= 2; nthreads++) {
    blosc2_cparams cparams = parameters(nthreads);
    cparams.filters[4] = MY_FILTER;
    cparams.filters_meta[4] = 19;
    int cbytes = compress_with(cparams, items);
    CHECK(cbytes > 0 && cbytes < NBYTES);
    CHECK_EQ(decompress_with(1, cbytes), NBYTES);
    CHECK_BYTES(restored, items, NBYTES);
    CHECK_EQ(decompress_with(2, cbytes), NBYTES);
    CHECK_BYTES(restored, items, NBYTES);
    /* A chunk whose filter was not registered is an error. */
    CHECK_EQ(chunk[0x10 + 4], MY_FILTER);
    chunk[0x10 + 4] = MY_FILTER + 1;
    CHECK_EQ(decompress_with(1, cbytes), BLOSC2_ERROR_FILTER_PIPELINE);
  }
}

/* ---- tuner ----------------------------------------------------------------------------------- */

typedef struct {
  int inits, next_blocksizes, next_cparams, updates, frees;
  int stateful; /* init stores the state in the context */
  int fail;     /* return value of the next_* hooks */
} tuner_state;

static tuner_state tuned;

static int tuner_init(void *config, blosc2_context *cctx, blosc2_context *dctx) {
  CHECK(config == &tuned);
  CHECK(cctx != NULL && dctx == NULL);
  tuned.inits++;
  if (tuned.stateful) {
    memcpy((char *)cctx + TUNER_PARAMS_OFFSET, &config, sizeof(config));
  }
  return 0;
}

static int tuner_next_blocksize(blosc2_context *context) {
  CHECK(context != NULL);
  tuned.next_blocksizes++;
  return tuned.fail;
}

static int tuner_next_cparams(blosc2_context *context) {
  CHECK(context != NULL);
  tuned.next_cparams++;
  return tuned.fail;
}

static int tuner_update(blosc2_context *context, double seconds) {
  CHECK(context != NULL && seconds >= 0);
  tuned.updates++;
  return 0;
}

static int tuner_free(blosc2_context *context) {
  CHECK(context != NULL);
  tuned.frees++;
  return 0;
}

static void tuner(void) {
  blosc2_tuner hooks = {tuner_init, tuner_next_blocksize, tuner_next_cparams, tuner_update, tuner_free, MY_TUNER,
                        (char *)"counting"};
  CHECK_EQ(blosc2_register_tuner(&hooks), 0);
  CHECK_EQ(blosc2_register_tuner(&hooks), 0);
  hooks.name = (char *)"other";
  CHECK(blosc2_register_tuner(&hooks) < 0);
  for (int stateful = 0; stateful <= 1; stateful++) {
    memset(&tuned, 0, sizeof(tuned));
    tuned.stateful = stateful;
    blosc2_cparams cparams = parameters(1);
    cparams.tuner_id = MY_TUNER;
    cparams.tuner_params = &tuned;
    blosc2_context *context = blosc2_create_cctx(cparams);
    CHECK(context != NULL);
    CHECK_EQ(tuned.inits, 1);
    for (int i = 0; i < 3; i++) {
      int cbytes = blosc2_compress_ctx(context, items, NBYTES, chunk, ROOM);
      CHECK(cbytes > 0);
      CHECK_EQ(decompress_with(1, cbytes), NBYTES);
      CHECK_BYTES(restored, items, NBYTES);
    }
    CHECK_EQ(tuned.next_blocksizes, stateful ? 0 : 3);
    CHECK_EQ(tuned.next_cparams, stateful ? 3 : 0);
    CHECK_EQ(tuned.updates, stateful ? 3 : 0);
    tuned.fail = -1;
    CHECK_EQ(blosc2_compress_ctx(context, items, NBYTES, chunk, ROOM), BLOSC2_ERROR_TUNER);
    blosc2_free_ctx(context);
    CHECK_EQ(tuned.frees, stateful ? 1 : 0);
    CHECK_EQ(tuned.inits, 1);
  }
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct {
  int calls, jobs;
} pool;

/* Runs the jobs one after another in the calling thread. */
static void run_jobs(void *data, void (*job)(void *), int njobs, size_t size, void *jobs) {
  pool *mine = data;
  mine->calls++;
  mine->jobs += njobs;
  for (int i = 0; i < njobs; i++) {
    job((char *)jobs + (size_t)i * size);
  }
}

static void threads_callback(void) {
  static uint8_t serial[ROOM];
  int cbytes = compress_with(parameters(1), items);
  CHECK(cbytes > 0);
  memcpy(serial, chunk, (size_t)cbytes);
  pool mine = {0, 0};
  blosc2_set_threads_callback(run_jobs, &mine);
  CHECK_EQ(compress_with(parameters(4), items), cbytes);
  CHECK_EQ(mine.calls, 1);
  CHECK_EQ(mine.jobs, 4);
  CHECK_BYTES(chunk, serial, cbytes);
  CHECK_EQ(decompress_with(3, cbytes), NBYTES);
  CHECK_EQ(mine.calls, 2);
  CHECK_EQ(mine.jobs, 7);
  CHECK_BYTES(restored, items, NBYTES);
  CHECK_EQ(decompress_with(1, cbytes), NBYTES);
  CHECK_EQ(mine.calls, 2);
  blosc2_set_threads_callback(NULL, NULL);
  CHECK_EQ(decompress_with(3, cbytes), NBYTES);
  CHECK_BYTES(restored, items, NBYTES);
  CHECK_EQ(mine.calls, 2);
}

/* With three filters the reference writes into the caller's buffer (chunk.md 10.2). */
static void source_is_not_modified(void) {
  static int32_t source[NITEMS];
  memcpy(source, items, NBYTES);
  blosc2_cparams cparams = parameters(1);
  cparams.filters[2] = MY_FILTER;
  cparams.filters_meta[2] = 1;
  cparams.filters[3] = BLOSC_BITSHUFFLE;
  int cbytes = compress_with(cparams, source);
  CHECK_BYTES(source, items, NBYTES);
  CHECK_EQ(decompress_with(1, cbytes), NBYTES);
  CHECK_BYTES(restored, items, NBYTES);
}

/* Registering before init is kept, also by a second init, and NULL is rejected without a crash (abi.md 14). */
static void registration_without_init(void) {
  CHECK_EQ(blosc2_register_codec(NULL), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_EQ(blosc2_register_filter(NULL), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_EQ(blosc2_register_tuner(NULL), BLOSC2_ERROR_INVALID_PARAM);
  blosc2_filter filter = {0};
  filter.id = MY_FILTER + 7;
  filter.name = (char *)"early";
  filter.version = 1;
  filter.forward = add_meta;
  filter.backward = subtract_meta;
  CHECK_EQ(blosc2_register_filter(&filter), 0);
  blosc2_init();
  filter.name = (char *)"late";
  CHECK(blosc2_register_filter(&filter) < 0);
}

int main(int argc, char **argv) {
  ours = asked_for_ours(argc, argv);
  fill_series(items, NITEMS);
  for (int i = 0; i < NITEMS; i++) {
    doubled[i] = items[i] * 2;
  }
  if (ours) {
    RUN(registration_without_init);
  }
  blosc2_init();
  RUN(prefilter);
  RUN(postfilter);
  RUN(user_codec);
  RUN(user_filter);
  RUN(tuner);
  RUN(threads_callback);
  if (ours) {
    RUN(source_is_not_modified);
  }
  blosc2_destroy();
  return EXIT_SUCCESS;
}

/*
 * Eight threads register codecs, filters and tuners and use those of the other threads at the same time; one codec and
 * one filter come from plugin libraries, which the first thread that needs them loads. Every result is checked; to find
 * data races, `scripts/check-threads.sh` runs this program under a race detector.
 *
 *     registry_threads [CODEC-PLUGIN FILTER-PLUGIN]
 *
 * The arguments are names of plugins built from plugin.c, in the library path. The reference guarantees none of this.
 */

#define _POSIX_C_SOURCE 200809L

#include <blosc2.h>
#include <pthread.h>

#include "check.h"

enum { NTHREADS = 8, PER_THREAD = 8, FIRST = 160, SHARED = 250, PLUGIN = 251, NBYTES = 20000, BLOCKSIZE = 4000 };

static uint8_t source[NBYTES];
static char *codec_plugin, *filter_plugin;

/* Halves pairs of equal bytes. Looks up the name of the codec: callbacks may call the library. */
static int encode(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
                  blosc2_cparams *cparams, const void *chunk) {
  (void)meta, (void)chunk;
  const char *name;
  CHECK_EQ(blosc2_compcode_to_compname(cparams->compcode, &name), cparams->compcode);
  if (input_len / 2 > output_len) return 0;
  for (int32_t i = 0; i < input_len / 2; i++) output[i] = input[2 * i];
  return input_len / 2;
}

static int decode(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
                  blosc2_dparams *dparams, const void *chunk) {
  (void)meta, (void)dparams, (void)chunk;
  if (input_len * 2 != output_len) return -1;
  for (int32_t i = 0; i < output_len; i++) output[i] = input[i / 2];
  return output_len;
}

static int forward(const uint8_t *src, uint8_t *dest, int32_t size, uint8_t meta, blosc2_cparams *cparams, uint8_t id) {
  (void)meta, (void)cparams;
  for (int32_t i = 0; i < size; i++) dest[i] = src[i] ^ id;
  return 0;
}

static int backward(const uint8_t *src, uint8_t *dest, int32_t size, uint8_t meta, blosc2_dparams *dparams, uint8_t id) {
  (void)meta, (void)dparams;
  for (int32_t i = 0; i < size; i++) dest[i] = src[i] ^ id;
  return 0;
}

static int tuner_init(void *config, blosc2_context *cctx, blosc2_context *dctx) {
  (void)config, (void)cctx, (void)dctx;
  return 0;
}

static int tuner_next(blosc2_context *context) {
  (void)context;
  return 0;
}

static int tuner_update(blosc2_context *context, double ctime) {
  (void)context, (void)ctime;
  return 0;
}

static void enter(int id, char *name, int wanted) {
  blosc2_codec codec = {.compcode = (uint8_t)id, .compname = name, .complib = (uint8_t)id, .version = 1,
                        .encoder = encode, .decoder = decode};
  blosc2_filter filter = {.id = (uint8_t)id, .name = name, .version = 1, .forward = forward, .backward = backward};
  blosc2_tuner tuner = {.init = tuner_init, .next_blocksize = tuner_next, .next_cparams = tuner_next,
                        .update = tuner_update, .free = tuner_next, .id = id, .name = name};
  CHECK_EQ(blosc2_register_codec(&codec) == 0, wanted == 0);
  CHECK_EQ(blosc2_register_filter(&filter) == 0, wanted == 0);
  CHECK_EQ(blosc2_register_tuner(&tuner) == 0, wanted == 0);
}

static void round_trip(int codec, int filter, int tuner) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = (uint8_t)codec;
  memset(cparams.filters, 0, sizeof cparams.filters);
  cparams.filters[3] = (uint8_t)filter;
  cparams.typesize = 1;
  cparams.blocksize = BLOCKSIZE;
  cparams.splitmode = BLOSC_NEVER_SPLIT;
  cparams.nthreads = 2;
  cparams.tuner_id = tuner;
  blosc2_context *context = blosc2_create_cctx(cparams);
  CHECK(context != NULL);
  uint8_t *chunk = malloc(2 * NBYTES), *decoded = malloc(NBYTES);
  int cbytes = blosc2_compress_ctx(context, source, NBYTES, chunk, 2 * NBYTES);
  CHECK(cbytes > 0 && cbytes < NBYTES / 2 + 200);
  blosc2_free_ctx(context);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = 2;
  context = blosc2_create_dctx(dparams);
  CHECK_EQ(blosc2_decompress_ctx(context, chunk, cbytes, decoded, NBYTES), NBYTES);
  CHECK(memcmp(source, decoded, NBYTES) == 0);
  blosc2_free_ctx(context);
  free(chunk);
  free(decoded);
}

static void *work(void *argument) {
  int thread = (int)(intptr_t)argument;
  for (int round = 0; round < PER_THREAD; round++) {
    int id = FIRST + round * NTHREADS + thread;
    char name[32];
    snprintf(name, sizeof name, "number_%d", id);
    enter(id, name, 0);
    CHECK_EQ(blosc2_compname_to_compcode(name), id);
    /* All threads register this one; the later calls return that it exists. */
    enter(SHARED, "shared", 0);
    enter(SHARED, "not_shared", -1);
    memset(name, '!', sizeof name);
    round_trip(id, id, id);
    round_trip(SHARED, id, SHARED);
    if (codec_plugin != NULL) round_trip(PLUGIN, PLUGIN, 0);
  }
  return NULL;
}

int main(int argc, char **argv) {
  for (int i = 0; i < NBYTES; i++) source[i] = (uint8_t)(((uint32_t)(i / 2) * 2654435769u) >> 11);
  if (argc == 3) {
    codec_plugin = argv[1];
    filter_plugin = argv[2];
    blosc2_codec codec = {.compcode = PLUGIN, .compname = codec_plugin, .complib = PLUGIN, .version = 1};
    blosc2_filter filter = {.id = PLUGIN, .name = filter_plugin, .version = 1};
    CHECK_EQ(blosc2_register_codec(&codec), 0);
    CHECK_EQ(blosc2_register_filter(&filter), 0);
  }
  pthread_t threads[NTHREADS];
  for (int i = 0; i < NTHREADS; i++) {
    CHECK_EQ(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i), 0);
  }
  for (int i = 0; i < NTHREADS; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  for (int id = FIRST; id < FIRST + NTHREADS * PER_THREAD; id++) {
    char wanted[32];
    const char *name;
    snprintf(wanted, sizeof wanted, "number_%d", id);
    CHECK_EQ(blosc2_compcode_to_compname(id, &name), id);
    CHECK_STR(name, wanted);
  }
  printf("registry_threads: ok\n");
  return 0;
}

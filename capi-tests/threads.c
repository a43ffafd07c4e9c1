/*
 * Eight threads inside the library at the same time: with one context per thread, on one chunk, through the functions
 * without a context, and while other threads register, initialise and destroy. Every result is checked; to find data
 * races, `scripts/check-threads.sh` runs this program under a race detector (so it uses little data).
 *
 *     threads [--ours | --serial]
 *
 * The reference library passes too; --ours adds checks of behaviour that the reference does not guarantee. --serial
 * runs the part in which no call uses threads or locks of the library, for detectors that do not support those.
 */

#define _POSIX_C_SOURCE 200809L

#include <blosc2.h>
#include <pthread.h>

#include "check.h"

enum {
  NTHREADS = 8,
  ROUNDS = 3,
  NITEMS = 25000,
  NBYTES = NITEMS * 4,
  ROOM = 2 * NBYTES + 4096,
  BLOCKSIZE = 16384,
  MY_FILTER = 210,
  SPARE_FILTER = 220,
  /* Mantissa bits that the truncated precision keeps, of 23. */
  KEPT_BITS = 13
};

/* The parameters of one compression. */
typedef struct {
  uint8_t compcode;
  uint8_t clevel;
  uint8_t filter;
  uint8_t filter_meta;
  int32_t typesize;
  int use_dict;
} setting;

static const setting settings[] = {
  {BLOSC_BLOSCLZ, 5, BLOSC_SHUFFLE, 0, 4, 0},
  {BLOSC_LZ4, 5, BLOSC_BITSHUFFLE, 0, 4, 0},
  {BLOSC_LZ4HC, 3, BLOSC_SHUFFLE, 0, 8, 0},
  {BLOSC_ZLIB, 1, BLOSC_SHUFFLE, 0, 4, 0},
  {BLOSC_ZLIB, 6, BLOSC_TRUNC_PREC, KEPT_BITS, 4, 0},
  {BLOSC_ZSTD, 3, BLOSC_BITSHUFFLE, 0, 2, 0},
  {BLOSC_ZSTD, 1, BLOSC_NOFILTER, 0, 1, 0},
  {BLOSC_LZ4, 0, BLOSC_SHUFFLE, 0, 4, 0},
  /* The reference reads single items of these incorrectly. */
  {BLOSC_ZSTD, 1, BLOSC_SHUFFLE, 0, 4, 1},
  {BLOSC_LZ4, 5, BLOSC_DELTA, 0, 4, 0},
};
enum { NSETTINGS = sizeof(settings) / sizeof(settings[0]), NSETTINGS_OF_REFERENCE = NSETTINGS - 2 };

static int ours;

/* One thread of a test, with its data. */
typedef struct {
  int number;
  int32_t items[NITEMS], wanted[NITEMS], restored[NITEMS];
  uint8_t chunk[ROOM], again[ROOM];
  void (*body)(void *worker);
} worker;

static worker workers[NTHREADS];
static pthread_barrier_t barrier;

static void wait_for_all(void) {
  int rc = pthread_barrier_wait(&barrier);
  CHECK(rc == 0 || rc == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void *start(void *argument) {
  worker *self = argument;
  wait_for_all();
  self->body(self);
  return NULL;
}

/* Runs `body` in all threads, which start at the same time. */
static void in_threads(void (*body)(void *worker)) {
  pthread_t threads[NTHREADS];
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, NTHREADS), 0);
  for (int i = 0; i < NTHREADS; i++) {
    workers[i].body = body;
    CHECK_EQ(pthread_create(&threads[i], NULL, start, &workers[i]), 0);
  }
  for (int i = 0; i < NTHREADS; i++) {
    CHECK_EQ(pthread_join(threads[i], NULL), 0);
  }
  CHECK_EQ(pthread_barrier_destroy(&barrier), 0);
}

static blosc2_cparams parameters(const setting *s, int16_t nthreads) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = s->compcode;
  cparams.clevel = s->clevel;
  cparams.filters[BLOSC2_MAX_FILTERS - 1] = s->filter;
  cparams.filters_meta[BLOSC2_MAX_FILTERS - 1] = s->filter_meta;
  cparams.typesize = s->typesize;
  cparams.use_dict = s->use_dict;
  cparams.blocksize = BLOCKSIZE;
  cparams.nthreads = nthreads;
  return cparams;
}

static blosc2_context *decompressor(int16_t nthreads) {
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = nthreads;
  blosc2_context *context = blosc2_create_dctx(dparams);
  CHECK(context != NULL);
  return context;
}

/* Computes the expected result of decompressing a chunk made of `items` with that setting. */
static void expect(worker *self, const setting *s) {
  memcpy(self->wanted, self->items, NBYTES);
  if (s->filter == BLOSC_TRUNC_PREC) {
    for (int i = 0; i < NITEMS; i++) {
      self->wanted[i] = (int32_t)((uint32_t)self->items[i] & (UINT32_MAX << (23 - KEPT_BITS)));
    }
  }
}

/* Reads a chunk whose expected contents are `self->wanted`: all of it, and some items in the middle. */
static void read_back(worker *self, blosc2_context *dctx, const uint8_t *chunk, int32_t cbytes, int32_t typesize) {
  memset(self->restored, 0xEE, NBYTES);
  CHECK_EQ(blosc2_decompress_ctx(dctx, chunk, cbytes, self->restored, NBYTES), NBYTES);
  CHECK_BYTES(self->restored, self->wanted, NBYTES);
  int first = NBYTES / typesize / 3, nitems = 5000 / typesize;
  CHECK_EQ(blosc2_getitem_ctx(dctx, chunk, cbytes, first, nitems, self->restored, NBYTES), nitems * typesize);
  CHECK_BYTES(self->restored, (const uint8_t *)self->wanted + first * typesize, nitems * typesize);
}

/* Compresses and decompresses with new contexts; the chunk stays in `self->chunk`. */
static int32_t round_trip(worker *self, const setting *s, int16_t nthreads) {
  expect(self, s);
  blosc2_context *cctx = blosc2_create_cctx(parameters(s, nthreads));
  CHECK(cctx != NULL);
  int32_t cbytes = blosc2_compress_ctx(cctx, self->items, NBYTES, self->chunk, ROOM);
  blosc2_free_ctx(cctx);
  CHECK(cbytes > 0);
  blosc2_context *dctx = decompressor(nthreads);
  read_back(self, dctx, self->chunk, cbytes, s->typesize);
  blosc2_free_ctx(dctx);
  return cbytes;
}

static void round_trips(worker *self, int16_t nthreads) {
  int nsettings = ours ? NSETTINGS : NSETTINGS_OF_REFERENCE;
  for (int i = 0; i < nsettings; i++) {
    const setting *s = &settings[(i + self->number) % nsettings];
    int32_t cbytes = round_trip(self, s, nthreads);
    if (ours && nthreads > 1) {
      /* Chunks do not depend on the number of threads. */
      blosc2_context *cctx = blosc2_create_cctx(parameters(s, 1));
      CHECK_EQ(blosc2_compress_ctx(cctx, self->items, NBYTES, self->again, ROOM), cbytes);
      blosc2_free_ctx(cctx);
      CHECK_BYTES(self->again, self->chunk, cbytes);
    }
  }
}

/* ---- contexts of one thread each ------------------------------------------------------------- */

static void serial_body(void *self) { round_trips(self, 1); }
static void pooled_body(void *self) { round_trips(self, 4); }

static void serial_contexts(void) { in_threads(serial_body); }
static void contexts_of_four_threads(void) { in_threads(pooled_body); }

/* The first calls of the process, in all threads at once, before anything is initialised. */
static void first_calls(void) { in_threads(pooled_body); }
static void first_serial_calls(void) { in_threads(serial_body); }

/* The number of threads in the pool grows during jobs. */
static void growing_body(void *argument) {
  worker *self = argument;
  for (int16_t nthreads = 1; nthreads <= 12; nthreads++) {
    round_trip(self, &settings[1], (int16_t)(nthreads + self->number));
  }
}

static void different_numbers_of_threads(void) { in_threads(growing_body); }

/* ---- contexts that move between threads ------------------------------------------------------ */

static blosc2_context *cctxs[NTHREADS], *dctxs[NTHREADS];

static void handed_body(void *argument) {
  worker *self = argument;
  for (int round = 0; round < ROUNDS; round++) {
    int mine = (self->number + round) % NTHREADS;
    expect(self, &settings[mine]);
    int32_t cbytes = blosc2_compress_ctx(cctxs[mine], self->items, NBYTES, self->chunk, ROOM);
    CHECK(cbytes > 0);
    read_back(self, dctxs[mine], self->chunk, cbytes, settings[mine].typesize);
    wait_for_all();
  }
}

static void contexts_move_between_threads(void) {
  for (int i = 0; i < NTHREADS; i++) {
    int16_t nthreads = i % 2 == 0 ? 4 : 1;
    cctxs[i] = blosc2_create_cctx(parameters(&settings[i], nthreads));
    CHECK(cctxs[i] != NULL);
    dctxs[i] = decompressor(nthreads);
  }
  in_threads(handed_body);
  for (int i = 0; i < NTHREADS; i++) {
    blosc2_free_ctx(cctxs[i]);
    blosc2_free_ctx(dctxs[i]);
  }
}

/* ---- one chunk for all ----------------------------------------------------------------------- */

static int32_t shared_cbytes;
static const setting *shared_setting;

static void sharing_body(void *argument) {
  worker *self = argument;
  if (self->number != 0) {
    memcpy(self->wanted, workers[0].wanted, NBYTES);
  }
  for (int round = 0; round < ROUNDS; round++) {
    blosc2_context *dctx = decompressor((int16_t)(1 + 3 * (self->number % 2)));
    read_back(self, dctx, workers[0].chunk, shared_cbytes, shared_setting->typesize);
    blosc2_free_ctx(dctx);
  }
}

static void one_chunk_for_all(void) {
  for (int i = 0; i < (ours ? NSETTINGS : NSETTINGS_OF_REFERENCE); i += 3) {
    shared_setting = &settings[i];
    shared_cbytes = round_trip(&workers[0], shared_setting, 1);
    in_threads(sharing_body);
  }
}

/* ---- without a context ----------------------------------------------------------------------- */

static void contextless_trip(worker *self) {
  memcpy(self->wanted, self->items, NBYTES);
  int cbytes = blosc2_compress(5, BLOSC_SHUFFLE, 4, self->items, NBYTES, self->chunk, ROOM);
  CHECK(cbytes > 0);
  memset(self->restored, 0xEE, NBYTES);
  CHECK_EQ(blosc2_decompress(self->chunk, cbytes, self->restored, NBYTES), NBYTES);
  CHECK_BYTES(self->restored, self->wanted, NBYTES);
}

static void contextless_body(void *argument) {
  for (int round = 0; round < ROUNDS; round++) {
    contextless_trip(argument);
  }
}

static void without_a_context(void) {
  blosc2_set_nthreads(4);
  in_threads(contextless_body);
  blosc2_set_nthreads(1);
}

static void settings_body(void *argument) {
  worker *self = argument;
  static const char *const names[] = {"blosclz", "lz4", "zstd"};
  for (int round = 0; round < 2 * ROUNDS; round++) {
    if (self->number == 0) {
      CHECK(blosc2_set_nthreads((int16_t)(1 + round % 4)) >= 1);
      CHECK(blosc1_set_compressor(names[round % 3]) >= 0);
      blosc1_set_blocksize((size_t)BLOCKSIZE << round % 2);
      CHECK(blosc1_get_compressor() != NULL);
    } else {
      contextless_trip(self);
    }
  }
}

/* Each call reads the settings once, even if another thread changes them meanwhile. */
static void settings_change_meanwhile(void) {
  in_threads(settings_body);
  blosc2_set_nthreads(1);
  blosc1_set_blocksize(0);
  CHECK_EQ(blosc1_set_compressor("blosclz"), BLOSC_BLOSCLZ);
}

/* ---- registration, callbacks, blosc2_destroy ------------------------------------------------- */

static int add_meta(const uint8_t *src, uint8_t *dest, int32_t size, uint8_t meta, blosc2_cparams *cparams,
                    uint8_t id) {
  (void)cparams, (void)id;
  for (int32_t i = 0; i < size; i++) {
    dest[i] = (uint8_t)(src[i] + meta);
  }
  return 0;
}

static int subtract_meta(const uint8_t *src, uint8_t *dest, int32_t size, uint8_t meta, blosc2_dparams *dparams,
                         uint8_t id) {
  (void)dparams, (void)id;
  for (int32_t i = 0; i < size; i++) {
    dest[i] = (uint8_t)(src[i] - meta);
  }
  return 0;
}

static void register_filter(uint8_t id, const char *name) {
  blosc2_filter filter = {0};
  filter.id = id;
  filter.name = (char *)name;
  filter.version = 1;
  filter.forward = add_meta;
  filter.backward = subtract_meta;
  CHECK_EQ(blosc2_register_filter(&filter), 0);
}

static void registering_body(void *argument) {
  worker *self = argument;
  char name[32];
  for (int round = 0; round < ROUNDS; round++) {
    if (self->number < 2) {
      /* Several threads register the same ids and names, which is no error. */
      snprintf(name, sizeof(name), "spare %d", round);
      register_filter((uint8_t)(SPARE_FILTER + round), name);
      continue;
    }
    setting s = {BLOSC_LZ4, 5, MY_FILTER, 7, 4, 0};
    round_trip(self, &s, (int16_t)(1 + 3 * (round % 2)));
  }
}

static void registration_meanwhile(void) {
  register_filter(MY_FILTER, "add");
  in_threads(registering_body);
}

/* A callback in a worker thread that calls the library while another thread calls blosc2_destroy. */
static int asking_copy(blosc2_prefilter_params *params) {
  CHECK(blosc2_get_nthreads() >= 1);
  memcpy(params->output, params->input, (size_t)params->output_size);
  return 0;
}

static void ending_body(void *argument) {
  worker *self = argument;
  for (int round = 0; round < 4 * ROUNDS; round++) {
    if (self->number == 0) {
      blosc2_destroy();
      if (round % 2 == 0) {
        blosc2_init();
      }
      continue;
    }
    blosc2_prefilter_params preparams = {0};
    blosc2_cparams cparams = parameters(&settings[1], 4);
    cparams.prefilter = asking_copy;
    cparams.preparams = &preparams;
    blosc2_context *cctx = blosc2_create_cctx(cparams);
    CHECK(cctx != NULL);
    int32_t cbytes = blosc2_compress_ctx(cctx, self->items, NBYTES, self->chunk, ROOM);
    blosc2_free_ctx(cctx);
    CHECK(cbytes > 0);
    memcpy(self->wanted, self->items, NBYTES);
    blosc2_context *dctx = decompressor(4);
    read_back(self, dctx, self->chunk, cbytes, 4);
    blosc2_free_ctx(dctx);
  }
}

static void destroy_and_init_meanwhile(void) { in_threads(ending_body); }

/* Threads of the caller: one for each job, started and joined within the callback. */
typedef struct {
  void (*dojob)(void *);
  void *jobdata;
} own_job;

static void *run_own_job(void *argument) {
  own_job *job = argument;
  job->dojob(job->jobdata);
  return NULL;
}

static void run_jobs(void *data, void (*dojob)(void *), int numjobs, size_t size, void *jobdata) {
  enum { MOST = 4 };
  pthread_t threads[MOST];
  own_job jobs[MOST];
  CHECK(data == workers && numjobs <= MOST);
  for (int i = 0; i < numjobs; i++) {
    jobs[i].dojob = dojob;
    jobs[i].jobdata = (char *)jobdata + (size_t)i * size;
    CHECK_EQ(pthread_create(&threads[i], NULL, run_own_job, &jobs[i]), 0);
  }
  for (int i = 0; i < numjobs; i++) {
    CHECK_EQ(pthread_join(threads[i], NULL), 0);
  }
}

static void own_threads_body(void *argument) {
  worker *self = argument;
  for (int round = 0; round < ROUNDS; round++) {
    round_trip(self, &settings[(self->number + round) % NSETTINGS], 4);
  }
}

static void threads_of_the_caller(void) {
  blosc2_set_threads_callback(run_jobs, workers);
  in_threads(own_threads_body);
  blosc2_set_threads_callback(NULL, NULL);
}

int main(int argc, char **argv) {
  int serial = argc == 2 && strcmp(argv[1], "--serial") == 0;
  ours = serial || asked_for_ours(argc, argv);
  for (int i = 0; i < NTHREADS; i++) {
    workers[i].number = i;
    fill_series(workers[i].items, NITEMS);
    for (int k = 0; k < NITEMS; k += 1 + i) {
      workers[i].items[k] += i << 20;
    }
  }
  if (serial) {
    RUN(first_serial_calls);
    RUN(serial_contexts);
    blosc2_destroy();
    return EXIT_SUCCESS;
  }
  if (ours) {
    RUN(first_calls);
  }
  blosc2_init();
  RUN(serial_contexts);
  RUN(contexts_of_four_threads);
  RUN(different_numbers_of_threads);
  RUN(contexts_move_between_threads);
  RUN(one_chunk_for_all);
  RUN(without_a_context);
  if (ours) {
    RUN(settings_change_meanwhile);
    RUN(registration_meanwhile);
    RUN(destroy_and_init_meanwhile);
    RUN(threads_of_the_caller);
  }
  blosc2_destroy();
  return EXIT_SUCCESS;
}

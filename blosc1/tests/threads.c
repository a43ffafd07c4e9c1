/*
 * Eight threads inside libblosc.so.1 at the same time: they compress and decompress, also with contexts, and change the
 * settings, initialise and destroy. Every result is checked; to find data races, `scripts/check-threads.sh` runs this
 * program under a race detector (so it uses little data).
 *
 *     threads
 *
 * The reference crashes: its setters and its initialisation are not synchronised.
 */

#define _POSIX_C_SOURCE 200809L

#include <blosc.h>
#include <pthread.h>

#include "check.h"

enum { NTHREADS = 8, ROUNDS = 60, NITEMS = 25000, NBYTES = NITEMS * 4, ROOM = NBYTES + BLOSC_MAX_OVERHEAD };

static const char *const codecs[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
static const size_t blocksizes[] = {0, 4096, 16384, 50000};

/* One thread, with its data. */
typedef struct {
  uint32_t state;
  int32_t items[NITEMS], restored[NITEMS];
  uint8_t chunk[ROOM];
} worker;

static worker workers[NTHREADS];
static int32_t shared_items[NITEMS];
static uint8_t shared_chunk[ROOM];
static pthread_barrier_t barrier;

static uint32_t random_below(worker *self, uint32_t bound) {
  self->state = self->state * 1664525u + 1013904223u;
  return (self->state >> 8) % bound;
}

static const char *random_codec(worker *self) {
  return codecs[random_below(self, sizeof(codecs) / sizeof(codecs[0]))];
}

/* Changes a setting, or initialises, or ends the threads of the library. */
static void change_settings(worker *self) {
  const char *list = blosc_list_compressors();
  switch (random_below(self, 8)) {
    case 0: CHECK(blosc_set_nthreads(1 + (int)random_below(self, 4)) > 0); break;
    case 1: CHECK(blosc_set_compressor(random_codec(self)) >= 0); break;
    case 2: blosc_set_blocksize(blocksizes[random_below(self, 4)]); break;
    case 3: blosc_set_splitmode(1 + (int)random_below(self, 4)); break;
    case 4: blosc_init(); break;
    case 5: blosc_destroy(); break;
    case 6: blosc_free_resources(); break;
    default: CHECK(blosc_get_nthreads() > 0 && blosc_get_compressor() != NULL && blosc_get_blocksize() >= 0);
  }
  CHECK_STR(list, blosc_list_compressors());
}

/* Compresses and decompresses with the settings of the process. */
static void round_trip(worker *self) {
  int cbytes = blosc_compress(1 + (int)random_below(self, 5), 1, 4, NBYTES, self->items, self->chunk, ROOM);
  CHECK(cbytes > 0);
  memset(self->restored, 0, NBYTES);
  CHECK_EQ(blosc_decompress(self->chunk, self->restored, NBYTES), NBYTES);
  CHECK_BYTES(self->restored, self->items, NBYTES);
}

/* Compresses and decompresses with a codec and threads of its own. */
static void round_trip_of_context(worker *self) {
  int nthreads = 1 + (int)random_below(self, 4);
  size_t blocksize = blocksizes[random_below(self, 4)];
  const char *codec = random_codec(self);
  int cbytes = blosc_compress_ctx(4, 2, 4, NBYTES, self->items, self->chunk, ROOM, codec, blocksize, nthreads);
  CHECK(cbytes > 0);
  memset(self->restored, 0, NBYTES);
  CHECK_EQ(blosc_decompress_ctx(self->chunk, self->restored, NBYTES, nthreads), NBYTES);
  CHECK_BYTES(self->restored, self->items, NBYTES);
}

/* Reads a chunk that all threads read. */
static void read_shared(worker *self) {
  int start = (int)random_below(self, NITEMS - 100);
  CHECK_EQ(blosc_getitem(shared_chunk, start, 100, self->restored), 400);
  CHECK_BYTES(self->restored, shared_items + start, 400);
  CHECK_EQ(blosc_decompress(shared_chunk, self->restored, NBYTES), NBYTES);
  CHECK_BYTES(self->restored, shared_items, NBYTES);
}

static void *run(void *argument) {
  worker *self = argument;
  int rc = pthread_barrier_wait(&barrier);
  CHECK(rc == 0 || rc == PTHREAD_BARRIER_SERIAL_THREAD);
  for (int round = 0; round < ROUNDS; round++) {
    change_settings(self);
    switch (random_below(self, 3)) {
      case 0: round_trip(self); break;
      case 1: round_trip_of_context(self); break;
      default: read_shared(self);
    }
  }
  return NULL;
}

static void calls_of_eight_threads(void) {
  pthread_t threads[NTHREADS];
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, NTHREADS), 0);
  for (int i = 0; i < NTHREADS; i++) {
    workers[i].state = (uint32_t)i + 1;
    fill_series(workers[i].items, NITEMS);
    workers[i].items[0] = i;
    CHECK_EQ(pthread_create(&threads[i], NULL, run, &workers[i]), 0);
  }
  for (int i = 0; i < NTHREADS; i++) {
    CHECK_EQ(pthread_join(threads[i], NULL), 0);
  }
  CHECK_EQ(pthread_barrier_destroy(&barrier), 0);
}

int main(void) {
  fill_series(shared_items, NITEMS);
  /* With threads of the library, which the calls below use and end. */
  blosc_set_nthreads(4);
  CHECK(blosc_compress(5, 1, 4, NBYTES, shared_items, shared_chunk, ROOM) > 0);
  RUN(calls_of_eight_threads);
  blosc_destroy();
  return 0;
}

/*
 * Seven threads read one super-chunk while the eighth changes it, in every kind of storage. Every result is checked;
 * to find data races, `scripts/check-threads.sh` runs this program under a race detector (so it uses little data).
 *
 *     schunk_threads
 *
 * The reference guarantees none of this.
 */

#define _POSIX_C_SOURCE 200809L

#include <blosc2.h>
#include <pthread.h>

#include "check.h"

enum { NREADERS = 7, ROUNDS = 40, NITEMS = 3000, NBYTES = NITEMS * 4, BLOCKSIZE = 4096, BASE = 4, MOST = 8, PATH_ROOM = 256 };

/* The storage of a super-chunk. */
enum { MEMORY, MEMORY_FRAME, FILE_FRAME, DIRECTORY, LOCKED_FILE, MAPPED_FILE, NPLACES };

static char directory[] = "/tmp/blosc2-threads-XXXXXX";
static blosc2_schunk *schunk;
static int place;
static bool lends_chunks;

static int32_t item_at(int64_t index) {
  return (int32_t)index * 3 + (int32_t)(index / 50);
}

static void fill_chunk(int32_t *items, int64_t n) {
  for (int32_t i = 0; i < NITEMS; i++) {
    items[i] = item_at(n * NITEMS + i);
  }
}

static uint32_t random_below(uint32_t *state, uint32_t bound) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % bound;
}

static void *reader(void *argument) {
  uint32_t state = (uint32_t)(uintptr_t)argument;
  int32_t got[2 * NITEMS], wanted[NITEMS];
  blosc2_context *context = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  for (int round = 0; round < ROUNDS; round++) {
    int64_t start = random_below(&state, BASE * NITEMS - 100);
    CHECK_EQ(blosc2_schunk_get_slice_buffer(schunk, start, start + 1, got), 0);
    CHECK_EQ(got[0], item_at(start));
    CHECK_EQ(blosc2_schunk_get_slice_buffer(schunk, start, start + 100, got), 0);
    CHECK_EQ(got[99], item_at(start + 99));
    start = random_below(&state, (BASE - 2) * NITEMS);
    CHECK_EQ(blosc2_schunk_get_slice_buffer(schunk, start, start + 2 * NITEMS, got), 0);
    CHECK_EQ(got[2 * NITEMS - 1], item_at(start + 2 * NITEMS - 1));

    int64_t nchunk = random_below(&state, MOST);
    int rc = blosc2_schunk_decompress_chunk(schunk, nchunk, got, NBYTES);
    if (rc >= 0 || nchunk < BASE) {
      CHECK_EQ(rc, NBYTES);
      fill_chunk(wanted, nchunk);
      CHECK_BYTES(got, wanted, NBYTES);
    } else {
      CHECK_EQ(rc, BLOSC2_ERROR_INVALID_PARAM);
    }
    nchunk = random_below(&state, BASE);
    uint8_t *chunk;
    bool needs_free;
    if (!lends_chunks) {
      rc = blosc2_schunk_get_chunk(schunk, nchunk, &chunk, &needs_free);
      CHECK(rc > 0 && needs_free);
      CHECK_EQ(blosc2_decompress_ctx(context, chunk, rc, got, NBYTES), NBYTES);
      fill_chunk(wanted, nchunk);
      CHECK_BYTES(got, wanted, NBYTES);
      free(chunk);
    }
    int64_t coordinates[5];
    for (int i = 0; i < 5; i++) {
      coordinates[i] = random_below(&state, BASE * NITEMS);
    }
    CHECK_EQ(blosc2_schunk_get_sparse_buffer(schunk, 5, coordinates, got), 0);
    for (int i = 0; i < 5; i++) {
      CHECK_EQ(got[i], item_at(coordinates[i]));
    }
    uint8_t *content;
    int32_t len;
    CHECK_EQ(blosc2_vlmeta_get(schunk, "note", &content, &len), 0);
    CHECK(len >= 40 && content[0] == len && content[len - 1] == len);
    free(content);
    CHECK_EQ(blosc2_vlmeta_exists(schunk, "none"), BLOSC2_ERROR_NOT_FOUND);
    CHECK(place == MEMORY || blosc2_schunk_frame_len(schunk) > 0);
    int64_t *offsets = blosc2_frame_get_offsets(schunk);
    CHECK((offsets != NULL) == (place != MEMORY));
    free(offsets);
    CHECK(blosc2_schunk_refresh(schunk) >= 0);
  }
  blosc2_free_ctx(context);
  return NULL;
}

static void *writer(void *argument) {
  (void)argument;
  int32_t items[NITEMS];
  uint8_t content[100];
  int nchunks = BASE;
  for (int round = 0; round < ROUNDS; round++) {
    if (nchunks < MOST && round % 5 < 3) {
      fill_chunk(items, nchunks);
      CHECK_EQ(blosc2_schunk_append_buffer(schunk, items, NBYTES), nchunks + 1);
      nchunks++;
    } else if (nchunks > BASE) {
      CHECK_EQ(blosc2_schunk_delete_chunk(schunk, nchunks - 1), nchunks - 1);
      nchunks--;
    }
    int64_t at = round % BASE * NITEMS + round;
    for (int i = 0; i < 100; i++) {
      items[i] = item_at(at + i);
    }
    CHECK_EQ(blosc2_schunk_set_slice_buffer(schunk, at, at + 100, items), 0);
    memset(content, 40 + round % 50, sizeof(content));
    CHECK_EQ(blosc2_vlmeta_update(schunk, "note", content, 40 + round % 50, NULL), 0);
    CHECK_EQ(blosc2_meta_update(schunk, "fixed", content, 3), 0);
    CHECK_EQ(blosc2_schunk_lock(schunk), 0);
    CHECK_EQ(blosc2_vlmeta_add(schunk, "second", content, 10, NULL), 1);
    CHECK_EQ(blosc2_vlmeta_delete(schunk, "second"), 1);
    CHECK_EQ(blosc2_schunk_unlock(schunk), 0);
  }
  return NULL;
}

static void work(const char *name, int where, int16_t nthreads, uint8_t compcode, bool delta) {
  char path[PATH_ROOM];
  static int count;
  snprintf(path, sizeof(path), "%s/%d.b2frame", directory, count++);
  place = where;
  lends_chunks = place == MEMORY || place == MEMORY_FRAME || place == MAPPED_FILE;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.compcode = compcode;
  cparams.blocksize = BLOCKSIZE;
  cparams.nthreads = nthreads;
  cparams.filters[4] = delta ? BLOSC_DELTA : BLOSC_NOFILTER;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = nthreads;
  blosc2_stdio_params locking = {.locking = true};
  blosc2_stdio_mmap mapping = BLOSC2_STDIO_MMAP_DEFAULTS;
  mapping.mode = "w+";
  mapping.initial_mapping_size = 1;
  blosc2_io io = BLOSC2_IO_DEFAULTS;
  if (place == LOCKED_FILE) {
    io.params = &locking;
  } else if (place == MAPPED_FILE) {
    io = (blosc2_io){.id = BLOSC2_IO_FILESYSTEM_MMAP, .name = "filesystem_mmap", .params = &mapping};
  }
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = place != MEMORY && place != DIRECTORY;
  storage.urlpath = place == MEMORY || place == MEMORY_FRAME ? NULL : path;
  storage.cparams = &cparams;
  storage.dparams = &dparams;
  storage.io = &io;
  schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  CHECK_EQ(blosc2_meta_add(schunk, "fixed", (uint8_t *)"abc", 3), 0);
  int32_t items[NITEMS];
  for (int n = 0; n < BASE; n++) {
    fill_chunk(items, n);
    CHECK_EQ(blosc2_schunk_append_buffer(schunk, items, NBYTES), n + 1);
  }
  uint8_t content[40];
  memset(content, 40, sizeof(content));
  CHECK_EQ(blosc2_vlmeta_add(schunk, "note", content, sizeof(content), NULL), 0);
  pthread_t threads[NREADERS + 1];
  for (int i = 0; i <= NREADERS; i++) {
    CHECK_EQ(pthread_create(&threads[i], NULL, i == 0 ? writer : reader, (void *)(uintptr_t)i), 0);
  }
  for (int i = 0; i <= NREADERS; i++) {
    CHECK_EQ(pthread_join(threads[i], NULL), 0);
  }
  CHECK_EQ(blosc2_schunk_free(schunk), 0);
  printf("ok %s, %d threads each\n", name, (int)nthreads);
  fflush(stdout);
}

int main(void) {
  CHECK(mkdtemp(directory) != NULL);
  blosc2_init();
  static const char *const names[] = {"memory",    "frame in memory",  "file",
                                      "directory", "file with a lock", "mapped file"};
  for (int where = 0; where < NPLACES; where++) {
    work(names[where], where, 1, BLOSC_LZ4, false);
    work(names[where], where, 4, BLOSC_ZSTD, true);
    work(names[where], where, 4, BLOSC_BLOSCLZ, false);
  }
  blosc2_destroy();
  char command[PATH_ROOM];
  snprintf(command, sizeof(command), "rm -rf %s", directory);
  CHECK_EQ(system(command), 0);
  return EXIT_SUCCESS;
}

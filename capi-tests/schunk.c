/*
 * Super-chunks and frames through the public API (schunk.md 5-18, frame.md 5): every kind of storage, every change,
 * every function that reads, copies and conversions, metalayers, special chunks, a user-defined back-end, and calls
 * that are rejected. All results are checked; everything that the program owns is freed, so that a leak checker can
 * be used.
 *
 *     schunk [--ours]
 *
 * The reference library passes too; --ours adds checks that the reference is known to fail.
 */

#define _POSIX_C_SOURCE 200809L

#include <blosc2.h>
#include <unistd.h>

#include "check.h"

enum {
  NITEMS = 2000,
  NBYTES = NITEMS * 4,
  BLOCKSIZE = 2048,
  NCHUNKS = 5,
  SHORT_ITEMS = 300,
  PATH_ROOM = 256,
  MY_IO = 244
};

/* The storage of a super-chunk. */
enum { MEMORY, MEMORY_FRAME, FILE_FRAME, DIRECTORY, NSTORES };

static int ours;
static char directory[] = "/tmp/blosc2-schunk-XXXXXX";

static int is_on_disk(int store) { return store == FILE_FRAME || store == DIRECTORY; }

static int is_contiguous(int store) { return store == MEMORY_FRAME || store == FILE_FRAME; }

/* Returns an unused path in the program's directory. */
static const char *fresh(char path[PATH_ROOM]) {
  static int count;
  snprintf(path, PATH_ROOM, "%s/%d.b2frame", directory, count++);
  return path;
}

/* Fills in the items of chunk `n`. */
static void fill_chunk(int32_t *items, int64_t n) {
  for (int32_t i = 0; i < NITEMS; i++) {
    items[i] = (int32_t)(n * NITEMS + i) * 3 + i / 50;
  }
}

static int32_t item_at(int64_t index) {
  return (int32_t)index * 3 + (int32_t)(index % NITEMS) / 50;
}

static blosc2_cparams parameters(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.blocksize = BLOCKSIZE;
  cparams.compcode = BLOSC_LZ4;
  cparams.nthreads = 2;
  return cparams;
}

/* Creates an empty super-chunk in the store; `path` is used on disk only. */
static blosc2_schunk *new_schunk(int store, char *path, blosc2_io *io) {
  blosc2_cparams cparams = parameters();
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = 2;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = is_contiguous(store);
  storage.urlpath = is_on_disk(store) ? path : NULL;
  storage.cparams = &cparams;
  storage.dparams = &dparams;
  storage.io = io;
  return blosc2_schunk_new(&storage);
}

static void append_chunks(blosc2_schunk *schunk, int from, int to) {
  int32_t items[NITEMS];
  for (int n = from; n < to; n++) {
    fill_chunk(items, n);
    CHECK_EQ(blosc2_schunk_append_buffer(schunk, items, NBYTES), n + 1);
  }
}

/* Creates a super-chunk with NCHUNKS chunks. */
static blosc2_schunk *filled(int store, char *path) {
  blosc2_schunk *schunk = new_schunk(store, path, NULL);
  CHECK(schunk != NULL);
  append_chunks(schunk, 0, NCHUNKS);
  return schunk;
}

/* Creates a chunk in memory from malloc, of which the library can take ownership. */
static uint8_t *make_chunk(const void *items, int32_t nbytes) {
  uint8_t *chunk = malloc((size_t)nbytes + BLOSC2_MAX_OVERHEAD);
  CHECK(chunk != NULL);
  blosc2_context *context = blosc2_create_cctx(parameters());
  CHECK(context != NULL);
  CHECK(blosc2_compress_ctx(context, items, nbytes, chunk, nbytes + BLOSC2_MAX_OVERHEAD) > 0);
  blosc2_free_ctx(context);
  return chunk;
}

static void check_chunk(blosc2_schunk *schunk, int64_t nchunk, int64_t content, int32_t nitems) {
  int32_t got[NITEMS], wanted[NITEMS];
  fill_chunk(wanted, content);
  CHECK_EQ(blosc2_schunk_decompress_chunk(schunk, nchunk, got, sizeof(got)), nitems * 4);
  CHECK_BYTES(got, wanted, nitems * 4);
  CHECK_EQ(schunk->current_nchunk, nchunk);
}

/* Checks that the whole chunks are those of `contents`. */
static void check_contents(blosc2_schunk *schunk, const int *contents, int nchunks) {
  CHECK_EQ(schunk->nchunks, nchunks);
  CHECK_EQ(schunk->nbytes, (int64_t)nchunks * NBYTES);
  for (int n = 0; n < nchunks; n++) {
    check_chunk(schunk, n, contents[n], NITEMS);
  }
}

static const int IN_ORDER[] = {0, 1, 2, 3, 4, 5, 6, 7};

static void discard(blosc2_schunk *schunk, const char *path) {
  CHECK_EQ(blosc2_schunk_free(schunk), 0);
  if (path != NULL) {
    CHECK_EQ(blosc2_remove_urlpath(path), 0);
  }
}

static void creation(void) {
  char path[PATH_ROOM];
  for (int store = 0; store < NSTORES; store++) {
    fresh(path);
    blosc2_schunk *schunk = new_schunk(store, path, NULL);
    CHECK(schunk != NULL);
    CHECK_EQ(schunk->nchunks, 0);
    CHECK_EQ(schunk->nbytes, 0);
    CHECK_EQ(schunk->chunksize, -1);
    CHECK_EQ(schunk->typesize, 4);
    CHECK_EQ(schunk->frame != NULL, store != MEMORY);
    CHECK_EQ(blosc2_schunk_get_slice_buffer(schunk, 0, 0, path), 0);
    CHECK_EQ(blosc2_schunk_get_slice_buffer(schunk, 0, 1, path), -1);
    CHECK_EQ(blosc2_schunk_decompress_chunk(schunk, 0, path, PATH_ROOM), BLOSC2_ERROR_INVALID_PARAM);
    if (store != MEMORY) {
      CHECK_EQ(blosc2_schunk_frame_len(schunk), 132);
    }
    if (is_on_disk(store)) {
      /* An existing file is not overwritten. */
      CHECK(new_schunk(store, path, NULL) == NULL);
      CHECK(new_schunk(FILE_FRAME, path, NULL) == NULL);
    }
    append_chunks(schunk, 0, 2);
    CHECK_EQ(schunk->chunksize, NBYTES);
    check_contents(schunk, IN_ORDER, 2);
    blosc2_cparams *cparams;
    blosc2_dparams *dparams;
    CHECK_EQ(blosc2_schunk_get_cparams(schunk, &cparams), 0);
    CHECK_EQ(blosc2_schunk_get_dparams(schunk, &dparams), 0);
    CHECK_EQ(cparams->compcode, BLOSC_LZ4);
    CHECK_EQ(cparams->nthreads, 2);
    CHECK_EQ(dparams->nthreads, 2);
    free(cparams);
    free(dparams);
    discard(schunk, is_on_disk(store) ? path : NULL);
  }
}

static void changes(void) {
  char path[PATH_ROOM];
  int32_t items[NITEMS];
  for (int store = 0; store < NSTORES; store++) {
    fresh(path);
    blosc2_schunk *schunk = filled(store, path);

    fill_chunk(items, 7);
    uint8_t *chunk = make_chunk(items, NBYTES);
    CHECK_EQ(blosc2_schunk_append_chunk(schunk, chunk, true), 6);
    CHECK_EQ(blosc2_schunk_insert_chunk(schunk, 0, chunk, true), 7);
    CHECK_EQ(blosc2_schunk_insert_chunk(schunk, 3, chunk, true), 8);
    CHECK_EQ(blosc2_schunk_update_chunk(schunk, 1, chunk, true), 8);
    /* From here on the library owns the chunk. */
    CHECK_EQ(blosc2_schunk_update_chunk(schunk, 2, chunk, false), 8);
    check_contents(schunk, (int[]){7, 7, 7, 7, 2, 3, 4, 7}, 8);
    fill_chunk(items, 6);
    CHECK_EQ(blosc2_schunk_append_chunk(schunk, make_chunk(items, NBYTES), false), 9);
    CHECK_EQ(blosc2_schunk_insert_chunk(schunk, 9, make_chunk(items, NBYTES), false), 10);
    check_contents(schunk, (int[]){7, 7, 7, 7, 2, 3, 4, 7, 6, 6}, 10);

    CHECK_EQ(blosc2_schunk_delete_chunk(schunk, 0), 9);
    CHECK_EQ(blosc2_schunk_delete_chunk(schunk, 8), 8);
    CHECK_EQ(blosc2_schunk_delete_chunk(schunk, 1), 7);
    check_contents(schunk, (int[]){7, 7, 2, 3, 4, 7, 6}, 7);

    int64_t order[] = {6, 5, 4, 3, 2, 1, 0};
    CHECK_EQ(blosc2_schunk_reorder_offsets(schunk, order), 0);
    check_contents(schunk, (int[]){6, 7, 4, 3, 2, 7, 7}, 7);
    order[0] = 5;
    CHECK_EQ(blosc2_schunk_reorder_offsets(schunk, order), BLOSC2_ERROR_DATA);

    /* Zeros have no payload in a frame. */
    memset(items, 0, sizeof(items));
    CHECK_EQ(blosc2_schunk_update_chunk(schunk, 2, make_chunk(items, NBYTES), false), 7);
    CHECK_EQ(blosc2_schunk_append_buffer(schunk, items, NBYTES), 8);
    CHECK_EQ(blosc2_schunk_decompress_chunk(schunk, 2, items, NBYTES), NBYTES);
    CHECK_EQ(items[0] | items[NITEMS - 1], 0);
    CHECK_EQ(blosc2_schunk_decompress_chunk(schunk, 7, items, NBYTES), NBYTES);
    CHECK_EQ(blosc2_schunk_delete_chunk(schunk, 7), 7);
    fill_chunk(items, 1);
    CHECK_EQ(blosc2_schunk_update_chunk(schunk, 2, make_chunk(items, NBYTES), false), 7);
    check_contents(schunk, (int[]){6, 7, 1, 3, 2, 7, 7}, 7);

    /* A rejected call changes nothing, and the caller keeps the chunk. */
    chunk = make_chunk(items, NBYTES);
    for (int64_t bad = -1; bad < 100; bad += 100) {
      CHECK_EQ(blosc2_schunk_update_chunk(schunk, bad, chunk, false), BLOSC2_ERROR_INVALID_PARAM);
      CHECK_EQ(blosc2_schunk_insert_chunk(schunk, bad, chunk, false), BLOSC2_ERROR_INVALID_PARAM);
      CHECK_EQ(blosc2_schunk_delete_chunk(schunk, bad), BLOSC2_ERROR_INVALID_PARAM);
    }
    free(chunk);
    uint8_t none[BLOSC_EXTENDED_HEADER_LENGTH] = {0};
    CHECK_EQ(blosc2_schunk_append_chunk(schunk, none, true), BLOSC2_ERROR_INVALID_HEADER);
    CHECK_EQ(blosc2_schunk_update_chunk(schunk, 0, none, true), BLOSC2_ERROR_INVALID_HEADER);
    CHECK(blosc2_schunk_append_buffer(schunk, items, INT32_MAX) < 0);
    check_contents(schunk, (int[]){6, 7, 1, 3, 2, 7, 7}, 7);

    if (is_on_disk(store)) {
      CHECK_EQ(blosc2_schunk_free(schunk), 0);
      schunk = blosc2_schunk_open(path);
      CHECK(schunk != NULL);
      check_contents(schunk, (int[]){6, 7, 1, 3, 2, 7, 7}, 7);
    }
    while (schunk->nchunks > 0) {
      CHECK_EQ(blosc2_schunk_delete_chunk(schunk, 0), schunk->nchunks);
    }
    append_chunks(schunk, 0, 2);
    check_contents(schunk, IN_ORDER, 2);
    discard(schunk, is_on_disk(store) ? path : NULL);
  }
}

static void compressed_and_lazy_chunks(void) {
  char path[PATH_ROOM];
  int32_t items[NITEMS], got[NITEMS];
  for (int store = 0; store < NSTORES; store++) {
    fresh(path);
    blosc2_schunk *schunk = filled(store, path);
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    dparams.schunk = schunk;
    blosc2_context *context = blosc2_create_dctx(dparams);
    CHECK(context != NULL);
    for (int n = 0; n < NCHUNKS; n++) {
      fill_chunk(items, n);
      uint8_t *chunk = NULL;
      bool needs_free = !is_on_disk(store);
      int cbytes = blosc2_schunk_get_chunk(schunk, n, &chunk, &needs_free);
      CHECK(cbytes > 0 && chunk != NULL);
      CHECK_EQ(needs_free, is_on_disk(store));
      CHECK_EQ(blosc2_decompress_ctx(context, chunk, cbytes, got, NBYTES), NBYTES);
      CHECK_BYTES(got, items, NBYTES);
      if (needs_free) {
        free(chunk);
      }
      int lazy_cbytes = blosc2_schunk_get_lazychunk(schunk, n, &chunk, &needs_free);
      CHECK(lazy_cbytes > 0 && chunk != NULL);
      CHECK_EQ(needs_free, is_on_disk(store));
      CHECK_EQ(blosc2_decompress_ctx(context, chunk, lazy_cbytes, got, NBYTES), NBYTES);
      CHECK_BYTES(got, items, NBYTES);
      CHECK_EQ(blosc2_getitem_ctx(context, chunk, lazy_cbytes, 700, 20, got, NBYTES), 80);
      CHECK_BYTES(got, items + 700, 80);
      if (needs_free) {
        free(chunk);
      }
    }
    uint8_t *chunk = NULL;
    bool needs_free = false;
    CHECK_EQ(blosc2_schunk_get_chunk(schunk, NCHUNKS, &chunk, &needs_free), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_EQ(blosc2_schunk_get_lazychunk(schunk, -1, &chunk, &needs_free), BLOSC2_ERROR_INVALID_PARAM);
    CHECK(chunk == NULL && !needs_free);
    CHECK_EQ(blosc2_schunk_decompress_chunk(schunk, 0, got, NBYTES - 1),
             store == MEMORY ? BLOSC2_ERROR_INVALID_PARAM : BLOSC2_ERROR_WRITE_BUFFER);
    int64_t *offsets = blosc2_frame_get_offsets(schunk);
    CHECK_EQ(offsets != NULL, store != MEMORY);
    if (offsets != NULL) {
      CHECK_EQ(offsets[0], 0);
      CHECK(offsets[1] > 0);
    }
    free(offsets);
    blosc2_free_ctx(context);
    discard(schunk, is_on_disk(store) ? path : NULL);
  }
}

static void slices(void) {
  enum { ALL = (NCHUNKS - 1) * NITEMS + SHORT_ITEMS, STEP = 997 };
  char path[PATH_ROOM];
  static int32_t got[ALL], wanted[ALL];
  int32_t items[NITEMS];
  for (int store = 0; store < NSTORES; store++) {
    fresh(path);
    blosc2_schunk *schunk = new_schunk(store, path, NULL);
    append_chunks(schunk, 0, NCHUNKS - 1);
    fill_chunk(items, NCHUNKS - 1);
    CHECK_EQ(blosc2_schunk_append_buffer(schunk, items, SHORT_ITEMS * 4), NCHUNKS);
    for (int i = 0; i < ALL; i++) {
      wanted[i] = item_at(i);
    }
    for (int start = 0; start < ALL; start += STEP) {
      for (int stop = start; stop <= ALL; stop += STEP) {
        memset(got, 0, sizeof(got));
        CHECK_EQ(blosc2_schunk_get_slice_buffer(schunk, start, stop, got), 0);
        CHECK_BYTES(got, wanted + start, (stop - start) * 4);
      }
    }
    CHECK_EQ(blosc2_schunk_get_slice_buffer(schunk, 0, ALL, got), 0);
    CHECK_BYTES(got, wanted, sizeof(wanted));
    CHECK_EQ(blosc2_schunk_get_slice_buffer(schunk, ALL - 1, ALL + 1, got), -1);
    CHECK_EQ(blosc2_schunk_get_slice_buffer(schunk, 5, 3, got), 0);

    for (int i = 1500; i < 6100; i++) {
      wanted[i] = -i;
    }
    CHECK_EQ(blosc2_schunk_set_slice_buffer(schunk, 1500, 6100, wanted + 1500), 0);
    wanted[ALL - 1] = 77;
    CHECK_EQ(blosc2_schunk_set_slice_buffer(schunk, ALL - 1, ALL, wanted + ALL - 1), 0);
    CHECK_EQ(blosc2_schunk_get_slice_buffer(schunk, 0, ALL, got), 0);
    CHECK_BYTES(got, wanted, sizeof(wanted));
    CHECK_EQ(schunk->nbytes, ALL * 4);

    if (ours) {
      /* The reference reads chunks incorrectly if they were compressed after one shorter than a block. */
      const int64_t coordinates[] = {ALL - 1, 0, 4321, 4321, 1999, 2000, 17};
      CHECK_EQ(blosc2_schunk_get_sparse_buffer(schunk, 7, coordinates, got), 0);
      for (int i = 0; i < 7; i++) {
        CHECK_EQ(got[i], wanted[coordinates[i]]);
      }
    }
    int64_t start = 1999, stop = 4001, *nchunks = NULL;
    CHECK_EQ(blosc2_get_slice_nchunks(schunk, &start, &stop, &nchunks), 3);
    CHECK(nchunks[0] == 0 && nchunks[1] == 1 && nchunks[2] == 2);
    free(nchunks);
    discard(schunk, is_on_disk(store) ? path : NULL);
  }
}

static void sparse_items(void) {
  char path[PATH_ROOM];
  int32_t got[10];
  for (int store = 0; store < NSTORES; store++) {
    fresh(path);
    blosc2_schunk *schunk = filled(store, path);
    int64_t coordinates[] = {NCHUNKS * NITEMS - 1, 0, 4321, 4321, 1999, 2000, 17};
    for (int count = 0; count <= 7; count++) {
      CHECK_EQ(blosc2_schunk_get_sparse_buffer(schunk, count, coordinates, got), 0);
      for (int i = 0; i < count; i++) {
        CHECK_EQ(got[i], item_at(coordinates[i]));
      }
    }
    coordinates[2] = NCHUNKS * NITEMS;
    CHECK_EQ(blosc2_schunk_get_sparse_buffer(schunk, 3, coordinates, got), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_EQ(blosc2_schunk_get_sparse_buffer(schunk, -1, coordinates, got), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_EQ(blosc2_schunk_get_sparse_buffer(schunk, 2, NULL, got), BLOSC2_ERROR_INVALID_PARAM);
    discard(schunk, is_on_disk(store) ? path : NULL);
  }
}

static void special_chunks(void) {
  char path[PATH_ROOM];
  int32_t items[NITEMS];
  const int kinds[] = {BLOSC2_SPECIAL_ZERO, BLOSC2_SPECIAL_NAN, BLOSC2_SPECIAL_UNINIT};
  for (int store = 0; store < NSTORES; store++) {
    for (int k = 0; k < 3; k++) {
      fresh(path);
      blosc2_schunk *schunk = new_schunk(store, path, NULL);
      CHECK_EQ(blosc2_schunk_fill_special(schunk, 3 * NITEMS + 10, kinds[k], NBYTES), 4);
      CHECK_EQ(schunk->nbytes, (3 * NITEMS + 10) * 4);
      memset(items, 1, sizeof(items));
      CHECK_EQ(blosc2_schunk_decompress_chunk(schunk, 1, items, NBYTES), NBYTES);
      CHECK_EQ(blosc2_schunk_decompress_chunk(schunk, 3, items, NBYTES), 40);
      if (kinds[k] == BLOSC2_SPECIAL_ZERO) {
        CHECK_EQ(items[0] | items[NITEMS - 1], 0);
      }
      if (kinds[k] == BLOSC2_SPECIAL_NAN) {
        float first;
        memcpy(&first, items, sizeof(first));
        CHECK(first != first);
      }
      CHECK_EQ(blosc2_schunk_fill_special(schunk, 10, kinds[k], NBYTES), BLOSC2_ERROR_FRAME_SPECIAL);
      uint8_t *chunk;
      bool needs_free;
      CHECK_EQ(blosc2_schunk_get_chunk(schunk, 0, &chunk, &needs_free), BLOSC_EXTENDED_HEADER_LENGTH);
      CHECK_EQ(needs_free, store != MEMORY);
      if (needs_free) {
        free(chunk);
      }
      fill_chunk(items, 2);
      CHECK_EQ(blosc2_schunk_update_chunk(schunk, 2, make_chunk(items, NBYTES), false), 4);
      check_chunk(schunk, 2, 2, NITEMS);
      discard(schunk, is_on_disk(store) ? path : NULL);
    }
    fresh(path);
    blosc2_schunk *schunk = new_schunk(store, path, NULL);
    CHECK_EQ(blosc2_schunk_fill_special(schunk, 0, 77, -1), 0);
    CHECK_EQ(blosc2_schunk_fill_special(schunk, -1, BLOSC2_SPECIAL_ZERO, NBYTES), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_EQ(blosc2_schunk_fill_special(schunk, 10, BLOSC2_SPECIAL_ZERO, 0), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_EQ(blosc2_schunk_fill_special(schunk, 10, BLOSC2_SPECIAL_VALUE, NBYTES),
             store == MEMORY ? BLOSC2_ERROR_SCHUNK_SPECIAL : BLOSC2_ERROR_FRAME_SPECIAL);
    discard(schunk, is_on_disk(store) ? path : NULL);
  }
}

static void metalayers(void) {
  char path[PATH_ROOM];
  uint8_t content[] = "content";
  static uint8_t large[5000];
  memset(large, 'x', sizeof(large));
  for (int store = 0; store < NSTORES; store++) {
    fresh(path);
    blosc2_schunk *schunk = new_schunk(store, path, NULL);
    CHECK_EQ(blosc2_meta_add(schunk, "one", content, 7), 0);
    CHECK_EQ(blosc2_meta_add(schunk, "two", content, 0), 1);
    CHECK_EQ(blosc2_meta_add(schunk, "one", content, 7), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_EQ(blosc2_vlmeta_add(schunk, "short", content, 7, NULL), 0);
    append_chunks(schunk, 0, 2);
    CHECK_EQ(blosc2_meta_update(schunk, "one", (uint8_t *)"XYZ", 3), 0);
    CHECK_EQ(blosc2_meta_update(schunk, "none", content, 3), BLOSC2_ERROR_NOT_FOUND);
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.compcode = BLOSC_ZSTD;
    CHECK_EQ(blosc2_vlmeta_add(schunk, "long", large, sizeof(large), &cparams), 1);
    CHECK_EQ(blosc2_vlmeta_add(schunk, "third", large, 100, NULL), 2);
    CHECK_EQ(blosc2_vlmeta_add(schunk, "long", large, 10, NULL), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_EQ(blosc2_vlmeta_update(schunk, "short", large, 300, &cparams), 0);
    CHECK_EQ(blosc2_vlmeta_update(schunk, "third", large, 0, NULL), 2);
    CHECK_EQ(blosc2_vlmeta_update(schunk, "none", large, 10, NULL), BLOSC2_ERROR_NOT_FOUND);
    CHECK_EQ(blosc2_vlmeta_delete(schunk, "long"), 2);
    CHECK_EQ(blosc2_vlmeta_delete(schunk, "long"), BLOSC2_ERROR_NOT_FOUND);
    CHECK_EQ(blosc2_vlmeta_exists(schunk, "third"), 1);
    if (is_on_disk(store)) {
      CHECK_EQ(blosc2_schunk_free(schunk), 0);
      schunk = blosc2_schunk_open(path);
      CHECK(schunk != NULL);
    }
    uint8_t *got = NULL;
    int32_t len = -1;
    CHECK_EQ(blosc2_meta_exists(schunk, "two"), 1);
    CHECK_EQ(blosc2_meta_get(schunk, "one", &got, &len), 0);
    CHECK_EQ(len, 7);
    CHECK_BYTES(got, "XYZtent", 7);
    free(got);
    CHECK_EQ(blosc2_vlmeta_get(schunk, "short", &got, &len), 0);
    CHECK_EQ(len, 300);
    CHECK_BYTES(got, large, 300);
    free(got);
    CHECK_EQ(blosc2_vlmeta_get(schunk, "third", &got, &len), 1);
    CHECK(got == NULL && len == 0);
    CHECK_EQ(blosc2_vlmeta_get(schunk, "long", &got, &len), BLOSC2_ERROR_NOT_FOUND);
    char *names[BLOSC2_MAX_VLMETALAYERS];
    CHECK_EQ(blosc2_vlmeta_get_names(schunk, names), 2);
    CHECK_STR(names[0], "short");
    CHECK_STR(names[1], "third");
    check_contents(schunk, IN_ORDER, 2);
    if (ours) {
      /* The reference stores the metalayers that it should reject, or writes past the end of its array. */
      char too_long[] = "a name of thirty-two characters!";
      CHECK_EQ(strlen(too_long), 32);
      CHECK_EQ(blosc2_vlmeta_add(schunk, too_long, content, 7, NULL), BLOSC2_ERROR_INVALID_PARAM);
      CHECK_EQ(blosc2_meta_add(schunk, too_long, content, 7), BLOSC2_ERROR_INVALID_PARAM);
      if (store != MEMORY) {
        CHECK_EQ(blosc2_meta_add(schunk, "late", content, 7), BLOSC2_ERROR_INVALID_PARAM);
        for (int n = 2; n < 16; n++) {
          char name[2] = {(char)('a' + n), 0};
          CHECK_EQ(blosc2_vlmeta_add(schunk, name, large, n * 50, NULL), n);
        }
        CHECK_EQ(blosc2_vlmeta_add(schunk, "17th", content, 7, NULL), BLOSC2_ERROR_FAILURE);
      }
      CHECK_EQ(blosc2_vlmeta_exists(schunk, "17th"), BLOSC2_ERROR_NOT_FOUND);
      append_chunks(schunk, 2, 3);
      check_contents(schunk, IN_ORDER, 3);
    }
    discard(schunk, is_on_disk(store) ? path : NULL);
  }
}

static void add_metalayers(blosc2_schunk *schunk) {
  CHECK_EQ(blosc2_meta_add(schunk, "fixed", (uint8_t *)"abc", 3), 0);
  CHECK_EQ(blosc2_vlmeta_add(schunk, "variable", (uint8_t *)"defg", 4, NULL), 0);
}

static void check_metalayers(blosc2_schunk *schunk) {
  uint8_t *got;
  int32_t len;
  CHECK_EQ(blosc2_meta_get(schunk, "fixed", &got, &len), 0);
  CHECK_EQ(len, 3);
  CHECK_BYTES(got, "abc", 3);
  free(got);
  CHECK_EQ(blosc2_vlmeta_get(schunk, "variable", &got, &len), 0);
  CHECK_EQ(len, 4);
  CHECK_BYTES(got, "defg", 4);
  free(got);
}

static void copies(void) {
  char path[PATH_ROOM], copy_path[PATH_ROOM];
  for (int from = 0; from < NSTORES; from++) {
    for (int to = 0; to < NSTORES; to++) {
      for (int other_codec = 0; other_codec < 2; other_codec++) {
        fresh(path);
        fresh(copy_path);
        blosc2_schunk *schunk = new_schunk(from, path, NULL);
        add_metalayers(schunk);
        append_chunks(schunk, 0, 3);
        blosc2_cparams cparams = parameters();
        cparams.compcode = other_codec ? BLOSC_ZSTD : BLOSC_LZ4;
        blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
        storage.contiguous = is_contiguous(to);
        storage.urlpath = is_on_disk(to) ? copy_path : NULL;
        storage.cparams = &cparams;
        blosc2_schunk *copy = blosc2_schunk_copy(schunk, &storage);
        CHECK(copy != NULL);
        CHECK_EQ(copy->compcode, cparams.compcode);
        check_contents(copy, IN_ORDER, 3);
        check_metalayers(copy);
        if (is_on_disk(to)) {
          CHECK(blosc2_schunk_copy(schunk, &storage) == NULL);
        }
        discard(schunk, is_on_disk(from) ? path : NULL);
        append_chunks(copy, 3, 4);
        check_contents(copy, IN_ORDER, 4);
        discard(copy, is_on_disk(to) ? copy_path : NULL);
      }
    }
  }
}

static void buffers(void) {
  char path[PATH_ROOM];
  for (int store = 0; store < NSTORES; store++) {
    fresh(path);
    blosc2_schunk *schunk = new_schunk(store, path, NULL);
    add_metalayers(schunk);
    append_chunks(schunk, 0, NCHUNKS);
    uint8_t *frame;
    bool needs_free;
    int64_t len = blosc2_schunk_to_buffer(schunk, &frame, &needs_free);
    CHECK(len > 0 && frame != NULL);
    CHECK_EQ(needs_free, store != MEMORY_FRAME);

    /* Copied: independent of the buffer. */
    blosc2_schunk *copied = blosc2_schunk_from_buffer(frame, len, true);
    CHECK(copied != NULL);
    CHECK(copied->frame == NULL);

    /* Borrowed: the caller keeps the buffer. */
    uint8_t *own = malloc((size_t)len);
    CHECK(own != NULL);
    memcpy(own, frame, (size_t)len);
    blosc2_schunk *borrowed = blosc2_schunk_from_buffer(own, len, false);
    CHECK(borrowed != NULL);
    check_contents(borrowed, IN_ORDER, NCHUNKS);
    check_metalayers(borrowed);
    CHECK_EQ(blosc2_schunk_free(borrowed), 0);
    free(own);

    /* Passed to the super-chunk: freed with it. */
    own = malloc((size_t)len);
    CHECK(own != NULL);
    memcpy(own, frame, (size_t)len);
    borrowed = blosc2_schunk_from_buffer(own, len, false);
    CHECK(borrowed != NULL);
    blosc2_schunk_avoid_cframe_free(borrowed, false);
    check_contents(borrowed, IN_ORDER, NCHUNKS);
    CHECK_EQ(blosc2_schunk_free(borrowed), 0);

    if (ours) {
      /* The reference reallocates the caller's buffer. */
      own = malloc((size_t)len);
      CHECK(own != NULL);
      memcpy(own, frame, (size_t)len);
      borrowed = blosc2_schunk_from_buffer(own, len, false);
      CHECK(borrowed != NULL);
      append_chunks(borrowed, NCHUNKS, NCHUNKS + 2);
      check_contents(borrowed, IN_ORDER, NCHUNKS + 2);
      CHECK_BYTES(own, frame, len);
      CHECK_EQ(blosc2_schunk_free(borrowed), 0);
      free(own);
    }

    /* The caller keeps a buffer that is not a frame. */
    own = malloc((size_t)len);
    CHECK(own != NULL);
    memcpy(own, frame, (size_t)len);
    CHECK(blosc2_schunk_from_buffer(NULL, len, true) == NULL);
    CHECK(blosc2_schunk_from_buffer(own, len - 1, true) == NULL);
    CHECK(blosc2_schunk_from_buffer(own, 40, false) == NULL);
    own[3] ^= 1;
    CHECK(blosc2_schunk_from_buffer(own, len, true) == NULL);
    CHECK(blosc2_schunk_from_buffer(own, len, false) == NULL);
    free(own);
    if (needs_free) {
      free(frame);
    }

    discard(schunk, is_on_disk(store) ? path : NULL);
    check_contents(copied, IN_ORDER, NCHUNKS);
    check_metalayers(copied);
    append_chunks(copied, NCHUNKS, NCHUNKS + 2);
    check_contents(copied, IN_ORDER, NCHUNKS + 2);
    CHECK_EQ(blosc2_schunk_free(copied), 0);
  }
  /* The super-chunk gives its frame buffer to the caller. */
  blosc2_schunk *schunk = filled(MEMORY_FRAME, NULL);
  uint8_t *frame;
  bool needs_free;
  int64_t len = blosc2_schunk_to_buffer(schunk, &frame, &needs_free);
  CHECK(!needs_free);
  blosc2_schunk_avoid_cframe_free(schunk, true);
  CHECK_EQ(blosc2_schunk_free(schunk), 0);
  schunk = blosc2_schunk_from_buffer(frame, len, false);
  CHECK(schunk != NULL);
  blosc2_schunk_avoid_cframe_free(schunk, false);
  check_contents(schunk, IN_ORDER, NCHUNKS);
  CHECK_EQ(blosc2_schunk_free(schunk), 0);
}

static void files(void) {
  char path[PATH_ROOM], one[PATH_ROOM], all[PATH_ROOM];
  for (int store = 0; store < NSTORES; store++) {
    fresh(path);
    fresh(one);
    fresh(all);
    blosc2_schunk *schunk = filled(store, path);
    int64_t len = blosc2_schunk_to_file(schunk, one);
    CHECK(len > 0);
    if (store != MEMORY_FRAME) {
      CHECK_EQ(blosc2_schunk_to_file(schunk, one), BLOSC2_ERROR_SCHUNK_COPY);
    }
    CHECK_EQ(blosc2_schunk_to_file(schunk, NULL), BLOSC2_ERROR_INVALID_PARAM);
    blosc2_schunk *opened = blosc2_schunk_open(one);
    CHECK(opened != NULL);
    check_contents(opened, IN_ORDER, NCHUNKS);
    CHECK_EQ(blosc2_schunk_frame_len(opened), len);
    discard(opened, one);

    CHECK_EQ(blosc2_schunk_append_file(schunk, all), 0);
    int64_t second = blosc2_schunk_append_file(schunk, all);
    CHECK(second > 0);
    CHECK_EQ(blosc2_schunk_free(schunk), 0);
    for (int n = 0; n < 2; n++) {
      opened = n == 0 ? blosc2_schunk_open_offset(all, 0) : blosc2_schunk_open_offset(all, second);
      CHECK(opened != NULL);
      check_contents(opened, IN_ORDER, NCHUNKS);
      if (n == 1) {
        append_chunks(opened, NCHUNKS, NCHUNKS + 1);
        check_contents(opened, IN_ORDER, NCHUNKS + 1);
      }
      CHECK_EQ(blosc2_schunk_free(opened), 0);
    }
    CHECK(blosc2_schunk_open_offset(all, second + 1) == NULL);
    CHECK(blosc2_schunk_open_offset(all, -1) == NULL);
    opened = blosc2_schunk_open(all);
    CHECK(opened != NULL);
    check_contents(opened, IN_ORDER, NCHUNKS);
    discard(opened, all);
    if (is_on_disk(store)) {
      CHECK_EQ(blosc2_remove_urlpath(path), 0);
    }
  }
  CHECK(blosc2_schunk_open(fresh(path)) == NULL);
  CHECK(blosc2_schunk_open(NULL) == NULL);
  /* Files that are not frames. */
  for (int len = 0; len < 300; len += 60) {
    uint8_t noise[300];
    fill_noise(noise, len);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    CHECK_EQ(fwrite(noise, 1, (size_t)len, file), len);
    CHECK_EQ(fclose(file), 0);
    CHECK(blosc2_schunk_open(path) == NULL);
  }
  CHECK_EQ(remove(path), 0);
}

/* Two handles on one file, with the lock between processes. */
static void locks(void) {
  char path[PATH_ROOM];
  for (int store = 0; store < NSTORES; store++) {
    fresh(path);
    blosc2_schunk *schunk = filled(store, path);
    CHECK_EQ(blosc2_schunk_refresh(schunk), 0);
    CHECK_EQ(blosc2_schunk_lock(schunk), 0);
    CHECK_EQ(blosc2_schunk_unlock(schunk), 0);
    if (is_on_disk(store)) {
      blosc2_stdio_params params = {.locking = true};
      blosc2_io io = {.id = BLOSC2_IO_FILESYSTEM, .name = "filesystem", .params = &params};
      blosc2_schunk *one = blosc2_schunk_open_udio(path, &io);
      blosc2_schunk *two = blosc2_schunk_open_udio(path, &io);
      CHECK(one != NULL && two != NULL);
      CHECK_EQ(blosc2_schunk_lock(one), 0);
      CHECK_EQ(blosc2_schunk_lock(one), 0);
      append_chunks(one, NCHUNKS, NCHUNKS + 1);
      check_contents(one, IN_ORDER, NCHUNKS + 1);
      for (int n = 0; n < 3; n++) {
        CHECK_EQ(blosc2_schunk_unlock(one), 0);
      }
      CHECK_EQ(two->nchunks, NCHUNKS);
      CHECK_EQ(blosc2_schunk_refresh(two), 1);
      CHECK_EQ(blosc2_schunk_refresh(two), 0);
      append_chunks(two, NCHUNKS + 1, NCHUNKS + 2);
      append_chunks(one, NCHUNKS + 2, NCHUNKS + 3);
      check_contents(one, IN_ORDER, NCHUNKS + 3);
      CHECK_EQ(blosc2_schunk_refresh(two), 1);
      check_contents(two, IN_ORDER, NCHUNKS + 3);
      CHECK_EQ(blosc2_schunk_free(one), 0);
      CHECK_EQ(blosc2_schunk_free(two), 0);
    }
    discard(schunk, is_on_disk(store) ? path : NULL);
  }
}

/* A user-defined back-end: plain files, with counters. */
typedef struct {
  int opened;
  int closed;
  int destroyed;
} counts;

static void *my_open(const char *path, const char *mode, void *params) {
  void *stream = blosc2_stdio_open(path, mode, NULL);
  if (stream != NULL) {
    ((counts *)params)->opened++;
  }
  return stream;
}

static counts *closing;

static int my_close(void *stream) {
  closing->closed++;
  return blosc2_stdio_close(stream);
}

static int my_destroy(void *params) {
  ((counts *)params)->destroyed++;
  return 0;
}

static void back_ends(void) {
  blosc2_io_cb callbacks = {
    .id = MY_IO,
    .name = "counting",
    .is_allocation_necessary = true,
    .open = my_open,
    .close = my_close,
    .size = blosc2_stdio_size,
    .write = blosc2_stdio_write,
    .read = blosc2_stdio_read,
    .truncate = blosc2_stdio_truncate,
    .destroy = my_destroy,
  };
  CHECK_EQ(blosc2_register_io_cb(&callbacks), 0);
  CHECK_EQ(blosc2_register_io_cb(&callbacks), 0);
  CHECK_EQ(blosc2_register_io_cb(NULL), BLOSC2_ERROR_INVALID_PARAM);
  CHECK(blosc2_get_io_cb(MY_IO) != NULL);
  char path[PATH_ROOM];
  for (int store = FILE_FRAME; store <= DIRECTORY; store++) {
    fresh(path);
    counts made = {0, 0, 0}, opened = {0, 0, 0};
    blosc2_io io = {.id = MY_IO, .name = "counting", .params = &made};
    closing = &made;
    blosc2_schunk *schunk = new_schunk(store, path, &io);
    CHECK(schunk != NULL);
    add_metalayers(schunk);
    append_chunks(schunk, 0, NCHUNKS);
    CHECK_EQ(blosc2_schunk_delete_chunk(schunk, 4), 4);
    check_contents(schunk, IN_ORDER, 4);
    CHECK_EQ(blosc2_schunk_free(schunk), 0);
    CHECK(made.opened > 0);
    CHECK_EQ(made.opened, made.closed);
    CHECK_EQ(made.destroyed, 1);

    io.params = &opened;
    closing = &opened;
    schunk = blosc2_schunk_open_udio(path, &io);
    CHECK(schunk != NULL);
    append_chunks(schunk, 4, NCHUNKS);
    check_contents(schunk, IN_ORDER, NCHUNKS);
    check_metalayers(schunk);
    int32_t got[100];
    CHECK_EQ(blosc2_schunk_get_slice_buffer(schunk, 1950, 2050, got), 0);
    CHECK_EQ(got[99], item_at(2049));
    CHECK_EQ(blosc2_schunk_free(schunk), 0);
    CHECK_EQ(opened.opened, opened.closed);
    CHECK_EQ(opened.destroyed, 1);
    CHECK_EQ(blosc2_remove_urlpath(path), 0);
    /* Also if the file cannot be opened. */
    CHECK(blosc2_schunk_open_udio(path, &io) == NULL);
    CHECK_EQ(opened.destroyed, 2);
    CHECK_EQ(opened.opened, opened.closed);
  }
}

static void mapped_files(void) {
  char path[PATH_ROOM];
  blosc2_stdio_mmap params = BLOSC2_STDIO_MMAP_DEFAULTS;
  blosc2_io io = {.id = BLOSC2_IO_FILESYSTEM_MMAP, .name = "filesystem_mmap", .params = &params};
  params.mode = "w+";
  blosc2_schunk *schunk = new_schunk(FILE_FRAME, (char *)fresh(path), &io);
  CHECK(schunk != NULL);
  add_metalayers(schunk);
  append_chunks(schunk, 0, NCHUNKS);
  check_contents(schunk, IN_ORDER, NCHUNKS);
  CHECK_EQ(blosc2_schunk_free(schunk), 0);
  for (int n = 0; n < 2; n++) {
    blosc2_stdio_mmap again = BLOSC2_STDIO_MMAP_DEFAULTS;
    again.mode = n == 0 ? "r" : "r+";
    io.params = &again;
    schunk = blosc2_schunk_open_udio(path, &io);
    CHECK(schunk != NULL);
    check_contents(schunk, IN_ORDER, NCHUNKS);
    check_metalayers(schunk);
    uint8_t *chunk;
    bool needs_free;
    CHECK(blosc2_schunk_get_chunk(schunk, 2, &chunk, &needs_free) > 0);
    CHECK(!needs_free);
    if (n == 1) {
      append_chunks(schunk, NCHUNKS, NCHUNKS + 2);
      check_contents(schunk, IN_ORDER, NCHUNKS + 2);
    }
    CHECK_EQ(blosc2_schunk_free(schunk), 0);
  }
  schunk = blosc2_schunk_open(path);
  CHECK(schunk != NULL);
  check_contents(schunk, IN_ORDER, NCHUNKS + 2);
  discard(schunk, path);
}

static void variable_length_blocks(void) {
  char path[PATH_ROOM];
  const char *texts[] = {"one", "another text", "x"};
  const void *sources[3];
  int32_t sizes[3];
  for (int n = 0; n < 3; n++) {
    sources[n] = texts[n];
    sizes[n] = (int32_t)strlen(texts[n]);
  }
  for (int store = 0; store < NSTORES; store++) {
    fresh(path);
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.typesize = 1;
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    storage.contiguous = is_contiguous(store);
    storage.urlpath = is_on_disk(store) ? path : NULL;
    storage.cparams = &cparams;
    blosc2_schunk *schunk = blosc2_schunk_new(&storage);
    CHECK(schunk != NULL);
    uint8_t chunk[1000];
    for (int n = 0; n < 3; n++) {
      blosc2_context *context = blosc2_create_cctx(cparams);
      CHECK(blosc2_vlcompress_ctx(context, sources, sizes, 3, chunk, sizeof(chunk)) > 0);
      blosc2_free_ctx(context);
      CHECK_EQ(blosc2_schunk_append_chunk(schunk, chunk, true), n + 1);
    }
    for (int n = 0; n < 9; n++) {
      uint8_t *block;
      int32_t size;
      CHECK_EQ(blosc2_schunk_get_vlblock(schunk, n / 3, n % 3, &block, &size), sizes[n % 3]);
      CHECK_EQ(size, sizes[n % 3]);
      CHECK_BYTES(block, texts[n % 3], size);
      free(block);
    }
    uint8_t *block;
    int32_t size;
    CHECK_EQ(blosc2_schunk_get_vlblock(schunk, 0, 3, &block, &size), BLOSC2_ERROR_INVALID_PARAM);
    CHECK_EQ(blosc2_schunk_get_vlblock(schunk, 3, 0, &block, &size), BLOSC2_ERROR_INVALID_PARAM);
    int32_t items[NITEMS];
    fill_chunk(items, 0);
    CHECK_EQ(blosc2_schunk_append_buffer(schunk, items, NBYTES), BLOSC2_ERROR_CHUNK_APPEND);
    discard(schunk, is_on_disk(store) ? path : NULL);
  }
}

int main(int argc, char **argv) {
  ours = asked_for_ours(argc, argv);
  CHECK(mkdtemp(directory) != NULL);
  blosc2_init();
  RUN(creation);
  RUN(changes);
  RUN(compressed_and_lazy_chunks);
  RUN(slices);
  RUN(sparse_items);
  RUN(special_chunks);
  RUN(metalayers);
  RUN(copies);
  RUN(buffers);
  RUN(files);
  RUN(locks);
  RUN(back_ends);
  RUN(mapped_files);
  RUN(variable_length_blocks);
  blosc2_destroy();
  char sidecars[PATH_ROOM + 32];
  snprintf(sidecars, sizeof(sidecars), "rm -rf %s", directory);
  CHECK_EQ(system(sidecars), 0);
  return EXIT_SUCCESS;
}

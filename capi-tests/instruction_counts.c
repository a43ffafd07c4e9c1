/*
 * Calls that scripts/count-instructions.sh counts the instructions of. Each kind of call is a function of this file, which
 * `measured` calls CALLS times after a few calls that do not count.
 *
 *     instruction_counts context CODEC KIB FILE    one chunk of a codec; FILE names a chunk of the reference to decode, or,
 *                                                  if it does not exist, the file to write the chunk to
 *     instruction_counts short                     chunks of at most 4 KiB, contexts, headers
 *     instruction_counts schunk STORE FILE         super-chunks of 8 chunks of 4 KiB
 *     instruction_counts array STORE FILE          an array of 100 x 100 items
 *
 * STORE: memory, frame (in memory), file (changed a moment ago), old-file, future-file (its time stamp is in the future),
 * directory (changed a moment ago).
 */

#define _POSIX_C_SOURCE 200809L

#include <b2nd.h>
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "check.h"

enum { CALLS = 40, WARM = 8, ITEMS = 100, MOST = 1 << 20, NCHUNKS = 8, CHUNKSIZE = 4096, CHUNKITEMS = CHUNKSIZE / 8 };

#define CALL __attribute__((noinline)) static void

static uint8_t content[MOST], restored[MOST], chunk[MOST + BLOSC2_MAX_OVERHEAD];
static int32_t nbytes, cbytes, typesize;
static blosc2_context *compressor, *decompressor;

__attribute__((noinline)) static void measured(void (*call)(int)) {
  for (int n = 0; n < CALLS; n++) call(WARM + n);
}

static void measure(void (*call)(int)) {
  for (int n = 0; n < WARM; n++) call(n);
  measured(call);
}

/* 32-bit items: a random walk with plateaus of 256 items, partly compressible with every codec. */
static void fill_walk(int32_t first) {
  int32_t *items = (int32_t *)content;
  uint32_t state = 1;
  int32_t value = 0;
  for (int32_t i = 0; i < nbytes / 4; i++) {
    state = state * 1664525u + 1013904223u;
    if ((first + i) / 256 % 4 != 0) value += (int32_t)(state >> 24) - 128;
    items[i] = value;
  }
}

static blosc2_cparams cparams_for(int codec, int clevel) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = (uint8_t)codec;
  cparams.clevel = (uint8_t)clevel;
  cparams.typesize = typesize;
  return cparams;
}

/* --- Chunks. */

CALL compress(int n) {
  (void)n;
  cbytes = blosc2_compress_ctx(compressor, content, nbytes, chunk, sizeof chunk);
  CHECK(cbytes > 0);
}

CALL decompress(int n) {
  (void)n;
  CHECK_EQ(blosc2_decompress_ctx(decompressor, chunk, cbytes, restored, nbytes), nbytes);
}

CALL getitem_100(int n) {
  int start = n % (nbytes / typesize - ITEMS);
  CHECK_EQ(blosc2_getitem_ctx(decompressor, chunk, cbytes, start, ITEMS, restored, ITEMS * typesize), ITEMS * typesize);
}

static void measure_context(const char *codec, const char *kib, const char *path) {
  typesize = 4;
  nbytes = atoi(kib) * 1024;
  CHECK(nbytes > 0 && nbytes <= MOST && blosc2_compname_to_compcode(codec) >= 0);
  fill_walk(0);
  blosc2_cparams cparams = cparams_for(blosc2_compname_to_compcode(codec), 5);
  cparams.blocksize = 32 * 1024;
  compressor = blosc2_create_cctx(cparams);
  decompressor = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  measure(compress);
  /* Both libraries decode the chunk that was written first. */
  FILE *file = fopen(path, "rb");
  if (file != NULL) {
    cbytes = (int32_t)fread(chunk, 1, sizeof chunk, file);
  } else {
    file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(chunk, 1, (size_t)cbytes, file) == (size_t)cbytes);
  }
  CHECK_EQ(fclose(file), 0);
  measure(decompress);
  CHECK_BYTES(restored, content, nbytes);
  measure(getitem_100);
}

CALL cbuffer_sizes(int n) {
  int32_t sizes[3];
  (void)n;
  CHECK_EQ(blosc2_cbuffer_sizes(chunk, &sizes[0], &sizes[1], &sizes[2]), 0);
}

CALL getitem_1(int n) {
  CHECK_EQ(blosc2_getitem_ctx(decompressor, chunk, cbytes, n, 1, restored, typesize), typesize);
}

CALL create_cctx(int n) {
  (void)n;
  blosc2_free_ctx(blosc2_create_cctx(cparams_for(BLOSC_LZ4, 5)));
}

CALL create_dctx(int n) {
  (void)n;
  blosc2_free_ctx(blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS));
}

/* The calls above, with other chunks. */
CALL stored_getitem_1(int n) { getitem_1(n); }
CALL stored_getitem_100(int n) { getitem_100(n); }
CALL stored_decompress(int n) { decompress(n); }
CALL zeros_getitem_1(int n) { getitem_1(n); }
CALL zeros_decompress(int n) { decompress(n); }
CALL zeros_compress_512(int n) { compress(n); }
CALL lz4_getitem_1(int n) { getitem_1(n); }
CALL lz4_compress_512(int n) { compress(n); }
CALL lz4_decompress_512(int n) { decompress(n); }

/* Sets the content to a walk or zeros, and the chunk to its chunk. */
static void make_chunk(int clevel, int size, int has_zeros) {
  nbytes = size;
  fill_walk(256);
  if (has_zeros) memset(content, 0, (size_t)nbytes);
  if (compressor != NULL) blosc2_free_ctx(compressor);
  compressor = blosc2_create_cctx(cparams_for(BLOSC_LZ4, clevel));
  compress(0);
}

static void measure_short(void) {
  typesize = 8;
  decompressor = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  measure(create_cctx);
  measure(create_dctx);
  make_chunk(0, CHUNKSIZE, 0);
  measure(cbuffer_sizes);
  measure(stored_getitem_1);
  measure(stored_getitem_100);
  measure(stored_decompress);
  make_chunk(5, CHUNKSIZE, 1);
  measure(zeros_getitem_1);
  measure(zeros_decompress);
  make_chunk(5, CHUNKSIZE, 0);
  measure(lz4_getitem_1);
  make_chunk(5, 512, 1);
  measure(zeros_compress_512);
  make_chunk(5, 512, 0);
  measure(lz4_compress_512);
  measure(lz4_decompress_512);
}

/* --- Super-chunks and arrays. */

static const char *store, *path;
static blosc2_schunk *schunk;
static b2nd_array_t *array;
static blosc2_cparams cparams;
static blosc2_dparams dparams;
static double items[CHUNKITEMS], slice[CHUNKITEMS];

static int is_on_disk(void) { return strcmp(store, "memory") != 0 && strcmp(store, "frame") != 0; }

static blosc2_storage storage_of(int codec_level) {
  cparams = cparams_for(BLOSC_LZ4, codec_level);
  dparams = BLOSC2_DPARAMS_DEFAULTS;
  int is_contiguous = strcmp(store, "memory") != 0 && strcmp(store, "directory") != 0;
  blosc2_storage storage = {
      .contiguous = is_contiguous, .urlpath = is_on_disk() ? (char *)path : NULL, .cparams = &cparams, .dparams = &dparams};
  if (is_on_disk()) blosc2_remove_urlpath(path);
  return storage;
}

static struct timespec now;

/* The clock of both libraries: it makes no system call, which the kernel's does in Valgrind only, and stands still. */
int clock_gettime(clockid_t clock, struct timespec *time) {
  (void)clock;
  *time = now;
  return 0;
}

/* Sets the clock, so that the file has the age of the store. */
static void set_clock(void) {
  static char index_file[4096];
  struct stat found;
  snprintf(index_file, sizeof index_file, "%s%s", path, strcmp(store, "directory") == 0 ? "/chunks.b2frame" : "");
  if (!is_on_disk() || stat(index_file, &found) != 0) return;
  now = found.st_ctim;
  now.tv_sec += strcmp(store, "old-file") == 0 ? 3600 : strcmp(store, "future-file") == 0 ? -3600 : 0;
}

static void measure_in_store(void (*call)(int)) {
  set_clock();
  measure(call);
}

static void open_schunk(int clevel, int has_zeros) {
  blosc2_storage storage = storage_of(clevel);
  schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  static uint8_t meta[20];
  CHECK(blosc2_meta_add(schunk, "meta", meta, sizeof meta) >= 0);
  for (int i = 0; i < CHUNKITEMS; i++) items[i] = has_zeros ? 0 : i * 1.5;
  for (int n = 1; n <= NCHUNKS; n++) CHECK_EQ(blosc2_schunk_append_buffer(schunk, items, CHUNKSIZE), n);
  CHECK(blosc2_vlmeta_add(schunk, "vlmeta", meta, sizeof meta, NULL) >= 0);
  if (!is_on_disk()) return;
  blosc2_schunk_free(schunk);
  set_clock();
  schunk = blosc2_schunk_open(path);
  CHECK(schunk != NULL);
}

CALL get_chunk(int n) {
  uint8_t *got;
  bool needs_free;
  CHECK(blosc2_schunk_get_chunk(schunk, n % NCHUNKS, &got, &needs_free) > 0);
  if (needs_free) free(got);
}

CALL get_lazychunk(int n) {
  uint8_t *got;
  bool needs_free;
  CHECK(blosc2_schunk_get_lazychunk(schunk, n % NCHUNKS, &got, &needs_free) > 0);
  if (needs_free) free(got);
}

CALL decompress_chunk(int n) {
  CHECK_EQ(blosc2_schunk_decompress_chunk(schunk, n % NCHUNKS, slice, CHUNKSIZE), CHUNKSIZE);
}

CALL get_slice_10(int n) {
  int64_t start = n * 37 % (NCHUNKS * CHUNKITEMS - 10);
  CHECK_EQ(blosc2_schunk_get_slice_buffer(schunk, start, start + 10, slice), 0);
}

CALL stored_decompress_chunk(int n) { decompress_chunk(n); }
CALL stored_get_slice_10(int n) { get_slice_10(n); }
CALL zeros_decompress_chunk(int n) { decompress_chunk(n); }
CALL zeros_get_slice_10(int n) { get_slice_10(n); }

CALL set_slice_10(int n) {
  int64_t start = n * 37 % (NCHUNKS * CHUNKITEMS - 10);
  CHECK_EQ(blosc2_schunk_set_slice_buffer(schunk, start, start + 10, items), 0);
}

CALL update_chunk(int n) { CHECK_EQ(blosc2_schunk_update_chunk(schunk, n % NCHUNKS, chunk, true), NCHUNKS); }

CALL insert_and_delete_chunk(int n) {
  CHECK_EQ(blosc2_schunk_insert_chunk(schunk, n % NCHUNKS, chunk, true), NCHUNKS + 1);
  CHECK_EQ(blosc2_schunk_delete_chunk(schunk, n % NCHUNKS), NCHUNKS);
}

CALL append_buffer(int n) { CHECK(blosc2_schunk_append_buffer(schunk, items, CHUNKSIZE) > n); }

CALL meta_get(int n) {
  uint8_t *got;
  int32_t len;
  (void)n;
  CHECK(blosc2_meta_get(schunk, "meta", &got, &len) >= 0);
  free(got);
}

CALL vlmeta_get(int n) {
  uint8_t *got;
  int32_t len;
  (void)n;
  CHECK(blosc2_vlmeta_get(schunk, "vlmeta", &got, &len) >= 0);
  free(got);
}

CALL open_and_free(int n) {
  (void)n;
  blosc2_schunk *opened = blosc2_schunk_open(path);
  CHECK(opened != NULL);
  blosc2_schunk_free(opened);
}

static void measure_schunk(void) {
  typesize = 8;
  open_schunk(0, 0);
  measure_in_store(stored_decompress_chunk);
  measure_in_store(stored_get_slice_10);
  blosc2_schunk_free(schunk);
  open_schunk(5, 1);
  measure_in_store(zeros_decompress_chunk);
  measure_in_store(zeros_get_slice_10);
  blosc2_schunk_free(schunk);
  open_schunk(5, 0);
  measure_in_store(get_chunk);
  measure_in_store(get_lazychunk);
  measure_in_store(decompress_chunk);
  measure_in_store(get_slice_10);
  measure_in_store(meta_get);
  measure_in_store(vlmeta_get);
  if (is_on_disk()) measure_in_store(open_and_free);
  /* Changes give a file the present time. */
  if (strcmp(store, "old-file") == 0 || strcmp(store, "future-file") == 0) return;
  nbytes = CHUNKSIZE;
  compressor = blosc2_create_cctx(cparams_for(BLOSC_LZ4, 5));
  memcpy(content, items, CHUNKSIZE);
  compress(0);
  measure(update_chunk);
  measure(set_slice_10);
  measure(insert_and_delete_chunk);
  measure(append_buffer);
  blosc2_schunk_free(schunk);
}

enum { SIDE = 100 };

CALL get_item(int n) {
  int64_t start[] = {n % SIDE, n * 7 % SIDE}, stop[] = {start[0] + 1, start[1] + 1}, box[] = {1, 1};
  CHECK_EQ(b2nd_get_slice_cbuffer(array, start, stop, slice, box, sizeof *slice), 0);
}

CALL get_box_of_100(int n) {
  int64_t start[] = {n % 90, n * 7 % 90}, stop[] = {start[0] + 10, start[1] + 10}, box[] = {10, 10};
  CHECK_EQ(b2nd_get_slice_cbuffer(array, start, stop, slice, box, 100 * sizeof *slice), 0);
}

CALL set_item(int n) {
  int64_t start[] = {n % SIDE, n * 7 % SIDE}, stop[] = {start[0] + 1, start[1] + 1}, box[] = {1, 1};
  CHECK_EQ(b2nd_set_slice_cbuffer(items, box, sizeof *items, start, stop, array), 0);
}

CALL open_and_free_array(int n) {
  (void)n;
  b2nd_array_t *opened;
  CHECK_EQ(b2nd_open(path, &opened), 0);
  CHECK_EQ(b2nd_free(opened), 0);
}

static void measure_array(void) {
  typesize = 8;
  blosc2_storage storage = storage_of(5);
  int64_t shape[] = {SIDE, SIDE};
  int32_t chunkshape[] = {50, 50}, blockshape[] = {10, 10};
  static double all[SIDE * SIDE];
  for (int i = 0; i < SIDE * SIDE; i++) all[i] = i * 1.5;
  b2nd_context_t *context = b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, "<f8", 0, NULL, 0);
  CHECK_EQ(b2nd_from_cbuffer(context, &array, all, sizeof all), 0);
  CHECK_EQ(b2nd_free_ctx(context), 0);
  if (is_on_disk()) {
    CHECK_EQ(b2nd_free(array), 0);
    set_clock();
    CHECK_EQ(b2nd_open(path, &array), 0);
  }
  measure_in_store(get_item);
  measure_in_store(get_box_of_100);
  if (is_on_disk()) measure_in_store(open_and_free_array);
  if (strcmp(store, "old-file") != 0 && strcmp(store, "future-file") != 0) measure(set_item);
  CHECK_EQ(b2nd_free(array), 0);
}

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  blosc2_init();
  store = argv[2];
  path = argv[3];
  if (strcmp(argv[1], "context") == 0 && argc == 5) measure_context(argv[2], argv[3], argv[4]);
  else if (strcmp(argv[1], "short") == 0 && argc == 2) measure_short();
  else if (strcmp(argv[1], "schunk") == 0 && argc == 4) measure_schunk();
  else if (strcmp(argv[1], "array") == 0 && argc == 4) measure_array();
  else CHECK(!"the arguments are wrong");
  blosc2_destroy();
  return 0;
}

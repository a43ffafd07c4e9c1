/*
 * Calls of the library from unusual places: from inside the callbacks of an I/O back-end, from the destructor of a
 * thread-specific value, with a threads callback, and through a view of an array in a user-defined back-end.
 */

#include "b2nd.h"
#include "blosc2.h"
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>

/* --- a back-end with one file, in memory --- */

static char file[1 << 22];
static int64_t file_len;
static bool lends;              /* whether `read` returns pointers */
static blosc2_schunk *observed; /* read from inside `write`, unless NULL */
static int reads_inside;
static int reading, most_reading;
static bool reads_are_slow;

static void *mem_open(const char *path, const char *mode, void *params) {
  (void)path, (void)params;
  if (mode[0] == 'w') file_len = 0;
  return file;
}

static int mem_close(void *stream) {
  (void)stream;
  return 0;
}

static int64_t mem_size(void *stream) {
  (void)stream;
  return file_len;
}

static int64_t mem_write(const void *ptr, int64_t size, int64_t nitems, int64_t position, void *stream) {
  (void)stream;
  static bool is_inside;
  if (observed != NULL && !is_inside) {
    int32_t items[1000];
    is_inside = true;
    int nbytes = blosc2_schunk_decompress_chunk(observed, 0, items, sizeof items);
    is_inside = false;
    /* After the write of the header, the file differs from the frame of the open super-chunk: an error. */
    CHECK(nbytes == BLOSC2_ERROR_FAILURE || (nbytes == sizeof items && items[999] == 999));
    if (nbytes > 0) reads_inside++;
  }
  CHECK(position + size * nitems <= (int64_t)sizeof file);
  memcpy(file + position, ptr, (size_t)(size * nitems));
  if (position + size * nitems > file_len) file_len = position + size * nitems;
  return nitems;
}

static int64_t mem_read(void **ptr, int64_t size, int64_t nitems, int64_t position, void *stream) {
  (void)stream;
  int now = __atomic_add_fetch(&reading, 1, __ATOMIC_SEQ_CST);
  if (now > most_reading) most_reading = now;
  if (reads_are_slow) nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
  int64_t done = 0;
  if (position + size * nitems <= file_len) {
    done = nitems;
    if (lends) {
      *ptr = file + position;
    } else {
      memcpy(*ptr, file + position, (size_t)(size * nitems));
    }
  }
  __atomic_sub_fetch(&reading, 1, __ATOMIC_SEQ_CST);
  return done;
}

static int mem_truncate(void *stream, int64_t size) {
  (void)stream;
  file_len = size;
  return 0;
}

static int mem_destroy(void *params) {
  (void)params;
  return 0;
}

static void register_back_end(uint8_t id, char *name, bool copies) {
  blosc2_io_cb callbacks = {
      .id = id,
      .name = name,
      .is_allocation_necessary = copies,
      .open = mem_open,
      .close = mem_close,
      .size = mem_size,
      .write = mem_write,
      .read = mem_read,
      .truncate = mem_truncate,
      .destroy = mem_destroy,
  };
  CHECK_EQ(blosc2_register_io_cb(&callbacks), 0);
}

/* A super-chunk can be read from inside the write of an append to it, whether the back-end copies bytes or returns
   pointers. */
static void reads_inside_writes(void) {
  for (int copies = 0; copies < 2; copies++) {
    lends = !copies;
    blosc2_io io = {.id = copies ? 201 : 200};
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.typesize = 4;
    blosc2_storage storage = {.contiguous = true, .urlpath = "reentrant.b2frame", .cparams = &cparams, .io = &io};
    blosc2_schunk *schunk = blosc2_schunk_new(&storage);
    CHECK(schunk != NULL);
    int32_t items[1000];
    for (int i = 0; i < 1000; i++) items[i] = i;
    CHECK_EQ(blosc2_schunk_append_buffer(schunk, items, sizeof items), 1);
    observed = schunk;
    reads_inside = 0;
    CHECK_EQ(blosc2_schunk_append_buffer(schunk, items, sizeof items), 2);
    observed = NULL;
    CHECK(reads_inside > 0);
    blosc2_schunk_free(schunk);
  }
  lends = false;
}

/* Only one thread at a time calls a back-end, also through a view. */
static void views_call_back_ends_one_at_a_time(void) {
  enum { ITEMS = 160000, ONE_CHUNK = 10000 };
  blosc2_io io = {.id = 201};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = 2;
  blosc2_storage storage = {
      .contiguous = true, .urlpath = "reentrant.b2nd", .cparams = &cparams, .dparams = &dparams, .io = &io};
  int64_t shape[] = {1, ITEMS};
  int32_t chunkshape[] = {1, ONE_CHUNK}, blockshape[] = {1, ONE_CHUNK};
  b2nd_context_t *context = b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, NULL, 0, NULL, 0);
  static int32_t items[ITEMS], found[ITEMS];
  for (int i = 0; i < ITEMS; i++) items[i] = (int32_t)((uint32_t)i * 2654435u);
  b2nd_array_t *array, *view;
  CHECK_EQ(b2nd_from_cbuffer(context, &array, items, sizeof items), 0);
  CHECK_EQ(b2nd_squeeze(array, &view), 0);
  int64_t start = 1, stop = ITEMS - 1, length = ITEMS - 2;
  reads_are_slow = true;
  most_reading = 0;
  CHECK_EQ(b2nd_get_slice_cbuffer(view, &start, &stop, found, &length, length * 4), 0);
  reads_are_slow = false;
  CHECK_EQ(most_reading, 1);
  CHECK(memcmp(found, items + 1, (size_t)length * 4) == 0);
  CHECK_EQ(b2nd_free(view), 0);
  CHECK_EQ(b2nd_free(array), 0);
  CHECK_EQ(b2nd_free_ctx(context), 0);
}

/* --- threads --- */

enum { LARGE = 4 << 20 };

static void round_trip(void) {
  char *src = malloc(LARGE), *chunk = malloc(LARGE + BLOSC2_MAX_OVERHEAD), *content = malloc(LARGE);
  for (int i = 0; i < LARGE; i++) src[i] = (char)((i * 7) >> 3);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.nthreads = 2;
  cparams.typesize = 4;
  blosc2_context *compressor = blosc2_create_cctx(cparams);
  int cbytes = blosc2_compress_ctx(compressor, src, LARGE, chunk, LARGE + BLOSC2_MAX_OVERHEAD);
  CHECK(cbytes > 0);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = 2;
  blosc2_context *decompressor = blosc2_create_dctx(dparams);
  CHECK_EQ(blosc2_decompress_ctx(decompressor, chunk, cbytes, content, LARGE), LARGE);
  CHECK(memcmp(src, content, LARGE) == 0);
  blosc2_free_ctx(compressor);
  blosc2_free_ctx(decompressor);
  free(src);
  free(chunk);
  free(content);
}

static pthread_key_t key;
static int destructors;

static void destructor(void *value) {
  (void)value;
  round_trip();
  destructors++;
}

static void *thread_body(void *argument) {
  CHECK_EQ(pthread_setspecific(key, argument), 0);
  round_trip();
  return NULL;
}

/* A thread that ends can compress and decompress after the thread-local variables of the library were destroyed. */
static void calls_of_a_thread_that_ends(void) {
  pthread_t thread;
  CHECK_EQ(pthread_key_create(&key, destructor), 0);
  CHECK_EQ(pthread_create(&thread, NULL, thread_body, &key), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(destructors, 1);
}

static int jobs_run;

static void run_jobs(void *data, void (*job)(void *), int njobs, size_t size, void *jobs) {
  (void)data;
  jobs_run++;
  for (int i = 0; i < njobs; i++) job((char *)jobs + (size_t)i * size);
}

/* The threads callback is called for each chunk of several blocks, also for one stored uncompressed, or of zeros. */
static void threads_callback_of_plain_chunks(void) {
  enum { LENGTH = 32768 };
  static char src[LENGTH], chunk[LENGTH + BLOSC2_MAX_OVERHEAD], content[LENGTH];
  blosc2_set_threads_callback(run_jobs, NULL);
  for (int zeros = 0; zeros < 2; zeros++) {
    for (int i = 0; i < LENGTH; i++) src[i] = zeros ? 0 : (char)(((uint32_t)i * 2654435761u) >> 13);
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.clevel = zeros ? 5 : 0;
    cparams.typesize = 1;
    cparams.blocksize = 4096;
    cparams.nthreads = 1;
    blosc2_context *compressor = blosc2_create_cctx(cparams);
    int cbytes = blosc2_compress_ctx(compressor, src, LENGTH, chunk, sizeof chunk);
    CHECK_EQ(cbytes, zeros ? 32 : LENGTH + 32);
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    dparams.nthreads = 4;
    blosc2_context *decompressor = blosc2_create_dctx(dparams);
    jobs_run = 0;
    CHECK_EQ(blosc2_decompress_ctx(decompressor, chunk, cbytes, content, LENGTH), LENGTH);
    CHECK(memcmp(src, content, LENGTH) == 0);
    CHECK_EQ(jobs_run, 1);
    blosc2_free_ctx(compressor);
    blosc2_free_ctx(decompressor);
  }
  blosc2_set_threads_callback(NULL, NULL);
}

int main(void) {
  blosc2_init();
  register_back_end(200, "lending", false);
  register_back_end(201, "copying", true);
  calls_of_a_thread_that_ends();
  threads_callback_of_plain_chunks();
  reads_inside_writes();
  views_call_back_ends_one_at_a_time();
  blosc2_destroy();
  puts("reentrant: ok");
  return 0;
}

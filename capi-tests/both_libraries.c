/* Two libraries of the Blosc family in one process, libblosc and another one (other_library.h): each has settings,
   threads and fork handlers of its own. */

#include <blosc.h>

#include <dirent.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "other_library.h"

/* Our library starts threads for a call if they are expected to save time. On a busy machine, calls of less than 1 ms
   do not: 16 MB take longer. */
enum { NITEMS = 4 * 1000 * 1000, NBYTES = NITEMS * 4, NTHREADS = 4, FORKS = 10, SECONDS = 300 };

static int32_t items[NITEMS];

/* The buffers of a thread that compresses. */
typedef struct {
  uint8_t chunk[NBYTES + 64];
  int32_t restored[NITEMS];
} buffers;

static buffers of_main, of_blosc, of_other;

static void round_trip_with_blosc(buffers *b) {
  int cbytes = blosc_compress(5, BLOSC_SHUFFLE, 4, NBYTES, items, b->chunk, sizeof b->chunk);
  CHECK(cbytes > 0 && cbytes < NBYTES / 2);
  memset(b->restored, 0xEE, NBYTES);
  CHECK_EQ(blosc_decompress(b->chunk, b->restored, NBYTES), NBYTES);
  CHECK_BYTES(b->restored, items, NBYTES);
}

static void round_trip_with_other(buffers *b) {
  int cbytes = other_compress(NBYTES, items, b->chunk, sizeof b->chunk);
  CHECK(cbytes > 0 && cbytes < NBYTES / 2);
  memset(b->restored, 0xEE, NBYTES);
  CHECK_EQ(other_decompress(b->chunk, b->restored, NBYTES), NBYTES);
  CHECK_BYTES(b->restored, items, NBYTES);
}

static int count_threads(void) {
  DIR *tasks = opendir("/proc/self/task");
  CHECK(tasks != NULL);
  int count = 0;
  for (struct dirent *entry = readdir(tasks); entry != NULL; entry = readdir(tasks)) {
    count += entry->d_name[0] != '.';
  }
  closedir(tasks);
  return count;
}

/* The libraries use no more threads than there are cores. */
static int has_cores(void) { return sysconf(_SC_NPROCESSORS_ONLN) > 1; }

/* Threads that have been joined are in the list of the kernel for a short time: waits up to two seconds for `count`. */
static int count_threads_down_to(int count) {
  for (int i = 0; i < 200 && count_threads() > count; i++) usleep(10 * 1000);
  return count_threads();
}

static void settings(void) {
  /* The libraries of C-Blosc that the tests use are built without Snappy. */
  CHECK_EQ(blosc_compname_to_compcode("snappy"), BLOSC_SNAPPY);
  CHECK_EQ(blosc_set_nthreads(NTHREADS), 1);
  CHECK_EQ(blosc_set_compressor("zstd"), BLOSC_ZSTD);
  blosc_set_blocksize(1 << 16);
  CHECK_EQ(other_get_nthreads(), 1);
  CHECK_STR(other_get_compressor(), "blosclz");
  CHECK_EQ(other_get_blocksize(), 0);
  CHECK_EQ(other_set_nthreads(NTHREADS - 1), 1);
  CHECK_EQ(other_set_compressor("lz4"), BLOSC_LZ4);
  CHECK_EQ(blosc_get_nthreads(), NTHREADS);
  CHECK_STR(blosc_get_compressor(), "zstd");
}

/* Each library starts and ends its own threads only. */
static void pools(void) {
  CHECK_EQ(other_set_nthreads(NTHREADS), NTHREADS - 1);
  blosc_destroy();
  other_destroy();
  int alone = count_threads_down_to(1);
  CHECK_EQ(alone, 1);
  round_trip_with_blosc(&of_main);
  int with_blosc = count_threads();
  CHECK(with_blosc > alone || !has_cores());
  round_trip_with_other(&of_main);
  int with_both = count_threads();
  CHECK(with_both > with_blosc || !has_cores());
  blosc_destroy();
  CHECK_EQ(count_threads_down_to(with_both - with_blosc + alone), with_both - with_blosc + alone);
  round_trip_with_other(&of_main);
  round_trip_with_blosc(&of_main);
  other_destroy();
  CHECK_EQ(count_threads_down_to(with_blosc), with_blosc);
  round_trip_with_blosc(&of_main);
  round_trip_with_other(&of_main);
}

/* Forks. The child and a child of the child use both libraries, with the settings of the parent and new threads. */
static void fork_and_use_both(int generations) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(SECONDS);
    CHECK_EQ(count_threads(), 1);
    CHECK_EQ(blosc_get_nthreads(), NTHREADS);
    CHECK_STR(other_get_compressor(), "lz4");
    round_trip_with_other(&of_main);
    int with_other = count_threads();
    CHECK(with_other > 1 || !has_cores());
    round_trip_with_blosc(&of_main);
    CHECK(count_threads() > with_other || !has_cores());
    if (generations > 1) fork_and_use_both(generations - 1);
    _exit(EXIT_SUCCESS);
  }
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
}

static void forks(void) {
  fork_and_use_both(2);
  round_trip_with_blosc(&of_main);
  round_trip_with_other(&of_main);
}

static int is_done;

static void *use_blosc(void *unused) {
  (void)unused;
  while (!__atomic_load_n(&is_done, __ATOMIC_RELAXED)) round_trip_with_blosc(&of_blosc);
  return NULL;
}

static void *use_other(void *unused) {
  (void)unused;
  while (!__atomic_load_n(&is_done, __ATOMIC_RELAXED)) round_trip_with_other(&of_other);
  return NULL;
}

static void forks_while_both_compress(void) {
  pthread_t threads[2];
  CHECK_EQ(pthread_create(&threads[0], NULL, use_blosc, NULL), 0);
  CHECK_EQ(pthread_create(&threads[1], NULL, use_other, NULL), 0);
  for (int i = 0; i < FORKS; i++) fork_and_use_both(1);
  __atomic_store_n(&is_done, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 2; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

int main(void) {
  alarm(SECONDS);
  fill_series(items, NITEMS);
  RUN(settings);
  RUN(pools);
  RUN(forks);
  RUN(forks_while_both_compress);
  return EXIT_SUCCESS;
}

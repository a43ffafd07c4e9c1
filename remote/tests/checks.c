/*
 * Checks the functions of libblosc2_remote.so with the loaded libblosc2.
 *
 *     checks [--ours] URL        URL/cube.b2nd, URL/directory/, URL/damaged.b2nd
 *
 * Reads a line from standard input after "waiting": then the server fails.
 */

#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <b2nd.h>
#include <blosc2/blosc2x_remote.h>

#include "check.h"

enum { PLANES = 40, ROWS = 60, COLUMNS = 50, NTHREADS = 4 };

static blosc2x_remote_client *client;
static char cube[256], directory[256], damaged[256], missing[256];
static bool is_ours;

/* The item at (i, j, k) of both arrays. */
static int32_t item(int64_t i, int64_t j, int64_t k) { return (int32_t)((i * ROWS + j) * COLUMNS + k) * 7919 % 100003; }

static void check_text(const char *part) {
  const char *text = blosc2x_remote_last_error();
  if (text == NULL || strstr(text, part) == NULL || strstr(text, "secret") != NULL) {
    fprintf(stderr, "the last error is \"%s\", expected \"%s\"\n", text == NULL ? "(null)" : text, part);
    exit(EXIT_FAILURE);
  }
}

/* Reads a box from (i, 5, 7) of an array. Returns the code. */
static int read_box(b2nd_array_t *array, int64_t i) {
  enum { EXTENT = 13 };
  int64_t start[] = {i, 5, 7}, stop[] = {i + EXTENT, 5 + EXTENT, 7 + EXTENT}, shape[] = {EXTENT, EXTENT, EXTENT};
  int32_t items[EXTENT][EXTENT][EXTENT];
  int code = b2nd_get_slice_cbuffer(array, start, stop, items, shape, sizeof(items));
  if (code < 0) return code;
  for (int a = 0; a < EXTENT; a++)
    for (int b = 0; b < EXTENT; b++)
      for (int c = 0; c < EXTENT; c++) CHECK_EQ(items[a][b][c], item(i + a, 5 + b, 7 + c));
  return code;
}

static b2nd_array_t *array_of(blosc2_schunk *schunk) {
  b2nd_array_t *array;
  if (schunk == NULL) fprintf(stderr, "%s\n", blosc2x_remote_last_error());
  CHECK(schunk != NULL);
  CHECK_EQ(b2nd_from_schunk(schunk, &array), 0);
  return array;
}

static void wrong_arguments_are_errors(void) {
  CHECK(blosc2x_remote_last_error() == NULL);
  CHECK_EQ(blosc2x_remote_set_option(NULL, "region", "x"), BLOSC2_ERROR_INVALID_PARAM);
  check_text("the client is NULL");
  CHECK_EQ(blosc2x_remote_set_option(client, NULL, "x"), BLOSC2_ERROR_INVALID_PARAM);
  check_text("`name` is NULL");
  CHECK_EQ(blosc2x_remote_set_option(client, "region", "\xff"), BLOSC2_ERROR_INVALID_PARAM);
  check_text("UTF-8");
  CHECK_EQ(blosc2x_remote_set_cache(client, -1), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_EQ(blosc2x_remote_set_parallel(client, 0), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_EQ(blosc2x_remote_set_time_limit(client, -1.0), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_EQ(blosc2x_remote_requests(NULL), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_EQ(blosc2x_remote_nbytes(NULL), BLOSC2_ERROR_INVALID_PARAM);
  CHECK(blosc2x_remote_open(NULL, cube) == NULL);
  CHECK(blosc2x_remote_open(client, NULL) == NULL);
  CHECK(blosc2x_remote_open(client, "no URL") == NULL);
  check_text("the URL is not valid");
  CHECK(blosc2x_remote_open(client, "gopher://host/a") == NULL);
  CHECK(blosc2x_remote_open(client, "http://user:secret@127.0.0.1:9/a?b") == NULL);
  check_text("not supported");
  CHECK_EQ(blosc2x_remote_requests(client), 0);
  blosc2x_remote_free(NULL);
}

static void missing_and_damaged_files_are_errors(void) {
  CHECK(blosc2x_remote_open(client, missing) == NULL);
  check_text("not found");
  CHECK(blosc2x_remote_open(client, damaged) == NULL);
  check_text("damaged");
}

static void parts_of_arrays_are_read(void) {
  b2nd_array_t *array = array_of(blosc2x_remote_open(client, cube));
  for (int64_t i = 0; i < PLANES - 13; i += 9) CHECK_EQ(read_box(array, i), 0);
  int64_t requests = blosc2x_remote_requests(client);
  CHECK(requests > 0 && blosc2x_remote_nbytes(client) > 0);
  CHECK_EQ(read_box(array, 0), 0);
  CHECK_EQ(blosc2x_remote_requests(client), requests); /* everything is in memory */
  /* All of it, on threads of the library. */
  static int32_t items[PLANES * ROWS * COLUMNS];
  CHECK_EQ(b2nd_to_cbuffer(array, items, sizeof(items)), 0);
  for (int32_t i = 0; i < PLANES * ROWS * COLUMNS; i++) CHECK_EQ(items[i], i * 7919 % 100003);
  CHECK_EQ(b2nd_free(array), 0);
  array = array_of(blosc2x_remote_open(client, directory));
  for (int64_t i = 0; i < PLANES - 13; i += 9) CHECK_EQ(read_box(array, i), 0);
  CHECK_EQ(b2nd_free(array), 0);
}

static void changes_are_errors(void) {
  blosc2_schunk *schunk = blosc2x_remote_open(client, cube);
  CHECK(schunk != NULL);
  int64_t nchunks = schunk->nchunks;
  static int32_t content[1000];
  CHECK(blosc2_schunk_append_buffer(schunk, content, schunk->chunksize < 4000 ? schunk->chunksize : 4000) < 0);
  CHECK(blosc2_meta_add(schunk, "name", (uint8_t *)content, 4) < 0);
  CHECK_EQ(blosc2_schunk_free(schunk), 0);
  b2nd_array_t *array = array_of(blosc2x_remote_open(client, cube));
  CHECK_EQ(array->sc->nchunks, nchunks);
  CHECK_EQ(read_box(array, 3), 0);
  CHECK_EQ(b2nd_free(array), 0);
}

/* A program that opens super-chunks by name and back-end; with another client. */
static void names_are_opened_by_the_back_end(void) {
  blosc2x_remote_client *other = blosc2x_remote_new();
  CHECK(other != NULL);
  CHECK_EQ(blosc2x_remote_set_cache(other, 1 << 20), 0);
  CHECK_EQ(blosc2x_remote_set_disk_cache(other, "cache", 1 << 20), 0);
  CHECK_EQ(blosc2x_remote_set_disk_cache(other, "", -1), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_EQ(blosc2x_remote_set_parallel(other, 2), 0);
  CHECK_EQ(blosc2x_remote_set_time_limit(other, 10.0), 0);
  CHECK_EQ(blosc2x_remote_set_option(other, "allow_http", "true"), 0);
  CHECK_EQ(blosc2x_remote_register(), 0);
  blosc2_io io = {BLOSC2X_REMOTE_ID, NULL, other};
  const char *names[] = {cube, directory};
  for (int n = 0; n < 2; n++) {
    blosc2_schunk *schunk = blosc2_schunk_open_udio(names[n], &io);
    if (!is_ours) {
      CHECK(schunk == NULL); /* C-Blosc2 opens only names of local files */
      continue;
    }
    b2nd_array_t *array = array_of(schunk);
    CHECK_EQ(read_box(array, 11), 0);
    CHECK_EQ(b2nd_free(array), 0);
  }
  CHECK(blosc2_schunk_open_udio(missing, &io) == NULL);
  if (is_ours) CHECK(blosc2_schunk_open_offset_udio(cube, 17, &io) == NULL);
  io.params = NULL;
  CHECK(blosc2_schunk_open_udio(cube, &io) == NULL);
  blosc2x_remote_free(other);
}

static void super_chunks_outlive_their_client(void) {
  blosc2x_remote_client *other = blosc2x_remote_new();
  b2nd_array_t *array = array_of(blosc2x_remote_open(other, cube));
  blosc2x_remote_free(other);
  CHECK_EQ(read_box(array, 20), 0);
  CHECK_EQ(b2nd_free(array), 0);
}

static void *read_in_thread(void *array) {
  for (int64_t i = 0; i < 20; i++) CHECK_EQ(read_box(array, i), 0);
  return NULL;
}

static void threads_read_one_array(void) {
  /* C-Blosc2 permits one thread for a super-chunk. */
  b2nd_array_t *arrays[NTHREADS];
  pthread_t threads[NTHREADS];
  for (int n = 0; n < NTHREADS; n++) {
    arrays[n] = is_ours && n > 0 ? arrays[0] : array_of(blosc2x_remote_open(client, cube));
    CHECK_EQ(pthread_create(&threads[n], NULL, read_in_thread, arrays[n]), 0);
  }
  for (int n = 0; n < NTHREADS; n++) CHECK_EQ(pthread_join(threads[n], NULL), 0);
  for (int n = 0; n < (is_ours ? 1 : NTHREADS); n++) CHECK_EQ(b2nd_free(arrays[n]), 0);
}

static void children_of_a_fork_get_errors(void) {
  b2nd_array_t *array = array_of(blosc2x_remote_open(client, cube));
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    CHECK(blosc2x_remote_set_cache(client, 5) < 0);
    check_text("fork");
    CHECK(blosc2x_remote_requests(client) < 0);
    CHECK(blosc2x_remote_open(client, cube) == NULL);
    CHECK(read_box(array, 7) < 0);
    check_text("fork");
    blosc2x_remote_client *own = blosc2x_remote_new();
    CHECK(own != NULL && blosc2x_remote_open(own, cube) == NULL);
    check_text("fork");
    _exit(0);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK_EQ(read_box(array, 7), 0);
  CHECK_EQ(b2nd_free(array), 0);
}

static void reads_report_failures_of_the_server(void) {
  blosc2x_remote_client *other = blosc2x_remote_new();
  CHECK_EQ(blosc2x_remote_set_cache(other, 0), 0);
  b2nd_array_t *array = array_of(blosc2x_remote_open(other, cube));
  CHECK_EQ(read_box(array, 2), 0);
  char line[16];
  printf("waiting\n");
  fflush(stdout);
  CHECK(fgets(line, sizeof(line), stdin) != NULL);
  CHECK(read_box(array, 23) < 0);
  check_text("403");
  CHECK_EQ(b2nd_free(array), 0);
  blosc2x_remote_free(other);
}

int main(int argc, char **argv) {
  is_ours = argc > 2 && strcmp(argv[1], "--ours") == 0;
  const char *url = argv[argc - 1];
  snprintf(cube, sizeof(cube), "%s/cube.b2nd", url);
  snprintf(directory, sizeof(directory), "%s/directory/", url);
  snprintf(damaged, sizeof(damaged), "%s/damaged.b2nd", url);
  snprintf(missing, sizeof(missing), "%s/missing.b2nd", url);
  blosc2_init();
  blosc2_set_nthreads(2);
  client = blosc2x_remote_new();
  CHECK(client != NULL);
  RUN(wrong_arguments_are_errors);
  RUN(missing_and_damaged_files_are_errors);
  RUN(parts_of_arrays_are_read);
  RUN(changes_are_errors);
  RUN(names_are_opened_by_the_back_end);
  RUN(super_chunks_outlive_their_client);
  RUN(threads_read_one_array);
  RUN(children_of_a_fork_get_errors);
  RUN(reads_report_failures_of_the_server);
  blosc2x_remote_free(client);
  blosc2_destroy();
  return 0;
}

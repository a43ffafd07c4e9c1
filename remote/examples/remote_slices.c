/*
 * Reads parts of an array behind a URL, compares them with the same file on disk, and prints the requests of each read. The
 * array has three dimensions and items of 4 bytes.
 *
 *     cc remote_slices.c -o remote_slices -lblosc2_remote -lblosc2
 *     ./remote_slices URL PATH
 */

#define _POSIX_C_SOURCE 199309L

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <b2nd.h>
#include <blosc2/blosc2x_remote.h>

static blosc2x_remote_client *client;
static b2nd_array_t *remote, *local;

static void fail(const char *what) {
  const char *text = blosc2x_remote_last_error();
  fprintf(stderr, "%s failed: %s\n", what, text == NULL ? "no text" : text);
  exit(EXIT_FAILURE);
}

/* The counts and the time at the start of a step. */
static struct { int64_t requests, nbytes; struct timespec time; } before;

static void start(void) {
  before.requests = blosc2x_remote_requests(client);
  before.nbytes = blosc2x_remote_nbytes(client);
  clock_gettime(CLOCK_MONOTONIC, &before.time);
}

static void print_step(const char *name) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double seconds = (double)(now.tv_sec - before.time.tv_sec) + (double)(now.tv_nsec - before.time.tv_nsec) / 1e9;
  printf("%-34s %4" PRId64 " requests %10" PRId64 " bytes %7.3f s\n", name,
         blosc2x_remote_requests(client) - before.requests, blosc2x_remote_nbytes(client) - before.nbytes, seconds);
}

/* Reads the box from (i, j, k) of `planes` x `rows` x `columns` items. */
static void read_box(const char *name, int64_t i, int64_t j, int64_t k, int64_t planes, int64_t rows, int64_t columns) {
  int64_t first[] = {i, j, k}, stop[] = {i + planes, j + rows, k + columns}, shape[] = {planes, rows, columns};
  int64_t nbytes = planes * rows * columns * 4;
  void *items = malloc((size_t)nbytes), *expected = malloc((size_t)nbytes);
  start();
  if (items == NULL || b2nd_get_slice_cbuffer(remote, first, stop, items, shape, nbytes) < 0) fail(name);
  print_step(name);
  if (expected == NULL || b2nd_get_slice_cbuffer(local, first, stop, expected, shape, nbytes) < 0 ||
      memcmp(items, expected, (size_t)nbytes) != 0) {
    fprintf(stderr, "%s: other items than on disk\n", name);
    exit(EXIT_FAILURE);
  }
  free(items);
  free(expected);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s URL PATH\n", argv[0]);
    return 2;
  }
  blosc2_init();
  printf("%s: C, libblosc2 %s\n", argv[1], blosc2_get_version_string());
  client = blosc2x_remote_new();
  if (client == NULL || b2nd_open(argv[2], &local) < 0) fail("opening the file on disk");
  start();
  blosc2_schunk *schunk = blosc2x_remote_open(client, argv[1]);
  if (schunk == NULL || b2nd_from_schunk(schunk, &remote) < 0) fail("open");
  print_step("open");
  const int64_t *shape = remote->shape;
  char name[64];
  read_box("an item", shape[0] / 2, shape[1] / 2, shape[2] / 3, 1, 1, 1);
  read_box("another item of the block", shape[0] / 2, shape[1] / 2 + 1, shape[2] / 3 + 1, 1, 1, 1);
  int64_t planes = shape[0] < 100 ? shape[0] : 100;
  snprintf(name, sizeof(name), "an item of each of %" PRId64 " planes", planes);
  read_box(name, 0, 10, 10, planes, 1, 1);
  snprintf(name, sizeof(name), "a row of each of %" PRId64 " planes", planes);
  read_box(name, 0, shape[1] / 4, 0, planes, 1, shape[2]);
  read_box("a plane", shape[0] - 1, 0, 0, 1, shape[1], shape[2]);
  b2nd_free(remote);
  b2nd_free(local);
  blosc2x_remote_free(client);
  blosc2_destroy();
  return 0;
}

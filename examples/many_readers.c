/*
 * Reads slices of one super-chunk in many threads at the same time, without a lock in the program:
 * the library synchronises the calls. C-Blosc2 does not; there, each thread needs its own handle.
 *
 *     cc many_readers.c -o many_readers -lblosc2 -pthread
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include <blosc2.h>

enum { CHUNK_ITEMS = 50000, NCHUNKS = 8, NREADERS = 8, NSLICES = 200, SLICE_ITEMS = 1000 };

typedef struct {
  blosc2_schunk *schunk; /* the same for all readers */
  uint32_t seed;
  int slices; /* slices that were read */
  int wrong;  /* items that differ from the item written */
} reader;

static int32_t item(int64_t index) {
  return (int32_t)(index * 3 + index % 7);
}

/* Reads slices at pseudo-random positions. A slice can span two chunks. */
static void *read_slices(void *argument) {
  reader *self = argument;
  int32_t slice[SLICE_ITEMS];
  for (int i = 0; i < NSLICES; i++) {
    self->seed = self->seed * 1664525u + 1013904223u;
    int64_t start = (self->seed >> 8) % (CHUNK_ITEMS * NCHUNKS - SLICE_ITEMS);
    if (blosc2_schunk_get_slice_buffer(self->schunk, start, start + SLICE_ITEMS, slice) < 0) break;
    for (int k = 0; k < SLICE_ITEMS; k++) self->wrong += slice[k] != item(start + k);
    self->slices++;
  }
  return NULL;
}

int main(void) {
  static int32_t chunk[CHUNK_ITEMS];
  int error = 0, started = 0, slices = 0, wrong = 0;
  blosc2_init();
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = sizeof(int32_t);
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.cparams = &cparams;
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  if (schunk == NULL) error = 1;
  for (int n = 0; n < NCHUNKS && !error; n++) {
    for (int i = 0; i < CHUNK_ITEMS; i++) chunk[i] = item((int64_t)n * CHUNK_ITEMS + i);
    if (blosc2_schunk_append_buffer(schunk, chunk, sizeof(chunk)) < 0) error = 1;
  }
  if (error) fprintf(stderr, "many_readers: the super-chunk cannot be created\n");

  pthread_t threads[NREADERS];
  reader readers[NREADERS];
  for (; started < NREADERS && !error; started++) {
    readers[started] = (reader){schunk, (uint32_t)started, 0, 0};
    if (pthread_create(&threads[started], NULL, read_slices, &readers[started]) != 0) break;
  }
  for (int i = 0; i < started; i++) {
    if (pthread_join(threads[i], NULL) != 0) return 1; /* the thread may still use the super-chunk */
    slices += readers[i].slices;
    wrong += readers[i].wrong;
  }
  if (schunk != NULL && blosc2_schunk_free(schunk) != 0) error = 1;
  blosc2_destroy();
  printf("%d threads read %d slices of %d items\nwrong items: %d\n", started, slices, SLICE_ITEMS, wrong);
  if (slices != NREADERS * NSLICES) fprintf(stderr, "many_readers: not all slices were read\n");
  return error || slices != NREADERS * NSLICES || wrong != 0;
}

/* Output:
8 threads read 1600 slices of 1000 items
wrong items: 0
*/

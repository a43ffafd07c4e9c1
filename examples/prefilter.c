/*
 * Supplies the data with a prefilter, a function that writes each block just before it is compressed.
 * The first one computes the items, without an input buffer; the second one rounds the input.
 *
 *     cc prefilter.c -o prefilter -lblosc2
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <blosc2.h>

enum { CHUNK_ITEMS = 100000, CHUNK_NBYTES = CHUNK_ITEMS * 4, NCHUNKS = 3 };

/* Writes multiples of *user_data. Several threads call a prefilter at once, and the library may call it
 * more than once for a block, so the result must depend on `params` only. */
static int multiples(blosc2_prefilter_params *params) {
  int64_t first = params->nchunk * CHUNK_ITEMS + params->output_offset / 4;
  for (int32_t i = 0; i < params->output_size / 4; i++) {
    int32_t item = (int32_t)(first + i) * *(const int32_t *)params->user_data;
    memcpy(params->output + 4 * i, &item, 4);
  }
  return 0;
}

/* Rounds the items down to multiples of *user_data. The input buffer is not changed. */
static int round_down(blosc2_prefilter_params *params) {
  for (int32_t i = 0; i < params->output_size / 4; i++) {
    int32_t item;
    memcpy(&item, params->input + 4 * i, 4);
    item -= item % *(const int32_t *)params->user_data;
    memcpy(params->output + 4 * i, &item, 4);
  }
  return 0;
}

/* Compresses `items` (NULL: the prefilter supplies the items) into each chunk of a super-chunk, and prints some
 * items of the last one. Returns the compressed size in bytes, or -1 after an error. */
static int64_t store(blosc2_cparams *cparams, const int32_t *items, const char *title) {
  int32_t slice[4];
  blosc2_storage storage = {.cparams = cparams}; /* in memory */
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  int error = schunk == NULL;
  for (int n = 0; n < NCHUNKS && !error; n++) error = blosc2_schunk_append_buffer(schunk, items, CHUNK_NBYTES) < 0;
  error = error || blosc2_schunk_get_slice_buffer(schunk, 200008, 200012, slice) < 0;
  if (!error) printf("%s: %d %d %d %d\n", title, slice[0], slice[1], slice[2], slice[3]);
  int64_t cbytes = error ? -1 : schunk->cbytes;
  if (schunk != NULL && blosc2_schunk_free(schunk) != 0) cbytes = -1;
  return cbytes;
}

int main(void) {
  static int32_t items[CHUNK_ITEMS];
  for (int i = 0; i < CHUNK_ITEMS; i++) items[i] = 1000 * (1 + i / 10) + i * 37 % 100;
  int32_t step = 100;
  blosc2_prefilter_params preparams = {.user_data = &step};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.nthreads = 2;
  blosc2_init();
  int64_t unchanged = store(&cparams, items, "unchanged");
  cparams.preparams = &preparams; /* required with a prefilter */
  cparams.prefilter = round_down;
  int64_t rounded = store(&cparams, items, "rounded");
  cparams.prefilter = multiples;
  int64_t computed = store(&cparams, NULL, "computed");
  blosc2_destroy();
  int error = unchanged < 0 || rounded < 0 || computed < 0;
  if (error) fprintf(stderr, "prefilter: the items cannot be compressed or decompressed\n");
  else printf("rounded is smaller: %s\n", rounded < unchanged ? "yes" : "no");
  return error;
}

/* Output:
unchanged: 1096 1033 2070 2007
rounded: 1000 1000 2000 2000
computed: 20000800 20000900 20001000 20001100
rounded is smaller: yes
*/

/*
 * Compresses a two-dimensional array of doubles with a plugin codec, ZFP with a limit for the absolute error, and
 * checks the error of every value.
 *
 *     cc plugin.c -o plugin -lblosc2
 */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <b2nd.h>
#include <blosc2/codecs-registry.h>

enum { ROWS = 200, COLUMNS = 300 };

static double source[ROWS][COLUMNS], restored[ROWS][COLUMNS];

static int fail(const char *what, int rc) {
  fprintf(stderr, "plugin: %s: %s\n", what, blosc2_error_string(rc));
  return 1;
}

/* Compresses and decompresses the array. Returns 0, or 1 after an error. */
static int round_trip(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = sizeof(double);
  cparams.compcode = BLOSC_CODEC_ZFP_FIXED_ACCURACY;
  cparams.compcode_meta = (uint8_t)-3;          /* the limit is 10^-3: the meta byte is a signed exponent */
  cparams.filters[BLOSC2_MAX_FILTERS - 1] = 0;  /* ZFP compresses numbers, not shuffled bytes */
  cparams.splitmode = BLOSC_NEVER_SPLIT;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.cparams = &cparams;

  /* ZFP reads the shape of the blocks from the metalayer of the array. Each side of a block has 4 or more items. */
  const int64_t shape[] = {ROWS, COLUMNS};
  const int32_t chunkshape[] = {100, 100}, blockshape[] = {50, 50};
  b2nd_context_t *context = b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, "<f8", DTYPE_NUMPY_FORMAT,
                                            NULL, 0);
  if (context == NULL) return fail("b2nd_create_ctx", BLOSC2_ERROR_FAILURE);
  b2nd_array_t *array = NULL;
  int rc = b2nd_from_cbuffer(context, &array, source, sizeof(source));
  if (b2nd_free_ctx(context) != 0) rc = BLOSC2_ERROR_FAILURE;
  if (rc == 0) rc = b2nd_to_cbuffer(array, restored, sizeof(restored));
  if (rc == 0) printf("4 times smaller: %s\n", array->sc->cbytes < array->sc->nbytes / 4 ? "yes" : "no");
  if (array != NULL && b2nd_free(array) != 0) rc = BLOSC2_ERROR_FAILURE;
  return rc == 0 ? 0 : fail("compressing or decompressing", rc);
}

int main(void) {
  for (int row = 0; row < ROWS; row++) {
    for (int column = 0; column < COLUMNS; column++) {
      double y = (row - 80) / 40.0, x = (column - 170) / 60.0;
      source[row][column] = 10 / (1 + x * x + y * y);
    }
  }
  blosc2_init();
  int rc = round_trip();
  blosc2_destroy();
  if (rc != 0) return 1;

  double largest = 0;
  for (int row = 0; row < ROWS; row++) {
    for (int column = 0; column < COLUMNS; column++) {
      double error = restored[row][column] - source[row][column];
      if (error < 0) error = -error;
      if (!(error <= largest)) largest = error;
    }
  }
  printf("same data: %s\n", memcmp(source, restored, sizeof(source)) == 0 ? "yes" : "no");
  printf("all values within 0.001: %s\n", largest <= 0.001 ? "yes" : "no");
  return 0;
}

/* Output:
4 times smaller: yes
same data: no
all values within 0.001: yes
*/

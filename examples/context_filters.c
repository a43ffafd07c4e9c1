/*
 * Compresses floats with a context: Zstandard at level 7, after a filter that keeps 10 of the 23 mantissa bits and a
 * bitshuffle. Decompresses the chunk with a second context and checks the loss of precision.
 *
 *     cc context_filters.c -o context_filters -lblosc2
 */

#include <stdint.h>
#include <stdio.h>

#include <blosc2.h>

enum { NITEMS = 200000, MANTISSA_BITS = 10 };

static float source[NITEMS], restored[NITEMS];
static uint8_t chunk[sizeof(source) + BLOSC2_MAX_OVERHEAD];

/* Compresses `source` into `chunk`, losslessly if `bits` is 0. Returns the size of the chunk, or an error code. */
static int compress(uint8_t bits) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = BLOSC_ZSTD;
  cparams.clevel = 7;
  cparams.typesize = sizeof(float);
  cparams.nthreads = 2;
  /* The filters run in the order of the array. The precision must be truncated before the bits are reordered. */
  if (bits > 0) {
    cparams.filters[BLOSC2_MAX_FILTERS - 2] = BLOSC_TRUNC_PREC;
    cparams.filters_meta[BLOSC2_MAX_FILTERS - 2] = bits;
  }
  cparams.filters[BLOSC2_MAX_FILTERS - 1] = BLOSC_BITSHUFFLE;
  blosc2_context *context = blosc2_create_cctx(cparams);
  if (context == NULL) {
    return BLOSC2_ERROR_FAILURE;
  }
  int rc = blosc2_compress_ctx(context, source, sizeof(source), chunk, sizeof(chunk));
  blosc2_free_ctx(context);
  return rc == 0 ? BLOSC2_ERROR_WRITE_BUFFER : rc; /* 0: the chunk does not fit */
}

int main(void) {
  for (int i = 0; i < NITEMS; i++) {
    source[i] = 3.14159265f + (float)i / 7;
  }
  blosc2_init();
  int lossless_size = compress(0);
  int size = lossless_size < 0 ? lossless_size : compress(MANTISSA_BITS);
  if (size < 0) {
    fprintf(stderr, "compression: %s\n", blosc2_error_string(size));
    blosc2_destroy();
    return 1;
  }

  /* The codec and the filters are recorded in the chunk: the decompression context does not need them. */
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = 2;
  blosc2_context *context = blosc2_create_dctx(dparams);
  int rc = context == NULL ? BLOSC2_ERROR_FAILURE
                           : blosc2_decompress_ctx(context, chunk, size, restored, sizeof(restored));
  blosc2_free_ctx(context);
  blosc2_destroy();
  if (rc != (int)sizeof(restored)) {
    fprintf(stderr, "decompression: %s\n", rc < 0 ? blosc2_error_string(rc) : "unexpected size");
    return 1;
  }
  int within_bound = 1; /* Truncation moves a positive value down, by a factor of less than 2^-MANTISSA_BITS. */
  for (int i = 0; i < NITEMS; i++) {
    within_bound &= restored[i] <= source[i] && source[i] - restored[i] < source[i] / (1 << MANTISSA_BITS);
  }
  printf("smaller than the lossless chunk: %s\n", size < lossless_size ? "yes" : "no");
  printf("first item: %.6f, restored: %.6f\n", source[0], restored[0]);
  printf("all relative errors below 1/%d: %s\n", 1 << MANTISSA_BITS, within_bound ? "yes" : "no");
  return 0;
}

/* Output:
smaller than the lossless chunk: yes
first item: 3.141593, restored: 3.140625
all relative errors below 1/1024: yes
*/

/*
 * Registers a codec of the program, a run-length coder, and compresses a buffer with it through a context.
 *
 *     cc user_codec.c -o user_codec -lblosc2
 */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <blosc2.h>

enum { RLE_ID = BLOSC2_USER_REGISTERED_CODECS_START, NITEMS = 100000 };

static int32_t source[NITEMS], restored[NITEMS];
static uint8_t chunk[sizeof(source) + BLOSC2_MAX_OVERHEAD];

/* Writes pairs of bytes: the length of a run (1 to 255), and its value. Called from several threads at once. */
static int rle_encode(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
                      blosc2_cparams *cparams, const void *start) {
  int32_t in = 0, out = 0;
  (void)meta, (void)cparams, (void)start;
  while (in < input_len) {
    int32_t run = 1;
    while (run < 255 && in + run < input_len && input[in + run] == input[in]) run++;
    if (output_len - out < 2) return 0; /* does not fit: the library stores the stream uncompressed */
    output[out++] = (uint8_t)run;
    output[out++] = input[in];
    in += run;
  }
  return out;
}

/* Checks every length: the chunk may be damaged. */
static int rle_decode(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
                      blosc2_dparams *dparams, const void *start) {
  int32_t in, out = 0;
  (void)meta, (void)dparams, (void)start;
  for (in = 0; input_len - in >= 2; in += 2) {
    if (input[in] > output_len - out) return -1;
    memset(output + out, input[in + 1], input[in]);
    out += input[in];
  }
  return out; /* the library reports an error if this is not output_len */
}

int main(void) {
  blosc2_init();
  blosc2_codec rle = {RLE_ID, "rle", BLOSC_UDCODEC_LIB, 1, rle_encode, rle_decode};
  int rc = blosc2_register_codec(&rle);
  for (int i = 0; i < NITEMS; i++) source[i] = i / 500;

  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS; /* with a byte shuffle, which makes the runs longer */
  cparams.compcode = RLE_ID;
  cparams.typesize = sizeof(source[0]);
  cparams.nthreads = 2;
  blosc2_context *cctx = rc < 0 ? NULL : blosc2_create_cctx(cparams);
  blosc2_context *dctx = rc < 0 ? NULL : blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  if (rc == 0 && (cctx == NULL || dctx == NULL)) rc = BLOSC2_ERROR_NULL_POINTER;
  int cbytes = rc < 0 ? rc : blosc2_compress_ctx(cctx, source, sizeof(source), chunk, sizeof(chunk));
  int nbytes = cbytes < 0 ? cbytes : blosc2_decompress_ctx(dctx, chunk, cbytes, restored, sizeof(restored));
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);
  blosc2_destroy();
  if (nbytes < 0) {
    fprintf(stderr, "user_codec: %s\n", blosc2_error_string(nbytes));
    return 1;
  }
  printf("10 times smaller: %s\n", cbytes < (int)sizeof(source) / 10 ? "yes" : "no");
  printf("same data: %s\n", nbytes == sizeof(source) && memcmp(source, restored, sizeof(source)) == 0 ? "yes" : "no");
  return 0;
}

/* Output:
10 times smaller: yes
same data: yes
*/

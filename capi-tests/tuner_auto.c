/*
 * blosc2x_tuner_auto and blosc2x_tuner_explain: a super-chunk whose parameters the library chooses, the explanation, and
 * invalid parameters. Runs with this library only; `--ours` changes nothing.
 */

#include <math.h>

#include "blosc2.h"
#include "blosc2/blosc2x.h"
#include "check.h"

#define NITEMS 50000

static const blosc2x_tuner_params BALANCED = {sizeof(blosc2x_tuner_params), BLOSC2X_TUNER_BALANCED, 0.5};

static int32_t items[NITEMS];

/* Checks that both functions reject the parameters, with a text that has `part`. */
static void check_rejected(const blosc2x_tuner_params *params, const char *part) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  CHECK_EQ(blosc2x_tuner_auto(&cparams, params), BLOSC2_ERROR_INVALID_PARAM);
  CHECK(strstr(blosc2x_last_error(), part) != NULL);
  CHECK(cparams.tuner_id == 0 && cparams.tuner_params == NULL);
  CHECK(blosc2x_tuner_explain(items, sizeof items, 4, params) == NULL);
  CHECK(strstr(blosc2x_last_error(), part) != NULL);
  /* A program that sets the fields itself. */
  cparams.tuner_id = BLOSC2X_TUNER_AUTO;
  cparams.tuner_params = (void *)params;
  CHECK(blosc2_create_cctx(cparams) == NULL);
  CHECK(strstr(blosc2x_last_error(), part) != NULL);
  blosc2_storage storage = {.cparams = &cparams};
  CHECK(blosc2_schunk_new(&storage) == NULL);
}

static void invalid_parameters_are_rejected(void) {
  check_rejected(NULL, "NULL");
  const double tradeoffs[] = {-0.001, 1.001, NAN, INFINITY, -INFINITY};
  for (size_t n = 0; n < sizeof tradeoffs / sizeof tradeoffs[0]; n++) {
    blosc2x_tuner_params params = {sizeof params, BLOSC2X_TUNER_BALANCED, tradeoffs[n]};
    check_rejected(&params, "tradeoff");
  }
  const int32_t modes[] = {-1, 3, INT32_MAX, INT32_MIN};
  for (size_t n = 0; n < sizeof modes / sizeof modes[0]; n++) {
    blosc2x_tuner_params params = {sizeof params, modes[n], 0.5};
    check_rejected(&params, "mode");
  }
  /* Only the first field of a struct with another size is read. */
  const uint32_t sizes[] = {0, 4, 15, 17, UINT32_MAX};
  for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
    uint32_t *size = malloc(sizeof *size);
    CHECK(size != NULL);
    *size = sizes[n];
    check_rejected((const blosc2x_tuner_params *)(const void *)size, "size");
    free(size);
  }
  CHECK_EQ(blosc2x_tuner_auto(NULL, &BALANCED), BLOSC2_ERROR_INVALID_PARAM);
  CHECK(strstr(blosc2x_last_error(), "cparams") != NULL);
}

static void contexts_have_copies_of_the_parameters(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2x_tuner_params params = {sizeof params, BLOSC2X_TUNER_DECOMPRESSION, 1.0};
  CHECK_EQ(blosc2x_tuner_auto(&cparams, &params), 0);
  CHECK(cparams.tuner_id == BLOSC2X_TUNER_AUTO && cparams.tuner_params == &params);
  blosc2_context *context = blosc2_create_cctx(cparams);
  CHECK(context != NULL);
  memset(&params, 0xff, sizeof params);

  uint8_t *chunk = malloc(sizeof items + BLOSC2_MAX_OVERHEAD);
  int32_t *back = malloc(sizeof items);
  CHECK(chunk != NULL && back != NULL);
  int cbytes = blosc2_compress_ctx(context, items, sizeof items, chunk, sizeof items + BLOSC2_MAX_OVERHEAD);
  CHECK(cbytes > 0);
  CHECK_EQ(blosc2_decompress(chunk, cbytes, back, sizeof items), (int)sizeof items);
  CHECK_BYTES(back, items, sizeof items);
  blosc2_free_ctx(context);
  free(back);
  free(chunk);
}

static void super_chunk_has_the_content(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  CHECK_EQ(blosc2x_tuner_auto(&cparams, &BALANCED), 0);
  blosc2_storage storage = {.contiguous = true, .cparams = &cparams};
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  int32_t *back = malloc(sizeof items);
  CHECK(back != NULL);
  for (int n = 0; n < 3; n++) {
    CHECK_EQ(blosc2_schunk_append_buffer(schunk, items, sizeof items), n + 1);
  }
  CHECK_EQ(blosc2_schunk_decompress_chunk(schunk, 2, back, sizeof items), (int)sizeof items);
  CHECK_BYTES(back, items, sizeof items);
  free(back);
  blosc2_schunk_free(schunk);
}

/* Returns the format of the codec in the flags of the first chunk: 0 for BloscLZ, 4 for Zstandard. */
static int codec_format(blosc2_schunk *schunk) {
  uint8_t *chunk = NULL;
  bool needs_free = false;
  CHECK(blosc2_schunk_get_chunk(schunk, 0, &chunk, &needs_free) > 0);
  int format = chunk[BLOSC2_CHUNK_FLAGS] >> 5;
  if (needs_free) free(chunk);
  return format;
}

/* A frame of a super-chunk with separate chunks has the parameters that the program has set, as a contiguous one, and the
   same chunks. A copy with parameters has chunks that are compressed with them. */
static void copies_have_the_parameters_of_the_program(void) {
  static const blosc2x_tuner_params smallest = {sizeof smallest, BLOSC2X_TUNER_BALANCED, 1.0};
  blosc2_cparams plain = BLOSC2_CPARAMS_DEFAULTS, tuned;
  plain.typesize = 4;
  tuned = plain;
  CHECK_EQ(blosc2x_tuner_auto(&tuned, &smallest), 0);
  blosc2_storage storage = {.cparams = &tuned};
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  CHECK(schunk != NULL);
  CHECK_EQ(blosc2_schunk_append_buffer(schunk, items, sizeof items), 1);
  CHECK_EQ(codec_format(schunk), 4);

  uint8_t *frame = NULL;
  bool needs_free = false;
  int64_t length = blosc2_schunk_to_buffer(schunk, &frame, &needs_free);
  CHECK(length > 0 && needs_free);
  blosc2_schunk *opened = blosc2_schunk_from_buffer(frame, length, false);
  CHECK(opened != NULL);
  CHECK_EQ(opened->compcode, BLOSC_BLOSCLZ);
  CHECK_EQ(opened->clevel, plain.clevel);
  CHECK_BYTES(opened->filters, plain.filters, sizeof plain.filters);
  CHECK_EQ(codec_format(opened), 4);
  blosc2_schunk_free(opened);
  free(frame);

  storage.cparams = &plain;
  blosc2_schunk *copy = blosc2_schunk_copy(schunk, &storage);
  CHECK(copy != NULL);
  CHECK_EQ(codec_format(copy), 0);
  blosc2_schunk_free(copy);
  blosc2_schunk_free(schunk);
}

static void explanation_names_the_choice(void) {
  char *text = blosc2x_tuner_explain(items, sizeof items, 4, &BALANCED);
  CHECK(text != NULL);
  CHECK(strncmp(text, "{\"tradeoff\":0.5,\"mode\":\"balanced\",\"nbytes\":200000,\"typesize\":4,", 60) == 0);
  CHECK(strstr(text, "\"choice\":{\"codec\":\"") != NULL && strstr(text, "\"candidates\":[{") != NULL);
  CHECK(strstr(text, "\"features\":[{") != NULL);
  free(text);
  text = blosc2x_tuner_explain(NULL, 0, 1, &BALANCED);
  CHECK(text != NULL);
  free(text);
  CHECK(blosc2x_tuner_explain(NULL, 1, 1, &BALANCED) == NULL);
  CHECK(blosc2x_tuner_explain(items, -1, 1, &BALANCED) == NULL);
  CHECK(blosc2x_tuner_explain(items, sizeof items, 0, &BALANCED) == NULL);
  CHECK(strstr(blosc2x_last_error(), "typesize") != NULL);
  CHECK(blosc2x_tuner_explain(items, sizeof items, -4, &BALANCED) == NULL);
}

int main(int argc, char **argv) {
  asked_for_ours(argc, argv);
  blosc2_init();
  fill_series(items, NITEMS);
  RUN(invalid_parameters_are_rejected);
  RUN(contexts_have_copies_of_the_parameters);
  RUN(super_chunk_has_the_content);
  RUN(copies_have_the_parameters_of_the_program);
  RUN(explanation_names_the_choice);
  blosc2_destroy();
  return 0;
}

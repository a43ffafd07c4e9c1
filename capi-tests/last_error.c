/*
 * blosc2x_last_error: the text of the last failed call, of one thread and of several, inside callbacks and in threads
 * that end. Runs with this library only; `--ours` changes nothing.
 */

#include <pthread.h>

#include "blosc2.h"
#include "blosc2/blosc2x.h"
#include "check.h"

#define MISSING "missing-file.b2frame"
#define OTHER "missing-file-of-the-thread.b2frame"

/* Opens a file that does not exist. */
static void fail_to_open(const char *path) {
  CHECK(blosc2_schunk_open(path) == NULL);
  CHECK(blosc2x_last_error() != NULL && strstr(blosc2x_last_error(), path) != NULL);
}

/* Checks that the text is that of the code, with details. */
static void check_text_of_code(int code) {
  const char *text = blosc2x_last_error();
  const char *kind = blosc2_error_string(code);
  CHECK(text != NULL && strncmp(text, kind, strlen(kind)) == 0);
  CHECK(strncmp(text + strlen(kind), ": ", 2) == 0 && strlen(text) > strlen(kind) + 2);
}

static void no_text_before_the_first_failure(void) {
  CHECK(blosc2x_last_error() == NULL);
  blosc2_schunk_free(blosc2_schunk_new(&(blosc2_storage){.contiguous = true}));
  CHECK(blosc2x_last_error() == NULL);
}

static void missing_file_is_named(void) {
  fail_to_open(MISSING);
  check_text_of_code(BLOSC2_ERROR_FILE_OPEN);
}

static void success_changes_nothing(void) {
  fail_to_open(MISSING);
  const char *text = blosc2x_last_error();
  char copy[200];
  CHECK(strlen(text) < sizeof copy);
  strcpy(copy, text);
  blosc2_schunk *schunk = blosc2_schunk_new(&(blosc2_storage){.contiguous = true});
  CHECK(schunk != NULL);
  int32_t items[100];
  fill_series(items, 100);
  CHECK_EQ(blosc2_schunk_append_buffer(schunk, items, sizeof items), 1);
  blosc2_schunk_free(schunk);
  CHECK(blosc2x_last_error() == text);
  CHECK_STR(text, copy);
}

static void damaged_chunk_has_a_text(void) {
  int32_t items[1000];
  uint8_t chunk[sizeof items + BLOSC2_MAX_OVERHEAD];
  fill_series(items, 1000);
  int cbytes = blosc2_compress(5, BLOSC_SHUFFLE, 4, items, sizeof items, chunk, sizeof chunk);
  CHECK(cbytes > 0);
  memset(chunk + 8, 0, 4); /* the block size */
  int code = blosc2_decompress(chunk, cbytes, items, sizeof items);
  CHECK(code < 0);
  check_text_of_code(code);
}

/* Calls whose result is no error code. */
static void failures_without_a_code_have_a_text(void) {
  const char *compname;
  CHECK_EQ(blosc2_compname_to_compcode("no codec"), -1);
  CHECK(strstr(blosc2x_last_error(), "no codec") != NULL);
  CHECK_EQ(blosc2_compcode_to_compname(77, &compname), -1);
  CHECK(strstr(blosc2x_last_error(), "77") != NULL);
  CHECK_EQ(blosc1_set_compressor("no compressor"), -1);
  CHECK(strstr(blosc2x_last_error(), "no compressor") != NULL);
  CHECK_EQ(blosc1_set_compressor("blosclz"), BLOSC_BLOSCLZ);
  CHECK(blosc2_get_io_cb(200) == NULL);
  CHECK(strstr(blosc2x_last_error(), "200") != NULL);

  uint8_t header[BLOSC_MIN_HEADER_LENGTH] = {0};
  size_t nbytes = 1;
  fail_to_open(MISSING);
  blosc1_cbuffer_sizes(header, &nbytes, NULL, NULL);
  CHECK_EQ(nbytes, 0);
  check_text_of_code(BLOSC2_ERROR_INVALID_HEADER);

  void *stream = blosc2_stdio_open("/dev/null", "rb", NULL);
  CHECK(stream != NULL);
  CHECK_EQ(blosc2_stdio_truncate(stream, 1), -1);
  check_text_of_code(BLOSC2_ERROR_FILE_TRUNCATE);
  CHECK_EQ(blosc2_stdio_close(stream), 0);
}

static void *use_a_thread(void *unused) {
  (void)unused;
  CHECK(blosc2x_last_error() == NULL);
  fail_to_open(OTHER);
  return NULL;
}

static void each_thread_has_its_own_text(void) {
  fail_to_open(MISSING);
  const char *text = blosc2x_last_error();
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, use_a_thread, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK(blosc2x_last_error() == text && strstr(text, MISSING) != NULL);
}

static int prefilter(blosc2_prefilter_params *params) {
  fail_to_open(params->user_data);
  memset(params->output, 1, (size_t)params->output_size);
  return 0;
}

static void call_from_a_callback_has_a_text(void) {
  fail_to_open(MISSING);
  blosc2_prefilter_params preparams = {.user_data = OTHER};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.prefilter = prefilter;
  cparams.preparams = &preparams;
  blosc2_context *context = blosc2_create_cctx(cparams);
  CHECK(context != NULL);
  uint8_t chunk[400 + BLOSC2_MAX_OVERHEAD];
  CHECK(blosc2_compress_ctx(context, NULL, 400, chunk, sizeof chunk) > 0);
  blosc2_free_ctx(context);
  CHECK(strstr(blosc2x_last_error(), OTHER) != NULL);
}

/* Keys that the system destroys before that of the library, and after it. */
static pthread_key_t keys[2];
static int destroyed;

static void fail_at_thread_end(void *path) {
  fail_to_open(path);
  destroyed++;
}

static void *end_a_thread(void *unused) {
  (void)unused;
  fail_to_open(OTHER);
  CHECK_EQ(pthread_setspecific(keys[0], MISSING), 0);
  CHECK_EQ(pthread_setspecific(keys[1], MISSING), 0);
  return NULL;
}

static void calls_at_the_end_of_a_thread_have_a_text(void) {
  pthread_t thread;
  CHECK_EQ(pthread_key_create(&keys[1], fail_at_thread_end), 0);
  CHECK_EQ(pthread_create(&thread, NULL, end_a_thread, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(destroyed, 2);
}

/* What the ABI limits to 2 GiB names the way that works. Sizes that a program has cast to int32_t are negative. */
static void sizes_beyond_2_gib_name_super_chunks(void) {
  enum { ROOM = 100 };
  static uint8_t buffer[ROOM];
  const size_t large = (size_t)3 << 30;
  const int32_t cast = (int32_t)large;
  blosc2_context *context = blosc2_create_cctx(BLOSC2_CPARAMS_DEFAULTS);
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  CHECK(context != NULL && schunk != NULL);
  const void *sources[] = {buffer, buffer, buffer};
  const int32_t sizes[] = {INT32_MAX, INT32_MAX, INT32_MAX};
#define CHECK_REFUSED(call)                                          \
  do {                                                               \
    CHECK((call) < 0);                                               \
    CHECK(strstr(blosc2x_last_error(), "super-chunk") != NULL);      \
    fail_to_open(MISSING);                                           \
  } while (0)
  CHECK_REFUSED(blosc1_compress(5, 1, 4, large, buffer, buffer, ROOM));
  CHECK_REFUSED(blosc2_compress(5, 1, 4, buffer, cast, buffer, ROOM));
  CHECK_REFUSED(blosc2_compress(5, 1, 4, buffer, INT32_MAX, buffer, ROOM));
  CHECK_REFUSED(blosc2_compress_ctx(context, buffer, cast, buffer, ROOM));
  CHECK_REFUSED(blosc2_compress_ctx(context, buffer, INT32_MAX, buffer, ROOM));
  CHECK_REFUSED(blosc2_vlcompress_ctx(context, sources, sizes, 3, buffer, ROOM));
  CHECK_REFUSED(blosc2_chunk_zeros(BLOSC2_CPARAMS_DEFAULTS, cast, buffer, ROOM));
  CHECK_REFUSED(blosc2_schunk_append_buffer(schunk, buffer, cast));
  CHECK_REFUSED(blosc2_schunk_append_buffer(schunk, buffer, INT32_MAX));
  CHECK_REFUSED(blosc2_vlmeta_add(schunk, "name", buffer, cast, NULL));
  CHECK_REFUSED(blosc2_vlmeta_add(schunk, "name", buffer, INT32_MAX, NULL));
  CHECK_REFUSED(blosc2_meta_add(schunk, "name", buffer, cast));
#undef CHECK_REFUSED
  blosc2_schunk_free(schunk);
  blosc2_free_ctx(context);
}

int main(int argc, char **argv) {
  asked_for_ours(argc, argv);
  CHECK_EQ(pthread_key_create(&keys[0], fail_at_thread_end), 0);
  RUN(no_text_before_the_first_failure);
  RUN(missing_file_is_named);
  RUN(success_changes_nothing);
  RUN(damaged_chunk_has_a_text);
  RUN(failures_without_a_code_have_a_text);
  RUN(each_thread_has_its_own_text);
  RUN(call_from_a_callback_has_a_text);
  RUN(calls_at_the_end_of_a_thread_have_a_text);
  RUN(sizes_beyond_2_gib_name_super_chunks);
  return 0;
}

/* Code of the headers that works without the library: inline functions, macros, default objects (abi.md 6,
   16.10-16.11). Without an argument the program checks known results, and prints results for many inputs, so that the
   output with two sets of headers can be compared. With the argument "trace" it prints messages on stderr. */

#include "b2nd.h"
#include "blosc2.h"

/* The only function of the library that the macros call. */
const char *blosc2_error_string(int error_code) {
  return error_code == BLOSC2_ERROR_DATA ? "Invalid data" : "another text";
}

static int failures = 0;

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("line %d: failed: %s\n", __LINE__, #condition);         \
      failures++;                                                    \
    }                                                                \
  } while (0)

/* ---- b2nd_deserialize_meta_inline ---- */

static const uint8_t golden[34] = {0x97, 0x00, 0x01, 0x91, 0xd3, 0, 0, 0, 0, 0, 0, 0, 5, 0x91, 0xd2, 0, 0,
                                   0,    3,    0x91, 0xd2, 0,    0, 0, 2, 0, 0xdb, 0, 0, 0, 3, 0x7c, 0x75, 0x31};

static void print_deserialized(const char *what, const uint8_t *smeta, int32_t length, int with_dtype) {
  int8_t ndim = 99, format = 99;
  int64_t shape[256];
  int32_t chunkshape[256], blockshape[256];
  char poison = 0, *dtype = &poison;
  for (int i = 0; i < 256; i++) {
    shape[i] = chunkshape[i] = blockshape[i] = -77;
  }
  int rc = b2nd_deserialize_meta_inline(smeta, length, &ndim, shape, chunkshape, blockshape,
                                        with_dtype & 1 ? &dtype : NULL, with_dtype & 2 ? &format : NULL);
  printf("%s %d %d: %d ndim %d format %d dtype %s;", what, (int)length, with_dtype, rc, ndim, format,
         dtype == &poison ? "untouched" : dtype == NULL ? "NULL" : dtype);
  for (int i = 0; i < 17; i++) {
    printf(" %lld/%d/%d", (long long)shape[i], (int)chunkshape[i], (int)blockshape[i]);
  }
  printf("\n");
  if (dtype != &poison) {
    free(dtype);
  }
}

static void check_golden(void) {
  int8_t ndim = 99, format = 99;
  int64_t shape[16];
  int32_t chunkshape[16], blockshape[16];
  char *dtype = NULL;
  CHECK(b2nd_deserialize_meta_inline(golden, 34, &ndim, shape, chunkshape, blockshape, &dtype, &format) == 34);
  CHECK(ndim == 1 && shape[0] == 5 && chunkshape[0] == 3 && blockshape[0] == 2 && format == 0);
  CHECK(dtype != NULL && strcmp(dtype, "|u1") == 0);
  free(dtype);
  CHECK(b2nd_deserialize_meta_inline(golden, 34, &ndim, shape, chunkshape, blockshape, NULL, NULL) == 25);
  format = 99;
  CHECK(b2nd_deserialize_meta_inline(golden, 25, &ndim, shape, chunkshape, blockshape, &dtype, &format) == 25);
  CHECK(dtype == NULL && format == 0);
  CHECK(b2nd_deserialize_meta_inline(golden, 20, &ndim, shape, chunkshape, blockshape, &dtype, &format) == -1);
  CHECK(b2nd_deserialize_meta_inline(golden, 0, &ndim, shape, chunkshape, blockshape, &dtype, &format) == -1);
  CHECK(b2nd_deserialize_meta_inline(NULL, 34, &ndim, shape, chunkshape, blockshape, &dtype, &format) == -32);
}

static void print_many_deserialized(void) {
  uint8_t changed[34];
  for (int32_t length = -1; length <= 34; length++) {
    for (int with_dtype = 0; with_dtype < 4; with_dtype++) {
      print_deserialized("golden", golden, length, with_dtype);
    }
  }
  static const uint8_t replacements[] = {0x00, 0x01, 0x02, 0x10, 0x11, 0x7f, 0x80, 0xff};
  for (size_t at = 0; at < sizeof golden; at++) {
    for (size_t i = 0; i < sizeof replacements; i++) {
      char what[32];
      memcpy(changed, golden, sizeof golden);
      changed[at] = replacements[i];
      snprintf(what, sizeof what, "byte %d = %d", (int)at, replacements[i]);
      print_deserialized(what, changed, (int32_t)sizeof changed, 3);
    }
  }
  /* 16 dimensions and more, with every length around the ends of the parts. */
  uint8_t large[3 + 17 * 9 + 2 * 17 * 5 + 3 + 16];
  for (int ndim = 15; ndim <= 17; ndim++) {
    for (size_t i = 0; i < sizeof large; i++) {
      large[i] = (uint8_t)(i * 37 + 11);
    }
    large[2] = (uint8_t)ndim;
    for (int32_t length = 0; length <= (int32_t)sizeof large; length += 3) {
      print_deserialized("large", large, length, 3);
    }
  }
  int8_t ndim;
  int64_t shape[16];
  int32_t part[16];
  printf("NULLs: %d %d %d %d\n", b2nd_deserialize_meta_inline(golden, 34, NULL, shape, part, part, NULL, NULL),
         b2nd_deserialize_meta_inline(golden, 34, &ndim, NULL, part, part, NULL, NULL),
         b2nd_deserialize_meta_inline(golden, 34, &ndim, shape, NULL, part, NULL, NULL),
         b2nd_deserialize_meta_inline(golden, 34, &ndim, shape, part, NULL, NULL, NULL));
}

/* ---- blosc2_meta_exists, blosc2_meta_get ---- */

static void print_meta(blosc2_schunk *schunk, const char *name) {
  uint8_t poison = 0, *content = &poison;
  int32_t length = -77;
  int rc = blosc2_meta_get(schunk, name, &content, &length);
  printf("meta %s: exists %d, get %d", name, blosc2_meta_exists(schunk, name), rc);
  if (rc < 0) { /* The headers of C-Blosc2 leave the results untouched. */
    printf("\n");
    return;
  }
  printf(", length %d, content %s", (int)length, content == NULL ? "NULL" : "");
  if (content != NULL) {
    for (int32_t i = 0; i < length; i++) {
      printf(" %02x", content[i]);
    }
    free(content);
  }
  printf("\n");
}

/* The results of a call that fails are NULL and 0. The headers of C-Blosc2 leave them untouched. */
#ifdef BLOSC2_REFERENCE_HEADERS
#define CHECK_META_FAILS(schunk, name, code) CHECK(blosc2_meta_get(schunk, name, &content, &length) == (code))
#else
#define CHECK_META_FAILS(schunk, name, code)                             \
  do {                                                                   \
    content = bytes;                                                     \
    length = 7;                                                          \
    CHECK(blosc2_meta_get(schunk, name, &content, &length) == (code));   \
    CHECK(content == NULL && length == 0);                               \
  } while (0)
#endif

static void check_meta(void) {
  char name_of_31[] = "0123456789012345678901234567890";
  char name_of_32[] = "01234567890123456789012345678901";
  uint8_t bytes[] = {1, 2, 3, 0xfe};
  blosc2_metalayer layers[] = {{(char *)"first", bytes, 4}, {(char *)"empty", bytes, 0},
                               {(char *)"negative", bytes, -1}, {(char *)"first", bytes, 1},
                               {name_of_31, bytes + 3, 1}, {(char *)"hollow", NULL, 4}};
  blosc2_schunk *schunk = (blosc2_schunk *)calloc(1, sizeof *schunk);
  schunk->nmetalayers = 6;
  for (int i = 0; i < 6; i++) {
    schunk->metalayers[i] = &layers[i];
  }
  CHECK(blosc2_meta_exists(schunk, "first") == 0);
  CHECK(blosc2_meta_exists(schunk, "empty") == 1);
  CHECK(blosc2_meta_exists(schunk, name_of_31) == 4);
  CHECK(blosc2_meta_exists(schunk, name_of_32) == BLOSC2_ERROR_INVALID_PARAM);
  CHECK(blosc2_meta_exists(schunk, "firs") == BLOSC2_ERROR_NOT_FOUND);
  CHECK(blosc2_meta_exists(NULL, "first") == BLOSC2_ERROR_INVALID_PARAM);
  uint8_t *content = NULL;
  int32_t length = 0;
  CHECK(blosc2_meta_get(schunk, "first", &content, &length) == 0);
  CHECK(length == 4 && content != bytes && memcmp(content, bytes, 4) == 0);
  free(content);
  content = bytes;
  CHECK(blosc2_meta_get(schunk, "empty", &content, &length) == 1 && content == NULL && length == 0);
  CHECK_META_FAILS(schunk, "negative", BLOSC2_ERROR_DATA);
  CHECK_META_FAILS(schunk, "hollow", BLOSC2_ERROR_DATA);
  CHECK_META_FAILS(schunk, "none", BLOSC2_ERROR_NOT_FOUND);
  CHECK_META_FAILS(NULL, "first", BLOSC2_ERROR_INVALID_PARAM);
  CHECK_META_FAILS(schunk, NULL, BLOSC2_ERROR_INVALID_PARAM);
  CHECK_META_FAILS(schunk, name_of_32, BLOSC2_ERROR_INVALID_PARAM);
  CHECK(blosc2_meta_get(schunk, "first", NULL, &length) == BLOSC2_ERROR_INVALID_PARAM);
  CHECK(blosc2_meta_get(schunk, "first", &content, NULL) == BLOSC2_ERROR_INVALID_PARAM);
  print_meta(schunk, "first");
  print_meta(schunk, "empty");
  print_meta(schunk, "negative");
  print_meta(schunk, "hollow");
  print_meta(schunk, "none");
  print_meta(schunk, name_of_31);
  print_meta(schunk, name_of_32);
  schunk->nmetalayers = 1;
  print_meta(schunk, "empty");
  free(schunk);
}

/* ---- swap_store ---- */

static void check_swap_store(void) {
  uint8_t out[8];
  uint16_t two = 0x1234;
  uint32_t four = 0x12345678;
  uint64_t eight = 0x123456789abcdef0;
  memset(out, 0, sizeof out);
  swap_store(out, &eight, 8);
  CHECK(memcmp(out, "\x12\x34\x56\x78\x9a\xbc\xde\xf0", 8) == 0);
  swap_store(out, &four, 4);
  CHECK(memcmp(out, "\x12\x34\x56\x78\x9a", 5) == 0);
  memset(out, 0, sizeof out);
  swap_store(out, &two, 2);
  CHECK(memcmp(out, "\x12\x34\0", 3) == 0);
  swap_store(out, "\x77", 1);
  CHECK(memcmp(out, "\x77\x34\0", 3) == 0);
}

/* ---- Macros ---- */

static int calls = 0;

static int counted(int value) {
  calls++;
  return value;
}

static int returns_errors(int value) {
  BLOSC_ERROR(counted(value));
  return 77;
}

static int returns_rc_if_null(const void *pointer) {
  BLOSC_ERROR_NULL(pointer, BLOSC2_ERROR_NULL_POINTER);
  return 77;
}

static void *returns_null_if_null(void *pointer) {
  BLOSC_ERROR_NULL(pointer, NULL);
  return pointer;
}

static void check_macros(int unused) {
  BLOSC_UNUSED_PARAM(unused);
  BLOSC_UNUSED_VAR int variable = 0;
  CHECK(returns_errors(-3) == -3 && calls == 1);
  CHECK(returns_errors(0) == 77 && calls == 2);
  CHECK(returns_errors(5) == 77 && calls == 3);
  CHECK(returns_rc_if_null(NULL) == -32);
  CHECK(returns_rc_if_null("") == 77);
  CHECK(returns_null_if_null(NULL) == NULL && returns_null_if_null(&calls) == &calls);
  CHECK(strcmp(print_error(BLOSC2_ERROR_DATA), "Invalid data") == 0);
  /* Each macro is a single statement. */
  if (unused)
    BLOSC_TRACE_ERROR("not %s", "printed");
  else
    BLOSC_INFO("not printed");
}

static void print_messages(void) {
#line 100 "place.c"
  BLOSC_TRACE_WARNING("w %d", 1);
  BLOSC_TRACE_ERROR("no argument");
  BLOSC_TRACE_INFO("%s and %d%%", "two", 2);
  BLOSC_TRACE(other, "of its own category");
  BLOSC_INFO("told %d", 3);
  BLOSC_INFO("told");
  returns_errors(-3);
}
#line 240 "header_inlines.c"

/* ---- Default objects ---- */

static void check_defaults(void) {
  blosc2_cparams c = BLOSC2_CPARAMS_DEFAULTS;
  const uint8_t filters[6] = {0, 0, 0, 0, 0, 1}, zeros[6] = {0};
  CHECK(c.compcode == 0 && c.compcode_meta == 0 && c.clevel == 5 && c.use_dict == 0 && c.typesize == 8);
  CHECK(c.nthreads == 1 && c.blocksize == 0 && c.splitmode == 4 && c.schunk == NULL);
  CHECK(memcmp(c.filters, filters, 6) == 0 && memcmp(c.filters_meta, zeros, 6) == 0);
  CHECK(c.prefilter == NULL && c.preparams == NULL && c.tuner_params == NULL && c.tuner_id == 0);
  CHECK(!c.instr_codec && c.codec_params == NULL);
  for (int i = 0; i < 6; i++) {
    CHECK(c.filter_params[i] == NULL);
  }
  const blosc2_dparams *d = &BLOSC2_DPARAMS_DEFAULTS;
  CHECK(d->nthreads == 1 && d->schunk == NULL && d->postfilter == NULL && d->postparams == NULL);
  CHECK(d->typesize == 8);
  const blosc2_storage *s = &BLOSC2_STORAGE_DEFAULTS;
  CHECK(!s->contiguous && s->urlpath == NULL && s->cparams == NULL && s->dparams == NULL && s->io == NULL);
  const blosc2_io *io = &BLOSC2_IO_DEFAULTS;
  CHECK(io->id == 0 && strcmp(io->name, "filesystem") == 0 && io->params == NULL);
  CHECK(!BLOSC2_STDIO_PARAMS_DEFAULTS.locking);
  const blosc2_stdio_mmap *m = &BLOSC2_STDIO_MMAP_DEFAULTS;
  CHECK(strcmp(m->mode, "r") == 0 && m->initial_mapping_size == 1073741824 && !m->needs_free);
  CHECK(m->addr == NULL && m->urlpath == NULL && m->file_size == 0 && m->mapping_size == 0);
  CHECK(!m->is_memory_only && m->file == NULL && m->fd == -1 && m->access_flags == -1 && m->map_flags == -1);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "trace") == 0) {
    print_messages();
    return 0;
  }
  check_golden();
  check_meta();
  check_swap_store();
  check_macros(0);
  check_defaults();
  print_many_deserialized();
  return failures == 0 ? 0 : 1;
}

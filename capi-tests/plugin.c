/* A plugin library, valid or broken, for tests/dynamic_plugins. One of CODEC, FILTER and TUNER is defined, and at most
   one of

     NO_INFO            there is no symbol `info`
     INFO_IS_FUNCTION   the symbol `info` is a function
     INFO_TOO_SMALL     the descriptor has only one name
     NULL_NAME          the last name is NULL
     MISSING            the last function does not exist
     IS_DATA            the symbol of the last function is a variable
     UNDEFINED          an undefined function is called
     NEEDS_HOST         functions of the host are called, also while the library is being loaded
     OLD_LAYOUT         the tuner stores its state at another offset of the context than the host

   The meta byte determines the return values of the codec and the filter. */

#include <blosc2.h>

#include <stdint.h>
#include <string.h>

int undefined_function(void);

static int trouble(void) {
#ifdef UNDEFINED
  return undefined_function();
#else
  return 0;
#endif
}

#ifdef NEEDS_HOST
static int seen_by_constructor;

static int pass(const uint8_t *src, uint8_t *dest, int32_t size, uint8_t meta, blosc2_cparams *cparams, uint8_t id) {
  (void)meta, (void)cparams, (void)id;
  memcpy(dest, src, (size_t)size);
  return 0;
}

static int pass_back(const uint8_t *src, uint8_t *dest, int32_t size, uint8_t meta, blosc2_dparams *dparams, uint8_t id) {
  (void)meta, (void)dparams, (void)id;
  memcpy(dest, src, (size_t)size);
  return 0;
}

__attribute__((constructor)) static void constructor(void) {
  blosc2_filter filter = {.id = 250, .name = "of_a_plugin", .version = 1, .forward = pass, .backward = pass_back};
  seen_by_constructor = blosc2_register_filter(&filter) == 0 && blosc2_compname_to_compcode("zstd") == 5;
}
#endif

#ifdef CODEC
/* Halves data that consist of pairs of equal bytes; `meta` is part of the stream. */
int probe_encoder(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
                  blosc2_cparams *cparams, const void *chunk) {
  (void)cparams, (void)chunk;
  if (meta == 1) return -35 + trouble();
#ifdef NEEDS_HOST
  if (!seen_by_constructor || strcmp(blosc2_error_string(-3), "Invalid data") != 0) return -1;
#endif
  int32_t length = input_len / 2 + 1;
  if (length > output_len || input_len % 2 != 0) return 0;
  output[0] = meta;
  for (int32_t i = 0; i < input_len; i += 2) {
    if (input[i] != input[i + 1]) return 0;
    output[1 + i / 2] = input[i] ^ 0x5A;
  }
  return length;
}

#ifdef IS_DATA
int probe_decoder = 7;
#elif !defined(MISSING)
int probe_decoder(const uint8_t *input, int32_t input_len, uint8_t *output, int32_t output_len, uint8_t meta,
                  blosc2_dparams *dparams, const void *chunk) {
  (void)dparams, (void)chunk;
  if (meta == 2) return -35;
  if (meta == 3) return output_len - 1;
  if (input[0] != meta || (input_len - 1) * 2 != output_len) return -1;
  for (int32_t i = 0; i < output_len; i++) output[i] = input[1 + i / 2] ^ 0x5A;
  return output_len;
}
#endif

#define NAMES "probe_encoder", "probe_decoder"
#define ALL_BUT_LAST "probe_encoder"
#endif

#ifdef FILTER
int probe_forward(const uint8_t *src, uint8_t *dest, int32_t size, uint8_t meta, blosc2_cparams *cparams, uint8_t id) {
  (void)cparams, (void)id;
  if (meta == 1) return 1 + trouble();
  for (int32_t i = 0; i < size; i++) dest[i] = src[i] ^ meta;
  return 0;
}

#ifdef IS_DATA
int probe_backward = 7;
#elif !defined(MISSING)
int probe_backward(const uint8_t *src, uint8_t *dest, int32_t size, uint8_t meta, blosc2_dparams *dparams, uint8_t id) {
  (void)dparams, (void)id;
  if (meta == 2) return -9;
  for (int32_t i = 0; i < size; i++) dest[i] = src[i] ^ meta;
  return 0;
}
#endif

#define NAMES "probe_forward", "probe_backward"
#define ALL_BUT_LAST "probe_forward"
#endif

#ifdef TUNER
/* Offsets in the context that tuners rely on. */
enum { COMPCODE_META = 120, SCHUNK = 872, STATE = 896, OLD_STATE = 856 };

static int calls;

int probe_init(void *config, blosc2_context *cctx, blosc2_context *dctx) {
  (void)dctx;
  void *state = config != NULL ? config : &calls;
#ifdef OLD_LAYOUT
  memcpy((char *)cctx + OLD_STATE, &state, sizeof state);
  memcpy((char *)cctx + SCHUNK, &state, sizeof state);
#else
  memcpy((char *)cctx + STATE, &state, sizeof state);
#endif
  return trouble();
}

int probe_next_blocksize(blosc2_context *context) {
  (void)context;
  return 0;
}

/* Stores a counter in a byte that the chunk's header contains. */
int probe_next_cparams(blosc2_context *context) {
  ((uint8_t *)context)[COMPCODE_META] = (uint8_t)++calls;
  return 0;
}

int probe_update(blosc2_context *context, double ctime) {
  (void)context;
  return ctime < 0 ? -1 : 0;
}

#ifdef IS_DATA
int probe_free = 7;
#elif !defined(MISSING)
int probe_free(blosc2_context *context) {
  void *nothing = NULL;
  memcpy((char *)context + STATE, &nothing, sizeof nothing);
  return 0;
}
#endif

#define NAMES "probe_init", "probe_next_blocksize", "probe_next_cparams", "probe_update", "probe_free"
#define ALL_BUT_LAST "probe_init", "probe_next_blocksize", "probe_next_cparams", "probe_update"
#endif

#ifdef INFO_IS_FUNCTION
int info(void) { return 0; }
#elif defined(INFO_TOO_SMALL)
const char *info[] = {"probe_encoder"};
#elif defined(NULL_NAME)
const char *info[] = {ALL_BUT_LAST, 0};
#elif !defined(NO_INFO)
const char *info[] = {NAMES};
#endif

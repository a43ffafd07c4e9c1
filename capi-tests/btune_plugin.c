/* A plugin library for tuner 32, for tests/dynamic_plugins. Like Btune 1.2.1, it accesses the fields of contexts at the
   offsets of C-Blosc2 2.19, and `update` writes the source. With PRESENT_LAYOUT it uses the offsets of C-Blosc2 3.3, and
   writes only what it chooses. Each hook returns -1 if a field has an unexpected value. */

#include <blosc2.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef PRESENT_LAYOUT
enum {
  SRC = 0, DEST = 8, SOURCESIZE = 20, BLOCKSIZE = 36, SPLITMODE = 44, SRCSIZE = 52, DESTSIZE = 56, TYPESIZE = 60,
  COMPCODE = 116, COMPCODE_META = 120, CLEVEL = 124, FILTERS = 169, FILTERS_META = 175, STATE = 896, NTHREADS = 968,
  NEW_NTHREADS = 970
};
#else
enum {
  SRC = 0, DEST = 8, SOURCESIZE = 20, BLOCKSIZE = 36, SPLITMODE = 40, SRCSIZE = 48, DESTSIZE = 52, TYPESIZE = 56,
  COMPCODE = 76, COMPCODE_META = 80, CLEVEL = 84, FILTERS = 129, FILTERS_META = 135, STATE = 856, NTHREADS = 928,
  NEW_NTHREADS = 930
};
#endif

#define FIELD(type, offset) (*(type *)((char *)context + (offset)))

typedef struct {
  int16_t nthreads;
  int calls;
} tuner_state;

int probe_init(void *config, blosc2_context *context, blosc2_context *dctx) {
  (void)config;
  if (dctx != NULL || FIELD(tuner_state *, STATE) != NULL) return -1;
  tuner_state *state = calloc(1, sizeof *state);
  state->nthreads = FIELD(int16_t, NTHREADS);
  FIELD(tuner_state *, STATE) = state;
  return 0;
}

int probe_next_blocksize(blosc2_context *context) {
  (void)context;
  return -1;
}

/* Chooses Zstandard with another level and meta byte for each call, two filters, 8 KiB blocks, and two threads. */
int probe_next_cparams(blosc2_context *context) {
  tuner_state *state = FIELD(tuner_state *, STATE);
  if (state->nthreads != 1 || FIELD(int16_t, NTHREADS) != (state->calls == 0 ? 1 : 2)) return -1;
  if (FIELD(int32_t, TYPESIZE) != 4) return -1;
  if (FIELD(int32_t, SRCSIZE) != FIELD(int32_t, SOURCESIZE)) return -1;
  const uint8_t *src = FIELD(const uint8_t *, SRC);
  if (src == NULL || src[0] != 1) return -1;
  const uint8_t filters[] = {0, 0, 0, 0, 3, 2}, meta[] = {0, 0, 0, 0, 24, 0};
  FIELD(int32_t, COMPCODE) = 5;
  FIELD(uint8_t, COMPCODE_META) = (uint8_t)++state->calls;
  FIELD(int32_t, CLEVEL) = state->calls;
  FIELD(int32_t, SPLITMODE) = 2;
  FIELD(int32_t, BLOCKSIZE) = 8192;
  memcpy(&FIELD(uint8_t, FILTERS), filters, sizeof filters);
  memcpy(&FIELD(uint8_t, FILTERS_META), meta, sizeof meta);
  FIELD(int16_t, NEW_NTHREADS) = 2;
  return 0;
}

int probe_update(blosc2_context *context, double ctime) {
  uint8_t *src = FIELD(uint8_t *, SRC);
  const uint8_t *dest = FIELD(const uint8_t *, DEST);
  int32_t cbytes;
  memcpy(&cbytes, dest + BLOSC2_CHUNK_CBYTES, sizeof cbytes);
  if (ctime < 0 || FIELD(tuner_state *, STATE)->calls < 1 || FIELD(int32_t, DESTSIZE) != cbytes) return -1;
#ifndef PRESENT_LAYOUT
  memset(src, 0xEE, (size_t)FIELD(int32_t, SOURCESIZE));
#else
  (void)src;
#endif
  return 0;
}

int probe_free(blosc2_context *context) {
  free(FIELD(tuner_state *, STATE));
  FIELD(tuner_state *, STATE) = NULL;
  return 0;
}

const char *info[] = {"probe_init", "probe_next_blocksize", "probe_next_cparams", "probe_update", "probe_free"};

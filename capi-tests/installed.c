/* Uses an installed library (abi.md 8). */

#include <blosc2.h>
#include <b2nd.h>

#include "foreign_symbols.h"

enum { ITEMS = 300 * 1000 };

static int round_trip(const char *name) {
  static int32_t in[ITEMS], out[ITEMS];
  static uint8_t chunk[sizeof in + BLOSC2_MAX_OVERHEAD];
  for (int i = 0; i < ITEMS; i++) {
    in[i] = i % 1000 + (i >> 12);
    out[i] = -1;
  }
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = (uint8_t)blosc2_compname_to_compcode(name);
  cparams.typesize = sizeof in[0];
  cparams.nthreads = 3;
  blosc2_context *cctx = blosc2_create_cctx(cparams);
  int cbytes = blosc2_compress_ctx(cctx, in, sizeof in, chunk, sizeof chunk);
  blosc2_free_ctx(cctx);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = 2;
  blosc2_context *dctx = blosc2_create_dctx(dparams);
  int nbytes = blosc2_decompress_ctx(dctx, chunk, cbytes, out, sizeof out);
  blosc2_free_ctx(dctx);
  int good = cbytes > 0 && cbytes < (int)sizeof in / 4 && nbytes == (int)sizeof in && memcmp(in, out, sizeof in) == 0;
  printf("%s: %d -> %d -> %d%s\n", name, (int)sizeof in, cbytes, nbytes, good ? "" : ", failed");
  return good;
}

int main(void) {
  static const char *const codecs[] = {"blosclz", "lz4", "lz4hc", "zlib", "zstd"};
  int good = strcmp(blosc2_get_version_string(), BLOSC2_VERSION_STRING) == 0;
  blosc2_init();
  for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) {
    good &= round_trip(codecs[i]);
  }
  good &= strcmp(print_error(BLOSC2_ERROR_DATA), "Invalid data") == 0;
  blosc2_destroy();
  return good ? 0 : 1;
}

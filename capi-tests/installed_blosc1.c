/* Uses an installed library for programs of Blosc 1, as C and as C++: compresses with the settings of the process and
   with arguments, decompresses, reads items, and reads what the chunk says about itself. */

#include <blosc.h>
#include <string.h>

#include "foreign_symbols.h"

#define ITEMS (300 * 1000)

static int in[ITEMS], out[ITEMS];
static unsigned char chunk[sizeof in + BLOSC_MAX_OVERHEAD];

/* Returns whether the chunk of cbytes bytes has the content of `in`, whole and in parts. */
static int has_content(int cbytes) {
  size_t nbytes, held, blocksize, typesize;
  int flags;
  int good = cbytes > 0 && cbytes < (int)sizeof in / 4;
  good = good && blosc_cbuffer_validate(chunk, (size_t)cbytes, &nbytes) == 0 && nbytes == sizeof in;
  if (!good) return 0;
  blosc_cbuffer_sizes(chunk, &nbytes, &held, &blocksize);
  blosc_cbuffer_metainfo(chunk, &typesize, &flags);
  good = nbytes == sizeof in && held == (size_t)cbytes && blocksize > 0;
  good &= typesize == sizeof in[0] && (flags & BLOSC_DOSHUFFLE) != 0;
  memset(out, -1, sizeof out);
  good &= blosc_decompress(chunk, out, sizeof out) == (int)sizeof in && memcmp(in, out, sizeof in) == 0;
  memset(out, -1, sizeof out);
  nbytes = (size_t)blosc_decompress_ctx(chunk, out, sizeof out, 2);
  good &= nbytes == sizeof in && memcmp(in, out, sizeof in) == 0;
  memset(out, -1, sizeof out);
  good &= blosc_getitem(chunk, ITEMS / 2, 1000, out) == 1000 * (int)sizeof in[0] &&
          memcmp(in + ITEMS / 2, out, 1000 * sizeof in[0]) == 0 && out[1000] == -1;
  return good;
}

static int round_trip(const char *name) {
  blosc_set_compressor(name);
  int cbytes = blosc_compress(5, BLOSC_SHUFFLE, sizeof in[0], sizeof in, in, chunk, sizeof chunk);
  int good = has_content(cbytes);
  cbytes = blosc_compress_ctx(5, BLOSC_SHUFFLE, sizeof in[0], sizeof in, in, chunk, sizeof chunk, name, 0, 3);
  good &= has_content(cbytes);
  printf("%s: %d -> %d -> %d%s\n", name, (int)sizeof in, cbytes, (int)sizeof out, good ? "" : ", failed");
  return good;
}

int main(void) {
  static const char *const codecs[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
  for (int i = 0; i < ITEMS; i++) in[i] = i % 1000 + (i >> 12);
  blosc_init();
  int good = strcmp(blosc_get_version_string(), BLOSC_VERSION_STRING) == 0;
  good &= strcmp(blosc_list_compressors(), "blosclz,lz4,lz4hc,snappy,zlib,zstd") == 0;
  good &= blosc_set_nthreads(3) == 1 && blosc_get_nthreads() == 3;
  for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++) good &= round_trip(codecs[i]);
  blosc_destroy();
  return good ? 0 : 1;
}

/* A program statically linked with zstd, LZ4 and zlib and with the static library: the program must call its own
   codecs, of the versions that it was compiled for, and the library its embedded ones. The library is libblosc with
   -DUSES_BLOSC1, otherwise libblosc2. */

#ifdef USES_BLOSC1
#include <blosc.h>
#else
#define BLOSC1_COMPAT
#include <blosc2.h>
#endif

#include <lz4.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { ITEMS = 100 * 1000, BYTES = ITEMS * 4 };

static int32_t in[ITEMS], out[ITEMS];
static char packed[2 * BYTES];

static int check(const char *what, int good) {
  memset(out, -1, sizeof out);
  if (!good) fprintf(stderr, "%s: failed\n", what);
  return good;
}

static int own_codecs(void) {
  int good = ZSTD_versionNumber() == ZSTD_VERSION_NUMBER && LZ4_versionNumber() == LZ4_VERSION_NUMBER &&
             strcmp(zlibVersion(), ZLIB_VERSION) == 0;
  good = check("versions", good);
  size_t zstd = ZSTD_compress(packed, sizeof packed, in, BYTES, 3);
  good &= check("zstd", !ZSTD_isError(zstd) && ZSTD_decompress(out, BYTES, packed, zstd) == BYTES &&
                            memcmp(in, out, BYTES) == 0);
  int lz4 = LZ4_compress_default((const char *)in, packed, BYTES, (int)sizeof packed);
  good &= check("lz4", lz4 > 0 && LZ4_decompress_safe(packed, (char *)out, lz4, BYTES) == BYTES &&
                           memcmp(in, out, BYTES) == 0);
  uLongf zlib = sizeof packed, back = BYTES;
  good &= check("zlib", compress2((Bytef *)packed, &zlib, (const Bytef *)in, BYTES, 6) == Z_OK &&
                            uncompress((Bytef *)out, &back, (const Bytef *)packed, zlib) == Z_OK &&
                            back == BYTES && memcmp(in, out, BYTES) == 0);
  return good;
}

static int library(void) {
  static const char *const codecs[] = {"blosclz", "lz4", "lz4hc", "zlib", "zstd"};
  int good = 1;
  for (size_t c = 0; c < sizeof codecs / sizeof codecs[0]; c++) {
    blosc_set_compressor(codecs[c]);
    int cbytes = blosc_compress(5, BLOSC_SHUFFLE, 4, BYTES, in, packed, sizeof packed);
    int nbytes = blosc_decompress(packed, out, BYTES);
    good &= check(codecs[c], cbytes > 0 && cbytes < BYTES / 2 && nbytes == BYTES && memcmp(in, out, BYTES) == 0);
  }
  return good;
}

int main(void) {
  for (int i = 0; i < ITEMS; i++) in[i] = i % 1000 + (i >> 10);
  int good = own_codecs() & library() & own_codecs();
  printf("zstd %s, LZ4 %s, zlib %s of the program's own beside Blosc %s\n", ZSTD_versionString(), LZ4_versionString(),
         zlibVersion(), blosc_get_version_string());
  return good ? 0 : 1;
}

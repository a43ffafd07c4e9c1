/* A program written for Blosc 1, which uses the names of its interface (abi.md 7.1); it is valid C and C++. */

#define BLOSC1_COMPAT
#include <blosc2.h>

static float in[50000], out[50000];
static char chunk[sizeof in + BLOSC_MAX_OVERHEAD];

int main(void) {
  int good = 1;
  for (int i = 0; i < 50000; i++) {
    in[i] = (float)(i / 7);
  }
  blosc_init();
  good &= strcmp(blosc_get_version_string(), BLOSC_VERSION_STRING) == 0;
  good &= blosc_set_compressor("lz4") == BLOSC_LZ4 && strcmp(blosc_get_compressor(), "lz4") == 0;
  good &= blosc_set_nthreads(2) == 1 && blosc_get_nthreads() == 2;

  int csize = blosc_compress(5, BLOSC_SHUFFLE, sizeof in[0], sizeof in, in, chunk, sizeof chunk);
  good &= csize > 0 && csize < (int)sizeof in;
  size_t nbytes, cbytes, blocksize, typesize, valid;
  int flags, version, versionlz;
  blosc_cbuffer_sizes(chunk, &nbytes, &cbytes, &blocksize);
  good &= nbytes == sizeof in && cbytes == (size_t)csize && blocksize > 0;
  blosc_cbuffer_metainfo(chunk, &typesize, &flags);
  good &= typesize == sizeof in[0] && (flags & BLOSC_DOSHUFFLE) != 0;
  blosc_cbuffer_versions(chunk, &version, &versionlz);
  good &= version == BLOSC2_VERSION_FORMAT_STABLE && versionlz == BLOSC_LZ4_VERSION_FORMAT;
  good &= strcmp(blosc_cbuffer_complib(chunk), BLOSC_LZ4_LIBNAME) == 0;
  good &= blosc_cbuffer_validate(chunk, (size_t)csize, &valid) == 0 && valid == sizeof in;
  good &= blosc_getitem(chunk, 123, 4, out) == 4 * (int)sizeof in[0] && memcmp(out, in + 123, 4 * sizeof in[0]) == 0;
  good &= blosc_decompress(chunk, out, sizeof out) == (int)sizeof out && memcmp(in, out, sizeof in) == 0;

  const char *name;
  good &= blosc_compcode_to_compname(BLOSC_ZSTD, &name) == BLOSC_ZSTD && strcmp(name, BLOSC_ZSTD_COMPNAME) == 0;
  good &= blosc_compname_to_compcode("zlib") == BLOSC_ZLIB;
  char *lib, *lib_version;
  good &= blosc_get_complib_info("lz4", &lib, &lib_version) == BLOSC_LZ4_LIB && strcmp(lib, "LZ4") == 0;
  free(lib);
  free(lib_version);
  good &= strstr(blosc_list_compressors(), "blosclz") != NULL;
  blosc_set_blocksize(4096);
  good &= blosc_get_blocksize() == 4096;
  blosc_set_splitmode(BLOSC_ALWAYS_SPLIT);
  good &= blosc_free_resources() == 0;
  blosc_destroy();
  return good ? 0 : 1;
}

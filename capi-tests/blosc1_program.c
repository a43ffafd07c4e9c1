/*
 * A program written for Blosc 1, compiled against the Blosc2 headers with BLOSC1_COMPAT (abi.md 7.1):
 * every alias is used once.
 *
 *     blosc1_program [--ours]
 */

#define BLOSC1_COMPAT
#include <blosc2.h>

#include "check.h"

enum { NITEMS = 10000, NBYTES = NITEMS * 4 };

static int32_t items[NITEMS], restored[NITEMS];
static uint8_t chunk[NBYTES + BLOSC_MAX_OVERHEAD];

static void constants(void) {
  CHECK_EQ(BLOSC_VERSION_MAJOR, BLOSC2_VERSION_MAJOR);
  CHECK_EQ(BLOSC_VERSION_MINOR, BLOSC2_VERSION_MINOR);
  CHECK_EQ(BLOSC_VERSION_RELEASE, BLOSC2_VERSION_RELEASE);
  CHECK_STR(BLOSC_VERSION_STRING, blosc_get_version_string());
  CHECK_STR(BLOSC_VERSION_DATE, BLOSC2_VERSION_DATE);
  CHECK_EQ(BLOSC_MAX_BUFFERSIZE, BLOSC2_MAX_BUFFERSIZE);
}

static void settings(void) {
  CHECK_EQ(blosc_set_nthreads(2), 1);
  CHECK_EQ(blosc_get_nthreads(), 2);
  CHECK_STR(blosc_get_compressor(), "blosclz");
  blosc_set_blocksize(4096);
  CHECK_EQ(blosc_get_blocksize(), 4096);
  blosc_set_splitmode(BLOSC_ALWAYS_SPLIT);
  const char *name = NULL;
  CHECK_EQ(blosc_compcode_to_compname(BLOSC_ZLIB, &name), BLOSC_ZLIB);
  CHECK_EQ(blosc_compname_to_compcode(name), BLOSC_ZLIB);
  CHECK(strstr(blosc_list_compressors(), name) != NULL);
  char *library = NULL, *version = NULL;
  CHECK(blosc_get_complib_info((char *)name, &library, &version) >= 0);
  free(library);
  free(version);
}

static void round_trip(void) {
  const char *codecs[] = {"blosclz", "lz4", "lz4hc", "zlib", "zstd"};
  for (int i = 0; i < 5; i++) {
    CHECK(blosc_set_compressor(codecs[i]) >= 0);
    int cbytes = blosc_compress(5, BLOSC_SHUFFLE, sizeof(int32_t), NBYTES, items, chunk, sizeof(chunk));
    CHECK(cbytes > 0 && cbytes < NBYTES);
    size_t nbytes, held, blocksize, typesize;
    int flags, version, versionlz;
    blosc_cbuffer_sizes(chunk, &nbytes, &held, &blocksize);
    CHECK_EQ(nbytes, NBYTES);
    CHECK_EQ(held, cbytes);
    CHECK_EQ(blocksize, 4096);
    CHECK_EQ(blosc_cbuffer_validate(chunk, (size_t)cbytes, &nbytes), 0);
    blosc_cbuffer_metainfo(chunk, &typesize, &flags);
    CHECK_EQ(typesize, sizeof(int32_t));
    blosc_cbuffer_versions(chunk, &version, &versionlz);
    CHECK_EQ(version, BLOSC2_VERSION_FORMAT_STABLE);
    CHECK(blosc_cbuffer_complib(chunk) != NULL);
    memset(restored, 0xEE, NBYTES);
    CHECK_EQ(blosc_decompress(chunk, restored, NBYTES), NBYTES);
    CHECK_BYTES(restored, items, NBYTES);
    CHECK_EQ(blosc_getitem(chunk, 5000, 100, restored), 400);
    CHECK_BYTES(restored, items + 5000, 400);
  }
  CHECK_EQ(blosc_free_resources(), 0);
}

int main(int argc, char **argv) {
  (void)asked_for_ours(argc, argv); /* no known defect of the reference affects this program */
  fill_series(items, NITEMS);
  blosc_init();
  RUN(constants);
  RUN(settings);
  RUN(round_trip);
  blosc_destroy();
  return EXIT_SUCCESS;
}

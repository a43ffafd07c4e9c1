/* The functions of other_library.h, of libblosc2, or, with -DUSES_BLOSC1, of a second libblosc. */

#include "other_library.h"

#ifdef USES_BLOSC1
#include <blosc.h>
#else
#define BLOSC1_COMPAT
#include <blosc2.h>
#endif

int other_set_nthreads(int nthreads) { return blosc_set_nthreads(nthreads); }
int other_set_compressor(const char *name) { return blosc_set_compressor(name); }
const char *other_get_compressor(void) { return blosc_get_compressor(); }
int other_get_nthreads(void) { return blosc_get_nthreads(); }
int other_get_blocksize(void) { return blosc_get_blocksize(); }

int other_compress(size_t nbytes, const void *src, void *dest, size_t destsize) {
  return blosc_compress(5, BLOSC_SHUFFLE, 4, nbytes, src, dest, destsize);
}

int other_decompress(const void *src, void *dest, size_t destsize) {
  return blosc_decompress(src, dest, destsize);
}

void other_destroy(void) { blosc_destroy(); }

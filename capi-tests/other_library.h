/* A second library of the Blosc family in the process of both_libraries.c, through functions of its own: the headers
   blosc.h and blosc2.h cannot be included by one source file. */

#ifndef OTHER_LIBRARY_H
#define OTHER_LIBRARY_H

#include <stddef.h>

int other_set_nthreads(int nthreads);
int other_set_compressor(const char *name);
const char *other_get_compressor(void);
int other_get_nthreads(void);
int other_get_blocksize(void);
int other_compress(size_t nbytes, const void *src, void *dest, size_t destsize);
int other_decompress(const void *src, void *dest, size_t destsize);
void other_destroy(void);

#endif

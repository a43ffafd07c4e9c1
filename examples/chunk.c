/*
 * Compresses a buffer into a chunk without a context, reads the sizes in the header of the chunk, decompresses a few
 * items of the chunk, and then all of it.
 *
 *     cc chunk.c -o chunk -lblosc2
 */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <blosc2.h>

enum { NITEMS = 1000000, START = 500000, COUNT = 4 };

static int32_t source[NITEMS];
static int32_t restored[NITEMS];
/* With BLOSC2_MAX_OVERHEAD bytes more than the source, a chunk always fits. */
static uint8_t chunk[sizeof(source) + BLOSC2_MAX_OVERHEAD];

static int run(void) {
  for (int32_t i = 0; i < NITEMS; i++) {
    source[i] = 3 * i;
  }

  /* The level is 5. The shuffle filter needs the item size. */
  int rc = blosc2_compress(5, BLOSC_SHUFFLE, sizeof(source[0]), source, sizeof(source), chunk, sizeof(chunk));
  if (rc <= 0) {
    fprintf(stderr, "blosc2_compress: %s\n", rc == 0 ? "the chunk does not fit" : blosc2_error_string(rc));
    return 1;
  }
  int32_t chunk_size = rc;

  int32_t nbytes, cbytes, blocksize;
  rc = blosc2_cbuffer_sizes(chunk, &nbytes, &cbytes, &blocksize);
  if (rc < 0) {
    fprintf(stderr, "blosc2_cbuffer_sizes: %s\n", blosc2_error_string(rc));
    return 1;
  }
  printf("uncompressed size: %d bytes\n", (int)nbytes);
  printf("compressed size in the header is correct: %s\n", cbytes == chunk_size ? "yes" : "no");
  printf("compressed to less than a tenth: %s\n", cbytes < nbytes / 10 ? "yes" : "no");
  printf("more than one block: %s\n", blocksize < nbytes ? "yes" : "no");

  /* Decompresses only the blocks that hold these items. */
  int32_t items[COUNT];
  rc = blosc2_getitem(chunk, cbytes, START, COUNT, items, sizeof(items));
  if (rc != (int)sizeof(items)) {
    fprintf(stderr, "blosc2_getitem: %s\n", rc < 0 ? blosc2_error_string(rc) : "unexpected size");
    return 1;
  }
  printf("items from %d: %d %d %d %d\n", START, (int)items[0], (int)items[1], (int)items[2], (int)items[3]);

  rc = blosc2_decompress(chunk, cbytes, restored, sizeof(restored));
  if (rc != nbytes) {
    fprintf(stderr, "blosc2_decompress: %s\n", rc < 0 ? blosc2_error_string(rc) : "unexpected size");
    return 1;
  }
  printf("same data: %s\n", memcmp(restored, source, sizeof(source)) == 0 ? "yes" : "no");
  return 0;
}

int main(void) {
  blosc2_init();
  int status = run();
  blosc2_destroy();
  return status;
}

/* Output:
uncompressed size: 4000000 bytes
compressed size in the header is correct: yes
compressed to less than a tenth: yes
more than one block: yes
items from 500000: 1500000 1500003 1500006 1500009
same data: yes
*/

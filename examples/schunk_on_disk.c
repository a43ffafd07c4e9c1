/*
 * Writes a super-chunk with a fixed and a variable-length metalayer to a frame file, opens the file again, and reads
 * a chunk, a slice and the metalayers.
 *
 *     cc schunk_on_disk.c -o schunk_on_disk -lblosc2
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <blosc2.h>

enum { NCHUNKS = 3, CHUNK_ITEMS = 10000 };
static char path[] = "schunk_on_disk.b2frame";
static char unit[] = "millivolt", notes[] = "Calibrated before the first chunk.";
static int32_t items[CHUNK_ITEMS];

/* Closes `schunk`. Returns `rc` if it is an error code or closing succeeds; otherwise an error code. */
static int close_schunk(blosc2_schunk *schunk, int rc) {
  return blosc2_schunk_free(schunk) != 0 && rc >= 0 ? BLOSC2_ERROR_FAILURE : rc;
}

static int write_frame(void) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = sizeof(items[0]);
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = true; /* one file; false: a directory with a file for each chunk */
  storage.urlpath = path;
  storage.cparams = &cparams;
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  if (schunk == NULL) return BLOSC2_ERROR_FILE_OPEN;
  /* Fixed metalayers must be added before the first chunk; variable-length ones can be added at any time. */
  int rc = blosc2_meta_add(schunk, "unit", (uint8_t *)unit, sizeof(unit));
  for (int nchunk = 0; nchunk < NCHUNKS && rc >= 0; nchunk++) {
    for (int i = 0; i < CHUNK_ITEMS; i++) items[i] = nchunk * CHUNK_ITEMS + i;
    rc = (int)blosc2_schunk_append_buffer(schunk, items, sizeof(items));
  }
  if (rc >= 0) rc = blosc2_vlmeta_add(schunk, "notes", (uint8_t *)notes, sizeof(notes), NULL);
  return close_schunk(schunk, rc);
}

static int read_frame(void) {
  blosc2_schunk *schunk = blosc2_schunk_open(path);
  if (schunk == NULL) return BLOSC2_ERROR_FILE_OPEN;
  printf("%d chunks, %d bytes\n", (int)schunk->nchunks, (int)schunk->nbytes);
  int rc = blosc2_schunk_decompress_chunk(schunk, 1, items, sizeof(items));
  if (rc >= 0) printf("chunk 1: %d to %d\n", (int)items[0], (int)items[CHUNK_ITEMS - 1]);
  /* The slice starts in chunk 1 and ends in chunk 2. */
  if (rc >= 0) rc = blosc2_schunk_get_slice_buffer(schunk, 19998, 20002, items);
  if (rc >= 0) printf("slice: %d %d %d %d\n", (int)items[0], (int)items[1], (int)items[2], (int)items[3]);
  uint8_t *fixed = NULL, *variable = NULL;
  int32_t fixed_len, variable_len;
  if (rc >= 0) rc = blosc2_meta_get(schunk, "unit", &fixed, &fixed_len);
  if (rc >= 0) rc = blosc2_vlmeta_get(schunk, "notes", &variable, &variable_len);
  if (rc >= 0) printf("unit: %.*s\nnotes: %.*s\n", (int)fixed_len, fixed, (int)variable_len, variable);
  free(fixed);
  free(variable);
  return close_schunk(schunk, rc);
}

int main(void) {
  blosc2_init();
  int rc = blosc2_remove_urlpath(path); /* a new frame needs a path that does not exist */
  if (rc >= 0) rc = write_frame();
  if (rc >= 0) rc = read_frame();
  if (blosc2_remove_urlpath(path) < 0 && rc >= 0) rc = BLOSC2_ERROR_FILE_REMOVE;
  blosc2_destroy();
  if (rc < 0) fprintf(stderr, "%s: %s\n", path, blosc2_error_string(rc));
  return rc < 0;
}

/* Output:
3 chunks, 120000 bytes
chunk 1: 10000 to 19999
slice: 19998 19999 20000 20001
unit: millivolt
notes: Calibrated before the first chunk.
*/

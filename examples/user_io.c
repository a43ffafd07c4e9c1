/*
 * Registers an I/O back-end that keeps one file in the program's memory, creates a super-chunk through it, opens
 * the super-chunk again and reads it.
 *
 *     cc user_io.c -o user_io -lblosc2
 */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <blosc2.h>

enum { MEMORY_ID = BLOSC2_IO_REGISTERED, CAPACITY = 1 << 20, NCHUNKS = 2, CHUNK_NITEMS = 10000 };
static char path[] = "user_io.b2frame";
static struct { int64_t size; uint8_t bytes[CAPACITY]; } memory; /* the `params` of the back-end, and its stream */
static int memory_truncate(void *stream, int64_t size) {
  if (stream != &memory || size < 0 || size > CAPACITY) return -1;
  memset(memory.bytes + size, 0, (size_t)(CAPACITY - size)); /* bytes after the end stay zero */
  memory.size = size;
  return 0;
}
/* A back-end with several files would find the file by `urlpath`. */
static void *memory_open(const char *urlpath, const char *mode, void *params) {
  return urlpath == NULL || (mode[0] == 'w' && memory_truncate(params, 0) != 0) ? NULL : params;
}
static int memory_close(void *stream) { return stream == &memory ? 0 : -1; }
static int64_t memory_size(void *stream) { return stream == &memory ? memory.size : -1; }
static int64_t memory_write(const void *ptr, int64_t size, int64_t nitems, int64_t position, void *stream) {
  int64_t end = position + size * nitems;
  if (stream != &memory || end > CAPACITY) return 0;
  if (end > position) memcpy(memory.bytes + position, ptr, (size_t)(end - position)); /* else `ptr` may be NULL */
  if (end > memory.size) memory.size = end;
  return nitems;
}
static int64_t memory_read(void **ptr, int64_t size, int64_t nitems, int64_t position, void *stream) {
  if (stream != &memory || position + size * nitems > memory.size) return 0;
  if (size * nitems > 0) memcpy(*ptr, memory.bytes + position, (size_t)(size * nitems));
  return nitems;
}
static int memory_destroy(void *params) { return params == &memory ? 0 : -1; } /* keeps the file */

int main(void) {
  static int32_t items[CHUNK_NITEMS];
  blosc2_io_cb callbacks = {MEMORY_ID, "memory", true, memory_open, memory_close, memory_size, memory_write,
                            memory_read, memory_truncate, memory_destroy};
  blosc2_io io = {MEMORY_ID, "memory", &memory};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = sizeof(items[0]);
  blosc2_storage storage = {true, path, &cparams, NULL, &io};
  blosc2_init();
  int ok = blosc2_remove_urlpath(path) == 0 && blosc2_register_io_cb(&callbacks) == 0;
  blosc2_schunk *schunk = ok ? blosc2_schunk_new(&storage) : NULL;
  for (int n = 0; schunk != NULL && ok && n < NCHUNKS; n++) {
    for (int i = 0; i < CHUNK_NITEMS; i++) items[i] = n * CHUNK_NITEMS + i;
    ok = blosc2_schunk_append_buffer(schunk, items, sizeof(items)) == n + 1;
  }
  ok = schunk != NULL && blosc2_schunk_free(schunk) == 0 && ok;

  /* The C library opens only a path at which there is a file that is not shorter than the frame. */
  FILE *file = ok ? fopen(path, "wb") : NULL;
  ok = file != NULL && fseek(file, (long)memory.size - 1, SEEK_SET) == 0 && fputc(0, file) == 0;
  ok = file != NULL && fclose(file) == 0 && ok;
  schunk = ok ? blosc2_schunk_open_udio(path, &io) : NULL;
  for (int n = 0; schunk != NULL && ok && n < NCHUNKS; n++) {
    ok = blosc2_schunk_decompress_chunk(schunk, n, items, sizeof(items)) == sizeof(items);
    if (ok) printf("chunk %d: items %d to %d\n", n, (int)items[0], (int)items[CHUNK_NITEMS - 1]);
  }
  ok = schunk != NULL && blosc2_schunk_free(schunk) == 0 && ok;
  ok = blosc2_remove_urlpath(path) == 0 && ok;
  blosc2_destroy();
  if (!ok) fprintf(stderr, "user_io: a function failed\n");
  return ok ? 0 : 1;
}

/* Output:
chunk 0: items 0 to 9999
chunk 1: items 10000 to 19999
*/

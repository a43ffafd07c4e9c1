/*
 * An I/O back-end whose names are no local files, and which gets the ranges of a slice before it is read
 * (blosc2x_register_io_fetch). Uses the library's extensions.
 */

#include <b2nd.h>
#include <blosc2/blosc2x.h>

#include "check.h"

enum { ID = 200, OTHER_ID = 201, ROWS = 600, COLUMNS = 500, MAX_RANGES = 1000, MAX_FILES = 40 };

/* The files of the back-end. */
typedef struct { char name[64]; uint8_t *bytes; int64_t size; } memory_file;
static memory_file files[MAX_FILES];
static int nfiles;
/* The ranges that are held, the calls of `fetch` and `release`, and the bytes that were read outside of the ranges. */
static struct { const char *name; int64_t start, stop; } held[MAX_RANGES];
static int nheld, nfetches, nreleases, ncalls_held;
static int64_t unplanned, nread;
static bool refuses;
static int params; /* its address is the `params` */

static int find(const char *name) {
  for (int n = 0; n < nfiles; n++)
    if (strcmp(files[n].name, name) == 0) return n;
  return -1;
}

static void *memory_open(const char *urlpath, const char *mode, void *io) {
  CHECK(io == &params);
  int n = find(urlpath);
  return n < 0 || strcmp(mode, "rb") != 0 ? NULL : &files[n];
}
static int memory_close(void *stream) { return stream == NULL ? -1 : 0; }
static int64_t memory_size(void *stream) { return ((memory_file *)stream)->size; }
static int64_t memory_write(const void *ptr, int64_t size, int64_t nitems, int64_t position, void *stream) {
  (void)ptr, (void)size, (void)nitems, (void)position, (void)stream;
  return -1;
}
static int64_t memory_read(void **ptr, int64_t size, int64_t nitems, int64_t position, void *stream) {
  const memory_file *file = stream;
  int64_t end = position + size * nitems;
  if (end > file->size) end = file->size;
  if (end <= position) return 0;
  memcpy(*ptr, file->bytes + position, (size_t)(end - position));
  nread += end - position;
  for (int64_t at = position; at < end; at++) {
    bool planned = false;
    for (int r = 0; r < nheld && !planned; r++)
      planned = strcmp(held[r].name, file->name) == 0 && at >= held[r].start && at < held[r].stop;
    unplanned += !planned;
  }
  return (end - position) / size;
}
static int memory_truncate(void *stream, int64_t size) {
  (void)stream, (void)size;
  return -1;
}
static int memory_destroy(void *io) { return io == &params ? 0 : -1; }

static void *fetch(const blosc2x_io_range *ranges, int64_t nranges, void *io) {
  CHECK(io == &params && nranges > 0 && nheld + nranges <= MAX_RANGES);
  nfetches++;
  if (refuses) return NULL;
  for (int64_t n = 0; n < nranges; n++) {
    int file = find(ranges[n].urlpath);
    CHECK(file >= 0 && ranges[n].start >= 0 && ranges[n].start < ranges[n].stop);
    held[nheld].name = files[file].name;
    held[nheld].start = ranges[n].start;
    held[nheld++].stop = ranges[n].stop;
  }
  ncalls_held++;
  return held;
}
static void release(void *value, void *io) {
  CHECK(value == held && io == &params);
  nreleases++;
  if (--ncalls_held == 0) nheld = 0;
}

static int32_t item(int64_t row, int64_t column) { return (int32_t)((row * COLUMNS + column) * 7919 % 100003); }

/* Adds the file at `path` under another name. */
static void add_file(const char *path, const char *name) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL && nfiles < MAX_FILES);
  CHECK_EQ(fseek(file, 0, SEEK_END), 0);
  long size = ftell(file);
  files[nfiles].bytes = malloc((size_t)size);
  files[nfiles].size = size;
  rewind(file);
  CHECK(fread(files[nfiles].bytes, 1, (size_t)size, file) == (size_t)size);
  fclose(file);
  snprintf(files[nfiles++].name, sizeof(files[0].name), "%s", name);
}

/* Writes an array as a file and as a directory, and adds their files. */
static void make_files(void) {
  static int32_t items[ROWS][COLUMNS];
  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t j = 0; j < COLUMNS; j++) items[i][j] = item(i, j);
  int64_t shape[] = {ROWS, COLUMNS};
  int32_t chunks[] = {200, 250}, blocks[] = {20, 250};
  for (int contiguous = 0; contiguous < 2; contiguous++) {
    char path[] = "io_fetch.b2nd";
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.typesize = sizeof(int32_t);
    blosc2_storage storage = {.contiguous = contiguous, .urlpath = path, .cparams = &cparams};
    CHECK_EQ(blosc2_remove_urlpath(path), 0);
    b2nd_context_t *context = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, NULL, 0, NULL, 0);
    b2nd_array_t *array;
    CHECK(context != NULL);
    CHECK_EQ(b2nd_from_cbuffer(context, &array, items, sizeof(items)), 0);
    b2nd_free_ctx(context);
    CHECK_EQ(b2nd_free(array), 0);
    if (contiguous) {
      add_file(path, "net://host/array");
    } else {
      add_file("io_fetch.b2nd/chunks.b2frame", "net://host/directory/chunks.b2frame");
      for (int n = 0; n < 6; n++) {
        char file[64], name[64];
        snprintf(file, sizeof(file), "io_fetch.b2nd/%08X.chunk", (unsigned)n);
        snprintf(name, sizeof(name), "net://host/directory/%08X.chunk", (unsigned)n);
        add_file(file, name);
      }
    }
    CHECK_EQ(blosc2_remove_urlpath(path), 0);
  }
}

static b2nd_array_t *open_array(const char *name, uint8_t id) {
  blosc2_io io = {id, "memory", &params};
  blosc2_schunk *schunk = blosc2_schunk_open_udio(name, &io);
  b2nd_array_t *array;
  if (schunk == NULL) fprintf(stderr, "%s: %s\n", name, blosc2x_last_error());
  CHECK(schunk != NULL);
  CHECK_EQ(b2nd_from_schunk(schunk, &array), 0);
  nfetches = nreleases = 0;
  unplanned = nread = 0;
  return array;
}

/* Reads rows 5 to 595 of columns 100 to 400. */
static int read_box(b2nd_array_t *array) {
  enum { HEIGHT = 590, WIDTH = 300 };
  static int32_t items[HEIGHT][WIDTH];
  int64_t start[] = {5, 100}, stop[] = {5 + HEIGHT, 100 + WIDTH}, shape[] = {HEIGHT, WIDTH};
  int code = b2nd_get_slice_cbuffer(array, start, stop, items, shape, sizeof(items));
  for (int64_t i = 0; code == 0 && i < HEIGHT; i++)
    for (int64_t j = 0; j < WIDTH; j++) CHECK_EQ(items[i][j], item(5 + i, 100 + j));
  return code;
}

static void names_need_no_local_file(void) {
  blosc2_io io = {ID, "memory", &params};
  CHECK(blosc2_schunk_open_udio("net://host/missing", &io) == NULL);
  CHECK(blosc2_schunk_open_udio("net://host/directory", &io) == NULL); /* a directory ends with a slash */
  CHECK(blosc2_schunk_open_offset_udio("net://host/array", 1, &io) == NULL);
  CHECK(blosc2_schunk_open("net://host/array") == NULL);
  const char *names[] = {"net://host/array", "net://host/directory/"};
  for (int n = 0; n < 2; n++) {
    b2nd_array_t *array = open_array(names[n], OTHER_ID);
    CHECK_STR(array->sc->storage->urlpath, names[n]);
    CHECK_EQ(read_box(array), 0);
    CHECK_EQ(nfetches, 0); /* the other back-end has no such function */
    CHECK_EQ(b2nd_free(array), 0);
  }
}

static void ranges_of_a_slice_are_fetched(void) {
  const char *names[] = {"net://host/array", "net://host/directory/"};
  for (int n = 0; n < 2; n++) {
    b2nd_array_t *array = open_array(names[n], ID);
    CHECK_EQ(read_box(array), 0);
    CHECK_EQ(nfetches, 2); /* the tables, then the blocks */
    CHECK_EQ(nreleases, 2);
    CHECK(nread > 100000 && unplanned < nread / 10); /* the header of the frame is read before each access */
    /* A slice of the super-chunk, and a whole chunk. */
    static int32_t items[200 * 250];
    nfetches = nreleases = 0;
    CHECK_EQ(blosc2_schunk_get_slice_buffer(array->sc, 10, 20010, items), 0);
    CHECK_EQ(nfetches, 2);
    CHECK_EQ(blosc2_schunk_decompress_chunk(array->sc, 3, items, sizeof(items)), sizeof(items));
    CHECK_EQ(items[0], item(200, 250));
    CHECK_EQ(nfetches, 3);
    CHECK_EQ(nreleases, nfetches);
    /* An error of the function. */
    refuses = true;
    CHECK(read_box(array) < 0);
    CHECK(strstr(blosc2x_last_error(), "`fetch`") != NULL);
    refuses = false;
    CHECK_EQ(read_box(array), 0);
    CHECK_EQ(nheld, 0);
    CHECK_EQ(b2nd_free(array), 0);
  }
}

static void wrong_registrations_are_errors(void) {
  CHECK_EQ(blosc2x_register_io_fetch(222, fetch, release), BLOSC2_ERROR_PLUGIN_IO);
  CHECK_EQ(blosc2x_register_io_fetch(ID, fetch, NULL), BLOSC2_ERROR_INVALID_PARAM);
  CHECK_EQ(blosc2x_register_io_fetch(0, fetch, release), BLOSC2_ERROR_PLUGIN_IO);
  /* Removed again. */
  CHECK_EQ(blosc2x_register_io_fetch(ID, NULL, NULL), 0);
  b2nd_array_t *array = open_array("net://host/array", ID);
  CHECK_EQ(read_box(array), 0);
  CHECK_EQ(nfetches, 0);
  CHECK_EQ(b2nd_free(array), 0);
}

int main(int argc, char **argv) {
  asked_for_ours(argc, argv);
  blosc2_init();
  make_files();
  blosc2_io_cb callbacks = {ID, "memory", true, memory_open, memory_close, memory_size, memory_write, memory_read,
                            memory_truncate, memory_destroy};
  CHECK_EQ(blosc2_register_io_cb(&callbacks), 0);
  callbacks.id = OTHER_ID;
  CHECK_EQ(blosc2_register_io_cb(&callbacks), 0);
  CHECK_EQ(blosc2x_register_io_fetch(ID, fetch, release), 0);
  RUN(names_need_no_local_file);
  RUN(ranges_of_a_slice_are_fetched);
  RUN(wrong_registrations_are_errors);
  for (int n = 0; n < nfiles; n++) free(files[n].bytes);
  blosc2_destroy();
  return 0;
}

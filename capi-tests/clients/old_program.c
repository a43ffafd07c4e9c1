/* A typical program for one release of the C library, in the common subset of C and C++. It is compiled against the
   headers of that release and reads the public structs at the offsets of these headers, also through their inline
   functions, so that its output is wrong with a library of another layout. It prints nothing that may differ between
   two correct libraries (compressed sizes), and capi-tests/clients/old-headers.sh compares its output with the C
   library and with ours. */

#include "b2nd.h"
#include "blosc2.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_ITEMS 10000
#define NCHUNKS 5

static uint32_t sum_of(const void *bytes, size_t len) {
  const uint8_t *p = (const uint8_t *)bytes;
  uint32_t a = 1, b = 0;
  for (size_t i = 0; i < len; i++) {
    a = (a + p[i]) % 65521;
    b = (b + a) % 65521;
  }
  return (b << 16) | a;
}

static int32_t items[CHUNK_ITEMS], back[CHUNK_ITEMS];

static void fill(int chunk) {
  for (int i = 0; i < CHUNK_ITEMS; i++) items[i] = chunk * CHUNK_ITEMS + i / 3;
}

static void print_schunk(const char *title, const blosc2_schunk *s) {
  printf("%s: version %d codec %d meta %d level %d split %d typesize %d chunksize %d\n", title, s->version, s->compcode,
         s->compcode_meta, s->clevel, s->splitmode, (int)s->typesize, (int)s->chunksize);
  printf("  filters");
  for (int i = 0; i < BLOSC2_MAX_FILTERS; i++) printf(" %d:%d", s->filters[i], s->filters_meta[i]);
  printf("\n  nchunks %" PRId64 " nbytes %" PRId64 " smaller %d data %d data_len %zu\n", s->nchunks, s->nbytes,
         s->cbytes > 0 && s->cbytes < s->nbytes, s->data != NULL, s->data_len);
  printf("  contiguous %d path %d storage typesize %d frame %d cctx %d dctx %d\n", s->storage->contiguous,
         s->storage->urlpath != NULL, (int)s->storage->cparams->typesize, s->frame != NULL, s->cctx != NULL, s->dctx != NULL);
  printf("  metalayers %d", s->nmetalayers);
  for (int i = 0; i < s->nmetalayers; i++)
    printf(" %s[%d]", s->metalayers[i]->name, (int)s->metalayers[i]->content_len);
  printf(" variable %d", s->nvlmetalayers);
  for (int i = 0; i < s->nvlmetalayers; i++) printf(" %s", s->vlmetalayers[i]->name);
  printf("\n  tuner %d params %d ndim %d blockshape %d view %d\n", s->tuner_id, s->tuner_params != NULL, s->ndim,
         s->blockshape != NULL, s->view);
}

static int add_one(blosc2_prefilter_params *p) {
  const int32_t *in = (const int32_t *)((const uint8_t *)p->user_data + p->nchunk * CHUNK_ITEMS * 4) + p->output_offset / 4;
  int32_t *out = (int32_t *)p->output;
  for (int i = 0; i < p->output_size / 4; i++) out[i] = in[i] + 1;
  return 0;
}

static int take_one(blosc2_postfilter_params *p) {
  const int32_t *in = (const int32_t *)p->input;
  int32_t *out = (int32_t *)p->output;
  for (int i = 0; i < p->size / 4; i++) out[i] = in[i] - 1;
  return 0;
}

static int xor_forward(const uint8_t *in, uint8_t *out, int32_t len, uint8_t meta, blosc2_cparams *cparams, uint8_t id) {
  (void)cparams;
  (void)id;
  for (int32_t i = 0; i < len; i++) out[i] = in[i] ^ meta;
  return BLOSC2_ERROR_SUCCESS;
}

static int xor_backward(const uint8_t *in, uint8_t *out, int32_t len, uint8_t meta, blosc2_dparams *dparams, uint8_t id) {
  (void)dparams;
  (void)id;
  for (int32_t i = 0; i < len; i++) out[i] = in[i] ^ meta;
  return BLOSC2_ERROR_SUCCESS;
}

static void chunks_and_filters(void) {
  blosc2_filter filter;
  memset(&filter, 0, sizeof filter);
  filter.id = 200;
  filter.name = (char *)"xor";
  filter.version = 1;
  filter.forward = xor_forward;
  filter.backward = xor_backward;
  printf("register filter %d again %d\n", blosc2_register_filter(&filter), blosc2_register_filter(&filter));

  fill(0);
  for (int codec = 0; codec <= BLOSC_ZSTD; codec++) {
    const char *name = NULL;
    if (blosc2_compcode_to_compname(codec, &name) < 0) {
      printf("codec %d: none\n", codec);
      continue;
    }
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.typesize = 4;
    cparams.compcode = (uint8_t)codec;
    cparams.nthreads = 2;
    cparams.filters[0] = 200;
    cparams.filters_meta[0] = 0x5a;
    blosc2_context *cctx = blosc2_create_cctx(cparams);
    uint8_t *chunk = (uint8_t *)malloc(sizeof items + BLOSC2_MAX_OVERHEAD);
    int cbytes = blosc2_compress_ctx(cctx, items, sizeof items, chunk, (int32_t)sizeof items + BLOSC2_MAX_OVERHEAD);
    blosc2_free_ctx(cctx);

    int32_t nbytes = 0, size = 0, blocksize = 0;
    int code = blosc2_cbuffer_sizes(chunk, &nbytes, &size, &blocksize);
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    blosc2_context *dctx = blosc2_create_dctx(dparams);
    memset(back, 0, sizeof back);
    int got = blosc2_decompress_ctx(dctx, chunk, cbytes, back, sizeof back);
    int32_t few[7];
    int item_bytes = blosc2_getitem_ctx(dctx, chunk, cbytes, 4321, 7, few, sizeof few);
    printf("codec %d %s: smaller %d sizes %d %d %d got %d sum %08x items %d %d..%d damaged %d\n", codec, name,
           cbytes > 0 && cbytes < (int)sizeof items, code, (int)nbytes, size == cbytes, got, sum_of(back, sizeof back),
           item_bytes, (int)few[0], (int)few[6], blosc2_decompress_ctx(dctx, chunk, 20, back, sizeof back));
    blosc2_free_ctx(dctx);
    free(chunk);
  }
}

static void super_chunk(const char *path, bool contiguous) {
  int32_t *all = (int32_t *)malloc(sizeof items * NCHUNKS);
  for (int c = 0; c < NCHUNKS; c++) {
    fill(c);
    memcpy(all + (size_t)c * CHUNK_ITEMS, items, sizeof items);
  }
  if (path != NULL) blosc2_remove_urlpath(path);

  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.compcode = BLOSC_LZ4;
  cparams.clevel = 7;
  cparams.filters[4] = BLOSC_DELTA;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = contiguous;
  storage.urlpath = (char *)path;
  storage.cparams = &cparams;
  storage.dparams = &dparams;
  blosc2_schunk *s = blosc2_schunk_new(&storage);
  uint8_t meta[4] = {1, 2, 3, 4};
  printf("meta_add %d", blosc2_meta_add(s, "first", meta, 4));
  printf(" %d\n", blosc2_meta_add(s, "second", meta, 2));
  for (int c = 0; c < NCHUNKS; c++)
    printf("append %" PRId64 "\n", blosc2_schunk_append_buffer(s, all + (size_t)c * CHUNK_ITEMS, sizeof items));
  printf("vlmeta_add %d\n", blosc2_vlmeta_add(s, "notes", meta, 3, NULL));
  print_schunk("new", s);

  if (path != NULL) {
    blosc2_schunk_free(s);
    s = blosc2_schunk_open(path);
    print_schunk("opened", s);
  }
  /* These two are compiled into the program, with the offsets of its headers. */
  uint8_t *content = NULL;
  int32_t len = 0;
  printf("exists %d %d %d get %d", blosc2_meta_exists(s, "first"), blosc2_meta_exists(s, "second"),
         blosc2_meta_exists(s, "third"), blosc2_meta_get(s, "first", &content, &len));
  printf(" len %d sum %08x\n", (int)len, content ? sum_of(content, (size_t)len) : 0);
  free(content);
  content = NULL;
  printf("vlmeta %d", blosc2_vlmeta_get(s, "notes", &content, &len));
  printf(" len %d sum %08x\n", (int)len, content ? sum_of(content, (size_t)len) : 0);
  free(content);

  for (int c = NCHUNKS - 1; c >= 0; c--) {
    int got = blosc2_schunk_decompress_chunk(s, c, back, sizeof back);
    printf("chunk %d: %d sum %08x now %d\n", c, got, sum_of(back, sizeof back), (int)s->current_nchunk);
  }
  int32_t part[3000];
  printf("slice %d", blosc2_schunk_get_slice_buffer(s, 8000, 11000, part));
  printf(" sum %08x\n", sum_of(part, sizeof part));
  uint8_t *lazy = NULL;
  bool needs_free = false;
  printf("lazy %d", blosc2_schunk_get_lazychunk(s, 2, &lazy, &needs_free) > 0);
  blosc2_dparams with_schunk = BLOSC2_DPARAMS_DEFAULTS;
  with_schunk.schunk = s;
  blosc2_context *dctx = blosc2_create_dctx(with_schunk);
  int got = blosc2_decompress_ctx(dctx, lazy, INT32_MAX, back, sizeof back);
  printf(" %d sum %08x\n", got, sum_of(back, sizeof back));
  blosc2_free_ctx(dctx);
  if (needs_free) free(lazy);

  int64_t order[NCHUNKS] = {4, 0, 3, 1, 2};
  printf("delete %" PRId64, blosc2_schunk_delete_chunk(s, 3));
  printf(" append %" PRId64 " reorder %d\n", blosc2_schunk_append_buffer(s, items, sizeof items),
         blosc2_schunk_reorder_offsets(s, order));
  print_schunk("changed", s);
  blosc2_schunk_free(s);
  if (path != NULL) blosc2_remove_urlpath(path);
  free(all);
}

/* The struct for mapped files has other types and other initial values in other releases. */
static void mapped_file(const char *path) {
  blosc2_remove_urlpath(path);
  blosc2_stdio_mmap to_write = BLOSC2_STDIO_MMAP_DEFAULTS;
  to_write.mode = "w+";
  to_write.initial_mapping_size = 1 << 22;
  blosc2_io io = BLOSC2_IO_DEFAULTS;
  io.id = BLOSC2_IO_FILESYSTEM_MMAP;
  io.params = &to_write;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = true;
  storage.urlpath = (char *)path;
  storage.cparams = &cparams;
  storage.dparams = &dparams;
  storage.io = &io;
  blosc2_schunk *s = blosc2_schunk_new(&storage);
  for (int c = 0; c < NCHUNKS; c++) {
    fill(c);
    printf("mapped append %" PRId64 "\n", blosc2_schunk_append_buffer(s, items, sizeof items));
  }
  printf("mapped file %d mapping %" PRId64 "\n", to_write.file_size > 0, (int64_t)to_write.mapping_size);
  print_schunk("mapped", s);
  blosc2_schunk_free(s);

  const char *modes[] = {"r", "c"};
  for (int m = 0; m < 2; m++) {
    blosc2_stdio_mmap to_read = BLOSC2_STDIO_MMAP_DEFAULTS;
    to_read.mode = modes[m];
    io.params = &to_read;
    s = blosc2_schunk_open_udio(path, &io);
    printf("mapped in mode %s %d\n", modes[m], s != NULL);
    if (s == NULL) continue;
    for (int c = 0; c < NCHUNKS; c++) {
      int got = blosc2_schunk_decompress_chunk(s, c, back, sizeof back);
      printf("chunk %d: %d sum %08x\n", c, got, sum_of(back, sizeof back));
    }
    blosc2_schunk_free(s);
  }
  blosc2_remove_urlpath(path);
}

static void pre_and_postfilter(void) {
  fill(0);
  blosc2_prefilter_params pre;
  memset(&pre, 0, sizeof pre);
  pre.user_data = items;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.prefilter = add_one;
  cparams.preparams = &pre;
  blosc2_postfilter_params post;
  memset(&post, 0, sizeof post);
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.postfilter = take_one;
  dparams.postparams = &post;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.cparams = &cparams;
  storage.dparams = &dparams;
  blosc2_schunk *s = blosc2_schunk_new(&storage);
  printf("prefiltered %" PRId64, blosc2_schunk_append_buffer(s, items, sizeof items));
  int got = blosc2_schunk_decompress_chunk(s, 0, back, sizeof back);
  printf(" postfiltered %d same %d\n", got, memcmp(items, back, sizeof items) == 0);
  blosc2_schunk_free(s);
}

static void array(const char *path) {
  if (path != NULL) blosc2_remove_urlpath(path);
  int64_t shape[3] = {30, 20, 10};
  int32_t chunkshape[3] = {12, 7, 10}, blockshape[3] = {5, 3, 4};
  int32_t *cube = (int32_t *)malloc(6000 * 4);
  for (int i = 0; i < 6000; i++) cube[i] = i * 7;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = true;
  storage.urlpath = (char *)path;
  storage.cparams = &cparams;
  blosc2_metalayer layer;
  uint8_t unit[3] = {'m', '/', 's'};
  layer.name = (char *)"unit";
  layer.content = unit;
  layer.content_len = 3;
  b2nd_context_t *ctx = b2nd_create_ctx(&storage, 3, shape, chunkshape, blockshape, "<i4", 0, &layer, 1);
  b2nd_array_t *a = NULL;
  printf("from_cbuffer %d\n", b2nd_from_cbuffer(ctx, &a, cube, 6000 * 4));
  b2nd_free_ctx(ctx);
  if (path != NULL) {
    b2nd_free(a);
    printf("open %d\n", b2nd_open(path, &a));
  }
  print_schunk("array", a->sc);
  printf("ndim %d dtype %s format %d nitems %" PRId64 " chunknitems %d ext %" PRId64 " block %d\n", a->ndim, a->dtype,
         a->dtype_format, a->nitems, (int)a->chunknitems, a->extnitems, (int)a->blocknitems);
  for (int i = 0; i < B2ND_MAX_DIM; i++)
    printf(" %" PRId64 "/%" PRId64 "/%d/%" PRId64 "/%d", a->shape[i], a->extshape[i], (int)a->chunkshape[i],
           a->extchunkshape[i], (int)a->blockshape[i]);
  printf("\nstrides");
  for (int i = 0; i < a->ndim; i++) /* the C library does not initialise the entries from ndim on */
    printf(" %" PRId64 ",%" PRId64 ",%" PRId64, a->item_array_strides[i], a->item_chunk_strides[i], a->item_block_strides[i]);
  printf("\nis an array %d, has a unit %d\n", blosc2_meta_exists(a->sc, "b2nd"), blosc2_meta_exists(a->sc, "unit"));

  int64_t start[3] = {3, 2, 1}, stop[3] = {25, 19, 8}, sizes[3] = {22, 17, 7};
  int32_t *box = (int32_t *)malloc(22 * 17 * 7 * 4);
  printf("get %d", b2nd_get_slice_cbuffer(a, start, stop, box, sizes, 22 * 17 * 7 * 4));
  printf(" sum %08x\n", sum_of(box, 22 * 17 * 7 * 4));
  for (int i = 0; i < 22 * 17 * 7; i++) box[i] = -i;
  printf("set %d\n", b2nd_set_slice_cbuffer(box, sizes, 22 * 17 * 7 * 4, start, stop, a));
  int64_t *chunks = NULL;
  printf("touches %d:", (int)blosc2_get_slice_nchunks(a->sc, start, stop, &chunks));
  for (int i = 0; chunks != NULL && i < 3; i++) printf(" %" PRId64, chunks[i]);
  free(chunks);
  int64_t larger[3] = {31, 20, 10};
  printf("\nresize %d", b2nd_resize(a, larger, NULL));
  int32_t *whole = (int32_t *)malloc(6200 * 4);
  printf(" whole %d", b2nd_to_cbuffer(a, whole, 6200 * 4));
  printf(" sum %08x\n", sum_of(whole, 6200 * 4));
  uint8_t *frame = NULL;
  int64_t len = 0;
  bool needs_free = false;
  printf("to_cframe %d", b2nd_to_cframe(a, &frame, &len, &needs_free));
  b2nd_array_t *again = NULL;
  printf(" from_cframe %d", b2nd_from_cframe(frame, len, true, &again));
  printf(" shape %" PRId64 " %" PRId64 "\n", again->shape[0], again->shape[2]);
  if (needs_free) free(frame);
  b2nd_free(again);
  b2nd_free(a);
  if (path != NULL) blosc2_remove_urlpath(path);
  free(whole);
  free(box);
  free(cube);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  char frame[4000], directory[4000], cube[4000];
  snprintf(frame, sizeof frame, "%s/frame.b2frame", argv[1]);
  snprintf(directory, sizeof directory, "%s/sparse.b2frame", argv[1]);
  snprintf(cube, sizeof cube, "%s/cube.b2nd", argv[1]);
  blosc2_init();
  chunks_and_filters();
  super_chunk(NULL, false);
  super_chunk(NULL, true);
  super_chunk(frame, true);
  super_chunk(directory, false);
  mapped_file(frame);
  pre_and_postfilter();
  array(NULL);
  array(cube);
  blosc2_destroy();
  return 0;
}

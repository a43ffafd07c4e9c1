/* Compares the speed of two DLLs on Windows: windows_speed OURS.dll OTHER.dll SEED [ROUNDS]
 *
 * The data are drawn from SEED. Each line gives the throughput of the first DLL divided by that of the second one, of the best
 * of ROUNDS rounds, in which the DLLs take turns; above 1 the first one is faster. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "blosc2.h"

enum { NBYTES = 4 << 20, NITEMS = NBYTES / 4, DEST = NBYTES + NBYTES / 8 + BLOSC2_MAX_OVERHEAD };

typedef int32_t kernel(int32_t typesize, int32_t blocksize, const void *src, void *dest);

struct library {
  kernel *kernels[4];
  blosc2_context *(*create_cctx)(blosc2_cparams);
  blosc2_context *(*create_dctx)(blosc2_dparams);
  int (*compress)(blosc2_context *, const void *, int32_t, void *, int32_t);
  int (*decompress)(blosc2_context *, const void *, int32_t, void *, int32_t);
  void (*free_ctx)(blosc2_context *);
  uint8_t *chunk;
  int cbytes;
};

static const char *const KERNELS[4] = {"blosc2_shuffle", "blosc2_unshuffle", "blosc2_bitshuffle", "blosc2_bitunshuffle"};

static void fail(const char *text) {
  fprintf(stderr, "%s\n", text);
  exit(1);
}

/* A function of any type. */
static void find(HMODULE module, const char *name, void *place) {
  FARPROC found = GetProcAddress(module, name);
  if (found == NULL) {
    fail(name);
  }
  memcpy(place, &found, sizeof(found));
}

static void load(const char *path, struct library *library) {
  HMODULE module = LoadLibraryA(path);
  void (*init)(void);
  if (module == NULL) {
    fail(path);
  }
  find(module, "blosc2_init", &init);
  init();
  for (int i = 0; i < 4; i++) {
    find(module, KERNELS[i], &library->kernels[i]);
  }
  find(module, "blosc2_create_cctx", &library->create_cctx);
  find(module, "blosc2_create_dctx", &library->create_dctx);
  find(module, "blosc2_compress_ctx", &library->compress);
  find(module, "blosc2_decompress_ctx", &library->decompress);
  find(module, "blosc2_free_ctx", &library->free_ctx);
  library->chunk = malloc(DEST);
}

static uint64_t state;
static uint32_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 32);
}

/* Runs of a random walk whose steps have a drawn number of bits, and of repeated items. */
static void draw_items(int32_t *items) {
  int32_t value = 0;
  for (int at = 0; at < NITEMS;) {
    int len = 1 + (int)(draw() % 5000), bits = (int)(draw() % 20), repeats = draw() % 3 == 0;
    for (; len > 0 && at < NITEMS; len--, at++) {
      if (repeats && at > 300) {
        items[at] = items[at - 1 - (int)(draw() % 4) * 64];
      } else {
        value += (int32_t)(draw() & ((1u << bits) - 1)) - (int32_t)((1u << bits) >> 1);
        items[at] = value;
      }
    }
  }
}

static double now(void) {
  LARGE_INTEGER count, frequency;
  QueryPerformanceCounter(&count);
  QueryPerformanceFrequency(&frequency);
  return (double)count.QuadPart / (double)frequency.QuadPart;
}

static void keep_least(double *least, double seconds) {
  if (*least == 0 || seconds < *least) {
    *least = seconds;
  }
}

static void measure_kernels(struct library *libraries, const void *src, void *dest, int rounds) {
  for (int typesize = 2; typesize <= 16; typesize *= 2) {
    for (int i = 0; i < 4; i++) {
      double least[2] = {0, 0};
      for (int round = 0; round < 2 * rounds; round++) {
        double start = now();
        for (int block = 0; block < 64; block++) {
          libraries[round % 2].kernels[i](typesize, 64 << 10, (const char *)src + (block << 16), dest);
        }
        keep_least(&least[round % 2], now() - start);
      }
      printf("%-20s typesize %2d           %5.2f\n", KERNELS[i], typesize, least[1] / least[0]);
    }
  }
}

static void measure_codec(struct library *libraries, const void *src, void *dest, int rounds, int codec, int clevel, int filter) {
  static const char *const CODECS[] = {"blosclz", "lz4", "lz4hc", "", "zlib", "zstd"};
  static const char *const FILTERS[] = {"none", "shuffle", "bitshuffle"};
  double compressing[2] = {0, 0}, decompressing[2] = {0, 0};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = (uint8_t)codec;
  cparams.clevel = (uint8_t)clevel;
  cparams.typesize = 4;
  cparams.filters[BLOSC2_MAX_FILTERS - 1] = (uint8_t)filter;
  for (int round = 0; round < 2 * rounds; round++) {
    struct library *library = &libraries[round % 2];
    blosc2_context *context = library->create_cctx(cparams);
    double start = now();
    library->cbytes = library->compress(context, src, NBYTES, library->chunk, DEST);
    keep_least(&compressing[round % 2], now() - start);
    library->free_ctx(context);
    context = library->create_dctx(BLOSC2_DPARAMS_DEFAULTS);
    start = now();
    int got = library->decompress(context, library->chunk, library->cbytes, dest, NBYTES);
    keep_least(&decompressing[round % 2], now() - start);
    library->free_ctx(context);
    if (got != NBYTES || memcmp(src, dest, NBYTES) != 0) {
      fail("the chunk has other bytes than the source");
    }
  }
  printf("%-7s level %d %-10s compress %5.2f decompress %5.2f ratio %6.3f and %6.3f\n", CODECS[codec], clevel, FILTERS[filter],
         compressing[1] / compressing[0], decompressing[1] / decompressing[0], (double)NBYTES / libraries[0].cbytes,
         (double)NBYTES / libraries[1].cbytes);
  fflush(stdout);
}

int main(int argc, char **argv) {
  struct library libraries[2];
  if (argc < 4) {
    fail("windows_speed OURS.dll OTHER.dll SEED [ROUNDS]");
  }
  for (int i = 0; i < 2; i++) {
    load(argv[1 + i], &libraries[i]);
  }
  int rounds = argc > 4 ? atoi(argv[4]) : 10;
  state = 0x9E3779B97F4A7C15u ^ strtoull(argv[3], NULL, 10);
  int32_t *src = malloc(NBYTES), *dest = malloc(NBYTES);
  draw_items(src);
  measure_kernels(libraries, src, dest, rounds);
  const int codecs[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
  for (int i = 0; i < 5; i++) {
    for (int filter = BLOSC_SHUFFLE; filter <= BLOSC_BITSHUFFLE; filter++) {
      measure_codec(libraries, src, dest, rounds, codecs[i], 5, filter);
    }
  }
  return 0;
}

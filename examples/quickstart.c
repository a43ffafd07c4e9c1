/*
 * Compresses real data with every codec, decompresses and compares them, and prints the compression
 * ratio and the speeds, next to that of memcpy.
 *
 *     quickstart [file]
 *
 * Without a file: the built library itself, and 64 MiB of float32 from a small simulation (waves on a
 * square membrane, computed here). Uses only the public API. Exits with a non-zero status on any error, and
 * if the decompressed data differ from the source.
 *
 * scripts/quickstart.sh builds the library, compiles this file against it, and runs it.
 */

#define _POSIX_C_SOURCE 200809L

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <blosc2.h>

/* The file that is compressed when none is named. */
#ifndef QUICKSTART_FILE
#define QUICKSTART_FILE "libblosc2.so"
#endif

enum {
  CHUNK_NBYTES = 2 * 1024 * 1024, /* uncompressed bytes of a chunk */
  NTHREADS = 2,
  CLEVEL = 5,
  ROUNDS = 3, /* each figure is the best of this number of runs */
  SIDE = 1024, /* the membrane has SIDE * SIDE points */
  NSNAPSHOTS = 16,
  STEPS_PER_SNAPSHOT = 40
};

/* Data to compress, and the size of their items in bytes. */
typedef struct {
  const char *name;
  uint8_t *bytes;
  size_t nbytes;
  int32_t typesize;
} dataset;

/* The buffers for one data set, which is cut into chunks. Each compressed chunk has its own slot. */
typedef struct {
  size_t nchunks;
  size_t slot;        /* bytes reserved for a compressed chunk */
  uint8_t *chunks;    /* nchunks * slot bytes */
  int32_t *cbytes;    /* size of each compressed chunk in bytes */
  uint8_t *restored;  /* destination of decompression */
} workspace;

static void die(const char *what) {
  fprintf(stderr, "quickstart: %s\n", what);
  exit(EXIT_FAILURE);
}

static void *allocate(size_t nbytes) {
  void *memory = malloc(nbytes > 0 ? nbytes : 1);
  if (memory == NULL) {
    die("out of memory");
  }
  return memory;
}

static dataset read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  size_t room = 1 << 20;
  dataset data = {path, allocate(room), 0, 1};
  size_t got;
  while ((got = fread(data.bytes + data.nbytes, 1, room - data.nbytes, file)) > 0) {
    data.nbytes += got;
    if (data.nbytes == room) {
      room *= 2;
      uint8_t *grown = realloc(data.bytes, room);
      if (grown == NULL) {
        die("out of memory");
      }
      data.bytes = grown;
    }
  }
  if (ferror(file) || data.nbytes == 0) {
    die("the file cannot be read, or is empty");
  }
  fclose(file);
  return data;
}

/* Advances the wave equation by one time step: `next` holds the step before `now` and is overwritten. */
static void step_wave(const float *now, float *next) {
  const float courant2 = 0.2f; /* (speed * dt / dx)^2; the scheme is stable below 0.5 */
  for (size_t row = 1; row + 1 < SIDE; row++) {
    for (size_t column = 1; column + 1 < SIDE; column++) {
      size_t here = row * SIDE + column;
      float curvature = now[here - 1] + now[here + 1] + now[here - SIDE] + now[here + SIDE] - 4.0f * now[here];
      next[here] = 2.0f * now[here] - next[here] + courant2 * curvature;
    }
  }
}

/* Returns snapshots of a membrane that is fixed at its border and starts with a few bumps, at rest. */
static dataset simulate_waves(void) {
  const size_t npoints = (size_t)SIDE * SIDE;
  const double bumps[][3] = {{0.30, 0.40, 1.0}, {0.70, 0.65, -0.7}, {0.55, 0.20, 0.4}};
  float *now = calloc(npoints, sizeof(float));
  float *next = calloc(npoints, sizeof(float));
  if (now == NULL || next == NULL) {
    die("out of memory");
  }
  for (size_t row = 1; row + 1 < SIDE; row++) {
    for (size_t column = 1; column + 1 < SIDE; column++) {
      double height = 0;
      for (size_t bump = 0; bump < sizeof(bumps) / sizeof(bumps[0]); bump++) {
        double dy = (double)row / SIDE - bumps[bump][0];
        double dx = (double)column / SIDE - bumps[bump][1];
        double inside = 1 - (dx * dx + dy * dy) * 200;
        height += inside > 0 ? bumps[bump][2] * inside * inside : 0;
      }
      now[row * SIDE + column] = (float)height;
    }
  }
  memcpy(next, now, npoints * sizeof(float));

  dataset data = {"wave field, float32", allocate(NSNAPSHOTS * npoints * sizeof(float)),
                  NSNAPSHOTS * npoints * sizeof(float), sizeof(float)};
  for (size_t snapshot = 0; snapshot < NSNAPSHOTS; snapshot++) {
    for (int step = 0; step < STEPS_PER_SNAPSHOT; step++) {
      step_wave(now, next);
      float *swap = now;
      now = next;
      next = swap;
    }
    memcpy(data.bytes + snapshot * npoints * sizeof(float), now, npoints * sizeof(float));
  }
  free(now);
  free(next);
  return data;
}

static size_t chunk_nbytes(const dataset *data, size_t nchunk) {
  size_t start = nchunk * CHUNK_NBYTES;
  return data->nbytes - start < CHUNK_NBYTES ? data->nbytes - start : CHUNK_NBYTES;
}

static void check(int rc, const char *what) {
  if (rc < 0) {
    fprintf(stderr, "quickstart: %s: %s (%d)\n", what, blosc2_error_string(rc), rc);
    exit(EXIT_FAILURE);
  }
}

static void compress_all(blosc2_context *context, const dataset *data, workspace *work) {
  for (size_t i = 0; i < work->nchunks; i++) {
    int rc = blosc2_compress_ctx(context, data->bytes + i * CHUNK_NBYTES, (int32_t)chunk_nbytes(data, i),
                                 work->chunks + i * work->slot, (int32_t)work->slot);
    check(rc, "compression");
    if (rc == 0) {
      die("compression: the chunk does not fit"); /* cannot happen: the slot has BLOSC2_MAX_OVERHEAD more bytes */
    }
    work->cbytes[i] = rc;
  }
}

static void decompress_all(blosc2_context *context, const dataset *data, workspace *work) {
  for (size_t i = 0; i < work->nchunks; i++) {
    int rc = blosc2_decompress_ctx(context, work->chunks + i * work->slot, work->cbytes[i],
                                   work->restored + i * CHUNK_NBYTES, (int32_t)chunk_nbytes(data, i));
    check(rc, "decompression");
    if ((size_t)rc != chunk_nbytes(data, i)) {
      die("decompression: the chunk came back with another size");
    }
  }
}

static void copy_all(blosc2_context *context, const dataset *data, workspace *work) {
  (void)context;
  for (size_t i = 0; i < work->nchunks; i++) {
    memcpy(work->restored + i * CHUNK_NBYTES, data->bytes + i * CHUNK_NBYTES, chunk_nbytes(data, i));
  }
}

/* Returns the best speed of ROUNDS runs over the whole data set, in GB/s of uncompressed data. */
static double best_speed(void (*run)(blosc2_context *, const dataset *, workspace *), blosc2_context *context,
                         const dataset *data, workspace *work) {
  double best = 0;
  for (int round = 0; round < ROUNDS; round++) {
    blosc_timestamp_t start, end;
    blosc_set_timestamp(&start);
    run(context, data, work);
    blosc_set_timestamp(&end);
    double speed = (double)data->nbytes / blosc_elapsed_nsecs(start, end);
    best = speed > best ? speed : best;
  }
  return best;
}

static void show(const dataset *data) {
  workspace work;
  work.nchunks = (data->nbytes + CHUNK_NBYTES - 1) / CHUNK_NBYTES;
  work.slot = CHUNK_NBYTES + BLOSC2_MAX_OVERHEAD;
  work.chunks = allocate(work.nchunks * work.slot);
  work.cbytes = allocate(work.nchunks * sizeof(int32_t));
  work.restored = allocate(data->nbytes);
  /* Touches the pages now, so that no page faults are timed. */
  memset(work.chunks, 1, work.nchunks * work.slot);
  memset(work.restored, 1, data->nbytes);

  double memcpy_speed = best_speed(copy_all, NULL, data, &work);
  printf("%s: %.1f MB in %zu chunks of %d KiB, items of %d bytes\n", data->name, (double)data->nbytes / 1e6,
         work.nchunks, CHUNK_NBYTES / 1024, (int)data->typesize);
  printf("  %-8s %8s %15s %17s %13s\n", "codec", "ratio", "compress GB/s", "decompress GB/s", "memcpy GB/s");

  const int codecs[] = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB, BLOSC_ZSTD};
  for (size_t c = 0; c < sizeof(codecs) / sizeof(codecs[0]); c++) {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.compcode = (uint8_t)codecs[c];
    cparams.clevel = CLEVEL;
    cparams.typesize = data->typesize;
    cparams.nthreads = NTHREADS;
    cparams.filters[BLOSC2_MAX_FILTERS - 1] = BLOSC_SHUFFLE;
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    dparams.nthreads = NTHREADS;
    blosc2_context *cctx = blosc2_create_cctx(cparams);
    blosc2_context *dctx = blosc2_create_dctx(dparams);
    if (cctx == NULL || dctx == NULL) {
      die("a context cannot be created");
    }

    double compress_speed = best_speed(compress_all, cctx, data, &work);
    memset(work.restored, 0, data->nbytes);
    double decompress_speed = best_speed(decompress_all, dctx, data, &work);
    if (memcmp(work.restored, data->bytes, data->nbytes) != 0) {
      die("the data came back different");
    }

    size_t cbytes = 0;
    for (size_t i = 0; i < work.nchunks; i++) {
      cbytes += (size_t)work.cbytes[i];
    }
    const char *name = NULL;
    check(blosc2_compcode_to_compname(codecs[c], &name), "codec name");
    printf("  %-8s %8.2f %15.2f %17.2f %13.2f\n", name, (double)data->nbytes / (double)cbytes, compress_speed,
           decompress_speed, memcpy_speed);
    blosc2_free_ctx(cctx);
    blosc2_free_ctx(dctx);
  }
  printf("\n");
  free(work.chunks);
  free(work.cbytes);
  free(work.restored);
}

int main(int argc, char **argv) {
  if (argc > 2) {
    fprintf(stderr, "usage: %s [file]\n", argv[0]);
    return EXIT_FAILURE;
  }
  blosc2_init();
  printf("Blosc2 %s, clevel %d, shuffle, %d threads; speeds are of uncompressed data, best of %d\n\n",
         blosc2_get_version_string(), CLEVEL, NTHREADS, ROUNDS);
  dataset file = read_file(argc == 2 ? argv[1] : QUICKSTART_FILE);
  show(&file);
  free(file.bytes);
  if (argc < 2) {
    dataset waves = simulate_waves();
    show(&waves);
    free(waves.bytes);
  }
  blosc2_destroy();
  return EXIT_SUCCESS;
}

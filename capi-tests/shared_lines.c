/* Jobs of two threads for scripts/count-shared-lines.sh: compresses and decompresses a chunk of BLOCKS blocks of 16 KiB.
 *
 *     shared_lines BLOCKS
 */
#define _GNU_SOURCE
#include <blosc2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BLOCKSIZE = 16384, JOBS = 4, WARM_UP = 3 };

/* The addresses by which capi-tests/shared_lines.py knows the buffers, and the start and the end of jobs: a job begins with a
 * write to `markers[COMPRESS]` or `markers[DECOMPRESS]`, and ends with one to `markers[END]`. */
#define BUFFERS ((void *)0x600000000)
enum { END, COMPRESS, DECOMPRESS };

static void check(int result) {
    if (result <= 0) {
        fprintf(stderr, "error %d\n", result);
        exit(1);
    }
}

int main(int argc, char **argv) {
    int blocks = argc > 1 ? atoi(argv[1]) : 32;
    int nbytes = blocks * BLOCKSIZE;
    unsigned char *memory = mmap(BUFFERS, 4096 + 3 * (nbytes + 4096), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != BUFFERS) {
        perror("mmap");
        return 1;
    }
    volatile int *markers = (volatile int *)memory;
    unsigned char *src = memory + 4096, *chunk = src + nbytes, *dest = chunk + nbytes + 4096;
    /* Compresses well, so that few of the lines are compressed bytes, which one thread writes and another one copies. */
    for (int i = 0; i < nbytes; i += 4)
        *(unsigned *)(src + i) = i >> 8;
    blosc2_init();
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.typesize = 4;
    cparams.compcode = BLOSC_LZ4;
    cparams.blocksize = BLOCKSIZE;
    cparams.nthreads = 2;
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    dparams.nthreads = 2;
    blosc2_context *cctx = blosc2_create_cctx(cparams), *dctx = blosc2_create_dctx(dparams);
    for (int job = 0; job < WARM_UP + JOBS; job++) {
        markers[job < WARM_UP ? END : COMPRESS] = 1;
        int cbytes = blosc2_compress_ctx(cctx, src, nbytes, chunk, nbytes + BLOSC2_MAX_OVERHEAD);
        markers[END] = 1;
        check(cbytes);
        markers[job < WARM_UP ? END : DECOMPRESS] = 1;
        int result = blosc2_decompress_ctx(dctx, chunk, cbytes, dest, nbytes);
        markers[END] = 1;
        check(result);
    }
    blosc2_free_ctx(cctx);
    blosc2_free_ctx(dctx);
    return 0;
}

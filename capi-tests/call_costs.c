/* The time of short calls: see rust/examples/call_costs.rs, whose calls and output these are. */
#include "b2nd.h"
#include "blosc2.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 2000, SERIES = 30 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#define MEASURE(name, failed) \
    do { \
        double best = 1e9; \
        for (int series = 0; series < SERIES; series++) { \
            double began = seconds(); \
            for (int call = 0; call < CALLS; call++) { \
                if (failed) { \
                    fprintf(stderr, "%s failed\n", name); \
                    return 1; \
                } \
            } \
            double time = (seconds() - began) / CALLS; \
            if (time < best) best = time; \
        } \
        printf("%s %.1f\n", name, best * 1e9); \
    } while (0)

static int32_t numbers[10 << 10];
static int32_t dest[10 << 10];

static bool get_variable(blosc2_schunk *schunk) {
    uint8_t *content;
    int32_t len;
    if (blosc2_vlmeta_get(schunk, "units", &content, &len) < 0) return false;
    free(content);
    return true;
}

int main(void) {
    for (int32_t n = 0; n < 10 << 10; n++) numbers[n] = n / 3 + (((int32_t)((uint32_t)n * 0x9e37u) >> 4) & 7);
    blosc2_init();
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.typesize = 4;
    cparams.compcode = BLOSC_LZ4;
    cparams.clevel = 5;
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    blosc2_context *cctx = blosc2_create_cctx(cparams);
    blosc2_context *dctx = blosc2_create_dctx(dparams);
    MEASURE("compress_512", blosc2_compress_ctx(cctx, numbers, 512, dest, 1024) <= 0);
    uint8_t chunk[1024];
    int32_t len = blosc2_compress_ctx(cctx, numbers, 512, chunk, sizeof chunk);
    MEASURE("decompress_512", blosc2_decompress_ctx(dctx, chunk, len, dest, 1024) != 512);

    blosc2_storage storage = {.cparams = &cparams, .dparams = &dparams};
    blosc2_schunk *schunk = blosc2_schunk_new(&storage);
    for (int n = 0; n < 10; n++) blosc2_schunk_append_buffer(schunk, numbers + n * 1024, 4096);
    MEASURE("schunk_decompress_chunk", blosc2_schunk_decompress_chunk(schunk, 3, dest, 4096) != 4096);
    MEASURE("schunk_get_slice_10", blosc2_schunk_get_slice_buffer(schunk, 2000, 2010, dest) != 0);
    MEASURE("schunk_set_slice_10", blosc2_schunk_set_slice_buffer(schunk, 2000, 2010, dest) != 0);
    blosc2_vlmeta_add(schunk, "units", (uint8_t *)"mm", 2, NULL);
    MEASURE("vlmeta_get", !get_variable(schunk));

    int64_t shape[] = {100, 100};
    int32_t chunkshape[] = {50, 50}, blockshape[] = {10, 10};
    b2nd_context_t *ctx = b2nd_create_ctx(&storage, 2, shape, chunkshape, blockshape, "<i4", 0, NULL, 0);
    b2nd_array_t *array;
    if (b2nd_from_cbuffer(ctx, &array, numbers, 100 * 100 * 4) != 0) return 1;
    int64_t one[] = {1, 1}, start[] = {57, 33}, stop[] = {58, 34};
    MEASURE("array_get_item", b2nd_get_slice_cbuffer(array, start, stop, dest, one, 4) != 0);
    int64_t ten[] = {10, 10}, box_start[] = {55, 35}, box_stop[] = {65, 45};
    MEASURE("array_get_box_of_100", b2nd_get_slice_cbuffer(array, box_start, box_stop, dest, ten, 400) != 0);
    MEASURE("array_set_item", b2nd_set_slice_cbuffer(dest, one, 4, start, stop, array) != 0);

    b2nd_free(array);
    b2nd_free_ctx(ctx);
    blosc2_schunk_free(schunk);
    blosc2_free_ctx(cctx);
    blosc2_free_ctx(dctx);
    blosc2_destroy();
    return 0;
}

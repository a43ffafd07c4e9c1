/* The structs of SOVERSION 7 that differ from the present ones (abi.md 12); the compiler checks their layout. */

#include "b2nd.h"
#include "blosc2.h"

#include <stddef.h>

#define PLACE(type, field, offset) _Static_assert(offsetof(type, field) == offset, #type "." #field);

PLACE(blosc2_schunk, version, 0)
PLACE(blosc2_schunk, compcode, 1)
PLACE(blosc2_schunk, compcode_meta, 2)
PLACE(blosc2_schunk, clevel, 3)
PLACE(blosc2_schunk, splitmode, 4)
PLACE(blosc2_schunk, typesize, 8)
PLACE(blosc2_schunk, blocksize, 12)
PLACE(blosc2_schunk, chunksize, 16)
PLACE(blosc2_schunk, filters, 20)
PLACE(blosc2_schunk, filters_meta, 26)
PLACE(blosc2_schunk, nchunks, 32)
PLACE(blosc2_schunk, current_nchunk, 40)
PLACE(blosc2_schunk, nbytes, 48)
PLACE(blosc2_schunk, cbytes, 56)
PLACE(blosc2_schunk, data, 64)
PLACE(blosc2_schunk, data_len, 72)
PLACE(blosc2_schunk, storage, 80)
PLACE(blosc2_schunk, frame, 88)
PLACE(blosc2_schunk, cctx, 96)
PLACE(blosc2_schunk, dctx, 104)
PLACE(blosc2_schunk, metalayers, 112)
PLACE(blosc2_schunk, nmetalayers, 240)
PLACE(blosc2_schunk, vlmetalayers, 248)
PLACE(blosc2_schunk, nvlmetalayers, 65784)
PLACE(blosc2_schunk, tuner_params, 65792)
PLACE(blosc2_schunk, tuner_id, 65800)
PLACE(blosc2_schunk, ndim, 65804)
PLACE(blosc2_schunk, blockshape, 65808)
PLACE(blosc2_schunk, view, 65816)
_Static_assert(sizeof(blosc2_schunk) == 65824, "blosc2_schunk");
PLACE(b2nd_array_t, sc, 0)
PLACE(b2nd_array_t, ndim, 560)
PLACE(b2nd_array_t, dtype, 1352)
PLACE(b2nd_array_t, dtype_format, 1360)
_Static_assert(sizeof(b2nd_array_t) == 1368, "b2nd_array_t");
_Static_assert(sizeof(blosc2_prefilter_params) == 88, "blosc2_prefilter_params");
_Static_assert(sizeof(blosc2_dparams) == 40, "blosc2_dparams");
_Static_assert(sizeof(blosc2_cparams) == 136, "blosc2_cparams");

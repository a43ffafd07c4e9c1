@warning
/* Extensions: functions that C-Blosc2 does not have. Their names begin with `blosc2x_`. A program that calls one runs
   only with this library. */

#ifndef BLOSC_BLOSC2_BLOSC2X_H
#define BLOSC_BLOSC2_BLOSC2X_H

#include <stdint.h>

#include "blosc2.h"
#include "blosc2-export.h"

#ifdef __cplusplus
extern "C" {
#endif

@functions Errors:
blosc2x_last_error
@end

/* ---- Durability of files ---- */

@enum BLOSC2X_DURABILITY_*

@functions Durability:
blosc2x_schunk_set_durability
blosc2x_schunk_sync
@end

/* ---- Files of a network ---- */

@tagged blosc2x_io_range

@type blosc2x_io_fetch

@type blosc2x_io_release

@functions Files of a network:
blosc2x_register_io_fetch
@end

/* ---- The automatic tuner ---- */

@enum BLOSC2X_TUNER_*

@tagged blosc2x_tuner_params

@functions The automatic tuner:
blosc2x_tuner_auto
blosc2x_tuner_explain
@end

/* ---- Damaged frames ---- */

@enum BLOSC2X_PART_*

@tagged blosc2x_damage

@type blosc2x_report

@tagged blosc2x_verify_options

@functions Damaged frames:
blosc2x_verify
blosc2x_repair
@end

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_BLOSC2X_H */

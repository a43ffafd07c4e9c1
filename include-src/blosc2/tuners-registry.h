@warning
/* The globally registered tuners. */

#ifndef BLOSC_BLOSC2_TUNERS_REGISTRY_H
#define BLOSC_BLOSC2_TUNERS_REGISTRY_H

#ifdef __cplusplus
extern "C" {
#endif

@enum BLOSC_BTUNE

/** Registers these tuners; internal to the library, which does it by itself. */
void register_tuners(void);

@type tuner_info

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_TUNERS_REGISTRY_H */

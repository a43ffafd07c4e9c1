@warning
/* The globally registered filters. */

#ifndef BLOSC_BLOSC2_FILTERS_REGISTRY_H
#define BLOSC_BLOSC2_FILTERS_REGISTRY_H

#ifdef __cplusplus
extern "C" {
#endif

@enum BLOSC_FILTER_*

/** Registers these filters; internal to the library, which does it by itself. */
void register_filters(void);

@type filter_info

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_FILTERS_REGISTRY_H */

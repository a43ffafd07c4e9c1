/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test headers`:
   change those, not this file. */
/* The filters that are registered for everyone. */

#ifndef BLOSC_BLOSC2_FILTERS_REGISTRY_H
#define BLOSC_BLOSC2_FILTERS_REGISTRY_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /** Reorders an array's block cell by cell. */
  BLOSC_FILTER_NDCELL = 32,
  /** Replaces the items of each cell by their mean. */
  BLOSC_FILTER_NDMEAN = 33,
  /** The first bytedelta; only for reading old data. */
  BLOSC_FILTER_BYTEDELTA_BUGGY = 34,
  /** Difference between neighbouring bytes of a shuffled stream. */
  BLOSC_FILTER_BYTEDELTA = 35,
  /** Truncation of integer precision. */
  BLOSC_FILTER_INT_TRUNC = 36
};

/** Registers these filters; internal to the library, which does it by itself. */
void register_filters(void);

/** The descriptor that a filter's plugin library exports as `info`: names of its functions. */
typedef struct {
  /** Name of the function that filters. */
  char *forward;
  /** Name of the function that undoes it. */
  char *backward;
} filter_info;

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_FILTERS_REGISTRY_H */

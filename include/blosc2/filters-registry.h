/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test abi headers`:
   change those, not this file. */
/* The globally registered filters. */

#ifndef BLOSC_BLOSC2_FILTERS_REGISTRY_H
#define BLOSC_BLOSC2_FILTERS_REGISTRY_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /**
   * Reorders the items of an array's block cell by cell. The meta byte is the side of a cell in
   * items.
   */
  BLOSC_FILTER_NDCELL = 32,
  /** Replaces the items of each cell by their mean. The meta byte is the side of a cell in items. */
  BLOSC_FILTER_NDMEAN = 33,
  /** The first version of bytedelta; only for reading old data. */
  BLOSC_FILTER_BYTEDELTA_BUGGY = 34,
  /** Difference between neighbouring bytes of a shuffled stream. */
  BLOSC_FILTER_BYTEDELTA = 35,
  /**
   * Truncation of integer precision, items of 1, 2, 4 or 8 bytes. The meta byte is the number of
   * bits to keep (positive) or to set to zero (negative).
   */
  BLOSC_FILTER_INT_TRUNC = 36
};

/** Registers these filters; internal to the library, which does it by itself. */
void register_filters(void);

/**
 * The descriptor that the plugin library of a filter exports as `info`: the names of the
 * functions it exports.
 */
typedef struct {
  /** Name of the function that filters a block. */
  char *forward;
  /** Name of the function that reverses the filter. */
  char *backward;
} filter_info;

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_FILTERS_REGISTRY_H */

/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test abi headers`:
   change those, not this file. */
/* The globally registered tuners. */

#ifndef BLOSC_BLOSC2_TUNERS_REGISTRY_H
#define BLOSC_BLOSC2_TUNERS_REGISTRY_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /** Btune; in a plugin library. */
  BLOSC_BTUNE = 32
};

/** Registers these tuners; internal to the library, which does it by itself. */
void register_tuners(void);

/**
 * The descriptor that the plugin library of a tuner exports as `info`: the names of the functions
 * it exports.
 */
typedef struct {
  /** Name of the function `init`. */
  char *init;
  /** Name of the function `next_blocksize`. */
  char *next_blocksize;
  /** Name of the function `next_cparams`. */
  char *next_cparams;
  /** Name of the function `update`. */
  char *update;
  /** Name of the function `free`. */
  char *free;
} tuner_info;

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_TUNERS_REGISTRY_H */

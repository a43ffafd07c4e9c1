/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test headers`:
   change those, not this file. */
/* The tuners that are registered for everyone. */

#ifndef BLOSC_BLOSC2_TUNERS_REGISTRY_H
#define BLOSC_BLOSC2_TUNERS_REGISTRY_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /** Btune; a plugin library. */
  BLOSC_BTUNE = 32
};

/** Registers these tuners; internal to the library, which does it by itself. */
void register_tuners(void);

/** The descriptor that a tuner's plugin library exports as `info`: names of its functions. */
typedef struct {
  /** Name of `init`. */
  char *init;
  /** Name of `next_blocksize`. */
  char *next_blocksize;
  /** Name of `next_cparams`. */
  char *next_cparams;
  /** Name of `update`. */
  char *update;
  /** Name of `free`. */
  char *free;
} tuner_info;

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_TUNERS_REGISTRY_H */

/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test abi headers`:
   change those, not this file. */
/* The globally registered codecs. */

#ifndef BLOSC_BLOSC2_CODECS_REGISTRY_H
#define BLOSC_BLOSC2_CODECS_REGISTRY_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /** NDLZ: an LZ codec for the cells of two-dimensional arrays; built in. */
  BLOSC_CODEC_NDLZ = 32,
  /** ZFP with a limit for the absolute error; built in. */
  BLOSC_CODEC_ZFP_FIXED_ACCURACY = 33,
  /** ZFP with a fixed number of bit planes; built in. */
  BLOSC_CODEC_ZFP_FIXED_PRECISION = 34,
  /** ZFP with a fixed number of bits per value; built in. */
  BLOSC_CODEC_ZFP_FIXED_RATE = 35,
  /** High-throughput JPEG 2000 by OpenHTJ2K; in a plugin library. */
  BLOSC_CODEC_OPENHTJ2K = 36,
  /** JPEG 2000 by Grok; in a plugin library. */
  BLOSC_CODEC_GROK = 37,
  /** OpenZL; in a plugin library. */
  BLOSC_CODEC_OPENZL = 38,
  /** JPEG 2000; in a plugin library. */
  BLOSC_CODEC_J2K = 39,
  /** High-throughput JPEG 2000; in a plugin library. */
  BLOSC_CODEC_HTJ2K = 40
};

/** Registers these codecs; internal to the library, which does it by itself. */
void register_codecs(void);

/**
 * The descriptor that the plugin library of a codec exports as `info`: the names of the functions
 * it exports.
 */
typedef struct {
  /** Name of the encoder. */
  char *encoder;
  /** Name of the decoder. */
  char *decoder;
} codec_info;

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_CODECS_REGISTRY_H */

/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test headers`:
   change those, not this file. */
/* The codecs that are registered for everyone. */

#ifndef BLOSC_BLOSC2_CODECS_REGISTRY_H
#define BLOSC_BLOSC2_CODECS_REGISTRY_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /** NDLZ: LZ over the cells of a two-dimensional array; built in. */
  BLOSC_CODEC_NDLZ = 32,
  /** ZFP with a bound on the absolute error; built in. */
  BLOSC_CODEC_ZFP_FIXED_ACCURACY = 33,
  /** ZFP with a number of bit planes; built in. */
  BLOSC_CODEC_ZFP_FIXED_PRECISION = 34,
  /** ZFP with a number of bits per value; built in. */
  BLOSC_CODEC_ZFP_FIXED_RATE = 35,
  /** High-throughput JPEG 2000 by OpenHTJ2K; a plugin library. */
  BLOSC_CODEC_OPENHTJ2K = 36,
  /** JPEG 2000 by Grok; a plugin library. */
  BLOSC_CODEC_GROK = 37,
  /** OpenZL; a plugin library. */
  BLOSC_CODEC_OPENZL = 38,
  /** JPEG 2000; a plugin library. */
  BLOSC_CODEC_J2K = 39,
  /** High-throughput JPEG 2000; a plugin library. */
  BLOSC_CODEC_HTJ2K = 40
};

/** Registers these codecs; internal to the library, which does it by itself. */
void register_codecs(void);

/** The descriptor that a codec's plugin library exports as `info`: names of its functions. */
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

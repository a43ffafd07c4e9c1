@warning
/* The globally registered codecs. */

#ifndef BLOSC_BLOSC2_CODECS_REGISTRY_H
#define BLOSC_BLOSC2_CODECS_REGISTRY_H

#ifdef __cplusplus
extern "C" {
#endif

@enum BLOSC_CODEC_*

/** Registers these codecs; internal to the library, which does it by itself. */
void register_codecs(void);

@type codec_info

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_CODECS_REGISTRY_H */

/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test abi headers`:
   change those, not this file. */
/* Macros that depend on the compiler and the target. */

#ifndef BLOSC_BLOSC2_BLOSC2_COMMON_H
#define BLOSC_BLOSC2_BLOSC2_COMMON_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "blosc2-export.h"

#if defined(__GNUC__)
  #define BLOSC_GCC_VERSION (__GNUC__ * 100 + __GNUC_MINOR__)
#endif

#if defined(__GNUC__) || defined(__clang__)
  #define BLOSC_ATTRIBUTE_UNUSED __attribute__((unused))
#else
  #define BLOSC_ATTRIBUTE_UNUSED
#endif
#define BLOSC_UNUSED_VAR BLOSC_ATTRIBUTE_UNUSED
#define BLOSC_UNUSED_PARAM(x) ((void)(x))

#if defined(_MSC_VER)
  /* Older C modes have only the keyword with underscores. */
  #if !defined(__cplusplus) && !defined(inline)
    #define inline __inline
  #endif
  /* Every x64 processor has SSE2, but this compiler does not define the macro. */
  #if defined(_M_X64) && !defined(__SSE2__)
    #define __SSE2__
  #endif
#endif

/* Defined where reading an unaligned word is not cheap. */
#if defined(__i386__) || defined(__x86_64__) || defined(_M_IX86) || defined(_M_X64)
#elif defined(__powerpc__) || defined(__powerpc64__) || defined(__PPC__) || defined(_M_PPC)
#elif (defined(__ARM_ARCH) || defined(__aarch64__)) && defined(__ARM_FEATURE_UNALIGNED)
#else
  #define BLOSC_STRICT_ALIGN
#endif

#endif /* BLOSC_BLOSC2_BLOSC2_COMMON_H */

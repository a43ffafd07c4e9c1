/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test abi headers`:
   change those, not this file. */
/* Visibility of symbols. Programs that use the library define neither BLOSC_SHARED_LIBRARY nor BLOSC_TESTING. */

#ifndef BLOSC_EXPORT_H
#define BLOSC_EXPORT_H

/* BLOSC_EXPORT: part of the library's interface. It has an effect only while the shared library is built. */
#if defined(BLOSC_SHARED_LIBRARY)
  #if defined(_WIN32) || defined(__CYGWIN__)
    #if defined(__GNUC__) || defined(__clang__)
      #define BLOSC_EXPORT __attribute__((dllexport))
    #elif defined(_MSC_VER)
      #define BLOSC_EXPORT __declspec(dllexport)
    #else
      #error "This compiler has no known way to export symbols from a shared library."
    #endif
  #elif (defined(__GNUC__) && __GNUC__ >= 4) || defined(__clang__)
    #define BLOSC_EXPORT __attribute__((visibility("default")))
  #else
    #error "This compiler has no known way to export symbols from a shared library."
  #endif
#else
  #define BLOSC_EXPORT
#endif

/* BLOSC_NO_EXPORT: internal, but visible to tests that are built with BLOSC_TESTING. */
#if defined(BLOSC_TESTING)
  #define BLOSC_NO_EXPORT BLOSC_EXPORT
#elif ((defined(__GNUC__) && __GNUC__ >= 4) || defined(__clang__)) && !defined(__MINGW32__)
  #define BLOSC_NO_EXPORT __attribute__((visibility("hidden")))
#else
  #define BLOSC_NO_EXPORT
#endif

#endif /* BLOSC_EXPORT_H */

/*
 * Shared code of the C programs of this directory: checks that stop at the first failure, and test data.
 * Includes no header of the library.
 */

#ifndef CAPI_TESTS_CHECK_H
#define CAPI_TESTS_CHECK_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stops the program unless the condition holds. */
#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);     \
      exit(EXIT_FAILURE);                                                         \
    }                                                                             \
  } while (0)

/* Stops the program unless two integers are equal, and prints both. */
#define CHECK_EQ(got, wanted)                                                     \
  do {                                                                            \
    long long got_ = (long long)(got), wanted_ = (long long)(wanted);             \
    if (got_ != wanted_) {                                                        \
      fprintf(stderr, "%s:%d: %s is %lld, not %s = %lld\n", __FILE__, __LINE__,   \
              #got, got_, #wanted, wanted_);                                      \
      exit(EXIT_FAILURE);                                                         \
    }                                                                             \
  } while (0)

/* Stops the program unless two strings are equal. */
#define CHECK_STR(got, wanted)                                                    \
  do {                                                                            \
    const char *got_ = (got), *wanted_ = (wanted);                                \
    if (got_ == NULL || strcmp(got_, wanted_) != 0) {                             \
      fprintf(stderr, "%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__,    \
              #got, got_ == NULL ? "(null)" : got_, wanted_);                     \
      exit(EXIT_FAILURE);                                                         \
    }                                                                             \
  } while (0)

/* Stops the program unless the bytes are equal. */
#define CHECK_BYTES(got, wanted, nbytes) CHECK(memcmp((got), (wanted), (size_t)(nbytes)) == 0)

/* Runs a test and prints its name. */
#define RUN(test)                \
  do {                           \
    test();                      \
    printf("ok %s\n", #test);    \
    fflush(stdout);              \
  } while (0)

/* `--ours` enables the checks that the reference fails because of its known defects. */
static inline int asked_for_ours(int argc, char **argv) {
  if (argc > 2 || (argc == 2 && strcmp(argv[1], "--ours") != 0)) {
    fprintf(stderr, "usage: %s [--ours]\n", argv[0]);
    exit(EXIT_FAILURE);
  }
  return argc == 2;
}

/* Fills an array with an increasing series with gaps: compressible, and no two items are equal. */
static inline void fill_series(int32_t *items, int32_t nitems) {
  int32_t value = 1000;
  for (int32_t i = 0; i < nitems; i++) {
    value += 1 + i % 7;
    items[i] = value;
  }
}

/* Fills a buffer with incompressible bytes (a 64-bit linear congruential generator). */
static inline void fill_noise(uint8_t *bytes, int32_t nbytes) {
  uint64_t state = (uint64_t)nbytes;
  for (int32_t i = 0; i < nbytes; i++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    bytes[i] = (uint8_t)(state >> 56);
  }
}

#endif

/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test headers`:
   change those, not this file. */
/* The I/O back-ends of the library itself: plain files, and files mapped into memory. */

#ifndef BLOSC_BLOSC2_BLOSC2_STDIO_H
#define BLOSC_BLOSC2_BLOSC2_STDIO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(_MSC_VER)
  #include <io.h>
#else
  #include <unistd.h>
#endif
#if defined(_WIN32)
  #include <windows.h>
#endif

#include "blosc2-common.h"
#include "blosc2-export.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A stream of the default I/O back-end. */
typedef struct {
  /** The open file. */
  FILE *file;
} blosc2_stdio_file;

/** Parameters of the default I/O back-end. */
typedef struct {
  /** True: take the inter-process lock of the file. */
  bool locking;
} blosc2_stdio_params;

/** Default parameters of the plain-file back-end. */
static const blosc2_stdio_params BLOSC2_STDIO_PARAMS_DEFAULTS BLOSC_ATTRIBUTE_UNUSED = {
  false  /* locking */
};

/**
 * Parameters and state of the memory-mapping back-end; the caller fills the first three fields of
 * a copy of `BLOSC2_STDIO_MMAP_DEFAULTS`, the library the rest.
 */
typedef struct {
  /**
   * `r`, `r+`, `w+`, or `c` (copy on write). The library stores NULL here once the file is
   * mapped.
   */
  const char *mode;
  /** Bytes to reserve for a mapping that may grow. */
  size_t initial_mapping_size;
  /** True: the library calls `free` on this struct when it is done with it. */
  bool needs_free;
  /** Address of the mapping; NULL = not mapped. Internal. */
  char *addr;
  /** Copy of the path. Internal. */
  char *urlpath;
  /** Size of the file in bytes. Internal. */
  size_t file_size;
  /** Size of the mapping in bytes, at least that of the file. Internal. */
  size_t mapping_size;
  /** True: writes stay in memory (mode `c`). Internal. */
  bool is_memory_only;
  /** The open file. Internal. */
  FILE *file;
  /** Its descriptor. Internal. */
  int fd;
  /** Access bits of the mapping. Internal. */
  int64_t access_flags;
  /** Kind of the mapping. Internal. */
  int64_t map_flags;
#if defined(_WIN32)
  /** Handle of the mapping. Internal. */
  HANDLE mmap_handle;
#endif
} blosc2_stdio_mmap;

/** Default parameters of the memory-mapping back-end: read-only, 1 GiB reserved where the mapping may grow. */
static const blosc2_stdio_mmap BLOSC2_STDIO_MMAP_DEFAULTS BLOSC_ATTRIBUTE_UNUSED = {
  "r",         /* mode */
  1073741824,  /* initial_mapping_size */
  false,       /* needs_free */
  NULL,        /* addr */
  NULL,        /* urlpath */
  0,           /* file_size */
  0,           /* mapping_size */
  false,       /* is_memory_only */
  NULL,        /* file */
  -1,          /* fd */
  -1,          /* access_flags */
  -1           /* map_flags */
#if defined(_WIN32)
  , INVALID_HANDLE_VALUE  /* mmap_handle */
#endif
};

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_BLOSC2_STDIO_H */

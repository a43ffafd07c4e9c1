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

/* ---- Plain files ---- */

/**
 * Opens the plain file `urlpath` with `fopen` in this `mode`. `params` is not used.
 *
 * Returns the stream, a `blosc2_stdio_file` for `blosc2_stdio_close`, or NULL. Only reads of one
 * stream may happen in several threads at once.
 */
BLOSC_EXPORT
void *blosc2_stdio_open(const char *urlpath,
                        const char *mode,
                        void *params);

/**
 * Closes a plain file, and frees `stream`, which `blosc2_stdio_open` made.
 *
 * Returns what `fclose` does, or -1 for NULL.
 */
BLOSC_EXPORT int blosc2_stdio_close(void *stream);

/**
 * Returns the size of the plain file `stream` in bytes, or -1. The position of its `FILE` stays.
 */
BLOSC_EXPORT int64_t blosc2_stdio_size(void *stream);

/**
 * Writes the `nitems` items of `size` bytes at `ptr` to the plain file `stream` at the absolute
 * byte `position`, past the buffer of the `FILE`.
 *
 * Returns the items that were written whole; 0 for arguments that make no sense.
 */
BLOSC_EXPORT
int64_t blosc2_stdio_write(const void *ptr,
                           int64_t size,
                           int64_t nitems,
                           int64_t position,
                           void *stream);

/**
 * Reads `nitems` items of `size` bytes of the plain file `stream` at the absolute byte `position`
 * into the buffer at `*ptr`.
 *
 * Returns the items that were read whole; 0 for arguments that make no sense.
 */
BLOSC_EXPORT
int64_t blosc2_stdio_read(void **ptr,
                          int64_t size,
                          int64_t nitems,
                          int64_t position,
                          void *stream);

/**
 * Cuts the plain file `stream` to `size` bytes, or extends it with zeros.
 *
 * Returns what `ftruncate` does, or -1 for NULL and a negative size.
 */
BLOSC_EXPORT int blosc2_stdio_truncate(void *stream, int64_t size);

/**
 * Has nothing to release: `params` is not used.
 *
 * Returns 0.
 */
BLOSC_EXPORT int blosc2_stdio_destroy(void *params);

/* ---- Files mapped into memory ---- */

/**
 * Maps the file `urlpath` as `params`, a `blosc2_stdio_mmap`, says. The argument `mode` is not
 * used; the one in `params` is set to NULL once the file is mapped. A file that `params` has
 * mapped already is not mapped again.
 *
 * Returns `params`, which is the stream, or NULL, also when `params` has mapped another file.
 */
BLOSC_EXPORT
void *blosc2_stdio_mmap_open(const char *urlpath,
                             const char *mode,
                             void *params);

/**
 * Leaves the mapping as it is, `stream` is not used: `blosc2_stdio_mmap_destroy` unmaps it.
 *
 * Returns 0.
 */
BLOSC_EXPORT int blosc2_stdio_mmap_close(void *stream);

/** Returns the size of the mapped file `stream` in bytes, or -1 for NULL. */
BLOSC_EXPORT int64_t blosc2_stdio_mmap_size(void *stream);

/**
 * Copies the `nitems` items of `size` bytes at `ptr` into the mapped file `stream` at the byte
 * `position`. The file grows if need be, and may move then: pointers into the mapping are not
 * valid any more.
 *
 * Returns `nitems`; 0 for no bytes, for arguments that make no sense, for a mapping that is only
 * for reading, and when the file cannot grow.
 */
BLOSC_EXPORT
int64_t blosc2_stdio_mmap_write(const void *ptr,
                                int64_t size,
                                int64_t nitems,
                                int64_t position,
                                void *stream);

/**
 * Points `*ptr` at `nitems` items of `size` bytes in the mapped file `stream`, at the byte
 * `position`. A write moves them.
 *
 * Returns `nitems`; or 0, with `*ptr` NULL, for what the file does not have and for arguments
 * that make no sense.
 */
BLOSC_EXPORT
int64_t blosc2_stdio_mmap_read(void **ptr,
                               int64_t size,
                               int64_t nitems,
                               int64_t position,
                               void *stream);

/**
 * Cuts the mapped file `stream` to `size` bytes, or extends it with zeros.
 *
 * Returns 0, or -1: for NULL, a negative size, a mapping that is only for reading, or when the
 * system fails.
 */
BLOSC_EXPORT
int blosc2_stdio_mmap_truncate(void *stream,
                               int64_t size);

/**
 * Writes a mapped file out, unmaps and closes it; frees `params`, a `blosc2_stdio_mmap`, if its
 * `needs_free` says so.
 *
 * Returns 0, or -1: for NULL, when nothing was mapped, or when the system fails.
 */
BLOSC_EXPORT
int blosc2_stdio_mmap_destroy(void *params);

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_BLOSC2_STDIO_H */

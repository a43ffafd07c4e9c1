/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test abi headers`:
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

/** A stream of the plain-file back-end. */
typedef struct {
  /** The open file. */
  FILE *file;
} blosc2_stdio_file;

/** Parameters of the plain-file back-end. */
typedef struct {
  /** True: use the inter-process lock of the file. */
  bool locking;
} blosc2_stdio_params;

/** Default parameters of the plain-file back-end. */
static const blosc2_stdio_params BLOSC2_STDIO_PARAMS_DEFAULTS BLOSC_ATTRIBUTE_UNUSED = {
  false  /* locking */
};

/**
 * Parameters and state of the memory-mapping back-end. The caller sets the first three fields in
 * a copy of `BLOSC2_STDIO_MMAP_DEFAULTS`; the library sets the others.
 */
typedef struct {
  /**
   * Mode: `r` (read-only), `r+` (read and write), `w+` (create or replace) or `c` (copy on write:
   * changes stay in memory). The library sets it to NULL when the file has been mapped.
   */
  const char *mode;
  /** Number of bytes to reserve for a mapping that can grow (modes `r+`, `w+` and `c`). */
  size_t initial_mapping_size;
  /** True: the library calls `free()` on this struct when the back-end is destroyed. */
  bool needs_free;
  /** Address of the mapping; NULL = not mapped. Internal. */
  char *addr;
  /** Copy of the path. Internal. */
  char *urlpath;
  /** Size of the file in bytes. Internal. */
  size_t file_size;
  /** Size of the mapping in bytes, at least `file_size`. Internal. */
  size_t mapping_size;
  /** True if changes are not written to the file (mode `c`). Internal. */
  bool is_memory_only;
  /** The open file. Internal. */
  FILE *file;
  /** The descriptor of `file`. Internal. */
  int fd;
  /** Protection flags of the mapping (`PROT_*`). Internal. */
  int64_t access_flags;
  /** Flags of the mapping (`MAP_*`). Internal. */
  int64_t map_flags;
#if defined(_WIN32)
  /** The handle of the mapping. Internal. */
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
 * Opens the plain file `urlpath` with `fopen` and `mode`. `params` is not used. The `open`
 * function of the back-end `BLOSC2_IO_FILESYSTEM`.
 *
 * Returns the stream, a `blosc2_stdio_file`, which the caller closes with `blosc2_stdio_close`;
 * NULL when a string is NULL or the file cannot be opened. Several threads may read from a stream
 * at once; any other use of it is by one thread.
 */
BLOSC_EXPORT
void *blosc2_stdio_open(const char *urlpath,
                        const char *mode,
                        void *params);

/**
 * Closes the plain file `stream`, which `blosc2_stdio_open` returned, and frees the stream.
 *
 * Returns 0; -1 for NULL and when `fclose` fails, after which the stream is freed, too.
 */
BLOSC_EXPORT int blosc2_stdio_close(void *stream);

/**
 * Returns the size of the plain file `stream` in bytes, or -1 for NULL or when the size cannot be
 * determined. The file position of the `FILE` does not change.
 */
BLOSC_EXPORT
int64_t blosc2_stdio_size(void *stream);

/**
 * Writes the `nitems` items of `size` bytes at `ptr` to the plain file `stream`, at the byte
 * `position` counted from the start of the file. Bypasses the buffer of the `FILE`.
 *
 * Returns the number of items that were written completely; 0 for invalid arguments.
 */
BLOSC_EXPORT
int64_t blosc2_stdio_write(const void *ptr,
                           int64_t size,
                           int64_t nitems,
                           int64_t position,
                           void *stream);

/**
 * Reads `nitems` items of `size` bytes from the plain file `stream`, at the byte `position`
 * counted from the start of the file, into the buffer at `*ptr`, which the caller provides.
 *
 * Returns the number of items that were read completely; 0 for invalid arguments.
 */
BLOSC_EXPORT
int64_t blosc2_stdio_read(void **ptr,
                          int64_t size,
                          int64_t nitems,
                          int64_t position,
                          void *stream);

/**
 * Sets the length of the plain file `stream` to `size` bytes: cuts it, or extends it with zeros.
 *
 * Returns 0; -1 for NULL, for a negative `size`, and when `ftruncate` fails.
 */
BLOSC_EXPORT int blosc2_stdio_truncate(void *stream, int64_t size);

/**
 * Does nothing: the plain-file back-end has nothing to release. `params` is not used.
 *
 * Returns 0.
 */
BLOSC_EXPORT int blosc2_stdio_destroy(void *params);

/* ---- Files mapped into memory ---- */

/**
 * Maps the file `urlpath` into memory as described by `params`, a `blosc2_stdio_mmap`. The
 * argument `mode` is not used: the mode is `params->mode`, which is set to NULL after the file
 * has been mapped. If `params` has already mapped this file, nothing is done.
 *
 * Returns `params`, which is the stream; the caller releases it with `blosc2_stdio_mmap_destroy`.
 * Returns NULL when the file cannot be mapped, for an unknown mode, and when `params` has mapped
 * another file.
 */
BLOSC_EXPORT
void *blosc2_stdio_mmap_open(const char *urlpath,
                             const char *mode,
                             void *params);

/**
 * Does nothing: the file stays mapped until `blosc2_stdio_mmap_destroy`. `stream` is not used.
 *
 * Returns 0.
 */
BLOSC_EXPORT int blosc2_stdio_mmap_close(void *stream);

/** Returns the size of the mapped file `stream` in bytes, or -1 for NULL. */
BLOSC_EXPORT int64_t blosc2_stdio_mmap_size(void *stream);

/**
 * Copies the `nitems` items of `size` bytes at `ptr` into the mapped file `stream`, at the byte
 * `position` counted from the start of the file. If necessary the file grows; the mapping can
 * move then, and pointers into it become invalid.
 *
 * Returns `nitems`; 0 for no bytes, for invalid arguments, for a read-only mapping, and when the
 * file cannot grow.
 */
BLOSC_EXPORT
int64_t blosc2_stdio_mmap_write(const void *ptr,
                                int64_t size,
                                int64_t nitems,
                                int64_t position,
                                void *stream);

/**
 * Sets `*ptr` to the address of `nitems` items of `size` bytes in the mapped file `stream`, at
 * the byte `position` counted from the start of the file. The memory belongs to the mapping:
 * `*ptr` is valid until the file grows or is unmapped.
 *
 * Returns `nitems`; 0, with `*ptr` NULL, for bytes beyond the end of the file and for invalid
 * arguments.
 */
BLOSC_EXPORT
int64_t blosc2_stdio_mmap_read(void **ptr,
                               int64_t size,
                               int64_t nitems,
                               int64_t position,
                               void *stream);

/**
 * Sets the length of the mapped file `stream` to `size` bytes: cuts it, or extends it with zeros.
 *
 * Returns 0; -1 for NULL, for a negative `size`, for a read-only mapping, and when a system call
 * fails.
 */
BLOSC_EXPORT
int blosc2_stdio_mmap_truncate(void *stream,
                               int64_t size);

/**
 * Writes the changes of a mapped file to disk, unmaps the file and closes it. `params` is the
 * `blosc2_stdio_mmap`; it is freed with `free()` if its field `needs_free` is true.
 *
 * Returns 0; -1 for NULL, when no file was mapped, and when a system call fails.
 */
BLOSC_EXPORT int blosc2_stdio_mmap_destroy(void *params);

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_BLOSC2_STDIO_H */

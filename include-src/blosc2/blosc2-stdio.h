@warning
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

@type blosc2_stdio_file blosc2_stdio_params

/** Default parameters of the plain-file back-end. */
static const blosc2_stdio_params BLOSC2_STDIO_PARAMS_DEFAULTS BLOSC_ATTRIBUTE_UNUSED = {
  false  /* locking */
};

@type blosc2_stdio_mmap

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

@functions Plain files:
blosc2_stdio_open blosc2_stdio_close blosc2_stdio_size blosc2_stdio_write blosc2_stdio_read
blosc2_stdio_truncate blosc2_stdio_destroy
@end

@functions Files mapped into memory:
blosc2_stdio_mmap_open blosc2_stdio_mmap_close blosc2_stdio_mmap_size blosc2_stdio_mmap_write
blosc2_stdio_mmap_read blosc2_stdio_mmap_truncate blosc2_stdio_mmap_destroy
@end

#ifdef __cplusplus
}
#endif

#endif /* BLOSC_BLOSC2_BLOSC2_STDIO_H */

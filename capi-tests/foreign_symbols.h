/* Symbols of the program with the names of the code that the library embeds: they must neither clash with the library
   nor be called by it. */

#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOREIGN(name)                                     \
  void name(void);                                        \
  void name(void) {                                       \
    fprintf(stderr, "the library called the program's %s\n", #name); \
    abort();                                              \
  }

FOREIGN(ZSTD_compress)
FOREIGN(ZSTD_compress2)
FOREIGN(ZSTD_compressCCtx)
FOREIGN(ZSTD_createCCtx)
FOREIGN(ZSTD_createDCtx)
FOREIGN(ZSTD_decompress)
FOREIGN(ZSTD_decompressDCtx)
FOREIGN(ZSTD_freeCCtx)
FOREIGN(ZSTD_freeDCtx)
FOREIGN(ZSTD_isError)
FOREIGN(LZ4_compress_default)
FOREIGN(LZ4_compress_fast)
FOREIGN(LZ4_compress_fast_extState)
FOREIGN(LZ4_compress_HC)
FOREIGN(LZ4_compress_HC_extStateHC)
FOREIGN(LZ4_decompress_safe)
FOREIGN(libdeflate_alloc_compressor)
FOREIGN(libdeflate_alloc_decompressor)
FOREIGN(libdeflate_zlib_compress)
FOREIGN(libdeflate_zlib_decompress)
FOREIGN(snappy_compress)
FOREIGN(snappy_uncompress)
FOREIGN(XXH64)
FOREIGN(rust_eh_personality)

#ifdef __cplusplus
}
#endif

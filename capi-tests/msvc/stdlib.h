/* A part of the header of MSVC or of the Windows SDK: what blosc2.h uses. For tests/abi/headers/compile.rs. */
#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
void *malloc(size_t size);
void free(void *block);
__declspec(deprecated("This function may be unsafe: C4996.")) char *getenv(const char *name);
#ifdef __cplusplus
}
#endif

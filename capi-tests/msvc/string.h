/* A part of the header of MSVC or of the Windows SDK: what blosc2.h uses. For tests/abi/headers/compile.rs. */
#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
void *memcpy(void *to, const void *from, size_t size);
size_t strlen(const char *text);
int strcmp(const char *left, const char *right);
#ifdef __cplusplus
}
#endif

/* A part of the header of MSVC or of the Windows SDK: what blosc2.h uses. For tests/abi/headers/compile.rs. */
#pragma once
#include <stddef.h>
typedef struct _iobuf FILE;
#ifdef __cplusplus
extern "C" {
#endif
FILE *__acrt_iob_func(unsigned index);
int fprintf(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
#ifdef __cplusplus
}
#endif
#define stderr (__acrt_iob_func(2))

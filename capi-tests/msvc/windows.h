/* A part of the header of MSVC or of the Windows SDK: what blosc2.h uses. For tests/abi/headers/compile.rs. */
#pragma once
typedef void *HANDLE;
typedef unsigned long DWORD;
typedef union _LARGE_INTEGER {
  long long QuadPart;
} LARGE_INTEGER;
#define INVALID_HANDLE_VALUE ((HANDLE)(long long)-1)
#ifdef __cplusplus
extern "C" {
#endif
__declspec(dllimport) DWORD __stdcall GetEnvironmentVariableA(const char *name, char *value, DWORD size);
#ifdef __cplusplus
}
#endif

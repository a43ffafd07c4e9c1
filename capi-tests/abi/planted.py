"""Tests the comparison: makes one change to our headers at a time, and checks that exactly this difference is
reported.

    planted.py API DIR

API is `blosc2` or `blosc1`, and DIR contains its headers."""

import shutil
import sys
import tempfile

from compare import accepted, differences, judge
from facts import facts, library_facts, run

# For each API: a file, a text that occurs in it once, its replacement, and the prefixes of the differences that must be
# reported.
PLANTED = {"blosc2": [
    # Functions: the result type, an argument, const, a missing one, an additional one, a renamed inline function.
    ("blosc2.h", "int blosc2_compress(int clevel,", "int64_t blosc2_compress(int clevel,",
     ["other: function blosc2_compress = int (int, int, int32_t, void const *, int32_t, void *, int32_t); here int64_t ("]),
    ("blosc2.h", "void blosc2_init(void);", "void blosc2_init(int again);",
     ["other: function blosc2_init = void (void); here void (int)"]),
    ("blosc2.h", "const char *blosc2_error_string(int error_code);", "char *blosc2_error_string(int error_code);",
     ["other: function blosc2_error_string = char const * (int); here char * (int)"]),
    ("blosc2.h", "void blosc2_destroy(void);", "",
     ["missing: function blosc2_destroy = void (void)"]),
    ("blosc2.h", "void blosc2_destroy(void);", "void blosc2_destroy(void); int blosc2_more(void);",
     ["more: function blosc2_more = int (void)"]),
    ("blosc2.h", "static inline char *print_error(int rc)", "static char *print_code(int rc)",
     ["missing: function print_error = inline char * (int)", "more: function print_code = inline char * (int)"]),
    # Callbacks: the types of their parameters.
    ("blosc2.h", "typedef int (*blosc2_postfilter_fn)(blosc2_postfilter_params *", "typedef int (*blosc2_postfilter_fn)(void *",
     ["other: typedef blosc2_postfilter_fn = int (*)(blosc2_postfilter_params *); here int (*)(void *)"]),
    # Fields: another type of the same size, an additional field, a renamed field.
    ("blosc2.h", "  int32_t typesize;\n  /** Number of threads, the calling thread included; 1 and less", "  uint32_t typesize;\n  /** Number of threads, the calling thread included; 1 and less",
     ["other: field blosc2_cparams.typesize = int32_t at 8, 4 bytes; here uint32_t at 8, 4 bytes"]),
    ("b2nd.h", "struct chunk_cache_s {", "struct chunk_cache_s { int64_t before;",
     ["more: field chunk_cache_s.before", "other: field b2nd_array_t.", "other: field chunk_cache_s.data",
      "other: field chunk_cache_s.nchunk", "other: struct b2nd_array_t = 1376 bytes", "other: struct chunk_cache_s = 16"]),
    ("blosc2.h", "  blosc2_destroy_cb destroy;\n", "  blosc2_destroy_cb destroyed;\n",
     ["missing: field blosc2_io_cb.destroy = ", "more: field blosc2_io_cb.destroyed = "]),
    # Types: a tag that C code may use.
    ("blosc2.h", "typedef struct blosc2_schunk {", "typedef struct {", ["missing: tag blosc2_schunk = struct"]),
    # Constants: another value, a missing one; macros and their parameters.
    ("blosc2.h", "BLOSC_BITSHUFFLE = 2\n", "BLOSC_BITSHUFFLE = 3\n", ["other: enumerator BLOSC_BITSHUFFLE = 2; here 3"]),
    ("blosc2.h", "BLOSC_BITSHUFFLE = 2\n", "", ["missing: enumerator BLOSC_BITSHUFFLE = 2"]),
    ("blosc2.h", "#define BLOSC2_MAX_METALAYERS 16", "#define BLOSC2_MAX_METALAYERS 17",
     ["other: field blosc2_schunk.", "other: macro B2ND_MAX_METALAYERS", "other: macro BLOSC2_MAX_METALAYERS = int 16; here int 17",
      "other: struct blosc2_schunk"]),
    ("blosc2.h", "#define BLOSC_ZSTD_LIBNAME \"Zstd\"", "#define BLOSC_ZSTD_LIBNAME \"zstd\"",
     ['other: macro BLOSC_ZSTD_LIBNAME = text "Zstd"; here text "zstd"']),
    ("blosc2.h", "#define BLOSC_ERROR(rc)", "#define BLOSC_ERROR(rc, more)",
     ["other: macro BLOSC_ERROR = with 1 arguments; here with 2 arguments"]),
    ("blosc2.h", "  #define blosc_getitem blosc1_getitem", "  #define blosc_getitem blosc2_getitem",
     ["other: with BLOSC1_COMPAT: macro blosc_getitem = blosc1_getitem; here blosc2_getitem"]),
    # The value of a constant object.
    ("blosc2.h", "  5,                           /* clevel */", "  6,",
     ["other: value of BLOSC2_CPARAMS_DEFAULTS.clevel = 05; here 06"]),
    # A system header that a header includes.
    ("b2nd.h", '#include "blosc2.h"', '#include "blosc2.h"\n#include <math.h>', ["more: includes math.h = there"]),
], "blosc1": [
    ("blosc.h", "int blosc_getitem(const void *src, int start, int nitems, void *dest);",
     "int blosc_getitem(void *src, int start, int nitems, void *dest);",
     ["other: function blosc_getitem = int (void const *, int, int, void *); here int (void *, int, int, void *)"]),
    ("blosc.h", "BLOSC_EXPORT void blosc_set_splitmode(int splitmode);", "",
     ["missing: function blosc_set_splitmode = void (int)"]),
    # A macro of another type, with the same value.
    ("blosc.h", "BLOSC_MAX_TYPESIZE * sizeof(int)) / 3)", "BLOSC_MAX_TYPESIZE * (int)sizeof(int)) / 3)",
     ["other: macro BLOSC_MAX_BLOCKSIZE = unsigned long 715827542; here int 715827542"]),
    ("blosc.h", "#define BLOSC_ZLIB_LIB 3", "#define BLOSC_ZLIB_LIB 2",
     ["other: macro BLOSC_ZLIB_FORMAT = int 3; here int 2", "other: macro BLOSC_ZLIB_LIB = int 3; here int 2"]),
    # An additional system header.
    ("blosc.h", "#include <limits.h>", "#include <limits.h>\n#include <math.h>", ["more: includes math.h = there"]),
]}

# Lists of accepted differences, and the results of `judge` for the differences `missing: a = 1` and `more: ab = 2`.
LISTS = [
    ("", ["missing: a = 1", "more: ab = 2"], []),
    ("# A good reason.\nx missing: a = 1\n", ["more: ab = 2"], []),
    ("# A good reason.\nx,y missing: a*\nx m*: ab = 2\n", [], []),
    ("# A good reason.\ny missing: a = 1\n", ["missing: a = 1", "more: ab = 2"], []),
    ("# A good reason.\nx missing: a = 1\nx missing: b*\n", ["more: ab = 2"], ["missing: b*"]),
    ("# A good reason.\n\nx missing: a = 1\n", None, None),
]


def is_as_expected(told, expected):
    """Returns whether each line has an expected prefix, and each prefix occurs."""
    told = [line for line in told if " alone " not in line]
    return all(line.startswith(tuple(expected)) for line in told) and all(
        any(line.startswith(beginning) for line in told) for beginning in expected)


def check_lists():
    failed = 0
    for text, left, unmet in LISTS:
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            try:
                judged = judge("x", ["missing: a = 1", "more: ab = 2"], accepted(file.name))
            except SystemExit:
                judged = None, None
        if judged != (left, unmet):
            print(f"the list {text!r}: expected {left}, {unmet}, got {judged}")
            failed += 1
    return failed


def check_library():
    """Checks the facts about a shared object: functions, data, SONAME, and no hidden symbols."""
    with tempfile.TemporaryDirectory() as place:
        source = "int data = 1; int f(void) { return data; } static int g; __attribute__((visibility(\"hidden\"))) int h(void) { return g; }"
        run(["gcc", "-x", "c", "-shared", "-fPIC", "-nostdlib", "-Wl,-soname,libplanted.so.3", "-o", f"{place}/l.so", "-"], input=source)
        told = library_facts(f"{place}/l.so")
    expected = {"symbol data": "data", "symbol f": "function", "soname": "libplanted.so.3"}
    if told != expected:
        print(f"the library: expected {expected}, got {told}")
    return told != expected


def main():
    api, include = sys.argv[1:]
    failed = check_lists() + check_library()
    start = facts(api, [include])
    for name, before, after, expected in PLANTED[api]:
        with tempfile.TemporaryDirectory() as place:
            copy = f"{place}/include"
            shutil.copytree(include, copy)
            with open(f"{copy}/{name}") as file:
                text = file.read()
            if text.count(before) != 1:
                raise SystemExit(f"{name} has {before!r} {text.count(before)} times, expected once")
            with open(f"{copy}/{name}", "w") as file:
                file.write(text.replace(before, after))
            told = differences(start, facts(api, [copy]))
        if not is_as_expected(told, expected):
            print(f"planted {after!r} in {name}: expected {expected}, got {told}")
            failed += 1
    print(f"ABI guard: {len(PLANTED[api])} planted differences of {api}, {failed} failures", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

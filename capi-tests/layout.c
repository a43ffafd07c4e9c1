/* Prints the size of every public struct, the offset of every field and the value of every constant of the headers on
   the include path, in the form and order of abi-table.def, or of blosc2x-table.def if BLOSC2X is defined. The types of
   fields and callbacks are checked at compile time. tests/abi/layout.rs compares the output with the table. */

#include <stddef.h>
#include <stdio.h>

#include "b2nd.h"
#include "blosc2.h"
#include "blosc2/codecs-registry.h"
#include "blosc2/filters-registry.h"
#include "blosc2/tuners-registry.h"

#if defined(BLOSC2X)
  #include "blosc2/blosc2x.h"
  #define TABLE "blosc2x-table.def"
#else
  #define TABLE "abi-table.def"
#endif

#if defined(__GNUC__)
  #define SAME_TYPE(a, b) __builtin_types_compatible_p(a, b)
#else
  #define SAME_TYPE(a, b) 1
  #define __typeof__(x) int
#endif

#define SIZE(s, bytes)
#define FIELD(s, field, type, offset, bytes) \
  _Static_assert(SAME_TYPE(__typeof__(((s *)0)->field), type), #s "." #field ": expected the type " #type);
#define CALLBACK(name, type) _Static_assert(SAME_TYPE(name, type), #name ": expected the type " #type);
#define VALUE(name, value) _Static_assert(SAME_TYPE(__typeof__(name), int), #name ": expected the type int");
#define TEXT(name, text)
#include TABLE
#undef SIZE
#undef FIELD
#undef CALLBACK
#undef VALUE
#undef TEXT

_Static_assert(SAME_TYPE(struct blosc2_schunk, blosc2_schunk), "expected the name of the typedef as the tag");
_Static_assert(SAME_TYPE(struct blosc2_metalayer, blosc2_metalayer), "expected the name of the typedef as the tag");
_Static_assert(SAME_TYPE(struct blosc2_context_s *, blosc2_context *), "expected this tag for the opaque type");
_Static_assert(SAME_TYPE(struct blosc2_frame_s *, blosc2_frame *), "expected this tag for the opaque type");
_Static_assert(SAME_TYPE(struct b2nd_context_s *, b2nd_context_t *), "expected this tag for the opaque type");
_Static_assert(SAME_TYPE(struct timespec, blosc_timestamp_t), "expected struct timespec on Unix");

int main(void) {
#define SIZE(s, bytes) printf("SIZE(%s, %zu)\n", #s, sizeof(s));
#define FIELD(s, field, type, offset, bytes) \
  printf("FIELD(%s, %s, %zu, %zu)\n", #s, #field, offsetof(s, field), sizeof(((s *)0)->field));
#define CALLBACK(name, type)
#define VALUE(name, value) printf("VALUE(%s, %d)\n", #name, (int)(name));
#define TEXT(name, text) printf("TEXT(%s, \"%s\")\n", #name, name);
#include TABLE
  return 0;
}

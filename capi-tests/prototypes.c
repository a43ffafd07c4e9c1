/* Declares every function of the ABI again, with the prototypes of abi.md 2: a header with another declaration is a
   compile error. BLOSC2X adds those of the extensions, which the headers of C-Blosc2 do not have. */

#include "b2nd.h"
#include "blosc2.h"

#define PROTOTYPE(name, ...) __VA_ARGS__;
#include "prototypes.def"
#if defined(BLOSC2X)
  #include "blosc2/blosc2x.h"
  #include "blosc2x-prototypes.def"
#endif

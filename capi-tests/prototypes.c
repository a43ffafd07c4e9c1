/* Declares every function of the ABI again, with the prototypes of abi.md 2: a header with another declaration is a
   compile error. */

#include "b2nd.h"
#include "blosc2.h"

#define PROTOTYPE(name, ...) __VA_ARGS__;
#include "prototypes.def"

/* Declares every function of the ABI once more, as abi.md 2 has it: a header that declares one differently does
   not compile together with this. */

#include "b2nd.h"
#include "blosc2.h"

#define PROTOTYPE(name, ...) __VA_ARGS__;
#include "prototypes.def"

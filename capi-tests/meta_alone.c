/* Reads a b2nd metalayer with the inline function only: the program must link without the library (abi.md 16.9). */

#include "b2nd.h"

int main(void) {
  static const uint8_t smeta[] = {0x97, 0x00, 0x01, 0x91, 0xd3, 0, 0, 0, 0, 0, 0, 0, 5, 0x91, 0xd2, 0, 0,
                                  0,    3,    0x91, 0xd2, 0,    0, 0, 2, 0, 0xdb, 0, 0, 0, 3, 0x7c, 0x75, 0x31};
  int8_t ndim, format;
  int64_t shape[B2ND_MAX_DIM];
  int32_t chunkshape[B2ND_MAX_DIM], blockshape[B2ND_MAX_DIM];
  char *dtype;
  int used = b2nd_deserialize_meta_inline(smeta, (int32_t)sizeof smeta, &ndim, shape, chunkshape, blockshape,
                                          &dtype, &format);
  int good = used == 34 && ndim == 1 && shape[0] == 5 && chunkshape[0] == 3 && blockshape[0] == 2 &&
             format == 0 && strcmp(dtype, "|u1") == 0;
  free(dtype);
  return good ? 0 : 1;
}

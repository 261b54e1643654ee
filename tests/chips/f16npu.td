// The same with an array of f16: fewer numbers, each three bits finer.
#define HALVES
include "bf16npu.td"

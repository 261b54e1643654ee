// The same with a command that makes weights of codes of 8 bits and a palette of 256.
#define PALETTE
include "bf16npu.td"

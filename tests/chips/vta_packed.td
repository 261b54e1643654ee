// The same with weights of 4 bits two in a byte in the weight buffer, which a GEMM widens itself.
#define PACKED
include "vta.td"

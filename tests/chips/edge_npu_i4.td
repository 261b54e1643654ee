// The same with weights and parameters in a memory of their own, weights of 4 bits two in a byte.
#define FLASH
#define SMALL_CODES
include "edge_npu.td"

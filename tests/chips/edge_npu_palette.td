// The same with weights and parameters in a memory of their own, weights of 16 values as codes of 4 bits and a palette.
#define FLASH
#define PALETTE
include "edge_npu.td"

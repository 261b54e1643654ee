// The same with an array that widens weights of 4 bits: they lie two in a byte up to its registers.
#define FLASH
#define PACKED
#define NARROW_ARRAY
include "edge_npu.td"

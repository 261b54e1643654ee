// The same with weights and parameters in a memory of their own, and a command for weights of which two of four are not 0.
#define FLASH
#define TWO_OF_FOUR
include "edge_npu.td"

// The same with weights and parameters in a memory of their own.
#define FLASH
include "edge_npu.td"

// The same with weights of 4 bits two in a byte on the chip too, and a command that makes bytes of a tile of them for the array.
#define FLASH
#define PACKED
include "edge_npu.td"

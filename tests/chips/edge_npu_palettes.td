// The same with 64 palettes, of which a command names one: each block of columns of the array can have its own.
#define FLASH
#define PALETTE
#define MANY_PALETTES
include "edge_npu.td"

// The same with the table in a memory of the chip, where a mover brings all of it.
#define NEAR
#define GATHER
include "bf16npu.td"

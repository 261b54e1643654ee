// The same with an array of floats of 8 bits, OCP's E4M3: half of the bytes, and 4 bits less of each number than bf16.
#define BYTES
include "bf16npu.td"

// The same set up by writes to registers: what the array and the vector unit do stands in them, but for a few addresses.
#define IN_REGISTERS
include "tinynpu.td"

// The same with one stride in a command of the vector unit, for the rows that it reads and those that it writes.
#define ONE_STRIDE
include "tinynpu.td"

// The same with moves that complete in any order: tokens alone say what is there.
#define OUT_OF_ORDER
include "tinynpu.td"

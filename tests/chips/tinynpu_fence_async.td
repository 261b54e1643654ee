// The same with one list and fences, which are all that puts moves in order.
#define FENCES
#define OUT_OF_ORDER
include "tinynpu.td"

// The same with counters between neighbours alone: what moves and what computes vectors meet by way of the array's queue.
#define IN_A_LINE
include "tinynpu.td"

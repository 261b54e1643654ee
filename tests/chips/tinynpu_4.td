// The same with an array of 4x4 and vectors of 4.
#define FOUR_LANES
include "tinynpu.td"

// The same with one list and fences, where a command repeats those behind it.
#define FENCES
#define LOOPS
include "tinynpu.td"

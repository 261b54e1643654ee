// The same with semaphores in place of counters for pairs of queues: several queues give some, and several take one.
#define SEMAPHORES
include "tinynpu.td"

// The same with semaphores that several queues give: a unit waits for as many as make its operands.
#define SEMAPHORES
include "edge_npu.td"

// The same with one list of commands and fences.
#define FENCES
include "edge_npu.td"

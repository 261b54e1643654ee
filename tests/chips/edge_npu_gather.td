// The same with weights in a memory of their own and a command that gathers rows of a table there: embeddings of codes.
#define FLASH
#define GATHER
include "edge_npu.td"

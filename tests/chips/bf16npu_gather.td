// The same with a command that gathers rows of a table by their numbers: embeddings.
#define GATHER
include "bf16npu.td"

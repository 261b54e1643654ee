// edge_npu with codes of 0 to 255: see edge_npu.td
#define UNSIGNED
include "edge_npu.td"

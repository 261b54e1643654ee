// nvdla with atoms of 64 channels by 32 kernels: see nvdla.td
#define FULL
include "nvdla.td"

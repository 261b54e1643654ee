// The same with the paper's cube of 16 columns, and sums in fractals: see ascend.td
#define SIXTEEN
include "ascend.td"

// tpu_v1 whose activations are codes of 0 to 255: see tpu_v1.td
#define UNSIGNED
include "tpu_v1.td"

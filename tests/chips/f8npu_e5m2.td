// The same with OCP's E5M2: more exponents, a bit less of each number.
#define BYTES
#define WIDE_EXPONENT
include "bf16npu.td"

// Division of whole numbers that rounds down, where C's rounds towards 0.
#ifndef PB_BASE_DIVIDE_H
#define PB_BASE_DIVIDE_H

#include <stdint.h>

static inline int64_t pb_floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

#endif

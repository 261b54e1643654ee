#include "core/s3/kernel/parts.h"

pb_parts pb_parts_of(int64_t extent, int64_t most) {
  int64_t count = (extent + most - 1) / most, size = (extent + count - 1) / count;
  return (pb_parts){count, extent - count * (size - 1), size};
}

int64_t pb_largest_divisor(int64_t extent, int64_t most) {
  int64_t divisor = most < extent ? most : extent;
  while (divisor > 1 && extent % divisor) --divisor;
  return divisor;
}

int64_t pb_next_step(int64_t extent, int64_t last) {
  int64_t divisor = last > 1 ? pb_largest_divisor(extent, last - 1) : 0;
  if (divisor * 2 >= last) return divisor;
  for (int64_t step = last * 4 / 5; step > divisor; --step)
    if (pb_parts_of(extent, step).size == step) return step;
  return divisor;
}

#include "core/s3/kernel/border.h"

#include "core/s3/kernel/contraction_dims.h"

int pb_borders_of(const pb_value* value, pb_border* borders) {
  int count = 0;
  int64_t stride = 1;
  for (int r = value->rank - 1; r >= 0 && value->kind == PB_VALUE_INPUT; --r) {
    const int64_t* zeros = value->border[r];
    int64_t extent = value->shape[r];
    if (zeros[0] || zeros[1]) borders[count++] = (pb_border){stride, extent, zeros[0], extent - zeros[1]};
    stride *= extent;
  }
  return count;
}

bool pb_program_multiplies(const pb_program* p, int n, int value) {
  pb_contraction_dims roles;
  return pb_program_contraction_dims(p, n, &roles) &&
         (p->value_of[n][roles.x] == value || p->value_of[n][roles.w] == value);
}

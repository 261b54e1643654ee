#include "core/s3/relayout.h"

#include <string.h>

int pb_const_pack(pb_consts* consts, int source, const pb_access* access, const int64_t* nest_extent, int dim_count,
                  const pb_pack_dim* dims, const char* suffix, int shape_rank, const int64_t* shape) {
  pb_const from = consts->items[source];
  size_t size = (size_t)pb_type_bits(from.type) / 8;
  int64_t total = 1, counter[PB_NEST_RANK] = {0};
  for (int k = 0; k < dim_count; ++k) total *= dims[k].extent;
  char* data = pb_alloc(&consts->arena, (size_t)total * size);
  for (int64_t at = 0; at < total; ++at) {
    int64_t value[PB_NEST_DIMS] = {0};
    bool inside = true;
    for (int k = 0; k < dim_count; ++k) value[dims[k].dim] += counter[k] * dims[k].scale;
    for (int k = 0; k < dim_count; ++k) inside &= value[dims[k].dim] < nest_extent[dims[k].dim];
    if (inside) {
      int64_t offset = 0;
      for (int r = 0; r < access->rank; ++r) {
        int64_t index = access->index[r].cst;
        for (int d = 0; d < PB_NEST_DIMS; ++d) index += access->index[r].coef[d] * value[d];
        offset = offset * access->shape[r] + index;
      }
      memcpy(data + (size_t)at * size, (const char*)from.data + (size_t)offset * size, size);
    }
    for (int k = dim_count - 1; k >= 0 && ++counter[k] == dims[k].extent; --k) counter[k] = 0;
  }
  const char* name = pb_printf(&consts->arena, "%s.%s", from.name ? from.name : "", suffix);
  return pb_consts_add(consts, name, from.type, shape_rank, shape, data);
}

int pb_const_splat(pb_consts* consts, double value, int64_t lanes) {
  float number = (float)value;
  for (size_t k = 0; k < consts->count; ++k) {
    const pb_const* c = &consts->items[k];
    if (c->name && !strcmp(c->name, "splat") && c->shape[0] == lanes && !memcmp(c->data, &number, sizeof number))
      return (int)k;
  }
  float* data = pb_alloc(&consts->arena, (size_t)lanes * sizeof *data);
  for (int64_t k = 0; k < lanes; ++k) data[k] = number;
  return pb_consts_add(consts, "splat", PB_F32, 1, &lanes, data);
}

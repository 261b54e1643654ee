#include "core/s3/layout/pack.h"

#include <string.h>

int pb_const_pack(pb_consts* consts, int source, const pb_access* access, const int64_t* nest_extent, int dim_count,
                  const pb_pack_dim* dims, const char* suffix, int shape_rank, const int64_t* shape) {
  pb_pack pack = {.source = source, .dim_count = dim_count};
  int64_t stride = 1;
  for (int r = access->rank - 1; r >= 0; --r) {
    for (int d = 0; d < PB_NEST_DIMS; ++d) pack.stride[d] += access->index[r].coef[d] * stride;
    pack.base += access->index[r].cst * stride;
    stride *= access->shape[r];
  }
  for (int d = 0; d < PB_NEST_DIMS; ++d) pack.extent[d] = INT64_MAX;
  for (int k = 0; k < dim_count; ++k) {
    pack.dims[k].extent = dims[k].extent;
    pack.dims[k].scale = dims[k].scale;
    pack.dims[k].axis = dims[k].dim;
    pack.extent[dims[k].dim] = nest_extent[dims[k].dim];
  }
  const char* from = consts->items[source].name;
  const char* name = pb_printf(&consts->arena, "%s.%s", from ? from : "", suffix);
  return pb_consts_add_pack(consts, name, shape_rank, shape, &pack);
}

int pb_const_splat(pb_consts* consts, double value, int64_t lanes) {
  float number = (float)value;
  for (size_t k = 0; k < consts->count; ++k) {
    const pb_const* c = &consts->items[k];
    if (c->data && c->name && !strcmp(c->name, "splat") && c->shape[0] == lanes &&
        !memcmp(c->data, &number, sizeof number))
      return (int)k;
  }
  float* data = pb_alloc(&consts->arena, (size_t)lanes * sizeof *data);
  for (int64_t k = 0; k < lanes; ++k) data[k] = number;
  return pb_consts_add(consts, "splat", PB_F32, 1, &lanes, data);
}

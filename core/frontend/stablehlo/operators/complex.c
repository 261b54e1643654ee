// Complex numbers: two tensors each. Operators that treat both parts alike are made twice, by door.c; here is what they
// are brought together and taken apart by, and what needs both at once. Outside of the program they are pairs along one
// more dim, the last.
#include "core/frontend/stablehlo/door.h"

#include <string.h>

static const char* const by_parts[] = {"stablehlo.broadcast_in_dim",
                                       "stablehlo.dynamic_broadcast_in_dim",
                                       "stablehlo.reshape",
                                       "stablehlo.dynamic_reshape",
                                       "stablehlo.transpose",
                                       "stablehlo.slice",
                                       "stablehlo.reverse",
                                       "stablehlo.concatenate",
                                       "stablehlo.pad",
                                       "stablehlo.dynamic_slice",
                                       "stablehlo.dynamic_update_slice",
                                       "stablehlo.gather",
                                       "stablehlo.add",
                                       "stablehlo.subtract",
                                       "stablehlo.negate",
                                       "stablehlo.select",
                                       "stablehlo.constant",
                                       "chlo.constant",
                                       "stablehlo.reduce",
                                       "stablehlo.reduce_window",
                                       "stablehlo.scatter",
                                       NULL};

// Bodies whose parts do not meet.
static bool is_linear(const pb_flat_block* block) {
  for (int k = 0; k < block->op_count; ++k) {
    const char* name = block->ops[k].name;
    if (strcmp(name, "stablehlo.add") && strcmp(name, "stablehlo.subtract") && strcmp(name, "stablehlo.negate") &&
        strcmp(name, "stablehlo.return"))
      return false;
  }
  return true;
}

bool pb__door_by_parts(const pb_flat_op* op) {
  for (int r = 0; r < op->region_count; ++r)
    if (!is_linear(&op->regions[r])) return false;
  for (int k = 0; by_parts[k]; ++k)
    if (!strcmp(by_parts[k], op->name)) return true;
  return false;
}

// x's part as a value of its own: x[.., part] where x has pairs.
int pb__door_part(pb_door* d, int pairs, int part) {
  const pb_s1_value in = *pb_made(&d->m, pairs);
  int y = pb_make_value(&d->m, in.type, in.rank - 1, in.shape), dims[PB_NEST_RANK];
  pb_nest* n = pb_make_walk(&d->m, "copy", y, dims);
  int access = pb_make_access(&d->m, pairs);
  for (int r = 0; r + 1 < in.rank; ++r) pb_make_move(&d->m, access, r, dims[r], 1);
  n->access[access].index[in.rank - 1].cst = part;
  (void)pb_nest_load(n, access);
  pb_make_end(&d->m, y, dims);
  return y;
}

int pb__door_pairs(pb_door* d, pb_door_value v) {
  const pb_s1_value in = *pb_made(&d->m, v.value);
  int64_t shape[PB_NEST_RANK];
  int dims[PB_NEST_RANK];
  memcpy(shape, in.shape, sizeof shape);
  shape[in.rank] = 2;
  int y = pb_make_value(&d->m, in.type, in.rank + 1, shape);
  for (int part = 0; part < 2; ++part) {
    int x = part ? v.imaginary : v.value;
    pb_nest* n = pb_make_walk(&d->m, "copy", x, dims);
    pb_make_along(&d->m, pb_make_access(&d->m, x), dims);
    (void)pb_nest_load(n, 0);
    int to = pb_make_access(&d->m, y);
    for (int r = 0; r < in.rank; ++r) pb_make_move(&d->m, to, r, dims[r], 1);
    n->access[to].index[in.rank].cst = part;
    pb_make_finish(&d->m);
  }
  return y;
}

int pb__door_zeros(pb_door* d, int v) {
  static const int64_t zero = 0;
  const pb_s1_value like = *pb_made(&d->m, v);
  int y = pb_make_value(&d->m, like.type, like.rank, like.shape);
  pb__door_fill(d, y, pb_make_constant(&d->m, like.type, 0, NULL, &zero));
  return y;
}

pb_status pb__door_complex(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type *a = pb__door_type(d, op->operands[0]), *out = pb__door_type(d, op->results[0]);
  if (!out->is_complex || a->is_complex || a->type != out->type) return pb__door_refuse(d, op, "parts that do not fit");
  const pb_s1_value *re = pb_made(&d->m, pb__door_in(d, op, 0)), *im = pb_made(&d->m, pb__door_in(d, op, 1));
  if (re->type != im->type || re->rank != im->rank || memcmp(re->shape, im->shape, sizeof(int64_t) * (size_t)re->rank))
    return pb__door_refuse(d, op, "parts that do not fit");
  return pb__door_bind(d, op, op->results[0], (pb_door_value){pb__door_in(d, op, 0), pb__door_in(d, op, 1)});
}

pb_status pb__door_real(pb_door* d, const pb_flat_op* op) {
  return pb__door_bind(d, op, op->results[0], (pb_door_value){pb__door_in(d, op, 0), -1});
}

pb_status pb__door_imag(pb_door* d, const pb_flat_op* op) {
  pb_door_value x = pb__door_get(d, op->operands[0]);
  int part = x.imaginary >= 0 ? x.imaginary : pb__door_zeros(d, x.value);
  return pb__door_bind(d, op, op->results[0], (pb_door_value){part, -1});
}

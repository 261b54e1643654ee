// What combines many elements: reductions and windows, by any body.
#include "core/frontend/stablehlo/door.h"

#include <string.h>

// Sums and maxima that the planner knows by themselves: their order does not matter to it. Narrow floats round in each
// step, and a maximum of floats keeps NaN: those are bodies.
static pb_reduce known_reduction(const pb_flat_op* op, pb_type type) {
  const char* how = pb__door_combiner(op, 0);
  bool plain = type == PB_F32 || type == PB_F64 || (!pb_type_is_float(type) && type != PB_I1);
  if (plain && !strcmp(how, "stablehlo.add")) return PB_ACC_ADD;
  bool is_signed = type == PB_I8 || type == PB_I16 || type == PB_I32 || type == PB_I64;
  return is_signed && !strcmp(how, "stablehlo.maximum") ? PB_ACC_MAX : PB_ACC_BODY;
}

// The nest that is being made reads what y holds as well, in the last access, and combines both by the body.
static pb_status combine(pb_door* d, const pb_flat_op* op, int element, int y, const int* dims) {
  pb_nest* n = &d->m.nest;
  pb_type type = pb_made(&d->m, y)->type;
  n->reduce = known_reduction(op, type);
  if (n->reduce == PB_ACC_BODY) {
    int own = pb_make_access(&d->m, y), both[2], result;
    pb_make_along(&d->m, own, dims);
    both[0] = pb_scalar_load(n, own, type);
    both[1] = element;
    PB_TRY(pb__door_body(d, n, op, 0, both, &result));
    pb__door_last(d, result, type);
  } else {
    pb__door_last(d, element, type);
  }
  pb_make_end(&d->m, y, dims);
  return PB_OK;
}

static pb_status reduce_one(pb_door* d, const pb_flat_op* op, const bool* gone) {
  int x = pb__door_in(d, op, 0), y = pb__door_result(d, op, 0), access, dims[PB_NEST_RANK], kept[PB_NEST_RANK];
  const pb_s1_value in = *pb_made(&d->m, x);
  pb__door_fill(d, y, pb__door_in(d, op, 1));
  (void)pb_make_start(&d->m, "reduce");
  int r, to = 0;
  for (r = 0; r < in.rank; ++r)
    if (!gone[r]) kept[to++] = dims[r] = pb_make_loop(&d->m, in.shape[r]);
  for (r = 0; r < in.rank; ++r)
    if (gone[r]) dims[r] = pb_make_loop(&d->m, in.shape[r]);
  int element = pb__door_load(d, x, &access);
  if (access >= 0) pb_make_along(&d->m, access, dims);
  return combine(d, op, element, y, kept);
}

pb_status pb__door_reduce(pb_door* d, const pb_flat_op* op) {
  const pb_flat_attr* dims = pb_flat_find(op, "dimensions");
  const pb_flat_type* x = pb__door_type(d, op->operands[0]);
  bool gone[PB_NEST_RANK] = {false};
  int lost = 0;
  for (int k = 0; dims->ints && k < dims->count; ++k) {
    if (dims->ints[k] < 0 || dims->ints[k] >= x->rank || gone[dims->ints[k]])
      return pb__door_refuse(d, op, "dimensions that do not fit");
    gone[dims->ints[k]] = true;
    ++lost;
  }
  if (op->operand_count != 2 * op->result_count) return pb__door_refuse(d, op, "an initial value for each operand");
  if (pb__door_type(d, op->results[0])->rank != x->rank - lost)
    return pb__door_refuse(d, op, "a shape that does not fit");
  if (op->result_count != 1) return pb__door_refuse(d, op, "several results");
  return reduce_one(d, op, gone);
}

typedef struct window {
  const int64_t *size, *stride, *base, *dilation, *pad; // pad: low and high by dim
} window;

static pb_status read_window(pb_door* d, const pb_flat_op* op, const pb_s1_value* in, const pb_s1_value* out,
                             window* w) {
  *w =
      (window){pb__door_ints(d, op, "window_dimensions", in->rank, 1),
               pb__door_ints(d, op, "window_strides", in->rank, 1), pb__door_ints(d, op, "base_dilations", in->rank, 1),
               pb__door_ints(d, op, "window_dilations", in->rank, 1), pb__door_ints(d, op, "padding", 2 * in->rank, 0)};
  bool fits = w->size && w->stride && w->base && w->dilation && w->pad && in->rank == out->rank;
  for (int r = 0; fits && r < in->rank; ++r) {
    fits = w->size[r] > 0 && w->stride[r] > 0 && w->base[r] > 0 && w->dilation[r] > 0;
    if (!fits) break;
    int64_t all = (in->shape[r] - 1) * w->base[r] + 1 + w->pad[2 * r] + w->pad[2 * r + 1];
    fits = (all - ((w->size[r] - 1) * w->dilation[r] + 1)) / w->stride[r] + 1 == out->shape[r];
  }
  return fits ? PB_OK : pb__door_refuse(d, op, "a window that does not fit");
}

pb_status pb__door_reduce_window(pb_door* d, const pb_flat_op* op) {
  int x = pb__door_in(d, op, 0), y = pb__door_result(d, op, 0), dims[PB_NEST_RANK], inner[PB_NEST_RANK];
  const pb_s1_value in = *pb_made(&d->m, x), out = *pb_made(&d->m, y);
  window w;
  PB_TRY(read_window(d, op, &in, &out, &w));
  pb__door_fill(d, y, pb__door_in(d, op, 1));
  int outside = -1; // x with edges and gaps, when any window meets them
  bool padded = false;
  for (int r = 0; r < in.rank; ++r) padded |= w.pad[2 * r] || w.pad[2 * r + 1] || w.base[r] != 1;
  if (padded) PB_TRY(pb__door_padded(d, op, x, pb__door_in(d, op, 1), w.pad, w.base, &outside));
  (void)pb_make_start(&d->m, "reduce");
  int windows = 0;
  for (int r = 0; r < in.rank; ++r) dims[r] = pb_make_loop(&d->m, out.shape[r]);
  for (int r = 0; r < in.rank; ++r) windows += w.size[r] > 1;
  if (d->m.nest.dim_count + windows > PB_NEST_DIMS) return pb__door_refuse(d, op, "too many dimensions");
  for (int r = 0; r < in.rank; ++r) inner[r] = pb_make_loop(&d->m, w.size[r]);
  int access = pb_make_access(&d->m, padded ? outside : x);
  for (int r = 0; r < in.rank; ++r) {
    pb_make_move(&d->m, access, r, dims[r], w.stride[r]);
    pb_make_move(&d->m, access, r, inner[r], w.dilation[r]);
  }
  return combine(d, op, pb_scalar_load(&d->m.nest, access, in.type), y, dims);
}

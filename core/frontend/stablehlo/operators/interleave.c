// The sum of two tensors that have gaps of one element each, where the other has its elements: two tensors put together
// in turns, as prefix scans are written in JAX. Each is a nest of its own, which writes every second element:
//
//   pad(a, 0, high 1, gap 1) + pad(b, 0, low 1, gap 1)    y[2 i] = a[i] + 0;  y[2 i + 1] = b[i] + 0
//
// What would be padded is not made. The sums stay, for -0 + 0 is 0.
#include "core/frontend/stablehlo/door.h"

#include <string.h>

enum { STEP = 2 };

static bool is_zero(const void* bytes, pb_type type) {
  static const char zeros[16] = {0};
  return bytes && !memcmp(bytes, zeros, ((size_t)pb_type_bits(type) + 7) / 8);
}

// The dim along which the operator makes such gaps, *first the edge in front of it; -1: it is another, or does more.
static int gap_of(pb_door* d, const pb_flat_op* op, int64_t* first) {
  if (!op || strcmp(op->name, "stablehlo.pad") != 0 || op->operand_count != 2) return -1;
  const pb_s1_value *x = pb_made(&d->m, pb__door_in(d, op, 0)), *with = pb_made(&d->m, pb__door_in(d, op, 1));
  const int64_t* low = pb__door_ints(d, op, "edge_padding_low", x->rank, 0);
  const int64_t* high = pb__door_ints(d, op, "edge_padding_high", x->rank, 0);
  const int64_t* gap = pb__door_ints(d, op, "interior_padding", x->rank, 0);
  int dim = -1;
  if (!low || !high || !gap || x->type != with->type) return -1;
  for (int r = 0; r < x->rank; ++r) {
    bool has = low[r] || high[r] || gap[r];
    if (has && (dim >= 0 || gap[r] != STEP - 1 || low[r] < 0 || low[r] >= STEP || high[r] < 0 || high[r] >= STEP))
      return -1;
    if (has) dim = r;
  }
  if (dim < 0 || !is_zero(pb_made_splat(&d->m, pb__door_in(d, op, 1)), with->type)) return -1;
  *first = low[dim];
  return dim;
}

static pb_status put(pb_door* d, const pb_flat_op* op, const pb_flat_op* pad, int dim, int64_t first, int y) {
  int x = pb__door_in(d, pad, 0), dims[PB_NEST_RANK], nodes[2], node, none;
  pb_nest* n = pb_make_walk(&d->m, "point", x, dims);
  nodes[0] = pb__door_load(d, x, &none);
  if (none >= 0) pb_make_along(&d->m, none, dims);
  nodes[1] = pb__door_load(d, pb__door_in(d, pad, 1), &none);
  PB_TRY(pb__door_scalar(d, n, op, nodes, &node));
  pb__door_last(d, node, pb_made(&d->m, y)->type);
  int to = pb_make_access(&d->m, y);
  for (int r = 0; r < pb_made(&d->m, x)->rank; ++r) pb_make_move(&d->m, to, r, dims[r], r == dim ? STEP : 1);
  n->access[to].index[dim].cst = first;
  pb_make_finish(&d->m);
  return PB_OK;
}

pb_status pb__door_interleave(pb_door* d, const pb_flat_op* op, bool* made) {
  *made = false;
  if (!d->gaps || d->borders || strcmp(op->name, "stablehlo.add") != 0) return PB_OK;
  const pb_flat_op *a = pb__door_maker_of(d, op->operands[0]), *b = pb__door_maker_of(d, op->operands[1]);
  int64_t first_a, first_b;
  int dim = gap_of(d, a, &first_a);
  if (dim < 0 || dim != gap_of(d, b, &first_b) || first_a == first_b) return PB_OK;
  if (!pb__door_alike(d, op, 0, 0) || !pb__door_alike(d, op, 0, 1)) return PB_OK;
  int y = pb__door_result(d, op, 0);
  PB_TRY(put(d, op, a, dim, first_a, y));
  PB_TRY(put(d, op, b, dim, first_b, y));
  *made = true;
  return PB_OK;
}

// Places that loops or numbers say: one element of a tensor, and slices that begin there. Places outside of a tensor
// are the nearest inside; the languages leave them open.
#include "core/frontend/linalg/rows.h"

static int clamped(pb_nest* n, int place, int64_t most) {
  place = pb_nest_node(n, PB_OP_MAX, PB_I64, place, pb_nest_integer(n, PB_I64, 0));
  return pb_nest_node(n, PB_OP_MIN, PB_I64, place, pb_nest_integer(n, PB_I64, most));
}

pb_status pb__l_starts(pb_door* d, const pb_flat_op* op, int first, int rank, const int64_t* said, pb_l_start* starts) {
  int next = first;
  for (int r = 0; r < rank; ++r) {
    starts[r] = (pb_l_start){-1, said[r]};
    if (said[r] != PB_L_DYNAMIC) continue;
    if (next == op->operand_count) return pb__door_refuse(d, op, "a place that is missing");
    int v = d->value[op->operands[next++]];
    int64_t number;
    if (v < 0 || pb_made(&d->m, v)->rank || pb_made(&d->m, v)->type != PB_I64)
      return pb__door_refuse(d, op, "a place that is no index");
    starts[r] = pb__door_integers(d, v, 1, &number) == 1 ? (pb_l_start){-1, number} : (pb_l_start){v, 0};
  }
  return next == op->operand_count ? PB_OK : pb__door_refuse(d, op, "sizes or steps that come at run time");
}

bool pb__l_is_fixed(const pb_l_start* starts, int rank) {
  for (int r = 0; r < rank; ++r)
    if (starts[r].value >= 0) return false;
  return true;
}

// The place's number in the nest, kept so that `size` elements from there lie inside.
static int start_node(pb_door* d, pb_nest* n, const pb_l_start* s, int64_t size, int64_t extent) {
  int access;
  if (s->value < 0) return pb_nest_integer(n, PB_I64, s->number);
  return clamped(n, pb__door_load(d, s->value, &access), extent - size);
}

// y's dim dims[r] walks x's dim r, -1: the slice has one place there.
void pb__l_slice_at(pb_door* d, int x, int y, const pb_l_start* starts, const int64_t* size, const int64_t* step,
                    const int* of_y) {
  int dims[PB_NEST_RANK], flat = pb__door_flat(d, x), at = -1;
  const pb_s1_value in = *pb_made(&d->m, x);
  pb_nest* n = pb_make_walk(&d->m, "gather", y, dims);
  for (int r = 0; r < in.rank; ++r) {
    int place = start_node(d, n, &starts[r], (size[r] - 1) * step[r] + 1, in.shape[r]);
    if (of_y[r] >= 0 && dims[of_y[r]] >= 0) {
      int turn = pb__door_turn(n, dims[of_y[r]]);
      if (step[r] != 1) turn = pb_nest_node(n, PB_OP_MUL, PB_I64, turn, pb_nest_integer(n, PB_I64, step[r]));
      place = pb_nest_node(n, PB_OP_ADD, PB_I64, place, turn);
    }
    if (at >= 0) at = pb_nest_node(n, PB_OP_MUL, PB_I64, at, pb_nest_integer(n, PB_I64, in.shape[r]));
    at = at < 0 ? place : pb_nest_node(n, PB_OP_ADD, PB_I64, at, place);
  }
  int access = pb_make_access(&d->m, flat);
  (void)(at < 0 ? pb_nest_load(n, access) : pb_nest_gather(n, access, 0, pb__door_as_place(n, at)));
  pb_make_end(&d->m, y, dims);
}

// y is `into`, but for a box of `size` from the places on, which is x: dims of one element may be missing there.
void pb__l_put_at(pb_door* d, int x, int into, int y, const pb_l_start* starts, const int64_t* size) {
  int dims[PB_NEST_RANK], access, at = -1, inside = -1;
  const pb_s1_value out = *pb_made(&d->m, y);
  int flat = pb__door_flat(d, x);
  pb_nest* n = pb_make_walk(&d->m, "gather", y, dims);
  for (int r = 0; r < out.rank; ++r) {
    int place = start_node(d, n, &starts[r], size[r], out.shape[r]);
    int turn = dims[r] >= 0 ? pb__door_turn(n, dims[r]) : pb_nest_integer(n, PB_I64, 0);
    place = pb_nest_node(n, PB_OP_SUB, PB_I64, turn, place);
    int kept = clamped(n, place, size[r] - 1), is = pb_scalar_compare(n, PB_EQ, PB_I64, false, kept, place);
    inside = inside < 0 ? is : pb_nest_node(n, PB_OP_AND, n->expr[is].type, inside, is);
    if (at >= 0) at = pb_nest_node(n, PB_OP_MUL, PB_I64, at, pb_nest_integer(n, PB_I64, size[r]));
    at = at < 0 ? kept : pb_nest_node(n, PB_OP_ADD, PB_I64, at, kept);
  }
  access = pb_make_access(&d->m, flat);
  int new = at < 0 ? pb_nest_load(n, access) : pb_nest_gather(n, access, 0, pb__door_as_place(n, at));
  new = pb_scalar_decoded(n, new, out.type);
  int old = pb__door_load(d, into, &access);
  if (access >= 0) pb_make_along(&d->m, access, dims);
  pb__door_store(d, inside < 0 ? new : pb_scalar_select(n, inside, new, old), y, dims);
}

// ---- rows ----

static pb_status index_operands(pb_door* d, const pb_flat_op* op, int first, int rank, pb_l_start* starts) {
  int64_t said[PB_NEST_RANK];
  for (int r = 0; r < rank; ++r) said[r] = PB_L_DYNAMIC;
  if (op->operand_count != first + rank) return pb__door_refuse(d, op, "a place for each dimension");
  return pb__l_starts(d, op, first, rank, said, starts);
}

pb_status pb__l_op_insert(pb_door* d, const pb_flat_op* op) {
  static const int64_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
  int x, into;
  pb_l_start starts[PB_NEST_RANK];
  PB_TRY(pb__l_in(d, op, 0, &x));
  into = d->value[op->operands[1]];
  const pb_s1_value of = *pb_made(&d->m, into);
  if (pb_made(&d->m, x)->rank || pb_made(&d->m, x)->type != of.type)
    return pb__door_refuse(d, op, "not one number of the tensor's type");
  if (!pb__l_same_shape(pb__door_type(d, op->operands[1]), pb__door_type(d, op->results[0])) ||
      pb__l_type(d, op->results[0]) != of.type)
    return pb__door_refuse(d, op, "a result of another type");
  PB_TRY(index_operands(d, op, 2, of.rank, starts));
  PB_TRY(pb__l_in(d, op, 1, &into));
  pb__l_put_at(d, x, into, pb__l_result(d, op, 0), starts, ones);
  return PB_OK;
}

pb_status pb__l_op_extent(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type* x = pb__door_type(d, op->operands[0]);
  int64_t dim, *number = PB_NEW(&d->m.consts->arena, int64_t);
  if (pb__door_integers(d, d->value[op->operands[1]], 1, &dim) != 1 || dim < 0 || dim >= x->rank)
    return pb__door_refuse(d, op, "of a dim that is not known");
  *number = x->shape[dim];
  d->value[op->results[0]] = pb_make_constant(&d->m, PB_I64, 0, NULL, number);
  return PB_OK;
}

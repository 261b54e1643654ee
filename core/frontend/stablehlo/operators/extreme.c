// Where the largest number of a row or column stands, or the least one (argmax and its kin, which carry a number and
// its place by a body that compares both): the number by itself, then the first place that has it, so that lanes
// compare and nothing is carried from one element to the next.
//
//   most = max(x);  place = n - 1 - max(x == most || x != x ? n - 1 - k : -1)         NaN is the largest and the least
#include "core/frontend/stablehlo/write_out.h"

#include <math.h>
#include <string.h>

typedef struct extreme {
  pb_writer w;
  int axis;
  bool largest, is_float;
  pb_flat_type type;
} extreme;

static bool is_known(pb_type type) {
  return type == PB_F32 || type == PB_F64 || type == PB_I8 || type == PB_I16 || type == PB_I32;
}

// The type in which its numbers are compared: of truths and of what has no sign one that has a sign and all of them.
static pb_type compared_as(pb_type type) {
  return type == PB_I1 ? PB_I8 : type == PB_UI8 ? PB_I16 : type == PB_UI16 ? PB_I32 : type;
}

// Whether the value is the number of its element along the axis.
static bool counts(pb_door* d, int value, int axis) {
  const pb_flat_op* made = pb__door_maker_of(d, value);
  if (made && !strcmp(made->name, "stablehlo.broadcast_in_dim")) {
    const int64_t* along = pb__door_ints(d, made, "broadcast_dimensions", 1, -1);
    bool one = pb__door_type(d, made->operands[0])->rank == 1;
    if (!one || !along || along[0] != axis || pb__door_type(d, made->operands[0])->shape[0] == 1) return false;
    made = pb__door_maker_of(d, made->operands[0]);
    axis = 0;
  }
  return made && !strcmp(made->name, "stablehlo.iota") && pb__door_int(made, "iota_dimension", -1) == axis;
}

// The lowest number of the type, or the highest, as its bytes.
static int64_t end_of(pb_type type, bool highest) {
  int64_t bytes = 0;
  double infinity = highest ? (double)INFINITY : -(double)INFINITY;
  float narrow = (float)infinity;
  if (type == PB_I1 || type == PB_UI8 || type == PB_UI16) return highest ? ((int64_t)1 << pb_type_bits(type)) - 1 : 0;
  if (type == PB_F64) return memcpy(&bytes, &infinity, sizeof infinity), bytes;
  if (type == PB_F32) return memcpy(&bytes, &narrow, sizeof narrow), bytes;
  int64_t most = ((int64_t)1 << (pb_type_bits(type) - 1)) - 1;
  return highest ? most : -most - 1;
}

// Whether a reduction begins with the worst number of all at place 0, which is then the result of elements like it.
static bool begins_at_end(pb_door* d, const pb_flat_op* op, bool largest) {
  pb_type type = pb__door_type(d, op->operands[0])->type;
  const void* first = pb_made_splat(&d->m, pb__door_in(d, op, 2));
  int64_t end = end_of(type, !largest), place;
  return first && !memcmp(first, &end, (size_t)(pb_type_bits(type) + 7) / 8) &&
         pb__door_integers(d, pb__door_in(d, op, 3), 1, &place) == 1 && !place;
}

static int number(extreme* e, pb_type type, int64_t bytes) {
  int64_t* kept = PB_NEW_ARRAY(&e->w.d->m.program->arena, int64_t, 1);
  *kept = bytes;
  pb_flat_type scalar = pb__write_shaped(e->type, 0, NULL);
  scalar.type = type;
  return pb__write_constant(&e->w, scalar, kept);
}

// The scalar as a tensor of x's shape; what has lost the axis, all along it.
static int spread(extreme* e, int from) {
  pb_flat_type type = e->type, in = pb__write_type(&e->w, from);
  int64_t dims[PB_FLAT_RANK];
  for (int r = 0; r < in.rank; ++r) dims[r] = r < e->axis ? r : r + 1;
  const pb_flat_attr along = pb__write_ints(&e->w, "broadcast_dimensions", in.rank, dims);
  type.type = in.type;
  return pb__write(&e->w, "stablehlo.broadcast_in_dim", type, 1, &from, 1, &along);
}

static int reduced(extreme* e, const char* by, int x, int first) {
  pb_flat_type in = pb__write_type(&e->w, x), type = in, scalar = pb__write_shaped(in, 0, NULL);
  int64_t axis = e->axis;
  type.rank = 0;
  for (int r = 0; r < in.rank; ++r)
    if (r != e->axis) type.shape[type.rank++] = in.shape[r];
  const pb_flat_attr dims = pb__write_ints(&e->w, "dimensions", 1, &axis);
  const pb_flat_block body = pb__write_combiner(&e->w, by, scalar);
  return pb__write_by(&e->w, "stablehlo.reduce", type, 2, (const int[]){x, first}, 1, &dims, 1, &body);
}

// The places along the axis, from the last one on: extent - 1, ..., 1, 0.
static int places_from_end(extreme* e) {
  pb_door* d = e->w.d;
  int64_t extent = e->type.shape[e->axis];
  int dims[PB_NEST_RANK], made = pb_make_value(&d->m, PB_I32, 1, &extent);
  pb_nest* n = pb_make_walk(&d->m, "point", made, dims);
  int last = pb_nest_integer(n, PB_I32, extent - 1);
  int at = pb_nest_node(n, PB_OP_TRUNC, PB_I32, pb__door_turn(n, dims[0]), -1);
  (void)pb_nest_node(n, PB_OP_SUB, PB_I32, last, at);
  pb_make_end(&d->m, made, dims);
  return made;
}

// The largest of those places at which x, or -x, is the most: all in one nest, so that nothing is stored between.
static int first_of(extreme* e, int x, int most, pb_op turned) {
  pb_door* d = e->w.d;
  int from = pb__door_get(d, x).value, limit = pb__door_get(d, most).value, places = places_from_end(e);
  const pb_s1_value in = *pb_made(&d->m, from), lead = *pb_made(&d->m, limit);
  int best = pb_make_value(&d->m, PB_I32, lead.rank, lead.shape), dims[PB_NEST_RANK], all[PB_NEST_RANK], to = 0;
  (void)pb_make_walk(&d->m, "init", best, dims);
  (void)pb_nest_integer(&d->m.nest, PB_I32, -1);
  pb_make_end(&d->m, best, dims);
  pb_nest* n = pb_make_walk(&d->m, "reduce", best, dims);
  int along = pb_make_loop(&d->m, in.shape[e->axis]);
  for (int r = 0; r < in.rank; ++r) all[r] = r == e->axis ? along : dims[to++];
  int element = pb_make_access(&d->m, from), bound = pb_make_access(&d->m, limit), at = pb_make_access(&d->m, places);
  pb_make_along(&d->m, element, all);
  pb_make_along(&d->m, bound, dims);
  pb_make_move(&d->m, at, 0, along, 1);
  int v = pb_nest_load(n, element), key = turned == PB_OP_NEG ? pb_nest_node(n, PB_OP_NEG, in.type, v, -1) : v;
  if (turned == PB_OP_XOR) key = pb_nest_node(n, PB_OP_XOR, in.type, v, pb_nest_integer(n, in.type, -1));
  int is = pb_nest_node(n, PB_OP_EQUAL, PB_I1, key, pb_nest_load(n, bound));
  if (e->is_float) {
    int number = pb_nest_node(n, PB_OP_EQUAL, PB_I1, v, v);
    is = pb_nest_node(n, PB_OP_OR, PB_I1, is, pb_nest_node(n, PB_OP_XOR, PB_I1, number, pb_nest_integer(n, PB_I1, 1)));
  }
  int place = pb_nest_load(n, at), none = pb_nest_integer(n, PB_I32, -1);
  (void)pb__door_chosen(n, is, place, none);
  n->reduce = PB_ACC_MAX;
  pb_make_end(&d->m, best, dims);
  pb_flat_type type = pb__write_type(&e->w, most);
  type.type = PB_I32;
  return pb__write_given(&e->w, type, (pb_door_value){best, -1});
}

// The first place of the extreme, as i32. The least number is the largest of the others' negatives.
static int place_of(extreme* e, int x) {
  pb_op turned = e->largest ? PB_OP_LOAD : e->is_float ? PB_OP_NEG : PB_OP_XOR;
  int key = e->largest ? x : pb__write_unary(&e->w, e->is_float ? "stablehlo.negate" : "stablehlo.not", x);
  int most = reduced(e, "stablehlo.maximum", key, number(e, e->type.type, end_of(e->type.type, false)));
  if (e->w.status != PB_OK) return most;
  int best = first_of(e, x, most, turned), last = number(e, PB_I32, e->type.shape[e->axis] - 1);
  const pb_flat_attr nowhere = pb__write_ints(&e->w, "broadcast_dimensions", 0, NULL);
  int lasts = pb__write(&e->w, "stablehlo.broadcast_in_dim", pb__write_type(&e->w, best), 1, &last, 1, &nowhere);
  return pb__write_binary(&e->w, "stablehlo.subtract", lasts, best);
}

// What lies at that place, to the bit: of zeros of both signs the first one counts.
static int at_place(extreme* e, int x, int places, int place) {
  int worst = number(e, e->type.type, end_of(e->type.type, !e->largest));
  int all = spread(e, worst), at = spread(e, place);
  int there = pb__write_chosen(&e->w, pb__write_compared(&e->w, "EQ", places, at), x, all);
  return reduced(e, e->largest ? "stablehlo.maximum" : "stablehlo.minimum", there, worst);
}

pb_status pb__door_extreme(pb_door* d, const pb_flat_op* op, const bool* gone, bool* made) {
  *made = false;
  if (!pb__door_makes_code(d) || d->open || d->m.consts->open || op->result_count != 2) return PB_OK;
  extreme e = {.axis = -1, .type = *pb__door_type(d, op->operands[0])};
  pb_type counted = pb__door_type(d, op->operands[1])->type;
  int dims = 0;
  for (int r = 0; r < e.type.rank; ++r) {
    if (gone[r]) e.axis = r;
    dims += gone[r];
  }
  if (dims != 1 || e.type.is_complex || !is_known(compared_as(e.type.type)) || (counted != PB_I32 && counted != PB_I64))
    return PB_OK;
  if (e.type.shape[e.axis] < 1 || e.type.shape[e.axis] > INT32_MAX || !counts(d, op->operands[1], e.axis)) return PB_OK;
  e.is_float = pb_type_is_float(e.type.type);
  e.largest = pb__door_keeps_place(op, e.is_float, true);
  if (!e.largest && !pb__door_keeps_place(op, e.is_float, false)) return PB_OK;
  if (!begins_at_end(d, op, e.largest)) return PB_OK;
  pb_type given = e.type.type;
  e.w = pb__write_start(d, op);
  int x = op->operands[0];
  e.type.type = compared_as(given);
  if (e.type.type != given) x = pb__write_converted(&e.w, x, e.type.type);
  int places = pb__write_converted(&e.w, op->operands[1], PB_I32), place = place_of(&e, x);
  int best = at_place(&e, x, places, place);
  if (e.type.type != given) best = pb__write_converted(&e.w, best, given);
  pb__write_result(&e.w, 0, best);
  pb__write_result(&e.w, 1, pb__write_converted(&e.w, place, counted));
  *made = true;
  return pb__write_end(&e.w);
}

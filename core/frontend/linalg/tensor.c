// Tensors in other shapes and places, numbers and constants.
#include "core/frontend/linalg/rows.h"

#include <string.h>

pb_type pb__l_type(const pb_door* d, int flat_value) {
  pb_type type = pb__door_type(d, flat_value)->type;
  return type == PB_INDEX ? PB_I64 : type;
}

pb_status pb__l_in(pb_door* d, const pb_flat_op* op, int k, int* value) {
  *value = d->value[op->operands[k]];
  if (*value < 0) return pb__door_refuse(d, op, "an operand that is made elsewhere");
  return d->filled[op->operands[k]] == -2 ? pb__door_refuse(d, op, "it reads a tensor.empty") : PB_OK;
}

int pb__l_result(pb_door* d, const pb_flat_op* op, int k) {
  const pb_flat_type* type = pb__door_type(d, op->results[k]);
  return d->value[op->results[k]] = pb_make_value(&d->m, pb__l_type(d, op->results[k]), type->rank, type->shape);
}

bool pb__l_is_constant(const pb_door* d, int value) { return value >= 0 && pb_made(&d->m, value)->const_id >= 0; }

// ---- what is there from the beginning ----

pb_status pb__l_op_empty(pb_door* d, const pb_flat_op* op) {
  if (pb__door_type(d, op->results[0])->is_element) return pb__door_refuse(d, op, "a result that is no tensor");
  (void)pb__l_result(d, op, 0);
  d->filled[op->results[0]] = -2;
  return PB_OK;
}

pb_status pb__l_op_constant(pb_door* d, const pb_flat_op* op) {
  const pb_flat_attr* value = pb_flat_find(op, "value");
  const pb_flat_type* type = pb__door_type(d, op->results[0]);
  if (value->kind == PB_FLAT_INT && type->is_element && !pb_type_is_float(type->type)) {
    int64_t* number = pb_alloc(&d->m.consts->arena, sizeof *number); // its low bytes
    *number = type->type == PB_I1 ? value->i & 1 : value->i;
    d->value[op->results[0]] = pb_make_constant(&d->m, pb__l_type(d, op->results[0]), 0, NULL, number);
    return PB_OK;
  }
  if (value->kind == PB_FLAT_TEXT && !strncmp(value->text, "dense_resource", 14))
    return pb__door_refuse(d, op, "%.200s: the file has no such blob, or one of another size", value->text);
  if (value->kind != PB_FLAT_TENSOR) return pb__door_refuse(d, op, "a value that is not dense numbers");
  return pb__door_constant(d, op);
}

pb_status pb__l_op_assert(pb_door* d, const pb_flat_op* op) {
  (void)d;
  (void)op;
  return PB_OK;
}

void pb__l_fill_empty(pb_door* d, int flat_value) {
  if (d->filled[flat_value] != -2) return;
  const pb_s1_value like = *pb_made(&d->m, d->value[flat_value]);
  void* zero = pb_alloc(&d->m.consts->arena, 16);
  memset(zero, 0, 16);
  d->filled[flat_value] = pb_make_constant(&d->m, like.type, 0, NULL, zero);
  pb__door_fill(d, d->value[flat_value], d->filled[flat_value]);
}

// ---- shapes ----

bool pb__l_same_shape(const pb_flat_type* a, const pb_flat_type* b) {
  return a->rank == b->rank && !memcmp(a->shape, b->shape, sizeof(int64_t) * (size_t)a->rank);
}

pb_status pb__l_op_cast(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type *x = pb__door_type(d, op->operands[0]), *y = pb__door_type(d, op->results[0]);
  if (x->type != y->type || x->is_element || y->is_element || !pb__l_same_shape(x, y))
    return pb__door_refuse(d, op, "to another shape or type");
  d->value[op->results[0]] = d->value[op->operands[0]];
  d->filled[op->results[0]] = d->filled[op->operands[0]];
  return PB_OK;
}

pb_status pb__l_op_bits(pb_door* d, const pb_flat_op* op) {
  int x;
  PB_TRY(pb__l_in(d, op, 0, &x));
  if (pb_type_bits(pb__l_type(d, op->operands[0])) != pb_type_bits(pb__l_type(d, op->results[0])))
    return pb__door_refuse(d, op, "of another number of bits");
  return pb__door_bitcast_convert(d, op);
}

pb_status pb__l_op_reshape(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type* y = pb__door_type(d, op->results[0]);
  int x = d->value[op->operands[0]], filled = d->filled[op->operands[0]];
  int64_t elements = 1;
  for (int r = 0; r < y->rank; ++r) elements *= y->shape[r];
  if (y->is_element || pb__door_type(d, op->operands[0])->is_element || elements != pb_made_elements(&d->m, x) ||
      pb_made(&d->m, x)->type != y->type)
    return pb__door_refuse(d, op, "another number of elements, or another type");
  const pb_s1_value in = *pb_made(&d->m, x);
  d->filled[op->results[0]] = filled;
  if (filled == -2)
    (void)pb__l_result(d, op, 0);
  else if (pb__l_is_constant(d, x))
    d->value[op->results[0]] =
        pb_make_constant(&d->m, in.type, y->rank, y->shape, d->m.consts->items[in.const_id]->data);
  else
    d->value[op->results[0]] = pb__door_copy(d, x, y->rank, y->shape);
  return PB_OK;
}

// ---- slices ----

// Places of a slice in a tensor of rank `rank`; dims of one element that the slice's tensor lacks are -1 in `dims`.
typedef struct slice {
  int64_t from[PB_NEST_RANK];
  const int64_t *size, *step;
  int dim[PB_NEST_RANK]; // of the tensor that is the slice
  pb_l_start starts[PB_NEST_RANK];
  bool fixed; // all of `from` is known
} slice;

// NULL: they are none.
static const int64_t* places(const pb_flat_op* op, const char* name, int rank) {
  const pb_flat_attr* a = pb_flat_find(op, name);
  if (!a || !a->ints || a->count != rank) return NULL;
  for (int r = 0; r < rank; ++r)
    if (a->ints[r] != PB_L_DYNAMIC && (a->ints[r] < 0 || a->ints[r] > INT32_MAX)) return NULL;
  return a->ints;
}

static pb_status read_slice(pb_door* d, const pb_flat_op* op, const pb_flat_type* whole, const pb_flat_type* part,
                            int first, slice* s) {
  const int64_t* from = places(op, "static_offsets", whole->rank);
  s->size = pb__door_ints(d, op, "static_sizes", whole->rank, 0);
  s->step = pb__door_ints(d, op, "static_strides", whole->rank, 1);
  if (!from || !s->size || !s->step) return pb__door_refuse(d, op, "places that are not known");
  PB_TRY(pb__l_starts(d, op, first, whole->rank, from, s->starts));
  s->fixed = pb__l_is_fixed(s->starts, whole->rank);
  for (int r = 0; r < whole->rank; ++r) s->from[r] = s->starts[r].number;
  int missing = whole->rank - part->rank, at = 0;
  bool fits = missing >= 0 && whole->type == part->type && !whole->is_element && !part->is_element;
  for (int r = 0; fits && r < whole->rank; ++r) {
    fits = s->from[r] >= 0 && s->size[r] > 0 && s->step[r] > 0 &&
           s->from[r] + (s->size[r] - 1) * s->step[r] < whole->shape[r];
    bool taken = at < part->rank && part->shape[at] == s->size[r];
    bool dropped = s->size[r] == 1 && missing > 0 && (!taken || whole->rank - r > part->rank - at);
    if (taken && dropped) { // of equal ones the later goes where the rest fits as it is
      bool rest = whole->rank - r - 1 >= part->rank - at;
      for (int q = 0; rest && q < part->rank - at && whole->rank - r - 1 == part->rank - at; ++q)
        rest = s->size[r + 1 + q] == part->shape[at + q];
      dropped = rest;
    }
    missing -= dropped;
    s->dim[r] = dropped ? -1 : at++;
    fits = fits && (dropped || taken);
  }
  return fits && at == part->rank ? PB_OK : pb__door_refuse(d, op, "a slice that does not fit");
}

pb_status pb__l_op_extract_slice(pb_door* d, const pb_flat_op* op) {
  int x, dims[PB_NEST_RANK];
  slice s;
  PB_TRY(read_slice(d, op, pb__door_type(d, op->operands[0]), pb__door_type(d, op->results[0]), 1, &s));
  if (d->filled[op->operands[0]] == -2) return pb__l_op_empty(d, op);
  PB_TRY(pb__l_in(d, op, 0, &x));
  int y = pb__l_result(d, op, 0);
  d->filled[op->results[0]] = d->filled[op->operands[0]];
  if (!s.fixed) {
    pb__l_slice_at(d, x, y, s.starts, s.size, s.step, s.dim);
    return PB_OK;
  }
  pb_nest* n = pb_make_walk(&d->m, "copy", y, dims);
  int access = pb_make_access(&d->m, x);
  for (int r = 0; r < pb_made(&d->m, x)->rank; ++r) {
    if (s.dim[r] >= 0) pb_make_move(&d->m, access, r, dims[s.dim[r]], s.step[r]);
    n->access[access].index[r].cst = s.from[r];
  }
  (void)pb_nest_load(n, access);
  pb_make_end(&d->m, y, dims);
  return PB_OK;
}

// With steps: each element of the result looks for its own, which StableHLO's pad does.
static pb_status insert_apart(pb_door* d, const pb_flat_op* op, int x, int filled, const slice* s) {
  const pb_flat_type* y = pb__door_type(d, op->results[0]);
  int64_t edges[2 * PB_NEST_RANK], shape[PB_NEST_RANK];
  if (filled < 0) return pb__door_refuse(d, op, "with steps into what has other numbers than one");
  for (int r = 0; r < y->rank; ++r) {
    shape[r] = s->size[r];
    edges[2 * r] = s->from[r];
    edges[2 * r + 1] = y->shape[r] - s->from[r] - ((s->size[r] - 1) * s->step[r] + 1);
  }
  if (pb_made(&d->m, x)->rank != y->rank) x = pb__door_copy(d, x, y->rank, shape);
  return pb__door_padded(d, op, x, filled, edges, s->step, &d->value[op->results[0]]);
}

// From places on that come at run time.
static pb_status insert_at(pb_door* d, const pb_flat_op* op, int x, bool apart, const slice* s) {
  int into;
  if (apart) return pb__door_refuse(d, op, "with steps, from a place that comes at run time");
  PB_TRY(pb__l_in(d, op, 1, &into));
  pb__l_put_at(d, x, into, pb__l_result(d, op, 0), s->starts, s->size);
  return PB_OK;
}

pb_status pb__l_op_insert_slice(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type *to = pb__door_type(d, op->operands[1]), *out = pb__door_type(d, op->results[0]);
  int x, into = d->value[op->operands[1]], filled = d->filled[op->operands[1]], dims[PB_NEST_RANK];
  slice s;
  bool covers = true, apart = false;
  if (to->type != out->type || !pb__l_same_shape(to, out)) return pb__door_refuse(d, op, "a result of another type");
  PB_TRY(read_slice(d, op, to, pb__door_type(d, op->operands[0]), 2, &s));
  PB_TRY(pb__l_in(d, op, 0, &x));
  for (int r = 0; r < to->rank; ++r) {
    covers &= s.size[r] == to->shape[r];
    apart |= s.step[r] != 1 && s.size[r] > 1;
  }
  if (!covers && filled == -2) {
    pb__l_fill_empty(d, op->operands[1]);
    filled = d->filled[op->operands[1]];
  }
  if (!s.fixed) return insert_at(d, op, x, apart, &s);
  if (apart) return insert_apart(d, op, x, filled, &s);
  int y = pb__l_result(d, op, 0);
  pb__door_surround(d, into, filled, y, s.from, s.size);
  pb_nest* n = pb_make_walk(&d->m, "copy", x, dims);
  pb_make_along(&d->m, pb_make_access(&d->m, x), dims);
  (void)pb_nest_load(n, 0);
  int access = pb_make_access(&d->m, y);
  for (int r = 0; r < out->rank; ++r) {
    if (s.dim[r] >= 0) pb_make_move(&d->m, access, r, dims[s.dim[r]], 1);
    n->access[access].index[r].cst = s.from[r];
  }
  pb_make_finish(&d->m);
  return PB_OK;
}

// ---- edges ----

// What its body yields: a number from outside, or one that the body says.
static pb_status pad_number(pb_door* d, const pb_flat_op* op, int* with) {
  const pb_flat_block* body = op->region_count == 1 ? &op->regions[0] : NULL;
  const pb_flat_op* end = body && body->op_count ? &body->ops[body->op_count - 1] : NULL;
  if (!end || strcmp(end->name, "tensor.yield") || end->operand_count != 1)
    return pb__door_refuse(d, op, "its body is missing");
  for (int k = 0; k + 1 < body->op_count; ++k) {
    if (strcmp(body->ops[k].name, "arith.constant") != 0)
      return pb__door_refuse(d, &body->ops[k], "in what tensor.pad pads with: one number is taken");
    PB_TRY(pb__door_op(d, &body->ops[k]));
  }
  *with = d->value[end->operands[0]];
  if (*with < 0 || pb_made(&d->m, *with)->rank || pb_made(&d->m, *with)->type != pb__door_type(d, op->results[0])->type)
    return pb__door_refuse(d, op, "edges that are not one number");
  return PB_OK;
}

pb_status pb__l_op_pad(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type *in = pb__door_type(d, op->operands[0]), *out = pb__door_type(d, op->results[0]);
  const int64_t *low = places(op, "static_low", in->rank), *high = places(op, "static_high", in->rank);
  int64_t said[2 * PB_NEST_RANK];
  pb_l_start edge[2 * PB_NEST_RANK];
  int64_t edges[2 * PB_NEST_RANK], step[PB_NEST_RANK];
  int with = -1, x;
  if (!low || !high) return pb__door_refuse(d, op, "edges that are not known");
  for (int r = 0; r < 2 * in->rank; ++r) said[r] = r < in->rank ? low[r] : high[r - in->rank];
  PB_TRY(pb__l_starts(d, op, 1, 2 * in->rank, said, edge));
  if (!pb__l_is_fixed(edge, 2 * in->rank)) return pb__door_refuse(d, op, "edges that come at run time");
  bool fits = in->type == out->type && in->rank == out->rank && !in->is_element && !out->is_element;
  for (int r = 0; fits && r < in->rank; ++r) {
    int64_t before = edge[r].number, behind = edge[in->rank + r].number, most = INT32_MAX;
    fits =
        before >= 0 && behind >= 0 && before < most && behind < most && in->shape[r] + before + behind == out->shape[r];
    edges[2 * r] = before;
    edges[2 * r + 1] = behind;
    step[r] = 1;
  }
  if (!fits) return pb__door_refuse(d, op, "edges that do not fit");
  PB_TRY(pad_number(d, op, &with));
  PB_TRY(pb__l_in(d, op, 0, &x));
  return pb__door_padded(d, op, x, with, edges, step, &d->value[op->results[0]]);
}

pb_status pb__l_op_concat(pb_door* d, const pb_flat_op* op) {
  pb_flat_attr axis = {.name = "dimension", .kind = PB_FLAT_INT, .i = pb__door_int(op, "dim", -1), .text = ""};
  pb_flat_op same = *op;
  int x;
  same.attrs = &axis;
  same.attr_count = 1;
  for (int k = 0; k < op->operand_count; ++k) PB_TRY(pb__l_in(d, op, k, &x));
  return pb__door_concatenate(d, &same);
}

// ---- numbers and tensors ----

static bool is_number(const pb_door* d, const pb_flat_op* op, int k) {
  int v = d->value[op->operands[k]];
  return v >= 0 && !pb_made(&d->m, v)->rank;
}

pb_status pb__l_op_splat(pb_door* d, const pb_flat_op* op) {
  if (!is_number(d, op, 0) || pb__l_type(d, op->operands[0]) != pb__l_type(d, op->results[0]))
    return pb__door_refuse(d, op, "not one number of the result's type");
  pb__door_fill(d, pb__l_result(d, op, 0), d->value[op->operands[0]]);
  d->filled[op->results[0]] = d->value[op->operands[0]];
  return PB_OK;
}

pb_status pb__l_op_from_elements(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type* out = pb__door_type(d, op->results[0]);
  int64_t elements = 1, at[PB_NEST_RANK] = {0};
  for (int r = 0; r < out->rank; ++r) elements *= out->shape[r];
  if (out->is_element || elements != op->operand_count) return pb__door_refuse(d, op, "a number for each element");
  for (int k = 0; k < op->operand_count; ++k)
    if (!is_number(d, op, k) || pb__l_type(d, op->operands[k]) != out->type)
      return pb__door_refuse(d, op, "operand %d is not one number of the result's type", k);
  int y = pb__l_result(d, op, 0);
  for (int k = 0; k < op->operand_count; ++k) {
    int access;
    (void)pb_make_start(&d->m, "copy");
    pb__door_last(d, pb__door_load(d, d->value[op->operands[k]], &access), out->type);
    int to = pb_make_access(&d->m, y);
    for (int r = 0; r < out->rank; ++r) d->m.nest.access[to].index[r].cst = at[r];
    pb_make_finish(&d->m);
    for (int r = out->rank - 1; r >= 0; --r) {
      if (++at[r] < out->shape[r]) break;
      at[r] = 0;
    }
  }
  return PB_OK;
}

// One element, at places that are numbers.
pb_status pb__l_op_extract(pb_door* d, const pb_flat_op* op) {
  int x;
  PB_TRY(pb__l_in(d, op, 0, &x));
  const pb_s1_value in = *pb_made(&d->m, x);
  if (op->operand_count != 1 + in.rank || in.type != pb__l_type(d, op->results[0]))
    return pb__door_refuse(d, op, "a place for each dimension, and a result of the tensor's type");
  for (int r = 0; r < in.rank; ++r)
    if (!is_number(d, op, 1 + r) || pb__l_type(d, op->operands[1 + r]) != PB_I64)
      return pb__door_refuse(d, op, "a place that is no index");
  int y = pb__l_result(d, op, 0), flat = in.rank ? pb__door_flat(d, x) : x, at = -1, access;
  pb_nest* n = pb_make_start(&d->m, "gather");
  for (int r = 0; r < in.rank; ++r) {
    int place = pb__door_load(d, d->value[op->operands[1 + r]], &access);
    if (at >= 0) at = pb_nest_node(n, PB_OP_MUL, PB_I64, at, pb_nest_integer(n, PB_I64, in.shape[r]));
    place = pb_nest_node(n, PB_OP_MAX, PB_I64, place, pb_nest_integer(n, PB_I64, 0));
    place = pb_nest_node(n, PB_OP_MIN, PB_I64, place, pb_nest_integer(n, PB_I64, in.shape[r] - 1));
    at = at < 0 ? place : pb_nest_node(n, PB_OP_ADD, PB_I64, at, place);
  }
  access = pb_make_access(&d->m, flat);
  (void)(at < 0 ? pb_nest_load(n, access) : pb_nest_gather(n, access, 0, pb__door_as_place(n, at)));
  (void)pb_make_access(&d->m, y);
  pb_make_finish(&d->m);
  return PB_OK;
}

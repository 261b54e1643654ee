// Complex numbers: two tensors each. Operators that treat both parts alike are made twice, by door.c; here is what they
// are brought together and taken apart by, and what needs both at once. Outside of the program they are pairs along one
// more dim, the last.
#include "core/frontend/stablehlo/door.h"

#include <string.h>

static const char* const by_parts[] = {"stablehlo.broadcast_in_dim",
                                       "stablehlo.reshape",
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

static int zeros_like(pb_door* d, int v) {
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
  int part = x.imaginary >= 0 ? x.imaginary : zeros_like(d, x.value);
  return pb__door_bind(d, op, op->results[0], (pb_door_value){part, -1});
}

typedef struct pair {
  int re, im;
} pair;

static int two(pb_nest* n, pb_op op, int a, int b) { return pb_nest_node(n, op, n->expr[a].type, a, b); }

// sqrt(re^2 + im^2) with the larger one taken out, so that no square is infinite or lost.
static int magnitude(pb_nest* n, pair x) {
  pb_type type = n->expr[x.re].type;
  int a = two(n, PB_OP_ABS, x.re, -1), b = two(n, PB_OP_ABS, x.im, -1);
  if (type == PB_F32) {
    a = pb_nest_node(n, PB_OP_EXTF, PB_F64, a, -1);
    b = pb_nest_node(n, PB_OP_EXTF, PB_F64, b, -1);
    int b2 = two(n, PB_OP_MUL, b, b), a2 = two(n, PB_OP_MUL, a, a);
    int root = two(n, PB_OP_SQRT, two(n, PB_OP_ADD, a2, b2), -1);
    int far = two(n, PB_OP_MAX, a, b), most = pb_nest_const(n, PB_F64, __builtin_inf());
    int is = pb_nest_node(n, PB_OP_EQUAL, PB_I1, far, most); // infinite, whatever the other is
    int y = pb_nest_node(n, PB_OP_SELECT, PB_F64, is, far);
    n->expr[y].args[2] = root;
    return pb_nest_node(n, PB_OP_TRUNCF, PB_F32, y, -1);
  }
  int large = two(n, PB_OP_MAX, a, b), small = two(n, PB_OP_MIN, a, b), nan = two(n, PB_OP_ADD, a, b);
  int ratio = two(n, PB_OP_DIV, small, large), one = pb_nest_const(n, type, 1);
  int root = two(n, PB_OP_SQRT, two(n, PB_OP_ADD, one, two(n, PB_OP_MUL, ratio, ratio)), -1);
  int y = two(n, PB_OP_MUL, large, root), zero = pb_nest_const(n, type, 0);
  int none = pb_nest_node(n, PB_OP_EQUAL, PB_I1, large, zero);
  int some = pb_nest_node(n, PB_OP_SELECT, type, none, large);
  n->expr[some].args[2] = y;
  int is = pb_nest_node(n, PB_OP_EQUAL, PB_I1, large, pb_nest_const(n, type, __builtin_inf()));
  int is_number = pb_nest_node(n, PB_OP_EQUAL, PB_I1, nan, nan);
  int number = pb_nest_node(n, PB_OP_SELECT, type, is_number, some);
  n->expr[number].args[2] = nan;
  int all = pb_nest_node(n, PB_OP_SELECT, type, is, large);
  n->expr[all].args[2] = number;
  return all;
}

// The result's part.
static int product(pb_nest* n, const pair* v, int part) {
  int a = two(n, PB_OP_MUL, v[0].re, part ? v[1].im : v[1].re),
      b = two(n, PB_OP_MUL, v[0].im, part ? v[1].re : v[1].im);
  return two(n, part ? PB_OP_ADD : PB_OP_SUB, a, b);
}

static int e_to_the(pb_nest* n, const pair* v, int part) {
  int e = two(n, PB_OP_EXP, v[0].re, -1), turn = two(n, part ? PB_OP_SIN : PB_OP_COS, v[0].im, -1);
  return two(n, PB_OP_MUL, e, turn);
}

static int logarithm(pb_nest* n, const pair* v, int part) {
  return part ? two(n, PB_OP_ATAN2, v[0].im, v[0].re) : two(n, PB_OP_LOG, magnitude(n, v[0]), -1);
}

static int absolute(pb_nest* n, const pair* v, int part) {
  (void)part;
  return magnitude(n, v[0]);
}

static const struct {
  const char* name;
  int (*make)(pb_nest* n, const pair* v, int part);
  bool f64, is_complex; // its result
} elements[] = {{"stablehlo.multiply", product, true, true},
                {"stablehlo.exponential", e_to_the, false, true},
                {"stablehlo.log", logarithm, false, true},
                {"stablehlo.abs", absolute, true, false}};

static int element_of(const pb_flat_op* op, pb_type type) {
  for (int k = 0; k < (int)(sizeof elements / sizeof *elements); ++k)
    if (!strcmp(elements[k].name, op->name) && (type == PB_F32 || elements[k].f64)) return k;
  return -1;
}

static pair load(pb_door* d, int flat_value, const int* dims) {
  pb_door_value v = pb__door_get(d, flat_value);
  pair p;
  int access;
  p.re = pb__door_load(d, v.value, &access);
  if (access >= 0) pb_make_along(&d->m, access, dims);
  p.im = pb__door_load(d, v.imaginary, &access);
  if (access >= 0) pb_make_along(&d->m, access, dims);
  return p;
}

static pb_status convert(pb_door* d, const pb_flat_op* op) {
  pb_door_value x = pb__door_get(d, op->operands[0]), y = {-1, -1};
  const pb_flat_type *from = pb__door_type(d, op->operands[0]), *to = pb__door_type(d, op->results[0]);
  for (int part = 0; part < (to->is_complex ? 2 : 1); ++part) {
    int dims[PB_NEST_RANK], access, *made = part ? &y.imaginary : &y.value, v = part ? x.imaginary : x.value;
    *made = pb_make_value(&d->m, to->type, to->rank, to->shape);
    if (v < 0) {
      *made = zeros_like(d, *made);
      continue;
    }
    (void)pb_make_walk(&d->m, "point", *made, dims);
    int node = pb__door_load(d, v, &access);
    if (access >= 0) pb_make_along(&d->m, access, dims);
    pb__door_store(d, pb_scalar_converted(&d->m.nest, node, from->type, to->type), *made, dims);
  }
  pb__door_set(d, op->results[0], y);
  return PB_OK;
}

static pb_status compare(pb_door* d, const pb_flat_op* op) {
  bool equal = pb__door_says(op, "comparison_direction", "EQ"), other = pb__door_says(op, "comparison_direction", "NE");
  pb_type type = pb__door_type(d, op->operands[0])->type;
  int y = pb__door_result(d, op, 0), dims[PB_NEST_RANK];
  if (!equal && !other) return pb__door_refuse(d, op, "an order of complex numbers");
  pb_nest* n = pb_make_walk(&d->m, "point", y, dims);
  pair a = load(d, op->operands[0], dims), b = load(d, op->operands[1], dims);
  pb_compare how = equal ? PB_EQ : PB_NE;
  int re = pb_scalar_compare(n, how, type, false, a.re, b.re), im = pb_scalar_compare(n, how, type, false, a.im, b.im);
  pb__door_store(d, two(n, equal ? PB_OP_AND : PB_OP_OR, re, im), y, dims);
  return PB_OK;
}

pb_status pb__door_complex_element(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type *in = pb__door_type(d, op->operands[0]), *out = pb__door_type(d, op->results[0]);
  if (in->rank != out->rank || memcmp(in->shape, out->shape, sizeof(int64_t) * (size_t)in->rank))
    return pb__door_refuse(d, op, "operands of different shapes");
  for (int k = 0; k < op->operand_count; ++k) {
    const pb_flat_type* t = pb__door_type(d, op->operands[k]);
    if (t->rank != out->rank || memcmp(t->shape, out->shape, sizeof(int64_t) * (size_t)out->rank))
      return pb__door_refuse(d, op, "operands of different shapes");
    if (t->is_complex != in->is_complex || t->type != in->type)
      return pb__door_refuse(d, op, "operands of different types");
  }
  if (!strcmp(op->name, "stablehlo.convert")) return convert(d, op);
  if (!strcmp(op->name, "stablehlo.compare")) return compare(d, op);
  int k = element_of(op, in->type), dims[PB_NEST_RANK];
  if (k < 0 || op->operand_count > 2) return pb__door_refuse(d, op, "of complex numbers");
  bool both = elements[k].is_complex;
  pb_door_value y = {-1, -1};
  if (both != out->is_complex || in->type != out->type) return pb__door_refuse(d, op, "a result that does not fit");
  for (int part = 0; part < (both ? 2 : 1); ++part) {
    pair v[2];
    int made = pb_make_value(&d->m, out->type, out->rank, out->shape);
    (void)pb_make_walk(&d->m, "point", made, dims);
    for (int o = 0; o < op->operand_count; ++o) v[o] = load(d, op->operands[o], dims);
    pb__door_store(d, elements[k].make(&d->m.nest, v, part), made, dims);
    *(part ? &y.imaginary : &y.value) = made;
  }
  pb__door_set(d, op->results[0], y);
  return PB_OK;
}

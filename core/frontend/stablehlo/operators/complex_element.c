// Functions of complex numbers: products by themselves, all others by the rows of core/s1/scalar/written.def, in f64
// whatever the type and rounded at the end; of f64 some by pairs of f64.
#include "core/frontend/stablehlo/door.h"

#include "core/s1/scalar/written.h"

#include <stdio.h>
#include <string.h>

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

static int square(pb_nest* n, const pair* v, int part) { return product(n, (const pair[]){v[0], v[0]}, part); }

static int absolute(pb_nest* n, const pair* v, int part) {
  (void)part;
  return magnitude(n, v[0]);
}

// By the order of the real parts, then of the imaginary ones.
static int ordered(pb_nest* n, pair a, pair b, int part, bool lesser) {
  int above = pb_nest_node(n, PB_OP_LESS, PB_I1, b.re, a.re), equal = pb_nest_node(n, PB_OP_EQUAL, PB_I1, a.re, b.re);
  int then = pb_nest_node(n, PB_OP_AND, PB_I1, equal, pb_nest_node(n, PB_OP_LESS, PB_I1, b.im, a.im));
  int take = pb_nest_node(n, PB_OP_OR, PB_I1, above, then);
  pair yes = lesser ? b : a, no = lesser ? a : b;
  int y = pb_nest_node(n, PB_OP_SELECT, n->expr[a.re].type, take, part ? yes.im : yes.re);
  n->expr[y].args[2] = part ? no.im : no.re;
  return y;
}

static int maximum(pb_nest* n, const pair* v, int part) { return ordered(n, v[0], v[1], part, false); }
static int minimum(pb_nest* n, const pair* v, int part) { return ordered(n, v[0], v[1], part, true); }

static const struct {
  const char* name;
  const char* written; // its rows without _re and _im, NULL: by `make`
  int (*make)(pb_nest* n, const pair* v, int part);
  bool is_real; // its result
} elements[] = {{"stablehlo.multiply", NULL, product, false},
                {"chlo.square", NULL, square, false},
                {"stablehlo.abs", NULL, absolute, true},
                {"stablehlo.maximum", NULL, maximum, false},
                {"stablehlo.minimum", NULL, minimum, false},
                {"stablehlo.divide", "quotient", NULL, false},
                {"stablehlo.sign", "sign", NULL, false},
                {"stablehlo.sqrt", "sqrt", NULL, false},
                {"stablehlo.rsqrt", "rsqrt", NULL, false},
                {"stablehlo.exponential", "exp", NULL, false},
                {"stablehlo.exponential_minus_one", "expm1", NULL, false},
                {"stablehlo.log", "log", NULL, false},
                {"stablehlo.log_plus_one", "log1p", NULL, false},
                {"stablehlo.logistic", "logistic", NULL, false},
                {"stablehlo.sine", "sin", NULL, false},
                {"stablehlo.cosine", "cos", NULL, false},
                {"stablehlo.tan", "tan", NULL, false},
                {"chlo.tan", "tan", NULL, false},
                {"stablehlo.tanh", "tanh", NULL, false},
                {"chlo.sinh", "sinh", NULL, false},
                {"chlo.cosh", "cosh", NULL, false},
                {"chlo.asin", "asin", NULL, false},
                {"chlo.acos", "acos", NULL, false},
                {"chlo.atan", "atan", NULL, false},
                {"chlo.asinh", "asinh", NULL, false},
                {"chlo.acosh", "acosh", NULL, false},
                {"chlo.atanh", "atanh", NULL, false},
                {"thirds", "thirds", NULL, false},
                {"cube_root", "cbrt", NULL, false},         // of x and its thirds
                {"power_ends", "power_ends", NULL, false}}; // of x, y and x^y
enum { MOST_OPERANDS = 5 };

static int element_of(const char* name) {
  for (int k = 0; k < (int)(sizeof elements / sizeof *elements); ++k)
    if (!strcmp(elements[k].name, name)) return k;
  return -1;
}

static int converted(pb_nest* n, int v, pb_type to) {
  return n->expr[v].type == to ? v : pb_nest_node(n, to == PB_F64 ? PB_OP_EXTF : PB_OP_TRUNCF, to, v, -1);
}

// The row NAME_re or NAME_im of so many numbers, rounded to the type; -1: there is no such row.
static int written_part(pb_nest* n, const char* name, const pair* v, int count, int part, pb_type type) {
  char row[32];
  int arguments[PB_WRITTEN_PARAMETERS];
  snprintf(row, sizeof row, "%.28s_%s", name, part ? "im" : "re"); // names are shorter; gcc sees that it fits
  for (int k = 0; k < count; ++k) {
    arguments[2 * k] = converted(n, v[k].re, PB_F64);
    arguments[2 * k + 1] = converted(n, v[k].im, PB_F64);
  }
  const pb_written_row* found = pb_written_find(row);
  int node = found ? pb_written_make(n, found, arguments) : -1;
  return node < 0 ? -1 : converted(n, node, type);
}

// The element's function on nodes: its part; -1: it is none.
static int element_part(pb_nest* n, int element, const pair* v, int count, int part, pb_type type) {
  if (elements[element].make) return elements[element].make(n, v, part);
  return written_part(n, elements[element].written, v, count, part, type);
}

static pair load(pb_door* d, pb_door_value v, const int* dims) {
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
      *made = pb__door_zeros(d, *made);
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
  if (pb_made(&d->m, y)->type != PB_I1 || pb__door_type(d, op->results[0])->is_complex)
    return pb__door_refuse(d, op, "a result that does not fit");
  pb_nest* n = pb_make_walk(&d->m, "point", y, dims);
  pb_door_value x = pb__door_get(d, op->operands[0]), z = pb__door_get(d, op->operands[1]);
  pair a = load(d, x, dims), b = load(d, z, dims);
  pb_compare how = equal ? PB_EQ : PB_NE;
  int re = pb_scalar_compare(n, how, type, false, a.re, b.re), im = pb_scalar_compare(n, how, type, false, a.im, b.im);
  pb__door_store(d, two(n, equal ? PB_OP_AND : PB_OP_OR, re, im), y, dims);
  return PB_OK;
}

// ---- in bodies ----

// Operations that treat both parts alike.
static pb_status by_part(pb_door* d, pb_nest* n, const pb_flat_op* op, const pb_door_number* v, pb_door_number* made) {
  int re[3], im[3];
  for (int k = 0; k < op->operand_count; ++k) {
    re[k] = v[k].re;
    im[k] = v[k].im >= 0 ? v[k].im : v[k].re; // a truth that chooses
  }
  PB_TRY(pb__door_scalar(d, n, op, re, &made->re));
  return pb__door_scalar(d, n, op, im, &made->im);
}

pb_status pb__door_complex_number(pb_door* d, pb_nest* n, const pb_flat_op* op, const pb_door_number* v,
                                  pb_door_number* made) {
  static const char* const alike[] = {"stablehlo.add", "stablehlo.subtract", "stablehlo.negate", "stablehlo.select"};
  const pb_flat_type *in = pb__door_type(d, op->operands[0]), *out = pb__door_type(d, op->results[0]);
  *made = (pb_door_number){-1, -1};
  for (size_t k = 0; k < sizeof alike / sizeof *alike; ++k)
    if (!strcmp(op->name, alike[k])) return by_part(d, n, op, v, made);
  bool apart = !strcmp(op->name, "stablehlo.real") || !strcmp(op->name, "stablehlo.imag");
  if (apart && op->operand_count == 1 && in->is_complex && !out->is_complex && in->type == out->type) {
    made->re = !strcmp(op->name, "stablehlo.real") ? v[0].re : v[0].im;
    return PB_OK;
  }
  bool together = !strcmp(op->name, "stablehlo.complex") && op->operand_count == 2 && out->is_complex;
  if (together && v[0].im < 0 && v[1].im < 0 && n->expr[v[0].re].type == out->type &&
      n->expr[v[1].re].type == out->type) {
    *made = (pb_door_number){v[0].re, v[1].re};
    return PB_OK;
  }
  int element = element_of(op->name);
  bool fits =
      element >= 0 && op->operand_count <= 2 && out->is_complex != elements[element].is_real && in->type == out->type;
  for (int k = 0; fits && k < op->operand_count; ++k)
    fits = v[k].im >= 0 && pb__door_type(d, op->operands[k])->type == in->type;
  if (!fits) return pb__door_refuse(d, op, "of complex numbers in the body of another operator");
  pair p[MOST_OPERANDS];
  for (int k = 0; k < op->operand_count; ++k) p[k] = (pair){v[k].re, v[k].im};
  made->re = element_part(n, element, p, op->operand_count, 0, in->type);
  if (out->is_complex) made->im = element_part(n, element, p, op->operand_count, 1, in->type);
  return made->re < 0 || (out->is_complex && made->im < 0) ? pb__door_refuse(d, op, "a body of too many operations")
                                                           : PB_OK;
}

// ---- on whole tensors ----

static pb_status apply(pb_door* d, const pb_flat_op* op, const char* name, const pb_door_value* x, int count,
                       pb_door_value* y) {
  int element = element_of(name), dims[PB_NEST_RANK];
  const pb_s1_value like = *pb_made(&d->m, x[0].value);
  *y = (pb_door_value){-1, -1};
  for (int part = 0; part < (elements[element].is_real ? 1 : 2); ++part) {
    pair v[MOST_OPERANDS];
    int made = pb_make_value(&d->m, like.type, like.rank, like.shape);
    (void)pb_make_walk(&d->m, "point", made, dims);
    for (int o = 0; o < count; ++o) v[o] = load(d, x[o], dims);
    int node = element_part(&d->m.nest, element, v, count, part, like.type);
    if (node < 0) return pb__door_refuse(d, op, "of complex numbers");
    pb__door_store(d, node, made, dims);
    *(part ? &y->imaginary : &y->value) = made;
  }
  return PB_OK;
}

// The same numbers in another type.
static pb_door_value as_type(pb_door* d, pb_door_value x, pb_type to) {
  const pb_s1_value like = *pb_made(&d->m, x.value);
  pb_door_value y = {-1, -1};
  for (int part = 0; part < 2; ++part) {
    int dims[PB_NEST_RANK], access, made = pb_make_value(&d->m, to, like.rank, like.shape);
    (void)pb_make_walk(&d->m, "point", made, dims);
    int node = pb__door_load(d, part ? x.imaginary : x.value, &access);
    if (access >= 0) pb_make_along(&d->m, access, dims);
    pb__door_store(d, pb_scalar_converted(&d->m.nest, node, like.type, to), made, dims);
    *(part ? &y.imaginary : &y.value) = made;
  }
  return y;
}

// The parts NAME_re and NAME_im of numbers of f64, a tensor each.
static pb_status by_row(pb_door* d, const pb_flat_op* op, const char* name, const pb_door_value* x, int count,
                        pb_door_value* y) {
  const pb_s1_value like = *pb_made(&d->m, x[0].value);
  int dims[PB_NEST_RANK];
  for (int part = 0; part < 2; ++part) {
    pair v[MOST_OPERANDS];
    int made = pb_make_value(&d->m, PB_F64, like.rank, like.shape);
    (void)pb_make_walk(&d->m, "point", made, dims);
    for (int o = 0; o < count; ++o) v[o] = load(d, x[o], dims);
    int node = written_part(&d->m.nest, name, v, count, part, PB_F64);
    if (node < 0) return pb__door_refuse(d, op, "of complex numbers");
    pb__door_store(d, node, made, dims);
    *(part ? &y->imaginary : &y->value) = made;
  }
  return PB_OK;
}

// By the sine and the cosine of an angle and by a decay, pairs all of them: NAME_pair's parts of `old`, x and those.
static pb_status by_waves(pb_door* d, const pb_flat_op* op, const char* name, pb_door_value old, pb_door_value x,
                          pb_door_value turn, pb_door_value decay, pb_door_value* y) {
  pb_door_value v[MOST_OPERANDS] = {old, x};
  char row[32];
  snprintf(row, sizeof row, "%s_pair", name);
  PB_TRY(by_row(d, op, "sine_of", &turn, 1, &v[2]));
  PB_TRY(by_row(d, op, "cosine_of", &turn, 1, &v[3]));
  PB_TRY(by_row(d, op, "decay", &decay, 1, &v[4]));
  return by_row(d, op, row, v, MOST_OPERANDS, y);
}

// A function of f64 whose terms leave too little of each other for one nest's f64 (core/s1/scalar/written_pairs.def).
static pb_status by_pairs(pb_door* d, const pb_flat_op* op, const char* name, const pb_door_value* x,
                          pb_door_value* y) {
  pb_door_value old, ways;
  char row[32];
  snprintf(row, sizeof row, "%s_ways", name);
  PB_TRY(apply(d, op, op->name, x, 1, &old));
  PB_TRY(by_row(d, op, row, x, 1, &ways));
  int none = pb__door_zeros(d, ways.value);
  const pb_door_value turn = {ways.value, none}, decay = {ways.imaginary, none};
  return by_waves(d, op, name, old, x[0], turn, decay, y);
}

static bool has_pairs(const char* name) {
  char row[32];
  snprintf(row, sizeof row, "%s_ways_re", name ? name : "");
  return pb_written_find(row) != NULL;
}

static pb_status power_by_pairs(pb_door* d, const pb_flat_op* op, const pb_door_value* x, pb_door_value* y) {
  pb_door_value by[3] = {x[1]}, grows, turns;
  PB_TRY(by_row(d, op, "log_pair", x, 1, &by[1]));
  PB_TRY(by_row(d, op, "angle_pair", x, 1, &by[2]));
  PB_TRY(by_row(d, op, "exponent_pair", by, 3, &grows));
  PB_TRY(by_row(d, op, "turn_pair", by, 3, &turns));
  return by_waves(d, op, "power", *y, grows, turns, grows, y);
}

// Powers are e^(y log x).
static pb_status power(pb_door* d, const pb_flat_op* op, const pb_door_value* x, pb_door_value* y) {
  pb_door_value by[2] = {x[1]}, times, raised;
  PB_TRY(apply(d, op, "stablehlo.log", x, 1, &by[1]));
  PB_TRY(apply(d, op, "stablehlo.multiply", by, 2, &times));
  PB_TRY(apply(d, op, "stablehlo.exponential", &times, 1, &raised));
  const pb_door_value ends[3] = {x[0], x[1], raised};
  return apply(d, op, "power_ends", ends, 3, y);
}

static pb_status cube_root(pb_door* d, const pb_flat_op* op, const pb_door_value* x, pb_door_value* y) {
  pb_door_value polar[2] = {x[0]};
  PB_TRY(apply(d, op, "thirds", x, 1, &polar[1]));
  return apply(d, op, "cube_root", polar, 2, y);
}

// A tensor for each step, since one nest has no room for all of them. Of f32 they are of f64, which has the bits that
// an exponent takes.
static pb_status by_steps(pb_door* d, const pb_flat_op* op, const pb_door_value* x, pb_door_value* y) {
  pb_type type = pb_made(&d->m, x[0].value)->type;
  pb_door_value wide[2] = {x[0]};
  if (op->operand_count == 2) wide[1] = x[1];
  for (int k = 0; k < op->operand_count && type != PB_F64; ++k) wide[k] = as_type(d, x[k], PB_F64);
  PB_TRY((op->operand_count == 2 ? power : cube_root)(d, op, wide, y));
  if (op->operand_count == 2 && type == PB_F64) PB_TRY(power_by_pairs(d, op, wide, y));
  if (type != PB_F64) *y = as_type(d, *y, type);
  return PB_OK;
}

pb_status pb__door_complex_element(pb_door* d, const pb_flat_op* op) {
  const pb_flat_type *in = pb__door_type(d, op->operands[0]), *out = pb__door_type(d, op->results[0]);
  pb_door_value x[2], y;
  if (in->rank != out->rank || memcmp(in->shape, out->shape, sizeof(int64_t) * (size_t)in->rank))
    return pb__door_refuse(d, op, "operands of different shapes");
  for (int k = 0; k < op->operand_count; ++k) {
    const pb_flat_type* t = pb__door_type(d, op->operands[k]);
    if (t->rank != out->rank || memcmp(t->shape, out->shape, sizeof(int64_t) * (size_t)out->rank))
      return pb__door_refuse(d, op, "operands of different shapes");
    if (t->is_complex != in->is_complex || t->type != in->type)
      return pb__door_refuse(d, op, "operands of different types");
    if (k < 2) x[k] = pb__door_get(d, op->operands[k]);
  }
  if (!strcmp(op->name, "stablehlo.convert")) return convert(d, op);
  if (in->is_complex == !strcmp(op->name, "stablehlo.complex"))
    return pb__door_refuse(d, op, "a result that does not fit");
  if (!strcmp(op->name, "stablehlo.compare")) return compare(d, op);
  bool in_steps = (!strcmp(op->name, "stablehlo.power") && op->operand_count == 2) ||
                  (!strcmp(op->name, "stablehlo.cbrt") && op->operand_count == 1);
  int k = element_of(op->name);
  if ((k < 0 && !in_steps) || op->operand_count > 2) return pb__door_refuse(d, op, "of complex numbers");
  bool is_real = !in_steps && elements[k].is_real;
  if (is_real == out->is_complex || in->type != out->type) return pb__door_refuse(d, op, "a result that does not fit");
  if (in_steps)
    PB_TRY(by_steps(d, op, x, &y));
  else if (in->type == PB_F64 && has_pairs(elements[k].written))
    PB_TRY(by_pairs(d, op, elements[k].written, x, &y));
  else
    PB_TRY(apply(d, op, op->name, x, op->operand_count, &y));
  pb__door_set(d, op->results[0], y);
  return PB_OK;
}

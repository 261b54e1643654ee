// Quantisers: floats that a program rounds to codes by operators of its own, each NaN looked after, become what units
// that make codes know. Requires the program function in value form; leaves it so. Exact.
//
//   before   q = i8(kept(x == x ? least(greatest(round(max(y, 0) * r) + z, -128), 127) : 0))          y no NaN
//   after    q = code(min(max(round(y * r) + z, max(z, -128)), 127))
//
// Numbers out of integers, and sums and products of bounded ones, are no NaN. Of what may be one, the codes above 0 and
// those below are made apart, where the chip does not compute the conversion as it is.
#include "core/s3/compose.h"
#include "core/s3/fusion/interval.h"
#include "core/s3/kernel/join.h"
#include "core/s3/kernel/landing.h"
#include "core/s3/legalise/legalise.h"
#include "core/s3/program.h"

#include <math.h>
#include <string.h>

typedef struct quantising {
  pb_unit* unit;
  pb_program* program;
  pb_interval* bounds; // by value: of its elements
  pb_join* join;
  bool converts; // the chip computes the conversion in hand as the program has it
} quantising;

// round(product) + zero, kept between low and high: nodes of a body.
typedef struct quantiser {
  int product;
  double zero, low, high, nothing; // nothing: the code of NaN
} quantiser;

// ---- bounds ----

static pb_interval joined(const pb_interval* a, const pb_interval* b) {
  if (a->kind != PB_BOUNDED || b->kind != PB_BOUNDED) return (pb_interval){.kind = PB_ANY_NUMBER};
  return pb_interval_of(fminf(a->low, b->low), fmaxf(a->high, b->high));
}

// What a nest leaves in the value, of what it loads.
static pb_interval bounds_of(const quantising* q, int n) {
  const pb_program* p = q->program;
  const pb_nest* nest = &p->nests[n];
  pb_interval loads[PB_NEST_ACCESSES], fill;
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_access* access = &nest->access[a];
    loads[a] = q->bounds[p->value_of[n][a]];
    fill = pb_interval_of((float)access->fill, (float)access->fill);
    if (access->boxed && loads[a].kind == PB_BOUNDED) loads[a] = joined(&loads[a], &fill);
  }
  pb_interval made = pb_nest_interval(nest, loads);
  if (nest->reduce == PB_ACC_BODY) return (pb_interval){.kind = PB_ANY_NUMBER};
  if (nest->reduce != PB_ACC_ADD || made.kind != PB_BOUNDED) return made;
  float most = fmaxf(fabsf(made.low), fabsf(made.high)) * (float)pb_nest_steps(nest) * 1.01F; // roundings add up
  return isfinite(most) ? pb_interval_of(-most, most) : (pb_interval){.kind = PB_ANY_NUMBER};
}

// The bounds of a constant of f32.
static pb_interval bounds_of_constant(const quantising* q, const pb_value* value) {
  const char* data = value->expands ? NULL : pb_const_data(q->unit->consts, value->const_id);
  pb_interval all = {.kind = PB_ANY_NUMBER};
  if (data) all = pb_constant_interval(PB_F32, data, pb_value_elements(value));
  return isfinite(all.low) && isfinite(all.high) ? all : (pb_interval){.kind = PB_ANY_NUMBER};
}

// Whether each element of the value, set once in front, becomes the greatest of some.
static bool takes_greatest(const pb_program* p, int n, int value) {
  const pb_nest* nest = &p->nests[n];
  return (nest->reduce == PB_ACC_MAX || nest->reduce == PB_ACC_MAXIMUM) && pb_program_init_of(p, n) >= 0 &&
         pb_nest_results(nest) == pb_value_elements(&p->values[value]);
}

static void find_bounds(quantising* q) {
  const pb_program* p = q->program;
  bool* seen = PB_NEW_ARRAY(&q->unit->pass, bool, (size_t)p->value_count + 1);
  q->bounds = PB_NEW_ARRAY(&q->unit->pass, pb_interval, (size_t)p->value_count + 1);
  for (int v = 0; v < p->value_count; ++v) {
    bool known = p->values[v].kind == PB_VALUE_CONST && p->values[v].type == PB_F32;
    q->bounds[v] = known ? bounds_of_constant(q, &p->values[v]) : (pb_interval){.kind = PB_ANY_NUMBER};
  }
  for (int n = 0; n < p->nest_count; ++n) {
    int v = pb_program_stored(p, n);
    if (!pb_program_is_local(p, v)) continue;
    pb_interval made = bounds_of(q, n), *all = &q->bounds[v];
    if (seen[v] && takes_greatest(p, n, v) && made.kind == PB_BOUNDED && all->kind == PB_BOUNDED)
      *all = pb_interval_of(made.low, made.low); // none stays as it began
    if (seen[v] && p->nests[n].reduce == PB_ACC_ADD && made.kind == PB_BOUNDED && all->kind == PB_BOUNDED)
      made = pb_interval_of(made.low + all->low, made.high + all->high);
    *all = seen[v] ? joined(all, &made) : made;
    seen[v] = true;
  }
}

// The bounds of one of a nest's nodes.
static pb_interval bounds_of_node(const quantising* q, int n, int e) {
  pb_nest* part = pb_nest_kept(&q->unit->pass, &q->program->nests[n]);
  pb_interval loads[PB_NEST_ACCESSES];
  for (int a = 0; a < part->access_count; ++a)
    loads[a] = part->access[a].boxed ? (pb_interval){.kind = PB_ANY_NUMBER} : q->bounds[q->program->value_of[n][a]];
  part->expr_count = e + 1;
  return pb_nest_interval(part, loads);
}

// ---- the form ----

static bool is_constant(const pb_nest* nest, int e, double* number) {
  if (e < 0 || nest->expr[e].op != PB_OP_CONST || !pb_type_is_float(nest->expr[e].type)) return false;
  *number = nest->expr[e].value;
  return isfinite(*number);
}

// The node below what widens f32 to f64, where conversions are made.
static int narrow(const pb_nest* nest, int e) { return nest->expr[e].op == PB_OP_EXTF ? nest->expr[e].args[0] : e; }

// The node below clamps by constants, which *low and *high become; other kinds of them where NaN wins.
static int unclamped(const pb_nest* nest, int e, double* low, double* high) {
  for (;;) {
    const pb_expr_node* node = &nest->expr[e];
    bool least = node->op == PB_OP_MIN || node->op == PB_OP_MINIMUM;
    double number;
    if (!least && node->op != PB_OP_MAX && node->op != PB_OP_MAXIMUM) return e;
    int by = is_constant(nest, node->args[1], &number) ? 1 : is_constant(nest, node->args[0], &number) ? 0 : -1;
    if (by < 0 || number != trunc(number)) return e;
    // an inner clamp is followed by the outer ones, which hold in any case
    if (least) *high = fmin(*high, fmax(number, *low));
    if (!least) *low = fmax(*low, fmin(number, *high));
    e = node->args[1 - by];
  }
}

// x == x ? x : 0, as conversions begin; e itself: it is none.
static int guarded(const pb_nest* nest, int e) {
  const pb_expr_node *node = &nest->expr[e], *truth = node->op == PB_OP_SELECT ? &nest->expr[node->args[0]] : NULL;
  double zero;
  if (!truth || !is_constant(nest, node->args[2], &zero) || zero != 0) return e;
  if (truth->op == PB_OP_LESS && nest->expr[truth->args[1]].op == PB_OP_ZEXT)
    truth = &nest->expr[nest->expr[truth->args[1]].args[0]];
  bool same = truth->op == PB_OP_EQUAL && truth->args[0] == node->args[1] && truth->args[1] == node->args[1];
  return same ? node->args[1] : e;
}

// What is converted to a byte, and whether its sign bit is turned over then (centred_codes.c).
static const pb_expr_node* conversion_of(const pb_nest* nest, bool* centred) {
  const pb_expr_node* last = &nest->expr[nest->expr_count - 1];
  *centred = last->op == PB_OP_XOR && nest->expr[last->args[1]].op == PB_OP_CONST &&
             nest->expr[last->args[1]].integer == -PB_CENTRE;
  return *centred ? &nest->expr[last->args[0]] : last;
}

// Whether the nest converts floats to codes.
static bool converts_to_codes(const pb_nest* nest) {
  bool centred;
  const pb_expr_node* last = conversion_of(nest, &centred);
  return nest->reduce == PB_SET && nest->access[nest->access_count - 1].type == PB_I8 && !pb_nest_is_fixed(nest) &&
         last->op == PB_OP_TRUNC && nest->expr[last->args[0]].op == PB_OP_FPTOSI;
}

static bool find_quantiser(const pb_nest* nest, quantiser* f) {
  bool centred;
  const pb_expr_node* last = conversion_of(nest, &centred);
  int less = centred ? PB_CENTRE : 0;
  double number;
  *f = (quantiser){.low = -INFINITY, .high = INFINITY, .nothing = -less};
  if (!converts_to_codes(nest)) return false;
  int kept = unclamped(nest, nest->expr[last->args[0]].args[0], &f->low, &f->high), e = guarded(nest, kept);
  if (e == kept) return false;
  e = unclamped(nest, narrow(nest, e), &f->low, &f->high);
  if (nest->expr[e].type != PB_F32) return false;
  const pb_expr_node* sum = &nest->expr[e];
  if (sum->op == PB_OP_ADD) {
    int by = is_constant(nest, sum->args[1], &number) ? 1 : is_constant(nest, sum->args[0], &number) ? 0 : -1;
    if (by < 0 || number != trunc(number) || fabs(number) > INT16_MAX) return false;
    f->zero = number;
    e = sum->args[1 - by];
  }
  f->zero -= less;
  f->low -= less;
  f->high -= less;
  if (f->low < INT8_MIN || f->high > INT8_MAX) return false; // a byte wraps what it has no code of
  f->product = nest->expr[e].args[0];
  return nest->expr[e].op == PB_OP_ROUNDEVEN && nest->expr[f->product].op == PB_OP_MUL;
}

// ---- the new body ----

// The factor that is a constant above 0, -1: there is none. *number: which one.
static int scale_of(const pb_nest* nest, int product, double* number) {
  const pb_expr_node* node = &nest->expr[product];
  int by = is_constant(nest, node->args[1], number) ? 1 : is_constant(nest, node->args[0], number) ? 0 : -1;
  return by >= 0 && *number > 0 ? by : -1;
}

// max(y, 0) in front of the scale: y, as the code of 0 is the least one.
static int without_relu(const pb_nest* nest, int x, quantiser* f) {
  const pb_expr_node* node = &nest->expr[x];
  double zero;
  if (node->op != PB_OP_MAX && node->op != PB_OP_MAXIMUM) return x;
  int by = is_constant(nest, node->args[1], &zero) ? 1 : is_constant(nest, node->args[0], &zero) ? 0 : -1;
  if (by < 0 || zero != 0) return x;
  f->low = fmin(fmax(f->low, f->zero), f->high);
  return node->args[1 - by];
}

// round(x * scale) + zero, which may be NaN, as codes between low and high: 0 where it is NaN. Units' least and
// greatest numbers win over NaN, and one of the two parts is 0.
static int parts_of(pb_nest* nest, int x, double scale, const quantiser* f) {
  int sum = pb_nest_node(nest, PB_OP_ROUNDEVEN, PB_F32,
                         pb_nest_node(nest, PB_OP_MUL, PB_F32, x, pb_nest_const(nest, PB_F32, scale)), -1);
  int zero = pb_nest_const(nest, PB_F32, 0);
  sum = pb_nest_node(nest, PB_OP_ADD, PB_F32, sum, pb_nest_const(nest, PB_F32, f->zero));
  int above = pb_nest_node(nest, PB_OP_MAX, PB_F32, sum, zero),
      below = pb_nest_node(nest, PB_OP_MIN, PB_F32, sum, zero);
  above = pb_nest_node(nest, PB_OP_MIN, PB_F32, above, pb_nest_const(nest, PB_F32, f->high));
  below = pb_nest_node(nest, PB_OP_MAX, PB_F32, below, pb_nest_const(nest, PB_F32, f->low));
  return pb_nest_node(nest, PB_OP_ADD, PB_F32, above, below);
}

// The nest with codes made as units know it. false: it makes none of that form.
static bool rewrite(quantising* q, int n) {
  enum { MORE_NODES = 24 };
  pb_nest* nest = &q->program->nests[n];
  quantiser f;
  double scale;
  if (nest->expr_count + MORE_NODES > PB_NEST_EXPR || !find_quantiser(nest, &f)) return false;
  int by = scale_of(nest, f.product, &scale);
  if (by < 0) return false;
  int x = nest->expr[f.product].args[1 - by], product = -1;
  pb_interval bounds = bounds_of_node(q, n, x);
  bool is_number = bounds.kind == PB_BOUNDED; // or an infinity
  if (!is_number && (q->converts || f.low > 0 || f.high < 0)) return false;
  if (is_number) {
    x = without_relu(nest, x, &f);
    product = pb_rescale(q->unit, q->program, n, x, scale);
  } else if (f.low != f.nothing) { // the least number wins over NaN
    if (f.nothing != 0) return false;
    x = parts_of(nest, x, scale, &f);
    scale = 1;
    f.zero = 0;
  }
  if (product < 0) product = pb_nest_node(nest, PB_OP_MUL, PB_F32, x, pb_nest_const(nest, PB_F32, scale));
  int made = pb_nest_node(nest, PB_OP_ROUNDEVEN, PB_F32, product, -1);
  made = pb_nest_node(nest, PB_OP_ADD, PB_F32, made, pb_nest_const(nest, PB_F32, f.zero));
  made = pb_nest_node(nest, PB_OP_MAX, PB_F32, made, pb_nest_const(nest, PB_F32, f.low));
  made = pb_nest_node(nest, PB_OP_MIN, PB_F32, made, pb_nest_const(nest, PB_F32, f.high));
  pb_nest_end(nest, pb_nest_node(nest, PB_OP_FPTOSI8, PB_I8, made, -1));
  return true;
}

// ---- nests that go together ----

typedef struct state {
  pb_nest* nest;
  int values[PB_NEST_ACCESSES], makers; // so many of those that were joined
} state;

static void remember(quantising* q, int n, int makers, state* s) {
  const pb_program* p = q->program;
  s->nest = pb_nest_kept(&q->unit->pass, &p->nests[n]);
  memcpy(s->values, p->value_of[n], sizeof s->values);
  s->makers = makers;
}

// What copies bring of constants is read where they lie.
static void read_constants(quantising* q, int n) {
  pb_program* p = q->program;
  for (int a = 0; a + 1 < p->nests[n].access_count; ++a) {
    const pb_access was = p->nests[n].access[a];
    pb_access at;
    int value = p->value_of[n][a];
    for (int copy; (copy = pb_program_source(p, n, a, &at)) >= 0;)
      pb_program_read_source(p, &q->unit->pass, n, a, copy, &at);
    if (pb_program_is_const(p, n, a)) continue;
    p->nests[n].access[a] = was;
    pb_program_set_value(p, &q->unit->pass, n, a, value);
  }
}

// The nest, and those in front of it that make what it alone takes, as one that the chip computes: as many of them as
// do. Their makers are dropped.
static bool quantise(quantising* q, int n) {
  enum { MOST_MAKERS = 16 };
  pb_program* p = q->program;
  int makers[MOST_MAKERS], count = 0;
  state first, joined, best = {.nest = NULL};
  remember(q, n, 0, &first);
  q->converts = pb_point_commands(q->unit->chip, first.nest) > 0;
  for (bool more = true; more;) {
    remember(q, n, count, &joined);
    read_constants(q, n);
    if (rewrite(q, n) && pb_point_commands(q->unit->chip, &p->nests[n])) remember(q, n, count, &best);
    pb_program_set_nest(p, &q->unit->pass, n, joined.nest, joined.values);
    more = false;
    for (int a = 0; a + 1 < p->nests[n].access_count && !more && count < MOST_MAKERS; ++a) {
      if (!pb_join_find(q->join, n, a) || !pb_join_make(q->join)) continue;
      makers[count++] = q->join->maker;
      p->gone[q->join->maker] = more = true;
      pb_join_keep(q->join, &q->unit->pass);
    }
  }
  for (int k = best.nest ? best.makers : 0; k < count; ++k) p->gone[makers[k]] = false;
  const state* kept = best.nest ? &best : &first;
  pb_program_set_nest(p, &q->unit->pass, n, kept->nest, kept->values);
  return best.nest != NULL;
}

bool pb_s3_quantisers(pb_unit* unit, pb_program* p) {
  quantising q = {.unit = unit, .program = p};
  bool any = false;
  for (int n = 0; n < p->nest_count && !any; ++n) any = converts_to_codes(&p->nests[n]);
  if (!any) return false;
  find_bounds(&q);
  q.join = pb_join_begin(p, &unit->pass);
  any = false;
  for (int n = 0; n < p->nest_count; ++n)
    if (!p->gone[n] && converts_to_codes(&p->nests[n])) any |= quantise(&q, n);
  if (any) pb_program_drop_unread(p);
  return any;
}

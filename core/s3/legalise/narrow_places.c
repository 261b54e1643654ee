// Narrow places: numbers by which a nest looks elements up, or scatters them, are computed in 32 bits where 32 bits
// hold them, whatever the type in which the model has them. A register has twice as many lanes of those, and a load of
// separate elements takes as many at once. Requires the program function in value form; leaves it in value form. Exact.
//
//   before   n = min(max(sext(x[i]), 0), 31) : i64;  y[i] = t[n]           x of i32
//   after    n = min(max(x[i], 0), 31) : i32;        y[i] = t[n]
//
// The low half of a sum, a difference or a product is that of the halves; a minimum, a maximum or a comparison of
// halves is right where both halves are all of the number (pb_nest_ranges).
#include "core/s3/s3.h"

#include "core/poly/nest.h"
#include "core/s3/program.h"

enum { NONE = -1 };

typedef struct narrower {
  const pb_nest* from;
  pb_nest* to;
  const pb_range* range;  // by node of `from`
  int map[PB_NEST_EXPR];  // by node of `from`: what it is in `to`,
  int half[PB_NEST_EXPR]; // and its low half, of those of 64 bits; NONE: it is not there
} narrower;

static bool is_within(const pb_range* range, int64_t least, int64_t most) {
  return range->least >= least && range->most <= most;
}

static bool is_narrow(const pb_range* range) { return is_within(range, INT32_MIN, INT32_MAX); }

static bool has_half(const narrower* w, int a) {
  return a >= 0 && w->from->expr[a].type == PB_I64 && w->half[a] != NONE;
}

// What the operation on two numbers of 64 bits is on their halves, where those are all of them; PB_OP_OTHER: there is
// none.
static pb_op on_halves(const narrower* w, const pb_expr_node* n) {
  static const struct {
    pb_op with_sign, without;
  } twins[] = {{PB_OP_MAX, PB_OP_MAXU},
               {PB_OP_MIN, PB_OP_MINU},
               {PB_OP_LESS, PB_OP_LESSU},
               {PB_OP_LESS_EQUAL, PB_OP_LESS_EQUALU},
               {PB_OP_EQUAL, PB_OP_EQUAL}};
  size_t k = 0;
  while (k < sizeof twins / sizeof *twins && twins[k].with_sign != n->op) ++k;
  if (k == sizeof twins / sizeof *twins || !has_half(w, n->args[0]) || !has_half(w, n->args[1])) return PB_OP_OTHER;
  const pb_range *a = &w->range[n->args[0]], *b = &w->range[n->args[1]];
  if (is_narrow(a) && is_narrow(b)) return twins[k].with_sign;
  return is_within(a, 0, UINT32_MAX) && is_within(b, 0, UINT32_MAX) ? twins[k].without : PB_OP_OTHER;
}

static int put(narrower* w, pb_op op, int a, int b) { return pb_nest_node(w->to, op, PB_I32, a, b); }

// The half of a node whose operands have halves; NONE: it is none of them.
static int half_of_halves(narrower* w, const pb_expr_node* n) {
  pb_op op = n->op;
  switch (n->op) {
  case PB_OP_SELECT: {
    if (!has_half(w, n->args[1]) || !has_half(w, n->args[2])) return NONE;
    int made = put(w, PB_OP_SELECT, w->map[n->args[0]], w->half[n->args[1]]);
    w->to->expr[made].args[2] = w->half[n->args[2]];
    return made;
  }
  case PB_OP_MAX:
  case PB_OP_MIN:
    op = on_halves(w, n);
    break;
  case PB_OP_ADD:
  case PB_OP_SUB:
  case PB_OP_MUL:
  case PB_OP_AND:
  case PB_OP_OR:
  case PB_OP_XOR:
    break;
  default:
    return NONE;
  }
  bool is = op != PB_OP_OTHER && has_half(w, n->args[0]) && has_half(w, n->args[1]);
  return is ? put(w, op, w->half[n->args[0]], w->half[n->args[1]]) : NONE;
}

static int half_of(narrower* w, int e) {
  const pb_expr_node* n = &w->from->expr[e];
  if (n->type != PB_I64) return NONE;
  if (n->op == PB_OP_CONST) return pb_nest_integer(w->to, PB_I32, (int32_t)(uint32_t)(uint64_t)n->integer);
  if (n->op == PB_OP_SEXT || n->op == PB_OP_ZEXT) {
    bool same = w->from->expr[n->args[0]].type == PB_I32;
    return same ? w->map[n->args[0]] : put(w, n->op, w->map[n->args[0]], NONE);
  }
  int made = half_of_halves(w, n);
  return made == NONE && is_narrow(&w->range[e]) ? put(w, PB_OP_TRUNC, w->map[e], NONE) : made;
}

// The node, by halves where those say as much.
static int node_of(narrower* w, int e) {
  pb_expr_node n = w->from->expr[e];
  int a = n.args[0], b = n.args[1];
  bool place = n.op == PB_OP_SEXT && n.type == PB_INDEX && has_half(w, a) && is_narrow(&w->range[a]);
  pb_op compares = pb_op_compares(n.op) ? on_halves(w, &n) : PB_OP_OTHER;
  if (place) return pb_nest_node(w->to, n.op, n.type, w->half[a], NONE);
  if (compares != PB_OP_OTHER) return pb_nest_node(w->to, compares, n.type, w->half[a], w->half[b]);
  return pb_nest_node_from(w->to, n, w->map);
}

// Whether a number of 64 bits says where the nest goes, and 32 hold it.
static bool may_narrow(const pb_nest* nest, const pb_range* range) {
  bool any = false;
  for (int e = 0; e < nest->expr_count; ++e) {
    const pb_expr_node* n = &nest->expr[e];
    if (n->op != PB_OP_SEXT || n->type != PB_INDEX || nest->expr[n->args[0]].type != PB_I64) continue;
    any |= is_narrow(&range[n->args[0]]);
  }
  return any && 2 * nest->expr_count < PB_NEST_EXPR;
}

static void narrow(pb_nest* nest, narrower* w) {
  pb_nest_copy(w->to, nest);
  w->to->expr_count = 0;
  for (int e = 0; e < nest->expr_count; ++e) {
    w->map[e] = node_of(w, e);
    w->half[e] = half_of(w, e);
  }
  if (pb_nest_store(w->to)->gathered) w->to->stored_at = w->map[nest->stored_at];
  pb_nest_end(w->to, w->map[nest->expr_count - 1]);
  pb_nest_copy(nest, w->to);
}

bool pb_s3_narrow_places(pb_unit* unit, pb_program* p) {
  narrower* w = PB_NEW(&unit->pass, narrower);
  pb_range* range = PB_NEW_ARRAY(&unit->pass, pb_range, PB_NEST_EXPR);
  bool any = false;
  w->range = range;
  w->to = PB_NEW(&unit->pass, pb_nest);
  for (int n = 0; n < p->nest_count; ++n) {
    if (!pb_nest_gathers(&p->nests[n]) && !pb_nest_store(&p->nests[n])->gathered) continue;
    w->from = &p->nests[n];
    pb_nest_ranges(w->from, w->from->expr_count, range);
    if (!may_narrow(w->from, range)) continue;
    narrow(&p->nests[n], w);
    any = true;
  }
  return any;
}

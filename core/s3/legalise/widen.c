// Widen: codes of 8 bits between nests are stored as 16 where the chip's cores multiply such alone: extending them
// once, when they are made, is cheaper than in each product that takes them. Weights stay narrow: each is loaded for
// many rows. Requires the program function in value form; leaves it so. Exact.
//
//   before   v = memref<i8>;   v = fptosi(y);                     acc += sext(v) * sext(w)
//   after    v = memref<i16>;  v = trunc(fptosi(y) : i32) : i16;  acc += sext(v) * sext(w)
#include "core/s3/kernel/vector.h"
#include "core/s3/program.h"

typedef struct widener {
  pb_program* program;
  bool* wide; // by value
} widener;

// Whether the chip multiplies such codes, though only after they were extended.
static bool extends(pb_unit* unit) {
  pb_select_memo memo = {.chip = unit->chip, .arena = &unit->pass};
  pb_vector_insn insn = pb_vector_contraction(&memo, PB_I8, PB_I8, PB_I32);
  return insn.insn && pb_vector_extends(&insn, insn.x, PB_I8);
}

// Whether a product takes the value, by all lanes alike or by several rows.
static bool is_factor(const pb_program* p, int v) {
  PB_FOR_USES (n, p, v) {
    pb_contraction_dims roles;
    if (!pb_nest_contraction_dims(&p->nests[n], NULL, &roles)) continue;
    bool depthwise = true; // each channel for itself: no factor is there for several products
    for (int d = 0; d < p->nests[n].dim_count; ++d) depthwise &= roles.role[d] != PB_ROLE_N;
    if (!depthwise && (p->value_of[n][roles.x] == v || p->value_of[n][roles.w] == v)) return true;
  }
  return false;
}

// Whether all nests that use it can have it so: it is set, or the largest of some.
static bool can_be_wide(const pb_program* p, int v) {
  if (!pb_program_is_local(p, v) || p->values[v].type != PB_I8) return false;
  PB_FOR_USES (n, p, v) {
    const pb_nest* nest = &p->nests[n];
    bool stores = pb_program_stored(p, n) == v;
    if (pb_nest_is_fixed(nest)) return false;
    if (stores && nest->reduce != PB_SET && nest->reduce != PB_ACC_MAX) return false;
    if (nest->expr_count > PB_NEST_EXPR / 2) return false; // each node may become two
  }
  return true;
}

// What is copied lies as its copy does.
static void follow_copies(const pb_program* p, const bool* can, bool* wide) {
  for (bool any = true; any;) {
    any = false;
    for (int n = 0; n < p->nest_count; ++n) {
      if (!pb_nest_is_copy(&p->nests[n])) continue;
      int from = p->value_of[n][0], to = p->value_of[n][1];
      if (wide[from] == wide[to] || !can[from] || !can[to]) continue;
      wide[from] = wide[to] = any = true;
    }
  }
}

typedef struct rewriting {
  const pb_nest* from;
  pb_nest* to;
  int map[PB_NEST_EXPR];  // by node of `from`: its value as it was
  int wide[PB_NEST_EXPR]; // and as 16 bits, -1: it has no such form
} rewriting;

// The load of a value that is wide, as it was: whoever takes more than its bits asks for `wide`.
static int narrow(rewriting* r, int e) {
  if (r->map[e] < 0) r->map[e] = pb_nest_node(r->to, PB_OP_TRUNC, PB_I8, r->wide[e], -1);
  return r->map[e];
}

static void rewrite_node(rewriting* r, int e, bool wide_load) {
  pb_expr_node node = r->from->expr[e];
  r->wide[e] = -1;
  if (node.op == PB_OP_LOAD && wide_load) {
    node.type = PB_I16;
    r->map[e] = -1;
    r->wide[e] = r->to->expr_count;
    r->to->expr[r->to->expr_count++] = node;
    return;
  }
  bool takes_wide = (node.op == PB_OP_SEXT && node.type != PB_I16) || node.op == PB_OP_SITOFP;
  bool extended = takes_wide && r->wide[node.args[0]] >= 0;
  for (int a = 0; a < 3; ++a)
    if (node.args[a] >= 0) node.args[a] = extended ? r->wide[node.args[a]] : narrow(r, node.args[a]);
  r->map[e] = r->to->expr_count;
  r->to->expr[r->to->expr_count++] = node;
}

// The nest's value as 16 bits.
static void widen_result(rewriting* r) {
  int last = r->from->expr_count - 1;
  const pb_expr_node* node = &r->from->expr[last];
  if (r->wide[last] >= 0) return; // a copy
  if (node->op == PB_OP_CONST) {
    r->to->expr[r->map[last]].type = PB_I16;
  } else if (node->op == PB_OP_FPTOSI8) {
    pb_expr_node* made = &r->to->expr[r->map[last]];
    made->op = PB_OP_FPTOSI;
    made->type = PB_I32;
    (void)pb_nest_node(r->to, PB_OP_TRUNC, PB_I16, r->map[last], -1);
  } else
    (void)pb_nest_node(r->to, PB_OP_SEXT, PB_I16, r->map[last], -1);
}

static void rewrite(widener* w, int n, rewriting* r) {
  pb_nest* nest = &w->program->nests[n];
  r->from = nest;
  pb_nest_copy(r->to, nest);
  r->to->expr_count = 0;
  bool stores = false;
  for (int a = 0; a < nest->access_count; ++a) {
    if (!w->wide[w->program->value_of[n][a]]) continue;
    r->to->access[a].type = PB_I16;
    stores |= a + 1 == nest->access_count;
  }
  for (int e = 0; e < nest->expr_count; ++e) {
    const pb_expr_node* node = &nest->expr[e];
    rewrite_node(r, e, node->op == PB_OP_LOAD && w->wide[w->program->value_of[n][node->operand]]);
  }
  if (stores)
    widen_result(r);
  else
    (void)narrow(r, nest->expr_count - 1); // a copy of what was wide
  pb_nest_copy(nest, r->to);
}

bool pb_s3_widen(pb_unit* unit, pb_program* p) {
  if (!extends(unit)) return false;
  bool any = false, *can = PB_NEW_ARRAY(&unit->pass, bool, (size_t)p->value_count + 1);
  widener w = {.program = p, .wide = PB_NEW_ARRAY(&unit->pass, bool, (size_t)p->value_count + 1)};
  for (int v = 0; v < p->value_count; ++v) {
    can[v] = can_be_wide(p, v);
    any |= w.wide[v] = can[v] && is_factor(p, v);
  }
  if (!any) return false;
  follow_copies(p, can, w.wide);
  rewriting* r = PB_NEW(&unit->pass, rewriting);
  r->to = PB_NEW(&unit->pass, pb_nest);
  for (int n = 0; n < p->nest_count; ++n) {
    bool touched = false;
    for (int a = 0; a < p->nests[n].access_count; ++a) touched |= w.wide[p->value_of[n][a]];
    if (touched) rewrite(&w, n, r);
  }
  for (int v = 0; v < p->value_count; ++v)
    if (w.wide[v]) p->values[v].type = PB_I16;
  return true;
}

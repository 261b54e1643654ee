// Inline: a pointwise nest whose result only one other pointwise nest takes, element by element, is computed there.
// Requires the program function in value form; leaves it in value form. Exact: the same operations on the same numbers.
//
//   before   b[i] = a[i] / 2;  c[i] = erf(b[i]);  y[i] = a[i] * c[i]
//   after    y[i] = a[i] * erf(a[i] / 2)
//
// What takes a reduction's result alone stays by itself: it will be that reduction's epilogue, and what it leaves is
// smaller than sums are. In front of `math`, which wants room for the functions in a nest. Where nests are commands,
// which pass values on the chip, only what fewer commands compute than before.
#include "core/math/math.h"
#include "core/s3/compose.h"
#include "core/s3/kernel/landing.h"
#include "core/s3/kernels.h"

#include <string.h>

// A taker and the maker of one of its loads, and what becomes of them.
typedef struct merge {
  const pb_chip* chip;
  const pb_program* p;
  int taker, maker, load, dim_of[PB_NEST_RANK];
  int values[PB_NEST_ACCESSES]; // by access of `out`
  pb_nest out;
} merge;

typedef struct inliner {
  pb_unit* unit;
  pb_program program;
  bool* dropped; // nests
  merge* merge;  // one for all of them: most of a nest is not in use, nor touched
} inliner;

static bool is_pointwise(const pb_nest* nest) {
  return nest->reduce == PB_SET && nest->access_count > 1 && nest->expr_count > 1 && !pb_nest_is_fixed(nest);
}

// Whether nests make the value. Constants and inputs have a use in every second nest of a long chain: to look through
// them for a writer would take time by the square of its length.
static bool is_made(const pb_program* p, int value) {
  return p->values[value].kind != PB_VALUE_CONST && p->values[value].kind != PB_VALUE_INPUT;
}

static bool is_epilogue(const inliner* i, int n) {
  const pb_program* p = &i->program;
  for (int a = 0; a + 1 < p->nests[n].access_count; ++a)
    if (is_made(p, p->value_of[n][a]) && pb_program_is_reduced(p, p->value_of[n][a]) &&
        pb_program_only_reader(p, i->dropped, p->value_of[n][a]) == n)
      return true;
  return false;
}

// Nodes once functions are written out.
static int room_for(const pb_nest* nest) {
  int nodes = 0;
  for (int e = 0; e < nest->expr_count; ++e) nodes += pb_math_find(nest->expr[e].op) ? PB_MATH_NODES : 1;
  return nodes;
}

static bool same_access(const pb_access* a, const pb_access* b) {
  return a->boxed == b->boxed && pb_same_indices(a, b);
}

// The number of the access among those of `nest`, which grows by it if it is new; -1: it has no room for more.
static int add_access(pb_nest* nest, int* values, const pb_access* access, int value) {
  for (int a = 0; a < nest->access_count; ++a)
    if (values[a] == value && same_access(&nest->access[a], access)) return a;
  if (nest->access_count + 1 >= PB_NEST_JOINED) return -1; // the store comes behind them
  nest->access[nest->access_count] = *access;
  values[nest->access_count] = value;
  return nest->access_count++;
}

// The node that loads by an access already, -1: none does.
static int loaded(const pb_nest* nest, int access) {
  for (int e = 0; e < nest->expr_count; ++e)
    if (nest->expr[e].op == PB_OP_LOAD && nest->expr[e].operand == access) return e;
  return -1;
}

// Appends the expression of nest n; what its loads become is in `access`. Node `taken` stands for the loads of `load`.
static int append(merge* m, int n, const int* access, int load, int taken) {
  const pb_nest* nest = &m->p->nests[n];
  int map[PB_NEST_EXPR];
  for (int e = 0; e < nest->expr_count; ++e) {
    pb_expr_node node = nest->expr[e];
    if (node.op == PB_OP_LOAD && node.operand == load) {
      map[e] = taken;
      continue;
    }
    if (node.op == PB_OP_LOAD) {
      node.operand = access[node.operand];
      map[e] = loaded(&m->out, node.operand);
      if (map[e] >= 0) continue;
    }
    map[e] = pb_nest_node_from(&m->out, node, map);
  }
  return map[nest->expr_count - 1];
}

// Whether elements of some tensor come to the maker several times each, otherwise than along lanes: movers bring them
// so, and take the result away, where commands take whole rows, so that no kernel passes it on to the taker on the
// chip. Not where the taker walks a constant along its rows: then a number could not come as one row of lanes (align).
static bool spreads(const merge* m) {
  const pb_nest* maker = &m->p->nests[m->maker];
  const pb_nest* taker = &m->p->nests[m->taker];
  const pb_access* store = &maker->access[maker->access_count - 1];
  for (int a = 0; a + 1 < taker->access_count; ++a)
    if (pb_program_is_const(m->p, m->taker, a) && pb_access_uses(&taker->access[a], taker->dim_count - 1)) return false;
  for (int a = 0; a + 1 < maker->access_count; ++a)
    if (!pb_program_is_const(m->p, m->maker, a) && pb_nest_repeats(maker, &maker->access[a]) &&
        !pb_repeats_along(&maker->access[a], store))
      return true;
  return false;
}

// Whether the chip has less to do for both in one nest: commands are to be fewer, as code's always are, or to compute
// what none did by itself; as many are enough for what would leave the chip in between.
static bool gains(const merge* m) {
  int maker = pb_point_commands(m->chip, &m->p->nests[m->maker]),
      taker = pb_point_commands(m->chip, &m->p->nests[m->taker]), both = pb_point_commands(m->chip, &m->out);
  return both && (!maker || !taker || both < maker + taker + spreads(m));
}

// The taker with the maker's expression in place of its load. false: a nest has no room for both.
static bool make(merge* m) {
  const pb_nest *taker = &m->p->nests[m->taker], *maker = &m->p->nests[m->maker];
  int of_maker[PB_NEST_ACCESSES], of_taker[PB_NEST_ACCESSES];
  if (room_for(taker) + room_for(maker) > PB_NEST_EXPR) return false;
  pb_nest_copy(&m->out, taker);
  m->out.access_count = m->out.expr_count = 0;
  for (int a = 0; a + 1 < maker->access_count; ++a) {
    pb_access composed = pb_access_compose(&taker->access[m->load], m->dim_of, &maker->access[a]);
    of_maker[a] = add_access(&m->out, m->values, &composed, m->p->value_of[m->maker][a]);
    if (of_maker[a] < 0) return false;
  }
  for (int a = 0; a + 1 < taker->access_count; ++a) {
    if (a == m->load) continue;
    of_taker[a] = add_access(&m->out, m->values, &taker->access[a], m->p->value_of[m->taker][a]);
    if (of_taker[a] < 0) return false;
  }
  int taken = append(m, m->maker, of_maker, -1, -1), last = append(m, m->taker, of_taker, m->load, taken);
  m->out.access[m->out.access_count] = taker->access[taker->access_count - 1];
  m->values[m->out.access_count++] = m->p->value_of[m->taker][taker->access_count - 1];
  return last == m->out.expr_count - 1 && gains(m); // a nest that only loads is a copy, and none of these
}

// Whether load `a` of nest n takes each element once, of a value that a pointwise nest makes for it alone.
static bool can_inline(const inliner* i, int n, int a, merge* m) {
  const pb_program* p = &i->program;
  const pb_nest* taker = &p->nests[n];
  const pb_access* access = &taker->access[a];
  int value = p->value_of[n][a], maker = is_made(p, value) ? pb_program_only_writer(p, value) : -1;
  if (maker < 0 || maker >= n || access->boxed || access->gathered || pb_program_only_reader(p, i->dropped, value) != n)
    return false;
  for (int b = 0; b + 1 < taker->access_count; ++b)
    if (b != a && p->value_of[n][b] == value) return false; // at two places
  if (pb_nest_repeats(taker, access) || pb_access_can_leave(taker, access)) return false;
  m->p = p, m->taker = n, m->maker = maker, m->load = a;
  const pb_nest* nest = &p->nests[maker];
  return is_pointwise(nest) && !is_epilogue(i, maker) &&
         pb_walks_elements(nest, &nest->access[nest->access_count - 1], m->dim_of);
}

static bool inline_one(inliner* i, int n) {
  pb_program* p = &i->program;
  merge* m = i->merge;
  for (int a = 0; a + 1 < p->nests[n].access_count; ++a) {
    if (!can_inline(i, n, a, m) || !make(m)) continue;
    i->dropped[m->maker] = true;
    pb_nest_copy(&p->nests[n], &m->out);
    memcpy(p->value_of[n], m->values, sizeof *m->values * (size_t)m->out.access_count);
    for (int b = 0; b < m->out.access_count; ++b) pb_program_add_use(p, &i->unit->pass, n, m->values[b]);
    return true;
  }
  return false;
}

pb_status pb_s3_inline(pb_unit* unit) {
  inliner i = {.unit = unit};
  PB_TRY(pb_program_read_main(unit, &i.program));
  bool changed = false;
  i.merge = PB_NEW(&unit->pass, merge);
  i.merge->chip = unit->chip;
  i.dropped = PB_NEW_ARRAY(&unit->pass, bool, (size_t)i.program.nest_count + 1);
  for (int n = 0; n < i.program.nest_count; ++n)
    while (is_pointwise(&i.program.nests[n]) && inline_one(&i, n)) changed = true;
  return changed ? pb_program_rewrite(unit, &i.program, i.dropped, "inline") : PB_OK;
}

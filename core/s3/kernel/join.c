#include "core/s3/kernel/join.h"
#include "core/math/math.h"
#include "core/s3/compose.h"

bool pb_join_takes(const pb_nest* nest) {
  return nest->reduce == PB_SET && nest->access_count > 1 && nest->expr_count > 1 && !pb_nest_is_fixed(nest);
}

bool pb_join_is_number(const pb_nest* nest) {
  return nest->reduce == PB_SET && nest->access_count == 1 && nest->expr_count == 1 &&
         nest->expr[0].op == PB_OP_CONST && !nest->access[0].gathered;
}

// Nodes once functions are written out.
static int room_for(const pb_nest* nest) {
  int nodes = 0;
  for (int e = 0; e < nest->expr_count; ++e) nodes += pb_math_find(nest->expr[e].op) ? PB_MATH_NODES : 1;
  return nodes;
}

static bool same_access(const pb_access* a, const pb_access* b) {
  return a->boxed == b->boxed && !a->gathered && !b->gathered && pb_same_indices(a, b);
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
    if (nest->expr[e].op == PB_OP_LOAD && nest->expr[e].operand == access) return nest->expr[e].args[0] < 0 ? e : -1;
  return -1;
}

// Appends the expression of nest n; what its loads become is in `access`. Node `taken` stands for the loads of `load`.
static int append(pb_join* m, int n, const int* access, int load, int taken) {
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
      map[e] = node.args[0] < 0 ? loaded(&m->out, node.operand) : -1;
      if (map[e] >= 0) continue;
    }
    map[e] = pb_nest_node_from(&m->out, node, map);
  }
  if (n == m->taker && pb_nest_store((pb_nest*)nest)->gathered) m->out.stored_at = map[nest->stored_at];
  return map[nest->expr_count - 1];
}

pb_join* pb_join_begin(pb_program* program, pb_arena* arena) {
  pb_join* join = PB_NEW(arena, pb_join);
  join->p = program;
  return join;
}

bool pb_join_make(pb_join* m) {
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
  return last == m->out.expr_count - 1; // a nest that only loads is a copy, and none of these
}

bool pb_join_find_any(pb_join* m, int n, int a) {
  const pb_program* p = m->p;
  const pb_nest* taker = &p->nests[n];
  const pb_access* access = &taker->access[a];
  int value = p->value_of[n][a], maker = pb_join_is_made(p, value) ? pb_program_only_writer(p, value) : -1;
  if (maker < 0 || maker >= n || access->boxed || access->gathered) return false;
  if (pb_nest_repeats(taker, access) || pb_access_can_leave(taker, access)) return false;
  m->taker = n, m->maker = maker, m->load = a;
  const pb_nest* nest = &p->nests[maker];
  return (pb_join_takes(nest) || pb_join_is_number(nest) || (m->copies && pb_nest_is_copy(nest))) &&
         pb_walks_elements(nest, &nest->access[nest->access_count - 1], m->dim_of);
}

bool pb_join_find(pb_join* m, int n, int a) {
  const pb_program* p = m->p;
  int value = p->value_of[n][a];
  if (pb_join_is_made(p, value) && pb_program_only_reader(p, value) != n) return false;
  for (int b = 0; b + 1 < p->nests[n].access_count; ++b)
    if (b != a && p->value_of[n][b] == value) return false; // at two places
  return pb_join_find_any(m, n, a);
}

bool pb_join_is_epilogue(const pb_program* p, int n) {
  for (int a = 0; a + 1 < p->nests[n].access_count; ++a) {
    int value = p->value_of[n][a];
    if (pb_join_is_made(p, value) && pb_program_is_reduced(p, value) && pb_program_only_reader(p, value) == n)
      return true;
  }
  return false;
}

void pb_join_keep(pb_join* m, pb_arena* arena) { pb_program_set_nest(m->p, arena, m->taker, &m->out, m->values); }

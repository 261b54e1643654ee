#include "core/select/cover.h"

#include "core/select/unify.h"

#include <stdlib.h>

static const int64_t impossible = INT64_MAX / 4;

// The best way to make a node's value in a memory.
typedef struct way {
  bool known, emitted;
  int64_t cost; // impossible: there is none
  pb_piece piece;
} way;

typedef struct coverer {
  const pb_chip* chip;
  const pb_flat* nest;
  int carried;
  bool sets;
  int uses[PB_COVER_NODES];
  way (*ways)[PB_MAX_MEMORIES]; // by node
} coverer;

// Cycles for a thousand elements, and something for the command itself.
static int64_t cost_of(const pb_insn* insn) {
  int64_t elements = 1;
  for (int d = 0; d < insn->dim_count; ++d)
    if (elements < 1 << 20 && !insn->dims[d].table) elements *= insn->dims[d].max;
  return 1000 * pb_cycles_at_most(insn) / elements + 1;
}

static bool each_element_alone(const pb_insn* insn) {
  for (int d = 0; d < insn->dim_count; ++d)
    if (pb_insn_reduces_over(insn, d)) return false;
  return true;
}

static int64_t solve(coverer* c, int node, int memory);

// Every window and every immediate has something to stand for; what is cut off can be made where it is read.
static int64_t windows_cost(coverer* c, const pb_insn* insn, const pb_binding* binding, pb_piece* piece) {
  int64_t cost = 0;
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* operand = &insn->operands[o];
    if (operand->memory < 0) {
      if (!binding->imm_set[o] && o != insn->acc_flag) return impossible;
      continue;
    }
    if (o == insn->dest || binding->access_of[o] >= 0) continue;
    if (binding->node_of[o] < 0) return impossible;
    cost += solve(c, binding->node_of[o], operand->memory);
    if (cost >= impossible) return impossible;
    piece->leaves[piece->leaf_count] = binding->node_of[o];
    piece->leaf_memory[piece->leaf_count++] = operand->memory;
  }
  return cost;
}

static void keep_cheaper(way* best, int64_t cost, const pb_piece* piece) {
  if (cost >= best->cost) return;
  best->cost = cost;
  best->piece = *piece;
}

static void try_set(coverer* c, const pb_insn* insn, int node, int memory, way* best) {
  pb_binding binding;
  pb_piece piece = {.insn = insn, .node = node, .memory = memory, .addend = -1, .onto = -1, .onto_access = -1};
  if (!pb__unify_node(insn, c->nest, node, &binding)) return;
  int64_t cost = windows_cost(c, insn, &binding, &piece);
  if (cost < impossible) keep_cheaper(best, cost + cost_of(insn), &piece);
}

static int loads_of(const coverer* c, int access) {
  int count = 0;
  for (int n = 0; n < c->nest->expr_count; ++n)
    count += c->nest->expr[n].op == PB_OP_LOAD && c->nest->expr[n].operand == access;
  return count;
}

// node = onto + addend: in the place of onto, if nobody else wants that. The nest's own result has a place of its own.
static void try_add(coverer* c, const pb_insn* insn, int node, int memory, way* best) {
  const pb_expr_node* n = &c->nest->expr[node];
  if (n->op != pb_reduce_op(insn->reduce) || !each_element_alone(insn)) return;
  if (node == c->nest->expr_count - 1) return;
  for (int side = 0; side < 2; ++side) {
    int onto = n->args[side];
    const pb_expr_node* there = &c->nest->expr[onto];
    pb_piece piece = {
        .insn = insn, .node = node, .memory = memory, .addend = n->args[1 - side], .onto = onto, .onto_access = -1};
    pb_binding binding;
    if (c->uses[onto] != 1 || !pb__unify_node(insn, c->nest, piece.addend, &binding)) continue;
    int64_t cost = 0;
    if (there->op == PB_OP_LOAD) {
      if (there->operand != c->carried || c->nest->access[there->operand].memory != memory) continue;
      if (loads_of(c, there->operand) != 1) continue;
      piece.onto = -1;
      piece.onto_access = there->operand;
    } else {
      cost = solve(c, onto, memory);
    }
    if (cost < impossible) cost += windows_cost(c, insn, &binding, &piece);
    if (cost < impossible) keep_cheaper(best, cost + cost_of(insn), &piece);
  }
}

static int64_t solve(coverer* c, int node, int memory) {
  way* best = &c->ways[node][memory];
  if (best->known) return best->cost;
  best->known = true;
  best->cost = impossible;
  for (int i = 0; i < c->chip->insn_count; ++i) {
    const pb_insn* insn = &c->chip->insns[i];
    if (!insn->operand_count || insn->emit || insn->operands[insn->dest].memory != memory ||
        insn->operands[insn->dest].type != c->nest->expr[node].type)
      continue;
    if (!c->sets && c->nest->expr[node].op == PB_OP_CONST) continue;
    if (insn->reduce == PB_SET)
      try_set(c, insn, node, memory, best);
    else
      try_add(c, insn, node, memory, best);
  }
  return best->cost;
}

static bool emit(coverer* c, int node, int memory, pb_cover* cover) {
  way* w = &c->ways[node][memory];
  if (w->emitted) return true;
  w->emitted = true;
  const pb_piece* p = &w->piece;
  if (p->onto >= 0 && !emit(c, p->onto, memory, cover)) return false;
  for (int k = 0; k < p->leaf_count; ++k)
    if (!emit(c, p->leaves[k], p->leaf_memory[k], cover)) return false;
  if (cover->count == PB_MAX_PIECES) return false;
  cover->pieces[cover->count++] = *p;
  return true;
}

bool pb_cover_find(const pb_chip* chip, const pb_flat* nest, int carried, bool sets, pb_cover* cover) {
  cover->count = 0;
  if (nest->reduce != PB_SET || nest->expr_count > PB_COVER_NODES) return false;
  coverer* c = calloc(1, sizeof *c);
  if (!c) pb_no_memory(sizeof *c);
  c->ways = calloc((size_t)nest->expr_count, sizeof *c->ways);
  if (!c->ways) pb_no_memory((size_t)nest->expr_count * sizeof *c->ways);
  c->chip = chip, c->nest = nest, c->carried = carried, c->sets = sets;
  for (int n = 0; n < nest->expr_count; ++n)
    for (int k = 0; k < 3; ++k)
      if (nest->expr[n].args[k] >= 0) ++c->uses[nest->expr[n].args[k]];
  int root = nest->expr_count - 1, place = nest->access[nest->access_count - 1].memory, best = -1;
  for (int m = 0; m < chip->memory_count; ++m)
    if ((place == PB_ANY_MEMORY || place == m) && solve(c, root, m) < impossible &&
        (best < 0 || solve(c, root, m) < solve(c, root, best)))
      best = m;
  bool found = best >= 0 && emit(c, root, best, cover);
  free(c->ways);
  free(c);
  return found;
}

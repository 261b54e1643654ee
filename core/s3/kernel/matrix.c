// Instructions of cores on registers that hold rows: what the description says they multiply, and what moves them.
#include "core/s3/kernel/vector.h"

int64_t pb_matrix_part(int64_t extent, int64_t most) {
  int64_t parts = (extent + most - 1) / most;
  return (extent + parts - 1) / parts;
}

int64_t pb_matrix_divisor(int64_t extent, int64_t most) {
  int64_t best = 1;
  for (int64_t d = 2; d <= most && d <= extent; ++d)
    if (extent % d == 0) best = d;
  return best;
}

static bool in_rows(const pb_chip* chip, const pb_operand* operand) {
  return operand->memory >= 0 && chip->memories[operand->memory].value[0];
}

static bool walks(const pb_operand* operand, const int* dims, int count) {
  for (int k = 0; k < count; ++k)
    if (operand->rank != count || operand->dims[k] != dims[k]) return false;
  return true;
}

// y[m, n] += x[m, k, g] * w[k, n, g].
static bool read_product(const pb_chip* chip, const pb_insn* insn, pb_matrix_insn* matrix) {
  if (!insn->emit) return false;
  const pb_expr_node* last = &insn->expr[insn->expr_count - 1];
  const pb_operand* y = &insn->operands[insn->dest];
  if (insn->reduce != PB_ACC_ADD || last->op != PB_OP_MUL || !in_rows(chip, y) || y->rank != 2) return false;
  pb_factor a = pb_factor_of(insn->expr, last->args[0]), b = pb_factor_of(insn->expr, last->args[1]);
  if (a.load < 0 || b.load < 0 || a.is_unsigned || b.is_unsigned) return false;
  for (int swap = 0; swap < 2; ++swap) {
    const pb_operand *x = &insn->operands[swap ? b.load : a.load], *w = &insn->operands[swap ? a.load : b.load];
    if (x->rank != 3 || x->memory != y->memory || w->memory != y->memory) continue;
    int m = y->dims[0], n = y->dims[1], k = x->dims[1], g = x->dims[2];
    if (!walks(x, (int[]){m, k, g}, 3) || !walks(w, (int[]){k, n, g}, 3)) continue;
    *matrix = (pb_matrix_insn){.insn = insn,
                               .x = swap ? b.load : a.load,
                               .w = swap ? a.load : b.load,
                               .y = insn->dest,
                               .memory = y->memory,
                               .m = m,
                               .n = n,
                               .k = k,
                               .g = g,
                               .rows = insn->dims[m].max,
                               .lanes = insn->dims[n].max,
                               .steps = insn->dims[k].max,
                               .group = insn->dims[g].max};
    return true;
  }
  return false;
}

// The instruction that sets operands in registers from rows of memory, or the other way round.
static const pb_insn* mover(const pb_chip* chip, int memory, pb_type type, bool load) {
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    if (!insn->emit || insn->reduce != PB_SET || insn->expr_count != 1 || insn->expr[0].op != PB_OP_LOAD) continue;
    const pb_operand *to = &insn->operands[insn->dest], *from = &insn->operands[insn->expr[0].operand];
    const pb_operand *inside = load ? to : from, *outside = load ? from : to;
    if (inside->memory == memory && outside->memory == chip->system_memory && inside->type == type &&
        inside->rank == 2 && outside->rank == 2 && walks(outside, inside->dims, 2))
      return insn;
  }
  return NULL;
}

static const pb_insn* clearing(const pb_chip* chip, int memory, pb_type type) {
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    if (!insn->emit) continue;
    const pb_operand* to = &insn->operands[insn->dest];
    if (insn->reduce == PB_SET && insn->expr_count == 1 && insn->expr[0].op == PB_OP_CONST &&
        insn->expr[0].value == 0 && to->memory == memory && to->type == type && to->rank == 2)
      return insn;
  }
  return NULL;
}

pb_matrix_insn pb_matrix_contraction(const pb_chip* chip, pb_type x, pb_type w, pb_type y) {
  for (int i = 0; i < chip->insn_count; ++i) {
    pb_matrix_insn found;
    if (!read_product(chip, &chip->insns[i], &found)) continue;
    const pb_operand* operands = found.insn->operands;
    if (operands[found.x].type != x || operands[found.w].type != w || operands[found.y].type != y) continue;
    found.load_x = mover(chip, found.memory, x, true);
    found.load_w = mover(chip, found.memory, w, true);
    found.store = mover(chip, found.memory, y, false);
    found.zero = clearing(chip, found.memory, y);
    if (found.load_x && found.load_w && found.store && found.zero) return found;
  }
  return (pb_matrix_insn){0};
}

int64_t pb_matrix_cycles(const pb_matrix_insn* matrix, int64_t rows, int64_t steps) {
  int64_t extents[PB_MAX_INSN_DIMS] = {0};
  extents[matrix->m] = rows;
  extents[matrix->n] = matrix->lanes;
  extents[matrix->k] = steps;
  extents[matrix->g] = matrix->group;
  return pb_cycles(matrix->insn, extents);
}

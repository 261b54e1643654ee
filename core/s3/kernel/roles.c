#include "core/s3/kernel/roles.h"

#include <string.h>

// The load behind an expression node, through a zero point, a widening and a flip of bits; -1: something else.
static int load_behind(const pb_expr_node* expr, int node) {
  if (expr[node].op == PB_OP_SUB && expr[node].type == PB_I32) {
    int zero = expr[node].args[1];
    if (expr[zero].op == PB_OP_SEXT) zero = expr[zero].args[0];
    if (expr[zero].op == PB_OP_CONST || expr[zero].op == PB_OP_IMM) node = expr[node].args[0];
  }
  if (expr[node].op == PB_OP_SEXT || expr[node].op == PB_OP_ZEXT) node = expr[node].args[0];
  if (expr[node].op == PB_OP_XOR) node = expr[node].args[0];
  return expr[node].op == PB_OP_LOAD ? expr[node].operand : -1;
}

static bool product_of_loads(const pb_expr_node* expr, int count, int* a, int* b) {
  if (!count || expr[count - 1].op != PB_OP_MUL) return false;
  *a = load_behind(expr, expr[count - 1].args[0]);
  *b = load_behind(expr, expr[count - 1].args[1]);
  return *a >= 0 && *b >= 0 && *a != *b;
}

static pb_role role_of(bool x, bool w, bool y) {
  if (x && w && y) return PB_ROLE_B;
  if (x && y) return PB_ROLE_M;
  if (w && y) return PB_ROLE_N;
  if (x && w) return PB_ROLE_K;
  return PB_ROLE_NONE;
}

bool pb_nest_roles(const pb_nest* nest, const bool* is_weight, pb_roles* roles) {
  int a, b;
  if (nest->reduce != PB_ACC_ADD || !product_of_loads(nest->expr, nest->expr_count, &a, &b)) return false;
  bool swap = is_weight && is_weight[a] && !is_weight[b];
  memset(roles, 0, sizeof *roles);
  roles->x = swap ? b : a;
  roles->w = swap ? a : b;
  roles->y = nest->access_count - 1;
  for (int d = 0; d < nest->dim_count; ++d)
    roles->role[d] = role_of(pb_access_uses(&nest->access[roles->x], d), pb_access_uses(&nest->access[roles->w], d),
                             pb_access_uses(&nest->access[roles->y], d));
  return true;
}

static bool operand_uses(const pb_operand* operand, int dim) {
  for (int k = 0; k < operand->rank; ++k)
    if (operand->dims[k] == dim) return true;
  return false;
}

// The operand with moving rows is x: an instruction holds its weights still.
bool pb_insn_roles(const pb_insn* insn, pb_roles* roles) {
  int a, b;
  if (insn->reduce != PB_ACC_ADD || !product_of_loads(insn->expr, insn->expr_count, &a, &b)) return false;
  memset(roles, 0, sizeof *roles);
  roles->y = insn->dest;
  for (int swap = 0; swap < 2; ++swap) {
    roles->x = swap ? b : a;
    roles->w = swap ? a : b;
    bool moves = false;
    for (int d = 0; d < insn->dim_count; ++d) {
      roles->role[d] = role_of(operand_uses(&insn->operands[roles->x], d), operand_uses(&insn->operands[roles->w], d),
                               operand_uses(&insn->operands[roles->y], d));
      moves |= roles->role[d] == PB_ROLE_M && insn->dims[d].min < insn->dims[d].max;
    }
    if (moves) return true;
  }
  return true;
}

int pb_insn_lanes(const pb_insn* insn, const pb_roles* roles, pb_role role) {
  for (int d = 0; d < insn->dim_count; ++d)
    if (roles->role[d] == role && insn->dims[d].min == insn->dims[d].max) return insn->dims[d].max;
  return 0;
}

const pb_insn* pb_chip_contraction(const pb_chip* chip, pb_type x, pb_type w, pb_type y, pb_roles* roles) {
  const pb_insn* best = NULL;
  int64_t most = 0;
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    pb_roles r;
    if (!pb_insn_roles(insn, &r) || insn->operands[r.x].type != x || insn->operands[r.w].type != w ||
        insn->operands[r.y].type != y)
      continue;
    int64_t products = (int64_t)pb_insn_lanes(insn, &r, PB_ROLE_N) * pb_insn_lanes(insn, &r, PB_ROLE_K);
    if (products <= most) continue;
    best = insn;
    most = products;
    *roles = r;
  }
  return best;
}

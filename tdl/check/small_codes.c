// Codes of 4 bits, two in a byte. Outside they are read alone; in a memory of the chip they lie as they came, or as a
// command made them, and whatever reads them there widens them. A command that copies them moves whole bytes, and one
// that makes them an even number in each row, so that nobody writes half of a byte.
#include "tdl/check/check.h"

#define FAULT(code, hint, ...) (++*faults, (void)pb_error(diag, place, code, hint, __VA_ARGS__))

pb_op pb_insn_unpacks(const pb_insn* insn) {
  const pb_expr_node* e = insn->expr;
  bool shaped = insn->reduce == PB_SET && insn->expr_count == 3 && e[0].op == PB_OP_LOAD && e[0].type == PB_I4 &&
                e[0].args[0] < 0 && (e[1].op == PB_OP_SEXT || e[1].op == PB_OP_ZEXT) && e[1].type == PB_I32 &&
                e[2].op == PB_OP_TRUNC && e[2].type == PB_I8 && insn->operands[insn->dest].type == PB_I8;
  return shaped ? e[1].op : PB_OP_COUNT;
}

bool pb_insn_moves_small_codes(const pb_insn* insn) {
  return insn->operand_count && insn->reduce == PB_SET && insn->expr_count == 1 && insn->expr[0].op == PB_OP_LOAD &&
         insn->expr[0].type == PB_I4 && insn->expr[0].args[0] < 0 && insn->operands[insn->dest].type == PB_I4;
}

// Whether each value that is read of the window is widened.
static bool is_widened(const pb_insn* insn, int operand) {
  for (int n = 0; n < insn->expr_count; ++n)
    for (int k = 0; k < 3 && insn->expr[n].args[k] >= 0; ++k) {
      const pb_expr_node* from = &insn->expr[insn->expr[n].args[k]];
      bool widens = insn->expr[n].op == PB_OP_SEXT || insn->expr[n].op == PB_OP_ZEXT;
      if (from->op == PB_OP_LOAD && from->operand == operand && (!widens || from->args[0] >= 0)) return false;
    }
  const pb_expr_node* last = &insn->expr[insn->expr_count - 1];
  return last->op != PB_OP_LOAD || last->operand != operand;
}

static bool makes_small_codes(const pb_insn* insn) {
  const pb_expr_node* last = insn->expr_count ? &insn->expr[insn->expr_count - 1] : NULL;
  return last && insn->reduce == PB_SET && last->op == PB_OP_TRUNC && last->type == PB_I4;
}

static bool writes_whole_bytes(const pb_insn* insn, const pb_operand* w) {
  const pb_dim* last = w->rank ? &insn->dims[w->dims[w->rank - 1]] : NULL;
  return last && last->min == last->max && last->max % 2 == 0;
}

static void check_place(const pb_chip* chip, const pb_insn* insn, const pb_operand* w, pb_place place, pb_diag* diag,
                        int* faults) {
  bool outside = w->memory >= 0 && pb_is_outside(&chip->memories[w->memory]);
  if (w->memory < 0 || pb_in_banks(&chip->memories[w->memory]) || (outside && w->written))
    FAULT(3335, "a window that is read outside the chip, or one in a memory of the chip whose parts commands name",
          "%s: operand '%s' is of i4", insn->name, w->name);
  else if (w->written && !pb_insn_moves_small_codes(insn) && !makes_small_codes(insn))
    FAULT(3338, "(set $dst, $src), both of I4, or (set $dst, (trunc4 ...))",
          "%s writes codes of i4, '%s', and is no copy of such", insn->name, w->name);
  else if (w->written && makes_small_codes(insn) && !writes_whole_bytes(insn, w))
    FAULT(3386, "a last dim of a fixed, even extent", "%s writes codes of i4, '%s', and of a byte perhaps one alone",
          insn->name, w->name);
  if (outside && !w->written && pb_is_outside(&chip->memories[insn->operands[insn->dest].memory]))
    FAULT(3333, "a memory of the chip as its destination", "%s copies window '%s' of %s to %s, outside again",
          insn->name, w->name, chip->memories[w->memory].name, chip->memories[insn->operands[insn->dest].memory].name);
}

static void check_reading(const pb_chip* chip, const pb_insn* insn, int operand, pb_place place, pb_diag* diag,
                          int* faults) {
  const pb_operand* w = &insn->operands[operand];
  if (w->written || w->memory < 0 || pb_insn_moves_small_codes(insn)) return;
  if (pb_is_outside(&chip->memories[w->memory]) && pb_insn_unpacks(insn) == PB_OP_COUNT &&
      pb_insn_palette(chip, insn) < 0 && pb_insn_two_of_four(insn) < 0)
    FAULT(3336,
          "(set $dst, (trunc8 (sext $src))), or with zext, and a destination of I8; or one of I4; or (set $dst, "
          "(lookup $t, (zext $src)))",
          "%s does more with codes of i4, '%s', than make bytes of them, look them up or copy them", insn->name,
          w->name);
  else if (!is_widened(insn, operand))
    FAULT(3339, "(sext $a), (zext $a)", "%s takes codes of i4, '%s', and does not widen them", insn->name, w->name);
}

// Whole bytes of both sides walk together, and none is filled.
static void check_copy(const pb_insn* insn, pb_place place, pb_diag* diag, int* faults) {
  const pb_operand *from = &insn->operands[insn->expr[0].operand], *to = &insn->operands[insn->dest];
  bool together = from->rank && to->rank && from->dims[from->rank - 1] == to->dims[to->rank - 1];
  if (!together || from->has_box)
    FAULT(3345, "one dim last in both, and no box", "%s copies codes of i4, and %s", insn->name,
          together ? "fills what lies outside a box" : "its windows end with different dims");
}

void pb__check_small_codes(const pb_chip* chip, pb_diag* diag, int* faults) {
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    pb_place place = {.file = insn->file, .line = insn->line, .column = 1};
    for (int o = 0; o < insn->operand_count; ++o) {
      const pb_operand* w = &insn->operands[o];
      if (w->type != PB_I4) continue;
      check_place(chip, insn, w, place, diag, faults);
      check_reading(chip, insn, o, place, diag, faults);
      for (int k = 0; w->memory >= 0 && k < w->rank; ++k)
        if ((w->strides[k].kind == PB_STRIDE_ELEM) != (k + 1 == w->rank))
          FAULT(3337, "\"elem\" last, and nowhere else", "%s: stride %d of window '%s', of i4", insn->name, k, w->name);
    }
    if (pb_insn_moves_small_codes(insn)) check_copy(insn, place, diag, faults);
  }
}

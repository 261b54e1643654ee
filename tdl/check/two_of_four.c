// Commands that make elements of two of four, and of their places among these: of constants outside, and nothing else.
#include "tdl/check/check.h"

#define FAULT(code, hint, ...) (++*faults, (void)pb_error(diag, place, code, hint, __VA_ARGS__))

// The body has no other node of that kind: tdl/read/values.c makes it where the description says so.
static int place_node(const pb_insn* insn) {
  for (int n = 0; n < insn->expr_count; ++n)
    if (insn->expr[n].op == PB_OP_INDEX) return n;
  return -1;
}

int pb_insn_two_of_four(const pb_insn* insn) {
  int at = place_node(insn);
  return at < 0 ? -1 : insn->expr[at].operand;
}

static void check_one(const pb_chip* chip, const pb_insn* insn, pb_diag* diag, int* faults) {
  enum { NODES = 14 }; // of (two_of_four ...) alone
  pb_place place = {.file = insn->file, .line = insn->line, .column = 1};
  int outside = pb_insn_outside(chip, insn);
  const pb_memory* to = &chip->memories[insn->operands[insn->dest].memory];
  if (insn->reduce != PB_SET || insn->expr_count != NODES)
    FAULT(3349, "(set $dst, (two_of_four $a, $b, $w))", "%s does more with two of four than put them where they belong",
          insn->name);
  if (pb_is_outside(to) || pb_in_banks(to))
    FAULT(3350, "a memory of the chip whose parts commands name", "%s puts two of four into %s", insn->name, to->name);
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* w = &insn->operands[o];
    if (!w->read || w->memory < 0) continue;
    if (w->memory != outside || w->has_box)
      FAULT(3351, "one memory outside, and no box", "%s: two of four, or their places, of window '%s', which %s",
            insn->name, w->name, w->has_box ? "has a box" : "lies elsewhere");
  }
}

void pb__check_two_of_four(const pb_chip* chip, pb_diag* diag, int* faults) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (pb_insn_two_of_four(&chip->insns[i]) >= 0) check_one(chip, &chip->insns[i], diag, faults);
}

// Commands that gather rows of a table by numbers that lie in a memory of the chip: a mover's work, whose time is that
// of the rows named. They do nothing else with what they read, so that who reads how much is known before it is read.
#include "tdl/check/check.h"

#define FAULT(code, hint, ...) (++*faults, (void)pb_error(diag, place, code, hint, __VA_ARGS__))

// Whether the result walks each of the window's dims, from number `first` on: nothing is reduced.
static bool is_walked(const pb_insn* insn, const pb_operand* window, int first) {
  for (int k = first; k < window->rank; ++k)
    if (pb_operand_index(&insn->operands[insn->dest], window->dims[k]) < 0) return false;
  return true;
}

static void check_gather(const pb_chip* chip, const pb_insn* insn, pb_diag* diag, int* faults) {
  pb_place place = {.file = insn->file, .line = insn->line, .column = 1};
  const pb_operand *table = &insn->operands[pb_insn_gathers(insn)], *rows = &insn->operands[table->rows];
  const pb_memory* at = &chip->memories[rows->memory];
  if (insn->reduce != PB_SET || insn->expr_count != 2)
    FAULT(3340, "(set $dst, (gather $t, $i))", "%s does more with the rows of '%s' than move them", insn->name,
          table->name);
  if (table->written || table->has_box || pb_holds_tiles(&chip->memories[table->memory]))
    FAULT(3341, "an addressed memory, read alone",
          "%s: rows are gathered of window '%s', which is written, boxed, or in registers", insn->name, table->name);
  if (pb_is_outside(at) || pb_holds_tiles(at) || rows->has_box)
    FAULT(3342, "an addressed memory of the chip, and no box", "%s: numbers of rows, '%s', lie in %s%s", insn->name,
          rows->name, at->name, rows->has_box ? " and have a box" : "");
  if (!is_walked(insn, table, 1) || !is_walked(insn, rows, 0))
    FAULT(3343, "dims of the result", "%s: a window that gathers rows walks a dim that '%s' does not", insn->name,
          insn->operands[insn->dest].name);
  if (table->strides[0].kind == PB_STRIDE_ELEM || table->strides[0].kind == PB_STRIDE_NONE)
    FAULT(3344, "a field, \"row\" or a number", "%s: the rows of '%s' do not lie behind each other", insn->name,
          table->name);
}

void pb__check_gathers(const pb_chip* chip, pb_diag* diag, int* faults) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (pb_insn_gathers(&chip->insns[i]) >= 0) check_gather(chip, &chip->insns[i], diag, faults);
}

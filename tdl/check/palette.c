// Commands that make elements of codes and a table of them, a palette: (set $dst, (lookup $t, (zext $c))), the codes
// outside the chip. Constants of few values lie there as codes; the palette comes before them, to a memory of the chip.
#include "tdl/check/check.h"

#define FAULT(code, hint, ...) (++*faults, (void)pb_error(diag, place, code, hint, __VA_ARGS__))

int pb_insn_palette(const pb_chip* chip, const pb_insn* insn) {
  const pb_expr_node* e = insn->expr;
  if (!insn->operand_count || insn->reduce != PB_SET || insn->expr_count != 3) return -1;
  if (e[0].op != PB_OP_LOAD || e[0].args[0] >= 0 || e[1].op != PB_OP_ZEXT || e[1].type != PB_I32 || e[1].args[0])
    return -1;
  if (e[2].op != PB_OP_LOAD || e[2].args[0] != 1 || insn->operands[e[2].operand].rows >= 0) return -1;
  const pb_operand *codes = &insn->operands[e[0].operand], *to = &insn->operands[insn->dest];
  if (!pb_is_outside(&chip->memories[codes->memory]) || pb_is_outside(&chip->memories[to->memory])) return -1;
  bool narrower = (codes->type == PB_I4 || codes->type == PB_I8) && pb_type_bits(codes->type) < pb_type_bits(to->type);
  return narrower ? e[2].operand : -1;
}

// Whether a command copies elements of the window's type, from outside to where it lies.
static bool is_filled(const pb_chip* chip, const pb_operand* table) {
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    if (!insn->operand_count || insn->reduce != PB_SET || insn->expr_count != 1 || insn->expr[0].op != PB_OP_LOAD)
      continue;
    const pb_operand *from = &insn->operands[insn->expr[0].operand], *to = &insn->operands[insn->dest];
    bool same = insn->mover ? pb_type_bits(to->type) == pb_type_bits(table->type) : to->type == table->type;
    if (same && to->memory == table->memory && pb_is_outside(&chip->memories[from->memory])) return true;
  }
  return false;
}

static void check_palette(const pb_chip* chip, const pb_insn* insn, pb_diag* diag, int* faults) {
  pb_place place = {.file = insn->file, .line = insn->line, .column = 1};
  const pb_operand *table = &insn->operands[pb_insn_palette(chip, insn)],
                   *codes = &insn->operands[insn->expr[0].operand];
  const pb_memory* at = &chip->memories[table->memory];
  int size = insn->dims[table->dims[0]].max, most = 1 << pb_type_bits(codes->type);
  if (pb_is_outside(at) || pb_holds_tiles(at))
    FAULT(3346, "an addressed memory of the chip", "%s: the palette '%s' lies in %s", insn->name, table->name,
          at->name);
  else if (!is_filled(chip, table))
    FAULT(3347, "a command that copies it there from outside", "%s: nothing brings the palette '%s' to %s", insn->name,
          table->name, at->name);
  if (size < 2 || size > most)
    FAULT(3348, pb_type_bits(codes->type) == 4 ? "2 to 16" : "2 to 256",
          "%s: the palette '%s' has %d elements, and '%s' is of %s", insn->name, table->name, size, codes->name,
          pb_type_name(codes->type));
}

void pb__check_palettes(const pb_chip* chip, pb_diag* diag, int* faults) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (pb_insn_palette(chip, &chip->insns[i]) >= 0) check_palette(chip, &chip->insns[i], diag, faults);
}

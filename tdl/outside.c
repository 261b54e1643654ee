// What lies outside the chip beside tensors as they are. Memories of scope "constants": outside the chip like the
// system's, but the host alone writes them, before the first kernel runs. Commands bring what they hold into the chip
// and do nothing else with it, so that where a tensor lies is asked of one command: that which fetches it.
#include "tdl/check/check.h"

int pb_constants_number(const pb_chip* chip, int memory) {
  for (int k = 0; k < chip->constant_memory_count; ++k)
    if (chip->constant_memories[k] == memory) return k;
  return -1;
}

int pb_insn_outside(const pb_chip* chip, const pb_insn* insn) {
  for (int o = 0; o < insn->operand_count; ++o)
    if (insn->operands[o].memory >= 0 && pb_is_outside(&chip->memories[insn->operands[o].memory]))
      return insn->operands[o].memory;
  return -1;
}

#define FAULT(place, code, hint, ...) (++*faults, (void)pb_error(diag, place, code, hint, __VA_ARGS__))

static bool is_copy(const pb_insn* insn) {
  return insn->reduce == PB_SET && insn->expr_count == 1 && insn->expr[0].op == PB_OP_LOAD;
}

// Returns how many windows of the instruction read the memory of constants.
static int check_insn(const pb_chip* chip, const pb_insn* insn, int constants, pb_diag* diag, int* faults) {
  const char* memory = chip->memories[constants].name;
  pb_place place = {.file = insn->file, .line = insn->line, .column = 1};
  int windows = 0;
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* w = &insn->operands[o];
    if (w->memory != constants) continue;
    ++windows;
    if (w->written)
      FAULT(place, 3331, "a memory of the chip, or the system's",
            "%s: window '%s' writes %s, which the host alone does", insn->name, w->name, memory);
    else if (!is_copy(insn) && pb_insn_unpacks(insn) == PB_OP_COUNT && pb_insn_gathers(insn) < 0 &&
             pb_insn_palette(chip, insn) < 0 && pb_insn_two_of_four(insn) < 0)
      FAULT(place, 3332, "a command that copies it to a memory of the chip first",
            "%s computes on window '%s' in %s, from which commands only copy", insn->name, w->name, memory);
    else if (pb_is_outside(&chip->memories[insn->operands[insn->dest].memory]))
      FAULT(place, 3333, "a memory of the chip as its destination", "%s copies window '%s' of %s to %s, outside again",
            insn->name, w->name, memory, chip->memories[insn->operands[insn->dest].memory].name);
  }
  return windows;
}

static void check_memory(const pb_chip* chip, int constants, pb_diag* diag, int* faults) {
  int windows = 0;
  for (int i = 0; i < chip->insn_count; ++i) windows += check_insn(chip, &chip->insns[i], constants, diag, faults);
  if (!windows)
    FAULT(chip->memories[constants].place, 3334, "a command that copies from it",
          "nothing reads %s, a memory of scope \"constants\"", chip->memories[constants].name);
}

void pb__check_outside(const pb_chip* chip, pb_diag* diag, int* faults) {
  int count = chip->constant_memory_count;
  if (!count) return;
  if (chip->control != PB_CONTROL_QUEUES) {
    const pb_memory* first = &chip->memories[chip->constant_memories[0]];
    FAULT(first->place, 3329, "let Scope = \"system\" on the one memory outside",
          "%s: a memory of scope \"constants\" is for commands of queues", first->name);
    return;
  }
  if (chip->arguments < 1 + count)
    FAULT(chip->place, 3330, count == 1 ? "2 or more" : "1 more than there are memories of scope \"constants\"",
          "Arguments is %d: no command can name a tensor in each memory outside", chip->arguments);
  for (int k = 0; k < count; ++k) check_memory(chip, chip->constant_memories[k], diag, faults);
}

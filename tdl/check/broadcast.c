// Movers that read once for several cores. Each of these has the command in its own queue, where its tokens say that
// its memory is free; so what the command means is the same for one core and for many, but for who reads.
#include "tdl/check/check.h"

#define FAULT(code, hint, ...) (++*faults, (void)pb_error(diag, place, code, hint, __VA_ARGS__))

static bool is_state(const pb_field* field) { return field->state_writer != -1; }

// Whether each bit of the field stands in the command.
static bool is_encoded(const pb_field* field) {
  bool whole = true;
  for (int b = 0; b < field->width; ++b) whole &= field->bits[b] >= 0;
  return whole;
}

static void check_field(const pb_chip* chip, const pb_insn* insn, pb_place place, pb_diag* diag, int* faults) {
  const pb_field* field = &insn->fields[insn->broadcast];
  if (is_state(field) || !is_encoded(field))
    FAULT(3380, "let Inst{..} = field", "%s: field '%s' says which cores a read is for, and does not stand in Inst",
          insn->name, field->name);
  if (field->is_signed || field->form != PB_FORM_PLAIN)
    FAULT(3381, "bits as they are", "%s: field '%s' says which cores a read is for, and is %s", insn->name, field->name,
          field->is_signed ? "in Signed" : "derived");
  if (field->width < chip->cores)
    FAULT(3382, "a bit for each core", "%s: field '%s' has %d bits, the chip has %d cores", insn->name, field->name,
          field->width, chip->cores);
  if (chip->cores > PB_MOST_READERS)
    FAULT(3397, "a chip of 32 cores at most", "%s reads for several of %d cores", insn->name, chip->cores);
}

static void check_broadcast(const pb_chip* chip, const pb_insn* insn, pb_diag* diag, int* faults) {
  pb_place place = {.file = insn->file, .line = insn->line, .column = 1};
  check_field(chip, insn, place, diag, faults);
  if (!insn->mover || !pb_is_outside(&chip->memories[insn->operands[insn->expr[0].operand].memory])) {
    FAULT(3383, "let Mover = 1, (set $dst, $src) with $src in a memory outside",
          "%s reads for several cores, and is no mover from a memory that they share", insn->name);
    return;
  }
  const pb_memory* to = &chip->memories[insn->operands[insn->dest].memory];
  if (pb_is_outside(to) || pb_in_banks(to))
    FAULT(3384, "a memory of the core's own whose places commands name", "%s reads for several cores into %s, %s",
          insn->name, to->name, pb_is_outside(to) ? "which they share" : "whose banks are taken in turn");
}

void pb__check_broadcasts(const pb_chip* chip, pb_diag* diag, int* faults) {
  const pb_insn* first = NULL;
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    if (insn->broadcast < 0 || insn->emit) continue;
    check_broadcast(chip, insn, diag, faults);
    if (!first) first = insn;
    if (chip->fence && insn->queue != first->queue) {
      pb_place place = {.file = insn->file, .line = insn->line, .column = 1};
      FAULT(3385, "commands of one queue, whose order is the same in every core's list",
            "%s of %s reads for several cores, as %s of %s does", insn->name, chip->queues[insn->queue].name,
            first->name, chip->queues[first->queue].name);
    }
  }
}

// Inside tdl: checks that need more than one field. Each reports what is wrong and counts it.
#ifndef PB_TDL_CHECK_H
#define PB_TDL_CHECK_H

#include "tdl/chip.h"

void pb__check_memory(const pb_memory* memory, pb_place place, pb_diag* diag, int* faults);
void pb__check_dim(const pb_insn* insn, const pb_dim* dim, const char* name, pb_place place, pb_diag* diag,
                   int* faults);
void pb__check_insn(const pb_chip* chip, const pb_insn* insn, pb_place place, pb_diag* diag, int* faults);
// What concerns several instructions; only called when each alone is right.
void pb__check_chip(const pb_chip* chip, pb_diag* diag, int* faults);
// That no encoded field says two things. In uses.c, called by pb__check_chip.
void pb__check_uses(const pb_chip* chip, pb_diag* diag, int* faults);
// That a derived field is used for what it can say. In derived.c, called by pb__check_chip.
void pb__check_derived(const pb_chip* chip, pb_diag* diag, int* faults);
// Which queues can give which a semaphore whenever they must: what pb_queue says of them. In order.c, of a chip whose
// instructions are known.
void pb__find_sure_semaphores(pb_chip* chip);
// Commands that wait for semaphores, and that signal them: notes their fields. In order.c.
void pb__find_semaphore_insns(pb_chip* chip, pb_diag* diag, int* faults);
// That queues which use one memory can be put in order. In order.c, called by pb__check_chip.
void pb__check_order(const pb_chip* chip, pb_diag* diag, int* faults);
// Memories whose banks are taken in turn, and commands that go on beside others. In banks.c, called by
// pb__check_chip.
void pb__check_banks(const pb_chip* chip, pb_diag* diag, int* faults);
// Codes of 4 bits. In small_codes.c, called by pb__check_chip.
void pb__check_small_codes(const pb_chip* chip, pb_diag* diag, int* faults);
// A memory of scope "constants". In outside.c, called by pb__check_chip.
void pb__check_outside(const pb_chip* chip, pb_diag* diag, int* faults);
// Commands that make elements of codes and a palette. In palette.c, called by pb__check_chip.
void pb__check_palettes(const pb_chip* chip, pb_diag* diag, int* faults);
// Commands that make elements of two of four. In two_of_four.c, called by pb__check_chip.
void pb__check_two_of_four(const pb_chip* chip, pb_diag* diag, int* faults);
// Rows gathered by their numbers. In gather.c, called by pb__check_chip.
void pb__check_gathers(const pb_chip* chip, pb_diag* diag, int* faults);
// A mover of a core's own. In core_mover.c.
void pb__check_core_mover(const pb_chip* chip, const pb_core_mover* mover, pb_diag* diag, int* faults);
void pb__check_broadcasts(const pb_chip* chip, pb_diag* diag, int* faults);
// A name that appears in IR, SystemVerilog and reports: letters, digits and '_', at most so many.
void pb__check_name(const char* what, const char* name, size_t most, pb_place place, pb_diag* diag, int* faults);
void pb__chip_hash(pb_chip* chip);

#endif

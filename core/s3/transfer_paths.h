// How data gets from one memory to another, by the description alone.
#ifndef PB_S3_TRANSFER_PATHS_H
#define PB_S3_TRANSFER_PATHS_H

#include "tdl/chip.h"

// The memory from which `memory` is filled with elements of `type`: `memory` itself when a mover brings them straight
// from the system's memory, the one in between when it takes two steps, -1 when there is no way.
int pb_transfer_via(const pb_chip* chip, int memory, pb_type type);
// The same for a tensor that the model knows beforehand: from the memory of scope "constants" if there is a way.
int pb_transfer_constant_via(const pb_chip* chip, int memory, pb_type type);
// The memory outside from which such a tensor is copied to `memory`, and in which it lies: that one if a command copies
// from it there, else the system's.
int pb_transfer_constant_from(const pb_chip* chip, int memory, pb_type type);
// The first mover that brings elements of `type` from the system's memory to `memory`; NULL: none.
const pb_insn* pb_transfer_mover(const pb_chip* chip, int memory, pb_type type);
// Whether a mover takes elements of `type` from the memory to the system's.
bool pb_transfer_leaves(const pb_chip* chip, int memory, pb_type type);
// The mover that brings elements of `type` from the system's memory and can put neighbours apart; NULL: none.
const pb_insn* pb_transfer_transposes(const pb_chip* chip, pb_type type);
// Elements in a row: the fixed extent that most of the chip's instructions share as their innermost dim; 1: none has
// one.
int pb_chip_lanes(const pb_chip* chip);

#endif

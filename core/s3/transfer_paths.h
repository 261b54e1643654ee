// How data gets from one memory to another, by the description alone.
#ifndef PB_S3_TRANSFER_PATHS_H
#define PB_S3_TRANSFER_PATHS_H

#include "core/s3/constant_homes.h"
#include "core/s3/kernels.h"
#include "tdl/chip.h"

// The memory from which `memory` is filled with elements of `type`: `memory` itself when a mover brings them straight
// from the system's memory, the one in between when it takes two steps, -1 when there is no way.
int pb_transfer_via(const pb_chip* chip, int memory, pb_type type);
// The same for a tensor that the model knows beforehand: from the first of its homes from which there is a way.
int pb_transfer_constant_via(const pb_chip* chip, pb_constant_facts facts, int memory, pb_type type);
// The memory outside from which such a tensor is copied to `memory`, and in which it lies: the first of its homes from
// which a command copies it there, else the system's. *unpacks: the operation by which the command makes bytes of codes
// of 4 bits; PB_OP_COUNT: it copies bytes.
int pb_transfer_constant_from(const pb_chip* chip, pb_constant_facts facts, int memory, pb_type type, pb_op* unpacks);
// Where in between such a tensor of i8 may lie with two codes in a byte: commands copy it so from outside, and make
// bytes of it on the way to `memory`. -1: nowhere. *codes: PB_I4, or of codes that are widened without a sign PB_U4.
int pb_transfer_packed_via(const pb_chip* chip, pb_constant_facts facts, int memory, pb_type type, pb_type* codes);
// From where commands copy such codes to `memory`, where instructions read them as they lie: `memory` itself when they
// come straight from outside. -1: there is no way.
int pb_transfer_packed_to(const pb_chip* chip, unsigned kept_out, int memory);
// The home from which a command copies such codes to `memory`; -1: from none.
int pb_transfer_packed_from(const pb_chip* chip, unsigned kept_out, int memory);

// The memories that elements of `type` come through on the way from the one memory to the other, by commands that copy
// them, in the fewest steps: the last one is `to`. At most `most`, and none of those in between is outside. Returns how
// many there are, 0: there is no such way.
int pb_transfer_path(const pb_chip* chip, int from, int to, pb_type type, int* homes, int most);

// Whether a command copies elements of `type` from the one memory to the other.
bool pb_transfer_copies(const pb_chip* chip, int from, int to, pb_type type);

// Whether one copies elements of `type` from the memory to any other.
bool pb_transfer_brings(const pb_chip* chip, int from, pb_type type);

bool pb_chip_gathers(const pb_chip* chip); // whether any command gathers rows of a table
// The first of a constant's homes from which a command gathers rows of elements of `type`; without one the system's.
int pb_transfer_gathers_from(const pb_chip* chip, unsigned kept_out, pb_type type);

// The first mover that brings elements of `type` from the system's memory to `memory`; NULL: none.
const pb_insn* pb_transfer_mover(const pb_chip* chip, int memory, pb_type type);
// The mover that brings elements of `type` from the system's memory and can put neighbours apart; NULL: none.
const pb_insn* pb_transfer_transposes(const pb_chip* chip, pb_type type);
// Elements in a row: the fixed extent that most of the chip's instructions share as their innermost dim; 1: none has
// one. Where queues have products that sum or make another number at once, rows are whole numbers of each.
int pb_chip_lanes(const pb_chip* chip);

#endif

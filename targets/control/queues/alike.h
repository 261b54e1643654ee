// Kernels that differ in numbers alone, as the layers of a network do in scales and zero points: the same commands in
// the same order with the same tokens. Those of one, put there by a trace, serve the others but for the bits that the
// numbers are.
#ifndef PB_QUEUES_ALIKE_H
#define PB_QUEUES_ALIKE_H

#include "targets/control/queues/decode.h"

// Whether the two differ in nothing but numbers that commands carry as immediates.
bool pb_decoded_alike(const pb_decoded* a, const pb_decoded* b);

// By op of the decoded kernel: the bits in which the commands of that call differ in the other one, chip->command_bytes
// of them; NULL: in none. possible: else a number sets no field that is its own, or does not fit it, and the kernel
// must be followed by itself.
typedef struct pb_changes {
  uint8_t** bits;
  bool possible;
} pb_changes;
// Lies in the arena.
pb_changes pb_changes_between(const pb_chip* chip, const pb_decoded* from, const pb_decoded* to, pb_arena* arena);

#endif

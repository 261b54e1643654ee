// Hardware loops: what repeats with constant increments becomes one loop command and its body.
#ifndef PB_QUEUES_REROLL_H
#define PB_QUEUES_REROLL_H

#include "tdl/chip.h"

#include <stddef.h>

// Rolls one queue's stream in place, `count` encoded commands, and returns how many words are left. Nothing is rolled
// on a chip without a HardwareLoop.
size_t pb_reroll(const pb_chip* chip, uint8_t* words, size_t count);

#endif

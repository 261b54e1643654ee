// Loads that several cores have in common: one read serves them all, where the chip has movers that can (pb.td,
// Broadcast). Cores wait for each other there, and nowhere else within a kernel. So that none waits for ever, all have
// these commands in one order: that in which they are found here, which goes forward in every core's own program.
#ifndef PB_QUEUES_BROADCAST_H
#define PB_QUEUES_BROADCAST_H

#include "targets/control/queues/unroll.h"

typedef struct pb_broadcasts pb_broadcasts;
pb_broadcasts* pb_broadcasts_start(const pb_chip* chip, int cores);
// What comes from now on is that core's, from its first command on.
void pb_broadcasts_turn(pb_broadcasts* broadcasts, int core);
// A pb_taker's: every command of the core, in program order.
pb_status pb_broadcasts_show(void* broadcasts, const pb_unrolled* command) PB_MUST_CHECK;
// Once the commands of all cores have been shown: which loads are one.
void pb_broadcasts_match(pb_broadcasts* broadcasts);
// The field of the core's next command that could be one says so. Commands come as they were shown.
void pb_broadcasts_set(pb_broadcasts* broadcasts, pb_command* command);
void pb_broadcasts_free(pb_broadcasts* broadcasts); // NULL is fine

#endif

// Moves that movers beside a core make, between the system's memory and one of the core's own. A nest whose part is
// PB_MOVE copies between a tensor and a buffer, both by element number; code starts it, and waits for it before it
// reads the buffer, or fills it anew.
#ifndef PB_S3_MOVES_H
#define PB_S3_MOVES_H

#include "core/poly/nest.h"
#include "tdl/chip.h"

#define PB_MOVE "move"

// Elements from one iteration to the next, in what is copied and in the copy.
typedef struct pb_move_loop {
  int64_t extent, from, to;
} pb_move_loop;

// One nest: moves of so many neighbours, each along the mover's own loops, the innermost ones; code goes through the
// others.
typedef struct pb_move {
  int mover;
  bool out;            // of a buffer to its tensor
  int64_t run;         // elements
  int loop_count, own; // own: of them the mover's
  pb_move_loop loops[PB_NEST_DIMS];
} pb_move;

bool pb_is_move(const pb_nest* nest);
// The nest, a copy, becomes a move.
void pb_move_begin(pb_nest* nest);
// memory: in which the buffer lies.
void pb_move_of(const pb_chip* chip, const pb_nest* nest, bool out, int memory, pb_move* move);
int64_t pb_move_starts(const pb_move* move); // that code makes for the nest
// Cycles in which its mover is at it, the system's memory reading or writing whole beats.
int64_t pb_move_cycles(const pb_chip* chip, const pb_move* move, pb_type type);

#endif

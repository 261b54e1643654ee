// What code of a core says to the movers beside it, as calls. In IR these are functions that copy at once; control by
// threads has others in their place. The mover is said as twice its number, and 1 more where it takes a result out.
#ifndef PB_S3_CORE_MOVES_H
#define PB_S3_CORE_MOVES_H

#include "core/s3/lower/lowered.h"
#include "core/s3/tree/moves.h"

// Loads the dialect that the functions are in, which no two threads may do at once.
void pb_core_moves_load(MlirContext context);
// %core: what the calls of one kernel begin with; and behind all of its work.
void pb_core_moves_begin(pb_text* text);
void pb_core_moves_end(pb_text* text);
// One end of a move: its name and type in the IR, and its first element, over loops %o<k>.
typedef struct pb_move_end {
  const char *name, *type;
  const pb_access* access;
} pb_move_end;

// Starts the move; `flag`, an index, says when it is done.
void pb_core_move_start(pb_lowered* l, const pb_nest* nest, const pb_move* move, const pb_move_end ends[2], int levels,
                        const char* flag, int indent);
void pb_core_move_wait(pb_lowered* l, const char* flag, int indent);
// The functions that are called.
extern const char pb_core_move_functions[];
// Their declarations.
extern const char pb_core_move_declarations[];

#endif

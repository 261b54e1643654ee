// What is so far along a dim, an element a turn of a loop that goes in order (turns.c).
#ifndef PB_STABLEHLO_TURNS_H
#define PB_STABLEHLO_TURNS_H

#include "core/frontend/stablehlo/door.h"

// Whether the target's code goes through such loops, and those are short enough beside rounds over all of the tensor.
// combines: the name of the body's only operator, NULL: it has several.
bool pb__door_takes_turns(const pb_door* d, const pb_flat_type* type, int axis, const char* combines);
// Of x, a value of S1, by the body of `op`; `reverse`: from the dim's end on. *y: as many elements.
pb_status pb__door_by_turns(pb_door* d, const pb_flat_op* op, const char* combines, int x, int axis, bool reverse,
                            int* y) PB_MUST_CHECK;

#endif

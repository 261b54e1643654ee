// A scatter whose places the model itself says: which boxes of its operand change, and which stay as they are.
#ifndef PB_STABLEHLO_PIECES_H
#define PB_STABLEHLO_PIECES_H

#include "core/frontend/stablehlo/door.h"

// One window of updates: the elements [lo, hi) of the operand, as far as they lie inside. The update for an element is
// at index element - from[r] along the dim of updates that walks the operand's dim r, and at at[s] along all others.
typedef struct pb_door_window {
  int64_t lo[PB_NEST_RANK], hi[PB_NEST_RANK], from[PB_NEST_RANK], at[PB_NEST_RANK];
} pb_door_window;

// y as x with all windows changed in their order by the operator's body. `walks[s]`: the operand's dim that the dim s
// of the updates walks, -1: none. *made: whether it is few enough pieces; if not, nothing was made.
pb_status pb__door_change_windows(pb_door* d, const pb_flat_op* op, const int* walks, int count,
                                  const pb_door_window* windows, bool* made) PB_MUST_CHECK;

#endif

// Selections that were made before. The planner asks for the same small nests again and again, tiling after tiling: a
// nest is looked up by all that selection sees of it.
#ifndef PB_SELECT_MEMO_H
#define PB_SELECT_MEMO_H

#include "core/select/select.h"

// Starts as {.chip, .arena}; everything lies in the arena, which may not be freed before. Not to be shared by threads.
typedef struct pb_select_memo {
  const pb_chip* chip;
  pb_arena* arena;
  struct pb_memo_entry** table; // open addressing
  size_t count, capacity;
} pb_select_memo;

// As pb_select; *match->nest.expr is the memo's copy, equal to the nest's.
bool pb_select_again(pb_select_memo* memo, const pb_flat* nest, pb_match* match, const char** why);

#endif

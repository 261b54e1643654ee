// Diagnostics of an attempt, until it is known whether it stays.
#ifndef PB_BASE_HELD_H
#define PB_BASE_HELD_H

#include "core/base/arena.h"
#include "core/base/diag.h"

typedef struct pb_held {
  pb_diag diag; // what the attempt says goes here
  pb_diag* to;
  bool passes; // what comes is passed on at once
  pb_arena arena;
  struct pb_held_item* items;
  size_t count, capacity;
} pb_held;

// It may not move from then on.
void pb_held_start(pb_held* held, pb_diag* to);
// Says what was held, and from then on what comes.
void pb_held_release(pb_held* held);
// Ends it; what is held goes unsaid.
void pb_held_end(pb_held* held);

#endif

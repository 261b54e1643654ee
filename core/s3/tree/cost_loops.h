// Inside cost: what one execution of a tree's body takes, and what holds a loop's queues up.
#pragma once
#include "core/s3/tree/cost.h"

enum { BUFFER_WORDS = (PB_MAX_BUFFERS + 63) / 64 };

// One execution of a tree's body, as far as it has been added up. Times are from its own start.
typedef struct part {
  int64_t queue[PB_MAX_QUEUES], commands[PB_MAX_QUEUES];
  int64_t busy[PB_MAX_QUEUES];                 // of queue: without what it waits for
  int64_t words[PB_MAX_QUEUES];                // that are fetched for the commands: fewer, with hardware loops
  int64_t system;                              // cycles of its port
  int64_t constants[PB_MAX_CONSTANT_MEMORIES]; // the same of those that constants lie in apart
  int64_t loaded;                              // of the system's what loads take
  uint32_t loaders;                            // the queues that load
  int64_t chain;                               // cycles in which the iterations of its buffers follow each other
  int64_t end;                                 // the last result is there
  int64_t queue_free[PB_MAX_QUEUES];           // the queue could start something else
  int64_t paced[PB_MAX_QUEUES];     // the same where its loops began no sooner than what they wait for was there
  int64_t first[PB_MAX_QUEUES];     // its first command starts
  bool used[PB_MAX_QUEUES];         // it has one
  bool rolled[PB_MAX_QUEUES];       // its words are a hardware loop's, in part
  bool unfenced[PB_MAX_QUEUES];     // it has commands that no fence inside waits for
  uint32_t follows[PB_MAX_QUEUES];  // queues whose work it has waited for
  int64_t ready[PB_MAX_BUFFERS];    // what fills the buffer has brought enough to go on with
  int64_t whole[PB_MAX_BUFFERS];    // it has brought everything
  int64_t taken[PB_MAX_BUFFERS];    // what reads it first begins
  uint32_t after[PB_MAX_BUFFERS];   // queues whose work what fills it comes after
  uint32_t brought[PB_MAX_BUFFERS]; // queues outside a loop that made it, which brought what it is made of
  uint64_t made_of[PB_MAX_BUFFERS][BUFFER_WORDS];       // which buffers what fills it has read, and those before it
  int64_t from[PB_MAX_BUFFERS], to[PB_MAX_BUFFERS];     // it is in use; to 0: it is not
  int64_t sweep[PB_MAX_BUFFERS], early[PB_MAX_BUFFERS]; // its last piece is begun with so long after `from`, and its
                                                        // first one is left so long before `to`
  uint32_t walked[PB_MAX_BUFFERS];                      // by which of the loops around
  uint32_t filled_by[PB_MAX_BUFFERS], read_by[PB_MAX_BUFFERS]; // queues that do
  int64_t free_at[PB_MAX_BUFFERS]; // a loop's own: its first copy is, behind the loop; 0: it has run out
} part;

static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// What issues: queues, and units that go on beside them; or one core.
static inline int issuers(const pb_tiling* t) { return t->core ? 1 : t->chip->unit_count; }

// How long a copy of the buffer is taken, for those that take the next one piece by piece in the same order.
int64_t pb__cost_held(const part* p, int buffer);
// Cycles from one iteration of the loop to the next that the buffers allow: until their copies are free again. Nobody
// outside sees these: `one` forgets them.
int64_t pb__cost_chain(const pb_tiling* t, const pb_tree* loop, part* one);
// How many iterations ahead of the rest a queue can be: as many as the buffers made in each iteration have copies.
int64_t pb__cost_ahead(const pb_tiling* t, const pb_tree* loop);
// Cycles that a queue is in the loop at least, for what it hands to others or takes from them.
int64_t pb__cost_in_loop(const pb_tiling* t, const pb_tree* loop, const part* one, int queue);
// When a queue has filled the last copies of what others take in the loop, from when these begin it: a copy is free
// when the first of them has been taken. 0: there is a copy for each iteration.
int64_t pb__cost_filled(const pb_tiling* t, const pb_tree* loop, const part* one, int queue);
// Cycles that a queue is in a loop whose other queues come to it late, and late for the queue's own former work:
// nothing of the next iteration outside can be under way meanwhile. `own`: when what it reads itself is there;
// `filled`: as above. `sum`: what was done before the loop.
int64_t pb__cost_held_up(const pb_tiling* t, const part* one, const part* sum, int queue, int64_t own, int64_t filled);

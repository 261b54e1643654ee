// Inside cost: what one execution of a tree's body takes, and what loops make of it.
#pragma once
#include "core/s3/tree/cost.h"
#include "core/s3/tree/cost_cores.h"

enum { BUFFER_WORDS = (PB_MAX_BUFFERS + 63) / 64 };

// Of a queue, a unit that goes on beside them, or a core.
typedef struct queue_part {
  int64_t cycles, commands;
  int64_t busy;     // of cycles: without what it waits for
  int64_t words;    // that are fetched for the commands: fewer, with hardware loops
  int64_t free_at;  // it could start something else
  int64_t paced;    // the same where its loops began no sooner than what they wait for was there
  int64_t first;    // its first command starts
  bool used;        // it has one
  bool rolled;      // its words are a hardware loop's, in part
  bool unfenced;    // it has commands that no fence inside waits for
  uint32_t follows; // queues whose work it has waited for
} queue_part;

typedef struct buffer_part {
  int64_t ready;        // what fills it has brought enough to go on with
  int64_t whole;        // it has brought everything
  int64_t taken;        // what reads it first begins
  int64_t from, to;     // it is in use; to 0: it is not
  int64_t sweep, early; // its last piece is begun with so long after `from`, and its first one left so long before `to`
  int64_t left;         // a loop's own: its iteration has left the copy to whoever takes the next one piece by piece
  int64_t free_at;      // a loop's own: its first copy is, behind the loop; 0: it has run out
  uint32_t after;       // queues whose work what fills it comes after
  uint32_t brought;     // queues outside a loop that made it, which brought what it is made of
  uint32_t walked;      // by which of the loops around
  uint32_t filled_by, read_by;    // queues that do
  uint64_t made_of[BUFFER_WORDS]; // which buffers what fills it has read, and those before it
} buffer_part;

// One execution of a tree's body, as far as it has been added up. Times are from its own start.
typedef struct part {
  int64_t system;                              // cycles of its port
  int64_t constants[PB_MAX_CONSTANT_MEMORIES]; // the same of those that constants lie in apart
  int64_t loaded;                              // of the system's what loads take
  uint32_t loaders;                            // the queues that load
  int64_t chain;                               // cycles in which the iterations of its buffers follow each other
  int64_t end;                                 // the last result is there
  int64_t traffic, waited; // cycles in which caches further out bring what nests take, of all iterations of the loops
                           // around; those of them that nothing hides
  int64_t near;            // cycles in which the innermost cache hands over what nests load, where members share it
  queue_part queue[PB_CORE_QUEUES];
  buffer_part buffer[PB_MAX_BUFFERS]; // as many as the tree has are set
} part;

static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// One execution of a nest.
typedef struct event {
  const pb_nest* nest;
  const pb_match* match; // NULL: code of a core runs it
  pb_match* found;       // room for it
  int unit, queue;       // the queue that its commands come on; -1: nobody has anything to do
  int64_t* taken;        // by issuer
  int64_t commands, words;
  int64_t until_done; // from when its unit is free again until what it writes is there
  int64_t loads;      // cycles of the system memory's port that it reads for
} event;

// One of those who carry nests out beside each other: a queue, a unit that goes on beside it, or a core.
typedef struct pb_issuer {
  const char* name; // what a plan is bound by
  int depth;        // words of it that are fetched ahead; 0: it fetches none
} pb_issuer;

// All of them, and how they do it.
typedef struct pb_issuers {
  int count;
  const pb_issuer* of;
  int queues; // so many of them, the first, fetch words: units that go on beside these fetch none
  int list,
      fence_cycles;    // one list of words for all queues, ordered by fences: words fetched ahead; 0: tokens order them
  const char* outside; // what brings them what they read
  const pb_core_facts* facts;                                  // of code
  bool (*take)(pb_tiling* tiling, part* p, event* e);          // what one execution of a nest takes of whom
  void (*finish)(pb_tiling* tiling, part* all, pb_plan* plan); // what the tree takes
  bool restarts; // who starts moves goes through loops one by one: none of the next one's first iteration's are ahead
  bool of_one;   // what is added up is one member's of the level that shares the kernel; else all that they do in turn
} pb_issuers;

static inline void pb__part_use(buffer_part* b, int64_t from, int64_t to, uint32_t walked, int64_t sweep,
                                int64_t early) {
  b->walked |= walked;
  if (!b->to || from < b->from) b->from = from, b->sweep = sweep;
  if (to > b->to) b->early = early < to - b->to ? early : to - b->to;
  b->to = larger(b->to, to);
}

static inline void pb__part_taken(buffer_part* b, int64_t start, uint32_t queues) {
  if (queues && !b->read_by) b->taken = start;
  b->read_by |= queues;
}

static inline void pb__part_starts(queue_part* queue, int64_t start) {
  if (!queue->used) queue->first = start;
  queue->used = true;
}

// The longest of its queues and of the ports outside.
int64_t pb__part_busiest(const pb_tiling* t, const part* p, const char** name);
// Adds a loop, of whose body one execution takes `one`; that is what later ones take then.
void pb__cost_loop(const pb_tiling* t, const pb_tree* loop, part* one, part* sum);

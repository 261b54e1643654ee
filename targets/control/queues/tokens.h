// What is known of the commands added so far, for those who order them: by tokens between pairs of queues (tokens.c),
// or by semaphores (semaphores.c).
#ifndef PB_QUEUES_TOKENS_H
#define PB_QUEUES_TOKENS_H

#include "targets/control/queues/unroll.h"

#include "core/base/table.h"

typedef struct pb_semaphores pb_semaphores;

// What stays of a command. Kernels are millions of commands: no more than this.
typedef struct noted {
  int32_t position; // in its queue
  uint16_t waits, signals;
  uint8_t queue;
  bool idle;
} noted;

// A region as one queue reads or writes it.
typedef struct use {
  int32_t command; // the last one
  uint8_t queue;
  // All its rows still say so, and no other queue has touched them since but to read what this one reads: one command
  // more of the same kind depends on nothing new, and has no row to mark.
  bool whole;
} use;

// A token: the command that hands it out and the one that takes it.
typedef struct handover {
  int32_t on, id;
} handover;

// The tokens from one queue to another, in the order of the program.
typedef struct pair {
  handover* handovers; // modulo the counter's limit
  int32_t count;
} pair;

struct pb_tokens {
  const pb_chip* chip;
  pb_diag* diag;
  pb_taker relay;
  const char* nest; // of the command that is being added
  int32_t** rows; // by memory: of each row the use that wrote it, -1: none, and of each queue the last to read it since
  use* uses;
  size_t use_count, use_capacity;
  pb_table known_uses; // by region, queue and whether it is written
  pb_arena keys;
  noted* commands;
  size_t count, capacity;
  // by command and queue: how many of that queue's commands are done before it starts
  int32_t* clock;
  size_t clock_count, clock_capacity;
  int32_t known[PB_CORE_QUEUES][PB_CORE_QUEUES];
  int32_t* at[PB_CORE_QUEUES]; // command of each position
  size_t counts[PB_CORE_QUEUES], capacities[PB_CORE_QUEUES];
  int32_t need[PB_CORE_QUEUES]; // positions + 1, for the command at hand
  pair pairs[PB_CORE_QUEUES][PB_CORE_QUEUES];
  // Of a chip with semaphores:
  pb_semaphores* semaphores;
  uint64_t* taken; // by command: how many of each it waits for
  size_t taken_count, taken_capacity;
};

// The first command of a queue that begins when so many of queue p are done, as its place + 1; 0: none does yet.
int32_t pb__first_behind(const pb_tokens* t, int queue, int p, int32_t done);
// A command that does nothing, of that queue, behind what t->need says.
pb_status pb__put_idle(pb_tokens* t, int queue) PB_MUST_CHECK;
// What a command of the queue needs of queue p, from which it has no counter, becomes what it needs of one from which
// it has one.
pb_status pb__find_way(pb_tokens* t, int queue, int p) PB_MUST_CHECK;
// The same behind so many of queue p alone.
pb_status pb__put_idle_behind(pb_tokens* t, int queue, int p, int32_t done) PB_MUST_CHECK;
// The command follows what it takes tokens of: `on`, and what that follows.
void pb__learn(pb_tokens* t, int queue, int32_t on);

pb_semaphores* pb__semaphores_start(void);
void pb__semaphores_free(pb_semaphores* semaphores); // NULL is fine
// Whether what a command of the queue needs of queue p could be signalled as things are.
bool pb__semaphores_lead(const pb_tokens* t, int p, int queue);
// Adds a command of the queue behind all that t->need says, and in front of it what does nothing where it could not be
// ordered otherwise. Its clock is not written yet.
pb_status pb__semaphores_add(pb_tokens* t, int queue) PB_MUST_CHECK;

#endif

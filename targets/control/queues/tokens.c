// Tokens from dependences. Every row of every on-chip memory remembers its last writer and, for each queue, the last
// reader since. A command depends on the writers of what it reads and on writers and readers of what it writes. Queues
// complete in order, so of all commands in queue p that a command of queue c depends on only the latest counts, and one
// counter for each ordered pair is enough: what is waited for grows strictly on both sides, so the n-th wait meets the
// n-th signal. A dependence that follows from tokens already taken (vector clocks over queues, after Lamport and
// Mattern) gets none.
//
// Counters are small. A command cannot complete while a counter that it signals is full, and then queues could block
// each other in a circle. They cannot if the counters would do for running the commands one by one in the order of the
// program: then the first command in that order which has not completed always can. So where one more token would be
// too many in that order, the wait before it is made to wait for the later command instead.
#include "targets/control/queues/trace.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_COUNT = 1024 }; // tokens in a counter that are made use of

typedef struct row_state {
  int32_t writer;                 // command, -1: none
  int32_t readers[PB_MAX_QUEUES]; // command, -1: none since the writer
} row_state;

// A token: the command that hands it out and the one that takes it.
typedef struct handover {
  int32_t on, id;
} handover;

// The tokens from one queue to another, in the order of the program.
typedef struct pair {
  handover* handovers; // modulo the counter's limit
  int32_t count;
} pair;

typedef struct tokens {
  const pb_chip* chip;
  pb_trace* trace;
  row_state** rows;                // by memory
  int32_t* position;               // of each command in its queue
  int32_t (*clock)[PB_MAX_QUEUES]; // by command: how many of each queue's commands are done before it starts
  int32_t known[PB_MAX_QUEUES][PB_MAX_QUEUES];
  int32_t* at[PB_MAX_QUEUES]; // command of each position
  int32_t counts[PB_MAX_QUEUES];
  int32_t need[PB_MAX_QUEUES]; // positions + 1, for the command at hand
  pair pairs[PB_MAX_QUEUES][PB_MAX_QUEUES];
} tokens;

static void depend(tokens* t, int32_t on) {
  if (on < 0) return;
  int queue = t->trace->commands[on].command.insn->queue;
  if (t->position[on] + 1 > t->need[queue]) t->need[queue] = t->position[on] + 1;
}

static void touch_row(tokens* t, row_state* row, int32_t command, int queue, bool write, bool mark) {
  if (!mark) {
    depend(t, row->writer);
    for (int q = 0; write && q < t->chip->queue_count; ++q) depend(t, row->readers[q]);
  } else if (write) {
    row->writer = command;
    memset(row->readers, 0xff, sizeof row->readers);
  } else {
    row->readers[queue] = command;
  }
}

// Walks the rows of a region: all dims but those that make one run of bytes.
static bool touch_region(tokens* t, const pb_region* region, int32_t command, int queue, bool mark) {
  const pb_memory* memory = &t->chip->memories[region->memory];
  int64_t run = region->element, counter[PB_MAX_INSN_DIMS] = {0};
  int outer = region->rank;
  while (outer > 0 && (region->extent[outer - 1] == 1 || region->stride[outer - 1] == run)) {
    run *= region->extent[outer - 1];
    --outer;
  }
  for (;;) {
    int64_t at = region->base;
    for (int d = 0; d < outer; ++d) at += counter[d] * region->stride[d];
    if (at < 0 || at + run > memory->bytes) return false;
    for (int64_t row = at / memory->row_bytes; row <= (at + run - 1) / memory->row_bytes; ++row)
      touch_row(t, &t->rows[region->memory][row], command, queue, region->written, mark);
    int d = outer - 1;
    while (d >= 0 && ++counter[d] == region->extent[d]) counter[d--] = 0;
    if (d < 0) return true;
  }
}

static int32_t limit_of(const tokens* t, int queue) {
  int tokens = t->chip->queues[queue].tokens;
  return tokens < 1 ? 1 : tokens < MAX_COUNT ? tokens : MAX_COUNT;
}

// Of every two neighbouring tokens the first waits for both: half of them are enough.
static void thin_out(tokens* t, int p, int c) {
  pair* x = &t->pairs[p][c];
  pb_traced* commands = t->trace->commands;
  handover* h = x->handovers;
  int32_t limit = limit_of(t, p), kept = 0;
  handover ordered[MAX_COUNT];
  for (int32_t k = 0; k < limit; ++k) ordered[k] = h[(x->count + k) % limit];
  for (int32_t k = 0; k < limit; k += 2) {
    h[kept] = ordered[k];
    if (k + 1 < limit) {
      commands[ordered[k].on].command.signals &= ~(1u << c);
      commands[ordered[k + 1].id].command.waits &= ~(1u << p);
      h[kept].on = ordered[k + 1].on;
    }
    ++kept;
  }
  x->count = kept;
}

// A token from command `on` of queue p to command `id` of queue c.
static void hand(tokens* t, int p, int32_t on, int c, int32_t id) {
  pair* x = &t->pairs[p][c];
  pb_traced* commands = t->trace->commands;
  int32_t limit = limit_of(t, p);
  bool full = x->count >= limit && x->handovers[x->count % limit].id > on; // all of the last are taken after `on`
  commands[on].command.signals |= 1u << c;
  if (full && limit == 1) {
    commands[x->handovers[0].on].command.signals &= ~(1u << c);
    x->handovers[0].on = on;
    return;
  }
  if (full) thin_out(t, p, c);
  commands[id].command.waits |= 1u << p;
  x->handovers[x->count++ % limit] = (handover){on, id};
}

static pb_status visit(tokens* t, int32_t id, pb_diag* diag) {
  pb_traced* c = &t->trace->commands[id];
  int queue = c->command.insn->queue;
  memset(t->need, 0, sizeof t->need);
  for (int mark = 0; mark < 2; ++mark)
    for (int r = 0; r < c->region_count; ++r)
      if (t->rows[c->regions[r].memory] && !touch_region(t, &c->regions[r], id, queue, mark))
        return pb_unsupported(diag, (pb_place){.what = c->nest}, 4105,
                              "this is a bug in the compiler, not in the model", "%s reaches outside %s",
                              c->command.insn->name, t->chip->memories[c->regions[r].memory].name);
  for (int p = 0; p < t->chip->queue_count; ++p) {
    if (p == queue || t->need[p] <= t->known[queue][p]) continue;
    int32_t on = t->at[p][t->need[p] - 1];
    hand(t, p, on, queue, id);
    for (int q = 0; q < t->chip->queue_count; ++q)
      if (t->clock[on][q] > t->known[queue][q]) t->known[queue][q] = t->clock[on][q];
    if (t->need[p] > t->known[queue][p]) t->known[queue][p] = t->need[p];
  }
  memcpy(t->clock[id], t->known[queue], sizeof t->clock[id]);
  t->clock[id][queue] = t->counts[queue]; // those before it in its own queue
  t->position[id] = t->counts[queue];
  t->at[queue][t->counts[queue]++] = id;
  return PB_OK;
}

pb_status pb_trace_tokens(const pb_chip* chip, pb_trace* trace, pb_diag* diag) {
  tokens t = {.chip = chip, .trace = trace};
  t.rows = calloc((size_t)chip->memory_count, sizeof *t.rows);
  for (int m = 0; m < chip->memory_count; ++m) {
    if (m == chip->system_memory) continue; // kernels write no tensor that they read
    size_t rows = (size_t)(chip->memories[m].bytes / chip->memories[m].row_bytes);
    t.rows[m] = malloc(rows * sizeof **t.rows);
    memset(t.rows[m], 0xff, rows * sizeof **t.rows);
  }
  t.position = calloc(trace->count + 1, sizeof *t.position);
  t.clock = calloc(trace->count + 1, sizeof *t.clock);
  for (int q = 0; q < chip->queue_count; ++q) t.at[q] = calloc(trace->count + 1, sizeof **t.at);
  for (int p = 0; p < chip->queue_count; ++p)
    for (int c = 0; c < chip->queue_count; ++c)
      t.pairs[p][c].handovers = calloc((size_t)limit_of(&t, p), sizeof(handover));
  pb_status status = PB_OK;
  for (size_t k = 0; k < trace->count && status == PB_OK; ++k) status = visit(&t, (int32_t)k, diag);
  for (int m = 0; m < chip->memory_count; ++m) free(t.rows[m]);
  for (int q = 0; q < chip->queue_count; ++q) free(t.at[q]);
  for (int p = 0; p < chip->queue_count; ++p)
    for (int c = 0; c < chip->queue_count; ++c) free(t.pairs[p][c].handovers);
  free(t.rows);
  free(t.position);
  free(t.clock);
  return status;
}

// Tokens from dependences. Every row of every on-chip memory remembers its last writer and, for each queue, the last
// reader since: a region and a queue, which remember their last command, since the same commands come again and again
// on the same rows. A command depends on the writers of what it reads and on writers and readers of what it writes.
// Tokens go out in the order of a queue, so of all commands in queue p that a command of queue c depends on only the
// latest counts, and one counter for each ordered pair is enough: what is waited for grows strictly on both sides, so
// the n-th wait meets the n-th signal. A dependence that follows from tokens already taken (vector clocks over queues,
// after Lamport and Mattern) gets none. What a command needs of its own queue is done when it starts; where commands
// complete in any order it is not, and that is a dependence as any other, by the queue's counter to itself.
//
// Where there are semaphores in place of counters for pairs, semaphores.c chooses among them.
//
// Some queues may have no counter from one to the other. Then what orders them goes by way of a queue in between: a
// command of it that began late enough already, or one that does nothing, put there for that.
//
// Counters are small. A command cannot complete while a counter that it signals is full, and then queues could block
// each other in a circle. They cannot if the counters would do for running the commands one by one in the order of the
// program: then the first command in that order which has not completed always can. So where one more token would be
// too many in that order, the wait before it is made to wait for the later command instead.
#include "targets/control/queues/tokens.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_COUNT = 1024,      // tokens in a counter that are made use of
  MOST_REGIONS = 1 << 16 // that are known again
};

static_assert(PB_CORE_QUEUES <= 16 && PB_MAX_SEMAPHORES <= 16, "waits and signals are noted in 16 bits");

static bool in_order(const pb_tokens* t, int queue) { return t->chip->queues[queue].in_order; }

static void depend(pb_tokens* t, int32_t use) {
  if (use < 0) return;
  const noted* n = &t->commands[t->uses[use].command];
  if (n->position + 1 > t->need[n->queue]) t->need[n->queue] = n->position + 1;
}

// The state of a row: its writer, then its readers by queue.
static int32_t* row_at(const pb_tokens* t, int memory, int64_t row) {
  return t->rows[memory] + row * (1 + t->chip->queue_count);
}

// `last`: the state of the row before; neighbours mostly have the same.
static void depend_on_row(pb_tokens* t, const int32_t* row, const int32_t* last, bool write) {
  int states = write ? 1 + t->chip->queue_count : 1;
  for (int k = 0; k < states; ++k)
    if (!last || row[k] != last[k]) depend(t, row[k]);
}

// The row says another use now.
static void replace(pb_tokens* t, int32_t* state, int32_t by) {
  if (*state != by && *state >= 0) t->uses[*state].whole = false;
  *state = by;
}

static void mark_row(pb_tokens* t, int32_t* row, int32_t by, bool write) {
  int queue = t->uses[by].queue;
  if (write) {
    replace(t, &row[0], by);
    for (int q = 0; q < t->chip->queue_count; ++q) replace(t, &row[1 + q], -1);
    return;
  }
  if (row[0] >= 0 && (t->uses[row[0]].queue != queue || !in_order(t, queue))) t->uses[row[0]].whole = false;
  replace(t, &row[1 + queue], by);
}

// How many of its dims are outside one run of bytes, which is *run.
static int outer_dims(const pb_region* region, int64_t* run) {
  int outer = region->rank;
  *run = region->element;
  while (outer > 0 && (region->extent[outer - 1] == 1 || region->stride[outer - 1] == *run)) {
    *run *= region->extent[outer - 1];
    --outer;
  }
  return outer;
}

// The rows of a region, run by run: marks them, or depends on what they say.
static bool touch_region(pb_tokens* t, const pb_region* region, int32_t by, bool mark) {
  const pb_memory* memory = &t->chip->memories[region->memory];
  const int32_t* last = NULL;
  int64_t run, counter[PB_MAX_INSN_DIMS] = {0};
  int outer = outer_dims(region, &run);
  for (;;) {
    int64_t at = region->base;
    for (int d = 0; d < outer; ++d) at += counter[d] * region->stride[d];
    if (at < 0 || at + run > memory->bytes) return false;
    for (int64_t row = at / memory->row_bytes, end = (at + run - 1) / memory->row_bytes; row <= end; ++row) {
      int32_t* state = row_at(t, region->memory, row);
      if (mark)
        mark_row(t, state, by, region->written);
      else
        depend_on_row(t, state, last, region->written);
      last = state;
    }
    int d = outer - 1;
    while (d >= 0 && ++counter[d] == region->extent[d]) counter[d--] = 0;
    if (d < 0) return true;
  }
}

static int32_t use_of(pb_tokens* t, const pb_region* region, int queue) {
  int64_t key[4 + 2 * PB_MAX_INSN_DIMS], run;
  int outer = outer_dims(region, &run), length = 0;
  key[length++] = (region->memory * 2 + region->written) * PB_CORE_QUEUES + queue;
  key[length++] = region->base;
  key[length++] = run;
  for (int d = 0; d < outer; ++d) {
    key[length++] = region->extent[d];
    key[length++] = region->stride[d];
  }
  size_t bytes = (size_t)length * sizeof *key;
  int known = pb_table_find(&t->known_uses, key, bytes);
  if (known >= 0) return known;
  int32_t new = (int32_t)t->use_count;
  PB_PUSH(t->uses, t->use_count, t->use_capacity, ((use){.queue = (uint8_t)queue}));
  if (t->known_uses.count < MOST_REGIONS)
    pb_table_add(&t->known_uses, memcpy(pb_alloc(&t->keys, bytes), key, bytes), bytes, new);
  return new;
}

// What the command depends on, by its regions on chip, and the uses that they are. Returns the one that reaches outside
// of its memory, NULL: none does.
static const pb_region* look(pb_tokens* t, const pb_unrolled* c, int32_t* uses) {
  for (int r = 0; r < c->region_count; ++r) {
    const pb_region* region = &c->regions[r];
    if (!t->rows[region->memory]) continue;
    uses[r] = use_of(t, region, c->command.insn->queue);
    bool again = t->uses[uses[r]].whole; // written again: behind itself, if its queue does not see to that
    if (again && region->written && !in_order(t, c->command.insn->queue)) depend(t, uses[r]);
    if (!again && !touch_region(t, region, uses[r], false)) return region;
  }
  return NULL;
}

// Their rows say this command from now on.
static void mark(pb_tokens* t, const pb_unrolled* c, const int32_t* uses, int32_t id) {
  for (int r = 0; r < c->region_count; ++r) {
    if (!t->rows[c->regions[r].memory]) continue;
    use* u = &t->uses[uses[r]];
    if (!u->whole) {
      u->whole = true;
      (void)touch_region(t, &c->regions[r], uses[r], true);
    }
    u->command = id;
  }
}

static int32_t limit_of(const pb_tokens* t, int queue) {
  int tokens = t->chip->queues[queue].tokens;
  return tokens < 1 ? 1 : tokens < MAX_COUNT ? tokens : MAX_COUNT;
}

// Of every two neighbouring tokens the first waits for both: half of them are enough.
static void thin_out(pb_tokens* t, int p, int c) {
  pair* x = &t->pairs[p][c];
  noted* commands = t->commands;
  handover* h = x->handovers;
  int32_t limit = limit_of(t, p), kept = 0;
  handover ordered[MAX_COUNT];
  for (int32_t k = 0; k < limit; ++k) ordered[k] = h[(x->count + k) % limit];
  for (int32_t k = 0; k < limit; k += 2) {
    h[kept] = ordered[k];
    if (k + 1 < limit) {
      commands[ordered[k].on].signals &= (uint16_t) ~(1u << c);
      commands[ordered[k + 1].id].waits &= (uint16_t) ~(1u << p);
      h[kept].on = ordered[k + 1].on;
    }
    ++kept;
  }
  x->count = kept;
}

// A token from command `on` of queue p to command `id` of queue c.
static void hand(pb_tokens* t, int p, int32_t on, int c, int32_t id) {
  pair* x = &t->pairs[p][c];
  noted* commands = t->commands;
  int32_t limit = limit_of(t, p);
  bool full = x->count >= limit && x->handovers[x->count % limit].id > on; // all of the last are taken after `on`
  commands[on].signals |= (uint16_t)(1u << c);
  if (full && limit == 1) {
    commands[x->handovers[0].on].signals &= (uint16_t) ~(1u << c);
    x->handovers[0].on = on;
    return;
  }
  if (full) thin_out(t, p, c);
  commands[id].waits |= (uint16_t)(1u << p);
  x->handovers[x->count++ % limit] = (handover){on, id};
}

void pb__learn(pb_tokens* t, int queue, int32_t on) {
  int queues = t->chip->queue_count, p = t->commands[on].queue;
  for (int q = 0; q < queues; ++q) {
    int32_t then = t->clock[(size_t)on * (size_t)queues + (size_t)q];
    if (then > t->known[queue][q]) t->known[queue][q] = then;
  }
  if (t->commands[on].position + 1 > t->known[queue][p]) t->known[queue][p] = t->commands[on].position + 1;
}

static void add_by_pairs(pb_tokens* t, int queue) {
  int32_t id = (int32_t)t->count;
  PB_PUSH(t->commands, t->count, t->capacity,
          ((noted){.position = (int32_t)t->counts[queue], .queue = (uint8_t)queue}));
  for (int p = 0; p < t->chip->queue_count; ++p) {
    if ((p == queue && in_order(t, p)) || t->need[p] <= t->known[queue][p]) continue;
    int32_t on = t->at[p][t->need[p] - 1];
    if (!t->chip->fence) hand(t, p, on, queue, id);
    pb__learn(t, queue, on);
  }
}

// Adds a command behind all that t->need says, by counters that there are.
static pb_status place(pb_tokens* t, int queue) {
  int queues = t->chip->queue_count;
  if (t->semaphores)
    PB_TRY(pb__semaphores_add(t, queue));
  else
    add_by_pairs(t, queue);
  for (int q = 0; q < queues; ++q) // of its own queue: those before it
    PB_PUSH(t->clock, t->clock_count, t->clock_capacity,
            q == queue && in_order(t, q) ? (int32_t)t->counts[q] : t->known[queue][q]);
  PB_PUSH(t->at[queue], t->counts[queue], t->capacities[queue], (int32_t)t->count - 1);
  return PB_OK;
}

int32_t pb__first_behind(const pb_tokens* t, int queue, int p, int32_t done) {
  size_t least = 0, most = t->counts[queue]; // their clocks only grow
  while (least < most) {
    size_t middle = (least + most) / 2;
    if (t->clock[(size_t)t->at[queue][middle] * (size_t)t->chip->queue_count + (size_t)p] >= done)
      most = middle;
    else
      least = middle + 1;
  }
  return least < t->counts[queue] ? (int32_t)least + 1 : 0;
}

pb_status pb__put_idle(pb_tokens* t, int queue) {
  pb_unrolled idle = {.command = pb_unroll_blank(pb_chip_idle_insn(t->chip, queue)), .nest = t->nest, .call = -1};
  PB_TRY(place(t, queue));
  t->commands[t->count - 1].idle = true;
  return t->relay.take(t->relay.user, &idle);
}

pb_status pb__put_idle_behind(pb_tokens* t, int queue, int p, int32_t done) {
  int32_t kept[PB_CORE_QUEUES];
  memcpy(kept, t->need, sizeof kept);
  memset(t->need, 0, sizeof t->need);
  t->need[p] = done;
  pb_status status = pb__put_idle(t, queue);
  memcpy(t->need, kept, sizeof kept);
  return status;
}

pb_status pb__find_way(pb_tokens* t, int queue, int p) {
  int at = p;
  int32_t done = t->need[p];
  t->need[p] = 0;
  while (!(t->chip->queues[at].gives >> queue & 1)) {
    int way = pb_token_way(t->chip, at, queue);
    if (!pb__first_behind(t, way, at, done)) PB_TRY(pb__put_idle_behind(t, way, at, done));
    done = pb__first_behind(t, way, at, done);
    at = way;
  }
  if (done > t->need[at]) t->need[at] = done;
  return PB_OK;
}

static pb_status find_ways(pb_tokens* t, int queue) {
  for (int p = 0; p < t->chip->queue_count; ++p) {
    if (p == queue || t->need[p] <= t->known[queue][p] || t->chip->queues[p].gives >> queue & 1) continue;
    if (!t->semaphores || !pb__semaphores_lead(t, p, queue)) PB_TRY(pb__find_way(t, queue, p));
  }
  return PB_OK;
}

pb_status pb_tokens_add(pb_tokens* t, const pb_unrolled* c) {
  int32_t uses[PB_MAX_OPERANDS];
  memset(t->need, 0, sizeof t->need);
  const pb_region* outside = look(t, c, uses);
  if (outside)
    return pb_unsupported(t->diag, (pb_place){.what = c->nest}, 4105, "this is a bug in the compiler, not in the model",
                          "%s reaches outside %s", c->command.insn->name, t->chip->memories[outside->memory].name);
  PB_TRY(pb_tokens_add_behind(t, c, t->need));
  mark(t, c, uses, (int32_t)t->count - 1);
  return PB_OK;
}

pb_status pb_tokens_add_behind(pb_tokens* t, const pb_unrolled* c, const int32_t* need) {
  int queue = c->command.insn->queue;
  if (need != t->need) memcpy(t->need, need, sizeof *need * (size_t)t->chip->queue_count);
  t->nest = c->nest;
  PB_TRY(find_ways(t, queue));
  return place(t, queue);
}

pb_tokens* pb_tokens_start(const pb_chip* chip, pb_diag* diag, pb_taker relay) {
  pb_tokens* t = calloc(1, sizeof *t);
  if (!t) pb_no_memory(sizeof *t);
  t->chip = chip;
  t->diag = diag;
  t->relay = relay;
  t->rows = calloc((size_t)chip->memory_count, sizeof *t->rows);
  for (int m = 0; m < chip->memory_count; ++m) {
    if (pb_is_outside(&chip->memories[m])) continue; // kernels write no tensor that they read
    size_t rows = (size_t)(chip->memories[m].bytes / chip->memories[m].row_bytes);
    size_t bytes = rows * (size_t)(1 + chip->queue_count) * sizeof **t->rows;
    t->rows[m] = malloc(bytes);
    if (!t->rows[m]) pb_no_memory(bytes);
    memset(t->rows[m], 0xff, bytes);
  }
  if (chip->semaphore_count) t->semaphores = pb__semaphores_start();
  for (int p = 0; p < chip->queue_count && !t->semaphores; ++p)
    for (int c = 0; c < chip->queue_count; ++c)
      t->pairs[p][c].handovers = calloc((size_t)limit_of(t, p), sizeof(handover));
  return t;
}

size_t pb_tokens_count(const pb_tokens* t) { return t->count; }

pb_order pb_tokens_of(const pb_tokens* t, size_t command) {
  const noted* n = &t->commands[command];
  return (pb_order){n->queue, n->waits, n->signals, t->semaphores ? t->taken[command] : 0, n->idle};
}

const int32_t* pb_tokens_behind(const pb_tokens* t, size_t command) {
  return &t->clock[command * (size_t)t->chip->queue_count];
}

size_t pb_tokens_at(const pb_tokens* t, int queue, int32_t position) { return (size_t)t->at[queue][position]; }

void pb_tokens_free(pb_tokens* t) {
  if (!t) return;
  for (int m = 0; m < t->chip->memory_count; ++m) free(t->rows[m]);
  for (int p = 0; p < t->chip->queue_count; ++p) {
    free(t->at[p]);
    for (int c = 0; c < t->chip->queue_count; ++c) free(t->pairs[p][c].handovers);
  }
  free(t->rows);
  free(t->uses);
  pb_table_free(&t->known_uses);
  pb_arena_free(&t->keys);
  free(t->commands);
  free(t->clock);
  free(t->taken);
  pb__semaphores_free(t->semaphores);
  free(t);
}

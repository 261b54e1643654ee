// Time. Commands start in order of time; each is executed when it starts, which shows the right values exactly when
// tokens order what depends on each other, and that is checked. The port of a memory outside is shared as a fluid:
// every mover under way there gets an equal part, and none more than it can use; command fetches go first.
#include "targets/control/queues/machine/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  FETCH_CYCLES = 4,        // from the last beat of a command to its first possible start
  WRITTEN_BEHIND = 32,     // commands of a queue that may have yet to hand out tokens
  MAX_AHEAD = 64,          // commands fetched ahead
  ARRIVALS = 2 * MAX_AHEAD // remembered: what is fetched ahead of a command that has yet to start, and that
};
static const uint64_t never = UINT64_MAX;

// A command that has left its queue's front and has not completed.
typedef struct flight {
  uint32_t index, signals;
  uint64_t start, done; // done: when it could complete
  int memory;           // what it writes: bytes [first, last); -1: nothing that its queue reads
  int64_t first, last;
  uint32_t* clock;
} flight;

typedef struct lane {
  uint32_t next;           // commands that have started
  uint32_t count, fetched; // words of the stream; of these, asked for
  uint32_t needed;         // words that must have arrived for the head
  uint32_t released;       // words whose places others may have
  machine_sequence sequence;
  uint64_t arrives[ARRIVALS];              // by word
  uint64_t free_at, done_at, last_arrival; // when the next may start; when the last completed
  // Of commands that go on beside others: when the last is through, and when the last that writes state is.
  uint64_t beside_until, state_until, issued; // issued: when the next may start at the soonest
  machine_command head;
  bool read;
  bool streaming; // at a port
  bool follows;   // another core's queue is there, and reads for this one
  uint32_t leads; // cores for whose queues it is
  int port;       // at which
  uint64_t started;
  double work, demand;         // cycles of work left; beats in each
  int64_t beats, ahead;        // of the command at the port; beats that the mover may be ahead of what it writes
  uint64_t writes, written_at; // cycles of its writing; when the mover is through with that
  flight flights[WRITTEN_BEHIND];
  uint32_t flight_first, flight_count;
  // commands that have completed at a time yet to come: their rows are still in flight
  flight recent[WRITTEN_BEHIND];
  uint32_t recent_next;
  uint32_t* clock;
} lane;

struct machine_timing {
  int queues, own, cores; // queues of all cores; of one
  int ports;              // to memories outside
  lane* lanes;
  double* rate; // by queue, while the port is shared
  bool* settled;
  uint64_t now, random;
  uint64_t blocked_until; // the port belongs to fetches until then
  uint64_t own_until;     // so does the port of the commands' own, where there is one
  uint32_t* words;
  machine_list** lists; // of a chip with fences: of each core; else NULL
};

static void* room_for(size_t count, size_t size) {
  void* room = calloc(count, size);
  if (!room) pb_no_memory(count * size);
  return room;
}

machine_timing* machine__timing_open(const pb_chip* chip) {
  machine_timing* t = room_for(1, sizeof *t);
  int queues = t->queues = pb_chip_queues(chip);
  t->own = chip->queue_count;
  t->ports = MACHINE_CONSTANTS + chip->constant_memory_count;
  t->cores = chip->cores;
  size_t clocks = (size_t)(1 + WRITTEN_BEHIND) * (size_t)queues * (size_t)t->own;
  t->lists = chip->fence ? room_for((size_t)chip->cores, sizeof *t->lists) : NULL;
  for (int core = 0; t->lists && core < chip->cores; ++core) t->lists[core] = machine__list_open(chip, core);
  t->lanes = room_for((size_t)queues, sizeof *t->lanes);
  t->rate = room_for((size_t)queues, sizeof *t->rate);
  t->settled = room_for((size_t)queues, sizeof *t->settled);
  t->words = room_for(clocks, sizeof *t->words);
  uint32_t* words = t->words;
  for (int p = 0; p < queues; ++p) {
    t->lanes[p].clock = words, words += t->own;
    for (int k = 0; k < WRITTEN_BEHIND; ++k) t->lanes[p].flights[k].clock = words, words += t->own;
  }
  return t;
}

void machine__timing_close(machine_timing* t) {
  if (!t) return;
  for (int core = 0; t->lists && core < t->cores; ++core) machine__list_close(t->lists[core]);
  free(t->lists);
  free(t->lanes);
  free(t->rate);
  free(t->settled);
  free(t->words);
  free(t);
}

// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016).
static uint64_t late(pb_device* device) {
  machine_timing* t = device->timing;
  if (!device->seed) return 0;
  t->random ^= t->random >> 12;
  t->random ^= t->random << 25;
  t->random ^= t->random >> 27;
  uint64_t most = 2 * (uint64_t)device->chip->memories[device->chip->system_memory].latency;
  return most ? (t->random * 0x2545f4914f6cdd1dull >> 32) % (most + 1) : 0;
}

// The port ------------------------------------------------------------------------------------------------------------

// Each mover's rate at the port: all that it can use, or an equal part of what the modest leave.
static void share_port(machine_timing* t, int port) {
  double left = 1, *rate = t->rate;
  bool* settled = t->settled;
  int open = 0;
  for (int q = 0; q < t->queues; ++q) {
    settled[q] = !t->lanes[q].streaming || t->lanes[q].port != port;
    open += !settled[q];
  }
  for (bool again = true; again && open;) {
    again = false;
    double part = left / open;
    for (int q = 0; q < t->queues; ++q)
      if (!settled[q] && t->lanes[q].demand <= part) {
        rate[q] = 1;
        left -= t->lanes[q].demand;
        settled[q] = again = true;
        if (--open == 0) return;
        part = left / open;
      }
    if (!again)
      for (int q = 0; q < t->queues; ++q)
        if (!settled[q]) rate[q] = part / t->lanes[q].demand;
  }
}

static void share(machine_timing* t) {
  for (int q = 0; q < t->queues; ++q) t->rate[q] = 0;
  for (int port = 0; port < t->ports; ++port) share_port(t, port);
}

// From when on the queue's mover gets its part: fetches go first, at the system memory's port.
static uint64_t served_from(const machine_timing* t, int q) {
  return t->lanes[q].port == MACHINE_SYSTEM && t->blocked_until > t->now ? t->blocked_until : t->now;
}

static void advance(machine_timing* t, uint64_t to) {
  share(t);
  for (int q = 0; q < t->queues; ++q) {
    uint64_t from = served_from(t, q);
    if (t->lanes[q].streaming && to > from) t->lanes[q].work -= t->rate[q] * (double)(to - from);
  }
  t->now = to;
}

// When the first mover under way is done if nothing else happens; -1: none is under way.
static int first_done(machine_timing* t, uint64_t* when) {
  int first = -1;
  share(t);
  *when = never;
  for (int q = 0; q < t->queues; ++q) {
    if (!t->lanes[q].streaming) continue;
    double left = ceil(t->lanes[q].work / t->rate[q] - 1e-6);
    uint64_t at = left > 0 ? served_from(t, q) + (uint64_t)left : t->now;
    if (at < *when) *when = at, first = q;
  }
  return first;
}

uint64_t machine__word_arrives(pb_device* device, uint64_t last) {
  machine_timing* t = device->timing;
  int64_t unit = machine__beat_bytes(device->chip, device->chip->system_memory);
  uint64_t* until = device->chip->command_port ? &t->own_until : &t->blocked_until;
  *until = (*until > t->now ? *until : t->now) + (uint64_t)((device->chip->command_bytes + unit - 1) / unit);
  uint64_t at =
      *until + (uint64_t)device->chip->memories[device->chip->system_memory].latency + FETCH_CYCLES + late(device);
  device->fetched_bytes += (uint64_t)device->chip->command_bytes;
  return at > last ? at : last;
}

static void fetch(pb_device* device, int q) {
  lane* l = &device->timing->lanes[q];
  if (l->fetched == l->count) return;
  l->last_arrival = machine__word_arrives(device, l->last_arrival);
  l->arrives[l->fetched++ % ARRIVALS] = l->last_arrival;
}

bool machine__queue_idle(const pb_device* device, int q, uint64_t* done_at) {
  const lane* l = &device->timing->lanes[q];
  *done_at = l->done_at;
  return !l->read && !l->flight_count;
}

// Tokens --------------------------------------------------------------------------------------------------------------

// A command's bits name queues of its own core: the first of these.
static int first_of_core(const machine_timing* t, int q) { return q - q % t->own; }

static void trace(pb_device* device, int q, const flight* f, uint64_t end) {
  if (device->trace)
    device->trace(device->trace_user, (uint32_t)q, f->index, device->cycles + f->start, device->cycles + end);
}

// Completes what can: in order, and only when every counter that is signalled has room.
static int complete(pb_device* device, int q) {
  machine_timing* t = device->timing;
  lane* l = &t->lanes[q];
  while (l->flight_count) {
    flight* f = &l->flights[l->flight_first];
    if (machine__tokens_full(device->tokens, q, f->signals)) return MACHINE_OK;
    uint64_t when = f->done > l->done_at ? f->done : l->done_at;
    uint64_t room = machine__tokens_room(device->tokens, q, f->signals);
    if (room > when) when = room;
    l->done_at = when;
    f->clock[q % t->own] = f->index + 1;
    int code = machine__tokens_give(device, q, f->signals, when, f->clock);
    if (code) return code;
    trace(device, q, f, device->chip->queues[q % t->own].in_order ? when : f->done);
    flight* r = &l->recent[l->recent_next++ % WRITTEN_BEHIND];
    *r = *f;
    r->done = when;
    l->flight_first = (l->flight_first + 1) % WRITTEN_BEHIND;
    --l->flight_count;
  }
  return MACHINE_OK;
}

// Whoever gave what the head takes may have waited for room.
static int take_tokens(pb_device* device, int q) {
  machine_timing* t = device->timing;
  lane* l = &t->lanes[q];
  machine_site site = {.queue = q, .index = l->next};
  int code = machine__tokens_take(device, &site, &l->head.command, t->now, l->clock);
  uint32_t givers = machine__tokens_givers(device->tokens, l->head.command.waits);
  for (int k = 0; k < t->own && !code; ++k)
    if (givers >> k & 1) code = complete(device, first_of_core(t, q) + k);
  return code;
}

// Starting a command --------------------------------------------------------------------------------------------------

static bool meets(const machine_command* c, const flight* f) {
  for (int o = 0; o < c->command.insn->operand_count; ++o) {
    const machine_window* w = &c->windows[o];
    if (c->command.insn->operands[o].memory != f->memory || w->empty || w->writes) continue;
    if (c->command.insn->operands[o].take >= 0) continue; // banks have a rule of their own
    if (w->first < f->last && f->first < w->last) return true;
  }
  return false;
}

// A command that reads what a former one of its queue has yet to write waits for it. Sums forward: a destination that
// is added to does not wait.
static uint64_t hazard(const pb_device* device, int q) {
  const lane* l = &device->timing->lanes[q];
  uint64_t until = 0;
  if (!device->chip->queues[q % device->timing->own].in_order) return until; // tokens do, or fences
  for (uint32_t k = 0; k < l->flight_count; ++k)
    if (meets(&l->head, &l->flights[(l->flight_first + k) % WRITTEN_BEHIND])) return never;
  for (uint32_t k = 0; k < WRITTEN_BEHIND && k < l->recent_next; ++k)
    if (l->recent[k].done > until && meets(&l->head, &l->recent[k])) until = l->recent[k].done;
  return until;
}

static bool reads_state(const pb_insn* insn) {
  for (int f = 0; f < insn->field_count; ++f)
    if (insn->fields[f].state_writer >= 0) return true;
  return false;
}

// When its word and its unit are there for the head: a command that goes on beside others only waits for those like it.
static uint64_t unit_free(const lane* l) {
  const pb_insn* insn = l->head.command.insn;
  uint64_t at = l->arrives[(l->needed - 1) % ARRIVALS], unit = insn->beside ? l->beside_until : l->free_at;
  if (l->issued > at) at = l->issued;
  return unit > at ? unit : at;
}

// When the head of the queue can start by itself; never: not until something else happens.
static uint64_t could_start(const pb_device* device, int q) {
  const machine_timing* t = device->timing;
  const lane* l = &t->lanes[q];
  if (!l->read || l->streaming || l->follows || l->flight_count == WRITTEN_BEHIND) return never;
  uint64_t at = unit_free(l), ready = machine__banks_ready(device, q, &l->head);
  if (ready > at) at = ready;
  if (l->state_until > at && reads_state(l->head.command.insn)) at = l->state_until;
  if (machine__tokens_missing(device->tokens, q, &l->head.command)) return never;
  uint64_t there = machine__tokens_there(device->tokens, q, &l->head.command), clear = hazard(device, q);
  if (there > at) at = there;
  if (clear > at) at = clear;
  return at > t->now ? at : t->now;
}

// The cores whose heads of the same queue start with that of queue q; 0: it starts alone.
static uint32_t partners_of(const machine_timing* t, int q) {
  return t->lanes[q].read ? pb_command_cores(&t->lanes[q].head.command) : 0;
}

// Whether queue p is of such a core, and its own like q.
static bool is_among(const machine_timing* t, uint32_t cores, int q, int p) {
  return p % t->own == q % t->own && p / t->own < PB_MOST_READERS && cores >> (p / t->own) & 1;
}

// A read for several cores starts when its command heads the queue of each; the first one's starts it for all.
static uint64_t can_start(const pb_device* device, int q) {
  const machine_timing* t = device->timing;
  uint32_t partners = partners_of(t, q);
  if (!partners) return could_start(device, q);
  if (partners & ((1u << q / t->own) - 1)) return never;
  uint64_t at = 0;
  for (int p = q; p < t->queues && at != never; p += t->own) {
    if (!is_among(t, partners, q, p)) continue;
    bool here = partners_of(t, p) == partners && t->lanes[p].head.command.insn == t->lanes[q].head.command.insn;
    uint64_t own = here ? could_start(device, p) : never;
    if (own > at) at = own;
  }
  return at;
}

static void fly(pb_device* device, int q, uint64_t done) {
  lane* l = &device->timing->lanes[q];
  flight* f = &l->flights[(l->flight_first + l->flight_count++) % WRITTEN_BEHIND];
  const machine_window* w = &l->head.windows[l->head.command.insn->dest];
  f->index = l->next;
  f->signals = l->head.command.signals;
  f->start = l->started;
  f->done = done;
  f->memory = machine__outside(device, w->operand->memory) >= 0 || w->empty ? -1 : w->operand->memory;
  f->first = w->first, f->last = w->last;
  memcpy(f->clock, l->clock, sizeof *f->clock * (size_t)device->timing->own);
}

// Of the commands that the list has handed to the queue.
static int read_held(pb_device* device, int q) {
  machine_timing* t = device->timing;
  lane* l = &t->lanes[q];
  const machine_held* held = machine__list_take(t->lists[q / t->own], q);
  l->read = held != NULL;
  if (!held) return MACHINE_OK;
  l->next = held->index;
  l->needed = l->released = 1; // a word that has arrived
  l->arrives[0] = held->at;
  for (int p = 0; p < t->own; ++p)
    if (held->clock[p] > l->clock[p]) l->clock[p] = held->clock[p];
  machine_site site = {.queue = q, .index = l->next};
  return machine__command_read(device, &site, held->bytes, machine__state(device, q), &l->head);
}

// The unit fetches a word for each that it takes: of a loop the header, and the body in the first iteration.
static int read_head(pb_device* device, int q) {
  if (device->timing->lists) return read_held(device, q);
  lane* l = &device->timing->lanes[q];
  machine_site site = {.queue = q, .index = l->next};
  uint32_t taken = l->needed;
  int code;
  const uint8_t* bytes = machine__sequence_next(device, &site, &l->sequence, &l->needed, &code);
  l->read = bytes != NULL;
  if (!bytes) return code;
  for (; taken + 1 < l->needed; ++taken) fetch(device, q);
  return machine__command_read(device, &site, bytes, machine__state(device, q), &l->head);
}

// The queue is done with its head: the next may follow.
static int retire(pb_device* device, int q, uint64_t free_at, uint64_t done) {
  lane* l = &device->timing->lanes[q];
  bool beside = l->head.command.insn->beside;
  fly(device, q, done);
  machine__banks_done(device, q, &l->head, free_at, done);
  device->busy[q] += beside ? 1 : free_at - l->started;
  *(beside ? &l->beside_until : &l->free_at) = free_at;
  if (beside && !l->head.command.insn->operand_count) l->state_until = done;
  l->issued = l->started + 1;
  ++l->next;
  int code = complete(device, q);
  return code ? code : read_head(device, q);
}

static uint64_t done_after(pb_device* device, const machine_command* c, uint64_t at) {
  const pb_insn* insn = c->command.insn;
  at += (uint64_t)insn->latency;
  for (int o = 0; o < insn->operand_count; ++o)
    if (machine__outside(device, insn->operands[o].memory) >= 0 && !c->windows[o].empty)
      at +=
          late(device) + (c->windows[o].reads ? (uint64_t)device->chip->memories[insn->operands[o].memory].latency : 0);
  return at;
}

static bool reads(const machine_command* c, int memory) {
  for (int o = 0; o < c->command.insn->operand_count; ++o)
    if (c->command.insn->operands[o].memory == memory && c->windows[o].reads) return true;
  return false;
}

// What the head reads, and how much of it, is what the other queue's does.
static int check_partner(pb_device* device, int q, int p) {
  const machine_command *own = &device->timing->lanes[q].head, *other = &device->timing->lanes[p].head;
  const machine_window* a = &own->windows[own->command.insn->expr[0].operand];
  const machine_window* b = &other->windows[other->command.insn->expr[0].operand];
  bool same = !memcmp(own->extent, other->extent, sizeof own->extent) && a->fill == b->fill &&
              (a->empty || a->address == b->address);
  for (int k = 0; k < a->rank; ++k)
    same &= a->lo[k] == b->lo[k] && a->hi[k] == b->hi[k] && (a->extent[k] < 2 || a->stride[k] == b->stride[k]);
  if (same) return MACHINE_OK;
  machine_site site = {.queue = q, .index = device->timing->lanes[q].next};
  return machine__fault_at(device, MACHINE_BAD_COMMAND, &site, own,
                           "it reads for queue %s too, whose command %u reads something else",
                           pb_chip_queue_name(device->chip, p), device->timing->lanes[p].next);
}

// The head takes its tokens and is carried out; how long it takes comes behind that.
static int begin_head(pb_device* device, int q) {
  machine_timing* t = device->timing;
  lane* l = &t->lanes[q];
  machine_command* c = &l->head;
  device->stall[q] += t->now - unit_free(l);
  int code = take_tokens(device, q);
  if (code) return code;
  pb_state_write(machine__state(device, q), &c->command);
  l->started = t->now;
  if (l->needed > l->released) fetch(device, q);
  l->released = l->needed;
  code = machine__banks_start(device, &(machine_site){.queue = q, .index = l->next, .clock = l->clock}, c);
  if (code) return code;
  if (device->checks) {
    code = machine__check(device, &(machine_site){.queue = q, .index = l->next, .clock = l->clock}, c);
    if (code) return code;
  }
  if (c->command.insn->operand_count) machine__execute(device, c);
  if (device->checks) machine__define(c);
  return machine__stop_behind(device, q, l->next, c);
}

// Its work at the port, of so many cycles and beats.
static void enter_port(pb_device* device, int q, int64_t cycles, int64_t beats) {
  lane* l = &device->timing->lanes[q];
  const machine_command* c = &l->head;
  int outside = pb_insn_outside(device->chip, c->command.insn);
  l->port = machine__outside(device, outside);
  l->ahead = reads(c, outside) ? c->command.insn->buffer / machine__beat_bytes(device->chip, outside) : 0;
  int64_t latency = device->chip->memories[outside].latency;
  if (l->ahead && beats * latency / l->ahead > cycles) cycles = beats * latency / l->ahead; // asks no faster than that
  l->writes = (uint64_t)cycles;
  // All is asked for once what is not yet written fits the buffer: of writes that take longer than beats, so much
  // earlier.
  int64_t asks = l->ahead ? cycles + latency - l->ahead * cycles / beats : cycles;
  int64_t least = beats + machine__passed_over(c);
  l->work = (double)(asks < least ? least : asks);
  l->demand = (double)beats / l->work;
  l->beats = beats;
}

// A read for several cores takes as long as the slowest of them writes.
static int start(pb_device* device, int q) {
  machine_timing* t = device->timing;
  uint32_t cores = partners_of(t, q);
  int64_t cycles = 0, beats = 0;
  for (int p = q; p < t->queues; p += t->own) {
    if (p != q && !is_among(t, cores, q, p)) continue;
    int code = p == q ? MACHINE_OK : check_partner(device, q, p);
    if (!code) code = begin_head(device, p);
    if (code) return code;
    int64_t own = machine__cycles(device->chip, &t->lanes[p].head);
    if (own > cycles) cycles = own;
  }
  beats = machine__beats(device, &t->lanes[q].head);
  for (int p = q; p < t->queues; p += t->own) {
    if (p != q && !is_among(t, cores, q, p)) continue;
    lane* l = &t->lanes[p];
    if (beats == 0) {
      int code = retire(device, p, t->now + (uint64_t)cycles, done_after(device, &l->head, t->now + (uint64_t)cycles));
      if (code) return code;
      continue;
    }
    enter_port(device, p, cycles, beats);
    l->streaming = p == q;
    l->follows = p != q;
  }
  t->lanes[q].leads = beats ? cores : 0;
  return MACHINE_OK;
}

// The head's work at the port is done. A mover that reads ahead goes on writing what it holds, and starts its next
// command as soon as that fits beside it: what is asked for and what waits to be written share the buffer.
static int leave_port(pb_device* device, int q) {
  machine_timing* t = device->timing;
  lane* l = &t->lanes[q];
  l->streaming = l->follows = false;
  if (!l->ahead) {
    l->written_at = t->now;
    return retire(device, q, t->now, done_after(device, &l->head, t->now));
  }
  uint64_t written = (l->written_at > l->started ? l->written_at : l->started) + l->writes;
  l->written_at = written > t->now ? written : t->now;
  int64_t latency = device->chip->memories[pb_insn_outside(device->chip, l->head.command.insn)].latency;
  int64_t holds = (int64_t)((double)l->ahead * (double)l->writes / (double)l->beats);
  int64_t room = (int64_t)l->written_at + latency - (holds > l->ahead ? holds : l->ahead);
  uint64_t next = room > (int64_t)t->now ? (uint64_t)room : t->now;
  return retire(device, q, next, done_after(device, &l->head, l->written_at));
}

static int leave_port_with_partners(pb_device* device, int q) {
  machine_timing* t = device->timing;
  uint32_t cores = t->lanes[q].leads;
  t->lanes[q].leads = 0;
  for (int p = q; p < t->queues; p += t->own) {
    int code = p == q || is_among(t, cores, q, p) ? leave_port(device, p) : MACHINE_OK;
    if (code) return code;
  }
  return MACHINE_OK;
}

// The run -------------------------------------------------------------------------------------------------------------

static int begin(pb_device* device) {
  machine_timing* t = device->timing;
  t->now = t->blocked_until = t->own_until = 0;
  t->random = device->seed * 0x9e3779b97f4a7c15ull + device->epoch;
  if (!t->random) t->random = 1;
  machine__tokens_begin(device->tokens);
  for (int q = 0; q < t->queues; ++q) {
    lane* l = &t->lanes[q];
    l->next = l->fetched = l->needed = l->released = 0;
    l->count = q < (int)device->kernel.queue_count && !t->lists ? pb_submission_count(&device->kernel, (uint32_t)q) : 0;
    l->sequence.word = l->sequence.body = 0;
    l->sequence.count = l->count;
    l->free_at = l->done_at = l->last_arrival = l->written_at = 0;
    l->beside_until = l->state_until = l->issued = 0;
    l->flight_first = l->flight_count = l->recent_next = 0;
    l->streaming = l->follows = l->read = false;
    l->leads = 0;
    memset(l->clock, 0, sizeof *l->clock * (size_t)t->own);
    if (t->lists) continue;
    int depth = device->chip->queues[q % t->own].depth;
    for (int k = 0; k < (depth > MAX_AHEAD ? MAX_AHEAD : depth < 1 ? 1 : depth); ++k) fetch(device, q);
    int code = read_head(device, q);
    if (code) return code;
  }
  for (int core = 0; t->lists && core < device->chip->cores; ++core) machine__list_begin(device, t->lists[core]);
  return MACHINE_OK;
}

// The cores that have yet to come to a read that is for them too.
static int say_partners(const machine_timing* t, int q, char* text, size_t size) {
  uint32_t partners = partners_of(t, q);
  int used = 0;
  for (int p = 0; p < t->queues && used < (int)size; ++p)
    if (is_among(t, partners, q, p) && partners_of(t, p) != partners)
      used += snprintf(text + used, size - (size_t)used, ", core %d has not come to it", p / t->own);
  return used;
}

static int hang(pb_device* device) {
  machine_timing* t = device->timing;
  char text[MACHINE_FAULT_BYTES];
  int used = snprintf(text, sizeof text, "hang at cycle %llu: no queue can move", (unsigned long long)t->now);
  pb_arena arena = {0};
  for (int q = 0; q < t->queues; ++q) {
    lane* l = &t->lanes[q];
    if (used >= (int)sizeof text) break;
    used += snprintf(text + used, sizeof text - (size_t)used, "\n  %s: ", pb_chip_queue_name(device->chip, q));
    uint32_t missing = 0, blocked = 0;
    if (l->flight_count) blocked = machine__tokens_full(device->tokens, q, l->flights[l->flight_first].signals);
    if (l->read) missing = machine__tokens_missing(device->tokens, q, &l->head.command);
    if (used >= (int)sizeof text) break;
    if (!l->read)
      used += snprintf(text + used, sizeof text - (size_t)used, "all %u commands started", l->next);
    else
      used += snprintf(text + used, sizeof text - (size_t)used, "command %u (%s)%s", l->next,
                       pb_disassemble(device->chip, &l->head.command, &arena), missing ? ", waits for" : "");
    const pb_chip* chip = device->chip;
    for (int p = 0; p < pb_chip_counters(chip) && used < (int)sizeof text; ++p)
      if (missing >> p & 1) used += snprintf(text + used, sizeof text - (size_t)used, " %s", pb_counter_name(chip, p));
    used += say_partners(t, q, text + used, sizeof text - (size_t)used);
    for (int p = 0; p < pb_chip_counters(chip) && used < (int)sizeof text; ++p)
      if (blocked >> p & 1)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "; command %u cannot signal %s, whose counter is full",
                     l->flights[l->flight_first].index, pb_counter_name(chip, p));
  }
  for (int core = 0; t->lists && core < device->chip->cores && used < (int)sizeof text; ++core)
    used += machine__list_says(device, t->lists[core], text + used, sizeof text - (size_t)used);
  pb_arena_free(&arena);
  return machine__fault(device, MACHINE_HANG, "%s", text);
}

static bool all_done(const machine_timing* t) {
  for (int q = 0; q < t->queues; ++q)
    if (t->lanes[q].read || t->lanes[q].flight_count) return false;
  for (int core = 0; t->lists && core < t->cores; ++core)
    if (!machine__list_done(t->lists[core])) return false;
  return true;
}

static int end(pb_device* device) {
  machine_timing* t = device->timing;
  for (int q = 0; q < t->queues; ++q)
    if (t->lanes[q].done_at > t->now) t->now = t->lanes[q].done_at;
  int code = device->checks ? machine__tokens_end(device) : MACHINE_OK;
  if (code) return code;
  return device->checks ? machine__banks_end(device) : MACHINE_OK;
}

// The list hands a command on, or passes a fence.
static int give(pb_device* device, int core) {
  machine_timing* t = device->timing;
  int q = machine__list_give(device, t->lists[core], t->now);
  return q < 0 || t->lanes[q].read ? MACHINE_OK : read_head(device, q);
}

// The next thing that happens: a mover leaves the port, a command starts, or the list goes on.
static int step(pb_device* device, uint64_t limit, bool* running) {
  machine_timing* t = device->timing;
  uint64_t when, given = never;
  int mover = first_done(t, &when), starts = -1, gives = -1;
  for (int core = 0; t->lists && core < t->cores; ++core) {
    uint64_t at;
    int code = machine__list_ready(device, t->lists[core], t->now, &at);
    if (code) return code;
    if (at < given) given = at, gives = core;
  }
  for (int q = 0; q < t->queues; ++q) {
    uint64_t at = can_start(device, q);
    if (at < when) when = at, starts = q;
  }
  if (given >= when) gives = -1;
  if (gives >= 0) when = given;
  if (when == never) {
    *running = false;
    return all_done(t) ? MACHINE_OK : hang(device);
  }
  if (when > limit)
    return machine__fault(device, MACHINE_LIMIT, "the kernel runs for more than %llu cycles",
                          (unsigned long long)limit);
  advance(t, when);
  if (gives >= 0) return give(device, gives);
  if (starts >= 0) return start(device, starts);
  return leave_port_with_partners(device, mover);
}

int machine__run(pb_device* device) {
  uint64_t limit = device->kernel.cycle_limit ? device->kernel.cycle_limit : device->limit;
  int code = begin(device);
  for (bool running = true; running && !code;) code = step(device, limit, &running);
  if (!code) code = end(device);
  device->cycles += device->timing->now;
  return code;
}

// Movers beside cores. A move is made as late as the description allows: when code waits for it, or, its mover having
// as many under way as it can, when that starts another one. Until then what it will bring is not there, but NaN and -1
// (all bits set), and what it takes is as code has left it. Code that reads what a move will write, or writes what one
// reads or writes, has not waited for it: the machine says so.
//
// A core's clock goes on with its code, which adds the cycles of its own blocks, with the moves that it starts, and
// while it waits. Moves go by the port of the system's memory one after the other, run by run, at the rate of the
// slower memory; what they bring is there after the system memory's latency.
#include "core/runtime/core_machine.h"

#include "core/base/arena.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLAGS = 2048, LOOPS = PB_MOST_MOVE_LOOPS };

typedef struct span {
  int64_t begin, end; // of addresses
} span;

typedef struct move {
  int64_t to, from, bytes, extent[LOOPS], to_step[LOOPS], from_step[LOOPS];
  span written, read;
  int64_t done; // when it is
} move;

typedef struct mover {
  move moves[PB_MOST_MOVES]; // in turn
  int64_t started, made;
} mover;

typedef struct core {
  int64_t clock; // first: code adds to it
  pb__core_machine* machine;
  int64_t port_free_at; // of the system's memory
  span pending;         // that moves write or read which are not made
  int64_t last[FLAGS];  // 1 + how many moves its mover had been given before the flag's last one; 0: none
  int by[FLAGS];        // which mover
  int64_t done[FLAGS];
  mover movers[];
} core;

struct pb__core_machine {
  const pb_chip* chip;
  atomic_int_least64_t cycles;
  atomic_bool failed;
  char fault[96];
};

static core* core_of(int64_t address) { return (core*)(uintptr_t)address; } // NOLINT: as code hands it on

static int64_t begin(int64_t machine) {
  pb__core_machine* m = (pb__core_machine*)(uintptr_t)machine; // NOLINT: the same
  size_t bytes = sizeof(core) + (size_t)m->chip->core_mover_count * sizeof(mover);
  core* c = calloc(1, bytes);
  if (!c) pb_no_memory(bytes);
  c->machine = m;
  return (int64_t)(uintptr_t)c;
}

// Copies each of its runs, or (set) has all bits of what it will bring set.
static void each_run(const move* m, bool set) {
  for (int64_t i = 0; i < m->extent[0]; ++i)
    for (int64_t j = 0; j < m->extent[1]; ++j)
      for (int64_t k = 0; k < m->extent[2]; ++k) {
        int64_t to = m->to + i * m->to_step[0] + j * m->to_step[1] + k * m->to_step[2],
                from = m->from + i * m->from_step[0] + j * m->from_step[1] + k * m->from_step[2];
        if (set)
          memset((void*)(uintptr_t)to, 0xff, (size_t)m->bytes); // NOLINT: an address
        else
          memcpy((void*)(uintptr_t)to, (const void*)(uintptr_t)from, (size_t)m->bytes); // NOLINT: addresses
      }
}

// From the first byte of its runs to behind the last one.
static span span_of(const move* m, int64_t begin, const int64_t* step) {
  span s = {begin, begin + m->bytes};
  for (int k = 0; k < LOOPS; ++k) {
    int64_t further = (m->extent[k] - 1) * step[k];
    *(further < 0 ? &s.begin : &s.end) += further;
  }
  return s;
}

static bool meets(const span* s, int64_t address, int64_t bytes) {
  return address < s->end && address + bytes > s->begin;
}

static void join(span* s, const span* other) {
  if (s->begin == s->end) *s = *other;
  if (other->begin < s->begin) s->begin = other->begin;
  if (other->end > s->end) s->end = other->end;
}

// Of all moves of its movers that are not made.
static void find_pending(core* c) {
  c->pending = (span){0, 0};
  for (int m = 0; m < c->machine->chip->core_mover_count; ++m)
    for (int64_t k = c->movers[m].made; k < c->movers[m].started; ++k) {
      join(&c->pending, &c->movers[m].moves[k % PB_MOST_MOVES].written);
      join(&c->pending, &c->movers[m].moves[k % PB_MOST_MOVES].read);
    }
}

// Makes the mover's moves up to that number.
static void make(core* c, mover* m, int64_t number) {
  if (m->made >= number) return;
  for (; m->made < number; ++m->made) each_run(&m->moves[m->made % PB_MOST_MOVES], false);
  find_pending(c);
}

// Whether some run begins at `begin`, or one of its loops' steps behind that, and has some of the bytes.
static bool runs_meet(const move* m, int64_t begin, const int64_t* step, int64_t address, int64_t bytes) {
  for (int64_t i = 0; i < m->extent[0]; ++i)
    for (int64_t j = 0; j < m->extent[1]; ++j)
      for (int64_t k = 0; k < m->extent[2]; ++k) {
        int64_t at = begin + i * step[0] + j * step[1] + k * step[2];
        if (meets(&(span){at, at + m->bytes}, address, bytes)) return true;
      }
  return false;
}

static void fail(pb__core_machine* m, const pb_core_mover* by, bool writes, bool brings, int64_t bytes) {
  if (atomic_exchange(&m->failed, true)) return;
  snprintf(m->fault, sizeof m->fault, "it %s %lld bytes that a move by %s %s, and has not waited for that",
           writes ? "writes" : "reads", (long long)bytes, by->name, brings ? "writes" : "reads");
}

static void touch_moves(core* c, int64_t address, int64_t bytes, bool writes) {
  for (int b = 0; b < c->machine->chip->core_mover_count; ++b)
    for (int64_t k = c->movers[b].made; k < c->movers[b].started; ++k) {
      const move* m = &c->movers[b].moves[k % PB_MOST_MOVES];
      bool written = meets(&m->written, address, bytes) && runs_meet(m, m->to, m->to_step, address, bytes);
      bool read = writes && meets(&m->read, address, bytes) && runs_meet(m, m->from, m->from_step, address, bytes);
      if (written || read) fail(c->machine, &c->machine->chip->core_movers[b], writes, written, bytes);
    }
}

// By code, of so many bytes. Most are of no move at all.
static void touch(int64_t of, int64_t address, int64_t bytes, int64_t writes) {
  core* c = core_of(of);
  if (meets(&c->pending, address, bytes)) touch_moves(c, address, bytes, writes);
}

static void wait_until(core* c, int64_t time) {
  if (c->clock < time) c->clock = time;
}

static int64_t cycles_of(const pb_chip* chip, const pb_core_mover* by, const move* m) {
  int64_t rate = chip->memories[chip->system_memory].bytes_per_cycle, near = chip->memories[by->near].bytes_per_cycle;
  if (near < rate) rate = near;
  return m->extent[0] * m->extent[1] * m->extent[2] * ((m->bytes + rate - 1) / rate);
}

// which: twice the mover's number, 1 more where it takes from the core's memory.
static void start(int64_t of, int64_t which, int64_t flag, int64_t to, int64_t from, int64_t bytes, int64_t n0,
                  int64_t t0, int64_t f0, int64_t n1, int64_t t1, int64_t f1, int64_t n2, int64_t t2, int64_t f2) {
  core* c = core_of(of);
  const pb_chip* chip = c->machine->chip;
  bool out = which % 2;
  const pb_core_mover* by = &chip->core_movers[which / 2];
  mover* m = &c->movers[which / 2];
  c->clock += by->start_cycles;
  if (m->started - m->made >= by->depth) {
    wait_until(c, m->moves[m->made % PB_MOST_MOVES].done);
    make(c, m, m->made + 1);
  }
  move* next = &m->moves[m->started++ % PB_MOST_MOVES];
  *next = (move){.to = to, .from = from, .bytes = bytes};
  memcpy(next->extent, (int64_t[]){n0, n1, n2}, sizeof next->extent);
  memcpy(next->to_step, (int64_t[]){t0, t1, t2}, sizeof next->to_step);
  memcpy(next->from_step, (int64_t[]){f0, f1, f2}, sizeof next->from_step);
  next->written = span_of(next, to, next->to_step);
  next->read = span_of(next, from, next->from_step);
  join(&c->pending, &next->written);
  join(&c->pending, &next->read);
  int64_t begins = c->port_free_at > c->clock ? c->port_free_at : c->clock;
  c->port_free_at = begins + cycles_of(chip, by, next);
  next->done = c->port_free_at + (out ? 0 : chip->memories[chip->system_memory].latency);
  if (!out) each_run(next, true);
  c->last[flag] = m->started;
  c->by[flag] = (int)(which / 2);
  c->done[flag] = next->done;
}

static void wait(int64_t of, int64_t flag) {
  core* c = core_of(of);
  if (!c->last[flag]) return;
  make(c, &c->movers[c->by[flag]], c->last[flag]);
  wait_until(c, c->done[flag]);
}

static void end(int64_t of) {
  core* c = core_of(of);
  for (int f = 0; f < FLAGS; ++f) wait(of, f);
  int64_t most = atomic_load(&c->machine->cycles);
  while (most < c->clock && !atomic_compare_exchange_weak(&c->machine->cycles, &most, c->clock)) continue;
  free(c);
}

pb__core_machine* pb__core_machine_open(const pb_chip* chip, uint64_t table[PB_CORE_CALLS]) {
  pb__core_machine* m = calloc(1, sizeof *m);
  if (!m) pb_no_memory(sizeof *m);
  m->chip = chip;
  table[PB_CORE_OF] = (uintptr_t)m;
  table[PB_CORE_BEGIN] = (uintptr_t)begin; // POSIX has function pointers in what objects' have
  table[PB_CORE_MOVE] = (uintptr_t)start;
  table[PB_CORE_WAIT] = (uintptr_t)wait;
  table[PB_CORE_END] = (uintptr_t)end;
  table[PB_CORE_TOUCH] = (uintptr_t)touch;
  return m;
}

void pb__core_machine_close(pb__core_machine* machine) { free(machine); }

uint64_t pb__core_machine_cycles(pb__core_machine* machine) { return (uint64_t)atomic_exchange(&machine->cycles, 0); }

bool pb__core_machine_fault(pb__core_machine* m, char* text, size_t bytes) {
  if (!atomic_load(&m->failed)) return false;
  snprintf(text, bytes, "%s", m->fault);
  atomic_store(&m->failed, false);
  return true;
}

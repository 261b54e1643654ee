// Races by happens-before. For each granule of memory stand who wrote it last and who has read it since; an access that
// does not come behind them is a race, whatever the order in which this run happened to make them. FastTrack (Flanagan,
// Freund 2009) is where a pair of a thread and its clock for all of a history comes from.
#include "targets/control/grid/machine/block.h"

#include <stdio.h>
#include <time.h>

// tag:32 thread:10 flags:2 clock:20. The tag is the launch (12) and block (20) in device memory, in shared memory a
// number of the run of a block, so that records of others are old by themselves. Readers are one thread, lanes of that
// thread's warp, threads of several warps or of several blocks.
enum { CLOCK_BITS = 20, SEVERAL = 1, BLOCKS = 2, WARP = 3, STRONG = 1 };

typedef struct record {
  uint32_t tag, thread, flags, clock;
} record;

static inline record unpack(uint64_t r) {
  return (record){(uint32_t)(r >> 32), (uint32_t)(r >> 22) & 0x3ff, (uint32_t)(r >> 20) & 3, (uint32_t)r & 0xfffff};
}
static inline uint64_t pack(uint32_t tag, uint32_t thread, uint32_t flags, uint32_t clock) {
  return (uint64_t)tag << 32 | (uint64_t)thread << 22 | (uint64_t)flags << 20 | clock;
}

// Up to where the warp's own past comes before what its lanes do now: a wave runs all of its lanes in order.
static inline uint64_t own_clock(const grid_block* b, const grid_warp* w) {
  return b->lockstep ? UINT64_MAX : w->clock;
}

// Whether what `thread` did at `clock` comes before what lane's thread does now.
static inline bool before(const grid_block* b, const grid_warp* w, uint32_t me, uint32_t thread, uint32_t clock) {
  if (thread == me) return true;
  uint32_t warp = thread / GRID_LANES;
  return warp == w->index ? clock < own_clock(b, w) : b->known[w->index][warp] > clock;
}

// The same of all readers of the record, which are of this block.
static bool all_before(const grid_block* b, const grid_warp* w, uint32_t me, const record* r) {
  if (r->flags == SEVERAL) return w->known > r->clock && own_clock(b, w) > r->clock;
  return before(b, w, r->flags == WARP ? UINT32_MAX : me, r->thread, r->clock);
}

static const char* who(const grid_block* b, const record* r, bool shared, char* text, size_t size) {
  uint32_t n[3] = {b->launch->threads[0], b->launch->threads[1], b->launch->threads[2]};
  uint32_t block = shared || r->tag == b->tag ? b->index : r->tag & 0xfffff;
  if (r->flags == BLOCKS && !shared)
    snprintf(text, size, "threads of several blocks");
  else
    snprintf(text, size, "%sthread %u,%u,%u of block %u", r->flags & SEVERAL ? "several threads, among them " : "",
             r->thread % n[0], r->thread / n[0] % n[1], r->thread / n[0] / n[1], block);
  return text;
}

static int report(const grid_request* q, int lane, uint64_t raw, bool shared, const char* did, uint64_t address) {
  record r = unpack(raw);
  char text[160];
  static const char* const does[] = {"reads", "writes", "changes"};
  return grid__stop(q->block, q->warp, q->insn, lane, GRID_RACE,
                    "a race: it %s %s memory at %#llx, which %s %s without a barrier between", does[q->effect],
                    shared ? "shared" : "device", (unsigned long long)(shared ? address - GRID_SHARED : address),
                    who(q->block, &r, shared, text, sizeof text), did);
}

typedef struct view {
  const grid_request* q;
  const grid_memory* m;
  bool shared;
  uint32_t tag, epoch_shift;   // a record counts if its tag, moved by this, is the view's
  uint32_t mask, first_thread; // the lanes that touch it, and the thread of lane 0
} view;

static inline bool current(const view* v, uint32_t tag) { return tag >> v->epoch_shift == v->tag >> v->epoch_shift; }

// The ISA of a wave has no undefined behaviour: what is stored twice and the same is no race.
static bool stores_the_same(const view* v, int lane) {
  const grid_request* q = v->q;
  if (q->effect != GRID_WRITE || !q->stores[0] || q->repeats) return false;
  const uint8_t* at = v->m->data + (q->address[lane] - v->m->address);
  for (uint32_t k = 0; k < q->bytes; k += 4)
    if (memcmp(at + k, &q->stores[k / 4][lane], q->bytes - k < 4 ? q->bytes - k : 4)) return false;
  return true;
}

// Stores what has been recorded as this store's already: two stores of two blocks that overlap may each have recorded
// what the other one waits for.
static void store_recorded(const view* v) {
  const grid_request* q = v->q;
  uint32_t size = UINT32_C(1) << v->m->shift, clock = q->warp->clock & ((1u << CLOCK_BITS) - 1);
  for (uint32_t left = v->mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    uint64_t from = q->address[l] - v->m->address;
    for (uint32_t at = 0; at < q->bytes; at += size) {
      record r = unpack(__atomic_load_n(&v->m->writers[(from + at) >> v->m->shift], __ATOMIC_RELAXED));
      if (r.tag != v->tag || r.thread != v->first_thread + (uint32_t)l || r.clock != clock) continue;
      for (uint32_t k = at; k < at + size && k < q->bytes; ++k)
        v->m->data[from + k] = (uint8_t)(q->stores[k / 4][l] >> 8 * (k % 4));
    }
  }
}

// A block on another thread of the host has said that it writes, and does so right after: its bytes come soon, or are
// others.
static bool will_be_the_same(const view* v, int lane) {
  enum { TURNS = 200, WAIT = 5000000 }; // a second in all, ns each
  const struct timespec wait = {.tv_nsec = WAIT};
  if (v->q->effect != GRID_WRITE || !v->q->stores[0] || v->q->repeats) return false;
  store_recorded(v);
  for (int turn = 0; turn < TURNS; ++turn) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (stores_the_same(v, lane)) return true;
    nanosleep(&wait, NULL);
  }
  return false;
}

static int against_writer(const view* v, int lane, uint32_t me, uint64_t raw, uint64_t g) {
  record r = unpack(raw);
  if (!current(v, r.tag) || (r.flags & STRONG && v->q->strong)) return GRID_OK;
  if (r.tag == v->tag && before(v->q->block, v->q->warp, me, r.thread, r.clock)) return GRID_OK;
  if (stores_the_same(v, lane)) return GRID_OK;
  if (!v->shared && grid__synced(v->q->block, v->q->warp, r.tag, r.thread / GRID_LANES, r.clock)) return GRID_OK;
  if (!v->shared && r.tag != v->tag && will_be_the_same(v, lane)) return GRID_OK;
  return report(v->q, lane, pack(r.tag, r.thread, 0, r.clock), v->shared, "writes", v->m->address + (g << v->m->shift));
}

static int against_readers(const view* v, int lane, uint32_t me, uint64_t raw, uint64_t g) {
  record r = unpack(raw);
  const grid_warp* w = v->q->warp;
  if (!current(v, r.tag)) return GRID_OK;
  bool one_warp = !r.flags || r.flags == WARP;
  bool ordered = r.tag == v->tag && r.flags != BLOCKS && all_before(v->q->block, w, me, &r);
  if (!ordered && !v->shared && one_warp) ordered = grid__synced(v->q->block, w, r.tag, r.thread / GRID_LANES, r.clock);
  return ordered ? GRID_OK : report(v->q, lane, raw, v->shared, "reads", v->m->address + (g << v->m->shift));
}

// The readers with one more. One that came before me needs no record: who waits for me waits for it.
static inline uint64_t joined(const view* v, uint64_t raw, uint32_t me) {
  const grid_warp* w = v->q->warp;
  uint64_t mine = pack(v->tag, me, 0, w->clock);
  record r = unpack(raw);
  if (!current(v, r.tag)) return mine;
  if (r.flags == BLOCKS) return raw;
  if (r.tag != v->tag) return pack(v->tag, me, BLOCKS, 0);
  if (all_before(v->q->block, w, me, &r)) return mine;
  if (r.flags == SEVERAL) return raw;
  if (r.thread / GRID_LANES == w->index) return pack(v->tag, r.thread, WARP, w->clock);
  return pack(v->tag, r.thread, SEVERAL, r.clock < w->clock ? r.clock : w->clock);
}

static int touch(const view* v, int lane, uint32_t me, uint64_t g, bool alone) {
  const grid_request* q = v->q;
  uint64_t *writer = &v->m->writers[g], *readers = &v->m->readers[g];
  int code = against_writer(v, lane, me, __atomic_load_n(writer, __ATOMIC_RELAXED), g);
  if (code) return code;
  if (q->effect == GRID_READ && !q->strong) {
    uint64_t old = __atomic_load_n(readers, __ATOMIC_RELAXED), new = joined(v, old, me);
    if (!alone && !(new >> CLOCK_BITS & 3)) new |= (uint64_t)WARP << CLOCK_BITS;
    if (new != old) __atomic_store_n(readers, new, __ATOMIC_RELAXED);
    return GRID_OK;
  }
  code = against_readers(v, lane, me, __atomic_load_n(readers, __ATOMIC_RELAXED), g);
  if (code || q->effect == GRID_READ) return code;
  __atomic_store_n(writer, pack(v->tag, me, q->strong ? STRONG : 0, q->warp->clock), __ATOMIC_RELAXED);
  return GRID_OK;
}

static bool lanes_agree(const grid_request* q, int lane, uint32_t others) {
  if (!q->stores[0]) return false;
  for (uint32_t k = 0; k < q->bytes; k += 4)
    for (uint32_t m = others; m; m &= m - 1)
      if (memcmp(&q->stores[k / 4][lane], &q->stores[k / 4][__builtin_ctz(m)], q->bytes - k < 4 ? q->bytes - k : 4))
        return false;
  return true;
}

// Two lanes of one store at one place: which of them stays is open. Of a warp's that may one is left of each place.
static int lanes_collide(const view* v, uint32_t* mask) {
  const grid_request* q = v->q;
  if (q->strong || q->dense || !(*mask & (*mask - 1))) return GRID_OK;
  for (uint32_t m = *mask; m; m &= m - 1) { // all are aligned: they overlap where they are one
    int l = __builtin_ctz(m);
    uint32_t others = q->block->worker->scan->same(q->address, q->address[l]) & *mask & ~(UINT32_C(1) << l);
    if (others && !lanes_agree(q, l, others))
      return grid__stop(q->block, q->warp, q->insn, l, GRID_RACE,
                        "a race: lanes %d and %d of the warp store at %#llx in one instruction", l,
                        __builtin_ctz(others),
                        (unsigned long long)(v->shared ? q->address[l] - GRID_SHARED : q->address[l]));
    if (!q->repeats) continue;
    *mask &= ~others;
    m &= ~others;
  }
  return GRID_OK;
}

// The plain cases for all lanes at once; those that are left.
static uint32_t at_once(const view* v, uint32_t mask, uint32_t first_thread, uint32_t per, bool distinct) {
  const grid_request* q = v->q;
  const grid_block* b = q->block;
  grid_records r = {v->m->writers,           v->m->readers,  v->tag,
                    q->warp->clock,          q->warp->known, own_clock(b, q->warp),
                    (int)v->epoch_shift,     first_thread,   b->known[q->warp->index],
                    q->effect == GRID_WRITE, distinct};
  uint64_t index[GRID_LANES], first = q->address[__builtin_ctz(mask)];
  uint32_t left = 0;
  for (int l = 0; l < GRID_LANES; ++l)
    index[l] = ((mask >> l & 1 ? q->address[l] : first) - v->m->address) >> v->m->shift;
  for (uint32_t k = 0; k < per; ++k) {
    left |= b->worker->scan->records(&r, index, mask);
    for (int l = 0; l < GRID_LANES; ++l) ++index[l];
  }
  return left;
}

int grid__race(const grid_request* q, const grid_memory* m, uint32_t mask, bool shared) {
  grid_block* b = q->block;
  uint32_t first_thread = q->warp->index * GRID_LANES;
  view v = {q, m, shared, shared ? b->run : b->tag, shared ? 0 : 20, mask, first_thread};
  uint32_t per = q->bytes >> m->shift ? q->bytes >> m->shift : 1;
  if (q->effect == GRID_WRITE) {
    int code = lanes_collide(&v, &mask);
    if (code) return code;
  }
  bool one_place = q->uniform && q->effect == GRID_READ, alone = !(mask & (mask - 1));
  if (one_place) mask &= -mask;
  bool distinct = q->dense || alone || q->effect == GRID_WRITE;
  if (!q->strong) mask = at_once(&v, mask, first_thread, per, distinct);
  for (uint32_t left = mask; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    uint64_t g = (q->address[l] - m->address) >> m->shift;
    for (uint32_t k = 0; k < per; ++k) {
      int code = touch(&v, l, first_thread + (uint32_t)l, g + k, !one_place || alone);
      if (code) return code;
    }
  }
  return GRID_OK;
}

void grid__wrote(grid_block* b, const grid_warp* w, int lane, uint64_t address, uint32_t bytes) {
  const grid_memory* m = &b->shared;
  if (!m->writers) return;
  uint64_t from = (address - m->address) >> m->shift, to = (address + bytes - 1 - m->address) >> m->shift;
  for (uint64_t g = from; g <= to; ++g)
    m->writers[g] = pack(b->run, w->index * GRID_LANES + (uint32_t)lane, 0, w->clock);
}

// Barriers of a block and what they order (9.7.13 of the PTX ISA). Every warp has a clock, the block's when it last
// released; what a warp did before a barrier comes before what others do behind it.
#include "targets/control/grid/machine/block.h"

enum { MOST_CLOCK = (1 << 20) - 1 };

static uint32_t tick(grid_block* b) { return b->clock < MOST_CLOCK ? ++b->clock : b->clock; }

void grid__release(grid_block* b, grid_warp* w) { w->clock = tick(b); }

void grid__know_least(grid_block* b, grid_warp* w) {
  uint32_t least = UINT32_MAX;
  for (uint32_t o = 0; o < b->warp_count; ++o)
    if (o != w->index && !(b->lockstep == 2 && o == (w->index ^ 1)) && b->known[w->index][o] < least)
      least = b->known[w->index][o];
  w->known = least;
}

// All that wait hear of all that arrived, and of what those had heard. Who arrived and went on is heard up to there.
static void order(grid_block* b, const grid_barrier* bar) {
  uint32_t heard[GRID_MAX_WARPS] = {0};
  uint32_t stamp = tick(b);
  bool all = bar->warps == (uint32_t)(((uint64_t)1 << b->warp_count) - 1);
  for (uint32_t m = bar->warps; m && !all; m &= m - 1) {
    uint32_t w = (uint32_t)__builtin_ctz(m);
    for (uint32_t o = 0; o < b->warp_count; ++o)
      if (b->known[w][o] > heard[o]) heard[o] = b->known[w][o];
  }
  for (uint32_t w = 0; w < b->warp_count; ++w) {
    if (!(bar->warps >> w & 1)) continue;
    uint32_t until = bar->gone >> w & 1 ? bar->gone_at[w] : stamp;
    if (heard[w] < until) heard[w] = until;
  }
  for (uint32_t m = bar->warps & ~bar->gone; m; m &= m - 1) {
    uint32_t w = (uint32_t)__builtin_ctz(m);
    memcpy(b->known[w], heard, b->warp_count * sizeof *heard);
    b->warps[w].clock = stamp;
    grid__know_least(b, &b->warps[w]);
  }
}

void grid__order_all(grid_block* b, uint32_t released) {
  uint32_t stamp = tick(b);
  for (uint32_t w = 0; w < b->warp_count; ++w) {
    for (uint32_t o = 0; o < b->warp_count; ++o)
      if (released >> o & 1 && o / b->lockstep != w / b->lockstep) b->known[w][o] = stamp;
    b->warps[w].clock = stamp;
    grid__know_least(b, &b->warps[w]);
  }
}

static uint32_t live_threads(const grid_block* b) {
  uint32_t count = 0;
  for (uint32_t w = 0; w < b->warp_count; ++w) count += (uint32_t)__builtin_popcount(b->warps[w].live);
  return count;
}

// bar.red: each thread gets the sum over all.
static void give(const grid_warp* w, const grid_insn* i, uint32_t mask, const grid_barrier* bar) {
  if (!(i->mode & GRID_BARRIER_RED)) return;
  if (i->count == 1) {
    for (uint32_t m = mask; m; m &= m - 1) ((uint32_t*)(w->file + i->d))[__builtin_ctz(m)] = bar->sums[0];
    return;
  }
  uint32_t bits;
  memcpy(&bits, w->file + i->d, 4);
  bool value = i->count == 2 ? bar->sums[1] == bar->arrived : bar->sums[2];
  bits = value ? bits | mask : bits & ~mask;
  memcpy(w->file + i->d, &bits, 4);
}

static void open_gate(grid_block* b, uint32_t number) {
  grid_barrier* bar = &b->barriers[number];
  order(b, bar);
  for (uint32_t w = 0; w < b->warp_count; ++w)
    for (int s = 0; s < b->warps[w].split_count; ++s) {
      grid_split* split = &b->warps[w].splits[s];
      if (split->waits != number + 1) continue;
      split->waits = 0;
      give(&b->warps[w], &b->launch->kernel->code[split->pc - 1], split->mask, bar);
    }
  *bar = (grid_barrier){0};
}

int grid__barrier(grid_block* b, grid_warp* w, grid_split* s, const grid_insn* i, uint32_t mask) {
  int lane = __builtin_ctz(mask);
  uint32_t number = ((uint32_t*)(w->file + i->a))[lane];
  uint32_t count = i->b == GRID_NONE ? 0 : ((uint32_t*)(w->file + i->b))[lane];
  if (number >= GRID_BARRIERS)
    return grid__stop(b, w, i, lane, GRID_BARRIER, "barrier %u of %d", number, GRID_BARRIERS);
  if (i->b != GRID_NONE && (!count || count % GRID_LANES || count > (b->launch->thread_count + 31) / 32 * 32))
    return grid__stop(b, w, i, lane, GRID_BARRIER, "a barrier of %u threads: warps have %d, the block %u", count,
                      GRID_LANES, b->launch->thread_count);
  if (b->clock >= MOST_CLOCK)
    return grid__stop(b, w, i, lane, GRID_LIMIT, "more than %d barriers and releases in a block", MOST_CLOCK);
  grid_barrier* bar = &b->barriers[number];
  bool counted = i->b != GRID_NONE;
  if (bar->arrived && (bar->counted != counted || (counted && bar->expected != count)))
    return grid__stop(b, w, i, lane, GRID_BARRIER, "barrier %u waits for %u threads since line %u, here for %u", number,
                      bar->expected, bar->insn->line, counted ? count : b->launch->thread_count);
  bar->counted = counted;
  bar->insn = bar->insn ? bar->insn : i;
  bar->warps |= UINT32_C(1) << w->index;
  // An aligned one counts whole warps, those lanes too that the block has not.
  bool aligned = i->mode & GRID_BARRIER_ALIGNED;
  bar->arrived += counted && aligned ? GRID_LANES : (uint32_t)__builtin_popcount(mask);
  bar->expected = counted ? count : live_threads(b);
  if (i->mode & GRID_BARRIER_RED) {
    uint32_t bits;
    memcpy(&bits, w->file + i->c, 4);
    uint32_t set = (uint32_t)__builtin_popcount(bits & mask);
    bar->sums[0] += set;
    bar->sums[1] += set;
    bar->sums[2] |= set;
  }
  if (!(i->mode & GRID_BARRIER_ARRIVE)) s->waits = (uint8_t)(number + 1);
  grid__release(b, w);
  if (i->mode & GRID_BARRIER_ARRIVE) {
    bar->gone |= UINT32_C(1) << w->index;
    bar->gone_at[w->index] = w->clock;
  }
  if (bar->arrived > bar->expected)
    return grid__stop(b, w, i, lane, GRID_BARRIER, "barrier %u: %u threads arrive, it waits for %u", number,
                      bar->arrived, bar->expected);
  if (bar->arrived == bar->expected) open_gate(b, number);
  return GRID_OK;
}

// A thread that leaves holds up nobody (exit, 9.7.12).
int grid__left(grid_block* b) {
  uint32_t live = live_threads(b);
  for (uint32_t n = 0; n < GRID_BARRIERS; ++n) {
    grid_barrier* bar = &b->barriers[n];
    if (!bar->arrived || bar->counted) continue;
    bar->expected = live;
    if (bar->arrived >= live) open_gate(b, n);
  }
  return GRID_OK;
}

int grid__stuck(grid_block* b) {
  for (uint32_t w = 0; w < b->warp_count; ++w)
    for (int s = 0; s < b->warps[w].split_count; ++s)
      if (b->warps[w].splits[s].waits == GRID_WAITS_SYNC)
        return grid__stop(b, &b->warps[w], &b->launch->kernel->code[b->warps[w].splits[s].pc],
                          __builtin_ctz(b->warps[w].splits[s].mask), GRID_DIVERGED,
                          "lanes %#x are here and wait for others of their warp, which wait elsewhere",
                          b->warps[w].splits[s].mask);
  for (uint32_t w = 0; w < b->warp_count; ++w)
    for (int s = 0; s < b->warps[w].split_count; ++s) {
      const grid_split* split = &b->warps[w].splits[s];
      const grid_barrier* bar = &b->barriers[split->waits - 1];
      return grid__stop(b, &b->warps[w], &b->launch->kernel->code[split->pc - 1], __builtin_ctz(split->mask),
                        GRID_BARRIER, "barrier %d has %u of %u threads, and no other thread can come", split->waits - 1,
                        bar->arrived, bar->expected);
    }
  return GRID_OK;
}

// A warp, instruction by instruction. Any divergence: lanes that stand at different places are splits (block.h).
#include "targets/control/grid/machine/block.h"
#include "targets/control/grid/machine/lanes/number.h"

#include <fenv.h>

enum { PATIENCE = 1 << 16 }; // instructions before lanes further down get a turn: they may be what these wait for

static void blend(uint8_t* restrict d, const uint8_t* restrict s, uint32_t mask, int size) {
  switch (size) {
  case 4:
    for (int l = 0; l < GRID_LANES; ++l) {
      uint32_t old, new;
      memcpy(&old, d + 4 * l, 4), memcpy(&new, s + 4 * l, 4);
      old = mask >> l & 1 ? new : old;
      memcpy(d + 4 * l, &old, 4);
    }
    break;
  case 8:
    for (int l = 0; l < GRID_LANES; ++l) {
      uint64_t old, new;
      memcpy(&old, d + 8 * l, 8), memcpy(&new, s + 8 * l, 8);
      old = mask >> l & 1 ? new : old;
      memcpy(d + 8 * l, &old, 8);
    }
    break;
  default:
    for (int l = 0; l < GRID_LANES; ++l)
      if (mask >> l & 1) memcpy(d + size * l, s + size * l, (size_t)size);
  }
}

static void lanes(const grid_warp* w, const grid_insn* i, uint32_t mask) {
  static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  uint8_t *f = w->file, scratch[8 * GRID_LANES] __attribute__((aligned(64)));
  bool all = mask == w->live;
  if (i->round) fesetround(modes[i->round & 3]);
  i->lanes(all ? f + i->d : scratch, f + i->a, f + i->b, f + i->c);
  if (i->round) fesetround(FE_TONEAREST);
  if (!all) blend(f + i->d, scratch, mask, i->size);
}

static uint32_t bits_at(const grid_warp* w, uint32_t offset) {
  uint32_t bits;
  memcpy(&bits, w->file + offset, 4);
  return bits;
}

static void set_bits(const grid_warp* w, uint32_t offset, uint32_t bits, uint32_t mask) {
  uint32_t old = bits_at(w, offset);
  bits = (old & ~mask) | (bits & mask);
  memcpy(w->file + offset, &bits, 4);
}

static void logic(const grid_warp* w, const grid_insn* i, uint32_t mask) {
  uint32_t a = bits_at(w, i->a), b = bits_at(w, i->b);
  if (i->mode & 4) a = ~a;
  if (i->mode & 8) b = ~b;
  switch (i->mode & 3) {
  case 0:
    a &= b;
    break;
  case 1:
    a |= b;
    break;
  case 2:
    a ^= b;
    break;
  }
  set_bits(w, i->d, a, mask);
}

static void convert(const grid_warp* w, const grid_insn* i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t value = 0;
    memcpy(&value, w->file + i->a + i->bytes * l, i->bytes);
    value = grid__convert(value, i->space, i->mode, i->round, i->count);
    memcpy(w->file + i->d + i->size * l, &value, i->size);
  }
}

static void table(const grid_warp* w, const grid_insn* i, uint32_t mask) {
  uint32_t *d = (uint32_t*)(w->file + i->d), *a = (uint32_t*)(w->file + i->a), *b = (uint32_t*)(w->file + i->b);
  const uint32_t* c = (uint32_t*)(w->file + i->c);
  for (uint32_t m = mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint32_t r = 0, x = a[l], y = b[l], z = c[l];
    for (int k = 0; k < 8; ++k)
      if (i->mode >> k & 1) r |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
    d[l] = r;
  }
}

static void clock_of(const grid_block* b, const grid_warp* w, const grid_insn* i, uint32_t mask) {
  uint64_t now = b->worker->counts.warp_instructions;
  for (uint32_t m = mask; m; m &= m - 1) memcpy(w->file + i->d + i->size * __builtin_ctz(m), &now, i->size);
}

// Splits are kept sorted by pc; `at` may be anywhere.
static void add_split(grid_warp* w, uint32_t pc, uint32_t mask) {
  if (!mask) return;
  for (int n = 0; n < w->split_count; ++n)
    if (w->splits[n].pc == pc && (!w->splits[n].waits || w->splits[n].waits == GRID_WAITS_SYNC)) {
      w->splits[n].mask |= mask;
      w->splits[n].waits = 0;
      return;
    }
  int n = w->split_count++;
  for (; n && w->splits[n - 1].pc > pc; --n) w->splits[n] = w->splits[n - 1];
  w->splits[n] = (grid_split){pc, mask, 0};
}

// The same without joining another one: for lanes that are about to wait.
static grid_split* lay_split(grid_warp* w, uint32_t pc, uint32_t mask, uint8_t waits) {
  int n = w->split_count++;
  for (; n && w->splits[n - 1].pc > pc; --n) w->splits[n] = w->splits[n - 1];
  w->splits[n] = (grid_split){pc, mask, waits};
  return &w->splits[n];
}

static void take_split(grid_warp* w, int n) {
  memmove(&w->splits[n], &w->splits[n + 1], (size_t)(w->split_count - n - 1) * sizeof *w->splits);
  --w->split_count;
}

// The lanes of `left` that name the mask of the first of them, which goes to `members`: nobody in it may name another.
static int members_of(grid_block* b, const grid_warp* w, const grid_insn* i, uint32_t row, uint32_t left,
                      uint32_t* members, uint32_t* group) {
  const uint32_t* rows = (const uint32_t*)(w->file + row);
  *members = rows[__builtin_ctz(left)];
  *group = 0;
  for (uint32_t m = left; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    if (!(rows[l] >> l & 1))
      return grid__stop(b, w, i, l, GRID_DIVERGED, "the mask %#x of lanes that take part is without the lane itself",
                        rows[l]);
    if (rows[l] == *members)
      *group |= UINT32_C(1) << l;
    else if (rows[l] & *members)
      return grid__stop(b, w, i, l, GRID_DIVERGED, "lanes name different masks, %#x and %#x", *members, rows[l]);
  }
  return GRID_OK;
}

// Where lanes exchange values and which mask says who takes part; GRID_NONE: all that live (".aligned").
uint32_t grid__members(const grid_insn* i) {
  switch (i->op) {
  case GRID_OP_SHUFFLE:
    return i->list[1];
  case GRID_OP_VOTE:
  case GRID_OP_MATCH:
  case GRID_OP_REDUX:
    return i->b;
  case GRID_OP_WARP_SYNC:
    return i->a;
  default:
    return GRID_NONE;
  }
}

static int act_together(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask) {
  switch (i->op) {
  case GRID_OP_WARP_SYNC:
    grid__release(b, w);
    return GRID_OK;
  case GRID_OP_MMA:
    return grid__matrix(b, w, i);
  case GRID_OP_LDMATRIX:
  case GRID_OP_STMATRIX:
    return grid__fragment(b, w, i, mask);
  default:
    return grid__exchange(b, w, i, mask);
  }
}

// Lanes that name masks apart from each other, as parts of a warp do, take part in groups of their own.
static int together(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask, bool* waits) {
  uint32_t row = grid__members(i), members = w->live, group = mask;
  *waits = false;
  for (uint32_t left = mask; left && row != GRID_NONE && !*waits; left &= ~group) {
    int code = members_of(b, w, i, row, left, &members, &group);
    if (code) return code;
    *waits = members & w->live & ~group;
  }
  if (row == GRID_NONE) *waits = members & w->live & ~mask;
  if (*waits) return GRID_OK;
  if (group == mask) return act_together(b, w, i, mask);
  for (uint32_t left = mask; left; left &= ~group) {
    int code = members_of(b, w, i, row, left, &members, &group);
    if (!code) code = act_together(b, w, i, group);
    if (code) return code;
  }
  return GRID_OK;
}

static void count_class(grid_worker* k, const grid_insn* i, uint32_t mask) {
  ++k->classes[i->class];
  if (i->class) {
    ++k->counts.warp_instructions;
    uint32_t threads = (uint32_t)__builtin_popcount(mask);
    k->counts.thread_instructions += threads;
    if (i->class == GRID_CLASS_FMA) k->counts.thread_fmas += threads;
  }
}

// Those that come to the same place join them and look again.
static void wait_for_lanes(grid_warp* w, uint32_t pc, uint32_t mask) {
  add_split(w, pc, mask);
  for (int s = 0; s < w->split_count; ++s)
    if (w->splits[s].pc == pc && w->splits[s].mask == mask) w->splits[s].waits = GRID_WAITS_SYNC;
}

// Lanes have left: others that waited for them by a mask need not, but an aligned instruction wants all.
static int wake(grid_block* b, grid_warp* w) {
  for (int s = 0; s < w->split_count; ++s) {
    grid_split* split = &w->splits[s];
    if (split->waits != GRID_WAITS_SYNC) continue;
    const grid_insn* i = &b->launch->kernel->code[split->pc];
    if (grid__members(i) == GRID_NONE)
      return grid__stop(b, w, i, __builtin_ctz(split->mask), GRID_DIVERGED,
                        "lanes %#x are at an instruction that all lanes of the warp must run together, and others left",
                        split->mask);
    split->waits = 0;
  }
  return GRID_OK;
}

// Runs the split until it meets another one, waits, ends or parts. On return the warp's splits say where lanes stand.
static int run_split(grid_block* b, grid_warp* w, uint64_t* steps, uint32_t stop) {
  const grid_insn* code = b->launch->kernel->code;
  grid_worker* k = b->worker;
  int n = 0;
  while (w->splits[n].waits) ++n;
  uint32_t pc = w->splits[n].pc, mask = w->splits[n].mask;
  take_split(w, n);
  int fault = GRID_OK;
  while (pc < stop && *steps) {
    const grid_insn* i = &code[pc];
    --*steps;
    uint32_t m = mask;
    if (i->guard != GRID_NONE) {
      uint32_t g = bits_at(w, i->guard);
      m &= i->negate ? ~g : g;
    }
    count_class(k, i, m);
    if (!m) {
      ++pc;
      continue;
    }
    switch (i->op) {
    case GRID_OP_LANES:
      lanes(w, i, m);
      break;
    case GRID_OP_PREDICATE: {
      uint32_t bits;
      i->lanes(&bits, w->file + i->a, w->file + i->b, NULL);
      set_bits(w, i->d, bits, m);
      break;
    }
    case GRID_OP_LOGIC:
      logic(w, i, m);
      break;
    case GRID_OP_CONVERT:
      convert(w, i, m);
      break;
    case GRID_OP_LUT:
      table(w, i, m);
      break;
    case GRID_OP_BRANCH:
      if (m == mask) {
        pc = i->target;
        continue;
      }
      ++k->counts.divergent_branches;
      add_split(w, i->target, m);
      add_split(w, pc + 1, mask & ~m);
      return GRID_OK;
    case GRID_OP_SWITCH: {
      const uint32_t* index = (const uint32_t*)(w->file + i->a);
      if (m != mask) add_split(w, pc + 1, mask & ~m);
      for (uint32_t left = m; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        if (index[l] >= (uint64_t)i->offset) {
          fault = grid__stop(b, w, i, l, GRID_BAD_VALUE, "index %u of %d targets", index[l], (int)i->offset);
          return fault;
        }
        add_split(w, i->list[index[l]], UINT32_C(1) << l);
      }
      return GRID_OK;
    }
    case GRID_OP_EXIT:
      w->live &= ~m;
      mask &= ~m;
      if (w->copy_count && !w->live) fault = grid__copy_wait(b, w, NULL, m);
      if (!fault) fault = grid__left(b);
      if (!fault) fault = wake(b, w);
      if (fault) return fault;
      if (!mask) return GRID_OK;
      break;
    case GRID_OP_TRAP:
      return grid__stop(b, w, i, __builtin_ctz(m), GRID_TRAP, "trap");
    case GRID_OP_LOAD:
      fault = grid__load(b, w, i, m);
      break;
    case GRID_OP_STORE:
      fault = grid__store(b, w, i, m);
      break;
    case GRID_OP_ATOMIC:
      fault = grid__atomic(b, w, i, m);
      break;
    case GRID_OP_BARRIER:
      if (m != mask) add_split(w, pc + 1, mask & ~m);
      if (i->mode & GRID_BARRIER_ALIGNED && m != w->live) {
        wait_for_lanes(w, pc, m);
        return GRID_OK;
      }
      return grid__barrier(b, w, lay_split(w, pc + 1, m, 0), i, m);
    case GRID_OP_WARP_SYNC:
    case GRID_OP_SHUFFLE:
    case GRID_OP_VOTE:
    case GRID_OP_MATCH:
    case GRID_OP_REDUX:
    case GRID_OP_MMA:
    case GRID_OP_LDMATRIX:
    case GRID_OP_STMATRIX:
    case GRID_OP_MOVMATRIX: {
      bool waits;
      fault = together(b, w, i, m, &waits);
      if (fault || !waits) break;
      if (m != mask) add_split(w, pc + 1, mask & ~m);
      wait_for_lanes(w, pc, m);
      return GRID_OK;
    }
    case GRID_OP_ACTIVE:
      for (uint32_t left = m; left; left &= left - 1) ((uint32_t*)(w->file + i->d))[__builtin_ctz(left)] = m;
      break;
    case GRID_OP_CLOCK:
      clock_of(b, w, i, m);
      break;
    case GRID_OP_ASYNC_COPY:
      fault = grid__copy(b, w, i, m);
      break;
    case GRID_OP_ASYNC_COMMIT:
      grid__copy_commit(w, m);
      break;
    case GRID_OP_ASYNC_WAIT:
      fault = grid__copy_wait(b, w, i, m);
      break;
    case GRID_OP_FENCE:
      grid__fence(b, w);
      break;
    case GRID_OP_NOTHING:
      break;
    }
    if (fault) return fault;
    ++pc;
  }
  add_split(w, pc, mask);
  return GRID_OK;
}

static int runnable(const grid_warp* w) {
  for (int n = 0; n < w->split_count; ++n)
    if (!w->splits[n].waits) return n;
  return -1;
}

int grid__run_warp(grid_block* b, grid_warp* w, uint64_t steps) {
  while (w->live && steps) {
    int n = runnable(w);
    if (n < 0) {
      for (int s = 0; s < w->split_count; ++s)
        if (w->splits[s].waits != GRID_WAITS_SYNC) return GRID_OK; // of a barrier
      const grid_insn* i = &b->launch->kernel->code[w->splits[0].pc];
      return grid__stop(b, w, i, __builtin_ctz(w->splits[0].mask), GRID_DIVERGED,
                        "lanes %#x wait here for others of their warp, which wait elsewhere", w->splits[0].mask);
    }
    uint64_t before = steps;
    if (w->split_count > n + 1 && w->turn > PATIENCE) { // the last one for a while
      grid_split last = w->splits[w->split_count - 1];
      if (!last.waits) {
        memmove(&w->splits[1], &w->splits[0], (size_t)(w->split_count - 1) * sizeof *w->splits);
        w->splits[0] = last;
        uint64_t some = steps < 1024 ? steps : 1024, left = some;
        int code = run_split(b, w, &left, UINT32_MAX);
        if (code) return code;
        steps -= some - left;
        // sorted again
        for (int x = 1; x < w->split_count; ++x)
          for (int y = x; y && w->splits[y - 1].pc > w->splits[y].pc; --y) {
            grid_split t = w->splits[y];
            w->splits[y] = w->splits[y - 1];
            w->splits[y - 1] = t;
          }
      }
      w->turn = 0;
      continue;
    }
    uint32_t stop = UINT32_MAX;
    for (int s = n + 1; s < w->split_count; ++s)
      if (!w->splits[s].waits || w->splits[s].waits == GRID_WAITS_SYNC) {
        stop = w->splits[s].pc;
        break;
      }
    int code = run_split(b, w, &steps, stop);
    if (code) return code;
    w->turn += before - steps;
    if (w->split_count < 2) w->turn = 0;
  }
  return GRID_OK;
}

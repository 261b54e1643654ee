// A block of waves: each runs until it ends or waits at the barrier.
#include "targets/control/grid/machine/gcn/gcn.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int gcn__stop(gcn_wave* w, const gcn_insn* i, int lane, int code, const char* format, ...) {
  char what[GRID_FAULT_BYTES / 2];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  grid_warp* half = &w->block->warps[w->halves * w->index + (uint32_t)(lane >= 32)];
  return grid__stop(w->block, half, &i->site, lane < 0 ? lane : lane & 31, code, "%s: %s", i->shown, what);
}

// User registers in the order of the kernel descriptor's bits, then the block's place (LLVM's AMDGPU usage, "Initial
// Kernel Execution State").
static void begin_wave(gcn_wave* w) {
  const gcn_kernel* k = w->kernel;
  grid_block* b = w->block;
  const grid_launch* l = b->launch;
  uint32_t at = 0;
  memset(w->s, 0, sizeof w->s);
  for (int n = 0; n < 7; ++n) {
    if (!(k->properties >> n & 1)) continue;
    uint64_t value = n == 1   ? k->kernarg->address + k->packet
                     : n == 3 ? k->kernarg->address
                     : n == 6 ? k->plain.local_bytes
                              : 0;
    int count = n == 0 ? 4 : n == 6 ? 1 : 2; // of queue and dispatch id there is none
    w->s[at] = (uint32_t)value;
    if (count > 1) w->s[at + 1] = (uint32_t)(value >> 32);
    at += (uint32_t)count;
  }
  if (at < (k->rsrc2 >> 1 & 31)) at = k->rsrc2 >> 1 & 31;
  for (int n = 0; n < 3; ++n)
    if (k->rsrc2 >> (7 + n) & 1) w->s[at++] = b->id[n];
  uint32_t lanes = GRID_LANES * w->halves, threads = l->thread_count - w->index * lanes;
  uint64_t exec = threads >= GCN_LANES ? UINT64_MAX : (UINT64_C(1) << threads) - 1;
  w->s[GCN_EXEC] = (uint32_t)exec;
  w->s[GCN_EXEC + 1] = (uint32_t)(exec >> 32) & w->upper;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    uint32_t t = w->index * lanes + lane;
    w->v[lane] =
        t % l->threads[0] | (t / l->threads[0] % l->threads[1]) << 10 | (t / l->threads[0] / l->threads[1]) << 20;
  }
  w->pc = k->start;
  w->scc = w->done = w->at_barrier = false;
  memset(w->v_pending, 0, sizeof w->v_pending);
  memset(w->l_pending, 0, sizeof w->l_pending);
  memset(w->s_pending, 0, sizeof w->s_pending);
  w->v_issued = w->v_done = w->l_issued = w->l_done = w->s_issued = w->s_done = 0;
  w->v_stored = w->l_stored = w->t_issued = w->t_done = 0;
}

static int run_wave(gcn_wave* w, uint64_t steps) {
  grid_worker* k = w->block->worker;
  while (steps-- && !w->done && !w->at_barrier) {
    if (w->pc >= w->kernel->text->count) {
      const gcn_insn* last = &w->kernel->text->code[w->kernel->text->count - 1];
      return gcn__stop(w, last, -1, GRID_BAD_CODE, "the wave runs past the end of the kernel");
    }
    const gcn_insn* i = &w->kernel->text->code[w->pc];
    uint64_t lanes = (uint64_t)__builtin_popcountll(gcn_exec(w));
    ++k->classes[i->class];
    ++k->counts.warp_instructions;
    bool scalar = i->encoding <= GCN_SMEM;
    k->counts.thread_instructions += scalar ? 1 : lanes;
    k->counts.scalars += scalar && i->class == GRID_CLASS_INTEGER;
    if (i->class == GRID_CLASS_FMA) k->counts.thread_fmas += lanes * (i->second ? i->imm : 1);
    int code = i->run(w, i);
    if (code) return code;
  }
  return GRID_OK;
}

// All that live are at the barrier. What a wave has stored and not waited for need not be there yet.
static void open_barrier(grid_block* b, gcn_wave* waves, uint32_t count) {
  uint32_t released = 0;
  for (uint32_t n = 0; n < count; ++n) {
    waves[n].at_barrier = false;
    const gcn_wave* w = &waves[n];
    bool waited = w->l_stored <= w->l_done && w->v_stored <= w->v_done && w->t_issued <= w->t_done;
    released |= (waited ? (UINT32_C(1) << w->halves) - 1 : 0) << w->halves * n;
  }
  grid__order_all(b, released);
}

static int past_limit(grid_block* b) {
  grid_worker* k = b->worker;
  uint64_t more = k->counts.warp_instructions - k->counted;
  k->counted = k->counts.warp_instructions;
  if (__atomic_add_fetch(&b->launch->steps, more, __ATOMIC_RELAXED) <= b->launch->limit) return GRID_OK;
  return grid__stop(b, NULL, NULL, -1, GRID_LIMIT, "more than %llu instructions of waves: it is taken for endless",
                    (unsigned long long)b->launch->limit);
}

int gcn__run_block(grid_block* b) {
  grid_worker* k = b->worker;
  gcn_wave* waves = k->waves;
  uint32_t count = b->warp_count / waves->halves;
  for (uint32_t n = 0; n < count; ++n) begin_wave(&waves[n]);
  bool random = b->launch->device->schedule == GRID_RANDOM, late = b->launch->device->schedule == GRID_LATE;
  for (;;) {
    uint32_t live = 0, ran = 0, from = random ? (uint32_t)(grid__random(&k->random) % count) : 0;
    for (uint32_t n = 0; n < count; ++n) {
      gcn_wave* w = &waves[late ? count - 1 - n : (n + from) % count];
      if (w->done) continue;
      ++live;
      if (w->at_barrier) continue;
      ++ran;
      int code = run_wave(w, random ? 1 + grid__random(&k->random) % 200 : 1 << 9);
      if (!code) code = past_limit(b);
      if (code) return code;
    }
    if (!live) return GRID_OK;
    if (!ran) open_barrier(b, waves, count); // a wave that has ended holds up nobody
  }
}

uint32_t gcn__halves(const grid_kernel* k) { return k->gcn->text->is_rdna ? 1 : 2; }

bool gcn__open_waves(grid_worker* k) {
  grid_block* b = &k->block;
  const gcn_kernel* kernel = b->launch->kernel->gcn;
  uint32_t halves = b->lockstep, count = b->warp_count / halves;
  k->waves = calloc(count, sizeof *k->waves);
  if (!k->waves) return false;
  bool good = true;
  for (uint32_t n = 0; n < count; ++n) {
    gcn_wave* w = &k->waves[n];
    w->block = b;
    w->kernel = kernel;
    w->index = n;
    w->halves = halves;
    w->upper = halves == 2 ? UINT32_MAX : 0;
    w->v = aligned_alloc(64, (size_t)GCN_VGPRS * GCN_LANES * 4);
    if (w->v)
      memset(w->v, 0, (size_t)GCN_VGPRS * GCN_LANES * 4);
    else
      good = false;
  }
  return good;
}

void gcn__close_waves(grid_worker* k) {
  for (uint32_t n = 0; k->waves && n < k->block.warp_count / k->waves->halves; ++n) free(k->waves[n].v);
  free(k->waves);
}

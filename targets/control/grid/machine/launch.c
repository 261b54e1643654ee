// One launch: blocks in their order on threads of the host, each block's warps one after the other until all wait.
#include "targets/control/grid/machine/block.h"

#include "core/base/workers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUANTUM = 1 << 9, RANDOM_QUANTUM = 200 };

int grid__stop(grid_block* b, const grid_warp* w, const grid_insn* i, int lane, int code, const char* format, ...) {
  grid_worker* k = b->worker;
  const grid_launch* launch = b->launch;
  char what[GRID_FAULT_BYTES / 2], place[512] = "", thread[96] = "";
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  const grid_module* m = launch->module;
  if (i && m->loc_count && i->loc < m->loc_count) {
    grid_loc at = m->locs[i->loc];
    const char* file = at.file < m->file_count && m->files[at.file] ? m->files[at.file] : "?";
    if (at.line) snprintf(place, sizeof place, " (%s:%u)", file, at.line);
  }
  if (w && lane >= 0) {
    uint32_t t = w->index * GRID_LANES + (uint32_t)lane, x = launch->threads[0], y = launch->threads[1];
    snprintf(thread, sizeof thread, ", thread %u,%u,%u", t % x, t / x % y, t / x / y);
  } else if (w) {
    snprintf(thread, sizeof thread, ", warp %u", w->index);
  }
  snprintf(k->fault, sizeof k->fault, "kernel %s, line %u%s, block %u,%u,%u%s: %s", launch->kernel->name,
           i ? i->line : 0, place, b->id[0], b->id[1], b->id[2], thread, what);
  return k->code = code;
}

static void put(uint8_t* row, int lane, uint32_t size, uint64_t value) {
  if (size)
    memcpy(row + (uint32_t)lane * size, &value, size);
  else
    memcpy(row, &(uint32_t){value ? UINT32_MAX : 0}, 4);
}

static uint64_t special(const grid_block* b, const grid_warp* w, int lane, const grid_fill* f) {
  const grid_launch* l = b->launch;
  uint32_t t = w->index * GRID_LANES + (uint32_t)lane;
  switch (f->special - 1) {
  case GRID_TID_X:
    return t % l->threads[0];
  case GRID_TID_Y:
    return t / l->threads[0] % l->threads[1];
  case GRID_TID_Z:
    return t / l->threads[0] / l->threads[1];
  case GRID_NTID_X:
  case GRID_NTID_Y:
  case GRID_NTID_Z:
    return l->threads[f->special - 1 - GRID_NTID_X];
  case GRID_CTAID_X:
  case GRID_CTAID_Y:
  case GRID_CTAID_Z:
    return b->id[f->special - 1 - GRID_CTAID_X];
  case GRID_NCTAID_X:
  case GRID_NCTAID_Y:
  case GRID_NCTAID_Z:
    return l->blocks[f->special - 1 - GRID_NCTAID_X];
  case GRID_LANEID:
    return (uint64_t)lane;
  case GRID_WARPID:
    return w->index;
  case GRID_NWARPID:
    return b->warp_count;
  case GRID_NSMID:
    return 1;
  case GRID_LANEMASK_EQ:
    return UINT64_C(1) << lane;
  case GRID_LANEMASK_LT:
    return (UINT64_C(1) << lane) - 1;
  case GRID_LANEMASK_LE:
    return (UINT64_C(2) << lane) - 1;
  case GRID_LANEMASK_GT:
    return UINT32_MAX & ~((UINT64_C(2) << lane) - 1);
  case GRID_LANEMASK_GE:
    return UINT32_MAX & ~((UINT64_C(1) << lane) - 1);
  case GRID_DYNAMIC_SHARED:
    return l->dynamic_bytes;
  case GRID_TOTAL_SHARED:
    return l->shared_bytes;
  case GRID_PARAM: {
    uint64_t value = 0;
    memcpy(&value, l->params + f->value, f->size);
    return value;
  }
  default:
    return 0;
  }
}

static bool by_block(const grid_fill* f) { return f->special - 1 >= GRID_CTAID_X && f->special - 1 <= GRID_CTAID_Z; }

static void fill_rows(grid_block* b, grid_warp* w, bool all) {
  const grid_kernel* kernel = b->launch->kernel;
  for (size_t n = 0; n < kernel->fill_count; ++n) {
    const grid_fill* f = &kernel->fills[n];
    if (!all && !by_block(f)) continue;
    for (int l = 0; l < GRID_LANES; ++l) {
      uint64_t value = f->special ? special(b, w, l, f) : f->value;
      put(w->file + f->offset, l, f->size, value);
      if (!f->size) break;
    }
  }
}

static void begin_block(grid_worker* k, uint64_t index, bool first) {
  grid_block* b = &k->block;
  const grid_launch* l = b->launch;
  b->index = (uint32_t)index;
  b->id[0] = (uint32_t)(index % l->blocks[0]);
  b->id[1] = (uint32_t)(index / l->blocks[0] % l->blocks[1]);
  b->id[2] = (uint32_t)(index / l->blocks[0] / l->blocks[1]);
  b->tag = l->device->epoch << 20 | (b->index & 0xfffff);
  ++b->run;
  b->clock = 1;
  b->heard_count = 0;
  memset(b->known, 0, sizeof b->known);
  memset(b->barriers, 0, sizeof b->barriers);
  if (b->shared.bytes) memset(b->shared.valid, GRID_BYTE_NEVER, b->shared.bytes);
  if (b->local_bytes) memset(b->local_valid, GRID_BYTE_NEVER, (size_t)b->local_bytes * b->warp_count * GRID_LANES);
  for (uint32_t n = 0; n < b->warp_count; ++n) {
    grid_warp* w = &b->warps[n];
    uint32_t threads = l->thread_count > n * GRID_LANES ? l->thread_count - n * GRID_LANES : 0;
    w->live = threads >= GRID_LANES ? UINT32_MAX : (UINT32_C(1) << threads) - 1;
    w->split_count = 1;
    w->splits[0] = (grid_split){0, w->live, 0};
    w->clock = 1;
    w->known = b->warp_count > (b->lockstep == 2 ? 2 : 1) ? 0 : UINT32_MAX;
    if (b->lockstep) b->known[n][n] = UINT32_MAX;
    if (b->lockstep == 2) b->known[n][n ^ 1] = UINT32_MAX;
    w->copy_count = w->asked_count = 0;
    w->fenced = false;
    w->turn = 0;
    memset(w->groups, 0, sizeof w->groups);
    fill_rows(b, w, first);
  }
}

static bool can_run(const grid_warp* w) {
  for (int s = 0; s < w->split_count; ++s)
    if (!w->splits[s].waits) return true;
  return false;
}

static int past_limit(grid_block* b) {
  grid_worker* k = b->worker;
  uint64_t more = k->counts.warp_instructions - k->counted;
  k->counted = k->counts.warp_instructions;
  if (__atomic_add_fetch(&b->launch->steps, more, __ATOMIC_RELAXED) <= b->launch->limit) return GRID_OK;
  return grid__stop(b, NULL, NULL, -1, GRID_LIMIT, "more than %llu instructions of warps: it is taken for endless",
                    (unsigned long long)b->launch->limit);
}

// One turn of each warp that can run.
static int turn(grid_block* b, bool* ran, bool* live) {
  grid_worker* k = b->worker;
  bool random = b->launch->device->schedule == GRID_RANDOM, late = b->launch->device->schedule == GRID_LATE;
  uint32_t from = random ? (uint32_t)(grid__random(&k->random) % b->warp_count) : 0;
  *ran = *live = false;
  for (uint32_t n = 0; n < b->warp_count; ++n) {
    grid_warp* w = &b->warps[late ? b->warp_count - 1 - n : (from + n) % b->warp_count];
    if (grid__done(w)) continue;
    *live = true;
    if (!can_run(w)) continue;
    *ran = true;
    if (random) grid__copy_some(b, w);
    int code = grid__run_warp(b, w, random ? 1 + grid__random(&k->random) % RANDOM_QUANTUM : QUANTUM);
    if (!code) code = past_limit(b);
    if (code) return code;
  }
  return GRID_OK;
}

static int run_block(grid_worker* k, uint64_t index, bool first) {
  grid_block* b = &k->block;
  k->random = b->launch->device->seed * 0x9e3779b97f4a7c15u + index;
  begin_block(k, index, first);
  if (b->launch->kernel->gcn) return gcn__run_block(b);
  for (;;) {
    bool ran, live;
    int code = turn(b, &ran, &live);
    if (code) return code;
    if (!live) return GRID_OK;
    if (!ran) return grid__stuck(b);
  }
}

static void close_worker(grid_worker* k) {
  gcn__close_waves(k);
  for (uint32_t n = 0; n < GRID_MAX_WARPS; ++n) {
    free(k->block.warps[n].file);
    free(k->block.warps[n].copies);
    free(k->block.warps[n].asked);
  }
  free(k->block.shared.data);
  free(k->block.shared.valid);
  free(k->block.shared.writers);
  free(k->block.shared.readers);
  free(k->block.heard);
  free(k->block.local);
  free(k->block.local_valid);
  free(k);
}

static grid_worker* open_worker(grid_launch* l) {
  grid_worker* k = calloc(1, sizeof *k);
  if (!k) return NULL;
  grid_block* b = &k->block;
  b->launch = l;
  b->worker = k;
  b->warp_count = (l->thread_count + GRID_LANES - 1) / GRID_LANES;
  b->lockstep = l->kernel->gcn ? gcn__halves(l->kernel) : 0;
  if (b->lockstep == 2) b->warp_count += b->warp_count & 1; // whole waves
  k->scan = grid__scan();
  size_t bytes = ((size_t)l->kernel->file_bytes + 63) / 64 * 64 + 64;
  bool good = true;
  for (uint32_t n = 0; n < b->warp_count; ++n) {
    b->warps[n].index = n;
    b->warps[n].file = aligned_alloc(64, bytes);
    if (!b->warps[n].file)
      good = false;
    else
      memset(b->warps[n].file, 0, bytes);
  }
  b->shared = (grid_memory){.address = GRID_SHARED, .bytes = l->shared_bytes, .name = "shared"};
  b->shared.data = calloc(1, l->shared_bytes + 64);
  b->shared.valid = calloc(1, l->shared_bytes + 64);
  good = good && b->shared.data && b->shared.valid && grid__shadow(&b->shared, l->kernel->shift);
  b->local_bytes = l->kernel->local_bytes;
  size_t local = (size_t)b->local_bytes * b->warp_count * GRID_LANES;
  b->local = calloc(1, local + 64);
  b->local_valid = calloc(1, local + 64);
  if (good && b->lockstep) good = gcn__open_waves(k);
  if (good && b->local && b->local_valid) return k;
  close_worker(k);
  return NULL;
}

typedef struct team {
  grid_launch* launch;
  grid_worker** workers;
} team;

static void work(void* user, int number) {
  team* t = user;
  grid_launch* l = t->launch;
  grid_worker* k = open_worker(l);
  t->workers[number] = k;
  if (!k) return;
  for (bool first = true;; first = false) {
    uint64_t index = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);
    if (index >= l->block_count || index >= __atomic_load_n(&l->stop_at, __ATOMIC_RELAXED)) return;
    int code = run_block(k, index, first);
    grid__clock_block(k, index);
    if (!code) continue;
    k->fault_block = index;
    uint64_t old = __atomic_load_n(&l->stop_at, __ATOMIC_RELAXED);
    while (index < old &&
           !__atomic_compare_exchange_n(&l->stop_at, &old, index, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      continue;
    return;
  }
}

static void add_counts(pb_device* d, const grid_worker* k) {
  uint64_t* to = (uint64_t*)&d->counts;
  const uint64_t* from = (const uint64_t*)&k->counts;
  for (size_t n = 0; n < GRID_COUNTER_COUNT; ++n) to[n] += from[n];
  d->counts.fma += k->classes[GRID_CLASS_FMA];
  d->counts.float_other += k->classes[GRID_CLASS_FLOAT];
  d->counts.integer += k->classes[GRID_CLASS_INTEGER];
  d->counts.move += k->classes[GRID_CLASS_MOVE];
  d->counts.control += k->classes[GRID_CLASS_CONTROL];
  d->counts.memory += k->classes[GRID_CLASS_MEMORY];
  d->counts.matrix += k->classes[GRID_CLASS_MATRIX];
  d->counts.barrier += k->classes[GRID_CLASS_BARRIER];
}

static const grid_kernel* find_kernel(pb_device* d, const pb_device_launch* launch, const grid_module** module) {
  if (launch->module >= d->module_count) {
    grid__fault(d, GRID_BAD_LAUNCH, "no module %llu has been loaded", (unsigned long long)launch->module);
    return NULL;
  }
  const grid_module* m = d->modules[launch->module];
  *module = m;
  for (size_t n = 0; n < m->kernel_count; ++n)
    if (!strcmp(m->kernels[n]->name, launch->kernel)) return m->kernels[n];
  grid__fault(d, GRID_BAD_LAUNCH, "the module has no entry '%s'", launch->kernel);
  return NULL;
}

static int check(pb_device* d, const pb_device_launch* launch, const grid_kernel* k, grid_launch* l) {
  uint64_t threads = 1;
  l->block_count = 1;
  for (int n = 0; n < 3; ++n) {
    l->blocks[n] = launch->blocks[n];
    l->threads[n] = launch->threads[n];
    threads *= launch->threads[n] < 2048 ? launch->threads[n] : 2048;
    uint32_t most = n ? 65535 : INT32_MAX;
    if (!launch->blocks[n] || launch->blocks[n] > most)
      return grid__fault(d, GRID_BAD_LAUNCH, "kernel %s: %u blocks in dimension %d; from 1 to %u it may be", k->name,
                         launch->blocks[n], n, most);
    l->block_count *= launch->blocks[n];
    if (k->threads[0] && launch->threads[n] != k->threads[n])
      return grid__fault(d, GRID_BAD_LAUNCH, "kernel %s: %u threads in dimension %d, it requires %u", k->name,
                         launch->threads[n], n, k->threads[n]);
  }
  uint32_t most = k->most_threads ? k->most_threads : GRID_MAX_THREADS;
  if (!threads || threads > most)
    return grid__fault(d, GRID_BAD_LAUNCH, "kernel %s: %llu threads in a block; from 1 to %u it may be", k->name,
                       (unsigned long long)threads, most);
  if (launch->arg_count != k->param_count)
    return grid__fault(d, GRID_BAD_LAUNCH, "kernel %s: %u arguments, it has parameters for %u", k->name,
                       launch->arg_count, k->param_count);
  if ((uint64_t)k->shared_bytes + launch->shared_bytes > GRID_MAX_SHARED)
    return grid__fault(d, GRID_BAD_LAUNCH, "kernel %s: %llu bytes of shared memory, a block has %d at most", k->name,
                       (unsigned long long)k->shared_bytes + launch->shared_bytes, GRID_MAX_SHARED);
  l->thread_count = (uint32_t)threads;
  l->dynamic_bytes = launch->shared_bytes;
  l->shared_bytes = k->shared_bytes + launch->shared_bytes;
  return GRID_OK;
}

// Each argument's low bytes go where the entry's parameter lies.
static int lay_params(pb_device* d, const pb_device_launch* launch, const grid_kernel* k, grid_launch* l) {
  if (launch->arg_count > PB_DEVICE_MAX_LAUNCH_ARGS || k->param_bytes > sizeof l->params)
    return grid__fault(d, GRID_BAD_LAUNCH, "kernel %s: %u arguments of %d", k->name, launch->arg_count,
                       PB_DEVICE_MAX_LAUNCH_ARGS);
  uint32_t arg = 0;
  for (const grid_param* p = k->params; p; p = p->next)
    for (uint32_t at = 0; at < p->bytes; at += 8) {
      uint32_t part = p->bytes - at < 8 ? p->bytes - at : 8;
      memcpy(l->params + p->offset + at, &launch->args[arg++], part);
    }
  return GRID_OK;
}

static int ready_memory(pb_device* d, const grid_kernel* k) {
  if (++d->epoch == 1 << 12) { // old records could be taken for new ones
    d->epoch = 1;
    for (size_t n = 0; n < d->memory_count; ++n) {
      free(d->memories[n]->writers);
      free(d->memories[n]->readers);
      d->memories[n]->writers = d->memories[n]->readers = NULL;
    }
  }
  for (size_t n = 0; n < d->memory_count && d->check; ++n)
    if (!grid__shadow(d->memories[n], k->shift))
      return grid__fault(d, GRID_OUT_OF_MEMORY, "no memory for the records of races");
  return GRID_OK;
}

int grid__launch(pb_device* d, const pb_device_launch* launch) {
  grid_launch l = {.device = d, .stop_at = UINT64_MAX};
  const grid_kernel* k = find_kernel(d, launch, &l.module);
  if (!k) return GRID_BAD_LAUNCH;
  l.kernel = k;
  l.limit = launch->step_limit ? launch->step_limit : d->limit;
  int code = check(d, launch, k, &l);
  if (!code) code = k->gcn ? gcn__lay_arguments(&l, launch) : lay_params(d, launch, k, &l);
  if (!code) code = ready_memory(d, k);
  if (!code && !(l.places = grid__places_open())) code = grid__fault(d, GRID_OUT_OF_MEMORY, "no memory for a launch");
  if (code) return code;
  int most = d->threads ? d->threads : 64;
  int count = l.block_count < (uint64_t)most ? (int)l.block_count : most;
  team t = {&l, calloc((size_t)count, sizeof *t.workers)};
  l.busy = grid__clock_open(l.module->rates);
  if (!t.workers || !l.busy) {
    grid__places_close(l.places);
    free(t.workers);
    free(l.busy);
    return grid__fault(d, GRID_OUT_OF_MEMORY, "no memory for threads");
  }
  grid_counts before = d->counts;
  pb_work_on(count, d->threads, work, &t);
  grid_worker* worst = NULL;
  bool missing = false;
  for (int n = 0; n < count; ++n) {
    grid_worker* w = t.workers[n];
    missing |= !w;
    if (!w) continue;
    add_counts(d, w);
    if (w->code && (!worst || w->fault_block < worst->fault_block)) worst = w;
  }
  if (worst) {
    snprintf(d->fault, sizeof d->fault, "%s", worst->fault);
    code = d->fault_code = worst->code;
  } else if (missing && __atomic_load_n(&l.next, __ATOMIC_RELAXED) < l.block_count) {
    code = grid__fault(d, GRID_OUT_OF_MEMORY, "no memory for a block of kernel %s", k->name);
  }
  for (int n = 0; n < count; ++n)
    if (t.workers[n]) close_worker(t.workers[n]);
  free(t.workers);
  grid__places_close(l.places);
  grid__clock_close(&l, &before);
  ++d->launches;
  return code;
}

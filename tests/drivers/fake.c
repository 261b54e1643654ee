// A library of the names that a GPU's driver has, which runs what it is given on the machine of a grid. It shows that
// calls come in order, that each thing is open while it is used and closed once, and that errors are said; that a GPU
// would do the same it does not show. What a stream is given is done as late as may be: when somebody waits for it.
// FAKE_CUDA: of NVIDIA's names, else of AMD's. PB_FAKE_FAILS=NAME: that function fails.
#include "targets/control/grid/machine/machine.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FAKE_CUDA
#define NAME(cuda, hip) cuda
static const char target[] = "nvgpu";
#else
#define NAME(cuda, hip) hip
static const char target[] = "amdgpu";
#endif
enum {
  INVALID = 1,
  NO_MEMORY = 2,
  UNINITIALISED = 3,
  NO_BINARY = 209,
  FAULT = 700,
  NO_POOLS = 801,
  CAPTURED = 900,
  MOST_ARGS = PB_DEVICE_MAX_LAUNCH_ARGS,
  MOST_BLOCKS = 4096
};

static const pb_device_ops* ops;
static pb_device* device;
static pb_chip* chip;
static bool started, retained, current;
static int modules, streams, events, graphs, ranges, most_ranges;
static struct block {
  uint64_t address;
  size_t bytes;
} blocks[MOST_BLOCKS];
static int block_count;
static int host_blocks;

typedef struct entry {
  uint64_t module;
  char name[128];
} entry;
static entry entries[256];
static int entry_count;

// ---- what streams are given ----

typedef struct event event;
typedef struct stream stream;
typedef struct work {
  enum { IN, OUT, COPY, LAUNCH, RECORD, WAIT } what;
  uint64_t to, from;
  size_t bytes;
  void* here; // IN: its copy, where the memory is none of the driver's
  bool owns;
  const entry* entry;
  pb_device_launch launch;
  event* event;
  uint64_t turn; // of the event
  stream* in;    // which was to record it then
} work;

typedef struct list {
  work* items;
  size_t count, capacity;
} list;

struct stream {
  list todo;
  size_t done;
  struct graph* captured;
};
struct event {
  stream* in;
  uint64_t recorded; // how often, and how often that came
  uint64_t reached;
  uint64_t clock;
};
typedef struct graph {
  list all;
  bool broken;
} graph;

static stream default_stream;
static uint64_t clock_now;

static void add(list* l, const work* w) {
  if (l->count == l->capacity) {
    l->capacity = l->capacity ? 2 * l->capacity : 16;
    l->items = realloc(l->items, l->capacity * sizeof *l->items);
    if (!l->items) abort();
  }
  l->items[l->count++] = *w;
}

static void forget(list* l) {
  for (size_t k = 0; k < l->count; ++k)
    if (l->items[k].owns) free(l->items[k].here);
  free(l->items);
  *l = (list){0};
}

static int flush_to(stream* s, size_t end);

static int run_launch(work* w) {
  w->launch.kernel = w->entry->name;
  w->launch.module = w->entry->module;
  if (!ops->launch(device, &w->launch)) return 0;
  fprintf(stderr, "fake driver: %s\n", ops->last_fault(device));
  return FAULT;
}

static int run_wait(const work* w) {
  event* e = w->event;
  while (e->reached < w->turn)
    if (w->in->done == w->in->todo.count || flush_to(w->in, w->in->done + 1)) return FAULT;
  return 0;
}

static int run(work* w) {
  ++clock_now;
  switch (w->what) {
  case IN:
    return ops->copy_in(device, w->to, w->here, w->bytes) ? FAULT : 0;
  case OUT:
    return ops->copy_out(device, w->from, w->here, w->bytes) ? FAULT : 0;
  case COPY:
    return ops->copy(device, w->to, w->from, w->bytes) ? FAULT : 0;
  case LAUNCH:
    return run_launch(w);
  case RECORD:
    if (w->turn > w->event->reached) w->event->reached = w->turn;
    w->event->clock = clock_now;
    return 0;
  default:
    return run_wait(w);
  }
}

static int flush_to(stream* s, size_t end) {
  int code = 0;
  while (s->done < end) {
    work w = s->todo.items[s->done++]; // what it waits for may be behind in this list's memory
    int one = run(&w);
    if (!code) code = one;
  }
  return code;
}

static int flush(stream* s) { return flush_to(s, s->todo.count); }

static stream* of(void* handle) { return handle ? handle : &default_stream; }

static int give(void* handle, const work* w) {
  stream* s = of(handle);
  add(s->captured ? &s->captured->all : &s->todo, w);
  return 0;
}

static int fails(const char* name) {
  const char* which = getenv("PB_FAKE_FAILS");
  return which && !strcmp(which, name) ? 999 : 0;
}
#define BEGIN(name)                                                                                                    \
  do {                                                                                                                 \
    int code = fails(name);                                                                                            \
    if (code) return code;                                                                                             \
  } while (0)

// ---- devices ----

int NAME(cuInit, hipInit)(unsigned flags) {
  BEGIN("init");
  started = true;
  return flags ? INVALID : 0;
}

int NAME(cuDriverGetVersion, hipDriverGetVersion)(int* version) {
  *version = 12000;
  return 0;
}

int NAME(cuDeviceGet, hipDeviceGet)(int* found, int number) {
  if (!started) return UNINITIALISED;
  *found = number;
  return number ? 101 : 0; // there is one
}

int NAME(cuDeviceGetName, hipDeviceGetName)(char* name, int length, int number) {
  snprintf(name, (size_t)length, "fake device");
  return number ? INVALID : 0;
}

// Of compute capability 9.0.
int NAME(cuDeviceGetAttribute, hipDeviceGetAttribute)(int* value, int which, int number) {
  const char* capability = getenv("PB_FAKE_CAPABILITY");
  int is = capability ? atoi(capability) : 80;
  *value = which == 75 ? is / 10 : is % 10;
  return number || (which != 75 && which != 76) ? INVALID : 0;
}

int NAME(cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain)(void** context, int number) {
  if (number || !started || retained) return INVALID;
  if (pb_chip_find(target, NULL, NULL, &chip) != PB_OK || !(ops = pb_grid_machine_ops(chip))) return FAULT;
  retained = true;
  *context = &device;
  return ops->open(NULL, &device) ? FAULT : 0;
}

int NAME(cuCtxSetCurrent, hipCtxSetCurrent)(void* context) {
  current = context == &device;
  return current ? 0 : INVALID;
}

static int left_in(const char* what, int count) {
  if (count) fprintf(stderr, "fake driver: %d %s are left\n", count, what);
  return count;
}

int NAME(cuDevicePrimaryCtxRelease_v2, hipDevicePrimaryCtxRelease)(int number) {
  int left = left_in("modules", modules) + left_in("blocks", block_count) + left_in("streams", streams) +
             left_in("events", events) + left_in("graphs", graphs) + left_in("blocks of the host", host_blocks) +
             left_in("ranges", ranges);
  if (number || !retained || left) abort();
  (void)flush(&default_stream);
  forget(&default_stream.todo);
  default_stream.done = 0;
  ops->close(device);
  pb_chip_free(chip);
  retained = false;
  entry_count = 0;
  return 0;
}

int NAME(cuGetErrorName, hipDrvGetErrorName)(int code, const char** text) {
  *text = code == NO_MEMORY ? "OUT_OF_MEMORY" : NULL;
  return *text ? 0 : INVALID;
}

int NAME(cuGetErrorString, hipDrvGetErrorString)(int code, const char** text) {
  *text = code == NO_MEMORY ? "out of memory" : NULL;
  return *text ? 0 : INVALID;
}

// ---- memory ----

int NAME(cuMemGetInfo_v2, hipMemGetInfo)(size_t* left, size_t* all) {
  *left = 1000;
  *all = 4096000;
  return 0;
}

static int allocate(uint64_t* address, size_t bytes) {
  BEGIN("allocate");
  if (!fails("memory") && !current) return INVALID;
  if (fails("memory") || block_count == MOST_BLOCKS) return NO_MEMORY;
  if (!bytes || ops->alloc(device, bytes, 256, address)) return INVALID;
  blocks[block_count++] = (struct block){*address, bytes};
  return 0;
}

static int release(uint64_t address) {
  for (int k = 0; k < block_count; ++k) {
    if (blocks[k].address != address) continue;
    blocks[k] = blocks[--block_count];
    return retained && !ops->free(device, address) ? 0 : INVALID;
  }
  fprintf(stderr, "fake driver: nothing to free\n");
  abort();
}

int NAME(cuMemAlloc_v2, hipMalloc)(uint64_t* address, size_t bytes) { return allocate(address, bytes); }

// While work is left that may use it.
static bool is_busy(const stream* s) { return s->done < s->todo.count; }

int NAME(cuMemFree_v2, hipFree)(uint64_t address) { return release(address); }

int NAME(cuMemAllocAsync, hipMallocAsync)(uint64_t* address, size_t bytes, void* handle) {
  (void)handle;
  BEGIN("allocate");
  return getenv("PB_FAKE_NO_POOLS") ? NO_POOLS : allocate(address, bytes);
}

int NAME(cuMemFreeAsync, hipFreeAsync)(uint64_t address, void* handle) {
  if (getenv("PB_FAKE_NO_POOLS")) return NO_POOLS;
  return flush(of(handle)) ? FAULT : release(address);
}

// Memory that stays where it is, and may be read when a copy comes.
enum { MOST_HOST = 64 };
static struct {
  char* at;
  size_t bytes;
} pinned[MOST_HOST];

int NAME(cuMemHostAlloc, hipHostMalloc)(void** data, size_t bytes, unsigned flags) {
  if (flags || host_blocks == MOST_HOST) return INVALID;
  *data = malloc(bytes);
  pinned[host_blocks].at = *data;
  pinned[host_blocks++].bytes = bytes;
  return *data ? 0 : NO_MEMORY;
}

int NAME(cuMemFreeHost, hipHostFree)(void* data) {
  for (int k = 0; k < host_blocks; ++k) {
    if (pinned[k].at != data) continue;
    pinned[k] = pinned[--host_blocks];
    free(data);
    return 0;
  }
  return INVALID;
}

static bool is_pinned(const void* from) {
  for (int k = 0; k < host_blocks; ++k)
    if ((const char*)from >= pinned[k].at && (const char*)from < pinned[k].at + pinned[k].bytes) return true;
  return false;
}

int NAME(cuPointerGetAttribute, hipPointerGetAttribute)(void* value, int which, uint64_t address) {
  for (int k = 0; k < block_count; ++k) {
    if (address < blocks[k].address || address - blocks[k].address >= blocks[k].bytes) continue;
    uint64_t is = which == 11 ? blocks[k].address : blocks[k].bytes;
    memcpy(value, &is, sizeof is);
    return which == 11 || which == 12 ? 0 : INVALID;
  }
  return INVALID;
}

int NAME(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync)(uint64_t to, const void* from, size_t bytes, void* handle) {
  BEGIN("copy_in");
  if (!current) return INVALID;
  work w = {.what = IN, .to = to, .bytes = bytes, .here = (void*)(uintptr_t)from};
  if (!of(handle)->captured && !is_pinned(from)) {
    w.owns = true;
    w.here = malloc(bytes + 1);
    memcpy(w.here, from, bytes);
  }
  return give(handle, &w);
}

int NAME(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync)(void* to, uint64_t from, size_t bytes, void* handle) {
  BEGIN("copy_out");
  return !current ? INVALID : give(handle, &(work){.what = OUT, .from = from, .bytes = bytes, .here = to});
}

int NAME(cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync)(uint64_t to, uint64_t from, size_t bytes, void* handle) {
  BEGIN("copy");
  return !current ? INVALID : give(handle, &(work){.what = COPY, .to = to, .from = from, .bytes = bytes});
}

// ---- code ----

// PTX is text to its end, a code object as long as its table of sections says; a cubin is for another GPU than this.
int NAME(cuModuleLoadData, hipModuleLoadData)(void** module, const void* image) {
  uint64_t made, table;
  uint16_t rows[3];
  BEGIN("load");
  bool elf = !memcmp(image, "\177ELF", 4);
  if (!current) return INVALID;
  memcpy(&table, (const char*)image + 40, 8);
  memcpy(rows, (const char*)image + 58, 6);
  if (elf && !strcmp(target, "nvgpu")) return NO_BINARY;
  uint64_t bytes = elf ? table + (uint64_t)rows[0] * rows[1] : strlen(image) + 1;
  if (ops->load(device, elf ? PB_DEVICE_HSACO : PB_DEVICE_PTX, image, bytes, &made)) return FAULT;
  ++modules;
  *module = (void*)(uintptr_t)made;
  return 0;
}

int NAME(cuModuleUnload, hipModuleUnload)(void* module) {
  (void)module;
  --modules;
  return retained ? 0 : INVALID;
}

int NAME(cuModuleGetFunction, hipModuleGetFunction)(void** function, void* module, const char* name) {
  BEGIN("find");
  int k = 0;
  while (k < entry_count && (entries[k].module != (uintptr_t)module || strcmp(entries[k].name, name) != 0)) ++k;
  if (k == (int)(sizeof entries / sizeof *entries) || k < entry_count) return FAULT; // each is asked for once
  ++entry_count;
  entries[k].module = (uint64_t)(uintptr_t)module;
  snprintf(entries[k].name, sizeof entries[k].name, "%s", name);
  *function = &entries[k];
  return 0;
}

// How many parameters there are a driver knows from the code; here a NULL ends them.
int NAME(cuLaunchKernel, hipModuleLaunchKernel)(void* function, unsigned bx, unsigned by, unsigned bz, unsigned tx,
                                                unsigned ty, unsigned tz, unsigned shared, void* handle,
                                                void** parameters, void** extra) {
  work w = {.what = LAUNCH, .entry = function};
  BEGIN("launch");
  if (!current || extra) return INVALID;
  w.launch = (pb_device_launch){.blocks = {bx, by, bz}, .threads = {tx, ty, tz}, .shared_bytes = shared};
  for (; w.launch.arg_count < MOST_ARGS && parameters[w.launch.arg_count]; ++w.launch.arg_count)
    memcpy(&w.launch.args[w.launch.arg_count], parameters[w.launch.arg_count], 8);
  return give(handle, &w);
}

// ---- streams and events ----

int NAME(cuStreamCreate, hipStreamCreateWithFlags)(void** made, unsigned flags) {
  ++streams;
  *made = calloc(1, sizeof(stream));
  return flags != 1 ? INVALID : 0;
}

int NAME(cuStreamDestroy_v2, hipStreamDestroy)(void* handle) {
  stream* s = handle;
  int code = flush(s);
  --streams;
  forget(&s->todo);
  free(s);
  return code;
}

int NAME(cuStreamSynchronize, hipStreamSynchronize)(void* handle) {
  BEGIN("wait");
  if (of(handle)->captured) return of(handle)->captured->broken = true, CAPTURED;
  return !current ? INVALID : flush(of(handle));
}

int NAME(cuEventCreate, hipEventCreateWithFlags)(void** made, unsigned flags) {
  ++events;
  *made = calloc(1, sizeof(event));
  return flags ? INVALID : 0;
}

int NAME(cuEventDestroy_v2, hipEventDestroy)(void* handle) {
  event* e = handle;
  --events;
  if (e->in && e->reached < e->recorded && is_busy(e->in)) (void)flush(e->in);
  free(e);
  return 0;
}

int NAME(cuEventRecord, hipEventRecord)(void* handle, void* in) {
  event* e = handle;
  if (of(in)->captured) return CAPTURED;
  e->in = of(in);
  return give(in, &(work){.what = RECORD, .event = e, .turn = ++e->recorded});
}

int NAME(cuStreamWaitEvent, hipStreamWaitEvent)(void* in, void* handle, unsigned flags) {
  event* e = handle;
  if (flags || !e->recorded) return INVALID;
  return of(in)->captured ? CAPTURED : give(in, &(work){.what = WAIT, .event = e, .turn = e->recorded, .in = e->in});
}

int NAME(cuEventSynchronize, hipEventSynchronize)(void* handle) {
  event* e = handle;
  BEGIN("wait");
  return run_wait(&(work){.event = e, .turn = e->recorded, .in = e->in});
}

int NAME(cuEventElapsedTime, hipEventElapsedTime)(float* milliseconds, void* first, void* last) {
  const event *a = first, *b = last;
  if (a->reached < a->recorded || b->reached < b->recorded) return INVALID;
  *milliseconds = (float)(b->clock - a->clock);
  return 0;
}

// ---- graphs ----

int NAME(cuStreamIsCapturing, hipStreamIsCapturing)(void* handle, int* is) {
  *is = of(handle)->captured != NULL;
  return 0;
}

int NAME(cuStreamBeginCapture_v2, hipStreamBeginCapture)(void* handle, int mode) {
  BEGIN("capture");
  if (mode != 2 || of(handle)->captured) return INVALID;
  ++graphs;
  of(handle)->captured = calloc(1, sizeof(graph));
  return 0;
}

int NAME(cuStreamEndCapture, hipStreamEndCapture)(void* handle, void** made) {
  graph* g = of(handle)->captured;
  if (!g) return INVALID;
  of(handle)->captured = NULL;
  *made = g;
  return g->broken ? CAPTURED : 0;
}

int NAME(cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags)(void** made, void* handle,
                                                                    unsigned long long flags) {
  const graph* g = handle;
  graph* copy = calloc(1, sizeof *copy);
  ++graphs;
  for (size_t k = 0; k < g->all.count; ++k) add(&copy->all, &g->all.items[k]);
  *made = copy;
  return flags ? INVALID : 0;
}

int NAME(cuGraphLaunch, hipGraphLaunch)(void* made, void* handle) {
  const graph* g = made;
  BEGIN("graph");
  for (size_t k = 0; k < g->all.count; ++k) (void)give(handle, &g->all.items[k]);
  return 0;
}

static int close_graph(graph* g) {
  --graphs;
  forget(&g->all);
  free(g);
  return 0;
}

int NAME(cuGraphExecDestroy, hipGraphExecDestroy)(void* made) { return close_graph(made); }
int NAME(cuGraphDestroy, hipGraphDestroy)(void* made) { return close_graph(made); }

// ---- ranges, of another library's ----

int NAME(nvtxRangePushA, roctxRangePushA)(const char* text) {
  if (!text || !*text) abort();
  if (++ranges > most_ranges) most_ranges = ranges;
  return ranges;
}
int NAME(nvtxRangePop, roctxRangePop)(void) { return --ranges; }
int fake_most_ranges(void);
int fake_most_ranges(void) { return most_ranges; }

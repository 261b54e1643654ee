// A block and its warps while they run.
#ifndef PB_GRID_MACHINE_BLOCK_H
#define PB_GRID_MACHINE_BLOCK_H

#include "targets/control/grid/machine/code.h"
#include "targets/control/grid/machine/lanes/scan.h"

// Lanes of a warp that stand at one instruction. The one with the least `pc` runs first, so that those that took the
// longer way catch up with those that wait behind it; equal ones become one.
typedef struct grid_split {
  uint32_t pc, mask;
  uint8_t waits; // 0: it can run; GRID_WAITS_SYNC: for lanes of its warp; else for barrier `waits` - 1
} grid_split;
enum { GRID_WAITS_SYNC = 255 };

// A copy that has been asked for and has not landed: of one lane.
typedef struct grid_copy {
  uint64_t to, from; // generic addresses
  uint32_t bytes, read, group;
  uint8_t lane;
  bool landed;
  const grid_insn* insn;
} grid_copy;

// What a block has released, by warp, and which warp of this block heard of it when.
typedef struct grid_heard {
  uint32_t tag, by, at;
  uint32_t clocks[GRID_MAX_WARPS];
} grid_heard;

typedef struct grid_warp {
  uint8_t* file;
  uint32_t index, live;
  int split_count;
  grid_split splits[GRID_LANES];
  uint32_t clock; // of the block, when this warp last released
  uint32_t known; // what it knows at least of all others' releases
  grid_copy* copies;
  size_t copy_count, copy_capacity;
  uint32_t groups[GRID_LANES]; // committed
  bool fenced;                 // `fence` is what a release hands on
  grid_heard fence;
  grid_heard* asked; // what strong reads found, until a fence makes it known
  size_t asked_count, asked_capacity;
  uint64_t turn; // instructions since lanes further down had one
} grid_warp;

typedef struct grid_barrier {
  uint32_t expected, arrived; // threads
  uint32_t warps;             // that have arrived
  uint32_t gone;              // of these, that did not wait, and their clocks
  uint32_t gone_at[GRID_MAX_WARPS];
  bool counted;          // the instruction says how many threads
  uint32_t sums[3];      // popc, and, or of bar.red
  const grid_insn* insn; // who came first
} grid_barrier;

typedef struct grid_launch grid_launch;

typedef struct grid_block {
  grid_launch* launch;
  struct grid_worker* worker;
  uint32_t index, id[3];
  uint32_t tag; // of records in device memory: launch and block
  uint32_t run; // of records in shared memory
  uint32_t warp_count, clock;
  uint32_t lockstep; // so many warps are a wave, all of which runs in order; 0: each lane of a warp by itself
  grid_warp warps[GRID_MAX_WARPS];
  uint32_t known[GRID_MAX_WARPS][GRID_MAX_WARPS]; // of what releases (by column) a warp (row) has heard
  grid_barrier barriers[GRID_BARRIERS];
  grid_heard* heard; // of other blocks
  size_t heard_count, heard_capacity;
  grid_memory shared; // of it
  uint8_t *local, *local_valid;
  uint32_t local_bytes; // of a thread
} grid_block;

enum { GRID_UNITS = 5, GRID_NEAR_LINES = 256 };

// A line of a processor's first cache, that one block has to itself.
typedef struct grid_near {
  uint64_t line, run; // of which block
  uint32_t sectors;
} grid_near;

struct grid_launch {
  pb_device* device;
  const grid_kernel* kernel;
  const grid_module* module;
  uint32_t blocks[3], threads[3], thread_count, shared_bytes, dynamic_bytes;
  uint64_t block_count, limit;
  uint8_t params[8 * PB_DEVICE_MAX_LAUNCH_ARGS];
  struct grid_places* places; // where atomics hand on
  uint64_t next;              // block that nobody has taken
  uint64_t stop_at;           // blocks from here on need not run: one before has a fault
  uint64_t steps;             // of all workers
  uint64_t* busy;             // by processor and unit
};

typedef struct grid_worker {
  grid_block block;
  const grid_scan* scan;
  struct gcn_wave* waves; // of AMD's code
  grid_counts counts;
  uint64_t counted; // of counts.warp_instructions, what launch->steps has
  uint64_t classes[GRID_CLASSES];
  uint64_t clocked[GRID_UNITS]; // what launch->busy has
  uint64_t random;
  grid_memory* recent[4];          // device memory that was found last
  grid_near near[GRID_NEAR_LINES]; // of the block that runs
  int code;
  uint64_t fault_block;
  char fault[GRID_FAULT_BYTES];
} grid_worker;

// Says what is wrong with `lane` (-1: the warp) at the instruction; returns `code`.
int grid__stop(grid_block* b, const grid_warp* w, const grid_insn* i, int lane, int code, const char* format, ...)
    __attribute__((format(printf, 6, 7)));

// run.c: at most `steps` instructions; what it cannot go on with shows in its splits.
int grid__run_warp(grid_block* b, grid_warp* w, uint64_t steps);
uint32_t grid__members(const grid_insn* i); // the row of masks that say who takes part; GRID_NONE: all
static inline bool grid__done(const grid_warp* w) { return !w->live; }

// barrier.c
int grid__barrier(grid_block* b, grid_warp* w, grid_split* s, const grid_insn* i, uint32_t mask); // blocks the split
void grid__order_all(grid_block* b,
                     uint32_t released);         // of waves: a barrier of all; `released` have waited for their stores
int grid__stuck(grid_block* b);                  // no warp can run: why
void grid__release(grid_block* b, grid_warp* w); // what w did so far comes before what it does from here on
int grid__left(grid_block* b);                   // lanes have left: do barriers wait for nobody now?

// A request of a warp to memory, lanes of `mask`.
typedef enum grid_effect { GRID_READ, GRID_WRITE, GRID_ATOMIC } grid_effect;
typedef struct grid_request {
  grid_block* block;
  grid_warp* warp;
  const grid_insn* insn;
  uint32_t mask, bytes; // of a lane
  uint32_t align;       // of its address; 0: its bytes, 16 at most
  grid_effect effect;
  bool strong;                  // an atomic operation, or a strong load or store
  const uint32_t* stores[4];    // of a wave's store: by dword, a row of what is stored; NULL: it is not known
  bool repeats;                 // that is a warp's: its lanes may store the same at one place, others may not
  bool constant;                // stores are faults of the code
  bool pending;                 // the write is asynchronous: the bytes become pending
  uint64_t address[GRID_LANES]; // generic
  uint8_t* host[GRID_LANES];
  bool uniform, dense; // all lanes at one place; lane by lane one behind the other
} grid_request;
// Bounds, alignment, what is uninitialised, races, counters; then `host` stands.
int grid__access(grid_request* q);
// race.c: records that lanes of `mask` touched `m`; a fault where no order is.
int grid__race(const grid_request* q, const grid_memory* m, uint32_t mask, bool shared);
// What an asynchronous copy wrote is its thread's own, from its wait on.
void grid__wrote(grid_block* b, const grid_warp* w, int lane, uint64_t address, uint32_t bytes);
// sync.c
struct grid_places* grid__places_open(void);
void grid__places_close(struct grid_places* places);
void grid__fence(grid_block* b, grid_warp* w);
// Behind a strong access that is done.
void grid__sync(const grid_request* q, bool reads, bool writes, bool acquires, bool releases);
// Whether what a warp of block `tag` did at `clock` has been handed on to w.
bool grid__synced(const grid_block* b, const grid_warp* w, uint32_t tag, uint32_t warp, uint32_t clock);
void grid__know_least(grid_block* b, grid_warp* w); // barrier.c
// clock.c
uint64_t* grid__clock_open(const grid_rates* rates); // NULL: no memory
void grid__clock_block(grid_worker* k, uint64_t index);
void grid__clock_close(grid_launch* launch, const grid_counts* before);
// count.c
void grid__count(const grid_request* q, uint32_t mask, bool shared);

// memory_ops.c
int grid__load(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask);
int grid__store(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask);
int grid__atomic(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask);
void grid__addresses(grid_request* q, uint32_t row, bool narrow, int64_t offset, grid_space space);
// matrix.c
int grid__matrix(grid_block* b, grid_warp* w, const grid_insn* i);
int grid__fragment(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask);
// async.c
int grid__copy(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask);
int grid__copy_wait(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask);
void grid__copy_commit(grid_warp* w, uint32_t mask);
int grid__copy_some(grid_block* b, grid_warp* w); // random: some land
// exchange.c
int grid__exchange(grid_block* b, grid_warp* w, const grid_insn* i, uint32_t mask);

// gcn/: a block of waves
int gcn__run_block(grid_block* b);
uint32_t gcn__halves(const grid_kernel* k); // of a wave, 32 lanes each
bool gcn__open_waves(grid_worker* k);
void gcn__close_waves(grid_worker* k);
int gcn__lay_arguments(const grid_launch* l, const pb_device_launch* launch);
// launch.c
int grid__launch(pb_device* device, const pb_device_launch* launch);

#endif

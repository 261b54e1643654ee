// Inside the runtime: one loaded engine and what executes it.
#ifndef PB_RUNTIME_RT_H
#define PB_RUNTIME_RT_H

#include "core/artefact/engine.h"
#include "core/runtime/core_machine.h"
#include "core/runtime/team.h"
#include "pb/device.h"
#include "pb/pb.h"
#include "tdl/chip.h"

#include <stdatomic.h>

// Memory of a device that is there for tensors of several sizes.
typedef struct pb__room {
  uint64_t address, bytes;
} pb__room;

// Words on a chip, or launches of a grid.
typedef struct pb__words {
  const pb_device_ops* ops;
  pb_device* device;
  void* library; // dlopen's, or NULL
  uint64_t consts, arena;
  // By memory of constants: the address that offset 0 of all constants would have there.
  uint64_t apart[PB_ENGINE_MAX_APART];
  uint64_t *inputs, *outputs; // device addresses
  uint64_t** streams;         // by kernel and queue
  uint64_t* modules;          // of a grid, loaded
  uint64_t memory;            // that launches have to themselves while they run
  pb__room* rooms;            // of a program with open dims: inputs, outputs, arenas by stage, blocks of sizes
  int cycles;                 // index of the counter, -1: none
  int* busy;                  // by queue
  uint64_t* before;           // of these, when a step began
  int dram[3];                // read, write, fetch
  int constants_read;
  int step; // that runs now, for traces
  // Of a grid on a device that works behind the call: steps that were launched since their times were last asked for.
  bool behind, timed;
  int pending_count, *pending;
  uint64_t workspace; // the caller's; 0: this one's own
  bool has_graph;     // between this process' memory that copies quickly, in `host`
  void** host;        // by input, then by output
} pb__words;
enum { PB_RT_MOST_PENDING = 256 };

// Machine code in this process.
typedef struct pb__native {
  int file;
  void* library;
  pb__native_entry* entries; // by kernel
  uint8_t* arena;
  int processors;
  bool shares; // a kernel is more than one thread's
  pb__team team;
  pb__core_machine* cores; // with movers beside them; NULL: it is code of a processor at hand
} pb__native;

typedef struct pb__memory {
  uint8_t* data;
  uint64_t bytes;
} pb__memory;

// What open dims are in the runs to come.
typedef struct pb__open {
  bool ready; // shapes were chosen
  pb_open_stages stages;
  int64_t symbols[PB_MOST_SYMBOLS];
  int64_t* sizes;
  uint8_t** blocks;
  uint8_t** buffers; // where they lie, in the arena of their stage
  pb__memory* arenas;
  // Of programs whose data say extents: the outputs of such, here, and the others, the caller's.
  pb__memory* outputs;
  void** run_outputs;
} pb__open;

struct pb_rt {
  // Of the one that a program has: the profiles, of which the first is this one. Of each: what it runs on.
  // Target by target as many.
  struct pb_rt** profiles;
  int all_count, target_count, profile_count; // all; targets; profiles of each
  int target, chosen;
  bool target_wanted;                   // by pb_rt_set_target, and not by the device
  char *device_wanted, *options_wanted; // pb_rt_set_device's, for a profile that is chosen later; NULL: not called
  char* path;
  pb_engine* engine;
  uint64_t* busy; // [step * queues + queue], of the last run
  unsigned flags;
  int threads;
  pb_chip* chip;               // NULL when the engine carries no description
  bool has_device, has_native; // kernels that a device runs, and such as this process runs
  bool tensors_in_process;     // during a run: else they are on the device
  const char* device_name;
  pb__words words;
  pb__native native;
  pb__open open;
  atomic_bool is_running;  // for a caller: there is one arena, and a device does one thing at a time
  const void** run_inputs; // during a run
  // During pb_rt_run_on: where its tensors lie on the device. NULL: they are this process'.
  uint64_t *given_inputs, *given_outputs;
  bool wants_graph;
  void* const* run_outputs;
  // Copies of inputs as kernels want them: with unsigned codes, of i64 that kernels have as i32, or that begin with a
  // line of the caches, as those should that a loop reads in each turn.
  void** own_inputs;
  bool* comes_again;
  pb_rt_tensor *inputs, *outputs;
  pb_rt_step* steps;
  pb_rt_trace trace;
  void* trace_user;
  pb_rt_after_step after_step;
  void* after_step_user;
  pb_arena arena;
};

// Starts a call's error text; diagnostics go to it. pb__rt_code is the number of the first one.
pb_diag pb__rt_diag(void);
int pb__rt_code(pb_status status);

// Tensors of unsigned codes, before a run and after it: what run_inputs and run_outputs have.
pb_status pb__unsigned_inputs(pb_rt* rt, pb_diag* diag) PB_MUST_CHECK;
void pb__unsigned_outputs(pb_rt* rt);
void pb__unsigned_free(pb_rt* rt);
// 128 more or less: of 8 bits that is the uppermost one turned over. `to` may be `from`.
void pb__unsigned_turn(uint8_t* to, const uint8_t* from, uint64_t bytes);
// The runtime's copy of an input, which begins with a line of the caches; NULL: there is no memory.
void* pb__own_input(pb_rt* rt, int input);
// Inputs that are read again and again.
void pb__aligned_prepare(pb_rt* rt);
void pb__aligned_inputs(pb_rt* rt);

// Of a program with open dims; the inputs' and outputs' shapes are its own afterwards.
void pb__open_prepare(pb_rt* rt);
pb_status pb__open_choose(pb_rt* rt, const int64_t* const* shapes, pb_diag* diag) PB_MUST_CHECK;
void pb__open_begin(pb_rt* rt); // a run: what data say is not known
// The step that reads what source k says: what hangs on it is known from then on.
pb_status pb__open_extents(pb_rt* rt, const pb_step* step, pb_diag* diag) PB_MUST_CHECK;
void pb__open_free(pb_rt* rt);

pb_status pb__native_open(pb_rt* rt, pb_diag* diag) PB_MUST_CHECK;
// Calls body(user), whose steps all threads of the engine share.
void pb__native_run(pb_rt* rt, void (*body)(void* user), void* user);
pb_status pb__native_step(pb_rt* rt, int step, pb_diag* diag);
void* pb__native_address(pb_rt* rt, pb_arg arg); // where it is in this process
void pb__native_close(pb_rt* rt);

// A step that launches nothing; *at becomes the next one.
pb_status pb__control_step(pb_rt* rt, int* at, pb_diag* diag) PB_MUST_CHECK;
// Outputs that are made of inputs in place begin as those, where they are not the same memory.
pb_status pb__aliases_begin(pb_rt* rt, pb_diag* diag) PB_MUST_CHECK;

pb_status pb__words_open(pb_rt* rt, const char* name, const char* options, pb_diag* diag) PB_MUST_CHECK;
pb_status pb__words_begin(pb_rt* rt, pb_diag* diag) PB_MUST_CHECK; // inputs to the device
pb_status pb__words_step(pb_rt* rt, int step, pb_diag* diag) PB_MUST_CHECK;
// Memory of the device until it is closed; of no bytes address 0.
pb_status pb__words_allocate(pb_rt* rt, uint64_t bytes, uint64_t* address, pb_diag* diag) PB_MUST_CHECK;
// open_device.c: of a program with open dims, what is known since source `stage` - 1 was read gets its place on the
// device, and sizes go there.
pb_status pb__open_to_device(pb_rt* rt, int stage, pb_diag* diag) PB_MUST_CHECK;
uint64_t pb__open_address(const pb_rt* rt, pb_arg arg); // ARENA and SIZES
// grid.c: the modules of an engine for a grid, and one of its launches.
pb_status pb__grid_load(pb_rt* rt, pb_diag* diag) PB_MUST_CHECK;
int pb__grid_launch(pb_rt* rt, const pb_step* step); // the device's fault, 0: none
uint64_t pb__grid_memory(const pb_engine* engine);   // bytes that one of its launches has to itself, at most
// behind.c: a run whose launches are not waited for one by one. The times of those that were come to their steps.
pb_status pb__behind_begin(pb_rt* rt, pb_diag* diag) PB_MUST_CHECK;
pb_status pb__behind_start(pb_rt* rt, pb_diag* diag) PB_MUST_CHECK; // behind what comes to the device first
pb_status pb__behind_launched(pb_rt* rt, int step, pb_diag* diag) PB_MUST_CHECK;
pb_status pb__behind_settle(pb_rt* rt, pb_diag* diag) PB_MUST_CHECK;
bool pb__device_is_behind(const pb_rt* rt); // whether the device works so at all
// graph.c: a run as one graph of the device, which `run` does once.
pb_status pb__graph_run(pb_rt* rt, pb_status (*run)(pb_rt* rt, pb_diag* diag), pb_diag* diag) PB_MUST_CHECK;
// What the public functions share: the program that is chosen, and a device for it.
pb_rt* pb__chosen(const pb_rt* rt);
void pb__close_device(pb_rt* rt);
pb_status pb__set_device(pb_rt* rt, const char* name, const char* options, pb_diag* diag) PB_MUST_CHECK;
pb_status pb__is_running(const pb_rt* rt, pb_diag* diag) PB_MUST_CHECK;
pb_status pb__run_steps(pb_rt* rt, pb_diag* diag) PB_MUST_CHECK;
pb_status pb__device_ready(pb_rt* rt, pb_diag* diag) PB_MUST_CHECK;
bool pb__enter(pb_rt* rt, pb_status* status, pb_diag* diag); // false: it runs for another caller
pb_status pb__device_fault(pb_rt* rt, const char* what, pb_diag* diag) PB_MUST_CHECK;

// The tensors that are not on both sides: outputs, and the arena of an engine that has native code too. They are handed
// over when a step of the other kind follows, whole, since steps say where their tensors begin but not what they write.
pb_status pb__words_give(pb_rt* rt, pb_diag* diag) PB_MUST_CHECK; // from the device
pb_status pb__words_take(pb_rt* rt, pb_diag* diag) PB_MUST_CHECK; // to the device
pb_status pb__words_read(pb_rt* rt, uint64_t address, void* data, uint64_t bytes, pb_diag* diag) PB_MUST_CHECK;
pb_status pb__words_write(pb_rt* rt, uint64_t address, const void* data, uint64_t bytes, pb_diag* diag) PB_MUST_CHECK;
uint64_t pb__words_address(const pb_rt* rt, pb_arg arg);
void pb__words_close(pb_rt* rt);

// The operations of a device that pb_rt_add_device named; NULL: no such name.
const pb_device_ops* pb__device_named(const char* name, const pb_chip* chip);
// Whether a device's name is that of a driver's file.
bool pb__device_is_file(const char* name);
// Opens that file, or under any other name the shared library of the chip's RTL.
pb_status pb__device_library(pb_rt* rt, const char* name, pb_diag* diag, void** library,
                             const pb_device_ops** ops) PB_MUST_CHECK;

#endif

// Running engines: load a .pbe file, choose what executes it, run it. No compiler is needed for this; pb/compiler.h
// makes engines.
//
// Functions that can fail return 0, or the number of the diagnostic (5004 for PB5004), whose text pb_rt_error gives.
// A pb_rt may be used by one thread at a time.
#ifndef PB_PB_H
#define PB_PB_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PB_LOAD_NO_NATIVE 1u // refuse engines that hold machine code: a checksum is no signature

typedef struct pb_rt pb_rt;

typedef struct pb_rt_tensor {
  const char* name;
  const char* type; // "f32", "i8", "u8", "i64", ...
  int rank;
  const int64_t* shape;   // row-major, dense; -1: an open dim whose extent was not chosen yet
  uint64_t element_bytes; // of one element; i1 takes one byte
  uint64_t bytes;         // of all
  int is_complex;         // complex numbers: the last dim, of 2, is their real and imaginary parts
} pb_rt_tensor;

// Maps the file and checks it. *rt is NULL on failure; the caller frees it with pb_rt_free.
int pb_rt_load(const char* path, unsigned flags, pb_rt** rt);
// The same from bytes in memory, of which a copy is kept.
int pb_rt_load_bytes(const void* bytes, uint64_t count, unsigned flags, pb_rt** rt);
void pb_rt_free(pb_rt* rt);
// The last failure in this thread, one or more lines; "" when there was none.
const char* pb_rt_error(void);

// An engine may hold code for several targets; which one runs the device says, unless pb_rt_set_target has.
const char* pb_rt_target(const pb_rt* rt); // that is chosen, at first the first
int pb_rt_target_count(const pb_rt* rt);
const char* pb_rt_target_name(const pb_rt* rt, int index); // NULL: there is none
int pb_rt_set_target(pb_rt* rt, int index);
int pb_rt_input_count(const pb_rt* rt);
int pb_rt_output_count(const pb_rt* rt);
const pb_rt_tensor* pb_rt_input(const pb_rt* rt, int index);
const pb_rt_tensor* pb_rt_output(const pb_rt* rt, int index);
// The input that the output is made of in place (--donate), -1: none. Given the same memory for both, a run writes only
// what changes; given others, the input is copied first.
int pb_rt_alias(const pb_rt* rt, int output);

// An engine may hold several profiles: the same model for other extents. One of them is chosen, at first the first; the
// tensors, steps and counts here are the chosen one's.
int pb_rt_profile_count(const pb_rt* rt);
int pb_rt_profile(const pb_rt* rt); // which is chosen
int pb_rt_set_profile(pb_rt* rt, int index);
// Chooses by the inputs' shapes: shapes[k] has as many extents as input k has dims. A failure names what there is, and
// the profile stays as it was.
int pb_rt_choose(pb_rt* rt, const int64_t* const* shapes);
// Whether dims of its inputs are open: one engine takes any extents. pb_rt_choose says which, before the first run and
// where they change, and the tensors here have those shapes and bytes then, outputs too. It fails where two inputs
// differ in a dim of one name, or the model cannot be run at these extents.
bool pb_rt_is_open(const pb_rt* rt);

// What executes the kernels: "native" for machine code; for words "machine" (the model generated from the chip's
// description), "rtl" (its RTL in a shared library lib<target>_rtl_<variant>.so, looked for in PB_DEVICE_PATH and
// beside the program), a driver's file ./FILE.so (pb/device.h), or a name given to pb_rt_add_device. options: the
// device's, "key=value,...", or NULL. When it is not called, the first run takes "native" or "machine", as the engine
// needs.
int pb_rt_set_device(pb_rt* rt, const char* name, const char* options);
const char* pb_rt_device(const pb_rt* rt); // "" before one was set
// Of native code, at most so many; 0: as many as the process may use. They are OpenMP's: those of a run that have
// nothing to do spin for a fifth of a millisecond and then sleep, or sleep at once with OMP_WAIT_POLICY=passive.
enum { PB_MOST_THREADS = 1024 };
void pb_rt_set_threads(pb_rt* rt, int threads);

// Makes a device known by a name in this process. `chip` is the description that the engine carries (tdl/chip.h); of
// several devices of a name the one added last that has operations for it is taken.
struct pb_chip;
struct pb_device_ops;
void pb_rt_add_device(const char* name, const struct pb_device_ops* (*ops)(const struct pb_chip* chip));
void pb_rt_add_machine(void); // "machine"; it stands in a library of its own, pb_machine

// Where the last run left an output whose extents data say: how long it is nobody knew before. pb_rt_output has -1
// there until a run, and its shape and bytes afterwards; pb_rt_run takes NULL for it. NULL: another output. It is there
// until the next run.
const void* pb_rt_output_data(const pb_rt* rt, int index);

// inputs[k] and outputs[k] are `bytes` long, of the caller; nothing is kept after the call.
int pb_rt_run(pb_rt* rt, const void* const* inputs, void* const* outputs);

// Of an engine for a GPU, on a device that has streams: inputs[k] and outputs[k] are addresses on the device, multiples
// of 64. What the run does comes behind what the stream, the driver's own handle (CUstream, hipStream_t), was given
// before; NULL: the runtime's stream, which pb_rt_wait waits for. It returns without waiting, but where the program
// goes on by what kernels leave (branches, rows by number) or tensors are codes without sign that kernels have signed.
// A stream that is being captured takes the run into its graph; a program that would have to wait is refused then. Runs
// of one pb_rt share its workspace, and so come one behind the other; graphs of them the caller keeps apart.
int pb_rt_run_on(pb_rt* rt, void* stream, const void* const* inputs, void* const* outputs);
// pb_rt_run as one graph of the device: the first run makes it.
int pb_rt_use_graph(pb_rt* rt, bool use);
// Memory that kernels have between them: the runtime's own, or the caller's, at least so many bytes; NULL: again its
// own.
uint64_t pb_rt_workspace_bytes(const pb_rt* rt);
int pb_rt_set_workspace(pb_rt* rt, void* memory, uint64_t bytes);
// Memory of the device, until the engine is freed or another device chosen. Both copies are done when they return.
int pb_rt_device_alloc(pb_rt* rt, uint64_t bytes, void** memory);
int pb_rt_device_free(pb_rt* rt, void* memory);
int pb_rt_copy_to_device(pb_rt* rt, void* to, const void* from, uint64_t bytes);
int pb_rt_copy_from_device(pb_rt* rt, void* to, const void* from, uint64_t bytes);
int pb_rt_wait(pb_rt* rt);

// Per step of the host program, of the last run: of a step that ran several times, in a loop, what all of them took.
// Steps that move tensors or jump are called move, jump and unless.
typedef struct pb_rt_step {
  const char *kernel, *origin, *bound;
  uint64_t macs, predicted_cycles;
  uint64_t cycles;      // 0 for native code, but of cores with movers, whose machine counts
  const uint64_t* busy; // by queue, of pb_rt_queue_count: cycles in which it executed a command
  uint64_t commands;
  uint64_t dram_read, dram_write, dram_fetch; // bytes of data, and of commands; 0 where the device cannot tell
  double seconds;                             // wall time
  uint64_t constants_read;                    // bytes of a chip's own memory of constants; not in dram_read
} pb_rt_step;
// What the device counts since it was opened, by number from 0 on; NULL past the last. Only after a device was set.
const char* pb_rt_counter_name(const pb_rt* rt, int index);
uint64_t pb_rt_counter(const pb_rt* rt, int index);
int pb_rt_step_count(const pb_rt* rt);
int pb_rt_arg_count(const pb_rt* rt, int step);
const pb_rt_step* pb_rt_step_info(const pb_rt* rt, int index);
// Of the chip: 0 and NULL where nothing is known.
int pb_rt_queue_count(const pb_rt* rt);
const char* pb_rt_queue_name(const pb_rt* rt, int index);
uint64_t pb_rt_peak_macs(const pb_rt* rt); // products a cycle, of the chip's contraction
int pb_rt_dram_rate(const pb_rt* rt);      // bytes a cycle of the memory that tensors live in
int pb_rt_mhz(const pb_rt* rt);

// Called for every command that completes, in a device that can tell. start, end: cycles since the device was opened.
typedef void (*pb_rt_trace)(void* user, int step, int queue, uint32_t index, uint64_t start, uint64_t end);
void pb_rt_set_trace(pb_rt* rt, pb_rt_trace trace, void* user);
// Called after each step, e.g. to look at arguments while they are there.
typedef void (*pb_rt_after_step)(void* user, pb_rt* rt, int step);
void pb_rt_set_after_step(pb_rt* rt, pb_rt_after_step call, void* user);
// Copies the argument's memory as it is now, up to `bytes`; *size is what there is of it. For an argument between
// kernels that is a bound: up to the next tensor in the arena. Codes of u8 tensors are here as kernels have them, 128
// less.
int pb_rt_read_arg(pb_rt* rt, int step, int arg, void* data, uint64_t bytes, uint64_t* size);

#ifdef __cplusplus
}
#endif
#endif

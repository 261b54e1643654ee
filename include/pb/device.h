// The device interface: the one small door through which the runtime drives a chip, be it the generated machine, RTL
// under a simulator, or a board. Integers and pointers only; a shared library exports `pb_device_entry`.
#ifndef PB_DEVICE_H
#define PB_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PB_DEVICE_ABI 5         // what this header says
#define PB_DEVICE_LEAST_ABI 1   // for chips with one memory outside, and engines of which nothing stays on the chip
#define PB_DEVICE_MAX_QUEUES 16 // that a submission has room for in itself
#define PB_DEVICE_MAX_ARGS 16
#define PB_DEVICE_MAX_KEPT 16
#define PB_DEVICE_MAX_LAUNCH_ARGS 64

// Bytes of one of the chip's own memories, by its number in the description, which kernels before have filled: this
// one, or one behind it, takes them. All else there is nobody's when the kernel begins.
typedef struct pb_device_kept {
  uint32_t memory;
  uint64_t address, bytes;
} pb_device_kept;

// One kernel: the commands of every queue (encoded, in the system's memory) and the base address of each argument slot.
// A chip of several cores has the queues of all, core by core; the kernel ends when all of them are done. A chip with
// fences has one stream for each core, the list of all its commands.
typedef struct pb_submission {
  uint64_t stream[PB_DEVICE_MAX_QUEUES]; // device address of the first command
  uint32_t count[PB_DEVICE_MAX_QUEUES];  // commands
  uint64_t args[PB_DEVICE_MAX_ARGS];     // device addresses
  uint32_t queue_count, arg_count;
  uint64_t cycle_limit; // 0: the device's own
  uint32_t kept_count;  // for devices that check; others need not look
  pb_device_kept kept[PB_DEVICE_MAX_KEPT];
  // Of a chip of more queues: all of them, `stream` and `count` have none. Until wait returns. Else NULL.
  const uint64_t* streams;
  const uint32_t* counts;
} pb_submission;

static inline uint64_t pb_submission_stream(const pb_submission* kernel, uint32_t queue) {
  return kernel->streams ? kernel->streams[queue] : kernel->stream[queue];
}
static inline uint32_t pb_submission_count(const pb_submission* kernel, uint32_t queue) {
  return kernel->counts ? kernel->counts[queue] : kernel->count[queue];
}

// What a chip of grids (GPUs) takes for code, one architecture's.
typedef enum pb_device_code {
  PB_DEVICE_PTX, // text, which ends in a 0 that `bytes` counts
  PB_DEVICE_CUBIN,
  PB_DEVICE_HSACO // AMD's code object
} pb_device_code;

// One kernel of such a chip: a grid of blocks of threads, all running the entry of that name.
typedef struct pb_device_launch {
  uint64_t module;    // load's
  const char* kernel; // the entry's name
  uint32_t blocks[3], threads[3];
  uint32_t shared_bytes; // of a block, beside what the entry itself declares
  uint32_t arg_count;
  uint64_t args[PB_DEVICE_MAX_LAUNCH_ARGS]; // the entry's parameters, 8 bytes each: device addresses or i64
  uint64_t step_limit;                      // instructions of a warp in all; 0: the device's own
} pb_device_launch;

typedef struct pb_device pb_device;

// All functions return 0, or a nonzero fault code whose text last_fault gives.
typedef struct pb_device_ops {
  uint32_t abi; // PB_DEVICE_ABI; one of PB_DEVICE_LEAST_ABI has what stands up to set_trace
  const char* name;
  int (*open)(const char* options, pb_device** device); // options: "key=value,..." or NULL
  void (*close)(pb_device* device);
  int (*alloc)(pb_device* device, uint64_t bytes, uint64_t align, uint64_t* address);
  int (*free_all)(pb_device* device);
  int (*copy_in)(pb_device* device, uint64_t address, const void* data, uint64_t bytes);
  int (*copy_out)(pb_device* device, uint64_t address, void* data, uint64_t bytes);
  int (*submit)(pb_device* device, const pb_submission* kernel); // starts; one kernel at a time
  int (*wait)(pb_device* device);                                // until the last write is acknowledged
  // Counters since open: name by index ("cycles", "busy.MX", "stall.MX", "dram.read", ...); NULL past the last.
  const char* (*counter_name)(pb_device* device, uint32_t index);
  uint64_t (*counter)(pb_device* device, uint32_t index);
  const char* (*last_fault)(pb_device* device); // never NULL
  // A timeline: called for each command that completes, if set. start and end in cycles since open.
  void (*set_trace)(pb_device* device,
                    void (*event)(void* user, uint32_t queue, uint32_t index, uint64_t start, uint64_t end),
                    void* user);
  // Since 2. The same as alloc in the memory of scope "constants", if the chip has one; else NULL. Addresses of the two
  // differ, so that copy_in and a submission's arguments say by them which memory is meant.
  int (*alloc_constants)(pb_device* device, uint64_t bytes, uint64_t align, uint64_t* address);
  // Since 3. The same for a chip with several memories of that scope, in the one of that number: in the order of their
  // names, from 0 on. NULL where the chip has one at most.
  int (*alloc_constants_in)(pb_device* device, uint32_t number, uint64_t bytes, uint64_t align, uint64_t* address);
  // Since 4, of chips of grids, whose `submit` is NULL. load: code that launches name; it is kept until close. launch:
  // starts behind all launches before it; what it finds wrong it or `wait` returns.
  int (*load)(pb_device* device, pb_device_code form, const void* code, uint64_t bytes, uint64_t* module);
  int (*launch)(pb_device* device, const pb_device_launch* launch);
  // Since 5, of such chips, for devices that work behind the call; NULL where they do not. What comes from now on
  // (copies, launches, marks) goes to this stream, one of its driver's, behind what the one before was given; NULL: to
  // the device's own, which is what `wait` and copy_out wait for. Of a stream that is being captured into a graph
  // nothing is waited for.
  int (*use_stream)(pb_device* device, void* stream);
  int (*copy)(pb_device* device, uint64_t to, uint64_t from, uint64_t bytes); // within the device
  int (*free)(pb_device* device, uint64_t address);                           // one of alloc's
  int (*look)(pb_device* device, uint64_t address, uint64_t bytes);  // whether so much of the device's memory is there
  int (*alloc_host)(pb_device* device, uint64_t bytes, void** data); // here, for quick copies; kept until close
  // A point among what the stream was given, by number from 0 on; seconds from one to another, which it waits for.
  int (*mark)(pb_device* device, uint32_t number);
  int (*seconds)(pb_device* device, uint32_t first, uint32_t last, double* seconds);
  // What comes from begin_graph to end_graph is kept and not done; run_graph does it all at once. There is one.
  int (*begin_graph)(pb_device* device);
  int (*end_graph)(pb_device* device);
  int (*run_graph)(pb_device* device);
  // How well code for that processor, by LLVM's name, suits the device, the more the better; 0: not at all. NULL: any
  // does.
  int (*suits)(pb_device* device, const char* processor);
} pb_device_ops;

const pb_device_ops* pb_device_entry(void);

#ifdef __cplusplus
}
#endif
#endif

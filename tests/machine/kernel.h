// A kernel written by hand for the tests: commands by name of instruction and fields, streams by queue.
#ifndef PB_TESTS_MACHINE_KERNEL_H
#define PB_TESTS_MACHINE_KERNEL_H

#include "targets/control/queues/machine/machine.h"

enum { KERNEL_QUEUES = 512 }; // of all cores

typedef struct kernel {
  const pb_chip* chip;
  const pb_device_ops* ops;
  pb_device* device;
  uint8_t* stream[KERNEL_QUEUES];
  uint64_t at[KERNEL_QUEUES]; // where they lie, for the device
  uint32_t count[KERNEL_QUEUES];
  uint64_t args[PB_DEVICE_MAX_ARGS];
  uint32_t arg_count, kept_count;
  pb_device_kept kept[PB_DEVICE_MAX_KEPT];
  pb_command last; // what put() made last
  int core;        // whose queues put() fills
} kernel;

// `chip` as pb_chip_find takes it.
void kernel_open(kernel* k, const char* chip, const char* options);
void kernel_close(kernel* k);
void kernel_clear(kernel* k); // forgets the commands
// Allocates `bytes` of device memory as the next argument and fills it from `data`, unless that is NULL.
uint64_t kernel_argument(kernel* k, const void* data, uint64_t bytes);
uint64_t kernel_constants(kernel* k, const void* data, uint64_t bytes); // the same, in the memory of constants
uint64_t kernel_constants_in(kernel* k, uint32_t number, const void* data, uint64_t bytes); // of several in that one
// put(k, "MMA", "a=0 ai=4 ni=4 nj=1 acc=1", "L0 WX", "VX"): fields not named are 0, except counts (1) and boxes (open).
void put(kernel* k, const char* insn, const char* fields, const char* waits, const char* signals);
int kernel_run(kernel* k);                        // submits and waits
void kernel_refused(kernel* k, const char* what); // runs it: a test fails unless the fault says so; closes it
uint64_t kernel_counter(kernel* k, const char* name);

#endif

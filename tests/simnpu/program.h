// Writing programs for simnpu in the order in which they would run on one queue: the tokens are found from what each
// command touches. The reference runs the same commands in that order, in plain C.
#ifndef PB_TESTS_SIMNPU_PROGRAM_H
#define PB_TESTS_SIMNPU_PROGRAM_H

#include "pb/device.h"
#include "tdl/chip.h"

#include <stdbool.h>
#include <stdint.h>

enum { QUEUES = 6, MAX_ACCESSES = 6 };

typedef struct field_value {
  const char* field;
  int64_t value;
} field_value;

typedef struct program {
  const pb_chip* chip;
  pb_command* commands;
  int count, capacity;
  uint64_t args[PB_DEVICE_MAX_ARGS]; // device addresses
} program;

// Memories by place in pb_access: what a command reads or writes, as a range of bytes.
typedef enum place { IN_DRAM, IN_SPAD, IN_ACC, IN_WREG, PLACES } place;
typedef struct access {
  place place;
  bool written;
  int64_t lo, hi; // [lo, hi)
} access;

void program_init(program* p, const pb_chip* chip);
void program_free(program* p);
// Appends an instruction; fields not named are 0. `values` ends with a field of NULL.
pb_command* program_add(program* p, const char* insn, const field_value* values);
#define ADD(p, insn, ...) program_add(p, insn, (const field_value[]){__VA_ARGS__, {0}})
int64_t command_field(const pb_command* command, const char* name); // 0 when the instruction has no such field
// Gives the commands the waits and signals that keep every pair on different queues in order that touches the same
// bytes.
void program_order(program* p);

// What one command touches. Returns how many.
int command_accesses(const pb_chip* chip, const uint64_t* args, const pb_command* command, access* out);

typedef struct device {
  void* library;
  const pb_device_ops* ops;
  pb_device* handle;
  pb_chip* chip;
  int lanes; // D
} device;

// Opens a model of the RTL: "8", "16", "32", "8_systolic"; options as "latency=100".
void device_start(device* d, const char* model, const char* options);
void device_stop(device* d);
uint64_t device_buffer(device* d, uint64_t bytes);
// Encodes, submits and waits; returns the device's fault code.
int device_run(device* d, const program* p, uint64_t cycle_limit);
uint64_t device_counter(device* d, const char* name);

#endif

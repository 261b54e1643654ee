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
  bool rolled;                       // into hardware loops, where commands repeat
  uint64_t args[PB_DEVICE_MAX_ARGS]; // device addresses
  uint64_t arg_bytes[PB_DEVICE_MAX_ARGS];
  int arg_count;
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

// Whether a vector command reads (y: writes) codes.
bool command_on_codes(const pb_command* command, bool y);
// Of a product of windows: rows of weights from line to line, rows from window to window.
int command_line(const pb_command* command);
int command_window_step(const pb_command* command);
// What one command touches, what it writes last. Returns how many.
int command_accesses(const pb_chip* chip, const uint64_t* args, const pb_command* command, access* out);

typedef struct device {
  void* library;
  const pb_device_ops* ops;
  pb_device* handle;
  pb_chip* chip;
  int lanes; // D
} device;

// Opens a model of the RTL ("8", "16", "32", "8_systolic") or the machine made from the description ("machine_8", ...),
// with the device's options.
void device_start(device* d, const char* model, const char* options);
void device_stop(device* d);
uint64_t device_buffer(device* d, uint64_t bytes);
// A buffer as the program's next argument.
void device_argument(device* d, program* p, uint64_t bytes);
// Copies every argument in from `image`, which is device memory from address 0.
void device_fill(device* d, const program* p, const uint8_t* image);
// Encodes, submits and waits; returns the device's fault code.
int device_run(device* d, const program* p, uint64_t cycle_limit);
uint64_t device_counter(device* d, const char* name);

#endif

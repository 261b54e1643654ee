// Stage S4 for control by queues: a placed kernel is followed through its loops once, at compile time, and every call
// becomes one command with all its fields known. Then tokens are put where one queue needs what another made.
#ifndef PB_QUEUES_TRACE_H
#define PB_QUEUES_TRACE_H

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "tdl/chip.h"

#include <mlir-c/IR.h>

// What a command touches: rows of bytes in a memory, as an arithmetic progression in up to three dims.
typedef struct pb_region {
  int memory;
  int argument;                                               // system memory: which argument; -1
  int64_t base;                                               // bytes
  int64_t extent[PB_MAX_INSN_DIMS], stride[PB_MAX_INSN_DIMS]; // bytes
  int rank;
  int64_t element; // bytes
  bool written;
} pb_region;

typedef struct pb_traced {
  pb_command command;
  uint32_t idle;    // fields whose values do not matter: strides along one element
  const char* nest; // node of the model
  int region_count;
  pb_region* regions; // in the arena: there are millions of commands
} pb_traced;

typedef struct pb_trace {
  pb_traced* commands; // in program order
  size_t count, capacity;
  int argument_count;
} pb_trace;

// Follows `func`. A value that no field can carry is PB_ERR_UNSUPPORTED with the instruction and the model's node.
pb_status pb_trace_kernel(const pb_chip* chip, MlirOperation func, pb_arena* arena, pb_diag* diag,
                          pb_trace* trace) PB_MUST_CHECK;
// Puts commands that write configuration state before those that need it, as few as can be. PB_ERR_UNSUPPORTED when a
// command needs two values in one place.
pb_status pb_trace_state(const pb_chip* chip, pb_trace* trace, pb_diag* diag) PB_MUST_CHECK;
// Sets waits and signals of every command.
pb_status pb_trace_tokens(const pb_chip* chip, pb_trace* trace, pb_diag* diag) PB_MUST_CHECK;
void pb_trace_free(pb_trace* trace);

#endif

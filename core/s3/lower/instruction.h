// An instruction as a function: its name, calls of it, its body generated from its semantics. Arguments in order, each
// operand, then the extents of its variable dims as index, then, if a window has a box, lo and hi of each bounded dim
// and the fill value. An immediate is a scalar, and a window of the chip's memories a memref with every stride dynamic.
// A core's instruction takes registers instead, each a vector of all its elements, and gives the one that it makes;
// rows of memory are a flat tensor and the number of the first element.
#ifndef PB_S3_INSTRUCTION_H
#define PB_S3_INSTRUCTION_H

#include "core/poly/text.h"
#include "tdl/chip.h"

// One use of an instruction: those that are equal call one function.
typedef struct pb_instruction_use {
  const pb_insn* insn;
  pb_type type; // replaces the windows' element type where a mover copies other bits of its size; PB_TYPE_COUNT: none
  // A core's: the extents of its dims, of one that is told them (pb_insn.shape); and, if it takes rows of memory, the
  // elements of the flat tensor that they lie in, and those between two rows.
  int64_t extent[PB_MAX_INSN_DIMS];
  int64_t elements, stride;
} pb_instruction_use;

// What a kernel calls, each use once. Starts as {.chip}.
typedef struct pb_instructions {
  const pb_chip* chip;
  pb_instruction_use* uses;
  size_t count, capacity;
} pb_instructions;

// `func.call @chip.INSN(...) {pb.nest = "..."}` (nest NULL: without) on these values, in the order of the arguments.
void pb_instruction_call(pb_text* text, pb_instructions* called, const pb_instruction_use* use,
                         const char* const* arguments, const char* nest);
// Whether it gives one, a register: what others make lies in a memory.
bool pb_instruction_makes_register(const pb_chip* chip, const pb_insn* insn);
// The functions of all that is called.
void pb_instruction_functions(pb_text* text, const pb_instructions* called);
void pb_instructions_free(pb_instructions* called);

// The type of a window.
void pb_instruction_window_type(pb_text* text, const pb_chip* chip, const pb_operand* operand, pb_type type);
// `memref.reinterpret_cast ...`: the window of an operand on `whole` of a type, with names of its base and, by dim, of
// its extents and strides, so that all windows of an operand have one type.
typedef struct pb_window {
  const char *whole, *whole_type, *base;
  const char *extents[PB_MAX_INSN_DIMS], *strides[PB_MAX_INSN_DIMS];
} pb_window;
void pb_instruction_print_window(pb_text* text, const pb_chip* chip, const pb_operand* operand, pb_type type,
                                 const pb_window* window);
// The window that has a box, NULL: none.
const pb_operand* pb_instruction_boxed(const pb_insn* insn);
// The type of a register, `vector<...>`.
void pb_instruction_register_type(pb_text* text, const pb_chip* chip, const pb_operand* operand);

// Inside: the type that the IR has for elements of one of the chip's.
pb_type pb__instruction_ir_type(pb_type type);
// A core's instruction takes registers, and is its intrinsic where code is made of it.
static inline bool pb__instruction_on_registers(const pb_insn* insn) { return insn->emit != NULL; }
bool pb__instruction_in_register(const pb_chip* chip, const pb_insn* insn, int operand);
int64_t pb__instruction_register_elements(const pb_chip* chip, const pb_operand* operand);
void pb__instruction_head(pb_text* text, const pb_chip* chip, const pb_instruction_use* use);
// In instruction_function.c.
void pb__instruction_function(pb_text* text, const pb_chip* chip, const pb_instruction_use* use);

#endif

// An instruction as a function: its declaration, its body generated from its semantics, calls of it. A core's takes
// registers, each a vector of all its elements, and is `@NAME`; others take windows of the chip's memories:
// arguments in order, each operand (a window as a memref with every stride dynamic, an immediate as a scalar), then the
// extents of its variable dims as index, then, if a window has a box, lo and hi of each bounded dim and the fill value.
#ifndef PB_S3_INSTRUCTION_H
#define PB_S3_INSTRUCTION_H

#include "core/poly/text.h"
#include "tdl/chip.h"

#include <mlir-c/IR.h>

// The type of a window; `type` replaces the operand's element type where a mover copies other bits of its size
// (PB_TYPE_COUNT: the operand's own).
void pb_instruction_window_type(pb_text* text, const pb_chip* chip, const pb_operand* operand, pb_type type);
// The window that has a box, NULL: none.
const pb_operand* pb_instruction_boxed(const pb_insn* insn);
// A register's elements, and its type, `vector<...>`.
int64_t pb_instruction_register_elements(const pb_chip* chip, const pb_operand* operand);
void pb_instruction_register_type(pb_text* text, const pb_chip* chip, const pb_operand* operand);
// `func.call @chip.INSN(%w<id>_0, ...) {pb.nest = "..."}` (nest NULL: without), with the names that `map` gives the
// operands, or on these values, by operand. The result of a core's is the register that it makes.
void pb_instruction_call(pb_text* text, const pb_chip* chip, const pb_insn* insn, pb_type type, int id,
                         const char* const* values, const char* nest);
// The function itself. `type`: for a mover that copies other bits of its size, else PB_TYPE_COUNT.
void pb_instruction_function(pb_text* text, const pb_chip* chip, const pb_insn* insn, pb_type type);

#endif

// Kernel functions in a module: walked, and replaced by parsed text.
#ifndef PB_S3_KERNELS_H
#define PB_S3_KERNELS_H

#include "core/poly/text.h"
#include "core/s3/program.h"
#include "core/s3/s3.h"

// Calls `visit` for each kernel function (pb.kernel) that the chip runs, in order; `visit` may replace it. With a
// fall-back, a kernel that it refuses (PB_ERR_UNSUPPORTED) is left for the other target.
pb_status pb_kernels_each(pb_unit* unit, pb_status (*visit)(pb_unit* unit, MlirOperation func)) PB_MUST_CHECK;
// Parses the text of one function and puts it where `old` was, which is erased. A text that does not verify is a bug
// of the pass and says so with the pass's name.
pb_status pb_kernel_replace(pb_unit* unit, MlirOperation old, const pb_text* text, const char* pass) PB_MUST_CHECK;
// The same for the kernel that pb_kernels_each visits, once it has visited some more: they are parsed at the same time.
// Takes the text.
void pb_kernel_replace_behind(pb_unit* unit, MlirOperation old, pb_text* text, const char* pass);
// The same for a whole module. What the pass has in unit->pass goes first, and the module before: two of each would be
// the most that compiling takes.
pb_status pb_module_replace(pb_unit* unit, const pb_text* text, const char* pass) PB_MUST_CHECK;

// Reads the program function, into the pass's arena.
pb_status pb_program_read_main(pb_unit* unit, pb_program* program) PB_MUST_CHECK;
// Prints the program function anew without the nests that are gone; values that no nest uses any more go, too.
pb_status pb_program_rewrite(pb_unit* unit, pb_program* program, const char* pass) PB_MUST_CHECK;
// Runs a pass on the program function, by whose name faults of the compiler are told.
pb_status pb_program_change(pb_unit* unit, pb_program_pass change, const char* pass) PB_MUST_CHECK;
// The end of the text of a program function, with which it is parsed and freed: of a pass that prints nests of its own.
pb_status pb_program_print_end(pb_unit* unit, pb_text* text, const char* pass) PB_MUST_CHECK;

// Prints the head of the program's function as pb_func_print_head does, with the constants that a pass has added.
void pb_program_print_head(const pb_program* program, const char* extra, pb_text* text);

// A callback that MLIR prints with; `text` is the pb_text.
void pb_text_append(MlirStringRef part, void* text);
// An attribute of the argument of a function that the value is; null, or `missing`: it is none, or has no such
// attribute.
MlirAttribute pb_argument_attribute(MlirValue value, const char* name);
static inline bool pb_argument_has(MlirValue value, const char* name) {
  return !mlirAttributeIsNull(pb_argument_attribute(value, name));
}
int64_t pb_argument_integer(MlirValue value, const char* name, int64_t missing);
// The chip's memory that a memref lies in, by its type's memory space; without one the system's, or that in which a
// kernel's constant lies apart (pb.memory of the argument). -1: none of that name.
int pb_memref_memory(const pb_chip* chip, MlirValue memref);

const char* pb_func_name(MlirOperation func, pb_arena* arena);
MlirOperation pb_module_func(MlirModule module, const char* name); // null: none
// Prints `func.func @name(%a0: type {attributes}, ...) attributes {...} {`, with `extra` (may be "") among the
// attributes.
void pb_func_print_head(pb_text* text, MlirOperation func, const char* extra);

bool pb_op_is(MlirOperation op, const char* name);
// The tensor of the program that the value is, in whatever shape.
MlirValue pb_tensor_viewed(MlirValue value);
// The block of a function, a loop or a condition.
static inline MlirBlock pb_op_body(MlirOperation op) { return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)); }
// The ops of a block in order, none of which goes meanwhile.
#define PB_FOR_OPS(op, block)                                                                                          \
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);                                 \
       op = mlirOperationGetNextInBlock(op))
MlirAttribute pb_op_attribute(MlirOperation op, const char* name); // null: none
static inline bool pb_op_has(MlirOperation op, const char* name) {
  return !mlirAttributeIsNull(pb_op_attribute(op, name));
}
int64_t pb_op_integer(MlirOperation op, const char* name, int64_t missing); // an integer attribute
void pb_op_set_attribute(MlirOperation op, const char* name, MlirAttribute value);
// Of a function's argument.
void pb_argument_set_attribute(MlirOperation func, intptr_t argument, const char* name, MlirAttribute value);
MlirAttribute pb_number_attribute(MlirContext context, int64_t number);
MlirAttribute pb_text_attribute(MlirContext context, const char* text);
const char* pb_attribute_text(MlirAttribute text, pb_arena* arena);
MlirAttribute pb_member(MlirAttribute dictionary, const char* name); // null: none
int64_t pb_loop_iterations(MlirOperation loop);                      // of an affine.for from 0 to a constant

#endif

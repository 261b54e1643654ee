// Operations made one at a time, and those of a module visited one by one.
#ifndef PB_LLVM_OPERATION_H
#define PB_LLVM_OPERATION_H

#include <mlir-c/IR.h>
#include <stdbool.h>

enum { PB_OPERATION_MOST = 4 }; // operands, and attributes

typedef struct pb_operation {
  const char* name;
  MlirType type; // null: no result
  int operand_count, attribute_count;
  MlirValue operands[PB_OPERATION_MOST];
  MlirNamedAttribute attributes[PB_OPERATION_MOST];
} pb_operation;

// Makes it in front of another, in that one's place of the source. The result is null where there is none.
MlirValue pb_operation_make(MlirOperation before, const pb_operation* operation);
// A constant of the type, an integer or the index, by the operation that a dialect has for it.
MlirValue pb_operation_integer(MlirOperation before, const char* name, MlirType type, int64_t value);
MlirNamedAttribute pb_named(MlirContext context, const char* name, MlirAttribute attribute);
// Whether LLVM's dialect has the type as it is: a number of a width that processors have, or a row of them.
bool pb_llvm_has(MlirType type);

bool pb_is_used_once(MlirValue value);
// The operation of that name that makes the value; null: another one does, or none.
MlirOperation pb_made_by(MlirValue value, const char* name);

// Visits the body of each function of the module.
void pb_each_body(MlirModule module, void (*visit)(void* user, MlirBlock body), void* user);
// Visits each operation of a block, and of the blocks inside it, that has none inside itself, in order. The visitor may
// destroy it.
void pb_each_operation(MlirBlock block, void (*visit)(void* user, MlirOperation op), void* user);

#endif

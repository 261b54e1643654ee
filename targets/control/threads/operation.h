// Operations of LLVM's dialect, made one at a time.
#ifndef PB_THREADS_OPERATION_H
#define PB_THREADS_OPERATION_H

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
MlirNamedAttribute pb_named(MlirContext context, const char* name, MlirAttribute attribute);
// Whether LLVM's dialect has the type as it is: a number of a width that processors have, or a row of them.
bool pb_llvm_has(MlirType type);

#endif

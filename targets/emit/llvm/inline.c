#include "targets/emit/llvm/inline.h"

#include "core/s3/kernels.h"
#include "targets/emit/llvm/operation.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

enum { MOST_OPERATIONS = 16 }; // of a body

static MlirStringRef callee_of(MlirOperation call) {
  return mlirFlatSymbolRefAttrGetValue(pb_op_attribute(call, "callee"));
}

// Intrinsics on values, and what makes their operands.
static bool is_inlined(MlirOperation func, MlirBlock body) {
  if (mlirAttributeIsNull(pb_op_attribute(func, "passthrough"))) return false;
  int count = 0;
  bool plain = true;
  for (intptr_t k = 0; k < mlirBlockGetNumArguments(body); ++k)
    plain &= pb_llvm_has(mlirValueGetType(mlirBlockGetArgument(body, k)));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    plain &= ++count <= MOST_OPERATIONS && !mlirOperationGetNumRegions(op);
  return plain;
}

static MlirBlock body_named(MlirModule module, MlirStringRef name) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!mlirStringRefEqual(mlirStringAttrGetValue(pb_op_attribute(op, "sym_name")), name)) continue;
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    return !mlirBlockIsNull(body) && is_inlined(op, body) ? body : (MlirBlock){NULL};
  }
  return (MlirBlock){NULL};
}

// The body's operations, and their copies.
typedef struct copies {
  MlirOperation call, from[MOST_OPERATIONS], to[MOST_OPERATIONS];
  int count;
} copies;

static MlirValue copied(const copies* c, MlirValue value) {
  if (mlirValueIsABlockArgument(value)) return mlirOperationGetOperand(c->call, mlirBlockArgumentGetArgNumber(value));
  int k = 0;
  while (!mlirOperationEqual(c->from[k], mlirOpResultGetOwner(value))) ++k;
  return mlirOperationGetResult(c->to[k], mlirOpResultGetResultNumber(value));
}

static void copy(copies* c, MlirOperation op) {
  MlirOperation to = mlirOperationClone(op);
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(op); ++k)
    mlirOperationSetOperand(to, k, copied(c, mlirOperationGetOperand(op, k)));
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(c->call), c->call, to);
  c->from[c->count] = op;
  c->to[c->count++] = to;
}

static void inline_call(void* module, MlirOperation call) {
  if (!pb_op_is(call, "func.call")) return;
  MlirBlock body = body_named(*(MlirModule*)module, callee_of(call));
  if (mlirBlockIsNull(body)) return;
  copies c = {.call = call};
  MlirOperation end = mlirBlockGetTerminator(body), op = mlirBlockGetFirstOperation(body);
  for (; !mlirOperationEqual(op, end); op = mlirOperationGetNextInBlock(op)) copy(&c, op);
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(end); ++k)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(call, k), copied(&c, mlirOperationGetOperand(end, k)));
  mlirOperationDestroy(call);
}

static void inline_body(void* module, MlirBlock body) { pb_each_operation(body, inline_call, module); }

void pb_llvm_inline(MlirModule module) {
  pb_each_body(module, inline_body, &module);
  MlirOperation next, op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = next) { // nobody calls them any more
    next = mlirOperationGetNextInBlock(op);
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    if (!mlirBlockIsNull(body) && is_inlined(op, body)) mlirOperationDestroy(op);
  }
}

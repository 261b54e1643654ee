#include "targets/emit/llvm/partition.h"

#include "core/s3/kernels.h"
#include "targets/emit/llvm/operation.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>

static MlirStringRef str(const char* text) { return mlirStringRefCreateFromCString(text); }

static MlirValue binary(MlirOperation before, const char* name, MlirValue a, MlirValue b) {
  return pb_operation_make(
      before, &(pb_operation){.name = name, .type = mlirValueGetType(a), .operands = {a, b}, .operand_count = 2});
}

static bool calls_share(MlirOperation op) {
  if (!pb_op_is(op, "func.call")) return false;
  return mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(pb_op_attribute(op, "callee")), str("pb_partition"));
}

// The function's type and its arguments' attributes must have two entries more.
static void add_arguments(MlirOperation func, MlirBlock body) {
  MlirContext context = mlirOperationGetContext(func);
  MlirType index = mlirIndexTypeGet(context);
  intptr_t count = mlirBlockGetNumArguments(body);
  MlirType* types = malloc(sizeof *types * (size_t)(count + 2));
  MlirAttribute* attrs = malloc(sizeof *attrs * (size_t)(count + 2));
  if (!types || !attrs) pb_no_memory(sizeof *types * (size_t)(count + 2));
  MlirAttribute have = pb_op_attribute(func, "arg_attrs"), none = mlirDictionaryAttrGet(context, 0, NULL);
  for (intptr_t k = 0; k < count + 2; ++k) {
    types[k] = k < count ? mlirValueGetType(mlirBlockGetArgument(body, k)) : index;
    attrs[k] = k < count && !mlirAttributeIsNull(have) ? mlirArrayAttrGetElement(have, k) : none;
  }
  mlirBlockAddArgument(body, index, mlirOperationGetLocation(func));
  mlirBlockAddArgument(body, index, mlirOperationGetLocation(func));
  mlirOperationSetAttributeByName(func, str("function_type"),
                                  mlirTypeAttrGet(mlirFunctionTypeGet(context, count + 2, types, 0, NULL)));
  mlirOperationSetAttributeByName(func, str("arg_attrs"), mlirArrayAttrGet(context, count + 2, attrs));
  free(types);
  free(attrs);
}

static void replace_uses(MlirValue from, MlirValue to) { mlirValueReplaceAllUsesOfWith(from, to); }

// Of one thread.
static void take_all(MlirOperation func) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!calls_share(op)) continue;
    MlirValue n = mlirOperationGetOperand(op, 0);
    replace_uses(mlirOperationGetResult(op, 0), pb_operation_integer(op, "arith.constant", mlirValueGetType(n), 0));
    replace_uses(mlirOperationGetResult(op, 1), n);
    mlirOperationDestroy(op);
    return;
  }
}

static void share(MlirOperation func) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  intptr_t count = mlirBlockGetNumArguments(body);
  add_arguments(func, body);
  MlirValue thread = mlirBlockGetArgument(body, count), threads = mlirBlockGetArgument(body, count + 1);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!calls_share(op)) continue;
    MlirValue n = mlirOperationGetOperand(op, 0);
    MlirValue next =
        binary(op, "arith.addi", thread, pb_operation_integer(op, "arith.constant", mlirValueGetType(thread), 1));
    MlirValue lo = binary(op, "arith.divui", binary(op, "arith.muli", n, thread), threads);
    MlirValue hi = binary(op, "arith.divui", binary(op, "arith.muli", n, next), threads);
    replace_uses(mlirOperationGetResult(op, 0), lo);
    replace_uses(mlirOperationGetResult(op, 1), hi);
    mlirOperationDestroy(op);
    return;
  }
}

// The calls of a kernel that goes through its work share by share: each of the loop's share, of as many as there are.
static void pass_shares(MlirOperation func) {
  MlirValue shares = {NULL};
  PB_FOR_OPS (op, pb_op_body(func)) {
    if (calls_share(op)) shares = mlirOperationGetOperand(op, 0);
    if (!pb_op_is(op, "affine.for")) continue;
    PB_FOR_OPS (call, pb_op_body(op)) {
      if (!pb_op_is(call, "func.call")) continue;
      intptr_t count = mlirOperationGetNumOperands(call);
      MlirValue* operands = malloc(sizeof *operands * (size_t)(count + 2));
      if (!operands) pb_no_memory(sizeof *operands * (size_t)(count + 2));
      for (intptr_t k = 0; k < count; ++k) operands[k] = mlirOperationGetOperand(call, k);
      operands[count] = mlirBlockGetArgument(pb_op_body(op), 0);
      operands[count + 1] = shares;
      mlirOperationSetOperands(call, count + 2, operands);
      free(operands);
    }
  }
}

void pb_llvm_partition(MlirModule module) {
  PB_FOR_OPS (op, mlirModuleGetBody(module))
    if (!mlirAttributeIsNull(pb_op_attribute(op, "pb.by_shares"))) pass_shares(op);
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!mlirAttributeIsNull(pb_op_attribute(op, "pb.shared"))) share(op);
    if (!mlirAttributeIsNull(pb_op_attribute(op, "pb.alone"))) take_all(op);
  }
}

#include "targets/control/threads/partition.h"

#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>

static MlirStringRef str(const char* text) { return mlirStringRefCreateFromCString(text); }

static MlirValue binary(MlirOperation before, const char* name, MlirValue a, MlirValue b) {
  MlirOperationState state = mlirOperationStateGet(str(name), mlirOperationGetLocation(before));
  MlirValue operands[2] = {a, b};
  MlirType type = mlirValueGetType(a);
  mlirOperationStateAddOperands(&state, 2, operands);
  mlirOperationStateAddResults(&state, 1, &type);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, op);
  return mlirOperationGetResult(op, 0);
}

static MlirValue one(MlirOperation before, MlirType index) {
  MlirOperationState state = mlirOperationStateGet(str("arith.constant"), mlirOperationGetLocation(before));
  MlirContext context = mlirTypeGetContext(index);
  MlirNamedAttribute value =
      mlirNamedAttributeGet(mlirIdentifierGet(context, str("value")), mlirIntegerAttrGet(index, 1));
  mlirOperationStateAddAttributes(&state, 1, &value);
  mlirOperationStateAddResults(&state, 1, &index);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, op);
  return mlirOperationGetResult(op, 0);
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

static void share(MlirOperation func) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  intptr_t count = mlirBlockGetNumArguments(body);
  add_arguments(func, body);
  MlirValue thread = mlirBlockGetArgument(body, count), threads = mlirBlockGetArgument(body, count + 1);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!calls_share(op)) continue;
    MlirValue n = mlirOperationGetOperand(op, 0);
    MlirValue next = binary(op, "arith.addi", thread, one(op, mlirValueGetType(thread)));
    MlirValue lo = binary(op, "arith.divui", binary(op, "arith.muli", n, thread), threads);
    MlirValue hi = binary(op, "arith.divui", binary(op, "arith.muli", n, next), threads);
    replace_uses(mlirOperationGetResult(op, 0), lo);
    replace_uses(mlirOperationGetResult(op, 1), hi);
    mlirOperationDestroy(op);
    return;
  }
}

void pb_threads_partition(MlirModule module) {
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (!mlirAttributeIsNull(pb_op_attribute(op, "pb.shared"))) share(op);
}

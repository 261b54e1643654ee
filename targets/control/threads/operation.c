#include "targets/control/threads/operation.h"

#include <mlir-c/BuiltinTypes.h>

static MlirStringRef str(const char* text) { return mlirStringRefCreateFromCString(text); }

MlirNamedAttribute pb_named(MlirContext context, const char* name, MlirAttribute attribute) {
  return mlirNamedAttributeGet(mlirIdentifierGet(context, str(name)), attribute);
}

MlirValue pb_operation_make(MlirOperation before, const pb_operation* operation) {
  MlirOperationState state = mlirOperationStateGet(str(operation->name), mlirOperationGetLocation(before));
  mlirOperationStateAddOperands(&state, operation->operand_count, operation->operands);
  mlirOperationStateAddAttributes(&state, operation->attribute_count, operation->attributes);
  bool has_result = !mlirTypeIsNull(operation->type);
  if (has_result) mlirOperationStateAddResults(&state, 1, &operation->type);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, op);
  return has_result ? mlirOperationGetResult(op, 0) : (MlirValue){NULL};
}

bool pb_llvm_has(MlirType type) {
  if (mlirTypeIsAVector(type)) {
    if (mlirShapedTypeGetRank(type) != 1 || mlirVectorTypeIsScalable(type)) return false;
    type = mlirShapedTypeGetElementType(type);
  }
  return (mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type)) || mlirTypeIsAF32(type) ||
         mlirTypeIsAF64(type) || mlirTypeIsAF16(type) || mlirTypeIsABF16(type);
}

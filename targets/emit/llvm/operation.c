#include "targets/emit/llvm/operation.h"

#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
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

MlirValue pb_operation_integer(MlirOperation before, const char* name, MlirType type, int64_t value) {
  MlirNamedAttribute number = pb_named(mlirTypeGetContext(type), "value", mlirIntegerAttrGet(type, value));
  return pb_operation_make(before,
                           &(pb_operation){.name = name, .type = type, .attributes = {number}, .attribute_count = 1});
}

bool pb_llvm_has(MlirType type) {
  if (mlirTypeIsAVector(type)) {
    if (mlirShapedTypeGetRank(type) != 1 || mlirVectorTypeIsScalable(type)) return false;
    type = mlirShapedTypeGetElementType(type);
  }
  return (mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type)) || mlirTypeIsAF32(type) ||
         mlirTypeIsAF64(type) || mlirTypeIsAF16(type) || mlirTypeIsABF16(type);
}

bool pb_is_used_once(MlirValue value) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  return !mlirOpOperandIsNull(use) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

MlirOperation pb_made_by(MlirValue value, const char* name) {
  bool made = mlirValueIsAOpResult(value) && pb_op_is(mlirOpResultGetOwner(value), name);
  return made ? mlirOpResultGetOwner(value) : (MlirOperation){NULL};
}

void pb_each_body(MlirModule module, void (*visit)(void* user, MlirBlock body), void* user) {
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    if (!mlirBlockIsNull(body)) visit(user, body);
  }
}

void pb_each_operation(MlirBlock block, void (*visit)(void* user, MlirOperation op), void* user) {
  MlirOperation next, op = mlirBlockGetFirstOperation(block);
  for (; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    intptr_t regions = mlirOperationGetNumRegions(op);
    if (!regions) visit(user, op);
    for (intptr_t r = 0; r < regions; ++r)
      for (MlirBlock inner = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(inner);
           inner = mlirBlockGetNextInRegion(inner))
        pb_each_operation(inner, visit, user);
  }
}

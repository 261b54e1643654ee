#include "targets/control/threads/flat.h"

#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

static MlirStringRef str(const char* text) { return mlirStringRefCreateFromCString(text); }

static MlirNamedAttribute numbers(MlirContext context, const char* name, int64_t number) {
  return mlirNamedAttributeGet(mlirIdentifierGet(context, str(name)), mlirDenseI64ArrayGet(context, 1, &number));
}

// The memref's memory from its first element, in steps of one. Shapes that are collapsed want a pass over all of the IR
// (expand-strided-metadata), in which a third of the time of the conversion went; this operation does not.
static MlirValue cast(MlirOperation before, MlirValue memref, MlirType type) {
  MlirContext context = mlirTypeGetContext(type);
  MlirOperationState state = mlirOperationStateGet(str("memref.reinterpret_cast"), mlirOperationGetLocation(before));
  const int32_t operands[] = {1, 0, 0, 0}; // the memref; offset, size and stride are attributes
  MlirNamedAttribute attributes[] = {mlirNamedAttributeGet(mlirIdentifierGet(context, str("operandSegmentSizes")),
                                                           mlirDenseI32ArrayGet(context, 4, operands)),
                                     numbers(context, "static_offsets", 0),
                                     numbers(context, "static_sizes", mlirShapedTypeGetDimSize(type, 0)),
                                     numbers(context, "static_strides", 1)};
  mlirOperationStateAddAttributes(&state, sizeof attributes / sizeof *attributes, attributes);
  mlirOperationStateAddOperands(&state, 1, &memref);
  mlirOperationStateAddResults(&state, 1, &type);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, op);
  return mlirOperationGetResult(op, 0);
}

static void flatten(MlirBlock body) {
  MlirOperation next, op = mlirBlockGetFirstOperation(body);
  for (; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (!pb_op_is(op, "memref.collapse_shape") && !pb_op_is(op, "memref.expand_shape")) continue;
    MlirValue result = mlirOperationGetResult(op, 0);
    mlirValueReplaceAllUsesOfWith(result, cast(op, mlirOperationGetOperand(op, 0), mlirValueGetType(result)));
    mlirOperationDestroy(op);
  }
}

void pb_threads_flatten(MlirModule module) {
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    if (!mlirBlockIsNull(body)) flatten(body);
  }
}

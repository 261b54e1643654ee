#include "targets/emit/llvm/flat.h"

#include "core/s3/kernels.h"
#include "targets/emit/llvm/operation.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

static MlirNamedAttribute numbers(MlirContext context, const char* name, int64_t number) {
  return pb_named(context, name, mlirDenseI64ArrayGet(context, 1, &number));
}

// The memref's memory from its first element, in steps of one. Shapes that are collapsed want a pass over all of the IR
// (expand-strided-metadata), in which a third of the time of the conversion went; this operation does not.
static MlirValue cast(MlirOperation before, MlirValue memref, MlirType type) {
  MlirContext context = mlirTypeGetContext(type);
  const int32_t operands[] = {1, 0, 0, 0}; // the memref; offset, size and stride are attributes
  return pb_operation_make(
      before, &(pb_operation){
                  .name = "memref.reinterpret_cast",
                  .type = type,
                  .operands = {memref},
                  .operand_count = 1,
                  .attributes = {pb_named(context, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 4, operands)),
                                 numbers(context, "static_offsets", 0),
                                 numbers(context, "static_sizes", mlirShapedTypeGetDimSize(type, 0)),
                                 numbers(context, "static_strides", 1)},
                  .attribute_count = 4});
}

static void flatten(void* unused, MlirBlock body) {
  (void)unused;
  MlirOperation next, op = mlirBlockGetFirstOperation(body);
  for (; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (!pb_op_is(op, "memref.collapse_shape") && !pb_op_is(op, "memref.expand_shape")) continue;
    MlirValue result = mlirOperationGetResult(op, 0);
    mlirValueReplaceAllUsesOfWith(result, cast(op, mlirOperationGetOperand(op, 0), mlirValueGetType(result)));
    mlirOperationDestroy(op);
  }
}

void pb_llvm_flatten(MlirModule module) { pb_each_body(module, flatten, NULL); }

#include "targets/emit/llvm/kernels.h"

#include "core/s3/kernels.h"
#include "targets/emit/llvm/intrinsic.h"

bool pb_llvm_is_kernel(MlirOperation func) { return !mlirAttributeIsNull(pb_op_attribute(func, "pb.kernel")); }
bool pb_llvm_is_shared(MlirOperation kernel) { return !mlirAttributeIsNull(pb_op_attribute(kernel, "pb.shared")); }

// Puts the functions of a text into the module. The text is the compiler's own.
static bool add_functions(MlirModule module, const pb_text* text) {
  MlirModule more = mlirModuleCreateParse(mlirModuleGetContext(module), mlirStringRefCreate(text->data, text->length));
  if (mlirModuleIsNull(more)) return false;
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(more));
  while (!mlirOperationIsNull(op)) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    mlirBlockInsertOwnedOperation(mlirModuleGetBody(module), 0, op);
    op = next;
  }
  mlirModuleDestroy(more);
  return true;
}

bool pb_llvm_copy(const pb_chip* chip, MlirModule module, int group, int groups,
                  void (*visit)(void* user, int number, MlirOperation kernel), void* user, MlirModule* copy) {
  pb_text instructions = {0};
  int number = 0;
  *copy = mlirModuleCreateEmpty(mlirLocationUnknownGet(mlirModuleGetContext(module)));
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    const pb_insn* insn = pb_intrinsic_of(chip, op);
    if (insn) pb_intrinsic_print(chip, insn, op, &instructions);
    if (!pb_llvm_is_kernel(op)) continue;
    int k = number++;
    if (k % groups != group) continue;
    mlirBlockAppendOwnedOperation(mlirModuleGetBody(*copy), mlirOperationClone(op));
    if (visit) visit(user, k, op);
  }
  pb_text_add(&instructions, "func.func private @pb_partition(index) -> (index, index)\n");
  bool good = add_functions(*copy, &instructions);
  pb_text_free(&instructions);
  return good;
}

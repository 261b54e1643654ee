#include "targets/emit/llvm/kernels.h"

#include "core/poly/nest.h"
#include "core/s3/kernels.h"
#include "core/s3/lower/core_moves.h"
#include "targets/emit/llvm/beside.h"
#include "targets/emit/llvm/intrinsic.h"

#include <mlir-c/BuiltinAttributes.h>

bool pb_llvm_is_kernel(MlirOperation func) { return !mlirAttributeIsNull(pb_op_attribute(func, "pb.kernel")); }
bool pb_llvm_is_shared(MlirOperation kernel) { return !mlirAttributeIsNull(pb_op_attribute(kernel, "pb.shared")); }

bool pb_llvm_add(MlirModule module, MlirStringRef text) {
  MlirModule more = mlirModuleCreateParse(mlirModuleGetContext(module), text);
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

static const char* callee_of(MlirOperation call, pb_arena* arena) {
  MlirStringRef s = mlirFlatSymbolRefAttrGetValue(pb_op_attribute(call, "callee"));
  return pb_printf(arena, "%.*s", (int)s.length, s.data);
}

// Small tensors of a kernel's own lie on the stack, where LLVM makes registers of them: what a loop calls asks for no
// memory in each turn.
static void put_on_stack(MlirOperation func) {
  enum { MOST_BYTES = 256 };
  MlirOperation next, op = mlirBlockGetFirstOperation(pb_op_body(func));
  for (; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    pb_access shape;
    if (!pb_op_is(op, "memref.alloc") || !pb_access_of_value(mlirOperationGetResult(op, 0), &shape)) continue;
    if (pb_access_elements(&shape) * ((pb_type_bits(shape.type) + 7) / 8) > MOST_BYTES) continue;
    MlirValue made = mlirOperationGetResult(op, 0);
    MlirType type = mlirValueGetType(made);
    MlirOperationState state =
        mlirOperationStateGet(mlirStringRefCreateFromCString("memref.alloca"), mlirOperationGetLocation(op));
    mlirOperationStateAddResults(&state, 1, &type);
    for (intptr_t k = 0; k < mlirOperationGetNumAttributes(op); ++k) {
      MlirNamedAttribute attribute = mlirOperationGetAttribute(op, k);
      mlirOperationStateAddAttributes(&state, 1, &attribute);
    }
    MlirOperation stack = mlirOperationCreate(&state);
    mlirBlockInsertOwnedOperationBefore(pb_op_body(func), op, stack);
    for (MlirOpOperand use = mlirValueGetFirstUse(made), behind; !mlirOpOperandIsNull(use); use = behind) {
      MlirOperation user = mlirOpOperandGetOwner(use);
      behind = mlirOpOperandGetNextUse(use);
      if (!pb_op_is(user, "memref.dealloc")) continue;
      if (mlirOperationEqual(user, next)) next = mlirOperationGetNextInBlock(next);
      mlirOperationDestroy(user);
    }
    mlirValueReplaceAllUsesOfWith(made, mlirOperationGetResult(stack, 0));
    mlirOperationDestroy(op);
  }
}

// Plain loops are LLVM's to vectorise: it must know that what they read at places that they look up is none of what
// they write. Each tensor is one argument, and what lives at the same time does not lie in the same place; where an
// output has an input's place it is the host alone that writes to it. Nests beside each other are one loop.
static void prepare_plain(const pb_chip* chip, MlirOperation func) {
  if (chip->control != PB_CONTROL_THREADS || mlirAttributeIsNull(pb_op_attribute(func, "pb.scalar"))) return;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  for (intptr_t k = 0; k < mlirBlockGetNumArguments(body); ++k)
    pb_argument_set_attribute(func, k, "llvm.noalias", mlirUnitAttrGet(mlirOperationGetContext(func)));
  put_on_stack(func);
  pb_llvm_join_beside(func);
}

// What is copied, from where to where.
typedef struct copying {
  const pb_chip* chip;
  MlirModule from, to;
  MlirStringRef internal; // linkage
  pb_arena arena;
} copying;

static void copy_called(copying* c, MlirOperation func, const char* caller, bool by_shares);

// What the kernel `caller` calls becomes a function of its own, which has the caller's name behind its own: one
// thread's, whose body LLVM puts in its place; `by_shares`: of the share that it is called with (partition.c).
static void copy_callee(copying* c, MlirOperation op, const char* caller, bool by_shares) {
  MlirContext context = mlirModuleGetContext(c->to);
  const char* name = callee_of(op, &c->arena);
  MlirOperation callee = pb_module_func(c->from, name);
  bool inside = !mlirOperationIsNull(callee) && !mlirAttributeIsNull(pb_op_attribute(callee, "pb.inside"));
  if (mlirOperationIsNull(callee) || (!inside && !pb_llvm_is_kernel(callee))) return; // an instruction
  const char* own = pb_printf(&c->arena, "%s.in.%s", name, caller);
  MlirStringRef text = mlirStringRefCreateFromCString(own);
  pb_op_set_attribute(op, "callee", mlirFlatSymbolRefAttrGet(context, text));
  if (!mlirOperationIsNull(pb_module_func(c->to, own))) return;
  MlirOperation copy = mlirOperationClone(callee);
  MlirAttribute inlined = mlirStringAttrGet(context, mlirStringRefCreateFromCString("alwaysinline"));
  pb_op_set_attribute(copy, "sym_name", mlirStringAttrGet(context, text));
  pb_op_set_attribute(copy, "llvm.linkage", mlirAttributeParseGet(context, c->internal));
  if (!by_shares) {
    pb_op_set_attribute(copy, "passthrough", mlirArrayAttrGet(context, 1, &inlined));
    pb_op_set_attribute(copy, "pb.alone", mlirUnitAttrGet(context));
    mlirOperationRemoveAttributeByName(copy, mlirStringRefCreateFromCString("pb.shared"));
  }
  prepare_plain(c->chip, copy);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(c->to), copy);
  if (!by_shares) copy_called(c, copy, caller, false);
}

static void copy_called(copying* c, MlirOperation func, const char* caller, bool by_shares) {
  for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0)); !mlirBlockIsNull(block);
       block = mlirBlockGetNextInRegion(block))
    PB_FOR_OPS (op, block) {
      if (pb_op_is(op, "func.call")) copy_callee(c, op, caller, by_shares);
      if (by_shares && pb_op_is(op, "affine.for")) copy_called(c, op, caller, by_shares);
    }
}

static void copy_kernel(copying* c, MlirOperation kernel) {
  MlirOperation copy = mlirOperationClone(kernel);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(c->to), copy);
  prepare_plain(c->chip, copy);
  if (!mlirAttributeIsNull(pb_op_attribute(kernel, "pb.turns")))
    copy_called(c, copy, pb_func_name(kernel, &c->arena),
                !mlirAttributeIsNull(pb_op_attribute(kernel, "pb.by_shares")));
}

bool pb_llvm_copy(const pb_chip* chip, MlirModule module, int group, int groups,
                  void (*visit)(void* user, int number, MlirOperation kernel), void* user, MlirModule* copy) {
  pb_text instructions = {0};
  int number = 0;
  *copy = mlirModuleCreateEmpty(mlirLocationUnknownGet(mlirModuleGetContext(module)));
  copying c = {.chip = chip, .from = module, .to = *copy};
  c.internal = mlirStringRefCreateFromCString("#llvm.linkage<internal>");
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    const pb_insn* insn = pb_intrinsic_of(chip, op);
    if (insn) pb_intrinsic_print(chip, insn, op, &instructions);
    if (!pb_llvm_is_kernel(op)) continue;
    int k = number++;
    if (k % groups != group) continue;
    copy_kernel(&c, op);
    if (visit) visit(user, k, op);
  }
  pb_text_add(&instructions, "func.func private @pb_partition(index) -> (index, index)\n");
  if (chip->core_mover_count) pb_text_add(&instructions, "%s", pb_core_move_declarations);
  bool good = pb_llvm_add(*copy, mlirStringRefCreate(instructions.data, instructions.length));
  pb_text_free(&instructions);
  pb_arena_free(&c.arena);
  return good;
}

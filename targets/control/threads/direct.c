#include "targets/control/threads/direct.h"

#include "core/s3/kernels.h"
#include "targets/control/threads/operation.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

// Operands, result and meaning are the same.
static const struct {
  const char *from, *to;
} names[] = {
    {"vector.bitcast", "llvm.bitcast"},
    {"arith.addf", "llvm.fadd"},
    {"arith.subf", "llvm.fsub"},
    {"arith.mulf", "llvm.fmul"},
    {"arith.divf", "llvm.fdiv"},
    {"arith.addi", "llvm.add"},
    {"arith.subi", "llvm.sub"},
    {"arith.muli", "llvm.mul"},
    {"arith.andi", "llvm.and"},
    {"arith.ori", "llvm.or"},
    {"arith.xori", "llvm.xor"},
    {"arith.extsi", "llvm.sext"},
    {"arith.trunci", "llvm.trunc"},
    {"arith.sitofp", "llvm.sitofp"},
    {"arith.fptosi", "llvm.fptosi"},
    {"arith.bitcast", "llvm.bitcast"},
    {"arith.select", "llvm.select"},
    {"arith.maxsi", "llvm.intr.smax"},
    {"arith.minsi", "llvm.intr.smin"},
    {"arith.maxnumf", "llvm.intr.maxnum"},
    {"arith.minnumf", "llvm.intr.minnum"},
    {"math.roundeven", "llvm.intr.roundeven"},
    {"math.fma", "llvm.intr.fma"},
};

static const char* name_in_llvm(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
    if (name.length == strlen(names[k].from) && !memcmp(name.data, names[k].from, name.length)) return names[k].to;
  return NULL;
}

static MlirValue number(MlirOperation before, int64_t value) {
  MlirContext context = mlirOperationGetContext(before);
  MlirType wide = mlirIntegerTypeGet(context, 64);
  return pb_operation_make(before,
                           &(pb_operation){.name = "llvm.mlir.constant",
                                           .type = wide,
                                           .attributes = {pb_named(context, "value", mlirIntegerAttrGet(wide, value))},
                                           .attribute_count = 1});
}

// What makes the value, if it is of that name and nobody else takes it; null: it is not.
static MlirOperation only_maker(MlirValue value, const char* name) {
  MlirOperation none = {NULL}, op = mlirValueIsAOpResult(value) ? mlirOpResultGetOwner(value) : none;
  MlirOpOperand use = mlirValueGetFirstUse(value);
  bool is = !mlirOperationIsNull(op) && pb_op_is(op, name) && !mlirOpOperandIsNull(use) &&
            mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
  return is ? op : none;
}

// A few codes that are taken for one number of all their bits are loaded as that: processors have no registers of so
// few codes, and LLVM takes long to see that it needs none.
static MlirValue load_number(MlirOperation op, MlirType type) {
  MlirValue none = {NULL};
  MlirOperation cast = only_maker(mlirOperationGetOperand(op, 0), "llvm.bitcast");
  if (mlirOperationIsNull(cast)) return none;
  MlirOperation load = only_maker(mlirOperationGetOperand(cast, 0), "llvm.load");
  if (mlirOperationIsNull(load)) return none;
  MlirAttribute align = pb_op_attribute(load, "alignment");
  return pb_operation_make(load,
                           &(pb_operation){.name = "llvm.load",
                                           .type = type,
                                           .operands = {mlirOperationGetOperand(load, 0)},
                                           .operand_count = 1,
                                           .attributes = {pb_named(mlirOperationGetContext(op), "alignment", align)},
                                           .attribute_count = 1});
}

// The only element of a row.
static MlirValue extract(MlirOperation op, MlirType type) {
  MlirValue row = mlirOperationGetOperand(op, 0);
  if (mlirOperationGetNumOperands(op) != 1 || mlirTypeIsAVector(type) ||
      mlirShapedTypeGetRank(mlirValueGetType(row)) != 1 || mlirShapedTypeGetDimSize(mlirValueGetType(row), 0) != 1)
    return (MlirValue){NULL};
  return pb_operation_make(
      op, &(pb_operation){
              .name = "llvm.extractelement", .type = type, .operands = {row, number(op, 0)}, .operand_count = 2});
}

// A number in all elements of a row: LLVM knows it by an insertion and a shuffle that takes element 0 alone.
static MlirValue broadcast(MlirOperation op, MlirType type) {
  enum { MOST = 64 };
  MlirContext context = mlirOperationGetContext(op);
  MlirValue from = mlirOperationGetOperand(op, 0);
  int32_t zeros[MOST] = {0};
  int64_t n = mlirShapedTypeGetDimSize(type, 0);
  if (mlirTypeIsAVector(mlirValueGetType(from)) || n > MOST) return (MlirValue){NULL};
  MlirValue poison = pb_operation_make(op, &(pb_operation){.name = "llvm.mlir.poison", .type = type});
  MlirValue first = pb_operation_make(op, &(pb_operation){.name = "llvm.insertelement",
                                                          .type = type,
                                                          .operands = {poison, from, number(op, 0)},
                                                          .operand_count = 3});
  MlirAttribute mask = mlirDenseI32ArrayGet(context, (intptr_t)n, zeros);
  MlirValue loaded = load_number(op, type);
  if (!mlirValueIsNull(loaded)) return loaded;
  return pb_operation_make(op, &(pb_operation){.name = "llvm.shufflevector",
                                               .type = type,
                                               .operands = {first, poison},
                                               .operand_count = 2,
                                               .attributes = {pb_named(context, "mask", mask)},
                                               .attribute_count = 1});
}

// Both dialects count predicates alike.
static MlirValue compare(MlirOperation op, const char* name, MlirType type) {
  MlirContext context = mlirOperationGetContext(op);
  MlirAttribute predicate = pb_op_attribute(op, "predicate");
  return pb_operation_make(op,
                           &(pb_operation){.name = name,
                                           .type = type,
                                           .operands = {mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1)},
                                           .operand_count = 2,
                                           .attributes = {pb_named(context, "predicate", predicate)},
                                           .attribute_count = 1});
}

// Whether the dialect has the types of all that the operation takes and makes.
static bool has_types(MlirOperation op) {
  intptr_t operands = mlirOperationGetNumOperands(op);
  bool has = mlirOperationGetNumResults(op) == 1 && operands > 0 && operands <= PB_OPERATION_MOST &&
             pb_llvm_has(mlirValueGetType(mlirOperationGetResult(op, 0)));
  for (intptr_t k = 0; has && k < operands; ++k) has = pb_llvm_has(mlirValueGetType(mlirOperationGetOperand(op, k)));
  return has;
}

static MlirValue rename_op(MlirOperation op, const char* name, MlirType type) {
  pb_operation made = {.name = name, .type = type, .operand_count = (int)mlirOperationGetNumOperands(op)};
  for (int k = 0; k < made.operand_count; ++k) made.operands[k] = mlirOperationGetOperand(op, k);
  return pb_operation_make(op, &made);
}

static void rewrite(MlirOperation op) {
  if (mlirOperationGetNumResults(op) != 1) return;
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirValue made = {NULL};
  const char* name = name_in_llvm(op);
  if (!has_types(op)) return;
  if (name)
    made = rename_op(op, name, type);
  else if (pb_op_is(op, "arith.cmpf"))
    made = compare(op, "llvm.fcmp", type);
  else if (pb_op_is(op, "vector.extract"))
    made = extract(op, type);
  else if (pb_op_is(op, "vector.broadcast"))
    made = broadcast(op, type);
  if (mlirValueIsNull(made)) return;
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), made);
  mlirOperationDestroy(op);
}

static void rewrite_block(MlirBlock block) {
  MlirOperation next, op = mlirBlockGetFirstOperation(block);
  for (; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    intptr_t regions = mlirOperationGetNumRegions(op);
    if (!regions) rewrite(op);
    for (intptr_t r = 0; r < regions; ++r)
      for (MlirBlock inner = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(inner);
           inner = mlirBlockGetNextInRegion(inner))
        rewrite_block(inner);
  }
}

void pb_threads_rename(MlirModule module) {
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    if (!mlirBlockIsNull(body)) rewrite_block(body);
  }
}

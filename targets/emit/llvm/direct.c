#include "targets/emit/llvm/direct.h"

#include "core/s3/kernels.h"
#include "targets/emit/llvm/operation.h"

#include <math.h>
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
  MlirType wide = mlirIntegerTypeGet(mlirOperationGetContext(before), 64);
  return pb_operation_integer(before, "llvm.mlir.constant", wide, value);
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

// The only operation of the name that makes what an operation takes first, for that alone.
static MlirOperation maker(MlirOperation op, const char* name) {
  MlirOperation none = {NULL};
  MlirValue from = mlirOperationGetOperand(op, 0);
  if (!mlirValueIsAOpResult(from) || !pb_is_used_once(from)) return none;
  return pb_op_is(mlirOpResultGetOwner(from), name) ? mlirOpResultGetOwner(from) : none;
}

// A few small numbers that are loaded to be one large one, as groups that all lanes take are, are loaded as that.
static bool load_as_one(MlirOperation op, MlirType type) {
  MlirOperation cast = {NULL}, load = {NULL};
  if (!mlirTypeIsAVector(type) && mlirOperationGetNumOperands(op) == 1) cast = maker(op, "llvm.bitcast");
  if (!mlirOperationIsNull(cast)) load = maker(cast, "llvm.load");
  if (mlirOperationIsNull(load) || mlirShapedTypeGetDimSize(mlirValueGetType(mlirOperationGetOperand(op, 0)), 0) != 1)
    return false;
  MlirAttribute align = pb_op_attribute(load, "alignment");
  pb_operation all = {.name = "llvm.load",
                      .type = type,
                      .operands = {mlirOperationGetOperand(load, 0)},
                      .operand_count = 1,
                      .attributes = {pb_named(mlirOperationGetContext(op), "alignment", align)},
                      .attribute_count = 1};
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), pb_operation_make(load, &all));
  mlirOperationDestroy(op);
  mlirOperationDestroy(cast);
  mlirOperationDestroy(load);
  return true;
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
  return pb_operation_make(op, &(pb_operation){.name = "llvm.shufflevector",
                                               .type = type,
                                               .operands = {first, poison},
                                               .operand_count = 2,
                                               .attributes = {pb_named(context, "mask", mask)},
                                               .attribute_count = 1});
}

// Both dialects count predicates alike.
static MlirValue compare(MlirOperation op, MlirType type, MlirAttribute predicate, MlirValue a, MlirValue b) {
  MlirNamedAttribute order = pb_named(mlirOperationGetContext(op), "predicate", predicate);
  return pb_operation_make(op, &(pb_operation){.name = "llvm.fcmp",
                                               .type = type,
                                               .operands = {a, b},
                                               .operand_count = 2,
                                               .attributes = {order},
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

static MlirValue choose(MlirOperation op, MlirType type, MlirValue which, MlirValue a, MlirValue b) {
  return pb_operation_make(
      op, &(pb_operation){.name = "llvm.select", .type = type, .operands = {which, a, b}, .operand_count = 3});
}

// The larger of two numbers (or the smaller), a number rather than NaN:
//
//   b is NaN ? a : a > b ? a : b
//
// LLVM 22 vectorises loops that carry llvm.maxnum or llvm.minnum wrongly: of a number of turns that is known, small and
// no multiple of its lanes it leaves the last ones out, and of several in one loop it forgets which met NaN. A
// loop that carries comparisons it leaves alone. Rows of numbers are no concern of its vectoriser.
static MlirValue largest(MlirOperation op, MlirType type, bool smallest) {
  enum { GREATER = 2, LESS = 4, UNORDERED = 14 }; // predicates
  MlirContext context = mlirOperationGetContext(op);
  MlirType truth = mlirIntegerTypeGet(context, 1), wide = mlirIntegerTypeGet(context, 64);
  MlirAttribute order = mlirIntegerAttrGet(wide, smallest ? LESS : GREATER),
                unordered = mlirIntegerAttrGet(wide, UNORDERED);
  MlirValue a = mlirOperationGetOperand(op, 0), b = mlirOperationGetOperand(op, 1);
  MlirValue first = choose(op, type, compare(op, truth, order, a, b), a, b);
  return choose(op, type, compare(op, truth, unordered, b, b), a, first);
}

// -infinity, in each lane, from which a maximum begins.
static bool is_least(MlirValue from) {
  if (!mlirValueIsAOpResult(from) || !pb_op_is(mlirOpResultGetOwner(from), "arith.constant")) return false;
  MlirAttribute value = pb_op_attribute(mlirOpResultGetOwner(from), "value");
  if (mlirAttributeIsAFloat(value)) return mlirFloatAttrGetValueDouble(value) == -INFINITY;
  return mlirAttributeIsADenseElements(value) && mlirDenseElementsAttrIsSplat(value) &&
         mlirDenseElementsAttrGetFloatSplatValue(value) == -INFINITY;
}

static const char so_far[] = "largest_so_far"; // a mark on what is made of a maximum

static bool is_maximum(MlirOperation op) { return pb_op_is(op, "arith.maximumf"); }

// Whether it is the largest so far: a loop carries it, there is none yet, or it is made of such below.
static bool is_largest_so_far(MlirValue value) {
  while (mlirValueIsAOpResult(value) && is_maximum(mlirOpResultGetOwner(value)))
    value = mlirOperationGetOperand(mlirOpResultGetOwner(value), 0);
  return mlirValueIsABlockArgument(value) || is_least(value) ||
         !mlirAttributeIsNull(pb_op_attribute(mlirOpResultGetOwner(value), so_far));
}

// The maximum that alone takes this one, as the largest so far.
static bool goes_on(MlirOperation op) {
  MlirValue result = mlirOperationGetResult(op, 0);
  if (!pb_is_used_once(result)) return false;
  MlirOperation next = mlirOpOperandGetOwner(mlirValueGetFirstUse(result));
  return is_maximum(next) && mlirBlockEqual(mlirOperationGetBlock(next), mlirOperationGetBlock(op)) &&
         mlirValueEqual(mlirOperationGetOperand(next, 0), result);
}

// As many elements of the type; what has_types lets through has one dim.
static MlirType like(MlirType type, MlirType element) {
  if (!mlirTypeIsAVector(type)) return element;
  int64_t lanes = mlirShapedTypeGetDimSize(type, 0);
  return mlirVectorTypeGet(1, &lanes, element);
}

static MlirValue ordered(MlirOperation op, int64_t predicate, MlirValue a, MlirValue b) {
  MlirContext context = mlirOperationGetContext(op);
  MlirType truths = like(mlirValueGetType(a), mlirIntegerTypeGet(context, 1));
  return compare(op, truths, mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), predicate), a, b);
}

// NaN whose bits are all set, which LLVM puts in by one `or`.
static MlirValue all_nan(MlirOperation op, MlirType type) {
  MlirContext context = mlirOperationGetContext(op);
  MlirType word = mlirIntegerTypeGet(context, 32), words = like(type, word);
  MlirAttribute ones =
      mlirTypeIsAVector(type) ? mlirDenseElementsAttrInt32SplatGet(words, -1) : mlirIntegerAttrGet(word, -1);
  MlirValue bits = pb_operation_make(op, &(pb_operation){.name = "llvm.mlir.constant",
                                                         .type = words,
                                                         .attributes = {pb_named(context, "value", ones)},
                                                         .attribute_count = 1});
  return pb_operation_make(
      op, &(pb_operation){.name = "llvm.bitcast", .type = type, .operands = {bits}, .operand_count = 1});
}

static MlirValue larger(MlirOperation op, MlirType type, MlirValue a, MlirValue term) {
  enum { GREATER = 2 }; // predicate
  return is_least(a) ? term : choose(op, type, ordered(op, GREATER, term, a), term, a);
}

// The largest f32 so far, or rows of such, where NaN wins. Which of two zeros stays nobody promises of a reduction, so
// of a, which is the largest so far, and of two more terms
//
//   most = b > a ? b : a, c > most ? c : most, but NaN where b or c is
//
// does: NaN in a stays, for nothing is larger. These are two instructions a term, where llvm.maximum takes six. A term
// that is left over: a is NaN ? a : a > b ? a : b, which masks make two as well. What the next term takes over is left
// until then, and is dead then.
static bool take_largest(MlirOperation op, MlirType type, MlirValue* made) {
  enum { GREATER = 2, ORDERED = 7, UNORDERED = 14 }; // predicates
  MlirValue a = mlirOperationGetOperand(op, 0), c = mlirOperationGetOperand(op, 1);
  MlirType element = mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type;
  if (!mlirTypeIsAF32(element) || !is_largest_so_far(a)) return false;
  MlirOperation before = mlirValueIsAOpResult(a) ? mlirOpResultGetOwner(a) : (MlirOperation){NULL};
  if (!mlirOperationIsNull(before) && is_maximum(before)) {
    MlirValue b = mlirOperationGetOperand(before, 1);
    MlirValue most = larger(op, type, larger(op, type, mlirOperationGetOperand(before, 0), b), c);
    *made = choose(op, type, ordered(op, UNORDERED, b, c), all_nan(op, type), most);
  } else if (!goes_on(op)) {
    MlirValue most = choose(op, type, ordered(op, GREATER, a, c), a, c);
    *made = choose(op, type, ordered(op, ORDERED, a, a), most, a);
  }
  if (!mlirValueIsNull(*made))
    mlirOperationSetAttributeByName(mlirOpResultGetOwner(*made), mlirStringRefCreateFromCString(so_far),
                                    mlirUnitAttrGet(mlirOperationGetContext(op)));
  return true;
}

static void rewrite(void* unused, MlirOperation op) {
  (void)unused;
  if (mlirOperationGetNumResults(op) != 1) return;
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirValue made = {NULL};
  const char* name = name_in_llvm(op);
  if (!has_types(op)) return;
  if (pb_op_is(op, "vector.extract") && load_as_one(op, type)) return;
  if ((pb_op_is(op, "arith.maxnumf") || pb_op_is(op, "arith.minnumf")) && !mlirTypeIsAVector(type))
    made = largest(op, type, pb_op_is(op, "arith.minnumf"));
  else if (is_maximum(op) && take_largest(op, type, &made))
    ;
  else if (name)
    made = rename_op(op, name, type);
  else if (pb_op_is(op, "arith.cmpf"))
    made = compare(op, type, pb_op_attribute(op, "predicate"), mlirOperationGetOperand(op, 0),
                   mlirOperationGetOperand(op, 1));
  else if (pb_op_is(op, "vector.extract"))
    made = extract(op, type);
  else if (pb_op_is(op, "vector.broadcast"))
    made = broadcast(op, type);
  if (mlirValueIsNull(made)) return;
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), made);
  mlirOperationDestroy(op);
}

static void rewrite_body(void* unused, MlirBlock body) { pb_each_operation(body, rewrite, unused); }

void pb_llvm_rename(MlirModule module) { pb_each_body(module, rewrite_body, NULL); }

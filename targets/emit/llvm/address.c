#include "targets/emit/llvm/address.h"

#include "core/s3/kernels.h"
#include "targets/emit/llvm/indices.h"
#include "targets/emit/llvm/operation.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// An unrolled tile has a hundred accesses of a tensor, whose indices differ in a constant. Each said as an affine
// expression of its own becomes a dozen operations, nearly all of which the next passes find to be equal.

enum { MAX_RANK = 16 };

// The tensor's address with terms added, for use in the loop (null: in none).
typedef struct base {
  MlirOperation loop;
  MlirValue tensor, pointer;
  pb_terms sum;
} base;

typedef struct addresses {
  MlirContext context;
  base* bases;
  size_t count, capacity;
} addresses;

// ---- what an access's index is ----

// The map's rows times the tensor's strides; false: not linear, or the tensor is no plain one.
static bool read_index(MlirOperation op, int tensor_at, pb_terms* sum) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, tensor_at));
  MlirAttribute map_attribute = pb_op_attribute(op, "map");
  int64_t strides[MAX_RANK], offset, rank = mlirShapedTypeGetRank(type);
  if (mlirAttributeIsNull(map_attribute) || rank > MAX_RANK || !mlirShapedTypeHasStaticShape(type) ||
      !mlirAttributeIsNull(mlirMemRefTypeGetMemorySpace(type)) ||
      mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)) || offset)
    return false;
  *sum = (pb_terms){.count = 0};
  for (int r = 0; r < rank; ++r)
    if (!pb_add_index(op, tensor_at, r, strides[r], sum)) return false;
  return true;
}

// ---- where sums stand ----

static bool is_loop(MlirOperation op) { return !pb_op_is(op, "affine.if") && !pb_op_is(op, "scf.if"); }

// The innermost loop around an operation; null: none.
static MlirOperation loop_around(MlirOperation op) {
  for (MlirOperation at = mlirOperationGetParentOperation(op); !mlirOperationIsNull(at) && !pb_op_is(at, "func.func");
       at = mlirOperationGetParentOperation(at))
    if (is_loop(at)) return at;
  return (MlirOperation){NULL};
}

static MlirBlock block_of(MlirValue value) {
  return mlirValueIsABlockArgument(value) ? mlirBlockArgumentGetOwner(value)
                                          : mlirOperationGetBlock(mlirOpResultGetOwner(value));
}

static bool is_inside(MlirValue value, MlirOperation loop) {
  if (mlirOperationIsNull(loop)) return true;
  for (MlirOperation at = mlirBlockGetParentOperation(block_of(value)); !mlirOperationIsNull(at);
       at = mlirOperationGetParentOperation(at))
    if (mlirOperationEqual(at, loop)) return true;
  return false;
}

static int depth_of(MlirBlock block) {
  int depth = 0;
  for (MlirOperation at = mlirBlockGetParentOperation(block); !mlirOperationIsNull(at);
       at = mlirOperationGetParentOperation(at))
    ++depth;
  return depth;
}

// Of two values that both dominate one place: whether the second is there later.
static bool is_later(MlirValue a, MlirValue b) {
  MlirBlock of_a = block_of(a), of_b = block_of(b);
  if (!mlirBlockEqual(of_a, of_b)) return depth_of(of_b) > depth_of(of_a);
  if (mlirValueIsABlockArgument(b)) return false;
  return mlirValueIsABlockArgument(a) || mlirOperationIsBeforeInBlock(mlirOpResultGetOwner(a), mlirOpResultGetOwner(b));
}

static MlirOperation behind(MlirValue value) {
  return mlirValueIsABlockArgument(value) ? mlirBlockGetFirstOperation(mlirBlockArgumentGetOwner(value))
                                          : mlirOperationGetNextInBlock(mlirOpResultGetOwner(value));
}

// ---- pointers ----

static MlirType pointer_type(const addresses* a) { return mlirLLVMPointerTypeGet(a->context, 0); }

static MlirType wide(const addresses* a) { return mlirIntegerTypeGet(a->context, 64); }

// The struct that the conversion makes of a tensor, of which the second member is the pointer to its elements.
static MlirType described(const addresses* a, int64_t rank) {
  MlirType row = mlirLLVMArrayTypeGet(wide(a), (unsigned)rank);
  MlirType members[] = {pointer_type(a), pointer_type(a), wide(a), row, row};
  return mlirLLVMStructTypeLiteralGet(a->context, rank ? 5 : 3, members, false);
}

static MlirValue start_of(const addresses* a, MlirValue tensor) {
  MlirOperation before = behind(tensor);
  MlirType type = described(a, mlirShapedTypeGetRank(mlirValueGetType(tensor)));
  MlirValue whole = pb_operation_make(before, &(pb_operation){.name = "builtin.unrealized_conversion_cast",
                                                              .type = type,
                                                              .operands = {tensor},
                                                              .operand_count = 1});
  int64_t second = 1;
  return pb_operation_make(
      before,
      &(pb_operation){.name = "llvm.extractvalue",
                      .type = pointer_type(a),
                      .operands = {whole},
                      .operand_count = 1,
                      .attributes = {pb_named(a->context, "position", mlirDenseI64ArrayGet(a->context, 1, &second))},
                      .attribute_count = 1});
}

static MlirValue binary(const addresses* a, MlirOperation before, const char* name, MlirValue x, MlirValue y) {
  return pb_operation_make(before,
                           &(pb_operation){.name = name, .type = wide(a), .operands = {x, y}, .operand_count = 2});
}

// A pointer so many elements further: `by` of them, or a number if that is null.
static MlirValue step(const addresses* a, MlirOperation before, MlirType element, MlirValue pointer, MlirValue by,
                      int64_t number) {
  int32_t index = mlirValueIsNull(by) ? (int32_t)number : INT32_MIN; // that means: an operand
  return pb_operation_make(before,
                           &(pb_operation){.name = "llvm.getelementptr",
                                           .type = pointer_type(a),
                                           .operands = {pointer, by},
                                           .operand_count = mlirValueIsNull(by) ? 1 : 2,
                                           .attributes = {pb_named(a->context, "elem_type", mlirTypeAttrGet(element)),
                                                          pb_named(a->context, "rawConstantIndices",
                                                                   mlirDenseI32ArrayGet(a->context, 1, &index))},
                                           .attribute_count = 2});
}

static bool same_sum(const pb_terms* a, const pb_terms* b) {
  bool same = a->count == b->count;
  for (int k = 0; same && k < a->count; ++k)
    same = mlirValueEqual(a->value[k], b->value[k]) && a->factor[k] == b->factor[k];
  return same;
}

// The tensor's start with those terms added that the loop makes, behind the last of them.
static MlirValue add_terms(const addresses* a, MlirValue pointer, MlirType element, const pb_terms* sum) {
  MlirValue last = pointer, by = {NULL};
  for (int k = 0; k < sum->count; ++k)
    if (is_later(last, sum->value[k])) last = sum->value[k];
  MlirOperation before = behind(last);
  for (int k = 0; k < sum->count; ++k) {
    MlirValue index = pb_operation_make(
        before,
        &(pb_operation){.name = "arith.index_cast", .type = wide(a), .operands = {sum->value[k]}, .operand_count = 1});
    if (sum->factor[k] != 1)
      index = binary(a, before, "llvm.mul", index,
                     pb_operation_integer(before, "llvm.mlir.constant", wide(a), sum->factor[k]));
    by = mlirValueIsNull(by) ? index : binary(a, before, "llvm.add", by, index);
  }
  return mlirValueIsNull(by) ? pointer : step(a, before, element, pointer, by, 0);
}

// The tensor's address with the terms added, for use in the loop.
static MlirValue find_base(addresses* a, MlirOperation loop, MlirValue tensor, const pb_terms* sum) {
  enum { LOOK_BACK = 64 }; // of a body without like accesses, all are not compared with all
  for (size_t k = a->count; k-- > 0 && a->count - k <= LOOK_BACK;) {
    const base* b = &a->bases[k];
    if (b->loop.ptr == loop.ptr && mlirValueEqual(b->tensor, tensor) && same_sum(&b->sum, sum)) return b->pointer;
  }
  pb_terms here = {.count = 0}, outside = {.count = 0};
  for (int k = 0; k < sum->count; ++k)
    (void)pb_add_term(is_inside(sum->value[k], loop) ? &here : &outside, sum->value[k], sum->factor[k]);
  bool local = is_inside(tensor, loop);
  MlirValue pointer = local ? start_of(a, tensor) : find_base(a, loop_around(loop), tensor, &outside);
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(tensor));
  pointer = add_terms(a, pointer, element, local ? sum : &here);
  base made = {.loop = loop, .tensor = tensor, .pointer = pointer, .sum = *sum};
  PB_PUSH(a->bases, a->count, a->capacity, made);
  return pointer;
}

// ---- accesses ----

static int64_t bytes_of(MlirType element) {
  int bits = mlirTypeIsAInteger(element) ? (int)mlirIntegerTypeGetWidth(element) : (int)mlirFloatTypeGetWidth(element);
  return bits % 8 || bits & (bits - 1) ? 0 : bits / 8;
}

// Of a tensor that another is the one-dim form of, that one: their elements have the same numbers.
static MlirValue source_of(MlirValue tensor) {
  while (mlirValueIsAOpResult(tensor) && pb_op_is(mlirOpResultGetOwner(tensor), "memref.collapse_shape"))
    tensor = mlirOperationGetOperand(mlirOpResultGetOwner(tensor), 0);
  return tensor;
}

// Into the second cache: what is there when it is wanted need not be in the first.
static void prefetch(const addresses* a, MlirOperation before, MlirValue pointer) {
  static const struct {
    const char* name;
    int value;
  } facts[] = {{"rw", 0}, {"hint", 2}, {"cache", 1}}; // read; locality, of 3; data
  pb_operation made = {.name = "llvm.intr.prefetch", .operands = {pointer}, .operand_count = 1};
  for (int k = 0; k < 3; ++k)
    made.attributes[made.attribute_count++] =
        pb_named(a->context, facts[k].name, mlirIntegerAttrGet(mlirIntegerTypeGet(a->context, 32), facts[k].value));
  (void)pb_operation_make(before, &made);
}

// The access becomes a load or store by a pointer, if it is of the form that read_index takes; else it stays.
static void rewrite(addresses* a, MlirOperation op, bool store) {
  int tensor_at = store ? 1 : 0;
  MlirValue tensor = mlirOperationGetOperand(op, tensor_at);
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(tensor));
  MlirType type = mlirValueGetType(store ? mlirOperationGetOperand(op, 0) : mlirOperationGetResult(op, 0));
  int64_t bytes = pb_llvm_has(element) ? bytes_of(element) : 0;
  pb_terms sum;
  if (!bytes || !pb_llvm_has(type) || !read_index(op, tensor_at, &sum)) return;
  int64_t further = pb_op_integer(op, "pb.prefetch", 0);
  if (sum.constant < 0 || sum.constant + further > INT32_MAX) return;
  MlirValue pointer = find_base(a, loop_around(op), source_of(tensor), &sum);
  if (further) prefetch(a, op, step(a, op, element, pointer, (MlirValue){NULL}, sum.constant + further));
  if (sum.constant) pointer = step(a, op, element, pointer, (MlirValue){NULL}, sum.constant);
  MlirAttribute align = mlirIntegerAttrGet(wide(a), bytes);
  pb_operation access = {.name = store ? "llvm.store" : "llvm.load",
                         .type = store ? (MlirType){NULL} : type,
                         .operands = {store ? mlirOperationGetOperand(op, 0) : pointer, pointer},
                         .operand_count = store ? 2 : 1,
                         .attributes = {pb_named(a->context, "alignment", align)},
                         .attribute_count = 1};
  MlirValue loaded = pb_operation_make(op, &access);
  if (!store) mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), loaded);
  mlirOperationDestroy(op);
}

static void rewrite_access(void* user, MlirOperation op) {
  bool store = pb_op_is(op, "affine.store") || pb_op_is(op, "affine.vector_store");
  if (store || pb_op_is(op, "affine.load") || pb_op_is(op, "affine.vector_load")) rewrite(user, op, store);
}

static void rewrite_body(void* user, MlirBlock body) {
  addresses* a = user;
  a->count = 0;
  pb_each_operation(body, rewrite_access, a);
}

void pb_llvm_address(MlirModule module) {
  addresses a = {.context = mlirModuleGetContext(module)};
  pb_each_body(module, rewrite_body, &a);
  free(a.bases);
}

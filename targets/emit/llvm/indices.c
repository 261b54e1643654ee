#include "targets/emit/llvm/indices.h"

#include "core/s3/kernels.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

enum { MOST_RANK = 16 };

int pb_tensor_at(MlirOperation access) {
  return pb_op_is(access, "affine.store") || pb_op_is(access, "affine.vector_store") ? 1 : 0;
}

MlirType pb_tensor_type_of(MlirOperation access) {
  return mlirValueGetType(mlirOperationGetOperand(access, pb_tensor_at(access)));
}

static MlirAffineMap map_of(MlirOperation access) { return mlirAffineMapAttrGetValue(pb_op_attribute(access, "map")); }

bool pb_lies_in_rows(MlirOperation access) {
  int64_t strides[MOST_RANK], offset;
  MlirType type = pb_tensor_type_of(access);
  intptr_t rank = mlirShapedTypeGetRank(type);
  return rank > 0 && rank <= MOST_RANK && !mlirAffineMapGetNumSymbols(map_of(access)) &&
         mlirAffineMapGetNumResults(map_of(access)) == rank &&
         mlirLogicalResultIsSuccess(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)) &&
         strides[rank - 1] == 1;
}

bool pb_add_term(pb_terms* sum, MlirValue value, int64_t factor) {
  int k = 0;
  while (k < sum->count && !mlirValueEqual(sum->value[k], value)) ++k;
  if (k == PB_MOST_TERMS) return false;
  if (k == sum->count) {
    sum->value[sum->count++] = value;
    sum->factor[k] = 0;
  }
  sum->factor[k] += factor;
  return true;
}

// Adds an expression times a factor. The op's operands from `first` on are the map's dims and symbols.
static bool add_expr(pb_terms* sum, MlirAffineExpr e, int64_t factor, MlirOperation op, int first, int dims) {
  if (mlirAffineExprIsAConstant(e)) {
    sum->constant += factor * mlirAffineConstantExprGetValue(e);
    return true;
  }
  if (mlirAffineExprIsADim(e))
    return pb_add_term(sum, mlirOperationGetOperand(op, first + mlirAffineDimExprGetPosition(e)), factor);
  if (mlirAffineExprIsASymbol(e))
    return pb_add_term(sum, mlirOperationGetOperand(op, first + dims + mlirAffineSymbolExprGetPosition(e)), factor);
  if (!mlirAffineExprIsAAdd(e) && !mlirAffineExprIsAMul(e)) return false;
  MlirAffineExpr a = mlirAffineBinaryOpExprGetLHS(e), b = mlirAffineBinaryOpExprGetRHS(e);
  if (mlirAffineExprIsAAdd(e))
    return add_expr(sum, a, factor, op, first, dims) && add_expr(sum, b, factor, op, first, dims);
  if (!mlirAffineExprIsAConstant(b)) return false;
  return add_expr(sum, a, factor * mlirAffineConstantExprGetValue(b), op, first, dims);
}

bool pb_add_index(MlirOperation access, int tensor_at, intptr_t r, int64_t factor, pb_terms* sum) {
  MlirAffineMap map = map_of(access);
  return add_expr(sum, mlirAffineMapGetResult(map, r), factor, access, tensor_at + 1,
                  (int)mlirAffineMapGetNumDims(map));
}

bool pb_read_index(MlirOperation access, intptr_t r, pb_terms* sum) {
  *sum = (pb_terms){.count = 0};
  return pb_add_index(access, pb_tensor_at(access), r, 1, sum);
}

int64_t pb_factor_of(const pb_terms* sum, MlirValue value) {
  for (int k = 0; k < sum->count; ++k)
    if (mlirValueEqual(sum->value[k], value)) return sum->factor[k];
  return 0;
}

static bool move_alike(const pb_terms* a, const pb_terms* b) {
  for (int k = 0; k < a->count; ++k)
    if (a->factor[k] != pb_factor_of(b, a->value[k])) return false;
  for (int k = 0; k < b->count; ++k)
    if (b->factor[k] != pb_factor_of(a, b->value[k])) return false;
  return true;
}

bool pb_are_apart(MlirOperation a, MlirOperation b, int64_t* by) {
  intptr_t rank = mlirShapedTypeGetRank(pb_tensor_type_of(a));
  *by = 0;
  if (mlirShapedTypeGetRank(pb_tensor_type_of(b)) != rank) return false;
  for (intptr_t r = 0; r < rank; ++r) {
    pb_terms of_a, of_b;
    if (!pb_read_index(a, r, &of_a) || !pb_read_index(b, r, &of_b) || !move_alike(&of_a, &of_b)) return false;
    int64_t apart = of_a.constant - of_b.constant;
    if (r + 1 < rank && apart) return false;
    *by = apart;
  }
  return true;
}

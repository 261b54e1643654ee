#include "core/s3/kernels.h"
#include "core/s3/plan/vector_plan.h"

#include <mlir-c/BuiltinAttributes.h>

static bool number(MlirAttribute plan, const char* name, int64_t* to) {
  MlirAttribute a = pb_member(plan, name);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a)) return false;
  *to = mlirIntegerAttrGetValueInt(a);
  return true;
}

bool pb_vplan_is(MlirAttribute a) {
  return !mlirAttributeIsNull(a) && mlirAttributeIsADictionary(a) &&
         !mlirAttributeIsNull(pb_member(a, "columns_inside"));
}

pb_status pb_vplan_from(MlirAttribute a, const pb_vkernel* k, pb_place place, int code, pb_diag* diag, pb_vplan* plan) {
  *plan = (pb_vplan){.bound = ""};
  const char* missing = NULL;
  if (mlirAttributeIsNull(a) || !mlirAttributeIsADictionary(a)) missing = "pb.plan";
  MlirAttribute tile = missing ? a : pb_member(a, "tile"), inside = missing ? a : pb_member(a, "columns_inside");
  int dims = k->main.nest->dim_count;
  if (!missing && (mlirAttributeIsNull(tile) || !mlirAttributeIsADenseI64Array(tile) ||
                   mlirDenseArrayGetNumElements(tile) != (dims ? dims : 1)))
    missing = "tile (one number for each dim)";
  if (!missing && !number(a, "row_chunks", &plan->row_chunks)) missing = "row_chunks";
  if (!missing && !number(a, "column_chunks", &plan->column_chunks)) missing = "column_chunks";
  if (!missing && !number(a, "sum_blocks", &plan->sum_blocks)) missing = "sum_blocks";
  if (!missing && (mlirAttributeIsNull(inside) || !mlirAttributeIsABool(inside))) missing = "columns_inside";
  if (missing) return pb_error(diag, place, code, "--emit=plan prints whole ones", "its plan has no %s", missing);
  plan->columns_inside = mlirBoolAttrGetValue(inside);
  for (int d = 0; d < PB_NEST_DIMS; ++d) plan->tile[d] = d < dims ? mlirDenseI64ArrayGetElement(tile, d) : 1;
  return PB_OK;
}

pb_status pb_vplan_read(MlirOperation func, const pb_vkernel* k, pb_diag* diag, pb_vplan* plan) {
  pb_arena scratch = {0};
  pb_status status = pb_vplan_from(pb_op_attribute(func, "pb.plan"), k,
                                   (pb_place){.what = pb_func_name(func, &scratch)}, 4011, diag, plan);
  pb_arena_free(&scratch);
  return status;
}

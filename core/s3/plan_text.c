#include "core/s3/plan.h"

#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

static const struct {
  const char* name;
  size_t offset;
} numbers[] = {{"x_level", offsetof(pb_plan, x_level)},           {"w_level", offsetof(pb_plan, w_level)},
               {"result_level", offsetof(pb_plan, result_level)}, {"x_depth", offsetof(pb_plan, x_depth)},
               {"w_depth", offsetof(pb_plan, w_depth)},           {"result_depth", offsetof(pb_plan, result_depth)}};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

void pb_plan_print(pb_text* text, const pb_plan* plan) {
  pb_text_add(text, "{bands = array<i64");
  for (int b = 0; b < plan->band_count; ++b)
    pb_text_add(text, "%s%d, %lld", b ? ", " : ": ", plan->bands[b].dim, (long long)plan->bands[b].step);
  pb_text_add(text, ">");
  for (int k = 0; k < NUMBERS; ++k)
    pb_text_add(text, ", %s = %d : i64", numbers[k].name, *(const int*)((const char*)plan + numbers[k].offset));
  pb_text_add(text, ", cycles = %lld : i64, bound = \"%s\"}", (long long)plan->cycles, plan->bound);
}

static pb_status refuse(pb_diag* diag, const char* field) {
  return pb_error(diag, (pb_place){.what = "pb.plan"}, 4011, "edit only the numbers of a printed plan",
                  "field '%s' is missing or of the wrong kind", field);
}

pb_status pb_plan_read(MlirOperation func, pb_diag* diag, pb_plan* plan) {
  *plan = (pb_plan){.bound = ""};
  MlirAttribute all = mlirOperationGetAttributeByName(func, mlirStringRefCreateFromCString("pb.plan"));
  if (mlirAttributeIsNull(all) || !mlirAttributeIsADictionary(all)) return refuse(diag, "pb.plan");
  MlirAttribute bands = mlirDictionaryAttrGetElementByName(all, mlirStringRefCreateFromCString("bands"));
  if (mlirAttributeIsNull(bands) || !mlirAttributeIsADenseI64Array(bands)) return refuse(diag, "bands");
  intptr_t n = mlirDenseArrayGetNumElements(bands);
  if (n % 2 || n / 2 > PB_MAX_BANDS) return refuse(diag, "bands");
  for (intptr_t k = 0; k < n; k += 2)
    plan->bands[plan->band_count++] =
        (pb_band){(int)mlirDenseI64ArrayGetElement(bands, k), mlirDenseI64ArrayGetElement(bands, k + 1)};
  for (int k = 0; k < NUMBERS; ++k) {
    MlirAttribute a = mlirDictionaryAttrGetElementByName(all, mlirStringRefCreateFromCString(numbers[k].name));
    if (mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a)) return refuse(diag, numbers[k].name);
    int64_t value = mlirIntegerAttrGetValueInt(a);
    bool is_depth = strstr(numbers[k].name, "depth") != NULL;
    if (value < (is_depth ? 1 : 0) || value > 64) return refuse(diag, numbers[k].name);
    *(int*)((char*)plan + numbers[k].offset) = (int)value;
  }
  MlirAttribute cycles = mlirDictionaryAttrGetElementByName(all, mlirStringRefCreateFromCString("cycles"));
  if (!mlirAttributeIsNull(cycles) && mlirAttributeIsAInteger(cycles))
    plan->cycles = mlirIntegerAttrGetValueInt(cycles);
  return PB_OK;
}

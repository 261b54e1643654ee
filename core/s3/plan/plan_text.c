#include "core/s3/kernels.h"
#include "core/s3/plan/plan.h"
#include "core/s3/plan/plan_dims.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

static const struct {
  const char* name;
  size_t offset;
} numbers[] = {{"x_level", offsetof(pb_plan, x_level)},           {"w_level", offsetof(pb_plan, w_level)},
               {"result_level", offsetof(pb_plan, result_level)}, {"x_depth", offsetof(pb_plan, x_depth)},
               {"w_depth", offsetof(pb_plan, w_depth)},           {"result_depth", offsetof(pb_plan, result_depth)}};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

void pb_plan_print_list(pb_text* text, const char* name, const int64_t* values, int count) {
  pb_text_add(text, "%s = array<i64", name);
  for (int k = 0; k < count; ++k) pb_text_add(text, "%s%lld", k ? ", " : ": ", (long long)values[k]);
  pb_text_add(text, ">, ");
}

void pb_plan_print_bands(pb_text* text, const pb_plan* plan) {
  int64_t bands[2 * PB_MAX_BANDS];
  for (int b = 0; b < plan->band_count; ++b) {
    bands[2 * b] = plan->bands[b].dim;
    bands[2 * b + 1] = plan->bands[b].step;
  }
  pb_plan_print_list(text, "bands", bands, 2 * plan->band_count);
}

static void print_stage(pb_text* text, const pb_plan* plan) {
  pb_plan_print_bands(text, plan);
  for (int k = 0; k < NUMBERS; ++k)
    pb_text_add(text, "%s%s = %d : i64", k ? ", " : "", numbers[k].name,
                *(const int*)((const char*)plan + numbers[k].offset));
  if (plan->image_depth) pb_text_add(text, ", image_depth = %d : i64", plan->image_depth);
  if (plan->x_kept) pb_text_add(text, ", x_kept = %d : i64", plan->x_kept);
  if (plan->row_parts)
    pb_text_add(text, ", parts = array<i64: %lld, %lld>", (long long)plan->row_parts, (long long)plan->column_parts);
}

// As what the weights lie outside, where that is not as their elements.
static void print_form(pb_text* text, const pb_group* group) {
  if (group->expands)
    pb_text_add(text, ", w_form = \"%s\"", pb_nest_gathers(group->expands) ? "palette" : "two of four");
}

void pb_plan_print(pb_text* text, const pb_plan* plan, const pb_group* group) {
  const pb_nest* main = &group->main;
  int64_t tile[PB_NEST_DIMS];
  pb_plan_tile(plan, main, tile);
  pb_text_add(text, "{");
  pb_plan_print_list(text, "extents", main->extent, main->dim_count);
  pb_plan_print_list(text, "tile", tile, main->dim_count);
  print_stage(text, plan);
  print_form(text, group);
  if (group->contraction) pb_text_add(text, ", instruction = \"%s\"", group->contraction->name);
  pb_text_add(text, ", cycles = %lld : i64, bound = \"%s\"}", (long long)plan->cycles, plan->bound);
}

pb_status pb_plan_refuse(const pb_plan_source* from, const char* field, const char* why) {
  return pb_error(from->diag, from->place, from->code, "edit only the numbers of a printed plan", "field '%s' %s",
                  field, why);
}

// A field that nobody reads would be an edit without effect.
static pb_status known_fields(const pb_plan_source* from) {
  static const char* const others[] = {"bands",  "extents",     "tile",   "parts", "image_depth",
                                       "x_kept", "instruction", "cycles", "bound", "w_form"};
  for (intptr_t n = 0; n < mlirDictionaryAttrGetNumElements(from->all); ++n) {
    MlirStringRef name = mlirIdentifierStr(mlirDictionaryAttrGetElement(from->all, n).name);
    bool known = false;
    for (size_t k = 0; k < sizeof others / sizeof *others; ++k)
      known |= mlirStringRefEqual(name, mlirStringRefCreateFromCString(others[k]));
    for (int k = 0; k < NUMBERS; ++k)
      known |= mlirStringRefEqual(name, mlirStringRefCreateFromCString(numbers[k].name));
    if (!known)
      return pb_error(from->diag, from->place, from->code, "edit only the numbers of a printed plan",
                      "a plan has no field '%.*s'", (int)name.length, name.data);
  }
  return PB_OK;
}

pb_status pb_plan_read_number(const pb_plan_source* from, const char* name, int least, int* number) {
  const char* why = least ? "is missing or not between 1 and 64" : "is missing or not between 0 and 64";
  MlirAttribute a = pb_member(from->all, name);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a)) return pb_plan_refuse(from, name, why);
  MlirType type = mlirAttributeGetType(a);
  if (!mlirTypeIsAInteger(type) || !mlirIntegerTypeIsSignless(type) || mlirIntegerTypeGetWidth(type) > 64)
    return pb_plan_refuse(from, name, why);
  int64_t value = mlirIntegerAttrGetValueInt(a);
  if (value < least || value > 64) return pb_plan_refuse(from, name, why);
  *number = (int)value;
  return PB_OK;
}

pb_status pb_plan_read_bands(const pb_plan_source* from, int dims, const char* none, pb_plan* plan) {
  MlirAttribute bands = pb_member(from->all, "bands");
  bool list = !mlirAttributeIsNull(bands) && mlirAttributeIsADenseI64Array(bands);
  intptr_t n = list ? mlirDenseArrayGetNumElements(bands) : 0;
  if (!list || n % 2 || n / 2 > PB_MAX_BANDS)
    return pb_plan_refuse(from, "bands", "is missing or no pairs of a loop and a step");
  for (intptr_t k = 0; k < n; k += 2) {
    int64_t dim = mlirDenseI64ArrayGetElement(bands, k);
    if (dim < 0 || dim >= dims) return pb_plan_refuse(from, "bands", none);
    plan->bands[plan->band_count++] = (pb_band){(int)dim, mlirDenseI64ArrayGetElement(bands, k + 1)};
  }
  return PB_OK;
}

static pb_status read_stage(const pb_plan_source* from, pb_plan* plan) {
  MlirAttribute all = from->all;
  *plan = (pb_plan){.bound = ""};
  if (mlirAttributeIsNull(all) || !mlirAttributeIsADictionary(all))
    return pb_plan_refuse(from, "pb.plan", "is missing or no plan");
  PB_TRY(known_fields(from));
  PB_TRY(pb_plan_read_bands(from, PB_NEST_DIMS, "names no loop", plan));
  for (int k = 0; k < NUMBERS; ++k) {
    int least = strstr(numbers[k].name, "depth") != NULL;
    PB_TRY(pb_plan_read_number(from, numbers[k].name, least, (int*)((char*)plan + numbers[k].offset)));
  }
  if (!mlirAttributeIsNull(pb_member(all, "image_depth")))
    PB_TRY(pb_plan_read_number(from, "image_depth", 1, &plan->image_depth));
  if (!mlirAttributeIsNull(pb_member(all, "x_kept"))) PB_TRY(pb_plan_read_number(from, "x_kept", 0, &plan->x_kept));
  MlirAttribute parts = pb_member(all, "parts");
  if (!mlirAttributeIsNull(parts)) {
    if (!mlirAttributeIsADenseI64Array(parts) || mlirDenseArrayGetNumElements(parts) != 2)
      return pb_plan_refuse(from, "parts", "is no pair of numbers");
    plan->row_parts = mlirDenseI64ArrayGetElement(parts, 0);
    plan->column_parts = mlirDenseI64ArrayGetElement(parts, 1);
  }
  MlirAttribute cycles = pb_member(all, "cycles");
  if (!mlirAttributeIsNull(cycles) && mlirAttributeIsAInteger(cycles))
    plan->cycles = mlirIntegerAttrGetValueInt(cycles);
  return PB_OK;
}

pb_status pb_plan_from(MlirAttribute all, pb_place place, int code, pb_diag* diag, pb_plan* plan) {
  return read_stage(&(pb_plan_source){all, diag, place, code}, plan);
}

pb_status pb_plan_read(MlirOperation func, pb_diag* diag, pb_plan* plan) {
  return pb_plan_from(pb_op_attribute(func, "pb.plan"), (pb_place){.what = "pb.plan"}, 4011, diag, plan);
}

#include "core/s3/plan/plan_text.h"
#include "core/s3/kernels.h"
#include "core/s3/plan/plan_search.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

void pb_plan_print_cycles(pb_text* text, const pb_plan* plan, int depth) {
  pb_text_line(text, depth, "// %lld cycles, bound by %s\n", (long long)plan->cycles, plan->bound);
}

void pb_plan_print_axis(pb_text* text, const pb_chip* chip, const pb_axis* axis, int64_t left, const char* what,
                        int depth) {
  pb_text_line(text, depth, "loop d%d step %lld", axis->dim, (long long)axis->step);
  if (axis->members > 1) pb_text_add(text, " over %s %lld", pb_level_shared(chip)->name, (long long)axis->members);
  pb_text_add(text, " // of %lld%s\n", (long long)left, what);
}

// What the dim of a product is.
static const char* role_of(const pb_group* group, int dim) {
  static const char* const names[] = {[PB_ROLE_NONE] = "",
                                      [PB_ROLE_M] = ", rows",
                                      [PB_ROLE_N] = ", columns",
                                      [PB_ROLE_K] = ", summed",
                                      [PB_ROLE_B] = ", batches"};
  return group->contraction && dim < group->main.dim_count ? names[group->roles.role[dim]] : "";
}

static const char* const operand_names[PB_PLAN_OPERANDS] = {"x", "w", "result"};

// Of code in registers the homes of operands are what they must be, and nobody's choice.
static bool is_chosen(const pb_group* group, pb_plan_operand operand) {
  return operand == PB_OF_RESULT || !group->registers;
}

// The homes inside so many loops; of a plan in other loops those outside of them too.
static void print_homes(pb_text* text, const pb_plan* plan, const pb_group* group, int base, int around, int depth) {
  for (int k = 0; k < PB_MAX_HOMES; ++k)
    for (int o = 0; o < PB_PLAN_OPERANDS; ++o) {
      if (k >= plan->chain[o].count || !is_chosen(group, o)) continue;
      const pb_plan_home* home = &plan->chain[o].home[k];
      if (home->around != around && !(around == base && home->around < base)) continue;
      pb_text_line(text, depth, "home %s, %d %s", operand_names[o], home->copies,
                   home->copies == 1 ? "copy" : "copies");
      if (home->around < base) pb_text_add(text, ", inside %d", home->around);
      if (home->kept) pb_text_add(text, ", keeps %d", home->kept);
      pb_text_add(text, "\n");
    }
}

static void print_tile(pb_text* text, const pb_plan* plan, const pb_group* group, int depth) {
  int64_t tile[PB_NEST_DIMS];
  pb_plan_tile(plan, &group->main, tile);
  pb_text_line(text, depth, "// ");
  if (group->contraction) pb_text_add(text, "instruction %s, ", group->contraction->name);
  pb_text_add(text, "tile");
  for (int d = 0; d < group->main.dim_count; ++d) pb_text_add(text, "%s d%d %lld", d ? "," : "", d, (long long)tile[d]);
  if (group->expands) // what the weights lie outside as, where that is not their elements
    pb_text_add(text, ", weights stored as %s", pb_nest_gathers(group->expands) ? "palette" : "two of four");
  pb_text_add(text, "\n");
}

void pb_plan_print(pb_text* text, const pb_chip* chip, const pb_plan* plan, const pb_group* group, int base,
                   int depth) {
  for (int b = 0; b < plan->axis_count; ++b) {
    const pb_axis* axis = &plan->axes[b];
    print_homes(text, plan, group, base, base + b, depth + b);
    pb_plan_print_axis(text, chip, axis, pb_plan_left(plan, b, axis->dim, group->main.extent[axis->dim]),
                       role_of(group, axis->dim), depth + b);
  }
  print_homes(text, plan, group, base, base + plan->axis_count, depth + plan->axis_count);
  print_tile(text, plan, group, depth + plan->axis_count);
}

void pb_plan_set(pb_unit* unit, MlirOperation func, const pb_plan* plan, const char* instruction, pb_text* text) {
  MlirType i64 = mlirIntegerTypeGet(unit->context, 64);
  pb_op_set_attribute(func, "pb.plan", pb_text_attribute(unit->context, text->data));
  pb_op_set_attribute(func, "pb.cycles", mlirIntegerAttrGet(i64, plan->cycles));
  pb_op_set_attribute(func, "pb.bound", pb_text_attribute(unit->context, plan->bound));
  if (instruction) pb_op_set_attribute(func, "pb.contraction", pb_text_attribute(unit->context, instruction));
  ++unit->changes;
  pb_text_free(text);
}

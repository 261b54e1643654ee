// The plans of cores with vector registers: of kernels of one stage (vector_plan.c) and of several (plan_stages.c). A
// kernel that no vector plan takes runs as plain loops, which is said.
#include "core/s3/kernels.h"
#include "core/s3/plan/plan_given.h"
#include "core/s3/plan/plan_stages.h"

#include <mlir-c/BuiltinAttributes.h>

// What a person asked for, if it can be carried out.
static pb_status take_given(pb_unit* unit, const pb_given_plan* given, MlirOperation func, const pb_vkernel* kernel,
                            pb_vplan* plan) {
  const char* why;
  mlirOperationSetAttributeByName(func, mlirStringRefCreateFromCString("pb.plan"), given->plan);
  PB_TRY(pb_vplan_read(func, kernel, unit->diag, plan));
  if (pb_vplan_cost(unit->chip, kernel, plan, &why)) return PB_OK;
  return pb_error(unit->diag, given->place, 2405, NULL, "the plan of '%s' is illegal: %s", given->kernel, why);
}

// A kernel without a plan: plain loops, on one thread. Said, and kept for the report.
static void note_scalar(pb_unit* unit, MlirOperation func, const pb_program* program, const char* why) {
  const char* name = pb_func_name(func, &unit->pass);
  for (int n = 0; n < program->nest_count; ++n)
    if (program->nests[n].reduce != PB_SET || n + 1 == program->nest_count) {
      name = program->nests[n].name;
      break;
    }
  mlirOperationSetAttributeByName(func, mlirStringRefCreateFromCString("pb.scalar"),
                                  mlirStringAttrGet(unit->context, mlirStringRefCreateFromCString(why)));
  pb_warning(unit->diag, (pb_place){.what = name}, 4065, "runs as plain loops on one thread, since %s", why);
}

static pb_status plan_stages(pb_unit* unit, MlirOperation func, const pb_stages* stages) {
  pb_stage_plan plan;
  const char* why = "no tile of its loops stays in a core's caches";
  const pb_given_plan* given = pb_given_plan_of(unit, func);
  if (given) {
    PB_TRY(pb_stage_plan_from(given->plan, unit->chip, stages, given->place, 2406, &unit->pass, unit->diag, &plan));
    if (!pb_stage_plan_cost(unit->chip, stages, &unit->pass, &plan, &why))
      return pb_error(unit->diag, given->place, 2405, NULL, "the plan of '%s' is illegal: %s", given->kernel, why);
  } else if (!pb_stage_plan_make(unit->chip, stages, &unit->pass, &plan)) {
    note_scalar(unit, func, stages->program, why);
    return PB_OK;
  }
  pb_text text = {0};
  pb_stage_plan_print(&text, unit->chip, stages, &plan);
  pb_plan_set(unit, func, &text);
  return PB_OK;
}

static pb_status plan_kernel(pb_unit* unit, MlirOperation func) {
  pb_program program;
  pb_vkernel kernel;
  pb_vplan plan;
  PB_TRY(pb_program_read(func, &unit->pass, unit->diag, &program));
  pb_stages stages;
  if (!mlirAttributeIsNull(pb_op_attribute(func, "pb.stages")) && pb_stages_read(&program, &unit->pass, &stages))
    return plan_stages(unit, func, &stages);
  if (!pb_vkernel_read(&program, unit->chip, &kernel)) {
    note_scalar(unit, func, &program, kernel.why);
    return PB_OK;
  }
  const pb_given_plan* given = pb_given_plan_of(unit, func);
  if (given)
    PB_TRY(take_given(unit, given, func, &kernel, &plan));
  else
    pb_vplan_make(unit->chip, &kernel, &plan);
  pb_text text = {0};
  pb_vplan_print(&text, &kernel, &plan);
  pb_plan_set(unit, func, &text);
  return PB_OK;
}

pb_status pb_s3_plan_vector(pb_unit* unit) { return pb_kernels_each(unit, plan_kernel); }

// The pass that plans: the plan of each kernel as the attribute pb.plan, by the chip's facts or as a person gave it.
#include "core/s3/kernel/vector.h"
#include "core/s3/kernels.h"
#include "core/s3/plan/plan.h"
#include "core/s3/plan/plan_given.h"

// What a person asked for, if it can be carried out.
static pb_status take_given(pb_unit* unit, const pb_given_plan* given, const pb_group* group, pb_plan* plan) {
  PB_TRY(pb_plan_from(given->plan, given->place, 2406, &unit->pass, unit->diag, plan));
  const char* why;
  if (pb_plan_cost(unit->chip, group, plan, &unit->pass, &why)) return PB_OK;
  return pb_error(unit->diag, given->place, 2405, NULL, "the plan of '%s' is illegal: %s", given->kernel, why);
}

static pb_status plan_kernel(pb_unit* unit, MlirOperation func) {
  pb_program program;
  pb_group group;
  pb_plan plan;
  PB_TRY(pb_program_read(func, &unit->pass, unit->diag, &program));
  PB_TRY(pb_group_read(&program, unit->chip, &unit->pass, unit->diag, &group));
  const pb_given_plan* given = pb_given_plan_of(unit, func);
  if (given)
    PB_TRY(take_given(unit, given, &group, &plan));
  else
    PB_TRY(pb_plan_make(unit->chip, &group, &unit->pass, unit->diag, &plan));
  pb_text text = {0};
  pb_plan_print(&text, &plan, &group.main);
  pb_plan_set(unit, func, &text);
  return PB_OK;
}

pb_status pb_s3_plan(pb_unit* unit) {
  if (pb_vector_facts_of(unit->chip).memory >= 0)
    PB_TRY(pb_s3_plan_vector(unit));
  else
    PB_TRY(pb_kernels_each(unit, plan_kernel));
  return pb_given_plans_used(unit);
}

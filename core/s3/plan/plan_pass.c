// The pass that plans: the plan of each kernel as the attribute pb.plan, by the chip's facts or as a person gave it.
#include "core/s3/kernel/plain.h"
#include "core/s3/kernels.h"
#include "core/s3/plan/plan.h"
#include "core/s3/plan/plan_given.h"
#include "core/s3/plan/plan_memo.h"
#include "core/s3/plan/plan_stages.h"

#include <mlir-c/BuiltinAttributes.h>

// What a person asked for, if it can be carried out.
static pb_status take_given(pb_unit* unit, const pb_given_plan* given, const pb_group* group, pb_plan* plan) {
  pb_plan_reader reader = pb_given_plan_reader(unit, given);
  PB_TRY(pb_plan_read(&reader, plan));
  const char* why;
  if (pb_plan_cost(unit->chip, group, plan, &unit->pass, &why)) return PB_OK;
  return pb_error(unit->diag, given->place, 2405, NULL, "the plan of '%s' is illegal: %s", given->kernel, why);
}

// A kernel of several stages. Where there is no plan for it: a place in the model and the reason.
static pb_status plan_stages(pb_unit* unit, MlirOperation func, const pb_stages* stages) {
  pb_stage_plan plan;
  const char* why = NULL;
  const pb_given_plan* given = pb_given_plan_of(unit, func);
  if (given) {
    pb_plan_reader reader = pb_given_plan_reader(unit, given);
    PB_TRY(pb_stage_plan_read(&reader, stages, &unit->pass, &plan));
    if (!pb_stage_plan_cost(unit->chip, stages, &unit->pass, &plan, &why))
      return pb_error(unit->diag, given->place, 2405, NULL, "the plan of '%s' is illegal: %s", given->kernel, why);
  } else if (!pb_stage_plan_again(unit, stages, true, &unit->pass, &plan))
    return pb_unsupported(unit->diag, (pb_place){.what = stages->program->nests[0].name}, 4010, NULL,
                          "%s cannot run this: no tile of the loops that its stages share fits", unit->chip->name);
  pb_text text = {0};
  pb_stage_plan_print(&text, unit->chip, stages, &plan);
  pb_plan_set(unit, func, &plan.loops, NULL, &text);
  return PB_OK;
}

// Whether outline made the kernel of several stages, or tensors pass through a memory of a core's own.
static bool is_staged(pb_unit* unit, MlirOperation func, const pb_program* program, pb_stages* stages) {
  bool several = !mlirAttributeIsNull(pb_op_attribute(func, "pb.stages"));
  return several ? pb_stages_of(unit->chip, program, &unit->pass, stages)
                 : pb_stages_of_one(unit->chip, program, &unit->pass, stages);
}

// Whether it is a kernel of one stage that cores run as plain loops.
static bool is_plain(pb_unit* unit, MlirOperation func, const pb_program* program) {
  pb_group group;
  pb_diag quiet = {.sink = pb_diag_drop};
  if (!mlirAttributeIsNull(pb_op_attribute(func, "pb.stages"))) return false;
  return pb_group_read(program, unit->chip, &unit->pass, &quiet, &group) == PB_OK && group.plain;
}

// Whether the kernel is done in no time, however it goes.
static bool is_small(const pb_program* program) {
  enum { FEW = 64 };
  int64_t turns = 0;
  for (int n = 0; n < program->nest_count; ++n) turns += pb_nest_iterations(&program->nests[n]);
  return turns <= FEW;
}

// A kernel without a plan: plain loops, mostly on one thread. Kept for the report, and said where it takes any time.
static void note_plain(pb_unit* unit, MlirOperation func, const pb_program* program, const char* why) {
  const char* name = pb_func_name(func, &unit->pass);
  for (int n = 0; n < program->nest_count; ++n)
    if (program->nests[n].reduce != PB_SET || n + 1 == program->nest_count) {
      name = program->nests[n].name;
      break;
    }
  pb_op_set_attribute(func, "pb.scalar", pb_text_attribute(unit->context, why));
  if (is_small(program)) return;
  const char* threads = pb_plain_may_share(func) ? "" : " on one thread";
  pb_warning(unit->diag, (pb_place){.what = name}, 4065, "runs as plain loops%s, since %s", threads, why);
}

// A kernel of one stage.
static pb_status plan_group(pb_unit* unit, MlirOperation func, const pb_program* program) {
  pb_group group;
  pb_plan plan;
  PB_TRY(pb_group_read(program, unit->chip, &unit->pass, unit->diag, &group));
  if (group.plain) {
    note_plain(unit, func, program, group.plain);
    return PB_OK;
  }
  const pb_given_plan* given = pb_given_plan_of(unit, func);
  if (given)
    PB_TRY(take_given(unit, given, &group, &plan));
  else
    PB_TRY(pb_plan_again(unit, &group, true, &unit->pass, unit->diag, &plan));
  pb_text text = {0};
  pb_plan_print_cycles(&text, &plan, 1);
  pb_plan_print(&text, unit->chip, &plan, &group, 0, 1);
  pb_plan_set(unit, func, &plan, group.contraction ? group.contraction->name : NULL, &text);
  return PB_OK;
}

static pb_status plan_kernel(pb_unit* unit, MlirOperation func) {
  pb_program program;
  pb_stages stages;
  PB_TRY(pb_program_read(func, &unit->pass, unit->diag, &program));
  if (!is_staged(unit, func, &program, &stages) || is_plain(unit, func, &program))
    return plan_group(unit, func, &program);
  return plan_stages(unit, func, &stages);
}

pb_status pb_s3_plan(pb_unit* unit) {
  PB_TRY(pb_kernels_each(unit, plan_kernel));
  return pb_given_plans_used(unit);
}

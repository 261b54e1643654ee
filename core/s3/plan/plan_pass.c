// The pass that plans: the plan of each kernel as the attribute pb.plan, by the chip's facts or as a person gave it.
#include "core/s3/kernel/flat.h"
#include "core/s3/kernel/plain.h"
#include "core/s3/kernels.h"
#include "core/s3/plan/plan.h"
#include "core/s3/plan/plan_given.h"

#include <mlir-c/BuiltinAttributes.h>

// What a person asked for, if it can be carried out; else the cheapest.
static pb_status find_plan(pb_unit* unit, MlirOperation func, const pb_kernel_form* kernel, pb_kernel_plan* plan) {
  const pb_given_plan* given = pb_given_plan_of(unit, func);
  const char* why;
  if (!given) return pb_kernel_plan_again(unit, kernel, true, &unit->pass, unit->diag, plan);
  pb_plan_reader reader = pb_given_plan_reader(unit, given);
  PB_TRY(pb_kernel_plan_read(&reader, kernel, &unit->pass, plan));
  if (pb_kernel_plan_cost(unit->chip, kernel, &unit->pass, plan, &why)) return PB_OK;
  return pb_error(unit->diag, given->place, 2405, NULL, "the plan of '%s' is illegal: %s", given->kernel, why);
}

// Whether the kernel is done in no time, however it goes.
static bool is_small(const pb_program* program) {
  enum { FEW = 64 };
  int64_t turns = 0;
  for (int n = 0; n < program->nest_count; ++n) turns += pb_nest_iterations(&program->nests[n]);
  return turns <= FEW;
}

// Whether its turns add up blocks of a row, each onto one element: those go in lanes where code is made.
static bool adds_up_blocks(const pb_nest* nest) {
  enum { BLOCK = 16 };
  const pb_access* store = pb_nest_store((pb_nest*)(uintptr_t)nest);
  int last = nest->dim_count - 1;
  const pb_expr_node* made = &nest->expr[nest->expr_count - 1];
  if (nest->reduce != PB_ACC_BODY || nest->access_count != 3 || nest->expr_count != 3 || pb_nest_gathers(nest))
    return false;
  if (last < 0 || nest->extent[last] != BLOCK || (made->op != PB_OP_ADD && made->op != PB_OP_MUL)) return false;
  for (int r = 0; r < store->rank; ++r)
    if (store->index[r].coef[last]) return false;
  return pb_type_is_float(made->type);
}

// Whether it combines whole numbers in an order that does not matter.
static bool combines_integers(const pb_nest* nest) {
  const pb_expr_node *e = nest->expr, *made = &e[nest->expr_count - 1];
  static const pb_op any_order[] = {PB_OP_AND, PB_OP_OR, PB_OP_XOR, PB_OP_MUL, PB_OP_MIN, PB_OP_MAX};
  bool known = false, onto = false;
  if (nest->reduce != PB_ACC_BODY || pb_type_is_float(made->type) || pb_nest_gathers(nest)) return false;
  for (size_t k = 0; k < sizeof any_order / sizeof *any_order; ++k) known |= made->op == any_order[k];
  for (int k = 0; k < 2 && known; ++k)
    onto |= e[made->args[k]].op == PB_OP_LOAD && e[made->args[k]].operand == nest->access_count - 2;
  return onto;
}

// Whether elements lie side by side where they are and where they go, in rows that are taken by their numbers too.
static bool walks_rows(const pb_nest* nest) {
  int last = nest->dim_count - 1, store = nest->access_count - 1;
  if (nest->reduce != PB_SET || last < 0 || nest->access[store].gathered) return false;
  for (int a = 0; a <= store; ++a) {
    const pb_access* access = &nest->access[a];
    int64_t stride = pb_access_stride(access, last);
    if (access->gathered ? !pb_gathers_rows(access) || stride != 1 : a == store && stride != 1) return false;
    if (!access->gathered && stride && stride != 1) return false;
    if (a < store && !access->gathered && stride && pb_nest_gathers(nest) && !pb_type_is_float(access->type))
      return false; // may be a number
  }
  return true;
}

// A kernel without a plan: plain loops, mostly on one thread. Kept for the report, and said where it takes any time.
static void note_plain(pb_unit* unit, MlirOperation func, const pb_program* program, const char* why) {
  const char* name = pb_func_name(func, &unit->pass);
  for (int n = 0; n < program->nest_count; ++n)
    if (program->nests[n].reduce != PB_SET || n + 1 == program->nest_count) {
      name = program->nests[n].name;
      break;
    }
  bool in_turns = false, beside = program->nest_count > 1, lanes = true;
  for (int n = 0; n < program->nest_count; ++n)
    lanes &= walks_rows(&program->nests[n]) || combines_integers(&program->nests[n]);
  for (int n = 0; n < program->nest_count; ++n)
    in_turns |= pb_nest_goes_in_turns(&program->nests[n]) || adds_up_blocks(&program->nests[n]);
  for (int n = 0; n < program->nest_count; ++n) beside &= pb_nest_is_beside(&program->nests[n]);
  if (in_turns) why = "each turn takes what the one before has made";
  if (beside) why = "what it makes is beside each other in one loop";
  pb_op_set_attribute(func, "pb.scalar", pb_text_attribute(unit->context, why));
  bool shared = pb_plain_may_share(unit->chip, func);
  if (is_small(program) || ((in_turns || beside || lanes) && shared))
    return; // these go in lanes too, or as fast as their numbers come
  const char* threads = shared ? "" : " on one thread";
  pb_warning(unit->diag, (pb_place){.what = name}, 4065, "runs as plain loops%s, since %s", threads, why);
}

static pb_status plan_kernel(pb_unit* unit, MlirOperation func) {
  pb_program program;
  pb_kernel_form kernel;
  pb_kernel_plan plan;
  bool several = pb_op_has(func, "pb.stages"); // as outline made it
  PB_TRY(pb_program_read(func, &unit->pass, unit->diag, &program));
  PB_TRY(pb_kernel_read(unit->chip, &program, several, &unit->pass, unit->diag, &kernel));
  if (pb_kernel_is_plain(&kernel)) {
    note_plain(unit, func, &program, kernel.group->plain);
    return PB_OK;
  }
  PB_TRY(find_plan(unit, func, &kernel, &plan));
  const pb_insn* contraction = kernel.group ? kernel.group->contraction : NULL;
  pb_text text = {0};
  pb_kernel_plan_print(&text, unit->chip, &kernel, &plan);
  pb_plan_set(unit, func, &plan.loops, contraction ? contraction->name : NULL, &text);
  return PB_OK;
}

pb_status pb_s3_plan(pb_unit* unit) {
  PB_TRY(pb_kernels_each(unit, plan_kernel));
  return pb_given_plans_used(unit);
}

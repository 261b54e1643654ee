// Control by queues, as the core sees it: kernels become words that queues fetch.
#include "core/driver/control.h"
#include "core/s3/fallback.h"
#include "core/s3/kernels.h"
#include "targets/control/queues/emit.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pb_status emit_kernel(pb_unit* unit, MlirOperation func, pb_engine* e) {
  pb_kernel k = {.name = pb_func_name(func, &e->arena), .is_words = true};
  MlirAttribute plan = pb_op_attribute(func, "pb.plan");
  MlirAttribute cycles = mlirDictionaryAttrGetElementByName(plan, mlirStringRefCreateFromCString("cycles"));
  MlirStringRef bound =
      mlirStringAttrGetValue(mlirDictionaryAttrGetElementByName(plan, mlirStringRefCreateFromCString("bound")));
  k.predicted_cycles = (uint64_t)mlirIntegerAttrGetValueInt(cycles);
  k.bound = pb_printf(&e->arena, "%.*s", (int)bound.length, bound.data);
  bool left = false;
  pb_attempt attempt;
  if (pb_may_leave(unit)) pb_attempt_begin(unit, &attempt, func);
  pb_status status = pb_queues_emit(unit->chip, func, &e->arena, unit->diag, &k.words);
  if (pb_may_leave(unit)) status = pb_attempt_end(unit, &attempt, k.name, status, &left);
  if (status == PB_OK && !left) e->kernels[e->kernel_count++] = k;
  return status;
}

static pb_status print_kernel(pb_unit* unit, MlirOperation func, pb_text* text) {
  char* commands = NULL;
  pb_arena scratch = {0};
  PB_TRY(pb_queues_print(unit->chip, func, unit->diag, &commands));
  pb_text_add(text, "%s:\n%s", pb_func_name(func, &scratch), commands ? commands : "");
  pb_arena_free(&scratch);
  free(commands);
  return PB_OK;
}

// Each kernel of the module that the chip runs itself: emitted, or printed if there is a text.
static pb_status each_kernel(pb_unit* unit, pb_engine* e, pb_text* text) {
  MlirOperation next, op = mlirBlockGetFirstOperation(mlirModuleGetBody(unit->module));
  for (; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op); // one that is left is replaced
    if (mlirAttributeIsNull(pb_op_attribute(op, "pb.kernel")) || pb_kernel_is_left(op)) continue;
    PB_TRY(text ? print_kernel(unit, op, text) : emit_kernel(unit, op, e));
  }
  return PB_OK;
}

static pb_status emit(pb_unit* unit, pb_engine* e) { return each_kernel(unit, e, NULL); }

// Words have one form: commands with their queues and tokens, whatever it is called.
static pb_status print(pb_unit* unit, const char* form, char** out) {
  pb_text text = {0};
  (void)form;
  pb_status status = each_kernel(unit, NULL, &text);
  if (status == PB_OK)
    *out = text.data;
  else
    pb_text_free(&text);
  return status;
}

const pb_control_ops pb_control_queues = {
    .control = PB_CONTROL_QUEUES, .name = "queues", .emit = emit, .print = print, .dump = "commands"};

// Control by queues, as the core sees it: kernels become words that queues fetch.
#include "core/driver/control.h"
#include "core/s3/fallback.h"
#include "core/s3/kernels.h"
#include "targets/control/queues/emit.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 }; // kernels that are decoded at a time

static void describe(MlirOperation func, pb_engine* e, pb_kernel* k) {
  *k = (pb_kernel){.name = pb_func_name(func, &e->arena), .is_words = true};
  MlirStringRef bound = mlirStringAttrGetValue(pb_op_attribute(func, "pb.bound"));
  k->predicted_cycles = (uint64_t)pb_op_integer(func, "pb.cycles", 0);
  k->bound = pb_printf(&e->arena, "%.*s", (int)bound.length, bound.data);
}

// Kernels that stand one behind the other.
static pb_status emit_batch(pb_unit* unit, const MlirOperation* funcs, int count, pb_engine* e) {
  pb_words_kernel words[BATCH] = {0};
  PB_TRY(pb_queues_emit(unit->chip, funcs, count, unit->workers, &e->arena, unit->diag, words));
  for (int k = 0; k < count; ++k) {
    pb_kernel* kernel = &e->kernels[e->kernel_count++];
    describe(funcs[k], e, kernel);
    kernel->words = words[k];
  }
  return PB_OK;
}

// One that cannot be emitted may leave the chip.
static pb_status try_kernel(pb_unit* unit, MlirOperation func, pb_engine* e) {
  const char* name = pb_func_name(func, &e->arena);
  bool left = false;
  pb_attempt attempt;
  pb_attempt_begin(unit, &attempt, func);
  pb_status status = emit_batch(unit, &func, 1, e);
  return pb_attempt_end(unit, &attempt, name, status, &left);
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

// The next kernel of the module that the chip runs itself, from `op` on; null: there is none.
static MlirOperation next_kernel(MlirOperation op) {
  while (!mlirOperationIsNull(op) && (mlirAttributeIsNull(pb_op_attribute(op, "pb.kernel")) || pb_kernel_is_left(op)))
    op = mlirOperationGetNextInBlock(op);
  return op;
}

static pb_status emit(pb_unit* unit, pb_engine* e) {
  MlirOperation batch[BATCH], next;
  int count = 0;
  bool leaves = pb_may_leave(unit);
  for (MlirOperation op = next_kernel(mlirBlockGetFirstOperation(mlirModuleGetBody(unit->module)));
       !mlirOperationIsNull(op); op = next) {
    next = next_kernel(mlirOperationGetNextInBlock(op)); // one that is left is replaced
    if (leaves) {
      PB_TRY(try_kernel(unit, op, e));
      continue;
    }
    batch[count++] = op;
    if (count < BATCH && !mlirOperationIsNull(next)) continue;
    PB_TRY(emit_batch(unit, batch, count, e));
    count = 0;
  }
  return PB_OK;
}

// Words have one form: commands with their queues and tokens, whatever it is called.
static pb_status print(pb_unit* unit, const char* form, char** out) {
  pb_text text = {0};
  (void)form;
  pb_status status = PB_OK;
  for (MlirOperation op = next_kernel(mlirBlockGetFirstOperation(mlirModuleGetBody(unit->module)));
       !mlirOperationIsNull(op) && status == PB_OK; op = next_kernel(mlirOperationGetNextInBlock(op)))
    status = print_kernel(unit, op, &text);
  if (!text.data) pb_text_add(&text, "// no commands\n");
  if (status == PB_OK)
    *out = text.data;
  else
    pb_text_free(&text);
  return status;
}

const pb_control_ops pb_control_queues = {
    .control = PB_CONTROL_QUEUES, .name = "queues", .emit = emit, .print = print, .dump = "commands"};

// Programs with control: each segment goes through S2 and the passes for itself, on the constants of all. Then the
// kernels of all are those of one module, under names of their own, and the host's program launches them between moves
// and jumps (host_control.c).
#include "core/base/table.h"
#include "core/driver/compilation.h"
#include "core/driver/pipeline.h"
#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

// What is of one function.
static const char* of_one(const pb_compile_options* o) {
  return o->explain       ? "--explain"
         : o->report      ? "--report"
         : o->plan_file   ? "--plan"
         : o->print_after ? "--print-after"
         : o->dump_dir    ? "--dump-intermediates"
                          : NULL;
}

static void start_part(compilation* c, int number, compilation* part, pb_compiled* out) {
  *part = (compilation){.options = c->options, .out = out, .chip = c->chip, .control = c->control, .since = c->since};
  part->s1 = c->segments.items[number].program;
  c->segments.items[number].program = (pb_s1){0};
  part->symbols = c->symbols;
  part->shares_context = true;
  part->narrowed = c->narrowed;
  part->unit = (pb_unit){.context = c->unit.context,
                         .chip = c->chip,
                         .consts = &c->consts,
                         .diag = c->unit.diag,
                         .codes_like = c->unit.codes_like};
  if (!c->unit.fallback) return;
  part->fallback = (pb_fallback){.chip = c->fallback.chip, .target = c->fallback.target};
  part->unit.fallback = &part->fallback;
}

static MlirAttribute symbol_of(MlirContext context, const char* name, bool reference) {
  MlirStringRef text = mlirStringRefCreateFromCString(name);
  return reference ? mlirFlatSymbolRefAttrGet(context, text) : mlirStringAttrGet(context, text);
}

static void set_attribute(MlirOperation op, const char* name, MlirAttribute value) {
  mlirOperationSetAttributeByName(op, mlirStringRefCreateFromCString(name), value);
}

// What a segment leaves to another target, under the kernel's new name.
static void take_left(compilation* c, compilation* part, const char* from, const char* to) {
  const pb_left_kernel* left = pb_kernel_left(&part->unit, from);
  if (!left) return;
  pb_arena* arena = &c->unit.arena;
  const char *head = pb_printf(arena, "@%s(", from), *at = strstr(left->text, head);
  const char* text = pb_printf(arena, "%.*s@%s(%s", (int)(at - left->text), left->text, to, at + strlen(head));
  pb_left_kernel item = {.name = to, .text = text, .reason = left->reason};
  PB_PUSH(c->fallback.items, c->fallback.count, c->fallback.capacity, item);
}

static bool are_same(MlirOperation a, MlirOperation b) {
  pb_text texts[2] = {0};
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsUseLocalScope(flags); // numbers of values of its own
  mlirOpPrintingFlagsAssumeVerified(flags);
  mlirOperationPrintWithFlags(a, flags, pb_text_append, &texts[0]);
  mlirOperationPrintWithFlags(b, flags, pb_text_append, &texts[1]);
  mlirOpPrintingFlagsDestroy(flags);
  bool same = !strcmp(texts[0].data, texts[1].data);
  for (int k = 0; k < 2; ++k) pb_text_free(&texts[k]);
  return same;
}

// A function that is no kernel: an instruction's, the same wherever it comes from.
static pb_status take_function(compilation* c, MlirOperation func) {
  const char* name = pb_func_name(func, &c->unit.arena);
  MlirOperation there = pb_module_func(c->unit.module, name);
  if (!mlirOperationIsNull(there) && !are_same(func, there))
    return pb_error(c->unit.diag, (pb_place){.what = name}, 4096, "this is a bug in the compiler, not in the model",
                    "is another function in two segments");
  if (!mlirOperationIsNull(there)) return PB_OK;
  mlirOperationRemoveFromParent(func);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(c->unit.module), func);
  return PB_OK;
}

// Kernels get numbers behind those that are there.
static pb_status take_functions(compilation* c, compilation* part, int* kernels) {
  MlirContext context = c->unit.context;
  MlirOperation main = pb_module_func(part->unit.module, "main");
  pb_arena* arena = &c->unit.arena;
  pb_table numbers = {0};
  pb_status status = PB_OK;
  MlirOperation next, op = mlirBlockGetFirstOperation(mlirModuleGetBody(part->unit.module));
  for (; !mlirOperationIsNull(op) && status == PB_OK; op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (mlirOperationEqual(op, main)) continue;
    if (mlirAttributeIsNull(pb_op_attribute(op, "pb.kernel"))) {
      status = take_function(c, op);
      continue;
    }
    const char *name = pb_func_name(op, arena), *made = pb_printf(arena, "k%d", *kernels);
    pb_table_add(&numbers, name, strlen(name), (*kernels)++);
    take_left(c, part, name, made);
    set_attribute(op, "sym_name", symbol_of(context, made, false));
    mlirOperationRemoveFromParent(op);
    mlirBlockAppendOwnedOperation(mlirModuleGetBody(c->unit.module), op);
  }
  op = mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(main, 0)));
  for (; !mlirOperationIsNull(op) && status == PB_OK; op = mlirOperationGetNextInBlock(op)) {
    if (!pb_op_is(op, "func.call")) continue;
    MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(pb_op_attribute(op, "callee"));
    int number = pb_table_find(&numbers, callee.data, callee.length);
    set_attribute(op, "callee", symbol_of(context, pb_printf(arena, "k%d", number), true));
  }
  pb_table_free(&numbers);
  return status;
}

static pb_status compile_part(compilation* c, int number, pb_text* all, int* kernels) {
  pb_compiled out = {0}; // its stages' times are this one's
  compilation* part = &c->parts[number];
  start_part(c, number, part, &out);
  pb_status status = pb__compile_module(part);
  if (status == PB_OK && !out.text) status = pb__compile_passes(part);
  part->out = NULL;
  if (status != PB_OK) {
    free(out.text);
    return status;
  }
  if (out.text) {
    pb_text_add(all, "// segment %d\n%s", number, out.text);
    free(out.text);
    return PB_OK;
  }
  c->mains[number] = pb_module_func(part->unit.module, "main");
  return take_functions(c, part, kernels);
}

pb_status pb__compile_segments(compilation* c) {
  pb_text all = {0};
  int kernels = 0;
  if (of_one(c->options))
    return pb_error(c->unit.diag, (pb_place){.file = c->options->model}, 1008, NULL,
                    "%s is of a program of one function, and data decide how this one goes on", of_one(c->options));
  PB_TRY(pb_s1_segments(&c->s1, c->unit.diag, &c->segments));
  if (!c->unit.context.ptr) c->unit.context = pb_context_create();
  c->unit.module = mlirModuleCreateParse(c->unit.context, mlirStringRefCreateFromCString("module {}"));
  c->has_module = true;
  c->parts = calloc(c->segments.count + 1, sizeof *c->parts);
  if (!c->parts) pb_no_memory(c->segments.count * sizeof *c->parts);
  c->mains = PB_NEW_ARRAY(&c->unit.arena, MlirOperation, c->segments.count + 1);
  pb_status status = PB_OK;
  for (size_t k = 0; k < c->segments.count && status == PB_OK; ++k) status = compile_part(c, (int)k, &all, &kernels);
  if (status == PB_OK && all.data)
    c->out->text = all.data;
  else
    pb_text_free(&all);
  pb__stage_done(c, "segments");
  return status;
}

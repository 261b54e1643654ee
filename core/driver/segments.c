// Programs with control: each segment goes through S2 and the passes for itself, on the constants of all. Then the
// kernels of all are those of one module, under names of their own, and the host's program launches them between moves
// and jumps (host_control.c).
#include "core/base/table.h"
#include "core/driver/compilation.h"
#include "core/driver/pipeline.h"
#include "core/s3/kernels.h"

#include <ctype.h>
#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

const char* pb__option_of_one(const pb_compile_options* o) {
  return o->explain       ? "--explain"
         : o->report      ? "--report"
         : o->plan_file   ? "--plan"
         : o->print_after ? "--print-after"
         : o->dump_dir    ? "--dump-intermediates"
                          : NULL;
}

// The plans that are given for a segment, whose kernels FILE names s3.k0 where the segment has a k0.
static void take_given(compilation* c, int number, compilation* part) {
  const char* prefix = pb_printf(&c->unit.arena, "s%d.", number);
  size_t length = strlen(prefix);
  for (size_t k = 0; k < c->given.count; ++k) {
    pb_given_plan plan = c->given.items[k];
    if (strncmp(plan.kernel, prefix, length) != 0) continue;
    c->given.items[k].used = true;
    plan.kernel += length;
    PB_PUSH(part->given.items, part->given.count, part->given.capacity, plan);
  }
  part->unit.given = &part->given;
}

int pb__value_of_argument(MlirValue argument) {
  MlirAttribute name = pb_argument_attribute(argument, "pb.input");
  if (mlirAttributeIsNull(name)) name = pb_argument_attribute(argument, "pb.output");
  if (mlirAttributeIsNull(name)) return -1;
  MlirStringRef text = mlirStringAttrGetValue(name);
  int number = 0;
  for (size_t k = 0; k < text.length; ++k) number = 10 * number + (text.data[k] - '0');
  return number;
}

bool pb__is_in_loop(const pb_s1* program, size_t op) {
  int depth = 0;
  for (size_t k = 0; k < op; ++k) depth += (program->ops[k].kind == PB_S1_LOOP) - (program->ops[k].kind == PB_S1_AGAIN);
  return depth > 0;
}

void pb__start_segment(compilation* c, int number, compilation* part, pb_compiled* out) {
  *part = (compilation){.options = c->options, .out = out, .chip = c->chip, .control = c->control, .since = c->since};
  part->s1 = c->segments.items[number].program;
  c->segments.items[number].program = (pb_s1){0};
  part->symbols = c->symbols;
  part->shares_context = part->is_segment = true;
  part->narrowed = c->narrowed;
  part->unit = (pb_unit){.context = c->unit.context,
                         .chip = c->chip,
                         .consts = &c->consts,
                         .diag = c->unit.diag,
                         .between_outside = c->unit.between_outside,
                         .codes_like = c->unit.codes_like,
                         .in_turns = c->control->saved && pb__is_in_loop(&c->s1, c->segments.items[number].first)};
  if (c->options->plan_file) take_given(c, number, part);
  if (!c->unit.fallback) return;
  part->fallback = (pb_fallback){.chip = c->fallback.chip, .target = c->fallback.target};
  part->unit.fallback = &part->fallback;
}

static MlirAttribute symbol_of(MlirContext context, const char* name, bool reference) {
  MlirStringRef text = mlirStringRefCreateFromCString(name);
  return reference ? mlirFlatSymbolRefAttrGet(context, text) : mlirStringAttrGet(context, text);
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

// The function as text of its own, whatever is around it.
static const char* text_of(MlirOperation func, pb_arena* arena) {
  pb_text text = {0};
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsUseLocalScope(flags);
  mlirOpPrintingFlagsAssumeVerified(flags);
  mlirOperationPrintWithFlags(func, flags, pb_text_append, &text);
  mlirOpPrintingFlagsDestroy(flags);
  const char* kept = pb_strdup(arena, text.data);
  pb_text_free(&text);
  return kept;
}

// A function that is no kernel: an instruction's, the same wherever it comes from.
static pb_status take_function(compilation* c, MlirOperation func) {
  const char* name = pb_func_name(func, &c->unit.arena);
  MlirOperation there = pb_module_func(c->unit.module, name);
  pb_arena* arena = &c->unit.arena;
  if (!mlirOperationIsNull(there) && strcmp(text_of(func, arena), text_of(there, arena)) != 0)
    return pb_error(c->unit.diag, (pb_place){.what = name}, 4096, "this is a bug in the compiler, not in the model",
                    "is another function in two segments");
  if (!mlirOperationIsNull(there)) return PB_OK;
  mlirOperationRemoveFromParent(func);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(c->unit.module), func);
  return PB_OK;
}

// The kernels of all segments, by their texts: equal ones are one.
typedef struct kernels {
  pb_table known;
  int count;
} kernels;

// A kernel gets a number behind those that are there, or that of its equal.
static int take_kernel(compilation* c, compilation* part, MlirOperation func, kernels* all) {
  MlirContext context = c->unit.context;
  pb_arena* arena = &c->unit.arena;
  const char* name = pb_func_name(func, arena);
  pb_op_set_attribute(func, "sym_name", symbol_of(context, "kernel", false));
  const char* text = text_of(func, arena);
  int known = pb_table_find(&all->known, text, strlen(text)), number = all->count;
  const char* made = pb_printf(arena, "k%d", number);
  bool left = pb_kernel_left(&part->unit, name) != NULL; // said of each
  pb_op_set_attribute(func, "sym_name", symbol_of(context, made, false));
  if (known >= 0 && !left) return known;
  if (!left) pb_table_add(&all->known, text, strlen(text), number);
  take_left(c, part, name, made);
  mlirOperationRemoveFromParent(func);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(c->unit.module), func);
  ++all->count;
  return number;
}

static pb_status take_functions(compilation* c, compilation* part, kernels* all) {
  MlirContext context = c->unit.context;
  MlirOperation main = pb_module_func(part->unit.module, "main");
  pb_arena* arena = &c->unit.arena;
  pb_table numbers = {0};
  pb_status status = PB_OK;
  MlirOperation next, op = mlirBlockGetFirstOperation(mlirModuleGetBody(part->unit.module));
  for (; !mlirOperationIsNull(op) && status == PB_OK; op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (mlirOperationEqual(op, main)) continue;
    const char* name = pb_func_name(op, arena);
    if (!pb_op_has(op, "pb.kernel"))
      status = take_function(c, op);
    else
      pb_table_add(&numbers, name, strlen(name), take_kernel(c, part, op, all));
  }
  op = mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(main, 0)));
  for (; !mlirOperationIsNull(op) && status == PB_OK; op = mlirOperationGetNextInBlock(op)) {
    if (!pb_op_is(op, "func.call")) continue;
    MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(pb_op_attribute(op, "callee"));
    int number = pb_table_find(&numbers, callee.data, callee.length);
    pb_op_set_attribute(op, "callee", symbol_of(context, pb_printf(arena, "k%d", number), true));
  }
  pb_table_free(&numbers);
  return status;
}

// The loops and branches that a segment stands in, as a comment.
static void print_place(const compilation* c, int number, pb_text* text) {
  const pb_s1* program = &c->s1;
  pb_arena scratch = {0};
  size_t *open = PB_NEW_ARRAY(&scratch, size_t, program->op_count + 1), depth = 0;
  for (size_t k = 0; k < c->segments.items[number].first; ++k) {
    pb_s1_kind kind = program->ops[k].kind;
    if ((kind == PB_S1_AGAIN || kind == PB_S1_ELSE || kind == PB_S1_END) && depth) --depth;
    if (kind == PB_S1_LOOP || kind == PB_S1_IF || kind == PB_S1_ELSE) open[depth++] = k;
  }
  pb_text_add(text, "// segment %d", number);
  for (size_t k = 0; k < depth; ++k) {
    const pb_s1_op* op = &program->ops[open[k]];
    pb_text_add(text, ", %s '", op->kind == PB_S1_LOOP ? "loop" : op->kind == PB_S1_IF ? "then of" : "else of");
    pb_text_add_shown(text, op->name);
    pb_text_add(text, "'");
  }
  pb_text_add(text, "\n");
  pb_arena_free(&scratch);
}

// A segment's text; of plans with the kernels' names as --plan takes them.
static void print_part(const compilation* c, int number, const char* part, pb_text* all) {
  bool plans = !strcmp(c->options->emit, "plan");
  if (plans && !all->data)
    pb_text_add(all,
                "// Plans for %s by segment. Edit and hand back with --plan=FILE; a kernel left out is planned "
                "anew.\n",
                c->chip->name);
  print_place(c, number, all);
  if (plans && !strncmp(part, "// Plans for", 12)) part += strcspn(part, "\n") + 1; // it is said once
  for (size_t line; plans && *part; part += line) {
    line = strcspn(part, "\n");
    line += part[line] == '\n';
    if (isalpha((unsigned char)*part)) // a kernel begins
      pb_text_add(all, "s%d.", number);
    pb_text_add_bytes(all, part, line);
  }
  pb_text_add(all, "%s", part);
}

static pb_status compile_part(compilation* c, int number, pb_text* all, kernels* taken) {
  pb_compiled out = {0}; // its stages' times are this one's
  compilation* part = &c->parts[number];
  pb__start_segment(c, number, part, &out);
  const char* folder = c->options->dump_dir;
  if (folder) folder = pb_printf(&c->unit.arena, "%s/segment-%d", folder, number);
  PB_TRY(pb_dump_start(&part->dump, folder, c->unit.diag));
  pb_status status = pb__compile_module(part);
  if (status == PB_OK && !out.text) status = pb__compile_passes(part);
  part->out = NULL;
  if (status != PB_OK) {
    free(out.text);
    return status;
  }
  if (out.text) {
    print_part(c, number, out.text, all);
    free(out.text);
    return PB_OK;
  }
  c->mains[number] = pb_module_func(part->unit.module, "main");
  return take_functions(c, part, taken);
}

pb_status pb__compile_segments(compilation* c) {
  pb_text all = {0};
  kernels taken = {0};
  PB_TRY(pb_s1_segments(&c->s1, c->unit.diag, &c->segments));
  if (!c->unit.context.ptr) c->unit.context = pb_context_create();
  if (c->options->plan_file) PB_TRY(pb_given_plans_read(&c->unit, c->options->plan_file, &c->given));
  c->unit.module = mlirModuleCreateParse(c->unit.context, mlirStringRefCreateFromCString("module {}"));
  c->has_module = true;
  c->parts = calloc(c->segments.count + 1, sizeof *c->parts);
  c->part_count = c->segments.count;
  if (!c->parts) pb_no_memory(c->segments.count * sizeof *c->parts);
  c->mains = PB_NEW_ARRAY(&c->unit.arena, MlirOperation, c->segments.count + 1);
  pb_status status = PB_OK;
  for (size_t k = 0; k < c->segments.count && status == PB_OK; ++k) status = compile_part(c, (int)k, &all, &taken);
  if (status == PB_OK && all.data)
    c->out->text = all.data;
  else
    pb_text_free(&all);
  pb_table_free(&taken.known);
  for (size_t k = 0; k < c->given.count && status == PB_OK; ++k)
    if (!c->given.items[k].used)
      status = pb_error(c->unit.diag, c->given.items[k].place, 2404, "--emit=plan lists the kernels: s0.k0 and on",
                        "no kernel '%s' that is planned", c->given.items[k].kernel);
  if (status == PB_OK && !c->out->text && c->control->saved) pb__make_in_place(c);
  if (status == PB_OK && !c->out->text) status = pb__join_loops(c);
  pb__stage_done(c, "segments");
  return status;
}

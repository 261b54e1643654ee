#include "core/s3/plan/plan_given.h"

#include "core/ir/module.h"
#include "core/s3/kernels.h"

#include <ctype.h>
#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* take_name(pb_unit* unit, pb_plan_reader* r) {
  size_t n = 0;
  while (isalnum((unsigned char)r->at[n]) || (r->at[n] && strchr("_.$-", r->at[n]))) ++n;
  const char* name = n ? pb_printf(&unit->arena, "%.*s", (int)n, r->at) : NULL;
  r->at += n;
  return name;
}

// The length of what stands between matching braces, comments passed over; 0: they do not match.
static size_t braced(const char* text) {
  int depth = 0;
  for (size_t n = 0; text[n]; ++n) {
    if (text[n] == '/' && text[n + 1] == '/') n += strcspn(text + n, "\n");
    if (!text[n]) return 0;
    depth += (text[n] == '{') - (text[n] == '}');
    if (!depth) return n + 1;
  }
  return 0;
}

static pb_status read_plan(pb_unit* unit, pb_plan_reader* r, pb_given_plans* plans) {
  const char* hint = "KERNEL { ... }, as --emit=plan prints it";
  pb_given_plan plan = {.place = r->place, .kernel = take_name(unit, r)};
  if (!plan.kernel) return pb_error(r->diag, r->place, 2401, hint, "a kernel's name is expected");
  for (size_t k = 0; k < plans->count; ++k)
    if (!strcmp(plans->items[k].kernel, plan.kernel))
      return pb_error(r->diag, r->place, 2403, NULL, "a second plan for '%s'; the first is in line %d", plan.kernel,
                      plans->items[k].place.line);
  (void)pb_plan_more(r);
  if (*r->at != '{') return pb_error(r->diag, r->place, 2401, hint, "'{' is expected after '%s'", plan.kernel);
  size_t length = braced(r->at);
  if (!length) return pb_error(r->diag, r->place, 2401, hint, "this brace is never closed");
  plan.text = pb_printf(&unit->arena, "%.*s", (int)length - 2, r->at + 1);
  plan.text_place = r->place;
  for (; length; --length) r->place.line += *r->at++ == '\n';
  PB_PUSH(plans->items, plans->count, plans->capacity, plan);
  return PB_OK;
}

static char* read_text(const char* path, pb_arena* arena) {
  size_t length;
  char* text = pb_module_text(path, &length);
  if (!text) return NULL;
  for (size_t k = 0; k < length; ++k)
    if (!text[k]) text[k] = 1; // a zero would end the text unseen; this is refused
  char* kept = pb_strdup(arena, text);
  free(text);
  return kept;
}

pb_status pb_given_plans_read(pb_unit* unit, const char* path, pb_given_plans* plans) {
  const char* text = read_text(path, &unit->arena);
  if (!text) return pb_system_error(unit->diag, (pb_place){.file = path}, 1001, "cannot be read");
  pb_plan_reader r = {.at = text, .place = {.file = path, .line = 1}, .chip = unit->chip, .diag = unit->diag};
  while (pb_plan_more(&r)) PB_TRY(read_plan(unit, &r, plans));
  return PB_OK;
}

void pb_given_plans_free(pb_given_plans* plans) {
  free(plans->items);
  *plans = (pb_given_plans){0};
}

const pb_given_plan* pb_given_plan_of(const pb_unit* unit, MlirOperation func) {
  if (!unit->given) return NULL;
  MlirStringRef name = mlirStringAttrGetValue(pb_op_attribute(func, "sym_name"));
  for (size_t k = 0; k < unit->given->count; ++k) {
    pb_given_plan* plan = &unit->given->items[k];
    if (!mlirStringRefEqual(name, mlirStringRefCreateFromCString(plan->kernel))) continue;
    plan->used = true;
    return plan;
  }
  return NULL;
}

pb_status pb_given_plans_used(const pb_unit* unit) {
  for (size_t k = 0; unit->given && k < unit->given->count; ++k)
    if (!unit->given->items[k].used)
      return pb_error(unit->diag, unit->given->items[k].place, 2404, "--emit=plan lists the kernels",
                      "no kernel '%s' that is planned", unit->given->items[k].kernel);
  return PB_OK;
}

// The model's nodes that the host program runs a kernel for, as a comment.
static void print_nodes(const pb_unit* unit, MlirStringRef kernel, pb_text* text) {
  MlirOperation main = pb_module_func(unit->module, "main");
  if (mlirOperationIsNull(main)) return;
  PB_FOR_OPS (op, pb_op_body(main)) {
    MlirAttribute callee = pb_op_attribute(op, "callee"), origin = pb_op_attribute(op, "pb.origin");
    if (mlirAttributeIsNull(callee) || mlirAttributeIsNull(origin) || !mlirAttributeIsAString(origin)) continue;
    if (!mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(callee), kernel)) continue;
    pb_text_add(text, "// ");
    pb_text_add_shown(text, mlirStringAttrGetValue(origin).data); // zero-terminated, as MLIR keeps it
    pb_text_add(text, "\n");
  }
}

pb_status pb_given_plans_print(const pb_unit* unit, pb_text* text) {
  pb_text_add(text, "// Plans for %s%s%s. Edit and hand back with --plan=FILE; a kernel left out is planned anew.\n",
              unit->chip->name, unit->chip->variant[0] ? ":" : "", unit->chip->variant);
  size_t empty = text->length;
  PB_FOR_OPS (op, mlirModuleGetBody(unit->module)) {
    MlirAttribute plan = pb_op_attribute(op, "pb.plan");
    if (!pb_op_has(op, "pb.kernel") || mlirAttributeIsNull(plan)) continue;
    MlirStringRef name = mlirStringAttrGetValue(pb_op_attribute(op, "sym_name"));
    print_nodes(unit, name, text);
    MlirStringRef says = mlirStringAttrGetValue(plan);
    pb_text_add(text, "%.*s {\n%.*s}\n", (int)name.length, name.data, (int)says.length, says.data);
  }
  if (text->length > empty) return PB_OK;
  return pb_unsupported(unit->diag, (pb_place){.what = unit->chip->name}, 2407, NULL, "no kernel has a plan");
}

pb_plan_reader pb_given_plan_reader(pb_unit* unit, const pb_given_plan* given) {
  return (pb_plan_reader){
      .at = given->text, .place = given->text_place, .code = 2406, .chip = unit->chip, .diag = unit->diag};
}

#include "core/s3/fallback.h"

#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <string.h>

static void hold(void* user, bool error, int code, const char* text) {
  (void)error, (void)code;
  pb_text_add(user, "%s\n", text);
}

static pb_left_kernel* item_of(const pb_fallback* f, const char* name) {
  for (size_t k = 0; k < f->count; ++k)
    if (!strcmp(f->items[k].name, name)) return &f->items[k];
  return NULL;
}

void pb_attempt_begin(pb_unit* unit, pb_attempt* attempt, MlirOperation func) {
  *attempt = (pb_attempt){.outer = unit->diag};
  attempt->diag = (pb_diag){.sink = hold, .user = &attempt->text};
  unit->diag = &attempt->diag;
  const char* name = pb_func_name(func, &unit->arena);
  if (item_of(unit->fallback, name)) return;
  pb_text text = {0};
  mlirOperationPrint(func, pb_text_append, &text);
  pb_left_kernel item = {.name = name, .text = pb_strdup(&unit->arena, text.data)};
  PB_PUSH(unit->fallback->items, unit->fallback->count, unit->fallback->capacity, item);
  pb_text_free(&text);
}

// The first diagnostic, without what every one begins with, and its hint.
static const char* reason_of(pb_unit* unit, const pb_text* text) {
  const char* from = text->data ? text->data : "no reason given";
  if (!strncmp(from, "error: ", 7)) from += 7;
  size_t line = strcspn(from, "\n");
  static const char mark[] = "\n  hint: ";
  if (strncmp(from + line, mark, sizeof mark - 1)) return pb_printf(&unit->arena, "%.*s", (int)line, from);
  const char* hint = from + line + sizeof mark - 1;
  return pb_printf(&unit->arena, "%.*s (%.*s)", (int)line, from, (int)strcspn(hint, "\n"), hint);
}

static pb_status leave(pb_unit* unit, pb_left_kernel* item, const char* reason) {
  pb_text text = {0};
  pb_text_add(&text, "%s\n", item->text);
  pb_status status = pb_kernel_replace(unit, pb_module_func(unit->module, item->name), &text, "fallback");
  pb_text_free(&text);
  if (status != PB_OK) return status;
  item->reason = reason;
  pb_op_set_attribute(pb_module_func(unit->module, item->name), "pb.left", mlirUnitAttrGet(unit->context));
  pb_warning(unit->diag, (pb_place){.what = item->name}, 4063, "runs on %s, since %s", unit->fallback->target, reason);
  return PB_OK;
}

static void pass_on(pb_diag* to, const pb_diag* held, const char* text) {
  if (!to || !to->sink) fprintf(stderr, "%s\n", text);
  if (!to) return;
  to->errors += held->errors;
  to->warnings += held->warnings;
  if (to->sink) to->sink(to->user, held->errors > 0, 0, text);
}

pb_status pb_attempt_end(pb_unit* unit, pb_attempt* attempt, const char* kernel, pb_status status, bool* left) {
  unit->diag = attempt->outer;
  // one that has been planned with tensors that stay on the chip takes them from there
  *left = status == PB_ERR_UNSUPPORTED && !pb_op_has(pb_module_func(unit->module, kernel), "pb.reserved");
  if (*left) {
    status = leave(unit, item_of(unit->fallback, kernel), reason_of(unit, &attempt->text));
  } else if (attempt->text.length) {
    attempt->text.data[attempt->text.length - 1] = 0;
    pass_on(unit->diag, &attempt->diag, attempt->text.data);
  }
  pb_text_free(&attempt->text);
  return status;
}

bool pb_kernel_is_left(MlirOperation func) { return pb_op_has(func, "pb.left"); }

const pb_left_kernel* pb_kernel_left(const pb_unit* unit, const char* name) {
  const pb_left_kernel* item = unit->fallback ? item_of(unit->fallback, name) : NULL;
  return item && item->reason ? item : NULL;
}

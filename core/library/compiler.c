// include/pb/compiler.h over the driver.
#include "pb/compiler.h"

#include "core/driver/options.h"

#include <stdlib.h>
#include <string.h>

struct pb_compiler_result {
  pb_arena arena;
  const char* name;
  pb_compiler_record* records;
  size_t record_count, record_capacity;
  void* engine;
  uint64_t engine_bytes;
  char* text;
  bool explains; // what the chip lacks stands in the text
};

// "FILE:LINE:COLUMN: ", "FILE: " or nothing, in front of what kind of diagnostic it is.
static void read_place(pb_compiler_result* r, const char* text, size_t length, pb_compiler_record* record) {
  char* place = pb_printf(&r->arena, "%.*s", (int)length, text);
  int* to[] = {&record->column, &record->line};
  if (length >= 2) place[length - 2] = 0; // ": "
  for (int k = 0; k < 2; ++k) {
    char *colon = strrchr(place, ':'), *end = NULL;
    long number = colon ? strtol(colon + 1, &end, 10) : 0;
    if (!colon || end == colon + 1 || *end) break;
    *to[k] = (int)number;
    *colon = 0;
  }
  if (record->column && !record->line) { // one number alone
    record->line = record->column;
    record->column = 0;
  }
  record->file = place;
}

// Text in memory is read as a file without a name (core/driver/compile.c): it is called as the caller calls it.
static const char* named(pb_compiler_result* r, const char* text) {
  static const char nameless[] = "/proc/self/fd/";
  size_t length = strlen(nameless);
  return strncmp(text, nameless, length)
             ? pb_strdup(&r->arena, text)
             : pb_printf(&r->arena, "%s%s", r->name, text + length + strcspn(text + length, ":"));
}

// A diagnostic is one line, and one for its hint: core/base/diag.h.
static void keep(void* user, bool error, int code, const char* said) {
  pb_compiler_result* r = user;
  if (r->explains && !error && (code == 4063 || code == 4065)) return;
  const char* text = named(r, said);
  const char *kind = error ? "error: " : "warning: ", *hint_mark = "\n  hint: ";
  pb_compiler_record record = {.is_error = error, .code = code, .file = "", .hint = ""};
  record.whole = text;
  const char *found = strstr(text, kind), *hint = strstr(text, hint_mark);
  const char* body = found ? found + strlen(kind) : text;
  if (found) read_place(r, text, (size_t)(found - text), &record);
  if (hint) record.hint = pb_strdup(&r->arena, hint + strlen(hint_mark));
  size_t length = hint ? (size_t)(hint - body) : strlen(body);
  char* what = pb_printf(&r->arena, "%.*s", (int)length, body);
  char* number = NULL;
  for (char* at = what; (at = strstr(at, " [PB")); ++at) number = at; // names in front of it may have the same
  if (number) *number = 0;
  record.text = what;
  PB_PUSH(r->records, r->record_count, r->record_capacity, record);
}

static bool type_named(const char* name, pb_type* type) {
  for (int t = 0; t < PB_TYPE_COUNT; ++t)
    if (name && !strcmp(pb_type_name((pb_type)t), name)) {
      *type = (pb_type)t;
      return true;
    }
  return false;
}

static pb_status read_bound(pb_compiler_result* r, const pb_compiler_tensor* from, pb_diag* diag, pb_bound* to) {
  pb_place place = {.what = from->name ? from->name : "a bound input"};
  if (!from->name || !from->data) return pb_error(diag, place, 1004, NULL, "has no name or no data");
  if (from->rank < 0 || from->rank > PB_GRAPH_RANK || (from->rank && !from->shape))
    return pb_error(diag, place, 1004, "0 to 8 dims", "has %d dims", from->rank);
  *to = (pb_bound){.name = pb_strdup(&r->arena, from->name), .rank = from->rank, .data = from->data};
  if (!type_named(from->type, &to->type))
    return pb_error(diag, place, 1004, "f32, i64, i8, u8, i1, ...", "no type '%s'", from->type ? from->type : "");
  for (int d = 0; d < from->rank; ++d) {
    if (from->shape[d] < 1) return pb_error(diag, place, 1004, NULL, "has a dim of %lld", (long long)from->shape[d]);
    to->shape[d] = from->shape[d];
  }
  return PB_OK;
}

static pb_status set_explain(pb_compiler_result* r, pb_compile_options* o, const char* how, pb_diag* diag) {
  if (!how || (strcmp(how, "text") != 0 && strcmp(how, "json") != 0 && strcmp(how, "html") != 0))
    return pb_error(diag, (pb_place){0}, 1006, "text, json, html", "cannot explain as '%s'", how ? how : "");
  o->explain = how;
  r->explains = true;
  return PB_OK;
}

static pb_status compile(pb_compiler_result* r, const pb_compiler_model* model, pb_diag* diag) {
  pb_compile_options o = {.model = r->name, .bytes = model->bytes, .size = model->size};
  pb_bound* bounds = PB_NEW_ARRAY(&r->arena, pb_bound, (size_t)(model->bound_count > 0 ? model->bound_count : 0) + 1);
  for (int k = 0; k < model->option_count; ++k)
    if (model->options[k].name && !strcmp(model->options[k].name, "explain"))
      PB_TRY(set_explain(r, &o, model->options[k].value, diag));
    else
      PB_TRY(pb_option_set(&o, &r->arena, model->options[k].name, model->options[k].value, diag));
  for (int k = 0; k < model->bound_count; ++k) PB_TRY(read_bound(r, &model->bound[k], diag, &bounds[k]));
  o.inputs.bounds = bounds;
  o.inputs.bound_count = model->bound_count > 0 ? model->bound_count : 0;
  if (!r->name[0]) return pb_error(diag, (pb_place){0}, 1005, NULL, "a model without a name");
  if (!o.target) return pb_error(diag, (pb_place){0}, 1002, "target, say cpu", "an option is missing");
  if (o.emit || o.print_after)
    return pb_error(diag, (pb_place){0}, 1002, "pbc prints them", "the option '%s' is for texts, not for engines",
                    o.emit ? "emit" : "print-after");
  if (o.explain && !o.fallback) { // all that the chip lacks is found by leaving it to the processor
    o.fallback = "cpu";
    o.explain_refusals = true;
  }
  pb_compiled compiled;
  pb_status status = pb_compile(&o, diag, &compiled);
  if (status == PB_OK && o.explain) {
    r->text = compiled.text;
    compiled.text = NULL;
  } else if (status == PB_OK)
    status = pb_engine_pack(compiled.engine, diag, &r->engine, &r->engine_bytes);
  pb_compiled_free(&compiled);
  return status;
}

pb_compiler_result* pb_compiler_run(const pb_compiler_model* model) {
  pb_compiler_result* r = calloc(1, sizeof *r);
  if (!r) pb_no_memory(sizeof *r);
  r->name = pb_strdup(&r->arena, model->name ? model->name : "");
  pb_diag diag = {.sink = keep, .user = r};
  pb_status status = compile(r, model, &diag);
  if (status != PB_OK && !diag.errors)
    (void)pb_error(&diag, (pb_place){.what = r->name}, 4090, "this is a bug in the compiler",
                   "failed without a reason");
  return r;
}

void pb_compiler_free(pb_compiler_result* r) {
  if (!r) return;
  pb_arena arena = r->arena;
  free(r->records);
  free(r->engine);
  free(r->text);
  free(r);
  pb_arena_free(&arena);
}

const void* pb_compiler_engine(const pb_compiler_result* r, uint64_t* bytes) {
  if (bytes) *bytes = r->engine_bytes;
  return r->engine;
}

const char* pb_compiler_text(const pb_compiler_result* r) { return r->text; }

int pb_compiler_record_count(const pb_compiler_result* r) { return (int)r->record_count; }

const pb_compiler_record* pb_compiler_get_record(const pb_compiler_result* r, int index) { return &r->records[index]; }

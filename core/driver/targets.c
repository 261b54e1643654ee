#include "core/driver/targets.h"

#include "core/driver/compilation.h"

#include <string.h>

int pb_targets_count(const char* targets) {
  int count = 1;
  for (const char* at = targets; at && (at = strchr(at, ',')); ++at) ++count;
  return count;
}

const char* pb_targets_item(const char* targets, int number, pb_arena* arena) {
  const char *at = targets, *name = NULL; // of the last item with a variant
  for (int k = 0; k < number; ++k) {
    const char* colon = strpbrk(at, ":,");
    if (colon && *colon == ':') name = at;
    at += strcspn(at, ",") + 1;
  }
  int length = (int)strcspn(at, ",");
  bool is_variant = name && !memchr(at, ':', (size_t)length);
  return is_variant ? pb_printf(arena, "%.*s:%.*s", (int)strcspn(name, ":"), name, length, at)
                    : pb_printf(arena, "%.*s", length, at);
}

static const char* of_one_alone(const pb_compile_options* o) {
  return o->emit ? "--emit" : o->fallback ? "--fallback" : o->chip ? "a description" : pb__option_of_one(o);
}

// Other chips may have other memories for constants, and code of a processor's cores an engine holds once.
static pb_status check(const pb_engine* e, const char* target, pb_diag* diag) {
  if (!e->kernel_count || pb_engine_has_grid(e)) return PB_OK;
  return pb_error(diag, (pb_place){.what = target}, 1008, "an engine for each",
                  "one engine holds code for several GPUs, and this is none");
}

pb_status pb_targets_compile(const pb_compile_options* options,
                             pb_status (*compile)(const pb_compile_options* options, pb_diag* diag, pb_compiled* out),
                             pb_diag* diag, pb_compiled* out) {
  *out = (pb_compiled){0};
  pb_arena arena = {0};
  pb_status status = PB_OK;
  if (of_one_alone(options))
    status = pb_error(diag, (pb_place){.file = options->model}, 1008, "one target",
                      "%s is of one program, and these are for several targets", of_one_alone(options));
  for (int k = 0; k < pb_targets_count(options->target) && status == PB_OK; ++k) {
    pb_compile_options one = *options;
    pb_compiled made;
    one.target = pb_targets_item(options->target, k, &arena);
    status = compile(&one, diag, &made);
    if (status != PB_OK) break;
    pb__compiled_join(out, &made);
    status = check(made.engine, one.target, diag);
  }
  if (status != PB_OK) pb_engine_free(out->engine);
  if (status != PB_OK) out->engine = NULL;
  pb_arena_free(&arena);
  return status;
}

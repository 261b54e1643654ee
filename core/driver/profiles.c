#include "core/driver/profiles.h"

#include "core/artefact/format.h"
#include "core/driver/compilation.h"

#include <assert.h>
#include <string.h>

static_assert((int)PB_MOST_PROFILES == (int)PB_ENGINE_MAX_PROFILES, "what options may list, an engine can hold");

static bool join_count(int mine, int* count) {
  if (mine <= 1 || mine == *count) return true;
  bool first = *count == 1;
  if (first) *count = mine;
  return first;
}

pb_status pb_profiles_count(const pb_input_options* inputs, pb_diag* diag, int* count) {
  *count = 1;
  bool equal = true;
  for (int k = 0; k < inputs->shape_count; ++k)
    for (int r = 0; inputs->shapes[k].lists && r < inputs->shapes[k].rank; ++r)
      equal &= join_count(inputs->shapes[k].lists[r].count, count);
  for (int k = 0; k < inputs->dim_count; ++k)
    if (inputs->dims[k].list) equal &= join_count(inputs->dims[k].list->count, count);
  return equal ? PB_OK
               : pb_error(diag, (pb_place){0}, 1004,
                          "as many values for each dim that lists any: the first ones go together",
                          "lists of extents of several lengths");
}

static int64_t item(const pb_extents* list, int profile) { return list->items[list->count > 1 ? profile : 0]; }

// What the options say of one profile.
static pb_input_options inputs_of(const pb_input_options* all, int profile, pb_arena* arena) {
  pb_input_options one = *all;
  pb_input_shape* shapes = PB_NEW_ARRAY(arena, pb_input_shape, (size_t)all->shape_count + 1);
  pb_dim_value* dims = PB_NEW_ARRAY(arena, pb_dim_value, (size_t)all->dim_count + 1);
  for (int k = 0; k < all->shape_count; ++k) {
    shapes[k] = all->shapes[k];
    for (int r = 0; shapes[k].lists && r < shapes[k].rank; ++r) shapes[k].shape[r] = item(&shapes[k].lists[r], profile);
    shapes[k].lists = NULL;
  }
  for (int k = 0; k < all->dim_count; ++k)
    dims[k] = (pb_dim_value){all->dims[k].name,
                             all->dims[k].list ? item(all->dims[k].list, profile) : all->dims[k].extent, NULL};
  one.shapes = shapes;
  one.dims = dims;
  return one;
}

static const char* of_one_alone(const pb_compile_options* o) { return o->emit ? "--emit" : pb__option_of_one(o); }

pb_status pb_profiles_compile(const pb_compile_options* options, int count,
                              pb_status (*compile)(const pb_compile_options* options, pb_diag* diag, pb_compiled* out),
                              pb_diag* diag, pb_compiled* out) {
  *out = (pb_compiled){0};
  pb_arena arena = {0};
  pb_status status = PB_OK;
  if (of_one_alone(options))
    status = pb_error(diag, (pb_place){.file = options->model}, 1008, "one extent a dim",
                      "%s is of one program, and these are %d", of_one_alone(options), count);
  for (int k = 0; k < count && status == PB_OK; ++k) {
    pb_compile_options one = *options;
    pb_compiled made;
    one.inputs = inputs_of(&options->inputs, k, &arena);
    made = (pb_compiled){0};
    status = compile(&one, diag, &made);
    if (status == PB_OK && made.engine->open) {
      status = pb_error(diag, (pb_place){.file = options->model}, 1004, "values for all dims, or open ones alone",
                        "'%s' is open in a profile", made.engine->open->symbols[0]);
      pb_compiled_free(&made);
    }
    if (status != PB_OK) break;
    pb__compiled_join(out, &made);
  }
  if (status != PB_OK) pb_engine_free(out->engine);
  if (status != PB_OK) out->engine = NULL;
  pb_arena_free(&arena);
  return status;
}

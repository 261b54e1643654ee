#include "core/driver/options.h"

#include "core/base/distance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static pb_status set_threads(pb_compile_options* o, pb_arena* arena, const char* value, pb_diag* diag) {
  (void)arena;
  char* end;
  long threads = strtol(value, &end, 10);
  if (end == value || *end || threads < 1 || threads > 1024)
    return pb_error(diag, (pb_place){0}, 1009, "a number from 1 to 1024", "'%s' is no number of threads", value);
  o->threads = (int)threads;
  return PB_OK;
}

// 8, or 1,8: each in one of the profiles; or ?: it stays open.
static bool read_extents(const char** at, pb_extents* list) {
  *list = (pb_extents){0};
  if (**at == '?') {
    list->items[list->count++] = PB_OPEN;
    ++*at;
    return true;
  }
  for (;; ++*at) {
    char* end;
    errno = 0;
    long long extent = strtoll(*at, &end, 10);
    if (errno || end == *at || extent < 0 || extent > PB_MAX_ELEMENTS || list->count == PB_MOST_PROFILES) return false;
    list->items[list->count++] = extent;
    *at = end;
    if (*end != ',') return true;
  }
}

// NAME=1x3x224x224
static bool read_shape(pb_arena* arena, const char* value, pb_input_shape* shape) {
  char *text = pb_strdup(arena, value), *equals = strrchr(text, '=');
  if (!equals || equals == text) return false;
  *equals = 0;
  pb_extents* lists = PB_NEW_ARRAY(arena, pb_extents, PB_GRAPH_RANK);
  *shape = (pb_input_shape){.name = text, .lists = lists};
  for (const char* at = equals + 1;; ++at) {
    if (shape->rank == PB_GRAPH_RANK || !read_extents(&at, &lists[shape->rank])) return false;
    shape->shape[shape->rank] = lists[shape->rank].items[0];
    ++shape->rank;
    if (*at != 'x') return !*at;
  }
}

static pb_status add_shape(pb_compile_options* o, pb_arena* arena, const char* value, pb_diag* diag) {
  int count = o->inputs.shape_count;
  pb_input_shape* shapes = PB_NEW_ARRAY(arena, pb_input_shape, (size_t)count + 1);
  if (count) memcpy(shapes, o->inputs.shapes, (size_t)count * sizeof *shapes);
  if (!read_shape(arena, value, &shapes[count]))
    return pb_error(diag, (pb_place){0}, 1004, "NAME=1x3x224x224", "'%s' is no input shape", value);
  o->inputs.shapes = shapes;
  o->inputs.shape_count = count + 1;
  return PB_OK;
}

// NAME=8
static pb_status add_dim(pb_compile_options* o, pb_arena* arena, const char* value, pb_diag* diag) {
  int count = o->inputs.dim_count;
  pb_dim_value* dims = PB_NEW_ARRAY(arena, pb_dim_value, (size_t)count + 1);
  if (count) memcpy(dims, o->inputs.dims, (size_t)count * sizeof *dims);
  char *text = pb_strdup(arena, value), *equals = strrchr(text, '=');
  const char* at = equals ? equals + 1 : text;
  pb_extents* list = PB_NEW(arena, pb_extents);
  if (!equals || equals == text || !read_extents(&at, list) || *at)
    return pb_error(diag, (pb_place){0}, 1004, "NAME=8", "'%s' gives no dim an extent", value);
  *equals = 0;
  for (int k = 0; k < count; ++k)
    if (!strcmp(dims[k].name, text))
      return pb_error(diag, (pb_place){0}, 1004, "one extent a dim", "dim '%s' twice", text);
  dims[count] = (pb_dim_value){text, list->items[0], list};
  o->inputs.dims = dims;
  o->inputs.dim_count = count + 1;
  return PB_OK;
}

// NAME=3, NAME=none
static pb_status add_items(pb_compile_options* o, pb_arena* arena, const char* value, pb_diag* diag) {
  int count = o->inputs.item_count;
  pb_item_count* items = PB_NEW_ARRAY(arena, pb_item_count, (size_t)count + 1);
  if (count) memcpy(items, o->inputs.items, (size_t)count * sizeof *items);
  char *text = pb_strdup(arena, value), *equals = strrchr(text, '='), *end = NULL;
  bool none = equals && !strcmp(equals + 1, "none");
  long number = equals && equals[1] >= '0' && equals[1] <= '9' ? strtol(equals + 1, &end, 10) : -1;
  if (!equals || equals == text || (!none && (!end || *end || number > PB_MOST_ITEMS)))
    return pb_error(diag, (pb_place){0}, 1004, "NAME=3, or NAME=none", "'%s' gives no sequence a length", value);
  *equals = 0;
  for (int k = 0; k < count; ++k)
    if (!strcmp(items[k].name, text))
      return pb_error(diag, (pb_place){0}, 1004, "one length a sequence", "'%s' twice", text);
  items[count] = (pb_item_count){text, none ? PB_NO_ITEMS : (int)number};
  o->inputs.items = items;
  o->inputs.item_count = count + 1;
  return PB_OK;
}

static pb_status add_weights(pb_compile_options* o, pb_arena* arena, const char* value, pb_diag* diag) {
  int count = o->inputs.weight_count;
  const char** files = PB_NEW_ARRAY(arena, const char*, (size_t)count + 1);
  if (!value[0]) return pb_error(diag, (pb_place){0}, 1004, "FILE.safetensors", "no file with weights");
  if (count) memcpy(files, o->inputs.weights, (size_t)count * sizeof *files);
  files[count] = pb_strdup(arena, value);
  o->inputs.weights = files;
  o->inputs.weight_count = count + 1;
  return PB_OK;
}

// INPUT=OUTPUT
static pb_status add_donation(pb_compile_options* o, pb_arena* arena, const char* value, pb_diag* diag) {
  int count = o->inputs.donation_count;
  pb_donation* donations = PB_NEW_ARRAY(arena, pb_donation, (size_t)count + 1);
  if (count) memcpy(donations, o->inputs.donations, (size_t)count * sizeof *donations);
  char *text = pb_strdup(arena, value), *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1])
    return pb_error(diag, (pb_place){0}, 1004, "arg1=out0", "'%s' donates no input to an output", value);
  *equals = 0;
  for (int k = 0; k < count; ++k)
    if (!strcmp(donations[k].input, text) || !strcmp(donations[k].output, equals + 1))
      return pb_error(diag, (pb_place){0}, 1004, "one output an input", "'%s' is donated twice", value);
  donations[count] = (pb_donation){text, equals + 1};
  o->inputs.donations = donations;
  o->inputs.donation_count = count + 1;
  return PB_OK;
}

pb_status pb_option_set(pb_compile_options* o, pb_arena* arena, const char* name, const char* value, pb_diag* diag) {
  const struct {
    const char *name, **text;
    pb_status (*set)(pb_compile_options* o, pb_arena* arena, const char* value, pb_diag* diag);
  } known[] = {{"target", &o->target, NULL},
               {"target-dir", &o->target_dir, NULL},
               {"emit", &o->emit, NULL},
               {"plan", &o->plan_file, NULL},
               {"dump-intermediates", &o->dump_dir, NULL},
               {"fallback", &o->fallback, NULL},
               {"print-after", &o->print_after, NULL},
               {"like", &o->like, NULL},
               {"precision", &o->precision, NULL},
               {"between", &o->between, NULL},
               {"loops", &o->loops, NULL},
               {"threads", NULL, set_threads},
               {"input-shape", NULL, add_shape},
               {"dim", NULL, add_dim},
               {"weights", NULL, add_weights},
               {"donate", NULL, add_donation},
               {"items", NULL, add_items}};
  const size_t count = sizeof known / sizeof *known;
  const char* near = NULL;
  int best = strlen(name) < 6 ? 2 : 3; // further away it is another word
  for (size_t k = 0; k < count; ++k) {
    int away = pb_edit_distance(name, known[k].name);
    if (away < best) near = known[k].name;
    if (away < best) best = away;
    if (away) continue;
    if (!value) return pb_error(diag, (pb_place){0}, 1002, NULL, "option '%s' has no value", name);
    if (known[k].set) return known[k].set(o, arena, value, diag);
    *known[k].text = pb_strdup(arena, value);
    return PB_OK;
  }
  const char* hint = near ? pb_printf(arena, "perhaps %s", near) : "options with a value:";
  for (size_t k = 0; !near && k < count; ++k) hint = pb_printf(arena, "%s%s %s", hint, k ? "," : "", known[k].name);
  return pb_error(diag, (pb_place){0}, 1002, hint, "no option '%s'", name);
}

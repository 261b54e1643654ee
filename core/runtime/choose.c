// What runs: one of an engine's targets, one of its profiles, on a device.
#include "core/runtime/rt.h"

#include <stdlib.h>
#include <string.h>

pb_rt* pb__chosen(const pb_rt* rt) { return rt->profiles[rt->target * rt->profile_count + rt->chosen]; }

// ---- devices ----

void pb__close_device(pb_rt* rt) {
  pb__words_close(rt);
  pb__native_close(rt);
  rt->device_name = "";
}

pb_status pb__set_device(pb_rt* rt, const char* name, const char* options, pb_diag* diag) {
  pb_place place = {.file = rt->path};
  bool none = !rt->has_device && !rt->has_native; // tensors without elements alone: no device has anything to do
  bool native = none || !strcmp(name, "native");
  pb__close_device(rt);
  if (native && rt->has_device)
    return pb_error(diag, place, 5027, "machine or rtl", "the engine is for the %s of '%s'; no native code",
                    pb_engine_has_grid(rt->engine) ? "grid" : "queues", rt->engine->target);
  if (!native && !rt->has_device)
    return pb_error(diag, place, 5027, "native", "the engine holds machine code, which device '%s' does not run", name);
  pb_status status = native ? PB_OK : pb__words_open(rt, name, options, diag);
  if (status == PB_OK && rt->has_native) status = pb__native_open(rt, diag);
  if (status != PB_OK)
    pb__close_device(rt);
  else if (native)
    rt->device_name = "native";
  return status;
}

pb_status pb__is_running(const pb_rt* rt, pb_diag* diag) {
  return pb_error(diag, (pb_place){.file = rt->path}, 5034, "load the engine once for each caller",
                  "the engine is running for another caller");
}

// One device is open at a time: the other profile's memory goes.
static pb_status leave_for(pb_rt* rt, int target, int index, pb_diag* diag) {
  if (atomic_load(&pb__chosen(rt)->is_running)) return pb__is_running(rt, diag);
  pb__close_device(pb__chosen(rt));
  rt->chosen = index;
  rt->target = target;
  return PB_OK;
}

static pb_status choose(pb_rt* rt, int target, int index, pb_diag* diag) {
  if (index == rt->chosen && target == rt->target) return PB_OK;
  PB_TRY(leave_for(rt, target, index, diag));
  return rt->device_wanted ? pb__set_device(pb__chosen(rt), rt->device_wanted, rt->options_wanted, diag) : PB_OK;
}

// ---- targets ----

int pb_rt_target_count(const pb_rt* rt) { return rt->target_count; }
const char* pb_rt_target_name(const pb_rt* rt, int index) {
  return index < 0 || index >= rt->target_count ? NULL : rt->profiles[index * rt->profile_count]->engine->target;
}

static const char* all_targets(const pb_rt* rt, pb_arena* arena) {
  const char* text = "";
  for (int k = 0; k < rt->target_count; ++k)
    text = pb_printf(arena, "%s%s%s", text, k ? ", " : "", pb_rt_target_name(rt, k));
  return text;
}

// How well code for the target suits the device; *open: one that is, of operations *of.
static int suit(const pb_rt* one, const char* name, const char* options, const pb_device_ops** of, pb_device** open) {
  const pb_device_ops* ops = pb__device_named(name, one->chip);
  if (!ops) return 0;
  if (ops->abi < 5 || !ops->suits) return 1;
  if (ops != *of) {
    if (*open) (*of)->close(*open);
    *of = ops;
    if (ops->open(options, open)) return 1; // what is wrong is said when it is opened to stay
  }
  return ops->suits(*open, one->engine->processor);
}

// The first of those that suit it best.
static pb_status choose_target(pb_rt* rt, const char* name, const char* options, pb_diag* diag) {
  const pb_device_ops* ops = NULL;
  pb_device* open = NULL;
  int best = -1, most = 0;
  if (pb__device_is_file(name)) return PB_OK; // it takes the code, or not
  for (int k = 0; k < rt->target_count; ++k) {
    const pb_rt* one = rt->profiles[k * rt->profile_count];
    int suits = one->engine->processor ? suit(one, name, options, &ops, &open) : 0;
    if (suits > most) best = k;
    if (suits > most) most = suits;
  }
  pb_status status = PB_OK;
  if (best < 0)
    status = pb_error(
        diag, (pb_place){.file = rt->path}, 5065, pb_printf(&rt->arena, "%s", all_targets(rt, &rt->arena)),
        "the engine has no code for device '%s'%s%s", name, open ? ": it is " : "", open ? ops->last_fault(open) : "");
  if (open) ops->close(open);
  return status == PB_OK && best != rt->target ? leave_for(rt, best, rt->chosen, diag) : status;
}

int pb_rt_set_target(pb_rt* rt, int index) {
  pb_diag diag = pb__rt_diag();
  if (index < 0 || index >= rt->target_count)
    return pb__rt_code(pb_error(&diag, (pb_place){.file = rt->path}, 5065, all_targets(rt, &rt->arena),
                                "target %d of %d", index, rt->target_count));
  rt->target_wanted = true;
  return pb__rt_code(choose(rt, index, rt->chosen, &diag));
}

static char* kept(const char* text) {
  char* copy = text ? strdup(text) : NULL;
  if (text && !copy) pb_no_memory(strlen(text) + 1);
  return copy;
}

int pb_rt_set_device(pb_rt* rt, const char* name, const char* options) {
  pb_diag diag = pb__rt_diag();
  pb_status status = rt->target_count > 1 && !rt->target_wanted ? choose_target(rt, name, options, &diag) : PB_OK;
  if (status == PB_OK) status = pb__set_device(pb__chosen(rt), name, options, &diag);
  if (status != PB_OK) return pb__rt_code(status);
  free(rt->device_wanted);
  free(rt->options_wanted);
  rt->device_wanted = kept(name);
  rt->options_wanted = kept(options);
  return 0;
}

// ---- profiles ----

int pb_rt_profile_count(const pb_rt* rt) { return rt->profile_count; }
int pb_rt_profile(const pb_rt* rt) { return rt->chosen; }

int pb_rt_set_profile(pb_rt* rt, int index) {
  pb_diag diag = pb__rt_diag();
  if (index < 0 || index >= rt->profile_count)
    return pb__rt_code(
        pb_error(&diag, (pb_place){.file = rt->path}, 5046, NULL, "profile %d of %d", index, rt->profile_count));
  return pb__rt_code(choose(rt, rt->target, index, &diag));
}

static bool has_shapes(const pb_rt* rt, const int64_t* const* shapes) {
  for (int k = 0; k < rt->engine->input_count; ++k)
    for (int d = 0; d < rt->inputs[k].rank; ++d)
      if (shapes[k][d] != rt->inputs[k].shape[d]) return false;
  return true;
}

static pb_status choose_open(pb_rt* rt, const int64_t* const* shapes, pb_diag* diag) {
  if (atomic_exchange(&rt->is_running, true)) return pb__is_running(rt, diag);
  pb_status status = pb__open_choose(rt, shapes, diag);
  atomic_store(&rt->is_running, false);
  return status;
}

bool pb_rt_is_open(const pb_rt* rt) { return rt->engine->open != NULL; }

// "x 1x3, n 4; x 8x3, n 4"
static const char* all_shapes(const pb_rt* rt, pb_arena* arena) {
  const char* text = "";
  for (int p = 0; p < rt->profile_count; ++p)
    for (int k = 0; k < rt->engine->input_count && strlen(text) < 1024; ++k) {
      const pb_rt_tensor* t = &rt->profiles[p]->inputs[k];
      text = pb_printf(arena, "%s%s%s %s", text,
                       k   ? ", "
                       : p ? "; "
                           : "",
                       t->name, pb_shape_text(arena, t->rank, t->shape));
    }
  return text;
}

int pb_rt_choose(pb_rt* rt, const int64_t* const* shapes) {
  pb_diag diag = pb__rt_diag();
  if (rt->engine->open) return pb__rt_code(choose_open(rt, shapes, &diag));
  for (int p = 0; p < rt->profile_count; ++p)
    if (has_shapes(rt->profiles[p], shapes)) return pb__rt_code(choose(rt, rt->target, p, &diag));
  pb_arena arena = {0};
  pb_status status = pb_error(&diag, (pb_place){.file = rt->path}, 5047,
                              pb_printf(&arena, "there is %s", all_shapes(rt, &arena)), "no profile for these shapes");
  pb_arena_free(&arena);
  return pb__rt_code(status);
}

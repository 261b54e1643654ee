// Inputs that a loop's kernels read in each turn and that begin inside of a line of the caches, as NumPy's arrays do:
// every whole vector of such a one lies in two lines, and is read twice. They are copied once, in front of the run.
#include "core/runtime/rt.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64, LEAST = 1024, MOST = 8 << 20 }; // bytes

static bool is_of_results(const pb_rt* rt, int input) {
  const int* aliases = rt->engine->aliases;
  for (int k = 0; aliases && k < rt->engine->output_count; ++k)
    if (aliases[k] == input) return true;
  return false;
}

void pb__aligned_prepare(pb_rt* rt) {
  const pb_engine* engine = rt->engine;
  rt->comes_again = PB_NEW_ARRAY(&rt->arena, bool, (size_t)engine->input_count + 1);
  for (int k = 0; k < engine->step_count && !rt->has_device && !engine->open; ++k) {
    if (engine->steps[k].op != PB_HOST_JUMP) continue;
    for (int s = engine->steps[k].target; s < k; ++s) {
      const pb_step* step = &engine->steps[s];
      for (int a = 0; step->op == PB_HOST_LAUNCH && a < step->arg_count; ++a)
        if (step->args[a].space == PB_SPACE_INPUT) rt->comes_again[step->args[a].value] = true;
    }
  }
  for (int k = 0; k < engine->input_count; ++k)
    rt->comes_again[k] &= rt->inputs[k].bytes >= LEAST && rt->inputs[k].bytes <= MOST && !is_of_results(rt, k);
}

void* pb__own_input(pb_rt* rt, int input) {
  uint64_t bytes = rt->inputs[input].bytes + (rt->inputs[input].bytes == 0);
  if (!rt->own_inputs[input]) rt->own_inputs[input] = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
  return rt->own_inputs[input];
}

void pb__aligned_inputs(pb_rt* rt) {
  for (int k = 0; k < rt->engine->input_count; ++k) {
    if (!rt->comes_again[k] || !((uintptr_t)rt->run_inputs[k] % LINE)) continue;
    void* own = pb__own_input(rt, k);
    if (!own) continue; // where it lies it is right as well
    memcpy(own, rt->run_inputs[k], rt->inputs[k].bytes);
    rt->run_inputs[k] = own;
  }
}

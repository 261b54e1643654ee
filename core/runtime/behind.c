// Runs on a device that works behind the call: launches are not waited for one by one. Marks between them tell how long
// each took, and are asked for when the run has to wait anyway.
#include "core/runtime/rt.h"

bool pb__device_is_behind(const pb_rt* rt) {
  const pb_device_ops* ops = rt->words.ops;
  return ops->abi >= 5 && ops->use_stream && ops->mark && ops->seconds;
}

// Who looks at tensors after each step wants each to be done.
pb_status pb__behind_begin(pb_rt* rt, pb_diag* diag) {
  pb__words* w = &rt->words;
  w->pending_count = 0;
  w->behind = pb__device_is_behind(rt) && !rt->after_step && !rt->trace;
  w->timed = w->behind && !rt->given_inputs && !rt->wants_graph;
  if (!w->behind || rt->given_inputs) return PB_OK;
  return w->ops->use_stream(w->device, NULL) ? pb__device_fault(rt, "choosing a stream", diag) : PB_OK;
}

pb_status pb__behind_start(pb_rt* rt, pb_diag* diag) {
  pb__words* w = &rt->words;
  if (!w->timed) return PB_OK;
  if (!w->pending) w->pending = PB_NEW_ARRAY(&rt->arena, int, PB_RT_MOST_PENDING);
  return w->ops->mark(w->device, 0) ? pb__device_fault(rt, "marking the beginning", diag) : PB_OK;
}

pb_status pb__behind_launched(pb_rt* rt, int step, pb_diag* diag) {
  pb__words* w = &rt->words;
  if (!w->timed) return PB_OK;
  w->pending[w->pending_count++] = step;
  if (w->ops->mark(w->device, (uint32_t)w->pending_count)) return pb__device_fault(rt, "marking a launch", diag);
  return w->pending_count == PB_RT_MOST_PENDING ? pb__behind_settle(rt, diag) : PB_OK;
}

static pb_status failed_between(pb_rt* rt, int first, int last, pb_diag* diag) {
  const pb_engine* e = rt->engine;
  return pb_error(diag, (pb_place){.file = rt->path}, 6002, "--device-options=sync=1 names the one",
                  "in steps %d to %d, kernels '%s' to '%s': device '%s': %s", first, last,
                  e->kernels[e->steps[first].kernel].name, e->kernels[e->steps[last].kernel].name, rt->device_name,
                  rt->words.ops->last_fault(rt->words.device));
}

pb_status pb__behind_settle(pb_rt* rt, pb_diag* diag) {
  pb__words* w = &rt->words;
  int count = w->timed ? w->pending_count : 0;
  w->pending_count = 0;
  for (int k = 0; k < count; ++k) {
    double seconds = 0;
    if (w->ops->seconds(w->device, (uint32_t)k, (uint32_t)k + 1, &seconds))
      return failed_between(rt, w->pending[k], w->pending[count - 1], diag);
    rt->steps[w->pending[k]].seconds += seconds;
  }
  if (count && w->ops->mark(w->device, 0)) return pb__device_fault(rt, "marking the beginning", diag);
  return PB_OK;
}

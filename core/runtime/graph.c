// A whole run as one graph of the device: copies in, launches, copies out. It is made by running once, and goes between
// memory of this process that stays where it is.
#include "core/runtime/rt.h"

#include <string.h>

static pb_status refuse(pb_rt* rt, const char* why, const char* hint, pb_diag* diag) {
  return pb_error(diag, (pb_place){.file = rt->path}, 5063, hint, "a run is no graph: %s", why);
}

// What must be known in front of a run: nothing may depend on what kernels leave.
static pb_status check(pb_rt* rt, pb_diag* diag) {
  const pb_engine* e = rt->engine;
  const pb_device_ops* ops = rt->words.ops;
  if (!rt->has_device || ops->abi < 5 || !ops->begin_graph || !ops->alloc_host)
    return refuse(rt, pb_printf(&rt->arena, "device '%s' has none", rt->device_name), "a GPU's own device", diag);
  if (rt->has_native) return refuse(rt, "some kernels are the processor's", "no --fallback", diag);
  if (e->open) return refuse(rt, "dims are open", "pbc --dim NAME=N", diag);
  if (rt->after_step || rt->trace) return refuse(rt, "its steps are looked at one by one", NULL, diag);
  for (int k = 0; k < e->step_count; ++k)
    if (e->steps[k].op != PB_HOST_LAUNCH && e->steps[k].op != PB_HOST_MOVE)
      return refuse(rt, pb_printf(&rt->arena, "step %d (%s) reads what is there", k, e->steps[k].origin),
                    "run it without", diag);
  return PB_OK;
}

static pb_status make_host(pb_rt* rt, pb_diag* diag) {
  pb__words* w = &rt->words;
  int inputs = rt->engine->input_count, count = inputs + rt->engine->output_count;
  w->host = PB_NEW_ARRAY(&rt->arena, void*, (size_t)count + 1);
  for (int k = 0; k < count; ++k) {
    uint64_t bytes = k < inputs ? rt->inputs[k].bytes : rt->outputs[k - inputs].bytes;
    if (w->ops->alloc_host(w->device, bytes ? bytes : 1, &w->host[k]))
      return pb__device_fault(rt, "allocating memory of the host", diag);
  }
  return PB_OK;
}

// A graph that was begun is ended, whatever happened.
static pb_status record(pb_rt* rt, pb_status (*run)(pb_rt* rt, pb_diag* diag), pb_diag* diag) {
  pb__words* w = &rt->words;
  if (w->ops->use_stream(w->device, NULL)) return pb__device_fault(rt, "choosing a stream", diag);
  if (w->ops->begin_graph(w->device)) return pb__device_fault(rt, "recording a graph", diag);
  pb_status status = run(rt, diag);
  if (w->ops->end_graph(w->device) && status == PB_OK) status = pb__device_fault(rt, "recording a graph", diag);
  w->has_graph = status == PB_OK;
  return status;
}

pb_status pb__graph_run(pb_rt* rt, pb_status (*run)(pb_rt* rt, pb_diag* diag), pb_diag* diag) {
  pb__words* w = &rt->words;
  int inputs = rt->engine->input_count;
  void* const* outputs = rt->run_outputs;
  PB_TRY(check(rt, diag));
  if (!w->host) PB_TRY(make_host(rt, diag));
  for (int k = 0; k < inputs; ++k) {
    if (rt->inputs[k].bytes) memcpy(w->host[k], rt->run_inputs[k], rt->inputs[k].bytes);
    rt->run_inputs[k] = w->host[k];
  }
  rt->run_outputs = w->host + inputs;
  pb_status status = w->has_graph ? PB_OK : record(rt, run, diag);
  rt->run_outputs = outputs;
  PB_TRY(status);
  if (w->ops->run_graph(w->device) || w->ops->wait(w->device)) return pb__device_fault(rt, "running the graph", diag);
  for (int k = 0; k < rt->engine->output_count; ++k)
    if (rt->outputs[k].bytes) memcpy(outputs[k], w->host[inputs + k], rt->outputs[k].bytes);
  return PB_OK;
}

int pb_rt_use_graph(pb_rt* rt, bool use) {
  pb_diag diag = pb__rt_diag();
  rt = pb__chosen(rt);
  rt->wants_graph = use;
  pb_status status = use ? pb__device_ready(rt, &diag) : PB_OK;
  if (status == PB_OK && use) status = check(rt, &diag);
  rt->wants_graph &= status == PB_OK;
  return pb__rt_code(status);
}

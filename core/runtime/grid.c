// Kernels of a grid on a device that loads code and launches it.
#include "core/runtime/rt.h"

#include <string.h>

static pb_device_code form_of(const pb_grid_code* code) { return (pb_device_code)code->form; }

// The most finished form that the device takes: the machine code of its own processor, or text that it makes code of.
static pb_status load_module(pb_rt* rt, int module, pb_diag* diag) {
  const pb_engine* e = rt->engine;
  pb__words* w = &rt->words;
  for (int k = e->grid_code_count - 1; k >= 0; --k) {
    const pb_grid_code* code = &e->grid_codes[k];
    if (code->module != module) continue;
    if (!w->ops->load(w->device, form_of(code), code->data, code->bytes, &w->modules[module])) return PB_OK;
  }
  return pb_error(diag, (pb_place){.file = rt->path}, 6003, "compile the model for the processor at hand",
                  "device '%s' takes no code for '%s': %s", rt->device_name, e->processor,
                  w->ops->last_fault(w->device));
}

uint64_t pb__grid_memory(const pb_engine* e) {
  uint64_t most = 0;
  for (int k = 0; k < e->kernel_count; ++k)
    if (e->kernels[k].is_grid && e->kernels[k].grid.memory > most) most = e->kernels[k].grid.memory;
  return most;
}

pb_status pb__grid_load(pb_rt* rt, pb_diag* diag) {
  const pb_engine* e = rt->engine;
  pb__words* w = &rt->words;
  w->modules = PB_NEW_ARRAY(&rt->arena, uint64_t, (size_t)e->module_count + 1);
  if (w->ops->abi >= 5 && w->ops->suits && !w->ops->suits(w->device, e->processor))
    return pb_error(diag, (pb_place){.file = rt->path}, 6003, "compile the model for the processor at hand",
                    "device '%s' runs no code for '%s': %s", rt->device_name, e->processor,
                    w->ops->last_fault(w->device));
  for (int m = 0; m < e->module_count; ++m) PB_TRY(load_module(rt, m, diag));
  return pb__words_allocate(rt, pb__grid_memory(e), &w->memory, diag);
}

int pb__grid_launch(pb_rt* rt, const pb_step* step) {
  const pb__words* w = &rt->words;
  const pb_kernel* kernel = &rt->engine->kernels[step->kernel];
  pb_device_launch launch = {.module = w->modules[kernel->grid.module],
                             .kernel = kernel->symbol,
                             .blocks = {kernel->grid.blocks, 1, 1},
                             .threads = {kernel->grid.threads, 1, 1}};
  for (int a = 0; a < step->arg_count; ++a) launch.args[launch.arg_count++] = pb__words_address(rt, step->args[a]);
  if (kernel->grid.memory) launch.args[launch.arg_count++] = w->memory;
  return w->ops->launch(w->device, &launch);
}

// Code for the machine of a grid, loaded and run: each fault says why, and nothing is left behind.
#ifndef PB_TESTS_FUZZ_FUZZ_GRID_H
#define PB_TESTS_FUZZ_FUZZ_GRID_H

#include "targets/control/grid/machine/code.h"
#include "targets/control/grid/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>

static pb_device* fuzz_device(const pb_device_ops** ops) {
  static const pb_chip chip = {.name = "fuzz", .control = PB_CONTROL_GRID};
  static pb_device* device;
  *ops = pb_grid_machine_ops(&chip);
  if (!device && (*ops)->open("threads=1,limit=3000", &device)) abort();
  return device;
}

static void fuzz_forget(pb_device* d) {
  for (size_t n = 0; n < d->module_count; ++n) grid__module_free(d->modules[n]);
  d->module_count = 0;
  grid__memory_close(d);
  d->memories = NULL;
  d->memory_count = d->memory_capacity = 0;
  d->next_address = GRID_GLOBAL;
}

static void fuzz_grid(const uint8_t* data, size_t size, pb_device_code form) {
  const pb_device_ops* ops;
  pb_device* d = fuzz_device(&ops);
  uint64_t module, buffer;
  snprintf(d->fault, sizeof d->fault, "%s", "");
  int code = ops->load(d, form, data, size, &module);
  if (code && !*d->fault) abort(); // a refusal says why
  if (!code && !ops->alloc(d, 4096, 256, &buffer)) {
    const grid_module* m = d->modules[module];
    for (size_t n = 0; n < m->kernel_count && n < 2; ++n) {
      const grid_kernel* k = m->kernels[n];
      pb_device_launch launch = {.module = module, .kernel = k->name, .blocks = {1, 1, 1}, .threads = {40, 1, 1}};
      for (int t = 0; t < 3 && k->threads[0]; ++t) launch.threads[t] = k->threads[t];
      launch.arg_count = k->param_count < PB_DEVICE_MAX_LAUNCH_ARGS ? k->param_count : PB_DEVICE_MAX_LAUNCH_ARGS;
      for (uint32_t a = 0; a < launch.arg_count; ++a) launch.args[a] = a & 1 ? 40 : buffer;
      snprintf(d->fault, sizeof d->fault, "%s", "");
      if (ops->launch(d, &launch) && !*d->fault) abort();
    }
  }
  fuzz_forget(d);
}

#endif

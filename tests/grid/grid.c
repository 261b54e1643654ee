#include "grid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const pb_chip chip = {.name = "tests", .control = PB_CONTROL_GRID};

void grid_open(grid* g, const char* options) {
  memset(g, 0, sizeof *g);
  g->ops = pb_grid_machine_ops(&chip);
  assert_non_null(g->ops);
  if (g->ops->open(options, &g->device)) fail_msg("%s", g->ops->last_fault(NULL));
}

void grid_close(grid* g) { g->ops->close(g->device); }

void grid_load(grid* g, const char* ptx) {
  if (g->ops->load(g->device, PB_DEVICE_PTX, ptx, strlen(ptx) + 1, &g->module))
    fail_msg("%s", g->ops->last_fault(g->device));
}

char* grid_bytes(const char* name, uint64_t* count) {
  char path[1024];
  snprintf(path, sizeof path, "%s/tests/grid/kernels/%s", PB_SOURCE_DIR, name);
  FILE* file = fopen(path, "rb");
  if (!file) fail_msg("%s: not there", path);
  char* bytes = calloc(1, 1 << 20);
  assert_non_null(bytes);
  *count = fread(bytes, 1, (1 << 20) - 1, file);
  fclose(file);
  return bytes;
}

char* grid_text(const char* name) {
  uint64_t count;
  return grid_bytes(name, &count);
}

void grid_load_object(grid* g, const char* bytes, uint64_t count) {
  if (g->ops->load(g->device, PB_DEVICE_HSACO, bytes, count, &g->module)) fail_msg("%s", g->ops->last_fault(g->device));
}

void grid_load_file(grid* g, const char* name) {
  uint64_t count;
  char* bytes = grid_bytes(name, &count);
  if (strstr(name, ".hsaco"))
    grid_load_object(g, bytes, count);
  else
    grid_load(g, bytes);
  free(bytes);
}

uint64_t grid_buffer(grid* g, const void* data, uint64_t bytes) {
  uint64_t address;
  if (g->ops->alloc(g->device, bytes, 256, &address) || (data && g->ops->copy_in(g->device, address, data, bytes)))
    fail_msg("%s", g->ops->last_fault(g->device));
  grid_number(g, address);
  return address;
}

void grid_number(grid* g, uint64_t value) { g->launch.args[g->launch.arg_count++] = value; }

int grid_run(grid* g, const char* kernel, uint32_t blocks, uint32_t threads) {
  pb_device_launch launch = g->launch;
  launch.module = g->module;
  launch.kernel = kernel;
  uint32_t b[3] = {blocks, 1, 1}, t[3] = {threads, 1, 1};
  memcpy(launch.blocks, b, sizeof b);
  memcpy(launch.threads, t, sizeof t);
  g->launch = (pb_device_launch){0};
  int code = g->ops->launch(g->device, &launch);
  return code ? code : g->ops->wait(g->device);
}

void grid_runs(grid* g, const char* kernel, uint32_t blocks, uint32_t threads) {
  int code = grid_run(g, kernel, blocks, threads);
  if (g->after) longjmp(*g->after, 1 + code);
  if (code) fail_msg("%s: %s", kernel, g->ops->last_fault(g->device));
}

void grid_refused(grid* g, const char* kernel, uint32_t blocks, uint32_t threads, const char* what) {
  if (!grid_run(g, kernel, blocks, threads)) fail_msg("%s ran, instead of '%s'", kernel, what);
  if (!strstr(g->ops->last_fault(g->device), what))
    fail_msg("'%s' is not in '%s'", what, g->ops->last_fault(g->device));
}

void grid_read(grid* g, uint64_t address, void* data, uint64_t bytes) {
  if (g->ops->copy_out(g->device, address, data, bytes)) fail_msg("%s", g->ops->last_fault(g->device));
}

uint64_t grid_counter(grid* g, const char* name) {
  const char* text;
  for (uint32_t k = 0; (text = g->ops->counter_name(g->device, k)); ++k)
    if (!strcmp(text, name)) return g->ops->counter(g->device, k);
  fail_msg("no counter %s", name);
  return 0;
}

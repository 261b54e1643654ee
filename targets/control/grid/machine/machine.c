// The machine of a grid as a pb_device: options, modules, counters. Code says all of what it runs, so that it is the
// same one for every chip.
#include "targets/control/grid/machine/machine.h"
#include "targets/control/grid/machine/block.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const uint64_t default_limit = UINT64_C(100000000000), cache_bytes = 40 << 20;
static _Thread_local char open_fault[256] = "no fault";

int grid__fault(pb_device* device, int code, const char* format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(device->fault, sizeof device->fault, format, args);
  va_end(args);
  return device->fault_code = code;
}

static bool read_schedule(pb_device* device, const char* value, size_t length) {
  static const char* const names[] = {"early", "late", "random"};
  for (int k = 0; k < 3; ++k)
    if (strlen(names[k]) == length && !memcmp(names[k], value, length)) {
      device->schedule = (grid_schedule)k;
      return true;
    }
  return false;
}

static bool read_number(const char* value, size_t length, uint64_t least, uint64_t most, uint64_t* out) {
  char text[24], *end;
  if (!length || length >= sizeof text) return false;
  memcpy(text, value, length);
  text[length] = 0;
  *out = strtoull(text, &end, 10);
  return *value >= '0' && *value <= '9' && !*end && *out >= least && *out <= most;
}

static bool read_options(pb_device* device, const char* options) {
  device->limit = default_limit;
  device->check = true;
  device->seed = 1;
  for (const char* at = options; at && *at;) {
    size_t key = strcspn(at, "=,"), length = strcspn(at, ",");
    const char* value = at + key + 1;
    size_t rest = length > key ? length - key - 1 : 0;
    uint64_t n = 0;
    bool good = false;
#define OPTION(name) (key == strlen(name) && !memcmp(at, name, key))
    if (OPTION("schedule"))
      good = read_schedule(device, value, rest);
    else if (OPTION("seed"))
      good = read_number(value, rest, 0, UINT64_MAX, &device->seed);
    else if (OPTION("check") && read_number(value, rest, 0, 1, &n))
      good = true, device->check = n;
    else if (OPTION("repeats") && read_number(value, rest, 0, 1, &n))
      good = true, device->repeats = n;
    else if (OPTION("threads") && read_number(value, rest, 0, 1024, &n))
      good = true, device->threads = (int)n;
    else if (OPTION("limit"))
      good = read_number(value, rest, 1, UINT64_MAX, &device->limit);
#undef OPTION
    if (!good) {
      snprintf(
          open_fault, sizeof open_fault,
          "option '%.*s': schedule=early|late|random, seed=N, check=0|1, repeats=0|1, threads=N and limit=N are known",
          (int)length, at);
      return false;
    }
    at += length + (at[length] == ',');
  }
  return true;
}

static void close_device(pb_device* device) {
  if (!device) return;
  for (size_t n = 0; n < device->module_count; ++n) grid__module_free(device->modules[n]);
  free(device->modules);
  grid__memory_close(device);
  grid__l2_close(device->l2);
  free(device);
}

static int open_device(const char* options, pb_device** out) {
  *out = NULL;
  pb_device* device = calloc(1, sizeof *device);
  if (!device) return GRID_OUT_OF_MEMORY;
  device->next_address = GRID_GLOBAL;
  snprintf(device->fault, sizeof device->fault, "no fault");
  if (!read_options(device, options)) {
    free(device);
    return GRID_BAD_OPTION;
  }
  device->l2 = grid__l2_open(cache_bytes);
  if (!device->l2) {
    snprintf(open_fault, sizeof open_fault, "no host memory for the machine");
    close_device(device);
    return GRID_OUT_OF_MEMORY;
  }
  *out = device;
  return GRID_OK;
}

static int load(pb_device* device, pb_device_code form, const void* code, uint64_t bytes, uint64_t* out) {
  if (form == PB_DEVICE_CUBIN)
    return grid__fault(device, GRID_BAD_CODE, "a cubin: the machine runs PTX, which no vendor's tool has changed yet");
  grid_module* m = calloc(1, sizeof *m);
  if (!m) return grid__fault(device, GRID_OUT_OF_MEMORY, "no memory for a module");
  int result =
      form == PB_DEVICE_HSACO ? grid__gcn_load(device, m, code, bytes) : grid__ptx_load(device, m, code, bytes);
  if (!m->rates) m->rates = grid__rates(""); // the text names no processor
  if (device->module_count == device->module_capacity && !result) {
    size_t capacity = device->module_capacity ? 2 * device->module_capacity : 8;
    grid_module** more = realloc(device->modules, capacity * sizeof *more);
    if (more) {
      device->modules = more;
      device->module_capacity = capacity;
    } else {
      result = grid__fault(device, GRID_OUT_OF_MEMORY, "no memory for a module");
    }
  }
  if (result) {
    grid__module_free(m);
    return result;
  }
  *out = device->module_count;
  device->modules[device->module_count++] = m;
  return GRID_OK;
}

static int wait_device(pb_device* device) {
  (void)device; // launch runs all of it
  return GRID_OK;
}

static int use_stream(pb_device* device, void* stream) {
  (void)device, (void)stream; // all are done when the call returns
  return GRID_OK;
}

static const char* const counter_names[] = {
#define NAME(field, text) text,
    GRID_COUNTERS(NAME)
#undef NAME
};

static const char* counter_name(pb_device* device, uint32_t index) {
  (void)device;
  return index < GRID_COUNTER_COUNT ? counter_names[index] : index == GRID_COUNTER_COUNT ? "launches" : NULL;
}

static uint64_t counter(pb_device* device, uint32_t index) {
  if (index == GRID_COUNTER_COUNT) return device->launches;
  return index < GRID_COUNTER_COUNT ? ((const uint64_t*)&device->counts)[index] : 0;
}

static const char* last_fault(pb_device* device) { return device ? device->fault : open_fault; }

static void set_trace(pb_device* device, void (*event)(void*, uint32_t, uint32_t, uint64_t, uint64_t), void* user) {
  (void)device, (void)event, (void)user; // it has no clock
}

const pb_device_ops* pb_grid_machine_ops(const pb_chip* chip) {
  static const pb_device_ops ops = {.abi = PB_DEVICE_ABI,
                                    .name = "machine",
                                    .open = open_device,
                                    .close = close_device,
                                    .alloc = grid__alloc,
                                    .free_all = grid__free_all,
                                    .copy_in = grid__copy_in,
                                    .copy_out = grid__copy_out,
                                    .wait = wait_device,
                                    .counter_name = counter_name,
                                    .counter = counter,
                                    .last_fault = last_fault,
                                    .set_trace = set_trace,
                                    .load = load,
                                    .launch = grid__launch,
                                    .use_stream = use_stream,
                                    .copy = grid__copy_within,
                                    .free = grid__free,
                                    .look = grid__look};
  return chip->control == PB_CONTROL_GRID ? &ops : NULL;
}

// Kernels on a device: of command words, or of a grid (grid.c). Constants and streams are copied once; the arena stays
// on the device.
#include "core/runtime/rt.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

pb_status pb__device_fault(pb_rt* rt, const char* what, pb_diag* diag) {
  return pb_error(diag, (pb_place){.file = rt->path}, 6001, NULL, "device '%s': %s: %s", rt->device_name, what,
                  rt->words.ops->last_fault(rt->words.device));
}

pb_status pb__words_allocate(pb_rt* rt, uint64_t bytes, uint64_t* address, pb_diag* diag) {
  *address = 0;
  if (!bytes) return PB_OK;
  uint64_t rounded = (bytes + PB_ENGINE_ALIGN - 1) / PB_ENGINE_ALIGN * PB_ENGINE_ALIGN;
  return rt->words.ops->alloc(rt->words.device, rounded, PB_ENGINE_ALIGN, address)
             ? pb__device_fault(rt, "allocating memory", diag)
             : PB_OK;
}

static pb_status place_bytes(pb_rt* rt, const void* data, uint64_t bytes, uint64_t* address, pb_diag* diag) {
  PB_TRY(pb__words_allocate(rt, bytes, address, diag));
  if (bytes && rt->words.ops->copy_in(rt->words.device, *address, data, bytes))
    return pb__device_fault(rt, "copying to the device", diag);
  return PB_OK;
}

// Of a chip with one memory of constants by the function for that, which older drivers have.
static pb_status allocate_apart(pb_rt* rt, int number, uint64_t bytes, uint64_t* at, pb_diag* diag) {
  const pb_device_ops* ops = rt->words.ops;
  bool one = rt->chip->constant_memory_count == 1;
  if (one ? ops->abi < 2 || !ops->alloc_constants : ops->abi < 3 || !ops->alloc_constants_in)
    return pb_error(diag, (pb_place){.file = rt->path}, 5024,
                    one ? "alloc_constants, of interface 2" : "alloc_constants_in, of interface 3",
                    "device '%s' allocates nothing in '%s', in which constants lie", rt->device_name,
                    rt->chip->memories[rt->chip->constant_memories[number]].name);
  int code = one ? ops->alloc_constants(rt->words.device, bytes, PB_ENGINE_ALIGN, at)
                 : ops->alloc_constants_in(rt->words.device, (uint32_t)number, bytes, PB_ENGINE_ALIGN, at);
  return code ? pb__device_fault(rt, "allocating memory for constants", diag) : PB_OK;
}

// Constants, in the memories that they lie in.
static pb_status place_constants(pb_rt* rt, pb_diag* diag) {
  const pb_engine* engine = rt->engine;
  pb__words* w = &rt->words;
  PB_TRY(place_bytes(rt, engine->consts, pb_engine_apart(engine, 0), &w->consts, diag));
  for (int k = 0; k < PB_ENGINE_MAX_APART; ++k) {
    uint64_t first = pb_engine_apart(engine, k), bytes = pb_engine_apart_bytes(engine, k), at;
    if (!bytes) continue;
    if (k >= rt->chip->constant_memory_count)
      return pb_error(diag, (pb_place){.file = rt->path}, 5025, NULL,
                      "constants lie in a memory that '%s' does not have", rt->engine->target);
    PB_TRY(allocate_apart(rt, k, bytes, &at, diag));
    if (w->ops->copy_in(w->device, at, engine->consts + first, bytes))
      return pb__device_fault(rt, "copying to the device", diag);
    w->apart[k] = at - first;
  }
  return PB_OK;
}

// Whether the device leaves in the chip's memories what kernels are to find there.
static pb_status check_kept(pb_rt* rt, pb_diag* diag) {
  for (int s = 0; s < rt->engine->step_count && rt->words.ops->abi < 2; ++s)
    if (rt->engine->steps[s].kept_count)
      return pb_error(diag, (pb_place){.file = rt->path}, 5024, "interface 2, or pbc --between=system",
                      "device '%s' need not keep what stays on the chip between kernels", rt->device_name);
  return PB_OK;
}

static pb_status place_all(pb_rt* rt, pb_diag* diag) {
  const pb_engine* engine = rt->engine;
  pb__words* w = &rt->words;
  PB_TRY(check_kept(rt, diag));
  PB_TRY(place_constants(rt, diag));
  PB_TRY(pb__words_allocate(rt, engine->arena_bytes, &w->arena, diag));
  w->inputs = PB_NEW_ARRAY(&rt->arena, uint64_t, (size_t)engine->input_count);
  w->outputs = PB_NEW_ARRAY(&rt->arena, uint64_t, (size_t)engine->output_count);
  for (int k = 0; k < engine->input_count && !engine->open; ++k) // else when extents are known
    PB_TRY(pb__words_allocate(rt, rt->inputs[k].bytes, &w->inputs[k], diag));
  for (int k = 0; k < engine->output_count && !engine->open; ++k)
    PB_TRY(pb__words_allocate(rt, rt->outputs[k].bytes, &w->outputs[k], diag));
  if (pb_engine_has_grid(engine)) return pb__grid_load(rt, diag);
  w->streams = PB_NEW_ARRAY(&rt->arena, uint64_t*, (size_t)engine->kernel_count);
  for (int k = 0; k < engine->kernel_count; ++k) {
    const pb_words_kernel* words = &engine->kernels[k].words;
    w->streams[k] = PB_NEW_ARRAY(&rt->arena, uint64_t, (size_t)words->queue_count);
    for (int q = 0; q < words->queue_count; ++q)
      PB_TRY(place_bytes(rt, words->streams[q], (uint64_t)words->count[q] * (uint64_t)engine->command_bytes,
                         &w->streams[k][q], diag));
  }
  return PB_OK;
}

static int counter_named(const pb__words* w, const char* prefix, const char* name) {
  const char* known;
  size_t n = strlen(prefix);
  for (uint32_t k = 0; (known = w->ops->counter_name(w->device, k)); ++k)
    if (!strncmp(known, prefix, n) && !strcmp(known + n, name)) return (int)k;
  return -1;
}

static void on_command(void* user, uint32_t queue, uint32_t index, uint64_t start, uint64_t end) {
  pb_rt* rt = user;
  if (rt->trace) rt->trace(rt->trace_user, rt->words.step, (int)queue, index, start, end);
}

static pb_status check_chip(pb_rt* rt, pb_diag* diag) {
  pb_place place = {.file = rt->path};
  if (memcmp(rt->chip->hash, rt->engine->chip_hash, sizeof rt->chip->hash))
    return pb_error(diag, place, 5025, "compile the model again",
                    "the engine was compiled for another description of '%s' than it carries", rt->engine->target);
  if (rt->chip->command_bytes != rt->engine->command_bytes)
    return pb_error(diag, place, 5025, NULL, "commands of %d bytes; '%s' has commands of %d", rt->engine->command_bytes,
                    rt->engine->target, rt->chip->command_bytes);
  for (int k = 0; k < rt->engine->kernel_count; ++k)
    if (rt->engine->kernels[k].words.queue_count > pb_chip_streams(rt->chip))
      return pb_error(diag, place, 5025, NULL, "kernel '%s' uses more queues than '%s' has",
                      rt->engine->kernels[k].name, rt->engine->target);
  for (int s = 0; s < rt->engine->step_count; ++s)
    for (int n = 0; n < rt->engine->steps[s].kept_count; ++n) {
      const pb_kept* kept = &rt->engine->steps[s].kept[n];
      if (!pb_is_on_chip(rt->chip, kept->memory, kept->address, kept->bytes))
        return pb_error(diag, place, 5025, NULL, "step %d keeps what lies in no memory of '%s'", s, rt->engine->target);
    }
  return PB_OK;
}

// The counters of what steps report of each queue.
static void find_busy(pb_rt* rt) {
  pb__words* w = &rt->words;
  size_t queues = (size_t)pb_chip_queues(rt->chip);
  w->busy = PB_NEW_ARRAY(&rt->arena, int, queues + 1);
  w->before = PB_NEW_ARRAY(&rt->arena, uint64_t, queues + 1);
  for (size_t q = 0; q < queues; ++q) w->busy[q] = counter_named(w, "busy.", pb_chip_queue_name(rt->chip, (int)q));
}

// Queues want a device that takes submissions, grids one that launches.
static pb_status check_kind(pb_rt* rt, const char* name, pb_diag* diag) {
  const pb_device_ops* ops = rt->words.ops;
  bool grid = pb_engine_has_grid(rt->engine);
  if (!grid && rt->chip->control == PB_CONTROL_QUEUES && pb_chip_streams(rt->chip) > PB_DEVICE_MAX_QUEUES &&
      ops->abi < 5)
    return pb_error(diag, (pb_place){.file = rt->path}, 5027, "a device of interface 5",
                    "device '%s' takes %d streams of commands, '%s' has %d", name, PB_DEVICE_MAX_QUEUES,
                    rt->engine->target, pb_chip_streams(rt->chip));
  if (grid ? ops->abi >= 4 && ops->load && ops->launch : ops->submit != NULL) return PB_OK;
  return pb_error(diag, (pb_place){.file = rt->path}, 5027,
                  grid ? "a device that loads code, of interface 4" : "a device with queues", "device '%s' runs no %s",
                  name, grid ? "kernels of grids" : "commands");
}

pb_status pb__words_open(pb_rt* rt, const char* name, const char* options, pb_diag* diag) {
  pb__words* w = &rt->words;
  PB_TRY(check_chip(rt, diag));
  w->ops = pb__device_named(name, rt->chip);
  if (!w->ops && (!strcmp(name, "rtl") || pb__device_is_file(name)))
    PB_TRY(pb__device_library(rt, name, diag, &w->library, &w->ops));
  if (!w->ops)
    return pb_error(diag, (pb_place){.file = rt->path}, 5027,
                    pb_engine_has_grid(rt->engine) ? "machine, the GPU's own, or a driver ./FILE.so"
                                                   : "native, machine, rtl, or a driver ./FILE.so",
                    "there is no device '%s' for '%s'", name, rt->engine->target);
  rt->device_name = pb_strdup(&rt->arena, name);
  if (w->ops->open(options, &w->device)) return pb__device_fault(rt, "opening", diag);
  PB_TRY(check_kind(rt, name, diag));
  w->cycles = counter_named(w, "", "cycles");
  find_busy(rt);
  static const char* const dram[] = {"read", "write", "fetch"};
  for (int k = 0; k < 3; ++k) w->dram[k] = counter_named(w, "dram.", dram[k]);
  w->constants_read = counter_named(w, "constants.", "read");
  return place_all(rt, diag);
}

pb_status pb__words_begin(pb_rt* rt, pb_diag* diag) {
  pb__words* w = &rt->words;
  if (w->ops->set_trace) w->ops->set_trace(w->device, rt->trace ? on_command : NULL, rt);
  PB_TRY(pb__behind_begin(rt, diag));
  if (rt->engine->open) PB_TRY(pb__open_to_device(rt, 0, diag));
  for (int k = 0; k < rt->engine->input_count && !rt->given_inputs; ++k)
    if (rt->inputs[k].bytes && w->ops->copy_in(w->device, w->inputs[k], rt->run_inputs[k], rt->inputs[k].bytes))
      return pb__device_fault(rt, "copying an input", diag);
  return pb__behind_start(rt, diag);
}

uint64_t pb__words_address(const pb_rt* rt, pb_arg arg) {
  if (pb_apart_memory(&arg) >= 0) return rt->words.apart[pb_apart_memory(&arg)] + arg.value;
  switch (arg.space) {
  case PB_SPACE_INPUT:
    return rt->given_inputs ? rt->given_inputs[arg.value] : rt->words.inputs[arg.value];
  case PB_SPACE_OUTPUT:
    return rt->given_outputs ? rt->given_outputs[arg.value] : rt->words.outputs[arg.value];
  case PB_SPACE_CONST:
    return rt->words.consts + arg.value;
  case PB_SPACE_SIZES:
    return pb__open_address(rt, arg);
  case PB_SPACE_ARENA:
    if (rt->engine->open) return pb__open_address(rt, arg);
    return rt->words.arena + arg.value;
  default: // of native code alone
    break;
  }
  return 0;
}

static int submit(pb_rt* rt, const pb_step* step) {
  const pb__words* w = &rt->words;
  const pb_kernel* kernel = &rt->engine->kernels[step->kernel];
  pb_submission job = {.queue_count = (uint32_t)kernel->words.queue_count, .arg_count = (uint32_t)step->arg_count};
  if (kernel->words.queue_count > PB_DEVICE_MAX_QUEUES)
    job.streams = w->streams[step->kernel], job.counts = kernel->words.count;
  for (int q = 0; q < kernel->words.queue_count && !job.streams; ++q) {
    job.stream[q] = w->streams[step->kernel][q];
    job.count[q] = kernel->words.count[q];
  }
  for (int a = 0; a < step->arg_count; ++a) job.args[a] = pb__words_address(rt, step->args[a]);
  for (; job.kept_count < (uint32_t)step->kept_count; ++job.kept_count) {
    const pb_kept* kept = &step->kept[job.kept_count];
    job.kept[job.kept_count] = (pb_device_kept){(uint32_t)kept->memory, kept->address, kept->bytes};
  }
  return w->ops->submit(w->device, &job);
}

static uint64_t counter(const pb__words* w, int index) {
  return index < 0 ? 0 : w->ops->counter(w->device, (uint32_t)index);
}

pb_status pb__words_step(pb_rt* rt, int index, pb_diag* diag) {
  pb__words* w = &rt->words;
  const pb_step* step = &rt->engine->steps[index];
  const pb_kernel* kernel = &rt->engine->kernels[step->kernel];
  pb_rt_step* stats = &rt->steps[index];
  w->step = index;
  uint64_t before = counter(w, w->cycles), dram[3];
  int queues = pb_chip_queues(rt->chip);
  for (int q = 0; q < queues; ++q) w->before[q] = counter(w, w->busy[q]);
  for (int k = 0; k < 3; ++k) dram[k] = counter(w, w->dram[k]);
  uint64_t constants = counter(w, w->constants_read);
  if ((kernel->is_grid ? pb__grid_launch(rt, step) : submit(rt, step)) || (!w->behind && w->ops->wait(w->device)))
    return pb_error(diag, (pb_place){.file = rt->path}, 6002, NULL, "step %d, kernel '%s' (%s): device '%s': %s", index,
                    kernel->name, step->origin, rt->device_name, w->ops->last_fault(w->device));
  if (w->behind) return pb__behind_launched(rt, index, diag);
  stats->cycles += counter(w, w->cycles) - before;
  for (int q = 0; q < queues; ++q) rt->busy[index * queues + q] += counter(w, w->busy[q]) - w->before[q];
  stats->dram_read += counter(w, w->dram[0]) - dram[0];
  stats->dram_write += counter(w, w->dram[1]) - dram[1];
  stats->dram_fetch += counter(w, w->dram[2]) - dram[2];
  stats->constants_read += counter(w, w->constants_read) - constants;
  return PB_OK;
}

pb_status pb__words_read(pb_rt* rt, uint64_t address, void* data, uint64_t bytes, pb_diag* diag) {
  if (bytes && rt->words.ops->copy_out(rt->words.device, address, data, bytes))
    return pb__device_fault(rt, "copying from the device", diag);
  return PB_OK;
}

pb_status pb__words_write(pb_rt* rt, uint64_t address, const void* data, uint64_t bytes, pb_diag* diag) {
  if (bytes && rt->words.ops->copy_in(rt->words.device, address, data, bytes))
    return pb__device_fault(rt, "copying to the device", diag);
  return PB_OK;
}

pb_status pb__words_give(pb_rt* rt, pb_diag* diag) {
  PB_TRY(pb__behind_settle(rt, diag));
  for (int k = 0; k < rt->engine->output_count; ++k)
    PB_TRY(pb__words_read(rt, rt->words.outputs[k], rt->run_outputs[k], rt->outputs[k].bytes, diag));
  if (rt->has_native && rt->engine->arena_bytes)
    PB_TRY(pb__words_read(rt, rt->words.arena, rt->native.arena, rt->engine->arena_bytes, diag));
  rt->tensors_in_process = true;
  return PB_OK;
}

pb_status pb__words_take(pb_rt* rt, pb_diag* diag) {
  const pb__words* w = &rt->words;
  for (int k = 0; k < rt->engine->output_count; ++k)
    if (rt->outputs[k].bytes && w->ops->copy_in(w->device, w->outputs[k], rt->run_outputs[k], rt->outputs[k].bytes))
      return pb__device_fault(rt, "copying an output", diag);
  if (rt->engine->arena_bytes && w->ops->copy_in(w->device, w->arena, rt->native.arena, rt->engine->arena_bytes))
    return pb__device_fault(rt, "copying tensors", diag);
  rt->tensors_in_process = false;
  return PB_OK;
}

void pb__words_close(pb_rt* rt) {
  if (rt->words.device) rt->words.ops->close(rt->words.device);
  if (rt->words.library) dlclose(rt->words.library);
  rt->words = (pb__words){0};
}

// Runs on tensors that lie on the device, behind what a stream of the caller's was given.
#include "core/runtime/rt.h"

#include <stdlib.h>

static pb_status refuse(pb_rt* rt, const char* why, const char* hint, pb_diag* diag) {
  return pb_error(diag, (pb_place){.file = rt->path}, 5062, hint, "it does not run on the device's own tensors: %s",
                  why);
}

static bool is_turned(const pb_tensor_info* info) { return info->type == PB_U8 || info->type == PB_W64; }

static pb_status check(pb_rt* rt, pb_diag* diag) {
  const pb_engine* e = rt->engine;
  if (!rt->has_device || rt->words.ops->abi < 5 || !rt->words.ops->use_stream)
    return refuse(rt, pb_printf(&rt->arena, "device '%s' has no streams", rt->device_name), "pb_rt_run", diag);
  if (rt->has_native) return refuse(rt, "some kernels are the processor's", "pb_rt_run, or no --fallback", diag);
  if (rt->after_step || rt->trace) return refuse(rt, "its steps are looked at one by one", "pb_rt_run", diag);
  for (int k = 0; e->open && k < e->input_count; ++k)
    if (is_turned(&e->inputs[k])) return refuse(rt, "dims are open, and codes have no sign", "pb_rt_run", diag);
  for (int k = 0; e->open && k < e->output_count; ++k)
    if (rt->open.stages.outputs[k])
      return refuse(rt, pb_printf(&rt->arena, "how long output '%s' is the data say", rt->outputs[k].name), "pb_rt_run",
                    diag);
  return PB_OK;
}

// Kernels take each tensor to begin where they would place one.
static pb_status take_pointer(pb_rt* rt, const char* what, const pb_rt_tensor* tensor, const void* pointer,
                              uint64_t* address, pb_diag* diag) {
  const pb__words* w = &rt->words;
  pb_place place = {.file = rt->path, .what = tensor->name};
  *address = (uint64_t)(uintptr_t)pointer;
  if (!tensor->bytes) return PB_OK;
  if (*address % PB_ENGINE_ALIGN)
    return pb_error(diag, place, 5064, pb_printf(&rt->arena, "a multiple of %d", PB_ENGINE_ALIGN),
                    "%s at %#llx is not aligned", what, (unsigned long long)*address);
  if (w->ops->look && w->ops->look(w->device, *address, tensor->bytes))
    return pb_error(diag, place, 5064, "memory of the device, as pb_rt_device_alloc gives it",
                    "%s of %llu bytes: device '%s': %s", what, (unsigned long long)tensor->bytes, rt->device_name,
                    w->ops->last_fault(w->device));
  return PB_OK;
}

// Codes that kernels have otherwise than the caller come here and go into memory of the runtime's own.
static pb_status turn_inputs(pb_rt* rt, void** here, pb_diag* diag) {
  const pb__words* w = &rt->words;
  for (int k = 0; k < rt->engine->input_count; ++k) {
    uint64_t bytes = rt->inputs[k].bytes;
    if (!is_turned(&rt->engine->inputs[k]) || !bytes) continue;
    if (!(here[k] = malloc(bytes))) pb_no_memory(bytes);
    PB_TRY(pb__words_read(rt, rt->given_inputs[k], here[k], bytes, diag));
    rt->run_inputs[k] = here[k];
  }
  PB_TRY(pb__unsigned_inputs(rt, diag));
  for (int k = 0; k < rt->engine->input_count; ++k) {
    if (!here[k]) continue;
    rt->given_inputs[k] = w->inputs[k];
    PB_TRY(pb__words_write(rt, w->inputs[k], rt->run_inputs[k], rt->inputs[k].bytes, diag));
  }
  return PB_OK;
}

static pb_status turn_outputs(pb_rt* rt, void* const* outputs, pb_diag* diag) {
  const pb__words* w = &rt->words;
  for (int k = 0; k < rt->engine->output_count; ++k) {
    uint64_t bytes = rt->outputs[k].bytes;
    if (rt->engine->outputs[k].type != PB_U8 || !bytes) continue;
    uint8_t* codes = malloc(bytes);
    if (!codes) pb_no_memory(bytes);
    pb_status status = pb__words_read(rt, rt->given_outputs[k], codes, bytes, diag);
    if (status == PB_OK) pb__unsigned_turn(codes, codes, bytes);
    if (status == PB_OK) status = pb__words_write(rt, (uint64_t)(uintptr_t)outputs[k], codes, bytes, diag);
    if (status == PB_OK && w->ops->wait(w->device)) status = pb__device_fault(rt, "copying an output", diag);
    free(codes);
    PB_TRY(status);
  }
  return PB_OK;
}

static pb_status run_here(pb_rt* rt, void** here, const void* const* inputs, void* const* outputs, pb_diag* diag) {
  const pb__words* w = &rt->words;
  for (int k = 0; k < rt->engine->input_count; ++k)
    PB_TRY(take_pointer(rt, "input", &rt->inputs[k], inputs[k], &rt->given_inputs[k], diag));
  for (int k = 0; k < rt->engine->output_count; ++k) {
    PB_TRY(take_pointer(rt, "output", &rt->outputs[k], outputs[k], &rt->given_outputs[k], diag));
    if (rt->engine->outputs[k].type == PB_U8) rt->given_outputs[k] = w->outputs[k];
  }
  PB_TRY(turn_inputs(rt, here, diag));
  PB_TRY(pb__run_steps(rt, diag));
  return turn_outputs(rt, outputs, diag);
}

static pb_status run_on(pb_rt* rt, void* stream, const void* const* inputs, void* const* outputs, pb_diag* diag) {
  PB_TRY(pb__device_ready(rt, diag));
  PB_TRY(check(rt, diag));
  const pb__words* w = &rt->words;
  size_t ins = (size_t)rt->engine->input_count, outs = (size_t)rt->engine->output_count;
  uint64_t* given = calloc(ins + outs + 1, sizeof *given);
  void** here = calloc(ins + 1, sizeof *here);
  if (!given || !here) pb_no_memory((ins + outs + 1) * sizeof *given);
  rt->given_inputs = given;
  rt->given_outputs = given + ins;
  pb_status status = w->ops->use_stream(w->device, stream) ? pb__device_fault(rt, "choosing a stream", diag)
                                                           : run_here(rt, here, inputs, outputs, diag);
  // Whatever comes on another stream comes behind.
  if (w->ops->use_stream(w->device, NULL) && status == PB_OK) status = pb__device_fault(rt, "choosing a stream", diag);
  rt->given_inputs = rt->given_outputs = NULL;
  for (size_t k = 0; k < ins; ++k) free(here[k]);
  free(here);
  free(given);
  return status;
}

int pb_rt_run_on(pb_rt* rt, void* stream, const void* const* inputs, void* const* outputs) {
  pb_diag diag = pb__rt_diag();
  pb_status status = PB_OK;
  rt = pb__chosen(rt);
  if (!pb__enter(rt, &status, &diag)) return pb__rt_code(status);
  status = run_on(rt, stream, inputs, outputs, &diag);
  atomic_store(&rt->is_running, false);
  return pb__rt_code(status);
}

// ---- workspace ----

static uint64_t arena_bytes(const pb_engine* e) {
  return (e->arena_bytes + PB_ENGINE_ALIGN - 1) / PB_ENGINE_ALIGN * PB_ENGINE_ALIGN;
}

uint64_t pb_rt_workspace_bytes(const pb_rt* rt) {
  const pb_engine* e = pb__chosen(rt)->engine;
  return arena_bytes(e) + pb__grid_memory(e);
}

// What it has of its own goes as soon as it is not needed.
static pb_status drop_own(pb_rt* rt, pb_diag* diag) {
  pb__words* w = &rt->words;
  const uint64_t own[] = {w->arena, w->memory};
  for (int k = 0; k < 2 && !w->workspace; ++k)
    if (own[k] && w->ops->free && w->ops->free(w->device, own[k])) return pb__device_fault(rt, "freeing memory", diag);
  w->arena = w->memory = 0;
  return PB_OK;
}

static pb_status set_workspace(pb_rt* rt, void* memory, uint64_t bytes, pb_diag* diag) {
  pb__words* w = &rt->words;
  const pb_engine* e = rt->engine;
  uint64_t wanted = pb_rt_workspace_bytes(rt), address;
  PB_TRY(pb__device_ready(rt, diag));
  PB_TRY(check(rt, diag));
  if (e->open) return refuse(rt, "of open dims the runtime has the memory", "pbc --dim NAME=N", diag);
  if (memory && bytes < wanted)
    return pb_error(diag, (pb_place){.file = rt->path}, 5064, "pb_rt_workspace_bytes",
                    "a workspace of %llu bytes, %llu are needed", (unsigned long long)bytes,
                    (unsigned long long)wanted);
  const pb_rt_tensor tensor = {.name = "workspace", .bytes = memory ? bytes : 0};
  PB_TRY(take_pointer(rt, "memory", &tensor, memory, &address, diag));
  PB_TRY(drop_own(rt, diag));
  w->workspace = address;
  w->has_graph = false; // it is of the memory before
  if (!memory) {
    PB_TRY(pb__words_allocate(rt, e->arena_bytes, &w->arena, diag));
    return pb__words_allocate(rt, pb__grid_memory(e), &w->memory, diag);
  }
  w->arena = address;
  w->memory = address + arena_bytes(e);
  return PB_OK;
}

int pb_rt_set_workspace(pb_rt* rt, void* memory, uint64_t bytes) {
  pb_diag diag = pb__rt_diag();
  pb_status status = PB_OK;
  rt = pb__chosen(rt);
  if (!pb__enter(rt, &status, &diag)) return pb__rt_code(status);
  status = set_workspace(rt, memory, bytes, &diag);
  atomic_store(&rt->is_running, false);
  return pb__rt_code(status);
}

// ---- memory of the device ----

static pb_status ready(pb_rt* rt, pb_diag* diag) {
  PB_TRY(pb__device_ready(rt, diag));
  return check(rt, diag);
}

int pb_rt_device_alloc(pb_rt* rt, uint64_t bytes, void** memory) {
  pb_diag diag = pb__rt_diag();
  uint64_t address = 0;
  rt = pb__chosen(rt);
  pb_status status = ready(rt, &diag);
  if (status == PB_OK) status = pb__words_allocate(rt, bytes ? bytes : 1, &address, &diag);
  *memory = (void*)(uintptr_t)address;
  return pb__rt_code(status);
}

int pb_rt_device_free(pb_rt* rt, void* memory) {
  pb_diag diag = pb__rt_diag();
  rt = pb__chosen(rt);
  const pb__words* w = &rt->words;
  pb_status status = ready(rt, &diag);
  if (status == PB_OK && memory && w->ops->free && w->ops->free(w->device, (uint64_t)(uintptr_t)memory))
    status = pb__device_fault(rt, "freeing memory", &diag);
  return pb__rt_code(status);
}

int pb_rt_copy_to_device(pb_rt* rt, void* to, const void* from, uint64_t bytes) {
  pb_diag diag = pb__rt_diag();
  rt = pb__chosen(rt);
  const pb__words* w = &rt->words;
  pb_status status = ready(rt, &diag);
  if (status == PB_OK) status = pb__words_write(rt, (uint64_t)(uintptr_t)to, from, bytes, &diag);
  if (status == PB_OK && w->ops->wait(w->device)) status = pb__device_fault(rt, "copying to the device", &diag);
  return pb__rt_code(status);
}

int pb_rt_copy_from_device(pb_rt* rt, void* to, const void* from, uint64_t bytes) {
  pb_diag diag = pb__rt_diag();
  rt = pb__chosen(rt);
  pb_status status = ready(rt, &diag);
  if (status == PB_OK) status = pb__words_read(rt, (uint64_t)(uintptr_t)from, to, bytes, &diag);
  return pb__rt_code(status);
}

int pb_rt_wait(pb_rt* rt) {
  pb_diag diag = pb__rt_diag();
  rt = pb__chosen(rt);
  const pb__words* w = &rt->words;
  pb_status status = ready(rt, &diag);
  if (status == PB_OK && w->ops->wait(w->device)) status = pb__device_fault(rt, "waiting", &diag);
  return pb__rt_code(status);
}

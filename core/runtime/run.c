// Loading and running: the public functions.
#include "core/runtime/rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static _Thread_local char error_text[8192];
static _Thread_local int error_code;

static void keep_error(void* user, bool error, int code, const char* text) {
  (void)user;
  size_t n = strlen(error_text);
  snprintf(error_text + n, sizeof error_text - n, "%s%s", n ? "\n" : "", text);
  if (error && !error_code) error_code = code;
}

pb_diag pb__rt_diag(void) {
  error_text[0] = 0;
  error_code = 0;
  return (pb_diag){.sink = keep_error};
}
int pb__rt_code(pb_status status) { return status == PB_OK ? 0 : error_code ? error_code : 5000; }
const char* pb_rt_error(void) { return error_text; }

static pb_rt_tensor* describe(pb_rt* rt, int count, const pb_tensor_info* infos) {
  pb_rt_tensor* tensors = PB_NEW_ARRAY(&rt->arena, pb_rt_tensor, (size_t)count);
  for (int k = 0; k < count; ++k) {
    const pb_tensor_info* info = &infos[k];
    uint64_t element = (uint64_t)(pb_type_bits(info->type) + 7) / 8, bytes = element;
    for (int d = 0; d < info->rank; ++d) bytes *= info->shape[d] < 0 ? 0 : (uint64_t)info->shape[d];
    tensors[k] =
        (pb_rt_tensor){info->name, pb_type_name(info->type), info->rank, info->shape, element, bytes, info->is_complex};
  }
  return tensors;
}

static void describe_steps(pb_rt* rt) {
  size_t queues = rt->chip ? (size_t)pb_chip_queues(rt->chip) : 0;
  rt->steps = PB_NEW_ARRAY(&rt->arena, pb_rt_step, (size_t)rt->engine->step_count);
  rt->busy = PB_NEW_ARRAY(&rt->arena, uint64_t, queues * (size_t)rt->engine->step_count + 1);
  for (int k = 0; k < rt->engine->step_count; ++k) {
    static const char* const names[] = {
        [PB_HOST_MOVE] = "move",   [PB_HOST_JUMP] = "jump",       [PB_HOST_UNLESS] = "unless",
        [PB_HOST_PLACE] = "place", [PB_HOST_EXTENTS] = "extents", [PB_HOST_TAKE] = "take"};
    const pb_step* step = &rt->engine->steps[k];
    if (step->op != PB_HOST_LAUNCH) {
      rt->steps[k] = (pb_rt_step){.kernel = names[step->op], .origin = step->origin, .bound = ""};
      continue;
    }
    const pb_kernel* kernel = &rt->engine->kernels[step->kernel];
    rt->steps[k] = (pb_rt_step){.kernel = kernel->name,
                                .origin = step->origin,
                                .bound = kernel->bound,
                                .macs = step->macs,
                                .predicted_cycles = kernel->predicted_cycles};
    for (int q = 0; q < kernel->words.queue_count; ++q) rt->steps[k].commands += kernel->words.count[q];
  }
  for (int k = 0; k < rt->engine->step_count; ++k) rt->steps[k].busy = rt->busy + (size_t)k * queues;
}

static pb_status prepare(pb_rt* rt, pb_diag* diag) {
  for (int k = 0; k < rt->engine->kernel_count; ++k)
    if (rt->engine->kernels[k].is_words || rt->engine->kernels[k].is_grid)
      rt->has_device = true;
    else
      rt->has_native = true;
  if (rt->engine->native_bytes && rt->flags & PB_LOAD_NO_NATIVE)
    return pb_error(diag, (pb_place){.file = rt->path}, 5020, NULL,
                    "the engine holds machine code, which is not allowed here");
  const char* colon = strchr(rt->engine->target, ':');
  if (rt->has_device)
    PB_TRY(pb_chip_from_json(rt->engine->description, rt->path, colon ? colon + 1 : "", diag, &rt->chip));
  rt->inputs = describe(rt, rt->engine->input_count, rt->engine->inputs);
  rt->outputs = describe(rt, rt->engine->output_count, rt->engine->outputs);
  rt->run_inputs = PB_NEW_ARRAY(&rt->arena, const void*, (size_t)rt->engine->input_count);
  rt->own_inputs = PB_NEW_ARRAY(&rt->arena, void*, (size_t)rt->engine->input_count);
  describe_steps(rt);
  pb__aligned_prepare(rt);
  pb__open_prepare(rt);
  return PB_OK;
}

static pb_rt* new_rt(const char* path, unsigned flags) {
  pb_rt* rt = calloc(1, sizeof *rt);
  if (!rt) pb_no_memory(sizeof *rt);
  rt->flags = flags;
  rt->path = pb_strdup(&rt->arena, path);
  rt->device_name = "";
  rt->profile_count = rt->target_count = rt->all_count = 1;
  rt->profiles = PB_NEW_ARRAY(&rt->arena, pb_rt*, 1);
  rt->profiles[0] = rt;
  return rt;
}

static pb_status load(pb_rt* rt, const void* bytes, uint64_t count, pb_diag* diag) {
  PB_TRY(bytes ? pb_engine_parse(bytes, count, rt->path, diag, &rt->engine)
               : pb_engine_read(rt->path, diag, &rt->engine));
  PB_TRY(prepare(rt, diag));
  int profiles = 0;
  for (const pb_engine* e = rt->engine; e; e = e->next) ++profiles;
  rt->profiles = PB_NEW_ARRAY(&rt->arena, pb_rt*, (size_t)profiles);
  rt->profiles[0] = rt;
  for (pb_engine* e = rt->engine->next; e; e = e->next) {
    pb_rt* more = new_rt(rt->path, rt->flags);
    more->engine = e;
    rt->profiles[rt->all_count++] = more;
    rt->target_count += strcmp(e->target, rt->profiles[rt->all_count - 2]->engine->target) != 0;
    PB_TRY(prepare(more, diag));
  }
  rt->profile_count = rt->all_count / rt->target_count; // of each as many
  return PB_OK;
}

static int load_from(const char* path, const void* bytes, uint64_t count, unsigned flags, pb_rt** out) {
  pb_diag diag = pb__rt_diag();
  pb_rt* rt = new_rt(path, flags);
  pb_status status = load(rt, bytes, count, &diag);
  *out = status == PB_OK ? rt : NULL;
  if (status != PB_OK) pb_rt_free(rt);
  return pb__rt_code(status);
}

int pb_rt_load(const char* path, unsigned flags, pb_rt** out) { return load_from(path, NULL, 0, flags, out); }

int pb_rt_load_bytes(const void* bytes, uint64_t count, unsigned flags, pb_rt** out) {
  return load_from("engine in memory", bytes, count, flags, out);
}

static void free_one(pb_rt* rt) {
  pb__close_device(rt);
  pb_chip_free(rt->chip);
  pb__unsigned_free(rt);
  pb__open_free(rt);
  pb_arena arena = rt->arena;
  free(rt);
  pb_arena_free(&arena);
}

void pb_rt_free(pb_rt* rt) {
  if (!rt) return;
  pb_engine* engine = rt->engine; // with those of the other profiles
  for (int k = 1; k < rt->all_count; ++k) free_one(rt->profiles[k]);
  free(rt->device_wanted);
  free(rt->options_wanted);
  free_one(rt);
  pb_engine_free(engine);
}

#define ENGINE(rt) pb__chosen(rt)->engine

const char* pb_rt_target(const pb_rt* rt) { return ENGINE(rt)->target; }
int pb_rt_input_count(const pb_rt* rt) { return rt->engine->input_count; }
int pb_rt_output_count(const pb_rt* rt) { return rt->engine->output_count; }
int pb_rt_alias(const pb_rt* rt, int output) {
  const int* aliases = ENGINE(rt)->aliases;
  return aliases ? aliases[output] : -1;
}
const pb_rt_tensor* pb_rt_input(const pb_rt* rt, int index) { return &pb__chosen(rt)->inputs[index]; }
const pb_rt_tensor* pb_rt_output(const pb_rt* rt, int index) { return &pb__chosen(rt)->outputs[index]; }
int pb_rt_step_count(const pb_rt* rt) { return ENGINE(rt)->step_count; }
int pb_rt_arg_count(const pb_rt* rt, int step) { return ENGINE(rt)->steps[step].arg_count; }
const pb_rt_step* pb_rt_step_info(const pb_rt* rt, int index) { return &pb__chosen(rt)->steps[index]; }
int pb_rt_queue_count(const pb_rt* rt) { return pb__chosen(rt)->chip ? pb_chip_queues(pb__chosen(rt)->chip) : 0; }
const char* pb_rt_queue_name(const pb_rt* rt, int index) {
  return pb__chosen(rt)->chip ? pb_chip_queue_name(pb__chosen(rt)->chip, index) : NULL;
}
int pb_rt_mhz(const pb_rt* rt) { return pb__chosen(rt)->chip ? pb__chosen(rt)->chip->mhz : 0; }
int pb_rt_dram_rate(const pb_rt* rt) {
  const pb_chip* chip = pb__chosen(rt)->chip;
  return chip ? (int)chip->memories[chip->system_memory].bytes_per_cycle : 0;
}
const char* pb_rt_device(const pb_rt* rt) { return pb__chosen(rt)->device_name; }

const char* pb_rt_counter_name(const pb_rt* rt, int index) {
  const pb__words* w = &pb__chosen(rt)->words;
  return w->device && index >= 0 ? w->ops->counter_name(w->device, (uint32_t)index) : NULL;
}
uint64_t pb_rt_counter(const pb_rt* rt, int index) {
  const pb__words* w = &pb__chosen(rt)->words;
  return pb_rt_counter_name(rt, index) ? w->ops->counter(w->device, (uint32_t)index) : 0;
}

uint64_t pb_rt_peak_macs(const pb_rt* rt) { return pb__chosen(rt)->chip ? pb_chip_peak_macs(pb__chosen(rt)->chip) : 0; }

void pb_rt_set_threads(pb_rt* rt, int threads) {
  for (int k = 0; k < rt->all_count; ++k)
    rt->profiles[k]->threads = threads < PB_MOST_THREADS ? threads : PB_MOST_THREADS;
}
void pb_rt_set_trace(pb_rt* rt, pb_rt_trace trace, void* user) {
  for (int k = 0; k < rt->all_count; ++k) {
    rt->profiles[k]->trace = trace;
    rt->profiles[k]->trace_user = user;
  }
}
void pb_rt_set_after_step(pb_rt* rt, pb_rt_after_step call, void* user) {
  for (int k = 0; k < rt->all_count; ++k) {
    rt->profiles[k]->after_step = call;
    rt->profiles[k]->after_step_user = user;
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A step may run more than once: what it takes adds up.
static void forget_times(pb_rt* rt) {
  for (int k = 0; k < rt->engine->step_count; ++k) {
    pb_rt_step* s = &rt->steps[k];
    s->seconds = 0;
    s->cycles = s->dram_read = s->dram_write = s->dram_fetch = s->constants_read = 0;
  }
  size_t queues = rt->chip ? (size_t)pb_chip_queues(rt->chip) : 0;
  memset(rt->busy, 0, queues * (size_t)rt->engine->step_count * sizeof *rt->busy);
}

// *clock: when the step in front was over, 0: another one was there. The next begins then: to ask takes a while.
static pb_status launch(pb_rt* rt, int k, double* clock, pb_diag* diag) {
  double start = *clock > 0 ? *clock : now();
  const pb_kernel* kernel = &rt->engine->kernels[rt->engine->steps[k].kernel];
  bool words = kernel->is_words || kernel->is_grid;
  if (words == rt->tensors_in_process) PB_TRY(words ? pb__words_take(rt, diag) : pb__words_give(rt, diag));
  if (words)
    PB_TRY(pb__words_step(rt, k, diag));
  else
    PB_TRY(pb__native_step(rt, k, diag));
  *clock = 0;
  if (!words || !rt->words.behind) rt->steps[k].seconds += (*clock = now()) - start;
  if (!rt->after_step) return PB_OK;
  rt->after_step(rt->after_step_user, rt, k);
  *clock = 0;
  return PB_OK;
}

typedef struct walk {
  pb_rt* rt;
  pb_diag* diag;
  pb_status status;
} walk;

static void walk_steps(void* user) {
  walk* w = user;
  const pb_engine* engine = w->rt->engine;
  double clock = 0;
  for (int k = 0; k < engine->step_count && w->status == PB_OK;) {
    if (engine->steps[k].op == PB_HOST_LAUNCH) {
      w->status = launch(w->rt, k++, &clock, w->diag);
    } else {
      w->status = pb__control_step(w->rt, &k, w->diag);
      clock = 0;
    }
  }
}

pb_status pb__device_ready(pb_rt* rt, pb_diag* diag) {
  if (rt->engine->open && !rt->open.ready)
    return pb_error(diag, (pb_place){.file = rt->path}, 5050, "pb_rt_choose", "the extents of open dims are not known");
  if (*rt->device_name) return PB_OK;
  return pb__set_device(rt, rt->has_device ? "machine" : "native", NULL, diag);
}

pb_status pb__run_steps(pb_rt* rt, pb_diag* diag) {
  if (rt->has_device) PB_TRY(pb__words_begin(rt, diag));
  rt->tensors_in_process = !rt->has_device;
  forget_times(rt);
  pb__open_begin(rt);
  PB_TRY(pb__aliases_begin(rt, diag));
  walk w = {rt, diag, PB_OK};
  if (rt->has_native)
    pb__native_run(rt, walk_steps, &w);
  else
    walk_steps(&w);
  PB_TRY(w.status);
  return rt->tensors_in_process || rt->given_outputs ? PB_OK : pb__words_give(rt, diag);
}

static pb_status run(pb_rt* rt, pb_diag* diag) {
  PB_TRY(pb__device_ready(rt, diag));
  return rt->wants_graph ? pb__graph_run(rt, pb__run_steps, diag) : pb__run_steps(rt, diag);
}

bool pb__enter(pb_rt* rt, pb_status* status, pb_diag* diag) {
  if (!atomic_exchange(&rt->is_running, true)) return true;
  *status = pb__is_running(rt, diag);
  return false;
}

int pb_rt_run(pb_rt* rt, const void* const* inputs, void* const* outputs) {
  pb_diag diag = pb__rt_diag();
  rt = pb__chosen(rt);
  pb_status status = PB_OK;
  if (!pb__enter(rt, &status, &diag)) return pb__rt_code(status);
  for (int k = 0; k < rt->engine->input_count; ++k) rt->run_inputs[k] = inputs[k];
  rt->run_outputs = outputs;
  status = pb__unsigned_inputs(rt, &diag);
  pb__aligned_inputs(rt);
  if (status == PB_OK) status = run(rt, &diag);
  if (status == PB_OK) pb__unsigned_outputs(rt);
  atomic_store(&rt->is_running, false);
  return pb__rt_code(status);
}

const void* pb_rt_output_data(const pb_rt* rt, int index) {
  const pb__memory* outputs = pb__chosen(rt)->open.outputs;
  return outputs ? outputs[index].data : NULL;
}

// Up to the next offset that any step names, or the end.
static uint64_t blob_size(const pb_rt* rt, pb_arg arg) {
  const pb_open* o = rt->engine->open;
  if (o && arg.space == PB_SPACE_ARENA) return (uint64_t)rt->open.sizes[o->buffers[arg.value].bytes];
  if (arg.space == PB_SPACE_SIZES)
    return (uint64_t)(o->blocks[arg.value].count * pb_type_bits(o->blocks[arg.value].type) / 8);
  uint64_t end = arg.space == PB_SPACE_ARENA ? rt->engine->arena_bytes : rt->engine->const_bytes;
  for (int s = 0; s < rt->engine->step_count; ++s)
    for (int a = 0; a < rt->engine->steps[s].arg_count; ++a) {
      pb_arg other = rt->engine->steps[s].args[a];
      if (other.space == arg.space && other.value > arg.value && other.value < end) end = other.value;
    }
  return end - arg.value;
}

// A device may refuse to read what nobody has written, as behind a tensor's end: then as much as lies in front of that
// is there.
static int read_written(pb_rt* rt, pb_arg arg, void* data, uint64_t bytes, uint64_t* size) {
  pb_diag unsaid = {.sink = pb_diag_drop};
  uint64_t at = pb__words_address(rt, arg), good = 0, bad = bytes + 1;
  for (uint64_t some = bytes; bad - good > 1; some = good + (bad - good) / 2)
    *(pb__words_read(rt, at, data, some, &unsaid) == PB_OK ? &good : &bad) = some;
  if (good < bytes) *size = good;
  return good ? 0 : pb__rt_code(pb__words_read(rt, at, data, bytes, &unsaid));
}

int pb_rt_read_arg(pb_rt* rt, int step, int index, void* data, uint64_t bytes, uint64_t* size) {
  rt = pb__chosen(rt);
  pb_arg arg = rt->engine->steps[step].args[index];
  bool input = arg.space == PB_SPACE_INPUT, output = arg.space == PB_SPACE_OUTPUT;
  *size = input ? rt->inputs[arg.value].bytes : output ? rt->outputs[arg.value].bytes : blob_size(rt, arg);
  if (bytes > *size) bytes = *size;
  if (!bytes) return 0;
  if (pb_is_constant(&arg))
    memcpy(data, rt->engine->consts + arg.value, bytes);
  else if (rt->has_device && !(rt->has_native && rt->tensors_in_process))
    return read_written(rt, arg, data, bytes, size);
  else
    memcpy(data,
           input                         ? rt->run_inputs[arg.value]
           : output                      ? rt->run_outputs[arg.value]
           : arg.space == PB_SPACE_SIZES ? rt->open.blocks[arg.value]
           : rt->engine->open            ? rt->open.buffers[arg.value]
                                         : rt->native.arena + arg.value,
           bytes);
  return 0;
}

// What every engine keeps to, whoever made it. The runtime relies on it and checks nothing of this again.
#include "core/artefact/format.h"

#include <ctype.h>
#include <string.h>

static const uint64_t most_bytes = (uint64_t)1 << 40; // of a tensor or of the arena

typedef struct check {
  const char* path;
  int code;
  pb_diag* diag;
} check;

#define FAIL(c, ...) pb_error((c)->diag, (pb_place){.file = (c)->path}, (c)->code, NULL, __VA_ARGS__)

static pb_status check_tensors(const check* c, const char* what, int count, const pb_tensor_info* tensors) {
  for (int k = 0; k < count; ++k) {
    const pb_tensor_info* t = &tensors[k];
    if (!t->name || !t->name[0]) return FAIL(c, "%s %d has no name", what, k);
    for (int other = 0; other < k; ++other)
      if (!strcmp(t->name, tensors[other].name)) return FAIL(c, "two of the %ss are called '%s'", what, t->name);
    if ((unsigned)t->type >= PB_TYPE_COUNT || t->type == PB_I128) return FAIL(c, "%s '%s' has no type", what, t->name);
    if (t->rank < 0 || t->rank > PB_MAX_RANK) return FAIL(c, "%s '%s' has %d dimensions", what, t->name, t->rank);
    uint64_t bytes = 8; // as if no dimension were 0
    for (int d = 0; d < t->rank; ++d) {
      if (t->shape[d] < 0 || (uint64_t)t->shape[d] > most_bytes / bytes)
        return FAIL(c, "%s '%s': dimension %d is %lld", what, t->name, d, (long long)t->shape[d]);
      if (t->shape[d]) bytes *= (uint64_t)t->shape[d];
    }
  }
  return PB_OK;
}

static bool is_identifier(const char* name) {
  if (!isalpha((unsigned char)*name) && *name != '_') return false;
  for (; *name; ++name)
    if (!isalnum((unsigned char)*name) && *name != '_') return false;
  return true;
}

static pb_status check_kernel(const check* c, const pb_engine* engine, const pb_kernel* kernel) {
  if (!kernel->name || !kernel->name[0]) return FAIL(c, "a kernel has no name");
  if (!kernel->is_words) {
    if (!kernel->symbol || !is_identifier(kernel->symbol)) return FAIL(c, "kernel '%s' has no symbol", kernel->name);
    if (!engine->native_bytes) return FAIL(c, "kernel '%s' is native code and the engine holds none", kernel->name);
    return PB_OK;
  }
  if (kernel->words.queue_count < 1 || kernel->words.queue_count > PB_ENGINE_MAX_QUEUES)
    return FAIL(c, "kernel '%s' has %d queues", kernel->name, kernel->words.queue_count);
  if (engine->command_bytes < 1 || engine->command_bytes > PB_ENGINE_MAX_COMMAND)
    return FAIL(c, "a command of %d bytes", engine->command_bytes);
  if (!engine->description || !engine->description[0])
    return FAIL(c, "kernel '%s' is made of commands and the engine holds no description of its chip", kernel->name);
  return PB_OK;
}

static pb_status check_step(const check* c, const pb_engine* engine, int index) {
  const pb_step* step = &engine->steps[index];
  if (step->op != PB_HOST_LAUNCH) return FAIL(c, "step %d has an unknown operation", index);
  if (step->kernel < 0 || step->kernel >= engine->kernel_count)
    return FAIL(c, "step %d launches kernel %d of %d", index, step->kernel, engine->kernel_count);
  if (step->arg_count < 0 || step->arg_count > PB_ENGINE_MAX_ARGS)
    return FAIL(c, "step %d has %d arguments", index, step->arg_count);
  for (int a = 0; a < step->arg_count; ++a) {
    uint64_t value = step->args[a].value, limit = 0;
    switch (step->args[a].space) {
    case PB_SPACE_INPUT:
      limit = (uint64_t)engine->input_count;
      break;
    case PB_SPACE_OUTPUT:
      limit = (uint64_t)engine->output_count;
      break;
    case PB_SPACE_CONST:
      limit = engine->const_bytes;
      break;
    case PB_SPACE_ARENA:
      limit = engine->arena_bytes;
      break;
    }
    if (value >= limit)
      return FAIL(c, "step %d: argument %d is at %llu of %llu", index, a, (unsigned long long)value,
                  (unsigned long long)limit);
  }
  return PB_OK;
}

pb_status pb__engine_check(const pb_engine* engine, const char* path, int code, pb_diag* diag) {
  check c = {path, code, diag};
  if (!engine->target || !engine->target[0]) return FAIL(&c, "the engine names no target");
  if (engine->arena_bytes > most_bytes)
    return FAIL(&c, "an arena of %llu bytes", (unsigned long long)engine->arena_bytes);
  PB_TRY(check_tensors(&c, "input", engine->input_count, engine->inputs));
  PB_TRY(check_tensors(&c, "output", engine->output_count, engine->outputs));
  for (int k = 0; k < engine->kernel_count; ++k) PB_TRY(check_kernel(&c, engine, &engine->kernels[k]));
  for (int k = 0; k < engine->step_count; ++k) PB_TRY(check_step(&c, engine, k));
  return PB_OK;
}

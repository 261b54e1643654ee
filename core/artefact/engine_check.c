// What every engine keeps to, whoever made it. The runtime relies on it and checks nothing of this again.
#include "core/artefact/format.h"

#include <ctype.h>
#include <string.h>

static const uint64_t most_bytes = (uint64_t)1 << 40; // of a tensor or of the arena

static bool same_tensor(const pb_tensor_info* a, const pb_tensor_info* b) {
  return a->type == b->type && a->rank == b->rank && a->rank >= 0 && a->rank <= PB_MAX_RANK &&
         !memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->rank);
}

// An output that the model lists twice is two of one name, and then of one type and shape.
static pb_status check_tensors(const pb_engine_check* c, const char* what, int count, const pb_tensor_info* tensors,
                               bool open) {
  for (int k = 0; k < count; ++k) {
    const pb_tensor_info* t = &tensors[k];
    if (!t->name || !t->name[0]) return PB_ENGINE_FAIL(c, "%s %d has no name", what, k);
    for (int other = 0; other < k; ++other)
      if (!strcmp(t->name, tensors[other].name) && (strcmp(what, "output") != 0 || !same_tensor(t, &tensors[other])))
        return PB_ENGINE_FAIL(c, "two of the %ss are called '%s'", what, t->name);
    if ((unsigned)t->type >= PB_TYPE_COUNT || t->type == PB_I128)
      return PB_ENGINE_FAIL(c, "%s '%s' has no type", what, t->name);
    if (t->rank < 0 || t->rank > PB_MAX_RANK)
      return PB_ENGINE_FAIL(c, "%s '%s' has %d dimensions", what, t->name, t->rank);
    bool floats = t->type == PB_F32 || t->type == PB_F64;
    if (t->is_complex && (!floats || t->rank < 1 || t->shape[t->rank - 1] != 2))
      return PB_ENGINE_FAIL(c, "%s '%s' has no parts of complex numbers", what, t->name);
    uint64_t bytes = 8; // as if no dimension were 0
    for (int d = 0; d < t->rank; ++d) {
      if (open && t->shape[d] == -1) continue;
      if (t->shape[d] < 0 || (uint64_t)t->shape[d] > most_bytes / bytes)
        return PB_ENGINE_FAIL(c, "%s '%s': dimension %d is %lld", what, t->name, d, (long long)t->shape[d]);
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

static pb_status check_grid_kernel(const pb_engine_check* c, const pb_engine* engine, const pb_kernel* kernel) {
  const pb_grid_kernel* grid = &kernel->grid;
  if (!kernel->symbol || !is_identifier(kernel->symbol))
    return PB_ENGINE_FAIL(c, "kernel '%s' has no symbol", kernel->name);
  if (grid->module < 0 || grid->module >= engine->module_count)
    return PB_ENGINE_FAIL(c, "kernel '%s' is in module %d of %d", kernel->name, grid->module, engine->module_count);
  if (grid->blocks < 1 || grid->blocks > INT32_MAX || grid->threads < 1 || grid->threads > PB_ENGINE_MAX_THREADS)
    return PB_ENGINE_FAIL(c, "kernel '%s' has %u blocks of %u threads", kernel->name, grid->blocks, grid->threads);
  if (grid->memory > most_bytes)
    return PB_ENGINE_FAIL(c, "kernel '%s' takes %llu bytes", kernel->name, (unsigned long long)grid->memory);
  if (!engine->description || !engine->description[0])
    return PB_ENGINE_FAIL(c, "kernel '%s' is a grid's and the engine holds no description of its chip", kernel->name);
  return PB_OK;
}

// Each module stands there in one form at least, in each once, in the order of their numbers.
static pb_status check_codes(const pb_engine_check* c, const pb_engine* engine) {
  int last = -1;
  if (engine->grid_code_count && (!engine->processor || !engine->processor[0]))
    return PB_ENGINE_FAIL(c, "code of a grid for no processor");
  if (engine->module_count < 0 || engine->module_count > PB_ENGINE_MAX_MODULES)
    return PB_ENGINE_FAIL(c, "%d modules of a grid", engine->module_count);
  for (int k = 0, forms = 0; k < engine->grid_code_count; ++k) {
    const pb_grid_code* code = &engine->grid_codes[k];
    if (code->module == last + 1)
      forms = 0;
    else if (code->module != last)
      return PB_ENGINE_FAIL(c, "module %d of a grid is out of place", code->module);
    last = code->module;
    if ((unsigned)code->form >= PB_ENGINE_CODE_FORMS || forms >> code->form || !code->bytes)
      return PB_ENGINE_FAIL(c, "module %d of a grid has code of no form", code->module);
    forms |= 1 << code->form;
  }
  return last + 1 == engine->module_count ? PB_OK : PB_ENGINE_FAIL(c, "module %d of a grid has no code", last + 1);
}

bool pb_engine_has_grid(const pb_engine* engine) {
  for (int k = 0; k < engine->kernel_count; ++k)
    if (engine->kernels[k].is_grid) return true;
  return false;
}

static pb_status check_kernel(const pb_engine_check* c, const pb_engine* engine, const pb_kernel* kernel) {
  if (!kernel->name || !kernel->name[0]) return PB_ENGINE_FAIL(c, "a kernel has no name");
  if (kernel->is_grid) return check_grid_kernel(c, engine, kernel);
  if (!kernel->is_words) {
    if (!kernel->symbol || !is_identifier(kernel->symbol))
      return PB_ENGINE_FAIL(c, "kernel '%s' has no symbol", kernel->name);
    if (!engine->native_bytes)
      return PB_ENGINE_FAIL(c, "kernel '%s' is native code and the engine holds none", kernel->name);
    return PB_OK;
  }
  if (kernel->words.queue_count < 1 || kernel->words.queue_count > PB_ENGINE_MAX_QUEUES)
    return PB_ENGINE_FAIL(c, "kernel '%s' has %d queues", kernel->name, kernel->words.queue_count);
  if (engine->command_bytes < 1 || engine->command_bytes > PB_ENGINE_MAX_COMMAND)
    return PB_ENGINE_FAIL(c, "a command of %d bytes", engine->command_bytes);
  if (!engine->description || !engine->description[0])
    return PB_ENGINE_FAIL(c, "kernel '%s' is made of commands and the engine holds no description of its chip",
                          kernel->name);
  return PB_OK;
}

uint64_t pb_engine_apart(const pb_engine* engine, int number) {
  uint64_t first = engine->const_bytes;
  for (int s = 0; s < engine->step_count; ++s)
    for (int a = 0; a < engine->steps[s].arg_count; ++a) {
      const pb_arg* arg = &engine->steps[s].args[a];
      if (pb_apart_memory(arg) >= number && arg->value < first) first = arg->value;
    }
  return first;
}

uint64_t pb_engine_apart_bytes(const pb_engine* engine, int number) {
  return pb_engine_apart(engine, number + 1) - pb_engine_apart(engine, number);
}

bool pb_engine_has_control(const pb_engine* engine) {
  for (int k = 0; k < engine->step_count; ++k)
    if (engine->steps[k].op != PB_HOST_LAUNCH) return true;
  return false;
}

// How far the argument's offsets or indices go.
static uint64_t limit_of(const pb_engine* engine, pb_space space) {
  if (pb_apart_memory(&(pb_arg){.space = space}) >= 0) return engine->const_bytes;
  switch (space) {
  case PB_SPACE_INPUT:
    return (uint64_t)engine->input_count;
  case PB_SPACE_OUTPUT:
    return (uint64_t)engine->output_count;
  case PB_SPACE_CONST:
    return engine->const_bytes;
  case PB_SPACE_ARENA:
    return engine->open ? (uint64_t)engine->open->buffer_count : engine->arena_bytes;
  case PB_SPACE_SIZES:
    return engine->open ? (uint64_t)engine->open->block_count : 0;
  default:
    return 0;
  }
  return 0;
}

static pb_status check_launch(const pb_engine_check* c, const pb_engine* engine, int index) {
  const pb_step* step = &engine->steps[index];
  if (step->kernel < 0 || step->kernel >= engine->kernel_count)
    return PB_ENGINE_FAIL(c, "step %d launches kernel %d of %d", index, step->kernel, engine->kernel_count);
  if (engine->kernels[step->kernel].is_words && step->arg_count > PB_ENGINE_MAX_DEVICE_ARGS)
    return PB_ENGINE_FAIL(c, "step %d has %d arguments, and its kernel is made of commands", index, step->arg_count);
  if (step->arg_count + (engine->kernels[step->kernel].grid.memory > 0) > PB_ENGINE_MAX_ARGS)
    return PB_ENGINE_FAIL(c, "step %d has %d arguments beside its memory", index, step->arg_count);
  if (step->kept_count < 0 || step->kept_count > PB_ENGINE_MAX_KEPT)
    return PB_ENGINE_FAIL(c, "step %d keeps %d pieces of memory; %d at most", index, step->kept_count,
                          PB_ENGINE_MAX_KEPT);
  for (int n = 0; n < step->kept_count; ++n) {
    const pb_kept* kept = &step->kept[n];
    if (!kept->bytes || kept->bytes > most_bytes || kept->address > most_bytes || kept->memory < 0)
      return PB_ENGINE_FAIL(c, "step %d keeps %llu bytes from %llu on", index, (unsigned long long)kept->bytes,
                            (unsigned long long)kept->address);
  }
  return PB_OK;
}

// Constants of several memories do not mix, and commands alone reach those apart.
static pb_status check_apart(const pb_engine_check* c, const pb_engine* engine) {
  uint64_t ends[PB_ENGINE_MAX_APART + 1]; // of CONST, and of each memory of constants
  for (int k = 0; k <= PB_ENGINE_MAX_APART; ++k) ends[k] = pb_engine_apart(engine, k);
  for (int s = 0; s < engine->step_count; ++s) {
    const pb_step* step = &engine->steps[s];
    bool words = step->op == PB_HOST_LAUNCH && engine->kernels[step->kernel].is_words;
    for (int a = 0; a < step->arg_count; ++a) {
      const pb_arg* arg = &step->args[a];
      if (pb_apart_memory(arg) >= 0 && !words)
        return PB_ENGINE_FAIL(c, "step %d: argument %d lies in a memory that only commands reach", s, a);
      if (pb_is_constant(arg) && arg->value >= ends[pb_apart_memory(arg) + 1])
        return PB_ENGINE_FAIL(c, "step %d: argument %d is a constant among those of another memory", s, a);
    }
  }
  return PB_OK;
}

// From the argument's place to the end of what it lies in; its value is in range.
static uint64_t bytes_at(const pb_engine* engine, const pb_arg* arg) {
  if (arg->space == PB_SPACE_ARENA || arg->space == PB_SPACE_CONST) return limit_of(engine, arg->space) - arg->value;
  const pb_tensor_info* t = &(arg->space == PB_SPACE_INPUT ? engine->inputs : engine->outputs)[arg->value];
  uint64_t bytes = (uint64_t)(pb_type_bits(t->type) + 7) / 8;
  for (int d = 0; d < t->rank; ++d) bytes *= (uint64_t)t->shape[d];
  return bytes;
}

// Between a jump back and the step that it goes to something must leave, and look at what is no constant.
static bool can_end(const pb_engine* engine, int from, int index) {
  for (int k = from; k < index; ++k) {
    const pb_step* s = &engine->steps[k];
    if (s->op == PB_HOST_UNLESS && s->target > index && s->arg_count && s->args[0].space != PB_SPACE_CONST) return true;
  }
  return false;
}

// What a step of a program with open dims moves: sizes, of which only the runtime knows how large they are.
static pb_status check_sizes(const pb_engine_check* c, const pb_engine* engine, int index) {
  const pb_step* step = &engine->steps[index];
  const pb_rows* rows = &step->rows;
  const uint64_t amounts[] = {step->bytes, rows->count, rows->stride, rows->unit, rows->most};
  int count = step->op == PB_HOST_MOVE ? 1 : 5;
  bool writes = step->args[0].space == PB_SPACE_ARENA || step->args[0].space == PB_SPACE_OUTPUT;
  if (!writes || step->target != 0) return PB_ENGINE_FAIL(c, "step %d moves to what is not written", index);
  if (count > 1 && rows->index != PB_I32 && rows->index != PB_I64)
    return PB_ENGINE_FAIL(c, "step %d has an index of no type", index);
  for (int k = 0; k < count; ++k)
    if (amounts[k] >= (uint64_t)engine->open->size_count)
      return PB_ENGINE_FAIL(c, "step %d moves what size %llu of %d says", index, (unsigned long long)amounts[k],
                            engine->open->size_count);
  return PB_OK;
}

// a + b * times, or more than any memory has.
static uint64_t reach(uint64_t a, uint64_t b, uint64_t times) {
  if (b && times > most_bytes / b) return UINT64_MAX;
  return a > most_bytes ? UINT64_MAX : a + b * times;
}

static pb_status check_rows(const pb_engine_check* c, const pb_engine* engine, int index) {
  const pb_step* step = &engine->steps[index];
  const pb_rows* rows = &step->rows;
  bool writes = step->args[0].space == PB_SPACE_ARENA || step->args[0].space == PB_SPACE_OUTPUT;
  if (!writes || step->target != 0) return PB_ENGINE_FAIL(c, "step %d moves to what is not written", index);
  if (rows->index != PB_I32 && rows->index != PB_I64)
    return PB_ENGINE_FAIL(c, "step %d has an index of no type", index);
  bool takes = step->op == PB_HOST_TAKE;
  uint64_t each = (uint64_t)pb_type_bits(rows->index) / 8;
  if (bytes_at(engine, &step->args[2]) < reach(0, each, takes ? rows->count : 1))
    return PB_ENGINE_FAIL(c, "step %d has its index outside", index);
  if (rows->count < 1 || step->bytes < 1) return PB_ENGINE_FAIL(c, "step %d moves nothing", index);
  if (takes) {
    if (rows->unit != step->bytes || rows->stride != step->bytes)
      return PB_ENGINE_FAIL(c, "step %d takes no rows", index);
    if (reach(0, step->bytes, rows->count) > bytes_at(engine, &step->args[0]) ||
        reach(step->bytes, rows->unit, rows->most) > bytes_at(engine, &step->args[1]))
      return PB_ENGINE_FAIL(c, "step %d moves past what it moves", index);
    return PB_OK;
  }
  uint64_t last = reach(reach(step->bytes, rows->stride, rows->count - 1), rows->unit, rows->most);
  if (last > bytes_at(engine, &step->args[0]) || reach(0, step->bytes, rows->count) > bytes_at(engine, &step->args[1]))
    return PB_ENGINE_FAIL(c, "step %d moves past what it moves", index);
  return PB_OK;
}

static pb_status check_control(const pb_engine_check* c, const pb_engine* engine, int index) {
  static const int operands[] = {[PB_HOST_MOVE] = 2,  [PB_HOST_JUMP] = 0,    [PB_HOST_UNLESS] = 1,
                                 [PB_HOST_PLACE] = 3, [PB_HOST_EXTENTS] = 1, [PB_HOST_TAKE] = 3};
  const pb_step* step = &engine->steps[index];
  if (step->op == PB_HOST_EXTENTS && !engine->open)
    return PB_ENGINE_FAIL(c, "step %d says extents, and none is open", index);
  if (step->arg_count != operands[step->op])
    return PB_ENGINE_FAIL(c, "step %d has %d arguments", index, step->arg_count);
  if (step->op == PB_HOST_EXTENTS) return PB_OK; // with what is open
  bool moves = step->op == PB_HOST_MOVE || step->op == PB_HOST_PLACE || step->op == PB_HOST_TAKE;
  if (engine->open && moves) return check_sizes(c, engine, index);
  if (step->op == PB_HOST_PLACE || step->op == PB_HOST_TAKE) return check_rows(c, engine, index);
  if (step->op == PB_HOST_MOVE) {
    bool writes = step->args[0].space == PB_SPACE_ARENA || step->args[0].space == PB_SPACE_OUTPUT;
    if (!writes || step->target != 0) return PB_ENGINE_FAIL(c, "step %d moves to what is not written", index);
    for (int a = 0; a < 2; ++a)
      if (step->bytes < 1 || step->bytes > bytes_at(engine, &step->args[a]))
        return PB_ENGINE_FAIL(c, "step %d moves %llu bytes of less", index, (unsigned long long)step->bytes);
    return PB_OK;
  }
  if (step->bytes) return PB_ENGINE_FAIL(c, "step %d jumps and moves", index);
  int least = step->op == PB_HOST_UNLESS ? index + 1 : 0;
  if (step->target < least || step->target > engine->step_count)
    return PB_ENGINE_FAIL(c, "step %d jumps to %d of %d", index, step->target, engine->step_count);
  if (step->op == PB_HOST_UNLESS && !engine->open && !bytes_at(engine, &step->args[0]))
    return PB_ENGINE_FAIL(c, "step %d looks at a tensor without elements", index);
  if (step->op == PB_HOST_JUMP && step->target <= index && !can_end(engine, step->target, index))
    return PB_ENGINE_FAIL(c, "step %d turns for ever", index);
  return PB_OK;
}

static pb_status check_step(const pb_engine_check* c, const pb_engine* engine, int index) {
  const pb_step* step = &engine->steps[index];
  if ((unsigned)step->op > PB_HOST_TAKE) return PB_ENGINE_FAIL(c, "step %d has an unknown operation", index);
  if (step->arg_count < 0 || step->arg_count > PB_ENGINE_MAX_ARGS)
    return PB_ENGINE_FAIL(c, "step %d has %d arguments", index, step->arg_count);
  for (int a = 0; a < step->arg_count; ++a) {
    uint64_t value = step->args[a].value, limit = limit_of(engine, step->args[a].space);
    if (value >= limit)
      return PB_ENGINE_FAIL(c, "step %d: argument %d is at %llu of %llu", index, a, (unsigned long long)value,
                            (unsigned long long)limit);
  }
  return step->op == PB_HOST_LAUNCH ? check_launch(c, engine, index) : check_control(c, engine, index);
}

static bool are_alike(const pb_tensor_info* a, const pb_tensor_info* b) {
  bool alike = a->type == b->type && a->rank == b->rank && a->is_complex == b->is_complex;
  for (int d = 0; alike && d < a->rank; ++d) alike = a->shape[d] == b->shape[d];
  return alike;
}

static pb_status check_aliases(const pb_engine_check* c, const pb_engine* engine) {
  for (int k = 0; engine->aliases && k < engine->output_count; ++k) {
    int input = engine->aliases[k];
    if (input < -1 || input >= engine->input_count) return PB_ENGINE_FAIL(c, "output %d is made of input %d", k, input);
    if (input < 0) continue;
    if (engine->open || !are_alike(&engine->inputs[input], &engine->outputs[k]) || engine->inputs[input].type == PB_U8)
      return PB_ENGINE_FAIL(c, "output '%s' is made of another tensor", engine->outputs[k].name);
    for (int other = 0; other < k; ++other)
      if (engine->aliases[other] == input) return PB_ENGINE_FAIL(c, "two outputs are made of input %d", input);
  }
  return PB_OK;
}

pb_status pb__engine_check(const pb_engine* engine, const char* path, int code, pb_diag* diag) {
  pb_engine_check c = {path, code, diag};
  if (!engine->target || !engine->target[0]) return PB_ENGINE_FAIL(&c, "the engine names no target");
  if (engine->arena_bytes > most_bytes)
    return PB_ENGINE_FAIL(&c, "an arena of %llu bytes", (unsigned long long)engine->arena_bytes);
  PB_TRY(check_tensors(&c, "input", engine->input_count, engine->inputs, engine->open != NULL));
  PB_TRY(check_tensors(&c, "output", engine->output_count, engine->outputs, engine->open != NULL));
  for (int k = 0; k < engine->kernel_count; ++k) PB_TRY(check_kernel(&c, engine, &engine->kernels[k]));
  PB_TRY(check_codes(&c, engine));
  for (int k = 0; k < engine->step_count; ++k) PB_TRY(check_step(&c, engine, k));
  PB_TRY(check_apart(&c, engine));
  PB_TRY(check_aliases(&c, engine));
  return engine->open ? pb__engine_check_open(&c, engine) : PB_OK;
}

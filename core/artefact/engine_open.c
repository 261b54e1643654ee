// The part of an engine with open dims: what it keeps to, and when its sizes are known.
#include "core/artefact/format.h"

#include <string.h>

// ---- when they are known ----

static int later(int a, int b) { return a > b ? a : b; }

void pb_open_find_stages(const pb_engine* engine, pb_arena* arena, pb_open_stages* stages) {
  const pb_open* o = engine->open;
  int symbol[PB_MOST_SYMBOLS] = {0};
  for (int k = 0; k < o->source_count; ++k)
    for (int n = 0; n < o->sources[k].count; ++n)
      if (o->sources[k].symbol[n] >= 0) symbol[o->sources[k].symbol[n]] = k + 1;
  stages->sizes = PB_NEW_ARRAY(arena, int, (size_t)o->size_count + 1);
  for (int k = 0; k < o->size_count; ++k) {
    const pb_size* s = &o->sizes[k];
    bool leaf = s->op == PB_SIZE_NUMBER || s->op == PB_SIZE_SYMBOL;
    stages->sizes[k] = s->op == PB_SIZE_SYMBOL ? symbol[s->number]
                       : leaf                  ? 0
                                               : later(stages->sizes[s->a], stages->sizes[s->b]);
  }
  stages->checks = PB_NEW_ARRAY(arena, int, (size_t)o->check_count + 1);
  for (int k = 0; k < o->check_count; ++k)
    stages->checks[k] = later(stages->sizes[o->checks[k].a], stages->sizes[o->checks[k].b]);
  stages->blocks = PB_NEW_ARRAY(arena, int, (size_t)o->block_count + 1);
  for (int k = 0; k < o->block_count; ++k)
    for (int n = 0; n < o->blocks[k].count; ++n)
      stages->blocks[k] = later(stages->blocks[k], stages->sizes[o->blocks[k].sizes[n]]);
  stages->buffers = PB_NEW_ARRAY(arena, int, (size_t)o->buffer_count + 1);
  for (int k = 0; k < o->buffer_count; ++k) stages->buffers[k] = stages->sizes[o->buffers[k].bytes];
  stages->outputs = PB_NEW_ARRAY(arena, int, (size_t)engine->output_count + 1);
  for (int k = 0; k < engine->output_count; ++k)
    for (int d = 0; d < engine->outputs[k].rank; ++d)
      stages->outputs[k] = later(stages->outputs[k], stages->sizes[o->outputs[k][d]]);
}

// ---- rules ----

// The dims of tensors are numbers, where the size is one, or open.
static pb_status check_dims(const pb_engine_check* c, const char* what, int count, const pb_tensor_info* tensors,
                            const pb_open* o, int (*dims)[PB_MAX_RANK], bool* bound) {
  for (int k = 0; k < count; ++k)
    for (int d = 0; d < tensors[k].rank; ++d) {
      int at = dims[k][d];
      if (at < 0 || at >= o->size_count)
        return PB_ENGINE_FAIL(c, "%s '%s': dim %d is size %d of %d", what, tensors[k].name, d, at, o->size_count);
      const pb_size* size = &o->sizes[at];
      if (tensors[k].shape[d] != (size->op == PB_SIZE_NUMBER ? size->number : -1))
        return PB_ENGINE_FAIL(c, "%s '%s': dim %d is %lld, and its size another", what, tensors[k].name, d,
                              (long long)tensors[k].shape[d]);
      if (size->op == PB_SIZE_SYMBOL && bound) bound[size->number] = true;
    }
  return PB_OK;
}

static pb_status check_sizes(const pb_engine_check* c, const pb_open* o) {
  for (int k = 0; k < o->size_count; ++k) {
    const pb_size* s = &o->sizes[k];
    bool leaf = s->op == PB_SIZE_NUMBER || s->op == PB_SIZE_SYMBOL;
    bool good = s->op >= 0 && s->op < PB_SIZE_OPS && s->a >= 0 && s->b >= 0 &&
                (leaf ? !s->a && !s->b : s->a < k && s->b < k && !s->number);
    if (s->op == PB_SIZE_SYMBOL) good = good && s->number >= 0 && s->number < o->symbol_count;
    if (s->op == PB_SIZE_DIV) good = good && o->sizes[s->b].op == PB_SIZE_NUMBER && o->sizes[s->b].number > 0;
    if (!good) return PB_ENGINE_FAIL(c, "size %d is none", k);
  }
  return PB_OK;
}

// Each source has one step, in order, and each symbol one source, or dims of inputs.
static pb_status check_sources(const pb_engine_check* c, const pb_engine* engine, bool* bound) {
  const pb_open* o = engine->open;
  int next = 0;
  for (int k = 0; k < o->source_count; ++k)
    for (int n = 0; n < o->sources[k].count; ++n) {
      int symbol = o->sources[k].symbol[n];
      if (symbol < -1 || symbol >= o->symbol_count || (symbol >= 0 && bound[symbol]))
        return PB_ENGINE_FAIL(c, "source %d says the open dim %d, which is none or said already", k, symbol);
      if (symbol >= 0) bound[symbol] = true;
    }
  for (int k = 0; k < engine->step_count; ++k) {
    const pb_step* step = &engine->steps[k];
    if (step->op != PB_HOST_EXTENTS) continue;
    if (step->target != next || next == o->source_count || step->bytes || step->args[0].space != PB_SPACE_ARENA)
      return PB_ENGINE_FAIL(c, "step %d says extents of source %d, and the next is %d of %d", k, step->target, next,
                            o->source_count);
    ++next;
  }
  return next == o->source_count ? PB_OK : PB_ENGINE_FAIL(c, "source %d has no step", next);
}

static int stage_of(const pb_open_stages* stages, const pb_arg* arg) {
  if (arg->space == PB_SPACE_ARENA) return stages->buffers[arg->value];
  if (arg->space == PB_SPACE_SIZES) return stages->blocks[arg->value];
  return arg->space == PB_SPACE_OUTPUT ? stages->outputs[arg->value] : 0;
}

// The latest stage of what a step moves.
static int stage_of_amounts(const pb_open_stages* stages, const pb_step* step) {
  const uint64_t amounts[] = {step->bytes, step->rows.count, step->rows.stride, step->rows.unit, step->rows.most};
  int count = step->op == PB_HOST_MOVE ? 1 : step->op == PB_HOST_PLACE || step->op == PB_HOST_TAKE ? 5 : 0, stage = 0;
  for (int k = 0; k < count; ++k) stage = later(stage, stages->sizes[amounts[k]]);
  return stage;
}

// No jump goes past a step that says extents, on or back: each is done once, in order.
static pb_status check_jumps(const pb_engine_check* c, const pb_engine* engine) {
  for (int k = 0; k < engine->step_count; ++k) {
    const pb_step* step = &engine->steps[k];
    if (step->op != PB_HOST_JUMP && step->op != PB_HOST_UNLESS) continue;
    int from = step->target < k ? step->target : k, to = step->target < k ? k : step->target;
    for (int s = from; s < to; ++s)
      if (engine->steps[s].op == PB_HOST_EXTENTS)
        return PB_ENGINE_FAIL(c, "step %d jumps past step %d, which says extents", k, s);
  }
  return PB_OK;
}

// A buffer lives while steps use it, and what a step uses is known by then.
static pb_status check_life(const pb_engine_check* c, const pb_engine* engine) {
  const pb_open* o = engine->open;
  pb_arena arena = {0};
  pb_open_stages stages;
  pb_status status = PB_OK;
  int known = 0;
  pb_open_find_stages(engine, &arena, &stages);
  for (int k = 0; k < engine->step_count && status == PB_OK; ++k) {
    const pb_step* step = &engine->steps[k];
    for (int a = 0; a < step->arg_count && status == PB_OK; ++a) {
      const pb_arg* arg = &step->args[a];
      if (arg->space == PB_SPACE_ARENA && (o->buffers[arg->value].first > k || o->buffers[arg->value].last < k))
        status =
            PB_ENGINE_FAIL(c, "step %d uses buffer %llu, which is not there then", k, (unsigned long long)arg->value);
      else if (stage_of(&stages, arg) > known)
        status = PB_ENGINE_FAIL(c, "step %d: the size of argument %d is not known then", k, a);
    }
    if (status == PB_OK && stage_of_amounts(&stages, step) > known)
      status = PB_ENGINE_FAIL(c, "step %d: what it moves is not known then", k);
    known += step->op == PB_HOST_EXTENTS;
  }
  pb_arena_free(&arena);
  return status;
}

pb_status pb__engine_check_open(const pb_engine_check* c, const pb_engine* engine) {
  const pb_open* o = engine->open;
  bool bound[PB_MOST_SYMBOLS] = {0};
  if (engine->shares || engine->next) return PB_ENGINE_FAIL(c, "a profile with open dims");
  if (engine->arena_bytes) return PB_ENGINE_FAIL(c, "an arena, and open dims");
  if ((o->symbol_count < 1 && !o->source_count) || o->symbol_count > PB_MOST_SYMBOLS)
    return PB_ENGINE_FAIL(c, "%d open dims", o->symbol_count);
  for (int k = 0; k < engine->kernel_count; ++k)
    if (engine->kernels[k].is_words)
      return PB_ENGINE_FAIL(c, "kernel '%s' of commands, and open dims", engine->kernels[k].name);
  PB_TRY(check_sizes(c, o));
  PB_TRY(check_dims(c, "input", engine->input_count, engine->inputs, o, o->inputs, bound));
  PB_TRY(check_dims(c, "output", engine->output_count, engine->outputs, o, o->outputs, NULL));
  PB_TRY(check_sources(c, engine, bound));
  for (int k = 0; k < o->symbol_count; ++k)
    if (!bound[k]) return PB_ENGINE_FAIL(c, "no input has the dim '%s', and no source", o->symbols[k]);
  for (int k = 0; k < o->check_count; ++k)
    if (o->checks[k].a < 0 || o->checks[k].a >= o->size_count || o->checks[k].b < 0 || o->checks[k].b >= o->size_count)
      return PB_ENGINE_FAIL(c, "check %d is of no sizes", k);
  for (int k = 0; k < o->block_count; ++k) {
    const pb_open_block* b = &o->blocks[k];
    if (b->type != PB_I8 && b->type != PB_I32 && b->type != PB_I64) return PB_ENGINE_FAIL(c, "block %d has no type", k);
    for (int n = 0; n < b->count; ++n)
      if (b->sizes[n] < 0 || b->sizes[n] >= o->size_count)
        return PB_ENGINE_FAIL(c, "block %d has size %d", k, b->sizes[n]);
  }
  for (int k = 0; k < o->buffer_count; ++k) {
    const pb_open_buffer* b = &o->buffers[k];
    if (b->bytes < 0 || b->bytes >= o->size_count || b->first < 0 || b->first > b->last ||
        b->last >= engine->step_count)
      return PB_ENGINE_FAIL(c, "buffer %d is none", k);
  }
  PB_TRY(check_jumps(c, engine));
  return check_life(c, engine);
}

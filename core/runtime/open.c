// Programs with open dims: from the shapes of the inputs to the sizes of everything, checked, and where tensors between
// kernels lie. It is done when shapes are chosen that are not those of the run before.
#include "core/base/pages.h"
#include "core/runtime/rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t most_bytes = (int64_t)1 << 40; // of a tensor, as of an engine without open dims

static pb_place place_of(const pb_rt* rt) { return (pb_place){.file = rt->path}; }

// The symbols' values, by the inputs' dims that are one.
static pb_status bind(pb_rt* rt, const int64_t* const* shapes, pb_diag* diag) {
  const pb_open* o = rt->engine->open;
  int from[PB_MOST_SYMBOLS];
  for (int s = 0; s < o->symbol_count; ++s) from[s] = -1;
  for (int k = 0; k < rt->engine->input_count; ++k)
    for (int d = 0; d < rt->inputs[k].rank; ++d) {
      const pb_size* size = &o->sizes[o->inputs[k][d]];
      const char* name = rt->inputs[k].name;
      int64_t is = shapes[k][d], wanted = size->number;
      if (size->op == PB_SIZE_NUMBER && is != wanted)
        return pb_error(diag, place_of(rt), 5047, NULL, "input '%s': its dim %d is %lld, and the model's is %lld", name,
                        d, (long long)is, (long long)wanted);
      if (size->op != PB_SIZE_SYMBOL) continue;
      if (is < 0)
        return pb_error(diag, place_of(rt), 5047, "extents from 0 on", "input '%s': its dim %d is %lld", name, d,
                        (long long)is);
      if (from[wanted] >= 0 && rt->open.symbols[wanted] != is)
        return pb_error(diag, place_of(rt), 5047, NULL, "input '%s': its dim %d is %lld, and '%s' is %lld by '%s'",
                        name, d, (long long)is, o->symbols[wanted], (long long)rt->open.symbols[wanted],
                        rt->inputs[from[wanted]].name);
      rt->open.symbols[wanted] = is;
      from[wanted] = k;
    }
  return PB_OK;
}

static pb_status too_large(pb_rt* rt, const char* what, pb_diag* diag) {
  return pb_error(diag, place_of(rt), 5048, "smaller extents", "%s is too large at these extents", what);
}

static pb_status compute(pb_rt* rt, int stage, pb_diag* diag) {
  const pb_open* o = rt->engine->open;
  for (int k = 0; k < o->size_count; ++k)
    if (rt->open.stages.sizes[k] == stage &&
        !pb_size_value(&o->sizes[k], rt->open.symbols, rt->open.sizes, &rt->open.sizes[k]))
      return too_large(rt, "a size", diag);
  for (int k = 0; k < o->check_count; ++k) {
    const pb_open_check* c = &o->checks[k];
    int64_t a = rt->open.sizes[c->a], b = rt->open.sizes[c->b];
    if (rt->open.stages.checks[k] != stage || (c->equal ? a == b : a <= b)) continue;
    return pb_error(diag, place_of(rt), 5049, "other extents, or a profile: --dim and --input-shape list values",
                    "%s: %lld is %s %lld at these extents", c->text, (long long)a, c->equal ? "not" : "more than",
                    (long long)b);
  }
  return PB_OK;
}

static pb_status set_shape(pb_rt* rt, pb_rt_tensor* tensor, const int* dims, pb_diag* diag) {
  int64_t *shape = (int64_t*)(uintptr_t)tensor->shape, bytes = (int64_t)tensor->element_bytes;
  for (int d = 0; d < tensor->rank; ++d) {
    int64_t extent = rt->open.sizes[dims[d]];
    if (extent < 0)
      return pb_error(diag, place_of(rt), 5049, NULL, "'%s': its dim %d would be %lld", tensor->name, d,
                      (long long)extent);
    shape[d] = extent;
    if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > most_bytes) return too_large(rt, tensor->name, diag);
  }
  tensor->bytes = (uint64_t)bytes;
  return PB_OK;
}

// The same memory where it is large enough.
static pb_status make_room(pb_rt* rt, pb__memory* memory, uint64_t bytes, const char* what, pb_diag* diag) {
  if (memory->data && bytes <= memory->bytes) return PB_OK;
  free(memory->data);
  memory->bytes = bytes;
  memory->data = pb_pages_alloc(bytes);
  if (memory->data) return PB_OK;
  memory->bytes = 0;
  return pb_system_error(diag, place_of(rt), 5026, "no memory for %s of %llu bytes", what, (unsigned long long)bytes);
}

// Those whose extents data say get memory here: nobody else can have known how much.
static pb_status set_outputs(pb_rt* rt, int stage, pb_diag* diag) {
  for (int k = 0; k < rt->engine->output_count; ++k) {
    pb_rt_tensor* t = &rt->outputs[k];
    if (rt->open.stages.outputs[k] != stage) continue;
    PB_TRY(set_shape(rt, t, rt->engine->open->outputs[k], diag));
    if (!stage) continue;
    PB_TRY(make_room(rt, &rt->open.outputs[k], t->bytes, "an output", diag));
    rt->open.run_outputs[k] = rt->open.outputs[k].data;
  }
  return PB_OK;
}

static pb_status fill_blocks(pb_rt* rt, int stage, pb_diag* diag) {
  const pb_open* o = rt->engine->open;
  for (int k = 0; k < o->block_count; ++k) {
    const pb_open_block* b = &o->blocks[k];
    int element = pb_type_bits(b->type) / 8;
    if (rt->open.stages.blocks[k] != stage) continue;
    if (!rt->open.blocks[k]) rt->open.blocks[k] = malloc((size_t)(b->count * element) + 8);
    if (!rt->open.blocks[k]) return pb_system_error(diag, place_of(rt), 5026, "no memory for sizes");
    for (int n = 0; n < b->count; ++n) // little-endian: the low bytes are the number
      memcpy(rt->open.blocks[k] + n * element, &rt->open.sizes[b->sizes[n]], (size_t)element);
  }
  return PB_OK;
}

typedef struct row { // a buffer to be placed
  int64_t bytes, at;
  int first, last, number;
} row;

static int by_bytes(const void* a, const void* b) {
  const row *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return (x->number > y->number) - (x->number < y->number);
}

// Large ones first, each at the lowest offset where it meets none that lives at the same time.
static int64_t place_rows(row* rows, int count) {
  int64_t end = 0;
  qsort(rows, (size_t)count, sizeof *rows, by_bytes);
  for (int i = 0; i < count; ++i) {
    row* p = &rows[i];
    for (bool moved = true; moved;) {
      moved = false;
      for (int j = 0; j < i; ++j) {
        const row* q = &rows[j];
        bool together = p->first <= q->last && q->first <= p->last;
        if (!together || p->at >= q->at + q->bytes || q->at >= p->at + p->bytes) continue;
        p->at = q->at + q->bytes;
        moved = true;
      }
    }
    if (p->at + p->bytes > end) end = p->at + p->bytes;
  }
  return end;
}

static pb_status place_buffers(pb_rt* rt, int stage, pb_diag* diag) {
  const pb_open* o = rt->engine->open;
  row* rows = calloc((size_t)o->buffer_count + 1, sizeof *rows);
  if (!rows) pb_no_memory(sizeof *rows);
  pb_status status = PB_OK;
  int count = 0;
  for (int k = 0; k < o->buffer_count && status == PB_OK; ++k) {
    int64_t bytes = rt->open.sizes[o->buffers[k].bytes];
    if (rt->open.stages.buffers[k] != stage) continue;
    if (bytes < 0) // nobody walks it
      status =
          pb_error(diag, place_of(rt), 5048, "larger extents", "a tensor has less than no elements at these extents");
    else if (bytes > most_bytes)
      status = too_large(rt, "a tensor between kernels", diag);
    bytes = (bytes + PB_ENGINE_ALIGN - 1) / PB_ENGINE_ALIGN * PB_ENGINE_ALIGN;
    rows[count++] = (row){.bytes = bytes, .first = o->buffers[k].first, .last = o->buffers[k].last, .number = k};
  }
  pb__memory* arena = &rt->open.arenas[stage];
  if (status == PB_OK) status = make_room(rt, arena, (uint64_t)place_rows(rows, count), "an arena", diag);
  for (int k = 0; k < count && status == PB_OK; ++k) rt->open.buffers[rows[k].number] = arena->data + rows[k].at;
  free(rows);
  return status;
}

// Shapes that change are not the engine's own.
static void own_shapes(pb_rt* rt, int count, pb_rt_tensor* tensors) {
  for (int k = 0; k < count; ++k) {
    int64_t* shape = PB_NEW_ARRAY(&rt->arena, int64_t, PB_MAX_RANK);
    memcpy(shape, tensors[k].shape, sizeof *shape * (size_t)tensors[k].rank);
    tensors[k].shape = shape;
  }
}

void pb__open_prepare(pb_rt* rt) {
  const pb_open* o = rt->engine->open;
  if (!o) return;
  own_shapes(rt, rt->engine->input_count, rt->inputs);
  own_shapes(rt, rt->engine->output_count, rt->outputs);
  rt->open.sizes = PB_NEW_ARRAY(&rt->arena, int64_t, (size_t)o->size_count + 1);
  rt->open.blocks = PB_NEW_ARRAY(&rt->arena, uint8_t*, (size_t)o->block_count + 1);
  rt->open.buffers = PB_NEW_ARRAY(&rt->arena, uint8_t*, (size_t)o->buffer_count + 1);
  rt->open.arenas = PB_NEW_ARRAY(&rt->arena, pb__memory, (size_t)o->source_count + 1);
  pb_open_find_stages(rt->engine, &rt->arena, &rt->open.stages);
  if (!o->source_count) return;
  rt->open.outputs = PB_NEW_ARRAY(&rt->arena, pb__memory, (size_t)rt->engine->output_count + 1);
  rt->open.run_outputs = PB_NEW_ARRAY(&rt->arena, void*, (size_t)rt->engine->output_count + 1);
}

static bool are_same(const pb_rt* rt, const int64_t* const* shapes) {
  for (int k = 0; rt->open.ready && k < rt->engine->input_count; ++k)
    for (int d = 0; d < rt->inputs[k].rank; ++d)
      if (shapes[k][d] != rt->inputs[k].shape[d]) return false;
  return rt->open.ready;
}

// Copies with codes of another sign were as large as inputs were.
static void forget_copies(pb_rt* rt) {
  for (int k = 0; k < rt->engine->input_count; ++k) {
    free(rt->own_inputs[k]);
    rt->own_inputs[k] = NULL;
  }
}

// All that is known once source `stage` - 1 was read, or with 0 the inputs' shapes.
static pb_status settle(pb_rt* rt, int stage, pb_diag* diag) {
  PB_TRY(compute(rt, stage, diag));
  PB_TRY(set_outputs(rt, stage, diag));
  PB_TRY(fill_blocks(rt, stage, diag));
  return place_buffers(rt, stage, diag);
}

pb_status pb__open_choose(pb_rt* rt, const int64_t* const* shapes, pb_diag* diag) {
  const pb_open* o = rt->engine->open;
  if (are_same(rt, shapes)) return PB_OK;
  rt->open.ready = false;
  PB_TRY(bind(rt, shapes, diag));
  PB_TRY(settle(rt, 0, diag));
  for (int k = 0; k < rt->engine->input_count; ++k) PB_TRY(set_shape(rt, &rt->inputs[k], o->inputs[k], diag));
  forget_copies(rt);
  rt->open.ready = true;
  return PB_OK;
}

void pb__open_begin(pb_rt* rt) {
  if (!rt->open.outputs) return;
  for (int k = 0; k < rt->engine->output_count; ++k) rt->open.run_outputs[k] = rt->run_outputs[k];
  rt->run_outputs = rt->open.run_outputs;
}

pb_status pb__open_extents(pb_rt* rt, const pb_step* step, pb_diag* diag) {
  const pb_open* o = rt->engine->open;
  const pb_open_source* source = &o->sources[step->target];
  uint64_t buffer = step->args[0].value, bytes = 8 * ((uint64_t)source->count + 1);
  int64_t numbers[PB_SOURCE_EXTENTS + 1];
  if ((uint64_t)rt->open.sizes[o->buffers[buffer].bytes] < bytes)
    return pb_error(diag, place_of(rt), 5053, NULL, "%s: no tensor of %d extents", step->origin, source->count);
  bool on_device = rt->has_device && !rt->tensors_in_process;
  if (on_device)
    PB_TRY(pb__words_read(rt, pb__words_address(rt, step->args[0]), numbers, bytes, diag));
  else
    memcpy(numbers, rt->open.buffers[buffer], bytes);
  if (numbers[source->count]) {
    char text[256] = "";
    for (int k = 0; k < source->count; ++k)
      snprintf(text + strlen(text), sizeof text - strlen(text), "%s%lld", k ? "x" : "", (long long)numbers[k]);
    return pb_error(diag, place_of(rt), 5053, "operands whose numbers fit", "%s: a result of shape %s cannot be made",
                    step->origin, text);
  }
  for (int k = 0; k < source->count; ++k)
    if (source->symbol[k] >= 0) rt->open.symbols[source->symbol[k]] = numbers[k];
  PB_TRY(settle(rt, step->target + 1, diag));
  return on_device ? pb__open_to_device(rt, step->target + 1, diag) : PB_OK;
}

void pb__open_free(pb_rt* rt) {
  const pb_open* o = rt->engine ? rt->engine->open : NULL;
  for (int k = 0; o && rt->open.blocks && k < o->block_count; ++k) free(rt->open.blocks[k]);
  for (int k = 0; o && rt->open.arenas && k <= o->source_count; ++k) free(rt->open.arenas[k].data);
  for (int k = 0; o && rt->open.outputs && k < rt->engine->output_count; ++k) free(rt->open.outputs[k].data);
}

// Programs with open dims: from the shapes of the inputs to the sizes of everything, checked, and where tensors between
// kernels lie. It is done when shapes are chosen that are not those of the run before.
#include "core/runtime/rt.h"

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
      if (is < 1)
        return pb_error(diag, place_of(rt), 5047, "extents from 1 on", "input '%s': its dim %d is %lld", name, d,
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

static pb_status compute(pb_rt* rt, pb_diag* diag) {
  const pb_open* o = rt->engine->open;
  for (int k = 0; k < o->size_count; ++k)
    if (!pb_size_value(&o->sizes[k], rt->open.symbols, rt->open.sizes, &rt->open.sizes[k]))
      return too_large(rt, "a size", diag);
  for (int k = 0; k < o->check_count; ++k) {
    const pb_open_check* c = &o->checks[k];
    int64_t a = rt->open.sizes[c->a], b = rt->open.sizes[c->b];
    if (c->equal ? a == b : a <= b) continue;
    return pb_error(diag, place_of(rt), 5049, "other extents, or a profile: --dim and --input-shape list values",
                    "%s: %lld is %s %lld at these extents", c->text, (long long)a, c->equal ? "not" : "more than",
                    (long long)b);
  }
  return PB_OK;
}

static pb_status set_shapes(pb_rt* rt, int count, pb_rt_tensor* tensors, int (*dims)[PB_MAX_RANK], pb_diag* diag) {
  for (int k = 0; k < count; ++k) {
    int64_t *shape = (int64_t*)(uintptr_t)tensors[k].shape, bytes = (int64_t)tensors[k].element_bytes;
    for (int d = 0; d < tensors[k].rank; ++d) {
      int64_t extent = rt->open.sizes[dims[k][d]];
      if (extent < 0)
        return pb_error(diag, place_of(rt), 5049, NULL, "'%s': its dim %d would be %lld", tensors[k].name, d,
                        (long long)extent);
      shape[d] = extent;
      if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > most_bytes)
        return too_large(rt, tensors[k].name, diag);
    }
    tensors[k].bytes = (uint64_t)bytes;
  }
  return PB_OK;
}

static pb_status fill_blocks(pb_rt* rt, pb_diag* diag) {
  const pb_open* o = rt->engine->open;
  for (int k = 0; k < o->block_count; ++k) {
    const pb_open_block* b = &o->blocks[k];
    int element = pb_type_bits(b->type) / 8;
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

static pb_status place_buffers(pb_rt* rt, pb_diag* diag) {
  const pb_open* o = rt->engine->open;
  row* rows = calloc((size_t)o->buffer_count + 1, sizeof *rows);
  if (!rows) pb_no_memory(sizeof *rows);
  pb_status status = PB_OK;
  for (int k = 0; k < o->buffer_count && status == PB_OK; ++k) {
    int64_t bytes = rt->open.sizes[o->buffers[k].bytes];
    if (bytes < 0) // nobody walks it
      status =
          pb_error(diag, place_of(rt), 5048, "larger extents", "a tensor has less than no elements at these extents");
    else if (bytes > most_bytes)
      status = too_large(rt, "a tensor between kernels", diag);
    bytes = (bytes + PB_ENGINE_ALIGN - 1) / PB_ENGINE_ALIGN * PB_ENGINE_ALIGN;
    rows[k] = (row){.bytes = bytes, .first = o->buffers[k].first, .last = o->buffers[k].last, .number = k};
  }
  int64_t end = status == PB_OK ? place_rows(rows, o->buffer_count) : 0;
  for (int k = 0; k < o->buffer_count; ++k) rt->open.offsets[rows[k].number] = (uint64_t)rows[k].at;
  free(rows);
  if (status != PB_OK) return status;
  if ((uint64_t)end <= rt->open.arena_bytes) return PB_OK;
  free(rt->open.arena);
  rt->open.arena = aligned_alloc(PB_ENGINE_ALIGN, (size_t)end);
  rt->open.arena_bytes = rt->open.arena ? (uint64_t)end : 0;
  return rt->open.arena
             ? PB_OK
             : pb_system_error(diag, place_of(rt), 5026, "no memory for an arena of %lld bytes", (long long)end);
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
  rt->open.offsets = PB_NEW_ARRAY(&rt->arena, uint64_t, (size_t)o->buffer_count + 1);
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
    free(rt->signed_inputs[k]);
    rt->signed_inputs[k] = NULL;
  }
}

pb_status pb__open_choose(pb_rt* rt, const int64_t* const* shapes, pb_diag* diag) {
  const pb_open* o = rt->engine->open;
  if (are_same(rt, shapes)) return PB_OK;
  rt->open.ready = false;
  PB_TRY(bind(rt, shapes, diag));
  PB_TRY(compute(rt, diag));
  PB_TRY(set_shapes(rt, rt->engine->input_count, rt->inputs, o->inputs, diag));
  PB_TRY(set_shapes(rt, rt->engine->output_count, rt->outputs, o->outputs, diag));
  PB_TRY(fill_blocks(rt, diag));
  PB_TRY(place_buffers(rt, diag));
  forget_copies(rt);
  rt->open.ready = true;
  return PB_OK;
}

void pb__open_free(pb_rt* rt) {
  const pb_open* o = rt->engine ? rt->engine->open : NULL;
  for (int k = 0; o && rt->open.blocks && k < o->block_count; ++k) free(rt->open.blocks[k]);
  free(rt->open.arena);
}

#include "core/frontend/onnx/extents.h"

#include "core/frontend/onnx/emit.h"

#include <string.h>

bool pb__o_says(const pb_onnx* o, int k) { return pb__o_has(o, k) && !pb__constant(o->l, pb__input(o->n, k)); }

// ---- vectors ----

int pb__o_vector(pb_onnx* o, int count, const int64_t* items) {
  return pb__o_constant(o, PB_I64, 1, (const int64_t[]){count}, items);
}

int pb__o_whole(pb_onnx* o, int64_t value) { return pb__o_integer(o, PB_I64, value); }

int pb__o_is(pb_onnx* o, const char* direction, int v, int64_t number) {
  return pb__o_compare(o, direction, v, pb__o_whole(o, number));
}

int pb__o_by(pb_onnx* o, const char* scalar, int v, int64_t number) {
  return pb__o_binary(o, scalar, v, pb__o_whole(o, number));
}

int pb__o_entry(pb_onnx* o, int vector, int k) { return pb__o_reshape(o, pb__o_part(o, vector, 0, k, k + 1), 0, NULL); }

int pb__o_numbers(pb_onnx* o, int k, const char* name) {
  const pb_attr* a = name ? pb_node_attr(o->n, name) : NULL;
  if (a && a->kind == PB_ATTR_INTS) return pb__o_vector(o, a->count, a->ints);
  int v = pb__o_in(o, k);
  if (pb_type_is_float(pb__o_type(o, v)->type) || pb__o_type(o, v)->rank > 1)
    pb__o_refuse(o, "operand %d is no list of integers", k);
  v = pb__o_cast(o, v, PB_I64);
  return pb__o_type(o, v)->rank ? v : pb__o_reshape(o, v, 1, (const int64_t[]){1});
}

int pb__o_total(pb_onnx* o, int v, const char* by) {
  bool all[PB_FLAT_RANK];
  for (int r = 0; r < PB_FLAT_RANK; ++r) all[r] = true;
  return pb__o_reduce(o, v, by, all);
}

int pb__o_any(pb_onnx* o, int truths) { return pb__o_total(o, truths, "or"); }

// ---- extents ----

// What the model declares of its output, where it does.
static void take_declared(const pb_onnx* o, int r, int count, int64_t* shape) {
  const pb_tensor* t = &o->l->g->tensors[o->n->outputs[r]];
  if (!t->is_output || t->rank != count) return;
  for (int k = 0; k < count; ++k)
    if (shape[k] < 0) shape[k] = t->shape[k];
}

// The vector and what is wrong with it, as an output of the program.
static void give_source(pb_onnx* o, const char* name, int vector, int count) {
  pb_maker* m = &o->door.m;
  int64_t length = count + 1;
  m->type = o->n->op;
  int y = pb_make_value(m, PB_I64, 1, &length);
  pb_make_copy(m, o->door.value[vector], y);
  m->program->values[y].name = pb_strdup(&m->program->arena, name);
  m->program->values[y].is_output = m->program->values[y].is_extents = true;
}

// What the tensor's extents are called, in each reading alike: a body that is written out turn by turn makes tensors of
// one name, and so may both branches of an If; each has extents of its own.
static const char* tensor_named(pb_onnx* o, int tensor) {
  const pb_tensor* all = o->l->g->tensors;
  int same = 1;
  for (int k = 0; k < tensor; ++k) same += all[k].name && all[tensor].name && !strcmp(all[k].name, all[tensor].name);
  return same == 1 ? all[tensor].name : pb_printf(&o->arena, "%s#%d", all[tensor].name, same);
}

static void add_source(pb_onnx* o, const char* tensor, const char* name, int count, int64_t* shape) {
  pb_symbols* s = o->l->consts->symbols;
  int at = pb_source_named(s, name);
  if (at < 0) pb__o_refuse(o, "more than %d shapes that data say", PB_MOST_SOURCES);
  if (pb__o_bad(o)) return;
  s->sources[at].count = count;
  for (int k = 0; k < count && !pb__o_bad(o); ++k) {
    s->sources[at].symbol[k] = -1;
    if (shape[k] >= 0) continue;
    int symbol = pb_symbol_named(s, pb_printf(&o->arena, "%s.%d", tensor, k));
    if (symbol < 0) pb__o_refuse(o, "more than %d extents that are open or that data say", PB_MOST_SYMBOLS);
    if (symbol < 0) return;
    s->sources[at].symbol[k] = symbol;
    shape[k] = pb_symbol_extent(s, symbol);
  }
}

// What a later operator takes alone, in an earlier reading.
static void take_settled(pb_onnx* o, int r, int count, int64_t* shape) {
  const char* tensor = tensor_named(o, o->n->outputs[r]);
  for (int k = 0; k < count; ++k) {
    if (shape[k] >= 0) continue;
    shape[k] = pb_symbol_settled(o->l->consts->symbols, pb_printf(&o->arena, "%s.%d", tensor, k));
  }
}

void pb__o_extents(pb_onnx* o, int r, int vector, int wrong, int count, int64_t* shape) {
  const int64_t most = PB_MAX_ELEMENTS;
  int64_t low[PB_SOURCE_EXTENTS], high[PB_SOURCE_EXTENTS];
  if (!o->l->consts->symbols) pb__o_refuse(o, "a shape that data say: this target's kernels are made for extents");
  if (count < 1 || count > PB_SOURCE_EXTENTS) pb__o_refuse(o, "a shape of %d extents that data say", count);
  if (!pb__o_wants(o, r)) pb__o_refuse(o, "a result that is left out");
  if (pb__o_bad(o)) {
    for (int k = 0; k < count && k < PB_SOURCE_EXTENTS; ++k) shape[k] = shape[k] < 0 ? 1 : shape[k];
    return;
  }
  take_declared(o, r, count, shape);
  take_settled(o, r, count, shape);
  for (int k = 0; k < count; ++k) {
    low[k] = shape[k] < 0 ? 0 : shape[k];
    high[k] = shape[k] < 0 ? most : shape[k];
  }
  o->l->consts->open = o->l->said = true;
  int below = pb__o_compare(o, "LT", vector, pb__o_vector(o, count, low));
  int above = pb__o_compare(o, "GT", vector, pb__o_vector(o, count, high));
  int bad = pb__o_any(o, pb__o_binary(o, "or", below, above));
  if (wrong >= 0) bad = pb__o_binary(o, "or", bad, wrong);
  bad = pb__o_reshape(o, pb__o_cast(o, bad, PB_I64), 1, (const int64_t[]){1});
  int all = pb__o_join(o, 2, (const int[]){vector, bad}, 0);
  const char* tensor = tensor_named(o, o->n->outputs[r]);
  const char* name = pb_printf(&o->arena, "extents of '%s'", tensor);
  if (!pb__o_bad(o)) give_source(o, name, all, count);
  add_source(o, tensor, name, count, shape);
  for (int k = 0; k < count; ++k) shape[k] = shape[k] < 0 ? 1 : shape[k];
}

// ---- elements ----

int pb__o_turns(pb_onnx* o, int64_t extent) { return pb__o_iota(o, PB_I64, 1, &extent, 0); }

int pb__o_along_axis(pb_onnx* o, int x, int axis, int places) {
  const pb_flat_type in = *pb__o_type(o, x);
  pb_onnx_places p = {.dropped = 1, .drop = {axis}, .maps = 1, .map = {axis}};
  int64_t shape[PB_FLAT_RANK], count = pb__o_type(o, places)->shape[0];
  memcpy(shape, in.shape, sizeof shape);
  shape[axis] = count;
  for (int r = 0; r < in.rank; ++r) {
    p.size[r] = r == axis ? 1 : in.shape[r];
    if (r != axis) p.window[p.windows++] = r;
  }
  return pb__o_gather(o, x, pb__o_reshape(o, places, 2, (const int64_t[]){count, 1}), &p, in.rank, shape);
}

int pb__o_refilled(pb_onnx* o, int x, int rank, const int64_t* shape) {
  int64_t all = pb__o_elements(o, x);
  if (!all) return pb__o_expand(o, pb__o_like(o, x, 0), rank, shape); // which has none either, when it is run
  int flat = pb__o_reshape(o, x, 1, &all), y = pb__o_new(o, pb__o_type(o, x)->type, rank, shape);
  pb_maker* m = &o->door.m;
  int dims[PB_NEST_RANK];
  if (pb__o_bad(o)) return y;
  m->type = o->n->op;
  int value = o->door.value[y] = pb_make_value(m, pb__o_type(o, y)->type, rank, shape);
  if (pb__is_empty(rank, shape)) return y;
  pb_nest* n = pb_make_walk(m, "copy", value, dims);
  pb_make_flat(m, pb_make_access(m, o->door.value[flat]), rank, shape, dims);
  (void)pb_nest_load(n, 0);
  pb_make_end(m, value, dims);
  return y;
}

// ---- axes ----

int pb__o_from_end(pb_onnx* o, int at, int extents) {
  int below = pb__o_is(o, "LT", at, 0);
  return pb__o_select(o, below, pb__o_add(o, at, extents), at);
}

int pb__o_same_dim(pb_onnx* o, int axes, int rank) {
  int64_t count = pb__o_type(o, axes)->shape[0], column[2] = {rank, 1}, row[2] = {1, count};
  axes = pb__o_from_end(o, axes, pb__o_whole(o, rank));
  int dims = pb__o_reshape(o, pb__o_turns(o, rank), 2, column);
  return pb__o_compare(o, "EQ", dims, pb__o_reshape(o, axes, 2, row));
}

int pb__o_flags(pb_onnx* o, int axes, int rank, int* wrong) {
  int64_t count = pb__o_type(o, axes)->shape[0];
  int same = pb__o_cast(o, pb__o_same_dim(o, axes, rank), PB_I64);
  int flags = pb__o_reduce(o, same, "maximum", (const bool[]){false, true});
  *wrong = pb__o_is(o, "NE", pb__o_total(o, flags, "add"), count);
  return flags;
}

int pb__o_in_front(pb_onnx* o, int flags) {
  int64_t rank = pb__o_type(o, flags)->shape[0], column[2] = {rank, 1}, row[2] = {1, rank};
  int turns = pb__o_turns(o, rank);
  int flat = pb__o_reshape(o, turns, 2, row), upright = pb__o_reshape(o, turns, 2, column);
  int before = pb__o_cast(o, pb__o_compare(o, "LT", flat, upright), PB_I64);
  int counted = pb__o_mul(o, before, pb__o_reshape(o, flags, 2, row));
  return pb__o_reduce(o, counted, "add", (const bool[]){false, true});
}

int pb__o_unflagged(pb_onnx* o, int extents, int flags, int count) {
  int64_t rank = pb__o_type(o, flags)->shape[0], column[2] = {rank, 1}, to[2] = {1, count};
  int kept = pb__o_sub(o, pb__o_whole(o, 1), flags);
  int place = pb__o_reshape(o, pb__o_in_front(o, kept), 2, column);
  int here = pb__o_compare(o, "EQ", place, pb__o_reshape(o, pb__o_turns(o, count), 2, to));
  int each = pb__o_reshape(o, pb__o_mul(o, kept, extents), 2, column);
  int parts = pb__o_mul(o, pb__o_cast(o, here, PB_I64), each);
  return pb__o_reduce(o, parts, "add", (const bool[]){true, false});
}

#include "core/s1/make.h"

#include <math.h>
#include <string.h>

int pb_make_value(pb_maker* m, pb_type type, int rank, const int64_t* shape) {
  pb_s1_value v = {.name = m->name, .type = type, .rank = rank, .alias_of = -1, .const_id = -1};
  if (rank) memcpy(v.shape, shape, sizeof(int64_t) * (size_t)rank);
  PB_PUSH(m->program->values, m->program->value_count, m->program->value_capacity, v);
  return (int)m->program->value_count - 1;
}

int pb_make_constant(pb_maker* m, pb_type type, int rank, const int64_t* shape, const void* data) {
  int v = pb_make_value(m, type, rank, shape);
  m->program->values[v].const_id = pb_consts_add(m->consts, m->name, pb_type_stored(type), rank, shape, data);
  return v;
}

int64_t pb_made_elements(const pb_maker* m, int value) { return pb_s1_element_count(pb_made(m, value)); }

pb_nest* pb_make_start(pb_maker* m, const char* part) {
  memset(&m->nest, 0, sizeof m->nest);
  m->nest.part = part;
  return &m->nest;
}

int pb_make_loop(pb_maker* m, int64_t extent) {
  if (extent == 1) return -1;
  m->nest.extent[m->nest.dim_count] = extent;
  return m->nest.dim_count++;
}

// Channels keep their dim whatever its extent, as everywhere in stage S2: a later layout may pad them.
pb_nest* pb_make_walk(pb_maker* m, const char* part, int y, int* dims) {
  const pb_s1_value* value = pb_made(m, y);
  pb_nest* n = pb_make_start(m, part);
  for (int r = 0; r < value->rank; ++r) {
    if (r == 1 && value->rank > 2 && value->shape[r] == 1) {
      n->extent[n->dim_count] = 1;
      dims[r] = n->dim_count++;
    } else {
      dims[r] = pb_make_loop(m, value->shape[r]);
    }
  }
  return n;
}

int pb_make_access(pb_maker* m, int value) {
  pb_access* access = &m->nest.access[m->nest.access_count];
  const pb_s1_value* v = pb_made(m, value);
  *access = (pb_access){.buffer = value, .type = pb_type_stored(v->type), .rank = v->rank};
  memcpy(access->shape, v->shape, sizeof(int64_t) * (size_t)v->rank);
  return m->nest.access_count++;
}

void pb_make_move(pb_maker* m, int access, int index, int dim, int64_t coef) {
  if (dim >= 0) m->nest.access[access].index[index].coef[dim] += coef;
}

void pb_make_along(pb_maker* m, int access, const int* dims) {
  for (int r = 0; r < m->nest.access[access].rank; ++r) pb_make_move(m, access, r, dims[r], 1);
}

void pb_make_flat(pb_maker* m, int access, int rank, const int64_t* shape, const int* dims) {
  int64_t stride = 1;
  for (int r = rank - 1; r >= 0; --r) {
    pb_make_move(m, access, 0, dims[r], stride);
    stride *= shape[r];
  }
}

pb_s1_op pb_s1_new_op(const char* name, const char* type, pb_s1_kind kind) {
  return (pb_s1_op){.kind = kind,
                    .name = name,
                    .type = type,
                    .z = -1,
                    .third = -1,
                    .weights = -1,
                    .bias = -1,
                    .m = -1,
                    .groups = 1,
                    .window = {1, 1},
                    .stride = {1, 1},
                    .dilation = {1, 1},
                    .lo = -INFINITY,
                    .hi = INFINITY};
}

pb_s1_op* pb_make_op(pb_maker* m, pb_s1_kind kind, int x, int y) {
  pb_s1_op op = pb_s1_new_op(m->name, m->type, kind);
  op.x = x;
  op.y = y;
  PB_PUSH(m->program->ops, m->program->op_count, m->program->op_capacity, op);
  return &m->program->ops[m->program->op_count - 1];
}

void pb_make_finish(pb_maker* m) {
  pb_nest* kept = pb_nest_kept(&m->program->arena, &m->nest);
  m->is_wrong |= m->nest.expr[m->nest.expr_count - 1].type != pb_nest_store(&m->nest)->type;
  int x = m->nest.access_count > 1 ? m->nest.access[0].buffer : -1;
  pb_make_op(m, PB_S1_NEST, x, pb_nest_store(kept)->buffer)->nest = kept;
}

void pb_make_end(pb_maker* m, int y, const int* dims) {
  pb_make_along(m, pb_make_access(m, y), dims);
  pb_make_finish(m);
}

const void* pb_made_splat(const pb_maker* m, int value) {
  int id = pb_made(m, value)->const_id, with = pb_made(m, value)->filled_with - 1;
  if (with >= 0) return pb_made_splat(m, with);
  if (id < 0) return NULL;
  const pb_const* c = m->consts->items[id];
  size_t size = ((size_t)pb_type_bits(c->type) + 7) / 8;
  if (!c->data || !c->bytes) return NULL;
  return c->bytes == size || !memcmp(c->data, (const char*)c->data + size, (size_t)c->bytes - size) ? c->data : NULL;
}

// Both shapes fall into groups of neighbouring dims with equally many elements. In each, one loop over the smallest
// common steps would do; a group that neither side has as one dim is walked as a flat one, over a flat copy.
static bool aligned_loops(pb_maker* m, const pb_s1_value* x, const pb_s1_value* y, int from, int to) {
  int r = 0, s = 0;
  while (r < x->rank || s < y->rank) {
    int r0 = r, s0 = s;
    int64_t a = r < x->rank ? x->shape[r++] : 1, b = s < y->rank ? y->shape[s++] : 1;
    while (a != b)
      if (a < b)
        a *= x->shape[r++];
      else
        b *= y->shape[s++];
    bool one_x = r - r0 <= 1, one_y = s - s0 <= 1;
    if (!one_x && !one_y) return false;
    int64_t stride = a;
    const pb_s1_value* many = one_x ? y : x;
    for (int k = one_x ? s0 : r0; k < (one_x ? s : r); ++k) { // the neighbours in memory innermost
      if (m->nest.dim_count == PB_NEST_DIMS) return false;
      int d = pb_make_loop(m, many->shape[k]);
      if (many->shape[k]) stride /= many->shape[k];
      if (r > r0) pb_make_move(m, from, one_x ? r0 : k, d, one_x ? stride : 1);
      if (s > s0) pb_make_move(m, to, one_x ? k : s0, d, one_x ? 1 : stride);
    }
  }
  return true;
}

static void copy(pb_maker* m, int x, int y) {
  pb_make_start(m, "copy");
  int from = pb_make_access(m, x), to = pb_make_access(m, y);
  if (aligned_loops(m, pb_made(m, x), pb_made(m, y), from, to)) {
    (void)pb_nest_load(&m->nest, 0);
    pb_make_finish(m);
    return;
  }
  int64_t all = pb_made_elements(m, x);
  int flat = pb_make_value(m, pb_made(m, x)->type, 1, &all);
  copy(m, x, flat);
  copy(m, flat, y);
}

void pb_make_copy(pb_maker* m, int x, int y) {
  if (pb_made_elements(m, x) == pb_made_elements(m, y))
    copy(m, x, y);
  else
    m->is_wrong = true;
}

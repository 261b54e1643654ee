// Walks: what only moves codes in front of a product of two computed operands, or behind it, goes into how the product
// walks its tensors. A transposition of heads is then no tensor of its own: the product reads the columns of its head.
#include "core/s1/control.h"
#include "core/s1/lift/lift.h"

#include <string.h>

bool pb_s1_walk_index(const pb_s1_walk* w, int side, const pb_s1_value* v, int64_t* index, int64_t* first) {
  int64_t stride = 1, start = w->first[side];
  int64_t strides[PB_GRAPH_RANK];
  for (int r = v->rank - 1; r >= 0; --r) {
    strides[r] = stride;
    stride *= v->shape[r];
  }
  memset(index, 0, sizeof *index * (size_t)v->rank * PB_S1_WALK_DIMS);
  for (int r = 0; r < v->rank; ++r) {
    first[r] = start / strides[r];
    start %= strides[r];
  }
  for (int d = 0; d < w->dims; ++d) {
    int64_t step = w->step[side][d];
    if (!step || w->extent[d] == 1) continue;
    int at = 0; // the outermost index whose stride the step is a multiple of, inside what one step further out is
    while (at < v->rank && (strides[at] > step || step % strides[at])) ++at;
    if (at == v->rank) return false;
    index[at * PB_S1_WALK_DIMS + d] = step / strides[at];
  }
  for (int r = 0; r < v->rank; ++r) { // no index carries into the next
    int64_t last = first[r];
    for (int d = 0; d < w->dims; ++d) last += index[r * PB_S1_WALK_DIMS + d] * (w->extent[d] - 1);
    if (last >= v->shape[r]) return false;
  }
  return true;
}

// Splits dim d into turns of `inner`: the walk stays the same.
static bool split_dim(pb_s1_walk* w, int d, int64_t inner) {
  if (w->dims == PB_S1_WALK_DIMS || inner < 2 || w->extent[d] % inner || w->extent[d] == inner) return false;
  for (int k = w->dims; k > d; --k) {
    w->extent[k] = w->extent[k - 1];
    for (int side = 0; side < 3; ++side) w->step[side][k] = w->step[side][k - 1];
  }
  ++w->dims;
  w->extent[d] /= inner;
  w->extent[d + 1] = inner;
  for (int side = 0; side < 3; ++side) w->step[side][d] *= inner;
  return true;
}

// A dim that walks several indices of the value, one inside the other, becomes as many dims: heads in groups.
static void split_by(pb_s1_walk* w, int side, const pb_s1_value* v) {
  for (int d = 0; d < w->dims; ++d) {
    int64_t stride = 1;
    for (int r = v->rank - 1; r >= 0; --r) {
      int64_t within = v->shape[r] * stride;
      bool walks = w->step[side][d] && w->step[side][d] % stride == 0 && w->step[side][d] < within;
      if (walks && w->step[side][d] * (w->extent[d] - 1) >= within) {
        (void)split_dim(w, d, within / w->step[side][d]);
        break;
      }
      stride = within;
    }
  }
}

static const pb_s1_op* maker_of(const pb_s1* p, const int* maker, int value) {
  return maker[value] < 0 ? NULL : &p->ops[maker[value]];
}

// The steps in x that are those in y, if index r of x is index `from[r]` of y, times `times[r]`, from `start[r]` on.
static bool through(pb_s1_walk* w, int side, const pb_s1_value* y, const pb_s1_value* x, const int* from,
                    const int64_t* times, const int64_t* start) {
  int64_t index[PB_GRAPH_RANK * PB_S1_WALK_DIMS], first[PB_GRAPH_RANK];
  split_by(w, side, y);
  if (!pb_s1_walk_index(w, side, y, index, first)) return false;
  memset(w->step[side], 0, sizeof w->step[side]);
  w->first[side] = 0;
  int64_t stride = 1;
  for (int r = x->rank - 1; r >= 0; --r) {
    for (int d = 0; d < w->dims; ++d) w->step[side][d] += stride * times[r] * index[from[r] * PB_S1_WALK_DIMS + d];
    w->first[side] += stride * (start[r] + times[r] * first[from[r]]);
    stride *= x->shape[r];
  }
  return true;
}

// One step from a value to what it is moved from. -1: it is made by something else.
static int step_back(const pb_s1* p, const int* maker, pb_s1_walk* w, int side, int value) {
  if (p->values[value].alias_of >= 0) return p->values[value].alias_of;
  const pb_s1_op* op = maker_of(p, maker, value);
  if (!op) return -1;
  const pb_s1_value *y = &p->values[value], *x = &p->values[op->x];
  int from[PB_GRAPH_RANK];
  int64_t times[PB_GRAPH_RANK], start[PB_GRAPH_RANK] = {0};
  for (int r = 0; r < x->rank; ++r) {
    from[r] = r;
    times[r] = 1;
  }
  switch (op->kind) {
  case PB_S1_COPY:
    return op->x;
  case PB_S1_FTRANSPOSE:
    for (int r = 0; r < y->rank; ++r) from[op->order[r]] = r;
    return through(w, side, y, x, from, times, start) ? op->x : -1;
  case PB_S1_SLICE:
    for (int r = 0; r < y->rank; ++r) {
      times[r] = op->step[r];
      start[r] = op->start[r];
    }
    return through(w, side, y, x, from, times, start) ? op->x : -1;
  case PB_S1_EACH:
    if (op->each != PB_S1_EXPAND || x->rank != y->rank) return -1;
    for (int r = 0; r < y->rank; ++r) times[r] = x->shape[r] == 1 ? 0 : 1;
    return through(w, side, y, x, from, times, start) ? op->x : -1;
  default:
    return -1;
  }
}

// Whether the walk takes every so many-th row of the second factor for its sums: heads that lie row by row inside of
// each other. A chip's buffer of rows would have those of all heads in it, for one.
static bool skips_rows(const pb_s1_walk* w, int side, const int64_t* index) {
  for (int d = 0; side == 1 && d < w->dims; ++d)
    if (!w->step[2][d] && w->extent[d] > 1 && index[d] > 1 && !index[PB_S1_WALK_DIMS + d]) return true;
  return false;
}

static void fold_operand(pb_s1* p, const int* maker, pb_s1_op* op, int side) {
  pb_s1_walk at = *op->walk;
  int64_t index[PB_GRAPH_RANK * PB_S1_WALK_DIMS], first[PB_GRAPH_RANK];
  int* operand = side ? &op->z : &op->x;
  for (int value = *operand; (value = step_back(p, maker, &at, side, value)) >= 0;) {
    const pb_s1_value* v = &p->values[value];
    if (v->alias_of >= 0 || v->rank != 2 || !pb_s1_walk_index(&at, side, v, index, first)) continue;
    if (skips_rows(&at, side, index)) continue;
    *op->walk = at;
    *operand = value;
  }
}

typedef struct readers {
  int count, last; // operators that read the value or one of its aliases
} readers;

// Behind the product: one transposition, and a copy into another shape, that nobody else reads.
static bool fold_result(pb_s1* p, pb_s1_op* op, const readers* read) {
  pb_s1_walk at = *op->walk;
  int value = op->y, from[PB_GRAPH_RANK];
  int64_t times[PB_GRAPH_RANK], start[PB_GRAPH_RANK] = {0}, index[PB_GRAPH_RANK * PB_S1_WALK_DIMS],
                                first[PB_GRAPH_RANK];
  bool folded = false;
  while (!p->values[value].is_output && read[value].count == 1) {
    const pb_s1_op* next = &p->ops[read[value].last];
    const pb_s1_value* y = &p->values[next->y];
    if (next->kind != PB_S1_COPY && next->kind != PB_S1_FTRANSPOSE) break;
    if (next->kind == PB_S1_FTRANSPOSE) {
      const pb_s1_value* x = &p->values[next->x];
      for (int r = 0; r < y->rank; ++r) {
        from[r] = next->order[r];
        times[r] = 1;
      }
      if (!through(&at, 2, x, y, from, times, start)) break;
    }
    value = next->y;
    if (y->rank != 2 || !pb_s1_walk_index(&at, 2, y, index, first)) continue;
    *op->walk = at;
    op->y = value;
    folded = true;
  }
  return folded;
}

// One number for each column of the result, as the operators that requantise take them.
static int repeated(pb_consts* consts, const pb_s1_op* op, pb_type type, int64_t count, float number) {
  float* f = PB_NEW_ARRAY(&consts->arena, float, (size_t)count); // as many bytes as i32, and zeros are zeros
  for (int64_t k = 0; k < count; ++k) f[k] = number;
  const char* name = pb_printf(&consts->arena, "%s.%s", op->name, type == PB_F32 ? "m" : "bias");
  return pb_consts_add(consts, name, type, 1, &count, f);
}

static void add_factors(const pb_s1* p, pb_consts* consts, pb_s1_op* op) {
  const pb_s1_value* y = &p->values[op->y];
  op->bias = repeated(consts, op, PB_I32, y->shape[1], 0);
  op->m = repeated(consts, op, PB_F32, y->shape[1], op->ma);
}

void pb__s1_walks(pb_s1* p, pb_consts* consts) {
  bool any = false;
  for (size_t k = 0; k < p->op_count; ++k) any |= p->ops[k].kind == PB_S1_MATMUL;
  if (!any) return;
  int* maker = PB_NEW_ARRAY(&consts->arena, int, p->value_count + 1);
  readers* read = PB_NEW_ARRAY(&consts->arena, readers, p->value_count + 1);
  memset(maker, 0xff, sizeof *maker * p->value_count);
  for (size_t k = 0; k < p->op_count; ++k) {
    const pb_s1_op* op = &p->ops[k];
    if (op->y >= 0) maker[op->y] = op->kind == PB_S1_CONCAT || pb_s1_is_control(op) ? -1 : (int)k;
    const int operands[3] = {op->x, op->z, op->third};
    for (int o = 0; o < 3; ++o) {
      if (operands[o] < 0) continue;
      int alias = p->values[operands[o]].alias_of, base = alias >= 0 ? alias : operands[o];
      ++read[base].count;
      read[base].last = (int)k;
    }
  }
  for (size_t k = 0; k < p->op_count; ++k) {
    pb_s1_op* op = &p->ops[k];
    if (op->kind != PB_S1_MATMUL) continue;
    for (int side = 0; side < 2; ++side) fold_operand(p, maker, op, side);
    int y = op->y;
    // What moved the result is gone, and with it the product's own tensor: a product behind it walks no further back.
    if (fold_result(p, op, read)) {
      for (size_t m = k + 1; m < p->op_count; ++m)
        if (p->ops[m].y == op->y) p->ops[m].y = y;
      maker[op->y] = (int)k;
      maker[y] = -1;
    }
    add_factors(p, consts, op);
  }
}

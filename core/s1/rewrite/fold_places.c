// Elements of constants at constant places, as exporters leave what a framework computed of positions: GatherElements,
// GatherND, ScatterElements and ScatterND. Places outside are left to the operators, which say so.
#include "core/s1/rewrite/fold.h"

#include <string.h>

typedef pb__folded constant;

static size_t size_of(const constant* c) { return pb__fold_size(c->type); }

static bool take_places(lifter* l, const pb_node* n, int input, constant* at) {
  int tensor = pb__input(n, input);
  return tensor >= 0 && pb__constant(l, tensor) && pb__fold_take(l, tensor, at) &&
         (at->type == PB_I64 || at->type == PB_I32);
}

// Place k, below 0 counted from the end. false: it is outside.
static bool place(const constant* at, int64_t k, int64_t extent, int64_t* index) {
  *index = pb__fold_number(at, k).i;
  if (*index < 0) *index += extent;
  return *index >= 0 && *index < extent;
}

// Element k of `at` stands for the element of x, of these strides, with the same index, but along the axis. false:
// outside of x.
static bool beside(const constant* x, const int64_t* stride, const constant* at, int axis, int64_t k,
                   int64_t* element) {
  int64_t rest = k;
  *element = 0;
  for (int r = at->rank - 1; r >= 0; --r) {
    int64_t index = rest % at->shape[r];
    rest /= at->shape[r];
    if (r == axis ? !place(at, k, x->shape[r], &index) : index >= x->shape[r]) return false;
    *element += index * stride[r];
  }
  return true;
}

// Row k of the last dim of `at` is an index of the dims of x from `first` on: where they meet. false: outside.
static bool below(const constant* x, const int64_t* stride, const constant* at, int first, int64_t k,
                  int64_t* element) {
  int64_t length = at->shape[at->rank - 1], index;
  *element = 0;
  for (int64_t d = 0; d < length; ++d) {
    if (!place(at, k * length + d, x->shape[first + d], &index)) return false;
    *element += index * stride[first + d];
  }
  return true;
}

static bool gather_elements(lifter* l, const pb_node* n, const constant* x, constant* y) {
  constant at;
  int axis;
  if (!take_places(l, n, 1, &at) || at.rank != x->rank) return false;
  if (!pb__axis(pb_node_int(n, "axis", 0), x->rank, &axis)) return false;
  if (!pb__fold_start(l, x->type, at.rank, at.shape, y)) return false;
  int64_t stride[PB_GRAPH_RANK];
  size_t each = size_of(x);
  pb__fold_strides(x, stride);
  for (int64_t k = 0, from; k < y->count; ++k) {
    if (!beside(x, stride, &at, axis, k, &from)) return false;
    memcpy(y->data + (size_t)k * each, x->data + (size_t)from * each, each);
  }
  return true;
}

// Elements that one place of x stands for, and how many places there are in each batch.
static bool windows(const constant* x, const constant* at, int batches, int64_t* window, int64_t* rows) {
  if (at->rank <= batches || at->shape[at->rank - 1] > x->rank - batches) return false;
  int walked = batches + (int)at->shape[at->rank - 1];
  *window = pb__elements(x->rank - walked, x->shape + walked);
  *rows = pb__elements(at->rank - 1 - batches, at->shape + batches);
  return true;
}

static bool gather_nd(lifter* l, const pb_node* n, const constant* x, constant* y) {
  constant at;
  int64_t batches = pb_node_int(n, "batch_dims", 0), window, rows, shape[2 * PB_GRAPH_RANK];
  if (!take_places(l, n, 1, &at) || batches < 0 || batches >= x->rank || batches >= at.rank) return false;
  for (int r = 0; r < batches; ++r)
    if (at.shape[r] != x->shape[r]) return false;
  if (!windows(x, &at, (int)batches, &window, &rows)) return false;
  int rank = 0, first = (int)batches;
  for (int r = 0; r + 1 < at.rank; ++r) shape[rank++] = at.shape[r];
  for (int r = first + (int)at.shape[at.rank - 1]; r < x->rank; ++r) shape[rank++] = x->shape[r];
  if (rank > PB_GRAPH_RANK || !pb__fold_start(l, x->type, rank, shape, y)) return false;
  int64_t stride[PB_GRAPH_RANK];
  size_t bytes = (size_t)window * size_of(x);
  pb__fold_strides(x, stride);
  int64_t batch = pb__elements(x->rank - first, x->shape + first), count = window ? y->count / window : 0;
  for (int64_t k = 0, from; k < count; ++k) {
    if (!below(x, stride, &at, first, k, &from)) return false;
    memcpy(y->data + (size_t)k * bytes, x->data + (size_t)(k / rows * batch + from) * size_of(x), bytes);
  }
  return true;
}

// x, of which others then set some elements.
static bool begin(lifter* l, const pb_node* n, const constant* x, constant* updates, constant* y) {
  const pb_attr* reduction = pb_node_attr(n, "reduction");
  int tensor = pb__input(n, 2);
  bool sets = !reduction || !reduction->s || !strcmp(reduction->s, "none");
  if (!sets || tensor < 0 || !pb__constant(l, tensor) || !pb__fold_take(l, tensor, updates)) return false;
  if (updates->type != x->type || !pb__fold_start(l, x->type, x->rank, x->shape, y)) return false;
  memcpy(y->data, x->data, (size_t)x->count * size_of(x));
  return true;
}

static bool scatter_elements(lifter* l, const pb_node* n, const constant* x, constant* y) {
  constant at, updates;
  int axis;
  if (!take_places(l, n, 1, &at) || at.rank != x->rank) return false;
  if (!pb__axis(pb_node_int(n, "axis", 0), x->rank, &axis) || !begin(l, n, x, &updates, y)) return false;
  if (updates.rank != at.rank || memcmp(updates.shape, at.shape, sizeof *at.shape * (size_t)at.rank) != 0) return false;
  int64_t stride[PB_GRAPH_RANK];
  size_t each = size_of(x);
  pb__fold_strides(x, stride);
  for (int64_t k = 0, to; k < at.count; ++k) {
    if (!beside(x, stride, &at, axis, k, &to)) return false;
    memcpy(y->data + (size_t)to * each, updates.data + (size_t)k * each, each);
  }
  return true;
}

static bool scatter_nd(lifter* l, const pb_node* n, const constant* x, constant* y) {
  constant at, updates;
  int64_t window, rows;
  if (!take_places(l, n, 1, &at) || !windows(x, &at, 0, &window, &rows) || !begin(l, n, x, &updates, y)) return false;
  if (updates.count != rows * window) return false;
  int64_t stride[PB_GRAPH_RANK];
  size_t bytes = (size_t)window * size_of(x);
  pb__fold_strides(x, stride);
  for (int64_t k = 0, to; k < rows; ++k) {
    if (!below(x, stride, &at, 0, k, &to)) return false;
    memcpy(y->data + (size_t)to * size_of(x), updates.data + (size_t)k * bytes, bytes);
  }
  return true;
}

bool pb__fold_places(lifter* l, const pb_node* n, pb__folded* y) {
  static const struct {
    const char* op;
    bool (*fold)(lifter* l, const pb_node* n, const constant* x, constant* y);
  } places[] = {{"GatherElements", gather_elements},
                {"GatherND", gather_nd},
                {"ScatterElements", scatter_elements},
                {"Scatter", scatter_elements},
                {"ScatterND", scatter_nd}};
  constant x;
  for (size_t k = 0; k < sizeof places / sizeof *places; ++k)
    if (pb__is(n, places[k].op)) return pb__fold_take(l, n->inputs[0], &x) && places[k].fold(l, n, &x, y);
  return false;
}

// Constant indices of look-ups and updates that lie outside of what they index. ONNX says no result for them; the row
// that computes the operator clamps them, or leaves what they would set (onnx.def). Such a node may stand where it is
// never run, so this is a warning.
#include "core/frontend/onnx/rows.h"

#include <string.h>

typedef struct indexed {
  const char* op;
  bool by_axis; // else vectors over the dims behind batch_dims
} indexed;

static const indexed operators[] = {{"Gather", true},  {"GatherElements", true}, {"ScatterElements", true},
                                    {"Scatter", true}, {"GatherND", false},      {"ScatterND", false}};

static const indexed* find(const pb_node* n) {
  for (size_t k = 0; k < sizeof operators / sizeof *operators; ++k)
    if (pb__is(n, operators[k].op)) return &operators[k];
  return NULL;
}

// The shape of what a tensor is, if it is known here. false: it is not.
static bool shape_of(const lifter* l, int tensor, int* rank, int64_t* shape) {
  const pb_const* c = pb__constant(l, tensor);
  int value = l->value_of[tensor];
  if (!c && value < 0) return false;
  *rank = c ? c->rank : l->out->values[value].rank;
  memcpy(shape, c ? c->shape : l->out->values[value].shape, sizeof *shape * (size_t)*rank);
  return true;
}

static int64_t number(const pb_const* c, const char* data, int64_t k) {
  int64_t wide;
  int32_t narrow;
  if (c->type == PB_I64)
    memcpy(&wide, data + 8 * k, 8);
  else
    memcpy(&narrow, data + 4 * k, 4), wide = narrow;
  return wide;
}

void pb__warn_of_places(lifter* l, const pb_node* n) {
  const indexed* op = find(n);
  int data = pb__input(n, 0), at = pb__input(n, 1), rank, axis = 0;
  int64_t shape[PB_GRAPH_RANK], dims = 1, first = 0;
  const pb_const* c = op && data >= 0 && at >= 0 && !l->consts->open ? pb__constant(l, at) : NULL;
  if (!c || (c->type != PB_I64 && c->type != PB_I32) || !shape_of(l, data, &rank, shape)) return;
  if (op->by_axis ? !pb__axis(pb_node_int(n, "axis", 0), rank, &axis) : c->rank < 1) return; // refused by its row
  if (!op->by_axis) {
    dims = c->shape[c->rank - 1];
    first = pb_node_int(n, "batch_dims", 0);
    if (first < 0 || dims < 1 || first + dims > rank) return;
  }
  const char* numbers = pb_const_data(l->consts, l->g->tensors[at].const_id);
  for (int64_t k = 0, count = (int64_t)c->bytes / (c->type == PB_I64 ? 8 : 4); k < count; ++k) {
    int dim = op->by_axis ? axis : (int)(first + k % dims);
    int64_t index = number(c, numbers, k), extent = shape[dim];
    if (index >= -extent && index < extent) continue;
    pb_warning(l->diag, (pb_place){.file = l->g->file, .what = pb_node_place(l->g, n)}, 2037,
               "index %lld, number %lld of the constant '%s', lies outside of dim %d, which has %lld: %s",
               (long long)index, (long long)k, l->g->tensors[at].name, dim, (long long)extent,
               pb__is(n, "ScatterElements") || pb__is(n, "Scatter") || pb__is(n, "ScatterND") ? "it sets nothing"
                                                                                              : "the nearest is read");
    return;
  }
}

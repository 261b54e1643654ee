// Constant indices of look-ups and updates that lie outside of what they index. ONNX says no result for them; the row
// that computes the operator clamps them, or leaves what they would set (onnx.def). Such a node may stand where it is
// never run, so this is a warning.
#include "core/frontend/onnx/rows.h"

#include <string.h>

typedef struct indexed {
  const char* op;
  bool by_axis; // else vectors over the dims behind batch_dims
  const char* outside;
} indexed;

static const indexed operators[] = {
    {"Gather", true, "the nearest is read"},    {"GatherElements", true, "the nearest is read"},
    {"GatherND", false, "the nearest is read"}, {"ScatterElements", true, "it sets nothing"},
    {"Scatter", true, "it sets nothing"},       {"ScatterND", false, "it sets nothing"}};

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

// The first of constant indices that lies outside, and the dim of which. false: none does.
static bool find_outside(lifter* l, const pb_node* n, const indexed* op, int64_t count, int rank, const int64_t* shape,
                         const int64_t* indices, int64_t* found, int* dim) {
  const pb_const* c = pb__constant(l, pb__input(n, 1));
  int64_t dims = 1, first = 0;
  if (op->by_axis ? !pb__axis(pb_node_int(n, "axis", 0), rank, dim) : c->rank < 1) return false; // refused by its row
  if (!op->by_axis) {
    dims = c->shape[c->rank - 1];
    first = pb_node_int(n, "batch_dims", 0);
    if (first < 0 || dims < 1 || first + dims > rank) return false;
  }
  for (*found = 0; *found < count; ++*found) {
    if (!op->by_axis) *dim = (int)(first + *found % dims);
    if (indices[*found] < -shape[*dim] || indices[*found] >= shape[*dim]) return true;
  }
  return false;
}

void pb__warn_of_places(lifter* l, const pb_node* n) {
  const indexed* op = find(n);
  int data = pb__input(n, 0), at = pb__input(n, 1), rank, dim;
  int64_t shape[PB_GRAPH_RANK], count, found;
  if (!op || data < 0 || l->consts->open || !shape_of(l, data, &rank, shape)) return;
  pb_arena scratch = {0};
  const int64_t* indices = pb__all_integers(l, n, 1, &scratch, &count);
  if (indices && find_outside(l, n, op, count, rank, shape, indices, &found, &dim))
    pb_warning(l->diag, (pb_place){.file = l->g->file, .what = pb_node_place(l->g, n)}, 2037,
               "index %lld, number %lld of the constant '%s', lies outside of dim %d, which has %lld: %s",
               (long long)indices[found], (long long)found, l->g->tensors[at].name, dim, (long long)shape[dim],
               op->outside);
  pb_arena_free(&scratch);
}

// Lifts what only moves elements, on codes: the same codes elsewhere, between a DequantizeLinear and the QuantizeLinear
// of each result. Where that has another scale the codes are requantised behind the move.
#include "core/s1/lift/lift.h"

#include <string.h>

static const char* const moves[] = {"Transpose", "Slice", "Split", "Expand", "Pad", "Gather"};

static bool quantised_behind(const lifter* l, int tensor) {
  int next = tensor < 0 ? -1 : pb__continued(l, tensor);
  return tensor < 0 || (next >= 0 && pb__is(&l->g->nodes[next], "QuantizeLinear"));
}

// Zeros around a tensor, which are codes as well: its zero point.
static bool pads_zeros(const lifter* l, const pb_node* n) {
  const pb_attr *mode = pb_node_attr(n, "mode"), *value = pb_node_attr(n, "value");
  float number = value && value->kind == PB_ATTR_FLOAT ? value->f : 0;
  bool known = pb__input(n, 2) < 0 || pb__scalar_f32(l, pb__input(n, 2), &number);
  return known && number == 0 && (!mode || !mode->s || !strcmp(mode->s, "constant"));
}

// A slice from behind to the front: of its row alone, which reverses floats; codes come back from them as they were.
static bool goes_back(const lifter* l, const pb_node* n) {
  int64_t steps[PB_GRAPH_RANK];
  int count;
  pb__read_integers(l, n, NULL, 4, PB_GRAPH_RANK, steps, &count);
  for (int k = 0; k < count; ++k)
    if (steps[k] < 0) return true;
  return false;
}

static bool is_move(const lifter* l, const pb_node* n) {
  bool any = false;
  if ((pb__is(n, "Pad") && !pads_zeros(l, n)) || (pb__is(n, "Slice") && goes_back(l, n))) return false;
  for (size_t k = 0; k < sizeof moves / sizeof *moves; ++k) any |= pb__is(n, moves[k]);
  const pb_node* dq = pb__producer(l, n->inputs[0]);
  if (!any || !dq || pb__input(dq, 0) < 0) return false;
  const pb_const* table = pb__is(n, "Gather") ? pb__constant(l, dq->inputs[0]) : NULL; // as embeddings have one
  if (l->value_of[dq->inputs[0]] < 0 && !(table && table->type == PB_I8)) return false;
  for (int k = 0; k < n->output_count; ++k)
    if (!quantised_behind(l, n->outputs[k])) return false;
  return true;
}

// What the move made of the codes becomes the codes of the QuantizeLinear behind.
static pb_status settle(lifter* l, const pb_node* n, const pb_codes* x, int output) {
  pb_node one = *n;
  pb_target t;
  int moved = l->value_of[output];
  one.outputs = &output;
  one.output_count = 1;
  PB_TRY(pb__find_target(l, &one, &t));
  l->value_of[output] = -1; // it was never of floats
  if (pb__same_codes(x, &t)) {
    l->out->values[moved].name = l->g->tensors[t.tensor].name; // by which it may leave the model
    l->value_of[t.tensor] = moved;
    l->unsigned_codes[t.tensor] = t.is_unsigned;
    return PB_OK;
  }
  pb_s1_value shape = l->out->values[moved];
  pb_codes codes = {moved, x->scale, x->zero};
  pb__requantise(l, n, codes, &t, pb__make_result(l, &t, shape.rank, shape.shape));
  return PB_OK;
}

pb_status pb__lift_moves(lifter* l, const pb_node* n, bool* known) {
  *known = false;
  if (!is_move(l, n)) return PB_OK;
  pb_codes x;
  int input = n->inputs[0], floats = l->value_of[input];
  PB_TRY(pb__read_codes(l, n, input, &x));
  l->value_of[input] = x.value; // for as long as the move is lifted its operand is the codes
  pb_status status = pb__lift_float(l, n, known);
  l->value_of[input] = floats;
  PB_TRY(status);
  if (*known && pb__is(n, "Pad")) l->out->ops[l->out->op_count - 1].ma = (float)x.zero;
  for (int k = 0; k < n->output_count; ++k)
    if (n->outputs[k] >= 0) PB_TRY(settle(l, n, &x, n->outputs[k]));
  return PB_OK;
}

// How many nodes that only move elements lie between a DequantizeLinear and the tensor; -1: it is made otherwise.
static int moves_behind_codes(const lifter* l, int tensor) {
  static const char* const shapes[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
  int count = 0;
  for (const pb_node* n = pb__producer(l, tensor); n; n = pb__producer(l, n->inputs[0]), ++count) {
    if (pb__is(n, "DequantizeLinear")) return count;
    bool any = false;
    for (size_t k = 0; k < sizeof moves / sizeof *moves; ++k) any |= pb__is(n, moves[k]);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; ++k) any |= pb__is(n, shapes[k]);
    if (!any || n->input_count < 1 || n->inputs[0] < 0) return -1;
  }
  return -1;
}

bool pb__multiplies_moved_codes(lifter* l, const pb_node* n) {
  bool product = pb__is(n, "MatMul") || pb__is(n, "Gemm") || pb__is(n, "Conv"), moved = false;
  for (int k = 0; k < 2 && product; ++k) {
    if (pb__constant(l, pb__input(n, k))) continue;
    int count = moves_behind_codes(l, pb__input(n, k));
    product = count >= 0;
    moved |= count > 0;
  }
  return product && moved && pb__ends_in_codes(l, n);
}

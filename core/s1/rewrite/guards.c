// Guards against NaN. Exporters write Where(IsNaN(y), 0, y) behind each softmax, for rows of which all is masked. What
// DequantizeLinear makes of integer codes is a number: there y is left, and what was softmax between codes stays so.
#include "core/s1/lift/lift.h"

#include <math.h>
#include <string.h>

static const pb_node* maker_of(const pb_graph* g, int tensor, const char* op) {
  int p = tensor < 0 ? -1 : g->tensors[tensor].producer;
  return p >= 0 && !*g->nodes[p].domain && pb__is(&g->nodes[p], op) ? &g->nodes[p] : NULL;
}

// Whether it is made of integers, by a scale that no number of theirs makes NaN.
static bool is_number(const pb_graph* g, const pb_consts* consts, int tensor) {
  const pb_node* dq = maker_of(g, tensor, "DequantizeLinear");
  const pb_const* scale = dq ? pb__initialiser(g, consts, pb__input(dq, 1)) : NULL;
  const pb_const* zero = dq ? pb__initialiser(g, consts, pb__input(dq, 2)) : NULL; // of the codes' type
  float number;
  if (!scale || scale->type != PB_F32 || scale->bytes != sizeof number || !scale->data || !zero) return false;
  memcpy(&number, scale->data, sizeof number);
  return isfinite(number) && (zero->type == PB_I8 || zero->type == PB_I32);
}

void pb__drop_guards(pb_graph* g, const pb_consts* consts) {
  for (size_t k = 0; k < g->node_count; ++k) {
    pb_node* n = &g->nodes[k];
    if (*n->domain || !pb__is(n, "Where") || n->input_count != 3) continue;
    const pb_node* asks = maker_of(g, n->inputs[0], "IsNaN");
    const pb_const* other = pb__initialiser(g, consts, n->inputs[1]);
    int kept = n->inputs[2];
    if (!asks || asks->input_count != 1 || asks->inputs[0] != kept || !other || other->rank ||
        !is_number(g, consts, kept))
      continue;
    n->op = "Identity";
    n->input_count = 1;
    n->inputs[0] = kept;
  }
}

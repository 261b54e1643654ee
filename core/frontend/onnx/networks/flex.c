// FlexAttention: attention whose scores and probabilities go through graphs of the model's own.
#include "core/frontend/onnx/rows.h"

#include <math.h>

// v through the graph, if the node has it: its nodes are written out as those of a branch are.
static int modified(pb_onnx* o, const char* name, int v) {
  const pb_attr* a = pb_node_attr(o->n, name);
  if (!a || pb__o_bad(o)) return v;
  const pb_subgraph* graph = a->graph < 0 ? NULL : &o->l->g->subgraphs[a->graph];
  if (!graph || graph->input_count != 1 || graph->output_count != 1)
    pb__o_refuse(o, "attribute '%s' is no graph of one tensor to one", name);
  if (pb__o_bad(o)) return v;
  int in = pb__new_tensor(o->l, o->n->name), out = -1;
  o->l->value_of[in] = o->door.value[v];
  o->status = pb__expand(o->l, o->n, a->graph, &in, &out);
  int made = pb__o_tensor(o, out);
  bool same = pb__o_bad(o) || (pb__o_type(o, made)->type == pb__o_type(o, v)->type && pb__o_same_shape(o, made, v));
  if (!same) pb__o_refuse(o, "attribute '%s' makes another shape or type", name);
  return pb__o_bad(o) ? v : made;
}

// The tokens of heads that share one of keys and values behind each other.
static int by_groups(pb_onnx* o, int x, int64_t heads) {
  const pb_flat_type in = *pb__o_type(o, x);
  return pb__o_reshape(o, x, 4, (const int64_t[]){in.shape[0], heads, in.shape[1] / heads * in.shape[2], in.shape[3]});
}

static pb_type precision(pb_onnx* o, pb_type of) {
  int64_t code = pb__o_int(o, "softmax_precision", 0);
  bool is_unsigned = false;
  pb_type type = code ? pb_onnx_type(code, &is_unsigned) : of == PB_F64 ? PB_F64 : PB_F32;
  if (type == PB_TYPE_COUNT || !pb_type_is_float(type)) pb__o_refuse(o, "softmax_precision of no float");
  return pb__o_bad(o) ? PB_F32 : type;
}

void pb__o_op_flex_attention(pb_onnx* o) {
  static const bool last[PB_FLAT_RANK] = {false, false, false, true};
  static const int64_t turned[] = {0, 1, 3, 2};
  int q = pb__o_in(o, 0), k = pb__o_in(o, 1), v = pb__o_in(o, 2);
  const pb_flat_type a = *pb__o_type(o, q), b = *pb__o_type(o, k), c = *pb__o_type(o, v);
  bool fit = a.rank == 4 && b.rank == 4 && c.rank == 4 && a.type == b.type && a.type == c.type &&
             pb_type_is_float(a.type) && a.shape[0] == b.shape[0] && b.shape[0] == c.shape[0] && b.shape[1] > 0 &&
             a.shape[1] % b.shape[1] == 0 && b.shape[1] == c.shape[1] && a.shape[3] == b.shape[3] &&
             b.shape[2] == c.shape[2];
  if (!fit) pb__o_refuse(o, "queries, keys and values of heads that do not fit");
  if (pb__o_bad(o)) return;
  int64_t heads = b.shape[1], scores[4] = {a.shape[0], a.shape[1], a.shape[2], b.shape[2]};
  double usual = 1 / sqrt((double)a.shape[3]);
  pb_type type = precision(o, a.type);
  int queries = by_groups(o, q, heads), keys = pb__o_transpose(o, k, turned);
  int x = pb__o_matmul(o, queries, keys, a.type);
  x = pb__o_cast(o, pb__o_reshape(o, x, 4, scores), type);
  x = modified(o, "score_mod", pb__o_mul(o, x, pb__o_like(o, x, pb__o_real(o, "scale", usual))));
  x = modified(o, "prob_mod", pb__o_softmax(o, x, last, false));
  if (pb__o_bad(o)) return;
  x = pb__o_matmul(o, by_groups(o, pb__o_cast(o, x, a.type), heads), v, a.type);
  pb__o_out(o, 0, pb__o_reshape(o, x, 4, (const int64_t[]){a.shape[0], a.shape[1], a.shape[2], c.shape[3]}));
}

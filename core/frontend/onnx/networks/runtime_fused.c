// com.microsoft's operators that are several of ONNX's behind each other: products with what follows them, embeddings
// with their norm, weights of few bits.
#include "core/frontend/onnx/rows.h"

#include <string.h>

#define IN(k) pb__o_in(o, k)
#define OUT(v) pb__o_out(o, 0, v)

// ---- products with turned factors ----

// Its last two dims against each other, and with `batch` the first one in front of those.
static int turned(pb_onnx* o, int x, bool last, bool batch) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t order[PB_FLAT_RANK];
  if (in.rank < 2) return x; // a vector is what it is
  for (int r = 0; r < in.rank; ++r) order[r] = batch && r < in.rank - 1 ? (r + 1) % (in.rank - 1) : r;
  if (last) {
    int64_t kept = order[in.rank - 1];
    order[in.rank - 1] = order[in.rank - 2];
    order[in.rank - 2] = kept;
  }
  return pb__o_transpose(o, x, order);
}

void pb__o_op_fused_matmul(pb_onnx* o) {
  int x = IN(0), z = IN(1);
  if (pb__o_type(o, x)->type != pb__o_type(o, z)->type) pb__o_refuse(o, "operands of several types");
  if (pb__o_bad(o)) return;
  x = turned(o, x, pb__o_int(o, "transA", 0), pb__o_int(o, "transBatchA", 0));
  z = turned(o, z, pb__o_int(o, "transB", 0), pb__o_int(o, "transBatchB", 0));
  double alpha = pb__o_real(o, "alpha", 1);
  pb_type type = pb__o_type(o, x)->type;
  int y = pb__o_matmul(o, x, z, pb__o_between(type, alpha != 1));
  OUT(alpha == 1 ? y : pb__o_cast(o, pb__o_mul(o, y, pb__o_like(o, y, alpha)), type));
}

// ---- with an activation ----

// Its k-th number: of FusedConv a list's, of FusedGemm an attribute of its own.
static double parameter(const pb_onnx* o, int k, double missing) {
  static const char* const names[] = {"activation_alpha", "activation_beta", "activation_gamma"};
  const pb_attr* list = pb_node_attr(o->n, "activation_params");
  return list ? (k < list->count ? list->floats[k] : missing) : pb__o_real(o, names[k], missing);
}

static int activated(pb_onnx* o, int x) {
  const char* how = pb__o_text(o, "activation", "");
  int zero = pb__o_like(o, x, 0);
  if (!*how) return x;
  if (!strcmp(how, "Relu")) return pb__o_most(o, x, zero);
  if (!strcmp(how, "Tanh")) return pb__o_unary(o, "tanh", x);
  if (!strcmp(how, "Sigmoid")) return pb__o_unary(o, "logistic", x);
  if (!strcmp(how, "LeakyRelu")) {
    int less = pb__o_mul(o, x, pb__o_like(o, x, parameter(o, 0, 0.01)));
    return pb__o_select(o, pb__o_compare(o, "LT", x, zero), less, x);
  }
  if (!strcmp(how, "Clip")) {
    int most = pb__o_like(o, x, parameter(o, 1, __builtin_inf()));
    return pb__o_least(o, pb__o_most(o, x, pb__o_like(o, x, parameter(o, 0, -__builtin_inf()))), most);
  }
  if (!strcmp(how, "HardSigmoid")) {
    int y = pb__o_mul(o, x, pb__o_like(o, x, parameter(o, 0, 0.2)));
    y = pb__o_most(o, pb__o_add(o, y, pb__o_like(o, x, parameter(o, 1, 0.5))), zero);
    return pb__o_least(o, y, pb__o_like(o, x, 1));
  }
  pb__o_refuse(o, "an activation '%s'", how);
  return x;
}

// detail: the operator in front of the activation; a fourth operand of Conv is added between.
void pb__o_op_fused(pb_onnx* o) {
  pb_attr* kept = PB_NEW_ARRAY(&o->l->g->arena, pb_attr, (size_t)o->n->attr_count + 1);
  int count = 0, inputs = o->n->input_count < 3 ? o->n->input_count : 3;
  for (int k = 0; k < o->n->attr_count; ++k)
    if (strncmp(o->n->attrs[k].name, "activation", strlen("activation")) != 0) kept[count++] = o->n->attrs[k];
  int y = pb__o_tensor(o, pb__o_node(o, o->row->detail, inputs, o->n->inputs, kept, count, -1));
  if (pb__o_has(o, 3)) y = pb__o_add(o, y, IN(3));
  OUT(activated(o, y));
}

// ---- embeddings ----

static int positions(pb_onnx* o, const pb_flat_type* ids) {
  if (pb__o_has(o, 8)) {
    int at = IN(8);
    if (pb__o_type(o, at)->rank != 2) pb__o_refuse(o, "positions of other than [batch, tokens]");
    if (pb__o_bad(o)) return at;
    return pb__o_expand(o, at, 2, ids->shape);
  }
  return pb__o_iota(o, PB_I32, 2, ids->shape, 1);
}

void pb__o_op_embed_norm(pb_onnx* o) {
  static const bool last[PB_FLAT_RANK] = {false, false, true};
  int ids = IN(0), words = IN(2), places = IN(3), scale = IN(5);
  const pb_flat_type in = *pb__o_type(o, ids);
  int64_t counts = pb__o_int(o, "mask_index_type", 0);
  if (in.rank != 2) pb__o_refuse(o, "ids of %d dims", in.rank);
  if (pb__o_has(o, 1) != pb__o_has(o, 4)) pb__o_refuse(o, "segments without their embedding, or it without them");
  if (counts < 0 || counts > 1) pb__o_refuse(o, "mask_index_type %lld", (long long)counts);
  if (pb__o_bad(o)) return;
  int place = pb__o_table_rows(o, places, positions(o, &in));
  int sum = pb__o_add(o, pb__o_table_rows(o, words, ids), place);
  if (pb__o_has(o, 1)) {
    int segment = IN(1), table = IN(4);
    sum = pb__o_add(o, sum, pb__o_table_rows(o, table, segment));
  }
  if (pb__o_bad(o)) return;
  int rest = pb__o_sub(o, sum, pb__o_mean(o, sum, last));
  int spread = pb__o_mean(o, pb__o_mul(o, rest, rest), last);
  int root = pb__o_unary(o, "rsqrt", pb__o_add(o, spread, pb__o_like(o, spread, pb__o_real(o, "epsilon", 1e-12))));
  int y = pb__o_mul(o, pb__o_mul(o, rest, root), scale);
  OUT(pb__o_has(o, 6) ? pb__o_add(o, y, IN(6)) : y);
  if (pb__o_wants(o, 1)) {
    static const bool tokens[PB_FLAT_RANK] = {false, true};
    int none = pb__o_expand(o, pb__o_integer(o, PB_I32, 0), 1, in.shape);
    pb__o_out(o, 1, pb__o_has(o, 7) ? pb__o_reduce(o, IN(7), "add", tokens) : none);
  }
  pb__o_out(o, 2, sum);
}

// ---- weights of few bits ----

// ui8 [rows, bytes] as numbers, those in the low bits first.
static int unpacked(pb_onnx* o, int x, int64_t bits) {
  const pb_flat_type in = *pb__o_type(o, x);
  if (bits == 8) return pb__o_cast(o, x, PB_F32);
  int64_t whole[] = {in.shape[0], in.shape[1], 1};
  int low = pb__o_binary(o, "and", x, pb__o_integer(o, PB_UI8, 15));
  int high = pb__o_binary(o, "shift_right_logical", x, pb__o_integer(o, PB_UI8, 4));
  int parts[] = {pb__o_reshape(o, low, 3, whole), pb__o_reshape(o, high, 3, whole)};
  int both = pb__o_reshape(o, pb__o_join(o, 2, parts, 2), 2, (const int64_t[]){in.shape[0], 2 * in.shape[1]});
  return pb__o_cast(o, both, PB_F32);
}

// Scales or zero points [n * blocks] as [n, blocks, 1].
static int by_block(pb_onnx* o, int v, int64_t n, int64_t blocks) {
  if (pb__o_elements(o, v) != n * blocks) pb__o_refuse(o, "scales or zero points that do not fit");
  return pb__o_bad(o) ? v : pb__o_reshape(o, v, 3, (const int64_t[]){n, blocks, 1});
}

static int zero_points(pb_onnx* o, int64_t n, int64_t blocks, int64_t bits) {
  if (!pb__o_has(o, 3)) return pb__o_number(o, PB_F32, (double)((int64_t)1 << (bits - 1)));
  int v = IN(3);
  if (pb__o_type(o, v)->type != PB_UI8) return by_block(o, pb__o_cast(o, v, PB_F32), n, blocks);
  int64_t bytes = (blocks * bits + 7) / 8;
  if (pb__o_elements(o, v) != n * bytes) pb__o_refuse(o, "zero points that do not fit");
  if (pb__o_bad(o)) return v;
  v = unpacked(o, pb__o_reshape(o, v, 2, (const int64_t[]){n, bytes}), bits);
  return by_block(o, pb__o_part(o, v, 1, 0, blocks), n, blocks);
}

// x [..., k] by [n, blocks, bytes of a block] turned round: numbers less their zero point, by their block's scale.
void pb__o_op_matmul_bits(pb_onnx* o) {
  static const int64_t order[] = {1, 0};
  int x = IN(0), w = IN(1);
  int64_t k = pb__o_int(o, "K", 0), n = pb__o_int(o, "N", 0), bits = pb__o_int(o, "bits", 4),
          block = pb__o_int(o, "block_size", 0), far = (int64_t)1 << 30;
  if (bits != 4 && bits != 8) pb__o_refuse(o, "weights of %lld bits", (long long)bits);
  if (pb__o_has(o, 4)) pb__o_refuse(o, "weights in another order (g_idx)");
  if (pb__o_int(o, "weight_prepacked", 0)) pb__o_refuse(o, "weights that are packed for a machine");
  if (k < 1 || n < 1 || block < 2 || k > far || n > far || block > far || block % 2)
    pb__o_refuse(o, "K, N or block_size that make no sense");
  if (pb__o_bad(o)) return;
  int64_t blocks = (k + block - 1) / block, bytes = block * bits / 8;
  if (pb__o_type(o, w)->type != PB_UI8 || pb__o_elements(o, w) != n * blocks * bytes)
    pb__o_refuse(o, "weights that do not fit");
  if (pb__o_bad(o)) return;
  w = unpacked(o, pb__o_reshape(o, w, 2, (const int64_t[]){n, blocks * bytes}), bits);
  w = pb__o_reshape(o, w, 3, (const int64_t[]){n, blocks, block});
  w = pb__o_sub(o, w, zero_points(o, n, blocks, bits));
  w = pb__o_mul(o, w, by_block(o, pb__o_cast(o, IN(2), PB_F32), n, blocks));
  if (pb__o_bad(o)) return;
  w = pb__o_part(o, pb__o_reshape(o, w, 2, (const int64_t[]){n, blocks * block}), 1, 0, k);
  pb_type type = pb__o_type(o, x)->type;
  w = pb__o_transpose(o, w, order);
  int y = pb__o_matmul(o, pb__o_cast(o, x, PB_F32), w, PB_F32);
  if (pb__o_has(o, 5)) y = pb__o_add(o, y, pb__o_cast(o, IN(5), PB_F32));
  OUT(pb__o_cast(o, y, type));
}

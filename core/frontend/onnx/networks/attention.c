// Attention: heads are a dim of their own, those of a group share their keys and values as rows of one product.
#include "core/frontend/onnx/rows.h"

#include <math.h>
#include <string.h>

#define IN(k) pb__o_in(o, k)

typedef struct heads {
  int q, k, v; // [batch, heads, tokens, size]
  int64_t batch, q_heads, kv_heads, tokens, keys, size, v_size;
  pb_type type;
  bool flat;  // heads come and go as neighbours in the last dim
  int offset; // how many keys are in front of the first query: i64, of rank 4
} heads;

static int apart(pb_onnx* o, int x, const char* attribute) {
  static const int64_t order[] = {0, 2, 1, 3};
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t count = pb__o_int(o, attribute, 0);
  if (in.rank == 4 && count && count != in.shape[1])
    pb__o_refuse(o, "%s of %lld, and other heads", attribute, (long long)count);
  if (in.rank == 4 || pb__o_bad(o)) return x;
  if (in.rank != 3 || count < 1 || in.shape[2] % count)
    pb__o_refuse(o, "an operand of %d dims whose last one is not %s heads", in.rank, attribute);
  if (pb__o_bad(o)) return x;
  x = pb__o_reshape(o, x, 4, (const int64_t[]){in.shape[0], in.shape[1], count, in.shape[2] / count});
  return pb__o_transpose(o, x, order);
}

static bool read_heads(pb_onnx* o, heads* h) {
  h->q = IN(0), h->k = IN(1), h->v = IN(2);
  h->type = pb__o_type(o, h->q)->type;
  h->flat = pb__o_type(o, h->q)->rank == 3;
  if (pb__o_type(o, h->k)->type != h->type || pb__o_type(o, h->v)->type != h->type || !pb_type_is_float(h->type))
    pb__o_refuse(o, "of other than floats of one type");
  h->q = apart(o, h->q, "q_num_heads");
  h->k = apart(o, h->k, "kv_num_heads");
  h->v = apart(o, h->v, "kv_num_heads");
  if (pb__o_has(o, 4) != pb__o_has(o, 5)) pb__o_refuse(o, "past_key or past_value alone");
  if (pb__o_has(o, 4) && pb__o_has(o, 6)) pb__o_refuse(o, "past_key and nonpad_kv_seqlen");
  if (pb__o_bad(o)) return false;
  if (pb__o_has(o, 4)) {
    int past = IN(4), past_v = IN(5);
    if (pb__o_type(o, past)->rank == 4) h->offset = pb__o_integer(o, PB_I64, pb__o_type(o, past)->shape[2]);
    h->k = pb__o_join(o, 2, (const int[]){past, h->k}, 2);
    h->v = pb__o_join(o, 2, (const int[]){past_v, h->v}, 2);
  } else {
    h->offset = pb__o_integer(o, PB_I64, 0);
  }
  const pb_flat_type q = *pb__o_type(o, h->q), k = *pb__o_type(o, h->k), v = *pb__o_type(o, h->v);
  h->batch = q.shape[0], h->q_heads = q.shape[1], h->tokens = q.shape[2], h->size = q.shape[3];
  h->kv_heads = k.shape[1], h->keys = k.shape[2], h->v_size = v.shape[3];
  bool fits = q.rank == 4 && k.rank == 4 && v.rank == 4 && pb__o_meet(o, k.shape[0], h->batch) &&
              pb__o_meet(o, v.shape[0], h->batch) && pb__o_meet(o, k.shape[3], h->size) &&
              pb__o_meet(o, v.shape[1], h->kv_heads) && pb__o_meet(o, v.shape[2], h->keys) && h->kv_heads > 0 &&
              h->q_heads % h->kv_heads == 0;
  if (!fits) pb__o_refuse(o, "queries, keys and values that do not fit");
  return !pb__o_bad(o);
}

// 0 where the truth holds, -infinity elsewhere.
static int barred(pb_onnx* o, const heads* h, int allowed) {
  int least = pb__o_number(o, h->type, -INFINITY);
  return pb__o_select(o, allowed, pb__o_number(o, h->type, 0), least);
}

static void add_bias(pb_onnx* o, const heads* h, int* bias, int allowed) {
  int more = barred(o, h, allowed);
  *bias = *bias < 0 ? more : pb__o_add(o, *bias, more);
}

// The mask as a number that is added; keys that it is too short for are left out.
static int read_mask(pb_onnx* o, const heads* h) {
  int mask = IN(3);
  const pb_flat_type in = *pb__o_type(o, mask);
  bool truths = in.type == PB_I1;
  if (!in.rank || in.rank > 4 || (!truths && in.type != h->type)) pb__o_refuse(o, "a mask of another kind");
  if (pb__o_bad(o)) return mask;
  if (truths) mask = barred(o, h, mask);
  int64_t low[PB_FLAT_RANK] = {0}, high[PB_FLAT_RANK] = {0};
  high[in.rank - 1] = h->keys - in.shape[in.rank - 1];
  if (high[in.rank - 1] < 0) pb__o_refuse(o, "a mask longer than the keys");
  return pb__o_bad(o) ? mask : pb__o_pad(o, mask, pb__o_number(o, h->type, -INFINITY), low, high, NULL);
}

// What is added to the scores, against [batch, heads, tokens, keys]; -1: nothing.
static int read_bias(pb_onnx* o, heads* h) {
  int bias = pb__o_has(o, 3) ? read_mask(o, h) : -1;
  int64_t left = pb__o_int(o, "left_window_size", -1), right = pb__o_int(o, "right_window_size", -1);
  int keys = pb__o_iota(o, PB_I64, 4, (const int64_t[]){1, 1, 1, h->keys}, 3), valid = -1;
  int at = pb__o_iota(o, PB_I64, 4, (const int64_t[]){1, 1, h->tokens, 1}, 2);
  if (pb__o_has(o, 6)) {
    valid = IN(6);
    if (pb__o_elements(o, valid) != h->batch || pb__o_type(o, valid)->type != PB_I64)
      pb__o_refuse(o, "nonpad_kv_seqlen of other than a number for each of the batch");
    if (pb__o_bad(o)) return -1;
    valid = pb__o_reshape(o, valid, 4, (const int64_t[]){h->batch, 1, 1, 1});
    h->offset = pb__o_sub(o, valid, pb__o_integer(o, PB_I64, h->tokens));
  }
  if (left < -1 || right < -1) pb__o_refuse(o, "a window of less than nothing");
  at = pb__o_add(o, at, h->offset);
  if (pb__o_int(o, "is_causal", 0)) add_bias(o, h, &bias, pb__o_compare(o, "LE", keys, at));
  if (left >= 0) add_bias(o, h, &bias, pb__o_compare(o, "LE", pb__o_sub(o, at, pb__o_integer(o, PB_I64, left)), keys));
  if (right >= 0)
    add_bias(o, h, &bias, pb__o_compare(o, "LE", keys, pb__o_add(o, at, pb__o_integer(o, PB_I64, right))));
  if (valid >= 0) add_bias(o, h, &bias, pb__o_compare(o, "LT", keys, valid));
  return bias;
}

// [batch, heads, tokens, x], and the same with the tokens of a group's heads behind each other.
static int grouped(pb_onnx* o, const heads* h, int x, int64_t last) {
  return pb__o_reshape(o, x, 4, (const int64_t[]){h->batch, h->kv_heads, h->q_heads / h->kv_heads * h->tokens, last});
}

static int single(pb_onnx* o, const heads* h, int x, int64_t last) {
  return pb__o_reshape(o, x, 4, (const int64_t[]){h->batch, h->q_heads, h->tokens, last});
}

static int scores(pb_onnx* o, const heads* h) {
  static const int64_t turned[] = {0, 1, 3, 2};
  double scale = pb__o_real(o, "scale", 1 / sqrt((double)h->size));
  if (scale < 0) pb__o_refuse(o, "a scale below 0");
  if (pb__o_bad(o)) return h->q;
  int root = pb__o_number(o, h->type, sqrt(scale));
  int q = grouped(o, h, pb__o_mul(o, h->q, root), h->size);
  int k = pb__o_transpose(o, pb__o_mul(o, h->k, root), turned);
  return single(o, h, pb__o_matmul(o, q, k, h->type), h->keys);
}

// A row without any key that it may see is 0.
static int probabilities(pb_onnx* o, const heads* h, int x, int bias) {
  static const bool last[PB_FLAT_RANK] = {false, false, false, true};
  int64_t code = pb__o_int(o, "softmax_precision", 0);
  bool is_unsigned;
  pb_type type = code ? pb_onnx_type(code, &is_unsigned) : h->type;
  if (type == PB_TYPE_COUNT || !pb_type_is_float(type)) pb__o_refuse(o, "softmax_precision of no float");
  if (pb__o_bad(o)) return x;
  int y = pb__o_softmax(o, pb__o_cast(o, x, type), last, false);
  if (bias >= 0) {
    bool axes[PB_FLAT_RANK] = {false};
    axes[pb__o_type(o, bias)->rank - 1] = true;
    int most = pb__o_reduce_kept(o, bias, "maximum", axes);
    int none = pb__o_compare(o, "EQ", most, pb__o_number(o, h->type, -INFINITY));
    y = pb__o_select(o, none, pb__o_number(o, type, 0), y);
  }
  return pb__o_cast(o, y, h->type);
}

void pb__o_op_attention(pb_onnx* o) {
  static const int64_t order[] = {0, 2, 1, 3};
  heads h = {0};
  if (!read_heads(o, &h)) return;
  int64_t shown = pb__o_int(o, "qk_matmul_output_mode", 0);
  double cap = pb__o_real(o, "softcap", 0);
  int stages[4], bias = read_bias(o, &h);
  if (shown < 0 || shown > 3) pb__o_refuse(o, "qk_matmul_output_mode %lld", (long long)shown);
  if (pb__o_bad(o)) return;
  int x = stages[0] = scores(o, &h);
  if (cap > 0) {
    int limit = pb__o_like(o, x, cap);
    x = pb__o_mul(o, pb__o_unary(o, "tanh", pb__o_div(o, x, limit)), limit);
  }
  stages[1] = x;
  stages[2] = x = bias < 0 ? x : pb__o_add(o, x, bias);
  if (!pb__o_same_shape(o, x, stages[0])) pb__o_refuse(o, "a mask larger than the scores");
  if (pb__o_bad(o)) return;
  stages[3] = x = probabilities(o, &h, x, bias);
  int y = single(o, &h, pb__o_matmul(o, grouped(o, &h, x, h.keys), h.v, h.type), h.v_size);
  if (h.flat) {
    y = pb__o_transpose(o, y, order);
    y = pb__o_reshape(o, y, 3, (const int64_t[]){h.batch, h.tokens, h.q_heads * h.v_size});
  }
  pb__o_out(o, 0, y);
  pb__o_out(o, 1, h.k);
  pb__o_out(o, 2, h.v);
  pb__o_out(o, 3, stages[shown]);
}

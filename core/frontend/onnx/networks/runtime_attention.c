// com.microsoft's attention: packed weights, heads apart, groups of heads with caches; rotated positions.
#include "core/frontend/onnx/rows.h"

#include <math.h>
#include <string.h>

#define IN(k) pb__o_in(o, k)

static const int64_t heads_in_front[] = {0, 2, 1, 3};

typedef struct attention {
  int q, k, v; // [batch, heads, tokens, size]
  int bias;    // is added to the scores, -1: nothing
  double scale, masked;
} attention;

// What the keys' truth bars gets the number that stands for a barred one.
static void add_mask(pb_onnx* o, attention* a, int seen) {
  int none = pb__o_number(o, PB_F32, 0), bias = pb__o_select(o, seen, none, pb__o_number(o, PB_F32, a->masked));
  a->bias = a->bias < 0 ? bias : pb__o_add(o, a->bias, bias);
}

// Keys up to the query's own place, which is `from` (i64, against [batch, 1, tokens, 1]) further on; `window`: at most
// so many of them, -1: all.
static void add_causal(pb_onnx* o, attention* a, int from, int64_t window) {
  int64_t tokens = pb__o_type(o, a->q)->shape[2], keys = pb__o_type(o, a->k)->shape[2];
  int at = pb__o_add(o, pb__o_iota(o, PB_I64, 4, (const int64_t[]){1, 1, tokens, 1}, 2), from);
  int key = pb__o_iota(o, PB_I64, 4, (const int64_t[]){1, 1, 1, keys}, 3);
  add_mask(o, a, pb__o_compare(o, "LE", key, at));
  if (window < 0) return;
  int far = pb__o_integer(o, PB_I64, window);
  add_mask(o, a, pb__o_compare(o, "LT", pb__o_sub(o, at, key), far));
}

// Queries of several heads that share keys are rows of one product.
static int by_groups(pb_onnx* o, int x, int64_t groups) {
  const pb_flat_type t = *pb__o_type(o, x);
  int64_t rows = t.shape[1] / groups * t.shape[2];
  return pb__o_reshape(o, x, 4, (const int64_t[]){t.shape[0], groups, rows, t.shape[3]});
}

static int attended(pb_onnx* o, const attention* a) {
  static const int64_t order[] = {0, 1, 3, 2};
  static const bool last[PB_FLAT_RANK] = {false, false, false, true};
  const pb_flat_type q = *pb__o_type(o, a->q), k = *pb__o_type(o, a->k), v = *pb__o_type(o, a->v);
  bool fits = q.rank == 4 && k.rank == 4 && v.rank == 4 && q.type == PB_F32 && k.shape[0] == q.shape[0] &&
              k.shape[3] == q.shape[3] && v.shape[0] == k.shape[0] && v.shape[1] == k.shape[1] &&
              v.shape[2] == k.shape[2] && k.shape[1] > 0 && q.shape[1] % k.shape[1] == 0;
  if (!fits) pb__o_refuse(o, "queries, keys and values that do not fit, or not of f32");
  if (pb__o_bad(o)) return a->q;
  double scale = a->scale ? a->scale : 1 / sqrt((double)q.shape[3]);
  int x = by_groups(o, pb__o_mul(o, a->q, pb__o_number(o, q.type, scale)), k.shape[1]);
  x = pb__o_matmul(o, x, pb__o_transpose(o, a->k, order), q.type);
  x = pb__o_reshape(o, x, 4, (const int64_t[]){q.shape[0], q.shape[1], q.shape[2], k.shape[2]});
  double cap = pb__o_real(o, "softcap", 0);
  if (cap > 0) {
    int limit = pb__o_like(o, x, cap);
    x = pb__o_mul(o, pb__o_unary(o, "tanh", pb__o_div(o, x, limit)), limit);
  }
  int scores = a->bias < 0 ? x : pb__o_add(o, x, a->bias);
  if (!pb__o_same_shape(o, x, scores)) pb__o_refuse(o, "a mask larger than the scores");
  if (pb__o_bad(o)) return a->q;
  int y = pb__o_matmul(o, by_groups(o, pb__o_softmax(o, scores, last, false), k.shape[1]), a->v, q.type);
  y = pb__o_reshape(o, y, 4, (const int64_t[]){q.shape[0], q.shape[1], q.shape[2], v.shape[3]});
  y = pb__o_transpose(o, y, heads_in_front);
  return pb__o_reshape(o, y, 3, (const int64_t[]){q.shape[0], q.shape[2], q.shape[1] * v.shape[3]});
}

// i32 [batch, keys] and [batch, tokens, keys]: what is 0 is barred; [batch]: so many keys are seen.
static void read_mask(pb_onnx* o, attention* a, int k) {
  const pb_flat_type q = *pb__o_type(o, a->q);
  int64_t keys = pb__o_type(o, a->k)->shape[2];
  int mask = IN(k), zero = pb__o_integer(o, PB_I32, 0);
  const pb_flat_type m = *pb__o_type(o, mask);
  int64_t rows = m.rank == 3 ? m.shape[1] : 1;
  bool lengths = m.rank == 1 && m.shape[0] == q.shape[0];
  bool fits = m.rank > 0 && m.shape[0] == q.shape[0] && (rows == 1 || rows == q.shape[2]);
  fits &= lengths || ((m.rank == 2 || m.rank == 3) && m.shape[m.rank - 1] == keys);
  if (m.type != PB_I32 || !fits)
    pb__o_refuse(o, "a mask of other than [batch], [batch, keys] or [batch, tokens, keys]");
  if (pb__o_bad(o)) return;
  mask = pb__o_reshape(o, mask, 4, (const int64_t[]){m.shape[0], 1, rows, lengths ? 1 : keys});
  if (lengths) {
    int key = pb__o_iota(o, PB_I32, 4, (const int64_t[]){1, 1, 1, keys}, 3);
    add_mask(o, a, pb__o_compare(o, "LT", key, mask));
  } else {
    add_mask(o, a, pb__o_compare(o, "NE", mask, zero));
  }
}

static void read_bias(pb_onnx* o, attention* a, int k) {
  if (!pb__o_has(o, k)) return;
  int bias = IN(k);
  a->bias = a->bias < 0 ? bias : pb__o_add(o, a->bias, bias);
}

static attention new_attention(pb_onnx* o) {
  return (attention){-1, -1, -1, -1, pb__o_real(o, "scale", 0), pb__o_real(o, "mask_filter_value", -10000)};
}

// Keys and values behind those that were there, and the causal mask, which counts from them on.
static void with_past(pb_onnx* o, attention* a, int past_k, int past_v) {
  int64_t before = 0;
  if (past_k >= 0) {
    before = pb__o_type(o, past_k)->shape[2];
    a->k = pb__o_join(o, 2, (const int[]){past_k, a->k}, 2);
    a->v = pb__o_join(o, 2, (const int[]){past_v, a->v}, 2);
  }
  if (!pb__o_bad(o) && pb__o_int(o, "unidirectional", 0)) add_causal(o, a, pb__o_integer(o, PB_I64, before), -1);
}

// ---- Attention: one product makes queries, keys and values ----

static int past_part(pb_onnx* o, int past, int64_t which) {
  const pb_flat_type t = *pb__o_type(o, past);
  return pb__o_reshape(o, pb__o_part(o, past, 0, which, which + 1), 4, t.shape + 1);
}

void pb__o_op_packed_attention(pb_onnx* o) {
  int x = IN(0), w = IN(1), past[2] = {-1, -1}, parts[3];
  const pb_flat_type in = *pb__o_type(o, x), weights = *pb__o_type(o, w);
  int64_t heads = pb__o_int(o, "num_heads", 0), sizes[3], at = 0;
  attention a = new_attention(o);
  if (in.rank != 3 || weights.rank != 2) pb__o_refuse(o, "an input or weights of another rank");
  if (pb__o_int(o, "do_rotary", 0)) pb__o_refuse(o, "do_rotary");
  if (pb__o_int(o, "past_present_share_buffer", 0)) pb__o_refuse(o, "past_present_share_buffer");
  if (pb__o_bad(o)) return;
  pb__o_ints(o, "qkv_hidden_sizes", 3, weights.shape[1] / 3, sizes);
  bool fits = sizes[0] > 0 && sizes[1] > 0 && sizes[2] > 0 && sizes[0] + sizes[1] + sizes[2] == weights.shape[1];
  if (!fits) pb__o_refuse(o, "weights whose columns are not queries, keys and values");
  pb_type between = pb__o_between(in.type, pb__o_has(o, 2));
  int all = pb__o_matmul(o, x, w, between);
  if (pb__o_has(o, 2)) all = pb__o_cast(o, pb__o_add(o, all, pb__o_cast(o, IN(2), between)), in.type);
  for (int k = 0; k < 3 && !pb__o_bad(o); ++k) {
    parts[k] = pb__o_by_heads(o, pb__o_part(o, all, 2, at, at + sizes[k]), heads);
    at += sizes[k];
  }
  if (pb__o_bad(o)) return;
  a.q = parts[0], a.k = parts[1], a.v = parts[2];
  if (pb__o_has(o, 4)) {
    int both = IN(4);
    if (pb__o_type(o, both)->rank != 5 || pb__o_type(o, both)->shape[0] != 2) pb__o_refuse(o, "a past of another rank");
    if (pb__o_bad(o)) return;
    for (int k = 0; k < 2; ++k) past[k] = past_part(o, both, k);
  }
  with_past(o, &a, past[0], past[1]);
  if (pb__o_bad(o)) return;
  if (pb__o_has(o, 3)) read_mask(o, &a, 3);
  read_bias(o, &a, 5);
  pb__o_out(o, 0, attended(o, &a));
  if (!pb__o_wants(o, 1) || pb__o_bad(o)) return;
  const pb_flat_type k = *pb__o_type(o, a.k);
  int64_t one[] = {1, k.shape[0], k.shape[1], k.shape[2], k.shape[3]};
  int now[] = {pb__o_reshape(o, a.k, 5, one), pb__o_reshape(o, a.v, 5, one)};
  pb__o_out(o, 1, pb__o_join(o, 2, now, 0));
}

// ---- MultiHeadAttention ----

// Operand k, or part `which` of the packed operand in front of it, with its part of the bias, as heads.
static int head_operand(pb_onnx* o, int k, int64_t heads, int64_t from) {
  int x = IN(k);
  const pb_flat_type in = *pb__o_type(o, x);
  if (in.rank == 4) return x; // keys and values of another sequence come as heads
  if (in.rank != 3) pb__o_refuse(o, "operand %d of %d dims", k, in.rank);
  if (pb__o_bad(o)) return x;
  if (pb__o_has(o, 3)) x = pb__o_add(o, x, pb__o_part(o, IN(3), 0, from, from + in.shape[2]));
  return pb__o_by_heads(o, x, heads);
}

void pb__o_op_heads_attention(pb_onnx* o) {
  int64_t heads = pb__o_int(o, "num_heads", 0);
  attention a = new_attention(o);
  if (!pb__o_has(o, 1) || !pb__o_has(o, 2) || pb__o_type(o, IN(0))->rank != 3)
    pb__o_refuse(o, "queries, keys and values in one operand");
  if (pb__o_has(o, 6) != pb__o_has(o, 7)) pb__o_refuse(o, "past_key or past_value alone");
  if (pb__o_bad(o)) return;
  int64_t hidden = pb__o_type(o, IN(0))->shape[2];
  if (pb__o_has(o, 3) && (pb__o_type(o, IN(3))->rank != 1 || pb__o_elements(o, IN(3)) < 2 * hidden))
    pb__o_refuse(o, "a bias that does not fit");
  if (pb__o_bad(o)) return;
  a.q = head_operand(o, 0, heads, 0);
  a.k = head_operand(o, 1, heads, hidden);
  a.v = head_operand(o, 2, heads, 2 * hidden);
  if (pb__o_bad(o)) return;
  int past_k = pb__o_has(o, 6) ? IN(6) : -1, past_v = pb__o_has(o, 7) ? IN(7) : -1;
  with_past(o, &a, past_k, past_v);
  if (pb__o_bad(o)) return;
  if (pb__o_has(o, 4)) read_mask(o, &a, 4);
  read_bias(o, &a, 5);
  pb__o_out(o, 0, attended(o, &a));
  pb__o_out(o, 1, a.k);
  pb__o_out(o, 2, a.v);
}

// ---- RotaryEmbedding ----

// Rows of operand k by positions [batch, tokens], against [batch, heads, tokens, half].
static int turns(pb_onnx* o, int k, int at) {
  int rows = pb__o_table_rows(o, IN(k), at);
  const pb_flat_type t = *pb__o_type(o, rows);
  return pb__o_bad(o) ? rows : pb__o_reshape(o, rows, 4, (const int64_t[]){t.shape[0], 1, t.shape[1], t.shape[2]});
}

static int rotated(pb_onnx* o, int x, int table, int at, bool pairs) {
  int c = turns(o, table, at), s = turns(o, table + 1, at);
  int64_t turned = 2 * pb__o_type(o, c)->shape[3];
  if (turned > pb__o_type(o, x)->shape[3]) pb__o_refuse(o, "cosines for more than a head has");
  return pb__o_bad(o) ? x : pb__o_rotated(o, x, c, s, turned, pairs);
}

static int places_from(pb_onnx* o, const int64_t* shape, int first) {
  return pb__o_add(o, pb__o_iota(o, PB_I64, 2, shape, 1), first);
}

// Positions are [batch, tokens], or one number: the first token's.
void pb__o_op_runtime_rotary(pb_onnx* o) {
  int x = IN(0), at = IN(1);
  const pb_flat_type in = *pb__o_type(o, x);
  const pb_flat_type table = *pb__o_type(o, IN(2));
  int64_t heads = pb__o_int(o, "num_heads", 0), size = table.rank == 2 ? 2 * table.shape[1] : 0;
  if (in.rank == 3 && !heads && size > 0) heads = in.shape[2] / size;
  if (in.rank == 3) x = pb__o_by_heads(o, x, heads);
  if (in.rank != 3 && in.rank != 4) pb__o_refuse(o, "of %d dims", in.rank);
  if (pb__o_int(o, "is_packed_batching", 0)) pb__o_refuse(o, "is_packed_batching");
  if (pb__o_bad(o)) return;
  const pb_flat_type t = *pb__o_type(o, x);
  int64_t where[] = {t.shape[0], t.shape[2]};
  if (pb__o_elements(o, at) == 1) at = places_from(o, where, pb__o_reshape(o, at, 0, NULL));
  int y = rotated(o, x, 2, at, pb__o_int(o, "interleaved", 0));
  double scale = pb__o_real(o, "scale", 1);
  if (scale != 1) pb__o_refuse(o, "scale %g", scale);
  if (pb__o_bad(o)) return;
  if (in.rank == 3) y = pb__o_reshape(o, pb__o_transpose(o, y, heads_in_front), 3, in.shape);
  pb__o_out(o, 0, y);
}

// ---- GroupQueryAttention ----

// The cache, `keys` long, up to each example's place, the new rows from there on, and zeros.
static int written(pb_onnx* o, int past, int rows, int from, int64_t keys) {
  const pb_flat_type new = *pb__o_type(o, rows);
  int64_t shape[] = {new.shape[0], new.shape[1], keys, new.shape[3]}, low[4] = {0}, high[4] = {0};
  int64_t at[] = {1, 1, keys, 1};
  int zero = pb__o_like(o, rows, 0), cache;
  if (past >= 0) {
    const pb_flat_type old = *pb__o_type(o, past);
    bool fits = old.rank == 4 && old.shape[0] == new.shape[0] && old.shape[1] == new.shape[1] && keys >= old.shape[2] &&
                old.shape[3] == new.shape[3];
    if (!fits || new.shape[2] < 1) pb__o_refuse(o, "a cache that does not fit");
    if (pb__o_bad(o)) return rows;
    high[2] = keys - pb__o_type(o, past)->shape[2];
    cache = pb__o_pad(o, past, zero, low, high, NULL);
  } else {
    cache = pb__o_expand(o, zero, 4, shape);
  }
  int place = pb__o_sub(o, pb__o_iota(o, PB_I64, 4, at, 2), from); // in the new rows, by example
  int first = pb__o_integer(o, PB_I64, 0), last = pb__o_integer(o, PB_I64, new.shape[2] - 1);
  int kept = pb__o_least(o, pb__o_most(o, place, first), last), is_new = pb__o_compare(o, "EQ", kept, place);
  int64_t vector[] = {new.shape[0], keys, 1};
  int parts[2] = {pb__o_iota(o, PB_I64, 3, vector, 0), pb__o_reshape(o, kept, 3, vector)};
  const pb_onnx_places p = {.windows = 2,
                            .window = {1, 3},
                            .dropped = 2,
                            .drop = {0, 2},
                            .maps = 2,
                            .map = {0, 2},
                            .size = {1, new.shape[1], 1, new.shape[3]}};
  int taken = pb__o_gather(o, rows, pb__o_join(o, 2, parts, 2), &p, 4, shape);
  int is_old = pb__o_expand(o, pb__o_compare(o, "LT", place, first), 4, shape);
  int rest = pb__o_select(o, is_old, cache, pb__o_expand(o, zero, 4, shape));
  return pb__o_select(o, pb__o_expand(o, is_new, 4, shape), taken, rest);
}

// The queries, keys and values, which may be one operand, as heads.
static void read_groups(pb_onnx* o, attention* a, int64_t heads, int64_t groups) {
  int x = IN(0);
  const pb_flat_type in = *pb__o_type(o, x);
  if (pb__o_has(o, 1) != pb__o_has(o, 2) || in.rank != 3 || groups < 1 || heads < groups || heads > in.shape[2] ||
      heads % groups)
    pb__o_refuse(o, "queries, keys, values or heads that do not fit");
  if (pb__o_bad(o)) return;
  if (pb__o_has(o, 1)) {
    a->q = pb__o_by_heads(o, x, heads);
    a->k = pb__o_by_heads(o, IN(1), groups);
    a->v = pb__o_by_heads(o, IN(2), groups);
    return;
  }
  int64_t size = in.shape[2] / (heads + 2 * groups), from = heads * size, to = from + groups * size;
  if (size * (heads + 2 * groups) != in.shape[2]) pb__o_refuse(o, "a last dim that is not the heads'");
  if (pb__o_bad(o)) return;
  a->q = pb__o_by_heads(o, pb__o_part(o, x, 2, 0, from), heads);
  a->k = pb__o_by_heads(o, pb__o_part(o, x, 2, from, to), groups);
  a->v = pb__o_by_heads(o, pb__o_part(o, x, 2, to, in.shape[2]), groups);
}

void pb__o_op_group_attention(pb_onnx* o) {
  int64_t total, most, window = pb__o_int(o, "local_window_size", -1);
  attention a = new_attention(o);
  a.masked = -INFINITY;
  if (pb__o_int(o, "smooth_softmax", 0) > 0 || pb__o_has(o, 11)) pb__o_refuse(o, "smooth_softmax or a sink");
  if (pb__o_has(o, 3) != pb__o_has(o, 4)) pb__o_refuse(o, "past_key or past_value alone");
  if (pb__o_list(o, "total_sequence_length", 6, 1, &total) != 1)
    pb__o_refuse(o, "total_sequence_length that is not constant");
  read_groups(o, &a, pb__o_int(o, "num_heads", 0), pb__o_int(o, "kv_num_heads", 0));
  if (pb__o_bad(o)) return;
  const pb_flat_type q = *pb__o_type(o, a.q);
  int past[2] = {pb__o_has(o, 3) ? IN(3) : -1, pb__o_has(o, 4) ? IN(4) : -1}, lengths = IN(5);
  most = past[0] >= 0 ? pb__o_type(o, past[0])->shape[2] : 0;
  if (most < total) most = total;
  if (pb__o_elements(o, lengths) != q.shape[0] || total < q.shape[2] || total > 1 << 24)
    pb__o_refuse(o, "seqlens_k or total_sequence_length that do not fit");
  if (pb__o_bad(o)) return;
  // seqlens_k is the last key's place; a prompt begins at the first
  int from = pb__o_cast(o, pb__o_reshape(o, lengths, 4, (const int64_t[]){q.shape[0], 1, 1, 1}), PB_I64);
  from = pb__o_add(o, from, pb__o_integer(o, PB_I64, 1 - q.shape[2]));
  from = pb__o_most(o, from, pb__o_integer(o, PB_I64, 0));
  if (total == q.shape[2])
    from = pb__o_expand(o, pb__o_integer(o, PB_I64, 0), 4, (const int64_t[]){q.shape[0], 1, 1, 1});
  if (pb__o_int(o, "do_rotary", 0)) {
    int64_t where[] = {q.shape[0], q.shape[2]}, first[] = {q.shape[0], 1};
    int at = pb__o_has(o, 9) ? IN(9) : places_from(o, where, pb__o_reshape(o, from, 2, first));
    bool pairs = pb__o_int(o, "rotary_interleaved", 0);
    a.q = rotated(o, a.q, 7, at, pairs);
    a.k = rotated(o, a.k, 7, at, pairs);
  }
  if (pb__o_bad(o)) return;
  a.k = written(o, past[0], a.k, from, most);
  a.v = written(o, past[1], a.v, from, most);
  if (pb__o_bad(o)) return;
  add_causal(o, &a, from, window);
  read_bias(o, &a, 10);
  pb__o_out(o, 0, attended(o, &a));
  pb__o_out(o, 1, a.k);
  pb__o_out(o, 2, a.v);
}

// What language models are made of beside attention: turned positions, caches that are written in place, gates, and the
// recurrent forms that stand in attention's place.
#include "core/frontend/onnx/rows.h"

#include "core/s1/control.h"

#include <math.h>
#include <string.h>

#define IN(k) pb__o_in(o, k)

enum { MOST_TURNS = 4096 };

static const int64_t heads_in_front[] = {0, 2, 1, 3};

// [batch, tokens, heads * size] as [batch, heads, tokens, size].
int pb__o_by_heads(pb_onnx* o, int x, int64_t heads) {
  const pb_flat_type in = *pb__o_type(o, x);
  if (in.rank != 3 || heads < 1 || in.shape[2] % heads)
    pb__o_refuse(o, "a last dim that is not %lld heads", (long long)heads);
  if (pb__o_bad(o)) return x;
  x = pb__o_reshape(o, x, 4, (const int64_t[]){in.shape[0], in.shape[1], heads, in.shape[2] / heads});
  return pb__o_transpose(o, x, heads_in_front);
}

// ---- RotaryEmbedding ----

int pb__o_table_rows(pb_onnx* o, int table, int at) {
  const pb_flat_type in = *pb__o_type(o, table), where = *pb__o_type(o, at);
  if (in.rank != 2 || where.rank != 2) pb__o_refuse(o, "positions of other than a table's rows");
  if (pb__o_bad(o)) return table;
  const pb_onnx_places p = {
      .windows = 1, .window = {2}, .dropped = 1, .drop = {0}, .maps = 1, .map = {0}, .size = {1, in.shape[1]}};
  at = pb__o_reshape(o, at, 3, (const int64_t[]){where.shape[0], where.shape[1], 1});
  return pb__o_gather(o, table, at, &p, 3, (const int64_t[]){where.shape[0], where.shape[1], in.shape[1]});
}

// Cosines or sines of each token, against [batch, heads, tokens, half].
static int turns(pb_onnx* o, int k, const int64_t* x, int64_t half) {
  int table = IN(k);
  if (pb__o_has(o, 3)) table = pb__o_table_rows(o, table, IN(3));
  const pb_flat_type in = *pb__o_type(o, table);
  if (in.rank != 3 || in.shape[0] != x[0] || in.shape[1] != x[2] || in.shape[2] != half)
    pb__o_refuse(o, "cosines or sines that do not fit");
  return pb__o_bad(o) ? table : pb__o_reshape(o, table, 4, (const int64_t[]){in.shape[0], 1, in.shape[1], half});
}

int pb__o_rotated(pb_onnx* o, int x, int c, int s, int64_t turned, bool pairs) {
  const pb_flat_type t = *pb__o_type(o, x);
  int64_t size = t.shape[3];
  int half[2], out[2];
  int part = pb__o_part(o, x, 3, 0, turned);
  for (int k = 0; k < 2; ++k) {
    int64_t from[4] = {0, 0, 0, pairs ? k : k * turned / 2}, step[4] = {1, 1, 1, pairs ? 2 : 1};
    int64_t to[4] = {t.shape[0], t.shape[1], t.shape[2], pairs ? turned : (k + 1) * turned / 2};
    half[k] = pb__o_slice(o, part, from, to, step);
  }
  int by_sine = pb__o_mul(o, s, half[1]);
  out[0] = pb__o_sub(o, pb__o_mul(o, c, half[0]), by_sine);
  int by_cosine = pb__o_mul(o, c, half[1]);
  out[1] = pb__o_add(o, pb__o_mul(o, s, half[0]), by_cosine);
  if (pairs)
    for (int k = 0; k < 2; ++k)
      out[k] = pb__o_reshape(o, out[k], 5, (const int64_t[]){t.shape[0], t.shape[1], t.shape[2], turned / 2, 1});
  int y = pb__o_join(o, 2, out, pairs ? 4 : 3);
  if (pairs) y = pb__o_reshape(o, y, 4, (const int64_t[]){t.shape[0], t.shape[1], t.shape[2], turned});
  if (turned < size) y = pb__o_join(o, 2, (const int[]){y, pb__o_part(o, x, 3, turned, size)}, 3);
  return y;
}

void pb__o_op_rotary_embedding(pb_onnx* o) {
  int x = IN(0);
  const pb_flat_type in = *pb__o_type(o, x);
  bool pairs = pb__o_int(o, "interleaved", 0);
  if (in.rank == 3) x = pb__o_by_heads(o, x, pb__o_int(o, "num_heads", 0));
  if (in.rank != 3 && in.rank != 4) pb__o_refuse(o, "of %d dims", in.rank);
  if (pb__o_bad(o)) return;
  const pb_flat_type t = *pb__o_type(o, x);
  int64_t size = t.shape[3], turned = pb__o_int(o, "rotary_embedding_dim", 0);
  if (!turned) turned = size;
  if (turned < 2 || turned > size || turned % 2) pb__o_refuse(o, "rotary_embedding_dim %lld", (long long)turned);
  if (pb__o_bad(o)) return;
  int c = turns(o, 1, t.shape, turned / 2), s = turns(o, 2, t.shape, turned / 2);
  if (pb__o_bad(o)) return;
  int y = pb__o_rotated(o, x, c, s, turned, pairs);
  if (in.rank == 3) y = pb__o_reshape(o, pb__o_transpose(o, y, heads_in_front), 3, in.shape);
  pb__o_out(o, 0, y);
}

// ---- TensorScatter ----

// In the place of a cache that is donated: the host puts the rows there, at an index that it keeps inside.
static void place_rows(pb_onnx* o, int cache, int update, int axis, bool circular) {
  int input = pb__input(o->n, 0), index = pb__o_integer(o, PB_I64, 0);
  const pb_flat_type in = *pb__o_type(o, cache), rows = *pb__o_type(o, update);
  if (o->l->uses[input] != 1) pb__o_refuse(o, "of a donated input that is read elsewhere too");
  if (pb__o_has(o, 2)) {
    if (in.shape[0] != 1)
      pb__o_refuse(o, "of a donated input of %lld examples, each with its place", (long long)in.shape[0]);
    if (circular && rows.shape[axis] != 1) pb__o_refuse(o, "of a donated input whose new rows may go round its end");
    if (pb__o_bad(o)) return;
    index = pb__o_reshape(o, pb__o_cast(o, IN(2), PB_I64), 0, NULL);
    if (circular) index = pb__o_binary(o, "remainder", index, pb__o_integer(o, PB_I64, in.shape[axis]));
  }
  if (pb__o_bad(o)) return;
  o->door.m.type = o->n->op;
  pb_control_place(&o->door.m, o->door.value[cache], o->door.value[update], axis, o->door.value[index]);
  o->l->value_of[o->n->outputs[0]] = o->door.value[cache];
}

// The updates' rows along the axis from a place on that each of the batch has.
void pb__o_op_tensor_scatter(pb_onnx* o) {
  int cache = IN(0), update = IN(1);
  const pb_flat_type in = *pb__o_type(o, cache), new = *pb__o_type(o, update);
  int axis = pb__o_axis(o, pb__o_int(o, "axis", -2), in.rank);
  const char* mode = pb__o_text(o, "mode", "linear");
  bool fits = in.rank == new.rank&& in.type == new.type&& axis > 0 && in.rank < PB_FLAT_RANK;
  for (int r = 0; fits && r < in.rank; ++r)
    fits = r == axis ? new.shape[r] <= in.shape[r] : new.shape[r] == in.shape[r];
  if (!fits) pb__o_refuse(o, "an update that does not fit the cache");
  if (strcmp(mode, "linear") && strcmp(mode, "circular")) pb__o_refuse(o, "a mode '%s'", mode);
  if (pb__o_bad(o)) return;
  if (o->l->out->values[o->door.value[cache]].made_of) {
    place_rows(o, cache, update, axis, !strcmp(mode, "circular"));
    return;
  }
  int64_t one[PB_FLAT_RANK + 1], all[PB_FLAT_RANK + 1], first[PB_FLAT_RANK + 1];
  for (int r = 0; r <= in.rank; ++r) {
    one[r] = first[r] = 1;
    all[r] = r < in.rank ? new.shape[r] : 1;
  }
  one[axis] = new.shape[axis];
  first[0] = in.shape[0];
  int at = pb__o_iota(o, PB_I64, in.rank + 1, one, axis), parts[PB_FLAT_RANK];
  if (pb__o_has(o, 2)) {
    int from = pb__o_cast(o, IN(2), PB_I64);
    if (pb__o_elements(o, from) != in.shape[0]) pb__o_refuse(o, "write_indices of another length");
    if (!pb__o_bad(o)) at = pb__o_add(o, at, pb__o_reshape(o, from, in.rank + 1, first));
  }
  if (!strcmp(mode, "circular")) at = pb__o_binary(o, "remainder", at, pb__o_integer(o, PB_I64, in.shape[axis]));
  pb_onnx_places p = {.dropped = in.rank, .maps = in.rank};
  for (int r = 0; r < in.rank; ++r) {
    parts[r] = r == axis ? pb__o_expand(o, at, in.rank + 1, all) : pb__o_iota(o, PB_I64, in.rank + 1, all, r);
    p.drop[r] = p.map[r] = r;
  }
  pb__o_out(o, 0, pb__o_scatter(o, cache, pb__o_join(o, in.rank, parts, in.rank), update, "second", &p));
}

// ---- gates ----

void pb__o_op_swiglu(pb_onnx* o) {
  int a = IN(0), b = IN(1);
  if (!pb__o_same_shape(o, a, b)) pb__o_refuse(o, "operands of two shapes");
  int by = pb__o_unary(o, "logistic", pb__o_mul(o, a, pb__o_like(o, a, pb__o_real(o, "alpha", 1))));
  pb__o_out(o, 0, pb__o_mul(o, pb__o_mul(o, a, by), b));
}

// ---- CausalConvWithState ----

void pb__o_op_causal_conv(pb_onnx* o) {
  int x = IN(0), w = IN(1);
  const pb_flat_type in = *pb__o_type(o, x), kernel = *pb__o_type(o, w);
  const char* activation = pb__o_text(o, "activation", "none");
  bool silu = !strcmp(activation, "silu") || !strcmp(activation, "swish");
  if (!silu && strcmp(activation, "none")) pb__o_refuse(o, "an activation '%s'", activation);
  if (in.rank != 3 || kernel.rank != 3 || kernel.shape[0] != in.shape[1] || kernel.shape[1] != 1)
    pb__o_refuse(o, "other than a window for each channel of a row");
  if (pb__o_bad(o)) return;
  int64_t before = kernel.shape[2] - 1, low[3] = {0, 0, before}, none[3] = {0};
  if (pb__o_has(o, 3))
    x = pb__o_join(o, 2, (const int[]){IN(3), x}, 2);
  else
    x = pb__o_pad(o, x, pb__o_like(o, x, 0), low, none, NULL);
  int64_t length = pb__o_type(o, x)->shape[2];
  if (length != in.shape[2] + before) pb__o_refuse(o, "a state of another length");
  if (pb__o_bad(o)) return;
  const pb_onnx_conv c = {.stride = {1}, .dilation = {1}, .gap = {1}, .groups = in.shape[1]};
  pb_type type = pb__o_between(in.type, silu || pb__o_has(o, 2));
  int y = pb__o_with_bias(o, pb__o_conv(o, x, w, &c, type), 2, silu ? type : in.type);
  if (silu) {
    int worked = pb__o_worked(o, y);
    y = pb__o_cast(o, pb__o_mul(o, worked, pb__o_unary(o, "logistic", worked)), in.type);
  }
  pb__o_out(o, 0, y);
  if (pb__o_wants(o, 1)) pb__o_out(o, 1, pb__o_part(o, x, 2, length - before, length));
}

// ---- LinearAttention ----

typedef struct linear {
  int q, k, v, decay, beta; // [batch, heads, tokens, size] in f32; -1: none
  int64_t batch, q_heads, kv_heads, tokens, size, v_size;
} linear;

static int along_tokens(pb_onnx* o, const linear* h, int k, int64_t heads) {
  int x = IN(k);
  const pb_flat_type in = *pb__o_type(o, x);
  if (in.rank != 3 || in.shape[0] != h->batch || in.shape[1] != h->tokens)
    pb__o_refuse(o, "operand %d that does not fit", k);
  return pb__o_cast(o, pb__o_by_heads(o, x, heads), PB_F32);
}

static bool read_linear(pb_onnx* o, linear* h) {
  const char* rule = pb__o_text(o, "update_rule", "gated_delta");
  bool gated = !strcmp(rule, "gated") || !strcmp(rule, "gated_delta");
  bool delta = !strcmp(rule, "delta") || !strcmp(rule, "gated_delta");
  if (!gated && !delta && strcmp(rule, "linear")) pb__o_refuse(o, "an update_rule '%s'", rule);
  if (gated != pb__o_has(o, 4) || delta != pb__o_has(o, 5))
    pb__o_refuse(o, "decay or beta that '%s' does not have", rule);
  h->q_heads = pb__o_int(o, "q_num_heads", 0);
  h->kv_heads = pb__o_int(o, "kv_num_heads", 0);
  if (h->q_heads < 1 || h->kv_heads < 1 || h->q_heads % h->kv_heads) pb__o_refuse(o, "heads that do not fit");
  int q = IN(0);
  if (pb__o_type(o, q)->rank != 3) pb__o_refuse(o, "of %d dims", pb__o_type(o, q)->rank);
  if (pb__o_bad(o)) return false;
  h->batch = pb__o_type(o, q)->shape[0];
  h->tokens = pb__o_type(o, q)->shape[1];
  if (h->tokens > MOST_TURNS) pb__o_refuse(o, "more than %d tokens, each of which is written out", MOST_TURNS);
  h->q = along_tokens(o, h, 0, h->q_heads);
  h->k = along_tokens(o, h, 1, h->kv_heads);
  h->v = along_tokens(o, h, 2, h->kv_heads);
  h->decay = gated ? along_tokens(o, h, 4, h->kv_heads) : -1;
  h->beta = -1;
  if (delta) {
    int64_t last = pb__o_type(o, IN(5))->shape[2];
    if (last != 1 && last != h->kv_heads) pb__o_refuse(o, "beta that is no number a head");
    h->beta = along_tokens(o, h, 5, last);
  }
  if (pb__o_bad(o)) return false;
  h->size = pb__o_type(o, h->q)->shape[3];
  h->v_size = pb__o_type(o, h->v)->shape[3];
  if (pb__o_type(o, h->k)->shape[3] != h->size) pb__o_refuse(o, "keys of another size than queries");
  if (gated && pb__o_type(o, h->decay)->shape[3] != 1 && pb__o_type(o, h->decay)->shape[3] != h->size)
    pb__o_refuse(o, "decay that is no number a head or a key's dim");
  return !pb__o_bad(o);
}

// Of one token, with the two last dims as rows or as columns.
static int of_token(pb_onnx* o, int x, int64_t t, bool column) {
  const pb_flat_type in = *pb__o_type(o, x);
  x = pb__o_part(o, x, 2, t, t + 1);
  return column ? pb__o_reshape(o, x, 4, (const int64_t[]){in.shape[0], in.shape[1], in.shape[3], 1}) : x;
}

void pb__o_op_linear_attention(pb_onnx* o) {
  linear h;
  if (!read_linear(o, &h)) return;
  pb_type type = pb__o_type(o, IN(0))->type, state_type = type;
  const int64_t shape[4] = {h.batch, h.kv_heads, h.size, h.v_size};
  int state = -1, *rows = PB_NEW_ARRAY(&o->arena, int, (size_t)h.tokens);
  if (pb__o_has(o, 3)) {
    state = IN(3);
    state_type = pb__o_type(o, state)->type;
    bool fits = pb__o_type(o, state)->rank == 4 && !memcmp(pb__o_type(o, state)->shape, shape, sizeof shape);
    if (!fits) pb__o_refuse(o, "a state that does not fit");
    state = pb__o_cast(o, state, PB_F32);
  } else {
    state = pb__o_expand(o, pb__o_number(o, PB_F32, 0), 4, shape);
  }
  double scale = pb__o_real(o, "scale", 0);
  int by = pb__o_number(o, PB_F32, scale != 0 ? scale : 1 / sqrt((double)h.size));
  int64_t group = h.q_heads / h.kv_heads;
  for (int64_t t = 0; t < h.tokens && !pb__o_bad(o); ++t) {
    int k = of_token(o, h.k, t, true), v = of_token(o, h.v, t, false);
    if (h.decay >= 0) state = pb__o_mul(o, state, pb__o_unary(o, "exponential", of_token(o, h.decay, t, true)));
    if (h.beta >= 0) {
      int there = pb__o_matmul(o, of_token(o, h.k, t, false), state, PB_F32);
      v = pb__o_sub(o, v, there);
      v = pb__o_mul(o, of_token(o, h.beta, t, false), v);
    }
    state = pb__o_add(o, state, pb__o_mul(o, k, v));
    int q = pb__o_reshape(o, of_token(o, h.q, t, false), 4, (const int64_t[]){h.batch, h.kv_heads, group, h.size});
    int y = pb__o_mul(o, pb__o_matmul(o, q, state, PB_F32), by);
    rows[t] = pb__o_reshape(o, y, 3, (const int64_t[]){h.batch, 1, h.q_heads * h.v_size});
  }
  if (pb__o_bad(o)) return;
  pb__o_out(o, 0, pb__o_cast(o, pb__o_join(o, (int)h.tokens, rows, 1), type));
  pb__o_out(o, 1, pb__o_cast(o, state, state_type));
}

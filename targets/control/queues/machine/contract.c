// The fast path for what fills most of a machine's day: y[rows, n] += sum over k of x[rows, k] * w[k, n] on codes of 8
// bits, with a sign or without, recognised by its expression and its windows' dims. Sums of integers wrap, so their
// order is free.
#include "targets/control/queues/machine/state.h"

#include <string.h>

enum { LANES = 16, MAX_K = 512, ROWS = 4 };
typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));

typedef struct contraction {
  const machine_window *x, *w, *y;
  int k, n; // dims of the instruction
  int32_t zero_x, zero_w;
  uint8_t flip_x, flip_w; // makes a number with a sign of a code
} contraction;

// A code that the command multiplies, (code ^ flip) - zero: one without sign is 128 more than what its flipped sign bit
// makes of it.
typedef struct factor {
  int operand;
  uint8_t flip;
  int32_t zero;
} factor;

static int window_dim(const machine_window* w, int dim) {
  for (int p = 0; p < w->rank; ++p)
    if (w->operand->dims[p] == dim) return p;
  return -1;
}

// False: node `n` is no code, widened, less an immediate or nothing.
static bool read_factor(const machine_command* c, int n, factor* out) {
  const pb_insn* insn = c->command.insn;
  *out = (factor){0};
  if (n >= 0 && insn->expr[n].op == PB_OP_SUB) {
    const pb_expr_node* off = &insn->expr[insn->expr[n].args[1]];
    if (off->op == PB_OP_SEXT) off = &insn->expr[off->args[0]];
    if (off->op != PB_OP_IMM || insn->operands[off->operand].type != PB_I8) return false;
    out->zero = (int8_t)c->command.values[insn->operands[off->operand].base]; // whatever sign its field has
    n = insn->expr[n].args[0];
  }
  if (n < 0 || (insn->expr[n].op != PB_OP_SEXT && insn->expr[n].op != PB_OP_ZEXT)) return false;
  if (insn->expr[n].op == PB_OP_ZEXT) out->flip = 0x80, out->zero -= 0x80;
  const pb_expr_node* load = &insn->expr[insn->expr[n].args[0]];
  out->operand = load->operand;
  return load->op == PB_OP_LOAD && load->args[0] < 0 && insn->operands[load->operand].type == PB_I8;
}

static bool recognise(const machine_command* c, contraction* out) {
  const pb_insn* insn = c->command.insn;
  if (insn->reduce != PB_ACC_ADD || insn->operands[insn->dest].type != PB_I32) return false;
  const pb_expr_node* value = &insn->expr[insn->expr_count - 1];
  if (value->op != PB_OP_MUL) return false;
  factor a, b;
  if (!read_factor(c, value->args[0], &a) || !read_factor(c, value->args[1], &b)) return false;
  const machine_window *wa = &c->windows[a.operand], *wb = &c->windows[b.operand], *y = &c->windows[insn->dest];
  if (wa->boxed || wb->boxed) return false;
  int k = -1;
  for (int d = 0; d < insn->dim_count; ++d)
    if (window_dim(y, d) < 0) {
      if (k >= 0) return false;
      k = d;
    }
  if (k < 0 || c->extent[k] > MAX_K) return false;
  // The weights have k and one more dim; the other factor has k and none that the weights have.
  for (int iteration = 0; iteration < 2; ++iteration) {
    const machine_window *x = iteration ? wb : wa, *w = iteration ? wa : wb;
    if (w->rank != 2 || window_dim(w, k) < 0 || window_dim(x, k) < 0) continue;
    int n = w->operand->dims[1 - window_dim(w, k)];
    if (n == k || window_dim(y, n) < 0 || window_dim(x, n) >= 0 || c->extent[n] > LANES * 64) continue;
    if (y->stride[window_dim(y, n)] != 4) continue;
    const factor *fx = iteration ? &b : &a, *fw = iteration ? &a : &b;
    *out = (contraction){x, w, y, k, n, fx->zero, fw->zero, fx->flip, fw->flip};
    return true;
  }
  return false;
}

typedef struct tile {
  const uint8_t* x[ROWS];
  uint8_t* y[ROWS];
  int64_t x_stride; // of k
  uint8_t flip;     // of x
  int rows, k, n;   // n <= LANES
  lanes less;       // what x's zero point takes off every row's sums
  bool accumulates;
} tile;

static inline __attribute__((always_inline)) void multiply_rows(const tile* t, const lanes* weights) {
  lanes sum[ROWS];
  for (int r = 0; r < ROWS; ++r) {
    sum[r] = (lanes){0};
    if (r < t->rows && t->accumulates) memcpy(&sum[r], t->y[r], 4 * (size_t)t->n);
  }
  const uint8_t *x0 = t->x[0], *x1 = t->x[1], *x2 = t->x[2], *x3 = t->x[3], flip = t->flip;
  lanes s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];
  for (int64_t k = 0, at = 0; k < t->k; ++k, at += t->x_stride) {
    lanes w = weights[k];
    s0 += w * (uint32_t)(int8_t)(x0[at] ^ flip);
    s1 += w * (uint32_t)(int8_t)(x1[at] ^ flip);
    s2 += w * (uint32_t)(int8_t)(x2[at] ^ flip);
    s3 += w * (uint32_t)(int8_t)(x3[at] ^ flip);
  }
  sum[0] = s0 - t->less, sum[1] = s1 - t->less, sum[2] = s2 - t->less, sum[3] = s3 - t->less;
  for (int r = 0; r < t->rows; ++r) memcpy(t->y[r], &sum[r], 4 * (size_t)t->n);
}

// Base x86-64 has no product of words: vectors are as wide as the processor's. Asked for at run time, since resolvers
// of target_clones run before AddressSanitizer has started.
#if defined(__x86_64__)
__attribute__((target("avx2"))) static void multiply_avx2(const tile* t, const lanes* w) { multiply_rows(t, w); }
__attribute__((target("avx512f"))) static void multiply_avx512(const tile* t, const lanes* w) { multiply_rows(t, w); }
static void multiply(const tile* t, const lanes* weights) {
  if (__builtin_cpu_supports("avx512f"))
    multiply_avx512(t, weights);
  else if (__builtin_cpu_supports("avx2"))
    multiply_avx2(t, weights);
  else
    multiply_rows(t, weights);
}
#else
static void multiply(const tile* t, const lanes* weights) { multiply_rows(t, weights); }
#endif

static void load_weights(const contraction* c, const uint8_t* data, int64_t extent_k, int64_t first_n, int n,
                         lanes* out) {
  int64_t stride_k = c->w->stride[window_dim(c->w, c->k)], stride_n = c->w->stride[window_dim(c->w, c->n)];
  const uint8_t* base = data + c->w->address + first_n * stride_n;
  for (int64_t k = 0; k < extent_k; ++k) {
    uint32_t row[LANES] = {0};
    for (int m = 0; m < n; ++m)
      row[m] = (uint32_t)((int8_t)(base[k * stride_k + m * stride_n] ^ c->flip_w) - c->zero_w);
    memcpy(&out[k], row, sizeof row);
  }
}

// The dims of y but n: x and y move along them.
typedef struct rows {
  int rank;
  int64_t extent[PB_MAX_INSN_DIMS], x[PB_MAX_INSN_DIMS], y[PB_MAX_INSN_DIMS];
  int64_t at[PB_MAX_INSN_DIMS], x_now, y_now;
} rows;

static rows make_rows(const contraction* c) {
  rows r = {0};
  for (int p = c->y->rank - 1; p >= 0; --p) { // innermost first
    int dim = c->y->operand->dims[p];
    if (dim == c->n) continue;
    int in_x = window_dim(c->x, dim);
    r.extent[r.rank] = c->y->extent[p];
    r.x[r.rank] = in_x >= 0 ? c->x->stride[in_x] : 0;
    r.y[r.rank++] = c->y->stride[p];
  }
  return r;
}

static bool next(rows* r) {
  for (int p = 0; p < r->rank; ++p) {
    r->x_now += r->x[p], r->y_now += r->y[p];
    if (++r->at[p] < r->extent[p]) return true;
    r->x_now -= r->extent[p] * r->x[p], r->y_now -= r->extent[p] * r->y[p];
    r->at[p] = 0;
  }
  return false;
}

bool machine__contract(const machine_command* command) {
  contraction c;
  if (!recognise(command, &c)) return false;
  uint8_t *xs = c.x->memory->data + c.x->address, *ys = c.y->memory->data + c.y->address;
  const uint8_t* ws = c.w->memory->data;
  int64_t extent_n = command->extent[c.n];
  lanes weights[MAX_K];
  for (int64_t first = 0; first < extent_n; first += LANES) {
    tile t = {.x_stride = c.x->stride[window_dim(c.x, c.k)],
              .flip = c.flip_x,
              .k = (int)command->extent[c.k],
              .accumulates = command->accumulates};
    t.n = extent_n - first < LANES ? (int)(extent_n - first) : LANES;
    load_weights(&c, ws, t.k, first, t.n, weights);
    t.less = (lanes){0};
    for (int k = 0; k < t.k; ++k) t.less += weights[k] * (uint32_t)c.zero_x;
    rows r = make_rows(&c);
    int most = machine__apart(c.y) ? ROWS : 1; // rows that coincide must see each other's sums
    bool more = true;
    while (more) {
      for (t.rows = 0; more && t.rows < most; ++t.rows) {
        t.x[t.rows] = xs + r.x_now;
        t.y[t.rows] = ys + r.y_now + 4 * first;
        more = next(&r);
      }
      for (int k = t.rows; k < ROWS; ++k) t.x[k] = t.x[0];
      multiply(&t, weights);
    }
  }
  return true;
}

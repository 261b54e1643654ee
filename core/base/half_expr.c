#include "core/base/half_expr.h"

// ---- nodes, written short ----

static int node(const pb_expr_writer* w, pb_op op, pb_type type, int a, int b, int c) {
  return w->add(w->user, &(pb_expr_node){.op = op, .type = type, .args = {a, b, c}});
}
static int word(const pb_expr_writer* w, pb_op op, int a, int b) { return node(w, op, PB_I32, a, b, -1); }
static int constant(const pb_expr_writer* w, int64_t number) {
  return w->add(
      w->user,
      &(pb_expr_node){
          .op = PB_OP_CONST, .type = PB_I32, .args = {-1, -1, -1}, .value = (double)number, .integer = number});
}
static int number(const pb_expr_writer* w, double value) {
  return w->add(w->user, &(pb_expr_node){.op = PB_OP_CONST, .type = PB_F32, .args = {-1, -1, -1}, .value = value});
}
static int bits(const pb_expr_writer* w, int v) { return word(w, PB_OP_BITCAST, v, -1); }
static int as_number(const pb_expr_writer* w, int v) { return node(w, PB_OP_BITCAST, PB_F32, v, -1, -1); }
static int compare(const pb_expr_writer* w, pb_op op, int a, int b) { return node(w, op, PB_I1, a, b, -1); }
static int choose(const pb_expr_writer* w, int condition, int yes, int no) {
  return node(w, PB_OP_SELECT, PB_I32, condition, yes, no);
}

// ---- widening ----

static int from_bf16(const pb_expr_writer* w, int code) {
  int wide = word(w, PB_OP_ZEXT, code, -1), width = constant(w, 16);
  return as_number(w, word(w, PB_OP_SHL, wide, width));
}

// The exponent's bias changes by a product, which subnormal numbers take too; infinities and NaN get all its bits.
static int from_f16(const pb_expr_writer* w, int wide) {
  int all_but_sign = constant(w, 0x7fff);
  int magnitude = word(w, PB_OP_AND, wide, all_but_sign), places = constant(w, 13);
  int moved = word(w, PB_OP_SHL, magnitude, places), scale = number(w, 0x1p112);
  int scaled = node(w, PB_OP_MUL, PB_F32, as_number(w, moved), scale, -1), exponent = constant(w, 0x7f800000);
  int odd = word(w, PB_OP_OR, moved, exponent), largest = constant(w, 0x7c00);
  int is_odd = compare(w, PB_OP_LESS_EQUAL, largest, magnitude), width = constant(w, 16);
  int sign_bit = constant(w, 0x8000), sign = word(w, PB_OP_AND, wide, sign_bit);
  sign = word(w, PB_OP_SHL, sign, width);
  int all = choose(w, is_odd, odd, bits(w, scaled));
  return as_number(w, word(w, PB_OP_OR, all, sign));
}

// The same without infinities: the largest code alone is NaN.
static int from_e4m3(const pb_expr_writer* w, int wide) {
  int all_but_sign = constant(w, 0x7f), magnitude = word(w, PB_OP_AND, wide, all_but_sign), places = constant(w, 20);
  int moved = word(w, PB_OP_SHL, magnitude, places), scale = number(w, 0x1p120);
  int scaled = node(w, PB_OP_MUL, PB_F32, as_number(w, moved), scale, -1), nan = constant(w, 0x7fc00000);
  int is_nan = compare(w, PB_OP_EQUAL, magnitude, all_but_sign), sign_bit = constant(w, 0x80);
  int width = constant(w, 24), sign = word(w, PB_OP_SHL, word(w, PB_OP_AND, wide, sign_bit), width);
  int all = choose(w, is_nan, nan, bits(w, scaled));
  return as_number(w, word(w, PB_OP_OR, all, sign));
}

int pb_half_widened(const pb_expr_writer* w, pb_type type, int code) {
  if (type == PB_BF16) return from_bf16(w, code);
  int wide = word(w, PB_OP_ZEXT, code, -1);
  if (type == PB_E4M3) return from_e4m3(w, wide);
  return from_f16(w, type == PB_E5M2 ? word(w, PB_OP_SHL, wide, constant(w, 8)) : wide); // the upper half of one
}

// ---- rounding ----

// To nearest, ties to even, by adding just below half of the last bit that stays, and that bit.
static int halves_up(const pb_expr_writer* w, int v, int shift) {
  int one = constant(w, 1), places = constant(w, shift);
  int last = word(w, PB_OP_AND, word(w, PB_OP_SHRU, v, places), one), below_half = constant(w, (1 << (shift - 1)) - 1);
  int sum = word(w, PB_OP_ADD, word(w, PB_OP_ADD, v, below_half), last), again = constant(w, shift);
  return word(w, PB_OP_SHRU, sum, again);
}

static int to_bf16(const pb_expr_writer* w, int v) {
  int all = bits(w, v), is_number = compare(w, PB_OP_EQUAL, v, v), quiet = constant(w, 0x40);
  int width = constant(w, 16), nan = word(w, PB_OP_OR, word(w, PB_OP_SHRU, all, width), quiet);
  return node(w, PB_OP_TRUNC, PB_I16, choose(w, is_number, halves_up(w, all, 16), nan), -1, -1);
}

// What tells the rounding to one of these types: how many bits of an f32's fraction go and how far its sign moves, by
// how much the exponent's bias differs (in place), a number whose last place is that of subnormal results, the least
// normal one and where all are past the largest, as bits of an f32, and the codes of infinity and NaN.
typedef struct format {
  pb_type stored;
  int places, width;
  int32_t bias;
  double subnormal;
  int32_t subnormal_bits, least_normal, past_all, infinity, nan;
} format;

static const format of_f16 = {PB_I16, 13, 16, 112 << 23, 0.5, 0x3f000000, 0x38800000, 0x47800000, 0x7c00, 0x7e00};
static const format of_e5m2 = {PB_I8, 21, 24, 112 << 23, 0x1p7, 0x43000000, 0x38800000, 0x47800000, 0x7c, 0x7e};
static const format of_e4m3 = {PB_I8, 20, 24, 120 << 23, 0x1p14, 0x46800000, 0x3c800000, 0x43f00000, 0x7f, 0x7f};

// Subnormal results are rounded by the addition of that number.
static int to_format(const pb_expr_writer* w, const format* f, int v) {
  int all = bits(w, v), all_but_sign = constant(w, INT32_MAX), magnitude = word(w, PB_OP_AND, all, all_but_sign);
  int width = constant(w, f->width), sign_bit = constant(w, INT32_MIN);
  int sign = word(w, PB_OP_SHRU, word(w, PB_OP_AND, all, sign_bit), width), half = number(w, f->subnormal);
  int shifted = node(w, PB_OP_ADD, PB_F32, as_number(w, magnitude), half, -1);
  int half_bits = constant(w, f->subnormal_bits);
  int small = word(w, PB_OP_SUB, bits(w, shifted), half_bits), bias = constant(w, f->bias);
  int normal = halves_up(w, word(w, PB_OP_SUB, magnitude, bias), f->places), is_number = compare(w, PB_OP_EQUAL, v, v);
  int nan = constant(w, f->nan), infinity = constant(w, f->infinity), large = choose(w, is_number, infinity, nan);
  int least_normal = constant(w, f->least_normal), is_small = compare(w, PB_OP_LESS, magnitude, least_normal);
  int past_all = constant(w, f->past_all), is_large = compare(w, PB_OP_LESS_EQUAL, past_all, magnitude);
  int result = choose(w, is_large, large, choose(w, is_small, small, normal));
  return node(w, PB_OP_TRUNC, f->stored, word(w, PB_OP_OR, result, sign), -1, -1);
}

int pb_half_rounded(const pb_expr_writer* w, pb_type type, int v) {
  if (type == PB_BF16) return to_bf16(w, v);
  return to_format(w, type == PB_F16 ? &of_f16 : type == PB_E5M2 ? &of_e5m2 : &of_e4m3, v);
}

// ---- recognition ----

enum { MOST_NODES = 64 };

typedef struct pattern {
  pb_expr_node nodes[MOST_NODES];
  int count;
} pattern;

static int add(void* user, const pb_expr_node* node) {
  pattern* p = user;
  p->nodes[p->count] = *node;
  return p->count++;
}

// Whether the node is the pattern's node `at`, of which 0 is the load. *load: which one that is, -1: not met yet.
static bool matches(const pattern* p, int at, const pb_expr_node* expr, int node, int* load) {
  const pb_expr_node *wanted = &p->nodes[at], *found = &expr[node];
  if (wanted->op != found->op || wanted->type != found->type) return false;
  if (wanted->op == PB_OP_LOAD) {
    bool same = *load < 0 || *load == node;
    *load = node;
    return same;
  }
  if (wanted->op == PB_OP_CONST) return wanted->value == found->value;
  for (int a = 0; a < 3 && wanted->args[a] >= 0; ++a)
    if (found->args[a] < 0 || !matches(p, wanted->args[a], expr, found->args[a], load)) return false;
  return true;
}

static int load_of(const pb_expr_node* expr, int node, pb_type type, bool rounds) {
  if (node < 0 || expr[node].op != (rounds ? PB_OP_TRUNC : PB_OP_BITCAST)) return -1;
  pattern p = {.count = 0};
  const pb_expr_writer w = {add, &p};
  pb_type from = rounds ? PB_F32 : pb_type_stored(type);
  int load = -1, begin = add(&p, &(pb_expr_node){.op = PB_OP_LOAD, .type = from, .args = {-1, -1, -1}});
  int root = rounds ? pb_half_rounded(&w, type, begin) : pb_half_widened(&w, type, begin);
  return matches(&p, root, expr, node, &load) ? load : -1;
}

int pb_half_widens(const pb_expr_node* expr, int node, pb_type type) { return load_of(expr, node, type, false); }
int pb_half_rounds(const pb_expr_node* expr, int node, pb_type type) { return load_of(expr, node, type, true); }

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
static int from_f16(const pb_expr_writer* w, int code) {
  int wide = word(w, PB_OP_ZEXT, code, -1), all_but_sign = constant(w, 0x7fff);
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

int pb_half_widened(const pb_expr_writer* w, pb_type type, int code) {
  return type == PB_BF16 ? from_bf16(w, code) : from_f16(w, code);
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

// Subnormal results are rounded by the addition of a number whose last place is theirs.
static int to_f16(const pb_expr_writer* w, int v) {
  int all = bits(w, v), all_but_sign = constant(w, INT32_MAX), magnitude = word(w, PB_OP_AND, all, all_but_sign);
  int width = constant(w, 16), sign_bit = constant(w, INT32_MIN);
  int sign = word(w, PB_OP_SHRU, word(w, PB_OP_AND, all, sign_bit), width), half = number(w, 0.5);
  int shifted = node(w, PB_OP_ADD, PB_F32, as_number(w, magnitude), half, -1), half_bits = constant(w, 0x3f000000);
  int small = word(w, PB_OP_SUB, bits(w, shifted), half_bits), bias = constant(w, 112 << 23);
  int normal = halves_up(w, word(w, PB_OP_SUB, magnitude, bias), 13), is_number = compare(w, PB_OP_EQUAL, v, v);
  int nan = constant(w, 0x7e00), infinity = constant(w, 0x7c00), large = choose(w, is_number, infinity, nan);
  int least_normal = constant(w, 0x38800000), is_small = compare(w, PB_OP_LESS, magnitude, least_normal);
  int past_all = constant(w, 0x47800000), is_large = compare(w, PB_OP_LESS_EQUAL, past_all, magnitude);
  int result = choose(w, is_large, large, choose(w, is_small, small, normal));
  return node(w, PB_OP_TRUNC, PB_I16, word(w, PB_OP_OR, result, sign), -1, -1);
}

int pb_half_rounded(const pb_expr_writer* w, pb_type type, int v) {
  return type == PB_BF16 ? to_bf16(w, v) : to_f16(w, v);
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
  pb_type from = rounds ? PB_F32 : PB_I16;
  int load = -1, begin = add(&p, &(pb_expr_node){.op = PB_OP_LOAD, .type = from, .args = {-1, -1, -1}});
  int root = rounds ? pb_half_rounded(&w, type, begin) : pb_half_widened(&w, type, begin);
  return matches(&p, root, expr, node, &load) ? load : -1;
}

int pb_half_widens(const pb_expr_node* expr, int node, pb_type type) { return load_of(expr, node, type, false); }
int pb_half_rounds(const pb_expr_node* expr, int node, pb_type type) { return load_of(expr, node, type, true); }

// Inside `unsigned`: a body whose codes lose their sign. A code is what lies there less 128, or with its sign bit
// flipped; numbers move through the operations until they meet one that the model has there, as a zero point.
#include "core/s3/legalise/legalise.h"

#include <math.h>
#include <string.h>

enum { HALF = 128 };

static const pb_expr_node* arg(const pb_nest* n, int k, int a) { return &n->expr[n->expr[k].args[a]]; }

static bool is_number(const pb_nest* n, int k) { return k >= 0 && n->expr[k].op == PB_OP_CONST; }

static bool is_flip(const pb_nest* n, int k) {
  const pb_expr_node* e = &n->expr[k];
  return e->op == PB_OP_XOR && e->type == PB_I8 && is_number(n, e->args[1]) && arg(n, k, 1)->integer == -HALF;
}

static int number(pb_nest* n, pb_type type, double value) {
  return pb_type_is_float(type) ? pb_nest_const(n, type, value) : pb_nest_integer(n, type, (int64_t)value);
}

// A clamped and rounded f32 by 128 more, to the bit: what lies so far off that adding rounds is clamped. -1: it is not.
static int shifted(pb_nest* n, int k) {
  pb_expr_node e = n->expr[k];
  bool by_number = is_number(n, e.args[1]);
  double value = by_number ? arg(n, k, 1)->value + HALF : 0;
  if ((e.op == PB_OP_MIN || e.op == PB_OP_MAX) && by_number) {
    int inner = shifted(n, e.args[0]);
    return inner < 0 ? -1 : pb_nest_node(n, e.op, e.type, inner, number(n, e.type, value));
  }
  if (e.op == PB_OP_ADD && by_number && arg(n, k, 0)->op == PB_OP_ROUNDEVEN)
    return value == 0 ? e.args[0] : pb_nest_node(n, PB_OP_ADD, e.type, e.args[0], number(n, e.type, value));
  if (e.op == PB_OP_ROUNDEVEN) return pb_nest_node(n, PB_OP_ADD, e.type, k, number(n, e.type, HALF));
  return -1;
}

int pb__unsigned_flipped(pb_nest* n, int code) {
  pb_expr_node e = n->expr[code];
  if (is_flip(n, code)) return e.args[0];
  if (e.op == PB_OP_CONST) return pb_nest_integer(n, PB_I8, (int8_t)(e.integer ^ HALF));
  int clamped = e.op == PB_OP_FPTOSI8 ? shifted(n, e.args[0]) : -1;
  if (clamped >= 0) return pb_nest_node(n, PB_OP_FPTOUI, PB_I8, clamped, -1);
  return pb_nest_node(n, PB_OP_XOR, PB_I8, code, pb_nest_integer(n, PB_I8, -HALF));
}

// Whether adding small whole numbers to the node never rounds: integers wrap, and a code is small.
static bool is_exact(const pb_nest* n, int k) {
  if (!pb_type_is_float(n->expr[k].type)) return true;
  return n->expr[k].op == PB_OP_SITOFP && arg(n, k, 0)->op == PB_OP_ZEXT &&
         n->expr[arg(n, k, 0)->args[0]].type == PB_I8;
}

static int less(pb_nest* n, int k, double value) {
  pb_type type = n->expr[k].type;
  return value == 0 ? k : pb_nest_node(n, PB_OP_SUB, type, k, number(n, type, value));
}

// A widened code, or one as a float: without sign, and 128 off. -1: it is no code whose bit is flipped.
static int converted(pb_nest* n, const pb_expr_node* like, int code) {
  bool widens = like->op == PB_OP_SEXT && (like->type == PB_I32 || like->type == PB_I64);
  if ((!widens && like->op != PB_OP_SITOFP) || !is_flip(n, code)) return -1;
  int wide = pb_nest_node(n, PB_OP_ZEXT, widens ? like->type : PB_I32, n->expr[code].args[0], -1);
  return less(n, widens ? wide : pb_nest_node(n, PB_OP_SITOFP, like->type, wide, -1), HALF);
}

// Numbers that are added one after the other are one. -1: they are not.
static int added(pb_nest* n, const pb_expr_node* like, int a, int b) {
  const double most = 1 << 20;
  if ((like->op != PB_OP_ADD && like->op != PB_OP_SUB) || !is_number(n, b)) return -1;
  pb_expr_node first = n->expr[a], second = n->expr[b];
  if (first.op != PB_OP_SUB || !is_number(n, first.args[1]) || !is_exact(n, first.args[0])) return -1;
  double value = arg(n, a, 1)->value, more = second.value;
  if (fabs(more) > most || fabs(value) > most || more != floor(more)) return -1;
  return less(n, first.args[0], like->op == PB_OP_SUB ? value + more : value - more);
}

static bool is_code_without_sign(const pb_nest* n, int k) {
  return k >= 0 && n->expr[k].type == PB_I8 && (is_flip(n, k) || is_number(n, k));
}

int pb__unsigned_node(pb_nest* n, const pb_expr_node* like, const int* args) {
  int found = args[0] >= 0 ? converted(n, like, args[0]) : -1;
  if (found < 0 && args[0] >= 0 && args[1] >= 0) found = added(n, like, args[0], args[1]);
  if (found >= 0) return found;
  bool most = like->op == PB_OP_MAX, least = like->op == PB_OP_MIN;
  if ((most || least) && is_code_without_sign(n, args[0]) && is_code_without_sign(n, args[1])) {
    int a = pb__unsigned_flipped(n, args[0]), b = pb__unsigned_flipped(n, args[1]);
    return pb__unsigned_flipped(n, pb_nest_node(n, most ? PB_OP_MAXU : PB_OP_MINU, PB_I8, a, b));
  }
  if (like->op == PB_OP_XOR && like->type == PB_I8 && is_number(n, args[1]) && n->expr[args[1]].integer == -HALF)
    return pb__unsigned_flipped(n, args[0]);
  int k = pb_nest_node(n, like->op, like->type, -1, -1);
  n->expr[k] = *like;
  memcpy(n->expr[k].args, args, sizeof n->expr[k].args);
  return k;
}

// The node less a number, of codes without sign: the number; 0: it is something else.
static int64_t taken_off(const pb_nest* n, int k) {
  const pb_expr_node* e = &n->expr[k];
  if (e->op != PB_OP_SUB || e->type != PB_I32 || !is_number(n, e->args[1])) return 0;
  return arg(n, k, 0)->op == PB_OP_ZEXT ? arg(n, k, 1)->integer : 0;
}

static int widened_load(const pb_nest* n, int k) {
  const pb_expr_node* e = &n->expr[k];
  if ((e->op != PB_OP_SEXT && e->op != PB_OP_ZEXT) || arg(n, k, 0)->op != PB_OP_LOAD) return -1;
  return arg(n, k, 0)->args[0] < 0 ? e->args[0] : -1;
}

int64_t pb__unsigned_split(pb_nest* n, int* by) {
  int last = n->expr_count - 1;
  int64_t less = taken_off(n, last);
  *by = -1;
  if (less) {
    pb_nest_end(n, n->expr[last].args[0]);
    return less;
  }
  for (int side = 0; side < 2 && n->expr[last].op == PB_OP_MUL; ++side) {
    int code = n->expr[last].args[side], load = widened_load(n, n->expr[last].args[1 - side]);
    less = taken_off(n, code);
    if (!less || load < 0) continue;
    *by = n->expr[load].operand;
    n->expr[last].args[side] = n->expr[code].args[0];
    pb_nest_end(n, last);
    return less;
  }
  return 0;
}

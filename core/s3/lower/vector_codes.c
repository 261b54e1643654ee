// Numbers rounded to codes, in fewer operations than a nest says. It rounds, adds the zero point, clamps, and converts:
//
//   code = fptosi8(min(max(roundeven(v) + z, lo), hi))
//
// z, lo and hi are whole numbers, so that clamping in front of the rounding gives the same bits, as rounding keeps the
// order and leaves whole numbers as they are; a processor then rounds and converts at once, and adds z as an integer:
//
//   code = trunc8(int(roundeven(min(max(v, lo - z), hi - z))) + z)
//
// The sum is a code without being cut, and what reads the code again as a number takes that. A code that is stored
// wider (legalise/widen.c) is the same with trunc16(fptosi32(...)) for fptosi8(...).
#include "core/s3/lower/vector_tile.h"

#include <math.h>

enum { NONE = -1, MOST_ZERO = 1 << 16 };

// The constant among the node's two arguments, whole and not large; the other one in *rest.
static int whole_constant(const pb_expr_node* expr, const pb_expr_node* node, int* rest) {
  for (int k = 0; k < 2; ++k) {
    const pb_expr_node* number = &expr[node->args[k]];
    if (number->op != PB_OP_CONST || fabs(number->value) > MOST_ZERO || number->value != trunc(number->value)) continue;
    *rest = node->args[1 - k];
    return node->args[k];
  }
  return NONE;
}

// A zero point: a small whole constant, or a code that the program holds as a number of its own.
static int zero_point(const pb_expr_node* expr, const pb_expr_node* sum, int* rest) {
  for (int k = 0; k < 2; ++k) {
    const pb_expr_node* number = &expr[sum->args[k]];
    if (number->op != PB_OP_SITOFP) continue;
    const pb_expr_node* from = &expr[number->args[0]];
    if (from->op != PB_OP_LOAD || from->type != PB_I8) continue;
    *rest = sum->args[1 - k];
    return sum->args[k];
  }
  return whole_constant(expr, sum, rest);
}

// The number that the node makes a code of, of 8 bits or stored as 16; NONE: it makes none.
static int converted(const pb_expr_node* expr, const pb_expr_node* node) {
  if (node->op == PB_OP_FPTOSI8) return node->args[0];
  if (node->op != PB_OP_TRUNC || node->type != PB_I16) return NONE;
  const pb_expr_node* whole = &expr[node->args[0]];
  return whole->op == PB_OP_FPTOSI && whole->type == PB_I32 ? whole->args[0] : NONE;
}

// Whether the bounds are of the type: then the sum is a code without being cut.
static bool bounds_fit(const pb_expr_node* expr, const pb_vcode* code) {
  double beyond = ldexp(1, pb_type_bits(code->type) - 1);
  return expr[code->lo].value >= -beyond && expr[code->hi].value < beyond;
}

bool pb__vtile_is_code(const pb_expr_node* expr, int e, pb_vcode* code) {
  int at = converted(expr, &expr[e]);
  if (at < 0) return false;
  *code = (pb_vcode){.zero = NONE, .type = expr[e].type};
  if (expr[at].op != PB_OP_MIN || (code->hi = whole_constant(expr, &expr[at], &at)) < 0) return false;
  if (expr[at].op != PB_OP_MAX || (code->lo = whole_constant(expr, &expr[at], &at)) < 0) return false;
  if (!bounds_fit(expr, code)) return false;
  if (expr[at].op == PB_OP_ADD && (code->zero = zero_point(expr, &expr[at], &at)) < 0) return false;
  if (expr[at].op != PB_OP_ROUNDEVEN || expr[at].type != PB_F32) return false;
  code->value = expr[at].args[0];
  return true;
}

// What is left to compute once codes are made so. needed[]: by node.
void pb__vtile_needed(const pb_expr_node* expr, int count, bool* needed) {
  pb_vcode code;
  for (int e = 0; e < count; ++e) needed[e] = e == count - 1;
  for (int e = count - 1; e >= 0; --e) {
    if (!needed[e]) continue;
    if (pb__vtile_is_code(expr, e, &code)) {
      needed[code.value] = true;
      if (code.zero >= 0) needed[code.zero] = true;
      continue; // bounds are constants, made at the head
    }
    for (int k = 0; k < 3 && expr[e].args[k] >= 0; ++k) needed[expr[e].args[k]] = true;
  }
}

// One operation on registers of a type; another type `to`: a conversion.
static const char* operation(pb_vtile* t, const char* name, const char* a, const char* b, pb_type type, pb_type to,
                             int indent) {
  pb_lowered* out = t->e->out;
  int lanes = t->e->k->lanes;
  return pb_lowered_line(out, indent, "%s %s%s%s : %s%s%s", name, a, b ? ", " : "", b ? b : "",
                         pb_lowered_type(out, type, lanes), to != type ? " to " : "",
                         to != type ? pb_lowered_type(out, to, lanes) : "");
}

// A bound less the zero point.
static const char* bound(pb_vtile* t, const pb_expr_node* expr, int zero, int which, const char* const* names,
                         int indent) {
  pb_expr_node number = expr[which];
  bool known = zero >= 0 && expr[zero].op == PB_OP_CONST;
  if (known) number.value -= expr[zero].value;
  const char* result = pb_lowered_constant(t->e->out, &number, t->e->k->lanes);
  return zero < 0 || known ? result : operation(t, "arith.subf", result, names[zero], PB_F32, PB_F32, indent);
}

// The zero point as an integer.
static const char* zero_of(pb_vtile* t, const pb_expr_node* zero, const char* const* names, int indent) {
  if (zero->op == PB_OP_CONST) return pb_lowered_integer(t->e->out, PB_I32, (int64_t)zero->value, t->e->k->lanes);
  return operation(t, "arith.extsi", names[zero->args[0]], NULL, PB_I8, PB_I32, indent);
}

const char* pb__vtile_pick(pb_vtile* t, const char* order, const char* number, const char* bound, pb_type type,
                           int indent) {
  pb_lowered* out = t->e->out;
  const char *row = pb_lowered_type(out, type, t->e->k->lanes), *truth = pb_lowered_type(out, PB_I1, t->e->k->lanes);
  const char* inside = pb_lowered_line(out, indent, "arith.cmpf %s, %s, %s : %s", order, number, bound, row);
  return pb_lowered_line(out, indent, "arith.select %s, %s, %s : %s, %s", inside, number, bound, truth, row);
}

const char* pb__vtile_code(pb_vtile* t, const pb_expr_node* expr, const pb_vcode* code, const char* const* names,
                           int indent) {
  const char* lo = bound(t, expr, code->zero, code->lo, names, indent);
  const char* hi = bound(t, expr, code->zero, code->hi, names, indent);
  const char* n = pb__vtile_pick(t, "ogt", names[code->value], lo, PB_F32, indent);
  n = pb__vtile_pick(t, "olt", n, hi, PB_F32, indent);
  n = operation(t, "math.roundeven", n, NULL, PB_F32, PB_F32, indent);
  n = operation(t, "arith.fptosi", n, NULL, PB_F32, PB_I32, indent);
  if (code->zero >= 0) {
    const char* zero = zero_of(t, &expr[code->zero], names, indent);
    n = operation(t, "arith.addi", n, zero, PB_I32, PB_I32, indent);
  }
  t->wide = n;
  t->code = operation(t, "arith.trunci", n, NULL, PB_I32, code->type, indent);
  return t->code;
}

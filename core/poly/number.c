// Operations of nests' bodies on single numbers: the table of pb_op, each as core/base/expr.h has it.
#include "core/poly/evaluate.h"

#include <math.h>
#include <string.h>

bool pb_number_is_of(pb_type type) {
  return type == PB_I1 || type == PB_I8 || type == PB_I16 || type == PB_I32 || type == PB_I64 || type == PB_INDEX ||
         type == PB_F32 || type == PB_F64;
}

// The low bits of an integer, as a number with the type's sign.
static int64_t kept(pb_type type, uint64_t bits) {
  int width = pb_type_bits(type);
  if (width == 1) return (int64_t)(bits & 1);
  int64_t number = (int64_t)(bits << (64 - width));
  return number >> (64 - width);
}

static uint64_t without_sign(pb_type type, int64_t number) {
  int width = pb_type_bits(type);
  return width == 64 ? (uint64_t)number : (uint64_t)number & (((uint64_t)1 << width) - 1);
}

pb_number pb_number_read(pb_type type, const void* at) {
  pb_number number = {0};
  if (type == PB_F32)
    memcpy(&number.f, at, sizeof number.f);
  else if (type == PB_F64)
    memcpy(&number.d, at, sizeof number.d);
  else {
    uint64_t bits = 0; // little-endian
    memcpy(&bits, at, pb_number_bytes(type));
    number.i = kept(type, bits);
  }
  return number;
}

void pb_number_write(pb_type type, pb_number number, void* at) {
  if (type == PB_F32)
    memcpy(at, &number.f, sizeof number.f);
  else if (type == PB_F64)
    memcpy(at, &number.d, sizeof number.d);
  else
    memcpy(at, &number.i, pb_number_bytes(type));
}

// ---- integers ----

static bool divided(pb_op op, pb_type type, int64_t a, int64_t b, int64_t* made) {
  if (!b || (b == -1 && a == kept(type, (uint64_t)1 << (pb_type_bits(type) - 1)))) return false;
  uint64_t ua = without_sign(type, a), ub = without_sign(type, b);
  *made = op == PB_OP_DIV    ? a / b
          : op == PB_OP_REM  ? a % b
          : op == PB_OP_DIVU ? kept(type, ua / ub)
                             : kept(type, ua % ub);
  return true;
}

static bool shifted(pb_op op, pb_type type, int64_t a, int64_t by, int64_t* made) {
  if (by < 0 || by >= pb_type_bits(type)) return false;
  *made = op == PB_OP_SHL   ? kept(type, (uint64_t)a << by)
          : op == PB_OP_SHR ? a >> by
                            : kept(type, without_sign(type, a) >> by);
  return true;
}

static int64_t leading_zeros(pb_type type, int64_t a) {
  uint64_t bits = without_sign(type, a);
  int64_t count = pb_type_bits(type);
  for (; bits; bits >>= 1) --count;
  return count;
}

static int64_t set_bits(pb_type type, int64_t a) {
  int64_t count = 0;
  for (uint64_t bits = without_sign(type, a); bits; bits &= bits - 1) ++count;
  return count;
}

static bool of_integers(pb_op op, pb_type type, const pb_number* v, int64_t* made) {
  int64_t a = v[0].i, b = v[1].i;
  uint64_t ua = without_sign(type, a), ub = without_sign(type, b);
  switch (op) {
  case PB_OP_ADD:
    return *made = kept(type, ua + ub), true;
  case PB_OP_SUB:
    return *made = kept(type, ua - ub), true;
  case PB_OP_MUL:
    return *made = kept(type, ua * ub), true;
  case PB_OP_DIV:
  case PB_OP_DIVU:
  case PB_OP_REM:
  case PB_OP_REMU:
    return divided(op, type, a, b, made);
  case PB_OP_SHL:
  case PB_OP_SHR:
  case PB_OP_SHRU:
    return shifted(op, type, a, b, made);
  case PB_OP_MAX:
  case PB_OP_MAXIMUM:
    return *made = a > b ? a : b, true;
  case PB_OP_MIN:
  case PB_OP_MINIMUM:
    return *made = a < b ? a : b, true;
  case PB_OP_MAXU:
    return *made = ua > ub ? a : b, true;
  case PB_OP_MINU:
    return *made = ua < ub ? a : b, true;
  case PB_OP_XOR:
    return *made = a ^ b, true;
  case PB_OP_AND:
    return *made = a & b, true;
  case PB_OP_OR:
    return *made = a | b, true;
  case PB_OP_NEG:
    return *made = kept(type, 0 - ua), true;
  case PB_OP_ABS:
    return *made = kept(type, a < 0 ? 0 - ua : ua), true;
  case PB_OP_POPCOUNT:
    return *made = set_bits(type, a), true;
  case PB_OP_CLZ:
    return *made = leading_zeros(type, a), true;
  default:
    return false;
  }
}

// ---- floats ----

static bool less(double a, double b) { return a < b || (a == b && signbit(a) > signbit(b)); }

static double greater_of(double a, double b, bool nan_wins) {
  if (isnan(a) || isnan(b)) return nan_wins ? NAN : isnan(a) ? b : a;
  return less(a, b) ? b : a;
}

static double smaller_of(double a, double b, bool nan_wins) {
  if (isnan(a) || isnan(b)) return nan_wins ? NAN : isnan(a) ? b : a;
  return less(b, a) ? b : a;
}

// What double has exactly, or rounded once more by who asks: of f32 the sum, difference, product, quotient and root of
// two numbers come out as if rounded once (Figueroa, "When is double rounding innocuous?", 1995).
static bool of_doubles(pb_op op, double a, double b, double* made) {
  switch (op) {
  case PB_OP_ADD:
    return *made = a + b, true;
  case PB_OP_SUB:
    return *made = a - b, true;
  case PB_OP_MUL:
    return *made = a * b, true;
  case PB_OP_DIV:
    return *made = a / b, true;
  case PB_OP_MAX:
  case PB_OP_MAXIMUM:
    return *made = greater_of(a, b, op == PB_OP_MAXIMUM), true;
  case PB_OP_MIN:
  case PB_OP_MINIMUM:
    return *made = smaller_of(a, b, op == PB_OP_MINIMUM), true;
  case PB_OP_ROUNDEVEN:
    return *made = nearbyint(a), true;
  case PB_OP_FLOOR:
    return *made = floor(a), true;
  case PB_OP_CEIL:
    return *made = ceil(a), true;
  case PB_OP_WHOLE:
    return *made = trunc(a), true;
  case PB_OP_NEG:
    return *made = -a, true;
  case PB_OP_ABS:
    return *made = fabs(a), true;
  case PB_OP_SQRT:
    return *made = sqrt(a), true;
  case PB_OP_EXP2:
    return *made = exp2(a), true;
  case PB_OP_RECIP:
    return *made = 1 / a, true;
  case PB_OP_RSQRT:
    return *made = 1 / sqrt(a), true;
  case PB_OP_EXP:
    return *made = exp(a), true;
  case PB_OP_EXPM1:
    return *made = expm1(a), true;
  case PB_OP_LOG:
    return *made = log(a), true;
  case PB_OP_LOG2:
    return *made = log2(a), true;
  case PB_OP_LOG1P:
    return *made = log1p(a), true;
  case PB_OP_TANH:
    return *made = tanh(a), true;
  case PB_OP_ERF:
    return *made = erf(a), true;
  case PB_OP_SIN:
    return *made = sin(a), true;
  case PB_OP_COS:
    return *made = cos(a), true;
  case PB_OP_TAN:
    return *made = tan(a), true;
  case PB_OP_ATAN:
    return *made = atan(a), true;
  case PB_OP_ATAN2:
    return *made = atan2(a, b), true;
  case PB_OP_CBRT:
    return *made = cbrt(a), true;
  case PB_OP_POW:
    return *made = pow(a, b), true;
  default:
    return false;
  }
}

static double as_double(pb_type type, pb_number v) { return type == PB_F32 ? (double)v.f : v.d; }

static pb_number rounded(pb_type type, double number) {
  return type == PB_F32 ? (pb_number){.f = (float)number} : (pb_number){.d = number};
}

static bool of_floats(const pb_expr_node* node, const pb_number* v, pb_number* made) {
  double number;
  if (node->op == PB_OP_FMA) {
    *made = node->type == PB_F32 ? (pb_number){.f = fmaf(v[0].f, v[1].f, v[2].f)}
                                 : (pb_number){.d = fma(v[0].d, v[1].d, v[2].d)};
    return true;
  }
  double b = node->args[1] >= 0 ? as_double(node->type, v[1]) : 0;
  if (!of_doubles(node->op, as_double(node->type, v[0]), b, &number)) return false;
  *made = rounded(node->type, number);
  return true;
}

// ---- between types ----

static bool compared(pb_op op, pb_type type, const pb_number* v, int64_t* made) {
  if (pb_type_is_float(type)) {
    double a = as_double(type, v[0]), b = as_double(type, v[1]);
    *made = op == PB_OP_EQUAL ? a == b : op == PB_OP_LESS ? a < b : a <= b;
    return op == PB_OP_EQUAL || op == PB_OP_LESS || op == PB_OP_LESS_EQUAL;
  }
  int64_t a = v[0].i, b = v[1].i;
  uint64_t ua = without_sign(type, a), ub = without_sign(type, b);
  *made = op == PB_OP_EQUAL        ? a == b
          : op == PB_OP_LESS       ? a < b
          : op == PB_OP_LESS_EQUAL ? a <= b
          : op == PB_OP_LESSU      ? ua < ub
                                   : ua <= ub;
  return true;
}

// Towards 0, where the integer's type has the number.
static bool to_integer(const pb_expr_node* node, double number, int64_t* made) {
  double whole = trunc(number);
  bool has_sign = node->op != PB_OP_FPTOUI;
  int bits = node->op == PB_OP_FPTOSI8 ? 8 : pb_type_bits(node->type);
  double most = ldexp(1, has_sign ? bits - 1 : bits);
  if (!(whole >= (has_sign ? -most : 0) && whole < most)) return false;
  *made = has_sign ? (int64_t)whole : kept(node->type, (uint64_t)whole);
  return true;
}

static bool converted(const pb_expr_node* node, pb_type from, pb_number v, pb_number* made) {
  uint64_t bits = 0;
  switch (node->op) {
  case PB_OP_SEXT:
  case PB_OP_TRUNC:
    return made->i = kept(node->type, (uint64_t)(from == PB_I1 && node->op == PB_OP_SEXT ? -v.i : v.i)), true;
  case PB_OP_ZEXT:
    return made->i = kept(node->type, without_sign(from, v.i)), true;
  case PB_OP_BITCAST:
    pb_number_write(from, v, &bits);
    return *made = pb_number_read(node->type, &bits), pb_type_bits(from) == pb_type_bits(node->type);
  case PB_OP_SITOFP: // f32: rounded once, from the integer
    *made = node->type == PB_F32 ? (pb_number){.f = (float)v.i} : (pb_number){.d = (double)v.i};
    return true;
  case PB_OP_UITOFP:
    bits = without_sign(from, v.i);
    *made = node->type == PB_F32 ? (pb_number){.f = (float)bits} : (pb_number){.d = (double)bits};
    return true;
  case PB_OP_FPTOSI8:
  case PB_OP_FPTOSI:
  case PB_OP_FPTOUI:
    return to_integer(node, as_double(from, v), &made->i);
  case PB_OP_EXTF:
    return made->d = (double)v.f, from == PB_F32 && node->type == PB_F64;
  case PB_OP_TRUNCF:
    return made->f = (float)v.d, from == PB_F64 && node->type == PB_F32;
  default:
    return false;
  }
}

bool pb_number_compute(const pb_expr_node* node, const pb_type* types, const pb_number* v, pb_number* made) {
  *made = (pb_number){0};
  if (node->op == PB_OP_SELECT) return *made = v[0].i ? v[1] : v[2], true;
  if (pb_op_compares(node->op)) return compared(node->op, types[0], v, &made->i);
  if (pb_op_converts(node->op)) return converted(node, types[0], v[0], made);
  if (pb_type_is_float(node->type)) return of_floats(node, v, made);
  return of_integers(node->op, node->type, v, &made->i);
}

// arith and math on one element: in bodies, and on whole tensors. Most are an operation of StableHLO, whose types say
// whether an integer has a sign; here the operation says it.
#include "core/frontend/linalg/rows.h"
#include "core/s1/scalar/nodes.h"

#include <math.h>
#include <string.h>

typedef enum domain { OF_FLOATS, OF_INTEGERS, OF_UNSIGNED } domain;

static const struct {
  const char *name, *scalar; // of core/s1/scalar/scalar.def
  domain of;
} plain[] = {
    {"arith.addf", "add", OF_FLOATS},
    {"arith.addi", "add", OF_INTEGERS},
    {"index.add", "add", OF_INTEGERS},
    {"index.sub", "subtract", OF_INTEGERS},
    {"index.mul", "multiply", OF_INTEGERS},
    {"index.remu", "remainder", OF_UNSIGNED},
    {"arith.subf", "subtract", OF_FLOATS},
    {"arith.subi", "subtract", OF_INTEGERS},
    {"arith.mulf", "multiply", OF_FLOATS},
    {"arith.muli", "multiply", OF_INTEGERS},
    {"arith.divf", "divide", OF_FLOATS},
    {"arith.divsi", "divide", OF_INTEGERS},
    {"arith.divui", "divide", OF_UNSIGNED},
    {"arith.remf", "remainder", OF_FLOATS},
    {"arith.remsi", "remainder", OF_INTEGERS},
    {"arith.remui", "remainder", OF_UNSIGNED},
    {"arith.maximumf", "maximum", OF_FLOATS},
    {"arith.minimumf", "minimum", OF_FLOATS},
    {"arith.maxsi", "maximum", OF_INTEGERS},
    {"arith.minsi", "minimum", OF_INTEGERS},
    {"arith.maxui", "maximum", OF_UNSIGNED},
    {"arith.minui", "minimum", OF_UNSIGNED},
    {"arith.andi", "and", OF_INTEGERS},
    {"arith.ori", "or", OF_INTEGERS},
    {"arith.xori", "xor", OF_INTEGERS},
    {"arith.shli", "shift_left", OF_INTEGERS},
    {"arith.shrsi", "shift_right_arithmetic", OF_INTEGERS},
    {"arith.shrui", "shift_right_logical", OF_INTEGERS},
    {"arith.negf", "negate", OF_FLOATS},
    {"math.absf", "abs", OF_FLOATS},
    {"math.absi", "abs", OF_INTEGERS},
    {"math.acos", "acos", OF_FLOATS},
    {"math.acosh", "acosh", OF_FLOATS},
    {"math.asin", "asin", OF_FLOATS},
    {"math.asinh", "asinh", OF_FLOATS},
    {"math.atan", "atan", OF_FLOATS},
    {"math.atan2", "atan2", OF_FLOATS},
    {"math.atanh", "atanh", OF_FLOATS},
    {"math.cbrt", "cbrt", OF_FLOATS},
    {"math.ceil", "ceil", OF_FLOATS},
    {"math.cos", "cosine", OF_FLOATS},
    {"math.cosh", "cosh", OF_FLOATS},
    {"math.ctlz", "count_leading_zeros", OF_INTEGERS},
    {"math.ctpop", "popcnt", OF_INTEGERS},
    {"math.erf", "erf", OF_FLOATS},
    {"math.erfc", "erfc", OF_FLOATS},
    {"math.exp", "exponential", OF_FLOATS},
    {"math.expm1", "exponential_minus_one", OF_FLOATS},
    {"math.floor", "floor", OF_FLOATS},
    {"math.isfinite", "is_finite", OF_FLOATS},
    {"math.log", "log", OF_FLOATS},
    {"math.log1p", "log_plus_one", OF_FLOATS},
    {"math.powf", "power", OF_FLOATS},
    {"math.round", "round_nearest_afz", OF_FLOATS},
    {"math.roundeven", "round_nearest_even", OF_FLOATS},
    {"math.rsqrt", "rsqrt", OF_FLOATS},
    {"math.sin", "sine", OF_FLOATS},
    {"math.sinh", "sinh", OF_FLOATS},
    {"math.sqrt", "sqrt", OF_FLOATS},
    {"math.tan", "tan", OF_FLOATS},
    {"math.tanh", "tanh", OF_FLOATS},
};

static bool is(const pb_flat_op* op, const char* name) { return !strcmp(op->name, name); }

static pb_type unsigned_of(pb_type type) {
  return type == PB_I8 ? PB_UI8 : type == PB_I16 ? PB_UI16 : type == PB_I32 ? PB_UI32 : type == PB_I64 ? PB_UI64 : type;
}

static int truth(pb_nest* n, const char* how, int a, int b) {
  return pb_scalar_find(how)->make(n, PB_I1, (const int[]){a, b});
}

// Integers of one bit add and multiply as such: a sum is an exclusive or.
static const char* of_truths(const char* scalar) {
  if (!strcmp(scalar, "add") || !strcmp(scalar, "subtract")) return "xor";
  return !strcmp(scalar, "multiply") ? "and" : scalar;
}

static pb_status make_plain(pb_door* d, pb_nest* n, const pb_flat_op* op, int row, pb_type type, const int* v,
                            int* node) {
  const char* scalar = type == PB_I1 ? of_truths(plain[row].scalar) : plain[row].scalar;
  const pb_scalar_row* s = pb_scalar_find(scalar);
  if (plain[row].of == OF_UNSIGNED) type = unsigned_of(type);
  bool known = pb_scalar_takes(s, type) && pb_type_is_float(type) == (plain[row].of == OF_FLOATS);
  if (type == PB_I1 && (!strcmp(scalar, "maximum") || !strcmp(scalar, "minimum"))) known = plain[row].of == OF_UNSIGNED;
  if (!known) return pb__door_refuse(d, op, "of %s", pb_type_name(type));
  *node = s->make(n, type, v);
  return PB_OK;
}

// ---- comparisons ----

static pb_status compare_integers(pb_door* d, pb_nest* n, const pb_flat_op* op, pb_type type, const int* v, int* node) {
  static const pb_compare how[] = {PB_EQ, PB_NE, PB_LT, PB_LE, PB_GT, PB_GE, PB_LT, PB_LE, PB_GT, PB_GE};
  int64_t predicate = pb__door_int(op, "predicate", -1);
  if (predicate < 0 || predicate > 9 || pb_type_is_float(type)) return pb__door_refuse(d, op, "an unknown predicate");
  if (type == PB_I1 && predicate >= 2 && predicate < 6) return pb__door_refuse(d, op, "of truths by their sign");
  *node = pb_scalar_compare(n, how[predicate], predicate > 5 ? unsigned_of(type) : type, false, v[0], v[1]);
  return PB_OK;
}

// Ordered ones do not hold of NaN, the others do.
static pb_status compare_floats(pb_door* d, pb_nest* n, const pb_flat_op* op, pb_type type, const int* v, int* node) {
  enum { FALSE, OEQ, OGT, OGE, OLT, OLE, ONE, ORD, UEQ, UGT, UGE, ULT, ULE, UNE, UNO, TRUE };
  static const pb_compare how[] = {[OEQ] = PB_EQ, [OGT] = PB_GT, [OGE] = PB_GE, [OLT] = PB_LT, [OLE] = PB_LE};
  static const int other[] = {[UGT] = OLE, [UGE] = OLT, [ULT] = OGE, [ULE] = OGT, [UNE] = OEQ};
  int64_t predicate = pb__door_int(op, "predicate", -1);
  if (predicate < FALSE || predicate > TRUE || !pb_type_is_float(type))
    return pb__door_refuse(d, op, "an unknown predicate");
#define COMPARE(how) pb_scalar_compare(n, how, type, false, v[0], v[1])
  if (predicate == FALSE || predicate == TRUE) {
    *node = pb_nest_integer(n, PB_I8, predicate == TRUE);
  } else if (predicate >= OEQ && predicate <= OLE) {
    *node = COMPARE(how[predicate]);
  } else if (predicate == ONE || predicate == UEQ) {
    int less = COMPARE(PB_LT), either = truth(n, "or", less, COMPARE(PB_GT));
    *node = predicate == ONE ? either : truth(n, "not", either, -1);
  } else if (predicate == ORD || predicate == UNO) {
    int a = pb_scalar_compare(n, PB_EQ, type, false, v[0], v[0]),
        both = truth(n, "and", a, pb_scalar_compare(n, PB_EQ, type, false, v[1], v[1]));
    *node = predicate == ORD ? both : truth(n, "not", both, -1);
  } else {
    *node = truth(n, "not", COMPARE(how[other[predicate]]), -1);
  }
#undef COMPARE
  return PB_OK;
}

// ---- conversions ----

static bool is_conversion(const pb_flat_op* op) {
  static const char* const names[] = {"arith.extf",   "arith.truncf",     "arith.extsi",       "arith.extui",
                                      "arith.trunci", "arith.sitofp",     "arith.uitofp",      "arith.fptosi",
                                      "arith.fptoui", "arith.index_cast", "arith.index_castui"};
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
    if (is(op, names[k])) return true;
  return false;
}

// A truth with a sign is 0 or -1.
static pb_status convert(pb_door* d, pb_nest* n, const pb_flat_op* op, pb_type from, pb_type to, int v, int* node) {
  bool of_unsigned = is(op, "arith.extui") || is(op, "arith.uitofp") || is(op, "arith.index_castui");
  bool from_float = is(op, "arith.extf") || is(op, "arith.truncf") || is(op, "arith.fptosi") || is(op, "arith.fptoui");
  bool to_float = is(op, "arith.extf") || is(op, "arith.truncf") || is(op, "arith.sitofp") || is(op, "arith.uitofp");
  if (pb_type_is_float(from) != from_float || pb_type_is_float(to) != to_float || (to == PB_I1 && from_float))
    return pb__door_refuse(d, op, "of %s to %s", pb_type_name(from), pb_type_name(to));
  if (to == PB_I1) {
    int last = same(n, PB_OP_AND, v, integer(n, n->expr[v].type, 1));
    *node = from == PB_I1 ? v : pb_nest_node(n, PB_OP_TRUNC, PB_I8, last, -1);
    if (n->expr[v].type == PB_I8) *node = last;
    return PB_OK;
  }
  pb_type source = of_unsigned ? unsigned_of(from) : from;
  pb_type target = is(op, "arith.fptoui") ? unsigned_of(to) : to;
  *node = pb_scalar_converted(n, v, source, target);
  if (from == PB_I1 && !of_unsigned) *node = pb_scalar_find("negate")->make(n, to, node);
  return PB_OK;
}

static pb_status bitcast(pb_door* d, pb_nest* n, const pb_flat_op* op, pb_type from, pb_type to, int v, int* node) {
  pb_type a = pb_type_stored(from), b = pb_type_stored(to);
  if (from == PB_I1 || to == PB_I1 || pb_type_bits(a) != pb_type_bits(b))
    return pb__door_refuse(d, op, "of %s to %s", pb_type_name(from), pb_type_name(to));
  int stored = pb_scalar_encoded(n, v, from);
  if (n->expr[stored].type != b) stored = pb_nest_node(n, PB_OP_BITCAST, b, stored, -1);
  *node = pb_scalar_decoded(n, stored, to);
  return PB_OK;
}

// ---- what StableHLO has no operation for ----

// Down, or up. The quotient that there is goes towards 0: where something is left it is off on the one side of 0 or on
// the other.
static int rounded_quotient(pb_nest* n, pb_type type, const int* v, bool up) {
  int quotient = pb_scalar_find("divide")->make(n, type, v), rest = pb_scalar_find("remainder")->make(n, type, v);
  int zero = integer(n, n->expr[rest].type, 0), one = integer(n, n->expr[quotient].type, 1);
  int next = same(n, up ? PB_OP_ADD : PB_OP_SUB, quotient, one), even = compare(n, PB_OP_EQUAL, rest, zero);
  if (pb_type_is_unsigned(type)) return choose(n, even, quotient, up ? next : quotient);
  int below = compare(n, PB_OP_LESS, same(n, PB_OP_XOR, rest, v[1]), zero); // of two signs
  return choose(n, even, quotient, choose(n, below, up ? quotient : next, up ? next : quotient));
}

// Ones below the lowest one, counted.
static int trailing_zeros(pb_nest* n, pb_type type, const int* v) {
  int below = same(n, PB_OP_SUB, v[0], integer(n, n->expr[v[0]].type, 1));
  int inverted = same(n, PB_OP_XOR, v[0], integer(n, n->expr[v[0]].type, -1));
  int ones = same(n, PB_OP_AND, below, inverted);
  return pb_scalar_find("popcnt")->make(n, type, &ones);
}

static int copied_sign(pb_nest* n, const int* v) {
  pb_type whole = bits_type(n->expr[v[0]].type);
  int sign = integer(n, whole, whole == PB_I64 ? INT64_MIN : INT32_MIN);
  int magnitude = bits(n, same(n, PB_OP_ABS, v[0], -1));
  int all = same(n, PB_OP_OR, magnitude, same(n, PB_OP_AND, bits(n, v[1]), sign));
  return node(n, PB_OP_BITCAST, n->expr[v[0]].type, all, -1);
}

static int fused(pb_nest* n, const int* v) {
  int id = node(n, PB_OP_FMA, PB_F32, v[0], v[1]);
  n->expr[id].args[2] = v[2];
  return id;
}

// Small whole exponents that are constant are products.
static pb_status power_of(pb_door* d, pb_nest* n, const pb_flat_op* op, pb_type type, pb_type exponent, const int* v,
                          int* node) {
  const pb_scalar_row* power = pb_scalar_find("power");
  int64_t times = n->expr[v[1]].op == PB_OP_CONST ? n->expr[v[1]].integer : -1;
  if (!pb_type_is_float(type) || pb_type_is_float(exponent) || exponent == PB_I1)
    return pb__door_refuse(d, op, "of %s and %s", pb_type_name(type), pb_type_name(exponent));
  if (times >= 1 && times <= 4) {
    *node = v[0];
    for (int64_t k = 1; k < times; ++k) *node = same(n, PB_OP_MUL, *node, v[0]);
    return PB_OK;
  }
  if (!pb_scalar_takes(power, type)) return pb__door_refuse(d, op, "of %s", pb_type_name(type));
  *node = power->make(n, type, (const int[]){v[0], pb_scalar_converted(n, v[1], exponent, type)});
  return PB_OK;
}

static pb_status make_float(pb_door* d, pb_nest* n, const pb_flat_op* op, pb_type type, const int* v, int* node) {
  bool wide = type == PB_F64;
  if (!pb_type_is_float(type)) return pb__door_refuse(d, op, "of %s", pb_type_name(type));
  int is_number =
      is(op, "math.isnan") || is(op, "math.isinf") ? pb_scalar_compare(n, PB_EQ, type, false, v[0], v[0]) : -1;
  if (is(op, "math.isnan")) {
    *node = truth(n, "not", is_number, -1);
  } else if (is(op, "math.isinf")) {
    int finite = pb_scalar_find("is_finite")->make(n, type, v);
    *node = truth(n, "and", is_number, truth(n, "not", finite, -1));
  } else if (is(op, "arith.maxnumf") || is(op, "arith.minnumf")) {
    *node = same(n, is(op, "arith.maxnumf") ? PB_OP_MAX : PB_OP_MIN, v[0], v[1]);
  } else if (is(op, "math.trunc")) {
    *node = same(n, PB_OP_WHOLE, v[0], -1);
  } else if (is(op, "math.copysign")) {
    *node = copied_sign(n, v);
  } else if (is(op, "math.clampf")) {
    int above = pb_scalar_find("maximum")->make(n, type, (const int[]){v[0], v[1]});
    *node = pb_scalar_find("minimum")->make(n, type, (const int[]){above, v[2]});
  } else if (wide) {
    return pb__door_refuse(d, op, "of f64");
  } else if (is(op, "math.exp2") || is(op, "math.log2")) {
    *node = same(n, is(op, "math.exp2") ? PB_OP_EXP2 : PB_OP_LOG2, v[0], -1);
  } else if (is(op, "math.log10")) {
    int natural = same(n, PB_OP_LOG, v[0], -1);
    *node = same(n, PB_OP_MUL, natural, pb_nest_const(n, PB_F32, (double)(float)M_LOG10E));
  } else if (is(op, "math.fma") && type == PB_F32) {
    *node = fused(n, v);
  } else {
    return pb__door_refuse(d, op, "of %s", pb_type_name(type));
  }
  return PB_OK;
}

static pb_status make(pb_door* d, pb_nest* n, const pb_flat_op* op, const int* v, int* node) {
  pb_type type = pb__l_type(d, op->operands[0]), result = pb__l_type(d, op->results[0]);
  if (is_conversion(op)) return convert(d, n, op, type, result, v[0], node);
  if (is(op, "arith.bitcast")) return bitcast(d, n, op, type, result, v[0], node);
  if (is(op, "arith.select")) {
    if (type != PB_I1) return pb__door_refuse(d, op, "what chooses is no truth");
    if (n->expr[v[1]].type != n->expr[v[2]].type) return pb__door_refuse(d, op, "operands of different types");
    *node = pb_scalar_select(n, v[0], v[1], v[2]);
    return PB_OK;
  }
  if (is(op, "math.fpowi")) return power_of(d, n, op, type, pb__l_type(d, op->operands[1]), v, node);
  for (int k = 1; k < op->operand_count; ++k)
    if (pb__l_type(d, op->operands[k]) != type) return pb__door_refuse(d, op, "operands of different types");
  if (is(op, "arith.cmpi")) return compare_integers(d, n, op, type, v, node);
  if (is(op, "arith.cmpf")) return compare_floats(d, n, op, type, v, node);
  for (size_t k = 0; k < sizeof plain / sizeof *plain; ++k)
    if (is(op, plain[k].name)) return make_plain(d, n, op, (int)k, type, v, node);
  if (is(op, "arith.floordivsi") || is(op, "arith.ceildivsi") || is(op, "arith.ceildivui") || is(op, "math.cttz")) {
    if (pb_type_is_float(type) || type == PB_I1) return pb__door_refuse(d, op, "of %s", pb_type_name(type));
    if (is(op, "math.cttz")) *node = trailing_zeros(n, type, v);
    if (is(op, "arith.floordivsi")) *node = rounded_quotient(n, type, v, false);
    if (is(op, "arith.ceildivsi")) *node = rounded_quotient(n, type, v, true);
    if (is(op, "arith.ceildivui")) *node = rounded_quotient(n, unsigned_of(type), v, true);
    return PB_OK;
  }
  return make_float(d, n, op, type, v, node);
}

bool pb__l_is_scalar(const pb_flat_op* op) {
  static const char* const others[] = {"arith.bitcast",    "arith.select",    "arith.cmpi",      "arith.cmpf",
                                       "arith.floordivsi", "arith.maxnumf",   "arith.minnumf",   "math.isnan",
                                       "math.isinf",       "math.trunc",      "math.copysign",   "math.clampf",
                                       "math.exp2",        "math.log2",       "math.log10",      "math.fma",
                                       "math.fpowi",       "arith.ceildivsi", "arith.ceildivui", "math.cttz"};
  for (size_t k = 0; k < sizeof plain / sizeof *plain; ++k)
    if (is(op, plain[k].name)) return true;
  for (size_t k = 0; k < sizeof others / sizeof *others; ++k)
    if (is(op, others[k])) return true;
  return is_conversion(op);
}

pb_status pb__l_scalar(pb_door* d, pb_nest* n, const pb_flat_op* op, const int* v, int* node) {
  for (int k = 0; k < op->operand_count; ++k)
    if (n->expr[v[k]].type != pb_scalar_worked(pb__l_type(d, op->operands[k])))
      return pb__door_refuse(d, op, "an operand of another type");
  PB_TRY(make(d, n, op, v, node));
  pb_type result = pb__l_type(d, op->results[0]);
  if (result == PB_TYPE_COUNT || n->expr[*node].type != pb_scalar_worked(result))
    return pb__door_refuse(d, op, "a result of %s", pb__door_type(d, op->results[0])->text);
  return PB_OK;
}

// On whole tensors, and on numbers outside of bodies.
pb_status pb__l_op_element(pb_door* d, const pb_flat_op* op) {
  int in[3], nodes[3], dims[PB_NEST_RANK], node;
  for (int k = 0; k < op->operand_count; ++k) PB_TRY(pb__l_in(d, op, k, &in[k]));
  if (pb__door_fold(d, op)) return PB_OK;
  int y = pb__l_result(d, op, 0);
  const pb_s1_value result = *pb_made(&d->m, y);
  pb_nest* n = pb_make_walk(&d->m, "point", y, dims);
  for (int k = 0; k < op->operand_count; ++k) {
    const pb_s1_value* value = pb_made(&d->m, in[k]);
    int access;
    bool alike =
        value->rank == result.rank && !memcmp(value->shape, result.shape, sizeof(int64_t) * (size_t)result.rank);
    if (!alike && value->rank) return pb__door_refuse(d, op, "operands of different shapes");
    nodes[k] = pb__door_load(d, in[k], &access);
    if (access >= 0 && alike) pb_make_along(&d->m, access, dims);
  }
  PB_TRY(pb__l_scalar(d, n, op, nodes, &node));
  pb__door_store(d, node, y, dims);
  return PB_OK;
}

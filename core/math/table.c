#include "core/math/wide.h"

static int reciprocal_root(pb_nest* n, int x) {
  int root = pb__sqrt(n, x);
  return pb__div(n, pb__f32(n, 1), root);
}
static int wide_reciprocal_root(pb_nest* n, int x) {
  int root = pb__sqrt(n, x);
  return pb__div(n, pb__f64(n, 1), root);
}

// Of f32 by way of f64, rounded once more.
static int atan_of(pb_nest* n, int x) { return pb__narrowed(n, pb__wide_atan(n, pb__widened(n, x))); }
static int cbrt_of(pb_nest* n, int x) { return pb__narrowed(n, pb__wide_cbrt(n, pb__widened(n, x))); }
static int atan2_of(pb_nest* n, int y, int x) {
  int a = pb__widened(n, y), b = pb__widened(n, x);
  return pb__narrowed(n, pb__wide_atan2(n, a, b));
}

#define ONE(narrow, wide_one) .expand = narrow, .wide = wide_one
#define TWO(narrow, wide_one) .expand_two = narrow, .wide_two = wide_one
const pb_math_row pb_math_table[] = {
    {PB_OP_EXP, "exp", ONE(pb__exp, pb__wide_exp), .ulp = 1.1, .wide_ulp = 1,
     .special = "-inf: 0; inf: inf; overflows above 88.72"},
    {PB_OP_EXP2, "exp2", ONE(pb__exp2, NULL), .ulp = 1.25, .special = "-inf: 0; inf: inf; exact at integers"},
    {PB_OP_EXPM1, "expm1", ONE(pb__expm1, pb__wide_expm1), .ulp = 1.75, .wide_ulp = 2,
     .special = "-inf: -1; inf: inf; -0: -0"},
    {PB_OP_LOG, "log", ONE(pb__log, pb__wide_log), .ulp = 1, .wide_ulp = 1,
     .special = "0 and -0: -inf; below 0: NaN; inf: inf"},
    {PB_OP_LOG2, "log2", ONE(pb__log2, NULL), .ulp = 2.25, .special = "0 and -0: -inf; below 0: NaN; inf: inf"},
    {PB_OP_LOG1P, "log1p", ONE(pb__log1p, pb__wide_log1p), .ulp = 1.75, .wide_ulp = 2,
     .special = "-1: -inf; below -1: NaN; inf: inf; -0: -0"},
    {PB_OP_TANH, "tanh", ONE(pb__tanh, pb__wide_tanh), .ulp = 2.75, .wide_ulp = 3,
     .special = "inf: 1; -inf: -1; -0: -0"},
    {PB_OP_ERF, "erf", ONE(pb__erf, pb__wide_erf), .ulp = 1.5, .wide_ulp = 1.5, .special = "inf: 1; -inf: -1; -0: -0"},
    {PB_OP_RSQRT, "rsqrt", ONE(reciprocal_root, wide_reciprocal_root), .ulp = 1.5, .wide_ulp = 1.5,
     .special = "0: inf; -0: -inf; below 0: NaN; inf: 0"},
    {PB_OP_SIN, "sin", ONE(pb__sin, pb__wide_sin), .ulp = 0.75, .wide_ulp = 1, .special = "inf: NaN; -0: -0"},
    {PB_OP_COS, "cos", ONE(pb__cos, pb__wide_cos), .ulp = 0.75, .wide_ulp = 1, .special = "inf: NaN"},
    {PB_OP_TAN, "tan", ONE(pb__tan, pb__wide_tan), .ulp = 0.75, .wide_ulp = 2.5, .special = "inf: NaN; -0: -0"},
    {PB_OP_ATAN, "atan", ONE(atan_of, pb__wide_atan), .ulp = 0.75, .wide_ulp = 1.5,
     .special = "inf: pi/2; -inf: -pi/2; -0: -0"},
    {PB_OP_CBRT, "cbrt", ONE(cbrt_of, pb__wide_cbrt), .ulp = 0.75, .wide_ulp = 1.5, .special = "inf: inf; -0: -0"},
    {PB_OP_ATAN2, "atan2", TWO(atan2_of, pb__wide_atan2), .ulp = 0.75, .wide_ulp = 2, .special = "as IEEE 754 has it"},
    {PB_OP_POW, "pow", TWO(pb__pow, pb__wide_pow), .ulp = 0.75, .wide_ulp = 1.5, .special = "as IEEE 754 has it"},
    {.op = PB_OP_COUNT}};

const pb_math_row* pb_math_find(pb_op op) {
  for (const pb_math_row* f = pb_math_table; f->name; ++f)
    if (f->op == op) return f;
  return NULL;
}

bool pb_math_has(const pb_math_row* row, pb_type type) {
  return type == PB_F32 ? row->expand || row->expand_two : type == PB_F64 && (row->wide || row->wide_two);
}

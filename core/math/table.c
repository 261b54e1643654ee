#include "core/math/build.h"

static int reciprocal_root(pb_nest* n, int x) { return pb__div(n, pb__f32(n, 1), pb__sqrt(n, x)); }

const pb_math_row pb_math_table[] = {
    {PB_OP_EXP, "exp", pb__exp, 1.1, "-inf: 0; inf: inf; overflows above 88.72"},
    {PB_OP_EXP2, "exp2", pb__exp2, 1.25, "-inf: 0; inf: inf; exact at integers"},
    {PB_OP_EXPM1, "expm1", pb__expm1, 1.75, "-inf: -1; inf: inf; -0: -0"},
    {PB_OP_LOG, "log", pb__log, 1, "0 and -0: -inf; below 0: NaN; inf: inf"},
    {PB_OP_LOG2, "log2", pb__log2, 2.25, "0 and -0: -inf; below 0: NaN; inf: inf"},
    {PB_OP_LOG1P, "log1p", pb__log1p, 1.75, "-1: -inf; below -1: NaN; inf: inf; -0: -0"},
    {PB_OP_TANH, "tanh", pb__tanh, 2.75, "inf: 1; -inf: -1; -0: -0"},
    {PB_OP_ERF, "erf", pb__erf, 1.5, "inf: 1; -inf: -1; -0: -0"},
    {PB_OP_RSQRT, "rsqrt", reciprocal_root, 1.5, "0: inf; -0: -inf; below 0: NaN; inf: 0"},
    {PB_OP_COUNT, NULL, NULL, 0, NULL}};

const pb_math_row* pb_math_find(pb_op op) {
  for (const pb_math_row* f = pb_math_table; f->name; ++f)
    if (f->op == op) return f;
  return NULL;
}

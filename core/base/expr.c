#include "core/base/expr.h"

static const struct {
  const char* name;
  int bits;
} types[PB_TYPE_COUNT] = {
    [PB_I1] = {"i1", 1},    [PB_I8] = {"i8", 8},        [PB_I16] = {"i16", 16},   [PB_I32] = {"i32", 32},
    [PB_I64] = {"i64", 64}, [PB_F16] = {"f16", 16},     [PB_BF16] = {"bf16", 16}, [PB_F32] = {"f32", 32},
    [PB_F64] = {"f64", 64}, [PB_INDEX] = {"index", 64}, [PB_U8] = {"u8", 8}};

int pb_type_bits(pb_type type) { return types[type].bits; }
const char* pb_type_name(pb_type type) { return type < PB_TYPE_COUNT ? types[type].name : "?"; }

bool pb_op_converts(pb_op op) {
  return op == PB_OP_SEXT || op == PB_OP_ZEXT || op == PB_OP_SITOFP || op == PB_OP_FPTOSI8 || op == PB_OP_BITCAST ||
         op == PB_OP_TRUNC || op == PB_OP_FPTOSI;
}

bool pb_op_compares(pb_op op) { return op == PB_OP_LESS || op == PB_OP_LESS_EQUAL || op == PB_OP_EQUAL; }

bool pb_type_is_float(pb_type type) {
  return type == PB_F32 || type == PB_F64 || type == PB_F16 || type == PB_BF16;
}

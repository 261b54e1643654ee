#include "core/base/expr.h"

static const struct {
  const char* name;
  int bits;
} types[PB_TYPE_COUNT] = {[PB_I1] = {"i1", 1},
                          [PB_I8] = {"i8", 8},
                          [PB_I16] = {"i16", 16},
                          [PB_I32] = {"i32", 32},
                          [PB_I64] = {"i64", 64},
                          [PB_F16] = {"f16", 16},
                          [PB_BF16] = {"bf16", 16},
                          [PB_F32] = {"f32", 32},
                          [PB_F64] = {"f64", 64},
                          [PB_INDEX] = {"index", 64},
                          [PB_U8] = {"u8", 8},
                          [PB_UI8] = {"u8", 8},
                          [PB_UI16] = {"u16", 16},
                          [PB_UI32] = {"u32", 32},
                          [PB_UI64] = {"u64", 64},
                          [PB_I128] = {"i128", 128},
                          [PB_F8E4M3FN] = {"f8E4M3FN", 8},
                          [PB_F8E4M3FNUZ] = {"f8E4M3FNUZ", 8},
                          [PB_F8E5M2] = {"f8E5M2", 8},
                          [PB_F8E5M2FNUZ] = {"f8E5M2FNUZ", 8},
                          [PB_F8E8M0FNU] = {"f8E8M0FNU", 8},
                          [PB_F4E2M1FN] = {"f4E2M1FN", 4},
                          [PB_I4] = {"i4", 4},
                          [PB_U4] = {"u4", 4},
                          [PB_I2] = {"i2", 2},
                          [PB_U2] = {"u2", 2},
                          [PB_E4M3] = {"f8e4m3", 8},
                          [PB_E5M2] = {"f8e5m2", 8},
                          [PB_W64] = {"i64", 64}};

int pb_type_bits(pb_type type) { return types[type].bits; }
const char* pb_type_name(pb_type type) { return type < PB_TYPE_COUNT ? types[type].name : "?"; }

bool pb_op_converts(pb_op op) {
  switch (op) {
  case PB_OP_SEXT:
  case PB_OP_ZEXT:
  case PB_OP_TRUNC:
  case PB_OP_SITOFP:
  case PB_OP_UITOFP:
  case PB_OP_FPTOSI8:
  case PB_OP_FPTOSI:
  case PB_OP_FPTOUI:
  case PB_OP_EXTF:
  case PB_OP_TRUNCF:
  case PB_OP_BITCAST:
    return true;
  default:
    return false;
  }
}

bool pb_op_compares(pb_op op) {
  return op == PB_OP_LESS || op == PB_OP_LESS_EQUAL || op == PB_OP_LESSU || op == PB_OP_LESS_EQUALU ||
         op == PB_OP_EQUAL;
}

pb_type pb_type_stored(pb_type type) {
  switch (type) {
  case PB_I1:
  case PB_UI8:
  case PB_E4M3:
  case PB_E5M2:
    return PB_I8;
  case PB_F16:
  case PB_BF16:
  case PB_UI16:
    return PB_I16;
  case PB_UI32:
  case PB_W64:
    return PB_I32;
  case PB_UI64:
    return PB_I64;
  default:
    return pb_type_is_code(type) ? PB_I8 : type;
  }
}

bool pb_type_is_unsigned(pb_type type) { return type >= PB_UI8 && type <= PB_UI64; }
bool pb_type_is_code(pb_type type) { return type >= PB_F8E4M3FN && type <= PB_U2; }

// No public array: devices carry this code too, and two of one name in a process are one more than sanitizers allow.
pb_type pb_narrow_type(int index) {
  static const pb_type narrow[PB_NARROW_TYPES] = {PB_BF16, PB_F16, PB_E4M3, PB_E5M2};
  return narrow[index];
}

bool pb_type_is_narrow(pb_type type) {
  for (int k = 0; k < PB_NARROW_TYPES; ++k)
    if (type == pb_narrow_type(k)) return true;
  return false;
}

bool pb_type_is_float(pb_type type) { return type == PB_F32 || type == PB_F64 || pb_type_is_narrow(type); }

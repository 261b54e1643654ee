// Scalar expressions: the body of a loop nest and the semantics of an instruction are both one of these, so that
// selection compares like with like. Nodes stand in topological order; the last one is the value stored.
#ifndef PB_BASE_EXPR_H
#define PB_BASE_EXPR_H

#include <stdbool.h>
#include <stdint.h>

typedef enum pb_type {
  PB_I1,
  PB_I8,
  PB_I16,
  PB_I32,
  PB_I64,
  PB_F16,
  PB_BF16,
  PB_F32,
  PB_F64,
  PB_INDEX,
  PB_U8, // of an engine's inputs and outputs only: kernels have such codes 128 less, as i8
  // Without a sign, of values outside of nests: those have the same bits as pb_type_stored says, and operations that
  // take them so.
  PB_UI8, // "u8" too: kernels have it as it is
  PB_UI16,
  PB_UI32,
  PB_UI64,
  PB_I128, // of tensors inside a program: several results that are combined as one number
  // Codes of a byte each, which are moved and converted and nothing else; those of fewer bits have them below.
  PB_F8E4M3FN,
  PB_F8E4M3FNUZ,
  PB_F8E5M2,
  PB_F8E5M2FNUZ,
  PB_F8E8M0FNU,
  PB_F4E2M1FN,
  PB_I4,
  PB_U4,
  PB_I2,
  PB_U2,
  // Floats of 8 bits as chips have them and --precision makes them: OCP's E4M3, without infinities, and E5M2. Unlike
  // the codes above bodies widen and round them.
  PB_E4M3,
  PB_E5M2,
  PB_W64, // "i64" too, of an engine's inputs only: kernels have such numbers as i32, those past it as its least or most
  PB_TYPE_COUNT
} pb_type;

int pb_type_bits(pb_type type);         // PB_I1: 1 (stored in a byte); PB_INDEX: 64
const char* pb_type_name(pb_type type); // "i8", "f32"
// How a tensor of such elements lies in memory, and in nests: a truth is a byte, the narrow floats are codes of 16 or 8
// bits that bodies widen and round by their own arithmetic.
pb_type pb_type_stored(pb_type type);
bool pb_type_is_unsigned(pb_type type);
// Floats of 16 and 8 bits, in the order in which chips are asked whether they multiply them.
enum { PB_NARROW_TYPES = 4 };
pb_type pb_narrow_type(int index);
bool pb_type_is_narrow(pb_type type); // one of them
bool pb_type_is_code(pb_type type);   // from PB_F8E4M3FN on, to PB_U2

typedef enum pb_op {
  PB_OP_LOAD,  // operand: which access (a nest) or which window (an instruction); args[0]: what its index adds
  PB_OP_IMM,   // operand: which immediate of the instruction; instructions only
  PB_OP_CONST, // value: number, of integers `integer`
  PB_OP_INDEX, // operand: an own loop of the nest, whose turn it is: an i64
  PB_OP_ADD,
  PB_OP_SUB,
  PB_OP_MUL,
  PB_OP_DIV,  // of integers: towards 0, the divisor not 0, the quotient in range
  PB_OP_DIVU, // what ends in U takes integers as numbers without a sign
  PB_OP_REM,  // integers, as DIV
  PB_OP_REMU,
  PB_OP_FMA, // f32: first * second + third, rounded once
  PB_OP_MAX,
  PB_OP_MIN,     // floats: a number wins over NaN; -0 < +0
  PB_OP_MAXIMUM, // floats: NaN wins; -0 < +0
  PB_OP_MINIMUM,
  PB_OP_MAXU,
  PB_OP_MINU,
  PB_OP_SEXT,  // to a wider integer, or to an index
  PB_OP_ZEXT,  // the same, the bits taken as an unsigned number
  PB_OP_TRUNC, // to a narrower integer
  PB_OP_XOR,
  PB_OP_AND, // integers
  PB_OP_OR,
  PB_OP_SHL, // shifts by fewer bits than there are
  PB_OP_SHR, // with sign
  PB_OP_SHRU,
  PB_OP_POPCOUNT, // how many bits are set
  PB_OP_CLZ,      // how many bits in front of the first that is set
  PB_OP_BITCAST,  // floats to integers and back: the same bits
  PB_OP_LESS,     // to i1: a < b; of floats not so when either is NaN
  PB_OP_LESS_EQUAL,
  PB_OP_LESSU,
  PB_OP_LESS_EQUALU,
  PB_OP_EQUAL,
  PB_OP_SELECT, // i1 ? second : third
  PB_OP_SITOFP, // to a float
  PB_OP_UITOFP,
  PB_OP_FPTOSI8, // integral f32 in [-128, 127] to i8
  PB_OP_FPTOSI,  // a float to i32 or i64, towards 0; the number must be in range
  PB_OP_FPTOUI,  // the same to numbers without a sign
  PB_OP_EXTF,    // f32 to f64
  PB_OP_TRUNCF,  // and back, rounded once
  PB_OP_ROUNDEVEN,
  PB_OP_FLOOR,
  PB_OP_CEIL,
  PB_OP_WHOLE, // towards 0
  PB_OP_NEG,
  PB_OP_ABS,
  PB_OP_SQRT, // correctly rounded
  // From here on functions: core/math has what a chip without such an instruction computes.
  PB_OP_EXP2,
  PB_OP_RECIP,
  PB_OP_RSQRT,
  PB_OP_EXP,
  PB_OP_EXPM1, // e^x - 1
  PB_OP_LOG,
  PB_OP_LOG2,
  PB_OP_LOG1P, // log(1 + x)
  PB_OP_TANH,
  PB_OP_ERF,
  PB_OP_SIN,
  PB_OP_COS,
  PB_OP_TAN,
  PB_OP_ATAN,
  PB_OP_ATAN2,
  PB_OP_CBRT,
  PB_OP_POW,
  PB_OP_OTHER, // a nest's op that has no name here: never matched by an instruction
  PB_OP_COUNT
} pb_op;

bool pb_op_converts(pb_op op); // its result is of another type than its operand
bool pb_op_compares(pb_op op); // its result is an i1
bool pb_type_is_float(pb_type type);

typedef struct pb_expr_node {
  pb_op op;
  pb_type type;    // of the result
  int args[3];     // indices of earlier nodes, -1: none
  int operand;     // LOAD, IMM
  double value;    // CONST
  int64_t integer; // CONST of an integer type: the number, which `value` may round
} pb_expr_node;

// How the value is stored: plainly, or combined with what is there over the dims that the destination lacks.
// PB_ACC_BODY: the body itself loads what is there and makes what replaces it; turns go in the order of the loops.
// PB_ACC_MAXIMUM: of floats, NaN wins. PB_ACC_MAXU: of integers as numbers without a sign.
typedef enum pb_reduce { PB_SET, PB_ACC_ADD, PB_ACC_MAX, PB_ACC_MAXIMUM, PB_ACC_MAXU, PB_ACC_BODY } pb_reduce;

// Whether it combines by one operation, whatever the order, and which one that is.
static inline bool pb_reduce_combines(pb_reduce reduce) { return reduce != PB_SET && reduce != PB_ACC_BODY; }
static inline pb_op pb_reduce_op(pb_reduce reduce) {
  static const pb_op ops[] = {
      [PB_ACC_ADD] = PB_OP_ADD, [PB_ACC_MAX] = PB_OP_MAX, [PB_ACC_MAXIMUM] = PB_OP_MAXIMUM, [PB_ACC_MAXU] = PB_OP_MAXU};
  return ops[reduce];
}
// The least element of the type, as a maximum of integers begins: the bits, with the sign of the type.
static inline int64_t pb_reduce_least(pb_reduce reduce, int bits) {
  return reduce == PB_ACC_MAXU ? 0 : -((int64_t)1 << (bits - 1));
}

#endif

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
  PB_TYPE_COUNT
} pb_type;

int pb_type_bits(pb_type type);         // PB_I1: 1 (stored in a byte); PB_INDEX: 64
const char* pb_type_name(pb_type type); // "i8", "f32"

typedef enum pb_op {
  PB_OP_LOAD,  // operand: which access (a nest) or which window (an instruction); args[0]: what its index adds
  PB_OP_IMM,   // operand: which immediate of the instruction; instructions only
  PB_OP_CONST, // value: number, of integers `integer`
  PB_OP_ADD,
  PB_OP_SUB,
  PB_OP_MUL,
  PB_OP_DIV,
  PB_OP_FMA, // f32: first * second + third, rounded once
  PB_OP_MAX,
  PB_OP_MIN,     // floats: a number wins over NaN; -0 < +0
  PB_OP_MAXIMUM, // floats: NaN wins; -0 < +0
  PB_OP_MINIMUM,
  PB_OP_SEXT,  // to a wider integer, or to an index
  PB_OP_ZEXT,  // the same, the bits taken as an unsigned number
  PB_OP_TRUNC, // to a narrower integer
  PB_OP_XOR,
  PB_OP_AND, // integers
  PB_OP_OR,
  PB_OP_SHL,
  PB_OP_SHR,     // with sign
  PB_OP_BITCAST, // f32 to i32 and back: the same bits
  PB_OP_LESS,    // to i1: a < b; of floats not so when either is NaN
  PB_OP_LESS_EQUAL,
  PB_OP_EQUAL,
  PB_OP_SELECT,  // i1 ? second : third
  PB_OP_SITOFP,  // to f32
  PB_OP_FPTOSI8, // integral f32 in [-128, 127] to i8
  PB_OP_FPTOSI,  // f32 to i32 or i64, towards 0; the number must be in range
  PB_OP_ROUNDEVEN,
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
typedef enum pb_reduce { PB_SET, PB_ACC_ADD, PB_ACC_MAX } pb_reduce;

#endif

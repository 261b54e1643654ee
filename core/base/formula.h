// A chip's own way from sums to codes: an expression over what a model gives, which models are compiled to in place of
// clamp(roundeven(f32(sum + bias) * scale) + zero). It is read from the chip's description; what instructions compute,
// what the IR says and what other targets do in the chip's place (--like) are all this one expression.
#ifndef PB_BASE_FORMULA_H
#define PB_BASE_FORMULA_H

#include "core/base/diag.h"
#include "core/base/expr.h"

enum { PB_FORMULA_EXPR = 96, PB_FORMULA_OPERANDS = 12 };

typedef enum pb_formula_term {
  PB_TERM_SUM,    // of products, i32
  PB_TERM_A,      // codes that are added
  PB_TERM_B,      //
  PB_TERM_BIAS,   // added to the sum; the zero points too, where the formula has no operands for them
  PB_TERM_FACTOR, // the scale is factor * 2^-shift
  PB_TERM_SHIFT,  //
  PB_TERM_FA,     // the factors of a and of b; they share the shift
  PB_TERM_FB,     //
  PB_TERM_ZA,     // the zero points of a and of b
  PB_TERM_ZB,     //
  PB_TERM_ZERO,   // of the result
  PB_TERM_LO,     // the clamp's ends
  PB_TERM_HI,
  PB_TERM_COUNT
} pb_formula_term;

typedef struct pb_formula_operand {
  pb_formula_term term;
  pb_type type;
  bool by_channel; // a number for each channel; else one for the tensor (of SUM, A and B: the elements)
} pb_formula_operand;

typedef struct pb_formula {
  pb_place place; // in the description
  int operand_count;
  pb_formula_operand operands[PB_FORMULA_OPERANDS];
  bool is_unsigned; // codes are numbers of 0 to 255, those of this compiler and 128 more
  int expr_count;
  pb_expr_node expr[PB_FORMULA_EXPR]; // LOAD and IMM: `operand` is one of the operands; the last node is the code
  int factor_bits, max_shift;
  double most_off; // the largest share of a scale that factor * 2^-shift may be off by
} pb_formula;

typedef enum pb_formula_kind { PB_FORMULA_SUM, PB_FORMULA_ADD, PB_FORMULA_KINDS } pb_formula_kind;

static inline int pb_formula_operand_of(const pb_formula* f, pb_formula_term term) {
  for (int k = 0; k < f->operand_count; ++k)
    if (f->operands[k].term == term) return k;
  return -1;
}

// What an operator has for a formula's operands, by role.
typedef struct pb_formula_terms {
  const pb_formula* formula;
  int channels[PB_TERM_COUNT];   // constants, of operands by channel
  int64_t number[PB_TERM_COUNT]; // of the others
} pb_formula_terms;

#endif

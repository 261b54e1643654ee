// Instructions of chips whose cores compute in vector registers: which multiplies what a nest says.
#ifndef PB_S3_VECTOR_H
#define PB_S3_VECTOR_H

#include "core/s3/chip_facts.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/program.h"
#include "core/s3/s3.h"
#include "core/select/memo.h"

// An instruction of a core that multiplies elements of these types and adds up `group` neighbouring products into each
// lane of the sum. Factors narrower than its operands are extended when they are loaded.
typedef struct pb_vector_insn {
  const pb_insn* insn; // NULL: none
  int lanes, group;
  int x, w, y; // operands
  bool flips;  // it takes x without sign, the nest with: x is read with its sign bit flipped
} pb_vector_insn;

// An instruction of a core that multiplies matrices, y[m, n] += x[m, k, g] * w[k, n, g], in registers that hold rows
// (pb_memory.value), with those that move such registers.
typedef struct pb_matrix_insn {
  pb_vector_insn product; // .insn NULL: none
  const pb_insn *load_x, *load_w, *store, *zero;
  int memory;      // the register file
  int m, n, k, g;  // dims of the product
  int rows, steps; // the largest extents of m and k
} pb_matrix_insn;

// The first one for `of`'s types whose factors both have a sign, and that the chip can load, store and clear. Its n are
// the lanes of a vector of y.
pb_matrix_insn pb_matrix_contraction(pb_select_memo* memo, const pb_contraction_dims* of);
// Its cycles on so many rows and steps.
int64_t pb_matrix_cycles(const pb_matrix_insn* matrix, int64_t rows, int64_t steps);

// The one for y += x * w with the most products, both factors with sign in the nest.
pb_vector_insn pb_vector_contraction(pb_select_memo* memo, pb_type x, pb_type w, pb_type y);
// How many of its products a core begins at once.
int64_t pb_vector_products(const pb_vector_insn* insn);
// Whether it takes operand o wider than `type`, with its sign.
bool pb_vector_extends(const pb_vector_insn* insn, int o, pb_type type);

#endif

// Chips whose cores compute in vector registers: the facts that layout, plan and tree read off the description.
#ifndef PB_S3_VECTOR_H
#define PB_S3_VECTOR_H

#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/program.h"
#include "core/s3/s3.h"
#include "core/select/memo.h"

typedef struct pb_vector_facts {
  int memory;        // the register file, -1: the chip has none
  int64_t row_bytes; // of a register
  int64_t lanes;     // elements of 4 bytes in it, as sums have
  int registers;
  const pb_memory* near[3]; // what holds data near a core or thread, innermost first; NULL: none
  int64_t cache[3];         // its bytes, or 0
  int64_t way;              // bytes of the innermost one that are in different sets, and
  int ways;                 // how many lines a set has
} pb_vector_facts;

pb_vector_facts pb_vector_facts_of(const pb_chip* chip);
// The memory that holds what its cores compute; -1: none does.
int pb_chip_register_file(const pb_chip* chip);
// Whether code is made for its cores: they compute whatever a nest says, in registers.
bool pb_chip_runs_code(const pb_chip* chip);
// Whether its units take whole rows of lanes and nothing else: no code loads single elements, with any stride.
bool pb_chip_whole_rows(const pb_chip* chip);
// Whether it makes a number of the first elements alone that a row of lanes has, for elements of the type: a sum or
// another (PB_SET: any).
bool pb_chip_counts_lanes(const pb_chip* chip, pb_type type, pb_reduce reduce);
// Whether tensors of so many dims are images, [n, c, h, w], whose channels may lie in blocks; where code loads elements
// with any stride volumes are such too, [n, c, d, h, w].
static inline bool pb_is_image(int rank, bool whole_rows) {
  return rank == PB_IMAGE_RANK || (rank == PB_IMAGE_RANK + 1 && !whole_rows);
}
// The memory of a core's own, no cache, through which tensors pass on their way to registers and back; -1: there is
// none.
int pb_chip_staging(const pb_chip* chip);
// Whether cores read and write tensors where they are, as caches show them.
bool pb_chip_in_place(const pb_chip* chip);
// Whether movers bring what its instructions take to memories of its own, and take it back.
bool pb_chip_moves(const pb_chip* chip);

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

// The roles of a contraction's dims, read off its accesses: for nests and for instructions alike.
#ifndef PB_S3_CONTRACTION_DIMS_H
#define PB_S3_CONTRACTION_DIMS_H

#include "core/poly/nest.h"
#include "core/s3/program.h"
#include "tdl/chip.h"

// y[M, N] += x[M, K] * w[K, N]: M moves x and y, N moves w and y, K moves x and w, B (batch, group) all three.
typedef enum pb_role { PB_ROLE_NONE = 0, PB_ROLE_M = 'M', PB_ROLE_N = 'N', PB_ROLE_K = 'K', PB_ROLE_B = 'B' } pb_role;

typedef struct pb_contraction_dims {
  int x, w, y;              // accesses (operands of an instruction)
  pb_type x_type, w_type;   // that are multiplied: a narrow float where codes are widened as such, else the loads'
  pb_type y_type;           // of the sums
  bool x_unsigned, x_flips; // x_flips: its sign bit is turned over first
  bool less;                // of a factor a zero point is taken off
  pb_role role[PB_NEST_DIMS];
} pb_contraction_dims;

// Whether the nest is a sum of products of two loads (each perhaps widened), and the roles if so. Of the two factors,
// w is the one whose memref `is_weight` says is constant; the second when neither or both are.
bool pb_nest_contraction_dims(const pb_nest* nest, const bool* is_weight, pb_contraction_dims* roles);
// The same of nest n of the program, whose constants are weights.
bool pb_program_contraction_dims(const pb_program* program, int n, pb_contraction_dims* roles);
// Iterations of the dims with that role.
int64_t pb_extent_of_role(const pb_nest* nest, const pb_contraction_dims* roles, pb_role role);
// Which accesses of `nest`, nest n of the program as a kernel has it, are of weights: constants, but no first factor
// that all lanes of the result take alike while the second goes along them.
void pb_program_find_weights(const pb_program* program, int n, const pb_nest* nest, bool* weight);
// The access of the constant factor, if nest n of the program is one of these; -1: it has none.
int pb_program_weights_of(const pb_program* program, int n);
static inline bool pb_program_multiplies_weights(const pb_program* program, int n) {
  return pb_program_weights_of(program, n) >= 0;
}
// How many of its nests are.
int pb_program_products_by_weights(const pb_program* program);
// The same for an instruction; dims are the instruction's. N is fixed-extent lanes of w and y.
bool pb_insn_contraction_dims(const pb_insn* insn, pb_contraction_dims* roles);
// The chip's contraction instruction for `of`'s element types (the one with the most products a cycle), or NULL; its
// own roles.
const pb_insn* pb_chip_contraction(const pb_chip* chip, const pb_contraction_dims* of, pb_contraction_dims* roles);
// The same; of a row of `lanes` how many elements one command sums, and how many sums it makes side by side: all of
// them where it does not say, or there is none.
const pb_insn* pb_chip_product(const pb_chip* chip, const pb_contraction_dims* of, int64_t lanes,
                               pb_contraction_dims* roles, int64_t* sums, int64_t* results);
// Whether it reads weights column by column, what is summed lying side by side: as fractals of a matrix unit have them
// whose columns follow each other, or rows of weights for each result.
bool pb_weights_by_columns(const pb_insn* insn, const pb_contraction_dims* roles);
// Whether the instruction sums products of each lane for itself: it has K and no N.
bool pb_sums_by_lanes(const pb_insn* insn, const pb_contraction_dims* roles);
// The next such instruction after one (NULL: the first) that takes all lanes. NULL: there is none.
const pb_insn* pb_chip_lane_contraction(const pb_chip* chip, const pb_contraction_dims* of, const pb_insn* after,
                                        pb_contraction_dims* roles);
// Whether the chip has any instruction that sums products of these types.
bool pb_chip_multiplies(const pb_chip* chip, pb_type x, pb_type w, pb_type y);
// Whether codes lie without sign in its memories: all its products of codes read those that are multiplied by weights
// so (zext). Cores flip the bit of each load instead (vector_insn.c).
bool pb_chip_codes_unsigned(const pb_chip* chip);
// The narrow float, of two factors, whose products it sums in f32; PB_TYPE_COUNT: none.
pb_type pb_chip_half_product(const pb_chip* chip);
// The refusal where it has none for the operator called `name`. weighs: w is constant, and --precision may narrow both.
pb_status pb_chip_lacks_product(const pb_chip* chip, pb_diag* diag, const char* name, const pb_contraction_dims* roles,
                                bool weighs);
// Lanes: the fixed extent of a dim with a role, 0: it has no fixed extent.
int pb_insn_lanes(const pb_insn* insn, const pb_contraction_dims* roles, pb_role role);

// ---- taps.c ----
// Sums of products where each lane is for itself (a window of each channel): what one command takes of them.

typedef struct pb_taps {
  int64_t step[PB_NEST_DIMS]; // of the nest's summed dims, iterations in one command; 0: a loop around it walks the dim
  int64_t apart[PB_NEST_DIMS]; // elements from weight to weight along such a dim, whole rows of lanes
  int64_t commands;            // that sum one window
} pb_taps;

// Requires an instruction that sums each lane for itself; none for others. lanes: the chip's (pb_chip_lanes).
void pb_taps_of(const pb_chip* chip, int64_t lanes, const pb_nest* nest, const pb_contraction_dims* roles,
                const pb_insn* insn, const pb_contraction_dims* insn_roles, pb_taps* taps);
// The instruction for a nest with these roles. Where its result's lanes are those of both factors, one that sums each
// lane for itself and needs the fewest commands for this window, if there is one; else the one of pb_chip_contraction.
const pb_insn* pb_nest_contraction(const pb_chip* chip, int64_t lanes, const pb_nest* nest,
                                   const pb_contraction_dims* roles, pb_contraction_dims* insn_roles);

#endif

// Constants whose codes have 4 bits, and what chips do with such.
#ifndef PB_S3_SMALL_CODES_H
#define PB_S3_SMALL_CODES_H

#include "core/s3/kernel/contraction_dims.h"

// As what the instruction reads codes of 4 bits of the operand: PB_I4, or, where it widens them without a sign, PB_U4.
// PB_TYPE_COUNT: it reads no such.
pb_type pb_small_codes_read(const pb_insn* insn, int operand);
// Where the nest's weights are such constants: the instruction that is like `plain` and takes them as they lie, if the
// chip has one and commands bring them there; else `plain`. insn_roles: of the one, then of the other.
const pb_insn* pb_small_codes_contraction(const pb_chip* chip, const pb_nest* nest, const pb_contraction_dims* roles,
                                          const pb_insn* plain, pb_contraction_dims* insn_roles);

#endif

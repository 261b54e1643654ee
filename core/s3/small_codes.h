// Constants whose codes have 4 bits, and what chips do with such.
#ifndef PB_S3_SMALL_CODES_H
#define PB_S3_SMALL_CODES_H

#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernels.h"

// Of constants of i8, noted at arguments as pb.codes: all codes are -8 to 7; or 0 to 15. Rows have an even number.
enum { PB_CODES_SIGNED = 1, PB_CODES_UNSIGNED = 2 };
// Which of them codes are that lie as PB_I4 or PB_U4.
static inline int pb_codes_of_type(pb_type type) { return type == PB_U4 ? PB_CODES_UNSIGNED : PB_CODES_SIGNED; }
// What the argument that the value is says; 0: nothing.
unsigned pb_small_codes_of(MlirValue value);
// What it is to say of the constant; 0 too where the chip has no command that unpacks.
unsigned pb_small_codes_find(const pb_unit* unit, int id);

// As what the buffer's elements lie that an alloc of `type` makes: pb.packed says that codes lie two in a byte.
pb_type pb_small_codes_alloc(MlirOperation alloc, pb_type type);

// As what the instruction reads codes of 4 bits of the operand: PB_I4, or, where it widens them without a sign, PB_U4.
// PB_TYPE_COUNT: it reads no such.
pb_type pb_small_codes_read(const pb_insn* insn, int operand);
// Where the nest's weights are such constants: the instruction that is like `plain` and takes them as they lie, if the
// chip has one and commands bring them there; else `plain`. insn_roles: of the one, then of the other.
const pb_insn* pb_small_codes_contraction(const pb_chip* chip, const pb_nest* nest, const pb_contraction_dims* roles,
                                          const pb_insn* plain, pb_contraction_dims* insn_roles);

#endif

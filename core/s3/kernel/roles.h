// The roles of a contraction's dims, read off its accesses: for nests and for instructions alike.
#ifndef PB_S3_ROLES_H
#define PB_S3_ROLES_H

#include "core/poly/nest.h"
#include "tdl/chip.h"

// y[M, N] += x[M, K] * w[K, N]: M moves x and y, N moves w and y, K moves x and w, B (batch, group) all three.
typedef enum pb_role { PB_ROLE_NONE = 0, PB_ROLE_M = 'M', PB_ROLE_N = 'N', PB_ROLE_K = 'K', PB_ROLE_B = 'B' } pb_role;

typedef struct pb_roles {
  int x, w, y; // accesses (operands of an instruction)
  pb_role role[PB_NEST_DIMS];
} pb_roles;

// Whether the nest is a sum of products of two loads (each perhaps widened), and the roles if so. Of the two factors,
// w is the one whose memref `is_weight` says is constant; the second when neither or both are.
bool pb_nest_roles(const pb_nest* nest, const bool* is_weight, pb_roles* roles);
// The same for an instruction; dims are the instruction's. N is fixed-extent lanes of w and y.
bool pb_insn_roles(const pb_insn* insn, pb_roles* roles);
// The chip's contraction instruction for these element types (the one with the most products a cycle), or NULL.
const pb_insn* pb_chip_contraction(const pb_chip* chip, pb_type x, pb_type w, pb_type y, pb_roles* roles);
// Lanes: the fixed extent of a dim with a role, 0: it has no fixed extent.
int pb_insn_lanes(const pb_insn* insn, const pb_roles* roles, pb_role role);

#endif

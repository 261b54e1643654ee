// Inside selection: matching of scalar expressions, and what does not match.
#ifndef PB_SELECT_UNIFY_H
#define PB_SELECT_UNIFY_H

#include "core/select/select.h"

typedef struct pb_binding {
  int access_of[PB_MAX_OPERANDS];
  bool imm_set[PB_MAX_OPERANDS];
  double imm[PB_MAX_OPERANDS];
  bool fills; // nothing is read: a mover writes its fill value
  double fill;
  bool cuts;                    // windows may stand for values that others compute first
  int node_of[PB_MAX_OPERANDS]; // the nest's node that such a window stands for, -1: none
} pb_binding;

// Whether the instruction's value is the nest's; fills which access each window stands for and the immediates.
bool pb__unify(const pb_insn* insn, const pb_flat* nest, pb_binding* binding);
// The same for the value of one node, which is stored who knows where, with windows cut off from what others compute.
bool pb__unify_node(const pb_insn* insn, const pb_flat* nest, int node, pb_binding* binding);

// The immediate operand behind an instruction's node: itself, or converted on the way. -1: not an immediate.
// *is_unsigned: its bits are taken as a number without sign.
int pb__immediate_of(const pb_insn* insn, int node, bool* is_unsigned);
bool pb__commutes(pb_op op);

// Which instruction comes nearest to a nest that none computes, and the first thing that does not fit. One line in
// arena: the nest as a description would say it, and "VADD comes nearest: its 'x' lies in ACC, here ...".
const char* pb__why(const pb_chip* chip, const pb_flat* nest, pb_arena* arena);

#endif

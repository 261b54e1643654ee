// Inside selection: matching of scalar expressions.
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

#endif

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
} pb_binding;

// Whether the instruction's value is the nest's; fills which access each window stands for and the immediates.
bool pb__unify(const pb_insn* insn, const pb_flat* nest, pb_binding* binding);

#endif

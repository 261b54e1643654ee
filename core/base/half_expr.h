// Floats of 16 and 8 bits in scalar expressions: codes of as many bits, widened and rounded by plain operations. The
// bodies of nests and the semantics of instructions are made of them here, so that selection finds one in the other.
#ifndef PB_BASE_HALF_EXPR_H
#define PB_BASE_HALF_EXPR_H

#include "core/base/expr.h"

// Who keeps the nodes: a nest or an instruction. Returns the number of the node.
typedef struct pb_expr_writer {
  int (*add)(void* user, const pb_expr_node* node);
  void* user;
} pb_expr_writer;

// The f32 that the code of a narrow float stands for; exact.
int pb_half_widened(const pb_expr_writer* writer, pb_type type, int code);
// The code of the nearest one to an f32, halves to even; NaN stays one. Past the largest: an infinity, or where the
// type has none, NaN.
int pb_half_rounded(const pb_expr_writer* writer, pb_type type, int number);

// The load whose code the node widens, or whose number it rounds; -1: the node does something else.
int pb_half_widens(const pb_expr_node* expr, int node, pb_type type);
int pb_half_rounds(const pb_expr_node* expr, int node, pb_type type);

#endif

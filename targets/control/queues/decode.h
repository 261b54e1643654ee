// A placed kernel decoded once for running: values numbered, attributes and maps read, blocks laid out in one list.
// The trace goes through a loop's body millions of times; asking MLIR each time took most of its seconds.
#ifndef PB_QUEUES_DECODE_H
#define PB_QUEUES_DECODE_H

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/poly/nest.h"
#include "tdl/chip.h"

#include <mlir-c/IR.h>

typedef enum pb_decoded_kind {
  PB_DECODED_LOOP,    // result: 0 to extent - 1; `other`: its END
  PB_DECODED_END,     // `other`: its LOOP
  PB_DECODED_IF,      // unless operand 0 is 0, goes on behind `other`
  PB_DECODED_APPLY,   // result: the first of the map's results
  PB_DECODED_MAX,     // the largest
  PB_DECODED_MIN,     // the smallest
  PB_DECODED_DIFFERS, // result: operand 0 != operand 1
  PB_DECODED_WINDOW,  // operands: the buffer, the offset, `rank` extents, `rank` strides
  PB_DECODED_CALL
} pb_decoded_kind;

typedef enum pb_affine_kind {
  PB_AFFINE_CONST,
  PB_AFFINE_INPUT,
  PB_AFFINE_ADD,
  PB_AFFINE_MUL,
  PB_AFFINE_MOD,
  PB_AFFINE_FLOORDIV,
  PB_AFFINE_CEILDIV
} pb_affine_kind;

// Expressions of a map in topological order.
typedef struct pb_affine_node {
  pb_affine_kind kind;
  int a, b;      // earlier nodes; INPUT: a is the value
  int64_t value; // CONST
} pb_affine_node;

typedef struct pb_decoded_op {
  pb_decoded_kind kind;
  int result;
  int *operands, operand_count; // values; of maps, their nodes name them
  int64_t extent;
  // LOOP: its iterations are shared out among cores in so many parts, whose number is the digit of weight `weight` of
  // the core's; 0: every core does all of them. The first is iteration `first` of `iterations`.
  int64_t parts, weight, first, iterations;
  int other;
  int rank;
  pb_affine_node* nodes;
  int node_count, *results, result_count; // results: nodes
  const pb_insn* insn;
  const char* nest; // node of the model
} pb_decoded_op;

// A value while the kernel runs: a number, or a buffer or a window on one.
typedef struct pb_unrolled_value {
  double number; // integers up to 2^53 and f32 are exact
  bool is_float; // number: a constant of a float type
  int memory, argument;
  int64_t base, element; // bytes
  int rank;
  int64_t extent[PB_NEST_RANK], stride[PB_NEST_RANK]; // elements
} pb_unrolled_value;

typedef struct pb_decoded {
  pb_decoded_op* ops;
  size_t op_count, op_capacity;
  pb_unrolled_value* values; // constants, arguments and buffers as they stay
  size_t value_count, value_capacity;
  int argument_count, most_nodes;
  int cores; // that have something to do
} pb_decoded;

// `arena` keeps texts and lists. What a placed kernel cannot hold is PB_ERR_UNSUPPORTED. Free it in any case.
pb_status pb_decode_kernel(const pb_chip* chip, MlirOperation func, pb_arena* arena, pb_diag* diag,
                           pb_decoded* decoded) PB_MUST_CHECK;
void pb_decoded_free(pb_decoded* decoded);

#endif

// linalg to stage S1: what the files that know operators share. An operator is a row of linalg.def and a function here;
// the way through the module is StableHLO's (core/frontend/stablehlo/door.h).
#ifndef PB_LINALG_ROWS_H
#define PB_LINALG_ROWS_H

#include "core/frontend/linalg/linalg.h"
#include "core/frontend/stablehlo/door.h"

// A value's type as stage S1 has it: an index is an i64.
pb_type pb__l_type(const pb_door* d, int flat_value);
bool pb__l_same_shape(const pb_flat_type* a, const pb_flat_type* b);
// The operand's value of S1; a refusal where nothing has been stored in it.
pb_status pb__l_in(pb_door* d, const pb_flat_op* op, int k, int* value);
// A value for result k.
int pb__l_result(pb_door* d, const pb_flat_op* op, int k);
// What nothing has been stored in is zeros from here on: where parts of it are stored, or a loop hands it on.
void pb__l_fill_empty(pb_door* d, int flat_value);
bool pb__l_is_constant(const pb_door* d, int value);

// ---- places ----

#define PB_L_DYNAMIC INT64_MIN // as MLIR says that an operand says it
// Where a slice begins in a dim: a value, or a number where that is -1.
typedef struct pb_l_start {
  int value;
  int64_t number;
} pb_l_start;
// Those that are said, and of PB_L_DYNAMIC the operands from `first` on, which must be all that are left.
pb_status pb__l_starts(pb_door* d, const pb_flat_op* op, int first, int rank, const int64_t* said, pb_l_start* starts);
bool pb__l_is_fixed(const pb_l_start* starts, int rank);
void pb__l_slice_at(pb_door* d, int x, int y, const pb_l_start* starts, const int64_t* size, const int64_t* step,
                    const int* of_y);
void pb__l_put_at(pb_door* d, int x, int into, int y, const pb_l_start* starts, const int64_t* size);

// ---- bodies ----

// The body that is being made: its nest, the loops that the operator's dims are, -1 of one turn.
typedef struct pb_l_body {
  pb_door* d;
  pb_nest* n;
  const pb_flat_op* owner;
  const pb_flat_block* block;
  const int* loops;
  int loop_count;
  bool* needed; // by operation of the block: what is yielded hangs on it
} pb_l_body;

// What result k of the block hangs on, -1: all of them; how often by value of the flat form, in the arena.
const int* pb__l_mark(pb_l_body* b, int k);
// The nodes of the marked operations, but `but` (-1: all): its operands are made, and it is not.
pb_status pb__l_body(pb_l_body* b, int but);
// The node of a value, whatever made it.
pb_status pb__l_node(pb_l_body* b, const pb_flat_op* op, int flat_value, int* node);
// The node of an operation of elements from those of its operands.
pb_status pb__l_scalar(pb_door* d, pb_nest* n, const pb_flat_op* op, const int* nodes, int* node);
bool pb__l_is_scalar(const pb_flat_op* op);
// Tensors that a body reads at several places that it computes count as one dim; they become so before it is made.
pb_status pb__l_flatten(pb_l_body* b);

#define OP(name, least, most, results, attributes, function, summary) pb_door_maker pb__l_op_##function;
#include "core/frontend/linalg/linalg.def"
#undef OP

#endif

// Executes a nest on the host, at compile time: what constants alone decide is computed once. Not a reference for what
// kernels compute, which is LLVM's own execution of the IR (core/ir/execute.h).
#ifndef PB_POLY_EVALUATE_H
#define PB_POLY_EVALUATE_H

#include "core/poly/nest.h"

// A number of a node's type: integers with their sign, truths 0 or 1.
typedef union pb_number {
  int64_t i;
  float f;
  double d;
} pb_number;

// Whether nodes of the type have numbers here: integers up to 64 bits, f32 and f64.
bool pb_number_is_of(pb_type type);
// How many bytes an element of the type takes in memory.
static inline size_t pb_number_bytes(pb_type type) { return ((size_t)pb_type_bits(type) + 7) / 8; }
// The element at a place of memory, as its type is stored, and back.
pb_number pb_number_read(pb_type type, const void* at);
void pb_number_write(pb_type type, pb_number number, void* at);
// What the node makes of its operands, of which `types` are the types. false: the operation has no number for them, as
// a division by 0 or an integer of a float out of its range. Functions are rounded from double's.
bool pb_number_compute(const pb_expr_node* node, const pb_type* types, const pb_number* v, pb_number* made);

// Runs the nest, which has no loops around it. data[a]: all elements of access a's tensor, row-major, which it reads or
// writes. false: some node, or some type, has no number; what is written until then stays.
bool pb_nest_evaluate(const pb_nest* nest, void* const* data);

#endif

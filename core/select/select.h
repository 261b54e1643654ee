// Instruction selection: does a nest equal an instruction's semantics, and with which operands, immediates and dims?
// One engine for every chip, asked by the planner ("can this be mapped, at what cost?") and by `map`.
#ifndef PB_SELECT_SELECT_H
#define PB_SELECT_SELECT_H

#include "core/base/expr.h"
#include "tdl/chip.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { PB_FLAT_DIMS = 14, PB_FLAT_ACCESSES = 16, PB_ANY_MEMORY = -1 };

// An access as one linear function of the dims: buffers are dense, so rank does not matter to an address.
typedef struct pb_flat_access {
  int memory; // index in the chip, or PB_ANY_MEMORY
  pb_type type;
  int64_t stride[PB_FLAT_DIMS]; // elements
  // A boxed read: dim d moves index box_rank[d] of the tensor, -1: not bounded along it.
  bool boxed;
  int box_rank[PB_FLAT_DIMS];
  int64_t box_step[PB_FLAT_DIMS]; // by how much dim d moves that index
  // Iterations of dim d that one step of the index takes: elements of a run, where a box is told in elements. 0 is 1.
  int64_t box_run[PB_FLAT_DIMS];
  double fill;       // what is read outside
  bool splat;        // all lanes hold one number: any stride along them will do
  int64_t table;     // elements of one that is read at an index that the body computes, 0: it is none
  int64_t rows, row; // of one whose rows are: how many there are, and elements from one to the next; 0: it is none
  bool aligned_rows; // its base is a multiple of the memory's row
  int64_t base;      // else the bytes that it is a multiple of
} pb_flat_access;

typedef struct pb_flat {
  int dim_count;
  int kept; // so many leading dims stay loops around the instruction: one command for each piece
  int64_t extent[PB_FLAT_DIMS];
  int expr_count;
  const pb_expr_node* expr;
  pb_reduce reduce;
  bool unfilled;    // no mover may fill it: there is nothing outside on which its window would stand
  bool onto;        // reduce: adds to what is there and never sets it
  int counted;      // 1 + the dim whose iteration the body takes as a number; 0: none, -1: several
  int access_count; // the last one is the store
  pb_flat_access access[PB_FLAT_ACCESSES];
} pb_flat;

// Without the room for accesses that it does not have, which is most of a nest.
static inline void pb_flat_copy(pb_flat* to, const pb_flat* from) {
  memcpy(to, from, offsetof(pb_flat, access) + (size_t)from->access_count * sizeof *from->access);
}

typedef struct pb_match {
  const pb_insn* insn;
  int dim_of[PB_MAX_INSN_DIMS];   // instruction dim -> dim of `nest`; -1: extent 1
  int access_of[PB_MAX_OPERANDS]; // window -> access; -1 for immediates
  double imm[PB_MAX_OPERANDS];    // immediates, but the accumulate flag
  bool fills;                     // the nest stores a constant: a mover whose box is empty does it
  double fill;
  int loop_count;
  int loops[PB_FLAT_DIMS]; // dims of `nest` left as loops around the instruction, outermost first
  int64_t cycles;          // of all its executions
  int twin_count;          // instructions that would do the same at the same cost, on other queues
  const pb_insn* twins[4];
  pb_flat nest; // merged and split as the instruction wants it
} pb_match;

// The operand that stands for an access; -1: none does.
static inline int pb_match_operand(const pb_match* match, int access) {
  for (int o = 0; o < match->insn->operand_count; ++o)
    if (match->access_of[o] == access) return o;
  return -1;
}

static inline void pb_match_copy(pb_match* to, const pb_match* from) {
  memcpy(to, from, offsetof(pb_match, nest));
  pb_flat_copy(&to->nest, &from->nest);
}

// The cheapest instruction of the chip that computes the nest. On failure returns false and, in *why (static or in
// arena), what came closest and, behind a line feed, the first thing of the nearest instruction that does not fit.
bool pb_select(const pb_chip* chip, const pb_flat* nest, pb_arena* arena, pb_match* match, const char** why);

// Whether an instruction computes the nest's value, whatever the strides.
bool pb_select_knows(const pb_chip* chip, const pb_flat* nest);

static inline bool pb_is_number(const pb_expr_node* node, int64_t number) {
  return node->op == PB_OP_CONST && node->value == (double)number;
}
// What node n keeps among so many rows, the number of one of them; n itself: it keeps nothing so. Commands that gather
// keep numbers inside by themselves.
int pb_row_unclamped(const pb_expr_node* expr, int n, int64_t rows);

// Joins neighbouring dims that every access walks as one.
void pb_flat_merge(pb_flat* nest);

#endif

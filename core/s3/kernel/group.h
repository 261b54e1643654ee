// What a kernel function of one stage, or one stage of several, computes, read off its nests: a main nest, what feeds
// its input, its epilogues.
#ifndef PB_S3_GROUP_H
#define PB_S3_GROUP_H

#include "core/s3/kernel/around.h"
#include "core/s3/kernel/vector.h"
#include "core/s3/program.h"
#include "core/select/memo.h"

enum { PB_MAX_PROLOGUES = 8 };

typedef struct pb_vkernel pb_vkernel; // vector_kernel.h

// What a stage computes: a main nest (a reduction, or pointwise), what feeds its input, what stands around it.
typedef struct pb_group {
  const pb_program* program; // of the kernel function
  int main_index;
  bool reduces;
  bool alone;    // it is one iteration of loops around, which are shared: nobody takes a part of it
  int64_t lanes; // elements in a row of the chip's vectors
  int x;         // the access that the plan's x_level is about
  int prologue_count, prologues[PB_MAX_PROLOGUES]; // nests that make x, to be sliced into the tile
  pb_around around;                                // its epilogues, over main's dims
  // The nest that makes the weights of the parts of their stored form: main reads the first part in their place. NULL:
  // none does.
  const pb_nest* expands;
  const pb_insn* contraction; // the instruction, when the main nest is a contraction that the chip has one for
  pb_contraction_dims roles, insn_roles;
  pb_select_memo* memo;  // of the kernel's nests, on their way into tiles
  pb_vkernel* registers; // as cores run it, main as there; NULL: the chip's instructions take tiles of its operands
  // Where code runs it, of each dim of its tree: whether its elements are a register's lanes, and its tiles columns.
  bool lane[PB_NEST_DIMS], column[PB_NEST_DIMS];
  int values_in;     // the memory that holds what its nests make in a tile; -1: each one's instruction says where
  const char* plain; // why cores run it as plain loops; NULL: they do not
  pb_nest main;      // with a pad folded into its input as a box
} pb_group;

// Reads what the kernel function computes. PB_ERR_UNSUPPORTED with the op's place when the chip has no way.
pb_status pb_group_read(const pb_program* program, const pb_chip* chip, pb_arena* arena, pb_diag* diag,
                        pb_group* group) PB_MUST_CHECK;

#endif

// A kernel of nests as cores with vector registers run it: one main nest, whose sums or values stay in registers, what
// they start from, and the pointwise nests that take them before they are stored.
#ifndef PB_S3_VECTOR_KERNEL_H
#define PB_S3_VECTOR_KERNEL_H

#include "core/s3/kernel/border.h"
#include "core/s3/kernel/group.h"
#include "core/s3/kernel/parts.h"

struct pb_vkernel {
  // Of the group, by element number: each access has one index. last: the one that stores the result.
  const pb_nest *main, *last;
  bool is_sum[PB_NEST_DIMS]; // the dim is summed over
  int lane_dim;              // whose elements are lanes, -1: none, the code is scalar
  int lanes;                 // of a vector; 1: scalar
  // Two dims of the kernel that were made one, because a load comes in runs along them: `run` neighbours take one
  // element, the next run that run_stride further on; -1: none, and no run_access.
  int run_dim, run_access;
  int64_t run, run_stride;
  int transpose_dim;   // along it some loads find neighbours, and not along lane_dim: squares are transposed; -1: none
  int apart_cycles;    // not 0: instead, lanes of these are loaded from addresses of their own, which takes so long
  pb_vector_insn insn; // insn.insn NULL: plain operations
  int x, w;            // the accesses that it multiplies
  int group_dim;       // inside the instruction, -1: none
  int each_dim;        // whose elements of w are a lane's neighbours, which come by one load, -1: none
  bool taps; // along group_dim x's neighbours lie apart, each with neighbours for all lanes; fewer than the group has
  pb_matrix_insn matrix;  // matrix.product.insn NULL: insn, if any, works on vectors; else it is insn.insn
  int row_dim, depth_dim; // whose elements are the rows of x and the steps of the sum inside it, -1: none
  int64_t rows, depth;    // how many of them at once
  int shapes;             // of matrices that the kernel's stages multiply, 0: this stage's alone
  // Each element is stored where one of a tensor is loaded, in whose place it may lie: tiles, which load all that they
  // need before they store, may not meet.
  bool once;
  // Of x, along what moves all lanes alike: products by their zeros are left out.
  pb_border borders[PB_NEST_RANK];
  int border_count;
};

// Inside group: the main nest. `joins`: two of its dims become one if they are the lanes of a load
// that comes in runs. NULL, or why it is in no form that vectors walk (static).
const char* pb_vkernel_begin(pb_group* group, pb_vkernel* kernel, bool joins);
// The rest, when roles and what stands around are known: where its lanes are, and the instruction. The same.
const char* pb_vkernel_read(pb_group* group, pb_vkernel* kernel);
// How far one step of a dim, or of a loop around, moves an access of the group's nests.
static inline int64_t pb_vkernel_stride(const pb_access* access, int col) { return access->index[0].coef[col]; }
static inline int pb_vkernel_store(const pb_nest* nest) { return nest->access_count - 1; }
// What is stored last: the access of the last epilogue, or of the main nest.
static inline const pb_access* pb_vkernel_result(const pb_vkernel* k) {
  return &k->last->access[pb_vkernel_store(k->last)];
}
// Neighbours along a dim that stand in one register.
int64_t pb_vkernel_unit(const pb_vkernel* kernel, int dim);
// Steps of a dim: elements, along lane_dim registers and along row_dim rows of a matrix (the last one may be short).
int64_t pb_vkernel_steps(const pb_vkernel* kernel, int dim);
// Whether the dim moves w and not x: its tiles are columns. Others are rows.
bool pb_vkernel_is_column(const pb_vkernel* kernel, int dim);
// Whether tiles are made along the dim: it is neither summed nor one register.
bool pb_vkernel_is_spatial(const pb_vkernel* kernel, int dim);
// The summed dim along which windows of x overlap where d moves them, -1: none.
int pb_vkernel_overlapped(const pb_vkernel* kernel, int dim);
// Whether x comes by vectors, each channel with its own, and not one element for all lanes.
static inline bool pb_vkernel_by_vectors(const pb_vkernel* k) {
  return k->insn.insn && !k->taps && k->lane_dim >= 0 && k->run_access != k->x &&
         pb_vkernel_stride(&k->main->access[k->x], k->lane_dim);
}
// Elements from the first to the last run: they lie in one place, whichever of the summed dims inside moves.
static inline int64_t pb_vkernel_runs(const pb_vkernel* k) { return k->lanes / k->run * k->run_stride; }
// Whether a summed dim walks elements between the first and the last run.
bool pb_vkernel_inside_runs(const pb_vkernel* kernel, int dim);
// How far a dim, or a loop around, moves x along a border.
static inline int64_t pb_vkernel_border_steps(const pb_vkernel* k, const pb_border* border, int col) {
  return pb_border_steps(border, pb_vkernel_stride(&k->main->access[k->x], col));
}
// The dim of the kernel's tree that dim d of the main nest is: lanes that come in runs are two dims there, and d the
// inner one of them.
static inline int pb_vkernel_tree_dim(const pb_vkernel* k, int d) { return d + (k->run_dim >= 0 && d >= k->run_dim); }
// And back.
static inline int pb_vkernel_dim(const pb_vkernel* k, int d) { return d - (k->run_dim >= 0 && d > k->run_dim); }

#endif

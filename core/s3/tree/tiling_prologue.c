// Nests that make x in front of a tile: each is cut to the slice that the tile reads.
#include "core/s3/tree/tiling.h"

#include <string.h>

// The own dim that the index is, plus a number; -1: a number alone. false: it is something else.
static bool is_shifted_dim(const pb_index* index, int* dim) {
  pb_index from_zero = *index;
  from_zero.cst = 0;
  return pb_index_single(&from_zero, dim);
}

// Cuts what the nest makes along index r to the box, which begins at `begin`. Returns how much is left.
static int64_t clip(pb_nest* nest, int r, int64_t begin, int64_t extent) {
  pb_index* made = &pb_nest_store(nest)->index[r];
  int d;
  if (!is_shifted_dim(made, &d)) return -1;
  int64_t first = made->cst > begin ? made->cst : begin, end = made->cst + (d < 0 ? 1 : nest->extent[d]);
  if (end > begin + extent) end = begin + extent;
  if (d >= 0) {
    pb__tiling_shift(nest, nest->access_count - 1, d, &(pb_index){.cst = first - made->cst});
    nest->extent[d] = end - first;
  }
  made->cst = first - begin;
  return end > first ? end - first : 0;
}

static bool moves(const pb_index* index) {
  for (int c = 0; c < PB_NEST_COLS; ++c)
    if (index->coef[c]) return true;
  return false;
}

bool pb__tiling_prologue(pb_tiling* t, const pb_nest* prologue, const pb_nest* load, const pb_access* box) {
  const pb_access* x = &load->access[0];
  pb_nest nest;
  pb_nest_copy(&nest, prologue);
  nest.part = "load";
  for (int r = 0; r < box->rank; ++r) {
    if (box->shape[r] == x->shape[r]) continue; // whole along this index: the prologue's dims stay as they are
    int d;
    pb_index origin = x->index[r];
    memset(origin.coef, 0, PB_NEST_DIMS * sizeof *origin.coef); // the load's own dims
    if (!moves(&origin)) {                                      // a part that is the same in every iteration
      int64_t left = clip(&nest, r, origin.cst, box->shape[r]);
      if (left < 0) return pb__tiling_fail(t, "what fills its input cannot be cut along a tile");
      if (left == 0) return true;
      continue;
    }
    bool own =
        pb_index_single(&prologue->access[prologue->access_count - 1].index[r], &d); // the slice of x is a slice of d
    if (!own || d < 0 || prologue->extent[d] != x->shape[r])
      return pb__tiling_fail(t, "what fills its input cannot be cut along a tile");
    nest.extent[d] = box->shape[r];
    pb__tiling_shift(&nest, nest.access_count - 1, d, &x->index[r]);
  }
  for (int a = 0; t->into && a + 1 < nest.access_count; ++a)
    if (pb__tiling_leaves(t, &nest, &nest.access[a])) nest.access[a].boxed = true;
  pb_access* store = pb_nest_store(&nest);
  store->memref.ptr = NULL;
  store->buffer = load->access[1].buffer;
  memcpy(store->shape, load->access[1].shape, sizeof store->shape);
  pb__tiling_add(t, load->outer_count, &nest);
  return true;
}

// Inside `layout`: contractions over few channels under a window, by an instruction one lane of which sums a group of
// neighbours. Groups of channels would be partly empty, and the image would have to be interleaved for them. Groups of
// the window's row are neighbours in the image as it lies; weights of 0 fill the last one.
//
//   before   y[o, h, w] += x[c, h + r, 2 w + s] * k[o, c, r, s]                       of c: 3, of s: 7
//   after    y[o, h, w] += x[c, h + r, 2 w + 4 v + q] * k'[o, c, r, v, q]             of v: 2, of q: 4
#include "core/s3/layout/layout.h"

static int64_t groups(int64_t extent, int64_t group) { return pb__layout_blocks(extent, group); }

// The window's own dim along the image's rows, -1: it has none, or its columns are no neighbours.
static int column_dim(const pb_nest* nest, const pb_contraction_dims* roles) {
  const pb_index* index = &nest->access[roles->x].index[3];
  int found = -1;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (!index->coef[d] || roles->role[d] != PB_ROLE_K) continue;
    if (found >= 0 || index->coef[d] != 1) return -1;
    found = d;
  }
  return found;
}

// Whether the image has what whole groups read, the last of which may reach over the window's end.
static bool reaches(const pb_nest* nest, const pb_access* x, int column, int64_t whole) {
  int64_t last = x->index[3].cst;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (x->index[3].coef[d] < 0) return false;
    last += x->index[3].coef[d] * ((d == column ? whole : nest->extent[d]) - 1);
  }
  return last < x->shape[3];
}

int pb__layout_window(const pb_layout* l, int n, const pb_contraction_dims* roles) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* x = &nest->access[roles->x];
  if (l->whole_rows || x->rank != 4 || !pb__layout_weighs(l, n, roles)) return -1;
  int channel = pb__layout_summed_along(nest, roles, 1), column = column_dim(nest, roles);
  if (column < 0) return -1;
  pb_vector_insn insn = pb_vector_contraction(l->selections, roles->x_type, roles->w_type, nest->access[roles->y].type);
  int64_t channels = channel < 0 ? 1 : nest->extent[channel], columns = nest->extent[column], group = insn.group;
  if (!insn.insn || group < 2 || channels != x->shape[1] || channels * 2 > l->lanes) return -1;
  if (channels * groups(columns, group) > columns * groups(channels, group)) return -1;
  return reaches(nest, x, column, groups(columns, group) * group) ? column : -1;
}

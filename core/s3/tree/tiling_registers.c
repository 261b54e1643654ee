// Register tiles as the tree has them. The kernel stands over the tree's dims and takes tensors by element number, so
// that dims which all of them walk as one can be one; what nests of a tile make for each other lies in buffers of the
// register file.
#include "core/s3/tree/tiling_stage.h"

#include <string.h>

// Dims of the tree are the main nest's, but lanes that come in runs are two again: back.
static int kernel_dim(const pb_vkernel* k, int d) { return d - (k->run_dim >= 0 && d > k->run_dim); }

static int64_t run_of(const pb_vkernel* k) {
  for (int a = 0; a < pb_vkernel_store(&k->main); ++a)
    if (k->main.access[a].run) return k->main.access[a].run;
  return 1;
}

// An access by element number; `placed`: the same as the group has it. A stage that is planned by itself is in none of
// the loops around: it is as their first iteration walks it.
static void set_access(const pb_tiling* t, const pb_vaccess* from, const pb_access* placed, pb_access* to) {
  // A stage that is planned alone has none of the buffers that its kernel will have: they are tensors there.
  bool in_buffer = !placed->memref.ptr && placed->buffer >= 0 && placed->buffer < t->buffer_count;
  *to = (pb_access){.memref = placed->memref,
                    .buffer = in_buffer ? placed->buffer : -1,
                    .type = from->type,
                    .rank = 1,
                    .shape = {in_buffer ? t->buffers[placed->buffer].shape[0] : pb_access_elements(placed)},
                    .gathered = from->is_table};
  to->index[0].cst = from->cst;
  memcpy(to->index[0].coef, from->stride, sizeof from->stride);
  memcpy(&to->index[0].coef[PB_NEST_DIMS], from->outer, sizeof *from->outer * (size_t)t->base);
}

// What nests of the tile hand on lies in an index a dim, lanes innermost.
static void set_nest(const pb_tiling* t, const pb_vkernel* k, const pb_vnest* from, const pb_nest* placed,
                     pb_nest* to) {
  pb_nest_copy(to, from->nest);
  to->macs = 0;
  for (int a = 0; a < to->access_count; ++a) set_access(t, &from->access[a], &placed->access[a], &to->access[a]);
  if (k->run_dim >= 0) pb_nest_cut_dim(to, k->run_dim, run_of(k));
  for (int a = 0; a < to->access_count; ++a) {
    if (from->access[a].run) to->access[a].index[0].coef[k->run_dim] = from->access[a].run_stride;
    if (from->access[a].argument >= 0) continue;
    to->access[a] = pb__tiling_by_dims(t, to, &to->access[a], to->extent);
    to->access[a].memref = placed->access[a].memref;
  }
}

static const pb_nest* keep_nest(const pb_tiling* t, const pb_vkernel* k, const pb_vnest* from, const pb_nest* placed) {
  pb_nest nest;
  set_nest(t, k, from, placed, &nest);
  return pb_nest_kept(t->arena, &nest);
}

void pb__registers_begin(pb_tiling* t) {
  const pb_vkernel* k = t->group->registers;
  pb_group* group = pb_alloc_raw(t->arena, sizeof *group);
  pb_plan* plan = PB_NEW(t->arena, pb_plan);
  group->program = t->group->program; // its main nest is large, and comes anew
  memcpy(&group->main_index, &t->group->main_index, sizeof *group - offsetof(pb_group, main_index));
  *plan = *t->plan;
  set_nest(t, k, &k->main, &t->group->main, &group->main);
  if (group->around.init) group->around.init = keep_nest(t, k, &k->init, group->around.init);
  for (int n = 0; n < group->around.epilogue_count; ++n)
    group->around.epilogues[n].nest = keep_nest(t, k, &k->epilogues[n], group->around.epilogues[n].nest);
  for (int b = 0; b < plan->band_count; ++b) plan->bands[b].dim = pb_vkernel_tree_dim(k, plan->bands[b].dim);
  if (group->reduces && group->around.epilogue_count) { // what is made of sums so far lies where the result will be
    pb_access* sums = pb_nest_store(&group->main);
    const pb_nest* last = group->around.epilogues[group->around.epilogue_count - 1].nest;
    pb_type type = sums->type;
    *sums = last->access[last->access_count - 1];
    sums->type = type;
  }
  plan->x_level += t->base; // a plan of registers counts its own loops alone
  plan->w_level += t->base;
  plan->result_level += t->base;
  t->group = group;
  t->plan = plan;
  t->first_register = t->buffer_count;
  pb__registers_free(t);
}

// ---- values of a tile ----

bool pb__registers_is_lane(const pb_tiling* t, int dim) {
  const pb_vkernel* k = t->group->registers;
  return k && k->lane_dim >= 0 && kernel_dim(k, dim) == k->lane_dim;
}

// ---- loops ----

bool pb__registers_is_column(const pb_tiling* t, int band) {
  const pb_vkernel* k = t->group->registers;
  return pb_vkernel_is_column(k, kernel_dim(k, t->plan->bands[band].dim));
}

// Balanced tiles, whole registers each; the last one ends where the dim does. If it is one register alone, or of
// matrices, whose rows are as many in every tile of a kernel, it begins earlier and makes some elements once more.
int pb__register_runs(const pb_tiling* t, const pb_tile* tile, const pb_band* band, pb_iterations* runs) {
  const pb_vkernel* k = t->group->registers;
  int d = kernel_dim(k, band->dim), count = 0;
  int64_t unit = k->is_sum[d] ? 1 : pb_vkernel_unit(k, d), extent = tile->extent[band->dim];
  int64_t steps = (extent + unit - 1) / unit, rest = extent % unit;
  pb_parts tiles = pb_parts_of(steps, band->step / unit);
  int64_t size = tiles.size, big = tiles.big, small = tiles.count - big;
  int64_t whole[2] = {big - (rest && !small), small - (rest && small)};
  for (int less = 0; less < 2; ++less) {
    int64_t step = (size - less) * unit;
    if (whole[less] > 0) runs[count++] = (pb_iterations){whole[less], step, less ? big * size * unit : 0, step};
  }
  int64_t last = (small ? size - 1 : size) * unit;
  if (!rest) return count;
  if (last == unit || d == k->row_dim)
    runs[count++] = (pb_iterations){1, last, extent - last, 0};
  else
    runs[count++] = (pb_iterations){1, last - unit + rest, steps * unit - last, 0};
  return count;
}

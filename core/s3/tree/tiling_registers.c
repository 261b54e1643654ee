// Register tiles as the tree has them. The kernel stands over the tree's dims and takes tensors by element number, so
// that dims which all of them walk as one can be one; what nests of a tile make for each other lies in buffers of the
// register file.
#include "core/s3/tree/tiling_stage.h"

#include <string.h>

// A stage that is planned by itself has none of the buffers that its kernel will have, which are tensors there, and is
// in none of the loops around: it is as their first iteration walks it.
static void place_alone(const pb_tiling* t, pb_access* access) {
  bool in_buffer = !access->memref.ptr && access->buffer >= 0 && access->buffer < t->buffer_count;
  if (in_buffer) access->shape[0] = t->buffers[access->buffer].shape[0];
  if (!in_buffer) access->buffer = -1;
  memset(&access->index[0].coef[PB_NEST_DIMS + t->base], 0, sizeof(int64_t) * (size_t)(PB_NEST_OUTERS - t->base));
}

// What nests of the tile hand on lies in an index a dim, lanes innermost.
static void enter_registers(const pb_tiling* t, const void* user, int n, pb_nest* nest) {
  const pb_vkernel* k = t->group->registers;
  const pb_program* p = t->group->program;
  (void)user;
  if (n < 0) return;
  nest->macs = 0;
  for (int a = 0; a < nest->access_count; ++a) place_alone(t, &nest->access[a]);
  if (k->run_dim >= 0) pb_nest_cut_dim(nest, k->run_dim, k->run);
  if (k->run_dim >= 0 && n == t->group->main_index)
    nest->access[k->run_access].index[0].coef[k->run_dim] = k->run_stride;
  for (int a = 0; a < nest->access_count; ++a) {
    pb_access* access = &nest->access[a];
    MlirValue memref = access->memref;
    if (!pb_program_is_local(p, p->value_of[n][a])) continue;
    *access = pb__tiling_by_dims(t, nest, access, nest->extent);
    access->memref = memref;
  }
}

void pb__registers_begin(pb_tiling* t) {
  const pb_vkernel* k = t->group->registers;
  pb_group* group = pb__tiling_group_with(t, enter_registers, NULL);
  pb_plan* plan = PB_NEW(t->arena, pb_plan);
  *plan = *t->plan;
  const pb_around* around = &group->around;
  for (int b = 0; b < plan->axis_count; ++b) plan->axes[b].dim = pb_vkernel_tree_dim(k, plan->axes[b].dim);
  if (group->reduces && around->epilogue_count) { // what is made of sums so far lies where the result will be
    pb_access* sums = pb_nest_store(&group->main);
    const pb_nest* last = around->epilogues[around->epilogue_count - 1].nest;
    pb_type type = sums->type;
    *sums = last->access[last->access_count - 1];
    sums->type = type;
  }
  for (int o = 0; o < PB_PLAN_OPERANDS; ++o) // a plan of registers counts its own loops alone
    plan->chain[o].home[0].around += t->base;
  t->group = group;
  t->plan = plan;
  t->first_register = t->buffer_count;
  pb__registers_free(t);
}

// ---- loops ----

// The outermost axis of rows, or of columns; -1: there is none.
static int first_axis(const pb_vkernel* k, const pb_plan* plan, bool columns) {
  for (int b = 0; b < plan->axis_count; ++b)
    if (pb_vkernel_is_spatial(k, plan->axes[b].dim) && pb_vkernel_is_column(k, plan->axes[b].dim) == columns) return b;
  return -1;
}

int64_t pb_registers_parts(const pb_vkernel* k, const pb_plan* plan, bool columns) {
  int axis = first_axis(k, plan, columns);
  return axis < 0 ? 1 : pb_axis_parts(&plan->axes[axis]);
}

void pb_registers_share(const pb_vkernel* k, pb_plan* plan, bool columns, int64_t parts) {
  int axis = first_axis(k, plan, columns);
  if (axis >= 0) plan->axes[axis].members = parts;
}

// Threads number the tiles of all rows, and those of all columns: the loops of each stand one inside the other, one for
// each dim, around the sums.
bool pb__registers_axes_legal(pb_tiling* t) {
  const pb_plan* plan = t->plan;
  const pb_vkernel* k = t->group->registers;
  int levels = pb__tiling_levels(t), turns = 0, last = -1;
  for (int b = 0; b < plan->axis_count; ++b) {
    const pb_axis* axis = &plan->axes[b];
    int d = pb_vkernel_dim(k, axis->dim);
    if (k->is_sum[d] && pb_plan_left(plan, b, axis->dim, t->group->main.extent[axis->dim]) % axis->step)
      return pb__tiling_fail(t, "a sum is not taken in equal steps");
    if (k->is_sum[d] && d != k->group_dim) continue; // an instruction sums all of that
    if (t->base + b >= pb_plan_around(plan, PB_OF_RESULT))
      return pb__tiling_fail(t, "a loop inside the result's home is of no summed dim");
    if (!pb_vkernel_is_spatial(k, d) || axis->step % pb_vkernel_unit(k, d))
      return pb__tiling_fail(t, "a tile is no whole number of registers");
    turns += last >= 0 && t->group->column[axis->dim] != t->group->column[last];
    last = axis->dim;
    if (turns > 1 || pb_plan_left(plan, b, axis->dim, 0))
      return pb__tiling_fail(t, "loops of rows and of columns are not one inside the other, one for each dim");
  }
  bool inside = pb_plan_around(plan, PB_OF_X) == levels && pb_plan_around(plan, PB_OF_W) == levels, one = true;
  for (int o = 0; o < PB_PLAN_OPERANDS; ++o) {
    const pb_chain* chain = &plan->chain[o];
    one &= chain->count <= 1 && chain->home[0].copies == 1 && !chain->home[0].kept;
  }
  if (!inside || !one)
    return pb__tiling_fail(t, "operands are in registers: x and w have one home of one copy, inside all loops");
  return true;
}

// Balanced tiles, whole registers each; the last one ends where the dim does. If it is one register alone, or of
// matrices, whose rows are as many in every tile of a kernel, it begins earlier and makes some elements once more.
int pb__register_runs(const pb_tiling* t, const pb_tile* tile, const pb_axis* axis, pb_iterations* runs) {
  const pb_vkernel* k = t->group->registers;
  int d = pb_vkernel_dim(k, axis->dim), count = 0;
  int64_t unit = k->is_sum[d] ? 1 : pb_vkernel_unit(k, d), extent = tile->extent[axis->dim];
  int64_t steps = (extent + unit - 1) / unit, rest = extent % unit;
  pb_parts tiles = pb_parts_of(steps, axis->step / unit);
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

#include "core/s3/plan/plan_search.h"

#include "core/s3/kernel/vector_kernel.h"

// What dim d does; PB_ROLE_NONE: nothing that a axis could be about. Where commands multiply, weights of a group of its
// own move in as those of a column do; in registers groups are rows.
static pb_role role_of(const pb_group* g, bool commands, int d) {
  pb_role role = g->contraction ? g->roles.role[d] : PB_ROLE_NONE;
  if (commands) return role == PB_ROLE_B ? PB_ROLE_N : role;
  if (pb_nest_reduces_over(&g->main, d)) return PB_ROLE_K;
  if (!pb_access_uses(&g->main.access[g->main.access_count - 1], d)) return PB_ROLE_NONE;
  return role == PB_ROLE_N ? role : PB_ROLE_M;
}

// Whether one register holds all of the dim, or one instruction sums it.
static bool in_register(const pb_vkernel* k, int d) {
  return d == k->group_dim || (!k->is_sum[d] && !pb_vkernel_is_spatial(k, d));
}

// Whether one command walks all of it. A summed dim that walks x by neighbours but is no lane (a window of a row) is a
// loop.
static bool in_command(const pb_group* g, const pb_taps* taps, pb_role role, int d) {
  const pb_nest* main = &g->main;
  int64_t lanes = g->lanes;
  if (!g->contraction) return main->dim_count > 1 && pb_access_stride(&main->access[main->access_count - 1], d) == 1;
  if (taps->step[d]) return true;
  bool by_lanes = pb_sums_by_lanes(g->contraction, &g->insn_roles);
  if (g->roles.role[d] == PB_ROLE_B && !by_lanes) return false;
  if (role != PB_ROLE_K) return role == PB_ROLE_N && pb_access_stride(&main->access[g->roles.y], d) == 1;
  if (!by_lanes && pb_insn_lanes(g->contraction, &g->insn_roles, PB_ROLE_K) > 0)
    lanes = pb_insn_lanes(g->contraction, &g->insn_roles, PB_ROLE_K);
  return pb_access_stride(&main->access[g->roles.x], d) == 1 && main->extent[d] == lanes;
}

static void add(pb_plan_dims* dims, pb_role role, int d) {
  if (role == PB_ROLE_M) dims->rows[dims->row_count++] = d;
  if (role == PB_ROLE_N) dims->columns[dims->column_count++] = d;
  if (role == PB_ROLE_K) dims->sums[dims->sum_count++] = d;
}

void pb__plan_dims_of(const pb_chip* chip, const pb_group* g, pb_plan_dims* dims) {
  *dims = (pb_plan_dims){.row_count = 0};
  const pb_vkernel* k = g->registers;
  bool commands = g->contraction && !k;
  if (commands && pb_sums_by_lanes(g->contraction, &g->insn_roles))
    pb_taps_of(chip, g->lanes, &g->main, &g->roles, g->contraction, &g->insn_roles, &dims->taps);
  for (int last = 0; last < 2; ++last) // where commands take rows of x, a window along a row is summed innermost
    for (int d = 0; d < g->main.dim_count; ++d) {
      pb_role role = role_of(g, commands, d);
      bool along_x = commands && role == PB_ROLE_K && pb_access_stride(&g->main.access[g->roles.x], d) == 1;
      if (along_x != last || (k ? in_register(k, d) : in_command(g, &dims->taps, role, d))) continue;
      add(dims, role, d);
    }
  dims->batches = dims->row_count > 2 ? dims->row_count - 2 : 0;
  dims->outer = dims->row_count > 0 ? dims->rows[dims->batches] : -1;
  dims->inner = dims->row_count > 1 ? dims->rows[dims->row_count - 1] : -1;
}

void pb_plan_tile(const pb_plan* plan, const pb_nest* main, int64_t* tile) {
  for (int d = 0; d < main->dim_count; ++d) tile[d] = pb_plan_left(plan, plan->axis_count, d, main->extent[d]);
}

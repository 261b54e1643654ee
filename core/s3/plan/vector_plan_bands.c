// Tiles in registers as bands of a plan, and back.
#include "core/s3/plan/vector_plan.h"

static void add_band(pb_plan* plan, int dim, int64_t step) { plan->bands[plan->band_count++] = (pb_band){dim, step}; }

static bool is_summed(const pb_vkernel* k, int d) { return k->is_sum[d] && d != k->group_dim; }

static void add_tiles(const pb_vkernel* k, const pb_vplan* v, bool columns, pb_plan* plan) {
  for (int d = 0; d < k->main.nest->dim_count; ++d) {
    if (!pb_vkernel_is_spatial(k, d) || pb_vkernel_is_column(k, d) != columns) continue;
    pb_vtiles tiles = pb_vplan_tiles(k, v, d);
    if (tiles.count > 1) add_band(plan, d, tiles.size * pb_vkernel_unit(k, d));
  }
}

void pb__vplan_bands(const pb_vkernel* k, const pb_vplan* v, pb_plan* plan) {
  int outer = pb_vplan_outer_sum(k);
  *plan = (pb_plan){.x_depth = 1,
                    .w_depth = 1,
                    .result_depth = 1,
                    .row_parts = v->row_chunks,
                    .column_parts = v->column_chunks,
                    .cycles = v->cycles,
                    .bound = v->bound};
  if (v->sum_blocks > 1) add_band(plan, outer, k->main.nest->extent[outer] / v->sum_blocks);
  add_tiles(k, v, !v->columns_inside, plan);
  add_tiles(k, v, v->columns_inside, plan);
  plan->result_level = plan->band_count;
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (is_summed(k, d) && v->tile[d] < k->main.nest->extent[d]) add_band(plan, d, v->tile[d]);
  plan->x_level = plan->w_level = plan->band_count;
}

// The outermost summed dim in parts.
static bool read_blocks(const pb_vkernel* k, const pb_plan* plan, pb_vplan* v, const char** why) {
  const pb_band* band = &plan->bands[0];
  int64_t extent = k->main.nest->extent[band->dim];
  *why = "the band of a sum outside result_level is not the outermost one, or no whole part of it";
  if (band->dim != pb_vplan_outer_sum(k) || band->step < 1 || extent % band->step) return false;
  v->sum_blocks = extent / band->step;
  return true;
}

static bool read_tiles(const pb_vkernel* k, const pb_plan* plan, int first, pb_vplan* v, const char** why) {
  int turns = 0;
  for (int b = first; b < plan->result_level; ++b) {
    const pb_band* band = &plan->bands[b];
    bool column = pb_vkernel_is_column(k, band->dim),
         other = b > first && column != pb_vkernel_is_column(k, band[-1].dim);
    *why = "a band outside result_level is of no dim that tiles are made along";
    if (band->dim >= k->main.nest->dim_count || !pb_vkernel_is_spatial(k, band->dim)) return false;
    *why = "a tile is no whole number of registers";
    if (band->step < 1 || band->step % pb_vkernel_unit(k, band->dim)) return false;
    *why = "tiles of rows and of columns go one inside the other, the dims of each in order";
    turns += other;
    if (turns > 1 || (b > first && !other && band->dim <= band[-1].dim)) return false;
    v->tile[band->dim] = band->step / pb_vkernel_unit(k, band->dim);
    if (turns) v->columns_inside = column;
  }
  return true;
}

static bool read_sums(const pb_vkernel* k, const pb_plan* plan, pb_vplan* v, const char** why) {
  for (int b = plan->result_level; b < plan->band_count; ++b) {
    const pb_band* band = &plan->bands[b];
    *why = "a band inside result_level is of no summed dim, or they are out of order";
    if (band->dim >= k->main.nest->dim_count || !is_summed(k, band->dim)) return false;
    if (b > plan->result_level && band->dim <= band[-1].dim) return false;
    *why = "a band does not cut its dim";
    if (band->step < 1 || band->step >= k->main.nest->extent[band->dim]) return false;
    v->tile[band->dim] = band->step;
  }
  return true;
}

bool pb_vplan_of(const pb_vkernel* k, const pb_plan* plan, pb_vplan* v, const char** why) {
  const pb_nest* nest = k->main.nest;
  *v = (pb_vplan){.row_chunks = plan->row_parts,
                  .column_chunks = plan->column_parts,
                  .sum_blocks = 1,
                  .columns_inside = nest->reduce == PB_SET, // where one of the two is not cut it makes no difference
                  .bound = plan->bound};
  for (int d = 0; d < PB_NEST_DIMS; ++d) v->tile[d] = 1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (k->is_sum[d] || pb_vkernel_is_spatial(k, d))
      v->tile[d] = k->is_sum[d] ? nest->extent[d] : pb_vkernel_steps(k, d);
  *why = "result_level is past the bands";
  if (plan->result_level > plan->band_count) return false;
  *why = "operands are in registers: x_level and w_level are inside all bands, and there is one copy of each";
  if (plan->x_level != plan->band_count || plan->w_level != plan->band_count || plan->x_stays || plan->producer ||
      plan->x_depth != 1 || plan->w_depth != 1 || plan->result_depth != 1)
    return false;
  bool blocks = plan->result_level > 0 && plan->bands[0].dim < nest->dim_count && k->is_sum[plan->bands[0].dim];
  return (!blocks || read_blocks(k, plan, v, why)) && read_tiles(k, plan, blocks, v, why) && read_sums(k, plan, v, why);
}

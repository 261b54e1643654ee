// Tiles in registers as bands of a plan, and back; and which of them there can be.
#include "core/s3/plan/plan_registers.h"

#include "core/s3/plan/plan_search.h"
#include "core/s3/tree/cost_cores.h"

int pb__register_outer_sum(const pb_vkernel* k) {
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (k->is_sum[d] && d != k->group_dim) return d;
  return -1;
}

static pb_vtiles tiles_along(const pb_vkernel* k, const pb_register_tiles* v, int d) {
  return pb_vkernel_balanced(pb_vkernel_steps(k, d), v->tile[d]);
}

int64_t pb__register_points(const pb_vkernel* k, const pb_register_tiles* v) {
  int64_t points = 1;
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (pb_vkernel_is_spatial(k, d)) points *= tiles_along(k, v, d).size;
  return points;
}

int64_t pb__register_count(const pb_chip* chip, const pb_vkernel* k) {
  pb_core_facts facts;
  pb_core_facts_of(chip, k, &facts);
  return facts.registers;
}

static bool is_summed(const pb_vkernel* k, int d) { return k->is_sum[d] && d != k->group_dim; }

static void add_tiles(const pb_vkernel* k, const pb_register_tiles* v, bool columns, pb_plan* plan) {
  for (int d = 0; d < k->main.nest->dim_count; ++d) {
    if (!pb_vkernel_is_spatial(k, d) || pb_vkernel_is_column(k, d) != columns) continue;
    pb_vtiles tiles = tiles_along(k, v, d);
    pb__plan_add_band(plan, d, tiles.size * pb_vkernel_unit(k, d), k->main.nest->extent[d]);
  }
}

void pb__register_bands(const pb_vkernel* k, const pb_register_tiles* v, pb_plan* plan) {
  int outer = pb__register_outer_sum(k);
  *plan = (pb_plan){.x_depth = 1, .w_depth = 1, .result_depth = 1, .row_parts = 1, .column_parts = 1, .bound = ""};
  int64_t whole = outer < 0 ? 0 : k->main.nest->extent[outer];
  if (v->sum_blocks > 1) pb__plan_add_band(plan, outer, whole / v->sum_blocks, whole);
  add_tiles(k, v, !v->columns_inside, plan);
  add_tiles(k, v, v->columns_inside, plan);
  plan->result_level = plan->band_count;
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (is_summed(k, d)) pb__plan_add_band(plan, d, v->tile[d], k->main.nest->extent[d]);
  plan->x_level = plan->w_level = plan->band_count;
}

// The outermost summed dim in parts.
static bool read_blocks(const pb_vkernel* k, const pb_plan* plan, pb_register_tiles* v, const char** why) {
  const pb_band* band = &plan->bands[0];
  int64_t extent = k->main.nest->extent[band->dim];
  *why = "the band of a sum outside result_level is not the outermost one, or no whole part of it";
  if (band->dim != pb__register_outer_sum(k) || band->step < 1 || extent % band->step) return false;
  v->sum_blocks = extent / band->step;
  return true;
}

static bool read_tiles(const pb_vkernel* k, const pb_plan* plan, int first, pb_register_tiles* v, const char** why) {
  int iterations = 0;
  for (int b = first; b < plan->result_level; ++b) {
    const pb_band* band = &plan->bands[b];
    bool column = pb_vkernel_is_column(k, band->dim),
         other = b > first && column != pb_vkernel_is_column(k, band[-1].dim);
    *why = "a band outside result_level is of no dim that tiles are made along";
    if (band->dim >= k->main.nest->dim_count || !pb_vkernel_is_spatial(k, band->dim)) return false;
    *why = "a tile is no whole number of registers";
    if (band->step < 1 || band->step % pb_vkernel_unit(k, band->dim)) return false;
    *why = "tiles of rows and of columns go one inside the other, the dims of each in order";
    iterations += other;
    if (iterations > 1 || (b > first && !other && band->dim <= band[-1].dim)) return false;
    v->tile[band->dim] = band->step / pb_vkernel_unit(k, band->dim);
    if (iterations) v->columns_inside = column;
  }
  return true;
}

static bool read_sums(const pb_vkernel* k, const pb_plan* plan, pb_register_tiles* v, const char** why) {
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

static bool read_plan(const pb_vkernel* k, const pb_plan* plan, pb_register_tiles* v, const char** why) {
  const pb_nest* nest = k->main.nest;
  // where one of the two is not cut it makes no difference
  *v = (pb_register_tiles){.sum_blocks = 1, .columns_inside = nest->reduce == PB_SET};
  for (int d = 0; d < PB_NEST_DIMS; ++d) v->tile[d] = 1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (k->is_sum[d] || pb_vkernel_is_spatial(k, d))
      v->tile[d] = k->is_sum[d] ? nest->extent[d] : pb_vkernel_steps(k, d);
  *why = "result_level is past the bands";
  if (plan->result_level > plan->band_count) return false;
  *why = "operands are in registers: x_level and w_level are inside all bands, and there is one copy of each";
  if (plan->x_level != plan->band_count || plan->w_level != plan->band_count || plan->x_stays || plan->x_kept ||
      plan->x_depth != 1 || plan->w_depth != 1 || plan->result_depth != 1)
    return false;
  bool blocks = plan->result_level > 0 && plan->bands[0].dim < nest->dim_count && k->is_sum[plan->bands[0].dim];
  return (!blocks || read_blocks(k, plan, v, why)) && read_tiles(k, plan, blocks, v, why) && read_sums(k, plan, v, why);
}

void pb__register_tiles_of(const pb_vkernel* k, const pb_plan* plan, pb_register_tiles* tiles) {
  const char* why;
  (void)read_plan(k, plan, tiles, &why);
}

// ---- what there can be ----

// Vectors of x that one iteration of the summed dim `outer`, which is written out, leaves to the next ones: windows of
// the tile overlap along it.
static int64_t waiting_along(const pb_vkernel* k, const pb_register_tiles* v, int outer) {
  const int64_t* stride = k->main.access[k->x].stride;
  int64_t cover[PB_NEST_DIMS], waiting = 1;
  for (int d = 0; d < k->main.nest->dim_count; ++d) cover[d] = k->is_sum[d] && d > outer ? v->tile[d] : 1;
  for (int d = 0; d < k->main.nest->dim_count; ++d) {
    if (!pb_vkernel_is_spatial(k, d)) continue;
    int64_t size = tiles_along(k, v, d).size;
    int s = pb_vkernel_overlapped(k, d);
    if (s > outer && v->tile[s] > 1)
      cover[s] += (size - 1) * (stride[d] / stride[s]);
    else
      cover[d] = size - (s == outer);
  }
  for (int d = 0; d < k->main.nest->dim_count; ++d) waiting *= cover[d];
  return waiting;
}

// Of the outermost one: those inside take turns with it.
static int64_t waiting_vectors(const pb_vkernel* k, const pb_register_tiles* v) {
  int outer = PB_NEST_DIMS;
  for (int d = 0; d < k->main.nest->dim_count; ++d) {
    int s = pb_vkernel_is_spatial(k, d) ? pb_vkernel_overlapped(k, d) : -1;
    if (s >= 0 && s < outer && v->tile[s] > 1 && tiles_along(k, v, d).size > 1) outer = s;
  }
  return outer < PB_NEST_DIMS ? waiting_along(k, v, outer) : 0;
}

// Of so many registers those that a tile keeps busy: its sums, the vectors of w that all rows use, one for x. Where x
// comes by vectors, some go to loads that the code generator brings forward: of tiles that use all of them, depthwise
// 3x3 convolutions took up to 1.6 times as long.
static int64_t tile_registers(const pb_vkernel* k, const pb_register_tiles* v, int64_t registers) {
  int64_t points = pb__register_points(k, v), shared = 1;
  if (!k->insn.insn) return points + 2 * k->main.nest->access_count;
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (pb_vkernel_is_spatial(k, d) && k->main.access[k->w].stride[d]) shared *= tiles_along(k, v, d).size;
  const pb_vaccess* x = &k->main.access[k->x];
  int64_t patterns = 0; // of the shuffles that make lanes of runs, about half of them in registers at a time
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (d != k->group_dim && pb_vkernel_inside_runs(k, d)) patterns += k->main.nest->extent[d];
  if (pb_vkernel_by_vectors(k)) return points + waiting_vectors(k, v) + registers / 4 - 1;
  if (x->stride[k->lane_dim] || x->run) return points * 2 + 1 + patterns / 2; // x comes by vectors too
  // Those that hold matrices cannot be spilled, and the code generator orders loads as it likes: all of x's are there.
  if (k->matrix.product.insn) return points + shared + points / shared;
  int64_t products = k->insn.insn->adds ? 0 : 2; // under way, on their way to the sums
  return points + shared + 1 + products;
}

// Sums that are not whole lie where the result will be: both are of the same kind.
static bool can_cut_sum(const pb_vkernel* k) {
  const pb_vaccess* result = pb_vkernel_result(k);
  return pb__register_outer_sum(k) >= 0 && k->insn.insn && !k->matrix.product.insn && result->type == PB_F32 &&
         k->main.access[pb_vkernel_store(&k->main)].type == PB_F32;
}

// Whether the last register of a row of lanes, which ends where the row does, begins inside the tile before its own:
// what both make is set twice, which parts of a sum must not be.
static bool last_overlaps(const pb_vkernel* k, const pb_register_tiles* v) {
  pb_vtiles tiles = tiles_along(k, v, k->lane_dim);
  int64_t last = tiles.big < tiles.count ? tiles.size - 1 : tiles.size;
  return k->main.nest->extent[k->lane_dim] % pb_vkernel_unit(k, k->lane_dim) && tiles.count > 1 && last == 1;
}

bool pb__register_tiles_legal(const pb_chip* chip, const pb_vkernel* k, const pb_register_tiles* v, const char** why) {
  const pb_nest* nest = k->main.nest;
  for (int d = 0; d < nest->dim_count; ++d) {
    int64_t most = k->is_sum[d] ? nest->extent[d] : pb_vkernel_steps(k, d);
    *why = "a tile is not between 1 and its dim's extent";
    if (v->tile[d] < 1 || v->tile[d] > most) return false;
    *why = "an unrolled dim is not whole iterations";
    if (k->is_sum[d] && nest->extent[d] % v->tile[d]) return false;
    *why = "channels inside runs of lanes are not written out";
    if (pb_vkernel_inside_runs(k, d) && v->tile[d] < nest->extent[d]) return false;
    *why = "a square has more rows than lanes";
    if (d == k->transpose_dim && v->tile[d] > k->lanes) return false;
    *why = "a matrix is cut";
    if (d == k->depth_dim && v->tile[d] % k->depth) return false;
  }
  *why = "a tile needs more registers than there are";
  int64_t registers = pb__register_count(chip, k);
  if (nest->reduce != PB_SET && pb__register_points(k, v) > 1 && tile_registers(k, v, registers) > registers)
    return false;
  int outer = pb__register_outer_sum(k);
  *why = "the sum cannot be taken in parts";
  if (v->sum_blocks < 1 || (v->sum_blocks > 1 && !can_cut_sum(k))) return false;
  if (v->sum_blocks == 1) return true;
  if (nest->extent[outer] % (v->sum_blocks * v->tile[outer])) return false;
  *why = "parts of a sum would be added twice where the last register of a row lies over another tile";
  return k->lane_dim < 0 || !last_overlaps(k, v);
}

bool pb__register_parts_legal(const pb_vkernel* k, const pb_plan* plan, const char** why) {
  *why = "more parts than tiles";
  return plan->row_parts >= 1 && plan->row_parts <= pb__core_tiles(k, plan, false) && plan->column_parts >= 1 &&
         plan->column_parts <= pb__core_tiles(k, plan, true);
}

bool pb_registers_plan_legal(const pb_chip* chip, const pb_vkernel* k, const pb_plan* plan, const char** why) {
  pb_register_tiles tiles;
  return read_plan(k, plan, &tiles, why) && pb__register_tiles_legal(chip, k, &tiles, why) &&
         pb__register_parts_legal(k, plan, why);
}

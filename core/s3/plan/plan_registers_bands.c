// Tiles in registers as bands of a plan, and back; and which of them there can be.
#include "core/s3/plan/plan_registers.h"

#include "core/s3/plan/plan_search.h"
#include "core/s3/tree/cost_cores.h"

int pb__register_outer_sum(const pb_vkernel* k) {
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (k->is_sum[d] && d != k->group_dim) return d;
  return -1;
}

static pb_parts tiles_along(const pb_vkernel* k, const pb_register_tiles* v, int d) {
  return pb_parts_of(pb_vkernel_steps(k, d), v->tile[d]);
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
    pb_parts tiles = tiles_along(k, v, d);
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

int64_t pb__register_sum_blocks(const pb_vkernel* k, const pb_plan* plan) {
  const pb_band* band = &plan->bands[0];
  bool parts = plan->result_level > 0 && plan->band_count > 0 && band->dim < k->main.nest->dim_count &&
               k->is_sum[band->dim] && band->step > 0;
  return parts ? k->main.nest->extent[band->dim] / band->step : 1;
}

// What the plan's bands leave of each dim.
void pb__register_tiles_of(const pb_vkernel* k, const pb_plan* plan, pb_register_tiles* v) {
  *v = (pb_register_tiles){.sum_blocks = pb__register_sum_blocks(k, plan)};
  for (int d = 0; d < PB_NEST_DIMS; ++d) v->tile[d] = 1;
  for (int d = 0; d < k->main.nest->dim_count; ++d) {
    int64_t left = pb_plan_left(plan, plan->band_count, d, k->main.nest->extent[d]);
    int64_t unit = k->is_sum[d] ? 1 : pb_vkernel_unit(k, d);
    if (k->is_sum[d] || pb_vkernel_is_spatial(k, d)) v->tile[d] = (left + unit - 1) / unit;
  }
}

// The parts of the outermost summed dim, if `parts`, are the first band.
static const char* check_band(const pb_vkernel* k, const pb_plan* plan, int b, bool parts) {
  const pb_band* band = &plan->bands[b];
  bool sum = parts || b >= plan->result_level;
  if (parts && band->dim != pb__register_outer_sum(k))
    return "the band of a sum outside result_level is not the outermost one";
  if (band->dim >= k->main.nest->dim_count || !(sum ? is_summed(k, band->dim) : pb_vkernel_is_spatial(k, band->dim)))
    return sum ? "a band inside result_level is of no summed dim"
               : "a band outside result_level is of no dim that tiles are made along";
  int64_t extent = k->main.nest->extent[band->dim];
  if (band->step < 1 || (sum && (band->step >= extent || pb_plan_left(plan, b, band->dim, extent) % band->step)))
    return "a band does not cut its dim, or leaves a part of an iteration";
  if (!sum && (band->step % pb_vkernel_unit(k, band->dim) ||
               band->step / pb_vkernel_unit(k, band->dim) > pb_vkernel_steps(k, band->dim)))
    return "a tile is no whole number of registers, or longer than its dim";
  return NULL;
}

static const char* check_bands(const pb_vkernel* k, const pb_plan* plan) {
  int first = pb__register_sum_blocks(k, plan) > 1, kinds = 1;
  if (plan->result_level > plan->band_count) return "result_level is past the bands";
  if (plan->x_level != plan->band_count || plan->w_level != plan->band_count || plan->x_stays || plan->x_kept ||
      plan->x_depth != 1 || plan->w_depth != 1 || plan->result_depth != 1)
    return "operands are in registers: x_level and w_level are inside all bands, and there is one copy of each";
  for (int b = 0; b < plan->band_count; ++b) {
    const char* why = check_band(k, plan, b, b < first);
    if (why) return why;
    if (b == 0 || b == first || b == plan->result_level) continue;
    int dim = plan->bands[b].dim, before = plan->bands[b - 1].dim;
    bool other = b < plan->result_level && pb_vkernel_is_column(k, dim) != pb_vkernel_is_column(k, before);
    kinds += other;
    if (kinds > 2 || (!other && dim <= before))
      return "tiles of rows and of columns go one inside the other, the dims of each in order";
  }
  return NULL;
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
  pb_parts tiles = tiles_along(k, v, k->lane_dim);
  int64_t last = tiles.big < tiles.count ? tiles.size - 1 : tiles.size;
  return k->main.nest->extent[k->lane_dim] % pb_vkernel_unit(k, k->lane_dim) && tiles.count > 1 && last == 1;
}

static const char* check_tiles(const pb_chip* chip, const pb_vkernel* k, const pb_register_tiles* v) {
  const pb_nest* nest = k->main.nest;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (pb_vkernel_inside_runs(k, d) && v->tile[d] < nest->extent[d])
      return "channels inside runs of lanes are not written out";
    if (d == k->transpose_dim && v->tile[d] > k->lanes) return "a square has more rows than lanes";
    if (d == k->depth_dim && v->tile[d] % k->depth) return "a matrix is cut";
  }
  int64_t registers = pb__register_count(chip, k);
  if (nest->reduce != PB_SET && pb__register_points(k, v) > 1 && tile_registers(k, v, registers) > registers)
    return "a tile needs more registers than there are";
  if (v->sum_blocks > 1 && !can_cut_sum(k)) return "the sum cannot be taken in parts";
  if (v->sum_blocks > 1 && k->lane_dim >= 0 && last_overlaps(k, v))
    return "parts of a sum would be added twice where the last register of a row lies over another tile";
  return NULL;
}

bool pb__register_parts_legal(const pb_vkernel* k, const pb_plan* plan, const char** why) {
  *why = "more parts than tiles";
  return plan->row_parts >= 1 && plan->row_parts <= pb__core_tiles(k, plan, false) && plan->column_parts >= 1 &&
         plan->column_parts <= pb__core_tiles(k, plan, true);
}

bool pb_registers_plan_legal(const pb_chip* chip, const pb_vkernel* k, const pb_plan* plan, const char** why) {
  pb_register_tiles tiles;
  *why = check_bands(k, plan);
  if (*why) return false;
  pb__register_tiles_of(k, plan, &tiles);
  *why = check_tiles(chip, k, &tiles);
  return !*why && pb__register_parts_legal(k, plan, why);
}

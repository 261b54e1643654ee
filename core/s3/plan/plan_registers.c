// The search for tiles in registers: the tile that keeps cores busiest, then the parts that caches and threads take.
// Each candidate's tree is built and added up as any kernel's is (cost.c); a tree serves all ways to share it among
// threads.
//
// One after the other, not both at once: of all pairs the best one is predicted 0.5 to 10% faster, by near ties between
// tiles that the model of cost cannot tell apart (six pixels of a row, or three of two), and measured 3 to 9% slower
// (16 registers of 8 lanes: ResNet-18 and 50, MobileNetV2, one thread and two).
#include "core/s3/plan/plan_registers.h"

#include "core/s3/plan/plan_search.h"
#include "core/s3/tree/cost_cores.h"

#include <string.h>

// ---- tiles as bands of a plan ----

// The dim's tiles, in registers: of nearly one size, whatever the step says.
static pb_parts parts_along(const pb_vkernel* k, const int64_t* tile, int d) {
  int64_t unit = pb_vkernel_unit(k, d);
  return pb_parts_of(pb_vkernel_steps(k, d), (tile[d] + unit - 1) / unit);
}

// What a tile has of each dim, in registers; of summed dims as it is.
static void sizes_of(const pb_vkernel* k, const int64_t* tile, int64_t* size) {
  for (int d = 0; d < k->main->dim_count; ++d) size[d] = k->is_sum[d] ? tile[d] : parts_along(k, tile, d).size;
}

// Registers of a tile's sums or values.
static int64_t points_of(const pb_vkernel* k, const int64_t* tile) {
  int64_t size[PB_NEST_DIMS];
  sizes_of(k, tile, size);
  return pb_core_registers(k, size, NULL);
}

int64_t pb__register_count(const pb_chip* chip, const pb_vkernel* k) {
  pb_core_facts facts;
  pb_core_facts_of(chip, k, &facts);
  return facts.registers;
}

void pb__register_bands(const pb_group* g, const pb_plan_dims* s, const int64_t* tile, int64_t blocks,
                        bool columns_inside, pb_plan* plan) {
  const pb_vkernel* k = g->registers;
  const int64_t* whole = g->main.extent;
  int64_t step[PB_NEST_DIMS];
  sizes_of(k, tile, step);
  for (int d = 0; d < g->main.dim_count; ++d) step[d] *= pb_vkernel_unit(k, d);
  *plan = (pb_plan){.x_depth = 1, .w_depth = 1, .result_depth = 1, .row_parts = 1, .column_parts = 1, .bound = ""};
  if (blocks > 1) pb__plan_add_band(plan, s->sums[0], whole[s->sums[0]] / blocks, whole[s->sums[0]]);
  if (!columns_inside) pb__plan_add_bands(plan, s->columns, s->column_count, step, whole);
  pb__plan_add_bands(plan, s->rows, s->row_count, step, whole);
  if (columns_inside) pb__plan_add_bands(plan, s->columns, s->column_count, step, whole);
  plan->result_level = plan->band_count;
  pb__plan_add_bands(plan, s->sums, s->sum_count, step, whole);
  plan->x_level = plan->w_level = plan->band_count;
}

int64_t pb__register_sum_blocks(const pb_vkernel* k, const pb_plan* plan) {
  const pb_band* band = &plan->bands[0];
  bool parts = plan->result_level > 0 && plan->band_count > 0 && band->dim < k->main->dim_count &&
               k->is_sum[band->dim] && band->step > 0;
  return parts ? k->main->extent[band->dim] / band->step : 1;
}

static const char* check_steps(const pb_vkernel* k, const pb_plan* plan) {
  for (int b = 0; b < plan->band_count; ++b) {
    int d = plan->bands[b].dim;
    if (d < 0 || d >= k->main->dim_count) return "a band names a dim that is not there";
    int64_t step = plan->bands[b].step, extent = k->main->extent[d], unit = pb_vkernel_unit(k, d);
    if (step < 1 || (k->is_sum[d] && (step >= extent || pb_plan_left(plan, b, d, extent) % step)))
      return "a band does not cut its dim, or leaves a part of an iteration";
    if (!k->is_sum[d] && (step % unit || step / unit > pb_vkernel_steps(k, d)))
      return "a tile is no whole number of registers, or longer than its dim";
  }
  return NULL;
}

// The first band from b on, before `end`, that is of none of these dims or not in their order.
static int past(const pb_plan* plan, int b, int end, const int* dims, int count) {
  for (int at = 0; b < end; ++b, ++at) {
    while (at < count && dims[at] != plan->bands[b].dim) ++at;
    if (at == count) return b;
  }
  return b;
}

static const char* check_bands(const pb_group* g, const pb_plan* plan) {
  int first = pb__register_sum_blocks(g->registers, plan) > 1, level = plan->result_level, end = plan->band_count;
  pb_plan_dims s;
  pb__plan_dims_of(g->memo->chip, g, &s);
  if (level > end) return "result_level is past the bands";
  if (plan->x_level != end || plan->w_level != end || plan->x_stays || plan->x_kept || plan->x_depth != 1 ||
      plan->w_depth != 1 || plan->result_depth != 1)
    return "operands are in registers: x_level and w_level are inside all bands, and there is one copy of each";
  if (first && (!s.sum_count || plan->bands[0].dim != s.sums[0]))
    return "the band of a sum outside result_level is not the outermost one";
  int rows = past(plan, past(plan, first, level, s.columns, s.column_count), level, s.rows, s.row_count);
  int columns = past(plan, past(plan, first, level, s.rows, s.row_count), level, s.columns, s.column_count);
  if (rows < level && columns < level)
    return "bands outside result_level are not of rows and of columns, one inside the other, the dims of each in order";
  return past(plan, level, end, s.sums, s.sum_count) < end ? "a band inside result_level is of no summed dim" : NULL;
}

// ---- what there can be ----

// Vectors of x that one iteration of the summed dim `outer`, which is written out, leaves to the next ones: windows of
// the tile overlap along it.
static int64_t waiting_along(const pb_vkernel* k, const int64_t* size, int outer) {
  const int64_t* stride = k->main->access[k->x].index[0].coef;
  int64_t cover[PB_NEST_DIMS], waiting = 1;
  for (int d = 0; d < k->main->dim_count; ++d) cover[d] = k->is_sum[d] && d > outer ? size[d] : 1;
  for (int d = 0; d < k->main->dim_count; ++d) {
    if (!pb_vkernel_is_spatial(k, d)) continue;
    int s = pb_vkernel_overlapped(k, d);
    if (s > outer && size[s] > 1)
      cover[s] += (size[d] - 1) * (stride[d] / stride[s]);
    else
      cover[d] = size[d] - (s == outer);
  }
  for (int d = 0; d < k->main->dim_count; ++d) waiting *= cover[d];
  return waiting;
}

// Of the outermost one: those inside take turns with it.
static int64_t waiting_vectors(const pb_vkernel* k, const int64_t* size) {
  int outer = PB_NEST_DIMS;
  for (int d = 0; d < k->main->dim_count; ++d) {
    int s = pb_vkernel_is_spatial(k, d) ? pb_vkernel_overlapped(k, d) : -1;
    if (s >= 0 && s < outer && size[s] > 1 && size[d] > 1) outer = s;
  }
  return outer < PB_NEST_DIMS ? waiting_along(k, size, outer) : 0;
}

// Of so many registers those that a tile keeps busy: its sums, the vectors of w that all rows use, one for x. Where x
// comes by vectors, some go to loads that the code generator brings forward: of tiles that use all of them, depthwise
// 3x3 convolutions took up to 1.6 times as long.
static int64_t tile_registers(const pb_vkernel* k, const int64_t* size, int64_t registers) {
  int64_t points = pb_core_registers(k, size, NULL);
  if (!k->insn.insn) return points + 2 * k->main->access_count;
  int64_t patterns = 0; // of the shuffles that make lanes of runs, about half of them in registers at a time
  for (int d = 0; d < k->main->dim_count; ++d)
    if (d != k->group_dim && pb_vkernel_inside_runs(k, d)) patterns += k->main->extent[d];
  if (pb_vkernel_by_vectors(k)) return points + waiting_vectors(k, size) + registers / 4 - 1;
  if (pb_vkernel_stride(&k->main->access[k->x], k->lane_dim) || k->run_access == k->x)
    return points * 2 + 1 + patterns / 2; // x comes by vectors too
  int64_t shared = pb_core_registers(k, size, k->main->access[k->w].index[0].coef);
  // Those that hold matrices cannot be spilled, and the code generator orders loads as it likes: all of x's are there.
  if (k->matrix.product.insn) return points + shared + points / shared;
  int64_t products = k->insn.insn->adds ? 0 : 2; // under way, on their way to the sums
  return points + shared + 1 + products;
}

// Sums that are not whole lie where the result will be: both are of the same kind.
static bool can_cut_sum(const pb_vkernel* k) {
  return k->insn.insn && !k->matrix.product.insn && pb_vkernel_result(k)->type == PB_F32 &&
         k->main->access[pb_vkernel_store(k->main)].type == PB_F32;
}

// Whether the last register of a row of lanes, which ends where the row does, begins inside the tile before its own:
// what both make is set twice, which parts of a sum must not be.
static bool last_overlaps(const pb_vkernel* k, const int64_t* tile) {
  pb_parts tiles = parts_along(k, tile, k->lane_dim);
  int64_t last = tiles.big < tiles.count ? tiles.size - 1 : tiles.size;
  return k->main->extent[k->lane_dim] % pb_vkernel_unit(k, k->lane_dim) && tiles.count > 1 && last == 1;
}

static const char* check_tile(const pb_chip* chip, const pb_vkernel* k, const int64_t* tile, bool cuts_sum) {
  const pb_nest* nest = k->main;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (pb_vkernel_inside_runs(k, d) && tile[d] < nest->extent[d])
      return "channels inside runs of lanes are not written out";
    if (d == k->transpose_dim && tile[d] > k->lanes) return "a square has more rows than lanes";
    if (d == k->depth_dim && tile[d] % k->depth) return "a matrix is cut";
  }
  int64_t registers = pb__register_count(chip, k), size[PB_NEST_DIMS];
  sizes_of(k, tile, size);
  if (nest->reduce != PB_SET && pb_core_registers(k, size, NULL) > 1 && tile_registers(k, size, registers) > registers)
    return "a tile needs more registers than there are";
  if (cuts_sum && !can_cut_sum(k)) return "the sum cannot be taken in parts";
  if (cuts_sum && k->lane_dim >= 0 && last_overlaps(k, tile))
    return "parts of a sum would be added twice where the last register of a row lies over another tile";
  return NULL;
}

bool pb__register_parts_legal(const pb_vkernel* k, const pb_plan* plan, const char** why) {
  *why = "more parts than tiles";
  return plan->row_parts >= 1 && plan->row_parts <= pb__core_tiles(k, plan, false) && plan->column_parts >= 1 &&
         plan->column_parts <= pb__core_tiles(k, plan, true);
}

bool pb_registers_plan_legal(const pb_chip* chip, const pb_group* g, const pb_plan* plan, const char** why) {
  const pb_vkernel* k = g->registers;
  int64_t tile[PB_NEST_DIMS];
  pb_plan_tile(plan, &g->main, tile);
  *why = check_steps(k, plan);
  if (!*why) *why = check_bands(g, plan);
  if (!*why) *why = check_tile(chip, k, tile, pb__register_sum_blocks(k, plan) > 1);
  return !*why && pb__register_parts_legal(k, plan, why);
}

// ---- the search ----

// How many steps of a summed dim to write out: a short window whole, else a divisor, while the code stays small. Of
// matrices one step: it keeps all their registers busy, and the code generator must not find loads to move up.
static void unroll(const pb_vkernel* k, int64_t* tile) {
  int64_t points = points_of(k, tile), code = 1;
  for (int d = k->main->dim_count - 1; d >= 0; --d) {
    int64_t extent = k->main->extent[d];
    if (!k->is_sum[d]) continue;
    bool inside = pb_vkernel_inside_runs(k, d), whole = d == k->group_dim || inside;
    tile[d] = whole ? extent : k->matrix.product.insn && d == k->depth_dim ? k->depth : 1;
    if (inside && d != k->group_dim) code *= extent;
    if (whole || code < 0 || k->matrix.product.insn) continue;
    int64_t most = 256 / (points * code);
    if (most > 16 / code) most = 16 / code;
    tile[d] = pb_largest_divisor(extent, most > 1 ? most : 1);
    code = tile[d] == extent ? code * extent : -1; // a dim further out only when this one is gone
  }
}

static void consider(pb_planner* p, const int64_t* tile, int64_t blocks, bool columns_inside) {
  pb__register_bands(p->group, &p->dims, tile, blocks, columns_inside, &p->plan);
  pb__plan_judge(p);
}

static void search_tiles(pb_planner* p, int64_t* tile, int d, int64_t points, int64_t most) {
  const pb_vkernel* k = p->group->registers;
  while (d >= 0 && !pb_vkernel_is_spatial(k, d)) --d;
  if (d < 0) {
    int64_t whole[PB_NEST_DIMS];
    memcpy(whole, tile, sizeof whole);
    // what windows share waits in registers, and parts of a cycle count
    if (pb_vkernel_by_vectors(k) || k->insn.group > 1) unroll(k, whole);
    consider(p, whole, 1, false);
    return;
  }
  int64_t steps = pb_vkernel_steps(k, d), unit = pb_vkernel_unit(k, d);
  for (int64_t t = 1; t <= steps && points * t <= most; ++t) {
    tile[d] = t * unit;
    if (pb_parts_of(steps, t).size == t) search_tiles(p, tile, d - 1, points * t, most);
  }
  tile[d] = unit;
}

static int64_t rows_of_square(const pb_vkernel* k) {
  int64_t extent = k->main->extent[k->transpose_dim];
  for (int64_t rows = k->lanes; rows * 2 >= k->lanes; rows /= 2)
    if (extent % rows == 0) return rows;
  return extent < k->lanes ? extent : k->lanes;
}

// Parts of the sum and shares of these tiles, all of them on trees of their own.
static void search_parts(pb_planner* p, const int64_t* tile) {
  static const int64_t parts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
  const pb_vkernel* k = p->group->registers;
  int64_t whole = p->dims.sum_count ? p->extent[p->dims.sums[0]] : 0, step = tile[p->dims.sums[0]];
  p->parts = parts;
  p->part_count = k->alone ? 1 : sizeof parts / sizeof *parts;
  p->result->found = false;
  for (int64_t blocks = 1; blocks <= 64; ++blocks)
    for (int inside = 0; inside < 2; ++inside)
      if (blocks == 1 || (whole && whole % (blocks * step) == 0)) consider(p, tile, blocks, inside);
}

void pb__plan_registers(pb_planner* p) {
  const pb_vkernel* k = p->group->registers;
  int64_t tile[PB_NEST_DIMS];
  p->takes_last = k->main->reduce == PB_SET; // of tiles of values that are only set it has the most neighbours
  for (int d = 0; d < PB_NEST_DIMS; ++d) tile[d] = d == k->depth_dim ? k->depth : pb_vkernel_unit(k, d);
  for (int d = 0; d < k->main->dim_count; ++d)
    if (pb_vkernel_inside_runs(k, d)) tile[d] = k->main->extent[d];
  if (k->transpose_dim >= 0) { // one square at a time, of whole registers where that leaves no rest
    tile[k->transpose_dim] = rows_of_square(k);
  } else {
    int64_t registers = pb__register_count(p->chip, k);
    int64_t most = k->lanes == 1 ? 16 : k->main->reduce == PB_SET ? 4 : k->insn.insn ? registers : registers / 2;
    search_tiles(p, tile, k->main->dim_count - 1, 1, most);
    if (p->result->found) pb_plan_tile(&p->result->plan, &p->group->main, tile);
    unroll(k, tile);
  }
  search_parts(p, tile);
}

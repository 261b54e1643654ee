// Tiles in registers: what the search (plan.c) may choose from, and what has room. First the tile that keeps cores
// busiest, then the parts that caches and threads take; a tree serves all ways to share it among threads.
//
// One after the other, not both at once: of all pairs the best one is predicted 0.5 to 10% faster, by near ties between
// tiles that the model of cost cannot tell apart (six pixels of a row, or three of two), and measured 3 to 9% slower
// (16 registers of 8 lanes: ResNet-18 and 50, MobileNetV2, one thread and two).
#include "core/s3/plan/plan_search.h"
#include "core/s3/tree/cost_cores.h"

#include <string.h>

// Steps of a sum that are written out, and products of all of them. Where one load brings several steps more of them
// leave less of a loop, but what has been loaded waits in registers (of 160 products on ptxas 13 U-Net spilled 40
// bytes).
enum { MOST_STEPS = 16, MOST_PRODUCTS = 256, MOST_STEPS_EACH = 32, MOST_PRODUCTS_EACH = 144 };
enum { SHARES_GAIN = 512 }; // threads find their parts, which the model of cost knows roughly

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

// A register of matrices has one shape in all of a kernel: stages whose matrices are of several share the file.
int64_t pb__register_count(const pb_chip* chip, const pb_vkernel* k) {
  pb_core_facts facts;
  pb_core_facts_of(chip, k, &facts);
  return k->shapes > 1 ? facts.registers / k->shapes : facts.registers;
}

// ---- what there can be ----

// Vectors of x that one iteration of a summed dim, which is written out, leaves to the next ones: windows of the tile
// overlap along it. Of the outermost one: those inside take turns with it.
static int64_t waiting_vectors(const pb_vkernel* k, const int64_t* size) {
  int outer = PB_NEST_DIMS;
  for (int d = 0; d < k->main->dim_count; ++d) {
    int s = pb_vkernel_is_spatial(k, d) ? pb_vkernel_overlapped(k, d) : -1;
    if (s >= 0 && s < outer && size[s] > 1 && size[d] > 1) outer = s;
  }
  return outer < PB_NEST_DIMS ? pb_core_window(k, size, outer) : 0;
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

const char* pb__registers_unfit(const pb_chip* chip, const pb_vkernel* k, const pb_plan* plan) {
  const pb_nest* nest = k->main;
  bool parts = pb_plan_around(plan, PB_OF_RESULT) > 0 && k->is_sum[plan->axes[0].dim];
  int64_t registers = pb__register_count(chip, k), tile[PB_NEST_DIMS], size[PB_NEST_DIMS];
  pb_plan_tile(plan, nest, tile);
  for (int d = 0; d < nest->dim_count; ++d) {
    if (pb_vkernel_inside_runs(k, d) && tile[d] < nest->extent[d])
      return "channels inside runs of lanes are not written out";
    if (d == k->transpose_dim && tile[d] > k->lanes) return "a square has more rows than lanes";
    if (d == k->depth_dim && tile[d] % k->depth) return "a matrix is cut";
    if (d == k->each_dim && tile[d] < nest->extent[d]) return "neighbours that come by one load are cut";
  }
  sizes_of(k, tile, size);
  if (nest->reduce != PB_SET && pb_core_registers(k, size, NULL) > 1 && tile_registers(k, size, registers) > registers)
    return "a tile needs more registers than there are";
  if (pb_core_registers(k, size, NULL) > PB_VTILE_POINTS) return "a tile has more values than are written out";
  if (parts && !can_cut_sum(k)) return "the sum cannot be taken in parts";
  if ((parts || k->once) && k->lane_dim >= 0 && last_overlaps(k, tile))
    return parts ? "parts of a sum would be added twice where the last register of a row lies over another tile"
                 : "the last register of a row lies over another tile, which may have stored what it loads";
  return NULL;
}

// ---- the search ----

// Whether a tile that stands in no loop along it has all of the dim, or one of two parts.
static bool stands_alone(const pb_vkernel* k, const int64_t* tile, int d) {
  pb_parts parts = parts_along(k, tile, d);
  return parts.count == 1 || (parts.count == 2 && parts.big == 1);
}

// Whether iterations of a summed dim are each code of their own, as a border that it walks is near.
static bool is_apart(const pb_vkernel* k, const int64_t* tile, int s) {
  for (int b = 0; b < k->border_count; ++b) {
    bool apart = k->is_sum[s] && pb_vkernel_border_steps(k, &k->borders[b], s);
    for (int d = 0; d < k->main->dim_count && apart; ++d)
      apart =
          !pb_vkernel_is_spatial(k, d) || !pb_vkernel_border_steps(k, &k->borders[b], d) || stands_alone(k, tile, d);
    if (apart) return true;
  }
  return false;
}

// How many steps of a summed dim to write out: a short window whole, else a divisor, while the code stays small. Of
// matrices one step: it keeps all their registers busy, and the code generator must not find loads to move up.
void pb__registers_unroll(pb_planner* p, const pb_vkernel* k) {
  int64_t *tile = p->step, points = points_of(k, tile), code = 1;
  bool apart[PB_NEST_DIMS], each = k->each_dim >= 0;
  for (int d = 0; d < k->main->dim_count; ++d)
    if ((apart[d] = is_apart(k, tile, d))) code *= k->main->extent[d];
  for (int d = k->main->dim_count - 1; d >= 0; --d) {
    int64_t extent = k->main->extent[d];
    if (!k->is_sum[d]) continue;
    bool inside = pb_vkernel_inside_runs(k, d), whole = d == k->group_dim || d == k->each_dim || inside;
    tile[d] = whole ? extent : k->matrix.product.insn && d == k->depth_dim ? k->depth : 1;
    if (whole && d != k->group_dim) code *= extent;
    if (apart[d] && code > 0) code /= extent;
    if (whole || code < 0 || k->matrix.product.insn) continue;
    int64_t most = (each ? MOST_PRODUCTS_EACH : MOST_PRODUCTS) / (points * code);
    int64_t steps = (each ? MOST_STEPS_EACH : MOST_STEPS) / code;
    if (most > steps) most = steps;
    tile[d] = pb_largest_divisor(extent, most > 1 ? most : 1);
    code = tile[d] == extent ? code * extent : -1; // a dim further out only when this one is gone
  }
}

// Of what lies apart as many as one lane finds of it in what comes by itself.
static int64_t rows_of_sector(const pb_planner* p, const pb_vkernel* k) {
  const pb_memory* near = pb_vector_facts_of(p->chip).near[0];
  int64_t bytes = !near ? 0 : near->sector_bytes ? near->sector_bytes : near->line_bytes, rows = bytes / 4;
  for (int a = 0; a < pb_vkernel_store(k->main); ++a) {
    const pb_access* access = &k->main->access[a];
    if (pb_vkernel_stride(access, k->transpose_dim) == 1) rows = bytes * 8 / pb_type_bits(access->type);
  }
  return rows < 1 ? 1 : rows > k->lanes ? k->lanes : rows;
}

static int64_t rows_of_square(const pb_planner* p, const pb_vkernel* k) {
  int64_t extent = k->main->extent[k->transpose_dim], most = k->apart_cycles ? rows_of_sector(p, k) : k->lanes;
  for (int64_t rows = most; rows * 2 >= most; rows /= 2)
    if (extent % rows == 0) return rows;
  return extent < most ? extent : most;
}

// The steps are those of the plan's tile from then on. Returns whether that is another one, whatever the sums are.
static bool take_tile(pb_planner* p, const pb_vkernel* k, const pb_plan* plan) {
  int64_t before[PB_NEST_DIMS];
  bool other = false;
  memcpy(before, p->step, sizeof before);
  pb_plan_tile(plan, &p->group->main, p->step);
  for (int d = 0; d < k->main->dim_count; ++d) other |= !k->is_sum[d] && p->step[d] != before[d];
  return other;
}

// Tiles of columns around those of rows, or, where w moves slower, inside them; parts of the sum around both. Operands
// are in registers inside all loops.
void pb__plan_registers(pb_planner* p) {
  const pb_vkernel* k = p->group->registers;
  int dims[PB_NEST_DIMS], count = 0;
  pb_found plain = {0};
  pb__plan_whole(p);
  p->start = (pb_plan){.bound = ""};
  p->parts_outside = p->x_in_sums = true;
  p->results = p->x_copies = p->x_least = 1;
  p->fine = true;
  p->takes_last = k->main->reduce == PB_SET; // of tiles of values that are only set it has the most neighbours
  for (int d = 0; d < k->main->dim_count; ++d) {
    p->unit[d] = pb_vkernel_unit(k, d);
    if (!pb_vkernel_inside_runs(k, d) && d != k->each_dim) p->step[d] = d == k->depth_dim ? k->depth : p->unit[d];
    if (pb_vkernel_is_spatial(k, d)) dims[count++] = d;
  }
  if (k->transpose_dim >= 0) { // one square at a time, of whole registers where that leaves no rest
    p->step[k->transpose_dim] = rows_of_square(p, k);
    p->step[k->transpose_dim] = parts_along(k, p->step, k->transpose_dim).size;
  } else {
    int64_t registers = pb__register_count(p->chip, k);
    p->room = k->lanes == 1 ? 16 : p->takes_last ? 4 : k->insn.insn ? registers : registers / 2;
    p->orders = 1;
    // what windows share waits in registers, and parts of a cycle count
    p->unrolls = pb_vkernel_by_vectors(k) || k->insn.group > 1 ? k : NULL;
    p->plain = k->border_count ? &plain : NULL;
    pb__plan_steps(p, dims, count, 1);
    p->plain = NULL;
    if (p->result->found) (void)take_tile(p, k, &p->result->plan);
    p->unrolls = k;
  }
  // parts of the sum and shares of this tile, all of them on trees of their own
  p->orders = 2;
  p->cuts_sums = p->dims.sum_count > 0;
  p->shares = true;
  p->gain = p->takes_last ? 0 : SHARES_GAIN;
  p->result->found = false;
  pb__plan_tile(p);
  if (plain.found && take_tile(p, k, &plain.plan)) pb__plan_tile(p);
}

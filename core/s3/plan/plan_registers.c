// The search for tiles in registers: the tile that keeps cores busiest, then the parts that caches and threads take.
// Each candidate's tree is built and added up as any kernel's is (cost.c); a tree serves all ways to share it among
// threads.
//
// One after the other, not both at once: of all pairs the best one is predicted 0.5 to 10% faster, by near ties between
// tiles that the model of cost cannot tell apart (six pixels of a row, or three of two), and measured 3 to 9% slower
// (16 registers of 8 lanes: ResNet-18 and 50, MobileNetV2, one thread and two).
#include "core/s3/plan/plan_registers.h"

#include "core/s3/plan/plan_search.h"

#include <string.h>

// How many steps of a summed dim to write out: a short window whole, else a divisor, while the code stays small. Of
// matrices one step: it keeps all their registers busy, and the code generator must not find loads to move up.
static void unroll(const pb_vkernel* k, int64_t* tile) {
  int64_t points = pb__register_points(k, tile), code = 1;
  for (int d = k->main.nest->dim_count - 1; d >= 0; --d) {
    int64_t extent = k->main.nest->extent[d];
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
  int64_t extent = k->main.nest->extent[k->transpose_dim];
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
  p->takes_last = k->main.nest->reduce == PB_SET; // of tiles of values that are only set it has the most neighbours
  for (int d = 0; d < PB_NEST_DIMS; ++d) tile[d] = d == k->depth_dim ? k->depth : pb_vkernel_unit(k, d);
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (pb_vkernel_inside_runs(k, d)) tile[d] = k->main.nest->extent[d];
  if (k->transpose_dim >= 0) { // one square at a time, of whole registers where that leaves no rest
    tile[k->transpose_dim] = rows_of_square(k);
  } else {
    int64_t registers = pb__register_count(p->chip, k);
    int64_t most = k->lanes == 1 ? 16 : k->main.nest->reduce == PB_SET ? 4 : k->insn.insn ? registers : registers / 2;
    search_tiles(p, tile, k->main.nest->dim_count - 1, 1, most);
    if (p->result->found) pb_plan_tile(&p->result->plan, &p->group->main, tile);
    unroll(k, tile);
  }
  search_parts(p, tile);
}

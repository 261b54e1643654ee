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
static void unroll(const pb_vkernel* k, pb_register_tiles* tiles) {
  int64_t points = pb__register_points(k, tiles), code = 1;
  for (int d = k->main.nest->dim_count - 1; d >= 0; --d) {
    if (!k->is_sum[d]) continue;
    tiles->tile[d] = 1;
    bool inside = pb_vkernel_inside_runs(k, d);
    if (d == k->group_dim || inside) tiles->tile[d] = k->main.nest->extent[d];
    if (k->matrix.product.insn && d == k->depth_dim) tiles->tile[d] = k->depth;
    if (inside && d != k->group_dim) code *= tiles->tile[d];
    if (d == k->group_dim || inside || code < 0 || k->matrix.product.insn) continue;
    int64_t extent = k->main.nest->extent[d], most = 256 / (points * code);
    if (most > 16 / code) most = 16 / code;
    tiles->tile[d] = pb_largest_divisor(extent, most > 1 ? most : 1);
    code = tiles->tile[d] == extent ? code * extent : -1; // a dim further out only when this one is gone
  }
}

static void consider(pb_planner* p, const pb_register_tiles* tiles) {
  pb__register_bands(p->group->registers, tiles, &p->plan);
  pb__plan_judge(p);
}

static void search_tiles(pb_planner* p, pb_register_tiles* tiles, int d, int64_t points, int64_t most) {
  const pb_vkernel* k = p->group->registers;
  while (d >= 0 && !pb_vkernel_is_spatial(k, d)) --d;
  if (d < 0) {
    pb_register_tiles whole = *tiles;
    // what windows share waits in registers, and parts of a cycle count
    if (pb_vkernel_by_vectors(k) || k->insn.group > 1) unroll(k, &whole);
    consider(p, &whole);
    return;
  }
  int64_t steps = pb_vkernel_steps(k, d);
  for (int64_t t = 1; t <= steps && points * t <= most; ++t) {
    tiles->tile[d] = t;
    if (pb_parts_of(steps, t).size == t) search_tiles(p, tiles, d - 1, points * t, most); // the balanced ones
  }
  tiles->tile[d] = 1;
}

static int64_t rows_of_square(const pb_vkernel* k) {
  int64_t extent = k->main.nest->extent[k->transpose_dim];
  for (int64_t rows = k->lanes; rows * 2 >= k->lanes; rows /= 2)
    if (extent % rows == 0) return rows;
  return extent < k->lanes ? extent : k->lanes;
}

// Parts of the sum and shares of these tiles, all of them on trees of their own.
static void search_parts(pb_planner* p, pb_register_tiles* tiles) {
  static const int64_t parts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
  const pb_vkernel* k = p->group->registers;
  int outer = pb__register_outer_sum(k);
  p->parts = parts;
  p->part_count = k->alone ? 1 : sizeof parts / sizeof *parts;
  p->result->found = false;
  for (int64_t b = 1; b <= 64; ++b)
    for (int inside = 0; inside < 2; ++inside) {
      bool whole = outer >= 0 && k->main.nest->extent[outer] % (b * tiles->tile[outer]) == 0;
      if (b > 1 && !whole) continue;
      tiles->sum_blocks = b;
      tiles->columns_inside = inside;
      consider(p, tiles);
    }
}

void pb__plan_registers(pb_planner* p) {
  const pb_vkernel* k = p->group->registers;
  pb_register_tiles tiles = {.sum_blocks = 1};
  p->takes_last = k->main.nest->reduce == PB_SET; // of tiles of values that are only set it has the most neighbours
  for (int d = 0; d < PB_NEST_DIMS; ++d) tiles.tile[d] = d == k->depth_dim ? k->depth : 1;
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (pb_vkernel_inside_runs(k, d)) tiles.tile[d] = k->main.nest->extent[d];
  if (k->transpose_dim >= 0) { // one square at a time, of whole registers where that leaves no rest
    tiles.tile[k->transpose_dim] = rows_of_square(k);
  } else {
    int64_t registers = pb__register_count(p->chip, k);
    int64_t most = k->lanes == 1 ? 16 : k->main.nest->reduce == PB_SET ? 4 : k->insn.insn ? registers : registers / 2;
    search_tiles(p, &tiles, k->main.nest->dim_count - 1, 1, most);
    if (p->result->found) pb__register_tiles_of(k, &p->result->plan, &tiles);
    unroll(k, &tiles);
  }
  search_parts(p, &tiles);
}

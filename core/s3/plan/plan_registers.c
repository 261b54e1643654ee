// The search for tiles in registers: the tile that keeps cores busiest, then the parts that caches and threads take.
// Each candidate's tree is built and added up as any kernel's is (cost.c); a tree serves all ways to share it among
// threads.
//
// One after the other, not both at once: of all pairs the best one is predicted 0.5 to 10% faster, by near ties between
// tiles that the model of cost cannot tell apart (six pixels of a row, or three of two), and measured 3 to 9% slower
// (16 registers of 8 lanes: ResNet-18 and 50, MobileNetV2, one thread and two).
#include "core/s3/plan/plan_registers.h"

#include "core/s3/tree/cost.h"

#include <string.h>

typedef struct search {
  const pb_chip* chip;
  const pb_group* group;
  const pb_vkernel* k;
  pb_register_tiles tiles; // that is considered
  pb_register_tiles chosen;
  pb_plan best;
  bool found;
  bool apart; // tiles alone are looked for: traffic as if each operand had the caches to itself
} search;

// What a plan must gain over one with fewer parts: partial sums go through memory and threads find their parts, which
// the model of cost knows roughly.
static int64_t margin(const search* s) {
  if (s->apart) return 0;
  if (s->tiles.sum_blocks > s->chosen.sum_blocks) return s->best.cycles / 64;
  return s->k->main.nest->reduce == PB_SET ? 0 : s->best.cycles / 512;
}

static void keep(search* s, const pb_plan* plan) {
  // Of tiles of values that are only set, equally good ones, the last one has the most neighbours.
  bool better = plan->cycles < s->best.cycles - margin(s) ||
                (s->k->main.nest->reduce == PB_SET && plan->cycles == s->best.cycles);
  if (s->found && !better) return;
  s->best = *plan;
  s->chosen = s->tiles;
  s->found = true;
}

// One tree, and each way to share its tiles among threads that may take less than the best so far.
static void consider(search* s, const int64_t* parts, size_t count) {
  pb_arena scratch = {0};
  pb_tiling* t = PB_NEW(&scratch, pb_tiling);
  const char* why;
  pb_plan plan;
  pb__register_bands(s->k, &s->tiles, &plan);
  if (pb__register_tiles_legal(s->chip, s->k, &s->tiles, &why) &&
      pb_tiling_build(s->chip, s->group, &plan, &scratch, t)) {
    t->apart = s->apart;
    for (size_t r = 0; r < count; ++r)
      for (size_t c = 0; c < count; ++c) {
        plan.row_parts = parts[r];
        plan.column_parts = parts[c];
        if (!pb__register_parts_legal(s->k, &plan, &why)) break;
        bool added_up = r + c > 0;
        if (s->found && added_up && pb_tree_least(t, &plan) > s->best.cycles) continue;
        if (pb_tree_cost(t, &plan)) keep(s, &plan);
      }
  }
  pb_arena_free(&scratch);
}

static const int64_t one_part[] = {1};

static void search_tiles(search* s, int d, int64_t points, int64_t most) {
  const pb_vkernel* k = s->k;
  while (d >= 0 && !pb_vkernel_is_spatial(k, d)) --d;
  if (d < 0) {
    consider(s, one_part, 1);
    return;
  }
  int64_t steps = pb_vkernel_steps(k, d);
  for (int64_t t = 1; t <= steps && points * t <= most; ++t) {
    s->tiles.tile[d] = t;
    if (pb_vkernel_balanced(steps, t).size == t) search_tiles(s, d - 1, points * t, most); // the balanced ones
  }
  s->tiles.tile[d] = 1;
}

// How many steps of a summed dim to write out: a short window whole, else a divisor, while the code stays small. Of
// matrices one step: it keeps all their registers busy, and the code generator must not find loads to move up.
static void unroll(const pb_vkernel* k, pb_register_tiles* tiles) {
  int64_t points = pb__register_points(k, tiles), code = 1;
  for (int d = k->main.nest->dim_count - 1; d >= 0; --d) {
    if (!k->is_sum[d]) continue;
    tiles->tile[d] = 1;
    bool inside = pb_vkernel_inside_runs(k, d);
    if (d == k->group_dim || inside) tiles->tile[d] = k->main.nest->extent[d];
    if (k->matrix.insn && d == k->depth_dim) tiles->tile[d] = k->depth;
    if (inside && d != k->group_dim) code *= tiles->tile[d];
    if (d == k->group_dim || inside || code < 0 || k->matrix.insn) continue;
    int64_t extent = k->main.nest->extent[d], most = 256 / (points * code), best = 1;
    if (most > 16 / code) most = 16 / code;
    for (int64_t u = 1; u <= most && u <= extent; ++u)
      if (extent % u == 0) best = u;
    tiles->tile[d] = best;
    code = best == extent ? code * best : -1; // a dim further out only when this one is gone
  }
}

static int64_t rows_of_square(const pb_vkernel* k) {
  int64_t extent = k->main.nest->extent[k->transpose_dim];
  for (int64_t rows = k->lanes; rows * 2 >= k->lanes; rows /= 2)
    if (extent % rows == 0) return rows;
  return extent < k->lanes ? extent : k->lanes;
}

static void search_parts(search* s) {
  static const int64_t parts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
  pb_register_tiles tiles = s->chosen;
  size_t most = s->k->alone ? 1 : sizeof parts / sizeof *parts;
  int outer = pb__register_outer_sum(s->k);
  s->found = s->apart = false;
  for (int64_t b = 1; b <= 64; ++b)
    for (int inside = 0; inside < 2; ++inside) {
      bool whole = outer >= 0 && s->k->main.nest->extent[outer] % (b * tiles.tile[outer]) == 0;
      if (b > 1 && !whole) continue;
      s->tiles = tiles;
      s->tiles.sum_blocks = b;
      s->tiles.columns_inside = inside;
      consider(s, parts, most);
    }
}

bool pb_registers_plan_make(const pb_chip* chip, const pb_group* group, pb_plan* plan) {
  const pb_vkernel* k = group->registers;
  search s = {.chip = chip, .group = group, .k = k, .tiles.sum_blocks = 1, .apart = true};
  for (int d = 0; d < PB_NEST_DIMS; ++d) s.tiles.tile[d] = d == k->depth_dim ? k->depth : 1;
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (pb_vkernel_inside_runs(k, d)) s.tiles.tile[d] = k->main.nest->extent[d];
  if (k->transpose_dim >= 0) { // one square at a time, of whole registers where that leaves no rest
    s.tiles.tile[k->transpose_dim] = rows_of_square(k);
    s.chosen = s.tiles;
  } else {
    int64_t registers = pb__register_count(chip, k);
    int64_t most = k->lanes == 1 ? 16 : k->main.nest->reduce == PB_SET ? 4 : k->insn.insn ? registers : registers / 2;
    s.chosen = s.tiles;
    search_tiles(&s, k->main.nest->dim_count - 1, 1, most);
    unroll(k, &s.chosen);
  }
  search_parts(&s);
  *plan = s.best;
  return s.found;
}

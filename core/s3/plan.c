// Plan: all choices for one kernel at once. Requires a kernel function in value form after layout; leaves the attribute
// pb.plan on it. Enumerates tilings whose buffers fit the memories exactly, adds up what each costs (cost.c) and takes
// the cheapest: nothing is timed. Loop order: the dims of x's rows outermost, then blocks of the result's lanes, then
// the reduction, so that x is read once and partial results never leave the chip; whether the weights stay for the
// whole kernel, for a block or for a chunk of the reduction is part of the choice.
#include "core/s3/plan.h"

#include <string.h>

typedef struct planner {
  const pb_chip* chip;
  const pb_group* group;
  pb_plan best;
  bool found;
  const char* why;
} planner;

static void consider(planner* p, pb_plan plan) {
  pb_arena scratch = {0};
  const char* why = NULL;
  if (pb_plan_cost(p->chip, p->group, &plan, &scratch, &why)) {
    if (!p->found || plan.cycles < p->best.cycles) p->best = plan;
    p->found = true;
  } else if (why) {
    static char kept[512]; // outlives the scratch arena; one planner runs at a time
    strncpy(kept, why, sizeof kept - 1);
    p->why = kept;
  }
  pb_arena_free(&scratch);
}

static void add_band(pb_plan* plan, const pb_nest* main, int dim, int64_t step, int64_t whole) {
  (void)main;
  if (step < whole && plan->band_count < PB_MAX_BANDS) plan->bands[plan->band_count++] = (pb_band){dim, step};
}

// Dims of the main nest by what they do: rows (M), blocks of lanes (N), reduction (K) without the lanes themselves.
typedef struct shape_of {
  int rows[PB_NEST_DIMS], row_count, blocks[PB_NEST_DIMS], block_count, sums[PB_NEST_DIMS], sum_count;
} shape_of;

static void contraction_dims(const pb_group* g, shape_of* s) {
  const pb_access *x = &g->main.access[g->roles.x], *y = &g->main.access[g->roles.y];
  for (int d = 0; d < g->main.dim_count; ++d) {
    if (g->roles.role[d] == PB_ROLE_M) s->rows[s->row_count++] = d;
    if (g->roles.role[d] == PB_ROLE_N && pb_access_stride(y, d) != 1) s->blocks[s->block_count++] = d;
    if (g->roles.role[d] == PB_ROLE_K && pb_access_stride(x, d) != 1) s->sums[s->sum_count++] = d;
    if (g->roles.role[d] == PB_ROLE_B) s->blocks[s->block_count++] = d;
  }
  // a reduction dim that walks x by neighbours but is no lane (a window of a row) is a sum too
  for (int d = 0; d < g->main.dim_count; ++d)
    if (g->roles.role[d] == PB_ROLE_K && pb_access_stride(x, d) == 1 && g->main.extent[d] != g->lanes)
      s->sums[s->sum_count++] = d;
}

static void contraction_weights(planner* p, const shape_of* s, const pb_plan* rows) {
  const pb_nest* main = &p->group->main;
  pb_plan plan = *rows;
  plan.x_level = rows->band_count;
  bool x_by_block = false; // x is another for each block: it moves in with it
  for (int k = 0; k < s->block_count; ++k) {
    add_band(&plan, main, s->blocks[k], 1, main->extent[s->blocks[k]]);
    x_by_block |= p->group->roles.role[s->blocks[k]] == PB_ROLE_B;
  }
  if (x_by_block) {
    plan.x_level = plan.band_count;
    plan.x_depth = 2;
  }
  plan.result_level = plan.band_count;
  int first = s->sum_count ? s->sums[0] : -1;
  for (int64_t chunk = first < 0 ? 1 : main->extent[first]; chunk >= 1; --chunk) {
    if (first >= 0 && main->extent[first] % chunk) continue;
    pb_plan with = plan;
    if (first >= 0) add_band(&with, main, first, chunk, main->extent[first]);
    int chunk_level = with.band_count;
    if (first >= 0) add_band(&with, main, first, 1, chunk);
    for (int k = 1; k < s->sum_count; ++k) add_band(&with, main, s->sums[k], 1, main->extent[s->sums[k]]);
    if (first < 0 || chunk == main->extent[first]) { // all weights stay
      with.w_level = 0;
      with.w_depth = 1;
      consider(p, with);
    }
    with.w_level = chunk_level;
    with.w_depth = 2;
    consider(p, with);
  }
}

static void plan_contraction(planner* p) {
  const pb_nest* main = &p->group->main;
  shape_of s = {0};
  contraction_dims(p->group, &s);
  int batches = s.row_count > 2 ? s.row_count - 2 : 0; // one image after the other
  int outer = s.row_count > 0 ? s.rows[batches] : -1, inner = s.row_count > 1 ? s.rows[s.row_count - 1] : -1;
  int64_t outer_extent = outer < 0 ? 1 : main->extent[outer], inner_extent = inner < 0 ? 1 : main->extent[inner];
  for (int64_t i = inner_extent; i >= 1; --i) {
    if (inner_extent % i) continue;
    bool any = false;
    for (int64_t o = outer_extent; o >= 1; --o) {
      if (outer_extent % o) continue;
      pb_plan plan = {.result_depth = 2};
      for (int k = 0; k < batches; ++k) add_band(&plan, main, s.rows[k], 1, main->extent[s.rows[k]]);
      if (outer >= 0) add_band(&plan, main, outer, o, outer_extent);
      if (inner >= 0) add_band(&plan, main, inner, i, inner_extent);
      bool found = p->found;
      for (int depth = plan.band_count ? 2 : 1; depth >= 1; --depth) {
        plan.x_depth = depth;
        contraction_weights(p, &s, &plan);
      }
      any |= p->found && !found;
    }
    if (p->found && i < inner_extent && !any) break; // narrower rows only read more haloes
  }
}

// Other reductions and pointwise nests with several dims: channels one block at a time, then rows.
static void plan_blocks(planner* p) {
  const pb_nest* main = &p->group->main;
  const pb_access* y = &main->access[main->access_count - 1];
  int dims[PB_NEST_DIMS], count = 0;
  for (int d = 0; d < main->dim_count; ++d)
    if (pb_access_uses(y, d) && pb_access_stride(y, d) != 1) dims[count++] = d;
  int at = count > 3 ? count - 2 : count > 1, tiled = count ? dims[at] : -1;
  int64_t extent = tiled < 0 ? 1 : main->extent[tiled];
  for (int64_t step = extent; step >= 1; --step) {
    if (extent % step) continue;
    pb_plan plan = {.x_depth = 2, .w_depth = 1, .result_depth = 2};
    for (int k = 0; k < at; ++k) add_band(&plan, main, dims[k], 1, main->extent[dims[k]]);
    if (tiled >= 0) add_band(&plan, main, tiled, step, extent);
    plan.x_level = plan.w_level = plan.result_level = plan.band_count;
    consider(p, plan);
  }
}

// Copies: whole if they fit, else the outer dims one by one and a part of the next.
static void plan_copy(planner* p) {
  const pb_nest* main = &p->group->main;
  for (int tiled = 0; tiled < main->dim_count; ++tiled) {
    for (int64_t step = main->extent[tiled]; step >= 1; --step) {
      if (main->extent[tiled] % step) continue;
      pb_plan plan = {.x_depth = 2, .w_depth = 1, .result_depth = 2};
      for (int d = 0; d < tiled; ++d) add_band(&plan, main, d, 1, main->extent[d]);
      add_band(&plan, main, tiled, step, main->extent[tiled]);
      plan.x_level = plan.w_level = plan.result_level = plan.band_count;
      consider(p, plan);
    }
    if (p->found) return;
  }
  if (!main->dim_count) consider(p, (pb_plan){.x_depth = 1, .w_depth = 1, .result_depth = 1});
}

static void plan_flat(planner* p) {
  int64_t lanes = p->group->lanes, rows = p->group->main.extent[0] / lanes;
  for (int64_t tile = rows; tile >= 1; --tile) {
    if (rows % tile) continue;
    pb_plan plan = {.x_depth = 2, .w_depth = 1, .result_depth = 2};
    add_band(&plan, &p->group->main, 0, tile * lanes, rows * lanes);
    plan.x_level = plan.w_level = plan.result_level = plan.band_count;
    consider(p, plan);
  }
  if (!rows) consider(p, (pb_plan){.x_depth = 1, .w_depth = 1, .result_depth = 1});
}

pb_status pb_plan_make(const pb_chip* chip, const pb_group* group, pb_diag* diag, pb_plan* plan) {
  planner p = {.chip = chip, .group = group};
  if (group->contraction)
    plan_contraction(&p);
  else if (!group->reduces && group->main.expr_count == 1)
    plan_copy(&p);
  else if (!group->reduces && group->main.dim_count == 1)
    plan_flat(&p);
  else
    plan_blocks(&p);
  if (!p.found)
    return pb_unsupported(diag, (pb_place){.what = group->main.name}, 4010, NULL, "%s cannot run this: %s", chip->name,
                          p.why ? p.why : "no tiling fits");
  *plan = p.best;
  return PB_OK;
}

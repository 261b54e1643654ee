// Plan: all choices for one kernel at once. Requires a kernel function in value form after layout; leaves the attribute
// pb.plan on it. Enumerates tilings whose buffers fit the memories exactly, adds up what each costs (cost.c) and takes
// the cheapest: nothing is timed. Loop order: the dims of x's rows outermost, then blocks of the result's lanes, then
// the reduction, so that x is read once and partial results never leave the chip; whether the weights stay for the
// whole kernel, for a block or for a chunk of the reduction is part of the choice.
#include "core/s3/kernel/flat.h"
#include "core/s3/kernel/parts.h"
#include "core/s3/plan/plan_search.h"
#include "core/s3/transfer_paths.h"

#include <string.h>

// Three copies of the weights where they cost nothing: they even out what the cost model does not see.
enum { MOST_COPIES = 4, MOST_FENCED_COPIES = 8, FREE_COPIES = 3 };
// Of what fits where sums are made in parts, the longest parts for the largest groups of blocks: all others read more.
enum { MOST_CHUNKS = 4, MOST_GROUPINGS = 6 };

static void consider(pb_planner* p, pb_plan plan) {
  p->plan = plan;
  if (p->copies) p->plan.result_depth = p->copies;
  pb__plan_judge(p);
}

static int levels_of(const pb_planner* p, const pb_plan* plan) { return p->base + plan->band_count; }

// A plan whose operands and results have so many copies, and the weights one.
static pb_plan begin(const pb_planner* p, int copies) {
  pb_plan plan = p->start;
  plan.x_depth = plan.result_depth = copies;
  plan.w_depth = 1;
  return plan;
}

// What one core has of a dim; -1: no dim.
static int64_t extent_of(const pb_planner* p, int dim) { return dim < 0 ? 1 : p->extent[dim]; }

static void add_band(const pb_planner* p, pb_plan* plan, int dim, int64_t step) {
  if (dim >= 0) pb__plan_add_band(plan, dim, step, p->extent[dim]);
}

// A plan whose operands and results have so many copies, inside loops over images.
static pb_plan begin_rows(const pb_planner* p, int copies) {
  pb_plan plan = begin(p, copies);
  pb__plan_add_bands(&plan, p->dims.rows, p->dims.batches, NULL, p->extent);
  return plan;
}

// It is one stage of several, whose loops are around.
static bool is_inside(const pb_planner* p) { return p->judge != NULL; }

// Whether the blocks along the dim lie in one row of lanes.
static bool inside_row(const pb_planner* p, int dim) {
  const pb_access* y = &p->group->main.access[p->group->roles.y];
  return p->group->roles.role[dim] == PB_ROLE_N && pb_access_stride(y, dim) < p->group->lanes;
}

static void contraction_weights(pb_planner* p, const pb_plan* rows) {
  pb_plan plan = *rows;
  int shared = pb_plan_shared_bands(rows);
  plan.x_level = levels_of(p, rows) - rows->x_stays;
  bool is_last = p->judge && p->judge->is_last; // all copies of its weights are behind those of the others
  bool x_by_block = false;                      // x is another for each block: it moves in with it
  for (int k = 0; k < p->dims.column_count; ++k) {
    if (!p->columns || !inside_row(p, p->dims.columns[k])) add_band(p, &plan, p->dims.columns[k], 1);
    x_by_block |= p->group->roles.role[p->dims.columns[k]] == PB_ROLE_B;
  }
  if (x_by_block && rows->x_stays) return;
  if (x_by_block) {
    plan.x_level = levels_of(p, &plan);
    plan.x_depth = 2;
  }
  plan.result_level = levels_of(p, &plan);
  for (int k = 0; k < p->dims.column_count && p->columns; ++k)
    if (inside_row(p, p->dims.columns[k])) add_band(p, &plan, p->dims.columns[k], 1);
  int first = p->dims.sum_count ? p->dims.sums[0] : -1;
  int64_t sums = first < 0 ? 1 : p->extent[first];
  for (int64_t chunk = sums; chunk >= 1; chunk = pb_next_step(sums, chunk)) {
    if (is_inside(p) && !is_last && chunk > 1 && chunk < p->extent[first])
      continue; // either all of a block's weights, or few
    pb_plan with = plan;
    add_band(p, &with, first, chunk);
    int chunk_level = levels_of(p, &with);
    if (first >= 0) pb__plan_add_band(&with, first, 1, chunk);
    pb__plan_add_bands(&with, p->dims.sums + 1, p->dims.sum_count - 1, NULL, p->extent);
    for (int d = 0; d < p->group->main.dim_count; ++d)
      if (p->dims.taps.step[d]) add_band(p, &with, d, p->dims.taps.step[d]);
    if (first < 0 || chunk == p->extent[first]) { // all weights stay
      for (with.w_level = shared; with.w_level <= (p->judge ? p->base : shared); ++with.w_level)
        for (with.w_depth = with.w_level > shared ? 2 : 1; with.w_depth >= 1; --with.w_depth) consider(p, with);
    }
    with.w_depth = 2;
    for (with.w_level = chunk_level; with.w_level <= (p->windows ? levels_of(p, &with) : chunk_level); ++with.w_level)
      consider(p, with);
  }
}

// Whole rows of an x that stays on the chip: no halo moves twice.
static void plan_staying(pb_planner* p) {
  if (p->dims.outer < 0 || p->group->prologue_count) return;
  for (int64_t o = p->extent[p->dims.outer] - 1; o >= 1; --o) {
    if (p->extent[p->dims.outer] % o) continue;
    pb_plan plan = begin_rows(p, 2);
    plan.x_depth = 1, plan.x_stays = 1;
    add_band(p, &plan, p->dims.outer, o);
    contraction_weights(p, &plan);
  }
}

// The same with x in two copies, if there are iterations to take turns, and in one.
static void contraction_copies(pb_planner* p, pb_plan* plan) {
  for (plan->x_depth = plan->band_count > p->start.band_count ? 2 : 1; plan->x_depth >= 1; --plan->x_depth)
    contraction_weights(p, plan);
}

// What a plan that may wait more than is known has to gain: one part of so many.
enum { MUCH = 8 };

// Several images for each of the weights, where all rows of so many fit.
static void plan_images(pb_planner* p, int results) {
  int64_t images = p->dims.batches ? p->extent[p->dims.rows[0]] : 1;
  for (int64_t step = images; step > 1; step = pb_next_step(images, step)) {
    pb_plan plan = begin(p, 2);
    plan.result_depth = results;
    add_band(p, &plan, p->dims.rows[0], step);
    contraction_copies(p, &plan);
  }
}

// With results in one copy, of twice as many images. What takes them then waits more than the model of cost knows: it
// has to gain much.
static void plan_more_images(pb_planner* p) {
  pb_found found = {0};
  pb_planner more = *p;
  more.result = &found;
  plan_images(&more, 1);
  int64_t best = p->result->found ? pb_plan_price(&p->result->plan) : INT64_MAX;
  if (found.found && pb_plan_price(&found.plan) < best - best / MUCH) *p->result = found;
}

static void contraction_rows(pb_planner* p) {
  if (is_inside(p)) { // its rows are the tile's
    pb_plan plan = begin(p, 2);
    contraction_weights(p, &plan);
    return;
  }
  int64_t outer = extent_of(p, p->dims.outer), inner = extent_of(p, p->dims.inner);
  for (int64_t i = inner; i >= 1; i = pb_next_step(inner, i)) {
    bool found = p->result->found;
    for (int64_t o = outer; o >= 1; o = pb_next_step(outer, o)) {
      pb_plan plan = begin_rows(p, 2);
      add_band(p, &plan, p->dims.outer, o);
      add_band(p, &plan, p->dims.inner, i);
      contraction_copies(p, &plan);
    }
    if (found && i < inner) break; // narrower rows only read more haloes
  }
  plan_staying(p);
  plan_images(p, 2);
  plan_more_images(p);
}

enum { MOST_KEPT = 64 }; // iterations, as plans are read

// Iterations of the innermost band around x; 0: there is none.
static int64_t iterations_around_x(const pb_group* group, const pb_plan* plan) {
  if (!plan->x_level || plan->x_level > plan->band_count) return 0;
  const pb_band* band = &plan->bands[plan->x_level - 1];
  return pb_plan_left(plan, plan->x_level - 1, band->dim, group->main.extent[band->dim]) / band->step;
}

// Of an x that comes again and again by parts of the sums (all of it once for each group of blocks whose sums lie side
// by side), as much stays as there is room for, if that costs less.
static void keep_x(const pb_chip* chip, const pb_group* group, pb_plan* plan) {
  int64_t around = iterations_around_x(group, plan) - 1, depth = plan->x_depth;
  int64_t fits = 0, most = (around < MOST_KEPT ? around : MOST_KEPT) / depth;
  pb_plan best = *plan;
  while (fits < most) { // what has room leaves room for less
    int64_t middle = (fits + most + 1) / 2;
    pb_plan with = *plan;
    with.x_kept = (int)(middle * depth);
    if (pb_plan_fits(chip, group, &with))
      fits = middle, best = with;
    else
      most = middle - 1;
  }
  if (pb_plan_price(&best) < pb_plan_price(plan)) *plan = best;
}

// None of it stays.
static void keep_none(const pb_chip* chip, const pb_group* group, pb_plan* plan) {
  if (!plan->x_kept) return;
  plan->x_kept = 0;
  (void)pb_plan_fits(chip, group, plan); // what was looked for without it
}

// Rows in a tile of the plan.
static int64_t rows_in_tile(const pb_planner* p, const pb_plan* plan) {
  int64_t rows = 1;
  for (int k = 0; k < p->dims.row_count; ++k)
    rows *= pb_plan_left(plan, plan->band_count, p->dims.rows[k], p->extent[p->dims.rows[k]]);
  return rows;
}

// How many blocks of lanes have room for the sums of so many rows where the instruction adds them up.
static int64_t sums_that_fit(const pb_planner* p, int64_t rows) {
  const pb_group* g = p->group;
  int64_t bytes = rows * g->lanes * (pb_type_bits(g->main.access[g->roles.y].type) / 8);
  return p->chip->memories[g->contraction->operands[g->insn_roles.y].memory].bytes / bytes;
}

// A plan inside the bands around the sums, with `some` of the blocks along dim `at` of the blocks and with all blocks
// inside it, by chunks of x and of the weights. Returns whether it fits.
static bool consider_chunk(pb_planner* p, const pb_plan* sums, int at, int64_t some, int64_t chunk) {
  pb_plan plan = *sums;
  int legal = p->result->legal;
  add_band(p, &plan, p->dims.sums[0], chunk);
  plan.x_level = levels_of(p, &plan);
  for (int k = at; k < p->dims.column_count; ++k)
    pb__plan_add_band(&plan, p->dims.columns[k], 1, k == at ? some : p->extent[p->dims.columns[k]]);
  plan.w_level = levels_of(p, &plan);
  pb__plan_add_band(&plan, p->dims.sums[0], 1, chunk);
  pb__plan_add_bands(&plan, p->dims.sums + 1, p->dims.sum_count - 1, NULL, p->extent);
  for (plan.w_depth = FREE_COPIES; plan.w_depth > 1 && p->result->legal == legal; --plan.w_depth) consider(p, plan);
  if (p->result->legal == legal) return false;
  if (p->judge) return true; // another stage's buffers may need the room
  plan = p->plan;
  keep_x(p->chip, p->group, &plan);
  if (plan.x_kept) consider(p, plan);
  return true;
}

// Whether the sums fit at all: with the shortest chunks, whose commands and runs are too short to be taken.
static bool sums_fit(const pb_planner* p, const pb_plan* sums, int at, int64_t some) {
  pb_found found = {0};
  pb_planner probe = *p;
  probe.result = &found;
  return consider_chunk(&probe, sums, at, some, 1);
}

// Sums of so many blocks at once, by the longest chunks that fit.
static void plan_sums(pb_planner* p, const pb_plan* rows, int at, int64_t some) {
  int64_t sums = p->extent[p->dims.sums[0]],
          least = p->dims.sum_count > 1 ? 1 : 2; // one step of more dims is not short
  pb_plan plan = *rows;
  int fit = 0;
  pb__plan_add_bands(&plan, p->dims.columns, at, NULL, p->extent);
  add_band(p, &plan, p->dims.columns[at], some);
  plan.result_level = levels_of(p, &plan);
  if (sums < 2 || !sums_fit(p, &plan, at, some)) return;
  for (int64_t chunk = pb_next_step(sums, sums); chunk >= least && fit < MOST_CHUNKS; chunk = pb_next_step(sums, chunk))
    fit += consider_chunk(p, &plan, at, some, chunk);
}

// As many blocks at once as their sums have room for: each time all of x comes again. What is behind the last sums
// nobody hides, so the last time may be a short one.
static void plan_blocks_at_once(pb_planner* p, const pb_plan* rows) {
  int64_t inside = 1, fit = sums_that_fit(p, rows_in_tile(p, rows));
  for (int k = 1; k < p->dims.column_count; ++k) inside *= p->extent[p->dims.columns[k]];
  for (int at = 0; at < p->dims.column_count; ++at) {
    int64_t extent = p->extent[p->dims.columns[at]], most = fit / inside < extent ? fit / inside : extent;
    int legal = p->result->legal;
    for (int64_t some = most; some > 0 && some * inside > 1 && some > most - MOST_GROUPINGS; --some) {
      plan_sums(p, rows, at, some);
      if (p->result->legal > legal) return; // other operands of what takes the sums lie beside them
    }
    if (at + 1 < p->dims.column_count) inside /= p->extent[p->dims.columns[at + 1]];
  }
}

// Tiles of more rows than the plan's, each with its sums in parts.
static void plan_larger_tiles(pb_planner* p, const pb_plan* than) {
  int64_t extent = extent_of(p, p->dims.outer), rows = rows_in_tile(p, than);
  for (int64_t step = extent; step >= 1; step = pb_next_step(extent, step)) {
    pb_plan plan = begin_rows(p, 2);
    add_band(p, &plan, p->dims.outer, step);
    if (rows_in_tile(p, &plan) <= rows) break;
    plan.result_depth = 1; // the next sums begin with the block that was taken first
    plan_blocks_at_once(p, &plan);
  }
}

// Where all of the sum of all rows does not fit, each tile of rows reads all of the weights. Larger tiles of parts of
// the sum read them less often, and x as often as there are groups of blocks whose sums lie side by side: they are
// taken if less is read.
static void plan_parts_of_sums(pb_planner* p) {
  pb_plan* best = &p->result->plan;
  bool by_lanes = pb_sums_by_lanes(p->group->contraction, &p->group->insn_roles);
  if (!p->result->found || best->w_level <= pb_plan_shared_bands(best) || by_lanes) return;
  if (is_inside(p) || !p->dims.column_count || !p->dims.sum_count) return;
  for (int k = 0; k < p->dims.column_count; ++k)
    if (p->group->roles.role[p->dims.columns[k]] == PB_ROLE_B) return;
  pb_found found = {0};
  pb_planner parts = *p;
  parts.result = &found;
  plan_larger_tiles(&parts, best);
  if (found.found && found.plan.port < best->port && pb_plan_price(&found.plan) < pb_plan_price(best))
    *best = found.plan;
}

static void plan_contraction(pb_planner* p) {
  contraction_rows(p);
  p->windows = !p->result->found;
  if (p->windows && p->dims.sum_count > 1) contraction_rows(p);
  for (int k = 0; k < p->dims.column_count && !p->result->found; ++k) p->columns |= inside_row(p, p->dims.columns[k]);
  if (p->columns) contraction_rows(p);
  plan_parts_of_sums(p);
}

// Rows that end inside a row of lanes: whole rows of lanes, and what is behind them.
static void cut_rows(const pb_planner* p, pb_plan* plan) {
  const pb_nest* main = &p->group->main;
  for (int d = 0; d < main->dim_count; ++d) {
    int64_t rest = main->extent[d] % p->group->lanes;
    if (rest && pb_nest_reduces_over(main, d) && pb_access_stride(&main->access[p->group->x], d) == 1)
      pb__plan_add_band(plan, d, main->extent[d] > rest ? main->extent[d] - rest : rest, main->extent[d]);
  }
}

// Everything lies in buffers inside all bands.
static void consider_tile(pb_planner* p, pb_plan plan) {
  plan.x_level = plan.w_level = plan.result_level = levels_of(p, &plan);
  cut_rows(p, &plan);
  consider(p, plan);
}

// Tiles of a dim, of so many elements or a whole number of times as many, inside the dims around it one by one. All of
// a tile's results lie in one buffer.
static void plan_rows(pb_planner* p, const int* around, int count, int dim, int64_t unit) {
  int64_t units = extent_of(p, dim) / unit;
  for (int64_t step = units; step >= 1; step = pb_next_step(units, step)) {
    pb_plan plan = begin(p, 2);
    pb__plan_add_bands(&plan, around, count, NULL, p->extent);
    if (dim >= 0) pb__plan_add_band(&plan, dim, step * unit, units * unit);
    consider_tile(p, plan);
  }
}

// Other reductions and pointwise nests with several dims: channels one block at a time, then rows; or rows of all
// blocks at a time, where all blocks read the same.
static void plan_blocks(pb_planner* p) {
  const pb_nest* main = &p->group->main;
  const int* dims = p->dims.rows;
  int count = p->dims.row_count, at = count > 3 ? count - 2 : count > 1, tiled = count ? dims[at] : -1;
  plan_rows(p, dims, at, tiled, 1);
  bool repeats = false; // a tensor that all blocks read alike
  for (int a = 0; a + 1 < main->access_count && at > 0; ++a)
    repeats |= !main->access[a].splat && !main->access[a].gathered && pb_access_uses(&main->access[a], tiled) &&
               !pb_access_uses(&main->access[a], dims[at - 1]);
  if (repeats && at > 0) plan_rows(p, dims, at - 1, tiled, 1);
  if (!p->result->found && at + 1 < count)
    plan_rows(p, dims, at + 1, dims[at + 1], 1); // a row is too long: parts of one
}

// Copies: whole if they fit, else the outer dims one by one and a part of the next.
static void plan_copy(pb_planner* p) {
  int dims[PB_NEST_DIMS];
  for (int d = 0; d < p->group->main.dim_count && !p->result->found; ++d) {
    plan_rows(p, dims, d, d, 1);
    dims[d] = d;
  }
  if (!p->group->main.dim_count) consider_tile(p, begin(p, 1));
}

static void plan_flat(pb_planner* p) {
  plan_rows(p, NULL, 0, 0, p->group->lanes);
  if (p->extent[0] < p->group->lanes) consider_tile(p, begin(p, 1));
}

// Rows as they are, of a tensor or of a table from which they are gathered.
static bool moves_rows(const pb_nest* nest) {
  for (int a = 0; a < nest->access_count; ++a)
    if (pb_gathers_rows(&nest->access[a])) return true;
  return nest->expr_count == 1;
}

static void plan_stage(pb_planner* p) {
  const pb_group* group = p->group;
  pb__plan_dims_of(p->chip, group, &p->dims);
  memcpy(p->extent, group->main.extent, sizeof p->extent);
  for (int b = 0; b < p->start.band_count; ++b) p->extent[p->start.bands[b].dim] = p->start.bands[b].step;
  if (group->registers)
    pb__plan_registers(p);
  else if (group->contraction)
    plan_contraction(p);
  else if (!group->reduces && moves_rows(&group->main))
    plan_copy(p);
  else if (!group->reduces && group->main.dim_count == 1)
    plan_flat(p);
  else
    plan_blocks(p);
}

// Shares a dim out among so many cores at most, an iteration each. Returns the parts; 0: it is too short.
static int64_t share_dim(pb_planner* p, int dim, int64_t parts) {
  int64_t extent = p->group->main.extent[dim], step = (extent + parts - 1) / parts;
  bool flat = !p->group->reduces && p->group->main.expr_count > 1 && p->group->main.dim_count == 1;
  if (flat) step = (step + p->group->lanes - 1) / p->group->lanes * p->group->lanes;
  if (step >= extent) return 0;
  pb__plan_add_band(&p->start, dim, step, extent);
  return (extent + step - 1) / step;
}

// One way to share the kernel out: so many parts of one dim, and of another.
static void plan_share(const pb_planner* one, const int* dims, const int64_t* parts, pb_found* best) {
  pb_found found = {0};
  pb_planner p = *one;
  p.result = &found;
  p.start = (pb_plan){.row_parts = 1, .column_parts = 1};
  if (parts[0] > 1) p.start.row_parts = share_dim(&p, dims[0], parts[0]);
  if (parts[1] > 1) p.start.column_parts = share_dim(&p, dims[1], parts[1]);
  if (p.start.row_parts && p.start.column_parts) plan_stage(&p);
  if (found.found && pb_plan_price(&found.plan) < pb_plan_price(&best->plan)) *best = found;
}

// What one core would do alone is shared out among all, if that is sooner done.
static void plan_cores(const pb_planner* one, pb_found* best) {
  int cores = one->chip->cores;
  for (int64_t parts = 1; parts <= cores; ++parts)
    for (int r = 0; r < (parts > 1 ? one->dims.row_count : 1); ++r)
      for (int c = 0; c < (cores / parts > 1 ? one->dims.column_count : 1); ++c)
        plan_share(one, (int[]){one->dims.rows[r], one->dims.columns[c]}, (int64_t[]){parts, cores / parts}, best);
}

// Whether x goes on to the instruction's own memory by a second step.
static bool has_image(const pb_chip* chip, const pb_group* group) {
  int held = group->contraction->operands[group->insn_roles.x].memory;
  return pb_transfer_via(chip, held, group->main.access[group->roles.x].type) != held;
}

enum { WEIGHTS, INPUT, IMAGE, RESULTS, COPIED };

static int* copies_of(pb_plan* plan, int what) {
  int* copies[COPIED] = {&plan->w_depth, &plan->x_depth, &plan->image_depth, &plan->result_depth};
  return copies[what];
}

// One more copy of something that a plan holds, if that is worth its room.
static bool one_more(const pb_chip* chip, pb_plan* held, int what, const pb_judge* whole, pb_plan* plan) {
  int most = chip->fence ? MOST_FENCED_COPIES : MOST_COPIES; // a fence lets some in together
  int *copies = copies_of(held, what), had = *copies;
  pb_plan more = *plan;
  const char* why;
  if (what == IMAGE && !*copies) *copies = 2;
  bool better = *copies > 1 && ++*copies <= most && whole->cost(whole->user, &more, &why) &&
                more.cycles - (what == WEIGHTS && *copies <= FREE_COPIES) < plan->cycles;
  if (better)
    *plan = more;
  else
    *copies = had;
  return better;
}

// Of the weights, then of x, and of x on its second step, then of results: where a tile of products is short, two
// copies do not hide what a load takes to arrive, nor what takes the results. Weights of one stage behind another wait
// for that stage more than the model of cost knows.
void pb_plan_deepen(const pb_chip* chip, const pb_group* stages, pb_plan* plans, int count, const pb_judge* whole,
                    pb_plan* plan) {
  int first = count > 1 ? INPUT : WEIGHTS;
  for (bool better = true; better;) {
    better = false;
    for (int k = count - 1; k >= 0 && !better; --k)
      for (int what = first; what < COPIED && !better; ++what)
        if (what != IMAGE || (stages[k].contraction && has_image(chip, &stages[k])))
          better = one_more(chip, &plans[k], what, whole, plan);
  }
}

typedef struct alone {
  const pb_chip* chip;
  const pb_group* group;
  const pb_plan* plan;
} alone;

// Of a kernel of one stage.
static bool cost_alone(void* user, pb_plan* plan, const char** why) {
  const alone* a = user;
  *why = NULL;
  *plan = *a->plan;
  return pb_plan_fits(a->chip, a->group, plan);
}

bool pb_plan_stage(const pb_chip* chip, const pb_group* group, int base, int copies, const pb_judge* judge,
                   pb_plan* plan) {
  pb_found found = {0};
  pb_planner p = {.chip = chip, .group = group, .base = base, .result = &found, .judge = judge, .copies = copies};
  plan_stage(&p);
  *plan = found.plan;
  return found.found;
}

pb_status pb_plan_make(const pb_chip* chip, const pb_group* group, pb_arena* arena, pb_diag* diag, pb_plan* plan) {
  pb_found* r = PB_NEW(arena, pb_found);
  pb_planner p = {.chip = chip, .group = group, .result = r};
  plan_stage(&p);
  if (!r->found) {
    char* nearest = strchr(r->why, '\n'); // what selection says of the instruction that comes nearest
    if (nearest) *nearest++ = 0;
    return pb_unsupported(diag, (pb_place){.what = group->main.name}, 4010, nearest, "%s cannot run this: %s",
                          chip->name, *r->why ? r->why : "no tiling fits");
  }
  if (chip->cores > 1 && !group->registers) plan_cores(&p, r);
  *plan = r->plan;
  const pb_judge whole = {.cost = cost_alone, .user = &(alone){chip, group, plan}};
  if (!group->contraction || group->registers) return PB_OK;
  keep_none(chip, group, plan);
  pb_plan_deepen(chip, group, plan, 1, &whole, plan);
  keep_x(chip, group, plan); // in the room that copies leave
  return PB_OK;
}

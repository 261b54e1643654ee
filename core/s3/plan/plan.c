// Plan: all choices for one kernel at once. Requires a kernel function in value form after layout; leaves the attribute
// pb.plan on it. One search for every chip: the steps of a tile, then the parts of its sum, the orders of its loops,
// the homes of its operands and their copies. What of these there is to choose are facts (pb_planner), which the
// kernel's instruction and the memories of its operands set: tiles of memories (here) and tiles in registers
// (plan_registers.c). What a candidate costs is added up (cost.c) and the cheapest is taken: nothing is timed.
#include "core/s3/kernel/flat.h"
#include "core/s3/kernel/parts.h"
#include "core/s3/plan/plan_search.h"
#include "core/s3/tree/tiling_stage.h"

#include <stdio.h>
#include <string.h>

// Three copies of the weights where they cost nothing: they even out what the cost model does not see.
enum { MOST_COPIES = 4, MOST_FENCED_COPIES = 8, FREE_COPIES = 3, NEAR_COPIES = 2 };
// Of what fits where sums are made in parts, the longest parts for the largest groups of blocks: all others read more.
enum { MOST_CHUNKS = 4, MOST_GROUPINGS = 6 };
// In how many parts a sum is taken at most whose parts lie in memory in between.
enum { MOST_PARTS = 64 };
enum { MOVE_GAIN = 50 }; // of the price, one of so many: less the model of cost cannot tell

// ---- the steps of a tile ----

// The step of a dim to try after `last`, or (0) the first one; 0: none is left.
static int64_t next_step(const pb_planner* p, int dim, int64_t last) {
  int64_t unit = p->unit[dim], extent = p->extent[dim], units = (extent + unit - 1) / unit;
  if (!p->fine) return unit * (last ? pb_next_step(units, last / unit) : units);
  for (int64_t step = last / unit + 1; step <= units; ++step)
    if (pb_parts_of(units, step).size == step) return unit * step;
  return 0;
}

// The next shorter part of the first sum, which is `whole`; 0: none is left.
static int64_t next_chunk(const pb_planner* p, int64_t whole) {
  int64_t chunk = p->chunk;
  if (!p->cuts_sums) return 0;
  if (!p->fine) { // of a stage behind which others are either all of a block's weights stay, or few
    bool few = p->judge && !p->judge->is_last && chunk > 1;
    return few ? 1 : pb_next_step(whole, chunk);
  }
  do chunk = chunk > 1 ? pb_largest_divisor(whole, chunk - 1) : 0;
  while (chunk % p->step[p->dims.sums[0]]);
  return chunk && whole / chunk <= MOST_PARTS ? chunk : 0;
}

void pb__plan_whole(pb_planner* p) {
  for (int d = 0; d < PB_NEST_DIMS; ++d) p->unit[d] = 1;
  memcpy(p->step, p->extent, sizeof p->step);
}

// ---- candidates ----

static int levels_of(const pb_planner* p, const pb_plan* plan) { return p->base + plan->axis_count; }

// Whether the blocks along the dim lie in one row of lanes.
static bool in_row(const pb_planner* p, int dim) {
  const pb_access* y = &p->group->main.access[p->group->roles.y];
  return p->group->roles.role[dim] == PB_ROLE_N && pb_access_stride(y, dim) < p->group->lanes;
}

// A loop, if the step cuts its dim: what loops around leave of it, or, where parts of a sum lie in memory, all of it.
static void add_axis(const pb_planner* p, pb_plan* plan, int dim, int64_t step) {
  int64_t whole = p->fine ? p->extent[dim] : pb_plan_left(plan, plan->axis_count, dim, p->extent[dim]);
  if (step > 0 && step < whole && plan->axis_count < PB_MAX_AXES)
    plan->axes[plan->axis_count++] = (pb_axis){dim, step, 0};
}

// By the tile's steps, or one by one.
static void add_axes(const pb_planner* p, pb_plan* plan, const int* dims, int count, const int64_t* step) {
  for (int k = 0; k < count; ++k) add_axis(p, plan, dims[k], step ? step[dims[k]] : 1);
}

// Whether x is another one in each block along the dim of columns: in each group of channels, say, or each head.
static bool moves_x(const pb_planner* p, int dim) { return p->group->roles.role[dim] == PB_ROLE_B; }

// How many dims of columns x moves along.
static int x_by_blocks(const pb_planner* p) {
  int count = 0;
  for (int k = 0; k < p->dims.column_count; ++k) count += moves_x(p, p->dims.columns[k]);
  return count;
}

static bool x_by_block(const pb_planner* p) { return x_by_blocks(p) > 0; }

// Those of columns along which x is the same, or another one; of these the ones that are in a tile with their whole row
// of lanes, or all but them.
static void add_columns(const pb_planner* p, pb_plan* plan, bool same_x, bool other_x, bool in_lanes) {
  for (int k = 0; k < p->dims.column_count; ++k) {
    int dim = p->dims.columns[k];
    bool inside = p->columns && in_row(p, dim);
    if (inside == in_lanes && (moves_x(p, dim) ? other_x : same_x)) add_axis(p, plan, dim, p->step[dim]);
  }
}

static void add_part(const pb_planner* p, pb_plan* plan) {
  if (p->dims.sum_count) add_axis(p, plan, p->dims.sums[0], p->chunk);
}

static void home_here(const pb_planner* p, pb_plan* plan, pb_plan_operand operand) {
  pb_plan_home_of(plan, operand)->around = levels_of(p, plan);
}

// The plan of the tile. Outermost rows, then columns; x is read as often as loops around its home do not move it, so
// that is behind the last loop that does. Inside the results' home parts of the sum, inside the weights' its steps.
// Another order has around x's home those columns alone along which x is another one, or, of registers, rows around
// columns.
static void lay_loops(const pb_planner* p, int order, pb_plan* plan) {
  const pb_plan_dims* s = &p->dims;
  bool columns_outside = p->parts_outside && !order, all = !columns_outside && x_by_block(p) && !order;
  *plan = p->start;
  pb_plan_begin(plan);
  if (!p->group->contraction) plan->chain[PB_OF_W].count = 0;
  pb_plan_home_of(plan, PB_OF_RESULT)->copies = p->copies ? p->copies : p->results;
  if (p->parts_outside) add_part(p, plan);
  if (columns_outside) add_columns(p, plan, true, true, false);
  add_axes(p, plan, s->rows, s->row_count, p->step);
  add_columns(p, plan, all, !columns_outside, false);
  home_here(p, plan, PB_OF_X);
  add_columns(p, plan, !all && !columns_outside, false, false);
  home_here(p, plan, PB_OF_RESULT);
  if (!p->side_by_side) add_columns(p, plan, true, true, true);
  if (!p->parts_outside) add_part(p, plan);
  if (p->side_by_side) home_here(p, plan, PB_OF_X);
  if (p->side_by_side) add_axes(p, plan, s->columns, s->column_count, NULL);
  home_here(p, plan, PB_OF_W);
  add_axes(p, plan, s->sums, s->sum_count, p->step);
  for (int d = 0; d < p->group->main.dim_count; ++d) add_axis(p, plan, d, s->taps.step[d]);
  add_axes(p, plan, s->rows, s->row_count, p->near);
  for (int o = PB_OF_X; o <= PB_OF_W && p->x_in_sums; ++o) home_here(p, plan, o);
  for (int o = 0; o < PB_PLAN_OPERANDS; ++o)
    for (int more = o == PB_OF_X ? p->x_homes : o == PB_OF_RESULT ? p->result_homes : 0; more > 1; --more)
      plan->chain[o].home[plan->chain[o].count++] = (pb_plan_home){levels_of(p, plan), NEAR_COPIES, 0};
}

// The weights stay for the whole kernel, or for what stages around share, where all of the sum is made at once, or they
// come for each part of it.
static void consider_weights(pb_planner* p, pb_plan plan, bool whole) {
  pb_plan_home* w = pb_plan_home_of(&plan, PB_OF_W);
  int of_part = w->around, shared = pb_plan_shared_axes(&plan);
  for (w->around = shared; whole && w->around <= (p->judge ? p->base : shared); ++w->around)
    for (w->copies = w->around > shared ? 2 : 1; w->copies >= 1; --w->copies) pb__plan_judge(p, &plan);
  w->copies = 2;
  for (w->around = of_part; w->around <= (p->windows ? levels_of(p, &plan) : of_part); ++w->around)
    pb__plan_judge(p, &plan);
}

// The largest parts of a tile that have room where its instructions take them, dim by dim from outside.
static void plan_near(pb_planner* p) {
  enum { MOST = 2 }; // that are looked at
  const int* rows = p->dims.rows;
  int count = p->dims.row_count, legal = p->result->legal;
  pb_plan plan;
  for (int at = 0; at < count && p->result->legal == legal; ++at) {
    int d = rows[at];
    for (int k = 0; k < count; ++k) p->near[rows[k]] = k < at ? p->unit[rows[k]] : p->step[rows[k]];
    for (int64_t units = p->step[d] / p->unit[d]; units > 0 && p->result->legal < legal + MOST;
         units = pb_next_step(p->step[d] / p->unit[d], units)) {
      p->near[d] = units * p->unit[d];
      lay_loops(p, 0, &plan);
      pb_plan_home_of(&plan, PB_OF_X)->copies = p->x_copies;
      pb__plan_judge(p, &plan);
    }
  }
}

// Whether the tile fits at all: with the least near the instructions.
static bool fits_near(const pb_planner* p) {
  pb_found found = {0};
  pb_planner probe = *p;
  pb_plan plan;
  probe.result = &found;
  for (int k = 0; k < p->dims.row_count; ++k) probe.near[p->dims.rows[k]] = p->unit[p->dims.rows[k]];
  lay_loops(&probe, 0, &plan);
  pb_plan_home_of(&plan, PB_OF_X)->copies = p->x_copies;
  pb__plan_judge(&probe, &plan);
  if (!found.found) snprintf(p->result->why, sizeof p->result->why, "%s", found.why);
  return found.found;
}

void pb__plan_tile(pb_planner* p) {
  if (!p->group->reduces && (p->x_homes > 1 || p->result_homes > 1)) {
    if (fits_near(p)) plan_near(p);
    return;
  }
  int64_t whole = p->dims.sum_count ? p->extent[p->dims.sums[0]] : 1;
  if (p->unrolls) pb__registers_unroll(p, p->unrolls);
  for (int copies = p->x_copies; copies >= p->x_least; --copies)
    for (p->chunk = whole; p->chunk; p->chunk = next_chunk(p, whole))
      for (int o = 0; o < p->orders; ++o) {
        pb_plan plan;
        lay_loops(p, o, &plan);
        pb_plan_home* x = pb_plan_home_of(&plan, PB_OF_X);
        x->copies = copies;
        if (copies > p->x_least && x->around == p->base + p->start.axis_count) continue; // no turns to take
        if (p->moves_w)
          consider_weights(p, plan, p->chunk == whole);
        else
          pb__plan_judge(p, &plan);
      }
}

void pb__plan_steps(pb_planner* p, const int* dims, int count, int64_t points) {
  if (!count) {
    pb__plan_tile(p);
    return;
  }
  int d = dims[count - 1];
  int64_t before = p->step[d], first = next_step(p, d, 0);
  for (int64_t step = first; step && points * (step / p->unit[d]) <= p->room; step = next_step(p, d, step)) {
    bool found = p->result->found;
    p->step[d] = step;
    pb__plan_steps(p, dims, count - 1, points * (step / p->unit[d]));
    if (found && count > 1 && step < first) break; // narrower rows only read more haloes
  }
  p->step[d] = before;
}

// ---- tiles of memories: products ----

// The dims of x's rows outermost, then blocks of the result's lanes, then the reduction: x is read once, and partial
// results never leave the chip. Where each block has an x of its own, it comes with the block; where several blocks of
// a group have one, before them, if there is room.
static void begin_product(pb_planner* p) {
  pb__plan_whole(p);
  for (int k = 0; k < p->dims.column_count; ++k) p->step[p->dims.columns[k]] = 1;
  for (int k = 0; k < p->dims.sum_count; ++k) p->step[p->dims.sums[k]] = 1;
  bool groups = x_by_block(p) && x_by_blocks(p) < p->dims.column_count;
  p->orders = groups && !p->judge ? 2 : 1; // the room of one stage among others is that of the next ones
  p->x_copies = p->results = 2;
  p->x_least = p->judge || x_by_block(p) ? 2 : 1;
  p->moves_w = p->cuts_sums = true;
}

// Several images for each of the weights, where all rows of so many fit.
static void plan_images(pb_planner* p) {
  int64_t images = p->dims.batches ? p->extent[p->dims.rows[0]] : 1;
  begin_product(p);
  for (int64_t step = images; step > 1; step = pb_next_step(images, step)) {
    p->step[p->dims.rows[0]] = step;
    pb__plan_tile(p);
  }
}

static void plan_products(pb_planner* p) {
  const pb_plan_dims* s = &p->dims;
  int tiled[2] = {s->outer, s->inner};
  begin_product(p);
  if (p->judge) { // it is one stage of several: its rows are those of the loops around
    pb__plan_tile(p);
    return;
  }
  for (int k = 0; k < s->batches; ++k) p->step[s->rows[k]] = 1;
  pb__plan_steps(p, tiled, (s->outer >= 0) + (s->inner >= 0), 1);
  plan_images(p);
}

enum { MOST_KEPT = 64 }; // iterations, as plans are read

// Of an x that comes again and again by parts of the sums (all of it once for each group of blocks whose sums lie side
// by side), as much stays as there is room for, if that costs less.
static void keep_x(const pb_planner* p, pb_plan* plan) {
  int around = pb_plan_around(plan, PB_OF_X) - 1; // the innermost axis
  if (around < 0 || around >= plan->axis_count) return;
  int dim = plan->axes[around].dim;
  int64_t all = pb_plan_left(plan, around, dim, p->group->main.extent[dim]) / plan->axes[around].step - 1;
  int64_t fits = 0, most = (all < MOST_KEPT ? all : MOST_KEPT) / pb_plan_copies(plan, PB_OF_X);
  pb_plan best = *plan;
  while (fits < most) { // what has room leaves room for less
    int64_t middle = (fits + most + 1) / 2;
    pb_plan with = *plan;
    pb_plan_home_of(&with, PB_OF_X)->kept = (int)middle * pb_plan_copies(plan, PB_OF_X);
    if (pb_plan_fits(p->chip, p->group, &with))
      fits = middle, best = with;
    else
      most = middle - 1;
  }
  if (pb_plan_price(&best) < pb_plan_price(plan)) *plan = best;
}

// Rows in a tile.
static int64_t rows_in(const pb_planner* p, const int64_t* tile) {
  int64_t rows = 1;
  for (int k = 0; k < p->dims.row_count; ++k) rows *= tile[p->dims.rows[k]];
  return rows;
}

// How many blocks of lanes have room for the sums of so many rows where the instruction adds them up.
static int64_t sums_that_fit(const pb_planner* p, int64_t rows) {
  const pb_group* g = p->group;
  int64_t bytes = rows * g->lanes * (pb_type_bits(g->main.access[g->roles.y].type) / 8);
  return p->chip->memories[g->contraction->operands[g->insn_roles.y].memory].bytes / bytes;
}

// The tile, its sums by chunks of x and of the weights, side by side for some of the blocks along a dim and all blocks
// inside it. Returns whether it fits.
static bool consider_chunk(pb_planner* p, int64_t chunk) {
  pb_plan plan;
  int legal = p->result->legal;
  p->chunk = chunk;
  lay_loops(p, 0, &plan);
  pb_plan_home_of(&plan, PB_OF_X)->copies = 2;
  pb_plan_home* w = pb_plan_home_of(&plan, PB_OF_W);
  for (w->copies = FREE_COPIES; w->copies > 1 && p->result->legal == legal; --w->copies) pb__plan_judge(p, &plan);
  if (p->result->legal == legal) return false;
  plan = p->plan;
  keep_x(p, &plan);
  if (pb_plan_outer(&plan, PB_OF_X)->kept) pb__plan_judge(p, &plan);
  return true;
}

// Whether the sums fit at all: with the shortest chunks, whose commands and runs are too short to be taken.
static bool sums_fit(const pb_planner* p) {
  pb_found found = {0};
  pb_planner probe = *p;
  probe.result = &found;
  return consider_chunk(&probe, 1);
}

// Sums of so many blocks at once, by the longest chunks that fit.
static void plan_sums(pb_planner* p) {
  int64_t sums = p->extent[p->dims.sums[0]],
          least = p->dims.sum_count > 1 ? 1 : 2; // one step of more dims is not short
  int fit = 0;
  if (sums < 2 || !sums_fit(p)) return;
  for (int64_t chunk = pb_next_step(sums, sums); chunk >= least && fit < MOST_CHUNKS; chunk = pb_next_step(sums, chunk))
    fit += consider_chunk(p, chunk);
}

// As many blocks at once as their sums have room for: each time all of x comes again. What is behind the last sums
// nobody hides, so the last time may be a short one.
static void plan_blocks_at_once(pb_planner* p) {
  const int* columns = p->dims.columns;
  int64_t inside = 1, fit = sums_that_fit(p, rows_in(p, p->step));
  for (int k = 0; k < p->dims.column_count; ++k) {
    p->step[columns[k]] = p->extent[columns[k]];
    if (k) inside *= p->extent[columns[k]];
  }
  for (int at = 0; at < p->dims.column_count; ++at) {
    int64_t extent = p->extent[columns[at]], most = fit / inside < extent ? fit / inside : extent;
    int legal = p->result->legal;
    for (int64_t some = most; some > 0 && some * inside > 1 && some > most - MOST_GROUPINGS; --some) {
      p->step[columns[at]] = some;
      plan_sums(p);
      if (p->result->legal > legal) return; // other operands of what takes the sums lie beside them
    }
    p->step[columns[at]] = 1;
    if (at + 1 < p->dims.column_count) inside /= p->extent[columns[at + 1]];
  }
}

// Where all of the sum of all rows does not fit, each tile of rows reads all of the weights. Larger tiles of parts of
// the sum read them less often, and x as often as there are groups of blocks whose sums lie side by side: they are
// taken if less is read.
static void plan_parts_of_sums(pb_planner* p) {
  pb_plan* best = &p->result->plan;
  int outer = p->dims.outer;
  bool by_lanes = pb_sums_by_lanes(p->group->contraction, &p->group->insn_roles);
  if (!p->result->found || pb_plan_around(best, PB_OF_W) <= pb_plan_shared_axes(best) || by_lanes) return;
  if (p->judge || !p->dims.column_count || !p->dims.sum_count || outer < 0 || x_by_block(p)) return;
  pb_found found = {0};
  pb_planner parts = *p;
  int64_t tile[PB_NEST_DIMS];
  pb_plan_tile(best, &p->group->main, tile);
  parts.result = &found;
  begin_product(&parts);
  parts.results = 1; // the next sums begin with the block that was taken first
  parts.side_by_side = true;
  for (int k = 0; k < p->dims.batches; ++k) parts.step[p->dims.rows[k]] = 1;
  for (int64_t step = next_step(&parts, outer, 0); step; step = next_step(&parts, outer, step)) {
    parts.step[outer] = step;
    if (rows_in(p, parts.step) <= rows_in(p, tile)) break;
    plan_blocks_at_once(&parts);
  }
  if (found.found && found.plan.port < best->port && pb_plan_price(&found.plan) < pb_plan_price(best))
    *best = found.plan;
}

static void plan_contraction(pb_planner* p) {
  plan_products(p);
  p->windows = !p->result->found;
  if (p->windows && p->dims.sum_count > 1) plan_products(p);
  for (int k = 0; k < p->dims.column_count && !p->result->found; ++k) p->columns |= in_row(p, p->dims.columns[k]);
  if (p->columns) plan_products(p);
  plan_parts_of_sums(p);
}

// ---- tiles of memories: what is no product ----

// Rows as they are, of a tensor or of a table from which they are gathered.
static bool moves_rows(const pb_nest* nest) {
  for (int a = 0; a < nest->access_count; ++a)
    if (pb_gathers_rows(&nest->access[a])) return true;
  return nest->expr_count == 1;
}

// Whether some tensor is one that all iterations of a dim read alike, and tiles of the next one take parts of.
static bool repeats(const pb_nest* main, const int* dims) {
  bool found = false;
  for (int a = 0; a + 1 < main->access_count; ++a)
    found |= !main->access[a].splat && !main->access[a].gathered && pb_access_uses(&main->access[a], dims[1]) &&
             !pb_access_uses(&main->access[a], dims[0]);
  return found;
}

// Tiles of one dim of the rows, inside so many one by one.
static void plan_rows(pb_planner* p, int around, int at) {
  const int* rows = p->dims.rows;
  for (int k = 0; k < p->dims.row_count; ++k) p->step[rows[k]] = k < around ? 1 : p->extent[rows[k]];
  pb__plan_steps(p, &rows[at], at < p->dims.row_count, 1);
}

// Sums whose rows, one at a time, have no room: part after part onto what is there. Rows that end inside a row of lanes
// are cut where parts end with such rows, and what is behind the last one is a part of its own.
static void plan_parts_of_rows(pb_planner* p) {
  const pb_nest* main = &p->group->main;
  const pb_plan_dims* s = &p->dims;
  p->x_in_sums = true;
  for (int k = 0; k < s->row_count; ++k) p->step[s->rows[k]] = 1;
  for (int k = 0; k < s->sum_count; ++k) {
    int d = s->sums[k];
    int64_t unit = pb_access_stride(&main->access[p->group->x], d) == 1 ? p->group->lanes : 1, whole = p->step[d],
            units = whole / unit;
    for (int64_t step = pb_next_step(units, units); step; step = pb_next_step(units, step)) {
      if (unit > 1 && units % step) continue;
      p->step[d] = step * unit;
      pb__plan_tile(p);
    }
    p->step[d] = whole;
  }
}

// Where everything lies in buffers inside all loops: channels one block at a time, then rows, or rows of all blocks at
// a time, where all blocks read the same; of copies all at once, as long as that fits; of one dim rows of lanes.
static void plan_tiles(const pb_planner* one) {
  pb_planner p = *one;
  const pb_nest* main = &p.group->main;
  int64_t lanes = p.group->lanes;
  bool copies = !p.group->reduces && moves_rows(main), flat = !p.group->reduces && !copies && main->dim_count == 1,
       whole = !flat || p.extent[0] >= lanes;
  int *rows = p.dims.rows, *count = &p.dims.row_count;
  for (int d = 0; copies && d < main->dim_count; ++d) rows[d] = d; // movers walk all dims
  if (copies) *count = main->dim_count;
  if (flat && whole) p.extent[0] -= p.extent[0] % lanes;
  pb__plan_whole(&p);
  if (flat) p.unit[0] = lanes;
  p.orders = 1;
  p.x_copies = p.x_least = p.results = (copies ? *count > 0 : whole) ? 2 : 1;
  for (int d = 0; d < main->dim_count; ++d) // sums that end inside a row of lanes: whole rows, and what is behind them
    if (pb_nest_reduces_over(main, d) && pb_access_stride(&main->access[p.group->x], d) == 1)
      p.step[d] -= p.step[d] % lanes;
  int first = copies ? 0 : *count > 3 ? *count - 2 : *count > 1;
  for (int at = first; at == first || (at < *count && !p.result->found); ++at) { // a row too long: parts of one
    plan_rows(&p, at, at);
    if (at == first && at > 0 && repeats(main, &rows[at - 1])) plan_rows(&p, at - 1, at);
  }
  if (p.group->reduces && !p.result->found) plan_parts_of_rows(&p);
}

static void plan_stage(pb_planner* p) {
  const pb_group* group = p->group;
  pb__plan_dims_of(p->chip, group, &p->dims);
  memcpy(p->extent, group->main.extent, sizeof p->extent);
  for (int b = 0; b < p->start.axis_count; ++b) p->extent[p->start.axes[b].dim] = p->start.axes[b].step;
  p->room = INT64_MAX;
  if (group->registers) {
    pb__plan_registers(p);
    return;
  }
  pb_homes_of(p->chip, group, &p->x_homes, &p->result_homes);
  if (group->contraction)
    plan_contraction(p);
  else
    plan_tiles(p);
}

// Shares a dim out among so many cores at most, an iteration each. false: it is too short.
static bool share_dim(pb_planner* p, int dim, int64_t parts) {
  int64_t extent = p->group->main.extent[dim], step = (extent + parts - 1) / parts;
  bool flat = !p->group->reduces && p->group->main.expr_count > 1 && p->group->main.dim_count == 1;
  if (flat) step = (step + p->group->lanes - 1) / p->group->lanes * p->group->lanes;
  if (step >= extent) return false;
  p->start.axes[p->start.axis_count++] = (pb_axis){dim, step, (extent + step - 1) / step};
  return true;
}

// One way to share the kernel out: so many parts of one dim, and of another.
static void plan_share(const pb_planner* one, const int* dims, const int64_t* parts, pb_found* best) {
  pb_found found = {0};
  pb_planner p = *one;
  p.result = &found;
  for (int k = 0; k < 2; ++k)
    if (parts[k] > 1 && !share_dim(&p, dims[k], parts[k])) return;
  plan_stage(&p);
  if (found.found && pb_plan_price(&found.plan) < pb_plan_price(&best->plan)) *best = found;
}

// Whether one part fewer is as long, of a short dim.
static bool is_as_long(const pb_planner* p, int dim, int64_t parts, int64_t others) {
  int64_t extent = p->group->main.extent[dim];
  return parts > 1 && (extent + parts - 1) / parts == (extent + others - 1) / others;
}

// What one core would do alone is shared out among all, or among fewer, for which the port that they share has less to
// bring, if that is sooner done.
static void plan_cores(const pb_planner* one, pb_found* best) {
  int cores = one->chip->cores;
  for (int64_t parts = 1; parts <= cores; ++parts)
    for (int r = 0; r < (parts > 1 ? one->dims.row_count : 1); ++r) {
      if (is_as_long(one, one->dims.rows[r], parts, parts - 1)) continue;
      for (int c = 0; c < (cores / parts > 1 ? one->dims.column_count : 1); ++c)
        for (int64_t others = cores / parts, last = 0; others; last = others, others /= 2)
          if (parts * others > 1 && (!last || others == 1 || !is_as_long(one, one->dims.columns[c], others, last)))
            plan_share(one, (int[]){one->dims.rows[r], one->dims.columns[c]}, (int64_t[]){parts, others}, best);
    }
}

// One more copy of something that a plan holds, if that is worth its room; so many cost nothing.
static bool one_more(const pb_chip* chip, int* copies, int free, const pb_judge* whole, pb_plan* plan) {
  int most = chip->fence ? MOST_FENCED_COPIES : MOST_COPIES, had = *copies; // a fence lets some in together
  pb_plan more = *plan;
  const char* why;
  bool better = *copies > 1 && ++*copies <= most && whole->cost(whole->user, &more, &why) &&
                more.cycles - (*copies <= free) < plan->cycles;
  if (better)
    *plan = more;
  else
    *copies = had;
  return better;
}

// A plan that was changed stays so if the whole gains by it what the model of cost can tell; else it is as it was.
static bool keep_change(const pb_judge* whole, pb_plan* changed, const pb_plan* was, pb_plan* plan) {
  pb_plan more = *plan;
  const char* why;
  int64_t price = pb_plan_price(plan);
  if (whole->cost(whole->user, &more, &why) && pb_plan_price(&more) < price - price / MOVE_GAIN) {
    *plan = more;
    return true;
  }
  *changed = *was;
  return false;
}

// Whether a home of the operand may stand inside the loop: one that walks another part of it. Else each iteration would
// bring the same again, which the model of cost takes to be hidden.
static bool parts(const pb_group* g, pb_plan_operand of, const pb_axis* axis) {
  const int access[PB_PLAN_OPERANDS] = {g->x, g->roles.w, g->main.access_count - 1};
  return pb_access_uses(&g->main.access[access[of]], axis->dim);
}

// One home moves past a loop, in or out.
static bool move_one(const pb_group* g, pb_plan* one, const pb_judge* whole, pb_plan* plan) {
  const pb_plan was = *one;
  int shared = pb_plan_shared_axes(one); // outside the other loops there are no turns to take
  for (int o = 0; o < PB_PLAN_OPERANDS; ++o) {
    int around = pb_plan_around(one, o);
    for (int to = around + 1; to >= around - 1; to -= 2) {
      if (to < 0 || to > one->axis_count || (to > around && !parts(g, o, &one->axes[around]))) continue;
      pb_plan_home* home = pb_plan_home_of(one, o);
      *home = (pb_plan_home){to, to <= shared ? 1 : home->copies > 1 ? home->copies : 2, home->kept};
      if (keep_change(whole, one, &was, plan)) return true;
    }
  }
  return false;
}

// Whether a plan could be cheaper by that with homes elsewhere: the products stay the same, and no plan takes less than
// the cycles in which their unit works.
static bool may_gain(const pb_group* g, const pb_plan* plan) {
  int64_t price = pb_plan_price(plan);
  return plan->busy[g->contraction->unit] < price - price / MOVE_GAIN;
}

// The search looks at homes where they are best for most kernels: where others are cheaper a plan comes there step by
// step. The order of loops stays: which of two sums is outside is cheaper by what the model of cost does not see, the
// banks that rows of a window lie in (arrays of 8 columns took 1.4% longer where 0.8% less was predicted).
static bool move_homes(const pb_group* g, pb_plan* one, const pb_judge* whole, pb_plan* plan) {
  enum { MOST_MOVES = 8 };
  int moves = 0;
  while (moves < MOST_MOVES && may_gain(g, plan) && move_one(g, one, whole, plan)) ++moves;
  return moves > 0;
}

// Of the weights, then of x, and of x on its second step, then of results: where a tile of products is short, two
// copies do not hide what a load takes to arrive, nor what takes the results. Weights of one stage behind another wait
// for that stage more than the model of cost knows.
void pb_plan_deepen(const pb_chip* chip, pb_plan* plans, int count, const pb_judge* whole, pb_plan* plan) {
  for (bool better = true; better;) {
    better = false;
    for (int k = count - 1; k >= 0 && !better; --k) {
      int* weights = count > 1 ? NULL : &pb_plan_home_of(&plans[k], PB_OF_W)->copies;
      pb_chain* x = &plans[k].chain[PB_OF_X];
      int* copies[] = {weights, &x->home[0].copies, x->count > 1 ? &x->home[1].copies : NULL,
                       &pb_plan_home_of(&plans[k], PB_OF_RESULT)->copies};
      for (int c = 0; c < 4 && !better; ++c)
        better = copies[c] && one_more(chip, copies[c], c ? 0 : FREE_COPIES, whole, plan);
    }
  }
}

// Of a kernel of one stage.
static bool cost_alone(void* user, pb_plan* plan, const char** why) {
  const pb_planner* p = user;
  *why = NULL;
  *plan = p->result->plan;
  return pb_plan_fits(p->chip, p->group, plan);
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
  plan_cores(&p, r);
  *plan = r->plan;
  if (!p.moves_w) return PB_OK;
  const pb_judge whole = {.cost = cost_alone, .user = &p};
  const char* why;
  pb_plan_home_of(&r->plan, PB_OF_X)->kept = 0; // it was looked for without what it keeps
  if (pb_plan_outer(plan, PB_OF_X)->kept) (void)cost_alone(&p, plan, &why);
  pb_plan_deepen(chip, &r->plan, 1, &whole, plan);
  while (move_homes(group, &r->plan, &whole, plan)) pb_plan_deepen(chip, &r->plan, 1, &whole, plan);
  keep_x(&p, plan); // in the room that copies leave
  return PB_OK;
}

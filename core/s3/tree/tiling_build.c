// From a plan to the tiled kernel: the main nest over its axes, epilogues behind it.
#include "core/s3/transfer_paths.h"
#include "core/s3/tree/tiling_stage.h"

#include <string.h>

// The tile of the results: what is summed over is walked no more.
static pb_tile results_of(const pb_tiling* t, const pb_tile* tile) {
  const pb_nest* main = &t->group->main;
  pb_tile results = *tile;
  for (int d = 0; d < main->dim_count; ++d)
    if (pb_nest_reduces_over(main, d)) results.extent[d] = 1;
  return results;
}

// What sums start from, in their buffer.
static void init_nest(pb_tiling* t, const pb_nest* main, const pb_tile* results, pb_nest* init) {
  const pb_access* sums = &main->access[main->access_count - 1];
  pb_nest set;
  if (t->group->around.init) {
    pb_nest_copy(&set, t->group->around.init);
    set.part = "init";
  } else {
    pb_nest_begin(&set, main->name, "init", 1);
    pb_nest_const(&set, sums->type, pb_reduce_neutral(main->reduce, sums->type));
  }
  *pb_nest_store(&set) = *sums;
  pb__tiling_expand(t, main, &set, results, init);
}

// Sums that are made in parts of the dim that they walk lie in between where the result will be: the first part begins
// them, later ones go on with what is there.
static void begin_sums(pb_tiling* t, const pb_tile_stage* s, const pb_tile* results, int level) {
  pb_nest init, so_far;
  init_nest(t, &s->main, results, &init);
  if (!pb__tiling_cuts_sum(t)) {
    pb__tiling_add(t, level, &init);
    return;
  }
  pb_nest_copy(&so_far, s->store);
  pb__tiling_turn(&so_far, "load");
  pb_tree* first = pb__tiling_open_iteration(t, level, t->base, 0);
  first->others = PB_NEW(t->arena, pb_tree);
  pb__tiling_put(t, first, level, &init);
  pb__tiling_put(t, first->others, level, &so_far);
}

// All reads of what the epilogue takes: it may read it more than once.
static void take_carried(pb_nest* epilogue, MlirValue value, const pb_access* at) {
  for (int a = 0; a + 1 < epilogue->access_count; ++a)
    if (epilogue->access[a].memref.ptr && pb_value_same(epilogue->access[a].memref, value)) epilogue->access[a] = *at;
}

// The store of the stage's last nest, which writes the tensor, writes the buffer of t->into instead.
static void store_into(const pb_tiling* t, pb_access* store) {
  pb__tiling_in_buffer(store, t->into->buffer, t->buffers[t->into->buffer].shape, &t->into->origin);
}

// The epilogues from the first to before the end one, on a tile of results at `level`. *at: where the first of them
// takes its value, then where the last one leaves its own.
static bool add_epilogues(pb_tiling* t, const pb_tile* results, pb_access* at, int first, int end, int level,
                          pb_tree* parent) {
  const pb_around* around = &t->group->around;
  for (int k = first; k < end; ++k) {
    bool last = k + 1 == around->epilogue_count;
    int carried = around->epilogues[k].carried;
    pb_nest epilogue;
    pb__tiling_expand(t, &t->group->main, around->epilogues[k].nest, results, &epilogue);
    MlirValue value = epilogue.access[carried].memref;
    if (last && t->into) store_into(t, pb_nest_store(&epilogue));
    take_carried(&epilogue, value, at);
    if (!pb__tiling_point(t, &epilogue, carried, level, last, 0, parent)) return false;
    *at = *pb_nest_store(&epilogue);
  }
  return true;
}

// The outermost axis inside the results' buffer that cuts results, in equal steps: their sums lie side by side there.
// NULL: none does, or it cuts rows of lanes, which instructions take whole.
static const pb_axis* axis_of_blocks(const pb_tiling* t, const pb_tile* results, int level) {
  const pb_nest* main = &t->group->main;
  for (int b = level - t->base; b < t->plan->axis_count; ++b) {
    const pb_axis* axis = &t->plan->axes[b];
    if (pb_nest_reduces_over(main, axis->dim)) continue;
    if (pb_access_stride(&main->access[main->access_count - 1], axis->dim) < t->group->lanes) return NULL;
    return results->extent[axis->dim] % axis->step || results->extent[axis->dim] == axis->step ? NULL : axis;
  }
  return NULL;
}

// An access over the dims that a tile of results has as a nest, in one block of it.
static void enter_block(const pb_tile* results, const pb_axis* axis, int level, pb_access* at) {
  int column = 0;
  for (int d = 0; d < axis->dim; ++d) column += results->extent[d] > 1;
  for (int r = 0; r < at->rank; ++r) {
    int64_t* coef = at->index[r].coef;
    coef[PB_NEST_DIMS + level] = coef[column] * axis->step;
    if (axis->step > 1) continue;
    memmove(coef + column, coef + column + 1, sizeof *coef * (size_t)(PB_NEST_DIMS - column - 1));
    coef[PB_NEST_DIMS - 1] = 0;
  }
}

// Sums of several blocks that lie side by side are taken all at once, so that the next ones can begin there. What takes
// what is made of them goes block by block: the tensors that it reads beside that, and what it leaves, have room for
// two blocks, and one's store goes on beside the next one.
static bool end_blocks(pb_tiling* t, const pb_tile* results, pb_access at, int level, const pb_axis* axis) {
  pb_tile block = *results;
  if (!add_epilogues(t, results, &at, 0, 1, level, NULL)) return false;
  pb_tree* loop = pb__tiling_open_loop(t, level, results->extent[axis->dim] / axis->step, 0, 0);
  block.extent[axis->dim] = axis->step;
  block.origin[axis->dim].coef[PB_NEST_DIMS + level] = axis->step;
  enter_block(results, axis, level, &at);
  bool added = add_epilogues(t, &block, &at, 1, t->group->around.epilogue_count, level + 1, NULL);
  pb__tiling_hang(t, level, loop);
  return added;
}

// The sums of a tile are there: they go to their tensor, or others take them first; of sums in parts the last one's.
static bool end_sums(pb_tiling* t, const pb_tile_stage* s, const pb_tile* results, int level) {
  pb_nest point;
  pb_tree* last = NULL;
  if (!t->group->around.epilogue_count) {
    if (!t->into) pb__tiling_add(t, level, s->store);
    return !t->failure;
  }
  if (pb__tiling_cuts_sum(t)) {
    last = pb__tiling_open_iteration(t, level, t->base, t->body[t->base + 1]->extent - 1);
    last->others = PB_NEW(t->arena, pb_tree);
    pb__tiling_put(t, last->others, level, s->store);
  }
  pb__tiling_expand(t, &s->main, &s->main, results, &point);
  pb_access at = *pb_nest_store(&point);
  int count = t->group->around.epilogue_count;
  const pb_axis* blocks = count < 2 || t->into || last ? NULL : axis_of_blocks(t, results, level);
  if (blocks) return end_blocks(t, results, at, level, blocks);
  return add_epilogues(t, results, &at, 0, count, level, last);
}

// Where the sums are made: in a buffer of their own, or, for a stage without epilogues, in the one that it fills.
static bool place_sums(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile) {
  int y = s->main.access_count - 1;
  if (t->into && t->group->around.epilogue_count == 0) {
    store_into(t, &s->main.access[y]);
    if (t->buffers[s->main.access[y].buffer].memory == s->sums_memory) return true;
    return pb__tiling_fail(t, "a stage's sums are made where the next one cannot read them");
  }
  s->store = pb_alloc_raw(t->arena, sizeof *s->store);
  bool whole = !pb__in_registers(t) && !t->group->around.epilogue_count;
  const pb_home_at at = {pb_plan_around(t->plan, PB_OF_RESULT), s->sums_memory, pb_plan_copies(t->plan, PB_OF_RESULT),
                         .name = "acc"};
  return pb__chains_take_out(t, &s->main, tile, &at, whole, s->store);
}

// The last row of a flat nest whose length is no multiple of the lanes. It is the row that ends where the tensor ends:
// a few elements are computed twice. A tensor shorter than a row is computed as a whole row, moved as far as it exists.
static bool build_rest(pb_tiling* t, const pb_nest* main, int64_t from) {
  pb_nest rest = *main;
  int64_t valid = 0, length = main->extent[0];
  if (from)
    from = length - t->group->lanes;
  else
    valid = length;
  for (int a = 0; a < rest.access_count; ++a) // whatever index of a tensor the row walks
    for (int r = 0; r < rest.access[a].rank; ++r)
      if (!rest.access[a].splat) rest.access[a].index[r].cst += rest.access[a].index[r].coef[0] * from;
  rest.extent[0] = t->group->lanes;
  return pb__tiling_point(t, &rest, -1, 0, true, valid, NULL);
}

int pb__tiling_landing(const pb_chip* chip, pb_type type, bool leaves) {
  for (int m = 0; m < chip->memory_count; ++m)
    if (m != chip->system_memory && pb_transfer_via(chip, m, type) == m &&
        (!leaves || pb_transfer_copies(chip, m, chip->system_memory, type)))
      return m;
  return -1;
}

// Whether no instruction fills the tile as it is: it ends inside a row of lanes.
static bool lacks_rows(const pb_tiling* t, const pb_nest* nest) {
  pb_flat flat;
  pb_match match;
  const char* why;
  if (!pb_nest_is_fill(nest) || pb_access_elements(&nest->access[0]) % t->group->lanes == 0) return false;
  pb_tiling_flat(t, nest, &flat);
  return !pb_select_again(t->group->memo, &flat, &match, &why);
}

// The buffer has the elements of such a tile one behind the other, up to a whole row, and the nest fills all of it.
static void fill_rows(const pb_tiling* t, pb_nest* nest, pb_access* local) {
  pb_nest rows;
  int64_t lanes = t->group->lanes, elements = pb_access_elements(local);
  pb_index along = {.cst = 0};
  for (int d = 0; d < nest->dim_count; ++d) along.coef[d] = pb_access_stride(local, d);
  local->rank = 1;
  local->shape[0] = (elements + lanes - 1) / lanes * lanes;
  local->index[0] = along;
  pb_nest_begin(&rows, nest->name, nest->part, 1);
  rows.access[0] = *local;
  rows.access[0].index[0] = (pb_index){.cst = 0};
  pb_nest_walk(&rows, &rows.access[0].index[0], 1, local->shape[0]);
  rows.expr[rows.expr_count++] = nest->expr[0];
  pb_nest_copy(nest, &rows);
}

// A copy (or a fill) between tensors passes through a buffer laid out as the tile's dims; to one that stays on the
// chip, and from it, it goes straight.
static bool build_copy(pb_tiling* t, const pb_tile* tile, int level) {
  pb_nest load, store;
  pb__tiling_expand(t, &t->group->main, &t->group->main, tile, &load);
  if (!load.access[0].memref.ptr || !pb_nest_store(&load)->memref.ptr) {
    load.part = t->into ? "load" : "store";
    pb__tiling_add(t, level, &load);
    return !t->failure;
  }
  int dims[PB_NEST_DIMS];
  for (int d = 0; d < load.dim_count; ++d) dims[d] = d;
  pb_access local = pb__tiling_indexed(pb_nest_store(&load), dims, load.dim_count, 1, load.extent);
  int memory = pb__tiling_landing(t->chip, local.type, true);
  if (memory < 0) return pb__tiling_fail(t, "no memory on the chip lets data of this type through");
  pb_nest_begin(&store, load.name, "store", 2);
  store.dim_count = load.dim_count;
  memcpy(store.extent, load.extent, sizeof store.extent);
  store.access[1] = *pb_nest_store(&load);
  *pb_nest_store(&load) = local;
  if (lacks_rows(t, &load)) fill_rows(t, &load, &local);
  pb__tiling_own(t, &local, level, memory, pb_plan_copies(t->plan, PB_OF_RESULT), "passage");
  pb__tiling_lie_in(t, pb_nest_store(&load), local.buffer);
  store.access[0] = local;
  pb_nest_load(&store, 0);
  load.part = "load";
  pb__tiling_add(t, level, &load);
  pb__tiling_add(t, level, &store);
  return !t->failure;
}

// Inside all loops of a kernel that reduces nothing.
static bool build_point(pb_tiling* t, const pb_nest* main, const pb_tile* tile, int level) {
  const pb_group* g = t->group;
  pb_nest point;
  if (!pb__in_registers(t) && g->main.expr_count == 1) return build_copy(t, tile, level);
  pb__tiling_expand(t, main, main, tile, &point);
  if (!pb__tiling_point(t, &point, -1, level, g->around.epilogue_count == 0, 0, NULL)) return false;
  return add_epilogues(t, tile, pb_nest_store(&point), 0, g->around.epilogue_count,
                       pb_plan_nearest(t->plan, PB_OF_RESULT)->around, NULL);
}

// Inside all loops of one that does.
static void build_reduction(pb_tiling* t, const pb_nest* main, const pb_tile* tile, int level) {
  pb_nest point;
  pb__tiling_expand(t, main, main, tile, &point);
  point.part = tile->adds ? "add" : "reduce";
  pb__tiling_add(t, level, &point);
}

// Everything inside `level` loops.
static bool build_level(pb_tiling* t, const pb_tile* tile, int level, const void* around) {
  const pb_tile_stage* outside = around;
  pb_tile_stage s; // not set to 0: a nest has room for many accesses, and this one few
  memcpy(&s, outside, offsetof(pb_tile_stage, main));
  pb_nest_copy(&s.main, &outside->main);
  pb_tile results = results_of(t, tile);
  bool reduces = t->group->reduces, sums = reduces && level == pb_plan_around(t->plan, PB_OF_RESULT),
       innermost = level == pb__tiling_levels(t);
  if (sums || (!reduces && innermost)) pb__registers_free(t);
  if (!pb__chains_bring(t, &s, tile, level) || (sums && !place_sums(t, &s, tile))) return false;
  if (sums) begin_sums(t, &s, &results, level);
  if (!innermost) {
    if (!pb__tiling_axis(t, tile, level, build_level, &s)) return false;
  } else if (reduces) {
    build_reduction(t, &s.main, tile, level);
  } else if (!build_point(t, &s.main, tile, level))
    return false;
  if (sums) return end_sums(t, &s, &results, level);
  while (s.store_count) pb__tiling_add(t, level, s.stores[--s.store_count]);
  return !t->failure;
}

// The loops, and what is in them, of the main nest or of a part of it.
static bool build_loops(pb_tiling* t, const pb_nest* main) {
  int kept = -1;
  pb_tile_stage s; // not set to 0, as above
  pb_tile tile;
  memset(&s, 0, offsetof(pb_tile_stage, main));
  s.kept = &kept;
  pb_nest_copy(&s.main, main);
  pb__tile_whole(main, &tile);
  return pb__chains_begin(t, &s, &tile) && build_level(t, &tile, t->base, &s);
}

// What is left of a row of one dim behind whole rows of lanes, where instructions take nothing but these.
static int64_t rest_of(const pb_group* g) {
  bool rows = !g->registers && !g->reduces && g->main.expr_count > 1 && g->main.dim_count == 1;
  return rows ? g->main.extent[0] % g->lanes : 0;
}

// The main nest, and of one whose rows end inside a row of lanes what is behind whole ones.
static bool build_main(pb_tiling* t) {
  const pb_group* g = t->group;
  int64_t rest = rest_of(g);
  if (!rest) return build_loops(t, &g->main);
  pb_nest whole = g->main;
  whole.extent[0] -= rest;
  if (t->base || t->into) return pb__tiling_fail(t, "a stage whose rows end inside a row of lanes");
  if (g->around.epilogue_count)
    return pb__tiling_fail(t, "a nest whose rows end inside a row of lanes, and others take it");
  bool any = whole.extent[0] > 0;
  if (any && !(pb__tiling_open_axes(t, &whole) && build_loops(t, &whole))) return false;
  return build_rest(t, &g->main, whole.extent[0]);
}

// A loop of the reduction around the result's buffer would begin the sum anew each iteration, but for one around all
// others of sums in registers, which go on from where the result will be. Loops over results may lie on either side of
// the buffer: inside, it has the results of all their iterations.
static bool sums_end_inside(pb_tiling* t, int first) {
  const pb_nest* main = &t->group->main;
  for (int b = first; t->base + b < pb_plan_around(t->plan, PB_OF_RESULT) && b < t->plan->axis_count; ++b) {
    int dim = t->plan->axes[b].dim;
    if (pb_nest_reduces_over(main, dim))
      return pb__tiling_fail(
          t, pb_printf(t->arena, "loop %d, over d%d, which is summed, is outside the result's home", b, dim));
  }
  return true;
}

// Threads share tiles of all rows, and of all columns, in no more parts than there are.
static bool threads_share(pb_tiling* t) {
  const pb_plan* plan = t->plan;
  pb__tiling_count_shared(t);
  for (int b = 0; b < plan->axis_count; ++b) {
    if (plan->axes[b].members < 2) continue;
    if (t->group->alone)
      return pb__tiling_fail(t,
                             "a stage is done in one iteration of loops that are shared: it has no parts of its own");
    if (!pb__tiling_begins_share(t, b))
      return pb__tiling_fail(t, "an axis is shared that is not the first one of rows, or of columns");
    if (plan->axes[b].members > (t->group->column[plan->axes[b].dim] ? t->column_tiles : t->row_tiles))
      return pb__tiling_fail(t, "more parts than tiles");
  }
  return true;
}

// Each core with queues takes one iteration of every shared axis, and makes other results than the rest in it.
static bool cores_share(pb_tiling* t) {
  const pb_plan* plan = t->plan;
  const pb_nest* main = &t->group->main;
  int shared = pb_plan_shared_axes(plan);
  int64_t members = 1, cores = t->chip->cores;
  for (int b = 0; b < plan->axis_count; ++b) {
    const pb_axis* axis = &plan->axes[b];
    if (axis->members < 2) continue;
    if (axis->members > cores / members)
      return pb__tiling_fail(
          t, pb_printf(t->arena, "an axis is shared by more than there are cores, %lld", (long long)cores));
    members *= axis->members;
    int64_t whole = pb_plan_left(plan, b, axis->dim, main->extent[axis->dim]);
    if (axis->members != (whole + axis->step - 1) / axis->step)
      return pb__tiling_fail(t, "a shared axis has not as many iterations as cores that share it");
    if (b >= shared || t->base || pb_plan_around(plan, PB_OF_X) < shared || pb_plan_around(plan, PB_OF_W) < shared ||
        pb_plan_around(plan, PB_OF_RESULT) < shared)
      return pb__tiling_fail(t, "the shared axes are not the outermost ones, outside all buffers");
    bool again = false;
    for (int k = 0; k < b; ++k) again |= plan->axes[k].dim == axis->dim;
    if (again || !pb_access_uses(&main->access[main->access_count - 1], axis->dim))
      return pb__tiling_fail(t, "cores that share an axis would make the same results");
  }
  return true;
}

// Some of x stays: a part of the sums' dim, whatever the loops around do, and the rest comes as if there were no other.
static bool keeps_part_of_x(pb_tiling* t) {
  const pb_plan* plan = t->plan;
  const pb_nest* main = &t->group->main;
  int level = pb_plan_around(plan, PB_OF_X) - t->base - 1;
  if (!pb_plan_outer(plan, PB_OF_X)->kept) return true;
  if (level < 0 || !t->group->reduces || t->group->prologue_count)
    return pb__tiling_fail(t, "x keeps what no loop around its home walks");
  const pb_axis* axis = &plan->axes[level];
  for (int b = 0; b < level; ++b)
    if (pb_access_uses(&main->access[t->group->x], plan->axes[b].dim))
      return pb__tiling_fail(t, "x keeps what is another part in iterations of the loops around");
  bool exists = axis->dim >= 0 && axis->dim < main->dim_count;
  int64_t left = exists ? pb_plan_left(plan, level, axis->dim, main->extent[axis->dim]) : 0;
  if (!left || !pb_nest_reduces_over(main, axis->dim))
    return pb__tiling_fail(t, "x keeps iterations of a loop whose dim is not summed");
  if (axis->step < 1 || left % axis->step || pb_plan_outer(plan, PB_OF_X)->kept >= left / axis->step ||
      pb_plan_outer(plan, PB_OF_X)->kept % pb_plan_copies(plan, PB_OF_X))
    return pb__tiling_fail(t, "x keeps no number of its copies, or leaves no iteration that brings its own");
  return true;
}

// Where operands lie in memories: what a nest that reduces nothing reads comes inside all loops, and weights are there
// in products alone.
static bool homes_are_legal(pb_tiling* t) {
  const pb_plan* plan = t->plan;
  if (plan->chain[PB_OF_W].count != (t->group->contraction != NULL))
    return pb__tiling_fail(t, t->group->contraction ? "its weights have no home" : "it has no weights");
  for (int o = 0; o < PB_PLAN_OPERANDS; ++o)
    for (int k = 1; k < plan->chain[o].count; ++k)
      if (plan->chain[o].home[k].around < plan->chain[o].home[k - 1].around)
        return pb__tiling_fail(t, "a home nearer to the instruction is outside the one before it");
  int levels = pb__tiling_levels(t);
  bool near = pb_plan_nearest(plan, PB_OF_RESULT)->around == levels || plan->chain[PB_OF_RESULT].count == 1;
  if (!t->group->reduces && (pb_plan_nearest(plan, PB_OF_X)->around != levels || !near))
    return pb__tiling_fail(t, "what a nest reads that reduces nothing has its home inside all loops");
  return true;
}

// The loops of the plan's axes, if the plan keeps the rules of its levels.
static bool open_loops(pb_tiling* t) {
  const pb_group* group = t->group;
  const pb_plan* plan = t->plan;
  int levels = pb__tiling_levels(t);
  if (plan->axis_count > PB_MAX_AXES || pb_plan_around(plan, PB_OF_RESULT) > levels ||
      pb_plan_around(plan, PB_OF_W) > levels || pb_plan_around(plan, PB_OF_X) > levels)
    return pb__tiling_fail(t, "a home is inside more loops than there are");
  if (!keeps_part_of_x(t) || (!t->numbered && !homes_are_legal(t))) return false;
  if (pb_plan_around(plan, PB_OF_RESULT) < t->base)
    return pb__tiling_fail(t, "a stage's result has its home outside the loops around the stage");
  bool uneven = rest_of(group) > 0;
  if (uneven && pb_plan_shared_axes(plan)) return pb__tiling_fail(t, "one core alone can do what ends in a row");
  if (!uneven && !pb__tiling_open_axes(t, &group->main)) return false;
  return sums_end_inside(t, t->numbered && pb__tiling_cuts_sum(t)) &&
         (t->numbered ? threads_share(t) && pb__registers_axes_legal(t) : cores_share(t));
}

void pb__tiling_add_fills(pb_tiling* t) {
  for (int f = 0; f < t->group->around.fill_count; ++f) {
    pb_nest fill;
    pb_nest_copy(&fill, t->group->around.fills[f]);
    fill.part = "fill";
    pb__tiling_add(t, t->base, &fill);
  }
}

bool pb__tiling_build_group(pb_tiling* t) {
  const pb_group* group = t->group;
  const pb_plan* plan = t->plan;
  const pb_into* into = t->into;
  bool outside = t->numbered;
  t->numbered = pb__in_registers(t);
  t->by_number |= t->numbered;
  if (t->numbered) pb__registers_begin(t);
  pb__tiling_take_residents(t);
  pb__tiling_add_fills(t);
  bool built = open_loops(t) && build_main(t);
  t->group = group;
  t->plan = plan;
  t->into = into;
  t->numbered = outside;
  return built && !t->failure;
}

bool pb_tiling_prove(const pb_chip* chip, const pb_group* group, const pb_plan* plan, pb_arena* arena,
                     struct pb_proofs* proofs, pb_tiling* tiling) {
  pb_tiling_begin(chip, group, plan, arena, tiling);
  tiling->proofs = proofs;
  return pb__tiling_build_group(tiling);
}

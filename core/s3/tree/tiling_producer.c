// A stage inside another one's tile: the producer of x, sliced to what the tile reads of it. The slice of a tensor is a
// box, and a box of the producer's results is its main nest with shorter extents and an origin that moves with the
// loops around. Its sums, epilogues and buffers are then built as those of any stage, and the tensor between the two is
// gone.
//
// Where the consumer pads, the box reaches over the tensor's border. An index whose box stands still is clipped, and
// the border beside it filled. One that moves with a loop is computed all along - what it reads outside its own tensors
// is no matter - and the first and the last iteration fill the border over it: a slice of one size in every iteration.
#include "core/s3/tree/slicing.h"
#include "core/s3/tree/tiling.h"

#include <string.h>

typedef struct border {
  int64_t rows[2]; // in front of the tensor and behind it, along one index
  int loop;        // the loop in whose first and last iteration they are there; -1: in all
} border;

typedef struct slice {
  pb_access local, origin; // the box
  border borders[PB_NEST_RANK];
  pb_group group; // the producer of what the box needs
  pb_nest* epilogues[PB_MAX_EPILOGUES];
} slice;

// Only the first and the last iteration may touch the border.
static bool moving_border(pb_tiling* t, const pb_index* origin, int64_t box, int64_t whole, border* b) {
  b->loop = -1;
  for (int k = 0; k < t->plan->x_level; ++k) {
    if (!origin->coef[PB_NEST_DIMS + k]) continue;
    if (b->loop >= 0) return pb__tiling_fail(t, "a padded slice that moves with two loops");
    b->loop = k;
  }
  int64_t step = origin->coef[PB_NEST_DIMS + b->loop], iterations = t->body[b->loop + 1]->extent;
  int64_t front = -origin->cst, back = origin->cst + step * (iterations - 1) + box - whole;
  if (front > step || back > step) return pb__tiling_fail(t, "a border that several tiles reach over");
  b->rows[0] = front > 0 ? front : 0;
  b->rows[1] = back > 0 ? back : 0;
  return true;
}

static bool moves(const pb_index* origin) {
  for (int c = PB_NEST_DIMS; c < PB_NEST_COLS; ++c)
    if (origin->coef[c]) return true;
  return false;
}

// Shortens the dim that walks index r of the producer's result to the box's extent there, from its origin on.
static bool slice_index(pb_tiling* t, slice* s, int r) {
  pb_nest* main = &s->group.main;
  pb_index origin = s->origin.index[r];
  int64_t box = s->local.shape[r], whole = s->origin.shape[r];
  border* b = &s->borders[r];
  int d;
  *b = (border){.loop = -1};
  if (!pb_index_single(&pb_nest_store(main)->index[r], &d))
    return pb__tiling_fail(t, "a producer that cannot be sliced along a tile");
  if (moves(&origin)) {
    if (d < 0) return pb__tiling_fail(t, "a single row of a producer in a slice that moves along it");
    if (!moving_border(t, &origin, box, whole, b)) return false;
  } else {
    b->rows[0] = origin.cst < 0 ? -origin.cst : 0;
    b->rows[1] = origin.cst + box > whole ? origin.cst + box - whole : 0;
    box -= b->rows[0] + b->rows[1];
    origin.cst += b->rows[0];
  }
  if (box < 1) return pb__tiling_fail(t, "a slice that is all border");
  if (d < 0) return true; // the one row that there is, with a border on either side of it
  main->extent[d] = box;
  pb__tiling_shift(main, main->access_count, d, &origin);
  for (int k = 0; k < s->group.around.epilogue_count; ++k)
    pb__tiling_shift(s->epilogues[k], s->epilogues[k]->access_count, d, &origin);
  return true;
}

// The producer may read outside its tensors where it computes what the border then hides.
static bool allow_leaving(pb_tiling* t, pb_group* g) {
  g->main.outer_count = t->plan->x_level;
  for (int a = 0; a + 1 < g->main.access_count; ++a) {
    pb_access* access = &g->main.access[a];
    if (access->boxed || !pb__tiling_leaves(t, &g->main, access)) continue;
    if (g->prologue_count && a == g->x) continue; // its feeds read what is there
    if (g->contraction && a != g->x) return pb__tiling_fail(t, "a producer that cannot be computed past its border");
    access->boxed = true;
  }
  return true;
}

// Of t's group, plan and open loops.
static bool find_slice(pb_tiling* t, const pb_nest* point, slice* s) {
  pb__tiling_box(t, &point->access[t->group->x], point->extent, t->plan->x_level, &s->local, &s->origin);
  s->group = *t->group->producer;
  if (pb_nest_store(&s->group.main)->rank != s->local.rank)
    return pb__tiling_fail(t, "a producer whose result is not read index by index");
  if (!pb_slicing_allowed(t, &s->local)) return false;
  for (int k = 0; k < s->group.around.epilogue_count; ++k)
    s->group.around.epilogues[k].nest = s->epilogues[k] = pb_nest_kept(t->arena, s->group.around.epilogues[k].nest);
  for (int r = 0; r < s->local.rank; ++r)
    if (!slice_index(t, s, r)) return false;
  return allow_leaving(t, &s->group);
}

bool pb_tiling_slice(pb_tiling* t, pb_group* sliced) {
  pb_tile tile;
  pb_nest point;
  slice s;
  if (!pb__tiling_open(t)) return false;
  pb__tile_whole(&t->group->main, &tile);
  for (int level = t->base; level < t->plan->x_level; ++level) pb__tile_step(t, &tile, level, false);
  pb__tiling_expand(t, &t->group->main, &tile, &point);
  if (!find_slice(t, &point, &s)) return false;
  *sliced = s.group;
  return true;
}

void pb__tiling_into(const pb_tiling* t, pb_access* store) {
  pb__tiling_in_buffer(store, t->into->buffer, t->buffers[t->into->buffer].shape, &t->into->origin);
}

// Fills `rows` of the buffer along index r, from row `first` on.
static pb_nest fill_nest(const pb_tiling* t, const pb_access* x, int buffer, int r, int64_t first, int64_t rows) {
  const pb_buffer* b = &t->buffers[buffer];
  pb_nest nest = {.name = t->group->main.name, .part = "load", .access_count = 1};
  pb_access* store = &nest.access[0];
  *store = (pb_access){.type = b->type, .rank = b->rank, .buffer = buffer};
  memcpy(store->shape, b->shape, sizeof store->shape);
  store->index[r].cst = first;
  for (int i = 0; i < b->rank; ++i) {
    int64_t extent = i == r ? rows : b->shape[i];
    if (extent == 1) continue;
    store->index[i].coef[nest.dim_count] = 1;
    nest.extent[nest.dim_count++] = extent;
  }
  pb_nest_const(&nest, b->type, x->fill);
  return nest;
}

// Borders of boxes that stand still, before the slice is computed, or (`last`) those that lie over it.
static void fill_borders(pb_tiling* t, const slice* s, int buffer, bool last) {
  const pb_access* x = &t->group->main.access[t->group->x];
  for (int r = 0; r < s->local.rank; ++r)
    for (int side = 0; side < 2; ++side) {
      const border* b = &s->borders[r];
      int64_t rows = b->rows[side], first = side ? s->local.shape[r] - rows : 0;
      if (!rows || (b->loop >= 0) != last) continue;
      pb_nest fill = fill_nest(t, x, buffer, r, first, rows);
      if (!last)
        pb__tiling_add(t, t->plan->x_level, &fill);
      else
        pb__tiling_add_in_iteration(t, t->plan->x_level, b->loop, side ? t->body[b->loop + 1]->extent - 1 : 0, &fill);
    }
}

static bool build_producer(pb_tiling* t, const slice* s, int buffer) {
  pb_into into = {.buffer = buffer, .origin = s->origin};
  pb_tiling around = *t;
  t->group = &s->group;
  t->base = t->plan->x_level;
  t->plan = t->plan->producer;
  t->into = &into;
  bool built = pb__tiling_open(t) && pb__tiling_stage(t);
  t->group = around.group;
  t->plan = around.plan;
  t->base = around.base;
  t->into = around.into;
  memcpy(t->body, around.body, sizeof t->body);
  return built;
}

bool pb__tiling_produce(pb_tiling* t, pb_nest* main, const pb_tile* tile, int memory) {
  const pb_plan* plan = t->plan;
  pb_nest point, unused;
  slice s;
  pb__tiling_expand(t, main, tile, &point);
  if (!find_slice(t, &point, &s)) return false;
  pb__tiling_home(t, main, t->group->x, tile, plan->x_level, memory, plan->x_depth, "between", &unused);
  if (t->failure) return false;
  int buffer = main->access[t->group->x].buffer;
  fill_borders(t, &s, buffer, false);
  if (!build_producer(t, &s, buffer)) return false;
  fill_borders(t, &s, buffer, true);
  return !t->failure;
}

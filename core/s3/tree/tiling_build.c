// From a plan to the tiled kernel: the main nest over its bands, slices of producers in front of it, epilogues behind
// it.
#include "core/s3/transfer_paths.h"
#include "core/s3/tree/tiling.h"

#include <string.h>

enum { RUN_BEATS = 4 }; // of the system's memory, of a mover's run: shorter ones cost more than they bring forward

// A load of several blocks goes block by block: what needs the first does not wait for the last. `inner`: the dims of
// one block.
static int pieces(const pb_nest* load, int inner) { return load->dim_count > inner && load->extent[0] > 1 ? 1 : 0; }

// Whether dim d of the load walks a dim of the main nest that is summed over.
static bool walks_sum(const pb_tiling* t, const pb_nest* main, const pb_nest* load, int d) {
  for (int r = 0; r < load->access[1].rank; ++r)
    for (int k = 0; load->access[1].index[r].coef[d] && k < main->dim_count; ++k)
      if (t->group->roles.role[k] == PB_ROLE_K && main->access[t->group->x].index[r].coef[k]) return true;
  return false;
}

// Rows of x whose elements are summed over lie one after the other, and products begin with the first elements of all
// rows: the load brings some columns of all rows, then the next ones.
static void bring_by_columns(const pb_tiling* t, const pb_nest* main, pb_nest* load) {
  const pb_memory* system = &t->chip->memories[t->chip->system_memory];
  int64_t row = load->extent[2] * (pb_type_bits(load->access[1].type) / 8), columns = load->extent[1], some = 1;
  if (!t->group->contraction || load->dim_count != 3 || !walks_sum(t, main, load, 1)) return;
  while (some < columns && (columns % some || some * row < system->bytes_per_cycle * RUN_BEATS)) ++some;
  if (some == columns) return;
  load->extent[3] = load->extent[2];
  load->extent[2] = some;
  load->extent[1] = load->extent[0];
  load->extent[0] = columns / some;
  for (int a = 0; a < 2; ++a)
    for (int r = 0; r < load->access[a].rank; ++r) {
      int64_t* coef = load->access[a].index[r].coef;
      coef[3] = coef[2];
      coef[2] = coef[1];
      coef[1] = coef[0];
      coef[0] = coef[2] * some;
    }
  load->dim_count = 4;
  load->kept = 1;
}

// Brings x turn by turn of the band inside its level: in front of the band what the first iteration's tile shares with
// the second's, then in each iteration as much as the band steps on: *each, for the caller to add there. `load`: of the
// whole buffer; `tile`: the box that one iteration touches, `origin`: where it begins.
static bool bring_new(pb_tiling* t, const pb_nest* load, const pb_access* tile, const pb_access* origin,
                      pb_nest* each) {
  int level = t->plan->x_level, column = PB_NEST_DIMS + level, moved = -1;
  const pb_access* local = &load->access[1];
  for (int r = 0; r < tile->rank; ++r) {
    if (!origin->index[r].coef[column]) continue;
    if (moved >= 0) return pb__tiling_fail(t, "x_stays: two indices of x move with the band");
    moved = r;
  }
  if (moved < 0) return pb__tiling_fail(t, "x_stays: no index of x moves with the band");
  int64_t step = origin->index[moved].coef[column], rows = tile->shape[moved], shared = rows > step ? rows - step : 0;
  int d = 0;
  while (d < load->dim_count && !local->index[moved].coef[d]) ++d;
  if (d == load->dim_count) return pb__tiling_fail(t, "x_stays: x does not move");
  pb_nest first;
  pb_nest_copy(&first, load);
  pb_nest_copy(each, load);
  first.extent[d] = shared;
  each->extent[d] = rows - shared;
  for (int a = 0; a < 2; ++a) {
    each->access[a].index[moved].coef[column] = step;
    each->access[a].index[moved].cst += shared;
  }
  if (shared) pb__tiling_add(t, level, &first);
  return !t->failure;
}

// A stage that reduces, on its way into the tile.
typedef struct stage {
  pb_nest main;              // over its own dims; operands that have a home are their buffers
  int x_memory, sums_memory; // x_memory: where x waits; the instruction may read it in another one
  int x_held;                // that one; the same: x takes one step
  pb_nest* each;             // what each iteration of the loop around brings of x; NULL: nothing
  pb_nest* store;            // takes the sums to their tensor
} stage;

// What another stage of the kernel has made, or holds already.
static bool lies_on_chip(const pb_nest* main, int a) { return !main->access[a].memref.ptr; }

static bool is_read_there(pb_tiling* t, const pb_nest* main, int a, int memory) {
  if (t->buffers[main->access[a].buffer].memory == memory) return true;
  return pb__tiling_fail(t, "what a stage makes does not lie where the next one's instruction reads it");
}

// The main input's buffer, filled by moves or by the nests that make it.
static bool bring_x(pb_tiling* t, stage* s, const pb_tile* tile, int level) {
  const pb_plan* plan = t->plan;
  int x = t->group->x;
  pb_nest load;
  pb_access box, iteration = {0}, origin = {0};
  if (lies_on_chip(&s->main, x)) return is_read_there(t, &s->main, x, s->x_memory);
  if (t->group->producer) return pb__tiling_produce(t, &s->main, tile, s->x_memory);
  if (plan->x_stays) {
    pb_tile inner = *tile;
    pb_nest point;
    pb__tile_step(t, &inner, level, false);
    pb__tiling_expand(t, &s->main, &inner, &point);
    pb__tiling_box(t, &point.access[x], point.extent, level + 1, &iteration, &origin);
  }
  pb__tiling_home(t, &s->main, x, tile, plan->x_level, s->x_memory, plan->x_depth, "x", &load, &box);
  load.outer_count = plan->x_level;
  load.kept = pieces(&load, 3);
  if (t->failure) return false;
  if (plan->x_level == t->base && !t->group->prologue_count && !plan->x_stays) bring_by_columns(t, &s->main, &load);
  if (plan->x_stays) {
    s->each = pb_alloc_raw(t->arena, sizeof *s->each);
    return bring_new(t, &load, &iteration, &origin, s->each);
  }
  if (!t->group->prologue_count) pb__tiling_add(t, plan->x_level, &load);
  for (int k = 0; k < t->group->prologue_count; ++k)
    if (!pb__tiling_prologue(t, &t->group->program->nests[t->group->prologues[k]], &load, &box)) return false;
  return true;
}

// Stages take turns with the instruction's own registers: a buffer there lies where an equal one of a stage before
// lies.
static void share_registers(pb_tiling* t, int buffer) {
  pb_buffer* new = &t->buffers[buffer];
  for (int b = 0; b < buffer && new->shares < 0; ++b)
    if (t->buffers[b].memory == new->memory && t->buffers[b].bytes == new->bytes && t->buffers[b].depth == new->depth)
      new->shares = t->buffers[b].shares >= 0 ? t->buffers[b].shares : b;
}

// Where the instruction holds its weights.
static int held_memory(const pb_group* g) { return g->contraction->operands[g->insn_roles.w].memory; }

// Weights: from the system's memory to where the instruction holds them, perhaps in two steps. This is the first.
static void bring_w(pb_tiling* t, stage* s, const pb_tile* tile) {
  const pb_group* g = t->group;
  int w = g->roles.w, held = held_memory(g), via = pb_transfer_via(t->chip, held, s->main.access[w].type);
  pb_nest load;
  pb_tree* before = t->body[t->plan->w_level]->last;
  if (lies_on_chip(&s->main, w)) {
    (void)is_read_there(t, &s->main, w, via);
    return;
  }
  if (via == held) return;
  pb__tiling_home(t, &s->main, w, tile, t->plan->w_level, via, t->plan->w_depth, "w", &load, NULL);
  load.stream = 1;
  load.kept = pieces(&load, 2);
  pb__tiling_add(t, t->plan->w_level, &load);
  // a producer's weights are needed before those of its consumer
  if (t->plan->w_level < t->base) pb__tiling_to_front(t, t->plan->w_level, before);
}

// The dim of the main nest that walks the tile's weights in a role, -1: none, or several.
static int walked_in_tile(const pb_tiling* t, const pb_tile* tile, pb_role role) {
  int found = -1;
  for (int d = 0; d < t->group->main.dim_count; ++d)
    if (t->group->roles.role[d] == role && tile->extent[d] > 1) found = found < 0 ? d : -2;
  return found < 0 ? -1 : found;
}

// Weights whose rows are the results' columns: a computed tensor lies as it was made. They are held the other way
// round.
static bool lies_turned(const pb_tiling* t, const stage* s, int k, int n) {
  const pb_access* w = &s->main.access[t->group->roles.w];
  return k >= 0 && n >= 0 && pb_access_stride(w, k) == 1 && pb_access_stride(w, n) != 1;
}

static void hold_turned(pb_tiling* t, stage* s, const pb_tile* tile, int k, int n, int depth) {
  int held = held_memory(t->group), level = pb__tiling_levels(t);
  pb_access box, *access = &s->main.access[t->group->roles.w];
  pb_nest point, load;
  pb_nest_begin(&load, s->main.name, "stage", 2);
  load.dim_count = 2;
  pb__tiling_expand(t, &s->main, tile, &point);
  pb__tiling_box(t, &point.access[t->group->roles.w], point.extent, level, &box, &load.access[0]);
  pb_access local = {.type = access->type, .rank = 2, .shape = {tile->extent[k], tile->extent[n]}};
  pb__tiling_own(t, &local, level, held, depth, "held");
  if (t->failure) return;
  const int dims[2] = {k, n};
  load.access[1] = local;
  for (int d = 0; d < 2; ++d) {
    load.extent[d] = tile->extent[dims[d]];
    for (int r = 0; r < access->rank; ++r) load.access[0].index[r].coef[d] = access->index[r].coef[dims[d]];
    load.access[1].index[d].coef[d] = 1;
    local.index[d].coef[dims[d]] = 1;
  }
  pb_nest_load(&load, 0);
  *access = local;
  pb__tiling_add(t, level, &load);
}

static void hold_w(pb_tiling* t, stage* s, const pb_tile* tile) {
  const pb_group* g = t->group;
  int w = g->roles.w, held = held_memory(g), level = pb__tiling_levels(t);
  bool registers = pb_holds_tiles(&t->chip->memories[held]);
  int depth = registers ? t->chip->memories[held].banks : t->plan->w_depth;
  pb_nest load;
  int k = walked_in_tile(t, tile, PB_ROLE_K), n = walked_in_tile(t, tile, PB_ROLE_N);
  if (pb_sums_by_lanes(g->contraction, &g->insn_roles)) {
    pb__tiling_hold_taps(t, &s->main, tile, depth);
  } else if (lies_turned(t, s, k, n)) {
    hold_turned(t, s, tile, k, n, depth);
  } else {
    pb__tiling_home(t, &s->main, w, tile, level, held, depth, "held", &load, NULL);
    load.part = "stage";
    pb__tiling_add(t, level, &load);
  }
  if (registers && !t->failure) share_registers(t, s->main.access[w].buffer);
}

// The second step of x, where it takes two: what the tile reads of it, row by row in the order of its dims, as the
// instruction wants it (image to columns; whatever the tile does not read stays behind).
static void hold_x(pb_tiling* t, stage* s, const pb_tile* tile) {
  int level = pb__tiling_levels(t), x = t->group->x;
  pb_access *access = &s->main.access[x], local = {.type = access->type}, lies = local;
  const pb_memory* memory = &t->chip->memories[s->x_held];
  pb_nest point, load;
  pb_nest_begin(&load, s->main.name, "stage", 2);
  pb__tiling_expand(t, &s->main, tile, &point);
  load.outer_count = point.outer_count;
  load.access[0] = point.access[x];
  for (int r = 0; r < access->rank; ++r) memset(load.access[0].index[r].coef, 0, sizeof(int64_t) * PB_NEST_DIMS);
  for (int d = 0; d < s->main.dim_count && local.rank < PB_NEST_RANK; ++d) {
    if (tile->extent[d] <= 1 || !pb_access_uses(access, d)) continue;
    int k = local.rank++;
    for (int r = 0; r < access->rank; ++r) load.access[0].index[r].coef[k] = access->index[r].coef[d];
    load.extent[k] = local.shape[k] = tile->extent[d];
    lies.index[k].coef[k] = local.index[k].coef[d] = 1;
    for (int c = PB_NEST_DIMS; c < PB_NEST_COLS; ++c) local.index[k].coef[c] = -tile->origin[d].coef[c];
    local.index[k].cst = -tile->origin[d].cst;
  }
  load.dim_count = lies.rank = local.rank;
  memcpy(lies.shape, local.shape, sizeof lies.shape);
  int copies = t->plan->image_depth ? t->plan->image_depth : 2;
  pb__tiling_own(t, &lies, level, s->x_held, pb_holds_tiles(memory) ? memory->banks : copies, "image");
  if (t->failure) return;
  local.buffer = lies.buffer;
  memcpy(local.shape, lies.shape, sizeof local.shape); // of a remainder: that of its twin
  load.access[1] = lies;
  pb_nest_load(&load, 0);
  *access = local;
  pb__tiling_add(t, level, &load);
}

// Dims that only the reduction walks are none of an epilogue's: drops them and renumbers.
static void drop_dims(pb_nest* nest, const pb_access* keep_those_of) {
  int count = 0;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (!pb_access_uses(keep_those_of, d)) continue;
    for (int a = 0; a < nest->access_count; ++a)
      for (int r = 0; r < nest->access[a].rank; ++r)
        nest->access[a].index[r].coef[count] = nest->access[a].index[r].coef[d];
    nest->extent[count++] = nest->extent[d];
  }
  for (int d = count; d < nest->dim_count; ++d)
    for (int a = 0; a < nest->access_count; ++a)
      for (int r = 0; r < nest->access[a].rank; ++r) nest->access[a].index[r].coef[d] = 0;
  nest->dim_count = count;
}

static void add_init(pb_tiling* t, const pb_nest* point, int level) {
  pb_nest nest;
  pb_nest_begin(&nest, point->name, "init", 1);
  nest.dim_count = point->dim_count;
  memcpy(nest.extent, point->extent, sizeof nest.extent);
  nest.access[0] = point->access[point->access_count - 1];
  pb_access dims = nest.access[0];
  drop_dims(&nest, &dims);
  pb_type type = nest.access[0].type;
  pb_nest_const(&nest, type, pb_reduce_neutral(point->reduce, type));
  pb__tiling_add(t, level, &nest);
}

// All reads of what the epilogue takes: it may read it more than once.
static void take_carried(pb_nest* epilogue, MlirValue value, const pb_access* at) {
  for (int a = 0; a + 1 < epilogue->access_count; ++a)
    if (epilogue->access[a].memref.ptr && pb_value_same(epilogue->access[a].memref, value)) epilogue->access[a] = *at;
}

// The epilogues on a tile of the main nest, one after the other; `at`: where the first one takes its value, over the
// dims of the main nest on that tile.
static bool add_epilogues(pb_tiling* t, const pb_tile* tile, pb_access at) {
  const pb_around* around = &t->group->around;
  pb_access result = at; // says which dims epilogues have
  for (int k = 0; k < around->epilogue_count; ++k) {
    bool last = k + 1 == around->epilogue_count;
    int carried = around->epilogues[k].carried;
    pb_nest epilogue;
    pb__tiling_expand_with(t, &t->group->main, around->epilogues[k].nest, tile, &epilogue);
    MlirValue value = epilogue.access[carried].memref;
    if (last && t->into) pb__tiling_into(t, pb_nest_store(&epilogue));
    if (k == 0) take_carried(&epilogue, value, &at); // still over the main nest's dims
    drop_dims(&epilogue, &result);
    if (k > 0) take_carried(&epilogue, value, &at);
    if (!pb__tiling_point(t, &epilogue, carried, t->plan->result_level, last, 0)) return false;
    at = *pb_nest_store(&epilogue);
  }
  return true;
}

// Where the sums are made: in a buffer of their own, or, for a producer without epilogues, in the one that it fills.
static bool place_sums(pb_tiling* t, stage* s, const pb_tile* tile) {
  int y = s->main.access_count - 1;
  if (t->into && t->group->around.epilogue_count == 0) {
    pb__tiling_into(t, &s->main.access[y]);
    if (t->buffers[s->main.access[y].buffer].memory == s->sums_memory) return true;
    return pb__tiling_fail(t, "a producer's sums are made where its consumer cannot read them");
  }
  s->store = pb_alloc_raw(t->arena, sizeof *s->store);
  pb_nest point;
  pb__tiling_expand(t, &s->main, tile, &point);
  if (!t->group->around.epilogue_count &&
      !pb__tiling_leaves_no_holes(t, &point.access[y], point.extent, t->plan->result_level))
    return false;
  pb__tiling_home(t, &s->main, y, tile, t->plan->result_level, s->sums_memory, t->plan->result_depth, "acc", s->store,
                  NULL);
  pb__tiling_turn_to_store(s->store);
  return true;
}

// Operands whose home is at this level, or, on the way in, outside it.
static bool find_homes(pb_tiling* t, stage* s, const pb_tile* tile, int level) {
  const pb_plan* plan = t->plan;
  pb_nest point;
  if (s->each) pb__tiling_add(t, level, s->each);
  s->each = NULL;
  if ((plan->x_level > t->base ? plan->x_level : t->base) == level && !bring_x(t, s, tile, level)) return false;
  if (t->group->contraction && (plan->w_level > t->base ? plan->w_level : t->base) == level) bring_w(t, s, tile);
  if (t->group->contraction && level == pb__tiling_levels(t)) hold_w(t, s, tile);
  if (s->x_held != s->x_memory && level == pb__tiling_levels(t) && !t->failure) hold_x(t, s, tile);
  if (plan->result_level != level || t->failure) return !t->failure;
  if (!place_sums(t, s, tile)) return false;
  pb__tiling_expand(t, &s->main, tile, &point);
  add_init(t, &point, level);
  return !t->failure;
}

// Everything inside `level` loops.
static bool build_level(pb_tiling* t, const pb_tile* tile, int level, const void* around) {
  const stage* outside = around;
  stage s = {.x_memory = outside->x_memory,
             .x_held = outside->x_held,
             .sums_memory = outside->sums_memory,
             .each = outside->each,
             .store = outside->store};
  pb_nest_copy(&s.main, &outside->main);
  pb_nest point;
  if (!find_homes(t, &s, tile, level)) return false;
  if (level == pb__tiling_levels(t)) {
    pb__tiling_expand(t, &s.main, tile, &point);
    point.part = tile->adds ? "add" : "reduce";
    pb__tiling_add(t, level, &point);
  } else if (!pb__tiling_band(t, tile, level, build_level, &s))
    return false;
  if (level != t->plan->result_level) return !t->failure;
  if (t->group->around.epilogue_count > 0) {
    pb__tiling_expand(t, &s.main, tile, &point);
    return add_epilogues(t, tile, *pb_nest_store(&point));
  }
  if (!t->into) pb__tiling_add(t, level, s.store);
  return !t->failure;
}

// The memories that the main nest's instruction wants x and the sums in.
static bool find_memories(pb_tiling* t, stage* s, const pb_tile* tile) {
  const pb_group* g = t->group;
  if (g->contraction) {
    s->x_held = g->contraction->operands[g->insn_roles.x].memory;
    s->x_memory = pb_transfer_via(t->chip, s->x_held, s->main.access[g->x].type);
    s->sums_memory = g->contraction->operands[g->insn_roles.y].memory;
    if (s->x_memory < 0)
      return pb__tiling_fail(t, "nothing brings the first operand to where its instruction reads it");
    const pb_access* w = &s->main.access[g->roles.w];
    if (!lies_on_chip(&s->main, g->roles.w) && pb_transfer_via(t->chip, held_memory(g), w->type) < 0)
      return pb__tiling_fail(t, "nothing brings the weights to where their instruction reads them");
    return true;
  }
  pb_tile inner = *tile;
  pb_nest point;
  pb_match match;
  for (int level = t->base; level < pb__tiling_levels(t); ++level) pb__tile_step(t, &inner, level, false);
  pb__tiling_expand(t, &g->main, &inner, &point);
  point.part = "reduce";
  pb_nest open;
  pb__tiling_undecided(&point, &open);
  if (!pb__tiling_select(t, &open, &match)) return false;
  s->x_memory = s->x_held = pb__tiling_memory(&match, g->x);
  s->sums_memory = match.insn->operands[match.insn->dest].memory;
  for (int a = 0; a + 1 < s->main.access_count && !t->failure; ++a) // tables
    if (a != g->x && !lies_on_chip(&s->main, a)) pb__tiling_params(t, &s->main, a, pb__tiling_memory(&match, a), 0);
  return !t->failure;
}

bool pb__tiling_stage(pb_tiling* t) {
  stage s = {.each = NULL};
  pb_tile tile;
  pb_nest_copy(&s.main, &t->group->main);
  pb__tile_whole(&s.main, &tile);
  return find_memories(t, &s, &tile) && build_level(t, &tile, t->base, &s);
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
  return pb__tiling_point(t, &rest, -1, 0, true, valid);
}

// A memory through which data can pass from the system's memory and back.
static int passage(const pb_tiling* t, pb_type type) {
  for (int m = 0; m < t->chip->memory_count; ++m)
    if (m != t->chip->system_memory && pb_transfer_via(t->chip, m, type) == m && pb_transfer_leaves(t->chip, m, type))
      return m;
  return -1;
}

// A copy (or a fill) between tensors passes through a buffer laid out as the tile's dims.
static bool build_copy(pb_tiling* t, const pb_tile* tile, int level) {
  pb_nest load, store;
  pb__tiling_expand(t, &t->group->main, tile, &load);
  pb_access local = {.type = pb_nest_store(&load)->type, .rank = load.dim_count};
  for (int d = 0; d < load.dim_count; ++d) {
    local.shape[d] = load.extent[d];
    local.index[d].coef[d] = 1;
  }
  int memory = passage(t, local.type);
  if (memory < 0) return pb__tiling_fail(t, "no memory on the chip lets data of this type through");
  pb__tiling_own(t, &local, level, memory, t->plan->result_depth, "passage");
  store = (pb_nest){.name = load.name, .part = "store", .dim_count = load.dim_count, .access_count = 2};
  memcpy(store.extent, load.extent, sizeof store.extent);
  store.access[0] = local;
  store.access[1] = *pb_nest_store(&load);
  pb_nest_load(&store, 0);
  *pb_nest_store(&load) = local;
  load.part = "load";
  pb__tiling_add(t, level, &load);
  pb__tiling_add(t, level, &store);
  return !t->failure;
}

// Everything inside `level` loops of a kernel that reduces nothing; `main`: its first nest.
static bool build_point_level(pb_tiling* t, const pb_tile* tile, int level, const void* main) {
  const pb_group* g = t->group;
  pb_nest point;
  if (level < pb__tiling_levels(t)) return pb__tiling_band(t, tile, level, build_point_level, main);
  if (g->main.expr_count == 1) return build_copy(t, tile, level);
  pb__tiling_expand(t, main, tile, &point);
  return pb__tiling_point(t, &point, -1, level, g->around.epilogue_count == 0, 0) &&
         add_epilogues(t, tile, *pb_nest_store(&point));
}

static bool build_pointwise(pb_tiling* t) {
  const pb_group* g = t->group;
  bool lanes = g->main.expr_count > 1 && g->main.dim_count == 1;
  int64_t rest = lanes ? g->main.extent[0] % g->lanes : 0;
  pb_nest whole = g->main;
  pb_tile tile;
  whole.extent[0] -= rest;
  pb__tile_whole(&whole, &tile);
  if (!rest) return build_point_level(t, &tile, t->base, &whole);
  if (t->base || t->into) return pb__tiling_fail(t, "a stage whose rows end inside a row of lanes");
  if (g->around.epilogue_count)
    return pb__tiling_fail(t, "a nest whose rows end inside a row of lanes, and others take it");
  bool any = whole.extent[0] > 0;
  if (any && !(pb__tiling_open_bands(t, &whole) && build_point_level(t, &tile, t->base, &whole))) return false;
  return build_rest(t, &g->main, whole.extent[0]);
}

// A loop of the reduction around the result's buffer would begin the sum anew each iteration. Loops over results may
// lie on either side of it: inside, the buffer has the results of all their iterations.
static bool sums_end_inside(pb_tiling* t) {
  const pb_nest* main = &t->group->main;
  const pb_access* y = &main->access[main->access_count - 1];
  for (int b = 0; t->base + b < t->plan->result_level && b < t->plan->band_count && t->group->reduces; ++b) {
    int dim = t->plan->bands[b].dim;
    if (!pb_access_uses(y, dim))
      return pb__tiling_fail(t,
                             pb_printf(t->arena, "band %d walks dim %d of the reduction outside result_level", b, dim));
  }
  return true;
}

// Each core takes one iteration of every shared band, and makes other results than the rest in it.
static bool shares_are_legal(pb_tiling* t) {
  const pb_plan* plan = t->plan;
  const pb_nest* main = &t->group->main;
  int shared = pb_plan_shared_bands(plan);
  int64_t parts[2] = {plan->row_parts > 1 ? plan->row_parts : plan->column_parts, plan->column_parts};
  if (!plan->row_parts && !plan->column_parts) return true;
  if (plan->row_parts < 1 || plan->column_parts < 1 || plan->row_parts > t->chip->cores / plan->column_parts)
    return pb__tiling_fail(t, pb_printf(t->arena, "parts: more than there are cores, %d", t->chip->cores));
  if (t->base || shared > plan->band_count || plan->x_level < shared || plan->w_level < shared ||
      plan->result_level < shared)
    return pb__tiling_fail(t, "parts: the shared bands are not the outermost ones, outside all buffers");
  for (int b = 0; b < shared; ++b) {
    const pb_band* band = &plan->bands[b];
    if (band->dim < 0 || band->dim >= main->dim_count || band->step < 1) continue; // said below
    if ((main->extent[band->dim] + band->step - 1) / band->step != parts[b] || (b && plan->bands[0].dim == band->dim))
      return pb__tiling_fail(t, "parts: a shared band has not as many iterations as parts");
    if (!pb_access_uses(&main->access[main->access_count - 1], band->dim))
      return pb__tiling_fail(t, "parts: cores would make the same results");
  }
  return true;
}

bool pb__tiling_open(pb_tiling* t) {
  const pb_group* group = t->group;
  const pb_plan* plan = t->plan;
  int levels = pb__tiling_levels(t);
  if (plan->band_count > PB_MAX_BANDS || plan->result_level > levels || plan->w_level > levels ||
      plan->x_level > levels)
    return pb__tiling_fail(t, "a level is past the bands");
  if (!shares_are_legal(t)) return false;
  if (plan->x_stays && (plan->x_stays > 1 || plan->x_level < t->base || plan->x_level >= levels || group->producer ||
                        group->prologue_count || !group->reduces))
    return pb__tiling_fail(t, "x_stays is not 0 or 1, or x is no tensor that a band walks");
  if (plan->result_level < t->base)
    return pb__tiling_fail(t, "a producer's result_level is outside the tile that it is made for");
  if ((group->producer != NULL) != (plan->producer != NULL))
    return pb__tiling_fail(t, group->producer ? "the plan of the producer is missing" : "there is no producer to plan");
  bool uneven = !group->reduces && group->main.expr_count > 1 && group->main.dim_count == 1 &&
                group->main.extent[0] % group->lanes;
  if (uneven && pb_plan_shared_bands(plan))
    return pb__tiling_fail(t, "parts: one core alone can do what ends in a row");
  return (uneven || pb__tiling_open_bands(t, &group->main)) && sums_end_inside(t);
}

bool pb__tiling_build_group(pb_tiling* t) {
  if (t->group->registers) return pb__tiling_registers(t);
  if (!pb__tiling_open(t)) return false;
  return t->group->reduces ? pb__tiling_stage(t) : build_pointwise(t);
}

bool pb_tiling_build(const pb_chip* chip, const pb_group* group, const pb_plan* plan, pb_arena* arena,
                     pb_tiling* tiling) {
  pb_tiling_begin(chip, group, plan, arena, tiling);
  return pb__tiling_build_group(tiling);
}

bool pb_tiling_prove(const pb_chip* chip, const pb_group* group, const pb_plan* plan, pb_arena* arena,
                     struct pb_proofs* proofs, pb_tiling* tiling) {
  pb_tiling_begin(chip, group, plan, arena, tiling);
  tiling->proofs = proofs;
  return pb__tiling_build_group(tiling) && !tiling->failure;
}

// From a plan to the tiled kernel of cores with registers: loops over register tiles, the nests of one tile inside.
// Sums, and what one nest of a tile makes for the next, lie in a buffer of the register file; tensors, which caches
// show, are read and written where they are, by element number.
//
//   for row { for column { acc = init; for k { acc += x * w }  y = epilogue(acc) } }
#include "core/s3/tree/tiling.h"

#include <string.h>

// The kernel over the dims of the tree: the main nest's, but lanes that come in runs are two dims again.
typedef struct stage {
  const pb_vkernel* k;
  pb_nest init, epilogues[PB_MAX_EPILOGUES + 1]; // the last one takes what is left in registers to its tensor
  int epilogue_count;
  pb_nest partial; // takes the sums so far from where the result will be
  bool blocks;     // the outermost band cuts the sum in parts
  int first;       // buffer of the register file that tiles of this kernel may use
} stage;

static int dims_of(const pb_vkernel* k) { return k->main.nest->dim_count + (k->run_dim >= 0); }

static int dim_of(const pb_vkernel* k, int d) { return pb_vkernel_tree_dim(k, d); }

// And back.
static int kernel_dim(const pb_vkernel* k, int d) { return d - (k->run_dim >= 0 && d > k->run_dim); }

static int64_t run_of(const pb_vkernel* k) {
  for (int a = 0; a < pb_vkernel_store(&k->main); ++a)
    if (k->main.access[a].run) return k->main.access[a].run;
  return 1;
}

static void set_extents(const pb_vkernel* k, pb_nest* nest) {
  nest->dim_count = dims_of(k);
  for (int d = 0; d < k->main.nest->dim_count; ++d) nest->extent[dim_of(k, d)] = k->main.nest->extent[d];
  if (k->run_dim < 0) return;
  nest->extent[k->run_dim] = k->lanes / run_of(k);
  nest->extent[k->run_dim + 1] = run_of(k);
}

// An access by element number.
static void set_access(const pb_tiling* t, const pb_vkernel* k, const pb_vaccess* from, pb_access* to) {
  pb_index* index = &to->index[0];
  MlirValue memref = {NULL};
  int64_t elements = 1;
  int buffer = -1;
  for (int v = 0; v < k->program->value_count; ++v) {
    const pb_value* value = &k->program->values[v];
    if (value->argument != from->argument) continue;
    pb_access shape = pb_value_shape(value);
    elements = pb_access_elements(&shape);
    memref = value->ir;
  }
  if (t->buffer_of_argument && from->argument >= 0) buffer = t->buffer_of_argument[from->argument];
  if (buffer >= 0) {
    memref.ptr = NULL;
    elements = t->buffers[buffer].shape[0];
  }
  *to = (pb_access){.memref = memref,
                    .buffer = buffer,
                    .type = from->type,
                    .rank = 1,
                    .shape = {elements},
                    .gathered = from->is_table};
  index->cst = from->cst;
  for (int d = 0; d < k->main.nest->dim_count; ++d) index->coef[dim_of(k, d)] = from->stride[d];
  if (k->run_dim >= 0) index->coef[k->run_dim] = from->run ? from->run_stride : from->stride[k->run_dim] * run_of(k);
  memcpy(&index->coef[PB_NEST_DIMS], from->outer, sizeof from->outer);
}

// The nest over the tree's dims; what stands in registers becomes `taken` and `made`, if they are not NULL.
static void set_nest(const pb_tiling* t, const pb_vkernel* k, const pb_vnest* from, const char* part,
                     const pb_access* taken, const pb_access* made, pb_nest* to) {
  pb_nest_copy(to, from->nest);
  set_extents(k, to);
  to->part = part;
  to->macs = 0;
  int store = pb_vkernel_store(from);
  for (int a = 0; a <= store; ++a) {
    bool inside = a < store ? from->access[a].argument == PB_VEC_REGISTERS : made != NULL;
    pb_type type = from->access[a].type;
    if (!inside) {
      set_access(t, k, &from->access[a], &to->access[a]);
      continue;
    }
    to->access[a] = a < store ? *taken : *made;
    to->access[a].type = type;
  }
}

// A copy between the register file and a tensor.
static void set_copy(const pb_tiling* t, const pb_vkernel* k, const pb_vaccess* tensor, const pb_access* registers,
                     bool store, pb_nest* copy) {
  pb_nest_begin(copy, k->main.nest->name, store ? "store" : "load", 2);
  set_extents(k, copy);
  set_access(t, k, tensor, &copy->access[store]);
  copy->access[!store] = *registers;
  copy->access[!store].type = tensor->type;
  pb_nest_load(copy, 0);
}

// Not the sum's dims: they are no loops of what stands around it.
static void only_results(const pb_vkernel* k, pb_tile* tile) {
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    if (k->is_sum[d]) tile->extent[dim_of(k, d)] = 1;
}

// A buffer from `first` on that holds as much: smaller tiles lie where larger ones do. -1: there is none.
static int find_buffer(const pb_tiling* t, int first, int memory, const pb_access* made) {
  for (int b = first; b < t->buffer_count; ++b) {
    const pb_buffer* old = &t->buffers[b];
    if (old->memory == memory && old->type == made->type && old->shape[0] >= made->shape[0]) return b;
  }
  return -1;
}

// A buffer for one value of each point of a tile, lanes innermost, behind those before *first, which goes past it.
static bool own_between(pb_tiling* t, const pb_vkernel* k, const pb_tile* tile, pb_type type, int* first,
                        pb_access* made) {
  *made = (pb_access){.type = type, .rank = 1, .shape = {1}};
  for (int lanes = 1; lanes >= 0; --lanes)
    for (int d = k->main.nest->dim_count - 1; d >= 0; --d) {
      if (k->is_sum[d] || (d == k->lane_dim) != lanes) continue;
      for (int outer = 0; outer <= (d == k->run_dim); ++outer) {
        made->index[0].coef[dim_of(k, d) - outer] = made->shape[0];
        made->shape[0] *= tile->extent[dim_of(k, d) - outer];
      }
    }
  made->buffer = find_buffer(t, *first, k->memory, made);
  if (made->buffer < 0) pb__tiling_own(t, made, 0, k->memory, 1, "acc");
  if (t->failure) return false;
  memcpy(made->shape, t->buffers[made->buffer].shape, sizeof made->shape);
  *first = made->buffer + 1;
  return true;
}

static void add_on_tile(pb_tiling* t, const pb_nest* nest, const pb_tile* tile, int level, pb_tree* into) {
  pb_nest point;
  pb__tiling_expand(t, nest, tile, &point);
  for (int a = 0; a < point.access_count; ++a) // where a tile's registers begin does not depend on where it lies
    if (pb__tiling_in_registers(t, &nest->access[a])) point.access[a].index[0] = nest->access[a].index[0];
  if (into)
    pb__tiling_put(t, into, level, &point);
  else
    pb__tiling_add(t, level, &point);
}

// What sums start from; behind the first part of them, the sums so far.
static void begin_sums(pb_tiling* t, const stage* s, const pb_tile* results, int level) {
  if (!s->blocks) {
    add_on_tile(t, &s->init, results, level, NULL);
    return;
  }
  pb_tree *first = pb__tiling_open_iteration(t, level, t->base, 0), *others = PB_NEW(t->arena, pb_tree);
  first->others = others;
  add_on_tile(t, &s->init, results, level, first);
  add_on_tile(t, &s->partial, results, level, others);
}

static void end_sums(pb_tiling* t, const stage* s, const pb_tile* results, int level) {
  pb_tree *last = NULL, *others;
  if (s->blocks && s->k->epilogue_count) {
    last = pb__tiling_open_iteration(t, level, t->base, t->body[t->base + 1]->extent - 1);
    last->others = others = PB_NEW(t->arena, pb_tree);
    pb_nest sums;
    pb_nest_copy(&sums, &s->partial);
    pb__tiling_turn_to_store(&sums);
    add_on_tile(t, &sums, results, level, others);
  }
  for (int n = 0; n < s->epilogue_count; ++n) add_on_tile(t, &s->epilogues[n], results, level, last);
}

// The nests of a tile as they use its registers.
static bool read_stage(pb_tiling* t, const pb_tile* tile, const stage* around, pb_nest* main, stage* s) {
  const pb_vkernel* k = around->k;
  const pb_vaccess* result = pb_vkernel_result(k);
  bool sums = k->main.nest->reduce != PB_SET, stays = sums || k->epilogue_count;
  pb_access at = {.buffer = -1};
  s->k = k;
  s->blocks = around->blocks;
  s->epilogue_count = k->epilogue_count;
  int first = around->first;
  if (stays && !own_between(t, k, tile, k->main.access[pb_vkernel_store(&k->main)].type, &first, &at)) return false;
  set_nest(t, k, &k->main, sums ? "reduce" : "point", NULL, stays ? &at : NULL, main);
  if (sums) set_nest(t, k, &k->init, "init", NULL, &at, &s->init);
  if (s->blocks) set_copy(t, k, result, &at, false, &s->partial);
  for (int n = 0; n < k->epilogue_count; ++n) {
    pb_access made = {.buffer = -1};
    bool last = n + 1 == k->epilogue_count;
    pb_type type = k->epilogues[n].access[pb_vkernel_store(&k->epilogues[n])].type;
    if (!last && !own_between(t, k, tile, type, &first, &made)) return false;
    set_nest(t, k, &k->epilogues[n], "point", &at, last ? NULL : &made, &s->epilogues[n]);
    at = made;
  }
  if (sums && !k->epilogue_count) set_copy(t, k, result, &at, true, &s->epilogues[s->epilogue_count++]);
  return true;
}

static bool is_column(const pb_tiling* t, const pb_vkernel* k, int band) {
  return pb_vkernel_is_column(k, kernel_dim(k, t->plan->bands[band].dim));
}

// Rows share their parts, and so do columns.
static void share(pb_tiling* t, const stage* s, int level) {
  int band = level - 1 - t->base, first = s->blocks;
  if (band < first || band >= t->plan->result_level) return;
  bool column = is_column(t, s->k, band);
  if (band > first && is_column(t, s->k, band - 1) == column) return;
  t->body[level]->parts = column ? t->plan->column_parts : t->plan->row_parts;
  t->body[level]->parts_step = column ? 1 : t->plan->column_parts;
}

// Everything inside `level` loops.
static bool build_level(pb_tiling* t, const pb_tile* tile, int level, const void* around) {
  const stage* s = around;
  share(t, s, level);
  if (level < t->base + t->plan->result_level) return pb__tiling_band(t, tile, level, build_level, s);
  pb_nest main;
  stage* own = PB_NEW(t->arena, stage);
  pb_tile inner = *tile, results = *tile;
  if (!read_stage(t, tile, s, &main, own)) return false;
  only_results(s->k, &results);
  if (main.reduce != PB_SET) begin_sums(t, own, &results, level);
  for (int sum = level; sum < pb__tiling_levels(t); ++sum) {
    pb_iterations runs[PB_MAX_RUNS];
    if (pb__tile_runs(t, &inner, sum, runs) != 1) return pb__tiling_fail(t, "a sum is not taken in equal steps");
    pb__tile_enter(t, &inner, sum, &runs[0]);
    t->body[sum + 1] = PB_NEW(t->arena, pb_tree);
    *t->body[sum + 1] = (pb_tree){.kind = PB_TREE_LOOP, .extent = runs[0].count};
  }
  add_on_tile(t, &main, &inner, pb__tiling_levels(t), NULL);
  for (int sum = pb__tiling_levels(t); sum > level; --sum) pb__tiling_hang(t, sum - 1);
  end_sums(t, own, &results, level);
  return !t->failure;
}

// Balanced tiles, whole registers each; the last one ends where the dim does. If it is one register alone, or of
// matrices, whose rows are as many in every tile of a kernel, it begins earlier and makes some elements once more.
int pb__tile_register_runs(const pb_tiling* t, const pb_tile* tile, const pb_band* band, pb_iterations* runs) {
  const pb_vkernel* k = t->group->registers;
  int d = kernel_dim(k, band->dim), count = 0;
  int64_t unit = k->is_sum[d] ? 1 : pb_vkernel_unit(k, d), extent = tile->extent[band->dim];
  int64_t steps = (extent + unit - 1) / unit, rest = extent % unit;
  pb_vtiles tiles = pb_vkernel_balanced(steps, band->step / unit);
  int64_t size = tiles.size, big = tiles.big, small = tiles.count - big;
  int64_t whole[2] = {big - (rest && !small), small - (rest && small)};
  for (int less = 0; less < 2; ++less) {
    int64_t step = (size - less) * unit;
    if (whole[less] > 0) runs[count++] = (pb_iterations){whole[less], step, less ? big * size * unit : 0, step};
  }
  int64_t last = (small ? size - 1 : size) * unit;
  if (!rest) return count;
  if (last == unit || d == k->row_dim)
    runs[count++] = (pb_iterations){1, last, extent - last, 0};
  else
    runs[count++] = (pb_iterations){1, last - unit + rest, steps * unit - last, 0};
  return count;
}

static bool cuts_sum(const pb_vkernel* k, const pb_plan* plan) {
  return plan->result_level > 0 && k->is_sum[plan->bands[0].dim];
}

bool pb__tiling_registers(pb_tiling* t) {
  const pb_group* given = t->group;
  const pb_plan* chosen = t->plan;
  const pb_vkernel* k = given->registers;
  pb_group* group = PB_NEW(t->arena, pb_group);
  pb_plan* plan = PB_NEW(t->arena, pb_plan);
  stage* s = PB_NEW(t->arena, stage);
  pb_tile tile;
  *group = *given;
  *plan = *chosen;
  for (int b = 0; b < plan->band_count; ++b) plan->bands[b].dim = dim_of(k, plan->bands[b].dim);
  set_nest(t, k, &k->main, "reduce", NULL, NULL, &group->main);
  t->group = group;
  t->plan = plan;
  s->k = k;
  s->blocks = cuts_sum(k, chosen);
  s->first = t->buffer_count;
  for (int f = 0; f < given->around.fill_count; ++f) {
    pb_nest fill;
    pb_nest_copy(&fill, given->around.fills[f]);
    fill.part = "fill";
    pb__tiling_add(t, t->base, &fill);
  }
  pb__tile_whole(&group->main, &tile);
  bool built = pb__tiling_open_bands(t, &group->main) && build_level(t, &tile, t->base, s);
  t->group = given;
  t->plan = chosen;
  return built && !t->failure;
}

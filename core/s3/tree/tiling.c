// The parts of a tiling: axes, slices, buffers. Every access of the main nest is written over two kinds of columns:
// the axes (loops over tiles, outer columns) and the dims inside the tile. The slice of a tensor that a buffer holds
// is a box read off the columns: what moves with axes around the buffer is its origin, what moves inside is its
// extent. Tiles are rectangles, so the box is exact up to the holes of strides: the tree of a chosen plan is built once
// more with isl proving every box (core/poly/slice.c).
#include "core/s3/tree/tiling_stage.h"

#include "core/poly/slice.h"
#include "core/s3/compose.h"
#include "core/s3/kernel/flat.h"

#include <string.h>

bool pb__tiling_fail(pb_tiling* t, const char* why) {
  if (!t->failure) t->failure = why;
  return false;
}

void pb_tree_put(pb_tree* parent, pb_tree* node) {
  if (parent->last)
    parent->last->next = node;
  else
    parent->first = node;
  parent->last = node;
}

static pb_tree* tree_add(pb_tiling* t, int level, pb_tree* node) {
  node->level = level;
  pb_tree_put(t->body[level], node);
  return node;
}

void pb__tiling_to_front(pb_tiling* t, int level, pb_tree* before) {
  pb_tree *whole = t->body[level], *moved = before ? before->next : NULL;
  if (!moved) return;
  whole->last->next = whole->first;
  whole->first = moved;
  whole->last = before;
  before->next = NULL;
}

void pb_tiling_begin(const pb_chip* chip, const pb_group* group, const pb_plan* plan, pb_arena* arena,
                     pb_tiling* tiling) {
  memset(tiling, 0, offsetof(pb_tiling, buffers));
  tiling->chip = chip, tiling->group = group, tiling->plan = plan, tiling->arena = arena;
  tiling->root = (pb_tree){.kind = PB_TREE_LOOP, .extent = 1};
  tiling->body[0] = &tiling->root;
}

pb_tree* pb__tiling_open_loop(pb_tiling* t, int level, int64_t iterations, int64_t before, int64_t all) {
  pb_tree* loop = t->body[level + 1] = PB_NEW(t->arena, pb_tree);
  *loop = (pb_tree){.kind = PB_TREE_LOOP, .extent = iterations, .iterations_before = before, .iterations = all};
  return loop;
}

void pb__tiling_hang(pb_tiling* t, int level, pb_tree* loop) { tree_add(t, level, t->body[level + 1] = loop); }

// Tells a nest how often the axes around it turn.
static void set_outers(const pb_tiling* t, pb_nest* nest) {
  for (int b = 0; t->body[0] && b < pb__tiling_levels(t); ++b)
    nest->outer_extent[b] = t->body[b + 1] ? t->body[b + 1]->extent : 0;
}

void pb__tiling_put(pb_tiling* t, pb_tree* parent, int level, const pb_nest* nest) {
  pb_tree* node = PB_NEW(t->arena, pb_tree);
  *node = (pb_tree){.kind = PB_TREE_NEST, .level = level, .nest = pb_nest_kept(t->arena, nest)};
  node->nest->outer_count = level;
  set_outers(t, node->nest);
  pb_tree_put(parent, node);
}

void pb__tiling_add(pb_tiling* t, int level, const pb_nest* nest) { pb__tiling_put(t, t->body[level], level, nest); }

pb_tree* pb__tiling_open_iteration(pb_tiling* t, int level, int loop, int64_t iteration) {
  pb_tree* node = PB_NEW(t->arena, pb_tree);
  *node = (pb_tree){.kind = PB_TREE_ITERATION, .loop = loop, .iteration = iteration};
  return tree_add(t, level, node);
}

bool pb__tiling_leaves(const pb_tiling* t, const pb_nest* nest, const pb_access* access) {
  pb_nest known;
  pb_nest_copy(&known, nest);
  set_outers(t, &known);
  return pb_access_can_leave(&known, access);
}

bool pb__tiling_open_axes(pb_tiling* t, const pb_nest* main) {
  if (pb__tiling_levels(t) > PB_NEST_OUTERS) return pb__tiling_fail(t, "more loops over tiles than a nest can use");
  int64_t left[PB_NEST_DIMS];
  memcpy(left, main->extent, sizeof left);
  for (int b = 0; b < t->plan->axis_count; ++b) {
    const pb_axis* axis = &t->plan->axes[b];
    if (axis->dim < 0 || axis->dim >= main->dim_count)
      return pb__tiling_fail(t, "a loop walks a dim that is not there");
    if (axis->step < 1 || axis->step > left[axis->dim])
      return pb__tiling_fail(t, "a loop's step is not between 1 and what is left of its dim");
    pb__tiling_open_loop(t, t->base + b, left[axis->dim] / axis->step, 0, 0);
    left[axis->dim] = axis->step;
  }
  return true;
}

void pb__tile_whole(const pb_nest* main, pb_tile* tile) {
  *tile = (pb_tile){.adds = false};
  memcpy(tile->extent, main->extent, sizeof tile->extent);
}

// The runs of iterations of the axis at `level`, in order: full ones and what they leave, or, of register tiles, two
// sizes that differ by one, the last tile as short as the dim ends. Returns how many runs there are.
static int runs_of(const pb_tiling* t, const pb_tile* tile, int level, pb_iterations* runs) {
  const pb_axis* axis = &t->plan->axes[level - t->base];
  if (pb__in_registers(t)) return pb__register_runs(t, tile, axis, runs);
  int64_t iterations = tile->extent[axis->dim] / axis->step, left = tile->extent[axis->dim] - iterations * axis->step;
  bool apart = level + 1 == t->last_apart;
  const pb_plan_home* x = pb_plan_outer(t->plan, PB_OF_X);
  int64_t kept = apart ? iterations - 1 : level + 1 == x->around ? x->kept : 0;
  int count = 0;
  if (kept) runs[count++] = (pb_iterations){.count = kept, .extent = axis->step, .step = axis->step};
  if (iterations > kept)
    runs[count++] = (pb_iterations){iterations - kept, axis->step, kept * axis->step, apart ? 0 : axis->step};
  if (left) runs[count++] = (pb_iterations){.count = 1, .extent = left, .begin = iterations * axis->step};
  return count;
}

// The tile inside one of them.
static void enter(const pb_tiling* t, pb_tile* tile, int level, const pb_iterations* run) {
  const pb_axis* axis = &t->plan->axes[level - t->base];
  tile->extent[axis->dim] = run->extent;
  tile->origin[axis->dim].coef[PB_NEST_DIMS + level] = run->step;
  tile->origin[axis->dim].cst += run->begin;
  tile->adds |= run->begin > 0 && pb_nest_reduces_over(&t->group->main, axis->dim);
}

void pb__tile_step(const pb_tiling* t, pb_tile* tile, int level) {
  pb_iterations runs[PB_MAX_RUNS];
  int count = runs_of(t, tile, level, runs), full = 0;
  while (full < count && !runs[full].step) ++full;
  if (full < count) enter(t, tile, level, &runs[full]);
}

// With what else an axis is shared out, as the parts are numbered; -1: nobody shares it. Threads share the tiles of
// cores, but for an axis that cuts the sum: rows, then columns, whichever loops are outside. Cores with queues take an
// iteration each of the outermost axes, as they stand.
static int share_of(const pb_tiling* t, int axis) {
  if (!pb__in_registers(t)) return axis < pb_plan_shared_axes(t->plan) ? axis : -1;
  bool shared = axis >= pb__tiling_cuts_sum(t) && t->base + axis < pb_plan_around(t->plan, PB_OF_RESULT);
  return shared ? t->group->column[t->plan->axes[axis].dim] : -1;
}

void pb__tiling_count_shared(pb_tiling* t) {
  t->row_tiles = t->column_tiles = 1;
  for (int b = 0; b < t->plan->axis_count; ++b) {
    const pb_axis* axis = &t->plan->axes[b];
    int64_t whole = pb_plan_left(t->plan, b, axis->dim, t->group->main.extent[axis->dim]);
    if (share_of(t, b) >= 0)
      *(share_of(t, b) ? &t->column_tiles : &t->row_tiles) *= (whole + axis->step - 1) / axis->step;
  }
}

bool pb__tiling_begins_share(const pb_tiling* t, int axis) {
  return share_of(t, axis) >= 0 && (!axis || share_of(t, axis - 1) != share_of(t, axis));
}

// Neighbours have tiles of the same rows; where they have a cache together, of the same columns, whose operand is the
// larger one: it comes in whole registers, and x element by element.
static void share_out(const pb_tiling* t, int level, pb_tree* loop) {
  bool by_columns = pb_chip_neighbours(t->chip);
  int axis = level - t->base;
  if (!pb__tiling_begins_share(t, axis)) return;
  loop->parts = pb_axis_parts(&t->plan->axes[axis]);
  loop->parts_step = 1;
  for (int b = 0; b < t->plan->axis_count; ++b)
    if (pb__tiling_begins_share(t, b) &&
        (by_columns ? share_of(t, b) < share_of(t, axis) : share_of(t, b) > share_of(t, axis)))
      loop->parts_step *= pb_axis_parts(&t->plan->axes[b]);
}

bool pb__tiling_axis(pb_tiling* t, const pb_tile* tile, int level, pb_tile_builder inside, const void* stage) {
  pb_twins around = t->twins;
  pb_iterations runs[PB_MAX_RUNS];
  int first = t->buffer_count, end = first, count = runs_of(t, tile, level, runs);
  int64_t before = 0, all = 0;
  for (int r = 0; r < count; ++r) all += runs[r].count;
  for (int r = 0; r < count; ++r) {
    pb_tile own = *tile;
    enter(t, &own, level, &runs[r]);
    pb_tree* loop = pb__tiling_open_loop(t, level, runs[r].count, before, count > 1 ? all : 0);
    share_out(t, level, loop);
    if (r) t->twins = (pb_twins){first, end, level, ++t->remainders, around.serial ? &around : NULL};
    bool built = inside(t, &own, level + 1, stage);
    t->twins = around;
    if (!built) return false;
    if (!r) end = t->buffer_count;
    pb__tiling_hang(t, level, loop);
    before += runs[r].count;
  }
  return !t->failure;
}

// Whether a copy tests the dim's index against a box: then the dim stays, also where one iteration of it is left, for a
// mover has no other place for the test.
static bool is_tested(const pb_tiling* t, const pb_nest* main, int d) {
  for (int a = 0; a < main->access_count && !t->group->reduces; ++a)
    if (pb_tested_index(main, &main->access[a], d) >= 0) return true;
  return false;
}

void pb__tile_begin(const pb_tile* tile, int dims, int sign, pb_index* index) {
  for (int d = 0; d < dims; ++d) pb__index_add(index, sign * index->coef[d], &tile->origin[d]);
}

void pb__tiling_expand(const pb_tiling* t, const pb_nest* main, const pb_nest* nest, const pb_tile* tile,
                       pb_nest* point) {
  int column[PB_NEST_DIMS];
  pb_nest_copy(point, nest);
  point->dim_count = 0;
  point->outer_count = pb__tiling_levels(t);
  for (int d = 0; d < main->dim_count; ++d) {
    bool stays = tile->extent[d] > 1 || t->numbered || is_tested(t, main, d);
    column[d] = stays ? pb_nest_add_dim(point, tile->extent[d]) : -1;
  }
  for (int a = 0; a < nest->access_count; ++a) {
    pb_access* access = &point->access[a];
    for (int r = 0; r < access->rank; ++r) pb__tile_begin(tile, main->dim_count, 1, &access->index[r]);
    pb_access_renumber(access, column, main->dim_count);
  }
}

// A nest that copies a buffer's box: its dims are the indices of extent over 1.
void pb__tiling_copy_box(const pb_tiling* t, const pb_access* local, const pb_access* tensor, pb_nest* nest) {
  pb_nest_begin(nest, t->group->main.name, "load", 2);
  set_outers(t, nest);
  nest->access[0] = *tensor;
  nest->access[1] = *local;
  nest->access[0].gathered = nest->access[1].gathered = 0; // all of a table
  for (int r = 0; r < local->rank; ++r) {
    memset(&nest->access[1].index[r], 0, sizeof(pb_index));
    // an index that a box tests keeps its dim: the mover has no other place for the test
    bool tested = tensor->boxed && pb_index_can_leave(nest, &nest->access[0].index[r], tensor->shape[r]);
    if (local->shape[r] == 1 && !tested) continue;
    int d = pb_nest_add_dim(nest, local->shape[r]);
    nest->access[0].index[r].coef[d] = 1;
    nest->access[1].index[r].coef[d] = 1;
  }
  pb_nest_load(nest, 0);
}

// Whether a local of that form has room where the buffer is.
static bool can_hold(const pb_buffer* old, int memory, pb_type type, int rank, const int64_t* shape) {
  bool holds = old->memory == memory && old->type == type && old->rank == rank;
  for (int r = 0; r < rank && holds; ++r) holds = old->shape[r] >= shape[r];
  return holds;
}

// A buffer of the loop whose remainder is being built that can hold `new` at its own place; -1: none.
static int find_twin(const pb_tiling* t, const pb_twins* twins, const pb_buffer* new) {
  for (int b = twins->first; b < twins->end; ++b) {
    const pb_buffer* twin = &t->buffers[b];
    bool alike = can_hold(twin, new->memory, new->type, new->rank, new->shape) && twin->depth == new->depth;
    if (alike && twin->level > twins->level && twin->level == new->level && twin->claimed != twins->serial) return b;
  }
  return -1;
}

static void lie_at_twin(pb_tiling* t, pb_buffer* new) {
  const pb_twins* twins = &t->twins;
  int b = -1;
  for (; b < 0 && twins && twins->serial; twins = b < 0 ? twins->around : twins) b = find_twin(t, twins, new);
  if (b < 0) return;
  pb_buffer* twin = &t->buffers[b];
  twin->claimed = twins->serial;
  new->shares = twin->shares >= 0 ? twin->shares : b;
  memcpy(new->shape, twin->shape, sizeof new->shape);
}

// Whether every window on the memory can begin on its rows alone.
static bool begins_on_rows(const pb_chip* chip, int memory) {
  for (int i = 0; i < chip->insn_count; ++i)
    for (int o = 0; o < chip->insns[i].operand_count && !chip->insns[i].emit; ++o) {
      const pb_operand* w = &chip->insns[i].operands[o];
      if (w->memory == memory && pb_base_unit(&chip->insns[i], w) % chip->memories[memory].row_bytes) return false;
    }
  return true;
}

// Copies of a buffer take whole rows of its memory each: in a row of two copies the one's writer would wait for the
// other's readers. Where that takes no more room than rows that the memory gives anyway, or no window could begin
// inside a row.
static void end_rows(const pb_chip* chip, pb_buffer* buffer) {
  int64_t inner = pb_type_bits(buffer->type), row = 8 * chip->memories[buffer->memory].row_bytes;
  for (int r = 1; r < buffer->rank; ++r) inner *= buffer->shape[r];
  if (buffer->depth < 2 || buffer->rank < 1 || inner < 1 || row < 1) return;
  int64_t step = row / pb_gcd(inner, row), outer = (buffer->shape[0] + step - 1) / step * step;
  if (outer * inner - buffer->shape[0] * inner < row || begins_on_rows(chip, buffer->memory)) buffer->shape[0] = outer;
}

void pb__tiling_lie_in(const pb_tiling* t, pb_access* access, int buffer) {
  access->memref.ptr = NULL;
  access->buffer = buffer;
  memcpy(access->shape, t->buffers[buffer].shape, sizeof access->shape);
}

// The local lies in a free buffer of the register file that holds as much: smaller tiles lie where larger ones do.
// false: there is none, and the next buffer that is made is one.
static bool lie_in_registers(pb_tiling* t, int memory, pb_access* local) {
  for (int b = t->next_register; b < t->buffer_count; ++b) {
    if (!can_hold(&t->buffers[b], memory, local->type, local->rank, local->shape)) continue;
    pb__tiling_lie_in(t, local, b);
    t->next_register = b + 1;
    return true;
  }
  t->next_register = t->buffer_count + 1;
  return false;
}

pb_buffer* pb__tiling_new_buffer(pb_tiling* t, pb_access* local, int memory, int depth, const char* name) {
  if (t->buffer_count == PB_MAX_BUFFERS) {
    pb__tiling_fail(t, "more buffers than a kernel can have");
    return NULL;
  }
  local->memref.ptr = NULL;
  local->buffer = t->buffer_count++;
  pb_buffer* buffer = &t->buffers[local->buffer];
  *buffer = (pb_buffer){
      .name = name, .memory = memory, .type = local->type, .depth = depth, .rank = local->rank, .shares = -1};
  memcpy(buffer->shape, local->shape, sizeof buffer->shape);
  buffer->bytes = pb_bytes_of(local->type, pb_access_elements(local));
  return buffer;
}

void pb__tiling_own(pb_tiling* t, pb_access* local, int level, int memory, int depth, const char* name) {
  if (t->numbered) {
    if (lie_in_registers(t, memory, local)) return;
    level = 0;
  }
  pb_buffer* buffer = pb__tiling_new_buffer(t, local, memory, depth, name);
  if (!buffer) return;
  buffer->level = level;
  end_rows(t->chip, buffer);
  lie_at_twin(t, buffer);
  memcpy(local->shape, buffer->shape, sizeof local->shape);
  buffer->bytes = pb_bytes_of(local->type, pb_access_elements(local));
  pb_tree* node = PB_NEW(t->arena, pb_tree);
  *node = (pb_tree){.kind = PB_TREE_ALLOC, .buffer = local->buffer};
  tree_add(t, level, node);
}

// isl proves that the box read off is the least one.
static bool is_proved(const pb_tiling* t, const pb_access* access, const int64_t* extents, int level,
                      const pb_access* local, const pb_access* origin) {
  int64_t all[PB_NEST_COLS];
  for (int c = 0; c < PB_NEST_COLS; ++c) all[c] = 1;
  memcpy(all, extents, sizeof(int64_t) * PB_NEST_DIMS);
  for (int k = 0; k < pb__tiling_levels(t) && t->body[k + 1]; ++k) all[PB_NEST_DIMS + k] = t->body[k + 1]->extent;
  pb_slice slice = {.wider = access->splat ? access->rank : access->gathered}; // all of a table
  memcpy(slice.origin, origin->index, sizeof slice.origin);
  memcpy(slice.extent, local->shape, sizeof slice.extent);
  return pb_slice_is_least(access, all, level, &slice, t->proofs);
}

// How often a column turns inside `level` loops; 0: it is one of the loops around.
static int64_t turns_of(const pb_tiling* t, int column, const int64_t* extents, int level) {
  int loop = column - PB_NEST_DIMS;
  return loop < 0 ? extents[column] : loop < level ? 0 : t->body[loop + 1]->extent;
}

void pb__tiling_box(pb_tiling* t, const pb_access* access, const int64_t* extents, int level, pb_access* local,
                    pb_access* origin) {
  *origin = *access;
  *local =
      (pb_access){.type = access->type, .rank = access->rank, .splat = access->splat, .gathered = access->gathered};
  for (int r = 0; r < access->rank; ++r) {
    int64_t extent = 1;
    for (int c = 0; c < PB_NEST_COLS; ++c) {
      int64_t coef = access->index[r].coef[c], turns = coef ? turns_of(t, c, extents, level) : 0;
      if (!turns) continue;
      int64_t back = coef < 0 ? -coef * (turns - 1) : 0; // where it walks backwards the box begins with the last
      extent += coef < 0 ? back : coef * (turns - 1);
      local->index[r].coef[c] = coef;
      local->index[r].cst += back;
      origin->index[r].coef[c] = 0;
      origin->index[r].cst -= back;
    }
    if (access->splat && r == access->rank - 1) extent = access->shape[r];
    if (access->gathered == r + 1) extent = access->shape[r]; // any of them
    local->shape[r] = extent;
  }
  if (t->proofs && !t->failure && !is_proved(t, access, extents, level, local, origin))
    pb__tiling_fail(t, "isl does not find the slice that a buffer was made for; this is a bug in the compiler");
}

bool pb__tiling_same_part(const pb_access* box, const pb_access* origin, const pb_access* other_box,
                          const pb_access* other_origin) {
  bool same = box->rank == other_box->rank;
  for (int r = 0; r < box->rank && same; ++r)
    same = box->shape[r] == other_box->shape[r] &&
           !memcmp(&origin->index[r], &other_origin->index[r], sizeof origin->index[r]);
  return same;
}

void pb__tiling_in_buffer(pb_access* access, int buffer, const int64_t* shape, const pb_access* origin) {
  access->memref.ptr = NULL;
  access->buffer = buffer;
  memcpy(access->shape, shape, sizeof access->shape);
  for (int r = 0; r < access->rank; ++r) pb__index_add(&access->index[r], -1, &origin->index[r]);
}

void pb__tiling_in_pieces(pb_nest* load, int dim, int64_t some) {
  memmove(load->extent + 1, load->extent, sizeof *load->extent * (size_t)load->dim_count++);
  load->extent[0] = load->extent[dim + 1] / some;
  load->extent[dim + 1] = some;
  for (int a = 0; a < 2; ++a)
    for (int r = 0; r < load->access[a].rank; ++r) {
      int64_t* coef = load->access[a].index[r].coef;
      memmove(coef + 1, coef, sizeof *coef * (size_t)(load->dim_count - 1));
      coef[0] = coef[dim + 1] * some;
    }
  load->kept = 1;
}

void pb__tiling_in_runs(const pb_chip* chip, pb_nest* load, int dim, int64_t pieces) {
  int64_t least = chip->memories[chip->system_memory].bytes_per_cycle * PB_RUN_BEATS, extent = load->extent[dim];
  int64_t run = pb_type_bits(load->access[1].type) / 8, some = 1;
  for (int d = dim + 1; d < load->dim_count; ++d) run *= load->extent[d];
  while (some < extent && (extent % some || some * pieces < extent || some * run < least)) ++some;
  if (load->dim_count < PB_NEST_DIMS && some < extent) pb__tiling_in_pieces(load, dim, some);
}

// Whether what `access` touches inside `level` is all of its box along index r: each dim begins where others end.
static bool is_dense_along(const pb_tiling* t, const pb_index* index, const int64_t* extents, int level) {
  bool taken[PB_NEST_COLS] = {false}, dense = false;
  int64_t span = 1;
  for (bool grows = true; grows && !dense;) {
    grows = false;
    dense = true;
    for (int c = 0; c < PB_NEST_COLS; ++c) {
      int64_t step = index->coef[c] < 0 ? -index->coef[c] : index->coef[c];
      int64_t turns = step && !taken[c] ? turns_of(t, c, extents, level) : 0;
      if (turns < 2) continue;
      taken[c] = step <= span;
      dense &= taken[c];
      if (!taken[c]) continue;
      span += step * (turns - 1);
      grows = true;
    }
  }
  return dense;
}

bool pb__tiling_leaves_no_holes(pb_tiling* t, const pb_access* access, const int64_t* extents, int level) {
  for (int r = 0; r < access->rank; ++r)
    if (!is_dense_along(t, &access->index[r], extents, level))
      return pb__tiling_fail(t, "a tile's results have others between them, which its store would overwrite");
  return true;
}

void pb__tiling_turn(pb_nest* copy, const char* part) {
  PB_SWAP(pb_access, copy->access[0], copy->access[1]);
  copy->expr[0].type = copy->access[0].type;
  copy->part = part;
}

bool pb__tiling_cuts_sum(const pb_tiling* t) {
  return pb_plan_around(t->plan, PB_OF_RESULT) > t->base && pb_nest_reduces_over(&t->group->main, t->plan->axes[0].dim);
}

static pb_flat_home home_of(const pb_tiling* t, const pb_access* access) {
  if (access->memref.ptr) return (pb_flat_home){.tensor = true};
  if (access->buffer < 0) return (pb_flat_home){.memory = PB_ANY_MEMORY, .lies = access->type};
  const pb_buffer* buffer = &t->buffers[access->buffer];
  return (pb_flat_home){
      .memory = buffer->memory, .copies = buffer->depth, .bytes = buffer->bytes, .lies = buffer->type};
}

void pb_tiling_flat(const pb_tiling* t, const pb_nest* nest, pb_flat* flat) {
  pb_flat_home homes[PB_NEST_ACCESSES];
  for (int a = 0; a < nest->access_count; ++a) homes[a] = home_of(t, &nest->access[a]);
  pb_flat_at_homes(t->chip, nest, homes, t->arena, flat);
}

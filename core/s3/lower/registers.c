// Registers: tiled nests of cores become values. A tile is unrolled and jammed, its sums are values that loops carry,
// the contraction instruction is called, epilogues take sums before the one store. Requires tiled kernels; leaves loops
// over tiles, shared out among threads, and vector operations on flat tensors. Sums keep their order; an instruction
// may round a product and a sum at once.
//
//   before   for row { for column { init; for k { acc += x * w }  y = epilogue(acc) } }     acc in the register file
//   after    %lo, %hi = call @pb_partition(items)                    this thread's share of the work
//            for item { for tile of the item {
//              %acc = init; for k { %acc = call @VFMADD(x, w, %acc) ... }  store epilogue(%acc) } }
#include "core/s3/compose.h"
#include "core/s3/kernel/plain.h"
#include "core/s3/lower/core_moves.h"
#include "core/s3/lower/vector_emit.h"

#include <string.h>

typedef struct lowering {
  pb_lowered l;
  pb_vemit e;
  int level; // loops around
  // The kernel's arguments, its buffers as they come, and the nests of the stage that is being read.
  pb_program p;
  struct place {
    int block; // it stands in one iteration of the loop of that level, -1: in all of them
    int64_t iteration;
  } * places; // by nest
  int fill_count;
  pb_nest** fills; // of its products' operands
  int stage;       // its number since the last loop over tiles
  // Movers beside the core fill buffers, or take results. turn, odd: which copy of those that go in turn this iteration
  // has, as a number and whether it is the second; starts: of an iteration those moves alone are printed that are
  // started an iteration ahead.
  bool moved, starts;
  const char *turn, *odd;
} lowering;

// The runs of iterations of one axis: loops that stand one behind the other.
typedef struct axis {
  const pb_tree* run[PB_MAX_RUNS];
  int64_t first[PB_MAX_RUNS];
  int count;
  int64_t iterations;
  const pb_tree* next; // what stands behind them
} axis;

static bool part_is(const pb_tree* node, const char* part) {
  return node->kind == PB_TREE_NEST && !strcmp(node->nest->part, part);
}

// What fills registers with an operand of a product.
static bool fills(const pb_tree* node) { return part_is(node, "stage"); }

// A loop over terms has sums inside, what fills their operands, and nothing else.
static bool is_sum_loop(const pb_tree* node) {
  while (node && (node->kind == PB_TREE_LOOP || fills(node)))
    node = node->kind == PB_TREE_LOOP ? node->first : node->next;
  return node && part_is(node, "reduce");
}

static bool is_tile_loop(const pb_tree* node) { return node->kind == PB_TREE_LOOP && !is_sum_loop(node); }

static pb_place place_of(const lowering* s) { return (pb_place){.what = pb_func_name(s->l.func, &s->l.unit->pass)}; }

// ---- values ----

static bool in_registers(const lowering* s, const pb_tiled_buffer* buffer) {
  return s->l.unit->chip->memories[buffer->memory].kind == PB_MEM_REGISTERS;
}

// A buffer in the system's memory, or in one of the core's own, becomes the thread's; one in the register file is a
// tile's values.
static void new_buffer(lowering* s, const pb_tiled_buffer* buffer) {
  bool inside = in_registers(s, buffer);
  bool own = buffer->memory != s->l.unit->chip->system_memory; // tables lie there whole, as they do outside
  pb_value value = {.ir = buffer->ir,
                    .kind = inside ? PB_VALUE_LOCAL
                            : own  ? PB_VALUE_CONST
                                   : PB_VALUE_OUTPUT,
                    .argument = inside ? -1 : s->p.value_count,
                    .const_id = -1,
                    .type = buffer->shape.type,
                    .rank = buffer->shape.rank};
  memcpy(value.shape, buffer->shape.shape, sizeof value.shape);
  for (int b = 0; b < s->l.tiled->buffer_count && buffer->place >= 0; ++b) { // one for all that lie at one place
    bool same = s->l.tiled->buffers[b].place == buffer->place;
    int there = same ? pb_program_value(&s->p, s->l.tiled->buffers[b].ir) : -1;
    if (there >= 0) value.argument = s->p.values[there].argument;
  }
  int number = pb_program_add_value(&s->p, &s->l.unit->pass, &value);
  for (int copy = 0; copy < buffer->depth && value.argument == number; ++copy) {
    pb_text_add(&s->l.head, "  %%a%d", number);
    if (buffer->depth > 1) pb_text_add(&s->l.head, "_%d", copy);
    pb_text_add(&s->l.head, " = memref.alloca() {alignment = 64 : i64} : memref<%lldx%s>\n",
                (long long)pb_access_elements(&buffer->shape), pb_type_name(buffer->shape.type));
  }
}

// The value that lies where value v does, the first of those that do; its elements are those that the IR knows.
static const pb_value* at_place(const lowering* s, int v) {
  const pb_value* value = s->p.values;
  while (value->argument != s->p.values[v].argument) ++value;
  return value;
}

static const char* flat_type(const lowering* s, const pb_value* value) {
  return pb_printf(&s->l.unit->pass, "memref<%lldx%s>", (long long)pb_value_elements(value), pb_type_name(value->type));
}

// The buffer, and where its copies go in turn, the one that has its turn.
static void add_buffer(lowering* s, const pb_tiled_buffer* buffer, int indent) {
  if (!s->moved || pb_program_value(&s->p, buffer->ir) < 0) new_buffer(s, buffer);
  if (buffer->depth < 2) return;
  const pb_value* value = at_place(s, pb_program_value(&s->p, buffer->ir));
  pb_text_line(s->e.text, indent, "%%a%d = arith.select %s, %%a%d_1, %%a%d_0 : %s\n", value->argument, s->odd,
               value->argument, value->argument, flat_type(s, value));
}

// An argument by element number: what nests use.
static void add_flat(lowering* s, MlirOperation op) {
  int whole = pb_program_value(&s->p, mlirOperationGetOperand(op, 0));
  if (whole >= 0) s->p.values[whole].ir = mlirOperationGetResult(op, 0);
}

// ---- stages ----

// How far one iteration of a loop over terms goes along the dim that it walks, 1: it walks none alone.
static int64_t step_of(const pb_vkernel* k, int level) {
  for (int d = 0; d < k->main->dim_count; ++d) {
    bool walks = k->is_sum[d], any = false;
    for (int a = 0; a < pb_vkernel_store(k->main) && walks; ++a) {
      int64_t step = pb_vkernel_stride(&k->main->access[a], PB_NEST_DIMS + level);
      walks = step == pb_vkernel_stride(&k->main->access[a], d) * k->main->extent[d];
      any |= step != 0;
    }
    if (walks && any) return k->main->extent[d];
  }
  return 1;
}

// The tile that the stage is, and the loops of its own that it stands in.
static void set_tile(lowering* s, const pb_group* group) {
  pb_vemit* e = &s->e;
  const pb_vkernel* k = e->k = group->registers;
  e->group = group;
  e->sum_count = 0;
  memset(e->sum_at, 0xff, sizeof e->sum_at);
  e->blocks = (pb_vblocks){.level = -1};
  for (int d = 0; d < k->main->dim_count; ++d) {
    e->size[d] = pb_vkernel_steps(k, d);
    e->short_lanes[d] = (int)(k->main->extent[d] % pb_vkernel_unit(k, d));
  }
  for (int n = 0; n < s->p.nest_count; ++n) {
    const struct place* place = &s->places[n];
    const pb_nest* nest = &s->p.nests[n];
    if (place->block >= 0) {
      e->blocks.level = place->block;
      e->blocks.last = place->iteration;
      e->blocks.ends_last = nest->access_count > 1;
    }
    for (int level = s->level; level < nest->outer_count; ++level) {
      e->sum_at[level] = e->sum_count;
      e->sums[e->sum_count++] = (pb_vsum){level, nest->outer_extent[level], step_of(k, level)};
    }
  }
}

// The stage has all of its nests.
static pb_status end_stage(lowering* s, int indent) {
  pb_group group;
  if (!s->p.nest_count) return PB_OK;
  pb_program_index(&s->p, &s->l.unit->pass);
  PB_TRY(pb_group_read(&s->p, s->l.unit->chip, &s->l.unit->pass, s->l.unit->diag, &group));
  if (group.plain)
    return pb_error(s->l.unit->diag, place_of(s), 4012, NULL, "stage %d is of no form that vectors walk: %s", s->stage,
                    group.plain);
  set_tile(s, &group);
  if (!pb_vemit_tile(&s->e, indent))
    return pb_error(s->l.unit->diag, place_of(s), 4012, NULL, "stage %d has more values than a tile has registers",
                    s->stage);
  s->p.nest_count = 0;
  ++s->stage;
  return PB_OK;
}

// Whether the nest takes access a as what fills it has put it there: both over the same dims.
static bool is_filled_by(const pb_nest* nest, int a, pb_nest* fill) {
  const pb_access *taken = &nest->access[a], *put = pb_nest_store(fill);
  return pb_value_same(put->memref, taken->memref) && pb_same_indices(put, taken);
}

// Nests that hand each other registers are one stage.
static bool shares_registers(const lowering* s, const pb_nest* nest, const pb_nest* other) {
  for (int a = 0; a < nest->access_count; ++a)
    for (int b = 0; b < other->access_count; ++b)
      if (nest->access[a].buffer >= 0 && nest->access[a].buffer == other->access[b].buffer &&
          in_registers(s, &s->l.tiled->buffers[nest->access[a].buffer]))
        return true;
  return false;
}

// The nest on the tensors that its operands are filled from: as it takes them from there they are never all in
// registers at once.
static pb_status add_nest(lowering* s, const pb_nest* nest, struct place place, int indent) {
  pb_program* p = &s->p;
  if (p->nest_count && !shares_registers(s, nest, &p->nests[p->nest_count - 1])) PB_TRY(end_stage(s, indent));
  s->places[p->nest_count] = place;
  pb_nest* own = pb_program_add_nest(p, nest, (const int[PB_NEST_ACCESSES]){0});
  for (int a = 0; a < own->access_count; ++a) {
    for (int f = 0; f < s->fill_count && a + 1 < own->access_count; ++f)
      if (is_filled_by(nest, a, s->fills[f])) own->access[a] = s->fills[f]->access[0];
    int v = pb_program_value(p, own->access[a].memref);
    if (v >= 0) p->value_of[p->nest_count - 1][a] = v;
  }
  return PB_OK;
}

// A nest, a loop over terms, or what one iteration of a loop around does; others take what the tile made before.
static pb_status collect(lowering* s, const pb_tree* node, struct place place, int indent) {
  if (fills(node))
    s->fills[s->fill_count++] = node->nest;
  else if (node->kind == PB_TREE_NEST)
    PB_TRY(add_nest(s, node->nest, place, indent));
  if (node->kind == PB_TREE_ITERATION) place = (struct place){node->loop, node->iteration};
  for (const pb_tree* inner = node->first; inner; inner = inner->next) PB_TRY(collect(s, inner, place, indent));
  return PB_OK;
}

// Behind what stands between two loops over tiles.
static pb_status end_stages(lowering* s, int indent) {
  PB_TRY(end_stage(s, indent));
  s->stage = s->fill_count = 0;
  return PB_OK;
}

// ---- loops ----

static void read_axis(const pb_tree* loop, axis* b) {
  int64_t all = loop->iterations;
  *b = (axis){.iterations = 0};
  do {
    b->first[b->count] = b->iterations;
    b->run[b->count++] = loop;
    b->iterations += loop->extent;
    b->next = loop = loop->next;
  } while (b->iterations < all && b->count < PB_MAX_RUNS && loop && is_tile_loop(loop));
}

// The axes whose iterations are numbered together, from `outer` inwards: up to one that is shared by itself.
static int read_axes(const axis* outer, axis* axes) {
  int count = 1;
  axes[0] = *outer;
  for (const pb_tree* loop = outer->run[0]->first; loop && is_tile_loop(loop) && count < PB_NEST_OUTERS;
       loop = axes[count - 1].run[0]->first) {
    if (loop->parts) break;
    read_axis(loop, &axes[count]);
    if (axes[count].next) break;
    ++count;
  }
  return count;
}

static pb_status print_block(lowering* s, const pb_tree* tree, int indent);

static void close(lowering* s, int indent) { pb_text_line(s->e.text, indent, "}\n"); }

// The inside of %t<level>, an iteration of the axis, which is one of its runs': the last axes first.
static pb_status print_iteration(lowering* s, const axis* b, int inner, int indent) {
  pb_text* text = s->e.text;
  int begin = indent, level = s->level;
  for (int r = b->count - 1; r >= 0; --r) {
    if (r)
      pb_text_line(text, indent, "affine.if affine_set<(d0) : (d0 - %lld >= 0)>(%%t%d) {\n", (long long)b->first[r],
                   level);
    int deeper = indent + (r > 0);
    pb_text_line(text, deeper, "%%o%d = affine.apply affine_map<(d0) -> (d0 - %lld)>(%%t%d)\n", level,
                 (long long)b->first[r], level);
    ++s->level;
    if (inner) {
      axis next;
      read_axis(b->run[r]->first, &next);
      PB_TRY(print_iteration(s, &next, inner - 1, deeper));
    } else
      PB_TRY(print_block(s, b->run[r], deeper));
    --s->level;
    if (!r) break;
    pb_text_line(text, indent++, "} else {\n");
  }
  while (indent > begin) close(s, --indent);
  return PB_OK;
}

// Whether loops over tiles stand beside the axis.
static bool has_others(const pb_tree* tree, const axis* b) {
  int loops = 0;
  for (const pb_tree* node = tree->first; node; node = node->next) loops += is_tile_loop(node);
  return loops > b->count;
}

// %t<level>, one of a axis's iterations (0: the axis is the outermost one), by the number, below `tiles`, that it has
// together with those of `inside` iterations inside it. The remainder changes no number: it says that none is below
// zero, as a division with the cases of a sign was most of what finding a tile took.
static void print_iteration_number(lowering* s, int level, int64_t inside, int64_t iterations, int64_t tiles,
                                   const char* name, int id, int indent) {
  int64_t beyond = tiles <= INT32_MAX ? (int64_t)INT32_MAX + 1 : INT64_MAX / 2 + 1; // powers of 2: an AND
  pb_text* text = s->e.text;
  pb_text_line(text, indent, "%%t%d = affine.apply affine_map<(d0) -> (", level);
  pb_text_add(text, inside > 1 || iterations ? "(d0 mod %lld) floordiv %lld" : "d0", (long long)beyond,
              (long long)inside);
  if (iterations) pb_text_add(text, " mod %lld", (long long)iterations);
  pb_text_add(text, ")>(%%%s%d)\n", name, id);
}

// ---- moves ----

static bool is_move(const pb_tree* node) { return node->kind == PB_TREE_NEST && pb_is_move(node->nest); }

static bool goes_out(const pb_nest* nest) { return nest->access[0].buffer >= 0; }

static const pb_tiled_buffer* moved_buffer(const lowering* s, const pb_nest* nest) {
  return &s->l.tiled->buffers[nest->access[!goes_out(nest)].buffer];
}

static bool has_moves(const pb_tree* loop) {
  for (const pb_tree* node = loop->first; node; node = node->next)
    if (is_move(node)) return true;
  return false;
}

// Whether an iteration of the loop has moves that are started in the one before.
static bool starts_ahead(const lowering* s, const pb_tree* loop) {
  for (const pb_tree* node = loop->first; node; node = node->next)
    if (is_move(node) && !goes_out(node->nest) && moved_buffer(s, node->nest)->depth > 1) return true;
  return false;
}

// That of the buffer's copy which has its turn.
static const char* flag_of(lowering* s, const pb_nest* nest, int indent) {
  const pb_tiled_buffer* buffer = moved_buffer(s, nest);
  int argument = at_place(s, pb_program_value(&s->p, buffer->ir))->argument;
  if (buffer->depth < 2) return pb_lowered_integer(&s->l, PB_INDEX, 2 * (int64_t)argument, 1);
  return pb_lowered_line(&s->l, indent, "affine.apply affine_map<(d0) -> (d0 + %d)>(%s)", 2 * argument, s->turn);
}

static void print_start(lowering* s, const pb_nest* nest, int indent) {
  const pb_tiled_buffer* buffer = moved_buffer(s, nest);
  pb_move_end ends[2];
  pb_move move;
  for (int a = 0; a < 2; ++a) {
    const pb_value* value = at_place(s, pb_program_value(&s->p, nest->access[a].memref));
    ends[a].name = pb_printf(&s->l.unit->pass, "%%%s%d", value->rank == 1 ? "a" : "f", value->argument);
    ends[a].type = flat_type(s, value);
    ends[a].access = &nest->access[a];
  }
  pb_move_of(s->l.unit->chip, nest, goes_out(nest), buffer->memory, &move);
  pb_core_move_start(&s->l, nest, &move, ends, s->level, flag_of(s, nest, indent), indent);
}

// In front of a block: its buffers; the moves that bring what it reads, but for those that have been started before,
// are started together and waited for; so are those that took what it makes anew. Of an iteration to come those are
// started that go ahead.
static void print_moves(lowering* s, const pb_tree* tree, int indent) {
  for (const pb_tree* node = tree->first; node; node = node->next)
    if (node->kind == PB_TREE_ALLOC) add_buffer(s, &s->l.tiled->buffers[node->buffer], indent);
  for (const pb_tree* node = tree->first; node; node = node->next)
    if (is_move(node) && !goes_out(node->nest) && s->starts == (moved_buffer(s, node->nest)->depth > 1))
      print_start(s, node->nest, indent);
  for (const pb_tree* node = tree->first; node && !s->starts; node = node->next)
    if (is_move(node)) pb_core_move_wait(&s->l, flag_of(s, node->nest, indent), indent);
}

// One iteration of axes, by its number %<name><id>.
static pb_status print_numbered(lowering* s, const axis* axes, int count, int64_t tiles, const char* name, int id,
                                int indent) {
  int64_t inside = 1;
  for (int k = count - 1; k >= 0; --k) {
    print_iteration_number(s, s->level + k, inside, k ? axes[k].iterations : 0, tiles, name, id, indent);
    inside *= axes[k].iterations;
  }
  return print_iteration(s, axes, count - 1, indent);
}

// Iteration %n<of>, or (ahead) the one behind it, of loops in which the copies of buffers go in turn. starts: no more
// of it than the moves that go ahead.
static pb_status print_turn(lowering* s, const axis* axes, int count, int64_t tiles, int of, bool ahead, bool starts,
                            int indent) {
  const char *turn = s->turn, *odd = s->odd;
  int id = ahead ? s->l.serial++ : of;
  if (ahead) pb_text_line(s->e.text, indent, "%%n%d = affine.apply affine_map<(d0) -> (d0 + 1)>(%%n%d)\n", id, of);
  s->turn = pb_lowered_line(&s->l, indent, "affine.apply affine_map<(d0) -> (d0 mod 2)>(%%n%d)", id);
  s->odd = pb_lowered_line(&s->l, indent, "arith.cmpi eq, %s, %s : index", s->turn,
                           pb_lowered_integer(&s->l, PB_INDEX, 1, 1));
  s->starts = starts;
  PB_TRY(print_numbered(s, axes, count, tiles, "n", id, indent));
  s->starts = false;
  s->turn = turn;
  s->odd = odd;
  return PB_OK;
}

// The axes where movers beside the core bring what an iteration reads: it is started an iteration ahead. Threads share
// runs of iterations, in which all of this goes on.
static pb_status print_moved_axes(lowering* s, const axis* axes, int count, int64_t tiles, int indent) {
  pb_text* text = s->e.text;
  const pb_tree* outer = axes[0].run[0];
  int id = s->l.serial++;
  long long parts = outer->parts > 1 ? outer->parts : 1;
  const char* bounds[2] = {"0", "1"};
  for (int end = 0; end < 2; ++end)
    if (parts > 1)
      pb_text_line(text, indent, "%%b%d_%d = affine.apply affine_map<(d0) -> ((d0 * %lld) floordiv %lld)>(%%lo#%s)\n",
                   id, end, (long long)tiles, parts, bounds[end]);
    else
      pb_text_line(text, indent, "%%b%d_%d = arith.constant %lld : index\n", id, end, end ? (long long)tiles : 0LL);
  pb_text_line(text, indent,
               "affine.for %%n%d = affine_map<(d0) -> (d0)>(%%b%d_0) to affine_map<(d0) -> (d0)>(%%b%d_1) {\n", id, id,
               id);
  bool ahead = starts_ahead(s, axes[count - 1].run[0]);
  if (ahead) {
    pb_text_line(text, indent + 1, "affine.if affine_set<(d0, d1) : (d0 - d1 == 0)>(%%n%d, %%b%d_0) {\n", id, id);
    PB_TRY(print_turn(s, axes, count, tiles, id, false, true, indent + 2));
    close(s, indent + 1);
    pb_text_line(text, indent + 1, "affine.if affine_set<(d0, d1) : (d1 - d0 - 2 >= 0)>(%%n%d, %%b%d_1) {\n", id, id);
    PB_TRY(print_turn(s, axes, count, tiles, id, true, true, indent + 2));
    close(s, indent + 1);
  }
  PB_TRY(print_turn(s, axes, count, tiles, id, false, false, indent + 1));
  close(s, indent);
  return PB_OK;
}

// Axes whose iterations have a number together: this thread's part of them, or all.
static pb_status print_axis(lowering* s, const pb_tree* tree, const axis* outer, int indent) {
  pb_text* text = s->e.text;
  axis axes[PB_NEST_OUTERS];
  int count = read_axes(outer, axes), begin = indent;
  int64_t parts = outer->run[0]->parts, tiles = 1;
  for (int k = 0; k < count; ++k) tiles *= axes[k].iterations;
  if (s->moved && (parts || has_moves(axes[count - 1].run[0]))) return print_moved_axes(s, axes, count, tiles, indent);
  int id = s->l.serial++;
  if (parts > 1)
    pb_text_line(text, indent, "%%p%d = affine.apply affine_map<(d0) -> ((d0 floordiv %lld) mod %lld)>(%%item)\n", id,
                 (long long)outer->run[0]->parts_step, (long long)parts);
  bool alone = parts > 1 && parts == tiles && !has_others(tree, outer);
  if (!alone) {
    pb_text_indent(text, indent++);
    if (parts > 1)
      pb_text_add(text,
                  "affine.for %%n%d = affine_map<(d0) -> ((d0 * %lld) floordiv %lld)>(%%p%d) to "
                  "affine_map<(d0) -> ((d0 * %lld + %lld) floordiv %lld)>(%%p%d) {\n",
                  id, (long long)tiles, (long long)parts, id, (long long)tiles, (long long)tiles, (long long)parts, id);
    else
      pb_text_add(text, "affine.for %%n%d = 0 to %lld {\n", id, (long long)tiles);
  }
  PB_TRY(print_numbered(s, axes, count, tiles, alone ? "p" : "n", id, indent));
  if (indent > begin) close(s, begin);
  return PB_OK;
}

static pb_status print_block(lowering* s, const pb_tree* tree, int indent) {
  if (s->moved) print_moves(s, tree, indent);
  for (const pb_tree* node = s->starts ? NULL : tree->first; node;) {
    if (is_tile_loop(node)) {
      axis outer;
      read_axis(node, &outer);
      PB_TRY(end_stages(s, indent));
      PB_TRY(print_axis(s, tree, &outer, indent));
      node = outer.next;
      continue;
    }
    if (is_move(node)) {
      PB_TRY(end_stages(s, indent));
      if (goes_out(node->nest)) print_start(s, node->nest, indent);
    } else if (node->kind == PB_TREE_ALLOC && !s->moved)
      add_buffer(s, &s->l.tiled->buffers[node->buffer], indent);
    else if (node->kind != PB_TREE_ALLOC && !part_is(node, "fill"))
      PB_TRY(collect(s, node, (struct place){.block = -1}, indent));
    node = node->next;
  }
  return end_stages(s, indent);
}

// ---- the kernel ----

// Borders: one thread fills them.
static pb_status print_fills(lowering* s) {
  int serial = 0;
  for (const pb_tree* node = s->l.tiled->root.first; node; node = node->next) {
    if (!part_is(node, "fill")) continue;
    pb_nest* fill = node->nest;
    if (!mlirValueIsABlockArgument(fill->access[0].memref))
      return pb_unsupported(s->l.unit->diag, (pb_place){.what = fill->name}, 4002, NULL,
                            "not in value form: it fills no tensor of the kernel");
    fill->access[0].ref =
        pb_printf(&s->l.unit->pass, "%%a%d", (int)mlirBlockArgumentGetArgNumber(fill->access[0].memref));
    if (!serial)
      pb_text_add(s->e.text, "  affine.if affine_set<()[s0, s1] : (-s0 >= 0, s1 - 1 >= 0)>()[%%lo#0, %%lo#1] {\n");
    pb_nest_print(s->e.text, fill, 2, &serial);
  }
  if (serial) close(s, 1);
  return PB_OK;
}

// Parts of the work that threads share.
static int64_t items_of(const pb_tree* tree) {
  int64_t most = 1;
  for (const pb_tree* node = tree->first; node; node = node->next) {
    if (!is_tile_loop(node)) continue;
    int64_t parts = node->parts * node->parts_step, inside = items_of(node);
    if (parts > most) most = parts;
    if (inside > most) most = inside;
  }
  return most;
}

// How many parts there are.
static void print_items(lowering* s, const char* name) {
  pb_text_add(s->e.text, "  %%%s = arith.constant %lld : index\n", name, (long long)items_of(&s->l.tiled->root));
}

// None where no element of the guards is above 0: what the kernel makes is there.
static void print_guarded_items(lowering* s) {
  pb_text* text = s->e.text;
  int guards = 0;
  pb_text_add(text, "  %%g0 = arith.constant 0 : i32\n  %%none = arith.constant 0 : index\n");
  for (int v = 0; v < s->p.value_count; ++v) {
    const pb_value* value = &s->p.values[v];
    long long elements = pb_value_elements(value);
    if (!pb_argument_has(value->ir, "pb.guard")) continue;
    pb_text_add(text,
                "  %%g%d = affine.for %%i = 0 to %lld iter_args(%%most = %%g%d) -> (i32) {\n"
                "    %%x = affine.load %%f%d[%%i] : memref<%lldxi32>\n"
                "    %%more = arith.maxsi %%most, %%x : i32\n    affine.yield %%more : i32\n  }\n",
                guards + 1, elements, guards, value->argument, elements);
    ++guards;
  }
  print_items(s, "all");
  pb_text_add(text,
              "  %%above = arith.cmpi sgt, %%g%d, %%g0 : i32\n"
              "  %%items = arith.select %%above, %%all, %%none : index\n",
              guards);
}

static size_t count_nests(const pb_tree* node) {
  size_t nests = node->kind == PB_TREE_NEST;
  for (const pb_tree* inner = node->first; inner; inner = inner->next) nests += count_nests(inner);
  return nests;
}

static bool any_moves(const pb_tree* node) {
  bool any = has_moves(node);
  for (const pb_tree* inner = node->first; inner && !any; inner = inner->next) any = any_moves(inner);
  return any;
}

static pb_status print_kernel(lowering* s) {
  pb_arena* arena = &s->l.unit->pass;
  size_t nests = count_nests(&s->l.tiled->root);
  pb_program arguments;
  pb_program_read_arguments(s->l.func, arena, &arguments);
  pb_program_begin_nests(&arguments, arena, &s->p);
  s->places = PB_NEW_ARRAY(arena, struct place, nests + 1);
  s->fills = PB_NEW_ARRAY(arena, pb_nest*, nests + 1);
  s->moved = any_moves(&s->l.tiled->root);
  bool guarded = false;
  if (s->moved) pb_core_moves_begin(s->e.text);
  for (int v = 0; v < s->p.value_count; ++v) guarded |= pb_argument_has(s->p.values[v].ir, "pb.guard");
  if (guarded) pb_program_print_flats(&s->p, s->e.text);
  if (guarded)
    print_guarded_items(s);
  else
    print_items(s, "items");
  pb_text_add(s->e.text, "  %%lo:2 = func.call @pb_partition(%%items) : (index) -> (index, index)\n");
  if (!guarded) pb_program_print_flats(&s->p, s->e.text);
  PB_TRY(print_fills(s));
  MlirBlock block = pb_op_body(s->l.func);
  PB_FOR_OPS (op, block)
    if (pb_op_is(op, "memref.collapse_shape") || pb_op_is(op, "memref.expand_shape")) add_flat(s, op);
  if (s->moved) // a thread goes through its parts in one
    pb_text_add(s->e.text, "  affine.if affine_set<(d0, d1) : (d1 - d0 - 1 >= 0)>(%%lo#0, %%lo#1) {\n");
  else
    pb_text_add(s->e.text, "  affine.for %%item = %%lo#0 to %%lo#1 {\n");
  PB_TRY(print_block(s, &s->l.tiled->root, 2));
  close(s, 1);
  if (s->moved) pb_core_moves_end(s->e.text);
  return PB_OK;
}

// Each thread's part; all of it, until it is known who else there is.
static const char partition[] = "func.func private @pb_partition(%n: index) -> (index, index) {\n"
                                "  %zero = arith.constant 0 : index\n  return %zero, %n : index, index\n}\n";

static void share_plain(pb_unit* unit, MlirOperation func) {
  if (!pb_plain_share(unit->chip, func) || !mlirOperationIsNull(pb_module_func(unit->module, "pb_partition"))) return;
  MlirModule made = mlirModuleCreateParse(unit->context, mlirStringRefCreateFromCString(partition));
  MlirOperation share = mlirBlockGetFirstOperation(mlirModuleGetBody(made));
  mlirOperationRemoveFromParent(share);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(unit->module), share);
  mlirModuleDestroy(made);
}

static pb_status lower_kernel(pb_unit* unit, MlirOperation func) {
  if (pb_op_has(func, "pb.scalar")) return share_plain(unit, func), PB_OK;
  if (!pb_op_has(func, PB_BY_NUMBER)) return PB_OK; // map's
  lowering s = {.e = {.chip = unit->chip, .arena = &unit->pass, .text = &s.l.body, .out = &s.l}};
  pb_status status = pb_lowered_begin(unit, func, &s.l);
  if (status == PB_OK) status = print_kernel(&s);
  const char* functions = s.moved ? pb_printf(&unit->pass, "%s%s", partition, pb_core_move_functions) : partition;
  return pb_lowered_end(&s.l, status, "pb.shared", functions, "registers");
}

pb_status pb_s3_registers(pb_unit* unit) {
  if (unit->chip->core_mover_count) pb_core_moves_load(unit->context); // before several threads read text
  return pb_kernels_each(unit, lower_kernel);
}

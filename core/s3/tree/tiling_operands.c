// Where a stage's operands wait for its instruction: buffers on the way in from tensors.
#include "core/s3/compose.h"
#include "core/s3/kernel/taps.h"
#include "core/s3/kernels.h"
#include "core/s3/small_codes.h"
#include "core/s3/stored_form.h"
#include "core/s3/transfer_paths.h"
#include "core/s3/tree/tiling_stage.h"

#include <string.h>

// A load of several blocks goes block by block: what needs the first does not wait for the last. `inner`: the dims of
// one block. Blocks that a box tests stay in the command, the only place for the test.
static int pieces(const pb_tiling* t, const pb_nest* load, int inner) {
  bool tested = pb_tested_index(load, &load->access[0], 0) >= 0;
  return load->dim_count > inner && load->extent[0] > 1 && !tested && !pb__in_registers(t) ? 1 : 0;
}

// Whether dim d of the load walks a dim of the main nest that is summed over.
static bool walks_sum(const pb_tiling* t, const pb_nest* main, const pb_nest* load, int d) {
  bool walks = false;
  for (int k = 0; k < main->dim_count; ++k)
    walks |= t->group->roles.role[k] == PB_ROLE_K && pb__moves_same(&load->access[1], d, &main->access[t->group->x], k);
  return walks;
}

// Rows of x whose elements are summed over lie one after the other, and products begin with the first elements of all
// rows: the load brings some columns of all rows, then the next ones.
static void bring_by_columns(const pb_tiling* t, const pb_nest* main, pb_nest* load) {
  bool columns = t->group->contraction && !pb__in_registers(t) && load->dim_count == 3;
  if (columns && walks_sum(t, main, load, 1)) pb__tiling_in_runs(t->chip, load, 1, load->extent[1]);
}

// What another stage of the kernel has made, or holds already, where instructions read it. Cores load registers from
// wherever that is, as from tensors.
static bool lies_on_chip(const pb_tiling* t, const pb_nest* main, int a) {
  return !main->access[a].memref.ptr && !pb__in_registers(t);
}

static bool is_read_there(pb_tiling* t, const pb_nest* main, int a, int memory) {
  if (t->buffers[main->access[a].buffer].memory == memory) return true;
  return pb__tiling_fail(t, "what a stage makes does not lie where the next one's instruction reads it");
}

// What the first iterations of the axis around x take stays for the whole kernel: it comes in front of all loops, in
// pieces as long as those of an iteration (but for windows, which lie over each other), so that the first begins with
// the first one.
static bool keep_x(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile) {
  const pb_plan* plan = t->plan;
  const pb_axis* axis = &plan->axes[pb_plan_around(plan, PB_OF_X) - t->base - 1];
  int x = t->group->x;
  pb_access was = s->main.access[x];
  pb_nest load;
  const pb_home_at at = {t->base, s->x_memory, 1, "kept", .buffer = s->kept};
  if (!pb__tiling_home(t, &s->main, x, tile, &at, &load, NULL) || t->failure) return !t->failure;
  load.outer_count = t->base;
  int d = -1;
  for (int k = 0; k < load.dim_count; ++k)
    if (pb__moves_same(&load.access[1], k, &was, axis->dim)) d = k;
  if (d >= 0 && load.dim_count < PB_NEST_DIMS && load.extent[d] % pb_plan_outer(plan, PB_OF_X)->kept == 0)
    pb__tiling_in_pieces(&load, d, load.extent[d] / pb_plan_outer(plan, PB_OF_X)->kept);
  pb__tiling_add(t, t->base, &load);
  return !t->failure;
}

// ---- nests that make x in front of a tile, each cut to what the tile reads ----

// The own dim that the index is, plus a number; -1: a number alone. false: it is something else.
static bool is_shifted_dim(const pb_index* index, int* dim) {
  pb_index from_zero = *index;
  from_zero.cst = 0;
  return pb_index_single(&from_zero, dim);
}

// Moves what the first `accesses` accesses touch: dim `dim` begins at `by` instead of 0.
static void shift(pb_nest* nest, int accesses, int dim, const pb_index* by) {
  for (int a = 0; a < accesses; ++a)
    for (int r = 0; r < nest->access[a].rank; ++r) {
      pb_index* index = &nest->access[a].index[r];
      pb__index_add(index, index->coef[dim], by);
    }
}

// Cuts what the nest makes along index r to the box, which begins at `begin`. Returns how much is left.
static int64_t clip(pb_nest* nest, int r, int64_t begin, int64_t extent) {
  pb_index* made = &pb_nest_store(nest)->index[r];
  int d;
  if (!is_shifted_dim(made, &d)) return -1;
  int64_t first = made->cst > begin ? made->cst : begin, end = made->cst + (d < 0 ? 1 : nest->extent[d]);
  if (end > begin + extent) end = begin + extent;
  if (d >= 0) {
    shift(nest, nest->access_count - 1, d, &(pb_index){.cst = first - made->cst});
    nest->extent[d] = end - first;
  }
  made->cst = first - begin;
  return end > first ? end - first : 0;
}

// Slices a nest that makes x so that it makes the buffer instead. `load` is the copy that it replaces: it has the
// slice's origin; `box`: the slice.
static bool bring_prologue(pb_tiling* t, const pb_nest* prologue, const pb_nest* load, const pb_access* box) {
  const pb_access* x = &load->access[0];
  pb_nest nest;
  pb_nest_copy(&nest, prologue);
  pb_nest_join_alike(&nest);
  nest.part = "load";
  for (int r = 0; r < box->rank; ++r) {
    if (box->shape[r] == x->shape[r]) continue; // whole along this index: the prologue's dims stay as they are
    int d;
    pb_index origin = x->index[r];
    memset(origin.coef, 0, PB_NEST_DIMS * sizeof *origin.coef); // the load's own dims
    if (!pb_index_moves(&origin)) {                             // a part that is the same in every iteration
      int64_t left = clip(&nest, r, origin.cst, box->shape[r]);
      if (left < 0) return pb__tiling_fail(t, "what fills its input cannot be cut along a tile");
      if (left == 0) return true;
      continue;
    }
    bool own = pb_index_single(&pb_nest_store(&nest)->index[r], &d); // the slice of x is a slice of d
    if (!own || d < 0 || nest.extent[d] != x->shape[r])
      return pb__tiling_fail(t, "what fills its input cannot be cut along a tile");
    nest.extent[d] = box->shape[r];
    shift(&nest, nest.access_count - 1, d, &x->index[r]);
  }
  for (int a = 0; t->into && a + 1 < nest.access_count; ++a)
    if (pb__tiling_leaves(t, &nest, &nest.access[a])) nest.access[a].boxed = true;
  pb_access* store = pb_nest_store(&nest);
  store->memref.ptr = NULL;
  store->buffer = load->access[1].buffer;
  memcpy(store->shape, load->access[1].shape, sizeof store->shape);
  pb__tiling_add(t, load->outer_count, &nest);
  return true;
}

// ---- x and the weights ----

// The main input's buffer, filled by moves or by the nests that make it.
static bool bring_x(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile) {
  const pb_plan* plan = t->plan;
  int x = t->group->x;
  pb_nest load;
  pb_access box;
  if (s->x_memory == t->chip->system_memory) return true; // it is read there
  if (lies_on_chip(t, &s->main, x)) return is_read_there(t, &s->main, x, s->x_memory);
  if (pb_plan_outer(plan, PB_OF_X)->kept && !tile->adds) return keep_x(t, s, tile);
  const pb_home_at at = {pb_plan_around(plan, PB_OF_X), s->x_memory, pb_plan_copies(plan, PB_OF_X), "x",
                         .shares = true};
  if (!pb__tiling_home(t, &s->main, x, tile, &at, &load, &box)) return true;
  load.outer_count = pb_plan_around(plan, PB_OF_X);
  if (t->failure) return false;
  load.kept = pieces(t, &load, 3);
  if (pb_plan_around(plan, PB_OF_X) == t->base && !t->group->prologue_count) bring_by_columns(t, &s->main, &load);
  if (!t->group->prologue_count) pb__tiling_add(t, pb_plan_around(plan, PB_OF_X), &load);
  for (int k = 0; k < t->group->prologue_count; ++k)
    if (!bring_prologue(t, &t->group->program->nests[t->group->prologues[k]], &load, &box)) return false;
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

// As what they lie there: codes of 4 bits where it widens those itself.
static pb_type held_as(const pb_group* g) {
  pb_type lies = pb_small_codes_read(g->contraction, g->insn_roles.w);
  return lies == PB_TYPE_COUNT ? g->main.access[g->roles.w].type : lies;
}

// From where weights are brought to where the instruction holds them: pb_transfer_via of constants, or of what is
// computed. *lies: as what they lie there.
static int weights_via(const pb_tiling* t, const pb_tile_stage* s, pb_type* lies) {
  const pb_access* w = &s->main.access[t->group->roles.w];
  int held = held_memory(t->group), packed;
  pb_constant_facts facts = pb_constant_facts_of(w->memref);
  *lies = held_as(t->group);
  if (pb__in_registers(t)) return held; // code loads them from where they lie
  if (t->group->expands) return pb_expanded_via(t->chip, t->group->expands, held);
  if (*lies != w->type) return pb_transfer_packed_to(t->chip, facts.kept_out, held);
  if (mlirAttributeIsNull(pb_argument_attribute(w->memref, "pb.const"))) return pb_transfer_via(t->chip, held, w->type);
  packed = facts.codes ? pb_transfer_packed_via(t->chip, facts, held, w->type, lies) : -1;
  if (packed >= 0) return packed;
  *lies = w->type;
  return pb_transfer_constant_via(t->chip, facts, held, w->type);
}

// A buffer of weights, which lie there as `lies`; *load fills it. Nests have them as they are. false: they are there.
static bool home_w(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile, pb_type lies, const pb_home_at* at,
                   pb_nest* load) {
  pb_access* w = &s->main.access[t->group->roles.w];
  pb_type type = w->type;
  w->type = lies;
  bool made = pb__tiling_home(t, &s->main, t->group->roles.w, tile, at, load, NULL);
  w->type = load->access[0].type = load->access[1].type = load->expr[0].type = type;
  return made;
}

// A load of weights that lie outside in another form makes them of its parts. A palette comes once, in front.
static void expand(pb_tiling* t, pb_nest* load) {
  const pb_nest* expands = t->group->expands;
  if (!expands || !load->access[0].memref.ptr || t->failure) return;
  int memory = t->buffers[load->access[1].buffer].memory;
  const char* why = pb_expand_load(expands, load);
  const pb_insn* insn = why ? NULL : pb_expanding(t->chip, load, memory);
  if (!insn) {
    pb__tiling_fail(t, why ? why : "nothing makes the weights of their stored form where they come to");
    return;
  }
  int palette = pb_insn_palette(t->chip, insn);
  if (palette < 0) return;
  pb__tiling_params(t, load, 1, insn->operands[palette].memory, 1);
}

static bool is_about(const pb_tree* node, int buffer) {
  if (node->kind == PB_TREE_ALLOC) return node->buffer == buffer;
  return node->kind == PB_TREE_NEST && pb_nest_store(node->nest)->buffer == buffer;
}

// The buffer, one of the outermost level, is filled before anything else there is done: what takes it stands in front
// too.
static void fill_first(pb_tiling* t, int buffer) {
  pb_tree *whole = t->body[0], front = {0}, rest = {0};
  for (pb_tree *node = whole->first, *next; node; node = next) {
    next = node->next;
    node->next = NULL;
    pb_tree_put(is_about(node, buffer) ? &front : &rest, node);
  }
  if (!front.first) return;
  front.last->next = rest.first;
  whole->first = front.first;
  whole->last = rest.last ? rest.last : front.last;
}

// Weights: from outside to where the instruction holds them, perhaps in two steps. This is the first.
static void bring_w(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile) {
  const pb_group* g = t->group;
  pb_type lies;
  int w = g->roles.w, held = held_memory(g), via = weights_via(t, s, &lies);
  pb_nest load;
  pb_tree* before = t->body[pb_plan_around(t->plan, PB_OF_W)]->last;
  if (lies_on_chip(t, &s->main, w)) {
    (void)is_read_there(t, &s->main, w, via);
    return;
  }
  if (via == held) return;
  const pb_home_at at = {pb_plan_around(t->plan, PB_OF_W), via, pb_plan_copies(t->plan, PB_OF_W), "w", .shares = true};
  if (!home_w(t, s, tile, lies, &at, &load)) return;
  load.stream = 1;
  load.kept = pieces(t, &load, pb_weights_by_columns(g->contraction, &g->insn_roles) ? 3 : 2);
  expand(t, &load);
  pb__tiling_add(t, pb_plan_around(t->plan, PB_OF_W), &load);
  // a stage's weights are needed before those of the next one
  if (pb_plan_around(t->plan, PB_OF_W) < t->base) pb__tiling_to_front(t, pb_plan_around(t->plan, PB_OF_W), before);
  if (load.access[1].gathered && !t->failure) fill_first(t, load.access[1].buffer);
}

// The dim of the main nest that walks the tile's weights in a role, -1: none, or several.
static int walked_in_tile(const pb_tiling* t, const pb_tile* tile, pb_role role) {
  int found = -1;
  for (int d = 0; d < t->group->main.dim_count; ++d)
    if (t->group->roles.role[d] == role && tile->extent[d] > 1) found = found < 0 ? d : -2;
  return found < 0 ? -1 : found;
}

// Weights whose rows are the results' columns where the instruction reads rows of columns, or the other way round: a
// computed tensor lies as it was made. They are held as the instruction wants them, over these dims.
static bool lies_turned(const pb_tiling* t, const pb_tile_stage* s, const pb_tile* tile, int* dims) {
  const pb_group* g = t->group;
  const pb_access* w = &s->main.access[g->roles.w];
  bool columns = pb_weights_by_columns(g->contraction, &g->insn_roles);
  dims[columns] = walked_in_tile(t, tile, PB_ROLE_K);
  dims[!columns] = walked_in_tile(t, tile, PB_ROLE_N);
  if (dims[0] < 0 || dims[1] < 0 || pb__in_registers(t)) return false;
  return pb_access_stride(w, dims[0]) == 1 && pb_access_stride(w, dims[1]) != 1;
}

// Weights of windows where each lane is for itself: rows of lanes, as far apart as the instruction wants them, whatever
// of the window a command takes.
static void hold_taps(const pb_tiling* t, const pb_tile* tile, pb_access* buffer) {
  const pb_group* g = t->group;
  const pb_memory* memory = &t->chip->memories[g->contraction->operands[g->insn_roles.w].memory];
  pb_taps taps;
  pb_taps_of(t->chip, g->lanes, &g->main, &g->roles, g->contraction, &g->insn_roles, &taps);
  *buffer = (pb_access){.type = g->main.access[g->roles.w].type, .rank = 2, .shape = {1, g->lanes}};
  for (int d = 0; d < g->main.dim_count; ++d) { // dims of a tile's windows that one command walks, then the lanes
    if (!taps.apart[d] || tile->extent[d] < 2) continue;
    buffer->index[0].coef[d] = taps.apart[d] / g->lanes;
    buffer->shape[0] += taps.apart[d] / g->lanes * (tile->extent[d] - 1);
  }
  for (int d = 0; d < g->main.dim_count; ++d)
    if (g->roles.role[d] == PB_ROLE_B && pb_access_stride(&g->main.access[g->roles.y], d) == 1)
      buffer->index[1].coef[d] = 1;
  if (pb_holds_tiles(memory))
    buffer->shape[0] = memory->bytes / memory->banks * 8 / pb_type_bits(buffer->type) / g->lanes;
}

static void hold_w(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile) {
  const pb_group* g = t->group;
  int w = g->roles.w, held = held_memory(g), level = pb__tiling_levels(t), dims[2];
  const pb_memory* memory = &t->chip->memories[held];
  bool registers = pb_holds_tiles(memory), taps = pb_sums_by_lanes(g->contraction, &g->insn_roles);
  bool turned = !taps && lies_turned(t, s, tile, dims);
  pb_nest load;
  pb_access form;
  if (taps) hold_taps(t, tile, &form);
  if (turned) form = pb__tiling_indexed(&s->main.access[w], dims, 2, 1, tile->extent);
  const pb_home_at at = {level,  held,           registers ? memory->banks : pb_plan_copies(t->plan, PB_OF_W),
                         "held", .shares = true, .form = taps || turned ? &form : NULL};
  (void)home_w(t, s, tile, held_as(g), &at, &load);
  load.part = "stage";
  if (!at.form) expand(t, &load);
  if (!t->failure) pb__tiling_add(t, level, &load);
  if (registers && !pb__in_registers(t) && !t->failure) share_registers(t, s->main.access[w].buffer);
}

// The second step of x, where it takes two: what the tile reads of it, row by row in the order of its dims, as the
// instruction wants it (image to columns; whatever the tile does not read stays behind).
static void hold_x(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile) {
  const pb_memory* memory = &t->chip->memories[s->x_held];
  int copies = t->plan->chain[PB_OF_X].home[1].copies, level = pb__tiling_levels(t), x = t->group->x;
  const pb_access form = pb__tiling_by_dims(t, &s->main, &s->main.access[x], tile->extent);
  if (pb_holds_tiles(memory)) copies = memory->banks;
  const pb_home_at at = {level, s->x_held, copies, .name = "image", .form = &form};
  pb_nest load;
  (void)pb__tiling_home(t, &s->main, x, tile, &at, &load, NULL);
  if (!t->failure) pb__tiling_add(t, level, &load);
}

bool pb__stage_bring_operands(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile, int level) {
  const pb_plan* plan = t->plan;
  bool contracts = t->group->contraction != NULL, innermost = level == pb__tiling_levels(t);
  if ((pb_plan_around(plan, PB_OF_X) > t->base ? pb_plan_around(plan, PB_OF_X) : t->base) == level &&
      !bring_x(t, s, tile))
    return false;
  if (contracts && (pb_plan_around(plan, PB_OF_W) > t->base ? pb_plan_around(plan, PB_OF_W) : t->base) == level)
    bring_w(t, s, tile);
  if (contracts && innermost) hold_w(t, s, tile);
  if (s->x_held != s->x_memory && innermost && !t->failure) hold_x(t, s, tile);
  return !t->failure;
}

// ---- memories ----

// The second home of x is where its instruction reads it, inside all axes.
static bool x_homes_are(pb_tiling* t, bool two) {
  const pb_chain* x = &t->plan->chain[PB_OF_X];
  if (pb__in_registers(t)) return true;
  if (x->count == 1 + two)
    return !two || x->home[1].around == pb__tiling_levels(t) ||
           pb__tiling_fail(t, "the second home of x is not inside all loops");
  return pb__tiling_fail(t, !two            ? "x comes in one step, and has several homes"
                            : x->count == 1 ? "x comes in two steps, and has one home"
                                            : "x comes in two steps, and has more homes");
}

static bool contraction_memories(pb_tiling* t, pb_tile_stage* s) {
  const pb_group* g = t->group;
  pb_type lies;
  s->x_held = g->contraction->operands[g->insn_roles.x].memory;
  s->x_memory = pb__in_registers(t) ? s->x_held : pb_transfer_via(t->chip, s->x_held, s->main.access[g->x].type);
  s->sums_memory = g->contraction->operands[g->insn_roles.y].memory;
  if (s->x_memory < 0) return pb__tiling_fail(t, "nothing brings the first operand to where its instruction reads it");
  if (!lies_on_chip(t, &s->main, g->roles.w) && weights_via(t, s, &lies) < 0)
    return pb__tiling_fail(t, "nothing brings the weights to where their instruction reads them");
  return x_homes_are(t, s->x_held != s->x_memory);
}

bool pb__stage_operand_memories(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile) {
  const pb_group* g = t->group;
  if (g->contraction) return contraction_memories(t, s);
  if (pb__in_registers(t)) { // plain operations take tensors where they are
    s->x_memory = s->x_held = t->chip->system_memory;
    s->sums_memory = g->registers->memory;
    return true;
  }
  pb_tile inner = *tile;
  pb_nest point, open;
  pb_match match;
  for (int level = t->base; level < pb__tiling_levels(t); ++level) pb__tile_step(t, &inner, level);
  pb__tiling_expand(t, &g->main, &g->main, &inner, &point);
  point.part = "reduce";
  pb__tiling_undecided(t, &point, &open);
  if (!pb__tiling_select(t, &open, &match)) return false;
  s->x_memory = s->x_held = pb__tiling_memory(&match, g->x);
  s->sums_memory = match.insn->operands[match.insn->dest].memory;
  for (int a = 0; a + 1 < s->main.access_count && !t->failure; ++a) // tables
    if (a != g->x && !lies_on_chip(t, &s->main, a)) pb__tiling_params(t, &s->main, a, pb__tiling_memory(&match, a), 0);
  return !t->failure;
}

// The builder of homes: walks each operand's chain from the outside to its instruction, and a result's the other way.
// At the loops that the plan says a buffer is made, the main nest goes on with it, and what fills it is added: a move,
// the nests that make x, or what makes weights of the form in which they are stored.
#include "core/s3/compose.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernels.h"
#include "core/s3/small_codes.h"
#include "core/s3/stored_form.h"
#include "core/s3/transfer_paths.h"
#include "core/s3/tree/tiling_stage.h"
#include "core/select/cover.h"

#include <string.h>

// A load of several blocks goes block by block: what needs the first does not wait for the last. `inner`: the dims of
// one block. Blocks that a box tests stay in the command, the only place for the test.
static int pieces(const pb_nest* load, int inner) {
  bool tested = pb_tested_index(load, &load->access[0], 0) >= 0;
  return load->dim_count > inner && load->extent[0] > 1 && !tested ? 1 : 0;
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
  if (t->group->contraction && load->dim_count == 3 && walks_sum(t, main, load, 1))
    pb__tiling_in_runs(t->chip, load, 1, load->extent[1]);
}

// What another stage of the kernel has made, or holds already, where instructions read it.
static bool lies_on_chip(const pb_access* access) { return !access->memref.ptr; }

static bool is_read_there(pb_tiling* t, const pb_nest* main, int a, int memory) {
  if (t->buffers[main->access[a].buffer].memory == memory) return true;
  return pb__tiling_fail(t, "what a stage makes does not lie where the next one's instruction reads it");
}

// What the first iterations of the axis around x take stays for the whole kernel: it comes in front of all loops, in
// pieces as long as those of an iteration (but for windows, which lie over each other), so that the first begins with
// the first one.
static bool keep_x(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile, int memory) {
  const pb_plan* plan = t->plan;
  const pb_axis* axis = &plan->axes[pb_plan_around(plan, PB_OF_X) - t->base - 1];
  int x = t->group->x;
  pb_access was = s->main.access[x];
  pb_nest load;
  const pb_home_at at = {t->base, memory, 1, "kept", .buffer = s->kept};
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
  if (!pb_index_shifted(made, &d)) return -1;
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

// ---- weights as instructions want them ----

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
static int weights_via(const pb_tiling* t, const pb_access* w, pb_type* lies) {
  int held = held_memory(t->group), packed;
  pb_constant_facts facts = pb_constant_facts_of(w->memref);
  *lies = held_as(t->group);
  if (t->group->expands) return pb_expanded_via(t->chip, t->group->expands, held);
  if (*lies != w->type) return pb_transfer_packed_to(t->chip, facts.kept_out, held);
  if (!pb_argument_has(w->memref, "pb.const")) return pb_transfer_via(t->chip, held, w->type);
  packed = facts.codes ? pb_transfer_packed_via(t->chip, facts, held, w->type, lies) : -1;
  if (packed >= 0) return packed;
  *lies = w->type;
  return pb_transfer_constant_via(t->chip, facts, held, w->type);
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
  if (dims[0] < 0 || dims[1] < 0) return false;
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

// The form in which the instruction wants its operand, where that is no box of the tensor: the rows of x that the tile
// reads one after the other, weights of windows, or turned. false: it is a box.
static bool nearest_form(const pb_tiling* t, const pb_tile_stage* s, const pb_tile* tile, const pb_way* way,
                         pb_access* form) {
  const pb_access* access = &s->main.access[way->access];
  int dims[2];
  if (way->of == PB_OF_X) {
    *form = pb__tiling_by_dims(t, &s->main, access, tile->extent);
    return true;
  }
  if (pb_sums_by_lanes(t->group->contraction, &t->group->insn_roles)) {
    hold_taps(t, tile, form);
    return true;
  }
  if (!lies_turned(t, s, tile, dims)) return false;
  *form = pb__tiling_indexed(access, dims, 2, 1, tile->extent);
  return true;
}

// ---- chains ----

enum { NOWHERE = -1 };

// Whether step k of a way leads to where the instruction reads a product's operand, inside all loops.
static bool is_nearest(const pb_way* way, int k) { return (k > 0 || way->of == PB_OF_W) && k + 1 == way->count; }

// The loops around step k, and its copies. The instruction's own memory has as many tiles as it has banks. Of what
// reduces nothing a chain may have fewer homes than there are steps: then the first ones are none.
static pb_plan_home home_of(const pb_tiling* t, const pb_way* way, int k) {
  const pb_chain* chain = &t->plan->chain[way->of];
  int at = k < chain->count ? k : 0;
  if (!t->group->reduces) at = chain->count - way->count + k;
  if (at < 0) return (pb_plan_home){.around = NOWHERE};
  pb_plan_home home = chain->home[at];
  if (!is_nearest(way, k)) return home;
  const pb_memory* memory = &t->chip->memories[way->memory[k]];
  home.around = pb__tiling_levels(t);
  if (pb_holds_tiles(memory)) home.copies = memory->banks;
  return home;
}

// Whether that is the place for it. A home of what reduces outside the loops that stages share is made where the stage
// begins.
static bool stands_here(const pb_tiling* t, const pb_plan_home* home, int level) {
  bool outside = t->group->reduces && home->around < t->base;
  return (outside ? t->base : home->around) == level;
}

// What fills a home of x on its way. false: t fails.
static bool fill_x(pb_tiling* t, const pb_tile_stage* s, int level, const pb_access* box, pb_nest* load) {
  const pb_group* g = t->group;
  load->outer_count = level;
  load->kept = pieces(load, 3);
  if (!g->prologue_count) {
    if (level == t->base) bring_by_columns(t, &s->main, load);
    pb__tiling_add(t, level, load);
  }
  for (int k = 0; k < g->prologue_count; ++k)
    if (!bring_prologue(t, &g->program->nests[g->prologues[k]], load, box)) return false;
  return true;
}

// The same of weights: a stage's are needed before those of the next one.
static void fill_w(pb_tiling* t, int level, pb_tree* before, pb_nest* load) {
  const pb_group* g = t->group;
  load->stream = 1;
  load->kept = pieces(load, pb_weights_by_columns(g->contraction, &g->insn_roles) ? 3 : 2);
  expand(t, load);
  pb__tiling_add(t, level, load);
  if (level < t->base) pb__tiling_to_front(t, level, before);
  if (load->access[1].gathered && !t->failure) fill_first(t, load->access[1].buffer);
}

// Step k of an operand of what reduces: its home, and what fills that.
static bool bring(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile, const pb_way* way, int k, pb_plan_home home) {
  bool near = is_nearest(way, k), w = way->of == PB_OF_W;
  pb_access box, form, *access = &s->main.access[way->access];
  pb_nest load;
  pb_tree* before = t->body[home.around]->last;
  if (!k && lies_on_chip(access))
    if (!is_read_there(t, &s->main, way->access, way->memory[0]) || !near) return !t->failure;
  if (!w && !near && home.kept && !tile->adds) return keep_x(t, s, tile, way->memory[k]);
  static const char* const names[2][2] = {{"x", "image"}, {"w", "held"}};
  const pb_access* formed = near && nearest_form(t, s, tile, way, &form) ? &form : NULL;
  const pb_home_at at = {home.around, way->memory[k], home.copies, names[w][near], w || !near, formed, NULL};
  pb_type type = access->type;
  if (w) access->type = near ? held_as(t->group) : way->lies; // nests have them as they are
  bool made = pb__tiling_home(t, &s->main, way->access, tile, &at, &load, &box);
  if (w) access->type = load.access[0].type = load.access[1].type = load.expr[0].type = type;
  if (t->failure) return false;
  if (!near) {
    if (made && w) fill_w(t, home.around, before, &load);
    return (!made || w || fill_x(t, s, home.around, &box, &load)) && !t->failure;
  }
  load.part = "stage";
  if (w && !at.form) expand(t, &load);
  pb__tiling_add(t, home.around, &load);
  if (t->failure) return false;
  if (w && pb_holds_tiles(&t->chip->memories[at.memory])) share_registers(t, access->buffer);
  return true;
}

bool pb__chains_take_out(pb_tiling* t, pb_nest* main, const pb_tile* tile, const pb_home_at* at, bool whole,
                         pb_nest* store) {
  int y = main->access_count - 1;
  pb_nest point;
  if (whole) pb__tiling_expand(t, main, main, tile, &point);
  if (whole && !pb__tiling_leaves_no_holes(t, &point.access[y], point.extent, at->level)) return false;
  (void)pb__tiling_home(t, main, y, tile, at, store, NULL);
  pb__tiling_turn(store, "store");
  return !t->failure;
}

// Step k of what comes, or goes, as it is: to registers, from wherever it lies, or of a tensor of a nest that reduces
// nothing.
static bool pass(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile, const pb_way* way, int k, pb_plan_home home) {
  static const char* const names[2][PB_PLAN_OPERANDS] = {{"operand", "operand", "result"}, {"x", "held", "acc"}};
  const pb_home_at at = {home.around, way->memory[k], home.copies, .name = names[way->straight][way->of]};
  pb_nest load;
  if (way->of == PB_OF_RESULT) {
    pb_nest* store = s->stores[s->store_count++] = pb_alloc_raw(t->arena, sizeof *store);
    if (!pb__chains_take_out(t, &s->main, tile, &at, true, store)) return false;
  } else {
    (void)pb__tiling_home(t, &s->main, way->access, tile, &at, &load, NULL);
    if (!t->failure) pb__tiling_add(t, at.level, &load);
  }
  if (!t->failure) t->buffers[s->main.access[way->access].buffer].passes = !way->straight;
  return !t->failure;
}

bool pb__chains_bring(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile, int level) {
  bool reduces = t->group->reduces;
  s->store_count = 0;
  for (int k = 0; k < PB_MAX_HOMES; ++k)
    for (int w = 0; w < s->way_count; ++w) { // nearer ones of weights first
      const pb_way* way = &s->ways[k ? s->way_count - 1 - w : w];
      if (k + !reduces >= way->count) continue; // the nearest one stands beside instructions that reduce nothing
      const pb_plan_home home = home_of(t, way, k);
      if (stands_here(t, &home, level) && !(way->straight || !reduces ? pass : bring)(t, s, tile, way, k, home))
        return false;
    }
  return !t->failure;
}

// ---- the memories on each way ----

static pb_way* add_way(pb_tile_stage* s, int access, pb_plan_operand of) {
  pb_way* way = &s->ways[s->way_count++];
  *way = (pb_way){.access = access, .of = of};
  return way;
}

// From where it waits to where the instruction reads it.
static void two_steps(pb_tiling* t, pb_way* way, int via, int held) {
  if (via != t->chip->system_memory) way->memory[way->count++] = via; // else it is read there
  if (via != held) way->memory[way->count++] = held;
}

static bool ways_of_product(pb_tiling* t, pb_tile_stage* s) {
  const pb_group* g = t->group;
  pb_way *x = add_way(s, g->x, PB_OF_X), *w = add_way(s, g->roles.w, PB_OF_W);
  int held = g->contraction->operands[g->insn_roles.x].memory,
      via = pb_transfer_via(t->chip, held, s->main.access[g->x].type);
  two_steps(t, x, via, held);
  if (via < 0) return pb__tiling_fail(t, "nothing brings the first operand to where its instruction reads it");
  via = weights_via(t, &s->main.access[g->roles.w], &w->lies);
  if (via < 0 && !lies_on_chip(&s->main.access[g->roles.w]))
    return pb__tiling_fail(t, "nothing brings the weights to where their instruction reads them");
  two_steps(t, w, via, held_memory(g));
  s->sums_memory = g->contraction->operands[g->insn_roles.y].memory;
  return true;
}

// Of code factors alone have homes: other operations take tensors where they are.
static bool ways_to_registers(const pb_tiling* t, pb_tile_stage* s) {
  const pb_group* g = t->group;
  const int factors[] = {g->x, g->roles.w}, windows[] = {g->insn_roles.x, g->insn_roles.w};
  for (int o = PB_OF_X; o <= PB_OF_W && g->contraction; ++o) {
    pb_way* way = add_way(s, factors[o], o);
    way->memory[way->count++] = g->contraction->operands[windows[o]].memory;
    way->straight = true;
  }
  s->sums_memory = g->values_in;
  return true;
}

// What reduces and multiplies nothing: its tables are there for the whole kernel.
static bool ways_of_reduction(pb_tiling* t, pb_tile_stage* s, const pb_nest* point) {
  const pb_group* g = t->group;
  pb_nest open;
  pb_match match;
  pb__tiling_undecided(t, point, &open);
  if (!pb__tiling_select(t, &open, &match)) return false;
  int memory = pb__tiling_memory(&match, g->x);
  two_steps(t, add_way(s, g->x, PB_OF_X), memory, memory);
  s->sums_memory = match.insn->operands[match.insn->dest].memory;
  for (int a = 0; a + 1 < s->main.access_count && !t->failure; ++a)
    if (a != g->x && !lies_on_chip(&s->main.access[a]))
      pb__tiling_params(t, &s->main, a, pb__tiling_memory(&match, a), 0);
  return !t->failure;
}

// The memories by which a tensor comes to a piece of the cover, or (`out`) goes from its last one, of the longest way.
static void find_way(const pb_tiling* t, const pb_cover* cover, const pb_access* access, pb_way* way) {
  bool out = way->of == PB_OF_RESULT;
  for (int p = out ? cover->count - 1 : 0; p < cover->count; ++p) {
    const pb_insn* insn = cover->pieces[p].insn;
    for (int o = 0; o < insn->operand_count; ++o) {
      const pb_operand* window = &insn->operands[o];
      int path[PB_MAX_HOMES];
      if (window->memory < 0 || window->type != access->type || (o == insn->dest) != out) continue;
      if (pb_is_outside(&t->chip->memories[window->memory])) continue;
      int count = pb__tiling_homes_between(t, access, window->memory, out, path) + out;
      if (count <= way->count || count > PB_MAX_HOMES) continue;
      way->count = count;
      for (int k = 0; k < count; ++k)
        way->memory[k] = out ? k + 1 < count ? path[count - 2 - k] : window->memory : path[k];
    }
  }
}

// Nests that reduce nothing whose instructions work on registers that nothing fills from outside: their tensors come in
// steps, DRAM -> scratchpad -> registers, and their results go back so. All of a table is there, and a number is the
// same everywhere: they come in front.
static bool ways_of_point(pb_tiling* t, pb_tile_stage* s, pb_nest* point) {
  pb_cover cover;
  point->part = "point";
  if (!pb__tiling_pieces(t, point, -1, &cover)) return false;
  for (int a = 0; a < point->access_count; ++a) {
    const pb_access* access = &point->access[a];
    bool out = a + 1 == point->access_count;
    if (access->splat || access->gathered || (out && t->group->around.epilogue_count)) continue;
    find_way(t, &cover, access, add_way(s, a, out ? PB_OF_RESULT : PB_OF_X));
  }
  return true;
}

// Steps of the longest way of an operand.
static int most_steps(const pb_tile_stage* s, pb_plan_operand of) {
  int most = 1;
  for (int w = 0; w < s->way_count; ++w)
    if (s->ways[w].of == of && s->ways[w].count > most) most = s->ways[w].count;
  return most;
}

// Whether each chain has as many homes as its operand has steps, or, beside instructions that reduce nothing, fewer.
static bool homes_are_steps(pb_tiling* t, const pb_tile_stage* s) {
  const pb_chain* x = &t->plan->chain[PB_OF_X];
  int steps = most_steps(s, PB_OF_X);
  if (x->count > steps) return pb__tiling_fail(t, "x has more homes than steps by which it comes");
  if (t->plan->chain[PB_OF_RESULT].count > most_steps(s, PB_OF_RESULT))
    return pb__tiling_fail(t, "the result has more homes than steps by which it goes");
  if (!t->group->contraction || steps == 1) return true;
  if (x->count == 1) return pb__tiling_fail(t, "x comes in two steps, and has one home");
  return x->home[1].around == pb__tiling_levels(t) ||
         pb__tiling_fail(t, "the second home of x is not inside all loops");
}

static bool find_ways(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile) {
  pb_tile inner = *tile;
  pb_nest point;
  if (pb__in_registers(t)) return ways_to_registers(t, s);
  if (t->group->contraction) return ways_of_product(t, s);
  if (!t->group->reduces && t->plan->chain[PB_OF_X].count + t->plan->chain[PB_OF_RESULT].count <= 2) return true;
  for (int level = t->base; level < pb__tiling_levels(t); ++level) pb__tile_step(t, &inner, level);
  pb__tiling_expand(t, &s->main, &s->main, &inner, &point);
  point.part = "reduce";
  return t->group->reduces ? ways_of_reduction(t, s, &point) : ways_of_point(t, s, &point);
}

bool pb__chains_begin(pb_tiling* t, pb_tile_stage* s, const pb_tile* tile) {
  s->ways = PB_NEW_ARRAY(t->arena, pb_way, (size_t)s->main.access_count + 1);
  return find_ways(t, s, tile) && homes_are_steps(t, s);
}

void pb_homes_of(const pb_chip* chip, const pb_group* group, int* x, int* result) {
  pb_arena scratch = {0};
  pb_plan plan = {.axis_count = 0};
  pb_tile tile;
  pb_nest point;
  *x = *result = 1;
  if (group->contraction) {
    int held = group->contraction->operands[group->insn_roles.x].memory;
    *x += pb_transfer_via(chip, held, group->main.access[group->x].type) != held;
  }
  if (group->reduces || group->main.expr_count == 1) return;
  pb_tiling* t = pb_alloc_raw(&scratch, sizeof(pb_tiling));
  pb_tile_stage* s = PB_NEW(&scratch, pb_tile_stage);
  pb_plan_begin(&plan);
  pb_tiling_begin(chip, group, &plan, &scratch, t);
  pb__tiling_take_residents(t);
  s->ways = PB_NEW_ARRAY(&scratch, pb_way, (size_t)group->main.access_count + 1);
  pb__tile_whole(&group->main, &tile);
  pb__tiling_expand(t, &t->group->main, &t->group->main, &tile, &point);
  if (ways_of_point(t, s, &point)) {
    *x = most_steps(s, PB_OF_X);
    *result = most_steps(s, PB_OF_RESULT);
  }
  pb_arena_free(&scratch);
}

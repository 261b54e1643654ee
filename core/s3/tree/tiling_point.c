// Pointwise nests on the tile: their instructions, the buffers between them, and what they read and leave.
#include "core/s3/constant_homes.h"
#include "core/s3/kernels.h"
#include "core/s3/transfer_paths.h"
#include "core/s3/tree/cost.h"
#include "core/s3/tree/tiling_stage.h"
#include "core/select/cover.h"

#include <string.h>

bool pb__tiling_select(pb_tiling* t, const pb_nest* nest, pb_match* match) {
  pb_flat flat;
  const char* why = NULL;
  pb_tiling_flat(t, nest, &flat);
  if (pb_select_again(t->group->memo, &flat, match, &why)) return true;
  return pb__tiling_fail(t, pb_printf(t->arena, "%s (%s): %s", nest->name ? nest->name : "", nest->part, why));
}

int pb__tiling_memory(const pb_match* match, int access) {
  int operand = match ? pb_match_operand(match, access) : -1;
  return operand < 0 ? PB_ANY_MEMORY : match->insn->operands[operand].memory;
}

static bool passes(const pb_tiling* t, const pb_access* access) {
  return pb__is_buffer(access) && t->buffers[access->buffer].passes;
}

void pb__tiling_undecided(const pb_tiling* t, const pb_nest* nest, pb_nest* open) {
  pb_nest_copy(open, nest);
  for (int a = 0; a < open->access_count; ++a)
    if (open->access[a].memref.ptr || passes(t, &open->access[a])) {
      open->access[a].memref.ptr = NULL;
      open->access[a].buffer = -1;
      open->access[a].boxed = false;
    }
}

int pb__tiling_homes_between(const pb_tiling* t, const pb_access* access, int memory, bool out, int* homes) {
  const pb_chip* chip = t->chip;
  int count = 0, place = pb__is_buffer(access) ? t->buffers[access->buffer].memory : chip->system_memory;
  homes[0] = memory;
  if (place == memory) return out ? 0 : 1;
  if (out) {
    count = pb_transfer_path(chip, memory, place, access->type, homes, PB_MAX_HOMES);
    return count ? count - 1 : 0;
  }
  bool constant = access->memref.ptr && pb_argument_has(access->memref, "pb.const");
  pb_constant_facts facts = {0};
  if (constant) facts = pb_constant_facts_of(access->memref);
  for (int rank = 0, from; constant && !count && (from = pb_constant_home(chip, facts.kept_out, rank)) >= 0; ++rank)
    count = pb_transfer_path(chip, from, memory, access->type, homes, PB_MAX_HOMES);
  if (!constant) count = pb_transfer_path(chip, place, memory, access->type, homes, PB_MAX_HOMES);
  if (!count) homes[0] = memory;
  return count ? count : 1;
}

// The buffer that holds all of a constant for the whole kernel: for the remainders of tiles too. NULL: there is none
// yet.
static const pb_buffer* holder_of(const pb_tiling* t, const pb_access* access, int memory) {
  for (int b = 0; b < t->buffer_count; ++b)
    if (t->buffers[b].whole == access->memref.ptr && t->buffers[b].memory == memory) return &t->buffers[b];
  return NULL;
}

// Whether the memory has room for all that a constant's nest reads of it in the kernel and leaves as much to others
// behind it, or it is there already.
static bool has_room(pb_tiling* t, const pb_nest* nest, const pb_access* access, int memory) {
  pb_access box, origin;
  if (holder_of(t, access, memory)) return true;
  pb__tiling_box(t, access, nest->extent, 0, &box, &origin);
  int64_t bytes = pb_bytes_of(access->type, pb_access_elements(&box));
  return pb_tree_bytes(t, memory) + 2 * bytes <= t->chip->memories[memory].bytes;
}

// Constants stay on the chip for the whole kernel: they are vectors along the lanes. One that would take more than a
// quarter of the memory comes by tiles, as tensors do, and so does one that would take most of the room that
// the buffers so far leave.
static bool is_tensor_operand(pb_tiling* t, const pb_nest* nest, const pb_access* access, int memory) {
  const pb_program* p = t->group->program;
  int64_t bytes = pb_access_elements(access) * (pb_type_bits(access->type) / 8);
  bool small = access->gathered || access->splat;
  if (bytes * 4 > t->chip->memories[memory].bytes && !access->gathered) return true;
  int v = pb_program_value(p, access->memref);
  return v < 0 || p->values[v].kind != PB_VALUE_CONST || !(small || has_room(t, nest, access, memory));
}

// A buffer that one piece of a cover after the other leaves its value in: the next one may when nobody reads the value
// any more.
typedef struct place {
  int memory, until; // the last piece that reads what lies there, or adds to it
  pb_access form;    // over the nest's dims, as what the nest stores
  pb_access at;      // the same of the buffer
} place;

// A tensor that a piece has brought: the nest's access, and where those behind it find the same.
typedef struct operand {
  int access, memory;
  pb_access at;
} operand;

// A pointwise nest on its way into the tile: one instruction, or several with buffers between them.
typedef struct point {
  pb_tiling* t;
  pb_nest* nest;
  const pb_cover* cover;
  int carried, level;
  bool last;
  int64_t valid;
  pb_tree* parent; // the loop or iteration that its nests stand in
  pb_access* made; // by piece: where its value lies
  int* until;      // by piece: the last one that reads the value, or adds to it
  int copies;      // of what pieces leave for each other
  int place_count, operand_count;
  place* places; // one for each piece at most
  operand* operands;
  int source[PB_NEST_ACCESSES]; // by access of a piece: which of the nest's it is, -1: none
  bool direct;                  // the last instruction writes the tensor itself
  int move_count;               // else these take the result out of its buffer, the last one first
  pb_nest* moves[PB_MAX_HOMES + 1];
} point;

// One instruction if there is one, else the cheapest cover. Code of cores computes whatever a nest says.
bool pb__tiling_pieces(pb_tiling* t, const pb_nest* nest, int carried, pb_cover* cover) {
  pb_nest open;
  pb_flat flat;
  pb_match match;
  const char* why = NULL;
  if (pb__in_registers(t)) {
    cover->count = 1;
    cover->pieces[0] = (pb_piece){.addend = -1};
    return true;
  }
  pb__tiling_undecided(t, nest, &open);
  pb_tiling_flat(t, &open, &flat);
  if (pb_select_again(t->group->memo, &flat, &match, &why)) {
    cover->count = 1;
    cover->pieces[0] = (pb_piece){.insn = match.insn, .node = nest->expr_count - 1, .addend = -1};
    return true;
  }
  if (pb_cover_find(t->chip, &flat, carried, true, cover)) return true;
  return pb__tiling_fail(t, pb_printf(t->arena, "%s (%s): %s", nest->name ? nest->name : "", nest->part, why));
}

static bool reaches_out(const pb_tiling* t, const pb_cover* cover) {
  for (int p = 0; p < cover->count; ++p)
    for (int o = 0; o < cover->pieces[p].insn->operand_count; ++o)
      if (cover->pieces[p].insn->operands[o].memory == t->chip->system_memory) return true;
  return false;
}

static int maker_of(const pb_cover* cover, int node, int memory) {
  for (int p = 0; p < cover->count; ++p)
    if (cover->pieces[p].node == node && cover->pieces[p].memory == memory) return p;
  return -1;
}

// What is left of `part`, a copy of the nest, is the value of one piece, without a store. *carried: which of its
// accesses is the carried one, -1: none. false: it has more operands than a nest can have.
static bool cut(point* p, const pb_piece* piece, pb_nest* part, int* carried) {
  int in[PB_COVER_NODES], access_of[PB_NEST_ACCESSES], root = piece->addend >= 0 ? piece->addend : piece->node;
  bool needed[PB_COVER_NODES] = {false}, leaf[PB_COVER_NODES] = {false};
  part->access_count = part->expr_count = 0;
  memset(access_of, 0xff, sizeof access_of);
  for (int k = 0; k < piece->leaf_count; ++k) leaf[piece->leaves[k]] = true;
  needed[root] = true;
  for (int n = root; n >= 0; --n)
    for (int k = 0; k < 3 && needed[n] && !leaf[n]; ++k)
      if (p->nest->expr[n].args[k] >= 0) needed[p->nest->expr[n].args[k]] = true;
  for (int n = 0; n <= root; ++n) {
    if (!needed[n]) continue;
    pb_expr_node node = p->nest->expr[n];
    if (part->access_count == PB_NEST_ACCESSES) return false;
    p->source[part->access_count] = leaf[n] || node.op != PB_OP_LOAD ? -1 : node.operand;
    if (leaf[n]) {
      int memory = 0;
      for (int k = 0; k < piece->leaf_count; ++k)
        if (piece->leaves[k] == n) memory = piece->leaf_memory[k];
      part->access[part->access_count] = p->made[maker_of(p->cover, n, memory)];
      in[n] = pb_nest_load(part, part->access_count++);
    } else if (node.op == PB_OP_LOAD) {
      int* a = &access_of[node.operand];
      if (*a < 0) part->access[*a = part->access_count++] = p->nest->access[node.operand];
      in[n] = pb_nest_load(part, *a);
      if (node.args[0] >= 0) part->expr[in[n]].args[0] = in[node.args[0]];
    } else {
      in[n] = pb_nest_node_from(part, node, in);
    }
  }
  *carried = p->carried >= 0 ? access_of[p->carried] : -1;
  return true;
}

// ---- what is the same again ----

// How many elements the instruction reads side by side at most through any of its windows on the memory, where it can
// read the same ones again for all that do not lie side by side; 0: it cannot.
static int64_t row_of(const pb_insn* insn, int memory) {
  int64_t most = 0;
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* window = &insn->operands[o];
    int64_t row = 1;
    if (o == insn->dest || window->memory != memory) continue;
    for (int k = 0; k < window->rank; ++k) {
      pb_stride_kind kind = window->strides[k].kind;
      if (kind == PB_STRIDE_ELEM) row *= insn->dims[window->dims[k]].max;
      if (kind != PB_STRIDE_ELEM && kind != PB_STRIDE_FIELD && kind != PB_STRIDE_NONE) return 0;
    }
    if (row > most) most = row;
  }
  return most;
}

// The same of all that read what a piece leaves; 0: one of them writes onto it.
static int64_t row_of_readers(const point* p, const pb_piece* piece) {
  int64_t most = 0;
  for (int r = 0; r < p->cover->count; ++r) {
    const pb_piece* reader = &p->cover->pieces[r];
    if (reader->onto == piece->node) return 0;
    for (int k = 0; k < reader->leaf_count; ++k) {
      if (reader->leaves[k] != piece->node || reader->leaf_memory[k] != piece->memory) continue;
      int64_t row = row_of(reader->insn, piece->memory);
      if (!row) return 0;
      if (row > most) most = row;
    }
  }
  return most;
}

// Loops that move nothing of what a piece reads turn once: its readers read the same again. Where the result is one row
// of its memory, one of them turns as often as neighbours of the memory's rows lie in other banks, so that readers can
// go from bank to bank (walk_banks). Returns whether one does.
static bool compute_once(const point* p, const pb_piece* piece, pb_nest* part, pb_access* form) {
  const pb_memory* memory = &p->t->chip->memories[piece->memory];
  int64_t elements = 1;
  int still = -1;
  if (!part->access_count || piece->addend >= 0 || !row_of_readers(p, piece)) return false;
  for (int d = 0; d < part->dim_count; ++d) {
    bool moves = part->extent[d] == 1 || pb_access_stride(form, d) < 2;
    for (int a = 0; a < part->access_count; ++a)
      moves |= part->access[a].boxed || part->access[a].gathered || pb_access_uses(&part->access[a], d);
    for (int n = 0; n < part->expr_count; ++n) moves |= part->expr[n].op == PB_OP_INDEX && part->expr[n].operand == d;
    elements *= moves ? part->extent[d] : 1;
    if (moves) continue;
    part->extent[d] = 1;
    for (int r = 0; r < form->rank; ++r) form->index[r].coef[d] = 0;
    still = d;
  }
  if (still < 0 || memory->banks < 2 || form->rank == PB_NEST_RANK ||
      elements * pb_type_bits(form->type) != 8 * memory->row_bytes)
    return false;
  part->extent[still] = memory->banks;
  memmove(form->index + 1, form->index, sizeof *form->index * (size_t)form->rank);
  memmove(form->shape + 1, form->shape, sizeof *form->shape * (size_t)form->rank++);
  form->index[0] = (pb_index){.cst = 0};
  form->index[0].coef[still] = 1;
  form->shape[0] = memory->banks;
  return true;
}

// ---- places ----

// A place whose value nobody reads any more when the piece runs, or a new one, of the form of `made`.
static place* find_place(point* p, int at, const pb_access* made, const int64_t* extent) {
  int memory = p->cover->pieces[at].memory;
  pb_nest unused;
  for (int k = 0; k < p->place_count; ++k) {
    place* old = &p->places[k];
    bool same = old->until < at && old->memory == memory && old->form.type == made->type &&
                old->form.rank == made->rank &&
                !memcmp(old->form.index, made->index, sizeof *made->index * (size_t)made->rank);
    if (same) return old;
  }
  place* in = &p->places[p->place_count++];
  *in = (place){.memory = memory, .until = at, .at = *made, .form = *made};
  pb__tiling_buffer(p->t, &in->at, extent, p->level, memory, p->copies, "between", &unused);
  return in;
}

// Where a piece that is not the last one leaves its value.
static void place_between(point* p, int at, pb_nest* part) {
  const pb_piece* piece = &p->cover->pieces[at];
  pb_access* made = &p->made[at];
  place* in = NULL;
  if (piece->onto_access >= 0) {
    *made = p->nest->access[piece->onto_access];
    return;
  }
  if (piece->onto >= 0) {
    *made = p->made[maker_of(p->cover, piece->onto, piece->memory)];
    for (int k = 0; k < p->place_count; ++k)
      if (p->places[k].at.buffer == made->buffer) in = &p->places[k];
  } else {
    pb_access form = *pb_nest_store(p->nest);
    form.type = p->nest->expr[piece->node].type;
    bool alike = compute_once(p, piece, part, &form);
    in = find_place(p, at, &form, part->extent);
    *made = in->at;
    if (alike && !p->t->failure) p->t->buffers[made->buffer].alike = true;
  }
  if (in && in->until < p->until[at]) in->until = p->until[at];
}

// ---- numbers ----

// The row that a number stands in, once for each bank that neighbours among the memory's rows lie in: whoever reads it
// beside rows that go from bank to bank can go with them.
static pb_access number_row(const pb_chip* chip, const pb_expr_node* number, int memory, int64_t row) {
  const pb_memory* m = &chip->memories[memory];
  bool in_all = m->banks > 1 && row * pb_type_bits(number->type) == 8 * m->row_bytes;
  return (pb_access){
      .type = number->type, .buffer = -1, .rank = 2, .shape = {in_all ? m->banks : 1, row}, .splat = true};
}

// What fills it. false: nothing does.
static bool fill_number(const point* p, const pb_expr_node* number, int memory, const pb_access* row, pb_nest* fill) {
  pb_flat flat;
  pb_match match;
  const char* why;
  pb_nest_begin_over(fill, p->nest->name, "point", 1, row);
  fill->access[0].splat = false;
  pb_nest_node_from(fill, *number, NULL);
  pb_tiling_flat(p->t, fill, &flat);
  flat.access[0].memory = memory;
  return pb_select_again(p->t->group->memo, &flat, &match, &why);
}

static int number_kept(const pb_tiling* t, const pb_expr_node* number, int memory, int64_t row) {
  for (int b = 0; b < t->buffer_count; ++b) {
    const pb_buffer* kept = &t->buffers[b];
    if (kept->number && kept->memory == memory && kept->shape[1] == row &&
        !memcmp(kept->number, number, sizeof *number))
      return b;
  }
  return -1;
}

// A number that pieces read from a memory stands there in a row for the whole kernel, in front of its loops, and is
// read again for all others. false: it cannot.
static bool keep_number(point* p, int at) {
  pb_tiling* t = p->t;
  const pb_piece* piece = &p->cover->pieces[at];
  const pb_expr_node* number = &p->nest->expr[piece->node];
  int64_t row = number->op == PB_OP_CONST && piece->addend < 0 ? row_of_readers(p, piece) : 0;
  pb_access* made = &p->made[at];
  pb_nest fill;
  if (!row || row >= pb_nest_iterations(p->nest)) return false;
  *made = number_row(t->chip, number, piece->memory, row);
  made->buffer = number_kept(t, number, piece->memory, row);
  if (made->buffer >= 0) return true;
  if (!fill_number(p, number, piece->memory, made, &fill)) return false;
  pb_tree* before = t->body[0]->last;
  pb__tiling_own(t, made, 0, piece->memory, 1, "number");
  if (t->failure) return true;
  pb_expr_node* held = PB_NEW(t->arena, pb_expr_node);
  *held = *number;
  t->buffers[made->buffer].number = held;
  t->buffers[made->buffer].alike = made->shape[0] > 1;
  fill.access[0].buffer = made->buffer;
  pb__tiling_add(t, 0, &fill);
  pb__tiling_to_front(t, 0, before);
  return true;
}

// Whether the access is of the first of rows that are the same.
static bool is_alike(const pb_tiling* t, const pb_access* access) {
  return !access->memref.ptr && access->buffer >= 0 && t->buffers[access->buffer].alike &&
         !pb_index_moves(&access->index[0]);
}

// What reads rows and beside them the same one again goes from bank to bank in both, where its dims can be cut so.
static void walk_banks(const point* p, pb_nest* part) {
  pb_tiling* t = p->t;
  const pb_access* again = NULL;
  pb_flat flat;
  pb_match match;
  const char* why;
  pb_nest walk;
  for (int a = 0; a + 1 < part->access_count; ++a)
    if (is_alike(t, &part->access[a])) again = &part->access[a];
  if (!again) return;
  int64_t banks = again->shape[0], row = pb_access_elements(again) / banks;
  pb_nest_copy(&walk, part);
  pb_nest_join_alike(&walk);
  if (walk.dim_count == 1 && walk.extent[0] % row == 0) pb_nest_cut_dim(&walk, 0, row);
  if (walk.dim_count != 2 || walk.extent[1] != row || walk.extent[0] % banks) return;
  pb_nest_cut_dim(&walk, 0, banks);
  for (int a = 0; a + 1 < walk.access_count; ++a)
    if (is_alike(t, &walk.access[a]) && walk.access[a].shape[0] == banks) walk.access[a].index[0].coef[1] = 1;
  pb_tiling_flat(t, &walk, &flat);
  if (pb_select_again(t->group->memo, &flat, &match, &why) && !match.loop_count) pb_nest_copy(part, &walk);
}

static bool is_whole(const pb_access* source, const pb_access* box, const pb_access* origin) {
  bool whole = !memcmp(box->shape, source->shape, sizeof(int64_t) * (size_t)source->rank);
  for (int r = 0; r < source->rank; ++r)
    for (int c = 0; c < PB_NEST_COLS; ++c) whole &= !origin->index[r].coef[c] && !origin->index[r].cst;
  return whole;
}

// Brings what the access is of to the memory, step by step, each into a buffer at the level. `ends`: it may reach past
// its tensor's end.
static void bring_to(pb_tiling* t, pb_access* access, const int64_t* extents, int memory, const pb_home_at* at,
                     int stream, bool ends) {
  pb_nest move;
  int homes[PB_MAX_HOMES], count = pb__tiling_homes_between(t, access, memory, false, homes);
  for (int k = 0; k < count && !t->failure; ++k) {
    pb__tiling_buffer(t, access, extents, at->level, homes[k], at->depth, at->name, &move);
    move.stream = stream;
    if (!k && ends && pb__tiling_leaves(t, &move, &move.access[0])) move.access[0].boxed = true;
    if (!t->failure) pb__tiling_add(t, at->level, &move);
  }
}

void pb__tiling_params(pb_tiling* t, pb_nest* part, int a, int memory, int stream) {
  pb_access box, origin, *access = &part->access[a];
  const void* source = access->memref.ptr;
  pb__tiling_box(t, access, part->extent, 0, &box, &origin);
  bool whole = is_whole(access, &box, &origin);
  const pb_buffer* holder = whole ? holder_of(t, access, memory) : NULL;
  if (holder) {
    box.buffer = (int)(holder - t->buffers);
    *access = box;
    return;
  }
  pb_tree* before = t->body[0]->last;
  bring_to(t, access, part->extent, memory, &(pb_home_at){.depth = 1, .name = "params"}, stream, false);
  if (t->failure) return;
  if (whole) t->buffers[access->buffer].whole = source;
  pb__tiling_to_front(t, 0, before);
}

// Whether the nest takes one block of several that lie side by side where the results' buffer begins.
static bool takes_blocks(const point* p) {
  return p->t->group->reduces && p->level > pb_plan_around(p->t->plan, PB_OF_RESULT);
}

// What a piece in front has brought of the same operand.
static bool find_operand(const point* p, int a, int memory, pb_access* found) {
  for (int k = 0; k < p->operand_count && p->cover->count > 1; ++k) {
    const operand* brought = &p->operands[k];
    if (brought->access != p->source[a] || brought->memory != memory) continue;
    *found = brought->at;
    return true;
  }
  return false;
}

// Operands that are tensors move in beside the tile unless the instruction reads them where they are; vectors stay
// resident.
static void bring_operands(point* p, pb_nest* part, int carried, const pb_match* match) {
  pb_tiling* t = p->t;
  for (int a = 0; a + 1 < part->access_count && !t->failure; ++a) {
    int memory = pb__tiling_memory(match, a);
    bool there = memory == PB_ANY_MEMORY || pb_is_outside(&t->chip->memories[memory]),
         waits = passes(t, &part->access[a]);
    if (there || (!waits && (a == carried || !part->access[a].memref.ptr))) continue;
    if (waits && t->buffers[part->access[a].buffer].memory == memory) continue;
    if (!waits && !is_tensor_operand(t, part, &part->access[a], memory)) {
      pb__tiling_params(t, part, a, memory, carried >= 0 ? 1 : 0);
      continue;
    }
    if (find_operand(p, a, memory, &part->access[a])) continue;
    // for all blocks at once: a load that waited for one of them would hold up whatever its queue brings behind it
    int level = takes_blocks(p) ? pb_plan_around(t->plan, PB_OF_RESULT) : p->level;
    const pb_home_at at = {level, .depth = pb_plan_nearest(t->plan, PB_OF_X)->copies, .name = "operand"};
    bring_to(t, &part->access[a], part->extent, memory, &at, carried >= 0 ? 1 : 0, p->valid);
    if (p->operand_count < PB_NEST_ACCESSES)
      p->operands[p->operand_count++] = (operand){p->source[a], memory, part->access[a]};
  }
}

// The result gets a buffer where the instruction puts it, if that is on the chip. Code of cores puts the last one where
// its tensor is.
static bool place_result(point* p, pb_access* store, const pb_match* match) {
  pb_tiling* t = p->t;
  int memory = match     ? match->insn->operands[match->insn->dest].memory
               : p->last ? t->chip->system_memory
                         : t->group->values_in;
  if (p->last && t->into) { // it is in its buffer already, and the instruction was chosen for that
    p->direct = true;
    return true;
  }
  p->direct = memory == t->chip->system_memory || (passes(t, store) && t->buffers[store->buffer].memory == memory);
  if (p->direct && !p->last) return pb__tiling_fail(t, "its result leaves the chip before the next nest takes it");
  if (p->direct) return true;
  if (p->last && !pb__tiling_leaves_no_holes(t, store, p->nest->extent, p->level)) return false;
  int copies = pb_plan_nearest(t->plan, PB_OF_RESULT)->copies, homes[PB_MAX_HOMES], between = 0;
  if (takes_blocks(p) && p->last && copies < 2) copies = 2;
  if (match && p->last) between = pb__tiling_homes_between(t, store, memory, true, homes);
  for (int k = between; k >= 0 && !t->failure; --k) {
    pb_nest* move = p->moves[p->move_count++] = pb_alloc_raw(t->arena, sizeof *move);
    pb__tiling_buffer(t, store, p->nest->extent, p->level, k ? homes[k - 1] : memory, copies,
                      p->last ? "result" : "carried", move);
    pb__tiling_turn(move, "store");
    if (k < between) continue;
    if (p->valid) move->extent[move->dim_count - 1] = p->valid;
    if (p->last && pb__tiling_leaves(t, move, pb_nest_store(move)))
      return pb__tiling_fail(t, "its result reaches past its tensor's end");
  }
  return !t->failure;
}

static bool add_piece(point* p, int at) {
  const pb_piece* piece = &p->cover->pieces[at];
  pb_nest one, open, *part = p->nest;
  pb_match match;
  bool selects = piece->insn != NULL; // code of cores is one piece that names none
  bool final = at + 1 == p->cover->count;
  int carried = p->carried;
  if (!final && keep_number(p, at)) return !p->t->failure;
  if (p->cover->count > 1) {
    part = &one;
    pb_nest_copy(part, p->nest);
    if (!cut(p, piece, part, &carried) || part->access_count == PB_NEST_ACCESSES)
      return pb__tiling_fail(p->t, "too many operands");
    if (!final) place_between(p, at, part);
    part->access[part->access_count++] = final ? *pb_nest_store(p->nest) : p->made[at];
  }
  if (piece->addend >= 0) {
    part->part = "add";
    part->reduce = piece->insn->reduce;
  }
  if (selects) pb__tiling_undecided(p->t, part, &open);
  if (selects && !pb__tiling_select(p->t, &open, &match)) return false;
  bring_operands(p, part, carried, selects ? &match : NULL);
  if (final && !place_result(p, pb_nest_store(part), selects ? &match : NULL)) return false;
  p->made[at] = *pb_nest_store(part);
  if (!final && p->t->buffers[p->made[at].buffer].alike)
    memset(p->made[at].index, 0, sizeof *p->made[at].index); // readers begin with the first
  if (selects) walk_banks(p, part);
  pb__tiling_put(p->t, p->parent, p->level, part);
  return !p->t->failure;
}

// The last piece that reads or adds to what each leaves.
static void find_readers(point* p) {
  int count = p->cover->count;
  p->until = pb_alloc(p->t->arena, (size_t)count * sizeof *p->until);
  for (int r = 0; r < count; ++r) {
    const pb_piece* reader = &p->cover->pieces[r];
    for (int k = 0; k < reader->leaf_count; ++k)
      p->until[maker_of(p->cover, reader->leaves[k], reader->leaf_memory[k])] = r;
    if (reader->onto >= 0) p->until[maker_of(p->cover, reader->onto, reader->memory)] = r;
  }
}

static bool on_one_unit(const pb_cover* cover) {
  for (int p = 1; p < cover->count; ++p)
    if (cover->pieces[p].insn->unit != cover->pieces[0].insn->unit) return false;
  return true;
}

// The values that pieces have left for others at one time, at most.
static int values_at_once(const point* p) {
  int most = 0;
  for (int at = 0; at < p->cover->count; ++at) {
    int live = 0;
    for (int k = 0; k <= at; ++k) live += p->until[k] >= at;
    if (live > most) most = live;
  }
  return most;
}

// Copies of what pieces leave for each other. Those that one unit runs, one after the other, do without a second one:
// it saves the few cycles that a command waits for the one that reads the place, and is taken where room is plenty.
static int copies_between(const point* p) {
  enum { SHARE = 4 }; // of the memory, at most
  const pb_piece* first = &p->cover->pieces[0];
  int copies = pb_plan_copies(p->t->plan, PB_OF_RESULT);
  if (p->cover->count < 2 || !on_one_unit(p->cover)) return copies;
  int64_t bytes = pb_nest_iterations(p->nest) * pb_type_bits(p->nest->expr[first->node].type) / 8;
  bool plenty = bytes * values_at_once(p) * copies * SHARE <= p->t->chip->memories[first->memory].bytes;
  return plenty ? copies : 1;
}

bool pb__tiling_point(pb_tiling* t, pb_nest* nest, int carried, int level, bool last, int64_t valid, pb_tree* parent) {
  pb_cover cover;
  nest->part = "point";
  if (!pb__tiling_pieces(t, nest, carried, &cover)) return false;
  if (valid && reaches_out(t, &cover)) { // a tensor that it touches itself ends where it ends
    nest->extent[nest->dim_count - 1] = valid;
    valid = 0;
  }
  point p;
  memset(&p, 0, sizeof p);
  p.t = t, p.nest = nest, p.cover = &cover, p.carried = carried, p.level = level, p.last = last, p.valid = valid;
  p.parent = parent ? parent : t->body[level];
  p.made = pb_alloc_raw(t->arena, (size_t)cover.count * sizeof *p.made);
  p.places = pb_alloc_raw(t->arena, (size_t)cover.count * sizeof *p.places);
  p.operands = pb_alloc_raw(t->arena, PB_NEST_ACCESSES * sizeof *p.operands);
  if (cover.count > 1) find_readers(&p);
  p.copies = copies_between(&p);
  for (int k = 0; k < cover.count; ++k)
    if (!add_piece(&p, k)) return false;
  *pb_nest_store(nest) = p.made[cover.count - 1];
  for (int k = p.move_count - 1; last && !p.direct && k >= 0; --k) pb__tiling_add(t, level, p.moves[k]);
  return !t->failure;
}

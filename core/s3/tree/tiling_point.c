// Pointwise nests on the tile: their instructions, the buffers between them, and what they read and leave.
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
  for (int o = 0; match && o < match->insn->operand_count; ++o)
    if (match->access_of[o] == access) return match->insn->operands[o].memory;
  return PB_ANY_MEMORY;
}

void pb__tiling_undecided(const pb_nest* nest, pb_nest* open) {
  pb_nest_copy(open, nest);
  for (int a = 0; a < open->access_count; ++a)
    if (open->access[a].memref.ptr) {
      open->access[a].memref.ptr = NULL;
      open->access[a].buffer = -1;
      open->access[a].boxed = false;
    }
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
  for (int v = 0; v < p->value_count; ++v)
    if (pb_value_same(p->values[v].ir, access->memref))
      return p->values[v].kind != PB_VALUE_CONST || !(small || has_room(t, nest, access, memory));
  return true;
}

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
  bool direct;     // the last instruction writes the tensor itself
  pb_nest move;    // else this takes the result out of its buffer
} point;

// One instruction if there is one, else the cheapest cover. Code of cores computes whatever a nest says.
static bool find_pieces(pb_tiling* t, const pb_nest* nest, int carried, pb_cover* cover) {
  pb_nest open;
  pb_flat flat;
  pb_match match;
  const char* why = NULL;
  if (pb__in_registers(t)) {
    cover->count = 1;
    cover->pieces[0].addend = -1;
    return true;
  }
  pb__tiling_undecided(nest, &open);
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

static int load_of(pb_nest* part, pb_type type, int access) {
  int node = pb_nest_node(part, PB_OP_LOAD, type, -1, -1);
  part->expr[node].operand = access;
  return node;
}

// What is left of `part`, a copy of the nest, is the value of one piece, without a store. *carried: which of its
// accesses is the carried one, -1: none. false: it has more operands than a nest can have.
static bool cut(const point* p, const pb_piece* piece, pb_nest* part, int* carried) {
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
    if (leaf[n]) {
      int memory = 0;
      for (int k = 0; k < piece->leaf_count; ++k)
        if (piece->leaves[k] == n) memory = piece->leaf_memory[k];
      part->access[part->access_count] = p->made[maker_of(p->cover, n, memory)];
      in[n] = load_of(part, node.type, part->access_count++);
    } else if (node.op == PB_OP_LOAD) {
      int* a = &access_of[node.operand];
      if (*a < 0) part->access[*a = part->access_count++] = p->nest->access[node.operand];
      in[n] = load_of(part, node.type, *a);
      if (node.args[0] >= 0) part->expr[in[n]].args[0] = in[node.args[0]];
    } else {
      in[n] = pb_nest_node_from(part, node, in);
    }
  }
  *carried = p->carried >= 0 ? access_of[p->carried] : -1;
  return true;
}

// Where a piece that is not the last one leaves its value.
static void place_between(point* p, int at) {
  const pb_piece* piece = &p->cover->pieces[at];
  pb_access* made = &p->made[at];
  pb_nest unused;
  if (piece->onto_access >= 0) {
    *made = p->nest->access[piece->onto_access];
  } else if (piece->onto >= 0) {
    *made = p->made[maker_of(p->cover, piece->onto, piece->memory)];
  } else {
    *made = *pb_nest_store(p->nest);
    made->type = p->nest->expr[piece->node].type;
    pb__tiling_buffer(p->t, made, p->nest->extent, p->level, piece->memory, p->t->plan->result_depth, "between",
                      &unused);
  }
}

static bool is_whole(const pb_access* source, const pb_access* box, const pb_access* origin) {
  bool whole = !memcmp(box->shape, source->shape, sizeof(int64_t) * (size_t)source->rank);
  for (int r = 0; r < source->rank; ++r)
    for (int c = 0; c < PB_NEST_COLS; ++c) whole &= !origin->index[r].coef[c] && !origin->index[r].cst;
  return whole;
}

void pb__tiling_params(pb_tiling* t, pb_nest* part, int a, int memory, int stream) {
  pb_access box, origin, *access = &part->access[a];
  const void* source = access->memref.ptr;
  pb_nest move;
  pb__tiling_box(t, access, part->extent, 0, &box, &origin);
  bool whole = is_whole(access, &box, &origin);
  const pb_buffer* holder = whole ? holder_of(t, access, memory) : NULL;
  if (holder) {
    box.buffer = (int)(holder - t->buffers);
    *access = box;
    return;
  }
  pb_tree* before = t->body[0]->last;
  pb__tiling_buffer(t, access, part->extent, 0, memory, 1, "params", &move);
  if (t->failure) return;
  if (whole) t->buffers[access->buffer].whole = source;
  move.stream = stream;
  pb__tiling_add(t, 0, &move);
  pb__tiling_to_front(t, 0, before);
}

// Whether the nest takes one block of several that lie side by side where the results' buffer begins.
static bool takes_blocks(const point* p) { return p->level > p->t->plan->result_level; }

// Operands that are tensors move in beside the tile unless the instruction reads them where they are; vectors stay
// resident.
static void bring_operands(point* p, pb_nest* part, int carried, const pb_match* match) {
  pb_tiling* t = p->t;
  pb_nest move;
  for (int a = 0; a + 1 < part->access_count && !t->failure; ++a) {
    int memory = pb__tiling_memory(match, a);
    bool there = memory == PB_ANY_MEMORY || pb_is_outside(&t->chip->memories[memory]);
    if (a == carried || !part->access[a].memref.ptr || there) continue;
    if (!is_tensor_operand(t, part, &part->access[a], memory)) {
      pb__tiling_params(t, part, a, memory, carried >= 0 ? 1 : 0);
      continue;
    }
    // for all blocks at once: a load that waited for one of them would hold up whatever its queue brings behind it
    int level = takes_blocks(p) ? t->plan->result_level : p->level;
    pb__tiling_buffer(t, &part->access[a], part->extent, level, memory, t->plan->x_depth, "operand", &move);
    move.stream = carried >= 0 ? 1 : 0;
    if (p->valid && pb__tiling_leaves(t, &move, &move.access[0])) move.access[0].boxed = true;
    pb__tiling_add(t, level, &move);
  }
}

// The result gets a buffer where the instruction puts it, if that is on the chip. Code of cores puts the last one where
// its tensor is.
static bool place_result(point* p, pb_access* store, const pb_match* match) {
  pb_tiling* t = p->t;
  int memory = match     ? match->insn->operands[match->insn->dest].memory
               : p->last ? t->chip->system_memory
                         : t->group->registers->memory;
  if (p->last && t->into) { // it is in its buffer already, and the instruction was chosen for that
    p->direct = true;
    return true;
  }
  p->direct = memory == t->chip->system_memory;
  if (p->direct && !p->last) return pb__tiling_fail(t, "its result leaves the chip before the next nest takes it");
  if (p->direct) return true;
  if (p->last && !pb__tiling_leaves_no_holes(t, store, p->nest->extent, p->level)) return false;
  int copies = takes_blocks(p) && p->last && t->plan->result_depth < 2 ? 2 : t->plan->result_depth;
  pb__tiling_buffer(t, store, p->nest->extent, p->level, memory, copies, p->last ? "result" : "carried", &p->move);
  pb__tiling_turn(&p->move, "store");
  if (p->valid) p->move.extent[p->move.dim_count - 1] = p->valid;
  if (p->last && pb__tiling_leaves(t, &p->move, pb_nest_store(&p->move)))
    return pb__tiling_fail(t, "its result reaches past its tensor's end");
  return true;
}

static bool add_piece(point* p, int at) {
  const pb_piece* piece = &p->cover->pieces[at];
  pb_nest one, open, *part = p->nest;
  pb_match match;
  bool selects = !pb__in_registers(p->t);
  bool final = at + 1 == p->cover->count;
  int carried = p->carried;
  if (p->cover->count > 1) {
    part = &one;
    pb_nest_copy(part, p->nest);
    if (!cut(p, piece, part, &carried) || part->access_count == PB_NEST_ACCESSES)
      return pb__tiling_fail(p->t, "too many operands");
    if (!final) place_between(p, at);
    part->access[part->access_count++] = final ? *pb_nest_store(p->nest) : p->made[at];
  }
  if (piece->addend >= 0) {
    part->part = "add";
    part->reduce = piece->insn->reduce;
  }
  if (selects) pb__tiling_undecided(part, &open);
  if (selects && !pb__tiling_select(p->t, &open, &match)) return false;
  bring_operands(p, part, carried, selects ? &match : NULL);
  if (final && !place_result(p, pb_nest_store(part), selects ? &match : NULL)) return false;
  p->made[at] = *pb_nest_store(part);
  pb__tiling_put(p->t, p->parent, p->level, part);
  return !p->t->failure;
}

bool pb__tiling_point(pb_tiling* t, pb_nest* nest, int carried, int level, bool last, int64_t valid, pb_tree* parent) {
  pb_cover cover;
  nest->part = "point";
  if (!find_pieces(t, nest, carried, &cover)) return false;
  if (valid && reaches_out(t, &cover)) { // a tensor that it touches itself ends where it ends
    nest->extent[nest->dim_count - 1] = valid;
    valid = 0;
  }
  point p; // not set to 0: a nest is large
  memset(&p, 0, offsetof(point, move));
  p.t = t, p.nest = nest, p.cover = &cover, p.carried = carried, p.level = level, p.last = last, p.valid = valid;
  p.parent = parent ? parent : t->body[level];
  p.made = pb_alloc_raw(t->arena, (size_t)cover.count * sizeof *p.made);
  for (int k = 0; k < cover.count; ++k)
    if (!add_piece(&p, k)) return false;
  *pb_nest_store(nest) = p.made[cover.count - 1];
  if (last && !p.direct) pb__tiling_add(t, level, &p.move);
  return !t->failure;
}

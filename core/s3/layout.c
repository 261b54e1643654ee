// Layout: every value gets the layout in which the chip's vectors and its matrix instruction walk it. Requires the
// program function in value form; leaves it in value form. Does nothing on a chip without rows of lanes.
//   [n, c, h, w] made and used inside becomes [n, c / D, h, w, D]; [1, c] is padded to a multiple of D;
//   weights become [o / D, k, D] with k in the order (c / D, window, D); vectors over channels become [c / D, D];
//   scalar factors become vectors of D equal numbers, since the vector unit reads its factors by rows.
// An input of few channels stays as it is: instead its contraction reads a gathered tensor [h, w, k] whose rows are
// whole windows. That tensor is written by plain copies here and gone after fusion: only tiles of it ever exist.
// Exact: sums are of integers, or keep their order.
#include "core/s3/fallback.h"
#include "core/s3/kernels.h"
#include "core/s3/landing.h"
#include "core/s3/layout_vector.h"
#include "core/s3/program.h"
#include "core/s3/relayout.h"
#include "core/s3/roles.h"
#include "core/s3/routes.h"

#include <stdio.h>
#include <string.h>

typedef enum layout_kind { LAYOUT_PLAIN, LAYOUT_BLOCKED, LAYOUT_PADDED } layout_kind;

typedef struct new_value {
  layout_kind kind;
  const char* ref;
  int rank;
  int64_t shape[PB_NEST_RANK];
} new_value;

typedef struct new_const {
  int id;
  const char* ref;
  bool splat;
  pb_type type;
  int rank;
  int64_t shape[PB_NEST_RANK];
} new_const;

typedef struct layouter {
  pb_unit* unit;
  pb_program program;
  int64_t lanes;
  new_value* values;
  bool* gathers; // by nest
  new_const consts[2048];
  int const_count, extra_values, serial;
  pb_text allocs, nests;
} layouter;

static int64_t blocks_of(const layouter* l, int64_t extent) { return (extent + l->lanes - 1) / l->lanes; }

// The contraction's K dim that walks x's channels, -1: none.
static int channel_of_x(const layouter* l, const pb_nest* nest, const pb_roles* roles) {
  (void)l;
  int dim;
  const pb_access* x = &nest->access[roles->x];
  if (x->rank < 2 || !pb_index_single(&x->index[1], &dim) || dim < 0) return -1;
  return roles->role[dim] == PB_ROLE_K ? dim : -1;
}

static bool nest_roles(const layouter* l, int n, pb_roles* roles) {
  bool weight[PB_NEST_ACCESSES] = {0};
  const pb_nest* nest = &l->program.nests[n];
  for (int a = 0; a < nest->access_count; ++a)
    weight[a] = l->program.values[l->program.value_of[n][a]].kind == PB_VALUE_CONST;
  return pb_nest_roles(nest, weight, roles);
}

static int depthwise_dim(const pb_nest* nest, const pb_roles* roles);

// Gathering pays when lanes over channels would be mostly empty: few channels and a window.
static bool should_gather(const layouter* l, const pb_nest* nest, const pb_roles* roles) {
  if (depthwise_dim(nest, roles) >= 0) return false;
  int channel = channel_of_x(l, nest, roles);
  int64_t window = 1, channels = channel < 0 ? 1 : nest->extent[channel];
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_K && d != channel) window *= nest->extent[d];
  return blocks_of(l, channels * window) * 2 <= blocks_of(l, channels) * window;
}

static void keep_plain(layouter* l, int value) {
  l->values[value].kind = LAYOUT_PLAIN;
  for (int n = 0; n < l->program.nest_count; ++n) // what is copied into it (a pad's inside) stays plain too
    if (pb_program_writes(&l->program, n, value) && l->program.nests[n].access_count == 2 &&
        l->program.nests[n].expr_count == 1 && l->program.value_of[n][0] != value) {
      int source = l->program.value_of[n][0];
      if (l->values[source].kind != LAYOUT_PLAIN) keep_plain(l, source);
    }
}

// Whether only this nest reads the value, directly or through a padded copy of it.
static bool read_by_alone(const layouter* l, int value, int nest) {
  for (int k = 0; k < l->program.nest_count; ++k) {
    if (k == nest || !pb_program_reads(&l->program, k, value) || pb_program_writes(&l->program, k, value)) continue;
    const pb_nest* copy = &l->program.nests[k];
    if (copy->expr_count != 1 || copy->reduce != PB_SET) return false;
    if (!read_by_alone(l, l->program.value_of[k][copy->access_count - 1], nest)) return false;
  }
  return true;
}

// A plain tensor may come from the outside or from a pointwise nest over plain tensors, not from one that makes blocks.
static bool can_be_plain(const layouter* l, int value, int nest) {
  if (!read_by_alone(l, value, nest)) return false;
  for (int k = 0; k < l->program.nest_count; ++k) {
    if (!pb_program_writes(&l->program, k, value)) continue;
    const pb_nest* maker = &l->program.nests[k];
    if (maker->reduce != PB_SET) return false;
    for (int a = 0; a + 1 < maker->access_count; ++a) {
      int from = l->program.value_of[k][a];
      bool outside = l->program.values[from].kind != PB_VALUE_LOCAL;
      if (!outside && (maker->expr_count != 1 || !can_be_plain(l, from, nest))) return false;
    }
  }
  return true;
}

static void choose(layouter* l) {
  for (int v = 0; v < l->program.value_count; ++v) {
    const pb_value* value = &l->program.values[v];
    l->values[v].kind = LAYOUT_PLAIN;
    if (value->kind != PB_VALUE_LOCAL) continue;
    if (value->rank == 4) l->values[v].kind = LAYOUT_BLOCKED;
    if (value->rank == 2 && value->shape[0] == 1) l->values[v].kind = LAYOUT_PADDED;
  }
  for (int n = 0; n < l->program.nest_count; ++n) {
    const pb_nest* nest = &l->program.nests[n];
    for (int a = 0; a < nest->access_count; ++a) {
      int v = l->program.value_of[n][a], dim;
      bool walks = nest->access[a].rank > 1 && pb_index_single(&nest->access[a].index[1], &dim) &&
                   (dim < 0 ? nest->access[a].shape[1] == 1 : nest->extent[dim] == nest->access[a].shape[1]);
      if (l->values[v].kind == LAYOUT_BLOCKED && !walks) keep_plain(l, v);
    }
    pb_roles roles;
    if (!nest_roles(l, n, &roles)) continue;
    l->gathers[n] = should_gather(l, nest, &roles) && can_be_plain(l, l->program.value_of[n][roles.x], n);
    if (l->gathers[n]) keep_plain(l, l->program.value_of[n][roles.x]);
  }
}

static void describe_values(layouter* l) {
  for (int v = 0; v < l->program.value_count; ++v) {
    const pb_value* value = &l->program.values[v];
    new_value* new = &l->values[v];
    if (value->kind == PB_VALUE_CONST) continue;
    new->rank = value->rank;
    memcpy(new->shape, value->shape, sizeof new->shape);
    if (new->kind == LAYOUT_BLOCKED) {
      new->shape[1] = blocks_of(l, value->shape[1]);
      new->shape[new->rank++] = l->lanes;
    }
    if (new->kind == LAYOUT_PADDED) new->shape[1] = blocks_of(l, value->shape[1]) * l->lanes;
    new->ref = value->kind == PB_VALUE_LOCAL ? pb_printf(&l->unit->arena, "%%v%d", v)
                                             : pb_printf(&l->unit->arena, "%%g%d", value->argument);
    if (value->kind != PB_VALUE_LOCAL) continue;
    pb_access type = {.type = value->type, .rank = new->rank};
    memcpy(type.shape, new->shape, sizeof type.shape);
    pb_text_add(&l->allocs, "  %s = memref.alloc() : ", new->ref);
    pb_access_print_type(&l->allocs, &type);
    pb_text_add(&l->allocs, "\n");
  }
}

static const new_const* note_const(layouter* l, int id, bool splat) {
  for (int k = 0; k < l->const_count; ++k)
    if (l->consts[k].id == id) return &l->consts[k];
  new_const* c = &l->consts[l->const_count];
  const pb_const* item = &l->unit->consts->items[id];
  *c = (new_const){
      .id = id, .ref = pb_printf(&l->unit->arena, "%%c%d", id), .splat = splat, .type = item->type, .rank = item->rank};
  memcpy(c->shape, item->shape, sizeof c->shape);
  ++l->const_count;
  return c;
}

static void use_const(layouter* l, pb_access* access, int id, bool splat) {
  const new_const* c = note_const(l, id, splat);
  access->ref = c->ref;
  access->type = c->type;
  access->rank = c->rank;
  access->splat = splat;
  memcpy(access->shape, c->shape, sizeof access->shape);
}

static void use_value(const layouter* l, pb_access* access, int v) {
  access->ref = l->values[v].ref;
  access->rank = l->values[v].rank;
  memcpy(access->shape, l->values[v].shape, sizeof access->shape);
}

// How the nest's dims are split: dim d becomes block[d] and lane[d] (new dims), or stays as keep[d].
typedef struct split {
  int keep[PB_NEST_DIMS], block[PB_NEST_DIMS], lane[PB_NEST_DIMS];
} split;

static void spread(const layouter* l, const split* s, const pb_index* from, int dims, pb_index* to) {
  memset(to->coef, 0, sizeof to->coef);
  to->cst = from->cst;
  for (int d = 0; d < dims; ++d) {
    if (!from->coef[d]) continue;
    if (s->keep[d] >= 0) to->coef[s->keep[d]] += from->coef[d];
    if (s->block[d] >= 0) to->coef[s->block[d]] += from->coef[d] * l->lanes;
    if (s->lane[d] >= 0) to->coef[s->lane[d]] += from->coef[d];
  }
}

// An access to a value over the new dims.
static void rewrite_access(const layouter* l, const split* s, const pb_nest* nest, int v, const pb_access* from,
                           pb_access* to) {
  *to = *from;
  use_value(l, to, v);
  for (int r = 0; r < from->rank; ++r) spread(l, s, &from->index[r], nest->dim_count, &to->index[r]);
  if (l->values[v].kind != LAYOUT_BLOCKED) return;
  int dim = -1;
  pb_index_single(&from->index[1], &dim);
  memset(&to->index[1], 0, sizeof to->index[1]);
  memset(&to->index[from->rank], 0, sizeof to->index[1]);
  if (dim < 0) return; // one channel: lane 0 of block 0
  if (s->block[dim] >= 0) to->index[1].coef[s->block[dim]] = 1;
  if (s->lane[dim] >= 0) to->index[from->rank].coef[s->lane[dim]] = 1;
}

// New dims in order: blocks where the dim stood, lanes behind all of `before_lanes`.
static void split_dims(const layouter* l, const pb_nest* nest, const bool* lanes, const bool* pads, pb_nest* out,
                       split* s) {
  out->dim_count = 0;
  for (int d = 0; d < nest->dim_count; ++d) {
    s->keep[d] = s->block[d] = s->lane[d] = -1;
    if (!lanes[d]) {
      s->keep[d] = out->dim_count;
      out->extent[out->dim_count++] = pads[d] ? blocks_of(l, nest->extent[d]) * l->lanes : nest->extent[d];
    } else if (blocks_of(l, nest->extent[d]) > 1) {
      s->block[d] = out->dim_count;
      out->extent[out->dim_count++] = blocks_of(l, nest->extent[d]);
    }
  }
  for (int d = 0; d < nest->dim_count; ++d)
    if (lanes[d]) {
      s->lane[d] = out->dim_count;
      out->extent[out->dim_count++] = l->lanes;
    }
}

// A vector (or any constant) over a dim that was split or padded: packed the same way.
static void rewrite_const(layouter* l, const split* s, const pb_nest* nest, const pb_nest* out, int id,
                          const pb_access* from, pb_access* to) {
  pb_pack_dim dims[PB_NEST_RANK];
  int count = 0;
  bool packed = false;
  int64_t shape[PB_NEST_RANK];
  *to = *from;
  memset(to->index, 0, sizeof to->index);
  for (int pass = 0; pass < 2; ++pass)
    for (int d = 0; d < nest->dim_count; ++d) {
      if (!pb_access_uses(from, d)) continue;
      int column = pass ? s->lane[d] : s->block[d] >= 0 ? s->block[d] : s->keep[d];
      if (column < 0) continue;
      packed |= s->lane[d] >= 0 || out->extent[column] != nest->extent[d];
      to->index[count].coef[column] = 1;
      shape[count] = out->extent[column];
      dims[count++] = (pb_pack_dim){out->extent[column], d, !pass && s->block[d] >= 0 ? l->lanes : 1};
    }
  if (!packed) {
    for (int r = 0; r < from->rank; ++r) spread(l, s, &from->index[r], nest->dim_count, &to->index[r]);
    use_const(l, to, id, false);
    return;
  }
  use_const(l, to, pb_const_pack(l->unit->consts, id, from, nest->extent, count, dims, "lanes", count, shape), false);
}

static void rewrite_accesses(layouter* l, int n, const split* s, const pb_nest* nest, pb_nest* out) {
  for (int a = 0; a < nest->access_count; ++a) {
    int v = l->program.value_of[n][a];
    if (l->program.values[v].kind == PB_VALUE_CONST)
      rewrite_const(l, s, nest, out, l->program.values[v].const_id, &nest->access[a], &out->access[a]);
    else
      rewrite_access(l, s, nest, v, &nest->access[a], &out->access[a]);
  }
}

// Scalar factors become loads of rows of equal numbers, unless instructions take the numbers themselves.
static void splat_factors(layouter* l, pb_nest* nest) {
  int memory;
  if (pb_point_lands(l->unit->chip, nest, -1, PB_ANY_MEMORY, &memory)) return;
  for (int k = 0; k < nest->expr_count; ++k) {
    pb_expr_node* mul = &nest->expr[k];
    if (mul->op != PB_OP_MUL || mul->type != PB_F32) continue;
    for (int side = 0; side < 2; ++side) {
      pb_expr_node* factor = &nest->expr[mul->args[side]];
      if (factor->op != PB_OP_CONST || nest->access_count == PB_NEST_ACCESSES) continue;
      int at = nest->access_count - 1; // before the store
      nest->access[nest->access_count++] = nest->access[at];
      memset(&nest->access[at], 0, sizeof nest->access[at]);
      use_const(l, &nest->access[at], pb_const_splat(l->unit->consts, factor->value, l->lanes), true);
      factor->op = PB_OP_LOAD;
      factor->operand = at;
    }
  }
}

static void rewrite_plain(layouter* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  bool lanes[PB_NEST_DIMS] = {0}, pads[PB_NEST_DIMS] = {0};
  for (int a = 0; a < nest->access_count; ++a) {
    int dim, v = l->program.value_of[n][a];
    if (l->values[v].kind == LAYOUT_PLAIN || !pb_index_single(&nest->access[a].index[1], &dim) || dim < 0) continue;
    if (l->values[v].kind == LAYOUT_BLOCKED)
      lanes[dim] = true;
    else if (a == nest->access_count - 1)
      pads[dim] = true;
  }
  pb_nest out = *nest;
  split s;
  split_dims(l, nest, lanes, pads, &out, &s);
  rewrite_accesses(l, n, &s, nest, &out);
  if (nest->reduce == PB_SET) splat_factors(l, &out);
  pb_nest_print(&l->nests, &out, 1, &l->serial);
}

// A pointwise nest that would read a plain tensor and write a blocked one: lanes of the one are not lanes of the other.
// So it writes a plain tensor, and a copy, which movers can do, turns that into blocks.
static bool mixes_layouts(const layouter* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  if (nest->reduce != PB_SET || nest->expr_count < 2) return false;
  if (l->values[l->program.value_of[n][nest->access_count - 1]].kind != LAYOUT_BLOCKED) return false;
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    int v = l->program.value_of[n][a];
    if (l->program.values[v].kind != PB_VALUE_CONST && l->values[v].kind == LAYOUT_PLAIN) return true;
  }
  return false;
}

// Copies blocks [first, first + count) of a plain tensor into the blocked value v. `boxed`: the last one is not full;
// its missing lanes become 0.
static void copy_blocks(layouter* l, const pb_nest* nest, const pb_access* plain, int v, const bool* lanes, int channel,
                        int64_t first, int64_t count, bool boxed) {
  const pb_access* store = &nest->access[nest->access_count - 1];
  bool none[PB_NEST_DIMS] = {0};
  pb_nest part = *nest, copy = {.name = nest->name, .part = "copy", .access_count = 2};
  split s;
  if (channel >= 0) part.extent[channel] = count * l->lanes;
  split_dims(l, &part, lanes, none, &copy, &s);
  copy.access[0] = *plain;
  for (int r = 0; r < plain->rank; ++r) spread(l, &s, &store->index[r], nest->dim_count, &copy.access[0].index[r]);
  copy.access[0].index[1].cst += first * l->lanes;
  copy.access[0].boxed = boxed;
  rewrite_access(l, &s, &part, v, store, &copy.access[1]);
  copy.access[1].index[1].cst += first;
  pb_nest_load(&copy, 0);
  pb_nest_print(&l->nests, &copy, 1, &l->serial);
}

static void rewrite_mixed(layouter* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  int v = l->program.value_of[n][nest->access_count - 1];
  pb_access plain = *store;
  plain.ref = pb_printf(&l->unit->arena, "%%plain%d", l->extra_values++);
  pb_text_add(&l->allocs, "  %s = memref.alloc() : ", plain.ref);
  pb_access_print_type(&l->allocs, &plain);
  pb_text_add(&l->allocs, "\n");

  bool none[PB_NEST_DIMS] = {0}, lanes[PB_NEST_DIMS] = {0};
  pb_nest out = *nest;
  split s;
  split_dims(l, nest, none, none, &out, &s);
  rewrite_accesses(l, n, &s, nest, &out);
  out.access[out.access_count - 1] = plain;
  splat_factors(l, &out);
  pb_nest_print(&l->nests, &out, 1, &l->serial);

  int channel = -1;
  pb_index_single(&store->index[1], &channel);
  if (channel >= 0) lanes[channel] = true;
  int64_t whole = channel < 0 ? 1 : nest->extent[channel] / l->lanes,
          rest = channel < 0 ? 0 : nest->extent[channel] % l->lanes;
  if (whole) copy_blocks(l, nest, &plain, v, lanes, channel, 0, whole, false);
  if (rest) copy_blocks(l, nest, &plain, v, lanes, channel, whole, 1, true);
}

// The weights as [blocks of o, k, lanes of o]: k dims in order, lanes of the channel innermost.
static int pack_weights(layouter* l, int n, const pb_roles* roles, const int* k_dims, int k_count, int channel,
                        int64_t* k_extent) {
  const pb_nest* nest = &l->program.nests[n];
  pb_pack_dim dims[PB_NEST_RANK];
  int count = 0, o = -1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_N) o = d;
  int64_t outputs = o < 0 ? 1 : nest->extent[o];
  *k_extent = 1;
  if (o >= 0) dims[count++] = (pb_pack_dim){blocks_of(l, outputs), o, l->lanes};
  for (int k = 0; k < k_count; ++k) {
    int64_t extent = k_dims[k] == channel ? blocks_of(l, nest->extent[k_dims[k]]) : nest->extent[k_dims[k]];
    dims[count++] = (pb_pack_dim){extent, k_dims[k], k_dims[k] == channel ? l->lanes : 1};
    *k_extent *= extent;
  }
  if (channel >= 0) {
    dims[count++] = (pb_pack_dim){l->lanes, channel, 1};
    *k_extent *= l->lanes;
  }
  if (o >= 0) dims[count++] = (pb_pack_dim){l->lanes, o, 1};
  int id = l->program.values[l->program.value_of[n][roles->w]].const_id;
  int64_t shape[3] = {blocks_of(l, outputs), *k_extent, l->lanes};
  return pb_const_pack(l->unit->consts, id, &nest->access[roles->w], nest->extent, count, dims, "blocks", 3, shape);
}

// Pads packed weights [blocks, k, lanes] along k with zeros to a multiple of the lanes.
static int pad_k(layouter* l, int id, int64_t blocks, int64_t k, int64_t padded) {
  pb_const from = l->unit->consts->items[id];
  size_t size = (size_t)pb_type_bits(from.type) / 8, row = (size_t)l->lanes * size;
  char* data = pb_alloc(&l->unit->consts->arena, (size_t)(blocks * padded) * row);
  const char* source = pb_const_data(l->unit->consts, id);
  for (int64_t b = 0; b < blocks; ++b)
    memcpy(data + (size_t)(b * padded) * row, source + (size_t)(b * k) * row, (size_t)k * row);
  int64_t shape[3] = {blocks, padded, l->lanes};
  return pb_consts_add(l->unit->consts, from.name, from.type, 3, shape, data);
}

// x gathered: [rows..., k], written by one copy for all windows and a fill of what k lacks to whole lanes.
static void gather(layouter* l, int n, const pb_roles* roles, int64_t k_extent, int64_t padded, pb_access* gathered) {
  const pb_nest* nest = &l->program.nests[n];
  pb_nest copy = {.name = nest->name, .part = "copy", .access_count = 2};
  int v = l->program.value_of[n][roles->x], column[PB_NEST_DIMS];
  memset(gathered, 0, sizeof *gathered);
  gathered->type = nest->access[roles->x].type;
  gathered->ref = pb_printf(&l->unit->arena, "%%gather%d", l->extra_values++);
  int64_t k_stride[PB_NEST_DIMS] = {0}, stride = 1;
  for (int d = nest->dim_count - 1; d >= 0; --d)
    if (roles->role[d] == PB_ROLE_K) {
      k_stride[d] = stride;
      stride *= nest->extent[d];
    }
  // outer windows first, then rows, then the innermost window dim, whose elements are neighbours: a mover's run
  int last = -1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_K) last = d;
  for (int pass = 0; pass < 3; ++pass)
    for (int d = 0; d < nest->dim_count; ++d) {
      bool row = roles->role[d] == PB_ROLE_M, k = roles->role[d] == PB_ROLE_K;
      if (pass == 0 ? !k || d == last : pass == 1 ? !row : d != last) continue;
      column[d] = copy.dim_count;
      copy.extent[copy.dim_count++] = nest->extent[d];
    }
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_M) {
      gathered->index[gathered->rank].coef[column[d]] = 1;
      gathered->shape[gathered->rank++] = nest->extent[d];
    }
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_K) gathered->index[gathered->rank].coef[column[d]] = k_stride[d];
  gathered->shape[gathered->rank++] = padded;

  pb_access source = nest->access[roles->x];
  use_value(l, &source, v);
  for (int r = 0; r < source.rank; ++r) {
    memset(source.index[r].coef, 0, sizeof source.index[r].coef);
    for (int d = 0; d < nest->dim_count; ++d)
      if (nest->access[roles->x].index[r].coef[d])
        source.index[r].coef[column[d]] = nest->access[roles->x].index[r].coef[d];
  }
  copy.access[0] = source;
  copy.access[1] = *gathered;
  pb_nest_load(&copy, 0);
  pb_text_add(&l->allocs, "  %s = memref.alloc() : ", gathered->ref);
  pb_access_print_type(&l->allocs, gathered);
  pb_text_add(&l->allocs, "\n");
  pb_nest_print(&l->nests, &copy, 1, &l->serial);
  if (padded == k_extent) return;
  pb_nest fill = {.name = nest->name, .part = "copy", .access_count = 1};
  fill.access[0] = *gathered;
  for (int r = 0; r < gathered->rank; ++r) {
    memset(&fill.access[0].index[r], 0, sizeof(pb_index));
    bool is_k = r == gathered->rank - 1;
    fill.access[0].index[r].cst = is_k ? k_extent : 0;
    fill.access[0].index[r].coef[fill.dim_count] = 1;
    fill.extent[fill.dim_count++] = is_k ? padded - k_extent : gathered->shape[r];
  }
  pb_nest_const(&fill, gathered->type, 0);
  pb_nest_print(&l->nests, &fill, 1, &l->serial);
}

static void rewrite_contraction(layouter* l, int n, const pb_roles* roles) {
  const pb_nest* nest = &l->program.nests[n];
  int channel = l->gathers[n] ? -1 : channel_of_x(l, nest, roles), k_dims[PB_NEST_DIMS], k_count = 0;
  if (channel >= 0) k_dims[k_count++] = channel;
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_K && d != channel) k_dims[k_count++] = d;
  int64_t k_extent;
  int weights = pack_weights(l, n, roles, k_dims, k_count, channel, &k_extent);
  int64_t padded = blocks_of(l, k_extent) * l->lanes;

  // new dims: blocks of o, rows, lanes of o, then k
  pb_nest out = {.name = nest->name,
                 .part = nest->part,
                 .macs = nest->macs,
                 .reduce = nest->reduce,
                 .access_count = nest->access_count,
                 .expr_count = nest->expr_count};
  memcpy(out.expr, nest->expr, sizeof out.expr);
  split s;
  memset(&s, 0xff, sizeof s);
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_N && blocks_of(l, nest->extent[d]) > 1) {
      s.block[d] = out.dim_count;
      out.extent[out.dim_count++] = blocks_of(l, nest->extent[d]);
    }
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_M) {
      s.keep[d] = out.dim_count;
      out.extent[out.dim_count++] = nest->extent[d];
    }
  int o_lane = out.dim_count;
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_N) s.lane[d] = out.dim_count;
  out.extent[out.dim_count++] = l->lanes;
  pb_access* w = &out.access[roles->w];
  use_const(l, w, weights, false);
  if (l->gathers[n]) {
    if (padded != k_extent) use_const(l, w, pad_k(l, weights, w->shape[0], k_extent, padded), false);
    pb_access x;
    gather(l, n, roles, k_extent, padded, &x);
    memset(x.index, 0, sizeof x.index);
    int r = 0;
    for (int d = 0; d < nest->dim_count; ++d)
      if (roles->role[d] == PB_ROLE_M) x.index[r++].coef[s.keep[d]] = 1;
    for (int part = 0; part < 2; ++part) {
      int64_t extent = part ? l->lanes : padded / l->lanes, scale = part ? 1 : l->lanes;
      if (extent == 1) continue;
      x.index[r].coef[out.dim_count] = scale;
      w->index[1].coef[out.dim_count] = scale;
      out.extent[out.dim_count++] = extent;
    }
    out.access[roles->x] = x;
  } else {
    int64_t stride = k_extent;
    for (int k = 0; k < k_count; ++k) {
      int d = k_dims[k];
      int64_t extent = d == channel ? blocks_of(l, nest->extent[d]) : nest->extent[d];
      stride /= extent;
      if (extent == 1) continue;
      (d == channel ? s.block : s.keep)[d] = out.dim_count;
      w->index[1].coef[out.dim_count] = stride;
      out.extent[out.dim_count++] = extent;
    }
    if (channel >= 0) {
      s.lane[channel] = out.dim_count;
      w->index[1].coef[out.dim_count] = 1;
      out.extent[out.dim_count++] = l->lanes;
    }
    rewrite_access(l, &s, nest, l->program.value_of[n][roles->x], &nest->access[roles->x], &out.access[roles->x]);
  }
  w->index[2].coef[o_lane] = 1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (s.block[d] >= 0 && roles->role[d] == PB_ROLE_N) w->index[0].coef[s.block[d]] = 1;
  rewrite_access(l, &s, nest, l->program.value_of[n][roles->y], &nest->access[roles->y], &out.access[roles->y]);
  pb_nest_print(&l->nests, &out, 1, &l->serial);
}

// The one dim that walks x, w and y together, when each group has one input and one output channel; -1: no such nest.
static int depthwise_dim(const pb_nest* nest, const pb_roles* roles) {
  int found = -1, dim;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (roles->role[d] == PB_ROLE_N) return -1;
    if (roles->role[d] == PB_ROLE_B) found = found < 0 ? d : -2;
  }
  const pb_access* x = &nest->access[roles->x];
  return found >= 0 && x->rank > 1 && pb_index_single(&x->index[1], &dim) && dim == found ? found : -1;
}

// Weights of a depthwise contraction as blocks for the matrix unit: [blocks, k, lanes] with each channel's weights on
// the diagonal of its block.
static int pack_diagonal(layouter* l, int n, const pb_roles* roles, int channel, int64_t window) {
  const pb_nest* nest = &l->program.nests[n];
  int id = l->program.values[l->program.value_of[n][roles->w]].const_id;
  pb_const from = l->unit->consts->items[id];
  const char* source = pb_const_data(l->unit->consts, id);
  int64_t blocks = blocks_of(l, nest->extent[channel]), shape[3] = {blocks, window * l->lanes, l->lanes};
  char* data = pb_alloc(&l->unit->consts->arena, (size_t)(blocks * window * l->lanes * l->lanes));
  for (int64_t c = 0; c < nest->extent[channel]; ++c)
    for (int64_t k = 0; k < window; ++k) {
      int64_t lane = c % l->lanes;
      data[((c / l->lanes * window + k) * l->lanes + lane) * l->lanes + lane] = source[c * window + k];
    }
  return pb_consts_add(l->unit->consts, from.name, from.type, 3, shape, data);
}

// A depthwise contraction walks its channels block by block; inside a block it is a dense one over the lanes.
static void rewrite_depthwise(layouter* l, int n, const pb_roles* roles, int channel) {
  const pb_nest* nest = &l->program.nests[n];
  pb_nest out = {.name = nest->name,
                 .part = nest->part,
                 .macs = nest->macs,
                 .reduce = nest->reduce,
                 .access_count = nest->access_count,
                 .expr_count = nest->expr_count};
  memcpy(out.expr, nest->expr, sizeof out.expr);
  split s;
  memset(&s, 0xff, sizeof s);
  if (blocks_of(l, nest->extent[channel]) > 1) {
    s.block[channel] = out.dim_count;
    out.extent[out.dim_count++] = blocks_of(l, nest->extent[channel]);
  }
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_M) {
      s.keep[d] = out.dim_count;
      out.extent[out.dim_count++] = nest->extent[d];
    }
  int lane_out = out.dim_count++;
  int64_t window = 1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_K) {
      s.keep[d] = out.dim_count;
      out.extent[out.dim_count++] = nest->extent[d];
      window *= nest->extent[d];
    }
  int lane_in = out.dim_count++;
  out.extent[lane_out] = out.extent[lane_in] = l->lanes;

  pb_access* w = &out.access[roles->w];
  use_const(l, w, pack_diagonal(l, n, roles, channel, window), false);
  if (s.block[channel] >= 0) w->index[0].coef[s.block[channel]] = 1;
  int64_t stride = window * l->lanes;
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_K) {
      stride /= nest->extent[d];
      w->index[1].coef[s.keep[d]] = stride;
    }
  w->index[1].coef[lane_in] = 1;
  w->index[2].coef[lane_out] = 1;
  s.lane[channel] = lane_in;
  rewrite_access(l, &s, nest, l->program.value_of[n][roles->x], &nest->access[roles->x], &out.access[roles->x]);
  s.lane[channel] = lane_out;
  rewrite_access(l, &s, nest, l->program.value_of[n][roles->y], &nest->access[roles->y], &out.access[roles->y]);
  pb_nest_print(&l->nests, &out, 1, &l->serial);
}

static pb_status rewrite_nest(layouter* l, int n) {
  pb_roles roles;
  const pb_nest* nest = &l->program.nests[n];
  if (!nest_roles(l, n, &roles) || l->program.values[l->program.value_of[n][roles.w]].kind != PB_VALUE_CONST) {
    if (mixes_layouts(l, n))
      rewrite_mixed(l, n);
    else
      rewrite_plain(l, n);
    return PB_OK;
  }
  int channel = depthwise_dim(nest, &roles);
  if (channel >= 0 && l->values[l->program.value_of[n][roles.x]].kind == LAYOUT_BLOCKED) {
    rewrite_depthwise(l, n, &roles, channel);
    return PB_OK;
  }
  for (int d = 0; d < nest->dim_count; ++d) {
    if (roles.role[d] != PB_ROLE_B) continue;
    if (!pb_may_leave(l->unit))
      return pb_unsupported(l->unit->diag, (pb_place){.what = nest->name}, 4013, "groups of one channel, or one group",
                            "a grouped contraction with several channels in a group");
    rewrite_plain(l, n);
    return PB_OK;
  }
  rewrite_contraction(l, n, &roles);
  return PB_OK;
}

static void print_program(layouter* l, pb_text* text) {
  pb_text_add(text, "module attributes {pb.stage = \"s3\"} {\nfunc.func @main(");
  bool any = false;
  for (int pass = 0; pass < 3; ++pass) { // inputs, constants, outputs
    if (pass == 1) {
      for (int k = 0; k < l->const_count; ++k) {
        const new_const* c = &l->consts[k];
        pb_access type = {.type = c->type, .rank = c->rank};
        memcpy(type.shape, c->shape, sizeof type.shape);
        pb_text_add(text, "%s%s: ", any ? ", " : "", c->ref);
        pb_access_print_type(text, &type);
        pb_text_add(text, " {pb.const = %d : i64%s}", c->id, c->splat ? ", pb.splat" : "");
        any = true;
      }
      continue;
    }
    for (int v = 0; v < l->program.value_count; ++v) {
      const pb_value* value = &l->program.values[v];
      if (value->kind != (pass ? PB_VALUE_OUTPUT : PB_VALUE_INPUT)) continue;
      pb_access type = {.type = value->type, .rank = value->rank};
      memcpy(type.shape, value->shape, sizeof type.shape);
      pb_text_add(text, "%s%s: ", any ? ", " : "", l->values[v].ref);
      pb_access_print_type(text, &type);
      pb_text_add(text, " {%s = \"%s\"}", pass ? "pb.output" : "pb.input", value->name);
      any = true;
    }
  }
  pb_text_add(text, ") {\n%s%s  return\n}\n}\n", l->allocs.data ? l->allocs.data : "",
              l->nests.data ? l->nests.data : "");
}

pb_status pb_s3_layout(pb_unit* unit) {
  if (pb_vector_facts_of(unit->chip).memory >= 0) return pb_s3_layout_vector(unit);
  layouter* l = PB_NEW(&unit->arena, layouter);
  l->unit = unit;
  l->lanes = pb_chip_lanes(unit->chip);
  if (l->lanes == 1) return PB_OK;
  PB_TRY(pb_program_read(pb_module_func(unit->module, "main"), &unit->arena, unit->diag, &l->program));
  l->values = PB_NEW_ARRAY(&unit->arena, new_value, (size_t)l->program.value_count);
  l->gathers = PB_NEW_ARRAY(&unit->arena, bool, (size_t)l->program.nest_count + 1);
  choose(l);
  describe_values(l);
  pb_status status = PB_OK;
  for (int n = 0; n < l->program.nest_count && status == PB_OK; ++n) status = rewrite_nest(l, n);
  pb_text text = {0};
  if (status == PB_OK) {
    print_program(l, &text);
    status = pb_module_replace(unit, &text, "layout");
  }
  pb_text_free(&text);
  pb_text_free(&l->allocs);
  pb_text_free(&l->nests);
  return status;
}

// Inside `layout`: weights that come, or are computed, when the program runs. Where rows enough take each of them they
// are to the rest of layout what constants are, of elements that are not known yet: wherever a constant would be
// packed, a nest packs them, in front of the one that reads them.
//
//   before   y[n, o, h, w] += x[n, c, h + i, w + j] * w[o, c, i, j]             w: an input of the graph, or computed
//   after    p[o / D, (c i j), D] = w[o, c, i, j], and the contraction as by a constant that lies so
//
// A bias that comes so and that sums begin with is one, too, where rows of results end inside a row of lanes.
#include "core/s3/layout/layout.h"

#include <string.h>

// From how many rows on a copy of the weights in a better order pays.
enum { ROWS_FOR_A_COPY = 32 };

static bool is_late(const pb_layout* l, int id) {
  int known = pb_numbers_at(&l->const_of, id);
  return known >= 0 && l->consts[known].late;
}

// Whether x is summed over its channels, or over windows along another dim: not over that dim as a whole, as rows of a
// product are, of which each may be a part of attention, which fuses with what stands around it.
static bool is_convolved(const pb_nest* nest, const pb_access* x, const pb_contraction_dims* roles) {
  for (int r = 1; r < x->rank; ++r) {
    bool sums = false, keeps = false;
    for (int d = 0; d < nest->dim_count; ++d) {
      if (!x->index[r].coef[d] || nest->extent[d] == 1) continue;
      sums |= roles->role[d] == PB_ROLE_K;
      keeps |= roles->role[d] == PB_ROLE_M;
    }
    if (sums && (keeps || r == 1)) return true;
  }
  return false;
}

static bool comes_late(const pb_layout* l, int n, const pb_contraction_dims* roles) {
  const pb_program* p = &l->program;
  const pb_nest* nest = &p->nests[n];
  const pb_value *w = &p->values[p->value_of[n][roles->w]], *x = &p->values[p->value_of[n][roles->x]];
  return pb__layout_is_image(l, x->rank) && (w->kind == PB_VALUE_INPUT || w->kind == PB_VALUE_LOCAL) &&
         x->kind != PB_VALUE_CONST && roles->x_type == PB_F32 && roles->w_type == PB_F32 && w->type == PB_F32 &&
         p->value_of[n][roles->w] != p->value_of[n][roles->x] && !pb_nest_is_fixed(nest) &&
         is_convolved(nest, &nest->access[roles->x], roles) &&
         pb_extent_of_role(nest, roles, PB_ROLE_M) >= ROWS_FOR_A_COPY;
}

// Whether nest n sets what a contraction adds to: what it reads along the results' columns, as a bias, has to be there
// for whole rows of lanes.
static bool begins_contraction(const pb_program* p, int n) {
  pb_contraction_dims roles;
  PB_FOR_WRITERS (m, p, pb_program_stored(p, n))
    if (m > n && pb_program_same_place(p, n, m) && pb_program_contraction_dims(p, m, &roles)) return true;
  return false;
}

static bool is_late_bias(const pb_layout* l, int n, int a) {
  const pb_program* p = &l->program;
  const pb_nest* nest = &p->nests[n];
  const pb_access *from = &nest->access[a], *to = &nest->access[nest->access_count - 1];
  int dim;
  return p->values[p->value_of[n][a]].kind == PB_VALUE_INPUT && from->rank == 1 && !from->gathered &&
         pb_index_single(&from->index[0], &dim) && dim >= 0 && nest->extent[dim] % l->lanes && pb_access_uses(to, dim);
}

// An input of the graph, or what is computed, as a constant whose elements are not known yet, in access a of nest n.
static void take(pb_layout* l, int n, int a, pb_numbers* known) {
  pb_program* p = &l->program;
  int from = p->value_of[n][a], value = pb_numbers_at(known, from);
  if (value < 0) {
    pb_value late = p->values[from];
    late.kind = PB_VALUE_CONST;
    late.const_id = pb_consts_add(l->unit->consts, late.name, late.type, late.rank, late.shape, NULL);
    value = pb_program_add_value(p, &l->unit->pass, &late);
    pb_numbers_set(known, from, value);
    bool own = p->values[from].kind == PB_VALUE_LOCAL;
    const char* ref = pb_printf(&l->unit->pass, own ? "%%v%d" : "%%g%d", own ? from : late.argument);
    pb__layout_note_const(l, (pb_layout_const){.id = late.const_id, .ref = ref, .late = true, .source = from});
  }
  pb_program_set_value(p, &l->unit->pass, n, a, value);
}

void pb__layout_take_late_weights(pb_layout* l) {
  pb_program* p = &l->program;
  pb_numbers known = {0};
  for (int n = 0; n < p->nest_count; ++n) {
    pb_contraction_dims roles;
    if (pb_program_contraction_dims(p, n, &roles) && comes_late(l, n, &roles)) take(l, n, roles.w, &known);
    if (p->nests[n].reduce != PB_SET || !begins_contraction(p, n)) continue;
    for (int a = 0; a + 1 < p->nests[n].access_count; ++a)
      if (is_late_bias(l, n, a)) take(l, n, a, &known);
  }
  pb_numbers_free(&known);
}

void pb__layout_fill_behind(pb_layout* l, const char* name, const char* part, const pb_access* to, const int64_t* held,
                            int r) {
  if (to->shape[r] == held[r]) return;
  pb_nest fill = {.name = name, .part = part, .access_count = 1};
  fill.access[0] = *to;
  for (int k = 0; k < to->rank; ++k) {
    pb_index* index = &fill.access[0].index[k];
    *index = (pb_index){.cst = k == r ? held[k] : 0};
    index->coef[pb_nest_add_dim(&fill, k < r ? held[k] : to->shape[k] - index->cst)] = 1;
  }
  pb_nest_const(&fill, to->type, 0);
  pb__layout_print(l, &fill);
}

// The source with zeros where dims of the packed tensor go past its end: it is walked by them, an index each.
static pb_access padded(pb_layout* l, const char* name, const pb_access* from, const int64_t* extent,
                        const int64_t* reach) {
  pb_access to = {.type = from->type, .ref = pb_printf(&l->unit->pass, "%%late%d", l->extra_values++)};
  pb_nest copy = {.name = name, .part = "copy"};
  int64_t held[PB_NEST_RANK];
  for (int d = 0; d < PB_NEST_DIMS; ++d) {
    copy.extent[d] = extent[d];
    if (!pb_access_uses(from, d)) continue;
    copy.dim_count = d + 1;
    held[to.rank] = extent[d];
    to.shape[to.rank] = reach[d];
    to.index[to.rank++].coef[d] = 1;
  }
  for (int r = 0; r < to.rank; ++r) pb__layout_fill_behind(l, name, "fill", &to, held, r);
  pb__layout_print_copy(l, &copy, from, &to);
  return to;
}

// An index over dims of the nest, over those of the packed tensor.
static pb_index over_packed(const pb_index* index, int count, const pb_pack_dim* dims) {
  pb_index to = {.cst = index->cst};
  for (int k = 0; k < count; ++k) to.coef[k] = index->coef[dims[k].dim] * dims[k].scale;
  return to;
}

// The packed dims as indices of the packed tensor, whose dims are runs of them: from the innermost on.
static void index_packed(int count, const pb_pack_dim* dims, pb_access* to) {
  int64_t stride = 1;
  int r = to->rank - 1;
  for (int k = count - 1; k >= 0; --k) {
    while (r > 0 && stride == to->shape[r]) {
      stride = 1;
      --r;
    }
    to->index[r].coef[k] = stride;
    stride *= dims[k].extent;
  }
}

void pb__layout_pack_late(pb_layout* l, int id, const pb_access* access, const int64_t* nest_extent, int count,
                          const pb_pack_dim* dims) {
  const pb_const* item = l->unit->consts->items[id];
  const char* name = item->name;
  int source = item->pack->source;
  if (!is_late(l, source) || is_late(l, id)) return; // elements are known, or it is there
  pb_access from = *access, to = {.type = item->type, .rank = item->rank};
  pb__layout_use_const(l, &from, source, false);
  memcpy(from.index, access->index, sizeof from.index);
  int64_t extent[PB_NEST_DIMS], reach[PB_NEST_DIMS];
  bool past = false;
  for (int d = 0; d < PB_NEST_DIMS; ++d) extent[d] = reach[d] = 1;
  for (int k = 0; k < count; ++k) {
    extent[dims[k].dim] = nest_extent[dims[k].dim];
    reach[dims[k].dim] += (dims[k].extent - 1) * dims[k].scale;
    past |= reach[dims[k].dim] > nest_extent[dims[k].dim];
  }
  if (past) from = padded(l, name, &from, extent, reach);
  to.ref = pb_printf(&l->unit->pass, "%%late%d", l->extra_values++);
  memcpy(to.shape, item->shape, sizeof(int64_t) * (size_t)item->rank);
  pb_nest pack = {.name = name, .part = "pack", .dim_count = count};
  index_packed(count, dims, &to);
  for (int k = 0; k < count; ++k) pack.extent[k] = dims[k].extent;
  for (int r = 0; r < from.rank; ++r) from.index[r] = over_packed(&from.index[r], count, dims);
  pb__layout_print_copy(l, &pack, &from, &to);
  pb__layout_note_const(l, (pb_layout_const){.id = id, .ref = to.ref, .late = true, .source = -1});
}

// Inside `layout`: a contraction over few channels and a window, where lanes over channels would be mostly empty. It
// reads a tensor of whole windows instead, which plain copies write here and fusion does away with: only tiles of it
// ever exist.
//
//   before   y[o, h, w] += x[c, h + r, w + s] * k[o, c, r, s]
//   after    g[h, w, k] = x[c, h + r, w + s];  y[o, h, w] += g[h, w, k] * k'[o, k]       k = (c, r, s), c * R * S of
//   them
#include "core/s3/layout/layout.h"

#include <string.h>

int pb__layout_summed_along(const pb_nest* nest, const pb_roles* roles, int axis) {
  int found = -1;
  const pb_access* x = &nest->access[roles->x];
  for (int d = 0; x->rank > axis && d < nest->dim_count; ++d) {
    if (!x->index[axis].coef[d] || roles->role[d] == PB_ROLE_B) continue;
    if (found >= 0 || x->index[axis].coef[d] != 1 || roles->role[d] != PB_ROLE_K) return -1;
    found = d;
  }
  return found;
}

bool pb__layout_should_gather(const pb_layout* l, const pb_nest* nest, const pb_roles* roles) {
  int channel = pb__layout_summed_along(nest, roles, 1);
  int64_t window = 1, channels = channel < 0 ? 1 : nest->extent[channel];
  if (!l->whole_rows || pb__layout_dim_of_role(nest, roles, PB_ROLE_B) != -1) return false;
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_K && d != channel) window *= nest->extent[d];
  return pb__layout_blocks(channels * window, l->lanes) * 2 <= pb__layout_blocks(channels, l->lanes) * window;
}

// Dims of the copy: outer windows first, then rows, then the innermost window dim, whose elements are neighbours: a
// mover's run.
static void order_copy(const pb_nest* nest, const pb_roles* roles, pb_nest* copy, int* column) {
  int last = -1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_K) last = d;
  for (int pass = 0; pass < 3; ++pass)
    for (int d = 0; d < nest->dim_count; ++d) {
      bool row = roles->role[d] == PB_ROLE_M, k = roles->role[d] == PB_ROLE_K;
      if (pass == 0 ? !k || d == last : pass == 1 ? !row : d != last) continue;
      column[d] = copy->dim_count;
      copy->extent[copy->dim_count++] = nest->extent[d];
    }
}

// Zeros in what the windows lack to whole rows of lanes.
static void make_fill(const pb_access* to, const char* name, int64_t windows, pb_nest* fill) {
  *fill = (pb_nest){.name = name, .part = "copy", .access_count = 1};
  fill->access[0] = *to;
  for (int r = 0; r < to->rank; ++r) {
    bool inside = r == to->rank - 1;
    fill->access[0].index[r] = (pb_index){.cst = inside ? windows : 0};
    fill->access[0].index[r].coef[fill->dim_count] = 1;
    fill->extent[fill->dim_count++] = inside ? to->shape[r] - windows : to->shape[r];
  }
  pb_nest_const(fill, to->type, 0);
}

// The contraction over rows of windows: its summed dims are one.
static void make_product(const pb_nest* nest, const pb_roles* roles, const pb_access* gathered, int64_t windows,
                         pb_gather* g) {
  pb_nest* out = &g->nest;
  int rows = 0, k = nest->dim_count;
  *out = *nest;
  g->roles = *roles;
  out->extent[out->dim_count++] = windows;
  g->roles.role[k] = PB_ROLE_K;
  pb_access *x = &out->access[roles->x], *w = &out->access[roles->w];
  *x = *gathered;
  memset(x->index, 0, sizeof x->index);
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_M) x->index[rows++].coef[d] = 1;
  x->index[rows].coef[k] = 1;
  w->rank = 0;
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_N) {
      w->shape[w->rank] = nest->extent[d];
      memset(&w->index[w->rank], 0, sizeof *w->index);
      w->index[w->rank++].coef[d] = 1;
    }
  w->shape[w->rank] = windows;
  memset(&w->index[w->rank], 0, sizeof *w->index);
  w->index[w->rank++].coef[k] = 1;
  for (int d = nest->dim_count - 1; d >= 0; --d) {
    if (roles->role[d] != PB_ROLE_K) continue;
    pb_nest_remove_dim(out, d);
    memmove(&g->roles.role[d], &g->roles.role[d + 1], sizeof *g->roles.role * (size_t)(PB_NEST_DIMS - d - 1));
  }
}

static int pack_windows(pb_layout* l, int id, const pb_nest* nest, const pb_roles* roles, const pb_access* w) {
  pb_pack_dim dims[PB_NEST_DIMS];
  int count = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (int d = 0; d < nest->dim_count; ++d)
      if (roles->role[d] == (pass ? PB_ROLE_K : PB_ROLE_N)) dims[count++] = (pb_pack_dim){nest->extent[d], d, 1};
  return pb__layout_pack(l->unit->consts, id, &nest->access[roles->w], nest->extent, count, dims, "windows", w->rank,
                         w->shape);
}

pb_gather* pb__layout_gather(pb_layout* l, int n, const pb_roles* roles) {
  const pb_nest* nest = &l->program.nests[n];
  pb_gather* g = PB_NEW(&l->unit->pass, pb_gather);
  pb_nest* copy = &g->copy;
  *copy = (pb_nest){.name = nest->name, .part = "copy", .access_count = 2};
  int column[PB_NEST_DIMS];
  order_copy(nest, roles, copy, column);
  pb_access to = {.type = nest->access[roles->x].type, .buffer = -1};
  to.ref = pb_printf(&l->unit->pass, "%%gather%d", l->extra_values++);
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_M) {
      to.index[to.rank].coef[column[d]] = 1;
      to.shape[to.rank++] = nest->extent[d];
    }
  int64_t windows = 1;
  for (int d = nest->dim_count - 1; d >= 0; --d)
    if (roles->role[d] == PB_ROLE_K) {
      to.index[to.rank].coef[column[d]] = windows;
      windows *= nest->extent[d];
    }
  to.shape[to.rank++] = pb__layout_blocks(windows, l->lanes) * l->lanes;
  pb_access from = nest->access[roles->x];
  pb__layout_use_value(l, &from, l->program.value_of[n][roles->x]);
  for (int r = 0; r < from.rank; ++r) {
    memset(from.index[r].coef, 0, sizeof from.index[r].coef);
    for (int d = 0; d < nest->dim_count; ++d)
      if (nest->access[roles->x].index[r].coef[d])
        from.index[r].coef[column[d]] = nest->access[roles->x].index[r].coef[d];
  }
  copy->access[0] = from;
  copy->access[1] = to;
  pb_nest_load(copy, 0);
  make_product(nest, roles, &to, windows, g);
  make_fill(&to, nest->name, windows, &g->fill);
  g->fills = to.shape[to.rank - 1] > windows;
  int weights = l->program.values[l->program.value_of[n][roles->w]].const_id;
  g->weights = pack_windows(l, weights, nest, roles, &g->nest.access[roles->w]);
  return g;
}

void pb__layout_print_gather(pb_layout* l, const pb_gather* g) {
  pb__layout_declare(l, &g->copy.access[1]);
  pb__layout_print(l, &g->copy);
  if (g->fills) pb__layout_print(l, &g->fill);
}

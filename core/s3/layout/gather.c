// Inside `layout`: a contraction over few channels and a window, where lanes over channels would be mostly empty. It
// reads a tensor of whole windows instead, which plain copies write here and fusion does away with: only tiles of it
// ever exist.
//
//   before   y[o, h, w] += x[c, h + r, w + s] * k[o, c, r, s]
//   after    g[h, w, k] = x[c, h + r, w + s];  y[o, h, w] += g[h, w, k] * k'[o, k]       k = (c, r, s), c * R * S of
//   them
//
// Of a window's row there are few neighbours, and a mover takes them run by run. Where one puts neighbours apart on the
// way, it takes whole rows of the image: then the window's columns stay a dim of the sum, and each pixel of g has a
// column of the image.
//
//   after    g[h, v, k] = x[c, h + r, v];  y[o, h, w] += g[h, w + s, k] * k'[o, k, s]    k = (c, r)
//
// Windows that lie over each other are gathered over and over. Where that takes longer than to sum them in parts, the
// window's rows stay a dim of the sum in place of its columns: a pixel of g has the rows of one strip, as many as there
// are from window to window, and each row of the image is gathered once (strips.c).
//
//   after    g[v, w, k] = x[c, 2 v + r, w + s];  y[o, h, w] += g[h + q, w, k] * k'[o, k, q]    k = (c, r, s), r < 2
#include "core/s3/kernel/pads.h"
#include "core/s3/layout/layout.h"
#include "core/s3/transfer_paths.h"

#include <string.h>

int pb__layout_summed_along(const pb_nest* nest, const pb_contraction_dims* roles, int axis, bool alone) {
  int found = -1;
  const pb_access* x = &nest->access[roles->x];
  for (int d = 0; axis >= 0 && axis < x->rank && d < nest->dim_count; ++d) {
    if (!x->index[axis].coef[d] || roles->role[d] == PB_ROLE_B) continue;
    if (!alone && roles->role[d] != PB_ROLE_K) continue;
    if (found >= 0 || x->index[axis].coef[d] != 1 || roles->role[d] != PB_ROLE_K) return -1;
    found = d;
  }
  return found;
}

bool pb__layout_should_gather(const pb_layout* l, const pb_nest* nest, const pb_contraction_dims* roles) {
  int channel = pb__layout_summed_along(nest, roles, 1, true);
  int64_t channels = channel < 0 ? 1 : nest->extent[channel],
          window = pb_extent_of_role(nest, roles, PB_ROLE_K) / channels;
  if (pb__layout_dim_of_role(nest, roles, PB_ROLE_B) != -1) return false;
  return pb__layout_blocks(channels * window, l->lanes) * 2 <= pb__layout_blocks(channels, l->lanes) * window;
}

// Whether what the mover reads may end along each of its dims, and be another number behind that.
static bool tests_all(const pb_insn* mover, double number) {
  const pb_operand* from = &mover->operands[mover->expr[0].operand];
  for (int k = 0; k < from->rank; ++k)
    if (from->box_lo[k] < 0 || from->box_hi[k] < 0) return false;
  return from->fill >= 0 ? pb_field_holds(&mover->fields[from->fill], (int64_t)number) : number == 0;
}

void pb__layout_open_pad(pb_layout* l, int n, const pb_contraction_dims* roles) {
  pb_program* p = &l->program;
  int padded = p->value_of[n][roles->x];
  pb_pad pad;
  pb_strips c = pb__layout_strips(l, &p->nests[n], roles);
  if (c.window < 0) return;
  if (pb_program_readers(p, padded) != 1 || !pb_pad_of(p, padded, &pad)) return;
  int from = p->value_of[pad.copy][0];
  if (l->values[from].kind != PB_LAYOUT_PLAIN) return;
  pb_access* x = &p->nests[n].access[roles->x];
  bool columns = c.axis == x->rank - 1;
  const pb_insn* mover = columns ? pb_transfer_transposes(l->unit->chip, x->type) : pb__layout_mover_of_runs(l, roles);
  if (pb_type_is_float(x->type) || !mover || !tests_all(mover, pad.fill)) return;
  pb_pad_open(p, &pad, x);
  PB_FOR_USES (k, p, padded) l->program.gone[k] |= k != n;
  pb_program_set_value(p, &l->unit->pass, n, roles->x, from);
}

// Dims of the copy: outer windows first, then rows, then the dim whose elements are neighbours, a mover's run: the
// innermost window dim, or the columns of the image.
static void order_copy(const pb_nest* nest, const pb_contraction_dims* roles, const pb_strips* c, pb_nest* copy,
                       int* column) {
  const pb_access* x = &nest->access[roles->x];
  int last = -1;
  memset(column, 0xff, sizeof *column * (size_t)nest->dim_count); // none, but of windows and rows
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_K) last = d;
  if (c->row >= 0 && c->axis == x->rank - 1) last = c->row;
  for (int pass = 0; pass < 3; ++pass)
    for (int d = 0; d < nest->dim_count; ++d) {
      bool row = roles->role[d] == PB_ROLE_M, k = roles->role[d] == PB_ROLE_K;
      if (pass == 0 ? !k || d == last : pass == 1 ? !row || d == last : d != last) continue;
      column[d] = pb_nest_add_dim(copy, nest->extent[d]);
    }
}

// One more index, of so many, which the dim walks.
static void add_index(pb_access* access, int dim, int64_t extent) {
  access->shape[access->rank] = extent;
  access->index[access->rank] = (pb_index){0};
  access->index[access->rank++].coef[dim] = 1;
}

// The contraction over rows of windows: its summed dims are one, but for the window's columns.
static void make_product(const pb_nest* nest, const pb_contraction_dims* roles, const pb_strips* c,
                         const pb_access* gathered, int64_t windows, pb_gather* g) {
  pb_nest* out = &g->nest;
  int rows = 0, k = nest->dim_count;
  *out = *nest;
  g->roles = *roles;
  out->extent[out->dim_count++] = windows;
  g->roles.role[k] = PB_ROLE_K;
  if (c->window >= 0) out->extent[c->window] = pb__layout_blocks(nest->extent[c->window], c->strip);
  pb_access *x = &out->access[roles->x], *w = &out->access[roles->w];
  *x = *gathered;
  memset(x->index, 0, sizeof x->index);
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_M) {
      x->index[rows].coef[d] = d == c->row ? c->step : 1;
      if (d == c->row) x->index[rows].coef[c->window] = 1;
      ++rows;
    }
  x->index[rows].coef[k] = 1;
  w->rank = 0;
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_N) add_index(w, d, nest->extent[d]);
  add_index(w, k, windows);
  if (c->window >= 0) add_index(w, c->window, out->extent[c->window]);
  for (int d = nest->dim_count - 1; d >= 0; --d) {
    if (roles->role[d] != PB_ROLE_K || d == c->window) continue;
    pb_nest_remove_dim(out, d);
    memmove(&g->roles.role[d], &g->roles.role[d + 1], sizeof *g->roles.role * (size_t)(PB_NEST_DIMS - d - 1));
  }
}

static int pack_windows(pb_layout* l, int id, const pb_nest* nest, const pb_contraction_dims* roles, const pb_strips* c,
                        const pb_access* w) {
  pb_pack_dim dims[PB_NEST_DIMS];
  int count = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (int d = 0; d < nest->dim_count; ++d)
      if (roles->role[d] == (pass ? PB_ROLE_K : PB_ROLE_N) && (d != c->window || c->strip > 1))
        dims[count++] = (pb_pack_dim){d == c->window ? c->strip : nest->extent[d], d, 1};
  if (c->window >= 0)
    dims[count++] = (pb_pack_dim){pb__layout_blocks(nest->extent[c->window], c->strip), c->window, c->strip};
  return pb__layout_pack(l, id, &nest->access[roles->w], nest->extent, count, dims, "windows", w->rank, w->shape);
}

// The nest as the copy sees it: one dim walks the strips of the image, and the window's dim those of one strip.
static void walk_strips(pb_nest* nest, pb_contraction_dims* roles, const pb_strips* c) {
  if (c->window < 0) return;
  pb_index* index = &nest->access[roles->x].index[c->axis];
  nest->extent[c->row] = c->extent;
  index->coef[c->row] = c->strip;
  nest->extent[c->window] = c->strip;
  if (c->strip > 1) return;
  index->coef[c->window] = 0;
  roles->role[c->window] = PB_ROLE_B; // none of the copy's dims
}

// Writes the rows of windows, as wide as whole rows of lanes. Returns how much of one they fill.
static int64_t make_copy(pb_layout* l, int n, const pb_contraction_dims* of, const pb_strips* c, pb_nest* copy) {
  pb_nest nest = l->program.nests[n];
  pb_contraction_dims roles = *of;
  int column[PB_NEST_DIMS];
  walk_strips(&nest, &roles, c);
  *copy = (pb_nest){.name = nest.name, .part = "copy", .access_count = 2};
  order_copy(&nest, &roles, c, copy, column);
  pb_access to = {.type = nest.access[roles.x].type, .buffer = -1};
  to.ref = pb_printf(&l->unit->pass, "%%gather%d", l->extra_values++);
  for (int d = 0; d < nest.dim_count; ++d)
    if (roles.role[d] == PB_ROLE_M) add_index(&to, column[d], nest.extent[d]);
  int64_t windows = 1;
  for (int d = nest.dim_count - 1; d >= 0; --d)
    if (roles.role[d] == PB_ROLE_K) {
      to.index[to.rank].coef[column[d]] = windows;
      windows *= nest.extent[d];
    }
  to.shape[to.rank++] = pb__layout_blocks(windows, l->lanes) * l->lanes;
  pb_access from = nest.access[roles.x];
  pb__layout_use_value(l, &from, l->program.value_of[n][roles.x]);
  pb_access_renumber(&from, column, nest.dim_count);
  copy->access[0] = from;
  copy->access[1] = to;
  pb_nest_load(copy, 0);
  return windows;
}

pb_gather* pb__layout_gather(pb_layout* l, int n, const pb_contraction_dims* roles) {
  const pb_nest* nest = &l->program.nests[n];
  pb_gather* g = PB_NEW(&l->unit->pass, pb_gather);
  const pb_strips c = pb__layout_strips(l, nest, roles);
  g->windows = make_copy(l, n, roles, &c, &g->copy);
  make_product(nest, roles, &c, &g->copy.access[1], g->windows, g);
  int weights = l->program.values[l->program.value_of[n][roles->w]].const_id;
  g->weights = pack_windows(l, weights, nest, roles, &c, &g->nest.access[roles->w]);
  return g;
}

void pb__layout_print_gather(pb_layout* l, const pb_gather* g) {
  const pb_access* to = &g->copy.access[1];
  int64_t held[PB_NEST_RANK];
  memcpy(held, to->shape, sizeof held);
  held[to->rank - 1] = g->windows;
  pb__layout_declare(l, to);
  pb__layout_print(l, &g->copy);
  pb__layout_fill_behind(l, g->copy.name, "copy", to, held, to->rank - 1);
}

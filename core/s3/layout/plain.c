// Inside `layout`: pointwise nests all of whose tensors are plain, where commands take whole rows of lanes. Such a row
// goes on from one dim into the next, so what a dim does not move (a number for each channel of an image, a mask) has
// to lie in rows as what is stored does. Constants are packed so; of tensors a copy comes in front of the nest. Dims
// outside of whole rows stay as they are: commands repeat rows.
//
//   before   y[n, c, h, w] = x[n, c, h, w] * s[c]             of 2x3x5x7
//   after                    x[n, c, h, w] * t[n, c, h, w]    t: s, packed
#include "core/s3/layout/layout.h"

#include <string.h>

// The dims that move the store, each by a stride of its own and the innermost one first. -1: they walk no dense tensor.
static int dims_outwards(const pb_nest* nest, const pb_access* store, int* dims) {
  int count = 0;
  int64_t run = 1;
  for (bool more = true; more;) {
    more = false;
    for (int d = 0; d < nest->dim_count && !more; ++d) {
      if (nest->extent[d] == 1 || pb_access_stride(store, d) != run) continue;
      dims[count++] = d;
      run *= nest->extent[d];
      more = true;
    }
  }
  return run == pb_nest_iterations(nest) ? count : -1;
}

// Whether whole rows of lanes of what the nest stores are rows of the access: it is walked as the store is as far as a
// row goes, and from there on by any rows.
static bool lies_in_rows(const pb_layout* l, const pb_nest* nest, const pb_access* access, const int* dims, int count) {
  int64_t run = 1;
  for (int k = 0; k < count; ++k) {
    bool alike = pb_access_stride(access, dims[k]) == run;
    if (!alike && run % l->row) return false;
    if (!alike) return true;
    run *= nest->extent[dims[k]];
  }
  return true;
}

// Loops of one iteration that move the store stand among the others, for all of them to be one.
static int with_units(const pb_nest* nest, const pb_access* store, int* dim_of, int rank) {
  for (int d = 0; d < nest->dim_count; ++d) {
    if (nest->extent[d] != 1 || !pb_access_uses(store, d) || rank >= PB_NEST_DIMS) continue;
    int at = 0;
    while (at < rank && dim_of[at] < d) ++at;
    memmove(&dim_of[at + 1], &dim_of[at], sizeof *dim_of * (size_t)(rank - at));
    dim_of[at] = d;
    ++rank;
  }
  return rank;
}

// The shape of a tensor that is walked so, with its dims of the nest, the outermost first: those that move the access
// and those inside of which a row of lanes does not end.
static int shape_in_rows(const pb_layout* l, const pb_nest* nest, const pb_access* access, const int* dims, int count,
                         int* dim_of, int64_t* shape) {
  int rank = 0, first[PB_NEST_DIMS];
  int64_t run = 1;
  for (int k = 0; k < count; ++k) {
    if (run % l->lanes || pb_access_uses(access, dims[k])) first[rank++] = dims[k];
    run *= nest->extent[dims[k]];
  }
  for (int k = 0; k < rank; ++k) dim_of[k] = first[rank - 1 - k];
  rank = with_units(nest, &nest->access[nest->access_count - 1], dim_of, rank);
  for (int k = 0; k < rank && k < PB_NEST_RANK; ++k) shape[k] = nest->extent[dim_of[k]];
  return rank;
}

static void pack_const(pb_layout* l, const pb_nest* nest, const pb_access* from, int id, int rank, const int* dim_of,
                       const int64_t* shape, pb_access* to) {
  pb_pack_dim dims[PB_NEST_RANK];
  for (int k = 0; k < rank; ++k) dims[k] = (pb_pack_dim){shape[k], dim_of[k], 1};
  int packing = pb__layout_pack(l, id, from, nest->extent, rank, dims, "rows", rank, shape);
  pb__layout_use_const(l, to, packing, false);
}

static void copy_value(pb_layout* l, const pb_nest* nest, const pb_access* from, pb_access* to) {
  pb_nest copy = {.name = nest->name, .part = "copy", .dim_count = nest->dim_count};
  to->ref = pb_printf(&l->unit->pass, "%%plain%d", l->extra_values++);
  for (int d = 0; d < nest->dim_count; ++d) copy.extent[d] = pb_access_uses(to, d) ? nest->extent[d] : 1;
  pb__layout_print_copy(l, &copy, from, to);
}

void pb__layout_spread_in_plain(pb_layout* l, int n, pb_nest* out) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* store = pb_nest_store(out);
  int dims[PB_NEST_DIMS], dim_of[PB_NEST_DIMS];
  int64_t shape[PB_NEST_RANK];
  if (nest->reduce != PB_SET || nest->expr_count < 2 || pb_nest_is_fixed(nest)) return;
  int count = dims_outwards(out, store, dims);
  for (int a = 0; a + 1 < nest->access_count && count > 0; ++a) {
    const pb_access from = nest->access[a];
    int v = l->program.value_of[n][a];
    pb_access to = {.type = out->access[a].type, .buffer = -1};
    if (out->access[a].splat || from.boxed || lies_in_rows(l, out, &out->access[a], dims, count)) continue;
    to.rank = shape_in_rows(l, out, &out->access[a], dims, count, dim_of, shape);
    if (to.rank > PB_NEST_RANK || to.rank > PB_PACK_DIMS) continue;
    for (int k = 0; k < to.rank; ++k) to.index[k].coef[dim_of[k]] = 1;
    memcpy(to.shape, shape, sizeof *shape * (size_t)to.rank);
    if (pb_program_is_const(&l->program, n, a))
      pack_const(l, nest, &from, l->program.values[v].const_id, to.rank, dim_of, shape, &to);
    else
      copy_value(l, out, &out->access[a], &to);
    out->access[a] = to;
  }
}

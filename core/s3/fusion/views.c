// Views: tensors that only copy others - transposed, reshaped, sliced, broadcast - are not made where what reads them
// can walk the original, or what is copied can be made at its last place from the start. Requires the program function
// in value form; leaves it in value form. Exact.
//
//   before   t[h, s, d] = x[s, h * 64 + d];  y[h, i, j] += q[..] * t[h, j, k]
//   after    y[h, i, j] += q[..] * x[j, h * 64 + k]
//
// The parts of a tensor that several copies put together, as a concatenation or the phases of a transposed convolution,
// are made in it, each by a kernel of its own.
//
// Vectors are walked along the dim whose elements are neighbours; a view that would take the neighbours away stays a
// copy, unless what reads it copies it anyway: another copy, or a large product, whose second factor `layout` packs; or
// unless it is a product of one row, which goes along the sum.
// Units that take whole rows of lanes and nothing else have less to go through: a copy, whose mover walks any strides,
// and a pointwise nest of one tensor that lies in rows, which `layout` brings into lanes whatever the ranks. The rest
// comes in rows by the copy, and what an instruction makes leaves by it: `outline` puts both into one kernel.
#include "core/s3/chip_facts.h"
#include "core/s3/compose.h"
#include "core/s3/fusion/fusion.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/transfer_paths.h"

#include <string.h>

enum { ROWS_FOR_A_COPY = 32 }; // of a product: layout then packs its second factor

typedef struct viewer {
  pb_unit* unit;
  pb_program* program;
  int64_t lanes;
  bool whole_rows; // units take rows of lanes and nothing else
  int image_rank;  // pb_chip_image_rank
  bool* joined;    // values that copies alone put together, as concatenations are
} viewer;

// Convolutions and pools want their channels in blocks, which whoever walks them otherwise would forbid.
static bool has_channels(const viewer* v, int value) {
  const pb_program* p = v->program;
  if (!pb_is_image(p->values[value].rank, v->image_rank)) return false;
  PB_FOR_USES (n, p, value) {
    const pb_nest* nest = &p->nests[n];
    pb_contraction_dims roles;
    if (v->program->gone[n] || nest->reduce == PB_SET) continue;
    if (pb_program_multiplies_weights(p, n)) return true;
    if (!pb_nest_contraction_dims(nest, NULL, &roles))
      return pb_is_image(pb_nest_store((pb_nest*)nest)->rank, v->image_rank);
  }
  return false;
}

// The dim along which the access's elements are neighbours, -1: none.
static int neighbours(const pb_nest* nest, const pb_access* access) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (nest->extent[d] > 1 && pb_access_stride(access, d) == 1) return d;
  return -1;
}

static bool uses_the_same(const pb_nest* nest, const pb_access* a, const pb_access* b) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (pb_access_uses(a, d) != pb_access_uses(b, d)) return false;
  return true;
}

// Whether `layout` packs the factor of this product: both are computed, there are many rows, and columns fill vectors.
static bool is_packed(const viewer* v, int n, int access) {
  const pb_nest* nest = &v->program->nests[n];
  pb_contraction_dims roles;
  if (!pb_nest_contraction_dims(nest, NULL, &roles) || roles.w != access) return false;
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles.role[d] == PB_ROLE_N && nest->extent[d] % v->lanes) return false;
  return pb_extent_of_role(nest, &roles, PB_ROLE_M) >= ROWS_FOR_A_COPY;
}

// Whether it is a product of one row, which `lanes` sums along what are then neighbours of both factors.
static bool is_summed_in_lanes(const viewer* v, int n, int access, const pb_access* now) {
  const pb_nest* nest = &v->program->nests[n];
  pb_contraction_dims roles;
  if (!pb_nest_contraction_dims(nest, NULL, &roles) || roles.w != access || nest->reduce != PB_ACC_ADD) return false;
  if (pb_extent_of_role(nest, &roles, PB_ROLE_M) > 1) return false;
  int d = neighbours(nest, now);
  return d >= 0 && roles.role[d] == PB_ROLE_K && pb_access_stride(&nest->access[roles.x], d) == 1 &&
         nest->extent[d] >= 2 * v->lanes;
}

// Whether the pointwise nest takes one tensor, in rows, as it stores: place by place.
static bool lies_in_rows(const pb_nest* nest, const pb_access* now) {
  if (nest->reduce != PB_SET || nest->access_count != 2 || now->rank != 2 || pb_nest_gathers(nest)) return false;
  return pb_same_places(nest, now, &nest->access[1]);
}

// Whether the copy puts a tensor inside borders, which a box can only say of one that lies in the same order.
static bool turns_inside_borders(const viewer* v, int n, const pb_access* now) {
  const pb_program* p = v->program;
  const pb_access* to = pb_nest_store(&p->nests[n]);
  bool borders = false, same = now->rank == to->rank;
  PB_FOR_USES (k, p, pb_program_stored(p, n)) borders |= k != n && pb_nest_is_fill(&p->nests[k]);
  for (int r = 0; r < to->rank && same; ++r)
    same = !memcmp(now->index[r].coef, to->index[r].coef, sizeof to->index[r].coef);
  return borders && !same;
}

// Whether copy n goes as its source lies, which is made for others too, while `now` has other neighbours: a mover would
// turn the elements round once more.
static bool turns_again(const viewer* v, int n, const pb_access* now) {
  const pb_program* p = v->program;
  const pb_nest* nest = &p->nests[n];
  bool others = false;
  PB_FOR_USES (k, p, p->value_of[n][0])
    others |= k != n && !v->program->gone[k] && !pb_program_writes(p, k, p->value_of[n][0]);
  return others && pb_same_places(nest, &nest->access[0], &nest->access[1]) &&
         neighbours(nest, now) != neighbours(nest, &nest->access[1]);
}

// Whether the copy spreads a smaller tensor and goes along its neighbours, which `now` takes away: the few elements are
// turned once, and what reads the spread ones can read them there, as the coordinates of each pair do.
static bool spreads_turned(const pb_nest* copy, const pb_access* was, const pb_access* now) {
  int d = neighbours(copy, &copy->access[1]);
  return d >= 0 && pb_nest_repeats(copy, was) && pb_access_stride(was, d) == 1 && pb_access_stride(now, d) > 1;
}

// Whether the nest goes on well with `now` in place of its load `a`.
static bool suits(const viewer* v, int n, int a, const pb_access* now) {
  const pb_nest* nest = &v->program->nests[n];
  const pb_access* was = &nest->access[a];
  pb_contraction_dims roles;
  bool copies = pb_copies_elements(nest);
  if (v->whole_rows)
    return copies ? !turns_inside_borders(v, n, now) && !turns_again(v, n, now) : lies_in_rows(nest, now);
  if (copies) return !spreads_turned(nest, was, now);
  if (pb_nest_contraction_dims(nest, NULL, &roles) && !uses_the_same(nest, was, now)) return false;
  if (is_packed(v, n, a) || is_summed_in_lanes(v, n, a, now)) return true;
  int d = neighbours(nest, was);
  int64_t stride = d < 0 ? 1 : pb_access_stride(now, d);
  return stride == 1 || stride == 0;
}

// Whether the nest works element by element: where that goes by rows of lanes `layout` packs its constants.
static bool is_pointwise(const pb_nest* nest) { return nest->reduce == PB_SET && !pb_nest_is_copy(nest); }

// Whether access `a` is a factor of a contraction, whose constants `layout` packs, wherever their dims stand.
static bool is_factor(const viewer* v, int n, int a) {
  pb_contraction_dims roles;
  return pb_nest_contraction_dims(&v->program->nests[n], NULL, &roles) && (a == roles.x || a == roles.w);
}

// Whether the copy writes the tensor as it is, but for dims of 1 that it adds.
static bool adds_dims(const pb_nest* copy) {
  const pb_access *from = &copy->access[0], *to = &copy->access[1];
  int r = 0;
  for (int q = 0; q < to->rank; ++q) {
    bool same = r < from->rank && from->shape[r] == to->shape[q] &&
                !memcmp(&from->index[r], &to->index[q], sizeof from->index[r]);
    if (same)
      ++r;
    else if (to->shape[q] != 1)
      return false;
  }
  return r == from->rank;
}

// Whether the copy only gives numbers that a unit makes of rows the rank of what they are of: it makes them so as well
// (reductions.c), and what reads them finds a number for each row.
static bool gives_rank(const viewer* v, int copy) {
  const pb_program* p = v->program;
  int from = p->value_of[copy][0], to = p->value_of[copy][1];
  if (!pb_program_is_local(p, to) || !adds_dims(&p->nests[copy]) || pb_program_only_reader(p, from) != copy)
    return false;
  PB_FOR_WRITERS (n, p, from)
    if (p->nests[n].reduce != PB_SET) return p->nests[n].access[0].rank == p->values[to].rank;
  return false;
}

// The load `a` of nest n through the copy that makes what it loads. false: it stays.
static bool look_through(viewer* v, int n, int a) {
  pb_program* p = v->program;
  pb_access now;
  int value = p->value_of[n][a], copy = pb_nest_is_fixed(&p->nests[n]) ? -1 : pb_program_source(p, n, a, &now);
  if (copy < 0) return false;
  int source = p->value_of[copy][0];
  bool constant = p->values[source].kind == PB_VALUE_CONST;
  bool packed = constant && v->whole_rows && is_pointwise(&p->nests[n]);
  bool number = constant && is_pointwise(&p->nests[n]) && pb_access_elements(&p->nests[copy].access[0]) == 1;
  if (constant ? !packed && !number && !is_factor(v, n, a) : has_channels(v, source) || has_channels(v, value))
    return false;
  if (!packed && (gives_rank(v, copy) || !suits(v, n, a, &now))) return false;
  pb_program_read_source(p, &v->unit->pass, n, a, copy, &now);
  return true;
}

// Whether the copy puts images and channels, into a tensor that is put together of such copies, where they are already
// but for whole registers of channels in front: it moves pixels, and what lies in blocks of channels lies so behind it.
static bool keeps_channels(const viewer* v, int copy) {
  const pb_access *from = &v->program->nests[copy].access[0], *to = from + 1;
  if (!v->joined[v->program->value_of[copy][1]] || from->rank != to->rank || !pb_is_image(from->rank, v->image_rank))
    return false;
  return from->shape[1] % v->lanes == 0 && to->index[1].cst % v->lanes == 0 && !from->index[1].cst &&
         !memcmp(&from->index[0], &to->index[0], sizeof from->index[0]) &&
         !memcmp(from->index[1].coef, to->index[1].coef, sizeof from->index[1].coef);
}

// Whether nest n is a copy that a mover carries out into `to` as well as where it goes now: channels that begin inside
// a row of lanes go through a plain tensor, which is the smaller the sooner they do.
static bool moves_rows(const viewer* v, int n, int to) {
  const pb_nest* nest = &v->program->nests[n];
  if (!pb_copies_elements(nest)) return false;
  return !v->joined[to] || !pb_is_image(nest->access[1].rank, v->image_rank) ||
         nest->access[1].index[1].cst % v->lanes == 0;
}

// Whether nest n makes such numbers, or what they begin with.
static bool makes_numbers(const viewer* v, int n, int copy) {
  const pb_nest* nest = &v->program->nests[n];
  return gives_rank(v, copy) && !v->joined[v->program->value_of[copy][1]] &&
         (nest->reduce != PB_SET || pb_nest_is_fill(nest));
}

// Whether whatever stores the value can store through the copy instead. Neighbours stay neighbours, which those of
// another copy need not be; nor need pixels, where a convolution makes them in blocks of channels.
static bool can_move(const viewer* v, int copy, const int* dim_of) {
  const pb_program* p = v->program;
  int value = p->value_of[copy][0];
  bool any = false, by_channels = has_channels(v, value) && keeps_channels(v, copy);
  PB_FOR_USES (n, p, value) {
    if (n == copy || v->program->gone[n]) continue;
    const pb_nest* nest = &p->nests[n];
    if (n > copy || pb_nest_is_fixed(nest) || !pb_program_writes(p, n, value) ||
        pb_access_can_leave(nest, &nest->access[nest->access_count - 1]))
      return false;
    if (v->whole_rows && !moves_rows(v, n, p->value_of[copy][1]) && !makes_numbers(v, n, copy)) return false;
    pb_access now = pb_access_compose(&nest->access[nest->access_count - 1], dim_of, &p->nests[copy].access[1]);
    int d = neighbours(nest, &nest->access[nest->access_count - 1]);
    if (d >= 0 && !pb_copies_elements(nest) && !by_channels && pb_access_stride(&now, d) != 1) return false;
    if (pb_program_load_of(p, n, value) >= 0) return false;
    any = true;
  }
  return any;
}

// Whether the tensor may be written where nest `first` stands already, and not only where the copy does.
static bool can_come_early(const viewer* v, int copy, int first) {
  const pb_program* p = v->program;
  int to = p->value_of[copy][1], writers = 0;
  PB_FOR_USES (n, p, to) {
    if (v->program->gone[n] || n == copy) continue;
    writers += pb_program_writes(p, n, to);
    if (n < first || n > copy) continue;
    if (!pb_program_writes(p, n, to) || !pb_stores_apart(&p->nests[n], &p->nests[copy])) return false;
  }
  return !writers || v->joined[to];
}

// What is only copied is made where the copy would put it.
static bool move_in(viewer* v, int copy) {
  pb_program* p = v->program;
  int from = p->value_of[copy][0], to = p->value_of[copy][1], dim_of[PB_NEST_RANK];
  if (!pb_program_is_local(p, from) || p->values[to].kind == PB_VALUE_CONST || pb_program_only_reader(p, from) != copy)
    return false;
  bool channels =
      has_channels(v, from) || has_channels(v, to) || (v->joined[to] && pb_is_image(p->values[to].rank, v->image_rank));
  if (channels && !keeps_channels(v, copy)) return false;
  int first = pb_program_next_use(p, from, -1);
  if (first >= copy || !can_come_early(v, copy, first)) return false;
  if (!pb_walks_elements(&p->nests[copy], &p->nests[copy].access[0], dim_of) || !can_move(v, copy, dim_of))
    return false;
  v->program->gone[copy] = true;
  PB_FOR_USES (n, p, from) {
    pb_access* store = pb_nest_store(&p->nests[n]);
    if (v->program->gone[n]) continue;
    *store = pb_access_compose(store, dim_of, &p->nests[copy].access[1]);
    pb_program_set_value(p, &v->unit->pass, n, p->nests[n].access_count - 1, to);
  }
  return true;
}

// Until no copy is left that can go: one may become the maker of what another one copies.
static bool move_all_in(viewer* v) {
  const pb_program* p = v->program;
  bool changed = false;
  for (bool more = true; more; changed |= more) {
    more = false;
    for (int n = 0; n < p->nest_count; ++n)
      if (!v->program->gone[n] && pb_copies_elements(&p->nests[n])) more |= move_in(v, n);
  }
  return changed;
}

// ---- dims that are joined ----

// The extent of the second of the last two dims of an image which the one nest that makes the value of it joins as its
// last; 0: it makes it otherwise.
static int64_t joined_dims(const viewer* v, int value) {
  const pb_program* p = v->program;
  int n = pb_program_only_writer(p, value), outer = -1, inner = -1;
  if (n < 0 || p->values[value].rank != 3) return 0;
  const pb_nest* nest = &p->nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  if (nest->reduce != PB_SET || pb_nest_is_fixed(nest) || nest->access_count < 2 || nest->access[0].rank != 4 ||
      store->index[2].cst)
    return 0;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (!store->index[2].coef[d]) continue;
    if ((store->index[2].coef[d] == 1 ? inner : outer) >= 0) return 0;
    *(store->index[2].coef[d] == 1 ? &inner : &outer) = d;
  }
  if (inner < 0 || outer < 0 || store->index[2].coef[outer] != nest->extent[inner]) return 0;
  bool whole = nest->extent[outer] * nest->extent[inner] == store->shape[2];
  return whole && pb_access_moves_only(store, 2, outer) && pb_access_moves_only(store, 2, inner) ? nest->extent[inner]
                                                                                                 : 0;
}

// The dim by which the nest, a copy, walks all of the last index of what it reads; -1: it is none.
static int walks_joined(const pb_nest* nest) {
  const pb_access* read = &nest->access[0];
  int dim = pb_copies_elements(nest) && nest->dim_count < PB_NEST_DIMS ? pb_access_whole_dim(nest, read, 2) : -1;
  return dim >= 0 && pb_access_moves_only(read, 2, dim) ? dim : -1;
}

// Whether an image whose lines and columns are joined on the way to copies keeps them apart, as it lies, and copies
// join them.
static bool part_dims(viewer* v, int value) {
  pb_program* p = v->program;
  int64_t inner = joined_dims(v, value);
  if (!inner) return false;
  PB_FOR_USES (n, p, value)
    if (!pb_program_writes(p, n, value) && walks_joined(&p->nests[n]) < 0) return false;
  PB_FOR_USES (n, p, value)
    if (!pb_program_writes(p, n, value)) pb_nest_cut_dim(&p->nests[n], walks_joined(&p->nests[n]), inner);
  pb_program_cut_value(p, value, 2, inner);
  return true;
}

static void find_joined(viewer* v) {
  const pb_program* p = v->program;
  v->joined = PB_NEW_ARRAY(&v->unit->pass, bool, (size_t)p->value_count + 1);
  for (int value = 0; value < p->value_count; ++value) {
    int copies = 0, others = 0;
    PB_FOR_WRITERS (n, p, value)
      if (!v->program->gone[n]) ++*(pb_copies_elements(&p->nests[n]) ? &copies : &others);
    v->joined[value] = copies > 1 && !others;
  }
}

bool pb_s3_views(pb_unit* unit, pb_program* p) {
  viewer v = {
      .unit = unit, .program = p, .lanes = pb_chip_lanes(unit->chip), .image_rank = pb_chip_image_rank(unit->chip)};
  v.whole_rows = pb_chip_whole_rows(unit->chip);
  bool changed = false;
  for (int value = 0; value < p->value_count; ++value) changed |= part_dims(&v, value);
  for (int n = 0; n < p->nest_count; ++n)
    for (int a = 0; a + 1 < p->nests[n].access_count; ++a)
      while (look_through(&v, n, a)) changed = true;
  changed |= pb_program_drop_copies(p);
  changed |= pb_fusion_narrow_copies(p, &unit->pass);
  find_joined(&v);
  return move_all_in(&v) || changed;
}

// Inside `layout`, in front of choosing: which dim of a tensor lies along the lanes is read off the roles of what
// touches it, not off its position. The last one of three or four, as of heads [1, h, t, c] or of a batch of rows
// [1, t, c]: those are rows. A convolution's channels are its second dim, and what goes element by element from and to
// such tensors has its lanes along them too. Where units take whole rows of lanes, rows become tensors of two dims
// (collapse.c) and all else lies in blocks of channels; where code also takes elements as they come, only channels do
// (choose.c).
#include "core/s3/layout/layout.h"

#include <string.h>

// Whether dims of the role walk the last index, and neither others do nor they another index.
static bool walk_last_alone(const pb_nest* nest, const pb_contraction_dims* roles, const pb_access* access,
                            pb_role role) {
  bool any = false;
  for (int d = 0; d < nest->dim_count; ++d)
    for (int r = 0; r < access->rank; ++r) {
      if (!access->index[r].coef[d]) continue;
      if ((r == access->rank - 1) != (roles->role[d] == role)) return false;
      any |= r == access->rank - 1;
    }
  return any;
}

// What a contraction says of the tensor that its access a walks. Weights that each channel of images has for itself
// walk channels, and so do those whose results' second dim is their columns, and no dim of a stack.
static pb_layout_lie of_contraction(const pb_layout* l, int n, const pb_contraction_dims* roles, int a) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* access = &nest->access[a];
  const pb_access* y = &nest->access[roles->y];
  bool weighs = pb__layout_weighs(l, n, roles), images = weighs && pb__layout_is_image(l, y->rank);
  if (weighs && pb__layout_dim_with(nest, roles, PB_ROLE_B, &access->index[1]) >= 0)
    return images ? PB_LIE_CHANNELS : PB_LIE_OTHERWISE;
  if (walk_last_alone(nest, roles, access, a == roles->y ? PB_ROLE_N : PB_ROLE_K) ||
      (a == roles->w && walk_last_alone(nest, roles, access, PB_ROLE_N)))
    return PB_LIE_ROWS;
  return images && pb__layout_dim_with(nest, roles, PB_ROLE_M, &y->index[1]) < 0 ? PB_LIE_CHANNELS : PB_LIE_OTHERWISE;
}

// Whether what the nest sums lies along the last dim alone, as a row's mean: that tells nothing of channels.
static bool sums_rows(const pb_nest* nest, const pb_access* access) {
  const pb_access* store = &nest->access[nest->access_count - 1];
  for (int d = 0; d < nest->dim_count; ++d)
    for (int r = 0; r + 1 < access->rank; ++r)
      if (access->index[r].coef[d] && !pb_access_uses(store, d)) return false;
  return true;
}

// Whether a part of the channels, or all of them, are the same dim of both.
static bool shares_channels(const pb_layout* l, const pb_access* x, const pb_access* y) {
  return pb__layout_is_image(l, x->rank) && y->rank == x->rank &&
         !memcmp(x->index[1].coef, y->index[1].coef, sizeof x->index[1].coef);
}

// Whether the nest takes sums or largest elements of windows or planes, channel by channel: where the second dim is
// one of the window's, as of images whose channels come last, it is no dim of channels. Rows that are summed for
// themselves, as softmax does, have their lanes along the row, and so have heads: their columns are lanes as they are.
static bool keeps_channels(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  int dim, last = store->rank - 1;
  if (!pb__layout_is_image(l, store->rank) || l->heads[pb__layout_edge_of(l, pb_program_stored(&l->program, n))])
    return false;
  bool rows = store->shape[last] == 1; // of each is one number left
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    const pb_access* x = &nest->access[a];
    rows &= sums_rows(nest, x);
    if (x->rank == store->rank && !shares_channels(l, x, store)) return false;
  }
  return !rows && pb_index_single(&store->index[1], &dim) && dim >= 0;
}

// Whether code has neighbours of long rows, which it sums or maximises, in lanes as they lie (lanes.c): blocks of
// channels would be two copies more, unless what else touches the tensor wants them.
static bool has_lanes_as_it_is(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  if (l->whole_rows) return false;
  for (int d = 0; d < nest->dim_count; ++d)
    if (pb_nest_reduces_over(nest, d) && nest->extent[d] >= 2 * l->lanes && pb_nest_walks_neighbours(nest, d, false))
      return true;
  return false;
}

pb_layout_lie pb__layout_said(const pb_layout* l, int n, int a) {
  const pb_nest* nest = &l->program.nests[n];
  pb_contraction_dims roles;
  if (nest->access[a].rank < 3) return PB_LIE_UNKNOWN;
  if (pb__layout_contraction_dims(l, n, &roles)) return of_contraction(l, n, &roles, a);
  if (nest->reduce == PB_SET) return PB_LIE_UNKNOWN;
  if (keeps_channels(l, n)) return has_lanes_as_it_is(l, n) ? PB_LIE_UNKNOWN : PB_LIE_CHANNELS;
  if (!sums_rows(nest, &nest->access[a])) return PB_LIE_OTHERWISE;
  bool channels = nest->access[a].rank > 3 && nest->access[a].shape[1] > 1; // more than one: images have them in lanes
  return channels ? PB_LIE_UNKNOWN : PB_LIE_ROWS;
}

static void say(pb_layout_lie* of, pb_layout_lie now, bool* changed) {
  if (now <= *of) return; // channels, once said, stay
  *of = now;
  *changed = true;
}

// Whole rows of lanes further on is alike too, as the halves of a head are to the head.
static bool goes_alike(const pb_layout* l, const pb_access* x, const pb_access* y) {
  const pb_index *a = &x->index[x->rank - 1], *b = &y->index[y->rank - 1];
  return !memcmp(a->coef, b->coef, sizeof a->coef) && (a->cst - b->cst) % l->lanes == 0;
}

// Whether what lies along the last dim of tensor v, and nothing else, lies along the matrix's, whose lanes are columns:
// as of heads, which are columns of one. An image that becomes a row lies so too, and has its lanes along its channels
// unless rows of it are whole rows of lanes.
static bool lies_along_columns(const pb_layout* l, int v, const pb_access* x, const pb_access* matrix) {
  int dim;
  if (x->rank < 3 || matrix->rank != 2) return false;
  bool heads = l->heads[v] || x->shape[x->rank - 1] % l->lanes == 0;
  return heads && pb_index_single(&x->index[x->rank - 1], &dim) && dim >= 0 && matrix->index[1].coef[dim] == 1;
}

// A number for each row lies as the rows do.
static void follow_rows(const pb_layout* l, int n, bool* changed) {
  const pb_nest* nest = &l->program.nests[n];
  const int* values = l->program.value_of[n];
  for (int a = 0; a < nest->access_count; ++a)
    for (int b = 0; b < nest->access_count; ++b)
      if (nest->access[a].rank > 2 && nest->access[a].shape[nest->access[a].rank - 1] == 1 &&
          l->lies[values[b]] == PB_LIE_ROWS && nest->access[b].rank == nest->access[a].rank)
        say(&l->lies[values[a]], PB_LIE_ROWS, changed);
}

// What of a lie goes from the one tensor of a nest to the other: channels by the second dims, and where the nest sets,
// and walks the last ones alike, all else, if only that they are no rows.
static pb_layout_lie carried(const pb_layout* l, const pb_nest* nest, const pb_access* x, const pb_access* y,
                             pb_layout_lie lie) {
  if (lie == PB_LIE_CHANNELS && shares_channels(l, x, y)) return lie;
  if (nest->reduce != PB_SET || x->rank < 3 || y->rank < 3 || !goes_alike(l, x, y)) return PB_LIE_UNKNOWN;
  return lie < PB_LIE_OTHERWISE ? lie : PB_LIE_OTHERWISE;
}

// kept: by value, what code has plainly, whatever lies along its lanes; it passes nothing on.
// Where commands take whole rows of lanes heads lie as the columns of the matrix that they are of.
static void carry(const pb_layout* l, int n, const bool* kept, bool* changed) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* y = &nest->access[nest->access_count - 1];
  int to = pb_program_stored(&l->program, n);
  bool columns = nest->reduce == PB_SET;
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    int from = l->program.value_of[n][a];
    if (columns && lies_along_columns(l, from, &nest->access[a], y)) say(&l->lies[from], PB_LIE_ROWS, changed);
    if (columns && lies_along_columns(l, to, y, &nest->access[a])) say(&l->lies[to], PB_LIE_ROWS, changed);
    if (!kept[from]) say(&l->lies[to], carried(l, nest, &nest->access[a], y, l->lies[from]), changed);
    if (!kept[to]) say(&l->lies[from], carried(l, nest, &nest->access[a], y, l->lies[to]), changed);
  }
  follow_rows(l, n, changed);
}

void pb__layout_find_lies(pb_layout* l) {
  const pb_program* p = &l->program;
  l->lies = PB_NEW_ARRAY(&l->unit->pass, pb_layout_lie, (size_t)p->value_count + 1);
  l->lie_count = p->value_count;
  bool changed = true, *kept = PB_NEW_ARRAY(&l->unit->pass, bool, (size_t)p->value_count + 1);
  for (int v = 0; v < p->value_count; ++v) kept[v] = !l->whole_rows && pb__layout_stays_plain(l, v);
  for (int n = 0; n < p->nest_count; ++n)
    for (int a = 0; a < p->nests[n].access_count; ++a)
      say(&l->lies[p->value_of[n][a]], pb__layout_said(l, n, a), &changed);
  while (changed) {
    changed = false;
    for (int n = 0; n < p->nest_count; ++n) carry(l, n, kept, &changed);
    for (int n = p->nest_count - 1; n >= 0; --n) carry(l, n, kept, &changed);
  }
}

bool pb__layout_has_channels(const pb_layout* l, int v) {
  v = pb__layout_edge_of(l, v);
  return v < l->lie_count && pb__layout_is_image(l, l->program.values[v].rank) && l->lies[v] == PB_LIE_CHANNELS;
}

// Turn: scores of attention with queries in lanes. Where a product of two computed tensors makes rows that are reduced,
// and summed over again by another product, its second factor, the keys, lies with what both factors share side by
// side. Lanes along keys want a copy of all keys in another order. Lanes along queries want that of the queries of one
// iteration alone, and what is reduced for a row is reduced for each lane by itself. Requires the program function in
// value form; leaves it in value form. Exact.
//
//   before   s[h, i, j] += q[h, i, d] * k[h, j, d];  m[h, i] max= s[h, i, j];  ..
//            y[h, i, e] += p[h, i, j] * v[h, j, e]
//   after    s[h, j, i] += k[h, j, d] * q[h, i, d];  m[h, i] max= s[h, j, i];  ..
//            y[h, i, e] += p[h, j, i] * v[h, j, e]
//
// Only where the copy of the keys is larger than a core's caches: smaller ones are soon read. Heads that share keys and
// values read them where they lie: what is between has an index for the group, g, and one for the head in it, h.
//
//   then     s[g, h, j, i] += k[g, j, d] * q[g * H + h, i, d];  ..  y[g * H + h, i, e] += p[g, h, j, i] * v[g, j, e]
#include "core/s3/chip_facts.h"
#include "core/s3/compose.h"
#include "core/s3/fusion/fusion.h"
#include "core/s3/kernel/contraction_dims.h"

#include <string.h>

typedef struct turner {
  pb_unit* unit;
  pb_program* program;
  int64_t lanes, near; // near: bytes of a core's caches
  bool* turned;        // by value: its last two indices change places
  bool* nests;         // by nest: it is walked so
  int* masks;          // by value: 1 + the constant that it is turned, 0: none is made
  int known;           // values before masks were turned
} turner;

// Rows and columns of a value as a nest walks them: dims, -1: the index has one element.
typedef struct plane {
  int row, column;
} plane;

// Whether the last two indices of the access are one dim each over the whole extent, or have one element.
static bool walks_plane(const pb_nest* nest, const pb_access* access, plane* at) {
  int* dims[2] = {&at->row, &at->column};
  for (int k = 0; k < 2 && access->rank >= 2; ++k) {
    int r = access->rank - 2 + k;
    *dims[k] = -1;
    if (access->shape[r] == 1) continue;
    if (!pb_index_single(&access->index[r], dims[k]) || *dims[k] < 0) return false;
    if (nest->extent[*dims[k]] != access->shape[r]) return false;
  }
  for (int r = 0; r + 2 < access->rank; ++r)
    for (int k = 0; k < 2; ++k)
      if (*dims[k] >= 0 && access->index[r].coef[*dims[k]]) return false;
  return access->rank >= 2 && pb_access_is_plain(access);
}

// The access of nest n where the elements that it reads come from, if a copy made of one tensor is all it reads: *copy,
// -1: as it is.
static pb_access source_of(const turner* t, int n, int a, int* copy) {
  pb_access source = t->program->nests[n].access[a];
  *copy = pb_program_source(t->program, n, a, &source);
  return source;
}

// Whether the copy makes several of what it reads: some dim walks what it makes alone.
static bool repeats(const pb_nest* copy) { return pb_nest_repeats(copy, &copy->access[0]); }

// The index of the tensor that the copy makes which several dims walk, in front of the last two. -1: there is none.
static int index_of_heads(const pb_access* to) {
  int dim;
  for (int r = 0; r + 2 < to->rank; ++r)
    if (to->shape[r] > 1 && !pb_index_single(&to->index[r], &dim)) return r;
  return -1;
}

// How far apart in memory the elements lie that dim d walks of access a, once it is read where these come from.
static int64_t stride_at_source(const turner* t, int n, int a, int d) {
  int copy, own, made = pb_program_only_writer(t->program, t->program->value_of[n][a]);
  pb_access source = source_of(t, n, a, &copy);
  if (copy >= 0 || made < 0 || made >= n || !pb_copies_elements(&t->program->nests[made]) ||
      !repeats(&t->program->nests[made]))
    return pb_access_stride(&source, d);
  const pb_access *from = &t->program->nests[made].access[0], *to = from + 1;
  for (int r = 0; r < to->rank; ++r) // heads are cut later; others walk as the copy does
    if (source.index[r].coef[d] == 1 && pb_index_single(&to->index[r], &own) && own >= 0)
      return pb_access_stride(from, own);
  return 0;
}

// Whether the nest makes scores: rows of the first factor by rows of the second one, whose copy is large.
static bool makes_scores(const turner* t, int n, plane* at) {
  const pb_program* p = t->program;
  const pb_nest* nest = &p->nests[n];
  pb_contraction_dims roles;
  int shared = -1, copy;
  if (!pb_nest_sums_products(nest) || !pb_nest_contraction_dims(nest, NULL, &roles)) return false;
  const pb_access *x = &nest->access[roles.x], *y = &nest->access[roles.y], w = source_of(t, n, roles.w, &copy);
  if (!pb_program_is_local(p, p->value_of[n][roles.y]) || !walks_plane(nest, y, at)) return false;
  if (at->row < 0 || at->column < 0 || y->type != PB_F32 || x->type != PB_F32 || w.type != PB_F32) return false;
  if (roles.role[at->row] != PB_ROLE_M || roles.role[at->column] != PB_ROLE_N) return false;
  for (int d = 0; d < nest->dim_count; ++d) {
    if ((roles.role[d] == PB_ROLE_M && d != at->row) || (roles.role[d] == PB_ROLE_N && d != at->column)) return false;
    if (roles.role[d] == PB_ROLE_K && stride_at_source(t, n, roles.w, d) == 1) shared = d;
  }
  for (int a = 0; a < 2; ++a)
    if (pb_program_is_const(p, n, a)) return false;
  int made = pb_program_only_writer(p, p->value_of[n][roles.w]);
  int copies = made >= 0 && repeats(&p->nests[made]) ? 2 : 1; // for heads that share keys values are copied, too
  return shared >= 0 && pb_access_stride(x, shared) == 1 && nest->extent[at->row] % t->lanes == 0 &&
         nest->extent[at->row] >= 4 * t->lanes && copies * pb_access_elements(&w) * 4 > t->near;
}

// Whether the nest sums over the columns of the value, as a product's rows, and is so the last that reads such values.
static bool is_last(const turner* t, int n, const plane* at) {
  const pb_nest* nest = &t->program->nests[n];
  pb_contraction_dims roles;
  return pb_nest_sums_products(nest) && pb_nest_contraction_dims(nest, NULL, &roles) && at->row >= 0 &&
         at->column >= 0 && t->turned[t->program->value_of[n][roles.x]] &&
         !t->turned[t->program->value_of[n][roles.w]] && roles.role[at->row] == PB_ROLE_M &&
         roles.role[at->column] == PB_ROLE_K;
}

// Whether it is a constant of rows and columns, as a mask is.
static bool is_mask(const turner* t, int n, int a, const plane* at) {
  const pb_nest* nest = &t->program->nests[n];
  const pb_value* value = &t->program->values[t->program->value_of[n][a]];
  plane own;
  return value->kind == PB_VALUE_CONST && value->const_id >= 0 && pb_type_bits(value->type) % 8 == 0 &&
         walks_plane(nest, &nest->access[a], &own) && at->row >= 0 && own.row == at->row && own.column == at->column;
}

// What a nest that walks turned values reads besides must not change with rows and columns side by side.
static bool reads_well(const turner* t, int n, int a, const plane* at) {
  const pb_access* access = &t->program->nests[n].access[a];
  bool row = at->row >= 0 && pb_access_uses(access, at->row);
  return (!row && !access->boxed && !access->gathered) || is_mask(t, n, a, at);
}

// Adds nest n, which reads or writes a turned value. false: it does not go so.
static bool add_nest(turner* t, int n, bool* more, bool* last) {
  const pb_program* p = t->program;
  const pb_nest* nest = &p->nests[n];
  plane all = {-1, -1}, at;
  if (pb_nest_is_fixed(nest)) return false;
  for (int a = 0; a < nest->access_count; ++a) {
    if (!t->turned[p->value_of[n][a]]) continue;
    if (!walks_plane(nest, &nest->access[a], &at)) return false;
    if ((all.row >= 0 && at.row >= 0 && at.row != all.row) ||
        (all.column >= 0 && at.column >= 0 && at.column != all.column))
      return false;
    if (at.row >= 0) all.row = at.row;
    if (at.column >= 0) all.column = at.column;
  }
  int stored = pb_program_stored(p, n), store = nest->access_count - 1;
  if (is_last(t, n, &all)) return *last = true;
  if (!t->turned[stored]) {
    if (!pb_program_is_local(p, stored) || !walks_plane(nest, &nest->access[store], &at) || at.row != all.row)
      return false;
    if (at.column >= 0 && at.column != all.column) return false;
    *more |= !t->turned[stored];
    t->turned[stored] = true;
  }
  t->nests[n] = true;
  return true;
}

// All values between the scores and the product that sums over them. false: some nest does not go so.
static bool follow(turner* t, int scores) {
  const pb_program* p = t->program;
  bool last = false;
  t->turned[pb_program_stored(p, scores)] = true;
  for (bool more = true; more;) {
    more = false;
    for (int n = 0; n < p->nest_count; ++n) {
      bool meets = false;
      for (int a = 0; a < p->nests[n].access_count; ++a) meets |= t->turned[p->value_of[n][a]];
      if (meets && n != scores && !add_nest(t, n, &more, &last)) return false;
    }
  }
  for (int n = 0; n < p->nest_count; ++n)
    for (int a = 0; t->nests[n] && a + 1 < p->nests[n].access_count; ++a) {
      plane at = {-1, -1};
      (void)walks_plane(&p->nests[n], &p->nests[n].access[p->nests[n].access_count - 1], &at);
      if (!t->turned[p->value_of[n][a]] && !reads_well(t, n, a, &at)) return false;
    }
  return last;
}

// The dims of a nest change places.
static void swap_dims(pb_nest* nest, int a, int b) {
  PB_SWAP(int64_t, nest->extent[a], nest->extent[b]);
  for (int k = 0; k < nest->access_count; ++k)
    for (int r = 0; r < nest->access[k].rank; ++r)
      PB_SWAP(int64_t, nest->access[k].index[r].coef[a], nest->access[k].index[r].coef[b]);
}

// Factor a of a product is read where it lies.
static void read_source(turner* t, int n, int a) {
  int copy;
  pb_access source = source_of(t, n, a, &copy);
  if (copy < 0) return;
  pb_program_read_source(t->program, &t->unit->pass, n, a, copy, &source);
  t->program->gone[copy] = pb_program_readers(t->program, pb_program_stored(t->program, copy)) == 0;
}

// The factors of a product change places; the second one is read where it lies.
static void swap_factors(turner* t, int n) {
  pb_contraction_dims roles;
  if (!pb_nest_contraction_dims(&t->program->nests[n], NULL, &roles)) return;
  read_source(t, n, roles.w);
  pb_nest* nest = &t->program->nests[n];
  int* of = t->program->value_of[n];
  PB_SWAP(pb_access, nest->access[0], nest->access[1]);
  PB_SWAP(int, of[0], of[1]);
}

// Factor a of a product that is a copy of each head for all heads that share it is read where it lies: heads become
// groups and heads of a group, in all that lies between.
static void share_heads(turner* t, int n, int a) {
  const pb_program* p = t->program;
  int made = pb_program_only_writer(p, p->value_of[n][a]);
  if (made < 0 || made >= n || !pb_copies_elements(&p->nests[made]) || !repeats(&p->nests[made])) return;
  int r = index_of_heads(&p->nests[made].access[1]);
  if (r >= 0 && !pb__cut_index(t->unit, t->program, made, 1, r)) return;
  read_source(t, n, a);
}

// The constant with its last two indices in the other order. Returns the value that it is.
static int turned_constant(turner* t, int v) {
  if (t->masks[v]) return t->masks[v] - 1;
  pb_consts* consts = t->unit->consts;
  pb_value value = t->program->values[v];
  int64_t rows = value.shape[value.rank - 2], columns = value.shape[value.rank - 1], planes = 1;
  size_t bytes = (size_t)pb_type_bits(value.type) / 8;
  for (int r = 0; r + 2 < value.rank; ++r) planes *= value.shape[r];
  const char* from = pb_const_data(consts, value.const_id);
  char* to = pb_alloc_raw(&consts->arena, (size_t)(planes * rows * columns) * bytes);
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        memcpy(to + (size_t)((p * columns + c) * rows + r) * bytes,
               from + (size_t)((p * rows + r) * columns + c) * bytes, bytes);
  PB_SWAP(int64_t, value.shape[value.rank - 2], value.shape[value.rank - 1]);
  int made =
      pb_program_add_const(t->program, &t->unit->pass, consts, "turned", value.type, value.rank, value.shape, to);
  t->masks[v] = 1 + made;
  return made;
}

// Masks of nest n, whose values are turned.
static void turn_masks(turner* t, int n) {
  pb_nest* nest = &t->program->nests[n];
  plane at;
  if (!walks_plane(nest, &nest->access[nest->access_count - 1], &at)) return;
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    pb_access* access = &nest->access[a];
    int v = t->program->value_of[n][a];
    if (t->turned[v] || !is_mask(t, n, a, &at)) continue;
    pb_program_set_value(t->program, &t->unit->pass, n, a, turned_constant(t, v));
    PB_SWAP(pb_index, access->index[access->rank - 2], access->index[access->rank - 1]);
    PB_SWAP(int64_t, access->shape[access->rank - 2], access->shape[access->rank - 1]);
  }
}

static void turn(turner* t, int scores) {
  pb_program* p = t->program;
  swap_factors(t, scores);
  for (int n = 0; n < p->nest_count; ++n)
    if (t->nests[n]) turn_masks(t, n);
  for (int n = 0; n < p->nest_count; ++n) {
    pb_nest* nest = &p->nests[n];
    plane at;
    bool walks = (t->nests[n] || n == scores) && walks_plane(nest, &nest->access[nest->access_count - 1], &at);
    for (int a = 0; a < nest->access_count; ++a) {
      pb_access* access = &nest->access[a];
      if (p->value_of[n][a] >= t->known || !t->turned[p->value_of[n][a]]) continue;
      PB_SWAP(pb_index, access->index[access->rank - 2], access->index[access->rank - 1]);
      PB_SWAP(int64_t, access->shape[access->rank - 2], access->shape[access->rank - 1]);
    }
    if (walks && at.row >= 0 && at.column >= 0) swap_dims(nest, at.row, at.column);
  }
  for (int v = 0; v < t->known; ++v)
    if (t->turned[v])
      PB_SWAP(int64_t, p->values[v].shape[p->values[v].rank - 2], p->values[v].shape[p->values[v].rank - 1]);
}

// Both products of scores: the one that makes them and those that take what is made of them. Returns whether keys are
// read by rows then.
static bool share_all_heads(turner* t, int scores) {
  const pb_program* p = t->program;
  for (int n = scores; n < p->nest_count; ++n) {
    bool takes = n == scores;
    for (int a = 0; a + 1 < p->nests[n].access_count; ++a)
      takes |= !t->nests[n] && p->value_of[n][a] < t->known && t->turned[p->value_of[n][a]];
    for (int a = 0; takes && a < 2; ++a)
      if (p->value_of[n][a] >= t->known || !t->turned[p->value_of[n][a]]) share_heads(t, n, a);
  }
  pb_contraction_dims roles;
  int copy, shared = 0;
  if (!pb_nest_contraction_dims(&p->nests[scores], NULL, &roles)) return false;
  pb_access keys = source_of(t, scores, roles.w, &copy);
  for (int d = 0; d < p->nests[scores].dim_count; ++d)
    shared += roles.role[d] == PB_ROLE_K && pb_access_stride(&keys, d) == 1;
  return shared > 0;
}

bool pb_s3_turn(pb_unit* unit, pb_program* p) {
  pb_vector_facts facts = pb_vector_facts_of(unit->chip);
  size_t values = (size_t)p->value_count + 1, nests = (size_t)p->nest_count + 1;
  turner t = {.unit = unit,
              .program = p,
              .lanes = facts.lanes,
              .near = facts.cache[1],
              .masks = PB_NEW_ARRAY(&unit->pass, int, 2 * values),
              .known = p->value_count};
  bool changed = false;
  for (int n = 0; n < p->nest_count; ++n) {
    plane at;
    if (!makes_scores(&t, n, &at)) continue;
    t.turned = PB_NEW_ARRAY(&unit->pass, bool, 2 * values); // with masks that are added
    t.nests = PB_NEW_ARRAY(&unit->pass, bool, nests);
    if (!follow(&t, n)) continue;
    changed = true;
    if (share_all_heads(&t, n)) turn(&t, n);
  }
  return changed;
}

// Align: what a pointwise nest reads and writes otherwise than in rows of lanes comes and goes by tensors of its own,
// which walk as the nest does: movers take any strides, units take rows of lanes. Requires the program function in
// value form, leaves it so. In front of layout, which puts these tensors into rows. Does nothing where code runs, as
// loads there take any strides too, and nothing to nests all of whose tensors lie alike. Rows that come several times
// are copied once: commands repeat them; a number for a long row is one row of lanes. Rows that hold a tensor's
// elements already, as a nest in front has left them, are not copied again.
//
//   before   y[i, j, k] = x[i, 0, k] * w[0, j, k]       of x: 20x1x40, w: 1x24x40
//   after    c[i, k] = x[i, 0, k];  d[j, k] = w[0, j, k];  s[24 i + j, k] = c[i, k] * d[j, k];  y[i, j, k] = s[24 i +
//   j, k]
#include "core/s3/compose.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/program.h"
#include "core/s3/transfer_paths.h"

#include <string.h>

enum { LONG_ROW = 16 }; // rows of lanes: fewer in a command take longer than the elements that are not moved

// A tensor of two dims that has a value's elements, in their order; value -1: there is none.
typedef struct lain {
  int value;
  int64_t shape[2];
} lain;

typedef struct aligner {
  pb_unit* unit;
  pb_program* from;
  pb_program to;      // its nests are those of `from` and the copies
  const bool* spread; // by value of `from`
  lain* rows;         // by value of `from`
} aligner;

// Of one tensor alone (`only`) layout makes rows whatever the ranks are.
static bool same_places(const pb_nest* nest, const pb_access* a, const pb_access* b, bool only) {
  if (!only && (a->rank != b->rank || memcmp(a->shape, b->shape, sizeof(int64_t) * (size_t)a->rank))) return false;
  return pb_same_places(nest, a, b);
}

// One number for each row.
static bool is_by_row(const pb_access* read, const pb_access* store) {
  return read->rank == 2 && store->rank == 2 && read->shape[1] == 1 && store->shape[1] > 1;
}

// Whether the nest makes numbers of rows in rows of lanes, each in all lanes of one (rows.c): of what it takes of a row
// together, or of such numbers alone.
static bool makes_spread(const pb_program* p, int n, const bool* spread) {
  const pb_nest* nest = &p->nests[n];
  pb_contraction_dims roles;
  bool any = false;
  if (nest->reduce != PB_SET) return nest->access[0].rank == 2 && !pb_nest_contraction_dims(nest, NULL, &roles);
  for (int k = 0; k + 1 < nest->access_count; ++k) {
    int v = p->value_of[n][k];
    if (p->values[v].kind == PB_VALUE_CONST) continue;
    if (!spread[v]) return false;
    any = true;
  }
  return any;
}

// Which locals all of whose nests, but what sets one number, make them so. Nests stand behind those that make what they
// read.
static const bool* find_spread(const pb_program* p, pb_arena* arena) {
  bool *spread = PB_NEW_ARRAY(arena, bool, (size_t)p->value_count + 1),
       *other = PB_NEW_ARRAY(arena, bool, (size_t)p->value_count + 1);
  for (int n = 0; n < p->nest_count; ++n) {
    int v = pb_program_stored(p, n);
    if (!pb_program_is_local(p, v) || p->nests[n].access_count < 2) continue;
    other[v] |= !makes_spread(p, n, spread);
    spread[v] = !other[v];
  }
  return spread;
}

static bool walks_all(const pb_nest* nest, const pb_access* store) {
  return store->rank >= 2 && pb_nest_iterations(nest) == pb_access_elements(store);
}

// How layout will have a tensor that is read element by element: inputs of words as they come, codes and what copies
// put together in rows of lanes. What is computed follows from others.
typedef enum lies { EITHER, PLAIN, ROWS } lies;

static lies lies_of(const aligner* a, int v) {
  const pb_value* value = &a->from->values[v];
  if (value->kind == PB_VALUE_INPUT) return value->type == PB_I8 ? ROWS : PLAIN;
  if (value->kind != PB_VALUE_LOCAL) return EITHER;
  PB_FOR_USES (n, a->from, v) {
    const pb_nest* nest = &a->from->nests[n];
    if (pb_program_writes(a->from, n, v) && (nest->expr_count > 1 || nest->access_count != 2)) return EITHER;
  }
  return ROWS;
}

static bool lie_apart(const aligner* a, int n) {
  bool seen[ROWS + 1] = {false};
  for (int k = 0; k + 1 < a->from->nests[n].access_count; ++k) seen[lies_of(a, a->from->value_of[n][k])] = true;
  return seen[PLAIN] && seen[ROWS];
}

// Numbers of rows out of what no command takes (row_numbers.c): another target's, which walks as they come.
static bool makes_row_numbers(const aligner* a, const pb_nest* nest) {
  bool wide = false;
  for (int k = 0; k + 1 < nest->access_count; ++k) wide |= nest->access[k].type == PB_I64;
  return wide && pb_chip_gathers(a->unit->chip);
}

// Whether the nest reads one tensor, beside constants.
static bool is_only_tensor(const aligner* a, int n) {
  int tensors = 0;
  for (int k = 0; k + 1 < a->from->nests[n].access_count; ++k) tensors += !pb_program_is_const(a->from, n, k);
  return tensors == 1;
}

// Whether the access walks rows of a tensor of two dims along the last loop.
static bool walks_rows(const pb_nest* nest, const pb_access* access) {
  int d = access->rank == 2 ? pb_access_whole_dim(nest, access, 1) : -1;
  return d >= 0 && d == nest->dim_count - 1 && !access->index[0].coef[d];
}

// Whether rows of what is read come several times each, which commands do by a stride of 0.
static bool repeats_rows(const pb_nest* nest, const pb_access* read, const pb_access* store) {
  return pb_nest_repeats(nest, read) && walks_rows(nest, read) && walks_rows(nest, store);
}

// Whether layout has a way to bring what access k reads into the lanes of what the nest stores.
static bool lies_along(const aligner* a, int n, int k) {
  const pb_nest* nest = &a->from->nests[n];
  const pb_access *read = &nest->access[k], *store = &nest->access[nest->access_count - 1];
  int v = a->from->value_of[n][k];
  bool by_row = is_by_row(read, store);
  if (a->from->values[v].kind == PB_VALUE_CONST) return !by_row || store->shape[0] == 1;
  bool rows = pb_program_is_local(a->from, v) && repeats_rows(nest, read, store);
  return rows || same_places(nest, read, store, is_only_tensor(a, n)) ||
         (pb_repeats_along(read, store) && (!by_row || a->spread[v]));
}

static bool is_aligned(const aligner* a, int n) {
  const pb_nest* nest = &a->from->nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  if (nest->reduce != PB_SET || pb_nest_is_fixed(nest) || nest->expr_count < 2 || nest->access_count < 2) return true;
  if (makes_row_numbers(a, nest)) return true;
  for (int k = 0; k + 1 < nest->access_count; ++k)
    if (nest->access[k].boxed || nest->access[k].splat) return true;
  if (!walks_all(nest, store) || lie_apart(a, n)) return false;
  for (int k = 0; k + 1 < nest->access_count; ++k)
    if (!lies_along(a, n, k)) return false;
  return true;
}

// A tensor with a row for every iteration of the loops around the last one that the access walks: units repeat rows.
static int add_rows(aligner* a, const pb_nest* nest, const pb_access* of, pb_access* walk) {
  int index_of[PB_NEST_DIMS] = {0};
  for (int d = 0; d < nest->dim_count; ++d) index_of[d] = nest->extent[d] > 1 && !pb_access_uses(of, d) ? -1 : 0;
  index_of[nest->dim_count - 1] = 1;
  *walk = pb_access_of_matrix(nest, of->type, index_of);
  return pb_program_add_local(&a->to, &a->unit->pass, walk);
}

// A loop of one iteration around the others: rows and lanes are two dims.
static void add_outer_loop(pb_nest* nest) {
  int column[PB_NEST_DIMS];
  for (int d = 0; d < nest->dim_count; ++d) column[d] = d + 1;
  for (int k = 0; k < nest->access_count; ++k) pb_access_renumber(&nest->access[k], column, nest->dim_count);
  memmove(nest->extent + 1, nest->extent, sizeof *nest->extent * (size_t)nest->dim_count);
  nest->extent[0] = 1;
  ++nest->dim_count;
}

// Whether the numbers of rows are all that lies otherwise than the nest walks.
static bool lacks_rows_alone(const aligner* a, int n) {
  const pb_nest* nest = &a->from->nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  bool rows = walks_all(nest, store) && !lie_apart(a, n);
  for (int k = 0; k + 1 < nest->access_count && rows; ++k)
    rows = is_by_row(&nest->access[k], store) || lies_along(a, n, k);
  return rows;
}

// Each number of a row comes to all of its row, in a tensor that lies as what is stored.
static void spread_rows(aligner* a, int n) {
  pb_nest nest;
  int value_of[PB_NEST_ACCESSES];
  pb_nest_copy(&nest, &a->from->nests[n]);
  memcpy(value_of, a->from->value_of[n], sizeof value_of);
  const pb_access store = *pb_nest_store(&nest);
  for (int k = 0; k + 1 < nest.access_count; ++k) {
    if (lies_along(a, n, k)) continue;
    pb_access was = nest.access[k], walk = store;
    walk.type = was.type;
    walk.memref = (MlirValue){NULL};
    int v = pb_program_add_local(&a->to, &a->unit->pass, &walk);
    pb_program_add_copy(&a->to, &nest, &was, value_of[k], &walk, v);
    nest.access[k] = walk;
    value_of[k] = v;
  }
  (void)pb_program_add_nest(&a->to, &nest, value_of);
}

// Whether some tensor comes as one number for all that the last loop walks, and nothing of a constant is cut by it.
static bool has_number(const aligner* a, const pb_nest* nest, const int* value_of) {
  const int last = nest->dim_count - 1;
  bool any = false;
  for (int k = 0; k + 1 < nest->access_count; ++k) {
    bool constant = a->from->values[value_of[k]].kind == PB_VALUE_CONST, walks = pb_access_uses(&nest->access[k], last);
    if (constant && walks) return false;
    any |= !constant && !walks;
  }
  return any;
}

// Units repeat rows: of a number that stands for a long one, one row of lanes is enough.
static void cut_long_rows(const aligner* a, pb_nest* nest, const int* value_of) {
  const int last = nest->dim_count - 1;
  const int64_t lanes = pb_chip_lanes(a->unit->chip), rows = nest->extent[last] / lanes;
  bool cuts = rows > 1 && rows * nest->extent[last - 1] >= LONG_ROW && nest->extent[last] % lanes == 0 &&
              nest->dim_count < PB_NEST_DIMS;
  if (cuts && has_number(a, nest, value_of)) pb_nest_cut_dim(nest, last, lanes);
}

// Notes that the rows have the elements of a value in their order, as the nest walks both.
static void note_rows(aligner* a, const pb_nest* nest, int v, const pb_access* was, int rows, const pb_access* walk) {
  if (!pb_program_is_local(a->from, v) || !pb_same_places(nest, was, walk)) return;
  a->rows[v] = (lain){rows, {walk->shape[0], walk->shape[1]}};
}

// What the nest reads by this access, in rows: those that are there already, or a copy.
static int bring_rows(aligner* a, const pb_nest* nest, const pb_access* was, int v, pb_access* walk) {
  const lain* there = &a->rows[v];
  int rows = add_rows(a, nest, was, walk);
  bool same = there->value >= 0 && there->shape[0] == walk->shape[0] && there->shape[1] == walk->shape[1];
  if (same && pb_same_places(nest, was, walk)) return there->value;
  pb_program_add_copy(&a->to, nest, was, v, walk, rows);
  note_rows(a, nest, v, was, rows, walk);
  return rows;
}

static void align(aligner* a, int n) {
  pb_nest nest;
  int value_of[PB_NEST_ACCESSES], stored = a->from->value_of[n][a->from->nests[n].access_count - 1];
  pb_nest_copy(&nest, &a->from->nests[n]);
  memcpy(value_of, a->from->value_of[n], sizeof value_of);
  while (nest.dim_count < 2) add_outer_loop(&nest);
  cut_long_rows(a, &nest, value_of);
  for (int k = 0; k + 1 < nest.access_count; ++k) {
    if (a->from->values[value_of[k]].kind == PB_VALUE_CONST &&
        !is_by_row(&nest.access[k], &a->from->nests[n].access[nest.access_count - 1]))
      continue;
    pb_access walk, was = nest.access[k];
    value_of[k] = bring_rows(a, &nest, &was, value_of[k], &walk);
    nest.access[k] = walk;
  }
  pb_access walk, was = *pb_nest_store(&nest);
  int rows = add_rows(a, &nest, &was, &walk);
  *pb_nest_store(&nest) = walk;
  value_of[nest.access_count - 1] = rows;
  (void)pb_program_add_nest(&a->to, &nest, value_of);
  pb_program_add_copy(&a->to, &nest, &walk, rows, &was, stored);
  if (pb_program_only_writer(a->from, stored) == n) note_rows(a, &nest, stored, &was, rows, &walk);
}

// A nest of one tensor, which takes rows whatever the ranks are, reads the rows that are there already. false: there
// are none, or it walks them otherwise.
static bool read_rows(aligner* a, int n) {
  const pb_nest* from = &a->from->nests[n];
  int value_of[PB_NEST_ACCESSES], index_of[PB_NEST_DIMS] = {0}, v = -1;
  pb_nest nest;
  for (int k = 0; k + 1 < from->access_count; ++k) {
    if (pb_program_is_const(a->from, n, k) ? pb_access_uses(&from->access[k], from->dim_count - 1)
                                           : v >= 0 && a->from->value_of[n][k] != v)
      return false;
    if (!pb_program_is_const(a->from, n, k)) v = a->from->value_of[n][k];
  }
  if (v < 0 || a->rows[v].value < 0 || from->reduce != PB_SET || from->expr_count < 2 ||
      !pb_program_is_local(a->from, pb_program_stored(a->from, n)))
    return false;
  const lain* rows = &a->rows[v];
  pb_nest_copy(&nest, from);
  memcpy(value_of, a->from->value_of[n], sizeof value_of);
  while (nest.dim_count < 2) add_outer_loop(&nest);
  if (nest.extent[nest.dim_count - 1] != rows->shape[1]) {
    if (nest.extent[nest.dim_count - 1] % rows->shape[1] || nest.dim_count == PB_NEST_DIMS) return false;
    pb_nest_cut_dim(&nest, nest.dim_count - 1, rows->shape[1]);
  }
  index_of[nest.dim_count - 1] = 1;
  for (int k = 0; k + 1 < nest.access_count; ++k) {
    if (value_of[k] != v) continue;
    pb_access walk = pb_access_of_matrix(&nest, nest.access[k].type, index_of);
    if (nest.access[k].boxed || walk.shape[0] != rows->shape[0] || !pb_same_places(&nest, &nest.access[k], &walk))
      return false;
    nest.access[k] = walk;
    value_of[k] = rows->value;
  }
  (void)pb_program_add_nest(&a->to, &nest, value_of);
  return true;
}

bool pb_s3_align(pb_unit* unit, pb_program* p) {
  aligner a = {.unit = unit, .from = p, .spread = find_spread(p, &unit->pass)};
  bool any = false;
  a.rows = PB_NEW_ARRAY(&unit->pass, lain, (size_t)p->value_count + 1);
  for (int v = 0; v < p->value_count; ++v) a.rows[v].value = -1;
  for (int n = 0; n < p->nest_count && !any; ++n) any = !is_aligned(&a, n);
  if (!any) return false;
  pb_program_begin_nests(p, &unit->pass, &a.to);
  for (int n = 0; n < p->nest_count; ++n)
    if (!is_aligned(&a, n))
      (lacks_rows_alone(&a, n) ? spread_rows : align)(&a, n);
    else if (!read_rows(&a, n))
      (void)pb_program_add_nest(&a.to, &p->nests[n], p->value_of[n]);
  *p = a.to;
  pb_program_index(p, &unit->pass);
  (void)pb_program_drop_copies(p);
  return true;
}

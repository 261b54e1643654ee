// Lanes: a sum or a maximum of neighbours in memory is taken in a register's lanes first, then of the lanes. Requires
// the program function in value form, laid out; leaves it so. Only on chips with vector registers, and only where no
// other dim could be the lanes. Sums are taken in another order; maxima are the same.
//
//   before   y[i] = 0;  y[i] += f(x[i, k])                                            k < 40, 16 lanes
//   after    t[i, l] = 0;  t[i, l] += f(x[i, 16 b + l])                               b < 2, l < 16
//            t[i, 16 + r] = f(x[i, 32 + r])                                           r < 8
//            y[i] = 0;  y[i] += t[i, j]                                               j < 24
//
// Where the sum has other dims too, or the rest fills registers of its own, the rest is summed over them in lanes
// apart, r[i, l], and t begins as that with neutral numbers behind it: a rest for each of the other dims' iterations
// would be as long as the rows are short. The sum of all of a tensor goes on in several registers, as each waits for
// its last addition: b goes by four of them, and l to 64.
//
// What the sum takes twice so, whole registers and the rest, cannot be made tile by tile by a stage in front of it:
// where a pointwise nest makes it for the sum alone, the sum computes it.
//
// Where a matrix of short rows meets a vector, summing the lanes would take longer than the products, number by number:
// t is turned round first, u[j, i] = t[i, j], so that rows are in lanes from there on.
#include "core/s3/chip_facts.h"
#include "core/s3/compose.h"
#include "core/s3/kernel/around.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/join.h"
#include "core/s3/program.h"
#include "core/s3/s3.h"

#include <string.h>

enum {
  SHORT = 4,  // registers of a row: of longer ones the products take longest
  TURNS = 16, // of each such register at least: adding these up comes on top
  AHEAD = 4,  // registers in which sums of one result go on: as many additions as one takes cycles
};

typedef struct laner {
  pb_unit* unit;
  pb_program *program, to;
  int64_t lanes;
} laner;

// Products have their columns in lanes; one of a single row, or of few columns, may do without.
static bool has_columns(const laner* l, const pb_nest* nest) {
  pb_contraction_dims roles;
  return pb_nest_contraction_dims(nest, NULL, &roles) && pb_extent_of_role(nest, &roles, PB_ROLE_M) > 1 &&
         pb_extent_of_role(nest, &roles, PB_ROLE_N) * 4 > l->lanes;
}

// Whether lanes hold elements of the type: of 32 bits, narrower whole numbers as well, and f64, whose loops are plain.
static bool fills_lanes(pb_type type) {
  return pb_type_bits(type) == 32 || type == PB_F64 || type == PB_I16 || type == PB_UI16 || type == PB_I8 || type == PB_UI8;
}

// The summed dim of neighbours that becomes lanes, -1: none, or there is no need.
static int neighbours(const laner* l, int n) {
  const pb_nest* nest = &l->program->nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  int found = -1;
  if (nest->reduce == PB_SET || pb_program_is_fixed(l->program, n) || nest->dim_count == PB_NEST_DIMS ||
      has_columns(l, nest) || !fills_lanes(store->type))
    return -1;
  int64_t sums = pb_nest_steps(nest);
  for (int d = 0; d < nest->dim_count; ++d) {
    bool summed = !pb_access_uses(store, d), whole = nest->extent[d] == l->lanes && sums >= 2 * l->lanes;
    if (!summed && nest->extent[d] >= l->lanes && pb_nest_walks_neighbours(nest, d, true)) return -1;
    if (summed && (whole || nest->extent[d] >= 2 * l->lanes) && pb_nest_walks_neighbours(nest, d, false)) found = d;
  }
  return found;
}

// Where partial results lie: a row of them for each result.
static pb_access rows_for(const pb_nest* nest, int dim, int64_t width) {
  const pb_access* store = &nest->access[nest->access_count - 1];
  pb_access rows = {.type = store->type, .buffer = -1};
  for (int d = 0; d < nest->dim_count; ++d) {
    if (d == dim || !pb_access_uses(store, d)) continue;
    rows.index[rows.rank].coef[d] = 1;
    rows.shape[rows.rank++] = nest->extent[d];
  }
  rows.shape[rows.rank++] = width;
  return rows;
}

// The nest's accesses, its dim `dim` replaced by scale * dim + shift, `lane` (-1: none) added to it.
static void move(const pb_nest* nest, int dim, int64_t scale, int64_t shift, int lane, pb_nest* out) {
  pb_nest_copy(out, nest);
  for (int a = 0; a < out->access_count; ++a)
    for (int r = 0; r < out->access[a].rank; ++r) {
      pb_index* index = &out->access[a].index[r];
      int64_t coef = index->coef[dim];
      index->cst += coef * shift;
      if (lane >= 0) index->coef[lane] = coef;
      index->coef[dim] = coef * scale;
    }
}

// The index of partial results that is a matrix's row, where rows are short and their results neighbours; -1: else.
static int short_rows(const laner* l, const pb_nest* nest, const pb_access* rows) {
  const pb_access* store = &nest->access[nest->access_count - 1];
  pb_contraction_dims roles;
  if (!pb_nest_contraction_dims(nest, NULL, &roles) || pb_extent_of_role(nest, &roles, PB_ROLE_N) > 1 ||
      pb_nest_steps(nest) > SHORT * l->lanes)
    return -1;
  for (int d = 0; d < nest->dim_count; ++d)
    for (int r = 0; r + 1 < rows->rank; ++r)
      if (rows->index[r].coef[d] && pb_access_stride(store, d) == 1 && nest->extent[d] >= l->lanes) return r;
  return -1;
}

// Appends a nest that sets the first `count` elements of each of the rows to those of others, whose index `row` is the
// last one in place of it: of the last one itself they lie alike.
static void copy_rows(laner* l, const char* name, const char* part, const pb_access* from, int from_value, int row,
                      const pb_access* to, int to_value, int64_t count) {
  int last = to->rank - 1;
  pb_nest copy;
  pb_nest_begin(&copy, name, part, 2);
  copy.access[0] = *from;
  copy.access[1] = *to;
  for (int r = 0; r <= last; ++r) {
    int of = r == row ? last : r == last ? row : r, d = pb_nest_add_dim(&copy, r < last ? to->shape[r] : count);
    memset(&copy.access[0].index[of], 0, sizeof(pb_index));
    memset(&copy.access[1].index[r], 0, sizeof(pb_index));
    copy.access[0].index[of].coef[d] = copy.access[1].index[r].coef[d] = 1;
  }
  (void)pb_nest_load(&copy, 0);
  (void)pb_program_add_nest(&l->to, &copy, (const int[PB_NEST_ACCESSES]){from_value, to_value});
}

// Partial results with the index `row` last: *rows becomes what the value that is returned is.
static int turn_round(laner* l, const pb_nest* nest, int row, pb_access* rows, int made) {
  int last = rows->rank - 1;
  pb_access turned = *rows;
  PB_SWAP(int64_t, turned.shape[row], turned.shape[last]);
  PB_SWAP(pb_index, turned.index[row], turned.index[last]);
  int value = pb_program_add_local(&l->to, &l->unit->pass, &turned);
  copy_rows(l, nest->name, "copy", rows, made, row, &turned, value, turned.shape[last]);
  *rows = turned;
  return value;
}

// The iterations of summed dims other than `dim`.
static int64_t other_steps(const pb_nest* nest, int dim) { return pb_nest_steps(nest) / nest->extent[dim]; }

// How many lanes sum next to each other. Of one result several registers', which do not wait for each other as tiles of
// several results do not.
static int64_t width_of(const laner* l, const pb_nest* nest, int dim) {
  int64_t registers = pb_nest_results(nest) == 1 ? AHEAD : 1, steps = pb_nest_steps(nest);
  while (registers > 1 && (nest->extent[dim] < registers * l->lanes || steps < TURNS * registers * l->lanes))
    registers /= 2;
  return l->lanes * registers;
}

// Appends the nest, of which the loop over `dim` goes from `first` on, by `step`, `count` times, and `lane` (-1: none)
// goes on by one: onto rows.
static pb_nest* add_part(laner* l, int n, int dim, int64_t first, int64_t step, int64_t count, int lane,
                         const pb_access* rows, int made) {
  pb_nest part;
  move(&l->program->nests[n], dim, step, first, lane, &part);
  part.extent[dim] = count;
  *pb_nest_store(&part) = *rows;
  pb_nest* added = pb_program_add_nest(&l->to, &part, l->program->value_of[n]);
  l->to.value_of[l->to.nest_count - 1][part.access_count - 1] = made;
  return added;
}

// Appends the sum of such a part, by so many lanes.
static pb_nest* add_sum(laner* l, int n, int dim, int64_t first, int64_t step, int64_t count, int64_t lanes,
                        const pb_access* rows, int made) {
  int lane = l->program->nests[n].dim_count;
  pb_nest* part = add_part(l, n, dim, first, step, count, lane, rows, made);
  part->extent[part->dim_count++] = lanes;
  pb_nest_store(part)->index[rows->rank - 1].coef[lane] = 1;
  return part;
}

// Sets those of each row's elements from `low` to `high` to where sums begin.
static void begin_neutral(laner* l, const pb_nest* nest, const pb_access* rows, int made, int64_t low, int64_t high) {
  int64_t from[PB_NEST_RANK] = {0}, to[PB_NEST_RANK];
  memcpy(to, rows->shape, sizeof to);
  from[rows->rank - 1] = low;
  to[rows->rank - 1] = high;
  (void)pb_program_add_fill(&l->to, nest->name, low ? "pad" : "init", made, from, to,
                            pb_reduce_neutral(nest->reduce, rows->type));
}

// The rest behind the last whole row of lanes is summed over the other dims, and rows begin as that.
static void begin_as_rest(laner* l, int n, int dim, const pb_access* rows, int made) {
  const pb_nest* nest = &l->program->nests[n];
  int last = rows->rank - 1;
  int64_t width = rows->shape[last], rest = nest->extent[dim] % width;
  pb_access few = *rows;
  few.shape[last] = rest;
  int sums = pb_program_add_local(&l->to, &l->unit->pass, &few);
  int filled = pb_program_add_local(&l->to, &l->unit->pass, rows);
  begin_neutral(l, nest, &few, sums, 0, rest);
  add_sum(l, n, dim, nest->extent[dim] - rest, 0, 1, rest, &few, sums)->macs = 0; // counted below
  begin_neutral(l, nest, rows, filled, rest, width);                              // lanes that the rest does not reach
  copy_rows(l, nest->name, "copy", &few, sums, last, rows, filled, rest);
  copy_rows(l, nest->name, "init", rows, filled, last, rows, made, width);
}

// Sets the elements of the row behind its whole registers to what the sum's rest is made of.
static void set_rest(laner* l, int n, int dim, int64_t rest, const pb_access* rows, int made) {
  int last = rows->rank - 1;
  pb_nest* part = add_part(l, n, dim, l->program->nests[n].extent[dim] - rest, 1, rest, -1, rows, made);
  pb_nest_set_alone(part);
  pb_nest_store(part)->index[last].coef[dim] = 1;
  pb_nest_store(part)->index[last].cst = rows->shape[last] - rest;
}

static void add_in_lanes(laner* l, int n, int dim) {
  const pb_nest* nest = &l->program->nests[n];
  int64_t width = width_of(l, nest, dim), whole = nest->extent[dim] / width, rest = nest->extent[dim] % width;
  bool apart = rest && (other_steps(nest, dim) > 1 || rest > l->lanes);
  pb_access rows = rows_for(nest, dim, width + (apart ? 0 : rest));
  int last = rows.rank - 1, y = pb_program_stored(l->program, n);
  int made = pb_program_add_local(&l->to, &l->unit->pass, &rows);
  if (apart)
    begin_as_rest(l, n, dim, &rows, made);
  else
    begin_neutral(l, nest, &rows, made, 0, width);
  (void)add_sum(l, n, dim, 0, width, whole, width, &rows, made);
  if (rest && !apart) set_rest(l, n, dim, rest, &rows, made);
  int row = short_rows(l, nest, &rows);
  if (row >= 0) {
    made = turn_round(l, nest, row, &rows, made);
    last = row;
  }
  pb_nest part;
  pb_nest_copy(&part, nest);
  part.expr_count = 0;
  part.access_count = 2;
  part.access[0] = rows;
  part.access[0].index[last].coef[dim] = 1;
  part.access[1] = nest->access[nest->access_count - 1];
  part.extent[dim] = rows.shape[last];
  part.macs = 0;
  (void)pb_nest_load(&part, 0);
  for (int d = part.dim_count - 1; d >= 0; --d)
    if (d != dim && !pb_access_uses(&rows, d)) pb_nest_remove_dim(&part, d); // summed over already
  (void)pb_program_add_nest(&l->to, &part, (const int[PB_NEST_ACCESSES]){made, y});
}

// Sums with a rest compute what pointwise nests make for them alone, as long as they have neighbours to take.
static void take_makers(laner* l) {
  pb_program* p = l->program;
  pb_join* join = pb_join_begin(p, &l->unit->pass);
  for (int n = 0; n < p->nest_count; ++n) {
    int dim = neighbours(l, n);
    if (dim < 0 || p->nests[n].extent[dim] % width_of(l, &p->nests[n], dim) == 0) continue;
    for (int a = 0; a + 1 < p->nests[n].access_count; ++a) {
      if (!pb_join_find(join, n, a) || pb_program_is_reduced(p, p->value_of[n][a]) || !pb_join_make(join) ||
          !pb_nest_walks_neighbours(&join->out, dim, false))
        continue;
      pb_join_keep(join, &l->unit->pass);
      p->gone[join->maker] = true;
      a = -1; // it takes what the maker took
    }
  }
}

bool pb_s3_lanes(pb_unit* unit, pb_program* p) {
  laner l = {.unit = unit, .program = p, .lanes = pb_vector_facts_of(unit->chip).lanes};
  take_makers(&l);
  bool any = false;
  for (int n = 0; n < p->nest_count && !any; ++n) any = neighbours(&l, n) >= 0;
  if (!any) return false;
  pb_program_begin_nests(p, &unit->pass, &l.to);
  for (int n = 0; n < p->nest_count; ++n) {
    int dim = neighbours(&l, n);
    if (p->gone[n]) continue;
    if (dim >= 0)
      add_in_lanes(&l, n, dim);
    else
      (void)pb_program_add_nest(&l.to, &p->nests[n], p->value_of[n]);
  }
  *p = l.to;
  return true;
}

// Reads a kernel of several stages as attention with a constant mask: by what its nests compute, not by their names.
// Keys are the loop that the last product sums over. Of a key that a mask takes out for a row all values between are
// followed through the nests as intervals: its score is bounded, as queries and keys are; with the mask it lies so far
// below the row's maximum, which another key has, that its exponential is 0; zeros are what it adds to the sums.
#include "core/s3/fusion/block_sparse.h"

#include "core/s3/fusion/interval.h"

#include <math.h>
#include <string.h>

enum {
  MOST_ELEMENTS = 1 << 24, // of a mask that is looked at
  MOST_OTHERS = 4096,      // of other constants
  KNOWN_SCORES = 4096,
  SAMPLED_ROWS = 16,
  LEAST_ROWS = 32, // of a block
  ROW_STEP = 16,
  LEAST_GAIN = 20 // a part of the work that more blocks are to leave out
};

typedef struct reader {
  pb_unit* unit;
  const pb_program* p;
  pb_arena* arena;
  pb_block_sparse* s;
  int mask_nest, mask; // the nest and its access
  int row_lane;  // the mask nest's dim of rows in lanes, which are side by side in one of the loop over rows; -1: none
  int64_t terms; // of a score
  pb_interval (*constant)[PB_NEST_ACCESSES];
  pb_interval *state, *init;
  bool* is_max; // by value: a row's maximum, or maxima of parts of it
} reader;

static bool is_constant(const reader* r, int v) { return r->p->values[v].kind == PB_VALUE_CONST; }
static int store_of(const pb_nest* nest) { return nest->access_count - 1; }

// ---- the mask ----

// The constant that says which keys count: the one that nests walk by keys. The other dim that it uses is the rows'.
static bool find_mask(reader* r) {
  r->mask_nest = r->s->blocks.row = -1;
  for (int n = 0; n < r->p->nest_count; ++n)
    for (int a = 0; a < r->p->nests[n].access_count; ++a) {
      if (!is_constant(r, r->p->value_of[n][a]) || r->s->blocks.keys.dim[n] < 0) continue;
      if (!pb_access_uses(&r->p->nests[n].access[a], r->s->blocks.keys.dim[n])) continue;
      if (r->mask_nest >= 0) return false;
      r->mask_nest = n;
      r->mask = a;
    }
  if (r->mask_nest < 0) return false;
  const pb_nest* nest = &r->p->nests[r->mask_nest];
  int row = -1;
  r->row_lane = -1;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (!pb_access_uses(&nest->access[r->mask], d) || nest->extent[d] == 1) continue;
    if (d == r->s->blocks.keys.dim[r->mask_nest] || d == r->s->blocks.keys.lane[r->mask_nest]) continue;
    if (row >= 0 && (!r->s->stages->rows_in_lanes || r->row_lane >= 0)) return false;
    *(row < 0 ? &row : &r->row_lane) = d;
  }
  if (r->s->stages->rows_in_lanes && (r->row_lane < 0 || ROW_STEP % nest->extent[r->row_lane])) return false;
  for (int k = 0; k < r->s->stages->shared && row >= 0; ++k)
    if (r->s->stages->dim[r->mask_nest][k] == row) r->s->blocks.row = k;
  return r->s->blocks.row >= 0 && pb_access_elements(&nest->access[r->mask]) <= MOST_ELEMENTS;
}

// ---- numbers ----

static pb_interval hull(const reader* r, int value) {
  const pb_value* v = &r->p->values[value];
  int64_t count = pb_value_elements(v);
  if (count > MOST_OTHERS || v->const_id < 0) return (pb_interval){.kind = PB_ANY_NUMBER};
  return pb_constant_interval(v->type, pb_const_data(r->unit->consts, v->const_id), count);
}

static void read_constants(reader* r) {
  r->constant = pb_alloc_array(r->arena, (size_t)r->p->nest_count + 1, sizeof *r->constant);
  for (int n = 0; n < r->p->nest_count; ++n)
    for (int a = 0; a < r->p->nests[n].access_count; ++a)
      if (is_constant(r, r->p->value_of[n][a]) && (n != r->mask_nest || a != r->mask))
        r->constant[n][a] = hull(r, r->p->value_of[n][a]);
}

// ---- what becomes of one key of one row ----

// A value of rows alone is the same for all keys of a row: no loop but those that stages share, and lanes that are
// rows, moves along it.
static bool is_rows(const reader* r, int n, int a) {
  const pb_nest* nest = &r->p->nests[n];
  for (int d = 0; d < nest->dim_count; ++d) {
    bool lanes = r->s->stages->rows_in_lanes && nest->access[a].index[nest->access[a].rank - 1].coef[d],
         shared = nest->extent[d] == 1 || lanes;
    for (int k = 0; k < r->s->stages->shared; ++k) shared |= r->s->stages->dim[n][k] == d;
    if (!shared && pb_access_uses(&nest->access[a], d)) return false;
  }
  return true;
}

// false: it reads what is not the same for all keys of a row, and no key's.
static bool loads_of(const reader* r, int n, const pb_interval* mask, pb_interval* loads) {
  for (int a = 0; a < store_of(&r->p->nests[n]); ++a) {
    int v = r->p->value_of[n][a];
    loads[a] = (pb_interval){.kind = PB_ANY_NUMBER};
    if (n == r->mask_nest && a == r->mask)
      loads[a] = *mask;
    else if (is_constant(r, v))
      loads[a] = r->constant[n][a];
    else if (pb_program_is_local(r->p, v))
      loads[a] = r->state[v];
    if (pb_program_is_local(r->p, v) && r->s->blocks.keys.index[v] < 0 && !is_rows(r, n, a)) return false;
  }
  return true;
}

static bool is_load(const pb_nest* nest) { return nest->expr_count == 1 && nest->expr[0].op == PB_OP_LOAD; }

static bool starts_at(const reader* r, int value, float number) {
  const pb_interval* init = &r->init[value];
  return init->kind == PB_BOUNDED && init->low == number && init->high == number &&
         !signbit(init->low) == !signbit(number);
}

static bool is_tensor(const reader* r, int value) {
  return !pb_program_is_local(r->p, value) && !is_constant(r, value) && r->p->values[value].type == PB_F32;
}

// The tensor whose elements the value is, if a copy of the kernel makes it of one: queries in another order.
static int source_of(const reader* r, int value) {
  int writer = pb_program_is_local(r->p, value) ? pb_program_next_use(r->p, value, -1) : -1;
  if (writer < 0 || !pb_program_writes(r->p, writer, value) || !pb_nest_is_copy(&r->p->nests[writer])) return value;
  const pb_access* from = &r->p->nests[writer].access[0];
  return pb_access_is_plain(from) ? r->p->value_of[writer][0] : value;
}

// Sums over what queries and keys share.
static bool follow_scores(reader* r, int n) {
  const pb_nest* nest = &r->p->nests[n];
  const int* of = r->p->value_of[n];
  float bound = 1.01F * r->s->bound * r->s->bound * (float)r->terms;
  bool first = pb_access_uses(&nest->access[0], r->s->blocks.keys.dim[n]);
  if (!pb_nest_sums_products(nest) || !starts_at(r, of[2], 0) || !isfinite(bound)) return false;
  int query = source_of(r, of[first]), key = of[!first];
  if (!is_tensor(r, query) || !is_tensor(r, key) || first == pb_access_uses(&nest->access[1], r->s->blocks.keys.dim[n]))
    return false;
  if (r->s->query >= 0 && (r->s->query != query || r->s->key != key)) return false;
  r->s->query = query;
  r->s->key = key;
  r->state[of[2]] = pb_interval_of(-bound, bound);
  return true;
}

// Sums of products of probabilities and values.
static bool follow_values(reader* r, int n) {
  const pb_nest* nest = &r->p->nests[n];
  const int* of = r->p->value_of[n];
  bool first = pb_program_is_local(r->p, of[0]);
  if (!pb_nest_sums_products(nest) || n + 1 != r->p->nest_count || !starts_at(r, of[2], 0)) return false;
  if (first == pb_program_is_local(r->p, of[1]) || !is_tensor(r, of[first]) || !is_tensor(r, of[2])) return false;
  r->s->value = of[first];
  r->s->made = of[2];
  return pb_interval_is_zero(&r->state[of[!first]]);
}

// Reductions over keys. *score: where there is no maximum yet, what it is to be of.
static bool follow_row(reader* r, int n, const pb_interval* row, pb_interval* score) {
  const pb_nest* nest = &r->p->nests[n];
  const int* of = r->p->value_of[n];
  if (pb_access_uses(&nest->access[store_of(nest)], r->s->blocks.keys.dim[n])) return false;
  if (n + 1 == r->p->nest_count) return follow_values(r, n);
  if (!is_load(nest) || nest->access_count != 2 || r->s->blocks.keys.index[of[0]] < 0 ||
      !pb_program_is_local(r->p, of[1]))
    return false;
  const pb_interval* x = &r->state[of[0]];
  if (nest->reduce == PB_ACC_ADD) {
    r->state[of[1]] = (pb_interval){.kind = PB_FACTOR};
    return pb_interval_is_zero(x) && starts_at(r, of[1], 0);
  }
  if ((nest->reduce != PB_ACC_MAX && nest->reduce != PB_ACC_MAXIMUM) || !starts_at(r, of[1], -INFINITY)) return false;
  *score = *x;
  if (!row) return false;
  r->is_max[of[1]] = true;
  r->state[of[1]] = *row;
  return x->kind == PB_BOUNDED && x->high < row->low;
}

static bool follow(reader* r, int n, const pb_interval* mask, const pb_interval* row, pb_interval* score) {
  const pb_nest* nest = &r->p->nests[n];
  const int* of = r->p->value_of[n];
  pb_interval loads[PB_NEST_ACCESSES] = {{.kind = PB_ANY_NUMBER}};
  int to = of[store_of(nest)];
  bool sets = nest->reduce == PB_SET, keyed = r->s->blocks.keys.dim[n] >= 0,
       combines = pb_reduce_combines(nest->reduce);
  if (!sets && !combines) return false;
  if (sets && nest->access_count == 1) {
    r->state[to] = r->init[to] = pb_nest_interval(nest, loads);
    return true;
  }
  if (!keyed) {
    bool still =
        combines && nest->reduce != PB_ACC_ADD && is_load(nest) && r->is_max[of[0]] && starts_at(r, to, -INFINITY);
    r->is_max[to] = still;
    r->state[to] = still ? r->state[of[0]] : (pb_interval){.kind = PB_FACTOR};
    return pb_program_is_local(r->p, to);
  }
  if (combines)
    return to >= 0 && r->s->blocks.keys.index[to] >= 0 && pb_program_is_local(r->p, to) ? follow_scores(r, n)
                                                                                        : follow_row(r, n, row, score);
  if (!pb_program_is_local(r->p, to) || r->s->blocks.keys.index[to] < 0 || !loads_of(r, n, mask, loads)) return false;
  r->state[to] = pb_nest_interval(nest, loads);
  return true;
}

// Follows a key with this number of the mask. row: bounds of the maximum; NULL: *score becomes what that is to be of.
// Returns whether all that it adds is zeros.
static bool follow_all(reader* r, const pb_interval* mask, const pb_interval* row, pb_interval* score) {
  *score = (pb_interval){.kind = PB_ANY_NUMBER};
  memset(r->is_max, 0, sizeof *r->is_max * (size_t)r->p->value_count);
  for (int v = 0; v < r->p->value_count; ++v) r->init[v] = r->state[v] = (pb_interval){.kind = PB_ANY_NUMBER};
  for (int n = 0; n < r->p->nest_count; ++n)
    if (!follow(r, n, mask, row, score)) return false;
  return true;
}

// ---- which keys count ----

typedef struct ends {
  int64_t first, end;
} ends;

// What a number of the mask came to.
typedef struct known_score {
  pb_interval mask, score;
} known_score;

// The mask's numbers, of which few differ.
typedef struct masks {
  const void* data;
  pb_type type;
  int64_t offset, by_row, by_key, by_lane, unit;
  int64_t row_lanes, by_row_lane; // rows that lie in lanes; 1: none do
  known_score* known;             // by the number's bits
} masks;

static int64_t lanes_of_rows(const reader* r) {
  return r->row_lane < 0 ? 1 : r->p->nests[r->mask_nest].extent[r->row_lane];
}

static masks masks_of(const reader* r) {
  const pb_nest* nest = &r->p->nests[r->mask_nest];
  const pb_access* access = &nest->access[r->mask];
  const pb_value* value = &r->p->values[r->p->value_of[r->mask_nest][r->mask]];
  int lane = r->s->blocks.keys.lane[r->mask_nest];
  return (masks){.data = value->const_id >= 0 ? pb_const_data(r->unit->consts, value->const_id) : NULL,
                 .type = value->type,
                 .offset = pb_access_offset(access),
                 .by_row = pb_access_stride(access, r->s->stages->dim[r->mask_nest][r->s->blocks.row]),
                 .row_lanes = lanes_of_rows(r),
                 .by_row_lane = r->row_lane >= 0 ? pb_access_stride(access, r->row_lane) : 0,
                 .by_key = pb_access_stride(access, r->s->blocks.keys.dim[r->mask_nest]),
                 .by_lane = lane >= 0 ? pb_access_stride(access, lane) : 0,
                 .unit = r->s->blocks.keys.unit[r->mask_nest],
                 .known = PB_NEW_ARRAY(r->arena, known_score, KNOWN_SCORES)};
}

static pb_interval mask_at(const masks* m, int64_t row, int64_t key) {
  int64_t at = m->offset + row / m->row_lanes * m->by_row + row % m->row_lanes * m->by_row_lane +
               key / m->unit * m->by_key + key % m->unit * m->by_lane;
  return pb_constant_interval(m->type, (const char*)m->data + at * (pb_type_bits(m->type) / 8), 1);
}

static bool same(const pb_interval* a, const pb_interval* b) {
  return a->kind == b->kind && a->integer == b->integer && !memcmp(&a->low, &b->low, sizeof a->low);
}

// Scores with the mask, before the maximum is taken.
static const pb_interval* score_at(reader* r, masks* m, int64_t row, int64_t key) {
  pb_interval mask = mask_at(m, row, key);
  uint32_t bits;
  memcpy(&bits, &mask.low, sizeof bits);
  known_score* known = &m->known[(bits * 2654435761U >> 16 ^ (uint32_t)mask.integer) % KNOWN_SCORES];
  if (known->score.kind == PB_BOUNDED && same(&mask, &known->mask)) return &known->score;
  known->mask = mask;
  (void)follow_all(r, &mask, NULL, &known->score);
  return &known->score;
}

// The least that the row's maximum can be; false: it is not known.
static bool row_bounds(reader* r, masks* m, int64_t row, pb_interval* bounds) {
  *bounds = pb_interval_of(-INFINITY, -INFINITY);
  for (int64_t k = 0; k < r->s->blocks.keys.keys; ++k) {
    const pb_interval* score = score_at(r, m, row, k);
    if (score->kind != PB_BOUNDED || score->high == INFINITY) return false;
    bounds->low = fmaxf(bounds->low, score->low);
    bounds->high = fmaxf(bounds->high, score->high);
  }
  return isfinite(bounds->low);
}

// The first key, by steps of 1 or -1, that counts for the row.
static int64_t first_that_counts(reader* r, const masks* m, int64_t row, const pb_interval* bounds, int64_t step) {
  pb_interval last = {.kind = PB_FACTOR}, unused;
  int64_t keys = r->s->blocks.keys.keys, key = step > 0 ? 0 : keys - 1;
  for (; key >= 0 && key < keys; key += step) {
    pb_interval mask = mask_at(m, row, key);
    if (!same(&mask, &last) && !follow_all(r, &mask, bounds, &unused)) break;
    last = mask;
  }
  return key;
}

// Keys from the first to the last that counts for the row. false: it has no maximum that is a number, or none is known.
static bool ends_of(reader* r, masks* m, int64_t row, ends* of) {
  pb_interval bounds;
  if (!row_bounds(r, m, row, &bounds)) return false;
  of->first = first_that_counts(r, m, row, &bounds, 1);
  of->end = first_that_counts(r, m, row, &bounds, -1) + 1;
  return of->first < of->end;
}

// Of all rows. false: of some it is not known, or of those that are looked at first all keys count.
static bool find_ends(reader* r, int64_t count, ends* rows) {
  masks m = masks_of(r);
  bool known = m.data != NULL, any = false;
  for (int64_t row = 0; row < count && known; row += count / SAMPLED_ROWS + 1) {
    known = ends_of(r, &m, row, &rows[row]);
    any |= known && (rows[row].first > 0 || rows[row].end < r->s->blocks.keys.keys);
  }
  for (int64_t row = 0; row < count && known && any; ++row) known = ends_of(r, &m, row, &rows[row]);
  return known && any;
}

// Blocks of so many rows; those that take the same keys are one. Returns rows times keys of all. The last ones of a
// causal mask take most keys: in front of all others.
static int64_t cut(const reader* r, const ends* rows, int64_t count, int64_t step, pb_blocks* blocks) {
  int64_t unit = pb_key_loop_unit(r->p, &blocks->keys), work = 0;
  pb_block* last = NULL;
  blocks->count = 0;
  for (int64_t row = 0; row < count; row += step) {
    pb_block block = {.row = row, .rows = count - row < step ? count - row : step};
    int64_t first = r->s->blocks.keys.keys, end = 0;
    for (int64_t k = row; k < row + block.rows; ++k) {
      first = rows[k].first < first ? rows[k].first : first;
      end = rows[k].end > end ? rows[k].end : end;
    }
    block.key = first / unit * unit;
    block.keys = (end + unit - 1) / unit * unit - block.key;
    work += block.rows * block.keys;
    if (last && last->key == block.key && last->keys == block.keys) {
      last->rows += block.rows;
      continue;
    }
    last = &blocks->items[blocks->count++];
    *last = block;
  }
  for (int b = 1; b < blocks->count; ++b) {
    pb_block block = blocks->items[b];
    if (block.keys <= blocks->items[0].keys) continue;
    memmove(&blocks->items[1], &blocks->items[0], sizeof block * (size_t)b);
    blocks->items[0] = block;
  }
  return work;
}

// As many blocks as leave out something that is worth it.
static bool choose(reader* r, const ends* rows, int64_t count) {
  int64_t all = count * r->s->blocks.keys.keys, least = all - all / LEAST_GAIN;
  bool any = false;
  for (int64_t parts = 2; parts <= PB_MAX_BLOCKS; parts *= 2) {
    pb_blocks blocks = r->s->blocks;
    int64_t step = ((count + parts - 1) / parts + ROW_STEP - 1) / ROW_STEP * ROW_STEP;
    if (step < LEAST_ROWS) break;
    int64_t work = cut(r, rows, count, step, &blocks);
    if (work >= least) continue;
    least = work - work / LEAST_GAIN;
    r->s->blocks = blocks;
    any = true;
  }
  return any;
}

static void begin(reader* r) {
  size_t values = (size_t)r->p->value_count + 1;
  r->state = PB_NEW_ARRAY(r->arena, pb_interval, values);
  r->init = PB_NEW_ARRAY(r->arena, pb_interval, values);
  r->is_max = PB_NEW_ARRAY(r->arena, bool, values);
}

// Products that make a score.
static int64_t terms_of(const reader* r) {
  int64_t terms = 1;
  for (int n = 0; n < r->p->nest_count; ++n) {
    const pb_nest* nest = &r->p->nests[n];
    if (nest->reduce != PB_SET && r->s->blocks.keys.dim[n] >= 0 &&
        r->s->blocks.keys.index[pb_program_stored(r->p, n)] >= 0)
      terms *= pb_nest_steps(nest);
  }
  return terms;
}

bool pb_block_sparse_find(pb_unit* unit, const pb_stages* stages, pb_arena* arena, pb_block_sparse* found) {
  static const int magnitudes[] = {40, 24, 12, 8, 6, 5, 4}; // as powers of 2; any mask of -inf allows for the first
  reader r = {.unit = unit, .p = stages->program, .arena = arena, .s = found};
  *found = (pb_block_sparse){.stages = stages, .query = -1, .key = -1, .value = -1, .made = -1};
  begin(&r);
  if (!pb_stages_keys(stages, arena, &found->blocks.keys) || !find_mask(&r)) return false;
  read_constants(&r);
  r.terms = terms_of(&r);
  int64_t count = stages->extent[found->blocks.row] * lanes_of_rows(&r);
  ends* rows = PB_NEW_ARRAY(arena, ends, (size_t)count + 1);
  for (size_t k = 0; k < sizeof magnitudes / sizeof *magnitudes; ++k) {
    found->bound = ldexpf(1, magnitudes[k]);
    if (!find_ends(&r, count, rows) || !choose(&r, rows, count)) continue;
    for (int b = 0; b < found->blocks.count; ++b) {
      found->blocks.items[b].row /= lanes_of_rows(&r);
      found->blocks.items[b].rows /= lanes_of_rows(&r);
    }
    return found->value >= 0;
  }
  return false;
}

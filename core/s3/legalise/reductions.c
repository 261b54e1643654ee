// Reductions: in the two forms that units with rows of lanes combine, a number of each row and rows onto a row. What a
// reduction computes of its operands first, if no instruction combines it so, is a tensor of its own; what it takes
// from anywhere, or leaves as a tensor of other dims, comes and goes by copies. What no instruction combines, of one
// tensor and over few elements, becomes as many pointwise nests, each on what the one before left. Requires the program
// function in value form, leaves it so. In front of align. Does nothing where code runs, to reductions over windows and
// planes of images (layout has those), nor where another target takes what this one lacks.
//
//   before   y[i] = 0;  y[i] += exp(x[i, k] - m[i, 0])                                 of x: 5x40, y: 5
//   after    t[i, k] = exp(x[i, k] - m[i, 0]);  s[i, 0] = 0;  s[i, 0] += t[i, k];  y[i] = s[i, 0]
//
// A product of tensors of f32, where products are of codes alone, is a sum of rows too: each row of the one factor
// times each of the other (stages of one kernel later, so that these never leave the chip).
//
//   before   y[i, j] = 0;  y[i, j] += x[i, k] * w[k, j]                                of x: 7x40, w: 40x9
//   after    v[j, k] = w[k, j];  t[9 i + j, k] = x[i, k] * v[j, k];  s[9 i + j, 0] += t[9 i + j, k];  y[i, j] = s[..]
//
//   before   y[i] = 1;  y[i] = y[i] * x[i, k]                                          of x: 20x2, y: 20
//   after    a[i] = 1 * x[i, 0];  y[i] = a[i] * x[i, 1]
#include "core/s3/chip_facts.h"
#include "core/s3/compose.h"
#include "core/s3/fallback.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/join.h"
#include "core/s3/kernel/landing.h"
#include "core/s3/legalise/legalise.h"
#include "core/s3/program.h"

#include <string.h>

enum { MOST_STEPS = 16, NONE = -1 };

// How a reduction of one tensor combines.
typedef enum form {
  AS_IT_IS, // by rows, onto a row, or as layout has it
  BY_ROWS,  // a number of each row
  ONTO_ROW, // rows onto one row
  ONE_EACH, // of one element each: pointwise
  BY_STEPS  // element by element
} form;

typedef struct reduction {
  form form;
  bool apart;   // its body is a tensor of its own,
  bool product; // and that of rows of products
  int init;     // the nest that sets what it begins with, if it is made anew
  int steps;    // BY_STEPS: how many it becomes
  int begun;    // BY_STEPS: the value that they begin with; NONE: a number
} reduction;

typedef struct reducer {
  pb_unit* unit;
  pb_program* from;
  pb_program to;
  reduction* of; // by nest of `from`
  int* sets;     // by nest of `from` that only sets what another begins with: 1 + that one
} reducer;

static const pb_access* store_of(const pb_nest* nest) { return &nest->access[nest->access_count - 1]; }

static bool is_plain(const pb_nest* nest) {
  for (int a = 0; a < nest->access_count; ++a)
    if (nest->access[a].boxed || nest->access[a].splat) return false;
  return !pb_nest_is_fixed(nest);
}

static bool loads_alone(const pb_nest* nest) { return nest->expr_count == 1 && nest->access_count == 2; }

// The reduction of a tensor that has what the nest's body computes.
static void of_tensor(const pb_nest* nest, const pb_access* x, pb_nest* out) {
  pb_nest_begin(out, nest->name, nest->part, 2);
  out->reduce = nest->reduce;
  out->dim_count = nest->dim_count;
  memcpy(out->extent, nest->extent, sizeof out->extent);
  out->access[0] = *x;
  out->access[1] = *store_of(nest);
  (void)pb_nest_load(out, 0);
}

// An operand that the nest takes element by element, each once; else NULL.
static const pb_access* walked_once(const pb_nest* nest) {
  int dim_of[PB_NEST_RANK];
  for (int a = 0; a + 1 < nest->access_count; ++a)
    if (pb_walks_elements(nest, &nest->access[a], dim_of)) return &nest->access[a];
  return NULL;
}

// Rows of what is kept and of what operand `of` walks of it (NULL: all), columns of what is summed.
static pb_access rows_of(const pb_nest* nest, const pb_access* of) {
  int index_of[PB_NEST_DIMS];
  for (int d = 0; d < nest->dim_count; ++d)
    index_of[d] = pb_nest_reduces_over(nest, d) ? 1 : !of || pb_access_uses(of, d) ? 0 : NONE;
  return pb_access_of_matrix(nest, PB_F32, index_of);
}

// Whether the nest sums products of two tensors of f32, which no instruction does: units multiply rows of the one by
// rows of the other, and sum what that leaves.
static bool is_product(const pb_chip* chip, const pb_nest* nest) {
  pb_contraction_dims roles;
  return pb_nest_contraction_dims(nest, NULL, &roles) && nest->expr_count == 3 && roles.x_type == PB_F32 &&
         roles.w_type == PB_F32 && !pb_chip_multiplies(chip, PB_F32, PB_F32, PB_F32) &&
         pb_chip_counts_lanes(chip, PB_F32, PB_ACC_ADD);
}

// What the nest's body computes, as a tensor: as an operand that is walked once, or of rows of products.
static pb_access body_of(const pb_nest* nest, bool product) {
  pb_access t = product ? rows_of(nest, NULL) : *walked_once(nest);
  t.type = PB_F32;
  t.memref = (MlirValue){NULL};
  return t;
}

// Whether commands combine what the body leaves, of an operand's size or of a product's, but not with the body. *sum:
// the reduction of that.
static bool stands_apart(const reducer* s, const pb_nest* nest, bool* product, pb_nest* sum) {
  const pb_chip* chip = s->unit->chip;
  if (loads_alone(nest) || store_of(nest)->type != PB_F32 || pb_nest_known(chip, nest)) return false;
  *product = is_product(chip, nest);
  if (!*product && !walked_once(nest)) return false;
  const pb_access t = body_of(nest, *product);
  of_tensor(nest, &t, sum);
  return pb_nest_known(chip, sum);
}

// Whether the dims that index r walks, of more than one iteration, are all reduced (or all kept).
static bool walks(const pb_nest* nest, const pb_index* index, bool reduced) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (index->coef[d] && nest->extent[d] > 1 && pb_nest_reduces_over(nest, d) != reduced) return false;
  return true;
}

// Whether the result is the tensor with 1 for each of its dims that the nest sums over, and goes as the tensor goes.
static bool keeps_dims(const pb_nest* nest) {
  const pb_access *x = &nest->access[0], *y = store_of(nest);
  if (x->rank != y->rank) return false;
  for (int r = 0; r < x->rank; ++r) {
    bool same = x->shape[r] == y->shape[r] && !memcmp(&x->index[r], &y->index[r], sizeof x->index[r]);
    if (!same && !(y->shape[r] == 1 && walks(nest, &x->index[r], true))) return false;
  }
  return true;
}

// Whether layout has such a reduction in rows of lanes as it is: of rows, onto a row, and of images, whose channels
// are its second dim and stay.
static bool fits(const pb_nest* nest) {
  const pb_access *x = &nest->access[0], *y = store_of(nest);
  int dim_of[PB_NEST_RANK], last = x->rank - 1;
  if (x->rank >= 4 && y->rank == x->rank && walks(nest, &x->index[1], false) &&
      !memcmp(&x->index[1], &y->index[1], sizeof x->index[1]))
    return true;
  if (x->rank < 2 || !pb_walks_elements(nest, x, dim_of) || !keeps_dims(nest)) return false;
  bool rows = y->shape[last] == 1, others = false;
  for (int r = 0; r < last; ++r) others |= x->shape[r] != y->shape[r];
  return rows ? !others : x->rank == 2;
}

// Whether each index of the access is one dim or a number, not channels as a group's and those in it.
static bool has_dim_each(const pb_access* access) {
  for (int r = 0, dim; r < access->rank; ++r)
    if (!pb_index_single(&access->index[r], &dim)) return false;
  return true;
}

// local: what it takes, and what it leaves, is no tensor of the graph's edge, which stays as it is.
static form form_of(const pb_nest* nest, bool local_x, bool local_y) {
  const pb_access *x = &nest->access[0], *y = store_of(nest);
  if (y->type != PB_F32) return AS_IT_IS;
  if (pb_nest_steps(nest) == 1) return ONE_EACH;
  if ((local_y || y->rank != 2) && (local_x || x->rank != 3) && fits(nest)) return AS_IT_IS;
  return walks(nest, &x->index[x->rank - 1], true) ? BY_ROWS : ONTO_ROW;
}

// A form that commands combine. false: it stays as it is, or becomes steps.
static bool find_form(const reducer* s, int n, reduction* found) {
  const pb_nest* nest = &s->from->nests[n];
  if (!is_plain(nest)) return false;
  pb_nest sum;
  bool product = false, apart = stands_apart(s, nest, &product, &sum);
  if (!apart && (!loads_alone(nest) || !pb_nest_known(s->unit->chip, nest))) return false;
  if (!apart) pb_nest_copy(&sum, nest);
  form form = form_of(&sum, apart || pb_program_is_local(s->from, s->from->value_of[n][0]),
                      pb_program_is_local(s->from, pb_program_stored(s->from, n)));
  int init = form == AS_IT_IS ? NONE : pb_program_init_of(s->from, n);
  if (form != AS_IT_IS && (init < 0 || !pb_join_is_number(&s->from->nests[init]))) return false;
  *found = (reduction){.form = form, .apart = apart, .product = product, .init = init};
  return apart || form != AS_IT_IS;
}

// ---- steps ----

static bool is_word(pb_type type) { return type == PB_I8 || type == PB_I32 || type == PB_F32; }

// Elements alone, of types that commands may compute with: no iterations of loops as numbers, no places of its own.
static bool computes_words(const pb_nest* nest) {
  for (int e = 0; e < nest->expr_count; ++e)
    if (nest->expr[e].op == PB_OP_INDEX || (nest->expr[e].type != PB_I1 && !is_word(nest->expr[e].type))) return false;
  for (int a = 0; a < nest->access_count; ++a)
    if (nest->access[a].boxed || nest->access[a].splat) return false;
  return !pb_nest_gathers(nest) && nest->expr_count + 2 < PB_NEST_EXPR;
}

// How many elements one result takes; 0: more than are written out.
static int steps_of(const pb_nest* nest) {
  int64_t steps = pb_nest_steps(nest);
  return steps <= MOST_STEPS ? (int)steps : 0;
}

// A sum or maximum as its operation on the old value, an access of its own in front of the store. Returns which one.
static int with_own(pb_nest* nest) {
  int own = nest->access_count - 1, value = nest->expr_count - 1;
  nest->access[nest->access_count++] = nest->access[own];
  int old = pb_nest_load(nest, own);
  (void)pb_nest_node(nest, pb_reduce_op(nest->reduce), nest->expr[value].type, old, value);
  return own;
}

// Whether instructions compute one step. Where none does, the reduction stays, to be refused as the model wrote it.
static bool step_lands(const pb_chip* chip, const pb_nest* nest) {
  pb_nest step;
  int memory;
  pb_nest_copy(&step, nest);
  if (nest->reduce != PB_ACC_BODY) (void)with_own(&step);
  step.reduce = PB_SET;
  return pb_point_lands(chip, &step, NONE, PB_ANY_MEMORY, &memory);
}

static bool find_steps(const reducer* s, int n, reduction* found) {
  const pb_nest* nest = &s->from->nests[n];
  bool own = nest->reduce == PB_ACC_BODY;
  if (!computes_words(nest) || nest->access_count != (own ? 3 : 2) || (!own && pb_nest_known(s->unit->chip, nest)))
    return false;
  int init = pb_program_init_of(s->from, n), steps = steps_of(nest);
  if (init < 0 || !steps || !step_lands(s->unit->chip, nest)) return false;
  *found = (reduction){.form = BY_STEPS, .init = init, .steps = steps, .begun = NONE};
  return true;
}

static bool find(const reducer* s, int n) {
  reduction found;
  if (s->from->nests[n].reduce == PB_SET || (!find_form(s, n, &found) && !find_steps(s, n, &found))) return false;
  s->of[n] = found;
  if (found.init >= 0) s->sets[found.init] = 1 + n;
  return true;
}

// ---- writing ----

// Rows of the dims that are kept and columns of those that are not, or the other way round: as one index each.
static pb_access matrix(const pb_nest* nest, form form, bool of_result) {
  int index_of[PB_NEST_DIMS];
  for (int d = 0; d < nest->dim_count; ++d) {
    bool reduced = pb_nest_reduces_over(nest, d);
    index_of[d] = of_result && reduced ? NONE : reduced == (form == BY_ROWS);
  }
  return pb_access_of_matrix(nest, store_of(nest)->type, index_of);
}

static int add_local(reducer* s, const pb_access* like) { return pb_program_add_local(&s->to, &s->unit->pass, like); }

// Each factor's rows become a tensor of their own, and what is summed one loop.
static void take_rows(reducer* s, int n, pb_nest* body, int* value_of) {
  const pb_nest* nest = &s->from->nests[n];
  const int64_t terms = pb_nest_steps(nest);
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    body->access[a] = rows_of(nest, &nest->access[a]);
    value_of[a] = add_local(s, &body->access[a]);
    pb_program_add_copy(&s->to, nest, &nest->access[a], s->from->value_of[n][a], &body->access[a], value_of[a]);
  }
  for (int d = nest->dim_count - 1; d >= 0; --d) {
    if (!pb_nest_reduces_over(nest, d)) continue;
    for (int a = 0; a + 1 < body->access_count; ++a) body->access[a].index[1].coef[d] = 0;
    pb_nest_remove_dim(body, d);
  }
  int sum = pb_nest_add_dim(body, terms);
  for (int a = 0; a + 1 < body->access_count; ++a) body->access[a].index[1].coef[sum] = 1;
}

// What the body computes, in a tensor of its own. *sum: the reduction of it.
static int add_body(reducer* s, int n, pb_nest* sum) {
  pb_nest body;
  int value_of[PB_NEST_ACCESSES];
  pb_nest_copy(&body, &s->from->nests[n]);
  memcpy(value_of, s->from->value_of[n], sizeof value_of);
  if (s->of[n].product) take_rows(s, n, &body, value_of);
  const pb_access t = body_of(&body, s->of[n].product);
  of_tensor(&body, &t, sum);
  sum->macs = body.macs;
  pb_nest_set_alone(&body);
  *pb_nest_store(&body) = t;
  value_of[body.access_count - 1] = add_local(s, &t);
  (void)pb_program_add_nest(&s->to, &body, value_of);
  return value_of[body.access_count - 1];
}

// A nest over the matrix's kept dim, and over its other one where it is summed.
static void over_matrix(const pb_nest* nest, const pb_access* rows, const pb_access* numbers, form form, pb_nest* out) {
  int kept = form == BY_ROWS ? 0 : 1;
  bool sums = nest->reduce != PB_SET;
  pb_nest_copy(out, nest);
  out->dim_count = sums ? 2 : 1;
  out->extent[0] = rows->shape[sums ? 0 : kept];
  out->extent[1] = rows->shape[1];
  pb_access* y = pb_nest_store(out);
  *y = *numbers;
  memset(y->index, 0, sizeof y->index);
  y->index[kept].coef[sums ? kept : 0] = 1;
  if (!sums) return;
  out->access[0] = *rows;
  memset(out->access[0].index, 0, sizeof out->access[0].index);
  out->access[0].index[0].coef[0] = out->access[0].index[1].coef[1] = 1;
}

// Rows of products go from one to the other; of channels in groups a copy makes the result.
static void write_one_each(reducer* s, int n, pb_nest* sum, int x, int y) {
  const pb_nest* init = &s->from->nests[s->of[n].init];
  pb_type type = store_of(sum)->type;
  int element = sum->expr_count - 1, number = pb_nest_const(sum, type, init->expr[0].value);
  (void)pb_nest_node(sum, pb_reduce_op(sum->reduce), type, number, element);
  sum->reduce = PB_SET;
  sum->part = "point";
  const pb_access result = *store_of(sum), rows = sum->access[0];
  bool copied = s->of[n].product && !has_dim_each(&result);
  int to = copied ? add_local(s, &rows) : y;
  if (copied) *pb_nest_store(sum) = rows;
  (void)pb_program_add_nest(&s->to, sum, (const int[PB_NEST_ACCESSES]){x, to});
  if (copied) pb_program_add_copy(&s->to, sum, &rows, to, &result, y);
}

// Whether the nest takes a tensor's rows whole, each for itself: they may stay where they are.
static bool takes_rows(const pb_nest* nest, bool apart) {
  const pb_access* x = &nest->access[0];
  int dim_of[PB_NEST_RANK];
  if (x->rank < 2 || x->rank > 4 || !(pb_walks_elements(nest, x, dim_of) || (apart && x->rank == 2))) return false;
  for (int r = 0; r < x->rank; ++r)
    if (!walks(nest, &x->index[r], r == x->rank - 1)) return false;
  return true;
}

// The numbers of such rows, as a tensor with one column, and the nests that make them.
static void of_rows(const pb_nest* nest, const pb_nest* init, pb_access* numbers, pb_nest* begin, pb_nest* sum) {
  int last = nest->access[0].rank - 1;
  *numbers = nest->access[0];
  numbers->memref = (MlirValue){NULL};
  numbers->shape[last] = 1;
  memset(&numbers->index[last], 0, sizeof numbers->index[last]);
  pb_nest_copy(sum, nest);
  *pb_nest_store(sum) = *numbers;
  pb_nest_copy(begin, init);
  begin->dim_count = nest->dim_count;
  memcpy(begin->extent, nest->extent, sizeof begin->extent);
  *pb_nest_store(begin) = *numbers;
  for (int d = nest->dim_count - 1; d >= 0; --d)
    if (!pb_access_uses(numbers, d)) pb_nest_remove_dim(begin, d);
}

static void write_matrix(reducer* s, int n, pb_nest* sum, int x, int y) {
  const pb_nest* init = &s->from->nests[s->of[n].init];
  form form = s->of[n].form;
  pb_access numbers = matrix(sum, form, true), result = *store_of(sum);
  pb_nest begin, made;
  if (form == BY_ROWS && takes_rows(sum, s->of[n].apart) &&
      (sum->access[0].rank != 3 || pb_program_is_local(&s->to, x))) {
    of_rows(sum, init, &numbers, &begin, &made);
  } else {
    pb_access rows = matrix(sum, form, false);
    if (!pb_same_walk(&rows, &sum->access[0])) {
      int v = add_local(s, &rows);
      pb_program_add_copy(&s->to, sum, &sum->access[0], x, &rows, v);
      x = v;
    }
    over_matrix(init, &rows, &numbers, form, &begin);
    over_matrix(sum, &rows, &numbers, form, &made);
  }
  bool same = pb_same_walk(&numbers, &result) && pb_program_is_local(s->from, y);
  int to = same ? y : add_local(s, &numbers);
  (void)pb_program_add_nest(&s->to, &begin, (const int[PB_NEST_ACCESSES]){to});
  (void)pb_program_add_nest(&s->to, &made, (const int[PB_NEST_ACCESSES]){x, to});
  if (!same) pb_program_add_copy(&s->to, sum, &numbers, to, &result, y);
}

// The iteration `step` of the dims that the result lacks.
static void fix_turn(pb_nest* nest, int step) {
  for (int d = nest->dim_count - 1; d >= 0; --d) {
    if (pb_access_uses(pb_nest_store(nest), d)) continue;
    int64_t iteration = step % nest->extent[d];
    step /= (int)nest->extent[d];
    pb_nest_fix_dim(nest, d, iteration);
  }
}

// The old value is the number, and its access goes.
static void begin_with(pb_nest* nest, int* value_of, int own, const pb_expr_node* number) {
  for (int e = 0; e < nest->expr_count; ++e)
    if (nest->expr[e].op == PB_OP_LOAD && nest->expr[e].operand == own) {
      nest->expr[e] = *number;
    } else if (nest->expr[e].op == PB_OP_LOAD && nest->expr[e].operand > own) {
      --nest->expr[e].operand;
    }
  for (int a = own; a + 1 < nest->access_count; ++a) {
    nest->access[a] = nest->access[a + 1];
    value_of[a] = value_of[a + 1];
  }
  --nest->access_count;
}

static void write_steps(reducer* s, int n) {
  const pb_nest* init = &s->from->nests[s->of[n].init];
  int y = pb_program_stored(s->from, n), begun = s->of[n].begun;
  pb_access like = pb_value_shape(&s->from->values[y]);
  for (int k = 0; k < s->of[n].steps; ++k) {
    pb_nest nest;
    int value_of[PB_NEST_ACCESSES], own = NONE;
    pb_nest_copy(&nest, &s->from->nests[n]);
    memcpy(value_of, s->from->value_of[n], sizeof value_of);
    if (nest.reduce == PB_ACC_BODY)
      own = value_of[0] == y ? 0 : 1;
    else
      own = with_own(&nest);
    fix_turn(&nest, k);
    pb_nest_set_alone(&nest);
    int made = k + 1 < s->of[n].steps ? add_local(s, &like) : y;
    value_of[own] = begun;
    value_of[nest.access_count - 1] = made;
    if (begun < 0) begin_with(&nest, value_of, own, &init->expr[0]);
    (void)pb_program_add_nest(&s->to, &nest, value_of);
    begun = made;
  }
}

// What another nest begins with goes there, but numbers, which those that begin with them have.
static void write_init(reducer* s, int n) {
  reduction* user = &s->of[s->sets[n] - 1];
  const pb_nest* nest = &s->from->nests[n];
  int value_of[PB_NEST_ACCESSES];
  if (pb_join_is_number(nest)) return;
  memcpy(value_of, s->from->value_of[n], sizeof value_of);
  pb_access like = pb_value_shape(&s->from->values[pb_program_stored(s->from, n)]);
  value_of[nest->access_count - 1] = user->begun = add_local(s, &like);
  (void)pb_program_add_nest(&s->to, nest, value_of);
}

static void write_sum(reducer* s, int n) {
  const pb_program* p = s->from;
  pb_nest sum;
  int x = p->value_of[n][0], y = pb_program_stored(p, n);
  pb_nest_copy(&sum, &p->nests[n]);
  if (s->of[n].apart) x = add_body(s, n, &sum);
  if (s->of[n].form == AS_IT_IS)
    (void)pb_program_add_nest(&s->to, &sum, (const int[PB_NEST_ACCESSES]){x, y});
  else if (s->of[n].form == ONE_EACH)
    write_one_each(s, n, &sum, x, y);
  else if (s->of[n].form == BY_STEPS)
    write_steps(s, n);
  else
    write_matrix(s, n, &sum, x, y);
}

bool pb_s3_reductions(pb_unit* unit, pb_program* p) {
  if (pb_may_leave(unit)) return false;
  bool any = pb__reductions_begin_neutral(p, &unit->pass);
  size_t count = (size_t)p->nest_count + 1;
  reducer s = {.unit = unit,
               .from = p,
               .of = PB_NEW_ARRAY(&unit->pass, reduction, count),
               .sets = PB_NEW_ARRAY(&unit->pass, int, count)};
  bool* made = PB_NEW_ARRAY(&unit->pass, bool, count);
  for (int n = 0; n < p->nest_count; ++n) any |= made[n] = find(&s, n);
  if (!any) return false;
  pb_program_begin_nests(p, &unit->pass, &s.to);
  for (int n = 0; n < p->nest_count; ++n)
    if (made[n])
      write_sum(&s, n);
    else if (s.sets[n])
      write_init(&s, n);
    else
      (void)pb_program_add_nest(&s.to, &p->nests[n], p->value_of[n]);
  *p = s.to;
  return true;
}

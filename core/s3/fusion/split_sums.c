// Long sums of few results in parts: y[i] = sum over k of x[k] * w[k, i] has work for as many members as there are
// results, and where so many always run that each has a register or two of them, a load serves one product. In parts,
// s[p, i] = sum over part p of the k, and y[i] = sum over p of s[p, i], each member has a tile of several registers.
// Requires the program function in value form, its layouts chosen; leaves it in value form. The order of additions is
// one of the parts; it does not depend on who runs them.
//
//   before   y[i] += x[k] * w[k, i]                                              k < 2304
//   after    s[p, i] += x[p * 576 + k] * w[p * 576 + k, i]                       p < 4, k < 576
//            y[i] += s[p, i]
//
// Split-K, as in Stream-K (Osama et al. 2023) with whole parts alone. Whether it pays the plans of both say.
#include "core/s3/fusion/fusion.h"
#include "core/s3/s3.h"
#include "core/s3/transfer_paths.h"
#include "core/s3/tree/schedule.h"

#include <string.h>

enum {
  FEW = 8, // registers of results that each member has: of more a load serves products enough
  MOST_PARTS = 8,
  LEAST_STEPS = 64, // of a part
  GAIN = 5          // one part of so many: two kernels and one are predicted less alike than kernels of one kind
};
enum { PRODUCT, ADD, OWN_NESTS }; // what becomes of a sum

typedef struct splitter {
  pb_unit* unit;
  pb_program *from, to;
  int64_t busy,
      wait; // members that run whatever there is to do, and what all of them take until one more kernel has begun
} splitter;

// The nest that says what the sum of nest n begins with, right in front of it, where nobody else makes any of it.
static int beginning_of(const pb_program* p, int n) {
  int first = -1, writers = 0;
  PB_FOR_WRITERS (w, p, pb_program_stored(p, n)) {
    if (w < n) first = w;
    ++writers;
  }
  return writers == 2 && first >= 0 && p->nests[first].reduce == PB_SET ? first : -1;
}

// The outermost dim that is summed and divides into so many parts; -1: there is none.
static int dim_of(const pb_nest* nest, int64_t parts) {
  int64_t steps = pb_nest_steps(nest);
  for (int d = 0; d < nest->dim_count; ++d)
    if (pb_nest_reduces_over(nest, d) && nest->extent[d] % parts == 0 && steps / parts >= LEAST_STEPS) return d;
  return -1;
}

static bool may_split(const splitter* s, int n) {
  const pb_program* p = s->from;
  const pb_nest* nest = &p->nests[n];
  const pb_access* y = &nest->access[nest->access_count - 1];
  if (nest->reduce != PB_ACC_ADD || nest->access_count != 3 || y->type != PB_F32 || pb_nest_is_fixed(nest))
    return false;
  if (!pb_program_is_local(p, pb_program_stored(p, n)) || y->rank == PB_NEST_RANK || !pb_access_is_plain(y) ||
      nest->dim_count == PB_NEST_DIMS)
    return false;
  return pb_access_elements(y) < s->busy * pb_chip_lanes(s->unit->chip) * FEW && beginning_of(p, n) >= 0;
}

// The sum by parts, and the sum of these.
static void make_nests(const pb_nest* nest, int d, int64_t parts, pb_nest* own) {
  pb_nest* product = &own[PRODUCT];
  pb_nest_copy(product, nest);
  pb_nest_cut_dim(product, d, nest->extent[d] / parts);
  pb_access* s = pb_nest_store(product);
  pb_access_add_index(s, 0, parts, d);
  pb_access whole = {.type = s->type, .rank = s->rank, .buffer = -1};
  memcpy(whole.shape, s->shape, sizeof whole.shape);
  pb_nest_begin_over(&own[ADD], nest->name, "reduce", 2, &whole);
  own[ADD].reduce = PB_ACC_ADD;
  pb_access* y = &own[ADD].access[1];
  memmove(&y->index[0], &y->index[1], sizeof *y->index * (size_t)--y->rank);
  memmove(&y->shape[0], &y->shape[1], sizeof *y->shape * (size_t)y->rank);
  (void)pb_nest_load(&own[ADD], 0);
}

// Appends what becomes of the sum whose accesses are to these values: of its beginning too.
static void add_nests(pb_unit* unit, pb_program* to, const pb_nest* init, const pb_nest* own, const int* values) {
  int s = pb_program_add_local(to, &unit->pass, &own[PRODUCT].access[2]), y = values[2];
  (void)pb_program_add_fill(to, init->name, "init", s, NULL, NULL, 0);
  (void)pb_program_add_nest(to, &own[PRODUCT], (int[PB_NEST_ACCESSES]){values[0], values[1], s});
  (void)pb_program_add_nest(to, init, (int[PB_NEST_ACCESSES]){y});
  (void)pb_program_add_nest(to, &own[ADD], (int[PB_NEST_ACCESSES]){s, y});
}

static int64_t cycles_of(pb_unit* unit, const pb_program* of, int first, pb_arena* scratch) {
  pb_program view;
  pb_program_view(of, (int[]){first, first + 1}, 2, scratch, &view);
  return pb_fusion_cycles(unit, &view, scratch);
}

// What both kernels of the sum in parts take, and what begins them; INT64_MAX: the chip has none.
static int64_t cycles_in_parts(const splitter* s, const pb_program* whole, int d, int64_t parts, pb_nest* own,
                               pb_arena* scratch) {
  pb_program split;
  make_nests(&whole->nests[1], d, parts, own);
  pb_program_begin_nests(whole, scratch, &split);
  split.arena = scratch;
  add_nests(s->unit, &split, &whole->nests[0], own, whole->value_of[1]);
  pb_program_index(&split, scratch);
  int64_t products = cycles_of(s->unit, &split, 0, scratch), sums = cycles_of(s->unit, &split, 2, scratch);
  return products < INT64_MAX && sums < INT64_MAX ? products + sums + s->wait : INT64_MAX;
}

// In how many parts the sum takes least, 1: as it is.
static int64_t parts_of(const splitter* s, int n, pb_nest* own) {
  int64_t best = 1;
  pb_arena scratch = {0};
  pb_program whole;
  pb_program_view(s->from, (int[]){beginning_of(s->from, n), n}, 2, &scratch, &whole);
  int64_t one = pb_fusion_cycles(s->unit, &whole, &scratch), least = one - one / GAIN;
  for (int64_t parts = 2; parts <= MOST_PARTS && one < INT64_MAX; parts *= 2) {
    int d = dim_of(&s->from->nests[n], parts);
    int64_t cycles = d >= 0 ? cycles_in_parts(s, &whole, d, parts, own, &scratch) : INT64_MAX;
    if (cycles < least) least = cycles, best = parts;
  }
  pb_arena_free(&scratch);
  return best;
}

bool pb_s3_split_sums(pb_unit* unit, pb_program* p) {
  const pb_level* shared = pb_level_shared(unit->chip);
  splitter s = {.unit = unit, .from = p};
  if (shared) s.busy = shared->busy, s.wait = s.busy * (int64_t)shared->sync_cycles;
  int64_t* parts = PB_NEW_ARRAY(&unit->pass, int64_t, (size_t)p->nest_count + 1);
  bool* goes = PB_NEW_ARRAY(&unit->pass, bool, (size_t)p->nest_count + 1); // a beginning, which its sum has with it
  pb_nest* own = PB_NEW_ARRAY(&unit->pass, pb_nest, OWN_NESTS);
  bool any = false;
  for (int n = 0; n < p->nest_count; ++n) {
    parts[n] = may_split(&s, n) ? parts_of(&s, n, own) : 1;
    if (parts[n] > 1) any = goes[beginning_of(p, n)] = true;
  }
  if (!any) return false;
  pb_program_begin_nests(p, &unit->pass, &s.to);
  for (int n = 0; n < p->nest_count; ++n) {
    if (goes[n]) continue;
    if (parts[n] > 1) {
      make_nests(&p->nests[n], dim_of(&p->nests[n], parts[n]), parts[n], own);
      add_nests(unit, &s.to, &p->nests[beginning_of(p, n)], own, p->value_of[n]);
    } else {
      (void)pb_program_add_nest(&s.to, &p->nests[n], p->value_of[n]);
    }
  }
  *p = s.to;
  return true;
}

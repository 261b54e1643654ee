// Short rows: a pointwise nest whose rows are shorter than a register, as the colours of pixels are, and that reads a
// row for all of them, as a scale for each colour, goes through memory by blocks of rows. What it reads for each row is
// repeated for a block, so that a block is as long as whole registers are. Requires the program function in value form,
// its layouts chosen; leaves it in value form. Exact: the same operations on the same numbers.
//
//   before   y[i, c] = x[i, c] * s[c]                                            i < 512, c < 3, 16 lanes
//   after    r[k, c] = s[c];  y[b * 16 + k, c] = x[b * 16 + k, c] * r[k, c]      b < 32, k < 16
//
// k and c are one dim to all tensors from then on, 48 neighbours. Whether it pays the plans
// of both say; without vector registers no row is short.
#include "core/s3/chip_facts.h"
#include "core/s3/fusion/fusion.h"
#include "core/s3/kernel/join.h"

#include <string.h>

enum {
  SHORT = 4,         // registers: in longer rows few lanes are without an element
  MOST_BLOCK = 4096, // elements of a block, that stay near a core
  COPY = 4,          // cycles of an element that is repeated
  WHOLE = 50         // one lane of so many may stay without
};
enum { BLOCKS, REPEAT, OWN_NESTS }; // what becomes of a nest

typedef struct blocker {
  pb_unit* unit;
  pb_program *from, to;
  int64_t lanes;
} blocker;

// How a nest goes by rows: dims from `first` on walk a row of so many elements, in blocks of so many rows.
typedef struct rows {
  int first;
  int64_t length, block;
  bool repeats[PB_NEST_ACCESSES]; // by access: it reads the same for each row
} rows;

// Whether dims from `first` on walk neighbours, each over all that those behind it do.
static bool walks_rows(const pb_nest* nest, const pb_access* access, int first) {
  int64_t stride = 1;
  for (int d = nest->dim_count - 1; d >= first; stride *= nest->extent[d--])
    if (pb_access_stride(access, d) != stride && nest->extent[d] > 1) return false;
  return true;
}

// The outermost dim that moves the access; dim_count: none does.
static int first_dim(const pb_nest* nest, const pb_access* access) {
  int d = 0;
  while (d < nest->dim_count && (!pb_access_uses(access, d) || nest->extent[d] == 1)) ++d;
  return d;
}

// Whether the nest has short rows of which it reads one, or a few, for all: those of the innermost dims alone. Of no
// lanes, and of one, none is short.
static bool find_rows(const blocker* b, int n, rows* r) {
  const pb_nest* nest = &b->from->nests[n];
  int loads = nest->access_count - 1;
  if (nest->reduce != PB_SET || pb_nest_is_fixed(nest) || pb_nest_needs_its_loops(nest) || nest->outer_count ||
      nest->dim_count == PB_NEST_DIMS)
    return false;
  *r = (rows){.length = 1};
  for (int a = 0; a < loads; ++a) {
    int first = first_dim(nest, &nest->access[a]);
    if (first < nest->dim_count && first > r->first) r->first = first;
  }
  for (int d = r->first; d < nest->dim_count; ++d) r->length *= nest->extent[d];
  if (!r->first || r->length >= SHORT * b->lanes || r->length % b->lanes == 0) return false;
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_access* access = &nest->access[a];
    int first = first_dim(nest, access);
    r->repeats[a] = a < loads && first == r->first;
    bool is_number = a < loads && first == nest->dim_count;
    if (!pb_access_is_plain(access) || (!r->repeats[a] && !is_number && !walks_rows(nest, access, r->first - 1)))
      return false;
  }
  return true;
}

// Rows of a block: the fewest that fill registers, of those that divide them all; 1: none are longer than a row.
static int64_t block_of(const blocker* b, const pb_nest* nest, const rows* r) {
  int64_t all = nest->extent[r->first - 1], best = 1, most = 0;
  for (int64_t block = 2; block <= all && block * r->length <= MOST_BLOCK; ++block) {
    if (all % block) continue;
    int64_t taken = (block * r->length + b->lanes - 1) / b->lanes * b->lanes, part = block * r->length * WHOLE / taken;
    if (part > most) best = block, most = part;
  }
  return best;
}

// All of a block's rows of one tensor: the dim in front walks rows, those from `first` on elements.
static pb_access block_access(const pb_nest* nest, int first, const rows* r, pb_type type) {
  pb_access access = {.type = type, .rank = 2, .shape = {r->block, r->length}, .buffer = -1};
  access.index[0].coef[first - 1] = 1;
  int64_t stride = 1;
  for (int d = nest->dim_count - 1; d >= first; stride *= nest->extent[d--]) access.index[1].coef[d] = stride;
  return access;
}

// r[k, c] = s[c]
static void make_repeat(const pb_nest* nest, const rows* r, int a, pb_nest* repeat) {
  int column[PB_NEST_DIMS];
  pb_nest_begin(repeat, nest->name, "copy", 2);
  repeat->dim_count = nest->dim_count - r->first + 1;
  repeat->extent[0] = r->block;
  for (int d = 0; d < nest->dim_count; ++d) {
    column[d] = d < r->first ? -1 : d - r->first + 1;
    if (column[d] >= 0) repeat->extent[column[d]] = nest->extent[d];
  }
  repeat->access[0] = nest->access[a];
  pb_access_renumber(&repeat->access[0], column, nest->dim_count);
  repeat->access[1] = block_access(repeat, 1, r, nest->access[a].type);
  (void)pb_nest_load(repeat, 0);
}

static void make_blocks(const pb_nest* nest, const rows* r, pb_nest* made) {
  pb_nest_copy(made, nest);
  pb_nest_cut_dim(made, r->first - 1, r->block);
  for (int a = 0; a < nest->access_count; ++a)
    if (r->repeats[a]) made->access[a] = block_access(made, r->first + 1, r, nest->access[a].type);
}

static int64_t cycles_of(pb_unit* unit, const pb_program* of, int n, pb_arena* scratch) {
  pb_program view;
  pb_program_view(of, &n, 1, scratch, &view);
  return pb_fusion_cycles(unit, &view, scratch);
}

// Appends what becomes of nest n, to a program that begins as the one it is of.
static void add_nests(pb_unit* unit, const pb_program* from, int n, const rows* r, pb_nest* own, pb_program* to) {
  const pb_nest* nest = &from->nests[n];
  int values[PB_NEST_ACCESSES];
  memcpy(values, from->value_of[n], sizeof values);
  for (int a = 0; a < nest->access_count; ++a) {
    if (!r->repeats[a]) continue;
    make_repeat(nest, r, a, &own[REPEAT]);
    values[a] = pb_program_add_local(to, &unit->pass, &own[REPEAT].access[1]);
    (void)pb_program_add_nest(to, &own[REPEAT], (int[PB_NEST_ACCESSES]){from->value_of[n][a], values[a]});
  }
  make_blocks(nest, r, &own[BLOCKS]);
  (void)pb_program_add_nest(to, &own[BLOCKS], values);
}

// What is repeated is copied by elements, which is little and which no plan prices.
static bool gains(const blocker* b, int n, const rows* r, pb_nest* own) {
  pb_arena scratch = {0};
  pb_program blocks;
  int64_t as_is = cycles_of(b->unit, b->from, n, &scratch);
  pb_program_begin_nests(b->from, &scratch, &blocks);
  blocks.arena = &scratch;
  add_nests(b->unit, b->from, n, r, own, &blocks);
  pb_program_index(&blocks, &scratch);
  int last = blocks.nest_count - 1;
  int64_t cycles = cycles_of(b->unit, &blocks, last, &scratch);
  if (cycles < INT64_MAX) cycles += last * r->block * r->length * COPY;
  pb_arena_free(&scratch);
  return pb_fusion_gains(cycles, as_is);
}

bool pb_s3_short_rows(pb_unit* unit, pb_program* p) {
  blocker b = {.unit = unit, .from = p, .lanes = pb_vector_facts_of(unit->chip).lanes};
  rows* found = PB_NEW_ARRAY(&unit->pass, rows, (size_t)p->nest_count + 1);
  pb_nest* own = PB_NEW_ARRAY(&unit->pass, pb_nest, OWN_NESTS);
  bool any = false;
  for (int n = 0; n < p->nest_count; ++n) {
    bool is_there = find_rows(&b, n, &found[n]) && !pb_join_is_epilogue(p, n);
    found[n].block = is_there ? block_of(&b, &p->nests[n], &found[n]) : 1;
    if (found[n].block > 1 && !gains(&b, n, &found[n], own)) found[n].block = 1;
    any |= found[n].block > 1;
  }
  if (!any) return false;
  pb_program_begin_nests(p, &unit->pass, &b.to);
  for (int n = 0; n < p->nest_count; ++n)
    if (found[n].block > 1)
      add_nests(unit, p, n, &found[n], own, &b.to);
    else
      (void)pb_program_add_nest(&b.to, &p->nests[n], p->value_of[n]);
  *p = b.to;
  return true;
}

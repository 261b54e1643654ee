// Each index as a relation { [loops around] -> [index] }, of which isl proves that an interval holds it and that its
// ends are reached. (A box is a product, so indices need not be looked at together. isl's fixed box hull finds fewer:
// none where strides leave gaps; its least and largest elements come in pieces there.) Relations are handed over as
// text: a few dozen characters, parsed in microseconds, and readable in a debugger.
#include "core/poly/slice.h"

#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/options.h>
#include <string.h>

static bool is_around(int column, int level) { return column >= PB_NEST_DIMS && column - PB_NEST_DIMS < level; }

static void print_bound(pb_text* text, const char* join, int column, int64_t extent) {
  pb_text_add(text, "%s0 <= c%d < %lld", join, column, (long long)extent);
}

// 0 <= c12 < 4 and 0 <= c13 < 2: the iterations of the loops around that the index moves with.
static const char* print_iterations(pb_text* text, const pb_index* index, const int64_t* extents, int level,
                                    const char* join) {
  for (int c = 0; c < PB_NEST_COLS; ++c) {
    if (!is_around(c, level) || !index->coef[c]) continue;
    print_bound(text, join, c, extents[c]);
    join = " and ";
  }
  return join;
}

static void print_space(pb_text* text, int level) {
  pb_text_add(text, "{ [");
  for (int k = 0; k < level; ++k) pb_text_add(text, "%sc%d", k ? ", " : "", PB_NEST_DIMS + k);
  pb_text_add(text, "] -> [i] : ");
}

static void print_linear(pb_text* text, const pb_index* index, int64_t more) {
  pb_text_add(text, "%lld", (long long)(index->cst + more));
  for (int c = 0; c < PB_NEST_COLS; ++c)
    if (index->coef[c]) pb_text_add(text, " + %lld c%d", (long long)index->coef[c], c);
}

static __isl_give isl_map* read_map(isl_ctx* ctx, pb_text* text) {
  pb_text_add(text, " }");
  isl_map* map = isl_map_read_from_str(ctx, text->data);
  pb_text_free(text);
  return map;
}

// What is touched: { [c12] -> [i] : exists c0, c1 : 0 <= c12 < 4 and 0 <= c0 < 16 and 0 <= c1 < 3 and i = ... }
static __isl_give isl_map* touched_by(isl_ctx* ctx, const pb_index* index, const int64_t* extents, int level) {
  pb_text text = {0};
  int inside = 0;
  print_space(&text, level);
  for (int c = 0; c < PB_NEST_COLS; ++c)
    if (!is_around(c, level) && index->coef[c]) pb_text_add(&text, inside++ ? ", c%d" : "exists c%d", c);
  const char* join = print_iterations(&text, index, extents, level, inside ? " : " : "");
  for (int c = 0; c < PB_NEST_COLS; ++c) {
    if (is_around(c, level) || !index->coef[c]) continue;
    print_bound(&text, join, c, extents[c]);
    join = " and ";
  }
  pb_text_add(&text, "%si = ", join);
  print_linear(&text, index, 0);
  return read_map(ctx, &text);
}

typedef struct interval {
  const pb_index* origin;
  int64_t from, to; // behind it
} interval;

// { [c12] -> [i] : 0 <= c12 < 4 and origin + from <= i <= origin + to }, in the same iterations.
static __isl_give isl_map* read_interval(isl_ctx* ctx, interval at, const pb_index* index, const int64_t* extents,
                                         int level) {
  pb_text text = {0};
  print_space(&text, level);
  pb_text_add(&text, "%s", print_iterations(&text, index, extents, level, ""));
  print_linear(&text, at.origin, at.from);
  pb_text_add(&text, " <= i <= ");
  print_linear(&text, at.origin, at.to);
  return read_map(ctx, &text);
}

static bool includes(__isl_take isl_map* small, __isl_take isl_map* large) {
  bool included = isl_map_is_subset(small, large) == isl_bool_true; // an error of isl's is no proof
  isl_map_free(small);
  isl_map_free(large);
  return included;
}

// Nothing is touched outside the interval and, unless it may be wider, both of its ends are touched in every iteration.
static bool is_least(isl_ctx* ctx, const pb_index* index, const int64_t* extents, int level, const pb_index* origin,
                     int64_t extent, bool wider) {
  isl_map* touched = touched_by(ctx, index, extents, level);
  interval whole = {origin, 0, extent - 1}, first = {origin, 0, 0}, last = {origin, extent - 1, extent - 1};
  bool least = includes(isl_map_copy(touched), read_interval(ctx, whole, index, extents, level));
  if (!wider)
    least = least && includes(read_interval(ctx, first, index, extents, level), isl_map_copy(touched)) &&
            includes(read_interval(ctx, last, index, extents, level), isl_map_copy(touched));
  isl_map_free(touched);
  return least;
}

// The origin names loops around alone, and those that the index itself moves with.
static bool stands_outside(const pb_index* origin, const pb_index* index, int level) {
  for (int c = 0; c < PB_NEST_COLS; ++c)
    if (origin->coef[c] && (!is_around(c, level) || !index->coef[c])) return false;
  return true;
}

// All that a proof about one index looks at.
typedef struct claim {
  pb_index index, origin;
  int64_t extents[PB_NEST_COLS], extent, level, wider;
} claim;

static bool is_known(const pb_proofs* proofs, const claim* c) {
  return proofs && pb_table_find(&proofs->known, c, sizeof *c) >= 0;
}

static void note(pb_proofs* proofs, const claim* c) {
  if (!proofs) return;
  claim* kept = PB_NEW(proofs->arena, claim);
  memcpy(kept, c, sizeof *kept);
  pb_table_add(&proofs->known, kept, sizeof *kept, 1);
}

static bool prove(isl_ctx** ctx, const claim* c) {
  if (!*ctx) *ctx = isl_ctx_alloc();
  if (!*ctx) return false;
  isl_options_set_on_error(*ctx, ISL_ON_ERROR_CONTINUE);
  return is_least(*ctx, &c->index, c->extents, (int)c->level, &c->origin, c->extent, c->wider);
}

bool pb_slice_is_least(const pb_access* access, const int64_t* extents, int level, const pb_slice* slice,
                       pb_proofs* proofs) {
  isl_ctx* ctx = NULL;
  bool least = true;
  for (int r = 0; r < access->rank && least; ++r) {
    claim c;
    memset(&c, 0, sizeof c);
    c.index = access->index[r];
    c.origin = slice->origin[r];
    c.extent = slice->extent[r];
    c.level = level;
    c.wider = slice->wider == r + 1;
    memcpy(c.extents, extents, sizeof c.extents);
    least = stands_outside(&c.origin, &c.index, level);
    if (!least || is_known(proofs, &c)) continue;
    least = prove(&ctx, &c);
    if (least) note(proofs, &c);
  }
  if (ctx) isl_ctx_free(ctx);
  return least;
}

// Each index, less the origin of its slice, as a relation { [loops around] -> [i] }, of which isl proves that 0 to
// extent - 1 holds it and that both ends are reached. (A box is a product, so indices need not be looked at together.
// isl's fixed box hull finds fewer: none where strides leave gaps; its least and largest elements come in pieces
// there.) Relations are handed over as text: a few dozen characters, parsed in microseconds, and readable in a
// debugger.
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

// { [c12] -> [i] : 0 <= c12 < 4 and from <= i <= to }, in the same iterations.
static __isl_give isl_map* read_interval(isl_ctx* ctx, int64_t from, int64_t to, const pb_index* index,
                                         const int64_t* extents, int level) {
  pb_text text = {0};
  print_space(&text, level);
  const char* join = print_iterations(&text, index, extents, level, "");
  pb_text_add(&text, "%s%lld <= i <= %lld", join, (long long)from, (long long)to);
  return read_map(ctx, &text);
}

static bool includes(__isl_take isl_map* small, __isl_take isl_map* large) {
  bool included = isl_map_is_subset(small, large) == isl_bool_true; // an error of isl's is no proof
  isl_map_free(small);
  isl_map_free(large);
  return included;
}

// Nothing is touched outside of 0 to extent - 1 and, unless it may be wider, both ends are touched in every iteration.
static bool is_least(isl_ctx* ctx, const pb_index* index, const int64_t* extents, int level, int64_t extent,
                     bool wider) {
  isl_map* touched = touched_by(ctx, index, extents, level);
  int64_t last = extent - 1;
  bool least = includes(isl_map_copy(touched), read_interval(ctx, 0, last, index, extents, level));
  if (!wider)
    least = least && includes(read_interval(ctx, 0, 0, index, extents, level), isl_map_copy(touched)) &&
            includes(read_interval(ctx, last, last, index, extents, level), isl_map_copy(touched));
  isl_map_free(touched);
  return least;
}

// The origin names loops around alone, and those that the index itself moves with.
static bool stands_outside(const pb_index* origin, const pb_index* index, int level) {
  for (int c = 0; c < PB_NEST_COLS; ++c)
    if (origin->coef[c] && (!is_around(c, level) || !index->coef[c])) return false;
  return true;
}

// All that a proof about one index looks at: how far behind the slice's origin it lies. What both move with is gone
// from it, so that wherever a tile stands, and whatever is around it, there is one proof.
typedef struct claim {
  pb_index behind;
  int64_t extents[PB_NEST_COLS]; // of what moves it
  int64_t extent, level, wider;
} claim;

// false: it lies further than numbers go.
static bool make_claim(const pb_index* index, const pb_index* origin, const int64_t* extents, int level, claim* c) {
  memset(c, 0, sizeof *c);
  bool fits = !__builtin_sub_overflow(index->cst, origin->cst, &c->behind.cst);
  for (int k = 0; k < PB_NEST_COLS && fits; ++k) {
    fits = !__builtin_sub_overflow(index->coef[k], origin->coef[k], &c->behind.coef[k]);
    if (!c->behind.coef[k]) continue;
    c->extents[k] = extents[k];
    if (is_around(k, level)) c->level = level;
  }
  return fits;
}

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
  return is_least(*ctx, &c->behind, c->extents, (int)c->level, c->extent, c->wider);
}

bool pb_slice_is_least(const pb_access* access, const int64_t* extents, int level, const pb_slice* slice,
                       pb_proofs* proofs) {
  isl_ctx* ctx = NULL;
  bool least = true;
  for (int r = 0; r < access->rank && least; ++r) {
    claim c;
    least = stands_outside(&slice->origin[r], &access->index[r], level) &&
            make_claim(&access->index[r], &slice->origin[r], extents, level, &c);
    if (!least) break;
    c.extent = slice->extent[r];
    c.wider = slice->wider == r + 1;
    if (is_known(proofs, &c)) continue;
    least = prove(&ctx, &c);
    if (least) note(proofs, &c);
  }
  if (ctx) isl_ctx_free(ctx);
  return least;
}

// Each index as a relation { [loops around] -> [index] }, whose least and largest elements isl finds as functions of
// the loops. (A box is a product, so indices need not be looked at together. isl's fixed box hull finds fewer: none
// where strides leave gaps.) Relations are handed over as text: a few dozen characters, parsed in microseconds, and
// readable in a debugger.
#include "core/poly/slice.h"

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/space.h>
#include <isl/val.h>
#include <string.h>

static bool is_around(int column, int level) { return column >= PB_NEST_DIMS && column - PB_NEST_DIMS < level; }

static void print_bound(pb_text* text, const char* join, int column, int64_t extent) {
  pb_text_add(text, "%s0 <= c%d < %lld", join, column, (long long)extent);
}

// { [c12, c13] -> [i] : exists c0, c1 : 0 <= c0 < 16 and 0 <= c1 < 3 and i = 2 c12 + c0 + c1 - 1 }
static void print_relation(pb_text* text, const pb_index* index, const int64_t* extents, int level) {
  pb_text_add(text, "{ [");
  for (int k = 0; k < level; ++k) pb_text_add(text, "%sc%d", k ? ", " : "", PB_NEST_DIMS + k);
  pb_text_add(text, "] -> [i] : ");
  int inside = 0;
  for (int c = 0; c < PB_NEST_COLS; ++c)
    if (!is_around(c, level) && index->coef[c]) pb_text_add(text, inside++ ? ", c%d" : "exists c%d", c);
  const char* join = inside ? " : " : "";
  for (int c = 0; c < PB_NEST_COLS; ++c) {
    if (is_around(c, level) || !index->coef[c]) continue;
    print_bound(text, join, c, extents[c]);
    join = " and ";
  }
  pb_text_add(text, "%si = %lld", join, (long long)index->cst);
  for (int c = 0; c < PB_NEST_COLS; ++c)
    if (index->coef[c]) pb_text_add(text, " + %lld c%d", (long long)index->coef[c], c);
  pb_text_add(text, " }");
}

static bool whole_number(__isl_take isl_val* value, int64_t* number) {
  bool whole = isl_val_is_int(value) == isl_bool_true;
  if (whole) *number = isl_val_get_num_si(value);
  isl_val_free(value);
  return whole;
}

static bool read_linear(__isl_take isl_aff* aff, int level, pb_index* linear) {
  bool whole = isl_aff_dim(aff, isl_dim_div) == 0;
  for (int k = 0; k < level && whole; ++k)
    whole = whole_number(isl_aff_get_coefficient_val(aff, isl_dim_in, k), &linear->coef[PB_NEST_DIMS + k]);
  whole = whole && whole_number(isl_aff_get_constant_val(aff), &linear->cst);
  isl_aff_free(aff);
  return whole;
}

// The one linear function that a map of one result is; the map is taken. false: it is of several pieces.
static bool read_bound(__isl_take isl_pw_multi_aff* bound, int level, pb_index* linear) {
  bool one = isl_pw_multi_aff_n_piece(bound) == 1;
  isl_multi_aff* piece = one ? isl_pw_multi_aff_as_multi_aff(isl_pw_multi_aff_copy(bound)) : NULL;
  bool read = piece && read_linear(isl_multi_aff_get_aff(piece, 0), level, linear);
  isl_multi_aff_free(piece);
  isl_pw_multi_aff_free(bound);
  return read;
}

// The least and the largest index; their distance must be the same in every turn.
static bool box_index(isl_ctx* ctx, const pb_index* index, const int64_t* extents, int level, pb_index* origin,
                      int64_t* extent) {
  pb_text text = {0};
  pb_index end = {0};
  print_relation(&text, index, extents, level);
  isl_map* touched = isl_map_read_from_str(ctx, text.data);
  bool found = read_bound(isl_map_lexmin_pw_multi_aff(isl_map_copy(touched)), level, origin) &&
               read_bound(isl_map_lexmax_pw_multi_aff(isl_map_copy(touched)), level, &end) &&
               !memcmp(origin->coef, end.coef, sizeof end.coef);
  *extent = end.cst - origin->cst + 1;
  isl_map_free(touched);
  pb_text_free(&text);
  return found;
}

bool pb_slice_box(const pb_access* access, const int64_t* extents, int level, pb_slice* slice) {
  memset(slice, 0, sizeof *slice);
  isl_ctx* ctx = isl_ctx_alloc();
  if (!ctx) return false;
  isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
  bool found = true;
  for (int r = 0; r < access->rank && found; ++r)
    found = box_index(ctx, &access->index[r], extents, level, &slice->origin[r], &slice->extent[r]);
  isl_ctx_free(ctx);
  return found;
}

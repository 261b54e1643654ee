// Of a kernel's tensors, which may lie over which: each element of the one is stored by what loads the same element of
// the other, and the kernel reads that one nowhere else. So the host may give both one place, where nobody wants what
// was there before (core/driver/in_place.c).
#include "core/s3/compose.h"
#include "core/s3/fusion/fusion.h"

// A kernel's tensors.
typedef struct over {
  const pb_program* program;
  const int* values;
  int count;
  int64_t lanes; // the chip's
} over;

int pb_position_of(const int* values, int count, int value) {
  for (int k = 0; k < count; ++k)
    if (values[k] == value) return k;
  return -1;
}

// Whether all that nest n loads of `read` is the element that it stores in `made`.
static bool loads_where_it_stores(const pb_program* p, int n, int made, int read) {
  const pb_nest* nest = &p->nests[n];
  int last = nest->access_count - 1;
  const pb_access* store = &nest->access[last];
  for (int a = 0; a < last; ++a) {
    if (p->value_of[n][a] != read) continue;
    const pb_access* load = &nest->access[a];
    if (p->value_of[n][last] != made || nest->reduce != PB_SET || load->boxed || load->gathered || store->gathered ||
        load->type != store->type || !pb_same_walk(load, store))
      return false;
  }
  return true;
}

// Whether no row of lanes is in part outside of the nest: one that ends where its dim does is set twice in part.
static bool has_whole_rows(const pb_nest* nest, int64_t lanes) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (lanes <= 0 || (nest->extent[d] > 1 && nest->extent[d] % lanes)) return false;
  return true;
}

// Whether the nests store what none of them takes, element by element: a tile then loads all before it stores. What
// they take of each other alone is the tile's own; but then rows of lanes must be whole, for within a tile there are
// loops.
static bool stand_alone(const over* o, const int* nests, int count) {
  bool several = false, whole = true;
  for (int k = 0; k < count; ++k) {
    const pb_nest* nest = &o->program->nests[nests[k]];
    int stored = pb_program_stored(o->program, nests[k]);
    if (nest->reduce != PB_SET) return false;
    bool leaves = pb_position_of(o->values, o->count, stored) >= 0;
    if (leaves) whole &= has_whole_rows(nest, o->lanes);
    for (int m = 0; m < count; ++m) {
      if (!pb_program_reads(o->program, nests[m], stored)) continue;
      if (leaves) return false;
      several = true;
    }
  }
  return whole || !several;
}

static bool lies_over(const pb_program* p, const int* nests, int count, int made, int read) {
  bool reads = false;
  for (int k = 0; k < count; ++k) {
    if (!loads_where_it_stores(p, nests[k], made, read)) return false;
    reads |= pb_program_reads(p, nests[k], read);
  }
  return reads;
}

static bool only_copies(const pb_program* p, const int* nests, int count) {
  for (int k = 0; k < count; ++k)
    if (!pb_nest_is_copy(&p->nests[nests[k]]) || p->nests[nests[k]].access_count != 2) return false;
  return true;
}

bool pb_print_over(const pb_program* p, int64_t lanes, const int* nests, int count, const int* values, int value_count,
                   pb_text* text) {
  const over o = {p, values, value_count, lanes};
  bool made[PB_OVER_TENSORS] = {false};
  int said = 0;
  if (value_count > PB_OVER_TENSORS) return false;
  pb_text_add(text, ", pb.makes = array<i64");
  for (int k = 0; k < count; ++k) {
    int at = pb_position_of(values, value_count, pb_program_stored(p, nests[k]));
    if (at < 0 || made[at]) continue;
    made[at] = true;
    pb_text_add(text, "%s%d", said++ ? ", " : ": ", at);
  }
  pb_text_add(text, ">");
  said = 0;
  if (!stand_alone(&o, nests, count)) return false;
  for (int m = 0; m < value_count; ++m)
    for (int r = 0; made[m] && r < value_count; ++r)
      if (!made[r] && lies_over(p, nests, count, values[m], values[r]))
        pb_text_add(text, "%s%d, %d", said++ ? ", " : ", pb.over = array<i64: ", m, r);
  if (!said) return false;
  pb_text_add(text, ">");
  if (only_copies(p, nests, count)) pb_text_add(text, ", pb.copies");
  return true;
}

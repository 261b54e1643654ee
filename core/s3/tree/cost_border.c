// Of a register tile's products those that meet no border of zeros: others are left out (lower/vector_border.c).
#include "core/s3/tree/cost.h"
#include "core/s3/tree/cost_cores.h"

// Dims and loops that move x along a border.
typedef struct moves {
  int count;
  struct {
    int64_t step, iterations;
  } of[PB_NEST_COLS];
} moves;

static int64_t add_move(moves* m, int64_t step, int64_t iterations) {
  if (!step || iterations < 2) return 0;
  m->of[m->count].step = step;
  m->of[m->count++].iterations = iterations;
  return step * (iterations - 1);
}

// The iteration of the last move from which on the place is no less than `to`.
static int64_t first_at(const moves* m, int64_t at, int64_t to) {
  int64_t step = m->of[m->count - 1].step, iterations = m->of[m->count - 1].iterations;
  int64_t first = to > at ? (to - at + step - 1) / step : 0;
  return first < iterations ? first : iterations;
}

// Of all iterations, from the k-th move on, those in which some of `span` neighbours more is outside of the border.
static int64_t count_outside(const pb_border* border, const moves* m, int k, int64_t at, int64_t span) {
  int64_t outside = 0;
  if (!m->count) return at + span >= border->begin && at < border->end;
  if (k == m->count - 1) return first_at(m, at, border->end) - first_at(m, at, border->begin - span);
  for (int64_t i = 0; i < m->of[k].iterations; ++i)
    outside += count_outside(border, m, k + 1, at + i * m->of[k].step, span);
  return outside;
}

// Whether loops around that stages share walk it: a stage is planned in one iteration of these.
static bool is_shared(const pb_vkernel* k, const pb_border* border) {
  for (int c = PB_NEST_DIMS; c < PB_NEST_COLS; ++c)
    if (pb_vkernel_border_steps(k, border, c)) return true;
  return false;
}

// Of so many cycles those for products outside of one border. Where a tile has a small part of the border's index, a
// step is left out if no point is outside.
static int64_t outside_of(const pb_tiling* t, const pb_vkernel* k, const pb_border* border, const pb_nest* nest,
                          const pb_access* x, int64_t cycles) {
  moves own = {0}, loops = {0};
  int sums = t->base + pb_plan_around(t->plan, PB_OF_RESULT);
  int64_t all = 1, inside = 0, window = 0, first = pb_border_steps(border, pb_access_offset(x));
  bool parts = false;
  for (int d = 0; d < nest->dim_count; ++d)
    inside += add_move(&own, pb_border_steps(border, pb_access_stride(x, d)), nest->extent[d]);
  for (int l = 0; l < nest->outer_count; ++l) {
    int64_t step = pb_border_steps(border, pb_access_stride(x, PB_NEST_DIMS + l));
    int64_t along = add_move(&loops, step, nest->outer_extent[l]);
    if (l < sums)
      parts |= along > 0;
    else
      window += along;
  }
  if (is_shared(k, border)) // from the first place on to the last one
    parts |= add_move(&loops, 1, border->extent - inside - window) > 0;
  parts |= !pb_border_is_near(border, 1 + inside + window);
  for (int k = 0; k < own.count && !parts; ++k) loops.of[loops.count++] = own.of[k];
  for (int k = 0; k < loops.count; ++k) all *= loops.of[k].iterations;
  int64_t outside = count_outside(border, &loops, 0, first, parts ? inside : 0);
  return (cycles * outside + all - 1) / all;
}

int64_t pb__core_outside(const pb_tiling* t, const pb_vkernel* k, const pb_nest* nest, const pb_access* x,
                         int64_t cycles) {
  for (int b = 0; b < k->border_count && !pb__is_buffer(x); ++b)
    cycles = outside_of(t, k, &k->borders[b], nest, x, cycles);
  return cycles;
}

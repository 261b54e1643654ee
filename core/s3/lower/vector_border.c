// Products of a register tile that are left out, as x is in a border of zeros there. Where there are one or two tiles
// along an index each iteration of a window is code of its own, for the points that are outside; where there are more a
// loop over the window begins and ends where a point is outside.
//
//   for r = max(0, 1 - h) to min(3, 8 - h) {                       a row of 7 points in an image of 7x7, padded by 1
//     s = 0: points 1 to 6;  s = 1: points 0 to 6;  s = 2: points 0 to 5 }
#include "core/s3/lower/vector_tile.h"

static const pb_access* x_of(const pb_vemit* e) { return &e->k->main->access[e->k->x]; }

// How far the loop of a level moves x along the border.
static int64_t steps_at(const pb_vemit* e, const pb_border* border, int level) {
  if (level >= e->k->main->outer_count || e->k->main->outer_extent[level] == 1) return 0;
  return pb_vkernel_border_steps(e->k, border, PB_NEST_DIMS + level);
}

// ---- one tile or two along an index ----

// No loop over tiles walks it, and the tile reads most of it.
static bool is_near(const pb_vemit* e, const pb_border* border) {
  const pb_nest* main = e->k->main;
  int64_t steps = 1;
  for (int d = 0; d < main->dim_count; ++d) steps += pb_vkernel_border_steps(e->k, border, d) * (main->extent[d] - 1);
  for (int level = 0; level < PB_NEST_OUTERS; ++level) {
    int64_t step = steps_at(e, border, level);
    if (step && e->sum_at[level] < 0) return false;
    if (step) steps += step * (main->outer_extent[level] - 1);
  }
  return pb_border_is_near(border, steps);
}

void pb__vtile_find_borders(pb_vtile* t) {
  for (int n = 0; n < PB_NEST_OUTERS; ++n) t->iteration[n] = -1;
  for (int b = 0; b < t->e->k->border_count; ++b) t->is_near[b] = is_near(t->e, &t->e->k->borders[b]);
}

// Whether terms that are written out in one iteration move x along the border.
static bool is_walked_inside(const pb_vkernel* k, const pb_border* border) {
  for (int d = 0; d < k->main->dim_count; ++d)
    if (k->is_sum[d] && k->main->extent[d] > 1 && pb_vkernel_border_steps(k, border, d)) return true;
  return false;
}

bool pb__vtile_in_border(const pb_vtile* t, int point, const int64_t* iteration) {
  const pb_vemit* e = t->e;
  for (int b = 0; b < e->k->border_count; ++b) {
    const pb_border* border = &e->k->borders[b];
    int64_t place = pb__vtile_displacement(t, x_of(e), point, iteration);
    bool known = t->is_near[b] && (iteration || !is_walked_inside(e->k, border));
    for (int level = 0; level < PB_NEST_OUTERS; ++level) {
      int n = steps_at(e, border, level) ? e->sum_at[level] : -1;
      known &= !steps_at(e, border, level) || (n >= 0 && t->iteration[n] >= 0);
      if (n >= 0) place += t->iteration[n] * pb_vkernel_stride(x_of(e), PB_NEST_DIMS + level);
    }
    if (known && pb_border_has(border, pb_border_steps(border, place))) return true;
  }
  return false;
}

// Whether the n-th loop over terms alone moves x along some border that is near.
static bool is_written_out(const pb_vtile* t, int n) {
  const pb_vemit* e = t->e;
  for (int b = 0; b < e->k->border_count; ++b) {
    const pb_border* border = &e->k->borders[b];
    bool alone = t->is_near[b] && steps_at(e, border, e->sums[n].level) && !is_walked_inside(e->k, border);
    for (int level = 0; level < PB_NEST_OUTERS && alone; ++level)
      alone = level == e->sums[n].level || !steps_at(e, border, level);
    if (alone) return true;
  }
  return false;
}

// The points that are outside of all borders in this iteration of the n-th loop.
static uint64_t outside(pb_vtile* t, int n, int64_t iteration) {
  uint64_t points = 0;
  t->iteration[n] = iteration;
  for (int p = 0; p < t->points; ++p)
    if (!pb__vtile_in_border(t, p, NULL)) points |= (uint64_t)1 << p;
  return points;
}

bool pb__vtile_next_run(pb_vtile* t, int n, int64_t begin, int64_t* end) {
  t->iteration[n] = -1;
  t->one[n] = false;
  *end = t->e->sums[n].iterations;
  if (!is_written_out(t, n)) return true;
  uint64_t points = outside(t, n, begin);
  int64_t next = begin + 1;
  while (next < *end && outside(t, n, next) == points) ++next;
  t->iteration[n] = begin;
  t->one[n] = next == begin + 1;
  *end = next;
  return points != 0;
}

// ---- loops over tiles along an index ----

// The n-th loop along a border that is not near: iteration i has points at `first + place + step * i` to `span`
// further, where place is linear in loops over tiles and `most` at most.
typedef struct along {
  const pb_border* border;
  int64_t first, span, step, most;
} along;

static bool find_along(const pb_vemit* e, int n, const pb_border* border, along* a) {
  const pb_nest* main = e->k->main;
  *a = (along){.border = border, .first = pb_border_steps(border, x_of(e)->index[0].cst)};
  for (int d = 0; d < main->dim_count; ++d) a->span += pb_vkernel_border_steps(e->k, border, d) * (main->extent[d] - 1);
  for (int level = 0; level < PB_NEST_OUTERS; ++level) {
    int64_t steps = steps_at(e, border, level), sum = steps ? e->sum_at[level] : -1;
    if (sum == n)
      a->step = steps;
    else if (steps)
      *(sum < 0 ? &a->most : &a->span) += steps * (main->outer_extent[level] - 1);
  }
  int64_t last = a->first + a->most + a->step * (e->sums[n].iterations - 1);
  return a->step && (a->first + a->span < border->begin || last >= border->end);
}

// One end of the loop: the least number of iterations after which a point that is `from` further is at `to`.
static void print_end(const pb_vemit* e, int n, const along* a, int64_t to, int64_t from) {
  pb_text_add(e->text, ", ((%lld", (long long)(to - a->first - from));
  for (int level = 0, d = 0; level < e->sums[0].level; ++level)
    pb_text_add(e->text, " - d%d * %lld", d++, (long long)steps_at(e, a->border, level));
  pb_text_add(e->text, ") ceildiv %lld) * %lld", (long long)a->step, (long long)e->sums[n].step);
}

static void print_ends(const pb_vemit* e, int n, int64_t limit, const along* all, int count, bool last) {
  int levels = e->sums[0].level;
  pb_text_add(e->text, "%s affine_map<(", last ? "min" : "max");
  for (int d = 0; d < levels; ++d) pb_text_add(e->text, "%sd%d", d ? ", " : "", d);
  pb_text_add(e->text, ") -> (%lld", (long long)(limit * e->sums[n].step));
  for (int k = 0; k < count; ++k)
    print_end(e, n, &all[k], last ? all[k].border->end : all[k].border->begin, last ? 0 : all[k].span);
  pb_text_add(e->text, ")>(");
  for (int d = 0; d < levels; ++d) pb_text_add(e->text, "%s%%o%d", d ? ", " : "", d);
  pb_text_add(e->text, ")");
}

void pb__vtile_print_run(const pb_vtile* t, int n, int64_t begin, int64_t end) {
  const pb_vemit* e = t->e;
  const pb_vsum* loop = &e->sums[n];
  along all[PB_NEST_RANK];
  int count = 0;
  for (int b = 0; b < e->k->border_count; ++b)
    if (!t->is_near[b]) count += find_along(e, n, &e->k->borders[b], &all[count]);
  if (!count) {
    pb_text_add(e->text, "%lld to %lld", (long long)(begin * loop->step), (long long)(end * loop->step));
    return;
  }
  print_ends(e, n, begin, all, count, false);
  pb_text_add(e->text, " to ");
  print_ends(e, n, end, all, count, true);
}

// Places fall into boxes in which they go in even steps along each dim. Where each dim moves them by itself, each is
// cut into runs; where they depend on the difference or the sum of two dims, as relative positions do, they are read
// once for each such number, and what was read is walked askew; else a dim is cut where more changes than where it
// begins.
#include "core/s1/places.h"

#include <stdint.h>
#include <string.h>

// So many boxes are always made; of more, each has so many of the dims' steps or of y's elements on average.
enum { MOST_BOXES = 256, FEW_BOXES = 6, LEAST_RUN = 4, LEAST_BOX = 256, MOST_PERIOD = 8 };

// Indices first, first + every, ... along each dim of y.
typedef struct box {
  int64_t first[PB_NEST_RANK], count[PB_NEST_RANK], every[PB_NEST_RANK];
} box;

typedef struct cutter {
  const pb_places* p;
  int x_rank, rank;
  int64_t extent[PB_NEST_RANK], stride[PB_NEST_RANK]; // of y's dims; of the tables along them, 0: not walked
  int count;
  box boxes[MOST_BOXES];
} cutter;

static int64_t place_at(const cutter* c, int r, const int64_t* index) {
  int64_t at = 0;
  for (int d = 0; d < c->rank; ++d) at += c->stride[d] * index[d];
  return c->p->table[r] ? c->p->table[r][at] : 0;
}

static void begin(const box* in, int64_t* index) { memcpy(index, in->first, sizeof in->first); }

static bool next(const cutter* c, const box* in, int64_t* index) {
  for (int d = c->rank - 1; d >= 0; --d) {
    if (!c->stride[d]) continue;
    if (++index[d] < in->first[d] + in->count[d]) return true;
    index[d] = in->first[d];
  }
  return false;
}

// Whether all places of the box are the first one's and what each dim by itself adds to them.
static bool is_separate(const cutter* c, const box* in) {
  int64_t index[PB_NEST_RANK], alone[PB_NEST_RANK];
  begin(in, alone);
  for (int r = 0; r < c->x_rank; ++r) {
    int64_t first = place_at(c, r, in->first);
    begin(in, index);
    do {
      int64_t sum = first;
      for (int d = 0; d < c->rank; ++d) {
        if (index[d] == in->first[d]) continue;
        alone[d] = index[d];
        sum += place_at(c, r, alone) - first;
        alone[d] = in->first[d];
      }
      if (sum != place_at(c, r, index)) return false;
    } while (next(c, in, index));
  }
  return true;
}

// Whether the places at index k of the dim are those at index j, or, if they may be `moved`, so many more everywhere.
static bool are_alike(const cutter* c, const box* in, int dim, int64_t j, int64_t k, bool moved) {
  box one = *in;
  int64_t index[PB_NEST_RANK], more = 0, by = 0;
  one.first[dim] = j;
  one.count[dim] = 1;
  for (int r = 0; r < c->x_rank; ++r) {
    bool known = !moved;
    begin(&one, index);
    by = 0;
    do {
      int64_t here = place_at(c, r, index);
      index[dim] = k;
      more = place_at(c, r, index) - here;
      index[dim] = j;
      if (known && more != by) return false;
      by = more;
      known = true;
    } while (next(c, &one, index));
  }
  return true;
}

static bool moves(const cutter* c, const box* in, int dim) {
  for (int64_t k = 1; c->stride[dim] && k < in->count[dim]; ++k)
    if (!are_alike(c, in, dim, in->first[dim], in->first[dim] + k, false)) return true;
  return false;
}

// ---- runs along one dim ----

typedef struct runs {
  int count;
  int64_t period, first[MOST_BOXES], length[MOST_BOXES];
} runs;

// Whether the steps from a to b and from b to d are the same.
static bool is_even(const cutter* c, const box* in, int dim, int64_t a, int64_t b, int64_t d) {
  int64_t index[PB_NEST_RANK];
  begin(in, index);
  for (int r = 0; r < c->x_rank; ++r) {
    index[dim] = a;
    int64_t first = place_at(c, r, index);
    index[dim] = b;
    int64_t second = place_at(c, r, index);
    index[dim] = d;
    if (place_at(c, r, index) - second != second - first) return false;
  }
  return true;
}

// Greedily: each run goes on as long as its first step does.
static bool cut(const cutter* c, const box* in, int dim, int64_t period, runs* found) {
  found->count = 0;
  found->period = period;
  for (int64_t begin = 0; begin < period; ++begin) {
    int64_t from = in->first[dim] + begin, end = in->first[dim] + in->count[dim], length = 1;
    for (int64_t k = from + period; k <= end + period; k += period) {
      if (k < end && (length == 1 || is_even(c, in, dim, k - 2 * period, k - period, k))) {
        ++length;
        continue;
      }
      if (found->count == MOST_BOXES) return false;
      found->first[found->count] = from;
      found->length[found->count++] = length;
      if (k >= end) break;
      from = k;
      length = 1;
    }
  }
  return true;
}

// The fewest with a short period.
static bool find_runs(const cutter* c, const box* in, int dim, runs* found) {
  runs tried;
  found->count = 0;
  for (int64_t period = 1; period <= MOST_PERIOD && period <= in->count[dim]; ++period)
    if (cut(c, in, dim, period, &tried) && (!found->count || tried.count < found->count)) *found = tried;
  return found->count > 0;
}

// ---- boxes ----

static bool add(cutter* c, const box* b) {
  if (c->count == MOST_BOXES) return false;
  c->boxes[c->count++] = *b;
  return true;
}

// All runs of the dims from this one on that move places.
static bool add_runs(cutter* c, const box* in, const box* whole, int dim) {
  while (dim < c->rank && !moves(c, whole, dim)) ++dim;
  if (dim == c->rank) return add(c, in);
  pb_arena scratch = {0};
  runs* found = PB_NEW(&scratch, runs);
  bool fits = find_runs(c, whole, dim, found);
  for (int k = 0; fits && k < found->count; ++k) {
    box b = *in;
    b.first[dim] = found->first[k];
    b.count[dim] = found->length[k];
    b.every[dim] = found->period;
    fits = add_runs(c, &b, whole, dim + 1);
  }
  pb_arena_free(&scratch);
  return fits;
}

static bool add_boxes(cutter* c, const box* in) {
  int dim = 0;
  if (is_separate(c, in)) return add_runs(c, in, in, 0);
  while (!moves(c, in, dim)) ++dim;
  for (int64_t k = 0; k < in->count[dim];) {
    box part = *in;
    part.first[dim] = in->first[dim] + k;
    for (part.count[dim] = 1; ++k < in->count[dim]; ++part.count[dim])
      if (!are_alike(c, in, dim, part.first[dim], in->first[dim] + k, true)) break;
    if (!add_boxes(c, &part)) return false;
  }
  return true;
}

static bool are_worth_it(const cutter* c, const box* whole) {
  int64_t steps = 1, all = 1;
  for (int d = 0; d < c->rank; ++d) {
    all *= c->extent[d];
    if (moves(c, whole, d)) steps *= c->extent[d];
  }
  return c->count <= FEW_BOXES || c->count * (int64_t)LEAST_RUN <= steps || c->count * (int64_t)LEAST_BOX <= all;
}

static void make_box(pb_maker* m, const cutter* c, const box* b) {
  int dims[PB_NEST_RANK];
  const pb_places* p = c->p;
  pb_nest* n = pb_make_walk(m, "copy", p->y, dims);
  int from = pb_make_access(m, p->x), to;
  for (int r = 0; r < c->x_rank; ++r) {
    int64_t index[PB_NEST_RANK], first = place_at(c, r, b->first);
    pb_index* at = &n->access[from].index[r];
    at->cst = first;
    for (int d = 0; d < c->rank; ++d) {
      begin(b, index);
      index[d] += b->count[d] > 1 ? b->every[d] : 0;
      int64_t step = place_at(c, r, index) - first + (p->along[r] == d ? b->every[d] : 0);
      if (dims[d] >= 0) at->coef[dims[d]] = step;
    }
    if (p->along[r] >= 0) at->cst += b->first[p->along[r]];
  }
  (void)pb_nest_load(n, from);
  to = pb_make_access(m, p->y);
  for (int d = 0; d < c->rank; ++d) {
    if (dims[d] >= 0) n->extent[dims[d]] = b->count[d];
    pb_make_move(m, to, d, dims[d], b->every[d]);
    n->access[to].index[d].cst = b->first[d];
  }
  pb_make_finish(m);
}

// ---- numbers of two dims ----

// The only two dims that move places, b behind a, and these by b - a (sign -1) or by b + a alone.
typedef struct skew {
  int a, b, sign;
} skew;

static int64_t numbers_of(const cutter* c, const skew* s) { return c->extent[s->a] + c->extent[s->b] - 1; }

static int64_t number_at(const cutter* c, const skew* s, const int64_t* index) {
  return index[s->b] + (s->sign > 0 ? index[s->a] : c->extent[s->a] - 1 - index[s->a]);
}

// The places by number; false: there are others of the same number.
static bool by_number(const cutter* c, const box* whole, const skew* s, int64_t* const* tables) {
  int64_t index[PB_NEST_RANK], count = numbers_of(c, s);
  for (int r = 0; r < c->x_rank; ++r)
    for (int64_t k = 0; tables[r] && k < count; ++k) tables[r][k] = -1;
  begin(whole, index);
  do {
    int64_t number = number_at(c, s, index);
    for (int r = 0; r < c->x_rank; ++r) {
      if (!tables[r]) continue;
      int64_t here = place_at(c, r, index), *known = &tables[r][number];
      if (*known >= 0 && *known != here) return false;
      *known = here;
    }
  } while (next(c, whole, index));
  return true;
}

static bool goes_along(const cutter* c, int dim) {
  for (int r = 0; r < c->x_rank; ++r)
    if (c->p->along[r] == dim) return true;
  return false;
}

// What is read by numbers, and y walking it. false: nothing was made.
static bool make_askew(pb_maker* m, const cutter* c, const skew* s, int64_t* const* tables) {
  pb_places read = *c->p;
  pb_s1_value y = *pb_made(m, read.y);
  int dims[PB_NEST_RANK];
  size_t values = m->program->value_count;
  y.shape[s->b] = numbers_of(c, s);
  if (pb_made_elements(m, c->p->y) / c->extent[s->b] > INT32_MAX / y.shape[s->b]) return false;
  read.y = pb_make_value(m, y.type, y.rank, y.shape);
  for (int r = 0; r < c->x_rank; ++r) read.table[r] = tables[r];
  for (int d = 0; d < c->rank; ++d) read.walked[d] = d == s->b;
  if (!pb_make_places(m, &read)) {
    m->program->value_count = values;
    return false;
  }
  pb_nest* n = pb_make_walk(m, "copy", c->p->y, dims);
  int from = pb_make_access(m, read.y);
  pb_make_along(m, from, dims);
  pb_make_move(m, from, s->b, dims[s->a], s->sign);
  n->access[from].index[s->b].cst = s->sign > 0 ? 0 : c->extent[s->a] - 1;
  (void)pb_nest_load(n, from);
  pb_make_end(m, c->p->y, dims);
  return true;
}

static bool find_askew(pb_maker* m, const cutter* c, const box* whole) {
  int moving[PB_NEST_RANK], count = 0;
  for (int d = 0; d < c->rank; ++d)
    if (c->stride[d]) moving[count++] = d;
  bool made = false;
  for (int k = 0; count == 2 && !made && k < 4; ++k) {
    skew s = {moving[k % 2], moving[1 - k % 2], k < 2 ? -1 : 1};
    int64_t* tables[PB_NEST_RANK] = {0};
    pb_arena scratch = {0};
    for (int r = 0; r < c->x_rank; ++r)
      if (c->p->table[r]) tables[r] = PB_NEW_ARRAY(&scratch, int64_t, (size_t)numbers_of(c, &s));
    made = !goes_along(c, s.b) && by_number(c, whole, &s, tables) && make_askew(m, c, &s, tables);
    pb_arena_free(&scratch);
  }
  return made;
}

static void start(pb_maker* m, const pb_places* p, cutter* c, box* whole) {
  int64_t stride = 1;
  *c = (cutter){.p = p, .x_rank = pb_made(m, p->x)->rank, .rank = pb_made(m, p->y)->rank};
  for (int d = c->rank - 1; d >= 0; --d) {
    whole->first[d] = 0;
    whole->every[d] = 1;
    whole->count[d] = c->extent[d] = pb_made(m, p->y)->shape[d];
    c->stride[d] = p->walked[d] ? stride : 0;
    if (p->walked[d]) stride *= c->extent[d];
  }
  for (int d = 0; d < c->rank; ++d)
    if (!moves(c, whole, d)) c->stride[d] = 0;
}

bool pb_make_places(pb_maker* m, const pb_places* p) {
  pb_arena scratch = {0};
  cutter* c = PB_NEW(&scratch, cutter);
  box whole = {{0}, {0}, {0}};
  start(m, p, c, &whole);
  bool made = !is_separate(c, &whole) && find_askew(m, c, &whole);
  if (!made && add_boxes(c, &whole) && are_worth_it(c, &whole)) {
    for (int k = 0; k < c->count; ++k) make_box(m, c, &c->boxes[k]);
    made = true;
  }
  pb_arena_free(&scratch);
  return made;
}

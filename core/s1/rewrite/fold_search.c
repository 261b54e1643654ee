// Nodes whose results are as long as the data say: of constants they are constants, of anything else an operator that
// is refused.
#include "core/s1/rewrite/fold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- NonZero ----

static bool is_zero(const pb__folded* x, int64_t k) {
  pb__number v = pb__fold_number(x, k);
  return pb__fold_is_real(x) ? v.f == 0 : !v.i;
}

static bool non_zero(lifter* l, const pb_node* n) {
  pb__folded x, y;
  int64_t shape[2] = {0}, at[PB_GRAPH_RANK] = {0}, found = 0;
  if (!pb__fold_take(l, n->inputs[0], &x) || x.rank < 1 || x.type == PB_I8) return false;
  shape[0] = x.rank;
  for (int64_t k = 0; k < x.count; ++k) shape[1] += !is_zero(&x, k);
  if (!pb__fold_start(l, PB_I64, 2, shape, &y)) return false;
  for (int64_t k = 0; k < x.count; ++k) {
    for (int r = 0; r < x.rank && !is_zero(&x, k); ++r)
      memcpy(y.data + 8 * ((size_t)r * (size_t)shape[1] + (size_t)found), &at[r], 8);
    found += !is_zero(&x, k);
    for (int r = x.rank - 1; r >= 0 && ++at[r] == x.shape[r]; --r) at[r] = 0;
  }
  pb__fold_give(l, n->outputs[0], &y);
  return true;
}

// ---- Unique ----

// Slices along an axis: element j of slice k is number (j / inner * count + k) * inner + j % inner.
typedef struct slices {
  const pb__folded* x;
  int64_t count, inner, size;
} slices;

static int compare_numbers(const pb__folded* x, int64_t a, int64_t b) {
  pb__number v = pb__fold_number(x, a), w = pb__fold_number(x, b);
  if (pb__fold_is_real(x)) return v.f < w.f ? -1 : v.f > w.f;
  return v.i < w.i ? -1 : v.i > w.i;
}

static int64_t element_of(const slices* s, int64_t k, int64_t j) {
  return (j / s->inner * s->count + k) * s->inner + j % s->inner;
}

static int compare_slices(const slices* s, int64_t a, int64_t b) {
  for (int64_t j = 0; j < s->size; ++j) {
    int how = compare_numbers(s->x, element_of(s, a, j), element_of(s, b, j));
    if (how) return how;
  }
  return 0;
}

// By value, then by place, so that the first of equal ones comes first. Merges runs of twice the length each time.
static void sort_slices(const slices* s, int64_t* order, int64_t* spare) {
  for (int64_t run = 1; run < s->count; run *= 2) {
    for (int64_t from = 0; from < s->count; from += 2 * run) {
      int64_t a = from, middle = from + run < s->count ? from + run : s->count, b = middle;
      int64_t end = middle + run < s->count ? middle + run : s->count;
      for (int64_t to = from; to < end; ++to)
        spare[to] = a < middle && (b == end || compare_slices(s, order[a], order[b]) <= 0) ? order[a++] : order[b++];
    }
    memcpy(order, spare, (size_t)s->count * sizeof *order);
  }
}

typedef struct group {
  int64_t first, count;
  int64_t rank; // among those that are given
} group;

static int by_first(const void* a, const void* b) {
  int64_t v = (*(const group*const*)a)->first, w = (*(const group*const*)b)->first;
  return v < w ? -1 : v > w;
}

static void give_integers(lifter* l, int tensor, int64_t count, const int64_t* items) {
  pb__folded y;
  if (!pb__fold_start(l, PB_I64, 1, &count, &y)) return;
  memcpy(y.data, items, (size_t)count * 8);
  pb__fold_give(l, tensor, &y);
}

static void give_slices(lifter* l, const pb_node* n, const slices* s, group* const* groups, int64_t count, int axis) {
  pb__folded y;
  int64_t shape[PB_GRAPH_RANK];
  memcpy(shape, s->x->shape, sizeof shape);
  if (axis < 0) shape[0] = count;
  if (axis >= 0) shape[axis] = count;
  size_t size = (size_t)s->x->count ? ((size_t)pb_type_bits(s->x->type) + 7) / 8 : 1;
  if (!pb__fold_start(l, s->x->type, axis < 0 ? 1 : s->x->rank, shape, &y)) return;
  slices to = {&y, count, s->inner, s->size};
  for (int64_t k = 0; k < count; ++k)
    for (int64_t j = 0; j < s->size; ++j)
      memcpy(y.data + (size_t)element_of(&to, k, j) * size,
             s->x->data + (size_t)element_of(s, groups[k]->first, j) * size, size);
  pb__fold_give(l, n->outputs[0], &y);
}

// Codes belong to who quantised them; of NaN nothing says which are alike.
static bool has_order(const pb__folded* x) {
  for (int64_t k = 0; pb__fold_is_real(x) && k < x->count; ++k)
    if (isnan(pb__fold_number(x, k).f)) return false;
  return x->type != PB_I8;
}

static bool unique(lifter* l, const pb_node* n) {
  pb__folded x;
  const pb_attr* along = pb_node_attr(n, "axis");
  if (!pb__fold_take(l, n->inputs[0], &x) || !x.count || !has_order(&x)) return false;
  int64_t axis = along ? along->i : -1, groups = 0;
  if (along && axis < 0) axis += x.rank;
  if (along && (axis < 0 || axis >= x.rank)) return false;
  slices s = {&x, along ? x.shape[axis] : x.count, 1, 1};
  for (int r = (int)axis + 1; along && r < x.rank; ++r) s.inner *= x.shape[r];
  s.size = x.count / s.count;
  pb_arena scratch = {0};
  int64_t* order = PB_NEW_ARRAY(&scratch, int64_t, (size_t)s.count * 3);
  int64_t *inverse = order + s.count, *numbers = inverse + s.count;
  group *all = PB_NEW_ARRAY(&scratch, group, (size_t)s.count),
        **given = PB_NEW_ARRAY(&scratch, group*, (size_t)s.count);
  for (int64_t k = 0; k < s.count; ++k) order[k] = k;
  sort_slices(&s, order, inverse);
  for (int64_t k = 0; k < s.count; ++k) {
    if (!k || compare_slices(&s, order[k - 1], order[k])) {
      all[groups] = (group){.first = order[k]};
      given[groups] = &all[groups];
      ++groups;
    }
    ++all[groups - 1].count;
    inverse[order[k]] = groups - 1;
  }
  if (!pb_node_int(n, "sorted", 1)) qsort(given, (size_t)groups, sizeof *given, by_first);
  for (int64_t k = 0; k < groups; ++k) given[k]->rank = k;
  give_slices(l, n, &s, given, groups, (int)axis);
  for (int64_t k = 0; k < s.count; ++k) inverse[k] = all[inverse[k]].rank;
  for (int64_t k = 0; k < groups; ++k) numbers[k] = given[k]->first;
  if (n->output_count > 1) give_integers(l, n->outputs[1], groups, numbers);
  if (n->output_count > 2) give_integers(l, n->outputs[2], s.count, inverse);
  for (int64_t k = 0; k < groups; ++k) numbers[k] = given[k]->count;
  if (n->output_count > 3) give_integers(l, n->outputs[3], groups, numbers);
  pb_arena_free(&scratch);
  return true;
}

// ---- NonMaxSuppression ----

typedef struct box {
  float y0, x0, y1, x1;
} box;

// Two corners in any order, or a middle and an extent.
static box box_at(const float* v, bool centre) {
  if (centre) return (box){v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  return (box){v[0] < v[2] ? v[0] : v[2], v[1] < v[3] ? v[1] : v[3], v[0] < v[2] ? v[2] : v[0],
               v[1] < v[3] ? v[3] : v[1]};
}

static bool overlaps(box a, box b, float most) {
  float height = (a.y1 < b.y1 ? a.y1 : b.y1) - (a.y0 > b.y0 ? a.y0 : b.y0);
  float width = (a.x1 < b.x1 ? a.x1 : b.x1) - (a.x0 > b.x0 ? a.x0 : b.x0);
  if (height <= 0 || width <= 0) return false;
  float both = height * width, one = (a.y1 - a.y0) * (a.x1 - a.x0), other = (b.y1 - b.y0) * (b.x1 - b.x0);
  return one > 0 && other > 0 && both / (one + other - both) > most;
}

static bool number_of(lifter* l, const pb_node* n, int k, double missing, double* number) {
  pb__folded c;
  *number = missing;
  if (pb__input(n, k) < 0) return true;
  if (!pb__fold_take(l, pb__input(n, k), &c) || c.count != 1) return false;
  pb__number v = pb__fold_number(&c, 0);
  *number = pb__fold_is_real(&c) ? (double)v.f : (double)v.i;
  return true;
}

// Of one class: the best that is left, as long as it does not overlap one that is taken; of equal scores the first.
static int64_t pick(const float* boxes, const float* scores, int64_t count, int64_t most, float overlap, double score,
                    bool centre, int64_t* picked, bool* seen) {
  int64_t found = 0;
  memset(seen, 0, (size_t)count);
  while (found < most) {
    int64_t best = -1;
    for (int64_t k = 0; k < count; ++k)
      if (!seen[k] && (double)scores[k] > score && (best < 0 || scores[k] > scores[best])) best = k;
    if (best < 0) break;
    seen[best] = true;
    bool apart = true;
    for (int64_t k = 0; k < found && apart; ++k)
      apart = !overlaps(box_at(boxes + 4 * best, centre), box_at(boxes + 4 * picked[k], centre), overlap);
    if (apart) picked[found++] = best;
  }
  return found;
}

static bool suppress(lifter* l, const pb_node* n) {
  pb__folded boxes, scores, y;
  double most, overlap, score;
  enum { MOST_BOXES = 1 << 14 }; // time with their square
  if (!pb__fold_take(l, pb__input(n, 0), &boxes) || !pb__fold_take(l, pb__input(n, 1), &scores) ||
      boxes.type != PB_F32 || scores.type != PB_F32 || boxes.rank != 3 || scores.rank != 3 || boxes.shape[2] != 4 ||
      boxes.shape[0] != scores.shape[0] || boxes.shape[1] != scores.shape[2] || boxes.shape[1] > MOST_BOXES)
    return false;
  if (!number_of(l, n, 2, 0, &most) || !number_of(l, n, 3, 0, &overlap) || !number_of(l, n, 4, -INFINITY, &score))
    return false;
  int64_t count = boxes.shape[1], classes = scores.shape[1], found = 0, shape[2] = {0, 3};
  if (scores.count / (count + !count) > (1 << 20)) return false;
  most = most < 0 ? 0 : most > (double)count ? (double)count : most;
  pb_arena scratch = {0};
  int64_t *all = PB_NEW_ARRAY(&scratch, int64_t, (size_t)scores.count * 3 + 1),
          *picked = PB_NEW_ARRAY(&scratch, int64_t, (size_t)count + 1);
  bool* seen = PB_NEW_ARRAY(&scratch, bool, (size_t)count + 1);
  float *box_data = PB_NEW_ARRAY(&scratch, float, (size_t)boxes.count + 1), // a file's lie anywhere
      *score_data = PB_NEW_ARRAY(&scratch, float, (size_t)scores.count + 1);
  memcpy(box_data, boxes.data, (size_t)boxes.count * sizeof(float));
  memcpy(score_data, scores.data, (size_t)scores.count * sizeof(float));
  for (int64_t row = 0; row < scores.count / (count + !count); ++row) {
    int64_t batch = row / classes;
    int64_t taken = pick(box_data + batch * count * 4, score_data + row * count, count, (int64_t)most, (float)overlap,
                         score, pb_node_int(n, "center_point_box", 0), picked, seen);
    for (int64_t k = 0; k < taken; ++k, ++found) {
      all[3 * found] = batch;
      all[3 * found + 1] = row % classes;
      all[3 * found + 2] = picked[k];
    }
  }
  shape[0] = found;
  bool fits = pb__fold_start(l, PB_I64, 2, shape, &y);
  if (fits) memcpy(y.data, all, (size_t)found * 24);
  pb_arena_free(&scratch);
  if (fits) pb__fold_give(l, n->outputs[0], &y);
  return fits;
}

bool pb__fold_search(lifter* l, const pb_node* n) {
  if (n->input_count < 1 || n->inputs[0] < 0) return false;
  if (pb__is(n, "NonZero")) return non_zero(l, n);
  if (pb__is(n, "Unique")) return unique(l, n);
  return pb__is(n, "NonMaxSuppression") && suppress(l, n);
}

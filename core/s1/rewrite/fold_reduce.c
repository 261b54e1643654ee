// Reductions and norms of constants, as models have them that make their weights of others when they run (weights that
// are standardised, Qiao et al. 2019; NFNets): in f64, each result rounded once.
#include "core/s1/rewrite/fold.h"

#include "core/base/half.h"

#include <math.h>
#include <string.h>

typedef enum combination { SUM, MEAN, PRODUCT, LARGEST, LEAST, ABSOLUTES, SQUARES, LENGTH } combination;

static const struct {
  const char* op;
  combination combine;
  bool of_integers;
} reductions[] = {{"ReduceSum", SUM, true},
                  {"ReduceMean", MEAN, false},
                  {"ReduceProd", PRODUCT, true},
                  {"ReduceMax", LARGEST, true},
                  {"ReduceMin", LEAST, true},
                  {"ReduceL1", ABSOLUTES, false},
                  {"ReduceSumSquare", SQUARES, false},
                  {"ReduceL2", LENGTH, false}};

static double start_of(combination how) {
  return how == PRODUCT ? 1 : how == LARGEST ? -INFINITY : how == LEAST ? INFINITY : 0;
}

static double combined(combination how, double so_far, double v) {
  switch (how) {
  case PRODUCT:
    return so_far * v;
  case LARGEST:
    return isnan(v) || v > so_far ? v : so_far;
  case LEAST:
    return isnan(v) || v < so_far ? v : so_far;
  case ABSOLUTES:
    return so_far + fabs(v);
  case SQUARES:
  case LENGTH:
    return so_far + v * v;
  default:
    return so_far + v;
  }
}

static void set_real(pb__folded* y, int64_t k, double v) {
  float f = (float)v;
  uint16_t half = pb_narrow_of(y->type, v);
  size_t size = (size_t)pb_type_bits(y->type) / 8;
  memcpy(y->data + (size_t)k * size, y->type == PB_F32 ? (const void*)&f : &half, size);
}

// A whole number below 2^53, as extents and products of such are. false: it is another.
static bool set_whole(pb__folded* y, int64_t k, double v) {
  int64_t whole = (int64_t)v;
  size_t size = (size_t)pb_type_bits(y->type) / 8;
  if (!(fabs(v) < 0x1p53) || (y->type == PB_I32 && whole != (int32_t)whole)) return false;
  memcpy(y->data + (size_t)k * size, &whole, size); // the low bytes of a little-endian number
  return true;
}

static bool reduce(lifter* l, const pb_node* n, combination how, bool of_integers, pb__folded* y) {
  pb__folded x;
  bool over[PB_GRAPH_RANK];
  int64_t shape[PB_GRAPH_RANK], step[PB_GRAPH_RANK], at[PB_GRAPH_RANK] = {0}, each, to = 0, inner = 1;
  int rank = 0;
  bool chooses = how == LARGEST || how == LEAST; // of extents it would be another one where these are open
  if ((chooses && l->folds_sizes) || !pb__fold_take(l, n->inputs[0], &x)) return false;
  pb_s1_value whole = {.rank = x.rank};
  memcpy(whole.shape, x.shape, sizeof *x.shape * (size_t)x.rank);
  if (pb__read_axes(l, n, &whole, over, &each)) return false;
  bool real = pb__fold_is_real(&x);
  if (!real && (!of_integers || (x.type != PB_I64 && x.type != PB_I32))) return false;
  for (int r = 0; r < x.rank; ++r) {
    if (!over[r] || pb_node_int(n, "keepdims", 1)) shape[rank++] = over[r] ? 1 : x.shape[r];
  }
  if (!each || !pb__fold_start(l, x.type, rank, shape, y)) return false;
  for (int r = x.rank - 1; r >= 0; --r) {
    step[r] = over[r] ? 0 : inner;
    if (!over[r]) inner *= x.shape[r];
  }
  double* sums = PB_NEW_ARRAY(&l->consts->arena, double, (size_t)y->count + 1);
  for (int64_t k = 0; k < y->count; ++k) sums[k] = start_of(how);
  for (int64_t k = 0; k < x.count; ++k) {
    pb__number v = pb__fold_number(&x, k);
    sums[to] = combined(how, sums[to], real ? (double)v.f : (double)v.i);
    for (int r = x.rank - 1; r >= 0; --r) {
      to += step[r];
      if (++at[r] < x.shape[r]) break;
      to -= step[r] * x.shape[r];
      at[r] = 0;
    }
  }
  for (int64_t k = 0; k < y->count; ++k) {
    double v = how == MEAN ? sums[k] / (double)each : how == LENGTH ? sqrt(sums[k]) : sums[k];
    if (real)
      set_real(y, k, v);
    else if (!set_whole(y, k, v))
      return false;
  }
  return true;
}

// (x - mean) / sqrt(variance + epsilon) * scale + shift, by channels.
static bool normalise(lifter* l, const pb_node* n, pb__folded* y) {
  pb__folded x, by[4]; // scale, shift, mean, variance
  if (n->output_count != 1 || pb_node_int(n, "training_mode", 0) || !pb__fold_take(l, n->inputs[0], &x)) return false;
  if (x.rank < 2 || !pb__fold_is_real(&x) || !pb__fold_start(l, x.type, x.rank, x.shape, y)) return false;
  for (int k = 0; k < 4; ++k)
    if (!pb__fold_take(l, pb__input(n, 1 + k), &by[k]) || by[k].count != x.shape[1] || !pb__fold_is_real(&by[k]))
      return false;
  const pb_attr* said = pb_node_attr(n, "epsilon");
  double epsilon = said ? (double)said->f : 1e-5;
  int64_t inside = x.shape[0] && x.shape[1] ? x.count / x.shape[0] / x.shape[1] : 1;
  for (int64_t k = 0; k < x.count; ++k) {
    int64_t channel = k / inside % x.shape[1];
    double of[4];
    for (int j = 0; j < 4; ++j) of[j] = (double)pb__fold_number(&by[j], channel).f;
    set_real(y, k, ((double)pb__fold_number(&x, k).f - of[2]) / sqrt(of[3] + epsilon) * of[0] + of[1]);
  }
  return true;
}

bool pb__fold_reduced(lifter* l, const pb_node* n, pb__folded* y) {
  if (n->input_count < 1 || n->inputs[0] < 0) return false;
  if (pb__is(n, "BatchNormalization")) return normalise(l, n, y);
  for (size_t k = 0; k < sizeof reductions / sizeof *reductions; ++k)
    if (pb__is(n, reductions[k].op)) return reduce(l, n, reductions[k].combine, reductions[k].of_integers, y);
  return false;
}

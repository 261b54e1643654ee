// Normalisations, and the losses that are made of a softmax.
#include "core/frontend/onnx/rows.h"

#include <string.h>

#define IN(k) pb__o_in(o, k)

int pb__o_along(pb_onnx* o, int vector, int rank, int axis) {
  int64_t shape[PB_FLAT_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  shape[axis] = pb__o_elements(o, vector);
  return pb__o_reshape(o, vector, rank, shape);
}

static int square(pb_onnx* o, int x) { return pb__o_mul(o, x, x); }

// 1 / sqrt(x + epsilon)
static int inverse_root(pb_onnx* o, int x, double epsilon) {
  int root = pb__o_unary(o, "sqrt", pb__o_add(o, x, pb__o_like(o, x, epsilon)));
  return pb__o_div(o, pb__o_like(o, x, 1), root);
}

// (x - mean) / sqrt(variance + epsilon) over the axes; the mean and the factor, kept.
static int centred(pb_onnx* o, int x, const bool* axes, double epsilon, int* mean, int* factor) {
  *mean = pb__o_mean(o, x, axes);
  int rest = pb__o_sub(o, x, *mean);
  *factor = inverse_root(o, pb__o_mean(o, square(o, rest), axes), epsilon);
  return pb__o_mul(o, rest, *factor);
}

static void from_axis(pb_onnx* o, int rank, bool* axes) {
  int axis = pb__o_axis(o, pb__o_int(o, "axis", -1), rank);
  for (int r = 0; r < PB_FLAT_RANK; ++r) axes[r] = r >= axis && r < rank;
}

static const double usual_epsilon = 1e-5;

void pb__o_op_layer_norm(pb_onnx* o) {
  int x = IN(0), mean, factor;
  bool axes[PB_FLAT_RANK];
  from_axis(o, pb__o_type(o, x)->rank, axes);
  if (pb__o_bad(o)) return;
  pb_type type = pb__o_type(o, x)->type;
  int y = centred(o, pb__o_worked(o, x), axes, pb__o_real(o, "epsilon", usual_epsilon), &mean, &factor);
  y = pb__o_mul(o, y, pb__o_worked(o, IN(1)));
  if (pb__o_has(o, 2)) y = pb__o_add(o, y, pb__o_worked(o, IN(2)));
  pb__o_out(o, 0, pb__o_cast(o, y, type));
  pb__o_out(o, 1, mean);
  pb__o_out(o, 2, factor);
}

static int root_norm(pb_onnx* o, int x, const bool* axes, double epsilon, int* factor) {
  *factor = inverse_root(o, pb__o_mean(o, square(o, x), axes), epsilon);
  return pb__o_mul(o, x, *factor);
}

void pb__o_op_rms_norm(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0), factor;
  bool axes[PB_FLAT_RANK];
  from_axis(o, pb__o_type(o, x)->rank, axes);
  if (pb__o_bad(o)) return;
  int y = root_norm(o, x, axes, pb__o_real(o, "epsilon", usual_epsilon), &factor);
  pb__o_out(o, 0, pb__o_mul(o, y, IN(1)));
}

// Of x + skip (+ bias), which is a result too.
void pb__o_op_skip_norm(pb_onnx* o) {
  bool root = o->row->detail[0], axes[PB_FLAT_RANK] = {false};
  pb__o_works_in_f32(o);
  int x = IN(0), mean = -1, factor, y, bias = root ? 3 : 4;
  x = pb__o_add(o, x, IN(1));
  if (pb__o_has(o, bias)) x = pb__o_add(o, x, IN(bias));
  const double epsilon = pb__o_real(o, "epsilon", 1e-12);
  axes[pb__o_axis(o, -1, pb__o_type(o, x)->rank)] = true;
  if (pb__o_bad(o)) return;
  y = root ? root_norm(o, x, axes, epsilon, &factor) : centred(o, x, axes, epsilon, &mean, &factor);
  y = pb__o_mul(o, y, IN(2));
  if (!root && pb__o_has(o, 3)) y = pb__o_add(o, y, IN(3));
  pb__o_out(o, 0, y);
  pb__o_out(o, 3, x);
  o->in_f32 = false; // which these stay in
  if (mean >= 0) pb__o_out(o, 1, mean);
  pb__o_out(o, 2, factor);
}

static void spaces_of(const pb_onnx* o, int x, int from, bool* axes) {
  for (int r = 0; r < PB_FLAT_RANK; ++r) axes[r] = r >= from && r < pb__o_type(o, x)->rank;
}

void pb__o_op_instance_norm(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0), mean, factor, rank = pb__o_type(o, x)->rank;
  bool axes[PB_FLAT_RANK];
  if (rank < 3) pb__o_refuse(o, "an input of less than 3 dims");
  if (pb__o_bad(o)) return;
  spaces_of(o, x, 2, axes);
  int y = centred(o, x, axes, pb__o_real(o, "epsilon", usual_epsilon), &mean, &factor);
  y = pb__o_mul(o, y, pb__o_along(o, IN(1), rank, 1));
  pb__o_out(o, 0, pb__o_add(o, y, pb__o_along(o, IN(2), rank, 1)));
}

// Scale and bias were by group in opset 18, by channel from 21 on.
void pb__o_op_group_norm(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0), mean, factor, scale = IN(1), bias = IN(2);
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t groups = pb__o_int(o, "num_groups", 0), shape[3];
  bool axes[PB_FLAT_RANK] = {false, false, true};
  if (in.rank < 2 || groups < 1 || in.shape[1] % groups) pb__o_refuse(o, "groups that do not fit");
  if (pb__o_bad(o)) return;
  shape[0] = in.shape[0];
  shape[1] = groups;
  shape[2] = in.shape[1] / groups;
  for (int r = 2; r < in.rank; ++r) shape[2] *= in.shape[r];
  int y = centred(o, pb__o_reshape(o, x, 3, shape), axes, pb__o_real(o, "epsilon", usual_epsilon), &mean, &factor);
  bool by_group = pb__o_elements(o, scale) == groups && groups != in.shape[1];
  if (by_group) {
    y = pb__o_mul(o, y, pb__o_along(o, scale, 3, 1));
    y = pb__o_add(o, y, pb__o_along(o, bias, 3, 1));
  }
  y = pb__o_reshape(o, y, in.rank, in.shape);
  if (!by_group) {
    y = pb__o_mul(o, y, pb__o_along(o, scale, in.rank, 1));
    y = pb__o_add(o, y, pb__o_along(o, bias, in.rank, 1));
  }
  pb__o_out(o, 0, y);
}

void pb__o_op_batch_norm(pb_onnx* o) {
  pb__o_works_in_f32(o);
  pb_type kept_type = pb__type_of(o->l, pb__input(o->n, 3));
  int x = IN(0), rank = pb__o_type(o, x)->rank, scale = IN(1), bias = IN(2), mean = IN(3), variance = IN(4);
  double epsilon = pb__o_real(o, "epsilon", usual_epsilon), momentum = pb__o_real(o, "momentum", 0.9);
  bool axes[PB_FLAT_RANK], training = pb__o_int(o, "training_mode", 0);
  bool more = pb__o_wants(o, 1);
  if (rank < 2) pb__o_refuse(o, "an input of less than 2 dims");
  if (pb__o_int(o, "spatial", 1) != 1) pb__o_refuse(o, "spatial=0");
  if (more && !training) pb__o_refuse(o, "results of training without training_mode");
  if (pb__o_bad(o)) return;
  spaces_of(o, x, 2, axes);
  axes[0] = true;
  if (training) { // by what there is, kept as a running mean
    int now = pb__o_mean(o, x, axes), spread = pb__o_mean(o, square(o, pb__o_sub(o, x, now)), axes);
    int64_t shape[1] = {pb__o_elements(o, mean)};
    int* both[] = {&mean, &variance};
    const int of_now[] = {pb__o_reshape(o, now, 1, shape), pb__o_reshape(o, spread, 1, shape)};
    for (int k = 0; k < 2; ++k) {
      int kept = pb__o_mul(o, *both[k], pb__o_like(o, *both[k], momentum));
      int added = pb__o_mul(o, of_now[k], pb__o_like(o, of_now[k], 1 - momentum));
      int running = pb__o_add(o, kept, pb__o_cast(o, added, pb__o_type(o, kept)->type));
      o->in_f32 = false; // of the type that came
      if (more) pb__o_out(o, 1 + k, pb__o_cast(o, running, kept_type));
      o->in_f32 = true;
      *both[k] = of_now[k];
    }
  }
  int factor = pb__o_mul(o, inverse_root(o, variance, epsilon), scale);
  int by = pb__o_along(o, factor, rank, 1), y = pb__o_mul(o, pb__o_sub(o, x, pb__o_along(o, mean, rank, 1)), by);
  pb__o_out(o, 0, pb__o_add(o, y, pb__o_along(o, bias, rank, 1)));
}

void pb__o_op_mean_variance(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0), mean, factor, rank = pb__o_type(o, x)->rank;
  int64_t items[PB_GRAPH_RANK] = {0, 2, 3};
  int count = pb__o_list(o, "axes", 1, PB_GRAPH_RANK, items);
  bool axes[PB_FLAT_RANK] = {false};
  if (count < 0) count = 3;
  for (int k = 0; k < count; ++k) axes[pb__o_axis(o, items[k], rank)] = true;
  const double epsilon = 1e-9 * 1e-9; // what is divided by is the deviation and 1e-9
  if (!pb__o_bad(o)) pb__o_out(o, 0, centred(o, x, axes, epsilon, &mean, &factor));
}

void pb__o_op_lp_normalise(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0), axis = pb__o_axis(o, pb__o_int(o, "axis", -1), pb__o_type(o, x)->rank);
  int64_t p = pb__o_int(o, "p", 2);
  bool axes[PB_FLAT_RANK] = {false};
  if (p != 1 && p != 2) pb__o_refuse(o, "p = %lld; it is 1 or 2", (long long)p);
  if (pb__o_bad(o)) return;
  axes[axis] = true;
  int sum = pb__o_sum(o, p == 1 ? pb__o_unary(o, "abs", x) : square(o, x), axes, true);
  int norm = p == 1 ? sum : pb__o_unary(o, "sqrt", sum), zero = pb__o_like(o, x, 0);
  int y = pb__o_div(o, x, norm);
  pb__o_out(o, 0, pb__o_select(o, pb__o_compare(o, "EQ", norm, zero), zero, y));
}

// x / (bias + alpha / size * sum of squares of the neighbouring channels) ^ beta
void pb__o_op_lrn(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0);
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t size = pb__o_int(o, "size", 1), most = 1 << 20;
  double alpha = pb__o_real(o, "alpha", 0.0001), beta = pb__o_real(o, "beta", 0.75), bias = pb__o_real(o, "bias", 1);
  if (in.rank < 2 || size < 1 || size > most) pb__o_refuse(o, "a size that does not fit");
  if (pb__o_bad(o)) return;
  pb_onnx_window w = {.size = {0}};
  for (int r = 0; r < in.rank; ++r) w.size[r] = w.stride[r] = w.dilation[r] = 1;
  w.size[1] = size;
  w.low[1] = (size - 1) / 2;
  w.high[1] = size - 1 - w.low[1];
  int sum = pb__o_windows(o, square(o, x), -1, "add", &w);
  int by = pb__o_like(o, x, bias);
  by = pb__o_add(o, pb__o_mul(o, sum, pb__o_like(o, x, alpha / (double)size)), by);
  pb__o_out(o, 0, pb__o_div(o, x, pb__o_binary(o, "power", by, pb__o_like(o, x, beta))));
}

// ---- losses ----

// What x [n, c, ...] has at each target's class, and the weights of those; what is ignored is 0 in both.
static void at_targets(pb_onnx* o, int x, int target, int weight, int* chosen, int* weights) {
  const pb_flat_type in = *pb__o_type(o, x), at = *pb__o_type(o, target);
  bool classes[PB_FLAT_RANK] = {false, true};
  int64_t row[PB_FLAT_RANK] = {1, in.shape[1], 1, 1, 1, 1, 1, 1}, wide[PB_FLAT_RANK];
  if (in.rank < 2 || at.rank != in.rank - 1) pb__o_refuse(o, "targets that do not fit");
  memcpy(wide, in.shape, sizeof wide);
  wide[1] = 1;
  int place = pb__o_reshape(o, target, in.rank, wide);
  if (pb__o_bad(o)) return;
  int is = pb__o_compare(o, "EQ", pb__o_iota(o, at.type, in.rank, row, 1), place), zero = pb__o_like(o, x, 0);
  const pb_attr* ignored = pb_node_attr(o->n, "ignore_index");
  if (ignored) {
    int no = pb__o_compare(o, "NE", place, pb__o_integer(o, at.type, ignored->i));
    is = pb__o_binary(o, "and", is, no);
  }
  int each = weight >= 0 ? pb__o_along(o, weight, in.rank, 1) : pb__o_like(o, x, 1);
  each = pb__o_select(o, is, pb__o_cast(o, each, in.type), zero);
  *weights = pb__o_reduce(o, each, "add", classes);
  *chosen = pb__o_reduce(o, pb__o_select(o, is, x, zero), "add", classes);
}

static void give_loss(pb_onnx* o, int logs, int target, int weight) {
  const char* how = pb__o_text(o, "reduction", "mean");
  bool none = !strcmp(how, "none"), mean = !strcmp(how, "mean"), all[PB_FLAT_RANK];
  int chosen = 0, weights = 0;
  if (!none && !mean && strcmp(how, "sum")) pb__o_refuse(o, "a reduction '%s'", how);
  at_targets(o, logs, target, weight, &chosen, &weights);
  if (pb__o_bad(o)) return;
  int loss = pb__o_unary(o, "negate", pb__o_mul(o, chosen, weights));
  memset(all, true, sizeof all);
  if (!none) loss = pb__o_sum(o, loss, all, false);
  if (mean) loss = pb__o_div(o, loss, pb__o_sum(o, weights, all, false));
  pb__o_out(o, 0, loss);
}

void pb__o_op_nll_loss(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0), target = IN(1);
  give_loss(o, x, target, pb__o_has(o, 2) ? IN(2) : -1);
}

void pb__o_op_cross_entropy(pb_onnx* o) {
  pb__o_works_in_f32(o);
  int x = IN(0), target = IN(1);
  bool classes[PB_FLAT_RANK] = {false, true};
  if (pb__o_type(o, x)->rank < 2) pb__o_refuse(o, "scores of less than 2 dims");
  if (pb__o_bad(o)) return;
  int logs = pb__o_softmax(o, x, classes, true);
  give_loss(o, logs, target, pb__o_has(o, 2) ? IN(2) : -1);
  pb__o_out(o, 1, logs);
}

// TopK. A few of many are found one after the other, each the largest of what is left: lanes compare them all, where an
// order of all would be made element by element.
#include "core/frontend/onnx/said/said.h"

enum { MOST_ROUNDS = 16, LEAST_ELEMENTS = 64 };

static bool goes_by_rounds(pb_onnx* o, int x, int64_t count) {
  const pb_flat_type in = *pb__o_type(o, x);
  return !pb_consts_computes(o->l->consts) && count <= MOST_ROUNDS && in.shape[in.rank - 1] >= LEAST_ELEMENTS &&
         (in.type == PB_F32 || in.type == PB_I32);
}

// The bits of f32 as whole numbers in its order, -0 below 0 and NaN at the ends; and back.
static int in_order_of_bits(pb_onnx* o, int bits) {
  int sign = pb__o_binary(o, "shift_right_arithmetic", bits, pb__o_integer(o, PB_I32, 31));
  return pb__o_binary(o, "xor", bits, pb__o_binary(o, "and", sign, pb__o_integer(o, PB_I32, INT32_MAX)));
}

// Along the last dim; *where: i32.
static int by_rounds(pb_onnx* o, int x, int64_t count, int* where) {
  const pb_flat_type in = *pb__o_type(o, x);
  bool floats = in.type == PB_F32, gone[PB_FLAT_RANK] = {false};
  int axis = in.rank - 1, most[MOST_ROUNDS], first[MOST_ROUNDS], left = -1;
  int64_t shape[PB_FLAT_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  gone[axis] = true;
  shape[axis] = in.shape[axis];
  int key = floats ? in_order_of_bits(o, pb__o_bits(o, x, PB_I32)) : x;
  int place = pb__o_iota(o, PB_I32, in.rank, shape, axis), none = pb__o_integer(o, PB_I32, in.shape[axis]);
  for (int64_t k = 0; k < count; ++k) {
    int all = k ? pb__o_select(o, left, key, pb__o_integer(o, PB_I32, INT32_MIN)) : key;
    most[k] = pb__o_reduce_kept(o, all, "maximum", gone);
    int is = pb__o_compare(o, "EQ", key, most[k]);
    int chosen = k ? pb__o_binary(o, "and", is, left) : is;
    first[k] = pb__o_reduce_kept(o, pb__o_select(o, chosen, place, none), "minimum", gone);
    int later = pb__o_binary(o, "and", is, pb__o_compare(o, "GT", place, first[k])); // of those that are alike
    left = pb__o_binary(o, "or", pb__o_compare(o, "LT", key, most[k]), later);
  }
  int top = pb__o_join(o, (int)count, most, axis);
  *where = pb__o_join(o, (int)count, first, axis);
  return floats ? pb__o_bits(o, in_order_of_bits(o, top), PB_F32) : top;
}

int pb__o_order_of(pb_onnx* o, int x, bool largest) {
  bool floats = pb_type_is_float(pb__o_type(o, x)->type);
  if (!floats) return largest ? x : pb__o_unary(o, "not", x);
  int zero = pb__o_like(o, x, 0);
  return largest ? pb__o_add(o, x, zero) : pb__o_sub(o, zero, x);
}

void pb__o_op_top_k(pb_onnx* o) {
  if (pb__o_says(o, 1)) {
    pb__o_said_top_k(o);
    return;
  }
  int x = pb__o_in(o, 0), where;
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t k = pb__o_int(o, "k", -1);
  int axis = pb__o_axis(o, pb__o_int(o, "axis", -1), in.rank), count = k < 0 ? pb__o_list(o, NULL, 1, 1, &k) : 1;
  bool largest = pb__o_int(o, "largest", 1);
  if (!pb__o_bad(o) && (count != 1 || k < 1 || k > in.shape[axis])) pb__o_refuse(o, "a k that does not fit");
  if (pb__o_bad(o)) return;
  pb_consts_guard(o->l->consts, false, k, in.shape[axis], "a k that does not fit");
  int last = pb__o_moved(o, pb__o_order_of(o, x, largest), axis, in.rank - 1);
  int top = goes_by_rounds(o, last, k) ? by_rounds(o, last, k, &where) : pb__o_top(o, last, k, &where);
  if (!largest) top = pb__o_order_of(o, top, largest);
  pb__o_out(o, 0, pb__o_moved(o, top, in.rank - 1, axis));
  pb__o_out(o, 1, pb__o_moved(o, pb__o_cast(o, where, PB_I64), in.rank - 1, axis));
}

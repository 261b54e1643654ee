// com.microsoft's operators that ONNX Runtime's optimiser writes into models, said in ONNX's own: those on codes, and
// those that are several of ONNX's behind each other.
#include "core/frontend/onnx/rows.h"

#include <string.h>

static int of(const pb_onnx* o, int k) { return pb__input(o->n, k); }

// Of one result: the node's own (`last`), or one between.
static int node(pb_onnx* o, const char* op, int count, const int* in, bool last) {
  return pb__o_node(o, op, count, in, NULL, 0, last ? o->n->outputs[0] : -1);
}

static int dequantised(pb_onnx* o, int k) {
  return node(o, "DequantizeLinear", 3, (const int[]){of(o, k), of(o, k + 1), of(o, k + 2)}, false);
}

// By the scale and the zero point of operands k and k + 1.
static void give_codes(pb_onnx* o, int x, int k) {
  (void)node(o, "QuantizeLinear", 3, (const int[]){x, of(o, k), of(o, k + 1)}, true);
}

// The node's attributes without those that are ONNX Runtime's alone.
static pb_attr* own_attributes(pb_onnx* o, const char* const* others, int* count) {
  pb_attr* kept = PB_NEW_ARRAY(&o->l->g->arena, pb_attr, (size_t)o->n->attr_count + 1);
  *count = 0;
  for (int k = 0; k < o->n->attr_count; ++k) {
    bool is_own = true;
    for (int j = 0; others[j]; ++j) is_own &= strcmp(o->n->attrs[k].name, others[j]) != 0;
    if (is_own) kept[(*count)++] = o->n->attrs[k];
  }
  return kept;
}

// ---- one dim to another place ----

static int turned(pb_onnx* o, int x, int rank, const int64_t* order, int out) {
  pb_attr by = pb__o_axes(o, "perm", 0);
  by.count = rank;
  by.ints = PB_NEW_ARRAY(&o->l->g->arena, int64_t, (size_t)rank + 1);
  memcpy(by.ints, order, sizeof *order * (size_t)rank);
  return pb__o_node(o, "Transpose", 1, &x, &by, 1, out);
}

// Channels, which stand last, behind the batch; and back.
static int channels_first(pb_onnx* o, int x, int rank) {
  int64_t order[PB_FLAT_RANK] = {0, rank - 1};
  for (int r = 2; r < rank; ++r) order[r] = r - 1;
  return turned(o, x, rank, order, -1);
}

static int channels_last(pb_onnx* o, int x, int rank, int out) {
  int64_t order[PB_FLAT_RANK] = {0};
  for (int r = 1; r < rank - 1; ++r) order[r] = r + 1;
  order[rank - 1] = 1;
  return turned(o, x, rank, order, out);
}

static int rank_of(pb_onnx* o, int k) {
  int rank = pb__o_type(o, pb__o_in_moved(o, k))->rank;
  if (rank < 3) pb__o_refuse(o, "an operand of %d dims", rank);
  return rank;
}

// ---- on codes ----

void pb__o_op_qlinear_binary(pb_onnx* o) {
  int x = dequantised(o, 0), z = dequantised(o, 3);
  give_codes(o, node(o, o->row->detail, 2, (const int[]){x, z}, false), 6);
}

// An operator of one operand, between codes; detail: which. Images may have their channels last.
void pb__o_op_qlinear_unary(pb_onnx* o) {
  static const char* const others[] = {"channels_last", "opset", NULL};
  bool last = pb__o_int(o, "channels_last", 0);
  int rank = last ? rank_of(o, 0) : 0, attr_count, x;
  pb_attr* attrs = own_attributes(o, others, &attr_count);
  if (pb__o_bad(o)) return;
  x = dequantised(o, 0);
  if (last) x = channels_first(o, x, rank);
  x = pb__o_node(o, o->row->detail, 1, &x, attrs, attr_count, -1);
  if (last) x = channels_last(o, x, rank, -1);
  give_codes(o, x, 3);
}

// Of models before opset 13 over all dims from the axis on.
void pb__o_op_qlinear_softmax(pb_onnx* o) {
  int64_t axis = pb__o_int(o, "axis", -1), opset = pb__o_int(o, "opset", 0);
  int rank = pb__o_type(o, pb__o_in_moved(o, 0))->rank, x;
  axis = pb__o_axis(o, axis, rank);
  if (opset < 13 && axis != rank - 1)
    pb__o_refuse(o, "an axis that is not the last, as opset %lld has it", (long long)opset);
  if (pb__o_bad(o)) return;
  x = dequantised(o, 0);
  pb_attr along = {.name = "axis", .kind = PB_ATTR_INT, .i = axis, .tensor = -1, .graph = -1};
  give_codes(o, pb__o_node(o, "Softmax", 1, &x, &along, 1, -1), 3);
}

void pb__o_op_qlinear_concat(pb_onnx* o) {
  int count = (o->n->input_count - 2) / 3, attr_count;
  static const char* const others[] = {NULL};
  pb_attr* attrs = own_attributes(o, others, &attr_count);
  if (count < 1 || o->n->input_count != 2 + 3 * count) pb__o_refuse(o, "codes without a scale or a zero point");
  if (pb__o_bad(o)) return;
  int* parts = PB_NEW_ARRAY(&o->arena, int, (size_t)count);
  for (int k = 0; k < count; ++k) parts[k] = dequantised(o, 2 + 3 * k);
  give_codes(o, pb__o_node(o, "Concat", count, parts, attrs, attr_count, -1), 0);
}

void pb__o_op_qlinear_where(pb_onnx* o) {
  int yes = dequantised(o, 1), no = dequantised(o, 4);
  give_codes(o, node(o, "Where", 3, (const int[]){of(o, 0), yes, no}, false), 7);
}

void pb__o_op_nhwc_pool(pb_onnx* o) {
  static const char* const others[] = {NULL};
  int rank = rank_of(o, 0), attr_count;
  pb_attr* attrs = own_attributes(o, others, &attr_count);
  if (pb__o_bad(o)) return;
  int x = channels_first(o, of(o, 0), rank);
  (void)channels_last(o, pb__o_node(o, o->row->detail, 1, &x, attrs, attr_count, -1), rank, o->n->outputs[0]);
}

// ---- products of codes ----

static int one_or_last(pb_onnx* o, int scale, int rank) {
  if (pb__o_elements(o, scale) == 1) return pb__o_reshape(o, scale, 0, NULL);
  if (pb__o_type(o, scale)->rank != 1 || !rank) pb__o_refuse(o, "scales of more than one axis");
  return pb__o_bad(o) ? scale : pb__o_along(o, scale, rank, rank - 1);
}

// Sums as floats by both scales, and what is added.
static void give_floats(pb_onnx* o, int sums, int x_scale, int z_scale, int bias) {
  int rank = pb__o_type(o, sums)->rank;
  if (pb__o_elements(o, x_scale) != 1) pb__o_refuse(o, "the left factor's scale is not one for all");
  if (pb__o_bad(o)) return;
  int of_z = one_or_last(o, z_scale, rank), by = pb__o_mul(o, pb__o_reshape(o, x_scale, 0, NULL), of_z);
  int y = pb__o_mul(o, pb__o_cast(o, sums, PB_F32), by);
  pb__o_out(o, 0, pb__o_has(o, bias) ? pb__o_add(o, y, pb__o_in(o, bias)) : y);
}

// Operands: codes, codes, their scales, their zero points, what is added.
void pb__o_op_matmul_to_float(pb_onnx* o) {
  int x_scale = pb__o_in(o, 2), z_scale = pb__o_in(o, 3);
  const pb_onnx_codes codes = {.x = 0, .x_zero = 4, .w = 1, .w_zero = 5};
  give_floats(o, pb__o_sums_of_codes(o, &codes), x_scale, z_scale, 6);
}

// The left factor is f32, and gets codes by the range that there is.
void pb__o_op_dynamic_matmul(pb_onnx* o) {
  int scale, z_scale = pb__o_in(o, 2);
  pb_onnx_codes c = {.made = true, .w = 1, .w_zero = 3};
  pb__o_by_range(o, pb__o_in(o, 0), &c.codes, &scale, &c.zero);
  give_floats(o, pb__o_sums_of_codes(o, &c), scale, z_scale, 4);
}

// Codes by operands 7 and 8, or floats where those are left out.
void pb__o_op_qgemm(pb_onnx* o) {
  static const int64_t order[] = {1, 0};
  int x = pb__o_from_zero(o, 0, 2, 0), z = pb__o_from_zero(o, 3, 5, pb__o_int(o, "transB", 0) ? 0 : -1);
  int x_scale = pb__o_in(o, 1), z_scale = pb__o_in(o, 4);
  if (pb__o_type(o, x)->rank != 2 || pb__o_type(o, z)->rank != 2) pb__o_refuse(o, "of other than matrices");
  if (pb__o_elements(o, x_scale) != 1) pb__o_refuse(o, "the left factor's scale is not one for all");
  if (pb__o_has(o, 7) != pb__o_has(o, 8)) pb__o_refuse(o, "the result's scale or zero point alone");
  if (pb__o_bad(o)) return;
  if (pb__o_int(o, "transA", 0)) x = pb__o_transpose(o, x, order);
  if (pb__o_int(o, "transB", 0)) z = pb__o_transpose(o, z, order);
  int sums = pb__o_matmul(o, x, z, PB_I32);
  if (pb__o_has(o, 6)) sums = pb__o_add(o, sums, pb__o_in(o, 6));
  int of_z = one_or_last(o, z_scale, 2), by = pb__o_mul(o, pb__o_reshape(o, x_scale, 0, NULL), of_z);
  by = pb__o_mul(o, by, pb__o_like(o, by, pb__o_real(o, "alpha", 1)));
  int y = pb__o_cast(o, sums, PB_F32);
  if (!pb__o_has(o, 7)) {
    pb__o_out(o, 0, pb__o_mul(o, y, by));
    return;
  }
  int zero = pb__o_in(o, 8);
  y = pb__o_mul(o, y, pb__o_div(o, by, pb__o_reshape(o, pb__o_in(o, 7), 0, NULL)));
  y = pb__o_unary(o, "round_nearest_even", y);
  y = pb__o_add(o, y, pb__o_cast(o, pb__o_reshape(o, zero, 0, NULL), PB_F32));
  pb__o_out(o, 0, pb__o_cast(o, y, pb__o_type(o, zero)->type));
}

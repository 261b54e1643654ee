// ONNX Runtime's QOperator form, in which an operator has its operands' scales and zero points as operands of its own:
// QLinearConv(x, xs, xz, w, ws, wz, ys, yz, b). It is written as QuantizeLinear behind the operator behind
// DequantizeLinear, which is what the lifting reads codes from. Their sums are the same and so is what these are
// multiplied by, xs ws / ys; a bias has the unit xs ws. Operators on codes that have no scales, since they only choose
// among their operand's, get those that the operand was made with. What has no such form, scales that are computed for
// one, stays as it is.
#include "core/s1/lift/lift.h"

#include <stdlib.h>
#include <string.h>

typedef struct scaling {
  int scale, zero; // tensors; scale -1: none is known
} scaling;

typedef struct rewriter {
  pb_graph* g;
  pb_consts* consts;
  scaling* of; // by tensor of the model, of its codes
  pb_node* nodes;
  size_t count, capacity;
} rewriter;

// ---- what constants are ----

// By an initialiser, or by a node in front: those are read later.
static const pb_const* constant_of(const rewriter* r, int tensor) {
  return pb__constant_before(r->g, r->consts, r->nodes, r->count, tensor);
}

// How many numbers of the type a constant of at most one dim has; 0: it is another.
static int64_t numbers_of(const rewriter* r, int tensor, pb_type type) {
  const pb_const* c = constant_of(r, tensor);
  return c && c->type == type && c->rank <= 1 && c->data ? (int64_t)(c->bytes * 8) / pb_type_bits(type) : 0;
}

static bool is_scaled(const rewriter* r, int scale, int zero) {
  return numbers_of(r, scale, PB_F32) == 1 && numbers_of(r, zero, PB_I8) == 1;
}

// Operands k and k + 1 as scale and zero point, which may be left out where codes are read.
static bool is_read(const rewriter* r, const pb_node* n, int k) {
  return numbers_of(r, pb__input(n, k), PB_F32) == 1 &&
         (pb__input(n, k + 1) < 0 || numbers_of(r, pb__input(n, k + 1), PB_I8) == 1);
}

static bool is_made(const rewriter* r, const pb_node* n, int k) {
  return is_scaled(r, pb__input(n, k), pb__input(n, k + 1));
}

static float number_at(const rewriter* r, int tensor, int64_t k) {
  float number;
  memcpy(&number, (const char*)constant_of(r, tensor)->data + 4 * k, sizeof number);
  return number;
}

// ---- nodes and tensors ----

static pb_attr an_int(const char* name, int64_t value) {
  return (pb_attr){.name = name, .kind = PB_ATTR_INT, .i = value, .tensor = -1, .graph = -1};
}

static int add_tensor(rewriter* r, const pb_node* n, int const_id) {
  pb_tensor made = {.name = n->name, .type = PB_TYPE_COUNT, .rank = -1, .const_id = const_id, .producer = -1};
  if (const_id >= 0) {
    const pb_const* c = r->consts->items[const_id];
    made.type = c->type;
    made.rank = c->rank;
    memcpy(made.shape, c->shape, sizeof made.shape);
  }
  PB_PUSH(r->g->tensors, r->g->tensor_count, r->g->tensor_capacity, made);
  return (int)r->g->tensor_count - 1;
}

static void add_node(rewriter* r, pb_node n) { pb__append_node(r->g, &r->nodes, &r->count, &r->capacity, n); }

// An operator of ONNX in the place of n, by an opset that has scales along an axis. out: its result, -1: a new tensor.
static int operate(rewriter* r, const pb_node* n, const char* op, int count, const int* in, int attr_count,
                   const pb_attr* attrs, int out) {
  enum { WITH_AXES = 13 };
  pb_node made = {.op = op, .name = n->name, .domain = "", .opset = n->opset, .input_count = count, .output_count = 1};
  if (pb_node_opset(r->g, n) < WITH_AXES) made.opset = WITH_AXES;
  made.attr_count = attr_count;
  made.inputs = PB_NEW_ARRAY(&r->g->arena, int, (size_t)count + 1);
  made.outputs = PB_NEW(&r->g->arena, int);
  made.attrs = PB_NEW_ARRAY(&r->g->arena, pb_attr, (size_t)attr_count + 1);
  memcpy(made.inputs, in, (size_t)count * sizeof *in);
  if (attr_count) memcpy(made.attrs, attrs, (size_t)attr_count * sizeof *attrs);
  made.outputs[0] = out < 0 ? add_tensor(r, n, -1) : out;
  add_node(r, made);
  return made.outputs[0];
}

// axis -1: one scale for all.
static int dequantised(rewriter* r, const pb_node* n, int codes, scaling by, int axis) {
  const pb_attr along = an_int("axis", axis);
  const int in[] = {codes, by.scale, by.zero};
  return operate(r, n, "DequantizeLinear", by.zero < 0 ? 2 : 3, in, axis >= 0, &along, -1);
}

static scaling scaling_at(const pb_node* n, int k) { return (scaling){pb__input(n, k), pb__input(n, k + 1)}; }

// Operand k, whose scale and zero point are behind it.
static int operand(rewriter* r, const pb_node* n, int k) {
  return dequantised(r, n, pb__input(n, k), scaling_at(n, k + 1), -1);
}

static void quantise(rewriter* r, const pb_node* n, int x, scaling by, int codes) {
  const int in[] = {x, by.scale, by.zero};
  (void)operate(r, n, "QuantizeLinear", 3, in, 0, NULL, codes);
  r->of[codes] = by;
}

// Whether the attribute is one of those in the text, and a number: others are for those who check what a node has.
static bool is_taken(const pb_attr* a, const char* taken) {
  size_t length = strlen(a->name);
  if (a->kind != PB_ATTR_INT && a->kind != PB_ATTR_FLOAT) return false;
  for (const char* at = taken; *at; at += strcspn(at, " "), at += *at == ' ')
    if (length == strcspn(at, " ") && !strncmp(at, a->name, length)) return true;
  return false;
}

// The node's operator of ONNX, with its attributes but for those that `taken` names.
static int operate_as(rewriter* r, const pb_node* n, const char* op, const char* taken, int count, const int* in,
                      int out) {
  pb_attr* kept = PB_NEW_ARRAY(&r->g->arena, pb_attr, (size_t)n->attr_count + 1);
  int attr_count = 0;
  for (int k = 0; k < n->attr_count; ++k)
    if (!is_taken(&n->attrs[k], taken)) kept[attr_count++] = n->attrs[k];
  return operate(r, n, op, count, in, attr_count, kept, out);
}

// ---- products ----

typedef struct factors {
  int x, w, bias; // operands: codes, with their scales and zero points behind them, and the bias
  int axis;       // of the weights, that counts results
  float alpha;
} factors;

// Weights whose scale and zero point are one number for all, or one for each result.
static bool has_weights(const rewriter* r, const pb_node* n, const factors* f) {
  const pb_const* w = constant_of(r, pb__input(n, f->w));
  if (!w || w->type != PB_I8 || f->axis >= w->rank || w->shape[f->axis] < 1) return false;
  int64_t results = w->shape[f->axis], scales = numbers_of(r, pb__input(n, f->w + 1), PB_F32);
  int64_t zeros = pb__input(n, f->w + 2) < 0 ? 1 : numbers_of(r, pb__input(n, f->w + 2), PB_I8);
  if ((scales != 1 && scales != results) || (zeros != 1 && zeros != results)) return false;
  int bias = pb__input(n, f->bias);
  const pb_const* b = constant_of(r, bias);
  return bias < 0 ||
         (b && b->type == PB_I32 && b->rank && b->bytes == (uint64_t)results * 4 && b->shape[b->rank - 1] == results);
}

// The numbers of a constant scale times a number.
static int times(rewriter* r, const pb_node* n, int scale, float by) {
  int64_t count = numbers_of(r, scale, PB_F32);
  float* numbers = PB_NEW_ARRAY(&r->consts->arena, float, (size_t)count);
  for (int64_t k = 0; k < count; ++k) numbers[k] = by * number_at(r, scale, k);
  return add_tensor(r, n, pb_consts_add(r->consts, n->name, PB_F32, count > 1, &count, numbers));
}

// Dequantised: the codes, the weights, and the bias, if there is one. How many they are.
static int read_factors(rewriter* r, const pb_node* n, const factors* f, int* in) {
  scaling of_w = scaling_at(n, f->w + 1);
  int bias = pb__input(n, f->bias);
  if (f->alpha != 1) of_w.scale = times(r, n, of_w.scale, f->alpha);
  bool each = numbers_of(r, of_w.scale, PB_F32) > 1 || numbers_of(r, of_w.zero, PB_I8) > 1;
  in[0] = operand(r, n, f->x);
  in[1] = dequantised(r, n, pb__input(n, f->w), of_w, each ? f->axis : -1);
  if (bias < 0) return 2;
  int unit = times(r, n, of_w.scale, number_at(r, pb__input(n, f->x + 1), 0));
  int last = numbers_of(r, unit, PB_F32) > 1 ? constant_of(r, bias)->rank - 1 : -1;
  in[2] = dequantised(r, n, bias, (scaling){unit, -1}, last);
  return 3;
}

// Of lines and images: what walks more dims has no form on codes.
static bool conv(rewriter* r, const pb_node* n, const char* op) {
  const factors f = {.x = 0, .w = 3, .bias = 8, .axis = 0, .alpha = 1};
  int in[3];
  if (!is_read(r, n, 1) || !is_made(r, n, 6) || !has_weights(r, n, &f)) return false;
  int rank = constant_of(r, pb__input(n, 3))->rank;
  if (rank != 3 && rank != 4) return false;
  int count = read_factors(r, n, &f, in);
  quantise(r, n, operate_as(r, n, op, "", count, in, -1), scaling_at(n, 6), n->outputs[0]);
  return true;
}

// By a constant matrix, or of two computed operands.
static bool matmul(rewriter* r, const pb_node* n, const char* op) {
  const factors f = {.x = 0, .w = 3, .bias = 8, .axis = 1, .alpha = 1};
  int in[3];
  const pb_const* w = constant_of(r, pb__input(n, 3));
  if (!is_read(r, n, 1) || !is_made(r, n, 6)) return false;
  if (w ? w->rank != 2 || !has_weights(r, n, &f) : !is_read(r, n, 4)) return false;
  if (w) {
    (void)read_factors(r, n, &f, in);
  } else {
    in[0] = operand(r, n, 0);
    in[1] = operand(r, n, 3);
  }
  quantise(r, n, operate_as(r, n, op, "", 2, in, -1), scaling_at(n, 6), n->outputs[0]);
  return true;
}

// alpha is a part of the weights' scale. Without a scale of its result that is f32.
static bool gemm(rewriter* r, const pb_node* n, const char* op) {
  const pb_attr* alpha = pb_node_attr(n, "alpha");
  const factors f = {
      .x = 0, .w = 3, .bias = 6, .axis = pb_node_int(n, "transB", 0) ? 0 : 1, .alpha = alpha ? alpha->f : 1};
  int in[3];
  bool floats = pb__input(n, 7) < 0 && pb__input(n, 8) < 0;
  if (!is_read(r, n, 1) || !(floats || is_made(r, n, 7)) || !has_weights(r, n, &f)) return false;
  if (constant_of(r, pb__input(n, 3))->rank != 2 || pb_node_int(n, "transA", 0) || !(f.alpha > 0)) return false;
  int count = read_factors(r, n, &f, in);
  int y = operate_as(r, n, op, "alpha transA", count, in, floats ? n->outputs[0] : -1);
  if (!floats) quantise(r, n, y, scaling_at(n, 7), n->outputs[0]);
  return true;
}

// ---- others ----

static bool binary(rewriter* r, const pb_node* n, const char* op) {
  if (!is_read(r, n, 1) || !is_read(r, n, 4) || !is_made(r, n, 6)) return false;
  const int in[] = {operand(r, n, 0), operand(r, n, 3)};
  quantise(r, n, operate_as(r, n, op, "", 2, in, -1), scaling_at(n, 6), n->outputs[0]);
  return true;
}

static bool unary(rewriter* r, const pb_node* n, const char* op) {
  if (!is_read(r, n, 1) || !is_made(r, n, 3)) return false;
  const int x = operand(r, n, 0);
  quantise(r, n, operate_as(r, n, op, "", 1, &x, -1), scaling_at(n, 3), n->outputs[0]);
  return true;
}

// Images whose channels are last are turned by the row.
static bool pool(rewriter* r, const pb_node* n, const char* op) {
  if (!is_read(r, n, 1) || !is_made(r, n, 3) || pb_node_int(n, "channels_last", 0)) return false;
  const int x = operand(r, n, 0);
  quantise(r, n, operate_as(r, n, op, "channels_last", 1, &x, -1), scaling_at(n, 3), n->outputs[0]);
  return true;
}

// Along one dim: of models before opset 13, that is so where it is the last.
static bool softmax(rewriter* r, const pb_node* n, const char* op) {
  bool last = pb_node_int(n, "axis", -1) == -1;
  if (!is_read(r, n, 1) || !is_made(r, n, 3) || !pb_node_attr(n, "opset")) return false;
  if (pb_node_int(n, "opset", 0) < 13 && !last) return false;
  const int x = operand(r, n, 0);
  quantise(r, n, operate_as(r, n, op, "opset", 1, &x, -1), scaling_at(n, 3), n->outputs[0]);
  return true;
}

static bool concat(rewriter* r, const pb_node* n, const char* op) {
  int count = (n->input_count - 2) / 3;
  if (count < 1 || n->input_count != 2 + 3 * count || !is_made(r, n, 0)) return false;
  for (int k = 0; k < count; ++k)
    if (!is_read(r, n, 3 + 3 * k)) return false;
  int* parts = PB_NEW_ARRAY(&r->g->arena, int, (size_t)count);
  for (int k = 0; k < count; ++k) parts[k] = operand(r, n, 2 + 3 * k);
  quantise(r, n, operate_as(r, n, op, "", count, parts, -1), scaling_at(n, 0), n->outputs[0]);
  return true;
}

static const struct {
  const char *domain, *name, *op;
  int most; // operands
  bool (*rewrite)(rewriter* r, const pb_node* n, const char* op);
} rows[] = {{"", "QLinearConv", "Conv", 9, conv},
            {"", "QLinearMatMul", "MatMul", 8, matmul},
            {"com.microsoft", "QGemm", "Gemm", 9, gemm},
            {"com.microsoft", "QLinearAdd", "Add", 8, binary},
            {"com.microsoft", "QLinearMul", "Mul", 8, binary},
            {"com.microsoft", "QLinearSigmoid", "Sigmoid", 5, unary},
            {"com.microsoft", "QLinearLeakyRelu", "LeakyRelu", 5, unary},
            {"com.microsoft", "QLinearGlobalAveragePool", "GlobalAveragePool", 5, pool},
            {"com.microsoft", "QLinearAveragePool", "AveragePool", 5, pool},
            {"com.microsoft", "QLinearSoftmax", "Softmax", 5, softmax},
            {"com.microsoft", "QLinearConcat", "Concat", INT32_MAX, concat}};
enum { ROWS = sizeof rows / sizeof *rows };

static int row_of(const pb_node* n) {
  for (int k = 0; k < ROWS; ++k)
    if (!strcmp(n->domain, rows[k].domain) && pb__is(n, rows[k].name)) return k;
  return ROWS;
}

// ---- what chooses among codes ----

static bool chooses(const pb_node* n) {
  static const char* const names[] = {"DepthToSpace", "Expand", "Flatten", "Gather",    "MaxPool", "Reshape",  "Slice",
                                      "SpaceToDepth", "Split",  "Squeeze", "Transpose", "Tile",    "Unsqueeze"};
  const pb_attr* mode = pb_node_attr(n, "mode");
  if (*n->domain) return false;
  if (pb__is(n, "Resize")) return !mode || (mode->s && !strcmp(mode->s, "nearest"));
  if (pb__is(n, "MaxPool") && n->output_count > 1) return false;
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
    if (pb__is(n, names[k])) return true;
  return false;
}

// The node itself between the scale and the zero point of its operand: it makes numbers, of which the codes are made.
static bool choose(rewriter* r, const pb_node* n) {
  int x = pb__input(n, 0);
  if (!chooses(n) || x < 0 || r->of[x].scale < 0) return false;
  const scaling by = r->of[x];
  pb_node made = *n;
  made.inputs = PB_NEW_ARRAY(&r->g->arena, int, (size_t)n->input_count);
  made.outputs = PB_NEW_ARRAY(&r->g->arena, int, (size_t)n->output_count);
  memcpy(made.inputs, n->inputs, (size_t)n->input_count * sizeof *n->inputs);
  made.inputs[0] = dequantised(r, n, x, by, -1);
  for (int k = 0; k < n->output_count; ++k) made.outputs[k] = n->outputs[k] < 0 ? -1 : add_tensor(r, n, -1);
  add_node(r, made);
  for (int k = 0; k < n->output_count; ++k)
    if (n->outputs[k] >= 0) quantise(r, n, made.outputs[k], by, n->outputs[k]);
  return true;
}

// Those of ONNX came with opset 10.
static bool rewrite(rewriter* r, const pb_node* n) {
  enum { FIRST_OPSET = 10 };
  int k = row_of(n);
  if (k == ROWS || n->input_count > rows[k].most) return false;
  return (*n->domain || pb_node_opset(r->g, n) >= FIRST_OPSET) && rows[k].rewrite(r, n, rows[k].op);
}

static void take(rewriter* r, const pb_node* n) {
  bool fits = n->output_count == 1 && n->outputs[0] >= 0;
  if (fits && rewrite(r, n)) return;
  if (choose(r, n)) return;
  bool is_own = !*n->domain || !strcmp(n->domain, "com.microsoft");
  if (is_own && fits && pb__is(n, "QuantizeLinear") && is_made(r, n, 1)) r->of[n->outputs[0]] = scaling_at(n, 1);
  add_node(r, *n);
}

void pb__rewrite_qoperators(pb_graph* g, pb_consts* consts) {
  bool any = false;
  for (size_t k = 0; k < g->node_count; ++k) any |= row_of(&g->nodes[k]) < ROWS;
  if (!any) return;
  rewriter r = {.g = g, .consts = consts, .of = malloc((g->tensor_count + 1) * sizeof *r.of)};
  if (!r.of) pb_no_memory(g->tensor_count * sizeof *r.of);
  for (size_t k = 0; k < g->tensor_count; ++k) r.of[k] = (scaling){-1, -1};
  for (size_t k = 0; k < g->node_count; ++k) take(&r, &g->nodes[k]);
  free(g->nodes);
  free(r.of);
  g->nodes = r.nodes;
  g->node_count = r.count;
  g->node_capacity = r.capacity;
}

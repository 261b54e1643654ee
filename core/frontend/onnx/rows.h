// ONNX's operators by rows: onnx.def has a row an operator, and each row's function says what the operator is in the
// operators of StableHLO, whose rows make the nests. Inside: what those functions share.
#ifndef PB_ONNX_ROWS_H
#define PB_ONNX_ROWS_H

#include "core/frontend/onnx/onnx.h"
#include "core/frontend/stablehlo/door.h"
#include "core/s1/lift/lift.h"

// The node that is being made. A tensor in it is a number: a value of the flat form, whose type is known even when
// making it failed, so that a function looks at `status` at its end alone, or where it divides by what may be nothing.
typedef struct pb_onnx {
  lifter* l;
  const pb_node* n;
  const pb_onnx_row* row;
  pb_door door;
  pb_flat flat;
  pb_flat_type* types;
  int capacity;
  size_t first_value; // of S1, that this node made
  pb_arena arena;     // until the node is made
  pb_status status;   // the first thing that went wrong
  bool in_f32;        // narrow floats come as f32, and what is made of them is rounded once, when it is given
  pb_type rounded_to; // that of its narrow operands, PB_F32: it has none
} pb_onnx;

// Warns of constant indices of a look-up or an update that lie outside of its operand.
void pb__warn_of_places(lifter* l, const pb_node* n);
// Warns of a Dropout in training, which is run as in inference: element.c.
void pb__warn_of_training(lifter* l, const pb_node* n);

void pb__o_refuse(pb_onnx* o, const char* format, ...) __attribute__((format(printf, 2, 3)));
// For operators of several steps: between those f16 would overflow, and bf16 lose what it has.
static inline void pb__o_works_in_f32(pb_onnx* o) {
  o->in_f32 = true;
  o->rounded_to = PB_F32;
}
static inline bool pb__o_bad(const pb_onnx* o) { return o->status != PB_OK; }
// pb__meet, but of what is refused already: its shapes say nothing of open dims.
static inline bool pb__o_meet(pb_onnx* o, int64_t a, int64_t b) { return pb__o_bad(o) ? a == b : pb__meet(o->l, a, b); }

// ---- the node ----

bool pb__o_has(const pb_onnx* o, int k);  // operand k
int pb__o_in(pb_onnx* o, int k);          // a refusal where it is left out, or of codes (pb_type_is_code)
int pb__o_in_moved(pb_onnx* o, int k);    // the same, of codes too: the operator moves them or converts them
int pb__o_tensor(pb_onnx* o, int tensor); // any of the graph
// Codes without a sign 128 less, as i8; other types as they are. Operands lie so.
int pb__o_with_sign(pb_onnx* o, int x);
int pb__o_in_with_sign(pb_onnx* o, int k);
bool pb__o_wants(const pb_onnx* o, int k); // result k
void pb__o_out(pb_onnx* o, int k, int v);  // result k is v
int64_t pb__o_int(const pb_onnx* o, const char* name, int64_t missing);
double pb__o_real(const pb_onnx* o, const char* name, double missing);
const char* pb__o_text(const pb_onnx* o, const char* name, const char* missing);
// As many integers as asked for, each within 2^31; `missing` where it is left out.
void pb__o_ints(pb_onnx* o, const char* name, int count, int64_t missing, int64_t* items);
// Of an attribute, or of a constant operand where the attribute is not there; -1: neither.
int pb__o_list(pb_onnx* o, const char* name, int k, int most, int64_t* items);
// The floats of a constant operand; false: it is none, or of another number.
bool pb__o_reals(const pb_onnx* o, int k, int most, float* items, int* count);
int pb__o_axis(pb_onnx* o, int64_t axis, int rank); // counted from either end

// ---- the graph ----

// What is said in ONNX's own operators: a node more, made at once. out: the tensor that it makes, -1: one of its own.
int pb__o_node(pb_onnx* o, const char* op, int count, const int* in, const pb_attr* attrs, int attr_count, int out);
pb_attr pb__o_axes(pb_onnx* o, const char* name, int64_t value);       // a list of one number
void pb__o_give_items(pb_onnx* o, int k, int count, const int* items); // result k is a sequence of these
void pb__o_give_number(pb_onnx* o, int tensor, pb_type type, int64_t value);

// ---- tensors ----

static inline const pb_flat_type* pb__o_type(const pb_onnx* o, int v) { return &o->types[v]; }
static inline int64_t pb__o_opset(const pb_onnx* o) { return pb_node_opset(o->l->g, o->n); }
int64_t pb__o_elements(const pb_onnx* o, int v);
bool pb__o_same_shape(const pb_onnx* o, int a, int b);

int pb__o_number(pb_onnx* o, pb_type type, double value); // of rank 0
int pb__o_array(pb_onnx* o, pb_type type, int rank, const int64_t* shape, const double* values);
int pb__o_integer(pb_onnx* o, pb_type type, int64_t value);
int pb__o_like(pb_onnx* o, int v, double value); // of v's type, rank 0
int pb__o_constant(pb_onnx* o, pb_type type, int rank, const int64_t* shape, const void* bytes);

int pb__o_unary(pb_onnx* o, const char* scalar, int x);
int pb__o_binary(pb_onnx* o, const char* scalar, int x, int z); // with broadcasting, as all below
int pb__o_compare(pb_onnx* o, const char* direction, int x, int z);
int pb__o_select(pb_onnx* o, int truth, int yes, int no);
int pb__o_cast(pb_onnx* o, int x, pb_type to);
int pb__o_bits(pb_onnx* o, int x, pb_type to); // of as many
// codes.c. To codes and from them: what cannot be said in the type is its largest number, or with `saturate` false
// infinity or NaN; `round`: "up", "down" or "nearest", of powers of two alone.
int pb__o_encode(pb_onnx* o, int x, pb_type to, bool saturate, const char* round);
int pb__o_decode(pb_onnx* o, int x);                 // f32
int pb__o_same_bytes(pb_onnx* o, int x, pb_type to); // both of a byte

int pb__o_reshape(pb_onnx* o, int x, int rank, const int64_t* shape);
int pb__o_expand(pb_onnx* o, int x, int rank, const int64_t* shape); // the last dims against each other
// x's dim r is dim dims[r] of the result.
int pb__o_broadcast(pb_onnx* o, int x, int rank, const int64_t* shape, const int64_t* dims);
int pb__o_transpose(pb_onnx* o, int x, const int64_t* order);
int pb__o_slice(pb_onnx* o, int x, const int64_t* from, const int64_t* to, const int64_t* step);
// A slice of so many rows of one dim, from a place on that is computed: an i64 of no dims, kept inside.
int pb__o_part_at(pb_onnx* o, int x, int axis, int at, int64_t rows);
int pb__o_part(pb_onnx* o, int x, int axis, int64_t from, int64_t to); // along one axis alone
int pb__o_reverse(pb_onnx* o, int x, const bool* turned);
int pb__o_join(pb_onnx* o, int count, const int* parts, int axis);
// Edges may be negative; `gap` between the elements, NULL: none. pb__o_pad_open: edges that hang on open extents.
int pb__o_pad(pb_onnx* o, int x, int with, const int64_t* low, const int64_t* high, const int64_t* gap);
int pb__o_pad_open(pb_onnx* o, int x, int with, const int64_t* low, const int64_t* high);
int pb__o_iota(pb_onnx* o, pb_type type, int rank, const int64_t* shape, int axis);
// x at constant places along the axis; a slice or a repetition where it is one.
int pb__o_take(pb_onnx* o, int x, int axis, int64_t count, const int64_t* places);
int pb__o_moved(pb_onnx* o, int x, int from, int to); // one dim to another place
// StableHLO's transform of the last dim, "RFFT" and so on: x is the real parts, *im the imaginary ones, -1: x is real,
// and behind it those of the result.
void pb__o_fourier(pb_onnx* o, const char* how, int64_t length, int x, int* re, int* im);

// By "add", "multiply", "maximum", "minimum", "and", "or" over the marked dims, which go.
int pb__o_reduce(pb_onnx* o, int x, const char* scalar, const bool* gone);
int pb__o_reduce_kept(pb_onnx* o, int x, const char* scalar, const bool* gone); // which stay, 1 long
typedef struct pb_onnx_window {
  int64_t size[PB_FLAT_RANK], stride[PB_FLAT_RANK], dilation[PB_FLAT_RANK], low[PB_FLAT_RANK], high[PB_FLAT_RANK];
  bool borders; // how much is padded hangs on the extents, if anything
} pb_onnx_window;
int pb__o_windows(pb_onnx* o, int x, int with, const char* scalar, const pb_onnx_window* w);

// Products: dims by `batch` and `summed` pairs, results in the order batches, x's, z's.
typedef struct pb_onnx_pairs {
  int batches, sums;
  int64_t batch[2][PB_FLAT_RANK], sum[2][PB_FLAT_RANK];
} pb_onnx_pairs;
int pb__o_dot(pb_onnx* o, int x, int z, const pb_onnx_pairs* pairs, pb_type type);
int pb__o_matmul(pb_onnx* o, int x, int z, pb_type type); // as NumPy's
// Windows over the dims from 2 on: `gap` between the input's elements, weights turned round where `reversed`.
typedef struct pb_onnx_conv {
  int64_t stride[PB_FLAT_RANK], dilation[PB_FLAT_RANK], low[PB_FLAT_RANK], high[PB_FLAT_RANK], gap[PB_FLAT_RANK];
  int64_t groups;
  bool reversed, borders;
} pb_onnx_conv;
int pb__o_conv(pb_onnx* o, int x, int w, const pb_onnx_conv* c, pb_type type);

// The same by convolutions without gaps, -1: it is no such one. constant: the weights as ConvTranspose has them, -1:
// they are computed.
int pb__o_conv_by_phases(pb_onnx* o, int x, int w, const pb_onnx_conv* c, int constant, pb_type type);

// Places by vectors: index_vector is the last dim of the indices.
typedef struct pb_onnx_places {
  int windows, dropped, maps;
  int64_t window[PB_FLAT_RANK], drop[PB_FLAT_RANK], map[PB_FLAT_RANK], size[PB_FLAT_RANK];
} pb_onnx_places;
int pb__o_gather(pb_onnx* o, int x, int places, const pb_onnx_places* p, int rank, const int64_t* shape);
// Pixels of images, x: [n, c, h, w], to [a, c, b, d], which is `shape`. Where they stand in n, h and w is told by three
// tensors of [a, b, d, 1].
int pb__o_pixels(pb_onnx* o, int x, const int* places, const int64_t* shape);
// The same with channels last, where code runs and they are many: images of that height and width as rows of pixels, [n
// * h * w, c], to [a, b, d, c], which is `shape`. The three tensors of places are of [a, b, d, 1], or 1 where they do
// not move.
bool pb__o_pixels_are_rows(const pb_onnx* o, int64_t channels);
int pb__o_as_pixels(pb_onnx* o, int x);
int pb__o_pixels_by_rows(pb_onnx* o, int x, const int* places, int64_t height, int64_t width, const int64_t* shape);
int pb__o_scatter(pb_onnx* o, int x, int places, int updates, const char* scalar, const pb_onnx_places* p);
// The largest along the last dim in order; *where: i32.
int pb__o_top(pb_onnx* o, int x, int64_t count, int* where);
// What stands in the order of x, or in that turned round, and back: of floats -0 is 0, which it is equal to.
int pb__o_order_of(pb_onnx* o, int x, bool largest);

// ---- what several rows are made of ----

static inline int pb__o_add(pb_onnx* o, int x, int z) { return pb__o_binary(o, "add", x, z); }
static inline int pb__o_sub(pb_onnx* o, int x, int z) { return pb__o_binary(o, "subtract", x, z); }
static inline int pb__o_mul(pb_onnx* o, int x, int z) { return pb__o_binary(o, "multiply", x, z); }
static inline int pb__o_div(pb_onnx* o, int x, int z) { return pb__o_binary(o, "divide", x, z); }
static inline int pb__o_most(pb_onnx* o, int x, int z) { return pb__o_binary(o, "maximum", x, z); }
static inline int pb__o_least(pb_onnx* o, int x, int z) { return pb__o_binary(o, "minimum", x, z); }
int pb__o_sum(pb_onnx* o, int x, const bool* gone, bool keep); // of narrow floats taken in f32
int pb__o_mean(pb_onnx* o, int x, const bool* gone);           // kept
int pb__o_softmax(pb_onnx* o, int x, const bool* axes, bool logarithm);
// Along the axis the first place (the last one) of the largest, i64, kept.
int pb__o_first_of_most(pb_onnx* o, int x, int axis, bool least, bool last);
// Reads the window of Conv and pools: kernel_shape (or these extents), strides, dilations, pads, auto_pad, ceil_mode.
void pb__o_read_window(pb_onnx* o, const int64_t* extents, int spaces, const int64_t* kernel, pb_onnx_conv* w,
                       int64_t* out);
// A vector along dim `axis` of a tensor of so many dims, others 1.
int pb__o_along(pb_onnx* o, int vector, int rank, int axis);
int pb__o_worked(pb_onnx* o, int x);                  // narrow floats as f32
int pb__o_by_heads(pb_onnx* o, int x, int64_t heads); // [batch, tokens, heads * size] as [batch, heads, tokens, size]
int pb__o_table_rows(pb_onnx* o, int table, int at);  // [n, w] at [a, b]: [a, b, w]
// Heads turned by positions: the first `turned` numbers, by halves or by pairs of neighbours; c, s: against them.
int pb__o_rotated(pb_onnx* o, int x, int c, int s, int64_t turned, bool pairs);
// A convolution by the node's window, padded by the value `with`, -1: by zeros; and what operand k adds to each
// channel.
int pb__o_convolved(pb_onnx* o, int x, int w, int with, pb_type type);
int pb__o_with_bias(pb_onnx* o, int y, int k, pb_type type);
// Of an operator of several steps: between them narrow floats are f32.
pb_type pb__o_between(pb_type type, bool steps);
// The product in i32 of codes less their zero points, which may be left out; a convolution, where `windows`.
typedef struct pb_onnx_codes {
  int x, x_zero, w, w_zero; // operands
  bool windows;
  bool made; // x and its zero point are the values `codes` and `zero`
  int codes, zero;
} pb_onnx_codes;
int pb__o_sums_of_codes(pb_onnx* o, const pb_onnx_codes* c);
// Codes less their zero point, i32: one for all or one for each place along the axis.
int pb__o_from_zero(pb_onnx* o, int k, int zero, int axis);
// x, f32, as ui8 by the range that there is, its scale and its zero point.
void pb__o_by_range(pb_onnx* o, int x, int* codes, int* scale, int* zero);

typedef void pb_onnx_maker(pb_onnx* o);
#define OP(name, since, least, most, results, attributes, function, detail, summary) pb_onnx_maker pb__o_op_##function;
#include "core/frontend/onnx/onnx.def"
#undef OP

#endif

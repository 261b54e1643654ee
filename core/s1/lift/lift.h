// Inside stage S1: what the files that lift operators share.
#ifndef PB_S1_LIFT_H
#define PB_S1_LIFT_H

#include "core/s1/s1.h"

typedef struct lifter {
  pb_graph* g;
  pb_consts* consts;
  pb_diag* diag;
  pb_s1* out;
  int* value_of;                 // by graph tensor: the value that holds it (codes of a quantised tensor), -1
  int *uses, *user;              // by graph tensor
  bool* done;                    // by node
  bool* unsigned_codes;          // by graph tensor: codes that the model has without a sign
  int* table_source;             // by node: the DequantizeLinear whose codes a QuantizeLinear has a function of, -1
  const pb_s1_rows* rows;        // of the front end
  bool quiet;                    // a form is tried, and what it is not is no error
  bool unknown;                  // the node is no form at all
  bool said;                     // data say extents of what has been made so far
  const char* why;               // else what kept it from being the form that was tried
  int marked[8], marks;          // nodes that the form tried counts as done
  size_t node_room, tensor_room; // how many there may be when all is written out
  int* copy_of;                  // by graph tensor, of the subgraph that is being written out, -1
  int dequantising;              // DequantizeLinear nodes that are being made, each for the one before
  bool folds_sizes;              // the node that is folded computes of extents of open dims
  int* outputs;                  // values, in the model's order
  size_t output_count, output_capacity;
  const char* impossible; // why the node that is being lifted cannot be: noted deep inside, told when it is done
} lifter;

// Codes of the model; those without a sign are 128 less here, their zero points too.
typedef struct pb_codes {
  int value;
  float scale;
  double zero;
} pb_codes;

// QuantizeLinear behind an operator, the tensor that it makes, and the clamp up to there. `floats`: there is none, and
// the operator's own tensor has f32 numbers, in units of 1 and without bounds.
typedef struct pb_target {
  int node, tensor;
  bool is_unsigned, floats;
  float scale;
  double zero, lo, hi;
} pb_target;

// Constant weights without zero points. `twice`: their constant has two codes for each of the model's, the first ones
// of all inputs before the second ones.
typedef struct pb__weights {
  int id, rank;
  int64_t shape[PB_GRAPH_RANK]; // the model's
  bool twice;
  int64_t scale_count; // 1, or one for each result
  const float* scales;
  const bool* negated; // by result: the constant has the weights times -1; NULL: none
} pb__weights;

pb_status pb__refuse(lifter* l, const pb_node* n, const char* hint, const char* why);
// Of shapes that do not fit each other; `what` they are of.
pb_status pb__refuse_shapes(lifter* l, const pb_node* n, const char* what, int rank, const int64_t* shape,
                            int other_rank, const int64_t* other);
// What a form returns of a known operator that is its row's: between codes too, of which integers say nothing there.
pb_status pb__no_form(lifter* l) PB_MUST_CHECK;
bool pb__is(const pb_node* n, const char* op);
void pb__mark_done(lifter* l, int node); // another node that the form which is being made takes for its own
int pb__input(const pb_node* n, int k);  // tensor, -1: left out
const pb_const* pb__constant(const lifter* l, int tensor);
// In numbers.c. So many f32 numbers that a constant has, also those that DequantizeLinear makes of constant codes, in
// the table's arena. NULL: it is none, or has more or fewer.
const float* pb__numbers(const lifter* l, int tensor, int64_t count, int* rank);
// Of 8-bit codes: without a sign they become a constant that is 128 less.
const pb_const* pb__signed_constant(lifter* l, int tensor);
// A constant; of one with codes of 4 bits, signed or not, a new one of i8. NULL: it is no constant.
const pb_const* pb__byte_codes(lifter* l, int tensor);
bool pb__scalar_f32(const lifter* l, int tensor, float* value);
const pb_node* pb__producer(const lifter* l, int tensor);
// Elements of a shape; -1: none, more than a tensor of a sample may have, or more dims.
int64_t pb__elements(int rank, const int64_t* shape);
// Whether a tensor of the program may have that shape, elements and no more of them than pb_most_elements.
bool pb__fits(const pb_consts* consts, int rank, const int64_t* shape);
// Whether one of the extents is 0: no tensor of it is ever read or written.
bool pb__is_empty(int rank, const int64_t* shape);
// Whether a node takes such a tensor: forms have elements.
bool pb__takes_empty(lifter* l, const pb_node* n);
int pb__add_empty(lifter* l, const char* name, pb_type type, int rank, const int64_t* shape);
// A value of an impossible shape is noted in l->impossible.
int pb__add_value(lifter* l, const char* name, pb_type type, int rank, const int64_t* shape);
// The elements of `value`, in their order, under another shape.
int pb__reshaped(lifter* l, const char* name, int value, int rank, const int64_t* shape);
// `made` has the elements of `value`, in their order.
void pb__alias(lifter* l, int made, int value);
void pb__push_op(lifter* l, pb_s1_op op);
void pb__read_pair(const pb_node* n, const char* name, int64_t* pair);
// At how many places a window of `reach` elements stands along a dim with so much padding, 0: it is larger. hangs: with
// one more that begins inside and hangs over the end, by *over elements (0: none does), as ceil_mode says.
int64_t pb__window_places(int64_t extent, int64_t low, int64_t high, int64_t reach, int64_t stride, bool hangs,
                          int64_t* over);
// Windows of Conv and pools: attributes to numbers, and the result's extents.
pb_status pb__read_window(lifter* l, const pb_node* n, const pb_s1_value* x, pb_s1_op* op, int64_t* out) PB_MUST_CHECK;
// The shape that Flatten, Reshape and their like give to the elements of `in`.
pb_status pb__read_reshape(lifter* l, const pb_node* n, const pb_s1_value* in, int64_t* shape, int* rank) PB_MUST_CHECK;
// The elements [from, to) of each dim: the value itself when that is all.
int pb__part_of(lifter* l, const pb_node* n, int value, const int64_t* from, const int64_t* to);
// pb__broadcast, where open dims that keep the shapes apart are what they must be, as pb__meet has it.
bool pb__broadcast_open(lifter* l, int64_t* shape, int* rank, const int64_t* other, int other_rank);
// Whether two extents that must be one are. Where they are not, but may be, since one is an open dim's, the model is
// read again with what they are, and what is refused until then is not said.
bool pb__meet(lifter* l, int64_t a, int64_t b);
// Whether an extent is a multiple of a number; that of an open dim is one from then on: the model is read again.
bool pb__divides(lifter* l, int64_t extent, int64_t by);
// Whether how much a Pad adds, and whether anything, may hang on open extents.
bool pb__pads_hang(const lifter* l, const pb_node* n);
// Open dims that a Reshape takes apart, or that share its -1 with others, become multiples (multiples.c).
void pb__divide_reshaped(lifter* l, const pb_s1_value* in, int rank, const int64_t* shape);
// Notes on which side of an extent's end, and of 0, a place lies.
void pb__guard_bound(lifter* l, int64_t at, int64_t extent);
// Where a slice begins, or ends, that says `at`, as ONNX has it: kept within its tensor; one that goes back ends in
// front of the first element at the least.
int64_t pb__slice_bound(lifter* l, int64_t at, int64_t extent, bool back, bool ends);
// Where part k of parts of so many ends.
int64_t pb__part_end(lifter* l, int64_t each, int k, int64_t extent);
// Takes off op->x what op->start leaves out in front.
void pb__crop(lifter* l, const pb_node* n, pb_s1_op* op);

// In live_window.c. The columns of a window dim, from `first` to before `end`, that meet more than padding.
typedef struct pb__taps {
  int64_t first, end;
} pb__taps;
pb__taps pb__live_taps(int64_t extent, int64_t out, int64_t window, int64_t stride, int64_t dilation, int64_t low,
                       int64_t high);
// Leaves only those of a convolution's weights; in, out: the shapes [n, c, h, w] of its input and its result.
void pb__live_window(lifter* l, const int64_t* in, const int64_t* out, pb_s1_op* op);
pb_status pb__lift_dequantise(lifter* l, const pb_node* n) PB_MUST_CHECK;

// Constant weights [k, n] as [n, k]: the new constant, which is made when it is read.
int pb__turned(lifter* l, const pb_const* from);

// The codes behind a float tensor that DequantizeLinear makes.
pb_status pb__read_codes(lifter* l, const pb_node* n, int tensor, pb_codes* q) PB_MUST_CHECK;
// What follows: Relu and Clip fold into the clamp, until QuantizeLinear.
pb_status pb__find_target(lifter* l, const pb_node* n, pb_target* t) PB_MUST_CHECK;
// The same, or floats where nothing quantises the result.
pb_status pb__find_result(lifter* l, const pb_node* n, pb_target* t) PB_MUST_CHECK;
static inline pb_type pb__target_type(const pb_target* t) { return t->floats ? PB_F32 : PB_I8; }
// The target's clamp narrowed by the bounds of n, which is Relu or Clip.
pb_status pb__clamp_target(lifter* l, const pb_node* n, pb_target* t) PB_MUST_CHECK;
int pb__make_result(lifter* l, const pb_target* t, int rank, const int64_t* shape);
// A line of places as an image of one row: [n, c, w] as [n, c, 1, w].
int pb__as_image(lifter* l, const pb_node* n, int value);
// An image; `line`: whose elements are those of the target, a line.
int pb__image_result(lifter* l, const pb_node* n, const pb_target* t, bool line, const int64_t* shape);
// The result is the elements of `value` under another shape; a copy of them, where dims do not merge or split to it.
void pb__reshaped_result(lifter* l, const pb_node* n, const pb_target* t, int value, int rank, const int64_t* shape);
pb_s1_op pb__codes_op(const pb_node* n, pb_s1_kind kind, const pb_target* t);
// Constant int8 weights whose dim `outputs` counts results; scales one or one for each of those: lift/weights.c.
// scale / by as the factor of a multiplication; what f32 cannot hold is noted in l->impossible.
float pb__factor(lifter* l, float scale, float by);
pb_status pb__read_weights(lifter* l, const pb_node* n, int tensor, int outputs, pb__weights* w) PB_MUST_CHECK;
// The value with all that it has along the axis twice, of each group: what weights that are `twice` are multiplied by.
int pb__twice(lifter* l, const pb_node* n, int value, int axis, int64_t groups);
// In sums.c. bias' = bias - zx * sum(w), and the factor of each result, for the operator's weights [o, ...]. Where sums
// of 32 bits do not hold the biases, these are numbers `apart` for the result, else that is NULL.
pb_status pb__fold_constants(lifter* l, const pb_node* n, const pb__weights* w, const pb_codes* x, const pb_target* t,
                             pb_s1_op* op, const float** apart) PB_MUST_CHECK;
// The operator, whose y is there, and what `apart` says behind it: y = requantise(f32(sum + bias') * m + apart).
void pb__push_product(lifter* l, const pb_node* n, const pb_target* t, pb_s1_op op, const float* apart);

// Bias and factor of each channel for the sum of `area` codes, a unit of which is worth `scale`.
void pb__fold_sum(lifter* l, const pb_node* n, int64_t channels, int64_t area, const pb_codes* x, float scale,
                  const pb_target* t, pb_s1_op* op);
// What MaxPool and AveragePool begin with: codes, target, an operator with its window, and the shape of its result,
// which is an image; `line`: of a line.
pb_status pb__read_pool(lifter* l, const pb_node* n, pb_s1_kind kind, pb_codes* x, pb_target* t, pb_s1_op* op,
                        int64_t* shape, bool* line) PB_MUST_CHECK;
// Of the largest elements under a large window, of floats or codes, or of floats' means, those along rows become an
// operator in front of *op, which goes along columns from then on: as many elements as the window is long each way, not
// as many as it holds. out: the shape of the result. Where code is made of any loops alone.
void pb__pool_rows_first(lifter* l, const pb_node* n, pb_s1_op* op, const int64_t* out);

// Graphs within nodes: expand.c. Writes the subgraph out behind the graph's nodes and makes its operators. in: what its
// inputs are. out[k]: the tensor that its result k is, -1: it gets one of its own.
pb_status pb__expand(lifter* l, const pb_node* n, int subgraph, const int* in, int* out) PB_MUST_CHECK;
int pb__new_tensor(lifter* l, const char* name);
// A node of ONNX's own in the place of n: made when it is there.
pb_status pb__expand_node(lifter* l, const pb_node* n, const char* op, int count, const int* in, const pb_attr* attrs,
                          int attr_count, int* out) PB_MUST_CHECK;
void pb__count_uses(lifter* l, const pb_node* n, int user); // what it reads, its subgraphs too
void pb__reserve(lifter* l);                                // tables as long as they will ever be
pb_status pb__lift_node(lifter* l, const pb_node* n) PB_MUST_CHECK;
pb_status pb__lift_constants(lifter* l, size_t first) PB_MUST_CHECK; // nodes that are constants, from this one on

// What a node says of itself: lift/constant.c.
pb_status pb__lift_constant(lifter* l, const pb_node* n) PB_MUST_CHECK;
// A node whose operands are constants, or that asks for a shape alone, becomes a constant: fold.c.
pb_status pb__fold(lifter* l, const pb_node* n, bool* known) PB_MUST_CHECK;

// Any types: lift/each.c. The value of a tensor; a constant becomes one.
pb_status pb__any_value(lifter* l, const pb_node* n, int tensor, int* value) PB_MUST_CHECK;
// The type of its elements; PB_TYPE_COUNT: not known.
pb_type pb__type_of(const lifter* l, int tensor);
// The shape that both have together, the last dims against each other. false: they do not fit.
bool pb__broadcast(int64_t* shape, int* rank, const int64_t* other, int other_rank);
pb_status pb__lift_each(lifter* l, const pb_node* n, bool* known) PB_MUST_CHECK;
pb_status pb__lift_gather(lifter* l, const pb_node* n, bool* known) PB_MUST_CHECK; // lift/gather.c

// More operators on codes: lift/codes.c.
pb_status pb__lift_transposed(lifter* l, const pb_node* n, bool* known) PB_MUST_CHECK;
pb_status pb__lift_codes(lifter* l, const pb_node* n, bool* known) PB_MUST_CHECK;
bool pb__same_codes(const pb_codes* x, const pb_target* t); // neither another scale nor a clamp
// y = x in the target's scale, clamped.
void pb__requantise(lifter* l, const pb_node* n, pb_codes x, const pb_target* t, int y);
// QuantizeLinear behind nothing but DequantizeLinear: the same numbers as codes of the target. false: it is not.
bool pb__rescaled(lifter* l, const pb_node* n, const pb_target* t);

// Inside the operators on f32. The value of a float tensor; codes that a float operator reads are turned into floats.
pb_status pb__float_value(lifter* l, const pb_node* n, int tensor, int* value) PB_MUST_CHECK;
// The value's elements once more, as a tensor of that name; by a row of all of them where dims of two shapes have no
// common borders.
int pb__copied(lifter* l, const pb_node* n, int value, const char* name);
// A value that is a reshape of another becomes a tensor of its own.
void pb__own(lifter* l, const pb_node* n, int* value);
// The same only where the dims that a nest walks, those of `walked`, and those of the tensor that the value shares do
// not go together; where it is the one operand (`alone`), the nest may walk the tensor's.
void pb__own_apart(lifter* l, const pb_node* n, int* value, int walked, bool alone);
// pb__float_value for operators that walk their input by its own dims.
pb_status pb__own_value(lifter* l, const pb_node* n, int tensor, int* value) PB_MUST_CHECK;
pb_status pb__own_any(lifter* l, const pb_node* n, int tensor, int* value) PB_MUST_CHECK;
// The one node that reads the tensor, if nothing else sees it; -1.
int pb__only_user(const lifter* l, int tensor);
// The only node that reads the tensor, where that is its first operand and no bound or scale; -1.
int pb__continued(const lifter* l, int tensor);
pb_s1_op pb__float_op(const pb_node* n, pb_s1_kind kind);
// The operator's result, behind Relu and Clip that only it feeds.
pb_status pb__finish(lifter* l, int tensor, pb_s1_op* op, int rank, const int64_t* shape) PB_MUST_CHECK;
// A constant f32 vector of so many elements; NULL: it is another.
const float* pb__vector(const lifter* l, int tensor, int64_t length);
pb_status pb__gemm(lifter* l, const pb_node* n) PB_MUST_CHECK; // lift/matrix.c
pb_status pb__matmul(lifter* l, const pb_node* n) PB_MUST_CHECK;
// Marks the axes that a reduction says; none said: all of them. *elements: those that each result takes together. NULL,
// or what is wrong with them.
const char* pb__read_axes(const lifter* l, const pb_node* n, const pb_s1_value* x, bool* axes, int64_t* elements);
// An axis counted from either end; false: it is not there.
bool pb__axis(int64_t axis, int rank, int* at);
// Integers of an attribute or of a constant input, whichever there is; more than `most` or not constant: *count is -1.
void pb__read_integers(const lifter* l, const pb_node* n, const char* name, int input, int most, int64_t* items,
                       int* count);
// All numbers of a constant input of integers, in the arena. NULL: it is none, or has none.
int64_t* pb__all_integers(const lifter* l, const pb_node* n, int input, pb_arena* arena, int64_t* count);

// Finds which results are bounded: bounds.c.
void pb__s1_bound(pb_s1* program, pb_consts* consts);
// In order.c: gives these values, outputs, the places that they have among each other in this order.
void pb__s1_order(pb_s1* program, const int* outputs, size_t count);

// Functions of one code: lift/table.c. Marks the nodes between a DequantizeLinear and a QuantizeLinear that are one.
void pb__find_tables(lifter* l);
bool pb__is_table(const lifter* l, const pb_node* quantise);
// It has no table after all, by its scales or types: the nodes between are what they are alone.
pb_status pb__drop_table(lifter* l, size_t quantise) PB_MUST_CHECK;
// A function of the value's codes: `table` has the result's 256 codes, that of -128 first, in the table of constants'
// arena.
void pb__push_table(lifter* l, const pb_node* n, const pb_target* t, int value, const int32_t* table);
pb_status pb__lift_table(lifter* l, const pb_node* quantise, const pb_target* t) PB_MUST_CHECK;
// Whether the node's result becomes codes, with nothing but Relu and Clip between.
bool pb__ends_in_codes(const lifter* l, const pb_node* n);
// The value with its dims in that order, as `made`, -1: a new one.
int pb__transposed(lifter* l, const pb_node* n, int value, const int* order, int made);
int pb__ones(lifter* l, const pb_node* n, int rank, const int64_t* shape); // constant weights of one
// Sums, means and maxima: lift/reduced.c. Whether the node has a form on the codes that it reads.
bool pb__reduces_codes(const lifter* l, const pb_node* n);
pb_status pb__lift_reduced_codes(lifter* l, const pb_node* n) PB_MUST_CHECK;
// Softmax, normalisations and products of two computed operands, on codes: lift/attention.c.
pb_status pb__lift_softmax_codes(lifter* l, const pb_node* n) PB_MUST_CHECK;
pb_status pb__lift_norm_codes(lifter* l, const pb_node* n) PB_MUST_CHECK;
pb_status pb__lift_matmul_codes(lifter* l, const pb_node* n) PB_MUST_CHECK;
// Whether the node takes codes of its first operand together along one dim, and ends in what it has a form for.
bool pb__over_one_dim(const lifter* l, const pb_node* n);
// The value as a matrix of its last dim's rows.
int pb__matrix_of(lifter* l, const pb_node* n, int value);
int pb__matrix_behind(const lifter* l, int value); // the same if there is such a matrix already, -1
// A result as such a matrix: *y is it, and the target's value has its elements in the shape.
void pb__matrix_result(lifter* l, const pb_node* n, const pb_target* t, int rank, const int64_t* shape, int* y);
// Gives those who walk the target's value by its own dims a tensor where the matrix has fewer.
void pb__own_result(lifter* l, const pb_node* n, const pb_target* t, int y);
// A matrix under the shape of an image of one channel, as a single head's rows are: they are rows of lanes, where the
// lanes of an image are its channels.
bool pb__is_matrix_as_image(const lifter* l, int value);
// Folds what only moves codes in front of products and behind them into their walks: walks.c.
void pb__s1_walks(pb_s1* program, pb_consts* consts);
// Channel shuffles in front of convolutions of codes go into their weights: shuffles.c.
void pb__s1_shuffles(pb_s1* program, pb_consts* consts);
// Sums and products of codes and of tables of the same codes become tables.
void pb__s1_join_tables(pb_s1* program, pb_consts* consts);
// What only moves elements, on codes: lift/moves.c.
pb_status pb__lift_moves(lifter* l, const pb_node* n, bool* known) PB_MUST_CHECK;
// Whether the product's factors are codes, and its result too, but what moves one of them has no QuantizeLinear behind
// it.
bool pb__multiplies_moved_codes(lifter* l, const pb_node* n);

// Operators on f32: lift/float.c hands what it does not know to the others. `known`: whether there is a row for it.
pb_status pb__lift_function(lifter* l, const pb_node* n, bool* known) PB_MUST_CHECK;  // lift/function.c
pb_status pb__lift_reduction(lifter* l, const pb_node* n, bool* known) PB_MUST_CHECK; // lift/reduction.c
pb_status pb__lift_movement(lifter* l, const pb_node* n, bool* known) PB_MUST_CHECK;  // lift/movement.c
pb_status pb__lift_float(lifter* l, const pb_node* n, bool* known) PB_MUST_CHECK;

// Transposes of images past operators of elements, and away where two undo each other: turn.c.
void pb__move_transposes(pb_graph* g, pb_consts* consts);
// Takes what keeps NaN away from codes, which have none: guards.c.
void pb__drop_guards(pb_graph* g, const pb_consts* consts);
// Of the graph before it is lifted. An initialiser that the caller cannot set; NULL: the tensor is none.
static inline const pb_const* pb__initialiser(const pb_graph* g, const pb_consts* consts, int tensor) {
  int id = tensor < 0 ? -1 : g->tensors[tensor].const_id;
  return id < 0 || g->tensors[tensor].is_input ? NULL : consts->items[id];
}
// A node of the list that is to be the graph's: it makes its results from now on.
static inline void pb__append_node(pb_graph* g, pb_node** nodes, size_t* count, size_t* capacity, pb_node node) {
  for (int k = 0; k < node.output_count; ++k)
    if (node.outputs[k] >= 0) g->tensors[node.outputs[k]].producer = (int)*count;
  PB_PUSH(*nodes, *count, *capacity, node);
}

// The same among the first `count` nodes: an initialiser, or what a Constant in front of the tensor has; NULL: neither.
static inline const pb_const* pb__constant_before(const pb_graph* g, const pb_consts* consts, const pb_node* nodes,
                                                  size_t count, int tensor) {
  const pb_const* initialiser = pb__initialiser(g, consts, tensor);
  if (initialiser || tensor < 0 || g->tensors[tensor].is_input) return initialiser;
  int at = g->tensors[tensor].producer;
  if (at < 0 || (size_t)at >= count) return NULL;
  const pb_node* n = &nodes[at];
  bool is_constant = !*n->domain && pb__is(n, "Constant") && n->output_count == 1 && n->outputs[0] == tensor;
  const pb_attr* value = is_constant ? pb_node_attr(n, "value") : NULL;
  return value && value->kind == PB_ATTR_TENSOR && value->tensor >= 0 ? consts->items[value->tensor] : NULL;
}

// In rewrite/identities.c.
void pb__drop_identities(pb_graph* g);
// Operators of ONNX Runtime's QOperator form as ONNX's between DequantizeLinear and QuantizeLinear: qoperators.c.
void pb__rewrite_qoperators(pb_graph* g, pb_consts* consts);
// QuantizeLinear and DequantizeLinear behind what moves codes to products of codes: moved_codes.c.
void pb__pair_moved_codes(pb_graph* g, const pb_consts* consts);

#endif

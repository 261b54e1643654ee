// Stage S1: the canonical tensor program. A short list of operators over static shapes, quantisation made plain integer
// arithmetic (requantisation is clamp(roundeven(f32(acc + bias) * m) + zero point), each f32 operation rounded once).
#ifndef PB_S1_S1_H
#define PB_S1_S1_H

#include "core/base/formula.h"
#include "core/frontend/graph.h"
#include "core/poly/nest.h"

struct lifter;

typedef enum pb_s1_kind {
  PB_S1_CONV,     // codes: acc = sum x * w; y = requantise(acc + bias, m). Gemm is one with a window of the whole input
  PB_S1_MAXPOOL,  // codes
  PB_S1_AVERAGE,  // codes: sum over h, w; y = requantise(sum + bias, m)
  PB_S1_ADD,      // codes: y = clamp(roundeven((a - za) * ma + (b - zb) * mb) + zy)
  PB_S1_MUL,      // codes: y = clamp(roundeven(((a - za) * (b - zb)) * ma) + zy)
  PB_S1_RESCALE,  // codes: y = clamp(roundeven((x - za) * ma) + zy)
  PB_S1_QUANTISE, // f32 to codes: clamp(roundeven(x * m) + zy)
  PB_S1_DEQUANTISE, // codes to f32: (x - za) * m
  // What transformers do with codes: sdk-docs/quantised-transformers.md has each to the bit.
  PB_S1_TABLE,   // y = weights[x + 128]: any function of one code
  PB_S1_SOFTMAX, // over the last dim: numerators weights[x - max + 255], ma / their sum, times the numerator
  PB_S1_NORM,   // over the last dim, of x - zx: sums and sums of squares, times `weights`, plus `bias`; mb = 1 / length
  PB_S1_MATMUL, // two computed operands, as `walk` says: y = clamp(roundeven(sum (x - zx) (z - zz) * m) + zy)
  // On f32; lo and hi clamp the result. Each operation is rounded once, sums in the order of the loops.
  PB_S1_FCONV,    // sum x * w + bias; Gemm by constant weights [o, k] is one whose y has rank 2
  PB_S1_FMATMUL,  // y[.., m, n] = sum x[.., m, k] * z[.., k, n]; z a value or the constant `weights`; `swapped`: z * x
  PB_S1_FMAXPOOL, //
  PB_S1_FAVERAGE, // sum over the window, times m (a constant: one number or [h, w])
  PB_S1_FBINARY,  // x op z, with broadcasting; z a value or the constant `weights`
  PB_S1_FSCALE,   // x * m + bias by channels
  PB_S1_FCLAMP,
  PB_S1_FUNARY,     // function(x), with parameters ma and mb
  PB_S1_FPRELU,     // x < 0 ? x * z : x, with broadcasting as FBINARY
  PB_S1_FREDUCE,    // sum or maximum (`binary`) over `axes`, times ma; y keeps them, 1 long
  PB_S1_FSOFTMAX,   // over `axes`; `logarithm`: the logarithm of it
  PB_S1_FNORM,      // (x - mean) / sqrt(variance + ma) over `axes`, times `weights`, plus `bias`
  PB_S1_FTRANSPOSE, // y's dim r is x's dim order[r]
  PB_S1_SLICE,      // y[i] = x[start + i * step]. Any type
  PB_S1_FPAD,       // x from `start` on in y, around it ma
  PB_S1_CONCAT,     // x goes into y at `offset` along `axis`, `apart` elements apart; one op for each part. Any type
  PB_S1_COPY,       // any type, and another shape of the same elements
  // Of any types. Truths are PB_I1: a byte each, 0 or 1.
  PB_S1_EACH,   // `each` of x, z and third, with broadcasting
  PB_S1_GATHER, // x at z along `axis`, counted from the end below 0, clamped; `pointwise`: z walks as y does
  PB_S1_NEST,   // `nest` itself, over values
  // Control of the host's program (control.h). What stands between two of them runs whole.
  PB_S1_MOVE,  // the variable y becomes x, as it is now
  PB_S1_PLACE, // the variable y gets x along `axis` from `third` on, an integer, which is kept inside
  PB_S1_TAKE,  // the variable y gets rows of x, along `axis`, at the numbers `third`: GATHER by the host
  PB_S1_LOOP,  // of the loop that begins here
  PB_S1_WHILE, // the innermost loop ends unless x, one truth, holds
  PB_S1_AGAIN, // back to its begin
  PB_S1_IF,    // up to its ELSE if x, one truth, holds, else from there to its END
  PB_S1_ELSE,
  PB_S1_END
} pb_s1_kind;

typedef enum pb_s1_function {
  PB_S1_ABS,
  PB_S1_NEG,
  PB_S1_SQRT,
  PB_S1_EXP,
  PB_S1_LOG,
  PB_S1_RECIPROCAL,
  PB_S1_ERF,
  PB_S1_TANH,
  PB_S1_SIGMOID,      // 1 / (1 + e^-x)
  PB_S1_SILU,         // x times that
  PB_S1_HARD_SIGMOID, // clamp(ma x + mb, 0, 1)
  PB_S1_HARD_SWISH,   // x times that
  PB_S1_LEAKY_RELU,   // x < 0 ? ma x : x
  PB_S1_ELU,          // x < 0 ? ma (e^x - 1) : x
  PB_S1_SELU,         // mb times that
  PB_S1_SOFTPLUS,     // log(1 + e^x)
  PB_S1_SOFTSIGN,     // x / (1 + |x|)
  PB_S1_GELU,         // x / 2 (1 + erf(x / sqrt(2)))
  PB_S1_GELU_TANH,    // its approximation
  PB_S1_POWER         // x^ma, 2 ma an integer
} pb_s1_function;

typedef enum pb_s1_each {
  PB_S1_EQUAL,
  PB_S1_LESS,
  PB_S1_LESS_EQUAL,
  PB_S1_IS_NAN,
  PB_S1_AND,
  PB_S1_OR,
  PB_S1_XOR,
  PB_S1_NOT,
  PB_S1_WHERE,  // x ? z : third
  PB_S1_CAST,   // to y's type; `unsigned_x`, `unsigned_y`: codes without a sign
  PB_S1_EXPAND, // x as it is
  PB_S1_INTEGER // x `binary` z, on integers; wraps
} pb_s1_each;

typedef struct pb_s1_value {
  const char* name;
  pb_type type;
  int rank;
  int64_t shape[PB_GRAPH_RANK];
  bool is_input, is_output;
  bool is_variable; // moves make it, not an operator: from turn to turn it is another
  bool is_updated;  // such a one of a loop: all that a turn does with it is to put something in its place
  bool is_extents;  // an output that the host reads: extents of others
  int made_of;      // of an output: 1 + the input in whose place it is made, 0: none
  bool is_unsigned; // of an input or output: outside of the program its codes are u8, 128 more
  bool is_complex;  // of an input or output: pairs along its last dim are complex numbers
  bool is_wide; // of an input of i32: outside of the program it is i64, of which those past i32 are its least or most
  int64_t most; // of such an input: the magnitude up to which the program is right, 0: any number
  int alias_of; // the same elements under another shape; -1: a value of its own
  int const_id; // the constant that it is, -1
  int filled_with; // 1 + the constant of one element that all its elements are; 0: not known
} pb_s1_value;

// How a product of stacks of matrices walks its tensors: dims are those of the stack, then m, n and k. A step of dim d
// moves the place in x, z and y by step[0..2][d] elements, from first[0..2] on. The tensors are the operator's x, z and
// y, or those that these are moved out of or into.
enum { PB_S1_WALK_DIMS = PB_GRAPH_RANK + 3 };
typedef struct pb_s1_walk {
  int dims;
  int64_t extent[PB_S1_WALK_DIMS], step[3][PB_S1_WALK_DIMS], first[3];
} pb_s1_walk;

typedef struct pb_s1_op {
  pb_s1_kind kind;
  const char *name, *type;                           // the model's node and operator
  int x, z, y;                                       // values; z: second operand of ADD and MUL (-1: `weights`), -1
  int weights, bias, m;                              // constants, -1; bias: i32 [o], m: f32 [o]
  int64_t window[2], stride[2], dilation[2], pad[4]; // pad: top, left, bottom, right
  int64_t over[2];                                   // of pad: what the last window hangs over, with ceil_mode
  bool borders;                                      // how much pad there is hangs on the extents, if any
  int64_t groups;
  bool bounded;                                      // before it is clamped its result is a number, NaN never
  double zx, zz, zy, lo, hi;                         // zero points and clamp, in codes
  float ma, mb;                                      // scalar factors: ADD's two, QUANTISE's and DEQUANTISE's one
  pb_op binary;                                      // FBINARY: add, sub, mul, div, max or min
  bool swapped;                                      // FBINARY: z op x
  int axis;                                          // CONCAT, GATHER
  int64_t offset, apart;                             // CONCAT; apart 0: neighbours, as 1
  pb_s1_function function;                           // FUNARY
  pb_s1_each each;                                   // EACH
  int third;                                         // EACH: a value, -1
  bool unsigned_x, unsigned_y;                       // EACH
  bool pointwise;                                    // GATHER
  bool by_root;                                      // FNORM, NORM: no mean, the root of the squares' mean alone
  pb_s1_walk* walk;                                  // MATMUL; in the constants' arena
  bool logarithm;                                    // FSOFTMAX
  bool axes[PB_GRAPH_RANK];                          // FREDUCE, FSOFTMAX, FNORM
  int order[PB_GRAPH_RANK];                          // FTRANSPOSE
  int64_t start[PB_GRAPH_RANK], step[PB_GRAPH_RANK]; // FSLICE, FPAD
  const pb_formula_terms* terms;                     // codes by a chip's own formula (scale.h), NULL: as said above
  const pb_nest* nest;                               // NEST: its accesses' `buffer` are values, the last one y
} pb_s1_op;

typedef struct pb_s1 {
  pb_s1_value* values;
  size_t value_count, value_capacity;
  pb_s1_op* ops;
  size_t op_count, op_capacity;
  pb_arena arena; // names and nests
} pb_s1;

// An operator without operands, constants, pads or bounds, its window of one element.
pb_s1_op pb_s1_new_op(const char* name, const char* type, pb_s1_kind kind);

static inline int64_t pb_s1_element_count(const pb_s1_value* value) {
  int64_t count = 1;
  for (int r = 0; r < value->rank; ++r) count *= value->shape[r];
  return count;
}

// As they lie in memory.
static inline uint64_t pb_s1_bytes(const pb_s1_value* value) {
  return (uint64_t)pb_type_bits(pb_type_stored(value->type)) / 8 * (uint64_t)pb_s1_element_count(value);
}

// The value that an alias is another shape of; of others, itself.
static inline int pb_s1_base(const pb_s1* program, int value) {
  int alias = program->values[value].alias_of;
  return alias >= 0 ? alias : value;
}

// Lifts the quantised graph. A node that is not covered is PB_ERR_UNSUPPORTED with its name, operator and reason.
// `rows`: the front end's table of operators; its functions are in core/frontend/onnx.
typedef struct pb_s1_rows {
  pb_status (*survey)(struct lifter* l, size_t first);                // names all nodes from this one on that it lacks
  pb_status (*check)(struct lifter* l, const pb_node* n);             // operands, results, attributes
  pb_status (*make)(struct lifter* l, const pb_node* n, bool* known); // what is no kind of its own here
} pb_s1_rows;
pb_status pb_s1_build(pb_graph* graph, pb_consts* consts, pb_diag* diag, const pb_s1_rows* rows,
                      pb_s1* program) PB_MUST_CHECK;
void pb_s1_free(pb_s1* program);
// Whether each dim of `to` is one of `from` or several neighbours together, dims of 1 aside: nests over `from` then
// walk `to` by sums of their dims.
bool pb_s1_merges(const pb_s1_value* from, const pb_s1_value* to);
// An index of each dim of a shape as sums over the walk's dims, of operand `side`: index[r * PB_S1_WALK_DIMS + d];
// first[r] is where it starts. false: the steps do not keep the dims apart.
bool pb_s1_walk_index(const pb_s1_walk* walk, int side, const pb_s1_value* value, int64_t* index, int64_t* first);
// One line an operator, for --emit=s1. malloc'ed.
char* pb_s1_print(const pb_s1* program);

#endif

// A loop nest as the planner and the selection see it: extents, linear accesses and a scalar body. It is a view read
// from the affine IR and a recipe to print affine IR from; between passes only the IR exists.
#ifndef PB_POLY_NEST_H
#define PB_POLY_NEST_H

#include "core/base/arena.h"
#include "core/base/expr.h"
#include "core/poly/text.h"

#include <mlir-c/IR.h>
#include <stdbool.h>

enum {
  PB_NEST_DIMS = 12,   // loops of the nest itself
  PB_NEST_OUTERS = 14, // loops around it that its accesses use
  PB_NEST_COLS = PB_NEST_DIMS + PB_NEST_OUTERS,
  PB_NEST_RANK = 8,
  PB_NEST_ACCESSES = 16,
  PB_NEST_JOINED = 10, // as many as a nest has that passes put together: the rest is for numbers that it will read
  PB_NEST_EXPR = 512
};
// The part of nests in a row that go through the same loops and read the same tensors, and none what another one of
// them makes: where code runs them they are one kernel, and one loop.
#define PB_PART_BESIDE "beside"
enum { PB_MOST_BESIDE = 16 };
// Indices of an image, [n, c, h, w], as operators on windows have them.
enum { PB_IMAGE_RANK = 4, PB_IMAGE_CHANNELS = 1, PB_IMAGE_LINES = 2, PB_IMAGE_COLUMNS = 3 };

// One index of an access: sum coef[c] * column c + cst. Columns: own dims from 0, outer loops from PB_NEST_DIMS.
typedef struct pb_index {
  int64_t coef[PB_NEST_COLS];
  int64_t cst;
} pb_index;

typedef struct pb_access {
  MlirValue memref;  // as read from IR
  const char* ref;   // SSA name to print, "%x"
  const char* space; // memory space to print, NULL: none
  int buffer;        // number of the buffer, by whoever plans it; -1: a tensor
  pb_type type;
  // A load with a box reads `fill` where any index lies outside the shape; without one that never happens.
  bool boxed;
  double fill;
  bool splat; // every element along the last index is the same number
  // 1 + the index to which a load adds a number that the body computes, clamped to the extent; 0: none. A store's is
  // the nest's node stored_at.
  int gathered;
  int rank;
  int64_t shape[PB_NEST_RANK];
  pb_index index[PB_NEST_RANK]; // the last field: what is behind the rank is not in use, and not copied with a nest
} pb_access;

typedef struct pb_nest {
  MlirOperation op; // outermost loop when read from IR
  const char* name; // pb.nest: the node of the model
  const char* part; // pb.part: pad, init, reduce, point, copy; load, store, fill, stage inside kernels
  int64_t macs;     // pb.macs: products that the model asks for, padding not counted; 0: not known
  int stream;       // pb.stream: which of several equal queues it prefers
  int kept;         // pb.kept: so many outer dims stay loops, for smaller commands that others can start on sooner
  int dim_count, outer_count;
  int64_t extent[PB_NEST_DIMS];
  MlirValue outer[PB_NEST_OUTERS];      // as read from IR, outermost first
  int64_t outer_extent[PB_NEST_OUTERS]; // 0: not known
  int access_count;                     // the last one is the store
  pb_access access[PB_NEST_ACCESSES];
  // PB_SET, PB_ACC_BODY: the stored value is the last node. Else the body adds (maximises) the last node onto what is
  // stored there; the load of the old value is neither an access nor a node.
  pb_reduce reduce;
  int stored_at;                   // where the store's index is computed: the node that it adds
  int expr_count;                  // LOAD's operand is an access
  pb_expr_node expr[PB_NEST_EXPR]; // the last field: most of it is not in use, and not touched
} pb_nest;

// Reads the perfect nest whose outermost op is `op`: an affine.for, or a lone affine.store with its operands before it
// in the block when every extent is 1 (then `op` is the store). Strings go to the arena.
// Returns NULL, or the reason why it is not of the form.
const char* pb_nest_read(MlirOperation op, pb_arena* arena, pb_nest* nest);

// Prints the nest. Outer loop k is named %o<k>; own loops get names made unique by `*serial`, which it advances.
void pb_nest_print(pb_text* text, const pb_nest* nest, int indent, int* serial);
// The operation of MLIR that an operator is, for operands of the type; NULL: none.
const char* pb_op_spelling(pb_op op, pb_type type);
// And back; PB_OP_OTHER: none, or one of those that the name alone does not tell apart.
pb_op pb_op_spelt(const char* name, size_t length);
// That of node `n`, its operands' types looked at.
const char* pb_node_spelling(const pb_expr_node* expr, int n);
// The types behind its operands: of node `n`, on vectors of so many lanes; 1: scalars.
void pb_op_print_types(pb_text* text, const pb_expr_node* expr, int n, int lanes);
// A number as an attribute of the type, without it.
void pb_number_print(pb_text* text, pb_type type, double value);
// That of a CONST, all 64 bits of it.
void pb_constant_print(pb_text* text, const pb_expr_node* node);
// `memref<4x8xi8, "SPAD">`
void pb_access_print_type(pb_text* text, const pb_access* access);

static inline pb_access* pb_nest_store(pb_nest* nest) { return &nest->access[nest->access_count - 1]; }

// The greatest common divisor of their magnitudes; every number divides 0.
int64_t pb_gcd(int64_t a, int64_t b);

// Distance in elements, in a dense row-major buffer, between neighbours along a column.
int64_t pb_access_stride(const pb_access* access, int col);
// The linear offset of the access with all columns 0.
int64_t pb_access_offset(const pb_access* access);
bool pb_access_uses(const pb_access* access, int col);
// Whether the column moves that index and no other.
bool pb_access_moves_only(const pb_access* access, int index, int col);
// Whether the nest's result is reduced over the dim.
static inline bool pb_nest_reduces_over(const pb_nest* nest, int dim) {
  return nest->reduce != PB_SET && !pb_access_uses(&nest->access[nest->access_count - 1], dim);
}
// Whether the dim goes from neighbour to neighbour in what the nest loads, or moves it not at all, but all of it: lanes
// along it come by one load. store_too: and in what it stores, which moves. Loads with a box do not.
bool pb_nest_walks_neighbours(const pb_nest* nest, int dim, bool store_too);
// Whether some loop of the nest does not move the access: each of its elements comes several times.
bool pb_nest_repeats(const pb_nest* nest, const pb_access* access);
// How many elements the nest stores if it stores none twice but by what it sums over, and iterations for each of them.
int64_t pb_nest_results(const pb_nest* nest);
int64_t pb_nest_steps(const pb_nest* nest);
int64_t pb_nest_iterations(const pb_nest* nest); // of all its own dims: the two multiplied
// The index's least and largest value in the nest. false: a loop's extent is not known, and neither are they.
bool pb_index_range(const pb_nest* nest, const pb_index* index, int64_t* least, int64_t* most);
// Whether the index can be below 0 or past `extent` within the nest. With outer loops of unknown extents it says yes.
bool pb_index_can_leave(const pb_nest* nest, const pb_index* index, int64_t extent);
// The same of any of the access's indices.
bool pb_access_can_leave(const pb_nest* nest, const pb_access* access);
// Whether the index is one own dim and nothing else, or always 0: then *dim is -1.
bool pb_index_single(const pb_index* index, int* dim);
// That dim; -1: there is none.
int pb_index_dim(const pb_index* index);
// The same of index r, where the dim goes over all of its extent.
int pb_access_whole_dim(const pb_nest* nest, const pb_access* access, int r);
// Whether it is so, but for a number that is added.
bool pb_index_shifted(const pb_index* index, int* dim);
// Whether any dim walks the index.
bool pb_index_moves(const pb_index* index);
bool pb_value_same(MlirValue a, MlirValue b);
int64_t pb_access_elements(const pb_access* access);
// Whether it is of the elements at its indices alone.
static inline bool pb_access_is_plain(const pb_access* access) {
  return !access->boxed && !access->gathered && !access->splat;
}

// Copies what is in use; everything else in *to stays as it was. A nest is some 25 KB, and most use a tenth of it.
void pb_nest_copy(pb_nest* to, const pb_nest* from);
// A copy in the arena. What pb_nest_copy leaves out is not set.
pb_nest* pb_nest_kept(pb_arena* arena, const pb_nest* nest);
// Begins a nest that sets, of so many accesses: everything that is in use, and no more, is 0.
void pb_nest_begin(pb_nest* nest, const char* name, const char* part, int access_count);
// The same, each access to all elements of such a tensor by the same loops.
void pb_nest_begin_over(pb_nest* nest, const char* name, const char* part, int access_count, const pb_access* whole);
// Puts the outer columns in the order of these loops, outermost first, of which they are some.
void pb_nest_order_outers(pb_nest* nest, const MlirValue* loops, const int64_t* extents, int count);
// Whether all its tensors walk dims d and d + 1 as one; makes them that one, d.
bool pb_nest_walks_as_one(const pb_nest* nest, int d);
void pb_nest_join_dims(pb_nest* nest, int d);
// The same of one access and its indices.
bool pb_nest_walks_index_as_one(const pb_nest* nest, const pb_access* access, int d);
// Joins all such dims, of every access and its indices.
void pb_nest_join_alike(pb_nest* nest);
// One more access, in front of the store; its number. There is room.
int pb_nest_add_access(pb_nest* nest);
// It sets what it adds up, or whatever it does, and what the model asks for is counted elsewhere.
void pb_nest_set_alone(pb_nest* nest);
// The nest's value is node `last`; nodes that it does not need go.
void pb_nest_end(pb_nest* nest, int last);
// One more dim, innermost; no index moves with it unless the caller says so.
int pb_nest_add_dim(pb_nest* nest, int64_t extent);
// Appends a dim of so many iterations that moves the index by `step`; one iteration needs none.
void pb_nest_walk(pb_nest* nest, pb_index* index, int64_t step, int64_t extent);
// Takes an own dim away; none of the accesses moves along it any more.
void pb_nest_remove_dim(pb_nest* nest, int dim);
// All accesses as if the dim had begun `by` iterations later.
void pb_nest_shift_dim(pb_nest* nest, int dim, int64_t by);
// Takes a dim away that nothing but its iteration `turn` is left of.
void pb_nest_fix_dim(pb_nest* nest, int dim, int64_t turn);
// Own dim d of the access, of so many, is column[d] from then on; -1: it moves the access no more.
void pb_access_renumber(pb_access* access, const int* column, int dims);
// An own dim becomes two: d, the outer one, and behind it d + 1 of `inner` iterations, which divide its extent.
void pb_nest_cut_dim(pb_nest* nest, int d, int64_t inner);
// An index in front of index r, of that extent, which the dim alone moves, one by one.
void pb_access_add_index(pb_access* access, int r, int64_t extent, int dim);
// Index r becomes two: r, of whole runs of `inner`, and r + 1 within one. What moves it steps over whole runs, or stays
// within one.
void pb_access_cut_index(pb_access* access, int r, int64_t inner);
// Appends a node and returns its index. There is room: bodies that a file writes are counted where they are read
// (frontend/stablehlo/element.c, frontend/linalg/body.c, nest_read.c), what passes join or put behind another they ask
// for first (inline.c, layout/rest.c, lower/math.c), and all others are short.
int pb_nest_node(pb_nest* nest, pb_op op, pb_type type, int a, int b);
// Appends a node of another body, whose nodes are those of `map` here.
int pb_nest_node_from(pb_nest* nest, pb_expr_node node, const int* map);
int pb_nest_load(pb_nest* nest, int access);
// The product of the codes that its first two accesses load, in i32.
int pb_nest_product(pb_nest* nest);
int pb_nest_const(pb_nest* nest, pb_type type, double value);
int pb_nest_integer(pb_nest* nest, pb_type type, int64_t value);
// A load whose index `at` adds node `index`, of type index.
int pb_nest_gather(pb_nest* nest, int access, int at, int index);
// Whether any of its accesses has an index that the body computes.
bool pb_nest_gathers(const pb_nest* nest);
// Whether it sets elements to those that it loads, or all to one value.
bool pb_nest_is_copy(const pb_nest* nest);
bool pb_nest_is_fill(const pb_nest* nest);
// Whether it sums products of two numbers of f32 that it loads, and nothing else.
bool pb_nest_sums_products(const pb_nest* nest);
// Whether its loops must stay as they are: its body takes their iterations as numbers, or combines by an operation of
// its own; and its tensors too, as it computes an index.
bool pb_nest_needs_its_loops(const pb_nest* nest);
bool pb_nest_is_fixed(const pb_nest* nest);
// Whether it sets elements of its tensor, each by others that are there, or that its turns before have set: loops in
// order (PB_ACC_BODY). What combines with what is there reads it in its own place.
bool pb_nest_goes_in_turns(const pb_nest* nest);
bool pb_nest_is_beside(const pb_nest* nest); // PB_PART_BESIDE
// Bounds of integer nodes, as constants, minima and maxima tell; what they do not tell is the type's. Floats have none.
typedef struct pb_range {
  int64_t least, most;
} pb_range;
pb_range pb_nest_range(const pb_nest* nest, int node);
// Of the first `count` nodes, each.
void pb_nest_ranges(const pb_nest* nest, int count, pb_range* of);

// MLIR's element type as a pb_type; PB_TYPE_COUNT when there is none.
pb_type pb_type_of(MlirType type);
// Fills type, rank, shape of an access from a memref value. false: not a ranked static memref of a known type.
bool pb_access_of_value(MlirValue value, pb_access* access);
// The same of a memref of any rank, as mapped buffers have, whose first index is their copies: its element type, the
// extent of its first index, and how many elements it has.
bool pb_memref_extent(MlirValue value, pb_type* type, int64_t* first, int64_t* elements);

#endif

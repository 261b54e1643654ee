// StableHLO and CHLO to stage S1: what the files that know operators share. An operator is a row of stablehlo.def and a
// function here that makes its nests by the builders of S1. The way through a module is linalg's too, which has a table
// of its own (core/frontend/linalg).
#ifndef PB_STABLEHLO_DOOR_H
#define PB_STABLEHLO_DOOR_H

#include "core/frontend/flat.h"
#include "core/frontend/stablehlo/stablehlo.h"
#include "core/s1/elements.h"
#include "core/s1/make.h"
#include "core/s1/scalar/scalar.h"

struct pb_door;
struct pb_door_code;
typedef pb_status pb_door_maker(struct pb_door* d, const pb_flat_op* op);
typedef struct pb_door_row {
  const char* name;
  int least, most, results; // operands; results -1: any number
  const char* attributes;   // "name:kind", a ? behind those that may be left out
  const char* summary;
} pb_door_row;

typedef struct pb_door_table {
  const pb_door_row* rows; // end with a NULL name
  pb_door_maker* const* makers;
  const char* const* ends; // of blocks, NULL at the end
  bool has_elements;       // values may be numbers alone
  pb_flat_language language;
} pb_door_table;
extern const pb_door_table pb__door_stablehlo;

enum { PB_DOOR_SPARE = 2048 }; // values that operators that are written out in others may take at once

typedef struct pb_door {
  const pb_door_table* table;
  const pb_flat* flat;
  pb_flat_type* types; // by value of the flat form: with extents in place of open ones, once they are known
  size_t reasons;      // where those of the size that is made begin (size.c)
  bool open;           // types of the text have extents that are not said
  pb_maker m;
  pb_s1_elements* elements; // of values that constants alone decide; NULL: front ends that compute such themselves
  pb_diag* diag;
  int* value;                        // by value of the flat form: S1's, -1
  int* node;                         // the same inside of the body that is being made: its node, -1
  const pb_input_options* inputs;    // NULL: nothing is said of them
  const bool* multiplied;            // of pb_input_options; NULL: none are
  int* imaginary_node;               // of a complex one that is no part alone, -1
  int calls;                         // that are inside each other
  int branches;                      // that may not be taken, around what is made
  int loops;                         // of the host's, around what is made
  int* imaginary;                    // by value of the flat form: S1's value of the imaginary part, -1: it has none
  const char* name;                  // of what is made, NULL: by its operator and line
  const char* what;                  // where it is, beside the line
  bool broadcasts;                   // operations of elements take operands whose last dims fit
  bool gaps;                         // a padding has put gaps between elements
  bool borders;                      // how much is padded hangs on open extents, and whether anything is
  const struct pb_door_code** codes; // by value of the flat form: of those that are held as codes (coded.c); NULL: none
  int spare;                         // how many of those are taken
  int value_room; // so many values of the flat form there may be, those of operators that are written out too
  int part;       // of operators that are made for each part alone: 1 the imaginary one
  bool long_rows; // what is ordered is a few rows of many, as boxes are, whatever extents are open
  int* uses;      // linalg: by value of the flat form: how many operands it is
  int* marks;     // linalg: how many of those count, of a body's values (linalg/body.c)
  int* filled; // linalg: by value of the flat form: the number that all its elements are, -1: not known, -2: they are
               // none
} pb_door;

// The module by a table's rows; the names of all attributes that its rows look at, NULL at the end.
pb_status pb__door_make(const pb_door_table* table, const pb_flat* flat, const pb_input_options* inputs,
                        pb_consts* consts, pb_diag* diag, pb_s1* program) PB_MUST_CHECK;
const char* const* pb__door_attributes(const pb_door_table* table, pb_arena* arena);

typedef struct pb_door_value {
  int value, imaginary;
} pb_door_value;
pb_door_value pb__door_get(const pb_door* d, int flat_value);
void pb__door_set(pb_door* d, int flat_value, pb_door_value v);
// The same for a value that comes from elsewhere, and may be of another type than the name says.
pb_status pb__door_bind(pb_door* d, const struct pb_flat_op* op, int flat_value, pb_door_value v);

pb_status pb__door_refuse(pb_door* d, const pb_flat_op* op, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
const pb_flat_type* pb__door_type(const pb_door* d, int flat_value);
// Whether the target's code takes whatever loops there are; ONNX's operators, which are written here too, have no
// options beside them.
static inline bool pb__door_makes_code(const pb_door* d) {
  return d->inputs ? d->inputs->keeps_loops : d->m.consts->symbols != NULL;
}
static inline int pb__door_in(const pb_door* d, const pb_flat_op* op, int k) {
  int flat = op->operands[k];
  return d->part && d->imaginary[flat] >= 0 ? d->imaginary[flat] : d->value[flat];
}
bool pb__door_is_empty(const pb_door* d, int flat_value); // a tensor of no elements
// What the operator makes of such, where it makes something; its other operands are there.
pb_status pb__door_of_nothing(pb_door* d, const pb_flat_op* op, bool* made) PB_MUST_CHECK;
// One as an input or an output of the program; -1: of a type that it has not.
int pb__door_empty_value(pb_door* d, int flat_value);
// Whether a result is of the type of operand k.
bool pb__door_alike(const pb_door* d, const pb_flat_op* op, int result, int k);
// Extents of an operator's results that its text leaves open, from its operands (refine.c); the operator itself in its
// form without operands that say extents, where there are any; its result where extents alone decide it.
pb_status pb__door_refine(pb_door* d, const pb_flat_op* op) PB_MUST_CHECK;
pb_status pb__door_refine_as(pb_door* d, const pb_flat_op* op, int result, int rank,
                             const int64_t* shape) PB_MUST_CHECK;
pb_status pb__door_size(pb_door* d, const pb_flat_op* op, bool* made) PB_MUST_CHECK;
// Notes what the operator's operands rest on: it is made for them.
// Whether shapes that must be the same are but for open dims of arguments, which are one from now on.
bool pb__door_unifies(pb_door* d, int rank, const int64_t* a, const int64_t* b);
void pb__door_decide(pb_door* d, const pb_flat_op* op);
void pb__door_decide_by(pb_door* d, int value);
// The integers that a constant is, at most so many: their number, -1: it is another value.
int pb__door_integers(const pb_door* d, int value, int most, int64_t* integers);
// The elements of a constant, or of what constants alone decide; NULL: they are not known.
const void* pb__door_elements(const pb_door* d, int value);
// As pb__door_integers, of those.
int pb__door_decided(const pb_door* d, int value, int most, int64_t* integers);
// What makes a value of the flat form, in whichever function or region; NULL: it is an argument.
const pb_flat_op* pb__door_maker_of(const pb_door* d, int flat);
// dynamic_slice of these extents, by dim; or real_dynamic_slice, whose starts are the elements of its second operand.
pb_status pb__door_slice_at(pb_door* d, const pb_flat_op* op, const int64_t* size) PB_MUST_CHECK;
// A value for the operator's result.
int pb__door_result(pb_door* d, const pb_flat_op* op, int k);
// Whether its row has so many operands and results, and these attributes.
pb_status pb__door_check(pb_door* d, const pb_flat_op* op) PB_MUST_CHECK;
// Places of a window that reaches so far among so many elements: none where there are fewer.
static inline int64_t pb__door_places(int64_t all, int64_t reach, int64_t step) {
  return all < reach ? 0 : (all - reach) / step + 1;
}
// Makes one operation, its operands being there.
pb_status pb__door_op(pb_door* d, const pb_flat_op* op) PB_MUST_CHECK;
// Whether the program can have the value's type.
pb_status pb__door_check_type(pb_door* d, const pb_flat_op* op, int flat_value) PB_MUST_CHECK;
pb_status pb__door_main(pb_door* d, const pb_flat_func* main) PB_MUST_CHECK;
// Makes the operations of a block.
pb_status pb__door_block(pb_door* d, const pb_flat_block* block);

// Attributes. `missing` where an optional one is left out.
int64_t pb__door_int(const pb_flat_op* op, const char* name, int64_t missing);
// As many integers as asked for, or NULL when there is another number; `missing` for each where it is left out.
const int64_t* pb__door_ints(pb_door* d, const pb_flat_op* op, const char* name, int count, int64_t missing);
// A list in the text of a structured attribute, "name = [0, 1]": its length; -1: more than `most`.
int pb__door_list(const pb_flat_op* op, const char* attribute, const char* name, int most, int64_t* items);
int64_t pb__door_field(const pb_flat_op* op, const char* attribute, const char* name, int64_t missing);
bool pb__door_says(const pb_flat_op* op, const char* attribute, const char* word);

// ---- bodies ----

// Whether it is an operation of one element, which bodies and whole tensors share.
bool pb__door_is_scalar(const pb_flat_op* op);
// Its node, from nodes of its operands.
pb_status pb__door_scalar(pb_door* d, pb_nest* n, const pb_flat_op* op, const int* nodes, int* node);
// A number of a body as its nodes; im -1: it is not complex.
typedef struct pb_door_number {
  int re, im;
} pb_door_number;
// An operation that has complex operands or a complex result.
pb_status pb__door_complex_number(pb_door* d, pb_nest* n, const pb_flat_op* op, const pb_door_number* v,
                                  pb_door_number* made);
// The function that an operator's `callee` names. NULL: none of the module's.
const pb_flat_func* pb__door_function(const pb_door* d, const pb_flat_op* op);
// That function, which takes and returns as many values.
pb_status pb__door_callee(pb_door* d, const pb_flat_op* op, const pb_flat_func** func);
// A region's body: so many nodes of its arguments, and of what it returns, which must be of these types. Complex
// numbers are two nodes each, unless the operator is made for each part alone.
typedef struct pb_door_ends {
  int count;
  const int* nodes;
} pb_door_ends;
pb_status pb__door_body(pb_door* d, pb_nest* n, const pb_flat_op* owner, int region, pb_door_ends arguments, int made,
                        const pb_type* types, int* results);
// What a body combines, when that is one operation of both its arguments; "": another.
const char* pb__door_combiner(const pb_flat_op* owner, int region);
// A node of a value's element: a constant where all are the same, else a load; *access: what was added, -1.
int pb__door_load(pb_door* d, int value, int* access);
// Stores the node, rounded to the value's type, and ends the nest.
void pb__door_store(pb_door* d, int node, int y, const int* dims);
// The same into the last access, which is there.
void pb__door_close(pb_door* d, int node, pb_type type);
// The node made the last one of the nest, in the stored form of the type.
void pb__door_last(pb_door* d, int node, pb_type type);
// The value as one that no other is: constants and inputs that several results are made of.
int pb__door_copy(pb_door* d, int value, int rank, const int64_t* shape);
// The value's elements in one dim, copied unless it has one.
int pb__door_flat(pb_door* d, int value);
// x with edges and gaps: low and high by dim, and the step from an element to the next.
pb_status pb__door_padded(pb_door* d, const pb_flat_op* op, int x, int with, const int64_t* edges, const int64_t* step,
                          int* y);
// What lies around a box in y: as x has it, or one number, `with`, where that is not -1.
void pb__door_surround(pb_door* d, int x, int with, int y, const int64_t* from, const int64_t* size);
// Of a sum of f32 over so many elements one by one, how many are summed by themselves first: what is rounded in each
// step adds up, and so does less of it. 0: all at once.
int64_t pb__door_block_of_sum(const pb_door* d, pb_type type, int64_t count);
// The turn of a loop as an i64, and a number of the body as a place: -1 is 0.
int pb__door_turn(pb_nest* n, int dim);
int pb__door_as_place(pb_nest* n, int at);
// An i64 of the body, kept between two numbers; one of two values by a truth.
int pb__door_within(pb_nest* n, int v, int64_t least, int64_t most);
int pb__door_chosen(pb_nest* n, int truth, int yes, int no);
// y's elements all what one value is: `from` has one element.
void pb__door_fill(pb_door* d, int y, int from);

// Results that a body combines together lie in one number, the first in its low bits; complex ones are two each.
enum { PB_DOOR_RESULTS = 4 };
typedef struct pb_door_state {
  int value, count;
  pb_type types[PB_DOOR_RESULTS], whole;
} pb_door_state;
bool pb__door_fits_state(const pb_type* types, int count); // 128 bits hold them
pb_door_state pb__door_new_state(pb_door* d, const pb_type* types, int count, int rank, const int64_t* shape);
int pb__door_packed(pb_nest* n, const pb_door_state* s, const int* worked);
int pb__door_unpacked(pb_nest* n, const pb_door_state* s, int whole, int k);
void pb__door_take_results(pb_door* d, const pb_flat_op* op, const pb_door_state* s); // all of the operator's
// The values of operands from number `from` on, parts by themselves: how many, -1: more than `most`.
int pb__door_flat_operands(pb_door* d, const pb_flat_op* op, int from, int count, int most, int* values);
// A value for the part'th part of the operator's result, which it becomes.
int pb__door_result_part(pb_door* d, const pb_flat_op* op, int k, int part);

// Whether the parts of complex numbers go through the operator each alone.
bool pb__door_by_parts(const pb_flat_op* op);
pb_status pb__door_complex_element(pb_door* d, const pb_flat_op* op);
// A part of a tensor of pairs, and a tensor of pairs.
int pb__door_part(pb_door* d, int pairs, int part);
int pb__door_pairs(pb_door* d, pb_door_value v);
int pb__door_zeros(pb_door* d, int v); // of v's type and shape
// A region's operations, its arguments being these values, and what it returns.
pb_status pb__door_region(pb_door* d, const pb_flat_op* op, int region, int count, const pb_door_value* in, int made,
                          pb_door_value* out) PB_MUST_CHECK;
// A loop by a number: from operand 0 to operand 1 by operand 2, what it carries behind them.
pb_status pb__door_count(pb_door* d, const pb_flat_op* op) PB_MUST_CHECK;
// ---- values that are held as codes (coded.c) ----

void pb__door_take_codes(pb_door* d);                        // from the types' texts
const char* pb__door_unreadable(const pb_door* d, int flat); // why it is none that is read, NULL
bool pb__door_is_coded(const pb_door* d, const pb_flat_op* op);
pb_status pb__door_coded(pb_door* d, const pb_flat_op* op, pb_door_maker* make) PB_MUST_CHECK;
// An input as the program has it, an output as its caller has it, and of which type that is.
int pb__door_coded_input(pb_door* d, int flat, int value);
int pb__door_coded_output(pb_door* d, int flat, int value);
pb_type pb__door_outside(const pb_door* d, int flat);
int64_t pb__door_coded_number(const pb_door* d, int flat, int64_t byte); // of a constant's
// A sum of two tensors with gaps, each where the other has its elements (operators/interleave.c). *made: it was such.
pb_status pb__door_interleave(pb_door* d, const pb_flat_op* op, bool* made) PB_MUST_CHECK;
// Windows of a whole dim, each an element longer than the one in front, in linear time (operators/prefix.c). *made: the
// operator was such.
pb_status pb__door_prefix(pb_door* d, const pb_flat_op* op, bool* made) PB_MUST_CHECK;
// A window of several dims that takes the largest or least element, along one after the other (lines.c); *made: it is
// so.
pb_status pb__door_by_lines(pb_door* d, const pb_flat_op* op, bool* made) PB_MUST_CHECK;
// Whether the operator's body combines floats in any order alike, and `first` with any number is that number.
bool pb__door_is_monoid(const pb_flat_op* op, double first);
// Whether its body, of a number and its place twice, keeps the largest number, or the least, and its first place; NaN,
// where there is one.
bool pb__door_keeps_place(const pb_flat_op* op, bool is_float, bool largest);
// A reduction of numbers and their places along a dim to the largest number, or the least, and where it is (extreme.c);
// *made: it is so.
pb_status pb__door_extreme(pb_door* d, const pb_flat_op* op, const bool* gone, bool* made) PB_MUST_CHECK;
// A reduction, by windows too, to the largest or least of narrow numbers, in a wider type (wider.c); *made: it is so.
pb_status pb__door_wider(pb_door* d, const pb_flat_op* op, bool* made) PB_MUST_CHECK;
// The number that bytes of the type are. false: it is neither f32 nor f64.
bool pb__door_as_double(pb_type type, const void* bytes, double* is);
// Computes a number that constants alone decide.
bool pb__door_fold(pb_door* d, const pb_flat_op* op);

#define OP(name, least, most, results, attributes, function, summary) pb_door_maker pb__door_##function;
#include "core/frontend/stablehlo/stablehlo.def"
#undef OP

#endif

// A function in value form, read whole: its values and its nests in order. S3's passes on the graph (layout, outline,
// plan, tile) read one, decide, and build IR anew; nothing survives here between passes.
#ifndef PB_S3_PROGRAM_H
#define PB_S3_PROGRAM_H

#include "core/base/consts.h"
#include "core/base/diag.h"
#include "core/poly/nest.h"
#include "tdl/chip.h"

typedef enum pb_value_kind { PB_VALUE_INPUT, PB_VALUE_CONST, PB_VALUE_OUTPUT, PB_VALUE_LOCAL } pb_value_kind;

typedef struct pb_value {
  MlirValue ir;
  pb_value_kind kind;
  int argument;     // index among the function's arguments, -1: LOCAL
  int const_id;     // CONST in the program function: its id
  const char* name; // INPUT and OUTPUT: the model's
  pb_type type;
  int rank;
  int64_t shape[PB_NEST_RANK];
  const char* space; // an argument that lies in this memory of the chip, from one kernel to another; NULL: the system's
  int64_t address;   // there, in bytes
  const pb_nest* expands; // CONST: what makes it of a stored form's parts, which is none of the program's nests
  // Along each index so many of its first and of its last elements are 0, and products by these add nothing to a sum.
  int64_t border[PB_NEST_RANK][2];
} pb_value;

// The nests that read or write a value, in their order, each once.
typedef struct pb_uses {
  int *nests, count, capacity;
} pb_uses;

typedef struct pb_program {
  MlirOperation func;
  int value_count, value_capacity, nest_count, nest_capacity;
  pb_arena* arena; // of nests that are added
  pb_value* values;
  pb_nest* nests;
  int (*value_of)[PB_NEST_ACCESSES]; // value_of[nest][access]; changed by pb_program_set_value
  pb_uses* uses;                     // by value: passes ask it instead of looking through all nests
  bool* gone; // by nest: it is left out when the program is printed, and no use of it counts; NULL: none is
  bool over;  // a kernel that may store where it loads (pb.over)
  const int64_t* reserved; // by memory, bytes that tensors of other kernels' take meanwhile; NULL: none
} pb_program;

// The first nest behind nest `after` that uses the value, -1: none.
int pb_program_next_use(const pb_program* program, int value, int after);
// The nests that use a value, in order, even while uses come and go.
#define PB_FOR_USES(n, program, value) for (int n = -1; (n = pb_program_next_use(program, value, n)) >= 0;)
// The same of those that write it; the last of them.
int pb_program_next_writer(const pb_program* program, int value, int after);
int pb_program_last_writer(const pb_program* program, int value);
#define PB_FOR_WRITERS(n, program, value) for (int n = -1; (n = pb_program_next_writer(program, value, n)) >= 0;)
// The first access of the nest behind access `after` that is to the value, -1: none.
int pb_program_next_access(const pb_program* program, int nest, int value, int after);
// All accesses to a value, nest by nest, even while they become accesses to another one.
#define PB_FOR_ACCESSES(n, a, program, value)                                                                          \
  PB_FOR_USES (n, program, value)                                                                                      \
    for (int a = -1; (a = pb_program_next_access(program, n, value, a)) >= 0;)

// Reads a function whose body is allocs and nests. What is not of the form is PB_ERR_UNSUPPORTED with the op's place.
pb_status pb_program_read(MlirOperation func, pb_arena* arena, pb_diag* diag, pb_program* program) PB_MUST_CHECK;

// Its arguments alone, without nests.
void pb_program_read_arguments(MlirOperation func, pb_arena* arena, pb_program* program);

// The value that stands for one of the IR; -1: none does.
int pb_program_value(const pb_program* program, MlirValue ir);
// The value as an access without indices: its type, rank and shape.
pb_access pb_value_shape(const pb_value* value);
int64_t pb_value_elements(const pb_value* value);
int64_t pb_value_bytes(const pb_value* value);

// Arguments of its function, but for those that a pass has added.
static inline int pb_program_arguments(const pb_program* program) {
  return (int)mlirBlockGetNumArguments(mlirRegionGetFirstBlock(mlirOperationGetRegion(program->func, 0)));
}
// Values that are given to it: all but those that lie between its nests.
int pb_program_given(const pb_program* program);
// Whether it lies between nests: neither an input nor an output nor a constant.
static inline bool pb_program_is_local(const pb_program* program, int value) {
  return program->values[value].kind == PB_VALUE_LOCAL;
}
static inline bool pb_program_is_const(const pb_program* program, int nest, int access) {
  return program->values[program->value_of[nest][access]].kind == PB_VALUE_CONST;
}
int pb_program_stored(const pb_program* program, int nest); // the value that the nest writes
// Whether two nests write the same elements of one tensor, as far as where each index begins and how far it goes tells.
bool pb_program_same_place(const pb_program* program, int a, int b);
// The nests that write and read a value.
bool pb_program_writes(const pb_program* program, int nest, int value);
bool pb_program_reads(const pb_program* program, int nest, int value);
// The first access by which the nest loads the value, -1: it does not.
int pb_program_load_of(const pb_program* program, int nest, int value);
// Prints `%v<value> = memref.alloc()` for each value of the function's own that a nest uses which is not gone.
void pb_program_print_allocs(const pb_program* program, pb_text* text);
// Prints a nest of the function's body, which names what it accesses from then on; *serial counts what has been
// printed.
void pb_program_print_nest(pb_program* program, int nest, pb_arena* arena, int* serial, pb_text* text);
// Prints the arguments by element number, as tensors of one dim: %f<argument>, where %a<argument> has another rank.
void pb_program_print_flats(const pb_program* program, pb_text* text);
// Appends a value and returns its number; what is there keeps its own.
int pb_program_add_value(pb_program* program, pb_arena* arena, const pb_value* value);
// Appends a value of the function's own, as large as what the access walks.
int pb_program_add_local(pb_program* program, pb_arena* arena, const pb_access* like);
// Appends a constant with its elements: an argument behind those that there are.
int pb_program_add_const(pb_program* program, pb_arena* arena, pb_consts* consts, const char* name, pb_type type,
                         int rank, const int64_t* shape, const void* data);
// The same of a constant of the table.
int pb_program_add_known(pb_program* program, pb_arena* arena, const pb_consts* consts, int id);
// The same of the elements of constant `id` that `from` says by index and place along it, NULL: as they are, -1: 0.
int pb_program_gather_const(pb_program* program, pb_arena* arena, pb_consts* consts, int id, int64_t* const* from,
                            const int64_t* shape);
// The access becomes one to another value; the uses of both are kept.
void pb_program_set_value(pb_program* program, pb_arena* arena, int nest, int access, int value);
// One more access of the nest, in front of its store, to the value's first element; its number. There is room.
int pb_program_add_access(pb_program* program, pb_arena* arena, int nest, int value);
// Index r of the value, and of each access to it, becomes two: whole runs of `inner`, and within one. Loops stay as
// they are.
void pb_program_cut_value(pb_program* program, int value, int r, int64_t inner);
// Indices r and r + 1 of the value, and of each access to it, become one.
void pb_program_join_value(pb_program* program, int value, int r);
// The nest becomes this one, whose accesses are to these values; the uses of all are kept.
void pb_program_set_nest(pb_program* program, pb_arena* arena, int nest, const pb_nest* to, const int* values);
// Makes the uses of all values anew, after nests were put in or taken out.
void pb_program_index(pb_program* program, pb_arena* arena);
// *to: the program with other nests in place of its own, of which there are none yet.
void pb_program_begin_nests(const pb_program* program, pb_arena* arena, pb_program* to);
// Appends a nest whose accesses are to these values. What it returns is there until the next one is appended.
pb_nest* pb_program_add_nest(pb_program* program, const pb_nest* nest, const int* value_of);
// Appends a nest that copies elements of the one value to the other, by those loops of nest `like` that move any.
void pb_program_add_copy(pb_program* program, const pb_nest* like, const pb_access* from, int from_value,
                         const pb_access* to, int to_value);
// Appends a nest that sets each element of the value to the number, of index r those from low[r] to high[r]; NULL: from
// the first one, to the last. Where that is none, NULL.
pb_nest* pb_program_add_fill(pb_program* program, const char* name, const char* part, int value, const int64_t* low,
                             const int64_t* high, double number);
// A nest from one value to another that goes in front of nest `at`, and there by `order`.
typedef struct pb_insertion {
  int at, order, from, to;
  const pb_nest* nest;
} pb_insertion;
// Puts such nests in, and them in this order: the nest of number k is at `at` + k from then on.
void pb_program_insert(pb_program* program, pb_arena* arena, pb_insertion* nests, int count);
// Takes the nests out that are gone.
void pb_program_drop_nests(pb_program* program, pb_arena* arena);
static inline bool pb_program_is_gone(const pb_program* program, int nest) {
  return program->gone && program->gone[nest];
}
int pb_program_readers(const pb_program* program, int value); // how many nests read it
// Whether nest n must stay as it is (pb_nest_is_fixed); that it looks up numbers in constant tables is no reason.
bool pb_program_is_fixed(const pb_program* program, int n);

#endif

// A tiled kernel on its way to another form: the tree that it is, and the text of what it becomes. The head of the
// function has its buffers, and what is the same number all over it, once.
#ifndef PB_S3_LOWERED_H
#define PB_S3_LOWERED_H

#include "core/s3/lower/instruction.h"
#include "core/s3/lower/tiled.h"

typedef struct pb_lowered {
  pb_unit* unit;
  MlirOperation func;
  pb_tiled* tiled;
  pb_text head, body;
  int serial; // of the next name
  struct pb_definition {
    const char *text, *name;
  } * definitions; // at the head
  size_t definition_count, definition_capacity;
  pb_instructions called;
} pb_lowered;

// Reads the tree.
pb_status pb_lowered_begin(pb_unit* unit, MlirOperation func, pb_lowered* l) PB_MUST_CHECK;
// The function becomes head and body, and what it calls stands behind it, `more` functions (NULL: none) in front. If
// `status` says so; everything is freed in any case. extra: an attribute of the function, "": none.
pb_status pb_lowered_end(pb_lowered* l, pb_status status, const char* extra, const char* more,
                         const char* pass) PB_MUST_CHECK;

// ---- lines of the body ----

// Begins one that defines a value, whose name comes back; or prints all of it.
const char* pb_lowered_begin_line(pb_lowered* l, int indent);
const char* pb_lowered_line(pb_lowered* l, int indent, const char* format, ...) __attribute__((format(printf, 3, 4)));
// A vector's type, or of one lane an element's.
const char* pb_lowered_type(const pb_lowered* l, pb_type type, int64_t lanes);

// A call of an instruction's function, as pb_instruction_call has it, and the register that it makes; NULL: none.
const char* pb_lowered_call(pb_lowered* l, int indent, const pb_instruction_use* use, const char* const* arguments,
                            const char* nest);

// ---- the head ----

// The name of what is defined so, `arith.constant ...` with its type.
const char* pb_lowered_define(pb_lowered* l, const char* definition);
// Room on the stack, one for all that ask for as much.
const char* pb_lowered_room(pb_lowered* l, pb_type type, int64_t elements);
// A number; for all of so many lanes, if more than one.
const char* pb_lowered_constant(pb_lowered* l, const pb_expr_node* node, int lanes);
const char* pb_lowered_integer(pb_lowered* l, pb_type type, int64_t value, int lanes);

// ---- places ----

// A number that is linear in the loops around.
enum { PB_LINEAR_TERMS = PB_NEST_OUTERS + PB_FLAT_DIMS, PB_LINEAR_NAME = 24 };
typedef struct pb_linear {
  int count;
  struct {
    char name[PB_LINEAR_NAME];
    int64_t factor, turn;
  } term[PB_LINEAR_TERMS];
  int64_t cst;
  // And one of so many copies, `copy` apart, by turns: how many came before is linear as well.
  int64_t turn, copies, copy;
} pb_linear;

// A term, if it is any, or moves the turn.
void pb_linear_add(pb_linear* sum, int64_t factor, int64_t turn, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
// As an index of an affine access; of one copy alone.
void pb_linear_print(pb_text* text, const pb_linear* sum);
// As a value: "apply", or of a limit (NULL: none) and the sum "min" or "max".
const char* pb_lowered_linear(pb_lowered* l, int indent, const char* which, const pb_linear* sum, const int64_t* limit);

#endif

// PTX text as it was read: variables, functions, and their instructions in order. Names are resolved where they stand,
// so that scopes end with the reader; labels and functions, which may come later, by the decoder.
#ifndef PB_GRID_MACHINE_PTX_H
#define PB_GRID_MACHINE_PTX_H

#include "targets/control/grid/machine/code.h"

#include <setjmp.h>

typedef enum ptx_space { PTX_REG, PTX_GLOBAL, PTX_CONST, PTX_SHARED, PTX_LOCAL, PTX_PARAM } ptx_space;

// A register is one number of its family: `.reg .b32 %r<9>` is one variable of 9.
typedef struct ptx_variable {
  const char* name;
  ptx_space space;
  const char* type; // "b32", "pred", ...
  uint32_t bytes;   // of a register or of an element
  uint64_t size;    // of all; 0: an array whose extent the launch says
  uint32_t align;
  uint32_t family;  // registers of a family; 0: the name is all
  uint32_t first;   // its first register's number in the function
  uint64_t address; // of global, const, shared; of a kernel's parameter its offset
  bool is_extern;
  const void* owner;   // the kernel that `address` of shared and local is for
  const uint8_t* data; // what it starts with; NULL: zeros
  struct ptx_reference* references;
  struct ptx_variable* next; // in its scope
} ptx_variable;

typedef struct ptx_reference { // an initialiser that is an address
  uint64_t offset;
  const char* name;
  int64_t plus;
  bool generic;
  struct ptx_reference* next;
} ptx_reference;

typedef enum ptx_kind {
  PTX_OPERAND_REGISTER,
  PTX_OPERAND_INTEGER,
  PTX_OPERAND_F32,
  PTX_OPERAND_F64,
  PTX_OPERAND_VARIABLE, // its address
  PTX_OPERAND_SPECIAL,  // %tid.x
  PTX_OPERAND_MEMORY,   // [part + offset]
  PTX_OPERAND_VECTOR,   // {parts}
  PTX_OPERAND_PAIR,     // p|q
  PTX_OPERAND_LIST,     // (parts)
  PTX_OPERAND_NAME,     // a label, a function
  PTX_OPERAND_SINK      // _
} ptx_kind;

typedef struct ptx_operand {
  ptx_kind kind;
  bool negated;
  ptx_variable* variable;
  uint32_t number; // of the register in the function
  uint64_t bits;   // of a number
  int64_t offset;
  const char* name;
  struct ptx_operand* parts;
  int count;
} ptx_operand;

typedef struct ptx_statement {
  const char* op;    // "ld.global.f32"; NULL: a label, `name`
  const char* name;  // of a label, with its scope's number; of targets of a switch
  ptx_operand guard; // a register, if `guarded`
  bool guarded;
  ptx_operand* operands;
  int count;
  uint32_t line, loc;
  uint32_t scope;
} ptx_statement;

typedef struct ptx_function {
  const char* name;
  bool entry;
  ptx_variable *params, *results;
  int param_count, result_count;
  ptx_statement* statements; // in arena; the last has neither op nor name
  size_t statement_count;
  const ptx_variable** registers; // by number
  uint32_t register_count;
  uint32_t* parents; // of scopes
  uint32_t scope_count;
  uint32_t threads[3], most_threads;
  bool has_body, on_path; // on_path: a call of it is being followed
  uint32_t line;
  struct ptx_function* next;
} ptx_function;

typedef enum ptx_token_kind {
  PTX_END,
  PTX_WORD, // a name with its dots: ".reg", "%tid.x", "ld.global.f32"
  PTX_INTEGER,
  PTX_FLOAT32,
  PTX_FLOAT64,
  PTX_STRING,
  PTX_MARK // one character
} ptx_token_kind;

typedef struct ptx_token {
  ptx_token_kind kind;
  const char* text; // in the text
  size_t length;
  char mark;
  uint64_t bits;
  uint32_t line;
} ptx_token;

typedef struct ptx_reader {
  pb_device* device; // for faults
  grid_module* module;
  pb_arena* arena;
  const char *at, *end;
  uint32_t line;
  ptx_token token;
  ptx_variable* globals;
  ptx_function *functions, **last_function;
  struct ptx_scope* scope; // NULL: outside of functions
  ptx_function* function;
  uint32_t loc; // index into module->locs
  jmp_buf fail;
} ptx_reader;

// Ends the reading with a fault of the device.
_Noreturn void ptx__fail(ptx_reader* r, uint32_t line, const char* format, ...) __attribute__((format(printf, 3, 4)));

void ptx__next(ptx_reader* r); // reads r->token
bool ptx__is(const ptx_reader* r, const char* text);
bool ptx__take(ptx_reader* r, const char* text); // steps over it if it is there
void ptx__want(ptx_reader* r, const char* text);
const char* ptx__word(ptx_reader* r, const char* what); // a word, kept in the arena
uint64_t ptx__integer(ptx_reader* r, const char* what);

void ptx__parse(ptx_reader* r);
// declare.c: a variable with its type and initialiser; the word of its space has been read.
ptx_variable* ptx__declare(ptx_reader* r, ptx_space space, bool is_extern);
ptx_variable* ptx__find(ptx_reader* r, const char* name, uint32_t* number); // NULL: nothing of that name
uint32_t ptx__type_bytes(const char* type);                                 // 0: no type

// decode: instructions of an entry with all it calls, as the machine runs them.
grid_kernel* ptx__decode(ptx_reader* r, ptx_function* entry);

#endif

// The decoder's parts: one function for each kind of instruction, which emits what the machine runs for it.
#ifndef PB_GRID_MACHINE_PTX_DECODE_H
#define PB_GRID_MACHINE_PTX_DECODE_H

#include "targets/control/grid/machine/ptx/ptx.h"

enum { PTX_MAX_WORDS = 20 };

typedef struct ptx_label {
  const char* name;
  uint32_t scope, instance, at; // instance: of a function among all calls
} ptx_label;

typedef struct ptx_fixup {
  const char* name;
  uint32_t scope, instance, line;
  uint32_t insn; // whose target it is; with `slot`, an element of its list
  uint32_t* slot;
  const ptx_function* function;
} ptx_fixup;

// The function whose statements are being decoded: the entry, or one that is called from it and laid in its place.
typedef struct ptx_frame {
  ptx_function* function;
  uint32_t instance;
  uint32_t* rows; // by number of register
  const struct ptx_frame* caller;
  uint32_t depth;
} ptx_frame;

typedef struct ptx_decoder {
  ptx_reader* r;
  grid_kernel* k;
  const ptx_frame* frame;
  const ptx_statement* s;
  char* words[PTX_MAX_WORDS]; // of the instruction
  int word_count;
  uint8_t class;
  uint32_t guard; // of the instruction
  bool negate;
  uint32_t predicates, predicates_end; // room for predicates in the file
  uint32_t carry;                      // the row of CC; GRID_NONE: not yet
  uint32_t instances;
  ptx_label* labels;
  size_t label_count, label_capacity;
  ptx_fixup* fixups;
  size_t fixup_count, fixup_capacity;
  size_t budget; // of instructions
} ptx_decoder;

_Noreturn void ptx__wrong(ptx_decoder* d, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Takes a word off the instruction; false: it has none such.
bool ptx__drop(ptx_decoder* d, const char* word);
bool ptx__has(const ptx_decoder* d, const char* word);
const char* ptx__last(const ptx_decoder* d); // the last word
void ptx__operands(ptx_decoder* d, int least, int most);
const ptx_operand* ptx__operand(ptx_decoder* d, int n);

uint32_t ptx__row(ptx_decoder* d, uint32_t bytes); // a new row; 0 bytes: a predicate
uint32_t ptx__constant(ptx_decoder* d, uint64_t value, uint32_t bytes);
uint32_t ptx__source(ptx_decoder* d, const ptx_operand* o, uint32_t bytes); // 0 bytes: a predicate
uint32_t ptx__destination(ptx_decoder* d, const ptx_operand* o, uint32_t bytes);
uint32_t ptx__register_bytes(ptx_decoder* d, const ptx_operand* o); // of a register or of a parameter in one
grid_insn* ptx__emit(ptx_decoder* d, grid_op op);
// A row of lanes.def; sources are offsets.
void ptx__lanes(ptx_decoder* d, const char* key, uint32_t to, uint32_t a, uint32_t b, uint32_t c);
enum { PTX_AND, PTX_OR, PTX_XOR, PTX_COPY, PTX_NOT_A = 4, PTX_NOT_B = 8 };
void ptx__logic(ptx_decoder* d, int mode, uint32_t to, uint32_t a, uint32_t b);
// d, of a register of `to` bytes, from a source of type `format` in one of `from` bytes.
void ptx__extend(ptx_decoder* d, uint32_t target, uint32_t to, uint32_t source, uint32_t from, const char* format);
bool ptx__is_parameter(const ptx_decoder* d, const ptx_variable* v); // of the entry
uint64_t ptx__place(ptx_decoder* d, ptx_variable* v);                // its address in its own space

// Each kind; false: the words are none of it.
bool ptx__decode_arithmetic(ptx_decoder* d);
bool ptx__decode_move(ptx_decoder* d);
bool ptx__decode_convert(ptx_decoder* d);
bool ptx__decode_memory(ptx_decoder* d);
bool ptx__decode_flow(ptx_decoder* d);
bool ptx__decode_warp(ptx_decoder* d);
bool ptx__decode_matrix(ptx_decoder* d);

void ptx__function(ptx_decoder* d, const ptx_frame* frame);
ptx_function* ptx__find_function(ptx_decoder* d, const char* name);
void ptx__branch_to(ptx_decoder* d, uint32_t insn, uint32_t* slot, const char* name);

#endif

// The judge of the conformance suite: a second reading of a description, from the JSON that llvm-tblgen makes of it. It
// decodes commands and computes what they mean element by element, in program order, and shares no code with the reader
// of descriptions, the encoder or the machine; only the tables of approximated functions, which are the definition
// itself, come from tdl/function.h.
#ifndef PB_CONFORMANCE_JUDGE_H
#define PB_CONFORMANCE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  JUDGE_DIMS = 6,
  JUDGE_OPERANDS = 12,
  JUDGE_FIELDS = 32,
  JUDGE_SPACES = 32,
  JUDGE_ARGUMENTS = 16,
  JUDGE_WHY = 256
};

// A space is an on-chip memory, by its place among the description's memories, or JUDGE_ARGUMENTS + an argument slot.
typedef struct judge_space {
  char name[64];
  int64_t bytes;
  uint8_t *data, *valid; // a byte each
} judge_space;

// A window of a command with its numbers known; `lo` and `hi` bound what is touched of each dim.
typedef struct judge_window {
  int space; // -1: an immediate, or nothing is touched
  bool reads, writes, boxed, empty;
  int rank, bytes; // of an element
  int half;        // the dim whose elements lie two in a byte; -1: none does
  int dims[JUDGE_DIMS];
  int64_t address, extent[JUDGE_DIMS], stride[JUDGE_DIMS], lo[JUDGE_DIMS], hi[JUDGE_DIMS];
  int64_t first, last; // bytes [first, last) hold all that is touched
  int64_t fill;
} judge_window;

typedef struct judge_command {
  int insn; // by order of definition
  int64_t values[JUDGE_FIELDS];
  int64_t extent[JUDGE_DIMS];
  uint32_t waits, signals;
  uint64_t counts; // of semaphores, four bits each: how many it waits for
  bool accumulates;
  int count, dest;
  judge_window windows[JUDGE_OPERANDS];
} judge_command;

typedef struct judge judge;

// NULL, with the reason in `why`, when the text is no description as pb.td has it.
judge* judge_open(const char* json, char* why);
void judge_close(judge* j);
judge_space* judge_space_at(judge* j, int space); // a chip's memory, or an argument
void judge_argument(judge* j, int slot, int64_t bytes);
void judge_reset(judge* j); // memories of the chip hold nothing, state is 0; arguments stay

int judge_memory(const judge* j, const char* name);          // its space, -1: none
int judge_insn(const judge* j, const char* name);            // -1: none
int judge_field(const judge* j, int insn, const char* name); // -1: none

// Decodes and places a command in the state that those before it left. False, with the reason: no such command, out of
// bounds, or a byte is read that nothing has written.
bool judge_place(judge* j, judge_command* command, char* why); // the same for `insn` and `values`, state included
bool judge_read(judge* j, const uint8_t* bytes, judge_command* command, char* why);
// Fields and tokens alone.
// Of a memory whose banks are taken in turn: how many are filled and not taken, and whether one that was taken is still
// there. 0: it has none, else how many there are.
int judge_banks(const judge* j, int space, int* waiting, bool* held);
const int64_t* judge_state(const judge* j, int insn); // fields of the last command of the instruction
bool judge_decode(const judge* j, const uint8_t* bytes, judge_command* command, char* why);
// The first bit of a command of the instruction that is set and says nothing: no bit of its opcode, of a field or of
// tokens. -1: there is none.
int judge_spare_bit(const judge* j, int insn, const uint8_t* bytes);
// Whether the bytes are a fence, and the queues that it waits for.
bool judge_fence(const judge* j, const uint8_t* bytes, uint32_t* queues);
// Carries out what judge_read has read.
void judge_run(judge* j, const judge_command* command);
// A summary of what the window touches: no element of it shares a byte with another.
bool judge_apart(const judge_window* window);

#endif

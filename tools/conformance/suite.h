// The conformance suite of a description: programs made from its instructions, run on the generated machine, and on a
// vendor's device beside it, and compared with the judge (judge.h) byte for byte.
#ifndef PB_CONFORMANCE_SUITE_H
#define PB_CONFORMANCE_SUITE_H

#include "judge.h"
#include "pb/device.h"
#include "tdl/chip.h"

#include <stdio.h>

// Regions of the arguments that programs read and write. Random bits; numbers of all kinds, by words; bytes and words
// at their extremes; what leaves the chip, and what is drained from it at the end; random bits in each of the chip's
// memories of constants.
typedef enum region_kind {
  REGION_BYTES,
  REGION_WORDS,
  REGION_EXTREMES,
  REGION_OUT,
  REGION_DRAIN,
  REGION_CONSTANTS,
  REGIONS = REGION_CONSTANTS + PB_MAX_CONSTANT_MEMORIES
} region_kind;

typedef struct region {
  int space;
  int64_t first, last;
} region;

enum { MAX_REGIONS = 4, MAX_DRAINS = 4096 };

// What the suite does with a memory of the chip: the parts that it fills, and by what.
typedef struct memory_plan {
  int count;
  region parts[MAX_REGIONS];
  const pb_insn* filler;  // NULL: nothing can fill it
  const pb_insn* drainer; // copies it to the system's memory bit for bit; NULL: nothing does
  int64_t tile;           // bytes of the largest tile
  int depth;              // of its filler's sources: 0 is filled from the system's memory
} memory_plan;

// A run of bytes of a memory that a command of the program's end copied to the drain region.
typedef struct drained {
  int space;
  int64_t address, bytes, at;
} drained;

// What a command touches, for the order among queues.
typedef struct touched {
  int count;
  size_t before; // one more than the number of the command in front of it in its queue; 0: none is
  struct {
    int space;
    bool written;
    int64_t first, last;
  } of[PB_MAX_OPERANDS];
} touched;

typedef struct program {
  pb_command* commands;
  size_t count, capacity;
  touched* touches;
  size_t touch_count, touch_capacity;
  size_t last[PB_CORE_QUEUES]; // by queue: one more than the number of its last command; 0: it has none
  size_t body, tail;           // commands before `body` fill the chip, those from `tail` on drain it
  bool rolled;                 // into hardware loops, where the chip has them
  uint32_t
      together; // cores that run it beside each other, as reads are for several of them (broadcast.c); 0: one alone
  // A semaphore, -1: none, by which commands of the queue `taker` wait for all that give it, needed or not.
  int semaphore, taker;
  drained* drains;
  size_t drain_count, drain_capacity;
} program;

enum { FORM_BITS = 24 };

// What was run of an instruction, for --coverage.
typedef struct insn_coverage {
  uint64_t commands;
  uint32_t low, high;      // fields that stood at their least and largest value that a program could give them
  uint32_t zero, negative; // stride fields
  uint32_t flags[2];       // immediates of one bit, by operand
  uint32_t banks[2];       // windows that read the bank they have, or take the next, by operand
  uint32_t box;            // 1: whole, 2: cut at a low end, 4: cut at a high end, 8: empty
  uint32_t least, most;    // dims, by index, at their Min and Max
  bool together;           // it read for several cores
} insn_coverage;

typedef struct target_device {
  const char* name; // "machine", or the driver's
  const pb_device_ops* ops;
  pb_device* handle;
  void* library;
} target_device;

typedef struct suite_options {
  const char *device, *device_options, *filter, *junit, *vectors;
  bool coverage, verbose, networks, first, strict;
  const char* target_dir;
  int random; // programs
  uint64_t seed;
} suite_options;

typedef enum outcome { PASSED, FAILED, SKIPPED } outcome;

typedef struct case_result {
  char* name;
  char* text; // of a failure, or why it was skipped
  outcome how;
  double seconds;
} case_result;

typedef struct suite {
  const pb_chip* chip;
  const char* spec;
  const suite_options* options;
  judge* judge;
  target_device devices[2];
  int device_count;
  int core;       // that runs the program in hand
  uint64_t state; // of the random numbers
  region regions[REGIONS];
  int space[PB_MAX_MEMORIES]; // the judge's, by the chip's memory
  memory_plan memories[PB_MAX_MEMORIES];
  int64_t argument_bytes[PB_DEVICE_MAX_ARGS];
  int argument_count;
  int constants;                      // the first of the arguments that lie in memories of constants, one in each
  uint8_t* image[PB_DEVICE_MAX_ARGS]; // what arguments hold before a program
  insn_coverage* coverage;            // by instruction
  bool* runs;                         // by instruction: whether a kernel or network runs as it
  int models;                         // of these, how many the chip runs
  uint32_t waited[PB_CORE_QUEUES];    // by queue: for which queues it has waited, or semaphores
  uint32_t gave[PB_CORE_QUEUES];      // by queue: which semaphores it has given
  case_result* results;
  size_t result_count, result_capacity;
  int vector_files;
  bool failed;
  const char* crashed; // the device of which nothing is asked any more, and no case is run; NULL: none has
  bool looped;         // a hardware loop was run
  int preparing;       // commands that are drawn for the sake of others
  uint64_t limit;      // cycles that the program in hand may take on a device: many times what the machine took
  pb_arena arena;
} suite;

// Random numbers.
uint32_t draw(suite* s, uint32_t below);
int64_t draw_between(suite* s, int64_t least, int64_t most);

// Regions and memories (plan.c).
bool suite_plan(suite* s, char* why);
bool suite_is_outside(const suite* s, const pb_operand* window); // so it has an argument
// The number of the memory of constants that the argument lies in; -1: it lies in the system's.
int suite_constants_of(const suite* s, int argument);
void suite_images(suite* s); // fills the images anew
void suite_parts(suite* s);
// Parts of the instruction's memories so large that its result lies in one with the dim at its largest.
void suite_parts_for(suite* s, const pb_insn* insn, int dim);
// Bytes of the result with the dim at its largest and all others at their least.
int64_t suite_largest(const pb_insn* insn, int dim);
// Bytes of the largest result in the memory that programs have: all of a memory, and no more than 16 MiB.
int64_t suite_most(const pb_chip* chip, int memory);

// How a command is to be drawn (command.c).
typedef enum shape {
  SHAPE_RANDOM,
  SHAPE_SMALLEST,
  SHAPE_LARGEST, // the dim `which` at its largest
  SHAPE_RAGGED,
  SHAPE_UNALIGNED,
  SHAPE_EXTREME,  // numbers and immediates at their ends
  SHAPE_OVERLAP,  // sources over themselves and each other
  SHAPE_IN_PLACE, // the result over a source of the same shape
  SHAPE_REPEAT,   // adds onto one element again and again
  SHAPE_FIRST,    // windows at the front of their memories
  SHAPE_LAST,     // and at their end
  SHAPE_BOX,      // `which`: a side of a box
  SHAPES
} shape;
extern const char* const shape_names[SHAPES];

typedef struct wish {
  shape shape;
  int which;
  int flag;                                     // of immediates of one bit: 0, 1, or -1: drawn
  enum { BANK_ANY, BANK_NEXT, BANK_HELD } bank; // which bank it reads
  bool stays;                                   // its state is as it stands: nothing has to write it
} wish;

// Appends a legal command of the instruction, with commands that write its state in front, as the judge sees them, and
// has the judge carry it out. False: none was found.
bool program_draw(suite* s, program* p, const pb_insn* insn, wish w, char* why);
// The same for given values; they are legal or the program is not changed.
bool program_put(suite* s, program* p, const pb_command* command, char* why);
// Puts it last, behind commands that hand tokens on where it has no counter from a queue that it must come after.
void program_push(const suite* s, program* p, const pb_command* command, const judge_command* read);
// The same of a command that touches so much.
void program_push_touched(const suite* s, program* p, const pb_command* command, const touched* t);
// Whether the command does nothing else than that.
bool program_only_orders(const suite* s, const pb_command* command);
// Window `operand` from `address` on, element after element as far as its strides can say so; the free extents grow up
// to `most` bytes in all. Returns the bytes that follow each other without a gap; 0: it cannot be placed.
int64_t command_lay(const suite* s, pb_command* c, int operand, int64_t address, int64_t most, bool grow);
int64_t command_extent(const pb_command* c, int dim);
bool command_walks_alike(const pb_insn* insn, int source); // as the result does: it may lie over it

// Banks that are taken in turn (banks.c). Commands in front, so that one of the instruction finds what it reads and has
// room for what it fills.
void banks_prepare(suite* s, program* p, const pb_insn* insn, wish w);
// Which bank a window means: sets its flag. False: there is none.
bool banks_draw(suite* s, pb_command* c, const pb_operand* o, wish w);
bool banks_on(const suite* s, const pb_operand* o);
bool banks_have_room(const suite* s, const pb_insn* filler); // for one more than another command may need
void banks_empty(suite* s, program* p);                      // takes all that were filled
void suite_banks(suite* s);

// What the other cores of a program's group run beside it (broadcast.c).
void broadcast_partners(const suite* s, const program* p, program* others);
void suite_broadcasts(suite* s);

// Whole programs (program.c).
void program_begin(suite* s, program* p, bool extremes); // the judge starts anew; fills the chip
void program_end(suite* s, program* p);                  // drains it, and finds the tokens
void program_order(const suite* s, program* p);          // the tokens, or fences, alone; and what does nothing between
// The words of a stream as the chip fetches them: a queue's, or of one list those of all queues, with fences. How many
// there are; SIZE_MAX: one cannot be encoded. `words` has room for as many bytes as program_room says.
size_t program_room(const suite* s, const program* p);
size_t program_words(suite* s, const program* p, int stream, uint8_t* words);
void program_free(program* p);
// Runs it on each core of each device. False, with what differs first, or what a device said.
bool program_check(suite* s, const program* p, char** text);

// What the device traces and counts while it runs a program on the core at hand (timeline.c).
typedef struct timeline {
  suite* suite;
  uint64_t begun, busy[PB_CORE_QUEUES]; // counters in front of it
  uint32_t seen[PB_CORE_QUEUES];        // commands that have ended, by queue
  uint64_t last[PB_CORE_QUEUES];
  const char* what; // is wrong first, of which command; NULL: nothing is
  int queue;
  uint32_t index;
} timeline;
void timeline_begin(suite* s, const target_device* d, timeline* t);
// NULL, or what is wrong: `p` ran in between, and all of it was right.
char* timeline_end(suite* s, const program* p, const target_device* d, timeline* t, pb_arena* arena);

// Runs that, in which a driver may crash. NULL, or the name of the signal that ended it (crash.c).
const char* suite_guard(void (*run)(void* data), void* data);

bool device_open(suite* s, const char* name, target_device* d, char* why);
void device_close(target_device* d);

// Cases (cases.c, networks.c).
void suite_encodings(suite* s);
void suite_instructions(suite* s);
void suite_queues(suite* s);
void suite_random(suite* s);
void suite_networks(suite* s);
bool suite_wants(const suite* s, const char* name);
void suite_record(suite* s, const char* name, outcome how, const char* text, double seconds);
double suite_seconds(void);

// Reports (report.c).
void suite_cover(suite* s, const pb_command* c, const judge_command* read);
int suite_coverage(const suite* s, FILE* out); // how much is missing
bool suite_junit(const suite* s, const char* path);
// A program as commands and memories for $readmemh (vectors.c).
bool suite_vectors(suite* s, const program* p, const char* name);

#endif

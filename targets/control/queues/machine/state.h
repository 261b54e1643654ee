// The machine's parts, as they see each other: device memory and checks (memory, check), one command's meaning
// (command, eval, contract), their order in a queue (loop), and time (cost: one command alone; run: all together).
#ifndef PB_QUEUES_MACHINE_STATE_H
#define PB_QUEUES_MACHINE_STATE_H

#include "pb/device.h"
#include "tdl/chip.h"

#include <stdbool.h>
#include <stdint.h>

enum { MACHINE_MAX_MEMORIES = 16, MACHINE_FAULT_BYTES = 8192, MACHINE_OUTSIDE_GRANULE = 64 };
enum machine_fault_code {
  MACHINE_OK,
  MACHINE_BAD_OPTION,
  MACHINE_BAD_CHIP,
  MACHINE_OUT_OF_MEMORY,
  MACHINE_BAD_ADDRESS,
  MACHINE_BAD_SUBMISSION,
  MACHINE_BAD_COMMAND,
  MACHINE_UNINITIALISED,
  MACHINE_RACE,
  MACHINE_HANG,
  MACHINE_LIMIT,
  MACHINE_TOKENS,
  MACHINE_BANKS,
  MACHINE_KEPT,
  MACHINE_STOPPED
};

// A window of a command with its numbers known. Dims are the window's own, outermost first; the box is clipped to the
// extents: outside [lo, hi) of any dim nothing is read.
typedef struct machine_memory machine_memory;
typedef struct machine_window {
  const pb_operand* operand;
  machine_memory* memory; // its core's, or one outside
  int64_t address;        // of element (0, 0, ...); may lie outside the memory when the box leaves it out
  int rank;
  int64_t extent[PB_MAX_INSN_DIMS], stride[PB_MAX_INSN_DIMS]; // bytes
  int64_t lo[PB_MAX_INSN_DIMS], hi[PB_MAX_INSN_DIMS];
  int half;            // the dim whose elements lie two in a byte; -1: none does
  bool boxed, empty;   // empty: nothing lies in the box
  int64_t first, last; // bytes [first, last) hold all that is touched
  int64_t fill;
  bool reads, writes;
} machine_window;

// The same window as runs of neighbouring bytes.
typedef struct machine_runs {
  int64_t address, bytes;
  int rank;
  int64_t extent[PB_MAX_INSN_DIMS], stride[PB_MAX_INSN_DIMS];
} machine_runs;

typedef struct machine_command {
  pb_command command;
  int64_t extent[PB_MAX_INSN_DIMS]; // by dim of the instruction
  machine_window windows[PB_MAX_OPERANDS];
  bool accumulates;
} machine_command;

// Who touched a row (on chip) or granule (outside) last. Indices count from 1; 0: nobody in this submission.
typedef struct machine_shadow {
  uint32_t epoch;
  uint32_t writer, writer_queue;
  uint32_t reader[]; // by queue, since the write: of all cores in a memory outside, else of the memory's own
} machine_shadow;

struct machine_memory {
  uint8_t* data;
  uint8_t* valid; // a bit a byte
  uint8_t* shadow;
  int64_t bytes, granule;
  size_t shadow_bytes; // mapped
  int readers;         // queues that an entry of the shadow has
};

typedef struct machine_allocation {
  uint64_t address, bytes;
} machine_allocation;

// A memory outside the chip, as the host sees it: its byte 0 has the device address `at`. Kernels count in its own
// bytes.
typedef struct machine_outside {
  machine_memory* memory; // NULL: the chip has none
  uint64_t at;
  machine_allocation* allocations; // ascending; in bytes of the memory
  size_t allocation_count, allocation_capacity;
  uint64_t allocated;
} machine_outside;
// The memories outside, which are also the ports by which they are reached: the system's, and behind it those of
// constants.
enum { MACHINE_SYSTEM, MACHINE_CONSTANTS, MACHINE_OUTSIDE = MACHINE_CONSTANTS + PB_MAX_CONSTANT_MEMORIES };

// Banks that are taken in turn (banks.c): fillings and takings, counted from the kernel's begin.
typedef struct machine_bank {
  int64_t filling; // the last one that has begun; -1: none has
  uint64_t there;  // when it is there, for commands of the queue that fills
  uint64_t free;   // when its readers are through, for the same
} machine_bank;
typedef struct machine_banks {
  int64_t filled, taken;
  machine_bank* banks;
} machine_banks;

typedef struct machine_tokens machine_tokens;
typedef struct machine_timing machine_timing; // run.c
enum { MACHINE_BLOCK = 1024 };                // points that are evaluated at once

typedef union machine_value {
  int32_t i;
  uint32_t u;
  float f;
} machine_value;

// wide.c: operations that take or give i64.
typedef struct machine_operand {
  const machine_value* narrow;
  const int64_t* wide; // of type i64: the values
  pb_type type;
} machine_operand;
void machine__apply_wide(const pb_expr_node* node, const machine_operand* args, machine_value* narrow, int64_t* wide,
                         int64_t count);

typedef struct machine_vectors machine_vectors; // eval.c

// stop.c: behind which command it stops, and what it writes then.
typedef struct machine_stop {
  bool set;
  uint64_t kernel, command;
  int queue, memory;
  char file[1024]; // "": nothing
} machine_stop;

struct pb_device {
  const pb_chip* chip;
  uint64_t seed, limit;
  uint64_t launches; // kernels that it began to run
  machine_stop stop;
  bool checks;
  machine_outside outside[MACHINE_OUTSIDE];
  machine_memory (*memories)[MACHINE_MAX_MEMORIES]; // by core; those outside: the first core's
  machine_banks (*banks)[MACHINE_MAX_MEMORIES];     // of memories that have them
  bool has_banks;
  pb_submission kernel;
  bool submitted;
  uint32_t epoch;
  // By core and instruction: the fields of the last of its commands, which StateFields refer to.
  int64_t (*state)[32];
  machine_timing* timing;
  machine_tokens* tokens;
  machine_vectors* vectors;
  // counters since open
  uint64_t cycles, *busy, *stall, read_bytes, written_bytes, fetched_bytes; // by queue
  uint64_t constant_bytes[PB_MAX_CONSTANT_MEMORIES];                        // read of the memories of scope "constants"
  uint32_t counter_count;
  char (*counter_names)[80];
  void (*trace)(void* user, uint32_t queue, uint32_t index, uint64_t start, uint64_t end);
  void* trace_user;
  int fault_code;
  char fault[MACHINE_FAULT_BYTES];
};

// Where a command stands, for faults and for the order of accesses. Queues are those of all cores, core by core, here
// and wherever the machine numbers them. clock[p]: commands of queue p of its own core known to be complete; of other
// cores' nothing is, before the kernel ends.
typedef struct machine_site {
  int queue;
  uint32_t index;
  const uint32_t* clock;
} machine_site;

static inline int machine__core(const pb_device* device, int queue) { return queue / device->chip->queue_count; }
// Commands of a queue, of any core, that are known to be complete.
static inline uint32_t machine__known(const pb_device* device, const machine_site* site, int queue) {
  int own = device->chip->queue_count;
  return queue / own == site->queue / own ? site->clock[queue % own] : 0;
}
static inline int64_t (*machine__state(const pb_device* device, int queue))[32] {
  return device->state + machine__core(device, queue) * device->chip->insn_count;
}

int machine__fault(pb_device* device, int code, const char* format, ...) __attribute__((format(printf, 3, 4)));
// The same, headed by the command's place and text.
int machine__fault_at(pb_device* device, int code, const machine_site* site, const machine_command* command,
                      const char* format, ...) __attribute__((format(printf, 5, 6)));

bool machine__banks_open(pb_device* device);
void machine__banks_close(pb_device* device);
void machine__banks_begin(pb_device* device);
int machine__banks_end(pb_device* device); // a bank that nobody took would be the next kernel's first
// Gives the command's windows on banks their places, by those before it in its queue.
int machine__banks_place(pb_device* device, const machine_site* site, machine_command* command);
void machine__banks_follow(pb_device* device, int queue, const pb_command* command); // counts what it fills and takes
// When they let it start: what it takes is there, what it fills is read no more.
uint64_t machine__banks_ready(const pb_device* device, int queue, const machine_command* command);
// It starts: fills or takes. Its queue is its readers' until `free_at`; what it writes is there at `there`.
int machine__banks_start(pb_device* device, const machine_site* site, const machine_command* command);
void machine__banks_done(pb_device* device, int queue, const machine_command* command, uint64_t free_at,
                         uint64_t there);

bool machine__memory_open(pb_device* device);
void machine__memory_close(pb_device* device);
void machine__memory_begin(pb_device* device); // a submission: what is on chip is undefined again
// Which of those outside the chip's memory is; -1: it is on the chip.
int machine__outside(const pb_device* device, int memory);
const machine_allocation* machine__allocation(const machine_outside* outside, uint64_t at); // NULL: none
int machine__alloc(pb_device* device, uint64_t bytes, uint64_t align, uint64_t* address);
int machine__alloc_constants(pb_device* device, uint64_t bytes, uint64_t align, uint64_t* address);
int machine__alloc_constants_in(pb_device* device, uint32_t number, uint64_t bytes, uint64_t align, uint64_t* address);
int machine__free_all(pb_device* device);
int machine__copy_in(pb_device* device, uint64_t address, const void* data, uint64_t bytes);
int machine__copy_out(pb_device* device, uint64_t address, void* data, uint64_t bytes);
void machine__mark_valid(machine_memory* memory, int64_t address, int64_t bytes);
// First byte of [address, address + bytes) that was never written, or -1.
int64_t machine__first_invalid(const machine_memory* memory, int64_t address, int64_t bytes);

// Word `word` of the queue's stream. NULL after a fault: it lies in no allocation.
const uint8_t* machine__word(pb_device* device, const machine_site* site, uint32_t word);
// Decodes a command, with the configuration state that it finds, and checks that its windows lie in their memories.
int machine__command_read(pb_device* device, const machine_site* site, const uint8_t* bytes, int64_t (*state)[32],
                          machine_command* command);

// The same for command `index` of `queue`, counted as the queue runs them, with the state that it found when it ran.
int machine__command_again(pb_device* device, const machine_site* site, machine_command* command);

// The order in which a queue runs the words of its stream: one after the other, and in turns where a hardware loop
// stands.
typedef struct machine_sequence {
  uint32_t word, count; // the next word that is not part of a loop that runs; words in the stream
  uint32_t body, at;    // 0: no loop runs
  uint64_t iteration, iterations;
  uint8_t commands[PB_MAX_LOOP_BODY][PB_COMMAND_BITS / 8], steps[PB_MAX_LOOP_BODY][PB_COMMAND_BITS / 8];
} machine_sequence;

// The next command's bytes, NULL: there is none, or after a fault (*code). *fetched: how many words of the stream must
// have arrived before it can run.
const uint8_t* machine__sequence_next(pb_device* device, const machine_site* site, machine_sequence* sequence,
                                      uint32_t* fetched, int* code);
machine_runs machine__runs(const machine_window* window); // the longest
machine_runs machine__rows(const machine_window* window); // no longer than the innermost dim
// Offset from runs->address of run number `at`, an odometer that starts as zeros.
bool machine__next_run(const machine_runs* runs, int64_t* at, int64_t* offset);
bool machine__apart(const machine_window* window); // no two elements share a byte

// Rows that a command gathers (gather.c), one after the other, as their numbers stand in memory.
typedef struct machine_gather {
  const machine_window *table, *numbers;
  int64_t at[PB_MAX_INSN_DIMS];
  bool more;
} machine_gather;
machine_gather machine__gather(const machine_command* command, const machine_window* table);
bool machine__gather_next(machine_gather* gather, machine_window* row); // *row: the window on it; false: all were
int64_t machine__row(const machine_window* table, int32_t number);      // bytes from the first row, kept inside
static inline bool machine__gathers(const machine_window* w) { return w->operand->rows >= 0; } // it is such a table

int machine__check(pb_device* device, const machine_site* site, const machine_command* command);
void machine__define(const machine_command* command); // marks what it writes

// One list of commands with fences (list.c).
typedef struct machine_list machine_list;
machine_list* machine__list_open(const pb_chip* chip, int core);
void machine__list_close(machine_list* list); // NULL is fine
void machine__list_begin(pb_device* device, machine_list* list);
bool machine__list_done(const machine_list* list); // as machine__list_ready has found
// When its next command can be handed on, or its next fence be passed; UINT64_MAX: not until something else happens.
int machine__list_ready(pb_device* device, machine_list* list, uint64_t now, uint64_t* when);
int machine__list_give(pb_device* device, machine_list* list, uint64_t now); // the queue that got it; -1: a fence
// A command that the queue holds. NULL: there is none.
typedef struct machine_held {
  uint32_t index;
  uint64_t at;     // since when
  uint32_t* clock; // of all queues: what it is behind, by fences
  uint8_t bytes[PB_COMMAND_BITS / 8];
} machine_held;
const machine_held* machine__list_take(machine_list* list, int queue);
int machine__list_says(const pb_device* device, const machine_list* list, char* text, size_t size); // of a hang
// Of run.c: when the next word that is fetched arrives, which is not before `last`.
uint64_t machine__word_arrives(pb_device* device, uint64_t last);
bool machine__queue_idle(const pb_device* device, int queue, uint64_t* done_at);

machine_vectors* machine__vectors_open(const pb_chip* chip);
void machine__vectors_close(machine_vectors* vectors);
void machine__execute(pb_device* device, const machine_command* command);
// True when the command is an int8 contraction and was executed.
bool machine__contract(const machine_command* command);
// Copies codes of which two lie in a byte.
void machine__copy_halves(const machine_command* command);

int64_t machine__beat_bytes(const pb_chip* chip, int memory); // of a memory outside, in one cycle
// Beats of the memory outside that the command moves; counts their bytes.
int64_t machine__beats(pb_device* device, const machine_command* command);
// Runs of a mover outside its box between the first and the last inside: who asks for the others takes a cycle for
// each.
int64_t machine__passed_over(const machine_command* command);
// Cycles that it keeps its queue busy: by the description, and what banks and the rows of a mover add.
int64_t machine__cycles(const pb_chip* chip, const machine_command* command);

// Tokens (tokens.c). Bits are those of a command's waits and signals.
machine_tokens* machine__tokens_open(const pb_chip* chip);
void machine__tokens_close(machine_tokens* tokens); // NULL is fine
void machine__tokens_begin(machine_tokens* tokens);
uint32_t machine__tokens_missing(const machine_tokens* tokens, int queue, const pb_command* command);
uint64_t machine__tokens_there(const machine_tokens* tokens, int queue,
                               const pb_command* command); // if none is missing
uint32_t machine__tokens_full(const machine_tokens* tokens, int queue, uint32_t signals);
uint64_t machine__tokens_room(const machine_tokens* tokens, int queue, uint32_t signals); // since when, if none is full
int machine__tokens_give(pb_device* device, int queue, uint32_t signals, uint64_t when, const uint32_t* clock);
// Adds to the clock what the tokens tell.
int machine__tokens_take(pb_device* device, const machine_site* site, const pb_command* command, uint64_t now,
                         uint32_t* clock);
uint32_t machine__tokens_givers(const machine_tokens* tokens, uint32_t waits); // the queues of a core that give those
int machine__tokens_end(pb_device* device); // one that nobody took would let a command of the next kernel start early

machine_timing* machine__timing_open(const pb_chip* chip);
void machine__timing_close(machine_timing* timing);
int machine__run(pb_device* device);

bool machine__read_stop(pb_device* device, const char* text, size_t length);
bool machine__read_dump(pb_device* device, const char* text, size_t length);
// Whether this was the command to stop behind: then a fault that says so.
int machine__stop_behind(pb_device* device, int queue, uint32_t index, const machine_command* command);

// A statement for each of `count` elements, k.
#define EACH(statement)                                                                                                \
  do {                                                                                                                 \
    for (int64_t k = 0; k < count; ++k) statement;                                                                     \
  } while (0)

#endif

// The facts of a chip, as read and checked from its description. Plain data, no TableGen, no MLIR: the planner, the
// selection, the encoder, the machine and the runtime all read this. Everything lives in `arena`.
#ifndef PB_TDL_CHIP_H
#define PB_TDL_CHIP_H

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/expr.h"
#include "core/base/formula.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  PB_MAX_INSN_DIMS = 6,
  PB_MAX_OPERANDS = 12,
  PB_MAX_EXPR = PB_FORMULA_EXPR, // a formula is read as the value of an instruction
  PB_CORE_QUEUES = 16,  // of one core: a command has a bit for each that it waits for, and each that it signals
  PB_MOST_CORES = 1024, // with queues
  PB_MOST_READERS = 32, // cores that one read is for
  PB_MAX_SEMAPHORES = 16,
  PB_MOST_IN_SEMAPHORE = 15, // so that a number of them is four bits
  PB_MAX_MEMORIES = 16,
  PB_MAX_CONSTANT_MEMORIES = 4,
  PB_MAX_CORE_MOVERS = 4,
  PB_MOST_MOVE_LOOPS = 3, // around a run
  PB_MOST_MOVES = 64,     // of one that are under way
  PB_COMMAND_BITS = 256,
  PB_MAX_LOOP_BODY = 32,
  PB_MAX_SHAPE = 4,
  PB_MAX_BANKS = 64,               // that are taken in turn
  PB_LEAST_SYSTEM_BYTES = 1 << 16, // of the memory outside: tensors, constants and commands lie there
  PB_MOST_LATENCY = 1 << 20,
  PB_MOST_TOKENS = 4095,
  PB_MOST_DERIVED = 1 << 20,
  PB_MOST_LANES = 64,      // of a warp
  PB_MOST_BLOCK_WARPS = 16 // of a block
};

typedef enum pb_control { PB_CONTROL_THREADS, PB_CONTROL_GRID, PB_CONTROL_QUEUES } pb_control;
// The levels of a chip with a grid: its warps, which share a kernel, the processors that run them, the lanes of one.
enum { PB_GRID_WARPS, PB_GRID_PROCESSORS, PB_GRID_LANES, PB_GRID_LEVELS };

typedef enum pb_memory_kind { PB_MEM_ADDRESSED, PB_MEM_REGISTERS, PB_MEM_SHADOW, PB_MEM_FIFO } pb_memory_kind;
typedef enum pb_scope { PB_SCOPE_SYSTEM, PB_SCOPE_CONSTANTS, PB_SCOPE_CHIP, PB_SCOPE_CORE, PB_SCOPE_THREAD } pb_scope;

typedef struct pb_memory {
  const char* name;
  pb_place place;
  pb_memory_kind kind;
  pb_scope scope;
  int64_t bytes, row_bytes, bytes_per_cycle, line_bytes, sector_bytes;
  int banks, ports, latency, ways;
  int apart_cycles; // registers: of a load whose lanes have addresses of their own, 0: there is none
  int same_at_once; // registers: numbers that are one for all lanes and come by one load
  int each_at_once; // registers: neighbours of each lane's own that come by one load
  bool cached;
  const char *value, *from_vector, *to_vector; // registers: see pb.td; "": they are vectors
} pb_memory;

typedef struct pb_queue {
  const char* name;
  int depth, tokens;
  bool in_order; // its commands complete as they began; else it has a counter to itself
  // Bits of the queues that it has counters to and from; or semaphores that it can give whenever it must. `alone`: to
  // which it has a counter, or a semaphore, that no other queue gives and no other takes.
  uint32_t gives, takes, alone;
  // Bits of the counters that its commands wait for and signal: the same, or semaphores.
  uint32_t waits, signals;
} pb_queue;

// Counts what several queues give and several take.
typedef struct pb_semaphore {
  const char* name;
  uint32_t givers, takers; // bits of queues
  int most;
} pb_semaphore;

// Control by a grid: what code is made for, and a block's memory and warps.
typedef struct pb_grid {
  const char *triple, *processor; // LLVM's names
  int block_bytes, block_warps;
  int product_cycles; // that a warp's product takes: what plans count in
} pb_grid;

// A mover of each core's own, beside its code.
typedef struct pb_core_mover {
  const char* name;
  pb_place place;
  int near; // the memory of the core's between which and the system's it copies
  bool in, out;
  int loops, depth, start_cycles;
} pb_core_mover;

typedef struct pb_level {
  const char* name;
  int max, sync_cycles;
  int busy; // so many, which there always are, keep all units busy; 0: nobody knows how many there will be
  const char* sync;
} pb_level;

typedef struct pb_dim {
  const char* name;
  int min, max;
  int field;  // index in insn.fields, -1: extent is always max
  bool table; // a window's elements are looked up, or its rows gathered, along it: it is no loop of the instruction
} pb_dim;

// What a field holds in place of its number: the number less `by`, a `by`th of it, or its logarithm to base 2.
typedef enum pb_form { PB_FORM_PLAIN, PB_FORM_MINUS, PB_FORM_SCALED, PB_FORM_LOG2, PB_FORMS } pb_form;

// A named field of an instruction; bits[k] is where bit k of the value stands in the command, -1: dropped.
typedef struct pb_field {
  const char* name;
  int width;
  bool is_signed;
  bool shared; // one number for several strides, or several extents
  pb_form form;
  int64_t by;  // 1 where the form has none
  bool hidden; // no field of the description: the place of a bank, which no command says
  int16_t bits[64];
  int state_writer; // -1: in the command; else the instruction (index) whose field `state_field` holds it
  int state_field;
  int state_of; // of an instruction that writes another's state: the field there; else -1
} pb_field;

// PACKED: in a register, right behind all that the dims inside walk at their largest.
typedef enum pb_stride_kind {
  PB_STRIDE_FIELD,
  PB_STRIDE_ELEM,
  PB_STRIDE_ROW,
  PB_STRIDE_NUMBER,
  PB_STRIDE_NONE,
  PB_STRIDE_PACKED
} pb_stride_kind;
typedef struct pb_stride {
  pb_stride_kind kind;
  int field;
  int64_t units; // NUMBER
} pb_stride;

// Whether its parts are taken in turn, so that commands do not name them.
static inline bool pb_in_banks(const pb_memory* memory) { return memory->kind >= PB_MEM_SHADOW; }
// Outside the chip: the host fills it, and windows on it have an argument slot. Kernels write the system's alone.
static inline bool pb_is_outside(const pb_memory* memory) {
  return memory->scope == PB_SCOPE_SYSTEM || memory->scope == PB_SCOPE_CONSTANTS;
}
// Held by units: matrices or vectors, one bank of them at a time.
static inline bool pb_holds_tiles(const pb_memory* memory) { return memory->kind != PB_MEM_ADDRESSED; }

// A window on a memory (memory >= 0), or an immediate (memory == -1: `base` is its field).
typedef struct pb_operand {
  const char* name;
  int memory;
  pb_type type;
  int rank;
  int dims[PB_MAX_INSN_DIMS]; // indices in insn.dims, in window order
  pb_stride strides[PB_MAX_INSN_DIMS];
  int base;                                               // field
  int take;                                               // of banks taken in turn: the flag's field; -1: none
  int slot;                                               // field of the argument slot, -1: none
  int64_t unit;                                           // bytes of one step of base and of field strides
  int box_lo[PB_MAX_INSN_DIMS], box_hi[PB_MAX_INSN_DIMS]; // fields, -1: unbounded
  int fill;                                               // field, -1: fills with 0
  int rows; // of a table of rows: the operand with the numbers of those gathered; -1
  bool has_box, read, written;
} pb_operand;

// A cycle count over dims: a small tree, evaluated by pb_cycles.
typedef enum pb_cost_op {
  PB_COST_CONST,
  PB_COST_DIM,
  PB_COST_FIELD,
  PB_COST_PLUS,
  PB_COST_TIMES,
  PB_COST_CEILDIV,
  PB_COST_MAX
} pb_cost_op;
typedef struct pb_cost {
  pb_cost_op op;
  int64_t value; // CONST, or index of DIM, FIELD
  int a, b;      // earlier nodes
} pb_cost;

typedef struct pb_insn {
  const char* name;
  const char* summary;
  const char* file; // place in the description
  int line;
  const char* emit; // a core's instruction: LLVM's name for it; NULL: a command of a queue
  int index, queue; // queue: -1 for a core's instruction
  bool mover;
  int state_of; // the instruction whose state it writes instead of its own; -1: its own
  // Of a command that waits for a semaphore, or signals one: its fields, from 1; 0: it has none.
  int waits_by, counts_by, signals_by;
  bool beside;    // it goes on beside the commands behind it
  int unit;       // what it keeps busy: its queue, or if beside, one of the units behind the queues
  int broadcast;  // mover: the field with a bit for each core that its read is for; -1: it reads for its own alone
  int64_t buffer; // mover: bytes that it may have asked for and not yet written; 0: it reads no further than it writes
  int dim_count;
  pb_dim dims[PB_MAX_INSN_DIMS];
  int operand_count;
  pb_operand operands[PB_MAX_OPERANDS]; // windows and immediates, in the order of Operands
  int dest; // the operand that is written; without operands the command only writes state, and this is no window
  pb_reduce reduce;
  int acc_flag; // immediate operand: 0 sets, 1 adds; -1: reduce is PB_SET, or it always adds
  int expr_count;
  pb_expr_node expr[PB_MAX_EXPR]; // the value; for reductions what is added (or maximised). Last node is the value
  int cost_count;
  pb_cost cost[PB_MAX_EXPR]; // the last one is the cycles
  int shape_count;
  int shape[PB_MAX_SHAPE]; // nodes of cost: what the code generator is told of the extents
  int latency;
  int units;           // of a core's instruction: how many begin at once
  const char* options; // of one: constants that `emit` takes beside its operands
  bool adds;           // of one: `emit` takes what the destination held; else an addition follows it
  int field_count;
  pb_field* fields;
  uint8_t fixed_value[PB_COMMAND_BITS / 8], fixed_mask[PB_COMMAND_BITS / 8]; // the opcode's bits
} pb_insn;

typedef struct pb_function {
  const char* name;
  int table_bits, degree;
  double max_ulp;
} pb_function;

typedef struct pb_chip {
  const char* name;
  const char* variant; // "" = default
  int variant_count;
  const char** variants; // that the description lists
  const char* summary;
  const char* features;           // control by threads: comma-separated, for the code generator
  bool converts[PB_NARROW_TYPES]; // by pb_narrow_type: cores do, by instructions of their own
  const char* root_estimate;      // LLVM's intrinsic for 1 / sqrt(x), in lanes of f32, to 14 bits; "": there is none
  const char* tuning;             // whose units it orders code for, "": nobody's
  const char* file;
  pb_place place, tokens_place; // of its records, for what is wrong between them
  int revision, mhz, arguments, command_bytes;
  bool command_port; // commands come by a port of their own, not by the system memory's
  int token_cycles, start_cycles, stage_cycles, branch_cycles, load_cycles; // as plans count them
  pb_control control;
  pb_grid grid;
  int memory_count, queue_count, level_count, insn_count, function_count;
  int unit_count; // the queues, and a unit more for each that has commands which go on beside others
  int cores;      // control by queues: each has its own queues and memories; else 1
  pb_memory* memories;
  pb_queue* queues;         // in the order of Tokens.Queues
  const char** queue_names; // of all cores
  const char** list_names;  // the same of lists
  pb_level* levels;
  int core_mover_count; // of each core that runs code
  pb_core_mover* core_movers;
  pb_insn* insns; // in order of appearance in the file
  pb_insn* loop;  // a HardwareLoop's command: fields and encoding alone; NULL: the chip has none
  int loop_iterations, loop_body, loop_most; // its fields, and how many commands a body has at most
  pb_insn* fence;                            // the command that waits for queues in the one list; NULL: tokens do
  pb_semaphore* semaphores;                  // in place of counters for pairs of queues, where there are any
  int semaphore_count, semaphore_wait_bits;  // bits of the number of each that a command waits for
  // Fields of commands of their own that wait for semaphores and signal them; NULL: every command has bits for that.
  const char *wait_field, *count_field, *signal_field;
  int fence_wait;               // its field of a bit for each queue; -1: it waits for all of them
  int list_depth, fence_cycles; // fetched ahead of the list; until that goes on
  pb_function* functions;
  pb_formula* formulas[PB_FORMULA_KINDS]; // how it makes codes; NULL: as this SDK's quantisation says
  int system_memory;                      // the one of scope "system"
  // Those of scope "constants", in the order of their names; and their numbers here, the one of the highest rate
  // first.
  int constant_memories[PB_MAX_CONSTANT_MEMORIES], fastest_constants[PB_MAX_CONSTANT_MEMORIES];
  int constant_memory_count;
  int wait_bit, signal_bit; // where the bits of queues, or of semaphores, stand in a command
  uint8_t hash[32];         // SHA-256 of the description as tblgen prints it, without places
  const char* json;         // that text: an engine carries it, so that it can be run and read without the file
  pb_arena arena;
} pb_chip;

// Reads and checks `path` (a .td file) with llvm-tblgen. Every fault found is reported with its file and line. On
// PB_OK the caller owns *chip and frees it with pb_chip_free.
pb_status pb_chip_read(const char* path, const char* variant, pb_diag* diag, pb_chip** chip) PB_MUST_CHECK;
// The same from tblgen's JSON. `path` is for diagnostics.
pb_status pb_chip_from_json(const char* text, const char* path, const char* variant, pb_diag* diag,
                            pb_chip** chip) PB_MUST_CHECK;
// Finds NAME[:VARIANT] or FILE.td among the in-tree targets, `target_dir` (may be NULL) and PB_TARGET_PATH. A NAME
// alone whose chip names features and variants means the last variant listed whose features this processor has;
// NAME:native is that variant with the sizes of this machine's caches.
pb_status pb_chip_find(const char* spec, const char* target_dir, pb_diag* diag, pb_chip** chip) PB_MUST_CHECK;
void pb_chip_free(pb_chip* chip);

const char* pb_formula_term_name(pb_formula_term term); // "sum", "bias", ...
// The queues of all cores, core by core: queue `number % queue_count` of core `number / queue_count`. Named after the
// queue, and where there are several cores, its core: "2.MX".
int pb_chip_queues(const pb_chip* chip);
const char* pb_chip_queue_name(const pb_chip* chip, int number);
// Streams of commands that a kernel has: one for each of these queues, or for each core one list, with fences in it.
int pb_chip_streams(const pb_chip* chip);
const char* pb_chip_stream_name(const pb_chip* chip, int number);   // the queue's, or "list" or "2.list"
int pb_chip_stream(const pb_chip* chip, int queue);                 // in which the queue's commands stand
const pb_insn* pb_chip_insn(const pb_chip* chip, const char* name); // NULL: none
int pb_chip_memory(const pb_chip* chip, const char* name);          // -1: none
// Whether these bytes are in the memory of that number, which is there and on the chip.
bool pb_is_on_chip(const pb_chip* chip, int64_t memory, uint64_t address, uint64_t bytes);
int pb_insn_field(const pb_insn* insn, const char* name);         // -1: none
int pb_insn_operand(const pb_insn* insn, const char* name);       // -1: none
bool pb_is_table(const pb_insn* insn, const pb_operand* operand); // its elements are looked up, or its rows gathered
int pb_insn_gathers(const pb_insn* insn);                         // the operand whose rows it gathers; -1: it does not
int64_t pb_base_unit(const pb_insn* insn, const pb_operand* window); // bytes between the places where it can begin
// The instruction that writes the writer's state without doing what the writer does; NULL: there is none.
const pb_insn* pb_state_alone(const pb_chip* chip, const pb_insn* writer);
int pb_unit_queue(const pb_chip* chip, int unit); // the queue whose unit it is

// What it reads are codes of 4 bits, and it makes a byte of each, with sign or without: pb_insn_unpacks is the
// operation that widens them, PB_OP_SEXT or PB_OP_ZEXT. PB_OP_COUNT: it is no such command.
pb_op pb_insn_unpacks(const pb_insn* insn);
bool pb_insn_moves_small_codes(const pb_insn* insn); // it copies codes of 4 bits, two in a byte as they lie
// The operand that is the palette of which it makes what it writes, by codes that it reads outside the chip, the
// operand of its first node; -1: it is no such command.
int pb_insn_palette(const pb_chip* chip, const pb_insn* insn);
// The dim of four along which it makes elements of two of four that it reads; -1: it does not.
int pb_insn_two_of_four(const pb_insn* insn);
// Bytes that so many neighbouring elements take, from a whole byte on.
static inline int64_t pb_bytes_of(pb_type type, int64_t elements) { return (elements * pb_type_bits(type) + 7) / 8; }
// The mover of each core that brings to a memory of its own, or (out) takes from there; -1: it has none.
int pb_core_mover_of(const pb_chip* chip, int memory, bool out);
// Whether it has instructions that can read for several of its cores.
bool pb_chip_broadcasts(const pb_chip* chip);
// The number of the memory among those of constants; -1: it is none of them.
int pb_constants_number(const pb_chip* chip, int memory);
// The memory outside that the instruction's windows lie in, of which there is one at most; -1: none does.
int pb_insn_outside(const pb_chip* chip, const pb_insn* insn);
// The queue to which a token on its way from one queue to another goes first, by the fewest counters; -1: there is no
// way.
int pb_token_way(const pb_chip* chip, int from, int to);
// The same by what is of the two queues alone.
int pb_plain_way(const pb_chip* chip, int from, int to);
// A command of the queue that does nothing, and so can hand tokens on; NULL: it has none.
const pb_insn* pb_chip_idle_insn(const pb_chip* chip, int queue);
// The index of the window that a dim of its instruction walks; -1: it walks none.
static inline int pb_operand_index(const pb_operand* window, int dim) {
  for (int k = 0; k < window->rank; ++k)
    if (window->dims[k] == dim) return k;
  return -1;
}
// Whether the instruction reduces over the dim: its result lacks it, and it is no table's.
static inline bool pb_insn_reduces_over(const pb_insn* insn, int dim) {
  return pb_operand_index(&insn->operands[insn->dest], dim) < 0 && !insn->dims[dim].table;
}
// Bytes between neighbours along dim k of a window where no field says them; 0: it does not move.
int64_t pb_fixed_stride(const pb_chip* chip, const pb_operand* window, int k);

// What `waits` and `signals` of a command have bits of: the semaphores, or the queues.
static inline int pb_chip_counters(const pb_chip* chip) {
  return chip->semaphore_count ? chip->semaphore_count : chip->queue_count;
}

const char* pb_counter_name(const pb_chip* chip, int k); // of that bit

// A command before it is encoded: values by field index, waits and signals by queue bit, or by semaphore's.
typedef struct pb_command {
  const pb_insn* insn;
  int64_t values[32];
  uint32_t waits, signals;
  uint64_t counts; // of semaphores, four bits each: how many it takes
} pb_command;

// Bits of the cores that the command's read is for, where there are several; 0: it is for its own core alone.
uint32_t pb_command_cores(const pb_command* command);

// How many a command takes of counter k, for which it waits: counters for pairs of queues give one at a time.
static inline int pb_count_of(const pb_chip* chip, uint64_t counts, int k) {
  return chip->semaphore_count ? (int)(counts >> 4 * k & 15) : 1;
}

// Largest and smallest number that a field can say.
int64_t pb_field_min(const pb_field* field);
int64_t pb_field_max(const pb_field* field);
// Whether the field can say the number; not all in between: there may be multiples alone, or powers of 2.
bool pb_field_holds(const pb_field* field, int64_t number);
// The number nearest to it that the field can say, no nearer to 0 where there is one.
int64_t pb_field_nearest(const pb_field* field, int64_t number);
// What its bits hold for a number that it can say, and the number for what they hold.
int64_t pb_field_code(const pb_field* field, int64_t number);
int64_t pb_field_number(const pb_field* field, int64_t code);
// The value of a field that carries these bits of an f32: as many, with the sign that the field has.
int64_t pb_field_bits(const pb_field* field, uint32_t bits);
// An integer of so many bits as the field says it: where that has no sign and room for all of them, their bits.
int64_t pb_field_low(const pb_field* field, int bits, int64_t number);
// Encodes into chip->command_bytes bytes. A value out of its field's range is PB_ERR_UNSUPPORTED with a diagnostic.
pb_status pb_encode(const pb_chip* chip, const pb_command* command, uint8_t* bytes, pb_diag* diag) PB_MUST_CHECK;
// Sets the bits of what an encoded command waits for and signals; none was set before.
void pb_encode_tokens(const pb_chip* chip, uint32_t waits, uint32_t signals, uint64_t counts, uint8_t* bytes);
// Decodes; PB_ERR_INPUT with a diagnostic when no instruction has these bits, or a dim that is not in state is out of
// its range.
pb_status pb_decode(const pb_chip* chip, const uint8_t* bytes, pb_command* command, pb_diag* diag) PB_MUST_CHECK;
// Commands of their own, in the order in which they stand, that have a command of the queue wait for semaphores, or
// behind it signal some. Returns how many; `made` has room for PB_MAX_SEMAPHORES.
int pb_semaphore_commands(const pb_chip* chip, int queue, const pb_command* of, bool behind, pb_command* made);
// The command of the queue that waits for a semaphore, or signals one; NULL: it has none.
const pb_insn* pb_semaphore_insn(const pb_chip* chip, int queue, bool signals);
// A command that waits for these queues. It has `waits` alone.
pb_command pb_fence(const pb_chip* chip, uint32_t queues);
// Whether the bytes are a hardware loop's command.
bool pb_is_loop(const pb_chip* chip, const uint8_t* bytes);
// A command in the next iteration of a hardware loop: adds the step.
void pb_command_step(const pb_chip* chip, uint8_t* bytes, const uint8_t* step);
// What state says before it is written: its bits are 0. `state`: a row of 32 numbers for each instruction of the chip.
void pb_state_clear(const pb_chip* chip, int64_t (*state)[32]);
// What the command writes: its own state, or another instruction's.
void pb_state_write(int64_t (*state)[32], const pb_command* command);
// Gives the command's fields that stand in state their numbers, then keeps what the command itself writes. Commands
// come in the order of their queue.
void pb_state_follow(const pb_chip* chip, int64_t (*state)[32], pb_command* command);
// PB_ERR_INPUT with a diagnostic when a dim of the command that stands in state, which has been followed, is out of its
// range.
pb_status pb_state_extents(const pb_command* command, pb_diag* diag) PB_MUST_CHECK;
// One line of assembly: `MMA x=a+0[ai=4,aj=1] ... ; waits L0 signals VX`. Returns arena text.
char* pb_disassemble(const pb_chip* chip, const pb_command* command, pb_arena* arena);
// How far the command goes along each dim of its instruction: as its field says, or as the dim always does.
void pb_command_extents(const pb_command* command, int64_t extents[PB_MAX_INSN_DIMS]);
// What Semantics call the operation, if it gives this type; NULL: they have none such.
const char* pb_semantics_name(pb_op op, pb_type gives);
// Cycles that the command keeps its queue busy, by the description.
int64_t pb_cycles(const pb_insn* insn, const int64_t* dim_extents);
// Those of one that goes as far as it can along each dim.
int64_t pb_cycles_at_most(const pb_insn* insn);
// Multiply-accumulates that the chip's best instruction for sums of products does in a cycle, at its largest, on all
// cores; 0: none.
uint64_t pb_chip_peak_macs(const pb_chip* chip);
// Argument k of a core instruction's Shape.
int64_t pb_shape(const pb_insn* insn, int k, const int64_t* dim_extents);

#endif

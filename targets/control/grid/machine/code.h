// Code as the machine runs it: registers are rows of one value a lane in a warp's file, and every operand, an immediate
// too, is the offset of a row.
#ifndef PB_GRID_MACHINE_CODE_H
#define PB_GRID_MACHINE_CODE_H

#include "core/base/arena.h"
#include "targets/control/grid/machine/state.h"

// One operation on all 32 lanes; `d` may be any of the sources. Predicates are a uint32_t with a bit for each lane.
typedef void (*grid_lanes)(void* d, const void* a, const void* b, const void* c);

// A row of lanes.def: what an instruction of PTX does to one lane.
typedef struct grid_lane_row {
  const char* key;     // the instruction without what the decoder takes off: rounding, guard, .ftz where generic
  const char* section; // of the PTX ISA
  grid_lanes lanes;
  uint8_t size[4]; // bytes of d, a, b, c; 0: no such operand or a predicate
  bool predicate;  // d is one
} grid_lane_row;
const grid_lane_row* grid__lane_row(const char* key); // NULL: no such row
const grid_lane_row* grid__lane_rows(size_t* count);

typedef enum grid_op {
  GRID_OP_LANES,
  GRID_OP_PREDICATE, // lanes that make a predicate
  GRID_OP_LOGIC,     // of predicates
  GRID_OP_CONVERT,   // of formats, by number.h
  GRID_OP_LUT,       // lop3
  GRID_OP_BRANCH,
  GRID_OP_SWITCH, // brx.idx
  GRID_OP_EXIT,
  GRID_OP_TRAP,
  GRID_OP_LOAD,
  GRID_OP_STORE,
  GRID_OP_ATOMIC,
  GRID_OP_BARRIER,
  GRID_OP_WARP_SYNC,
  GRID_OP_FENCE,
  GRID_OP_SHUFFLE,
  GRID_OP_VOTE,
  GRID_OP_MATCH,
  GRID_OP_REDUX,
  GRID_OP_ACTIVE,
  GRID_OP_CLOCK,
  GRID_OP_MMA,
  GRID_OP_LDMATRIX,
  GRID_OP_STMATRIX,
  GRID_OP_MOVMATRIX,
  GRID_OP_ASYNC_COPY,
  GRID_OP_ASYNC_COMMIT,
  GRID_OP_ASYNC_WAIT,
  GRID_OP_NOTHING
} grid_op;

typedef enum grid_class {
  GRID_CLASS_NONE, // the second half of an instruction: not counted
  GRID_CLASS_FMA,
  GRID_CLASS_FLOAT,
  GRID_CLASS_INTEGER,
  GRID_CLASS_MOVE,
  GRID_CLASS_CONTROL,
  GRID_CLASS_MEMORY,
  GRID_CLASS_MATRIX,
  GRID_CLASS_BARRIER,
  GRID_CLASSES
} grid_class;

#define GRID_NONE UINT32_MAX

typedef struct grid_insn {
  uint8_t op, class;
  uint8_t size;         // bytes of a lane of d
  uint8_t round;        // grid_round; 0: to nearest
  uint8_t bytes, count; // of memory: an element's, of elements
  uint8_t space, mode;  // grid_space; what the operation says beside it
  bool negate;          // the guard
  bool extend;          // loads: sign extension; atomics: acquire
  bool release;         // atomics
  bool flag;
  uint32_t guard;      // offset of a predicate; GRID_NONE: none
  uint32_t d, a, b, c; // offsets of rows
  uint32_t line, loc;  // of the text; of its source, an index into locs
  uint32_t target;
  int64_t offset; // of an address; an immediate
  grid_lanes lanes;
  const uint32_t* list; // more operands
} grid_insn;

typedef enum grid_strength {
  GRID_WEAK,
  GRID_RELAXED,
  GRID_ACQUIRE,
  GRID_RELEASE
} grid_strength;                                                                  // mode of loads, stores
enum { GRID_BARRIER_ARRIVE = 1, GRID_BARRIER_ALIGNED = 2, GRID_BARRIER_RED = 4 }; // mode of barriers
typedef enum grid_round { GRID_NEAREST, GRID_ZERO, GRID_DOWN, GRID_UP, GRID_AWAY } grid_round;

typedef enum grid_special {
  GRID_TID_X,
  GRID_TID_Y,
  GRID_TID_Z,
  GRID_NTID_X,
  GRID_NTID_Y,
  GRID_NTID_Z,
  GRID_CTAID_X,
  GRID_CTAID_Y,
  GRID_CTAID_Z,
  GRID_NCTAID_X,
  GRID_NCTAID_Y,
  GRID_NCTAID_Z,
  GRID_LANEID,
  GRID_WARPID,
  GRID_NWARPID,
  GRID_SMID,
  GRID_NSMID,
  GRID_GRIDID,
  GRID_LANEMASK_EQ,
  GRID_LANEMASK_LT,
  GRID_LANEMASK_LE,
  GRID_LANEMASK_GT,
  GRID_LANEMASK_GE,
  GRID_DYNAMIC_SHARED,
  GRID_TOTAL_SHARED,
  GRID_PARAM, // 8 bytes of the parameters, from `value` on
} grid_special;

typedef struct grid_fill { // a row with what is known before the code runs
  uint32_t offset;
  uint8_t size, special; // special: grid_special + 1; 0: `value` in all lanes
  uint64_t value;
} grid_fill;

typedef struct grid_loc {
  uint32_t file, line;
} grid_loc;

typedef struct grid_param {
  uint32_t offset, bytes;
  struct grid_param* next;
} grid_param;

typedef struct grid_kernel {
  const char* name;
  grid_insn* code;
  size_t count, capacity;
  uint32_t file_bytes; // of a warp's registers
  grid_fill* fills;
  size_t fill_count, fill_capacity;
  uint32_t shared_bytes, local_bytes, param_bytes;
  uint32_t param_count; // of 8 bytes
  grid_param* params;
  uint32_t threads[3]; // .reqntid; 0: any
  uint32_t most_threads;
  uint32_t shift;         // log2 of the narrowest access to memory
  struct gcn_kernel* gcn; // of AMD's code; NULL: of PTX
} grid_kernel;

// check/clock.c: how fast a chip is, by the name of its processor; of one that it does not know as the oldest.
typedef struct grid_rates grid_rates;
const grid_rates* grid__rates(const char* processor);

typedef struct grid_module {
  pb_arena arena;
  const char** files; // by number of .file
  size_t file_count;
  grid_loc* locs;
  size_t loc_count, loc_capacity;
  grid_kernel** kernels;
  size_t kernel_count, kernel_capacity;
  struct gcn_text* gcn;    // of AMD's code objects
  const grid_rates* rates; // of the processor that the code is for
} grid_module;

// ptx/: reads the text into kernels; a fault of the device names the line.
int grid__ptx_load(pb_device* device, grid_module* module, const char* text, size_t bytes);
// gcn/: the same of AMD's code objects.
int grid__gcn_load(pb_device* device, grid_module* module, const void* code, uint64_t bytes);
void gcn__free(grid_module* module);
void grid__module_free(grid_module* module);

#endif

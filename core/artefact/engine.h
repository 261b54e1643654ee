// The engine file (.pbe) in memory: what the compiler's last stage fills and what the runtime reads. No MLIR here.
#ifndef PB_ARTEFACT_ENGINE_H
#define PB_ARTEFACT_ENGINE_H

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/expr.h"
#include "core/base/size.h"
#include "core/base/symbols.h"

#include <stdbool.h>
#include <stdint.h>

// Version 3 is for what version 2 has no words for: open dims, steps that are no launches, tensors kept on the chip;
// version 4 for kernels of grids.
enum {
  PB_MAX_RANK = 8,
  PB_ENGINE_VERSION = 2,
  PB_ENGINE_HOST_VERSION = 3,
  PB_ENGINE_GRID_VERSION = 4,
  PB_ENGINE_ALIGN = 64
};
enum {
  PB_ENGINE_MAX_QUEUES = 65535,
  PB_ENGINE_MAX_COMMAND = 64,
  PB_ENGINE_MAX_ARGS = 64,
  PB_ENGINE_MAX_DEVICE_ARGS = 16,
  PB_ENGINE_MAX_KEPT = 16,
  PB_ENGINE_MAX_THREADS = 1024, // of a block
  PB_ENGINE_MAX_MODULES = 64,
  PB_ENGINE_CODE_FORMS = 3, // of a module: pb_device_code
  PB_ENGINE_MAX_APART = 4   // memories of scope "constants"
};

// An input or output of the engine. Row-major, dense. Codes of type u8 the runtime gives to kernels, and takes from
// them, as i8, 128 less.
typedef struct pb_tensor_info {
  const char* name;
  pb_type type;
  int rank;
  int64_t shape[PB_MAX_RANK];
  bool is_complex; // of f32 or f64: the last dim, of 2, is their parts
  int64_t most;    // of PB_W64: the magnitude of numbers that the program is made for; 0: any
} pb_tensor_info;

// Where a kernel's argument lies. CONST and ARENA: a byte offset in that blob; INPUT and OUTPUT: an index. Of a program
// with open dims ARENA is one of its buffers, SIZES one of its blocks. CONST_APART and those behind it: the same as
// CONST, of a constant that lies in one of the chip's memories of scope "constants", in the order of their names.
// Those stand behind all others in the blob, memory by memory.
typedef enum pb_space {
  PB_SPACE_INPUT,
  PB_SPACE_OUTPUT,
  PB_SPACE_CONST,
  PB_SPACE_ARENA,
  PB_SPACE_SIZES,
  PB_SPACE_CONST_APART,
  PB_SPACE_CONST_LAST = PB_SPACE_CONST_APART + PB_ENGINE_MAX_APART - 1
} pb_space;
typedef struct pb_arg {
  pb_space space;
  uint64_t value;
} pb_arg;
// The number of the memory of constants that it lies in; -1: it lies in none.
static inline int pb_apart_memory(const pb_arg* arg) {
  int number = (int)arg->space - PB_SPACE_CONST_APART;
  return number >= 0 && number < PB_ENGINE_MAX_APART ? number : -1;
}
static inline bool pb_is_constant(const pb_arg* arg) {
  return arg->space == PB_SPACE_CONST || pb_apart_memory(arg) >= 0;
}

// A kernel for a chip controlled by queues: each queue's commands, encoded; DRAM addresses are slot + offset.
typedef struct pb_words_kernel {
  int queue_count;
  uint32_t* count;   // commands of each queue
  uint8_t** streams; // count[q] * command_bytes bytes
} pb_words_kernel;

// A kernel for a chip controlled by a grid: an entry of one of the engine's modules, and how it is launched. Its
// parameters are the step's arguments; with `memory`, bytes that the launch has to itself while it runs, one more is
// their address.
typedef struct pb_grid_kernel {
  int module;
  uint32_t blocks, threads; // one after the other, of one dim
  uint64_t memory;
} pb_grid_kernel;

// The code of some of them, in a form that a device loads (pb_device_code of pb/device.h). A module may stand there in
// several, text and what an assembler made of it.
typedef struct pb_grid_code {
  int module, form;
  uint64_t bytes;
  uint8_t* data;
} pb_grid_code;

typedef struct pb_kernel {
  const char* name;
  bool is_words, is_grid;
  pb_words_kernel words; // is_words
  pb_grid_kernel grid;   // is_grid
  const char* symbol;    // is_grid: the entry's name; of neither: void symbol(void** args, int64_t thread, int64_t
                         // threads) in the native object
  bool alone;            // native: more threads than one would not pay
  // for reports
  uint64_t predicted_cycles; // the plan's
  // "MX", "DRAM", ...: what the plan says bounds it; of native code in an engine for a chip with commands: its target
  const char* bound;
} pb_kernel;

// One step of the host program. Each goes on to the next one but where it jumps; behind the last one the run ends. What
// steps of a program with open dims move (`bytes`, and all numbers of `rows`) are numbers of sizes.
typedef enum pb_host_op {
  PB_HOST_LAUNCH,  // the kernel
  PB_HOST_MOVE,    // `bytes` of args[1] become those of args[0]
  PB_HOST_JUMP,    // to `target`; to an earlier step only around an UNLESS that leaves the steps between
  PB_HOST_UNLESS,  // jump on to `target` unless args[0]'s byte is another than 0
  PB_HOST_PLACE,   // `bytes` at a time, args[1] goes to args[0] at args[2]'s number of rows
  PB_HOST_EXTENTS, // args[0]'s numbers become the symbols of source `target`; what hangs on them is computed then
  PB_HOST_TAKE     // `bytes` of args[1] for each of args[2]'s numbers, one behind the other in args[0]
} pb_host_op;
// Of PLACE: `count` pieces, one behind the other in args[1], and `stride` bytes apart in args[0], each `unit` bytes
// times the index further on, which is kept from 0 to `most`.
typedef struct pb_rows {
  uint64_t count, stride, unit, most;
  pb_type index; // PB_I32 or PB_I64. Of TAKE there are `count` of them, each of a row `unit` bytes long: below 0 it is
                 // counted from the end, and kept from 0 to `most`
} pb_rows;
// Bytes of one of the chip's own memories, by its number in the description, that kernels before have filled, and that
// the step's kernel or one behind it takes: what it does not use of them it leaves as it is.
typedef struct pb_kept {
  int memory;
  uint64_t address, bytes;
} pb_kept;
typedef struct pb_step {
  pb_host_op op;
  int kernel, target; // -1: it has none
  uint64_t bytes;
  pb_rows rows;
  const char* origin; // ops of the model, for reports and faults
  uint64_t macs;      // the model's multiply-accumulates, padding not counted
  int arg_count;
  pb_arg args[PB_ENGINE_MAX_ARGS];
  int like;       // the step of a loop's turn that it does again, from 1 on; 0: none. Not kept in files
  int kept_count; // of LAUNCH
  pb_kept* kept;
} pb_step;

// What a program with open dims computes once the shapes of its inputs are known, before it is launched. A size is a
// number of a node of `sizes`.
typedef struct pb_open_check { // a <= b, or a == b
  bool equal;
  int a, b;
  const char* text; // what is so: "node 'conv1' reads past its input"
} pb_open_check;
typedef struct pb_open_block { // numbers that kernels take as an argument: extents, strides, contents of small tensors
  pb_type type;                // PB_I8, PB_I32 or PB_I64; they are kept in range by dropping bits
  int count;
  int* sizes;
} pb_open_block;
typedef struct pb_open_buffer { // of the arena: bytes, and the first and last step that needs it
  int bytes, first, last;
} pb_open_buffer;
typedef struct pb_open_source {         // of EXTENTS: i64, and one more behind them that is 0 if they can be
  int count, symbol[PB_SOURCE_EXTENTS]; // -1: it is not kept
} pb_open_source;
typedef struct pb_open {
  int symbol_count, size_count, check_count, block_count, buffer_count, source_count;
  const char** symbols; // names of open dims; each is a dim of an input, or what a source says
  pb_size* sizes;
  int (*inputs)[PB_MAX_RANK], (*outputs)[PB_MAX_RANK]; // the sizes of their dims
  pb_open_check* checks;
  pb_open_block* blocks;
  pb_open_buffer* buffers;
  pb_open_source* sources; // in the order of their steps
} pb_open;

// When sizes, and what is made of them, are known: 0 when shapes are chosen, k + 1 when source k has been read.
typedef struct pb_open_stages {
  int *sizes, *checks, *blocks, *buffers, *outputs;
} pb_open_stages;

typedef struct pb_engine {
  const char* target; // NAME or NAME:VARIANT
  uint8_t chip_hash[32];
  int chip_revision;
  int command_bytes;    // of one command in the streams; 0 when no kernel is made of words
  const char* features; // CPU features that native code needs, comma-separated; "" for words
  int input_count, output_count, kernel_count, step_count;
  pb_tensor_info *inputs, *outputs;
  pb_kernel* kernels;
  pb_step* steps;
  uint8_t* consts; // const_bytes, each constant aligned to PB_ENGINE_ALIGN
  uint64_t const_bytes;
  uint64_t arena_bytes;
  uint8_t* native; // a shared object (ELF), or NULL
  uint64_t native_bytes;
  const char* processor; // whose code those of grids are, by LLVM's name; NULL: there are none
  int module_count, grid_code_count;
  pb_grid_code* grid_codes; // module by module
  char* description;        // the chip's after tblgen (JSON), so that machine and disassembler need no files
  int* aliases;             // by output: the input that it is made of in place, -1; NULL: none is
  pb_open* open; // NULL: all extents are numbers. Else tensors have -1 where a dim is open, and arena_bytes is 0
  // The same model for other extents: tensors of the same names, types and ranks, and the constants of the first one,
  // at whose offsets its steps name them. NULL: none. They are freed with the first.
  struct pb_engine* next;
  bool shares;   // not the first
  void* mapping; // when read from a file
  uint64_t mapping_bytes;
  pb_arena arena;
} pb_engine;

void pb_open_find_stages(const pb_engine* engine, pb_arena* arena, pb_open_stages* stages);
// Where in `consts` those begin that lie in the memory of constants of that number, or in one behind it; const_bytes:
// there are none.
uint64_t pb_engine_apart(const pb_engine* engine, int number);
// Bytes of those that lie in that memory.
uint64_t pb_engine_apart_bytes(const pb_engine* engine, int number);
bool pb_engine_has_control(const pb_engine* engine); // steps that are no launches
bool pb_engine_has_grid(const pb_engine* engine);    // kernels of grids
// Writes a file that pb_engine_read takes, the same bytes for the same engine. An engine that breaks the reader's rules
// is refused (PB5010); an existing file is replaced only once the new one is whole.
pb_status pb_engine_write(const pb_engine* engine, const char* path, pb_diag* diag) PB_MUST_CHECK;
// The bytes of such a file, malloc'ed.
pb_status pb_engine_pack(const pb_engine* engine, pb_diag* diag, void** bytes, uint64_t* count) PB_MUST_CHECK;
// Maps and checks the file: sizes, checksums, ranges of every index and offset. The caller frees it. Constants, native
// code, description and streams are used where they are mapped, and must not be written to.
pb_status pb_engine_read(const char* path, pb_diag* diag, pb_engine** engine) PB_MUST_CHECK;
// The same from bytes in memory, of which a copy is kept; `name` is for diagnostics.
pb_status pb_engine_parse(const void* bytes, uint64_t count, const char* name, pb_diag* diag,
                          pb_engine** engine) PB_MUST_CHECK;
void pb_engine_free(pb_engine* engine);
// Makes the constants of all that hang on `next` one: each that has the same bytes as another is there once.
void pb_engine_share(pb_engine* first);

#endif

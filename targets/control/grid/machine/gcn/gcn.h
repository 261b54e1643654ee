// AMD's code objects: instructions by their encodings, run as the ISA manuals have it: of CDNA 3 by waves of 64 lanes,
// which are two halves of 32 to the rest of the machine, of RDNA 3 by waves of 32, which are one half.
#ifndef PB_GRID_MACHINE_GCN_H
#define PB_GRID_MACHINE_GCN_H

#include "targets/control/grid/machine/block.h"
#include "targets/control/grid/machine/lanes/number.h"

static inline uint32_t gcn_bits(uint32_t word, int from, int count) {
  return word >> from & ((UINT32_C(1) << count) - 1);
}
static inline int32_t gcn_signed_bits(uint32_t word, int from, int count) {
  uint32_t v = gcn_bits(word, from, count), sign = UINT32_C(1) << (count - 1);
  return (int32_t)((v ^ sign) - sign);
}

enum {
  GCN_LANES = 64,
  GCN_SGPRS = 128,
  GCN_VGPRS = 512, // 256 and the accumulation registers
  GCN_VCC = 106,
  GCN_M0 = 124,   // RDNA's numbers of these two are exchanged when it is decoded
  GCN_NULL = 125, // 0, and nothing is written there
  GCN_EXEC = 126,
  GCN_LITERAL = 255,
  GCN_V0 = 256, // the first vector register as a source
  GCN_NO_SADDR = 0x7f,
  GCN_MAX_ARGS = 128
};

typedef enum gcn_encoding {
  GCN_SOP2,
  GCN_SOPK,
  GCN_SOP1,
  GCN_SOPC,
  GCN_SOPP,
  GCN_SMEM,
  GCN_VOP2,
  GCN_VOP1,
  GCN_VOPC,
  GCN_VOP3,
  GCN_VOP3P,
  GCN_FLAT,
  GCN_GLOBAL,
  GCN_SCRATCH,
  GCN_DS,
  GCN_MUBUF,
  GCN_VOPDX, // the two parts of a pair
  GCN_VOPDY
} gcn_encoding;

typedef struct gcn_wave gcn_wave;
typedef struct gcn_insn gcn_insn;
typedef int (*gcn_run)(gcn_wave* w, const gcn_insn* i);

struct gcn_insn {
  gcn_run run;
  const grid_lane_row* row;   // of vector arithmetic
  const char *name, *unknown; // unknown: why
  const char* shown;          // its name, where RDNA has another for what `name` does
  grid_insn site;             // for faults: `line` is the offset in the code
  uint8_t encoding, words, class;
  uint16_t d, d2, s[3]; // registers and constants by number
  uint8_t neg, abs, omod, op_sel, op_sel_hi, neg_hi;
  bool clamp, reversed, three; // three: in the encoding of three sources, whatever the instruction
  uint8_t dwords, bytes;       // of memory
  bool extend, high, store, strong;
  uint32_t literal, imm;
  int32_t offset;
  uint32_t target; // index of an instruction
  uint8_t sdwa;    // source 0 is a part of a register: 1 + select, 8: with its sign
  uint8_t sdwa1;
  uint8_t sdwa_to; // the result goes to a part: 1 + select, 8 times what becomes of the rest: 0, the sign, or as it was
  bool dpp;
  uint16_t dpp_control;
  uint8_t dpp_masks;
  bool dpp_zero, dpp_all; // all: lanes that take no part are read, too
  bool keeps;             // a result of 16 bits leaves the other half of its register as it is
  gcn_insn* second;       // of a pair
};

typedef struct gcn_arg {
  uint32_t offset, size;
  uint8_t kind; // gcn_hidden; 0: the launch's next argument
} gcn_arg;
enum gcn_hidden {
  GCN_EXPLICIT,
  GCN_BLOCKS_X,
  GCN_BLOCKS_Y,
  GCN_BLOCKS_Z,
  GCN_GROUP_X,
  GCN_GROUP_Y,
  GCN_GROUP_Z,
  GCN_GRID_DIMS,
  GCN_ZERO
};

// All code of an object, which kernels share. What the machine does not know is an instruction that says so when it
// runs; a kernel that holds one is not loaded.
typedef struct gcn_text {
  gcn_insn* code;
  size_t count, capacity;
  uint32_t* index;      // of the instruction that begins at a word; UINT32_MAX: none does
  uint64_t base, words; // offset in the image
  uint64_t address;     // of the base, in device memory
  bool is_rdna;         // waves of 32
} gcn_text;

typedef struct gcn_kernel {
  grid_kernel plain; // name, shared_bytes, local_bytes, shift
  const gcn_text* text;
  uint64_t entry;                 // byte offset in the image
  uint32_t start;                 // its first instruction
  uint32_t kernarg_bytes, packet; // packet: where behind them the dispatch packet lies
  uint32_t rsrc2;
  uint16_t properties;
  gcn_arg args[GCN_MAX_ARGS];
  uint32_t arg_count;
  grid_memory* kernarg;
  grid_memory* image;
} gcn_kernel;

struct gcn_wave {
  grid_block* block;
  const gcn_kernel* kernel;
  uint32_t index; // of the wave; its halves are warps 2 index and 2 index + 1
  uint32_t pc;
  uint32_t s[GCN_SGPRS + 2];
  uint32_t* v; // GCN_VGPRS rows of 64 lanes
  bool scc, done, at_barrier;
  // Loads that have not been waited for: by register, the number of the operation; and how many have been.
  uint32_t v_pending[GCN_VGPRS], v_issued, v_done;     // vmcnt
  uint32_t l_pending[GCN_VGPRS], l_issued, l_done;     // lgkmcnt, of LDS
  uint32_t s_pending[GCN_SGPRS + 2], s_issued, s_done; // lgkmcnt, of scalar loads
  uint32_t v_stored, l_stored;                         // the last stores among them
  uint32_t t_issued, t_done;                           // vscnt: stores of RDNA
  uint32_t upper;  // which bits of a mask's second register count: all, of 64 lanes, or none
  uint32_t halves; // 2 or 1: warps of the block
};

static inline uint64_t gcn_mask_at(const gcn_wave* w, uint32_t s) {
  return (uint64_t)(w->s[s + 1] & w->upper) << 32 | w->s[s];
}
static inline uint64_t gcn_exec(const gcn_wave* w) { return gcn_mask_at(w, GCN_EXEC); }
static inline uint64_t gcn_vcc(const gcn_wave* w) { return gcn_mask_at(w, GCN_VCC); }
// A mask of lanes goes to as many registers as the wave has halves.
static inline void gcn_put_mask(gcn_wave* w, uint32_t to, uint64_t mask) {
  if (to == GCN_NULL) return;
  w->s[to] = (uint32_t)mask;
  w->s_pending[to] = 0;
  if (!w->upper) return;
  w->s[to + 1] = (uint32_t)(mask >> 32);
  w->s_pending[to + 1] = 0;
}
static inline uint32_t* gcn_row(gcn_wave* w, uint32_t v, int half) { return w->v + (size_t)v * GCN_LANES + 32 * half; }

int gcn__stop(gcn_wave* w, const gcn_insn* i, int lane, int code, const char* format, ...)
    __attribute__((format(printf, 5, 6)));

// decode.c: false: no memory; the text says which ISA it is of. Where `bytes` from `from` on hold something unknown,
// gcn__all_known is a fault of the device.
bool gcn__decode(gcn_text* text, const uint8_t* code);
int gcn__all_known(pb_device* device, const gcn_text* text, const char* name, uint64_t from, uint64_t bytes);
// Each finds the meaning of an instruction by its name; false: it has none.
bool gcn__scalar(gcn_insn* i);
bool gcn__vector(gcn_insn* i);
bool gcn__memory(gcn_insn* i);
// What of the encodings both ISAs have: the instruction's number goes to `op`.
void gcn__decode_scalar(gcn_insn* i, uint32_t word, uint32_t* op);
void gcn__decode_vector(gcn_insn* i, const uint32_t* w, uint32_t* op);
void gcn__decode_vector3(gcn_insn* i, const uint32_t* w, uint32_t* op, uint32_t first_unary);
void gcn__decode_dpp(gcn_insn* i, uint32_t word);
// A row of opcodes.def.
typedef struct gcn_opcode {
  gcn_encoding encoding;
  uint16_t number;
  const char* name;
} gcn_opcode;
// What the table calls the opcode; NULL: it has none such.
const char* gcn__name_of(const gcn_opcode* table, size_t count, gcn_encoding encoding, uint32_t number);
bool gcn__has_literal(const gcn_insn* i);
// rdna/decode.c: what is wrong, or NULL.
const char* gcn__decode_rdna(gcn_insn* i, const uint32_t* w, size_t left, uint32_t at);
// vector.c
int gcn__read_scalar(gcn_wave* w, const gcn_insn* i, uint32_t source, int dwords, uint64_t* value);
int gcn__ready(gcn_wave* w, const gcn_insn* i, uint32_t first,
               int count); // vector registers that loads are pending for

#endif

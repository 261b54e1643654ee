// Inside the judge: a description as the judge reads it.
#ifndef PB_CONFORMANCE_JUDGE_READ_H
#define PB_CONFORMANCE_JUDGE_READ_H

#include "judge.h"

enum { JUDGE_BITS = 256, JUDGE_NODES = 96, JUDGE_BANKS = 64, JUDGE_MEMORIES = 16 };

typedef enum judge_op {
  JUDGE_LOAD,
  JUDGE_IMMEDIATE,
  JUDGE_NUMBER,
  JUDGE_ADD,
  JUDGE_SUB,
  JUDGE_MUL,
  JUDGE_DIV,
  JUDGE_MAX,
  JUDGE_MIN,
  JUDGE_AND,
  JUDGE_OR,
  JUDGE_XOR,
  JUDGE_SHL,
  JUDGE_SHR,
  JUDGE_SHRU,
  JUDGE_SHRR, // to the nearest: halves up
  JUDGE_SHRA, // halves away from 0
  JUDGE_SAT8,
  JUDGE_SAT16,
  JUDGE_TRUNC16,
  JUDGE_TRUNC32,
  JUDGE_SEXT64,
  JUDGE_ZEXT64,
  JUDGE_EQUAL,
  JUDGE_SEXT,
  JUDGE_ZEXT,
  JUDGE_SITOFP,
  JUDGE_TRUNC4,
  JUDGE_TRUNC8,
  JUDGE_SQRT,
  JUDGE_LOOKUP,
  JUDGE_GATHER,      // of rows
  JUDGE_TWO_OF_FOUR, // operand: the dim along which
  JUDGE_FPTOSI8,
  JUDGE_FPTOUI8,
  JUDGE_FPTOSI32,
  JUDGE_LESS,
  JUDGE_SELECT,
  JUDGE_ROUNDEVEN,
  JUDGE_FLOOR,
  JUDGE_CEIL,
  JUDGE_WHOLE,
  JUDGE_EXP2,
  JUDGE_RECIP,
  JUDGE_RSQRT,
  JUDGE_EXTF,
  JUDGE_TRUNCF,
  JUDGE_BITCAST,
  JUDGE_MAXIMUM, // NaN wins
  JUDGE_MINIMUM,
  JUDGE_NEG,
  JUDGE_ABS,
  JUDGE_LESS_EQUAL,
  JUDGE_LESSU,
  JUDGE_ZEXT8
} judge_op;

typedef struct judge_type {
  int bits;
  bool is_float;
  bool is_brain; // of a float of 16 bits: bf16, else IEEE's binary16
  bool is_e4m3;  // of one of 8 bits: OCP's E4M3, else its E5M2
} judge_type;

typedef union judge_value {
  int32_t i;
  uint32_t u;
  float f;
  int64_t w; // of a type of 64 bits
} judge_value;

typedef struct judge_node {
  judge_op op;
  judge_type type;
  int args[3], operand;
  judge_value number;
} judge_node;

typedef struct judge_field_record {
  char name[64];
  int width;
  bool is_signed;
  enum { JUDGE_PLAIN, JUDGE_MINUS, JUDGE_SCALED, JUDGE_LOG2 } form; // what its bits hold
  int64_t by;
  int16_t bit[64];              // of the command; -1: none
  int writer, writer_field, of; // of: of one that writes another's state, the field there; -1
  char writer_name[64], writer_field_name[64];
} judge_field_record;

typedef enum judge_step { JUDGE_BY_FIELD, JUDGE_BY_ELEMENT, JUDGE_BY_ROW, JUDGE_BY_NUMBER, JUDGE_BY_NONE } judge_step;

typedef struct judge_operand {
  char name[64];
  bool is_window, table;
  judge_type type;
  int memory, rank, base, slot, fill, take; // take: the flag that takes a bank; -1: none
  int64_t unit;
  int dims[JUDGE_DIMS], strides[JUDGE_DIMS], box_lo[JUDGE_DIMS], box_hi[JUDGE_DIMS];
  judge_step steps[JUDGE_DIMS];
  int64_t units[JUDGE_DIMS]; // of a stride by number
} judge_operand;

typedef struct judge_insn_record {
  char name[64];
  uint8_t fixed[JUDGE_BITS / 8], mask[JUDGE_BITS / 8];
  int field_count, dim_count, operand_count, node_count;
  judge_field_record fields[JUDGE_FIELDS];
  struct {
    char name[64];
    int min, max, field;
    bool table;
  } dims[JUDGE_DIMS];
  judge_operand operands[JUDGE_OPERANDS];
  int dest, flag; // operand; the flag's, -1: none
  int state_of;   // whose state it writes; -1: its own
  char state_of_name[64];
  enum { JUDGE_SET, JUDGE_ACC_ADD, JUDGE_ACC_MAX, JUDGE_ACC_MAXU, JUDGE_ACC_MAXIMUM } how;
  judge_node nodes[JUDGE_NODES]; // the last one is the value
} judge_insn_record;

struct judge {
  int command_bytes, memory_count, system, insn_count, queue_count, wait_bit, signal_bit;
  struct {
    char name[64];
    int64_t bytes, row_bytes;
    bool outside;                                // windows on it have an argument
    int banks;                                   // that are taken in turn; 0: windows have bases
    int64_t filled, taken, filling[JUDGE_BANKS]; // filling: which one of all lies in each bank
  } memories[JUDGE_MEMORIES];
  judge_insn_record* insns;
  // Fields of commands of their own for semaphores, which then say what others have bits for; "": there are none.
  char wait_field[64], count_field[64], signal_field[64];
  int counters, count_bits; // that bits of tokens are of: queues or semaphores; bits of how many of one are waited for
  bool has_fence;           // then commands have no bits of tokens
  judge_insn_record fence;
  int fence_wait; // its field; -1: it waits for all queues
  struct {
    char name[16];
    int table_bits, degree;
  } functions[4];
  int function_count;
  judge_space spaces[JUDGE_SPACES];
  int64_t (*state)[JUDGE_FIELDS];
};

// The number that the bits of a field mean.
int64_t judge__number(const judge_field_record* field, int64_t bits);
bool judge__read_description(judge* j, const char* json, char* why);

#endif

// Chips whose cores compute in vector registers: the facts that layout, plan and vectorise read off the description.
#ifndef PB_S3_VECTOR_H
#define PB_S3_VECTOR_H

#include "core/s3/program.h"
#include "core/s3/roles.h"
#include "core/s3/s3.h"

typedef struct pb_vector_facts {
  int memory;        // the register file, -1: the chip has none
  int64_t row_bytes; // of a register
  int registers;
  int64_t cache[3]; // bytes of the caches of a core or thread, innermost first; 0: none
  int64_t line;     // bytes
} pb_vector_facts;

pb_vector_facts pb_vector_facts_of(const pb_chip* chip);

// An instruction of a core that multiplies elements of these types and adds up `group` neighbouring products into each
// lane of the sum.
typedef struct pb_vector_insn {
  const pb_insn* insn; // NULL: none
  int lanes, group;
  int x, w, y;    // operands
  bool flips;     // it takes x without sign, the nest with: x is read with its sign bit flipped
  bool swappable; // x and w are alike
} pb_vector_insn;

// The one for y += x * w with the most products, both factors with sign in the nest.
pb_vector_insn pb_vector_contraction(const pb_chip* chip, pb_type x, pb_type w, pb_type y);

#endif

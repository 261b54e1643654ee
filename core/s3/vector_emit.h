// Inside `vectorise`: the text of one register tile.
#ifndef PB_S3_VECTOR_EMIT_H
#define PB_S3_VECTOR_EMIT_H

#include "core/s3/vector_plan.h"

typedef struct pb_vload {
  const pb_vaccess* access;
  int64_t displacement;
  int width; // 1: one element for all lanes
  int name;
} pb_vload;

typedef struct pb_vemit {
  const pb_vkernel* k;
  const pb_vplan* plan;
  const pb_chip* chip;
  pb_arena* arena;
  pb_text* text;
  pb_text constants; // at the head of the function
  int serial;
  int64_t size[PB_NEST_DIMS];    // of this tile, in steps
  int start[PB_NEST_DIMS];       // %s<d>_<start> is where it begins
  int short_lanes[PB_NEST_DIMS]; // its last vector has so many lanes, 0: all
  pb_vload* loads;               // made already in this stretch of code
  size_t load_count, load_capacity;
} pb_vemit;

void pb_vemit_tile(pb_vemit* e, int indent);
// The instruction as a function of whole registers: `func.func private @NAME`.
void pb_vemit_instruction(pb_text* text, const pb_chip* chip, const pb_insn* insn);

#endif

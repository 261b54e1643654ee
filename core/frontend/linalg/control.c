// scf: what StableHLO's branches and loops are, which turn and choose (core/frontend/stablehlo/control.c).
#include "core/frontend/linalg/rows.h"

#include <string.h>

// What a loop hands on from turn to turn has something in all of its elements.
static void fill_empty(pb_door* d, const pb_flat_op* op, int first) {
  for (int k = first; k < op->operand_count; ++k) pb__l_fill_empty(d, op->operands[k]);
}

static const pb_flat_op* end_of(const pb_flat_block* block) {
  return block->op_count ? &block->ops[block->op_count - 1] : NULL;
}

static pb_status check_ends(pb_door* d, const pb_flat_op* op, int region, const char* end) {
  const pb_flat_op* last = region < op->region_count ? end_of(&op->regions[region]) : NULL;
  return last && !strcmp(last->name, end) ? PB_OK : pb__door_refuse(d, op, "a region that does not end with %s", end);
}

pb_status pb__l_op_if(pb_door* d, const pb_flat_op* op) {
  pb_flat_op same = *op;
  same.name = "stablehlo.if";
  if (!op->result_count) return PB_OK; // nothing in it has an effect
  for (int k = 0; k < 2; ++k) PB_TRY(check_ends(d, op, k, "scf.yield"));
  return pb__door_branch(d, &same);
}

// The condition's region as StableHLO has it: its truth alone is what it returns.
pb_status pb__l_op_while(pb_door* d, const pb_flat_op* op) {
  pb_flat_block regions[2];
  pb_flat_op same = *op;
  PB_TRY(check_ends(d, op, 0, "scf.condition"));
  PB_TRY(check_ends(d, op, 1, "scf.yield"));
  const pb_flat_block* before = &op->regions[0];
  const pb_flat_op* end = end_of(before);
  bool hands_on = end->operand_count == before->argument_count + 1;
  for (int k = 0; hands_on && k < before->argument_count; ++k) hands_on = end->operands[k + 1] == before->arguments[k];
  if (!hands_on) return pb__door_refuse(d, op, "a condition that hands on other values than it was given");
  pb_flat_op* ops = PB_NEW_ARRAY(&d->m.program->arena, pb_flat_op, (size_t)before->op_count);
  memcpy(ops, before->ops, sizeof *ops * (size_t)before->op_count);
  ops[before->op_count - 1].operand_count = 1;
  memcpy(regions, op->regions, sizeof regions);
  regions[0].ops = ops;
  same.regions = regions;
  same.name = "stablehlo.while";
  fill_empty(d, op, 0);
  return pb__door_while(d, &same);
}

pb_status pb__l_op_for(pb_door* d, const pb_flat_op* op) {
  PB_TRY(check_ends(d, op, 0, "scf.yield"));
  for (int k = 0; k < 3; ++k) {
    pb_type type = pb__l_type(d, op->operands[k]);
    if (pb__door_type(d, op->operands[k])->rank || (type != PB_I64 && type != PB_I32))
      return pb__door_refuse(d, op, "bounds of other than index, i64 or i32");
  }
  fill_empty(d, op, 3);
  return pb__door_count(d, op);
}

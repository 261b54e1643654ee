#include "targets/control/queues/alike.h"

#include "targets/control/queues/unroll.h"

#include <string.h>

// The field that operand k of a call sets as a number, -1: it is no number, or more than that. The fill of a box stands
// last (core/s3/lower/instruction.h).
static int field_of(const pb_decoded_op* op, int k) {
  const pb_insn* insn = op->insn;
  if (k < insn->operand_count) return insn->operands[k].memory < 0 ? insn->operands[k].base : -1;
  for (int o = 0; o < insn->operand_count && k == op->operand_count - 1; ++o)
    if (insn->operands[o].memory >= 0 && insn->operands[o].has_box) return insn->operands[o].fill;
  return -1;
}

// Values that are more than immediates: computed, or used to compute, to place or to count.
static void note_others(const pb_decoded* kernel, bool* used) {
  for (size_t n = 0; n < kernel->op_count; ++n) {
    const pb_decoded_op* op = &kernel->ops[n];
    for (int k = 0; k < op->operand_count; ++k)
      if (op->kind != PB_DECODED_CALL || field_of(op, k) < 0) used[op->operands[k]] = true;
    for (int k = 0; k < op->node_count; ++k)
      if (op->nodes[k].kind == PB_AFFINE_INPUT) used[op->nodes[k].a] = true;
    if (op->kind != PB_DECODED_CALL && op->kind != PB_DECODED_END && op->kind != PB_DECODED_IF) used[op->result] = true;
  }
}

static bool same_list(const int* a, const int* b, int count) {
  return !memcmp(a, b, sizeof *a * (size_t)count); // NULL and 0: never asked
}

static bool same_map(const pb_decoded_op* a, const pb_decoded_op* b) {
  if (a->node_count != b->node_count || a->result_count != b->result_count) return false;
  for (int k = 0; k < a->node_count; ++k) {
    const pb_affine_node *x = &a->nodes[k], *y = &b->nodes[k];
    if (x->kind != y->kind || x->a != y->a || x->b != y->b || x->value != y->value) return false;
  }
  return !a->result_count || same_list(a->results, b->results, a->result_count);
}

static bool same_op(const pb_decoded_op* a, const pb_decoded_op* b) {
  if (a->kind != b->kind || a->result != b->result || a->extent != b->extent || a->parts != b->parts ||
      a->weight != b->weight || a->first != b->first || a->iterations != b->iterations || a->other != b->other ||
      a->rank != b->rank || a->insn != b->insn || a->operand_count != b->operand_count || !same_map(a, b))
    return false;
  return !a->operand_count || same_list(a->operands, b->operands, a->operand_count);
}

static bool same_value(const pb_unrolled_value* a, const pb_unrolled_value* b, bool number) {
  return (!number || a->number == b->number) && a->is_float == b->is_float && a->memory == b->memory &&
         a->argument == b->argument && a->base == b->base && a->element == b->element && a->rank == b->rank;
}

bool pb_decoded_alike(const pb_decoded* a, const pb_decoded* b) {
  if (a->op_count != b->op_count || a->value_count != b->value_count || a->argument_count != b->argument_count ||
      a->cores != b->cores)
    return false;
  for (size_t n = 0; n < a->op_count; ++n)
    if (!same_op(&a->ops[n], &b->ops[n])) return false;
  pb_arena scratch = {0};
  bool *used = PB_NEW_ARRAY(&scratch, bool, a->value_count + 1), alike = true;
  note_others(a, used);
  for (size_t v = 0; v < a->value_count && alike; ++v) alike = same_value(&a->values[v], &b->values[v], used[v]);
  pb_arena_free(&scratch);
  return alike;
}

// ---- what changes ----

// Whether anything but the call's numbers sets the field, or another number does.
static bool is_shared(const pb_decoded_op* op, int field) {
  const pb_insn* insn = op->insn;
  int numbers = 0;
  for (int k = 0; k < op->operand_count; ++k) numbers += field_of(op, k) == field;
  bool shared = numbers > 1;
  for (int d = 0; d < insn->dim_count; ++d) shared |= insn->dims[d].field == field;
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* operand = &insn->operands[o];
    if (operand->memory < 0) continue;
    shared |= operand->base == field || operand->slot == field;
    for (int k = 0; k < operand->rank; ++k) {
      shared |= operand->strides[k].kind == PB_STRIDE_FIELD && operand->strides[k].field == field;
      shared |= operand->has_box && (operand->box_lo[k] == field || operand->box_hi[k] == field);
    }
  }
  return shared;
}

// The bits in which the call's commands differ. false: they cannot be told from the numbers.
static bool bits_of(const pb_chip* chip, const pb_decoded_op* op, const pb_decoded* from, const pb_decoded* to,
                    pb_arena* arena, uint8_t** bits) {
  const pb_insn* insn = op->insn;
  const pb_decoded* kernels[2] = {from, to};
  uint8_t words[2][PB_COMMAND_BITS / 8];
  bool differs = false;
  for (int k = 0; k < op->operand_count; ++k) {
    int field = field_of(op, k);
    if (field < 0 || from->values[op->operands[k]].number == to->values[op->operands[k]].number) continue;
    if (is_shared(op, field)) return false;
    differs = true;
  }
  if (!differs) return true;
  for (int side = 0; side < 2; ++side) {
    pb_command command = pb_unroll_blank(insn);
    for (int k = 0; k < op->operand_count; ++k) {
      int field = field_of(op, k);
      if (field < 0 || is_shared(op, field)) continue;
      const pb_unrolled_value* value = &kernels[side]->values[op->operands[k]];
      command.values[field] =
          k < insn->operand_count ? pb_unroll_immediate(insn, k, value) : pb_unroll_fill(insn, field, value);
    }
    pb_diag quiet = {.sink = pb_diag_drop};
    if (pb_encode(chip, &command, words[side], &quiet) != PB_OK) return false;
  }
  *bits = PB_NEW_ARRAY(arena, uint8_t, (size_t)chip->command_bytes);
  for (int b = 0; b < chip->command_bytes; ++b) (*bits)[b] = words[0][b] ^ words[1][b];
  return true;
}

pb_changes pb_changes_between(const pb_chip* chip, const pb_decoded* from, const pb_decoded* to, pb_arena* arena) {
  pb_changes c = {.possible = true, .bits = PB_NEW_ARRAY(arena, uint8_t*, from->op_count + 1)};
  for (size_t n = 0; n < from->op_count && c.possible; ++n)
    if (from->ops[n].kind == PB_DECODED_CALL) c.possible = bits_of(chip, &from->ops[n], from, to, arena, &c.bits[n]);
  return c;
}

#include "core/s3/transfer_paths.h"

#include "core/s3/kernel/contraction_dims.h"

#include "core/s3/small_codes.h"

// A plain copy: sets its destination to what it loads. Returns the operand that it reads, NULL if it is no copy.
static const pb_operand* copy_source(const pb_insn* insn) {
  if (insn->reduce != PB_SET || insn->expr_count != 1 || insn->expr[0].op != PB_OP_LOAD) return NULL;
  return &insn->operands[insn->expr[0].operand];
}

static bool copies(const pb_insn* insn, int from, int to, pb_type type) {
  const pb_operand* source = copy_source(insn);
  if (!source || source->memory != from || insn->operands[insn->dest].memory != to) return false;
  return insn->mover ? pb_type_bits(source->type) == pb_type_bits(type) : source->type == type;
}

bool pb_transfer_copies(const pb_chip* chip, int from, int to, pb_type type) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (copies(&chip->insns[i], from, to, type)) return true;
  return false;
}

int pb_transfer_path(const pb_chip* chip, int from, int to, pb_type type, int* homes, int most) {
  int steps[PB_MAX_MEMORIES] = {0}; // from there to `to`; 0: not known
  if (most > 0 && pb_transfer_copies(chip, from, to, type)) return homes[0] = to, 1;
  for (int far = 1; far <= most && !steps[from]; ++far) // those that are so far
    for (int m = 0; m < chip->memory_count; ++m)
      for (int next = 0; next < chip->memory_count && !steps[m] && m != to; ++next)
        if ((far == 1 ? next == to : steps[next] == far - 1) && (m == from || !pb_is_outside(&chip->memories[m])) &&
            pb_transfer_copies(chip, m, next, type))
          steps[m] = far;
  int count = steps[from];
  for (int k = 0, at = from; k < count; ++k)
    for (int next = 0; next < chip->memory_count; ++next)
      if ((k + 1 == count ? next == to : next != to && steps[next] == count - k - 1) &&
          pb_transfer_copies(chip, at, next, type)) {
        homes[k] = at = next;
        break;
      }
  return count;
}

bool pb_transfer_brings(const pb_chip* chip, int from, pb_type type) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (copies(&chip->insns[i], from, chip->insns[i].operands[chip->insns[i].dest].memory, type)) return true;
  return false;
}

// The operation by which a command makes bytes in a memory of codes of 4 bits, where constants are such; PB_OP_COUNT:
// there is none.
static pb_op unpacks_to(const pb_chip* chip, int from, int to, pb_type type, unsigned narrow) {
  for (int i = 0; i < chip->insn_count && narrow && type == PB_I8; ++i) {
    const pb_insn* insn = &chip->insns[i];
    pb_op op = pb_insn_unpacks(insn);
    unsigned needs = op == PB_OP_SEXT ? PB_CODES_SIGNED : op == PB_OP_ZEXT ? PB_CODES_UNSIGNED : 0;
    if (!(narrow & needs) || insn->operands[insn->dest].memory != to) continue;
    if (insn->operands[insn->expr[0].operand].memory == from) return op;
  }
  return PB_OP_COUNT;
}

static int via_from(const pb_chip* chip, int from, int memory, pb_type type, unsigned narrow) {
  if (pb_transfer_copies(chip, from, memory, type) || unpacks_to(chip, from, memory, type, narrow) != PB_OP_COUNT)
    return memory;
  for (int via = 0; via < chip->memory_count; ++via)
    if ((pb_transfer_copies(chip, from, via, type) || unpacks_to(chip, from, via, type, narrow) != PB_OP_COUNT) &&
        pb_transfer_copies(chip, via, memory, type))
      return via;
  return -1;
}

int pb_transfer_via(const pb_chip* chip, int memory, pb_type type) {
  return via_from(chip, chip->system_memory, memory, type, 0);
}

int pb_transfer_constant_via(const pb_chip* chip, pb_constant_facts facts, int memory, pb_type type) {
  int via = -1;
  for (int rank = 0, from; via < 0 && (from = pb_constant_home(chip, facts.kept_out, rank)) >= 0; ++rank)
    via = via_from(chip, from, memory, type, facts.codes);
  return via;
}

static bool moves_small_codes(const pb_chip* chip, int from, int to) {
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    if (pb_insn_moves_small_codes(insn) && insn->operands[insn->expr[0].operand].memory == from &&
        insn->operands[insn->dest].memory == to)
      return true;
  }
  return false;
}

int pb_transfer_packed_from(const pb_chip* chip, unsigned kept_out, int memory) {
  for (int rank = 0, from; (from = pb_constant_home(chip, kept_out, rank)) >= 0; ++rank)
    if (moves_small_codes(chip, from, memory)) return from;
  return -1;
}

int pb_transfer_packed_via(const pb_chip* chip, pb_constant_facts facts, int memory, pb_type type, pb_type* codes) {
  for (int via = 0; via < chip->memory_count; ++via) {
    if (pb_is_outside(&chip->memories[via]) || pb_transfer_packed_from(chip, facts.kept_out, via) < 0) continue;
    pb_op op = unpacks_to(chip, via, memory, type, facts.codes);
    *codes = op == PB_OP_ZEXT ? PB_U4 : PB_I4;
    if (op != PB_OP_COUNT) return via;
  }
  return -1;
}

int pb_transfer_packed_to(const pb_chip* chip, unsigned kept_out, int memory) {
  if (pb_transfer_packed_from(chip, kept_out, memory) >= 0) return memory;
  for (int via = 0; via < chip->memory_count; ++via)
    if (pb_transfer_packed_from(chip, kept_out, via) >= 0 && moves_small_codes(chip, via, memory)) return via;
  return -1;
}

int pb_transfer_constant_from(const pb_chip* chip, pb_constant_facts facts, int memory, pb_type type, pb_op* unpacks) {
  for (int rank = 0, from; (from = pb_constant_home(chip, facts.kept_out, rank)) >= 0; ++rank) {
    *unpacks = unpacks_to(chip, from, memory, type, facts.codes);
    if (*unpacks != PB_OP_COUNT || pb_transfer_copies(chip, from, memory, type)) return from;
  }
  return chip->system_memory;
}

bool pb_chip_gathers(const pb_chip* chip) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (pb_insn_gathers(&chip->insns[i]) >= 0) return true;
  return false;
}

static bool gathers(const pb_chip* chip, int memory, pb_type type) {
  for (int i = 0; i < chip->insn_count; ++i) {
    int table = pb_insn_gathers(&chip->insns[i]);
    if (table < 0 || chip->insns[i].operands[table].memory != memory) continue;
    if (chip->insns[i].operands[table].type == type) return true;
  }
  return false;
}

int pb_transfer_gathers_from(const pb_chip* chip, unsigned kept_out, pb_type type) {
  for (int rank = 0, from; (from = pb_constant_home(chip, kept_out, rank)) >= 0; ++rank)
    if (gathers(chip, from, type)) return from;
  return chip->system_memory;
}

const pb_insn* pb_transfer_mover(const pb_chip* chip, int memory, pb_type type) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (chip->insns[i].mover && copies(&chip->insns[i], chip->system_memory, memory, type)) return &chip->insns[i];
  return NULL;
}

// Some dim walks neighbours of what is read, and what is written by steps that a command says.
static bool puts_apart(const pb_operand* from, const pb_operand* to) {
  for (int a = 0; a < from->rank; ++a)
    for (int b = 0; b < to->rank && from->strides[a].kind == PB_STRIDE_ELEM; ++b)
      if (to->dims[b] == from->dims[a] && to->strides[b].kind == PB_STRIDE_FIELD) return true;
  return false;
}

const pb_insn* pb_transfer_transposes(const pb_chip* chip, pb_type type) {
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    if (insn->mover && copies(insn, chip->system_memory, insn->operands[insn->dest].memory, type) &&
        puts_apart(copy_source(insn), &insn->operands[insn->dest]))
      return insn;
  }
  return NULL;
}

// Of all fixed extents the one that most dims have, of several the first.
static int most_common_extent(const pb_chip* chip) {
  enum { DISTINCT = 64 }; // fixed extents that are told apart: chips have two or three
  int extents[DISTINCT], counts[DISTINCT], distinct = 0, best = 1, most = 0;
  for (int i = 0; i < chip->insn_count; ++i)
    for (int d = 0; d < chip->insns[i].dim_count; ++d) {
      const pb_dim* dim = &chip->insns[i].dims[d];
      int k = 0;
      if (dim->min != dim->max || dim->max == 1) continue;
      while (k < distinct && extents[k] != dim->max) ++k;
      if (k == DISTINCT) continue;
      if (k == distinct) {
        extents[distinct] = dim->max;
        counts[distinct++] = 0;
      }
      ++counts[k];
    }
  for (int k = 0; k < distinct; ++k)
    if (counts[k] > most) {
      most = counts[k];
      best = extents[k];
    }
  return best;
}

static int least_multiple(int a, int b) {
  int r = a;
  while (b > 0 && r % b) r += a;
  return r;
}

int pb_chip_lanes(const pb_chip* chip) {
  int lanes = most_common_extent(chip);
  for (int i = 0; i < chip->insn_count; ++i) {
    pb_contraction_dims roles;
    if (chip->insns[i].emit || !pb_insn_contraction_dims(&chip->insns[i], &roles)) continue;
    if (pb_sums_by_lanes(&chip->insns[i], &roles)) continue;
    lanes = least_multiple(lanes, pb_insn_lanes(&chip->insns[i], &roles, PB_ROLE_K));
    lanes = least_multiple(lanes, pb_insn_lanes(&chip->insns[i], &roles, PB_ROLE_N));
  }
  return lanes;
}

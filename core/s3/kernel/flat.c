#include "core/s3/kernel/flat.h"

#include "core/s3/compose.h"
#include "core/s3/kernels.h"
#include "core/s3/small_codes.h"
#include "core/s3/stored_form.h"
#include "core/s3/transfer_paths.h"

#include <assert.h>
#include <string.h>

static_assert((int)PB_FLAT_DIMS >= (int)PB_NEST_DIMS && (int)PB_FLAT_ACCESSES >= (int)PB_NEST_ACCESSES,
              "a nest is flattened as it is");

static void note_box(const pb_nest* nest, const pb_access* access, int d, pb_flat_access* f) {
  int r = f->box_rank[d] = pb_tested_index(nest, access, d);
  if (r >= 0) f->box_step[d] = access->index[r].coef[d];
}

// Rows that the body alone names: what is behind the computed index is a row.
static void note_rows(const pb_access* access, pb_flat_access* f) {
  static const pb_index zero;
  if (memcmp(&access->index[access->gathered - 1], &zero, sizeof zero)) return;
  f->rows = access->shape[access->gathered - 1];
  f->row = 1;
  for (int r = access->gathered; r < access->rank; ++r) f->row *= access->shape[r];
}

// Elements of a table, from the index on that the body computes: those in front say which of several.
static int64_t table_elements(const pb_access* access) {
  int64_t elements = access->gathered ? 1 : 0;
  for (int r = access->gathered - 1; r >= 0 && r < access->rank; ++r) elements *= access->shape[r];
  return elements;
}

void pb_flat_begin(const pb_nest* nest, pb_flat* flat) {
  memset(flat, 0, offsetof(pb_flat, access));
  flat->dim_count = nest->dim_count;
  flat->kept = nest->kept;
  flat->access_count = nest->access_count;
  flat->expr_count = nest->expr_count;
  flat->expr = nest->expr;
  flat->reduce = nest->reduce;
  flat->onto = nest->part && !strcmp(nest->part, "add");
  memcpy(flat->extent, nest->extent, sizeof(int64_t) * (size_t)nest->dim_count);
  for (int n = 0; n < nest->expr_count; ++n)
    if (nest->expr[n].op == PB_OP_INDEX)
      flat->counted = !flat->counted || flat->counted == 1 + nest->expr[n].operand ? 1 + nest->expr[n].operand : -1;
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_access* access = &nest->access[a];
    flat->access[a] = (pb_flat_access){.memory = PB_ANY_MEMORY,
                                       .type = access->type,
                                       .boxed = access->boxed,
                                       .fill = access->fill,
                                       .splat = access->splat,
                                       .table = table_elements(access),
                                       .aligned_rows = true};
    if (pb_gathers_rows(access)) note_rows(access, &flat->access[a]);
    for (int d = 0; d < nest->dim_count; ++d) {
      flat->access[a].stride[d] = pb_access_stride(access, d);
      note_box(nest, access, d, &flat->access[a]);
    }
  }
}

// Of what begins at a multiple of so many bits, 0: at the memory's front.
static void set_base(const pb_chip* chip, int memory, int64_t bits, pb_flat_access* access) {
  access->aligned_rows = bits % (8 * chip->memories[memory].row_bytes) == 0;
  access->base = access->aligned_rows || bits % 8 ? 0 : bits / 8;
}

void pb_flat_place(const pb_chip* chip, const pb_nest* nest, int access, int memory, pb_flat* flat) {
  const pb_access* a = &nest->access[access];
  flat->access[access].memory = memory;
  if (memory < 0) return;
  int64_t bits = pb_type_bits(flat->access[access].type), base = pb_gcd(pb_access_offset(a) * bits, 0);
  for (int k = 0; k < nest->outer_count; ++k) base = pb_gcd(base, pb_access_stride(a, PB_NEST_DIMS + k) * bits);
  set_base(chip, memory, base, &flat->access[access]);
}

// Of one of several copies of a buffer, of so many bytes each.
static void place_copies(const pb_chip* chip, const pb_flat_home* home, pb_flat_access* access) {
  int64_t base = access->aligned_rows ? chip->memories[home->memory].row_bytes : access->base;
  set_base(chip, home->memory, 8 * pb_gcd(base, home->bytes), access);
}

// The nest as the command that makes bytes of codes of 4 bits, with a sign or without.
static void unpack(pb_flat* flat, bool is_unsigned) {
  static const pb_expr_node unpacked[2][3] = {{{.op = PB_OP_LOAD, .type = PB_I4, .args = {-1, -1, -1}},
                                               {.op = PB_OP_SEXT, .type = PB_I32, .args = {0, -1, -1}},
                                               {.op = PB_OP_TRUNC, .type = PB_I8, .args = {1, -1, -1}}},
                                              {{.op = PB_OP_LOAD, .type = PB_I4, .args = {-1, -1, -1}},
                                               {.op = PB_OP_ZEXT, .type = PB_I32, .args = {0, -1, -1}},
                                               {.op = PB_OP_TRUNC, .type = PB_I8, .args = {1, -1, -1}}}};
  flat->access[0].type = PB_I4;
  flat->expr = unpacked[is_unsigned];
  flat->expr_count = 3;
}

// What the body reads as codes of 4 bits it widens from those.
static void widen_from(const pb_type* lies, pb_arena* arena, pb_flat* flat) {
  pb_expr_node* expr = pb_alloc(arena, sizeof *expr * (size_t)flat->expr_count);
  memcpy(expr, flat->expr, sizeof *expr * (size_t)flat->expr_count);
  for (int n = 0; n < flat->expr_count; ++n) {
    if (expr[n].op == PB_OP_LOAD) expr[n].type = flat->access[expr[n].operand].type;
    if (expr[n].op != PB_OP_SEXT && expr[n].op != PB_OP_ZEXT) continue;
    const pb_expr_node* from = &expr[expr[n].args[0]];
    if (from->op == PB_OP_LOAD && from->type == PB_I4)
      expr[n].op = lies[from->operand] == PB_U4 ? PB_OP_ZEXT : PB_OP_SEXT;
  }
  flat->expr = expr;
}

void pb_flat_lies(const pb_nest* nest, const pb_type* lies, pb_arena* arena, pb_flat* flat) {
  static const pb_expr_node load = {.op = PB_OP_LOAD, .type = PB_I4, .args = {-1, -1, -1}};
  bool any = false;
  for (int a = 0; a < nest->access_count; ++a) {
    if (pb_type_bits(lies[a]) != 4) continue;
    flat->access[a].type = PB_I4;
    any = true;
  }
  if (any && !pb_nest_is_copy(nest)) {
    widen_from(lies, arena, flat);
  } else if (any && flat->access[1].type == PB_I4) {
    flat->access[0].type = PB_I4;
    flat->expr = &load;
  } else if (any) {
    unpack(flat, lies[0] == PB_U4);
  }
}

// As what the elements lie outside of the tensor that access a reads: codes of 4 bits of a stored form as PB_U4, all
// others as they are.
static pb_type tensor_lies(const pb_nest* nest, int a) {
  pb_type type = nest->access[a].type;
  bool coded = type == PB_I8 && pb_nest_takes_codes(nest) && pb_coded_bits(nest->access[a].memref) == 4;
  return coded ? PB_U4 : type;
}

// The access is of a tensor, which lies outside. `to`: where the nest's result lies. Constants that the nest copies
// there may lie in a memory of their own, and two codes in a byte: then the nest is flattened as the command that makes
// bytes of those.
static void place_tensor(const pb_chip* chip, const pb_nest* nest, int access, int to, pb_flat* flat) {
  const pb_access* from = &nest->access[access];
  pb_op unpacks = PB_OP_COUNT;
  int memory = chip->system_memory;
  bool constant = pb_argument_has(from->memref, "pb.const");
  pb_constant_facts facts = pb_constant_facts_of(from->memref);
  if (constant && flat->access[access].rows) memory = pb_transfer_gathers_from(chip, facts.kept_out, from->type);
  const pb_insn* expands = constant && nest->access_count > 2 ? pb_expanding(chip, nest, to) : NULL;
  if (expands)
    memory = expands->operands[expands->expr[0].operand].memory;
  else if (constant && flat->access[access].type == PB_I4)
    memory = pb_transfer_packed_from(chip, facts.kept_out, to);
  else if (pb_nest_is_copy(nest) && access == 0 && constant)
    memory = pb_transfer_constant_from(chip, facts, to, from->type, &unpacks);
  pb_flat_place(chip, nest, access, memory, flat);
  if (unpacks != PB_OP_COUNT) unpack(flat, unpacks == PB_OP_ZEXT);
}

void pb_flat_at_homes(const pb_chip* chip, const pb_nest* nest, const pb_flat_home* homes, pb_arena* arena,
                      pb_flat* flat) {
  const pb_flat_home* stored = &homes[nest->access_count - 1];
  pb_type lies[PB_NEST_ACCESSES];
  pb_flat_begin(nest, flat);
  for (int a = 0; a < nest->access_count; ++a) lies[a] = homes[a].tensor ? tensor_lies(nest, a) : homes[a].lies;
  pb_flat_lies(nest, lies, arena, flat);
  for (int a = 0; a < nest->access_count; ++a) {
    if (homes[a].tensor) {
      place_tensor(chip, nest, a, stored->tensor ? PB_ANY_MEMORY : stored->memory, flat);
      continue;
    }
    pb_flat_place(chip, nest, a, homes[a].memory, flat);
    if (homes[a].memory >= 0 && homes[a].copies > 1) place_copies(chip, &homes[a], &flat->access[a]);
  }
}

void pb_flat_cut_rows(pb_flat* flat, int64_t lanes) {
  const pb_flat_access* store = &flat->access[flat->access_count - 1];
  for (int d = 0; d < flat->dim_count && flat->reduce != PB_SET; ++d)
    if (!store->stride[d] && flat->access[0].stride[d] == 1 && flat->extent[d] > lanes)
      flat->extent[d] -= flat->extent[d] % lanes;
}

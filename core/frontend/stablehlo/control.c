// Control flow that is known when it is compiled: numbers that constants alone decide are computed, loops by them are
// written out. Branches that are not known are all computed, and their results chosen among: no operator has effects.
#include "core/frontend/stablehlo/door.h"

#include <string.h>

enum { MOST_TURNS = 4096, MOST_OPERATORS = 60000 };

// The integer that a value always is; false: it is not known.
static bool known(const pb_door* d, int value, int64_t* number) {
  const pb_s1_value* v = value >= 0 ? pb_made(&d->m, value) : NULL;
  if (!v || v->rank || pb_type_is_float(v->type)) return false;
  const void* bytes = pb_made_splat(&d->m, value);
  if (!bytes) return false;
  int width = pb_type_bits(pb_type_stored(v->type));
  *number = 0;
  memcpy(number, bytes, (size_t)width / 8);
  int shift = 64 - width;
  bool is_unsigned = pb_type_is_unsigned(v->type) || v->type == PB_I1;
  uint64_t up = (uint64_t)*number << shift;
  *number = is_unsigned ? (int64_t)(up >> shift) : (int64_t)up >> shift;
  return true;
}

static bool compare(const pb_flat_op* op, bool is_unsigned, int64_t a, int64_t b, int64_t* result) {
  bool less = is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
  static const char* const names[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  const bool holds[] = {a == b, a != b, !less, !less && a != b, less || a == b, less};
  for (int k = 0; k < 6; ++k)
    if (pb__door_says(op, "comparison_direction", names[k])) {
      *result = holds[k];
      return true;
    }
  return false;
}

static bool computed(const pb_flat_op* op, pb_type type, const int64_t* v, int64_t* result) {
  const char* name = strchr(op->name, '.') + 1;
  uint64_t a = (uint64_t)v[0], b = (uint64_t)v[1];
  bool is_unsigned = pb_type_is_unsigned(type) || type == PB_I1;
  if (!strcmp(name, "compare")) return compare(op, is_unsigned, v[0], v[1], result);
  if (!strcmp(name, "convert"))
    *result = v[0];
  else if (!strcmp(name, "select"))
    *result = v[0] ? v[1] : v[2];
  else if (type == PB_I1)
    return false;
  else if (!strcmp(name, "add"))
    *result = (int64_t)(a + b);
  else if (!strcmp(name, "subtract"))
    *result = (int64_t)(a - b);
  else if (!strcmp(name, "multiply"))
    *result = (int64_t)(a * b);
  else
    return false;
  return true;
}

bool pb__door_fold(pb_door* d, const pb_flat_op* op) {
  int64_t v[3] = {0}, result;
  const pb_flat_type* out = pb__door_type(d, op->results[0]);
  if (op->operand_count > 3 || out->rank || pb_type_is_float(out->type)) return false;
  for (int k = 0; k < op->operand_count; ++k)
    if (!known(d, pb__door_in(d, op, k), &v[k])) return false;
  if (!computed(op, pb__door_type(d, op->operands[0])->type, v, &result)) return false;
  if (out->type == PB_I1) result = result != 0;
  int64_t* kept = PB_NEW(&d->m.consts->arena, int64_t);
  *kept = result; // little-endian: its low bytes are the number of fewer bits
  d->value[op->results[0]] = pb_make_constant(&d->m, out->type, 0, NULL, kept);
  return true;
}

static const pb_flat_op* end_of(const pb_flat_block* block) {
  return block->op_count ? &block->ops[block->op_count - 1] : NULL;
}

// The block with its arguments, and what it returns.
static pb_status make_block(pb_door* d, const pb_flat_op* op, int region, int count, const pb_door_value* in, int made,
                            pb_door_value* out) {
  const pb_flat_block* block = region < op->region_count ? &op->regions[region] : NULL;
  const pb_flat_op* end = block ? end_of(block) : NULL;
  if (!end || block->argument_count != count || end->operand_count != made)
    return pb__door_refuse(d, op, "a region that does not fit");
  for (int k = 0; k < count; ++k) PB_TRY(pb__door_bind(d, op, block->arguments[k], in[k]));
  PB_TRY(pb__door_block(d, block));
  for (int k = 0; k < made; ++k) {
    out[k] = pb__door_get(d, end->operands[k]);
    if (out[k].value < 0) return pb__door_refuse(d, op, "a result that is made elsewhere");
  }
  return PB_OK;
}

pb_status pb__door_while(pb_door* d, const pb_flat_op* op) {
  int count = op->operand_count;
  pb_door_value *now = PB_NEW_ARRAY(&d->m.program->arena, pb_door_value, (size_t)count + 1), goes_on = {0};
  if (op->result_count != count) return pb__door_refuse(d, op, "another number of results");
  for (int k = 0; k < count; ++k) now[k] = pb__door_get(d, op->operands[k]);
  for (int turn = 0;; ++turn) {
    int64_t is;
    PB_TRY(make_block(d, op, 0, count, now, 1, &goes_on));
    if (!known(d, goes_on.value, &is))
      return pb__door_refuse(d, op, "how often it turns is not known when it is compiled");
    pb__door_decide_by(d, goes_on.value);
    if (!is) break;
    if (turn == MOST_TURNS || d->m.program->op_count > MOST_OPERATORS)
      return pb__door_refuse(d, op, "more than %d turns, or %d operators, written out", MOST_TURNS, MOST_OPERATORS);
    PB_TRY(make_block(d, op, 1, count, now, count, now));
  }
  for (int k = 0; k < count; ++k) PB_TRY(pb__door_bind(d, op, op->results[k], now[k]));
  return PB_OK;
}

// yes and no chosen by a truth, or by whether an index is `which`.
static pb_status choose(pb_door* d, const pb_flat_op* op, int by, int64_t which, int yes, int no, int* result) {
  const pb_s1_value type = *pb_made(&d->m, yes);
  const pb_s1_value* other = pb_made(&d->m, no);
  int dims[PB_NEST_RANK], access, nodes[2];
  if (other->type != type.type || other->rank != type.rank ||
      memcmp(other->shape, type.shape, sizeof(int64_t) * (size_t)type.rank))
    return pb__door_refuse(d, op, "branches of different types");
  *result = pb_make_value(&d->m, type.type, type.rank, type.shape);
  pb_nest* n = pb_make_walk(&d->m, "point", *result, dims);
  int index = pb__door_load(d, by, &access);
  int is = pb_scalar_compare(n, PB_EQ, pb_made(&d->m, by)->type, false, index,
                             pb_nest_integer(n, n->expr[index].type, which));
  for (int k = 0; k < 2; ++k) {
    nodes[k] = pb__door_load(d, k ? no : yes, &access);
    if (access >= 0) pb_make_along(&d->m, access, dims);
  }
  pb__door_store(d, pb_scalar_select(n, is, nodes[0], nodes[1]), *result, dims);
  return PB_OK;
}

// Region k is taken when the index is k, the last one otherwise; of a truth the first when it holds.
pb_status pb__door_branch(pb_door* d, const pb_flat_op* op) {
  int by = pb__door_in(d, op, 0), count = op->result_count, regions = op->region_count;
  bool truth = !strcmp(op->name, "stablehlo.if");
  int64_t index;
  if (pb_made(&d->m, by)->rank || pb_made(&d->m, by)->type != (truth ? PB_I1 : PB_I32) || regions < 1 ||
      (truth && regions != 2))
    return pb__door_refuse(d, op, "no such index");
  pb_door_value* all = PB_NEW_ARRAY(&d->m.program->arena, pb_door_value, (size_t)(count * regions) + 1);
  if (known(d, by, &index)) {
    if (truth) index = !index;
    if (index < 0 || index >= regions) index = regions - 1;
    PB_TRY(make_block(d, op, (int)index, 0, NULL, count, all));
  } else {
    for (int r = 0; r < regions; ++r) PB_TRY(make_block(d, op, r, 0, NULL, count, all + r * count));
    for (int k = 0; k < count; ++k) {
      pb_door_value last = all[(regions - 1) * count + k];
      for (int r = regions - 2; r >= 0; --r) {
        pb_door_value* one = &all[r * count + k];
        PB_TRY(choose(d, op, by, truth ? 1 : r, one->value, last.value, &last.value));
        if (last.imaginary >= 0)
          PB_TRY(choose(d, op, by, truth ? 1 : r, one->imaginary, last.imaginary, &last.imaginary));
      }
      all[k] = last;
    }
  }
  for (int k = 0; k < count; ++k) PB_TRY(pb__door_bind(d, op, op->results[k], all[k]));
  return PB_OK;
}

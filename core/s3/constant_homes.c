#include "core/s3/constant_homes.h"

#include "core/poly/text.h"
#include "core/s3/kernels.h"
#include "core/s3/small_codes.h"
#include "core/s3/transfer_paths.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

pb_constant_facts pb_constant_facts_of(MlirValue value) {
  return (pb_constant_facts){.codes = pb_small_codes_of(value),
                             .kept_out = (unsigned)pb_argument_integer(value, "pb.kept_out", 0)};
}

int pb_constant_home(const pb_chip* chip, unsigned kept_out, int rank) {
  for (int k = 0; k < chip->constant_memory_count; ++k) {
    int number = chip->fastest_constants[k];
    if (!(kept_out >> number & 1) && !rank--) return chip->constant_memories[number];
  }
  return rank ? -1 : chip->system_memory;
}

unsigned pb_constant_kept_out(const pb_consts* consts, int id) {
  if (id < 0) return 0;
  const pb_const* c = consts->items[id];
  return c->part_of ? consts->items[c->part_of - 1]->kept_out : c->kept_out;
}

// The constant that the argument of the program's function is; -1: it is none.
static int constant_of(MlirValue value) { return (int)pb_argument_integer(value, "pb.const", -1); }

void pb_constants_mark(const pb_unit* unit, MlirOperation func) {
  MlirBlock body = pb_op_body(func);
  for (intptr_t k = 0; k < mlirBlockGetNumArguments(body); ++k) {
    int id = constant_of(mlirBlockGetArgument(body, k));
    unsigned out = pb_constant_kept_out(unit->consts, id), codes = id < 0 ? 0 : pb_small_codes_find(unit, id);
    if (out) pb_argument_set_attribute(func, k, "pb.kept_out", pb_number_attribute(unit->context, out));
    if (codes) pb_argument_set_attribute(func, k, "pb.codes", pb_number_attribute(unit->context, codes));
  }
}

static uint64_t padded(uint64_t bytes) { return (bytes + 63) / 64 * 64; } // as engines have them

bool pb_constants_may_overflow(const pb_unit* unit) {
  MlirBlock body = pb_op_body(pb_module_func(unit->module, "main"));
  uint64_t bytes = 0;
  for (size_t id = 0; id < unit->consts->count; ++id)
    if (unit->consts->items[id]->lies) bytes += 2 * padded(unit->consts->items[id]->bytes);
  for (intptr_t k = 0; k < mlirBlockGetNumArguments(body); ++k) {
    int id = constant_of(mlirBlockGetArgument(body, k));
    if (id >= 0) bytes += 2 * padded(unit->consts->items[id]->bytes); // packed too, or in another form
  }
  for (int k = 0; k < unit->chip->constant_memory_count; ++k)
    if (bytes > (uint64_t)unit->chip->memories[unit->chip->constant_memories[k]].bytes) return true;
  return false;
}

// ---- what lies where ----

typedef struct rooms {
  const pb_unit* unit;
  uint64_t taken[PB_MAX_CONSTANT_MEMORIES], wanted[PB_MAX_CONSTANT_MEMORIES];
  bool movable;  // of those in hand, so that what can lie nowhere else has its room first
  uint8_t* seen; // by constant: bits of the memories in which it lies, of bytes and of codes two in a byte
  pb_kept_out first;
} rooms;

static uint64_t bytes_of(const pb_const* c, bool packed) { return padded(packed ? (c->bytes + 1) / 2 : c->bytes); }

// What lies there for modules before this one.
static void start(rooms* r) {
  const pb_consts* consts = r->unit->consts;
  for (size_t id = 0; id < consts->count; ++id)
    for (int k = 0; k < 2 * PB_MAX_CONSTANT_MEMORIES && consts->items[id]->lies; ++k)
      if (consts->items[id]->lies >> k & 1) r->taken[k / 2] += bytes_of(consts->items[id], k % 2);
  memcpy(r->wanted, r->taken, sizeof r->wanted);
}

// Whether commands bring such elements from another memory that has not been too small for them.
static bool can_move(const pb_unit* unit, const pb_const* whole, int number) {
  for (int rank = 0, from; (from = pb_constant_home(unit->chip, whole->kept_out | 1u << number, rank)) >= 0; ++rank)
    if (pb_transfer_brings(unit->chip, from, pb_type_stored(whole->type))) return true;
  return false;
}

// A constant that a kernel takes where its argument says.
static void take(rooms* r, int id, int number, bool packed) {
  pb_consts* consts = r->unit->consts;
  pb_const* c = consts->items[id];
  const pb_memory* m = &r->unit->chip->memories[r->unit->chip->constant_memories[number]];
  uint8_t bit = (uint8_t)(1 << (2 * number + packed));
  int whole = c->part_of ? c->part_of - 1 : id;
  if ((r->seen[id] | c->lies) & bit || can_move(r->unit, consts->items[whole], number) != r->movable) return;
  r->seen[id] |= bit;
  uint64_t bytes = bytes_of(c, packed);
  r->wanted[number] += bytes;
  if (r->taken[number] + bytes <= (uint64_t)m->bytes) {
    r->taken[number] += bytes;
    return;
  }
  bool known = consts->items[whole]->kept_out >> number & 1;
  consts->items[whole]->kept_out |= 1u << number;
  if (r->first.id < 0 && !known) r->first = (pb_kept_out){.id = whole, .number = number};
}

static void take_call(rooms* r, MlirOperation call) {
  pb_arena scratch = {0};
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(pb_op_attribute(call, "callee"));
  MlirOperation kernel = pb_module_func(r->unit->module, pb_printf(&scratch, "%.*s", (int)name.length, name.data));
  pb_arena_free(&scratch);
  if (mlirOperationIsNull(kernel)) return;
  MlirBlock body = pb_op_body(kernel);
  for (intptr_t k = 0; k < mlirBlockGetNumArguments(body); ++k) {
    MlirValue v = mlirBlockGetArgument(body, k);
    int id = constant_of(mlirOperationGetOperand(call, k));
    int number = id < 0 ? -1 : pb_constants_number(r->unit->chip, pb_memref_memory(r->unit->chip, v));
    if (number >= 0) take(r, id, number, pb_argument_has(v, "pb.packed"));
  }
}

// The caller frees r->seen.
static void take_module(const pb_unit* unit, rooms* r) {
  *r = (rooms){.unit = unit, .first = {.id = -1}};
  MlirBlock body = pb_op_body(pb_module_func(unit->module, "main"));
  _Static_assert(2 * PB_MAX_CONSTANT_MEMORIES <= 8, "a bit for each memory and form");
  r->seen = calloc(unit->consts->count + 1, 1);
  if (!r->seen) pb_no_memory(unit->consts->count + 1);
  start(r);
  for (int pass = 0; pass < 2; ++pass) {
    r->movable = pass;
    PB_FOR_OPS (op, body)
      if (pb_op_is(op, "func.call")) take_call(r, op);
  }
}

pb_kept_out pb_constants_keep_out(const pb_unit* unit) {
  rooms r;
  take_module(unit, &r);
  free(r.seen);
  r.first.wanted = r.wanted[r.first.number];
  return r.first;
}

void pb_constants_settle(const pb_unit* unit) {
  if (!unit->chip->constant_memory_count) return;
  rooms r;
  take_module(unit, &r);
  for (size_t id = 0; id < unit->consts->count; ++id) unit->consts->items[id]->lies |= r.seen[id];
  free(r.seen);
}

pb_status pb_constants_refuse(const pb_unit* unit, const pb_kept_out* kept) {
  const pb_chip* chip = unit->chip;
  const pb_const* c = unit->consts->items[kept->id];
  const pb_memory* m = &chip->memories[chip->constant_memories[kept->number]];
  pb_text others = {0};
  for (int k = 0; k < chip->constant_memory_count; ++k) {
    const pb_memory* other = &chip->memories[chip->constant_memories[k]];
    if (k == kept->number) continue;
    pb_text_add(&others, " in %s, which has %llu%s, nor", other->name, (ull)other->bytes,
                c->kept_out >> k & 1 ? "" : " and from which no command brings it");
  }
  pb_status status = pb_unsupported(
      unit->diag, (pb_place){.what = c->name && c->name[0] ? c->name : "model"}, 4051,
      "fewer weights, a larger memory, commands that bring them from another one, or --target=cpu",
      "a constant of %llu bytes has no room%s elsewhere: constants take %llu bytes of %s's %s, which has %llu",
      (ull)c->bytes, others.data ? others.data : "", (ull)kept->wanted, chip->name, m->name, (ull)m->bytes);
  pb_text_free(&others);
  return status;
}

// Control flow. What is known when it is compiled is written out: numbers that constants alone decide are computed,
// loops by them are turned here. Loops that data end are the host's (core/s1/control.h). Branches that are not known
// are the host's too where they are long; short ones are all computed, and their results chosen among: no operator has
// effects.
#include "core/s1/control.h"
#include "core/frontend/stablehlo/door.h"

#include <string.h>

enum { MOST_TURNS = 4096, MOST_OPERATORS = 60000, FEW_OPERATORS = 1000, SHORT_BRANCH = 24, SHORT_LOOP = 16 };

// The integer that a value always is; false: it is not known.
static bool all_equal(const pb_door* d, int value, int64_t* number) {
  const pb_s1_value* v = value >= 0 ? pb_made(&d->m, value) : NULL;
  if (!v || pb_type_is_float(v->type) || pb_type_bits(pb_type_stored(v->type)) > 64) return false;
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

static bool known(const pb_door* d, int value, int64_t* number) {
  return value >= 0 && !pb_made(&d->m, value)->rank && all_equal(d, value, number);
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

// arith.cmpi's predicates of equality and of numbers with a sign.
static bool holds(int how, int64_t a, int64_t b) {
  bool less = a < b, equal = a == b;
  const bool answers[] = {equal, !equal, less, less || equal, !less && !equal, !less};
  return answers[how];
}

// arith's on numbers that have as much sign as they say.
static bool computed_arith(const pb_flat_op* op, pb_type type, const int64_t* v, int64_t* result) {
  uint64_t a = (uint64_t)v[0], b = (uint64_t)v[1];
  const char* name = op->name + strlen("arith.");
  int how = (int)pb__door_int(op, "predicate", -1);
  if (!strcmp(name, "select"))
    *result = v[0] ? v[1] : v[2];
  else if (type == PB_I1)
    return false;
  else if (!strcmp(name, "addi"))
    *result = (int64_t)(a + b);
  else if (!strcmp(name, "subi"))
    *result = (int64_t)(a - b);
  else if (!strcmp(name, "muli"))
    *result = (int64_t)(a * b);
  else if (!strcmp(name, "index_cast") || !strcmp(name, "extsi") || !strcmp(name, "trunci"))
    *result = v[0];
  else if (!strcmp(name, "cmpi") && how >= 0 && how < 6)
    *result = holds(how, v[0], v[1]);
  else
    return false;
  return true;
}

static bool computed(const pb_flat_op* op, pb_type type, const int64_t* v, int64_t* result) {
  const char* name = strchr(op->name, '.') + 1;
  uint64_t a = (uint64_t)v[0], b = (uint64_t)v[1];
  if (!strncmp(op->name, "arith.", 6)) return computed_arith(op, type, v, result);
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

// An integer and all small tensors of equal ones, that equal ones make.
bool pb__door_fold(pb_door* d, const pb_flat_op* op) {
  enum { MOST = 64 };
  int64_t v[3] = {0}, result, count = 1;
  const pb_flat_type* out = pb__door_type(d, op->results[0]);
  if (op->operand_count > 3 || pb_type_is_float(out->type) || out->is_complex || (out->rank && d->open)) return false;
  for (int r = 0; r < out->rank && count <= MOST; ++r) count *= out->shape[r];
  if (count > MOST) return false;
  for (int k = 0; k < op->operand_count; ++k) {
    const pb_s1_value* in = pb_made(&d->m, pb__door_in(d, op, k));
    bool same = in->rank == out->rank && !memcmp(in->shape, out->shape, sizeof *out->shape * (size_t)in->rank);
    if ((in->rank && !same) || !all_equal(d, pb__door_in(d, op, k), &v[k])) return false;
  }
  if (!computed(op, pb__door_type(d, op->operands[0])->type, v, &result)) return false;
  if (out->type == PB_I1) result = result != 0;
  pb_type type = out->type == PB_INDEX ? PB_I64 : out->type;
  size_t width = (size_t)pb_type_bits(pb_type_stored(type)) / 8;
  char* kept = pb_alloc_array(&d->m.consts->arena, (size_t)count + 1, sizeof result);
  for (int64_t k = 0; k < count; ++k) memcpy(kept + (size_t)k * width, &result, width); // little-endian: its low bytes
  d->value[op->results[0]] = pb_make_constant(&d->m, type, out->rank, out->shape, kept);
  return true;
}

static const pb_flat_op* end_of(const pb_flat_block* block) {
  return block->op_count ? &block->ops[block->op_count - 1] : NULL;
}

// The block with its arguments, and what it returns.
pb_status pb__door_region(pb_door* d, const pb_flat_op* op, int region, int count, const pb_door_value* in, int made,
                          pb_door_value* out) {
  const pb_flat_block* block = region < op->region_count ? &op->regions[region] : NULL;
  const pb_flat_op* end = block ? end_of(block) : NULL;
  if (!end || block->argument_count != count || end->operand_count != made)
    return pb__door_refuse(d, op, "a region that does not fit");
  for (int k = 0; k < count; ++k) PB_TRY(pb__door_bind(d, op, block->arguments[k], in[k]));
  PB_TRY(pb__door_block(d, block));
  for (int k = 0; k < made; ++k) {
    if (d->filled[end->operands[k]] == -2) return pb__door_refuse(d, end, "it hands on a tensor.empty");
    out[k] = pb__door_get(d, end->operands[k]);
    if (out[k].value < 0 && !pb__door_is_empty(d, end->operands[k]))
      return pb__door_refuse(d, op, "a result that is made elsewhere");
  }
  return PB_OK;
}

// What is made for the operator itself, behind those inside of it.
static void stand_at(pb_door* d, const pb_flat_op* op) {
  d->m.name = pb_printf(&d->m.program->arena, "%s:%d", strchr(op->name, '.') + 1, op->line);
  d->m.type = !strcmp(op->name, "stablehlo.while") ? "stablehlo.while" : "stablehlo.if";
}

static void mark(pb_door* d, const pb_flat_op* op, pb_s1_kind kind, int x) {
  stand_at(d, op);
  pb_control_mark(&d->m, kind, x);
}

// Values of variables: parts of complex numbers are one each.
typedef struct carried {
  int count, *variables, *values;
} carried;

static carried new_carried(pb_door* d, int count) {
  pb_arena* arena = &d->m.program->arena;
  return (carried){0, PB_NEW_ARRAY(arena, int, 2 * (size_t)count + 1), PB_NEW_ARRAY(arena, int, 2 * (size_t)count + 1)};
}

// A variable for each value, which begins as it is. Tensors of no elements are no values.
static void make_variables(pb_door* d, int count, const pb_door_value* from, pb_door_value* made, carried* all) {
  for (int k = 0; k < count; ++k) {
    made[k] = (pb_door_value){-1, -1};
    if (from[k].value < 0) continue;
    made[k].value = pb_control_variable(&d->m, from[k].value);
    if (from[k].imaginary >= 0) made[k].imaginary = pb_control_variable(&d->m, from[k].imaginary);
    all->variables[all->count++] = made[k].value;
    if (from[k].imaginary >= 0) all->variables[all->count++] = made[k].imaginary;
  }
}

static pb_status assign(pb_door* d, const pb_flat_op* op, int count, const pb_door_value* from, carried* all) {
  int at = 0;
  for (int k = 0; k < count; ++k) {
    if (from[k].value < 0) continue;
    all->values[at++] = from[k].value;
    if (from[k].imaginary >= 0) all->values[at++] = from[k].imaginary;
  }
  for (int k = 0; k < at && at == all->count; ++k) {
    const pb_s1_value *to = pb_made(&d->m, all->variables[k]), *is = pb_made(&d->m, all->values[k]);
    if (to->type != is->type || to->rank != is->rank ||
        memcmp(to->shape, is->shape, sizeof(int64_t) * (size_t)to->rank) != 0)
      at = -1;
  }
  if (at != all->count) return pb__door_refuse(d, op, "values that change their types");
  stand_at(d, op);
  pb_control_assign(&d->m, all->count, all->variables, all->values);
  return PB_OK;
}

// Whether all that a block does with its argument is to update it: dynamic_update_slice, of its own or of a function
// that it calls. Of what is read in nested regions nobody knows how often.
static bool is_updated(const pb_door* d, const pb_flat_block* block, int argument, int depth) {
  enum { DEEP = 8 };
  if (d->uses[block->arguments[argument]] != 1 || depth == DEEP) return false;
  for (int o = 0; o < block->op_count; ++o) {
    const pb_flat_op* op = &block->ops[o];
    int k = 0;
    while (k < op->operand_count && op->operands[k] != block->arguments[argument]) ++k;
    if (k == op->operand_count) continue;
    if (!strcmp(op->name, "stablehlo.dynamic_update_slice")) return k == 0;
    const pb_flat_func* called = !strcmp(op->name, "func.call") ? pb__door_function(d, op) : NULL;
    return called && k < called->body.argument_count && is_updated(d, &called->body, k, depth + 1);
  }
  return false;
}

// Variables of a loop that its body updates: they are changed where they lie, and a turn moves what is new alone.
static void mark_updated(pb_door* d, const pb_flat_block* body, int count, const pb_door_value* now) {
  for (int k = 0; k < count && k < body->argument_count; ++k)
    if (now[k].imaginary < 0 && is_updated(d, body, k, 0)) d->m.program->values[now[k].value].is_updated = true;
}

// A turn of the loop: it comes whole, whatever branches the loop stands in.
static pb_status turn(pb_door* d, const pb_flat_op* op, int region, int count, const pb_door_value* now, int made,
                      pb_door_value* next) {
  int outside = d->branches;
  d->branches = 0;
  mark_updated(d, &op->regions[region], count, now);
  pb_status status = pb__door_region(d, op, region, count, now, made, next);
  d->branches = outside;
  return status;
}

// The loop as the host's, from these values on.
static pb_status run_while(pb_door* d, const pb_flat_op* op, const pb_door_value* first, pb_door_value* now) {
  int count = op->operand_count;
  pb_door_value goes_on = {0}, *next = PB_NEW_ARRAY(&d->m.program->arena, pb_door_value, (size_t)count + 1);
  carried all = new_carried(d, count);
  make_variables(d, count, first, now, &all);
  PB_TRY(assign(d, op, count, first, &all));
  mark(d, op, PB_S1_LOOP, -1);
  ++d->loops;
  PB_TRY(pb__door_region(d, op, 0, count, now, 1, &goes_on));
  const pb_s1_value* truth = pb_made(&d->m, goes_on.value);
  if (truth->type != PB_I1 || truth->rank) return pb__door_refuse(d, op, "a condition that is no truth");
  if (truth->const_id >= 0) return pb__door_refuse(d, op, "a condition that always holds");
  mark(d, op, PB_S1_WHILE, goes_on.value);
  PB_TRY(turn(d, op, 1, count, now, count, next));
  --d->loops;
  PB_TRY(assign(d, op, count, next, &all));
  mark(d, op, PB_S1_AGAIN, -1);
  return PB_OK;
}

// What is written out of a loop at most. The host's turns take some microseconds, and are compiled once. An extent that
// is open may say how often a loop turns: many turns are as many in no other sample. In a loop of the host's, which is
// written once for all its turns, a loop of more than a few of its own is one too: both may be one kernel.
static size_t most_operators(const pb_door* d) {
  return d->inputs && d->inputs->keeps_loops ? FEW_OPERATORS : MOST_OPERATORS;
}

static int most_turns(const pb_door* d) {
  return d->inputs && d->inputs->keeps_loops && (d->m.consts->open || d->loops) ? SHORT_LOOP : MOST_TURNS;
}

// The program has its first `count` operators again.
static void take_back(pb_door* d, size_t count) {
  d->m.program->op_count = count;
  if (d->elements) pb_s1_elements_take_back(d->elements);
}

// Written out as long as its condition is known; what was made so far of one that is not goes, or is its first turns.
pb_status pb__door_while(pb_door* d, const pb_flat_op* op) {
  int count = op->operand_count;
  pb_arena* arena = &d->m.program->arena;
  pb_door_value *now = PB_NEW_ARRAY(arena, pb_door_value, (size_t)count + 1),
                *first = PB_NEW_ARRAY(arena, pb_door_value, (size_t)count + 1), goes_on = {0};
  size_t before = d->m.program->op_count, most = most_operators(d), guards = d->m.consts->guard_count;
  if (op->result_count != count) return pb__door_refuse(d, op, "another number of results");
  for (int k = 0; k < count; ++k) now[k] = first[k] = pb__door_get(d, op->operands[k]);
  for (int turn = 0;; ++turn) {
    int64_t is;
    size_t made = d->m.program->op_count;
    PB_TRY(pb__door_region(d, op, 0, count, now, 1, &goes_on));
    bool sure = known(d, goes_on.value, &is);
    if (!sure || turn == most_turns(d) || d->m.program->op_count > before + most) {
      bool anew = sure || d->m.consts->open; // what was written out of open extents is not for all of them
      take_back(d, anew ? before : made);
      if (anew) d->m.consts->guard_count = guards;
      PB_TRY(run_while(d, op, anew ? first : memcpy(first, now, sizeof *now * (size_t)count), now));
      break;
    }
    pb__door_decide_by(d, goes_on.value);
    if (!is) break;
    PB_TRY(pb__door_region(d, op, 1, count, now, count, now));
  }
  for (int k = 0; k < count; ++k) PB_TRY(pb__door_bind(d, op, op->results[k], now[k]));
  return PB_OK;
}

// ---- loops by a number: scf.for ----

// A number from two of them; `less`: whether the first is less, signed or not.
static int combined(pb_door* d, int a, int b, bool less, bool is_unsigned) {
  int access, nodes[2], y = pb_make_value(&d->m, less ? PB_I1 : pb_made(&d->m, a)->type, 0, NULL);
  pb_type type = pb_made(&d->m, a)->type;
  if (is_unsigned) type = type == PB_I64 ? PB_UI64 : PB_UI32;
  pb_nest* n = pb_make_start(&d->m, "point");
  nodes[0] = pb__door_load(d, a, &access);
  nodes[1] = pb__door_load(d, b, &access);
  int made = less ? pb_scalar_compare(n, PB_LT, type, false, nodes[0], nodes[1])
                  : pb_nest_node(n, PB_OP_ADD, pb_made(&d->m, a)->type, nodes[0], nodes[1]);
  pb__door_store(d, made, y, NULL);
  return y;
}

// As the host's: a variable more than the loop carries, its number.
static pb_status run_count(pb_door* d, const pb_flat_op* op, bool is_unsigned, const pb_door_value* first,
                           pb_door_value* now) {
  int count = op->operand_count - 2, top = d->value[op->operands[1]], step = d->value[op->operands[2]];
  pb_door_value* next = PB_NEW_ARRAY(&d->m.program->arena, pb_door_value, (size_t)count + 1);
  carried all = new_carried(d, count);
  make_variables(d, count, first, now, &all);
  PB_TRY(assign(d, op, count, first, &all));
  mark(d, op, PB_S1_LOOP, -1);
  ++d->loops;
  mark(d, op, PB_S1_WHILE, combined(d, now[0].value, top, true, is_unsigned));
  PB_TRY(turn(d, op, 0, count, now, count - 1, next + 1));
  --d->loops;
  stand_at(d, op);
  next[0] = (pb_door_value){combined(d, now[0].value, step, false, false), -1};
  PB_TRY(assign(d, op, count, next, &all));
  mark(d, op, PB_S1_AGAIN, -1);
  return PB_OK;
}

// Turns of a loop whose bounds are known, -1: they are not, or they are more than are written out.
static int64_t turns_of(const pb_door* d, const pb_flat_op* op, bool is_unsigned, int64_t* bound) {
  for (int k = 0; k < 3; ++k)
    if (!known(d, d->value[op->operands[k]], &bound[k])) return -1;
  bool none = is_unsigned ? (uint64_t)bound[0] >= (uint64_t)bound[1] : bound[0] >= bound[1];
  if (none || bound[2] <= 0) return none ? 0 : -1;
  uint64_t turns = ((uint64_t)bound[1] - (uint64_t)bound[0] - 1) / (uint64_t)bound[2] + 1;
  return turns <= (uint64_t)most_turns(d) ? (int64_t)turns : -1;
}

static int constant_like(pb_door* d, int value, int64_t number) {
  int64_t* kept = PB_NEW(&d->m.consts->arena, int64_t);
  *kept = number; // little-endian: its low bytes are the number of fewer bits
  return pb_make_constant(&d->m, pb_made(&d->m, value)->type, 0, NULL, kept);
}

pb_status pb__door_count(pb_door* d, const pb_flat_op* op) {
  int count = op->operand_count - 2;
  int64_t bound[3];
  bool is_unsigned = pb_flat_find(op, "unsignedCmp") != NULL, written = true;
  pb_door_value *now = PB_NEW_ARRAY(&d->m.program->arena, pb_door_value, (size_t)count + 1),
                *first = PB_NEW_ARRAY(&d->m.program->arena, pb_door_value, (size_t)count + 1);
  size_t before = d->m.program->op_count, most = most_operators(d), guards = d->m.consts->guard_count;
  if (op->result_count != count - 1) return pb__door_refuse(d, op, "another number of results");
  first[0] = pb__door_get(d, op->operands[0]);
  for (int k = 1; k < count; ++k) first[k] = pb__door_get(d, op->operands[k + 2]);
  memcpy(now, first, sizeof *now * (size_t)count);
  int64_t turns = turns_of(d, op, is_unsigned, bound);
  for (int64_t k = 0; k < turns && written; ++k) {
    now[0].value = constant_like(d, first[0].value, bound[0] + k * bound[2]);
    PB_TRY(pb__door_region(d, op, 0, count, now, count - 1, now + 1));
    written = d->m.program->op_count <= before + most;
  }
  if (turns < 0 || !written) {
    take_back(d, before);
    d->m.consts->guard_count = guards;
    PB_TRY(run_count(d, op, is_unsigned, first, now));
  }
  for (int k = 1; k < count; ++k) PB_TRY(pb__door_bind(d, op, op->results[k - 1], now[k]));
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

// Whether the branches are worth a jump of the host's, which costs fusion and copies; a loop that data end must not
// turn where it is not reached.
static int weight_of(const pb_flat_block* block) {
  static const char* const heavy[] = {"while", "dot_general", "convolution", "sort", "scatter", "reduce_window"};
  int weight = block->op_count;
  for (int k = 0; k < block->op_count; ++k) {
    const pb_flat_op* op = &block->ops[k];
    for (int r = 0; r < op->region_count; ++r) weight += weight_of(&op->regions[r]);
    for (size_t h = 0; h < sizeof heavy / sizeof *heavy; ++h)
      if (!strncmp(op->name, "stablehlo.", 10) && !strcmp(op->name + 10, heavy[h])) weight += SHORT_BRANCH;
    if (!strcmp(op->name, "func.call") || !strncmp(op->name, "scf.", 4)) weight += SHORT_BRANCH;
    if (!strncmp(op->name, "linalg.", 7) && strstr(op->name, "mat")) weight += SHORT_BRANCH;
    if (!strncmp(op->name, "linalg.", 7) && strstr(op->name, "conv")) weight += SHORT_BRANCH;
  }
  return weight;
}

static bool is_long(const pb_flat_op* op) {
  for (int r = 0; r < op->region_count; ++r)
    if (weight_of(&op->regions[r]) > SHORT_BRANCH) return true;
  return false;
}

// Branches from this one on, as the host's: one, or one of the rest.
static pb_status run_branches(pb_door* d, const pb_flat_op* op, int by, int region, pb_door_value* result,
                              carried* all) {
  int count = op->result_count;
  bool truth = !strcmp(op->name, "stablehlo.if"), last = region == op->region_count - 1;
  pb_door_value* made = PB_NEW_ARRAY(&d->m.program->arena, pb_door_value, (size_t)count + 1);
  if (!last) {
    int is = by;
    if (!truth) {
      pb_door_value yes = {pb_make_constant(&d->m, PB_I1, 0, NULL, "\1"), -1},
                    no = {pb_make_constant(&d->m, PB_I1, 0, NULL, "\0"), -1};
      PB_TRY(choose(d, op, by, region, yes.value, no.value, &is));
    }
    mark(d, op, PB_S1_IF, is);
  }
  ++d->branches;
  PB_TRY(pb__door_region(d, op, region, 0, NULL, count, made));
  --d->branches;
  if (!region) make_variables(d, count, made, result, all);
  PB_TRY(assign(d, op, count, made, all));
  if (last) return PB_OK;
  mark(d, op, PB_S1_ELSE, -1);
  PB_TRY(run_branches(d, op, by, region + 1, result, all));
  mark(d, op, PB_S1_END, -1);
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
    PB_TRY(pb__door_region(d, op, (int)index, 0, NULL, count, all));
  } else if (is_long(op)) {
    carried variables = new_carried(d, count);
    PB_TRY(run_branches(d, op, by, 0, all, &variables));
  } else {
    ++d->branches;
    for (int r = 0; r < regions; ++r) PB_TRY(pb__door_region(d, op, r, 0, NULL, count, all + r * count));
    --d->branches;
    for (int k = 0; k < count; ++k) {
      pb_door_value last = all[(regions - 1) * count + k];
      if (last.value < 0) continue; // of no elements
      for (int r = regions - 2; r >= 0; --r) {
        pb_door_value* one = &all[r * count + k];
        if (one->value < 0) return pb__door_refuse(d, op, "branches of different types");
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

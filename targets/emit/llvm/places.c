// Before and behind, of one such loop:
//
//   for i: y[at(i)] = is(i) ? y[at(i)] + u(i) : y[at(i)]
//
//   for s by 400:
//     for i = s to s + 400: place[i - s] = at(i); more[i - s] = is(i) ? u(i) : 0
//     for i = s to s + 400: y[place[i - s]] += more[i - s]
//
// A short row of whole numbers is counted in two tables in turn, which are added to it at the end: what is added at one
// place twice in a row waits less. They have a place more than the row, for turns that add nothing, so that what each
// adds need not be kept where it is one number:
//
//     for i = s to s + 400: place[i - s] = is(i) ? at(i) : count
//     for i = s to s + 400 by 2: own[place[i - s]] += 1; own[other + place[i - s + 1]] += 1
#include "targets/emit/llvm/places.h"

#include "core/s3/kernels.h"
#include "targets/emit/llvm/operation.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

enum { LEAST_TURNS = 1024, LEAST_STRIP = 64, MOST_STRIP = 512, LANES = 16, MOST_OPERATIONS = 96, TOGETHER = 8 };
enum { TABLES = 2, MOST_TABLE_BYTES = 8192, TURNS_A_PLACE = 8 };

typedef struct adding {
  MlirOperation loop, store, load, sum, choice; // choice: null, it always adds
  MlirValue place, more;                        // of the loop
  int64_t strip;
  int64_t own; // elements of each table; 0: it adds to the row itself
} adding;

static int64_t bound_of(MlirOperation loop, const char* name) {
  MlirAttribute attribute = pb_op_attribute(loop, name);
  MlirAffineMap map = mlirAttributeIsNull(attribute) ? (MlirAffineMap){NULL} : mlirAffineMapAttrGetValue(attribute);
  return !mlirAffineMapIsNull(map) && mlirAffineMapIsSingleConstant(map) ? mlirAffineMapGetSingleConstantResult(map)
                                                                         : -1;
}

// How many turns at a time, which divide all of them; 0: none do.
static int64_t strip_of(MlirOperation loop) {
  MlirAttribute step = pb_op_attribute(loop, "step");
  int64_t from = bound_of(loop, "lowerBoundMap"), turns = bound_of(loop, "upperBoundMap") - from;
  bool fits = from >= 0 && turns >= LEAST_TURNS && !mlirOperationGetNumOperands(loop) &&
              !mlirOperationGetNumResults(loop) && (mlirAttributeIsNull(step) || mlirIntegerAttrGetValueInt(step) == 1);
  for (int by = LANES; fits && by; by = by > 1 ? 1 : 0)
    for (int64_t strip = MOST_STRIP; strip >= LEAST_STRIP; --strip)
      if (turns % strip == 0 && strip % by == 0) return strip;
  return 0;
}

// The index but for a 0 that is added to it.
static MlirValue index_of(MlirValue v) {
  MlirOperation sum = pb_made_by(v, "arith.addi");
  for (int k = 0; k < 2 && !mlirOperationIsNull(sum); ++k) {
    MlirOperation zero = pb_made_by(mlirOperationGetOperand(sum, k), "affine.apply");
    if (mlirOperationIsNull(zero) || mlirOperationGetNumOperands(zero)) continue;
    MlirAffineMap map = mlirAffineMapAttrGetValue(pb_op_attribute(zero, "map"));
    if (mlirAffineMapIsSingleConstant(map) && !mlirAffineMapGetSingleConstantResult(map))
      return mlirOperationGetOperand(sum, 1 - k);
  }
  return v;
}

static int uses_of(MlirValue value) {
  int count = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    ++count;
  return count;
}

static bool begins_with(MlirOperation op, const char* text) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  return name.length >= strlen(text) && !memcmp(name.data, text, strlen(text));
}

// Whether the loop's other operations compute, and load from elsewhere, and nothing else.
static bool is_rest_pure(const adding* a) {
  MlirValue tensor = mlirOperationGetOperand(a->store, 1);
  int count = 0;
  PB_FOR_OPS (op, pb_op_body(a->loop)) {
    if (mlirOperationEqual(op, a->store) || mlirOperationEqual(op, a->load)) continue;
    bool loads = pb_op_is(op, "affine.load") || pb_op_is(op, "memref.load");
    bool pure = begins_with(op, "arith.") || begins_with(op, "math.") || pb_op_is(op, "affine.apply") || loads ||
                pb_op_is(op, "affine.yield");
    if (!pure || mlirOperationGetNumRegions(op) || ++count > MOST_OPERATIONS) return false;
    if (loads && mlirValueEqual(pb_tensor_viewed(mlirOperationGetOperand(op, 0)), tensor)) return false;
  }
  return true;
}

// Reads what the loop's one store stores. false: it is something else.
static bool read_sum(adding* a) {
  MlirValue stored = mlirOperationGetOperand(a->store, 0), tensor = mlirOperationGetOperand(a->store, 1);
  if (!mlirValueIsABlockArgument(tensor) || mlirShapedTypeGetRank(mlirValueGetType(tensor)) != 1) return false;
  if (mlirShapedTypeGetDimSize(mlirValueGetType(tensor), 0) > INT32_MAX) return false; // places are words
  a->choice = pb_made_by(stored, "arith.select");
  bool chooses = !mlirOperationIsNull(a->choice);
  MlirValue sum = chooses ? mlirOperationGetOperand(a->choice, 1) : stored;
  a->sum = pb_made_by(sum, "arith.addi");
  if (mlirOperationIsNull(a->sum)) a->sum = pb_made_by(sum, "arith.addf");
  if (mlirOperationIsNull(a->sum)) return false;
  for (int k = 0; k < 2; ++k) {
    a->load = pb_made_by(mlirOperationGetOperand(a->sum, k), "memref.load");
    a->more = mlirOperationGetOperand(a->sum, 1 - k);
    if (mlirOperationIsNull(a->load) || !mlirValueEqual(mlirOperationGetOperand(a->load, 0), tensor)) continue;
    MlirValue old = mlirOperationGetResult(a->load, 0);
    a->place = index_of(mlirOperationGetOperand(a->load, 1));
    return mlirValueEqual(a->place, index_of(mlirOperationGetOperand(a->store, 2))) && uses_of(sum) == 1 &&
           uses_of(old) == 1 + chooses && (!chooses || mlirValueEqual(mlirOperationGetOperand(a->choice, 2), old)) &&
           !mlirValueEqual(a->more, old);
  }
  return false;
}

// How long a table of its own is, the place for nothing among it, in whole rows of lanes. 0: it has none.
static int64_t own_of(const adding* a) {
  MlirType type = mlirValueGetType(a->more), row = mlirValueGetType(mlirOperationGetOperand(a->store, 1));
  if (!mlirTypeIsAInteger(type)) return 0; // the order of floats' sums is kept
  int64_t count = mlirShapedTypeGetDimSize(row, 0), turns = bound_of(a->loop, "upperBoundMap");
  int64_t own = (count / LANES + 1) * LANES;
  bool fits = own * (mlirIntegerTypeGetWidth(type) / 8) <= MOST_TABLE_BYTES && turns >= own * TURNS_A_PLACE;
  return fits && a->strip % TABLES == 0 ? own : 0;
}

static bool read(MlirOperation loop, adding* a) {
  *a = (adding){.loop = loop, .strip = strip_of(loop)};
  if (!a->strip) return false;
  PB_FOR_OPS (op, pb_op_body(loop)) {
    if (!pb_op_is(op, "memref.store")) continue;
    if (!mlirOperationIsNull(a->store)) return false;
    a->store = op;
  }
  if (mlirOperationIsNull(a->store) || !read_sum(a) || !is_rest_pure(a) ||
      pb_made_by(a->place, "arith.constant").ptr != NULL)
    return false;
  a->own = own_of(a);
  return true;
}

// ---- carried out ----

// The value in a copy of the loop: of the operation at the same place.
static MlirValue in_copy(const adding* a, MlirOperation copy, MlirValue v) {
  if (mlirValueIsABlockArgument(v))
    return mlirBlockEqual(mlirBlockArgumentGetOwner(v), pb_op_body(a->loop)) ? mlirBlockGetArgument(pb_op_body(copy), 0)
                                                                             : v;
  MlirOperation to = mlirBlockGetFirstOperation(pb_op_body(copy));
  PB_FOR_OPS (op, pb_op_body(a->loop)) {
    if (mlirOperationEqual(op, mlirOpResultGetOwner(v))) return mlirOperationGetResult(to, 0);
    to = mlirOperationGetNextInBlock(to);
  }
  return v;
}

static MlirOperation copy_into(const adding* a, MlirOperation before) {
  MlirOperation copy = mlirOperationClone(a->loop);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, copy);
  return copy;
}

static void clear(MlirOperation loop) {
  MlirBlock body = pb_op_body(loop);
  for (MlirOperation end = mlirBlockGetTerminator(body), op;
       !mlirOperationEqual(op = mlirBlockGetFirstOperation(body), end);) {
    MlirOperation last = op; // who is taken goes behind who takes it
    for (MlirOperation next; !mlirOperationEqual(next = mlirOperationGetNextInBlock(last), end);) last = next;
    mlirOperationDestroy(last);
  }
}

// From the outer loop's turn on, so many turns.
static void set_bounds(MlirOperation loop, MlirValue from, int64_t turns) {
  MlirContext context = mlirOperationGetContext(loop);
  MlirAffineExpr first = mlirAffineDimExprGet(context, 0);
  MlirAffineExpr end = mlirAffineAddExprGet(first, mlirAffineConstantExprGet(context, turns));
  const int32_t sizes[] = {1, 1, 0};
  const MlirValue operands[] = {from, from};
  mlirOperationSetOperands(loop, 2, operands);
  pb_op_set_attribute(loop, "lowerBoundMap", mlirAffineMapAttrGet(mlirAffineMapGet(context, 1, 0, 1, &first)));
  pb_op_set_attribute(loop, "upperBoundMap", mlirAffineMapAttrGet(mlirAffineMapGet(context, 1, 0, 1, &end)));
  pb_op_set_attribute(loop, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 3, sizes));
}

static MlirValue buffer(MlirOperation before, MlirType element, int64_t count) {
  MlirContext context = mlirOperationGetContext(before);
  const int32_t sizes[] = {0, 0};
  MlirAttribute none = {NULL};
  MlirType type = mlirMemRefTypeContiguousGet(element, 1, &count, none);
  return pb_operation_make(before, &(pb_operation){.name = "memref.alloca",
                                                   .type = type,
                                                   .attributes = {pb_named(context, "operandSegmentSizes",
                                                                           mlirDenseI32ArrayGet(context, 2, sizes))},
                                                   .attribute_count = 1});
}

static void set_constant_bounds(MlirOperation loop, int64_t turns) {
  MlirContext context = mlirOperationGetContext(loop);
  pb_op_set_attribute(loop, "lowerBoundMap", mlirAffineMapAttrGet(mlirAffineMapConstantGet(context, 0)));
  pb_op_set_attribute(loop, "upperBoundMap", mlirAffineMapAttrGet(mlirAffineMapConstantGet(context, turns)));
}

static MlirValue binary(MlirOperation before, const char* name, MlirType type, MlirValue a, MlirValue b) {
  return pb_operation_make(before, &(pb_operation){.name = name, .type = type, .operands = {a, b}, .operand_count = 2});
}

static void store(MlirOperation before, MlirValue v, MlirValue tensor, MlirValue at) {
  (void)pb_operation_make(before,
                          &(pb_operation){.name = "memref.store", .operands = {v, tensor, at}, .operand_count = 3});
}

// What adds nothing: of floats -0, which leaves a 0 its sign.
static MlirValue nothing(MlirOperation before, MlirType type) {
  if (mlirTypeIsAInteger(type)) return pb_operation_integer(before, "arith.constant", type, 0);
  MlirContext context = mlirOperationGetContext(before);
  return pb_operation_make(
      before, &(pb_operation){.name = "arith.constant",
                              .type = type,
                              .attributes = {pb_named(context, "value", mlirFloatAttrDoubleGet(context, type, -0.0))},
                              .attribute_count = 1});
}

static MlirValue turn_in(MlirOperation loop, MlirOperation end, MlirValue from) {
  MlirType index = mlirIndexTypeGet(mlirOperationGetContext(loop));
  return binary(end, "arith.subi", index, mlirBlockGetArgument(pb_op_body(loop), 0), from);
}

static MlirValue cast(MlirOperation before, const char* name, MlirType to, MlirValue from) {
  return pb_operation_make(before, &(pb_operation){.name = name, .type = to, .operands = {from}, .operand_count = 1});
}

// A place of 64 bits or an index as the word that it is: a word, kept between two. null: it is not known to be one.
static MlirValue as_word(MlirOperation before, MlirValue v) {
  MlirType word = mlirIntegerTypeGet(mlirOperationGetContext(before), 32);
  MlirOperation from = pb_made_by(v, "arith.index_cast"), wide = pb_made_by(v, "arith.extsi");
  if (!mlirOperationIsNull(from)) return as_word(before, mlirOperationGetOperand(from, 0));
  if (!mlirOperationIsNull(wide) && mlirTypeEqual(mlirValueGetType(mlirOperationGetOperand(wide, 0)), word))
    return mlirOperationGetOperand(wide, 0);
  static const char* const names[] = {"arith.minsi", "arith.maxsi"};
  for (int k = 0; k < 2; ++k) {
    MlirOperation op = pb_made_by(v, names[k]);
    MlirOperation end = mlirOperationIsNull(op) ? op : pb_made_by(mlirOperationGetOperand(op, 1), "arith.constant");
    if (mlirOperationIsNull(end)) continue;
    int64_t number = mlirIntegerAttrGetValueInt(pb_op_attribute(end, "value"));
    MlirValue inner = as_word(before, mlirOperationGetOperand(op, 0));
    if (mlirValueIsNull(inner) || number < INT32_MIN || number > INT32_MAX) return (MlirValue){NULL};
    return binary(before, names[k], word, inner, pb_operation_integer(before, "arith.constant", word, number));
  }
  return (MlirValue){NULL};
}

static MlirValue choose(MlirOperation before, MlirValue is, MlirValue then, MlirValue otherwise) {
  return pb_operation_make(before, &(pb_operation){.name = "arith.select",
                                                   .type = mlirValueGetType(then),
                                                   .operands = {is, then, otherwise},
                                                   .operand_count = 3});
}

// An index and a constant.
static MlirValue further(MlirOperation before, MlirValue at, int64_t by) {
  MlirType index = mlirIndexTypeGet(mlirOperationGetContext(before));
  return by ? binary(before, "arith.addi", index, at, pb_operation_integer(before, "arith.constant", index, by)) : at;
}

typedef struct buffers {
  MlirValue places, mores, own; // mores: null, all add one number; own: null, there is none
} buffers;

static bool is_one_number(const adding* a) {
  return a->own && !mlirOperationIsNull(pb_made_by(a->more, "arith.constant"));
}

// Turn `at` + k of those that add.
static void add_one(const adding* a, MlirOperation done, const buffers* b, MlirValue at, int k) {
  MlirContext context = mlirOperationGetContext(done);
  MlirType index = mlirIndexTypeGet(context), type = mlirValueGetType(a->more), word = mlirIntegerTypeGet(context, 32);
  MlirValue tensor = a->own ? b->own : mlirOperationGetOperand(a->store, 1), more;
  at = further(done, at, k);
  MlirValue there = cast(done, "arith.index_castui", index, binary(done, "memref.load", word, b->places, at));
  if (a->own) there = further(done, there, k % TABLES * a->own);
  if (is_one_number(a)) {
    MlirOperation number = mlirOperationClone(mlirOpResultGetOwner(a->more));
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(done), done, number);
    more = mlirOperationGetResult(number, 0);
  } else {
    more = binary(done, "memref.load", type, b->mores, at);
  }
  MlirValue old = binary(done, "memref.load", type, tensor, there);
  const char* add = pb_op_is(a->sum, "arith.addi") ? "arith.addi" : "arith.addf";
  store(done, binary(done, add, type, old, more), tensor, there);
}

// What computes places and what is added, of a turn of `outer`.
static void make_early(const adding* a, MlirOperation outer, const buffers* b) {
  MlirOperation end = mlirBlockGetTerminator(pb_op_body(outer));
  MlirValue from = mlirBlockGetArgument(pb_op_body(outer), 0);
  MlirOperation early = copy_into(a, end), done = mlirBlockGetTerminator(pb_op_body(early));
  MlirType type = mlirValueGetType(a->more), word = mlirIntegerTypeGet(mlirOperationGetContext(outer), 32);
  MlirValue more = in_copy(a, early, a->more), place = in_copy(a, early, a->place), narrow = as_word(done, place);
  if (mlirValueIsNull(narrow)) narrow = cast(done, "arith.index_cast", word, place);
  if (!mlirOperationIsNull(a->choice)) {
    MlirValue is = in_copy(a, early, mlirOperationGetOperand(a->choice, 0));
    if (a->own)
      narrow = choose(done, is, narrow, pb_operation_integer(done, "arith.constant", word, a->own - 1));
    else
      more = choose(done, is, more, nothing(done, type));
  }
  MlirValue at = turn_in(early, done, from);
  store(done, narrow, b->places, at);
  if (!is_one_number(a)) store(done, more, b->mores, at);
  MlirOperation gone[] = {a->store, a->choice, a->sum, a->load}; // who takes in front of who is taken
  MlirOperation copies[4] = {{NULL}, {NULL}, {NULL}, {NULL}};
  MlirOperation to = mlirBlockGetFirstOperation(pb_op_body(early));
  PB_FOR_OPS (op, pb_op_body(a->loop)) {
    for (int k = 0; k < 4; ++k)
      if (!mlirOperationIsNull(gone[k]) && mlirOperationEqual(op, gone[k])) copies[k] = to;
    to = mlirOperationGetNextInBlock(to);
  }
  for (int k = 0; k < 4; ++k)
    if (!mlirOperationIsNull(copies[k])) mlirOperationDestroy(copies[k]);
  set_bounds(early, from, a->strip);
}

static void make_late(const adding* a, MlirOperation outer, const buffers* b) {
  MlirValue from = mlirBlockGetArgument(pb_op_body(outer), 0);
  MlirOperation late = copy_into(a, mlirBlockGetTerminator(pb_op_body(outer)));
  clear(late);
  MlirOperation done = mlirBlockGetTerminator(pb_op_body(late));
  MlirValue at = turn_in(late, done, from);
  int together = a->strip % TOGETHER == 0 ? TOGETHER : a->own ? TABLES : 1;
  for (int k = 0; k < together; ++k) add_one(a, done, b, at, k);
  pb_op_set_attribute(late, "step", mlirIntegerAttrGet(mlirIndexTypeGet(mlirOperationGetContext(outer)), together));
  set_bounds(late, from, a->strip);
}

// In front of the loop the tables are 0; behind it they are added to the row.
static void begin_tables(const adding* a, const buffers* b) {
  MlirOperation loop = copy_into(a, a->loop);
  clear(loop);
  set_constant_bounds(loop, TABLES * a->own);
  MlirOperation end = mlirBlockGetTerminator(pb_op_body(loop));
  store(end, nothing(end, mlirValueGetType(a->more)), b->own, mlirBlockGetArgument(pb_op_body(loop), 0));
}

static void end_tables(const adding* a, const buffers* b) {
  MlirType type = mlirValueGetType(a->more);
  MlirValue row = mlirOperationGetOperand(a->store, 1);
  MlirOperation loop = copy_into(a, a->loop);
  clear(loop);
  set_constant_bounds(loop, mlirShapedTypeGetDimSize(mlirValueGetType(row), 0));
  MlirOperation end = mlirBlockGetTerminator(pb_op_body(loop));
  MlirValue at = mlirBlockGetArgument(pb_op_body(loop), 0), sum = binary(end, "memref.load", type, row, at);
  for (int k = 0; k < TABLES; ++k) {
    MlirValue part = binary(end, "memref.load", type, b->own, further(end, at, k * a->own));
    sum = binary(end, "arith.addi", type, sum, part);
  }
  store(end, sum, row, at);
}

static void carry_out(const adding* a, MlirBlock function) {
  MlirOperation first = mlirBlockGetFirstOperation(function);
  MlirContext context = mlirOperationGetContext(a->loop);
  MlirType type = mlirValueGetType(a->more), word = mlirIntegerTypeGet(context, 32);
  buffers b = {.places = buffer(first, word, a->strip)};
  if (!is_one_number(a)) b.mores = buffer(first, type, a->strip);
  if (a->own) b.own = buffer(first, type, TABLES * a->own);
  if (a->own) begin_tables(a, &b);
  MlirOperation outer = copy_into(a, a->loop);
  clear(outer);
  pb_op_set_attribute(outer, "step", mlirIntegerAttrGet(mlirIndexTypeGet(context), a->strip));
  make_early(a, outer, &b);
  make_late(a, outer, &b);
  if (a->own) end_tables(a, &b);
  mlirOperationDestroy(a->loop);
}

static void visit(MlirBlock block, MlirBlock function) {
  MlirOperation next, op = mlirBlockGetFirstOperation(block);
  for (; !mlirOperationIsNull(op); op = next) {
    adding a;
    next = mlirOperationGetNextInBlock(op);
    if (!pb_op_is(op, "affine.for")) continue;
    if (read(op, &a))
      carry_out(&a, function);
    else
      visit(pb_op_body(op), function);
  }
}

static void visit_body(void* unused, MlirBlock body) {
  (void)unused;
  if (!mlirAttributeIsNull(pb_op_attribute(mlirBlockGetParentOperation(body), "pb.scalar"))) visit(body, body);
}

void pb_llvm_places(MlirModule module) { pb_each_body(module, visit_body, NULL); }

// Rows of lanes that each are the largest of several f32, NaN if one is:
//
//   before   a = maximumf(maximumf(maximumf(-inf, x0), x1), x2);  store a;   b = ...;  store b
//   after    if any lane of the four x is NaN { as before } else { a = x1 > x0 ? x1 : x0; ...;  store a;  store b }
//
// An instruction chooses the larger of two, and takes several more to let NaN win. A few rows that are stored ask at
// once: of neighbours along a row only loads that together have all elements are asked, the first and the last of a
// window of five, say. What they take of memory they load where they take it, for there are not as many registers.
#include "targets/emit/llvm/windows.h"

#include "core/s3/chip_facts.h"
#include "core/s3/kernels.h"
#include "targets/emit/llvm/indices.h"
#include "targets/emit/llvm/operation.h"

#include <math.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

enum {
  TOGETHER = 4,    // stores that ask at once
  LEAST_ROWS = 4,  // stores of a block
  LEAST_TERMS = 3, // of each: two instructions make the largest of two
  MOST_STORES = 64,
  MOST_TERMS = 256, // of those together
  MOST_VISITS = 512,
  MOST_COPIES = 1024
};

typedef struct windows {
  MlirType row; // of f32, as many as the chip has lanes
  int64_t lanes;
} windows;

typedef struct terms {
  MlirValue values[MOST_TERMS];
  int count, visits;
} terms;

// Operations and their copies in a branch.
typedef struct copies {
  MlirOperation from[MOST_COPIES];
  MlirValue plain[MOST_COPIES]; // in place of a maximum
  int count;
  bool quick; // of no NaN
  MlirOperation before;
} copies;

static bool is_maximum(const windows* w, MlirOperation op) {
  return pb_op_is(op, "arith.maximumf") && mlirTypeEqual(mlirValueGetType(mlirOperationGetResult(op, 0)), w->row);
}

static bool is_least(MlirValue v) {
  MlirOperation op = pb_made_by(v, "arith.constant");
  if (mlirOperationIsNull(op)) return false;
  MlirAttribute value = pb_op_attribute(op, "value");
  return mlirAttributeIsADenseElements(value) && mlirDenseElementsAttrIsSplat(value) &&
         mlirDenseElementsAttrGetFloatSplatValue(value) == -INFINITY;
}

static bool is_pure(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  bool computes = name.length > 6 && (!memcmp(name.data, "arith.", 6) || !memcmp(name.data, "math.", 5));
  return computes && mlirOperationGetNumResults(op) == 1 && !mlirOperationGetNumRegions(op);
}

static bool is_load(MlirOperation op) { return pb_op_is(op, "affine.vector_load"); }
static bool is_store(MlirOperation op) { return pb_op_is(op, "affine.vector_store"); }

static MlirOperation maker_in(MlirValue v, MlirBlock block) {
  MlirOperation none = {NULL};
  if (!mlirValueIsAOpResult(v)) return none;
  MlirOperation op = mlirOpResultGetOwner(v);
  return mlirBlockEqual(mlirOperationGetBlock(op), block) ? op : none;
}

static const char late[] = "pb.late"; // a mark on what comes of a maximum in its block

static bool is_late(MlirValue v, MlirBlock block) {
  MlirOperation op = maker_in(v, block);
  return !mlirOperationIsNull(op) && pb_op_has(op, late);
}

// Marks them. false: there are too many, or others than those that can be copied, and stores, take them.
static bool mark_late(const windows* w, MlirBlock block) {
  int count = 0;
  PB_FOR_OPS (op, block) {
    bool is = is_maximum(w, op);
    count += is_load(op);
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(op) && !is; ++k)
      is = is_late(mlirOperationGetOperand(op, k), block);
    if (is_store(op)) continue;
    if (is && !is_pure(op)) return false;
    if (is && mlirOperationGetNumOperands(op) > PB_OPERATION_MOST) return false;
    count += is;
    if (is) pb_op_set_attribute(op, late, mlirUnitAttrGet(mlirOperationGetContext(op)));
  }
  return count <= MOST_COPIES;
}

static void unmark(MlirBlock block) {
  PB_FOR_OPS (op, block) (void)mlirOperationRemoveAttributeByName(op, mlirStringRefCreateFromCString(late));
}

static bool add_term(terms* t, MlirValue v) {
  for (int k = 0; k < t->count; ++k)
    if (mlirValueEqual(t->values[k], v)) return true;
  if (t->count == MOST_TERMS) return false;
  t->values[t->count++] = v;
  return true;
}

// What the maxima are of that the value is made of.
static bool find_terms(const windows* w, MlirValue v, MlirBlock block, terms* t) {
  MlirOperation op = maker_in(v, block);
  if (++t->visits > MOST_VISITS) return false;
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(op); ++k) {
    MlirValue from = mlirOperationGetOperand(op, k);
    if (is_late(from, block)) {
      if (!find_terms(w, from, block, t)) return false;
    } else if (is_maximum(w, op) && !is_least(from) && !add_term(t, from)) {
      return false;
    }
  }
  return true;
}

// The block's stores of largest rows, which all stand behind whatever it loads, and of which it loads nothing. Returns
// how many; 0: it is no such block.
static int find_stores(const windows* w, MlirBlock block, MlirOperation* stores) {
  int count = 0;
  bool loads_behind = false;
  PB_FOR_OPS (op, block) {
    if (mlirOperationGetNumRegions(op) || pb_op_is(op, "func.call") || pb_op_is(op, "memref.store")) return 0;
    if (is_load(op) || pb_op_is(op, "affine.load") || pb_op_is(op, "memref.load")) loads_behind |= count > 0;
    if (!is_store(op)) {
      if (pb_op_is(op, "affine.store")) return 0;
      continue;
    }
    terms t = {.count = 0};
    if (count == MOST_STORES || loads_behind || !is_late(mlirOperationGetOperand(op, 0), block)) return 0;
    if (!find_terms(w, mlirOperationGetOperand(op, 0), block, &t) || t.count < LEAST_TERMS ||
        t.count > MOST_TERMS / TOGETHER)
      return 0;
    stores[count++] = op;
  }
  for (int k = 0; k < count; ++k)
    PB_FOR_OPS (op, block)
      if (is_load(op) && mlirValueEqual(pb_tensor_viewed(mlirOperationGetOperand(op, 0)),
                                        pb_tensor_viewed(mlirOperationGetOperand(stores[k], 1))))
        return 0;
  return loads_behind || count < LEAST_ROWS ? 0 : count;
}

// ---- which terms are asked ----

// Whether loads of the same line on both sides, which are asked, have all elements of this one.
static bool is_covered(const windows* w, const terms* t, const bool* gone, int k) {
  MlirOperation op = pb_made_by(t->values[k], "affine.vector_load");
  int64_t before = INT64_MAX, behind = INT64_MAX;
  if (mlirOperationIsNull(op) || !pb_lies_in_rows(op)) return false;
  for (int i = 0; i < t->count; ++i) {
    MlirOperation other = pb_made_by(t->values[i], "affine.vector_load");
    int64_t by;
    if (i == k || gone[i] || mlirOperationIsNull(other) || !pb_lies_in_rows(other)) continue;
    if (!mlirValueEqual(mlirOperationGetOperand(op, 0), mlirOperationGetOperand(other, 0))) continue;
    if (!pb_are_apart(other, op, &by)) continue;
    if (by >= 0 && by < behind) behind = by;
    if (by <= 0 && -by < before) before = -by;
  }
  return before <= w->lanes && behind <= w->lanes - before;
}

static MlirValue made(MlirOperation before, const char* name, MlirType type, MlirValue a, MlirValue b,
                      int64_t predicate) {
  MlirContext context = mlirOperationGetContext(before);
  pb_operation op = {.name = name, .type = type, .operands = {a, b}, .operand_count = 2};
  if (predicate >= 0) {
    MlirAttribute order = mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), predicate);
    op.attributes[op.attribute_count++] = pb_named(context, "predicate", order);
  }
  return pb_operation_make(before, &op);
}

static MlirValue loaded_anew(MlirValue v, MlirOperation before) {
  MlirOperation load = pb_made_by(v, "affine.vector_load");
  if (mlirOperationIsNull(load)) return v;
  MlirOperation copy = mlirOperationClone(load);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, copy);
  return mlirOperationGetResult(copy, 0);
}

// Whether a lane of the terms is NaN.
static MlirValue any_nan(const windows* w, const terms* t, MlirOperation before) {
  enum { UNORDERED = 14 }; // predicate
  MlirContext context = mlirOperationGetContext(before);
  MlirType truth = mlirIntegerTypeGet(context, 1), truths = mlirVectorTypeGet(1, &w->lanes, truth);
  MlirValue all = {NULL}, waits = {NULL};
  bool gone[MOST_TERMS] = {false};
  for (int k = 0; k < t->count; ++k) gone[k] = is_covered(w, t, gone, k);
  for (int k = 0; k < t->count; ++k) {
    if (gone[k]) continue;
    MlirValue v = loaded_anew(t->values[k], before);
    if (mlirValueIsNull(waits)) {
      waits = v;
      continue;
    }
    MlirValue is = made(before, "arith.cmpf", truths, waits, v, UNORDERED);
    all = mlirValueIsNull(all) ? is : made(before, "arith.ori", truths, all, is, -1);
    waits = (MlirValue){NULL};
  }
  if (!mlirValueIsNull(waits)) {
    MlirValue is = made(before, "arith.cmpf", truths, waits, waits, UNORDERED);
    all = mlirValueIsNull(all) ? is : made(before, "arith.ori", truths, all, is, -1);
  }
  MlirAttribute kind = mlirAttributeParseGet(context, mlirStringRefCreateFromCString("#vector.kind<or>"));
  return pb_operation_make(before, &(pb_operation){.name = "vector.reduction",
                                                   .type = truth,
                                                   .operands = {all},
                                                   .operand_count = 1,
                                                   .attributes = {pb_named(context, "kind", kind)},
                                                   .attribute_count = 1});
}

// ---- the two branches ----

static MlirValue copied(const windows* w, copies* c, MlirValue v, MlirBlock block) {
  enum { GREATER = 2 }; // predicate
  MlirOperation op = maker_in(v, block);
  if (mlirOperationIsNull(op) || (!is_load(op) && !is_late(v, block))) return v;
  for (int k = 0; k < c->count; ++k)
    if (mlirOperationEqual(c->from[k], op)) return c->plain[k];
  MlirValue operands[PB_OPERATION_MOST] = {{NULL}}, result = {NULL};
  intptr_t count = mlirOperationGetNumOperands(op);
  bool plain = c->quick && is_maximum(w, op);
  for (intptr_t k = 0; k < count && !is_load(op) && k < PB_OPERATION_MOST; ++k)
    operands[k] = copied(w, c, mlirOperationGetOperand(op, k), block);
  MlirContext context = mlirOperationGetContext(op);
  MlirType truths = mlirVectorTypeGet(1, &w->lanes, mlirIntegerTypeGet(context, 1));
  if (plain && is_least(operands[0])) {
    result = operands[1];
  } else if (plain) {
    MlirValue is = made(c->before, "arith.cmpf", truths, operands[1], operands[0], GREATER);
    result = pb_operation_make(c->before, &(pb_operation){.name = "arith.select",
                                                          .type = w->row,
                                                          .operands = {is, operands[1], operands[0]},
                                                          .operand_count = 3});
  } else {
    MlirOperation copy = mlirOperationClone(op);
    for (intptr_t k = 0; k < count && !is_load(op) && k < PB_OPERATION_MOST; ++k)
      mlirOperationSetOperand(copy, k, operands[k]);
    (void)mlirOperationRemoveAttributeByName(copy, mlirStringRefCreateFromCString(late));
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(c->before), c->before, copy);
    result = mlirOperationGetResult(copy, 0);
  }
  if (c->count < MOST_COPIES) {
    c->from[c->count] = op;
    c->plain[c->count++] = result;
  }
  return result;
}

static MlirRegion branch(const windows* w, const MlirOperation* stores, int count, bool quick) {
  MlirOperation first = stores[0];
  MlirBlock block = mlirOperationGetBlock(first), body = mlirBlockCreate(0, NULL, NULL);
  MlirOperationState state =
      mlirOperationStateGet(mlirStringRefCreateFromCString("scf.yield"), mlirOperationGetLocation(first));
  MlirOperation end = mlirOperationCreate(&state);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body);
  mlirBlockAppendOwnedOperation(body, end);
  copies c = {.quick = quick, .before = end};
  for (int k = 0; k < count; ++k) {
    MlirValue v = copied(w, &c, mlirOperationGetOperand(stores[k], 0), block);
    MlirOperation copy = mlirOperationClone(stores[k]);
    mlirOperationSetOperand(copy, 0, v);
    mlirBlockInsertOwnedOperationBefore(body, end, copy);
  }
  return region;
}

static void carry_out(const windows* w, const MlirOperation* stores, int count, MlirOperation before) {
  MlirBlock block = mlirOperationGetBlock(before);
  terms t = {.count = 0};
  for (int k = 0; k < count; ++k, t.visits = 0) // each was found to have no more than there is room for
    (void)find_terms(w, mlirOperationGetOperand(stores[k], 0), block, &t);
  MlirValue is = any_nan(w, &t, before);
  MlirRegion regions[] = {branch(w, stores, count, false), branch(w, stores, count, true)};
  MlirOperationState state =
      mlirOperationStateGet(mlirStringRefCreateFromCString("scf.if"), mlirOperationGetLocation(before));
  mlirOperationStateAddOperands(&state, 1, &is);
  mlirOperationStateAddOwnedRegions(&state, 2, regions);
  mlirBlockInsertOwnedOperationBefore(block, before, mlirOperationCreate(&state));
}

// What nothing takes any more, the last ones first.
static void clear(MlirBlock block) {
  MlirOperation last = mlirBlockGetTerminator(block);
  for (bool again = true; again;) {
    again = false;
    MlirOperation next, op = mlirBlockGetFirstOperation(block);
    for (; !mlirOperationEqual(op, last); op = next) {
      next = mlirOperationGetNextInBlock(op);
      if ((!is_pure(op) && !is_load(op)) || !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, 0))))
        continue;
      mlirOperationDestroy(op);
      again = true;
    }
  }
}

static void visit(const windows* w, MlirBlock block) {
  MlirOperation stores[MOST_STORES];
  PB_FOR_OPS (op, block)
    if (pb_op_is(op, "affine.for")) visit(w, pb_op_body(op));
  int count = mark_late(w, block) ? find_stores(w, block, stores) : 0;
  for (int k = 0; k < count; k += TOGETHER)
    carry_out(w, stores + k, count - k < TOGETHER ? count - k : TOGETHER, stores[0]);
  for (int k = 0; k < count; ++k) mlirOperationDestroy(stores[k]);
  if (count) clear(block);
  unmark(block);
}

static void visit_body(void* user, MlirBlock body) { visit(user, body); }

void pb_llvm_windows(MlirModule module, const pb_chip* chip) {
  windows w = {.lanes = pb_vector_facts_of(chip).lanes};
  if (chip->control != PB_CONTROL_THREADS || w.lanes < 2) return;
  w.row = mlirVectorTypeGet(1, &w.lanes, mlirF32TypeGet(mlirModuleGetContext(module)));
  pb_each_body(module, visit_body, &w);
}

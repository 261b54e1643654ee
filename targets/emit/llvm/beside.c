// Nests that are beside each other become one loop, in which what they compute alike is computed once:
//
//   before   for %i { %a = load %x[%i]  %b = load %x[%i + 8]  store add(%a, %b), %y[%i] }
//            for %j { %c = load %x[%j]  %d = load %x[%j + 8]  store sub(%c, %d), %y[%j + 8] }
//   after    for %i { %a = load %x[%i]  %b = load %x[%i + 8]  store add(%a, %b), %y[%i]  store sub(%a, %b), %y[%i + 8]
//   }
//
// None may read what another one stores. Both may store to one tensor: in value form no element is written twice. LLVM
// would find what is alike, too, but looks through loops of so many operations only to leave them as they are.
#include "targets/emit/llvm/beside.h"

#include "core/poly/nest.h"
#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

enum { MOST_LOOPS = PB_NEST_DIMS };

// A perfect nest: its loops, the innermost one's body of operations without regions.
typedef struct chain {
  MlirOperation loops[MOST_LOOPS];
  int count;
} chain;

static bool is_beside(MlirOperation op) {
  if (!pb_op_is(op, "affine.for")) return false;
  MlirAttribute part = pb_op_attribute(op, "pb.part");
  return !mlirAttributeIsNull(part) && mlirAttributeIsAString(part) &&
         mlirStringRefEqual(mlirStringAttrGetValue(part), mlirStringRefCreateFromCString(PB_PART_BESIDE));
}

static MlirBlock body_of(const chain* c) { return pb_op_body(c->loops[c->count - 1]); }

static bool read_chain(MlirOperation op, chain* c) {
  c->count = 0;
  for (;;) {
    if (c->count == MOST_LOOPS || mlirOperationGetNumResults(op)) return false;
    c->loops[c->count++] = op;
    MlirOperation first = mlirBlockGetFirstOperation(pb_op_body(op));
    if (!pb_op_is(first, "affine.for")) break;
    MlirOperation behind = mlirOperationGetNextInBlock(first);
    if (!mlirOperationEqual(behind, mlirBlockGetTerminator(pb_op_body(op)))) return false;
    op = first;
  }
  PB_FOR_OPS (inner, body_of(c))
    if (mlirOperationGetNumRegions(inner) || pb_op_is(inner, "func.call")) return false;
  return true;
}

// The same operation on the same values.
static bool are_alike(MlirOperation a, MlirOperation b) {
  intptr_t operands = mlirOperationGetNumOperands(a), attributes = mlirOperationGetNumAttributes(a);
  if (!mlirIdentifierEqual(mlirOperationGetName(a), mlirOperationGetName(b)) ||
      operands != mlirOperationGetNumOperands(b) || attributes != mlirOperationGetNumAttributes(b) ||
      mlirOperationGetNumResults(a) != mlirOperationGetNumResults(b))
    return false;
  for (intptr_t k = 0; k < operands; ++k)
    if (!mlirValueEqual(mlirOperationGetOperand(a, k), mlirOperationGetOperand(b, k))) return false;
  for (intptr_t k = 0; k < attributes; ++k) {
    MlirNamedAttribute of_a = mlirOperationGetAttribute(a, k), of_b = mlirOperationGetAttribute(b, k);
    if (!mlirIdentifierEqual(of_a.name, of_b.name) || !mlirAttributeEqual(of_a.attribute, of_b.attribute)) return false;
  }
  for (intptr_t k = 0; k < mlirOperationGetNumResults(a); ++k)
    if (!mlirTypeEqual(mlirValueGetType(mlirOperationGetResult(a, k)), mlirValueGetType(mlirOperationGetResult(b, k))))
      return false;
  return true;
}

// Loops of as many turns from the same number on, named alike or not.
static bool turn_alike(const chain* a, const chain* b) {
  static const char* const bounds[] = {"lowerBoundMap", "upperBoundMap", "step"};
  if (a->count != b->count) return false;
  for (int k = 0; k < a->count; ++k) {
    intptr_t operands = mlirOperationGetNumOperands(a->loops[k]);
    if (operands != mlirOperationGetNumOperands(b->loops[k])) return false;
    for (intptr_t i = 0; i < operands; ++i)
      if (!mlirValueEqual(mlirOperationGetOperand(a->loops[k], i), mlirOperationGetOperand(b->loops[k], i)))
        return false;
    for (int i = 0; i < 3; ++i)
      if (!mlirAttributeEqual(pb_op_attribute(a->loops[k], bounds[i]), pb_op_attribute(b->loops[k], bounds[i])))
        return false;
  }
  return true;
}

static bool stores(MlirOperation op) { return pb_op_is(op, "affine.store") || pb_op_is(op, "memref.store"); }
static bool loads(MlirOperation op) { return pb_op_is(op, "affine.load") || pb_op_is(op, "memref.load"); }

static bool reads_what_is_stored(const chain* reader, const chain* writer) {
  PB_FOR_OPS (store, body_of(writer)) {
    if (!stores(store)) continue;
    PB_FOR_OPS (load, body_of(reader))
      if (loads(load) && mlirValueEqual(mlirOperationGetOperand(load, 0), mlirOperationGetOperand(store, 1)))
        return true;
  }
  return false;
}

static MlirOperation like_it(MlirBlock block, MlirOperation op) {
  PB_FOR_OPS (have, block)
    if (are_alike(have, op)) return have;
  return (MlirOperation){NULL};
}

// The second one's body behind the first one's; nothing is left of its loops.
static void join(const chain* to, const chain* from) {
  for (int k = 0; k < to->count; ++k)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(pb_op_body(from->loops[k]), 0),
                                  mlirBlockGetArgument(pb_op_body(to->loops[k]), 0));
  MlirBlock into = body_of(to), of = body_of(from);
  MlirOperation end = mlirBlockGetTerminator(into), last = mlirBlockGetTerminator(of);
  for (MlirOperation op = mlirBlockGetFirstOperation(of), next; !mlirOperationEqual(op, last); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    MlirOperation like = stores(op) ? (MlirOperation){NULL} : like_it(into, op);
    if (mlirOperationIsNull(like)) {
      mlirBlockInsertOwnedOperationBefore(into, end, op);
      continue;
    }
    for (intptr_t k = 0; k < mlirOperationGetNumResults(op); ++k)
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, k), mlirOperationGetResult(like, k));
    mlirOperationDestroy(op);
  }
  mlirOperationDestroy(from->loops[0]);
}

void pb_llvm_join_beside(MlirOperation func) {
  MlirBlock body = pb_op_body(func);
  chain first = {.count = 0}, next;
  for (MlirOperation op = mlirBlockGetFirstOperation(body), behind; !mlirOperationIsNull(op); op = behind) {
    behind = mlirOperationGetNextInBlock(op);
    if (!is_beside(op) || !read_chain(op, &next)) {
      if (mlirOperationGetNumRegions(op) || mlirOperationGetNumOperands(op))
        first.count = 0; // numbers alone may stand between
      continue;
    }
    if (first.count && turn_alike(&first, &next) && !reads_what_is_stored(&next, &first) &&
        !reads_what_is_stored(&first, &next)) {
      join(&first, &next);
    } else {
      first = next;
    }
  }
}

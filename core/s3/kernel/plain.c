// Plain loops shared among threads: a dim of the tensors that a kernel writes is cut among them.
//
//   before   affine.for %i = 0 to 64 { ... memref.store %v, %y[%i, %at] ... }      // kernels marked pb.scalar
//   after    %lo:2 = call @pb_partition(64)                                       // marked pb.shared too
//            affine.for %i = %lo#0 to %lo#1 { ... }
//
// Each nest of the kernel must have a loop over that dim: wherever it looks at a tensor that the kernel writes, that
// loop alone is the index there. Then no thread sees what another one writes, and each goes through its part in the
// order of the loops, so that results are the same for any number of threads.
#include "core/s3/kernel/plain.h"

#include "core/s3/chip_facts.h"
#include "core/s3/kernels.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

enum { MOST_NESTS = 16, MOST_LOOPS = 16, MOST_USES = 256, MOST_TENSORS = 16 };

typedef struct use { // of a tensor, by a load or a store
  MlirOperation op;
  MlirValue tensor;
  int nest, first; // of its indices among the operands; of an affine one the map's
  bool is_store;
} use;

typedef struct plain {
  MlirOperation nests[MOST_NESTS], loops[MOST_NESTS][MOST_LOOPS], chosen[MOST_NESTS];
  int nest_count, loop_count[MOST_NESTS], use_count, tensor_count;
  use uses[MOST_USES];
  MlirValue tensors[MOST_TENSORS]; // that are written
  int dim[MOST_TENSORS];           // of each, which is cut; -1: it is not known yet
  int64_t extent;
  double work; // operations, all loops turned
  int64_t own; // bytes that a tensor of the kernel's own may have
} plain;

static MlirStringRef str(const char* text) { return mlirStringRefCreateFromCString(text); }

// The loop's number of turns, from 0 on by one; -1: it is another one.
static int64_t turns_of(MlirOperation loop) {
  if (mlirOperationGetNumOperands(loop)) return -1;
  MlirAttribute lower = pb_op_attribute(loop, "lowerBoundMap"), upper = pb_op_attribute(loop, "upperBoundMap");
  MlirAttribute step = pb_op_attribute(loop, "step");
  if (mlirAttributeIsNull(lower) || mlirAttributeIsNull(upper)) return -1;
  MlirAffineMap from = mlirAffineMapAttrGetValue(lower), to = mlirAffineMapAttrGetValue(upper);
  if (!mlirAttributeIsNull(step) && mlirIntegerAttrGetValueInt(step) != 1) return -1;
  if (!mlirAffineMapIsSingleConstant(from) || mlirAffineMapGetSingleConstantResult(from)) return -1;
  return mlirAffineMapIsSingleConstant(to) ? mlirAffineMapGetSingleConstantResult(to) : -1;
}

// What the value is but for maps that leave it as it is.
static MlirValue plain_value(MlirValue v) {
  while (mlirValueIsAOpResult(v)) {
    MlirOperation op = mlirOpResultGetOwner(v);
    if (!pb_op_is(op, "affine.apply") || mlirOperationGetNumOperands(op) != 1) break;
    MlirAffineMap map = mlirAffineMapAttrGetValue(pb_op_attribute(op, "map"));
    if (mlirAffineMapGetNumDims(map) != 1 || !mlirAffineExprIsADim(mlirAffineMapGetResult(map, 0))) break;
    v = mlirOperationGetOperand(op, 0);
  }
  return v;
}

// The value that is the index of dim r alone; null: a sum of several.
static MlirValue index_of(const use* u, int r) {
  if (pb_op_is(u->op, "memref.load") || pb_op_is(u->op, "memref.store"))
    return plain_value(mlirOperationGetOperand(u->op, u->first + r));
  MlirAffineMap map = mlirAffineMapAttrGetValue(pb_op_attribute(u->op, "map"));
  MlirAffineExpr e = mlirAffineMapGetResult(map, r);
  if (!mlirAffineExprIsADim(e)) return (MlirValue){NULL};
  return plain_value(mlirOperationGetOperand(u->op, u->first + (int)mlirAffineDimExprGetPosition(e)));
}

static bool is_loops_turn(MlirValue v, MlirOperation loop) {
  return v.ptr && mlirValueEqual(v, mlirBlockGetArgument(pb_op_body(loop), 0));
}

static int tensor_number(const plain* p, MlirValue v) {
  for (int k = 0; k < p->tensor_count; ++k)
    if (mlirValueEqual(p->tensors[k], v)) return k;
  return -1;
}

// A tensor outside, or one that the kernel has for itself, of which each thread has one then: none under another shape.
static bool is_whole(const plain* p, MlirValue tensor) {
  if (mlirValueIsABlockArgument(tensor)) return true;
  int64_t bits = 8 * p->own;
  if (!pb_op_is(mlirOpResultGetOwner(tensor), "memref.alloc")) return false;
  MlirType type = mlirValueGetType(tensor), element = mlirShapedTypeGetElementType(type);
  if (!mlirShapedTypeHasStaticShape(type)) return false;
  bits /= mlirTypeIsAInteger(element) ? mlirIntegerTypeGetWidth(element) : mlirFloatTypeGetWidth(element);
  for (int64_t r = 0; r < mlirShapedTypeGetRank(type); ++r)
    bits /= mlirShapedTypeGetDimSize(type, r) + !mlirShapedTypeGetDimSize(type, r);
  return bits > 0;
}

static bool add_use(plain* p, MlirOperation op, int nest, bool is_store) {
  MlirValue tensor = mlirOperationGetOperand(op, is_store);
  if (p->use_count == MOST_USES || !is_whole(p, tensor)) return false;
  p->uses[p->use_count++] = (use){op, tensor, nest, 1 + is_store, is_store};
  if (!is_store || tensor_number(p, tensor) >= 0) return true;
  if (p->tensor_count == MOST_TENSORS) return false;
  p->dim[p->tensor_count] = -1;
  p->tensors[p->tensor_count++] = tensor;
  return true;
}

// Loops, loads, stores and numbers, and nothing else.
static bool read_block(plain* p, MlirBlock block, int nest, double times) {
  PB_FOR_OPS (op, block) {
    if (pb_op_is(op, "affine.for")) {
      int64_t turns = turns_of(op);
      if (turns < 1 || p->loop_count[nest] == MOST_LOOPS) return false;
      p->loops[nest][p->loop_count[nest]++] = op;
      if (!read_block(p, pb_op_body(op), nest, times * (double)turns)) return false;
    } else if (pb_op_is(op, "affine.load") || pb_op_is(op, "memref.load")) {
      if (!add_use(p, op, nest, false)) return false;
      p->work += times;
    } else if (pb_op_is(op, "affine.store") || pb_op_is(op, "memref.store")) {
      if (!add_use(p, op, nest, true)) return false;
      p->work += times;
    } else if (mlirOperationGetNumRegions(op) || pb_op_is(op, "func.call")) {
      return false;
    } else {
      for (intptr_t k = 0; k < mlirOperationGetNumOperands(op); ++k)
        if (mlirTypeIsAMemRef(mlirValueGetType(mlirOperationGetOperand(op, k)))) return false;
      p->work += times;
    }
  }
  return true;
}

static bool read_kernel(MlirOperation func, plain* p) {
  PB_FOR_OPS (op, pb_op_body(func)) {
    if (pb_op_is(op, "affine.for")) {
      if (p->nest_count == MOST_NESTS) return false;
      int nest = p->nest_count++;
      int64_t turns = turns_of(op);
      p->nests[nest] = p->loops[nest][p->loop_count[nest]++] = op;
      if (turns < 1 || !read_block(p, pb_op_body(op), nest, (double)turns)) return false;
    } else if (!pb_op_is(op, "memref.dealloc") && (mlirOperationGetNumRegions(op) || mlirOperationGetNumOperands(op))) {
      return false; // numbers alone stand beside them
    }
  }
  return p->tensor_count > 0;
}

// Whether this loop of the nest may be cut, and which dims of tensors it cuts then.
static bool fits(plain* p, int nest, MlirOperation loop) {
  int dim[MOST_TENSORS];
  memcpy(dim, p->dim, sizeof dim);
  for (int t = 0; t < p->tensor_count; ++t) {
    if (dim[t] >= 0) continue;
    intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(p->tensors[t]));
    for (int r = 0; r < rank && dim[t] < 0; ++r) {
      bool seen = false, all = mlirShapedTypeGetDimSize(mlirValueGetType(p->tensors[t]), r) == p->extent;
      for (int k = 0; k < p->use_count && all; ++k) {
        const use* u = &p->uses[k];
        if (u->nest != nest || !mlirValueEqual(u->tensor, p->tensors[t])) continue;
        seen = true;
        all = is_loops_turn(index_of(u, r), loop);
      }
      if (seen && all) dim[t] = r;
    }
  }
  for (int k = 0; k < p->use_count; ++k) {
    const use* u = &p->uses[k];
    int t = tensor_number(p, u->tensor);
    if (u->nest != nest || t < 0) continue;
    if (dim[t] < 0 || !is_loops_turn(index_of(u, dim[t]), loop)) return false;
  }
  memcpy(p->dim, dim, sizeof dim);
  return true;
}

// All nests, with the first one's loop chosen.
static bool choose(plain* p, MlirOperation first) {
  for (int t = 0; t < p->tensor_count; ++t) p->dim[t] = -1;
  p->extent = turns_of(first);
  for (int nest = 0; nest < p->nest_count; ++nest) {
    p->chosen[nest] = (MlirOperation){NULL};
    for (int l = 0; l < p->loop_count[nest] && !p->chosen[nest].ptr; ++l) {
      MlirOperation loop = p->loops[nest][l];
      if (nest ? turns_of(loop) != p->extent : !mlirOperationEqual(loop, first)) continue;
      if (fits(p, nest, loop)) p->chosen[nest] = loop;
    }
    if (!p->chosen[nest].ptr) return false;
  }
  return true;
}

// The outermost loop that has a turn for each of some threads, else the longest.
static bool find(plain* p) {
  enum { THREADS = 16 };
  MlirOperation best = {NULL};
  for (int l = 0; l < p->loop_count[0]; ++l) {
    MlirOperation loop = p->loops[0][l];
    if (turns_of(loop) < 2 || !choose(p, loop)) continue;
    if (!best.ptr || (turns_of(best) < THREADS && turns_of(loop) > turns_of(best))) best = loop;
  }
  return best.ptr && choose(p, best);
}

static MlirOperation make(MlirOperation before, const char* name, MlirAttribute attribute, const char* attribute_name,
                          int operands, const MlirValue* operand, int results) {
  MlirContext context = mlirOperationGetContext(before);
  MlirType index = mlirIndexTypeGet(context), types[] = {index, index};
  MlirNamedAttribute named = {mlirIdentifierGet(context, str(attribute_name)), attribute};
  MlirOperationState state = mlirOperationStateGet(str(name), mlirOperationGetLocation(before));
  mlirOperationStateAddOperands(&state, operands, operand);
  mlirOperationStateAddResults(&state, results, types);
  mlirOperationStateAddAttributes(&state, 1, &named);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, op);
  return op;
}

// ---- which loop is innermost ----

// Whether the nest is loops one inside the other, and then what they do.
static bool is_perfect(const plain* p, int nest) {
  for (int l = 0; l + 1 < p->loop_count[nest]; ++l) {
    MlirOperation inner = p->loops[nest][l + 1];
    MlirBlock body = pb_op_body(p->loops[nest][l]);
    MlirOperation behind = mlirOperationGetNextInBlock(inner);
    if (!mlirBlockEqual(mlirOperationGetBlock(inner), body)) return false;
    if (!mlirOperationEqual(mlirBlockGetFirstOperation(body), inner)) return false;
    if (!mlirOperationEqual(mlirBlockGetTerminator(body), behind)) return false;
  }
  return true;
}

enum { FAR = INT32_MAX }; // steps of several elements

// How far the expression goes in a turn of the loop; FAR: by more than one, or not evenly.
static int64_t step_of(const use* u, MlirAffineExpr e, MlirOperation loop) {
  if (mlirAffineExprIsAConstant(e)) return 0;
  if (mlirAffineExprIsADim(e))
    return is_loops_turn(plain_value(mlirOperationGetOperand(u->op, u->first + (int)mlirAffineDimExprGetPosition(e))),
                         loop);
  if (!mlirAffineExprIsABinary(e)) return FAR;
  int64_t a = step_of(u, mlirAffineBinaryOpExprGetLHS(e), loop), b = step_of(u, mlirAffineBinaryOpExprGetRHS(e), loop);
  if (!a && !b) return 0;
  return mlirAffineExprIsAAdd(e) && a + b == 1 ? 1 : FAR;
}

// The same of the use's index r.
static int64_t index_step(const use* u, int r, MlirOperation loop) {
  if (pb_op_is(u->op, "memref.load") || pb_op_is(u->op, "memref.store"))
    return is_loops_turn(plain_value(mlirOperationGetOperand(u->op, u->first + r)), loop);
  MlirAffineMap map = mlirAffineMapAttrGetValue(pb_op_attribute(u->op, "map"));
  return step_of(u, mlirAffineMapGetResult(map, r), loop);
}

// How many elements further the use goes in a turn of the loop: 0, 1, or FAR.
static int64_t element_step(const use* u, MlirOperation loop) {
  int last = (int)mlirShapedTypeGetRank(mlirValueGetType(u->tensor)) - 1;
  for (int r = 0; r < last; ++r)
    if (index_step(u, r, loop)) return FAR;
  return last < 0 ? 0 : index_step(u, last, loop);
}

// Whether two uses of a tensor are of one element, said alike.
static bool is_same_element(const use* a, const use* b) {
  if (!pb_op_is(a->op, "affine.load") && !pb_op_is(a->op, "affine.store")) return false;
  if (!pb_op_is(b->op, "affine.load") && !pb_op_is(b->op, "affine.store")) return false;
  MlirAffineMap map = mlirAffineMapAttrGetValue(pb_op_attribute(a->op, "map"));
  if (!mlirAffineMapEqual(map, mlirAffineMapAttrGetValue(pb_op_attribute(b->op, "map")))) return false;
  for (int k = 0; k < (int)mlirAffineMapGetNumInputs(map); ++k)
    if (!mlirValueEqual(mlirOperationGetOperand(a->op, a->first + k), mlirOperationGetOperand(b->op, b->first + k)))
      return false;
  return true;
}

// Whether turns of loop l, which goes on by one element of what the nest writes, combine onto elements of their own
// what the loops inside it go through, and nothing else is written or read of these tensors.
static bool combines_onto_own(const plain* p, int nest, int l) {
  const use* store[MOST_TENSORS] = {NULL};
  for (int k = 0; k < p->use_count; ++k)
    if (p->uses[k].nest == nest && p->uses[k].is_store) store[tensor_number(p, p->uses[k].tensor)] = &p->uses[k];
  for (int k = 0; k < p->use_count; ++k) {
    const use* u = &p->uses[k];
    int t = tensor_number(p, u->tensor), rank = (int)mlirShapedTypeGetRank(mlirValueGetType(u->tensor));
    if (u->nest != nest || t < 0 || !store[t]) continue;
    if (!is_same_element(store[t], u) || element_step(u, p->loops[nest][l]) != 1) return false;
    for (int inner = l + 1; inner < p->loop_count[nest]; ++inner)
      for (int r = 0; r < rank; ++r)
        if (index_step(u, r, p->loops[nest][inner])) return false;
  }
  return true;
}

// Whether turns of loop l write elements of their own, neighbours, and read neighbours: it may be the innermost one
// and goes in lanes there.
static bool goes_in_lanes(plain* p, int nest, int l) {
  MlirOperation loop = p->loops[nest][l];
  for (int t = 0; t < p->tensor_count; ++t) p->dim[t] = -1;
  p->extent = turns_of(loop);
  if (!fits(p, nest, loop) && !combines_onto_own(p, nest, l)) return false;
  for (int k = 0; k < p->use_count; ++k) {
    int64_t step = p->uses[k].nest == nest ? element_step(&p->uses[k], loop) : 1;
    if (step == FAR || (p->uses[k].is_store && step != 1)) return false;
  }
  return true;
}

// Whether the innermost loop takes elements that are no neighbours.
static bool goes_far(const plain* p, int nest) {
  MlirOperation innermost = p->loops[nest][p->loop_count[nest] - 1];
  bool far = false;
  for (int k = 0; k < p->use_count; ++k) far |= p->uses[k].nest == nest && element_step(&p->uses[k], innermost) == FAR;
  return far;
}

// Two loops, one right inside the other, from 0 on, change places.
static void change_places(MlirOperation outer, MlirOperation inner) {
  MlirContext context = mlirOperationGetContext(outer);
  MlirAttribute extent = pb_op_attribute(outer, "upperBoundMap");
  MlirOperation between =
      make(outer, "arith.constant", mlirIntegerAttrGet(mlirIndexTypeGet(context), 0), "value", 0, NULL, 1);
  MlirValue a = mlirBlockGetArgument(pb_op_body(outer), 0), b = mlirBlockGetArgument(pb_op_body(inner), 0);
  mlirValueReplaceAllUsesOfWith(a, mlirOperationGetResult(between, 0));
  mlirValueReplaceAllUsesOfWith(b, a);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(between, 0), b);
  mlirOperationDestroy(between);
  pb_op_set_attribute(outer, "upperBoundMap", pb_op_attribute(inner, "upperBoundMap"));
  pb_op_set_attribute(inner, "upperBoundMap", extent);
}

static void interchange(MlirOperation func, int64_t lanes) {
  plain p = {.own = INT64_MAX / 8};
  if (!read_kernel(func, &p)) return;
  for (int nest = 0; nest < p.nest_count; ++nest) {
    int count = p.loop_count[nest], chosen = -1;
    if (count < 2 || !is_perfect(&p, nest) || !goes_far(&p, nest)) continue;
    for (int l = 0; l < count - 1; ++l)
      if (turns_of(p.loops[nest][l]) >= lanes && goes_in_lanes(&p, nest, l)) chosen = l;
    for (int l = chosen; chosen >= 0 && l + 1 < count; ++l) change_places(p.loops[nest][l], p.loops[nest][l + 1]);
  }
}

// ---- shares ----

static void set_bounds(MlirOperation loop, MlirValue lo, MlirValue hi) {
  MlirContext context = mlirOperationGetContext(loop);
  MlirAttribute map = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(context, 1));
  const int32_t sizes[] = {1, 1, 0};
  const MlirValue operands[] = {lo, hi};
  mlirOperationSetOperands(loop, 2, operands);
  pb_op_set_attribute(loop, "lowerBoundMap", map);
  pb_op_set_attribute(loop, "upperBoundMap", map);
  pb_op_set_attribute(loop, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 3, sizes));
}

// Bytes that a tensor of the kernel's own may have of which each thread has one: none where lanes are threads, of which
// there are too many.
static int64_t own_bytes(const pb_vector_facts* facts) {
  enum { OF_A_THREAD = 1 << 20 };
  return facts->apart_cycles ? 0 : OF_A_THREAD;
}

bool pb_plain_may_share(const pb_chip* chip, MlirOperation func) {
  const pb_vector_facts facts = pb_vector_facts_of(chip);
  plain p = {.own = own_bytes(&facts)};
  return read_kernel(func, &p) && find(&p);
}

bool pb_plain_share(const pb_chip* chip, MlirOperation func) {
  const pb_vector_facts facts = pb_vector_facts_of(chip);
  plain p = {.own = own_bytes(&facts)};
  if (!facts.apart_cycles) interchange(func, facts.lanes);
  if (!read_kernel(func, &p) || !find(&p)) return false;
  MlirContext context = mlirOperationGetContext(func);
  MlirOperation first = mlirBlockGetFirstOperation(pb_op_body(func));
  MlirAttribute extent = mlirIntegerAttrGet(mlirIndexTypeGet(context), p.extent);
  MlirValue items = mlirOperationGetResult(make(first, "arith.constant", extent, "value", 0, NULL, 1), 0);
  MlirAttribute callee = mlirFlatSymbolRefAttrGet(context, str("pb_partition"));
  MlirOperation share = make(first, "func.call", callee, "callee", 1, &items, 2);
  for (int nest = 0; nest < p.nest_count; ++nest)
    set_bounds(p.chosen[nest], mlirOperationGetResult(share, 0), mlirOperationGetResult(share, 1));
  pb_op_set_attribute(func, "pb.shared", mlirUnitAttrGet(context));
  pb_op_set_attribute(func, "pb.work", pb_number_attribute(context, (int64_t)(p.work < 1e15 ? p.work : 1e15)));
  return true;
}

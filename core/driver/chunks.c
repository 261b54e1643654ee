// Large kernels that follow each other share by share become one kernel, which goes through all of them with each
// share:
//
//     call @k4(%x, %t)           func.func @k9(%x, %t, %y) attributes {pb.kernel, pb.run, pb.by_shares} {
//     call @k5(%t, %u)             affine.for %s = (this thread's of 128) {
//     call @k6(%u, %y)               func.call @k4(%x, %t)      // of share %s
//                                    func.call @k5(%t, %t)
//                                    func.call @k6(%t, %y)
//
// What one makes the next takes out of a near cache, where each alone would go through memory, and threads meet once.
// It is so where whatever a kernel of the run writes is touched, in all of them, in the share's own part alone
// (share_reach.c). Tensors of the run alone whose elements are as many take each other's place.
//
// Needs: planned kernels in the unit's module. Leaves: calls of the new kernels in the function; kernels that nobody
// else calls are no kernels any more, but inside of others.
#include "core/driver/runs.h"
#include "core/driver/share_reach.h"
#include "core/s3/chip_facts.h"
#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>

enum {
  SHARES = 128,       // into which plans cut a kernel
  MOST_TOUCHED = 256, // tensors of a run
  PARTS_OF_NEAR = 4   // of the second cache, that what each share reads anew may take
};

typedef struct touched {
  MlirValue tensor;
  pb_reach reach;  // of all calls
  int first, last; // calls
} touched;

typedef struct looked_at {
  MlirOperation kernel;
  pb_reach* reach; // of its arguments; NULL: it is not known
} looked_at;

typedef struct chunks {
  compilation* c;
  pb_arena arena;
  pb_run run;
  touched all[MOST_TOUCHED];
  int count;
  int64_t near;    // bytes of the second cache
  int64_t longest; // cycles of a call
  looked_at* kernels;
  size_t known, capacity;
} chunks;

static const pb_reach* reach_of(chunks* x, MlirOperation kernel) {
  for (size_t k = 0; k < x->known; ++k)
    if (mlirOperationEqual(x->kernels[k].kernel, kernel)) return x->kernels[k].reach;
  looked_at it = {.kernel = kernel};
  if (!pb__share_reach(kernel, SHARES, &x->arena, &it.reach)) it.reach = NULL;
  PB_PUSH(x->kernels, x->known, x->capacity, it);
  return it.reach;
}

// Bytes of so many elements of the tensor, or of all.
static int64_t anew_of(MlirType type, int64_t elements) {
  int64_t all = pb__tensor_elements(type), bytes = pb__tensor_bytes(type);
  return elements < all ? bytes / all * elements : bytes;
}

// What the call touches, by its operands; NULL: it is in no run.
static const pb_reach* reach_of_call(chunks* x, MlirOperation call) {
  MlirOperation kernel = pb__run_callee(x->c, call);
  if (mlirOperationIsNull(kernel) || !pb_op_has(kernel, "pb.shared")) return NULL;
  if (pb_op_has(kernel, "pb.turns")) return NULL;
  const pb_reach* reach = reach_of(x, kernel);
  int64_t anew = 0;
  for (intptr_t k = 0; reach && k < mlirOperationGetNumOperands(call); ++k)
    if (!reach[k].own) anew += anew_of(mlirValueGetType(mlirOperationGetOperand(call, k)), reach[k].span);
  return reach && anew * PARTS_OF_NEAR <= x->near ? reach : NULL;
}

static touched* find(chunks* x, MlirValue tensor) {
  for (int k = 0; k < x->count; ++k)
    if (mlirValueEqual(x->all[k].tensor, tensor)) return &x->all[k];
  return NULL;
}

static pb_reach joined(pb_reach a, pb_reach b) {
  return (pb_reach){a.read || b.read, a.written || b.written, a.own && b.own, a.span > b.span ? a.span : b.span};
}

static bool is_apart(pb_reach r) { return r.own || !r.written; }

// Whether shares stay apart with this call, too.
static bool fits(chunks* x, MlirOperation call, const pb_reach* reach) {
  intptr_t count = mlirOperationGetNumOperands(call);
  if (!pb__run_has_room(&x->run, call) || x->count + count > MOST_TOUCHED) return false;
  for (intptr_t k = 0; k < count; ++k) {
    pb_reach all = {.own = true};
    MlirValue tensor = pb_tensor_viewed(mlirOperationGetOperand(call, k));
    for (intptr_t j = 0; j < count; ++j) // one tensor under two names
      if (mlirValueEqual(pb_tensor_viewed(mlirOperationGetOperand(call, j)), tensor)) all = joined(all, reach[j]);
    const touched* before = find(x, tensor);
    if (!is_apart(before ? joined(before->reach, all) : all)) return false;
  }
  return true;
}

static void take(chunks* x, MlirOperation call, const pb_reach* reach) {
  int number = x->run.count;
  x->run.calls[x->run.count++] = call;
  MlirOperation kernel = pb__run_callee(x->c, call);
  int64_t cycles = pb_op_integer(kernel, "pb.cycles", 0);
  if (!number || cycles > x->longest) x->run.bound = pb_op_attribute(kernel, "pb.bound");
  x->longest = !number || cycles > x->longest ? cycles : x->longest;
  x->run.cycles += cycles;
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(call); ++k) {
    MlirValue tensor = pb_tensor_viewed(mlirOperationGetOperand(call, k));
    touched* t = find(x, tensor);
    if (!t) *(t = &x->all[x->count++]) = (touched){tensor, {.own = true}, number, number};
    t->reach = joined(t->reach, reach[k]);
    t->last = number;
  }
}

// ---- tensors of the run alone ----

// Whether all that uses the value, as it is or as a view, are calls of the run.
static bool is_used_inside(const chunks* x, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    if (pb__run_has(&x->run, op)) continue;
    if (mlirOperationGetNumResults(op) != 1 ||
        !mlirValueEqual(pb_tensor_viewed(mlirOperationGetResult(op, 0)), pb_tensor_viewed(value)))
      return false;
    if (!is_used_inside(x, mlirOperationGetResult(op, 0))) return false;
  }
  return true;
}

static bool is_local(const chunks* x, const touched* t) {
  return mlirValueIsAOpResult(t->tensor) && pb_op_is(mlirOpResultGetOwner(t->tensor), "memref.alloc") &&
         is_used_inside(x, t->tensor);
}

// Each takes the place of one that nobody reads any more when it is made.
static void share_places(chunks* x) {
  bool local[MOST_TOUCHED];
  for (int k = 0; k < x->count; ++k) local[k] = is_local(x, &x->all[k]);
  for (int k = 0; k < x->count; ++k) {
    if (!local[k]) continue;
    for (int j = 0; j < k && local[k]; ++j) {
      touched *to = &x->all[j], *from = &x->all[k];
      if (!local[j] || to->last >= from->first) continue;
      if (!mlirTypeEqual(mlirValueGetType(to->tensor), mlirValueGetType(from->tensor))) continue;
      mlirValueReplaceAllUsesOfWith(from->tensor, to->tensor);
      mlirOperationDestroy(mlirOpResultGetOwner(from->tensor));
      to->last = from->last;
      local[k] = false; // it is gone
    }
  }
}

// Whether what goes from one call to the next is more than a near cache holds beside the rest.
static bool is_worth_it(const chunks* x) {
  int64_t between = 0;
  for (int k = 0; k < x->count; ++k)
    if (x->all[k].reach.written && x->all[k].reach.read)
      between += pb__tensor_bytes(mlirValueGetType(x->all[k].tensor));
  return x->run.count > 1 && between * 2 >= x->near;
}

static pb_status end(chunks* x, int* number, bool* any) {
  pb_status status = PB_OK;
  if (is_worth_it(x)) {
    share_places(x);
    status = pb__run_end(&x->run, number, any);
  }
  x->run.count = x->count = 0;
  x->run.cycles = 0;
  return status;
}

static bool is_passed_over(MlirOperation op) {
  static const char* const names[] = {"memref.alloc", "memref.collapse_shape", "memref.reinterpret_cast",
                                      "arith.constant"};
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
    if (pb_op_is(op, names[k])) return true;
  return false;
}

static pb_status join(chunks* x, MlirOperation main, int* number, bool* any) {
  MlirOperation next, op = mlirBlockGetFirstOperation(pb_op_body(main));
  for (; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (is_passed_over(op)) continue;
    const pb_reach* reach = pb_op_is(op, "func.call") ? reach_of_call(x, op) : NULL;
    bool taken = reach && fits(x, op, reach);
    if (!taken) {
      PB_TRY(end(x, number, any));
      taken = reach && fits(x, op, reach); // as the first of another run
    }
    if (taken) take(x, op, reach);
  }
  return end(x, number, any);
}

pb_status pb__join_chunks(compilation* c, MlirOperation main, int* number, bool* any) {
  pb_vector_facts facts = pb_vector_facts_of(c->chip);
  if (!pb__joins_kernels(c) || !pb_chip_in_place(c->chip) || c->options->inputs.donation_count) return PB_OK;
  chunks x = {.c = c, .run = {.c = c, .shares = SHARES}, .near = facts.cache[1]};
  if (!x.near) return PB_OK;
  pb_status status = join(&x, main, number, any);
  free(x.kernels);
  pb_arena_free(&x.arena);
  return status;
}

// The turns of a block that take what the one before has made, and those that add up a block (a sum may be a product):
//
//   before   for t = 0 to 15 { y[16 b + t + 1] = y[16 b + t] + x[16 b + t + 1] }
//            for t = 0 to 16 { s[b] = s[b] + x[16 b + t] }
//   after    y[16 b ..] = so_far(x[16 b ..], y[16 b])
//            s[b] = total(x[16 b ..], s[b])
//
// Sixteen elements are so far in four steps, each of which adds what lies 1, 2, 4 and 8 lanes in front (Hillis and
// Steele 1986). Blocks wait for none of each other, where a turn waits for an addition. A line that is gone through
// from its end has its lanes in front of it on the other side.
#include "targets/emit/llvm/so_far.h"

#include "core/s3/chip_facts.h"
#include "core/s3/kernels.h"
#include "targets/emit/llvm/indices.h"
#include "targets/emit/llvm/kernels.h"
#include "targets/emit/llvm/operation.h"

#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

enum { BLOCK = 16, LEAST_LANES = 8, FUNCTIONS = 16 };

typedef struct block {
  MlirOperation loop, before, element, store, combine; // before: what loads what is so far
  int64_t turns;
  bool total, reverse; // total: all of it is one number
} block;

typedef struct pass {
  bool is_made[FUNCTIONS]; // by number: product, f64, total, reverse
} pass;

// ---- which loops ----

// Whether a is so much further along the last dim, and else where b is.
static bool is_further(MlirOperation a, MlirOperation b, int64_t by) {
  int64_t apart;
  return pb_are_apart(a, b, &apart) && apart == by;
}

// By how much the turn moves the access along its last dim, if along no other; else 0, and where that is not 1 or -1.
static int64_t step_of(MlirOperation access, MlirValue turn) {
  intptr_t rank = mlirShapedTypeGetRank(pb_tensor_type_of(access));
  pb_terms sum;
  for (intptr_t r = 0; r + 1 < rank; ++r)
    if (!pb_read_index(access, r, &sum) || pb_factor_of(&sum, turn)) return 0;
  if (!pb_read_index(access, rank - 1, &sum)) return 0;
  int64_t step = pb_factor_of(&sum, turn);
  return step == 1 || step == -1 ? step : 0;
}

static bool stays(MlirOperation access, MlirValue turn) {
  pb_terms sum;
  for (intptr_t r = 0; r < mlirShapedTypeGetRank(pb_tensor_type_of(access)); ++r)
    if (!pb_read_index(access, r, &sum) || pb_factor_of(&sum, turn)) return false;
  return true;
}

static int64_t turns_of(MlirOperation loop) {
  MlirAttribute lower = pb_op_attribute(loop, "lowerBoundMap"), step = pb_op_attribute(loop, "step");
  if (mlirOperationGetNumOperands(loop) || mlirOperationGetNumResults(loop) || mlirAttributeIsNull(lower)) return -1;
  MlirAffineMap from = mlirAffineMapAttrGetValue(lower);
  if (!mlirAffineMapIsSingleConstant(from) || mlirAffineMapGetSingleConstantResult(from)) return -1;
  if (!mlirAttributeIsNull(step) && mlirIntegerAttrGetValueInt(step) != 1) return -1;
  return pb_loop_iterations(loop);
}

// Two loads, an addition or a product, a store, and nothing else.
static bool read_operations(block* b) {
  int loads = 0, count = 0;
  MlirOperation load[2] = {{NULL}, {NULL}};
  PB_FOR_OPS (op, pb_op_body(b->loop)) {
    ++count;
    if (pb_op_is(op, "affine.load") && loads < 2) load[loads++] = op;
    if (pb_op_is(op, "affine.store")) b->store = op;
    if (pb_op_is(op, "arith.addf") || pb_op_is(op, "arith.mulf")) b->combine = op;
  }
  if (count != 5 || loads != 2 || mlirOperationIsNull(b->store) || mlirOperationIsNull(b->combine)) return false;
  MlirValue made = mlirOperationGetResult(b->combine, 0);
  if (!mlirValueEqual(mlirOperationGetOperand(b->store, 0), made)) return false;
  if (!mlirTypeIsAF32(mlirValueGetType(made)) && !mlirTypeIsAF64(mlirValueGetType(made))) return false;
  for (int k = 0; k < 2; ++k) {
    MlirValue one = mlirOperationGetResult(load[k], 0), other = mlirOperationGetResult(load[1 - k], 0);
    if (!pb_is_used_once(one)) return false;
    bool is_first = mlirValueEqual(mlirOperationGetOperand(b->combine, 0), one);
    if (!is_first && !mlirValueEqual(mlirOperationGetOperand(b->combine, 1), one)) return false;
    if (is_first && !mlirValueEqual(mlirOperationGetOperand(b->combine, 1), other)) return false;
  }
  for (int k = 0; k < 2; ++k) {
    MlirValue tensor = mlirOperationGetOperand(b->store, 1);
    if (!mlirValueEqual(mlirOperationGetOperand(load[k], 0), tensor)) continue;
    b->before = load[k];
    b->element = load[1 - k];
    if (!mlirValueEqual(mlirOperationGetOperand(b->element, 0), tensor)) return true; // else both are of it
  }
  return false;
}

static bool read(MlirOperation loop, block* b) {
  *b = (block){.loop = loop, .turns = turns_of(loop)};
  if ((b->turns != BLOCK && b->turns != BLOCK - 1) || !read_operations(b)) return false;
  if (!pb_lies_in_rows(b->before) || !pb_lies_in_rows(b->element) || !pb_lies_in_rows(b->store)) return false;
  MlirValue turn = mlirBlockGetArgument(pb_op_body(loop), 0);
  int64_t step = step_of(b->element, turn);
  b->reverse = step < 0;
  if (!step) return false;
  if (b->turns == BLOCK) {
    b->total = true;
    return stays(b->store, turn) && is_further(b->store, b->before, 0);
  }
  // The element in front of the first turn's is there where what is so far is.
  return mlirTypeEqual(pb_tensor_type_of(b->element), pb_tensor_type_of(b->store)) &&
         is_further(b->store, b->element, 0) && is_further(b->store, b->before, step);
}

// ---- carried out ----

// An access as it is in that turn, of an operation in front of the loop; value: what is stored, null: it loads.
static MlirValue access_in(const block* b, MlirOperation like, int64_t turn, const char* name, MlirType type,
                           MlirValue value) {
  MlirContext context = mlirOperationGetContext(b->loop);
  MlirValue number = pb_operation_integer(b->loop, "arith.constant", mlirIndexTypeGet(context), turn);
  MlirValue operands[2 + PB_MOST_TERMS];
  intptr_t count = 0;
  if (!mlirValueIsNull(value)) operands[count++] = value;
  for (intptr_t k = pb_tensor_at(like); k < mlirOperationGetNumOperands(like) && count < 2 + PB_MOST_TERMS; ++k) {
    MlirValue v = mlirOperationGetOperand(like, k);
    operands[count++] = mlirValueEqual(v, mlirBlockGetArgument(pb_op_body(b->loop), 0)) ? number : v;
  }
  MlirOperationState state =
      mlirOperationStateGet(mlirStringRefCreateFromCString(name), mlirOperationGetLocation(like));
  MlirNamedAttribute map = pb_named(context, "map", pb_op_attribute(like, "map"));
  mlirOperationStateAddOperands(&state, count, operands);
  mlirOperationStateAddAttributes(&state, 1, &map);
  if (mlirValueIsNull(value)) mlirOperationStateAddResults(&state, 1, &type);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(b->loop), b->loop, op);
  return mlirValueIsNull(value) ? mlirOperationGetResult(op, 0) : (MlirValue){NULL};
}

static int function_of(const block* b) {
  bool product = pb_op_is(b->combine, "arith.mulf"),
       wide = mlirTypeIsAF64(mlirValueGetType(mlirOperationGetResult(b->combine, 0)));
  return product << 3 | wide << 2 | b->total << 1 | b->reverse;
}

static void carry_out(const block* b, pass* p) {
  const MlirValue none = {NULL};
  MlirContext context = mlirOperationGetContext(b->loop);
  MlirType number = mlirValueGetType(mlirOperationGetResult(b->combine, 0));
  int64_t lanes = BLOCK, last = b->turns - 1;
  MlirType row = mlirVectorTypeGet(1, &lanes, number);
  int function = function_of(b);
  char name[32];
  (void)snprintf(name, sizeof name, "pb_so_far_%d", function);
  // The access of the lowest element: forwards it is where what is so far lies in the first turn.
  MlirOperation element = b->element, lowest = b->reverse ? b->store : b->before;
  if (!b->total && !b->reverse) element = b->before;
  MlirOperation shown = mlirOperationClone(element);
  mlirOperationSetOperand(shown, 0, mlirOperationGetOperand(b->element, 0));
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(b->loop), b->loop, shown);
  MlirValue v = access_in(b, shown, b->reverse ? last : 0, "affine.vector_load", row, none);
  mlirOperationDestroy(shown);
  MlirValue first = access_in(b, b->before, 0, "affine.load", number, none);
  MlirAttribute callee = mlirFlatSymbolRefAttrGet(context, mlirStringRefCreateFromCString(name));
  MlirValue made = pb_operation_make(b->loop, &(pb_operation){.name = "func.call",
                                                              .type = b->total ? number : row,
                                                              .operands = {v, first},
                                                              .operand_count = 2,
                                                              .attributes = {pb_named(context, "callee", callee)},
                                                              .attribute_count = 1});
  if (b->total)
    (void)access_in(b, b->store, 0, "affine.store", number, made);
  else
    (void)access_in(b, lowest, b->reverse ? last : 0, "affine.vector_store", row, made);
  mlirOperationDestroy(b->loop);
  p->is_made[function] = true;
}

static void visit(MlirBlock body, pass* p) {
  MlirOperation next, op = mlirBlockGetFirstOperation(body);
  for (; !mlirOperationIsNull(op); op = next) {
    block b;
    next = mlirOperationGetNextInBlock(op);
    if (!pb_op_is(op, "affine.for")) continue;
    if (read(op, &b))
      carry_out(&b, p);
    else
      visit(pb_op_body(op), p);
  }
}

static void visit_body(void* user, MlirBlock body) {
  if (pb_op_has(mlirBlockGetParentOperation(body), "pb.scalar")) visit(body, user);
}

// ---- the functions ----

static void print_step(pb_text* text, int by, bool reverse, const char* add, const char* type) {
  pb_text_add(text, "  %%s%d = vector.shuffle %%n, %%w%d [", by, by);
  for (int k = 0; k < BLOCK; ++k) { // of %n and %w one behind the other
    int from = reverse ? k + by : k - by;
    pb_text_add(text, "%s%d", k ? ", " : "", from < 0 || from >= BLOCK ? 0 : BLOCK + from);
  }
  pb_text_add(text, "] : vector<16x%s>, vector<16x%s>\n", type, type);
  pb_text_add(text, "  %%w%d = arith.%s %%s%d, %%w%d : vector<16x%s>\n", 2 * by, add, by, by, type);
}

static void print_function(pb_text* text, int function) {
  bool product = function & 8, total = function & 2, reverse = function & 1;
  const char *type = function & 4 ? "f64" : "f32", *add = product ? "mulf" : "addf";
  pb_text_add(text, "func.func private @pb_so_far_%d(%%v: vector<16x%s>, %%first: %s) -> ", function, type, type);
  pb_text_add(text, total ? "%s" : "vector<16x%s>", type);
  pb_text_add(text, " attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = [\"alwaysinline\"]} {\n");
  if (total) {
    pb_text_add(text, "  %%t = vector.reduction <%s>, %%v fastmath<reassoc> : vector<16x%s> into %s\n",
                product ? "mul" : "add", type, type);
    pb_text_add(text, "  %%y = arith.%s %%first, %%t : %s\n  return %%y : %s\n}\n", add, type, type);
    return;
  }
  pb_text_add(text, "  %%n = arith.constant dense<%s> : vector<16x%s>\n", product ? "1.0" : "-0.0", type);
  pb_text_add(text, "  %%w1 = vector.insert %%first, %%v [%d] : %s into vector<16x%s>\n", reverse ? BLOCK - 1 : 0, type,
              type);
  for (int by = 1; by < BLOCK; by *= 2) print_step(text, by, reverse, add, type);
  pb_text_add(text, "  return %%w16 : vector<16x%s>\n}\n", type);
}

void pb_llvm_so_far(MlirModule module, const pb_chip* chip) {
  pass p = {{false}};
  pb_text text = {0};
  if (chip->control != PB_CONTROL_THREADS || pb_vector_facts_of(chip).lanes < LEAST_LANES) return;
  pb_each_body(module, visit_body, &p);
  for (int k = 0; k < FUNCTIONS; ++k)
    if (p.is_made[k]) print_function(&text, k);
  if (text.length) (void)pb_llvm_add(module, mlirStringRefCreate(text.data, text.length));
  pb_text_free(&text);
}

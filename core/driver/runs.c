// Small kernels of a loop's turn that the host would launch one behind the other become one kernel that calls them:
//
//     call @k4(%x, %t)           func.func @k9(%x, %y) attributes {pb.kernel, pb.turns, pb.run} {
//     call @k5(%t, %u)             %t = memref.alloca()
//     call @k6(%u, %y)             func.call @k4(%x, %t)
//                                  ...
//
// Each would be launched for no more than some operations, in every turn. None of them is shared among threads, so that
// nothing is lost; numbers between them are on the stack, from where LLVM takes them to registers.
//
// Needs: the segments' kernels in the unit's module. Leaves: calls of the new kernels in the segments' functions, and
// the old ones to be marked by pb__join_loops.
#include "core/driver/runs.h"

#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>

enum {
  MOST_LOCAL = 256 // bytes of a tensor that lies on the stack, where it may be taken apart
};

typedef pb_run run;

static MlirBlock body_of(MlirOperation func) { return mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0)); }

MlirOperation pb__run_callee(const compilation* c, MlirOperation call) {
  MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(pb_op_attribute(call, "callee"));
  pb_arena scratch = {0};
  const char* name = pb_printf(&scratch, "%.*s", (int)callee.length, callee.data);
  MlirOperation kernel = pb_module_func(c->unit.module, name);
  if (pb_kernel_left(&c->unit, name)) kernel = (MlirOperation){NULL};
  pb_arena_free(&scratch);
  return kernel;
}

static bool is_small(const compilation* c, MlirOperation call) {
  MlirOperation kernel = pb__run_callee(c, call);
  return !mlirOperationIsNull(kernel) && c->control->saved(c->chip, kernel) <= 0;
}

bool pb__run_has(const run* r, MlirOperation op) {
  for (int k = 0; k < r->count; ++k)
    if (mlirOperationEqual(r->calls[k], op)) return true;
  return false;
}

int64_t pb__tensor_elements(MlirType type) {
  int64_t n = 1;
  for (intptr_t r = 0; r < mlirShapedTypeGetRank(type); ++r) n *= mlirShapedTypeGetDimSize(type, r);
  return n;
}

int64_t pb__tensor_bytes(MlirType type) {
  MlirType element = mlirShapedTypeGetElementType(type);
  int64_t bits =
      mlirTypeIsAInteger(element) ? (int64_t)mlirIntegerTypeGetWidth(element) : (int64_t)mlirFloatTypeGetWidth(element);
  return pb__tensor_elements(type) * ((bits + 7) / 8);
}

static bool is_local(const run* r, MlirValue value) {
  if (r->shares) return false; // it is each share's part of a tensor
  if (!mlirValueIsAOpResult(value) || !pb_op_is(mlirOpResultGetOwner(value), "memref.alloc")) return false;
  if (pb__tensor_bytes(mlirValueGetType(value)) > MOST_LOCAL) return false;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (!pb__run_has(r, mlirOpOperandGetOwner(use))) return false;
  return true;
}

// Views of one tensor as one type are the same: each is made anew where it is passed.
static bool is_same(MlirValue a, MlirValue b) {
  return mlirValueEqual(a, b) || (mlirTypeEqual(mlirValueGetType(a), mlirValueGetType(b)) &&
                                  mlirValueEqual(pb_tensor_viewed(a), pb_tensor_viewed(b)));
}

static int operand_of(const run* r, MlirValue value) {
  for (int k = 0; k < r->operand_count; ++k)
    if (is_same(r->operands[k].value, value)) return k;
  return -1;
}

// The operands of the calls that there are by now, in the arena. Returns how many of them the kernel takes.
static int take_operands(run* r, pb_arena* arena) {
  size_t room = 1;
  int taken = 0;
  for (int c = 0; c < r->count; ++c) room += (size_t)mlirOperationGetNumOperands(r->calls[c]);
  r->operands = PB_NEW_ARRAY(arena, pb_run_operand, room);
  r->operand_count = 0;
  for (int c = 0; c < r->count; ++c)
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(r->calls[c]); ++k) {
      MlirValue value = mlirOperationGetOperand(r->calls[c], k);
      if (operand_of(r, value) >= 0) continue;
      r->operands[r->operand_count] = (pb_run_operand){value, is_local(r, value)};
      taken += !r->operands[r->operand_count++].local;
    }
  return taken;
}

static void put_type(pb_text* text, MlirType type) { mlirTypePrint(type, pb_text_append, text); }

// As "(%a0, %a1) : (types) -> ()", of a call.
static void put_operands(const run* r, MlirOperation call, pb_text* text) {
  intptr_t count = mlirOperationGetNumOperands(call);
  for (intptr_t k = 0; k < count; ++k)
    pb_text_add(text, "%s%%a%d", k ? ", " : "(", operand_of(r, mlirOperationGetOperand(call, k)));
  pb_text_add(text, ") : (");
  for (intptr_t k = 0; k < count; ++k) {
    pb_text_add(text, "%s", k ? ", " : "");
    put_type(text, mlirValueGetType(mlirOperationGetOperand(call, k)));
  }
  pb_text_add(text, ") -> ()\n");
}

// So that the calls verify in a module of their own; each kernel once.
static void put_declaration(const run* r, int at, pb_text* text) {
  MlirAttribute callee = pb_op_attribute(r->calls[at], "callee");
  for (int k = 0; k < at; ++k)
    if (mlirAttributeEqual(pb_op_attribute(r->calls[k], "callee"), callee)) return;
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(callee);
  pb_text_add(text, "func.func private @%.*s(", (int)name.length, name.data);
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(r->calls[at]); ++k) {
    pb_text_add(text, "%s", k ? ", " : "");
    put_type(text, mlirValueGetType(mlirOperationGetOperand(r->calls[at], k)));
  }
  pb_text_add(text, ")\n");
}

static void put_kernel(const run* r, pb_text* text) {
  bool first = true;
  pb_text_add(text, "func.func @%s(", r->name);
  for (int k = 0; k < r->operand_count; ++k) {
    if (r->operands[k].local) continue;
    pb_text_add(text, "%s%%a%d: ", first ? "" : ", ", k);
    put_type(text, mlirValueGetType(r->operands[k].value));
    first = false;
  }
  pb_text_add(text, ") attributes {pb.kernel, pb.turns, pb.run");
  if (r->shares) pb_text_add(text, ", pb.shared, pb.by_shares, pb.cycles = %lld : i64", (long long)r->cycles);
  if (r->shares && !mlirAttributeIsNull(r->bound)) {
    pb_text_add(text, ", pb.bound = ");
    mlirAttributePrint(r->bound, pb_text_append, text);
  }
  pb_text_add(text, "} {\n");
  for (int k = 0; k < r->operand_count; ++k) {
    if (!r->operands[k].local) continue;
    pb_text_add(text, "  %%a%d = memref.alloca() {alignment = 64 : i64} : ", k);
    put_type(text, mlirValueGetType(r->operands[k].value));
    pb_text_add(text, "\n");
  }
  if (r->shares)
    pb_text_add(text,
                "  %%shares = arith.constant %lld : index\n"
                "  %%own:2 = func.call @pb_partition(%%shares) : (index) -> (index, index)\n"
                "  affine.for %%share = %%own#0 to %%own#1 {\n",
                (long long)r->shares);
  for (int c = 0; c < r->count; ++c) {
    MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(pb_op_attribute(r->calls[c], "callee"));
    pb_text_add(text, "  func.call @%.*s", (int)callee.length, callee.data);
    put_operands(r, r->calls[c], text);
  }
  if (r->shares) pb_text_add(text, "  }\n");
  pb_text_add(text, "  return\n}\n");
  if (r->shares) pb_text_add(text, "func.func private @pb_partition(index) -> (index, index)\n");
  for (int c = 0; c < r->count; ++c) put_declaration(r, c, text);
}

static pb_status take_kernel(const run* r) {
  compilation* c = r->c;
  pb_text text = {0};
  MlirModule made;
  put_kernel(r, &text);
  pb_status status = pb_module_parse_text(c->unit.context, text.data, text.length, r->name, NULL, c->unit.diag, &made);
  pb_text_free(&text);
  if (status != PB_OK) return status;
  MlirOperation kernel = pb_module_func(made, r->name);
  mlirOperationRemoveFromParent(kernel);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(c->unit.module), kernel);
  mlirModuleDestroy(made);
  return PB_OK;
}

// One call where the last one was; its operands are all there by then.
static void replace_calls(const run* r) {
  MlirOperation last = r->calls[r->count - 1];
  MlirContext context = r->c->unit.context;
  MlirOperationState state =
      mlirOperationStateGet(mlirStringRefCreateFromCString("func.call"), mlirOperationGetLocation(last));
  for (int k = 0; k < r->operand_count; ++k)
    if (!r->operands[k].local) mlirOperationStateAddOperands(&state, 1, &r->operands[k].value);
  MlirOperation call = mlirOperationCreate(&state);
  pb_op_set_attribute(call, "callee", mlirFlatSymbolRefAttrGet(context, mlirStringRefCreateFromCString(r->name)));
  pb_op_set_attribute(call, "pb.macs", pb_number_attribute(context, 0));
  MlirAttribute origin = pb_op_attribute(r->calls[0], "pb.origin");
  if (!mlirAttributeIsNull(origin)) pb_op_set_attribute(call, "pb.origin", origin);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(last), last, call);
  for (int k = 0; k < r->count; ++k) mlirOperationDestroy(r->calls[k]);
  for (int k = 0; k < r->operand_count; ++k)
    if (r->operands[k].local) mlirOperationDestroy(mlirOpResultGetOwner(r->operands[k].value));
}

pb_status pb__run_end(run* r, int* number, bool* any) {
  pb_arena scratch = {0};
  pb_status status = PB_OK;
  int taken = take_operands(r, &scratch);
  if (r->count > 1 && taken <= PB_ENGINE_MAX_ARGS) { // what is local may be used behind a run that ends early
    r->name = pb_printf(&r->c->unit.arena, "k%d", (*number)++);
    status = take_kernel(r);
    if (status == PB_OK) replace_calls(r);
    *any = true;
  }
  pb_arena_free(&scratch);
  r->count = 0;
  return status;
}

bool pb__run_has_room(const run* r, MlirOperation call) {
  if (r->count == PB_RUN_CALLS) return false;
  pb_arena scratch = {0};
  run with = *r;
  with.calls[with.count++] = call;
  int taken = take_operands(&with, &scratch);
  pb_arena_free(&scratch);
  return taken <= PB_ENGINE_MAX_ARGS;
}

static pb_status join_runs(compilation* c, MlirOperation main, int* number, bool* any) {
  run r = {.c = c};
  MlirOperation next, op = mlirBlockGetFirstOperation(body_of(main));
  for (; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (!pb_op_is(op, "func.call")) continue;
    bool small = is_small(c, op);
    if (!small || !pb__run_has_room(&r, op)) PB_TRY(pb__run_end(&r, number, any));
    if (small) r.calls[r.count++] = op;
  }
  return pb__run_end(&r, number, any);
}

pb_status pb__join_runs(compilation* c, int* number, bool* any) {
  for (size_t s = 0; s < c->segments.count; ++s)
    if (pb__is_in_loop(&c->s1, c->segments.items[s].first)) PB_TRY(join_runs(c, c->mains[s], number, any));
  return PB_OK;
}

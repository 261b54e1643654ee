#include "targets/control/grid/fills.h"

#include "core/poly/nest.h"
#include "core/s3/kernel/parts.h"
#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REGISTERS = 4 }; // of a row

typedef struct fill {
  const pb_nest* nest;
  MlirOperation store;
  int64_t row;                  // neighbours that are stored at once
  int64_t extent[PB_NEST_DIMS]; // of the nest's dims those of rows
  int64_t rows;
} fill;

static MlirStringRef str(const char* text) { return mlirStringRefCreateFromCString(text); }

// ---- what is filled ----

static MlirOperation innermost(MlirOperation nest) {
  MlirOperation op = nest;
  while (!mlirOperationIsNull(op) && !pb_op_is(op, "affine.store"))
    op = pb_op_is(op, "affine.for") ? mlirBlockGetFirstOperation(pb_op_body(op)) : mlirOperationGetNextInBlock(op);
  return op;
}

static bool read_fill(const pb_chip* chip, MlirOperation op, pb_arena* arena, fill* f) {
  pb_nest* nest = PB_NEW(arena, pb_nest);
  if (pb_nest_read(op, arena, nest) || !pb_nest_is_fill(nest) || !nest->dim_count) return false;
  *f = (fill){.nest = nest, .store = innermost(op), .row = 1, .rows = 1};
  if (mlirOperationIsNull(f->store)) return false;
  memcpy(f->extent, nest->extent, sizeof f->extent);
  int last = nest->dim_count - 1;
  int64_t most = (int64_t)chip->levels[PB_GRID_LANES].max * MOST_REGISTERS;
  if (pb_access_stride(&nest->access[0], last) == 1) f->row = pb_largest_divisor(nest->extent[last], most);
  f->extent[last] /= f->row;
  for (int d = 0; d < nest->dim_count; ++d) f->rows *= f->extent[d];
  return true;
}

// ---- the loops of a warp's rows ----

static void append(MlirStringRef part, void* text) { pb_text_add_bytes(text, part.data, part.length); }

// The function's arguments are the warp's number and, of each fill, its tensor and the number that it is filled with.
static void print_arguments(pb_text* t, const fill* fills, size_t count) {
  pb_text_add(t, "func.func private @pb_frame(%%warp: index");
  for (size_t k = 0; k < count; ++k) {
    pb_text_add(t, ", %%value%zu: ", k);
    mlirTypePrint(mlirValueGetType(mlirOperationGetOperand(fills[k].store, 0)), append, t);
    pb_text_add(t, ", %%to%zu: ", k);
    mlirTypePrint(mlirValueGetType(mlirOperationGetOperand(fills[k].store, 1)), append, t);
  }
  pb_text_add(t, ") {\n");
}

static void print_index(pb_text* t, const fill* f, const pb_index* index) {
  pb_text_add(t, "%lld", (long long)index->cst);
  for (int d = 0; d < f->nest->dim_count; ++d) {
    int64_t step = index->coef[d] * (d == f->nest->dim_count - 1 ? f->row : 1);
    if (step) pb_text_add(t, " + %%o%d * %lld", d, (long long)step);
  }
}

static void print_row(pb_text* t, const fill* f, size_t number) {
  MlirType element = mlirValueGetType(mlirOperationGetOperand(f->store, 0));
  pb_text vector = {0};
  pb_text_add(&vector, "vector<%lldx", (long long)f->row);
  mlirTypePrint(element, append, &vector);
  pb_text_add(t, "    %%row = vector.broadcast %%value%zu : ", number);
  mlirTypePrint(element, append, t);
  pb_text_add(t, " to %s>\n    affine.vector_store %%row, %%to%zu[", vector.data, number);
  for (int r = 0; r < f->nest->access[0].rank; ++r) {
    if (r) pb_text_add(t, ", ");
    print_index(t, f, &f->nest->access[0].index[r]);
  }
  pb_text_add(t, "] : ");
  mlirTypePrint(mlirValueGetType(mlirOperationGetOperand(f->store, 1)), append, t);
  pb_text_add(t, ", %s>\n", vector.data);
  pb_text_free(&vector);
}

static void print_loop(pb_text* t, const fill* f, size_t number, int64_t warps) {
  pb_text_add(t, "affine.for %%k = 0 to %lld {\n", (long long)((f->rows + warps - 1) / warps));
  pb_text_add(t, "  %%lin = affine.apply affine_map<(d0)[s0] -> (d0 * %lld + s0)>(%%k)[%%warp]\n", (long long)warps);
  pb_text_add(t, "  affine.if affine_set<(d0) : (%lld - d0 >= 0)>(%%lin) {\n", (long long)(f->rows - 1));
  int64_t inside = f->rows;
  for (int d = 0; d < f->nest->dim_count; ++d) {
    inside /= f->extent[d];
    pb_text_add(t, "    %%o%d = affine.apply affine_map<(d0) -> ((d0 floordiv %lld) mod %lld)>(%%lin)\n", d,
                (long long)inside, (long long)f->extent[d]);
  }
  print_row(t, f, number);
  pb_text_add(t, "  }\n}\n");
}

static MlirOperation warp_number(MlirContext context) {
  MlirNamedAttribute callee = mlirNamedAttributeGet(mlirIdentifierGet(context, str("callee")),
                                                    mlirFlatSymbolRefAttrGet(context, str("pb_grid_warp")));
  MlirType index = mlirIndexTypeGet(context);
  MlirOperationState state = mlirOperationStateGet(str("func.call"), mlirLocationUnknownGet(context));
  mlirOperationStateAddAttributes(&state, 1, &callee);
  mlirOperationStateAddResults(&state, 1, &index);
  return mlirOperationCreate(&state);
}

static void insert(MlirOperation op, MlirOperation before) {
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, op);
}

// The loops take the place of `first`.
static void replace(MlirOperation first, const fill* fills, size_t count, int64_t warps) {
  pb_text text = {0};
  print_arguments(&text, fills, count);
  for (size_t k = 0; k < count; ++k) print_loop(&text, &fills[k], k, warps);
  pb_text_add(&text, "return\n}\n");
  MlirContext context = mlirOperationGetContext(first);
  MlirModule frame = mlirModuleCreateParse(context, mlirStringRefCreate(text.data, text.length));
  pb_text_free(&text);
  if (mlirModuleIsNull(frame)) return;
  MlirBlock body = pb_op_body(pb_module_func(frame, "pb_frame"));
  MlirOperation warp = warp_number(context);
  insert(warp, first);
  mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, 0), mlirOperationGetResult(warp, 0));
  for (size_t k = 0; k < count; ++k) {
    MlirOperation value = mlirOperationClone(mlirOpResultGetOwner(mlirOperationGetOperand(fills[k].store, 0)));
    insert(value, first);
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, (intptr_t)(1 + 2 * k)), mlirOperationGetResult(value, 0));
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, (intptr_t)(2 + 2 * k)),
                                  mlirOperationGetOperand(fills[k].store, 1));
  }
  for (size_t k = 0; k < count; ++k) {
    MlirOperation loop = mlirBlockGetFirstOperation(body);
    mlirOperationRemoveFromParent(loop);
    insert(loop, first);
  }
  mlirModuleDestroy(frame);
  mlirOperationDestroy(first);
}

// ---- the kernel ----

// What the first part's thread does alone; null: nothing, or a kernel that may find all of it done.
static MlirOperation find_first(MlirOperation kernel) {
  PB_FOR_OPS (op, pb_op_body(kernel)) {
    bool parts = pb_op_is(op, "func.call") && mlirOperationGetNumResults(op) == 2;
    if (parts && !pb_op_is(mlirOpResultGetOwner(mlirOperationGetOperand(op, 0)), "arith.constant")) break;
    if (pb_op_is(op, "affine.if")) return op;
  }
  return (MlirOperation){NULL};
}

void pb_grid_spread_fills(const pb_chip* chip, MlirOperation kernel, const pb_launch* launch) {
  int64_t warps = (int64_t)launch->warps * launch->blocks;
  MlirOperation first = find_first(kernel);
  if (mlirOperationIsNull(first) || warps < 2) return;
  pb_arena arena = {0};
  fill* fills = NULL;
  size_t count = 0, capacity = 0;
  bool all = true;
  PB_FOR_OPS (op, pb_op_body(first)) {
    fill f;
    if (pb_op_is(op, "affine.yield")) continue;
    if (!(all = read_fill(chip, op, &arena, &f))) break;
    PB_PUSH(fills, count, capacity, f);
  }
  if (all && count) replace(first, fills, count, warps);
  free(fills);
  pb_arena_free(&arena);
}

#include "targets/control/grid/spread.h"

#include "core/poly/nest.h"
#include "core/s3/kernels.h"
#include "targets/control/grid/fills.h"

#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_THREADS = 128, ONE_BLOCK_THREADS = 256, MOST_STATEMENTS = 64 };

// A loop nest of the kernel, or a store of one element, and how many of its outer loops do not meet.
typedef struct statement {
  MlirOperation op;
  int loops;
  int64_t extent[PB_NEST_DIMS], iterations;
  bool reads; // all threads read numbers in front of it, which it may write
} statement;

typedef struct spread {
  MlirContext context;
  MlirModule module;
  MlirValue thread;
  pb_arena arena;
  int64_t threads; // of all blocks
  bool has_memory; // of its own, which is a block's
  int count;
  statement statements[MOST_STATEMENTS];
} spread;

// ---- which iterations do not meet ----

// Whether the index is another one for each choice of what moves it: sorted by their steps, each is wider than all
// below.
static bool tells_apart(const pb_nest* nest, const pb_index* index) {
  int64_t reach = 0;
  bool taken[PB_NEST_DIMS] = {false};
  for (;;) {
    int least = -1;
    for (int d = 0; d < nest->dim_count; ++d)
      if (index->coef[d] && !taken[d] && (least < 0 || llabs(index->coef[d]) < llabs(index->coef[least]))) least = d;
    if (least < 0) return true;
    if (llabs(index->coef[least]) <= reach) return false;
    reach += llabs(index->coef[least]) * (nest->extent[least] - 1);
    taken[least] = true;
  }
}

// Outer dims of which no two choices store one element. A stored index that the body computes says nothing.
static int apart(const pb_nest* nest) {
  const pb_access* to = &nest->access[nest->access_count - 1];
  int loops = 0;
  for (int a = 0; a + 1 < nest->access_count; ++a)
    if (pb_value_same(nest->access[a].memref, to->memref)) return 0;
  for (; loops < nest->dim_count; ++loops) {
    bool told = false;
    for (int r = 0; r < to->rank; ++r)
      told |= to->index[r].coef[loops] && to->gathered != r + 1 && tells_apart(nest, &to->index[r]);
    if (!told) break;
  }
  return loops;
}

static bool add_statement(spread* s, MlirOperation op) {
  pb_nest* nest = PB_NEW(&s->arena, pb_nest);
  if (s->count == MOST_STATEMENTS || pb_nest_read(op, &s->arena, nest)) return false;
  statement* made = &s->statements[s->count++];
  *made = (statement){.op = op, .iterations = 1};
  if (pb_op_is(op, "affine.store")) return true;
  made->loops = apart(nest);
  for (int d = 0; d < made->loops; ++d) made->iterations *= made->extent[d] = nest->extent[d];
  return true;
}

// What threads may all do.
static bool is_plain(MlirOperation op) {
  static const char* const plain[] = {"arith.constant",        "affine.apply",       "affine.load",   "func.return",
                                      "memref.load",           "memref.alloc",       "memref.alloca", "memref.dealloc",
                                      "memref.collapse_shape", "memref.expand_shape"};
  for (size_t k = 0; k < sizeof plain / sizeof *plain; ++k)
    if (pb_op_is(op, plain[k])) return true;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  bool number = name.length > 5 && (!strncmp(name.data, "arith", 5) || !strncmp(name.data, "math.", 5));
  return number && !mlirOperationGetNumRegions(op);
}

static bool find_statements(spread* s, MlirOperation kernel) {
  bool reads = false;
  PB_FOR_OPS (op, pb_op_body(kernel)) {
    bool nest = pb_op_is(op, "affine.for") || pb_op_is(op, "affine.store");
    if (nest ? !add_statement(s, op) : !is_plain(op)) return false;
    if (nest) s->statements[s->count - 1].reads = reads;
    reads = !nest && (reads || pb_op_is(op, "affine.load") || pb_op_is(op, "memref.load"));
    s->has_memory |= pb_op_is(op, "memref.alloc") || pb_op_is(op, "memref.alloca");
  }
  return s->count > 0;
}

// ---- the kernel ----

// The number of iteration `lin` along a dim, of so many inside it.
static void print_index(pb_text* t, const statement* st, int d) {
  int64_t inside = 1;
  for (int k = d + 1; k < st->loops; ++k) inside *= st->extent[k];
  pb_text_add(t, "    %%o%d = affine.apply affine_map<(d0) -> ((d0 floordiv %lld) mod %lld)>(%%lin)\n", d,
              (long long)inside, (long long)st->extent[d]);
}

// The loops over a thread's iterations, around @pb_hole, in a function that takes the thread's number.
static void print_frame(pb_text* t, const statement* st, int64_t threads) {
  pb_text_add(t, "func.func private @pb_hole(");
  for (int d = 0; d < st->loops; ++d) pb_text_add(t, "%sindex", d ? ", " : "");
  pb_text_add(t, ")\nfunc.func private @pb_frame(%%thread: index) {\naffine.for %%k = 0 to %lld {\n",
              (long long)((st->iterations + threads - 1) / threads));
  pb_text_add(t, "  %%lin = affine.apply affine_map<(d0)[s0] -> (d0 * %lld + s0)>(%%k)[%%thread]\n",
              (long long)threads);
  pb_text_add(t, "  affine.if affine_set<(d0) : (%lld - d0 >= 0)>(%%lin) {\n", (long long)(st->iterations - 1));
  for (int d = 0; d < st->loops; ++d) print_index(t, st, d);
  pb_text_add(t, "    func.call @pb_hole(");
  for (int d = 0; d < st->loops; ++d) pb_text_add(t, "%s%%o%d", d ? ", " : "", d);
  pb_text_add(t, ") : (");
  for (int d = 0; d < st->loops; ++d) pb_text_add(t, "%sindex", d ? ", " : "");
  pb_text_add(t, ") -> ()\n  }\n}\nreturn\n}\n");
}

static MlirOperation find_hole(MlirOperation loop) {
  MlirOperation op = loop;
  while (!pb_op_is(op, "func.call")) {
    MlirOperation inner = mlirBlockGetFirstOperation(pb_op_body(op));
    while (!pb_op_is(inner, "affine.if") && !pb_op_is(inner, "func.call")) inner = mlirOperationGetNextInBlock(inner);
    op = inner;
  }
  return op;
}

// Moves what stands in the block, but its end, in front of the operation.
static void move_body(MlirBlock from, MlirOperation to) {
  MlirOperation end = mlirBlockGetTerminator(from), next, op = mlirBlockGetFirstOperation(from);
  for (; !mlirOperationEqual(op, end); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(to), to, op);
  }
}

// The statement's outer loops become one over a thread's iterations; without any the first thread does it alone.
static bool take_statement(spread* s, const statement* st) {
  pb_text text = {0};
  print_frame(&text, st, s->threads);
  MlirModule frame = mlirModuleCreateParse(s->context, mlirStringRefCreate(text.data, text.length));
  pb_text_free(&text);
  if (mlirModuleIsNull(frame)) return false;
  MlirOperation func = pb_module_func(frame, "pb_frame"), loop = mlirBlockGetFirstOperation(pb_op_body(func));
  mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(pb_op_body(func), 0), s->thread);
  mlirOperationRemoveFromParent(loop);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(st->op), st->op, loop);
  MlirOperation hole = find_hole(loop), inner = st->op;
  for (int d = 0; d < st->loops; ++d) {
    MlirBlock body = pb_op_body(inner);
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, 0), mlirOperationGetOperand(hole, d));
    if (d + 1 < st->loops) inner = mlirBlockGetFirstOperation(body);
  }
  if (st->loops) {
    move_body(pb_op_body(inner), hole);
    mlirOperationDestroy(st->op);
  } else {
    mlirOperationRemoveFromParent(st->op);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(hole), hole, st->op);
  }
  mlirOperationDestroy(hole);
  mlirModuleDestroy(frame);
  return true;
}

static MlirOperation call(const spread* s, const char* name, MlirType result) {
  MlirNamedAttribute callee =
      mlirNamedAttributeGet(mlirIdentifierGet(s->context, mlirStringRefCreateFromCString("callee")),
                            mlirFlatSymbolRefAttrGet(s->context, mlirStringRefCreateFromCString(name)));
  MlirOperationState state =
      mlirOperationStateGet(mlirStringRefCreateFromCString("func.call"), mlirLocationUnknownGet(s->context));
  mlirOperationStateAddAttributes(&state, 1, &callee);
  if (!mlirTypeIsNull(result)) mlirOperationStateAddResults(&state, 1, &result);
  return mlirOperationCreate(&state);
}

static void choose_launch(const pb_chip* chip, spread* s, pb_launch* launch) {
  int64_t lanes = chip->levels[PB_GRID_LANES].max, most = chip->levels[PB_GRID_WARPS].max * lanes, work = 1;
  for (int k = 0; k < s->count; ++k)
    if (s->statements[k].iterations > work) work = s->statements[k].iterations;
  bool one = s->count > 1 || s->has_memory;
  int64_t threads = one ? ONE_BLOCK_THREADS : BLOCK_THREADS;
  while (threads > lanes && threads / 2 >= work) threads /= 2;
  if (work > most) work = most;
  *launch = (pb_launch){.spread = true, .warps = (int)(threads / lanes), .blocks = 1};
  if (launch->warps < 1) launch->warps = 1;
  threads = launch->warps * lanes;
  if (!one) launch->blocks = (int)((work + threads - 1) / threads);
  s->threads = threads * launch->blocks;
}

static bool spread_nests(const pb_chip* chip, MlirOperation kernel, pb_launch* launch) {
  spread s = {.context = mlirOperationGetContext(kernel)};
  bool good = find_statements(&s, kernel);
  if (good) {
    choose_launch(chip, &s, launch);
    MlirBlock body = pb_op_body(kernel);
    MlirOperation thread = call(&s, "pb_grid_thread", mlirIndexTypeGet(s.context));
    mlirBlockInsertOwnedOperation(body, 0, thread);
    s.thread = mlirOperationGetResult(thread, 0);
    for (int k = 0; k < s.count && good; ++k) {
      if (s.statements[k].reads && s.count > 1)
        mlirBlockInsertOwnedOperationBefore(body, s.statements[k].op, call(&s, "pb_grid_wait", (MlirType){NULL}));
      if (k + 1 < s.count)
        mlirBlockInsertOwnedOperationAfter(body, s.statements[k].op, call(&s, "pb_grid_wait", (MlirType){NULL}));
      good = take_statement(&s, &s.statements[k]);
    }
  }
  pb_arena_free(&s.arena);
  return good;
}

// ---- kernels that share a dim ----

static MlirOperation find_share(MlirOperation kernel) {
  PB_FOR_OPS (op, pb_op_body(kernel))
    if (pb_op_is(op, "func.call") && mlirOperationGetNumResults(op) == 2) return op;
  return (MlirOperation){NULL};
}

static MlirAttribute constant_map(MlirContext context, int64_t number) {
  return mlirAffineMapAttrGet(mlirAffineMapConstantGet(context, number));
}

// Loops over a thread's part go over all again. false: the part is in use elsewhere.
static bool take_all(MlirOperation share, int64_t extent) {
  MlirContext context = mlirOperationGetContext(share);
  const int32_t none[] = {0, 0, 0};
  for (int r = 0; r < 2; ++r)
    for (MlirOpOperand use; !mlirOpOperandIsNull(use = mlirValueGetFirstUse(mlirOperationGetResult(share, r)));) {
      MlirOperation loop = mlirOpOperandGetOwner(use);
      if (!pb_op_is(loop, "affine.for") || mlirOperationGetNumOperands(loop) != 2) return false;
      mlirOperationSetOperands(loop, 0, NULL);
      pb_op_set_attribute(loop, "lowerBoundMap", constant_map(context, 0));
      pb_op_set_attribute(loop, "upperBoundMap", constant_map(context, extent));
      pb_op_set_attribute(loop, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 3, none));
    }
  mlirOperationDestroy(share);
  return true;
}

// The copy takes the kernel's place if its nests can be spread.
static bool spread_shared(const pb_chip* chip, MlirOperation kernel, int64_t extent, pb_launch* launch) {
  MlirOperation copy = mlirOperationClone(kernel);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(kernel), kernel, copy);
  if (!take_all(find_share(copy), extent) || !spread_nests(chip, copy, launch)) {
    mlirOperationDestroy(copy);
    return false;
  }
  mlirOperationRemoveAttributeByName(copy, mlirStringRefCreateFromCString("pb.shared"));
  mlirOperationDestroy(kernel);
  return true;
}

void pb_grid_spread(const pb_chip* chip, MlirOperation kernel, pb_launch* launch) {
  bool shared = !mlirAttributeIsNull(pb_op_attribute(kernel, "pb.shared"));
  bool plain = !mlirAttributeIsNull(pb_op_attribute(kernel, "pb.scalar"));
  MlirOperation share = shared && plain ? find_share(kernel) : (MlirOperation){NULL};
  if (!shared) (void)spread_nests(chip, kernel, launch);
  if (shared && !plain) pb_grid_spread_fills(chip, kernel, launch);
  if (mlirOperationIsNull(share)) return;
  MlirValue items = mlirOperationGetOperand(share, 0);
  int64_t lanes = chip->levels[PB_GRID_LANES].max;
  int64_t extent = mlirIntegerAttrGetValueInt(pb_op_attribute(mlirOpResultGetOwner(items), "value"));
  if (spread_shared(chip, kernel, extent, launch)) return;
  *launch = (pb_launch){.spread = true, .warps = 1, .blocks = (int)((extent + lanes - 1) / lanes)};
  if (launch->blocks > chip->levels[PB_GRID_WARPS].max) launch->blocks = chip->levels[PB_GRID_WARPS].max;
}

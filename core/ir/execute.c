// Execution of affine modules under the JIT. Memrefs are passed by MLIR's default convention: flattened descriptors
// {allocated, aligned, offset, sizes, strides}, since bare pointers do not survive calls with windows of a buffer.
#include "core/ir/execute.h"

#include "core/base/arena.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/ExecutionEngine.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>
#include <mlir-c/Support.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// arith-expand: LLVM 22 vectorises loops with several llvm.maxnum wrongly where an operand is NaN; comparisons it
// leaves alone.
static const char lowering[] =
    "arith-expand,lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-vector-to-llvm,convert-"
    "math-to-llvm,"
    "convert-math-to-libm,"
    "convert-arith-to-llvm,finalize-memref-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts";

static MlirStringRef str(const char* text) { return mlirStringRefCreateFromCString(text); }

static pb_status refuse(pb_diag* diag, const char* function, const char* why) {
  return pb_error(diag, (pb_place){.what = function}, 2002, NULL, "cannot be executed: %s", why);
}

static MlirOperation find_function(MlirModule module, const char* name) {
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute symbol = mlirOperationGetAttributeByName(op, str("sym_name"));
    if (!mlirAttributeIsNull(symbol) && mlirStringRefEqual(mlirStringAttrGetValue(symbol), str(name))) return op;
  }
  return (MlirOperation){0};
}

static bool op_is(MlirOperation op, const char* name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), str(name));
}

// Somebody frees the buffer already, or it leaves its block.
static bool outlives(MlirValue buffer) {
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (op_is(user, "memref.dealloc") || op_is(user, "func.return")) return true;
  }
  return false;
}

// Most stages never free: every buffer lives until the end of the block that makes it.
static void free_buffers(MlirBlock body) {
  MlirOperation end = mlirBlockGetTerminator(body);
  MlirOperation op = mlirBlockGetFirstOperation(body);
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r) {
      MlirBlock inner = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
      for (; !mlirBlockIsNull(inner); inner = mlirBlockGetNextInRegion(inner)) free_buffers(inner);
    }
    if (!op_is(op, "memref.alloc") || mlirOperationIsNull(end)) continue;
    MlirValue buffer = mlirOperationGetResult(op, 0);
    if (outlives(buffer)) continue;
    MlirOperationState state = mlirOperationStateGet(str("memref.dealloc"), mlirOperationGetLocation(op));
    mlirOperationStateAddOperands(&state, 1, &buffer);
    mlirBlockInsertOwnedOperationBefore(body, end, mlirOperationCreate(&state));
  }
}

// One memref as the function takes it; `slots` gets the address of each field.
static void** flatten(pb_arena* arena, MlirType type, void* buffer, void** slots) {
  intptr_t rank = mlirShapedTypeGetRank(type);
  void** pointers = PB_NEW_ARRAY(arena, void*, 2);
  int64_t *numbers = PB_NEW_ARRAY(arena, int64_t, (size_t)(1 + 2 * rank)), stride = 1;
  pointers[0] = pointers[1] = buffer;
  for (intptr_t r = rank - 1; r >= 0; --r) {
    numbers[1 + r] = mlirShapedTypeGetDimSize(type, r);
    numbers[1 + rank + r] = stride;
    stride *= numbers[1 + r];
  }
  for (int k = 0; k < 2; ++k) *slots++ = &pointers[k];
  for (intptr_t k = 0; k < 1 + 2 * rank; ++k) *slots++ = &numbers[k];
  return slots;
}

static const char* check_arguments(MlirBlock body, int count) {
  if (mlirBlockGetNumArguments(body) != count) return "its number of arguments is another than the buffers'";
  for (int k = 0; k < count; ++k) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(body, k));
    if (!mlirTypeIsAMemRef(type) || !mlirShapedTypeHasStaticShape(type))
      return "an argument is no memref of static shape";
    if (!mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type))) return "an argument has a layout of its own";
  }
  return NULL;
}

typedef struct message {
  char text[512];
  size_t length;
} message;

static void append(MlirStringRef part, void* user) {
  message* m = user;
  size_t room = sizeof m->text - 1 - m->length, n = part.length < room ? part.length : room;
  memcpy(m->text + m->length, part.data, n);
  m->length += n;
}

static MlirLogicalResult keep_first(MlirDiagnostic d, void* user) {
  message* m = user;
  if (mlirDiagnosticGetSeverity(d) == MlirDiagnosticError && m->length == 0) mlirDiagnosticPrint(d, append, m);
  return mlirLogicalResultSuccess();
}

static bool lower(MlirModule module, message* m) {
  MlirPassManager passes = mlirPassManagerCreate(mlirModuleGetContext(module));
  bool ok = mlirLogicalResultIsSuccess(
                mlirOpPassManagerAddPipeline(mlirPassManagerGetAsOpPassManager(passes), str(lowering), append, m)) &&
            mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(passes, mlirModuleGetOperation(module)));
  mlirPassManagerDestroy(passes);
  return ok;
}

static pb_status run(MlirModule module, const char* function, void** slots, size_t slot_count, int sets, message* m,
                     pb_diag* diag) {
  if (!lower(module, m)) return refuse(diag, function, m->length ? m->text : "it does not lower to LLVM");
  enum { OPTIMISE = 0 }; // code runs once or twice: to make it well takes longer than to run it
  MlirExecutionEngine engine = mlirExecutionEngineCreate(module, OPTIMISE, 0, NULL, false, false);
  if (mlirExecutionEngineIsNull(engine)) return refuse(diag, function, m->length ? m->text : "the JIT refuses it");
  // Not mlirExecutionEngineInvokePacked, which calls the C interface wrapper that the function does not have.
  void* packed = mlirExecutionEngineLookupPacked(engine, str(function));
  void (*call)(void**);
  memcpy(&call, &packed, sizeof call);
  for (int s = 0; packed && s < sets; ++s) call(slots + (size_t)s * slot_count);
  mlirExecutionEngineDestroy(engine);
  return packed ? PB_OK : refuse(diag, function, "the JIT does not find it");
}

void pb_ir_register_passes(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, mlirRegisterAllPasses);
}

pb_status pb_ir_execute(MlirModule module, const char* function, void* const* buffers, int count, pb_diag* diag) {
  return pb_ir_execute_sets(module, function, buffers, count, 1, diag);
}

pb_status pb_ir_execute_sets(MlirModule module, const char* function, void* const* buffers, int count, int sets,
                             pb_diag* diag) {
  MlirContext context = mlirModuleGetContext(module);
  pb_ir_register_passes();
  mlirRegisterAllLLVMTranslations(context);

  MlirModule copy = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(module)));
  MlirOperation op = find_function(copy, function);
  bool found = !mlirOperationIsNull(op) && mlirOperationGetNumRegions(op) == 1 &&
               !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
  if (!found) {
    mlirModuleDestroy(copy);
    return refuse(diag, function, "the module has no such function with a body");
  }
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  const char* why = check_arguments(body, count);
  if (why) {
    mlirModuleDestroy(copy);
    return refuse(diag, function, why);
  }
  pb_arena arena = {0};
  size_t slot_count = 0;
  for (int k = 0; k < count; ++k)
    slot_count += 3 + 2 * (size_t)mlirShapedTypeGetRank(mlirValueGetType(mlirBlockGetArgument(body, k)));
  void **slots = PB_NEW_ARRAY(&arena, void*, slot_count*(size_t)sets + 1), **at = slots;
  for (int k = 0; k < count * sets; ++k)
    at = flatten(&arena, mlirValueGetType(mlirBlockGetArgument(body, k % count)), buffers[k], at);
  free_buffers(mlirModuleGetBody(copy));

  message m = {0};
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(context, keep_first, &m, NULL);
  pb_status status = run(copy, function, slots, slot_count, sets, &m, diag);
  mlirContextDetachDiagnosticHandler(context, handler);
  mlirModuleDestroy(copy);
  pb_arena_free(&arena);
  return status;
}

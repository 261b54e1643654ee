#include "targets/control/threads/emit.h"

#include "core/poly/text.h"
#include "core/s3/kernels.h"
#include "targets/control/threads/share.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>
#include <mlir-c/Target/LLVMIR.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static const char lowering[] =
    "lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-vector-to-llvm,convert-math-to-llvm,"
    "convert-arith-to-llvm,"
    "finalize-memref-to-llvm,convert-cf-to-llvm,convert-func-to-llvm{use-bare-ptr-memref-call-conv=1},reconcile-"
    "unrealized-casts";

// Kernels come unrolled, tiled and in registers: what is left is to share addresses, to hoist, and to vectorise the
// nests that no plan took. default<O3> makes the same code in five times the time.
// instcombine need not reach its fixpoint: without the option a pipeline written as text ends the process when it does
// not.
static const char optimisation[] = "always-inline,function(early-cse<memssa>,loop-mssa(loop-rotate,licm),"
                                   "instcombine<no-verify-fixpoint>,gvn,loop-vectorize,"
                                   "instcombine<no-verify-fixpoint>,simplifycfg)";

static pb_status fail(pb_diag* diag, const char* what, const char* text) {
  (void)pb_error(diag, (pb_place){.what = what}, 4200, "this is a bug in the compiler, not in the model", "%s", text);
  return PB_ERR_SYSTEM;
}

static void append(MlirStringRef part, void* text) { pb_text_add(text, "%.*s", (int)part.length, part.data); }

typedef struct kernel_shape {
  int arguments;
  bool shared; // its threads share the work; else the first thread does it all
} kernel_shape;

// An instruction of the core: the intrinsic, to be inlined.
static void print_instruction(MlirOperation func, pb_text* text) {
  pb_arena scratch = {0};
  MlirStringRef emit = mlirStringAttrGetValue(pb_op_attribute(func, "pb.emit"));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  int count = (int)mlirBlockGetNumArguments(body);
  pb_text types = {0}, names = {0}, result = {0};
  for (int k = 0; k < count; ++k) {
    pb_text_add(&names, "%s%%x%d", k ? ", " : "", k);
    if (k) pb_text_add(&types, ", ");
    mlirTypePrint(mlirValueGetType(mlirBlockGetArgument(body, k)), append, &types);
  }
  mlirTypePrint(mlirValueGetType(mlirOperationGetOperand(mlirBlockGetTerminator(body), 0)), append, &result);
  pb_text_add(text, "func.func private @%s(", pb_func_name(func, &scratch));
  for (int k = 0; k < count; ++k) {
    pb_text_add(text, "%s%%x%d: ", k ? ", " : "", k);
    mlirTypePrint(mlirValueGetType(mlirBlockGetArgument(body, k)), append, text);
  }
  pb_text_add(text,
              ") -> %s attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = [\"alwaysinline\"]} {\n"
              "  %%r = llvm.call_intrinsic \"%.*s\"(%s) : (%s) -> %s\n  return %%r : %s\n}\n",
              result.data, (int)emit.length, emit.data, names.data, types.data, result.data, result.data);
  pb_text_free(&types);
  pb_text_free(&names);
  pb_text_free(&result);
  pb_arena_free(&scratch);
}

// Puts the functions of a text in front of the module's others. The text is the compiler's own.
static bool add_functions(MlirModule module, const pb_text* text) {
  MlirModule more = mlirModuleCreateParse(mlirModuleGetContext(module), mlirStringRefCreate(text->data, text->length));
  if (mlirModuleIsNull(more)) return false;
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(more));
  while (!mlirOperationIsNull(op)) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    mlirBlockInsertOwnedOperation(mlirModuleGetBody(module), 0, op);
    op = next;
  }
  mlirModuleDestroy(more);
  return true;
}

static void note_kernel(MlirOperation func, pb_engine* engine, kernel_shape* shapes) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  shapes[engine->kernel_count] =
      (kernel_shape){(int)mlirBlockGetNumArguments(body), !mlirAttributeIsNull(pb_op_attribute(func, "pb.shared"))};
  pb_kernel* k = &engine->kernels[engine->kernel_count++];
  k->name = pb_func_name(func, &engine->arena);
  k->symbol = pb_printf(&engine->arena, "pb_%s", k->name);
  k->bound = "";
  MlirAttribute plan = pb_op_attribute(func, "pb.plan");
  if (mlirAttributeIsNull(plan)) return;
  MlirAttribute cycles = mlirDictionaryAttrGetElementByName(plan, mlirStringRefCreateFromCString("cycles"));
  MlirStringRef bound =
      mlirStringAttrGetValue(mlirDictionaryAttrGetElementByName(plan, mlirStringRefCreateFromCString("bound")));
  k->predicted_cycles = (uint64_t)mlirIntegerAttrGetValueInt(cycles);
  k->bound = pb_printf(&engine->arena, "%.*s", (int)bound.length, bound.data);
}

// A copy of the module with the kernels alone, sharing realised and instructions by their intrinsics: the host
// function is the engine's business.
static MlirModule take_kernels(MlirModule module, pb_engine* engine, kernel_shape* shapes) {
  MlirModule kernels = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(module)));
  pb_text text = {0};
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(kernels));
  while (!mlirOperationIsNull(op)) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    if (!mlirAttributeIsNull(pb_op_attribute(op, "pb.emit"))) print_instruction(op, &text);
    if (mlirAttributeIsNull(pb_op_attribute(op, "pb.kernel")))
      mlirOperationDestroy(op);
    else
      note_kernel(op, engine, shapes);
    op = next;
  }
  pb_threads_share(kernels);
  bool ok = !text.data || add_functions(kernels, &text);
  pb_text_free(&text);
  if (ok) return kernels;
  mlirModuleDestroy(kernels);
  return (MlirModule){NULL};
}

// void pb_k(void** args, int64 thread, int64 threads): loads the pointers and calls the kernel.
static void print_wrappers(const pb_engine* engine, const kernel_shape* shapes, pb_text* text) {
  for (int k = 0; k < engine->kernel_count; ++k) {
    int count = shapes[k].arguments;
    pb_text_add(text, "llvm.func @%s(", engine->kernels[k].name);
    for (int a = 0; a < count; ++a) pb_text_add(text, "%s!llvm.ptr", a ? ", " : "");
    pb_text_add(text, "%s)\n", !shapes[k].shared ? "" : count ? ", i64, i64" : "i64, i64");
    pb_text_add(text, "llvm.func @%s(%%args: !llvm.ptr, %%thread: i64, %%threads: i64) {\n", engine->kernels[k].symbol);
    if (!shapes[k].shared)
      pb_text_add(text, "  %%zero = llvm.mlir.constant(0 : i64) : i64\n"
                        "  %%first = llvm.icmp \"eq\" %%thread, %%zero : i64\n"
                        "  llvm.cond_br %%first, ^all, ^end\n^all:\n");
    for (int a = 0; a < count; ++a) {
      pb_text_add(text, "  %%g%d = llvm.getelementptr %%args[%d] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n", a, a);
      pb_text_add(text, "  %%p%d = llvm.load %%g%d : !llvm.ptr -> !llvm.ptr\n", a, a);
    }
    pb_text_add(text, "  llvm.call @%s(", engine->kernels[k].name);
    for (int a = 0; a < count; ++a) pb_text_add(text, "%s%%p%d", a ? ", " : "", a);
    if (shapes[k].shared) pb_text_add(text, "%s%%thread, %%threads", count ? ", " : "");
    pb_text_add(text, ") : (");
    for (int a = 0; a < count; ++a) pb_text_add(text, "%s!llvm.ptr", a ? ", " : "");
    if (shapes[k].shared) pb_text_add(text, "%si64, i64", count ? ", " : "");
    pb_text_add(text, ") -> ()\n");
    if (!shapes[k].shared) pb_text_add(text, "  llvm.br ^end\n^end:\n");
    pb_text_add(text, "  llvm.return\n}\n");
  }
}

// Kernels in the LLVM dialect.
static bool lower(MlirModule kernels, pb_diag* diag) {
  static bool registered; // passes are registered once in a process
  if (!registered) mlirRegisterAllPasses();
  registered = true;
  MlirContext context = mlirModuleGetContext(kernels);
  mlirRegisterAllLLVMTranslations(context);
  pb_text why = {0};
  MlirPassManager passes = mlirPassManagerCreate(context);
  mlirPassManagerEnableVerifier(passes, false); // the IR is verified when it is made
  bool ok = mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(
                mlirPassManagerGetAsOpPassManager(passes), mlirStringRefCreateFromCString(lowering), append, &why)) &&
            mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(passes, mlirModuleGetOperation(kernels)));
  mlirPassManagerDestroy(passes);
  if (!ok) (void)fail(diag, "threads", why.data ? why.data : "the kernels do not lower to LLVM");
  pb_text_free(&why);
  return ok;
}

// "avx2,fma" to "+avx2,+fma".
static char* feature_flags(const pb_chip* chip, pb_arena* arena) {
  char* flags = pb_strdup(arena, "");
  for (const char* at = chip->features; *at;) {
    int n = (int)strcspn(at, ",");
    flags = pb_printf(arena, "%s%s+%.*s", flags, flags[0] ? "," : "", n, at);
    at += n + (at[n] == ',');
  }
  return flags;
}

// No contraction, no reassociation: the optimiser is given no fast-math flag and the target fuses nothing.
static pb_status optimise_and_emit(const pb_chip* chip, LLVMModuleRef module, const char* object, pb_diag* diag) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  pb_arena scratch = {0};
  char *triple = LLVMGetDefaultTargetTriple(), *why = NULL;
  LLVMTargetRef target;
  pb_status status = PB_OK;
  if (LLVMGetTargetFromTriple(triple, &target, &why)) status = fail(diag, "LLVM", why);
  if (status == PB_OK) {
    LLVMTargetMachineRef machine =
        LLVMCreateTargetMachine(target, triple, "generic", feature_flags(chip, &scratch), LLVMCodeGenLevelAggressive,
                                LLVMRelocPIC, LLVMCodeModelDefault);
    LLVMSetTarget(module, triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(module, layout);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, 1);
    LLVMPassBuilderOptionsSetSLPVectorization(options, 0); // registers are planned already
    LLVMErrorRef error = LLVMRunPasses(module, optimisation, machine, options);
    if (error) {
      char* text = LLVMGetErrorMessage(error);
      status = fail(diag, "LLVM", text);
      LLVMDisposeErrorMessage(text);
    } else if (LLVMTargetMachineEmitToFile(machine, module, object, LLVMObjectFile, &why)) {
      status = fail(diag, "LLVM", why);
    }
    LLVMDisposePassBuilderOptions(options);
    LLVMDisposeTargetData(layout);
    LLVMDisposeTargetMachine(machine);
  }
  if (why) LLVMDisposeMessage(why);
  LLVMDisposeMessage(triple);
  pb_arena_free(&scratch);
  return status;
}

static pb_status link_object(const char* object, const char* shared, pb_diag* diag) {
  char* argv[] = {(char*)"ld.lld",
                  (char*)"-shared",
                  (char*)"--hash-style=gnu",
                  (char*)"--build-id=none",
                  (char*)"-o",
                  (char*)shared,
                  (char*)object,
                  NULL};
  pid_t pid;
  int code = 0;
  if (posix_spawn(&pid, PB_LLD, NULL, NULL, argv, environ))
    return pb_system_error(diag, (pb_place){.file = PB_LLD}, 4201, "cannot be started");
  waitpid(pid, &code, 0);
  return WIFEXITED(code) && WEXITSTATUS(code) == 0 ? PB_OK : fail(diag, "ld.lld", "the kernels do not link");
}

static pb_status read_native(const char* path, pb_engine* engine, pb_diag* diag) {
  FILE* f = fopen(path, "rb");
  if (!f) return pb_system_error(diag, (pb_place){.file = path}, 4202, "cannot be read");
  fseek(f, 0, SEEK_END);
  long n = ftell(f);
  rewind(f);
  engine->native = pb_alloc(&engine->arena, (size_t)n);
  engine->native_bytes = (uint64_t)n;
  bool ok = fread(engine->native, 1, (size_t)n, f) == (size_t)n;
  fclose(f);
  return ok ? PB_OK : pb_system_error(diag, (pb_place){.file = path}, 4202, "cannot be read");
}

// The kernels and their wrappers as LLVM's IR.
static LLVMModuleRef translate(MlirModule kernels, const pb_engine* engine, const kernel_shape* shapes,
                               LLVMContextRef context) {
  pb_text text = {0};
  print_wrappers(engine, shapes, &text);
  MlirModule wrappers =
      mlirModuleCreateParse(mlirModuleGetContext(kernels), mlirStringRefCreate(text.data, text.length));
  pb_text_free(&text);
  if (mlirModuleIsNull(wrappers)) return NULL;
  LLVMModuleRef module = mlirTranslateModuleToLLVMIR(mlirModuleGetOperation(kernels), context);
  LLVMModuleRef entries = mlirTranslateModuleToLLVMIR(mlirModuleGetOperation(wrappers), context);
  mlirModuleDestroy(wrappers);
  bool linked = module && entries && !LLVMLinkModules2(module, entries);
  if (!linked && module) LLVMDisposeModule(module);
  return linked ? module : NULL;
}

static pb_status to_native(const pb_chip* chip, MlirModule kernels, const kernel_shape* shapes, pb_engine* engine,
                           pb_diag* diag) {
  const char* base = getenv("TMPDIR");
  char* folder = pb_printf(&engine->arena, "%s/pb-XXXXXX", base && base[0] ? base : P_tmpdir);
  if (!mkdtemp(folder)) return pb_system_error(diag, (pb_place){.file = folder}, 4202, "cannot be made");
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = translate(kernels, engine, shapes, context);
  char* object = pb_printf(&engine->arena, "%s/kernels.o", folder);
  char* shared = pb_printf(&engine->arena, "%s/kernels.so", folder);
  pb_status status = module ? PB_OK : fail(diag, "LLVM", "the kernels do not translate");
  if (status == PB_OK) status = optimise_and_emit(chip, module, object, diag);
  if (status == PB_OK) status = link_object(object, shared, diag);
  if (status == PB_OK) status = read_native(shared, engine, diag);
  if (module) LLVMDisposeModule(module);
  LLVMContextDispose(context);
  unlink(object);
  unlink(shared);
  rmdir(folder);
  return status;
}

pb_status pb_threads_emit(const pb_chip* chip, MlirModule module, pb_engine* engine, pb_diag* diag) {
  engine->features = pb_strdup(&engine->arena, chip->features);
  size_t functions = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    ++functions;
  kernel_shape* shapes = calloc(functions + 1, sizeof *shapes);
  if (!shapes) abort();
  mlirContextGetOrLoadDialect(mlirModuleGetContext(module), mlirStringRefCreateFromCString("llvm"));
  MlirModule kernels = take_kernels(module, engine, shapes);
  pb_status status = mlirModuleIsNull(kernels) ? fail(diag, "threads", "the instructions do not parse") : PB_OK;
  if (status == PB_OK && !lower(kernels, diag)) status = PB_ERR_SYSTEM;
  if (status == PB_OK) status = to_native(chip, kernels, shapes, engine, diag);
  if (!mlirModuleIsNull(kernels)) mlirModuleDestroy(kernels);
  free(shapes);
  return status;
}

#include "targets/control/threads/emit.h"

#include "core/poly/text.h"
#include "core/s3/kernels.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
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
    "lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-math-to-llvm,convert-arith-to-llvm,"
    "finalize-memref-to-llvm,convert-cf-to-llvm,convert-func-to-llvm{use-bare-ptr-memref-call-conv=1},reconcile-"
    "unrealized-casts";

static pb_status fail(pb_diag* diag, const char* what, const char* text) {
  (void)pb_error(diag, (pb_place){.what = what}, 4200, "this is a bug in the compiler, not in the model", "%s", text);
  return PB_ERR_SYSTEM;
}

static void append(MlirStringRef part, void* text) { pb_text_add(text, "%.*s", (int)part.length, part.data); }

// The kernels alone, as text: the host function is the engine's business.
static void print_kernels(MlirModule module, pb_engine* engine, pb_text* text, int* counts) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  pb_text_add(text, "module {\n");
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (mlirAttributeIsNull(pb_op_attribute(op, "pb.kernel"))) continue;
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    counts[engine->kernel_count] = (int)mlirBlockGetNumArguments(body);
    pb_kernel* k = &engine->kernels[engine->kernel_count++];
    k->name = pb_func_name(op, &engine->arena);
    k->symbol = pb_printf(&engine->arena, "pb_%s", k->name);
    k->bound = "";
    mlirOperationPrint(op, append, text);
    pb_text_add(text, "\n");
  }
  pb_text_add(text, "}\n");
}

// void pb_k(void** args, int threads): loads the pointers and calls the kernel.
static void print_wrappers(const pb_engine* engine, const int* counts, pb_text* text) {
  for (int k = 0; k < engine->kernel_count; ++k) {
    pb_text_add(text, "llvm.func @%s(%%args: !llvm.ptr, %%threads: i32) {\n", engine->kernels[k].symbol);
    for (int a = 0; a < counts[k]; ++a) {
      pb_text_add(text, "  %%g%d = llvm.getelementptr %%args[%d] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n", a, a);
      pb_text_add(text, "  %%p%d = llvm.load %%g%d : !llvm.ptr -> !llvm.ptr\n", a, a);
    }
    pb_text_add(text, "  llvm.call @%s(", engine->kernels[k].name);
    for (int a = 0; a < counts[k]; ++a) pb_text_add(text, "%s%%p%d", a ? ", " : "", a);
    pb_text_add(text, ") : (");
    for (int a = 0; a < counts[k]; ++a) pb_text_add(text, "%s!llvm.ptr", a ? ", " : "");
    pb_text_add(text, ") -> ()\n  llvm.return\n}\n");
  }
}

// Kernels in the LLVM dialect, wrappers among them.
static MlirModule lower(MlirModule module, pb_engine* engine, pb_diag* diag) {
  static bool registered; // passes are registered once in a process
  if (!registered) mlirRegisterAllPasses();
  registered = true;
  MlirContext context = mlirModuleGetContext(module);
  mlirRegisterAllLLVMTranslations(context);
  mlirContextGetOrLoadDialect(context, mlirStringRefCreateFromCString("llvm"));
  pb_text text = {0}, why = {0};
  size_t functions = 0;
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) ++functions;
  int* counts = calloc(functions + 1, sizeof *counts);
  if (!counts) abort();
  print_kernels(module, engine, &text, counts);
  MlirModule kernels = mlirModuleCreateParse(context, mlirStringRefCreate(text.data, text.length));
  MlirPassManager passes = mlirPassManagerCreate(context);
  bool ok = !mlirModuleIsNull(kernels) &&
            mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(
                mlirPassManagerGetAsOpPassManager(passes), mlirStringRefCreateFromCString(lowering), append, &why)) &&
            mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(passes, mlirModuleGetOperation(kernels)));
  mlirPassManagerDestroy(passes);
  pb_text_free(&text);
  MlirModule whole = {NULL};
  if (ok) {
    mlirOperationPrint(mlirModuleGetOperation(kernels), append, &text);
    while (text.length && text.data[text.length - 1] != '}') text.data[--text.length] = 0;
    text.data[--text.length] = 0;
    print_wrappers(engine, counts, &text);
    pb_text_add(&text, "}\n");
    whole = mlirModuleCreateParse(context, mlirStringRefCreate(text.data, text.length));
  }
  if (mlirModuleIsNull(whole)) (void)fail(diag, "threads", why.data ? why.data : "the kernels do not lower to LLVM");
  if (!mlirModuleIsNull(kernels)) mlirModuleDestroy(kernels);
  pb_text_free(&text);
  pb_text_free(&why);
  free(counts);
  return whole;
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

// No contraction, no reassociation: the optimiser is given no fast-math flag and the target fuses nothing. Writes the
// object file, or gives the assembly as malloc'ed text when `object` is NULL.
static pb_status optimise_and_emit(const pb_chip* chip, LLVMModuleRef module, const char* object, char** assembly,
                                   pb_diag* diag) {
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
    LLVMPassBuilderOptionsSetSLPVectorization(options, 1);
    LLVMErrorRef error = LLVMRunPasses(module, "default<O3>", machine, options);
    if (error) {
      char* text = LLVMGetErrorMessage(error);
      status = fail(diag, "LLVM", text);
      LLVMDisposeErrorMessage(text);
    } else if (!object) {
      LLVMMemoryBufferRef buffer;
      if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &why, &buffer)) {
        status = fail(diag, "LLVM", why);
      } else {
        *assembly = strndup(LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
        LLVMDisposeMemoryBuffer(buffer);
      }
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

static pb_status to_native(const pb_chip* chip, MlirModule lowered, pb_engine* engine, pb_diag* diag) {
  const char* base = getenv("TMPDIR");
  char* folder = pb_printf(&engine->arena, "%s/pb-XXXXXX", base && base[0] ? base : P_tmpdir);
  if (!mkdtemp(folder)) return pb_system_error(diag, (pb_place){.file = folder}, 4202, "cannot be made");
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = mlirTranslateModuleToLLVMIR(mlirModuleGetOperation(lowered), context);
  char* object = pb_printf(&engine->arena, "%s/kernels.o", folder);
  char* shared = pb_printf(&engine->arena, "%s/kernels.so", folder);
  pb_status status = module ? PB_OK : fail(diag, "LLVM", "the kernels do not translate");
  if (status == PB_OK) status = optimise_and_emit(chip, module, object, NULL, diag);
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
  MlirModule lowered = lower(module, engine, diag);
  if (mlirModuleIsNull(lowered)) return PB_ERR_SYSTEM;
  pb_status status = to_native(chip, lowered, engine, diag);
  mlirModuleDestroy(lowered);
  return status;
}

pb_status pb_threads_print(const pb_chip* chip, MlirModule module, bool assembly, pb_diag* diag, char** text) {
  pb_engine scratch = {0};
  size_t functions = 0;
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) ++functions;
  scratch.kernels = PB_NEW_ARRAY(&scratch.arena, pb_kernel, functions + 1);
  MlirModule lowered = lower(module, &scratch, diag);
  if (mlirModuleIsNull(lowered)) return pb_arena_free(&scratch.arena), PB_ERR_SYSTEM;
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef translated = mlirTranslateModuleToLLVMIR(mlirModuleGetOperation(lowered), context);
  pb_status status = translated ? PB_OK : fail(diag, "LLVM", "the kernels do not translate");
  if (status == PB_OK && assembly) status = optimise_and_emit(chip, translated, NULL, text, diag);
  if (status == PB_OK && !assembly) {
    char* printed = LLVMPrintModuleToString(translated);
    *text = strdup(printed);
    LLVMDisposeMessage(printed);
  }
  if (translated) LLVMDisposeModule(translated);
  LLVMContextDispose(context);
  mlirModuleDestroy(lowered);
  pb_arena_free(&scratch.arena);
  if (status == PB_OK && !*text) abort();
  return status;
}

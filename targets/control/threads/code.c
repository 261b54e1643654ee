#include "targets/control/threads/code.h"

#include "core/base/processor.h"
#include "core/s3/kernels.h"
#include "targets/control/threads/movers.h"
#include "targets/control/threads/registers.h"
#include "targets/control/threads/rounding.h"
#include "targets/emit/llvm/lower.h"

#include <errno.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <mlir-c/IR.h>
#include <mlir-c/Target/LLVMIR.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Kernels come unrolled, tiled and in registers: what is left is to share addresses, to hoist, and to vectorise the
// nests that no plan took. default<O3> makes the same code in five times the time.
// What plain nests keep in small arrays is in registers by SROA. EarlyCSE has seen all other loads that need no second
// one: GVN need not ask memory dependence of each again, which takes more time than the rest of it.
// What a turn of a plain loop stores and the next one loads is in a register by loop-load-elim.
// instcombine need not reach its fixpoint: without the option a pipeline written as text ends the process when it does
// not.
// Kernels that stand in others (targets/emit/llvm/kernels.c) say that no argument is another one's memory, which LLVM
// keeps of what it reaches from an argument: not through the structures that MLIR puts pointers in, which instsimplify
// takes away.
#define OPTIMISATION(first, plain)                                                                                     \
  first "always-inline,function(early-cse<memssa>,loop-mssa(loop-rotate,licm),instcombine<no-verify-fixpoint>,sroa,"   \
        "gvn<no-memdep>,loop-vectorize," plain "instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm))"
static const char* const optimisation = OPTIMISATION("", "");
static const char* const of_plain_loops = OPTIMISATION("function(instsimplify),", "loop-load-elim,");

static bool refuse(pb_code* code, const char* why) {
  if (!code->why) code->why = strdup(why);
  return false;
}

// Sums of a register tile are added term by term. LLVM would add terms to each other first, to shorten the chains,
// where integers allow it; in tiles that leave no register free all sums are spilled then. Nor has loop strength
// reduction anything to do: what loops around add to an address is in front of the innermost one already, and the
// processor adds a counter to it for nothing. It tries every way to part that sum among registers for each of the
// hundred loads of an unrolled tile, half of the time that code generation took, and a pointer that moves by itself
// invites the scheduler to bring loads of later terms forward until a sum is spilled (512x512x512 with 512 bits took
// 12% longer). And constants stay where they are used: in front of all loops, as MachineLICM has them, they take the
// registers of sums inside (ResNet-50 int8 took 4% longer). The options are the whole process's; those that LLVM does
// not know for another kind of processor are left be.
static const char* const options[] = {"pbc", "-x86-machine-combiner=0", "-disable-lsr", "-disable-machine-licm"};

static void start(void) {
  LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, "");
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
}

void pb_code_start(MlirContext context) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start);
  pb_llvm_start(context);
}

// "avx2,fma" to "+avx2,+fma", without state that the operating system grants.
static char* feature_flags(const pb_chip* chip, pb_arena* arena) {
  char* flags = pb_strdup(arena, "");
  for (const char* at = chip->features; *at;) {
    int n = (int)strcspn(at, ",");
    if (!pb_processor_state(at, NULL)) flags = pb_printf(arena, "%s%s+%.*s", flags, flags[0] ? "," : "", n, at);
    at += n + (at[n] == ',');
  }
  return flags;
}

// Here: LLVM ends the process where a folder is full.
static bool write_object(const char* path, LLVMMemoryBufferRef buffer) {
  size_t size = LLVMGetBufferSize(buffer);
  errno = 0;
  FILE* file = fopen(path, "wb");
  if (!file) return false;
  bool good = fwrite(LLVMGetBufferStart(buffer), 1, size, file) == size;
  return !fclose(file) && good;
}

static bool write_code(pb_code* code, LLVMModuleRef module, LLVMTargetMachineRef machine) {
  char* why = NULL;
  LLVMMemoryBufferRef buffer;
  bool ok;
  if (code->form == PB_CODE_OBJECT) {
    ok = !LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &why, &buffer);
    if (ok && !write_object(code->object, buffer)) code->error = errno ? errno : EIO;
    if (ok) LLVMDisposeMemoryBuffer(buffer);
  } else {
    ok = !LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &why, &buffer);
    if (ok) {
      code->text = strndup(LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
      LLVMDisposeMemoryBuffer(buffer);
    }
  }
  if (!ok) refuse(code, why ? why : "no code");
  if (why) LLVMDisposeMessage(why);
  return ok;
}

// The order of instructions is that processor's; which there are is the features' alone.
static void tune(const char* processor, LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f && *processor; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f)) LLVMAddTargetDependentFunctionAttr(f, "tune-cpu", processor);
}

// A loop's own name among metadata, which says that it is not to be vectorised.
static LLVMValueRef unvectorised(LLVMContextRef context) {
  static const char text[] = "llvm.loop.vectorize.enable";
  LLVMMetadataRef no[] = {LLVMMDStringInContext2(context, text, sizeof text - 1),
                          LLVMValueAsMetadata(LLVMConstInt(LLVMInt1TypeInContext(context), 0, 0))};
  LLVMMetadataRef self = LLVMTemporaryMDNode(context, NULL, 0);
  LLVMMetadataRef loop[] = {self, LLVMMDNodeInContext2(context, no, 2)}, named = LLVMMDNodeInContext2(context, loop, 2);
  LLVMMetadataReplaceAllUsesWith(self, named); // the node names itself
  return LLVMMetadataAsValue(context, named);
}

// LLVM 22 asks of each operand of an instruction anew whether it is one number for all lanes: of a body in which every
// step uses the one in front twice, as powers of integers are made, for ever. Plain loops so long gain little by
// vectors.
static void leave_long_bodies(LLVMModuleRef module) {
  enum { LONG = 500 };
  LLVMContextRef context = LLVMGetModuleContext(module);
  unsigned kind = LLVMGetMDKindIDInContext(context, "llvm.loop", 9);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      int count = 0;
      bool vectors = false; // is in registers already
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i), ++count)
        vectors |= LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind;
      LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
      if (count >= LONG && !vectors && end) LLVMSetMetadata(end, kind, unvectorised(context));
    }
}

// No contraction, no reassociation: the optimiser is given no fast-math flag and the target fuses nothing.
static bool optimise(pb_code* code, LLVMModuleRef module, const char* passes) {
  pb_arena scratch = {0};
  char *triple = LLVMGetDefaultTargetTriple(), *why = NULL;
  LLVMTargetRef target;
  bool ok = !LLVMGetTargetFromTriple(triple, &target, &why);
  if (!ok) refuse(code, why ? why : "no such target");
  if (why) LLVMDisposeMessage(why);
  if (ok) {
    LLVMTargetMachineRef machine =
        LLVMCreateTargetMachine(target, triple, "generic", feature_flags(code->chip, &scratch),
                                LLVMCodeGenLevelAggressive, LLVMRelocPIC, LLVMCodeModelDefault);
    LLVMSetTarget(module, triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(module, layout);
    tune(code->chip->tuning, module);
    pb_threads_round(module);
    leave_long_bodies(module);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, 1);
    LLVMErrorRef error = LLVMRunPasses(module, passes, machine, options);
    if (error) {
      char* text = LLVMGetErrorMessage(error);
      ok = refuse(code, text);
      LLVMDisposeErrorMessage(text);
    }
    pb_threads_keep_registers(code->chip, module);
    if (code->chip->core_mover_count) pb_threads_count_cycles(code->chip, module);
    ok = ok && write_code(code, module, machine);
    LLVMDisposePassBuilderOptions(options);
    LLVMDisposeTargetData(layout);
    LLVMDisposeTargetMachine(machine);
  }
  LLVMDisposeMessage(triple);
  pb_arena_free(&scratch);
  return ok;
}

static void through_llvm(pb_code* code, MlirModule kernels, MlirModule entries, const char* passes) {
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = mlirTranslateModuleToLLVMIR(mlirModuleGetOperation(kernels), context);
  LLVMModuleRef more = mlirTranslateModuleToLLVMIR(mlirModuleGetOperation(entries), context);
  if (!module || !more || LLVMLinkModules2(module, more)) {
    refuse(code, "the kernels do not translate");
  } else if (code->form == PB_CODE_LLVM) {
    char* printed = LLVMPrintModuleToString(module);
    code->text = strdup(printed);
    LLVMDisposeMessage(printed);
  } else {
    (void)optimise(code, module, passes);
  }
  if (module) LLVMDisposeModule(module);
  LLVMContextDispose(context);
}

// Kernels without a plan, for any extents or for these.
static bool has_plain_loops(MlirModule kernels) {
  PB_FOR_OPS (op, mlirModuleGetBody(kernels))
    if (!mlirAttributeIsNull(pb_op_attribute(op, "pb.scalar")) || !mlirAttributeIsNull(pb_op_attribute(op, "pb.open")))
      return true;
  return false;
}

void pb_code_make(pb_code* code) {
  const char* passes = has_plain_loops(code->kernels) ? of_plain_loops : optimisation;
  MlirModule entries = mlirModuleCreateParse(mlirModuleGetContext(code->kernels),
                                             mlirStringRefCreate(code->entries.data, code->entries.length));
  if (mlirModuleIsNull(entries)) {
    refuse(code, "the kernels' entries do not parse");
    return;
  }
  pb_text why = {0};
  if (pb_llvm_lower(code->kernels, code->chip, &why))
    through_llvm(code, code->kernels, entries, passes);
  else
    refuse(code, why.data ? why.data : "the kernels do not lower to LLVM");
  pb_text_free(&why);
  mlirModuleDestroy(entries);
}

void pb_code_free(pb_code* code) {
  if (code->kernels.ptr) mlirModuleDestroy(code->kernels);
  pb_text_free(&code->entries);
  free(code->text);
  free(code->why);
}

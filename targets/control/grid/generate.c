// pb-grid-code: optimises a module of lanes and generates its code.
#include "targets/control/grid/code.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <string.h>

// Kernels come unrolled and tiled, as for cores (targets/control/threads/code.c): what is left is to share addresses
// and to hoist. Addresses are known to be of one space by now, and loads of what is not written go where no other store
// is.
static const char optimisation[] =
    "function(infer-address-spaces,early-cse<memssa>,loop-mssa(loop-rotate,licm),instcombine<no-verify-fixpoint>,sroa,"
    "gvn<no-memdep>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm)),globaldce";

// As for cores: sums stay in their order, and constants where they are used.
static const char* const options[] = {"pb-grid-code", "-disable-machine-licm"};

static void start(void) {
  LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, "");
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmPrinter();
}

static int fail(const char* text) {
  fprintf(stderr, "%s\n", text ? text : "no code");
  return 1;
}

// Other entries go, so that the one that has no code can be named.
static void keep(LLVMModuleRef module, const char* entry) {
  for (LLVMValueRef next, f = LLVMGetFirstFunction(module); f; f = next) {
    size_t length;
    next = LLVMGetNextFunction(f);
    if (!LLVMIsDeclaration(f) && strcmp(LLVMGetValueName2(f, &length), entry) != 0) LLVMDeleteFunction(f);
  }
}

int pb_grid_code_main(int argc, char** argv) {
  LLVMMemoryBufferRef in;
  LLVMModuleRef module;
  LLVMTargetRef target;
  char* why = NULL;
  if (argc < 6 || argc > 7) return fail("usage: pb-grid-code TRIPLE PROCESSOR asm|obj IN.bc OUT [ENTRY]");
  start();
  LLVMContextRef context = LLVMContextCreate();
  if (LLVMCreateMemoryBufferWithContentsOfFile(argv[4], &in, &why)) return fail(why);
  if (LLVMParseBitcodeInContext2(context, in, &module)) return fail("the module does not parse");
  if (argc == 7) keep(module, argv[6]);
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &why)) return fail(why);
  if (LLVMGetTargetFromTriple(argv[1], &target, &why)) return fail(why);
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(target, argv[1], argv[2], "", LLVMCodeGenLevelAggressive,
                                                         LLVMRelocPIC, LLVMCodeModelDefault);
  LLVMPassBuilderOptionsRef how = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(module, optimisation, machine, how);
  if (error) return fail(LLVMGetErrorMessage(error));
  LLVMCodeGenFileType form = !strcmp(argv[3], "obj") ? LLVMObjectFile : LLVMAssemblyFile;
  return LLVMTargetMachineEmitToFile(machine, module, argv[5], form, &why) ? fail(why) : 0;
}

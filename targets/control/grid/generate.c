// pb-grid-code: optimises a module of lanes and generates its code.
#include "targets/control/grid/align.h"
#include "targets/control/grid/chains.h"
#include "targets/control/grid/code.h"
#include "targets/control/grid/lanes/isa.h"
#include "targets/control/grid/loops.h"
#include "targets/control/grid/order.h"
#include "targets/control/grid/portions.h"
#include "targets/control/grid/unmask.h"
#include "targets/control/grid/unroll.h"
#include "targets/control/grid/unwritten.h"
#include "targets/control/grid/words.h"

#include <limits.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Kernels come unrolled and tiled, as for cores (targets/control/threads/code.c): what is left is to share addresses
// and to hoist. Addresses are known to be of one space by now, and loads of what is not written go where no other store
// is.
#define OPTIMISATION                                                                                                   \
  "infer-address-spaces,early-cse<memssa>,loop-mssa(loop-rotate,licm),instcombine<no-verify-fixpoint>,sroa,"           \
  "gvn<no-memdep>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm)"
static const char optimisation[] = "function(" OPTIMISATION "),globaldce";

// Loops of one turn, which threads share, go too. LLVM finds then that nothing is stored in front of what is loaded,
// and loads all that is one for all lanes into scalar registers: not where pairs of products take vector registers.
static const char shortening[] = "function(" OPTIMISATION ",loop(indvars),simplifycfg),globaldce";

// Loops that are marked for it, and no others.
static const char unrolling[] =
    "function(loop-unroll<no-partial;no-runtime;no-upperbound;no-peeling;full-unroll-max=0>,early-cse,"
    "instcombine<no-verify-fixpoint>,early-cse,simplifycfg)";

// What all lanes take of neighbours, and what a lane has of them, comes at once.
static const char joining[] = "function(load-store-vectorizer)",
                  cleaning[] = "function(instcombine<no-verify-fixpoint>)";

// What a loop's turns may be that are written out one behind the other. Where lanes load words that are one for all of
// them into scalar registers, no more of these than are taken in a few portions. Where an assembler gives out
// registers, which would bring all loads of a block forward, products for each four words: of fewer ptxas 13 spilled
// registers of ResNet-50, of more products than that of EfficientNet and U-Net.
static const pb_unrolling by_scalars = {448, 360, 0}, by_assembler = {320, INT_MAX, 5};

// Words that lie in scalar registers: at least, and where they would not pair. MOST_TURNS: until what spills no longer
// does.
enum { FEWEST_WORDS = 32, FEWEST_AT_ONCE = 32, WORDS_BESIDE_PAIRS = 56, MOST_TURNS = 8 };

// As for cores: sums stay in their order, and constants where they are used. Neighbours are joined above, and not
// again.
static void start(const pb_isa* isa) {
  const char* options[] = {"pb-grid-code",
                           "-disable-machine-licm",
                           "-disable-nvptx-load-store-vectorizer",
                           "-amdgpu-load-store-vectorizer=0",
                           "-pass-remarks-analysis=kernel-resource-usage",
                           isa ? isa->option : NULL};
  int count = sizeof options / sizeof *options;
  LLVMParseCommandLineOptions(options[count - 1] ? count : count - 1, options, "");
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

// Whether the plan has unrolled the kernel's loops already: some block has many products.
static bool is_unrolled(LLVMValueRef function) {
  enum { MANY = 32 };
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
    if (pb_grid_products_of(b) >= MANY) return true;
  return false;
}

// Loops end by a branch to a block that stands in front.
static bool goes_back(LLVMBasicBlockRef block) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  for (LLVMBasicBlockRef b = block; b; b = LLVMGetPreviousBasicBlock(b))
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); ++k)
      if (LLVMGetSuccessor(end, k) == b) return true;
  return false;
}

static void keep_loop(LLVMContextRef context, LLVMValueRef end) {
  static const char kind[] = "llvm.loop", disable[] = "llvm.loop.unroll.disable";
  LLVMMetadataRef text = LLVMMDStringInContext2(context, disable, sizeof disable - 1);
  LLVMMetadataRef parts[] = {LLVMTemporaryMDNode(context, NULL, 0), LLVMMDNodeInContext2(context, &text, 1)};
  LLVMMetadataRef loop = LLVMMDNodeInContext2(context, parts, 2); // a loop's name is itself
  LLVMMetadataReplaceAllUsesWith(parts[0], loop);
  LLVMSetMetadata(end, LLVMGetMDKindIDInContext(context, kind, sizeof kind - 1), LLVMMetadataAsValue(context, loop));
}

// The assembler would unroll such loops once more, and keep all that is loaded in registers.
static void keep_loops(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = is_unrolled(f) ? LLVMGetFirstBasicBlock(f) : NULL; b; b = LLVMGetNextBasicBlock(b))
      if (goes_back(b)) keep_loop(LLVMGetModuleContext(module), LLVMGetBasicBlockTerminator(b));
}

// ---- registers ----

// What AMD's code generator remarks of each entry that it makes. One that does not keep all in registers, for its
// scheduler lets too much be on its way, gets other attributes in `again`, from which all is made once more.
typedef struct usage {
  LLVMModuleRef again; // NULL: nothing is made anew
  char entry[128];
  bool spills;
} usage;

static const char* behind(const char* text, const char* what) {
  const char* at = strstr(text, what);
  return at ? at + strlen(what) : NULL;
}

static void set_attribute(LLVMValueRef entry, const char* name, const char* value) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(entry));
  LLVMAddAttributeAtIndex(
      entry, LLVMAttributeFunctionIndex,
      LLVMCreateStringAttribute(context, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

static void set_words(LLVMValueRef entry, const char* name, int words) {
  char text[16];
  snprintf(text, sizeof text, "%d", words);
  set_attribute(entry, name, text);
}

// Products that take a scalar register do not pair.
static void keep_pairs(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f)) set_words(f, PB_GRID_SCALAR_WORDS, WORDS_BESIDE_PAIRS);
}

// Where it is scalar registers that do not do, fewer numbers are on their way to them, then fewer go to them at all, as
// long as some do. What is scheduled for few registers of any kind waits for each load by itself.
static void ask_for_less(LLVMValueRef entry, bool scalar) {
  int words = pb_grid_scalar_words(entry), pair = pb_grid_pair_words(entry);
  if (scalar && pair > FEWEST_AT_ONCE)
    set_words(entry, PB_GRID_PAIR_WORDS, pair * 3 / 5);
  else if (scalar && words > FEWEST_WORDS)
    set_words(entry, PB_GRID_SCALAR_WORDS, words * 5 / 8);
  else
    set_attribute(entry, "amdgpu-sched-strategy", "iterative-minreg");
}

static void note_usage(LLVMDiagnosticInfoRef info, void* user) {
  usage* u = user;
  char* text = LLVMGetDiagInfoDescription(info);
  const char *name = behind(text, "Function Name: "), *spills = behind(text, "GPRs Spill: ");
  if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) exit(fail(text));
  if (name) snprintf(u->entry, sizeof u->entry, "%s", name);
  LLVMValueRef entry = u->again && spills && *spills != '0' ? LLVMGetNamedFunction(u->again, u->entry) : NULL;
  if (entry) {
    ask_for_less(entry, strstr(text, "SGPRs Spill: ") != NULL);
    u->spills = true;
  }
  LLVMDisposeMessage(text);
}

static int emit(LLVMTargetMachineRef machine, LLVMModuleRef module, char* out, LLVMCodeGenFileType form,
                bool portions) {
  char* why = NULL;
  for (int turn = 0; turn < MOST_TURNS; ++turn) {
    usage u = {.again = turn + 1 < MOST_TURNS ? module : NULL};
    LLVMModuleRef made = LLVMCloneModule(module);
    LLVMContextSetDiagnosticHandler(LLVMGetModuleContext(module), note_usage, &u);
    pb_grid_mark_unwritten(made);
    if (portions) pb_grid_order_portions(made);
    if (LLVMTargetMachineEmitToFile(machine, made, out, form, &why)) return fail(why);
    LLVMDisposeModule(made);
    if (!u.spills) break;
  }
  return 0;
}

// Not where products pair: what more turns load would be vector registers' that are one for all lanes.
static LLVMErrorRef write_out(LLVMModuleRef module, LLVMTargetMachineRef machine, LLVMPassBuilderOptionsRef how,
                              bool scalar, bool pairs) {
  if (pairs || !pb_grid_mark_unrolled(module, scalar ? &by_scalars : &by_assembler)) return NULL;
  return LLVMRunPasses(module, unrolling, machine, how);
}

int pb_grid_code_main(int argc, char** argv) {
  LLVMMemoryBufferRef in;
  LLVMModuleRef module;
  LLVMTargetRef target;
  char* why = NULL;
  if (argc < 6 || argc > 7) return fail("usage: pb-grid-code TRIPLE PROCESSOR asm|obj IN.bc OUT [ENTRY]");
  start(pb_isa_of(argv[1]));
  LLVMContextRef context = LLVMContextCreate();
  if (LLVMCreateMemoryBufferWithContentsOfFile(argv[4], &in, &why)) return fail(why);
  if (LLVMParseBitcodeInContext2(context, in, &module)) return fail("the module does not parse");
  if (argc == 7) keep(module, argv[6]);
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &why)) return fail(why);
  if (LLVMGetTargetFromTriple(argv[1], &target, &why)) return fail(why);
  const pb_isa* isa = pb_isa_of(argv[1]);
  LLVMTargetMachineRef machine =
      LLVMCreateTargetMachine(target, argv[1], argv[2], isa && isa->features ? isa->features : "",
                              LLVMCodeGenLevelAggressive, LLVMRelocPIC, LLVMCodeModelDefault);
  LLVMPassBuilderOptionsRef how = LLVMCreatePassBuilderOptions();
  bool pairs = isa && pb_isa_pairs(isa, argv[2]);
  LLVMErrorRef error = LLVMRunPasses(module, pairs ? optimisation : shortening, machine, how);
  if (error) return fail(LLVMGetErrorMessage(error));
  pb_grid_order_chains(module);
  bool scalar = isa && isa->scalar;
  if ((error = write_out(module, machine, how, scalar, pairs))) return fail(LLVMGetErrorMessage(error));
  pb_grid_align(module);
  if (scalar) pb_grid_load_words(module);
  if ((error = LLVMRunPasses(module, joining, machine, how))) return fail(LLVMGetErrorMessage(error));
  pb_grid_unmask(module);
  if ((error = LLVMRunPasses(module, cleaning, machine, how))) return fail(LLVMGetErrorMessage(error));
  if (scalar) pb_grid_step_loops(module);
  if (pairs) keep_pairs(module);
  keep_loops(module);
  LLVMCodeGenFileType form = !strcmp(argv[3], "obj") ? LLVMObjectFile : LLVMAssemblyFile;
  return emit(machine, module, argv[5], form, scalar && !pairs);
}

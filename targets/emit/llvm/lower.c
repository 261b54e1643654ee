#include "targets/emit/llvm/lower.h"

#include "core/ir/execute.h"
#include "targets/emit/llvm/address.h"
#include "targets/emit/llvm/convert.h"
#include "targets/emit/llvm/direct.h"
#include "targets/emit/llvm/flat.h"
#include "targets/emit/llvm/inline.h"
#include "targets/emit/llvm/partition.h"
#include "targets/emit/llvm/places.h"
#include "targets/emit/llvm/roots.h"
#include "targets/emit/llvm/so_far.h"
#include "targets/emit/llvm/windows.h"

#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>

// What the dialects' operations are to LLVM is one conversion: a pass for each dialect casts the types of what the
// others still have, and looks through all operations again. In front of it equal operations become one, so that there
// are fewer.
static const char lowering[] = "lower-affine,convert-scf-to-cf,cse,"
                               "convert-to-llvm{filter-dialects=vector,math,arith,memref,cf},"
                               "convert-func-to-llvm{use-bare-ptr-memref-call-conv=1},reconcile-unrealized-casts";

// Those that it names, whether the kernels at hand use them or not, and what they become.
static const char* const lowered[] = {"vector", "math", "arith", "memref", "scf", "cf", "llvm"};

static MlirStringRef str(const char* text) { return mlirStringRefCreateFromCString(text); }

static void append(MlirStringRef part, void* text) { pb_text_add(text, "%.*s", (int)part.length, part.data); }

// Kernels in the LLVM dialect.
static bool lower(MlirModule kernels, pb_text* why) {
  MlirPassManager passes = mlirPassManagerCreate(mlirModuleGetContext(kernels));
  mlirPassManagerEnableVerifier(passes, false); // the IR is verified when it is made
  bool ok = mlirLogicalResultIsSuccess(
                mlirOpPassManagerAddPipeline(mlirPassManagerGetAsOpPassManager(passes), str(lowering), append, why)) &&
            mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(passes, mlirModuleGetOperation(kernels)));
  mlirPassManagerDestroy(passes);
  return ok;
}

// A pipeline registers with the context what its passes depend on, the first time that it runs, and no lock is around
// that: of two groups that began together one lost an extension of convert-to-llvm, or read the list while it moved.
static void register_dependent(MlirContext context) {
  pb_text why = {0};
  MlirModule nothing = mlirModuleCreateEmpty(mlirLocationUnknownGet(context));
  (void)lower(nothing, &why); // what is wrong with the pipeline the first group says
  mlirModuleDestroy(nothing);
  pb_text_free(&why);
}

void pb_llvm_start(MlirContext context) {
  pb_ir_register_passes();
  mlirRegisterAllLLVMTranslations(context);
  for (size_t k = 0; k < sizeof lowered / sizeof *lowered; ++k) mlirContextGetOrLoadDialect(context, str(lowered[k]));
  register_dependent(context);
}

bool pb_llvm_lower(MlirModule kernels, const pb_chip* chip, pb_text* why) {
  pb_llvm_partition(kernels);
  pb_llvm_inline(kernels);
  pb_llvm_places(kernels);
  pb_llvm_so_far(kernels, chip);
  pb_llvm_windows(kernels, chip);
  pb_llvm_address(kernels);
  pb_llvm_roots(kernels, chip);
  pb_llvm_convert(kernels, chip);
  pb_llvm_rename(kernels);
  pb_llvm_flatten(kernels);
  return lower(kernels, why);
}

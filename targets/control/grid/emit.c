#define _GNU_SOURCE
#include "targets/control/grid/emit.h"

#include "core/base/scratch.h"
#include "core/base/workers.h"
#include "core/s3/kernels.h"
#include "targets/control/grid/code.h"
#include "targets/control/grid/lanes/lanes.h"
#include "targets/control/grid/spread.h"
#include "targets/emit/llvm/kernels.h"
#include "targets/emit/llvm/lower.h"

#include <errno.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Target/LLVMIR.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Kernels go to modules by their number, whatever this machine has: the code must not depend on it.
enum { MODULE_KERNELS = 3, MAX_MODULES = 16 };

// In front of lanes: instructions' functions in their places, tensors' descriptions and what is never read gone, so
// that vectors are in values alone.
static const char preparation[] = "always-inline,function(sroa,early-cse,adce),globaldce";

// ---- launches ----

// The number that a constant is; 0: it is none.
static int64_t constant_of(MlirValue value) {
  if (!mlirValueIsAOpResult(value)) return 0;
  MlirOperation op = mlirOpResultGetOwner(value);
  if (pb_op_is(op, "arith.select")) return constant_of(mlirOperationGetOperand(op, 1)); // of a guard: all or none
  return pb_op_is(op, "arith.constant") ? mlirIntegerAttrGetValueInt(pb_op_attribute(op, "value")) : 0;
}

// Parts of a kernel's work, of which the call of @pb_partition says how many there are; 0: they are counted as it runs.
static int64_t parts_of(MlirOperation kernel) {
  PB_FOR_OPS (op, pb_op_body(kernel)) {
    if (!pb_op_is(op, "func.call") || mlirOperationGetNumResults(op) != 2) continue;
    return constant_of(mlirOperationGetOperand(op, 0));
  }
  return 0;
}

// As many warps as there are parts, and no more than the processors keep at once. Blocks are small while some
// processors would have none.
static pb_launch launch_of(const pb_chip* chip, MlirOperation kernel) {
  int64_t processors = chip->levels[PB_GRID_PROCESSORS].max, most = chip->levels[PB_GRID_WARPS].max;
  int64_t parts = pb_llvm_is_shared(kernel) ? parts_of(kernel) : 1, warps = parts && parts < most ? parts : most;
  pb_launch launch = {.warps = 1};
  while (launch.warps < chip->grid.block_warps && launch.warps * 2 * processors <= warps) launch.warps *= 2;
  launch.blocks = (int)((warps + launch.warps - 1) / launch.warps);
  return launch;
}

// ---- modules ----

typedef struct modules {
  const pb_chip* chip;
  MlirModule module;
  pb_engine* engine;
  pb_grid_module* all;
  int count;
  enum { LANES, ASSEMBLY, CODES } form;
  pb_launch* launches; // by kernel
} modules;

static void note_launch(void* user, int number, MlirOperation kernel) {
  modules* m = user;
  m->launches[number] = launch_of(m->chip, kernel);
}

static void refuse(pb_grid_module* one, const char* what, const char* why) {
  if (!one->why && asprintf(&one->why, "%s: %s", what, why) < 0) one->why = NULL;
}

static void prepare(pb_grid_module* one) {
  LLVMPassBuilderOptionsRef how = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(one->module, preparation, NULL, how);
  LLVMDisposePassBuilderOptions(how);
  if (!error) return;
  char* text = LLVMGetErrorMessage(error);
  refuse(one, "LLVM", text);
  LLVMDisposeErrorMessage(text);
}

static void make_lanes(const modules* m, pb_grid_module* one) {
  const pb_chip* chip = m->chip;
  pb_lanes lanes = {
      .isa = pb_isa_of(chip->grid.triple), .width = chip->levels[PB_GRID_LANES].max, .inside = chip->grid.block_bytes};
  for (int k = one->number; k < m->engine->kernel_count && !one->why; k += m->count) {
    pb_kernel* kernel = &m->engine->kernels[k];
    if (!pb_lanes_make(&lanes, one->module, kernel->name, kernel->symbol, &m->launches[k]))
      refuse(one, kernel->name, lanes.why);
  }
  free(lanes.why);
}

// What vectors were called with.
static void drop_unused(LLVMModuleRef module) {
  for (LLVMValueRef next, f = LLVMGetFirstFunction(module); f; f = next) {
    next = LLVMGetNextFunction(f);
    if (LLVMIsDeclaration(f) && !LLVMGetFirstUse(f)) LLVMDeleteFunction(f);
  }
}

static void print_lanes(pb_grid_module* one) {
  char* printed = LLVMPrintModuleToString(one->module);
  one->text = strdup(printed);
  LLVMDisposeMessage(printed);
}

static void through_llvm(const modules* m, pb_grid_module* one, MlirModule kernels) {
  LLVMContextRef context = LLVMContextCreate();
  one->module = mlirTranslateModuleToLLVMIR(mlirModuleGetOperation(kernels), context);
  if (!one->module || !pb_grid_target(m->chip, one->module)) refuse(one, "LLVM", "the kernels do not translate");
  if (!one->why) prepare(one);
  if (!one->why) make_lanes(m, one);
  if (!one->why) drop_unused(one->module);
  if (!one->why && m->form == LANES) print_lanes(one);
  if (!one->why && m->form == ASSEMBLY) (void)pb_grid_assembly(one);
  if (!one->why && m->form == CODES) (void)pb_grid_codes(one);
  if (one->module) LLVMDisposeModule(one->module);
  LLVMContextDispose(context);
}

// Kernels without a plan are spread where they can be. Those that are not are one warp's.
static void spread_kernels(const modules* m, int number, MlirModule kernels) {
  static const char functions[] = "func.func private @pb_grid_thread() -> index\nfunc.func private @pb_grid_wait()\n"
                                  "func.func private @pb_grid_warp() -> index\n";
  for (MlirOperation next, op = mlirBlockGetFirstOperation(mlirModuleGetBody(kernels)); !mlirOperationIsNull(op);
       op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (!pb_llvm_is_kernel(op)) continue;
    pb_grid_spread(m->chip, op, &m->launches[number]);
    number += m->count;
  }
  (void)pb_llvm_add(kernels, mlirStringRefCreate(functions, sizeof functions - 1));
}

static void make_module(void* user, int number) {
  modules* m = user;
  pb_grid_module* one = &m->all[number];
  MlirModule kernels;
  pb_text why = {0};
  *one = (pb_grid_module){.chip = m->chip, .folder = one->folder, .number = number};
  if (!pb_llvm_copy(m->chip, m->module, number, m->count, note_launch, m, &kernels))
    refuse(one, "MLIR", "the instructions do not parse");
  else if (spread_kernels(m, number, kernels), !pb_llvm_lower(kernels, m->chip, &why))
    refuse(one, "MLIR", why.data ? why.data : "the kernels do not lower to LLVM");
  else
    through_llvm(m, one, kernels);
  pb_text_free(&why);
  mlirModuleDestroy(kernels);
}

// ---- the engine ----

// Plans count what as many warps do as keep all processors busy, and the time of a product.
static void list_kernels(const pb_chip* chip, MlirModule module, pb_engine* engine) {
  int64_t busy = chip->levels[PB_GRID_WARPS].busy ? chip->levels[PB_GRID_WARPS].busy : 1;
  PB_FOR_OPS (op, mlirModuleGetBody(module)) {
    if (!pb_llvm_is_kernel(op)) continue;
    pb_kernel* k = &engine->kernels[engine->kernel_count++];
    MlirAttribute bound = pb_op_attribute(op, "pb.bound");
    bool guarded = !mlirAttributeIsNull(pb_op_attribute(op, "pb.guarded")); // it is not expected to run
    k->is_grid = true;
    k->name = pb_func_name(op, &engine->arena);
    k->symbol = pb_printf(&engine->arena, "pb_%s", k->name);
    k->bound = mlirAttributeIsNull(bound) || guarded ? "" : pb_attribute_text(bound, &engine->arena);
    int64_t products = pb_op_integer(op, "pb.cycles", 0) * chip->grid.product_cycles;
    k->predicted_cycles = guarded ? 0 : (uint64_t)((products + busy - 1) / busy);
  }
}

static pb_status compile(modules* m, int workers, pb_diag* diag) {
  MlirContext context = mlirModuleGetContext(m->module);
  m->launches = PB_NEW_ARRAY(&m->engine->arena, pb_launch, (size_t)m->engine->kernel_count + 1);
  pb_llvm_start(context);
  bool several = m->count > 1 && workers != 1;
  if (several) mlirContextEnableMultithreading(context, true);
  pb_work_on(m->count, workers, make_module, m);
  if (several) mlirContextEnableMultithreading(context, false);
  for (int k = 0; k < m->count; ++k)
    if (m->all[k].why)
      return pb_unsupported(diag, (pb_place){.what = m->all[k].why}, 4210,
                            "another target, or --fallback=cpu for the kernel", "no code for a grid can be made of it");
  return PB_OK;
}

static void take(const modules* m) {
  pb_engine* e = m->engine;
  int lanes = m->chip->levels[PB_GRID_LANES].max;
  e->processor = pb_strdup(&e->arena, m->chip->grid.processor);
  e->module_count = m->count;
  e->grid_codes = PB_NEW_ARRAY(&e->arena, pb_grid_code, (size_t)m->count * 2 + 1);
  for (int k = 0; k < m->count; ++k)
    for (int c = 0; c < m->all[k].code_count; ++c) {
      pb_grid_code* code = &e->grid_codes[e->grid_code_count++];
      *code = m->all[k].codes[c];
      code->data = pb_alloc_raw(&e->arena, code->bytes);
      memcpy(code->data, m->all[k].codes[c].data, code->bytes);
    }
  for (int k = 0; k < e->kernel_count; ++k) {
    const pb_launch* l = &m->launches[k];
    uint64_t parts = l->spread ? 1 : (uint64_t)l->warps * (uint64_t)l->blocks; // that have memory
    e->kernels[k].grid = (pb_grid_kernel){.module = k % m->count,
                                          .blocks = (uint32_t)l->blocks,
                                          .threads = (uint32_t)(l->warps * lanes),
                                          .memory = l->outside ? (uint64_t)l->memory * parts : 0};
  }
}

static pb_status check_target(const pb_chip* chip, pb_diag* diag) {
  const pb_isa* isa = pb_isa_of(chip->grid.triple);
  int lanes = chip->levels[PB_GRID_LANES].max;
  if (isa && lanes > pb_isa_lanes(isa, chip->grid.processor))
    return pb_unsupported(diag, (pb_place){.what = chip->name}, 4212, "as many lanes, or a part of them",
                          "a warp of %d lanes; %s has %d that exchange numbers", lanes, chip->grid.processor,
                          pb_isa_lanes(isa, chip->grid.processor));
  if (isa) return PB_OK;
  return pb_unsupported(diag, (pb_place){.what = chip->name}, 4211, "nvptx64-nvidia-cuda or amdgcn-amd-amdhsa",
                        "Triple \"%s\" is no instruction set of grids that code is made for", chip->grid.triple);
}

pb_status pb_grid_emit(const pb_chip* chip, MlirModule module, int workers, pb_engine* engine, pb_diag* diag) {
  PB_TRY(check_target(chip, diag));
  list_kernels(chip, module, engine);
  if (!engine->kernel_count) return PB_OK; // of tensors without elements alone
  pb_grid_module all[MAX_MODULES] = {0};
  int count = (engine->kernel_count + MODULE_KERNELS - 1) / MODULE_KERNELS;
  modules m = {.chip = chip, .module = module, .engine = engine, .all = all, .form = CODES};
  m.count = count > MAX_MODULES ? MAX_MODULES : count;
  const char* folder = pb_scratch_make(&engine->arena);
  if (!folder) {
    const char* base = getenv("TMPDIR");
    return pb_system_error(diag, (pb_place){.file = base && *base ? base : P_tmpdir}, 4202,
                           "no folder can be made in it");
  }
  for (int k = 0; k < m.count; ++k) all[k].folder = folder;
  pb_status status = compile(&m, workers, diag);
  if (status == PB_OK) take(&m);
  for (int k = 0; k < m.count; ++k) pb_grid_module_free(&all[k]);
  pb_scratch_remove(folder);
  return status;
}

pb_status pb_grid_print(const pb_chip* chip, MlirModule module, bool assembly, pb_diag* diag, char** text) {
  pb_engine scratch = {0};
  size_t functions = 0;
  PB_TRY(check_target(chip, diag));
  PB_FOR_OPS (op, mlirModuleGetBody(module)) ++functions;
  scratch.kernels = PB_NEW_ARRAY(&scratch.arena, pb_kernel, functions + 1);
  list_kernels(chip, module, &scratch);
  const char* folder = pb_scratch_make(&scratch.arena);
  pb_grid_module one = {.folder = folder ? folder : "."};
  modules m = {
      .chip = chip, .module = module, .engine = &scratch, .all = &one, .count = 1, .form = assembly ? ASSEMBLY : LANES};
  pb_status status = scratch.kernel_count ? compile(&m, 1, diag) : PB_OK;
  *text = scratch.kernel_count ? one.text : strdup("");
  one.text = NULL;
  pb_grid_module_free(&one);
  if (folder) pb_scratch_remove(folder);
  pb_arena_free(&scratch.arena);
  return status;
}

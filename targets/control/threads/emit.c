#define _GNU_SOURCE
#include "targets/control/threads/emit.h"

#include "core/base/scratch.h"
#include "core/base/workers.h"
#include "core/s3/kernels.h"
#include "targets/control/threads/code.h"
#include "targets/control/threads/movers.h"
#include "targets/emit/llvm/kernels.h"

#include <errno.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Kernels go to groups by their number, whatever this machine has: the code must not depend on it.
enum {
  GROUP_KERNELS = 3,
  MAX_GROUPS = PB_CODE_OBJECTS,
};

static pb_status fail(pb_diag* diag, const char* what, const char* text) {
  (void)pb_error(diag, (pb_place){.what = what}, 4200, "this is a bug in the compiler, not in the model", "%s", text);
  return PB_ERR_SYSTEM;
}

// void pb_k(void** args, int64 thread, int64 threads): loads the pointers and calls the kernel. A kernel that is not
// shared is the first thread's.
static void print_entry(const pb_kernel* kernel, int count, bool shared, pb_text* text) {
  pb_text_add(text, "llvm.func @%s(", kernel->name);
  for (int a = 0; a < count; ++a) pb_text_add(text, "%s!llvm.ptr", a ? ", " : "");
  pb_text_add(text, "%s)\n", !shared ? "" : count ? ", i64, i64" : "i64, i64");
  pb_text_add(text, "llvm.func @%s(%%args: !llvm.ptr, %%thread: i64, %%threads: i64) {\n", kernel->symbol);
  if (!shared)
    pb_text_add(text, "  %%zero = llvm.mlir.constant(0 : i64) : i64\n"
                      "  %%first = llvm.icmp \"eq\" %%thread, %%zero : i64\n"
                      "  llvm.cond_br %%first, ^all, ^end\n^all:\n");
  for (int a = 0; a < count; ++a) {
    pb_text_add(text, "  %%g%d = llvm.getelementptr %%args[%d] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n", a, a);
    pb_text_add(text, "  %%p%d = llvm.load %%g%d : !llvm.ptr -> !llvm.ptr\n", a, a);
  }
  pb_text_add(text, "  llvm.call @%s(", kernel->name);
  for (int a = 0; a < count; ++a) pb_text_add(text, "%s%%p%d", a ? ", " : "", a);
  if (shared) pb_text_add(text, "%s%%thread, %%threads", count ? ", " : "");
  pb_text_add(text, ") : (");
  for (int a = 0; a < count; ++a) pb_text_add(text, "%s!llvm.ptr", a ? ", " : "");
  if (shared) pb_text_add(text, "%si64, i64", count ? ", " : "");
  pb_text_add(text, ") -> ()\n");
  if (!shared) pb_text_add(text, "  llvm.br ^end\n^end:\n");
  pb_text_add(text, "  llvm.return\n}\n");
}

// What it costs that threads begin and end a kernel together.
static uint64_t cycles_to_share(const pb_chip* chip) {
  uint64_t cycles = 0;
  for (int l = 0; l < chip->level_count; ++l)
    if (!strcmp(chip->levels[l].sync, "barrier")) cycles = (uint64_t)chip->levels[l].sync_cycles;
  return cycles;
}

// At most half of the work. Of plain loops the operations are known, two a cycle.
int64_t pb_threads_saved(const pb_chip* chip, MlirOperation kernel) {
  bool shared = !mlirAttributeIsNull(pb_op_attribute(kernel, "pb.shared"));
  int64_t cycles = pb_op_integer(kernel, "pb.cycles", pb_op_integer(kernel, "pb.work", 0) / 2);
  return shared ? cycles / 2 - (int64_t)cycles_to_share(chip) : 0;
}

// A kernel is one thread's when it is not shared, which one without a plan is not, or when a second thread would save
// less than it costs.
static void describe_kernel(const pb_chip* chip, MlirOperation func, pb_arena* arena, pb_kernel* k) {
  k->name = pb_func_name(func, arena);
  k->symbol = pb_printf(arena, "pb_%s", k->name);
  k->bound = "";
  k->alone = pb_threads_saved(chip, func) <= 0;
  MlirAttribute bound = pb_op_attribute(func, "pb.bound");
  if (mlirAttributeIsNull(bound)) return;
  MlirStringRef s = mlirStringAttrGetValue(bound);
  k->predicted_cycles = (uint64_t)pb_op_integer(func, "pb.cycles", 0);
  k->bound = pb_printf(arena, "%.*s", (int)s.length, s.data);
  if (mlirAttributeIsNull(pb_op_attribute(func, "pb.guarded"))) return;
  k->predicted_cycles = 0; // it is not expected to run
  k->bound = "";
}

// The groups, and the order in which workers take them: large ones first, so that nobody waits long for the last.
typedef struct groups {
  MlirModule module;
  const pb_engine* engine;
  pb_code* codes;
  int count, order[MAX_GROUPS];
  size_t size[MAX_GROUPS]; // operations
} groups;

typedef struct entries {
  const pb_engine* engine;
  pb_text* text;
} entries;

static void add_entry(void* user, int number, MlirOperation kernel) {
  const entries* e = user;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
  print_entry(&e->engine->kernels[number], (int)mlirBlockGetNumArguments(body), pb_llvm_is_shared(kernel), e->text);
}

// The kernels of one group alone, with instructions by their intrinsics. The host function is the engine's business.
static void copy_group(const groups* all, int group) {
  pb_code* code = &all->codes[group];
  entries e = {all->engine, &code->entries};
  if (!pb_llvm_copy(code->chip, all->module, group, all->count, add_entry, &e, &code->kernels))
    code->why = strdup("the instructions do not parse");
}

static void make_group(void* user, int k) {
  const groups* all = user;
  pb_code* code = &all->codes[all->order[k]];
  copy_group(all, all->order[k]);
  if (code->chip->core_mover_count) pb_threads_print_movers(&code->entries);
  if (!code->why) pb_code_make(code);
}

static MlirWalkResult count_operation(MlirOperation op, void* count) {
  (void)op;
  ++*(size_t*)count;
  return MlirWalkResultAdvance;
}

static void order_groups(groups* all) {
  int number = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(all->module)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (pb_llvm_is_kernel(op))
      mlirOperationWalk(op, count_operation, &all->size[number++ % all->count], MlirWalkPreOrder);
  for (int g = 0; g < all->count; ++g) {
    int k = g;
    for (; k > 0 && all->size[all->order[k - 1]] < all->size[g]; --k) all->order[k] = all->order[k - 1];
    all->order[k] = g;
  }
}

static int list_kernels(const pb_chip* chip, MlirModule module, pb_engine* engine) {
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (pb_llvm_is_kernel(op)) describe_kernel(chip, op, &engine->arena, &engine->kernels[engine->kernel_count++]);
  int groups = (engine->kernel_count + GROUP_KERNELS - 1) / GROUP_KERNELS;
  return groups < 1 ? 1 : groups > MAX_GROUPS ? MAX_GROUPS : groups;
}

// Compiles the groups; on success the caller has the objects or texts.
static pb_status compile_groups(const pb_chip* chip, MlirModule module, int workers, const pb_engine* engine,
                                pb_code* codes, int count, pb_diag* diag) {
  MlirContext context = mlirModuleGetContext(module);
  groups all = {.module = module, .engine = engine, .codes = codes, .count = count};
  for (int g = 0; g < count; ++g) codes[g].chip = chip;
  pb_code_start(context);
  order_groups(&all);
  bool several = count > 1 && workers != 1;
  if (several) mlirContextEnableMultithreading(context, true);
  pb_work_on(count, workers, make_group, &all);
  if (several) mlirContextEnableMultithreading(context, false);
  for (int g = 0; g < count; ++g)
    if ((errno = codes[g].error))
      return pb_system_error(diag, (pb_place){.file = codes[g].object}, 4202, "cannot be written");
  for (int g = 0; g < count; ++g)
    if (codes[g].why) return fail(diag, "threads", codes[g].why);
  return PB_OK;
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

pb_status pb_threads_emit(const pb_chip* chip, MlirModule module, int workers, pb_engine* engine, pb_diag* diag) {
  engine->features = pb_strdup(&engine->arena, chip->features);
  pb_code codes[MAX_GROUPS] = {0};
  int groups = list_kernels(chip, module, engine);
  if (!engine->kernel_count) return PB_OK; // of tensors without elements alone
  const char* folder = pb_scratch_make(&engine->arena);
  if (!folder) {
    const char* base = getenv("TMPDIR");
    return pb_system_error(diag, (pb_place){.file = base && *base ? base : P_tmpdir}, 4202,
                           "no folder can be made in it");
  }
  for (int g = 0; g < groups; ++g) codes[g].object = pb_printf(&engine->arena, "%s/kernels%d.o", folder, g);
  char* shared = pb_printf(&engine->arena, "%s/kernels.so", folder);
  pb_status status = compile_groups(chip, module, workers, engine, codes, groups, diag);
  const char* objects[MAX_GROUPS];
  for (int g = 0; g < groups; ++g) objects[g] = codes[g].object;
  if (status == PB_OK) status = pb_code_link(objects, groups, shared, diag);
  if (status == PB_OK) status = read_native(shared, engine, diag);
  for (int g = 0; g < groups; ++g) pb_code_free(&codes[g]);
  pb_scratch_remove(folder);
  return status;
}

pb_status pb_threads_print(const pb_chip* chip, MlirModule module, bool assembly, pb_diag* diag, char** text) {
  pb_engine scratch = {0};
  int functions = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    ++functions;
  scratch.kernels = PB_NEW_ARRAY(&scratch.arena, pb_kernel, (size_t)functions + 1);
  (void)list_kernels(chip, module, &scratch);
  pb_code code = {.form = assembly ? PB_CODE_ASSEMBLY : PB_CODE_LLVM};
  bool none = !scratch.kernel_count;
  pb_status status = none ? PB_OK : compile_groups(chip, module, 1, &scratch, &code, 1, diag);
  *text = none ? strdup("") : code.text;
  code.text = NULL;
  pb_code_free(&code);
  pb_arena_free(&scratch.arena);
  return status;
}

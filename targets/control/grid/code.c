#define _GNU_SOURCE
#include "targets/control/grid/code.h"

#include "core/base/installation.h"
#include "targets/control/grid/assembler.h"
#include "targets/control/grid/lanes/isa.h"
#include "targets/emit/llvm/lld.h"

#include <errno.h>
#include <fcntl.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool refuse(pb_grid_module* m, const char* what, const char* text) {
  if (!m->why && asprintf(&m->why, "%s%s%s", what, *text ? ": " : "", text) < 0) m->why = NULL;
  return false;
}

// ---- types ----

static void start(void) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
}

bool pb_grid_target(const pb_chip* chip, LLVMModuleRef module) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  LLVMTargetRef target;
  char* why = NULL;
  pthread_once(&once, start);
  if (LLVMGetTargetFromTriple(chip->grid.triple, &target, &why)) return LLVMDisposeMessage(why), false;
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(target, chip->grid.triple, "", "", LLVMCodeGenLevelDefault,
                                                         LLVMRelocPIC, LLVMCodeModelDefault);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetTarget(module, chip->grid.triple);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);
  LLVMDisposeTargetMachine(machine);
  return true;
}

// ---- files ----

static char* name_file(const pb_grid_module* m, const char* ending) {
  char* path = NULL;
  if (asprintf(&path, "%s/module%d.%s", m->folder, m->number, ending) < 0) pb_no_memory(strlen(m->folder));
  return path;
}

// All of it, with a 0 behind it; NULL: it cannot be read.
static char* read_file(const char* path, uint64_t* bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) return NULL;
  fseek(f, 0, SEEK_END);
  long n = ftell(f);
  rewind(f);
  char* data = malloc((size_t)n + 1);
  if (!data) pb_no_memory((size_t)n + 1);
  bool good = fread(data, 1, (size_t)n, f) == (size_t)n;
  fclose(f);
  data[good ? n : 0] = 0;
  *bytes = (uint64_t)n;
  return data;
}

// What a program said, without LLVM's stack, as the module's fault.
static bool refuse_with(pb_grid_module* m, const char* what, const char* said) {
  uint64_t bytes;
  char* text = read_file(said, &bytes);
  if (text) text[strcspn(text, "\n")] = 0;
  refuse(m, what, text ? text : "");
  free(text);
  return false;
}

// ---- LLVM ----

// How pb-grid-code ended, 0: well.
static int generate(const pb_grid_module* m, const char* form, const char* in, const char* out, const char* said,
                    const char* entry) {
  char program[4096];
  pb_installed_program("pb-grid-code", program, sizeof program);
  const char* arguments[] = {program, m->chip->grid.triple, m->chip->grid.processor, form, in, out, entry, NULL};
  return pb_assembler_run(program, arguments, said);
}

// Which entry has no code: each alone.
static bool name_entry(pb_grid_module* m, const char* form, const char* in, const char* out, const char* said) {
  unsigned entry = pb_isa_of(m->chip->grid.triple)->convention;
  for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) {
    size_t length;
    if (LLVMGetFunctionCallConv(f) != entry || LLVMIsDeclaration(f)) continue;
    const char* name = LLVMGetValueName2(f, &length);
    if (generate(m, form, in, out, said, name)) return refuse_with(m, name, said);
  }
  return refuse(m, "pb-grid-code", "it makes code of each kernel, and not of all together");
}

// Of a processor that LLVM does not know it makes code for any of that kind, and says so.
static bool is_known(pb_grid_module* m, const char* said) {
  uint64_t bytes;
  char* text = read_file(said, &bytes);
  bool known = !text || !strstr(text, "is not a recognized processor");
  free(text);
  return known || refuse(m, m->chip->grid.processor, "LLVM knows no such processor");
}

static bool through_llvm(pb_grid_module* m, const char* form, const char* out) {
  char *in = name_file(m, "bc"), *said = name_file(m, "txt");
  bool good = !LLVMWriteBitcodeToFile(m->module, in);
  if (!good) refuse(m, in, strerror(errno));
  int ended = good ? generate(m, form, in, out, said, NULL) : 0;
  good = good && is_known(m, said) && (!ended || name_entry(m, form, in, out, said));
  free(in);
  free(said);
  return good;
}

// ---- forms ----

static bool add(pb_grid_module* m, const char* path, int form) {
  pb_grid_code* code = &m->codes[m->code_count];
  *code = (pb_grid_code){.module = m->number, .form = form};
  code->data = (uint8_t*)read_file(path, &code->bytes);
  if (!code->data) return refuse(m, path, strerror(errno));
  code->bytes += form == PB_DEVICE_PTX; // its 0
  ++m->code_count;
  return true;
}

bool pb_grid_assembly(pb_grid_module* m) {
  char* out = name_file(m, "s");
  uint64_t bytes;
  bool good = through_llvm(m, "asm", out);
  if (good && !(m->text = read_file(out, &bytes))) good = refuse(m, out, strerror(errno));
  free(out);
  return good;
}

static bool ptx_codes(pb_grid_module* m) {
  char assembler[4096], *ptx = name_file(m, "ptx"), *cubin = name_file(m, "cubin"), *said = name_file(m, "txt"), *arch;
  bool good = through_llvm(m, "asm", ptx) && add(m, ptx, PB_DEVICE_PTX);
  if (asprintf(&arch, "-arch=%s", m->chip->grid.processor) < 0) pb_no_memory(16);
  if (good && pb_assembler_find(assembler, sizeof assembler)) {
    const char* arguments[] = {assembler, arch, "-o", cubin, ptx, NULL};
    good =
        pb_assembler_run(assembler, arguments, said) ? refuse_with(m, "ptxas", said) : add(m, cubin, PB_DEVICE_CUBIN);
  }
  free(ptx);
  free(cubin);
  free(said);
  free(arch);
  return good;
}

static bool object_codes(pb_grid_module* m) {
  char *object = name_file(m, "o"), *linked = name_file(m, "hsaco");
  char* arguments[] = {"ld.lld", "-shared", "--threads=1", "-o", linked, object, NULL};
  pb_diag unsaid = {.sink = pb_diag_drop};
  int code = 0;
  bool good = through_llvm(m, "obj", object);
  if (good && (pb__lld_run(arguments, &unsaid, &code) != PB_OK || code))
    good = refuse(m, "ld.lld", "the kernels do not link");
  good = good && add(m, linked, PB_DEVICE_HSACO);
  free(object);
  free(linked);
  return good;
}

bool pb_grid_codes(pb_grid_module* m) {
  return pb_isa_of(m->chip->grid.triple)->code == PB_DEVICE_PTX ? ptx_codes(m) : object_codes(m);
}

void pb_grid_module_free(pb_grid_module* m) {
  for (int k = 0; k < m->code_count; ++k) free(m->codes[k].data);
  free(m->text);
  free(m->why);
}

// Each instruction on vectors becomes a function of its own,
//
//   void pb_check(const void* operand 0, .., void* result)
//
// which a child process compiles with the features that the description has: what they do not allow ends LLVM's
// process. Where this processor has them it runs there too, on small integers, whose products and sums are exact in
// every type.
#define _GNU_SOURCE
#include "targets/control/threads/check.h"

#include "core/base/half.h"
#include "core/base/installation.h"
#include "core/base/processor.h"
#include "core/ir/module.h"
#include "core/poly/text.h"
#include "targets/control/threads/code.h"

#include <fcntl.h>
#include <llvm-c/Core.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/IR.h>
#include <mlir-c/Target/LLVMIR.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ELEMENTS = 4096 };

typedef struct check {
  const pb_chip* chip;
  pb_diag* diag;
  MlirContext context;
  const char* flags; // for LLVM: "+a,+b"
  bool runs;         // this processor has the features
  int faults;
} check;

static void fault(check* c, pb_place place, int code, const char* hint, const char* text) {
  ++c->faults;
  (void)pb_error(c->diag, place, code, hint, "%s", text);
}

static pb_place place_of(const pb_insn* insn) {
  return (pb_place){.file = insn->file, .line = insn->line, .column = 1};
}

// ---- names ----

// Whether the list "+a,-b" of all features has it.
static bool is_feature(const char* all, const char* name, size_t length) {
  for (const char* at = all; *at; at += strspn(at, ",")) {
    size_t n = strcspn(at, ",");
    if (n == length + 1 && !memcmp(at + 1, name, length)) return true;
    at += n;
  }
  return false;
}

static void check_features(check* c, pb_arena* arena) {
  char *all = LLVMGetHostCPUFeatures(), *triple = LLVMGetDefaultTargetTriple();
  c->flags = "";
  for (const char* at = c->chip->features; *at; at += strspn(at, ",")) {
    size_t n = strcspn(at, ",");
    const char* name = pb_printf(arena, "%.*s", (int)n, at);
    at += n;
    if (pb_processor_state(name, NULL)) continue;
    c->flags = pb_printf(arena, "%s%s+%s", c->flags, *c->flags ? "," : "", name);
    if (is_feature(all, name, n)) continue;
    fault(c, c->chip->place, 3388,
          "features by LLVM's names for that processor; others have no code generator here yet",
          pb_printf(arena, "Features: '%s' is none of %.*s, which code is made for here", name,
                    (int)strcspn(triple, "-"), triple));
  }
  LLVMDisposeMessage(all);
  LLVMDisposeMessage(triple);
}

static bool is_intrinsic(const char* name) { return LLVMLookupIntrinsicID(name, strlen(name)) != 0; }

// ---- functions ----

static int64_t elements(const pb_insn* insn, int operand) {
  int64_t n = 1;
  for (int k = 0; k < insn->operands[operand].rank; ++k) n *= insn->dims[insn->operands[operand].dims[k]].max;
  return n;
}

static const char* type_text(const pb_insn* insn, int operand, pb_arena* arena) {
  return pb_printf(arena, "vector<%lldx%s>", (long long)elements(insn, operand),
                   pb_type_name(insn->operands[operand].type));
}

static char* function_text(const pb_insn* insn, pb_arena* arena) {
  pb_text head = {0}, body = {0}, names = {0}, types = {0};
  const char* result = type_text(insn, insn->dest, arena);
  int added = insn->adds ? -1 : insn->dest;
  for (int k = 0; k < insn->operand_count; ++k) {
    const char* type = type_text(insn, k, arena);
    pb_text_add(&head, "%%p%d: !llvm.ptr, ", k);
    pb_text_add(&body, "  %%x%d = llvm.load %%p%d : !llvm.ptr -> %s\n", k, k, type);
    if (k == added) continue;
    pb_text_add(&names, "%s%%x%d", names.length ? ", " : "", k);
    pb_text_add(&types, "%s%s", types.length ? ", " : "", type);
  }
  char* text = pb_printf(
      arena,
      "llvm.func @pb_check(%s%%y: !llvm.ptr) {\n%s  %%r = llvm.call_intrinsic \"%s\"(%s) : (%s) -> %s\n"
      "  llvm.store %%r, %%y : %s, !llvm.ptr\n  llvm.return\n}\n",
      head.data, body.data, insn->emit, names.data ? names.data : "", types.data ? types.data : "", result, result);
  pb_text_free(&head);
  pb_text_free(&body);
  pb_text_free(&names);
  pb_text_free(&types);
  return text;
}

static MlirLogicalResult drop(MlirDiagnostic d, void* unused) {
  (void)d, (void)unused;
  return mlirLogicalResultSuccess();
}

// NULL: the operands are not the intrinsic's.
static LLVMModuleRef function_of(const check* c, const pb_insn* insn, LLVMContextRef to, pb_arena* arena) {
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(c->context, drop, NULL, NULL);
  MlirModule parsed = mlirModuleCreateParse(c->context, mlirStringRefCreateFromCString(function_text(insn, arena)));
  LLVMModuleRef module = NULL;
  if (!mlirModuleIsNull(parsed)) {
    module = mlirTranslateModuleToLLVMIR(mlirModuleGetOperation(parsed), to);
    mlirModuleDestroy(parsed);
  }
  mlirContextDetachDiagnosticHandler(c->context, handler);
  return module;
}

// ---- values ----

static int64_t width(pb_type type) { return (pb_type_bits(type) + 7) / 8; }

static void put(char* data, pb_type type, int64_t k, int number) {
  char* at = data + k * width(type);
  float single = (float)number;
  double wide = number;
  int64_t integer = number;
  uint16_t narrow = pb_narrow_of(type, number);
  const void* from = type == PB_F32            ? (const void*)&single
                     : type == PB_F64          ? (const void*)&wide
                     : pb_type_is_narrow(type) ? (const void*)&narrow
                                               : (const void*)&integer;
  memcpy(at, from, (size_t)width(type));
}

static double get(const char* data, pb_type type, int64_t k) {
  const char* at = data + k * width(type);
  float single;
  double wide;
  int64_t integer = 0;
  uint16_t narrow = 0;
  int shift = 64 - pb_type_bits(type);
  if (type == PB_F32) return memcpy(&single, at, 4), (double)single;
  if (type == PB_F64) return memcpy(&wide, at, 8), wide;
  memcpy(pb_type_is_narrow(type) ? (void*)&narrow : (void*)&integer, at, (size_t)width(type));
  if (pb_type_is_narrow(type)) return (double)pb_narrow_number(type, narrow);
  return (double)((int64_t)((uint64_t)integer << shift) >> shift);
}

static int64_t element_at(const pb_insn* insn, int operand, const int64_t* at) {
  int64_t k = 0;
  for (int r = 0; r < insn->operands[operand].rank; ++r) {
    int d = insn->operands[operand].dims[r];
    k = k * insn->dims[d].max + at[d];
  }
  return k;
}

// What the semantics' value is at a point; false: it has operations that are not computed here.
static bool value_at(const pb_insn* insn, char* const* data, const int64_t* at, double* value) {
  double v[PB_MAX_EXPR];
  for (int e = 0; e < insn->expr_count; ++e) {
    const pb_expr_node* n = &insn->expr[e];
    double a = n->args[0] >= 0 ? v[n->args[0]] : 0, b = n->args[1] >= 0 ? v[n->args[1]] : 0;
    if (n->op == PB_OP_LOAD && n->args[0] < 0 && insn->operands[n->operand].memory >= 0)
      v[e] = get(data[n->operand], insn->operands[n->operand].type, element_at(insn, n->operand, at));
    else if (n->op == PB_OP_ADD || n->op == PB_OP_SUB || n->op == PB_OP_MUL)
      v[e] = n->op == PB_OP_ADD ? a + b : n->op == PB_OP_SUB ? a - b : a * b;
    else if (n->op == PB_OP_SEXT || n->op == PB_OP_EXTF)
      v[e] = a;
    else if (n->op == PB_OP_ZEXT)
      v[e] = a < 0 ? a + (double)(1ll << pb_type_bits(insn->expr[n->args[0]].type)) : a;
    else
      return false;
  }
  *value = v[insn->expr_count - 1];
  return true;
}

// Adds the semantics' values to what the destination is; false: they are not computed here.
static bool expect(const pb_insn* insn, char* const* data, double* y) {
  int64_t at[PB_MAX_INSN_DIMS] = {0};
  if ((insn->reduce != PB_SET && insn->reduce != PB_ACC_ADD) || insn->acc_flag >= 0) return false;
  for (;;) {
    double value;
    if (!value_at(insn, data, at, &value)) return false;
    int64_t k = element_at(insn, insn->dest, at);
    y[k] = insn->reduce == PB_SET ? value : y[k] + value;
    int d = insn->dim_count - 1;
    while (d >= 0 && ++at[d] == insn->dims[d].max) at[d--] = 0;
    if (d < 0) return true;
  }
}

static bool is_right(const pb_insn* insn, void* code) {
  static _Alignas(128) char room[PB_MAX_OPERANDS + 1][MOST_ELEMENTS * 8]; // as vectors lie
  static double y[MOST_ELEMENTS];
  char* data[PB_MAX_OPERANDS + 1];
  pb_type type = insn->operands[insn->dest].type;
  unsigned state = 1;
  for (int k = 0; k <= insn->operand_count; ++k) data[k] = room[k];
  for (int k = 0; k < insn->operand_count; ++k)
    for (int64_t e = 0; e < elements(insn, k); ++e) {
      state = state * 1664525u + 1013904223u;
      put(data[k], insn->operands[k].type, e, (int)(state >> 16) % 7 - 3);
    }
  for (int64_t e = 0; e < elements(insn, insn->dest); ++e) y[e] = insn->adds ? get(data[insn->dest], type, e) : 0;
  if (!expect(insn, data, y)) return true;
  char** d = data;
  char* result = data[insn->operand_count];
  void (*call2)(void*, void*);
  void (*call3)(void*, void*, void*);
  void (*call4)(void*, void*, void*, void*);
  memcpy(&call2, &code, sizeof code);
  memcpy(&call3, &code, sizeof code);
  memcpy(&call4, &code, sizeof code);
  if (insn->operand_count == 1) call2(d[0], result);
  if (insn->operand_count == 2) call3(d[0], d[1], result);
  if (insn->operand_count == 3) call4(d[0], d[1], d[2], result);
  for (int64_t e = 0; e < elements(insn, insn->dest) && insn->operand_count <= 3; ++e)
    if (get(result, type, e) != y[e]) return false;
  return true;
}

static void begin(check* c, const pb_chip* chip, pb_diag* diag, pb_arena* arena) {
  char missing[64];
  *c = (check){.chip = chip, .diag = diag, .context = pb_context_create()};
  pb_code_start(c->context);
  check_features(c, arena);
  c->runs = pb_processor_has(chip->features, missing, sizeof missing);
}

// ---- the child ----

// Whether it is an instruction with these features, rather than a call of a library's function.
static bool has_code(const check* c, LLVMModuleRef module) {
  char *triple = LLVMGetDefaultTargetTriple(), *why = NULL;
  LLVMTargetRef target;
  LLVMMemoryBufferRef text;
  if (LLVMGetTargetFromTriple(triple, &target, &why)) return true; // said elsewhere
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(target, triple, "generic", c->flags, LLVMCodeGenLevelDefault,
                                                         LLVMRelocPIC, LLVMCodeModelDefault);
  LLVMSetTarget(module, triple);
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &why, &text)) return false;
  return !strstr(LLVMGetBufferStart(text), "\tcall") && !strstr(LLVMGetBufferStart(text), "\tbl\t");
}

static void* code_of(const check* c, LLVMModuleRef module) {
  LLVMExecutionEngineRef engine;
  char* why = NULL;
  LLVMValueRef function = LLVMGetNamedFunction(module, "pb_check");
  LLVMAddTargetDependentFunctionAttr(function, "target-features", c->flags);
  LLVMLinkInMCJIT();
  if (LLVMCreateExecutionEngineForModule(&engine, module, &why)) return NULL;
  return (void*)(uintptr_t)LLVMGetFunctionAddress(engine, "pb_check");
}

static int judge(const check* c, const pb_insn* insn, LLVMModuleRef module) {
  LLVMModuleRef again = LLVMCloneModule(module);
  if (!has_code(c, module)) return PB_CORE_NO_CODE;
  void* code = c->runs ? code_of(c, again) : NULL;
  return !code || is_right(insn, code) ? PB_CORE_RIGHT : PB_CORE_WRONG;
}

pb_core_verdict pb_threads_try(const pb_chip* chip, const char* name) {
  pb_diag unsaid = {.sink = pb_diag_drop};
  pb_arena arena = {0};
  check c;
  const pb_insn* insn = pb_chip_insn(chip, name);
  begin(&c, chip, &unsaid, &arena);
  LLVMModuleRef module = insn ? function_of(&c, insn, LLVMContextCreate(), &arena) : NULL;
  return module ? (pb_core_verdict)judge(&c, insn, module) : PB_CORE_NO_CODE; // the process ends
}

// ---- the parent ----

// The description as a file without a name, to be read from its beginning; -1: there can be none.
static int as_file(const char* text) {
  size_t size = strlen(text);
  int fd = memfd_create("description", MFD_CLOEXEC);
  for (size_t at = 0; fd >= 0 && at < size;) {
    ssize_t n = write(fd, text + at, size - at);
    if (n <= 0) return close(fd), -1;
    at += (size_t)n;
  }
  if (fd >= 0) (void)lseek(fd, 0, SEEK_SET);
  return fd;
}

// How the child ended, as waitpid says; false: it did not begin, or took too long, and nothing is known.
static bool run_child(const pb_chip* chip, const pb_insn* insn, int* status) {
  char program[4096], *arguments[] = {program, (char*)(uintptr_t)insn->name, (char*)(uintptr_t)chip->variant, NULL};
  pid_t pid;
  int fd = as_file(chip->json);
  posix_spawn_file_actions_t actions;
  pb_installed_program("pb-check-core", program, sizeof program);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0); // LLVM's words for what ends it
  bool began = fd >= 0 && !posix_spawn(&pid, program, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (fd >= 0) close(fd);
  return began && waitpid(pid, status, 0) == pid && !(WIFSIGNALED(*status) && WTERMSIG(*status) == SIGALRM);
}

static void check_code(check* c, const pb_insn* insn, pb_arena* arena) {
  int status = 0;
  if (!run_child(c->chip, insn, &status) || (WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT))
    return; // nothing is known, and it shows when code is made: LLVM ends by abort
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : PB_CORE_NO_CODE;
  if (code == PB_CORE_WRONG)
    fault(c, place_of(insn), 3391, "operands in the order in which the intrinsic takes them, and what it makes of them",
          pb_printf(arena, "%s: '%s' comes to something else than Semantics says", insn->name, insn->emit));
  else if (code != PB_CORE_RIGHT)
    fault(c, place_of(insn), 3390, "the feature that it needs, in the chip's Features",
          pb_printf(arena, "%s: '%s' is no instruction of a processor with the features '%s'", insn->name, insn->emit,
                    c->chip->features));
}

// ---- all of it ----

static const char* memory_fault(const pb_memory* m, pb_arena* arena) {
  const char* names[2] = {m->from_vector, m->to_vector};
  for (int k = 0; k < 2; ++k)
    if (m->value[0] && !is_intrinsic(names[k]))
      return pb_printf(arena, "%s: LLVM has no intrinsic '%s'", m->name, names[k]);
  return NULL;
}

static bool on_vectors(const check* c, const pb_insn* insn) {
  bool plain = insn->operand_count > 0;
  for (int k = 0; k < insn->operand_count; ++k) {
    const pb_operand* o = &insn->operands[k];
    plain &= o->memory >= 0 && c->chip->memories[o->memory].kind == PB_MEM_REGISTERS &&
             !c->chip->memories[o->memory].value[0] && elements(insn, k) <= MOST_ELEMENTS;
  }
  return plain;
}

static void check_instruction(check* c, const pb_insn* insn) {
  static const char hint[] = "a name of LLVM's, and of its suffix where it has one: llvm.fma";
  pb_arena arena = {0};
  if (!is_intrinsic(insn->emit)) {
    fault(c, place_of(insn), 3389, hint, pb_printf(&arena, "%s: LLVM has no intrinsic '%s'", insn->name, insn->emit));
  } else if (on_vectors(c, insn)) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = function_of(c, insn, context, &arena);
    if (module)
      check_code(c, insn, &arena);
    else
      fault(c, place_of(insn), 3389, "operands of as many bits as its registers have, in its order",
            pb_printf(&arena, "%s: its operands are not those of '%s'", insn->name, insn->emit));
    if (module) LLVMDisposeModule(module);
    LLVMContextDispose(context);
  }
  pb_arena_free(&arena);
}

pb_status pb_threads_check(const pb_chip* chip, pb_diag* diag) {
  check c;
  pb_arena arena = {0};
  begin(&c, chip, diag, &arena);
  for (int m = 0; m < chip->memory_count; ++m) {
    const char* text = memory_fault(&chip->memories[m], &arena);
    if (text) fault(&c, chip->place, 3389, "FromVector and ToVector name intrinsics", text);
  }
  int unknown = c.faults; // features that there are none of: nothing can be said of code
  for (int k = 0; k < chip->insn_count && !unknown; ++k)
    if (chip->insns[k].emit) check_instruction(&c, &chip->insns[k]);
  mlirContextDestroy(c.context);
  pb_arena_free(&arena);
  return c.faults ? PB_ERR_INPUT : PB_OK;
}

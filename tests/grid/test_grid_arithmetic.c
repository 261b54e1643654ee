// Arithmetic on random operands, those at the edges of their ranges among them: PTX that LLVM makes of an operation,
// run by the machine, against LLVM's own execution of the same operation on this computer. NaN is NaN, whatever its
// bits.
#include "grid.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 4096, I = 1, F = 2, H = 4, ZEROS = 8 };

// %w1 and %w2: what %x and %y have of 32 bits.
#define WORDS                                                                                                          \
  "%ua = zext $T %x to i128\n %w1 = trunc i128 %ua to i32\n %uc = zext $T %y to i128\n %w2 = trunc i128 %uc to i32\n "

// Products of codes that instruction sets have one instruction for: what it means.
#define DOT_OPERANDS WORDS "%ue = zext $T %z to i128\n %w3 = trunc i128 %ue to i32\n "
#define DOT_MEANS                                                                                                      \
  "%e = bitcast i32 %w1 to <4 x i8>\n %f = bitcast i32 %w2 to <4 x i8>\n %g = sext <4 x i8> %e to <4 x i32>\n "        \
  "%h = sext <4 x i8> %f to <4 x i32>\n %m = mul <4 x i32> %g, %h\n "                                                  \
  "%a = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %m)\n %r = add i32 %a, %w3"

// $T is each type of the kinds, $W its width; an R of $T where none is given.
static const struct {
  const char* name;
  int kinds;
  const char *result, *body;
} ops[] = {
    {"add", I, NULL, "%r = add $T %x, %y"},
    {"sub", I, NULL, "%r = sub $T %x, %y"},
    {"mul", I, NULL, "%r = mul $T %x, %y"},
    {"mad", I, NULL, "%m = mul $T %x, %y\n %r = add $T %m, %z"},
    {"sdiv", I, NULL, "%p = lshr $T %x, 1\n %q = or $T %y, 1\n %r = sdiv $T %p, %q"},
    {"udiv", I, NULL, "%q = or $T %y, 1\n %r = udiv $T %x, %q"},
    {"srem", I, NULL, "%p = lshr $T %x, 1\n %q = or $T %y, 1\n %r = srem $T %p, %q"},
    {"urem", I, NULL, "%q = or $T %y, 1\n %r = urem $T %x, %q"},
    {"and", I, NULL, "%r = and $T %x, %y"},
    {"or", I, NULL, "%r = or $T %x, %y"},
    {"xor", I, NULL, "%r = xor $T %x, %y"},
    {"mix", I, NULL, "%p = and $T %x, %y\n %q = xor $T %p, %z\n %s = or $T %q, %x\n %r = xor $T %s, -1"},
    {"shl", I, NULL, "%q = urem $T %y, $W\n %r = shl $T %x, %q"},
    {"lshr", I, NULL, "%q = urem $T %y, $W\n %r = lshr $T %x, %q"},
    {"ashr", I, NULL, "%q = urem $T %y, $W\n %r = ashr $T %x, %q"},
    {"fshl", I, NULL, "%r = call $T @llvm.fshl.$T($T %x, $T %y, $T %z)"},
    {"fshr", I, NULL, "%r = call $T @llvm.fshr.$T($T %x, $T %y, $T %z)"},
    {"smin", I, NULL, "%r = call $T @llvm.smin.$T($T %x, $T %y)"},
    {"smax", I, NULL, "%r = call $T @llvm.smax.$T($T %x, $T %y)"},
    {"umin", I, NULL, "%r = call $T @llvm.umin.$T($T %x, $T %y)"},
    {"umax", I, NULL, "%r = call $T @llvm.umax.$T($T %x, $T %y)"},
    {"abs", I, NULL, "%r = call $T @llvm.abs.$T($T %x, i1 false)"},
    {"ctpop", I, NULL, "%r = call $T @llvm.ctpop.$T($T %x)"},
    {"ctlz", I, NULL, "%r = call $T @llvm.ctlz.$T($T %x, i1 false)"},
    {"cttz", I, NULL, "%r = call $T @llvm.cttz.$T($T %x, i1 false)"},
    {"bitreverse", I, NULL, "%r = call $T @llvm.bitreverse.$T($T %x)"},
    {"bswap", I, NULL, "%r = call $T @llvm.bswap.$T($T %x)"},
    {"sadd_sat", I, NULL, "%r = call $T @llvm.sadd.sat.$T($T %x, $T %y)"},
    {"usub_sat", I, NULL, "%r = call $T @llvm.usub.sat.$T($T %x, $T %y)"},
    {"eq", I, NULL, "%c = icmp eq $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"ne", I, NULL, "%c = icmp ne $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"slt", I, NULL, "%c = icmp slt $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"sle", I, NULL, "%c = icmp sle $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"sgt", I, NULL, "%c = icmp sgt $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"sge", I, NULL, "%c = icmp sge $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"ult", I, NULL, "%c = icmp ult $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"ule", I, NULL, "%c = icmp ule $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"both", I, NULL,
     "%c = icmp ult $T %x, %y\n %e = icmp slt $T %y, %z\n %f = xor i1 %c, %e\n %r = select i1 %f, $T %z, $T %x"},
    {"smulh", I, NULL,
     "%p = sext $T %x to i128\n %q = sext $T %y to i128\n %m = mul i128 %p, %q\n %s = lshr i128 %m, $W\n %r = trunc "
     "i128 %s to $T"},
    {"umulh", I, NULL,
     "%p = zext $T %x to i128\n %q = zext $T %y to i128\n %m = mul i128 %p, %q\n %s = lshr i128 %m, $W\n %r = trunc "
     "i128 %s to $T"},
    {"sext64", I, "i64", "%v = trunc $T %x to i8\n %r = sext i8 %v to i64"},
    {"zext32", I, "i32", "%v = trunc $T %x to i8\n %r = zext i8 %v to i32"},
    // Of AMD's these are parts of registers.
    {"bytes", I, "i32",
     WORDS "%e = bitcast i32 %w1 to <4 x i8>\n %f = bitcast i32 %w2 to <4 x i8>\n"
           " %g = add <4 x i8> %e, %f\n %r = bitcast <4 x i8> %g to i32"},
    {"upper", I, "i32",
     WORDS "%s = or i32 %w1, %w2\n %u = shl i32 %s, 16\n %l = and i32 %w1, 65535\n %r = sub i32 %u, %l"},
    {"dot4", I, "i32", DOT_OPERANDS DOT_MEANS},
    {"trunc16", I, "i16", "%p = lshr $T %x, 3\n %v = zext $T %p to i128\n %r = trunc i128 %v to i16"},
    {"sitofp", I, "float", "%r = sitofp $T %x to float"},
    {"uitofp", I, "float", "%r = uitofp $T %x to float"},
    {"sitodp", I, "double", "%r = sitofp $T %x to double"},
    {"uitodp", I, "double", "%r = uitofp $T %x to double"},
    {"fadd", F | H, NULL, "%r = fadd $T %x, %y"},
    {"fsub", F | H, NULL, "%r = fsub $T %x, %y"},
    {"fmul", F | H, NULL, "%r = fmul $T %x, %y"},
    {"fdiv", F | H, NULL, "%r = fdiv $T %x, %y"},
    {"fma", F, NULL, "%r = call $T @llvm.fma.$S($T %x, $T %y, $T %z)"},
    {"fneg", F | H, NULL, "%r = fneg $T %x"},
    {"fabs", F | H, NULL, "%r = call $T @llvm.fabs.$S($T %x)"},
    {"copysign", F | H, NULL, "%r = call $T @llvm.copysign.$S($T %x, $T %y)"},
    {"sqrt", F | H, NULL, "%r = call $T @llvm.sqrt.$S($T %x)"},
    {"minnum", F | H | ZEROS, NULL, "%r = call $T @llvm.minnum.$S($T %x, $T %y)"},
    {"maxnum", F | H | ZEROS, NULL, "%r = call $T @llvm.maxnum.$S($T %x, $T %y)"},
    {"minimum", F | H, NULL, "%r = call $T @llvm.minimum.$S($T %x, $T %y)"},
    {"maximum", F | H, NULL, "%r = call $T @llvm.maximum.$S($T %x, $T %y)"},
    {"floor", F | H, NULL, "%r = call $T @llvm.floor.$S($T %x)"},
    {"ceil", F | H, NULL, "%r = call $T @llvm.ceil.$S($T %x)"},
    {"trunc", F | H, NULL, "%r = call $T @llvm.trunc.$S($T %x)"},
    {"rint", F | H, NULL, "%r = call $T @llvm.rint.$S($T %x)"},
    {"oeq", F | H, NULL, "%c = fcmp oeq $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"one", F | H, NULL, "%c = fcmp one $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"olt", F | H, NULL, "%c = fcmp olt $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"ole", F | H, NULL, "%c = fcmp ole $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"ogt", F | H, NULL, "%c = fcmp ogt $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"oge", F | H, NULL, "%c = fcmp oge $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"ueq", F | H, NULL, "%c = fcmp ueq $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"une", F | H, NULL, "%c = fcmp une $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"ult", F | H, NULL, "%c = fcmp ult $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"ule", F | H, NULL, "%c = fcmp ule $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"ugt", F | H, NULL, "%c = fcmp ugt $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"uge", F | H, NULL, "%c = fcmp uge $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"ord", F | H, NULL, "%c = fcmp ord $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"uno", F | H, NULL, "%c = fcmp uno $T %x, %y\n %r = select i1 %c, $T %z, $T %x"},
    {"tosi32", F | H, "i32", "%r = call i32 @llvm.fptosi.sat.i32.$S($T %x)"},
    {"toui32", F | H, "i32", "%r = call i32 @llvm.fptoui.sat.i32.$S($T %x)"},
    {"tosi64", F, "i64", "%r = call i64 @llvm.fptosi.sat.i64.$S($T %x)"},
    {"toui64", F, "i64", "%r = call i64 @llvm.fptoui.sat.i64.$S($T %x)"},
    {"tosi16", F, "i16", "%r = call i16 @llvm.fptosi.sat.i16.$S($T %x)"},
    {"todouble", H, "double", "%r = fpext $T %x to double"},
    {"tofloat", H, "float", "%r = fpext $T %x to float"},
    // Several numbers of 16 bits at once lie in halves of registers, of RDNA.
    {"divisions", H, NULL,
     "%p = fdiv $T %x, %y\n %q = fdiv $T %y, %z\n %s = fdiv $T %z, %x\n %u = fdiv $T %z, %y\n "
     "%v = fsub $T %p, %q\n %w = fsub $T %s, %u\n %r = fadd $T %v, %w"},
    {"classes", H, NULL, // which are subnormal
     "%p = call i1 @llvm.is.fpclass.$S($T %x, i32 144)\n %q = call i1 @llvm.is.fpclass.$S($T %y, i32 144)\n "
     "%s = call i1 @llvm.is.fpclass.$S($T %z, i32 144)\n %v = select i1 %p, $T %y, $T %z\n "
     "%w = select i1 %q, $T %x, $T %v\n %r = select i1 %s, $T %v, $T %w"},
};
// What devices have of their own: NVIDIA's, AMD's and RDNA's.
static const struct {
  const char *name, *body[3];
} own[] = {{"dot4",
            {DOT_OPERANDS "%r = call i32 @llvm.nvvm.idp4a.s.s(i32 %w1, i32 %w2, i32 %w3)",
             DOT_OPERANDS "%r = call i32 @llvm.amdgcn.sdot4(i32 %w1, i32 %w2, i32 %w3, i1 false)",
             DOT_OPERANDS "%r = call i32 @llvm.amdgcn.sudot4(i1 true, i32 %w1, i1 true, i32 %w2, i32 %w3, i1 false)"}}};
enum { OPS = sizeof ops / sizeof *ops, TYPES = 7, MOST = OPS * TYPES + 8 };
static const struct {
  const char *name, *suffix;
  int kind, bytes;
} types[TYPES] = {{"i16", "i16", I, 2},    {"i32", "i32", I, 4},  {"i64", "i64", I, 8},    {"float", "f32", F, 4},
                  {"double", "f64", F, 8}, {"half", "f16", H, 2}, {"bfloat", "bf16", H, 2}};

typedef struct row { // one operation of one type
  char name[48];
  int type, result, op; // op < 0: a conversion that stands alone
} row;
static row rows[MOST];
static int row_count;

static int type_of(const char* name) {
  for (int k = 0; k < TYPES; ++k)
    if (!strcmp(types[k].name, name)) return k;
  abort();
}

static void put(char** at, const char* body, int type) {
  for (; *body; ++body) {
    if (*body != '$') {
      *(*at)++ = *body;
      continue;
    }
    ++body;
    const char* text = *body == 'T' ? types[type].name : types[type].suffix;
    *at += *body == 'W' ? sprintf(*at, "%d", 8 * types[type].bytes) : sprintf(*at, "%s", text);
  }
}

enum { HOST, NVIDIA, AMD, RDNA };
static void function(char** at, const char* name, const char* body, int type, int result, int device) {
  const char *t = types[type].name, *r = types[result].name;
  static const char* const kinds[] = {"", "ptx_kernel ", "amdgpu_kernel ", "amdgpu_kernel "};
  static const char* const threads[] = {"", "@llvm.nvvm.read.ptx.sreg.tid.x", "@llvm.amdgcn.workitem.id.x",
                                        "@llvm.amdgcn.workitem.id.x"};
  static const char* const blocks[] = {"", "@llvm.nvvm.read.ptx.sreg.ctaid.x", "@llvm.amdgcn.workgroup.id.x",
                                       "@llvm.amdgcn.workgroup.id.x"};
  const char* p = device >= AMD ? "ptr addrspace(1)" : "ptr";
  *at += sprintf(*at, "define %svoid @%s(%s %%rs, %s %%xs, %s %%ys, %s %%zs%s) {\n", kinds[device], name, p, p, p, p,
                 device ? "" : ", i64 %k");
  if (device)
    *at += sprintf(*at,
                   " %%t = call i32 %s()\n %%b = call i32 %s()\n %%bb = mul i32 %%b, 128\n %%kk = add i32 %%t, %%bb\n"
                   " %%k = zext i32 %%kk to i64\n",
                   threads[device], blocks[device]);
  static const char* const names[] = {"x", "y", "z"};
  for (int n = 0; n < 3; ++n)
    *at += sprintf(*at, " %%%sp = getelementptr %s, %s %%%ss, i64 %%k\n %%%s = load %s, %s %%%sp\n", names[n], t, p,
                   names[n], names[n], t, p, names[n]);
  *(*at)++ = ' ';
  put(at, body, type);
  *at +=
      sprintf(*at, "\n %%rp = getelementptr %s, %s %%rs, i64 %%k\n store %s %%r, %s %%rp\n ret void\n}\n", r, p, r, p);
}

static const char* body_of(int op, int device) {
  for (size_t k = 0; device && k < sizeof own / sizeof *own; ++k)
    if (!strcmp(own[k].name, ops[op].name)) return own[k].body[device - NVIDIA];
  return ops[op].body;
}

static char* module_text(int device) {
  char *text = malloc(2 << 20), *at = text;
  assert_non_null(text);
  if (device == NVIDIA) at += sprintf(at, "target triple = \"nvptx64-nvidia-cuda\"\n");
  if (device >= AMD) at += sprintf(at, "target triple = \"amdgcn-amd-amdhsa\"\n");
  row_count = 0;
  for (int o = 0; o < OPS; ++o)
    for (int t = 0; t < TYPES; ++t) {
      if (!(ops[o].kinds & types[t].kind)) continue;
      row* r = &rows[row_count++];
      snprintf(r->name, sizeof r->name, "%s_%s", ops[o].name, types[t].suffix);
      r->type = t;
      r->result = ops[o].result ? type_of(ops[o].result) : t;
      r->op = o;
      function(&at, r->name, body_of(o, device), t, r->result, device);
    }
  static const char* const casts[][2] = {
      {"double", "float"}, {"float", "half"}, {"float", "bfloat"}, {"float", "double"}};
  for (int k = 0; k < 4; ++k) {
    row* r = &rows[row_count++];
    r->type = type_of(casts[k][0]);
    r->result = type_of(casts[k][1]);
    r->op = -1;
    snprintf(r->name, sizeof r->name, "cast_%s_%s", types[r->type].suffix, types[r->result].suffix);
    char body[64];
    snprintf(body, sizeof body, "%%r = %s $T %%x to %s", k == 3 ? "fpext" : "fptrunc", casts[k][1]);
    function(&at, r->name, body, r->type, r->result, device);
  }
  *at = 0;
  return text;
}

static LLVMModuleRef parse(LLVMContextRef context, char* text) {
  char* why = NULL;
  LLVMModuleRef module = NULL;
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "ops");
  if (LLVMParseIRInContext(context, buffer, &module, &why)) fail_msg("%s", why);
  free(text);
  return module;
}

static char* device_text(void) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = parse(context, module_text(NVIDIA));
  LLVMTargetRef target;
  char* why = NULL;
  if (LLVMGetTargetFromTriple("nvptx64-nvidia-cuda", &target, &why)) fail_msg("%s", why);
  LLVMTargetMachineRef machine =
      LLVMCreateTargetMachine(target, "nvptx64-nvidia-cuda", "sm_80", "+ptx71", LLVMCodeGenLevelDefault,
                              LLVMRelocDefault, LLVMCodeModelDefault);
  LLVMMemoryBufferRef out;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &why, &out)) fail_msg("%s", why);
  char* text = calloc(1, LLVMGetBufferSize(out) + 1);
  memcpy(text, LLVMGetBufferStart(out), LLVMGetBufferSize(out));
  LLVMDisposeMemoryBuffer(out);
  LLVMDisposeTargetMachine(machine);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return text;
}

// A code object by LLVM and lld.
static void load_object(grid* g, const char* processor) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmPrinter();
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = parse(context, module_text(strncmp(processor, "gfx11", 5) ? AMD : RDNA));
  LLVMTargetRef target;
  char* why = NULL;
  if (LLVMGetTargetFromTriple("amdgcn-amd-amdhsa", &target, &why)) fail_msg("%s", why);
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(target, "amdgcn-amd-amdhsa", processor, "",
                                                         LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
  char path[] = PB_BINARY_DIR "/arithmetic-XXXXXX", object[1024], linked[1024], command[4096];
  assert_non_null(mkdtemp(path));
  snprintf(object, sizeof object, "%s/a.o", path);
  snprintf(linked, sizeof linked, "%s/a.hsaco", path);
  if (LLVMTargetMachineEmitToFile(machine, module, object, LLVMObjectFile, &why)) fail_msg("%s", why);
  snprintf(command, sizeof command, "%s -shared %s -o %s", PB_LLD, object, linked);
  assert_int_equal(system(command), 0);
  FILE* file = fopen(linked, "rb");
  assert_non_null(file);
  char* bytes = malloc(16 << 20);
  size_t count = fread(bytes, 1, 16 << 20, file);
  fclose(file);
  remove(object), remove(linked), remove(path);
  if (g->ops->load(g->device, PB_DEVICE_HSACO, bytes, count, &g->module)) fail_msg("%s", g->ops->last_fault(g->device));
  free(bytes);
  LLVMDisposeTargetMachine(machine);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
}

static void good(LLVMErrorRef error) {
  if (error) fail_msg("%s", LLVMGetErrorMessage(error));
}

// What LLVM calls to narrow to bf16; it stands in compiler-rt. The result's bits lie where a float's low ones do.
static float narrow_to_bfloat(float f) {
  uint32_t u, kept;
  memcpy(&u, &f, 4);
  uint32_t rest = u & 0xffff;
  kept = u >> 16;
  if (f != f)
    kept |= 0x40;
  else if (rest > 0x8000 || (rest == 0x8000 && kept & 1))
    ++kept;
  memcpy(&f, &kept, 4);
  return f;
}
static float narrow_double_to_bfloat(double d) { // to odd first, so that it is rounded once
  float f = (float)d;
  uint32_t u;
  memcpy(&u, &f, 4);
  if (d == d && (double)f != d && !(u & 1) && f - f == 0) {
    u += fabs((double)f) > fabs(d) ? UINT32_MAX : 1;
    memcpy(&f, &u, 4);
  }
  return narrow_to_bfloat(f);
}

static void add_symbol(LLVMOrcLLJITRef jit, const char* name, const void* code) {
  LLVMJITEvaluatedSymbol symbol = {(LLVMOrcExecutorAddress)(uintptr_t)code, {LLVMJITSymbolGenericFlagsExported, 0}};
  LLVMOrcCSymbolMapPair pair = {LLVMOrcLLJITMangleAndIntern(jit, name), symbol};
  good(LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit), LLVMOrcAbsoluteSymbols(&pair, 1)));
}

static LLVMOrcLLJITRef host_code(void) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  // A plain processor: the bf16 instructions of newer ones know no subnormals.
  char *triple = LLVMGetDefaultTargetTriple(), *why = NULL;
  LLVMTargetRef target;
  if (LLVMGetTargetFromTriple(triple, &target, &why)) fail_msg("%s", why);
  LLVMTargetMachineRef machine =
      LLVMCreateTargetMachine(target, triple, strncmp(triple, "x86_64", 6) ? "generic" : "x86-64-v3", "",
                              LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelJITDefault);
  LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
  LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder,
                                                LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
  LLVMDisposeMessage(triple);
  LLVMOrcLLJITRef jit;
  good(LLVMOrcCreateLLJIT(&jit, builder));
  float (*narrow)(float) = narrow_to_bfloat, (*narrow_double)(double) = narrow_double_to_bfloat;
  void* code;
  memcpy(&code, &narrow, sizeof code);
  add_symbol(jit, "__truncsfbf2", code);
  memcpy(&code, &narrow_double, sizeof code);
  add_symbol(jit, "__truncdfbf2", code);
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = parse(context, module_text(HOST));
  LLVMOrcThreadSafeContextRef safe = LLVMOrcCreateNewThreadSafeContextFromLLVMContext(context);
  LLVMOrcThreadSafeModuleRef shared = LLVMOrcCreateNewThreadSafeModule(module, safe);
  LLVMOrcDisposeThreadSafeContext(safe);
  LLVMOrcDefinitionGeneratorRef process;
  good(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL));
  LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), process);
  good(LLVMOrcLLJITAddLLVMIRModule(jit, LLVMOrcLLJITGetMainJITDylib(jit), shared));
  return jit;
}

static uint64_t next_random(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

typedef struct shape {
  int mantissa, exponent;
} shape;
static shape shape_of(int type) {
  static const shape shapes[TYPES] = {{0, 0}, {0, 0}, {0, 0}, {23, 8}, {52, 11}, {10, 5}, {7, 8}};
  return shapes[type];
}

static bool is_nan(uint64_t bits, int type) {
  shape s = shape_of(type);
  uint64_t magnitude = bits & ((UINT64_C(1) << (s.mantissa + s.exponent)) - 1);
  return s.exponent && magnitude > ((UINT64_C(1) << s.exponent) - 1) << s.mantissa;
}

// A third at the edges, a third near each other, the rest any bits; NaN is a quiet one.
static uint64_t operand(uint64_t* random, int type) {
  uint64_t r = next_random(random),
           mask = types[type].bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * types[type].bytes) - 1;
  shape s = shape_of(type);
  uint64_t bits = next_random(random) & mask;
  if (!s.exponent) {
    static const uint64_t edges[] = {0,      1,      2,         UINT64_MAX, 0x7f,      0x80,
                                     0x7fff, 0x8000, INT32_MAX, 0x80000000, INT64_MAX, (uint64_t)1 << 63};
    if (r % 3 == 0) return edges[r / 3 % 12] & mask;
    return r % 3 == 1 ? (bits >> (r / 3 % (8 * (uint64_t)types[type].bytes))) & mask : bits;
  }
  uint64_t infinite = ((UINT64_C(1) << s.exponent) - 1) << s.mantissa,
           one = (infinite >> 1) & infinite & (infinite >> 1);
  one = ((UINT64_C(1) << (s.exponent - 1)) - 1) << s.mantissa;
  uint64_t edges[] = {0,
                      1,
                      (UINT64_C(1) << s.mantissa) - 1,
                      UINT64_C(1) << s.mantissa,
                      infinite - 1,
                      infinite,
                      infinite | UINT64_C(1) << (s.mantissa - 1),
                      one,
                      one + 1,
                      one - 1};
  uint64_t sign = (r >> 40 & 1) << (s.mantissa + s.exponent);
  if (r % 3 == 0) return edges[r / 3 % 10] | sign;
  if (r % 3 == 1) bits = (one + (bits & ((UINT64_C(8) << s.mantissa) - 1)) - (UINT64_C(4) << s.mantissa)) | sign;
  return is_nan(bits, type) ? bits | UINT64_C(1) << (s.mantissa - 1) : bits;
}

static uint64_t element(const uint8_t* data, int type, int k) {
  uint64_t bits = 0;
  memcpy(&bits, data + types[type].bytes * k, (size_t)types[type].bytes);
  return bits;
}

static bool same(uint64_t a, uint64_t b, const row* r) {
  if (a == b || (is_nan(a, r->result) && is_nan(b, r->result))) return true;
  shape s = shape_of(r->result);
  uint64_t magnitude = ~(UINT64_C(1) << (s.mantissa + s.exponent));
  return r->op >= 0 && ops[r->op].kinds & ZEROS && !(a & magnitude) && !(b & magnitude); // which zero is open
}

static void compare(grid* g, LLVMOrcLLJITRef jit, const row* r) {
  LLVMOrcExecutorAddress address;
  good(LLVMOrcLLJITLookup(jit, &address, r->name));
  void (*host)(void*, const void*, const void*, const void*, int64_t);
  memcpy(&host, &address, sizeof host);
  static uint8_t in[3][N * 8], right[N * 8], out[N * 8];
  uint64_t random = 12345;
  for (int n = 0; n < 3; ++n)
    for (int k = 0; k < N; ++k) {
      uint64_t bits = operand(&random, r->type);
      memcpy(in[n] + types[r->type].bytes * k, &bits, (size_t)types[r->type].bytes);
    }
  for (int k = 0; k < N; ++k) host(right, in[0], in[1], in[2], k);
  g->ops->free_all(g->device);
  uint64_t at = grid_buffer(g, NULL, (uint64_t)N * (uint64_t)types[r->result].bytes);
  for (int n = 0; n < 3; ++n) grid_buffer(g, in[n], (uint64_t)N * (uint64_t)types[r->type].bytes);
  grid_runs(g, r->name, N / 128, 128);
  grid_read(g, at, out, (uint64_t)N * (uint64_t)types[r->result].bytes);
  for (int k = 0; k < N; ++k) {
    uint64_t a = element(out, r->result, k), b = element(right, r->result, k);
    if (!same(a, b, r))
      fail_msg("%s of %#llx, %#llx, %#llx is %#llx, the machine says %#llx", r->name,
               (unsigned long long)element(in[0], r->type, k), (unsigned long long)element(in[1], r->type, k),
               (unsigned long long)element(in[2], r->type, k), (unsigned long long)b, (unsigned long long)a);
  }
}

static void as_llvm_does(const char* processor) { // of AMD's; NULL: PTX
  grid g;
  grid_open(&g, "threads=1");
  if (processor) {
    load_object(&g, processor);
  } else {
    char* text = device_text();
    grid_load(&g, text);
    free(text);
  }
  LLVMOrcLLJITRef jit = host_code();
  for (int k = 0; k < row_count; ++k) compare(&g, jit, &rows[k]);
  printf("%d operations\n", row_count);
  good(LLVMOrcDisposeLLJIT(jit));
  grid_close(&g);
}

static void ptx(void** state) {
  (void)state;
  as_llvm_does(NULL);
}

static void gfx942(void** state) {
  (void)state;
  as_llvm_does("gfx942");
}

static void gfx1100(void** state) {
  (void)state;
  as_llvm_does("gfx1100");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ptx), cmocka_unit_test(gfx942), cmocka_unit_test(gfx1100)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

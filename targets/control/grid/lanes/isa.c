#include "targets/control/grid/lanes/isa.h"

#include <stdio.h>
#include <string.h>

enum { GLOBAL_SPACE = 1, CONSTANT_SPACE = 4, PTX_LANES = 32, AMD_LANES = 64, AMD_LEAST_LANES = 32 };

LLVMValueRef pb_isa_call(LLVMModuleRef module, LLVMBuilderRef at, const char* name, LLVMValueRef* operands,
                         unsigned count) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef f = LLVMGetIntrinsicDeclaration(module, id, NULL, 0);
  return LLVMBuildCall2(at, LLVMGlobalGetValueType(f), f, operands, count, "");
}

static LLVMValueRef number(LLVMModuleRef module, int64_t value) {
  return LLVMConstInt(LLVMInt32TypeInContext(LLVMGetModuleContext(module)), (unsigned long long)value, 1);
}

static void mark(LLVMValueRef entry, const char* name, const char* value) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(entry));
  LLVMAddAttributeAtIndex(
      entry, LLVMAttributeFunctionIndex,
      LLVMCreateStringAttribute(context, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

// ---- PTX ----

// The lanes of the warp among the 32 that the processor has as one.
static LLVMValueRef ptx_members(const pb_isa_place* p) {
  if (p->width == PTX_LANES) return number(p->module, -1);
  LLVMValueRef first = LLVMBuildAnd(p->at, p->thread, number(p->module, PTX_LANES - p->width), "");
  return LLVMBuildShl(p->at, number(p->module, ((int64_t)1 << p->width) - 1), first, "");
}

static LLVMValueRef ptx_shuffle(const pb_isa_place* p, LLVMValueRef value, LLVMValueRef lane) {
  int segment = (PTX_LANES - p->width) << 8 | (PTX_LANES - 1); // numbers count from the segment's first lane
  LLVMValueRef operands[] = {ptx_members(p), value, lane, number(p->module, segment)};
  return pb_isa_call(p->module, p->at, "llvm.nvvm.shfl.sync.idx.i32", operands, 4);
}

static void ptx_sync(const pb_isa_place* p) {
  LLVMValueRef members = ptx_members(p);
  (void)pb_isa_call(p->module, p->at, "llvm.nvvm.bar.warp.sync", &members, 1);
}

static void ptx_wait(const pb_isa_place* p) {
  LLVMValueRef barrier = number(p->module, 0);
  (void)pb_isa_call(p->module, p->at, "llvm.nvvm.barrier.cta.sync.aligned.all", &barrier, 1);
}

// The assembler finds out by itself what is one for all lanes.
static LLVMValueRef ptx_uniform(const pb_isa_place* p, LLVMValueRef value) {
  (void)p;
  return value;
}

static void ptx_mark(LLVMValueRef entry, int threads) {
  char text[32];
  snprintf(text, sizeof text, "%d,1,1", threads);
  mark(entry, "nvvm.reqntid", text);
}

// ---- AMD ----

// Lanes of a part of a wave count from its first.
static LLVMValueRef amd_shuffle(const pb_isa_place* p, LLVMValueRef value, LLVMValueRef lane) {
  if (p->width < AMD_LEAST_LANES)
    lane = LLVMBuildOr(p->at, lane, LLVMBuildAnd(p->at, p->thread, number(p->module, AMD_LANES - p->width), ""), "");
  LLVMValueRef operands[] = {LLVMBuildShl(p->at, lane, number(p->module, 2), ""), value}; // lanes are counted in bytes
  return pb_isa_call(p->module, p->at, "llvm.amdgcn.ds.bpermute", operands, 2);
}

static void amd_sync(const pb_isa_place* p) {
  unsigned scope = LLVMGetSyncScopeID(LLVMGetModuleContext(p->module), "wavefront", 9);
  LLVMBuildFenceSyncScope(p->at, LLVMAtomicOrderingRelease, scope, "");
  (void)pb_isa_call(p->module, p->at, "llvm.amdgcn.wave.barrier", NULL, 0);
  LLVMBuildFenceSyncScope(p->at, LLVMAtomicOrderingAcquire, scope, "");
}

// The fence leaves it to the cache that a block's waves share to keep their accesses in order: nobody has to rely on
// it.
static void amd_wait(const pb_isa_place* p) {
  unsigned scope = LLVMGetSyncScopeID(LLVMGetModuleContext(p->module), "workgroup", 9);
  LLVMBuildFenceSyncScope(p->at, LLVMAtomicOrderingRelease, scope, "");
  LLVMValueRef none = number(p->module, 0); // outstanding
  (void)pb_isa_call(p->module, p->at, "llvm.amdgcn.s.waitcnt", &none, 1);
  (void)pb_isa_call(p->module, p->at, "llvm.amdgcn.s.barrier", NULL, 0);
  LLVMBuildFenceSyncScope(p->at, LLVMAtomicOrderingAcquire, scope, "");
}

static LLVMValueRef amd_uniform(const pb_isa_place* p, LLVMValueRef value) {
  static const char name[] = "llvm.amdgcn.readfirstlane";
  LLVMTypeRef type = LLVMTypeOf(value);
  if (p->width < AMD_LEAST_LANES) return value; // several warps are one wave's
  LLVMValueRef f = LLVMGetIntrinsicDeclaration(p->module, LLVMLookupIntrinsicID(name, sizeof name - 1), &type, 1);
  return LLVMBuildCall2(p->at, LLVMGlobalGetValueType(f), f, &value, 1, "");
}

// What a kernel does not ask for need not be in registers when it begins.
static void amd_mark(LLVMValueRef entry, int threads) {
  static const char* const unused[] = {
      "amdgpu-no-dispatch-ptr",      "amdgpu-no-queue-ptr",      "amdgpu-no-dispatch-id",
      "amdgpu-no-implicitarg-ptr",   "amdgpu-no-workgroup-id-y", "amdgpu-no-workgroup-id-z",
      "amdgpu-no-workitem-id-y",     "amdgpu-no-workitem-id-z",  "amdgpu-no-lds-kernel-id",
      "amdgpu-no-heap-ptr",          "amdgpu-no-hostcall-ptr",   "amdgpu-no-multigrid-sync-arg",
      "amdgpu-no-completion-action", "amdgpu-no-default-queue",  "amdgpu-no-flat-scratch-init"};
  char text[32];
  snprintf(text, sizeof text, "%d,%d", threads, threads);
  mark(entry, "amdgpu-flat-work-group-size", text);
  mark(entry, "uniform-work-group-size", "true");
  for (size_t k = 0; k < sizeof unused / sizeof *unused; ++k) mark(entry, unused[k], "");
}

static const pb_isa isas[] = {{.arch = "nvptx64",
                               .convention = 71,
                               .thread = "llvm.nvvm.read.ptx.sreg.tid.x",
                               .block = "llvm.nvvm.read.ptx.sreg.ctaid.x",
                               .scope = "device",
                               .constants = GLOBAL_SPACE,
                               .code = PB_DEVICE_PTX,
                               .shuffle = ptx_shuffle,
                               .sync = ptx_sync,
                               .wait = ptx_wait,
                               .uniform = ptx_uniform,
                               .mark = ptx_mark},
                              {.arch = "amdgcn",
                               .convention = 91,
                               .thread = "llvm.amdgcn.workitem.id.x",
                               .block = "llvm.amdgcn.workgroup.id.x",
                               .scope = "agent",
                               .constants = CONSTANT_SPACE,
                               // Pointers that step would stand at the end of what a turn reads, from where scalar
                               // loads reach nothing: their offsets have no sign.
                               .option = "-disable-lsr",
                               // They round twice and flush: divisions of small numbers would take them.
                               .features = "-mad-mac-f32-insts",
                               .scalar = true,
                               .code = PB_DEVICE_HSACO,
                               .shuffle = amd_shuffle,
                               .sync = amd_sync,
                               .wait = amd_wait,
                               .uniform = amd_uniform,
                               .mark = amd_mark}};

static bool is_rdna(const char* processor) { // gfx10 and later ones
  static const char rdna[] = "gfx1";
  return !strncmp(processor, rdna, sizeof rdna - 1) && strlen(processor) >= sizeof "gfx1100" - 1;
}

// LLVM makes waves of 32 for RDNA unless it is told otherwise.
int pb_isa_lanes(const pb_isa* isa, const char* processor) {
  if (isa->code == PB_DEVICE_PTX) return PTX_LANES;
  return is_rdna(processor) ? AMD_LEAST_LANES : AMD_LANES;
}

bool pb_isa_pairs(const pb_isa* isa, const char* processor) {
  return isa->code != PB_DEVICE_PTX && is_rdna(processor) && strncmp(processor, "gfx10", sizeof "gfx10" - 1) != 0;
}

const pb_isa* pb_isa_of(const char* triple) {
  for (size_t k = 0; k < sizeof isas / sizeof *isas; ++k)
    if (!strncmp(triple, isas[k].arch, strlen(isas[k].arch)) && triple[strlen(isas[k].arch)] == '-') return &isas[k];
  return NULL;
}

//===- @NAME@.td - the GPU @NAME@ ------------------------------------------===//
//
// A processor of grids: blocks of warps whose lanes do the same. As generated it is one that runs PTX for sm_80. To the plan
// a warp is a core whose vector registers hold a number for each lane; rates and caches are a warp's share. Every class and
// field: sdk-docs/adding-a-gpu.md and sdk-docs/description-language.md; targets/nvgpu and targets/amdgpu have variants.
//===----------------------------------------------------------------------===//
include "gpu.td" // the language itself, and what grids say

defvar Lanes = 32;                    // of a warp
defvar Processors = 108;              // that run blocks
defvar Registers = 128;               // of a lane, that the plan may use
defvar Resident = 16;                 // warps that a processor keeps at once with as many registers
defvar Schedulers = 4;                // of a processor: a warp on each keeps it busy

// The levels: all resident warps, which share a kernel, with the cycles that a launch costs and how many keep all
// processors busy; processors; lanes.
def WARP : GridLevel<"warp", !mul(Processors, Resident), 3000, !mul(Processors, Schedulers)>;
def PROCESSOR : GridLevel<"processor", Processors>;
def LANE : GridLevel<"lane", Lanes>;

def : GridChip {                    // without a name of its own: the target's may be any word, "int" or "MMA" too
  let Name = "@NAME@";                // as in --target=@NAME@
  let Summary = "a GPU that runs PTX";  // one line for the manual
  let Schema = PB_SCHEMA;             // the version of the language that this file is written in
  let Revision = 1;                   // to be raised when old engines no longer run
  let MHz = 1410;                     // for reports
  let Levels = [WARP, PROCESSOR, LANE];
  let Triple = "nvptx64-nvidia-cuda"; // what LLVM calls the instruction set; "amdgcn-amd-amdhsa" is the other one
  let Processor = "sm_80";            // and the processor, "gfx942" of the other one
  let BlockBytes = !mul(48, 1024);    // memory that the threads of a block share
}

// The memory that tensors live in, the cache of all processors, that of each, and the registers. Rates are bytes
// in the time of a warp's product, a share of one of the warps that keep all processors busy.
def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 36); let RowBytes = 128; let BytesPerCycle = 5; let Latency = 600; }
def L2   : LineCache<"chip", !mul(40, 1024, 1024), 24, 200>;
def L1   : LineCache<"core", !mul(16, 1024), 64, 30>;
def VREG : LaneRegisters<Lanes, Registers>;

// An instruction is an intrinsic of LLVM's and what it means, in each lane. These make products of f32, and sums of four of
// codes ("llvm.amdgcn.sdot4" on the other instruction set).
def FFMA : LaneFma<VREG, Lanes, 4>;
def DP4A : LaneDot<"llvm.nvvm.idp4a.s.s", VREG, Lanes, 4>;

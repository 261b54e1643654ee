//===- amdgpu.td - AMD's processors, controlled by a grid ------------------===//
//
// Code is a code object for AMD's HSA, by LLVM and LLD.
//===----------------------------------------------------------------------===//
include "gpu.td"

#ifdef VARIANT_gfx1100
defvar Arch = "gfx1100";
defvar Lanes = 32;
defvar Processors = 96;
defvar Schedulers = 2;
defvar Cycles = 1;
defvar L2Bytes = !mul(6, 1024, 1024);
defvar L1Rate = 64; defvar L2Rate = 12; defvar DRAMRate = 2; defvar Latency = 4;
#else
defvar Lanes = 64;
defvar Schedulers = 4;
defvar Cycles = 4; // a product of a wave takes a scheduler's 16 units four cycles
#ifdef VARIANT_gfx90a
defvar Arch = "gfx90a";
defvar Processors = 220;
defvar L2Bytes = !mul(16, 1024, 1024);
defvar L1Rate = 64; defvar L2Rate = 37; defvar DRAMRate = 8; defvar Latency = 1;
#else
defvar Arch = "gfx942";
defvar Processors = 304;
defvar L2Bytes = !mul(32, 1024, 1024);
defvar L1Rate = 64; defvar L2Rate = 54; defvar DRAMRate = 8; defvar Latency = 1;
#endif
#endif

// A SIMD's 512 registers a lane are four waves' with 128 each; a wave on each of a processor's SIMDs keeps it busy.
def WAVE : GridLevel<"wave", !mul(Processors, 16), 1000, !mul(Processors, Schedulers)>;
def PROCESSOR : GridLevel<"processor", Processors>;
def LANE  : GridLevel<"lane", Lanes>;

def amdgpu : GridChip {
  let Name = "amdgpu";
  let Summary = "AMD's processors gfx942, gfx90a and, with waves of 32, gfx1100";
  let Schema = PB_SCHEMA;
  let Revision = 1;
  let MHz = 2100;
  let Variants = ["gfx942", "gfx90a", "gfx1100"];
  let Converts = ["f16"];
  let Levels = [WAVE, PROCESSOR, LANE];
  let Triple = "amdgcn-amd-amdhsa";
  let Processor = Arch;
  let ProductCycles = Cycles;
  let BlockBytes = !mul(64, 1024);
}

// Rates are a share of one of so many waves as keep all units busy, by the time of a product, and so is latency. What
// neighbours take of the second cache is half theirs together.
def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 37); let RowBytes = 128; let BytesPerCycle = DRAMRate; let Latency = 700; }
def L2   : LineCache<"chip", L2Bytes, L2Rate, 250, 50>;
def L1   : LineCache<"core", !mul(16, 1024), L1Rate, 60>;
def VREG : LaneRegisters<Lanes, 128>;

def FMA : LaneFma<VREG, Lanes, Latency>;
def HFMA : LaneHalfFma<VREG, F16, Lanes, Latency>;
def BFMA : LaneHalfFma<VREG, BF16, Lanes, Latency>;
#ifdef VARIANT_gfx1100
def DOT4 : LaneDot<"llvm.amdgcn.sudot4", VREG, Lanes, Latency, "1 1 0">; // both factors have signs, and no sum is clamped
#else
def DOT4 : LaneDot<"llvm.amdgcn.sdot4", VREG, Lanes, Latency>;
#endif

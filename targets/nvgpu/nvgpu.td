//===- nvgpu.td - NVIDIA's processors, controlled by a grid ----------------===//
//
// Code is PTX, of the lowest version that has what it needs; ptxas, where it is
// found, makes a cubin of it.
//===----------------------------------------------------------------------===//
include "gpu.td"

#ifdef VARIANT_sm_90a
defvar Arch = "sm_90a";
defvar Processors = 132;
defvar L2Bytes = !mul(50, 1024, 1024);
defvar L1Rate = 32; defvar L2Rate = 10; defvar DRAMRate = 4; defvar Latency = 4; defvar Cycles = 1;
#else
#ifdef VARIANT_sm_89
defvar Arch = "sm_89";
defvar Processors = 128;
defvar L2Bytes = !mul(72, 1024, 1024);
defvar L1Rate = 32; defvar L2Rate = 4; defvar DRAMRate = 1; defvar Latency = 4; defvar Cycles = 1;
#else
defvar Arch = "sm_80";
defvar Processors = 108;
defvar L2Bytes = !mul(40, 1024, 1024);
defvar L1Rate = 64; defvar L2Rate = 24; defvar DRAMRate = 5; defvar Latency = 2; defvar Cycles = 2; // a product of a warp takes its 16 units two cycles
#endif
#endif
defvar Lanes = 32;

// 65,536 registers of a processor are 16 warps' with 128 each; one on each of its four schedulers keeps it busy.
def WARP : GridLevel<"warp", !mul(Processors, 16), 1000, !mul(Processors, 4)>;
def PROCESSOR : GridLevel<"processor", Processors>;
def LANE  : GridLevel<"lane", Lanes>;

def nvgpu : GridChip {
  let Name = "nvgpu";
  let Summary = "NVIDIA's processors of compute capability 8.0, 8.9 and 9.0";
  let Schema = PB_SCHEMA;
  let Revision = 1;
  let MHz = 1410;
  let Variants = ["sm_80", "sm_89", "sm_90a"];
  let Converts = ["f16", "bf16"];
  let Levels = [WARP, PROCESSOR, LANE];
  let Triple = "nvptx64-nvidia-cuda";
  let Processor = Arch;
  let ProductCycles = Cycles;
  let BlockBytes = !mul(48, 1024); // that a kernel need not ask for
}

// Rates are a share of one of so many warps as keep all units busy, by the time of a product, and so is latency. What
// neighbours take of the second cache is half theirs together.
def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 36); let RowBytes = 128; let BytesPerCycle = DRAMRate; let Latency = 600; }
def L2   : LineCache<"chip", L2Bytes, L2Rate, 200, 50>;
def L1   : LineCache<"core", !mul(16, 1024), L1Rate, 30>;
def VREG : LaneRegisters<Lanes, 128>;

def FFMA : LaneFma<VREG, Lanes, Latency>;
def HFMA : LaneHalfFma<VREG, F16, Lanes, Latency>;
def BFMA : LaneHalfFma<VREG, BF16, Lanes, Latency>;
def DP4A : LaneDot<"llvm.nvvm.idp4a.s.s", VREG, Lanes, Latency>;

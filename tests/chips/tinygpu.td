//===- tinygpu.td - a made-up GPU: warps of 16 lanes, few registers, few processors ----===//
//
// No GPU is so: half a warp of sm_80 is one of this. It needs no line of C.
//===-----------------------------------------------------------------------------------===//
include "gpu.td"

def WARP : GridLevel<"warp", 96, 800, 48>;
def PROCESSOR : GridLevel<"processor", 12>;
def LANE : GridLevel<"lane", 16>;

def tinygpu : GridChip {
  let Name = "tinygpu";
  let Summary = "a GPU of warps of 16 lanes";
  let Schema = PB_SCHEMA;
  let Revision = 1;
  let MHz = 700;
  let Levels = [WARP, PROCESSOR, LANE];
  let Triple = "nvptx64-nvidia-cuda";
  let Processor = "sm_80";
  let BlockBytes = !mul(16, 1024);
  let BlockWarps = 8;
}

// Rates are a warp's share.
def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 30); let RowBytes = 64; let BytesPerCycle = 1; let Latency = 400; }
def L2   : LineCache<"chip", !mul(1, 1024, 1024), 2, 120>;
def L1   : LineCache<"core", !mul(4, 1024), 16, 20>;
def VREG : LaneRegisters<16, 48>;

def FFMA : LaneFma<VREG, 16, 6>;
def DP4A : LaneDot<"llvm.nvvm.idp4a.s.s", VREG, 16, 6>;

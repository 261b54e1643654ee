// Threads with vector registers of 32 numbers and all else that a warp of nvgpu has: what is planned is the same, and so is
// each sum's order. LLVM brings rows of 32 down to this processor's registers.
include "pb.td"

def cores32 : Chip {
  let Name = "cores32";
  let Summary = "warps as threads";
  let Schema = PB_SCHEMA;
  let Revision = 1;
  let Control = "threads";
  let Features = "avx2,fma";
}
def WARP : Level { let Name = "warp"; let Max = 1728; let Sync = "barrier"; let SyncCycles = 1000; let Busy = 432; }
def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 36); let RowBytes = 128; let BytesPerCycle = 5; let Latency = 600; }
def L2   : Memory { let Scope = "chip"; let Bytes = !mul(40, 1024, 1024); let RowBytes = 128; let BytesPerCycle = 36; let Latency = 200; let Cached = 1; let LineBytes = 128; }
def L1   : Memory { let Scope = "core"; let Bytes = !mul(16, 1024); let RowBytes = 128; let BytesPerCycle = 64; let Latency = 30; let Cached = 1; let LineBytes = 128; }
def VREG : Memory { let Kind = "registers"; let Scope = "thread"; let Bytes = !mul(128, 128); let RowBytes = 128; let BytesPerCycle = 512; let SameAtOnce = 4; let EachAtOnce = 4; }
def FFMA : CoreInstruction<"llvm.fma"> {
  let Summary = "c += a * b, rounded once";
  let Dims = [Dim<"n", 32>];
  let Operands = (ins Reg<VREG, F32, ["n"]>:$a, Reg<VREG, F32, ["n"]>:$b, Reg<VREG, F32, ["n"]>:$c);
  let Semantics = (acc_add $c, (mul $a, $b));
  let Cycles = (plus 1, 0);
  let Latency = 2;
}

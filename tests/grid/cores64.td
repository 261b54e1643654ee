// Threads with vector registers of 64 numbers and all else that a warp of amdgpu has: what is planned is the same, and so is
// each sum's order. LLVM brings rows of 64 down to this processor's registers.
include "pb.td"

def cores64 : Chip {
  let Name = "cores64";
  let Summary = "warps as threads";
  let Schema = PB_SCHEMA;
  let Revision = 1;
  let Control = "threads";
  let Features = "avx2,fma";
}
def WARP : Level { let Name = "warp"; let Max = 4864; let Sync = "barrier"; let SyncCycles = 1000; let Busy = 1216; }
def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 37); let RowBytes = 128; let BytesPerCycle = 8; let Latency = 700; }
def L2   : Memory { let Scope = "chip"; let Bytes = !mul(32, 1024, 1024); let RowBytes = 128; let BytesPerCycle = 81; let Latency = 250; let Cached = 1; let LineBytes = 128; }
def L1   : Memory { let Scope = "core"; let Bytes = !mul(16, 1024); let RowBytes = 128; let BytesPerCycle = 64; let Latency = 60; let Cached = 1; let LineBytes = 128; }
def VREG : Memory { let Kind = "registers"; let Scope = "thread"; let Bytes = !mul(256, 128); let RowBytes = 256; let BytesPerCycle = 1024; let SameAtOnce = 4; let EachAtOnce = 4; }
def FFMA : CoreInstruction<"llvm.fma"> {
  let Summary = "c += a * b, rounded once";
  let Dims = [Dim<"n", 64>];
  let Operands = (ins Reg<VREG, F32, ["n"]>:$a, Reg<VREG, F32, ["n"]>:$b, Reg<VREG, F32, ["n"]>:$c);
  let Semantics = (acc_add $c, (mul $a, $b));
  let Cycles = (plus 1, 0);
  let Latency = 1;
}

// Threads with vector registers of 16 numbers and all else that a warp of tests/chips/tinygpu.td has: what is planned is the
// same, and so is each sum's order.
include "pb.td"

def cores16 : Chip {
  let Name = "cores16";
  let Summary = "warps as threads";
  let Schema = PB_SCHEMA;
  let Revision = 1;
  let Control = "threads";
  let Features = "avx2,fma";
}
def WARP : Level { let Name = "warp"; let Max = 96; let Sync = "barrier"; let SyncCycles = 800; let Busy = 48; }
def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 30); let RowBytes = 64; let BytesPerCycle = 1; let Latency = 400; }
def L2   : Memory { let Scope = "chip"; let Bytes = !mul(1, 1024, 1024); let RowBytes = 128; let BytesPerCycle = 2; let Latency = 120; let Cached = 1; let LineBytes = 128; }
def L1   : Memory { let Scope = "core"; let Bytes = !mul(4, 1024); let RowBytes = 128; let BytesPerCycle = 16; let Latency = 20; let Cached = 1; let LineBytes = 128; }
def VREG : Memory { let Kind = "registers"; let Scope = "thread"; let Bytes = !mul(64, 48); let RowBytes = 64; let BytesPerCycle = 256; let SameAtOnce = 4; let EachAtOnce = 4; }
def FFMA : CoreInstruction<"llvm.fma"> {
  let Summary = "c += a * b, rounded once";
  let Dims = [Dim<"n", 16>];
  let Operands = (ins Reg<VREG, F32, ["n"]>:$a, Reg<VREG, F32, ["n"]>:$b, Reg<VREG, F32, ["n"]>:$c);
  let Semantics = (acc_add $c, (mul $a, $b));
  let Cycles = (plus 1, 0);
  let Latency = 6;
}

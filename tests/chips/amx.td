//===- amx.td - a core with a unit of matrix tiles, on threads ------------===//
//
// Intel's AMX as "Sapphire Rapids" has it, from the Intel 64 Software Developer's Manual and the Optimization Reference Manual
// (chapter 20): eight tiles of 16 rows of 64 bytes, products of 16x64 by 64x16 int8 in 16 cycles, loads of a row a cycle;
// 48 KiB of L1 and 2 MiB of L2 a core. Vectors are AVX-512's for f32 alone, so that whatever multiplies int8 is the tiles'.
// Assumed: rates and latencies of caches and memory. Runs where there is no such unit by tests/cpu/trap.c.
//===----------------------------------------------------------------------===//
include "pb.td"

defvar Lanes = 16;

def amx : Chip {
  let Summary = "A core with AMX's tiles"; let Name = "amx"; let Schema = PB_SCHEMA; let Revision = 1; let Control = "threads";
  let Features = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,amx-tile,amx-int8,state-18";
}

def THREAD : Level { let Name = "thread"; let Max = 256; let Sync = "barrier"; let SyncCycles = 3000; }

def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 40); let RowBytes = 64; let BytesPerCycle = 8; let Latency = 300; }
def L2   : Memory { let Scope = "core"; let Bytes = !mul(2, 1024, 1024); let RowBytes = 64; let BytesPerCycle = 48; let Latency = 15; let Cached = 1; let LineBytes = 64; let Ways = 16; }
def L1   : Memory { let Scope = "core"; let Bytes = !mul(48, 1024); let RowBytes = 64; let BytesPerCycle = 128; let Latency = 5; let Cached = 1; let LineBytes = 64; let Ways = 12; }
def VREG : Memory { let Kind = "registers"; let Scope = "thread"; let Bytes = !mul(32, 64); let RowBytes = 64; let BytesPerCycle = 256; let Latency = 0; }

def VFMADD : CoreInstruction<"llvm.fma"> {
  let Summary = "c += a * b, rounded once";
  let Dims = [Dim<"n", Lanes>];
  let Operands = (ins Reg<VREG, F32, ["n"]>:$a, Reg<VREG, F32, ["n"]>:$b, Reg<VREG, F32, ["n"]>:$c);
  let Semantics = (acc_add $c, (mul $a, $b));
  let Cycles = (plus 1, 0);
  let Latency = 4;
}

// Tiles of up to 16 rows of 64 bytes. Which extents each holds, the code generator finds out from the shapes.
def TREG : Memory {
  let Kind = "registers"; let Scope = "thread"; let Bytes = !mul(8, 1024); let RowBytes = 1024; let BytesPerCycle = 64;
  let Value = "x86_amx"; let FromVector = "llvm.x86.cast.vector.to.tile"; let ToVector = "llvm.x86.cast.tile.to.vector";
}

def TDPBSSD : CoreInstruction<"llvm.x86.tdpbssd.internal"> {
  let Summary = "c += a * b, four products an element; b has the four of a column side by side";
  let Dims = [Dim<"m", 16>, Dim<"n", 16>, Dim<"k", 16>, Dim<"g", 4>];
  let Operands = (ins Reg<TREG, I32, ["m", "n"]>:$c, Reg<TREG, I8, ["m", "k", "g"]>:$a, Reg<TREG, I8, ["k", "n", "g"]>:$b);
  let Semantics = (acc_add $c, (mul (sext $a), (sext $b)));
  let Shape = [(plus $m, 0), (times $n, 4), (times $k, 4)];
  let Cycles = (plus 16, 0);
  let Latency = 52;
}

def TILEZERO : CoreInstruction<"llvm.x86.tilezero.internal"> {
  let Summary = "c = 0";
  let Dims = [Dim<"m", 16>, Dim<"n", 16>];
  let Operands = (ins Reg<TREG, I32, ["m", "n"]>:$c);
  let Semantics = (set $c, (i32c 0));
  let Shape = [(plus $m, 0), (times $n, 4)];
  let Cycles = (plus 1, 0);
}

def TILELOADD : CoreInstruction<"llvm.x86.tileloadd64.internal"> {
  let Summary = "rows of memory into a tile";
  let Dims = [Dim<"r", 16>, Dim<"b", 64>];
  let Operands = (ins Reg<TREG, I8, ["r", "b"]>:$t, Rows<DRAM, I8, ["r", "b"]>:$m);
  let Semantics = (set $t, $m);
  let Shape = [(plus $r, 0), (plus $b, 0)];
  let Cycles = (times $r, 1);
  let Latency = 45;
}

def TILESTORED : CoreInstruction<"llvm.x86.tilestored64.internal"> {
  let Summary = "a tile of sums into rows of memory";
  let Dims = [Dim<"r", 16>, Dim<"n", 16>];
  let Operands = (ins Rows<DRAM, I32, ["r", "n"]>:$m, Reg<TREG, I32, ["r", "n"]>:$c);
  let Semantics = (set $m, $c);
  let Shape = [(plus $r, 0), (times $n, 4)];
  let Cycles = (times $r, 1);
  let Latency = 16;
}

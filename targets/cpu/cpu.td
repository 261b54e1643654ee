//===- cpu.td - x86-64 processors, controlled by threads -------------------===//
//
// Code is generated through LLVM. `cpu` alone means the last variant that the machine has. Variants say what a machine must have; an engine is refused on one that lacks it.
// The register file and the caches set tiles and blocks; the instructions set lanes.
//===----------------------------------------------------------------------===//
include "pb.td"

#ifdef VARIANT_amx
#define VARIANT_bf16
#endif
#ifdef VARIANT_bf16
#define VARIANT_avx512
#endif
#ifdef VARIANT_avx512
defvar RegisterBytes = 64;
defvar Registers = 32;
defvar Base = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni";
#ifdef VARIANT_amx
defvar Needs = Base # ",avx512bf16,amx-tile,amx-int8,amx-bf16,state-18";
#else
#ifdef VARIANT_bf16
defvar Needs = Base # ",avx512bf16";
#else
defvar Needs = Base;
#endif
#endif
#else
defvar RegisterBytes = 32;
defvar Registers = 16;
defvar Needs = "avx2,fma";
#endif

def cpu : Chip {
  let Name = "cpu";
  let Summary = "x86-64 processors";
  let Schema = PB_SCHEMA;
  let Revision = 2;
  let Control = "threads";
  let Variants = ["v3", "avx512", "bf16", "amx"];
  let Features = Needs;
#ifndef VARIANT_avx512
  let Tuning = "x86-64-v3"; // with 16 registers and no model of their order, sums are spilled inside loops
#else
  let RootEstimate = "llvm.x86.avx512.rsqrt14.ps.512";
#endif
}

def THREAD : Level { let Name = "thread"; let Max = 256; let Sync = "barrier"; let SyncCycles = 3000; }

def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 40); let RowBytes = 64; let BytesPerCycle = 4; let Latency = 300; }
def L3   : Memory { let Scope = "chip"; let Bytes = !mul(4, 1024, 1024); let RowBytes = 64; let BytesPerCycle = 8; let Latency = 60; let Cached = 1; let LineBytes = 64; }
def L2   : Memory { let Scope = "core"; let Bytes = !mul(1024, 1024); let RowBytes = 64; let BytesPerCycle = 32; let Latency = 14; let Cached = 1; let LineBytes = 64; }
def L1   : Memory { let Scope = "core"; let Bytes = !mul(32, 1024); let RowBytes = 64; let BytesPerCycle = 64; let Latency = 5; let Cached = 1; let LineBytes = 64; }
def VREG : Memory { let Kind = "registers"; let Scope = "thread"; let Bytes = !mul(Registers, RegisterBytes); let RowBytes = RegisterBytes; let BytesPerCycle = 256; let Latency = 0; }

defvar Lanes = !div(RegisterBytes, 4);

def VFMADD : CoreInstruction<"llvm.fma"> {
  let Summary = "c += a * b, rounded once";
  let Dims = [Dim<"n", Lanes>];
  let Operands = (ins Reg<VREG, F32, ["n"]>:$a, Reg<VREG, F32, ["n"]>:$b, Reg<VREG, F32, ["n"]>:$c);
  let Semantics = (acc_add $c, (mul $a, $b));
  let Cycles = (plus 1, 0);
#ifndef VARIANT_avx512
  let Units = 2; // on 256 bits; of 512 Zen 4 begins one
#endif
  let Latency = 4;
}

#ifndef VARIANT_avx512
if !eq(RegisterBytes, 32) then // what the intrinsic works on
def VPMADDWD : CoreInstruction<"llvm.x86.avx2.pmadd.wd"> {
  let Summary = "each lane of c += two products";
  let Dims = [Dim<"n", Lanes>, Dim<"k", 2>];
  let Operands = (ins Reg<VREG, I16, ["n", "k"]>:$a, Reg<VREG, I16, ["n", "k"]>:$b, Reg<VREG, I32, ["n"]>:$c);
  let Semantics = (acc_add $c, (mul (sext $a), (sext $b)));
  let Cycles = (plus 1, 0);
  let Units = 2;
  let Adds = 0;
  let Latency = 5; // with the addition
}
#endif

#ifdef VARIANT_avx512
def VPDPBUSD : CoreInstruction<"llvm.x86.avx512.vpdpbusd.512"> {
  let Summary = "each lane of c += four products, a without sign, b with";
  let Dims = [Dim<"n", Lanes>, Dim<"k", 4>];
  let Operands = (ins Reg<VREG, I32, ["n"]>:$c, Reg<VREG, I8, ["n", "k"]>:$a, Reg<VREG, I8, ["n", "k"]>:$b);
  let Semantics = (acc_add $c, (mul (zext $a), (sext $b)));
  let Cycles = (plus 1, 0);
  let Latency = 4;
}
#endif

#ifdef VARIANT_bf16
def VDPBF16PS : CoreInstruction<"llvm.x86.avx512bf16.dpbf16ps.512"> {
  let Summary = "each lane of c += two products, each sum rounded; what is below the least normal number counts as 0";
  let Dims = [Dim<"n", Lanes>, Dim<"k", 2>];
  let Operands = (ins Reg<VREG, F32, ["n"]>:$c, Reg<VREG, BF16, ["n", "k"]>:$a, Reg<VREG, BF16, ["n", "k"]>:$b);
  let Semantics = (acc_add $c, (mul (extf $a), (extf $b)));
  let Cycles = (plus 2, 0);
  let Latency = 6;
}
#endif

#ifdef VARIANT_amx
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

def TDPBF16PS : CoreInstruction<"llvm.x86.tdpbf16ps.internal"> {
  let Summary = "c += a * b, two products an element; b has the two of a column side by side; what is below the least normal number counts as 0";
  let Dims = [Dim<"m", 16>, Dim<"n", 16>, Dim<"k", 16>, Dim<"g", 2>];
  let Operands = (ins Reg<TREG, F32, ["m", "n"]>:$c, Reg<TREG, BF16, ["m", "k", "g"]>:$a, Reg<TREG, BF16, ["k", "n", "g"]>:$b);
  let Semantics = (acc_add $c, (mul (extf $a), (extf $b)));
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

def TILEZEROF : CoreInstruction<"llvm.x86.tilezero.internal"> {
  let Summary = "c = 0, of floats";
  let Dims = [Dim<"m", 16>, Dim<"n", 16>];
  let Operands = (ins Reg<TREG, F32, ["m", "n"]>:$c);
  let Semantics = (set $c, (f32c "0"));
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

def TILELOADH : CoreInstruction<"llvm.x86.tileloadd64.internal"> {
  let Summary = "rows of bf16 into a tile";
  let Dims = [Dim<"r", 16>, Dim<"h", 32>];
  let Operands = (ins Reg<TREG, BF16, ["r", "h"]>:$t, Rows<DRAM, BF16, ["r", "h"]>:$m);
  let Semantics = (set $t, $m);
  let Shape = [(plus $r, 0), (times $h, 2)];
  let Cycles = (times $r, 1);
  let Latency = 45;
}

def TILESTOREF : CoreInstruction<"llvm.x86.tilestored64.internal"> {
  let Summary = "a tile of sums of floats into rows of memory";
  let Dims = [Dim<"r", 16>, Dim<"n", 16>];
  let Operands = (ins Rows<DRAM, F32, ["r", "n"]>:$m, Reg<TREG, F32, ["r", "n"]>:$c);
  let Semantics = (set $m, $c);
  let Shape = [(plus $r, 0), (times $n, 4)];
  let Cycles = (times $r, 1);
  let Latency = 16;
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
#endif

//===- @NAME@.td - the processor @NAME@ -------------------------------------===//
//
// A processor that runs code made by LLVM, with work shared between threads. As generated it is an x86-64 with 256-bit
// vectors (AVX2 and FMA). The register file and the caches set tiles and blocks, the instructions set lanes. Every class
// and field: sdk-docs/description-language.md; targets/cpu/cpu.td has variants, products of int8 and tiles.
//===----------------------------------------------------------------------===//
include "pb.td" // the language itself

defvar RegisterBytes = 32;            // a vector register
defvar Registers = 16;                // how many of them the code generator may use

def : Chip {                        // without a name of its own: the target's may be any word, "int" or "MMA" too
  let Name = "@NAME@";                // as in --target=@NAME@
  let Summary = "x86-64 with 256-bit vectors"; // one line for the manual
  let Schema = PB_SCHEMA;             // the version of the language that this file is written in
  let Revision = 1;                   // to be raised when old engines no longer run
  let Control = "threads";            // code made by LLVM, shared between threads
  let Features = "avx2,fma";          // what the code may use and a machine must have: LLVM's names
}

// The threads: how many at most, how they wait for each other, and what that costs.
def THREAD : Level { let Name = "thread"; let Max = 64; let Sync = "barrier"; let SyncCycles = 3000; }

// The system's memory, then the caches from the outermost to the innermost. Rates are per cycle and core.
def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 40); let RowBytes = 64; let BytesPerCycle = 4; let Latency = 300; }
def L3   : Memory { let Scope = "chip"; let Bytes = !mul(4, 1024, 1024); let RowBytes = 64; let BytesPerCycle = 8; let Latency = 60; let Cached = 1; let LineBytes = 64; }
def L2   : Memory { let Scope = "core"; let Bytes = !mul(512, 1024); let RowBytes = 64; let BytesPerCycle = 32; let Latency = 14; let Cached = 1; let LineBytes = 64; }
def L1   : Memory { let Scope = "core"; let Bytes = !mul(32, 1024); let RowBytes = 64; let BytesPerCycle = 64; let Latency = 5; let Cached = 1; let LineBytes = 64; }
// The vector registers: Bytes over RowBytes is how many.
def VREG : Memory { let Kind = "registers"; let Scope = "thread"; let Bytes = !mul(Registers, RegisterBytes); let RowBytes = RegisterBytes; let BytesPerCycle = 128; let Latency = 0; }

defvar Lanes = !div(RegisterBytes, 4);

// An instruction is an intrinsic of LLVM's and what it means. This one makes products of f32.
def VFMADD : CoreInstruction<"llvm.fma"> {
  let Summary = "c += a * b, rounded once";
  let Dims = [Dim<"n", Lanes>];       // a lane each
  let Operands = (ins Reg<VREG, F32, ["n"]>:$a, Reg<VREG, F32, ["n"]>:$b, Reg<VREG, F32, ["n"]>:$c);
  let Semantics = (acc_add $c, (mul $a, $b));
  let Cycles = (plus 1, 0);           // how long its unit is busy
  let Latency = 4;                    // further cycles until the result can be used
}

//===- dsp.td - cores with a scratchpad instead of caches, on threads -----===//
//
// A signal processor of our own: cores with vector registers of 8 floats that load from a memory of the core's own, which code
// fills. Nothing is cached. Its code runs as AVX2's, with the scratchpads on the threads' stacks. All numbers are assumed,
// those of a small embedded core, which loads beside its operations. With MOVER each core has a DMA between DRAM and that
// memory, of two loops around a run: code starts it and goes on, and each buffer there has two copies.
//===----------------------------------------------------------------------===//
include "pb.td"

defvar Lanes = 8;

#ifdef MOVER
def dmadsp : Chip {
  let Name = "dmadsp";
#else
def dsp : Chip {
  let Name = "dsp";
#endif
  let Summary = "Vector cores with scratchpads"; let Schema = PB_SCHEMA; let Revision = 1; let Control = "threads";
  let Features = "avx2,fma"; let LoadCycles = 0;
}

def CORE : Level { let Name = "core"; let Max = 64; let Sync = "barrier"; let SyncCycles = 2000; }

def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 40); let RowBytes = 32; let BytesPerCycle = 4; let Latency = 200; }
def TCM  : Memory { let Scope = "core"; let Bytes = !mul(512, 1024); let RowBytes = 32; let BytesPerCycle = 64; let Latency = 3; }
def VREG : Memory { let Kind = "registers"; let Scope = "thread"; let Bytes = !mul(16, 32); let RowBytes = 32; let BytesPerCycle = 256; let Latency = 0; }

#ifdef MOVER
def DMA  : CoreMover { let Near = TCM; let Loops = 2; let Depth = 16; let StartCycles = 12; }
#endif

def VFMADD : CoreInstruction<"llvm.fma"> {
  let Summary = "c += a * b, rounded once";
  let Dims = [Dim<"n", Lanes>];
  let Operands = (ins Reg<VREG, F32, ["n"]>:$a, Reg<VREG, F32, ["n"]>:$b, Reg<VREG, F32, ["n"]>:$c);
  let Semantics = (acc_add $c, (mul $a, $b));
  let Cycles = (plus 1, 0);
  let Latency = 4;
}

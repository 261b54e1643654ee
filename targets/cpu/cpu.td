//===- cpu.td - x86-64 processors, controlled by threads -------------------===//
//
// Code is generated through LLVM. Variants say what a machine must have; an engine is refused on one that lacks it.
//===----------------------------------------------------------------------===//
include "pb.td"

def cpu : Chip {
  let Name = "cpu";
  let Summary = "x86-64 processors";
  let Schema = PB_SCHEMA;
  let Revision = 1;
  let Control = "threads";
  let Variants = ["v3", "avx512"];
#ifdef VARIANT_avx512
  let Features = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni";
#else
  let Features = "avx2,fma";
#endif
}

def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 40); let RowBytes = 64; let BytesPerCycle = 8; let Latency = 200; }
def L2   : Memory { let Scope = "core"; let Bytes = !mul(1024, 1024); let RowBytes = 64; let BytesPerCycle = 32; let Latency = 14; let Cached = 1; let LineBytes = 64; }
def L1   : Memory { let Scope = "core"; let Bytes = !mul(32, 1024); let RowBytes = 64; let BytesPerCycle = 128; let Latency = 5; let Cached = 1; let LineBytes = 64; }

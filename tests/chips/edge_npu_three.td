// edge_npu_flash.td with a third memory outside: weights lie in a fast one of 4 MiB as far as they have room there, parameters and
// the other weights in the flash memory.
#define FLASH
include "edge_npu.td"

def HBM : Memory { let Scope = "constants"; let Bytes = !shl(1, 22); let RowBytes = 32; let BytesPerCycle = 32; let Latency = 60; }

def FAST_WEIGHTS : Move<WT, 20> {
  let Summary = "weights of the fast memory to SRAM"; let Operands = (ins Dram<I8, HBM>:$src, InSRAM:$dst);
}

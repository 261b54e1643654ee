//===- gpu.td - what chips controlled by a grid say beside all others ------===//
//
// To the plan a warp is a core with vector registers: one register holds a number
// of 32 bits for each lane. There are three levels: the warps of a grid, which share
// a kernel (as many as all processors keep at once with all the registers that the
// plan may use), processors, which run blocks of them, and the lanes of a warp.
//===----------------------------------------------------------------------===//
include "pb.td"

class GridLevel<string name, int max, int cycles = 0, int busy = 0> : Level {
  let Name = name;
  let Max = max;
  let Sync = !if(!eq(cycles, 0), "none", "barrier");
  let SyncCycles = cycles;
  let Busy = busy;
}

class GridChip : Chip {
  let Control = "grid";
  list<Level> Levels = ?;       // warps, processors, lanes
  string Triple = ?;            // what LLVM calls the instruction set: "nvptx64-nvidia-cuda", "amdgcn-amd-amdhsa"
  string Processor = ?;         // and the processor that code is made for: "sm_80", "gfx942"
  int BlockBytes = ?;           // memory that the threads of a block share, as much as any block may have
  int BlockWarps = 4;           // warps of a block, where there is work for all
  int ProductCycles = 1;        // that a warp's product takes a scheduler: what plans count in
}

// A number of 32 bits in each lane of each of so many registers.
class LaneRegisters<int lanes, int count> : Memory {
  let Kind = "registers";
  let Scope = "thread";
  let Bytes = !mul(lanes, 4, count);
  let RowBytes = !mul(lanes, 4);
  let BytesPerCycle = !mul(lanes, 16);
  let ApartCycles = lanes; // one of the cache's sectors after the other
  let SameAtOnce = 4;
  let EachAtOnce = 4;
}

// A cache's line is what one request of a warp's lanes brings. `rate`: one warp's part of its bytes in the time of a
// product; `together`: percent of them that its neighbours on the processor, which want the same lines, bring it beside.
class LineCache<string scope, int bytes, int rate, int latency, int together = 0> : Memory {
  let Scope = scope;
  let Bytes = bytes;
  let RowBytes = 128;
  let BytesPerCycle = !div(!mul(rate, !add(100, together)), 100);
  let Latency = latency;
  let Cached = 1;
  let LineBytes = 128;
  let SectorBytes = 32;
}

class LaneFma<Memory file, int lanes, int latency> : CoreInstruction<"llvm.fma"> {
  let Summary = "c += a * b, rounded once, in each lane";
  let Dims = [Dim<"n", lanes>];
  let Operands = (ins Reg<file, F32, ["n"]>:$a, Reg<file, F32, ["n"]>:$b, Reg<file, F32, ["n"]>:$c);
  let Semantics = (acc_add $c, (mul $a, $b));
  let Cycles = (plus 1, 0);
  let Latency = latency;
}

// The same of factors of 16 bits, two in a register of each lane: widened, and one product added after the other.
class LaneHalfFma<Memory file, Type factor, int lanes, int latency> : CoreInstruction<"llvm.fma"> {
  let Summary = "each lane of c += two products, one after the other, each rounded once with its sum";
  let Dims = [Dim<"n", lanes>, Dim<"k", 2>];
  let Operands = (ins Reg<file, F32, ["n"]>:$c, Reg<file, factor, ["n", "k"]>:$a, Reg<file, factor, ["n", "k"]>:$b);
  let Semantics = (acc_add $c, (mul (extf $a), (extf $b)));
  let Cycles = (plus 2, 0);
  let Latency = latency;
}

// The same of codes, four in a register of each lane, by the instruction set's own: sums are exact.
class LaneDot<string emit, Memory file, int lanes, int latency, string options = ""> : CoreInstruction<emit> {
  let Options = options;
  let Summary = "each lane of c += four products of codes";
  let Dims = [Dim<"n", lanes>, Dim<"k", 4>];
  let Operands = (ins Reg<file, I8, ["n", "k"]>:$a, Reg<file, I8, ["n", "k"]>:$b, Reg<file, I32, ["n"]>:$c);
  let Semantics = (acc_add $c, (mul (sext $a), (sext $b)));
  let Cycles = (plus 1, 0);
  let Latency = latency;
}

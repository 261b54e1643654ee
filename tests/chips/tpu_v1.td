//===- tpu_v1.td - the first Tensor Processing Unit ------------------------===//
//
// From N. Jouppi et al., "In-Datacenter Performance Analysis of a Tensor Processing Unit", ISCA 2017, sections 2 and 3: a
// 256x256 array of int8 at 700 MHz, 24 MiB of Unified Buffer, 4 MiB of accumulators (4,096 rows of 256 words), a Weight FIFO
// four tiles deep, 8 GiB of Weight DRAM at 34 GB/s that inference only reads, the host's memory by PCIe at 14 GiB/s (figure 1),
// Read_Weights, MatrixMultiply, Activate and host transfers. Assumed, as the paper does not say it or the language cannot yet: the
// tile that is worked on stays in the FIFO, of whose four three wait; encodings of 32 bytes (the paper's have 12) with strides and
// boxes; a flag that takes the next tile; scales by column in f32, from the host; codes in and out, and the addition of residuals, by
// Activate; commands by a port of their own; all latencies. Codes have a sign or none, as the array takes both: codes.td.
//===----------------------------------------------------------------------===//
include "pb.td"
include "codes.td"

defvar N = 256;

def tpu_v1 : Chip {
  let Summary = "TPU v1 (ISCA 2017): a 256x256 int8 array, 24 MiB of unified buffer";
  let Name = "tpu_v1"; let Schema = PB_SCHEMA; let Revision = 1; let Control = "queues";
  let MHz = 700; let Arguments = 8; let CommandBytes = 32; let CommandPort = 1;
}

def HOST : Memory { let Scope = "system"; let Bytes = !shl(1, 33); let RowBytes = 64; let BytesPerCycle = 21; let Latency = 100; }
def DRAM : Memory { let Scope = "constants"; let Bytes = !shl(1, 33); let RowBytes = 64; let BytesPerCycle = 48; let Latency = 100; }
def UB   : Memory { let Bytes = !mul(24, !shl(1, 20)); let RowBytes = N; let Banks = 8; let BytesPerCycle = !mul(4, N); let Latency = 1; }
def ACC  : Memory { let Bytes = !shl(1, 22); let RowBytes = !mul(4, N); let Banks = 2; let BytesPerCycle = !mul(8, N); let Latency = 1; }
def FIFO : Memory { let Kind = "fifo"; let Bytes = !mul(4, !mul(N, N)); let RowBytes = N; let Banks = 4; let BytesPerCycle = N; }

def RD : Queue { let Depth = 16; let Tokens = 63; } // Read_Host_Memory
def WT : Queue { let Depth = 16; let Tokens = 63; } // Read_Weights
def MM : Queue { let Depth = 16; let Tokens = 63; } // MatrixMultiply
def AC : Queue { let Depth = 16; let Tokens = 63; } // Activate
def WR : Queue { let Depth = 16; let Tokens = 63; } // Write_Host_Memory
def : Tokens { let Queues = [RD, WT, MM, AC, WR]; let WaitBit = 0; let SignalBit = 5; }

class Op<Queue q, bits<6> op> : Instruction<q> { let Inst{255-250} = op; }

class Host<Type t> : Window<HOST, t, ["i", "j", "b"], "off", ["si", "sj", "elem"], 1> { let Slot = "arg"; }
def Padded : Host<I8> { let BoxLo = ["ilo", "jlo", "blo"]; let BoxHi = ["ihi", "jhi", "bhi"]; let Fill = "fill"; }
def PaddedWords : Host<I32> { let BoxLo = ["ilo", "jlo", ""]; let BoxHi = ["ihi", "jhi", ""]; }
defvar InUB = Window<UB, I8, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>;
defvar InACC = Window<ACC, I32, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>;

class Move<Queue q, bits<6> op> : Op<q, op>, Copy {
  bits<3> arg; bits<28> off; bits<20> si; bits<18> sj; bits<8> ni; bits<8> nj; bits<10> nb; bits<25> loc; bits<20> li; bits<14> lj;
  let Latency = 8; let Dims = [Dim<"i", 255, "ni">, Dim<"j", 255, "nj">, Dim<"b", 1023, "nb">];
  let Inst{12-10} = arg; let Inst{40-13} = off; let Inst{60-41} = si; let Inst{78-61} = sj; let Inst{86-79} = ni; let Inst{94-87} = nj;
  let Inst{104-95} = nb; let Inst{129-105} = loc; let Inst{149-130} = li; let Inst{163-150} = lj;
  let Signed = ["off"]; let Cycles = (times $i, (times $j, (ceildiv $b, 21)));
}
class Boxed<bits<6> op> : Move<RD, op> { bits<8> ilo; bits<8> ihi; bits<8> jlo; bits<8> jhi;
  let Inst{171-164} = ilo; let Inst{179-172} = ihi; let Inst{187-180} = jlo; let Inst{195-188} = jhi;
}
def READ_HOST : Boxed<1> {
  let Summary = "host memory to the unified buffer"; bits<8> fill; bits<10> blo; bits<10> bhi;
  let Inst{203-196} = fill; let Inst{213-204} = blo; let Inst{223-214} = bhi;
  let Operands = (ins Padded:$src, InUB:$dst); let Signed = SignedFill;
}
def READ_PARAMETERS : Boxed<2> {
  let Summary = "biases, scales and f32 tensors"; let Operands = (ins PaddedWords:$src, InACC:$dst);
  let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 21)));
}
def WRITE_HOST : Move<WR, 3> { let Summary = "the unified buffer to host memory"; let Operands = (ins InUB:$src, Host<I8>:$dst); }
def WRITE_WORDS : Move<WR, 4> {
  let Summary = "f32 results to host memory"; let Operands = (ins InACC:$src, Host<I32>:$dst);
  let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 21)));
}

def WeightTile : Window<DRAM, I8, ["k", "n"], "off", ["sk", "elem"], 1> { let Slot = "arg"; } // 65,536 bytes at 48 a cycle
def READ_WEIGHTS : Op<WT, 8> {
  let Summary = "a tile of weights from DRAM into the FIFO"; bits<3> arg; bits<28> off; bits<14> sk;
  let Dims = [Dim<"k", N>, Dim<"n", N>];
  let Operands = (ins WeightTile:$s, Window<FIFO, I8, ["k", "n"], "", ["row", "elem"]>:$d);
  let Semantics = (set $d, $s); let Cycles = (plus 1366, 0); let Latency = 2; let Signed = ["off"];
  let Inst{12-10} = arg; let Inst{40-13} = off; let Inst{54-41} = sk;
}
def MATRIX_MULTIPLY : Op<MM, 9> {
  let Summary = "B rows by a tile: B cycles"; bits<1> pop; bits<1> keep; bits<12> rows; bits<17> a; bits<10> da; bits<12> c; bits<8> dc;
  let Dims = [Dim<"m", 4095, "rows">, Dim<"n", N>, Dim<"k", N>];
  let Operands = (ins Window<FIFO, I8, ["k", "n"], "pop", ["row", "elem"]>:$w, Window<UB, I8, ["m", "k"], "a", ["da", "elem"]>:$x,
                      Imm<I1>:$keep, Window<ACC, I32, ["m", "n"], "c", ["dc", "elem"]>:$y);
  let Semantics = (acc_add $y, $keep, (mul (Wide $x), (sext $w))); let Cycles = (plus $m, 1); let Latency = 260;
  let Inst{10} = pop; let Inst{12} = keep; let Inst{24-13} = rows; let Inst{41-25} = a; let Inst{51-42} = da; let Inst{63-52} = c;
  let Inst{71-64} = dc;
}

class Activate<bits<6> op> : Op<AC, op> {
  bits<12> rows; bits<17> a; bits<10> da; bits<17> y; bits<10> dy;
  let Dims = [Dim<"m", 4095, "rows">, Dim<"n", N>]; let Cycles = (plus $m, 2); let Latency = 10;
  let Inst{21-10} = rows; let Inst{38-22} = a; let Inst{48-39} = da; let Inst{65-49} = y; let Inst{75-66} = dy;
}
class Code<bits<6> op> : Activate<op> {
  bits<8> zp; bits<8> lo; bits<8> hi; bits<12> ps; let Signed = SignedCodes;
  let Inst{83-76} = zp; let Inst{91-84} = lo; let Inst{99-92} = hi; let Inst{111-100} = ps; }
defvar YC = Window<UB, I8, ["m", "n"], "y", ["dy", "elem"]>;
defvar AC8 = Window<UB, I8, ["m", "n"], "a", ["da", "elem"]>;
defvar PS = Window<ACC, F32, ["n"], "ps", ["elem"]>;

def ACTIVATE : Code<16> {
  let Summary = "sums to codes: bias, scale, round, clamp"; bits<12> pb; let Inst{123-112} = pb;
  let Operands = (ins YC:$d, Window<ACC, I32, ["m", "n"], "a", ["da", "elem"]>:$x, Window<ACC, I32, ["n"], "pb", ["elem"]>:$bias, PS:$scale,
                      Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi);
  let Semantics = (set $d, (ToCode (min (max (add (roundeven (mul (sitofp (add $x, $bias)), $scale)), Zero), Low), High)));
}
def ACTIVATE_SUM : Code<17> {
  let Summary = "codes of two tensors, added"; bits<17> b; bits<10> db; bits<12> psb; bits<8> za; bits<8> zb;
  let Operands = (ins AC8:$x, Window<UB, I8, ["m", "n"], "b", ["db", "elem"]>:$z, PS:$sa, Window<ACC, F32, ["n"], "psb", ["elem"]>:$sb,
                      Imm<I8>:$za, Imm<I8>:$zb, Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi, YC:$d);
  let Semantics = (set $d, (ToCode (min (max (add (roundeven (add (mul (sub X, XZero), $sa),
                      (mul (sub Z, ZZero), $sb))), Zero), Low), High)));
  let Signed = !listconcat(SignedZeros, SignedCodes);
  let Inst{128-112} = b; let Inst{138-129} = db; let Inst{150-139} = psb; let Inst{158-151} = za; let Inst{166-159} = zb;
}
def ACTIVATE_IN : Code<18> {
  let Summary = "f32 to codes";
  let Operands = (ins Window<ACC, F32, ["m", "n"], "a", ["da", "elem"]>:$x, PS:$scale, Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi, YC:$d);
  let Semantics = (set $d, (ToCode (min (max (add (roundeven (mul $x, $scale)), Zero), Low), High)));
}
def POOL_MAX : Activate<19> {
  let Summary = "the larger code"; bits<1> keep; let Inst{76} = keep;
  let Operands = (ins AC8:$x, Imm<I1>:$keep, YC:$d); let Semantics = (Larger $d, $keep, $x);
}
def POOL_SUM : Activate<20> {
  let Summary = "sums of codes"; bits<1> keep; let Inst{76} = keep;
  let Operands = (ins AC8:$x, Imm<I1>:$keep, Window<ACC, I32, ["n"], "y", ["elem"]>:$d); let Semantics = (acc_add $d, $keep, (Wide $x));
}
def ACTIVATE_OUT : Activate<21> {
  let Summary = "codes to f32"; bits<12> ps; bits<8> za; let Inst{87-76} = ps; let Inst{95-88} = za; let Signed = SignedZero;
  let Operands = (ins AC8:$x, PS:$scale, Imm<I8>:$za, Window<ACC, F32, ["m", "n"], "y", ["dy", "elem"]>:$d);
  let Semantics = (set $d, (mul (sub X, XZero), $scale));
}

//===- vta.td - the Versatile Tensor Accelerator ---------------------------===//
//
// From T. Moreau et al., "A Hardware-Software Blueprint for Flexible Deep Learning Specialization", IEEE Micro 39(5), 2019, and
// VTA's public hardware page: load, compute and store modules, a GEMM core that multiplies a vector of 16 int8 by a 16x16
// tile each cycle straight out of the weight buffer, where each result's 16 weights lie side by side (inputs 32 KiB, weights 256 KiB, accumulators 128 KiB), and a vector ALU
// on the accumulators that adds, shifts, takes maxima and minima, by another vector or an immediate; MUL is its Chisel
// revision's. Codes are made by a shift alone, so scales are powers of 2. Assumed: a bus of 128 bits, as its Ultra96 shell
// has; loads into the output buffer for what is only copied (VTA's host pads images); latencies; nested loops in the
// commands, where VTA's are in micro-ops; commands of 24 bytes (16).
//===----------------------------------------------------------------------===//
include "pb.td"

defvar N = 16;

def vta : Chip {
  let Summary = "VTA: a 16x16 int8 GEMM core, a vector ALU on accumulators, power-of-2 scales";
  let Name = "vta"; let Schema = PB_SCHEMA; let Revision = 1; let Control = "queues";
  let MHz = 333; let Arguments = 8; let CommandBytes = 24;
}

def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 30); let RowBytes = 16; let BytesPerCycle = 16; let Latency = 60; }
def INP  : Memory { let Bytes = !shl(1, 15); let RowBytes = N; let Banks = 2; let BytesPerCycle = !mul(2, N); let Latency = 1; }
def WGT  : Memory { let Bytes = !shl(1, 18); let RowBytes = N; let Banks = N; let BytesPerCycle = !mul(2, !mul(N, N)); let Latency = 1; }
def ACC  : Memory { let Bytes = !shl(1, 17); let RowBytes = !mul(4, N); let Banks = 4; let BytesPerCycle = !mul(16, N); let Latency = 1; }
def OUT  : Memory { let Bytes = !shl(1, 15); let RowBytes = N; let Banks = 2; let BytesPerCycle = !mul(2, N); let Latency = 1; }

def LD : Queue { let Depth = 32; let Tokens = 255; } // load: inputs and weights
def CP : Queue { let Depth = 32; let Tokens = 255; } // compute: GEMM, ALU, and loads of accumulators
def ST : Queue { let Depth = 32; let Tokens = 255; } // store
def : Tokens {
  let Queues = [LD, CP, ST]; let WaitBit = 0; let SignalBit = 3;
  let Pairs = [Pair<LD, CP>, Pair<CP, LD>, Pair<CP, ST>, Pair<ST, CP>];
}

class Op<Queue q, bits<6> op> : Instruction<q> { let Inst{191-186} = op; }

class Dram<Type t> : Window<DRAM, t, ["i", "j", "b"], "off", ["si", "sj", "elem"], 1> { let Slot = "arg"; }
def Padded : Dram<I8> { let BoxLo = ["ilo", "jlo", ""]; let BoxHi = ["ihi", "jhi", ""]; let Fill = "fill"; }
class In<Memory m, Type t> : Window<m, t, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>;

class Move<Queue q, bits<6> op> : Op<q, op> {
  bits<3> arg; bits<28> off; bits<18> si; bits<16> sj; bits<7> ni; bits<7> nj; bits<9> nb; bits<18> loc; bits<16> li; bits<12> lj;
  let Mover = 1; let Latency = 4; let Buffer = 1024;
  let Dims = [Dim<"i", 127, "ni">, Dim<"j", 127, "nj">, Dim<"b", 511, "nb">];
  let Inst{8-6} = arg; let Inst{36-9} = off; let Inst{54-37} = si; let Inst{70-55} = sj; let Inst{77-71} = ni; let Inst{84-78} = nj;
  let Inst{93-85} = nb; let Inst{111-94} = loc; let Inst{127-112} = li; let Inst{139-128} = lj;
  let Signed = ["off"];
  let Cycles = (times $i, (times $j, (ceildiv $b, 16)));
}
class Boxed<Queue q, bits<6> op, Memory m> : Move<q, op> {
  bits<7> ilo; bits<7> ihi; bits<7> jlo; bits<7> jhi; bits<8> fill;
  let Inst{146-140} = ilo; let Inst{153-147} = ihi; let Inst{160-154} = jlo; let Inst{167-161} = jhi; let Inst{175-168} = fill;
  let Operands = (ins Padded:$src, In<m, I8>:$dst); let Semantics = (set $dst, $src); let Signed = ["fill", "off"];
}
def LOAD_INP : Boxed<LD, 1, INP> { let Summary = "inputs, padded"; }
def LOAD_OUT : Boxed<CP, 5, OUT> { let Summary = "into the output buffer: what is only copied"; }
def LOAD_WGT : Move<LD, 2> {
  let Summary = "tiles of weights";
  let Operands = (ins Dram<I8>:$src, In<WGT, I8>:$dst); let Semantics = (set $dst, $src);
}
#ifdef PACKED
def Packed : Window<DRAM, I4, ["i", "j", "b"], "off", ["si", "sj", "elem"], 1> { let Slot = "arg"; }
def LOAD_PACKED : Move<LD, 6> {
  let Summary = "tiles of weights of 4 bits, two in a byte as they lie";
  let Operands = (ins Packed:$src, In<WGT, I4>:$dst); let Semantics = (set $dst, $src);
  let Cycles = (times $i, (times $j, (ceildiv $b, 32)));
}
#endif
def LOAD_ACC : Move<CP, 3> {
  let Summary = "words into the accumulators";
  let Operands = (ins Dram<I32>:$src, In<ACC, I32>:$dst); let Semantics = (set $dst, $src);
  let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 16)));
}
def STORE : Move<ST, 4> {
  let Summary = "results to DRAM";
  let Operands = (ins In<OUT, I8>:$src, Dram<I8>:$dst); let Semantics = (set $dst, $src);
}

class Gemm<bits<6> op, Type weight, string row> : Op<CP, op> {
#ifdef PACKED
  bits<15> w; let Inst{97} = w{14};
#else
  bits<14> w;
#endif
  bits<1> keep; bits<11> a; bits<11> ai; bits<8> aj; bits<11> c; bits<11> ci; bits<8> cj; bits<8> ni; bits<8> nj;
  let Dims = [Dim<"i", 255, "ni">, Dim<"j", 255, "nj">, Dim<"n", N>, Dim<"k", N>];
  let Operands = (ins Window<INP, I8, ["i", "j", "k"], "a", ["ai", "aj", "elem"]>:$x,
                      Window<WGT, weight, ["n", "k"], "w", [row, "elem"], !div(!mul(N, weight.Bits), 8)>:$w, Imm<I1>:$keep,
                      Window<ACC, I32, ["i", "j", "n"], "c", ["ci", "cj", "elem"]>:$y);
  let Semantics = (acc_add $y, $keep, (mul (sext $x), (sext $w))); let Cycles = (plus (times $i, $j), 1); let Latency = 4;
  let Inst{6} = keep; let Inst{20-7} = w{13-0}; let Inst{31-21} = a; let Inst{42-32} = ai; let Inst{50-43} = aj; let Inst{61-51} = c;
  let Inst{72-62} = ci; let Inst{80-73} = cj; let Inst{88-81} = ni; let Inst{96-89} = nj;
}
def GEMM : Gemm<8, I8, "row"> { let Summary = "rows of rows of vectors by a tile of weights, into or onto accumulators"; }
#ifdef PACKED
def GEMM_PACKED : Gemm<9, I4, "1"> { let Summary = "the same by weights of 4 bits, which it widens"; }
#endif

// The ALU: one vector a cycle. Formulas are covered by several commands, which leave what is between in accumulators.
def : Formula<"sum"> {
  let Operands = (ins Element<I32>:$sum, ByChannel<I32>:$bias, Imm<I16>:$shift, Imm<I16>:$lo);
  let Value = (trunc8 (min (max (shr (add $sum, $bias), (sext $shift)), (sext $lo)), (i32c 127)));
  let MaxShift = 31; let MostOff = "0"; // powers of 2
}
def : Formula<"add"> {
  let Operands = (ins Element<I8>:$a, Element<I8>:$b, Imm<I16>:$fa, Imm<I16>:$fb, Imm<I16>:$bias, Imm<I16>:$shift, Imm<I16>:$lo);
  let Value = (trunc8 (min (max (shr (add (add (mul (sext $a), (sext $fa)), (mul (sext $b), (sext $fb))), (sext $bias)), (sext $shift)),
                                (sext $lo)), (i32c 127)));
  let FactorBits = 6; let MaxShift = 6; let MostOff = "0";
}

class Alu<bits<6> op> : Op<CP, op> {
  bits<11> y; bits<11> yi; bits<8> yj; bits<11> x; bits<11> xi; bits<8> xj; bits<8> ni; bits<8> nj; bits<16> imm; bits<11> z; bits<11> zi; bits<8> zj;
  let Dims = [Dim<"i", 255, "ni">, Dim<"j", 255, "nj">, Dim<"n", N>]; let Cycles = (plus (times $i, $j), 1); let Latency = 3;
  let Inst{16-6} = y; let Inst{27-17} = yi; let Inst{35-28} = yj; let Inst{46-36} = x; let Inst{57-47} = xi; let Inst{65-58} = xj;
  let Inst{73-66} = ni; let Inst{81-74} = nj; let Inst{97-82} = imm; let Inst{108-98} = z; let Inst{119-109} = zi; let Inst{127-120} = zj;
  let Signed = ["imm"];
}
class At<Memory m, Type t, string base> : Window<m, t, ["i", "j", "n"], base, [base#"i", base#"j", "elem"]>;
class Imms<bits<6> op, dag value> : Alu<op> {
  let Operands = (ins At<ACC, I32, "x">:$x, Imm<I16>:$imm, At<ACC, I32, "y">:$y); let Semantics = (set $y, value);
}
def ADDI : Imms<16, (add $x, (sext $imm))>;
def MULI : Imms<17, (mul $x, (sext $imm))>;
def SHRI : Imms<18, (shr $x, (sext $imm))>;
def MAXI : Imms<19, (max $x, (sext $imm))>;
def MINI : Imms<20, (min $x, (sext $imm))>;
def ADDV : Alu<21> {
  let Summary = "two accumulators, added";
  let Operands = (ins At<ACC, I32, "x">:$x, At<ACC, I32, "z">:$z, At<ACC, I32, "y">:$y); let Semantics = (set $y, (add $x, $z));
}
def BIAS : Alu<22> {
  let Summary = "one vector onto all accumulators";
  let Operands = (ins At<ACC, I32, "x">:$x, Window<ACC, I32, ["n"], "z", ["elem"]>:$z, At<ACC, I32, "y">:$y); let Semantics = (set $y, (add $x, $z));
}
def NARROW : Alu<23> {
  let Summary = "accumulators to the output buffer";
  let Operands = (ins At<ACC, I32, "x">:$x, At<OUT, I8, "y">:$y); let Semantics = (set $y, (trunc8 $x));
}
// Assumed: the ALU reads inputs and outputs too, for residuals and pooling.
def EXTEND : Alu<24> {
  let Summary = "inputs to accumulators";
  let Operands = (ins At<INP, I8, "x">:$x, At<ACC, I32, "y">:$y); let Semantics = (set $y, (sext $x));
}
def EXTEND_OUT : Alu<25> {
  let Summary = "results to accumulators";
  let Operands = (ins At<OUT, I8, "x">:$x, At<ACC, I32, "y">:$y); let Semantics = (set $y, (sext $x));
}
class Pool<bits<6> op> : Alu<op> { bits<1> keep; let Inst{128} = keep; }
def POOL_MAX : Pool<26> {
  let Summary = "the larger code";
  let Operands = (ins At<INP, I8, "x">:$x, Imm<I1>:$keep, At<OUT, I8, "y">:$y); let Semantics = (acc_max $y, $keep, $x);
}
def POOL_SUM : Pool<27> {
  let Summary = "sums of codes";
  let Operands = (ins At<INP, I8, "x">:$x, Imm<I1>:$keep, Window<ACC, I32, ["n"], "y", ["elem"]>:$y); let Semantics = (acc_add $y, $keep, (sext $x));
}

//===- vectornpu.td - queues whose commands work on vector registers --------===//
//
// A chip of our own: a vector core in the manner of those with matrix extensions, driven by queues. Two small
// files of vectors of 16 codes, one of 16 sums; loads bring a few of them at a time from a scratchpad or from outside, the
// matrix unit multiplies up to 8 vectors by 16, everything else works on vectors too, and stores take a few out. The
// formulas are those of edge_npu.td. All sizes, rates and latencies are assumed.
//===----------------------------------------------------------------------===//
include "pb.td"

defvar N = 16;

def vectornpu : Chip {
  let Summary = "Test chip: vector registers of 16 codes and 16 sums, loads and stores of a few";
  let Name = "vectornpu"; let Schema = PB_SCHEMA; let Revision = 1; let Control = "queues";
  let MHz = 1000; let Arguments = 8; let CommandBytes = 32;
}

def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 30); let RowBytes = 16; let BytesPerCycle = 16; let Latency = 60; }
def SPM  : Memory { let Bytes = !shl(1, 18); let RowBytes = N; let Banks = 4; let BytesPerCycle = !mul(4, N); let Latency = 2; }

class Vectors<int count, int bytes> : Memory {
  let Bytes = !mul(count, bytes); let RowBytes = bytes; let Banks = 4; let BytesPerCycle = !mul(4, bytes); let Latency = 1;
}
def VM : Vectors<128, N>;          // of codes: what the matrix unit multiplies
def VC : Vectors<128, N>;          // of codes: all else
def VA : Vectors<64, !mul(4, N)>;  // of sums, biases, factors

def LD : Queue { let Depth = 16; let Tokens = 63; } // outside to the scratchpad
def VL : Queue { let Depth = 16; let Tokens = 63; } // loads of vectors
def MX : Queue { let Depth = 16; let Tokens = 63; } // the matrix unit
def VO : Queue { let Depth = 16; let Tokens = 63; } // vectors to vectors
def VS : Queue { let Depth = 16; let Tokens = 63; } // stores of vectors
def : Tokens { let Queues = [LD, VL, MX, VO, VS]; let WaitBit = 216; let SignalBit = 232; }

// Loops run in the core's front end.
def LOOP : HardwareLoop {
  bits<16> turns; bits<5> body; let Turns = "turns"; let Body = "body"; let MaxBody = 32;
  let Derived = [DerivedField<"turns", "minus">, DerivedField<"body", "minus">];
  let Inst{255-250} = 63; let Inst{25-10} = turns; let Inst{30-26} = body;
}

class Op<Queue q, bits<6> op> : Instruction<q> { let Inst{255-250} = op; }

// To and from outside -------------------------------------------------------------------------------------------------

class Dram<Type t> : Window<DRAM, t, ["i", "j", "b"], "off", ["si", "sj", "elem"], 1> { let Slot = "arg"; }
def Padded : Dram<I8> { let BoxLo = ["ilo", "jlo", ""]; let BoxHi = ["ihi", "jhi", ""]; let Fill = "fill"; }

class Move<Queue q, bits<6> op, int most, int bytes> : Op<q, op> {
  bits<3> arg; bits<28> off; bits<20> si; bits<18> sj; bits<8> ni; bits<8> nj; bits<10> nb; bits<19> loc; bits<18> li; bits<14> lj;
  let Mover = 1; let Latency = 6; let Buffer = 1024;
  let Dims = [Dim<"i", most, "ni">, Dim<"j", most, "nj">, Dim<"b", bytes, "nb">];
  let Inst{12-10} = arg; let Inst{40-13} = off; let Inst{60-41} = si; let Inst{78-61} = sj; let Inst{86-79} = ni; let Inst{94-87} = nj;
  let Inst{104-95} = nb; let Inst{123-105} = loc; let Inst{141-124} = li; let Inst{155-142} = lj;
  let Signed = ["off"];
  let Cycles = (times $i, (times $j, (ceildiv $b, 16)));
}
class Boxed<Queue q, bits<6> op, int most, int bytes, Memory m> : Move<q, op, most, bytes> {
  bits<8> ilo; bits<8> ihi; bits<8> jlo; bits<8> jhi; bits<8> fill;
  let Inst{163-156} = ilo; let Inst{171-164} = ihi; let Inst{179-172} = jlo; let Inst{187-180} = jhi; let Inst{195-188} = fill;
  let Operands = (ins Padded:$src, Window<m, I8, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$dst);
  let Semantics = (set $dst, $src); let Signed = ["fill", "off"];
}
def IN : Boxed<LD, 1, 255, 1023, SPM> { let Summary = "outside to the scratchpad, filling what lies outside"; }
def LOADC : Boxed<VL, 2, 8, N, VC> { let Summary = "up to 8 by 8 vectors from outside, filling what lies there"; }
def LOADA : Move<VL, 3, 8, N> {
  let Summary = "up to 8 by 8 vectors of words from outside";
  let Operands = (ins Dram<I32>:$src, Window<VA, I32, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$dst);
  let Semantics = (set $dst, $src); let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 16)));
}
def STOREC : Move<VS, 4, 8, N> {
  let Summary = "up to 8 by 8 vectors out";
  let Operands = (ins Window<VC, I8, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$src, Dram<I8>:$dst);
  let Semantics = (set $dst, $src);
}

// Products ------------------------------------------------------------------------------------------------------------

class Load<bits<6> op> : Op<VL, op> {
  bits<14> s; bits<10> si; bits<10> sj; bits<8> d; bits<8> di; bits<8> dj; let Latency = 3;
  let Inst{23-10} = s; let Inst{33-24} = si; let Inst{43-34} = sj; let Inst{51-44} = d; let Inst{59-52} = di; let Inst{67-60} = dj;
}
def LOADX : Load<8> {
  let Summary = "up to 8 vectors of an image out of the scratchpad";
  bits<4> ni; bits<4> nj; let Inst{71-68} = ni; let Inst{75-72} = nj;
  let Dims = [Dim<"i", 8, "ni">, Dim<"j", 8, "nj">, Dim<"k", N>];
  let Operands = (ins Window<SPM, I8, ["i", "j", "k"], "s", ["si", "sj", "elem"]>:$src,
                      Window<VM, I8, ["i", "j", "k"], "d", ["di", "dj", "elem"]>:$dst);
  let Semantics = (set $dst, $src); let Cycles = (times $i, $j);
}
def LOADW : Load<9> {
  let Summary = "16 vectors of weights out of the scratchpad";
  let Dims = [Dim<"k", N>, Dim<"n", N>];
  let Operands = (ins Window<SPM, I8, ["k", "n"], "s", ["sj", "elem"]>:$src, Window<VM, I8, ["k", "n"], "d", ["dj", "elem"]>:$dst);
  let Semantics = (set $dst, $src); let Cycles = (plus N, 0);
}
def MULTIPLY : Op<MX, 10> {
  let Summary = "up to 8 vectors by 16, into or onto sums";
  bits<1> keep; bits<4> ni; bits<4> nj; bits<8> a; bits<8> ai; bits<8> aj; bits<8> w; bits<8> dw; bits<6> c; bits<6> ci; bits<6> cj;
  let Dims = [Dim<"i", 8, "ni">, Dim<"j", 8, "nj">, Dim<"n", N>, Dim<"k", N>];
  let Operands = (ins Window<VM, I8, ["i", "j", "k"], "a", ["ai", "aj", "elem"]>:$x, Window<VM, I8, ["k", "n"], "w", ["dw", "elem"]>:$wt,
                      Imm<I1>:$keep, Window<VA, I32, ["i", "j", "n"], "c", ["ci", "cj", "elem"]>:$y);
  let Semantics = (acc_add $y, $keep, (mul (sext $x), (sext $wt))); let Cycles = (times 2, (times $i, $j)); let Latency = 6;
  let Inst{10} = keep; let Inst{14-11} = ni; let Inst{18-15} = nj; let Inst{26-19} = a; let Inst{34-27} = ai; let Inst{42-35} = aj;
  let Inst{50-43} = w; let Inst{58-51} = dw; let Inst{64-59} = c; let Inst{70-65} = ci; let Inst{76-71} = cj;
}

// Vectors to vectors --------------------------------------------------------------------------------------------------

def : Formula<"sum"> {
  let Operands = (ins Element<I32>:$sum, ByChannel<I32>:$bias, ByChannel<I32>:$factor, ByChannel<I32>:$shift, Imm<I8>:$lo);
  let Value = (trunc8 (min (max (shrr (mul (sext64 (add $sum, $bias)), (sext64 $factor)), (sext64 $shift)), (sext64 $lo)), (i64c 127)));
}
def : Formula<"add"> {
  let Operands = (ins Element<I8>:$a, Element<I8>:$b, Imm<I16>:$fa, Imm<I16>:$fb, Imm<I32>:$bias, Imm<I8>:$shift, Imm<I8>:$lo);
  let Value = (trunc8 (min (max (shrr (add (add (mul (sext $a), (sext $fa)), (mul (sext $b), (sext $fb))), $bias), (sext $shift)),
                                (sext $lo)), (i32c 127)));
  let FactorBits = 15; let MaxShift = 22;
}

class Unit<bits<6> op> : Op<VO, op> {
  bits<14> y; bits<12> yi; bits<8> yj; bits<4> ni; bits<4> nj;
  let Dims = [Dim<"i", 8, "ni">, Dim<"j", 8, "nj">, Dim<"n", N>]; let Cycles = (plus (times $i, $j), 2); let Latency = 8;
  let Inst{23-10} = y; let Inst{35-24} = yi; let Inst{43-36} = yj; let Inst{47-44} = ni; let Inst{51-48} = nj;
}
class Codes<string base> : Window<VC, I8, ["i", "j", "n"], base, [base#"i", base#"j", "elem"]>;
class Row<string base> : Window<VA, I32, ["n"], base, ["elem"]>;

def SCALE : Unit<16> {
  let Summary = "sums to codes: bias, factor, shift to the nearest, clamp";
  bits<11> c; bits<11> ci; bits<8> cj; bits<11> pb; bits<11> pf; bits<11> ps; bits<8> lo;
  let Operands = (ins Codes<"y">:$d, Window<VA, I32, ["i", "j", "n"], "c", ["ci", "cj", "elem"]>:$x, Row<"pb">:$bias, Row<"pf">:$factor,
                      Row<"ps">:$shift, Imm<I8>:$lo);
  let Semantics = (set $d, (trunc8 (min (max (shrr (mul (sext64 (add $x, $bias)), (sext64 $factor)), (sext64 $shift)), (sext64 $lo)), (i64c 127))));
  let Signed = ["lo"];
  let Inst{74-64} = c; let Inst{85-75} = ci; let Inst{93-86} = cj; let Inst{104-94} = pb; let Inst{115-105} = pf; let Inst{126-116} = ps;
  let Inst{134-127} = lo;
}
def ADD : Unit<17> {
  let Summary = "codes of two tensors, added";
  bits<14> a; bits<12> ai; bits<8> aj; bits<14> b; bits<12> bi; bits<8> bj; bits<16> fa; bits<16> fb; bits<32> bias; bits<8> shift; bits<8> lo;
  let Operands = (ins Codes<"a">:$x, Codes<"b">:$z, Imm<I16>:$fa, Imm<I16>:$fb, Imm<I32>:$bias, Imm<I8>:$shift, Imm<I8>:$lo, Codes<"y">:$d);
  let Semantics = (set $d, (trunc8 (min (max (shrr (add (add (mul (sext $x), (sext $fa)), (mul (sext $z), (sext $fb))), $bias), (sext $shift)),
                                             (sext $lo)), (i32c 127))));
  let Signed = ["fa", "fb", "bias", "shift", "lo"];
  let Inst{77-64} = a; let Inst{89-78} = ai; let Inst{97-90} = aj; let Inst{111-98} = b; let Inst{123-112} = bi; let Inst{131-124} = bj;
  let Inst{147-132} = fa; let Inst{163-148} = fb; let Inst{195-164} = bias; let Inst{203-196} = shift; let Inst{211-204} = lo;
}
class Pool<bits<6> op> : Unit<op> {
  bits<14> a; bits<12> ai; bits<8> aj; bits<1> keep;
  let Inst{77-64} = a; let Inst{89-78} = ai; let Inst{97-90} = aj; let Inst{98} = keep;
}
def POOL_MAX : Pool<18> {
  let Summary = "the larger code";
  let Operands = (ins Codes<"a">:$x, Imm<I1>:$keep, Codes<"y">:$d); let Semantics = (acc_max $d, $keep, $x);
}
def POOL_SUM : Pool<19> {
  let Summary = "sums of codes";
  let Operands = (ins Codes<"a">:$x, Imm<I1>:$keep, Row<"y">:$d); let Semantics = (acc_add $d, $keep, (sext $x));
}

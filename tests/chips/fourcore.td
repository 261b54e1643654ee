//===- fourcore.td - four cores on one memory ------------------------------===//
//
// A chip of our own: four cores, each an int8 array of 16x16 with its own queues, activations, weights and accumulators,
// on one system memory whose port they share. The array reads its weights straight from their buffer; the output unit is
// that of edge_npu.td. The port's 64 bytes a cycle are such that four can be fed. All sizes, rates and latencies are
// assumed. With ONE_CORE it is the same chip with one core. With BROADCAST the port has a quarter of that, and one read of
// it fills the memories of all cores that want the same: each of them has the load in its queue, and the field `cores`
// says for whom it is, as Esperanto's ET-SoC-1 has cooperative tensor loads, whose mask of cores stands in a register.
// With VECTOR_UNIT codes are added in vector registers, which queues of their own load from SRAM and store there; they are
// all that reaches them, or with VECTORS_OUTSIDE loads and stores straight from and to DRAM are; with THREE_STEPS they reach
// a memory of lines, which SRAM fills and takes back.
// With EIGHTY_CORES it has 80 cores of six queues each, parameters and results in queues of their own, on a wide port.
//===----------------------------------------------------------------------===//
include "pb.td"

defvar N = 16;

#ifdef ONE_CORE
#ifdef VECTOR_UNIT
def vectorunit : Chip {
  let Name = "vectorunit";
#else
def fourcore_1 : Chip {
  let Name = "fourcore_1";
#endif
#else
#ifdef EIGHTY_CORES
def CORE : Level { let Name = "core"; let Max = 80; }
def eightycore : Chip {
  let Name = "eightycore";
#else
def CORE : Level { let Name = "core"; let Max = 4; }
def fourcore : Chip {
  let Name = "fourcore";
#endif
#endif
  let Summary = "Test chip: cores of 16x16 int8, their queues and memories apart, one port";
  let Schema = PB_SCHEMA; let Revision = 1; let Control = "queues"; let MHz = 1000; let Arguments = 8; let CommandBytes = 32;
}

class Own : Memory { let Scope = "core"; }
#ifdef BROADCAST
defvar Rate = 16;
#else
#ifdef EIGHTY_CORES
defvar Rate = 256;
#else
defvar Rate = 64;
#endif
#endif
#ifdef EIGHTY_CORES
defvar Ahead = 65536;
#else
defvar Ahead = 4096;
#endif
def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 30); let RowBytes = 64; let BytesPerCycle = Rate; let Latency = 100; }
def SRAM : Own { let Bytes = !shl(1, 18); let RowBytes = N; let Banks = 8; let BytesPerCycle = !mul(8, N); let Latency = 1; }
def WBUF : Own { let Bytes = !shl(1, 17); let RowBytes = N; let Banks = 8; let BytesPerCycle = !mul(8, N); let Latency = 1; }
def ACC  : Own { let Bytes = !shl(1, 16); let RowBytes = !mul(4, N); let Banks = 2; let BytesPerCycle = !mul(8, N); let Latency = 1; }

class Side : Queue { let Depth = 16; }
def LD : Side; // DMA in
def WT : Side; // DMA of weights and parameters
def MX : Side; // the array
def OU : Side; // the output unit, and DMA out
#ifdef VECTOR_UNIT
def VL : Side; // loads of vector registers
def VU : Side; // the vector unit
def VS : Side; // their stores
#endif
#ifdef EIGHTY_CORES
def PR : Side; // DMA of parameters
def ST : Side; // DMA out
defvar Parameters = PR;
defvar Results = ST;
defvar Ordered = [LD, WT, MX, OU, PR, ST];
#else
defvar Parameters = WT;
defvar Results = OU;
#ifdef VECTOR_UNIT
defvar Ordered = [LD, WT, MX, OU, VL, VU, VS];
#else
defvar Ordered = [LD, WT, MX, OU];
#endif
#endif
#ifdef FENCES
def FENCE : Fence {
  bits<4> on;
  let Queues = [LD, WT, MX, OU]; let Wait = "on"; let Depth = 32;
  let Inst{255-250} = 63; let Inst{3-0} = on;
}
#else
def : Tokens { let Queues = Ordered; let Most = 63; let WaitBit = 216; let SignalBit = 232; }
#endif

class Op<Queue q, bits<6> op> : Instruction<q> { let Inst{255-250} = op; }

// DMA -----------------------------------------------------------------------------------------------------------------

class Dram<Type t> : Window<DRAM, t, ["i", "j", "b"], "off", ["si", "sj", "elem"], 1> { let Slot = "arg"; }
def Padded : Dram<I8> { let BoxLo = ["ilo", "jlo", ""]; let BoxHi = ["ihi", "jhi", ""]; let Fill = "fill"; }
defvar InSRAM = Window<SRAM, I8, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>;

class Move<Queue q, bits<6> op> : Op<q, op> {
  bits<3> arg; bits<28> off; bits<20> si; bits<18> sj; bits<8> ni; bits<8> nj; bits<10> nb; bits<19> loc; bits<18> li; bits<14> lj;
  let Mover = 1; let Latency = 6; let Buffer = Ahead;
  let Dims = [Dim<"i", 255, "ni">, Dim<"j", 255, "nj">, Dim<"b", 1023, "nb">];
  let Inst{12-10} = arg; let Inst{40-13} = off; let Inst{60-41} = si; let Inst{78-61} = sj; let Inst{86-79} = ni; let Inst{94-87} = nj;
  let Inst{104-95} = nb; let Inst{123-105} = loc; let Inst{141-124} = li; let Inst{155-142} = lj;
  let Signed = ["off"];
  let Cycles = (times $i, (times $j, (ceildiv $b, 32)));
}
#ifdef BROADCAST
class Load<Queue q, bits<6> op> : Move<q, op> { bits<4> cores; let Inst{199-196} = cores; let Broadcast = "cores"; }
#else
class Load<Queue q, bits<6> op> : Move<q, op>;
#endif
#ifdef FENCES
class CodesIn<Queue q, bits<6> op> : Move<q, op>; // in lists that fences order, those of one queue alone may wait for cores
#else
class CodesIn<Queue q, bits<6> op> : Load<q, op>;
#endif
def IN : CodesIn<LD, 1> {
  let Summary = "DRAM to SRAM, filling what lies outside";
  bits<8> ilo; bits<8> ihi; bits<8> jlo; bits<8> jhi; bits<8> fill;
  let Inst{163-156} = ilo; let Inst{171-164} = ihi; let Inst{179-172} = jlo; let Inst{187-180} = jhi; let Inst{195-188} = fill;
  let Operands = (ins Padded:$src, InSRAM:$dst); let Semantics = (set $dst, $src); let Signed = ["fill", "off"];
}
def WEIGHTS : Load<WT, 2> {
  let Summary = "weights to WBUF";
  let Operands = (ins Dram<I8>:$src, Window<WBUF, I8, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$dst); let Semantics = (set $dst, $src);
}
def PARAMETERS : Load<Parameters, 3> {
  let Summary = "biases, factors and shifts to the accumulators";
  let Operands = (ins Dram<I32>:$src, Window<ACC, I32, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$dst);
  let Semantics = (set $dst, $src); let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 32)));
}
def OUT : Move<Results, 4> {
  let Summary = "SRAM to DRAM";
  let Operands = (ins InSRAM:$src, Dram<I8>:$dst); let Semantics = (set $dst, $src);
}

// The array -----------------------------------------------------------------------------------------------------------

def MULTIPLY : Op<MX, 9> {
  let Summary = "rows of rows of codes by 16x16 weights, into or onto accumulators";
  bits<13> w; bits<9> step; bits<1> keep; bits<14> a; bits<12> ai; bits<8> aj; bits<11> c; bits<11> ci; bits<8> cj; bits<10> ni; bits<10> nj;
  let Dims = [Dim<"i", 1023, "ni">, Dim<"j", 1023, "nj">, Dim<"n", N>, Dim<"k", N>];
  let Operands = (ins Window<SRAM, I8, ["i", "j", "k"], "a", ["ai", "aj", "elem"]>:$x,
                      Window<WBUF, I8, ["k", "n"], "w", ["step", "elem"]>:$w, Imm<I1>:$keep,
                      Window<ACC, I32, ["i", "j", "n"], "c", ["ci", "cj", "elem"]>:$y);
  let Semantics = (acc_add $y, $keep, (mul (sext $x), (sext $w))); let Cycles = (maximum (times $i, $j), N); let Latency = 20;
  let Inst{12} = keep; let Inst{26-13} = a; let Inst{38-27} = ai; let Inst{46-39} = aj; let Inst{57-47} = c;
  let Inst{68-58} = ci; let Inst{76-69} = cj; let Inst{86-77} = ni; let Inst{96-87} = nj; let Inst{109-97} = w; let Inst{118-110} = step;
}

// The output unit -----------------------------------------------------------------------------------------------------

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

class Unit<bits<6> op> : Op<OU, op> {
  bits<14> y; bits<12> yi; bits<8> yj; bits<10> ni; bits<10> nj;
  let Dims = [Dim<"i", 1023, "ni">, Dim<"j", 1023, "nj">, Dim<"n", N>]; let Cycles = (plus (times $i, $j), 2); let Latency = 8;
  let Inst{23-10} = y; let Inst{35-24} = yi; let Inst{43-36} = yj; let Inst{53-44} = ni; let Inst{63-54} = nj;
}
class Codes<string base> : Window<SRAM, I8, ["i", "j", "n"], base, [base#"i", base#"j", "elem"]>;
class Row<string base> : Window<ACC, I32, ["n"], base, ["elem"]>;

def SCALE : Unit<16> {
  let Summary = "sums to codes: bias, factor, shift to the nearest, clamp";
  bits<11> c; bits<11> ci; bits<8> cj; bits<11> pb; bits<11> pf; bits<11> ps; bits<8> lo;
  let Operands = (ins Codes<"y">:$d, Window<ACC, I32, ["i", "j", "n"], "c", ["ci", "cj", "elem"]>:$x, Row<"pb">:$bias, Row<"pf">:$factor,
                      Row<"ps">:$shift, Imm<I8>:$lo);
  let Semantics = (set $d, (trunc8 (min (max (shrr (mul (sext64 (add $x, $bias)), (sext64 $factor)), (sext64 $shift)), (sext64 $lo)), (i64c 127))));
  let Signed = ["lo"];
  let Inst{74-64} = c; let Inst{85-75} = ci; let Inst{93-86} = cj; let Inst{104-94} = pb; let Inst{115-105} = pf; let Inst{126-116} = ps;
  let Inst{134-127} = lo;
}
#ifdef VECTOR_UNIT
// 64 vectors of 16 codes, each loaded, added and stored in a cycle.
def VR : Own { let Bytes = !mul(64, N); let RowBytes = N; let Banks = 4; let BytesPerCycle = !mul(4, N); let Latency = 1; }
class Vectors<string base> : Window<VR, I8, ["i", "j", "n"], base, [base#"i", base#"j", "elem"]>;
class Vector<Queue q, bits<6> op> : Op<q, op> {
  bits<6> v; bits<6> vi; bits<6> vj; bits<4> ni; bits<6> nj;
  let Dims = [Dim<"i", 8, "ni">, Dim<"j", 32, "nj">, Dim<"n", N>]; let Cycles = (times $i, $j); let Latency = 3;
  let Inst{15-10} = v; let Inst{21-16} = vi; let Inst{27-22} = vj; let Inst{31-28} = ni; let Inst{37-32} = nj;
}
#ifdef VECTORS_OUTSIDE
def OutsideVectors : Window<DRAM, I8, ["i", "j", "n"], "off", ["si", "sj", "elem"], 1> { let Slot = "arg"; }
class Through<Queue q, bits<6> op> : Vector<q, op> {
  bits<3> arg; bits<28> off; bits<20> si; bits<18> sj; let Mover = 1; let Buffer = 4096; let Signed = ["off"];
  let Inst{40-38} = arg; let Inst{68-41} = off; let Inst{88-69} = si; let Inst{106-89} = sj;
}
#else
class Through<Queue q, bits<6> op> : Vector<q, op> {
  bits<14> s; bits<12> si; bits<8> sj; let Inst{51-38} = s; let Inst{63-52} = si; let Inst{71-64} = sj;
}
#endif
#ifdef THREE_STEPS
def LINES : Own { let Bytes = !shl(1, 13); let RowBytes = N; let Banks = 4; let BytesPerCycle = !mul(4, N); let Latency = 1; }
class Lines<string base> : Window<LINES, I8, ["i", "j", "n"], base, [base#"i", base#"j", "elem"]>;
class ToLines<Queue q, bits<6> op> : Op<q, op> {
  bits<14> s; bits<12> si; bits<8> sj; bits<9> l; bits<9> li; bits<9> lj; bits<4> ni; bits<6> nj;
  let Dims = [Dim<"i", 8, "ni">, Dim<"j", 32, "nj">, Dim<"n", N>]; let Cycles = (times $i, $j); let Latency = 3;
  let Inst{23-10} = s; let Inst{35-24} = si; let Inst{43-36} = sj; let Inst{52-44} = l; let Inst{61-53} = li; let Inst{70-62} = lj;
  let Inst{74-71} = ni; let Inst{80-75} = nj;
}
def LINES_IN : ToLines<VL, 27> {
  let Summary = "vectors of SRAM to lines";
  let Operands = (ins Codes<"s">:$src, Lines<"l">:$dst); let Semantics = (set $dst, $src);
}
def LINES_OUT : ToLines<VS, 28> {
  let Summary = "vectors of lines to SRAM";
  let Operands = (ins Lines<"l">:$src, Codes<"s">:$dst); let Semantics = (set $dst, $src);
}
class Reached<string base> : Lines<base>;
#else
class Reached<string base> : Codes<base>;
#endif
def VLOAD : Through<VL, 24> {
  let Summary = "up to 8 by 32 vectors into registers";
#ifdef VECTORS_OUTSIDE
  let Operands = (ins OutsideVectors:$src, Vectors<"v">:$dst); let Semantics = (set $dst, $src);
#else
  let Operands = (ins Reached<"s">:$src, Vectors<"v">:$dst); let Semantics = (set $dst, $src);
#endif
}
def VSTORE : Through<VS, 25> {
  let Summary = "up to 8 by 32 vectors out of registers";
#ifdef VECTORS_OUTSIDE
  let Operands = (ins Vectors<"v">:$src, OutsideVectors:$dst); let Semantics = (set $dst, $src);
#else
  let Operands = (ins Vectors<"v">:$src, Reached<"s">:$dst); let Semantics = (set $dst, $src);
#endif
}
def VADD : Vector<VU, 26> {
  let Summary = "codes of two tensors in registers, added";
  bits<6> a; bits<6> ai; bits<6> aj; bits<6> b; bits<6> bi; bits<6> bj; bits<16> fa; bits<16> fb; bits<32> bias; bits<8> shift; bits<8> lo;
  let Operands = (ins Vectors<"a">:$x, Vectors<"b">:$z, Imm<I16>:$fa, Imm<I16>:$fb, Imm<I32>:$bias, Imm<I8>:$shift, Imm<I8>:$lo, Vectors<"v">:$d);
  let Semantics = (set $d, (trunc8 (min (max (shrr (add (add (mul (sext $x), (sext $fa)), (mul (sext $z), (sext $fb))), $bias), (sext $shift)),
                                             (sext $lo)), (i32c 127))));
  let Signed = ["fa", "fb", "bias", "shift", "lo"];
  let Inst{43-38} = a; let Inst{49-44} = ai; let Inst{55-50} = aj; let Inst{61-56} = b; let Inst{67-62} = bi; let Inst{73-68} = bj;
  let Inst{89-74} = fa; let Inst{105-90} = fb; let Inst{137-106} = bias; let Inst{145-138} = shift; let Inst{153-146} = lo;
}
#else
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
#endif
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

//===- nvdla.td - NVIDIA's Deep Learning Accelerator, 1,024 MACs ----------===//
//
// From NVDLA's public hardware manual (nvdla.org, "Hardware Architectural Specification" and "Unit Description"): the units CDMA
// (data and weights into the convolution buffer), CSC, CMAC and CACC, SDP behind them, PDP, and a bridge DMA; here with
// atoms of 32 channels by 32 kernels (the configuration nv_medium_1024_full) and 512 KiB of convolution buffer (nv_full's).
// SDP adds a bias of each kernel, multiplies by a factor of 16 bits of each kernel, shifts by one number a layer, halves
// away from 0, and saturates: no zero point, no clamp but the code's own. NVDLA is set up by writes to registers, a layer at
// a time, with two shadow sets, and sizes in them are one less than meant; the language has commands in queues, one for
// each unit. Assumed: a second memory of 512 KiB on the chip, through which all results go; 32 bytes a cycle outside;
// latencies; elementwise sums of two products, where NVDLA multiplies one operand; averages by PDP's sums and SDP's factor.
// With FULL (nvdla_full.td) atoms are of 64 channels by 32 kernels, as nv_full's: 2,048 MACs.
//===----------------------------------------------------------------------===//
include "pb.td"

defvar N = 32; // kernels
#ifdef FULL
defvar K = 64; // channels
defvar Most = 512; // rows, and columns, of a stripe
#else
defvar K = N;
defvar Most = 1024;
#endif

def nvdla : Chip {
  let Summary = "NVDLA with 1,024 MACs: convolution buffer, SDP and PDP";
  let Name = "nvdla"; let Schema = PB_SCHEMA; let Revision = 1; let Control = "queues";
  let MHz = 1000; let Arguments = 8; let CommandBytes = 32;
}

def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 30); let RowBytes = 32; let BytesPerCycle = 32; let Latency = 80; }
def CBUF : Memory { let Bytes = !shl(1, 19); let RowBytes = K; let Banks = 16; let BytesPerCycle = !mul(8, K); let Latency = 1; }
def SRAM : Memory { let Bytes = !shl(1, 19); let RowBytes = N; let Banks = 16; let BytesPerCycle = !mul(8, N); let Latency = 1; }
def CACC  : Memory { let Bytes = !shl(1, 18); let RowBytes = !mul(4, N); let Banks = 2; let BytesPerCycle = !mul(8, N); let Latency = 1; }
def WREG : Memory { let Kind = "registers"; let Bytes = !mul(4, !mul(K, N)); let RowBytes = N; let Banks = 4; let BytesPerCycle = N; }

def CDMA : Queue { let Depth = 8; let Tokens = 63; } // data into the convolution buffer
def CDMW : Queue { let Depth = 8; let Tokens = 63; } // weights, and SDP's operands (its own DMA)
def CSC  : Queue { let Depth = 8; let Tokens = 63; } // weights into the MAC cells' registers
def CMAC : Queue { let Depth = 8; let Tokens = 63; } // and CACC
def SDP  : Queue { let Depth = 8; let Tokens = 63; }
def PDP  : Queue { let Depth = 8; let Tokens = 63; }
def BDMA : Queue { let Depth = 8; let Tokens = 63; } // results out
def : Tokens { let Queues = [CDMA, CDMW, CSC, CMAC, SDP, PDP, BDMA]; let WaitBit = 216; let SignalBit = 232; }

class Op<Queue q, bits<6> op> : Instruction<q> { let Inst{255-250} = op; }

// DMA -----------------------------------------------------------------------------------------------------------------

class Dram<Type t> : Window<DRAM, t, ["i", "j", "b"], "off", ["si", "sj", "elem"], 1> { let Slot = "arg"; }
def Padded : Dram<I8> { let BoxLo = ["ilo", "jlo", ""]; let BoxHi = ["ihi", "jhi", ""]; let Fill = "fill"; }
class Inside<Memory m> : Window<m, I8, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>;

class Move<Queue q, bits<6> op> : Op<q, op> {
  bits<3> arg; bits<28> off; bits<20> si; bits<18> sj; bits<8> ni; bits<8> nj; bits<10> nb; bits<19> loc; bits<18> li; bits<14> lj;
  let Mover = 1; let Latency = 6; let Buffer = 4096;
  let Dims = [Dim<"i", 256, "ni">, Dim<"j", 256, "nj">, Dim<"b", 1024, "nb">];
  let Derived = [DerivedField<"ni", "minus">, DerivedField<"nj", "minus">, DerivedField<"nb", "minus">];
  let Inst{12-10} = arg; let Inst{40-13} = off; let Inst{60-41} = si; let Inst{78-61} = sj; let Inst{86-79} = ni; let Inst{94-87} = nj;
  let Inst{104-95} = nb; let Inst{123-105} = loc; let Inst{141-124} = li; let Inst{155-142} = lj;
  let Signed = ["off"];
  let Cycles = (times $i, (times $j, (ceildiv $b, 32)));
}
class Boxed<bits<6> op, Memory m> : Move<CDMA, op> {
  bits<9> ilo; bits<9> ihi; bits<9> jlo; bits<9> jhi; bits<8> fill;
  let Inst{164-156} = ilo; let Inst{173-165} = ihi; let Inst{182-174} = jlo; let Inst{191-183} = jhi; let Inst{199-192} = fill;
  let Operands = (ins Padded:$src, Inside<m>:$dst); let Semantics = (set $dst, $src); let Signed = ["fill", "off"];
}
def DATA : Boxed<1, CBUF> { let Summary = "feature data into the convolution buffer, padded"; }
def CUBE : Boxed<2, SRAM> { let Summary = "feature data for SDP, PDP and copies, padded"; }
def WEIGHTS : Move<CDMW, 3> {
  let Summary = "weights into the convolution buffer";
  let Operands = (ins Dram<I8>:$src, Inside<CBUF>:$dst); let Semantics = (set $dst, $src);
}
def OPERANDS : Move<CDMW, 4> {
  let Summary = "biases and factors of the kernels";
  let Operands = (ins Dram<I32>:$src, Window<CACC, I32, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$dst);
  let Semantics = (set $dst, $src); let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 32)));
}
def WRITE : Move<BDMA, 5> {
  let Summary = "results to DRAM";
  let Operands = (ins Inside<SRAM>:$src, Dram<I8>:$dst); let Semantics = (set $dst, $src);
}

// The array -----------------------------------------------------------------------------------------------------------

def KERNELS : Op<CSC, 8> {
  let Summary = "weights of 32 kernels, which lie behind each other, into shadow registers";
  bits<2> bank; bits<14> src;
  let Dims = [Dim<"k", K>, Dim<"n", N>];
  let Operands = (ins Window<CBUF, I8, ["k", "n"], "src", ["1", "elem"], N>:$s,
                      Window<WREG, I8, ["k", "n"], "bank", ["row", "elem"], !mul(K, N)>:$d);
  let Semantics = (set $d, $s); let Cycles = (plus K, 0); let Latency = 2;
  let Inst{11-10} = bank; let Inst{25-12} = src;
}
def STRIPE : Op<CMAC, 9> {
  let Summary = "a stripe of pixels by 32 kernels, into or onto accumulators";
  bits<2> bank; bits<1> keep; bits<14> a; bits<12> ai; bits<8> aj; bits<11> c; bits<11> ci; bits<8> cj; bits<10> ni; bits<10> nj;
  let Dims = [Dim<"i", Most, "ni">, Dim<"j", Most, "nj">, Dim<"n", N>, Dim<"k", K>];
  let Operands = (ins Window<CBUF, I8, ["i", "j", "k"], "a", ["ai", "aj", "elem"]>:$x,
                      Window<WREG, I8, ["k", "n"], "bank", ["row", "elem"], !mul(K, N)>:$w, Imm<I1>:$keep,
                      Window<CACC, I32, ["i", "j", "n"], "c", ["ci", "cj", "elem"]>:$y);
  let Derived = [DerivedField<"ni", "minus">, DerivedField<"nj", "minus">];
  let Semantics = (acc_add $y, $keep, (mul (sext $x), (sext $w))); let Cycles = (plus (times $i, $j), 1); let Latency = 36;
  let Inst{11-10} = bank; let Inst{12} = keep; let Inst{26-13} = a; let Inst{38-27} = ai; let Inst{46-39} = aj; let Inst{57-47} = c;
  let Inst{68-58} = ci; let Inst{76-69} = cj; let Inst{86-77} = ni; let Inst{96-87} = nj;
}

// SDP and PDP ---------------------------------------------------------------------------------------------------------

def : Formula<"sum"> {
  let Operands = (ins Element<I32>:$sum, ByChannel<I32>:$bias, ByChannel<I32>:$factor, Imm<I8>:$shift);
  let Value = (sat8 (shra (mul (sext64 (add $sum, $bias)), (sext64 $factor)), (sext64 $shift)));
  let FactorBits = 15; let MaxShift = 47; let MostOff = "0.01";
}
def : Formula<"add"> {
  let Operands = (ins Element<I8>:$a, Element<I8>:$b, Imm<I16>:$fa, Imm<I16>:$fb, Imm<I32>:$bias, Imm<I8>:$shift);
  let Value = (sat8 (shra (add (add (mul (sext $a), (sext $fa)), (mul (sext $b), (sext $fb))), $bias), (sext $shift)));
  let FactorBits = 15; let MaxShift = 22;
}

class Unit<Queue q, bits<6> op> : Op<q, op> {
  bits<14> y; bits<12> yi; bits<8> yj; bits<10> ni; bits<10> nj;
  let Dims = [Dim<"i", 1024, "ni">, Dim<"j", 1024, "nj">, Dim<"n", N>]; let Cycles = (plus (times $i, $j), 2); let Latency = 8;
  let Derived = [DerivedField<"ni", "minus">, DerivedField<"nj", "minus">];
  let Inst{23-10} = y; let Inst{35-24} = yi; let Inst{43-36} = yj; let Inst{53-44} = ni; let Inst{63-54} = nj;
}
class Codes<string base> : Window<SRAM, I8, ["i", "j", "n"], base, [base#"i", base#"j", "elem"]>;
class Row<string base> : Window<CACC, I32, ["n"], base, ["elem"]>;

def SCALE : Unit<SDP, 16> {
  let Summary = "sums to codes: bias, factor, one shift, saturation";
  bits<11> c; bits<11> ci; bits<8> cj; bits<11> pb; bits<11> pf; bits<8> shift;
  let Operands = (ins Codes<"y">:$d, Window<CACC, I32, ["i", "j", "n"], "c", ["ci", "cj", "elem"]>:$x, Row<"pb">:$bias, Row<"pf">:$factor,
                      Imm<I8>:$shift);
  let Semantics = (set $d, (sat8 (shra (mul (sext64 (add $x, $bias)), (sext64 $factor)), (sext64 $shift))));
  let Signed = ["shift"];
  let Inst{74-64} = c; let Inst{85-75} = ci; let Inst{93-86} = cj; let Inst{104-94} = pb; let Inst{115-105} = pf; let Inst{123-116} = shift;
}
def ELTWISE : Unit<SDP, 17> {
  let Summary = "codes of two cubes, added";
  bits<14> a; bits<12> ai; bits<8> aj; bits<14> b; bits<12> bi; bits<8> bj; bits<16> fa; bits<16> fb; bits<32> bias; bits<8> shift;
  let Operands = (ins Codes<"a">:$x, Codes<"b">:$z, Imm<I16>:$fa, Imm<I16>:$fb, Imm<I32>:$bias, Imm<I8>:$shift, Codes<"y">:$d);
  let Semantics = (set $d, (sat8 (shra (add (add (mul (sext $x), (sext $fa)), (mul (sext $z), (sext $fb))), $bias), (sext $shift))));
  let Signed = ["fa", "fb", "bias", "shift"];
  let Inst{77-64} = a; let Inst{89-78} = ai; let Inst{97-90} = aj; let Inst{111-98} = b; let Inst{123-112} = bi; let Inst{131-124} = bj;
  let Inst{147-132} = fa; let Inst{163-148} = fb; let Inst{195-164} = bias; let Inst{203-196} = shift;
}
class Pool<bits<6> op> : Unit<PDP, op> {
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

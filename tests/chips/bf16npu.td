//===- bf16npu.td - an array of bf16 with a vector unit of f32 -------------===//
//
// What several young companies build for inference without quantisation: a systolic array that multiplies bf16 and adds
// in f32, as TPU v2's does (N. Jouppi et al., "A Domain-Specific Supercomputer for Training Deep Neural Networks", CACM
// 2020), beside a vector unit of f32 that rounds to bf16 on its way to the array. All sizes, rates, latencies and
// encodings are assumed. A network of f32 runs with --precision=bf16; products of f32 there are none. HALVES makes it
// f16npu, whose array multiplies f16, and BYTES f8npu (WIDE_EXPONENT: those of OCP's E5M2, else of E4M3), whose array
// multiplies floats of 8 bits; with GATHER (bf16npu_gather.td) there is a command that gathers rows of a table, as TPU
// v4's SparseCore does for embeddings (N. Jouppi et al., "TPU v4", ISCA 2023), and one for numbers from the end; with
// NEAR (bf16npu_gather_near.td) out of the sums' memory; with PALETTE (bf16npu_palette.td) one that looks weights of 256
// values up by codes of 8 bits.
//===----------------------------------------------------------------------===//
include "pb.td"

defvar N = 32;
#ifdef HALVES
defvar Half = F16;
#else
#ifdef BYTES
#ifdef WIDE_EXPONENT
defvar Half = F8E5M2;
#else
defvar Half = F8E4M3;
#endif
#else
defvar Half = BF16;
#endif
#endif
defvar E = !div(Half.Bits, 8);

def : Chip {
  let Summary = !strconcat("Test chip: 32x32 ", Half.Name, " into f32, vectors of f32");
  let Name = !strconcat(Half.Name, "npu"); let Schema = PB_SCHEMA; let Revision = 1; let Control = "queues";
  let MHz = 1000; let Arguments = 12; let CommandBytes = 32;
}

def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 32); let RowBytes = 64; let BytesPerCycle = 64; let Latency = 100; }
def ACT  : Memory { let Bytes = !mul(E, !shl(1, 18)); let RowBytes = !mul(E, N); let Banks = 8; let BytesPerCycle = !mul(!mul(8, E), N); let Latency = 1; }
def ACC  : Memory { let Bytes = !shl(1, 18); let RowBytes = !mul(4, N); let Banks = 2; let BytesPerCycle = !mul(8, N); let Latency = 1; }
def VEC  : Memory { let Bytes = !shl(1, 18); let RowBytes = !mul(4, N); let Banks = 8; let BytesPerCycle = !mul(32, N); let Latency = 1; }
def WREG : Memory { let Kind = "registers"; let Bytes = !mul(!mul(4, E), !mul(N, N)); let RowBytes = !mul(E, N); let Banks = 4; let BytesPerCycle = !mul(E, N); }

def LD : Queue { let Depth = 16; let Tokens = 63; } // DMA in
def WT : Queue { let Depth = 16; let Tokens = 63; } // DMA of weights and biases
def TL : Queue { let Depth = 16; let Tokens = 63; } // weights into the array
def MX : Queue { let Depth = 16; let Tokens = 63; } // the array
def VX : Queue { let Depth = 16; let Tokens = 63; } // vectors
def ST : Queue { let Depth = 16; let Tokens = 63; } // DMA out
def : Tokens { let Queues = [LD, WT, TL, MX, VX, ST]; let WaitBit = 228; let SignalBit = 236; }

class Op<Queue q, bits<6> op> : Instruction<q> { let Inst{255-250} = op; }

// DMA: whole elements; what lies outside a box is filled ---------------------------------------------------------------

class Dram<Type t> : Window<DRAM, t, ["i", "j", "b"], "off", ["si", "sj", "elem"], E> { let Slot = "arg"; }
class Padded<Type t> : Dram<t> { let BoxLo = ["ilo", "jlo", ""]; let BoxHi = ["ihi", "jhi", ""]; let Fill = "fill"; }
class Inside<Memory m, Type t> : Window<m, t, ["i", "j", "b"], "loc", ["li", "lj", "elem"], E>;

class Move<Queue q, bits<6> op, int size> : Op<q, op> {
  bits<4> arg; bits<30> off; bits<20> si; bits<18> sj; bits<8> ni; bits<8> nj; bits<10> nb; bits<18> loc; bits<18> li; bits<14> lj;
  let Mover = 1; let Latency = 6; let Buffer = 8192;
  let Dims = [Dim<"i", 255, "ni">, Dim<"j", 255, "nj">, Dim<"b", 1023, "nb">];
  let Inst{3-0} = arg; let Inst{33-4} = off; let Inst{53-34} = si; let Inst{71-54} = sj; let Inst{79-72} = ni; let Inst{87-80} = nj;
  let Inst{97-88} = nb; let Inst{115-98} = loc; let Inst{133-116} = li; let Inst{147-134} = lj;
  let Signed = ["off"];
  let Cycles = (times $i, (times $j, (ceildiv (times $b, size), 64)));
}
class In<bits<6> op, Memory m, Type t> : Move<LD, op, !div(t.Bits, 8)> {
  bits<8> ilo; bits<8> ihi; bits<8> jlo; bits<8> jhi; bits<32> fill;
  let Inst{155-148} = ilo; let Inst{163-156} = ihi; let Inst{171-164} = jlo; let Inst{179-172} = jhi; let Inst{211-180} = fill;
  let Operands = (ins Padded<t>:$src, Inside<m, t>:$dst); let Semantics = (set $dst, $src);
}
def IN : In<1, ACT, Half> { let Summary = "factors to the array's memory, filling what lies outside"; }
def IN_VEC : In<2, VEC, F32> { let Summary = "f32 to the vectors' memory, filling what lies outside"; }
def IN_SUM : In<8, ACC, F32> { let Summary = "f32 to the sums, which grow from there"; }
class Weights<bits<6> op, Memory m, Type t> : Move<WT, op, !div(t.Bits, 8)> {
  let Operands = (ins Dram<t>:$src, Inside<m, t>:$dst); let Semantics = (set $dst, $src);
}
def WEIGHTS : Weights<3, ACT, Half> { let Summary = "weights to the array's memory"; }
def PARAMETERS : Weights<4, VEC, F32> { let Summary = "biases to the vectors' memory"; }
class Out<bits<6> op, Memory m, Type t> : Move<ST, op, !div(t.Bits, 8)> {
  let Operands = (ins Inside<m, t>:$src, Dram<t>:$dst); let Semantics = (set $dst, $src);
}
def OUT : Out<5, ACT, Half> { let Summary = "factors to DRAM"; }
def OUT_VEC : Out<6, VEC, F32> { let Summary = "f32 to DRAM"; }
def OUT_SUM : Out<7, ACC, F32> { let Summary = "sums to DRAM"; }

#ifdef PALETTE
def TAB : Memory { let Bytes = 1024; let RowBytes = 64; let BytesPerCycle = 64; let Latency = 1; }
def VALUES : Weights<11, TAB, Half> { let Summary = "a palette of weights to the table of such"; }
def Coded : Window<DRAM, I8, ["i", "j", "b"], "off", ["si", "sj", "elem"], 1> { let Slot = "arg"; }
def CODED_WEIGHTS : Op<WT, 12> {
  let Summary = "codes of 8 bits to the array's memory, as the weights that a palette has for them";
  bits<4> arg; bits<30> off; bits<20> si; bits<18> sj; bits<8> ni; bits<8> nj; bits<10> nb; bits<18> loc; bits<18> li; bits<14> lj; bits<4> t;
  let Dims = [Dim<"i", 255, "ni">, Dim<"j", 255, "nj">, Dim<"b", 1023, "nb">, Dim<"v", 256>]; let Latency = 6;
  let Operands = (ins Coded:$src, Window<TAB, Half, ["v"], "t", ["elem"]>:$table,
                      Inside<ACT, Half>:$dst);
  let Semantics = (set $dst, (lookup $table, (zext $src))); let Cycles = (times $i, (times $j, (ceildiv $b, 64)));
  let Inst{3-0} = arg; let Inst{33-4} = off; let Inst{53-34} = si; let Inst{71-54} = sj; let Inst{79-72} = ni; let Inst{87-80} = nj;
  let Inst{97-88} = nb; let Inst{115-98} = loc; let Inst{133-116} = li; let Inst{147-134} = lj; let Inst{151-148} = t;
  let Signed = ["off"];
}
#endif
#ifdef GATHER
#ifdef NEAR
def GatheredFrom : Window<ACC, F32, ["t", "b"], "off", ["st", "elem"], 2>;
#else
def GatheredFrom : Window<DRAM, F32, ["t", "b"], "off", ["st", "elem"], 2> { let Slot = "arg"; }
#endif
def ROWS : Op<LD, 11> {
  let Summary = "rows of a table, by numbers that lie among the vectors";
  bits<4> arg; bits<30> off; bits<20> st; bits<20> nt; bits<16> ids; bits<8> ni; bits<10> nb; bits<18> loc; bits<18> li;
  let Dims = [Dim<"t", 1048575, "nt">, Dim<"i", 255, "ni">, Dim<"b", 1023, "nb">];
  let Operands = (ins GatheredFrom:$table, Window<VEC, I32, ["i"], "ids", ["elem"], 4>:$rows,
                      Window<VEC, F32, ["i", "b"], "loc", ["li", "elem"], 2>:$dst);
  let Semantics = (set $dst, (gather $table, $rows)); let Cycles = (times $i, (ceildiv (times $b, 4), 64)); let Latency = 6;
  let Inst{3-0} = arg; let Inst{33-4} = off; let Inst{53-34} = st; let Inst{73-54} = nt; let Inst{89-74} = ids; let Inst{97-90} = ni;
  let Inst{107-98} = nb; let Inst{125-108} = loc; let Inst{143-126} = li;
  let Signed = ["off"];
}
#endif

// The array -----------------------------------------------------------------------------------------------------------

def TILE : Op<TL, 10> {
  let Summary = "a tile of 32x32 weights into one of four banks";
  bits<2> bank; bits<13> src; bits<8> step;
  let Dims = [Dim<"k", N>, Dim<"n", N>];
  let Operands = (ins Window<ACT, Half, ["k", "n"], "src", ["step", "elem"]>:$s,
                      Window<WREG, Half, ["k", "n"], "bank", ["row", "elem"], !mul(E, !mul(N, N))>:$d);
  let Semantics = (set $d, $s); let Cycles = (plus N, 0); let Latency = 2;
  let Inst{1-0} = bank; let Inst{14-2} = src; let Inst{22-15} = step;
}
def MULTIPLY : Op<MX, 9> {
  let Summary = "rows of rows by a tile of weights, into or onto sums of f32";
  bits<2> bank; bits<1> keep; bits<13> a; bits<12> ai; bits<8> aj; bits<11> c; bits<11> ci; bits<8> cj; bits<10> ni; bits<10> nj;
  let Dims = [Dim<"i", 1023, "ni">, Dim<"j", 1023, "nj">, Dim<"n", N>, Dim<"k", N>];
  let Operands = (ins Window<ACT, Half, ["i", "j", "k"], "a", ["ai", "aj", "elem"]>:$x,
                      Window<WREG, Half, ["k", "n"], "bank", ["row", "elem"], !mul(E, !mul(N, N))>:$w, Imm<I1>:$keep,
                      Window<ACC, F32, ["i", "j", "n"], "c", ["ci", "cj", "elem"]>:$y);
  let Semantics = (acc_add $y, $keep, (mul (extf $x), (extf $w))); let Cycles = (plus (times $i, $j), 1); let Latency = 40;
  let Inst{1-0} = bank; let Inst{2} = keep; let Inst{15-3} = a; let Inst{27-16} = ai; let Inst{35-28} = aj; let Inst{46-36} = c;
  let Inst{57-47} = ci; let Inst{65-58} = cj; let Inst{75-66} = ni; let Inst{85-76} = nj;
}

// Vectors: a row of 32 f32 a cycle --------------------------------------------------------------------------------------

class Unit<bits<6> op> : Op<VX, op> {
  bits<13> y; bits<12> yi; bits<8> yj; bits<10> ni; bits<10> nj; bits<13> a; bits<12> ai; bits<8> aj;
  let Dims = [Dim<"i", 511, "ni">, Dim<"j", 511, "nj">, Dim<"n", N>]; let Cycles = (plus (times $i, $j), 2); let Latency = 8;
  let Inst{12-0} = y; let Inst{24-13} = yi; let Inst{32-25} = yj; let Inst{42-33} = ni; let Inst{52-43} = nj; let Inst{65-53} = a;
  let Inst{77-66} = ai; let Inst{85-78} = aj;
}
class Two<bits<6> op> : Unit<op> { bits<13> b; bits<12> bi; bits<8> bj; let Inst{98-86} = b; let Inst{110-99} = bi; let Inst{118-111} = bj; }
class Pane<Memory m, Type t, string base> : Window<m, t, ["i", "j", "n"], base, [base#"i", base#"j", "elem"]>;
class Row<string base> : Window<VEC, F32, ["n"], base, ["elem"]>;
defvar Y = Pane<VEC, F32, "y">;
defvar A = Pane<VEC, F32, "a">;
defvar B = Pane<VEC, F32, "b">;
defvar SUM = Pane<ACC, F32, "a">;
defvar Zero = (f32c "0");

def COPY : Unit<16> { let Summary = "sums"; let Operands = (ins SUM:$x, Y:$d); let Semantics = (set $d, $x); }
class Biased<bits<6> op> : Unit<op> { bits<13> pb; let Inst{98-86} = pb; let Operands = (ins SUM:$x, Row<"pb">:$bias, Y:$d); }
def BIAS : Biased<17> { let Summary = "sums and a row of biases"; let Semantics = (set $d, (add $x, $bias)); }
def ADD : Two<18> { let Summary = "lane by lane"; let Operands = (ins A:$x, B:$z, Y:$d); let Semantics = (set $d, (add $x, $z)); }
def MUL : Two<19> { let Summary = "lane by lane"; let Operands = (ins A:$x, B:$z, Y:$d); let Semantics = (set $d, (mul $x, $z)); }
def RELU : Unit<20> {
  let Summary = "the larger of a number and 0; NaN stays";
  let Operands = (ins A:$x, Y:$d); let Semantics = (set $d, (select (less $x, Zero), Zero, $x));
}
def MAXIMUM : Unit<26> {
  let Summary = "the larger of a number and 0, of which -0 is below";
  let Operands = (ins A:$x, Y:$d); let Semantics = (set $d, (maximum $x, Zero));
}
def MASK : Unit<24> {
  let Summary = "numbers where a row of words has ones, else 0"; bits<13> pb; let Inst{98-86} = pb;
  let Operands = (ins A:$x, Window<VEC, I32, ["n"], "pb", ["elem"]>:$m, Y:$d);
  let Semantics = (set $d, (bitcast (and (bitcast $x), $m)));
}
def ROUND : Unit<21> {
  let Summary = "f32 to factors, for the array";
  let Operands = (ins A:$x, Pane<ACT, Half, "y">:$d); let Semantics = (set $d, (truncf $x));
}
def WIDEN : Unit<25> {
  let Summary = "factors to f32";
  let Operands = (ins Pane<ACT, Half, "a">:$x, Y:$d); let Semantics = (set $d, (extf $x));
}
def POOL : Unit<22> {
  let Summary = "the larger number"; bits<1> keep; let Inst{86} = keep;
  let Operands = (ins A:$x, Imm<I1>:$keep, Y:$d); let Semantics = (acc_maximum $d, $keep, $x);
}
def TOTAL : Unit<23> {
  let Summary = "sums of rows"; bits<1> keep; let Inst{86} = keep;
  let Operands = (ins A:$x, Imm<I1>:$keep, Row<"y">:$d); let Semantics = (acc_add $d, $keep, $x);
}
#ifdef GATHER
def FROM_END : Unit<27> {
  let Summary = "numbers of rows, of which those below 0 count from the end"; bits<32> count; let Inst{117-86} = count;
  let Operands = (ins Pane<VEC, I32, "a">:$x, Imm<I32>:$count, Pane<VEC, I32, "y">:$d); let Signed = ["count"];
  let Semantics = (set $d, (select (less $x, (i32c 0)), (add $x, $count), $x));
}
#endif

//===- gemmini.td - a chip in the manner of Gemmini, as a description only ===//
//
// After H. Genc et al., "Gemmini: Enabling Systematic Deep-Learning Architecture Evaluation via Full-Stack
// Integration", DAC 2021, and its public manual: a 16x16 weight-stationary array, a scratchpad of bytes and an
// accumulator of 32-bit words, and three controllers (load, execute, store) that run out of step. What is peculiar:
//  - strides, scales and clamps stand in configuration state (CONFIG_LD, CONFIG_EX, CONFIG_ST);
//  - PRELOAD brings the next weights into the array while COMPUTE goes on with those that are there: each cell has two
//    registers for them. It also says where the COMPUTEs after it put their sums, and whether they add; where the
//    weights stay, a PRELOAD of nothing says that. With PRELOAD_SAYS, as in gemmini_preload.td, it is so; else the two
//    are commands of their own, the first in a queue of its own, and COMPUTE names the register;
//  - there is no vector unit: moves scale, add and requantise on their way. A bias is moved in onto the sums; a
//    residual is two scaled moves into the accumulator, the second of which adds; codes are made while sums move out.
// Unlike Gemmini it scales by channel, rounds as this SDK's quantisation says, pools in the scratchpad, addresses the
// scratchpad by bytes, and has tokens between its queues instead of a reorder buffer.
//===----------------------------------------------------------------------===//
include "pb.td"

defvar D = 16;

def gemmini : Chip {
  let Name = "gemmini";
  let Summary = "Test chip in the manner of Gemmini: state, preload then compute, moves that requantise";
  let Schema = PB_SCHEMA; let Revision = 1; let Control = "queues"; let MHz = 1000; let Arguments = 8; let CommandBytes = 24;
}

def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 28); let RowBytes = 16; let BytesPerCycle = 16; let Latency = 80; }
def SP   : Memory { let Bytes = !mul(256, 1024); let RowBytes = D; let Banks = 4; let BytesPerCycle = !mul(4, D); let Latency = 1; }
def ACC  : Memory { let Bytes = !mul(64, 1024); let RowBytes = !mul(4, D); let Banks = 2; let BytesPerCycle = !mul(8, D); let Latency = 1; }
class Registers : Memory { let Bytes = !mul(2, !mul(D, D)); let RowBytes = D; let Banks = 2; let BytesPerCycle = D; }

// As deep as the reservation station of Gemmini's default configuration: 8, 16, 4.
def LD : Queue { let Depth = 8; }
def EX : Queue { let Depth = 16; }
def ST : Queue { let Depth = 4; }
#ifdef PRELOAD_SAYS
def PE : Registers { let Kind = "shadow"; }
defvar WX = EX;
defvar All = [LD, EX, ST];
#else
def PE : Registers { let Kind = "registers"; }
def WX : Queue { let Depth = 16; }
defvar All = [LD, EX, ST, WX];
#endif
def : Tokens { let Queues = All; let Most = 15; let WaitBit = 170; let SignalBit = 176; }

class Op<Queue q, bits<6> op> : Instruction<q> { let Inst{191-186} = op; }
// Writes the strides of moves, and more.
class Config<Queue q, bits<6> op> : Op<q, op>, Idle {
  bits<20> si; bits<20> sj; bits<20> li; bits<20> lj;
  let Inst{25-6} = si; let Inst{45-26} = sj; let Inst{65-46} = li; let Inst{85-66} = lj;
}

// Load: at most 16 x 16 runs of 64 elements -----------------------------------------------------------------------------

def CONFIG_LD : Config<LD, 1> {
  let Summary = "strides and scale of moves in";
  bits<32> scale; bits<8> zp;
  let Inst{117-86} = scale; let Inst{125-118} = zp;
  let Signed = ["zp"];
}

class Outside<Type t> : Window<DRAM, t, ["i", "j", "b"], "off", ["si", "sj", "elem"], 1> { let Slot = "arg"; }
def Padded : Outside<I8> { let BoxLo = ["ilo", "jlo", ""]; let BoxHi = ["ihi", "jhi", ""]; let Fill = "fill"; }
defvar InSP = Window<SP, I8, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>;

class AnyMove<Queue q, bits<6> op, string config> : Op<q, op> {
  bits<3> arg; bits<28> off; bits<5> ni; bits<5> nj; bits<20> si; bits<20> sj; bits<20> li; bits<20> lj;
  let Inst{8-6} = arg; let Inst{36-9} = off; let Inst{41-37} = ni; let Inst{46-42} = nj;
  let State = StateFields<config, ["si", "sj", "li", "lj"]>.All;
}
class Move<Queue q, bits<6> op, string config> : AnyMove<q, op, config> {
  bits<7> nb; bits<18> loc;
  let Dims = [Dim<"i", 16, "ni">, Dim<"j", 16, "nj">, Dim<"b", 64, "nb">];
  let Inst{53-47} = nb; let Inst{71-54} = loc;
  let Cycles = (times $i, (times $j, (ceildiv $b, 16))); let Latency = 6;
}

def MVIN : Move<LD, 2, "CONFIG_LD">, Copy {
  let Summary = "bytes into the scratchpad, filling what lies outside";
  bits<5> ilo; bits<5> ihi; bits<5> jlo; bits<5> jhi; bits<8> fill;
  let Operands = (ins Padded:$src, InSP:$dst);
  let Signed = ["fill", "off"];
  let Inst{76-72} = ilo; let Inst{81-77} = ihi; let Inst{86-82} = jlo; let Inst{91-87} = jhi; let Inst{99-92} = fill;
}

// Words of the accumulator, whose rows are the units of its addresses.
class MoveAcc<Queue q, bits<6> op, string config> : AnyMove<q, op, config> {
  bits<5> nb; bits<10> loc;
  let Dims = [Dim<"i", 16, "ni">, Dim<"j", 16, "nj">, Dim<"b", D, "nb">];
  let Inst{51-47} = nb; let Inst{61-52} = loc;
}
class MoveIn<bits<6> op> : MoveAcc<LD, op, "CONFIG_LD"> {
  let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 16))); let Latency = 6;
}
class InACC<Type t> : Window<ACC, t, ["i", "j", "b"], "loc", ["li", "lj", "elem"]>;

def MVIN_ACC : MoveIn<3>, Copy {
  let Summary = "words into the accumulator";
  let Operands = (ins Outside<I32>:$src, InACC<I32>:$dst);
}
def MVIN_ADD : MoveIn<4> {
  let Summary = "words onto the accumulator; a stride of 0 repeats a row";
  let Operands = (ins Outside<I32>:$src, InACC<I32>:$dst);
  let Semantics = (acc_add $dst, $src);
}
class Scaled<bits<6> op> : MoveIn<op> {
  bits<32> scale; bits<8> zp;
  let Operands = (ins Outside<I8>:$src, Imm<I8>:$zp, Imm<F32>:$scale, InACC<F32>:$dst);
  let State = StateFields<"CONFIG_LD", ["si", "sj", "li", "lj", "scale", "zp"]>.All;
  let Signed = ["zp"];
}
def MVIN_SCALE : Scaled<5> {
  let Summary = "codes into the accumulator, scaled";
  let Semantics = (set $dst, (mul (sub (sitofp $src), (sitofp $zp)), $scale));
}
def MVIN_SCALE_ADD : Scaled<6> {
  let Summary = "codes onto the accumulator, scaled";
  let Semantics = (acc_add $dst, (mul (sub (sitofp $src), (sitofp $zp)), $scale));
}
def MVIN_QUANT : Move<LD, 7, "CONFIG_LD"> {
  let Summary = "numbers into the scratchpad as codes";
  bits<32> scale; bits<8> zp; bits<8> lo; bits<8> hi;
  let Operands = (ins Outside<F32>:$src, Imm<F32>:$scale, Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi, InSP:$dst);
  let Semantics = (set $dst, (fptosi8 (min (max (add (roundeven (mul $src, $scale)), (sitofp $zp)), (sitofp $lo)), (sitofp $hi))));
  let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 16)));
  let State = StateFields<"CONFIG_LD", ["si", "sj", "li", "lj", "scale", "zp"]>.All;
  let Signed = ["zp", "lo", "hi"];
  let Inst{79-72} = lo; let Inst{87-80} = hi;
}

// Execute: at most 16 rows in one command -------------------------------------------------------------------------------

def CONFIG_EX : Op<EX, 16>, Idle {
  let Summary = "row strides of inputs and sums, and with PRELOAD_SAYS of weights";
  bits<14> db; bits<14> da; bits<10> dc;
  let Inst{19-6} = db; let Inst{33-20} = da; let Inst{43-34} = dc;
}
#ifdef PRELOAD_SAYS
defvar SAYS = "PRELOAD";
class Product<bits<6> op> : Op<EX, op> { bits<1> swap; let Inst{6} = swap; }
class Cells<string base> : Window<PE, I8, ["k", "n"], base, ["row", "elem"]>;
def ShadowWeights : Cells<"">;
def Weights : Cells<"swap">;
#else
defvar SAYS = "PRELOAD_NONE";
class Product<bits<6> op> : Op<EX, op> { bits<1> at; let Inst{6} = at; }
class Cells<string base> : Window<PE, I8, ["k", "n"], base, ["row", "elem"], !mul(D, D)>;
def ShadowWeights : Cells<"at">;
def Weights : Cells<"at">;
#endif
def PRELOAD : Op<WX, 17> {
  let Summary = "weights into the array; with PRELOAD_SAYS what PRELOAD_NONE says too";
  bits<14> b; bits<14> db;
  let Dims = [Dim<"k", D>, Dim<"n", D>];
  let Operands = (ins Window<SP, I8, ["k", "n"], "b", ["db", "elem"]>:$s, ShadowWeights:$d);
  let Semantics = (set $d, $s);
  let Cycles = (plus D, 0); let Latency = 1;
  let Inst{20-7} = b;
#ifdef PRELOAD_SAYS
  let Beside = 1;
  bits<10> c; bits<1> keep;
  let State = [StateField<"db", "CONFIG_EX">];
  let Inst{30-21} = c; let Inst{31} = keep;
#else
  bits<1> at;
  let Inst{6} = at; let Inst{45-32} = db;
#endif
}
def PRELOAD_NONE : Op<EX, 20>, Idle {
  let Summary = "where the next sums go, and whether they add to what is there";
  bits<10> c; bits<1> keep;
  let Inst{30-21} = c; let Inst{31} = keep;
#ifdef PRELOAD_SAYS
  let StateOf = "PRELOAD";
  let Beside = 1;
#endif
}
def COMPUTE : Product<18> {
  let Summary = "rows of the scratchpad times the weights";
  bits<5> m_; bits<14> a; bits<14> da; bits<10> c; bits<10> dc; bits<1> keep;
  let Dims = [Dim<"m", 16, "m_">, Dim<"n", D>, Dim<"k", D>];
  let Operands = (ins Weights:$w, Window<SP, I8, ["m", "k"], "a", ["da", "elem"]>:$x, Imm<I1>:$keep,
                      Window<ACC, I32, ["m", "n"], "c", ["dc", "elem"]>:$y);
  let Semantics = (acc_add $y, $keep, (mul (sext $x), (sext $w)));
  let Cycles = (plus $m, 2); let Latency = 16;
  let State = !listconcat(StateFields<"CONFIG_EX", ["da", "dc"]>.All, StateFields<SAYS, ["c", "keep"]>.All);
  let Inst{11-7} = m_; let Inst{25-12} = a;
}
def SUM : Op<EX, 19> {
  let Summary = "rows of the scratchpad, summed";
  bits<5> m_; bits<14> a; bits<14> da; bits<10> c; bits<1> keep;
  let Dims = [Dim<"m", 16, "m_">, Dim<"n", D>];
  let Operands = (ins Window<SP, I8, ["m", "n"], "a", ["da", "elem"]>:$x, Imm<I1>:$keep,
                      Window<ACC, I32, ["n"], "c", ["elem"]>:$y);
  let Semantics = (acc_add $y, $keep, (sext $x));
  let Cycles = (plus $m, 2); let Latency = 4;
  let State = [StateField<"da", "CONFIG_EX">];
  let Inst{10-6} = m_; let Inst{24-11} = a; let Inst{34-25} = c; let Inst{35} = keep;
}

// Store -----------------------------------------------------------------------------------------------------------------

def CONFIG_ST : Config<ST, 32> {
  let Summary = "strides of moves out; zero point and clamp of what they requantise";
  bits<8> zp; bits<8> lo; bits<8> hi;
  let Inst{93-86} = zp; let Inst{101-94} = lo; let Inst{109-102} = hi;
  let Signed = ["zp", "lo", "hi"];
}
def MVOUT : Move<ST, 33, "CONFIG_ST">, Copy {
  let Summary = "bytes out of the scratchpad";
  let Operands = (ins InSP:$src, Outside<I8>:$dst);
}

class MoveOut<bits<6> op> : MoveAcc<ST, op, "CONFIG_ST"> {
  let Cycles = (times $i, (times $j, 1)); let Latency = 8;
}
def MVOUT_ACC : MoveOut<34>, Copy {
  let Summary = "words out of the accumulator";
  let Operands = (ins InACC<I32>:$src, Outside<I32>:$dst);
}
class MoveCodes<bits<6> op> : MoveOut<op> {
  bits<8> zp; bits<8> lo; bits<8> hi;
  let State = StateFields<"CONFIG_ST", ["si", "sj", "li", "lj", "zp", "lo", "hi"]>.All;
  let Signed = ["zp", "lo", "hi"];
}
def MVOUT_REQUANT : MoveCodes<35> {
  let Summary = "sums out of the accumulator as codes, scaled by a row";
  bits<10> ps;
  let Operands = (ins InACC<I32>:$src, Window<ACC, F32, ["b"], "ps", ["elem"]>:$scale, Imm<I8>:$zp, Imm<I8>:$lo,
                      Imm<I8>:$hi, Outside<I8>:$dst);
  let Semantics = (set $dst, (fptosi8 (min (max (add (roundeven (mul (sitofp $src), $scale)), (sitofp $zp)), (sitofp $lo)),
                                           (sitofp $hi))));
  let Inst{71-62} = ps;
}
def MVOUT_ROUND : MoveCodes<36> {
  let Summary = "numbers out of the accumulator as codes";
  let Operands = (ins InACC<F32>:$src, Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi, Outside<I8>:$dst);
  let Semantics = (set $dst, (fptosi8 (min (max (add (roundeven $src), (sitofp $zp)), (sitofp $lo)), (sitofp $hi))));
}
def POOL : Op<ST, 37> {
  let Summary = "the larger of two rows of codes, in the scratchpad";
  bits<5> m_; bits<14> a; bits<14> da; bits<14> y; bits<14> dy; bits<1> keep;
  let Dims = [Dim<"m", 16, "m_">, Dim<"n", D>];
  let Operands = (ins Window<SP, I8, ["m", "n"], "a", ["da", "elem"]>:$x, Imm<I1>:$keep,
                      Window<SP, I8, ["m", "n"], "y", ["dy", "elem"]>:$d);
  let Semantics = (acc_max $d, $keep, $x);
  let Cycles = (plus $m, 0); let Latency = 4;
  let Inst{10-6} = m_; let Inst{24-11} = a; let Inst{38-25} = da; let Inst{52-39} = y; let Inst{66-53} = dy; let Inst{67} = keep;
}

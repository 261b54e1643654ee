//===- floatnpu.td - an array of f32 behind queues, as a description only -===//
//
// Four lanes of f32: an array that multiplies rows by a tile of weights, a
// vector unit, and movers of 4-byte elements that fill what lies outside a box.
// Moves in copy words, whatever they mean; moves out say f32. The fill is a word too.
//===----------------------------------------------------------------------===//
include "pb.td"

defvar N = 4;

def floatnpu : Chip {
  let Summary = "Test chip: a 4x4 array of f32, three queues, 32-byte commands";
  let Name = "floatnpu";
  let Schema = PB_SCHEMA;
  let Revision = 1;
  let Control = "queues";
  let MHz = 500;
  let Arguments = 12;
  let CommandBytes = 32;
}

def EXT : Memory { let Scope = "system"; let Bytes = !shl(1, 28); let RowBytes = 16; let BytesPerCycle = 16; let Latency = 40; }
def BUF : Memory { let Bytes = !mul(2048, !mul(4, N)); let RowBytes = !mul(4, N); let Banks = 2; let BytesPerCycle = !mul(16, N); let Latency = 1; }
def SUM : Memory { let Bytes = !mul(1024, !mul(4, N)); let RowBytes = !mul(4, N); let Banks = 2; let BytesPerCycle = !mul(8, N); let Latency = 1; }
def WB  : Memory { let Kind = "registers"; let Bytes = !mul(8, !mul(N, N)); let RowBytes = !mul(4, N); let Banks = 2; let BytesPerCycle = !mul(4, N); }

def DM : Queue { let Depth = 8; let Tokens = 15; }
def MX : Queue { let Depth = 8; let Tokens = 15; }
def VX : Queue { let Depth = 8; let Tokens = 15; }
def : Tokens { let Queues = [DM, MX, VX]; let WaitBit = 0; let SignalBit = 3; }

class Op<Queue q, bits<6> op> : Instruction<q> {
  let Inst{255-250} = op;
}

//===----------------------------------------------------------------------===//
// Movers
//===----------------------------------------------------------------------===//

class Ext<Type t> : Window<EXT, t, ["i", "j", "b"], "off", ["si", "sj", "elem"], 4> {
  let Slot = "arg";
}
class In<Memory m, Type t> : Window<m, t, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 4>;

class Move<bits<6> op> : Op<DM, op> {
  bits<4> arg; bits<26> off; bits<20> si; bits<20> sj; bits<8> ni; bits<8> nj; bits<10> nb;
  bits<15> loc; bits<15> li; bits<15> lj;
  let Mover = 1;
  let Dims = [Dim<"i", 255, "ni">, Dim<"j", 255, "nj">, Dim<"b", 1023, "nb">];
  let Inst{9-6} = arg;     let Inst{35-10} = off;   let Inst{55-36} = si;   let Inst{75-56} = sj;
  let Inst{83-76} = ni;    let Inst{91-84} = nj;    let Inst{101-92} = nb;
  let Inst{116-102} = loc; let Inst{131-117} = li;  let Inst{146-132} = lj;
  let Signed = ["off"];
  let Cycles = (times $i, (times $j, (ceildiv $b, 4)));
  let Latency = 8;
}

def Boxed : Ext<I32> {
  let BoxLo = ["ilo", "jlo", ""];
  let BoxHi = ["ihi", "jhi", ""];
  let Fill = "fill";
}
// A box of words: rows outside it are filled.
class Fill<bits<6> op, Memory m> : Move<op> {
  bits<8> ilo; bits<8> ihi; bits<8> jlo; bits<8> jhi; bits<32> fill;
  let Inst{154-147} = ilo; let Inst{162-155} = ihi; let Inst{170-163} = jlo; let Inst{178-171} = jhi;
  let Inst{210-179} = fill;
  let Operands = (ins Boxed:$src, In<m, I32>:$dst);
  let Semantics = (set $dst, $src);
}
def GETB : Fill<1, BUF> { let Summary = "words into the buffer, filling what lies outside"; }
def GETS : Fill<2, SUM> { let Summary = "words into the sums, filling what lies outside"; }

class Put<bits<6> op, Memory m> : Move<op> {
  let Operands = (ins In<m, F32>:$src, Ext<F32>:$dst);
  let Semantics = (set $dst, $src);
}
def PUTB : Put<3, BUF> { let Summary = "numbers out of the buffer"; }
def PUTS : Put<4, SUM> { let Summary = "numbers out of the sums"; }

//===----------------------------------------------------------------------===//
// The array
//===----------------------------------------------------------------------===//

def SETW : Op<MX, 8> {
  let Summary = "a tile of weights into one of two banks";
  bits<1> bank; bits<12> src; bits<12> step;
  let Dims = [Dim<"k", N>, Dim<"n", N>];
  let Operands = (ins Window<BUF, F32, ["k", "n"], "src", ["step", "elem"]>:$s,
                      Window<WB, F32, ["k", "n"], "bank", ["row", "elem"], !mul(4, !mul(N, N))>:$d);
  let Semantics = (set $d, $s);
  let Cycles = (plus N, 0);
  let Latency = 2;
  let Inst{6} = bank; let Inst{18-7} = src; let Inst{30-19} = step;
}
def MUL : Op<MX, 9> {
  let Summary = "rows times the weights in a bank; set or add to rows of sums";
  bits<1> bank; bits<1> keep; bits<8> n_; bits<12> a; bits<12> da; bits<12> c; bits<12> dc;
  let Dims = [Dim<"m", 255, "n_">, Dim<"n", N>, Dim<"k", N>];
  let Operands = (ins Window<WB, F32, ["k", "n"], "bank", ["row", "elem"], !mul(4, !mul(N, N))>:$wt,
                      Window<BUF, F32, ["m", "k"], "a", ["da", "elem"]>:$x, Imm<I1>:$keep,
                      Window<SUM, F32, ["m", "n"], "c", ["dc", "elem"]>:$y);
  let Semantics = (acc_add $y, $keep, (mul $x, $wt));
  let Cycles = (plus $m, 2);
  let Latency = 10;
  let Inst{6} = bank; let Inst{7} = keep; let Inst{15-8} = n_;
  let Inst{27-16} = a; let Inst{39-28} = da; let Inst{51-40} = c; let Inst{63-52} = dc;
}

//===----------------------------------------------------------------------===//
// The vector unit: from sums or the buffer into the buffer
//===----------------------------------------------------------------------===//

class Vec<bits<6> op> : Op<VX, op> {
  bits<8> n_; bits<12> a; bits<12> da; bits<12> y; bits<12> dy;
  let Dims = [Dim<"m", 255, "n_">, Dim<"n", N>];
  let Cycles = (times $m, 2);
  let Latency = 6;
  let Inst{13-6} = n_; let Inst{25-14} = a; let Inst{37-26} = da; let Inst{49-38} = y; let Inst{61-50} = dy;
}
class X<Memory m> : Window<m, F32, ["m", "n"], "a", ["da", "elem"]>;
defvar Y = Window<BUF, F32, ["m", "n"], "y", ["dy", "elem"]>;

def COPY : Vec<16> {
  let Summary = "sums into the buffer";
  let Operands = (ins X<SUM>:$x, Y:$d);
  let Semantics = (set $d, $x);
}
def BIAS : Vec<17> {
  let Summary = "sums and one row of numbers";
  bits<12> b;
  let Operands = (ins X<SUM>:$x, Window<BUF, F32, ["n"], "b", ["elem"]>:$v, Y:$d);
  let Semantics = (set $d, (add $x, $v));
  let Inst{73-62} = b;
}
multiclass Binary<bits<6> op, dag body> {
  def "" : Vec<op> {
    let Summary = "lane by lane";
    bits<12> b; bits<12> db;
    let Operands = (ins X<BUF>:$x, Window<BUF, F32, ["m", "n"], "b", ["db", "elem"]>:$v, Y:$d);
    let Semantics = body;
    let Inst{73-62} = b; let Inst{85-74} = db;
  }
}
defm ADD : Binary<18, (set $d, (add $x, $v))>;
defm MUL2 : Binary<19, (set $d, (mul $x, $v))>;
def MAXI : Vec<21> {
  let Summary = "the larger of a number and a constant; NaN stays";
  bits<32> least;
  let Operands = (ins X<BUF>:$x, Imm<F32>:$least, Y:$d);
  let Semantics = (set $d, (select (less $x, $least), $least, $x));
  let Inst{93-62} = least;
}
def POOL : Vec<22> {
  let Summary = "keep the larger";
  bits<1> keep;
  let Operands = (ins X<BUF>:$x, Imm<I1>:$keep, Y:$d);
  let Semantics = (acc_maximum $d, $keep, $x);
  let Inst{62} = keep;
}
def TOTAL : Vec<23> {
  let Summary = "sum over rows";
  bits<1> keep;
  let Operands = (ins X<BUF>:$x, Imm<I1>:$keep, Window<BUF, F32, ["n"], "y", ["elem"]>:$d);
  let Semantics = (acc_add $d, $keep, $x);
  let Inst{62} = keep;
}
class Whole<bits<6> op, dag body> : Vec<op> {
  let Summary = "whole numbers"; let Operands = (ins X<BUF>:$x, Y:$d); let Semantics = body;
}
def FLOOR : Whole<24, (set $d, (floor $x))>;
def CEIL : Whole<25, (set $d, (ceil $x))>;
def TOWARDS_0 : Whole<26, (set $d, (whole $x))>;

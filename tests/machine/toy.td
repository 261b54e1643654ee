// A chip that shares nothing with the others but the language: two queues, 8-byte rows, 16-byte commands, 16-bit data,
// windows that go backwards, a transposed operand, reductions over outer dims.
include "pb.td"

#ifdef VAST
defvar FAR_BITS = 48;
#else
defvar FAR_BITS = 20;
#endif

def toy : Chip {
  let Summary = "for the tests of the machine";
  let Name = "toy";
  let Schema = PB_SCHEMA;
  let Revision = 1;
  let Control = "queues";
  let Arguments = 4;
  let CommandBytes = 16;
}

def FAR : Memory { let Scope = "system"; let Bytes = !shl(1, FAR_BITS); let RowBytes = 8; let BytesPerCycle = 8; let Latency = 20; }
def BUF : Memory { let Bytes = 4096; let RowBytes = 8; let BytesPerCycle = 8; let Latency = 1; }

def A : Queue { let Depth = 2; let Tokens = 3; }
def B : Queue { let Depth = 2; let Tokens = 3; }
def : Tokens { let Queues = [A, B]; let WaitBit = 4; let SignalBit = 6; }

class Words<list<string> dims, list<string> strides> : Window<FAR, I16, dims, "off", strides, 2> { let Slot = "arg"; }
def BoxedWords : Words<["n"], ["step"]> { let BoxLo = ["lo"]; let BoxHi = ["hi"]; let Fill = "fill"; }

class Move<bits<4> op> : Instruction<A> {
  bits<2> arg; bits<12> off; bits<6> step; bits<12> loc; bits<4> n;
  let Mover = 1;
  let Dims = [Dim<"n", 15, "n">];
  let Inst{3-0} = op; let Inst{9-8} = arg; let Inst{21-10} = off; let Inst{27-22} = step; let Inst{39-28} = loc;
  let Inst{43-40} = n;
  let Cycles = (times 1, $n);
  let Latency = 2;
}
def LD : Move<1> {
  bits<4> lo; bits<4> hi; bits<16> fill;
  let Summary = "load 16-bit words, forwards or backwards";
  let Signed = ["step", "fill"];
  let Operands = (ins BoxedWords:$s, Window<BUF, I16, ["n"], "loc", ["elem"], 1>:$d);
  let Semantics = (set $d, $s);
  let Inst{47-44} = lo; let Inst{51-48} = hi; let Inst{67-52} = fill;
}
def ST : Move<2> {
  let Summary = "store 16-bit words";
  let Signed = ["step"];
  let Operands = (ins Window<BUF, I16, ["n"], "loc", ["elem"], 1>:$s, Words<["n"], ["step"]>:$d);
  let Semantics = (set $d, $s);
}

class Compute<bits<4> op> : Instruction<B> {
  bits<12> x; bits<12> w; bits<12> y; bits<1> acc; bits<4> n;
  let Inst{3-0} = op; let Inst{19-8} = x; let Inst{31-20} = w; let Inst{43-32} = y; let Inst{44} = acc; let Inst{48-45} = n;
  let Cycles = (plus $n, 1);
  let Latency = 3;
}
// Weights lie column by column, and k stands between the dims that are kept.
def DOT : Compute<3> {
  let Summary = "multiply n rows by a 3 x 5 matrix";
  let Dims = [Dim<"n", 15, "n">, Dim<"k", 3>, Dim<"m", 5>];
  let Operands = (ins Window<BUF, I8, ["m", "k"], "w", ["row", "elem"], 1>:$v, Window<BUF, I8, ["n", "k"], "x", ["row", "elem"], 1>:$u,
                      Window<BUF, I32, ["n", "m"], "y", ["stride", "elem"], 1>:$d, Imm<I1>:$acc);
  bits<6> stride;
  let Inst{54-49} = stride;
  let Semantics = (acc_add $d, $acc, (mul (sext $u), (sext $v)));
}
def COLS : Compute<4> {
  let Summary = "sum, column by column, half of what exceeds a bound";
  let Dims = [Dim<"n", 15, "n">, Dim<"m", 2>];
  let Operands = (ins Window<BUF, F32, ["n", "m"], "x", ["row", "elem"], 1>:$u, Window<BUF, F32, ["m"], "y", ["elem"], 1>:$d, Imm<I1>:$acc);
  let Semantics = (acc_add $d, $acc, (mul (max $u, (f32c "-1.5")), (f32c "0.5")));
}
def UADD : Compute<5> {
  let Summary = "add bytes without sign onto sums";
  let Dims = [Dim<"n", 15, "n">];
  let Operands = (ins Window<BUF, I8, ["n"], "x", ["elem"], 1>:$u, Window<BUF, I8, ["n"], "w", ["elem"], 1>:$v,
                      Window<BUF, I32, ["n"], "y", ["elem"], 1>:$d);
  let Semantics = (acc_add $d, (mul (zext $u), (sext $v)));
}
def ADDI : Compute<6> {
  let Summary = "bytes and a byte of the command, which is one with sign whatever its field says";
  bits<8> b;
  let Dims = [Dim<"n", 15, "n">];
  let Operands = (ins Window<BUF, I8, ["n"], "x", ["elem"], 1>:$u, Imm<I8>:$b, Window<BUF, I32, ["n"], "y", ["elem"], 1>:$d);
  let Semantics = (set $d, (add (sext $u), (sext $b)));
  let Inst{56-49} = b;
}

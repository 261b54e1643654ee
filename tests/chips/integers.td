//===- integers.td - operations on integers, as a description only --------===//
//
// What chips without floats compute: wide products, shifts of every kind, bits, comparisons, choices, saturation; and the
// way to floats and back. One command for each, on rows of four lanes, and fields that hold less than their numbers;
// pb-target-test runs them against its own reading of them.
//===----------------------------------------------------------------------===//
include "pb.td"

def integers : Chip {
  let Summary = "Test chip: operations on integers, one queue beside the movers'";
  let Name = "integers"; let Schema = PB_SCHEMA; let Revision = 1; let Control = "queues";
  let Arguments = 4; let CommandBytes = 16;
}

def EXT : Memory { let Scope = "system"; let Bytes = !shl(1, 20); let RowBytes = 16; let BytesPerCycle = 16; let Latency = 20; }
def ROW : Memory { let Bytes = 4096; let RowBytes = 16; let Banks = 2; let BytesPerCycle = 64; let Latency = 1; }

def DM : Queue { let Depth = 4; let Tokens = 7; }
def VX : Queue { let Depth = 4; let Tokens = 7; }
def : Tokens { let Queues = [DM, VX]; let WaitBit = 0; let SignalBit = 2; }

class Op<Queue q, bits<6> op> : Instruction<q> { let Inst{127-122} = op; let Latency = 3; }

class Move<bits<6> op> : Op<DM, op> {
  bits<2> arg; bits<20> off; bits<8> loc; bits<4> n; let Derived = [DerivedField<"n", "minus">];
  let Mover = 1; let Dims = [Dim<"i", 16, "n">, Dim<"b", 16>]; let Cycles = (plus $i, 1);
  let Inst{5-4} = arg; let Inst{25-6} = off; let Inst{33-26} = loc; let Inst{37-34} = n;
}
def Out : Window<EXT, I8, ["i", "b"], "off", ["row", "elem"], 1> { let Slot = "arg"; }
defvar In = Window<ROW, I8, ["i", "b"], "loc", ["row", "elem"]>;
def LOAD  : Move<1> { let Operands = (ins Out:$src, In:$dst); let Semantics = (set $dst, $src); }
def STORE : Move<2> { let Operands = (ins In:$src, Out:$dst); let Semantics = (set $dst, $src); }

class Lanes<bits<6> op> : Op<VX, op> {
  bits<8> a; bits<8> b; bits<8> y; bits<5> n; bits<8> s;
  let Dims = [Dim<"i", 16, "n">, Dim<"l", 4>]; let Cycles = (plus $i, 2);
  let Inst{11-4} = a; let Inst{19-12} = b; let Inst{27-20} = y; let Inst{32-28} = n; let Inst{40-33} = s;
  let Signed = ["s"];
}
class On<Type t, string base> : Window<ROW, t, ["i", "l"], base, ["row", "elem"]>;

class Two<bits<6> op, dag value, Type result = I32> : Lanes<op> {
  let Operands = (ins On<I32, "a">:$a, On<I32, "b">:$b, Imm<I8>:$s, On<result, "y">:$y);
  let Semantics = (set $y, value);
}
def ANDS   : Two<8, (and (or $a, (sext $s)), $b)>;
def XORS   : Two<9, (xor (xor $a, $b), (sext $s))>;
def SHLS   : Two<10, (shl $a, (add $b, (sext $s)))>;
def SHRS   : Two<11, (shr $a, (add $b, (sext $s)))>;
def SHRUS  : Two<12, (shru $a, (add $b, (sext $s)))>;
def FLOAT  : Two<35, (sitofp (shr (mul (sext64 $a), (sext64 $b)), (sext64 $s))), F32>;
def SHRRS  : Two<13, (shrr $a, (add $b, (sext $s)))>;
def SHRAS  : Two<14, (shra $a, (add $b, (sext $s)))>;
def CHOOSE : Two<15, (select (less $a, $b), (sub $b, (sext $s)), $a)>;
def SAME   : Two<16, (select (equal $a, (sext $s)), $b, (i32c -7))>;
def HIGH   : Two<17, (trunc32 (shr (mul (sext64 $a), (sext64 $b)), (zext64 $s)))>;
def NEAR   : Two<18, (trunc32 (shrr (mul (sext64 $a), (sext64 $b)), (zext64 $s)))>;
def FAR    : Two<19, (trunc32 (shra (mul (zext64 $a), (sext64 $b)), (zext64 $s)))>;
def BITS   : Two<20, (trunc32 (xor (and (shl (sext64 $a), (i64c 17)), (or (zext64 $b), (i64c 1099511627776))), (sext64 $s)))>;
def WIDE   : Two<21, (trunc32 (shru (select (less (sext64 $a), (sub (sext64 $b), (i64c 5))),
                                            (max (zext64 $a), (i64c 3)), (min (zext64 $b), (sext64 $s))), (i64c 3)))>;
def EVEN   : Two<22, (select (equal (add (zext64 $a), (sext64 $s)), (zext64 $b)), $a, (sub $a, $b))>;
def CODE   : Two<23, (sat8 (shra (mul (sext64 $a), (sext64 $b)), (zext64 $s))), I8>;
def CODES  : Two<24, (trunc8 (shr (add $a, $b), (and (sext $s), (i32c 15)))), I8>;
def HALVES : Two<25, (trunc16 (xor (mul (sext64 $a), (sext64 $b)), (sext64 $s))), I16>;
def NARROW : Lanes<26> {
  let Operands = (ins On<I8, "a">:$a, On<I16, "b">:$b, Imm<I8>:$s, On<I8, "y">:$y);
  let Semantics = (set $y, (sat8 (shrr (mul (zext $a), (sext $b)), (sext $s))));
}

class One<bits<6> op, Type from, Type to, dag value> : Lanes<op> {
  let Operands = (ins On<from, "a">:$x, On<to, "y">:$y); let Semantics = (set $y, value);
}
def ENDS   : One<32, I32, I16, (sat16 $x)>;
def WORDS  : One<33, F32, I32, (fptosi32 $x)>;
def SHORTS : One<34, F32, I16, (sat16 (fptosi32 (roundeven $x)))>;
def BYTES  : One<36, F32, I8, (fptoui8 $x)>;

// Codes of 4 bits, two in a byte, made, and read again: with a sign and without.
def PACK   : One<40, I32, I4, (trunc4 (min (max $x, (i32c -8)), (i32c 7)))>;
def PACK64 : One<41, I32, I4, (trunc4 (shr (sext64 $x), (i64c 28)))>;
def WIDEN  : One<42, I4, I32, (sext $x)>;
def WIDENU : One<43, I4, I16, (trunc16 (add (zext $x), (i32c 3)))>;
def LOW    : One<44, I4, I4, (trunc4 (add (sext $x), (i32c 5)))>;

// Largest numbers without a sign, of rows: of what is there, or of 0.
class Largest<bits<6> op, Type t> : Lanes<op> {
  bits<1> keep; let Inst{41} = keep;
  let Operands = (ins On<t, "a">:$x, Imm<I1>:$keep, Window<ROW, t, ["l"], "y", ["elem"]>:$y); let Semantics = (acc_maxu $y, $keep, $x);
}
def MOST8  : Largest<37, I8>;
def MOST16 : Largest<38, I16>;
def MOST32 : Largest<39, I32>;

// Counts less one, strides as logarithms or less one, bases in blocks of 16 rows, factors as logarithms, numbers in threes.
defvar Always = [DerivedField<"a", "scaled", 16>, DerivedField<"ai", "log2">, DerivedField<"yi", "minus">, DerivedField<"n", "minus">];
class Coded<bits<6> op> : Op<VX, op> {
  bits<4> a; bits<3> ai; bits<8> y; bits<2> yi; bits<4> n; bits<5> f; bits<6> p;
  let Dims = [Dim<"i", 16, "n">, Dim<"l", 4>]; let Cycles = (plus $i, 2);
  let Operands = (ins Window<ROW, I32, ["i", "l"], "a", ["ai", "elem"]>:$a, Imm<I32>:$f, Imm<I32>:$p,
                      Window<ROW, I32, ["i", "l"], "y", ["yi", "elem"]>:$y);
  let Semantics = (set $y, (add (mul $a, $f), $p)); let Signed = ["p"];
  let Inst{7-4} = a; let Inst{10-8} = ai; let Inst{18-11} = y; let Inst{20-19} = yi; let Inst{24-21} = n;
}
def TIMES : Coded<27> {
  let Derived = !listconcat(Always, [DerivedField<"f", "log2">, DerivedField<"p", "scaled", 3>]);
  let Inst{29-25} = f; let Inst{35-30} = p;
}
// The same with both numbers in state: a reader means what the writer's field does.
def SET_TIMES : Op<VX, 28> {
  bits<5> f; bits<6> p; let Dims = []; let Operands = (ins); let Cycles = (plus 1, 0); let Signed = ["p"];
  let Derived = [DerivedField<"f", "log2">, DerivedField<"p", "scaled", 3>]; let Inst{8-4} = f; let Inst{14-9} = p;
}
def TIMES_SET : Coded<29> {
  let Derived = Always; let State = [StateField<"f", "SET_TIMES", "f">, StateField<"p", "SET_TIMES", "p">];
}

// Strides that the hardware knows: blocks of 4 lines of 4 words, 48 bytes a line and two blocks beside each other, as rows
// behind each other.
def UNBLOCK : Op<VX, 30> {
  bits<12> a; bits<8> y; bits<3> n;
  let Dims = [Dim<"b", 8, "n">, Dim<"r", 4>, Dim<"l", 4>]; let Cycles = (times $b, 4); let Derived = [DerivedField<"n", "minus">];
  let Operands = (ins Window<ROW, I32, ["b", "r", "l"], "a", ["16", "48", "elem"], 1>:$a,
                      Window<ROW, I32, ["b", "r", "l"], "y", ["4", "row", "elem"]>:$y);
  let Semantics = (set $y, (add $a, (i32c 1))); let Inst{15-4} = a; let Inst{23-16} = y; let Inst{26-24} = n;
}

// Matrices in fractals of 4x4 words, as a cube core has them: the first by rows of fractals that are rows (zZ), the second
// by rows of fractals that are columns (nZ), the result by columns of fractals that are rows (zN).
def FRACTALS : Op<VX, 31> {
  bits<8> a; bits<5> am; bits<8> b; bits<5> bk; bits<8> y; bits<5> yq; bits<3> m; bits<3> k; bits<3> q; bits<1> keep;
  let Dims = [Dim<"m", 4, "m">, Dim<"k", 4, "k">, Dim<"q", 4, "q">, Dim<"r", 4>, Dim<"n", 4>, Dim<"c", 4>];
  let Operands = (ins Window<ROW, I32, ["m", "k", "r", "c"], "a", ["am", "4", "row", "elem"]>:$a,
                      Window<ROW, I32, ["k", "q", "n", "c"], "b", ["bk", "4", "row", "elem"]>:$b, Imm<I1>:$keep,
                      Window<ROW, I32, ["q", "m", "r", "n"], "y", ["yq", "4", "row", "elem"]>:$y);
  let Semantics = (acc_add $y, $keep, (mul $a, $b)); let Cycles = (times $m, (times $k, $q));
  let Inst{11-4} = a; let Inst{16-12} = am; let Inst{24-17} = b; let Inst{29-25} = bk; let Inst{37-30} = y; let Inst{42-38} = yq;
  let Inst{45-43} = m; let Inst{48-46} = k; let Inst{51-49} = q; let Inst{52} = keep;
}

//===- ascend.td - the cube core of Ascend ---------------------------------===//
//
// From H. Liao et al., "Ascend: a Scalable and Unified Architecture for Ubiquitous Deep Neural Network Computing",
// HPCA 2021, the core of Ascend 910: a cube of 16x32x16 products of int8 a cycle at 1 GHz, L1 of 1 MiB, L0A and L0B of 64 KiB
// that feed it, L0C of 256 KiB for its sums, a unified buffer of 256 KiB and a vector unit of 2,048 bits, five pipes (MTE1,
// MTE2, MTE3, cube, vector) that wait for each other by flags. MTE1 makes columns of images on its way from L1 to L0A; the
// MTEs have a module that transposes, too. As the Ascend C guide says, L0A and L0B hold fractals of 16x32 codes: in L0A rows
// behind rows (zZ), a row of the memory is a fractal, and matrices begin there; in L0B columns behind columns, whose 32 codes
// are summed (nZ).
// Assumed, as the paper does not say it or the language cannot yet: rows of 32 channels on both sides of the cube, whose
// 16 columns are two cycles, so sums in L0C as rows of 32 words, not as fractals of 16x16; one fractal of the sum in each
// command, so that a matrix in L0A has one column of fractals; 128 bytes a cycle from outside; a unified buffer of two
// halves, one for codes, one for words; all latencies and encodings; that lines of images are transposed on their way from
// outside, at the rate of the port; 64 commands fetched ahead, loops as the scalar unit's; scales by channel in f32, codes
// that round to even, and sums of an average over pixels in L0C.
//
// With SIXTEEN (ascend_cube.td) the cube is the paper's: 16 columns in a cycle, one fractal of weights in a command, and sums in
// L0C as columns of fractals of 16x16 words (zN), where matrices begin at any row of one.
//===----------------------------------------------------------------------===//
include "pb.td"

defvar N = 32;
defvar Fractal = !mul(16, N); // bytes: 16 rows of 32 codes
#ifdef SIXTEEN
defvar C = 16; // columns of the cube
#else
defvar C = N;
#endif

def ascend : Chip {
  let Summary = "Ascend's cube core (HPCA 2021): 16x32x16 int8 a cycle between L0A, L0B and L0C";
  let Name = "ascend"; let Schema = PB_SCHEMA; let Revision = 1; let Control = "queues";
  let MHz = 1000; let Arguments = 8; let CommandBytes = 32;
  let CommandPort = 1; // the instruction cache
}

def GM  : Memory { let Scope = "system"; let Bytes = !shl(1, 32); let RowBytes = 32; let BytesPerCycle = 128; let Latency = 200; }
def L1  : Memory { let Bytes = !shl(1, 20); let RowBytes = N; let Banks = 8; let BytesPerCycle = !mul(32, N); let Latency = 2; }
def L0A : Memory { let Bytes = !shl(1, 16); let RowBytes = Fractal; let Banks = 16; let BytesPerCycle = !mul(32, N); let Latency = 1; }
def L0B : Memory { let Kind = "registers"; let Bytes = !shl(1, 16); let RowBytes = N; let Banks = 4; let BytesPerCycle = !mul(16, N); }
def L0C : Memory { let Bytes = !shl(1, 18); let RowBytes = !mul(4, C); let Banks = 8; let BytesPerCycle = !mul(32, !mul(4, N)); let Latency = 1; }
def UB  : Memory { let Bytes = !shl(1, 17); let RowBytes = N; let Banks = 8; let BytesPerCycle = !mul(32, N); let Latency = 1; }
def UBW : Memory { let Bytes = !shl(1, 17); let RowBytes = !mul(4, N); let Banks = 8; let BytesPerCycle = !mul(32, N); let Latency = 1; }

def MTE2 : Queue { let Depth = 64; let Tokens = 15; } // from outside
def MTE1 : Queue { let Depth = 64; let Tokens = 15; } // L1 to L0A and L0B
def M    : Queue { let Depth = 64; let Tokens = 15; } // the cube
def V    : Queue { let Depth = 64; let Tokens = 15; } // vectors
def MTE3 : Queue { let Depth = 64; let Tokens = 15; } // to outside
def : Tokens { let Queues = [MTE2, MTE1, M, V, MTE3]; let WaitBit = 0; let SignalBit = 5; }

// Loops run in the core's scalar unit, which hands commands to the pipes.
def LOOP : HardwareLoop {
  bits<16> turns; bits<6> body; let Turns = "turns"; let Body = "body"; let MaxBody = 32;
  let Inst{255-250} = 63; let Inst{25-10} = turns; let Inst{31-26} = body;
}

class Op<Queue q, bits<6> op> : Instruction<q> { let Inst{255-250} = op; }

class Outside<Type t> : Window<GM, t, ["i", "j", "b"], "off", ["si", "sj", "elem"], 1> { let Slot = "arg"; }
def Padded : Outside<I8> { let BoxLo = ["ilo", "jlo", "blo"]; let BoxHi = ["ihi", "jhi", "bhi"]; let Fill = "fill"; }
class Inside<Memory m, Type t> : Window<m, t, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>;

class Move<Queue q, bits<6> op> : Op<q, op> {
  bits<3> arg; bits<30> off; bits<20> si; bits<20> sj; bits<9> ni; bits<9> nj; bits<12> nb; bits<20> loc; bits<18> li; bits<16> lj;
  let Mover = 1; let Latency = 8; let Dims = [Dim<"i", 511, "ni">, Dim<"j", 511, "nj">, Dim<"b", 4095, "nb">];
  let Inst{12-10} = arg; let Inst{42-13} = off; let Inst{62-43} = si; let Inst{82-63} = sj; let Inst{91-83} = ni; let Inst{100-92} = nj;
  let Inst{112-101} = nb; let Inst{132-113} = loc; let Inst{150-133} = li; let Inst{166-151} = lj;
  let Signed = ["off"]; let Cycles = (times $i, (times $j, (ceildiv $b, 128)));
}
class Boxed<bits<6> op, Window to> : Move<MTE2, op> {
  bits<9> ilo; bits<9> ihi; bits<9> jlo; bits<9> jhi; bits<12> blo; bits<12> bhi; bits<8> fill;
  let Inst{175-167} = ilo; let Inst{184-176} = ihi; let Inst{193-185} = jlo; let Inst{202-194} = jhi; let Inst{210-203} = fill;
  let Inst{222-211} = blo; let Inst{234-223} = bhi;
  let Operands = (ins Padded:$src, to:$dst); let Semantics = (set $dst, $src); let Signed = ["fill", "off"];
}
def LOAD_L1 : Boxed<1, Inside<L1, I8>> { let Summary = "codes and weights into L1, filling what lies outside"; }
// The transposing module: neighbours outside lie apart in L1, so that rows of several planes become lanes of one row.
def LOAD_TRANS : Boxed<6, Window<L1, I8, ["i", "j", "b"], "loc", ["li", "lj", "lb"], 1>> {
  let Summary = "codes into L1, a line outside down a column inside, filling what lies outside";
  bits<12> lb; let Inst{246-235} = lb; let Cycles = (plus (times $i, (times $j, (ceildiv $b, 128))), N);
}
def LOAD_UB : Boxed<2, Inside<UB, I8>> { let Summary = "codes into the unified buffer, filling what lies outside"; }
def LOAD_UB_WORDS : Move<MTE2, 3> {
  let Summary = "words into the unified buffer"; let Operands = (ins Outside<I32>:$src, Inside<UBW, I32>:$dst);
  let Semantics = (set $dst, $src); let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 128)));
}
def STORE : Move<MTE3, 4> {
  let Summary = "codes out"; let Operands = (ins Inside<UB, I8>:$src, Outside<I8>:$dst); let Semantics = (set $dst, $src);
}
def STORE_WORDS : Move<MTE3, 5> {
  let Summary = "words out"; let Operands = (ins Inside<UBW, I32>:$src, Outside<I32>:$dst); let Semantics = (set $dst, $src);
  let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 128)));
}

def LOAD_L0A : Op<MTE1, 8> { // 16 rows a cycle
  let Summary = "rows of an image as columns of the cube";
  bits<15> a; bits<12> ai; bits<10> aj; bits<9> ni; bits<9> nj; bits<7> y; bits<11> yi; bits<11> yj; let Latency = 4; let Derived = [DerivedField<"y", "scaled", 16>];
  let Dims = [Dim<"i", 511, "ni">, Dim<"j", 511, "nj">, Dim<"k", N>];
  let Operands = (ins Window<L1, I8, ["i", "j", "k"], "a", ["ai", "aj", "elem"]>:$src,
                      Window<L0A, I8, ["i", "j", "k"], "y", ["yi", "yj", "elem"], N>:$dst);
  let Semantics = (set $dst, $src); let Cycles = (ceildiv (times $i, $j), 16);
  let Inst{24-10} = a; let Inst{36-25} = ai; let Inst{46-37} = aj; let Inst{55-47} = ni; let Inst{64-56} = nj;
  let Inst{71-65} = y; let Inst{86-76} = yi; let Inst{97-87} = yj;
}
// A tile of weights is a fractal of 16 columns, whose 32 codes each are summed, or two: L0B has columns behind columns.
class Weights<bits<6> op, Window from> : Op<MTE1, op> {
  let Derived = [DerivedField<"at", "scaled", 16>]; bits<7> at; let Inst{16-10} = at;
#ifdef SIXTEEN
  bits<16> src; bits<11> step; let Inst{32-17} = src; let Inst{43-33} = step;
#else
  bits<15> src; bits<10> step; let Inst{31-17} = src; let Inst{41-32} = step;
#endif
  let Dims = [Dim<"n", C>, Dim<"k", N>]; let Cycles = (plus !div(C, 16), 0); let Latency = 4; let Semantics = (set $d, $s);
  let Operands = (ins from:$s, Window<L0B, I8, ["n", "k"], "at", ["1", "elem"], N>:$d);
}
def LOAD_L0B : Weights<9, Window<L1, I8, ["n", "k"], "src", ["step", "elem"], C>> { let Summary = "32 weights of each column"; }
def LOAD_L0B_TRANS : Weights<11, Window<L1, I8, ["k", "n"], "src", ["step", "elem"], C>> {
  let Summary = "weights that lie row by row: the transposing module turns them";
}
def MMAD : Op<M, 10> {
  let Summary = "rows by 32 weights of each column: 16 rows by 16 columns a cycle";
  bits<7> at; bits<1> keep; bits<11> m; bits<7> a; let Derived = [DerivedField<"at", "scaled", 16>, DerivedField<"a", "scaled", 16>];
#ifdef SIXTEEN
  bits<12> c; let Inst{51-40} = c; defvar Apart = "1";
#else
  bits<11> c; bits<8> dc; let Inst{50-40} = c; let Inst{58-51} = dc; defvar Apart = "dc";
#endif
  let Dims = [Dim<"m", 1023, "m">, Dim<"n", C>, Dim<"k", N>];
  let Operands = (ins Window<L0B, I8, ["n", "k"], "at", ["1", "elem"], N>:$w, Window<L0A, I8, ["m", "k"], "a", ["1", "elem"], N>:$x,
                      Imm<I1>:$keep, Window<L0C, I32, ["m", "n"], "c", [Apart, "elem"], !mul(4, C)>:$y);
  let Semantics = (acc_add $y, $keep, (mul (sext $x), (sext $w))); let Cycles = (times !div(C, 16), (ceildiv $m, 16)); let Latency = 12;
  let Inst{16-10} = at; let Inst{17} = keep; let Inst{28-18} = m; let Inst{35-29} = a;
}

// Vectors: 256 bytes a cycle, which is two rows of 32 f32 and eight of codes.
class Vec<bits<6> op> : Op<V, op> {
  bits<12> m; bits<13> a; bits<10> da; bits<13> y; bits<10> dy;
  let Dims = [Dim<"m", 1000, "m">, Dim<"n", C>]; let Cycles = (plus (ceildiv $m, !div(64, C)), 1); let Latency = 8;
  let Inst{21-10} = m; let Inst{34-22} = a; let Inst{44-35} = da; let Inst{57-45} = y; let Inst{67-58} = dy;
}
class Code<bits<6> op> : Vec<op> {
  bits<8> zp; bits<8> lo; bits<8> hi; bits<13> ps; let Signed = ["zp", "lo", "hi"];
  let Inst{75-68} = zp; let Inst{83-76} = lo; let Inst{91-84} = hi; let Inst{104-92} = ps;
}
defvar YC = Window<UB, I8, ["m", "n"], "y", ["dy", "elem"], C>;
defvar AC = Window<UB, I8, ["m", "n"], "a", ["da", "elem"], C>;
defvar PS = Window<UBW, F32, ["n"], "ps", ["elem"], !mul(4, C)>;

def REQUANT : Code<16> {
  let Summary = "sums out of L0C to codes: bias, scale, round, clamp"; bits<13> pb; let Inst{117-105} = pb;
  let Operands = (ins YC:$d, Window<L0C, I32, ["m", "n"], "a", ["da", "elem"], !mul(4, C)>:$x, Window<UBW, I32, ["n"], "pb", ["elem"], !mul(4, C)>:$bias, PS:$scale,
                      Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi);
  let Semantics = (set $d, (fptosi8 (min (max (add (roundeven (mul (sitofp (add $x, $bias)), $scale)), (sitofp $zp)), (sitofp $lo)), (sitofp $hi))));
}
def ADD_CODES : Code<18> {
  let Summary = "codes of two tensors, added"; bits<13> b; bits<10> db; bits<13> psb; bits<8> za; bits<8> zb;
  let Operands = (ins AC:$x, Window<UB, I8, ["m", "n"], "b", ["db", "elem"], C>:$z, PS:$sa, Window<UBW, F32, ["n"], "psb", ["elem"], !mul(4, C)>:$sb,
                      Imm<I8>:$za, Imm<I8>:$zb, Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi, YC:$d);
  let Semantics = (set $d, (fptosi8 (min (max (add (roundeven (add (mul (sub (sitofp $x), (sitofp $za)), $sa),
                      (mul (sub (sitofp $z), (sitofp $zb)), $sb))), (sitofp $zp)), (sitofp $lo)), (sitofp $hi))));
  let Signed = ["za", "zb", "zp", "lo", "hi"];
  let Inst{117-105} = b; let Inst{127-118} = db; let Inst{140-128} = psb; let Inst{148-141} = za; let Inst{156-149} = zb;
}
def QUANT : Code<19> {
  let Summary = "f32 to codes";
  let Operands = (ins Window<UBW, F32, ["m", "n"], "a", ["da", "elem"], !mul(4, C)>:$x, PS:$scale, Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi, YC:$d);
  let Semantics = (set $d, (fptosi8 (min (max (add (roundeven (mul $x, $scale)), (sitofp $zp)), (sitofp $lo)), (sitofp $hi))));
}
def MAX : Vec<20> {
  let Summary = "the larger code"; bits<1> keep; let Inst{68} = keep; let Cycles = (plus (ceildiv $m, !div(256, C)), 1);
  let Operands = (ins AC:$x, Imm<I1>:$keep, YC:$d); let Semantics = (acc_max $d, $keep, $x);
}
def SUM : Vec<21> {
  let Summary = "sums of codes, where those of the cube are"; bits<1> keep; let Inst{68} = keep;
  let Operands = (ins AC:$x, Imm<I1>:$keep, Window<L0C, I32, ["n"], "y", ["elem"], !mul(4, C)>:$d); let Semantics = (acc_add $d, $keep, (sext $x));
}
def DEQUANT : Vec<22> {
  let Summary = "codes to f32"; bits<13> ps; bits<8> za; let Inst{80-68} = ps; let Inst{88-81} = za; let Signed = ["za"];
  let Operands = (ins AC:$x, PS:$scale, Imm<I8>:$za, Window<UBW, F32, ["m", "n"], "y", ["dy", "elem"], !mul(4, C)>:$d);
  let Semantics = (set $d, (mul (sub (sitofp $x), (sitofp $za)), $scale));
}

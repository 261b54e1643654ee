//===- simnpu.td - the SDK's reference NPU --------------------------------===//
//
// A weight-stationary D x D int8 array with weights in four banks, a banked
// scratchpad and accumulator, a vector unit that reads and writes both, and
// movers to and from DRAM. Seven parts work at once, each fed by a queue of its
// own; tokens order them. RTL: rtl/, which takes its parameters from this file.
//===----------------------------------------------------------------------===//
include "pb.td"

#ifdef VARIANT_8
defvar D = 8;
#else
#ifdef VARIANT_32
defvar D = 32;
#else
defvar D = 16;
#endif
#endif

def simnpu : Chip {
  let Summary = "Reference NPU: a DxD int8 systolic array with scratchpad, accumulator and vector unit";
  let Name = "simnpu";
  let Schema = PB_SCHEMA;
  let Revision = 3; // numbers of rows of f32 stand in all lanes, as those of codes do
  let Control = "queues";
  let Variants = ["8", "32"];
  let MHz = 1000;
  let Arguments = 16;
  let CommandBytes = 32;
}

//===----------------------------------------------------------------------===//
// Memories
//===----------------------------------------------------------------------===//

def DRAM : Memory { let Scope = "system"; let Bytes = !shl(1, 31); let RowBytes = 16; let BytesPerCycle = 16; let Latency = 100; }
def SPAD : Memory { let Bytes = !mul(256, 1024); let RowBytes = D; let Banks = 8; let BytesPerCycle = !mul(8, D); let Latency = 1; }
def ACC  : Memory { let Bytes = !mul(!mul(2048, 4), D); let RowBytes = !mul(4, D); let Banks = 2; let BytesPerCycle = !mul(8, D); let Latency = 1; }
// Four banks: products of few rows are over before a load and the completion of the product before it are, and with
// two the array would wait for both (17 rows: 30 cycles a tile instead of 18).
def WREG : Memory { let Kind = "registers"; let Bytes = !mul(4, !mul(D, D)); let RowBytes = D; let Banks = 4; let BytesPerCycle = D; }

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

def L0 : Queue { let Depth = 8; let Tokens = 63; }   // loads
def L1 : Queue { let Depth = 8; let Tokens = 63; }   // loads
def WX : Queue { let Depth = 16; let Tokens = 63; }   // weights into the array
def MX : Queue { let Depth = 16; let Tokens = 63; }   // the array
def VX : Queue { let Depth = 8; let Tokens = 63; }   // the vector unit
def ST : Queue { let Depth = 8; let Tokens = 63; }   // stores

def : Tokens { let Queues = [L0, L1, WX, MX, VX, ST]; let WaitBit = 8; let SignalBit = 14; }

// Words behind it are fetched once, however often they run.
def LOOP : HardwareLoop {
  bits<16> turns; bits<6> body;
  let Turns = "turns"; let Body = "body"; let MaxBody = 32;
  let Inst{7-0} = 0x0f; let Inst{39-24} = turns; let Inst{45-40} = body;
}

//===----------------------------------------------------------------------===//
// Movers. Byte addresses on both sides: a run of nb bytes, nj of them, ni times.
//===----------------------------------------------------------------------===//

class Dram<Type t, list<string> dims, list<string> strides> : Window<DRAM, t, dims, "off", strides, 1> {
  let Slot = "arg";
}

class Move<Queue q, bits<8> op> : Instruction<q> {
  bits<4> arg; bits<32> off; bits<24> si; bits<24> sj;
  bits<12> ni; bits<12> nj; bits<12> nb;
  bits<20> loc; bits<20> li; bits<16> lj;
  bits<12> ilo; bits<12> ihi; bits<12> jlo; bits<12> jhi; bits<8> fill;
  let Mover = 1;
  let Inst{7-0} = op;
  let Inst{23-20} = arg;   let Inst{55-24} = off;   let Inst{79-56} = si;    let Inst{103-80} = sj;
  let Inst{115-104} = ni;  let Inst{127-116} = nj;  let Inst{139-128} = nb;
  let Inst{159-140} = loc; let Inst{179-160} = li;  let Inst{195-180} = lj;
}

class DramBox<list<string> lo, list<string> hi> : Dram<I8, ["i", "j", "b"], ["si", "sj", "elem"]> {
  let BoxLo = lo;
  let BoxHi = hi;
  let Fill = "fill";
}
def DramRowsBox : DramBox<["ilo", "jlo", ""], ["ihi", "jhi", ""]>;
def DramRunsBox : DramBox<["ilo", "", "blo"], ["ihi", "", "bhi"]>;

// DRAM to scratchpad. What lies outside the box is not read: fill is written instead.
class LoadBytes<Queue q, bits<8> op, Window box> : Move<q, op> {
  let Dims = [Dim<"i", 4095, "ni">, Dim<"j", 4095, "nj">, Dim<"b", 4095, "nb">];
  let Inst{207-196} = ilo; let Inst{219-208} = ihi; let Inst{251-244} = fill;
  let Signed = ["fill", "off"];
  let Operands = (ins box:$src, Window<SPAD, I8, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$dst);
  let Semantics = (set $dst, $src);
  // run by run: the DRAM beats that it touches
  let Cycles = (times $i, (times $j, (ceildiv $b, 16)));
  let Latency = 4;
  let Buffer = !mul(128, DRAM.RowBytes);
}

// Rows i outside [ilo, ihi) and j outside [jlo, jhi). So a padded tile costs one command.
class LoadS<Queue q, bits<8> op> : LoadBytes<q, op, DramRowsBox> {
  let Summary = "load a box from DRAM into the scratchpad, filling what lies outside";
  let Inst{231-220} = jlo; let Inst{243-232} = jhi;
}

// Rows i, and bytes outside [blo, bhi) of each run, whatever their alignment. So rows whose length is no multiple of the
// lanes cost no command of a byte a cycle.
class LoadR<Queue q, bits<8> op> : LoadBytes<q, op, DramRunsBox> {
  let Summary = "load a box's runs from DRAM into the scratchpad, filling what they lack";
  bits<12> blo; bits<12> bhi; // where the other loads have jlo and jhi
  let Inst{231-220} = blo; let Inst{243-232} = bhi;
}

def DramWordsBox : Dram<I32, ["i", "j", "b"], ["si", "sj", "elem"]> {
  let BoxLo = ["ilo", "jlo", ""];
  let BoxHi = ["ihi", "jhi", ""];
}

// DRAM to accumulator: 32-bit words, for biases, scales and tensors of words. Outside the box they are 0.
class LoadA<Queue q, bits<8> op> : Move<q, op> {
  let Summary = "load a box of words from DRAM into the accumulator, 0 for what lies outside";
  let Dims = [Dim<"i", 4095, "ni">, Dim<"j", 4095, "nj">, Dim<"b", 4095, "nb">];
  let Inst{207-196} = ilo; let Inst{219-208} = ihi; let Inst{231-220} = jlo; let Inst{243-232} = jhi;
  let Signed = ["off"];
  let Operands = (ins DramWordsBox:$src, Window<ACC, I32, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$dst);
  let Semantics = (set $dst, $src);
  let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 16)));
  let Latency = 4;
  let Buffer = !mul(128, DRAM.RowBytes);
}

def LDS0 : LoadS<L0, 0x10>;
def LDS1 : LoadS<L1, 0x11>;
def LDA0 : LoadA<L0, 0x12>;
def LDA1 : LoadA<L1, 0x13>;
def LDR0 : LoadR<L0, 0x14>;
def LDR1 : LoadR<L1, 0x15>;

def STS : Move<ST, 0x18> {
  let Summary = "store bytes from the scratchpad to DRAM";
  let Dims = [Dim<"i", 4095, "ni">, Dim<"j", 4095, "nj">, Dim<"b", 4095, "nb">];
  let Operands = (ins Window<SPAD, I8, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$src,
                      Dram<I8, ["i", "j", "b"], ["si", "sj", "elem"]>:$dst);
  let Semantics = (set $dst, $src);
  let Cycles = (times $i, (times $j, (ceildiv $b, 16)));
  let Latency = 100;
  let Buffer = !mul(8, DRAM.RowBytes);
}
def STA : Move<ST, 0x19> {
  let Summary = "store words from the accumulator to DRAM";
  let Dims = [Dim<"i", 4095, "ni">, Dim<"j", 4095, "nj">, Dim<"b", 4095, "nb">];
  let Operands = (ins Window<ACC, I32, ["i", "j", "b"], "loc", ["li", "lj", "elem"], 1>:$src,
                      Dram<I32, ["i", "j", "b"], ["si", "sj", "elem"]>:$dst);
  let Semantics = (set $dst, $src);
  let Cycles = (times $i, (times $j, (ceildiv (times $b, 4), 16)));
  let Latency = 100;
  let Buffer = !mul(8, DRAM.RowBytes);
}

//===----------------------------------------------------------------------===//
// The array
//===----------------------------------------------------------------------===//

def WLD : Instruction<WX> {
  let Summary = "load a DxD tile of weights into one of the array's banks";
  bits<18> src; bits<12> sk; bits<2> w;
  let Dims = [Dim<"k", D>, Dim<"n", D>];
  let Operands = (ins Window<SPAD, I8, ["k", "n"], "src", ["sk", "elem"]>:$s,
                      Window<WREG, I8, ["k", "n"], "w", ["row", "elem"], !mul(D, D)>:$d);
  let Semantics = (set $d, $s);
  let Cycles = (plus D, 0); // as they follow each other: a row each cycle
  let Latency = 2;
  let Inst{7-0} = 0x20; let Inst{37-20} = src; let Inst{49-38} = sk; let Inst{51-50} = w;
}

// Rows of A and C in two levels: a 3x3 convolution takes a tile with its halo in one command.
// The same for weights whose rows are the array's columns: keys in a product by queries.
def WLDT : Instruction<WX> {
  let Summary = "load a DxD tile of weights, transposed";
  bits<18> src; bits<12> sn; bits<2> w;
  let Dims = [Dim<"k", D>, Dim<"n", D>];
  let Operands = (ins Window<SPAD, I8, ["n", "k"], "src", ["sn", "elem"]>:$s,
                      Window<WREG, I8, ["k", "n"], "w", ["row", "elem"], !mul(D, D)>:$d);
  let Semantics = (set $d, $s);
  let Cycles = (plus D, 0); // as they follow each other: a row each cycle
  let Latency = 2;
  let Inst{7-0} = 0x22; let Inst{37-20} = src; let Inst{49-38} = sn; let Inst{51-50} = w;
}

// A few rows of weights, anywhere in the banks: taps of a window, for MMC.
def WLDR : Instruction<WX> {
  let Summary = "load rows of weights, one for each tap of a window";
  bits<18> src; bits<12> sk; bits<6> nk; bits<8> w;
  let Dims = [Dim<"k", D, "nk">, Dim<"n", D>];
  let Operands = (ins Window<SPAD, I8, ["k", "n"], "src", ["sk", "elem"]>:$s,
                      Window<WREG, I8, ["k", "n"], "w", ["row", "elem"], D>:$d);
  let Semantics = (set $d, $s);
  let Cycles = (plus $k, 0);
  let Latency = 2;
  let Inst{7-0} = 0x24; let Inst{37-20} = src; let Inst{49-38} = sk; let Inst{55-50} = nk; let Inst{63-56} = w;
}

// With the weights of a product of two computed operands, both have zero points.
def MMA : Instruction<MX> {
  let Summary = "multiply rows of A by the weights in a bank and set or add to rows of C";
  bits<8> zx; bits<8> zw; bits<18> a; bits<14> c; bits<16> ai; bits<12> aj; bits<14> ci; bits<12> cj;
  bits<12> ni; bits<12> nj; bits<2> w; bits<1> acc;
  let Dims = [Dim<"i", 4095, "ni">, Dim<"j", 4095, "nj">, Dim<"n", D>, Dim<"k", D>];
  let Operands = (ins Window<SPAD, I8, ["i", "j", "k"], "a", ["ai", "aj", "elem"]>:$x,
                      Window<WREG, I8, ["k", "n"], "w", ["row", "elem"], !mul(D, D)>:$wt,
                      Window<ACC, I32, ["i", "j", "n"], "c", ["ci", "cj", "elem"]>:$y,
                      Imm<I8>:$zx, Imm<I8>:$zw, Imm<I1>:$acc);
  let Semantics = (acc_add $y, $acc, (mul (sub (sext $x), (sext $zx)), (sub (sext $wt), (sext $zw))));
  let Signed = ["zx", "zw"];
  let Cycles = (times $i, $j);
  let Latency = !add(D, 4);
  let Inst{7-0} = 0x21;
  let Inst{37-20} = a; let Inst{51-38} = c; let Inst{67-52} = ai; let Inst{79-68} = aj; let Inst{93-80} = ci;
  let Inst{105-94} = cj; let Inst{117-106} = ni; let Inst{129-118} = nj; let Inst{131-130} = w; let Inst{132} = acc;
  let Inst{140-133} = zx; let Inst{148-141} = zw;
}

// Each channel for itself: column n of the array has channel n, and its cells have the taps of a window, nr lines of nt. A
// column of the window, nr rows of the scratchpad, is read each cycle and kept in front of the array for the nt - 1 that
// follow, so that no row of a line is read twice: lines must lie in different banks, or a column takes up to nr cycles.
// Weights of a line lie `size` rows behind those of the line before, so each tap has a cell of its own. The window steps
// by one row of the scratchpad, or by two.
class Channels<bits<8> op, int size, string step, dag columns> : Instruction<MX> {
  let Summary = "multiply each lane of windows of A by weights of its own and set or add to rows of C";
  bits<8> zx; bits<18> a; bits<14> c; bits<16> ai; bits<16> ar; bits<14> ci; bits<12> cj;
  bits<12> ni; bits<12> nj; bits<3> nr; bits<3> nt; bits<8> w; bits<1> acc;
  defvar lines = !if(!lt(!div(D, size), size), !div(D, size), size);
  let Dims = [Dim<"i", 4095, "ni">, Dim<"j", 4095, "nj">, Dim<"n", D>, Dim<"r", lines, "nr">, Dim<"t", size, "nt">];
  let Operands = (ins Window<SPAD, I8, ["i", "j", "r", "t", "n"], "a", ["ai", step, "ar", "row", "elem"]>:$x,
                      Window<WREG, I8, ["r", "t", "n"], "w", [!cast<string>(size), "row", "elem"], D>:$wt,
                      Window<ACC, I32, ["i", "j", "n"], "c", ["ci", "cj", "elem"]>:$y,
                      Imm<I8>:$zx, Imm<I1>:$acc);
  let Semantics = (acc_add $y, $acc, (mul (sub (sext $x), (sext $zx)), (sext $wt)));
  let Signed = ["zx"];
  let Cycles = (times $i, columns);
  let Latency = !add(D, 4);
  let Inst{7-0} = op;
  let Inst{37-20} = a; let Inst{51-38} = c; let Inst{67-52} = ai; let Inst{75-68} = w; let Inst{93-80} = ci;
  let Inst{105-94} = cj; let Inst{117-106} = ni; let Inst{129-118} = nj; let Inst{132} = acc; let Inst{140-133} = zx;
  let Inst{156-141} = ar; let Inst{159-157} = nr; let Inst{162-160} = nt;
}
multiclass Windows<bits<8> op, int size> {
  def "" : Channels<op, size, "row", (plus $j, $t)>;
  def X2 : Channels<!add(op, 1), size, "2", (plus (times $j, 2), $t)>;
}
defm MMC3 : Windows<0x26, 3>;
defm MMC5 : Windows<0x28, 5>;

//===----------------------------------------------------------------------===//
// The vector unit: a row of D lanes a cycle.
//===----------------------------------------------------------------------===//

class Vector<bits<8> op> : Instruction<VX> {
  bits<12> ni; bits<12> nj;
  let Dims = [Dim<"i", 4095, "ni">, Dim<"j", 4095, "nj">, Dim<"n", D>];
  let Cycles = (plus (times $i, $j), 1);
  let Latency = 12;
  let Inst{7-0} = op; let Inst{31-20} = ni; let Inst{43-32} = nj;
}

// Quantised codes: zero point zp, clamped to [lo, hi].
class Codes<bits<8> op> : Vector<op> {
  bits<18> y; bits<14> yi; bits<14> yj; bits<8> zp; bits<8> lo; bits<8> hi;
  let Inst{61-44} = y; let Inst{75-62} = yi; let Inst{89-76} = yj;
  let Inst{97-90} = zp; let Inst{105-98} = lo; let Inst{113-106} = hi;
}
// Reading two rows of parameters takes longer than a short command's own rows.
defvar WithRows = (maximum (plus (times $i, $j), 1), 5);
defvar YCodes = Window<SPAD, I8, ["i", "j", "n"], "y", ["yi", "yj", "elem"]>;

def VRQ : Codes<0x30> {
  let Summary = "requantise accumulators: bias, scale, round, zero point, clamp";
  let Cycles = WithRows;
  bits<14> a; bits<14> ai; bits<14> aj; bits<14> pb; bits<14> ps;
  let Operands = (ins Window<ACC, I32, ["i", "j", "n"], "a", ["ai", "aj", "elem"]>:$x,
                      Window<ACC, I32, ["n"], "pb", ["elem"]>:$bias, Window<ACC, F32, ["n"], "ps", ["elem"]>:$scale,
                      Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi, YCodes:$d);
  let Semantics = (set $d, (fptosi8 (min (max (add (roundeven (mul (sitofp (add $x, $bias)), $scale)), (sitofp $zp)),
                                              (sitofp $lo)), (sitofp $hi))));
  let Signed = ["zp", "lo", "hi"];
  let Inst{127-114} = a; let Inst{141-128} = ai; let Inst{155-142} = aj; let Inst{169-156} = pb; let Inst{183-170} = ps;
}

def VADDQ : Codes<0x31> {
  let Summary = "add two quantised tensors of different scales and requantise";
  let Cycles = WithRows;
  bits<18> a; bits<14> ai; bits<14> aj; bits<18> b; bits<14> bi; bits<14> bj;
  bits<14> psa; bits<14> psb; bits<8> za; bits<8> zb;
  let Operands = (ins Window<SPAD, I8, ["i", "j", "n"], "a", ["ai", "aj", "elem"]>:$x,
                      Window<SPAD, I8, ["i", "j", "n"], "b", ["bi", "bj", "elem"]>:$z,
                      Window<ACC, F32, ["n"], "psa", ["elem"]>:$sa, Window<ACC, F32, ["n"], "psb", ["elem"]>:$sb,
                      Imm<I8>:$za, Imm<I8>:$zb, Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi, YCodes:$d);
  let Semantics = (set $d, (fptosi8 (min (max (add (roundeven
                      (add (mul (sub (sitofp $x), (sitofp $za)), $sa), (mul (sub (sitofp $z), (sitofp $zb)), $sb))),
                      (sitofp $zp)), (sitofp $lo)), (sitofp $hi))));
  let Signed = ["za", "zb", "zp", "lo", "hi"];
  let Inst{131-114} = a; let Inst{145-132} = ai; let Inst{159-146} = aj;
  let Inst{177-160} = b; let Inst{191-178} = bi; let Inst{205-192} = bj;
  let Inst{219-206} = psa; let Inst{233-220} = psb; let Inst{241-234} = za; let Inst{249-242} = zb;
}

def VQ : Codes<0x32> {
  let Summary = "quantise f32";
  bits<14> a; bits<14> ai; bits<14> aj; bits<14> ps;
  let Operands = (ins Window<ACC, F32, ["i", "j", "n"], "a", ["ai", "aj", "elem"]>:$x,
                      Window<ACC, F32, ["n"], "ps", ["elem"]>:$scale, Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi, YCodes:$d);
  let Semantics = (set $d, (fptosi8 (min (max (add (roundeven (mul $x, $scale)), (sitofp $zp)), (sitofp $lo)), (sitofp $hi))));
  let Signed = ["zp", "lo", "hi"];
  let Inst{127-114} = a; let Inst{141-128} = ai; let Inst{155-142} = aj; let Inst{169-156} = ps;
}

def VMAXQ : Codes<0x33> {
  let Summary = "keep the larger of two codes: pooling";
  bits<18> a; bits<14> ai; bits<14> aj; bits<1> acc;
  let Operands = (ins Window<SPAD, I8, ["i", "j", "n"], "a", ["ai", "aj", "elem"]>:$x, Imm<I1>:$acc, YCodes:$d);
  let Semantics = (acc_max $d, $acc, $x);
  let Inst{131-114} = a; let Inst{145-132} = ai; let Inst{159-146} = aj; let Inst{160} = acc;
}

// Results in the accumulator.
class Words<bits<8> op> : Vector<op> {
  bits<14> y; bits<14> yi; bits<14> yj;
  let Inst{57-44} = y; let Inst{71-58} = yi; let Inst{85-72} = yj;
}
defvar YF32 = Window<ACC, F32, ["i", "j", "n"], "y", ["yi", "yj", "elem"]>;

def VSUMQ : Words<0x34> {
  let Summary = "sum codes over rows: average pooling";
  bits<18> a; bits<14> ai; bits<14> aj; bits<1> acc;
  let Operands = (ins Window<SPAD, I8, ["i", "j", "n"], "a", ["ai", "aj", "elem"]>:$x, Imm<I1>:$acc,
                      Window<ACC, I32, ["n"], "y", ["elem"]>:$d);
  let Semantics = (acc_add $d, $acc, (sext $x));
  let Inst{131-114} = a; let Inst{145-132} = ai; let Inst{159-146} = aj; let Inst{160} = acc;
}

def VDQ : Words<0x35> {
  let Summary = "dequantise codes to f32";
  bits<18> a; bits<14> ai; bits<14> aj; bits<14> ps; bits<8> za;
  let Operands = (ins Window<SPAD, I8, ["i", "j", "n"], "a", ["ai", "aj", "elem"]>:$x,
                      Window<ACC, F32, ["n"], "ps", ["elem"]>:$scale, Imm<I8>:$za, YF32:$d);
  let Semantics = (set $d, (mul (sub (sitofp $x), (sitofp $za)), $scale));
  let Signed = ["za"];
  let Inst{131-114} = a; let Inst{145-132} = ai; let Inst{159-146} = aj; let Inst{173-160} = ps; let Inst{181-174} = za;
}

def VI2F : Words<0x36> {
  let Summary = "convert i32 to f32";
  bits<14> a; bits<14> ai; bits<14> aj;
  let Operands = (ins Window<ACC, I32, ["i", "j", "n"], "a", ["ai", "aj", "elem"]>:$x, YF32:$d);
  let Semantics = (set $d, (sitofp $x));
  let Inst{99-86} = a; let Inst{113-100} = ai; let Inst{127-114} = aj;
}

// Two f32 tensors; stride 0 repeats a row.
class Binary<bits<8> op, dag body> : Words<op> {
  let Summary = "lane by lane on f32";
  bits<14> a; bits<14> ai; bits<14> aj; bits<14> b; bits<14> bi; bits<14> bj;
  let Operands = (ins Window<ACC, F32, ["i", "j", "n"], "a", ["ai", "aj", "elem"]>:$x,
                      Window<ACC, F32, ["i", "j", "n"], "b", ["bi", "bj", "elem"]>:$z, YF32:$d);
  let Semantics = body;
  let Inst{99-86} = a; let Inst{113-100} = ai; let Inst{127-114} = aj;
  let Inst{141-128} = b; let Inst{155-142} = bi; let Inst{169-156} = bj;
}
def VADD : Binary<0x40, (set $d, (add $x, $z))>;
def VSUB : Binary<0x41, (set $d, (sub $x, $z))>;
def VMUL : Binary<0x42, (set $d, (mul $x, $z))>;
def VMAX : Binary<0x43, (set $d, (max $x, $z))>;
def VMIN : Binary<0x44, (set $d, (min $x, $z))>;
def VDIV : Binary<0x45, (set $d, (div $x, $z))>;

class Unary<bits<8> op, dag body, string what> : Words<op> {
  let Summary = what;
  bits<14> a; bits<14> ai; bits<14> aj;
  let Operands = (ins Window<ACC, F32, ["i", "j", "n"], "a", ["ai", "aj", "elem"]>:$x, YF32:$d);
  let Semantics = body;
  let Inst{99-86} = a; let Inst{113-100} = ai; let Inst{127-114} = aj;
}
def VEXP2  : Unary<0x50, (set $d, (exp2 $x)), "2 to the power of x">;
def VRECIP : Unary<0x51, (set $d, (recip $x)), "1 / x">;
def VRSQRT : Unary<0x52, (set $d, (rsqrt $x)), "1 / sqrt(x)">;
def VSQRT  : Unary<0x53, (set $d, (sqrt $x)), "sqrt(x), correctly rounded">;

// Rows onto rows, lane by lane: sums and largest ones over what is no row.
class Onto<bits<8> op, dag body, string what> : Words<op> {
  let Summary = what;
  bits<14> a; bits<14> ai; bits<14> aj; bits<1> acc;
  let Operands = (ins Window<ACC, F32, ["i", "j", "n"], "a", ["ai", "aj", "elem"]>:$x, Imm<I1>:$acc, YF32:$d);
  let Semantics = body;
  let Inst{99-86} = a; let Inst{113-100} = ai; let Inst{127-114} = aj; let Inst{128} = acc;
}
def VSUM  : Onto<0x48, (acc_add $d, $acc, $x), "add rows of f32 to rows">;
def VMOST : Onto<0x49, (acc_maximum $d, $acc, $x), "keep the larger of f32, or NaN: pooling">;

// A row to one number, in all lanes l: of the first nn lanes, so that rows may end anywhere; a balanced tree over
// neighbouring lanes.
class RowReduce<bits<8> op, dag body, string what> : Words<op> {
  let Summary = what;
  let Dims = [Dim<"i", 4095, "ni">, Dim<"j", 4095, "nj">, Dim<"l", D>, Dim<"n", D, "nn">];
  bits<14> a; bits<14> ai; bits<14> aj; bits<1> acc; bits<6> nn;
  let Operands = (ins Window<ACC, F32, ["i", "j", "n"], "a", ["ai", "aj", "elem"]>:$x, Imm<I1>:$acc,
                      Window<ACC, F32, ["i", "j", "l"], "y", ["yi", "yj", "elem"]>:$d);
  let Semantics = body;
  let Inst{99-86} = a; let Inst{113-100} = ai; let Inst{127-114} = aj; let Inst{128} = acc; let Inst{134-129} = nn;
}
def VRSUM : RowReduce<0x54, (acc_add $d, $acc, $x), "sum of a row of f32">;
def VRMAX : RowReduce<0x55, (acc_maximum $d, $acc, $x), "largest of a row of f32, or NaN">;

//===----------------------------------------------------------------------===//
// What transformers do with codes. A number of a row stands in all lanes of a row of its own, so that whatever works lane
// by lane works on it too; sums and largest ones are of integers, the same in any order and with any number of lanes.
//===----------------------------------------------------------------------===//

// A table of 256 words, read from the accumulator before the command's rows.
defvar WithTable = (maximum (plus (times $i, $j), 1), !add(!div(256, D), 5));
defvar Table = Window<ACC, I32, ["t"], "pt", ["elem"]>;
defvar XCodes = Window<SPAD, I8, ["i", "j", "n"], "a", ["ai", "aj", "elem"]>;

def VLUT : Vector<0x60> {
  let Summary = "look codes up in a table: any function of a code";
  let Dims = [Dim<"i", 4095, "ni">, Dim<"j", 4095, "nj">, Dim<"n", D>, Dim<"t", 256>];
  let Cycles = WithTable;
  bits<18> y; bits<14> yi; bits<14> yj; bits<18> a; bits<14> ai; bits<14> aj; bits<14> pt;
  let Operands = (ins XCodes:$x, Table:$table, YCodes:$d);
  let Semantics = (set $d, (trunc8 (lookup $table, (add (sext $x), (i32c 128)))));
  let Inst{61-44} = y; let Inst{75-62} = yi; let Inst{89-76} = yj;
  let Inst{131-114} = a; let Inst{145-132} = ai; let Inst{159-146} = aj; let Inst{173-160} = pt;
}

def VLUTQ : Codes<0x61> {
  let Summary = "look codes up in a table, scale by a number of the row and quantise";
  let Dims = [Dim<"i", 4095, "ni">, Dim<"j", 4095, "nj">, Dim<"n", D>, Dim<"t", 256>];
  let Cycles = WithTable;
  bits<18> a; bits<14> ai; bits<14> aj; bits<14> b; bits<14> bi; bits<14> bj; bits<14> pt;
  let Operands = (ins XCodes:$x, Table:$table, Window<ACC, F32, ["i", "j", "n"], "b", ["bi", "bj", "elem"]>:$scale,
                      Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi, YCodes:$d);
  let Semantics = (set $d, (fptosi8 (min (max (add (roundeven
                      (mul (sitofp (lookup $table, (add (sext $x), (i32c 128)))), $scale)), (sitofp $zp)),
                      (sitofp $lo)), (sitofp $hi))));
  let Signed = ["zp", "lo", "hi"];
  let Inst{131-114} = a; let Inst{145-132} = ai; let Inst{159-146} = aj;
  let Inst{173-160} = b; let Inst{187-174} = bi; let Inst{201-188} = bj; let Inst{215-202} = pt;
}

// Rows of codes to one number each, in all lanes l: of the first nn lanes, so that rows may end anywhere.
class RowCodes<bits<8> op, string what> : Words<op> {
  let Summary = what;
  let Dims = [Dim<"i", 4095, "ni">, Dim<"j", 4095, "nj">, Dim<"l", D>, Dim<"n", D, "nn">];
  bits<18> a; bits<14> ai; bits<14> aj; bits<1> acc; bits<6> nn;
  let Inst{131-114} = a; let Inst{145-132} = ai; let Inst{159-146} = aj; let Inst{160} = acc; let Inst{180-175} = nn;
}
defvar YRow = Window<ACC, I32, ["i", "j", "l"], "y", ["yi", "yj", "elem"]>;

def VRMAXQ : RowCodes<0x62, "largest code of a row"> {
  let Operands = (ins XCodes:$x, Imm<I1>:$acc, YRow:$d);
  let Semantics = (acc_max $d, $acc, (sext $x));
}
class RowSums<bits<8> op, dag value, string what> : RowCodes<op, what> {
  bits<8> za;
  let Operands = (ins XCodes:$x, Imm<I8>:$za, Imm<I1>:$acc, YRow:$d);
  let Semantics = value;
  let Signed = ["za"];
  let Inst{168-161} = za;
}
def VRSUMQ : RowSums<0x63, (acc_add $d, $acc, (sub (sext $x), (sext $za))), "sum of a row of codes">;
def VRSQQ  : RowSums<0x64, (acc_add $d, $acc, (mul (sub (sext $x), (sext $za)), (sub (sext $x), (sext $za)))),
                     "sum of the squares of a row of codes">;
def VRLUT : RowCodes<0x65, "sum of what a table has for a row of codes"> {
  let Dims = [Dim<"i", 4095, "ni">, Dim<"j", 4095, "nj">, Dim<"l", D>, Dim<"n", D, "nn">, Dim<"t", 256>];
  let Cycles = WithTable;
  bits<14> pt;
  let Operands = (ins XCodes:$x, Table:$table, Imm<I1>:$acc, YRow:$d);
  let Semantics = (acc_add $d, $acc, (lookup $table, (add (sext $x), (i32c 128))));
  let Inst{174-161} = pt;
}

def VBELOW : Vector<0x66> {
  let Summary = "codes less the largest of their row, plus 127";
  bits<18> y; bits<14> yi; bits<14> yj; bits<18> a; bits<14> ai; bits<14> aj; bits<14> b; bits<14> bi; bits<14> bj;
  let Operands = (ins XCodes:$x, Window<ACC, I32, ["i", "j", "n"], "b", ["bi", "bj", "elem"]>:$most, YCodes:$d);
  let Semantics = (set $d, (trunc8 (add (sub (sext $x), $most), (i32c 127))));
  let Inst{61-44} = y; let Inst{75-62} = yi; let Inst{89-76} = yj;
  let Inst{131-114} = a; let Inst{145-132} = ai; let Inst{159-146} = aj;
  let Inst{173-160} = b; let Inst{187-174} = bi; let Inst{201-188} = bj;
}

def VSUBQ : Words<0x67> {
  let Summary = "codes as f32 less a number of their row";
  bits<18> a; bits<14> ai; bits<14> aj; bits<14> b; bits<14> bi; bits<14> bj; bits<8> za;
  let Operands = (ins XCodes:$x, Imm<I8>:$za, Window<ACC, F32, ["i", "j", "n"], "b", ["bi", "bj", "elem"]>:$mean, YF32:$d);
  let Semantics = (set $d, (sub (sub (sitofp $x), (sitofp $za)), $mean));
  let Signed = ["za"];
  let Inst{131-114} = a; let Inst{145-132} = ai; let Inst{159-146} = aj;
  let Inst{173-160} = b; let Inst{187-174} = bi; let Inst{201-188} = bj; let Inst{209-202} = za;
}

def VNQ : Codes<0x68> {
  let Summary = "scale by a number of the row and by columns, shift by columns, quantise: norms";
  let Cycles = WithRows;
  bits<14> a; bits<14> ai; bits<14> aj; bits<14> b; bits<14> bi; bits<14> bj; bits<14> ps; bits<14> pb;
  let Operands = (ins Window<ACC, F32, ["i", "j", "n"], "a", ["ai", "aj", "elem"]>:$x,
                      Window<ACC, F32, ["i", "j", "n"], "b", ["bi", "bj", "elem"]>:$r,
                      Window<ACC, F32, ["n"], "ps", ["elem"]>:$gain, Window<ACC, F32, ["n"], "pb", ["elem"]>:$shift,
                      Imm<I8>:$zp, Imm<I8>:$lo, Imm<I8>:$hi, YCodes:$d);
  let Semantics = (set $d, (fptosi8 (min (max (add (roundeven (add (mul (mul $x, $r), $gain), $shift)), (sitofp $zp)),
                                              (sitofp $lo)), (sitofp $hi))));
  let Signed = ["zp", "lo", "hi"];
  let Inst{127-114} = a; let Inst{141-128} = ai; let Inst{155-142} = aj;
  let Inst{169-156} = b; let Inst{183-170} = bi; let Inst{197-184} = bj; let Inst{211-198} = ps; let Inst{225-212} = pb;
}

//===----------------------------------------------------------------------===//
// Any element-wise function, in steps: words of i32 and f32 in the accumulator, bytes in the scratchpad, where truths are
// too, 0 or 1. All of these share their fields' places; stride 0 repeats a row.
//===----------------------------------------------------------------------===//

class Words32<Type t, string base> : Window<ACC, t, ["i", "j", "n"], base, [base # "i", base # "j", "elem"]>;
class Bytes8<string base> : Window<SPAD, I8, ["i", "j", "n"], base, [base # "i", base # "j", "elem"]>;

class Each<bits<8> op, string what, dag value> : Vector<op> {
  let Summary = what;
  let Semantics = value;
  bits<18> y; bits<14> yi; bits<14> yj;
  let Inst{61-44} = y; let Inst{75-62} = yi; let Inst{89-76} = yj;
}
class Each1<bits<8> op, string what, dag value> : Each<op, what, value> {
  bits<18> a; bits<14> ai; bits<14> aj;
  let Inst{107-90} = a; let Inst{121-108} = ai; let Inst{135-122} = aj;
}
class Each2<bits<8> op, string what, dag value> : Each1<op, what, value> {
  bits<18> b; bits<14> bi; bits<14> bj;
  let Inst{153-136} = b; let Inst{167-154} = bi; let Inst{181-168} = bj;
}
class Each3<bits<8> op, string what, dag value> : Each2<op, what, value> {
  bits<18> c; bits<14> ci; bits<14> cj;
  let Inst{199-182} = c; let Inst{213-200} = ci; let Inst{227-214} = cj;
}

class WordsOfTwo<bits<8> op, Type t, string what, dag value> : Each2<op, what, value> {
  let Operands = (ins Words32<t, "a">:$x, Words32<t, "b">:$z, Words32<t, "y">:$d);
}
class BytesOfTwo<bits<8> op, string what, dag value> : Each2<op, what, value> {
  let Operands = (ins Bytes8<"a">:$x, Bytes8<"b">:$z, Bytes8<"y">:$d);
}
class TruthOfTwo<bits<8> op, Type t, string what, dag value> : Each2<op, what, value> {
  let Operands = (ins Words32<t, "a">:$x, Words32<t, "b">:$z, Bytes8<"y">:$d);
}
class WordsOfOne<bits<8> op, Type from, Type to, string what, dag value> : Each1<op, what, value> {
  let Operands = (ins Words32<from, "a">:$x, Words32<to, "y">:$d);
}

// Of two, lane by lane.
multiclass Integers<bits<8> op, string what, dag value> {
  def W : WordsOfTwo<op, I32, what # " of i32", value>;
  def B : BytesOfTwo<!add(op, 16), what # " of bytes", value>;
}
defm VADD : Integers<0x70, "sum", (set $d, (add $x, $z))>;
defm VSUB : Integers<0x71, "difference", (set $d, (sub $x, $z))>;
defm VMUL : Integers<0x72, "product", (set $d, (mul $x, $z))>;
defm VMAX : Integers<0x73, "the larger", (set $d, (max $x, $z))>;
defm VMIN : Integers<0x74, "the smaller", (set $d, (min $x, $z))>;
defm VAND : Integers<0x75, "and", (set $d, (and $x, $z))>;
defm VOR  : Integers<0x76, "or", (set $d, (or $x, $z))>;
defm VXOR : Integers<0x77, "exclusive or", (set $d, (xor $x, $z))>;
def VSHLW  : WordsOfTwo<0x78, I32, "shift left", (set $d, (shl $x, $z))>;
def VSHRW  : WordsOfTwo<0x79, I32, "shift right with sign", (set $d, (shr $x, $z))>;
def VSHRUW : WordsOfTwo<0x7a, I32, "shift right", (set $d, (shru $x, $z))>;
def VMAXF : WordsOfTwo<0x7b, F32, "the larger of f32, or NaN", (set $d, (maximum $x, $z))>;
def VMINF : WordsOfTwo<0x7c, F32, "the smaller of f32, or NaN", (set $d, (minimum $x, $z))>;

// Comparisons leave truths.
multiclass Comparison<bits<8> op, string what, dag value> {
  def W : TruthOfTwo<op, I32, what # " of i32", value>;
  def F : TruthOfTwo<!add(op, 1), F32, what # " of f32", value>;
  def B : BytesOfTwo<!add(op, 2), what # " of bytes", value>;
}
defm VEQ : Comparison<0x90, "whether equal", (set $d, (zext8 (equal $x, $z)))>;
defm VLT : Comparison<0x93, "whether less", (set $d, (zext8 (less $x, $z)))>;
defm VLE : Comparison<0x96, "whether less or equal", (set $d, (zext8 (less_equal $x, $z)))>;
def VLTUW : TruthOfTwo<0x99, I32, "whether less, without sign", (set $d, (zext8 (lessu $x, $z)))>;

// Where a truth is above 0 the first, else the second.
class Selection<bits<8> op, string what> : Each3<op, what, (set $d, (select (less (i8c 0), $p), $x, $z))>;
class SelectionOfWords<bits<8> op, Type t, string what> : Selection<op, what> {
  let Operands = (ins Words32<t, "a">:$x, Words32<t, "b">:$z, Bytes8<"c">:$p, Words32<t, "y">:$d);
}
def VSELW : SelectionOfWords<0x9a, I32, "choose i32 by truths">;
def VSELF : SelectionOfWords<0x9b, F32, "choose f32 by truths">;
def VSELB : Selection<0x9c, "choose bytes by truths"> {
  let Operands = (ins Bytes8<"a">:$x, Bytes8<"b">:$z, Bytes8<"c">:$p, Bytes8<"y">:$d);
}

// Of one.
def VNEG   : WordsOfOne<0xa0, F32, F32, "f32 with the other sign", (set $d, (neg $x))>;
def VABS   : WordsOfOne<0xa1, F32, F32, "f32 without its sign", (set $d, (abs $x))>;
def VFLOOR : WordsOfOne<0xa2, F32, F32, "f32 rounded down", (set $d, (floor $x))>;
def VCEIL  : WordsOfOne<0xa3, F32, F32, "f32 rounded up", (set $d, (ceil $x))>;
def VROUND : WordsOfOne<0xa4, F32, F32, "f32 rounded to the nearest, halves to even", (set $d, (roundeven $x))>;
def VWHOLE : WordsOfOne<0xa5, F32, F32, "f32 rounded towards 0", (set $d, (whole $x))>;
def VBITS  : WordsOfOne<0xa6, F32, I32, "the bits of f32", (set $d, (bitcast $x))>;
def VOFBITS : WordsOfOne<0xa7, I32, F32, "f32 of bits", (set $d, (bitcast $x))>;
def VWIDEN : Each1<0xa8, "bytes to i32", (set $d, (sext $x))> {
  let Operands = (ins Bytes8<"a">:$x, Words32<I32, "y">:$d);
}
def VB2F : Each1<0xa9, "bytes to f32", (set $d, (sitofp $x))> {
  let Operands = (ins Bytes8<"a">:$x, Words32<F32, "y">:$d);
}
def VNARROW : Each1<0xaa, "the low bytes of i32", (set $d, (trunc8 $x))> {
  let Operands = (ins Words32<I32, "a">:$x, Bytes8<"y">:$d);
}

// One number in all lanes.
class Constant<bits<8> op, string what> : Each<op, what, (set $d, $number)> {
  bits<32> number;
  let Inst{121-90} = number;
}
def VSETW : Constant<0xac, "set i32"> { let Operands = (ins Imm<I32>:$number, Words32<I32, "y">:$d); let Signed = ["number"]; }
def VSETF : Constant<0xad, "set f32"> { let Operands = (ins Imm<F32>:$number, Words32<F32, "y">:$d); }
def VSETB : Constant<0xae, "set bytes"> { let Operands = (ins Imm<I8>:$number, Bytes8<"y">:$d); let Signed = ["number"]; }

def : Function { let Name = "exp2";  let TableBits = 6; let Degree = 2; let MaxUlp = "4"; }
def : Function { let Name = "recip"; let TableBits = 6; let Degree = 2; let MaxUlp = "4"; }
def : Function { let Name = "rsqrt"; let TableBits = 6; let Degree = 2; let MaxUlp = "4"; }
